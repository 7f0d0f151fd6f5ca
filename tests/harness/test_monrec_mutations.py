# SPDX-License-Identifier: MIT
"""Every rule: data that keep all of them pass; a change that breaks one is told by its name."""

from __future__ import annotations

import errno
import io
from collections.abc import Callable, Iterator, Sequence

import pytest
from examples import some
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from monread_tool import START, part, stream

from zvmlab.mondata.monrec import rules
from zvmlab.mondata.monrec_reader import Format, Item, Kind, read
from zvmlab.mondata.monwrite import END_OF_DATA, Notification, control_and_frames
from zvmlab.mondata.records import EVENT, HEADER_SIZE, MCE_SIZE, SAMPLE, Mce, Part, Record

END = Record(1, 11, 9)
EOF = (1, 13)
Draw = Callable[[st.SearchStrategy[int]], int]
Broken = tuple[bytes, Format, int]


def processors(count: int) -> list[Record]:
    """So many D0R1, each with other bytes."""
    return [Record(0, 1, n, bytes([n & 0xFF]) * 96) for n in range(count)]


def logons(count: int) -> list[Record]:
    """So many D4R1, which belong to event data."""
    return [Record(4, 1, n, bytes([n & 0xFF]) * 76) for n in range(count)]


class Good:
    """A set of sample and event data over some frames that keeps all rules."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.records = processors(draw(st.integers(40, 120)))
        self.start = START + draw(st.integers(0, 900)) * 4
        self.sample = self.sample_of(*self.records, END)
        events = Record(1, 14, 3, b"\xc5" + bytes(7))
        self.event = part(events, *logons(draw(st.integers(1, 80))), type=EVENT, start=START)
        self.data = bytearray(stream(self.sample, self.event))

    def sample_of(self, *records: Record) -> Part:
        """Sample data where this set has them."""
        return part(Record(1, 14, 3, b"\xe2" + bytes(7)), *records, start=self.start)

    def places(self) -> list[tuple[int, int, int]]:
        """Of the records of the sample data: offset in the stream, length, room in the frame."""
        found, at = [], 0
        for record in self.sample.records():
            length = HEADER_SIZE + len(record.payload)
            room = 4096 - (self.start + at) % 4096
            found.append((MCE_SIZE + at, length, room))
            at += room if (record.domain, record.number) == EOF else length
        return found

    def any_place(self) -> tuple[int, int, int]:
        """Of a record that ends neither a frame nor the interval."""
        places = [one for one in self.places() if one[1] > HEADER_SIZE]
        return places[self.draw(st.integers(0, len(places) - 1))]

    def put(self, at: int, value: int, size: int = 2) -> bytes:
        """The stream with a number there."""
        self.data[at : at + size] = value.to_bytes(size, "big")
        return bytes(self.data)


def number(draw: Draw, least: int, most: int) -> int:
    return draw(st.integers(least, most))


def saved(data: bytes) -> Broken:
    return data, Format.SAVED, 0


def element_cut(good: Good) -> Broken:
    return saved(bytes(good.data) + good.event.mce.encode()[: number(good.draw, 1, 11)])


def element_type(good: Good) -> Broken:
    kind = number(good.draw, 0, 255)
    assume(kind not in (SAMPLE, EVENT))
    return saved(good.put(0, kind, 1))


def element_domains(good: Good) -> Broken:
    if number(good.draw, 0, 1):
        return saved(good.put(1, 0))
    # Samples have no scheduler's data.
    return saved(good.put(1, good.sample.mce.domains | 0x2000))


def element_range(good: Good) -> Broken:
    return saved(good.put(8, good.start - number(good.draw, 0, 9999), 4))


def records_cut(good: Good) -> Broken:
    least = len(good.data) - len(good.event.data)
    return saved(bytes(good.data[: number(good.draw, least, len(good.data) - 1)]))


def header_cut(good: Good) -> Broken:
    more = number(good.draw, 1, 19)
    mce = good.event.mce
    longer = Mce(mce.type, mce.domains, 0, mce.start, mce.end + more)
    return saved(longer.encode() + good.event.data + b"\x5a" * more)


def record_short(good: Good) -> Broken:
    return saved(good.put(good.any_place()[0], number(good.draw, 0, 19)))


def record_frame(good: Good) -> Broken:
    at, _, room = good.any_place()
    return saved(good.put(at, number(good.draw, room + 1, 65535)))


def record_element(good: Good) -> Broken:
    at, length, room = good.places()[-1]
    assume(room > length)
    return saved(good.put(at, number(good.draw, length + 1, room)))


def record_zero(good: Good) -> Broken:
    return saved(good.put(good.any_place()[0] + 2, number(good.draw, 1, 65535)))


def record_domain(good: Good) -> Broken:
    if number(good.draw, 0, 1):
        return saved(good.put(1, good.sample.mce.domains & 0x7FFF))
    return saved(good.put(good.any_place()[0] + 4, number(good.draw, 2, 255), 1))


def record_kind(good: Good) -> Broken:
    mce = good.event.mce
    return saved(Mce(SAMPLE, mce.domains, 0, mce.start, mce.end).encode() + good.event.data)


def record_length(good: Good) -> Broken:
    # D0R3 has 492 bytes in 5.3.
    at, _, _ = good.any_place()
    return good.put(at + 6, 3), Format.SAVED, 530


def frame_open(good: Good) -> Broken:
    whole = Record(0, 1, 1, bytes(4056)).encode() + bytes(20)
    whole = (4096).to_bytes(2, "big") + whole[2:]
    data = whole * number(good.draw, 1, 3) + END.encode()
    return saved(Mce(SAMPLE, 0xC000, 0, START, START + len(data) - 1).encode() + data)


def frame_last(good: Good) -> Broken:
    return saved(good.put(good.places()[-1][0] + 6, 13))


def frame_length(good: Good) -> Broken:
    end = Record(1, 11, 9, bytes(number(good.draw, 1, 40)))
    return saved(stream(good.sample_of(*good.records, end)))


def behind_end(good: Good) -> Broken:
    return saved(stream(good.sample_of(*good.records, END, *processors(2))))


def interval_open(good: Good) -> Broken:
    return saved(stream(good.sample_of(*good.records)))


def suspension_place(good: Good) -> Broken:
    resumed = Record(1, 3, 9, bytes(4))
    return saved(stream(part(*logons(number(good.draw, 1, 90)), resumed, type=EVENT)))


def suspension_open(good: Good) -> Broken:
    """What follows a suspension begins with neither D1R3 nor D1R1."""
    suspended = part(*logons(3), Record(1, 12, 9), type=EVENT)
    return saved(stream(suspended, part(*logons(number(good.draw, 1, 5)), type=EVENT)))


def profile(good: Good) -> Broken:
    profiles = good.places()[0][0]
    value = number(good.draw, 0, 255)
    assume(value != SAMPLE)
    return saved(good.put(profiles + HEADER_SIZE, value, 1))


def file(good: Good) -> bytes:
    """A file of MONWRITE."""
    return control_and_frames(Notification(1, 2, 3, START), [good.sample, good.event]) + END_OF_DATA


def file_cut(good: Good) -> Broken:
    data = file(good)
    return data[: number(good.draw, 1, len(data) - 1)], Format.MONWRITE, 0


def control_area(good: Good) -> Broken:
    data = bytearray(file(good))
    last = number(good.draw, 0, 0xFFFFFFFF)
    length = last - START + 1
    assume(length <= 0 or length % MCE_SIZE or length > 338 * MCE_SIZE)
    data[16:20] = last.to_bytes(4, "big")
    return bytes(data), Format.MONWRITE, 0


def interrupt(good: Good) -> Broken:
    data = bytearray(file(good))
    if number(good.draw, 0, 1):
        data[2] = number(good.draw, 0, 127)
    else:
        data[3] = number(good.draw, 10, 255)
    return bytes(data), Format.MONWRITE, 0


def behind_data(good: Good) -> Broken:
    return file(good) + bytes(number(good.draw, 1, 9000)), Format.MONWRITE, 0


def set_empty(good: Good) -> Broken:
    return b"", Format.DEVICE, 0


BREAK: dict[str, Callable[[Good], Broken]] = {
    function.__name__.replace("_", "-"): function
    for function in (
        *(element_cut, element_type, element_domains, element_range, records_cut, set_empty),
        *(header_cut, record_short, record_frame, record_element, record_zero, record_domain),
        *(record_kind, record_length, frame_open, frame_last, frame_length, behind_end),
        *(interval_open, suspension_place, suspension_open, profile),
        *(file_cut, control_area, interrupt, behind_data),
    )
}


def device(sets: Sequence[bytes]) -> Callable[[int], bytes]:
    """Reads of /dev/monreader that give these sets, then an error."""

    def pieces() -> Iterator[bytes]:
        for data_set in sets:
            yield data_set
            yield b""

    left = list(pieces())

    def read_some(size: int) -> bytes:
        if not left:
            raise OSError(errno.ENODEV, "gone")
        data, rest = left[0][:size], left[0][size:]
        if rest:
            left[0] = rest
        else:
            del left[0]
        return data

    return read_some


def items(broken: Broken) -> list[Item]:
    """All that a reader says."""
    data, format, release = broken
    if format is Format.DEVICE:
        return list(read(device([data]), format, release))
    return list(read(io.BytesIO(data), format, release))


def told(broken: Broken) -> list[Item]:
    """The violations."""
    return [item for item in items(broken) if item.kind is Kind.VIOLATION]


def test_every_rule_is_broken_here() -> None:
    assert set(BREAK) == set(rules())


@given(st.data())
@settings(max_examples=some(60), deadline=None)
def test_what_keeps_the_rules_passes(data: st.DataObject) -> None:
    good = Good(data.draw)
    for release in (0, 530):
        assert [one.text for one in told((bytes(good.data), Format.SAVED, release))][:1] == []
    assert [one.text for one in told((file(good), Format.MONWRITE, 0))] == []
    assert [one.text for one in told((bytes(good.data), Format.DEVICE, 0))] == []


@pytest.mark.parametrize("rule", BREAK)
@given(st.data())
@settings(max_examples=some(25), deadline=None)
def test_a_change_that_breaks_a_rule_is_told(rule: str, data: st.DataObject) -> None:
    found = told(BREAK[rule](Good(data.draw)))
    assert rule in [one.rule for one in found], [one.text for one in found]
    for one in found:
        assert one.text.endswith(f" [{one.rule}]") and f"offset {one.at.offset}" in one.text
