# SPDX-License-Identifier: MIT
"""MONWRITE files: their bytes, the way there from a stream and back, damage."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zvmlab.base.errors import UsageError
from zvmlab.mondata.monwrite import (
    BLOCK_SIZE,
    END_OF_DATA,
    MAX_ELEMENTS,
    Notification,
    control_and_frames,
    read_sets,
)
from zvmlab.mondata.records import SAMPLE, BadStream, Mce, Part, parse_set


def part(start: int, data: bytes, domains: int = 0x4000) -> Part:
    """An element with its records."""
    return Part(Mce(SAMPLE, domains, 0, start, start + len(data) - 1), data)


ONE = control_and_frames(
    Notification(path=3, msgid=0x11, trgcls=0xE2C40000, mca_start=0x9400010),
    [part(0x9500FF0, b"\xaa" * 20), part(0x9502000, b"\xbb" * 4096)],
)


def test_bytes_of_a_file() -> None:
    assert len(ONE) == 4 * BLOCK_SIZE
    interrupt = "0003 80 09 00000011 e2c40000 09400010 09400027".replace(" ", "")
    assert ONE[:40] == bytes.fromhex(interrupt) + bytes(20)
    assert ONE[40:64] == bytes.fromhex("e2400000 09500ff0 09501003 e2400000 09502000 09502fff")
    assert not any(ONE[64:4096])
    # The first element's records lie across a border of frames.
    assert ONE[4096:8192] == bytes(0xFF0) + b"\xaa" * 16
    assert ONE[8192:12288] == b"\xaa" * 4 + bytes(4092)
    assert ONE[12288:] == b"\xbb" * 4096
    assert END_OF_DATA == bytes(4096)


def test_stream_has_elements_and_records_only() -> None:
    (found,) = read_sets(io.BytesIO(ONE + END_OF_DATA))
    assert found.notification == Notification(3, 0x11, 0xE2C40000, 0x9400010)
    assert found.stream() == ONE[40:52] + b"\xaa" * 20 + ONE[52:64] + b"\xbb" * 4096


@given(
    st.lists(
        st.lists(
            st.tuples(st.integers(0x9000000, 0x97F0000), st.binary(min_size=1, max_size=9000)),
            min_size=1,
            max_size=5,
        ),
        max_size=4,
    )
)
def test_there_and_back(sets: list[list[tuple[int, bytes]]]) -> None:
    streams = [
        b"".join(p.mce.encode() + p.data for p in (part(at, data) for at, data in one))
        for one in sets
    ]
    file = b"".join(
        control_and_frames(Notification(msgid=number), parse_set(stream))
        for number, stream in enumerate(streams)
    )
    found = list(read_sets(io.BytesIO(file + END_OF_DATA)))
    assert [one.stream() for one in found] == streams
    again = b"".join(control_and_frames(one.notification, one.parts) for one in found)
    assert again == file


def test_file_without_a_set() -> None:
    assert list(read_sets(io.BytesIO(END_OF_DATA))) == []


def test_most_elements() -> None:
    parts = [part(0x9000000, b"\1")] * MAX_ELEMENTS
    (found,) = read_sets(io.BytesIO(control_and_frames(Notification(), parts) + END_OF_DATA))
    assert (MAX_ELEMENTS, found.parts) == (338, parts)
    with pytest.raises(UsageError, match="1 to 338 control elements, not 339"):
        control_and_frames(Notification(), [*parts, parts[0]])


def test_what_cannot_be_written() -> None:
    with pytest.raises(UsageError, match="1 to 338 control elements, not 0"):
        control_and_frames(Notification(), [])
    with pytest.raises(UsageError, match="describes 2 bytes, there are 1"):
        control_and_frames(Notification(), [Part(Mce(SAMPLE, 1, 0, 0, 1), b"x")])
    with pytest.raises(UsageError, match="does not end below 4 GiB"):
        control_and_frames(Notification(mca_start=0xFFFFFFF8), [part(0, b"x")])


def damaged(at: int, value: bytes) -> bytes:
    """A file with one set and other bytes at one place."""
    return ONE[:at] + value + ONE[at + len(value) :] + END_OF_DATA


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "ends where the control record of set 1 or the end-of-data record should be"),
        (ONE, "ends where the control record of set 2 or the end-of-data record should be"),
        (ONE[:-1], "ends 4095 bytes into a frame of set 1"),
        (ONE[:8192], "ends where a frame of set 1"),
        (ONE + END_OF_DATA[:-1], "ends 4095 bytes into the control record of set 2"),
        (ONE + END_OF_DATA + b"x", "more data follows the end-of-data record, after 1 sets"),
        (damaged(19, b"\x26"), "not 1 to 338 elements of 12 bytes"),
        (damaged(16, bytes(4)), "from 9400010 to 0: not 1 to 338 elements"),
        (damaged(16, b"\x7f"), "not 1 to 338 elements of 12 bytes"),
        (damaged(52, b"\0"), "control element 2 of set 1 is invalid: type 00"),
        (damaged(48, b"\x09\x50\x0f\xef"), "control element 1 of set 1 is invalid: type e2"),
        (damaged(60, b"\xff\xff\xff\xff"), "ends where a frame of set 1"),
    ],
)
def test_damage_is_told(data: bytes, text: str) -> None:
    with pytest.raises(BadStream, match=text):
        list(read_sets(io.BytesIO(data)))


@given(
    st.lists(st.tuples(st.integers(0, len(ONE) - 1), st.integers(0, 255)), max_size=8),
    st.integers(0, len(ONE) + len(END_OF_DATA)),
)
def test_any_bytes_are_a_file_or_damage(changes: list[tuple[int, int]], length: int) -> None:
    data = bytearray(ONE + END_OF_DATA)
    for at, value in changes:
        data[at] = value
    try:
        for data_set in read_sets(io.BytesIO(data[:length])):
            assert parse_set(data_set.stream()) == data_set.parts
    except BadStream:
        pass
