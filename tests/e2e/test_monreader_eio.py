# SPDX-License-Identifier: MIT
"""A reply that CP refuses: EIO at the end of that set, the next ones are read."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from zvmlab.cp.faults import Fault, armed
from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import Element, Record
from zvmlab.monitor.monitor import Capture, DataSets, compare, deliver
from zvmlab.monitor.steps import (
    READ,
    Log,
    await_sleep,
    deliver_many,
    drain,
    monitor_user,
    open_device,
    service_paths,
    thread_of,
)

# 255 IPRCODEs, in parts that fit the table of rules (64) and the message limit.
CODES = range(1, 256)
PART = 51


def refusal(code: int) -> str:
    """The log's line about a reply that ended with this code."""
    return f"Reading monitor data failed with rc={code}"


def big(number: int) -> Element:
    """Two frames of records."""
    return Element.of([Record(4, 3, number, bytes([i]) * 1500) for i in range(4)])


@pytest.mark.requirement("M25")
@pytest.mark.parametrize("first", range(CODES.start, CODES.stop, PART))
def test_each_reply_code_is_eio(monreader: Guest, zvmlab_dir: Path, first: int) -> None:
    """CP ends REPLY with each IPRCODE: that set ends with EIO, the next one is complete."""
    codes = range(first, first + PART)
    control, log = monreader.control, Log(monreader.agent)
    faults = [Fault("iucv.reply", "rc", code, nth=nth + 1) for nth, code in enumerate(codes)]
    with Capture(control, zvmlab_dir / "sets") as capture:
        with open_device(monreader.agent, os.O_NONBLOCK) as fd, armed(control, *faults) as rules:
            deliver_many(control, len(codes) + 1)
            ends = drain(monreader.agent, fd)
            assert [end.errno for end in ends] == [errno.EIO] * len(codes) + [0]
            wanted = [capture.next() for _ in ends]
            assert ends[-1].stream == wanted[-1].stream
            user = monitor_user(control)
            # What CP refused it has not executed: those sets stay outstanding.
            assert (user["replied"], user["outstanding"]) == (1, len(codes))
        assert [rule.fired for rule in rules] == [1] * len(codes)
    assert log.texts() == [refusal(code) for code in codes]
    assert service_paths(monreader) == []


@pytest.mark.requirement("M25")
@pytest.mark.parametrize("code", (2, 3))
@pytest.mark.representative
def test_reply_with_condition_code_is_eio(monreader: Guest, code: int) -> None:
    """REPLY ends with condition code 2 (no such message) or 3: EIO."""
    log = Log(monreader.agent)
    with open_device(monreader.agent, os.O_NONBLOCK) as fd:
        with armed(monreader.control, Fault("iucv.reply", "cc", code, nth=2)):
            deliver_many(monreader.control, 3)
            assert [end.errno for end in drain(monreader.agent, fd)] == [0, errno.EIO, 0]
    assert log.texts() == [refusal(code)]


@pytest.mark.requirement("M25")
@pytest.mark.parametrize("size", (12, 4096, 1 << 20))
def test_every_second_reply_is_eio(monreader: Guest, zvmlab_dir: Path, size: int) -> None:
    """Every second REPLY fails: the sets between are complete, whatever the buffer's size."""
    control = monreader.control
    with Capture(control, zvmlab_dir / "sets") as capture:
        with open_device(monreader.agent, os.O_NONBLOCK) as fd:
            with armed(control, Fault("iucv.reply", "rc", 1, every=2)):
                for number in range(8):
                    deliver(control, "sample", big(number), big(number + 100))
                ends = drain(monreader.agent, fd, size)
        wanted = [capture.next() for _ in range(8)]
    assert [end.errno for end in ends] == [0, errno.EIO] * 4
    assert [end.stream for end in ends[::2]] == [one.stream for one in wanted[::2]]


@pytest.mark.requirement("M25")
@pytest.mark.representative
def test_reader_that_slept_gets_eio(monreader: Guest, zvmlab_dir: Path) -> None:
    """The reader sleeps when the set comes whose REPLY fails: EIO, then it reads the next."""
    control, worker = monreader.control, monreader.agent.worker("reader")
    thread = thread_of(worker)
    with Capture(control, zvmlab_dir / "sets") as capture, DataSets(worker) as reader:
        with armed(control, Fault("iucv.reply", "rc", 9, nth=1)):
            result = reader.start()
            await_sleep(monreader.agent, thread, READ)
            deliver(control, "sample", big(1))
            with pytest.raises(OSError) as caught:
                result()
            assert caught.value.errno == errno.EIO
            capture.next()
            deliver(control, "event", big(2))
            compare(reader.read(), capture.next())


@pytest.mark.requirement("M25")
def test_reply_that_cp_loses_completes_the_set(monreader: Guest, zvmlab_dir: Path) -> None:
    """CP takes the REPLY and loses it: the set is complete, only CP's limit comes nearer."""
    control = monreader.control
    with Capture(control, zvmlab_dir / "sets") as capture:
        with open_device(monreader.agent, os.O_NONBLOCK) as fd:
            with armed(control, Fault("iucv.reply", "drop", nth=1)):
                deliver_many(control, 2)
                ends = drain(monreader.agent, fd)
            assert [end.errno for end in ends] == [0, 0]
            assert [end.stream for end in ends] == [capture.next().stream for _ in ends]
            user = monitor_user(control)
            assert (user["replied"], user["outstanding"]) == (1, 1)


@pytest.mark.requirement("M25")
def test_limit_reached_and_reply_refused_is_eio_then_eoverflow(monreader: Guest) -> None:
    """REPLY fails for the set that filled the queue: EIO, and the overflow is reported, too."""
    control = monreader.control
    with open_device(monreader.agent, os.O_NONBLOCK) as fd:
        with armed(control, Fault("iucv.reply", "rc", 1, nth=255)):
            deliver_many(control, 256)
            ends = [end.errno for end in drain(monreader.agent, fd)]
        assert ends == [0] * 254 + [errno.EIO, errno.EOVERFLOW]
        assert monitor_user(control)["lost"] == 1
