# SPDX-License-Identifier: MIT
"""Members of a system in a ring, as many as there can be; `make bench-ring` has how long it takes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from test_system_deaths import descriptors
from waiting import wait_until

from zvmlab.guest.config import GuestConfig
from zvmlab.guest.system import System

if TYPE_CHECKING:
    from conftest import Build

PROGRAM = "/bin/iucv_pace"
ROUNDS = 100
LIMIT = 1200.0
# Of all processes; and what CP's may have more after another hundred rounds, which is nothing if nothing
# leaks, while the first of what leaks finds room in what the start has freed.
MOST_MEMORY, MOST_GROWTH = 5120 << 20, 64 << 10


def memory_of(pid: int, kind: str = "Pss") -> int:
    """Bytes, those that it shares divided by how many share them; or of another kind (proc(5))."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(f"{kind}:"))


def go_round(system: System) -> None:
    """Each sends on what the one before it sends; the first one compares what comes back."""
    names = list(system.guests)
    after = names[1:] + names[:1]
    passing = [
        system.guests[userid].agent.spawn([PROGRAM, "pass", following])
        for userid, following in zip(names[1:], after[1:])
    ]
    ring = [PROGRAM, "ring", after[0], str(ROUNDS)]
    system.guests[names[0]].agent.run(ring, timeout=LIMIT).check()
    for one in passing:
        one.wait(LIMIT).check()


@pytest.mark.first_kernel
@pytest.mark.timeout(2 * LIMIT)
@pytest.mark.requirement("S22")
@pytest.mark.parametrize("members", [4, pytest.param(64, marks=pytest.mark.full)])
def test_token_goes_round(
    zvmlab_kernel: str, zvmlab_dir: Path, program: Build, members: int
) -> None:
    """Twice a hundred times, by connections of its own each: what they had is given back."""
    config = GuestConfig(kernel=zvmlab_kernel, files={PROGRAM: program("iucv_pace")})
    with System(logs=zvmlab_dir) as system:
        system.start()
        alone = descriptors(system)
        for number in range(members):
            system.guest(f"MEMBER{number:02}", config)
        system.boot()
        idle = descriptors(system)
        go_round(system)
        # Its own, without pages of guests in which it has looked.
        before = memory_of(system.process.pid, "Anonymous")
        go_round(system)
        assert memory_of(system.process.pid, "Anonymous") <= before + MOST_GROWTH
        pids = [guest.emulator.pid for guest in system.guests.values()]
        assert sum(map(memory_of, [system.process.pid, *pids])) <= MOST_MEMORY
        assert descriptors(system) == idle
        for guest in system.guests.values():
            guest.kill()
        wait_until(
            lambda: descriptors(system) == alone,
            f"{alone} descriptors, as before the members",
            lambda: descriptors(system),
        )
