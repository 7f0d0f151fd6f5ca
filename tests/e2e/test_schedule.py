# SPDX-License-Identifier: MIT
"""Guests whose instructions are counted are restored and put back, and a seed decides their CPUs' turns."""

from __future__ import annotations

from pathlib import Path

import pytest

from zvmlab.guest.checkpoint import clock, why_cold
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest

pytestmark = pytest.mark.timeout(600)
# Both CPUs make calls of CP at the same time; each ends with its own number of them.
RACE = "for i in 1 2 3 4 5 6 7 8; do cat /proc/interrupts /proc/stat; done"
CALLS = 30
NOTE = "/proc/sys/kernel/domainname"


def work(guest: Guest) -> bytes:
    """What programs on two CPUs see of each other, and what both ask of CP."""
    workers = [guest.agent.worker(name) for name in ("first", "second")]
    for cpu, worker in enumerate(workers):
        guest.agent.keep_on(worker, cpu)
    programs = [one.spawn(["/bin/busybox", "sh", "-c", RACE]) for one in workers]
    for _ in range(CALLS):
        guest.cp("QUERY NAMES")
    return b"".join(one.wait().check().stdout for one in programs)


def lines(guest: Guest, since: int = 0) -> list[str]:
    """The trace so far."""
    assert guest.channels.trace is not None
    return guest.channels.trace.read_text(encoding="ascii").splitlines()[since:]


def one_run(config: GuestConfig, folder: Path) -> tuple[list[str], bytes]:
    folder.mkdir()
    with Guest(config, folder) as guest:
        assert guest.restore()
        guest.boot()
        said = work(guest)
        guest.shut_down()
        return lines(guest), said


def test_seed_decides_the_trace(guest_config: GuestConfig, zvmlab_dir: Path) -> None:
    """Two guests from one checkpoint: byte for byte the same with one seed, not with another."""
    config = guest_config._replace(cpus=2, deterministic=True, busybox=True)
    runs = [
        one_run(config._replace(schedule=seed), zvmlab_dir / str(number))
        for number, seed in enumerate((5, 5, 6, 0))
    ]
    differing = [
        number for number, pair in enumerate(zip(*(r[0] for r in runs[:2]))) if pair[0] != pair[1]
    ]
    assert (differing[:1], len(runs[0][0])) == ([], len(runs[1][0]))
    assert runs[0][1] == runs[1][1] and len(runs[0][0]) > CALLS
    assert len({said for _, said in runs}) == 3


def test_guest_that_is_put_back_does_the_same_again(
    guest_config: GuestConfig, zvmlab_dir: Path
) -> None:
    config = guest_config._replace(cpus=2, deterministic=True, busybox=True, schedule=77)
    with Guest(config, zvmlab_dir) as guest:
        found = []
        for _ in range(3):
            if guest.restored:
                guest.put_back()
            guest.boot()
            found.append(work(guest))
        assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("cpus", [1, 2])
def test_counted_guest_goes_on_from_its_checkpoint(
    guest_config: GuestConfig, zvmlab_dir: Path, cpus: int
) -> None:
    config = guest_config._replace(cpus=cpus, count_instructions=True)
    assert why_cold(config) is None
    with Guest(config, zvmlab_dir) as guest:
        assert guest.restore()
        guest.boot()
        for _ in range(3):
            before = clock(guest.agent, 1)
            guest.agent.write_file(NOTE, b"left")
            assert guest.agent.read_file(NOTE) == b"left\n"
            assert clock(guest.agent, 1) > before
            guest.put_back()
            assert guest.agent.read_file(NOTE) != b"left\n"
        guest.shut_down()
