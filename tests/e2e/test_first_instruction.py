# SPDX-License-Identifier: MIT
"""Peers and faults that are there before the guest executes its first instruction."""

from __future__ import annotations

import pytest

from zvmlab.cp.peer import EventType, Peer
from zvmlab.guest.guest import Guest

pytestmark = pytest.mark.first_kernel


def test_fault_armed_first_is_met_by_the_boot(paused_guest: Guest) -> None:
    rule = paused_guest.control.execute(
        "fault-arm", point="iucv.connect", kind="rc", value=15, name="*MSG", times=1
    )["rule"]
    paused_guest.boot()
    (status,) = paused_guest.control.execute("query-faults")["rules"]
    assert (status["rule"], status["matched"], status["fired"]) == (rule, 1, 1)
    # smsgiucv connects at boot; refused, it never asks CP for messages by IUCV.
    users = paused_guest.control.execute("query-paths", user="LINUX001")["paths"]
    assert "*MSG" not in {path["partner"] for path in users}


@pytest.mark.full
def test_without_the_fault_the_same_connection_stands(paused_guest: Guest) -> None:
    paused_guest.boot()
    users = paused_guest.control.execute("query-paths", user="LINUX001")["paths"]
    assert "*MSG" in {path["partner"] for path in users}


@pytest.mark.full
def test_peer_created_first_is_there_for_the_boot(paused_guest: Guest) -> None:
    """hvc_iucv, built into the kernel, gets a pending connection as soon as it has a buffer."""
    with Peer(paused_guest.control, "TERMINAL") as peer:
        assert "TERMINAL" in paused_guest.cp("QUERY NAMES").response
        refused = peer.call("connect", vmid="LINUX001", ipuser=bytes(16))
        assert (refused.cc, refused.code) == (1, 0x0C)  # no buffer declared yet
        paused_guest.boot()
        ipuser = "lnxhvc0 TERMINAL".encode("cp037")
        path = peer.connect("LINUX001", ipuser, msglim=10).path
        complete = peer.wait(EventType.COMPLETE, 60, path)
        assert complete.ipuser == "TERMINALlnxhvc0 ".encode("cp037")
