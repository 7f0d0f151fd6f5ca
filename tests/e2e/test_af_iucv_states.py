# SPDX-License-Identifier: MIT
"""AF_IUCV in each of its states: what a call says, what poll says, and what CP has of it.

CP's own table of paths is the other source: a call that concerns no path changes none.
"""

from __future__ import annotations

import errno
import hashlib
import select
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise

import pytest

from iucv_socket import (
    AF_IUCV,
    MSG_DONTWAIT,
    MSG_EOR,
    MSG_NOSIGNAL,
    MSG_PEEK,
    MSG_TRUNC,
    NONBLOCK,
    SEQPACKET,
    SHUT_RD,
    SHUT_RDWR,
    SHUT_WR,
    SO_ERROR,
    SO_IPRMDATA_MSG,
    SO_RCVBUF,
    SO_RCVTIMEO,
    SOL_IUCV,
    SOL_SOCKET,
    STREAM,
    Socket,
    address,
)
from test_af_iucv import pattern
from test_af_iucv_sockets import (
    GUEST,
    KINDS,
    MESSAGES,
    SENDTO,
    from_peer,
    later,
    pair,
    paths,
    to_peer,
)
from waiting import LIMIT, wait_until
from zvmlab.agent.calls import BatchResult
from zvmlab.agent.wire import Call
from zvmlab.agent.worker import Pending, Worker
from zvmlab.cp.afiucv import AfIucvStream, connect
from zvmlab.cp.faults import Fault, armed, count
from zvmlab.cp.peer import EventType, Peer
from zvmlab.guest.guest import Guest
from zvmlab.monitor.steps import await_sleep, task_state, thread_of

SO_TYPE, SO_SNDBUF, SO_ACCEPTCONN, SO_PROTOCOL, SO_DOMAIN = 3, 7, 30, 38, 39
HOWS = {"read": SHUT_RD, "write": SHUT_WR, "both": SHUT_RDWR}
# What no connection changes: a message under way comes and goes.
STATE = ("path", "partner", "state", "flags", "msglim-send", "quiesced-here", "quiesced-there")


@pytest.fixture
def worker(warm_guest: Guest) -> Worker:
    return warm_guest.agent.worker("sockets")


@pytest.fixture
def peer(warm_guest: Guest) -> Iterator[Peer]:
    with Peer(warm_guest.control, "PARTNER") as found:
        yield found


def table(guest: Guest) -> list[tuple[object, ...]]:
    """The guest's paths, as CP has them."""
    found = guest.control.execute("query-paths", user=GUEST)["paths"]
    return [tuple(path[name] for name in STATE) for path in found]


def sent(guest: Guest) -> list[tuple[object, object]]:
    """How many messages CP's services have of the guest; the agent talks to a user."""
    found = guest.control.execute("query-paths", user=GUEST)["paths"]
    return [(path["path"], path["sent"]) for path in found if path["partner"].startswith("*")]


def unbound(worker: Worker) -> Socket:
    return Socket.make(worker)


def bound(worker: Worker) -> Socket:
    return Socket.make(worker, name="NOBODY")


@pytest.mark.requirement("I8")
@pytest.mark.parametrize("how", HOWS.values(), ids=HOWS)
@pytest.mark.parametrize("make", [unbound, bound], ids=["unbound", "bound"])
def test_shutdown_without_a_connection_asks_nothing_of_cp(
    warm_guest: Guest, worker: Worker, make: Callable[[Worker], Socket], how: int
) -> None:
    """There is no path that CP could be asked about: nobody else's is touched."""
    before, under_way = table(warm_guest), sent(warm_guest)
    with make(worker) as made:
        assert made.shutdown(how).errno == 0
        assert (table(warm_guest), sent(warm_guest)) == (before, under_way)
        expected = errno.EPIPE if how != SHUT_RD else errno.ENOTCONN
        assert made.try_send(b"x").errno == expected
    assert (table(warm_guest), sent(warm_guest)) == (before, under_way)


@pytest.mark.requirement("I12")
@KINDS
@pytest.mark.parametrize("protocol", [0, AF_IUCV])
def test_accepted_socket_is_of_its_listeners_kind(
    worker: Worker, peer: Peer, kind: int, protocol: int
) -> None:
    """Domain, type and protocol, for a partner in the guest and one outside."""
    at = worker.call(Call.SOCKET, AF_IUCV, kind, protocol).check()
    with Socket(worker, at) as server, Socket.make(worker, kind, "CLIENT") as client:
        server.try_bind("SERVER").check()
        server.listen(2)
        client.connect(GUEST, "SERVER")
        with connect(peer, GUEST, "SERVER", timeout=LIMIT):
            for _ in range(2):
                with server.accept() as accepted:
                    found = [
                        accepted.option(option, SOL_SOCKET)
                        for option in (SO_DOMAIN, SO_TYPE, SO_PROTOCOL)
                    ]
                    assert found == [AF_IUCV, kind, protocol]


@pytest.mark.requirement("I9")
@KINDS
def test_full_send_buffer_is_eagain_until_the_partner_takes_something(
    worker: Worker, peer: Peer, kind: int
) -> None:
    """A partner that takes nothing is no lack of memory; all that was taken arrives."""
    with to_peer(worker, peer, kind) as (client, stream):
        client.set_option(SO_SNDBUF, 1, SOL_SOCKET).check()
        parts: list[bytes] = []
        while True:
            data = pattern(1000, len(parts))
            result = client.try_send(data, MSG_DONTWAIT | MSG_EOR)
            if result.errno:
                break
            assert result.ret == len(data)
            parts.append(data)
            assert len(parts) < 1000, "the buffer has no end"
        assert result.errno == errno.EAGAIN
        assert parts
        for data in parts:
            assert stream.recv(LIMIT) == data
        wait_until(
            lambda: client.try_send(b"more", MSG_DONTWAIT | MSG_EOR).errno == 0, "room again"
        )
        assert stream.recv(LIMIT) == b"more"


def severed_by_peer(client: Socket, stream: AfIucvStream) -> None:
    stream.close()
    wait_until(lambda: client.ready(select.POLLHUP | select.POLLIN) != 0, "the sever")


@pytest.mark.requirement("I10")
@KINDS
def test_path_of_a_severed_connection_is_given_back(
    warm_guest: Guest, worker: Worker, peer: Peer, kind: int
) -> None:
    """When the partner has severed, the guest severs as well: CP keeps nothing for it."""
    before = paths(warm_guest)
    with to_peer(worker, peer, kind) as (client, stream):
        assert paths(warm_guest) == before + 1
        severed_by_peer(client, stream)
        # The guest has severed before it says that the connection has gone.
        assert paths(warm_guest) == before
        assert client.recv(10) == b""
    assert paths(warm_guest) == before


@contextmanager
def _after(worker: Worker, peer: Peer, end: str) -> Iterator[tuple[Socket, AfIucvStream | None]]:
    """A connected socket after that end."""
    with ExitStack() as stack:
        client, stream = stack.enter_context(to_peer(worker, peer))
        if end in HOWS:
            client.shutdown(HOWS[end]).check()
        elif end == "partner severs":
            severed_by_peer(client, stream)
        elif end == "partner shuts down":
            stream.shut_down()
            wait_until(lambda: client.ready(select.POLLIN) & select.POLLIN != 0, "the end")
        yield client, stream


# errno of send, what recv gives (bytes, or an error number), errno of shutdown(both).
ENDS: dict[str, tuple[int, bytes | int, int]] = {
    "none": (0, errno.EAGAIN, 0),
    "read": (0, b"", 0),
    "write": (errno.EPIPE, errno.EAGAIN, 0),
    "both": (errno.EPIPE, b"", 0),
    "partner severs": (errno.ENOTCONN, b"", errno.ENOTCONN),
    "partner shuts down": (0, b"", 0),
}


@pytest.mark.requirement("I8", "I10")
@pytest.mark.parametrize("end", ENDS)
def test_calls_after_each_end(warm_guest: Guest, worker: Worker, peer: Peer, end: str) -> None:
    """send, recv, peek, a second bind, connect and listen; then shutdown, and nobody is harmed."""
    send, recv, shutdown = ENDS[end]
    with from_peer(worker, peer) as (bystander, other):
        before = table(warm_guest)
        with _after(worker, peer, end) as (client, _):
            assert client.try_send(b"data", MSG_DONTWAIT).errno == send
            for flags in (MSG_PEEK | MSG_DONTWAIT, MSG_DONTWAIT):
                found = client.try_recv(100, flags)
                if isinstance(recv, int):
                    assert found.errno == recv
                else:
                    assert (found.ret, found.errno) == (len(recv), 0)
            assert client.try_bind("OTHER").errno == errno.EBADFD
            assert client.try_connect("PARTNER", "ECHO").errno == errno.EBADFD
            listening = client.worker.call(Call.LISTEN, client.fd, 1)
            assert listening.errno == errno.EINVAL
            assert client.try_accept().errno == errno.EBADFD
            assert client.shutdown(SHUT_RDWR).errno == shutdown
            assert client.try_recv(100).ret == 0
            hung_up = client.ready(select.POLLIN | select.POLLRDHUP)
            assert hung_up & (select.POLLIN | select.POLLHUP)
        assert table(warm_guest) == before
        other.send(b"unharmed")
        assert bystander.recv(100) == b"unharmed"


@pytest.mark.requirement("I3")
@pytest.mark.parametrize("size", [1, 100, 4096, 4097, 20_000, 65_536])
@pytest.mark.parametrize("piece", [1000, 4096, 70_000])
def test_large_message_is_read_in_pieces(worker: Worker, peer: Peer, size: int, piece: int) -> None:
    """Each byte once, in order, whatever the pieces are; peeking in between changes nothing."""
    data = pattern(size, 7)
    with from_peer(worker, peer) as (accepted, stream):
        stream.send_message(data)
        stream.send_message(b"behind it")
        found = b""
        while len(found) < size:
            peeked = accepted.recv(piece, MSG_PEEK)
            part = accepted.recv(piece)
            assert part == peeked
            found += part
        assert hashlib.sha256(found).digest() == hashlib.sha256(data).digest()
        assert accepted.recv(100) == b"behind it"


@pytest.mark.requirement("I2")
@pytest.mark.parametrize("size", [1, 4097, 20_000])
def test_cut_record_tells_its_length_and_ends_where_it_ends(
    worker: Worker, peer: Peer, size: int
) -> None:
    """MSG_TRUNC with and without MSG_PEEK: the record's own length; the rest of it is gone."""
    with from_peer(worker, peer, SEQPACKET) as (accepted, stream):
        stream.send_message(pattern(size, 8))
        stream.send_message(b"next")
        for flags in (MSG_PEEK | MSG_TRUNC, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT):
            assert accepted.try_recv(1, flags).ret == size
        assert accepted.recv(1, MSG_PEEK) == pattern(size, 8)[:1]
        assert accepted.try_recv(1, MSG_TRUNC).ret == size
        assert accepted.recv(100) == b"next"


@pytest.mark.requirement("I1", "I2")
@KINDS
@pytest.mark.parametrize("sender", ["guest", "peer", "both"])
def test_conversation_of_numbered_messages(
    worker: Worker, peer: Peer, kind: int, sender: str
) -> None:
    """Forty messages of all lengths: each arrives once, whole, in its place."""
    sizes = [1, 7, 8, 100, 4095, 4096, 4097, 9000] * 5
    with from_peer(worker, peer, kind) as (accepted, stream):
        for number, size in enumerate(sizes):
            there, back = (pattern(size, 2 * number + way) for way in (0, 1))
            if sender != "peer":
                accepted.send(there, MSG_EOR)
            if sender != "guest":
                stream.send_message(back)
                assert accepted.recv_all(size) == back
            if sender != "peer":
                assert stream.recv(LIMIT) == there


@pytest.mark.requirement("I10")
@KINDS
def test_queue_that_is_full_at_the_sever(worker: Worker, peer: Peer, kind: int) -> None:
    """What fits into the receive buffer is read after the sever, whole and in order; then the end."""
    with from_peer(worker, peer, kind) as (accepted, stream):
        accepted.set_option(SO_RCVBUF, 4096, SOL_SOCKET).check()
        taken = []
        for number in range(40):
            stream.send_message(pattern(600, number))
            done = peer.wait((EventType.MSG_COMPLETE, *MESSAGES), LIMIT, stream.path)
            assert done.type == EventType.MSG_COMPLETE
            taken.append(pattern(600, number))
            if len(taken) == 3:
                break
        stream.close()
        for data in taken:
            assert accepted.recv(600) == data
        assert accepted.recv(600) == b""


@pytest.mark.requirement("I9")
@pytest.mark.parametrize("option", [SO_SNDBUF, SO_RCVBUF])
@pytest.mark.parametrize("value", [0, 1, 1 << 20, 0x7FFFFFFF])
def test_extreme_buffer_sizes_leave_the_data_whole(worker: Worker, option: int, value: int) -> None:
    """The kernel takes them for the least or the most that it has: one message at a time passes."""
    with pair(worker) as (client, accepted):
        for made in (client, accepted):
            made.set_option(option, value, SOL_SOCKET).check()
        for size in (1, 8, 900):
            data = pattern(size, size)
            assert client.send(data) == size
            assert accepted.recv_all(size) == data


@pytest.mark.requirement("I12")
@pytest.mark.parametrize("length", [0, 1, 2, 7, 31, 33, 128])
@pytest.mark.parametrize("call", [Call.BIND, Call.CONNECT], ids=["bind", "connect"])
def test_address_of_another_length(worker: Worker, call: Call, length: int) -> None:
    """Too short is EINVAL; what lies behind a whole address is nobody's business."""
    address = (AF_IUCV).to_bytes(2, "big") + bytes(6) + b" " * 8 + b"NOBODY  " + b"NAME    "
    with Socket.make(worker) as made:
        found = worker.call(call, made.fd, address.ljust(length, b" ")[:length], length)
        if length < 32:
            assert found.errno == errno.EINVAL
        elif call == Call.CONNECT:
            assert found.errno == errno.ENETUNREACH
        else:
            assert found.errno in (0, errno.ENODEV)


# What the kernel's own af_iucv does against this: docs/upstream-kernel.md.


@pytest.mark.requirement("I16")
@pytest.mark.not_debug(
    "close() does not free what was not received, which kmemleak reports",
    kernels=("debug",),
    defect="af_iucv-8",
)
@pytest.mark.kernel_defect(
    37,
    "a message that is larger than the receive buffer is never received",
    seen=r"assert \(-1, 11\) == \(5000, 0\)",
)
def test_message_larger_than_the_receive_buffer_arrives(worker: Worker) -> None:
    """Nothing else is in the buffer; the sender has been told that it was sent."""
    with pair(worker) as (client, accepted):
        accepted.set_option(SO_RCVBUF, 0, SOL_SOCKET).check()
        client.send(pattern(5000, 1))
        # The interruption comes before send() has returned, as the path is the guest's own.
        accepted.set_timeout(SO_RCVTIMEO, 1)
        found = accepted.try_recv(5000)
        assert (found.ret, found.errno) == (5000, 0)
        assert found.data[:5000] == pattern(5000, 1)


@pytest.mark.requirement("I10", "I16")
@pytest.mark.not_debug(
    "KASAN reports that recv() uses the path that has been freed",
    coverage=True,
    kernels=("bookworm",),
    defect="af_iucv-5",
)
@pytest.mark.kernel_defect(
    5,
    "CP is asked for messages of a path that has gone",
    seen=r"assert \d+ == 0",
    kernels=("bookworm", "bookworm-backports"),
)
def test_cp_is_asked_nothing_about_a_path_that_has_gone(
    warm_guest: Guest, worker: Worker, peer: Peer
) -> None:
    """Its number may be another connection's by now: messages that were left on it are gone.

    A kernel that asks takes the number from storage that it has freed, so it may be any.
    """
    with from_peer(worker, peer) as (accepted, stream):
        accepted.set_option(SO_RCVBUF, 4096, SOL_SOCKET).check()
        for number in range(20):
            stream.send(pattern(2000, number))
        stream.close()
        wait_until(lambda: accepted.try_send(b"x").errno == errno.ENOTCONN, "the sever")
        # It counts the guest's calls, and never fires; nobody else in the guest uses IUCV.
        watch = Fault("iucv.receive", "rc", 1, user=GUEST, nth=1_000_000)
        with armed(warm_guest.control, watch) as rules:
            while accepted.try_recv(100_000).ret > 0:
                pass
        assert rules[0].matched == 0


@pytest.mark.requirement("I16")
def test_messages_stay_with_cp_until_the_buffer_has_room(
    warm_guest: Guest, worker: Worker, peer: Peer
) -> None:
    """Each recv() makes room for a few messages; the others are not taken into storage."""
    with from_peer(worker, peer) as (accepted, stream):
        accepted.set_option(SO_RCVBUF, 4096, SOL_SOCKET).check()
        messages = [pattern(2000, number) for number in range(20)]
        for message in messages:
            stream.send(message)
        found = warm_guest.control.execute("query-paths", user=GUEST)["paths"]
        (path,) = [one["path"] for one in found if one["partner"] == "PARTNER"]
        watch = Fault("iucv.receive", "rc", 1, path=path, nth=1_000_000)
        taken = [0]
        with armed(warm_guest.control, watch) as rules:
            for message in messages:
                assert accepted.recv(2000) == message
                count(warm_guest.control, rules)
                taken.append(rules[0].matched)
        steps = [after - before for before, after in pairwise(taken)]
        assert 0 < max(steps) <= 4, f"messages taken at each recv(): {steps}"


@pytest.mark.requirement("I16")
@pytest.mark.kernel_defect(
    38,
    "SO_ACCEPTCONN says of a socket that listens that it does not",
    seen=r"assert \[0, 0\] == \[0, 1\]",
)
def test_listening_socket_says_so(worker: Worker) -> None:
    with Socket.make(worker, name="SERVER") as server:
        found = [server.option(SO_ACCEPTCONN, SOL_SOCKET)]
        server.listen(1)
        found.append(server.option(SO_ACCEPTCONN, SOL_SOCKET))
        assert found == [0, 1]


@pytest.mark.requirement("I12")
def test_listening_socket_receives_nothing(worker: Worker) -> None:
    """It fails at once, as any socket without a connection."""
    with Socket.make(worker, name="SERVER") as server:
        server.listen(1)
        server.set_timeout(SO_RCVTIMEO, 1)
        assert server.try_recv(100).errno == errno.ENOTCONN


@contextmanager
def connecting(
    guest: Guest, made: Socket, peer: Peer, name: str = "SILENT"
) -> Iterator[Pending[BatchResult]]:
    """A socket's connect() that waits for the partner's answer; the partner severs at the end."""
    before = paths(guest)
    to = address(peer.name, name)
    batch = made.worker.batch()
    batch.call(Call.CONNECT, made.fd, to, len(to))
    call = batch.start(LIMIT)
    wait_until(lambda: paths(guest) == before + 1, "the path of a connect()")
    yield call
    for path in guest.control.execute("query-paths", user=peer.name)["paths"]:
        guest.control.execute("peer-call", peer=peer.name, function="sever", path=path["path"])
    wait_until(call.done, "the end of a connect()")


@pytest.mark.requirement("I8")
@pytest.mark.kernel_defect(
    45, "a socket whose connection is being made can listen", seen=r"assert 0 == 22"
)
def test_socket_that_connects_cannot_listen(warm_guest: Guest, worker: Worker, peer: Peer) -> None:
    """As one that is connected (POSIX, listen): close() of a listener gives no path back."""
    other = warm_guest.agent.worker("other")
    with bound(worker) as made, connecting(warm_guest, made, peer) as call:
        listening = other.call(Call.LISTEN, made.fd, 1).errno
    assert call.result(LIMIT)[0].errno == errno.ECONNREFUSED
    assert listening == errno.EINVAL


@pytest.mark.requirement("I8")
@pytest.mark.kernel_defect(
    44, "a connect() that must not wait is taken back", seen=r"assert 11 == 115"
)
@pytest.mark.parametrize("answer", ["accepted", "severed"])
def test_answer_to_a_connect_that_does_not_wait(
    warm_guest: Guest, worker: Worker, peer: Peer, answer: str
) -> None:
    """poll() says when it is there, SO_ERROR what it is; until then there is a connection under way."""
    before, control = paths(warm_guest), warm_guest.control
    at = worker.call(Call.SOCKET, AF_IUCV, STREAM | NONBLOCK, 0).check()
    with Socket(worker, at) as made:
        assert made.try_connect(peer.name, "SERVER").errno == errno.EINPROGRESS
        assert made.ready(select.POLLOUT) == 0
        assert made.try_connect(peer.name, "SERVER").errno == errno.EALREADY
        assert made.try_send(b"early").errno == errno.ENOTCONN
        assert paths(warm_guest) == before + 1
        (path,) = control.execute("query-paths", user=peer.name)["paths"]
        function = "accept" if answer == "accepted" else "sever"
        control.execute("peer-call", peer=peer.name, function=function, path=path["path"])
        assert made.ready(select.POLLOUT, LIMIT * 1000) & select.POLLOUT
        expected = 0 if answer == "accepted" else errno.ECONNREFUSED
        assert made.option(SO_ERROR, SOL_SOCKET) == expected
        assert made.option(SO_ERROR, SOL_SOCKET) == 0
        assert made.try_send(b"data").errno == (0 if expected == 0 else errno.ENOTCONN)
    assert paths(warm_guest) == before


@pytest.mark.requirement("I8")
@pytest.mark.kernel_defect(
    46,
    "send() that waits for room keeps its socket locked",
    seen=r"setsockopt\(\) sleeps in state D",
)
def test_send_that_waits_for_room_stops_no_other_call(
    warm_guest: Guest, worker: Worker, peer: Peer
) -> None:
    """An option is set at once, and shutdown() ends the wait, whatever the partner takes."""
    agent, other = warm_guest.agent, warm_guest.agent.worker("other")
    sender, at = thread_of(worker), thread_of(other)
    with to_peer(worker, peer) as (client, stream):
        client.set_option(SO_SNDBUF, 1, SOL_SOCKET).check()
        client.send(pattern(10_000, 1))
        sending = later(worker, Call.SENDTO, client.fd, b"more", 4, MSG_NOSIGNAL, 0, 0)
        await_sleep(agent, sender, SENDTO)
        batch, value = other.batch(), (1).to_bytes(4, "big")
        batch.call(Call.SETSOCKOPT, client.fd, SOL_IUCV, SO_IPRMDATA_MSG, value, len(value))
        option = batch.start(LIMIT)
        wait_until(lambda: option.done() or task_state(agent, at) == "D", "setsockopt()")
        waits = not option.done()
        if not waits:
            assert other.call(Call.SHUTDOWN, client.fd, SHUT_WR).errno == 0
            assert sending()[1] == errno.EPIPE
        assert stream.recv(LIMIT) == pattern(10_000, 1)
        assert not waits, "setsockopt() sleeps in state D"


@pytest.mark.requirement("I8")
@pytest.mark.kernel_defect(
    45,
    "the path of the first of two connects at once is left",
    seen=r"assert \d+ == \d+",
)
def test_two_connects_at_once_leave_no_path(warm_guest: Guest, worker: Worker, peer: Peer) -> None:
    """Two threads connect one socket: the second one is refused, or what it makes goes, too."""
    control, before = warm_guest.control, paths(warm_guest)

    def sever_the_newest() -> None:
        (*_, newest) = control.execute("query-paths", user=peer.name)["paths"]
        control.execute("peer-call", peer=peer.name, function="sever", path=newest["path"])

    with Socket.make(worker) as made:
        calls = []
        for number, who in enumerate((worker, warm_guest.agent.worker("other")), 1):
            to = address(peer.name, f"SERVER{number}")
            batch = who.batch()
            batch.call(Call.CONNECT, made.fd, to, len(to))
            call = batch.start(LIMIT)
            calls.append(call)
            wait_until(
                lambda: call.done() or paths(warm_guest) == before + number, f"connect {number}"
            )
        while control.execute("query-paths", user=peer.name)["paths"]:
            # The second path goes first: both calls end by that.
            sever_the_newest()
            wait_until(calls[0].done, "the end of the first connect")
        assert calls[0].result(LIMIT)[0].errno == errno.ECONNREFUSED
        calls[1].result(LIMIT)
    # If the socket were closed before the sever of the first path, that would use its freed memory.
    assert paths(warm_guest) == before
