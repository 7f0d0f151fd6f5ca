# SPDX-License-Identifier: MIT
"""Cases by chance: new ones by the grammar, and changes of those that have reached something.

    case = make(target, corpus, f"{seed} {number}")

The same seed gives the same case, as long as the corpus is the same.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from zvmlab.base.errors import UsageError
from zvmlab.fuzz.case import MAX_SCHEDULE, Case
from zvmlab.fuzz.grammar import (
    STEPS_MAX,
    Steps,
    Target,
    asked,
    following,
    fresh,
    more,
    without_asked,
)
from zvmlab.scenarios.steps import NAME, THREADS, check_step

_FRESH = 0.2
"""So often a case is new although there is a corpus."""
_SAME_SCHEDULE = 0.5
"""So often a changed case keeps the schedule of what it was."""
_CHANGES = (1, 4)
_FIXED = (
    *("do", "call", "execute", "function", "thread", "peer", "cpu", "module", "params"),
    *("where", "text", "hex", "kind", "point"),
)
"""What a change of one value leaves as it is: members of steps and requests."""
_NUMBERS = (0, 1, 2, 7, 8, 9, 255, 256, 4095, 4096, 65535, 65536, (1 << 31) - 1, 1 << 31)

Change = Callable[[Target, Steps, Sequence[Case], random.Random], None]
"""It changes the steps in their place, if it can."""


def make(target: Target, corpus: Sequence[Case], seed: str, schedules: bool = False) -> Case:
    """A case; *corpus* are those of the same target that have reached something.

    *schedules*: a seed of its own decides when the next CPU has its turn.
    """
    rng = random.Random(seed)
    schedule = rng.randint(1, MAX_SCHEDULE) if schedules else 0
    cpus = max(2, target.cpus) if schedules else target.cpus
    if not corpus or rng.random() < _FRESH:
        steps = fresh(target, rng)
    else:
        chosen = _chosen(corpus, rng)
        if schedules and chosen.schedule and rng.random() < _SAME_SCHEDULE:
            schedule = chosen.schedule
        steps = without_asked(target, copy.deepcopy([dict(step) for step in chosen.steps]))
        for _ in range(rng.randint(*_CHANGES)):
            rng.choice(_ALL)(target, steps, corpus, rng)
        steps = steps[:STEPS_MAX] or fresh(target, rng)
    steps += asked(target, steps)
    return Case(target.name, tuple(steps), tuple(target.mark), cpus, schedule)


def _chosen(corpus: Sequence[Case], rng: random.Random) -> Case:
    """Half of the time one of those that came last: what they have reached is the least known."""
    if rng.random() < 0.5:
        return rng.choice(corpus[-max(1, len(corpus) // 4) :])
    return rng.choice(corpus)


def _insert(target: Target, steps: Steps, _corpus: Sequence[Case], rng: random.Random) -> None:
    at = rng.randint(0, len(steps))
    steps[at:at] = more(target, steps[:at], rng)


def _delete(_target: Target, steps: Steps, _corpus: Sequence[Case], rng: random.Random) -> None:
    if steps:
        at = rng.randrange(len(steps))
        del steps[at : at + rng.randint(1, 3)]


def _repeat(_target: Target, steps: Steps, _corpus: Sequence[Case], rng: random.Random) -> None:
    if steps:
        step = copy.deepcopy(rng.choice(steps))
        steps.insert(rng.randint(0, len(steps)), step)


def _splice(target: Target, steps: Steps, corpus: Sequence[Case], rng: random.Random) -> None:
    other = without_asked(target, [dict(step) for step in rng.choice(corpus).steps])
    if other:
        at = rng.randint(0, len(steps))
        rest = copy.deepcopy(other[rng.randrange(len(other)) :])
        steps[at:] = following(steps[:at], rest, rng)


def _swap(_target: Target, steps: Steps, _corpus: Sequence[Case], rng: random.Random) -> None:
    if len(steps) > 1:
        at = rng.randrange(len(steps) - 1)
        steps[at], steps[at + 1] = steps[at + 1], steps[at]


def _move(target: Target, steps: Steps, _corpus: Sequence[Case], rng: random.Random) -> None:
    """Another thread does it."""
    if steps:
        at = rng.randrange(len(steps))
        _try(target, steps, at, {**steps[at], "thread": rng.choice(THREADS)})


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """The containers and keys of all numbers, and of the names of results."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in _FIXED:
                continue
            yield from _leaf(value, key, inner)
    elif isinstance(value, list):
        for key, inner in enumerate(value):
            yield from _leaf(value, key, inner)


def _leaf(container: Any, key: Any, inner: Any) -> Iterator[tuple[Any, Any]]:
    number = isinstance(inner, int) and not isinstance(inner, bool)
    if number or isinstance(inner, str) and NAME.fullmatch(inner):
        yield container, key
    else:
        yield from _places(inner)


def _value(target: Target, steps: Steps, _corpus: Sequence[Case], rng: random.Random) -> None:
    """A number, or the name of a result, is another one."""
    if not steps:
        return
    at = rng.randrange(len(steps))
    step = copy.deepcopy(steps[at])
    # Names of a request are CP's.
    places = [
        (container, key)
        for container, key in _places(step)
        if step["do"] != "request" or isinstance(container[key], int)
    ]
    if not places:
        return
    container, key = rng.choice(places)
    old = container[key]
    if isinstance(old, int):
        container[key] = rng.choice((old + 1, old - 1, old ^ 1 << rng.randrange(8), *_NUMBERS))
    else:
        known = sorted({str(one["as"]) for one in steps if "as" in one})
        container[key] = rng.choice(known) if known else old
    _try(target, steps, at, step)


def _try(target: Target, steps: Steps, at: int, step: dict[str, Any]) -> None:
    """Put a step in place of another, if it is one."""
    try:
        check_step("", step, target.cpus)
    except UsageError:
        return
    steps[at] = step


_ALL: tuple[Change, ...] = (
    _insert,
    _insert,
    _insert,
    _delete,
    _repeat,
    _splice,
    _swap,
    _move,
    _value,
    _value,
    _value,
)
