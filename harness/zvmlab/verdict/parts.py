# SPDX-License-Identifier: MIT
"""What a series touches: modules alone, which are built in seconds, or the kernel itself.

kbuild knows which object a source belongs to: the Makefile of its folder is read by make, with the
kernel's configuration.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from zvmlab.base.errors import UsageError
from zvmlab.verdict.applied import File, Files
from zvmlab.verdict.git import environment, need, run

_DOCUMENTS = re.compile(
    r"^(?:Documentation|LICENSES)/|^(?:MAINTAINERS|CREDITS|COPYING)$|\.(?:rst|txt|md)$"
)
_OTHER_ARCH = re.compile(r"^arch/(?!s390/)[^/]+/")
_UNUSED = re.compile(r"^(?:tools|samples|certs/\.|\.[a-z])")
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"/]+)"', re.MULTILINE)
_SOURCES = (".c", ".h", ".S")
_MAKEFILES = ("Kbuild", "Makefile")
_MAKE_SECONDS = 60
_PRINT = """\
include {config}
srctree := {tree}
src := {folder}
obj := {folder}
include {makefile}
parts = $($(1:.o=-objs)) $($(1:.o=-y)) $($(1:.o=-m))
$(foreach one,$(sort $(obj-m)),$(info m $(one) $(call parts,$(one))))
$(foreach one,$(sort $(obj-y)),$(info y $(one) $(call parts,$(one))))
.PHONY: all
all: ;
"""
TREE_MAKEFILE = "Makefile.tree"
# The tree's own Makefile has the parts and the flags; what else it makes is left out.  Warnings name a
# source as the tree does.
_KBUILD = """\
include $(src)/{makefile}
obj-y :=
lib-y :=
lib-m :=
extra-y :=
always-y :=
targets :=
hostprogs :=
subdir-y :=
subdir-m :=
obj-m := {objects}
ccflags-y += -fmacro-prefix-map=$(src)/={folder}/
"""


@dataclass(frozen=True)
class Part:
    """A folder of the tree in which modules are touched."""

    folder: str
    modules: tuple[str, ...]
    """Without suffix, as kbuild names them."""


def is_document(name: str) -> bool:
    """Does nothing that is built come from it?"""
    return _DOCUMENTS.search(name) is not None


def check_touched(names: Iterable[str]) -> None:
    """UsageError if no kernel for guests can have anything of these files."""
    named = sorted(names)
    some = ", ".join(named[:3]) + (f" and {len(named) - 3} more" if len(named) > 3 else "")
    code = [name for name in named if not is_document(name)]
    if not code:
        raise UsageError(f"the series touches only documentation ({some}): there is nothing to run")
    if all(_OTHER_ARCH.match(name) or _UNUSED.match(name) for name in code):
        raise UsageError(f"the series touches only {some}, which no kernel for s390 is built from")


class Folder:
    """A folder of a tree, and how a kernel's configuration builds its sources."""

    def __init__(self, tree: Path, folder: str, config: Path) -> None:
        self._tree = tree
        self.folder = folder
        place = tree / folder
        self._makefile = next((f for f in map(place.joinpath, _MAKEFILES) if f.is_file()), None)
        self._of: dict[str, set[tuple[str, str]]] = {}
        if self._makefile is not None:
            self._read(config)

    def _read(self, config: Path) -> None:
        need("make", "make", "building Linux")
        text = _PRINT.format(
            config=config, tree=self._tree, folder=self.folder, makefile=self._makefile
        )
        argv = ["make", "--silent", "--no-print-directory", "-f", "-"]
        done = run(argv, self._tree, environment(), text.encode(), _MAKE_SECONDS)
        for line in done.stdout.decode("utf-8", "replace").splitlines():
            kind, target, *parts = line.split()
            for part in [target, *parts]:
                self._of.setdefault(part, set()).add((kind, target.removesuffix(".o")))

    @property
    def known(self) -> bool:
        """Has it a Makefile?"""
        return self._makefile is not None

    @property
    def makefile(self) -> bytes:
        """Its contents; empty if there is none."""
        return b"" if self._makefile is None else self._makefile.read_bytes()

    def modules_of(self, name: str, files: Files) -> set[tuple[str, str]]:
        """What is built from a source of this folder: ("m", a module) or ("y", an object)."""
        path = PurePosixPath(name)
        if path.suffix != ".h":
            return self._of.get(f"{path.stem}.o", set())
        found: set[tuple[str, str]] = set()
        for user in self._users({path.name}, self.sources(files)):
            found |= self._of.get(f"{PurePosixPath(user).stem}.o", set())
        return found

    def sources(self, files: Files) -> dict[str, bytes]:
        """All sources of the folder by their names in it, with *files* of the tree in their place."""
        found = {}
        for path in sorted((self._tree / self.folder).iterdir()):
            if path.suffix in _SOURCES and path.is_file() and not path.name.endswith(".mod.c"):
                found[path.name] = path.read_bytes()
        for name, file in files.items():
            place = PurePosixPath(name)
            if str(place.parent) == self.folder and place.suffix in _SOURCES:
                found.pop(place.name, None)
                if file is not None:
                    found[place.name] = file.data
        return found

    def _users(self, headers: set[str], sources: Mapping[str, bytes]) -> set[str]:
        """Sources that include one of the headers, however deep."""
        known = set(headers)
        while True:
            more = {
                name
                for name, text in sources.items()
                if name not in known
                and any(word.decode("utf-8", "replace") in known for word in _INCLUDE.findall(text))
            }
            if not more:
                return known - headers
            known |= more

    def write(self, into: Path, files: Files, modules: Iterable[str]) -> None:
        """Lay out the folder for ``make M=``: these modules of it, and no others."""
        into.mkdir(parents=True)
        for name, data in self.sources(files).items():
            (into / name).write_bytes(data)
        (into / TREE_MAKEFILE).write_bytes(self.makefile)
        objects = " ".join(f"{name}.o" for name in sorted(modules))
        text = _KBUILD.format(makefile=TREE_MAKEFILE, objects=objects, folder=self.folder)
        (into / "Kbuild").write_text(text, encoding="utf-8")


def looks_modular(tree: Path, names: Iterable[str]) -> bool:
    """Could these files be of modules?  A first look, before there is a configuration."""
    for name in names:
        path = PurePosixPath(name)
        if is_document(name):
            continue
        if path.suffix not in _SOURCES or name.startswith(("include/", "arch/s390/include/")):
            return False
        if not any((tree / path.parent / makefile).is_file() for makefile in _MAKEFILES):
            return False
    return True


def modular_parts(
    tree: Path, names: Iterable[str], files: Files, config: Path
) -> list[Part] | None:
    """The modules that these files are of; None if anything else is built from one of them.

    *config* is include/config/auto.conf of the kernel.
    """
    wanted: dict[str, set[str]] = {}
    for name in names:
        if is_document(name):
            continue
        path = PurePosixPath(name)
        if path.suffix not in _SOURCES:
            return None
        folder = str(path.parent)
        found = Folder(tree, folder, config).modules_of(name, files)
        if any(kind != "m" for kind, _ in found):
            return None
        if not found and not _is_of_none(tree, name):
            return None
        wanted.setdefault(folder, set()).update(module for _, module in found)
    return [Part(folder, tuple(sorted(modules))) for folder, modules in wanted.items() if modules]


def _is_of_none(tree: Path, name: str) -> bool:
    """Is it a source whose folder has a Makefile that leaves it out in this configuration?"""
    path = PurePosixPath(name)
    folder = tree / path.parent
    text = "".join(
        (folder / makefile).read_text(encoding="utf-8", errors="replace")
        for makefile in _MAKEFILES
        if (folder / makefile).is_file()
    )
    return path.suffix == ".c" and f"{path.stem}.o" in text


def text_of(file: File | None) -> str:
    """A file's contents as text."""
    return "" if file is None else file.data.decode("utf-8", "replace")
