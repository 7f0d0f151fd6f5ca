# SPDX-License-Identifier: MIT
"""DETACH of unit record devices and virtual disks: Linux is told by a channel report."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest

from vdisk_lab import await_device, has_device, set_attribute
from waiting import wait_until
from zvmlab.cp.spool import PUNCH, files
from zvmlab.guest.config import HERCULES
from zvmlab.guest.guest import Guest

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Commands

READER, PUNCHER, PRINTER, DISK, OTHER = 0x0C, 0x0D, 0x0E, 0x200, 0x201
ALL = (READER, PUNCHER, PRINTER, DISK, OTHER)
DIRECTORY = (
    "IUCV ALLOW;IUCV ANY;IUCV *MSG;SPOOL 00C 2540 READER *;SPOOL 00D 2540 PUNCH A;SPOOL 00E 1403 A;"
    "MDISK 0200 FB-512 V-DISK 64 MW;MDISK 0201 FB-512 V-DISK 64 MW"
)
NODE = "/sys/class/vmur/vmpun-0.0.000d/dev"

pytestmark = [
    pytest.mark.requirement("V16"),
    pytest.mark.zvmlab(cp={"directory": DIRECTORY}, modules=("vmur",)),
]


@pytest.fixture(autouse=True)
def _qemu_only(zvmlab_backend: str) -> None:
    if zvmlab_backend == HERCULES:
        pytest.skip("the devices of Hercules are its own, and CP has no part in them")


def present(guest: Guest) -> set[int]:
    """Devices of these that Linux has."""
    return {number for number in ALL if has_device(guest, number)}


def test_devices_go(guest: Guest, vmcp_in: Callable[[Guest], Commands]) -> None:
    """Each alone; the others stay; a restart brings none back, going back to a moment does."""
    vmcp = vmcp_in(guest)
    assert present(guest) == set(ALL)
    for number, kind in ((READER, "RDR "), (PRINTER, "PRT "), (DISK, "DASD")):
        answer = vmcp(f"detach {number:x}")
        assert (answer.rc, answer.text) == (0, f"{kind} {number:04X} DETACHED\n")
        await_device(guest, number, False)
        again = vmcp(f"detach {number:x}")
        assert (again.rc, again.text) == (40, f"HCPDTV040E Device {number:04X} does not exist\n")
    assert present(guest) == {PUNCHER, OTHER}
    guest.reboot()
    assert present(guest) == {PUNCHER, OTHER}
    guest.put_back()
    assert present(guest) == set(ALL)


def test_punch_that_is_written(guest: Guest, vmcp_in: Callable[[Guest], Commands]) -> None:
    """The file is closed; the program has an error, and Linux the device no longer."""
    vmcp = vmcp_in(guest)
    guest.agent.modprobe("vmur").check()
    assert set_attribute(guest, PUNCHER, "online", "1") == 0
    wait_until(lambda: guest.agent.open(NODE).errno == 0, "the punch has its node")
    major, _, minor = guest.agent.read_file(NODE).decode().strip().partition(":")
    device = int(major) << 8 | int(minor)
    assert guest.agent.mknod("/punch", 0o20600, device).errno == 0
    fd = guest.agent.open("/punch", os.O_WRONLY).check()
    assert guest.agent.write(fd, b"\xc1" * 80).check() == 80
    assert vmcp("detach d").text == "PUN  000D DETACHED\n"
    (file,) = files(guest.control, "LINUX001", PUNCH)
    assert (file.records, file.open) == (1, False)
    await_device(guest, PUNCHER, False)
    assert guest.agent.write(fd, b"\xc1" * 80).errno in (errno.EINVAL, errno.ENODEV)
    assert guest.agent.close(fd).errno == 0

    def is_gone() -> bool:
        opened = guest.agent.open("/punch", os.O_WRONLY)
        if opened.errno == 0:
            guest.agent.close(opened.ret).check()
        return opened.errno == errno.ENXIO

    # The device's attributes go first, then its driver is told.
    wait_until(is_gone, "the driver has lost the punch")
