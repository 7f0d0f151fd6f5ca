# SPDX-License-Identifier: MIT
"""Peers that are streams: their events have the data, and what they send need not be waited for."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable
from typing import Any

import pytest
from controlled import TIMEOUT, Server
from controlled import _control as _control
from controlled import _server as _server

from zvmlab.base.errors import EmulatorError, Timeout, ZvmlabError
from zvmlab.cp.afiucv import AfIucvClosed, AfIucvListener, AfIucvStream, connect
from zvmlab.cp.control import Control, ControlError, decode
from zvmlab.cp.peer import EventType, Flag, IucvError, Peer, Result

COMPLETE = (EventType.MSG_COMPLETE, EventType.PRIO_COMPLETE)
MSGLIMIT = 3


class Pair:
    """ALICE, a plain user, and BOB, a stream, with a path that takes *limit* messages of each."""

    def __init__(self, control: Control, limit: int = 200) -> None:
        self.alice, self.bob = Peer(control, "ALICE"), Peer(control, "BOB", stream=True)
        self.there = self.alice.connect("BOB", msglim=limit, flags=Flag.RMDATA).path
        self.here = self.bob.wait(EventType.PENDING, TIMEOUT).path
        self.bob.accept(self.here, msglim=limit, flags=Flag.RMDATA)
        self.alice.wait(EventType.COMPLETE, TIMEOUT)


@pytest.mark.parametrize("size", [0, 1, 7, 4096, 1 << 20])
def test_event_has_the_data(control: Control, size: int) -> None:
    pair = Pair(control)
    data = bytes(n * n % 251 for n in range(size))
    pair.alice.send(pair.there, data, 7)
    event = pair.bob.wait(EventType.MSG_PENDING, TIMEOUT, pair.here)
    assert (event.received, event.data, event.length, event.trgcls) == (True, data, size, 7)
    pair.alice.wait(EventType.MSG_COMPLETE, TIMEOUT, pair.there)
    with pytest.raises(IucvError):
        pair.bob.receive(pair.here, event.msgid, 7, size)


def test_data_in_the_parameter_list_is_where_it_was(control: Control) -> None:
    pair = Pair(control)
    pair.alice.send(pair.there, b"in list!", flags=Flag.RMDATA)
    event = pair.bob.wait(EventType.MSG_PENDING, TIMEOUT)
    assert (event.received, event.rmmsg, event.data) == (False, b"in list!", b"")


def test_two_way_message_is_received_and_replied_to(control: Control) -> None:
    pair = Pair(control)
    pair.alice.send(pair.there, b"question", 5, answer_length=20)
    event = pair.bob.wait(EventType.MSG_PENDING, TIMEOUT)
    assert (event.data, event.answer_length) == (b"question", 20)
    pair.bob.reply(pair.here, event.msgid, 5, b"answer")
    assert pair.alice.wait(EventType.MSG_COMPLETE, TIMEOUT).data == b"answer"


def test_one_way_message_in_order_makes_no_event(control: Control) -> None:
    """A reply does, and a message that was rejected."""
    pair = Pair(control)
    pair.bob.send(pair.here, b"one way")
    asked = pair.bob.send(pair.here, b"question", answer_length=20)
    refused = pair.bob.send(pair.here, b"refused")
    for _ in range(3):
        event = pair.alice.wait(EventType.MSG_PENDING, TIMEOUT)
        if event.msgid == refused.msgid:
            pair.alice.reject(pair.there, event.msgid, 0)
            continue
        pair.alice.receive(pair.there, event.msgid, 0, 100)
        if event.msgid == asked.msgid:
            pair.alice.reply(pair.there, event.msgid, 0, b"answer")
    told = [pair.bob.wait(COMPLETE, TIMEOUT) for _ in range(2)]
    assert [(event.msgid, event.data) for event in told] == [
        (asked.msgid, b"answer"),
        (refused.msgid, b""),
    ]
    assert told[1].audit == 0x040000
    with pytest.raises(Timeout):
        pair.bob.wait(COMPLETE, 0)


def test_send_says_what_the_path_still_takes(control: Control) -> None:
    pair = Pair(control, limit=3)
    assert [pair.bob.send(pair.here, b"x").room for _ in range(3)] == [2, 1, 0]
    with pytest.raises(IucvError) as caught:
        pair.bob.send(pair.here, b"x")
    assert caught.value.result.code == MSGLIMIT
    event = pair.alice.wait(EventType.MSG_PENDING, TIMEOUT)
    pair.alice.receive(pair.there, event.msgid, 0, 1)
    assert pair.bob.send(pair.here, b"x").room == 0


class RawClient:
    """A client that reads nothing until it is told to."""

    def __init__(self, server: Server) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(TIMEOUT)
        self._socket.connect(str(server.socket))
        self._lines = self._socket.makefile("rb")
        self.next()

    def next(self) -> dict[str, Any]:
        """The next message, whatever it is."""
        return dict(json.loads(self._lines.readline()))

    def ask(self, command: str, **arguments: Any) -> None:
        """Send a request."""
        line = json.dumps({"execute": command, "arguments": arguments, "id": 1}) + "\n"
        self._socket.sendall(line.encode())

    def close(self) -> None:
        """End the connection."""
        self._lines.close()
        self._socket.close()


def test_client_that_is_behind_receives_by_itself(server: Server, control: Control) -> None:
    """The message limit slows the sender down, and nothing is lost, whoever has received it."""
    parts = [bytes([n]) * 100_000 for n in range(60)]
    slow = RawClient(server)
    with contextlib.closing(slow), Peer(control, "ALICE") as alice:
        slow.ask("peer-create", name="BOB", stream=True)
        assert "return" in slow.next()
        path = alice.connect("BOB", msglim=255).path
        here = slow.next()["data"]["path"]
        slow.ask("peer-call", peer="BOB", function="accept", path=here, msglim=255)
        assert "return" in slow.next()
        for part in parts:
            alice.send(path, part, 1)
        (state,) = control.execute("query-paths", user="ALICE")["paths"]
        assert 30 < state["sent"] < 60, "the first are received, those behind 1 MiB are not"
        found: list[bytes | None] = []
        by_hand = 0
        for _ in parts:
            event = slow.next()["data"]
            if "data" in event:
                found.append(decode(event["data"]))
                continue
            by_hand += 1
            found.append(None)
            slow.ask(
                "peer-call",
                peer="BOB",
                function="receive",
                path=here,
                msgid=event["msgid"],
                trgcls=1,
                flags=7,
                length=event["length"],
            )
        answers = [decode(slow.next()["return"]["data"]) for _ in range(by_hand)]
        assert by_hand == state["sent"]
        assert [part if part is not None else answers.pop(0) for part in found] == parts


def _streams(control: Control) -> tuple[Peer, Peer, AfIucvStream, AfIucvStream]:
    """A plain user and a stream, the end of the stream, and that of its partner."""
    server, client = Peer(control, "SERVER"), Peer(control, "CLIENT", stream=True)
    accepted: list[AfIucvStream] = []
    thread = threading.Thread(
        target=lambda: accepted.append(AfIucvListener(server, "ECHO").accept(TIMEOUT))
    )
    thread.start()
    stream = connect(client, "SERVER", "ECHO", timeout=TIMEOUT)
    thread.join()
    return server, client, stream, accepted[0]


def test_posted_messages_come_in_order(control: Control) -> None:
    """Also among those that are waited for, long ones, and those of several parts."""
    _, _, stream, other = _streams(control)
    sent = [bytes([n]) * (40_000 if n % 5 == 0 else n) for n in range(1, 60)]
    for number, data in enumerate(sent):
        stream.send(data, TIMEOUT, answered=number % 3 != 0)
    expected = b"".join(sent)
    found = b""
    while len(found) < len(expected):
        found += other.recv(TIMEOUT)
    assert found == expected


def test_posting_stops_where_the_message_limit_is(control: Control) -> None:
    """Then send() waits, as it does without."""
    _, _, stream, other = _streams(control)
    for _ in range(255):
        stream.send(b"12345678", TIMEOUT, answered=True)
    with pytest.raises(Timeout, match="its message limit is reached$"):
        stream.send(b"12345678", 0.05, answered=True)
    assert other.recv(TIMEOUT) == b"12345678"
    stream.send(b"12345678", TIMEOUT, answered=True)


def test_posted_message_that_fails_is_raised_by_recv(control: Control) -> None:
    _, client, stream, _ = _streams(control)
    stream.send(b"12345678", TIMEOUT)
    client.sever(stream.path)
    stream.send(b"12345678", TIMEOUT, answered=True)
    for _ in range(2):
        with pytest.raises(AfIucvClosed, match="sending to SERVER ECHO failed: .* IPRCODE 01$"):
            stream.recv(TIMEOUT)
    with pytest.raises(AfIucvClosed, match="IPRCODE 01$"):
        stream.send(b"12345678", TIMEOUT)


def test_posted_message_to_a_partner_that_has_gone_is_the_end(control: Control) -> None:
    server, _, stream, _ = _streams(control)
    stream.send(b"12345678", TIMEOUT)
    server.close()
    stream.send(b"12345678", TIMEOUT, answered=True)
    assert stream.recv(TIMEOUT) == b""


def _posted(peer: Peer, path: int, later: bool = False) -> Callable[[], Result | ZvmlabError]:
    """Post a message; what is returned waits for what is told of it."""
    told: list[Result | ZvmlabError] = []
    came = threading.Event()

    def sent(result: Result | ZvmlabError) -> None:
        told.append(result)
        came.set()

    peer.post(path, b"posted", 0, sent, later)

    def wait() -> Result | ZvmlabError:
        assert came.wait(TIMEOUT)
        (result,) = told
        return result

    return wait


def test_answer_comes_though_nobody_waits_for_anything_else(control: Control) -> None:
    pair = Pair(control)
    result = _posted(pair.bob, pair.here)()
    assert isinstance(result, Result) and result.done and result.room == 199


def test_answer_that_may_come_later_comes_with_the_next(control: Control) -> None:
    """One that says that something went wrong does not wait for it."""
    pair = Pair(control)
    wait = _posted(pair.bob, pair.here, later=True)
    control.execute("query-version")
    result = wait()
    assert isinstance(result, Result) and result.done
    result = _posted(Peer(control, "CAROL"), 1, later=True)()
    assert isinstance(result, Result) and (result.cc, result.code) == (1, 1)


def test_refused_request_is_told(control: Control) -> None:
    pair = Pair(control)
    wait = _posted(Peer(control, "CAROL"), 1)
    result = wait()
    assert isinstance(result, Result) and (result.cc, result.code) == (1, 1)
    pair.bob.close()
    assert isinstance(_posted(pair.bob, pair.here)(), ControlError)


def test_waiting_thread_takes_in_what_others_wait_for(control: Control) -> None:
    """Requests, events and posts of some threads, while others wait for what does not come."""
    pair = Pair(control)
    done = threading.Event()

    def wait_in_vain() -> None:
        with pytest.raises(EmulatorError):
            while not done.is_set():
                control.wait_event("reset", TIMEOUT)

    waiting = [threading.Thread(target=wait_in_vain) for _ in range(3)]
    for thread in waiting:
        thread.start()
    failures: list[BaseException] = []

    def ask() -> None:
        try:
            for _ in range(100):
                assert control.cp("QUERY USERID").rc == 0
        except BaseException as error:  # pylint: disable=broad-exception-caught
            failures.append(error)

    asking = [threading.Thread(target=ask) for _ in range(3)]
    for thread in asking:
        thread.start()
    for number in range(100):
        pair.alice.send(pair.there, bytes([number]))
        assert pair.bob.wait(EventType.MSG_PENDING, TIMEOUT).data == bytes([number])
    for thread in asking:
        thread.join()
    done.set()
    control.close()
    for thread in waiting:
        thread.join()
    assert not failures
