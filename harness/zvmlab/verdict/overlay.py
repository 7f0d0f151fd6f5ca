# SPDX-License-Identifier: MIT
"""A tree with some other files: links to all of another one, and real files where it differs.

    overlay(folder, tree, {"net/iucv/iucv.c": File(b"…")})

The folders are real ones, so that a path with ".." stays in it.  The other tree is never written
to: what differs is a new file.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from zvmlab.verdict.applied import File, Files

# What guests' kernels are not built from, as builder.tree_state has it.
_OUTSIDE = frozenset({".git", "LICENSES"})
_DOCUMENTS, _ARCH, _OURS = "Documentation/", "arch/", "arch/s390/"
# All builds read the options and rules that are there and for other architectures, and compare
# tables of system calls.
_SHARED = re.compile(r"(Kconfig|Makefile|Kbuild).*|.*\.tbl")


def overlay(folder: Path, tree: Path, files: Files) -> None:
    """Fill the new folder *folder*."""
    source, made = str(tree.resolve()), str(folder)
    waiting = [""]
    while waiting:
        inner = waiting.pop()
        links = []
        with os.scandir(os.path.join(source, inner)) as found:
            for entry in found:
                name = f"{inner}/{entry.name}" if inner else entry.name
                if entry.is_dir(follow_symlinks=False):
                    if name not in _OUTSIDE:
                        waiting.append(name)
                elif name not in files and _is_read(name):
                    links.append((entry, os.path.join(made, name)))
        if links or not _is_other(f"{inner}/"):
            os.makedirs(os.path.join(made, inner), exist_ok=True)
        for entry, to in links:
            _link(entry, to)
    for name, file in files.items():
        if file is not None:
            _write(folder / name, file)


def _is_other(name: str) -> bool:
    """Is that a path within the documentation or another architecture?"""
    arch = name.startswith(_ARCH) and name.count("/") > 1 and not name.startswith(_OURS)
    return arch or name.startswith(_DOCUMENTS)


def _is_read(name: str) -> bool:
    """May a build of a guest's kernel read this file of the tree?"""
    return not _is_other(name) or _SHARED.fullmatch(name.rpartition("/")[2]) is not None


def _link(entry: os.DirEntry[str], to: str) -> None:
    """A link of the tree's own stays what it is: it may lead to something that differs."""
    target = os.readlink(entry.path) if entry.is_symlink() else entry.path
    os.symlink(target, to)


def _write(path: Path, file: File) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(file.data)
    path.chmod(0o755 if file.executable else 0o644)
