# SPDX-License-Identifier: MIT
"""CP commands of other user IDs, as the guest sees what they do."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from zvmlab.cp.control import CpResponse
from zvmlab.cp.peer import Peer
from zvmlab.guest.guest import Guest

if TYPE_CHECKING:
    from conftest import Build, Commands

READY = "/tmp/listening"
LIMIT = 60
DONE = CpResponse("", 0)


def wait_for(guest: Guest, path: str) -> None:
    deadline = time.monotonic() + LIMIT
    while True:
        try:
            guest.agent.read_file(path)
            return
        except FileNotFoundError:
            assert time.monotonic() < deadline, f"{path} did not appear within {LIMIT} s"
            time.sleep(0.1)


@pytest.mark.not_debug("it has no smsgiucv_app")
@pytest.mark.zvmlab(modules=("smsgiucv_app",))
def test_smsg_of_a_peer_becomes_an_event_with_its_name(guest: Guest, program: Build) -> None:
    """The kernel's smsgiucv_app tells user space who sent a message, and what."""
    guest.agent.write_file("/tmp/smsg_events", program("smsg_events").read_bytes(), 0o755)
    guest.agent.modprobe("smsgiucv_app").check()
    listener = guest.agent.worker("events").spawn(["/tmp/smsg_events", "3", READY])
    wait_for(guest, READY)
    with Peer(guest.control, "TESTER") as tester, Peer(guest.control, "ADMIN") as admin:
        assert tester.cp("SMSG LINUX001 APP first") == DONE
        assert admin.cp("SMSG LINUX001 APP second") == DONE
        assert tester.cp("SMSG LINUX001 APPthird") == DONE
        seen = listener.wait(LIMIT).check().stdout.decode().splitlines()
    assert seen == ["TESTER first", "ADMIN second", "TESTER third"]


def test_peers_are_users_with_classes_of_their_own(
    warm_guest: Guest, vmcp_in: Callable[[Guest], Commands]
) -> None:
    """Guest and peers see one another; neither has what only the other may do."""
    vmcp = vmcp_in(warm_guest)
    control = warm_guest.control
    with Peer(control, "TESTER") as tester, Peer(control, "ADMIN", classes="BE") as admin:
        assert tester.cp("QUERY LINUX001") == CpResponse("LINUX001 - DSC\n", 0)
        assert vmcp("QUERY TESTER").text == "TESTER   - DSC\n"
        assert tester.cp("QUERY NSS").rc == 3
        assert admin.cp("QUERY NSS").rc == 0
        assert admin.cp("SMSG LINUX001 hello").rc == 1
        assert admin.cp("MSGNOH LINUX001 hello") == DONE
        # A peer has no virtual machine, least of all the guest's.
        assert admin.cp("SET SMSG OFF").rc == 3
        assert vmcp("MSG ADMIN hello").rc == 0
        heard = control.wait_event("console", LIMIT, user="ADMIN")
        assert heard.data["text"].endswith("* MSG FROM LINUX001: hello")
