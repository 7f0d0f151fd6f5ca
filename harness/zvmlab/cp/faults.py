# SPDX-License-Identifier: MIT
"""Fault rules: what CP is to do wrong, where, when and how often (docs/faults.md).

    with armed(guest.control, Fault("iucv.reply", "rc", 9, nth=3)) as rules:
        ...
    assert rules[0].fired == 1
"""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from zvmlab.base.errors import UsageError
from zvmlab.cp.control import Control

_PARTS_PER_MILLION = 1_000_000
_WHEN = ("nth", "every", "probability")


@dataclass(frozen=True)
class Fault:
    """One rule.

    *point* and *kind* are what ``zvmlab faults`` lists; *value* is the kind's
    (condition code, return code, …), *offset* the byte that ``corrupt`` changes.

    Only calls count that match all that is given of *path* (id on the guest's
    side, or on the peer's at ``peer.*``), *name* (partner, service, segment or
    first word of a CP command), *user* (whose call it is) and *type* (IPTYPE of
    an interruption, 1 to 9).  Of these it fires at the *nth*, at each *every*-th,
    with a *probability* of more than 0 and at most 1 (drawn from the machine's
    seed), or without any of the three at all of them; at most *times* times (0:
    no limit).
    """

    point: str
    kind: str
    value: int = 0
    offset: int = 0
    path: int | None = None
    name: str | None = None
    user: str | None = None
    type: int | None = None
    nth: int | None = None
    every: int | None = None
    probability: float | None = None
    times: int = 0

    def __post_init__(self) -> None:
        given = [word for word in _WHEN if getattr(self, word) is not None]
        if len(given) > 1:
            raise UsageError(f"{given[0]} and {given[1]} cannot be used together")
        for word in ("nth", "every"):
            count = getattr(self, word)
            if count is not None and not 1 <= count < 1 << 32:
                raise UsageError(f"{word} is {count}; it counts from 1")
        if self.probability is not None and not 0 < self.probability <= 1:
            raise UsageError(f"invalid probability: {self.probability:g} (above 0, at most 1)")

    def arguments(self) -> dict[str, Any]:
        """Arguments of the control command ``fault-arm``."""
        words = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)
            if getattr(self, field.name) != field.default and field.name not in _WHEN
        }
        for word in ("nth", "every"):
            if getattr(self, word) is not None:
                words |= {"when": word, "n": getattr(self, word)}
        if self.probability is not None:
            parts = max(1, round(self.probability * _PARTS_PER_MILLION))
            words |= {"when": "probability", "n": parts}
        return words

    def __str__(self) -> str:
        """Short, for people: what differs from the defaults."""
        words = [f"{self.point} {self.kind}"]
        if self.value:
            words.append(str(self.value))
        for field in dataclasses.fields(self)[3:]:
            value = getattr(self, field.name)
            if value != field.default:
                words.append(f"{field.name}={value}")
        return " ".join(words)


@dataclass
class ArmedFault:
    """A rule that is, or was, armed: its number, and the calls it matched and fired at."""

    fault: Fault
    rule: int
    matched: int = 0
    fired: int = 0


def _say_seed(control: Control) -> None:
    seed = int(control.execute("query-cp")["seed"], 16)
    print(f"zvmlab: faults with a probability are drawn from seed {seed}", file=sys.stderr)


def arm(control: Control, *faults: Fault) -> list[ArmedFault]:
    """Arm all of them, or none if CP refuses one; says the seed first if one is a matter of chance.

    The machine's seed is the option ``seed`` of CP; the same one, and the same
    calls, make the rules fire at the same calls again.
    """
    rules: list[ArmedFault] = []
    if any(fault.probability is not None for fault in faults):
        _say_seed(control)
    try:
        for fault in faults:
            answer = control.execute("fault-arm", **fault.arguments())
            rules.append(ArmedFault(fault, answer["rule"]))
    except BaseException:
        disarm(control, rules)
        raise
    return rules


def count(control: Control, rules: list[ArmedFault]) -> None:
    """Bring ``matched`` and ``fired`` up to date; rules that are gone stay as they were."""
    found = {status["rule"]: status for status in control.execute("query-faults")["rules"]}
    for rule in rules:
        if rule.rule in found:
            rule.matched = found[rule.rule]["matched"]
            rule.fired = found[rule.rule]["fired"]


def disarm(control: Control, rules: list[ArmedFault]) -> None:
    """Count, then disarm those of them that are still armed."""
    found = {status["rule"] for status in control.execute("query-faults")["rules"]}
    count(control, rules)
    for rule in rules:
        if rule.rule in found:
            control.execute("fault-disarm", rule=rule.rule)


@contextlib.contextmanager
def armed(control: Control, *faults: Fault) -> Iterator[list[ArmedFault]]:
    """Armed within the block; afterwards each tells how often it matched and fired."""
    rules = arm(control, *faults)
    try:
        yield rules
    except BaseException:
        # The connection may be what has failed: the first error is the one to report.
        with contextlib.suppress(Exception):
            disarm(control, rules)
        raise
    disarm(control, rules)
