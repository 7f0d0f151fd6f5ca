# SPDX-License-Identifier: MIT
"""JSON of files that people write: bounded, and without members that are there twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from zvmlab.base.errors import UsageError

_SHORT = 40


def _no_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"{short(key)} appears twice in one object")
        found[key] = value
    return found


def short(value: object) -> str:
    """The beginning of a value as JSON, for a sentence about it."""
    try:
        text = json.dumps(value)
    except RecursionError:
        return "nested too deeply"
    return text if len(text) <= _SHORT else f"{text[:_SHORT]}…"


def parse(path: Path, what: str, most: int) -> object:
    """The value in a file of up to *most* bytes; *what* begins each sentence of UsageError."""
    try:
        with open(path, "rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise UsageError(f"{what} cannot be read: {error.strerror}") from error
    if len(data) > most:
        raise UsageError(f"{what} has more than {most >> 20} MiB")
    try:
        value: object = json.loads(data, object_pairs_hook=_no_repetition)
    except RecursionError as error:
        raise UsageError(f"{what} is nested too deeply") from error
    except ValueError as error:
        raise UsageError(f"{what} is not JSON: {error}") from error
    return value
