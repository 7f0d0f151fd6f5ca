# SPDX-License-Identifier: MIT
"""monread in the guest: a static program that reads /dev/monreader and judges what CP gives."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from zvmlab.agent.agent import Process
from zvmlab.agent.results import RunResult
from zvmlab.base.errors import EXIT_CANNOT_RUN, EXIT_FAILED, EXIT_PASS
from zvmlab.cp.control import Control
from zvmlab.cp.faults import Fault, armed
from zvmlab.guest.guest import Guest
from zvmlab.mondata.monwrite import END_OF_DATA, Notification, control_and_frames
from zvmlab.mondata.recorded import recorded
from zvmlab.mondata.records import EVENT, SAMPLE, Element, Mce, Part, Record
from zvmlab.monitor.monitor import Capture, CapturedSet, deliver
from zvmlab.monitor.monuser import MonitorUser
from zvmlab.monitor.redeliver import Redelivery

GUEST = "LINUX001"
PROGRAM = "/tmp/monread"
SECONDS = 90.0
END = Record(1, 11)


@dataclass
class Running:
    """monread in the guest, and what CP has delivered since it opened the device."""

    guest: Guest
    process: Process
    capture: Capture

    def end(self) -> tuple[RunResult, list[dict[str, Any]]]:
        """How it ended, and its lines."""
        result = self.process.wait(SECONDS, kill=True)
        return result, [json.loads(line) for line in result.stdout.decode().splitlines()]


@pytest.fixture(name="start")
def _start(monreader: Guest, monread_program: bytes, zvmlab_dir: Path) -> Iterator[Any]:
    """Start monread with these words; at the return CP knows its user."""
    with Capture(monreader.control, zvmlab_dir / "sets") as capture:

        def start(*words: str) -> Running:
            monreader.agent.write_file(PROGRAM, monread_program, 0o755)
            monreader.control.execute("monitor-manual", manual=True)
            # Those of tests before.
            monreader.control.forget_events("monitor-connected")
            process = monreader.agent.spawn([PROGRAM, "--json", "--timeout", "60s", *words])
            monreader.control.wait_event("monitor-connected", SECONDS)
            return Running(monreader, process, capture)

        yield start


def records(found: CapturedSet) -> list[tuple[int, int, int]]:
    """Domain, number and length of each record of a set."""
    return [
        (record.domain, record.number, 20 + len(record.payload))
        for part in found.parts()
        for record in part.records()
    ]


def read_records(lines: list[dict[str, Any]], number: int) -> list[tuple[int, int, int]]:
    """The same of what monread has printed."""
    return [
        (line["domain"], line["number"], line["length"])
        for line in lines
        if line["item"] == "record" and line["set"] == number
    ]


def read_one(control: Control, *records: Record) -> None:
    """Deliver a set; at the return it has been read to its end."""
    control.forget_events("monitor-replied")
    deliver(control, "sample", Element.of(records))
    control.wait_event("monitor-replied", SECONDS)


def test_what_cp_writes_is_read_whole_and_found_good(start: Any) -> None:
    """Configuration and intervals of CP's own: every record of every set, no rule broken."""
    running = start("--sets", "4", "--values")
    control = running.guest.control
    control.cp("MONITOR SAMPLE ENABLE ALL\nMONITOR SAMPLE START")
    for _ in range(4):
        control.execute("monitor-tick")
    result, lines = running.end()
    control.cp("MONITOR SAMPLE STOP\nMONITOR SAMPLE DISABLE ALL")
    assert result.status == EXIT_PASS, result.describe()
    assert [line["item"] for line in lines if line["item"] != "record"] == [
        *("set", "element", "complete") * 4
    ]
    delivered = running.capture.so_far()
    assert [found.kind for found in delivered[:2]] == ["sample-config", "sample"]
    for number in range(1, 5):
        assert read_records(lines, number) == records(delivered[number - 1])
    processors = [line["fields"]["PFXCPUAD"] for line in lines if line.get("name") == "MTRPRP"]
    assert processors == [0]
    names = {line["name"] for line in lines if line["item"] == "record"}
    assert {"MTRSYS", "MTRSPR", "SYTSYP", "USEACT", "MTREND"} <= names


def test_a_set_that_cp_takes_no_reply_for_is_lost(start: Any) -> None:
    """EIO instead of the 0 bytes: that set is lost, those before and behind it are not."""
    running = start("--sets", "3")
    control = running.guest.control
    with armed(control, Fault("iucv.reply", "rc", 9, nth=2)):
        for _ in range(3):
            deliver(control, "sample", Element.of([Record(4, 3, payload=bytes(420)), END]))
        result, lines = running.end()
    assert result.status == EXIT_FAILED
    ends = [line for line in lines if line["item"] in ("complete", "lost")]
    assert [line["item"] for line in ends] == ["complete", "lost", "complete"]
    assert ends[1]["error"] == "Input/output error"
    assert all(len(read_records(lines, number)) == 2 for number in (1, 2, 3))


def test_a_set_that_breaks_rules(start: Any) -> None:
    """Each is told with its place; the set behind it is read as if nothing had been."""
    running = start("--sets", "2")
    control = running.guest.control
    deliver(control, "event", Element.of([Record(4, 3, payload=bytes(20))], EVENT))
    deliver(control, "sample", Element.of([END]))
    result, lines = running.end()
    assert result.status == EXIT_FAILED
    (violation,) = [line for line in lines if line["item"] == "violation"]
    assert (violation["rule"], violation["set"], violation["offset"]) == ("record-kind", 1, 12)
    assert [line["item"] for line in lines if line["set"] == 2] == [
        *("set", "element", "record", "complete")
    ]


def test_cp_severs(start: Any) -> None:
    """The set that was read before stays complete; then the device is gone."""
    running = start("--reopen", "0")
    control = running.guest.control
    read_one(control, END)
    control.execute("monitor-sever", user=GUEST, code=0x2C)
    result, lines = running.end()
    assert result.status == EXIT_FAILED
    assert [line["item"] for line in lines] == ["set", "element", "record", "complete"]
    assert result.stderr.decode().splitlines()[0] == "monread: /dev/monreader: Input/output error"


@pytest.mark.parametrize("words", [[], ["--blocking"]], ids=["poll", "blocking"])
def test_reads_on_after_a_sever(start: Any, words: list[str]) -> None:
    running = start("--sets", "2", "--reopen-wait", "10ms", *words)
    control = running.guest.control
    read_one(control, END)
    control.forget_events("monitor-connected")
    control.execute("monitor-sever", user=GUEST, code=0x2C)
    control.wait_event("monitor-connected", SECONDS)
    deliver(control, "sample", Element.of([Record(4, 3, payload=bytes(420)), END]))
    result, lines = running.end()
    assert result.status == EXIT_FAILED
    assert [line["set"] for line in lines if line["item"] == "complete"] == [1, 2]
    assert len(read_records(lines, 2)) == 2
    assert "times CP severed" in result.stderr.decode()


@pytest.mark.parametrize("words", [[], ["--blocking"]], ids=["poll", "blocking"])
def test_signal_ends_it_with_what_it_has(start: Any, words: list[str]) -> None:
    running = start("--write-stream", "/tmp/out", *words)
    control, agent = running.guest.control, running.guest.agent
    read_one(control, Record(4, 3, payload=bytes(420)), END)
    running.process.signal(signal.SIGINT)
    result, lines = running.end()
    assert result.status == 128 + signal.SIGINT, result.describe()
    assert [line["item"] for line in lines][-1] == "complete"
    (found,) = running.capture.so_far()
    assert agent.read_file("/tmp/out") == found.stream
    assert result.stderr.decode().startswith("1 sets complete, 0 lost")


def recording(base: int) -> bytes:
    """A file of MONWRITE as monread writes it: sets one over the other, elements across frames."""

    def part(*records: Record, type: int = SAMPLE, start: int = 0) -> Part:
        made = Element.of(records, type, start % 4096)
        begin = base + start
        return Part(Mce(type, made.domains, 0, begin, begin + len(made.data) - 1), made.data)

    records = [Record(4, 3, number, bytes([number]) * 420) for number in range(60)]
    sets = [
        [part(*records, END, start=0x1000)],
        [part(*records[:20], END, start=0x2FD0), part(Record(4, 2, 5, bytes(400)), type=EVENT)],
        [part(Record(5, 2, n, bytes(4)), type=EVENT, start=0x100000 + n * 64) for n in range(64)],
        [part(*records * 20, END, start=0x1800)],
    ]
    made = [control_and_frames(Notification(), data_set) for data_set in sets]
    return b"".join(made * 3) + END_OF_DATA


@pytest.mark.representative
def test_recording_comes_back_byte_for_byte(start: Any, zvmlab_dir: Path) -> None:
    """MONWRITE, *MONITOR, the guest's driver, monread, MONWRITE."""
    running = start("--sets", "12", "--write-monwrite", "/tmp/copy", "--html", "/tmp/page")
    control, agent = running.guest.control, running.guest.agent
    (segment,) = control.execute("query-segments")["segments"]
    file = zvmlab_dir / "recording"
    file.write_bytes(recording(segment["start"]))
    count = Redelivery(control, speed=None).run(recorded(file, monwrite=True))
    result, _ = running.end()
    assert result.status == EXIT_PASS, result.describe()
    assert count.sets == 12
    assert agent.read_file("/tmp/copy") == file.read_bytes()
    page = agent.read_file("/tmp/page").decode()
    assert '<span id="sets">12</span>' in page


def test_another_user_sees_the_same(start: Any) -> None:
    """zvmlab top reads beside the guest's reader, without disturbing it."""
    running = start("--sets", "3", "--write-stream", "/tmp/out")
    control = running.guest.control
    with MonitorUser(control) as user:
        sets = user.sets()
        streams = []
        for number in range(1, 4):
            record = Record(4, 3, number, bytes([number]) * 400)
            deliver(control, "sample", Element.of([*[record] * 30, END]))
            streams.append(next(sets))
    result, _ = running.end()
    assert result.status == EXIT_PASS, result.describe()
    assert streams == [found.stream for found in running.capture.so_far()]
    assert running.guest.agent.read_file("/tmp/out") == b"".join(streams)


def test_without_the_module(warm_guest: Guest, monread_program: bytes) -> None:
    warm_guest.agent.write_file(PROGRAM, monread_program, 0o755)
    result = warm_guest.agent.run([PROGRAM])
    assert result.status == EXIT_CANNOT_RUN
    assert result.stderr == b"monread: /dev/monreader: No such file or directory\n"
