# SPDX-License-Identifier: MIT
"""Compare tools/taskmon with the kernel's messages, which another program reads, too."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from taskmon_tool import (
    EXIT_CANNOT_RUN,
    START,
    Row,
    Script,
    install,
    rows,
    scripts,
    total,
)
from taskstats import (
    CGROUP_GET,
    LAYOUT,
    PID,
    TGID,
    Message,
    Stats,
    attribute,
    attributes,
    listen,
    messages,
    numbers,
    replies,
    sums_up_exits,
)

from zvmlab.builder.guesttools import tool
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest

pytestmark = [
    pytest.mark.not_debug("it has no taskstats", lacks="TASKSTATS"),
    pytest.mark.first_kernel,
]

DELAYACCT = "/proc/sys/kernel/task_delayacct"
ALL = "-f json -F all"
NO_SUMS = {
    *("version", "exitcode", "flag", "nice", "comm", "sched", "uid", "gid", "pid", "ppid"),
    *("btime", "btime64", "etime_us", "tgid", "tgetime_us", "exe_dev", "exe_inode"),
}
"""What several tasks have nothing of together; times are apart."""
OWN = {
    *("minflt", "majflt", "coremem_mib_us", "virtmem_mib_us", "hiwater_rss_kib"),
    *("hiwater_vm_kib", "read_char_bytes", "write_char_bytes", "read_syscalls"),
    *("write_syscalls", "read_bytes", "write_bytes", "cancelled_write_bytes"),
    *("utimescaled_us", "stimescaled_us"),
}
"""What the kernel sums up for no process."""
NOT_AT_EXIT = {"utime_us", "stime_us", "nvcsw", "nivcsw"}
"""What 6.1 does not sum up of a process that exits; the times that tasks were there tell."""
OF_LIVING = (
    "name",
    "interval",
    "interval_ns",
    "cpu_percent",
    "read_bytes_per_s",
    "write_bytes_per_s",
)
"""What only sums over tasks that live, and intervals, have."""
LOAD = (
    *("nice -5", "threads 3 0", "threads 3 1", "reads 2100", "exit 2 0 7", "exit 1 0 -9"),
    *("orphan", "user 1000", "exit 1 0 0"),
)
"""Of every kind something: threads, a first one that goes first, I/O, ends, an orphan."""


@pytest.fixture
def guest_config(request: pytest.FixtureRequest, zvmlab_kernel: str) -> GuestConfig:
    """Guests of this file's tests alone have taskmon, and 2 CPUs."""
    return GuestConfig(kernel=zvmlab_kernel)._replace(cpus=2, files=tool("taskmon"))


@pytest.fixture
def script(warm_guest: Guest, program: Callable[[str], Path]) -> Script:
    """script(LINE…, FILE=LINES) in the warm guest, where taskmon is, and FILEs are in /tmp."""
    install(warm_guest)
    return scripts(warm_guest, program)


@pytest.fixture
def script_in_guest(guest: Guest, program: Callable[[str], Path]) -> Script:
    """The same in a guest of this test alone."""
    return scripts(guest, program)


@pytest.fixture
def delays(warm_guest: Guest) -> Iterator[None]:
    """Delays are accounted."""
    warm_guest.agent.write_file(DELAYACCT, b"1\n")
    yield
    warm_guest.agent.write_file(DELAYACCT, b"0\n")


def _lines(output: bytes) -> list[str]:
    return output.decode().splitlines()


def _said(guest: Guest) -> str:
    """The standard error of the last program that a script has started."""
    return guest.agent.read_file("/tmp/stderr").decode()


def _expected(stats: Stats, elapsed: int) -> Row:
    """The columns of a record; *elapsed*: since its process began."""
    found: Row = {name: stats.values().get(name) for name in LAYOUT if name != "pad"}
    found |= {"kind": stats.kind, "id": stats.id, "size_bytes": len(stats.data), "tasks": None}
    found |= dict.fromkeys(("tasks_etime_us", *OF_LIVING))
    if stats.kind == "task":
        return found
    absent = NO_SUMS | OWN | (NOT_AT_EXIT if not stats.etime else set())
    found |= {name: None for name in absent - {"version"} if not found[name]}
    found["tasks_etime_us"] = stats.etime or None
    return found | {"etime_us": elapsed, "tgetime_us": elapsed}


def _of_messages(heard: list[Message], cpu: int) -> dict[tuple[str, int], Row]:
    """The rows of messages about exits on one CPU."""
    found = {}
    for message in heard:
        task = message.stats[0]
        for stats in message.stats:
            row = _expected(stats, task.tgetime)
            row |= {"cpu": cpu, "number": message.number, "status": None, "signal": None}
            if stats.kind == "task" and task.exitcode & 0x7F:
                row["signal"] = task.exitcode & 0x7F
            elif stats.kind == "task":
                row["status"] = task.exitcode >> 8
            found[stats.kind, stats.id] = row
    return found


@pytest.mark.requirement("T2", "T10", "T13")
def test_every_field_of_every_exit(script: Script, delays: None, warm_guest: Guest) -> None:
    run = f"run /bin/taskmon listen {ALL} -- /tmp/taskstats /tmp/load"
    output = script(*START, listen("0"), run, "read 0", load=LOAD)
    heard = _of_messages(messages(_lines(output)), 0)
    shown = rows(output)
    for row in shown:
        assert row.pop("time_ns") > (row["btime"] or 0) * 10**9
        assert row == heard[row["kind"], row["id"]]
    # What was run is there: 3 * 2 threads and so on, and two processes of threads.
    mine = [row for row in shown if row["comm"] == "taskstats" or row["kind"] == "process"]
    assert len(mine) == 3 + 3 + 1 + 2 + 1 + 2 + 1 + 1 + 2
    # And tells the columns apart.
    tasks = [row for row in mine if row["kind"] == "task"]
    for name in ("utime_us", "stime_us", "wpcopy_count", "nice", "uid", "signal", "status"):
        assert any(row[name] for row in tasks), name
    assert {row["nice"] for row in tasks} == {-5}
    assert any(row["utime_us"] != row["stime_us"] for row in tasks)
    # Threads that work 20 ms of CPU time each, on one CPU; the second process' first one does not.
    processes = [row for row in mine if row["kind"] == "process"]
    for row, working in zip(processes, (3, 2), strict=True):
        assert row["etime_us"] >= working * 20_000
        assert row["cpu_run_virtual_ns"] >= working * 20_000_000
        assert (row["utime_us"] is not None) == sums_up_exits(warm_guest)


@pytest.mark.requirement("T6")
@pytest.mark.zvmlab(cpus=2)
def test_exits_of_the_cpus_that_were_named(script_in_guest: Script, guest: Guest) -> None:
    # Otherwise taskmon shows waits that nobody counted as unknown.
    guest.agent.write_file(DELAYACCT, b"1\n")
    load = ("exit 3 0 4", "exit 2 1 5")
    for cpu, status, count in ((0, 4, 3), (1, 5, 2)):
        output = script_in_guest(
            *START,
            listen(str(cpu)),
            f"run /bin/taskmon listen {ALL} --cpus {cpu} -- /tmp/taskstats /tmp/load",
            "read 0",
            load=load,
        )
        heard = _of_messages(messages(_lines(output)), cpu)
        shown = rows(output)
        assert [row["status"] for row in shown if row["status"] in (4, 5)] == [status] * count
        for row in shown:
            row.pop("time_ns")
            assert row == heard[row["kind"], row["id"]]


@pytest.mark.requirement("T16")
@pytest.mark.zvmlab(cpus=2)
def test_readers_run_where_they_listen(script_in_guest: Script) -> None:
    for how, workers in (("--per-cpu", ["0", "1"]), ("", ["0-1"])):
        count = 1 + len(workers)
        # It sleeps when its readers are where they belong: then it waits for a child of its own.
        ready = (f"tasks {count}", "asleep", f"tasks {count}")
        output = script_in_guest(f"start /bin/taskmon listen {how}", *ready, "signal 15", "reap")
        found = [line.split()[2] for line in _lines(output) if line.startswith("task ")]
        assert sorted(found[count:]) == sorted(["0-1", *workers]), how


_WAIT = re.compile(r"(?!cpu_)\w+_(count|delay_\w+)")
"""A field of a wait that the kernel counts only while delays are accounted."""

# The kernel takes when a task began from the time of day at its last tick: while the host gives the
# guest no processor, that is late.
LAG_SECONDS = 60


def _between(before: Row, row: Row, after: Row) -> None:
    """Times go on between three looks at a task that sleeps; everything else stays."""
    for name in ("etime_us", "tgetime_us", "tasks_etime_us"):
        if row[name] is not None:
            assert before[name] <= row[name] <= after[name], name
    for name in ("btime", "btime64"):
        assert row[name] is None or abs(row[name] - before[name]) <= LAG_SECONDS, name
    moving = {"etime_us", "tgetime_us", "tasks_etime_us", "btime", "btime64"}
    for name in before.keys() - moving:
        assert before[name] == row[name] == after[name], name


@pytest.mark.requirement("T2", "T3", "T4")
@pytest.mark.parametrize("first", [0, 1], ids=["all-live", "first-has-exited"])
def test_every_field_of_those_that_live(script: Script, delays: None, first: int) -> None:
    """By the first task and by another; whichever task of a group is named."""
    ask = (f"ask {PID} pid", f"ask {PID} tid", f"ask {TGID} pid", f"ask {TGID} tid")
    get = f"run /bin/taskmon get {ALL} --pid PID --pid TID --tgid PID --tgid TID"
    # A process that is older than its other tasks: by more than the looks are apart.
    output = script(*START, f"live 3 {first} 2000", *ask, get, *ask, f"ask {PID} pid", "end 0")
    lines = _lines(output)
    answers = replies(lines)
    leader = [answers[0], answers[8]]
    shown = rows(output)
    assert [row["kind"] for row in shown] == ["task", "task", "process", "process"]
    for at, row in enumerate(shown[:2]):
        looks = []
        for stats, since in ((answers[at], leader[0]), (answers[at + 4], leader[1])):
            look = _expected(stats, since.tgetime)
            look |= dict.fromkeys(("cpu", "number", "time_ns", "status", "signal"))
            # Began before taskmon has looked: whether it never waited, or nobody counted, is unknown.
            waits = [name for name in look if _WAIT.fullmatch(name)]
            if not any(look[name] for name in waits):
                look |= dict.fromkeys(waits)
            looks.append(look)
        if first and row["id"] == row["pid"] == row["tgid"]:
            looks = [look | {"status": 0} for look in looks]
        _between(looks[0], row, looks[1])
    # Whichever task a process is named by: waits are the kernel's sums, the clock of the process has
    # what the first task used on its way out, too.
    for at in (2, 3):
        row = shown[at]
        assert (row["id"], row["tasks"]) == (shown[0]["tgid"], 3)
        waits = [name for name in LAYOUT if re.search("_count$|_delay_(ns|m.*)$", name)]
        known = answers[at].values()
        for name in waits:
            uncounted = name.startswith("irq_") or name not in known
            assert row[name] == (None if uncounted else known[name]), name
        assert answers[at].cpu_run_virtual <= row["cpu_run_virtual_ns"]
        assert first or answers[at].cpu_run_virtual == row["cpu_run_virtual_ns"]
        assert shown[1]["hiwater_rss_kib"] == row["hiwater_rss_kib"]
        assert leader[0].tgetime <= row["etime_us"] <= leader[1].tgetime
        assert row["etime_us"] == row["tgetime_us"]
    assert shown[2]["cpu_run_virtual_ns"] > shown[1]["cpu_run_virtual_ns"] > 20_000_000
    # A process is there as long as its first task, however many it has; two of them at least live,
    # and were asked for first.
    assert shown[2]["tasks_etime_us"] != shown[2]["etime_us"]
    live = shown[1:2] if first else shown[:2]
    assert shown[2]["tasks_etime_us"] > sum(row["etime_us"] for row in live)


@pytest.mark.requirement("T2")
def test_status_is_of_those_that_have_exited(script: Script) -> None:
    for status in (0, 5):
        get = "run /bin/taskmon get -f json -F all --pid PID --pid 1 --tgid PID"
        zombie, first, process = rows(script(*START, f"zombie {status}", get))
        assert (zombie["status"], zombie["signal"]) == (status, None)
        assert (first["status"], first["signal"], first["exitcode"]) == (None, None, 0)
        # Of a process that has exited the kernel has no sums: it has what its only task has.
        assert (process["status"], process["tasks"]) == (None, 1)
        for name in ("cpu_run_virtual_ns", "utime_us", "stime_us", "nvcsw", "cpu_count", "minflt"):
            assert process[name] == zombie[name], name


def _tree(heard: list[Message], program: int) -> tuple[list[Stats], Stats]:
    """The tasks of a program and of all that it has started; the last one of its process."""
    tasks = [message.stats[0] for message in heard]
    parents = {one.tgid: one.ppid for one in tasks if one.flag & 0x20}
    runner = parents[program]

    def is_below(tgid: int) -> bool:
        while tgid in parents and tgid not in (runner, program):
            tgid = parents[tgid]
        # Whose parent has exited is the runner's.
        return tgid in (runner, program)

    found = [one for one in tasks if one.tgid != runner and is_below(one.tgid)]
    (last,) = [one for one in found if one.tgid == program and one.flag & 0x20]
    return found, last


def _sum(name: str, values: list[int]) -> int | None:
    if name in NO_SUMS or name.endswith("_max_at_ns"):
        return None
    if name.endswith("_max_ns") or name.startswith("hiwater"):
        return max(values)
    if name.endswith("_min_ns"):
        return min(filter(None, values), default=0)
    return sum(values)


@pytest.mark.requirement("T12", "T18")
def test_a_program_and_all_that_it_has_started(
    script: Script, warm_guest: Guest, delays: None
) -> None:
    """Processes below processes, threads, orphans: each sum is that of the messages."""
    tree = ("thread", "run /tmp/taskstats /tmp/load", "reads 1500", "orphan", "exit 1 0 3")
    run = f"run /bin/taskmon run -o /tmp/rows {ALL} -- /tmp/taskstats /tmp/tree"
    output = script(*START, listen("0"), run, "read 0", tree=tree, load=LOAD)
    heard = messages(_lines(output))
    task, process, whole = rows(warm_guest.agent.read_file("/tmp/rows"))
    assert [row["kind"] for row in (task, process, whole)] == ["task", "process", "tree"]
    tasks, last = _tree(heard, task["id"])
    assert len(tasks) == 2 + 1 + 13 + 1 + 2 + 1
    assert (whole["id"], whole["comm"], whole["tasks"]) == (task["id"], "taskstats", len(tasks))
    assert (whole["status"], whole["signal"]) == (0, None)
    for name in LAYOUT.keys() & last.values().keys():
        if name.endswith("_max_at_ns"):
            longest = name.replace("_at_ns", "_ns")
            most = max(int(one.values()[longest]) for one in tasks)
            ends = [one.values()[name] for one in tasks if one.values()[longest] == most]
            assert whole[name] in ends, name
        elif name not in ("comm", "exitcode", "etime_us", "tgetime_us"):
            assert whole[name] == _sum(name, [int(one.values()[name]) for one in tasks]), name
    assert whole["etime_us"] == whole["tgetime_us"] == last.tgetime
    # It is more than its own process by the work of others: five threads of the load, two orphans.
    assert whole["cpu_run_virtual_ns"] >= process["cpu_run_virtual_ns"] + 7 * 20_000_000
    # The other rows are the kernel's.
    found = _of_messages(heard, 0)
    for row in (task, process):
        expected = found[row["kind"], row["id"]]
        assert row == expected | dict.fromkeys(("cpu", "number", "time_ns"))


@pytest.mark.requirement("T18")
def test_what_a_program_leaves_behind_is_told(script: Script, warm_guest: Guest) -> None:
    names = "kind,status,tasks,cpu_run_virtual_ns"
    run = f"run /bin/taskmon run -o /tmp/rows -f json -F {names} -- /tmp/taskstats /tmp/load"
    script(run, load=("exit 1 0 0", "stay"))
    task, whole = rows(warm_guest.agent.read_file("/tmp/rows"))
    assert (task["kind"], task["tasks"], whole["kind"], whole["tasks"]) == ("task", None, "tree", 2)
    assert "tasks that the program has started still run" in _said(warm_guest)
    script(run, load=("exit 1 0 0",))
    assert "still runs" not in _said(warm_guest)


@pytest.mark.requirement("T17", "T18")
@pytest.mark.full
def test_messages_that_were_lost_are_told(
    script: Script, warm_guest: Guest, program: Callable[[str], Path]
) -> None:
    """More exits than its buffer has room for while taskmon is stopped."""
    warm_guest.agent.write_file("/tmp/exits", program("exits").read_bytes(), 0o755)
    load = ("parent 19", "run /tmp/exits 12000 1", "parent 18")
    run = "run /bin/taskmon run -o /tmp/rows -f json -F kind,tasks -- /tmp/taskstats /tmp/load"
    script(run, load=load)
    *_, whole = rows(warm_guest.agent.read_file("/tmp/rows"))
    told = r"(\d+) messages about exits were lost: .* their statistics, and (\d+) tasks that may"
    said = re.search(told, _said(warm_guest))
    assert said and whole["kind"] == "tree"
    lost, unknown = map(int, said.groups())
    # The program, what it has run, a worker of that and its children; and what the kernel ran.
    assert 12003 <= whole["tasks"] + lost + unknown <= 12100
    assert whole["tasks"] >= 1 and lost > 1000 and unknown > 1000


@pytest.mark.requirement("T18", "T19")
def test_a_program_whose_exits_are_not_heard(script: Script, warm_guest: Guest) -> None:
    """In namespaces the program's own figures are asked for, and the tree is not made up."""
    for flags, sentence in ((0x20000000, "initial PID namespace"), (0x40000000, "network names")):
        run = "run /bin/taskmon run -o /tmp/rows -f json -F all -- /tmp/taskstats /tmp/load"
        script(f"unshare {flags}", run, load=("thread", "exit 1 0 0"))
        task, process = rows(warm_guest.agent.read_file("/tmp/rows"))
        assert (task["kind"], process["kind"], task["status"]) == ("task", "process", 0)
        assert task["comm"] == "taskstats" and process["cpu_run_virtual_ns"] > 20_000_000
        said = _said(warm_guest)
        assert "the tree of the program is not known" in said and sentence in said


@pytest.mark.requirement("T3")
def test_a_thread_on_its_way_out_is_counted_once(script: Script, warm_guest: Guest) -> None:
    """The kernel counts it twice as long as that lasts; taskmon waits, and says so in the end."""
    group, *each = (f"ask {TGID} pid", *(f"ask {PID} {one}" for one in ("pid", "tid", "other")))
    get = "/bin/taskmon get -f json -F all --tgid PID"
    held = (*START, "exiting")
    output = script(*held, *each, group, f"start {get}", "asleep", "let", "reap", group, "end 0")
    (row,) = rows(output)
    first, _, writer, twice, once = [one.cpu_run_virtual for one in replies(_lines(output))]
    # Nobody does anything meanwhile: what is more than the sum of all was counted twice.
    more = twice - sum(one.cpu_run_virtual for one in replies(_lines(output))[:3])
    assert more >= 200_000_000
    assert first + more + writer <= row["cpu_run_virtual_ns"] < twice
    assert row["cpu_run_virtual_ns"] >= once
    assert row["cpu_count"] > 0
    assert "twice" not in _said(warm_guest)
    # It does not end.
    output = script(*held, f"run {get}", group, "let", "end 0")
    (row,) = rows(output)
    (stats,) = replies(_lines(output))
    assert row["cpu_run_virtual_ns"] <= stats.cpu_run_virtual - 200_000_000
    assert (row["cpu_count"], row["cpu_delay_ns"], row["nvcsw"]) == (None, None, None)
    assert "has been exiting for 5 s: until it has gone it is not known" in _said(warm_guest)


@pytest.mark.requirement("T8")
@pytest.mark.parametrize(
    ("ignores", "signals", "status"),
    [(0, (15,), 15), (0, (2,), 2), (1, (2, 15), 143 << 8)],
    ids=["TERM", "INT", "ignored"],
)
def test_signals_while_the_program_goes_on(
    script: Script, warm_guest: Guest, ignores: int, signals: tuple[int, ...], status: int
) -> None:
    """A signal goes on to the program; a second one ends taskmon without it."""
    sent = [f"signal {number}" for number in signals]
    expected = 128 + status << 8 if status < 128 else status
    load = (f"wait {ignores}",)
    listening = "start /bin/taskmon listen -f json {} -- /tmp/taskstats /tmp/load"
    # The time is over, and the program is not; or nothing ends but by the signal.
    for how, last in (("--duration 10ms", "waiting for"), ("", "ready")):
        ready = ("await ready", f"await {last}")
        output = script(listening.format(how), *ready, *sent, "reap", load=load)
        assert numbers(_lines(output), "status") == [[expected]]
        said = _said(warm_guest)
        assert total(said.encode())["lost"] == 0
        assert ("taskmon ends because of a second signal" in said) == bool(ignores)
    running = "start /bin/taskmon run -f json -- /tmp/taskstats /tmp/load"
    output = script(running, "await ready", *sent, "reap", load=load)
    assert numbers(_lines(output), "status") == [[expected]]
    if not ignores:
        ended = rows(_said(warm_guest).encode())[0]
        assert (ended["kind"], ended["status"], ended["signal"]) == ("task", None, status)


@pytest.mark.requirement("T19")
def test_without_privilege_every_command_says_so(script: Script, warm_guest: Guest) -> None:
    for command in ("get --pid 1", "get --tgid 1", "run -- /bin/nonsense", "listen", "status"):
        output = script("user 1000", f"run /bin/taskmon {command}")
        assert numbers(_lines(output), "status") == [[EXIT_CANNOT_RUN << 8]], command
        assert "CAP_NET_ADMIN in the initial user namespace" in _said(warm_guest), command


@pytest.mark.requirement("T24")
def test_states_of_a_cgroup(script: Script, warm_guest: Guest) -> None:
    """Three sleep, one is stopped."""
    agent = warm_guest.agent
    agent.mkdir("/tmp/cgroup").check()
    agent.mount("none", "/tmp/cgroup", "cgroup", 0, "none,name=t").check()
    try:
        agent.mkdir("/tmp/cgroup/few").check()
        put = "put /tmp/cgroup/few/cgroup.procs"
        ask = f"send {CGROUP_GET} 0 {attribute(1, 3)}"
        run = "run /bin/taskmon cgroup -f json /tmp/cgroup/few"
        output = script(
            *("folder /tmp/cgroup/few", *START, "live 3 0", f"{put} PID"),
            *("start /tmp/taskstats /tmp/load", "await ready", f"{put} STARTED", "signal 19"),
            # Both have the folder open, and are in it: they end before it goes.
            *("stopped", ask, run, ask, "end 0", "signal 9", "reap"),
            load=("wait 0",),
        )
        (row,) = rows(output)
        before, after = (
            bytes.fromhex(line.split()[2])
            for line in _lines(output)
            if line.startswith(f"reply {CGROUP_GET + 1} ")
        )
        assert before == after
        ((_, data),) = attributes(before)
        assert list(row.values()) == [
            int.from_bytes(data[at : at + 8], "big") for at in range(0, 40, 8)
        ]
        assert (row["sleeping"], row["stopped"]) == (3, 1)
    finally:
        agent.rmdir("/tmp/cgroup/few")
        agent.umount("/tmp/cgroup").check()
        agent.rmdir("/tmp/cgroup").check()
