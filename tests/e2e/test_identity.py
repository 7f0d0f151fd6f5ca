# SPDX-License-Identifier: MIT
"""The guest believes that it runs under z/VM: identity, CPUs, storage."""

from __future__ import annotations

import re

import pytest
from real_machine import real_machine

from zvmlab.guest.guest import Guest

MIB = 1 << 20


def system_ram(guest: Guest) -> list[tuple[int, int]]:
    """First and last byte of each block of storage that Linux uses."""
    text = guest.agent.read_file("/proc/iomem").decode()
    found = re.findall(r"^([0-9a-f]+)-([0-9a-f]+) : System RAM", text, re.MULTILINE)
    return [(int(first, 16), int(last, 16)) for first, last in found]


@pytest.mark.requirement("M4")
@pytest.mark.parametrize(
    "cpus",
    [
        pytest.param(1, marks=pytest.mark.zvmlab(cpus=1)),
        pytest.param(2, marks=[pytest.mark.zvmlab(cpus=2), pytest.mark.first_kernel]),
        pytest.param(4, marks=[pytest.mark.zvmlab(cpus=4), pytest.mark.first_kernel]),
    ],
)
def test_linux_says_zvm(guest: Guest, cpus: int) -> None:
    log = [line.text for line in guest.agent.dmesg()]
    assert any("Linux is running as a z/VM guest operating system in 64-bit mode" in t for t in log)
    sysinfo = guest.agent.read_file("/proc/sysinfo").decode()
    assert re.search(r"^VM00 Name: +LINUX001$", sysinfo, re.MULTILINE)
    assert re.search(r"^VM00 Control Program: z/VM    7\.3\.0 *$", sysinfo, re.MULTILINE)
    assert re.search(rf"^VM00 CPUs Total: +{cpus}$", sysinfo, re.MULTILINE)
    online = guest.agent.read_file("/sys/devices/system/cpu/online").decode().strip()
    assert online == ("0" if cpus == 1 else f"0-{cpus - 1}")


@pytest.mark.requirement("M32")
@pytest.mark.zvmlab(cp={"level": "6.4.0", "userid": "TESTVM01"})
def test_configured_level_and_user_id_are_reported(guest: Guest) -> None:
    sysinfo = guest.agent.read_file("/proc/sysinfo").decode()
    assert re.search(r"^VM00 Name: +TESTVM01$", sysinfo, re.MULTILINE)
    assert re.search(r"^VM00 Control Program: z/VM    6\.4\.0 *$", sysinfo, re.MULTILINE)
    level = guest.cp("QUERY CPLEVEL")
    assert level.rc == 0
    assert level.response.startswith("z/VM Version 6 Release 4.0")
    first = level.response.splitlines()[0]
    assert f"VM: {first}\n" in guest.agent.read_file("/proc/service_levels").decode()


DUMP = {
    "Manufacturer": "IBM",
    "Type": "2817",
    "Model": "703              M32",
    "Sequence Code": "0000000000000123",
    "Plant": "02",
    "Model Capacity": "703              00000000",
    "Capability": "696",
    "Secondary Capability": "696",
    "LPAR Number": "47",
    "LPAR Characteristics": "Shared",
    "LPAR Name": "R17LP45",
    "LPAR Adjustment": "1000",
    "LPAR CPUs Dedicated": "0",
    "LPAR CPUs Shared": "2",
    "VM00 Name": "LINUX001",
}
"""Of /proc/sysinfo in util-linux' public dump of a z/VM guest, what does not depend on CPUs."""


def sysinfo(guest: Guest) -> dict[str, str]:
    text = guest.agent.read_file("/proc/sysinfo").decode()
    lines = [line.partition(":") for line in text.splitlines() if line]
    return {name: value.strip() for name, _, value in lines}


@pytest.mark.requirement("M4")
@pytest.mark.representative
@real_machine
def test_machine_is_that_of_a_real_guest_of_zvm(guest: Guest) -> None:
    """The dump's /proc/sysinfo, and /proc/cpuinfo with the version that s390-tools look for."""
    found = sysinfo(guest)
    assert {name: found.get(name) for name in DUMP} == DUMP
    assert not [name for name in found if "Topology" in name]
    cpuinfo = guest.agent.read_file("/proc/cpuinfo").decode()
    assert re.findall(r"^processor .*", cpuinfo, re.MULTILINE) == [
        f"processor {cpu}: version = FF,  identification = {cpu}00123,  machine = 2817"
        for cpu in range(2)
    ]
    assert re.search(r"^bogomips per cpu: 14367\.00$", cpuinfo, re.MULTILINE)
    assert guest.cp("QUERY CPUID").response == "CPUID= FF00012328178000\n"


@pytest.mark.zvmlab(cpus=2)
def test_no_cpu_has_used_more_time_than_there_was(guest: Guest) -> None:
    """Linux takes the second CPU's timer as its reset has left it."""
    lines = guest.agent.read_file("/proc/stat").decode().splitlines()
    elapsed = float(guest.agent.read_file("/proc/uptime").split()[0])
    cpus = [line.split() for line in lines if re.match("cpu[0-9]", line)]
    assert len(cpus) == 2
    for name, *ticks in cpus:
        # In hundredths of a second, each rounded.
        assert sum(map(int, ticks)) <= 100 * elapsed + 100, name


@pytest.mark.representative
def test_nothing_names_the_emulator(warm_guest: Guest) -> None:
    """Nor does the line that an oops would have; a z15 unless the test says otherwise."""
    found = sysinfo(warm_guest)
    assert (found["Manufacturer"], found["Type"]) == ("IBM", "8561")
    for file in ("/proc/sysinfo", "/proc/cpuinfo", "/proc/service_levels"):
        text = warm_guest.agent.read_file(file).decode()
        assert not re.search("QEMU|HRC|Hercules|KVM", text, re.IGNORECASE)


@pytest.mark.parametrize(
    "directory",
    [
        pytest.param(text, marks=pytest.mark.zvmlab(cp={"directory": text}))
        for text in (
            "",
            "IUCV ALLOW",
            "IUCV OTHER MSGLIMIT 1;OPTION MAXCONN 1",
            "IUCV *MSG;OPTION MAXCONN 1",
        )
    ],
)
@pytest.mark.first_kernel
def test_agent_needs_nothing_of_the_directory(guest: Guest, directory: str) -> None:
    """A user who may connect to nobody still has the channel to the harness."""
    assert guest.agent.read_file("/proc/version").startswith(b"Linux version ")
    assert "ZVMLAB" not in guest.cp("QUERY NAMES").response
    assert guest.cp("QUERY USERID").response == "LINUX001 AT ZVMLAB\n", directory


@pytest.mark.representative
def test_storage_ends_where_cp_says(warm_guest: Guest) -> None:
    assert system_ram(warm_guest) == [(0, 128 * MIB - 1)]
