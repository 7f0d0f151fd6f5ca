# SPDX-License-Identifier: MIT
"""Readers in processes of their own: programs/reader.c."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from waiting import fair

from zvmlab.agent.agent import Agent, Process
from zvmlab.base.errors import Timeout
from zvmlab.monitor.monitor import DEVICE
from zvmlab.monitor.steps import await_sleep

if TYPE_CHECKING:
    from conftest import Build

PROGRAM = "/tmp/reader"
PID = "/tmp/reader.pid"
PLENTY = 1 << 30
"""More bytes than any set has: what ends the reading is the end of the set."""
_START_SECONDS = 60.0


def install(agent: Agent, program: Build) -> None:
    """Put the program into the guest."""
    agent.write_file(PROGRAM, program("reader").read_bytes(), 0o755)


def opening(size: int, end: str = "exit") -> list[str]:
    """Arguments of a reader that opens the device and reads up to so many bytes."""
    return [PROGRAM, "open", DEVICE, str(size), end]


def inheriting(fd: int, size: int, end: str = "exit") -> list[str]:
    """Arguments of a reader of a descriptor of the agent's."""
    return [PROGRAM, "fd", str(fd), str(size), end]


@dataclass(frozen=True)
class RunningReader:
    """A reader that has begun; *folder* is its own in /proc."""

    agent: Agent
    process: Process
    folder: str

    @classmethod
    def start(cls, agent: Agent, argv: Sequence[str], inherit: bool = False) -> RunningReader:
        """Start one; at its return it runs, but need not have opened the device."""
        agent.unlink(PID)
        process = agent.spawn(argv, inherit=inherit)
        limit = fair(_START_SECONDS)
        while True:
            try:
                text = agent.read_file(PID).decode()
            except FileNotFoundError:
                text = ""
            if text.endswith("\n"):
                return cls(agent, process, f"/proc/{int(text)}")
            if limit.over:
                raise Timeout(f"{' '.join(argv)} did not begin within {_START_SECONDS:g} s")

    def await_sleep(self, call: int) -> str:
        """Wait until it sleeps in that system call; its state."""
        return await_sleep(self.agent, self.folder, call)
