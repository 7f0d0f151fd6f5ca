# SPDX-License-Identifier: MIT
"""The message limit: what was read before is whole, what is lost is what CP counted."""

from __future__ import annotations

import errno
import os

import pytest

from zvmlab.cp.faults import Fault, armed
from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import Element, Record
from zvmlab.monitor.monitor import Capture, deliver
from zvmlab.monitor.steps import (
    POLL,
    Log,
    await_sleep,
    deliver_many,
    drain,
    ended,
    monitor_user,
    open_device,
    service_paths,
    small,
    thread_of,
)

LIMIT = 255
FULL = "The read queue for monitor data is full"
READABLE = 0x041  # POLLIN | POLLRDNORM


def errnos(guest: Guest, fd: int) -> list[int]:
    """How the sets and errors end that can be read now."""
    return [end.errno for end in drain(guest.agent, fd)]


def delivered(guest: Guest, count: int) -> list[str]:
    """Have CP deliver so many sets; what became of them."""
    return [delivery.fate for delivery in deliver_many(guest.control, count)]


def counts(guest: Guest) -> tuple[int, int, int, int]:
    """CP's counts of its user: sets delivered, replied to, outstanding, lost."""
    user = monitor_user(guest.control)
    return user["delivered"], user["replied"], user["outstanding"], user["lost"]


@pytest.mark.requirement("M28")
def test_254_sets_unread_are_no_overflow(monreader: Guest, capture: Capture) -> None:
    """254 sets wait to be read, one less than the limit: all are complete, there is no error."""
    log = Log(monreader.agent)
    with open_device(monreader.agent, os.O_NONBLOCK) as fd:
        assert delivered(monreader, LIMIT - 1) == ["delivered"] * (LIMIT - 1)
        ends = drain(monreader.agent, fd)
        assert [end.errno for end in ends] == [0] * (LIMIT - 1)
        assert [end.stream for end in ends] == [capture.next().stream for _ in ends]
        assert counts(monreader) == (LIMIT - 1, LIMIT - 1, 0, 0)
    assert log.texts() == []


@pytest.mark.requirement("M27", "M28")
@pytest.mark.parametrize("unread", (255, 256, 1000))
def test_limit_reached_is_eoverflow_once(monreader: Guest, capture: Capture, unread: int) -> None:
    """255 sets and more wait to be read: 255 complete ones, EOVERFLOW once, then what comes next."""
    log = Log(monreader.agent)
    with open_device(monreader.agent, os.O_NONBLOCK) as fd:
        fates = delivered(monreader, unread)
        assert fates == ["delivered"] * LIMIT + ["lost-limit"] * (unread - LIMIT)
        ends = drain(monreader.agent, fd)  # up to EAGAIN
        assert [end.errno for end in ends] == [0] * LIMIT + [errno.EOVERFLOW]
        wanted = [capture.next() for _ in range(LIMIT)]
        assert [end.stream for end in ends[:LIMIT]] == [one.stream for one in wanted]
        assert counts(monreader) == (LIMIT, LIMIT, 0, unread - LIMIT)
        deliver(monreader.control, "event", small(7), small(8))
        after, further = drain(monreader.agent, fd), capture.next()
        assert [(end.errno, end.stream) for end in after] == [(0, further.stream)]
        # Sets are numbered as they come up: the gap is what CP says it has lost.
        assert further.number - wanted[-1].number - 1 == monitor_user(monreader.control)["lost"]
    assert log.texts() == [FULL]


@pytest.mark.requirement("M28")
@pytest.mark.representative
def test_every_overflow_is_reported(monreader: Guest, capture: Capture) -> None:
    """The queue is filled, emptied and filled again, three times: EOVERFLOW each time."""
    log = Log(monreader.agent)
    with open_device(monreader.agent, os.O_NONBLOCK) as fd:
        for _ in range(3):
            delivered(monreader, LIMIT + 2)
            ends = drain(monreader.agent, fd)
            assert [end.errno for end in ends] == [0] * LIMIT + [errno.EOVERFLOW]
            wanted = [capture.next().stream for _ in range(LIMIT)]
            assert [end.stream for end in ends[:LIMIT]] == wanted
        assert counts(monreader) == (3 * LIMIT, 3 * LIMIT, 0, 6)
    assert log.texts() == [FULL] * 3


@pytest.mark.requirement("M28")
def test_overflow_that_is_topped_up_is_eoverflow_twice(monreader: Guest, capture: Capture) -> None:
    """One set is read, one comes in its place: EOVERFLOW stands where sets are missing, twice."""
    log = Log(monreader.agent)
    with open_device(monreader.agent, os.O_NONBLOCK) as fd:
        assert delivered(monreader, LIMIT + 1)[-1] == "lost-limit"
        first = ended(monreader.agent.read_until(fd, 4096))
        assert delivered(monreader, 2) == ["delivered", "lost-limit"]
        ends = [first, *drain(monreader.agent, fd)]
        found = [end.errno for end in ends]
        assert found == [0] * LIMIT + [errno.EOVERFLOW, 0, errno.EOVERFLOW]
        wanted = [capture.next() for _ in range(LIMIT + 1)]
        assert [end.stream for end in ends if not end.errno] == [one.stream for one in wanted]
        numbers = [one.number for one in wanted]
        assert numbers[LIMIT] - numbers[LIMIT - 1] == 2  # the gap that the first one tells of
        assert counts(monreader) == (LIMIT + 1, LIMIT + 1, 0, 2)
    assert log.texts() == [FULL] * 2


@pytest.mark.requirement("M28")
def test_overflow_while_poll_waits(monreader: Guest, capture: Capture) -> None:
    """The queue overflows while the reader sleeps in poll; each step is announced by poll."""
    agent, worker = monreader.agent, monreader.agent.worker("reader")
    thread = thread_of(worker)
    with open_device(agent, os.O_NONBLOCK) as fd:
        waiting = worker.batch()
        waiting.poll([(fd, READABLE)], 100_000)
        woken = waiting.start(timeout=120)
        await_sleep(agent, thread, POLL)
        delivered(monreader, LIMIT + 1)
        assert woken.result()[0].revents == [READABLE]
        batch = agent.batch()
        for _ in range(LIMIT + 2):
            batch.poll([(fd, READABLE)], 0)
            batch.read_until(fd, 4096)
        results = list(batch.run())
        ready = [result.revents for result in results[0::2]]
        assert ready == [[READABLE]] * (LIMIT + 1) + [[0]]
        ends = [ended(result) for result in results[1::2]]
        assert [end.errno for end in ends] == [0] * LIMIT + [errno.EOVERFLOW, errno.EAGAIN]
        assert [end.stream for end in ends[:LIMIT]] == [capture.next().stream for _ in range(LIMIT)]


@pytest.mark.requirement("M28")
@pytest.mark.parametrize("limit", (1, 10, 100))
def test_limit_that_cp_lowers_leaves_complete_sets(
    monreader: Guest, capture: Capture, limit: int
) -> None:
    """CP grants 1, 10 or 100 messages: what it delivers is complete, it counts what it loses."""
    with armed(monreader.control, Fault("monitor.connect", "limit", limit)):
        with open_device(monreader.agent, os.O_NONBLOCK) as fd:
            for number in range(1, 3):
                assert delivered(monreader, limit + 5)[limit:] == ["lost-limit"] * 5
                ends = [end for end in drain(monreader.agent, fd) if end.errno != errno.EOVERFLOW]
                assert [end.errno for end in ends] == [0] * limit
                assert [end.stream for end in ends] == [capture.next().stream for _ in ends]
                assert counts(monreader) == (number * limit, number * limit, 0, number * 5)


@pytest.mark.requirement("M28")
@pytest.mark.upstream_defect(
    10, "the limit that CP grants is not looked at", seen=r"assert \[0\] == \[0, 75\]"
)
def test_limit_that_cp_lowers_is_eoverflow(monreader: Guest) -> None:
    """CP grants 1, 10 or 100 messages: EOVERFLOW once that many wait to be read."""
    for limit in (1, 10, 100):
        with armed(monreader.control, Fault("monitor.connect", "limit", limit)):
            with open_device(monreader.agent, os.O_NONBLOCK) as fd:
                delivered(monreader, limit + 1)
                assert errnos(monreader, fd) == [0] * limit + [errno.EOVERFLOW]


@pytest.mark.requirement("M31")
def test_open_and_unread_is_eoverflow_in_the_end(monreader: Guest, capture: Capture) -> None:
    """Monitor intervals end while nobody reads: EOVERFLOW, and those missing are those CP lost."""
    control, ticks = monreader.control, 300
    commands = ["MONITOR SAMPLE ENABLE PROCESSOR", "MONITOR SAMPLE START"]
    control.execute("monitor-manual", manual=True)
    try:
        with open_device(monreader.agent, os.O_NONBLOCK) as fd:
            assert [monreader.cp(command).rc for command in commands] == [0, 0]
            for _ in range(ticks):
                control.execute("monitor-tick")
            ends = drain(monreader.agent, fd)
            assert [end.errno for end in ends] == [0] * LIMIT + [errno.EOVERFLOW]
            wanted = [capture.next() for _ in range(LIMIT)]
            assert [end.stream for end in ends[:LIMIT]] == [one.stream for one in wanted]
            kinds = [one.kind for one in wanted]
            lost = monitor_user(control)["lost"]
            assert kinds.count("sample-config") == 1 and lost > 0
            assert kinds.count("sample") + lost == 1 + ticks  # START ends an interval at once
            control.execute("monitor-tick")
            after = drain(monreader.agent, fd)
            assert [(end.errno, end.stream) for end in after] == [(0, capture.next().stream)]
    finally:
        for command in ("MONITOR SAMPLE STOP", "MONITOR SAMPLE DISABLE ALL"):
            monreader.cp(command)
        control.execute("monitor-manual", manual=False)


@pytest.mark.requirement("M28")
def test_overflow_does_not_outlive_the_open_file(monreader: Guest, capture: Capture) -> None:
    """A reader leaves with the queue full: the next one finds nothing old, and no error."""
    for _ in range(2):
        with open_device(monreader.agent, os.O_NONBLOCK) as fd:
            assert drain(monreader.agent, fd) == []
            delivered(monreader, LIMIT + 1)
            assert ended(monreader.agent.read_until(fd, 4096)).errno == 0
        assert service_paths(monreader) == []
    for _ in range(2 * LIMIT):
        capture.next()
    with open_device(monreader.agent, os.O_NONBLOCK) as fd:
        deliver(monreader.control, "sample", Element.of([Record(4, 3, 1, b"last")]))
        ends = drain(monreader.agent, fd)
        assert [(end.errno, end.stream) for end in ends] == [(0, capture.next().stream)]
        assert counts(monreader) == (1, 1, 0, 0)
