# SPDX-License-Identifier: MIT
"""A trial from its command to its exit code; kernels and pytest are played."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest
from made_patches import DRIVER, SOURCE, diff, git, make_repository, make_tree

from zvmlab.base.cache import cache_root, digest, locked
from zvmlab.base.errors import ZvmlabError
from zvmlab.base.owned import mark
from zvmlab.builder.modulebuild import Build
from zvmlab.cli.main import main
from zvmlab.verdict import counted, lines, runs, trial
from zvmlab.verdict.runs import Seen
from zvmlab.verdict.sides import BaseFails, PatchedFails, Side, Sides, Target

Play = Callable[..., list[str]]
TESTS = "tests/e2e/test_smsg.py"
SECONDS = 60.0
"""A limit for what another process does, not for what is tested."""


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
            return Sides(base, patched, Build(tmp_path, "cc", None), "a kernel", ("monreader",))

        def run(
            self: Any, side: Side, tests: Sequence[str], report: Path, counts: Path | None
        ) -> None:
            name = side.kernel.partition(":")[0]
            over = bool(stop) and len(ran) == stop
            ran.append(f"{name} {len(tests)}" + (f" into {counts.name}" if counts else ""))
            turn = sum(one.startswith(name) for one in ran)
            report.mkdir(parents=True, exist_ok=True)
            if not (report / "test_xcurrent").is_symlink():
                (report / "test_xcurrent").symlink_to("of-pytest")
            these = ("a",) if over else ("a", "b")
            found = {f"t.py::test_{one}": holds(name, one, turn) for one in these}
            (report / "found.json").write_text(json.dumps(found))
            if over:
                raise trial.LimitOver("the limit of 5 s is over")
            (report / "results.jsonl").write_text(
                '{"results": 1, "of": "tests", "shard": "1/1", "run": {}}\n{"finished": 2}\n'
            )

        def results(self: Any, report: Path, _side: Side) -> dict[str, Seen]:
            file = report / "found.json"
            found = json.loads(file.read_text()) if file.exists() else {}
            return {
                name: Seen(name, value, False, "" if value else "assert 0", "", "")
                for name, value in found.items()
            }

        monkeypatch.setattr(trial, "build_sides", build)
        monkeypatch.setattr(trial, "new_warnings", lambda *_words: [])
        monkeypatch.setattr(counted, "compare", lambda *_words: [])
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
    kept = tmp_path / "kept" / "results"
    assert nothing_left() and (kept / "01-base" / "found.json").is_file()
    assert not any(path.is_symlink() for path in kept.rglob("*"))
    assert main(command(tree, "--keep", str(tmp_path / "kept"))) == 1, "into the same folder"


def test_all_tests_are_repeated_if_one_has_leaked_memory(
    tree: Path, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A leak shows at the guest's end, whichever of its tests it was."""
    ran = play(lambda side, test, turn: side == "base" or not test.endswith("b"))
    monkeypatch.setattr(Seen, "leaks", property(lambda one: one.holds is False))
    assert main(command(tree)) == 1
    assert ran == ["base 1", "patched 1", *["base 2", "patched 2"] * 3]


def test_unsteady_test_is_exit_0(tree: Path, play: Play) -> None:
    play(lambda side, test, turn: side == "base" or turn != 1)
    assert main(command(tree)) == 0


def test_trial_goes_on_with_the_next_kernel_if_no_test_ran_on_one(
    tree: Path, play: Play, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    play(lambda side, test, turn: True)
    results = runs.Runner._results

    def skipped(self: Any, report: Path, side: Side) -> dict[str, Seen]:
        found = results(self, report, side)
        return found if side.kernel.endswith("full") else {}

    monkeypatch.setattr(runs.Runner, "_results", skipped)
    assert main(command(tree)) == 77
    assert "no test ran" in capsys.readouterr().out
    assert main(command(tree, "--kernel", f"{tree}:full")) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "no test ran on both sides" in said


def test_source_that_is_not_built_is_told(
    tree: Path, play: Play, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    play(lambda side, test, turn: True)
    build = getattr(trial, "build_sides")
    monkeypatch.setattr(
        trial, "build_sides", lambda *words: replace(build(*words), left_out=("drivers/off.c",))
    )
    assert main(command(tree)) == 0
    assert "\n  drivers/off.c:" in capsys.readouterr().out


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


def test_lines_are_counted_on_a_kernel_of_their_own(
    tree: Path, play: Play, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """gcov's lines take the place of the functions that the map knows, of what is counted."""
    ran = play(lambda side, test, turn: True)
    asked: list[tuple[str, bytes]] = []

    def not_run(_counts: Path, kernel: str, series: bytes, _scratch: Path) -> dict[str, list[int]]:
        asked.append((kernel, series))
        return {DRIVER: [7, 8, 11]}

    monkeypatch.setattr(lines, "need_tools", lambda folder: None)
    monkeypatch.setattr(lines, "not_run", not_run)
    words = ["--coverage", str(tmp_path / "cov"), "--json", str(tmp_path / "out.json")]
    assert main(command(tree, *words)) == 0
    assert ran == ["base 1", "patched 1", "base 1", "patched 1 into cov"]
    ((kernel, series),) = asked
    assert kernel == "patched:coverage" and b"+\t\trc = -EIO;" in series
    data = json.loads((tmp_path / "out.json").read_text())
    assert data["not_run"] == [f"{DRIVER} 7-8, 11"]
    assert [one["kernel"] for one in data["tried"]] == [f"{tree}:minimal", f"{tree}:coverage"]
    assert not [line for line in data["not_tried"] if "lines" in line]
    assert "--coverage" in data["command"]


def test_lines_of_a_packaged_kernel_are_not_counted(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(lines, "need_tools", lambda folder: None)
    packaged = Target("bookworm", tree, "", True)
    monkeypatch.setattr(trial, "targets_of", lambda name, progress: [packaged])
    assert main([*command(tree), "--coverage", str(tmp_path / "cov")]) == 2
    assert "--coverage counts lines of source trees only" in capsys.readouterr().err


def test_folder_of_counts_that_cannot_be(
    tree: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    if any(shutil.which(tool) is None for tool in ("gcovr", "diff-cover")):
        pytest.skip("gcovr or diff-cover is missing")
    (tmp_path / "file").touch()
    for folder, said in (("file", "is no folder"), ("none/cov", "there is no folder for")):
        assert main(command(tree, "--coverage", str(tmp_path / folder))) == 2
        assert said in capsys.readouterr().err


def test_trial_that_reaches_its_limit_says_so_first_and_goes_on(
    tree: Path, play: Play, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    play(lambda side, test, turn: side == "base", stop=1)
    files = [tmp_path / name for name in ("out.ktap", "out.json")]
    outputs = ["--ktap", str(files[0]), "--json", str(files[1]), "--kernel", f"{tree}:full"]
    assert main(command(tree, "--limit", "5", *outputs)) == 124
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith('zvmlab did not finish trying "')
    first, _, rest = said.partition(" on 6.1.9")
    assert first.endswith("(1 patch): the limit of 5 s is over (exit 124)")
    assert ": 1 newly failing so far Not finished" in rest
    assert ": 1 test compared, cut off while testing patched" in rest
    ktap, data = files[0].read_text(), json.loads(files[1].read_text())
    assert "# zvmlab did not finish trying" in ktap and "1..2\n" in ktap
    assert f"), not on {tree}:full: 1 newly failing so far\n" in ktap
    assert "ok 2 " in ktap and "# SKIP not begun" in ktap and "Bail out! the limit" in ktap
    assert (data["finished"], data["exit"], data["left"]) == (False, 124, [f"{tree}:full"])
    assert not nothing_left()


def test_trial_that_was_cut_off_is_resumed(
    tree: Path, play: Play, capsys: pytest.CaptureFixture[str]
) -> None:
    play(lambda side, test, turn: True, stop=1)
    assert main(command(tree, "--limit", "5")) == 124 and not nothing_left()
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


def test_trial_of_a_tree_that_has_changed_since_does_not_go_on_with_old_results(
    tree: Path, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files that the series touches may be the same."""
    identity = "as it was"
    play(lambda side, test, turn: True, stop=1)

    def again(wanted: list[str]) -> None:
        ran = play(lambda side, test, turn: True, stop=len(wanted))
        build = getattr(trial, "build_sides")

        def changed(*words: Any) -> Sides:
            both: Sides = build(*words)
            return replace(both, base=replace(both.base, identity=identity))

        monkeypatch.setattr(trial, "build_sides", changed)
        assert main(command(tree, "--limit", "500", "--resume", "--fresh")) == 0
        assert ran == wanted

    assert main(command(tree, "--limit", "500", "--fresh")) == 124
    again(["base 1", "patched 1"])


def test_run_that_ended_before_its_first_result_has_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An interpreter that fails has the exit code of tests that fail."""
    (tmp_path / "1").mkdir()
    old = '{"results": 1, "of": "tests", "shard": "1/1", "run": {}}\n'
    (tmp_path / "1" / "results.jsonl").write_text(old)
    monkeypatch.setattr(
        runs, "call", lambda argv, env, log, _seconds: log.write_text("E  no") and 1
    )
    with pytest.raises(ZvmlabError, match="pytest ended with exit code 1"):
        runs.Runner(tmp_path, resume=True).run(Side("linux", "6.1.9"), ["a.py"], "1")


def test_base_runs_once_for_all_series(
    tree: Path, play: Play, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = ["as they are"]
    monkeypatch.setattr(runs, "state_of", lambda _paths: sources[0])
    ran = play(lambda side, test, turn: True)
    assert main(command(tree)) == 0 and ran == ["base 1", "patched 1"]
    (tree.parent / "a.diff").write_text(diff(SOURCE, SOURCE.replace("-EBUSY", "-ENXIO")))
    capsys.readouterr()
    assert main(command(tree)) == 0 and ran[2:] == ["patched 1"]
    assert "results of base known from before" in " ".join(capsys.readouterr().out.split())
    assert main(command(tree, "--fresh")) == 0 and ran[3:] == ["base 1", "patched 1"]
    other = [word.replace(TESTS, "tests/e2e/test_hmcdrv.py") for word in command(tree)]
    assert main(other) == 0 and ran[5:] == ["base 1", "patched 1"]
    sources[0] = "changed"
    assert main(command(tree)) == 0 and ran[7:] == ["base 1", "patched 1"]


@pytest.mark.parametrize("word", ["{own}/test_own.py::test_a", "{own}", "--driver={own}/m.ko"])
def test_base_runs_again_for_what_is_not_of_the_clone(
    word: str, tree: Path, play: Play, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nothing tells whether it is what it was."""
    monkeypatch.setattr(runs, "state_of", lambda _paths: "as they are")
    for name in ("test_own.py", "m.ko"):
        (tmp_path / name).touch()
    ran = play(lambda side, test, turn: True)
    for _ in range(2):
        assert main([*command(tree)[:-1], f"{word.format(own=tmp_path)} -k a"]) == 0
    assert ran == ["base 3", "patched 3"] * 2


def test_options_for_pytest_in_the_environment_are_told_apart(
    tree: Path, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "state_of", lambda _paths: "as they are")
    ran = play(lambda side, test, turn: True)
    for options, wanted in (("-k a", 2), ("-k a", 3), ("", 5)):
        monkeypatch.setenv("PYTEST_ADDOPTS", options)
        assert main(command(tree)) == 0 and len(ran) == wanted


def test_modules_of_the_users_are_not_of_a_side(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """They would take the place of what the series changes."""
    monkeypatch.setenv("ZVMLAB_REPLACED_MODULES", "/own/af_iucv.ko")
    given: list[str] = []

    def call(_argv: object, env: dict[str, str], *_words: object) -> int:
        given.append(env["ZVMLAB_REPLACED_MODULES"])
        (tmp_path / "1" / "results.jsonl").touch()
        return 0

    monkeypatch.setattr(runs, "call", call)
    runs.Runner(tmp_path).run(Side("linux", "6.1.9"), ["a.py"], "1")
    assert given == [""]


def test_base_that_fails_is_not_taken_for_known(
    tree: Path, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "state_of", lambda _paths: "as they are")
    ran = play(lambda side, test, turn: False)
    for _ in range(2):
        assert main(command(tree)) == 0
    assert ran == ["base 1", "patched 1"] * 2


@pytest.mark.parametrize(
    ("committed", "said"),
    [
        (None, r"Linux 6\.1\.9, not a git repository"),
        (False, "a git repository without a commit"),
        (True, "commit [0-9a-f]{12}"),
    ],
)
def test_base_is_named(
    committed: bool | None, said: str, tree: Path, play: Play, capsys: pytest.CaptureFixture[str]
) -> None:
    if committed is not None:
        git(tree, "init", "--quiet")
    if committed:
        make_repository(tree)
    play(lambda side, test, turn: True)
    assert main(command(tree)) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert re.search(rf" base: \S+, {said} zvmlab ", out)


def test_each_tree_has_its_own_base(
    tree: Path, play: Play, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Commits are of the first tree that has some, whatever stands before it."""
    plain = make_tree(tmp_path / "plain")
    commit = git(make_repository(tree), "rev-parse", "--short=12", "HEAD").strip()
    (tree / DRIVER).write_text(SOURCE.replace("-EBUSY", "-EIO"))
    play(lambda side, test, turn: True)
    kernels = ["--kernel", f"{plain}:minimal", "--kernel", f"{tree}:minimal"]
    assert main(["try", "worktree", *kernels, "--tests", TESTS]) == 0
    said = capsys.readouterr().out
    assert "  base: plain, Linux 6.1.9, not a git repository\n" in said
    assert f"  base: linux, commit {commit}\n" in said


def test_folder_of_on_top_may_have_any_name(
    tree: Path, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one that stands for something else where a series is named."""
    play(lambda side, test, turn: True)
    monkeypatch.chdir(tree.parent)
    (tree.parent / "worktree").mkdir()
    below = diff(SOURCE, SOURCE.replace("mon_in_use = 0;", "mon_in_use = 0; /* again */"))
    (tree.parent / "worktree" / "a.diff").write_text(below)
    assert main(command(tree, "--on-top", "worktree")) == 0


def test_kernel_that_is_named_twice_is_tried_once(
    tree: Path, play: Play, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = play(lambda side, test, turn: True)
    assert main(command(tree, "--kernel", str(tree), "--kernel", f"{tree}:debug")) == 0
    assert len(ran) == 2 * len((":minimal", "", ":debug"))


def test_what_only_a_plain_kernel_shows_is_told_if_there_is_none(
    tree: Path, play: Play, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    play(lambda side, test, turn: True)
    looked: list[object] = []

    def look(*words: object) -> list[str]:
        looked.append(words)
        return []

    monkeypatch.setattr(trial, "new_warnings", look)
    words = [word.replace(":minimal", ":debug") for word in command(tree)]
    assert main(words) == 0 and len(looked) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "instructions for each operation: they are counted on plain kernels only" in said
    assert main(command(tree, "--kernel", f"{tree}:debug")) == 0 and len(looked) == 2
    said = " ".join(capsys.readouterr().out.split())
    assert "they are counted on plain kernels only" not in said


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (None, "checkpatch: linux has no scripts/checkpatch.pl"),
        ("die 'no such module';", "checkpatch of patch 1 failed: no such module"),
        ("print '-:3: WARNING:LONG: long'; exit 1;", ""),
    ],
)
def test_checkpatch_that_cannot_look_is_told(
    script: str | None, said: str, tree: Path, play: Play, capsys: pytest.CaptureFixture[str]
) -> None:
    if script is not None:
        (tree / "scripts").mkdir()
        (tree / "scripts" / "checkpatch.pl").write_text(script)
    play(lambda side, test, turn: True)
    assert main(command(tree)) == 0
    mail = " ".join(capsys.readouterr().out.split())
    assert said in mail and ("WARNING:LONG: long" in mail) == (said == "")
    assert ("checkpatch of patch" in mail) == ("die" in (script or ""))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--mail", "diffs"], "diffs is a folder; name a file"),
        (["--json", "none/such.json"], "there is no folder for "),
        (["--keep", "a.diff"], "--keep: "),
        (["--allow", "none.toml"], "none.toml cannot be read"),
        (["--on-top", "none"], "--on-top: there is no folder"),
        (["--tests", "'"], "--tests: No closing quotation"),
        (["--tests", "tests/e2e/no.py -k b"], "has no tests/e2e/no.py"),
    ],
)
def test_words_are_checked_before_anything_is_built(
    words: list[str],
    said: str,
    tree: Path,
    play: Play,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ran = play(lambda side, test, turn: True)
    monkeypatch.chdir(tree.parent)
    assert main(command(tree, *words)) == 2
    out, err = capsys.readouterr()
    assert said in err and err.count("\n") == 1 and not out
    assert not ran and nothing_left()


def test_report_that_cannot_be_written_is_said_nevertheless(
    tree: Path, play: Play, capsys: pytest.CaptureFixture[str]
) -> None:
    play(lambda side, test, turn: True)
    assert main(command(tree, "--mail", "/dev/full")) == 77
    out, err = capsys.readouterr()
    assert "nothing new" in out
    assert err.splitlines()[-1] == "zvmlab: /dev/full cannot be written: No space left on device"
    assert nothing_left()


def test_next_trial_removes_what_a_killed_one_has_left(tree: Path, play: Play) -> None:
    work = cache_root() / f"try-{digest(str(tree.resolve()))}"
    for name in ("base/linux", "patched/linux", "apply/read", "modules-base/x", "temporary/x"):
        (work / name).mkdir(parents=True)
        (work / name / "file").symlink_to(tree / DRIVER)
    mark(work)
    play(lambda side, test, turn: True)
    assert main(command(tree)) == 0
    assert nothing_left() and (tree / DRIVER).read_text() == SOURCE


REPEATING = "repeating"
PHASES = (
    *("read_series", "apply", "checkpatch", "build_sides", "base", "patched", REPEATING),
    *("counted", "new_warnings"),
)


@pytest.fixture(params=PHASES)
def at_phase(
    request: pytest.FixtureRequest, play: Play, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Callable[[], None]], None]:
    """Lets something happen in the midst of a phase of the next trial."""

    def start(happens: Callable[[], None]) -> None:
        def side(name: str, _test: str, turn: int) -> bool:
            again = request.param == REPEATING and name == "patched"
            if name == request.param or again and turn == 2:
                happens()
            return not (again and turn == 1)

        play(side)
        if request.param in ("base", "patched", REPEATING):
            return
        module, name = (
            (counted, "compare") if request.param == "counted" else (trial, request.param)
        )
        phase = getattr(module, name)

        def disturbed(*words: Any) -> Any:
            found = phase(*words)
            happens()
            return found

        monkeypatch.setattr(module, name, disturbed)

    return start


def test_interrupted_trial_leaves_results_at_most(
    tree: Path,
    at_phase: Callable[[Callable[[], None]], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    at_phase(interrupt)
    assert main(command(tree)) == 130
    assert capsys.readouterr().err.splitlines()[-1] == "zvmlab: interrupted"
    left = {path.name for work in cache_root().glob("try-*") for path in work.iterdir()}
    assert left <= {".zvmlab", "results"} and (tree / DRIVER).read_text() == SOURCE


def start_another(argv: list[str]) -> BaseProcess:
    """A command in a process of its own, with what is played here."""
    process = multiprocessing.get_context("fork").Process(target=lambda: sys.exit(main(argv)))
    process.start()
    return process


def test_killed_trial_is_cleared_by_the_next(
    tree: Path, at_phase: Callable[[Callable[[], None]], None]
) -> None:
    test = os.getpid()

    def kill() -> None:
        if os.getpid() != test:
            os.kill(os.getpid(), signal.SIGKILL)

    at_phase(kill)
    killed = start_another(command(tree))
    killed.join(SECONDS)
    assert killed.exitcode == -signal.SIGKILL and not nothing_left()
    assert main(command(tree)) == 0
    assert nothing_left() and (tree / DRIVER).read_text() == SOURCE


def test_limit_holds_from_the_beginning(
    tree: Path, play: Play, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another trial may keep the tree for an hour."""
    play(lambda side, test, turn: True)
    work = cache_root() / f"try-{digest(str(tree.resolve()))}"
    with locked(work.name):
        assert main(command(tree, "--limit", "0.5")) == 124
    assert capsys.readouterr().err.splitlines()[-1] == "zvmlab: the limit of 0.5 s is over"
    assert nothing_left() and signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_second_trial_of_a_tree_waits_for_the_first(
    tree: Path, play: Play, capfd: pytest.CaptureFixture[str]
) -> None:
    begun, go_on = (multiprocessing.get_context("fork").Event() for _ in range(2))

    def holds(_side: str, _test: str, _turn: int) -> bool:
        begun.set()
        return bool(go_on.wait(SECONDS))

    play(holds)
    trials = [start_another(command(tree))]
    assert begun.wait(SECONDS), "the first trial does not test base"
    trials.append(start_another(command(tree)))
    said, end = "", time.monotonic() + SECONDS
    while f"waiting until process {trials[0].pid} has built both sides of {tree}" not in said:
        assert time.monotonic() < end, f"the second trial says nothing: {said}"
        said += capfd.readouterr().err
        time.sleep(0.01)
    go_on.set()
    for one in trials:
        one.join(SECONDS)
    assert [one.exitcode for one in trials] == [0, 0] and nothing_left()
