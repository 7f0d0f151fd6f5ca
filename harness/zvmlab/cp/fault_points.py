# SPDX-License-Identifier: MIT
"""Points, kinds and members of fault rules, as CP's control socket publishes them.

``docs/control-schema.json`` is what CP answers to ``query-schema``; a test holds one to the
other.  So ``zvmlab faults`` needs no guest, and a wrong rule is refused before one starts.
"""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass
from typing import Any

from zvmlab.base.errors import UsageError
from zvmlab.base.hints import did_you_mean
from zvmlab.base.tree import TREE
from zvmlab.cp.faults import Fault

_SCHEMA = TREE / "docs/control-schema.json"
_NAME = re.compile(r"[A-Za-z0-9@#$_*+:-]{1,8}")
# Where and what, which are judged together; when, which Fault spells in words of its own.
_JUDGED_APART = ("point", "kind", "value", "offset", "when", "n")


@dataclass(frozen=True)
class FaultKind:
    """A kind of fault; *least* and *most* value it takes, both 0: none; *offset* at most."""

    name: str
    least: int
    most: int
    text: str
    offset: int = 0


@dataclass(frozen=True)
class FaultPoint:
    """A point: its name, one sentence, and the kinds it can carry out."""

    name: str
    text: str
    kinds: tuple[FaultKind, ...]

    def kind(self, name: str) -> FaultKind | None:
        """The kind of that name, with the values it takes here."""
        return next((kind for kind in self.kinds if kind.name == name), None)


@dataclass(frozen=True)
class FaultField:
    """A member of a rule: *least* to *most* (of a name its length), *only* at one point if given.

    A *filter* is compared with each call.
    """

    name: str
    type: str
    filter: bool
    least: int
    most: int
    text: str
    only: str | None


@functools.cache
def _tables() -> dict[str, Any]:
    tables: dict[str, Any] = json.loads(_SCHEMA.read_text(encoding="utf-8"))["faults"]
    return tables


@functools.cache
def kinds() -> dict[str, FaultKind]:
    """All kinds by name, in CP's order."""
    return {
        kind["kind"]: FaultKind(kind["kind"], kind["min"], kind["max"], kind["text"])
        for kind in _tables()["kinds"]
    }


def _at(value: dict[str, Any]) -> FaultKind:
    name = value["kind"]
    return FaultKind(name, value["min"], value["max"], kinds()[name].text, value["offset-max"])


@functools.cache
def points() -> dict[str, FaultPoint]:
    """All points by name, in CP's order."""
    return {
        point["point"]: FaultPoint(
            point["point"], point["text"], tuple(_at(value) for value in point["values"])
        )
        for point in _tables()["points"]
    }


@functools.cache
def fields() -> dict[str, FaultField]:
    """All members of a rule by name, in CP's order."""
    return {
        field["field"]: FaultField(
            field["field"],
            field["type"],
            field["filter"],
            field["min"],
            field["max"],
            field["text"],
            field.get("only"),
        )
        for field in _tables()["fields"]
    }


def _range(text: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise UsageError(f"{text} is {value}; it must be {least} to {most}")


def _check_kind(fault: Fault) -> FaultKind:
    point = points().get(fault.point)
    if point is None:
        hint = did_you_mean(fault.point, points())
        raise UsageError(f"unknown fault point: {fault.point}; 'zvmlab faults' lists them{hint}")
    if fault.kind not in kinds():
        hint = did_you_mean(fault.kind, kinds())
        raise UsageError(f"unknown kind of fault: {fault.kind}; 'zvmlab faults' lists them{hint}")
    kind = point.kind(fault.kind)
    if kind is None:
        possible = ", ".join(kind.name for kind in point.kinds)
        raise UsageError(f"{fault.point} does not support {fault.kind} (possible: {possible})")
    return kind


def _check_field(fault: Fault, field: FaultField) -> None:
    given = getattr(fault, field.name)
    if given is None:
        return
    if field.only is not None and fault.point != field.only:
        raise UsageError(f"{field.name} is for the point {field.only}, not for {fault.point}")
    if field.type != "name":
        _range(field.name, given, field.least, field.most)
    elif not _NAME.fullmatch(given):
        raise UsageError(f"{field.name} {given!r} is not 1 to 8 letters, digits and @#$_*-+:")


def check(fault: Fault) -> None:
    """UsageError with one sentence if CP would refuse the rule."""
    kind = _check_kind(fault)
    if kind.most == 0 and fault.value != 0:
        raise UsageError(f"{kind.name} takes no value")
    _range(f"the value of {kind.name}", fault.value, kind.least, kind.most)
    if fault.offset != 0 and kind.offset == 0:
        raise UsageError(f"{kind.name} takes no offset; only corrupt does")
    _range("the offset", fault.offset, 0, kind.offset)
    for field in fields().values():
        if field.name not in _JUDGED_APART:
            _check_field(fault, field)
