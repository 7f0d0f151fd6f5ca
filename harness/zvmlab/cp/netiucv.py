# SPDX-License-Identifier: MIT
"""The other end of a point-to-point network interface, as Linux' drivers/s390/net/netiucv.c has it.

    with Peer(control, "PARTNER") as peer, accept(peer) as link:
        link.send(packet)
        answers = link.packets()

A message has any number of packets.  Before each there are two bytes: where, in the message,
the next such field is.  The one with which the message ends is 0.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from zvmlab.base.errors import Timeout, ZvmlabError
from zvmlab.base.limit import Limit
from zvmlab.cp.afiucv import release
from zvmlab.cp.peer import EventType, IucvError, Peer, Result

MSGLIM = 50
"""What Linux asks for."""
MAX_NEXT = 0xFFFF
SECONDS = 60.0
_NEXT = struct.Struct(">H")
_MESSAGES = (EventType.PRIO_PENDING, EventType.MSG_PENDING)
_COMPLETIONS = (EventType.PRIO_COMPLETE, EventType.MSG_COMPLETE)


class LinkRefused(ZvmlabError):
    """The guest has no interface to this user ID with these user data, or it is not up."""


class LinkGone(ZvmlabError):
    """The guest has severed the path."""


def user_data(name: str = "") -> bytes:
    """IPUSER: what is written behind the user ID and a dot; without, what Linux takes instead."""
    if not name:
        return b"0       0       ".decode("ascii").encode("cp037")
    if len(name) > 16:
        raise ValueError(f"'{name}' has {len(name)} characters; there is room for 16")
    return name.upper().ljust(16).encode("cp037")


def pack(packets: Sequence[bytes]) -> bytes:
    """The message with these packets."""
    message = b""
    for packet in packets:
        following = len(message) + _NEXT.size + len(packet)
        if following > MAX_NEXT:
            raise ValueError(f"{len(packet)} bytes more: a message has {MAX_NEXT} bytes of packets")
        message += _NEXT.pack(following) + packet
    return message + _NEXT.pack(0)


def unpack(message: bytes) -> list[bytes]:
    """The packets of a message; ValueError if its fields do not lead to its end."""
    packets = []
    at = 0
    while True:
        if at + _NEXT.size > len(message):
            raise ValueError(f"a message of {len(message)} bytes has no field at {at}")
        (following,) = _NEXT.unpack_from(message, at)
        if following == 0:
            break
        if following < at + _NEXT.size:
            raise ValueError(f"the field at {at} of a message says {following}")
        packets.append(message[at + _NEXT.size : following])
        at = following
    if at + _NEXT.size != len(message):
        raise ValueError(f"a message of {len(message)} bytes ends at {at + _NEXT.size}")
    return packets


class Link:
    """One end of a connection; the guest's is its interface."""

    def __init__(self, peer: Peer, path: int) -> None:
        self.peer = peer
        self.path = path
        self._open = True

    def send(self, *packets: bytes) -> Result:
        """Send one message with these packets."""
        return self.send_raw(pack(packets))

    def send_raw(self, message: bytes) -> Result:
        """Send a message as it is."""
        return self.peer.send(self.path, message)

    def message(self, timeout: float = SECONDS) -> bytes:
        """The guest's next message; LinkGone if it severs before."""
        kinds = (*_MESSAGES, *_COMPLETIONS, EventType.SEVERED)
        limit = Limit(timeout)
        while True:
            try:
                event = self.peer.wait(kinds, limit.left(), self.path)
            except Timeout as error:
                raise Timeout(
                    f"nothing came on path {self.path} of {self.peer.name} for {limit}"
                ) from error
            if event.type is EventType.SEVERED:
                self.close()
                raise LinkGone(f"path {self.path} of {self.peer.name} was severed")
            if event.type in _MESSAGES:
                return self.peer.receive(self.path, event.msgid, event.trgcls, event.length)

    def packets(self, timeout: float = SECONDS) -> list[bytes]:
        """The packets of the guest's next message."""
        return unpack(self.message(timeout))

    def await_sever(self, timeout: float = SECONDS) -> bytes:
        """Until the guest severs; its user data."""
        event = self.peer.wait(EventType.SEVERED, timeout, self.path)
        self.close()
        return event.ipuser

    def close(self, name: str = "") -> None:
        """Sever the path."""
        if self._open:
            self._open = False
            release(self.peer, self.path, user_data(name))

    def __enter__(self) -> Link:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def accept(peer: Peer, name: str = "", msglim: int = MSGLIM, timeout: float = SECONDS) -> Link:
    """The connection that an interface of some guest asks for next."""
    event = peer.wait(EventType.PENDING, timeout)
    if event.ipuser != user_data(name):
        peer.sever(event.path)
        raise LinkRefused(f"{event.vmid} asks for {event.ipuser.hex()}, not for '{name}'")
    peer.accept(event.path, event.ipuser, msglim)
    return Link(peer, event.path)


def connect(
    peer: Peer, user: str, name: str = "", msglim: int = MSGLIM, timeout: float = SECONDS
) -> Link:
    """Connect to an interface that waits for this user ID."""
    try:
        path = peer.connect(user, user_data(name), msglim).path
    except IucvError as error:
        raise LinkRefused(f"{user} cannot be connected: {error}") from error
    try:
        answer = peer.wait((EventType.COMPLETE, EventType.SEVERED), timeout, path)
    except Timeout as error:
        release(peer, path)
        raise Timeout(f"{user} did not answer within {timeout:g} s") from error
    if answer.type is EventType.SEVERED:
        release(peer, path)
        raise LinkRefused(f"{user} refused the connection")
    return Link(peer, path)
