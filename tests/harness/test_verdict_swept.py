# SPDX-License-Identifier: MIT
"""Sweeps of both sides, from the reports that sweeps write: what differs, and what cannot be swept."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from zvmlab.base.tree import TREE
from zvmlab.builder.modulebuild import Build
from zvmlab.scenarios.outcome import Outcome, Step
from zvmlab.sweep.cases import Case, Point
from zvmlab.sweep.report import to_json, verdicts
from zvmlab.sweep.run import PANIC, UNUSABLE, Counted, Result, Symptom
from zvmlab.sweep.sweep import Plan, Sweep
from zvmlab.verdict import swept
from zvmlab.verdict.allow import Allowed
from zvmlab.verdict.compare import Difference, Effect
from zvmlab.verdict.report import Tried, Verdict, text
from zvmlab.verdict.sides import Side, Sides
from zvmlab.verdict.swept import scenarios_for, sweeps

SCENARIO = "read-one-set"
CASES = (Case("iucv.reply", 1, "drop"), Case("iucv.reply", 1, "delay"))
NO_FAULT = f"sweep.{SCENARIO}[without a fault]"
Symptoms = Mapping[str, Sequence[Symptom]]
effects: dict[str, str] = {}
"""By case: the error that a program gets."""
Play = Callable[..., list[list[str]]]


def outcome(case: str = "") -> Outcome:
    """A program's one step, in a run without a fault or with one."""
    return Outcome(SCENARIO, (Step("open", {"errno": effects.get(case, "")}),), ())


def write_report(output: Path, cases: Sequence[Case], symptoms: Symptoms) -> None:
    """A report as a sweep writes it."""
    plan = Plan(SCENARIO, output, seed=1, jobs=1)
    points = [Point("iucv.reply", ("drop", "delay"))]
    counted = Counted(points, {"iucv.reply": 1}, {}, outcome())
    done = Sweep(plan, "6.1.9", counted, list(cases))
    done.results = {
        str(case): Result(str(case), list(symptoms.get(str(case), ())), outcome(str(case)))
        for case in cases
    }
    data = to_json(done, verdicts(done), 1.0)
    (output / "report.json").write_text(json.dumps(data))


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Play:
    """Lets the sweeps of each side show symptoms: a function of the side and of the run's number."""
    effects.clear()

    def start(shown: Callable[[str, int], Symptoms | int], said: str = "") -> list[list[str]]:
        ran: list[list[str]] = []

        def call(argv: Sequence[str], env: Mapping[str, str], log: Path) -> int:
            words = list(argv[argv.index("sweep") :])
            output = Path(words[words.index("--output") + 1])
            side = words[words.index("--kernel") + 1]
            assert argv[1] == str(TREE / "zvmlab") and env and words[1] == SCENARIO
            points = [after for word, after in zip(words, words[1:]) if word == "--point"]
            ran.append([side, *points, *(["--resume"] if "--resume" in words else [])])
            found = shown(side, sum(one[0] == side for one in ran))
            log.write_text(f"zvmlab: {said}\n")
            if isinstance(found, int):
                return found
            write_report(output, [one for one in CASES if not points or str(one) in points], found)
            return 1 if found else 0

        monkeypatch.setattr(swept, "call", call)
        return ran

    return start


def sides(folder: Path) -> Sides:
    return Sides(Side("base", "6.1.9"), Side("patched", "6.1.9"), Build(folder, "cc", None), "")


def difference(folder: Path) -> tuple[Difference, list[str]]:
    found = Difference()
    return found, sweeps(sides(folder), [SCENARIO], folder, found, Allowed(()))


def test_fault_with_another_effect_is_repeated_alone(play: Play, tmp_path: Path) -> None:
    crash = {
        str(CASES[1]): [Symptom(PANIC, "the kernel died: bug: BUG: it; in mon_read < vfs_read")]
    }
    ran = play(lambda side, turn: crash if side == "patched" else {})
    found, said = difference(tmp_path)
    assert not said and ran[:2] == [["base"], ["patched"]]
    assert ran[2:] == [["base", str(CASES[1])], ["patched", str(CASES[1])]] * 3
    (failing,) = found.failing
    assert failing.test == f"sweep.{SCENARIO}[{CASES[1]}]"
    assert (failing.base, failing.patched) == ((3, 3), (0, 3))
    (report,) = found.reports
    assert report.report == "the kernel died: bug: BUG: it"
    assert report.inside == "mon_read < vfs_read"
    assert found.compared == 3 and found.states[NO_FAULT] == "passes"


def test_effect_that_comes_and_goes_decides_nothing(play: Play, tmp_path: Path) -> None:
    odd = {str(CASES[0]): [Symptom(UNUSABLE, "no")]}
    play(lambda side, turn: odd if side == "patched" and turn % 2 else {})
    found, _ = difference(tmp_path)
    assert not found.failing and len(found.unsteady) == 1


def test_fault_with_another_effect_that_is_right_is_told(play: Play, tmp_path: Path) -> None:
    """A reply that is dropped is EIO on base and EINVAL on patched, and neither is a symptom."""

    def shown(side: str, turn: int) -> Symptoms:
        effects[str(CASES[0])] = "EIO" if side == "base" else "EINVAL"
        effects[str(CASES[1])] = "EIO" if side == "base" or turn % 2 else "EAGAIN"
        return {}

    play(shown)
    found, _ = difference(tmp_path)
    name = f"sweep.{SCENARIO}[{CASES[0]}]"
    assert found.effects == [Effect(name, "open EIO", "open EINVAL")], "the other is unsteady"
    assert not found.failing and not found.passing and found.states[name] == "passes"
    tried = Tried("bookworm", "6.1.9", difference=found)
    verdict = Verdict("s", 1, "linux", ["zvmlab"], [tried])
    said = " ".join(text(verdict).split())
    assert "on 6.1.9: 1 with another effect" in said and verdict.exit_code == 0
    assert "base: open EIO patched: open EINVAL" in said


def test_scenario_that_fails_without_a_fault_is_newly_failing(play: Play, tmp_path: Path) -> None:
    play(lambda side, turn: 1 if side == "patched" else {}, "open: EIO")
    found, said = difference(tmp_path)
    assert not said
    (failing,) = found.failing
    assert failing.test == NO_FAULT and "open: EIO" in failing.cause
    play(lambda side, turn: 1, "open: EIO")
    found, _ = difference(tmp_path / "both")
    assert not found.failing and found.states == {NO_FAULT: "fails on base, too"}


def test_scenario_that_the_kernel_cannot_play_is_not_tried(play: Play, tmp_path: Path) -> None:
    play(lambda side, turn: 2, "kernel 7.2 has no module netiucv")
    found, said = difference(tmp_path)
    assert said == [f"{SCENARIO} was not swept on base: kernel 7.2 has no module netiucv"]
    assert not found.compared


def test_sweep_that_was_cut_off_goes_on(play: Play, tmp_path: Path) -> None:
    ran = play(lambda side, turn: {})
    begun = tmp_path / f"{SCENARIO}-patched"
    begun.mkdir()
    (begun / "results.jsonl").write_text("{}\n")
    for _ in range(2):
        difference(tmp_path)
    assert ran == [["base"], ["patched", "--resume"]], "then both reports are there"


def test_scenarios_are_those_that_use_the_file() -> None:
    assert SCENARIO in scenarios_for(["drivers/s390/char/monreader.c"])
    assert scenarios_for(["drivers/s390/char/monwriter.c"]) == ["write-and-read-back"]
    assert scenarios_for(["net/iucv/af_iucv.c", "Documentation/x.rst"]) == ["sockets"]
    assert scenarios_for(["arch/s390/hypfs/hypfs_vm.c"]) == ["hypfs"]
    assert scenarios_for(["drivers/s390/block/dasd_diag.c"], ["dasd_diag_mod"]) == ["dasd_diag"]
    assert not scenarios_for(["fs/open.c"])
