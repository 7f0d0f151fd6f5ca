# SPDX-License-Identifier: MIT
"""A virtual disk of one guest, written and read by DIAGNOSE X'250' in two: LINK of a V-DISK."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from vdisk_lab import MODULES, VIRTUAL, await_device, await_disk, has_device, opened, page_of
from vdisk_lab import set_attribute, text_of

from zvmlab.cp import disk
from zvmlab.guest.guest import Guest
from zvmlab.guest.system import System

if TYPE_CHECKING:
    from conftest import Commands

BASE = "IUCV ALLOW;IUCV ANY;IUCV *MSG"
OWN, LINKED = 0x200, 0x300


def online(guest: Guest, number: int) -> str:
    """The drivers are loaded, and the disk is online; its node."""
    for module in ("dasd_diag_mod", "dasd_fba_mod"):
        guest.agent.modprobe(module).check()
    assert set_attribute(guest, number, "use_diag", "1") == 0
    assert set_attribute(guest, number, "online", "1") == 0
    return await_disk(guest, "dasda")


@VIRTUAL
@pytest.mark.requirement("S16")
@pytest.mark.zvmlab_system(
    BOB={"cp": {"directory": f"{BASE};MDISK 0200 FB-512 V-DISK 64 MW"}, "modules": MODULES},
    ALICE={"cp": {"directory": f"{BASE};LINK BOB 0200 0300 RR"}, "modules": MODULES},
)
def test_a_disk_of_another_guest(system: System, vmcp_in: Callable[[Guest], Commands]) -> None:
    """What one writes the other reads; it writes itself as soon as its mode lets it."""
    bob, alice = system.guests["BOB"], system.guests["ALICE"]
    vmcp = vmcp_in(alice)
    assert vmcp("QUERY VIRTUAL 300").text.split()[:4] == ["DASD", "0300", "9336", "(VDSK)"]
    data = page_of(1)
    with opened(bob, online(bob, OWN)) as fd:
        assert bob.agent.pwrite(fd, data, 4096).check() == len(data)
    node = online(alice, LINKED)
    assert text_of(alice, "/sys/class/block/dasda/ro") == "1"
    with opened(alice, node, os.O_RDONLY) as fd:
        assert alice.agent.pread(fd, len(data), 4096).data == data
    assert alice.agent.open(node, os.O_RDWR).errno == errno.EROFS

    assert set_attribute(alice, LINKED, "online", "0") == 0
    assert vmcp("DETACH 300").text == "DASD 0300 DETACHED\n"
    await_device(alice, LINKED, False)
    assert vmcp("LINK BOB 200 300 W").text == "HCPLNM104E BOB 200 not linked; R/W by BOB\n"
    assert not has_device(alice, LINKED)
    assert vmcp("LINK BOB 200 300 MW").text == "DASD 0300 LINKED R/W; R/W by BOB\n"
    await_device(alice, LINKED, True)
    assert set_attribute(alice, LINKED, "use_diag", "1") == 0
    assert set_attribute(alice, LINKED, "online", "1") == 0
    after = page_of(2)
    with opened(alice, await_disk(alice, "dasda")) as fd:
        assert alice.agent.pwrite(fd, after, 8192).check() == len(after)
    assert disk.read(bob.control, OWN, 16, 8) == after
