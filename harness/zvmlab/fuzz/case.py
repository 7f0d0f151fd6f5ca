# SPDX-License-Identifier: MIT
"""A case of the fuzzer: a machine, what is prepared in it, and steps of two sides in one order.

    case = load(Path("corpus/0f3a….json"))
    save(case, Path("small.json"))
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from zvmlab.base.errors import UsageError
from zvmlab.base.json_file import parse, short
from zvmlab.guest.names import MAX_CPUS, QEMU
from zvmlab.scenarios.steps import check_steps

VERSION = 1
MAX_BYTES = 4 << 20
MAX_SCHEDULE = (1 << 32) - 1
_MEMBERS = ("version", "target", "machine", "mark", "steps")
_MACHINE = ("cpus", "schedule")
_DIGITS = 16

Steps = tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Case:
    """One case."""

    target: str
    steps: Steps
    mark: Steps = ()
    """What is done once, before the guest is marked to be put back to."""
    cpus: int = 1
    schedule: int = 0
    """Seed of the order in which the CPUs of a guest that counts its instructions run; 0: none."""

    def to_json(self) -> dict[str, Any]:
        """Plain data; from_json() gives an equal case."""
        return {
            "version": VERSION,
            "target": self.target,
            "machine": {"cpus": self.cpus, "schedule": self.schedule},
            "mark": [dict(step) for step in self.mark],
            "steps": [dict(step) for step in self.steps],
        }

    @property
    def name(self) -> str:
        """A short name that changes with everything in it."""
        text = json.dumps(self.to_json(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]

    def with_steps(self, steps: Iterable[Mapping[str, Any]]) -> Case:
        """The same with other steps."""
        return replace(self, steps=tuple(steps))


def from_json(what: str, data: object) -> Case:
    """From what to_json() gave; UsageError that begins with *what* if it is something else."""
    if not isinstance(data, dict) or "version" not in data:
        raise UsageError(f"{what} is no case of zvmlab fuzz")
    if data["version"] != VERSION:
        raise UsageError(
            f"{what} is a case of version {short(data['version'])}; this zvmlab has {VERSION}"
        )
    for name in _MEMBERS:
        if name not in data:
            raise UsageError(f"{what} is damaged: it has no '{name}'")
    for name in data:
        if name not in _MEMBERS:
            raise UsageError(f"{what} is damaged: a case has no {short(name)}")
    machine = data["machine"]
    if not isinstance(machine, dict) or set(machine) != set(_MACHINE):
        raise UsageError(f"{what} is damaged: a machine has {' and '.join(_MACHINE)}")
    cpus = _number(what, "number of CPUs", machine["cpus"], 1, MAX_CPUS[QEMU])
    schedule = _number(what, "schedule", machine["schedule"], 0, MAX_SCHEDULE)
    if not isinstance(data["target"], str):
        raise UsageError(f"{what} is damaged: {short(data['target'])} is no target")
    steps = check_steps(what, data["steps"], cpus)
    mark = check_steps(f"{what}, mark", data["mark"], cpus)
    return Case(data["target"], tuple(steps), tuple(mark), cpus, schedule)


def _number(what: str, name: str, value: object, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise UsageError(f"{what} is damaged: {short(value)} is no {name} from {least} to {most}")
    return value


def load(file: Path) -> Case:
    """The case in a file; UsageError says why it is none."""
    what = f"the case {file}"
    return from_json(what, parse(file, what, MAX_BYTES))


def save(case: Case, file: Path) -> None:
    """Write it to a file; UsageError if that is not possible."""
    text = json.dumps(case.to_json(), indent=1) + "\n"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_name(f".{file.name}.part")
        part.write_text(text, encoding="utf-8")
        part.replace(file)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error
