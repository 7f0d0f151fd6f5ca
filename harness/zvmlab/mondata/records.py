# SPDX-License-Identifier: MIT
"""Monitor data: records, control elements, the stream /dev/monreader gives.

A data set is one or more (monitor control element, records) pairs.  Records
lie in 4 KiB frames; a header-only record (domain 1, record 13) says that the
rest of the frame is empty, so the place of a record follows from the control
element's start address.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from zvmlab.base.errors import UsageError, ZvmlabError

MCE_SIZE = 12
HEADER_SIZE = 20
FRAME_SIZE = 4096
# A frame always has room for the header-only record that ends it.
RECORD_MAX = FRAME_SIZE - HEADER_SIZE
# EBCDIC letters in byte 0 of a control element.
SAMPLE = 0xE2
EVENT = 0xC5
KINDS = ("sample-config", "sample", "event-config", "event")
DOMAINS = (
    "system",
    "monitor",
    "scheduler",
    "storage",
    "user",
    "processor",
    "io",
    "seeks",
    "network",
    "isfc",
    "appldata",
    "ssi",
)
END_OF_FRAME = (1, 13)
END_OF_INTERVAL = (1, 11)


class BadStream(ZvmlabError):
    """The bytes are no monitor data; the text says where they stop making sense."""


def domain_bits(*domains: str | int) -> int:
    """Bytes 1 and 2 of a control element for these domains (names or numbers)."""
    bits = 0
    for domain in domains:
        if isinstance(domain, str) and domain not in DOMAINS:
            raise UsageError(f"unknown monitor domain: {domain!r} (known: {', '.join(DOMAINS)})")
        number = DOMAINS.index(domain) if isinstance(domain, str) else domain
        if not 0 <= number < 16:
            raise UsageError(f"invalid monitor domain: {number} (0 to 15)")
        bits |= 0x8000 >> number
    return bits


def domain_names(bits: int) -> list[str]:
    """Names of the domains in a control element's bytes 1 and 2."""
    return [
        DOMAINS[number] if number < len(DOMAINS) else f"domain {number}"
        for number in range(16)
        if bits & 0x8000 >> number
    ]


@dataclass(frozen=True)
class Record:
    """One monitor record: 20-byte header and what follows."""

    domain: int
    number: int
    tod: int = 0
    payload: bytes = b""

    def encode(self) -> bytes:
        """The record's bytes."""
        length = HEADER_SIZE + len(self.payload)
        if length > RECORD_MAX:
            raise UsageError(
                f"a record of {length} bytes does not fit into a frame (at most {RECORD_MAX})"
            )
        header = struct.pack(
            ">HHBxHQ4x", length, 0, self.domain, self.number, self.tod
        )  # length, zero, domain, reserved, record, TOD, reserved
        return header + self.payload

    @classmethod
    def decode(cls, data: bytes, at: int = 0) -> Record:
        """The record at that place."""
        if at + HEADER_SIZE > len(data):
            raise BadStream(f"the record at {at} ends within its header")
        length, zero, domain, number, tod = struct.unpack_from(">HHBxHQ", data, at)
        if length < HEADER_SIZE or at + length > len(data) or zero:
            raise BadStream(f"the record at {at} has the length {length} and {zero} after it")
        return cls(domain, number, tod, data[at + HEADER_SIZE : at + length])


@dataclass(frozen=True)
class Element:
    """One part of a data set to be delivered: what the control element says, and the records."""

    data: bytes
    domains: int
    type: int = SAMPLE
    byte3: int = 0
    phase: int = 0

    @classmethod
    def of(cls, records: Sequence[Record], type: int = SAMPLE, phase: int = 0) -> Element:
        """Lay records out in frames and name their domains."""
        bits = domain_bits(*(record.domain for record in records))
        return cls(lay_out(records, phase), bits, type, 0, phase)


def lay_out(records: Sequence[Record], phase: int = 0) -> bytes:
    """Records in frames, beginning *phase* bytes into the first, as CP lays them out.

    Every frame keeps room for a header: for the end-of-frame record if another
    record follows, for the interval's end otherwise.
    """
    if not 0 <= phase < FRAME_SIZE:
        raise UsageError(f"the phase {phase} is not an offset in a frame of 4096 bytes")
    out = bytearray()
    for record in records:
        data = record.encode()
        room = FRAME_SIZE - (phase + len(out)) % FRAME_SIZE
        if len(data) + HEADER_SIZE > room:
            if room < HEADER_SIZE:
                raise UsageError(
                    f"only {room} bytes are left in the frame, too few for an end-of-frame record;"
                    " choose another phase"
                )
            out += Record(*END_OF_FRAME).encode().ljust(room, b"\0")
        out += data
    return bytes(out)


@dataclass(frozen=True)
class Mce:
    """A monitor control element; *end* is the address of the last byte."""

    type: int
    domains: int
    byte3: int
    start: int
    end: int

    @property
    def size(self) -> int:
        """Bytes of records that it describes."""
        return self.end - self.start + 1

    @property
    def letter(self) -> str:
        """``S`` for sample, ``E`` for event data."""
        return {SAMPLE: "S", EVENT: "E"}.get(self.type, f"{self.type:02x}")

    @classmethod
    def decode(cls, data: bytes) -> Mce:
        """From its 12 bytes."""
        return cls(*struct.unpack(">BHBII", data))

    def encode(self) -> bytes:
        """Its 12 bytes."""
        return struct.pack(">BHBII", self.type, self.domains, self.byte3, self.start, self.end)


@dataclass(frozen=True)
class Part:
    """A control element with its records, as they stand in a stream."""

    mce: Mce
    data: bytes

    def records(self) -> Iterator[Record]:
        """The records, end-of-frame records included."""
        at = 0
        while at < len(self.data):
            record = Record.decode(self.data, at)
            yield record
            if (record.domain, record.number) == END_OF_FRAME:
                at += FRAME_SIZE - (self.mce.start + at) % FRAME_SIZE
            else:
                at += HEADER_SIZE + len(record.payload)


def parse_set(stream: bytes) -> list[Part]:
    """The parts of one data set, as read between two 0-byte reads."""
    parts = []
    at = 0
    while at < len(stream):
        if at + MCE_SIZE > len(stream):
            raise BadStream(f"the data set ends within the control element at {at}")
        mce = Mce.decode(stream[at : at + MCE_SIZE])
        at += MCE_SIZE
        if mce.size <= 0 or at + mce.size > len(stream):
            raise BadStream(
                f"the control element at {at - MCE_SIZE} describes {mce.size} bytes,"
                f" {len(stream) - at} follow"
            )
        parts.append(Part(mce, stream[at : at + mce.size]))
        at += mce.size
    return parts
