# SPDX-License-Identifier: MIT
"""Races of dcssblk: the CPU that removes a disk stands still, while another one goes on."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

import pytest

from test_dcssblk import SYSFS, Block
from waiting import wait_until
from zvmlab.base.errors import GuestPanic
from zvmlab.cp.faults import Fault, armed
from zvmlab.guest.config import QEMU
from zvmlab.guest.guest import Guest
from zvmlab.monitor.steps import task_state, thread_of

# As in test_dcssblk.py.
pytestmark = pytest.mark.zvmlab(
    cpus=2,
    segments=("MINE 8000-80FF EW", "OURS 8200-82FF EW"),
    modules=("dcssblk",),
    command_line="lockdep.prove_locking=0",
)
CPU = 1
PAGE = 4096
Removing = Callable[..., AbstractContextManager[None]]
# What removes the disk: attribute, value, and how the write ends.
REMOVE = ("remove", "MINE", 0)
REFUSED = ("MINE/shared", "0", errno.EIO)  # a mode that CP refuses


def still_used(*kernels: str) -> pytest.MarkDecorator:
    """Who opens the disk reads what is not there: on these kernels, on all if none is named."""
    return pytest.mark.kernel_defect(
        10,
        "dcssblk: a disk that is being removed can still be used",
        seen=r"the guest's kernel reported an oops .*",
        raises=GuestPanic,
        **({"kernels": kernels} if kernels else {}),
    )


@pytest.fixture
def lab(guest: Guest, zvmlab_backend: str) -> Guest:
    """A guest that has a disk."""
    if zvmlab_backend != QEMU:
        pytest.skip("only QEMU holds a CPU at a function")
    assert guest.agent.insmod("dcssblk").errno == 0
    Block(guest, "MINE").set("add", "MINE")
    return guest


@pytest.fixture
def removing(lab: Guest) -> Removing:
    """The disk is being removed, by a thread that stands in front of a function."""

    @contextmanager
    def held(function: str, nth: int = 1, way: tuple[str, str, int] = REMOVE) -> Iterator[None]:
        attribute, value, error = way
        worker = lab.agent.worker("removes")
        lab.agent.keep_on(worker, CPU)
        batch = worker.batch()
        fd = batch.open(f"{SYSFS}/{attribute}", os.O_WRONLY)
        removed = batch.write(fd, value.encode())
        batch.close(fd)
        with ExitStack() as stack:
            if way == REFUSED:
                fault = Fault("diag64.loadnsr", "rc", 4, name="MINE", times=1)
                stack.enter_context(armed(lab.control, fault))
            hold = stack.enter_context(lab.hold(function, CPU, nth))
            pending = batch.start()
            hold.wait()
            yield
        assert pending.result()[removed].errno == error

    return held


@pytest.mark.requirement("B2")
@pytest.mark.kernel_defect(
    9,
    "dcssblk: the number and the name of a disk that is being removed are free too early",
    seen=r"assert 17 == 0",
    kernels=("trixie", "bookworm-backports", "sid"),
)
@pytest.mark.parametrize("way", (REMOVE, REFUSED), ids=("remove", "shared"))
@pytest.mark.zvmlab(crashes=("panic",))
def test_disk_can_be_added_while_another_one_is_removed(
    lab: Guest, removing: Removing, way: tuple[str, str, int]
) -> None:
    """It has a number and a name of its own, or waits for the other one's."""
    worker = lab.agent.worker("adds")
    lab.agent.keep_on(worker, 0)
    folder = thread_of(worker)
    # The CPU that is held may have sysfs locked, for another thread of its own.
    fd = worker.open(f"{SYSFS}/add", os.O_WRONLY).check()
    batch = worker.batch()
    added = batch.write(fd, b"OURS")
    batch.close(fd)
    with removing("del_gendisk", way=way):
        pending = batch.start()
        # Where the disk can be added, that also waits for the CPU that is held.
        wait_until(
            lambda: pending.done() or task_state(lab.agent, folder) == "D", "a disk being added"
        )
    assert pending.result()[added].errno == 0


@pytest.mark.requirement("B2")
@pytest.mark.kernel_defect(
    10,
    "dcssblk: a disk that is being removed can still be used",
    seen=r"the guest's kernel reported a bug .*dcssblk\.c.*",
    raises=GuestPanic,
)
def test_mode_of_a_disk_that_is_being_removed_stays(lab: Guest, removing: Removing) -> None:
    """The write to its attribute fails."""
    # The CPU that is held may have sysfs locked, for another thread of its own.
    fd = lab.agent.open(f"{SYSFS}/MINE/shared", os.O_WRONLY).check()
    # The first one is that of the disk's queue.
    with removing("device_unregister", 2):
        assert lab.agent.write(fd, b"1").errno != 0
    lab.agent.close(fd).check()


@pytest.mark.requirement("B2")
@pytest.mark.not_debug(
    "KASAN reports the close of a disk that is gone",
    coverage=True,
    kernels=("bookworm",),
    defect="dcssblk-10",
)
@pytest.mark.parametrize(
    "way",
    (
        pytest.param(REMOVE, marks=still_used("trixie", "bookworm-backports", "sid"), id="remove"),
        pytest.param(REFUSED, marks=still_used(), id="shared"),
    ),
)
def test_disk_that_is_being_removed_has_its_data_or_none(
    lab: Guest, removing: Removing, way: tuple[str, str, int]
) -> None:
    """Who opens it then reads the segment, or is refused."""
    with removing("del_gendisk", way=way):
        opened = lab.agent.open("/dev/dcssblk0")
        if opened.errno == 0:
            assert lab.agent.pread(opened.ret, PAGE, 0).ret == PAGE
    if opened.errno == 0:
        lab.agent.close(opened.ret).check()


@pytest.mark.requirement("B2")
@pytest.mark.kernel_defect(
    10,
    "dcssblk: who closes a disk that has been removed writes into freed memory",
    seen=r"the guest's kernel reported a bug .*: (Poison overwritten|Object corrupt).*",
    raises=GuestPanic,
)
@pytest.mark.not_debug("KASAN reports it otherwise", defect="dcssblk-10")
@pytest.mark.zvmlab(command_line="slub_debug=FZP,kmalloc-*")
def test_close_of_a_disk_that_is_gone_changes_nothing(lab: Guest, removing: Removing) -> None:
    """Its memory may be that of a disk which was added meanwhile, and is in use forever then."""
    with removing("del_gendisk"):
        opened = lab.agent.open("/dev/dcssblk0")
    if opened.errno == 0:
        lab.agent.close(opened.ret).check()
    for cache in caches(lab):
        lab.agent.write_file(f"/sys/kernel/slab/{cache}/validate", b"1")


def caches(guest: Guest) -> list[str]:
    """Those of kmalloc()."""
    lines = guest.agent.read_file("/proc/slabinfo").decode().splitlines()
    return [name for line in lines if (name := line.split()[0]).startswith("kmalloc-")]
