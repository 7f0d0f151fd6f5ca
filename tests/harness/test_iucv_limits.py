# SPDX-License-Identifier: MIT
"""Partners of hvc_iucv and netiucv: a wait that ends names what the caller allowed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import cast

import pytest
from test_afiucv import event, result

from zvmlab.base.errors import Timeout
from zvmlab.cp.hvciucv import IucvTerminal, Type, encode
from zvmlab.cp.netiucv import Link
from zvmlab.cp.peer import EventType, IucvEvent, Peer, Result

PATH = 7


class Scripted:
    """A peer to whom these messages come, and then nothing."""

    name = "HARNESS"

    def __init__(self, *messages: bytes) -> None:
        self.messages = dict(enumerate(messages))
        self.events = deque(
            event(EventType.MSG_PENDING, PATH, msgid=number, length=len(message))
            for number, message in self.messages.items()
        )
        self.events.appendleft(event(EventType.COMPLETE, PATH))
        self.severed: list[int] = []

    def connect(self, _user: str, _ipuser: bytes, _msglim: int) -> Result:
        return result("connect", PATH)

    def wait(
        self, kind: EventType | Iterable[EventType], timeout: float, path: int | None = None
    ) -> IucvEvent:
        wanted = (kind,) if isinstance(kind, EventType) else tuple(kind)
        if self.events and self.events[0].type in wanted and path == PATH:
            return self.events.popleft()
        raise Timeout(f"nothing within {timeout:g} s")

    def sever(self, path: int, _ipuser: bytes) -> Result:
        self.severed.append(path)
        return result("sever", path)

    def receive(self, path: int, msgid: int, _trgcls: int, _length: int) -> bytes:
        assert path == PATH
        return self.messages.pop(msgid)


def terminal(*said: bytes) -> IucvTerminal:
    """One whose guest has written this."""
    peer = Scripted(*(encode(Type.DATA, part) for part in said))
    return IucvTerminal(cast(Peer, peer), "LINUX001")


def test_terminal_that_is_silent() -> None:
    with pytest.raises(Timeout, match=r"^lnxhvc0 of LINUX001 sent nothing for 2\.5 s$"):
        terminal().message(2.5)
    with pytest.raises(Timeout, match=r"^lnxhvc0 of LINUX001 sent nothing for 2\.5 s$"):
        terminal().read(2.5)


def test_terminal_that_does_not_say_what_is_waited_for() -> None:
    found = r"^lnxhvc0 of LINUX001 did not send b'login:' within 2\.5 s, but b'Linux log'$"
    with pytest.raises(Timeout, match=found):
        terminal(b"Linux", b" log").read_until(b"login:", 2.5)


def test_terminal_that_says_it() -> None:
    """The rest of the message is there, what follows is not taken."""
    connected = terminal(b"Linux", b" login: ", b"more")
    assert connected.read_until(b"login:", 2.5) == b"Linux login: "
    assert connected.read(2.5) == b"more"


def test_terminal_that_takes_what_is_sent_and_severs_then() -> None:
    peer = Scripted()
    connected = IucvTerminal(cast(Peer, peer), "LINUX001")
    with pytest.raises(Timeout, match=r"^lnxhvc0 of LINUX001 received nothing for 2\.5 s$"):
        connected.wait_taken(2.5)
    peer.events += [event(EventType.MSG_COMPLETE, PATH), event(EventType.SEVERED, PATH)]
    assert connected.wait_taken(2.5) and not peer.severed
    assert not connected.wait_taken(2.5) and peer.severed == [PATH]
    assert not connected.wait_taken(2.5) and peer.severed == [PATH]


def test_interface_that_is_silent() -> None:
    peer = Scripted()
    peer.events.clear()
    with pytest.raises(Timeout, match=r"^nothing came on path 7 of HARNESS for 2\.5 s$"):
        Link(cast(Peer, peer), PATH).message(2.5)
