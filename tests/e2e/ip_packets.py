# SPDX-License-Identifier: MIT
"""IP packets by hand: RFC 791, 792, 768 and 1071."""

from __future__ import annotations

import struct
from dataclasses import dataclass

ICMP, UDP = 1, 17
ECHO_REPLY, ECHO_REQUEST = 0, 8
_HEADER = struct.Struct(">BBHHHBBH4s4s")
_ECHO = struct.Struct(">BBHHH")
_UDP = struct.Struct(">HHHH")


def checksum(data: bytes) -> int:
    """The Internet checksum; 0 over data that have theirs."""
    words = struct.iter_unpack(">H", data + bytes(len(data) % 2))
    total = sum(int(word) for (word,) in words)
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def address(text: str) -> bytes:
    return bytes(int(part) for part in text.split("."))


def text_of(number: bytes) -> str:
    """An address as it is written."""
    return ".".join(str(byte) for byte in number)


@dataclass(frozen=True)
class Packet:
    """The parts of an IP packet."""

    protocol: int
    source: str
    target: str
    data: bytes
    length: int | None = None
    """What the header says, if not the length."""

    def encode(self) -> bytes:
        length = _HEADER.size + len(self.data) if self.length is None else self.length
        ends = address(self.source), address(self.target)
        fields = 0x45, 0, length, 0, 0x4000, 64, self.protocol
        summed = checksum(_HEADER.pack(*fields, 0, *ends))
        return _HEADER.pack(*fields, summed, *ends) + self.data

    @classmethod
    def decode(cls, packet: bytes) -> Packet:
        """AssertionError if length or checksum are wrong."""
        version, _, length, _, _, _, protocol, _, source, target = _HEADER.unpack_from(packet)
        assert version == 0x45 and length == len(packet), packet.hex()
        assert checksum(packet[: _HEADER.size]) == 0, packet.hex()
        return cls(protocol, text_of(source), text_of(target), packet[_HEADER.size :])


def echo(kind: int, number: int, sequence: int, data: bytes) -> bytes:
    """An ICMP echo request or reply."""
    summed = checksum(_ECHO.pack(kind, 0, 0, number, sequence) + data)
    return _ECHO.pack(kind, 0, summed, number, sequence) + data


def decode_echo(message: bytes) -> tuple[int, int, int, bytes]:
    """Kind, number, sequence, data; AssertionError if the checksum is wrong."""
    assert checksum(message) == 0, message.hex()
    kind, code, _, number, sequence = _ECHO.unpack_from(message)
    assert code == 0
    return kind, number, sequence, message[_ECHO.size :]


def answer(packet: bytes) -> bytes:
    """The reply to an echo request."""
    asked = Packet.decode(packet)
    kind, number, sequence, data = decode_echo(asked.data)
    assert (asked.protocol, kind) == (ICMP, ECHO_REQUEST)
    reply = echo(ECHO_REPLY, number, sequence, data)
    return Packet(ICMP, asked.target, asked.source, reply).encode()


def datagram(source: int, target: int, data: bytes, length: int | None = None) -> bytes:
    """UDP without a checksum, which RFC 768 allows."""
    return _UDP.pack(source, target, _UDP.size + len(data) if length is None else length, 0) + data
