# SPDX-License-Identifier: MIT
"""zvmlab redeliver without an emulator: a reader of *MONITOR gets the very sets, in time and order."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from controlled import Server
from monread_tool import END, stream, user
from monread_tool import part as any_part

from zvmlab.base.errors import Timeout, UsageError, ZvmlabError
from zvmlab.cli.redeliver import speed
from zvmlab.cp.control import Control, decode
from zvmlab.cp.peer import EventType, Flag, IucvEvent, Peer
from zvmlab.mondata.monwrite import END_OF_DATA, Notification, control_and_frames
from zvmlab.mondata.recorded import TOD_SECOND, Recorded, recorded
from zvmlab.mondata.records import EVENT, MCE_SIZE, SAMPLE, Mce, Part, Record
from zvmlab.monitor.redeliver import Redelivery

SECONDS = 60
START = 0x1000000  # of the server's segment
WANTED = bytes([1, 0xC0]) + b"\xff" * 6 + "MONDCSS".ljust(8).encode("cp037")


def part(*records: Record, type: int = SAMPLE, start: int = START) -> Part:
    """An element in that segment."""
    return any_part(*records, type=type, start=start)


class Reader(threading.Thread):
    """Another user of *MONITOR: takes sets and gives them back, *slow* of them later."""

    def __init__(self, control: Control, msglim: int = 255, slow: int = 0, most: int = 1 << 30):
        super().__init__()
        self._control = control
        self._peer = Peer(control, "READER")
        self._path = self._peer.connect("*MONITOR", WANTED, msglim, Flag.RMDATA).path
        self._peer.wait(EventType.COMPLETE, SECONDS, self._path)
        self._slow, self._most = slow, most
        self.sets: list[bytes] = []
        self.controls: list[int] = []
        self.times: list[float] = []
        self.over = threading.Event()
        self.start()

    def _bytes(self, first: int, last: int) -> bytes:
        answer = self._control.execute(
            "segment-read", name="MONDCSS", offset=first - START, length=last - first + 1
        )
        return decode(answer["data"])

    def _read(self, message: IucvEvent) -> bytes:
        first, last = (int.from_bytes(message.rmmsg[at : at + 4], "big") for at in (0, 4))
        self.controls.append(first)
        area = self._bytes(first, last)
        mces = [Mce.decode(area[at : at + MCE_SIZE]) for at in range(0, len(area), MCE_SIZE)]
        return b"".join(mce.encode() + self._bytes(mce.start, mce.end) for mce in mces)

    def run(self) -> None:
        held: list[IucvEvent] = []
        while not self.over.is_set() and len(self.sets) < self._most:
            try:
                message = self._peer.wait(EventType.MSG_PENDING, 0.02, self._path)
                self.times.append(time.monotonic())
                held.append(message)
            except Timeout:
                self._give_back(held, 0)
            self._give_back(held, self._slow)
        self._give_back(held, 0)

    def _give_back(self, held: list[IucvEvent], most: int) -> None:
        while len(held) > most:
            message = held.pop(0)
            # Only now: until it is given back the set stays as it is.
            self.sets.append(self._read(message))
            self._peer.reply(message.path, message.msgid, message.trgcls, flags=Flag.RMDATA)

    def end(self, now: bool = True) -> None:
        if now:
            self.over.set()
        self.join(SECONDS)
        self._peer.close()


@pytest.fixture(name="server")
def _server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path, "seed=5", replays=False)
    yield server
    server.stop()


def replay(
    server: Server, sets: list[Recorded], pace: float | None = None, **how: int
) -> tuple[Reader, int]:
    """Deliver the sets to a reader; it, and how many went."""
    with server.connect() as control, server.connect() as other:
        reader = Reader(other, **how)
        try:
            count = Redelivery(control, pace, timeout=SECONDS).run(sets)
        finally:
            reader.end()
    return reader, count.sets


def at_second(second: float, *more: Part) -> list[Part]:
    """Sample data whose interval ends then."""
    return [*more, part(user("A"), Record(1, 11, int(second * TOD_SECOND)))]


SETS = [
    Recorded(1, [part(user("A"), END)]),
    Recorded(2, [part(*[user("B")] * 300, END, start=START + 0x2FD0), part(user("C"), type=EVENT)]),
    Recorded(3, [part(user("D"), type=EVENT, start=START + 0x1F00)] * 40),
    Recorded(4, [part(user("E"), END, start=START + 0x7FFF00)], START + 0x400010),
]


@pytest.mark.parametrize("slow", [0, 3, 20])
@pytest.mark.parametrize("msglim", [1, 255])
def test_every_byte_at_its_place(server: Server, slow: int, msglim: int) -> None:
    """Sets lie one over the other: none is stored before a reader has given back the last."""
    reader, count = replay(server, SETS * 5, slow=slow, msglim=msglim)
    assert count == 20
    assert reader.sets == [stream(*data_set.parts) for data_set in SETS] * 5
    assert reader.controls[3::4] == [START + 0x400010] * 5


class Clock:
    """Time that goes on only while somebody waits; also the control socket that is waited at."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def wait_event(self, event: str, seconds: float) -> None:
        assert event == "monitor-severed" and seconds > 0
        self.now += seconds
        raise Timeout("nothing has happened")


@pytest.mark.parametrize(
    ("speed", "recorded_at", "late", "wanted"),
    [
        (1.0, [100.0, 100.25, 100.125, 100.5], 0.0, [0.0, 0.25, 0.25, 0.5]),
        (4.0, [100.0, 101.0, 104.0, 104.0], 0.0, [0.0, 0.25, 1.0, 1.0]),
        (0.5, [100.0, 101.0, 101.0, 102.0], 0.0, [0.0, 2.0, 2.0, 4.0]),
        # Three sets take half a second each to be delivered: what is due then comes at once.
        (1.0, [100.0, 100.25, 100.5, 104.0], 0.5, [0.0, 0.5, 1.0, 4.0]),
        (1.0, [100.0, 100.0 + 7200], 0.0, [0.0, 3600.0]),
        (None, [100.0, 105.0], 0.0, [0.0, 0.0]),
    ],
    ids=("original", "faster", "slower", "late", "longest-gap", "unpaced"),
)
def test_when_sets_are_due(
    monkeypatch: pytest.MonkeyPatch,
    speed: float | None,
    recorded_at: list[float],
    late: float,
    wanted: list[float],
) -> None:
    """As far behind the first as recorded, by a clock that nothing but waiting moves."""
    clock: Any = Clock()
    monkeypatch.setattr("zvmlab.monitor.redeliver.time", clock)
    redelivery, times = Redelivery(clock, speed), []
    monkeypatch.setattr(redelivery, "_users", lambda: [{"name": "READER"}])
    for number, second in enumerate(recorded_at, 1):
        redelivery._pace(Recorded(number, at_second(second)))
        times.append(clock.now - 1000.0)
        clock.now += late
    assert times == pytest.approx(wanted, abs=1e-5)


def test_original_pace(server: Server) -> None:
    """No set comes before its time; how much later is a matter of the machine."""
    recorded_at = [100.0, 100.3, 100.2, 100.6]
    sets = [Recorded(n, at_second(second)) for n, second in enumerate(recorded_at, 1)]
    began = time.monotonic()
    reader, _ = replay(server, sets, pace=1.0)
    for done, wanted in zip(reader.times, [0, 0.3, 0.3, 0.6], strict=True):
        assert wanted <= done - began


@pytest.mark.parametrize("fate", ["lost-limit", "lost-space", "lost-quiesced", "no-user"])
def test_set_that_reaches_nobody_ends_it(
    server: Server, monkeypatch: pytest.MonkeyPatch, fate: str
) -> None:
    """What CP says became of a set is looked at; it is not counted."""
    real, asked = Control.execute, []

    def execute(control: Control, command: str, /, **args: Any) -> Any:
        answer = real(control, command, **args)
        if command == "monitor-raw":
            asked.append(command)
            if len(asked) == 2:
                answer["fate"] = fate
        return answer

    monkeypatch.setattr(Control, "execute", execute)
    with server.connect() as control, server.connect() as other:
        reader = Reader(other)
        redelivery = Redelivery(control, None, timeout=SECONDS)
        try:
            with pytest.raises(ZvmlabError, match=f"^set 2 was not delivered: {fate}$"):
                redelivery.run(SETS)
        finally:
            reader.end()
    assert redelivery.count.sets == 1


def test_faster(server: Server) -> None:
    sets = [Recorded(n, at_second(60.0 * n)) for n in range(1, 11)]
    began = time.monotonic()
    reader, count = replay(server, sets, pace=1000.0)
    assert count == 10
    assert 9 * 0.06 <= reader.times[-1] - began < SECONDS


def test_reader_that_goes_away(server: Server) -> None:
    with server.connect() as control, server.connect() as other:
        reader = Reader(other, most=2)
        # It waits until the reader has had enough.
        going = threading.Thread(target=reader.end, args=(False,))
        going.start()
        with pytest.raises(ZvmlabError, match="no reader is left; [1-3] sets were delivered"):
            Redelivery(control, None, timeout=SECONDS).run(SETS)
        going.join(SECONDS)
        assert not going.is_alive()


def test_nobody_reads(server: Server) -> None:
    with server.connect() as control, pytest.raises(Timeout, match="nobody has connected"):
        Redelivery(control, None, timeout=0.2).run(SETS)


def test_another_segment(server: Server) -> None:
    far = Recorded(7, [part(END), part(END, start=START + 0x800000)])
    with pytest.raises(UsageError, match="element 2 of set 7 lies in pages 1800-1800, MONDCSS has"):
        replay(server, [far])


def test_while_cp_collects(server: Server) -> None:
    with server.connect() as control:
        control.cp("MONITOR SAMPLE ENABLE ALL\nMONITOR SAMPLE START")
    with pytest.raises(UsageError, match="CP collects data of its own"):
        replay(server, SETS)


def test_what_a_recording_is(tmp_path: Path) -> None:
    file = tmp_path / "file"
    pairs = [(Notification(mca_start=START + 16 * n), SETS[n].parts) for n in range(3)]
    file.write_bytes(b"".join(control_and_frames(*pair) for pair in pairs) + END_OF_DATA)
    found = list(recorded(file, monwrite=True))
    assert found == list(recorded(file, monwrite=False)), "the file says itself what it is"
    assert found == [Recorded(n + 1, SETS[n].parts, START + 16 * n) for n in range(3)]
    data = [stream(*SETS[n].parts) for n in range(3)]
    file.write_bytes(b"".join(data))
    (tmp_path / "file.idx").write_text("".join(json.dumps({"length": len(d)}) + "\n" for d in data))
    assert [one.parts for one in recorded(file, False)] == [one.parts for one in SETS[:3]]
    (tmp_path / "file.idx").unlink()
    assert [len(one.parts) for one in recorded(file, False)] == [1] * 43
    assert Recorded(1, at_second(7)).tod == 7 * TOD_SECOND


@pytest.mark.parametrize(
    ("data", "index", "text"),
    [
        (b"x" * 11, None, "ends within the control element at 0"),
        (b"\xe2" + bytes(11), None, "describes 1 bytes, 0 follow"),
        (stream(part(END)), '{"length": 33}\n', "set 1 has 32 bytes"),
        (stream(part(END)), '{"length": 0}\n', "set 1 has 0 bytes"),
        (stream(part(END)), "{}\n", "line 1 of .* has no length"),
        (stream(part(END)) * 2, '{"length": 32}\n', "it has more sets than"),
    ],
)
def test_damaged_recordings(tmp_path: Path, data: bytes, index: str | None, text: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(data)
    if index is not None:
        (tmp_path / "file.idx").write_text(index)
    with pytest.raises(UsageError, match=text):
        list(recorded(file, False))


def test_pace() -> None:
    assert [speed(text) for text in ("original", "max", "60", "0.5")] == [1.0, None, 60.0, 0.5]
    for text in ("0", "-1", "nan", "inf", "fast", "1e7"):
        with pytest.raises(UsageError, match=f"invalid --pace: {text} .original, max"):
            speed(text)
