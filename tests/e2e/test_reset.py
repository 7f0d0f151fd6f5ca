# SPDX-License-Identifier: MIT
"""Reboot, panic and hang: CP is left clean, crashes are told apart at once."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from zvmlab.agent.results import decode_info
from zvmlab.agent.wire import Request
from zvmlab.base.errors import GuestPanic, Timeout
from zvmlab.guest.guest import Guest, Stage
from zvmlab.mondata.records import Element, Record
from zvmlab.monitor.monitor import Capture, DataSets, compare, deliver

if TYPE_CHECKING:
    from conftest import Build

pytestmark = pytest.mark.first_kernel

ANSWER_SECONDS = 300.0


def read_one(guest: Guest, folder: Path) -> None:
    """Load monreader and read one set."""
    guest.agent.insmod("monreader").check()
    with Capture(guest.control, folder) as capture, DataSets(guest.agent) as reader:
        deliver(guest.control, "sample", Element.of([Record(0, 1, 1, b"\1" * 64)]))
        compare(reader.read(), capture.next())


def assert_clean(guest: Guest) -> None:
    """Nothing of the guest's is left in CP but what the new kernel has set up."""
    assert guest.control.execute("query-monitor")["users"] == []
    segment = guest.control.execute("query-segments")["segments"][0]
    assert (segment["loaded"], segment["users"]) == (False, 0)


def test_reboot_leaves_cp_clean(guest: Guest, zvmlab_dir: Path) -> None:
    read_one(guest, zvmlab_dir / "before")
    reader = DataSets(guest.agent)  # left open: its path must not survive the reboot
    assert reader.fd >= 0
    assert [u["name"] for u in guest.control.execute("query-monitor")["users"]] == ["LINUX001"]
    guest.reboot()
    assert_clean(guest)
    read_one(guest, zvmlab_dir / "after")


@pytest.mark.full
@pytest.mark.not_debug("128 MiB have no room for two images of 20 MiB and their copies")
def test_kexec_leaves_cp_clean(guest: Guest, zvmlab_dir: Path, program: Build) -> None:
    if guest.agent.open("/sys/kernel/kexec_loaded").errno:
        pytest.skip("Debian builds this kernel without kexec")
    read_one(guest, zvmlab_dir / "before")
    reader = DataSets(guest.agent)  # left open: its path must not survive
    assert reader.fd >= 0
    for path, file in (("kernel", guest.artifacts.kernel), ("initrd", guest.artifacts.image)):
        guest.agent.write_file(f"/tmp/{path}", file.read_bytes(), 0o600)
    guest.agent.write_file("/tmp/kexec", program("kexec").read_bytes(), 0o755)
    parameters = f"{guest.config.kernel_parameters()} zvmlab.kexec"
    first = guest.agent.read_file("/proc/sys/kernel/random/boot_id")
    guest.agent.spawn(["/tmp/kexec", "/tmp/kernel", "/tmp/initrd", parameters])
    guest.await_agent()
    assert guest.agent.read_file("/proc/sys/kernel/random/boot_id") != first
    assert guest.agent.read_file("/proc/cmdline").decode().rstrip("\n").endswith("zvmlab.kexec")
    assert_clean(guest)
    read_one(guest, zvmlab_dir / "after")


@pytest.mark.representative
def test_panic_is_reported_at_once(guest: Guest) -> None:
    """Not only when the time for the agent's answer is over."""
    guest.agent.timeout = ANSWER_SECONDS
    started = time.monotonic()
    with pytest.raises(GuestPanic) as caught:
        guest.agent.write_file("/proc/sysrq-trigger", b"c")
        guest.agent.run(["/bin/true"], timeout=ANSWER_SECONDS)
    assert time.monotonic() - started < ANSWER_SECONDS
    assert "sysrq" in caught.value.tail.lower()
    assert caught.value.exit_code == 255
    guest.expect_crash("panic")


def test_hang_is_a_timeout(guest: Guest) -> None:
    guest.machine.pause()
    with pytest.raises(Timeout, match="HELLO"):
        guest.agent.start(Request.HELLO, b"", "HELLO", 1.0, decode_info).result(1.0)
    guest.check()  # neither a panic nor the end of the emulator
    guest.machine.go_on()


@pytest.mark.representative
def test_power_off_ends_the_emulator(guest: Guest) -> None:
    guest.shut_down()
    assert guest.stage is Stage.OFF
    assert not guest.emulator.alive
