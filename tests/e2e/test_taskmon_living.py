# SPDX-License-Identifier: MIT
"""taskmon get of all tasks, in intervals and added up, and taskmon top; against /proc and netlink."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from taskmon_tool import EXIT_FAILED, EXIT_USAGE, START, Row, Taskmon, install, rows, scripts
from taskstats import PID, numbers, replies
from waiting import fair, wait_until

from zvmlab.agent.worker import Process
from zvmlab.guest.guest import Guest

pytestmark = [
    pytest.mark.not_debug("it has no taskstats", lacks="TASKSTATS"),
    pytest.mark.first_kernel,
]

JSON = ("-f", "json", "-F", "all")
CGROUP = "/tmp/unified"
SECONDS = 120
SUMS = ("cpu_run_virtual_ns", "utime_us", "minflt", "nvcsw", "cpu_count")


@pytest.fixture
def taskmon(warm_guest: Guest) -> Taskmon:
    """taskmon(ARGUMENT…) in the warm guest."""
    return install(warm_guest)


class Worker:
    """A process that makes tasks, one after the other, without end; its parent waits for it."""

    def __init__(self, guest: Guest, taskmon: Taskmon, process: Process) -> None:
        self.guest = guest
        self.process = process
        self.ended = False
        limit = fair(SECONDS)
        workers: list[int] = []
        while not workers:
            assert not limit.over, f"no worker has begun within {SECONDS} s"
            found = rows(taskmon("get", "--name", "exits", *JSON).check().stdout)
            every = {row["id"] for row in found}
            parents = {row["id"] for row in found if row["ppid"] not in every}
            workers = [row["id"] for row in found if row["ppid"] in parents]
        (self.parent,) = parents
        (self.pid,) = workers

    def end(self) -> None:
        """Kill all of them, once."""
        if not self.ended:
            self.ended = True
            self.process.signal(signal.SIGKILL, group=True)
            self.process.wait()

    def cpu_ns(self) -> int:
        """The CPU time that the scheduler counts."""
        return int(self.guest.agent.read_file(f"/proc/{self.pid}/schedstat").split()[0])


@pytest.fixture
def worker(warm_guest: Guest, taskmon: Taskmon, program: Callable[[str], Path]) -> Iterator[Worker]:
    """A worker; it is gone afterwards.

    A test ends it itself: while it runs, the guest is looked at for as long as a busy one is.
    """
    warm_guest.agent.write_file("/tmp/exits", program("exits").read_bytes(), 0o755)
    process = warm_guest.agent.worker("exits").spawn(["/tmp/exits", "100000000", "1"])
    made = Worker(warm_guest, taskmon, process)
    yield made
    made.end()


@pytest.mark.requirement("T25", "T26", "T27", "T28")
def test_all_tasks_are_shown(
    taskmon: Taskmon, warm_guest: Guest, program: Callable[[str], Path]
) -> None:
    """Three threads that do nothing any more: each as netlink has it, and their sum."""
    script = scripts(warm_guest, program)
    ask = (f"ask {PID} pid", f"ask {PID} tid", f"ask {PID} other")
    get = f"run /bin/taskmon get {' '.join(JSON)}"
    output = script(
        *(*START, "live 3 0", *ask, f"{get} --all", f"{get} --tree PID --by process"),
        *(f"{get} --tree PID --interval 20ms --count 2", "end 0"),
    )
    lines = output.decode().splitlines()
    ((*threads, process),) = numbers(lines, "tids")
    known = {one.id: one.values() for one in replies(lines)}
    assert len(known) == 3
    shown = rows(output)
    everything = [row for row in shown if row["kind"] == "task" and row["interval"] is None]
    assert {row["id"] for row in everything} >= {1, 2, *threads, process}
    assert {row["comm"] for row in everything} >= {"kthreadd", "taskmon", "taskstats"}
    mine = {row["id"]: row for row in everything if row["tgid"] == process}
    assert set(mine) == set(known) == {*threads, process}
    for number, row in mine.items():
        assert [row[name] for name in SUMS] == [known[number][name] for name in SUMS]
    (added,) = [row for row in shown if row["kind"] == "process"]
    assert (added["id"], added["tasks"], added["comm"]) == (process, 3, "taskstats")
    for name in SUMS:
        assert added[name] == sum(int(one[name]) for one in known.values())
    # They do nothing.
    later = [row for row in shown if row["interval"]]
    assert sorted((row["interval"], row["id"]) for row in later) == [
        (interval, number) for interval in (1, 2) for number in sorted(known)
    ]
    assert {row[name] for row in later for name in (*SUMS, "cpu_percent")} == {0}


@pytest.mark.requirement("T26", "T28")
def test_intervals_add_up_to_what_the_scheduler_counts(taskmon: Taskmon, worker: Worker) -> None:
    """Each of them is a part of the time between two looks at /proc."""
    before = worker.cpu_ns()
    words: tuple[str, ...] = (
        "get",
        "--pid",
        str(worker.pid),
        "--interval",
        "200ms",
        "--count",
        "3",
        *JSON,
    )
    shown = rows(taskmon(*words).check().stdout)
    after = worker.cpu_ns()
    assert [row["interval"] for row in shown] == [1, 2, 3]
    used = [row["cpu_run_virtual_ns"] for row in shown]
    assert 0 < sum(used) <= after - before
    for row, part in zip(shown, used, strict=True):
        assert row["cpu_percent"] == pytest.approx(100 * part / row["interval_ns"])
    # Of all tasks it is among those that do anything; its parent only waits.
    words = ("get", "--name", "exits", "--active", "--interval", "200ms", "--count", "1", *JSON)
    found = {row["id"] for row in rows(taskmon(*words).check().stdout)}
    worker.end()
    assert worker.pid in found and worker.parent not in found


@pytest.mark.requirement("T26")
def test_a_task_that_exits_ends_its_intervals(
    taskmon: Taskmon, worker: Worker, warm_guest: Guest
) -> None:
    """With one sentence; one that never was is an error."""
    argv = ["/bin/taskmon", "get", "--pid", str(worker.parent), "--interval", "50ms", *JSON]
    watch = warm_guest.agent.worker("watch").spawn(argv)
    worker.end()
    done = watch.wait()
    # It may be gone before the first look.
    assert f"task {worker.parent} has exited" in done.stderr.decode() or done.status == EXIT_FAILED
    done = taskmon("get", "--pid", "99999", "--interval", "50ms")
    assert (done.status, done.stdout.splitlines()[1:]) == (EXIT_FAILED, [])
    assert b"no such task: 99999" in done.stderr


class Threads:
    """programs/threads.c, whose threads exit one after the other."""

    def __init__(self, guest: Guest, taskmon: Taskmon, process: Process) -> None:
        self.guest = guest
        self.process = process
        limit = fair(SECONDS)
        found: list[Row] = []
        while not found:
            assert not limit.over, f"no process has begun within {SECONDS} s"
            found = rows(taskmon("get", "--by", "process", "--name", "threads", *JSON).stdout)
        self.pid = found[0]["id"]

    def wait(self, ticks: int) -> None:
        """Until it has used so much CPU time, and has one task."""
        limit = fair(SECONDS)
        while self.ticks() < ticks or self.stat()[19 - 2] != "1":
            assert not limit.over, f"its threads have not ended within {SECONDS} s"

    def stat(self) -> list[str]:
        """/proc/PID/stat from the third field on."""
        text = self.guest.agent.read_file(f"/proc/{self.pid}/stat").decode()
        return text.rpartition(") ")[2].split()

    def ticks(self) -> int:
        """CPU time of the process in ticks, as procps has it: the fields 14 and 15."""
        user, system = self.stat()[14 - 3 : 16 - 3]
        return int(user) + int(system)

    def io(self) -> dict[str, int]:
        """/proc/PID/io"""
        lines = self.guest.agent.read_file(f"/proc/{self.pid}/io").decode().splitlines()
        return {name: int(value) for name, _, value in (line.partition(": ") for line in lines)}

    def first_ns(self) -> int:
        """CPU time of the first task alone."""
        path = f"/proc/{self.pid}/task/{self.pid}/schedstat"
        return int(self.guest.agent.read_file(path).split()[0])


StartThreads = Callable[[int], Threads]
TICK_NS = 10_000_000


@pytest.fixture
def threads(
    warm_guest: Guest, taskmon: Taskmon, program: Callable[[str], Path]
) -> Iterator[StartThreads]:
    """threads(COUNT): such a process; all are gone afterwards."""
    warm_guest.agent.write_file("/tmp/threads", program("threads").read_bytes(), 0o755)
    started: list[Process] = []

    def start(count: int) -> Threads:
        worker = warm_guest.agent.worker(f"threads{len(started)}")
        started.append(worker.spawn(["/tmp/threads", str(count)]))
        return Threads(warm_guest, taskmon, started[-1])

    yield start
    for process in started:
        process.signal(signal.SIGKILL, group=True)
        process.wait()


@pytest.mark.requirement("T27", "T28")
def test_processes_have_what_exited_threads_used(taskmon: Taskmon, threads: StartThreads) -> None:
    """Like /proc of the process: 12 threads of 20 ms and 64 KiB each, all of them gone."""
    made = threads(12)
    made.wait(24)
    before, io = made.ticks(), made.io()
    assert io["rchar"] >= 12 * 65536
    sums = ("--by", "process"), ("--by", "command"), ("--by", "user")
    shown = []
    for words in sums[:2]:
        shown += rows(taskmon("get", "--name", "threads", *words, *JSON).check().stdout)
    shown += rows(taskmon("get", "--tgid", str(made.pid), *JSON).check().stdout)
    assert [row["kind"] for row in shown] == ["process", "command", "process"]
    for row in shown:
        assert row["tasks"] == 1 and row["comm"] == "threads"
        # The clock of the scheduler and that of the CPU differ by what CP and interrupts take.
        assert 12 * 20_000_000 <= row["cpu_run_virtual_ns"]
        assert row["cpu_run_virtual_ns"] == pytest.approx(before * TICK_NS, rel=0.2)
        assert row["utime_us"] + row["stime_us"] == pytest.approx(before * 10_000, abs=20_000)
        assert row["minflt"] == int(made.stat()[10 - 3])
        assert row["read_char_bytes"] == io["rchar"] and row["read_syscalls"] == io["syscr"]
        assert row["read_bytes"] == io["read_bytes"] and row["write_bytes"] == io["write_bytes"]
        # Each has slept, or that is not known: no kernel has less.
        assert row["nvcsw"] is None or row["nvcsw"] >= 12
        assert row["cpu_count"] >= 12
    # One of the user's processes.
    (user,) = rows(taskmon("get", *sums[2], *JSON).check().stdout)
    assert user["cpu_run_virtual_ns"] >= shown[0]["cpu_run_virtual_ns"]
    done = taskmon("top", "-b", "-n", "1", "-d", "50ms", "--name", "threads", *JSON).check()
    (row,) = rows(done.stdout)
    assert row["cpu_time_ns"] == pytest.approx(before * TICK_NS, rel=0.2)
    assert (row["cpu_percent"], row["tasks"]) == (0, 1)


@pytest.mark.requirement("T26", "T27", "T29")
def test_rates_have_what_exited_threads_used(taskmon: Taskmon, threads: StartThreads) -> None:
    """A server's threads do the work, and its first task next to none."""
    made = threads(0)
    words = ("--by", "process", "--name", "threads", "--interval", "500ms", "--count", "4", *JSON)
    first, before = made.first_ns(), made.ticks()
    shown = rows(taskmon("get", *words).check().stdout)
    after, first = made.ticks(), made.first_ns() - first
    used = [row["cpu_run_virtual_ns"] for row in shown]
    assert len(used) == 4
    assert 2 * first < sum(used) <= 1.2 * (after - before + 1) * TICK_NS
    for row in shown:
        assert row["cpu_percent"] == pytest.approx(
            100 * row["cpu_run_virtual_ns"] / row["interval_ns"]
        )
    batch = ("--batch", "--name", "threads", "-d", "500ms", "-n", "5", *JSON)
    first, before = made.first_ns(), made.ticks()
    topped = rows(taskmon("top", *batch).check().stdout)
    after, first = made.ticks(), made.first_ns() - first
    times = [row["cpu_time_ns"] for row in topped]
    assert len(times) == 5
    assert times == sorted(times)
    assert 2 * first < times[-1] - times[0] <= 1.2 * (after - before + 1) * TICK_NS
    assert all(row["cpu_percent"] > 0 for row in topped)


DELAYACCT = "/proc/sys/kernel/task_delayacct"


@pytest.mark.requirement("T21", "T29")
def test_waits_that_are_not_accounted_are_unknown(
    taskmon: Taskmon, threads: StartThreads, warm_guest: Guest
) -> None:
    """Neither 0 nor anything else, until a process begins while they are accounted."""
    agent = warm_guest.agent
    old = threads(1)
    unknown = ("io_wait_percent", "storage_wait_percent")
    top = ("top", "--batch", "-n", "1", "-d", "50ms")
    for row in rows(taskmon(*top, *JSON).check().stdout):
        assert [row[name] for name in unknown] == [None, None], row
        assert row["cpu_wait_percent"] is not None
    lines = taskmon(*top).check().stdout.decode().splitlines()
    assert "delays are not accounted" in lines[2] and "kernel.task_delayacct=1" in lines[2]
    heading = lines[3].split()
    assert heading[heading.index("cpu_wait") + 1] == "io_wait"
    get = ("get", "--by", "process", "--name", "threads", *JSON)
    (row,) = rows(taskmon(*get).check().stdout)
    assert (row["blkio_count"], row["blkio_delay_ns"], row["swapin_delay_ns"]) == (None,) * 3
    agent.write_file(DELAYACCT, b"1\n")
    try:
        threads(1)
        words = ("--name", "threads", "--sort", "pid", "-F", "pid,io_wait_percent", "-f", "json")
        # What begins after the first look is counted; what began before is not.
        shown = rows(taskmon(*top, *words).check().stdout)
        assert shown[0] == {"pid": old.pid, "io_wait_percent": None}
        done = taskmon(
            "run", "-f", "json", "-F", "kind,blkio_count", "--", "/bin/taskmon", "--help"
        )
        assert [row["blkio_count"] is not None for row in rows(done.stderr)] == [True, True]
    finally:
        agent.write_file(DELAYACCT, b"0\n")
    done = taskmon(
        "run", "-f", "json", "-F", "kind,blkio_count,cpu_count", "--", "/bin/taskmon", "-?"
    )
    for row in rows(done.stderr):
        assert row["blkio_count"] is None and row["cpu_count"] >= 1


@pytest.mark.requirement("T27", "T28")
def test_sums_by_cgroup_user_and_command(
    taskmon: Taskmon, worker: Worker, warm_guest: Guest
) -> None:
    agent = warm_guest.agent
    agent.mkdir(CGROUP).check()
    agent.mount("none", CGROUP, "cgroup2").check()
    try:
        agent.mkdir(f"{CGROUP}/some").check()
        agent.write_file(f"{CGROUP}/some/cgroup.procs", str(worker.pid).encode(), 0o644)
        assert b"0::/some\n" in agent.read_file(f"/proc/{worker.pid}/cgroup")
        words: tuple[str, ...] = ("get", "--by", "cgroup", *JSON)
        found = {row["name"]: row for row in rows(taskmon(*words).check().stdout)}
        # Its child of the moment is there, too.
        assert found["/some"]["tasks"] in (1, 2) and found["/"]["tasks"] > 10
        assert found["/some"]["cpu_run_virtual_ns"] > 0
        inside = rows(taskmon("get", "--cgroup", "/some", *JSON).check().stdout)
        assert worker.pid in {row["id"] for row in inside}
        assert {row["comm"] for row in inside} == {"exits"}
        (user,) = rows(taskmon("get", "--by", "user", *JSON).check().stdout)
        assert (user["kind"], user["uid"]) == ("user", 0) and user["name"] in ("0", "root")
        words = ("get", "--by", "command", "--user", "0", "--tree", str(worker.parent), *JSON)
        (command,) = rows(taskmon(*words).check().stdout)
        assert (command["comm"], command["name"]) == ("exits", None)
        assert command["tasks"] in (2, 3)
        assert taskmon("get", "--by", "command", "--user", "1234", *JSON).check().stdout == b""
    finally:
        agent.write_file(f"{CGROUP}/cgroup.procs", str(worker.pid).encode(), 0o644)
        agent.rmdir(f"{CGROUP}/some")
        agent.umount(CGROUP).check()
        agent.rmdir(CGROUP).check()
        worker.end()


def _by_interval(found: list[Row]) -> list[list[Row]]:
    return [
        [row for row in found if row["interval"] == number]
        for number in sorted({row["interval"] for row in found})
    ]


@pytest.mark.requirement("T29")
def test_top_writes_text_without_a_terminal(taskmon: Taskmon, worker: Worker) -> None:
    """Sorted, again and again; what it says of the worker is what /proc says."""
    before = worker.cpu_ns()
    done = taskmon("top", "--batch", "-n", "2", "-d", "200ms", *JSON).check()
    after = worker.cpu_ns()
    intervals = _by_interval(rows(done.stdout))
    assert len(intervals) == 2
    for found in intervals:
        parts = [row["cpu_percent"] for row in found]
        assert parts == sorted(parts, reverse=True)
        (mine,) = [row for row in found if row["pid"] == worker.pid]
        assert (mine["command"], mine["tasks"]) == ("exits", 1)
        assert mine["cpu_percent"] > 0
        assert before <= mine["cpu_time_ns"] <= after
    # No terminal: the same as with --batch.
    done = taskmon("top", "-n", "2", "-d", "100ms", "--name", "exits", "--sort", "pid").check()
    lines = done.stdout.decode().splitlines()
    assert [line.split(",")[0] for line in lines].count("taskmon top") == 2
    headings = [at for at, line in enumerate(lines) if line.split()[:2] == ["pid", "user"]]
    assert len(headings) == 2
    # Children that exited meanwhile may have lower numbers.
    first = [line.split()[0] for line in lines[headings[0] + 1 : headings[1]] if line]
    assert str(worker.parent) in first
    done = taskmon(
        "top", "-b", "-n", "1", "--by", "command", "-s", "tasks", "--name", "exits"
    ).check()
    assert done.stdout.decode().splitlines()[-1].split()[-1] == "exits"
    worker.end()


@pytest.mark.requirement("T29")
def test_top_shows_processes_that_exited(taskmon: Taskmon, worker: Worker) -> None:
    """The worker's children come and go between two looks."""
    words = ("top", "--batch", "-n", "1", "-d", "100ms", "--name", "exits", *JSON)
    found: list[Row] = []

    def shown() -> bool:
        found[:] = rows(taskmon(*words).check().stdout)
        return any(row["state"] == "X" for row in found)

    wait_until(shown, "no child that exited is shown")
    worker.end()
    (mine,) = [row for row in found if row["pid"] == worker.pid and row["state"] != "X"]
    assert mine["cmdline"] == "/tmp/exits 100000000 1"
    gone = [row for row in found if row["state"] == "X"]
    # One that the first look saw has its command line from there.
    assert {row["cmdline"] for row in gone} <= {"[exits]", mine["cmdline"]}
    assert {row["command"] for row in gone} == {"exits"}
    assert all(row["cpu_percent"] is not None and row["tasks"] == 1 for row in gone)


@pytest.mark.requirement("T29")
def test_top_of_a_process_that_is_not_there(taskmon: Taskmon, worker: Worker) -> None:
    """It is told, and those that are there are shown, each once."""
    pids = [word for pid in (worker.pid, 4194303, worker.pid) for word in ("--pid", str(pid))]
    done = taskmon("top", "--batch", "-n", "1", "-d", "50ms", *pids, *JSON).check()
    worker.end()
    assert [row["pid"] for row in rows(done.stdout) if row["state"] != "X"] == [worker.pid]
    assert done.stderr.decode().count("--pid 4194303: there is no such process now") == 1
    assert f"--pid {worker.pid}" not in done.stderr.decode()


@pytest.mark.requirement("T26", "T28", "T29")
def test_wrong_command_lines(taskmon: Taskmon) -> None:
    for words, sentence in (
        (["get", "--pid", "1", "--by", "user"], "--pid and --tgid name tasks"),
        (["get", "--count", "3", "--all"], "--count needs --interval"),
        (["get", "--all", "--interval", "0"], "invalid --interval: '0'"),
        (["get", "--user", "nobody!"], "no such user: 'nobody!'"),
        (["get", "--tree", "0"], "invalid --tree: '0'"),
        (["get", "--cgroup", "x"], "invalid --cgroup: 'x'"),
        (["top", "--sort", "colour"], "invalid --sort: 'colour'"),
        (["top", "-d", "1us"], "invalid --interval: '1us'"),
        (["top", "-n", "0"], "invalid --count: '0'"),
    ):
        done = taskmon(*words)
        assert done.status == EXIT_USAGE, words
        assert sentence in done.stderr.decode(), words
