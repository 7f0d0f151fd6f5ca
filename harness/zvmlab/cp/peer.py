# SPDX-License-Identifier: MIT
"""A user ID played by the harness: IUCV by hand.

>>> with Peer(control, "TESTER") as peer:
...     event = peer.wait(EventType.PENDING, 10)
...     peer.accept(event.path)
...     peer.send(event.path, b"hello", trgcls=1)
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from zvmlab.base.errors import EmulatorError, ZvmlabError
from zvmlab.cp.control import Control, ControlError, CpResponse, decode


# Members of answers and events that are bytes.
_DATA = {"ipuser", "rmmsg", "data"}


class EventType(enum.IntEnum):
    """IPTYPE of an event."""

    PENDING = 1
    COMPLETE = 2
    SEVERED = 3
    QUIESCED = 4
    RESUMED = 5
    PRIO_COMPLETE = 6
    MSG_COMPLETE = 7
    PRIO_PENDING = 8
    MSG_PENDING = 9


class Flag(enum.IntFlag):
    """IPFLAGS1; the meaning of a bit depends on the function."""

    RMDATA = 0x80
    ALL = 0x80
    BUFLST = 0x40
    QUSCE = 0x40
    PRTY = 0x20
    NORPY = 0x10
    ANSLST = 0x08
    FGMID = 0x04
    FGPID = 0x02
    FGMCL = 0x01
    LOCAL = 0x01


# An operation of enumerations makes a new member, which takes longer than all else here.
_RMDATA, _NORPY = int(Flag.RMDATA), int(Flag.NORPY)


class Result(NamedTuple):
    """Condition code, IPRCODE (with condition code 1) and the parameter list afterwards.

    Of a message that was posted there is only its id.  Of SEND also the *room* that the path has then for more messages from this end.
    """

    function: str
    cc: int
    code: int
    pgm: int
    msgid: int
    path: int = 0
    flags: int = 0
    msglim: int = 0
    trgcls: int = 0
    srccls: int = 0
    msgtag: int = 0
    residual: int = 0
    audit: int = 0
    length: int = 0
    answer_length: int = 0
    rmmsg: bytes = b""
    data: bytes = b""
    room: int = 0

    @property
    def done(self) -> bool:
        """Was it carried out, with condition code 0?"""
        return self.cc == 0 and self.pgm == 0


class IucvEvent(NamedTuple):
    """An event with the fields of the external interrupt buffer.

    With a completed message, `data` is the reply; with one that has come and was *received* for a
    peer that is a stream, its data; of a one-way one there are only type, path, target class and length.
    """

    type: EventType
    path: int
    trgcls: int
    flags: int = 0
    msglim: int = 0
    vmid: str = ""
    ipuser: bytes = b""
    msgid: int = 0
    srccls: int = 0
    msgtag: int = 0
    audit: int = 0
    rmmsg: bytes = b""
    length: int = 0
    answer_length: int = 0
    data: bytes = b""
    received: bool = False


class IucvError(ZvmlabError):
    """An IUCV function ended with another condition code than 0."""

    def __init__(self, peer: str, result: Result) -> None:
        what = f"program interruption {result.pgm:04x}" if result.pgm else f"cc {result.cc}"
        if result.cc == 1 and not result.pgm:
            what += f", IPRCODE {result.code:02x}"
        super().__init__(f"IUCV {result.function} of {peer} on path {result.path}: {what}")
        self.result = result


class Peer:
    """One user ID with its paths; it is logged off when closed.

    The events of a *stream* have the data of the messages (docs/control.md, Peers).
    The methods named after functions raise IucvError unless the condition code
    is 0; `call` returns whatever came out.
    """

    def __init__(
        self,
        control: Control,
        name: str,
        max_paths: int = 64,
        persistent: bool = False,
        classes: str = "G",
        stream: bool = False,
    ) -> None:
        self._control = control
        self._stream = stream
        self.name = name.upper()
        # Those of an earlier peer of that name, which nobody has waited for.
        control.forget_events("iucv-event", peer=self.name)
        control.execute(
            "peer-create",
            name=name,
            max_paths=max_paths,
            persistent=persistent,
            classes=classes,
            stream=stream,
        )
        self._open = True

    @property
    def may_post(self) -> bool:
        """Is post() possible?  A guest that is made to take steps has to have what is sent before."""
        return self._stream and self._control.step is None

    def call(self, function: str, **parm: Any) -> Result:
        """Call a function ("send", "test-message", …) with fields of the parameter list.

        path, flags, msglim, vmid, target, ipuser, msgid, trgcls, srccls, msgtag,
        rmmsg, mask; data is what SEND and REPLY send, length what RECEIVE has
        room for, answer_length what SEND has room for in the reply.
        """
        answer = self._control.execute("peer-call", peer=self.name, function=function, **parm)
        return _result(function, answer)

    def cp(self, command: str) -> CpResponse:
        """A CP command given by this user ID, with the privilege classes it was made with."""
        answer = self._control.execute("peer-command", peer=self.name, command=command)
        return CpResponse(answer["response"], answer["rc"])

    def connect(
        self, user: str, ipuser: bytes = b"", msglim: int = 0, flags: int = 0, target: str = ""
    ) -> Result:
        """Ask `user` for a path; its id is in the result, COMPLETE or SEVERED follows."""
        return self._checked(
            "connect", vmid=user, ipuser=_ipuser(ipuser), msglim=msglim, flags=flags, target=target
        )

    def accept(self, path: int, ipuser: bytes = b"", msglim: int = 0, flags: int = 0) -> Result:
        """Accept a pending connection."""
        return self._checked(
            "accept", path=path, ipuser=_ipuser(ipuser), msglim=msglim, flags=flags
        )

    def sever(self, path: int, ipuser: bytes = b"") -> Result:
        """Sever a path, or refuse a pending connection."""
        return self._checked("sever", path=path, ipuser=_ipuser(ipuser))

    def send(
        self,
        path: int,
        data: bytes = b"",
        trgcls: int = 0,
        *,
        srccls: int = 0,
        msgtag: int = 0,
        flags: int = 0,
        answer_length: int = 0,
    ) -> Result:
        """Send a message; with Flag.RMDATA, of 8 bytes at most in the parameter list.

        Without an answer_length the message is one-way.
        """
        if answer_length == 0:
            flags |= Flag.NORPY
        return self._checked(
            "send",
            path=path,
            trgcls=trgcls,
            srccls=srccls,
            msgtag=msgtag,
            answer_length=answer_length,
            **_payload(data, flags),
        )

    def post(
        self,
        path: int,
        data: bytes,
        flags: int,
        sent: Callable[[Result | ZvmlabError], None],
        later: bool = False,
    ) -> None:
        """Send a one-way message and do not wait: *sent* is told how that went (Control.post)."""

        def answered(answer: Any, error: ControlError | None) -> None:
            sent(error or _result("send", answer))

        self._control.post(
            "peer-call",
            answered,
            later=later,
            peer=self.name,
            function="send",
            path=path,
            **_payload(data, int(flags) | _NORPY),
        )

    def receive(self, path: int, msgid: int, trgcls: int, length: int, flags: int = 0) -> bytes:
        """Receive a message that is pending."""
        flags |= Flag.FGMID | Flag.FGPID | Flag.FGMCL
        return self._checked(
            "receive", path=path, msgid=msgid, trgcls=trgcls, length=length, flags=flags
        ).data

    def reply(
        self, path: int, msgid: int, trgcls: int, data: bytes = b"", flags: int = 0
    ) -> Result:
        """Reply to a two-way message."""
        flags |= Flag.FGMID | Flag.FGPID | Flag.FGMCL
        return self._checked(
            "reply", path=path, msgid=msgid, trgcls=trgcls, **_payload(data, flags, reply=True)
        )

    def reject(self, path: int, msgid: int, trgcls: int) -> Result:
        """Refuse a message that is pending."""
        flags = Flag.FGMID | Flag.FGPID | Flag.FGMCL
        return self._checked("reject", path=path, msgid=msgid, trgcls=trgcls, flags=flags)

    def purge(self, path: int, msgid: int, srccls: int = 0) -> Result:
        """Take back a message that this peer has sent."""
        flags = Flag.FGMID | Flag.FGPID | Flag.FGMCL
        return self._checked("purge", path=path, msgid=msgid, srccls=srccls, flags=flags)

    def quiesce(self, path: int, ipuser: bytes = b"") -> Result:
        """Stop the partner's messages on a path."""
        return self._checked("quiesce", path=path, ipuser=_ipuser(ipuser))

    def resume(self, path: int, ipuser: bytes = b"") -> Result:
        """Let them come again."""
        return self._checked("resume", path=path, ipuser=_ipuser(ipuser))

    def wait(
        self,
        type: EventType | Iterable[EventType],  # pylint: disable=redefined-builtin
        timeout: float | None = None,
        path: int | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> IucvEvent:
        """Take the oldest event of a type (or one of several), of one path if it is given.

        *check* is called as by Control.wait_event().
        """
        wanted = (type,) if isinstance(type, EventType) else tuple(type)
        match: dict[str, Any] = {"peer": self.name, "type": tuple(map(int, wanted))}
        if path is not None:
            match["path"] = path
        data = dict(self._control.wait_event("iucv-event", timeout, check, **match).data)
        del data["peer"]
        data["received"] = "data" in data
        for name in _DATA & data.keys():
            data[name] = decode(data[name])
        data["type"] = EventType(data["type"])
        data["answer_length"] = data.pop("answer-length", 0)
        data.setdefault("length", len(data.get("data", b"")))
        return IucvEvent(**data)

    def close(self) -> None:
        """Log off; paths are severed.  Nothing happens if the emulator is gone."""
        if not self._open:
            return
        self._open = False
        try:
            self._control.execute("peer-destroy", peer=self.name)
        except EmulatorError:
            pass

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _checked(self, function: str, **parm: Any) -> Result:
        result = self.call(function, **parm)
        if not result.done:
            raise IucvError(self.name, result)
        return result


def _result(function: str, answer: dict[str, Any]) -> Result:
    answer["answer_length"] = answer.pop("answer-length", 0)
    for name in _DATA & answer.keys():
        answer[name] = decode(answer[name])
    return Result(function=function, **answer)


def _ipuser(ipuser: bytes) -> bytes:
    return ipuser.ljust(16, b"\0")


def _payload(data: bytes, flags: int, reply: bool = False) -> dict[str, Any]:
    if int(flags) & _RMDATA:
        return {"rmmsg": data.ljust(8, b"\0"), "flags": flags}
    if reply or data:
        return {"data": data, "flags": flags}
    return {"flags": flags}
