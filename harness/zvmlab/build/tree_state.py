# SPDX-License-Identifier: MIT
"""The state of a kernel source tree: what make would look at, and sooner known than make says it.

It changes with every file's name, size and time.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

# Of what guests are not built from.
_OUTSIDE = frozenset({".git", "Documentation", "LICENSES"})
_ARCH = "arch"
_OURS = "s390"


@dataclass(frozen=True)
class TreeState:
    """Of a tree at one moment."""

    all: str
    """Hash of the whole."""
    options: str
    """Hash of the files that describe options alone."""
    kconfigs: tuple[str, ...]
    """Those files."""


def tree_state(tree: Path) -> TreeState:
    """How the tree is now."""
    whole, options = hashlib.sha256(), hashlib.sha256()
    kconfigs = []
    waiting, arch = [str(tree)], str(tree / _ARCH)
    while waiting:
        folder = waiting.pop()
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                top = folder == str(tree) and entry.name in _OUTSIDE
                other = folder == arch and entry.name != _OURS
                if not (top or other):
                    waiting.append(entry.path)
                continue
            state = entry.stat(follow_symlinks=False)
            line = f"{entry.path}\0{state.st_size}\0{state.st_mtime_ns}\0".encode(
                "utf-8", "surrogateescape"
            )
            whole.update(line)
            if entry.name.startswith("Kconfig"):
                options.update(line)
                kconfigs.append(entry.path)
    return TreeState(whole.hexdigest()[:16], options.hexdigest()[:16], tuple(kconfigs))
