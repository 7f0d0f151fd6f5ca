# SPDX-License-Identifier: MIT
"""Sweeps find the same with a real kernel as they say."""

from __future__ import annotations

import dataclasses
import errno
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from vdisk_lab import VIRTUAL
from zvmlab.base.errors import GuestPanic
from zvmlab.base.progress import Progress
from zvmlab.guest.config import UPSTREAM_DRIVER, GuestConfig
from zvmlab.guest.guest import Guest
from zvmlab.guest.pool import Pool
from zvmlab.pytest_plugin.plugin import lent
from zvmlab.scenarios import BUILT_IN, USERS, possible
from zvmlab.scenarios.context import Context
from zvmlab.sweep import report as sweep_report
from zvmlab.sweep.known import KNOWN
from zvmlab.sweep.sweep import Plan, sweep

pytestmark = pytest.mark.first_kernel

SEED = 20260101
DOCUMENT = Path(__file__).parents[2] / "docs" / "scenarios.md"
QUIET = Progress(quiet=True)
DONE = {
    "special-messages": "TESTER three",
    "cmm": 'pages="4"',
    "terminal": "shown",
    "sockets": "an answer",
    "watchdog": "expired=true",
    "hypfs": "z/VM Hypervisor",
    "dcssblk": 'texts=["saved","saved"]',
    "vmlogrdr": '"22 one afterwards"',
    "appldata": "sample records=[[1,144,true],[2,88,true],[3,96,true]]",
    "vmur": 'queue of="PUN" files=[["text","last"]]',
    "hmcdrv": 'drive kept="new data"',
    "netiucv": 'receive text="answer"',
    "dasd_diag": 'kept="written"',
    "cpus": 'rescan present="0-1" start errno=null online="0-1"',
    "pfault": 'sleeps=true in completed=1 goes on how="in time" page told="held"',
}
"""What a step of each scenario says if all went well."""
LOCKS = pytest.mark.kernel_defect(
    7,
    "dcssblk: lockdep sees two locks taken in opposite orders",
    seen=r"the guest's kernel reported a warning .*possible circular locking dependency detected.*",
    raises=GuestPanic,
    kernels=("bookworm:debug",),
)
MARKS = {"dcssblk": LOCKS, "dasd_diag": VIRTUAL}


def _plans(kernel: str, driver: str, backend: str, folder: Path) -> Callable[..., Plan]:
    def make(scenario: str, patterns: tuple[str, ...], jobs: int = 1) -> Plan:
        return Plan(
            scenario, folder / "sweep", kernel, driver, SEED, patterns, jobs=jobs, backend=backend
        )

    return make


@pytest.fixture
def planned(
    zvmlab_kernel: str, zvmlab_driver: str, zvmlab_backend: str, zvmlab_dir: Path
) -> Callable[..., Plan]:
    """planned(SCENARIO, PATTERNS[, jobs=N]): a sweep of the kernel, driver and emulator under test."""
    return _plans(zvmlab_kernel, zvmlab_driver, zvmlab_backend, zvmlab_dir)


@pytest.fixture
def planned_for_another_part(
    zvmlab_kernel: str, zvmlab_backend: str, zvmlab_dir: Path
) -> Callable[..., Plan]:
    """The same of scenarios that have nothing to do with monreader: once, not for each driver."""
    return _plans(zvmlab_kernel, UPSTREAM_DRIVER, zvmlab_backend, zvmlab_dir)


@pytest.mark.parametrize("name", BUILT_IN)
def test_scenario_is_the_same_each_time_and_leaves_nothing(
    warm_guest: Guest, zvmlab_driver: str, zvmlab_dir: Path, name: str
) -> None:
    outcomes = []
    for _ in range(2):
        with Context(warm_guest, zvmlab_dir, "seed") as context:
            BUILT_IN[name].run(context)
            outcomes.append(context.outcome(name))
            stored = [known.stream for known in context.stored_sets()]
            complete = [found.stream for found in context.sets if found.complete]
            assert all(stream in stored for stream in complete)
            assert not context.loaded and context.fd == -1
    assert outcomes[0].differences(outcomes[1]) == []


def _skip_if_impossible(name: str, kernel: str, backend: str) -> None:
    if backend not in USERS[name].backends:
        pytest.skip(f"{backend} cannot do what the scenario is about")
    if not possible({name: USERS[name]}, kernel):
        pytest.skip("the kernel has no such driver")


@pytest.fixture
def its_guest(
    request: pytest.FixtureRequest,
    guest_pool: Pool,
    zvmlab_kernel: str,
    zvmlab_backend: str,
    name: str,
) -> Iterator[Guest]:
    """A guest that has what a scenario of another part of the kernel needs."""
    _skip_if_impossible(name, zvmlab_kernel, zvmlab_backend)
    usual = GuestConfig(kernel=zvmlab_kernel, backend=zvmlab_backend)
    with lent(request, guest_pool, USERS[name].config(usual)) as guest:
        yield guest


@pytest.mark.parametrize("name", [pytest.param(name, marks=MARKS.get(name, ())) for name in USERS])
def test_scenario_of_another_part_of_the_kernel_is_the_same_each_time(
    its_guest: Guest, zvmlab_dir: Path, name: str
) -> None:
    """It does what it is about, and what it uses afterwards works."""
    guest, outcomes = its_guest, []
    usable = USERS[name].usable
    assert usable is not None
    # Where guests are not put back, an earlier test may have left a terminal that is to be hung up.
    with Context(guest, zvmlab_dir, "seed") as context:
        assert usable(context) is None
    for _ in range(2):
        with Context(guest, zvmlab_dir, "seed") as context:
            USERS[name].run(context)
            outcomes.append(context.outcome(name))
            assert usable(context) is None
    assert outcomes[0].differences(outcomes[1]) == []
    assert DONE[name] in " ".join(str(step) for step in outcomes[0].steps)


def test_sweep_of_another_part_of_the_kernel(
    planned_for_another_part: Callable[..., Plan],
) -> None:
    """Every refusal and loss of a released page: the guest goes on giving pages, and taking them."""
    done = sweep(planned_for_another_part("cmm", ("diag10.release",)), QUIET)
    assert done.counted.calls["diag10.release"] == 4
    found = sweep_report.verdicts(done)
    assert [(str(v.case), v.word) for v in found] == [
        (f"diag10.release#{call}:{fault}", sweep_report.OK)
        for call in range(1, 5)
        for fault in ("pgm=1", "pgm=6", "drop")
    ]


@pytest.mark.timeout(120)
def test_oops_of_a_task_that_holds_a_lock_is_told(
    planned_for_another_part: Callable[..., Plan],
) -> None:
    """The terminal's thread dies within its lock, which the reader then wants: both cases say why."""
    done = sweep(planned_for_another_part("terminal", ("iucv.receive#1:pgm=*",)), QUIET)
    found = sweep_report.verdicts(done)
    assert [(str(v.case), v.word) for v in found] == [
        ("iucv.receive#1:pgm=1", "known"),
        ("iucv.receive#1:pgm=6", "known"),
    ]
    for symptoms in (done.results[str(v.case)].symptoms for v in found):
        assert len(symptoms) == 1 and "__iucv_message_receive" in symptoms[0].text


def test_overflow_is_told_once_between_two_sets(
    warm_guest: Guest, zvmlab_driver: str, zvmlab_dir: Path
) -> None:
    with Context(warm_guest, zvmlab_dir, "seed") as context:
        BUILT_IN["overflow"].run(context)
        reads = [step.result for step in context.steps if step.what == "read"]
        fates = [step.result["fate"] for step in context.steps if step.what == "deliver"]
    assert fates == ["delivered"] * 255 + ["lost-limit", "delivered"]
    assert [read["errno"] for read in reads] == [None] * 255 + ["EOVERFLOW", None]
    sizes = [read["sizes"] for read in reads if read["errno"] is None]
    assert all(sum(found) == 12 + 40 and found[-1] == 0 for found in sizes)


def test_short_sweep(planned: Callable[..., Plan]) -> None:
    """REPLY with every code: the reader gets EIO, the log has the code, the driver goes on."""
    plan = planned("read-one-set", ("iucv.reply#*:[crd]*", "monitor.reply"))
    done = sweep(plan, QUIET)
    assert done.counted.calls["iucv.reply"] == done.counted.calls["monitor.reply"] == 1
    found = sweep_report.verdicts(done)
    assert [v.case for v in found] == done.cases and len(found) == 19
    assert [v.case for v in found if v.word != sweep_report.OK] == []
    for verdict in found:
        said = sweep_report.effect(verdict.result, done.counted.outcome)
        if verdict.case.kind in ("cc", "rc"):
            code = verdict.case.value
            assert said == f'read EIO, log "monreader: Reading monitor data failed with rc={code}"'
        if verdict.case.kind == "drop":
            assert said == "nothing"
    for path in sweep_report.write(done, found, 1.0):
        assert path.stat().st_size > 0
    report = json.loads((plan.output / sweep_report.JSON_NAME).read_text())
    assert {case["verdict"] for case in report["cases"]} == {"ok"}
    assert "iucv.send" in report["not reached"]


def test_case_is_the_same_whatever_ran_before(
    planned: Callable[..., Plan], zvmlab_backend: str, zvmlab_dir: Path
) -> None:
    """Storage that CP did not write must not show another case's data."""
    if zvmlab_backend != "qemu":
        pytest.skip("only guests in QEMU are put back after each case")
    plan = planned("read-one-set", ("segment.content#1:drop",))
    alone = sweep(plan, QUIET)
    before = (*plan.patterns, "diag64.loadshr#1:*")
    after = sweep(dataclasses.replace(plan, output=zvmlab_dir / "after", patterns=before), QUIET)
    assert len(alone.cases) == 1 and len(after.cases) > 10
    (case,) = map(str, alone.cases)
    assert str(after.cases[-1]) == case
    assert after.results[case].outcome == alone.results[case].outcome


def test_faults_of_application_data(planned: Callable[..., Plan]) -> None:
    """A buffer that CP does not declare, or declares and does not copy: writers and readers go on."""
    patterns = ("diagdc.start#1:[rd]*", "appldata.sample#1:*")
    done = sweep(planned("write-and-read-back", patterns), QUIET)
    found = sweep_report.verdicts(done)
    assert len(found) == len(done.cases) == 2 + 5
    assert [(str(v.case), v.word) for v in found if v.word != sweep_report.OK] == []
    said = {str(v.case): sweep_report.effect(v.result, done.counted.outcome) for v in found}
    assert all(text != "nothing" for case, text in said.items() if "#1:rc" in case), said


@pytest.mark.full
def test_kernel_that_cannot_survive_is_known_and_replaced(planned: Callable[..., Plan]) -> None:
    """The program interruption kills the guest; the next case has a new one."""
    patterns = ("iucv.reply#1:pgm=6", "iucv.reply#1:rc=0x08")
    plan = planned("read-one-set", patterns)
    done = sweep(plan, QUIET)
    found = {str(v.case): v for v in sweep_report.verdicts(done)}
    assert [v.word for v in found.values()] == ["ok", "known"]
    assert "B2F0" in found["iucv.reply#1:pgm=6"].reasons[0]
    assert done.guests == 1
    assert sweep(plan, QUIET, resume=True).results == done.results


# A scenario and a case of it for each entry of the table, in their order.
NEEDED = (
    ("read-one-set", "iucv.connect#1:pgm=1"),
    ("read-one-set", "diag64.loadshr#1:pgm=6"),
    ("write-and-read-back", "diagdc.start#1:pgm=1"),
    ("dcssblk", "diag08.command#1:pgm=6"),
    ("read-one-set", "diag64.loadshr#1:drop"),
    ("read-one-set", "interrupt#1:corrupt=3^0x10"),
    ("read-one-set", "interrupt#1:corrupt=0^0x80"),
    ("terminal", "interrupt#1:duplicate"),
    ("special-messages", "interrupt#1:corrupt=16^0x80"),
    ("sockets", "interrupt#3:corrupt=16^0x80"),
    ("special-messages", "msg.message#1:sever=0x00"),
    ("read-one-set", "iucv.connect#1:drop"),
    ("read-one-set", "interrupt#2:corrupt=12^0x80"),
    ("read-one-set", "monitor.message#1:corrupt=0^0xe2"),
    ("watchdog", "diag288.init#2:pgm=6"),
    ("dcssblk", "diag08.command#2:rc=1"),
    ("dcssblk", "diag64.purgeseg#3:rc=4"),
    ("vmlogrdr", "interrupt#4:sever=0x00"),
    ("vmlogrdr", "iucv.receive#1:sever=0x00"),
    ("vmlogrdr", "recording.message#1:duplicate"),
    ("vmlogrdr", "interrupt#2:corrupt=4^0x80"),
    ("vmlogrdr", "iucv.connect#1:drop"),
    ("vmlogrdr", "iucv.sever#1:rc=0x01"),
    ("appldata", "diagdc.stop#1:rc=1"),
    ("hmcdrv", "hmc.completion#2:drop"),
    ("dasd_diag", "disk.completion#1:drop"),
    ("hypfs", "diag2fc.guests#1:drop"),
)
NOT_ON_BOOKWORM = ("hypfs",)
"""What these show is of later kernels."""


@pytest.mark.full
@pytest.mark.timeout(1200)
def test_everything_known_is_seen(
    planned: Callable[..., Plan], zvmlab_driver: str, zvmlab_kernel: str
) -> None:
    """Each entry of the table of known results is needed, and covers no other's case."""
    if zvmlab_driver != UPSTREAM_DRIVER:
        pytest.skip("the table has what the kernel's own driver shows")
    found: dict[tuple[str, str], sweep_report.Verdict] = {}
    for name in dict(NEEDED):
        plan = planned(name, tuple(case for scenario, case in NEEDED if scenario == name))
        done = sweep(dataclasses.replace(plan, output=plan.output / name), QUIET)
        found |= {(name, str(verdict.case)): verdict for verdict in sweep_report.verdicts(done)}
    assert {name: verdict.blame for name, verdict in found.items() if verdict.blame} == {}
    assert len(NEEDED) == len(KNOWN)
    for needed, entry in zip(NEEDED, KNOWN):
        if needed[0] in NOT_ON_BOOKWORM and zvmlab_kernel == "bookworm":
            assert found[needed].result.symptoms == []
            continue
        case, (symptom,) = found[needed].case, found[needed].result.symptoms
        assert [known for known in KNOWN if known.covers(case, symptom, zvmlab_driver)] == [entry]


def test_examples_of_the_document(monreader: Guest, zvmlab_dir: Path) -> None:
    """docs/scenarios.md: the test passes, the scenario does what its text says."""
    test, scenario = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.S)
    names: dict[str, Any] = {}
    exec(compile(test, str(DOCUMENT), "exec"), names)
    names["test_set_after_a_failed_reply_is_whole"](monreader, zvmlab_dir)
    exec(compile(scenario, str(DOCUMENT), "exec"), names)
    monreader.agent.rmmod("monreader").check()
    with Context(monreader, zvmlab_dir, "seed") as context:
        names["two_readers"].run(context)
        results = {step.what: step.result for step in context.steps}
    monreader.agent.modprobe("monreader").check()
    assert results["second open"] == {"ret": -1, "errno": errno.EBUSY}
    # The records have no room behind offset 4000: 96 bytes end the frame.
    assert sum(results["read"]["sizes"]) == 12 + 96 + 2 * 80


def _sweep_whole(plan: Plan, least: int) -> None:
    done = sweep(plan, QUIET)
    found = sweep_report.verdicts(done)
    sweep_report.write(done, found, 0.0)
    assert len(found) == len(done.cases) >= least
    assert [(str(v.case), v.blame) for v in found if v.blame] == []


@pytest.mark.full
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    ("name", "patterns", "least"),
    [
        ("read-one-set", (), 150),
        ("collect", ("monitor.interval",), 8),
        ("write-and-read-back", ("diagdc.*", "appldata.*"), 60),
    ],
    ids=("read-one-set", "intervals", "application-data"),
)
def test_whole_sweep(
    planned: Callable[..., Plan], name: str, patterns: tuple[str, ...], least: int
) -> None:
    """Every fault of every point: the driver survives it, or it is known why it does not."""
    _sweep_whole(planned(name, patterns, jobs=2), least)


@pytest.mark.full
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    ("name", "patterns", "least"),
    [
        ("dcssblk", (), 120),
        ("vmlogrdr", ("iucv.connect", "recording.*", "iucv.sever"), 60),
        ("pfault", (), 40),
        ("appldata", (), 120),
        ("vmur", (), 150),
        ("hmcdrv", (), 120),
        ("netiucv", (), 150),
        ("dasd_diag", ("diag*", "disk.completion"), 60),
        ("cpus", ("diag08.command",), 20),
    ],
    ids=(
        *("dcssblk", "vmlogrdr", "pfault", "appldata", "vmur", "hmcdrv", "netiucv", "dasd_diag"),
        "cpus",
    ),
)
def test_whole_sweep_of_another_part_of_the_kernel(
    planned_for_another_part: Callable[..., Plan],
    zvmlab_kernel: str,
    zvmlab_backend: str,
    name: str,
    patterns: tuple[str, ...],
    least: int,
) -> None:
    """Every fault of every point: that part survives it, or it is known why it does not."""
    _skip_if_impossible(name, zvmlab_kernel, zvmlab_backend)
    _sweep_whole(planned_for_another_part(name, patterns, jobs=2), least)
