# SPDX-License-Identifier: MIT
"""Time-out reports show where a guest's tasks are stuck."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from zvmlab.agent.results import LogLine
from zvmlab.base.errors import EmulatorError, Timeout, ZvmlabError
from zvmlab.guest.emulator import Halted
from zvmlab.guest.stacks import add_stacks, blocked, has_stacks, stacks

SLEEPER = [
    "task:cat             state:S stack:0     pid:80    ppid:76     flags:0x00000001",
    "Call Trace:",
    " [<0000000000a29acc>] __schedule+0x3f4/0xa08 ",
    "([<0000000000a2a142>] schedule+0x62/0x108)",
    " [<000003ff7fd1204c>] mon_read+0x4c/0x1000 [monreader]",
]
STUCK = [
    "task:kworker/0:1     state:D stack:0     pid:11    tgid:11    ppid:2      task_flags:0x1",
    "Call Trace:",
    " [<000003ffff1a8684>] __schedule+0x4ec/0x1248 ",
]
IDLE_KERNEL = [line.replace("state:D", "state:I") for line in STUCK]
AGENT = [
    "task:init            state:S stack:0     pid:90    ppid:1      flags:0x00000000",
    "Call Trace:",
    " [<000003ff7e6466b8>] iucv_sock_recvmsg+0x78/0x588 [af_iucv] ",
]
AGENT_STUCK = [AGENT[0].replace("pid:90", "pid:91"), AGENT[1], SLEEPER[4]]
ASKER = [
    "task:init            state:R  running task     stack:0     pid:92    ppid:1      flags:0x0",
    "Call Trace:",
    " [<000003fffed54d96>] sysrq_handle_showstate+0x26/0x38 ",
]
LOG = [
    *("sysrq: Show State", *IDLE_KERNEL, *SLEEPER, *AGENT, *STUCK, *AGENT_STUCK, *ASKER),
    *("Sched Debug Version: v0.11, 6.1.0", " S            cat    80 ", "cpu#0", "  [<0>] no frame"),
]


def test_tasks_that_are_blocked_and_all_of_programs_are_shown() -> None:
    assert blocked(LOG) == [*SLEEPER, *STUCK, *AGENT_STUCK]
    assert blocked(["sysrq: Show State", *IDLE_KERNEL, *AGENT, *ASKER]) == []


class Worker:
    """Answers as the agent does; sysrq-t makes the kernel log."""

    def __init__(self) -> None:
        self.written: list[tuple[str, bytes]] = []

    def log_position(self) -> int:
        return 7

    def write_file(self, path: str, data: bytes) -> None:
        self.written.append((path, data))

    def dmesg(self, since: int) -> list[LogLine]:
        assert self.written == [("/proc/sysrq-trigger", b"t")]
        return [LogLine(number, 6, 1.0, text) for number, text in enumerate(LOG, since)]


def _guest(worker: Any, alive: bool = True, can_answer: bool = True, halted: bool = False) -> Any:
    def looker(_seconds: float) -> Any:
        if isinstance(worker, Exception):
            raise worker
        return worker

    agent = SimpleNamespace(looker=looker)
    machine = SimpleNamespace(registers=lambda: "PSW=0")
    states = {"alive": alive, "can_answer": can_answer, "halted": halted}
    return SimpleNamespace(**states, agent=agent, machine=machine)


def test_the_agent_is_asked() -> None:
    first, *rest = stacks(_guest(Worker())).splitlines()
    assert first == "stacks of the tasks that are blocked, or programs:"
    assert rest == blocked(LOG)


@pytest.mark.parametrize(
    "guest",
    [
        _guest(Timeout("no answer")),
        _guest(OSError("no sysrq")),
        _guest(Worker(), can_answer=False),
    ],
    ids=["silent", "refused", "held"],
)
def test_the_emulator_is_asked_if_the_agent_cannot_say(guest: Any) -> None:
    assert stacks(guest).splitlines() == [
        "the agent does not answer; the emulator says of the CPUs:",
        "PSW=0",
    ]


def test_nobody_can_be_asked() -> None:
    assert stacks(_guest(Worker(), alive=False)) == ""
    guest = _guest(Timeout("no answer"))

    def broken() -> str:
        raise EmulatorError("QEMU is gone")

    guest.machine.registers = broken
    assert stacks(guest).endswith("nor the emulator says where the guest is: QEMU is gone")


def test_a_time_out_takes_them_along_once_and_nothing_else_does() -> None:
    late, other = Timeout("too late"), ZvmlabError("something else")
    for error in (late, late, other, None):
        add_stacks(error, _guest(Worker()))
    assert len(late.__notes__) == 1 and has_stacks(late)
    assert not has_stacks(other)


def test_an_emulator_that_stands_still_is_not_asked() -> None:
    """It says so once; the error may say it already."""
    guest = _guest(None, halted=True)
    error = Timeout("no answer")
    add_stacks(error, guest)
    assert error.__notes__ == ["the emulator is stopped, as by SIGSTOP"]
    said = Halted("the emulator is stopped, as by SIGSTOP; 'kill -CONT 7' lets it go on")
    add_stacks(said, guest)
    assert not hasattr(said, "__notes__")
