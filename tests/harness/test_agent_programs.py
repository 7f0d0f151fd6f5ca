# SPDX-License-Identifier: MIT
"""The agent's requests, executed by this machine's kernel: programs, files, modules, the log."""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import host_agent
import pytest

from zvmlab.agent.agent import Agent
from zvmlab.agent.results import ModuleFailed, ProgramFailed, decode_log
from zvmlab.agent.wire import CHUNK_MAX, AgentError, Request, Status, Writer
from zvmlab.agent.worker import Process
from zvmlab.base.errors import Timeout

SH = "/bin/sh"
SECONDS = 60
# Numbers of this machine's system calls, to compare with; the agent has its own.
FINIT_MODULE, DELETE_MODULE = (313, 176) if os.uname().machine == "x86_64" else (273, 106)


@pytest.fixture(scope="module", params=["native", "asan"])
def binary(request: pytest.FixtureRequest) -> Path:
    """The agent compiled for this machine."""
    return host_agent.build(request.param)


@pytest.fixture
def agent(binary: Path) -> Iterator[Agent]:
    """An agent that has answered HELLO."""
    with host_agent.running(binary) as (stream, _):
        yield Agent(stream)


def _until(what: Callable[[], bool]) -> None:
    limit = time.monotonic() + SECONDS
    while not what():
        assert time.monotonic() < limit
        time.sleep(0.01)


def test_run(agent: Agent) -> None:
    result = agent.run(
        [SH, "-c", 'cat; echo "$1$V" >&2; pwd; exit 7', "x", "yes"],
        {"V": "!"},
        stdin=b"input\n",
        cwd="/tmp",
    )
    assert (result.status, result.signal, result.timed_out, result.cut) == (7, None, False, False)
    assert (result.stdout, result.stderr) == (b"input\n/tmp\n", b"yes!\n")
    assert not result.ok
    with pytest.raises(ProgramFailed, match="ended with status 7: yes!"):
        result.check()
    assert agent.run(["true"]).check().status == 0


def test_run_ends_by_a_signal(agent: Agent) -> None:
    result = agent.run([SH, "-c", "kill -TERM $$"])
    assert (result.status, result.signal) == (None, signal.SIGTERM)
    assert result.describe() == "was ended by SIGTERM"


def test_run_time_limit_kills_the_group(agent: Agent) -> None:
    began = time.monotonic()
    # The limit is long enough for a shell to begin, and short of what it waits for.
    result = agent.run([SH, "-c", "echo before; sleep 600 & sleep 600; echo after"], timeout=3)
    assert time.monotonic() - began < 600
    assert (result.timed_out, result.signal, result.ok) == (True, signal.SIGKILL, False)
    assert result.stdout == b"before\n"
    assert result.seconds >= 3


@pytest.mark.parametrize(
    "argv, cwd, error",
    [
        (["/nonexistent"], "/", errno.ENOENT),
        (["no-such-program"], "/", errno.ENOENT),
        (["/etc/passwd"], "/", errno.EACCES),
        (["true"], "/nonexistent", errno.ENOENT),
    ],
)
def test_what_cannot_be_started(agent: Agent, argv: list[str], cwd: str, error: int) -> None:
    with pytest.raises(OSError) as caught:
        agent.run(argv, cwd=cwd)
    assert caught.value.errno == error
    program = agent.spawn(argv, cwd=cwd)
    with pytest.raises(OSError) as caught:
        program.wait()
    assert caught.value.errno == error


def test_large_input_and_output(agent: Agent) -> None:
    data = os.urandom(3 << 20)
    assert agent.run(["cat"], stdin=data).stdout == data
    result = agent.run([SH, "-c", "head -c 9000000 /dev/zero; echo end >&2"])
    assert (len(result.stdout), result.cut, result.stderr) == (8 << 20, True, b"end\n")
    # A program that does not read its input is not an obstacle.
    assert agent.run(["true"], stdin=data).status == 0


def test_a_grandchild_that_keeps_the_pipes_is_not_waited_for(agent: Agent) -> None:
    began = time.monotonic()
    result = agent.run([SH, "-c", "sleep 600 & echo $!"])
    assert result.status == 0
    os.kill(int(result.stdout), signal.SIGKILL)
    assert time.monotonic() - began < 600


def test_inherited_files(agent: Agent) -> None:
    fd = agent.open("/dev/null").check()
    script = [SH, "-c", f"test -e /proc/self/fd/{fd}"]
    assert agent.run(script).status == 1
    assert agent.run(script, inherit=True).status == 0
    assert agent.run(["ls", "/proc/self/fd"]).stdout.split() == [b"0", b"1", b"2", b"3"]


def test_programs_when_the_agents_own_standard_files_are_closed(agent: Agent) -> None:
    for fd in (0, 1):
        assert agent.close(fd).ret == 0
    assert agent.run(["cat"], stdin=b"still works").stdout == b"still works"


def test_spawn_wait_signal(agent: Agent, tmp_path: Path) -> None:
    script = "trap 'echo got; exit 3' USR1; echo ready; >there; while :; do sleep 0.05; done"
    program = agent.spawn([SH, "-c", script], cwd=str(tmp_path))
    _until((tmp_path / "there").exists)
    with pytest.raises(Timeout, match="did not end within 0.2 s"):
        program.wait(0.2)
    program.signal(signal.SIGUSR1)
    result = program.wait(SECONDS)
    assert (result.status, result.stdout) == (3, b"ready\ngot\n")
    with pytest.raises(AgentError) as caught:
        program.wait()
    assert caught.value.status == Status.NO_PROCESS
    with pytest.raises(AgentError):
        Process(agent, 12345, ["x"]).signal(1)


def test_kill(agent: Agent) -> None:
    program = agent.spawn(["sleep", "60"])
    program.kill()
    assert program.wait(SECONDS).signal == signal.SIGKILL
    other = agent.spawn(["sleep", "60"])
    result = other.wait(0.1, kill=True)
    assert (result.signal, result.timed_out) == (signal.SIGKILL, True)
    ended = agent.spawn(["true"])

    def has_gone() -> bool:
        try:
            # It does nothing to a program that goes on.
            ended.signal(signal.SIGCONT)
        except ProcessLookupError:
            return True
        return False

    _until(has_gone)


def test_sixty_four_programs_at_once(agent: Agent) -> None:
    programs = [agent.spawn(["sleep", "60"]) for _ in range(64)]
    with pytest.raises(OSError) as caught:
        agent.spawn(["true"])
    assert caught.value.errno == errno.EMFILE
    for program in programs:
        program.kill()
    assert {program.wait(SECONDS).signal for program in programs} == {signal.SIGKILL}
    assert agent.run(["true"]).status == 0


def test_programs_beside_each_other(agent: Agent) -> None:
    program = agent.spawn([sys.executable, "-c", "input(); print('done')"], stdin=b"\n")
    assert agent.worker("other").run(["echo", "hi"]).stdout == b"hi\n"
    assert program.wait(SECONDS).stdout == b"done\n"


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        Writer().u32(0).payload(),
        Writer().u32(100).u16(0).u16(0).string("/").blob(b"").u8(0).payload(),
        Writer().u32(100).u16(1).string("a\0b").u16(0).string("/").blob(b"").u8(0).payload(),
        Writer().u32(100).u16(2000).payload(),
        Writer().u32(100).u16(1).u32(0xFFFFFFFF).payload(),
        Writer().u32(100).u16(1).string("true").u16(0).string("/").blob(b"").u8(0).u8(0).payload(),
    ],
)
def test_malformed_programs(agent: Agent, payload: bytes) -> None:
    with pytest.raises(AgentError) as caught:
        agent.ask(Request.RUN, payload, "nonsense")
    assert caught.value.status == Status.MALFORMED
    assert agent.run(["true"]).status == 0


def test_files(agent: Agent, tmp_path: Path) -> None:
    file = tmp_path / "file"
    data = os.urandom(CHUNK_MAX + 12345)
    with pytest.raises(FileNotFoundError):
        agent.write_file(str(file), data)
    agent.write_file(str(file), data, 0o751)
    assert file.read_bytes() == data
    assert file.stat().st_mode & 0o7777 == 0o751
    assert agent.read_file(str(file)) == data
    agent.write_file(str(file), b"short", 0o600)
    assert agent.read_file(str(file)) == b"short"
    agent.write_file(str(file), b"er", append=True)
    assert agent.read_file(str(file)) == b"shorter"
    agent.write_file(str(file), b"", 0o600)
    assert agent.read_file(str(file)) == b""
    assert agent.read_file("/proc/self/comm").startswith(b"zvmlab-agent")
    for path, kind in ((str(tmp_path / "none"), FileNotFoundError), ("/", IsADirectoryError)):
        with pytest.raises(kind):
            agent.read_file(path)
    with pytest.raises(OSError) as caught:
        agent.write_file("/dev/full", b"x", 0o600)
    assert caught.value.errno == errno.ENOSPC


def test_modules_that_cannot_be_loaded(agent: Agent, tmp_path: Path) -> None:
    assert agent.insmod("nothing").errno == errno.ENOENT
    (tmp_path / "x.ko").write_bytes(b"no module")
    libc = ctypes.CDLL(None, use_errno=True)
    with open(tmp_path / "x.ko", "rb") as file:
        assert libc.syscall(FINIT_MODULE, file.fileno(), b"a=1", 0) == -1
        expected = ctypes.get_errno()
    refused = agent.insmod(str(tmp_path / "x.ko"), {"a": 1, "b": "two"})
    assert refused.errno == expected
    with pytest.raises(ModuleFailed, match="loading .*x.ko in the guest: "):
        refused.check()
    assert libc.syscall(DELETE_MODULE, b"no_such_module", os.O_NONBLOCK) == -1
    assert agent.rmmod("no-such-module").errno == ctypes.get_errno()


KMSG = os.makedev(1, 11)
"""The kernel's log (Linux allocated devices, char 1)."""


def _needs_the_log() -> None:
    """Skip where its file is missing, or is something else, as in a container."""
    if not Path("/dev/kmsg").exists() or os.stat("/dev/kmsg").st_rdev != KMSG:
        pytest.skip("/dev/kmsg is not the kernel's log here, as in a container")


def test_kernel_log(agent: Agent) -> None:
    _needs_the_log()
    try:
        with open("/dev/kmsg", "rb"):
            pass
    except OSError:
        with pytest.raises(OSError):
            agent.dmesg()
        return
    position = agent.log_position()
    assert all(line.sequence >= position for line in agent.dmesg(position))
    assert len(agent.dmesg()) > 0


def _logs_open(pid: int) -> int:
    """How often that process has the kernel's log open."""
    links = (os.readlink(fd) for fd in Path(f"/proc/{pid}/fd").iterdir())
    return sum(link == "/dev/kmsg" for link in links)


def test_kernel_log_goes_on_where_the_last_request_ended(binary: Path) -> None:
    """The agent keeps the log open, and reads it anew for whoever wants older records."""
    _needs_the_log()
    if not os.access("/dev/kmsg", os.R_OK | os.W_OK):
        pytest.skip("only root may write to the kernel's log")
    mark = f"zvmlab-test-{os.getpid()}-{time.monotonic_ns()}"

    def say(number: int) -> None:
        Path("/dev/kmsg").write_text(f"<7>{mark} {number}\n")

    with host_agent.running(binary) as (stream, process):
        agent = Agent(stream)
        first = agent.log_position()

        def said(since: int) -> list[str]:
            texts = [line.text for line in agent.dmesg(since)]
            return [text.removeprefix(mark) for text in texts if text.startswith(mark)]

        for number in range(3):
            say(number)
            second = agent.log_position()
            assert _logs_open(process.pid) == 1
            assert said(second) == []
            say(number + 10)
            assert said(second) == [f" {number + 10}"]
            # All the same for whoever asks again, or for all.
            assert said(second) == [f" {number + 10}"]
            assert said(first)[-2:] == [f" {number}", f" {number + 10}"]
            assert len(said(0)) == 2 * (number + 1)
            assert _logs_open(process.pid) == 1


def _numbers_of(path: Path, process: int) -> list[int]:
    """By which numbers a process has a file open."""
    files = Path(f"/proc/{process}/fd")
    return [int(entry.name) for entry in files.iterdir() if entry.samefile(path)]


def test_a_file_that_is_read_has_no_number_of_a_request(binary: Path, tmp_path: Path) -> None:
    """A number that another request closes a second time is not what a thread reads by."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDWR)
    with host_agent.running(binary) as (stream, process):
        agent = Agent(stream)
        number = agent.open("/dev/null").check()
        agent.close(number).check()
        request = Writer().string(str(pipe)).u64(0).u32(1).payload()
        reading = agent.worker("b").start(
            Request.READ_FILE,
            request,
            "reading",
            SECONDS,
            lambda reply: (reply.errno(), reply.blob()),
        )
        # A moment after it is opened, it is there twice.
        _until(lambda: any(at > number for at in _numbers_of(pipe, process.pid)))
        assert agent.open("/dev/null").check() == number
        os.write(end, b"x")
        assert reading.result(SECONDS) == (0, b"x")
    os.close(end)


def test_files_of_the_agent_are_not_closed_by_requests(binary: Path) -> None:
    """What it opens to keep has none of their numbers: one that is closed twice is nobody's."""
    _needs_the_log()
    with host_agent.running(binary) as (stream, _):
        agent = Agent(stream)
        asks: list[Callable[[], object]] = [agent.log_position, lambda: agent.settle(0.0, 0)]
        for ask in asks:
            number = agent.open("/dev/null").check()
            agent.close(number).check()
            ask()
            assert agent.close(number).errno == errno.EBADF
            assert agent.open("/dev/null").check() == number
            agent.close(number).check()


def test_settle_sleeps_and_says_what_runs_and_was_logged(agent: Agent) -> None:
    """A program that never sleeps counts, and so does a record of another writer."""
    _needs_the_log()
    if not os.access("/dev/kmsg", os.R_OK | os.W_OK):
        pytest.skip("only root may write to the kernel's log")
    position = agent.log_position()
    mark = f"zvmlab-test-{os.getpid()}-{time.monotonic_ns()}"
    Path("/dev/kmsg").write_text(f"<7>{mark}\n")
    spinning = agent.spawn([SH, "-c", "while :; do :; done"])
    before = time.monotonic()
    found = agent.settle(0.1, position)
    assert time.monotonic() - before >= 0.1
    spinning.kill()
    spinning.wait()
    assert found.runnable >= 1
    assert mark in [line.text for line in found.lines]
    numbers = [line.sequence for line in found.lines]
    assert numbers == list(range(position, found.position))
    assert (found.lost, found.more) == (0, False)
    assert found.taints == int(Path("/proc/sys/kernel/tainted").read_text())
    assert found.busy == 0


def test_settle_says_who_is_busy_and_whether_devices_have_come_or_gone(agent: Agent) -> None:
    """Not the worker that looks itself."""
    _needs_the_log()
    uevents = Path("/sys/kernel/uevent_seqnum")

    def number() -> int:
        return int(uevents.read_text()) if uevents.exists() else 0

    workers = [agent.worker(name) for name in ("first", "second", "third")][::2]
    begun = []
    for worker in workers:
        batch = worker.batch()
        batch.sleep(SECONDS)
        begun.append(batch.start(2 * SECONDS))
    before = number()
    found = agent.looker(SECONDS).settle(0, agent.log_position())
    assert before <= found.uevents <= number()
    assert found.busy == 1 << workers[0].number | 1 << workers[1].number
    host_agent.await_asleep(agent, host_agent.POLL, len(workers))
    for worker, pending in zip(workers, begun):
        assert worker.interrupt()
        assert pending.result()[0].errno == errno.EINTR


def test_settle_sleeps_an_hour_at_most(agent: Agent) -> None:
    hour = 3600 * 10**9
    for asked in (Writer().u64(hour + 1).u64(0), Writer().u64(0)):
        with pytest.raises(AgentError, match="an hour at most") as caught:
            agent.ask(Request.SETTLE, asked.payload(), "what still runs")
        assert caught.value.status == Status.MALFORMED


def test_log_records_are_decoded() -> None:
    text = b"6,339,5140900,-;NET: Registered\n KEY=value\n30,340,5690716,-,caller=T1;udevd\xff; b\n"
    lines = decode_log(text)
    assert [(line.sequence, line.level, line.text) for line in lines] == [
        (339, 6, "NET: Registered"),
        (340, 6, "udevd\ufffd; b"),
    ]
    assert lines[0].seconds == pytest.approx(5.1409)
