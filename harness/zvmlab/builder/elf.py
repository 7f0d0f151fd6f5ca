# SPDX-License-Identifier: MIT
"""Recognise files by their first bytes: a program for a machine, a kernel for s390x; read sections."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple

from zvmlab.base.errors import UsageError

EM_S390 = 22
EM_BPF = 247
"""No machine of its own: programs for the kernel's virtual one."""
_MAGIC = b"\x7fELF"
_CLASS64 = 2
_BIG = 2
# What Linux has 8 bytes behind the start of its parameter area (linux/Documentation/s390).
_LINUX_AT = 0x10008
_LINUX = b"S390EP"
# Of a 64-bit file: where its sections are described, and a section.
_FILE = struct.Struct(">40xQ10x3H")
_SECTION = struct.Struct(">IIQQQQIIQQ")


class Section(NamedTuple):
    """A section of an ELF file; numbers are those of its format."""

    name: str
    kind: int
    flags: int
    place: int
    """In the file."""
    size: int
    link: int
    """Index of the section that belongs to it."""


def sections(content: bytes) -> list[Section]:
    """The sections of a 64-bit big-endian ELF file, by their index; ValueError if it is none."""
    try:
        table, size, count, names_at = _FILE.unpack_from(content)
        if size != _SECTION.size:
            raise ValueError("section headers of another size")
        found = [_SECTION.unpack_from(content, table + size * at) for at in range(count)]
        names = found[names_at][4]
        return [
            Section(text_at(content, names + name), kind, flags, place, length, link)
            for name, kind, flags, _, place, length, link, *_ in found
        ]
    except (struct.error, IndexError, OverflowError) as error:
        raise ValueError("its sections are damaged") from error


def text_at(content: bytes, place: int) -> str:
    """The text that begins there and ends before a zero byte; ValueError if it does not end."""
    return content[place : content.index(0, place)].decode("ascii", "replace")


def is_elf(head: bytes) -> bool:
    """Does a file with this beginning claim to be an ELF file?"""
    return head.startswith(_MAGIC)


def is_s390x(head: bytes) -> bool:
    """An ELF file for 64-bit s390; struct.error or ValueError if it is too short to tell."""
    bits, order = head[4:6]
    (machine,) = struct.unpack_from(">H", head, 18)
    return (bits, order, machine) == (_CLASS64, _BIG, EM_S390)


def check_file(path: Path) -> None:
    """UsageError if *path* is a program, or a part of one, that no s390x guest can use."""
    try:
        with open(path, "rb") as file:
            head = file.read(20)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    if not is_elf(head) or len(head) < 20:
        return
    (machine,) = struct.unpack_from(">H" if head[5] == _BIG else "<H", head, 18)
    if machine != EM_BPF and not is_s390x(head):
        raise UsageError(
            f"{path} is a program for another machine, which a guest cannot run;"
            " build it with s390x-linux-gnu-gcc"
        )


def is_linux(image: Path) -> bool:
    """Is it a kernel image as Linux is built for s390x (bzImage, vmlinuz)?

    UsageError if it is neither that nor an ELF program for s390x, which can be
    loaded as well.
    """
    try:
        with open(image, "rb") as file:
            head = file.read(64)
            file.seek(_LINUX_AT)
            linux = file.read(len(_LINUX)) == _LINUX
    except OSError as error:
        raise UsageError(f"the kernel {image} cannot be read: {error.strerror}") from error
    if linux:
        return True
    if is_elf(head) and len(head) == 64 and is_s390x(head):
        return False
    what = "is for another machine" if is_elf(head) else "is neither a bzImage nor an ELF program"
    raise UsageError(
        f"{image} is not a kernel for s390x: it {what}; use a vmlinuz or bzImage for Linux on Z"
    )
