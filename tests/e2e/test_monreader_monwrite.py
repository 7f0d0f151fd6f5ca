# SPDX-License-Identifier: MIT
"""The stream against what MONWRITE, on a second user of *MONITOR, writes of the same sets."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from other_users import (
    connect,
    control_area,
    elements,
    give_back,
    next_message,
    segment_bytes,
)

from zvmlab.cp.control import Control
from zvmlab.cp.peer import IucvEvent, Peer
from zvmlab.guest.guest import Guest
from zvmlab.mondata.monwrite import (
    BLOCK_SIZE,
    END_OF_DATA,
    INTERRUPT_SIZE,
    control_and_frames,
    read_sets,
)
from zvmlab.mondata.records import EVENT, FRAME_SIZE, Element, Record, parse_set
from zvmlab.monitor.monitor import Capture, CapturedSet, DataSets, compare, deliver


class Monwrite:
    """A user ID on which MONWRITE runs: reads the segment, knows nothing of /dev/monreader."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self._peer = Peer(control, "MONWRITE")
        self._path = connect(self._peer)
        self._file = bytearray()

    def write_set(self) -> None:
        """Append the next set to the file and give it back to CP."""
        message = next_message(self._peer, self._path)
        area = control_area(self._control, message)
        self._file += (_interruption(message) + area).ljust(BLOCK_SIZE, b"\0")
        for mce in elements(area):
            first, last = mce.start // FRAME_SIZE, mce.end // FRAME_SIZE
            self._file += segment_bytes(
                self._control, first * FRAME_SIZE, (last + 1) * FRAME_SIZE - 1
            )
        give_back(self._peer, message)

    def end(self) -> bytes:
        """Log off; what is in the file."""
        self._peer.close()
        return bytes(self._file) + END_OF_DATA


def _interruption(message: IucvEvent) -> bytes:
    """The 40 bytes of the interruption, from the fields that CP told the peer."""
    head = message.path.to_bytes(2, "big") + bytes((message.flags, message.type))
    head += message.msgid.to_bytes(4, "big") + message.trgcls.to_bytes(4, "big") + message.rmmsg
    return head.ljust(INTERRUPT_SIZE, b"\0")


@pytest.fixture
def monwrite(monreader: Guest) -> Iterator[Monwrite]:
    """MONWRITE is connected, the guest's device not open yet."""
    writer = Monwrite(monreader.control)
    yield writer
    writer.end()


def record(number: int, size: int) -> Record:
    """A record that shows its place."""
    return Record(4, 3, number, bytes((number * 5 + i) & 0xFF for i in range(size - 20)))


SETS: list[tuple[str, list[Element]]] = [
    ("sample", [Element.of([record(1, 84)])]),
    ("event", [Element.of([record(2, 500)] * 3, EVENT, phase=phase) for phase in (0, 100, 4000)]),
    ("sample-config", [Element.of([record(n, 4000) for n in range(9)], phase=2048)]),
    ("sample", [Element.of([record(n, 60)]) for n in range(64)]),
    ("event-config", [Element(bytes(range(256)) * 16, 0x0800, EVENT)]),
    ("sample", [Element(b"\x5a" * 300_001, 0x8000, phase=4095), Element.of([record(7, 84)])]),
]


def read_all(
    guest: Guest, monwrite: Monwrite, folder: Path, sets: list[tuple[str, list[Element]]]
) -> list[CapturedSet]:
    """Deliver sets; the guest reads them, MONWRITE writes them; what both must have seen."""
    found = []
    with Capture(guest.control, folder / "sets") as capture:
        with DataSets(guest.agent) as reader:
            for kind, parts in sets:
                assert deliver(guest.control, kind, *parts).fate == "delivered"
                wanted = capture.next()
                compare(reader.read(), wanted)
                found.append(wanted)
                monwrite.write_set()
    return found


@pytest.mark.requirement("M33")
@pytest.mark.representative
def test_stream_is_monwrites_output_without_control_blocks(
    monreader: Guest, monwrite: Monwrite, zvmlab_dir: Path
) -> None:
    """The guest reads MONWRITE's output without control records and rests of frames."""
    read = read_all(monreader, monwrite, zvmlab_dir, SETS)
    written = list(read_sets(io.BytesIO(monwrite.end())))
    assert [one.stream() for one in written] == [one.stream for one in read]
    assert [len(one.parts) for one in written] == [1, 3, 1, 64, 1, 2]


@pytest.mark.requirement("M33")
def test_stream_becomes_the_file_that_monwrite_writes(
    monreader: Guest, monwrite: Monwrite, zvmlab_dir: Path
) -> None:
    """A MONWRITE file made of the guest's stream has the same control records, the same records
    at the same places of the frames, and as many frames."""
    read = read_all(monreader, monwrite, zvmlab_dir, SETS)
    theirs = monwrite.end()
    notifications = [one.notification for one in read_sets(io.BytesIO(theirs))]
    ours = b"".join(
        control_and_frames(notification, parse_set(one.stream))
        for notification, one in zip(notifications, read, strict=True)
    )
    ours += END_OF_DATA
    assert len(ours) == len(theirs)
    at = 0
    for one in read:
        assert ours[at : at + BLOCK_SIZE] == theirs[at : at + BLOCK_SIZE]
        at += BLOCK_SIZE
        for part in one.parts():
            begin = at + part.mce.start % FRAME_SIZE
            assert ours[begin : begin + part.mce.size] == theirs[begin : begin + part.mce.size]
            at = begin + part.mce.size
            at += -at % FRAME_SIZE
    assert theirs[at:] == END_OF_DATA


@pytest.mark.requirement("M33")
def test_collected_data_are_the_same_in_stream_and_file(
    monreader: Guest, monwrite: Monwrite, zvmlab_dir: Path
) -> None:
    """With the monitor running, configuration, samples and events are the same in both."""
    control = monreader.control
    control.execute("monitor-manual", manual=True)
    streams = []
    with Capture(control, zvmlab_dir / "sets") as capture:
        with DataSets(monreader.agent) as reader:
            commands = ("SAMPLE ENABLE ALL", "EVENT ENABLE ALL", "SAMPLE START", "EVENT START")
            for command in commands:
                assert monreader.cp(f"MONITOR {command}").rc == 0
            event = Record(4, 1, 7, bytes(60)).encode()
            assert control.execute("monitor-event", domain=4, record=event)["recorded"]
            control.execute("monitor-tick")
            kinds: list[str] = []
            while kinds.count("event") < 1 or kinds.count("sample") < 2:
                wanted = capture.next()
                compare(reader.read(), wanted)
                monwrite.write_set()
                kinds.append(wanted.kind)
                streams.append(wanted.stream)
    for kind in ("SAMPLE", "EVENT"):
        assert monreader.cp(f"MONITOR {kind} STOP").rc == 0
        assert monreader.cp(f"MONITOR {kind} DISABLE ALL").rc == 0
    control.execute("monitor-manual", manual=False)
    assert set(kinds) == {"sample-config", "sample", "event-config", "event"}
    assert [one.stream() for one in read_sets(io.BytesIO(monwrite.end()))] == streams
