# SPDX-License-Identifier: MIT
"""Lines that ran, read by the host's gcov from programs of the host, and the page of them."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path, PurePosixPath

import linux_coverage
import pytest
from counted_program import MAIN, NEVER, ODD, PATH, Count, count_fixture
from linux_lines import Lines, lines_of
from linux_map import series_part, update
from linux_page import page
from zvmlab.base.errors import EXIT_USAGE, UsageError
from zvmlab.builder.count_folder import kernels_in
from zvmlab.builder.linux_files import LIST, LinuxFile, counting, linux_files
from zvmlab.verdict.choice import read_map

FILE = LinuxFile(PurePosixPath(PATH), "DIAGNOSE X'08'", rows="M")
__all__ = ["count_fixture"]


@pytest.fixture
def counted(count: Count, tmp_path: Path) -> Path:
    """The folder of counts of three tests, one of which takes another way."""
    count("one")
    count("two", "x")
    count("two again", "x")
    return tmp_path / "cov"


def of(counted: Path, file: LinuxFile = FILE) -> Lines:
    with tempfile.TemporaryDirectory() as scratch:
        (lines,) = lines_of([file], kernels_in(counted), Path(scratch))
    return lines


def drop(counted: Path, name: str = "") -> None:
    """Remove the counts of a test, or of all."""
    (kernel,) = kernels_in(counted)
    for test in kernel.tests():
        if name in ("", test.name):
            shutil.rmtree(test.folder)


def test_line_ran_if_it_ran_in_any_guest(counted: Path) -> None:
    lines = of(counted)
    assert {number for number, ran in lines.ran.items() if ran} >= {1, 3, 4, 5, 13, 16}
    assert lines.ran[10] is False and lines.ran[8] is False
    assert lines.called == {"odd": True, "never": False, "main": True}
    assert lines.never_called == ["never"] and lines.gaps() == [(8, 10)]
    drop(counted, "one")
    lines = of(counted)
    assert (lines.ran[4], lines.ran[5]) == (False, True)
    assert lines.gaps() == [(4, 4), (8, 10)]


def test_source_that_never_ran_counts_with_all_its_lines(counted: Path) -> None:
    drop(counted)
    lines = of(counted)
    assert (lines.done, lines.percent) == (0, 0.0)
    assert set(lines.ran) >= ODD | NEVER | MAIN


@pytest.mark.parametrize(
    ("functions", "without", "called"),
    [("odd", "", {"odd"}), ("", "never|main", {"odd"}), ("n", "odd", {"never", "main"})],
)
def test_functions_that_count(
    counted: Path, functions: str, without: str, called: set[str]
) -> None:
    file = LinuxFile(FILE.path, FILE.uses, functions=functions, without=without)
    lines = of(counted, file)
    assert set(lines.called) == called
    own = {"odd": ODD, "never": NEVER, "main": MAIN}
    for name, numbers in own.items():
        assert numbers.issubset(lines.ran) == (name in called)


def test_source_that_the_kernel_has_not_is_left_out(counted: Path, tmp_path: Path) -> None:
    other = LinuxFile(PurePosixPath("drivers/b.c"), "nothing")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    found = lines_of([other, FILE], kernels_in(counted), scratch)
    assert [lines.file for lines in found] == [FILE]


def test_map_names_the_tests_of_each_function(counted: Path, tmp_path: Path) -> None:
    file = tmp_path / "map.json"
    file.write_text('{"6.12": {"kernel": "6.12.1", "date": "d", "tests": {}, "files": {}}}')
    words = ["--counts", str(counted), "--map", str(file), "--output", str(tmp_path / "page.md")]
    assert linux_coverage.main(words) == 0
    found = json.loads(file.read_text())
    assert list(found) == ["6.1", "6.12"]
    assert found["6.1"] == {
        "kernel": "6.1.9",
        "date": linux_coverage.today(),
        "tests": {"": ["one", "two", "two again"]},
        "files": {PATH: {"main": "0-2", "never": "", "odd": "0-2"}},
    }
    first = file.read_text()
    assert linux_coverage.main(words) == 0 and file.read_text() == first
    for text in ("{", "[]"):
        file.write_text(text)
        assert linux_coverage.main(words) == EXIT_USAGE


def test_parameters_of_a_test_are_none_of_its_name() -> None:
    called = {"a.c": {"f": {"t.py::test_a[sid-upstream]", "t.py::test_a[sid-x]", "t.py::test_b"}}}
    part = series_part(called, "7.2.13", "2026-11-28")
    assert part["tests"] == {"t.py": ["test_a", "test_b"]}
    assert part["files"] == {"a.c": {"f": "0-1"}}


def test_reader_of_the_map_has_the_names_again(tmp_path: Path) -> None:
    names = ["(boot)", *(f"{file}::test_{n}" for file in ("a/x.py", "a/y.py") for n in range(5))]
    called: dict[str, dict[str, set[str]]] = {}
    called["a.c"] = {"some": set(names[1:4] + names[6:7]), "all": set(names), "none": set()}
    update(tmp_path / "map.json", "7.2", series_part(called, "7.2.13", "2026-11-28"))
    text = (tmp_path / "map.json").read_text()
    assert '    "some": "1-3 6"' in text.splitlines() or '    "some": "1-3 6",' in text.splitlines()
    found = read_map("7.2", tmp_path / "map.json")
    assert {name: set(tests) for name, tests in found["a.c"].items()} == called["a.c"]


def test_counts_of_shares_are_added(count: Count, tmp_path: Path) -> None:
    count("one")
    shutil.copytree(tmp_path / "cov", tmp_path / "first")
    drop(tmp_path / "cov")
    count("two", "x")
    words = ["--counts", str(tmp_path / "first"), str(tmp_path / "cov")]
    words += ["--map", str(tmp_path / "map.json"), "--output", str(tmp_path / "page.md")]
    assert linux_coverage.main(words) == 0
    part = json.loads((tmp_path / "map.json").read_text())["6.1"]
    assert part["tests"] == {"": ["one", "two"]} and part["files"][PATH]["odd"] == "0-1"


def test_tests_that_show_nothing_are_not_in_the_map(count: Count, tmp_path: Path) -> None:
    """They would be chosen for a change, and show nothing of it; their lines ran all the same."""
    file = tmp_path / "map.json"
    tests = {"a.py::test_fails", "a.py::test_skips"}
    update(file, "6.1", series_part({PATH: {"odd": tests}}, "6.1.8", "2026-01-01"))
    count("a.py::test_fails[sid]", undecided="failed")
    count("a.py::test_skips", undecided="skipped")
    count("a.py::test_some[1]", "x", undecided="skipped")
    count("a.py::test_some[2]")
    words = ["--counts", str(tmp_path / "cov"), "--output", str(tmp_path / "page.md")]
    assert linux_coverage.main([*words, "--map", str(file), "--keep"]) == 0
    assert read_map("6.1", file)[PATH] == {
        "main": ["a.py::test_some"], "never": [], "odd": ["a.py::test_some"]
    }  # fmt: skip
    assert of(tmp_path / "cov").ran[4]


def test_run_of_some_tests_leaves_all_others_in_the_map(count: Count, tmp_path: Path) -> None:
    file = tmp_path / "map.json"
    tests = {"(boot)", "a.py::test_again", "a.py::test_other", "a.py::test_lost"}
    known = {PATH: {"odd": tests, "never": tests, "gone": tests}, "gone.c": {"f": tests}}
    known["idle.c"] = {"f": tests}
    update(file, "6.1", series_part(known, "6.1.8", "2026-01-01"))
    update(file, "7.2", series_part(known, "7.2.1", "2026-01-01"))
    count("a.py::test_again[sid-upstream]")
    count("a.py::test_new")
    count("a.py::test_lost", lost="the guest crashed")
    (kernel,) = kernels_in(tmp_path / "cov")
    (notes,) = kernel.notes.rglob(f"{Path(PATH).stem}.gcno")
    shutil.copy(notes, kernel.notes / "idle.gcno")  # a module that no guest had loaded
    words = ["--counts", str(tmp_path / "cov"), "--output", str(tmp_path / "page.md")]
    words += ["--map", str(file)]
    assert linux_coverage.main([*words, "--keep"]) == 0
    others = {"(boot)", "a.py::test_other", "a.py::test_lost"}
    now = {"a.py::test_again", "a.py::test_new"}
    found = read_map("6.1", file)
    assert {name: set(names) for name, names in found[PATH].items()} == {
        "odd": others | now,
        "never": others,
        "main": now,
    }
    assert set(found["idle.c"]["f"]) == tests - {"a.py::test_again"}
    assert (
        set(found) == {PATH, "idle.c"} and json.loads(file.read_text())["6.1"]["kernel"] == "6.1.9"
    )
    assert set(read_map("7.2", file)["gone.c"]["f"]) == tests
    assert linux_coverage.main(words) == 0
    assert set(read_map("6.1", file)[PATH]["odd"]) == now


def test_page_says_what_ran_and_what_did_not() -> None:
    whole = Lines(FILE, {1: True, 2: True}, {"f": True})
    half = LinuxFile(PurePosixPath("net/b.c"), "IUCV", missing="It needs a network card.")
    part = Lines(half, {7: True, 8: False, 10: False, 12: True}, {"g": True, "h": False})
    report = {
        "requirements": [
            {"row": "M1", "cells": [{"kernel": "sid", "backend": "qemu", "shown": True}]},
            {"row": "M2", "cells": [{"kernel": "old", "backend": "qemu", "shown": False}]},
            {"row": "W1", "cells": [{"kernel": "trixie", "backend": "qemu", "shown": True}]},
        ]
    }
    text = page([whole, part], report, "6.1.2", 3)
    assert "3 guests crashed or ended with their counts." in text
    assert "| `drivers/a.c` | DIAGNOSE X'08' | M | sid, qemu | 2 of 2 | 100.0 % |" in text
    assert "| `net/b.c` | IUCV | – | – | 2 of 4 | 50.0 % |" in text
    assert "Of 6 lines with code, 4 ran (66.7 %); 1 of 2 sources" in text
    below = text.partition("## What does not run")[2]
    assert "### `net/b.c`" in below and "drivers/a.c" not in below
    assert "It needs a network card." in below
    assert "never called: `h`." in below and "Lines that do not run: 8–10." in below
    assert "What does not run" not in page([whole], None, "6.1.2")


def test_no_counts_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["--counts", str(tmp_path), "--output", str(tmp_path / "page.md")]
    assert linux_coverage.main(argv) == EXIT_USAGE
    assert (
        "holds no counts of lines; run tests with --kernel TREE:coverage" in capsys.readouterr().err
    )
    assert not (tmp_path / "page.md").exists()


@pytest.mark.parametrize("text", ["", "[]", "{", json.dumps({"requirements": 5})])
def test_report_that_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "report.json").write_text(text)
    with pytest.raises(UsageError, match="report"):
        linux_coverage.report_of(tmp_path / "report.json")


def test_list_of_sources() -> None:
    files = linux_files(LIST)
    assert len(files) > 15
    assert "GCOV_PROFILE_monreader.o=y" in counting(file.path for file in files)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("file = 5", "has to be a list of tables"),
        ("[file]\npath = 'a.c'", "has to be a list of tables"),
        ("x = 1\n[[file]]\npath = 'a.c'\nuses = 'b'", "has to be a list of tables"),
        ("[[file]]\npath = 'a.c'", "file 1 needs a field uses"),
        ("[[file]]\npath = 'a.c'\nuses = 5", "file 1: uses has to be a text"),
        ("[[file]]\npath = 'a.c'\nuses = 'b'\nx = 'c'", "a field 'x', which no file has"),
        ("[[file]]\npath = '../a.c'\nuses = 'b'", "../a.c is no C source"),
        ("[[file]]\npath = '/a.c'\nuses = 'b'", "/a.c is no C source"),
        ("[[file]]\npath = 'a.h'\nuses = 'b'", "a.h is no C source"),
        ("[[file]]\npath = 'a.c'\nuses = 'b'\nwithout = '('", "without is no regular expression"),
        ("[[file]]\npath='a.c'\nuses='b'\n[[file]]\npath='a.c'\nuses='b'", "names a.c twice"),
        ("[", "is not TOML"),
    ],
)
def test_list_that_is_none(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "list.toml").write_text(text)
    with pytest.raises(UsageError, match=said):
        linux_files(tmp_path / "list.toml")


def test_list_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        linux_files(tmp_path / "list.toml")
