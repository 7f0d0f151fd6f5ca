# SPDX-License-Identifier: MIT
"""CPU use of guests as the kernel's hypfs gets it from CP (DIAGNOSE X'204', X'2FC', X'0C').

The values are held against CP's commands and the guest's own view of itself.
"""

from __future__ import annotations

import errno
import os
import re
import struct
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from random import Random
from typing import Any

import pytest
from failing import Failing
from waiting import fair

from zvmlab.cp.faults import Fault, armed
from zvmlab.cp.peer import Peer
from zvmlab.guest.guest import Guest

HYPFS, FILES = "/sys/hypervisor/s390", "/sys/kernel/debug/s390_hypfs"
MIB = 1 << 20
MICROSECONDS = 1_000_000
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


# What a test describes, and where hypfs has it.
WEB = {
    "online-us": ("onlinetime_us", 50_000_000),
    "cpu-us": ("cpus/cputime_us", 7_000_000),
    "cpus": ("cpus/count", 5),
    "operating": ("cpus/weight_min", 4),
    "share-max": ("cpus/weight_max", 300),
    "share": ("cpus/weight_cur", 200),
    "capped": ("cpus/capped", 2),
    "storage-min": ("mem/min_KiB", 1024),
    "storage-max": ("mem/max_KiB", 4096),
    "storage-share": ("mem/share_KiB", 3072),
    "storage-used": ("mem/used_KiB", 2048),
    "cpu-use": ("samples/cpu_using", 10),
    "cpu-delay": ("samples/cpu_delay", 20),
    "page-wait": ("samples/mem_delay", 30),
    "idle": ("samples/idle", 40),
    "other": ("samples/other", 50),
}
# These go on.
TIMES = ("online-us", "cpu-us")


def describe(guest: Guest, name: str, **changed: Any) -> None:
    arguments: dict[str, Any] = {key: value for key, (_, value) in WEB.items()}
    arguments |= {"name": name, "dedicated": True} | changed
    guest.control.execute("guest-describe", **arguments)


def said_of(guest: Guest, name: str) -> Mapping[str, Any]:
    """CP's current facts on a guest."""
    found = guest.control.execute("query-guests")["guests"]
    (data,) = (data for data in found if data["name"] == name)
    return dict(data)


@pytest.mark.requirement("Y1")
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


@pytest.mark.requirement("Y2")
@ALL_USERS
@pytest.mark.first_kernel
def test_class_b_sees_all_users(guest: Guest) -> None:
    with Peer(guest.control, "TESTER"):
        names = re.findall(r"([A-Z0-9]+) +- DSC", guest.cp("QUERY NAMES").response)
        # The harness has a user ID of its own, which is none of this system's.
        assert sorted(names) == ["LINUX001", "OPERATOR", "TESTER"]
        with hypfs(guest):
            found = guest.agent.run(["/bin/busybox", "ls", f"{HYPFS}/systems"]).check()
            assert sorted(found.stdout.decode().split()) == sorted(names)
            assert number(guest, "systems/TESTER/onlinetime_us") == 0
            assert number(guest, "systems/LINUX001/onlinetime_us") > 0


@pytest.mark.requirement("Y2")
@pytest.mark.zvmlab(
    cp={"class": "BEG", "directory": "IUCV ALLOW;IUCV ANY;ACIGROUP STAFF"}, busybox=True
)
def test_guests_of_every_access_control_group_are_there(guest: Guest) -> None:
    """Those of the guest's own group, of another one, and of none."""
    describe(guest, "WEB", group="STAFF")
    describe(guest, "MAIL", group="OTHER")
    describe(guest, "PRINT")
    with hypfs(guest):
        found = guest.agent.run(["/bin/busybox", "ls", f"{HYPFS}/systems"]).check()
        names = sorted(found.stdout.decode().split())
    assert names == ["LINUX001", "MAIL", "OPERATOR", "PRINT", "WEB"]


@pytest.mark.requirement("Y3")
@ALL_USERS
def test_hypfs_has_what_cp_says_of_each_guest(guest: Guest) -> None:
    """Every attribute, of a guest that a test describes, and of one whose flags are off."""
    describe(guest, "WEB", **{"cpu-percent": 100})
    describe(guest, "MAIL", dedicated=False, capped=1)
    before = said_of(guest, "WEB")
    with hypfs(guest):
        after = said_of(guest, "WEB")
        for key, (name, value) in WEB.items():
            found = number(guest, f"systems/WEB/{name}")
            if key in TIMES:
                assert before[key] <= found <= after[key], name
            else:
                assert found == value, name
        assert number(guest, "systems/WEB/samples/total") == 150
        assert number(guest, "systems/WEB/cpus/dedicated") == 1
        assert number(guest, "systems/MAIL/cpus/dedicated") == 0
        assert number(guest, "systems/MAIL/cpus/capped") == 1
        # Its CPU time stands still, its time does not.
        assert number(guest, "systems/MAIL/cpus/cputime_us") == 7_000_000
        assert number(guest, "systems/MAIL/onlinetime_us") > 50_000_000


# Of each member the values that a description can have: few ones, the least and the most.
SMALL, SAMPLES, ANY = (0, 1, 2, 64), (0, 1, 77, (1 << 28) - 1), (0, 1, 4096, (1 << 62) - 1)
ANY_OF = {
    "cpus": SMALL,
    "operating": SMALL,
    "share-max": (0, 1, 10_000),
    "share": (0, 1, 10_000),
    "capped": (0, 1, 2),
    **dict.fromkeys(("storage-min", "storage-max", "storage-share", "storage-used"), ANY),
    **dict.fromkeys(("cpu-use", "cpu-delay", "page-wait", "idle", "other"), SAMPLES),
    **dict.fromkeys(TIMES, ANY),
}


def any_users(random: Random, count: int) -> dict[str, dict[str, Any]]:
    """So many users, some with each member."""
    users = {}
    for place in range(count):
        user: dict[str, Any] = {
            name: random.choice(values) for name, values in ANY_OF.items() if random.random() < 0.8
        }
        for less, most in (("operating", "cpus"), ("share", "share-max")):
            user[less] = min(user.get(less, 0), user.get(most, 0))
        user["dedicated"] = random.random() < 0.5
        group = random.choice(("", "STAFF", "G1", "LONGGRP8"))
        if group:
            user["group"] = group
        users[f"U{place}X{random.randrange(100)}"] = user
    return users


@pytest.mark.requirement("Y3")
@pytest.mark.parametrize("count", [3, 35, pytest.param(64, id="two-pages")])
@pytest.mark.zvmlab(
    cp={"class": "BEG", "directory": "IUCV ALLOW;IUCV ANY;ACIGROUP STAFF"}, busybox=True
)
def test_any_guests_with_any_values(guest: Guest, count: int) -> None:
    """All are there, whatever a description has and lacks, with what it has; no other ones."""
    random = Random(count)
    users = any_users(random, count)
    for name, user in users.items():
        guest.control.execute("guest-describe", name=name, **user)
    with hypfs(guest):
        found = guest.agent.run(["/bin/busybox", "ls", f"{HYPFS}/systems"]).check()
        assert sorted(found.stdout.decode().split()) == sorted([*users, "LINUX001", "OPERATOR"])
        for name in random.sample(sorted(users), min(len(users), 10)):
            user = users[name]
            read = {key: number(guest, f"systems/{name}/{file}") for key, (file, _) in WEB.items()}
            late = {key: read.pop(key) - user.get(key, 0) for key in TIMES}
            assert read == {key: user.get(key, 0) for key in read}, name
            # Time goes on; a user without "cpu-percent" uses no CPU.
            assert late["cpu-us"] == 0 and 0 <= late["online-us"] < MICROSECONDS * 3600, name
            assert number(guest, f"systems/{name}/cpus/dedicated") == user["dedicated"], name


def update(guest: Guest) -> None:
    """Once in a second hypfs takes new values from CP; until then it is busy."""
    deadline = fair(60)
    while True:
        try:
            guest.agent.write_file(f"{HYPFS}/update", b"1")
            return
        except OSError as error:
            assert error.errno == errno.EBUSY and not deadline.over
            time.sleep(0.1)


@pytest.mark.requirement("Y4")
@ALL_USERS
def test_hypfs_changes_when_it_is_told_to(guest: Guest) -> None:
    describe(guest, "WEB")
    with hypfs(guest):
        guest.control.execute("guest-forget", name="WEB")
        describe(guest, "MAIL", cpus=2, operating=1)
        # What has been read stays until then.
        assert number(guest, "systems/WEB/cpus/count") == 5
        update(guest)
        with pytest.raises(FileNotFoundError):
            number(guest, "systems/WEB/cpus/count")
        assert number(guest, "systems/MAIL/cpus/count") == 2
        assert number(guest, "systems/MAIL/cpus/weight_min") == 1


@pytest.mark.requirement("Y8")
@pytest.mark.zvmlab(cold=True)
@pytest.mark.parametrize(
    "fault",
    [
        Fault("diag204.cpu-use", "pgm", 6),
        Fault("diag2fc.guests", "rc", 1),
        Fault("diag2fc.guests", "pgm", 6),
    ],
    ids=str,
)
def test_without_the_codes_there_is_no_hypfs(paused_guest: Guest, fault: Fault) -> None:
    """The guest boots all the same; only of the first code it says that it is missing."""
    with armed(paused_guest.control, fault):
        paused_guest.boot()
    assert paused_guest.agent.mount("none", HYPFS, "s390_hypfs").errno != 0
    texts = [line.text for line in paused_guest.agent.dmesg()]
    message = "hypfs: The hardware system does not support hypfs"
    assert (message in texts) == (fault.point == "diag204.cpu-use")


@pytest.mark.requirement("Y8")
@pytest.mark.not_debug(
    "the kernel's stack may lie where its addresses are negative sizes, which are errors",
    kernels=("trixie:debug", "sid:debug"),
    defect="hypfs-31",
)
@pytest.mark.kernel_defect(
    31,
    "an address is taken for the size of the answer",
    seen=r"assert 1 == 0",
    kernels=("trixie", "bookworm-backports", "sid"),
)
def test_hypfs_does_without_an_answer(guest: Guest) -> None:
    """CP reports success, and has stored nothing; the next mount has all."""
    since = guest.agent.log_position()
    with armed(guest.control, Fault("diag2fc.guests", "drop", nth=1)) as rules:
        error = guest.agent.mount("none", HYPFS, "s390_hypfs").errno
    traces = [line for line in guest.agent.dmesg(since) if line.text == "Call Trace:"]
    if not error:
        guest.agent.umount(HYPFS).check()
    with hypfs(guest):
        if rules[0].fired != 1 or number(guest, "systems/LINUX001/cpus/count") != 1:
            raise RuntimeError("the fault was to hit the first mount only")
    assert len(traces) == 0


@pytest.mark.requirement("Y5")
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


@pytest.mark.requirement("Y6")
@TWO_CPUS
@pytest.mark.first_kernel
def test_debugfs_has_each_cpus_time(guest: Guest) -> None:
    """diag_0c: a head with the number of CPUs at 32, then 40 bytes of each."""
    first, before = now(guest), connected(guest)
    data = guest.agent.read_file(f"{FILES}/diag_0c")
    last, after = now(guest), connected(guest)
    length, version, count = struct.unpack_from(">QH6x16xQ", data)
    assert (length, version, count, len(data)) == (80, 0, 2, 64 + 80)
    for cpu in range(2):
        date, clock, own, total, address = struct.unpack_from(">8s8sQQI", data, 64 + 40 * cpu)
        stamp = f"{date.decode('cp037')} {clock.decode('cp037')}"
        clocks = datetime.strptime(stamp, "%m/%d/%y %H:%M:%S")
        assert first <= clocks <= last
        # Both are the time that the guest has been there, all of which a CPU has used.
        assert before * MICROSECONDS <= total < (after + 1) * MICROSECONDS
        assert (own, address) == (total, cpu)


@pytest.mark.requirement("Y4")
def test_guest_that_comes_between_two_questions_is_there(guest: Guest) -> None:
    """The kernel asks for the size and then for the data; if they grow meanwhile, it asks again."""
    with armed(guest.control, Fault("diag2fc.guests", "rc", 1, nth=2)) as rules:
        with hypfs(guest):
            assert number(guest, "systems/LINUX001/cpus/count") == 1
    assert rules[0].fired == 1


@pytest.mark.requirement("Y9")
def test_update_without_memory_is_enomem(guest: Guest) -> None:
    """The next one has everything again."""
    failing = Failing(guest)
    with hypfs(guest):
        worker = guest.agent.worker("updater")
        fd = worker.open(f"{HYPFS}/update", os.O_WRONLY).check()
        errors = failing.each(worker, lambda batch: batch.write(fd, b"1"), again={errno.EBUSY})
        worker.close(fd).check()
        assert {0, errno.ENOMEM} <= set(errors) <= {0, errno.ENOMEM, errno.EFAULT}
        update(guest)
        assert number(guest, "systems/LINUX001/cpus/count") == 1
        assert number(guest, "cpus/count") == 1


@pytest.mark.requirement("Y9")
@pytest.mark.parametrize("name", ["diag_2fc", "diag_0c"])
def test_file_in_debugfs_without_memory_is_enomem(guest: Guest, name: str) -> None:
    """Then it has CP's bytes."""
    worker = guest.agent.worker("reader")
    path = f"{FILES}/{name}"
    length = len(guest.agent.read_file(path))
    fd = worker.open(path).check()
    errors = Failing(guest).each(worker, lambda batch: batch.pread(fd, 4096, 0))
    worker.close(fd).check()
    assert {0, errno.ENOMEM} <= set(errors) <= {0, errno.ENOMEM, errno.EFAULT}
    assert len(guest.agent.read_file(path)) == length
