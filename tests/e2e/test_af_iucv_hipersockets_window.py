# SPDX-License-Identifier: MIT
"""AF_IUCV over HiperSockets: a partner that does not keep to what a socket allows."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from iucv_socket import MSG_DONTWAIT, SO_MSGLIMIT, SO_RCVBUF, SOL_SOCKET, Socket
from memory import UNCACHED, settled
from test_af_iucv import pattern
from test_af_iucv_hipersockets import ALPHA, BETA, bound, devices
from zvmlab.agent.worker import Worker
from zvmlab.base.errors import GuestPanic
from zvmlab.guest.guest import Guest

WINDOW = "/sys/module/hspair/parameters/window"


@contextmanager
def sent_too_much(guest: Guest, worker: Worker) -> Iterator[tuple[Socket, Socket]]:
    """A partner, and the socket to which it has sent four messages, one of which is allowed."""
    # The partner believes that it may send eight.
    guest.agent.write_file(WINDOW, b"8")
    with bound(worker, BETA, "SERVER") as server, bound(worker, ALPHA, "CLIENT") as client:
        server.set_option(SO_MSGLIMIT, 1).check()
        server.listen(1)
        client.connect(BETA, "SERVER")
        with server.accept() as accepted:
            # With room for one message at a time the others wait, so nothing is confirmed.
            accepted.set_option(SO_RCVBUF, 4096, SOL_SOCKET).check()
            for number in range(4):
                client.send(pattern(4000, number))
            # This goes the same way after them, and is answered.
            with bound(worker, ALPHA, "LATER") as later:
                assert later.try_connect(BETA, "NOBODY").errno == errno.ECONNREFUSED
            yield client, accepted


# The kernel also warns of such a partner: defect 53.
@pytest.mark.zvmlab(crashes=("panic", "oops"))
@pytest.mark.requirement("I9", "I16")
def test_partner_that_sends_more_than_it_may_is_left(
    guest: Guest, built_module: Callable[..., Path]
) -> None:
    """The connection ends at the first message that is one too many."""
    with devices(guest, built_module):
        worker = guest.agent.worker("sockets")
        with sent_too_much(guest, worker) as (client, accepted):
            assert accepted.recv(4000) == pattern(4000, 0)
            assert accepted.try_recv(4000).errno == errno.EFAULT
            assert client.recv(1) == b""


@pytest.mark.requirement("I16")
@pytest.mark.kernel_defect(
    53,
    "over HiperSockets, a partner that sends more than it may is a WARNING",
    seen=r"the guest's kernel reported a warning .*net/iucv/af_iucv\.c.*",
    raises=GuestPanic,
)
def test_partner_that_sends_more_than_it_may_is_no_warning(
    guest: Guest, built_module: Callable[..., Path]
) -> None:
    """What another system does is no mistake of this kernel's."""
    with devices(guest, built_module):
        worker = guest.agent.worker("sockets")
        with sent_too_much(guest, worker) as (_client, accepted):
            for _ in range(2):
                accepted.try_recv(4000)


@pytest.mark.requirement("I16")
@pytest.mark.kernel_defect(
    54,
    "over HiperSockets, what a partner sends beyond its window is kept without a limit",
    seen=r"assert [34]\d\d < 100",
)
@pytest.mark.zvmlab(command_line=UNCACHED)
@pytest.mark.timeout(600)
def test_partner_fills_no_memory(guest: Guest, built_module: Callable[..., Path]) -> None:
    """Three hundred messages, one of which is allowed, and nobody reads."""
    with devices(guest, built_module):
        worker = guest.agent.worker("sockets")
        guest.agent.write_file(WINDOW, b"1000")
        with bound(worker, BETA, "SERVER") as server, bound(worker, ALPHA, "CLIENT") as client:
            server.set_option(SO_MSGLIMIT, 1).check()
            server.listen(1)
            client.connect(BETA, "SERVER")
            with server.accept():
                before = settled(guest)
                for number in range(300):
                    if client.try_send(pattern(4000, number), MSG_DONTWAIT).errno:
                        break
                left = settled(guest).growth(before)
    assert left < 100
