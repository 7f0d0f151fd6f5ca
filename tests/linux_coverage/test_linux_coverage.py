# SPDX-License-Identifier: MIT
"""Lines that ran, read by the host's gcov from programs of the host, and the page of them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path, PurePosixPath

import linux_coverage
import linux_lines
import pytest
from linux_lines import Lines, lines_of
from linux_page import page
from zvmlab.base.errors import EXIT_USAGE, UsageError, ZvmlabError
from zvmlab.builder.linux_files import LIST, LinuxFile, counting, linux_files

SOURCE = """\
int odd(int n)
{
	if (n % 2)
		return 1;
	return 0;
}

int never(void)
{
	return 5;
}

int main(int argc, char **argv)
{
	(void)argv;
	return odd(argc) & 0;
}
"""
# Lines of SOURCE with code, by function; a program with one argument more takes line 5, not 4.
ODD, NEVER, MAIN = {1, 3, 4, 5}, {8, 10}, {13, 16}
FILE = LinuxFile(PurePosixPath("drivers/a.c"), "DIAGNOSE X'08'", rows="M")


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with gcov/drivers/a.gcno, and kept/ with the counts of two programs and a copy."""
    if shutil.which("gcov") is None:
        pytest.skip("gcov of the host's compiler is missing")
    monkeypatch.setattr(linux_lines, "GCOV", "gcov")
    tree = tmp_path / "tree"
    (tree / "drivers").mkdir(parents=True)
    (tree / "drivers/a.c").write_text(SOURCE)
    build = ["gcc", "--coverage", "-c", "drivers/a.c", "-o", "drivers/a.o"]
    subprocess.run(build, cwd=tree, check=True)
    subprocess.run(["gcc", "--coverage", "drivers/a.o", "-o", "a"], cwd=tree, check=True)
    (tmp_path / "gcov/drivers").mkdir(parents=True)
    shutil.copy(tree / "drivers/a.gcno", tmp_path / "gcov/drivers")
    for guest, arguments in (("one", ""), ("two", "x"), ("two-again", "x")):
        (tree / "drivers/a.gcda").unlink(missing_ok=True)
        subprocess.run([str(tree / "a"), *arguments], check=True)
        (tmp_path / "kept" / guest / "drivers").mkdir(parents=True)
        shutil.copy(tree / "drivers/a.gcda", tmp_path / "kept" / guest / "drivers")
    return tmp_path


def of(counted: Path, file: LinuxFile = FILE) -> Lines:
    (lines,) = lines_of([file], counted / "gcov", counted / "kept")
    return lines


def test_line_ran_if_it_ran_in_any_guest(counted: Path) -> None:
    lines = of(counted)
    assert {number for number, ran in lines.ran.items() if ran} >= {1, 3, 4, 5, 13, 16}
    assert lines.ran[10] is False and lines.ran[8] is False
    assert lines.called == {"odd": True, "never": False, "main": True}
    assert lines.never_called == ["never"] and lines.gaps() == [(8, 10)]
    shutil.rmtree(counted / "kept/one")
    lines = of(counted)
    assert (lines.ran[4], lines.ran[5]) == (False, True)
    assert lines.gaps() == [(4, 4), (8, 10)]


def test_source_that_never_ran_counts_with_all_its_lines(counted: Path) -> None:
    shutil.rmtree(counted / "kept")
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


def test_damaged_counts_and_missing_notes_are_errors(counted: Path) -> None:
    (counted / "kept/one/drivers/a.gcda").write_bytes(b"no counts")
    with pytest.raises(ZvmlabError, match="(?s)cannot read the counts: .*not a gcov data file"):
        of(counted)
    with pytest.raises(ZvmlabError, match="no notes of drivers/b.c"):
        of(counted, LinuxFile(PurePosixPath("drivers/b.c"), "nothing"))


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
    text = page([whole, part], report, "6.1.2")
    assert "| `drivers/a.c` | DIAGNOSE X'08' | M | sid, qemu | 2 of 2 | 100.0 % |" in text
    assert "| `net/b.c` | IUCV | – | – | 2 of 4 | 50.0 % |" in text
    assert "Of 6 lines with code, 4 ran (66.7 %); 1 of 2 sources" in text
    below = text.partition("## What does not run")[2]
    assert "### `net/b.c`" in below and "drivers/a.c" not in below
    assert "It needs a network card." in below
    assert "never called: `h`." in below and "Lines that do not run: 8–10." in below
    assert "What does not run" not in page([whole], None, "6.1.2")


def test_no_counts_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["--lines", str(tmp_path), "--output", str(tmp_path / "page.md")]
    assert linux_coverage.main(argv) == EXIT_USAGE
    assert "holds no counts; run pytest with --kernel coverage" in capsys.readouterr().err
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
