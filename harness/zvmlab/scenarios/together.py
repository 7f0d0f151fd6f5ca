# SPDX-License-Identifier: MIT
"""Scenarios of several guests on one CP, which is a process of its own (zvmlab.guest.system).

    @together("conversation", "ALICE connects an AF_IUCV socket to BOB.", users={"ALICE": {}, "BOB": {}})
    def conversation(context: Together) -> None:
        context.note("names", text=context.cp("ALICE", "QUERY NAMES"))

Steps are noted as in a scenario of one guest (zvmlab.scenarios.context), and no step may sleep for
good: any of the guests may end at any moment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from zvmlab.agent.results import LogLine
from zvmlab.agent.worker import Worker
from zvmlab.base.errors import UsageError
from zvmlab.guest.config import QEMU, GuestConfig
from zvmlab.guest.guest import Guest
from zvmlab.scenarios.outcome import Outcome, Step, normal_log

PATIENCE = 60.0
"""How long a step waits for the guests, however slow the machine is."""
_STUCK_SECONDS = 60.0
"""A system call that takes so long more sleeps for good."""
_WORKER = "scenario"


class Together:
    """The tools of a scenario: its guests, by their user IDs, and a thread in each.

    *patience* is how long a step waits for what another guest does.
    """

    def __init__(self, guests: Mapping[str, Guest], patience: float = PATIENCE) -> None:
        self.patience = patience
        self.steps: list[Step] = []
        self._guests = dict(guests)
        self._log_starts = {
            userid: guest.agent.log_position() for userid, guest in self._guests.items()
        }

    @property
    def guests(self) -> Mapping[str, Guest]:
        """Those that are there."""
        return MappingProxyType(self._guests)

    def has_gone(self, userid: str) -> None:
        """Its machine has ended."""
        del self._guests[userid], self._log_starts[userid]

    def has_come(self, userid: str, guest: Guest) -> None:
        """Another one of that user has booted; all of its log counts."""
        self._guests[userid], self._log_starts[userid] = guest, 0

    def worker(self, userid: str) -> Worker:
        """The scenario's thread in that guest."""
        worker = self._guests[userid].agent.worker(_WORKER)
        worker.timeout = self.patience + _STUCK_SECONDS
        return worker

    def note(self, what: str, **result: Any) -> None:
        """Add a step; values must be JSON's and the same in each run."""
        self.steps.append(Step(what, result))

    def logs(self) -> dict[str, list[LogLine]]:
        """Of each guest: its kernel's log since the beginning."""
        return {
            userid: guest.agent.dmesg(self._log_starts[userid])
            for userid, guest in self._guests.items()
        }

    def outcome(self, name: str) -> Outcome:
        """All steps so far, and what the kernels logged since the beginning."""
        lines = [
            f"{userid}: {line}"
            for userid, log in self.logs().items()
            for line in normal_log(one.text for one in log)
        ]
        return Outcome(name, tuple(self.steps), tuple(lines))


@dataclass(frozen=True)
class TogetherScenario:
    """A scenario of several guests: its name, one sentence, what it does."""

    name: str
    text: str
    run: Callable[[Together], None]
    users: Mapping[str, Mapping[str, Any]]
    """Fields of each guest's configuration by its user ID, in the order of their log-on."""
    usable: Callable[[Together], str | None]
    """Asked after a fault: what does not work any more; None: all works."""

    def configs(self, usual: GuestConfig) -> dict[str, GuestConfig]:
        """Guests like *usual* as the scenario needs them; UsageError if there cannot be any."""
        if usual.backend != QEMU:
            raise UsageError(f"{usual.backend} cannot run scenario {self.name}; {QEMU} can")
        made = {}
        for userid, fields in self.users.items():
            given: dict[str, Any] = {**fields, "cp": {**fields.get("cp", {}), "userid": userid}}
            made[userid] = usual._replace(**given)
        return made

    def partner(self, userid: str) -> str:
        """The other one of two; UsageError if there are not two."""
        others = [name for name in self.users if name != userid]
        if len(others) != 1:
            raise UsageError(f"scenario {self.name} has {len(self.users)} users; a sweep needs two")
        return others[0]


def together(
    name: str,
    text: str,
    *,
    users: Mapping[str, Mapping[str, Any]],
    usable: Callable[[Together], str | None],
) -> Callable[[Callable[[Together], None]], TogetherScenario]:
    """Make a function of a Together a scenario; the arguments are the fields of TogetherScenario."""
    return lambda run: TogetherScenario(name, text, run, users, usable)
