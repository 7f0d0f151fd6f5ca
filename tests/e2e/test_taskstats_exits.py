# SPDX-License-Identifier: MIT
"""Taskstats: messages about exits, masks of CPUs, flow control, privilege."""

from __future__ import annotations

import pytest
from taskstats import (
    CLONE_NEWNET,
    CLONE_NEWPID,
    CLONE_NEWUSER,
    DEREGISTER,
    GET,
    NEW,
    PID,
    REGISTER,
    STRUCTS,
    Run,
    acks,
    all_messages,
    attribute,
    get,
    listen,
    messages,
    sums_up_exits,
    numbers,
    replies,
)

from zvmlab.guest.guest import Guest

pytestmark = [
    pytest.mark.not_debug("it has no taskstats", lacks="TASKSTATS"),
    pytest.mark.first_kernel,
]

EPERM, E2BIG, EINVAL, ERANGE = 1, 7, 22, 34
START = ("open 0", "family")


@pytest.mark.requirement("T6")
@pytest.mark.zvmlab(cpus=2)
def test_exit_is_told_to_who_listens_to_its_cpu(taskstats_in_guest: Run) -> None:
    run = taskstats_in_guest
    for mask, cpu, count in (("0", 0, 3), ("0", 1, 0), ("1", 0, 0), ("1", 1, 3), ("0-1", 1, 3)):
        lines = run(*START, listen(mask), f"exit 3 {cpu} 4", "read 0")
        found = messages(lines)
        assert len(found) == count, f"mask {mask}, CPU {cpu}"
        assert all(message.stats[0].exitcode == 0x400 for message in found)
        if found:
            assert found[-1].stats[0].id == numbers(lines, "pid")[0][0]


@pytest.mark.requirement("T7")
@pytest.mark.parametrize(
    ("mask", "error"),
    [
        *(("0", 0), ("0,,0", 0), (" 0", 0), ("0\n", 0), ("0-0:1/2", 0), ("all", 0), ("", 0)),
        *(("abc", EINVAL), ("1-0", EINVAL), ("-1", EINVAL), ("0x1", EINVAL)),
        *(("0-63", ERANGE), ("1", ERANGE), ("4095", ERANGE)),
    ],
)  # fmt: skip
def test_masks_of_cpus(taskstats: Run, mask: str, error: int) -> None:
    lines = taskstats(*START, listen(mask), "exit 1 0 0", "read 0")
    assert acks(lines) == [0, error]
    assert len(messages(lines)) == (error == 0 and mask != "")


@pytest.mark.requirement("T7")
def test_longest_mask_of_cpus(taskstats: Run) -> None:
    """It is 100 + 6 * NR_CPUS bytes, NUL included; Debian's NR_CPUS is 256."""
    fits = attribute(REGISTER, b"0" + b"\n" * 1634 + b"\0")
    lines = taskstats(*START, f"send {GET} 0 {fits}", listen("0" * 1636))
    assert acks(lines) == [0, 0, E2BIG]


@pytest.mark.requirement("T7")
def test_a_mask_without_its_end_loses_a_character(taskstats: Run, zvmlab_kernel: str) -> None:
    """Up to 6.12: "0" registers nothing, yet is acknowledged."""
    raw = f"send {GET} 0 {attribute(REGISTER, b'0')}"
    lines = taskstats(*START, raw, "exit 1 0 0", "read 0")
    assert acks(lines) == [0, 0]
    assert len(messages(lines)) == (zvmlab_kernel not in ("bookworm", "trixie"))


@pytest.mark.requirement("T8")
def test_listening_ends_when_asked(taskstats: Run) -> None:
    end = listen("0", DEREGISTER)
    lines = taskstats(*START, end, listen("0"), listen("0"), "exit 1 0 0", "read 0")
    assert acks(lines) == [0, 0, 0, 0]
    assert len(messages(lines)) == 1, "registered twice, told once"
    lines = taskstats(*START, listen("0"), end, end, "exit 1 0 0", "read 0")
    assert acks(lines) == [0, 0, 0, 0]
    assert not messages(lines)


@pytest.mark.requirement("T9")
def test_the_kernel_forgets_who_is_gone(taskstats: Run) -> None:
    """A port that is opened again before an exit still gets it; after one, no more."""
    again = ("close", "open 4242", "exit 1 0 0", "read 0")
    lines = taskstats("open 4242", "family", listen("0"), *again)
    assert len(messages(lines)) == 1
    gone = ("close", "exit 1 0 0", "open 4242", "exit 1 0 0", "read 0")
    assert not messages(taskstats("open 4242", "family", listen("0"), *gone))


@pytest.mark.requirement("T10", "T11")
def test_messages_of_a_thread_group(taskstats: Run, zvmlab_kernel: str) -> None:
    size = STRUCTS[zvmlab_kernel][1]
    lines = taskstats(*START, listen("0"), "threads 3 0", "exit 1 0 0", "read 0")
    pid = numbers(lines, "pid")[0][0]
    *threads, single = messages(lines)
    one = 16 + 4 + 4 + 8 + 4 + size
    # Whichever thread is the last one: the kernel numbers a message, and queues it a little later.
    threads.sort(key=lambda message: message.length)
    assert [message.length for message in threads] == [one, one, 2 * one - 20]
    assert [stats.kind for stats in threads[-1].stats] == ["task", "process"]
    assert threads[-1].stats[1].id == pid and threads[-1].stats[0].tgid == pid
    assert single.length == one, "a process that was never threaded has no record of its own"
    last = max(message.number for message in threads)
    numbered = sorted(message.number for message in all_messages(lines))
    assert numbered == list(range(numbered[0], numbered[0] + len(numbered)))
    assert single.number > last
    for message in [*threads, single]:
        assert (message.command, message.flags, message.port) == (NEW, 0, 0)
    # AGROUP marks the last task of a process.
    assert [message.stats[0].flag & 0x20 for message in threads] == [0, 0, 0x20]


@pytest.mark.requirement("T12")
@pytest.mark.parametrize("first", [0, 1], ids=["joins", "leader-first"])
def test_the_process_has_all_of_its_threads(taskstats: Run, warm_guest: Guest, first: int) -> None:
    lines = taskstats(*START, listen("0"), f"threads 3 {first}", "read 0")
    found = messages(lines)
    (process,) = [stats for message in found for stats in message.stats if stats.kind == "process"]
    tasks = [message.stats[0] for message in found]
    # Of the last one the kernel takes the process's share first, and its own a moment later.
    assert (3 - first) * 20_000_000 <= process.cpu_run_virtual
    assert process.cpu_run_virtual <= sum(task.cpu_run_virtual for task in tasks)
    if not sums_up_exits(warm_guest):
        assert (process.etime, process.utime, process.nvcsw) == (0, 0, 0)
    else:
        assert 0 < process.utime <= sum(task.utime for task in tasks)
        assert process.nvcsw <= sum(task.nvcsw for task in tasks)


@pytest.mark.requirement("T15")
def test_receive_buffer_has_a_limit_unless_forced(taskstats: Run, warm_guest: Guest) -> None:
    limit = int(warm_guest.agent.read_file("/proc/sys/net/core/rmem_max"))
    lines = taskstats("open 0", "buffer 8388608", "force 8388608")
    assert numbers(lines, "buffer") == [[2 * limit], [16777216]]


@pytest.mark.requirement("T17")
@pytest.mark.parametrize("silent", [False, True])
def test_an_overrun_is_told_once_whatever_is_lost(taskstats: Run, silent: bool) -> None:
    how = ["silent"] if silent else []
    lines = taskstats(*START, "buffer 1", *how, listen("0"), "exit 20 0 0", "read 0",
                      "exit 1 0 0", "read 0")  # fmt: skip
    assert numbers(lines, "buffer") == [[2304]]
    assert lines.count("overrun") == (0 if silent else 1)
    first, after = messages(lines)
    # The numbers tell: of 21 exits, 19 were lost.
    assert after.number - first.number == 20


@pytest.mark.requirement("T19")
def test_privilege_is_needed_to_ask_and_to_listen(taskstats: Run) -> None:
    ask = (get(PID, 1), listen("0"))
    assert acks(taskstats(*START, "user 1000", *ask)) == [0, EPERM, EPERM]
    assert acks(taskstats(f"unshare {CLONE_NEWUSER}", *START, *ask)) == [0, EPERM, EPERM]


@pytest.mark.requirement("T19")
def test_in_a_pid_namespace_tasks_are_found_but_not_listened_to(taskstats: Run) -> None:
    lines = taskstats(f"unshare {CLONE_NEWPID}", *START, get(PID, 1), listen("0"))
    assert acks(lines) == [0, 0, EINVAL]
    assert replies(lines)[0].id == 1, "numbers are those of the namespace"
    assert replies(lines)[0].comm == "taskstats"


@pytest.mark.requirement("T19")
def test_in_a_network_namespace_no_exit_is_heard(taskstats: Run) -> None:
    lines = taskstats(f"unshare {CLONE_NEWNET}", *START, get(PID, 1), listen("0"), "exit 3 0 0",
                      "read 0")  # fmt: skip
    assert acks(lines) == [0, 0, 0], "registered, it seems"
    assert not messages(lines), "and never told"
