# SPDX-License-Identifier: MIT
"""A guest that does nothing costs its host little, though its kernel asks for 250 ticks a second."""

from __future__ import annotations

from zvmlab.guest import checkpoint
from zvmlab.guest.guest import Guest

MONOTONIC = 1
SECONDS = 4
# What a kernel of Debian's asks for (CONFIG_HZ), and how many of them may come: about a twelfth does,
# and more whenever the kernel has found something else to do meanwhile.
HZ, MOST = 250, 1 / 2


def ticks(guest: Guest) -> int:
    """Interruptions of the clock comparator so far."""
    lines = guest.agent.read_file("/proc/interrupts").decode("ascii").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.split()[:1] == ["CLK:"])


def test_few_ticks_come_while_nothing_happens(guest: Guest) -> None:
    """But the guest's clock goes on, and a sleep ends when its time has come."""
    before, since = ticks(guest), checkpoint.clock(guest.agent, MONOTONIC)
    guest.agent.sleep(SECONDS).check()
    slept = checkpoint.clock(guest.agent, MONOTONIC) - since
    assert slept >= SECONDS
    assert ticks(guest) - before < slept * HZ * MOST
