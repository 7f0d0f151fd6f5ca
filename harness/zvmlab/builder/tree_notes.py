# SPDX-License-Identifier: MIT
"""What the folder of a tree's build says of its last build: the files "state" and "files"."""

from __future__ import annotations

import json
from pathlib import Path

from zvmlab.builder.tree_state import Files

STATE, FILES = "state", "files"


def last_build(work: Path) -> dict[str, str]:
    """The state of the last build; empty if there was none, or if it did not end well."""
    try:
        found = json.loads((work / STATE).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {key: value for key, value in found.items() if isinstance(value, str)}


def last_files(work: Path) -> Files:
    """The files of the tree as noted at the last build; empty if there was none."""
    try:
        found = json.loads((work / FILES).read_text(encoding="utf-8", errors="surrogateescape"))
        return {name: (sign, contents) for name, (sign, contents) in found.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def write_note(file: Path, what: object) -> None:
    """At once and whole."""
    scratch = file.with_name(f"{file.name}.new")
    text = json.dumps(what, separators=(",", ":"), ensure_ascii=False)
    scratch.write_text(text, encoding="utf-8", errors="surrogateescape")
    scratch.replace(file)
