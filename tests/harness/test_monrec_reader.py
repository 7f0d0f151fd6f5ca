# SPDX-License-Identifier: MIT
"""libmonrec from Python: items of streams and of MONWRITE files."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Iterator

import pytest
from examples import some
from hypothesis import given, settings
from hypothesis import strategies as st

from zvmlab.base.errors import UsageError
from zvmlab.mondata.monrec_reader import Format, Item, Kind, read
from zvmlab.mondata.monwrite import END_OF_DATA, Notification, control_and_frames
from zvmlab.mondata.records import RECORD_MAX, Element, Mce, Part, Record, parse_set

START = 0x9000000
END = Record(1, 11)
PROCESSOR = Record(0, 1, 7, (3).to_bytes(2, "big") + bytes(6) + (99).to_bytes(4, "big"))


def part(*records: Record, start: int = START) -> Part:
    """An element of sample data at that address."""
    made = Element.of(records, phase=start % 4096)
    return Part(Mce(0xE2, made.domains, 0, start, start + len(made.data) - 1), made.data)


def stream(*parts: Part) -> bytes:
    """As the device gives it."""
    return b"".join(one.mce.encode() + one.data for one in parts)


def kinds(items: list[Item]) -> list[str]:
    """Their names."""
    return [item.kind.name for item in items]


def test_items_of_a_saved_stream() -> None:
    items = list(read(io.BytesIO(stream(part(PROCESSOR, END))), Format.SAVED))
    assert kinds(items) == ["SET", "ELEMENT", "RECORD", "RECORD", "SET_END"]
    record = items[2].record
    assert record is not None and record.layout is not None
    assert (record.layout.name, record.domain, record.number) == ("SYTSYP", 0, 1)
    assert (record.data, record.tod, record.address) == (PROCESSOR.encode(), 7, START)
    # In no release of which a source tells is it so short.
    assert record.values() == {}
    values = record.values(530)
    assert (values["PFXCPUAD"], values["PLSDIAGT"], values["PLSPRVIS"]) == (3, 99, None)
    assert items[1].element.domains == 0xC000 and items[1].interrupt is None
    assert (items[3].at.offset, items[3].at.record) == (12 + len(PROCESSOR.encode()), 2)


def test_values_of_each_type() -> None:
    user = Record(4, 5, payload="LINUX1".encode("cp037").ljust(8, b"\x40") + bytes(8))
    profile = Record(1, 9, payload=b"\xff\xff\xff\xfe" + bytes(4) + b"\xc0" + bytes(7))
    storage = Record(1, 17, payload=b"\1" * 16)
    items = list(read(io.BytesIO(stream(part(user, profile, storage, END))), Format.SAVED))
    records = [item.record for item in items if item.record is not None]
    assert records[0].values()["VMDUSER"] == "LINUX1"
    assert records[1].values()["INTERVAL"] == -2 and records[1].values()["SDOMAINS"] == 0xC0
    assert records[2].values()["XSTOTALB"] == b"\1" * 8
    assert records[1].values(440) == {"INTERVAL": -2, "HDOMAINS": 0, "CONFIG": 0}


# Lengths of D1R4 and D0R2 by release, as in test_monread_release.py.
OF = {530: (184, 108), 540: (420, 124), 620: (428, 140)}


def of(release: int) -> bytes:
    """A set of that release: its processor, and behind it the record that tells most."""
    system, processor = OF[release]
    records = [Record(0, 2, payload=b"\0\7" + bytes(processor - 22))]
    records += [Record(1, 4, payload=bytes(system - 20)), END]
    return stream(part(*records))


@pytest.mark.parametrize("release", OF)
def test_the_release_is_found(release: int) -> None:
    """Also of the record that came before the one that tells."""
    items = list(read(io.BytesIO(of(release)), Format.SAVED))
    processor, system, _ = (item.record for item in items if item.record is not None)
    assert processor.values()["PFXCPUAD"] == 7
    # Where PFXCPUTY is, is public of 5.3 only (zvmlab records).
    assert ("PFXCPUTY" in processor.values()) == (release == 530)
    assert "PFXCPUTY" in processor.values(530)
    assert {processor.release, system.release} == {release}


def test_the_release_is_given() -> None:
    """What the data say themselves is known then, too; as it has not been held against it, nothing is read."""
    items = list(read(io.BytesIO(of(620)), Format.SAVED, release=530))
    records = [item.record for item in items if item.kind is Kind.RECORD and item.record]
    assert [record.release for record in records[:2]] == [0, 0] and records[0].values() == {}
    assert [item.rule for item in items if item.kind is Kind.VIOLATION] == ["record-length"] * 2
    with pytest.raises(UsageError, match="unknown release of z/VM: 531"):
        next(read(io.BytesIO(b""), Format.SAVED, release=531))


def test_records_that_come_later() -> None:
    """Data of the device are given as soon as the set is complete, or nothing comes for now."""
    data = of(540)
    says = iter([data[:12], data[12:], b"", None, data[:12], None])
    given = read(lambda size: next(says), Format.DEVICE)
    first = [next(given) for _ in range(6)]
    assert kinds(first) == ["SET", "ELEMENT", "RECORD", "RECORD", "RECORD", "SET_END"]
    assert first[2].record is not None and first[2].record.release == 540
    assert kinds([next(given) for _ in range(4)]) == ["AGAIN", "SET", "ELEMENT", "AGAIN"]


def test_a_violation_has_its_place_and_words() -> None:
    data = stream(part(Record(0, 1, payload=bytes(76)), END))
    items = list(read(io.BytesIO(data), Format.SAVED, release=530))
    assert kinds(items) == ["SET", "ELEMENT", "VIOLATION", "RECORD", "RECORD", "SET_END"]
    assert items[2].rule == "record-length" and items[2].record is not None
    assert items[2].text == (
        "set 1, offset 12, element 1, record 1 (D0R1 SYTSYP): the record has 96 bytes,"
        " in its release 116 [record-length]"
    )


def test_monwrite() -> None:
    parts = [part(PROCESSOR, END), part(END, start=START + 0x1800)]
    data = control_and_frames(Notification(msgid=5, mca_start=START), parts) * 2 + END_OF_DATA
    items = list(read(io.BytesIO(data), Format.MONWRITE))
    once = ["SET", "ELEMENT", "RECORD", "RECORD", "ELEMENT", "RECORD", "SET_END"]
    assert kinds(items) == once * 2
    assert items[0].interrupt is not None and items[0].interrupt[4:8] == bytes([0, 0, 0, 5])


def test_what_the_device_says() -> None:
    data = stream(part(END))
    says: Iterator[bytes | int | None] = iter(
        [data[:12], data[12:], b"", errno.EOVERFLOW, None, data[:12], errno.EIO, errno.EIO]
    )

    def give(size: int) -> bytes | None:
        said = next(says)
        if isinstance(said, int):
            raise OSError(said, os.strerror(said))
        assert said is None or len(said) <= size
        return said

    items = list(read(give, Format.DEVICE))
    assert kinds(items) == [
        *("SET", "ELEMENT", "RECORD", "SET_END", "OVERFLOW", "AGAIN"),
        *("SET", "ELEMENT", "SET_LOST", "ERROR"),
    ]
    assert items[-2].error == items[-1].error == errno.EIO


def test_an_exception_of_the_source() -> None:
    def give(_size: int) -> bytes:
        raise ValueError("not today")

    with pytest.raises(ValueError, match="not today"):
        list(read(give, Format.SAVED))


def test_an_iteration_that_is_left() -> None:
    items = read(io.BytesIO(stream(part(END))), Format.SAVED)
    assert next(items).kind is Kind.SET
    del items


RECORDS = st.lists(
    st.builds(
        Record,
        st.integers(0, 1),
        st.integers(100, 65535),  # of which no kind is known
        st.integers(0, 2**64 - 1),
        st.binary(max_size=300) | st.binary(min_size=RECORD_MAX - 30, max_size=RECORD_MAX - 20),
    ),
    max_size=60,
)


@settings(max_examples=some(60))
@given(records=RECORDS, phase=st.integers(0, 4000 // 4).map(lambda words: words * 4))
def test_two_readers_agree(records: list[Record], phase: int) -> None:
    """The harness' own parser and the library, of all that lay_out() makes."""
    data = stream(part(*records, END, start=START + phase))
    items = list(read(io.BytesIO(data), Format.SAVED))
    assert [item.text for item in items if item.kind is Kind.VIOLATION] == []
    ours = [item.record.data for item in items if item.record is not None]
    (parsed,) = parse_set(data)
    assert ours == [record.encode() for record in parsed.records()]


@pytest.mark.parametrize("format", list(Format))
def test_no_data_at_all(format: Format) -> None:
    gone = iter([errno.ENODEV])

    def nothing(_size: int) -> bytes:
        if format is Format.DEVICE:
            raise OSError(next(gone), "gone")
        return b""

    expected = {Format.DEVICE: ["ERROR"], Format.SAVED: [], Format.MONWRITE: ["VIOLATION"]}
    assert kinds(list(read(nothing, format))) == expected[format]
