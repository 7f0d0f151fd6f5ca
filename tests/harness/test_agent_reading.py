# SPDX-License-Identifier: MIT
"""The agent on one CPU: worker 0 reads by itself, and the main thread does while it sleeps."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import host_agent
import pytest

from zvmlab.agent.agent import Agent
from zvmlab.agent.calls import Out
from zvmlab.agent.wire import Call
from zvmlab.base.limit import Limit

SECONDS = 60
# proc(5): the policy is field 41; the first two are not counted here.
POLICY = 41 - 3


@pytest.fixture(scope="module", params=["native", "asan"])
def binary(request: pytest.FixtureRequest) -> Path:
    """The agent compiled for this machine."""
    return host_agent.build(request.param)


@pytest.fixture
def running(binary: Path) -> Iterator[tuple[Agent, subprocess.Popen[bytes]]]:
    """An agent that has one CPU, and its process."""
    with host_agent.running(binary, one_cpu=True) as (stream, process):
        yield Agent(stream), process


def policy(process: subprocess.Popen[bytes]) -> int:
    """The main thread waits as SCHED_BATCH while worker 0 reads, and reads as SCHED_OTHER."""
    fields = Path(f"/proc/{process.pid}/task/{process.pid}/stat").read_text("ascii")
    return int(fields.rpartition(")")[2].split()[POLICY])


def await_reading(agent: Agent, process: subprocess.Popen[bytes]) -> None:
    """Ask until worker 0 reads: if it has to wait for the CPU, the main thread is quicker."""

    def ask() -> int:
        assert agent.call(Call.GETPID).ret == agent.info.pid
        return policy(process)

    found = Limit(SECONDS).look(ask, lambda now: now == os.SCHED_BATCH)
    assert found == os.SCHED_BATCH, "worker 0 never reads by itself"


def await_main(process: subprocess.Popen[bytes]) -> None:
    """Wait until the main thread reads."""
    found = Limit(SECONDS).look(lambda: policy(process), lambda now: now == os.SCHED_OTHER)
    assert found == os.SCHED_OTHER, "nobody reads while worker 0 sleeps"


def test_worker_0_reads_until_it_sleeps(
    running: tuple[Agent, subprocess.Popen[bytes]],
) -> None:
    agent, process = running
    reader, writer = agent.unpack("ii", agent.call(Call.PIPE2, Out(8, whole=True), 0).data)
    assert agent.write(writer, b"x").ret == 1
    await_reading(agent, process)
    batch = agent.batch()
    batch.read(reader, 1)
    batch.read(reader, 1)
    sleeping = batch.start()
    await_main(process)
    other = agent.worker("other")
    assert other.call(Call.GETPID).ret == agent.info.pid
    assert agent.hello().busy == 1
    queued = agent.batch()
    queued.call(Call.GETPID)
    next_one = queued.start()
    assert not next_one.done()
    other.write(writer, b"y").check()
    assert [found.data for found in sleeping.result(SECONDS)] == [b"x", b"y"]
    assert next_one.result(SECONDS)[0].ret == agent.info.pid
    await_reading(agent, process)


def test_many_requests_at_once_are_all_answered(
    running: tuple[Agent, subprocess.Popen[bytes]],
) -> None:
    agent, _ = running
    workers = [agent, *(agent.worker(str(number)) for number in range(3))]
    for _ in range(100):
        pending = []
        for worker in (*workers, agent, *workers):
            batch = worker.batch()
            batch.call(Call.GETPID)
            pending.append(batch.start(SECONDS))
        assert {found.result()[0].ret for found in pending} == {agent.info.pid}


def test_the_stream_ends_while_worker_0_reads(binary: Path) -> None:
    """The process ends by itself, with exit status 0."""
    with host_agent.running(binary, one_cpu=True) as (stream, process):
        await_reading(Agent(stream), process)


def test_the_stream_ends_while_worker_0_sleeps(binary: Path) -> None:
    """The main thread meets the end."""
    with host_agent.running(binary, one_cpu=True) as (stream, process):
        agent = Agent(stream)
        batch = agent.batch()
        batch.sleep(SECONDS)
        batch.start(SECONDS)
        assert agent.hello().busy == 1
        await_main(process)
