# SPDX-License-Identifier: MIT
"""CP commands that act on the virtual machine as a whole, and what Linux does about them."""

from __future__ import annotations

import contextlib

import pytest

from zvmlab.base.errors import EmulatorError, GuestPanic
from zvmlab.guest.guest import Guest

SECONDS = 180.0
ACTIONS = "/sys/firmware/shutdown_actions"
BOOT_ID = "/proc/sys/kernel/random/boot_id"
# It depends on whether the CPU is idle at that moment, so it is no known failure.
RESTARTS = pytest.mark.not_debug(
    "lockdep reports a restart of a CPU that is idle", kernels=("debug",), defect="ipl-65"
)


@pytest.fixture
def machine(guest: Guest) -> Guest:
    """A guest whose emulator does what CP asks of the machine."""
    return guest


def asked(guest: Guest, request: str) -> None:
    """CP has asked the emulator for this."""
    event = guest.control.wait_event("machine", SECONDS)
    assert event.data == {"user": "LINUX001", "request": request}


def boots_again(guest: Guest, first: bytes) -> None:
    """The guest is reset, and comes up anew."""
    guest.control.wait_event("reset", SECONDS)
    guest.await_agent()
    assert guest.agent.read_file(BOOT_ID) != first


@pytest.mark.kernel_defect(
    65,
    "a restart interruption takes a lock on a CPU that RCU does not watch",
    seen=r"the guest's kernel reported a warning .*include/trace/events/lock.*",
    raises=GuestPanic,
    kernels=("bookworm:debug", "trixie:debug", "sid:debug"),
)
@pytest.mark.requirement("V1")
@pytest.mark.zvmlab(cpus=2)
def test_restart_of_a_cpu_that_is_idle(machine: Guest) -> None:
    """It comes when the kernel's own book keeping has the CPU as idle."""
    first = machine.agent.read_file(BOOT_ID)
    machine.agent.write_file(f"{ACTIONS}/on_restart", b"reipl")
    with machine.hold("arch_cpu_idle", 0) as hold:
        hold.wait()
        assert machine.cp("SYSTEM RESTART").rc == 0
        asked(machine, "restart")
        hold.release()
        boots_again(machine, first)


@RESTARTS
@pytest.mark.requirement("V1")
def test_system_restart_is_a_restart_interruption(machine: Guest) -> None:
    """Linux has an action for it, which is IPL here."""
    first = machine.agent.read_file(BOOT_ID)
    machine.agent.write_file(f"{ACTIONS}/on_restart", b"reipl")
    assert machine.cp("SYSTEM RESTART").rc == 0
    asked(machine, "restart")
    boots_again(machine, first)


@RESTARTS
@pytest.mark.requirement("V1", "Z4")
@pytest.mark.zvmlab(modules=("diag288_wdt",))
def test_watchdog_restarts_the_guest(machine: Guest) -> None:
    """The command that diag288_wdt has if it is told nothing."""
    first = machine.agent.read_file(BOOT_ID)
    machine.agent.write_file(f"{ACTIONS}/on_restart", b"reipl")
    machine.agent.modprobe("diag288_wdt").check()
    machine.agent.write_file("/dev/watchdog", b"x")
    assert machine.control.execute("watchdog-expire") == {"expired": True}
    heard = machine.control.wait_event("watchdog", SECONDS)
    assert heard.data == {"user": "LINUX001", "command": "SYSTEM RESTART", "rc": 0}
    boots_again(machine, first)


def ends(guest: Guest, command: str) -> None:
    """The command ends the machine; its reply may not come any more."""
    guest.emulator.expect_exit()
    with contextlib.suppress(EmulatorError):
        assert guest.cp(command).rc == 0
    assert guest.emulator.wait(SECONDS) == 0


@pytest.mark.requirement("V2")
def test_signal_shutdown_reaches_the_guest(machine: Guest) -> None:
    """SCLP's event is a Ctrl-Alt-Del for Linux, at which the guest's process 1 powers off."""
    ends(machine, "SIGNAL SHUTDOWN LINUX001 WITHIN 300")


@pytest.mark.requirement("V3")
def test_logoff_ends_the_machine(machine: Guest) -> None:
    """LOGOFF by the operator."""
    ends(machine, "LOGOFF")
