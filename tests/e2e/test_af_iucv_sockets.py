# SPDX-License-Identifier: MIT
"""AF_IUCV, call by call: sockets of the guest with one another and with users played here."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import stat
import struct
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from failing import Failing, void
from waiting import LIMIT, wait_until
from memory import UNCACHED, settled
from iucv_socket import (
    AF_IUCV,
    MSG_DONTWAIT,
    MSG_EOR,
    MSG_NOSIGNAL,
    MSG_OOB,
    MSG_PEEK,
    MSG_TRUNC,
    NONBLOCK,
    SEQPACKET,
    SHUT_RD,
    SHUT_RDWR,
    SHUT_WR,
    SO_ERROR,
    SO_IPRMDATA_MSG,
    SO_MSGLIMIT,
    SO_MSGSIZE,
    SO_RCVBUF,
    SO_SNDTIMEO,
    SOL_IUCV,
    SOL_SOCKET,
    STREAM,
    Socket,
    address,
    class_message,
    cmsg,
)
from test_af_iucv import pattern
from zvmlab.agent.calls import Bad, Out
from zvmlab.agent.worker import Worker
from zvmlab.agent.wire import BadKind, Call
from zvmlab.base.errors import GuestPanic
from zvmlab.builder.kernel import slowness
from zvmlab.cp.afiucv import (
    SHUTDOWN,
    AfIucvListener,
    AfIucvRefused,
    AfIucvStream,
    connect,
    iprm,
    name_bytes,
)
from zvmlab.cp.faults import Fault, armed
from zvmlab.cp.peer import EventType, Flag, Peer
from zvmlab.guest.guest import Guest
from zvmlab.monitor.steps import await_sleep, thread_of

if TYPE_CHECKING:
    from conftest import Build

GUEST = "LINUX001"
KINDS = pytest.mark.parametrize("kind", [STREAM, SEQPACKET], ids=["stream", "seqpacket"])
# System calls of s390x (asm/unistd.h).
CLOSE, SENDTO, RECVFROM = 6, 369, 371
# What one call takes whatever its pages are like; the kernel has room for 16 of them.
MOST = 60_000
MESSAGES = (EventType.MSG_PENDING, EventType.PRIO_PENDING)
# The partner has rejected the message.
IPADRJCT = 0x040000


@pytest.fixture
def worker(warm_guest: Guest) -> Worker:
    return warm_guest.agent.worker("sockets")


@pytest.fixture
def peer(warm_guest: Guest) -> Iterator[Peer]:
    with Peer(warm_guest.control, "PARTNER") as found:
        yield found


@contextlib.contextmanager
def pair(worker: Worker, kind: int = STREAM) -> Iterator[tuple[Socket, Socket]]:
    """Two sockets of the guest that are connected: who connected, who accepted."""
    with (
        Socket.make(worker, kind, "SERVER") as server,
        Socket.make(worker, kind, "CLIENT") as client,
    ):
        server.listen(1)
        client.connect(GUEST, "SERVER")
        with server.accept() as accepted:
            server.close()
            yield client, accepted


@contextlib.contextmanager
def to_peer(
    worker: Worker, peer: Peer, kind: int = STREAM, limit: int = 0
) -> Iterator[tuple[Socket, AfIucvStream]]:
    """A socket of the guest that has connected to PARTNER, and the other end."""
    with Socket.make(worker, kind, "CLIENT") as client:
        if limit:
            client.set_option(SO_MSGLIMIT, limit).check()
        batch = worker.batch()
        at = struct.pack(">HHI8s8s8s", 32, 0, 0, b" " * 8, b"PARTNER ", b"ECHO    ")
        done = batch.call(Call.CONNECT, client.fd, at, len(at))
        pending = batch.start(LIMIT)
        with AfIucvListener(peer, "ECHO").accept(LIMIT) as stream:
            pending.result(LIMIT)[done].check()
            yield client, stream


@contextlib.contextmanager
def from_peer(
    worker: Worker, peer: Peer, kind: int = STREAM
) -> Iterator[tuple[Socket, AfIucvStream]]:
    """A socket of the guest that has accepted PARTNER's connection, and the other end."""
    with Socket.make(worker, kind, "SERVER") as server:
        server.listen(1)
        with connect(peer, GUEST, "SERVER", timeout=LIMIT) as stream:
            with server.accept() as accepted:
                yield accepted, stream


def later(worker: Worker, call: Call, *arguments: object) -> Callable[[], tuple[int, int, bytes]]:
    """Begin a call that may sleep; what comes back waits for its result."""
    batch = worker.batch()
    done = batch.call(call, *arguments)  # type: ignore[arg-type]
    pending = batch.start(LIMIT)

    def wait() -> tuple[int, int, bytes]:
        reply = pending.result(LIMIT)
        assert not reply.timed_out, "it slept forever"
        return reply[done].ret, reply[done].errno, reply[done].data

    return wait


@pytest.mark.representative
@pytest.mark.requirement("I1")
@pytest.mark.parametrize("size", [1, 7, 8, 4095, 4096, 4097, 60_000, 1 << 20])
def test_stream_of_any_size_both_ways(worker: Worker, size: int) -> None:
    """A call sends all, the other side reads in pieces of its own."""
    data, answer = pattern(size, 1), pattern(size, 2)
    with pair(worker) as (client, accepted):
        for sender, receiver, what in ((client, accepted, data), (accepted, client, answer)):
            for at in range(0, size, MOST):
                part = what[at : at + MOST]
                assert sender.send(part) == len(part)
                assert receiver.recv_all(len(part)) == part


@pytest.mark.representative
@pytest.mark.requirement("I2")
def test_records_keep_their_bounds(worker: Worker) -> None:
    """A record is read by one call, whole or cut; the rest of a cut one is lost."""
    with pair(worker, SEQPACKET) as (client, accepted):
        for size in (5, 1, 8000, 3):
            assert client.send(pattern(size, size), MSG_EOR) == size
        first = accepted.recvmsg(100)
        assert (first.data, first.flags & MSG_EOR) == (pattern(5, 5), MSG_EOR)
        assert accepted.recv(100) == pattern(1, 1)
        cut = accepted.recvmsg(10)
        assert cut.data == pattern(8000, 8000)[:10]
        assert cut.flags & (MSG_EOR | MSG_TRUNC) == MSG_EOR | MSG_TRUNC
        assert accepted.try_recv(1, MSG_TRUNC).ret == 3
        assert accepted.try_recv(1, MSG_DONTWAIT).errno == errno.EAGAIN


@pytest.mark.requirement("I2")
def test_record_without_its_end_is_refused(worker: Worker) -> None:
    with pair(worker, SEQPACKET) as (client, _):
        assert client.try_send(b"x").errno == errno.EOPNOTSUPP
        assert client.try_send(b"x", MSG_EOR | MSG_OOB).errno == errno.EOPNOTSUPP


@KINDS
@pytest.mark.requirement("I3")
def test_peeking_takes_nothing(worker: Worker, kind: int) -> None:
    with pair(worker, kind) as (client, accepted):
        client.send(b"first", MSG_EOR)
        client.send(b"second", MSG_EOR)
        for _ in range(3):
            assert accepted.recv(100, MSG_PEEK) == b"first"
            assert accepted.recv(2, MSG_PEEK) == b"fi"
        if kind == STREAM:
            assert accepted.recv(2) == b"fi"
            assert accepted.recv(100, MSG_PEEK) == b"rst"
            assert accepted.recv(100) == b"rst"
        else:
            assert accepted.recv(100) == b"first"
        assert accepted.recv(100, MSG_PEEK) == b"second"
        assert accepted.recv(100) == b"second"


@KINDS
@pytest.mark.requirement("I4")
@pytest.mark.parametrize("size", [3000, 4097, 20_000, 65_536])
def test_large_message_is_one_message(worker: Worker, peer: Peer, kind: int, size: int) -> None:
    """The guest gives CP a list of pages that need not be adjacent, or one address."""
    data = pattern(size, 3)
    with to_peer(worker, peer, kind) as (client, stream):
        assert client.option(SO_MSGSIZE) >= size
        assert client.send(data, MSG_EOR) == size
        event = peer.wait(MESSAGES, LIMIT, stream.path)
        assert event.length == size
        assert peer.receive(stream.path, event.msgid, event.trgcls, size) == data
        stream.send_message(data)
        assert client.recv_all(size) == data


@pytest.mark.requirement("I5")
def test_target_class_travels_with_each_message(worker: Worker, peer: Peer) -> None:
    """SCM_IUCV_TRGCLS sets it and shows it, for data in buffers and in the parameter list."""
    with to_peer(worker, peer) as (client, stream):
        client.set_option(SO_IPRMDATA_MSG, 1).check()
        for trgcls, data in ((0, b"x"), (1, b"short"), (0xFFFFFFFF, pattern(5000, 4)), (7, b"")):
            if data:
                assert client.sendmsg(data, class_message(trgcls)).check() == len(data)
                event = peer.wait(MESSAGES, LIMIT, stream.path)
                assert event.trgcls == trgcls
                if not event.flags & Flag.RMDATA:
                    peer.receive(stream.path, event.msgid, event.trgcls, event.length)
                peer.send(stream.path, data, trgcls)
                found = client.recvmsg(10_000)
                assert (found.data, found.trgcls) == (data, trgcls)
        client.send(b"without")
        assert peer.wait(MESSAGES, LIMIT, stream.path).trgcls == 0


@pytest.mark.requirement("I5")
def test_wrong_ancillary_data_is_refused(worker: Worker) -> None:
    """Another length or type, the same twice; other levels are ignored."""
    with pair(worker) as (client, accepted):
        right = class_message(9)
        for wrong in (
            cmsg(SOL_IUCV, 1, bytes(3)),
            cmsg(SOL_IUCV, 1, bytes(8)),
            cmsg(SOL_IUCV, 2, bytes(4)),
            right + right,
        ):
            assert client.sendmsg(b"wrong", wrong).errno == errno.EINVAL
        other = cmsg(SOL_SOCKET, 0x7F, b"else")
        assert client.sendmsg(b"right", right).check() == 5
        found = accepted.recvmsg(100)
        assert (found.data, found.trgcls) == (b"right", 9)
        assert client.sendmsg(b"other", other).errno in (0, errno.EINVAL)


@pytest.mark.representative
@pytest.mark.requirement("I6")
def test_up_to_seven_bytes_in_the_parameter_list(worker: Worker, peer: Peer) -> None:
    """If the socket wants it: the last byte says how many; eight take a buffer."""
    with to_peer(worker, peer) as (client, stream):
        assert client.option(SO_IPRMDATA_MSG) == 0
        for wanted in (0, 1):
            client.set_option(SO_IPRMDATA_MSG, wanted).check()
            assert client.option(SO_IPRMDATA_MSG) == wanted
            for size in range(1, 10):
                data = pattern(size, size)
                client.send(data)
                event = peer.wait(MESSAGES, LIMIT, stream.path)
                assert bool(event.flags & Flag.RMDATA) == (wanted == 1 and size <= 7)
                if event.flags & Flag.RMDATA:
                    assert event.rmmsg == data.ljust(7, b"\0") + bytes([0xFF - size])
                else:
                    assert peer.receive(stream.path, event.msgid, 0, event.length) == data
                stream.send_message(data)
                assert client.recv(100) == data


@pytest.mark.requirement("I7")
def test_backlog(worker: Worker, peer: Peer) -> None:
    """As many connections as listen() allows, and one more, wait; further ones are refused."""
    with Socket.make(worker, name="SERVER") as server, contextlib.ExitStack() as stack:
        server.listen(3)
        assert server.ready(select.POLLIN) == 0
        for _ in range(4):
            stack.enter_context(connect(peer, GUEST, "SERVER", timeout=LIMIT))
        for _ in range(3):
            with pytest.raises(AfIucvRefused):
                connect(peer, GUEST, "SERVER", timeout=LIMIT)
        assert server.ready(select.POLLIN) == select.POLLIN
        first = stack.enter_context(server.accept())
        last = stack.enter_context(connect(peer, GUEST, "SERVER", timeout=LIMIT))
        for _ in range(4):
            accepted = stack.enter_context(server.accept())
        last.send(b"the last one")
        assert accepted.recv(100) == b"the last one"
        assert first.names(Call.GETPEERNAME) == ("PARTNER", "HARNESS")


@KINDS
@pytest.mark.requirement("I8")
def test_end_of_sending(worker: Worker, peer: Peer, kind: int) -> None:
    """The partner reads what came before, then the end; it may still send."""
    with to_peer(worker, peer, kind) as (client, stream):
        client.send(b"before", MSG_EOR)
        client.shutdown(SHUT_WR).check()
        assert client.try_send(b"after", MSG_EOR).errno == errno.EPIPE
        assert stream.recv(LIMIT) == b"before"
        assert stream.recv(LIMIT) == b""
        stream.send(b"answer")
        assert client.recv(100) == b"answer"
        stream.shut_down()
        assert client.recv(100) == b"" and client.recv(100) == b""
        assert client.ready(select.POLLIN | select.POLLRDHUP) & select.POLLRDHUP


@KINDS
@pytest.mark.requirement("I8")
def test_end_of_receiving(worker: Worker, kind: int) -> None:
    """The partner cannot send any more (QUIESCE); the other direction works."""
    with pair(worker, kind) as (client, accepted):
        client.shutdown(SHUT_RD).check()
        assert client.recv(100) == b""
        wait_until(
            lambda: accepted.try_send(b"x", MSG_EOR).errno == errno.EPIPE, "the path is quiesced"
        )
        assert client.send(b"still", MSG_EOR) == 5
        assert accepted.recv(100) == b"still"


@pytest.mark.requirement("I8")
def test_end_of_both(worker: Worker, peer: Peer) -> None:
    with to_peer(worker, peer) as (client, stream):
        client.shutdown(SHUT_RDWR).check()
        assert client.recv(10) == b"" and client.try_send(b"x").errno == errno.EPIPE
        assert stream.recv(LIMIT) == b""
        peer.wait(EventType.QUIESCED, LIMIT, stream.path)


@pytest.mark.requirement("I8")
def test_end_where_there_is_no_connection(worker: Worker) -> None:
    with Socket.make(worker, name="SERVER") as server:
        assert server.shutdown(3).errno == errno.EINVAL
        assert server.try_send(b"x").errno == errno.ENOTCONN
        server.listen(1)
        assert server.shutdown(SHUT_RDWR).errno == errno.ENOTCONN


@pytest.mark.requirement("I9")
def test_message_limit(worker: Worker, peer: Peer) -> None:
    """After this number of messages sending waits, or fails with EAGAIN, and poll reports it."""
    with to_peer(worker, peer, limit=3) as (client, stream):
        assert client.option(SO_MSGLIMIT) == 3
        for number in range(3):
            client.send(b"%d" % number)
        assert client.try_send(b"3", MSG_DONTWAIT).errno == errno.EAGAIN
        assert not client.ready(select.POLLOUT) & select.POLLOUT
        waiting = later(worker, Call.SENDTO, client.fd, b"3", 1, 0, 0, 0)
        assert stream.recv(LIMIT) == b"0"
        assert waiting()[:2] == (1, 0)
        assert [stream.recv(LIMIT) for _ in range(3)] == [b"1", b"2", b"3"]
        wait_until(lambda: client.ready(select.POLLOUT) & select.POLLOUT != 0, "room")


@pytest.mark.requirement("I9")
def test_message_limit_that_the_partner_lowers(worker: Worker, peer: Peer) -> None:
    """The limit that CP grants counts, not the one requested."""
    with Socket.make(worker, name="CLIENT") as client:
        client.set_option(SO_MSGLIMIT, 100).check()
        waiting = later(worker, Call.CONNECT, client.fd, *_address("PARTNER", "ECHO"))
        event = peer.wait(EventType.PENDING, LIMIT)
        assert event.msglim == 100
        peer.accept(event.path, event.ipuser[8:] + event.ipuser[:8], 2, Flag.RMDATA)
        assert waiting()[:2] == (0, 0)
        # The limit of its own messages is what its CONNECT was granted.
        paths = peer.call("query").cc
        assert paths == 0
        for number in range(100):
            assert client.try_send(b"%d" % number, MSG_DONTWAIT).errno == 0
        assert client.try_send(b"x", MSG_DONTWAIT).errno == errno.EAGAIN


def _address(user: str, name: str) -> tuple[bytes, int]:
    at = struct.pack(
        ">HHI8s8s8s", 32, 0, 0, b" " * 8, user.ljust(8).encode(), name.ljust(8).encode()
    )
    return at, len(at)


@pytest.mark.requirement("I9")
def test_limit_out_of_range_and_at_the_wrong_time(worker: Worker) -> None:
    with Socket.make(worker, name="SERVER") as server:
        for wrong in (0, -1, 65536):
            assert server.set_option(SO_MSGLIMIT, wrong).errno == errno.EINVAL
        for right in (1, 65535):
            server.set_option(SO_MSGLIMIT, right).check()
            assert server.option(SO_MSGLIMIT) == right
        server.listen(1)
        assert server.set_option(SO_MSGLIMIT, 5).errno == errno.EINVAL


@pytest.mark.requirement("I9")
def test_message_limit_that_cp_counts_is_eagain(
    warm_guest: Guest, worker: Worker, peer: Peer
) -> None:
    """CP refuses a message for its limit though the socket has counted fewer."""
    with to_peer(worker, peer) as (client, stream):
        before = warm_guest.agent.log_position()
        with armed(warm_guest.control, Fault("iucv.send", "rc", 3, name="PARTNER", times=1)):
            assert client.try_send(b"x").errno == errno.EAGAIN
        client.send(b"y")
        assert stream.recv(LIMIT) == b"y"
        texts = [line.text for line in warm_guest.agent.dmesg(before)]
        assert [text for text in texts if text.startswith("af_iucv:")] == [
            "af_iucv: Application ECHO     on z/VM guest PARTNER  exceeds message limit"
        ]


@pytest.mark.requirement("I10")
def test_severed_while_a_call_sleeps(warm_guest: Guest, worker: Worker, peer: Peer) -> None:
    """In recv, in send at the limit, in poll: each ends; later calls agree."""
    with to_peer(worker, peer, limit=1) as (client, stream):
        client.send(b"fills the limit")
        folder = thread_of(worker)
        sending = later(worker, Call.SENDTO, client.fd, b"x", 1, 0x4000, 0, 0)
        await_sleep(warm_guest.agent, folder, SENDTO)
        stream.close()
        ret, error, _ = sending()
        assert (ret, error) == (-1, errno.ECONNRESET)
        assert client.recv(10) == b""
        assert client.try_send(b"x").errno == errno.ENOTCONN
        assert client.shutdown(SHUT_WR).errno == errno.ENOTCONN
        assert client.ready(select.POLLIN) & select.POLLIN


@pytest.mark.requirement("I10")
def test_severed_with_data_unread(worker: Worker, peer: Peer) -> None:
    """Data that have arrived can be read; the end follows."""
    with from_peer(worker, peer) as (accepted, stream):
        stream.send(b"first")
        stream.send(b"second")
        wait_until(lambda: accepted.ready(select.POLLIN) & select.POLLIN != 0, "data")
        assert accepted.recv(3) == b"fir"
        stream.close()
        wait_until(lambda: accepted.try_send(b"x").errno == errno.ENOTCONN, "the sever")
        assert accepted.recv(100) == b"st"
        assert accepted.recv(100) == b"second"
        assert accepted.recv(100) == b""


@pytest.mark.requirement("I10")
def test_severed_before_accept(worker: Worker, peer: Peer) -> None:
    """accept() gives a connection whose partner has gone again, and what it had sent."""
    with Socket.make(worker, name="SERVER") as server:
        server.listen(5)
        with connect(peer, GUEST, "SERVER", timeout=LIMIT) as stream:
            stream.send(b"left behind")
            done = peer.wait(EventType.MSG_COMPLETE, LIMIT, stream.path)
            assert done.audit == 0
        with server.accept() as accepted:
            assert accepted.recv(100) == b"left behind"
            assert accepted.recv(100) == b""
        with connect(peer, GUEST, "SERVER", timeout=LIMIT) as stream, server.accept() as accepted:
            stream.send(b"next")
            assert accepted.recv(100) == b"next"


@pytest.mark.requirement("I10")
@pytest.mark.kernel_defect(
    14,
    "lockdep takes the locks of a listener and of who waits for one",
    seen=r"the guest's kernel reported a warning .*possible recursive locking detected.*",
    raises=GuestPanic,
    kernels=("debug",),
)
def test_listener_that_closes_severs_who_waits(guest: Guest) -> None:
    worker = guest.agent.worker("sockets")
    with Peer(guest.control, "PARTNER") as peer:
        with Socket.make(worker, name="SERVER") as server:
            server.listen(5)
            streams = [connect(peer, GUEST, "SERVER", timeout=LIMIT) for _ in range(3)]
        for stream in streams:
            assert stream.recv(LIMIT) == b""
            stream.close()
        with pytest.raises(AfIucvRefused):
            connect(peer, GUEST, "SERVER", timeout=LIMIT)


@pytest.mark.requirement("I10")
def test_closed_with_messages_under_way(worker: Worker, peer: Peer) -> None:
    """close() waits for the partner to take them, and severs afterwards."""
    with to_peer(worker, peer) as (client, stream):
        client.linger(LIMIT)
        for number in range(5):
            client.send(b"%d" % number)
        closing = later(worker, Call.CLOSE, client.fd)
        client.fd = -1
        assert [stream.recv(LIMIT) for _ in range(5)] == [b"%d" % number for number in range(5)]
        assert closing()[:2] == (0, 0)
        assert stream.recv(LIMIT) == b""


@pytest.mark.requirement("I10")
@pytest.mark.parametrize("rejected", ["before", "meanwhile"])
def test_closed_with_a_message_that_is_rejected(
    warm_guest: Guest, worker: Worker, peer: Peer, rejected: str
) -> None:
    """close() waits for the other ones: the partner takes two more, one after the other."""
    with to_peer(worker, peer) as (client, stream):
        client.linger(LIMIT)
        for data in (b"unwanted", b"wanted", b"too"):
            client.send(data)
        folder = thread_of(worker)
        event = peer.wait(MESSAGES, LIMIT, stream.path)
        if rejected == "before":
            peer.reject(stream.path, event.msgid, event.trgcls)
        closing = later(worker, Call.CLOSE, client.fd)
        client.fd = -1
        await_sleep(warm_guest.agent, folder, CLOSE)
        if rejected == "meanwhile":
            peer.reject(stream.path, event.msgid, event.trgcls)
        for data in (b"wanted", b"too"):
            assert stream.recv(LIMIT) == data
            # The guest hears of it before anything else that the agent is asked for.
            warm_guest.agent.read_file("/proc/version")
        assert closing()[:2] == (0, 0)


@pytest.mark.requirement("I11")
@pytest.mark.zvmlab(
    storage="0.512M", busybox=True, cp={"directory": "IUCV ALLOW;IUCV ANY;OPTION MAXCONN 65535"}
)
@pytest.mark.timeout(300)
def test_two_thousand_connections_at_once(guest: Guest, program: Build, zvmlab_kernel: str) -> None:
    """Sockets of one program have 4,000 paths; all carry data, and none is left."""
    count = 2000
    guest.agent.write_file("/tmp/iucvmany", program("iucvmany").read_bytes(), 0o755)
    guest.agent.mknod("/tmp/go", stat.S_IFIFO | 0o600).check()
    command = f"exec /tmp/iucvmany {GUEST} {count} < /tmp/go"
    process = guest.agent.worker("many").spawn(["/bin/sh", "-c", command])
    go = guest.agent.open("/tmp/go", os.O_WRONLY).check()
    limit = LIMIT * slowness(zvmlab_kernel)
    wait_until(lambda: paths(guest) >= 2 * count, "4,000 paths", lambda: paths(guest), limit)
    guest.agent.close(go).check()
    assert process.wait(limit).check().stdout == b"2000 connected\nclosed\n"
    assert paths(guest) < 10


def paths(guest: Guest) -> int:
    """How many of the guest's path ids are in use."""
    found = guest.control.execute("query-users")["users"]
    return next(int(user["paths"]) for user in found if user["name"] == GUEST)


@pytest.mark.requirement("I12")
def test_names(worker: Worker) -> None:
    """A name is bound once; without one the kernel makes one; the addresses say who is who."""
    with Socket.make(worker, name="SERVER") as server, Socket.make(worker) as other:
        assert other.try_bind("SERVER").errno == errno.EADDRINUSE
        assert server.try_bind("AGAIN").errno == errno.EBADFD
        assert server.names(Call.GETSOCKNAME) == (GUEST, "SERVER")
        server.listen(1)
        other.connect(GUEST, "SERVER")
        user, name = other.names(Call.GETSOCKNAME)
        assert user == GUEST and int(name, 16) > 0
        assert other.names(Call.GETPEERNAME) == (GUEST, "SERVER")
        with server.accept() as accepted:
            assert accepted.names(Call.GETSOCKNAME) == (GUEST, "SERVER")
            assert accepted.names(Call.GETPEERNAME) == (GUEST, name)


@pytest.mark.requirement("I12")
def test_wrong_kinds_and_addresses(worker: Worker) -> None:
    assert worker.call(Call.SOCKET, 32, 2, 0).errno == errno.ESOCKTNOSUPPORT
    assert worker.call(Call.SOCKET, 32, STREAM, 7).errno == errno.EPROTONOSUPPORT
    with Socket.make(worker) as made:
        at, length = _address("", "NAME")
        for call in (Call.BIND, Call.CONNECT):
            assert worker.call(call, made.fd, at, length - 1).errno == errno.EINVAL
            wrong = struct.pack(">H", 2) + at[2:]
            assert worker.call(call, made.fd, wrong, length).errno == errno.EINVAL
        assert worker.call(Call.LISTEN, made.fd, 1).errno == errno.EINVAL
        assert made.try_accept().errno == errno.EBADFD
        assert made.try_option(SO_MSGSIZE).errno == errno.EBADFD
        assert made.try_option(0x77).errno == errno.ENOPROTOOPT
        assert made.set_option(0x77, 1).errno == errno.ENOPROTOOPT


@pytest.mark.requirement("I13")
def test_connections_that_are_refused(warm_guest: Guest, worker: Worker, peer: Peer) -> None:
    """One error for each reason of CP's and of the partner's."""
    for code, error in (
        (0x0B, errno.ENETUNREACH),
        (0x0D, errno.EAGAIN),
        (0x0E, errno.EAGAIN),
        (0x0F, errno.EACCES),
        (0x0C, errno.ECONNREFUSED),
        (0x01, errno.ECONNREFUSED),
    ):
        with Socket.make(worker) as made:
            rule = Fault("iucv.connect", "rc", code, name="PARTNER")
            with armed(warm_guest.control, rule):
                assert made.try_connect("PARTNER", "ECHO").errno == error, hex(code)
    with Socket.make(worker) as made:
        assert made.try_connect("NOBODY", "ECHO").errno == errno.ENETUNREACH
    with Socket.make(worker) as made:
        assert made.try_connect(GUEST, "NOTHERE").errno == errno.ECONNREFUSED
    with Socket.make(worker) as made:
        waiting = later(worker, Call.CONNECT, made.fd, *_address("PARTNER", "ECHO"))
        event = peer.wait(EventType.PENDING, LIMIT)
        peer.sever(event.path)
        assert waiting()[:2] == (-1, errno.ECONNREFUSED)
        assert made.try_connect("PARTNER", "ECHO").errno == errno.EBADFD


@pytest.mark.requirement("I13")
def test_partner_that_does_not_answer(worker: Worker, peer: Peer) -> None:
    """connect() waits as long as SO_SNDTIMEO says, or until a signal, and takes it back."""
    with Socket.make(worker) as made:
        made.set_timeout(SO_SNDTIMEO, 1)
        assert made.try_connect("PARTNER", "ECHO").errno == errno.EAGAIN
        event = peer.wait(EventType.PENDING, LIMIT)
        peer.wait(EventType.SEVERED, LIMIT, event.path)
        peer.sever(event.path)
    with Socket.make(worker) as made:
        waiting = later(worker, Call.CONNECT, made.fd, *_address("PARTNER", "ECHO"))
        event = peer.wait(EventType.PENDING, LIMIT)
        assert worker.interrupt()
        assert waiting()[:2] == (-1, errno.EINTR)
        peer.wait(EventType.SEVERED, LIMIT, event.path)
        peer.sever(event.path)


SLOW = [
    Fault("interrupt", "delay", 2, name="PARTNER", type=9, nth=1),
    Fault("interrupt", "delay", 1, name="PARTNER", type=7, every=3),
    Fault("interrupt", "reorder", name="PARTNER", type=9, every=2),
    Fault("interrupt", "duplicate", name="PARTNER", type=9, every=3),
    Fault("interrupt", "duplicate", name="PARTNER", type=7, every=3),
    Fault("interrupt", "drop", name="PARTNER", type=9, every=3),
    Fault("peer.message", "delay", 3, user="PARTNER", every=4),
    Fault("peer.message", "reorder", user="PARTNER", every=2),
    Fault("peer.reply", "delay", 2, user="PARTNER", every=3),
]


@pytest.mark.requirement("I14")
@pytest.mark.parametrize("fault", SLOW, ids=lambda f: f"{f.point}-{f.kind}-{f.type}")
def test_cp_that_tells_late_or_twice_harms_nothing(
    warm_guest: Guest, worker: Worker, peer: Peer, fault: Fault
) -> None:
    """Fifty messages each way; the guest is as it was, and every socket can be closed.

    CP does not keep the order then, and neither does the stream; what arrives has been sent.
    """
    with armed(warm_guest.control, fault), from_peer(worker, peer) as (accepted, stream):
        sent = [struct.pack(">Q", number) for number in range(50)]
        for data in sent:
            stream.send(data)
            accepted.try_send(data, MSG_DONTWAIT)
        # What is held back at the end comes when the fault is gone, or not at all.
        wait_until(lambda: accepted.ready(select.POLLIN) & select.POLLIN != 0, "the first message")
        accepted.set_option(SO_RCVBUF, 1 << 20, SOL_SOCKET)
        found = []
        while data := accepted.try_recv(8, MSG_DONTWAIT).data:
            found.append(data)
        assert set(found) <= set(sent)
    with from_peer(worker, peer) as (accepted, stream):
        stream.send(b"afterwards")
        assert accepted.recv(100) == b"afterwards"


@pytest.mark.requirement("I14")
@pytest.mark.parametrize("order", ["sever first", "message first"])
def test_partner_that_sends_or_severs_while_connect_sleeps(
    worker: Worker, peer: Peer, order: str
) -> None:
    """It accepts, and at once sends or goes: the guest's connect() returns after both."""
    with Socket.make(worker) as made:
        waiting = later(worker, Call.CONNECT, made.fd, *_address("PARTNER", "ECHO"))
        event = peer.wait(EventType.PENDING, LIMIT)
        peer.accept(event.path, event.ipuser[8:] + event.ipuser[:8], 0, Flag.RMDATA)
        if order == "message first":
            peer.send(event.path, iprm(b"early"), flags=Flag.RMDATA)
            assert waiting()[:2] == (0, 0)
            assert made.recv(100) == b"early"
        peer.sever(event.path)
        if order == "sever first":
            assert waiting()[:2] in ((0, 0), (-1, errno.ECONNREFUSED))
        assert made.recv(100) == b""


@pytest.mark.requirement("I14")
def test_message_before_the_connection_is_complete(
    warm_guest: Guest, worker: Worker, peer: Peer
) -> None:
    """CP holds the interruption of the connection back until that of a message has come."""
    rule = Fault("interrupt", "delay", 1, name="PARTNER", type=2, nth=1)
    with armed(warm_guest.control, rule) as rules, Socket.make(worker) as made:
        made.set_timeout(SO_SNDTIMEO, LIMIT)
        waiting = later(worker, Call.CONNECT, made.fd, *_address("PARTNER", "ECHO"))
        event = peer.wait(EventType.PENDING, LIMIT)
        peer.accept(event.path, event.ipuser[8:] + event.ipuser[:8], 0, Flag.RMDATA)
        peer.send(event.path, b"before its connection")
        assert waiting()[:2] == (0, 0)
        assert made.recv(100) == b"before its connection"
    assert rules[0].fired == 1


@pytest.mark.requirement("I15")
def test_options(worker: Worker) -> None:
    """Options of the socket's own level only; values have four bytes."""
    with Socket.make(worker) as made:
        assert made.option(SO_ERROR, SOL_SOCKET) == 0
        assert made.option(SO_MSGLIMIT) == 0
        assert made.try_bind("NAME").errno == 0
        assert made.option(SO_MSGLIMIT) == 65535
        short = worker.call(Call.SETSOCKOPT, made.fd, SOL_IUCV, SO_MSGLIMIT, b"\0\0\1", 3)
        assert short.errno == errno.EINVAL
        for value in (0, 1, 0, 77):
            made.set_option(SO_IPRMDATA_MSG, value).check()
            assert made.option(SO_IPRMDATA_MSG) == (value != 0)


# What the kernel's own af_iucv does against this, and is to be mended there: docs/upstream-kernel.md.


@pytest.mark.requirement("I16")
@pytest.mark.kernel_defect(
    1, "poll does not show a connection that was severed before accept()", seen=r"assert 0 == 1"
)
def test_poll_shows_every_connection_that_accept_gives(worker: Worker, peer: Peer) -> None:
    """Otherwise a server that polls never takes them, and in the end refuses everybody."""
    with Socket.make(worker, name="SERVER") as server:
        server.listen(1)
        connect(peer, GUEST, "SERVER", timeout=LIMIT).close()
        shown = server.ready(select.POLLIN, 1000)
        server.accept().close()
        assert shown == select.POLLIN


@pytest.mark.requirement("I16")
@pytest.mark.kernel_defect(
    2, "a message of no bytes ends the stream", seen=r"assert b'' == b'after'"
)
def test_empty_message_does_not_end_the_stream(worker: Worker) -> None:
    """send() of nothing is no end of sending."""
    with pair(worker) as (client, accepted):
        client.send(b"")
        assert accepted.recv(100) == b""
        client.send(b"after")
        assert accepted.recv(100) == b"after"


@pytest.mark.requirement("I16")
@pytest.mark.kernel_defect(
    3,
    "a call that sleeps in recv() learns of a sever by ENOTCONN",
    seen=r"assert \(-1, 107\) == \(0, 0\)",
)
def test_recv_that_sleeps_gets_the_end_like_one_that_comes_later(
    warm_guest: Guest, worker: Worker, peer: Peer
) -> None:
    with to_peer(worker, peer) as (client, stream):
        folder = thread_of(worker)
        receiving = later(worker, Call.RECVFROM, client.fd, Out(100), 100, 0, 0, 0)
        await_sleep(warm_guest.agent, folder, RECVFROM)
        stream.close()
        first = receiving()[:2]
        assert client.recv(100) == b""
        assert first == (0, 0)


@pytest.mark.requirement("I16")
@pytest.mark.kernel_defect(
    4,
    "a parameter list with an impossible length is read as eight bytes that nobody sent",
    seen=r"assert 8 == 0",
)
def test_parameter_list_of_an_impossible_length_is_no_data(worker: Worker, peer: Peer) -> None:
    """Its last byte says 15 bytes: what comes to the program is memory of the kernel's."""
    with from_peer(worker, peer) as (accepted, stream):
        peer.send(stream.path, b"ABCDEFG\xf0", flags=Flag.RMDATA)
        peer.send(stream.path, SHUTDOWN, flags=Flag.RMDATA)
        found = accepted.recv_all(100)
        assert b"ABCDEFG" not in found
        assert len(found) == 0


@pytest.mark.requirement("I16")
@pytest.mark.kernel_defect(
    5,
    "messages that wait for room in the receive buffer are lost at a sever, without an error",
    seen=r"assert \d+ == 200000",
)
@pytest.mark.not_debug(
    "KASAN reports that recv() uses the path that has been freed",
    coverage=True,
    kernels=("bookworm",),
    defect="af_iucv-5",
)
def test_all_that_was_sent_before_a_sever_arrives_or_is_missed(worker: Worker, peer: Peer) -> None:
    """The program reads less than was sent, and then the end of the stream, as if it were all."""
    with from_peer(worker, peer) as (accepted, stream):
        accepted.set_option(SO_RCVBUF, 4096, SOL_SOCKET).check()
        for number in range(100):
            stream.send(pattern(2000, number))
        stream.close()
        found = 0
        while True:
            part = accepted.try_recv(100_000)
            if part.errno or part.ret == 0:
                break
            found += part.ret
        if part.errno == 0:
            assert found == 200_000


@pytest.mark.requirement("I16")
@pytest.mark.kernel_defect(
    11,
    "the largest message is not what SO_MSGSIZE says",
    seen=r"\[Errno 90\] sendto in the guest: Message too long",
    raises=OSError,
)
def test_message_as_large_as_the_socket_says(worker: Worker) -> None:
    """Unless it says more than half a million bytes: these are sent then."""
    with pair(worker) as (client, accepted):
        size = client.option(SO_MSGSIZE)
        assert size > 4096
        data = pattern(min(size, 500_000), 5)
        assert client.send(data) == len(data)
        assert accepted.recv_all(len(data)) == data


@pytest.mark.requirement("I16")
@pytest.mark.kernel_defect(
    12,
    "a message of a partner's that is too large for it is a WARNING, and no further one comes",
    seen=r"the guest's kernel reported a warning .*net/iucv/af_iucv\.c.*",
    raises=GuestPanic,
)
def test_message_that_the_kernel_has_no_room_for(guest: Guest) -> None:
    """A partner sends 200,000 bytes at once, as IUCV allows, and then a few more.

    They arrive, or are rejected, so that the partner knows.
    """
    worker = guest.agent.worker("sockets")
    with Peer(guest.control, "PARTNER") as peer, from_peer(worker, peer) as (accepted, stream):
        data = pattern(200_000, 6)
        peer.send(stream.path, data)
        peer.send(stream.path, b"a few more")
        rejected = peer.wait(EventType.MSG_COMPLETE, LIMIT, stream.path).audit == IPADRJCT
        assert accepted.recv_all(10 if rejected else len(data) + 10) == (
            b"a few more" if rejected else data + b"a few more"
        )


@pytest.mark.requirement("I16")
@pytest.mark.kernel_defect(
    6, "what the partner has rejected is taken for received", seen=r"assert 0 != 0"
)
def test_sender_learns_that_a_message_was_rejected(worker: Worker, peer: Peer) -> None:
    # With this limit there is room when the kernel has heard of it.
    with to_peer(worker, peer, limit=1) as (client, stream):
        client.send(b"unwanted")
        event = peer.wait(MESSAGES, LIMIT, stream.path)
        peer.reject(stream.path, event.msgid, event.trgcls)
        wait_until(lambda: client.ready(select.POLLOUT) & select.POLLOUT != 0, "room")
        error = client.option(SO_ERROR, SOL_SOCKET)
        assert error != 0


def uptime(guest: Guest) -> float:
    """Seconds, by the guest's clock."""
    return float(guest.agent.read_file("/proc/uptime").split()[0])


@pytest.mark.requirement("I16")
@pytest.mark.kernel_defect(
    62, "a sever does not end the wait of close()", seen=r"close\(\) sleeps for \d+ s"
)
def test_close_does_not_wait_for_a_partner_who_has_severed(
    warm_guest: Guest, worker: Worker, peer: Peer
) -> None:
    """Nobody will take what it waits for, whatever SO_LINGER says."""
    with to_peer(worker, peer) as (client, stream):
        client.linger(40)
        client.send(b"data")
        peer.wait(MESSAGES, LIMIT, stream.path)
        folder = thread_of(worker)
        closing = later(worker, Call.CLOSE, client.fd)
        client.fd = -1
        await_sleep(warm_guest.agent, folder, CLOSE)
        since = uptime(warm_guest)
        stream.close()
        assert closing()[:2] == (0, 0)
        slept = uptime(warm_guest) - since
        assert slept < 20, f"close() sleeps for {slept:.0f} s"


@pytest.mark.requirement("I16")
@pytest.mark.kernel_defect(
    7, "a connection that CP does not let it accept is never forgotten", seen=r"assert 98 == 0"
)
def test_name_is_free_again_after_a_connection_that_failed(guest: Guest) -> None:
    """CP refuses ACCEPT, as it does when the partner has gone meanwhile."""
    worker = guest.agent.worker("sockets")
    with Peer(guest.control, "PARTNER") as peer:
        with Socket.make(worker, name="SERVER") as server:
            server.listen(5)
            with armed(guest.control, Fault("iucv.accept", "rc", 0x14, name="PARTNER")) as rules:
                with pytest.raises(AfIucvRefused):
                    connect(peer, GUEST, "SERVER", timeout=LIMIT)
            assert rules[0].fired == 1
            with connect(peer, GUEST, "SERVER", timeout=LIMIT), server.accept():
                pass
    with Socket.make(worker) as again:
        assert again.try_bind("SERVER").errno == 0


@pytest.mark.requirement("I16")
@pytest.mark.not_debug("KASAN keeps freed objects in their caches for a while", coverage=True)
@pytest.mark.zvmlab(command_line=UNCACHED)
@pytest.mark.kernel_defect(
    8,
    "messages that waited for room are not freed by close()",
    seen=r"assert [12]\d\d < 100",
    kernels=("bookworm", "bookworm-backports"),
)
@pytest.mark.timeout(600)
def test_close_frees_messages_that_were_not_read(guest: Guest) -> None:
    """Two hundred of them, most of which the receive buffer had no room for."""
    worker = guest.agent.worker("sockets")
    with Peer(guest.control, "PARTNER") as peer:
        for count in (1, 200):
            before = settled(guest)
            with from_peer(worker, peer) as (accepted, stream):
                accepted.set_option(SO_RCVBUF, 4096, SOL_SOCKET).check()
                for number in range(count):
                    stream.send(pattern(2000, number))
        left = settled(guest).growth(before)
    assert left < 100


def test_names_are_ebcdic(peer: Peer, worker: Worker) -> None:
    """CONNECT's user data have the partner's name, then the own name, in EBCDIC."""
    with Socket.make(worker, name="client1") as made:
        waiting = later(worker, Call.CONNECT, made.fd, *_address("PARTNER", "Echo"))
        event = peer.wait(EventType.PENDING, LIMIT)
        assert event.ipuser == name_bytes("Echo") + name_bytes("client1")
        assert event.flags & Flag.RMDATA
        peer.sever(event.path)
        assert waiting()[1] == errno.ECONNREFUSED


NOWHERE = Bad(BadKind.UNMAPPED, 100)


@KINDS
@pytest.mark.requirement("I3", "I17")
def test_data_that_cannot_be_given_stay(worker: Worker, kind: int) -> None:
    """EFAULT, with MSG_PEEK too; the next call has them.  What cannot be taken is not sent."""
    with pair(worker, kind) as (client, accepted):
        end = MSG_EOR if kind == SEQPACKET else 0
        flags = end | MSG_NOSIGNAL
        refused = worker.call(Call.SENDTO, client.fd, NOWHERE, 100, flags, 0, 0)
        assert refused.errno == errno.EFAULT
        client.send(b"data", end)
        for more in (MSG_PEEK, 0):
            found = worker.call(Call.RECVFROM, accepted.fd, NOWHERE, 100, more, 0, 0)
            assert found.errno == errno.EFAULT
        assert accepted.recv(100) == b"data"


@pytest.mark.requirement("I5")
def test_ancillary_data_of_an_impossible_length_is_refused(worker: Worker) -> None:
    """Shorter than its own head."""
    with pair(worker) as (client, accepted):
        short = struct.pack(">Qii", 8, SOL_IUCV, 1) + bytes(8)
        assert client.sendmsg(b"wrong", short).errno == errno.EINVAL
        client.send(b"right")
        assert accepted.recv(100) == b"right"


@pytest.mark.requirement("I10")
def test_message_that_cp_refuses_is_epipe(warm_guest: Guest, worker: Worker, peer: Peer) -> None:
    """The connection stays, and the next message arrives."""
    with to_peer(worker, peer) as (client, stream):
        with armed(warm_guest.control, Fault("iucv.send", "rc", 9, name="PARTNER", times=1)):
            assert client.try_send(b"lost").errno == errno.EPIPE
        client.send(b"sent")
        assert stream.recv(LIMIT) == b"sent"


@pytest.mark.requirement("I6", "I10")
def test_parameter_list_that_cp_refuses_ends_the_connection(
    warm_guest: Guest, worker: Worker, peer: Peer
) -> None:
    """IPRCODE 21: the path has no leave for data there; EPIPE, and the partner is told."""
    with to_peer(worker, peer) as (client, stream):
        client.set_option(SO_IPRMDATA_MSG, 1).check()
        with armed(warm_guest.control, Fault("iucv.send", "rc", 21, name="PARTNER", times=1)):
            assert client.try_send(b"lost").errno == errno.EPIPE
        assert stream.recv(LIMIT) == b""


@pytest.mark.requirement("I8")
@pytest.mark.parametrize(
    ("code", "error"), [(1, errno.ENOTCONN), (2, errno.ECONNRESET), (9, errno.ENOTCONN)]
)
def test_shutdown_that_cannot_be_told(
    warm_guest: Guest, worker: Worker, peer: Peer, code: int, error: int
) -> None:
    """The error number says why CP does not take the message; nothing can be sent any more."""
    with to_peer(worker, peer) as (client, _):
        with armed(warm_guest.control, Fault("iucv.send", "rc", code, name="PARTNER", times=1)):
            assert client.shutdown(SHUT_WR).errno == error
        assert client.try_send(b"late").errno == errno.EPIPE


@pytest.mark.requirement("I17")
def test_calls_without_memory_are_enomem(guest: Guest) -> None:
    """socket(), connect() and send(): each allocation fails once; then a connection has data."""
    worker = guest.agent.worker("sockets")
    failing = Failing(guest)
    errors = failing.each(
        worker,
        lambda batch: batch.call(Call.SOCKET, AF_IUCV, STREAM, 0),
        lambda result: void(worker.close(result.ret).check()),
    )
    assert set(errors) == {0, errno.ENOMEM, errno.ENFILE}
    at = address(GUEST, "SERVER")
    with Socket.make(worker, STREAM, "SERVER") as server:
        server.listen(1)
        client = Socket.make(worker, STREAM, "CLIENT")

        def renew() -> None:
            server.accept().close()
            client.close()
            client.fd = Socket.make(worker, STREAM, "CLIENT").fd

        errors = failing.each(
            worker,
            lambda batch: batch.call(Call.CONNECT, client.fd, at, len(at)),
            lambda result: renew(),
        )
        assert set(errors) == {0, errno.ENOMEM, errno.EFAULT}
        client.connect(GUEST, "SERVER")
        with client, server.accept() as accepted:
            errors = failing.each(
                worker,
                lambda batch: batch.call(Call.SENDTO, client.fd, b"data", 4, MSG_NOSIGNAL, 0, 0),
            )
            assert errno.EFAULT in errors
            assert set(errors) <= {0, errno.ENOMEM, errno.ENOBUFS, errno.EFAULT}
            assert accepted.recv_all(4 * errors[0]) == b"data" * errors[0]


@pytest.mark.requirement("I17")
def test_connections_without_memory_are_refused(guest: Guest) -> None:
    """Whichever allocation fails of what a connection makes; the one after them is accepted."""
    worker = guest.agent.worker("sockets")
    failing = Failing(guest)
    at = address(GUEST, "SERVER")
    known = {0, errno.ECONNREFUSED, errno.EAGAIN, errno.ENETUNREACH, errno.ECONNRESET}

    def error_of(number: int) -> int:
        with Socket.make(worker, STREAM, "CLIENT") as client:
            client.set_timeout(SO_SNDTIMEO, 1)
            return failing.interrupted(
                worker, number, lambda batch: batch.call(Call.CONNECT, client.fd, at, len(at))
            ).errno

    with Socket.make(worker, STREAM | NONBLOCK, "SERVER") as server:
        server.listen(8)
        errors = {error_of(number) for number in (1, 1, 2, 2, 3, 3, 4, 4)}
        # Defect 14: lockdep has something against a close() while a connection waits.
        while (waiting := server.try_accept()).errno != errno.EAGAIN:
            Socket(worker, waiting.check()).close()
        assert errors <= known and errno.ECONNREFUSED in errors
    with pair(worker) as (client, accepted):
        client.send(b"data")
        assert accepted.recv(100) == b"data"
