# SPDX-License-Identifier: MIT
"""A guest's terminal over IUCV, as Linux' drivers/tty/hvc/hvc_iucv.c has it (iucvconn of s390-tools).

The user data of CONNECT name the terminal (lnxhvc0 to lnxhvc7; 8 bytes), then the one who
connects, as those of AF_IUCV do.  Messages are one-way, of a header and data: version 2, a type, the
length of the data in two bytes.  The guest sends data only; other types tell it something.
"""

from __future__ import annotations

import enum
import struct
from dataclasses import dataclass

from zvmlab.base.errors import Timeout, ZvmlabError
from zvmlab.base.limit import Limit
from zvmlab.cp.afiucv import name_bytes, release
from zvmlab.cp.peer import EventType, IucvError, IucvEvent, Peer

VERSION = 2
MAX_DATA = 0xFFFF
TERMINALS = 8
DEFAULT = "lnxhvc0"
# CP never has the guest wait: how many messages may be under way is up to this side.
MSGLIM = 0xFFFF
SECONDS = 30.0
_HEADER = struct.Struct(">BBH")
_WINDOW = struct.Struct(">HHHH")
_MESSAGES = (EventType.PRIO_PENDING, EventType.MSG_PENDING)
_COMPLETIONS = (EventType.PRIO_COMPLETE, EventType.MSG_COMPLETE)


class Type(enum.IntEnum):
    """The subject of a message; the guest ignores all but WINDOW and DATA."""

    ERROR = 0x01
    ENVIRONMENT = 0x02
    TERMIOS = 0x04
    WINDOW = 0x08
    DATA = 0x10


class TerminalRefused(ZvmlabError):
    """The guest does not connect the terminal: there is none, it is in use, or not allowed."""


class TerminalGone(ZvmlabError):
    """The guest has severed the path, or could not take what was sent."""


@dataclass(frozen=True)
class Message:
    """One message of the guest's."""

    version: int
    type: int
    length: int
    """As the header says; the same as that of the data if all is well."""
    data: bytes


def encode(type: int, data: bytes) -> bytes:  # pylint: disable=redefined-builtin
    """A message with its header."""
    if len(data) > MAX_DATA:
        raise ValueError(f"{len(data)} bytes are too many for a message (at most {MAX_DATA})")
    return _HEADER.pack(VERSION, type, len(data)) + data


class IucvTerminal:
    """One end of a connection to a terminal of *user*."""

    def __init__(
        self,
        peer: Peer,
        user: str,
        terminal: str = DEFAULT,
        own: str = "HARNESS",
        *,
        msglim: int = MSGLIM,
        timeout: float = SECONDS,
    ) -> None:
        self.peer = peer
        self.user = user
        self.name = terminal
        where = f"terminal {terminal} of {user}"
        try:
            asked = peer.connect(user, name_bytes(terminal) + name_bytes(own), msglim)
        except IucvError as error:
            raise TerminalRefused(f"{where} cannot be connected: {error}") from error
        self.path = asked.path
        try:
            answer = peer.wait((EventType.COMPLETE, EventType.SEVERED), timeout, self.path)
        except Timeout as error:
            release(peer, self.path)
            raise Timeout(f"{where} was not connected within {timeout:g} s") from error
        if answer.type is EventType.SEVERED:
            release(peer, self.path)
            raise TerminalRefused(f"{where} refused the connection")
        self.answer = answer
        """What the guest has accepted with."""
        self._open = True

    def send(self, data: bytes) -> None:
        """Type *data*."""
        for at in range(0, len(data), MAX_DATA):
            self.send_raw(encode(Type.DATA, data[at : at + MAX_DATA]))

    def resize(self, rows: int, columns: int) -> None:
        """Say how large the window is (struct winsize without pixels)."""
        self.send_raw(encode(Type.WINDOW, _WINDOW.pack(rows, columns, 0, 0)))

    def send_raw(self, message: bytes) -> None:
        """Send a message as it is, header and all."""
        try:
            self.peer.send(self.path, message)
        except IucvError as error:
            raise TerminalGone(f"{self.name} of {self.user} took nothing: {error}") from error

    def wait_taken(self, timeout: float = SECONDS) -> bool:
        """Wait until the guest has received a message that was sent; False if it severs instead."""
        if self._open:
            try:
                event = self.peer.wait((*_COMPLETIONS, EventType.SEVERED), timeout, self.path)
            except Timeout as error:
                where = f"{self.name} of {self.user}"
                raise Timeout(f"{where} received nothing for {timeout:g} s") from error
            if event.type is EventType.SEVERED:
                self.close()
        return self._open

    def message(self, timeout: float = SECONDS) -> Message | None:
        """The guest's next message; None if it has severed the path, or does so."""
        return self._message(Limit(timeout))

    def _message(self, limit: Limit) -> Message | None:
        kinds = (*_MESSAGES, *_COMPLETIONS, EventType.SEVERED)
        while self._open:
            try:
                event = self.peer.wait(kinds, limit.left(), self.path)
            except Timeout as error:
                raise Timeout(f"{self.name} of {self.user} sent nothing for {limit}") from error
            if event.type is EventType.SEVERED:
                self.close()
            elif event.type in _MESSAGES:
                return self._decode(event)
        return None

    def read(self, timeout: float = SECONDS) -> bytes:
        """Read the guest's next output; empty if it has severed the path."""
        return self._read(Limit(timeout))

    def _read(self, limit: Limit) -> bytes:
        found = self._message(limit)
        if found is None:
            return b""
        if (found.version, found.type, found.length) != (VERSION, Type.DATA, len(found.data)):
            raise TerminalGone(f"{self.name} of {self.user} sent no data, but {found}")
        return found.data

    def read_until(self, end: bytes, timeout: float = SECONDS) -> bytes:
        """Read the guest's output up to *end*; TerminalGone if it severs before."""
        limit = Limit(timeout)
        found = b""
        while end not in found:
            try:
                part = self._read(limit)
            except Timeout as error:
                raise Timeout(
                    f"{self.name} of {self.user} did not send {end!r} within {limit}, but {found!r}"
                ) from error
            if not part:
                raise TerminalGone(f"{self.name} of {self.user} ended after {found!r}")
            found += part
        return found

    def close(self) -> None:
        """Sever the path."""
        if self._open:
            self._open = False
            release(self.peer, self.path)

    def __enter__(self) -> IucvTerminal:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _decode(self, event: IucvEvent) -> Message:
        image = self.peer.receive(self.path, event.msgid, event.trgcls, event.length)
        if len(image) < _HEADER.size:
            raise TerminalGone(
                f"{self.name} of {self.user} sent {image.hex()}, which is no message"
            )
        version, kind, length = _HEADER.unpack_from(image)
        return Message(version, kind, length, image[_HEADER.size :])


__all__ = ["IucvTerminal", "Message", "TerminalGone", "TerminalRefused", "Type", "encode"]
