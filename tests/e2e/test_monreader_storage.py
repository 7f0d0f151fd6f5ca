# SPDX-License-Identifier: MIT
"""Both ways to make room for the segment, with the documents' numbers and levels of z/VM.

The segment lies from 144 MiB to 152 MiB, as in the documents' examples.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from zvmlab.guest.guest import Guest

if TYPE_CHECKING:
    from conftest import OneSet

MIB = 1 << 20
SEGMENT = (144 * MIB, 152 * MIB - 1)


def resources(guest: Guest, name: str) -> list[tuple[int, int]]:
    """First and last byte of each resource of that name at the top of /proc/iomem."""
    text = guest.agent.read_file("/proc/iomem").decode()
    found = re.findall(rf"^([0-9a-f]+)-([0-9a-f]+) : {name}\b.*$", text, re.MULTILINE)
    return [(int(first, 16), int(last, 16)) for first, last in found]


def total_storage(guest: Guest) -> int:
    """Bytes in System RAM."""
    return sum(last - first + 1 for first, last in resources(guest, "System RAM"))


def level(guest: Guest) -> str:
    """The control program as Linux sees it: version.release.modification."""
    sysinfo = guest.agent.read_file("/proc/sysinfo").decode()
    found = re.search(r"^VM00 Control Program: z/VM +(\d+\.\d+\.\d+) *$", sysinfo, re.MULTILINE)
    assert found is not None, sysinfo
    return found[1]


@pytest.mark.requirement("M7", "M32")
@pytest.mark.zvmlab(storage="0.140M 200M.200M", cp={"level": "4.4.0"})
def test_segment_in_a_hole_of_the_storage(driver_guest: Guest, one_set: OneSet) -> None:
    """DEF STOR CONFIG 0.140M 200M.200M on z/VM 4.4: two blocks, 340 MiB, the DCSS between."""
    guest = driver_guest
    blocks = [(0, 140 * MIB - 1), (200 * MIB, 400 * MIB - 1)]
    assert resources(guest, "System RAM") == blocks
    assert total_storage(guest) == 340 * MIB
    answer = guest.cp("QUERY VIRTUAL STORAGE")
    assert answer.rc == 0 and answer.response.splitlines()[0] == "STORAGE = 340M"
    guest.agent.insmod("monreader").check()
    assert resources(guest, "MONDCSS") == [SEGMENT]
    assert resources(guest, "System RAM") == blocks
    one_set(guest)
    assert level(guest) == "4.4.0"
    guest.agent.rmmod("monreader").check()
    assert resources(guest, "MONDCSS") == []


@pytest.mark.requirement("M8", "M32")
@pytest.mark.not_debug(
    "KASAN of Linux 6.1 has no shadow between the end of storage and mem=", coverage=True
)
@pytest.mark.zvmlab(storage="0.140M", command_line="mem=160M", cp={"level": "5.1.0"})
def test_segment_behind_the_storage_with_mem(driver_guest: Guest, one_set: OneSet) -> None:
    """DEF STOR 140M with mem=160M on z/VM 5.1: the DCSS behind the end of storage is usable."""
    guest = driver_guest
    assert b" mem=160M" in guest.agent.read_file("/proc/cmdline")
    assert resources(guest, "System RAM") == [(0, 140 * MIB - 1)]
    guest.agent.insmod("monreader").check()
    assert resources(guest, "MONDCSS") == [SEGMENT]
    one_set(guest)
    assert level(guest) == "5.1.0"


@pytest.mark.requirement("M32")
@pytest.mark.full
@pytest.mark.parametrize(
    "wanted, text",
    [
        pytest.param(
            name,
            f"z/VM Version {version} Release {release}",
            marks=pytest.mark.zvmlab(cp={"level": name}),
            id=name,
        )
        for name, version, release in (
            ("4.4.0", 4, "4.0"),
            ("5.1.0", 5, "1.0"),
            ("5.3.0", 5, "3.0"),
            ("6.1.0", 6, "1.0"),
            ("6.4.0", 6, "4.0"),
            ("7.1.0", 7, "1.0"),
            ("7.4.0", 7, "4.0"),
        )
    ],
)
def test_level_is_reported_and_a_set_is_read(
    driver_guest: Guest, one_set: OneSet, wanted: str, text: str
) -> None:
    """STSI and QUERY CPLEVEL give the configured level, and the driver works on it."""
    assert level(driver_guest) == wanted
    answer = driver_guest.cp("QUERY CPLEVEL")
    assert answer.rc == 0 and answer.response.startswith(text)
    levels = driver_guest.agent.read_file("/proc/service_levels").decode()
    assert text in levels
    driver_guest.agent.insmod("monreader").check()
    one_set(driver_guest)
