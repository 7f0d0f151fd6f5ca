# SPDX-License-Identifier: MIT
"""Other users of *MONITOR beside the guest, and what they find in the segment."""

from __future__ import annotations

from zvmlab.cp.control import Control, decode
from zvmlab.cp.peer import EventType, Flag, IucvEvent, Peer
from zvmlab.mondata.records import MCE_SIZE, Mce

SECONDS = 60
SAMPLE_DATA, EVENT_DATA = 0x80, 0x40


def connect(
    peer: Peer, segment: str = "MONDCSS", msglim: int = 255, wants: int = SAMPLE_DATA | EVENT_DATA
) -> int:
    """Connect to *MONITOR, sharing a segment; the path's id."""
    ipuser = bytes((1, wants)) + b"\xff" * 6 + segment.ljust(8).encode("cp037")
    path = peer.connect("*MONITOR", ipuser, msglim, Flag.RMDATA).path
    peer.wait(EventType.COMPLETE, SECONDS, path)
    return path


def next_message(peer: Peer, path: int) -> IucvEvent:
    """The message about the next set; it is the peer's until give_back()."""
    return peer.wait(EventType.MSG_PENDING, SECONDS, path)


def give_back(peer: Peer, message: IucvEvent) -> None:
    """Tell CP that the set has been dealt with."""
    peer.reply(message.path, message.msgid, message.trgcls, flags=Flag.RMDATA)


def segment_bytes(control: Control, first: int, last: int) -> bytes:
    """The bytes between two addresses of the segment that *MONITOR uses, both included."""
    name = control.execute("query-monitor")["segment"]
    (start,) = (
        s["start"] for s in control.execute("query-segments")["segments"] if s["name"] == name
    )
    answer = control.execute(
        "segment-read", name=name, offset=first - start, length=last - first + 1
    )
    return decode(answer["data"])


def control_area(control: Control, message: IucvEvent) -> bytes:
    """The control elements that a message points to."""
    first, last = (int.from_bytes(message.rmmsg[at : at + 4], "big") for at in (0, 4))
    return segment_bytes(control, first, last)


def elements(area: bytes) -> list[Mce]:
    """The elements of a control area."""
    return [Mce.decode(area[at : at + MCE_SIZE]) for at in range(0, len(area), MCE_SIZE)]


def set_in_segment(control: Control, message: IucvEvent) -> bytes:
    """The set that a message announces, in the form of the stream."""
    return b"".join(
        mce.encode() + segment_bytes(control, mce.start, mce.end)
        for mce in elements(control_area(control, message))
    )
