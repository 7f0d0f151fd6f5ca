# SPDX-License-Identifier: MIT
"""Every allocation and every copy to and from programs fails once, one after the other.

The kernel counts both together for one thread (/proc/thread-self/fail-nth); the
counter is set, read and taken back in the same batch, so that the agent's own
calls never meet it.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from zvmlab.agent.agent import Batch, Worker
from zvmlab.agent.calls import CallResult, Ref
from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import Element, Record
from zvmlab.monitor.monitor import DEVICE, Capture, deliver

DEBUGFS = "/sys/kernel/debug"
FAIL_NTH = "/proc/thread-self/fail-nth"
# More than any call under test has; upstream's monreader alone allocates 255 messages.
CALLS_MAX = 2000
READ_SIZE = 700


@dataclass
class Victim:
    """A thread of the guest whose calls fail."""

    worker: Worker
    nth: int
    """Descriptor of its fail-nth."""

    def batch(self, number: int) -> Batch:
        """A batch in which the call of that number, counted from here, fails."""
        batch = self.worker.batch()
        batch.write(self.nth, str(number).encode())
        return batch

    def run(self, batch: Batch) -> bool:
        """Execute; did anything fail?"""
        left = batch.pread(self.nth, 16, 0)
        batch.write(self.nth, b"0")
        results = batch.run()
        self.results = results
        # A counter of 1 makes reading the counter the call that fails.
        return results[left].errno == 0 and results[left].data == b"0\n"

    def result(self, call: int | Ref) -> CallResult:
        """The result of a call in the last batch."""
        return self.results[call]


@pytest.fixture
def victim(monreader: Guest) -> Iterator[Victim]:
    """A thread of the warm guest; allocations that may sleep fail, too, and no log of it."""
    agent = monreader.agent
    agent.write_file(f"{DEBUGFS}/failslab/ignore-gfp-wait", b"N")
    for kind in ("failslab", "fail_page_alloc", "fail_usercopy"):
        agent.write_file(f"{DEBUGFS}/{kind}/verbose", b"0")
    worker = agent.worker("victim")
    nth = worker.open(FAIL_NTH, os.O_RDWR).check()
    yield Victim(worker, nth)
    worker.close(nth).check()
    agent.write_file(f"{DEBUGFS}/failslab/ignore-gfp-wait", b"Y")


def users(guest: Guest) -> list[str]:
    """The users connected to *MONITOR."""
    return [user["name"] for user in guest.control.execute("query-monitor")["users"]]


def test_open_fails_cleanly_wherever_it_fails(monreader: Guest, victim: Victim) -> None:
    seen: dict[int, int] = {}
    for number in range(1, CALLS_MAX):
        batch = victim.batch(number)
        opened = batch.open(DEVICE)
        failed = victim.run(batch)
        result = victim.result(opened)
        seen[result.errno] = seen.get(result.errno, 0) + 1
        if result.errno == 0:
            assert users(monreader) == ["LINUX001"]
            victim.worker.close(result.ret).check()
        assert users(monreader) == []
        if not failed:
            break
    # Memory for the path's name, the open file, the IUCV path; upstream's driver has 256 more.
    assert seen.pop(errno.ENOMEM) >= 3
    assert seen.pop(0) >= 1
    # A path name that cannot be copied, a message buffer that is not there.
    assert set(seen) <= {errno.EFAULT, errno.EIO, errno.ENFILE}
    assert not failed, "open had not succeeded undisturbed after so many tries"


def test_read_loses_nothing_wherever_it_fails(
    monreader: Guest, victim: Victim, zvmlab_dir: Path
) -> None:
    records = [Record(4, 3, i, bytes([i]) * 480) for i in range(4)]
    element = Element.of(records)
    fd = victim.worker.open(DEVICE).check()
    with Capture(monreader.control, zvmlab_dir / "sets") as capture:
        deliver(monreader.control, "sample", element)
        wanted = capture.next().stream
        found, faults = b"", 0
        while True:
            for number in range(1, CALLS_MAX):
                batch = victim.batch(number)
                data = batch.read(fd, READ_SIZE)
                failed = victim.run(batch)
                result = victim.result(data)
                if result.errno == 0:
                    break
                assert failed and result.errno == errno.EFAULT
                faults += 1
            found += result.data
            if result.ret == 0:
                break
    victim.worker.close(fd).check()
    assert found == wanted
    assert faults >= len(wanted) // READ_SIZE
