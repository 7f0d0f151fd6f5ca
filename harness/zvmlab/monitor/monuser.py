# SPDX-License-Identifier: MIT
"""One more user of *MONITOR, played by the harness, beside the readers of a guest.

    with MonitorUser(control) as user:
        for one in user.sets():
            file.write(one)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from zvmlab.base.errors import Timeout, ZvmlabError
from zvmlab.cp.control import Control, decode
from zvmlab.cp.peer import EventType, Flag, IucvError, IucvEvent, Peer
from zvmlab.mondata.records import MCE_SIZE, Mce

USER_ID = "ZVMTOP"
READ_SIZE = 4 << 20
_CONNECT_SECONDS = 60.0
_LOOK_SECONDS = 1.0
_SHARED = b"\1\xc0" + b"\xff" * 6


class MonitorUser:
    """Is connected to *MONITOR for sample and event data, shares the guest's segment."""

    def __init__(
        self, control: Control, name: str = USER_ID, seconds: float = _CONNECT_SECONDS
    ) -> None:
        """ZvmlabError if *MONITOR refuses, or does not answer in that time."""
        self._control = control
        segment = self._segment()
        self._start: int = segment["start"]
        self._end: int = segment["end"]
        self._name: str = segment["name"]
        self._peer = Peer(control, name)
        wanted = _SHARED + self._name.ljust(8).encode("cp037")
        try:
            self._path = self._peer.connect("*MONITOR", wanted, 255, Flag.RMDATA).path
            answers = [EventType.COMPLETE, EventType.SEVERED]
            event = self._peer.wait(answers, seconds, self._path)
            if event.type is EventType.SEVERED:
                raise ZvmlabError(f"*MONITOR does not connect {name}: code {event.ipuser[0]:02X}")
        except ZvmlabError:
            self._peer.close()
            raise

    def _segment(self) -> dict[str, Any]:
        """The segment in use, or the only one that can be."""
        name = self._control.execute("query-monitor")["segment"]
        segments: list[dict[str, Any]] = self._control.execute("query-segments")["segments"]
        for segment in segments:
            if segment["name"] == name or (not name and segment["name"] == "MONDCSS"):
                return segment
        raise ZvmlabError("the guest's CP has no segment MONDCSS for monitor data")

    def close(self) -> None:
        """Log off; harmless the second time."""
        self._peer.close()

    def __enter__(self) -> MonitorUser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def sets(self) -> Iterator[bytes]:
        """Sets as /dev/monreader gives them, one after the other, until CP severs."""
        wanted = [EventType.MSG_PENDING, EventType.PRIO_PENDING, EventType.SEVERED]
        while True:
            try:
                event = self._peer.wait(wanted, _LOOK_SECONDS, self._path)
            except Timeout:
                continue
            if event.type is EventType.SEVERED:
                return
            stream = self._read(event)
            try:
                self._peer.reply(event.path, event.msgid, event.trgcls, flags=Flag.RMDATA)
            except IucvError:
                # CP has severed, and may have stored something else there meanwhile.
                return
            yield stream

    def _read(self, message: IucvEvent) -> bytes:
        """Empty if its control area is none: the set is given back unread, as a driver does."""
        first, last = (int.from_bytes(message.rmmsg[at : at + 4], "big") for at in (0, 4))
        if (last + 1 - first) % MCE_SIZE or not self._inside(first, last):
            return b""
        area = self._bytes(first, last)
        mces = [Mce.decode(area[at : at + MCE_SIZE]) for at in range(0, len(area), MCE_SIZE)]
        if not all(self._inside(mce.start, mce.end) for mce in mces):
            return b""
        return b"".join(mce.encode() + self._bytes(mce.start, mce.end) for mce in mces)

    def _inside(self, first: int, last: int) -> bool:
        return self._start <= first < last <= self._end

    def _bytes(self, first: int, last: int) -> bytes:
        out = []
        for at in range(first, last + 1, READ_SIZE):
            answer = self._control.execute(
                "segment-read",
                name=self._name,
                offset=at - self._start,
                length=min(READ_SIZE, last + 1 - at),
            )
            out.append(decode(answer["data"]))
        return b"".join(out)
