# SPDX-License-Identifier: MIT
"""Artifacts that came with a package of zvmlab, so that this machine needs no compiler.

    /usr/lib/zvmlab/artifacts/KIND-KEY/ARTIFACT

KEY is a hash of the sources that the artifact was made of, computed from the sources that are
installed beside it: what is changed there has another name, and is built.  The compiler that the
package was built with does not count, though it does in the cache.  The cache looks here first;
nothing here is ever written or removed, which is the package manager's business.

In a clone there is no such folder.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from zvmlab.base.tree import TREE

FOLDER = TREE / "artifacts"


class Used(NamedTuple):
    """The requests for artifacts so far."""

    kind: str
    name: str
    """Of its folder, if it came with a package."""
    folder: Path
    """Where it is in the cache."""
    artifact: str


_collected: list[Used] | None = None


def installed() -> bool:
    """Is this a package's zvmlab?"""
    return FOLDER.is_dir()


def find(name: str, artifact: str) -> Path | None:
    """The file *artifact* of the folder *name*, if that came with a package."""
    file = FOLDER / name / artifact
    return file if artifact and file.is_file() and file.stat().st_size else None


def or_install(package: str) -> str:
    """The end of a sentence that names a missing compiler: there may be a way without one."""
    return f"; or install the package {package}, which has it built" if installed() else ""


def note(used: Used) -> None:
    """The cache was asked for it."""
    if _collected is not None:
        _collected.append(used)


@contextlib.contextmanager
def collecting() -> Iterator[list[Used]]:
    """A list that what the cache is asked for is added to, for who makes a package."""
    global _collected
    found: list[Used] = []
    _collected = found
    try:
        yield found
    finally:
        _collected = None
