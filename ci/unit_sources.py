# SPDX-License-Identifier: MIT
"""Checksums of all that goes into a program of unit tests before it is compiled.

A program is made of its own source, the files of its module and of those that this uses (module.mk),
the Makefiles, the options in them, the compiler, and headers and libraries of the system.  The latter
are those of installed packages (unit_packages.py), and what is below /usr/local.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from zvmlab.builder import module_mk
from zvmlab.builder.module_mk import Module

NO_SOURCE = (".md", ".py")
LOOKED_AT = re.compile(r"PKG_CONFIG\w*|SOURCE_DATE_EPOCH")
"""Variables of the environment that compilers or pkg-config look at; those that name folders to compilers
do not reach them (UNSET in the Makefile)."""
LOCAL = tuple(
    Path("/usr/local", name)
    for name in ("include", "lib", "lib64", "lib/pkgconfig", "share/pkgconfig")
) + tuple(sorted(Path("/usr/local/lib").glob("*-linux-*")))
"""Where compilers look beside what is installed by packages."""
LOADED = Path("/etc/ld.so.conf.d")
"""Where libraries are looked for when a program starts."""


@functools.cache
def checksum(path: Path) -> str:
    """Of a file's contents."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _listed(folder: Path) -> Iterator[str]:
    """Files directly in a folder of libraries, or anywhere below one of headers, with their times."""
    deep = folder.name == "include"
    for place, _, names in os.walk(folder):
        for name in sorted(names):
            found = os.lstat(os.path.join(place, name))
            yield f"{place}/{name} {found.st_size} {found.st_mtime_ns}"
        if not deep:
            return


class Sources:
    """The modules of a tree, and how they are compiled.

    *options*: compiler and options; *packages*: with their versions.
    """

    def __init__(self, tree: Path, options: str, packages: Sequence[str]) -> None:
        self._tree = tree
        self._modules = {name: module_mk.read(tree, name) for name in module_mk.names(tree)}
        self._main = {main: module for module in self._modules.values() for main in module.main}
        makefiles = [tree / "Makefile", *sorted((tree / "ci").glob("*.mk"))]
        variables = (name for name in sorted(os.environ) if LOOKED_AT.fullmatch(name))
        self.system = "\n".join(
            [
                *packages,
                *(f"{name}={os.environ[name]}" for name in variables),
                *(line for folder in LOCAL for line in _listed(folder)),
                *(f"{file} {checksum(file)}" for file in sorted(LOADED.glob("*.conf"))),
            ]
        )
        """All that objects depend on beside files of the tree, and options."""
        self._around = [
            options,
            self.system,
            *(f"{file.relative_to(tree)} {checksum(file)}" for file in makefiles),
            checksum(Path(__file__)),
        ]

    def checksum(self, sources: Sequence[str]) -> str:
        """Of all that the program is made of that has these sources of its own."""
        own = {self._main[source] for source in sources}
        modules = self._used([module.name for module in own])
        inside = {self._modules[name] for module in modules for name in module.inside}
        files = {file for module in {*modules, *inside} for file in self._files(module)}
        files -= {file for module in own for file in module.main if file not in sources}
        parts = [f"{file} {checksum(self._tree / file)}" for file in sorted(files)]
        return hashlib.sha256("\n".join([*self._around, *parts]).encode()).hexdigest()

    def _used(self, names: Iterable[str]) -> list[Module]:
        todo, found = list(names), set[str]()
        while todo:
            name = todo.pop()
            if name not in found:
                found.add(name)
                todo += self._modules[name].uses
        return [self._modules[name] for name in sorted(found)]

    @functools.cache
    def _files(self, module: Module) -> frozenset[str]:
        """All files of a module."""
        found = set()
        for place, folders, names in os.walk(self._tree / module.name):
            below = os.path.relpath(place, self._tree)
            folders[:] = [name for name in folders if f"{below}/{name}" not in self._modules]
            found |= {f"{below}/{name}" for name in names if not name.endswith(NO_SOURCE)}
        return frozenset(found)
