# SPDX-License-Identifier: MIT
"""Comparing emulators: what is run where, which part of the trace counts, what the command says."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from sweep_fakes import FakeGuest

from zvmlab.agent.results import LogLine
from zvmlab.cli.main import main
from zvmlab.differ.compare import Difference
from zvmlab.differ.known_emulators import CATALOGUE, EMULATORS, EXPLAINED, emulator_pair
from zvmlab.guest.config import HERCULES, QEMU, Artifacts
from zvmlab.scenarios import BUILT_IN, EDGES, MACHINE, USERS, WRITERS
from zvmlab.scenarios.context import Context, Scenario, Stuck

BOOTED = '{"seq":1,"tod":"0","cpu":0,"call":"stsi","gr":["30000002","2"],"cc":0}\n'
ASKED = '{"seq":2,"tod":"1","cpu":0,"call":"diag.00","r1":0,"r3":1,"gr":["0","8"],"cc":%d}\n'


class TracedGuest(FakeGuest):
    """A guest with a trace; in Hercules the calls of scenarios have another condition code."""

    codes = {QEMU: 0, HERCULES: 0}

    def __init__(self, config: Any, logs: Path, artifacts: Any) -> None:
        super().__init__(config, logs, artifacts)
        self.trace = logs / "trace.jsonl"
        self.channels = SimpleNamespace(trace=self.trace)

    def boot(self) -> None:
        super().boot()
        self.trace.write_text(BOOTED)

    def ask(self) -> None:
        """What a scenario has the guest do."""
        with self.trace.open("a") as file:
            file.write(ASKED % TracedGuest.codes[self.config.backend])


def _ask(context: Context) -> None:
    guest: Any = context.guest
    guest.ask()
    context.note("asked", backend="either")


def _ask_twice(context: Context) -> None:
    _ask(context)
    _ask(context)


SCENARIOS = {
    "twice": Scenario("twice", "Two calls.", _ask_twice),
    "plain": Scenario("plain", "One call.", _ask),
    "begun": Scenario("begun", "From the boot on.", _ask, boots=True),
}


@pytest.fixture(autouse=True)
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guests, artifacts and scenarios that are made up; both emulators agree."""
    nowhere = Path("/nonexistent")
    artifacts = Artifacts(nowhere, nowhere, "6.1 (fake)", nowhere)
    monkeypatch.setattr("zvmlab.differ.differ.prepare", lambda config, progress: artifacts)
    monkeypatch.setattr("zvmlab.guest.pool.Guest", TracedGuest)
    monkeypatch.setattr("zvmlab.differ.known_emulators.CATALOGUE", SCENARIOS)
    monkeypatch.setattr("zvmlab.differ.known_emulators.EXPLAINED", ())
    monkeypatch.setattr(TracedGuest, "codes", {QEMU: 0, HERCULES: 0})
    FakeGuest.made.clear()


def diff_emulators(tmp_path: Path, *words: str) -> int:
    """The command's exit code."""
    return main(["diff", "emulators", *words, "--seed", "7", "--output", str(tmp_path / "out")])


def test_equal_emulators_pass_and_leave_no_logs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert diff_emulators(tmp_path, "plain", "--driver", "zvmlab") == 0
    out = capsys.readouterr().out
    assert out.startswith("seed 7\nplain: 1 step, 0 bytes, no difference\n")
    assert "between qemu and hercules on 6.1 (fake), driver zvmlab, seed 7: 0 unexplained" in out
    assert [guest.config.backend for guest in FakeGuest.made] == [QEMU, HERCULES]
    assert {guest.config.driver for guest in FakeGuest.made} == {"zvmlab"}
    assert all(guest.stopped for guest in FakeGuest.made)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"report.json", "results.jsonl"}


def test_every_step_of_both_sides_is_compared_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert diff_emulators(tmp_path, "twice") == 0
    assert "\ntwice: 2 steps, 0 bytes, no difference\n" in capsys.readouterr().out
    # The same scenario with a step less in the second emulator.
    steps = {QEMU: _ask_twice, HERCULES: _ask}

    def run(context: Context) -> None:
        guest: Any = context.guest
        steps[guest.config.backend](context)

    monkeypatch.setitem(SCENARIOS, "twice", Scenario("twice", "", run))
    assert diff_emulators(tmp_path, "twice") == 1
    assert "  unexplained: steps: qemu 2, hercules 1" in capsys.readouterr().out


def test_difference_fails_is_told_and_keeps_the_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(TracedGuest.codes, HERCULES, 3)
    assert diff_emulators(tmp_path, "plain") == 1
    out = capsys.readouterr().out
    assert (
        "  unexplained: calls and CP: qemu diagnose 00 in [] out [] cc 0, hercules nothing" in out
    )
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["emulators"] == [QEMU, HERCULES] and report["passed"] is False
    assert [difference["values"] for difference in report["scenarios"][0]["differences"]] == [
        ["diagnose 00 in [] out [] cc 0", ""],
        ["", "diagnose 00 in [] out [] cc 3"],
    ]
    kept = tmp_path / "out" / "guests-2-hercules"
    assert (kept / "1" / "trace.jsonl").exists()
    assert (kept / "plain.txt").read_text() == (
        'step 1: asked backend="either"\ncalls: diagnose 00 in [] out [] cc 3\n'
    )


def test_logs_are_kept_on_request(tmp_path: Path) -> None:
    assert diff_emulators(tmp_path, "plain", "--keep") == 0
    for side in ("guests-1-qemu", "guests-2-hercules"):
        assert (tmp_path / "out" / side / "1" / "trace.jsonl").exists()
        assert (tmp_path / "out" / side / "plain.txt").exists()


def test_scenario_that_begins_with_the_boot_has_a_guest_and_all_of_its_trace(
    tmp_path: Path,
) -> None:
    assert diff_emulators(tmp_path, "plain", "begun", "plain", "--keep") == 0
    # The guest of "begun" serves what follows; only it must not come from a checkpoint.
    made = [(guest.config.backend, guest.config.cold) for guest in FakeGuest.made]
    assert made == [(QEMU, False), (HERCULES, False), (QEMU, True), (HERCULES, True)]
    folder = tmp_path / "out" / "guests-1-qemu"
    own = "calls: diagnose 00 in [] out [] cc 0\n"
    assert (folder / "plain.txt").read_text().endswith(f'"either"\n{own}')
    begun = (folder / "begun.txt").read_text().partition("\n")[2]
    assert begun == f"calls: stsi ['30000002', '2']  cc 0\n{own}"


def test_what_a_scenario_leaves_behind_costs_a_new_guest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def leave(context: Context) -> None:
        guest: Any = context.guest
        guest.cp.users.append("LEFT")

    monkeypatch.setitem(SCENARIOS, "twice", Scenario("twice", "", leave))
    assert diff_emulators(tmp_path, "plain", "twice", "plain", "plain", "--keep") == 0
    assert [guest.logs.name for guest in FakeGuest.made] == ["1", "1", "2", "2"]


def test_a_scenario_that_ends_early_costs_a_new_guest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sleep(context: Context) -> None:
        raise Stuck(cast(Any, None), "open", cast(Any, None))

    monkeypatch.setitem(SCENARIOS, "twice", Scenario("twice", "", sleep))
    assert diff_emulators(tmp_path, "twice", "plain", "--keep") == 0
    assert [guest.logs.name for guest in FakeGuest.made] == ["1", "1", "2", "2"]


def test_order_of_the_log_counts_but_not_in_a_boot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def logged(guest: FakeGuest, since: int) -> list[LogLine]:
        texts = ("one", "two") if guest.config.backend == QEMU else ("two", "one")
        return [LogLine(since + number, 6, 0.0, text) for number, text in enumerate(texts)]

    monkeypatch.setattr(TracedGuest, "dmesg", logged)
    assert diff_emulators(tmp_path, "begun") == 0
    assert diff_emulators(tmp_path, "plain") == 1
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert {difference["aspect"] for difference in report["scenarios"][0]["differences"]} == {"log"}


def test_catalogue_has_all_scenarios_of_sweeps_and_drivers() -> None:
    parts = {name for name, one in (WRITERS | USERS).items() if HERCULES in one.backends}
    assert "cmm" in parts and "vmur" not in parts
    assert set(CATALOGUE) == {*BUILT_IN, *EDGES, *MACHINE} | parts
    assert [name for name, one in CATALOGUE.items() if one.boots] == ["boot"]
    assert len(CATALOGUE) == len(BUILT_IN) + len(EDGES) + len(MACHINE) + len(parts)


def test_table_is_about_scenarios_that_are_there_and_says_why() -> None:
    assert EXPLAINED, "something differs between two machines"
    for entry in EXPLAINED:
        assert set(entry.scenarios.split()) <= set(CATALOGUE)
        assert len(entry.reason) > 20
        # An entry that covers anything would hide everything.
        for text in ("", "cc 1", "stsi ['30000002', '2'] [4096, '2df1'] cc 0"):
            both = Difference(entry.scenarios.split()[0], "", entry.aspect, text, text)
            assert not entry.covers(both)
    assert len(set(EXPLAINED)) == len(EXPLAINED)


def test_sides_differ_in_the_emulator_only() -> None:
    first, second = emulator_pair("trixie", "zvmlab").configs
    assert (first.backend, second.backend) == EMULATORS == (QEMU, HERCULES)
    assert (first.kernel, first.driver) == (second.kernel, second.driver) == ("trixie", "zvmlab")
