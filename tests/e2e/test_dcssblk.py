# SPDX-License-Identifier: MIT
"""Saved segments that a guest may store into: dcssblk, a block device on one of them."""

from __future__ import annotations

import os

import pytest

from zvmlab.guest.guest import Guest

SYSFS = "/sys/devices/dcssblk"
PAGE = 4096
SEGMENTS = ("MINE 8000-80FF EW", "MIXED 8100-817F EW 8180-81FF EN", "OURS 8200-82FF SW")
BEFORE, AFTER = b"before " * 512, b"after  " * 512

pytestmark = [
    pytest.mark.not_debug("it has no dcssblk"),
    pytest.mark.zvmlab(segments=SEGMENTS, modules=("dcssblk",)),
]


class Block:
    """A segment as a block device of the guest."""

    def __init__(self, guest: Guest, name: str) -> None:
        self.guest = guest
        self.name = name

    def set(self, attribute: str, value: str) -> None:
        fd = self.guest.agent.open(f"{SYSFS}/{attribute}", os.O_WRONLY).check()
        self.guest.agent.write(fd, value.encode()).check()
        self.guest.agent.close(fd).check()

    def load(self, exclusive: bool) -> None:
        self.set("add", self.name)
        if exclusive:
            self.set(f"{self.name}/shared", "0")
        found = self.guest.control.execute("query-segments")["segments"]
        found = next(s for s in found if s["name"] == self.name and s["loaded"])
        assert found["exclusive"] == exclusive

    def purge(self) -> None:
        self.set("remove", self.name)

    def write(self, offset: int, data: bytes) -> None:
        fd = self.guest.agent.open("/dev/dcssblk0", os.O_RDWR | os.O_SYNC).check()
        assert self.guest.agent.pwrite(fd, data, offset).check() == len(data)
        self.guest.agent.close(fd).check()

    def read(self, offset: int, length: int) -> bytes:
        fd = self.guest.agent.open("/dev/dcssblk0").check()
        found = self.guest.agent.pread(fd, length, offset)
        assert found.check() == length
        self.guest.agent.close(fd).check()
        return found.data


@pytest.fixture
def block(request: pytest.FixtureRequest, guest: Guest) -> Block:
    assert guest.agent.insmod("dcssblk").errno == 0
    return Block(guest, request.param)


@pytest.mark.parametrize(
    "block, exclusive",
    [("MINE", False), ("MINE", True), ("OURS", True)],
    indirect=["block"],
    ids=("shared", "exclusive", "shared-type"),
)
def test_stores_are_gone_after_purge_unless_saved(block: Block, exclusive: bool) -> None:
    """What was stored vanishes with the segment; what SAVESEG has taken stays."""
    block.load(exclusive)
    block.write(PAGE, BEFORE)
    assert block.read(PAGE, len(BEFORE)) == BEFORE
    block.purge()
    block.load(exclusive)
    assert block.read(0, 3 * PAGE) == bytes(3 * PAGE)
    block.write(PAGE, BEFORE)
    block.set(f"{block.name}/save", "1")
    block.write(PAGE, AFTER)
    assert block.read(PAGE, len(AFTER)) == AFTER
    block.purge()
    block.load(exclusive)
    assert block.read(PAGE, len(BEFORE)) == BEFORE
    block.purge()


@pytest.mark.parametrize("block", ["MIXED"], indirect=True)
def test_pages_without_saved_data_are_empty_whenever_loaded(block: Block) -> None:
    """EN: SAVESEG keeps nothing of such a page, and who loads it finds zeros."""
    saved, lost = 0x10 * PAGE, 0x90 * PAGE
    block.load(exclusive=True)
    block.write(saved, BEFORE)
    block.write(lost, BEFORE)
    block.set("MIXED/save", "1")
    block.purge()
    block.load(exclusive=True)
    assert block.read(saved, len(BEFORE)) == BEFORE
    assert block.read(lost, len(BEFORE)) == bytes(len(BEFORE))
    block.purge()
