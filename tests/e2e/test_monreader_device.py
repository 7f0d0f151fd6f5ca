# SPDX-License-Identifier: MIT
"""The device: its node, a second node, what it supports and what it does not."""

from __future__ import annotations

import errno
import mmap
import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from zvmlab.agent.wire import Call
from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import MCE_SIZE, Element, Record
from zvmlab.monitor.monitor import DEVICE, Capture, compare, deliver, read_set

if TYPE_CHECKING:
    from conftest import OneSet

MISC_MAJOR = 10
SECOND = "/tmp/second-node"
# Nothing, TCGETS, FIONREAD, the vmcp device's first, all bits.
REQUESTS = (0, 0x5401, 0x541B, 0x40041001, 0xFFFFFFFF)


def device_numbers(guest: Guest) -> tuple[int, int]:
    """Major and minor number, from the text that the documents point to."""
    text = guest.agent.read_file("/sys/class/misc/monreader/dev").decode()
    found = re.fullmatch(r"(\d+):(\d+)\n", text)
    assert found is not None, text
    return int(found[1]), int(found[2])


@pytest.mark.requirement("M1")
def test_sysfs_names_the_device_and_devtmpfs_has_its_node(
    monreader: Guest, one_set: OneSet
) -> None:
    """sysfs gives the misc device's numbers as major:minor, and its node is there by itself."""
    major, minor = device_numbers(monreader)
    assert major == MISC_MAJOR
    registered = monreader.agent.read_file("/proc/misc").decode().splitlines()
    assert [str(minor), "monreader"] in [line.split() for line in registered]
    uevent = monreader.agent.read_file("/sys/class/misc/monreader/uevent").decode()
    assert {f"MAJOR={major}", f"MINOR={minor}", "DEVNAME=monreader"} <= set(uevent.split())
    one_set(monreader)


@pytest.mark.requirement("M1")
def test_second_node_made_by_mknod_is_the_same_device_ebusy(
    monreader: Guest, one_set: OneSet
) -> None:
    """A node made by mknod with the numbers in sysfs reads a data set like the first one."""
    agent = monreader.agent
    agent.mknod(SECOND, stat.S_IFCHR | 0o600, os.makedev(*device_numbers(monreader))).check()
    try:
        one_set(monreader, SECOND)
        first = agent.open(DEVICE).check()
        assert agent.open(SECOND).errno == errno.EBUSY
        agent.close(first).check()
        one_set(monreader, SECOND)
    finally:
        agent.unlink(SECOND).check()


@pytest.mark.requirement("M1")
def test_node_goes_with_the_module_enoent(warm_guest: Guest, zvmlab_driver: str) -> None:
    """Without the module there is no node, and none is left when it is gone."""
    agent = warm_guest.agent
    assert agent.open(DEVICE).errno == errno.ENOENT
    agent.insmod("monreader").check()
    agent.close(agent.open(DEVICE).check()).check()
    agent.rmmod("monreader").check()
    assert agent.open(DEVICE).errno == errno.ENOENT
    assert "monreader" not in agent.read_file("/proc/misc").decode()


@pytest.mark.requirement("M14")
@pytest.mark.representative
def test_load_logs_range_and_type_of_the_segment(warm_guest: Guest, zvmlab_driver: str) -> None:
    """Loading the module writes the segment's range, hence its size, to the system log."""
    (segment,) = warm_guest.control.execute("query-segments")["segments"]
    loaded = warm_guest.agent.insmod("monreader").check()
    lines = re.findall(
        r"DCSS MONDCSS of range ([0-9a-f]{16}) to ([0-9a-f]{16}) and type SC"
        r" loaded in shared access mode",
        loaded.text,
    )
    warm_guest.agent.rmmod("monreader").check()
    assert [(int(a, 16), int(b, 16)) for a, b in lines] == [(segment["start"], segment["end"])]


@pytest.mark.requirement("M15")
def test_ioctl_write_and_mmap_are_refused_and_seeking_harms_nothing_enotty(
    monreader: Guest, zvmlab_dir: Path
) -> None:
    """Only open, read, poll and close do something; whatever else is tried mid-set, the
    set is read on unchanged."""
    with Capture(monreader.control, zvmlab_dir / "sets") as capture:
        fd = monreader.agent.open(DEVICE, os.O_RDWR).check()
        deliver(monreader.control, "sample", Element.of([Record(0, 1, 1, bytes(range(100)))]))
        batch = monreader.agent.batch()
        head = batch.read(fd, MCE_SIZE)
        ioctls = [batch.ioctl(fd, request) for request in REQUESTS]
        seeks = [batch.lseek(fd, *to) for to in ((0, 0), (4096, 0), (-1, 1), (0, 2))]
        write = batch.write(fd, b"anything")
        mapped = batch.mmap(fd, 4096, mmap.PROT_READ, mmap.MAP_SHARED)
        synced = batch.call(Call.FSYNC, fd)
        rest = batch.read_until(fd, 4096)
        batch.close(fd)
        results = batch.run()
        wanted = capture.next()
    assert [results[ref].errno for ref in ioctls] == [errno.ENOTTY] * len(REQUESTS)
    assert results[write].errno == errno.EINVAL
    assert results[mapped].errno == errno.ENODEV
    assert results[synced].errno == errno.EINVAL
    # Whether seeking is refused or ignored is left open; that it has no effect is not.
    assert {results[ref].errno for ref in seeks} <= {0, errno.ESPIPE, errno.EINVAL}
    assert results[head].data == wanted.stream[:MCE_SIZE]
    tail = read_set(results[rest])
    assert results[head].data + tail.stream == wanted.stream
    assert tail.sizes[-1] == 0
