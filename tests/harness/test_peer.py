# SPDX-License-Identifier: MIT
"""Peers: two user IDs that talk through the CP's IUCV, and a reader of *MONITOR."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from controlled import TIMEOUT, Server
from controlled import _control as _control
from controlled import _server as _server

from zvmlab.base.errors import EmulatorError, Timeout
from zvmlab.cp.control import Control, ControlError
from zvmlab.cp.peer import EventType, Flag, IucvError, Peer

WANTED = bytes([1, 0xC0] + 6 * [255]) + "MONDCSS ".encode("cp037")


class Pair:
    """ALICE and BOB with a path between them."""

    def __init__(self, control: Control) -> None:
        self.alice = Peer(control, "ALICE")
        self.bob = Peer(control, "BOB")
        self.there = self.alice.connect("BOB", b"hello", msglim=5, flags=Flag.RMDATA).path
        event = self.bob.wait(EventType.PENDING, TIMEOUT)
        assert (event.vmid, event.msglim) == ("ALICE", 5)
        assert event.ipuser == b"hello".ljust(16, b"\0")
        self.here = event.path
        self.bob.accept(self.here, b"welcome", msglim=3, flags=Flag.RMDATA)
        complete = self.alice.wait(EventType.COMPLETE, TIMEOUT)
        assert (complete.path, complete.ipuser[:7]) == (self.there, b"welcome")


@pytest.fixture(name="pair")
def _pair(control: Control) -> Pair:
    return Pair(control)


@pytest.fixture(name="reader")
def _reader(control: Control) -> Iterator[tuple[Peer, int]]:
    """A user of *MONITOR, its intervals ended by hand."""
    control.execute("monitor-manual", manual=True)
    with Peer(control, "READER") as peer:
        path = peer.connect("*MONITOR", WANTED, msglim=2, flags=Flag.RMDATA).path
        peer.wait(EventType.COMPLETE, TIMEOUT, path)
        yield peer, path


def test_two_way_message(pair: Pair) -> None:
    sent = pair.alice.send(pair.there, b"question", 7, srccls=8, msgtag=9, answer_length=100)
    event = pair.bob.wait(EventType.MSG_PENDING, TIMEOUT)
    assert (event.path, event.msgid, event.trgcls) == (pair.here, sent.msgid, 7)
    assert (event.length, event.answer_length) == (8, 100)
    assert pair.bob.receive(pair.here, event.msgid, 7, 1000) == b"question"
    pair.bob.reply(pair.here, event.msgid, 7, b"answer")
    done = pair.alice.wait([EventType.MSG_COMPLETE, EventType.PRIO_COMPLETE], TIMEOUT, pair.there)
    assert (done.msgid, done.srccls, done.msgtag, done.audit) == (sent.msgid, 8, 9, 0)
    assert (done.data, done.answer_length) == (b"answer", 94)


def test_one_way_messages_in_order(pair: Pair) -> None:
    texts = [b"", b"a", bytes(range(256)) * 4096]
    for number, text in enumerate(texts):
        pair.alice.send(pair.there, text, number)
    for number, text in enumerate(texts):
        event = pair.bob.wait(EventType.MSG_PENDING, TIMEOUT)
        assert (event.trgcls, event.length) == (number, len(text))
        assert pair.bob.receive(pair.here, event.msgid, number, len(text)) == text
        assert pair.alice.wait(EventType.MSG_COMPLETE, TIMEOUT).data == b""


def test_parameter_list_data(pair: Pair) -> None:
    pair.alice.send(pair.there, b"8 bytes!", 1, flags=Flag.RMDATA, answer_length=8)
    event = pair.bob.wait(EventType.MSG_PENDING, TIMEOUT)
    assert event.flags & Flag.RMDATA
    assert event.rmmsg == b"8 bytes!"
    pair.bob.reply(pair.here, event.msgid, 1, b"and back", flags=Flag.RMDATA)
    done = pair.alice.wait(EventType.MSG_COMPLETE, TIMEOUT)
    assert (done.rmmsg, done.data) == (b"and back", b"")


def test_partial_receive(pair: Pair) -> None:
    pair.alice.send(pair.there, b"0123456789", 1)
    event = pair.bob.wait(EventType.MSG_PENDING, TIMEOUT)
    with pytest.raises(IucvError, match="^IUCV receive of BOB on path 0: cc 1, IPRCODE 05$") as e:
        pair.bob.receive(pair.here, event.msgid, 1, 4)
    assert (e.value.result.data, e.value.result.residual) == (b"0123", 6)
    assert pair.bob.receive(pair.here, event.msgid, 1, 100) == b"456789"


def test_message_limit(pair: Pair) -> None:
    """Each side's own limit, as it gave it with CONNECT or ACCEPT."""
    for _ in range(5):
        pair.alice.send(pair.there, b"x")
    with pytest.raises(IucvError) as info:
        pair.alice.send(pair.there, b"x")
    assert (info.value.result.cc, info.value.result.code) == (1, 3)


def test_reject_and_purge(pair: Pair) -> None:
    pair.alice.send(pair.there, b"x", 1, answer_length=8)
    event = pair.bob.wait(EventType.MSG_PENDING, TIMEOUT)
    pair.bob.reject(pair.here, event.msgid, 1)
    done = pair.alice.wait(EventType.MSG_COMPLETE, TIMEOUT)
    assert (done.audit, done.data) == (0x040000, b"")
    sent = pair.alice.send(pair.there, b"y", 2, srccls=3)
    assert pair.alice.purge(pair.there, sent.msgid, srccls=3).audit == 0x010000


def test_completion_of_a_message_on_its_way(control: Control, pair: Pair) -> None:
    """Not complete yet; the target has been told of it, so nothing is left to describe."""
    sent = pair.alice.send(pair.there, b"x", 1, answer_length=8)
    outcome = pair.alice.call(
        "test-completion",
        path=pair.there,
        msgid=sent.msgid,
        flags=Flag.FGMID | Flag.FGPID,
    )
    assert outcome.cc == 2
    described = pair.bob.call("describe")
    assert described.cc == 2
    assert control.execute("query-paths", user="ALICE")["paths"][0]["sent"] == 1


def test_quiesce_and_resume(pair: Pair) -> None:
    pair.bob.quiesce(pair.here, b"later")
    assert pair.alice.wait(EventType.QUIESCED, TIMEOUT).ipuser[:5] == b"later"
    with pytest.raises(IucvError) as info:
        pair.alice.send(pair.there, b"x")
    assert info.value.result.code == 2
    pair.bob.resume(pair.here)
    pair.alice.wait(EventType.RESUMED, TIMEOUT)
    pair.alice.send(pair.there, b"x")


def test_sever(control: Control, pair: Pair) -> None:
    state = control.execute("query-paths", user="BOB")
    assert [(p["path"], p["partner"], p["state"]) for p in state["paths"]] == [
        (pair.here, "ALICE", "open")
    ]
    pair.alice.sever(pair.there, b"bye")
    assert pair.bob.wait(EventType.SEVERED, TIMEOUT).ipuser[:3] == b"bye"
    assert control.execute("query-paths", user="ALICE")["paths"] == []
    with pytest.raises(IucvError, match="cc 1, IPRCODE 01$"):
        pair.alice.send(pair.there, b"x")


def test_destroyed_peer_severs(pair: Pair) -> None:
    pair.alice.send(pair.there, b"x", answer_length=100)
    pair.alice.close()
    pair.alice.close()
    pair.bob.wait(EventType.SEVERED, TIMEOUT, pair.here)
    with pytest.raises(ControlError, match="this connection has no peer ALICE"):
        pair.alice.send(pair.there, b"x")


def test_peer_gets_no_events_of_an_earlier_one_of_its_name(control: Control, pair: Pair) -> None:
    pair.alice.send(pair.there, b"never looked at", 1)
    pair.bob.close()
    pair.alice.wait(EventType.SEVERED, TIMEOUT)
    with Peer(control, "BOB") as bob:
        path = pair.alice.connect("BOB").path
        assert path != pair.there  # Alice has not severed the old one
        here = bob.wait([EventType.PENDING, EventType.MSG_PENDING], TIMEOUT)
        assert here.type is EventType.PENDING
        bob.accept(here.path)
        pair.alice.send(path, b"for the second", 2)
        message = bob.wait(EventType.MSG_PENDING, TIMEOUT, here.path)
        assert bob.receive(here.path, message.msgid, 2, 100) == b"for the second"


def test_connection_without_partner(control: Control) -> None:
    with Peer(control, "ALICE") as alice:
        with pytest.raises(IucvError, match="^IUCV connect of ALICE on path 0: cc 1, IPRCODE 0b$"):
            alice.connect("NOBODY")
        with pytest.raises(Timeout, match="event iucv-event peer='ALICE'"):
            alice.wait(EventType.PENDING, 0.05)


def test_names_are_unique(server: Server, control: Control) -> None:
    with Peer(control, "alice") as alice, server.connect() as other:
        assert alice.name == "ALICE"
        with pytest.raises(ControlError, match="^ALICE is logged on already; choose another name$"):
            Peer(other, "ALICE")
    with server.connect() as other:
        Peer(other, "ALICE")


def test_outstanding_messages_are_bounded(control: Control) -> None:
    with Peer(control, "ALICE") as alice, Peer(control, "BOB") as bob:
        path = alice.connect("BOB", msglim=100).path
        bob.accept(bob.wait(EventType.PENDING, TIMEOUT).path, msglim=100)
        alice.wait(EventType.COMPLETE, TIMEOUT)
        room = 6 << 20
        for _ in range(10):
            alice.send(path, b"x", answer_length=room)
        with pytest.raises(ControlError, match="it would exceed 67108864$"):
            alice.send(path, b"x", answer_length=room)
        alice.sever(path)
        path = alice.connect("BOB").path
        assert alice.call("send", path=path, data=b"x", answer_length=room).cc == 1


def test_one_way_messages_are_outstanding_until_received(control: Control) -> None:
    with Peer(control, "ALICE") as alice, Peer(control, "BOB") as bob:
        path = alice.connect("BOB", msglim=100).path
        there = bob.wait(EventType.PENDING, TIMEOUT).path
        bob.accept(there, msglim=100)
        alice.wait(EventType.COMPLETE, TIMEOUT)
        room = 6 << 20
        for _ in range(2):
            for _ in range(10):
                alice.send(path, b"x", answer_length=room, flags=Flag.NORPY)
            with pytest.raises(ControlError, match="it would exceed 67108864$"):
                alice.send(path, b"x", answer_length=room, flags=Flag.NORPY)
            for _ in range(10):
                event = bob.wait(EventType.MSG_PENDING, TIMEOUT)
                assert bob.receive(there, event.msgid, event.trgcls, event.length) == b"x"
                done = alice.wait(EventType.MSG_COMPLETE, TIMEOUT)
                assert (done.answer_length, done.data) == (0, b"")


def test_peer_outlives_the_emulator(server: Server, control: Control) -> None:
    with Peer(control, "ALICE") as alice:
        server.stop()
        with pytest.raises(EmulatorError):
            alice.wait(EventType.PENDING, TIMEOUT)


def test_reader_sees_the_captured_set(
    control: Control, reader: tuple[Peer, int], tmp_path: Path
) -> None:
    peer, path = reader
    file = tmp_path / "sets"
    control.execute("monitor-capture", file=file)
    for number in (1, 2):
        elements = [
            {"domains": 0x8000, "data": b"r" * number},
            {"domains": 0x0400, "fill": {"length": 5000, "seed": 3}, "phase": 4000, "byte3": 9},
        ]
        answer = control.execute("monitor-deliver", kind="sample", elements=elements)
        assert answer == {"set": number, "fate": "delivered"}
        event = peer.wait(EventType.MSG_PENDING, TIMEOUT, path)
        start, end = (int.from_bytes(event.rmmsg[i : i + 4], "big") for i in (0, 4))
        assert control.execute("query-set", set=number) == {
            "set": number,
            "kind": "sample",
            "mca-start": start,
            "mca-end": end,
            "waiting": 1,
        }
        assert end - start + 1 == 24
    assert control.execute("monitor-deliver", kind="sample", elements=elements)["fate"] == (
        "lost-limit"
    )
    lost = control.wait_event("monitor-lost", TIMEOUT).data
    assert lost == {"user": "READER", "path": path, "lost": 1}
    stream = file.read_bytes()
    index = [json.loads(line) for line in Path(f"{file}.idx").read_text("ascii").splitlines()]
    assert index == [
        {"set": 1, "kind": "sample", "offset": 0, "length": 5025, "mces": 2},
        {"set": 2, "kind": "sample", "offset": 5025, "length": 5026, "mces": 2},
    ]
    # Type S, domain 0; the record; type S, domain 5, byte 3, records from X'fa0' of a frame.
    assert stream[:4] == bytes([0xE2, 0x80, 0, 0])
    assert stream[12:13] == b"r"
    assert stream[13:17] == bytes([0xE2, 4, 0, 9])
    assert int.from_bytes(stream[17:21], "big") % 4096 == 4000
    assert stream[25:33] == bytes.fromhex("1d0b14e4db018fed")
    assert control.execute("monitor-capture") == {"sets": 2, "bytes": 10051}
    assert control.execute("monitor-capture", file=None) == {"sets": 0, "bytes": 0}


def test_capture_that_cannot_be_written(control: Control, reader: tuple[Peer, int]) -> None:
    assert reader[1] == 0
    with pytest.raises(ControlError, match="^capture file /none/x or /none/x.idx cannot be wr"):
        control.execute("monitor-capture", file="/none/x")


def test_monitor_faults(control: Control, reader: tuple[Peer, int]) -> None:
    peer, path = reader
    rule = control.execute("fault-arm", point="monitor.message", kind="drop", times=1)["rule"]
    elements = [{"domains": 0x8000, "fill": {"length": 100, "pattern": 255}}]
    control.execute("monitor-deliver", kind="sample", elements=elements)
    fault = control.wait_event("fault", TIMEOUT).data
    assert fault == {"point": "monitor.message", "name": "*MONITOR", "rule": rule}
    with pytest.raises(Timeout):
        peer.wait(EventType.MSG_PENDING, 0.05, path)
    control.execute("monitor-deliver", kind="sample", elements=elements)
    event = peer.wait(EventType.MSG_PENDING, TIMEOUT, path)
    peer.reply(path, event.msgid, event.trgcls, bytes(8), flags=Flag.RMDATA)
    replied = control.wait_event("monitor-replied", TIMEOUT).data
    assert (replied["user"], replied["path"]) == ("READER", path)


def test_severed_by_monitor(control: Control, reader: tuple[Peer, int]) -> None:
    peer, path = reader
    assert control.execute("monitor-sever", user="nobody", code=1) == {"severed": 0}
    assert control.execute("monitor-sever", user="reader", code=0x2C) == {"severed": 1}
    assert peer.wait(EventType.SEVERED, TIMEOUT, path).ipuser[0] == 0x2C
    severed = control.wait_event("monitor-severed", TIMEOUT).data
    assert severed == {"user": "READER", "path": path, "code": 0x2C}


def test_quiesced_by_monitor(control: Control, reader: tuple[Peer, int]) -> None:
    peer, path = reader
    assert control.execute("monitor-quiesce", user="nobody", quiesced=True) == {"paths": 0}
    assert control.execute("monitor-quiesce", user="reader", quiesced=True) == {"paths": 1}
    peer.wait(EventType.QUIESCED, TIMEOUT, path)
    refused = peer.call("send", path=path, trgcls=1, rmmsg=bytes(8), flags=Flag.RMDATA)
    assert (refused.cc, refused.code) == (1, 2)
    assert control.execute("monitor-quiesce", quiesced=False) == {"paths": 1}
    peer.wait(EventType.RESUMED, TIMEOUT, path)


def test_raw_addresses(control: Control, reader: tuple[Peer, int]) -> None:
    peer, path = reader
    control.execute("monitor-raw", kind="event", mca_start=0xFFFFFFF0, mca_end=5)
    event = peer.wait(EventType.MSG_PENDING, TIMEOUT, path)
    assert event.rmmsg == bytes.fromhex("fffffff000000005")


def test_same_inputs_same_trace(tmp_path: Path) -> None:
    traces = []
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        server = Server(folder, "seed=5")
        try:
            with server.connect() as control:
                pair = Pair(control)
                pair.alice.send(pair.there, b"x" * 1000, 1)
                event = pair.bob.wait(EventType.MSG_PENDING, TIMEOUT)
                pair.bob.receive(pair.here, event.msgid, 1, 1000)
                pair.alice.close()
                pair.bob.close()
        finally:
            server.stop()
        traces.append(server.trace.read_bytes())
    assert traces[0] == traces[1]
    assert traces[0].count(b'"call":"iucv.send"') == 1
