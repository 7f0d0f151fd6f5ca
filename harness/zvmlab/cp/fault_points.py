# SPDX-License-Identifier: MIT
"""The fault points and kinds of CP, read from the tables that CP itself is compiled from.

``zvmlab faults`` lists them without a guest and without building anything; a
test holds what is read here to what a CP answers to ``query-fault-points``.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base.errors import UsageError
from zvmlab.base.hints import did_you_mean
from zvmlab.base.tree import TREE
from zvmlab.cp.faults import Fault

_FOLDER = TREE / "sim/cp/include/zvmlab"
_WORD = r"[A-Z][A-Z0-9_]*"
_KIND = re.compile(rf'FAULT_KIND\(({_WORD}), "([a-z]+)", (\w+), (\w+), "([^"\\]+)"\)')
_POINT = re.compile(rf'FAULT_POINT\({_WORD}, "([a-z0-9.-]+)", ([^"]+), "([^"\\]+)"\)')
_MACRO = re.compile(rf"#define ({_WORD}) \((.+)\)")
_TERM = re.compile(rf"FAULT_BIT\(FAULT_({_WORD})\)|({_WORD})")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
# Points of IUCV functions end with an IPRCODE, which is a byte of the parameter list.
_IPRCODE_POINTS = "iucv."
_IPRCODE_MAX = 0xFF
# IUCV interruptions have 40 bytes.
_EVENT_POINTS = ("interrupt", "peer.")
_EVENT_BYTES = 40
_MAX_U16 = 0xFFFF
_MAX_U32 = 0xFFFFFFFF
_NAME = re.compile(r"[A-Za-z0-9@#$_*+:-]{1,8}")
_MAX_TYPE = 9


@dataclass(frozen=True)
class FaultKind:
    """A kind of fault; *least* and *most* value it takes, both 0: none."""

    name: str
    least: int
    most: int
    text: str


@dataclass(frozen=True)
class FaultPoint:
    """A point: its name, one sentence, and the kinds it can carry out."""

    name: str
    text: str
    kinds: tuple[FaultKind, ...]

    def kind(self, name: str) -> FaultKind | None:
        """The kind of that name, with the values it takes here."""
        return next((kind for kind in self.kinds if kind.name == name), None)


def _statements(name: str) -> list[str]:
    text = _COMMENT.sub("", (_FOLDER / name).read_text(encoding="ascii"))
    return [line for line in text.splitlines() if line.strip()]


def _strange(name: str, line: str) -> AssertionError:
    return AssertionError(f"{name} has a line that is none of its forms: {line}")


def _kinds_by_id() -> dict[str, FaultKind]:
    found = {}
    for line in _statements("fault_kinds.def"):
        match = _KIND.fullmatch(line)
        if match is None:
            raise _strange("fault_kinds.def", line)
        key, name, least, most, text = match.groups()
        found[key] = FaultKind(name, int(least, 0), int(most, 0), text)
    return found


def _set_of(expression: str, macros: dict[str, set[str]]) -> set[str]:
    """Ids of the kinds that ``FAULT_BIT(FAULT_CC) | INSN`` stands for."""
    found: set[str] = set()
    for term in expression.split(" | "):
        match = _TERM.fullmatch(term)
        if match is None:
            raise _strange("fault_points.def", expression)
        found |= {match.group(1)} if match.group(1) else macros[match.group(2)]
    return found


def _at(point: str, kind: FaultKind) -> FaultKind:
    if kind.name == "rc" and point.startswith(_IPRCODE_POINTS):
        return FaultKind(kind.name, kind.least, _IPRCODE_MAX, kind.text)
    return kind


@functools.cache
def kinds() -> dict[str, FaultKind]:
    """All kinds by name, in CP's order."""
    return {kind.name: kind for kind in _kinds_by_id().values()}


@functools.cache
def points() -> dict[str, FaultPoint]:
    """All points by name, in CP's order."""
    by_id = _kinds_by_id()
    macros: dict[str, set[str]] = {}
    found = {}
    for line in _statements("fault_points.def"):
        if line.startswith("#undef "):
            continue
        if (match := _MACRO.fullmatch(line)) is not None:
            macros[match.group(1)] = _set_of(match.group(2), macros)
            continue
        match = _POINT.fullmatch(line)
        if match is None:
            raise _strange("fault_points.def", line)
        name, expression, text = match.groups()
        chosen = _set_of(expression, macros)
        can = tuple(_at(name, kind) for key, kind in by_id.items() if key in chosen)
        found[name] = FaultPoint(name, text, can)
    return found


def _range(text: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise UsageError(f"{text} is {value}; it must be {least} to {most}")


def _check_kind(fault: Fault) -> FaultKind:
    point = points().get(fault.point)
    if point is None:
        hint = did_you_mean(fault.point, points())
        raise UsageError(f"there is no fault point {fault.point}; zvmlab faults lists them{hint}")
    if fault.kind not in kinds():
        hint = did_you_mean(fault.kind, kinds())
        raise UsageError(f"there is no kind of fault {fault.kind}; zvmlab faults lists them{hint}")
    kind = point.kind(fault.kind)
    if kind is None:
        possible = ", ".join(kind.name for kind in point.kinds)
        raise UsageError(f"{fault.point} cannot carry out {fault.kind}; it can do {possible}")
    return kind


def check(fault: Fault) -> None:
    """UsageError with one sentence if CP would refuse the rule."""
    kind = _check_kind(fault)
    if kind.most == 0 and fault.value != 0:
        raise UsageError(f"{kind.name} takes no value")
    _range(f"the value of {kind.name}", fault.value, kind.least, kind.most)
    if fault.offset != 0 and kind.name != "corrupt":
        raise UsageError(f"{kind.name} takes no offset; only corrupt does")
    of_event = fault.point.startswith(_EVENT_POINTS)
    _range("the offset", fault.offset, 0, _EVENT_BYTES - 1 if of_event else _MAX_U32)
    _range("times", fault.times, 0, _MAX_U32)
    if fault.path is not None:
        _range("path", fault.path, 0, _MAX_U16)
    for word, name in (("name", fault.name), ("user", fault.user)):
        if name is not None and not _NAME.fullmatch(name):
            raise UsageError(f"{word} {name!r} is not 1 to 8 letters, digits and @#$_*-+:")
    if fault.type is not None:
        if fault.point != "interrupt":
            raise UsageError(f"type is for the point interrupt, not for {fault.point}")
        _range("type", fault.type, 1, _MAX_TYPE)
