# SPDX-License-Identifier: MIT
"""Devices of the user's own in a guest's machine, as its kernel sees them."""

from __future__ import annotations

import random
import subprocess
import time
from pathlib import Path

import pytest
from waiting import fair

from zvmlab.agent.agent import Agent
from zvmlab.base.errors import EmulatorError
from zvmlab.guest.config import HERCULES, QEMU, GuestConfig
from zvmlab.guest.guest import Guest

pytestmark = pytest.mark.not_debug("it has no virtio_blk", lacks="VIRTIO_BLK")
NUMBER = "0.0.0120"
SECTOR = 512
SIZE = 1 << 20
LIMIT = 120.0
SYSFS = f"/sys/bus/ccw/devices/{NUMBER}"


def contents(seed: int, size: int) -> bytes:
    """Bytes that are in no other place."""
    return random.Random(seed).randbytes(size)


@pytest.fixture
def disk(zvmlab_dir: Path, zvmlab_backend: str) -> Path:
    """A disk's image: any bytes in QEMU, an ECKD volume of ten cylinders in Hercules."""
    image = zvmlab_dir / "a disk, with a comma.img"
    if zvmlab_backend == QEMU:
        image.write_bytes(contents(1, SIZE))
        return image
    image = zvmlab_dir / "disk.cckd"
    subprocess.run(["dasdinit", "-z", image, "3390", "ZVM001", "10"], check=True, timeout=60)
    return image


@pytest.fixture
def guest_config(guest_config: GuestConfig, disk: Path, zvmlab_backend: str) -> GuestConfig:
    """A guest that has the disk, and what its kernel needs for it."""
    if zvmlab_backend == HERCULES:
        return guest_config._replace(devices=(f"0120 3390 {disk}",), modules=("dasd_eckd_mod",))
    device = f"virtio-blk-ccw,devno=fe.0.0120,file={disk}"
    return guest_config._replace(devices=(device,), modules=("virtio_blk",), busybox=True)


def wait_for(agent: Agent, path: str) -> None:
    """The kernel makes the node when it has asked the device, which takes a while."""
    limit = fair(LIMIT)
    while True:
        found = agent.open(path)
        if found.errno == 0:
            agent.close(found.ret)
            return
        assert not limit.over, f"there is no {path} after {LIMIT} s"
        time.sleep(0.05)


@pytest.mark.representative
def test_a_disk_of_the_users(guest: Guest, disk: Path, zvmlab_backend: str) -> None:
    """It has the number it was given; what the guest reads and writes there is the image's."""
    agent = guest.agent
    if zvmlab_backend == HERCULES:
        agent.modprobe("dasd_eckd_mod").check()
        agent.write_file(f"{SYSFS}/online", b"1\n")
        wait_for(agent, "/dev/dasda")
        assert (
            agent.read_file(f"{SYSFS}/devtype") == b"3390/02\n"
        )  # a 3390-1, which ten cylinders fit
        assert agent.read_file(f"{SYSFS}/discipline") == b"ECKD\n"
        return
    agent.modprobe("virtio_blk").check()
    wait_for(agent, "/dev/vda")
    assert agent.read_file("/dev/vda") == contents(1, SIZE)
    seen = agent.run(["/bin/busybox", "readlink", "/sys/block/vda"]).check().stdout.decode()
    assert f"/{NUMBER}/" in seen
    agent.write_file("/dev/vda", contents(2, SECTOR))
    guest.shut_down()
    assert disk.read_bytes() == contents(2, SECTOR) + contents(1, SIZE)[SECTOR:]


@pytest.mark.first_kernel
def test_a_device_that_is_none(guest_config: GuestConfig, zvmlab_dir: Path) -> None:
    """The emulator's own words say what it does not know."""
    config = guest_config._replace(devices=("virtio-disc-ccw",), modules=())
    with pytest.raises(EmulatorError, match="'virtio-disc-ccw' is not a valid device model"):
        with Guest(config, zvmlab_dir / "none") as guest:
            guest.boot()


@pytest.mark.first_kernel
@pytest.mark.zvmlab(command_line="conmode=sclp zvmlab.test=last")
def test_parameters_follow_the_others(guest: Guest, zvmlab_backend: str) -> None:
    """The given parameters are the end of the kernel's command line, so they count."""
    words = guest.agent.read_file("/proc/cmdline").split()
    assert zvmlab_backend == QEMU
    assert words[-2:] == [b"conmode=sclp", b"zvmlab.test=last"]
