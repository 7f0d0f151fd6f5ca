# SPDX-License-Identifier: MIT
"""Taskstats: what the kernel answers to requests, right ones and wrong ones."""

from __future__ import annotations

import struct

import pytest
from taskstats import (
    CGROUP_GET,
    CGROUP_NEW,
    GET,
    NLM_F_DUMP,
    PID,
    STRUCTS,
    TGID,
    Run,
    acks,
    attribute,
    attributes,
    get,
    listen,
    messages,
    numbers,
    replies,
)
from waiting import fair

from zvmlab.guest.guest import Guest

pytestmark = [
    pytest.mark.not_debug("it has no taskstats", lacks="TASKSTATS"),
    pytest.mark.first_kernel,
]

EPERM, ESRCH, EINVAL, ERANGE, EOPNOTSUPP = 1, 3, 22, 34, 95
START = ("open 0", "family")
DELAYACCT = "/proc/sys/kernel/task_delayacct"
SECONDS = 60
ASK_ALL = tuple(f"ask {kind} {who}" for kind in (PID, TGID) for who in ("pid", "tid", "other"))
"""Each of three tasks of the last child, and its thread group by each of them."""


@pytest.mark.requirement("T1")
def test_family_has_two_operations(taskstats: Run) -> None:
    (line,) = [line for line in taskstats(*START) if line.startswith("family ")]
    found = dict(attributes(bytes.fromhex(line.split()[1])))
    name, version, hdrsize, maxattr, ops = found[2], found[3], found[4], found[5], found[6]
    assert name == b"TASKSTATS\0"
    assert [struct.unpack(">I", one)[0] for one in (version, hdrsize, maxattr)] == [1, 0, 0]
    # Each operation: number, flags.  ADMIN_PERM is 1, DO 2, HASPOL 8.
    flags = {}
    for _, nest in attributes(ops):
        entry = dict(attributes(nest))
        flags[struct.unpack(">I", entry[1])[0]] = struct.unpack(">I", entry[2])[0]
    assert flags == {GET: 0xB, CGROUP_GET: 0xA}


def await_gone(guest: Guest, pid: int) -> None:
    """Until the guest's first process has awaited a process whose parent has exited."""
    limit = fair(SECONDS)
    while (there := guest.agent.open(f"/proc/{pid}")).errno == 0:
        guest.agent.close(there.ret).check()
        assert not limit.over, f"process {pid} is there after {SECONDS} s"


@pytest.mark.requirement("T2")
def test_a_task_is_found_until_it_is_awaited(taskstats: Run, warm_guest: Guest) -> None:
    (zombie,) = numbers(taskstats("zombie 5"), "pid")[0]
    await_gone(warm_guest, zombie)
    lines = taskstats(*START, get(PID, 1), get(PID, 2), get(PID, zombie), get(PID, 0))
    assert acks(lines) == [0, 0, 0, ESRCH, ESRCH]
    first, kthreadd = replies(lines)
    assert (first.kind, first.id, first.pid) == ("task", 1, 1)
    assert (kthreadd.comm, kthreadd.pid, kthreadd.tgid) == ("kthreadd", 2, 2)
    lines = taskstats(*START, get(PID, 0xFFFFFFFF))
    assert acks(lines) == [0, ESRCH]


@pytest.mark.requirement("T2")
def test_a_zombie_still_answers(taskstats: Run) -> None:
    lines = taskstats(*START, "zombie 5", f"ask {PID} pid")
    (zombie,) = numbers(lines, "pid")[0]
    (found,) = replies(lines)
    assert (found.id, found.exitcode) == (zombie, 0x500)


@pytest.mark.requirement("T3", "T4")
def test_sums_over_threads_that_live(taskstats: Run) -> None:
    """Any task names its thread group; the group's times are the sum over its tasks."""
    lines = taskstats(*START, "live 3 0", *ASK_ALL)
    *tids, group = numbers(lines, "tids")[0]
    tasks = {one.id: one for one in replies(lines) if one.kind == "task"}
    groups = [one for one in replies(lines) if one.kind == "process" and one.id in tids]
    assert len(tids) == 3 and group in tids
    assert len(groups) == 3
    for one in groups:
        assert one.cpu_run_virtual == sum(tasks[tid].cpu_run_virtual for tid in tids)
        assert one.nvcsw == sum(tasks[tid].nvcsw for tid in tids)
        assert one.utime == sum(tasks[tid].utime for tid in tids)
        assert one.cpu_run_virtual > 3 * 20_000_000
        # What makes no sense for a group is zero, its name among it.
        assert (one.comm, one.pid, one.read_char, one.hiwater_rss) == ("", 0, 0, 0)


@pytest.mark.requirement("T4")
def test_a_process_lives_without_its_first_task(taskstats: Run) -> None:
    lines = taskstats(*START, "live 3 1", *ASK_ALL)
    *tids, group = numbers(lines, "tids")[0]
    assert len(tids) == 2 and group not in tids
    found = {(one.kind, one.id) for one in replies(lines)}
    assert {("task", group), ("process", group)} <= found
    assert {("process", tid) for tid in tids} <= found


@pytest.mark.requirement("T5", "T13")
def test_layout_of_an_answer(taskstats: Run, zvmlab_kernel: str) -> None:
    version, size = STRUCTS[zvmlab_kernel]
    lines = taskstats(*START, get(PID, 1))
    (text,) = [line.split()[2] for line in lines if line.startswith("reply ")]
    # AGGR_PID { PID, STATS }: the struct is at 16 in the attributes, 36 in the message.
    assert len(text) == 2 * (4 + 8 + 4 + size)
    (stats,) = replies(lines)
    assert stats.version == version and len(stats.data) == size
    assert text[32:].startswith(stats.data.hex())


@pytest.mark.requirement("T20")
@pytest.mark.parametrize(
    ("command", "flags", "payload", "error"),
    [
        (GET, 0, "", EINVAL),
        (GET, 0, attribute(PID, b"\0\1"), ERANGE),
        # The first half of 64 bits is what counts here.
        (GET, 0, attribute(PID, struct.pack(">Q", 1)), ESRCH),
        (GET, 0, attribute(9, 1), EINVAL),
        (2, 0, attribute(PID, 1), EOPNOTSUPP),
        (77, 0, attribute(PID, 1), EOPNOTSUPP),
        (GET, NLM_F_DUMP, attribute(PID, 1), EOPNOTSUPP),
        (GET, 0, attribute(3, b""), ERANGE),
        (CGROUP_GET, 0, "", EINVAL),
    ],
    ids=["nothing", "short", "long", "unknown", "cmd-2", "cmd-77", "dump", "no-mask", "no-fd"],
)
def test_wrong_requests_are_refused(
    taskstats: Run, command: int, flags: int, payload: str, error: int
) -> None:
    lines = taskstats(*START, f"send {command} {flags} {payload}")
    assert acks(lines) == [0, error]
    assert not replies(lines)


@pytest.mark.requirement("T21")
def test_delays_are_accounted_when_switched_on(taskstats: Run, warm_guest: Guest) -> None:
    """Some delays depend on the switch, for tasks that begin afterwards, and others do not."""
    agent = warm_guest.agent
    assert agent.read_file(DELAYACCT) == b"0\n"
    script = (*START, listen("0"), "threads 1 0", "read 0")
    (off,) = messages(taskstats(*script))
    agent.write_file(DELAYACCT, b"1\n")
    try:
        (on,) = messages(taskstats(*script))
    finally:
        agent.write_file(DELAYACCT, b"0\n")
    # The child writes to pages that it shares with its parent, which are copied first.
    assert off.stats[0].wpcopy_count == 0 and on.stats[0].wpcopy_count > 0
    for one in (off, on):
        assert one.stats[0].cpu_count > 0 and one.stats[0].cpu_run_virtual > 20_000_000


@pytest.mark.requirement("T22")
@pytest.mark.parametrize(("reads", "shown"), [(900, 0), (1500, 1024), (2100, 2048)])
def test_io_is_counted_in_steps(taskstats: Run, reads: int, shown: int) -> None:
    (message,) = messages(taskstats(*START, listen("0"), f"reads {reads}", "read 0"))
    assert message.stats[0].read_syscalls == shown
    assert message.stats[0].read_char % 1024 == 0


@pytest.mark.requirement("T23")
@pytest.mark.parametrize(
    ("status", "flag", "exitcode"), [(7, 0x21, 0x700), (0, 0x21, 0), (-9, 0x31, 9)]
)
def test_flags_and_exit_status(taskstats: Run, status: int, flag: int, exitcode: int) -> None:
    (message,) = messages(taskstats(*START, listen("0"), f"exit 1 0 {status}", "read 0"))
    (stats,) = message.stats
    assert (stats.flag, stats.exitcode) == (flag, exitcode)


@pytest.mark.requirement("T24")
def test_cgroup_by_its_descriptor(taskstats: Run, warm_guest: Guest) -> None:
    agent = warm_guest.agent
    agent.mkdir("/tmp/cgroup").check()
    agent.mount("none", "/tmp/cgroup", "cgroup", 0, "none,name=t").check()
    try:
        ask = [f"send {CGROUP_GET} 0 {attribute(1, fd)}" for fd in (3, 4, 999)]
        lines = taskstats("folder /tmp/cgroup", "folder /proc", *START, "user 1000", *ask)
        assert numbers(lines, "fd") == [[3], [4]]
        # No privilege is needed; a descriptor that is none gets no answer, and no error.
        assert acks(lines) == [0, 0, EINVAL, 0]
        (reply,) = [line.split() for line in lines if line.startswith("reply ")]
        assert int(reply[1]) == CGROUP_NEW
        ((kind, data),) = attributes(bytes.fromhex(reply[2]))
        sleeping, running, stopped, uninterruptible, io_wait = struct.unpack(">5Q", data)
        assert kind == 1 and sleeping > 1 and running >= 1
        assert (stopped, io_wait) == (0, 0) and uninterruptible < sleeping
    finally:
        agent.umount("/tmp/cgroup").check()
        agent.rmdir("/tmp/cgroup").check()
