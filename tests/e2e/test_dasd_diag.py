# SPDX-License-Identifier: MIT
"""Virtual disks by DIAGNOSE X'250': Linux' dasd_diag, with the device of dasd_fba."""

from __future__ import annotations

import errno
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from failing import Failing, void
from vdisk_lab import DIRECTORY, DISKS, MAIN, MODULES, READ_ONLY, THIRD, VIRTUAL, attribute
from vdisk_lab import await_disk, found_line, opened, page_of, set_attribute, text_of
from vdisk_lab import write_blocks_that_fail
from waiting import LIMIT, wait_until
from zvmlab.agent.calls import BatchResult
from zvmlab.agent.wire import Call
from zvmlab.agent.worker import Pending
from zvmlab.base.errors import GuestPanic, Timeout
from zvmlab.base.owned import claim
from zvmlab.cp import disk
from zvmlab.cp.disk import BLOCK
from zvmlab.cp.faults import Fault, armed
from zvmlab.guest.config import HERCULES, GuestConfig
from zvmlab.guest.guest import Guest

pytestmark = [
    VIRTUAL,
    pytest.mark.zvmlab(cp={"directory": DIRECTORY}, modules=MODULES),
]


@pytest.fixture(autouse=True)
def _qemu_only(zvmlab_backend: str) -> None:
    if zvmlab_backend == HERCULES:
        pytest.skip("the disks of Hercules are its own, and CP has no part in them")


def online(guest: Guest, number: int = MAIN, name: str = "dasda") -> str:
    """Set a disk online with DIAGNOSE X'250'; the node of it as a whole."""
    assert set_attribute(guest, number, "use_diag", "1") == 0
    assert set_attribute(guest, number, "online", "1") == 0
    return await_disk(guest, name)


@pytest.fixture
def lab(guest: Guest) -> Guest:
    """The drivers are loaded; no disk is online."""
    for module in ("dasd_diag_mod", "dasd_fba_mod"):
        guest.agent.modprobe(module).check()
    return guest


def cms_label(block_size: int, blocks: int) -> bytes:
    """The label of a disk that CMS has formatted (ADTSECT, struct vtoc_cms_label of Linux)."""
    label = struct.pack(
        ">4s6sHIIIIII", "CMS1".encode("cp037"), "TEST01".encode("cp037"), 0, block_size, 5, 1, 1,
        blocks, 0,
    )  # fmt: skip
    return label.ljust(BLOCK, b"\0")


def said(guest: Guest, since: int, words: str) -> list[str]:
    """The driver's lines with these words, without a module's name in front."""
    lines = [line.text for line in guest.agent.dmesg(since) if words in line.text]
    return [text[text.index("0.0.") :] for text in lines]


@pytest.mark.requirement("K1")
def test_linux_takes_the_disk_by_diagnose(lab: Guest) -> None:
    """A 9336 by its sense ID, FBA by DIAGNOSE X'210'; its size is the one of the directory."""
    assert attribute(lab, MAIN, "cutype") == "6310/00"
    assert attribute(lab, MAIN, "devtype") == "9336/00"
    since = lab.agent.log_position()
    online(lab)
    assert attribute(lab, MAIN, "discipline") == "DIAG"
    assert text_of(lab, "/sys/class/block/dasda/size") == str(DISKS[MAIN])
    assert text_of(lab, "/sys/class/block/dasda/ro") == "0"
    assert found_line(lab, since) == "0.0.0200: New DASD with 512 byte/block, total size 8192 KB"
    (found,) = [one for one in _query(lab) if one["device"] == MAIN]
    assert (found["established"], found["block-size"], found["offset"]) == (True, 512, 0)
    # Linux leaves the environment as it is, and removes it when the disk is online again.
    assert set_attribute(lab, MAIN, "online", "0") == 0
    wait_until(lambda: text_of(lab, "/sys/class/block/dasda/size") == "", "dasda to be gone")
    online(lab)


def _query(guest: Guest) -> list[dict[str, int]]:
    found: list[dict[str, int]] = guest.control.execute("query-disks")["disks"]
    return found


@pytest.mark.requirement("K1")
@pytest.mark.kernel_defect(
    36,
    "a disk that was online keeps the module of its discipline",
    seen=r"assert 11 == 0",
    kernels=("trixie", "bookworm-backports", "sid"),
)
@VIRTUAL
def test_modules_can_be_unloaded_when_the_disk_is_offline(lab: Guest) -> None:
    """Nobody else uses dasd_diag_mod."""
    online(lab)
    assert set_attribute(lab, MAIN, "online", "0") == 0
    assert lab.agent.rmmod("dasd_diag_mod").errno == 0


@pytest.mark.requirement("K2")
@pytest.mark.parametrize("block_size", [512, 1024, 2048, 4096])
def test_the_block_size_of_a_label(lab: Guest, block_size: int) -> None:
    """Block 2 of 512 bytes has the label; the disk then has the size that it says."""
    blocks = DISKS[MAIN] * BLOCK // block_size
    disk.write(lab.control, MAIN, 1, cms_label(block_size, blocks))
    node = online(lab)
    queue = "/sys/class/block/dasda/queue/logical_block_size"
    assert text_of(lab, queue) == str(block_size)
    (found,) = [one for one in _query(lab) if one["device"] == MAIN]
    assert found["block-size"] == block_size
    data = page_of(block_size)
    with opened(lab, node) as fd:
        assert lab.agent.pwrite(fd, data, 5 * 4096).check() == 4096
    assert disk.read(lab.control, MAIN, 40, 8) == data


@pytest.mark.requirement("K3")
def test_blocks_are_written_and_read(lab: Guest) -> None:
    """All blocks, including the first and the last, are compared from outside."""
    before = page_of(1, DISKS[MAIN] * BLOCK)
    disk.write(lab.control, MAIN, 0, before)
    node = online(lab)
    with opened(lab, node) as fd:
        agent = lab.agent
        found = b"".join(agent.pread(fd, 1 << 20, at).data for at in range(0, len(before), 1 << 20))
        assert found == before
        after = bytearray(before)
        for at, size in ((0, 512), (4096, 300_000), (len(before) - 512, 512)):
            data = page_of(at, size - size % 512)
            assert agent.pwrite(fd, data, at).check() == len(data)
            after[at : at + len(data)] = data
    assert disk.read(lab.control, MAIN, 0, DISKS[MAIN]) == bytes(after)


@contextmanager
def file_system_at_a_boot(guest: Guest) -> Iterator[None]:
    """It survives."""
    content = {f"/mnt/{number}": bytes([number]) * (number * 9000) for number in range(1, 20)}
    partition = _partition_and_mount_point(guest)
    # Behind the label's block: what lies before belongs to nobody.
    assert text_of(guest, "/sys/class/block/dasda1/start") == "2"
    _busybox(guest, "mke2fs", "-b", "4096", partition)
    guest.agent.mount(partition, "/mnt", "ext4").check()
    for path, data in content.items():
        guest.agent.write_file(path, data, 0o600)
    guest.agent.umount("/mnt").check()
    # The magic number of ext2, at 1080 of the partition.
    superblock = disk.read(guest.control, MAIN, 4, 1)
    assert superblock[56:58] == b"\x53\xef"
    yield
    guest.agent.mount(_partition_and_mount_point(guest), "/mnt", "ext4").check()
    assert {path: guest.agent.read_file(path) for path in content} == content
    guest.agent.umount("/mnt").check()


def _partition_and_mount_point(guest: Guest) -> str:
    """The node of the disk's partition; /mnt is there, too."""
    for module in ("dasd_diag_mod", "dasd_fba_mod", "ext4"):
        guest.agent.modprobe(module).check()
    online(guest)
    _busybox(guest, "mkdir", "-p", "/mnt")
    return await_disk(guest, "dasda1")


@pytest.mark.requirement("K4")
@pytest.mark.zvmlab(cp={"directory": DIRECTORY}, modules=(*MODULES, "ext4"), busybox=True)
def test_a_file_system_survives_the_next_boot(guest: Guest) -> None:
    with file_system_at_a_boot(guest):
        guest.reboot()


def _busybox(guest: Guest, *words: str) -> None:
    guest.agent.run(["/bin/busybox", *words]).check()


@pytest.mark.requirement("K5")
def test_a_disk_that_is_read_only(lab: Guest) -> None:
    """Linux learns of it when it sets up block I/O, and refuses to open it for writing."""
    data = page_of(5, 64 * BLOCK)
    disk.write(lab.control, READ_ONLY, 0, data)
    since = lab.agent.log_position()
    node = online(lab, READ_ONLY)
    line = "0.0.0201: New DASD with 512 byte/block, total size 32 KB, read-only device"
    assert found_line(lab, since) == line
    assert text_of(lab, "/sys/class/block/dasda/ro") == "1"
    assert lab.agent.open(node, os.O_RDWR).errno in (errno.EROFS, errno.EACCES)
    with opened(lab, node, os.O_RDONLY) as fd:
        assert lab.agent.pread(fd, len(data), 0).data == data
    assert disk.read(lab.control, READ_ONLY, 0, 64) == data


REFUSED_ONLINE = [
    (Fault("diag210.device", "cc", 3), errno.EOPNOTSUPP),
    (Fault("diag210.device", "cc", 1), errno.EOPNOTSUPP),
    (Fault("diag250.io", "pgm", 6), errno.EOPNOTSUPP),
    (Fault("diag250.io", "rc", 40), errno.EIO),
    (Fault("diag250.init", "rc", 16), errno.EIO),
    (Fault("diag250.init", "rc", 28), errno.EIO),
    (Fault("diag250.init", "pgm", 6), errno.EIO),
    # A block could be read; then the disk is set up for its users.
    (Fault("diag250.init", "rc", 28, nth=2), errno.EIO),
    (Fault("disk.block", "rc", 5), errno.EIO),
]


@pytest.mark.requirement("K6")
@pytest.mark.parametrize(
    ("fault", "number"),
    REFUSED_ONLINE,
    ids=[f"{f.point}-{f.kind}-{f.value}{'-later' if f.nth else ''}" for f, _ in REFUSED_ONLINE],
)
def test_a_disk_that_cannot_be_set_up(lab: Guest, fault: Fault, number: int) -> None:
    """It stays offline; without the fault it works."""
    assert set_attribute(lab, MAIN, "use_diag", "1") == 0
    with armed(lab.control, fault) as rules:
        assert set_attribute(lab, MAIN, "online", "1") == number
    assert rules[0].fired > 0
    assert attribute(lab, MAIN, "online") == "0"
    online(lab)


@pytest.mark.requirement("K7")
def test_blocks_that_fail(lab: Guest) -> None:
    """A request that failed is given again, 32 times; the last one is the program's EIO."""
    node = online(lab)
    with opened(lab, node) as fd:
        write_blocks_that_fail(lab, fd)
        # One block of eight: partial completion is a failure of the request.
        with armed(lab.control, Fault("disk.block", "rc", 5, nth=3)):
            assert lab.agent.pwrite(fd, page_of(9), 8192).check() == 4096
    assert disk.read(lab.control, MAIN, 16, 8) == page_of(9)


@pytest.mark.requirement("K7")
@pytest.mark.parametrize("kind", ["rc", "pgm"])
def test_requests_that_cp_refuses(lab: Guest, kind: str) -> None:
    """Linux ends block I/O, sets it up again and repeats the request."""
    node = online(lab)
    with opened(lab, node) as fd:
        with armed(
            lab.control, Fault("diag250.io", kind, 28 if kind == "rc" else 6, times=3)
        ) as rules:
            assert lab.agent.pwrite(fd, page_of(3), 4096).check() == 4096
        assert rules[0].fired == 3
    assert disk.read(lab.control, MAIN, 8, 8) == page_of(3)


@pytest.mark.requirement("K7")
def test_a_disk_that_cannot_be_set_up_again(lab: Guest) -> None:
    """The log says so; the request is given again, until CP sets the disk up."""
    node = online(lab)
    since = lab.agent.log_position()
    refused = Fault("diag250.io", "rc", 28, times=2), Fault("diag250.init", "rc", 16, times=1)
    with opened(lab, node) as fd:
        with armed(lab.control, *refused) as rules:
            assert lab.agent.pwrite(fd, page_of(4), 4096).check() == 4096
        assert [rule.fired for rule in rules] == [2, 1]
    assert disk.read(lab.control, MAIN, 8, 8) == page_of(4)
    assert said(lab, since, "DIAG ERP failed") == ["0.0.0200: DIAG ERP failed with rc=18"]


@pytest.mark.requirement("K5")
def test_a_disk_that_becomes_read_only(lab: Guest) -> None:
    """Linux learns of it when it sets up block I/O again, and says so once."""
    node = online(lab)
    since = lab.agent.log_position()
    changed = Fault("diag250.io", "rc", 28, times=2), Fault("diag250.init", "rc", 4, times=2)
    with opened(lab, node) as fd:
        with armed(lab.control, *changed) as rules:
            assert lab.agent.pwrite(fd, page_of(5), 4096).check() == 4096
        assert [rule.fired for rule in rules] == [2, 2]
    told = "0.0.0200: The access mode of a DIAG device changed to read-only"
    assert said(lab, since, "access mode") == [told]
    assert attribute(lab, MAIN, "readonly") == "1"


@pytest.mark.requirement("K8")
def test_a_request_that_cp_ends_at_once(lab: Guest) -> None:
    """CP may end a request before the instruction does: no interruption comes, and none is due."""
    node = online(lab)
    with opened(lab, node) as fd:
        with armed(lab.control, Fault("diag250.io", "drop", nth=1)) as rules:
            assert lab.agent.pwrite(fd, page_of(6), 4096).check() == 4096
        assert rules[0].fired == 1
        # The fault wrote nothing; what comes next is written.
        assert disk.read(lab.control, MAIN, 8, 8) == bytes(4096)
        assert lab.agent.pwrite(fd, page_of(7), 4096).check() == 4096
    assert disk.read(lab.control, MAIN, 8, 8) == page_of(7)


@pytest.mark.requirement("K6")
@pytest.mark.not_debug(
    "KASAN reports that a device that was freed is waited for",
    coverage=True,
    kernels=("bookworm",),
    defect="dasd_diag-50",
)
@pytest.mark.kernel_defect(
    49,
    "dasd: a disk that could not be added is removed",
    seen=r".* a warning \(.*WARNING: block/genhd\.c.*",
    raises=GuestPanic,
)
@VIRTUAL
def test_a_disk_without_memory_stays_offline(lab: Guest) -> None:
    """Each allocation of setting it online fails once; then it is, and keeps a page."""
    failing, worker = Failing(lab), lab.agent.worker("operator")
    assert set_attribute(lab, MAIN, "use_diag", "1") == 0
    fd = worker.open("/sys/bus/ccw/devices/0.0.0200/online", os.O_WRONLY).check()
    errors = failing.each(
        worker,
        lambda batch: batch.write(fd, b"1"),
        lambda result: void(set_attribute(lab, MAIN, "online", "0")),
    )
    worker.close(fd).check()
    assert {0, errno.ENOMEM} <= set(errors), errors
    node = online(lab)
    with opened(lab, node) as fd:
        assert lab.agent.pwrite(fd, page_of(8), 4096).check() == 4096
    assert disk.read(lab.control, MAIN, 8, 8) == page_of(8)


@dataclass
class Writer:
    """A page that a program of its own writes to a disk, at 4096."""

    fd: int
    data: bytes
    pending: Pending[BatchResult]

    def done(self) -> None:
        (written,) = self.pending.result()
        assert written.check() == len(self.data)


def start_write(guest: Guest, node: str, seed: int) -> Writer:
    guest.control.forget_events("disk")
    worker = guest.agent.worker(f"writer {seed}")
    fd = worker.open(node, os.O_RDWR | os.O_SYNC).check()
    data = page_of(seed)
    batch = worker.batch()
    batch.pwrite(fd, data, 4096)
    return Writer(fd, data, batch.start(timeout=LIMIT))


@pytest.mark.requirement("K8")
def test_requests_of_two_disks_wait_and_end_in_any_order(lab: Guest) -> None:
    nodes = {MAIN: online(lab), THIRD: online(lab, THIRD, "dasdb")}
    control = lab.control
    disk.hold(control, True)
    writers = {}
    for number, node in nodes.items():
        writers[number] = start_write(lab, node, number)
        control.wait_event("disk", LIMIT, what="held", device=number)
    one, other = disk.requests(control)
    assert (one.device, one.blocks, one.waits) == (MAIN, 8, True)
    assert (other.device, other.blocks, other.waits) == (THIRD, 8, True)
    assert disk.read(control, MAIN, 8, 8) == disk.read(control, THIRD, 8, 8) == bytes(4096)
    disk.complete(control, other.request)
    writers[THIRD].done()
    assert not writers[MAIN].pending.done()
    assert disk.read(control, THIRD, 8, 8) == writers[THIRD].data
    assert disk.read(control, MAIN, 8, 8) == bytes(4096)
    disk.hold(control, False)
    disk.complete(control)
    writers[MAIN].done()
    assert disk.read(control, MAIN, 8, 8) == writers[MAIN].data
    assert disk.requests(control) == []


@pytest.mark.requirement("K9")
def test_a_request_that_takes_too_long(lab: Guest) -> None:
    """Linux removes the environment, learns that the request is aborted, and repeats it."""
    node = online(lab)
    assert set_attribute(lab, MAIN, "expires", "1") == 0
    disk.hold(lab.control, True)
    writer = start_write(lab, node, 9)
    first = lab.control.wait_event("disk", LIMIT, what="held", device=MAIN)
    ended = lab.control.wait_event("disk", LIMIT, what="ended", device=MAIN)
    assert ended.data["request"] == first.data["request"]
    assert disk.read(lab.control, MAIN, 8, 8) == bytes(4096)
    again = lab.control.wait_event("disk", LIMIT, what="held", device=MAIN)
    assert again.data["request"] > first.data["request"]
    disk.hold(lab.control, False)
    if disk.requests(lab.control):
        disk.complete(lab.control)
    writer.done()
    assert disk.read(lab.control, MAIN, 8, 8) == writer.data


@pytest.mark.requirement("K8")
@pytest.mark.zvmlab(cp={"directory": DIRECTORY}, modules=MODULES, cpus=4)
def test_interruptions_that_are_late_or_come_twice(lab: Guest) -> None:
    """On several CPUs; the program waits for the one, and does not notice the other."""
    nodes = {MAIN: online(lab), THIRD: online(lab, THIRD, "dasdb")}
    with armed(lab.control, Fault("disk.completion", "reorder", nth=1)) as rules:
        first = start_write(lab, nodes[MAIN], 1)
        lab.control.wait_event("disk", LIMIT, what="ended", device=MAIN)
        second = start_write(lab, nodes[THIRD], 2)
        second.done()
        first.done()
    assert rules[0].fired == 1
    assert disk.read(lab.control, MAIN, 8, 8) == first.data
    assert disk.read(lab.control, THIRD, 8, 8) == second.data


@pytest.mark.requirement("K10")
def test_a_reboot_while_a_request_waits(lab: Guest) -> None:
    """It is gone with the reset, and the blocks stay; the next boot uses the disk as before."""
    node = online(lab)
    with opened(lab, node) as fd:
        assert lab.agent.pwrite(fd, page_of(11), 8192).check() == 4096
    disk.hold(lab.control, True)
    start_write(lab, node, 12).pending.forget()
    lab.control.wait_event("disk", LIMIT, what="held")
    # At once: reboot() would wait until all is written.
    trigger = lab.agent.open("/proc/sysrq-trigger", os.O_WRONLY).check()
    batch = lab.agent.worker("reboot").batch()
    batch.write(trigger, b"b")
    batch.start().forget()
    lab.await_agent()
    assert disk.requests(lab.control) == []
    assert not any(one["established"] for one in _query(lab))
    disk.hold(lab.control, False)
    for module in ("dasd_diag_mod", "dasd_fba_mod"):
        lab.agent.modprobe(module).check()
    with opened(lab, online(lab), os.O_RDONLY) as fd:
        assert lab.agent.pread(fd, 8192, 4096).data == bytes(4096) + page_of(11)


@pytest.mark.requirement("K10")
def test_a_machine_is_restored_while_a_request_waits(
    guest_config: GuestConfig, zvmlab_dir: Path
) -> None:
    """The request is carried out in the restored machine, and its program goes on there."""
    data = page_of(13)
    found = zvmlab_dir / "saved"
    with Guest(guest_config, zvmlab_dir / "first") as first:
        first.boot()
        for module in ("dasd_diag_mod", "dasd_fba_mod"):
            first.agent.modprobe(module).check()
        fd = first.agent.open(online(first), os.O_RDWR).check()
        disk.hold(first.control, True)
        assert first.agent.pwrite(fd, data, 4096).check() == 4096
        # The kernel writes it by itself, and nobody waits for it.
        for name, value in (("expire", b"1"), ("writeback", b"1")):
            first.agent.write_file(f"/proc/sys/vm/dirty_{name}_centisecs", value)
        first.control.wait_event("disk", LIMIT, what="held", device=MAIN)
        claim(found)
        first._save(found)  # pylint: disable=protected-access
        (waiting,) = disk.requests(first.control)
        assert disk.read(first.control, MAIN, 8, 8) == bytes(4096)
    with Guest(guest_config, zvmlab_dir / "second") as second:
        second.launch(found)
        second.start()
        assert disk.requests(second.control) == [waiting]
        second.boot()
        disk.hold(second.control, False)
        disk.complete(second.control, waiting.request)
        assert second.agent.call(Call.FSYNC, fd).check() == 0
        assert disk.read(second.control, MAIN, 8, 8) == data
        second.agent.close(fd).check()
        assert disk.requests(second.control) == []


# What the kernel's own dasd_diag does against this: docs/upstream-kernel.md.


@pytest.mark.requirement("K12")
@pytest.mark.kernel_defect(
    34,
    "a request whose end is not told is waited for without a limit",
    seen=r"times the page was written: 1",
)
@VIRTUAL
def test_a_request_whose_end_is_not_told_is_given_again(lab: Guest) -> None:
    """The interruption is lost; the kernel's timer takes the request for lost, and says so."""
    node = online(lab)
    assert set_attribute(lab, MAIN, "expires", "1") == 0
    # It can be opened when the kernel has looked for partitions.
    with opened(lab, node, os.O_RDONLY):
        since = lab.agent.log_position()

    def given_up() -> list[str]:
        return [line.text for line in lab.agent.dmesg(since) if "timed out (1s)" in line.text]

    with armed(lab.control, Fault("disk.completion", "drop", nth=1)) as rules:
        writer = start_write(lab, node, 15)
        wait_until(lambda: bool(given_up()), "the kernel's timer")
        written: BatchResult | None = None
        # Of the guest's time: often as long as the timer.
        with suppress(Timeout):
            written = lab.outlast(writer.pending, 20)
    assert rules[0].fired == 1
    (line,) = given_up()
    assert line.endswith("31 retries remaining")
    (found,) = [one for one in _query(lab) if one["device"] == MAIN]
    assert found["established"], "the disk was not set up again"
    times = found["writes"] * BLOCK // len(writer.data)
    assert times == 2, f"times the page was written: {times}"
    assert written is not None and written[0].check() == len(writer.data)
