# SPDX-License-Identifier: MIT
"""Frames that no honest harness sends: the agent refuses them or ends, but never crashes."""

from __future__ import annotations

import errno
import struct
import time
from collections.abc import Iterator
from pathlib import Path

import host_agent
import pytest
from examples import some
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zvmlab.agent.agent import Agent
from zvmlab.agent.calls import Bad, Both, Iovec, Message, Out, encode_call
from zvmlab.agent.wire import (
    VERSION,
    COUNTED,
    HEADER,
    WORKERS,
    REQUEST_MAX,
    AgentError,
    BadKind,
    Call,
    Request,
    Status,
    Writer,
)

# Requests that start programs or write files do so with random names at worst;
# POWER ends the program, which is tested elsewhere.
SAFE = [r for r in Request if r not in (Request.POWER, Request.SIGNAL, Request.RMMOD)]
# Calls that can do no harm with any argument; close could end the agent's own stream.
CALLS = [Call.READ, Call.READV, Call.LSEEK, Call.PREAD64, Call.GETPID, Call.GETSOCKOPT]
SECONDS = 60
FEW = settings(max_examples=some(150), deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def binary() -> Path:
    """The agent with AddressSanitizer and UndefinedBehaviorSanitizer."""
    return host_agent.build("asan")


@pytest.fixture(scope="module")
def agent(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    """One agent for all examples: what one leaves behind must not hurt the next."""
    with host_agent.running(binary, tmp_path_factory.mktemp("cwd")) as (stream, _):
        yield Agent(stream)


def ask(agent: Agent, request: int, payload: bytes) -> int:
    """The status of a request; the agent must answer another one afterwards."""
    channel = agent.channel
    number = channel._next_id = channel._next_id + 1
    channel._waiting[number] = request  # type: ignore[assignment]
    header = HEADER.pack(COUNTED + len(payload), number, request, 0)
    channel._stream.send(header + payload, SECONDS)
    try:
        channel.collect(number, SECONDS, "a hostile request")
        status = int(Status.OK)
    except AgentError as error:
        status = error.status
    assert agent.hello().version == VERSION
    return status


@FEW
@given(request=st.sampled_from(SAFE), payload=st.binary(max_size=200))
def test_any_payload(agent: Agent, request: Request, payload: bytes) -> None:
    assert ask(agent, request, payload) in list(Status)


@FEW
@given(kind=st.integers(max(Request) + 1, 0x7FFF), payload=st.binary(max_size=20))
def test_any_type(agent: Agent, kind: int, payload: bytes) -> None:
    assert ask(agent, kind, payload) == Status.UNKNOWN


NUMBERS = st.one_of(st.integers(-2, 100), st.integers(-(1 << 63), (1 << 64) - 1))
BUFFERS = st.one_of(
    st.binary(max_size=40),
    st.builds(Out, st.one_of(st.integers(0, 100), st.integers(0, 0xFFFFFFFF)), st.booleans()),
    st.builds(Both, st.binary(max_size=40)),
    st.builds(
        Bad,
        st.sampled_from(list(BadKind)),
        st.one_of(st.integers(0, 9000), st.integers(0, 0xFFFFFFFF)),
        st.one_of(st.integers(0, 9000), st.integers(0, 0xFFFFFFFF)),
    ),
)
VECTORS = st.builds(Iovec, st.lists(BUFFERS, max_size=70))
MESSAGES = st.builds(
    Message,
    VECTORS,
    st.integers(0, 100),
    name=BUFFERS,
    name_size=st.integers(0, 0xFFFFFFFF),
    control=BUFFERS,
    control_size=st.integers(0, 0xFFFFFFFF),
)
ARGUMENTS = st.one_of(NUMBERS, BUFFERS, VECTORS, MESSAGES)


@FEW
@given(
    calls=st.lists(
        st.tuples(st.sampled_from(CALLS), st.lists(ARGUMENTS, max_size=5)), min_size=1, max_size=4
    ),
    cut=st.integers(0, 20),
)
def test_any_arguments(
    agent: Agent, calls: list[tuple[Call, list[int | bytes | Out]]], cut: int
) -> None:
    # The first argument is a descriptor of nothing: a random pointer must not be written to.
    body = b"".join(encode_call(call, [1 << 20, *arguments]) for call, arguments in calls)
    head = Writer().u32(1000).u32(0).u16(len(calls)).payload()
    payload = head + body[: len(body) - cut]
    assert ask(agent, Request.BATCH, payload) in (Status.OK, Status.MALFORMED, Status.LIMIT)


@pytest.mark.parametrize("counted", [0, 7, COUNTED + REQUEST_MAX + 1, 0xFFFFFFFF])
def test_impossible_length_ends_the_connection(binary: Path, counted: int) -> None:
    with host_agent.running(binary) as (stream, process):
        stream.send(struct.pack(">IIHH", counted, 1, 1, 0), SECONDS)
        assert stream.recv(SECONDS) == b""
        assert process.wait(SECONDS) == 0


def test_end_within_a_frame(binary: Path) -> None:
    for cut in (1, 11, 12, 15):
        with host_agent.running(binary) as (stream, _):
            stream.send((HEADER.pack(COUNTED + 4, 1, Request.HELLO, 0) + bytes(4))[:cut], SECONDS)


def test_unknown_worker(agent: Agent) -> None:
    channel = agent.channel
    number = channel.submit(Request.BATCH, b"", WORKERS, 10)
    with pytest.raises(AgentError) as caught:
        channel.collect(number, SECONDS, "worker 16")
    assert caught.value.status == Status.MALFORMED


def test_frames_in_small_pieces(agent: Agent) -> None:
    channel = agent.channel
    payload = Writer().u32(1000).u32(0).u16(1).payload() + encode_call(Call.GETPID, [])
    number = channel._next_id = channel._next_id + 1
    channel._waiting[number] = Request.BATCH
    frame = HEADER.pack(COUNTED + len(payload), number, Request.BATCH, 0) + payload
    for byte in frame:
        channel._stream.send(bytes([byte]), SECONDS)
    assert channel.collect(number, SECONDS, "it").u16() == 1


def test_queue_of_large_requests_is_bounded(agent: Agent) -> None:
    """32 MiB may wait in all; the rest is refused, and nothing is lost."""
    ends = agent.call(Call.PIPE2, Out(8, whole=True), 0)
    reader, writer = agent.unpack("ii", ends.data)
    sleeper = agent.worker("sleeper")
    batch = sleeper.batch()
    batch.read(reader, 1)
    asleep = batch.start(SECONDS)
    channel = agent.channel
    numbers = [
        channel.submit(Request.RMMOD, bytes(16 << 20), sleeper.number, SECONDS) for _ in range(4)
    ]

    def status(number: int) -> int:
        with pytest.raises(AgentError) as caught:
            channel.collect(number, SECONDS, "a large request")
        return caught.value.status

    assert [status(number) for number in numbers[2:]] == [Status.BUSY] * 2
    # There is no room for a request that would wake it, but for this one, which does not wait.
    limit = time.monotonic() + SECONDS
    while not sleeper.interrupt():
        assert time.monotonic() < limit, "it has not begun to read"
    assert asleep.result(SECONDS)[0].errno == errno.EINTR
    assert [status(number) for number in numbers[:2]] == [Status.MALFORMED] * 2
    for fd in (reader, writer):
        agent.close(fd).check()
