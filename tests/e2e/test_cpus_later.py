# SPDX-License-Identifier: MIT
"""CPUs that CP defines and detaches while Linux runs: Debian's lscpu and chcpu find them."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from zvmlab.builder.guesttools import debian_program
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest

if TYPE_CHECKING:
    from conftest import Commands

MOST = 4
DIRECTORY = (
    "IUCV ALLOW;IUCV ANY;IUCV *MONITOR MSGLIMIT 255;IUCV *MSG;NAMESAVE MONDCSS;OPTION APPLMON;"
    "CPU 00 BASE;CPU 01"
)
SYS = "/sys/devices/system/cpu"
PACKAGES = ("util-linux", "util-linux-extra", "libsmartcols1", "libtinfo6", "libc6")
CHCPU, LSCPU = "/sbin/chcpu", "/usr/bin/lscpu"
SECONDS = 180.0

pytestmark = [
    pytest.mark.requirement("V13"),
    pytest.mark.zvmlab(cpus=MOST, cp={"directory": DIRECTORY}),
]


@pytest.fixture
def machine(guest_config: GuestConfig) -> None:
    """Hercules' CPUs cannot come and go."""
    if guest_config.backend == "hercules":
        pytest.skip("the port for Hercules refuses CPU statements")


def cpus(guest: Guest, which: str) -> str:
    """Linux' list of CPUs that are online, present …"""
    return guest.agent.read_file(f"{SYS}/{which}").decode().strip()


def set_online(guest: Guest, cpu: int, online: bool) -> int:
    """Linux starts or stops the CPU; its error."""
    fd = guest.agent.open(f"{SYS}/cpu{cpu}/online", os.O_WRONLY).check()
    error = guest.agent.write(fd, b"1" if online else b"0").errno
    assert guest.agent.close(fd).errno == 0
    return error


def gives(vmcp: Commands, command: str) -> tuple[int, str]:
    """CP's return code and response."""
    answer = vmcp(command)
    return answer.rc, answer.text


def rescan(guest: Guest) -> None:
    """As chcpu -r does."""
    guest.agent.write_file(f"{SYS}/rescan", b"1")


@pytest.mark.usefixtures("machine")
def test_cpu_is_found_once_it_is_defined(
    guest: Guest, vmcp_in: Callable[[Guest], Commands]
) -> None:
    """As public guides do it: vmcp def cpu, chcpu -r; Linux runs on it, and CP counts it."""
    vmcp = vmcp_in(guest)
    assert (cpus(guest, "present"), cpus(guest, "online")) == ("0-1", "0-1")
    assert len(vmcp("query virtual cpus").text.splitlines()) == 2
    rescan(guest)
    assert cpus(guest, "present") == "0-1"
    assert gives(vmcp, "def cpu 2") == (0, "CPU 02 defined\n")
    assert cpus(guest, "present") == "0-1", "nobody has told Linux yet"
    rescan(guest)
    assert (cpus(guest, "present"), cpus(guest, "online")) == ("0-2", "0-1")
    assert set_online(guest, 2, True) == 0
    assert cpus(guest, "online") == "0-2"
    info = guest.agent.read_file("/proc/sysinfo").decode()
    assert re.search(r"^VM00 CPUs Total: +3$", info, re.M)
    lines = vmcp("query virtual cpus").text.splitlines()
    assert [line[:6] for line in lines] == ["CPU 00", "CPU 01", "CPU 02"]


@pytest.mark.usefixtures("machine")
def test_cpu_that_runs_is_not_detached(guest: Guest, vmcp_in: Callable[[Guest], Commands]) -> None:
    """Stopped by Linux, it is; then Linux cannot start it before it is defined again."""
    vmcp = vmcp_in(guest)
    conflict = "HCPCPU013E Conflicting option - CPU "
    assert gives(vmcp, "detach cpu 0") == (13, f"{conflict}00 is the base\n")
    assert gives(vmcp, "detach cpu 1") == (13, f"{conflict}01 runs; stop it first\n")
    assert gives(vmcp, "detach cpu 2") == (13, f"{conflict}02 is not defined\n")
    assert gives(vmcp, "def cpu 2 1") == (13, f"{conflict}01 is defined\n")
    assert gives(vmcp, "def cpu 4") == (
        13,
        f"{conflict}04 is more than the emulator's machine has\n",
    )
    assert set_online(guest, 1, False) == 0
    assert gives(vmcp, "detach cpu 1") == (0, "CPU 01 detached\n")
    rescan(guest)
    assert set_online(guest, 1, True) in (errno.EIO, errno.ENODEV)
    assert cpus(guest, "online") == "0"
    assert gives(vmcp, "def cpu 1") == (0, "CPU 01 defined\n")
    assert set_online(guest, 1, True) == 0
    assert cpus(guest, "online") == "0-1"


@pytest.mark.usefixtures("machine")
def test_debians_tools(guest_config: GuestConfig, vmcp_in: Callable[[Guest], Commands]) -> None:
    """lscpu and chcpu of util-linux."""
    files = {**debian_program(CHCPU, packages=PACKAGES), **debian_program(LSCPU, packages=PACKAGES)}
    config = guest_config._replace(files={**guest_config.files, **files})
    with Guest(config) as guest:
        guest.boot()
        vmcp = vmcp_in(guest)

        def run(*argv: str) -> str:
            return guest.agent.run(list(argv), timeout=SECONDS).check().stdout.decode()

        assert vmcp("def cpu 2-3").rc == 0
        assert run(CHCPU, "-r") == "Triggered rescan of CPUs\n"
        assert run(CHCPU, "-e", "2,3") == "CPU 2 enabled\nCPU 3 enabled\n"
        shown = run(LSCPU)
        assert re.search(r"^CPU\(s\): +4$", shown, re.M)
        assert re.search(r"^On-line CPU\(s\) list: +0-3$", shown, re.M)
        assert run(CHCPU, "-d", "3") == "CPU 3 disabled\n"
        assert vmcp("detach cpu 3").rc == 0


@pytest.mark.usefixtures("machine")
def test_restart_knows_the_cpus(guest: Guest, vmcp_in: Callable[[Guest], Commands]) -> None:
    """They are the virtual machine's, and outlive Linux."""
    assert vmcp_in(guest)("def cpu 3").rc == 0
    guest.reboot()
    assert cpus(guest, "present") == "0-2"
    assert vmcp_in(guest)("query virtual cpus").text.count("\nCPU 03") == 1
