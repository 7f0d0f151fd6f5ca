# SPDX-License-Identifier: MIT
"""What judges sets, reads and logs says no where something is wrong."""

from __future__ import annotations

import errno
from types import SimpleNamespace
from typing import Any

import pytest

from zvmlab.agent.calls import Read
from zvmlab.base.errors import Timeout, ZvmlabError
from zvmlab.monitor.monitor import CapturedSet, ReadSet, SetsDiffer, compare
from zvmlab.monitor.steps import Ended, Log, drain, monitor_user

FIRST = bytes(range(96))
SECOND = bytes(reversed(range(96)))


def captured(stream: bytes, number: int = 1) -> CapturedSet:
    """A set of CP's."""
    return CapturedSet(number, "sample", 1, stream)


@pytest.mark.parametrize(
    ("stream", "text"),
    [
        (b"\x01" + FIRST[1:], "at byte 0: the guest read 0101"),
        (FIRST[:50] + b"\0" + FIRST[51:], "at byte 50: the guest read 0033"),
        (FIRST[:-1] + b"\0", "at byte 95: the guest read 00 of 96 bytes, CP stored 5f of 96"),
        (FIRST[:-1], "at byte 95: the guest read nothing more of 95 bytes"),
        (FIRST[:12], "at byte 12: the guest read nothing more of 12 bytes"),
        (b"", "at byte 0: the guest read nothing more of 0 bytes"),
        (FIRST + b"\0", "at byte 96: the guest read 00 of 97 bytes, CP stored nothing more of 96"),
        (FIRST[12:] + FIRST[:12], "at byte 0: the guest read 0c0d"),
        (SECOND, "at byte 0: the guest read 5f5e"),
    ],
    ids=("first", "within", "last", "cut", "element", "empty", "more", "order", "another"),
)
def test_a_set_that_is_not_cps_differs(stream: bytes, text: str) -> None:
    with pytest.raises(SetsDiffer) as error:
        compare(ReadSet(stream, [len(stream), 0]), captured(FIRST, 7))
    assert str(error.value).startswith("data set 7 (sample) differs ") and text in str(error.value)


def test_a_set_that_is_cps_does_not_whatever_the_reads_were() -> None:
    compare(ReadSet(FIRST, [12, 84, 0]), captured(FIRST))
    compare(ReadSet(FIRST, [1] * 96 + [0]), captured(FIRST))


class Reads:
    """A worker whose batch of reads gives what is listed, then what *after* says again and again."""

    def __init__(self, *found: list[Read], after: int = errno.EAGAIN) -> None:
        self._left = list(found)
        self._after = after

    def batch(self) -> Any:
        return self

    def read_until(self, fd: int, size: int) -> None:
        assert (fd, size) == (3, 4096)

    def run(self) -> Any:
        while True:
            reads = self._left.pop(0) if self._left else [Read(-1, self._after, b"")]
            yield SimpleNamespace(reads=reads, data=b"")


def one(data: bytes) -> list[Read]:
    """The reads of a set."""
    return [Read(len(data), 0, data), Read(0, 0, b"")]


def drained(reads: Reads) -> list[Ended]:
    """What drain() makes of it."""
    worker: Any = reads
    return drain(worker, 3)


def test_drain_gives_sets_and_errors_in_their_order() -> None:
    failed = [Read(12, 0, FIRST[:12]), Read(-1, errno.EIO, b"")]
    found = drained(Reads(one(FIRST), failed, [Read(-1, errno.EOVERFLOW, b"")], one(SECOND)))
    assert found == [
        Ended(FIRST, 0),
        Ended(FIRST[:12], errno.EIO),
        Ended(b"", errno.EOVERFLOW),
        Ended(SECOND, 0),
    ]
    assert not drained(Reads())


def test_drain_refuses_a_set_that_stops_within() -> None:
    stopped = [Read(12, 0, FIRST[:12]), Read(-1, errno.EAGAIN, b"")]
    with pytest.raises(ZvmlabError, match="EAGAIN after 12 bytes of a data set"):
        drained(Reads(one(FIRST), stopped, one(SECOND)))


def test_drain_refuses_a_set_without_an_end() -> None:
    without: list[list[Read]] = [[], [Read(12, 0, FIRST[:12])]]
    for reads in without:
        with pytest.raises(Timeout, match=f"no end within {len(reads)} reads"):
            drained(Reads(reads))


class Endless(Reads):
    """As many results as were asked for, none of them the last."""

    asked = 0

    def read_until(self, fd: int, size: int) -> None:
        self.asked += 1

    def run(self) -> Any:
        return [SimpleNamespace(reads=one(FIRST), data=b"") for _ in range(self.asked)]


def test_drain_refuses_what_does_not_end() -> None:
    with pytest.raises(Timeout, match="still something to read after 600 sets and errors"):
        drained(Endless())


def test_log_has_the_modules_lines_from_its_begin_on() -> None:
    lines = ["monreader: before", "monreader: Reading failed", "other: x", "see monreader: y"]
    since: list[int] = []

    def dmesg(position: int) -> list[Any]:
        since.append(position)
        return [SimpleNamespace(text=text) for text in lines[position:]]

    agent: Any = SimpleNamespace(log_position=lambda: 1, dmesg=dmesg)
    log = Log(agent)
    assert log.texts() == ["Reading failed"]
    lines.append("monreader: Reading failed again")
    assert log.texts() == ["Reading failed", "Reading failed again"]
    assert since == [1, 1]
    assert Log(agent, "other").texts() == ["x"]
    assert not Log(agent, "another").texts()


@pytest.mark.parametrize("count", [0, 2])
def test_user_of_the_monitor_is_the_only_one(count: int) -> None:
    users = [{"name": f"LINUX{number}"} for number in range(count)]
    control: Any = SimpleNamespace(execute=lambda command: {"users": users})
    with pytest.raises(ZvmlabError, match=rf"{count} users are connected to \*MONITOR, not one"):
        monitor_user(control)
    users[:] = [{"name": "LINUX001"}]
    assert monitor_user(control) == {"name": "LINUX001"}
