# SPDX-License-Identifier: MIT
"""The guest believes that it runs under z/VM: identity, CPUs, storage."""

from __future__ import annotations

import re

import pytest

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


@pytest.mark.representative
def test_storage_ends_where_cp_says(warm_guest: Guest) -> None:
    assert system_ram(warm_guest) == [(0, 128 * MIB - 1)]
