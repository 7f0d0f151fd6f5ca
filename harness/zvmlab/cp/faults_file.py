# SPDX-License-Identifier: MIT
"""Fault rules from a JSON file (docs/faults.md): a list of objects, one for each rule."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path

from zvmlab.base.errors import UsageError
from zvmlab.base.json_file import parse, short
from zvmlab.cp import fault_points
from zvmlab.cp.faults import Fault

# As many as CP can have armed at a time (FAULT_MAX_RULES).
MAX_RULES = 128
MAX_BYTES = 1 << 20
_MEMBERS = tuple(field.name for field in dataclasses.fields(Fault))
_NEEDED = ("point", "kind")
_MAX_TEXT = 40
_MAX_NUMBER = 1 << 64


def _check_type(member: str, value: object) -> None:
    # True and False are integers for Python, not for JSON.
    number = type(value) is int and abs(value) < _MAX_NUMBER
    field = fault_points.fields().get(member)
    if field is not None and field.type in ("point", "kind", "name"):
        right = isinstance(value, str) and len(value) <= _MAX_TEXT
        what = f"a string of up to {_MAX_TEXT} characters"
    elif member == "probability":
        right, what = number or isinstance(value, float), "a number"
    else:
        right, what = number, "an integer of up to 64 bits"
    if not right:
        raise UsageError(f'"{member}" is {short(value)}; it must be {what}')


def fault_from_json(words: object) -> Fault:
    """One rule; UsageError says what is wrong with it."""
    if not isinstance(words, Mapping):
        raise UsageError(f"{short(words)} is not an object")
    for member, value in words.items():
        if member not in _MEMBERS:
            raise UsageError(f"unknown member: {short(member)} (possible: {', '.join(_MEMBERS)})")
        _check_type(member, value)
    for member in _NEEDED:
        if member not in words:
            raise UsageError(f'"{member}" is missing')
    fault = Fault(**words)
    fault_points.check(fault)
    return fault


def load(path: str | os.PathLike[str]) -> tuple[Fault, ...]:
    """The rules of a file, in its order; UsageError names file and rule."""
    place = Path(path)
    rules = parse(place, f"faults file {place}", MAX_BYTES)
    if not isinstance(rules, list):
        raise UsageError(f"faults file {place} is not a list of rules, as in [{{…}}, {{…}}]")
    if len(rules) > MAX_RULES:
        raise UsageError(
            f"faults file {place} has too many rules: {len(rules)} (at most {MAX_RULES})"
        )
    found = []
    for number, words in enumerate(rules, start=1):
        try:
            found.append(fault_from_json(words))
        except UsageError as error:
            raise UsageError(f"faults file {place}, rule {number}: {error}") from error
    return tuple(found)
