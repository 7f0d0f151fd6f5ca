# SPDX-License-Identifier: MIT
"""How guests end when something goes wrong: told apart, in time, with nothing left behind.

The guests have no operating system, so that this costs a second in any emulator.  What a
kernel does to end is in test_reset.py.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from zvmlab.base.errors import EmulatorError, Timeout
from zvmlab.guest.backends import backend_of
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest, Stage
from zvmlab.guest.run_dir import running_guests

if TYPE_CHECKING:
    from conftest import Build

pytestmark = pytest.mark.representative
# Generous: what is waited for takes milliseconds, unless the machine is busy.
SECONDS = 60.0
BOOT_SECONDS = 0.5
# Ends with the guest in its first wait; the emulator's process id is its only line.
HARNESS = """
import sys, time
from zvmlab.guest.guest import Guest
from zvmlab.guest.config import GuestConfig

with Guest(GuestConfig(kernel=sys.argv[1], backend=sys.argv[2])) as guest:
    guest.resume()
    print(guest.emulator.pid, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def guest_config(bare: Build) -> GuestConfig:
    """A program that waits for a message, which nobody sends: its agent never answers."""
    return GuestConfig(kernel=str(bare("interrupt")), boot_seconds=BOOT_SECONDS)


def left(guest: Guest) -> list[str]:
    """The remains of a guest: its process, its run directory."""
    found = [running.name for running in running_guests() if running.name == guest.name]
    return [*found, *(["process"] if guest.emulator.alive else [])]


def test_agent_that_never_answers_is_a_timeout(made_guest: Guest) -> None:
    seconds = BOOT_SECONDS * backend_of(made_guest.config.backend).slowness
    made_guest.start()
    began = time.monotonic()
    with pytest.raises(Timeout, match=f"agent did not answer within {seconds:g} s") as caught:
        made_guest.boot()
    assert seconds <= time.monotonic() - began < seconds + SECONDS
    assert caught.value.exit_code == 124
    assert (made_guest.stage, left(made_guest)) == (Stage.RUNNING, [made_guest.name, "process"])
    made_guest.stop()
    assert (made_guest.stage, left(made_guest)) == (Stage.OFF, [])


def test_emulator_that_is_killed_is_no_timeout(made_guest: Guest) -> None:
    made_guest.config = made_guest.config._replace(boot_seconds=60)
    made_guest.resume()
    pid = made_guest.emulator.pid
    began = time.monotonic()
    threading.Timer(0.2, os.kill, (pid, signal.SIGKILL)).start()
    with pytest.raises(EmulatorError, match="the emulator was killed by SIGKILL") as caught:
        made_guest.boot()
    assert time.monotonic() - began < SECONDS
    assert caught.value.exit_code == 1
    made_guest.emulator.expect_exit()
    made_guest.stop()
    assert left(made_guest) == []


def test_emulator_ends_with_a_harness_that_is_killed(made_guest: Guest) -> None:
    config = made_guest.config
    words = [sys.executable, "-c", HARNESS, config.kernel, config.backend]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as harness:
        try:
            assert harness.stdout is not None
            ready, _, _ = select.select([harness.stdout], [], [], SECONDS)
            assert ready, "the guest was not started in time"
            emulator = os.pidfd_open(int(harness.stdout.readline()))
            assert select.select([emulator], [], [], 0)[0] == []
        finally:
            harness.kill()
    with os.fdopen(emulator) as ended:
        assert select.select([ended], [], [], SECONDS)[0] == [ended]


def test_emulator_that_is_stopped_in_the_middle_leaves_nothing(made_guest: Guest) -> None:
    made_guest.resume()
    made_guest.control.wait_event("console", SECONDS, user="OPERATOR")
    began = time.monotonic()
    made_guest.stop()
    assert time.monotonic() - began < SECONDS
    assert left(made_guest) == []
    made_guest.stop()  # harmless the second time
