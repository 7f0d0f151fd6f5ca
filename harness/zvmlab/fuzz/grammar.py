# SPDX-License-Identifier: MIT
"""The grammar of a target: tests/fuzz/kernel/TARGET.toml as Python sees it.

    target = find("af_iucv")
    rng = random.Random("7 1")
    steps = fresh(target, rng)

The file has the machine, the steps that prepare it, and phrases: steps with "$NAME" wherever a
value is to be drawn (docs/kernel-fuzzing.md).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zvmlab.base.errors import CannotRun, UsageError
from zvmlab.base.hints import did_you_mean
from zvmlab.base.plain import shortened
from zvmlab.base.toml_file import parse
from zvmlab.base.tree import TREE
from zvmlab.guest.names import MAX_CPUS, QEMU
from zvmlab.scenarios.steps import check_steps, names_used, thread_of

FOLDER = Path("tests/fuzz/kernel")
KNOWN = "known"
"""Of the same folder; no target."""
_KEYS = {
    "text": str,
    "cover": list,
    "modules": list,
    "segments": list,
    "named": list,
    "stay": list,
    "gives_back": bool,
    "networks": list,
    "keeps": list,
    "services": dict,
    "cp": dict,
    "cpus": int,
    "mark": list,
    "usable": list,
    "asks": list,
    "values": dict,
    "phrase": list,
}
_NEEDED = ("text", "cover", "phrase")
_PHRASE = {"weight", "once", "steps"}
_DEPTH = 20
_KNOWN_NAME = 0.9
"""So often a name that nobody gives becomes one that an earlier step gives."""
EACH = "$each"
_LOOKS = 50
_PHRASES = (1, 8)
"""So many phrases a new case has."""
STEPS_MAX = 40
"""And so many steps, or a few more."""

Steps = list[dict[str, Any]]


@dataclass(frozen=True)
class Phrase:
    """Steps that belong together; of the values *once*, all of them have the same."""

    steps: Sequence[Mapping[str, Any]]
    weight: int
    once: tuple[str, ...]


@dataclass(frozen=True)
class Target:
    """What is fuzzed, and how."""

    name: str
    text: str
    cover: tuple[str, ...]
    """The code that leads it, as Guest.cover() takes it."""
    phrases: tuple[Phrase, ...]
    values: Mapping[str, Any]
    mark: Steps
    usable: Steps
    """What works after a case; each step says what it expects."""
    named: tuple[str, ...] = ()
    """Partners, segments and products that the steps are about (zvmlab.guest.bystanders)."""
    asks: Steps = field(default_factory=list)
    """What each case ends with, for each result that its calls name: EACH stands for the name."""
    stay: tuple[str, ...] = ()
    """Partners whose paths may still be there when all files are closed."""
    gives_back: bool = False
    """A path that its partner has severed is given back at once, not when a file is closed."""
    networks: tuple[tuple[str, ...], ...] = ()
    """Users of sockets, by their network: those of two networks do not reach each other."""
    keeps: tuple[str, ...] = ()
    """Files of numbers: what was written there is read there."""
    services: Mapping[str, str] = field(default_factory=dict)
    """Devices, and CP's service behind each: who reads learns that it has severed."""
    modules: tuple[str, ...] = ()
    segments: tuple[str, ...] = ()
    cp: Mapping[str, str] | None = None
    cpus: int = 1


def folder() -> Path:
    """The folder with the grammars of this clone."""
    found = TREE / FOLDER
    if not found.is_dir():
        raise CannotRun(f"{found} is missing; only a clone of zvmlab has the targets of fuzz")
    return found


def names(place: Path | None = None) -> list[str]:
    """All targets."""
    return sorted(file.stem for file in (place or folder()).glob("*.toml") if file.stem != KNOWN)


def find(name: str, place: Path | None = None) -> Target:
    """A target by its name; UsageError if there is none."""
    known = names(place)
    if name not in known:
        raise UsageError(
            f"there is no target {shortened(repr(name))} ({', '.join(known) or 'none'}){did_you_mean(name, known)}"
        )
    return load((place or folder()) / f"{name}.toml")


def load(file: Path) -> Target:
    """The target in a file; UsageError says what is wrong with it."""
    found = parse(file)
    for key in _NEEDED:
        if key not in found:
            raise UsageError(f"{file} has no '{key}'")
    for key, value in found.items():
        if key not in _KEYS:
            raise UsageError(f"{file} has an unknown '{key}'{did_you_mean(key, list(_KEYS))}")
        if not isinstance(value, _KEYS[key]) or isinstance(value, bool) != (_KEYS[key] is bool):
            raise UsageError(f"{file}: '{key}' is no {_KEYS[key].__name__}")
    return _target(file, found)


def _target(file: Path, found: dict[str, Any]) -> Target:
    cpus = found.get("cpus", 1)
    if not 1 <= cpus <= MAX_CPUS[QEMU]:
        raise UsageError(f"{file}: a guest has 1 to {MAX_CPUS[QEMU]} CPUs, not {cpus}")
    for key in ("cover", "modules", "segments", "named", "stay", "keeps"):
        if not all(isinstance(word, str) for word in found.get(key, [])):
            raise UsageError(f"{file}: '{key}' has something that is no text")
    if not all(isinstance(service, str) for service in found.get("services", {}).values()):
        raise UsageError(f"{file}: 'services' has something that is no text")
    for network in found.get("networks", []):
        if not isinstance(network, list) or not all(isinstance(user, str) for user in network):
            raise UsageError(f"{file}: 'networks' has something that is no list of users")
    if not all(isinstance(step, dict) for step in found.get("asks", [])):
        raise UsageError(f"{file}: 'asks' has something that is no step")
    target = Target(
        name=file.stem,
        text=found["text"],
        cover=tuple(found["cover"]),
        phrases=tuple(_phrase(file, number, one) for number, one in enumerate(found["phrase"], 1)),
        values=found.get("values", {}),
        mark=check_steps(f"{file}, mark", found.get("mark", []), cpus),
        usable=check_steps(f"{file}, usable", found.get("usable", []), cpus),
        asks=found.get("asks", []),
        named=tuple(found.get("named", ())),
        stay=tuple(found.get("stay", ())),
        gives_back=found.get("gives_back", False),
        keeps=tuple(found.get("keeps", ())),
        services=found.get("services", {}),
        networks=tuple(map(tuple, found.get("networks", ()))),
        modules=tuple(found.get("modules", ())),
        segments=tuple(found.get("segments", ())),
        cp=found.get("cp"),
        cpus=cpus,
    )
    if not target.phrases or not sum(phrase.weight for phrase in target.phrases):
        raise UsageError(f"{file} has no phrase that could be drawn")
    check_steps(f"{file}, asks", asked(target, [{"do": "call", "as": "a1"}]), cpus)
    rng = random.Random(0)
    for number, phrase in enumerate(target.phrases, 1):
        check_steps(f"{file}, phrase {number}", draw(target, phrase, rng), cpus)
    return target


def _phrase(file: Path, number: int, found: object) -> Phrase:
    what = f"{file}, phrase {number}"
    if not isinstance(found, dict) or set(found) - _PHRASE or "steps" not in found:
        raise UsageError(f"{what}: a phrase has steps, and may have weight and once")
    steps, weight, once = found["steps"], found.get("weight", 1), found.get("once", [])
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        raise UsageError(f"{what}: its steps are no list of tables")
    if isinstance(weight, bool) or not isinstance(weight, int) or not 0 <= weight <= 1000:
        raise UsageError(f"{what}: its weight is no number from 0 to 1000")
    if not isinstance(once, list) or not all(isinstance(name, str) for name in once):
        raise UsageError(f"{what}: 'once' is no list of names")
    return Phrase(steps, weight, tuple(once))


class _Draw:
    """Puts values in place of their names."""

    def __init__(self, target: Target, once: tuple[str, ...], rng: random.Random) -> None:
        self._target = target
        self._once = once
        self._rng = rng
        self._drawn: dict[str, Any] = {}

    def of(self, template: Any, depth: int = 0) -> Any:
        if depth > _DEPTH:
            raise UsageError(f"the values of target {self._target.name} lead in a circle")
        if isinstance(template, str) and template.startswith("$"):
            return self._value(template[1:], depth)
        if isinstance(template, list):
            return [self.of(inner, depth + 1) for inner in template]
        if isinstance(template, dict):
            return {key: self.of(inner, depth + 1) for key, inner in template.items()}
        return template

    def _value(self, name: str, depth: int) -> Any:
        if name in self._drawn:
            return self._drawn[name]
        values = self._target.values
        if name not in values:
            raise UsageError(
                f"target {self._target.name} has no values '{name}'"
                f"{did_you_mean(name, list(values))}"
            )
        found = self._one(name, values[name], depth)
        if name in self._once:
            self._drawn[name] = found
        return found

    def _one(self, name: str, pool: Any, depth: int) -> Any:
        if isinstance(pool, list) and pool:
            return self.of(self._rng.choice(pool), depth + 1)
        if isinstance(pool, dict) and set(pool) == {"from", "to"}:
            first, last = pool["from"], pool["to"]
            if self._rng.random() < 0.5:
                return self._rng.choice((first, last, min(first + 1, last), max(last - 1, first)))
            return self._rng.randint(first, last)
        raise UsageError(
            f"target {self._target.name}: the values '{name}' are neither a list nor from and to"
        )


def draw(target: Target, phrase: Phrase, rng: random.Random) -> Steps:
    """The steps of a phrase, with values drawn."""
    made: Steps = _Draw(target, phrase.once, rng).of(list(phrase.steps))
    return made


def any_phrase(target: Target, rng: random.Random) -> Steps:
    """The steps of a phrase that is drawn by its weight."""
    weights = [phrase.weight for phrase in target.phrases]
    return draw(target, rng.choices(target.phrases, weights)[0], rng)


def fresh(target: Target, rng: random.Random) -> Steps:
    """The steps of a new case."""
    steps: Steps = []
    for _ in range(rng.randint(*_PHRASES)):
        steps += more(target, steps, rng)
    return steps[:STEPS_MAX]


def more(target: Target, before: Steps, rng: random.Random) -> Steps:
    """A phrase that follows such steps; mostly behind one that gives the names that it needs."""
    steps = any_phrase(target, rng)
    given = {_kind(step["as"]) for step in before if "as" in step}
    for kind in sorted(_needs(steps) - given):
        if rng.random() < _KNOWN_NAME:
            steps = _given(target, kind, rng) + steps
    return following(before, steps, rng)


def asked(target: Target, steps: Sequence[Mapping[str, Any]]) -> Steps:
    """What is asked at the end of such steps, by the threads that have made what is asked about."""
    threads = {str(step["as"]): thread_of(step) for step in steps if "as" in step}
    return [
        {**_renamed(step, {EACH: name}), "thread": thread}
        for name, thread in threads.items()
        for step in target.asks
    ]


def without_asked(target: Target, steps: Steps) -> Steps:
    """The steps without what was asked at their end."""
    names: set[object] = set()
    for end, step in enumerate(steps):
        left = len(steps) - end
        if left == len(target.asks) * len(names) and steps[end:] == asked(target, steps[:end]):
            return steps[:end]
        names |= {step["as"]} if "as" in step else set()
    return steps


def _needs(steps: Steps) -> set[str]:
    """The kinds of names that they use before they give one."""
    own: set[str] = set()
    needed: set[str] = set()
    for step in steps:
        needed |= {_kind(name) for name in names_used(step)} - own
        if "as" in step:
            own.add(_kind(step["as"]))
    return needed


def _given(target: Target, kind: str, rng: random.Random) -> Steps:
    """A phrase that gives a name of a kind, and needs none; none if it is not found soon."""
    for _ in range(_LOOKS):
        steps = any_phrase(target, rng)
        if kind in {_kind(step["as"]) for step in steps if "as" in step} and not _needs(steps):
            return steps
    return []


def following(before: Steps, steps: Steps, rng: random.Random) -> Steps:
    """The steps, with names that those before them have given in place of some that nobody gives.

    Names are of a kind: the same letters before their number.
    """
    given: dict[str, list[str]] = {}
    for step in before:
        if "as" in step:
            given.setdefault(_kind(step["as"]), []).append(step["as"])
    instead: dict[str, str] = {}
    for step in steps:
        for name in names_used(step):
            known = given.get(_kind(name), [])
            if name in known or not known or name in instead:
                continue
            instead[name] = rng.choice(known) if rng.random() < _KNOWN_NAME else name
        if "as" in step:
            given.setdefault(_kind(step["as"]), []).append(step["as"])
    return [_renamed(step, instead) for step in steps]


def _kind(name: str) -> str:
    return name.rstrip("0123456789")


def _renamed(step: dict[str, Any], instead: Mapping[str, str]) -> dict[str, Any]:
    made = dict(step)
    if isinstance(made.get("fd"), str):
        made["fd"] = instead.get(made["fd"], made["fd"])
    if "args" in made:
        made["args"] = [
            instead.get(arg, arg) if isinstance(arg, str) else arg for arg in made["args"]
        ]
    return made
