# SPDX-License-Identifier: MIT
"""Kernel modules: which ones a module needs, and their plain contents.

Debian's packages hold no modules.dep (it is made when they are installed), so
each module is asked itself: its section .modinfo has the names it depends on.
"""

from __future__ import annotations

import gzip
import lzma
import struct
from collections.abc import Callable, Sequence
from pathlib import Path

from zvmlab.errors import CannotRun, UsageError
from zvmlab.kernels import Kernel

_SUFFIXES: dict[str, Callable[[bytes], bytes]] = {
    ".ko": bytes,
    ".ko.xz": lzma.decompress,
    ".ko.gz": gzip.decompress,
}
_ELF64_BIG = b"\x7fELF\x02\x02"
_ELF_HEADER = 64
_SECTION = struct.Struct(">IIQQQQIIQQ")


def module_name(file: Path | str) -> str:
    """Name of the module in a file, as the kernel spells it."""
    return Path(file).name.partition(".ko")[0].replace("-", "_")


def read_module(file: Path) -> bytes:
    """The module, decompressed."""
    suffix = file.name[len(file.name.partition(".ko")[0]) :]
    if suffix not in _SUFFIXES:
        raise CannotRun(f"module {file} has the unknown suffix '{suffix}'; .ko, .ko.xz, .ko.gz do")
    try:
        return _SUFFIXES[suffix](file.read_bytes())
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise CannotRun(f"module {file} cannot be read: {error}") from error


def module_info(module: bytes, origin: object = "module") -> dict[str, str]:
    """The section .modinfo of a module for s390x (of names that repeat, the last)."""
    try:
        return _module_info(module)
    except (struct.error, ValueError, IndexError, OverflowError) as error:
        raise UsageError(f"{origin} is no kernel module for s390x") from error


def _module_info(module: bytes) -> dict[str, str]:
    if not module.startswith(_ELF64_BIG):
        raise ValueError("not ELF, 64 bit, big-endian")
    (table,) = struct.unpack_from(">Q", module, 40)
    size, count, names_index = struct.unpack_from(">HHH", module, 58)
    if size != _SECTION.size:
        raise ValueError("section headers of another size")
    sections = [_SECTION.unpack_from(module, table + size * i) for i in range(count)]
    names_at = sections[names_index][4]
    for section in sections:
        start = names_at + section[0]
        if module[start : module.index(b"\0", start)] == b".modinfo":
            text = module[section[4] : section[4] + section[5]]
            pairs = (word.decode("utf-8", "replace").partition("=") for word in text.split(b"\0"))
            return {key: value for key, _, value in pairs if key}
    raise ValueError("no .modinfo")


def depends(file: Path) -> list[str]:
    """Names of the modules that a module needs."""
    words = module_info(read_module(file), file).get("depends", "").split(",")
    return [word.replace("-", "_") for word in words if word]


def builtin(kernel: Kernel) -> frozenset[str]:
    """Modules that are part of the kernel itself."""
    if kernel.modules is None:
        return frozenset()
    try:
        text = (kernel.modules / "modules.builtin").read_text(encoding="utf-8")
    except OSError:
        return frozenset()
    return frozenset(module_name(line) for line in text.split())


def _files(kernel: Kernel) -> dict[str, Path]:
    if kernel.modules is None:
        return {}
    return {module_name(file): file for file in sorted(kernel.modules.rglob("*.ko*"))}


def module_closure(kernel: Kernel, names: Sequence[str]) -> list[Path]:
    """Files of these modules and of all they need, in the order in which to load them.

    A name is a module of the kernel or the path of a .ko file; what the kernel
    has built in is left out.
    """
    files = _files(kernel)
    inside = builtin(kernel)
    order: dict[str, Path] = {}

    def add(name: str, file: Path | None, wanted_by: str) -> None:
        if name in order or (file is None and name in inside):
            return
        found = file or files.get(name)
        if found is None:
            raise UsageError(
                f"kernel {kernel.version} has no module {name}, which {wanted_by}"
                if kernel.modules
                else f"kernel {kernel.version} comes without modules, and {name} {wanted_by}"
            )
        if name in path:
            raise UsageError(f"the modules {', '.join(path)} need each other in a circle")
        path.append(name)
        for other in depends(found):
            add(other, None, f"is needed by {name}")
        path.pop()
        order[name] = found

    path: list[str] = []
    for name in names:
        local = "/" in name or ".ko" in name
        if local and not Path(name).is_file():
            raise UsageError(f"module {name} does not exist")
        add(module_name(name), Path(name) if local else None, "is asked for")
    return list(order.values())
