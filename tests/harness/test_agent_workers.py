# SPDX-License-Identifier: MIT
"""The agent's workers: time limits, interrupts, queues, reading at full speed."""

from __future__ import annotations

import errno
import os
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import host_agent
import pytest

from zvmlab.agent.agent import Agent
from zvmlab.agent.calls import BatchResult, Out
from zvmlab.agent.wire import WORKERS, AgentError, Call, Status
from zvmlab.agent.worker import Pending, Worker
from zvmlab.base.errors import Timeout, UsageError


SECONDS = 60


@pytest.fixture(scope="module", params=["native", "asan"])
def binary(request: pytest.FixtureRequest) -> Path:
    """The agent compiled for this machine."""
    return host_agent.build(request.param)


@pytest.fixture(params=["all CPUs", "one CPU"])
def agent(request: pytest.FixtureRequest, binary: Path) -> Iterator[Agent]:
    """An agent that has answered HELLO."""
    with host_agent.running(binary, one_cpu=request.param == "one CPU") as (stream, _):
        yield Agent(stream)


def pipe(agent: Agent) -> tuple[int, int]:
    result = agent.call(Call.PIPE2, Out(8, whole=True), 0)
    assert result.ret == 0
    reader, writer = agent.unpack("ii", result.data)
    return reader, writer


def test_time_limit_interrupts_a_sleeping_read(agent: Agent) -> None:
    reader, _ = pipe(agent)
    batch = agent.batch()
    batch.read(reader, 1)
    batch.open("/dev/null")
    began = time.monotonic()
    result = batch.run(timeout=0.2, allow_timeout=True)
    assert 0.2 <= time.monotonic() - began
    assert (result.timed_out, [r.errno for r in result]) == (True, [errno.EINTR])
    with pytest.raises(Timeout, match=r"not done within 0.1 s in read"):
        batch.run(timeout=0.1)
    agent.timeout = 0.1
    with pytest.raises(Timeout, match=r"read in the guest did not return within 0.1 s"):
        agent.read(reader, 1)
    assert agent.call(Call.GETPID).ret == agent.info.pid


def test_workers_sleep_while_others_are_served(agent: Agent) -> None:
    reader, writer = pipe(agent)
    batch = agent.worker("sleeper").batch()
    batch.read(reader, 10)
    pending = batch.start()
    assert agent.call(Call.GETPID).ret == agent.info.pid
    assert not pending.done()
    assert agent.hello().busy & 0b10
    agent.write(writer, b"wake")
    assert pending.result(SECONDS)[0].data == b"wake"
    assert agent.worker("sleeper").number == 1


def test_a_worker_whose_reply_has_come_is_not_busy(agent: Agent) -> None:
    for _ in range(500):
        agent.call(Call.GETPID)
        assert agent.hello().busy == 0


def test_the_looker_answers_while_all_others_sleep(agent: Agent) -> None:
    """Also when nobody wants what those would reply."""
    reader, writer = pipe(agent)
    sleepers = [agent, *(agent.worker(str(number)) for number in range(1, WORKERS - 1))]
    pending = []
    for worker in sleepers:
        batch = worker.batch()
        batch.read(reader, 1)
        pending.append(batch.start(SECONDS))
    assert agent.hello().busy == (1 << WORKERS - 1) - 1
    looker = agent.looker(SECONDS)
    assert looker.call(Call.GETPID).ret == agent.info.pid
    looker.write(writer, b"x" * len(sleepers)).check()
    assert [request.result()[0].data for request in pending] == [b"x"] * len(sleepers)


def test_interrupt_and_restart(agent: Agent) -> None:
    reader, writer = pipe(agent)
    worker = agent.worker("sleeper")
    assert worker.interrupt() is False
    batch = worker.batch()
    batch.read(reader, 10)
    first = batch.start()
    host_agent.await_asleep(agent, host_agent.READ)
    assert worker.interrupt(restart=True) is True
    # A signal that comes before the call has begun anew would end nothing.
    host_agent.await_asleep(agent, host_agent.READ)
    assert not first.done()
    assert worker.interrupt() is True
    assert first.result(SECONDS)[0].errno == errno.EINTR
    second = batch.start()
    host_agent.await_asleep(agent, host_agent.READ)
    assert worker.interrupt(restart=True) is True
    agent.write(writer, b"more")
    assert second.result(SECONDS)[0].data == b"more"


def test_an_interrupt_says_how_far_a_batch_has_come(agent: Agent) -> None:
    """None of it, two of three, and none of one that has begun since."""
    reader, writer = pipe(agent)
    worker = agent.worker("sleeper")
    assert worker.start_interrupt().result() == (False, 0)
    batch = worker.batch()
    batch.call(Call.GETPID)
    batch.call(Call.GETPID)
    batch.read(reader, 10)
    first = batch.start()
    host_agent.await_asleep(agent, host_agent.READ)
    assert worker.start_interrupt(restart=True).result() == (True, 2)
    agent.write(writer, b"all")
    assert len(first.result(SECONDS)) == 3
    assert worker.start_interrupt().result() == (False, 3)
    batch = worker.batch()
    batch.read(reader, 10)
    second = batch.start()
    host_agent.await_asleep(agent, host_agent.READ)
    assert worker.start_interrupt().result() == (True, 0)
    assert second.result(SECONDS)[0].errno == errno.EINTR


def test_worker_is_kept_on_a_cpu(agent: Agent) -> None:
    """And so is what it starts; the others run where they did."""
    cpu = max(os.sched_getaffinity(0))
    kept = agent.worker("kept")
    agent.keep_on(kept, cpu)

    def allowed(worker: Worker) -> str:
        status = worker.read_text("/proc/thread-self/status")
        return status.split("Cpus_allowed_list:")[1].split()[0]

    before = Path(f"/proc/{agent.info.pid}/status").read_text(encoding="ascii")
    assert allowed(kept) == str(cpu)
    started = kept.run(["/bin/cat", "/proc/self/status"]).check().stdout.decode()
    assert started.split("Cpus_allowed_list:")[1].split()[0] == str(cpu)
    assert allowed(agent.worker("free")) == before.split("Cpus_allowed_list:")[1].split()[0]
    with pytest.raises(OSError) as refused:
        agent.keep_on(kept, 63)
    assert refused.value.errno == errno.EINVAL


def test_what_answers_is_kept_on_a_cpu(agent: Agent) -> None:
    """The main thread, and what looks at the guest while others are held."""
    cpu = max(os.sched_getaffinity(0))
    looker = agent.looker(SECONDS)
    assert looker.call(Call.GETPID).ret == agent.info.pid
    agent.answer_on(cpu)
    for text in (
        Path(f"/proc/{agent.info.pid}/status").read_text(encoding="ascii"),
        looker.read_text("/proc/thread-self/status"),
        agent.read_text("/proc/thread-self/status"),
    ):
        assert text.split("Cpus_allowed_list:")[1].split()[0] == str(cpu)


def test_no_more_than_fifteen_workers(agent: Agent) -> None:
    for number in range(15):
        assert agent.worker(str(number)).call(Call.GETPID).ret == agent.info.pid
    with pytest.raises(UsageError, match="15 workers"):
        agent.worker("one too many")


def test_full_queue_is_refused(agent: Agent) -> None:
    reader, writer = pipe(agent)
    batch = agent.worker("sleeper").batch()
    batch.read(reader, 1)
    pending = [batch.start() for _ in range(70)]
    refused = 0
    agent.call(Call.GETPID)
    agent.write(writer, bytes(70))
    for request in pending:
        try:
            assert request.result(SECONDS)[0].ret == 1
        except AgentError as error:
            assert error.status == Status.BUSY
            refused += 1
    # One is being executed, 64 wait.
    assert refused in (5, 6)


def test_drain(agent: Agent, tmp_path: Path) -> None:
    fd = agent.open("/dev/zero").check()
    result = agent.drain(fd, 65536, max_bytes=10 << 20, crc=True)
    assert (result.reads, result.bytes, result.sets, result.errno) == (160, 10 << 20, 0, 0)
    assert (result.crc, result.timed_out) == (zlib.crc32(bytes(10 << 20)), False)
    assert result.elapsed_ns > 0
    data = bytes(range(200))
    (tmp_path / "file").write_bytes(data)
    fd = agent.open(str(tmp_path / "file")).check()
    result = agent.drain(fd, 150, sets=1, crc=True)
    assert (result.reads, result.bytes, result.sets, result.empty) == (3, 200, 1, 0)
    assert result.crc == zlib.crc32(data)
    result = agent.drain(fd, 150, reads=5)
    assert (result.reads, result.bytes, result.sets, result.empty) == (5, 0, 0, 5)
    assert agent.drain(-1, 10).errno == errno.EBADF
    reader, _ = pipe(agent)
    result = agent.drain(reader, 10, timeout=0.2)
    assert (result.timed_out, result.errno) == (True, errno.EINTR)
