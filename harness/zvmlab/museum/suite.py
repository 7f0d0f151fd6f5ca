# SPDX-License-Identifier: MIT
"""Which ordinary tests belong to a file of Linux."""

from __future__ import annotations

import tomllib
from pathlib import Path

from zvmlab.base.errors import UsageError
from zvmlab.base.tree import TREE
from zvmlab.museum.bugs import Bug

TABLE = Path("tests/museum/suite.toml")


def ordinary_tests(bug: Bug) -> list[str]:
    """The files of pytest that run lines of the bug's file."""
    path = TREE / TABLE
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: {error}") from None
    words = table.get("tests", {}).get(bug.file)
    if not isinstance(words, list):
        raise UsageError(f"{path} has no tests for {bug.file}")
    return [*bug.options, *map(str, words)]
