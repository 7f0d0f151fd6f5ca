# SPDX-License-Identifier: MIT
"""taskmon get of all tasks, in intervals and added up, and taskmon top; against /proc and netlink."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from taskmon_tool import EXIT_FAILED, EXIT_USAGE, START, Row, Taskmon, install, rows, scripts
from taskstats import PID, numbers, replies

from zvmlab.agent.worker import Process
from zvmlab.guest.guest import Guest

pytestmark = [pytest.mark.not_debug("it has no taskstats"), pytest.mark.first_kernel]

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
        limit = time.monotonic() + SECONDS
        workers: list[int] = []
        while not workers:
            assert time.monotonic() < limit, f"no worker has begun within {SECONDS} s"
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
    """A worker; it is gone afterwards."""
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
    assert lines[headings[0] + 1].split()[0] == str(worker.parent)
    done = taskmon(
        "top", "-b", "-n", "1", "--by", "command", "-s", "tasks", "--name", "exits"
    ).check()
    assert done.stdout.decode().splitlines()[-1].split()[-1] == "exits"


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
