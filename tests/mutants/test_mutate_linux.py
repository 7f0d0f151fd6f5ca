# SPDX-License-Identifier: MIT
"""Changes of Linux: which are made, and what becomes of them; without kernels and guests."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import judged
import mutate_linux
import pytest
from change import Change, Kind, Mutant
from kept import Kept
from trial import Result, Verdict
from zvmlab.base.errors import EXIT_FAILED, EXIT_PASS, EXIT_USAGE, UsageError
from zvmlab.base.progress import Progress
from zvmlab.builder.modulebuild import Build
from zvmlab.museum.edited import Both
from zvmlab.museum.suite import Noticing
from zvmlab.verdict.applied import Applied
from zvmlab.verdict.sides import PatchedFails, Side, Sides, Target

FILE = "drivers/s390/char/monwriter.c"
SOURCE = """\
static int run_by_a_test(int a)
{
	pr_debug("a is %d", a);
	return a > 3;
}

static int run_at_boot(int a)
{
	return a > 4;
}

static int never_run(int a)
{
	return a > 5;
}
"""
MAP = {FILE: {"run_by_a_test": ["(boot)", "tests/e2e/a.py::test_a"], "run_at_boot": ["(boot)"]}}


@pytest.fixture(name="tree")
def _tree(tmp_path: Path) -> Path:
    path = tmp_path / FILE
    path.parent.mkdir(parents=True)
    path.write_text(SOURCE, encoding="ascii")
    (tmp_path / "Makefile").write_text("VERSION = 7\nPATCHLEVEL = 2\n", encoding="ascii")
    return tmp_path


def test_only_what_a_test_runs_is_changed(tree: Path) -> None:
    """Neither what only the boot runs, nor notes for whoever looks for a mistake."""
    (mutants,) = mutate_linux.all_mutants(tree, MAP, ["monwriter"]).values()
    assert {mutant.change.line(SOURCE) for mutant in mutants} == {4}
    assert {(mutant.change.was, mutant.change.became) for mutant in mutants} >= {(">", ">=")}


def test_driver_that_the_tree_lacks(tree: Path) -> None:
    """It is left out of all drivers, and an error if it was named."""
    assert set(mutate_linux.all_mutants(tree, MAP, [])) == {"monwriter"}
    with pytest.raises(UsageError, match="has no drivers/s390/net/netiucv.c"):
        mutate_linux.all_mutants(tree, MAP, ["monwriter", "netiucv"])


def _both(base: str, patched: str, tmp_path: Path) -> Both:
    sides = []
    for name, text in (("base.ko", base), ("patched.ko", patched)):
        (tmp_path / name).write_text(text, encoding="ascii")
        sides.append(Side("sid", "7.2", (tmp_path / name,)))
    kernels = Sides(sides[0], sides[1], Build(Path(), "gcc", None), "", ("monwriter",))
    return Both("7.2", kernels, Applied({}, {}, {}), lambda _words: {}, lambda _words: {})


@pytest.mark.parametrize(
    ("patched", "noticing", "verdict", "by"),
    [
        ("other", Noticing("a.a", "assert", False, 1), Verdict.NOTICED, "a.a"),
        ("other", Noticing("tests", "", True, 1), Verdict.HANG, "tests"),
        ("other", Noticing(ran=3), Verdict.SURVIVED, ""),
        # No test runs.
        ("base", None, Verdict.SAME, ""),
        (None, None, Verdict.NO_C, ""),
    ],
)
def test_what_becomes_of_a_change(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    patched: str | None,
    noticing: Noticing | None,
    verdict: Verdict,
    by: str,
) -> None:
    @contextlib.contextmanager
    def both_sides(*_: object) -> Iterator[Both]:
        if patched is None:
            raise PatchedFails("no C")
        yield _both("base", patched, tmp_path)

    def asked(*_: object) -> Noticing:
        assert noticing is not None
        return noticing

    monkeypatch.setattr(mutate_linux, "both_sides", both_sides)
    monkeypatch.setattr(mutate_linux, "noticing", asked)
    monkeypatch.setattr(mutate_linux, "same_code", lambda a, b: a.read_bytes() == b.read_bytes())
    change = Change(Kind.COMPARISON, SOURCE.index(">"), ">", ">=")
    kept = Kept(tmp_path / "results", "sid", False)
    runner = mutate_linux.LinuxRunner("sid", MAP, 60, kept, Progress(quiet=True))
    (result,) = runner.several([Mutant(FILE, change, SOURCE)])
    assert (result.verdict, result.by) == (verdict, by)
    assert f"{FILE}:4: > -> >=" in capsys.readouterr().out
    assert Kept(tmp_path / "results", "sid", True).of(Mutant(FILE, change, SOURCE)) == result


def test_what_is_judged_harmless_is_not_tried(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Unless it was tried before."""
    monkeypatch.setattr(mutate_linux, "both_sides", None)
    mutant = Mutant(FILE, Change(Kind.COMPARISON, SOURCE.index(">"), ">", ">="), SOURCE)
    kept = Kept(tmp_path / "results", "sid", False)
    words = ("sid", MAP, 60, kept, Progress(quiet=True), {(FILE, mutant.changed): "a reason"})
    assert mutate_linux.LinuxRunner(*words).one(mutant) == Result(mutant, Verdict.SURVIVED)
    kept.add(Result(mutant, Verdict.NOTICED, "a.a"))
    words = ("sid", MAP, 60, Kept(tmp_path / "results", "sid", True), *words[4:])
    assert mutate_linux.LinuxRunner(*words).one(mutant).noticed


_CHANGED = SOURCE.replace("a > 3", "a >= 3")


@pytest.mark.parametrize("why", ["", "nobody asks"])
def test_report_has_what_is_not_judged(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tree: Path, why: str
) -> None:
    """An entry without a reason judges nothing; one for another series is passed over."""
    table = tmp_path / judged.JUDGED
    table.parent.mkdir(parents=True)
    entry = f"[[linux]]\nfile = '{FILE}'\nright = 'a > 3'\nwrong = 'a >= 3'\nwhy = '{why}'\n"
    table.write_text(entry + entry.replace("a > 3", "a > 9"), encoding="ascii")

    def one(_runner: object, mutant: Mutant) -> Result:
        same = mutant.changed == _CHANGED
        return Result(mutant, Verdict.SURVIVED if same else Verdict.NOTICED)

    monkeypatch.setattr(mutate_linux.LinuxRunner, "one", one)
    monkeypatch.setattr(mutate_linux, "read_map", {"7.2": MAP}.__getitem__)
    target = Target("sid", tree, "", True)
    monkeypatch.setattr(mutate_linux, "targets_of", lambda *_: [target])
    build = tmp_path / "build"
    words: Sequence[str] = ["--tree", str(tmp_path), "--build", str(build), "--folder", "monwriter"]
    assert mutate_linux.main(words) == (EXIT_PASS if why else EXIT_FAILED)
    left = (build / "mutants/linux-survivors.toml").read_text(encoding="utf-8")
    assert ("a >= 3" in left) == (not why)
    if left:
        (entry_left,) = judged.load(build / "mutants/linux-survivors.toml", judged.LINUX)
        assert judged.mutant_of(entry_left, tree).changed == _CHANGED


def test_run_that_was_cut_off_goes_on(tmp_path: Path) -> None:
    """The last result of a change counts, for its kernel and text; half a line counts nothing."""
    file = tmp_path / "results"
    mutants = [
        Mutant(FILE, Change(Kind.CONSTANT, SOURCE.index(f"> {number}") + 2, number, "9"), SOURCE)
        for number in "345"
    ]
    before = Kept(file, "sid", False)
    before.add(Result(mutants[0], Verdict.SURVIVED, "", ("a.py::test_a",), 3.5))
    before.add(Result(mutants[0], Verdict.NOTICED, "a.a", ("a.py::test_a",), 2.5))
    before.add(Result(mutants[1], Verdict.NO_C))
    with open(file, "a", encoding="ascii") as unfinished:
        unfinished.write('["half of ')
    after = Kept(file, "sid", True)
    assert after.of(mutants[0]) == Result(
        mutants[0], Verdict.NOTICED, "a.a", ("a.py::test_a",), 2.5
    )
    assert after.of(mutants[1]) == Result(mutants[1], Verdict.NO_C)
    assert after.of(mutants[2]) is None
    assert Kept(file, "source:7.2", True).of(mutants[0]) is None
    after.add(Result(mutants[2], Verdict.SAME))
    assert Kept(file, "sid", True).of(mutants[2]) == Result(mutants[2], Verdict.SAME)


def test_results_that_are_none(tmp_path: Path) -> None:
    file = tmp_path / "results"
    file.write_text("1\n", encoding="ascii")
    with pytest.raises(UsageError, match="results:1: this is no result"):
        Kept(file, "sid", True)


def test_folders_that_are_none(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert mutate_linux.main(["--number", "1", "--kernel", "6.99"]) == EXIT_USAGE
    assert "6.99" in capsys.readouterr().err
    with pytest.raises(UsageError, match="did you mean monwriter|monwriter"):
        mutate_linux.all_mutants(tree, MAP, ["monwritr"])


def test_each_file_has_one_folder() -> None:
    files = [file for folder in mutate_linux.FOLDERS.values() for file in folder]
    assert len(files) == len(set(files))
    assert mutate_linux.folder_of("net/iucv/iucv.c") == "iucv"
