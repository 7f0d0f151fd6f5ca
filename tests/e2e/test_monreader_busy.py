# SPDX-License-Identifier: MIT
"""One opener at a time, whoever it is and however it goes."""

from __future__ import annotations

import errno
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from readers import PLENTY, RunningReader, inheriting, install, opening

from zvmlab.guest.guest import Guest
from zvmlab.monitor.monitor import DEVICE, Capture, deliver
from zvmlab.monitor.steps import READ, Log, ended, open_device, service_paths, small

if TYPE_CHECKING:
    from conftest import Build


@pytest.fixture
def reader(monreader: Guest, program: Build) -> Guest:
    """The guest with a program that reads, for other processes than the agent's."""
    install(monreader.agent, program)
    return monreader


def opened(guest: Guest) -> int:
    """errno of opening the device in the agent's process; it is closed at once."""
    result = guest.agent.open(DEVICE, os.O_RDONLY)
    if result.ret >= 0:
        guest.agent.close(result.ret).check()
    return result.errno


def opened_elsewhere(guest: Guest, inherit: bool = False) -> int | None:
    """errno of opening the device in a process of its own, which ends then."""
    return guest.agent.run(opening(0), inherit=inherit).status


def reads_next(guest: Guest, fd: int, folder: Path) -> bool:
    """Does the descriptor give the next set, byte for byte?"""
    with Capture(guest.control, folder / "sets") as capture:
        deliver(guest.control, "sample", small(3))
        found = ended(guest.agent.read_until(fd, 4096))
        return (found.errno, found.stream) == (0, capture.next().stream)


@pytest.mark.requirement("M29")
def test_second_open_in_the_same_process_is_ebusy(monreader: Guest, zvmlab_dir: Path) -> None:
    """A process opens the device twice: the second open fails, the first is not disturbed."""
    log = Log(monreader.agent)
    with open_device(monreader.agent) as fd:
        assert [opened(monreader) for _ in range(3)] == [errno.EBUSY] * 3
        for flags in (os.O_WRONLY, os.O_RDWR, os.O_RDONLY | os.O_NONBLOCK):
            assert monreader.agent.open(DEVICE, flags).errno == errno.EBUSY
        assert len(service_paths(monreader)) == 1  # CP has not been asked
        assert reads_next(monreader, fd, zvmlab_dir)
    assert opened(monreader) == 0
    assert log.texts() == []


@pytest.mark.requirement("M29")
@pytest.mark.representative
def test_open_in_another_process_is_ebusy(reader: Guest, zvmlab_dir: Path) -> None:
    """The device is open in one process: open fails in another, either way round."""
    with open_device(reader.agent) as fd:
        assert opened_elsewhere(reader) == errno.EBUSY
        assert reads_next(reader, fd, zvmlab_dir)
    assert opened_elsewhere(reader) == 0
    holder = RunningReader.start(reader.agent, opening(PLENTY))
    holder.await_sleep(READ)
    assert opened(reader) == errno.EBUSY
    with Capture(reader.control, zvmlab_dir / "others") as capture:
        deliver(reader.control, "sample", small(4))
        ending = holder.process.wait()
        assert (ending.status, ending.stdout) == (0, capture.next().stream)
    assert opened(reader) == 0


@pytest.mark.requirement("M29")
def test_child_that_inherited_it_is_ebusy_too(reader: Guest, zvmlab_dir: Path) -> None:
    """A forked child has the descriptor: its own open fails, and keeps failing for others."""
    fd = reader.agent.open(DEVICE, os.O_RDONLY).check()
    assert opened_elsewhere(reader, inherit=True) == errno.EBUSY
    child = RunningReader.start(reader.agent, inheriting(fd, PLENTY), inherit=True)
    child.await_sleep(READ)
    reader.agent.close(fd).check()
    # The child has the last descriptor now: the connection is its.
    assert (opened(reader), opened_elsewhere(reader)) == (errno.EBUSY, errno.EBUSY)
    with Capture(reader.control, zvmlab_dir / "sets") as capture:
        deliver(reader.control, "sample", small(5))
        ending = child.process.wait()
        assert (ending.status, ending.stdout) == (0, capture.next().stream)
    assert service_paths(reader) == []
    assert opened(reader) == 0


@pytest.mark.requirement("M29")
def test_duplicate_keeps_it_open_ebusy(monreader: Guest, zvmlab_dir: Path) -> None:
    """The descriptor is duplicated and closed: the duplicate reads on, open fails until it goes."""
    fd = monreader.agent.open(DEVICE, os.O_RDONLY).check()
    copy = monreader.agent.dup(fd).check()
    monreader.agent.close(fd).check()
    assert opened(monreader) == errno.EBUSY
    assert reads_next(monreader, copy, zvmlab_dir)
    monreader.agent.close(copy).check()
    assert service_paths(monreader) == []
    assert opened(monreader) == 0


@pytest.mark.requirement("M29")
@pytest.mark.parametrize("number", (signal.SIGKILL, signal.SIGTERM))
def test_holder_is_killed_and_nothing_is_ebusy(reader: Guest, number: signal.Signals) -> None:
    """The process that has the device open is killed, asleep in read: the next open succeeds."""
    for _ in range(3):
        holder = RunningReader.start(reader.agent, opening(PLENTY))
        holder.await_sleep(READ)
        assert opened(reader) == errno.EBUSY
        holder.process.signal(number)
        assert holder.process.wait().signal == number
        assert service_paths(reader) == []
    assert opened(reader) == 0
