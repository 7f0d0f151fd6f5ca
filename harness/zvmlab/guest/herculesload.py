# SPDX-License-Identifier: MIT
"""The files that Hercules loads: a .ins file and the parts that it places in storage.

A kernel is a flat image that begins with its IPL PSW, as Linux builds it, or an
ELF program; QEMU loads both as they are.
"""

from __future__ import annotations

import shutil
import struct
from pathlib import Path

from zvmlab.base.errors import UsageError
from zvmlab.guest.config import MIB, GuestConfig, Artifacts, first_extent_end

LOAD = "guest.ins"
# Linux' parameter area: place and size of the initrd, command line.
_INITRD_AT = 0x10408
_COMMAND_LINE_AT = 0x10480
_COMMAND_LINE_MAX = 896
_INITRD = 32 * MIB
_ELF_HEAD = struct.Struct(">16sHHIQQQIHHHHHH")
_ELF_SEGMENT = struct.Struct(">IIQQQQQQ")
_PT_LOAD = 1
# IPL PSW: ESA/390 mode, 31-bit addresses.
_PSW_ESA = 0x00080000
_PSW_31 = 0x80000000

Part = tuple[str, int, bytes]
"""File name, address, contents."""


def elf_parts(image: bytes) -> list[Part]:
    """The segments of an ELF program, and an IPL PSW that enters it."""
    try:
        *_, entry, offset, _sections, _flags, _size, each, count = _ELF_HEAD.unpack_from(image)[:11]
        parts = [("psw", 0, struct.pack(">II", _PSW_ESA, _PSW_31 | entry))]
        for number in range(count):
            head = _ELF_SEGMENT.unpack_from(image, offset + number * each)
            kind, _, at, _, address, stored, size, _ = head
            if kind == _PT_LOAD:
                data = image[at : at + stored].ljust(size, b"\0")
                parts.append((f"kernel.{number}", address, data))
    except struct.error as error:
        raise UsageError("the kernel is a damaged ELF program") from error
    return parts


def kernel_parts(kernel: Path) -> list[Part]:
    """A kernel image of either kind."""
    image = kernel.read_bytes()
    return elf_parts(image) if image.startswith(b"\x7fELF") else [("kernel", 0, image)]


def linux_parts(config: GuestConfig, image_size: int) -> list[Part]:
    """The parts of Linux' parameter area."""
    line = config.kernel_parameters().encode()
    if len(line) >= _COMMAND_LINE_MAX:
        raise UsageError(
            f"the kernel's command line is too long: {len(line)} bytes"
            f" (at most {_COMMAND_LINE_MAX - 1})"
        )
    place = struct.pack(">QQ", initrd_address(config), image_size)
    return [
        ("initrd.place", _INITRD_AT, place),
        ("command.line", _COMMAND_LINE_AT, line + b"\0"),
    ]


def initrd_address(config: GuestConfig) -> int:
    """The address of the initrd: behind the kernel, within the first extent."""
    return min(_INITRD, first_extent_end(config.storage) // 2)


def write_load(into: Path, config: GuestConfig, artifacts: Artifacts) -> None:
    """Write the .ins file and its parts."""
    parts = kernel_parts(artifacts.kernel)
    lines = []
    if parts[0][0] == "kernel":
        shutil.copy(artifacts.image, into / "initrd")
        lines.append(f"initrd {initrd_address(config):#x}")
        parts += linux_parts(config, (into / "initrd").stat().st_size)
    for name, address, data in parts:
        (into / name).write_bytes(data)
        lines.append(f"{name} {address:#x}")
    (into / LOAD).write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
