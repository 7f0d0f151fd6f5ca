# SPDX-License-Identifier: MIT
"""Counts of two programs of this machine, in the place of tests in guests, and what is made of them."""

from __future__ import annotations

import json
import shutil
import subprocess
import xml.etree.ElementTree
from pathlib import Path

import pytest
from counted_program import PATH, SOURCE, Count, count_fixture, entry_of, program

from zvmlab.base.errors import CannotRun
from zvmlab.builder.count_folder import BOOT, kernels_in, of_kernel
from zvmlab.builder.kernel import Kernel
from zvmlab.cli.main import main
from zvmlab.coverage import gcov, report
from zvmlab.coverage.gcov import called
from zvmlab.coverage.report import Report
from zvmlab.verdict import lines

PATCH = """\
From: somebody
Subject: [PATCH] a: say 5

---
diff --git a/drivers/a.c b/drivers/a.c
--- a/drivers/a.c
+++ b/drivers/a.c
@@ -1,6 +1,6 @@
 int odd(int n)
 {
-	if (n % 2)
+	if (n % 2)
 		return 1;
 	return 0;
 }
@@ -7,5 +7,5 @@
 
 int never(void)
 {
-	return 4;
+	return 5;
 }
--
2.39
""".replace(
    "-\tif (n % 2)", "-\tif (n & 1)"
)

__all__ = ["count_fixture"]


@pytest.fixture
def two(count: Count, tmp_path: Path) -> Path:
    """The folder of a run of two tests: one calls odd(1) twice, the other odd(2)."""
    count("one")
    count("one")
    count("two", "x")
    count("crashes", lost="Kernel panic")
    return tmp_path / "cov"


def of(folder: Path, scratch: Path) -> Report:
    scratch.mkdir()
    return Report(kernels_in(folder), scratch)


def test_counts_of_all_tests_are_added(two: Path, tmp_path: Path) -> None:
    found = of(two, tmp_path / "scratch")
    (file,) = found.files
    assert file.path == PATH
    assert file.functions == {"odd": 3, "never": 0, "main": 3}
    assert (file.lines[3], file.lines[4], file.lines[5], file.lines[10]) == (3, 2, 1, 0)
    assert sorted(file.branches[3]) == [1, 2] and set(file.branches) == {3}
    assert found.title == "Linux 6.1.9 (coverage), 3 tests; 1 guest lost the counts"


def test_counts_that_were_never_written_are_lost(
    two: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run that ended before it wrote them: all others are added."""
    kernels_in(two)[0].add("ends")
    assert main(["coverage", str(two)]) == 0
    out = capsys.readouterr().out
    assert "4 tests; 2 guests lost the counts" in out
    assert "lost: ends: they were never written" in out


def test_folder_may_be_named_from_here(
    two: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(two.parent)
    assert main(["coverage", two.name]) == 0
    assert "3 tests; 1 guest lost the counts" in capsys.readouterr().out


def test_each_function_names_its_tests(two: Path, count: Count, tmp_path: Path) -> None:
    count(BOOT, "x")
    found = called(kernels_in(two), tmp_path / "scratch")
    tests = {"one", "two", BOOT}
    assert found == {PATH: {"odd": tests, "main": tests, "never": set()}}


def test_table_and_files(two: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    html, lcov, xml_file, json_file = (tmp_path / name for name in ("html", "i", "x", "j"))
    words = ["--html", str(html), "--cobertura", str(xml_file), "--json", str(json_file)]
    need = [tool for tool in ("gcovr", "geninfo") if shutil.which(tool) is None]
    if need:
        pytest.skip(f"{' and '.join(need)} missing")
    assert main(["coverage", str(two), *words, "--lcov", str(lcov)]) == 0
    out = capsys.readouterr().out
    lines = {line.split()[0]: line.split()[1:] for line in out.splitlines()[2:4]}
    # Lines 1, 3 to 5, 8, 10, 13, 16: all but those of never() ran.
    assert lines[PATH] == ["6/8", "75", "%", "2/2", "100", "%", "2/3", "67", "%"]
    assert lines["all"] == lines[PATH]
    assert "lost: crashes: Kernel panic" in out
    pages = "".join(file.read_text() for file in html.glob("*.html"))
    assert "3 tests; 1 guest lost the counts" in pages and "never" in pages
    root = xml.etree.ElementTree.parse(xml_file).getroot()
    hits = {line.get("number"): line.get("hits") for line in root.iter("line")}
    assert (hits["3"], hits["4"], hits["5"], hits["10"]) == ("3", "2", "1", "0")
    (file,) = json.loads(json_file.read_text())["files"]
    assert file["file"] == PATH
    text = lcov.read_text().splitlines()
    assert {"FNDA:3,odd", "FNDA:0,never", "DA:4,2", "DA:10,0"} <= set(text)
    assert len([line for line in text if line.startswith("BRDA:3,")]) == 2
    assert [line for line in text if line.startswith("SF:")] == [f"SF:{text[1][3:]}"]
    assert text[1].endswith(f"/{PATH}")


def test_lines_of_a_patch_that_no_test_ran(
    two: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if shutil.which("diff-cover") is None:
        pytest.skip("diff-cover is missing")
    patch = tmp_path / "series"
    patch.write_text(PATCH)
    assert main(["coverage", str(two), "--patch", str(patch)]) == 0
    assert capsys.readouterr().out.endswith(f"Changed lines that no test ran\n  {PATH} 10\n")
    folder = tmp_path / "folder"
    folder.mkdir()
    first, second = PATCH.split("@@ -7,5")
    (folder / "0001").write_text(first)
    assert main(["coverage", str(two), "--patch", str(folder)]) == 0
    assert capsys.readouterr().out.endswith("All changed lines with code ran.\n")
    patch.write_text(PATCH.replace("+\treturn 5", "+\treturn 6"))
    assert main(["coverage", str(two), "--patch", str(patch)]) == 2
    assert "is not in the tree whose lines were counted" in capsys.readouterr().err
    patch.write_text(PATCH.replace(PATH, "mm/b.c"))
    assert main(["coverage", str(two), "--patch", str(patch)]) == 2
    assert "changes mm/b.c, and none of the 1 files" in capsys.readouterr().err
    patch.write_text("hello\n")
    assert main(["coverage", str(two), "--patch", str(patch)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert main(["coverage", str(two), "--patch", str(tmp_path / "none")]) == 2
    assert "none cannot be read: No such file" in capsys.readouterr().err


def test_repository_of_whoever_calls_stays_as_it_is(
    two: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """git rebase --exec, and hooks, name theirs in the environment."""
    if any(shutil.which(tool) is None for tool in ("gcovr", "diff-cover", "git")):
        pytest.skip("gcovr, diff-cover or git is missing")
    own = tmp_path / "own"
    subprocess.run(["git", "init", "--quiet", str(own)], check=True)
    before = sorted(own.rglob("*"))
    monkeypatch.setenv("GIT_DIR", str(own / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(own / ".git" / "index"))
    (tmp_path / "a.patch").write_text(PATCH)
    found = of(two, tmp_path / "scratch").not_run([tmp_path / "a.patch"])
    assert found == {PATH: [10]}
    assert sorted(own.rglob("*")) == before


def test_trial_lists_the_lines_that_its_tests_did_not_run(
    two: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if any(shutil.which(tool) is None for tool in ("gcovr", "diff-cover")):
        pytest.skip("gcovr or diff-cover is missing")
    kernel = Kernel("6.1.9", "coverage", tmp_path / "kernel-6.1-12345678/boot/vmlinuz", None)
    monkeypatch.setattr(lines, "resolve", lambda name: kernel)
    cases: list[tuple[str, dict[str, list[int]]]] = [
        (PATCH, {PATH: [10]}),
        (PATCH.split("@@ -7,5")[0], {PATH: []}),
        (PATCH.replace(PATH, "mm/b.c"), {}),
    ]
    for number, (text, found) in enumerate(cases):
        scratch = tmp_path / f"scratch-{number}"
        scratch.mkdir()
        assert lines.not_run(two, "k", text.encode(), scratch) == found


def test_kernel_without_counts_has_lines_all_the_same(count: Count, tmp_path: Path) -> None:
    count("crashes", lost="Kernel panic")
    (file,) = of(tmp_path / "cov", tmp_path / "scratch").files
    assert file.functions == {"odd": 0, "never": 0, "main": 0} and file.lines[3] == 0


def test_damaged_and_strange_counts(
    two: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = next(two.glob(f"*/tests/*/{PATH.replace('.c', '.gcda')}"))
    whole = counts.read_bytes()
    for content in (b"", b"no counts at all", whole[:3]):
        counts.write_bytes(content)
        assert main(["coverage", str(two)]) == 2
        assert "is damaged: it does not begin as gcov's files do" in capsys.readouterr().err
    counts.write_bytes(whole[:8] + bytes(4) + whole[12:])
    assert main(["coverage", str(two)]) == 2
    assert "has counts of another kernel than the notes" in capsys.readouterr().err
    for size in (40, 60, len(whole) - 12):
        counts.write_bytes(whole[:size])
        assert main(["coverage", str(two)]) == 2
        err = capsys.readouterr().err
        assert f"{counts.parents[1]} " in err and " are damaged: gcov-tool says: " in err
        assert err.count("\n") == 1
    counts.write_bytes(whole)
    next(two.glob("*/notes/drivers/a.gcno")).unlink()
    assert main(["coverage", str(two)]) == 2
    assert "has counts of a source that" in capsys.readouterr().err


def test_damaged_counts_of_one_test_alone(
    count: Count, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are not added to any, and gcov takes what it cannot read for zeros."""
    count("one")
    cov = tmp_path / "cov"
    counts = next(cov.glob(f"*/tests/*/{PATH.replace('.c', '.gcda')}"))
    counts.write_bytes(counts.read_bytes()[:40])
    assert main(["coverage", str(cov)]) == 2
    assert f"the counts in {counts.parents[1]} are damaged" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["drivers/a", "drivers/a\x1b[31m"])
def test_notes_that_gcov_cannot_tell_of(
    name: str, count: Count, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It ends with a signal, or what it says is no JSON."""
    count("one")
    notes = next((tmp_path / "cov").glob(f"*/notes/{PATH.replace('.c', '.gcno')}"))
    (notes.parents[1] / f"{name}.gcno").write_bytes(
        notes.read_bytes()[: 40 if "\x1b" not in name else -1]
    )
    assert main(["coverage", str(tmp_path / "cov")]) == 2
    err = capsys.readouterr().err
    assert "the compiler's notes are damaged" in err and err.count("\n") == 1 and "\x1b" not in err


def test_counts_of_several_kernels(
    two: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build = program(tmp_path / "other", SOURCE.replace("return 5", "return 6"))
    other = entry_of(tmp_path / "other", build, "kernel-7.2-9abcdef0")
    of_kernel(two, Kernel("7.2.1", "x", other.image, None))
    assert main(["coverage", str(two)]) == 2
    assert "counts of several kernels, which cannot be added: 6.1.9-" in capsys.readouterr().err
    assert main(["coverage", str(two), "--kernel", "6.1.9"]) == 0
    assert "Linux 6.1.9" in capsys.readouterr().out
    assert main(["coverage", str(two), "--kernel", "5.0"]) == 2
    assert "no folder has counts of kernel 5.0 (possible: 6.1.9-" in capsys.readouterr().err
    assert main(["coverage", str(two), str(two), "--kernel", "6.1.9"]) == 0
    assert "lost: crashes" in capsys.readouterr().out


def test_places_that_cannot_be_written(
    two: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["coverage", str(two), "--json", str(tmp_path / "none/x")]) == 2
    assert "none/x cannot be written: " in capsys.readouterr().err
    (tmp_path / "file").touch()
    assert main(["coverage", str(two), "--html", str(tmp_path / "file")]) == 2
    assert "is a file; the pages need a folder" in capsys.readouterr().err
    assert main(["coverage", str(tmp_path / "none")]) == 2
    assert "is no folder with counts of lines" in capsys.readouterr().err


def test_missing_tools_are_named_with_their_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(CannotRun, match="apt-get install gcovr lcov"):
        report.need("gcovr", "geninfo")
    with pytest.raises(CannotRun, match="apt-get install gcc-s390x-linux-gnu"):
        gcov.need_gcov()
