# SPDX-License-Identifier: MIT
"""One opener at a time, whoever it is and however it goes."""

from __future__ import annotations

import errno
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from zvmlab.agent import Process
from zvmlab.guest import Guest
from zvmlab.monitor import DEVICE, Capture, deliver
from zvmlab.scenario import (
    READ,
    await_sleep,
    ended,
    open_device,
    service_paths,
    small,
)

if TYPE_CHECKING:
    from tests.e2e.conftest import Build

READER = "/tmp/reader"
PLENTY = str(1 << 20)
# Threads that open at once, as many as the agent has beside its own.
THREADS = 15


@pytest.fixture
def reader(monreader: Guest, program: Build) -> Guest:
    """The guest with the program reader in /tmp."""
    monreader.agent.write_file(READER, program("reader").read_bytes(), 0o755)
    return monreader


def second_open(guest: Guest) -> int:
    """errno of opening the device in the agent's process; it is closed at once."""
    result = guest.agent.open(DEVICE, os.O_RDONLY)
    if result.ret >= 0:
        guest.agent.close(result.ret).check()
    return result.errno


def asleep(guest: Guest, process: Process) -> Process:
    """Wait until the program reader sleeps in read."""
    guest.control.wait_event("monitor-connected")
    return process


def reads_next(guest: Guest, fd: int, folder: Path) -> bool:
    """Does the descriptor give the next set, byte for byte?"""
    with Capture(guest.control, folder / "sets") as capture:
        deliver(guest.control, "sample", small(3))
        found = ended(guest.agent.read_until(fd, 4096))
        return found.errno == 0 and found.stream == capture.next().stream
