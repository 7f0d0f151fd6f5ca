# SPDX-License-Identifier: MIT
"""The processes that a program has started."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any


def children(process: subprocess.Popen[Any]) -> list[int]:
    """Process ids; a thread may end while we look."""
    found = []
    for task in Path(f"/proc/{process.pid}/task").iterdir():
        try:
            found += [int(pid) for pid in (task / "children").read_text("ascii").split()]
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def alive(pid: int) -> bool:
    """Does the process still run?  One that has ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
