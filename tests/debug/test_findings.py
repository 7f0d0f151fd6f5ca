# SPDX-License-Identifier: MIT
"""Findings of the debug kernel alone about the defects in docs/upstream-kernel.md."""

from __future__ import annotations

import os

import pytest

from zvmlab.cp.hvciucv import VERSION, IucvTerminal, Type
from zvmlab.cp.peer import Peer
from zvmlab.guest.guest import Guest

SECONDS = 60.0


@pytest.mark.parametrize("message", [bytes([VERSION]), bytes([VERSION, Type.DATA, 0])])
@pytest.mark.zvmlab(command_line="hvc_iucv=1")
def test_hvc_iucv_reads_beyond_a_short_message(guest: Guest, message: bytes) -> None:
    """Number 15: the head of a message is used before its length is looked at."""
    guest.agent.open("/dev/hvc0", os.O_RDWR | os.O_NOCTTY).check()
    with Peer(guest.control, "TESTER") as peer, IucvTerminal(peer, "LINUX001") as end:
        end.send_raw(message)
        found = guest.expect_crash("bug", seconds=SECONDS)
    assert "KASAN: slab-out-of-bounds in hvc_iucv_get_chars" in found.line
    guest.stop()  # or the plugin's own check would find that lockdep is off
