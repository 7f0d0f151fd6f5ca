# SPDX-License-Identifier: MIT
"""netiucv's framing, byte by byte."""

from __future__ import annotations

import pytest

from zvmlab.cp.netiucv import pack, unpack, user_data


def test_packets_have_the_next_ones_place_before_them() -> None:
    assert pack([]) == b"\0\0"
    assert pack([b"abc"]) == b"\0\5abc\0\0"
    assert pack([b"abc", b"", b"x"]) == b"\0\5abc\0\7\0\12x\0\0"


def test_message_is_its_packets() -> None:
    assert unpack(b"\0\0") == []
    assert unpack(b"\0\5abc\0\7\0\12x\0\0") == [b"abc", b"", b"x"]
    longest = bytes(0xFFFD)
    assert unpack(pack([longest])) == [longest]


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (b"", "a message of 0 bytes has no field at 0"),
        (b"\0", "a message of 1 bytes has no field at 0"),
        (b"\0\5abc\0", "a message of 6 bytes has no field at 5"),
        (b"\0\377abc\0\0", "a message of 7 bytes has no field at 255"),
        (b"\0\1abc\0\0", "the field at 0 of a message says 1"),
        (b"\0\5abc\0\4", "the field at 5 of a message says 4"),
        (b"\0\5abc\0\0x", "a message of 8 bytes ends at 7"),
    ],
)
def test_fields_that_lead_elsewhere_are_told(message: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        unpack(message)


def test_message_has_room_for_so_much() -> None:
    with pytest.raises(ValueError, match="65534 bytes more: a message has 65535 bytes of packets"):
        pack([bytes(0xFFFE)])
    with pytest.raises(ValueError, match="1 bytes more"):
        pack([bytes(0xFFFB), b"x"])


def test_user_data() -> None:
    """Blanks behind the name; without one, what Linux takes for interfaces that have none."""
    assert user_data("ab").hex() == "c1c2" + "40" * 14
    assert user_data().hex() == "f040404040404040" * 2
    with pytest.raises(ValueError, match="has 17 characters"):
        user_data("x" * 17)
