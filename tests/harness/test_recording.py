# SPDX-License-Identifier: MIT
"""Records of *LOGREC, *ACCOUNT and *SYMPTOM, as peers collect them."""

from __future__ import annotations

from pathlib import Path

import pytest
from controlled import TIMEOUT
from controlled import _control as _control
from controlled import _server as _server

from zvmlab.cp import recording
from zvmlab.cp.control import Control, ControlError
from zvmlab.cp.faults import Fault, armed
from zvmlab.cp.peer import EventType, Flag, Peer
from zvmlab.cp.recording import SERVICES, await_received, make, queue, queues, quiesce, sever

WORDS = dict(zip(SERVICES, ("EREP", "ACCOUNT", "SYMPTOM"), strict=True))


def switched_on(control: Control, peer: Peer, service: str) -> int:
    """Recording is on for the peer, which is connected; the path."""
    assert control.cp(f"RECORDING {WORDS[service]} ON QID {peer.name}").rc == 0
    path = peer.connect(service, msglim=10).path
    peer.wait(EventType.COMPLETE, TIMEOUT, path)
    found = control.wait_event("recording-connected", TIMEOUT, service=service)
    assert found.data == {"user": peer.name, "service": service, "path": path, "count": 0}
    return path


def received(control: Control, peer: Peer, path: int, service: str) -> bytes:
    """The next record."""
    event = peer.wait(EventType.MSG_PENDING, TIMEOUT, path)
    assert (event.flags, event.trgcls) == (Flag.NORPY, 0)
    data = peer.receive(path, event.msgid, 0, event.length)
    await_received(control, service, TIMEOUT)
    return data


@pytest.mark.parametrize("service", SERVICES)
def test_peer_collects_records(control: Control, service: str) -> None:
    with Peer(control, "READER") as peer:
        path = switched_on(control, peer, service)
        records = [bytes([number]) * (number + 1) for number in range(20)]
        assert [make(control, service, record) for record in records] == [2] * 20
        found = queue(control, service, "READER")
        assert found is not None
        assert (found.on, found.count, found.state, found.path) == (True, 20, "pending", path)
        assert [received(control, peer, path, service) for _ in records] == records
        assert [q.count for q in queues(control) if q.service == service] == [20, 0]


def test_peer_that_comes_back_gets_what_it_has_not_received(control: Control) -> None:
    with Peer(control, "READER") as peer:
        path = switched_on(control, peer, "*LOGREC")
        make(control, "*LOGREC", b"record")
        peer.wait(EventType.MSG_PENDING, TIMEOUT, path)
    gone = control.wait_event("recording-severed", TIMEOUT)
    assert gone.data == {"user": "READER", "service": "*LOGREC", "path": path, "code": 0}
    with Peer(control, "READER") as peer:
        path = peer.connect("*LOGREC").path
        peer.wait(EventType.COMPLETE, TIMEOUT, path)
        assert received(control, peer, path, "*LOGREC") == b"record"


def test_service_severs_and_quiesces(control: Control) -> None:
    with Peer(control, "READER") as peer, Peer(control, "OTHER") as other:
        paths = [switched_on(control, user, "*SYMPTOM") for user in (peer, other)]
        assert quiesce(control, "*SYMPTOM") == 2
        peer.wait(EventType.QUIESCED, TIMEOUT, paths[0])
        assert quiesce(control, "*SYMPTOM", False) == 2
        peer.wait(EventType.RESUMED, TIMEOUT, paths[0])
        assert sever(control, "*SYMPTOM", 0x2C, "OTHER") == 1
        assert other.wait(EventType.SEVERED, TIMEOUT, paths[1]).ipuser[8] == 0x2C
        assert sever(control, "*SYMPTOM", 0x2D) == 1
        assert peer.wait(EventType.SEVERED, TIMEOUT, paths[0]).ipuser[:9] == b"-" + bytes(7) + b"-"
        assert sever(control, "*SYMPTOM", 0x2D) == 0


def test_user_that_quiesces_gets_nothing_until_it_resumes(control: Control) -> None:
    with Peer(control, "READER") as peer:
        path = switched_on(control, peer, "*ACCOUNT")
        peer.quiesce(path)
        make(control, "*ACCOUNT", b"record")
        assert [q.state for q in queues(control) if q.user == "READER"] == ["active"]
        peer.resume(path)
        assert received(control, peer, path, "*ACCOUNT") == b"record"


def test_fault_is_filtered_by_service(control: Control) -> None:
    with armed(control, Fault("recording.record", "drop", name="*ACCOUNT")) as rules:
        make(control, "*LOGREC", b"kept")
        make(control, "*ACCOUNT", b"lost")
    assert rules[0].fired == rules[0].matched == 1
    assert [q.count for q in queues(control)] == [1, 0, 0]


def test_wrong_requests_are_refused(control: Control) -> None:
    for service, record in (("*MONITOR", b"x"), ("*ACCOUNT", b""), ("*ACCOUNT", bytes(16385))):
        with pytest.raises(ControlError) as refused:
            make(control, service, record)
        assert refused.value.error_class == "BadArgument"
    assert make(control, "*ACCOUNT", bytes(recording.MAX_RECORD)) == 1


def test_state_has_the_queues(control: Control, tmp_path: Path) -> None:
    make(control, "*ACCOUNT", b"saved")
    control.execute("state-save", file=tmp_path / "state")
    assert control.cp("RECORDING ACCOUNT OFF PURGE").rc == 0
    control.execute("state-load", file=tmp_path / "state")
    assert [(q.on, q.count) for q in queues(control)] == [(True, 0), (True, 1), (True, 0)]
