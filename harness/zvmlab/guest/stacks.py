# SPDX-License-Identifier: MIT
"""Where a guest's tasks are stuck, for time-out reports.

The agent is asked first; sysrq-t puts the stack of every task into the kernel's log.  A guest
whose agent does not answer cannot be asked: then the emulator says where its CPUs are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Protocol

from zvmlab.agent.agent import Agent
from zvmlab.base.errors import Timeout, ZvmlabError
from zvmlab.guest.emulator import HALTED, Halted

_ASK_SECONDS = 30.0
_SYSRQ = "/proc/sysrq-trigger"
_TASK = re.compile(
    r"task:(?P<name>.*\S) +state:(?P<state>\S).* pid:(?P<pid>\d+) .*ppid:(?P<ppid>\d+)"
)
_FRAME = re.compile(r"\s*(?:Call Trace:|\[<[0-9a-f]+>\] |\(\[<)")
_KTHREADD = 2
# The agent's threads, waiting for requests, and the one that asks.
_IDLE = re.compile(r"\b(?:futex_wait|iucv_sock_recvmsg|do_wait|sysrq_handle_showstate)\b")
_AGENT = "init"
HEADING = "stacks of the tasks that are blocked, or programs:"
_CPUS = "the agent does not answer; the emulator says of the CPUs:"


class Emulator(Protocol):
    """The emulator, asked for its CPUs."""

    def registers(self) -> str:
        """Where each CPU is."""


class Asked(Protocol):
    """A guest, as far as it is asked here."""

    @property
    def alive(self) -> bool:
        """Does the emulator run?"""

    @property
    def halted(self) -> bool:
        """Does the emulator stand still?"""

    @property
    def can_answer(self) -> bool:
        """Is there an agent that has not been given up?"""

    @property
    def agent(self) -> Agent:
        """The program within the guest."""

    @property
    def machine(self) -> Emulator:
        """The emulator's own commands."""


def _tasks(log: Sequence[str]) -> Iterator[list[str]]:
    """The lines of each task."""
    task: list[str] = []
    for line in log:
        if _TASK.match(line):
            if task:
                yield task
            task = [line]
        elif task and _FRAME.match(line):
            task.append(line)
        elif task:
            yield task
            task = []
    if task:
        yield task


def blocked(log: Sequence[str]) -> list[str]:
    """From the output of sysrq-t: tasks that sleep uninterruptibly, and all tasks of programs."""
    found: list[str] = []
    for lines in _tasks(log):
        task = _TASK.match(lines[0])
        assert task is not None, "that is how a task begins"
        of_kernel = _KTHREADD in (int(task["pid"]), int(task["ppid"]))
        idle = task["name"] == _AGENT and _IDLE.search("\n".join(lines)) is not None
        if task["state"] == "D" or not (of_kernel or idle):
            found += lines
    return found


def stacks(guest: Asked) -> str:
    """The stacks of its tasks, or its CPUs' registers; never raises."""
    if not guest.alive:
        return ""
    try:
        if guest.can_answer:
            worker = guest.agent.looker(_ASK_SECONDS)
            before = worker.log_position()
            worker.write_file(_SYSRQ, b"t")
            found = blocked([line.text for line in worker.dmesg(before)])
            return "\n".join([HEADING, *(found or ["none"])])
    except (ZvmlabError, OSError):
        pass  # It is the emulator's turn.
    try:
        return f"{_CPUS}\n{guest.machine.registers()}"
    except (ZvmlabError, OSError) as error:
        return f"neither the agent nor the emulator says where the guest is: {error}"


def has_stacks(error: BaseException) -> bool:
    """Does it take them along already?"""
    notes = getattr(error, "__notes__", [])
    return any(note.startswith((HEADING, _CPUS)) for note in notes)


def add_stacks(error: BaseException | None, guest: Asked) -> None:
    """A time-out takes along where the guest is, once."""
    if not isinstance(error, Timeout) or has_stacks(error):
        return
    if guest.halted:
        if not isinstance(error, Halted):
            error.add_note(HALTED)
    else:
        text = stacks(guest)
        if text:
            error.add_note(text)
