# SPDX-License-Identifier: MIT
"""Files as CMS' MONWRITE writes them, and the stream /dev/monreader gives, one from the other.

A file is a sequence of 4096-byte records.  For each message of *MONITOR one
control record: the 40 bytes of the message-pending interruption, then up to 338
control elements.  Behind it, for each element, the 4 KiB frames that hold its
records, whole, from the first to the last.  A control record without an element
ends the file.  The stream has the same control elements and records, and no
control records and nothing of the frames beside the records.

    with open("monitor.data", "rb") as file:
        for found in read_sets(file):
            stream = found.stream()

    file.write(control_and_frames(Notification(trgcls=0xE2C40000), parse_set(stream)))
    file.write(END_OF_DATA)
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from zvmlab.base.errors import UsageError
from zvmlab.mondata.records import FRAME_SIZE, MCE_SIZE, BadStream, Mce, Part

BLOCK_SIZE = FRAME_SIZE
# z/VM control block HCPMWTBK: interruption at +0, control elements from +X'28' on.
INTERRUPT_SIZE = 40
MAX_ELEMENTS = (BLOCK_SIZE - INTERRUPT_SIZE) // MCE_SIZE
END_OF_DATA = bytes(BLOCK_SIZE)
# IPPATHID, IPFLAGS1, IPTYPE, IPMSGID, IPTRGCLS, IPRMMSG as two addresses; the rest is zero here.
_INTERRUPT = struct.Struct(">HBBIIII20x")
assert _INTERRUPT.size == INTERRUPT_SIZE
_RMDATA = 0x80
_MESSAGE_PENDING = 9


@dataclass(frozen=True)
class Notification:
    """The message-pending interruption: what is in it beside the control area's length.

    *mca_start* is the address of the control area.  A stream does not tell it,
    nor path, message and class; a file made from a stream alone has the zeros here.
    """

    path: int = 0
    msgid: int = 0
    trgcls: int = 0
    mca_start: int = 0
    flags: int = _RMDATA
    type: int = _MESSAGE_PENDING

    def encode(self, elements: int) -> bytes:
        """The 40 bytes for so many control elements."""
        end = self.mca_start + elements * MCE_SIZE - 1
        if end > 0xFFFFFFFF:
            raise UsageError(f"a control area at {self.mca_start:x} does not end below 4 GiB")
        words = (self.path, self.flags, self.type, self.msgid, self.trgcls, self.mca_start, end)
        return _INTERRUPT.pack(*words)


@dataclass(frozen=True)
class MonwriteSet:
    """One message's data."""

    notification: Notification
    parts: list[Part]

    def stream(self) -> bytes:
        """The set as /dev/monreader gives it, before the closing 0-byte read."""
        return b"".join(part.mce.encode() + part.data for part in self.parts)


def control_record(notification: Notification, mces: Sequence[Mce]) -> bytes:
    """The control record of a set."""
    if not 0 < len(mces) <= MAX_ELEMENTS:
        raise UsageError(
            f"a control record holds 1 to {MAX_ELEMENTS} control elements, not {len(mces)}"
        )
    data = notification.encode(len(mces)) + b"".join(mce.encode() for mce in mces)
    return data.ljust(BLOCK_SIZE, b"\0")


def control_and_frames(notification: Notification, parts: Sequence[Part]) -> bytes:
    """One set as it stands in a file; zeros for what its frames hold beside the records."""
    out = bytearray(control_record(notification, [part.mce for part in parts]))
    for part in parts:
        if len(part.data) != part.mce.size:
            raise UsageError(
                f"a control element describes {part.mce.size} bytes, there are {len(part.data)}"
            )
        out += bytes(part.mce.start % FRAME_SIZE) + part.data
        out += bytes(-len(out) % FRAME_SIZE)
    return bytes(out)


def read_sets(file: BinaryIO) -> Iterator[MonwriteSet]:
    """The sets of a file, one after the other; BadStream where it stops making sense.

    Only what the file holds is ever kept in memory, whatever its control
    elements say.
    """
    for number in range(1, 1 << 63):
        block = _block(file, f"the control record of set {number}")
        found = _control(block, number)
        if found is None:
            if file.read(1):
                raise BadStream(
                    f"more data follows the end-of-data record, after {number - 1} sets"
                )
            return
        notification, mces = found
        yield MonwriteSet(notification, [Part(mce, _records(file, mce, number)) for mce in mces])


def _block(file: BinaryIO, what: str) -> bytes:
    block = file.read(BLOCK_SIZE)
    if not block:
        raise BadStream(f"the file ends where {what} or the end-of-data record should be")
    if len(block) < BLOCK_SIZE:
        raise BadStream(f"the file ends {len(block)} bytes into {what}")
    return block


def _control(block: bytes, number: int) -> tuple[Notification, list[Mce]] | None:
    """Parse a control record; None if it is the end-of-data record."""
    if block == END_OF_DATA:
        return None
    path, flags, kind, msgid, trgcls, start, end = _INTERRUPT.unpack_from(block)
    length = end - start + 1
    if length <= 0 or length % MCE_SIZE or length > MAX_ELEMENTS * MCE_SIZE:
        raise BadStream(
            f"the control area of set {number} reaches from {start:x} to {end:x}:"
            f" not 1 to {MAX_ELEMENTS} elements of {MCE_SIZE} bytes"
        )
    places = range(INTERRUPT_SIZE, INTERRUPT_SIZE + length, MCE_SIZE)
    mces = [Mce.decode(block[at : at + MCE_SIZE]) for at in places]
    for at, mce in enumerate(mces, 1):
        if mce.type == 0 or mce.size <= 0:
            raise BadStream(
                f"control element {at} of set {number} is invalid: type {mce.type:02x},"
                f" records from {mce.start:x} to {mce.end:x}"
            )
    return Notification(path, msgid, trgcls, start, flags, kind), mces


def _records(file: BinaryIO, mce: Mce, number: int) -> bytes:
    """The records that an element describes, out of their frames."""
    out = bytearray()
    skip = mce.start % FRAME_SIZE
    while len(out) < mce.size:
        out += _block(file, f"a frame of set {number}")[skip:]
        skip = 0
    return bytes(out[: mce.size])
