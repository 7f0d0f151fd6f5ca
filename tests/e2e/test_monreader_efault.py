# SPDX-License-Identifier: MIT
"""Buffers that cannot take the data: EFAULT, and what the stream looks like afterwards."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from zvmlab.agent.calls import Bad
from zvmlab.agent.wire import BadKind
from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import Element, Record
from zvmlab.monitor.monitor import Capture, CapturedSet, DataSets, compare, deliver

# Two elements of 12 + 40 bytes: each place of elements and records is tried.
ELEMENTS = [Element.of([Record(4, 3, n, bytes(range(20)))]) for n in range(2)]


def one_set(guest: Guest, folder: Path, *elements: Element) -> CapturedSet:
    """Announce one set; what CP stored."""
    with Capture(guest.control, folder / "sets") as capture:
        assert deliver(guest.control, "sample", *(elements or ELEMENTS)).fate == "delivered"
        return capture.next()


@pytest.mark.requirement("M26")
@pytest.mark.parametrize(
    "bad",
    (Bad(BadKind.UNMAPPED), Bad(BadKind.READONLY), Bad(BadKind.PARTIAL, 4096, 0)),
    ids=("unmapped", "read-only", "ends-before-it-begins"),
)
def test_bad_buffer_is_efault_at_every_byte(monreader: Guest, zvmlab_dir: Path, bad: Bad) -> None:
    """At each byte of elements and records: EFAULT, and the next good read goes on right there."""
    with DataSets(monreader.agent, os.O_NONBLOCK) as reader:
        wanted = one_set(monreader, zvmlab_dir)
        batch = monreader.agent.batch()
        for _ in wanted.stream:
            batch.read(reader.fd, bad)
            batch.read(reader.fd, 1)
        batch.read(reader.fd, 1)
        results = list(batch.run())
        tried, taken = results[:-1:2], results[1::2]
        assert {(result.ret, result.errno) for result in tried} == {(-1, errno.EFAULT)}
        assert b"".join(result.data for result in taken) == wanted.stream
        assert (results[-1].ret, results[-1].errno) == (0, 0)
        compare_next(monreader, reader, zvmlab_dir)


def compare_next(guest: Guest, reader: DataSets, folder: Path) -> None:
    """The set behind the one with the bad buffers is whole."""
    wanted = one_set(guest, folder, Element.of([Record(4, 3, 9, b"next")]))
    compare(reader.read(), wanted)


@pytest.mark.requirement("M26")
@pytest.mark.parametrize("valid", range(1, 12))
def test_buffer_that_ends_within_an_element_is_efault(
    monreader: Guest, zvmlab_dir: Path, valid: int
) -> None:
    """Memory that ends within the control element: nothing was read, and all of it comes again."""
    with DataSets(monreader.agent) as reader:
        wanted = one_set(monreader, zvmlab_dir)
        half = monreader.agent.read(reader.fd, Bad(BadKind.PARTIAL, 4096, valid))
        assert (half.ret, half.errno) == (-1, errno.EFAULT)
        # What lies there now is not data: nothing behind the good part was touched.
        assert len(half.data) == valid and not half.overrun
        compare(reader.read(), wanted)


@pytest.mark.requirement("M26")
@pytest.mark.parametrize("valid", (1, 39, 40, 4095, 4096, 4097, 8000))
def test_buffer_that_ends_within_the_records_is_efault(
    monreader: Guest, zvmlab_dir: Path, valid: int
) -> None:
    """The same within the records, on and around page boundaries of buffer and segment."""
    records = [Record(4, 3, n, bytes([n]) * 480) for n in range(16)]
    with DataSets(monreader.agent) as reader:
        wanted = one_set(monreader, zvmlab_dir, Element.of(records, phase=100))
        head = monreader.agent.read(reader.fd, 12)
        half = monreader.agent.read(reader.fd, Bad(BadKind.PARTIAL, 1 << 16, valid))
        assert (head.data, half.ret, half.errno) == (wanted.stream[:12], -1, errno.EFAULT)
        rest = reader.read()
        assert head.data + rest.stream == wanted.stream


@pytest.mark.requirement("M26")
@pytest.mark.representative
def test_discarding_up_to_the_zero_byte_read_is_possible(
    monreader: Guest, zvmlab_dir: Path
) -> None:
    """A consumer may do what the documents say: discard, go on to the 0-byte read, begin anew."""
    with DataSets(monreader.agent) as reader:
        one_set(monreader, zvmlab_dir)
        assert monreader.agent.read(reader.fd, 20).check() > 0
        assert monreader.agent.read(reader.fd, Bad(BadKind.UNMAPPED)).errno == errno.EFAULT
        skipped = monreader.agent.read_until(reader.fd, 4096).reads
        assert skipped[-1].ret == 0
        compare_next(monreader, reader, zvmlab_dir)


@pytest.mark.requirement("M26")
@pytest.mark.representative
def test_efault_does_not_reply(monreader: Guest, zvmlab_dir: Path) -> None:
    """CP may not use the areas again only because a buffer was bad."""
    with DataSets(monreader.agent) as reader:
        wanted = one_set(monreader, zvmlab_dir)
        for _ in range(3):
            bad = monreader.agent.read(reader.fd, Bad(BadKind.UNMAPPED))
            assert bad.errno == errno.EFAULT
        (user,) = monreader.control.execute("query-monitor")["users"]
        assert (user["outstanding"], user["replied"]) == (1, 0)
        compare(reader.read(), wanted)
        (user,) = monreader.control.execute("query-monitor")["users"]
        assert (user["outstanding"], user["replied"]) == (0, 1)
