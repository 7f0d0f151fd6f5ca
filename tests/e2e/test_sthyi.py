# SPDX-License-Identifier: MIT
"""STHYI: what each level has of CPUs, held against what the guest hears of it elsewhere.

Offsets are those of INFBK in z/VM 7.3; Linux executes the instruction if facility 74 is there.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from signal import SIGILL, SIGSEGV
from typing import TYPE_CHECKING, Any

import pytest
from real_machine import real_machine

from zvmlab.cp.tracefmt import read
from zvmlab.guest.guest import Guest

if TYPE_CHECKING:
    from conftest import Build

FACILITY = 74
PAGE = 4096
UNTOUCHED = bytes([0xEE]) * PAGE
MARK = 0x123456789ABCDEF0
EINVAL, EOPNOTSUPP = 22, 95
SECTIONS = {"machine": 80, "partition": 80, "hypervisor": 56, "guest": 72}
ILL_ILLOPN, SEGV_MAPERR, SEGV_ACCERR = 2, 1, 2

Sthyi = Callable[..., tuple[list[int], bytes]]
"""Arguments of programs/sthyi.c to the numbers and the page that it prints."""


def sthyi_in(guest: Guest, program: Build) -> Sthyi:
    guest.agent.write_file("/tmp/sthyi", program("sthyi").read_bytes(), 0o755)

    def run(*arguments: object) -> tuple[list[int], bytes]:
        command = ["/tmp/sthyi", *map(str, arguments)]
        words = guest.agent.run(command).check().stdout.decode().split()
        page = bytes.fromhex(words.pop()) if len(words[-1]) == 2 * PAGE else b""
        return [int(word) for word in words], page

    return run


@pytest.fixture
def sthyi(warm_guest: Guest, program: Build) -> Sthyi:
    return sthyi_in(warm_guest, program)


def sections(page: bytes) -> dict[str, bytes]:
    """The parts of a response that has one hypervisor and one guest."""
    assert struct.unpack_from(">7xB2H", page) == (1, 48 + sum(SECTIONS.values()), 48)
    found = {}
    for number, (name, size) in enumerate(SECTIONS.items()):
        at, length = struct.unpack_from(">2H", page, 12 + 4 * number)
        assert length == size
        found[name] = page[at : at + length]
    return found


def text(section: bytes, at: int, length: int) -> str:
    return section[at : at + length].decode("cp037").strip()


def sysinfo(guest: Guest) -> dict[str, str]:
    """/proc/sysinfo by name."""
    lines = guest.agent.read_file("/proc/sysinfo").decode().splitlines()
    pairs = (line.split(":", 1) for line in lines if ":" in line)
    return {name.strip(): value.strip() for name, value in pairs}


def traced(guest: Guest) -> list[Mapping[str, Any]]:
    trace = guest.channels.trace
    assert trace is not None
    return [record.fields for record in read(trace) if record.call == "sthyi"]


def check_machine(guest: Guest, section: bytes) -> None:
    known = sysinfo(guest)
    assert text(section, 24, 16) == known["Manufacturer"]
    assert text(section, 20, 4) == known["Type"]
    assert text(section, 40, 16) == known["Sequence Code"]
    assert text(section, 56, 4) == known["Plant"]
    shared, dedicated, ifls = struct.unpack_from(">2HI", section, 4)
    assert shared + dedicated == int(known["CPUs Configured"])
    assert ifls == 0
    # The CPUs say themselves what machine they belong to.
    cpuinfo = guest.agent.read_file("/proc/cpuinfo").decode()
    assert re.findall(r"machine = (\w+)", cpuinfo)[0] == text(section, 20, 4)
    # Counts, identification, zIIPs.
    assert section[:4] == bytes([0, 0, 0xC8, 0])


def check_partition(guest: Guest, section: bytes) -> None:
    known = sysinfo(guest)
    number, shared, dedicated, ifls = struct.unpack_from(">3HI", section, 4)
    assert number == int(known["LPAR Number"])
    assert text(section, 16, 8) == known["LPAR Name"]
    assert shared == int(known["LPAR CPUs Shared"])
    assert dedicated == int(known["LPAR CPUs Dedicated"])
    assert shared + dedicated == int(known["LPAR CPUs Configured"])
    assert ifls == 0
    assert section[:4] == bytes([0, 0, 0xFA, 0])
    # Nothing is capped, no group, no zIIPs.
    assert not any(section[24:])


def check_hypervisor(guest: Guest, section: bytes) -> None:
    known = sysinfo(guest)
    assert section[4] == 1
    assert known["VM00 Control Program"].startswith("z/VM")
    assert guest.cp("QUERY USERID").response.split() == ["LINUX001", "AT", text(section, 8, 8)]
    assert text(section, 16, 8) == ""
    shared, dedicated, ifls = struct.unpack_from(">2HI", section, 24)
    assert (shared, dedicated, ifls) == (int(known["LPAR CPUs Configured"]), 0, 0)
    assert section[32:48] == bytes([0xFE]) + bytes(7) + bytes([0x80]) + bytes(7)


def check_guest(guest: Guest, section: bytes) -> None:
    known = sysinfo(guest)
    assert text(section, 4, 8) == known["VM00 Name"] == "LINUX001"
    shared, dedicated, kind, cap = struct.unpack_from(">2HB3xI", section, 12)
    assert shared == int(known["VM00 CPUs Total"])
    configured = guest.agent.read_file("/sys/devices/system/cpu/present").decode().strip()
    assert configured == f"0-{shared - 1}"
    assert (dedicated, kind, cap) == (0, 0, 0)
    assert text(section, 40, 8) == ""


@pytest.mark.requirement("J1")
@pytest.mark.representative
@real_machine
def test_system_call_tells_of_each_level(guest: Guest, program: Build) -> None:
    sthyi = sthyi_in(guest, program)
    facilities = re.search(
        r"^facilities +: (.*)$", guest.agent.read_file("/proc/cpuinfo").decode(), re.M
    )
    assert facilities is not None and str(FACILITY) in facilities[1].split()
    numbers, page = sthyi("call", 0, 0)
    assert numbers == [0, 0, 0]
    found = sections(page)
    check_machine(guest, found["machine"])
    check_partition(guest, found["partition"])
    check_hypervisor(guest, found["hypervisor"])
    check_guest(guest, found["guest"])
    assert not any(page[48 + sum(SECTIONS.values()) :])
    # It was the instruction: without it Linux makes up the first two sections.
    records = traced(guest)
    assert [(record["cc"], record["rc"]) for record in records] == [(0, 0)]
    assert records[0]["response"][0] == 48 + sum(SECTIONS.values())


@pytest.mark.requirement("J1")
def test_system_call_has_one_function(sthyi: Sthyi, warm_guest: Guest) -> None:
    before = len(traced(warm_guest))
    assert sthyi("call", 1, 0) == ([-1, EOPNOTSUPP, MARK], UNTOUCHED)
    assert sthyi("call", 0, 1) == ([-1, EINVAL, MARK], UNTOUCHED)
    assert len(traced(warm_guest)) == before


@pytest.mark.requirement("J1")
@pytest.mark.representative
def test_programs_execute_the_instruction(sthyi: Sthyi) -> None:
    """In problem state, as qclib does under z/VM."""
    _, page = sthyi("call", 0, 0)
    assert len(sections(page)) == 4
    assert sthyi("insn", 0, "page") == ([0, 0], page)
    # The page's first use is this store: an exception, after which the kernel lets it repeat.
    assert sthyi("insn", 0, "new") == ([0, 0], page)
    for code in range(1, 7):
        assert sthyi("insn", code, "page") == ([3, 8], UNTOUCHED)
    assert sthyi("insn", 7, "page") == ([3, 4], UNTOUCHED)
    assert sthyi("insn", 0xFFFF, "unaligned")[0] == [3, 4]
    assert sthyi("insn", 0x10000, "page") == ([0, 0], page)


@pytest.mark.requirement("J1")
@pytest.mark.representative
@pytest.mark.parametrize(
    ("arguments", "signal"),
    [
        (("insn", 0, "unaligned"), (SIGILL, ILL_ILLOPN)),
        (("odd",), (SIGILL, ILL_ILLOPN)),
        (("same",), (SIGILL, ILL_ILLOPN)),
        (("insn", 0, "nowhere"), (SIGSEGV, SEGV_MAPERR)),
        (("insn", 0, "read-only"), (SIGSEGV, SEGV_ACCERR)),
    ],
    ids=["unaligned", "odd register", "same register", "nowhere", "read-only"],
)
def test_wrong_operands_leave_registers(
    sthyi: Sthyi, arguments: tuple[object, ...], signal: tuple[int, int]
) -> None:
    assert sthyi(*arguments) == ([*signal, 1], b"")
