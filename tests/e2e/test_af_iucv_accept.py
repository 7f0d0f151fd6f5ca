# SPDX-License-Identifier: MIT
"""accept() of AF_IUCV that has to wait: for a connection, a time, a signal, or the end of listening."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator

import pytest

from iucv_socket import SO_RCVTIMEO, Socket
from test_af_iucv_sockets import GUEST, later
from waiting import LIMIT
from zvmlab.agent.wire import Call
from zvmlab.agent.worker import Worker
from zvmlab.cp.afiucv import connect
from zvmlab.cp.peer import Peer
from zvmlab.guest.guest import Guest
from zvmlab.monitor.steps import await_sleep, thread_of

# The system call of s390x (asm/unistd.h).
ACCEPT4 = 364


@pytest.fixture
def worker(warm_guest: Guest) -> Worker:
    return warm_guest.agent.worker("sockets")


@pytest.fixture
def server(worker: Worker) -> Iterator[Socket]:
    with Socket.make(worker, name="SERVER") as made:
        made.listen(1)
        yield made


def accept_asleep(guest: Guest, server: Socket) -> Callable[[], tuple[int, int, bytes]]:
    """Begin to accept, and wait until it sleeps; what comes back waits for its result."""
    thread = thread_of(server.worker)
    accepting = later(server.worker, Call.ACCEPT4, server.fd, 0, 0, 0)
    await_sleep(guest.agent, thread, ACCEPT4)
    return accepting


@pytest.mark.requirement("I10")
def test_accept_sleeps_until_somebody_connects(warm_guest: Guest, server: Socket) -> None:
    """Twice, because the listener goes on."""
    with Peer(warm_guest.control, "PARTNER") as peer:
        for number in range(2):
            accepting = accept_asleep(warm_guest, server)
            with connect(peer, GUEST, "SERVER", timeout=LIMIT) as stream:
                fd, error, _ = accepting()
                assert (fd >= 0, error) == (True, 0)
                with Socket(server.worker, fd) as accepted:
                    stream.send(b"number %d" % number)
                    assert accepted.recv(100) == b"number %d" % number


@pytest.mark.requirement("I10")
def test_signal_ends_an_accept_that_sleeps(warm_guest: Guest, server: Socket) -> None:
    accepting = accept_asleep(warm_guest, server)
    assert server.worker.interrupt()
    assert accepting()[:2] == (-1, errno.EINTR)


@pytest.mark.requirement("I10")
def test_accept_sleeps_as_long_as_it_may(server: Socket) -> None:
    server.set_timeout(SO_RCVTIMEO, 1)
    assert server.try_accept().errno == errno.EAGAIN
