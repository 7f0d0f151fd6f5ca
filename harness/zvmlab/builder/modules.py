# SPDX-License-Identifier: MIT
"""Kernel modules: which ones a module needs or wants, and their plain contents.

Debian's packages hold no modules.dep (it is made when they are installed), so
each module is asked itself.  Its section .modinfo has the names it depends on
(``depends``), and those that it wants loaded before or after it if they are there
(``softdep``, modprobe.d(5)); the latter may be aliases, as ext4's crypto-crc32c.
"""

from __future__ import annotations

import gzip
import json
import lzma
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base.cache import digest, entry
from zvmlab.base.errors import CannotRun, UsageError
from zvmlab.base.signature import signature
from zvmlab.builder.elf import sections
from zvmlab.builder.kernel import Kernel

_SUFFIXES: dict[str, Callable[[bytes], bytes]] = {
    ".ko": bytes,
    ".ko.xz": lzma.decompress,
    ".ko.gz": gzip.decompress,
}
_ELF64_BIG = b"\x7fELF\x02\x02"


def module_name(file: Path | str) -> str:
    """Name of the module in a file, as the kernel spells it."""
    return os.path.basename(file).partition(".ko")[0].replace("-", "_")


def read_module(file: Path) -> bytes:
    """The module, decompressed."""
    suffix = file.name[len(file.name.partition(".ko")[0]) :]
    if suffix not in _SUFFIXES:
        raise CannotRun(f"module {file}: unknown suffix '{suffix}' (possible: .ko, .ko.xz, .ko.gz)")
    try:
        return _SUFFIXES[suffix](file.read_bytes())
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise CannotRun(f"module {file} cannot be read: {error}") from error


def module_info(module: bytes, origin: object = "module") -> dict[str, str]:
    """The section .modinfo of a module for s390x (of names that repeat, the last)."""
    return dict(module_words(module, origin))


def module_words(module: bytes, origin: object = "module") -> list[tuple[str, str]]:
    """The section .modinfo of a module for s390x, word by word: names may repeat."""
    try:
        return _module_words(module)
    except ValueError as error:
        raise UsageError(f"{origin} is not a kernel module for s390x") from error


def made_for(file: Path) -> str:
    """Version of the kernel that a module was made for; "" if it does not say so."""
    words = module_info(read_module(file), file).get("vermagic", "").split()
    return words[0] if words else ""


def _module_words(module: bytes) -> list[tuple[str, str]]:
    if not module.startswith(_ELF64_BIG):
        raise ValueError("not ELF, 64 bit, big-endian")
    for section in sections(module):
        if section.name == ".modinfo":
            return _words(module[section.place : section.place + section.size])
    raise ValueError("no .modinfo")


def _words(text: bytes) -> list[tuple[str, str]]:
    """NAME=VALUE, each ended by a zero byte."""
    pairs = (word.decode("utf-8", "replace").partition("=") for word in text.split(b"\0"))
    return [(key, value) for key, _, value in pairs if key]


def _plain(name: str) -> str:
    """A module's name or alias as it is compared: kmod takes "-" and "_" for the same."""
    return name.replace("-", "_")


@dataclass(frozen=True)
class Wishes:
    """The requests in a module's .modinfo; *before* and *after* are soft: names or aliases."""

    needs: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]


def wishes(file: Path) -> Wishes:
    """Names of the modules that a module needs, and of those that it would like to have."""
    words = module_words(read_module(file), file)
    needs = dict(words).get("depends", "").split(",")
    soft: dict[str, list[str]] = {"pre:": [], "post:": []}
    for text in (value for key, value in words if key == "softdep"):
        # As for kmod, what stands before the first "pre:" or "post:" means nothing.
        into: list[str] = []
        for word in text.split():
            if word in soft:
                into = soft[word]
            else:
                into.append(_plain(word))
    before, after = tuple(soft["pre:"]), tuple(soft["post:"])
    return Wishes(tuple(_plain(word) for word in needs if word), before, after)


def builtin(kernel: Kernel) -> frozenset[str]:
    """Modules that are part of the kernel itself."""
    if kernel.modules is None:
        return frozenset()
    try:
        text = (kernel.modules / "modules.builtin").read_text(encoding="utf-8")
    except OSError:
        return frozenset()
    return frozenset(module_name(line) for line in text.split())


def module_files(kernel: Kernel) -> dict[str, str]:
    """All modules of a kernel by name: thousands, so they are paths as the system has them."""
    if kernel.modules is None:
        return {}
    walk = os.walk(kernel.modules)
    found = (os.path.join(top, name) for top, _, names in walk for name in names if ".ko" in name)
    files = {module_name(file): file for file in sorted(found, key=lambda path: path.split("/"))}
    return files | {module_name(file): str(file) for file in kernel.replaced}


def available(kernel: Kernel) -> frozenset[str]:
    """Modules of a kernel that can be loaded."""
    return frozenset(module_files(kernel))


def aliases(kernel: Kernel) -> dict[str, list[str]]:
    """Modules by the names that they go by; those that stand for hardware are left out.

    Every module has to be read for that, so the cache keeps the answer.
    """
    files = module_files(kernel)

    def build(folder: Path) -> None:
        found: dict[str, list[str]] = {}
        for name, file in files.items():
            try:
                words = module_words(read_module(Path(file)), file)
            except (CannotRun, UsageError):
                continue  # Nobody has asked for this one.
            for alias in (value for key, value in words if key == "alias" and ":" not in value):
                found.setdefault(_plain(alias), []).append(name)
        (folder / "aliases.json").write_text(json.dumps(found), encoding="utf-8")

    stats = ((file, os.stat(file)) for file in files.values())
    state = [f"{file} {signature(found)}" for file, found in stats]
    kept = entry("aliases", digest(*state), build) / "aliases.json"
    result: dict[str, list[str]] = json.loads(kept.read_text(encoding="utf-8"))
    return result


@dataclass(frozen=True)
class Module:
    """A module's file, and the names of those of the same kernel that belong to it.

    All of *needs* must be there before it; *before* and *after* may fail to load.
    """

    name: str
    file: Path
    needs: tuple[str, ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


class _Finder:
    """Collects modules of one kernel with all that belongs to them, in load order."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._files = module_files(kernel)
        self._inside = builtin(kernel)
        self._path: list[str] = []
        self.found: dict[str, Module] = {}

    def add(self, name: str, file: Path | None, wanted_by: str) -> None:
        """A module and whatever it needs or wants; *file* is given for one of the user's own."""
        if name in self.found or (file is None and name in self._inside):
            return
        if file is None and name in self._files:
            file = Path(self._files[name])
        if file is None:
            version = self._kernel.version
            raise UsageError(
                f"kernel {version} has no module {name}, which {wanted_by}"
                if self._kernel.modules
                else f"kernel {version} comes without modules, and {name} {wanted_by}"
            )
        if name in self._path:
            circle = self._path[self._path.index(name) :]
            raise UsageError(f"the modules {', '.join(circle)} need each other in a cycle")
        self._path.append(name)
        asked = wishes(file)
        before = self._add_soft(name, asked.before)
        for other in asked.needs:
            self.add(other, None, f"is needed by {name}")
        self._path.pop()
        needs = tuple(other for other in asked.needs if other in self.found)
        self.found[name] = Module(name, file, needs, before)
        after = self._add_soft(name, asked.after)
        self.found[name] = Module(name, file, needs, before, after)

    def _add_soft(self, name: str, wanted: Sequence[str]) -> tuple[str, ...]:
        """The modules behind these names, as far as this kernel has them."""
        modules = [module for word in wanted for module in self._behind(word)]
        for module in modules:
            depth = len(self._path)
            try:
                self.add(module, None, f"is wanted by {name}")
            except UsageError:
                # It lacks something, or waits for this one: then it is done without.
                del self._path[depth:]
        return tuple(dict.fromkeys(module for module in modules if module in self.found))

    def _behind(self, word: str) -> list[str]:
        """Modules that a name of a soft dependency means."""
        if word in self._inside:
            return []
        if word in self._files:
            return [word]
        return aliases(self._kernel).get(word, [])


def module_graph(kernel: Kernel, names: Sequence[str]) -> dict[str, Module]:
    """These modules with all they need or want, by name, in the order in which to load them.

    A name is a module of the kernel or the path of a .ko file; what the kernel
    has built in is left out.
    """
    finder = _Finder(kernel)
    for name in names:
        local = "/" in name or ".ko" in name
        if local and not Path(name).is_file():
            raise UsageError(f"module {name} does not exist")
        finder.add(module_name(name), Path(name) if local else None, "is asked for")
    return finder.found


def all_needed(graph: Mapping[str, Module], name: str) -> list[str]:
    """All modules that a module needs, however deep, in the order of a line of modules.dep.

    modprobe loads such a line from its end to its beginning, as depmod(8) means it.
    """
    order: list[str] = []

    def add(module: Module) -> None:
        for other in module.needs:
            if other not in order:
                add(graph[other])
                order.append(other)

    add(graph[name])
    return order[::-1]


def load_steps(graph: Mapping[str, Module], name: str) -> dict[str, bool]:
    """The steps to load a module: names in load order, including its own.

    The value tells whether all fails with that step; others may fail alone.
    """
    steps: dict[str, bool] = {}
    under_way: set[str] = set()

    def add(wanted: str, must: bool) -> None:
        known = wanted in steps and steps[wanted] >= must
        if known or wanted in under_way:
            return
        under_way.add(wanted)
        module = graph[wanted]
        for other in module.before:
            add(other, False)
        for other in module.needs:
            add(other, must)
        steps[wanted] = must
        for other in module.after:
            add(other, False)
        under_way.discard(wanted)

    add(name, True)
    return steps
