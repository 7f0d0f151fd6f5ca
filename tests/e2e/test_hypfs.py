# SPDX-License-Identifier: MIT
"""What guests use, as the kernel's hypfs has it of CP (DIAGNOSE X'204', X'2FC', X'0C').

The values are held against CP's commands and the guest's own view of itself.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

import pytest

from zvmlab.cp.peer import Peer
from zvmlab.guest.guest import Guest

HYPFS, FILES = "/sys/hypervisor/s390", "/sys/kernel/debug/s390_hypfs"
MIB = 1 << 20
MICROSECONDS = 1_000_000
pytestmark = pytest.mark.not_debug("it has no hypfs")
TWO_CPUS = pytest.mark.zvmlab(cpus=2)
ALL_USERS = pytest.mark.zvmlab(cp={"class": "BEG"}, busybox=True)


@contextmanager
def hypfs(guest: Guest) -> Iterator[None]:
    guest.agent.mount("none", HYPFS, "s390_hypfs").check()
    try:
        yield
    finally:
        guest.agent.umount(HYPFS).check()


def number(guest: Guest, name: str) -> int:
    return int(guest.agent.read_file(f"{HYPFS}/{name}"))


def connected(guest: Guest) -> int:
    """Seconds since the guest has logged on, of QUERY TIME."""
    found = re.search(r"^CONNECT= (\d+):(\d\d):(\d\d)", guest.cp("QUERY TIME").response, re.M)
    assert found is not None
    hours, minutes, seconds = map(int, found.groups())
    return hours * 3600 + minutes * 60 + seconds


def now(guest: Guest) -> datetime:
    """CP's clock, of QUERY TIME."""
    found = re.match(
        r"TIME IS (\d\d:\d\d:\d\d) UTC \w+ (\d\d/\d\d/\d\d)", guest.cp("QUERY TIME").response
    )
    assert found is not None
    return datetime.strptime(f"{found[2]} {found[1]}", "%m/%d/%y %H:%M:%S")


def cpus_of(guest: Guest) -> int:
    found = re.search(r"^VM00 CPUs Total: +(\d+)$", sysinfo(guest), re.M)
    assert found is not None
    return int(found[1])


def sysinfo(guest: Guest) -> str:
    return guest.agent.read_file("/proc/sysinfo").decode()


def storage_of(guest: Guest) -> int:
    found = re.match(r"STORAGE = (\d+)M\n", guest.cp("QUERY VIRTUAL STORAGE").response)
    assert found is not None
    return int(found[1]) * MIB


@pytest.mark.representative
@TWO_CPUS
def test_hypfs_tells_what_the_guest_uses(guest: Guest) -> None:
    cpus = cpus_of(guest)
    assert cpus == 2
    before = connected(guest)
    with hypfs(guest):
        after = connected(guest)
        online, used = (
            number(guest, f"systems/LINUX001/{name}")
            for name in ("onlinetime_us", "cpus/cputime_us")
        )
        assert before * MICROSECONDS <= online < (after + 1) * MICROSECONDS
        assert used == online * cpus
        assert number(guest, "cpus/count") == cpus
        assert number(guest, "systems/LINUX001/cpus/count") == cpus
        assert number(guest, "systems/LINUX001/mem/max_KiB") == storage_of(guest) // 1024
        assert number(guest, "systems/LINUX001/mem/used_KiB") == storage_of(guest) // 1024
        assert guest.agent.read_file(f"{HYPFS}/hyp/type") == b"z/VM Hypervisor\n"


@ALL_USERS
@pytest.mark.first_kernel
def test_class_b_sees_all_users(guest: Guest) -> None:
    with Peer(guest.control, "TESTER"):
        names = re.findall(r"([A-Z0-9]+) +- DSC", guest.cp("QUERY NAMES").response)
        assert {"LINUX001", "TESTER", "OPERATOR"} <= set(names)
        with hypfs(guest):
            found = guest.agent.run(["/bin/busybox", "ls", f"{HYPFS}/systems"]).check()
            assert sorted(found.stdout.decode().split()) == sorted(names)
            assert number(guest, "systems/TESTER/onlinetime_us") == 0
            assert number(guest, "systems/LINUX001/onlinetime_us") > 0


def test_debugfs_has_cps_own_bytes(warm_guest: Guest) -> None:
    """diag_2fc: 64 bytes of the kernel's, then CP's; both its counts are one guest of 112 bytes."""
    data = warm_guest.agent.read_file(f"{FILES}/diag_2fc")
    length, version, count = struct.unpack_from(">QH16xQ", data)
    assert (length, version, count, len(data)) == (112, 0, 1, 64 + 112)
    cpus = cpus_of(warm_guest)
    kib = storage_of(warm_guest) // 1024
    fields = struct.unpack_from(">2I6Q12I8s", data, 64)
    assert fields[0] == 2
    assert fields[4:8] == (0, kib, kib, kib)
    assert fields[8:12] == (cpus,) * 4
    assert fields[-1].decode("cp037") == "LINUX001"


@TWO_CPUS
@pytest.mark.first_kernel
def test_debugfs_has_each_cpus_time(guest: Guest) -> None:
    """diag_0c: a head with the number of CPUs at 32, then 40 bytes of each."""
    first = now(guest)
    data = guest.agent.read_file(f"{FILES}/diag_0c")
    last = now(guest)
    length, version, count = struct.unpack_from(">QH6x16xQ", data)
    assert (length, version, count, len(data)) == (80, 0, 2, 64 + 80)
    for cpu in range(2):
        date, clock, own, total, address = struct.unpack_from(">8s8sQQI", data, 64 + 40 * cpu)
        told = f"{date.decode('cp037')} {clock.decode('cp037')}"
        time = datetime.strptime(told, "%m/%d/%y %H:%M:%S")
        assert first <= time <= last
        # Both are the clock's microseconds, which begin with 1900.
        since = timedelta(microseconds=total) - (time - datetime(1900, 1, 1))
        assert timedelta(0) <= since < timedelta(seconds=1)
        assert (own, address) == (total, cpu)
