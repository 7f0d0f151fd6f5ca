# SPDX-License-Identifier: MIT
"""A tree with some other files: links to all of another one, and real files where it differs.

    overlay(folder, tree, {"net/iucv/iucv.c": File(b"…")})

The folders are real ones, so that a path with ".." stays in it.  The other tree is never written
to: what differs is a new file.

There are seventy thousand links.  A file system keeps what a short one names beside its dates, and
takes a block for each long one: 300 MB, which take a minute to be removed.  So they are short: they
lead through FOLDER.of, which has a number for each folder of the other tree.
"""

from __future__ import annotations

import itertools
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
    numbers = folder.with_name(f"{folder.name}.of")
    numbers.mkdir(parents=True)
    count = itertools.count()
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
        if links:
            number = f"{numbers}/{next(count)}"
            os.symlink(os.path.join(source, inner), number)
            near = os.path.relpath(number, os.path.join(made, inner))
        for entry, to in links:
            # A link of the tree's own stays what it is: it may lead to something that differs.
            own = entry.is_symlink()
            os.symlink(os.readlink(entry.path) if own else f"{near}/{entry.name}", to)
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


def _write(path: Path, file: File) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(file.data)
    path.chmod(0o755 if file.executable else 0o644)
