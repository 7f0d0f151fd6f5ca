# SPDX-License-Identifier: MIT
"""AF_IUCV over HiperSockets: sockets that are bound to a network device, not to z/VM's IUCV.

A test module plays the devices, in pairs: what one sends, the other one receives.
"""

from __future__ import annotations

import errno
import select
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from iucv_socket import (
    MSG_DONTWAIT,
    MSG_EOR,
    SEQPACKET,
    SHUT_RD,
    SHUT_WR,
    SO_MSGLIMIT,
    SO_MSGSIZE,
    STREAM,
    Socket,
)
from test_af_iucv import pattern
from waiting import wait_until
from zvmlab.agent.wire import Call
from zvmlab.agent.worker import Worker
from zvmlab.guest.guest import Guest

SOURCE = Path(__file__).parent / "modules" / "hspair"
MODULE = "/tmp/hspair.ko"
# The user IDs of the module's devices; the first two are a pair, and so are the others.
ALPHA, BETA, GAMMA, DELTA = "HSALPHA", "HSBETA", "HSGAMMA", "HSDELTA"
# The devices' MTU without the heads of AF_IUCV's frames and of Ethernet's.
MOST = 8192 - 104 - 14
FRAMES_OF_STRANGERS = pytest.mark.kernel_defect(
    39,
    "a frame that another device receives connects with a socket",
    seen=r"assert 0 == 111",
    kernels=("bookworm", "bookworm-backports"),
)
KINDS = pytest.mark.parametrize("kind", [STREAM, SEQPACKET], ids=["stream", "seqpacket"])


@contextmanager
def devices(guest: Guest, built_module: Callable[..., Path]) -> Iterator[Guest]:
    """The module is loaded."""
    guest.agent.write_file(MODULE, built_module(SOURCE).read_bytes(), 0o600)
    assert guest.agent.insmod(MODULE).errno == 0
    yield guest
    guest.agent.rmmod("hspair").check()


@pytest.fixture
def pairs(warm_guest: Guest, built_module: Callable[..., Path]) -> Iterator[Guest]:
    with devices(warm_guest, built_module) as found:
        yield found


@pytest.fixture
def worker(pairs: Guest) -> Iterator[Worker]:
    """When the test is over, no socket of AF_IUCV is left."""
    before = sockets(pairs)
    yield pairs.agent.worker("sockets")
    wait_until(
        lambda: sockets(pairs) == before, f"{before} sockets as before", lambda: sockets(pairs)
    )


def sockets(guest: Guest) -> int:
    """How often the module is in use: each socket that it has made counts."""
    return int(guest.agent.read_file("/sys/module/af_iucv/refcnt"))


@contextmanager
def bound(worker: Worker, user: str, name: str, kind: int = STREAM) -> Iterator[Socket]:
    with Socket.make(worker, kind) as made:
        made.try_bind(name, user).check()
        yield made


@contextmanager
def pair(worker: Worker, kind: int = STREAM) -> Iterator[tuple[Socket, Socket]]:
    """Two sockets that are connected over the first pair: who connected, who accepted."""
    with bound(worker, BETA, "SERVER", kind) as server, bound(worker, ALPHA, "CLIENT", kind) as one:
        server.listen(1)
        one.connect(BETA, "SERVER")
        with server.accept() as other:
            server.close()
            yield one, other


@KINDS
@pytest.mark.requirement("I1", "I2")
def test_data_pass_both_ways(worker: Worker, kind: int) -> None:
    """Messages of all lengths up to the largest one, in order; a longer record is refused."""
    with pair(worker, kind) as (client, accepted):
        assert client.names(Call.GETPEERNAME) == (BETA, "SERVER")
        assert accepted.names(Call.GETPEERNAME) == (ALPHA, "CLIENT")
        most = client.option(SO_MSGSIZE)
        assert most == MOST
        for number, size in enumerate((1, 7, 8, 100, 4096, 8000, most) * 3):
            for sender, receiver in ((client, accepted), (accepted, client)):
                data = pattern(size, number)
                assert sender.send(data, MSG_EOR) == size
                assert receiver.recv_all(size) == data
        if kind == SEQPACKET:
            assert client.try_send(pattern(most + 1000, 1), MSG_EOR).errno == errno.EMSGSIZE


@pytest.mark.requirement("I7")
def test_connections_beyond_the_backlog_are_refused(pairs: Guest) -> None:
    """A later one is accepted when there is room again."""
    worker = pairs.agent.worker("sockets")
    with bound(worker, BETA, "SERVER") as server, ExitStack() as stack:
        server.listen(1)
        for number in range(2):
            client = stack.enter_context(bound(worker, ALPHA, f"CLIENT{number}"))
            client.connect(BETA, "SERVER")
        for number in range(2, 5):
            with bound(worker, ALPHA, f"CLIENT{number}") as refused:
                assert refused.try_connect(BETA, "SERVER").errno == errno.ECONNREFUSED
        for _ in range(2):
            stack.enter_context(server.accept())
        last = stack.enter_context(bound(worker, ALPHA, "LAST"))
        last.connect(BETA, "SERVER")
        accepted = stack.enter_context(server.accept())
        last.send(b"the last one")
        assert accepted.recv(100) == b"the last one"


@KINDS
@pytest.mark.requirement("I8")
@pytest.mark.parametrize("before", [None, SHUT_WR], ids=["at-once", "after-shutdown"])
def test_partner_learns_that_a_socket_was_closed(
    worker: Worker, kind: int, before: int | None
) -> None:
    """Also if its sending had been shut down: data, then the end, then no partner any more."""
    with pair(worker, kind) as (client, accepted):
        client.send(b"data", MSG_EOR)
        if before is not None:
            client.shutdown(before).check()
            assert client.try_send(b"x", MSG_EOR).errno == errno.EPIPE
        client.close()
        assert accepted.recv(100) == b"data"
        assert accepted.recv(100) == b""
        # This goes the same way after it, and is answered.
        with bound(worker, ALPHA, "LATER") as later:
            assert later.try_connect(BETA, "NOBODY").errno == errno.ECONNREFUSED
        assert accepted.try_send(b"x", MSG_DONTWAIT | MSG_EOR).errno == errno.ENOTCONN
        assert accepted.ready(select.POLLIN) == select.POLLIN


@pytest.mark.requirement("I8")
def test_end_of_receiving_leaves_sending(worker: Worker) -> None:
    with pair(worker) as (client, accepted):
        client.shutdown(SHUT_RD).check()
        assert client.recv(100) == b""
        assert client.send(b"still") == 5
        assert accepted.recv(100) == b"still"


@pytest.mark.requirement("I13")
def test_nobody_listens(worker: Worker) -> None:
    with bound(worker, ALPHA, "CLIENT") as client:
        assert client.try_connect(BETA, "NOBODY").errno == errno.ECONNREFUSED
    with Socket.make(worker) as made:
        made.try_bind("NAME", GAMMA).check()
        assert made.names(Call.GETSOCKNAME) == (GAMMA, "NAME")


@pytest.mark.requirement("I9")
def test_partner_that_does_not_read_holds_the_sender_up(worker: Worker) -> None:
    """After as many messages as the partner takes, EAGAIN; all arrive in order."""
    with bound(worker, BETA, "SERVER") as server, bound(worker, ALPHA, "CLIENT") as client:
        server.set_option(SO_MSGLIMIT, 4).check()
        server.listen(1)
        client.connect(BETA, "SERVER")
        with server.accept() as accepted:
            count = 0
            while client.try_send(b"%04d" % count, MSG_DONTWAIT).errno == 0:
                count += 1
                assert count <= 4, "more than the partner takes"
            assert count == 4
            for number in range(count):
                assert accepted.recv(4) == b"%04d" % number
            assert client.send(b"more") == 4
            assert accepted.recv(4) == b"more"


# What the kernel's own af_iucv does against this: docs/upstream-kernel.md.


@pytest.mark.requirement("I16")
@FRAMES_OF_STRANGERS
def test_frames_of_another_network_reach_nobody(worker: Worker) -> None:
    """A socket is bound to its device; who sends on the other pair does not find it."""
    with bound(worker, ALPHA, "SERVER") as server, bound(worker, GAMMA, "CLIENT") as client:
        server.listen(1)
        assert client.try_connect(ALPHA, "SERVER").errno == errno.ECONNREFUSED
        assert server.ready(select.POLLIN) == 0


@pytest.mark.requirement("I16")
@pytest.mark.kernel_defect(
    40,
    "what a device cannot take of a stream's message is cut off, and counts as sent",
    seen=r"assert 9066 == 8074",
)
def test_stream_says_how_much_it_has_sent(worker: Worker) -> None:
    """More than one frame has room for: the number that send() returns is the number that arrives."""
    with pair(worker) as (client, accepted):
        data = pattern(MOST + 992, 1)
        said = client.send(data)
        found = accepted.recv(len(data))
        assert data.startswith(found)
        assert said == len(found)


@pytest.mark.requirement("I16")
@pytest.mark.kernel_defect(
    41, "a connection that is refused leaves a socket", seen=r"5 sockets are left"
)
def test_refused_connection_leaves_no_socket(pairs: Guest) -> None:
    worker = pairs.agent.worker("sockets")
    before = sockets(pairs)
    with bound(worker, BETA, "SILENT"):
        for _ in range(5):
            with bound(worker, ALPHA, "CLIENT") as refused:
                assert refused.try_connect(BETA, "SILENT").errno == errno.ECONNREFUSED
    left = sockets(pairs) - before
    assert left == 0, f"{left} sockets are left"
