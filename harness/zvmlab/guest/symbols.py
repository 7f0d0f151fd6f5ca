# SPDX-License-Identifier: MIT
"""Addresses of functions of a guest's kernel and of the modules that it has loaded.

The kernel's own are read from /proc/kallsyms once: reading it takes the guest a second.  A module
is somewhere else each time it is loaded, so its functions are found by the symbols of its file and by
the address of the section.
"""

from __future__ import annotations

import re
import struct
from pathlib import Path

from zvmlab.agent.agent import Agent
from zvmlab.agent.worker import MODULES
from zvmlab.base.errors import UsageError, ZvmlabError
from zvmlab.base.hints import did_you_mean
from zvmlab.base.signature import signature

_KALLSYMS = "/proc/kallsyms"
_NAME = re.compile(
    r"(?:(?P<module>[\w-]+):)?(?P<function>[\w.]+)(?:\+(?P<offset>0x[0-9a-f]+|\d+))?"
)
# So much of /proc/kallsyms says whether the kernel has been moved.
_HEAD = 100
# Executable and Linkable Format: a section's type, and a symbol's.
_SYMTAB, _FUNC = 2, 2
_FILE = struct.Struct(">40xQ4x6H")
_SECTION = struct.Struct(">IIQQQQIIQQ")
_SYMBOL = struct.Struct(">IBBHQQ")


def functions_of(module: bytes) -> dict[str, tuple[str, int]]:
    """The functions of a module's file: section and offset in it; ZvmlabError if it is no such file."""
    try:
        table, *_, size, count, names_at = _FILE.unpack_from(module)
        sections = [_SECTION.unpack_from(module, table + size * at) for at in range(count)]

        def name(section: int, offset: int) -> str:
            start = sections[section][4] + offset
            return module[start : module.index(0, start)].decode("ascii", "replace")

        found = {}
        for _, kind, _, _, at, length, strings, *_ in sections:
            for start in range(at, at + length if kind == _SYMTAB else at, _SYMBOL.size):
                named, info, _, section, value, _ = _SYMBOL.unpack_from(module, start)
                if info & 15 == _FUNC and 0 < section < count:
                    found[name(strings, named)] = name(names_at, sections[section][0]), value
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
        self._modules: dict[str, dict[str, tuple[str, int]]] = {}

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
        known = self._functions(module)
        if function not in known:
            raise UsageError(
                f"the module {module} has no function {function}{did_you_mean(function, known)}"
            )
        return self._place(module, function)

    def _anywhere(self, function: str) -> int:
        own = self._own()
        loaded = self._loaded()
        having = [module for module in loaded if function in self._functions(module)]
        places = len(own.get(function, ())) + len(having)
        if places == 0:
            names = {*own, *(name for module in loaded for name in self._functions(module))}
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
        return known

    def _functions(self, module: str) -> dict[str, tuple[str, int]]:
        """The functions in the module's file; none if it was loaded from elsewhere."""
        if module not in self._modules:
            try:
                content = self._agent.read_file(f"{MODULES}/{module}.ko")
            except FileNotFoundError:
                content = b""
            self._modules[module] = functions_of(content) if content else {}
        return self._modules[module]

    def _place(self, module: str, function: str) -> int:
        section, offset = self._functions(module)[function]
        path = f"/sys/module/{module}/sections/{section}"
        try:
            return int(self._agent.read_file(path), 16) + offset
        except FileNotFoundError as error:
            raise UsageError(
                f"{function} of the module {module} is not there any more: it was for loading"
                " the module only"
            ) from error
