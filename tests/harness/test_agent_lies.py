# SPDX-License-Identifier: MIT
"""An agent that lies: whatever it answers, a user gets the answer or one sentence.

An errno that Linux has is an answer (OSError), as are the results of system calls.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable

import pytest
from examples import some
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from zvmlab.agent.agent import Agent
from zvmlab.agent.calls import Bad, Both, Iovec, Out
from zvmlab.agent.results import AgentInfo
from zvmlab.agent.wire import VERSION, AgentLost, BadKind, Call, Power, Status
from zvmlab.agent.worker import Process
from zvmlab.base.errors import Timeout, ZvmlabError
from zvmlab.monitor.steps import await_sleep, thread_of

# docs/agent-protocol.md: length, number, type, worker or status.
HEADER = struct.Struct(">IIHH")
REPLY_BIT = 0x8000
REPLY_MAX = 65 << 20
INFO = AgentInfo(VERSION, "big", True, 1, 4096, 16 << 20, REPLY_MAX, 0, "6.1", "s390x")
SECONDS = 60.0
MANY = settings(max_examples=some(40), deadline=None, suppress_health_check=list(HealthCheck))


class Liar:
    """A stream; each request gets the next of the *replies* as its payload, then it ends."""

    def __init__(self, replies: list[bytes], status: int = 0) -> None:
        self._replies = list(replies)
        self._status = status
        self._ready: list[bytes] = []

    def send(self, data: bytes, timeout: float, answered: bool = False) -> None:
        _, number, kind, _ = HEADER.unpack(data[: HEADER.size])
        if self._replies:
            payload = self._replies.pop(0)
            head = HEADER.pack(8 + len(payload), number, kind | REPLY_BIT, self._status)
            self._ready.append(head + payload)

    def recv(self, timeout: float) -> bytes:
        return self._ready.pop(0) if self._ready else b""

    def close(self) -> None:
        pass


def liar(*replies: bytes, status: int = 0) -> Agent:
    return Agent(Liar(list(replies), status), info=INFO)


def batch(agent: Agent) -> object:
    """Operations of each kind, in one round trip; all that their results are asked for."""
    ops = agent.batch()
    fd = ops.open("/dev/null")
    polled = ops.poll([(fd, 1), (fd, 4)], 10)
    read = ops.read_until(fd, 16, reads=4)
    ops.readv(fd, [4, Bad(BadKind.PARTIAL, 8, 3)])
    ops.sleep(0.001)
    done = ops.run()
    return done[polled].revents, done[read].reads, [call.data for call in done], done[fd].check()


ASKED: dict[str, Callable[[Agent], object]] = {
    "hello": lambda agent: agent.hello(),
    "power": lambda agent: agent.power(Power.HALT),
    "looker": lambda agent: agent.looker(SECONDS).log_position(),
    "run": lambda agent: agent.run(["/bin/true"]).check(),
    "spawn": lambda agent: agent.spawn(["/bin/true"]).wait(),
    "wait": lambda agent: Process(agent, 1, ["/bin/true"]).wait().describe(),
    "signal": lambda agent: Process(agent, 1, ["/bin/true"]).kill(),
    "insmod": lambda agent: agent.insmod("a").check(),
    "rmmod": lambda agent: agent.rmmod("a").check(),
    "modprobe": lambda agent: agent.modprobe("a").check(),
    "drain": lambda agent: agent.drain(3, 4096),
    "dmesg": lambda agent: [line.stamped for line in agent.dmesg()],
    "log_position": lambda agent: agent.log_position(),
    "settle": lambda agent: agent.settle(0.01, 0),
    "interrupt": lambda agent: agent.interrupt(),
    "read_file": lambda agent: agent.read_file("/x", 1000),
    "read_word": lambda agent: agent.read_word("/x", -2),
    "write_file": lambda agent: agent.write_file("/x", b"data"),
    "close": lambda agent: agent.close(3).check(),
    "read": lambda agent: agent.read(3, 8).data,
    "read_until": lambda agent: agent.read_until(3, 8).reads,
    "poll": lambda agent: agent.poll([(3, 1)], 10).revents,
    "whole": lambda agent: agent.unpack("ii", agent.call(Call.PIPE2, Out(8, True), 0).data),
    "both": lambda agent: agent.call(Call.READV, 3, Iovec([Both(b"ab"), Out(3)]), 2).data,
    "batch": batch,
    "thread_of": thread_of,
    "await_sleep": lambda agent: await_sleep(agent, "/proc/1", 3, 0.0),
}

NUMBERS = st.one_of(
    st.sampled_from([0, 1, 2, 3, 4095, 4096, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]),
    st.integers(0, 0xFFFFFFFF),
)
RECORDS = st.builds(
    "{},{},{},-;{}\n".format,
    st.one_of(NUMBERS, st.integers(0, 10**400), st.text(max_size=3)),
    st.one_of(NUMBERS, st.integers(0, 10**400)),
    st.one_of(NUMBERS, st.integers(0, 10**400)),
    st.text(max_size=8),
)
TEXTS = st.one_of(
    RECORDS.map(str.encode),
    st.sampled_from([b"a: a", b"a:", b"a: b? c", b"a: c a\n\xff: \xff"]),
    st.binary(max_size=40),
)
PARTS = st.one_of(
    *(st.integers(0, 255).map(struct.Struct(">B").pack), st.sampled_from([b"\0", b"\1"])),
    *(st.integers(0, 9).map(struct.Struct(">H").pack), NUMBERS.map(struct.Struct(">I").pack)),
    st.integers(0, 2**64 - 1).map(struct.Struct(">Q").pack),
    TEXTS.map(lambda text: struct.pack(">I", len(text)) + text),
    st.binary(max_size=30),
)
PAYLOADS = st.lists(PARTS, max_size=12).map(b"".join)


def is_sentence(error: Exception) -> bool:
    """One line of some length."""
    return 0 < len(str(error)) < 6000 and "\n" not in str(error)


def ask(what: Callable[[Agent], object], agent: Agent) -> None:
    """It gives an answer or an error for people."""
    try:
        what(agent)
    except ZvmlabError as error:
        assert is_sentence(error)
    except OSError as error:
        assert error.errno is not None and 0 < error.errno < 4096 and error.strerror


@pytest.mark.parametrize("what", ASKED)
@MANY
@given(replies=st.lists(PAYLOADS, max_size=4))
def test_any_payload(what: str, replies: list[bytes]) -> None:
    ask(ASKED[what], liar(*replies))


@MANY
@given(status=st.integers(1, 0xFFFF), payload=st.one_of(st.binary(max_size=40), PAYLOADS))
@example(status=1, payload=b"\x1b[2J\n\n" * 100_000)
def test_any_refusal(status: int, payload: bytes) -> None:
    with pytest.raises(ZvmlabError, match="^the agent refused HELLO: ") as caught:
        liar(payload, status=status).hello()
    assert is_sentence(caught.value)


class Raw(Liar):
    """Bytes that are no frames either."""

    def __init__(self, data: list[bytes]) -> None:
        super().__init__([])
        self._ready = [part for part in data if part]


@MANY
@given(data=st.lists(st.binary(max_size=60), max_size=6), what=st.sampled_from(sorted(ASKED)))
def test_any_bytes(data: list[bytes], what: str) -> None:
    ask(ASKED[what], Agent(Raw(data), info=INFO))


@MANY
@given(payload=PAYLOADS)
def test_any_greeting(payload: bytes) -> None:
    """An agent that nobody knows yet is asked what it is."""
    try:
        agent = Agent(Liar([payload]))
    except ZvmlabError as error:
        assert is_sentence(error)
    else:
        assert agent.info.version == VERSION


def be32(*values: int) -> bytes:
    return b"".join(struct.pack(">I", value) for value in values)


# What follows the error number in each reply.
NUMBERED = {
    **{"spawn": be32(1), "signal": b"", "insmod": be32(0), "rmmod": be32(0), "run": b""},
    **{"settle": be32(1) + bytes(29), "dmesg": bytes(21), "read_file": be32(0)},
    "write_file": be32(4),
}


@pytest.mark.parametrize("number", [4096, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF])
@pytest.mark.parametrize("what", NUMBERED)
def test_error_number_that_linux_does_not_have(what: str, number: int) -> None:
    with pytest.raises(AgentLost, match=f"sent the error number {number}, which Linux"):
        ASKED[what](liar(be32(number) + NUMBERED[what]))


def test_last_error_number_is_one() -> None:
    with pytest.raises(OSError) as caught:
        liar(be32(4095) + be32(0)).read_file("/x")
    assert caught.value.errno == 4095


def result(ret: int, errno: int, *buffers: bytes) -> bytes:
    """Of one operation."""
    blobs = b"".join(be32(len(buffer)) + buffer for buffer in buffers)
    return struct.pack(">qIBH", ret, errno, 0, len(buffers)) + blobs


def results(count: int, *found: bytes, timed_out: int = 0) -> bytes:
    return struct.pack(">HB", count, timed_out) + b"".join(found)


@pytest.mark.parametrize(
    ("what", "reply", "said"),
    [
        ("close", results(0), "0 results of 1 operations"),
        ("close", results(2, result(0, 0), result(0, 0)), "2 results of 1 operations"),
        ("close", results(1, result(-1, 1 << 31)), "the error number 2147483648"),
        ("close", results(1, result(0, 0, b"x")), "1 buffers with 1 bytes as a result of close"),
        ("read", results(1, result(9, 0, bytes(9))), "1 buffers with 9 bytes as a result of read"),
        ("whole", results(1, result(0, 0, bytes(7))), "7 bytes as a result of pipe2"),
        ("poll", results(1, result(1, 0)), "0 buffers with 0 bytes as a result of poll"),
        ("poll", results(1, result(1, 0, b"\0")), "1 buffers with 1 bytes as a result of poll"),
        (
            "read_until",
            results(1, result(1, 0, b"abc", be32(2, 0))),
            "2 buffers with 11 bytes as a result of reads",
        ),
    ],
)
def test_results_that_cannot_be(what: str, reply: bytes, said: str) -> None:
    with pytest.raises(AgentLost, match=said):
        ASKED[what](liar(reply))


def test_results_that_can_be() -> None:
    """What an honest agent sends in the same cases."""
    assert liar(results(1, result(2, 0, b"ab"))).read(3, 8).data == b"ab"
    found = liar(results(1, result(2, 0, b"ab", be32(2, 0, 0, 0)))).read_until(3, 8)
    assert [(one.ret, one.data) for one in found.reads] == [(2, b"ab"), (0, b"")]
    with pytest.raises(Timeout, match="close in the guest did not return"):
        liar(results(0, timed_out=1)).close(3)
    stopping = liar(results(1, result(-1, 2))).batch()
    for _ in range(2):
        stopping.open("/x")
    assert [one.errno for one in stopping.run(stop=True)] == [2]


def outcome(state: int, code: int, flags: int = 0) -> bytes:
    """Of a program without output."""
    return be32(0, 1) + struct.pack(">BBIQ", state, flags, code, 0) + be32(0, 0)


@pytest.mark.parametrize(
    ("state", "code"), [(0, 0), (1, 256), (1, 1 << 31), (2, 0), (2, 128), (3, 0), (3, 4096), (4, 0)]
)
def test_end_of_a_program_that_cannot_be(state: int, code: int) -> None:
    with pytest.raises(AgentLost, match=f"an impossible end of 'x': state {state}, flags 0"):
        liar(outcome(state, code)).run(["x"])


def test_ends_of_a_program_that_can_be() -> None:
    assert liar(outcome(1, 255)).run(["x"]).status == 255
    assert liar(outcome(2, 127)).run(["x"]).signal == 127
    assert liar(outcome(0, 0, flags=1)).run(["x"]).timed_out
    with pytest.raises(FileNotFoundError):
        liar(outcome(3, 2)).run(["x"])


def test_file_without_an_end() -> None:
    """A link to /dev/zero, for instance."""
    chunk = be32(0, 4 << 20) + bytes(4 << 20)
    with pytest.raises(ZvmlabError, match="^/out/x in the guest has more than 9000000 bytes$"):
        liar(chunk, chunk, be32(0, 611393) + bytes(611393)).read_file("/out/x", 9_000_000)
    whole = liar(chunk, chunk, be32(0, 611392) + bytes(611392)).read_file("/out/x", 9_000_000)
    assert len(whole) == 9_000_000


def test_more_of_a_file_than_was_asked_for() -> None:
    with pytest.raises(AgentLost, match="sent 12 bytes of /x instead of 11"):
        liar(be32(0, 12) + bytes(12)).read_file("/x", 10)


def test_steps_of_loading_that_name_no_module() -> None:
    """The module itself is loaded all the same."""
    steps = b"a:\n"
    loaded = liar(be32(0, len(steps)) + steps, be32(0, 0)).modprobe("a")
    assert (loaded.errno, loaded.what) == (0, "loading a")


@pytest.mark.parametrize("record", [b"6,\xc2\xb2,3,-;x", b"6,1;x", b"6," + b"9" * 5000 + b",1,-;x"])
def test_records_that_are_none(record: bytes) -> None:
    good = b"6,12,3000000,-;text\n SUBSYSTEM=x\n"
    reply = be32(0) + bytes(17) + be32(len(good) + len(record)) + good + record
    assert [(one.sequence, one.text) for one in liar(reply).dmesg()] == [(12, "text")]


def test_log_without_an_end() -> None:
    """Each part says that there are more."""
    part = be32(0) + struct.pack(">QQB", 1, 0, 1) + be32(0)
    with pytest.raises(ZvmlabError, match="logs faster than its log can be read"):
        liar(*[part] * 100).dmesg()
    with pytest.raises(ZvmlabError, match="logs faster than its log can be read"):
        liar(*[part] * 100).log_position()


def test_refusal_is_told_by_its_number() -> None:
    with pytest.raises(ZvmlabError, match=f"refused HELLO: status {Status.BUSY.value}$"):
        liar(b"", status=Status.BUSY).hello()


def test_os_error_tells_the_file() -> None:
    with pytest.raises(PermissionError) as caught:
        liar(be32(13, 0)).read_file("/x")
    assert (caught.value.filename, caught.value.strerror) == ("/x", os.strerror(13))
