# SPDX-License-Identifier: MIT
"""AF_IUCV streams over a peer that plays two user IDs joined by a path."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, cast

import pytest

from zvmlab.base.errors import Timeout
from zvmlab.cp import afiucv
from zvmlab.cp.afiucv import AfIucvClosed, AfIucvListener, AfIucvRefused, AfIucvStream
from zvmlab.cp.peer import EventType, Flag, IucvError, IucvEvent, Peer, Result


def event(kind: EventType, path: int, **fields: Any) -> IucvEvent:
    values: dict[str, Any] = {"flags": 0, "msglim": 0, "vmid": "", "ipuser": bytes(16)}
    values |= {"msgid": 0, "trgcls": 0, "srccls": 0, "msgtag": 0, "audit": 0}
    values |= {"rmmsg": bytes(8), "length": 0, "answer_length": 0}
    return IucvEvent(type=kind, path=path, **{**values, **fields})


def result(function: str, path: int = 0, cc: int = 0, code: int = 0, flags: int = 0) -> Result:
    values: dict[str, Any] = dict.fromkeys(Result._fields, 0)
    values |= {"function": function, "path": path, "cc": cc, "code": code, "flags": flags}
    values |= {"rmmsg": bytes(8), "data": b""}
    return Result(**values)


class Two:
    """A user ID with the methods of Peer that streams use; *other* is its partner.

    A path has the same id on both sides: the lowest that is free.
    """

    ids = itertools.count(1)

    def __init__(self, name: str, limit: int = 255, allow_iprm: bool = True) -> None:
        self.name = name
        self.limit = limit
        self.allow_iprm = allow_iprm
        self.other: Two = self
        self.events: deque[IucvEvent] = deque()
        self.messages: dict[int, bytes] = {}
        self.calls: list[tuple[str, bytes, int]] = []
        self.paths: set[int] = set()

    def _fail(self, function: str, path: int, code: int) -> IucvError:
        return IucvError(self.name, result(function, path, 1, code))

    def connect(self, user: str, ipuser: bytes, msglim: int, flags: int) -> Result:
        if user != self.other.name:
            raise self._fail("connect", 0, 0x0B)
        assert msglim == 255
        path = next(n for n in itertools.count() if n not in self.paths | self.other.paths)
        self.paths.add(path)
        self.other.paths.add(path)
        fields = {"vmid": self.name, "ipuser": ipuser, "flags": flags}
        self.other.events.append(event(EventType.PENDING, path, **fields))
        return result("connect", path)

    def accept(self, path: int, ipuser: bytes, msglim: int, flags: int) -> Result:
        if path not in self.other.paths:
            raise self._fail("accept", path, 0x14)
        granted = flags if self.allow_iprm else 0
        self.other.events.append(event(EventType.COMPLETE, path, ipuser=ipuser, flags=granted))
        return result("accept", path)

    def sever(self, path: int, ipuser: bytes = b"") -> Result:
        if path not in self.paths:
            raise self._fail("sever", path, 1)
        self.paths.remove(path)
        if path in self.other.paths:
            self.other.events.append(event(EventType.SEVERED, path, ipuser=ipuser))
        return result("sever", path)

    def send(self, path: int, data: bytes, flags: int) -> Result:
        if path not in self.paths or path not in self.other.paths:
            raise self._fail("send", path, 1)
        waiting = [e for e in self.other.events if e.type is EventType.MSG_PENDING]
        if len(waiting) >= self.limit:
            raise self._fail("send", path, 3)
        number = next(self.ids)
        fields: dict[str, Any] = {"msgid": number, "flags": flags | Flag.NORPY, "length": len(data)}
        self.calls.append(("send", data, flags))
        if flags & Flag.RMDATA:
            fields["rmmsg"] = data
        self.other.messages[number] = data
        self.other.events.append(event(EventType.MSG_PENDING, path, **fields))
        self.events.append(event(EventType.MSG_COMPLETE, path, msgid=number))
        return result("send", path)

    def receive(self, path: int, msgid: int, trgcls: int, length: int) -> bytes:
        data = self.messages.pop(msgid)
        assert (len(data), trgcls) == (length, 0)
        return data

    def wait(
        self,
        kind: EventType | Iterable[EventType],
        timeout: float,
        path: int | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> IucvEvent:
        wanted = (kind,) if isinstance(kind, EventType) else tuple(kind)
        for found in self.events:
            if found.type in wanted and path in (None, found.path):
                self.events.remove(found)
                return found
        check()
        raise Timeout(f"nothing within {timeout:g} s")


def joined(**options: Any) -> tuple[Two, Two]:
    one, two = Two("ONE", **options), Two("TWO", **options)
    one.other, two.other = two, one
    return one, two


def as_peer(user: Two) -> Peer:
    return cast(Peer, user)


def streams(**options: Any) -> tuple[Two, Two, AfIucvStream, AfIucvStream]:
    one, two = joined(**options)
    path = one.connect("TWO", b"\xc1" * 8 + b"\xc2" * 8, 255, Flag.RMDATA).path
    server = AfIucvListener(as_peer(two), "AAAAAAAA").accept(1)
    complete = one.wait(EventType.COMPLETE, 1)
    client = AfIucvStream(as_peer(one), path, complete.flags, "TWO", "AAAAAAAA")
    return one, two, client, server


def test_names_are_blank_padded_ebcdic() -> None:
    assert afiucv.name_bytes("AGENT").hex() == "c1c7c5d5e3404040"
    assert afiucv.name_text(bytes.fromhex("c9d5c9e340404040")) == "INIT"
    for name in ("", "NINECHARS"):
        with pytest.raises(ValueError):
            afiucv.name_bytes(name)


@pytest.mark.parametrize("data", [b"", b"a", b"1234567"])
def test_data_in_the_parameter_list(data: bytes) -> None:
    message = afiucv.iprm(data)
    assert (len(message), message[7]) == (8, 0xFF - len(data))
    assert afiucv.iprm_data(message) == data


def test_impossible_length_in_the_parameter_list_is_taken_as_eight() -> None:
    assert afiucv.iprm_data(bytes(8)) == bytes(8)
    assert afiucv.iprm_data(b"1234567\xf7") == b"1234567\xf7"


def test_listener_accepts_its_name_and_refuses_others() -> None:
    one, two = joined()
    wrong = afiucv.name_bytes("OTHER") + afiucv.name_bytes("INIT")
    right = afiucv.name_bytes("AGENT") + afiucv.name_bytes("INIT")
    refused = one.connect("TWO", wrong, 255, Flag.RMDATA).path
    path = one.connect("TWO", right, 255, Flag.RMDATA).path
    stream = AfIucvListener(as_peer(two), "AGENT").accept(1)
    assert (stream.path, stream.user, stream.name) == (path, "ONE", "INIT")
    assert one.wait(EventType.SEVERED, 0).path == refused
    complete = one.wait(EventType.COMPLETE, 0)
    assert complete.ipuser == right[8:] + right[:8]
    assert complete.flags == Flag.RMDATA
    with pytest.raises(Timeout, match="nobody connected to TWO AGENT within 0 s"):
        AfIucvListener(as_peer(two), "AGENT").accept(0)


def test_short_messages_travel_in_the_parameter_list() -> None:
    one, two, client, server = streams()
    client.send(b"7 bytes")
    client.send(b"8 bytes!")
    assert one.calls == [("send", b"7 bytes\xf8", Flag.RMDATA), ("send", b"8 bytes!", 0)]
    assert (server.recv(1), server.recv(1)) == (b"7 bytes", b"8 bytes!")
    server.send(b"back")
    assert client.recv(1) == b"back"
    assert two.calls == [("send", b"back\0\0\0\xfb", Flag.RMDATA)]


def test_no_parameter_list_data_unless_the_path_allows_it() -> None:
    one, _, client, server = streams(allow_iprm=False)
    client.send(b"abc")
    assert one.calls == [("send", b"abc", 0)]
    assert server.recv(1) == b"abc"


def test_long_data_are_sent_in_parts() -> None:
    one, _, client, server = streams()
    data = bytes(range(256)) * 200
    client.send(data)
    assert [len(call[1]) for call in one.calls] == [16384, 16384, 16384, 2048]
    got = b""
    while len(got) < len(data):
        got += server.recv(1)
    assert got == data
    client.send_message(data)
    assert server.recv(1) == data


def test_shutdown_is_the_end_of_the_stream() -> None:
    one, _, client, server = streams()
    client.send(b"last words")
    client.shut_down()
    assert one.calls[-1] == ("send", b"\0\0\0\0\0\0\0\1", Flag.RMDATA)
    assert [server.recv(1), server.recv(1), server.recv(1)] == [b"last words", b"", b""]
    server.send(b"still possible")
    assert client.recv(1) == b"still possible"


def test_empty_message_is_not_the_end() -> None:
    _, _, client, server = streams()
    client.send_message(b"")
    client.send_message(b"x")
    assert server.recv(1) == b"x"


def test_sever_ends_both_sides() -> None:
    one, two, client, server = streams()
    client.send(b"before it")
    client.close()
    client.close()
    assert [server.recv(1), server.recv(1)] == [b"before it", b""]
    assert (one.paths, two.paths) == (set(), set())
    with pytest.raises(AfIucvClosed, match="the path to ONE BBBBBBBB is severed"):
        server.send(b"x")
    with pytest.raises(AfIucvClosed):
        client.send(b"x")


def test_sending_on_a_path_that_has_gone() -> None:
    _, two, client, server = streams()
    with client:
        pass
    with pytest.raises(AfIucvClosed, match="sending to ONE BBBBBBBB failed: IUCV send .* 01"):
        server.send(b"x")
    assert two.events[-1].type is EventType.SEVERED


def test_message_limit_is_waited_for() -> None:
    one, _, client, server = streams(limit=2)
    client.send(b"a")
    client.send(b"b")
    with pytest.raises(Timeout, match="took no message for 0.01 s: its message limit is reached"):
        client.send(b"c", timeout=0.01)
    assert server.recv(1) == b"a"
    client.send(b"c", timeout=1)
    assert [server.recv(1), server.recv(1)] == [b"b", b"c"]
    assert len(one.calls) == 3


def test_all_parts_share_one_limit() -> None:
    _, _, client, server = streams(limit=2)
    with pytest.raises(Timeout, match="took no message for 0.025 s:"):
        client.send(bytes(2 * afiucv.SEND_SIZE + 1), timeout=0.025)
    assert [len(server.recv(1)), len(server.recv(1))] == [afiucv.SEND_SIZE, afiucv.SEND_SIZE]


def test_completions_do_not_pile_up() -> None:
    one, _, client, server = streams()
    for _ in range(1000):
        client.send(b"x")
        assert server.recv(1) == b"x"
    assert len(one.events) < 64
    server.send(b"y")
    assert client.recv(1) == b"y"
    assert not one.events


def test_nothing_to_receive_in_time() -> None:
    _, _, client, _ = streams()
    with pytest.raises(Timeout, match="TWO AAAAAAAA sent nothing for 0 s"):
        client.recv(0)


def test_a_new_connection_with_an_old_path_id() -> None:
    """Data sent on the old path do not end the new one."""
    one, two, client, server = streams()
    server.send(b"never read")
    server.send(b"nor this one, which is longer")
    server.close()
    client.close()
    one.connect("TWO", b"\xc1" * 8 + b"\xc2" * 8, 255, Flag.RMDATA)
    again = AfIucvListener(as_peer(two), "AAAAAAAA").accept(1)
    assert again.path == client.path
    assert [e.type for e in one.events] == [EventType.COMPLETE]


def test_partner_that_left_before_it_was_accepted() -> None:
    one, two = joined()
    path = one.connect("TWO", b"\xc1" * 8 + b"\xc2" * 8, 255, Flag.RMDATA).path
    one.sever(path)
    with pytest.raises(Timeout, match="nobody connected"):
        AfIucvListener(as_peer(two), "AAAAAAAA").accept(0)
    assert (two.paths, list(two.events)) == (set(), [])


class Answering(Two):
    """A partner that answers connections by itself."""

    def __init__(self, name: str, accepts: bool) -> None:
        super().__init__(name)
        self.accepts = accepts

    def answer(self, path: int) -> None:
        if self.accepts:
            self.accept(path, bytes(16), 0, Flag.RMDATA)
        else:
            self.sever(path)


class Asking(Two):
    def connect(self, user: str, ipuser: bytes, msglim: int, flags: int) -> Result:
        answer = super().connect(user, ipuser, msglim, flags)
        assert ipuser == afiucv.name_bytes("SERVER") + afiucv.name_bytes("HARNESS")
        if isinstance(self.other, Answering):
            self.other.answer(answer.path)
        return answer


def asking(other: Two) -> Asking:
    one = Asking("ONE")
    one.other, other.other = other, one
    return one


def test_connect() -> None:
    one = asking(Answering("TWO", accepts=True))
    stream = afiucv.connect(as_peer(one), "TWO", "SERVER")
    assert (stream.user, stream.name) == ("TWO", "SERVER")
    stream.send(b"hi")
    assert one.calls == [("send", b"hi\0\0\0\0\0\xfd", Flag.RMDATA)]


def test_connect_refused() -> None:
    one = asking(Answering("TWO", accepts=False))
    with pytest.raises(AfIucvRefused, match="TWO SERVER refused the connection"):
        afiucv.connect(as_peer(one), "TWO", "SERVER")
    assert one.paths == set()


def test_connect_to_nobody() -> None:
    one = asking(Two("TWO"))
    with pytest.raises(AfIucvRefused, match="NOBODY SERVER cannot be connected to: .* IPRCODE 0b"):
        afiucv.connect(as_peer(one), "NOBODY", "SERVER")
    with pytest.raises(Timeout, match="TWO SERVER did not accept a connection within 0 s"):
        afiucv.connect(as_peer(one), "TWO", "SERVER", timeout=0)
    assert one.paths == set()
