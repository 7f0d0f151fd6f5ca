# SPDX-License-Identifier: MIT
"""The agent's requests, executed by this machine's kernel: system calls and batches."""

from __future__ import annotations

import errno
import os
import re
import select
import socket
import struct
import termios
from collections.abc import Iterator
from pathlib import Path

import host_agent
import pytest

from zvmlab.agent import wire as agent_wire
from zvmlab.agent.agent import Agent
from zvmlab.agent.calls import Bad, Both, Iovec, Message, Out, encode_call
from zvmlab.agent.wire import (
    VERSION,
    AgentError,
    AgentLost,
    BadKind,
    Call,
    Power,
    Request,
    Status,
    Writer,
)
from zvmlab.base.errors import UsageError
from zvmlab.builder.image import agent_source

PAGE = os.sysconf("SC_PAGESIZE")
MMAP = (3, 0x22)  # PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS


@pytest.fixture(scope="module", params=["native", "asan"])
def binary(request: pytest.FixtureRequest) -> Path:
    """The agent compiled for this machine."""
    return host_agent.build(request.param)


@pytest.fixture
def agent(binary: Path) -> Iterator[Agent]:
    """An agent that has answered HELLO."""
    with host_agent.running(binary) as (stream, _):
        yield Agent(stream)


def pipe(agent: Agent) -> tuple[int, int]:
    result = agent.call(Call.PIPE2, Out(8, whole=True), 0)
    assert result.ret == 0
    reader, writer = agent.unpack("ii", result.data)
    return reader, writer


def test_numbers_are_those_of_the_agent() -> None:
    text = (agent_source() / "proto.h").read_text()
    names = {"REQ_": Request, "ST_": Status, "CALL_": Call, "OP_": agent_wire.Op}
    names |= {"ARG_": agent_wire.Arg, "BAD_": BadKind}
    for prefix, numbers in names.items():
        body = re.search(rf"enum \w+ \{{([^}}]*\b{prefix}[^}}]*)\}}", text)
        assert body is not None
        value, found = 0, {}
        for name, number in re.findall(rf"\b{prefix}(\w+)(?: = (\w+))?,", body.group(1)):
            value = int(number, 0) if number else value + 1
            found[name] = value
        found.pop("END", None)
        assert found == {member.name: member.value for member in numbers}
    for flag in agent_wire.PowerFlag:
        assert f"POWER_{flag.name} = {flag.value}" in text
    for name in ("WORKERS", "OPS_MAX", "READS_MAX", "FILL_BYTE", "LIMIT_MAX_MS", "REPLY_BIT"):
        match = re.search(rf"{name}\s*=?\s*(0x[0-9a-f]+|\d+)u?", text)
        assert match is not None and int(match.group(1), 0) == getattr(agent_wire, name), name


def test_hello(agent: Agent) -> None:
    info = agent.info
    assert (info.version, info.byteorder, info.machine) == (VERSION, "little", False)
    assert (info.page_size, info.busy) == (PAGE, 0)
    assert (info.release, info.architecture) == (os.uname().release, os.uname().machine)
    assert (info.request_max, info.reply_max) == (agent_wire.REQUEST_MAX, agent_wire.REPLY_MAX)
    assert Path(f"/proc/{info.pid}/exe").resolve().name.startswith("zvmlab-agent.")


def test_open_read_write_close(agent: Agent, tmp_path: Path) -> None:
    file = tmp_path / "file"
    assert agent.open(str(file)).errno == errno.ENOENT
    fd = agent.open(str(file), os.O_RDWR | os.O_CREAT, 0o640).check()
    assert file.stat().st_mode & 0o777 == 0o640 & ~os.umask(os.umask(0))
    assert agent.write(fd, b"hello, world").ret == 12
    assert agent.lseek(fd, 7).ret == 7
    read = agent.read(fd, 100)
    assert (read.ret, read.errno, read.data, read.overrun) == (5, 0, b"world", False)
    assert agent.pread(fd, 4, 1).data == b"ello"
    assert agent.pwrite(fd, b"J", 0).ret == 1
    assert agent.read(fd, 10).ret == 0
    assert agent.lseek(fd, -1).errno == errno.EINVAL
    assert agent.close(fd).ret == 0
    closed = agent.close(fd)
    assert (closed.ret, closed.errno) == (-1, errno.EBADF)
    with pytest.raises(OSError) as caught:
        closed.check()
    assert caught.value.errno == errno.EBADF
    assert file.read_bytes() == b"Jello, world"


def test_large_read_arrives_in_full(agent: Agent, tmp_path: Path) -> None:
    data = bytes(range(256)) * (5 * 4096)
    (tmp_path / "file").write_bytes(data)
    fd = agent.open(str(tmp_path / "file")).check()
    assert agent.read(fd, len(data) + 1).data == data
    huge = agent.read(agent.open("/dev/zero").check(), 64 << 20)
    assert (huge.ret, len(huge.data), huge.data.count(0)) == (64 << 20, 64 << 20, 64 << 20)
    with pytest.raises(AgentError) as caught:
        agent.read(fd, agent_wire.REPLY_MAX)
    assert caught.value.status == Status.MALFORMED


@pytest.mark.parametrize("valid", [0, 1, 100, PAGE - 1, PAGE, PAGE + 1])
def test_read_into_partly_mapped_memory(agent: Agent, valid: int) -> None:
    fd = agent.open("/dev/zero").check()
    result = agent.read(fd, Bad(BadKind.PARTIAL, 3 * PAGE, valid))
    assert (result.ret, result.errno) == ((valid, 0) if valid else (-1, errno.EFAULT))
    assert result.data == bytes(valid)


def test_efault_keeps_what_was_there_before(agent: Agent) -> None:
    reader, writer = pipe(agent)
    assert agent.write(writer, b"x" * 100).ret == 100
    result = agent.call(Call.READ, reader, Bad(BadKind.PARTIAL, 100, 0), 100)
    assert (result.ret, result.errno) == (-1, errno.EFAULT)
    assert agent.read(reader, 200).data == b"x" * 100
    result = agent.call(Call.IOCTL, 1000, 0, Bad(BadKind.PARTIAL, 100, 10))
    assert (result.errno, result.data) == (errno.EBADF, b"\xa5" * 10)


@pytest.mark.parametrize("kind", [BadKind.UNMAPPED, BadKind.READONLY])
def test_read_into_bad_memory(agent: Agent, kind: BadKind) -> None:
    fd = agent.open("/dev/zero").check()
    result = agent.read(fd, Bad(kind, 1000))
    assert (result.ret, result.errno, result.data) == (-1, errno.EFAULT, b"")
    assert agent.call(Call.READ, fd, 0, 1000).errno == errno.EFAULT
    assert agent.call(Call.READ, fd, -PAGE, 1).errno == errno.EFAULT


def test_write_from_bad_memory(agent: Agent, tmp_path: Path) -> None:
    fd = agent.open(str(tmp_path / "file"), os.O_RDWR | os.O_CREAT).check()
    assert agent.write(fd, Bad(BadKind.UNMAPPED, 100)).errno == errno.EFAULT
    assert agent.write(fd, Bad(BadKind.READONLY, 100)).ret == 100
    assert (tmp_path / "file").read_bytes() == bytes(100)


def test_vectors(agent: Agent, tmp_path: Path) -> None:
    fd = agent.open(str(tmp_path / "file"), os.O_RDWR | os.O_CREAT).check()
    assert agent.writev(fd, [b"one", b"", b"three"]).ret == 8
    agent.lseek(fd, 0)
    result = agent.readv(fd, [2, 0, 4, 10])
    assert (result.ret, result.buffers) == (8, [b"on", b"", b"ethr", b"ee"])
    agent.lseek(fd, 0)
    result = agent.readv(fd, [3, Bad(BadKind.UNMAPPED, 5)])
    assert (result.ret, result.buffers) == (3, [b"one"])
    result = agent.call(Call.READV, fd, Iovec([Out(1)]), 5000)
    assert result.errno == errno.EINVAL


def test_messages(agent: Agent) -> None:
    """Name, parts and control messages of sendmsg and recvmsg, each with a length of its own."""
    here = socket.inet_aton("127.0.0.1")
    nobody = struct.pack("=H", socket.AF_INET) + struct.pack("!H4s8x", 0, here)
    taker, giver = (
        agent.call(Call.SOCKET, socket.AF_INET, socket.SOCK_DGRAM, 0).check() for _ in range(2)
    )
    agent.call(Call.BIND, taker, nobody, len(nobody)).check()
    found = agent.call(Call.GETSOCKNAME, taker, Out(16, whole=True), Both(struct.pack("=i", 16)))
    name = found.buffers[0]
    sent = Message(Iovec([b"one", b"two"]), 2, name=name, name_size=16)
    assert agent.call(Call.SENDMSG, giver, sent, 0).ret == 6
    room = Message(Iovec([Out(2), Out(9)]), 2, name=Both(bytes(16)), name_size=16)
    result = agent.call(Call.RECVMSG, taker, room, 0)
    assert result.ret == 6
    assert room.received(result.buffers) == b"onetwo"
    assert result.buffers[0][4:8] == here
    cut = sent._replace(parts_count=1, control=b"short", control_size=5)
    assert agent.call(Call.SENDMSG, giver, cut, 0).ret == 3
    lies = sent._replace(control=Bad(BadKind.UNMAPPED, 100), control_size=100)
    assert agent.call(Call.SENDMSG, giver, lies, 0).errno == errno.EFAULT
    for fd in (taker, giver):
        agent.close(fd).check()


def test_whole_buffer_shows_what_the_call_left_alone(agent: Agent) -> None:
    reader, writer = pipe(agent)
    agent.write(writer, b"abc")
    assert agent.call(Call.READ, reader, Out(8, whole=True), 8).data == b"abc" + b"\xa5" * 5


def test_overrun_is_noticed(agent: Agent) -> None:
    result = agent.call(Call.READ, agent.open("/dev/zero").check(), Out(10), 12)
    assert (result.ret, result.overrun, len(result.data)) == (12, True, 10)
    exact = agent.call(Call.READ, agent.open("/dev/zero").check(), Out(10), 10)
    assert (exact.ret, exact.overrun) == (10, False)


def test_ioctl(agent: Agent) -> None:
    reader, writer = pipe(agent)
    agent.write(writer, bytes(77))
    result = agent.ioctl(reader, termios.FIONREAD, Both(agent.pack("i", -1)))
    assert agent.unpack("i", result.data) == (77,)
    assert agent.ioctl(reader, termios.TCGETS, Out(64)).errno == errno.ENOTTY


def test_poll(agent: Agent) -> None:
    reader, writer = pipe(agent)
    nothing = agent.poll([(reader, select.POLLIN)], 0)
    assert (nothing.ret, nothing.revents) == (0, [0])
    agent.write(writer, b"x")
    some = agent.poll([(reader, select.POLLIN), (writer, select.POLLIN), (999, 1)], 1000)
    assert (some.ret, some.revents) == (2, [select.POLLIN, 0, select.POLLNVAL])
    agent.close(writer)
    agent.read(reader, 1)
    assert agent.poll([(reader, select.POLLIN)], 1000).revents == [select.POLLHUP]


def test_mappings_and_references(agent: Agent, tmp_path: Path) -> None:
    batch = agent.batch()
    memory = batch.mmap(-1, 2 * PAGE, *MMAP)
    fd = batch.open("/dev/zero")
    read = batch.call(Call.READ, fd, memory + PAGE - 8, 16)
    unmap = batch.munmap(memory + PAGE, PAGE)
    half = batch.call(Call.READ, fd, memory + PAGE - 8, 16)
    closed = batch.close(fd)
    results = batch.run()
    assert results[memory].ret > 0 and results[memory].ret % PAGE == 0
    assert [results[op].ret for op in (read, unmap, half, closed)] == [16, 0, 8, 0]
    assert agent.munmap(results[memory].ret, PAGE).ret == 0
    node = tmp_path / "fifo"
    assert agent.mknod(str(node), 0o10600).ret == 0
    assert node.is_fifo()
    assert agent.unlink(str(node)).ret == 0
    assert agent.mkdir(str(node)).ret == 0
    assert agent.symlink("fifo", str(tmp_path / "link")).ret == 0
    assert os.readlink(tmp_path / "link") == "fifo"
    assert agent.mount("none", str(tmp_path / "none"), "tmpfs").errno == errno.ENOENT


def test_batch_stops_at_a_failure_only_if_asked(agent: Agent) -> None:
    batch = agent.batch()
    fd = batch.open("/nonexistent")
    batch.read(fd, 10)
    batch.open("/dev/null")
    assert [(r.ret, r.errno) for r in batch.run(stop=True)] == [(-1, errno.ENOENT)]
    results = batch.run()
    assert [r.errno for r in results] == [errno.ENOENT, errno.EBADF, 0]
    assert len(agent.batch().run()) == 0


def test_too_many_operations(agent: Agent) -> None:
    batch = agent.batch()
    for _ in range(agent_wire.OPS_MAX):
        batch.call(Call.GETPID)
    with pytest.raises(UsageError, match="1024"):
        batch.call(Call.GETPID)
    assert {result.ret for result in batch.run()} == {agent.info.pid}


def test_read_until(agent: Agent, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")
    batch = agent.batch()
    fd = batch.open(str(tmp_path / "file"))
    everything = batch.read_until(fd, 4)
    batch.lseek(fd, 0)
    two = batch.read_until(fd, 4, reads=2)
    zeros = batch.read_until(fd, 100, zeros=3)
    bad = batch.read_until(-1, 4)
    results = batch.run()
    reads = [(r.ret, r.errno, r.data) for r in results[everything].reads]
    assert reads == [(4, 0, b"0123"), (4, 0, b"4567"), (2, 0, b"89"), (0, 0, b"")]
    assert (results[everything].ret, results[everything].full) == (4, False)
    assert [r.data for r in results[two].reads] == [b"0123", b"4567"]
    assert [r.ret for r in results[zeros].reads] == [2, 0, 0, 0]
    assert [(r.ret, r.errno) for r in results[bad].reads] == [(-1, errno.EBADF)]
    assert results[bad].errno == errno.EBADF


def test_read_until_the_reply_is_full(agent: Agent) -> None:
    fd = agent.open("/dev/zero").check()
    batch = agent.batch()
    batch.read_until(fd, 1000, max_bytes=3500)
    batch.read_until(fd, 1 << 20)
    small, large = batch.run()
    assert (small.ret, small.full) == (3, True)
    assert (large.ret, large.full) == (64, True)


def test_read_until_with_poll(agent: Agent) -> None:
    reader, writer = pipe(agent)
    assert agent.fcntl(reader, 4, os.O_NONBLOCK).ret == 0
    assert agent.read(reader, 1).errno == errno.EAGAIN
    agent.write(writer, b"abc")
    result = agent.read_until(reader, 2, poll_ms=50)
    reads = [(r.ret, r.errno) for r in result.reads]
    assert reads == [(2, 0), (1, 0), (-1, errno.ETIMEDOUT)]


def test_sockets(agent: Agent, tmp_path: Path) -> None:
    fd = agent.call(Call.SOCKET, socket.AF_UNIX, socket.SOCK_STREAM, 0).check()
    address = agent.pack("H", socket.AF_UNIX) + os.fsencode(tmp_path / "s") + b"\0"
    assert agent.call(Call.BIND, fd, address, len(address)).ret == 0
    assert agent.call(Call.LISTEN, fd, 1).ret == 0
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(tmp_path / "s"))
        client.sendall(b"question")
        other = agent.call(Call.ACCEPT4, fd, 0, 0, 0).check()
        assert agent.call(Call.RECVFROM, other, Out(20), 20, 0, 0, 0).data == b"question"
        assert agent.call(Call.SENDTO, other, b"answer", 6, 0, 0, 0).ret == 6
        assert client.recv(10) == b"answer"


def test_power_ends_the_program_not_the_machine(binary: Path) -> None:
    with host_agent.running(binary) as (stream, process):
        agent = Agent(stream)
        agent.power(Power.OFF)
        assert process.wait(60) == 0
        with pytest.raises(AgentLost, match="was closed"):
            agent.hello()


def test_a_dead_agent_is_noticed(binary: Path) -> None:
    with pytest.raises(AssertionError), host_agent.running(binary) as (stream, process):
        agent = Agent(stream)
        process.kill()
        with pytest.raises(AgentLost, match="ended the connection"):
            agent.call(Call.GETPID)


def test_an_unknown_version_is_refused(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zvmlab.agent.agent.VERSION", VERSION + 1)
    with pytest.raises(UsageError, match=f"protocol version {VERSION}, not {VERSION + 1}"):
        type(agent).__init__(agent, agent.channel._stream)


def test_requests_that_are_too_large(agent: Agent) -> None:
    with pytest.raises(UsageError, match="exceeds"):
        agent.write(1, bytes(agent_wire.REQUEST_MAX))
    assert agent.call(Call.GETPID).ret == agent.info.pid


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        Writer().u32(0).u32(0).u16(0).payload(),
        Writer().u32(1000).u32(0).u16(1025).payload(),
        Writer().u32(1000).u32(0).u16(1).payload(),
        Writer().u32(1000).u32(0).u16(0).u8(1).payload(),
        Writer().u32(1000).u32(0).u16(1).u8(99).payload(),
        Writer().u32(1000).u32(0).u16(1).payload() + encode_call(Call.CLOSE, [0] * 7),
        Writer().u32(1000).u32(0).u16(1).payload() + struct.pack(">BHB", 1, 0, 0),
        Writer().u32(1000).u32(0).u16(1).payload() + struct.pack(">BHB", 1, max(Call) + 1, 0),
        Writer().u32(1000).u32(0).u16(1).payload() + struct.pack(">BHBBH8x", 1, 2, 1, 1, 0),
        Writer().u32(1000).u32(0).u16(1).payload()
        + encode_call(Call.READV, [0, Iovec([Out(1)] * 65), 65]),
        Writer().u32(1000).u32(0).u16(1).payload()
        + encode_call(Call.SENDMSG, [0, *[Message(Iovec([b""]), 1)] * 2]),
        Writer().u32(1000).u32(0).u16(1).payload()
        + encode_call(Call.READ, [0, Bad(BadKind.PARTIAL, 10, 11), 10]),
        Writer().u32(1000).u32(0).u16(1).payload() + struct.pack(">BH", 2, 65),
    ],
)
def test_malformed_batches(agent: Agent, payload: bytes) -> None:
    with pytest.raises(AgentError) as caught:
        agent.ask(Request.BATCH, payload, "nonsense")
    assert caught.value.status == Status.MALFORMED
    assert agent.call(Call.GETPID).ret == agent.info.pid
