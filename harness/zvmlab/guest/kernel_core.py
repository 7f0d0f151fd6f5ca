# SPDX-License-Identifier: MIT
"""A running guest's storage as an ELF core of its kernel, as drgn and crash read it.

    write_core(control, Path("guest.core"))

The core has the kernel's own note VMCOREINFO, by which a debugger finds symbols, and no registers.
What the kernel's page tables map is mapped in the core, too, for debuggers that do not read these.
"""

from __future__ import annotations

import contextlib
import os
import re
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from zvmlab.base.errors import CannotRun, UsageError
from zvmlab.cp.control import Control, decode

# Executable and Linkable Format: the header of a file, and of a program.
_EHDR, _PHDR = struct.Struct(">16sHHIQQQIHHHHHH"), struct.Struct(">IIQQQQQQ")
_IDENT = b"\x7fELF\x02\x02\x01"
"""64 bits, most significant byte first, version 1."""
_CORE, _S390, _VERSION, _LOAD, _NOTE, _READ_WRITE_EXECUTE = 4, 22, 1, 1, 4, 7
# arch/s390/include/asm/lowcore.h: vmcore_info, the real address of a note.
_VMCORE_INFO, _LOWCORE = 0xE0C, 8192
_NOTE_HEAD, _NOTE_MAX = struct.Struct(">III"), 4096
_NAME = b"VMCOREINFO\0"
_PAGE, _CHUNK = 4096, 4 << 20
# Principles of Operation, "Dynamic Address Translation": by the type of a table, how far an entry's
# index is shifted; in an entry the type, and that it is invalid, or leads to storage itself.
_SHIFTS = {2: 42, 1: 31, 0: 20}
_PAGE_SHIFT, _PAGE_ENTRIES, _ENTRIES = 12, 256, 2048
_INVALID, _FRAME, _PAGE_INVALID, _TYPE = 0x20, 0x400, 0x400, 0xC
_MOST_LOADS = 60_000
"""The header of a file counts them in two bytes."""
_WORD = re.compile(rb"^(\w+)=([0-9a-f]+)$", re.MULTILINE)
_TOP = re.compile(rb"^SYMBOL\(swapper_pg_dir\)=([0-9a-f]+)$", re.MULTILINE)


Extents = Sequence[tuple[int, int]]
"""Begin and size of each."""


class _Load(NamedTuple):
    """A part of storage, and where the kernel has it."""

    virtual: int
    real: int
    size: int


def write_core(control: Control, file: Path) -> int:
    """Write the core while the guest stands still; the bytes of storage that it has.

    In Hercules the guest goes on meanwhile.  UsageError if its kernel has no VMCOREINFO.
    """
    extents = [(one["start"], one["size"]) for one in control.execute("query-cp")["storage"]]
    part = file.with_name(f".{file.name}.part")
    with _paused(control):
        note = _vmcoreinfo(control)
        try:
            with part.open("wb") as core:
                at = _write_head(core, note, extents, _loads(control, note, extents))
                for start, size in extents:
                    at = _write_storage(control, core, at, start, size)
                core.truncate(at)
            part.replace(file)
        except OSError as error:
            raise CannotRun(f"{file} cannot be written: {error.strerror}") from None
        finally:
            part.unlink(missing_ok=True)
    return sum(size for _, size in extents)


@contextlib.contextmanager
def _paused(control: Control) -> Iterator[None]:
    """The guest's CPUs stand still within the block, if they can."""
    if not control.execute("query-machine").get("runs", False):
        yield
        return
    control.execute("machine-pause")
    try:
        yield
    finally:
        control.execute("machine-continue")


def _read(control: Control, address: int, length: int) -> bytes:
    return decode(control.execute("storage-read", address=address, length=length)["data"])


def _vmcoreinfo(control: Control) -> bytes:
    """The kernel's note."""
    address = int.from_bytes(_read(control, 0, _LOWCORE)[_VMCORE_INFO : _VMCORE_INFO + 8])
    found = _read(control, address, _NOTE_MAX) if address else b""
    name_size, size, _ = _NOTE_HEAD.unpack_from(found.ljust(_NOTE_HEAD.size, b"\0"))
    begin = _NOTE_HEAD.size + _padded(name_size)
    if not found[_NOTE_HEAD.size :].startswith(_NAME) or begin + _padded(size) > len(found):
        raise UsageError(
            "the guest's kernel says nothing about itself for a debugger (VMCOREINFO): it has not"
            " started, or was built without CONFIG_CRASH_DUMP"
        )
    return found[: begin + _padded(size)]


def _padded(size: int) -> int:
    return -(-size // 4) * 4


def _loads(control: Control, note: bytes, extents: Extents) -> list[_Load]:
    """All storage where the kernel has it as a whole, and what its page tables map elsewhere."""
    words = {name: int(value, 16) for name, value in _WORD.findall(note)}
    identity = words.get(b"IDENTITYBASE", 0)
    (start, size), *others = extents
    # Debuggers take real addresses for absent if all of them are 0, as that of a single extent.
    parts = [(start, _PAGE), (start + _PAGE, size - _PAGE), *others]
    loads = [_Load(identity + begin, begin, length) for begin, length in parts]
    top = _TOP.search(note)
    if top is None:
        return loads
    # Since 6.10 the kernel may be elsewhere than its virtual addresses say.
    moved = words.get(b"KERNELOFFSET", 0) if b"KERNELOFFPHYS" in words else 0
    table = int(top[1], 16) - moved + words.get(b"KERNELOFFPHYS", 0)
    for virtual, real, length in _mapped(_Tables(control, extents), table, 0):
        last = loads[-1]
        if virtual - identity == real:
            continue
        if len(loads) > len(parts) and last.virtual + last.size == virtual:
            if last.real + last.size == real:
                loads[-1] = last._replace(size=last.size + length)
                continue
        if len(loads) == _MOST_LOADS:
            break
        loads.append(_Load(virtual, real, length))
    return loads


class _Tables:
    """Reads each table once: one that several entries lead to is KASAN's, of shadow that is not there."""

    def __init__(self, control: Control, extents: Extents) -> None:
        self._control = control
        self._extents = extents
        self._seen: set[int] = set()

    def has(self, real: int, size: int) -> bool:
        """Is that storage?"""
        return any(start <= real and real + size <= start + all_ for start, all_ in self._extents)

    def entries(self, table: int, count: int) -> tuple[int, ...]:
        """The entries of one that has not been read."""
        if table in self._seen or not self.has(table, 8 * count):
            return ()
        self._seen.add(table)
        return struct.unpack(f">{count}Q", _read(self._control, table, 8 * count))


def _mapped(tables: _Tables, table: int, virtual: int) -> Iterator[_Load]:
    """What a table of regions or segments maps, from that address on."""
    for index, entry in enumerate(tables.entries(table, _ENTRIES)):
        shift = _SHIFTS.get((entry & _TYPE) >> 2)
        if shift is None or entry & _INVALID:
            continue
        at, size = virtual + (index << shift), 1 << shift
        if entry & _FRAME and shift < max(_SHIFTS.values()):
            real = entry & -size
            if tables.has(real, size):
                yield _Load(at, real, size)
        elif shift > min(_SHIFTS.values()):
            yield from _mapped(tables, entry & -_PAGE, at)
        else:
            yield from _pages(tables, entry & -(8 * _PAGE_ENTRIES), at)


def _pages(tables: _Tables, table: int, virtual: int) -> Iterator[_Load]:
    for index, entry in enumerate(tables.entries(table, _PAGE_ENTRIES)):
        if not entry & _PAGE_INVALID and tables.has(entry & -_PAGE, _PAGE):
            yield _Load(virtual + (index << _PAGE_SHIFT), entry & -_PAGE, _PAGE)


def _write_head(core: BinaryIO, note: bytes, extents: Extents, loads: list[_Load]) -> int:
    """Headers and the note; where storage begins in the file."""
    count = 1 + len(loads)
    head = _EHDR.size + count * _PHDR.size
    first = -(-(head + len(note)) // _PAGE) * _PAGE
    ident, none = _IDENT.ljust(16, b"\0"), (0, 0, 0)
    core.write(
        _EHDR.pack(
            *(ident, _CORE, _S390, _VERSION, 0, _EHDR.size, 0, 0),
            *(_EHDR.size, _PHDR.size, count, *none),
        )
    )
    core.write(_PHDR.pack(_NOTE, 0, head, 0, 0, len(note), 0, 4))
    for virtual, real, size in loads:
        at = first + _place(extents, real)
        flags = _READ_WRITE_EXECUTE
        core.write(_PHDR.pack(_LOAD, flags, at, virtual, real, size, size, _PAGE))
    core.write(note)
    return first


def _place(extents: Extents, real: int) -> int:
    """Where in all storage an address is."""
    before = 0
    for start, size in extents:
        if start <= real < start + size:
            return before + real - start
        before += size
    raise AssertionError(f"{real:#x} is no storage")


def _write_storage(control: Control, core: BinaryIO, at: int, start: int, size: int) -> int:
    """An extent from there on; pages of zeros are holes.  Return: where the next one begins."""
    zeros = bytes(_PAGE)
    for begin in range(start, start + size, _CHUNK):
        data = _read(control, begin, min(_CHUNK, start + size - begin))
        for page in range(0, len(data), _PAGE):
            if data[page : page + _PAGE] != zeros[: len(data) - page]:
                core.seek(at + page, os.SEEK_SET)
                core.write(data[page : page + _PAGE])
        at += len(data)
    return at
