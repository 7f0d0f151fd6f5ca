# SPDX-License-Identifier: MIT
"""Saved segments of several guests on one CP: what they share, and what is each one's own."""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from test_dcssblk import (
    AFTER,
    BEFORE,
    PAGE,
    SHADOW_TAKEN,
    SHADOW_TAKEN_UNSAID,
    Block,
    attempt,
    busybox,
)
from waiting import LIMIT

from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest
from zvmlab.guest.system import System

if TYPE_CHECKING:
    from conftest import Build

READ_ONLY = 1
FILE = "/mnt/file"
DISKS = {"modules": ("dcssblk", "ext4"), "busybox": True}
BLOCKS = {"modules": ("dcssblk",)}


def block(guest: Guest, name: str) -> Block:
    return Block(guest, name)


def mount(guest: Guest, flags: int = 0) -> None:
    guest.agent.mount("/dev/dcssblk0", "/mnt", "ext4", flags).check()


def segment(guest: Guest, name: str) -> list[dict[str, object]]:
    """What CP says of segments of that name."""
    found = guest.control.execute("query-segments")["segments"]
    return [one for one in found if one["name"] == name]


@SHADOW_TAKEN
@SHADOW_TAKEN_UNSAID
@pytest.mark.representative
@pytest.mark.requirement("S9", "B6")
@pytest.mark.zvmlab_system(
    ALICE=DISKS, BOB=DISKS, CAROL=DISKS, DAVE=DISKS, segments=["DISK 9000-91FF SR"]
)
def test_file_system_of_three(system: System) -> None:
    """One guest changes and saves it while three have it: they read on, and find the new one later."""
    guests = list(system.guests.values())
    *readers, writer = guests
    for guest in guests:
        for module in ("dcssblk", "ext4"):
            guest.agent.modprobe(module).check()
        busybox(guest, "mkdir", "-p", "/mnt")
    disk = block(writer, "DISK")

    def save(data: bytes, make: bool) -> None:
        disk.load(exclusive=True)
        if make:
            busybox(writer, "mke2fs", "-b", "4096", "/dev/dcssblk0")
        mount(writer)
        writer.agent.write_file(FILE, data, 0o600)
        writer.agent.umount("/mnt").check()
        disk.set("DISK/save", "1")
        disk.purge()

    save(BEFORE, make=True)
    for guest in readers:
        block(guest, "DISK").load(exclusive=False)
        mount(guest, READ_ONLY)
        assert guest.agent.read_file(FILE) == BEFORE
    assert [one["users"] for one in segment(writer, "DISK")] == [3]
    save(AFTER, make=False)
    for guest in readers:
        # Not what the kernel remembers, but what lies in the segment.
        guest.agent.write_file("/proc/sys/vm/drop_caches", b"3")
        assert guest.agent.read_file(FILE) == BEFORE
    for count, guest in enumerate(readers, 1):
        guest.agent.umount("/mnt").check()
        block(guest, "DISK").purge()
        block(guest, "DISK").load(exclusive=False)
        mount(guest, READ_ONLY)
        assert guest.agent.read_file(FILE) == AFTER
        # The old one goes with its last user.
        assert len(segment(writer, "DISK")) == (1 if count == len(readers) else 2)


@pytest.mark.representative
@pytest.mark.requirement("S9")
@pytest.mark.zvmlab_system(
    ALICE=BLOCKS,
    BOB=BLOCKS,
    segments=["SHARED 9000-90FF SW", "OWN 9100-91FF EW", "EMPTY 9200-92FF EN"],
)
def test_stores(system: System) -> None:
    """SW: what one stores is there in the other, until the last has gone.  EW, EN: it is not."""
    alice, bob = system.guests.values()
    for guest in (alice, bob):
        guest.agent.modprobe("dcssblk").check()
    for name in ("SHARED", "OWN", "EMPTY"):
        one, other = block(alice, name), block(bob, name)
        one.load(exclusive=False)
        other.load(exclusive=False)
        one.write(PAGE, BEFORE)
        shared = name == "SHARED"
        assert other.read(PAGE, len(BEFORE)) == (BEFORE if shared else bytes(len(BEFORE)))
        one.purge()
        one.load(exclusive=False)
        assert one.read(PAGE, len(BEFORE)) == (BEFORE if shared else bytes(len(BEFORE)))
        one.purge()
        other.purge()
        other.load(exclusive=False)
        assert other.read(PAGE, len(BEFORE)) == bytes(len(BEFORE))
        other.purge()


@pytest.mark.representative
@pytest.mark.requirement("S9")
@pytest.mark.zvmlab_system(ALICE=BLOCKS, BOB=BLOCKS, segments=["SHARED 9000-90FF SW"])
def test_pending_purge(system: System) -> None:
    """Who has it goes on, nobody else finds it; the last user ends it, here by its death."""
    alice, bob = system.guests.values()
    for guest in (alice, bob):
        guest.agent.modprobe("dcssblk").check()
        block(guest, "SHARED").load(exclusive=False)
    assert "PENDING PURGE" in alice.cp("PURGE NSS NAME SHARED").response
    block(alice, "SHARED").write(0, BEFORE)
    assert block(bob, "SHARED").read(0, len(BEFORE)) == BEFORE
    block(alice, "SHARED").purge()
    assert attempt(alice, "add", "SHARED") == errno.ENOENT
    assert [one["class"] for one in segment(alice, "SHARED")] == ["P"]
    bob.stop()
    assert segment(alice, "SHARED") == []


@pytest.fixture(params=[(), ("ACROSS 9100-91FF SW",)], ids=["inside", "across"])
def sharing(
    request: pytest.FixtureRequest, zvmlab_kernel: str, zvmlab_dir: Path, bare: Build
) -> Iterator[System]:
    """ALICE, and BOB without an operating system, whose storage ends where CODE begins."""
    segments = ["CODE 9000-90FF SW", *request.param]
    with System(segments=segments, logs=zvmlab_dir) as system:
        system.guest("ALICE", GuestConfig(kernel=zvmlab_kernel, modules=("dcssblk",)))
        system.guest("BOB", GuestConfig(kernel=str(bare("sharing")), storage="0.144M"))
        system.guests["ALICE"].boot()
        yield system


@pytest.mark.requirement("S9")
def test_code_that_a_neighbour_stores(sharing: System, request: pytest.FixtureRequest) -> None:
    """BOB executes what is in the segment: what it has stored itself, then what ALICE stores there.

    *across*: a branch begins in a page of BOB's own, and only its end is in the segment.
    """
    alice, bob = sharing.guests.values()
    alice.agent.modprobe("dcssblk").check()
    code = block(alice, "CODE")
    code.load(exclusive=False)
    across = "across" in request.node.name
    bob.start()
    bob.emulator.expect_exit()
    bob.resume()

    def said() -> str:
        return str(bob.control.wait_event("console", LIMIT, user="OPERATOR").data["text"])[-5:]

    assert said() == "RAN 1"
    for number in (2, 3, 0):
        # LOAD HALFWORD IMMEDIATE into GR2, BRANCH to GR14; or how far back there is the same.
        stored = bytes((0xA7, 0x29, 0, number, 0x07, 0xFE))
        if across:
            stored = struct.pack(">h", -8 * (number + 1))
        code.write(0, stored + code.read(len(stored), PAGE - len(stored)))
        assert said() == f"RAN {number}"
    assert bob.emulator.wait(LIMIT) == 0
