# SPDX-License-Identifier: MIT
"""Functions of the kernel's that fail under a driver: what it has begun is undone, once."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from failcall import Failcall, Fails, fails as fails
from memory import UNCACHED, settled
from release import release
from test_dcssblk import SEGMENTS, SYSFS, attempt, loaded
from vdisk_lab import DIRECTORY as DISKS
from vdisk_lab import MAIN, await_disk, set_attribute
from vmlogrdr_lab import DIRECTORY
from waiting import LIMIT, wait_until
from zvmlab.agent.calls import BatchResult
from zvmlab.agent.worker import Pending
from zvmlab.base.errors import Timeout
from zvmlab.guest.config import HERCULES
from zvmlab.guest.guest import Guest

FAILED_ONLINE = "Setting the DASD online failed"
BLOCK, LOGRDR = "dcssblk", "vmlogrdr"
# What kzalloc() of a constant size calls, in 6.1 and later.
ALLOCATORS = ("kmalloc_trace", "__kmalloc_cache_noprof")
# Since 6.12 IUCV makes the devices of its drivers.
DEVICES = ("iucv_alloc_device", *ALLOCATORS)
# What dcssblk does when it is loaded: its folder, its attributes, its number.
LOADS = [("__root_device_register", 1), *([("device_create_file", n) for n in (1, 2)])]
LOADS += [("__register_blkdev", 1)]
# More allocations than any of them makes.
MOST = 100
WITH_SEGMENTS = pytest.mark.zvmlab(segments=SEGMENTS, modules=(BLOCK,), crashes=("panic",))
WITH_RECORDS = pytest.mark.zvmlab(
    modules=(LOGRDR,), cp={"directory": DIRECTORY}, crashes=("panic",)
)
WITH_DISKS = pytest.mark.zvmlab(
    modules=("dasd_mod", "dasd_fba_mod", "dasd_diag_mod"),
    cp={"directory": DISKS},
    crashes=("panic",),
)
pytestmark = pytest.mark.not_debug("it makes allocations fail itself")


@WITH_SEGMENTS
@pytest.mark.requirement("B11")
@pytest.mark.kernel_defect(
    4,
    "dcssblk: a segment stays loaded when there is no memory for its disk",
    seen=r"assert \{'MINE': False\} == \{\}",
)
def test_segment_is_given_back_when_its_disk_has_no_memory(guest: Guest, fails: Fails) -> None:
    """The first thing that is allocated describes the segment, the second one the disk."""
    assert guest.agent.insmod(BLOCK).errno == 0
    with fails(BLOCK, ALLOCATORS, result=0, nth=2):
        assert attempt(guest, "add", "MINE") == errno.ENOMEM
    assert loaded(guest) == {}


@WITH_SEGMENTS
@pytest.mark.requirement("B11")
@pytest.mark.kernel_defect(
    5, "dcssblk: a disk that could not be added keeps its name", seen=r"assert 17 == 0"
)
def test_disk_that_could_not_be_added_can_be_added_later(guest: Guest, fails: Fails) -> None:
    """Its name is free again, and it keeps no segment."""
    assert guest.agent.insmod(BLOCK).errno == 0
    with fails(BLOCK, ["device_add_disk"]):
        assert attempt(guest, "add", "MINE") == errno.ENOMEM
    assert loaded(guest) == {}
    assert attempt(guest, "add", "MINE") == 0
    assert loaded(guest) == {"MINE": False}


@pytest.mark.zvmlab(segments=SEGMENTS, modules=(BLOCK,), command_line=UNCACHED)
@pytest.mark.requirement("B11")
@pytest.mark.kernel_defect(
    11,
    "dcssblk: the name of a disk that could not be made is never freed",
    seen=r"assert (9|1\d)\d < 50",
)
@pytest.mark.timeout(600)
def test_disk_that_could_not_be_made_leaves_nothing(guest: Guest, fails: Fails) -> None:
    """A hundred of them."""
    assert guest.agent.insmod(BLOCK).errno == 0
    result = -errno.ENOMEM if release(guest) >= (6, 12) else 0
    for count in (5, 100):
        before = settled(guest)
        for _ in range(count):
            with fails(BLOCK, ["__blk_alloc_disk"], result=result):
                assert attempt(guest, "add", "MINE") == errno.ENOMEM
    left = settled(guest).growth(before)
    assert left < 50
    assert loaded(guest) == {}


@pytest.fixture
def disks(guest: Guest, zvmlab_backend: str) -> Guest:
    """A guest whose disk is to be set online by DIAGNOSE X'250'."""
    if zvmlab_backend == HERCULES:
        pytest.skip("the disks of Hercules are its own, and CP has no part in them")
    for module in ("dasd_diag_mod", "dasd_fba_mod"):
        guest.agent.modprobe(module).check()
    assert set_attribute(guest, MAIN, "use_diag", "1") == 0
    return guest


def failed_lines(
    guest: Guest, fails: Fails, function: str
) -> tuple[list[str], Pending[BatchResult]]:
    """Let the kernel set the disk online while the function fails; what it logs, and the write."""
    worker = guest.agent.worker("operator")
    fd = worker.open(f"/sys/bus/ccw/devices/0.0.{MAIN:04x}/online", os.O_WRONLY).check()
    since = guest.agent.log_position()

    def lines() -> list[str]:
        return [line.text for line in guest.agent.dmesg(since)]

    with fails("dasd_mod", [function]):
        batch = worker.batch()
        batch.write(fd, b"1")
        call = batch.start(LIMIT)
        wait_until(lambda: any(FAILED_ONLINE in line for line in lines()), "the failure", lines)
    return lines(), call


@dataclass(frozen=True)
class Needs:
    """What needs memory: a module that is loaded, or a device of it that is opened."""

    device: str = ""
    flags: int = os.O_RDONLY
    numbers: Sequence[int] = range(1, MOST)
    """Of the allocations that are to fail."""
    allocators: Sequence[str] = ALLOCATORS

    def errno(self, guest: Guest, module: str) -> int:
        """Of an attempt; what it has made is undone."""
        agent = guest.agent
        if not self.device:
            error = agent.insmod(module).errno
            if error == 0:
                agent.rmmod(module).check()
            return error
        result = agent.open(self.device, self.flags)
        if result.errno == 0:
            agent.close(result.check()).check()
        return result.errno


NEEDS = {
    # One for the file, and 256 for as many messages.
    "monreader": Needs("/dev/monreader", numbers=(1, 2, 256, 257, 258)),
    "monwriter": Needs("/dev/monwriter", os.O_WRONLY),
    "appldata_net_sum": Needs(),
    "smsgiucv_app": Needs(allocators=DEVICES),
    "vmlogrdr": Needs(allocators=DEVICES),
}
SHOWS = {
    "monreader": "M15",
    "monwriter": "W1",
    "appldata_net_sum": "A11",
    "smsgiucv_app": "U9",
    "vmlogrdr": "L22",
}


@pytest.mark.zvmlab(modules=tuple(NEEDS))
@pytest.mark.parametrize(
    "module",
    [pytest.param(name, marks=pytest.mark.requirement(SHOWS[name])) for name in NEEDS],
)
def test_without_memory_it_is_enomem(
    guest: Guest, built_module: Callable[..., Path], module: str
) -> None:
    """Each allocation fails once; then there is enough, and it succeeds."""
    needs, failcall = NEEDS[module], Failcall(guest, built_module)
    if needs.device:
        guest.agent.modprobe(module).check()
    errors = []
    for nth in needs.numbers:
        with failcall.at(module, needs.allocators, 0, nth) as came:
            errors.append(needs.errno(guest, module))
        if not came:
            break
    assert len(errors) > 1
    assert errors == [errno.ENOMEM] * (len(errors) - 1) + [0]


@WITH_DISKS
@pytest.mark.requirement("K6")
@pytest.mark.kernel_defect(
    49, "dasd: a disk that could not be added is removed", seen=r"assert \['WARNING: .*'\] == \[\]"
)
def test_disk_that_could_not_be_added_is_not_removed(disks: Guest, fails: Fails) -> None:
    """Nothing is undone that was not done."""
    lines, _ = failed_lines(disks, fails, "device_add_disk")
    assert [line for line in lines if line.startswith("WARNING: ")] == []


@WITH_DISKS
@pytest.mark.requirement("K6")
@pytest.mark.kernel_defect(
    50,
    "dasd: a device that has been freed is waited for",
    seen=r".* did not answer a batch of 1 operations .*",
    kernels=("bookworm", "bookworm-backports"),
    raises=Timeout,
)
def test_disk_that_cannot_be_online_is_an_error(disks: Guest, fails: Fails) -> None:
    """The write returns, and the next one sets the disk online."""
    _, call = failed_lines(disks, fails, "blk_mq_alloc_tag_set")
    (result,) = disks.outlast(call, 20)
    assert result.errno in (errno.ENOMEM, errno.ENODEV)
    assert set_attribute(disks, MAIN, "online", "1") == 0
    await_disk(disks, "dasda")


@WITH_SEGMENTS
@pytest.mark.requirement("B11")
@pytest.mark.parametrize("name, nth", LOADS)
def test_load_that_fails_leaves_nothing(guest: Guest, fails: Fails, name: str, nth: int) -> None:
    """Its attributes are gone; the next load succeeds, and has a disk."""
    with fails(BLOCK, [name], result=-errno.EBUSY, nth=nth):
        assert guest.agent.insmod(BLOCK).errno == errno.EBUSY
    assert guest.agent.open(f"{SYSFS}/add", os.O_WRONLY).errno == errno.ENOENT
    assert guest.agent.insmod(BLOCK).errno == 0
    assert attempt(guest, "add", "MINE") == 0


@WITH_RECORDS
@pytest.mark.requirement("L22")
@pytest.mark.kernel_defect(
    11, "vmlogrdr: a load that fails is cleaned up twice", seen=r"assert 1 == 0"
)
def test_driver_that_could_not_be_registered_is_not_unregistered(
    guest: Guest, fails: Fails
) -> None:
    """The load fails, and the next one does not."""
    since = guest.agent.log_position()
    with fails(LOGRDR, ["driver_register"]):
        assert guest.agent.insmod(LOGRDR).errno == errno.ENOMEM
    lines = [line.text for line in guest.agent.dmesg(since)]
    assert lines.count("Unexpected driver unregister!") == 0
    assert guest.agent.insmod(LOGRDR).errno == 0
