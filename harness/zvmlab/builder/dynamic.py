# SPDX-License-Identifier: MIT
"""Read a dynamic program's loader and libraries for the guest.

Read here, because a machine without compilers has no readelf.
"""

from __future__ import annotations

import struct
from pathlib import Path

from zvmlab.base.errors import CannotRun
from zvmlab.builder.elf import is_elf, is_s390x

# elf(5), for 64 bits: the header's e_phoff, e_phentsize and e_phnum; p_type and so on.
_HEADER = struct.Struct(">32xQ14xHH")
_PROGRAM_HEADER = struct.Struct(">IIQQQQ16x")
_ENTRY = struct.Struct(">qQ")
_LOAD, _DYNAMIC, _INTERP = 1, 2, 3
_NULL, _NEEDED, _STRTAB = 0, 1, 5


class _NoProgram(Exception):
    """It is not what it claims to be."""


def _text(data: bytes, at: int) -> str:
    """The text at an offset, which ends with a zero byte."""
    end = data.find(b"\0", at)
    if not 0 <= at < end:
        raise _NoProgram
    return data[at:end].decode("utf-8")


def _offset(loads: list[tuple[int, int, int]], address: int) -> int:
    """The file offset of that address."""
    for offset, start, size in loads:
        if start <= address < start + size:
            return offset + address - start
    raise _NoProgram


def _read(data: bytes) -> tuple[str | None, list[str]]:
    if not is_elf(data) or not is_s390x(data):
        raise _NoProgram
    at, length, count = _HEADER.unpack_from(data)
    loads, loader, entries = [], None, b""
    for number in range(count):
        kind, _, offset, address, _, size = _PROGRAM_HEADER.unpack_from(data, at + number * length)
        if kind == _LOAD:
            loads.append((offset, address, size))
        elif kind == _INTERP:
            loader = _text(data, offset)
        elif kind == _DYNAMIC:
            entries = data[offset : offset + size // _ENTRY.size * _ENTRY.size]
    tags: list[tuple[int, int]] = []
    for tag, value in _ENTRY.iter_unpack(entries):
        if tag == _NULL:
            break
        tags.append((tag, value))
    names = [value for tag, value in tags if tag == _NEEDED]
    if not names:
        return loader, []
    table = _offset(loads, dict(tags).get(_STRTAB, -1))
    return loader, [_text(data, table + name) for name in names]


def dynamic(program: Path) -> tuple[str | None, list[str]]:
    """The loader that a program names, and the libraries that it or a library needs.

    CannotRun if it is none for s390x, or damaged.
    """
    try:
        return _read(program.read_bytes())
    except OSError as error:
        raise CannotRun(f"{program} cannot be read: {error.strerror}") from error
    except (_NoProgram, struct.error, ValueError, OverflowError) as error:
        raise CannotRun(f"{program} is no program for s390x, or damaged") from error
