# SPDX-License-Identifier: MIT
"""Hercules is told to end: it does so in order, whatever it was doing, and says who wanted it.

These run whatever --backend says, on bookworm's kernel: not every kernel is one for Hercules.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import wait_until

from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest

pytestmark = [
    pytest.mark.skipif(
        shutil.which("hercules") is None, reason="Hercules is not installed: ci/setup.sh hercules"
    ),
    # The first guest may have to be booted.
    pytest.mark.timeout(600),
    pytest.mark.first_kernel(always=True),
]
SECONDS = 60
# What Hercules says when it takes its machine apart.
TAKEN_APART = "Releasing configuration"
GUEST_ENDED = "zvmlab: the guest has ended"
LINES = 50


@pytest.fixture
def late_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = tmp_path / "late_threads.so"
    source = Path(__file__).with_name("late_threads.c")
    argv = ["cc", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"]
    subprocess.run(argv, check=True, timeout=SECONDS)
    monkeypatch.setenv("LD_PRELOAD", str(library))


@pytest.fixture
def linux(zvmlab_dir: Path) -> Iterator[Guest]:
    """It has told the service processor that it takes a request to end."""
    with Guest(GuestConfig(backend="hercules"), zvmlab_dir) as guest:
        guest.boot()
        guest.emulator.expect_exit()
        yield guest


def _ask(guest: Guest) -> None:
    os.kill(guest.emulator.pid, signal.SIGTERM)


def _ended(guest: Guest) -> str:
    """What it said until its end, which was not by a fault of its own."""
    assert guest.emulator.wait(SECONDS) == 0, guest.emulator.log.read_text()
    return guest.emulator.log.read_text()


def test_guest_ends_before_hercules_waits_for_it(late_threads: None, linux: Guest) -> None:
    """Hercules' own way: threads take the machine apart while the first one ends the process."""
    _ask(linux)
    said = _ended(linux)
    assert GUEST_ENDED in said
    assert TAKEN_APART not in said


def test_guest_that_is_held_is_not_waited_for(linux: Guest) -> None:
    linux.machine.pause()
    _ask(linux)
    assert GUEST_ENDED not in _ended(linux)


def test_who_asks_again_does_not_wait_for_the_guest(linux: Guest) -> None:
    """Linux leaves it to its first process, the agent, which does nothing about it."""
    linux.agent.write_file("/proc/sys/kernel/ctrl-alt-del", b"0")
    _ask(linux)
    assert linux.agent.read_file("/proc/sys/kernel/ctrl-alt-del") == b"0\n"

    def asked_again() -> bool:
        _ask(linux)
        return not linux.emulator.alive

    # Two signals at once may be one.
    wait_until(asked_again, "Hercules has ended")
    assert GUEST_ENDED not in _ended(linux)


def test_word_at_the_panel_is_a_request(linux: Guest) -> None:
    linux.emulator.command("quit")
    assert GUEST_ENDED in _ended(linux)


def test_lines_before_the_last_one_are_in_the_log(linux: Guest) -> None:
    """Hercules ends its log without what has not been read by then."""
    for number in range(LINES):
        linux.emulator.command(f"* line {number} of many")
    linux.emulator.command("quit")
    said = _ended(linux)
    assert [number for number in range(LINES) if f"line {number} of many" not in said] == []
