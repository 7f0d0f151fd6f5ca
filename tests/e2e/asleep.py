# SPDX-License-Identifier: MIT
"""Threads of the agent that sleep in a system call: seen in /proc, waited for."""

from __future__ import annotations

import contextlib
import time

from zvmlab.agent import Agent, Worker
from zvmlab.guest import Guest

# System call numbers of s390x.
NR_READ = 3
_WAIT_SECONDS = 10


def await_file(agent: Agent, path: str) -> bytes:
    """The contents of a file that a program of the guest is about to write, a line at least."""
    limit = time.monotonic() + _WAIT_SECONDS
    while True:
        with contextlib.suppress(FileNotFoundError):
            if (data := agent.read_file(path)).endswith(b"\n"):
                return data
        assert time.monotonic() < limit, f"{path} was not written"


class Thread:
    """A thread of a process in the guest, as /proc shows it."""

    def __init__(self, guest: Guest, process: int, thread: int) -> None:
        self._agent = guest.agent
        self._folder = f"/proc/{process}/task/{thread}"

    @classmethod
    def of(cls, guest: Guest, worker: Worker) -> Thread:
        """The thread that executes a worker's requests."""
        number = int(worker.read_file("/proc/thread-self/stat").decode().split()[0])
        return cls(guest, guest.agent.info.pid, number)

    def system_call(self) -> str:
        """Number of the system call in which it sleeps; "running" if it does not."""
        return self._agent.read_file(f"{self._folder}/syscall").decode().split()[0]

    def sleeps(self) -> int:
        """How often it has gone to sleep."""
        status = self._agent.read_file(f"{self._folder}/status").decode()
        line = next(text for text in status.splitlines() if text.startswith("voluntary_ctxt"))
        return int(line.split()[1])

    def await_sleep_in(self, call: int) -> None:
        """Wait until it sleeps in this system call."""
        limit = time.monotonic() + _WAIT_SECONDS
        while self.system_call() != str(call):
            assert time.monotonic() < limit, f"no sleep in system call {call}"
