# SPDX-License-Identifier: MIT
"""Waiting for data sets: blocking reads, poll, select and epoll."""

from __future__ import annotations

import errno
import os
import random
import select
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import MCE_SIZE, Element, Record
from zvmlab.monitor.monitor import Capture, DataSets, compare, deliver, element_arguments, read_set
from zvmlab.monitor.steps import READ, await_sleep, thread_of

if TYPE_CHECKING:
    from conftest import Build

IN = select.POLLIN | select.POLLRDNORM
ELEMENT = Element.of([Record(4, 3, 1, bytes(40))])
SETS = 2000
HUNTED = 300
SEED = 4


def sleeps(guest: Guest, thread: str) -> int:
    """How often a thread has gone to sleep."""
    status = guest.agent.read_file(f"{thread}/status").decode()
    line = next(text for text in status.splitlines() if text.startswith("voluntary_ctxt"))
    return int(line.split()[1])


@pytest.mark.requirement("M16")
def test_blocking_read_sleeps_until_a_message_comes(monreader: Guest, zvmlab_dir: Path) -> None:
    """A read with nothing to read takes no CPU: the thread is not woken once until a message is."""
    sleeper = monreader.agent.worker("sleeper")
    thread = thread_of(sleeper)
    with DataSets(monreader.agent) as reader, Capture(
        monreader.control, zvmlab_dir / "sets"
    ) as capture:
        batch = sleeper.batch()
        batch.read_until(reader.fd, 4096)
        pending = batch.start(timeout=120)
        assert await_sleep(monreader.agent, thread, READ) == "S"
        before = sleeps(monreader, thread)
        monreader.agent.sleep(0.5)
        await_sleep(monreader.agent, thread, READ)
        assert sleeps(monreader, thread) == before
        assert not pending.done()
        deliver(monreader.control, "sample", ELEMENT)
        compare(read_set(pending.result()[0]), capture.next())


@pytest.mark.requirement("M17", "M27")
@pytest.mark.representative
def test_empty_is_eagain_and_loses_nothing(monreader: Guest, zvmlab_dir: Path) -> None:
    """Non-blocking reads with nothing there give EAGAIN; the sets around them are complete."""
    with DataSets(monreader.agent, os.O_NONBLOCK) as reader, Capture(
        monreader.control, zvmlab_dir / "sets"
    ) as capture:
        for _ in range(5):
            batch = monreader.agent.batch()
            for size in (1, 12, 4096):
                batch.read(reader.fd, size)
            assert [(r.ret, r.errno) for r in batch.run()] == [(-1, errno.EAGAIN)] * 3
            deliver(monreader.control, "sample", ELEMENT)
            compare(reader.read(), capture.next())


@pytest.mark.requirement("M17")
def test_poll_says_readable_until_the_set_has_ended(monreader: Guest) -> None:
    """POLLIN from the message on, through every byte, and for the 0-byte read; then no more."""
    with DataSets(monreader.agent, os.O_NONBLOCK) as reader:
        deliver(monreader.control, "sample", ELEMENT)
        length = MCE_SIZE + len(ELEMENT.data)
        batch = monreader.agent.batch()
        for _ in range(length + 2):
            batch.poll([(reader.fd, select.POLLIN)], 0)
            batch.read(reader.fd, 1)
        results = list(batch.run())
        polls, reads = results[::2], results[1::2]
        assert [poll.revents for poll in polls] == [[IN & select.POLLIN]] * (length + 1) + [[0]]
        assert [read.ret for read in reads] == [1] * length + [0, -1]
        assert reads[-1].errno == errno.EAGAIN


@pytest.mark.requirement("M17")
@pytest.mark.representative
def test_poll_times_out_and_wakes_up(monreader: Guest) -> None:
    """poll with nothing there gives 0 at its time limit, and wakes at once on a message."""
    with DataSets(monreader.agent) as reader:
        assert monreader.agent.poll([(reader.fd, select.POLLIN)], 30).ret == 0
        sleeper = monreader.agent.worker("sleeper")
        batch = sleeper.batch()
        batch.poll([(reader.fd, select.POLLIN)], 100_000)
        pending = batch.start(timeout=120)
        deliver(monreader.control, "sample", ELEMENT)
        assert pending.result()[0].ret == 1


@pytest.mark.requirement("M17")
def test_select_and_epoll_agree_with_poll(monreader: Guest, program: Build) -> None:
    """select, poll and epoll, level-triggered, edge-triggered and one-shot, say the same."""
    agent = monreader.agent
    agent.write_file("/tmp/readiness", program("readiness").read_bytes(), 0o755)

    def ask() -> str:
        done = agent.run(["/tmp/readiness", str(reader.fd)], inherit=True).check()
        return done.stdout.decode().strip()

    nothing = "select=0 poll=0 level=0,0 edge=0,0 oneshot=0,0,0"
    something = "select=1 poll=1 level=1,1 edge=1,0 oneshot=1,0,1"
    with DataSets(agent) as reader:
        assert ask() == nothing
        deliver(monreader.control, "sample", ELEMENT)
        assert ask() == something
        assert agent.read(reader.fd, 20).check() > 0
        assert ask() == something
        reader.read()
        assert ask() == nothing
    agent.unlink("/tmp/readiness").check()


def _endless(guest: Guest, times: int) -> None:
    """Have CP announce the set again the moment it is replied to, *times* in all."""
    guest.control.execute(
        "monitor-repeat",
        kind="sample",
        elements=[element_arguments(ELEMENT)],
        outstanding=1,
        times=times,
    )


@pytest.mark.requirement("M17")
def test_no_wake_up_is_lost_right_behind_a_reply(monreader: Guest) -> None:
    """Two thousand messages, each sent while the reader is on its way from the reply to poll."""
    with DataSets(monreader.agent, os.O_NONBLOCK) as reader:
        _endless(monreader, SETS)
        batch = monreader.agent.batch()
        batch.read_until(reader.fd, 4096, zeros=SETS, poll_ms=30_000)
        reads = batch.run(timeout=300)[0].reads
        assert sum(read.ret == 0 for read in reads) == SETS
        assert not any(read.errno for read in reads)
        assert sum(len(read.data) for read in reads) == SETS * (MCE_SIZE + len(ELEMENT.data))


def _hunt(guest: Guest, seed: int, rounds: int) -> None:
    """A reader asleep, falling asleep or waking up; messages at any moment."""
    print(f"seed {seed}")
    chance = random.Random(seed)
    agent = guest.agent
    reading = agent.worker("reader")
    with DataSets(agent, os.O_NONBLOCK) as reader:
        for _ in range(rounds):
            batch = reading.batch()
            sets = chance.randint(1, 3)
            for _ in range(sets):
                if chance.random() < 0.5:
                    batch.sleep(chance.choice((0.0, 0.001, 0.002)))
                batch.read_until(reader.fd, chance.choice((12, 100, 4096)), poll_ms=30_000)
            pending = batch.start(timeout=120)
            for _ in range(sets):
                for _ in range(chance.randint(0, 3)):
                    agent.sleep(0)  # a round trip: the guest runs meanwhile
                deliver(guest.control, "sample", ELEMENT)
            for result in pending.result():
                if result.what == "reads":
                    assert read_set(result).stream[MCE_SIZE:] == ELEMENT.data


@pytest.mark.requirement("M17")
@pytest.mark.first_kernel
@pytest.mark.zvmlab(cpus=2)
def test_no_wake_up_is_lost_on_two_cpus(driver_guest: Guest) -> None:
    """Messages at random moments for a reader that is falling asleep on another CPU."""
    driver_guest.agent.modprobe("monreader").check()
    _hunt(driver_guest, SEED, HUNTED)


@pytest.mark.requirement("M17")
@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.zvmlab(cpus=2)
def test_no_wake_up_is_lost_in_thousands_of_rounds(driver_guest: Guest, seed: int) -> None:
    """The same for longer, 2000 rounds from each of three seeds."""
    driver_guest.agent.modprobe("monreader").check()
    _hunt(driver_guest, seed, 2000)
