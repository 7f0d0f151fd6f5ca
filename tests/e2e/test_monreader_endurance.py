# SPDX-License-Identifier: MIT
"""Endurance: opens and data sets without end leave nothing behind in the kernel.

Loading and unloading is in test_monreader_unload.py.  A leak is an object, or a
page, for each open, for each set, or for each time that the queue was full; all
that memory may grow by is less.
"""

from __future__ import annotations

import errno
import os
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from memory import UNCACHED, flat

from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import MCE_SIZE
from zvmlab.monitor.monitor import DEVICE, Capture, element_arguments
from zvmlab.monitor.steps import (
    deliver_many,
    drain,
    ended,
    monitor_user,
    open_device,
    service_paths,
    small,
)

pytestmark = [
    pytest.mark.zvmlab(command_line=UNCACHED, trace=False),
    pytest.mark.first_kernel,
]

LIMIT = 255
BURST = 300
# Asking takes three inodes and dentries and 8 pages, and 7.2 keeps 20 maple_node at a time
# for a CPU.  Opens, sets, and with --full overflows, are more than that many.
OBJECTS, PAGES = 100, 256
OUTSTANDING = 16
BUFFER = 4096
STREAM_SECONDS = 600.0
OPENS_AT_ONCE = 100
# On a debug kernel an open with 255 allocations takes a tenth of a second and more.
OPENS_SECONDS = 300.0


@pytest.fixture
def endured(
    driver_guest: Guest, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> Iterator[Guest]:
    """A guest of the test's own with the driver loaded; how long the test took is printed."""
    driver_guest.agent.modprobe("monreader").check()
    began = time.monotonic()
    yield driver_guest
    with capsys.disabled():
        print(f"\n{request.node.name}: {time.monotonic() - began:.0f} s")
    driver_guest.agent.rmmod("monreader").check()


def open_and_close(guest: Guest, count: int) -> None:
    """Open and close the device so many times."""
    for done in range(0, count, OPENS_AT_ONCE):
        batch = guest.agent.batch()
        for _ in range(min(OPENS_AT_ONCE, count - done)):
            batch.close(batch.open(DEVICE))
        assert {(result.errno, result.overrun) for result in batch.run(OPENS_SECONDS)} == {
            (0, False)
        }


@pytest.mark.requirement("M36")
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("count", (200, pytest.param(10_000, marks=pytest.mark.full)))
def test_opening_and_closing_leaves_nothing(endured: Guest, count: int) -> None:
    """Open and close, thousands of times: no object is left, nor a path."""
    open_and_close(endured, OPENS_AT_ONCE)  # what is allocated once for good
    with flat(endured, OBJECTS, PAGES):
        open_and_close(endured, count)
    assert service_paths(endured) == []


def stream_of(guest: Guest, fd: int, count: int) -> None:
    """CP repeats one set as fast as it is read; each of them is read as it was stored."""
    element = small(7)
    guest.control.execute(
        "monitor-repeat",
        kind="sample",
        elements=[element_arguments(element)],
        outstanding=OUTSTANDING,
        times=count,
    )
    first = ended(guest.agent.read_until(fd, BUFFER))
    assert (first.errno, first.stream[MCE_SIZE:]) == (0, element.data)
    rest = guest.agent.drain(fd, BUFFER, sets=count - 1, timeout=STREAM_SECONDS, crc=True)
    size = len(first.stream) * (count - 1)
    assert (rest.sets, rest.bytes, rest.empty, rest.overflows) == (count - 1, size, 0, 0)
    assert (rest.errno, rest.timed_out) == (0, False)
    assert rest.crc == zlib.crc32(first.stream * (count - 1))


def burst(guest: Guest, fd: int, capture: Capture) -> None:
    """More sets than the queue holds while nobody reads: some are lost, the others are whole."""
    deliver_many(guest.control, BURST)
    ends = drain(guest.agent, fd)
    assert [end.errno for end in ends] == [0] * LIMIT + [errno.EOVERFLOW]
    assert [end.stream for end in ends[:LIMIT]] == [capture.next().stream for _ in range(LIMIT)]


def deliver_and_read(guest: Guest, folder: Path, count: int, bursts: int) -> None:
    """Deliver sets in parts; reads and losses add up to what CP has sent."""
    with Capture(guest.control, folder / "sets") as capture:
        with open_device(guest.agent, os.O_NONBLOCK) as fd:
            for _ in range(bursts):
                stream_of(guest, fd, count // bursts - BURST)
                burst(guest, fd, capture)
            user, lost = monitor_user(guest.control), bursts * (BURST - LIMIT)
            assert (user["delivered"], user["lost"]) == (count - lost, lost)
            assert (user["replied"], user["outstanding"]) == (count - lost, 0)


@pytest.mark.requirement("M18", "M28")
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("count", "bursts"), [(4000, 10), pytest.param(1_000_000, 125, marks=pytest.mark.full)]
)
def test_reading_sets_leaves_nothing(
    endured: Guest, zvmlab_dir: Path, count: int, bursts: int
) -> None:
    """A million sets, the queue overflowing meanwhile: all are accounted for, no object is left."""
    deliver_and_read(endured, zvmlab_dir, 1000, 2)  # what is allocated once for good
    with flat(endured, OBJECTS, PAGES):
        deliver_and_read(endured, zvmlab_dir, count, bursts)


@pytest.mark.not_debug("files that stay open are no leak for kmemleak, and it is the one asked")
def test_what_is_kept_is_noticed(guest: Guest) -> None:
    """More objects of a kind than allowed fail these tests; a few others go meanwhile."""
    batch = guest.agent.batch()
    files = [batch.open("/dev/null") for _ in range(OBJECTS + 50)]
    with pytest.raises(AssertionError, match="lsm_file_cache.: 1[0-9][0-9]"):
        with flat(guest, OBJECTS, PAGES, seconds=1):
            results = batch.run()
    for file in files:
        guest.agent.close(results[file].check()).check()
