# SPDX-License-Identifier: MIT
"""Virtual disks of a guest as its kernel has them, whichever discipline reads and writes them."""

from __future__ import annotations

import errno
import os
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from waiting import wait_until
from zvmlab.cp import disk
from zvmlab.cp.faults import Fault, armed
from zvmlab.guest.guest import Guest

DIRECTORY = (
    "IUCV ALLOW;IUCV ANY;IUCV *MSG;MDISK 0200 FB-512 V-DISK 16384 MW;MDISK 0201 FB-512 V-DISK 64 R;"
    "MDISK 0202 FB-512 V-DISK 64 W"
)
DISKS = {0x200: 16384, 0x201: 64, 0x202: 64}
MAIN, READ_ONLY, THIRD = DISKS
MODULES = ("dasd_mod", "dasd_fba_mod", "dasd_diag_mod")
# These kernels have other virtual than real addresses.
VIRTUAL = pytest.mark.kernel_defect(
    64,
    "dasd_diag gives CP virtual addresses",
    seen=r"assert (95 == [05]|0 > 0|\"the disk gives .*ENOTSUP.*)|Counter\(.*\b95: .*",
    kernels=("trixie:debug", "sid:debug", "source:6.12:fuzz", "source:7.2:fuzz"),
)


def _device(number: int) -> str:
    return f"/sys/bus/ccw/devices/0.0.{number:04x}"


def has_device(guest: Guest, number: int) -> bool:
    """Linux has the device."""
    try:
        return bool(attribute(guest, number, "cutype"))
    except OSError as error:
        assert error.errno in (errno.ENOENT, errno.ENODEV)
        return False


def await_device(guest: Guest, number: int, there: bool) -> None:
    """Linux has found the device and its driver has it, or Linux has lost it."""
    what = f"device {number:04X} is {'there, with its driver,' if there else 'gone'}"
    wait_until(lambda: _is_driven(guest, number) if there else not has_device(guest, number), what)


def _is_driven(guest: Guest, number: int) -> bool:
    """A driver of disks has the device: only then does it have the driver's attributes."""
    return text_of(guest, f"{_device(number)}/use_diag") != ""


def set_attribute(guest: Guest, number: int, name: str, value: str) -> int:
    """errno of a write to an attribute of the device."""
    try:
        guest.agent.write_file(f"{_device(number)}/{name}", value.encode() + b"\n")
    except OSError as error:
        return error.errno or errno.EIO
    return 0


def attribute(guest: Guest, number: int, name: str) -> str:
    return guest.agent.read_file(f"{_device(number)}/{name}").decode().strip()


def text_of(guest: Guest, path: str) -> str:
    """A file's text; "" if there is none (yet)."""
    try:
        return guest.agent.read_file(path).decode().strip()
    except OSError:
        return ""


def await_disk(guest: Guest, name: str) -> str:
    """The kernel looks at a new disk after the write that has set it online; its node."""
    wait_until(
        lambda: text_of(guest, f"/sys/class/block/{name}/size") not in ("", "0"),
        f"{name} with its size",
    )
    return f"/dev/{name}"


def found_line(guest: Guest, since: int) -> str:
    """The driver's line about the disk that it has found, without a module's name in front."""
    lines = [line.text for line in guest.agent.dmesg(since) if re.search("New .*DASD ", line.text)]
    assert len(lines) == 1, lines
    return lines[0][lines[0].index("0.0.") :]


@contextmanager
def opened(guest: Guest, node: str, flags: int = os.O_RDWR | os.O_SYNC) -> Iterator[int]:
    fd = guest.agent.open(node, flags).check()
    try:
        yield fd
    finally:
        guest.agent.close(fd).check()


def page_of(seed: int, size: int = 4096) -> bytes:
    return random.Random(seed).randbytes(size)


def write_blocks_that_fail(lab: Guest, fd: int) -> None:
    """What failed is given again, 32 times; then it is the program's EIO, and changes nothing."""
    data = page_of(7)
    with armed(lab.control, Fault("disk.block", "rc", 5, times=20)) as rules:
        assert lab.agent.pwrite(fd, data, 8192).check() == 4096
    assert rules[0].fired == 20
    assert disk.read(lab.control, MAIN, 16, 8) == data
    with armed(lab.control, Fault("disk.block", "rc", 5)) as rules:
        assert lab.agent.pwrite(fd, page_of(8), 8192).errno == errno.EIO
    assert rules[0].fired >= 32
    assert disk.read(lab.control, MAIN, 16, 8) == data
