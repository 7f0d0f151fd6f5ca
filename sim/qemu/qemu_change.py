# SPDX-License-Identifier: GPL-2.0-or-later
"""Our changes of QEMU's source, which are in changes/; zvmlab.base.source_change has their language."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "harness"))

from zvmlab.base.source_change import (  # noqa: E402
    Change,
    ChangeError,
    Project,
    changed,
    read_changes,
)

__all__ = ["Change", "ChangeError", "changed", "load", "version_of"]

FOLDER = Path(__file__).parent / "changes"
# In this order: what is wrong in QEMU, what is slow, and what our device needs.
KINDS = ("corrections", "speed", "port")
# The version that we build, and the next one.
SERIES = ("10.0", "11.1")
QEMU = Project("QEMU", SERIES, "harness/zvmlab/base/source_change.py", '#include "qemu/osdep.h"')


def load(folder: Path = FOLDER) -> list[Change]:
    """All changes, in the order in which they are made."""
    try:
        files = [file for kind in KINDS for file in sorted((folder / kind).iterdir())]
    except OSError as error:
        raise ChangeError(f"{error.filename} cannot be read: {error.strerror}") from error
    return read_changes([file for file in files if not file.name.startswith(".")], QEMU)


def version_of(tree: Path) -> str:
    """Of the source in *tree*, one of SERIES."""
    try:
        version = (tree / "VERSION").read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ChangeError(f"{tree / 'VERSION'} cannot be read: {error.strerror}") from error
    series = ".".join(version.split(".")[:2])
    if series not in SERIES:
        known = " and ".join(SERIES)
        raise ChangeError(f"{tree} is QEMU {version}; the changes are for {known}")
    return series
