# SPDX-License-Identifier: MIT
"""Counts of lines in the storage of a guest that has ended, as gcov's files.

    storage = LastStorage(file)                     # sim/qemu/last_storage.c wrote it
    for name, counts in counts_in(storage, list_head(symbols, line)):

Compiled code counts in structures of its own (gcc/gcov-io.h, libgcc's gcov.h), which the kernel has
in a list.  A module that was unloaded is not in it.
"""

from __future__ import annotations

import mmap
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from zvmlab.base.errors import ZvmlabError

# sim/qemu/last_storage.c: magic, number of address spaces, and each; then storage.
_MAGIC = 0x5A564D53544F5245
_HEAD, _SPACES_MAX, _PAGE = struct.Struct(">QQ"), 128, 4096
# Principles of Operation, "Dynamic Address Translation": in an address-space-control element the type
# of the first table, and of each type: the shift and the number of bits of the index.
_ORIGIN, _TABLE_ORIGIN = ~0xFFF, ~0x7FF
_FIRST_SHIFT = {3: 53, 2: 42, 1: 31, 0: 20}
_REGION3, _SEGMENT, _PAGES = 31, 20, 12
_INVALID, _FRAME, _PAGE_INVALID = 0x20, 0x400, 0x400

# struct gcov_info, and of each function struct gcov_fn_info and its counters.
_INFO = struct.Struct(">I4xQIIQ")
_FUNCTION, _COUNTER, _POINTER = struct.Struct(">8xIII4x"), struct.Struct(">I4xQ"), 8
_COUNTERS = ((15, 10), (14, 9), (10, 8))
"""From which release of GCC on there are how many kinds of counters."""
_IN_BYTES = 12
"""Since that release, lengths are in bytes and not in words, and there is a checksum."""
_DATA, _TAG_FUNCTION, _TAG_COUNTER = b"gcda", 0x01000000, 0x01A10000
# More than any kernel has: a list that goes on is damaged.
_FILES_MAX, _FUNCTIONS_MAX, _VALUES_MAX, _NAME_MAX = 1 << 16, 1 << 16, 1 << 20, 4096


class LastStorage:
    """What was in a guest's storage at its end; ZvmlabError if the file is not whole."""

    def __init__(self, file: Path) -> None:
        with file.open("rb") as opened:
            try:
                self._all = mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ)
            except ValueError:
                raise ZvmlabError(f"{file} has no storage of a guest") from None
        magic, count = _HEAD.unpack_from(self._all.read(_PAGE).ljust(_PAGE, b"\0"))
        if magic != _MAGIC or not 1 <= count <= _SPACES_MAX:
            raise ZvmlabError(f"{file} has no storage of a guest")
        self._spaces = struct.unpack_from(f">{count}Q", self._all, _HEAD.size)
        self._space = 0

    def enter(self, address: int) -> None:
        """From now on addresses are of the first space that has this one."""
        for self._space in self._spaces:
            if self._real(address) is not None:
                return
        raise ZvmlabError(f"the guest had nothing at the address {address:#x}")

    def read(self, address: int, length: int) -> bytes:
        """That many bytes at a virtual address."""
        parts = []
        while length:
            part = min(length, _PAGE - address % _PAGE)
            real = self._real(address)
            if real is None:
                raise ZvmlabError(f"the guest had nothing at the address {address:#x}")
            parts.append(self._at(real, part))
            address, length = address + part, length - part
        return b"".join(parts)

    def word(self, address: int) -> int:
        """The eight bytes there."""
        return int.from_bytes(self.read(address, _POINTER))

    def name(self, address: int) -> str:
        """The text there, up to its zero."""
        text = b""
        while b"\0" not in text and len(text) < _NAME_MAX:
            part = _PAGE - address % _PAGE
            text += self.read(address, part)
            address += part
        return text.partition(b"\0")[0].decode("utf-8", "replace")

    def _at(self, real: int, length: int) -> bytes:
        found = self._all[_PAGE + real : _PAGE + real + length]
        if len(found) < length:
            raise ZvmlabError(f"the guest had no storage at {real:#x}")
        return found

    def _entry(self, table: int, index: int) -> int:
        return int.from_bytes(self._at(table + index * _POINTER, _POINTER))

    def _real(self, address: int) -> int | None:
        """The real address; None if the space has none."""
        shift = _FIRST_SHIFT[self._space >> 2 & 3]
        if address >> shift >= 1 << 11:
            return None
        table = self._space & _ORIGIN
        while shift > _PAGES:
            entry = self._entry(table, address >> shift & 0x7FF)
            if entry & _INVALID:
                return None
            if shift <= _REGION3 and entry & _FRAME:
                return entry >> shift << shift | address & ((1 << shift) - 1)
            table = entry & (_TABLE_ORIGIN if shift == _SEGMENT else _ORIGIN)
            shift = _PAGES if shift == _SEGMENT else shift - 11
        entry = self._entry(table, address >> _PAGES & 0xFF)
        return None if entry & _PAGE_INVALID else entry & _ORIGIN | address % _PAGE

    def __enter__(self) -> LastStorage:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._all.close()


def list_head(symbols: Path, line: str) -> int:
    """The address of the kernel's list, by its System.map.

    *line* is one of the guest's /proc/kallsyms: it says how far the kernel has been moved.
    """
    known = symbols.read_text("ascii")
    address, _, name = line.split()
    places = []
    for wanted in ("gcov_info_head", name):
        found = re.search(rf"^([0-9a-f]+) \w {re.escape(wanted)}$", known, re.MULTILINE)
        if found is None:
            raise ZvmlabError(f"{symbols} has no {wanted}")
        places.append(int(found[1], 16))
    return places[0] - places[1] + int(address, 16)


def counts_in(storage: LastStorage, head: int) -> Iterator[tuple[str, bytes]]:
    """Of each source: the name of its file of counts, as the compiler noted it, and that file."""
    storage.enter(head)
    at = storage.word(head)
    for _ in range(_FILES_MAX):
        if not at:
            return
        version, following, stamp, _checksum, name = _INFO.unpack(storage.read(at, _INFO.size))
        yield storage.name(name), _file(storage, at + _INFO.size, version, stamp)
        at = following
    raise ZvmlabError("the guest's list of counts does not end")


def _file(storage: LastStorage, at: int, version: int, stamp: int) -> bytes:
    """gcov's file of one source; *at*: what follows its name in struct gcov_info."""
    letters = version.to_bytes(4)
    release = (letters[0] - ord("A")) * 10 + letters[1] - ord("0")
    kinds = next((number for first, number in _COUNTERS if release >= first), 0)
    if not kinds or not letters.isascii():
        raise ZvmlabError(f"counts of GCC {letters!r} cannot be read (GCC 10 and later)")
    merges = struct.unpack(f">{kinds}Q", storage.read(at, kinds * _POINTER))
    active = [kind for kind, merge in enumerate(merges) if merge]
    number, functions = _COUNTER.unpack(storage.read(at + kinds * _POINTER, _COUNTER.size))
    unit, checksum = (4, b"\0\0\0\0") if release >= _IN_BYTES else (1, b"")
    parts = [_DATA, struct.pack(">II", version, stamp), checksum]
    for index in range(_limited(number, _FUNCTIONS_MAX)):
        function = storage.word(functions + index * _POINTER)
        parts.append(struct.pack(">II", _TAG_FUNCTION, 3 * unit))
        parts.append(struct.pack(">III", *_FUNCTION.unpack(storage.read(function, _FUNCTION.size))))
        for place, kind in enumerate(active):
            counter = function + _FUNCTION.size + place * _COUNTER.size
            count, values = _COUNTER.unpack(storage.read(counter, _COUNTER.size))
            found = storage.read(values, _limited(count, _VALUES_MAX) * 8)
            parts.append(struct.pack(">II", _TAG_COUNTER + (kind << 17), count * 2 * unit))
            # The lower word comes first.
            parts += (found[i + 4 : i + 8] + found[i : i + 4] for i in range(0, len(found), 8))
    return b"".join(parts)


def _limited(number: int, most: int) -> int:
    if number > most:
        raise ZvmlabError(f"the guest's counts are damaged: {number} of something (at most {most})")
    return number
