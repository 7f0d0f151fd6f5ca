# SPDX-License-Identifier: MIT
"""CP, the reader and other openers at the same time: whatever the order, no set is half a set."""

from __future__ import annotations

import errno
import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from zvmlab.agent.agent import Pending
from zvmlab.agent.calls import BatchResult
from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import Element, Record
from zvmlab.monitor.monitor import DEVICE, Capture, deliver
from zvmlab.monitor.steps import Ended, ended, open_device, service_paths

if TYPE_CHECKING:
    from conftest import Build

READS = 12


def some_set(number: int, dice: random.Random) -> list[Element]:
    """One to three elements with up to 3000 bytes each."""
    return [
        Element.of([Record(4, 3, number, bytes([number & 0xFF]) * dice.randint(1, 3000))])
        for _ in range(dice.randint(1, 3))
    ]


def start_reading(guest: Guest, fd: int, size: int) -> Pending[BatchResult]:
    """Read sets, or errors, in another thread."""
    batch = guest.agent.worker("reader").batch()
    for _ in range(READS):
        batch.read_until(fd, size)
    return batch.start()


def check_ends(guest: Guest, ends: list[Ended], announced: list[bytes]) -> None:
    """The sets that ended well are the first announced, and just those CP has had replies to."""
    complete = [end.stream for end in ends if not end.errno]
    assert complete == announced[: len(complete)]
    assert [end.errno for end in ends[len(complete) :]] == [errno.EIO] * (READS - len(complete))
    broken = [end.stream for end in ends if end.errno and end.stream]
    rest = announced[len(complete) :]
    assert broken == rest[: len(broken)]
    assert len(guest.control.events("monitor-replied")) == len(complete)


def sever_at_any_moment(guest: Guest, folder: Path, seed: int, rounds: int) -> None:
    """Deliver up to ten sets and sever, without waiting for anything the guest does."""
    dice = random.Random(seed)
    control = guest.control
    with Capture(control, folder / "sets") as capture:
        for number in range(rounds):
            control.events("monitor-replied")  # those of the round before
            with open_device(guest.agent) as fd:
                pending = start_reading(guest, fd, dice.choice((13, 500, 4096, 65536)))
                fates = [
                    deliver(control, "sample", *some_set(number, dice)).fate
                    for _ in range(dice.randint(0, 10))
                ]
                assert set(fates) <= {"delivered"}
                assert control.execute("monitor-sever", code=number & 0xFF) == {"severed": 1}
                ends = [ended(result) for result in pending.result()]
            check_ends(guest, ends, [capture.next().stream for _ in fates])
            assert service_paths(guest) == []


def race_opens(guest: Guest, program: Build, rounds: int) -> None:
    """Four threads open and close the device all the time: one has it at a time."""
    control, threads = guest.control, 4
    control.events("monitor-connected")  # those of the tests before
    guest.agent.write_file("/tmp/opens", program("opens").read_bytes(), 0o755)
    result = guest.agent.run(["/tmp/opens", DEVICE, str(threads), str(rounds)], timeout=300).check()
    opened, busy = map(int, result.stdout.split())
    assert opened + busy == threads * rounds and opened > 0
    assert len(control.events("monitor-connected")) == opened
    assert service_paths(guest) == []


@pytest.mark.requirement("M34")
def test_severed_at_any_moment_is_eio(monreader: Guest, zvmlab_dir: Path) -> None:
    """CP delivers and severs while the reader reads: complete sets, then EIO, never half a set."""
    sever_at_any_moment(monreader, zvmlab_dir, 34, 20)


@pytest.mark.requirement("M29")
def test_racing_opens_are_ebusy_but_one(monreader: Guest, program: Build) -> None:
    """Four threads open and close the device at once: one has it at a time."""
    race_opens(monreader, program, 100)


@pytest.mark.requirement("M34")
@pytest.mark.full
@pytest.mark.zvmlab(cpus=4)
@pytest.mark.parametrize("seed", range(4))
def test_severed_at_any_moment_on_four_cpus_is_eio(
    driver_guest: Guest, zvmlab_dir: Path, seed: int
) -> None:
    """The same with four CPUs, a hundred times from each of four seeds."""
    driver_guest.agent.modprobe("monreader").check()
    sever_at_any_moment(driver_guest, zvmlab_dir, seed, 100)


@pytest.mark.requirement("M29")
@pytest.mark.full
@pytest.mark.zvmlab(cpus=4)
def test_racing_opens_on_four_cpus_are_ebusy_but_one(driver_guest: Guest, program: Build) -> None:
    """Four threads on four CPUs open and close the device: one has it at a time."""
    driver_guest.agent.modprobe("monreader").check()
    race_opens(driver_guest, program, 300)
