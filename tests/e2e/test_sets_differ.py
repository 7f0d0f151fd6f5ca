# SPDX-License-Identifier: MIT
"""The judge of read sets says no where CP, or the segment, has changed."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from zvmlab.cp.faults import Fault, armed
from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import MCE_SIZE, Element, Mce, Record
from zvmlab.monitor.malformed import Place
from zvmlab.monitor.monitor import Capture, DataSets, SetsDiffer, compare, deliver

pytestmark = pytest.mark.first_kernel

RECORDS = bytes(range(96))


def _element(number: int) -> Element:
    return Element.of([Record(4, 3, number, bytes([number]) * 64)])


@pytest.mark.parametrize(
    ("fault", "differ"),
    [
        (None, []),
        (Fault("monitor.message", "drop", nth=1), [1, 2]),
        (Fault("monitor.message", "duplicate", nth=1), [2, 3]),
        (Fault("monitor.message", "reorder", nth=1), [1, 2]),
    ],
    ids=("none", "missing", "too-many", "order"),
)
def test_sets_that_are_not_those_of_cp_differ(
    monreader: Guest, zvmlab_dir: Path, fault: Fault | None, differ: list[int]
) -> None:
    """A set is missing, is there twice, or comes late: compare() says which are not CP's."""
    found = []
    with Capture(monreader.control, zvmlab_dir / "sets") as capture:
        with DataSets(monreader.agent) as reader:
            with armed(monreader.control, *([fault] if fault else [])):
                for number in (1, 2, 3):
                    deliver(monreader.control, "sample", _element(number))
            for number in (1, 2) if fault and fault.kind == "drop" else (1, 2, 3):
                wanted = capture.next()
                try:
                    compare(reader.read(), wanted)
                except SetsDiffer as error:
                    told = f"data set {wanted.number} (sample) differs at byte "
                    assert str(error).startswith(told)
                    found.append(number)
    assert found == differ


@pytest.mark.parametrize("at", (0, 1, 83))
def test_one_byte_that_changes_in_the_segment_differs(
    monreader: Guest, zvmlab_dir: Path, at: int
) -> None:
    """Somebody stores into the records after CP has announced them."""
    with Capture(monreader.control, zvmlab_dir / "sets") as capture:
        with DataSets(monreader.agent) as reader:
            deliver(monreader.control, "sample", _element(1))
            wanted = capture.next()
            start = Mce.decode(wanted.stream[:MCE_SIZE]).start
            old = wanted.stream[MCE_SIZE + at]
            Place.of(monreader.control).put(start + at, bytes([old ^ 1]))
            with pytest.raises(
                SetsDiffer, match=f"differs at byte {MCE_SIZE + at}: the guest read"
            ):
                compare(reader.read(), wanted)


def test_a_set_that_is_cut_differs(monreader: Guest, zvmlab_dir: Path) -> None:
    """Its control element ends earlier than it did when CP announced it."""
    place = Place.of(monreader.control)
    place.put(place.records, RECORDS)
    element = place.element(len(RECORDS))
    with Capture(monreader.control, zvmlab_dir / "sets") as capture:
        with DataSets(monreader.agent) as reader:
            place.announce_elements(element)
            wanted = capture.next()
            place.put(place.area, dataclasses.replace(element, end=element.end - 4).encode())
            found = reader.read()
    assert found.stream[MCE_SIZE:] == RECORDS[:-4] and wanted.stream[MCE_SIZE:] == RECORDS
    with pytest.raises(SetsDiffer, match=f"at byte {MCE_SIZE - 1}: .* of 104 bytes, .* of 108"):
        compare(found, wanted)
