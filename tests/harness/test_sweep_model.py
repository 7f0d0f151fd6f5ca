# SPDX-License-Identifier: MIT
"""Sweeps: cases, what becomes of them, going on with an interrupted one, the report."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from sweep_fakes import FakeGuest

from zvmlab.base.errors import GuestPanic, UsageError, ZvmlabError
from zvmlab.base.owned import MARK
from zvmlab.base.progress import Progress
from zvmlab.cli.main import main
from zvmlab.guest import pool
from zvmlab.guest.config import Artifacts
from zvmlab.monitor.monitor import CapturedSet
from zvmlab.scenarios import find
from zvmlab.scenarios.context import Context, FoundSet, Scenario
from zvmlab.scenarios.outcome import Outcome
from zvmlab.sweep import sweep as sweep_module
from zvmlab.sweep import report as sweep_report, run as sweep_run
from zvmlab.sweep.cases import Case, Point, Subject, cases
from zvmlab.sweep.known import KNOWN, reason
from zvmlab.sweep.run import Result, Runner, Symptom
from zvmlab.sweep.sweep import Plan, Sweep, run_all, seed_of, state_of, sweep

QUIET = Progress(quiet=True)


@pytest.fixture(autouse=True)
def _fakes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Guests are fakes, nothing is built."""
    monkeypatch.setattr(pool, "Guest", FakeGuest)
    artifacts = Artifacts(Path("e"), Path("k"), "6.1 (fake)", Path("i"))
    monkeypatch.setattr(sweep_module, "prepare", lambda config, progress: artifacts)
    FakeGuest.made.clear()
    FakeGuest.leaves = ""
    yield
    assert all(guest.stopped for guest in FakeGuest.made)


def plan(tmp_path: Path, *patterns: str, **more: Any) -> Plan:
    """A plan with one job."""
    fields: dict[str, Any] = {"scenario": "read-one-set", "seed": 5, "jobs": 1, **more}
    return Plan(output=tmp_path / "sweep", patterns=patterns, **fields)


def one(tmp_path: Path, pattern: str) -> tuple[Sweep, sweep_report.Verdict]:
    """The verdict on the one case that fits."""
    done = sweep(plan(tmp_path, pattern), QUIET)
    (verdict,) = sweep_report.verdicts(done)
    return done, verdict


def test_points_of_two_guests_have_the_users_in_front() -> None:
    """CP's rule is about that user's calls; a machine's connection breaks at certain calls only."""
    points = [Point("ALICE iucv.send", ("rc", "drop")), Point("BOB machine.link", ("sever",))]
    made = list(cases(points, {"ALICE iucv.send": 1, "BOB machine.link": 9}, "1"))
    texts = [str(case) for case in made]
    assert texts[0] == "ALICE iucv.send#1:rc=0x01" and "ALICE iucv.send#1:drop" in texts
    assert texts[-9:] == [f"BOB machine.link#{1 << n}:sever=0x00" for n in range(9)]
    assert not list(cases(points, {}, "1"))
    subject = Subject("MONDCSS", "BOB")
    fault = made[0].fault(subject)
    assert (fault.point, fault.user, fault.name, fault.nth) == ("iucv.send", "ALICE", "BOB", 1)
    assert made[-1].fault(subject).arguments()["user"] == "BOB"
    assert subject.counter(points[0]).arguments()["user"] == "ALICE"
    for pattern, number in (
        ("machine.link", 9),
        ("BOB *", 9),
        ("iucv.send#1:drop", 1),
        ("CAROL*", 0),
    ):
        assert len(list(cases(points, {p.name: 9 for p in points}, "1", (pattern,)))) == number


def test_cases_are_every_value_at_every_call() -> None:
    points = [Point("iucv.sever", ("cc", "rc", "pgm", "drop")), Point("interrupt", ("delay",))]
    made = [str(case) for case in cases(points, {"iucv.sever": 2, "interrupt": 0}, "1")]
    first = ["cc=2", "cc=3", "rc=0x01", "rc=0x1c", "pgm=1", "pgm=6", "drop"]
    assert made == [f"iucv.sever#{call}:{what}" for call in (1, 2) for what in first]
    assert [str(c) for c in cases(points, {"interrupt": 1}, "1")] == [
        "interrupt#1:delay=1",
        "interrupt#1:delay=2",
    ]


def test_corrupted_contents_follow_from_the_seed() -> None:
    points = [Point("segment.content", ("corrupt",))]
    first, again, other = (list(cases(points, {"segment.content": 1}, s)) for s in "112")
    assert first == again != other
    assert [case.offset for case in first] == [0, 19, 20]
    assert all(1 <= case.value <= 255 for case in first)


# Values that a sweep tries, in the documents' words: IPRCODEs by VM/SP System Facilities for
# Programming, figure 24, and what CP's *MONITOR says (docs/choices.md).
TRIED = {
    "iucv.connect cc": "2 3",
    "iucv.sever cc": "2 3",
    "diag64.loadshr cc": "1 2 3",
    "monitor.message cc": "1 2 3",
    "iucv.connect rc": "4 11 12 13 14 15 16 17 18 28 48",
    "iucv.accept rc": "1 4 20 28",
    "iucv.reply rc": "1 2 4 5 6 7 8 9 10 20 21 28",
    "iucv.send rc": "1 2 3 4 10 20 21 28",
    "iucv.receive rc": "1 5 6 7 8 9 10 28",
    "iucv.declare-buffer rc": "3 10 19 62 92",
    "iucv.sever rc": "1 28",
    "diag64.purge rc": "4 40 44 45 177 263",
    "diag08.command rc": "1 3 6 22",
    "diag08.other rc": "1",
    # Sense byte 0: command reject, intervention required, data check.
    "spool.write rc": "128 64 8",
    # drivers/s390/char/diag_ftp.c
    "diag2c4.start rc": "4 8",
    "hmc.transfer rc": "4 8 12 16 17 18 19 20",
    "iucv.connect pgm": "1 6",
    "interrupt delay": "1 2",
    "monitor.connect sever": "0 4 8 12 16 20 24 28 32 44 255",
    "msg.connect sever": "0 44 255",
    "iucv.connect limit": "1 10 100",
    "interrupt drop": "0",
}
# By the layout of the interrupt buffer and of a monitor control element: offset and mask.
CORRUPTED = {
    "interrupt": "0^128 1^1 2^128 3^16 3^1 4^128 8^128 12^128 15^1 16^128 19^1",
    "monitor.message": "0^226 1^8 3^255 4^128 7^4 8^128 11^4",
}


@pytest.mark.parametrize("tried", TRIED)
def test_values_are_those_of_the_documents(tried: str) -> None:
    point, kind = tried.split()
    made = list(cases([Point(point, (kind,))], {point: 1}, "1"))
    assert " ".join(str(case.value) for case in made) == TRIED[tried]
    assert {case.offset for case in made} == {0}


@pytest.mark.parametrize("point", CORRUPTED)
def test_bits_that_are_corrupted_are_those_a_driver_goes_by(point: str) -> None:
    made = cases([Point(point, ("corrupt",))], {point: 1}, "1")
    assert " ".join(f"{case.offset}^{case.value}" for case in made) == CORRUPTED[point]


def test_corrupted_contents_are_bytes() -> None:
    """Each mask changes something, and any bit may be in one."""
    point = [Point("segment.content", ("corrupt",))]
    drawn = {
        case.value
        for seed in range(1500)
        for case in cases(point, {"segment.content": 1}, str(seed))
    }
    assert drawn == set(range(1, 256))


@pytest.mark.parametrize(
    ("value", "member"),
    [(Point("x", ()), "name"), (Case("x", 1, "drop"), "call"), (Subject("X"), "segment")],
)
def test_what_a_sweep_is_made_of_does_not_change(value: Any, member: str) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(value, member, "other")


@pytest.mark.parametrize(
    ("pattern", "count"),
    [("iucv.*", 14), ("iucv.sever#2:*", 7), ("*:drop", 2), ("iucv.sever", 14), ("x", 0)],
)
def test_patterns_choose_points_and_cases(pattern: str, count: int) -> None:
    points = [Point("iucv.sever", ("cc", "rc", "pgm", "drop"))]
    assert len(list(cases(points, {"iucv.sever": 2}, "1", [pattern]))) == count


def test_faults_name_whom_the_path_belongs_to() -> None:
    subject = Subject("MONDCSS")
    names = {
        point: subject.name(point)
        for point in (
            *("iucv.connect", "iucv.reply", "iucv.sever", "interrupt", "diag64.segext"),
            *("segment.content", "monitor.interval", "monitor.reply", "diag08.command"),
        )
    }
    assert list(names.values()) == [
        *("*MONITOR", "*MONITOR", None, "*MONITOR", "MONDCSS"),
        *("MONDCSS", "*MONITOR", "*MONITOR", None),
    ]
    other = Subject("MONDCSS", "TESTER")
    assert [other.name(point) for point in names] == [
        "TESTER" if name == "*MONITOR" else name for name in names.values()
    ]
    fault = Case("interrupt", 2, "corrupt", 0x80, 12).fault(subject)
    assert fault.arguments() == {
        **{"point": "interrupt", "kind": "corrupt", "value": 0x80, "offset": 12},
        **{"name": "*MONITOR", "when": "nth", "n": 2},
    }
    plain = Case("iucv.reply", 1, "drop").fault(subject).arguments()
    assert plain.get("value", 0) == plain.get("offset", 0) == 0
    assert subject.counter(Point("x", ("pgm", "drop"))).kind == "drop"
    assert subject.counter(Point("x", ("pgm",))).arguments()["value"] == 1


def test_whole_sweep_of_the_model(tmp_path: Path) -> None:
    done = sweep(plan(tmp_path, jobs=2), QUIET)
    assert done.counted.calls == {"iucv.connect": 1, "iucv.reply": 1, "monitor.message": 1}
    assert len(done.cases) == 11 + 2 + 1 + 12 + 1 + 1 + 7 == len(done.results)
    found = sweep_report.verdicts(done)
    words = {str(v.case): v.word for v in found if v.word != "ok"}
    ran = [guest.files for guest in FakeGuest.made if guest.files]
    assert ran and all(files == {"/proc/sys/kernel/panic_on_oops": b"1"} for files in ran)
    assert words == {
        "iucv.connect#1:pgm=1": "known",
        "iucv.connect#1:pgm=6": "known",
        "iucv.connect#1:drop": "known",
        **{str(c): "known" for c in done.cases if c.kind == "corrupt"},
    }
    report = json.loads(sweep_report.write(done, found, 2.5)[0].read_text())
    assert report["not reached"] == ["iucv.send"] and report["other calls"] == {}
    assert sum(point["faults"] for point in report["points"]) == len(found)
    assert Outcome.from_json(report["reference"]) == done.counted.outcome


def test_fault_that_the_driver_reports_is_ok(tmp_path: Path) -> None:
    done, verdict = one(tmp_path, "iucv.reply#1:rc=0x01")
    assert verdict.word == "ok" and verdict.result.symptoms == []
    said = sweep_report.effect(verdict.result, done.counted.outcome)
    assert said == 'read EIO, log "monreader: Reading monitor data failed"'
    assert done.guests == 1


def test_lost_message_lets_the_reader_sleep_on(tmp_path: Path) -> None:
    done, verdict = one(tmp_path, "monitor.message#1:drop")
    assert verdict.word == "ok"
    assert sweep_report.effect(verdict.result, done.counted.outcome) == "read sleeps on"


@pytest.mark.parametrize(
    ("leaves", "kind", "text"),
    [
        ("unusable", "unusable", 'afterwards: read errno="EIO"'),
        ("log", "log", "INFO: possible recursive locking detected"),
        ("warning", "panic", "the guest's kernel reported WARNING: something"),
        ("late", "panic", "the guest's kernel reported an oops (late); in iucv_path_connect"),
    ],
)
def test_what_a_fault_leaves_wrong_is_a_failure(
    tmp_path: Path, leaves: str, kind: str, text: str
) -> None:
    FakeGuest.leaves = leaves
    done, verdict = one(tmp_path, "iucv.reply#1:rc=0x01")
    assert verdict.word == "failed"
    assert [symptom.kind for symptom in verdict.blame] == [kind]
    assert verdict.blame[0].text.startswith(text)
    assert verdict.result.logs == str(tmp_path / "sweep" / "guests-1" / "1")
    assert Path(verdict.result.logs).is_dir()
    assert f"* `iucv.reply#1:rc=0x01`: {kind}: {text}" in sweep_report.markdown(
        done, [verdict], 1.0
    )


def test_guest_with_something_left_is_replaced(tmp_path: Path) -> None:
    FakeGuest.leaves = "users"
    done = sweep(plan(tmp_path, "iucv.reply"), QUIET)
    assert {tuple(result.left) for result in done.results.values()} == {("monitor users",)}
    assert done.guests == len(done.cases) == 13
    assert os.listdir(tmp_path / "sweep" / "guests-1") == [MARK]


def test_hang_that_a_sever_ends_is_told_from_one_for_good(tmp_path: Path) -> None:
    _, woken = one(tmp_path, "iucv.connect#1:drop")
    FakeGuest.leaves = "stuck"
    _, lost = one(tmp_path, "iucv.connect#1:drop")
    assert woken.result.symptoms[0].text.endswith("until CP severs the path")
    assert lost.result.symptoms[0].text.endswith("whatever CP does")
    assert woken.word == lost.word == "known"
    # The guest goes on, and its logs are there when it has ended.
    assert woken.result.logs == str(tmp_path / "sweep" / "guests-1" / "1")
    assert Path(woken.result.logs).is_dir()
    assert woken.result.left == [] and lost.result.left == ["modules", "busy workers"]


def test_set_that_is_cut_short_is_passed_off(tmp_path: Path) -> None:
    _, verdict = one(tmp_path, "monitor.message#1:corrupt=0^0xe2")
    assert [symptom.kind for symptom in verdict.result.symptoms] == ["passed off"]
    assert "0 bytes" in verdict.result.symptoms[0].text


def test_known_results_of_upstream_are_failures_of_another_driver() -> None:
    case = Case("monitor.message", 1, "corrupt", 1)
    symptom = Symptom("passed off", "of read 1, 0 bytes came as if they were a whole set")
    assert "defect 8" in (reason(case, symptom, "upstream") or "")
    assert reason(case, symptom, "/some/monreader.ko") is None
    assert reason(Case("iucv.reply", 1, "rc", 1), symptom, "upstream") is None
    assert reason(case, Symptom("unusable", symptom.text), "upstream") is None
    assert all(known.upstream == known.reason.startswith("upstream") for known in KNOWN)


CUT = "of read {}, {} bytes came as if they were a whole set"
OTHER = "read {} gave a set that CP never stored"


@pytest.mark.parametrize(
    ("corrupted", "texts"),
    [
        (False, [CUT.format(2, 12), OTHER.format(4), CUT.format(5, 0), OTHER.format(7)]),
        (True, [CUT.format(2, 12), CUT.format(5, 0)]),
    ],
)
def test_everything_that_was_passed_off_is_told(corrupted: bool, texts: list[str]) -> None:
    """A read without an end claims nothing; what CP has stored may come late, or twice."""
    first, second = bytes(range(96)), bytes(reversed(range(96)))
    reads = [first, first[:12], second, first[1:], b"", first[:50], second + b"x", first]
    stored = [CapturedSet(n, "sample", 1, one) for n, one in ((1, first), (2, second))]
    sets = [FoundSet(stream, stream != first[:50], 4096) for stream in reads]
    found = sweep_run.passed_off(sets, stored, corrupted)
    assert found == [Symptom("passed off", text) for text in texts]


def test_fault_that_is_not_carried_out_is_a_failure_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scenario comes to its second open only as long as it is counted."""
    runs = itertools.count(1)

    def run(context: Context) -> None:
        context.load()
        for _ in range(2 if next(runs) < 3 else 1):
            context.open()
            context.close()
        context.unload()

    monkeypatch.setattr(sweep_module, "to_sweep", lambda name: Scenario("shorter", "", run))
    _, verdict = one(tmp_path, "iucv.connect#2:rc=0x0b")
    text = "the scenario did not reach call 2 of iucv.connect this time"
    assert (verdict.word, verdict.blame) == ("failed", [Symptom("not carried out", text)])


# What a guest of bookworm showed with upstream's driver, one for each entry, in their order.
OOPS = "the guest's kernel reported {} ([    5.571027] {}); in {}"
SLEEPS = "{} sleeps uninterruptibly in the guest whatever CP does"
SHOWN = (
    (
        "iucv.connect#1:pgm=1",
        "panic",
        OOPS.format(
            "an oops", "illegal operation: 0001 ilc:2 [#1] SMP", "iucv_path_connect < mon_open"
        ),
    ),
    (
        "diag64.loadshr#1:pgm=6",
        "panic",
        OOPS.format(
            "an oops", "specification exception: 0006 ilc:2 [#1] SMP", "segment_load < mon_init"
        ),
    ),
    (
        "diagdc.start#1:pgm=1",
        "panic",
        OOPS.format(
            "an oops", "illegal operation: 0001 ilc:2 [#1] SMP", "monwrite_diag < monwrite_write"
        ),
    ),
    (
        "diag08.command#1:pgm=6",
        "panic",
        OOPS.format(
            "an oops",
            "specification exception: 0006 ilc:2 [#1]SMP",
            "__cpcmd < cpcmd < segment_save",
        ),
    ),
    (
        "diag64.loadshr#1:drop",
        "panic",
        OOPS.format("an oops", "addressing exception: 0005 ilc:2 [#1] SMP", "mon_read < vfs_read"),
    ),
    (
        "interrupt#1:corrupt=3^0x10",
        "panic",
        OOPS.format("a bug", "kernel BUG at net/iucv/iucv.c:1780!", "iucv_external_interrupt"),
    ),
    (
        "interrupt#1:corrupt=0^0x80",
        "panic",
        OOPS.format(
            "a warning",
            "WARNING: at net/iucv/iucv.c:1776 iucv_external_interrupt+0x19e/0x1e8",
            "iucv_external_interrupt < do_ext_interrupt",
        ),
    ),
    (
        "interrupt#1:duplicate",
        "panic",
        OOPS.format("a bug", "kernel BUG at net/iucv/iucv.c:1388!", "iucv_path_pending"),
    ),
    (
        "interrupt#1:corrupt=16^0x80",
        "panic",
        OOPS.format(
            "a warning",
            "WARNING: at mm/page_alloc.c:5634 __alloc_pages+0x258/0x2f0",
            "__alloc_pages < __kmalloc_large_node < __kmalloc < smsg_message_pending",
        ),
    ),
    (
        "interrupt#3:corrupt=16^0x80",
        "panic",
        OOPS.format(
            "a warning",
            "WARNING: at net/iucv/af_iucv.c:1124 alloc_iucv_recv_skb+0x110/0x120",
            "alloc_iucv_recv_skb < iucv_callback_rx < iucv_message_pending < iucv_tasklet_fn",
        ),
    ),
    (
        "msg.message#1:sever=0x00",
        "unusable",
        "afterwards special messages become []",
    ),
    (
        "iucv.connect#1:drop",
        "hangs",
        "open sleeps uninterruptibly in the guest until CP severs the path",
    ),
    (
        "interrupt#2:corrupt=12^0x80",
        "panic",
        OOPS.format(
            "an oops",
            "Unable to handle kernel pointer dereference in virtual kernel address space",
            "mon_read < vfs_read",
        ),
    ),
    ("monitor.message#1:corrupt=0^0xe2", "passed off", CUT.format(1, 0)),
    (
        "diag288.init#2:pgm=6",
        "panic",
        OOPS.format(
            "a warning",
            "WARNING: at drivers/watchdog/diag288_wdt.c:134 wdt_start+0x19c/0x230" " [diag288_wdt]",
            "wdt_start < watchdog_start < watchdog_open",
        ),
    ),
    (
        "diag08.command#2:rc=1",
        "unusable",
        "afterwards the disk keeps ['', '', '', '']",
    ),
    (
        "diag64.purgeseg#3:rc=4",
        "unusable",
        "afterwards the disk keeps ['add', 'EIO', 'further', 'further']",
    ),
    (
        "interrupt#4:sever=0x00",
        "panic",
        OOPS.format(
            "a bug",
            "kernel BUG at lib/list_debug.c:49!",
            "__list_del_entry_valid < iucv_path_sever < vmlogrdr_release < __fput",
        ),
    ),
    ("iucv.receive#1:sever=0x00", "hangs", SLEEPS.format("reading a record")),
    ("recording.message#1:duplicate", "hangs", SLEEPS.format("reading a record")),
    ("interrupt#2:corrupt=4^0x80", "hangs", SLEEPS.format("reading a record")),
    ("iucv.connect#1:drop", "hangs", SLEEPS.format("opening /dev/account")),
    (
        "iucv.sever#1:rc=0x01",
        "unusable",
        "afterwards opening /dev/account ends with EIO",
    ),
    (
        "diagdc.stop#1:rc=1",
        "unusable",
        "afterwards CP copies from the buffers [1] of modules that are gone",
    ),
    ("hmc.completion#1:drop", "hangs", SLEEPS.format("'get folder/file'")),
    ("disk.completion#1:drop", "hangs", SLEEPS.format("reading a page")),
    ("diag2fc.guests#1:drop", "log", "Call Trace:"),
)


def _shown(number: int) -> tuple[Case, Symptom]:
    name, kind, text = SHOWN[number]
    point, _, rest = name.partition("#")
    fault = rest.partition(":")[2].partition("=")[0]
    return Case(point, 1, fault), Symptom(kind, text)


@pytest.mark.parametrize("number", range(len(KNOWN)))
def test_known_result_is_that_of_one_entry_and_of_nothing_beside_it(number: int) -> None:
    """Another kind, point, fault, driver, and more or less text: each by itself is not known."""
    entry, (case, symptom) = KNOWN[number], _shown(number)
    assert [known for known in KNOWN if known.covers(case, symptom, "upstream")] == [entry]
    assert reason(case, symptom, "upstream") == entry.reason
    assert entry.covers(case, symptom, "zvmlab") != entry.upstream
    others = [
        (case, dataclasses.replace(symptom, kind=kind))
        for kind in ("panic", "hangs", "passed off", "unusable", "log", "broken", "raised")
        if kind != symptom.kind
    ]
    others += [
        (dataclasses.replace(case, point=point), symptom)
        for point in ("segment.content", "diag0c.timer", "peer.message", "xinterrupt", "iucvx")
    ]
    others += [
        (dataclasses.replace(case, kind=kind), symptom)
        for kind in ("rc", "sever", "limit", "duplicate")
        if kind not in entry.kinds
    ]
    texts = (
        "",
        "x",
        symptom.text[:10],
        symptom.text[::-1],
        "the guest's kernel reported a panic (x)",
    )
    others += [(case, dataclasses.replace(symptom, text=text)) for text in texts]
    if symptom.kind != "panic":
        # All of the text counts; an oops has the kernel's own words around what is known.
        others += [
            (case, Symptom(symptom.kind, text))
            for text in (f"{symptom.text} x", f"x {symptom.text}")
        ]
    for other in others:
        assert not entry.covers(*other, "upstream"), other


def test_there_is_a_shown_result_for_each_known_one() -> None:
    assert len(SHOWN) == len(KNOWN) == len(set(KNOWN))


def test_emulator_that_breaks_is_never_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(self: Runner, guest: FakeGuest, case: Case, result: Result) -> None:
        raise ZvmlabError("the emulator ended")

    monkeypatch.setattr(Runner, "_run", breaks)
    _, verdict = one(tmp_path, "iucv.reply#1:drop")
    assert verdict.blame == [Symptom("broken", "the emulator ended")]


def test_scenario_that_differs_from_run_to_run_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = itertools.count()

    def run(context: Context) -> None:
        find("read-one-set").run(context)
        context.note("number", value=next(numbers))

    monkeypatch.setattr(sweep_module, "to_sweep", lambda name: Scenario("random", "", run))
    with pytest.raises(ZvmlabError, match="random is not the same in two runs"):
        sweep(plan(tmp_path), QUIET)


def _warns(context: Context) -> None:
    context.load()
    cast(Any, context.guest).cp.say("INFO: task init blocked for more than 120 seconds")


def _leaves(context: Context) -> None:
    cast(Any, context.guest).cp.users.append("LEFT")


def _raises(context: Context) -> None:
    raise KeyError("mistake")


def _breaks(context: Context) -> None:
    cast(Any, context.guest).cp.leaves = "unusable"
    cast(Any, context.guest).cp.fired = True


@pytest.mark.parametrize(
    ("run", "text"),
    [
        (_warns, "log: INFO: task init blocked"),
        (_leaves, "it leaves something behind: monitor users"),
        (_raises, "raised: the scenario ended with KeyError: 'mistake'"),
        (_breaks, 'unusable: afterwards: read errno="EIO"'),
    ],
)
def test_scenario_that_fails_without_a_fault_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[[Context], None], text: str
) -> None:
    monkeypatch.setattr(sweep_module, "to_sweep", lambda name: Scenario("bad", "", run))
    with pytest.raises(ZvmlabError) as error:
        sweep(plan(tmp_path), QUIET)
    assert str(error.value).startswith(f"scenario bad fails without a fault: {text}")


def test_patience_ends_soon_only_where_a_fault_may_have_prevented_what_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How fast the machine is does not count while nothing is wrong."""
    seen: list[tuple[str, float]] = []

    def run(context: Context) -> None:
        seen.append(("runs", context.patience))
        find("read-one-set").run(context)

    def usable(context: Context) -> None:
        seen.append(("works", context.patience))

    made = Scenario("patient", "", run, usable=usable)
    monkeypatch.setattr(sweep_module, "to_sweep", lambda name: made)
    sweep(plan(tmp_path, "iucv.reply#1:rc=0x01"), QUIET)
    without, fault = seen[:4], seen[4:]
    assert without == 2 * [("runs", 60.0), ("works", 60.0)]
    # Once before the driver is unloaded, and once at the end.
    assert fault == [("runs", 1.0), ("works", 10.0), ("works", 10.0)]


def test_calls_of_others_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(context: Context) -> None:
        find("read-one-set").run(context)
        cast(Any, context.guest).cp.reached["iucv.send"] += 2

    monkeypatch.setattr(sweep_module, "to_sweep", lambda name: Scenario("busy", "", run))
    done = sweep(plan(tmp_path, "iucv.reply#1:drop"), QUIET)
    assert done.counted.others == {"iucv.send": 2}
    text = sweep_report.markdown(done, sweep_report.verdicts(done), 1.0)
    assert "Calls of other paths, left alone: iucv.send 2." in text


def test_pattern_that_fits_nothing_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match="no call of read-one-set fits --point iucv.send; it calls"
    ):
        sweep(plan(tmp_path, "iucv.send"), QUIET)


def test_interrupted_sweep_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, ran = Runner.run, []

    def run(self: Runner, case: Case) -> Result:
        ran.append(str(case))
        if len(ran) == 4:
            raise KeyboardInterrupt
        return real(self, case)

    monkeypatch.setattr(Runner, "run", run)
    mine = plan(tmp_path, "iucv.reply")
    with pytest.raises(KeyboardInterrupt):
        sweep(mine, QUIET)
    with pytest.raises(
        UsageError, match="interrupted sweep; --resume continues it, --fresh starts again"
    ):
        sweep(mine, QUIET)
    with pytest.raises(UsageError, match="another sweep"):
        sweep(plan(tmp_path, "iucv.connect"), QUIET, resume=True)
    with open(mine.output / "results.jsonl", "a", encoding="utf-8") as file:
        file.write('{"case": "cut by a ki')
    done = sweep(mine, QUIET, resume=True)
    assert len(ran) == 14 and len(set(ran)) == 13  # the interrupted one again
    assert len(done.results) == 13
    found = state_of(mine.output).read()
    assert found is not None and found.finished and seed_of(mine.output) == 5
    assert sweep(mine, QUIET, resume=True).results == done.results
    assert len(ran) == 14
    sweep(mine, QUIET)
    assert len(ran) == 27


def test_sweeps_in_two_emulators_are_two(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["sweep", "read-one-set", "--output", str(tmp_path), "--point", "iucv.reply#1:drop"]
    words += ["--seed", "7"]
    assert main([*words, "--backend", "hercules"]) == 0
    assert "on 6.1 (fake) in hercules, driver upstream, seed 7: 1 ok" in capsys.readouterr().out
    assert {guest.config.backend for guest in FakeGuest.made} == {"hercules"}
    assert json.loads((tmp_path / sweep_report.JSON_NAME).read_text())["backend"] == "hercules"
    assert main([*words, "--resume"]) == 2
    assert "another sweep (scenario, kernel, driver, emulator" in capsys.readouterr().err
    assert main([*words, "--fresh"]) == 0
    assert FakeGuest.made[-1].config.backend == "qemu"


def test_resume_without_a_sweep_and_damaged_state(tmp_path: Path) -> None:
    mine = plan(tmp_path)
    with pytest.raises(UsageError, match="no sweep to continue"):
        sweep(mine, QUIET, resume=True)
    (mine.output / "results.jsonl").write_text("no JSON\n")
    with pytest.raises(UsageError, match="is not a results file of zvmlab"):
        sweep(mine, QUIET)


def test_failing_job_stops_the_others() -> None:
    started = threading.Barrier(2, timeout=60)
    failed = threading.Event()

    class Job:
        def __init__(self, bad: bool) -> None:
            self.bad, self.ran, self.end = bad, 0, threading.Event()

        def abandon(self) -> None:
            self.end.set()

        def run(self, case: Case) -> Result:
            self.ran += 1
            if self.ran == 1:
                started.wait()
            if self.bad:
                failed.set()
                raise ZvmlabError("no more guests")
            assert failed.wait(60)
            # A case that would wait for long.
            assert self.end.wait(60)
            return Result(str(case))

    jobs = [Job(bad=True), Job(bad=False)]
    todo = [Case("p", number, "drop") for number in range(100_000)]
    taken: list[Result] = []
    with pytest.raises(ZvmlabError, match="no more guests"):
        run_all(cast(Any, jobs), todo, taken.append)
    assert jobs[0].ran == 1 and jobs[1].ran == 1
    assert jobs[1].end.is_set() and taken == []


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["sweep", "nonsense"], "zvmlab has no scenario 'nonsense'"),
        (["sweep", "missing.py:x"], "no such file: missing.py"),
        (["sweep", "read-one-set", "--jobs", "0"], "invalid number of jobs: 0 (1 to 16)"),
        (["sweep", "read-one-set", "--seed", "-1"], "the seed -1 is not"),
        (["sweep", "read-one-set", "--driver", "none.ko"], "no such driver"),
        (["sweep", "read-one-set", "--resume", "--fresh"], "not allowed with"),
    ],
)
def test_usage_errors(capsys: pytest.CaptureFixture[str], words: list[str], text: str) -> None:
    try:
        code = main(words)
    except SystemExit as error:
        code = int(cast(int, error.code))
    assert code == 2
    assert text in capsys.readouterr().err


def test_command_prints_the_seed_first_and_fails_with_the_driver(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["sweep", "read-one-set", "--output", str(tmp_path), "--point", "iucv.reply#1:rc=0x0?"]
    assert main([*words, "--seed", "7"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("seed 7\n")
    assert (
        "9 faults at 1 calls of read-one-set on 6.1 (fake) in qemu, driver upstream, seed 7" in out
    )
    assert "9 ok, 0 known, 0 failed" in out
    FakeGuest.leaves = "log"
    assert main([*words, "--fresh"]) == 1
    out = capsys.readouterr().out
    assert "failed iucv.reply#1:rc=0x01: log: INFO: possible recursive locking" in out


def test_scenarios_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenarios"]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert {
        *("read-one-set", "open-close", "load-unload", "read-many-sets", "overflow"),
        *("sever-and-reopen", "poll-and-read", "bad-buffers"),
    } <= set(names)
    assert names.index("sever-and-reopen") < names.index("of") < names.index("bad-buffers")


def test_foreign_folders_of_the_output_stay(tmp_path: Path) -> None:
    mine = plan(tmp_path, "iucv.reply")
    for name in ("guests-", "guests-1", "guests-at-our-wedding"):
        (mine.output / name).mkdir(parents=True)
        (mine.output / name / "photo").touch()
        with pytest.raises(UsageError, match=f"{name} contains other files .photo., and"):
            sweep(mine, QUIET)
        assert (mine.output / name / "photo").exists()
        (mine.output / name / "photo").unlink()


@pytest.mark.parametrize(
    ("said", "message"),
    (
        (
            "an oops ([   11.273750] illegal operation: 0001 ilc:2)",
            "an oops (illegal operation: 0001 ilc:2)",
        ),
        (
            "a warning ([    9.1] WARNING: CPU: 0 PID: 77 at net/iucv/iucv.c:1776 f+0x1/0x2 [iucv])",
            "a warning (WARNING: at net/iucv/iucv.c:1776 f+0x1/0x2 [iucv])",
        ),
        (
            "a warning ([    9.1] WARNING: net/iucv/iucv.c:1776 at f+0x1/0x2, CPU#0: sh/77)",
            "a warning (WARNING: net/iucv/iucv.c:1776 at f+0x1/0x2)",
        ),
    ),
)
def test_panic_is_told_without_time_and_task(said: str, message: str) -> None:
    """Two runs of one sweep say the same of it, and so do its shards."""
    guest = cast(Any, FakeGuest(None, Path("l"), None))
    guest.stopped = True
    guest.text = " [<000000001234abcd>] mon_read+0x12/0x34\n"
    reported = f"the guest's kernel reported {said}"
    assert sweep_run.crash(guest, GuestPanic(reported)) == (
        f"the guest's kernel reported {message}; in mon_read"
    )
