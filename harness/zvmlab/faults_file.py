# SPDX-License-Identifier: MIT
"""Fault rules from a JSON file (docs/faults.md): a list of objects, one for each rule."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zvmlab import fault_points
from zvmlab.errors import UsageError
from zvmlab.faults import Fault
from zvmlab.json_file import parse

# As many as CP can have armed at a time (FAULT_MAX_RULES).
MAX_RULES = 64
MAX_BYTES = 1 << 20
_MEMBERS = tuple(field.name for field in dataclasses.fields(Fault))
_NEEDED = ("point", "kind")
_TEXTS = ("point", "kind", "name", "user")


def _check_type(member: str, value: object) -> None:
    if member in _TEXTS:
        right, what = isinstance(value, str), "a string"
    elif member == "probability":
        right, what = type(value) in (int, float), "a number"
    else:
        # True and False are integers for Python, not for JSON.
        right, what = type(value) is int, "an integer"
    if not right:
        raise UsageError(f'"{member}" is {json.dumps(value)[:40]}; it must be {what}')


def fault_from_json(words: object) -> Fault:
    """One rule; UsageError says what is wrong with it."""
    if not isinstance(words, Mapping):
        raise UsageError(f"{json.dumps(words)[:40]} is not an object")
    for member, value in words.items():
        if member not in _MEMBERS:
            raise UsageError(f'there is no member "{member}"; there are {", ".join(_MEMBERS)}')
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
        raise UsageError(f"faults file {place} has {len(rules)} rules; {MAX_RULES} are possible")
    found = []
    for number, words in enumerate(rules, start=1):
        try:
            found.append(fault_from_json(words))
        except UsageError as error:
            raise UsageError(f"faults file {place}, rule {number}: {error}") from error
    return tuple(found)
