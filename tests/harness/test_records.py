# SPDX-License-Identifier: MIT
"""Monitor records, control elements and streams, written and read back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zvmlab.base.errors import UsageError
from zvmlab.mondata.records import (
    EVENT,
    BadStream,
    Element,
    Mce,
    Record,
    domain_bits,
    domain_names,
    lay_out,
    parse_set,
)


def test_header_layout() -> None:
    assert Record(4, 3, 0x0102030405060708, b"\xaa\xbb").encode() == bytes.fromhex(
        "0016 0000 04 00 0003 0102030405060708 00000000 aabb".replace(" ", "")
    )


def test_control_element_layout() -> None:
    data = bytes.fromhex("e2c000000900000009000053")
    mce = Mce.decode(data)
    assert mce == Mce(0xE2, 0xC000, 0, 0x09000000, 0x09000053)
    assert (mce.size, mce.letter, mce.encode()) == (84, "S", data)
    assert domain_names(mce.domains) == ["system", "monitor"]


@pytest.mark.parametrize(
    ("domains", "bits"),
    [(("system",), 0x8000), (("monitor", "appldata"), 0x4020), ((11,), 0x0010), ((), 0)],
)
def test_domain_bits(domains: tuple[str | int, ...], bits: int) -> None:
    assert domain_bits(*domains) == bits


def test_unknown_domains() -> None:
    with pytest.raises(UsageError, match="unknown monitor domain: 'disk' .known: system, monitor"):
        domain_bits("disk")
    with pytest.raises(UsageError, match="invalid monitor domain: 16"):
        domain_bits(16)
    assert domain_names(0x0001) == ["domain 15"]


def test_end_of_frame_record_fills_the_frame() -> None:
    records = [Record(0, 1, 0, bytes(3000)), Record(0, 2, 0, bytes(2000))]
    data = lay_out(records)
    assert len(data) == 4096 + 2020
    assert data[3020:3040] == Record(1, 13).encode()
    assert not any(data[3040:4096])
    assert data[4096:] == records[1].encode()


def test_longest_records_fill_a_frame_each() -> None:
    records = [Record(0, 1, 0, bytes(4056)), Record(0, 2, 0, bytes(4056))]
    ends = [records[0].encode(), Record(1, 13).encode(), records[1].encode()]
    assert lay_out(records) == b"".join(ends)


def test_no_end_of_frame_record_behind_the_last() -> None:
    assert lay_out([Record(0, 1, 0, bytes(4056))]) == Record(0, 1, 0, bytes(4056)).encode()


@pytest.mark.parametrize(
    ("records", "phase", "text"),
    [
        ([Record(0, 1)], 4090, "only 6 bytes are left in the frame"),
        ([Record(0, 1)], 4096, "is not an offset in a frame"),
        ([Record(0, 1, 0, bytes(4057))], 0, "a record of 4077 bytes does not fit"),
    ],
)
def test_layouts_that_cannot_be(records: list[Record], phase: int, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        lay_out(records, phase)


_records = st.lists(
    st.builds(
        Record,
        st.integers(0, 11),
        st.integers(100, 200),
        st.integers(0, 2**64 - 1),
        st.binary(max_size=600),
    ),
    min_size=1,
    max_size=40,
)


@given(_records, st.integers(0, 4076))
def test_what_is_laid_out_is_read_back(records: list[Record], phase: int) -> None:
    element = Element.of(records, EVENT, phase)
    start = 0x09000000 + phase
    mce = Mce(element.type, element.domains, 0, start, start + len(element.data) - 1)
    (part,) = parse_set(mce.encode() + element.data)
    assert part.mce == mce
    found = [record for record in part.records() if (record.domain, record.number) != (1, 13)]
    assert found == records


@pytest.mark.parametrize(
    ("stream", "text"),
    [
        (b"\xe2" * 11, "ends within the control element at 0"),
        (Mce(0xE2, 1, 0, 100, 119).encode() + bytes(19), "describes 20 bytes, 19 follow"),
        (Mce(0xE2, 1, 0, 100, 99).encode(), "describes 0 bytes"),
    ],
)
def test_broken_sets(stream: bytes, text: str) -> None:
    with pytest.raises(BadStream, match=text):
        parse_set(stream)


@pytest.mark.parametrize("data", [bytes(19), b"\x00\x13" + bytes(18), b"\x00\x15" + bytes(18)])
def test_broken_records(data: bytes) -> None:
    (part,) = parse_set(Mce(0xE2, 1, 0, 0, len(data) - 1).encode() + data)
    with pytest.raises(BadStream, match="the record at 0"):
        list(part.records())
