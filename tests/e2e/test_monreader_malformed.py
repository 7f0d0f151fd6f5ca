# SPDX-License-Identifier: MIT
"""Control areas that break a rule are reported, never passed off as a data set."""

from __future__ import annotations

import dataclasses
import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from zvmlab.base.errors import GuestPanic
from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import MCE_SIZE, Element, Mce, Record
from zvmlab.monitor.malformed import Place
from zvmlab.monitor.monitor import Capture, DataSets, compare, deliver
from zvmlab.monitor.steps import Log

DATA = bytes(range(256)) * 2
# Linux keeps the first 64 KiB: no page of them is ever free, which KASAN would tell.
STORAGE_OF_THE_GUEST = 0x4000
BEHIND_ALL_STORAGE = 0x60000000


def _bounds(place: Place, first: int, last: int) -> None:
    """A good element with *first* and *last* added to its control area's bounds."""
    place.put(place.area, place.element(len(DATA)).encode())
    place.announce(place.area + first, place.area + MCE_SIZE - 1 + last)


def _across_the_end(place: Place) -> None:
    first = place.end + 1 - MCE_SIZE
    place.put(first, place.element(len(DATA)).encode())
    place.announce(first, first + 2 * MCE_SIZE - 1)


def _changed(**fields: int) -> Callable[[Place], None]:
    def announce(place: Place) -> None:
        good = place.element(len(DATA))
        offsets = {name: getattr(good, name) + by for name, by in fields.items()}
        place.announce_elements(dataclasses.replace(good, **offsets))

    return announce


def _replaced(**fields: int) -> Callable[[Place], None]:
    return lambda place: place.announce_elements(
        dataclasses.replace(place.element(len(DATA)), **fields)
    )


MALFORMED: dict[str, Callable[[Place], None]] = {
    "records-end-before-they-begin": _changed(end=-len(DATA)),
    "records-begin-below-the-segment": lambda place: place.announce_elements(
        dataclasses.replace(place.element(len(DATA)), start=place.start - 1)
    ),
    "records-end-above-the-segment": lambda place: place.announce_elements(
        dataclasses.replace(place.element(len(DATA)), end=place.end + 1)
    ),
    "no-type": _replaced(type=0),
    "no-domain": _replaced(domains=0),
    "area-not-whole-elements": lambda place: _bounds(place, 0, 1),
    "area-ends-before-it-begins": lambda place: _bounds(place, 0, -MCE_SIZE - 1),
    "area-ends-above-the-segment": _across_the_end,
    "area-begins-below-the-segment": lambda place: place.announce(
        STORAGE_OF_THE_GUEST, STORAGE_OF_THE_GUEST + MCE_SIZE - 1
    ),
}


def next_set_is_read(guest: Guest, reader: DataSets, folder: Path) -> None:
    """The next set is not affected by the one before."""
    with Capture(guest.control, folder / "sets") as capture:
        deliver(guest.control, "sample", Element.of([Record(4, 3, 1, b"next")]))
        compare(reader.read(), capture.next())


@pytest.mark.requirement("M20")
@pytest.mark.upstream_defect(
    8, "a malformed set reads as an empty one", seen=r"assert \[0\] == \[5\]"
)
@pytest.mark.parametrize("announce", MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_control_area_is_eio(
    monreader: Guest, zvmlab_dir: Path, announce: Callable[[Place], None]
) -> None:
    """A control area that breaks one rule gives EIO, a line in the log, and the next set."""
    place = Place.of(monreader.control)
    place.put(place.records, DATA)
    with DataSets(monreader.agent) as reader:
        announce(place)
        log = Log(monreader.agent)
        reads = monreader.agent.read_until(reader.fd, 4096, reads=4).reads
        assert [read.errno for read in reads] == [errno.EIO]
        assert log.texts()
        next_set_is_read(monreader, reader, zvmlab_dir)


@pytest.mark.requirement("M20")
def test_set_behind_a_malformed_one_is_whole(monreader: Guest, zvmlab_dir: Path) -> None:
    """Whatever a reader makes of a malformed set, it is one answer, and the next set is whole."""
    place = Place.of(monreader.control)
    with DataSets(monreader.agent) as reader:
        for announce in MALFORMED.values():
            announce(place)
            read = monreader.agent.read(reader.fd, 4096)
            assert (read.ret, read.errno) in ((0, 0), (-1, errno.EIO))
        next_set_is_read(monreader, reader, zvmlab_dir)
        (user,) = monreader.control.execute("query-monitor")["users"]
        assert (user["outstanding"], user["replied"]) == (0, len(MALFORMED) + 1)


@pytest.mark.requirement("M20")
@pytest.mark.upstream_defect(
    8,
    "a set is cut where its malformed element stands, and looks whole",
    seen=r"reads \[12, 512, 0\]",
)
def test_malformed_second_element_is_eio(monreader: Guest, zvmlab_dir: Path) -> None:
    """A good element in front of a malformed one does not make the set a good one."""
    place = Place.of(monreader.control)
    place.put(place.records, DATA)
    with DataSets(monreader.agent) as reader:
        good = place.element(len(DATA))
        place.announce_elements(good, dataclasses.replace(good, type=0))
        reads = monreader.agent.read_until(reader.fd, 4096, reads=8).reads
        found = [read.ret for read in reads]
        assert reads[-1].errno == errno.EIO and 0 not in found, f"reads {found}"
        next_set_is_read(monreader, reader, zvmlab_dir)


@pytest.mark.requirement("M20")
@pytest.mark.upstream_defect(
    11, "records of one byte are taken for a malformed element", seen=r"reads \[0\]"
)
def test_element_of_one_byte_of_records(monreader: Guest, zvmlab_dir: Path) -> None:
    """An element whose records end where they begin describes one byte."""
    place = Place.of(monreader.control)
    place.put(place.records, b"\xa7")
    element = place.element(1)
    with DataSets(monreader.agent) as reader:
        place.announce_elements(element)
        found = reader.read()
        assert found.stream == element.encode() + b"\xa7", f"reads {found.sizes}"
        next_set_is_read(monreader, reader, zvmlab_dir)


@pytest.mark.requirement("M18")
@pytest.mark.upstream_defect(
    9,
    "records that end just below their element are read forever",
    seen=r"reads \[12, 512, 12, 512, 12, 512, 12, 512\]",
)
def test_records_just_below_their_control_area(monreader: Guest) -> None:
    """The positions of records and control area do not matter, even side by side."""
    place = Place.of(monreader.control)
    element = Mce(0xE2, 0x0800, 0, place.area - len(DATA), place.area - 1)
    place.put(element.start, DATA + element.encode())
    with DataSets(monreader.agent) as reader:
        place.announce(place.area, place.area + MCE_SIZE - 1)
        reads = monreader.agent.read_until(reader.fd, 4096, reads=8).reads
        found = [read.ret for read in reads]
        assert b"".join(read.data for read in reads) == element.encode() + DATA, f"reads {found}"
        assert found[-1] == 0


def _looks_again(left: int) -> pytest.MarkDecorator:
    """Upstream's driver gives so many bytes of what is left of the records."""
    return pytest.mark.upstream_defect(
        8, "an element is looked at again at every read", seen=f"{left} bytes left, not 256"
    )


@pytest.mark.requirement("M20")
@pytest.mark.parametrize(
    "by",
    [
        pytest.param(-300, marks=_looks_again(0)),
        pytest.param(-100, marks=_looks_again(156)),
        pytest.param(4, marks=_looks_again(260)),
        pytest.param(1000, marks=_looks_again(1256)),
    ],
)
def test_element_that_changes_while_it_is_read(monreader: Guest, zvmlab_dir: Path, by: int) -> None:
    """A control element counts as it stood when its set was begun."""
    place = Place.of(monreader.control)
    place.put(place.records, DATA)
    element = place.element(len(DATA))
    with DataSets(monreader.agent) as reader:
        place.announce_elements(element)
        head = monreader.agent.read(reader.fd, MCE_SIZE)
        half = monreader.agent.read(reader.fd, len(DATA) // 2)
        place.put(place.area, dataclasses.replace(element, end=element.end + by).encode())
        rest = reader.read().stream
        assert head.data + half.data == element.encode() + DATA[:256]
        assert rest == DATA[256:], f"{len(rest)} bytes left, not 256"
        next_set_is_read(monreader, reader, zvmlab_dir)


@pytest.mark.requirement("M20")
@pytest.mark.upstream_defect(
    2,
    "a control area is read before its address is checked",
    seen=r"the guest's kernel reported an oops \(\[ *[0-9.]+\] Unable to handle kernel pointer"
    r" dereference in virtual kernel address space\)",
    raises=GuestPanic,
)
def test_control_area_outside_all_storage_is_eio(driver_guest: Guest, zvmlab_dir: Path) -> None:
    """An address that leads nowhere gives EIO; the kernel survives it."""
    driver_guest.agent.modprobe("monreader").check()
    with DataSets(driver_guest.agent) as reader:
        place = Place.of(driver_guest.control)
        place.announce(BEHIND_ALL_STORAGE, BEHIND_ALL_STORAGE + MCE_SIZE - 1)
        read = driver_guest.agent.read(reader.fd, 4096)
        assert read.errno == errno.EIO
        next_set_is_read(driver_guest, reader, zvmlab_dir)
