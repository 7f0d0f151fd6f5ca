# SPDX-License-Identifier: MIT
"""A trial from its command to its exit code; kernels and pytest are played."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from made_patches import DRIVER, SOURCE, diff, make_tree

from zvmlab.base.cache import cache_root, digest
from zvmlab.base.owned import mark
from zvmlab.builder.modulebuild import Build
from zvmlab.cli.main import main
from zvmlab.verdict import runs, trial
from zvmlab.verdict.runs import Seen
from zvmlab.verdict.sides import BaseFails, PatchedFails, Side, Sides

Play = Callable[..., list[str]]
TESTS = "tests/e2e/test_a.py"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ZVMLAB_CACHE", str(tmp_path / "cache"))
    (tmp_path / "diffs").mkdir()
    monkeypatch.setenv("PYTEST_TMP", str(tmp_path / "diffs"))
    (tmp_path / "a.diff").write_text(diff(SOURCE, SOURCE.replace("-EBUSY", "-EIO")))
    return make_tree(tmp_path / "linux")


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Play:
    """Lets each side have results: a function of the side, the test and the number of the run."""

    def start(
        holds: Callable[[str, str, int], bool], fails: Exception | None = None, stop: int = 0
    ) -> list[str]:
        ran: list[str] = []

        def build(target: Any, *_words: object) -> Sides:
            if fails is not None:
                raise fails
            base, patched = (Side(f"{side}{target.words}", "6.1.9") for side in ("base", "patched"))
            return Sides(base, patched, Build(tmp_path, "cc", None), ("monreader",))

        def run(self: Any, side: Side, tests: Sequence[str], report: Path) -> None:
            if stop and len(ran) == stop:
                raise trial.LimitOver("the limit of 5 s is over")
            name = side.kernel.partition(":")[0]
            ran.append(f"{name} {len(tests)}")
            turn = sum(one.startswith(name) for one in ran)
            report.mkdir(parents=True)
            found = {f"t.py::test_{one}": holds(name, one, turn) for one in ("a", "b")}
            (report / "found.json").write_text(json.dumps(found))
            (report / "results.jsonl").write_text(
                '{"results": 1, "of": "tests", "shard": "1/1", "run": {}}\n{"finished": 2}\n'
            )

        def results(self: Any, report: Path, _side: Side) -> dict[str, Seen]:
            found = json.loads((report / "found.json").read_text())
            return {
                name: Seen(name, value, False, "" if value else "assert 0", "", "")
                for name, value in found.items()
            }

        monkeypatch.setattr(trial, "build_sides", build)
        monkeypatch.setattr(trial, "new_warnings", lambda *_words: [])
        monkeypatch.setattr(runs.Runner, "_pytest", run)
        monkeypatch.setattr(runs.Runner, "_results", results)
        return ran

    return start


def command(tree: Path, *words: str) -> list[str]:
    series = str(tree.parent / "a.diff")
    return ["try", series, "--kernel", f"{tree}:minimal", "--tests", TESTS, *words]


def nothing_left() -> bool:
    return not list(cache_root().glob("try-*"))


def test_nothing_new_is_exit_0(tree: Path, play: Play, capsys: pytest.CaptureFixture[str]) -> None:
    ran = play(lambda side, test, turn: True)
    assert main(command(tree)) == 0
    assert ran == ["base 1", "patched 1"]
    assert "nothing new" in capsys.readouterr().out and nothing_left()


def test_difference_is_repeated_three_times_on_each_side_in_turn(
    tree: Path, play: Play, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    ran = play(lambda side, test, turn: side == "base" or test == "b")
    out = tmp_path / "out.json"
    assert main(command(tree, "--json", str(out), "--keep", str(tmp_path / "kept"))) == 1
    assert ran == ["base 1", "patched 1", *["base 1", "patched 1"] * 3]
    (one,) = json.loads(out.read_text())["tried"]
    (found,) = one["difference"]["failing"]
    assert (found["test"], found["base"], found["patched"]) == ("t.a", [3, 3], [0, 3])
    assert "Newly failing" in capsys.readouterr().out
    assert nothing_left() and (tmp_path / "kept" / "results").is_dir()


def test_unsteady_test_is_exit_0(tree: Path, play: Play) -> None:
    play(lambda side, test, turn: side == "base" or turn != 1)
    assert main(command(tree)) == 0


def test_base_that_fails_its_own_tests_is_not_reported(tree: Path, play: Play) -> None:
    ran = play(lambda side, test, turn: False)
    assert main(command(tree)) == 0 and len(ran) == 2


@pytest.mark.parametrize(
    ("fails", "code"), [(BaseFails("a.c:1: error: it"), 2), (PatchedFails("a.c:1: error: it"), 1)]
)
def test_side_that_does_not_build(
    fails: Exception, code: int, tree: Path, play: Play, capsys: pytest.CaptureFixture[str]
) -> None:
    play(lambda side, test, turn: True, fails)
    assert main(command(tree)) == code
    said = capsys.readouterr()
    assert "a.c:1: error: it" in (said.err if code == 2 else said.out)
    assert nothing_left()


def test_trial_that_reaches_its_limit_goes_on(
    tree: Path, play: Play, capsys: pytest.CaptureFixture[str]
) -> None:
    play(lambda side, test, turn: True, stop=1)
    assert main(command(tree, "--limit", "5")) == 124
    assert "Not finished" in capsys.readouterr().out and not nothing_left()
    (tree.parent / "b.diff").write_text(diff(SOURCE, SOURCE.replace("-EBUSY", "-ENXIO")))
    other = [word.replace("a.diff", "b.diff") for word in command(tree, "--resume")]
    assert main(other) == 2
    assert "was of another series" in capsys.readouterr().err
    ran = play(lambda side, test, turn: True)
    assert main(command(tree, "--resume")) == 0
    assert ran == ["patched 1"], "base is known"
    assert nothing_left()
    assert main(command(tree, "--resume")) == 2
    assert "no trial of a series on this tree was cut off" in capsys.readouterr().err


def test_next_trial_removes_what_a_killed_one_has_left(tree: Path, play: Play) -> None:
    work = cache_root() / f"try-{digest(str(tree.resolve()))}"
    for name in ("base/linux", "patched/linux", "apply/read", "modules-base/x"):
        (work / name).mkdir(parents=True)
        (work / name / "file").symlink_to(tree / DRIVER)
    mark(work)
    play(lambda side, test, turn: True)
    assert main(command(tree)) == 0
    assert nothing_left() and (tree / DRIVER).read_text() == SOURCE
