# SPDX-License-Identifier: MIT
"""What a guest leaves in its storage when it ends by itself, for its kernel's counts to be read there."""

from __future__ import annotations

import base64
import contextlib
import os
import re

import pytest

from zvmlab.agent.agent import Power
from zvmlab.base.errors import EmulatorError
from zvmlab.guest.console import DISABLED_WAIT, PANIC
from zvmlab.guest.guest import Guest
from zvmlab.guest.last_counts import LastStorage

pytestmark = [pytest.mark.first_kernel]

SECONDS = 180.0
LENGTH = 4096


@pytest.fixture
def machine(guest: Guest) -> Guest:
    """A guest that keeps its last storage."""
    if guest.config.backend == "hercules":
        pytest.skip("only QEMU keeps what a guest leaves in its storage")
    guest.keep_last_storage()
    guest.emulator.expect_exit()
    return guest


def symbol(guest: Guest, name: str) -> int:
    """An address in the guest's kernel, or in a module of it."""
    known = guest.agent.read_file("/proc/kallsyms")
    found = re.search(rb"^([0-9a-f]+) \w %s(\t.*)?$" % name.encode(), known, re.M)
    assert found is not None
    return int(found[1], 16)


@pytest.mark.parametrize("end", ("power-off", "panic"))
def test_storage_stays_when_the_guest_has_ended(machine: Guest, end: str) -> None:
    """The kernel's own tables lead to what it has at a virtual address, in the kernel and behind it."""
    kernel, module = symbol(machine, "_stext"), symbol(machine, "iucv_sock_close")
    if kernel >> 31:
        pytest.skip("this kernel's addresses are not those of storage, where CP could compare")
    wanted = machine.control.execute("storage-read", address=kernel, length=LENGTH)["data"]
    if end == "panic":
        machine.agent.write_file("/proc/sys/kernel/panic", b"0")
        batch = machine.agent.worker("sysrq").batch()
        batch.write(batch.open("/proc/sysrq-trigger", os.O_WRONLY), b"c")
        batch.start()
        machine.expect_crash(PANIC, DISABLED_WAIT, seconds=SECONDS)
    else:
        with contextlib.suppress(EmulatorError):
            machine.agent.power(Power.OFF)
    assert machine.emulator.wait(SECONDS) == 0
    with LastStorage(machine.last_storage) as storage:
        storage.enter(module)
        assert storage.read(kernel, LENGTH) == base64.b64decode(wanted) != bytes(LENGTH)
        assert storage.read(module, 8) != bytes(8)
    machine.last_storage.unlink()


def test_file_that_is_there_stays(machine: Guest) -> None:
    """It is another guest's."""
    machine.last_storage.write_bytes(b"others")
    with contextlib.suppress(EmulatorError):
        machine.agent.power(Power.OFF)
    assert machine.emulator.wait(SECONDS) == 0
    assert machine.last_storage.read_bytes() == b"others"
    machine.last_storage.unlink()


def test_nothing_stays_of_a_guest_that_is_stopped(machine: Guest) -> None:
    """Whoever stops it could have asked it before."""
    machine.emulator.stop()
    assert not machine.last_storage.exists()
