# SPDX-License-Identifier: MIT
"""tools/taskmon in the guest: what it shows, what it counts, what it says."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from taskmon_tool import EXIT_CANNOT_RUN, EXIT_USAGE, Taskmon, install, rows, total
from taskstats import CLONE_NEWNET, CLONE_NEWPID, CLONE_NEWUSER, STRUCTS
from waiting import fair

from zvmlab.builder.guesttools import tool
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest

SECONDS = 120
# For thousands of processes on four CPUs, which may have one of the host's together.
MANY_SECONDS = 300

pytestmark = [
    pytest.mark.not_debug("it has no taskstats", lacks="TASKSTATS"),
    pytest.mark.first_kernel,
]


@pytest.fixture
def taskmon(warm_guest: Guest) -> Taskmon:
    """taskmon(ARGUMENT…) in the warm guest."""
    return install(warm_guest)


@pytest.fixture
def guest_config(request: pytest.FixtureRequest, zvmlab_kernel: str) -> GuestConfig:
    """Guests of this file's tests alone have taskmon, and 4 CPUs."""
    return GuestConfig(kernel=zvmlab_kernel)._replace(cpus=4, files=tool("taskmon"))


def _put(guest: Guest, program: Callable[[str], Path], name: str) -> str:
    guest.agent.write_file(f"/tmp/{name}", program(name).read_bytes(), 0o755)
    return f"/tmp/{name}"


@pytest.fixture
def exits_binary(guest: Guest, program: Callable[[str], Path]) -> str:
    """programs/exits.c in a guest of this test alone."""
    return _put(guest, program, "exits")


@pytest.fixture
def taskstats_binary(warm_guest: Guest, program: Callable[[str], Path]) -> str:
    """programs/taskstats.c in the warm guest."""
    return _put(warm_guest, program, "taskstats")


@pytest.fixture
def taskstats_alone(guest: Guest, program: Callable[[str], Path]) -> str:
    """programs/taskstats.c in a guest of this test alone."""
    return _put(guest, program, "taskstats")


@pytest.mark.requirement("T13")
def test_status_shows_struct_and_cpus(taskmon: Taskmon, zvmlab_kernel: str) -> None:
    done = taskmon("status", "-f", "json").check()
    (row,) = rows(done.stdout)
    assert (row["version"], row["size_bytes"]) == STRUCTS[zvmlab_kernel]
    assert (row["possible"], row["online"], row["delayacct"]) == ("0", "0", "off")
    assert b"sysctl kernel.task_delayacct=1" in done.stderr


@pytest.mark.requirement("T21")
def test_delayacct_is_told(taskmon: Taskmon, warm_guest: Guest) -> None:
    path = "/proc/sys/kernel/task_delayacct"
    warm_guest.agent.write_file(path, b"1\n")
    try:
        done = taskmon("status", "-f", "json").check()
    finally:
        warm_guest.agent.write_file(path, b"0\n")
    assert rows(done.stdout)[0]["delayacct"] == "later"
    assert b"delays are accounted, but not since boot" in done.stderr


@pytest.mark.requirement("T2", "T3")
def test_get_shows_a_task_and_a_process(taskmon: Taskmon) -> None:
    done = taskmon("get", "--pid", "1", "--tgid", "1", "-f", "json", "-F", "all").check()
    task, process = rows(done.stdout)
    assert (task["kind"], task["id"], task["pid"], task["tgid"]) == ("task", 1, 1, 1)
    assert task["comm"] == "zvmlab-agent" or task["comm"] == "init"
    assert (process["kind"], process["id"]) == ("process", 1)
    assert (process["comm"], process["pid"]) == (task["comm"], None)
    assert process["hiwater_rss_kib"] == task["hiwater_rss_kib"] > 0
    done = taskmon("get", "--pid", "1", "--pid", "99999")
    assert done.status == 1 and b"no such task: 99999" in done.stderr
    assert done.stdout.decode().splitlines()[1].split()[:2] == ["task", "1"]


@pytest.mark.requirement("T10", "T23")
def test_run_shows_what_the_program_used(taskmon: Taskmon, warm_guest: Guest) -> None:
    done = taskmon("run", "-f", "json", "--", "/bin/taskmon", "get", "--pid", "99999")
    assert done.status == 1, "the program's own status"
    task, tree = rows(done.stderr)
    assert (task.pop("kind"), tree.pop("kind")) == ("task", "tree")
    assert task == tree, "it has started nothing"
    assert (task["comm"], task["status"], task["signal"]) == ("taskmon", 1, None)
    assert task["hiwater_rss_kib"] > 500, "as it was when it exited"
    done = taskmon("run", "--", "/bin/nonsense")
    assert done.status == 127 and b"/bin/nonsense cannot be run" in done.stderr
    done = taskmon("run", "-o", "/tmp/row", "-f", "csv", "-F", "comm,status", "--", "/bin/taskmon")
    assert done.status == EXIT_USAGE
    assert warm_guest.agent.read_file("/tmp/row") == b"comm,status\ntaskmon,2\ntaskmon,2\n"


@pytest.mark.requirement("T14", "T19")
def test_fields_and_wrong_command_lines(taskmon: Taskmon) -> None:
    for words, sentence in (
        (["get"], "no task given"),
        (["get", "--pid", "x"], "invalid task ID: 'x'"),
        (["get", "--pid", "1", "-F", "nonsense"], "there is no field 'nonsense'"),
        (["listen", "--cpus", "3"], "no such CPU: 3 (possible: 0)"),
        (["listen", "--duration", "0"], "invalid time: '0'"),
        (["cgroup", "/proc/nonsense"], "the folder /proc/nonsense cannot be opened"),
        (["cgroup", "/proc"], "not a folder in a hierarchy of cgroups of version 1"),
        (["replay", "/bin/taskmon"], "is not a recording of taskmon"),
        (["frobnicate"], "unknown command: 'frobnicate'"),
    ):
        done = taskmon(*words)
        assert done.status == EXIT_USAGE, words
        assert sentence in done.stderr.decode(), words


@pytest.mark.requirement("T19")
def test_without_privilege_and_in_namespaces(
    taskmon: Taskmon, taskstats_binary: str, warm_guest: Guest
) -> None:
    run = warm_guest.agent.run
    for script, words, sentence in (
        ("user 1000", "get --pid 1", "CAP_NET_ADMIN in the initial user namespace"),
        (f"unshare {CLONE_NEWUSER}", "get --pid 1", "CAP_NET_ADMIN in the initial user"),
        (f"unshare {CLONE_NEWPID}", "listen --count 1", "initial PID namespace"),
        (f"unshare {CLONE_NEWNET}", "listen --count 1", "in the initial network namespace only"),
    ):
        lines = f"{script}\nexec /bin/taskmon {words}\n".encode()
        done = run([taskstats_binary], stdin=lines, timeout=SECONDS)
        assert done.status == EXIT_CANNOT_RUN, (script, done.stderr)
        assert sentence in done.stderr.decode(), script
    assert taskmon("get", "--pid", "1").status == 0


@pytest.mark.requirement("T16")
@pytest.mark.parametrize("how", ["--buffer=8M", pytest.param("--per-cpu", marks=pytest.mark.full)])
def test_nothing_is_lost_of_2000_exits(guest: Guest, exits_binary: str, how: str) -> None:
    """On 4 CPUs, with the default buffer: one reader, and one for each CPU."""
    argv = ["/bin/taskmon", "listen", "-f", "json", how, "--", exits_binary, "2000", "4"]
    done = guest.agent.run(argv, timeout=MANY_SECONDS).check()
    (created,) = [int(line) for line in done.stdout.splitlines() if line.isdigit()]
    found = rows(done.stdout)
    summary = total(done.stderr)
    assert created == 2004
    # The program itself, too; its children are named as it is.
    mine = [row for row in found if row["comm"] == "exits"]
    assert len(mine) == created + 1
    assert summary["lost"] == 0 and summary["overflows"] == 0
    assert summary["missing"] <= summary["strangers"]
    assert summary["received"] >= len(found) == len({row["id"] for row in found})


def _made(guest: Guest) -> int:
    """Tasks that were made since boot."""
    made = re.search(rb"^processes (\d+)$", guest.agent.read_file("/proc/stat"), re.MULTILINE)
    assert made
    return int(made[1])


def _there(guest: Guest) -> int:
    """Tasks that there are."""
    there = re.search(rb"/(\d+) ", guest.agent.read_file("/proc/loadavg"))
    assert there
    return int(there[1])


@pytest.mark.requirement("T16", "T17")
@pytest.mark.parametrize(
    ("how", "count"),
    [
        ("--buffer=4K", 1500),
        pytest.param("--per-cpu", 4000, marks=pytest.mark.full),
        pytest.param("--per-cpu", 100_000, marks=[pytest.mark.full, pytest.mark.timeout(1200)]),
    ],
)
def test_what_is_lost_is_counted(guest: Guest, exits_binary: str, how: str, count: int) -> None:
    """With tiny buffers: received and lost are what has exited, and both counters agree."""
    argv = ["/bin/taskmon", "listen", "-f", "json", "-F", "id,comm", "--buffer", "4K", how]
    # Those that exit are those that were made, less those that there are.  What begins between two
    # looks must not make them fewer than they are.
    before = _made(guest) - _there(guest)
    done = guest.agent.run(
        [*argv, "--", exits_binary, str(count), "4"], timeout=count / 100 + MANY_SECONDS
    )
    there = _there(guest)
    exited = _made(guest) - there - before
    (created,) = [int(line) for line in done.check().stdout.splitlines() if line.isdigit()]
    summary = total(done.stderr)
    assert summary["lost"] > 0 and summary["overflows"] > 0
    # The program, its children, and threads of the kernel that come and go meanwhile.
    assert created + 1 <= summary["received"] + summary["lost"] <= exited
    # What is missing was lost, but for what moved.
    assert summary["missing"] - summary["strangers"] <= summary["lost"]


@pytest.mark.requirement("T14", "T18")
def test_recording_replays_the_same_rows(taskmon: Taskmon) -> None:
    columns = "kind,id,comm,cpu,number,time_ns,status,etime_us"
    done = taskmon("listen", "-f", "json", "-F", columns, "--record", "/tmp/r",
                   "--", "/bin/taskmon", "get", "--pid", "1").check()  # fmt: skip
    again = taskmon("replay", "-f", "json", "-F", columns, "/tmp/r").check()
    live = [row for row in rows(done.stdout) if row["kind"] == "task"]
    assert "taskmon" in [row["comm"] for row in live]
    assert rows(again.stdout) == rows(done.stdout)
    assert total(again.stderr) == total(done.stderr)


@pytest.mark.requirement("T8")
def test_a_signal_ends_it_in_order(taskmon: Taskmon, warm_guest: Guest) -> None:
    """Whatever has been queued is still shown, and the summary is there."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        worker = warm_guest.agent.worker("listener")
        argv = ["/bin/taskmon", "listen", "-f", "json", "--duration", "1h", "--record", "/tmp/r"]
        process = worker.spawn(argv)
        # It listens when its own child has been heard; then it begins to record.
        limit = fair(SECONDS)
        while not taskmon("replay", "/tmp/r").stderr.count(b"is incomplete"):
            assert not limit.over, f"no recording has begun within {SECONDS} s"
        process.signal(number)
        done = process.wait(timeout=SECONDS)
        assert done.status == 0, done
        assert total(done.stderr)["lost"] == 0
        assert taskmon("replay", "/tmp/r").status == 0, "the recording has its end"


@pytest.mark.requirement("T6")
def test_listening_survives_hotplug(guest: Guest, taskstats_alone: str) -> None:
    """A CPU goes and comes back while it is listened to."""
    script = "\n".join(
        [
            *("exit 5 1 3", "put /sys/devices/system/cpu/cpu1/online 0", "exit 5 0 4"),
            *("put /sys/devices/system/cpu/cpu1/online 1", "exit 5 1 5", ""),
        ]
    )
    argv = ["/bin/taskmon", "listen", "-f", "json", "-F", "comm,cpu,status", "--per-cpu", "--"]
    done = guest.agent.run([*argv, taskstats_alone], stdin=script.encode(), timeout=SECONDS).check()
    found = [(row["cpu"], row["status"]) for row in rows(done.stdout) if row["comm"] == "taskstats"]
    # Who is first of the readers of two CPUs is left open; last exits what has run the script.
    ends = {cpu: [status for where, status in found if where == cpu] for cpu in range(4)}
    assert [status for status in ends[1] if status] == [3] * 5 + [5] * 5
    assert [status for status in ends[0] if status] == [4] * 5
    assert len(found) == 15 + 1
    assert total(done.stderr)["lost"] == 0


@pytest.mark.requirement("T24")
def test_cgroup_counts_the_states_of_tasks(taskmon: Taskmon, warm_guest: Guest) -> None:
    agent = warm_guest.agent
    agent.mkdir("/tmp/cgroup").check()
    agent.mount("none", "/tmp/cgroup", "cgroup", 0, "none,name=t").check()
    try:
        (row,) = rows(taskmon("cgroup", "-f", "json", "/tmp/cgroup").check().stdout)
        assert row["running"] >= 1 and row["sleeping"] > 1 and row["io_wait"] == 0
    finally:
        agent.umount("/tmp/cgroup").check()
        agent.rmdir("/tmp/cgroup").check()


def test_the_schema_is_that_of_the_rows(taskmon: Taskmon) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="python3-jsonschema is not installed")
    schema = json.loads(taskmon("get", "--schema").check().stdout)
    done = taskmon("get", "--pid", "1", "--tgid", "1", "-f", "json", "-F", "all").check()
    for row in rows(done.stdout):
        jsonschema.validate(row, schema)
        assert set(row) == set(schema["properties"]) - {"escaped"}
    table = taskmon("get", "--pid", "1", "-H").check().stdout.decode()
    assert re.search(r"\d (ns|us|ms|s|min)\b", table)
