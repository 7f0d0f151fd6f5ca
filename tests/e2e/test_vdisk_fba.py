# SPDX-License-Identifier: MIT
"""Virtual disks by channel programs: Linux' dasd_fba, and the same blocks by DIAGNOSE X'250'."""

from __future__ import annotations

import errno
import os

import pytest

from vdisk_lab import DIRECTORY, DISKS, MAIN, MODULES, READ_ONLY, VIRTUAL, attribute
from vdisk_lab import (
    await_disk,
    found_line,
    opened,
    page_of,
    set_attribute,
    text_of,
    write_blocks_that_fail,
)
from zvmlab.cp import disk
from zvmlab.cp.disk import BLOCK
from zvmlab.guest.config import HERCULES
from zvmlab.guest.guest import Guest

SIZE = DISKS[MAIN] * BLOCK
pytestmark = pytest.mark.zvmlab(cp={"directory": DIRECTORY}, modules=MODULES, busybox=True)


@pytest.fixture(autouse=True)
def _qemu_only(zvmlab_backend: str) -> None:
    if zvmlab_backend == HERCULES:
        pytest.skip("the disks of Hercules are its own, and CP has no part in them")


@pytest.fixture
def lab(guest: Guest) -> Guest:
    """The drivers are loaded; no disk is online."""
    for module in ("dasd_diag_mod", "dasd_fba_mod"):
        guest.agent.modprobe(module).check()
    return guest


def online(guest: Guest, number: int = MAIN, diagnose: bool = False) -> str:
    """Set a disk online; the node of it as a whole."""
    assert set_attribute(guest, number, "use_diag", "1" if diagnose else "0") == 0
    assert set_attribute(guest, number, "online", "1") == 0
    assert attribute(guest, number, "discipline") == ("DIAG" if diagnose else "FBA")
    return await_disk(guest, "dasda")


def offline(guest: Guest, number: int = MAIN) -> None:
    assert set_attribute(guest, number, "online", "0") == 0


def _busybox(guest: Guest, *words: str) -> None:
    guest.agent.run(["/bin/busybox", *words]).check()


@pytest.mark.requirement("K13")
def test_linux_takes_the_disk_by_channel_programs(lab: Guest) -> None:
    """As every z/VM Linux has its V-DISKs: no attribute but online."""
    since = lab.agent.log_position()
    assert set_attribute(lab, MAIN, "online", "1") == 0
    await_disk(lab, "dasda")
    assert attribute(lab, MAIN, "discipline") == "FBA"
    assert found_line(lab, since) == (
        "0.0.0200: New FBA DASD 9336/00 (CU 6310/00) with 8 MB and 512 B/blk"
    )
    assert text_of(lab, "/sys/class/block/dasda/size") == str(DISKS[MAIN])
    offline(lab)
    online(lab)


@pytest.mark.requirement("K14")
def test_all_blocks_are_read_and_written(lab: Guest) -> None:
    """Compared from outside, at both ends and across requests of 96 blocks."""
    before = page_of(1, SIZE)
    disk.write(lab.control, MAIN, 0, before)
    node = online(lab)
    agent, after = lab.agent, bytearray(before)
    with opened(lab, node) as fd:
        found = b"".join(agent.pread(fd, 1 << 20, at).data for at in range(0, SIZE, 1 << 20))
        assert found == before
        for at, size in ((0, 512), (4096, 300_032), (SIZE - 512, 512)):
            data = page_of(at, size)
            assert agent.pwrite(fd, data, at).check() == size
            after[at : at + size] = data
    assert disk.read(lab.control, MAIN, 0, DISKS[MAIN]) == bytes(after)


@pytest.mark.requirement("K14")
@VIRTUAL
def test_both_disciplines_have_the_same_blocks(lab: Guest) -> None:
    data = {4096: page_of(1), 8192: page_of(2)}
    for (at, page), diagnose in zip(data.items(), (False, True)):
        with opened(lab, online(lab, diagnose=diagnose)) as fd:
            assert lab.agent.pwrite(fd, page, at).check() == len(page)
        offline(lab)
    for diagnose in (False, True):
        with opened(lab, online(lab, diagnose=diagnose), os.O_RDONLY) as fd:
            assert {at: lab.agent.pread(fd, 4096, at).data for at in data} == data
        offline(lab)


@pytest.mark.requirement("K15")
def test_swap_under_memory_pressure(lab: Guest) -> None:
    """A program has more than its group may keep in storage; all that it reads again is right."""
    if lab.agent.open("/proc/swaps").errno == errno.ENOENT:
        pytest.skip("the kernel has no swap")
    node = online(lab)
    _busybox(lab, "mkswap", node)
    lab.agent.run(["/bin/busybox", "swapon", node]).check()
    _busybox(lab, "mkdir", "-p", "/group")
    lab.agent.mount("none", "/group", "cgroup2").check()
    lab.agent.write_file("/group/cgroup.subtree_control", b"+memory")
    _busybox(lab, "mkdir", "/group/small")
    lab.agent.write_file("/group/small/memory.max", b"4194304")
    # Each program begins in the group: its pages are the group's.
    small = "echo $$ > /group/small/cgroup.procs; "
    _busybox(lab, "mkdir", "/full")
    lab.agent.mount("none", "/full", "tmpfs").check()
    contents = [page_of(number, 1 << 20) for number in range(7)]
    for number, data in enumerate(contents):
        command = f"{small} exec cat > /full/{number}"
        lab.agent.run(["/bin/busybox", "sh", "-c", command], stdin=data, timeout=240).check()
    for number, data in enumerate(contents):
        command = f"{small} exec cat /full/{number}"
        done = lab.agent.run(["/bin/busybox", "sh", "-c", command], timeout=240)
        assert done.check().stdout == data, number
    (found,) = [one for one in _query(lab) if one["device"] == MAIN]
    # More than two megabytes had to go out, and come in again.
    assert found["writes"] >= 4096 and found["reads"] >= 4096
    lab.agent.umount("/full").check()
    lab.agent.run(["/bin/busybox", "swapoff", node]).check()
    lab.agent.umount("/group").check()


def _query(guest: Guest) -> list[dict[str, int]]:
    found: list[dict[str, int]] = guest.control.execute("query-disks")["disks"]
    return found


@pytest.mark.requirement("K16")
def test_blocks_that_are_discarded(lab: Guest) -> None:
    """BLKDISCARD: a WRITE without data, between two with zeros."""
    disk.write(lab.control, MAIN, 0, b"\x77" * SIZE)
    node = online(lab)
    _busybox(lab, "blkdiscard", "-o", "1536", "-l", "102400", node)
    found = disk.read(lab.control, MAIN, 0, DISKS[MAIN])
    assert found == b"\x77" * 1536 + bytes(102400) + b"\x77" * (SIZE - 1536 - 102400)


@pytest.mark.requirement("K17")
def test_a_disk_that_is_read_only(lab: Guest) -> None:
    """Linux learns of it by DIAGNOSE X'210', and asks for no write."""
    data = page_of(5, 64 * BLOCK)
    disk.write(lab.control, READ_ONLY, 0, data)
    node = online(lab, READ_ONLY)
    assert text_of(lab, "/sys/class/block/dasda/ro") == "1"
    assert lab.agent.open(node, os.O_RDWR).errno in (errno.EROFS, errno.EACCES)
    with opened(lab, node, os.O_RDONLY) as fd:
        assert lab.agent.pread(fd, len(data), 0).data == data


@pytest.mark.requirement("K17")
def test_blocks_that_fail(lab: Guest) -> None:
    """A channel program that ends with a unit check is given again, 32 times; then it is EIO."""
    node = online(lab)
    with opened(lab, node) as fd:
        write_blocks_that_fail(lab, fd)


@pytest.mark.requirement("K18")
def test_a_guest_that_is_put_back(lab: Guest) -> None:
    """The blocks are those of the moment to which it goes back, and the driver works there."""
    node = online(lab)
    fd = lab.agent.open(node, os.O_RDWR | os.O_SYNC).check()
    assert lab.agent.pwrite(fd, page_of(1), 4096).check() == 4096
    lab.mark()
    for _ in range(2):
        assert lab.agent.pwrite(fd, page_of(2), 4096).check() == 4096
        assert disk.read(lab.control, MAIN, 8, 8) == page_of(2)
        lab.put_back()
        assert disk.read(lab.control, MAIN, 8, 8) == page_of(1)
    assert lab.agent.pwrite(fd, page_of(3), 8192).check() == 4096
    assert disk.read(lab.control, MAIN, 8, 16) == page_of(1) + page_of(3)
    lab.agent.close(fd).check()
