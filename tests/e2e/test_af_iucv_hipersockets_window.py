# SPDX-License-Identifier: MIT
"""AF_IUCV over HiperSockets: a partner that does not keep to what a socket allows."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from iucv_socket import SO_MSGLIMIT, SO_RCVBUF, SOL_SOCKET
from test_af_iucv import pattern
from test_af_iucv_hipersockets import ALPHA, BETA, bound, devices
from zvmlab.guest.guest import Guest

WINDOW = "/sys/module/hspair/parameters/window"


# The kernel also warns of such a partner.
@pytest.mark.zvmlab(crashes=("panic", "oops"))
@pytest.mark.requirement("I9", "I16")
def test_partner_that_sends_more_than_it_may_is_left(
    guest: Guest, built_module: Callable[..., Path]
) -> None:
    """The connection ends at the first message that is one too many."""
    with devices(guest, built_module):
        worker = guest.agent.worker("sockets")
        # The partner believes that it may send eight messages, and this end allows one.
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
                assert accepted.recv(4000) == pattern(4000, 0)
                assert accepted.try_recv(4000).errno == errno.EFAULT
                assert client.recv(1) == b""
