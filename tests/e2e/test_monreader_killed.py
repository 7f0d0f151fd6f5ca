# SPDX-License-Identifier: MIT
"""A reader that dies within a data set: whoever opens the device next starts over."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from readers import RunningReader, inheriting, install, opening

from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import MCE_SIZE, Element, Record
from zvmlab.monitor.monitor import Capture, deliver
from zvmlab.monitor.steps import READ, drain, ended, monitor_user, open_device, service_paths

if TYPE_CHECKING:
    from conftest import Build

RECORDS = 3000
# Where the reader dies in a set of two elements with so many bytes of records each.
PLACES = {
    "within-the-element": 5,
    "behind-the-element": MCE_SIZE,
    "within-the-records": MCE_SIZE + 1000,
    "within-the-second-element": MCE_SIZE + RECORDS + 1,
    "before-the-closing-read": 2 * (MCE_SIZE + RECORDS),
}


@pytest.fixture
def reader(monreader: Guest, program: Build) -> Guest:
    """The guest with a program that reads and dies."""
    install(monreader.agent, program)
    return monreader


def two_elements(number: int) -> tuple[Element, Element]:
    """A set of two elements, told apart by its number."""
    first, second = (
        Element.of([Record(4, 3, number, bytes([number + i]) * (RECORDS - 20))]) for i in range(2)
    )
    return first, second


def used(guest: Guest) -> int:
    """Bytes of the segment that CP cannot use again yet."""
    return sum(area["used"] for area in guest.control.execute("query-monitor")["areas"])


@contextlib.contextmanager
def frozen(guest: Guest) -> Iterator[None]:
    """The guest's CPUs stand still within the block, CP does not."""
    guest.machine.pause()
    try:
        yield
    finally:
        guest.machine.go_on()


def read_exactly(guest: Guest, fd: int, size: int) -> bytes:
    """Read this number of bytes of a set that has at least as many."""
    data = b""
    while len(data) < size:
        result = guest.agent.read(fd, size - len(data))
        assert result.check() > 0
        data += result.data
    return data


def starts_over(guest: Guest, capture: Capture) -> None:
    """A new reader: nothing is left of what the last one had, the next set is complete."""
    assert service_paths(guest) == []
    with open_device(guest.agent, os.O_NONBLOCK) as fd:
        assert drain(guest.agent, fd) == []
        assert used(guest) == 0
        deliver(guest.control, "sample", *two_elements(100))
        ends = drain(guest.agent, fd)
        assert [(end.errno, end.stream) for end in ends] == [(0, capture.next().stream)]
        user = monitor_user(guest.control)
        assert (user["delivered"], user["replied"], user["outstanding"]) == (1, 1, 0)


@pytest.mark.requirement("M24")
@pytest.mark.parametrize("sets", (1, 10))
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES.keys())
def test_reader_killed_within_a_set(reader: Guest, capture: Capture, place: int, sets: int) -> None:
    """SIGKILL within the first of 1 or 10 sets: CP gets its areas back, the next reader starts over."""
    dying = RunningReader.start(reader.agent, opening(place, "die"))
    dying.await_sleep(READ)
    with frozen(reader):
        for number in range(sets):
            assert deliver(reader.control, "sample", *two_elements(number)).fate == "delivered"
    ending = dying.process.wait()
    wanted = [capture.next() for _ in range(sets)]
    assert (ending.signal, ending.stdout) == (signal.SIGKILL, wanted[0].stream[:place])
    starts_over(reader, capture)


@pytest.mark.requirement("M24")
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES.keys())
@pytest.mark.representative
def test_closed_within_a_set(monreader: Guest, capture: Capture, place: int) -> None:
    """The reader closes the device within a set and opens it again: it starts over."""
    with open_device(monreader.agent) as fd:
        for number in range(3):
            deliver(monreader.control, "event", *two_elements(number))
        wanted = [capture.next() for _ in range(3)]
        assert ended(monreader.agent.read_until(fd, 4096)).stream == wanted[0].stream
        assert read_exactly(monreader, fd, place) == wanted[1].stream[:place]
    starts_over(monreader, capture)


@pytest.mark.requirement("M24")
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES.keys())
def test_killed_while_another_process_has_it_open(
    reader: Guest, capture: Capture, place: int
) -> None:
    """The reader dies within a set, but not its descriptor: the set goes on where it stopped."""
    with open_device(reader.agent) as fd:
        deliver(reader.control, "sample", *two_elements(1))
        wanted = capture.next()
        ending = reader.agent.run(inheriting(fd, place, "die"), inherit=True)
        assert (ending.signal, ending.stdout) == (signal.SIGKILL, wanted.stream[:place])
        rest = ended(reader.agent.read_until(fd, 4096))
        assert (rest.errno, rest.stream) == (0, wanted.stream[place:])
    starts_over(reader, capture)
