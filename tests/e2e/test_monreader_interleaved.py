# SPDX-License-Identifier: MIT
"""Random interleavings of what CP and a reader can do, against a simple model of the device."""

from __future__ import annotations

import errno
import os
import select
from collections import deque
from pathlib import Path

import pytest
from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from zvmlab.agent.calls import Bad
from zvmlab.agent.wire import BadKind
from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import Element, Record
from zvmlab.monitor.monitor import Capture, DataSets, deliver

STEPS = 20
SIZES = st.one_of(st.sampled_from((1, 11, 12, 13, 4096)), st.integers(1, 300))


class Reader(RuleBasedStateMachine):
    """The device, open and non-blocking; the model is the queue of sets that are due.

    The subclass says which guest, and where CP's copy of each set goes.
    """

    guest: Guest
    folder: Path

    def __init__(self) -> None:
        super().__init__()
        self.due: deque[bytes] = deque()
        self.capture = Capture(self.guest.control, self.folder / "sets")
        self.device = DataSets(self.guest.agent, os.O_NONBLOCK)

    def teardown(self) -> None:
        """Whatever happened, the next example finds the device closed."""
        self.device.close()
        self.capture.close()

    @initialize()
    def begin(self) -> None:
        """A new connection has nothing to read."""
        assert self.guest.agent.read(self.device.fd, 1).errno == errno.EAGAIN

    @rule(lengths=st.lists(st.integers(4, 200), min_size=1, max_size=3))
    def deliver(self, lengths: list[int]) -> None:
        """CP announces a set."""
        elements = [Element.of([Record(4, 3, n, bytes(n))]) for n in lengths]
        assert deliver(self.guest.control, "sample", *elements).fate == "delivered"
        self.due.append(self.capture.next().stream)

    @rule(size=SIZES)
    def read(self, size: int) -> None:
        """A read gets bytes of one set, or its end, or EAGAIN."""
        result = self.guest.agent.read(self.device.fd, size)
        if not self.due:
            assert (result.ret, result.errno) == (-1, errno.EAGAIN)
        elif not self.due[0]:
            assert (result.ret, result.errno) == (0, 0)
            self.due.popleft()
        else:
            assert 1 <= result.ret <= size
            assert self.due[0].startswith(result.data)
            self.due[0] = self.due[0][result.ret :]

    @rule(size=SIZES)
    def read_a_set(self, size: int) -> None:
        """Reads of one size up to the end of the set."""
        reads = self.guest.agent.read_until(self.device.fd, size).reads
        if not self.due:
            assert [read.errno for read in reads] == [errno.EAGAIN]
            return
        assert b"".join(read.data for read in reads) == self.due.popleft()
        assert reads[-1].ret == 0

    @rule(kind=st.sampled_from((BadKind.UNMAPPED, BadKind.READONLY)))
    def read_into_nowhere(self, kind: BadKind) -> None:
        """EFAULT if there was something to copy; nothing is lost."""
        if self.due and self.due[0]:
            result = self.guest.agent.read(self.device.fd, Bad(kind))
            assert (result.ret, result.errno) == (-1, errno.EFAULT)

    @rule()
    def seek(self) -> None:
        """A seek is refused or without effect."""
        result = self.guest.agent.lseek(self.device.fd, 5)
        assert result.errno in (0, errno.ESPIPE)

    @rule()
    def open_again(self) -> None:
        """A second open is refused."""
        assert self.guest.agent.open("/dev/monreader").errno == errno.EBUSY

    @rule()
    def reopen(self) -> None:
        """Close and open: what was due is gone."""
        self.device.close()
        self.device = DataSets(self.guest.agent, os.O_NONBLOCK)
        self.due.clear()

    @rule(code=st.integers(0, 255))
    def sever(self, code: int) -> None:
        """CP severs; close and open mend it."""
        severed = self.guest.control.execute("monitor-sever", user="LINUX001", code=code)
        assert severed["severed"] == 1
        self.reopen()

    @invariant()
    def poll(self) -> None:
        """poll says whether there is something to read."""
        events = self.guest.agent.poll([(self.device.fd, select.POLLIN)], 0).revents
        assert events == [select.POLLIN if self.due else 0]

    @invariant()
    def cp_agrees(self) -> None:
        """CP waits for a reply to every set that is due."""
        (user,) = self.guest.control.execute("query-monitor")["users"]
        assert user["outstanding"] == len(self.due)


def _interleave(guest: Guest, folder: Path, number: int, examples: int) -> None:
    class Here(Reader):
        pass

    Here.guest, Here.folder = guest, folder
    # Always the same sequences: whatever fails here fails again.
    seed(number)(Here)
    run_state_machine_as_test(  # type: ignore[no-untyped-call]  # hypothesis has no types there
        Here,
        settings=settings(
            max_examples=examples,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.requirement("M17", "M18", "M29")
def test_random_interleavings(monreader: Guest, zvmlab_dir: Path) -> None:
    """Messages, reads of any size, bad buffers, severs and reopens in any order."""
    _interleave(monreader, zvmlab_dir, 0, 25)


@pytest.mark.requirement("M17", "M18", "M29")
@pytest.mark.full
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("number", range(1, 5))
def test_thousands_of_interleavings(monreader: Guest, zvmlab_dir: Path, number: int) -> None:
    """The same, 1000 of them from four seeds."""
    _interleave(monreader, zvmlab_dir, number, 250)
