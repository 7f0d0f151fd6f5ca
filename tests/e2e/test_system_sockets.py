# SPDX-License-Identifier: MIT
"""AF_IUCV between two guests: how much at once, how much altogether, and where it stops."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

import pytest
from iucv_socket import MSG_DONTWAIT, MSG_EOR, SEQPACKET, SO_MSGLIMIT, STREAM, Socket
from test_af_iucv import pattern
from test_system import connected
from waiting import wait_until

from zvmlab.agent.wire import Call
from zvmlab.agent.worker import Worker
from zvmlab.guest.system import System

if TYPE_CHECKING:
    from conftest import Build

PROGRAM = "/tmp/iucv_pace"
MAXCONN = 6
KINDS = pytest.mark.parametrize("kind", [STREAM, SEQPACKET], ids=["stream", "seqpacket"])
PAGE = 4096
# A page of a message, but for 18 pairs of address and length, and the 17 pages beside it that the
# kernel has room for.
MOST = PAGE - 18 * 8 + 17 * PAGE
MESSAGES = 1_000_000
ALL_SECONDS = 3600.0


@pytest.fixture
def alice(system: System) -> Worker:
    return system.guests["ALICE"].agent.worker("sockets")


@pytest.fixture
def bob(system: System) -> Worker:
    return system.guests["BOB"].agent.worker("sockets")


@KINDS
@pytest.mark.requirement("S1")
def test_as_much_as_one_call_takes(alice: Worker, bob: Worker, kind: int) -> None:
    """Every size up to the kernel's own limit, in one piece; EMSGSIZE for what is longer, up to 16 MiB."""
    flags = MSG_EOR if kind == SEQPACKET else 0
    calling, accepted = connected(alice, bob, "BOB", kind)
    for size in (1, *range(PAGE, MOST, PAGE), MOST):
        data = pattern(size, size)
        assert calling.send(data, flags) == size
        assert accepted.recv_all(size) == data
    for size in (MOST + 1, 1 << 20, 4 << 20, 16 << 20):
        # The kernel does not look at the data before it has room for all of them.
        result = alice.call(Call.SENDTO, calling.fd, 0, size, flags, 0, 0)
        assert result.errno == errno.EMSGSIZE
    assert calling.send(b"more", flags) == 4
    assert accepted.recv_all(4) == b"more"


@pytest.mark.requirement("S1")
def test_receiver_that_does_not_read(system: System, alice: Worker, bob: Worker) -> None:
    """It stops its sender at the limit of the path, and nowhere else; all of it arrives then."""
    limit = 5
    with Socket.make(bob, name="SERVER") as listening:
        listening.listen(1)
        calling = Socket.make(alice, name="CLIENT")
        calling.set_option(SO_MSGLIMIT, limit).check()
        calling.connect("BOB", "SERVER")
        accepted = listening.accept()
    sent = b""
    for number in range(10_000):
        message = pattern(PAGE, number)
        result = calling.try_send(message, MSG_DONTWAIT)
        if result.errno:
            break
        sent += message
    assert result.errno == errno.EAGAIN
    paths = system.guests["ALICE"].control.execute("query-paths", user="ALICE")["paths"]
    (path,) = [found for found in paths if found["partner"] == "BOB"]
    assert path["sent"] == path["msglim-send"] == limit
    assert accepted.recv_all(len(sent)) == sent
    assert calling.send(b"x") == 1 and accepted.recv(1) == b"x"


@pytest.mark.requirement("S1")
@pytest.mark.zvmlab_system(
    ALICE={
        "cp": {"directory": "IUCV ALLOW;IUCV *MSG;OPTION MAXCONN 6"},
        # Lockdep would report the listener that is closed with connections that nobody took (kernel 14).
        "command_line": "lockdep.prove_locking=0",
    },
    BOB={"cp": {"directory": "IUCV ANY;IUCV *MSG"}},
)
def test_whom_the_directory_refuses(system: System, alice: Worker, bob: Worker) -> None:
    """EACCES where neither has a statement for it, and EAGAIN when one has as many paths as it may."""
    with Socket.make(bob, name="SERVER") as server, Socket.make(alice, name="CLIENT") as client:
        server.listen(1)
        assert client.try_connect("BOB", "SERVER").errno == errno.EACCES
    made = []
    with Socket.make(alice, name="SERVER") as server:
        server.listen(MAXCONN)
        for number in range(MAXCONN + 1):
            made.append(Socket.make(bob, name=f"C{number}"))
            result = made[-1].try_connect("ALICE", "SERVER")
            if result.errno:
                break
        assert result.errno == errno.EAGAIN
        made.pop().close()
        # A path that goes makes room.
        made.pop().close()

        def connects() -> bool:
            with Socket.make(bob, name="LATER") as client:
                return client.try_connect("ALICE", "SERVER").errno == 0

        wait_until(connects, "room for another path")
        for one in made:
            one.close()


@pytest.mark.full
@pytest.mark.first_kernel
@pytest.mark.timeout(ALL_SECONDS + 600)
@pytest.mark.requirement("S1")
def test_a_million_messages_each_way(system: System, program: Build) -> None:
    """Both ways at the same time, numbered: none is lost, comes twice, or out of order."""
    alice, bob = (guest.agent for guest in system.guests.values())
    for agent in (alice, bob):
        agent.write_file(PROGRAM, program("iucv_pace").read_bytes(), 0o755)
    bob.spawn([PROGRAM, "serve"])
    words = [PROGRAM, "both", "BOB", str(MESSAGES), "100"]
    alice.run(words, timeout=ALL_SECONDS).check()
