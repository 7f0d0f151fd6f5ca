# SPDX-License-Identifier: MIT
"""Addresses of functions of a guest's kernel and of the modules that it has loaded.

The kernel's own are read from /proc/kallsyms once: reading it takes the guest a second.  A module
is somewhere else each time it is loaded, so its functions are found by the symbols of its file and by
the address of the section.
"""

from __future__ import annotations

import fnmatch
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from zvmlab.agent.agent import Agent
from zvmlab.agent.worker import MODULES
from zvmlab.base.cache import digest
from zvmlab.base.errors import UsageError, ZvmlabError
from zvmlab.base.hints import did_you_mean
from zvmlab.base.signature import signature
from zvmlab.builder.elf import sections, text_at

_KALLSYMS = "/proc/kallsyms"
_NAME = re.compile(
    r"(?:(?P<module>[\w-]+):)?(?P<function>[\w.]+)(?:\+(?P<offset>0x[0-9a-f]+|\d+))?"
)
# So much of /proc/kallsyms says whether the kernel has been moved.
_HEAD = 100
# Executable and Linkable Format: a section's type, a symbol's type and binding, a symbol.
_SYMTAB = 2
_FUNC, _WEAK = 2, 2
_SYMBOL = struct.Struct(">IBBHQQ")
KERNEL, ALL_MODULES = "kernel", "modules"
_PATTERN = set("*?[")


class Function(NamedTuple):
    """Where a module's file has a function."""

    section: str
    offset: int
    size: int
    place: int
    """In the file."""
    weak: bool
    """Another one of the same name may take its place."""

    def instructions(self, module: bytes) -> list[int]:
        """Where each one begins, from the function's beginning; *module* is the file.

        The first two bits of an instruction say how long it is (z/Architecture Principles of
        Operation, "Instruction Formats").
        """
        found, at = [], 0
        while at < self.size:
            found.append(at)
            at += (2, 4, 4, 6)[module[self.place + at] >> 6]
        return found


class Code(NamedTuple):
    """A function of the kernel that runs, up to the next one."""

    start: int
    end: int
    name: str
    module: str | None


def functions_of(module: bytes) -> dict[str, Function]:
    """The functions of a module's file, or of an object; ZvmlabError if it is no such file."""
    try:
        known, found = sections(module), {}
        for table in (section for section in known if section.kind == _SYMTAB):
            names = known[table.link].place
            for start in range(table.place, table.place + table.size, _SYMBOL.size):
                named, info, _, at, value, extent = _SYMBOL.unpack_from(module, start)
                if info & 15 == _FUNC and 0 < at < len(known):
                    found[text_at(module, names + named)] = Function(
                        known[at].name, value, extent, known[at].place + value, info >> 4 == _WEAK
                    )
        return found
    except (struct.error, ValueError, IndexError, OverflowError) as error:
        raise ZvmlabError("it is not a module's file") from error


def _of_kernel(text: bytes) -> dict[str, list[int]]:
    """The kernel's own functions in /proc/kallsyms; a static name may be there several times."""
    found: dict[str, list[int]] = {}
    for line in text.decode("ascii", "replace").splitlines():
        words = line.split()
        if len(words) == 3 and words[1] in "tTwW":
            found.setdefault(words[2], []).append(int(words[0], 16))
    return found


_kernels: dict[tuple[str, bytes], dict[str, list[int]]] = {}


class Symbols:
    """Of one guest; *kernel* is the file that it has booted."""

    def __init__(self, kernel: Path, agent: Agent) -> None:
        self._kernel = signature(kernel.stat())
        self._agent = agent
        self._modules: dict[str, dict[str, Function]] = {}
        self._digests: dict[str, str] = {}
        self.kernel_functions: dict[str, list[int]] = {}
        """Addresses of the kernel's own functions, as far as any were looked for."""

    def find(self, name: str) -> int:
        """The address of FUNCTION, MODULE:FUNCTION or FUNCTION+OFFSET; UsageError if there is none."""
        match = _NAME.fullmatch(name)
        if match is None:
            raise UsageError(
                f"{name!r} is not FUNCTION, MODULE:FUNCTION or FUNCTION+OFFSET of the guest's kernel"
            )
        module, function = match["module"], match["function"]
        if module is not None:
            address = self._in_module(module.replace("-", "_"), function)
        else:
            address = self._anywhere(function)
        return address + int(match["offset"] or "0", 0)

    def _loaded(self) -> list[str]:
        text = self._agent.read_file("/proc/modules").decode("ascii", "replace")
        return sorted(line.split()[0] for line in text.splitlines())

    def _in_module(self, module: str, function: str) -> int:
        loaded = self._loaded()
        if module not in loaded:
            raise UsageError(
                f"the module {module} is not loaded, so {function} is nowhere"
                f" (loaded: {', '.join(loaded) or 'none'})"
            )
        known = self.functions(module)
        if function not in known:
            raise UsageError(
                f"the module {module} has no function {function}{did_you_mean(function, known)}"
            )
        return self._place(module, function)

    def _anywhere(self, function: str) -> int:
        own = self._own()
        loaded = self._loaded()
        having = [module for module in loaded if function in self.functions(module)]
        places = len(own.get(function, ())) + len(having)
        if places == 0:
            names = {*own, *(name for module in loaded for name in self.functions(module))}
            raise UsageError(
                f"neither the guest's kernel nor a module that it has loaded"
                f" ({', '.join(loaded) or 'none'}) has a function {function};"
                f" it may be a part of its callers{did_you_mean(function, names)}"
            )
        if places > 1:
            where = ["the kernel"] * len(own.get(function, ())) + having
            raise UsageError(
                f"the guest has {places} functions {function}: in {', '.join(where)};"
                f" a module's is written MODULE:{function}"
            )
        return own[function][0] if function in own else self._place(having[0], function)

    def _own(self) -> dict[str, list[int]]:
        batch = self._agent.batch()
        fd = batch.open(_KALLSYMS)
        batch.read(fd, _HEAD)
        batch.close(fd)
        opened, read, _ = batch.run()
        if opened.errno:
            raise UsageError(f"the guest's kernel has no {_KALLSYMS} (CONFIG_KALLSYMS)")
        head = read.data
        known = _kernels.get((self._kernel, head))
        if known is None:
            known = _of_kernel(self._agent.read_file(_KALLSYMS))
            _kernels[self._kernel, head] = known
        self.kernel_functions = known
        return known

    def functions(self, module: str) -> dict[str, Function]:
        """The functions in the module's file; none if it was loaded from elsewhere."""
        if module not in self._modules:
            try:
                content = self._agent.read_file(f"{MODULES}/{module}.ko")
            except FileNotFoundError:
                content = b""
            self._modules[module] = functions_of(content) if content else {}
            self._digests[module] = digest(content)
        return self._modules[module]

    def is_of(self, module: str, content: bytes) -> bool:
        """Is that what the module's file has?"""
        return self._digests.get(module) == digest(content)

    def _place(self, module: str, function: str) -> int:
        known = self.functions(module)[function]
        start = self._section(module, known.section)
        if start is None:
            raise UsageError(
                f"{function} of the module {module} is not there any more: it was for loading"
                " the module only"
            )
        return start + known.offset

    def _section(self, module: str, section: str) -> int | None:
        """Where a section of the module is; None: it is not there any more."""
        try:
            return int(self._agent.read_file(f"/sys/module/{module}/sections/{section}"), 16)
        except FileNotFoundError:
            return None

    def code(self, *names: str) -> list[Code]:
        """The functions that are meant, in their order in storage.

        A name is "kernel" (all of the kernel's own), "modules" (those of all modules that are
        loaded), a module, a function, or a pattern of functions' names, such as "iucv_*".
        """
        found = {code.start: code for name in names for code in self._named(name)}
        return [found[start] for start in sorted(found)]

    def _named(self, name: str) -> list[Code]:
        loaded = self._loaded()
        if name == KERNEL:
            return list(self._code_of_kernel())
        if name == ALL_MODULES or name.replace("-", "_") in loaded:
            wanted = loaded if name == ALL_MODULES else [name.replace("-", "_")]
            found = [code for module in wanted for code in self._code_of(module)]
        else:
            everything = [
                *self._code_of_kernel(),
                *(code for module in loaded for code in self._code_of(module)),
            ]
            if _PATTERN & set(name):
                found = [code for code in everything if fnmatch.fnmatchcase(code.name, name)]
            else:
                start = self.find(name)
                found = [code for code in everything if code.start <= start < code.end]
        if not found:
            raise UsageError(
                f"neither the guest's kernel nor a module that it has loaded"
                f" ({', '.join(loaded) or 'none'}) has a function {name}"
            )
        return found

    def _code_of_kernel(self) -> Iterator[Code]:
        own = self._own()
        begin, end = own.get("_stext", [0])[0], own.get("_etext", [0])[0]
        starts = {start: name for name, starts in own.items() for start in starts}
        places = sorted(start for start in starts if begin <= start < end)
        for start, following in zip(places, [*places[1:], end]):
            yield Code(start, following, starts[start], None)

    def _code_of(self, module: str) -> Iterator[Code]:
        functions = sorted((*place, name) for name, place in self.functions(module).items())
        sections = {section: self._section(module, section) for section, *_ in functions}
        for at, (section, offset, size, _, _, name) in enumerate(functions):
            base = sections[section]
            end = offset + size
            if at + 1 < len(functions) and functions[at + 1][0] == section:
                end = max(offset, functions[at + 1][1])
            if base is not None and end > offset:
                yield Code(base + offset, base + end, name, module)
