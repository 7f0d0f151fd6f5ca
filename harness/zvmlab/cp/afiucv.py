# SPDX-License-Identifier: MIT
"""AF_IUCV streams over a user ID played by the harness (as Linux' net/iucv/af_iucv.c has them).

The user data of CONNECT are the application names: the partner's (8 bytes), then
one's own, blank-padded, in EBCDIC.  Data travel in one-way messages of target
class 0.  Up to 7 bytes may travel in the parameter list of a path that allows
it, the last byte of which is then 0xff minus the length.  An end of sending is
the parameter list 00 00 00 00 00 00 00 01.
"""

from __future__ import annotations

import time

from zvmlab.base.errors import EmulatorError, Timeout, ZvmlabError
from zvmlab.base.limit import Limit
from zvmlab.cp.peer import EventType, Flag, IucvError, IucvEvent, Peer, Result

MSGLIM = 255
MAX_IPRM = 7
# The receiving Linux takes memory for a whole message in one go, in an interrupt.
SEND_SIZE = 16384
SHUTDOWN = bytes(7) + b"\x01"
_MSGLIMIT = 3
_PAUSE = 0.002
_NONE = Flag(0)
_MESSAGES = (EventType.PRIO_PENDING, EventType.MSG_PENDING)
_ALL_BUT_PENDING = tuple(kind for kind in EventType if kind is not EventType.PENDING)
_COMPLETIONS = (EventType.PRIO_COMPLETE, EventType.MSG_COMPLETE)
# Completions nobody looks at are cleared away after so many messages.
_TIDY = 64


class AfIucvRefused(ZvmlabError):
    """The partner refused a connection, or is not there."""


class AfIucvClosed(ZvmlabError):
    """The path was severed while it was in use."""


def name_bytes(name: str) -> bytes:
    """An application name in user data."""
    if not 0 < len(name) <= 8:
        raise ValueError(f"application name '{name}' does not have 1 to 8 characters")
    return name.ljust(8).encode("cp037")


def name_text(data: bytes) -> str:
    """The application name in 8 bytes of user data."""
    return data.decode("cp037").rstrip(" \0")


def iprm(data: bytes) -> bytes:
    """Up to 7 bytes as a parameter-list message."""
    assert len(data) <= MAX_IPRM
    return data.ljust(7, b"\0") + bytes([0xFF - len(data)])


def iprm_data(message: bytes) -> bytes:
    """The data of a parameter-list message; Linux takes an impossible length as 8."""
    return message[: min(0xFF - message[7], 8)]


def release(peer: Peer, path: int, ipuser: bytes = b"") -> None:
    """Sever a path and forget its events: the next connection may get the same id.

    Nothing comes for the path once SEVER is answered, except a new connection.
    """
    try:
        peer.sever(path, ipuser)
    except IucvError:
        pass  # The id is free already.
    except EmulatorError:
        return
    try:
        while True:
            peer.wait(_ALL_BUT_PENDING, 0, path)
    except (Timeout, EmulatorError):
        pass


class AfIucvStream:
    """One end of a connection; there is *room* for at least so many messages."""

    def __init__(
        self, peer: Peer, path: int, flags: int, user: str, name: str, room: int = 0
    ) -> None:
        self._peer = peer
        self.path = path
        self._flags = flags
        self._takes_short = bool(int(flags) & Flag.RMDATA.value)
        self.user = user
        """The partner's user ID."""
        self.name = name
        """The partner's application name."""
        self._ended = False
        self._closed = False
        self._sent = 0
        # Messages that were posted and are not answered yet, and for how many more there is room.
        self._posted = 0
        self._room = room
        self._refused: ZvmlabError | None = None

    def end(self) -> dict[str, int | str]:
        """Arguments with which another stream of the same peer continues this one, which is idle."""
        return {
            "path": self.path,
            "flags": self._flags,
            "user": self.user,
            "name": self.name,
            "room": max(0, self._room),
        }

    def send(self, data: bytes, timeout: float = 30.0, answered: bool = False) -> None:
        """Send all of *data*, in several messages if need be.

        *answered*: the partner is to answer, and recv() is going to be called for that.  Then what
        went wrong with the last message may be raised there.
        """
        limit = Limit(timeout)
        for at in range(0, len(data), SEND_SIZE):
            last = at + SEND_SIZE >= len(data)
            self._send_message(data[at : at + SEND_SIZE], limit, answered and last)

    def send_message(self, data: bytes, timeout: float = 30.0) -> None:
        """Send *data* as one message; waits while the message limit is reached."""
        self._send_message(data, Limit(timeout))

    def shut_down(self, timeout: float = 30.0) -> None:
        """Say that nothing more will be sent."""
        self._send(SHUTDOWN, Flag.RMDATA, Limit(timeout))

    def recv(self, timeout: float = 30.0) -> bytes:
        """The next message's data; nothing at the end of the stream."""
        limit = Limit(timeout)
        while not self._ended:
            try:
                event = self._peer.wait(
                    (*_MESSAGES, *_COMPLETIONS, EventType.SEVERED),
                    limit.left(),
                    self.path,
                    self._check_posted,
                )
            except Timeout as error:
                raise Timeout(f"{self.user} {self.name} sent nothing for {limit}") from error
            if event.type is EventType.SEVERED:
                self.close()
            elif event.type in _MESSAGES:
                data = self._message(event)
                if data:
                    return data
        return b""

    def close(self) -> None:
        """Sever the path."""
        if not self._closed:
            self._closed = self._ended = True
            release(self._peer, self.path)

    def __enter__(self) -> AfIucvStream:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _message(self, event: IucvEvent) -> bytes:
        if event.received:
            return event.data
        if event.flags & Flag.RMDATA:
            if event.rmmsg == SHUTDOWN:
                self._ended = True
                return b""
            return iprm_data(event.rmmsg)
        return self._peer.receive(self.path, event.msgid, event.trgcls, event.length)

    def _send_message(self, data: bytes, limit: Limit, answered: bool = False) -> None:
        if self._takes_short and len(data) <= MAX_IPRM:
            self._send(iprm(data), Flag.RMDATA, limit, answered)
        else:
            self._send(data, _NONE, limit, answered)

    def _send(self, data: bytes, flags: Flag, limit: Limit, answered: bool = False) -> None:
        if self._closed:
            raise AfIucvClosed(f"the path to {self.user} {self.name} is severed")
        self._check_posted()
        if answered and self._room > 0 and self._peer.may_post:
            self._room -= 1
            self._posted += 1
            # The partner's answer brings CP's.
            self._peer.post(self.path, data, flags, self._note_posted, later=True)
            return
        while True:
            try:
                self._room = self._peer.send(self.path, data, flags=flags).room - self._posted
                self._tidy()
                return
            except IucvError as error:
                if error.result.cc != 1 or error.result.code != _MSGLIMIT:
                    raise self._failed(error) from error
            if not limit.left():
                raise Timeout(
                    f"{self.user} {self.name} took no message for {limit}:"
                    " its message limit is reached"
                )
            time.sleep(_PAUSE)

    def _note_posted(self, result: Result | ZvmlabError) -> None:
        self._posted -= 1
        if isinstance(result, ZvmlabError):
            self._refused = result
        elif result.done:
            self._room = result.room - self._posted
        else:
            self._refused = IucvError(self._peer.name, result)

    def _check_posted(self) -> None:
        if self._refused is not None:
            raise self._failed(self._refused)

    def _failed(self, error: ZvmlabError) -> AfIucvClosed:
        return AfIucvClosed(f"sending to {self.user} {self.name} failed: {error}")

    def _tidy(self) -> None:
        self._sent += 1
        if self._sent % _TIDY:
            return
        try:
            while True:
                self._peer.wait(_COMPLETIONS, 0, self.path)
        except Timeout:
            pass


class AfIucvListener:
    """An application of a peer that waits for connections.

    Connections to other names are refused as Linux refuses them.
    """

    def __init__(self, peer: Peer, name: str) -> None:
        self._peer = peer
        self.name = name

    def accept(self, timeout: float | Limit = 30.0) -> AfIucvStream:
        """Wait for a connection and accept it."""
        limit = timeout if isinstance(timeout, Limit) else Limit(timeout)
        while True:
            try:
                event = self._peer.wait(EventType.PENDING, limit.left())
            except Timeout as error:
                if not limit.over:  # meanwhile there was no CPU for the other side
                    continue
                raise Timeout(
                    f"nobody connected to {self._peer.name} {self.name} within {limit}"
                ) from error
            stream = self._answer(event)
            if stream is not None:
                return stream

    def _answer(self, event: IucvEvent) -> AfIucvStream | None:
        wanted, partner = event.ipuser[:8], event.ipuser[8:]
        if wanted != name_bytes(self.name):
            release(self._peer, event.path, event.ipuser)
            return None
        flags = Flag.RMDATA & Flag(event.flags)
        try:
            self._peer.accept(event.path, partner + wanted, MSGLIM, flags)
        except IucvError:
            release(self._peer, event.path)  # The partner has gone again.
            return None
        return AfIucvStream(self._peer, event.path, flags, event.vmid, name_text(partner))


def connect(
    peer: Peer, user: str, name: str, own: str = "HARNESS", timeout: float = 30.0
) -> AfIucvStream:
    """Connect to application *name* of *user* (the guest, or another peer)."""
    where = f"{user} {name}"
    try:
        asked = peer.connect(user, name_bytes(name) + name_bytes(own), MSGLIM, Flag.RMDATA)
    except IucvError as error:
        raise AfIucvRefused(f"{where} cannot be connected to: {error}") from error
    try:
        event = peer.wait((EventType.COMPLETE, EventType.SEVERED), timeout, asked.path)
    except Timeout as error:
        release(peer, asked.path)
        raise Timeout(f"{where} did not accept a connection within {timeout:g} s") from error
    if event.type is EventType.SEVERED:
        release(peer, asked.path)
        raise AfIucvRefused(f"{where} refused the connection")
    return AfIucvStream(peer, asked.path, event.flags, user, name)


__all__ = [
    "AfIucvClosed",
    "AfIucvListener",
    "AfIucvRefused",
    "AfIucvStream",
    "connect",
]
