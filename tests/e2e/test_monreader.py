# SPDX-License-Identifier: MIT
"""The kernel's own monreader delivers what CP stored, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import EVENT, SAMPLE, Element, Record
from zvmlab.monitor.monitor import Capture, DataSets, compare, deliver

SIZES = (1, 2, 11, 12, 13, 4095, 4096, 4097, 65536, 1 << 20)


def record(number: int, size: int) -> Record:
    """A user-domain record of *size* bytes with a payload that shows its place."""
    return Record(4, 3, number, bytes((number * 7 + i) & 0xFF for i in range(size - 20)))


@pytest.mark.requirement("M18", "M23")
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", ("sample-config", "sample", "event-config", "event"))
def test_every_kind_with_any_buffer(
    monreader: Guest, zvmlab_dir: Path, kind: str, size: int
) -> None:
    letter = SAMPLE if kind.startswith("sample") else EVENT
    # One byte a call through the emulator is slow: little data for small buffers.
    length = 60 if size < 1000 else 900
    elements = [
        Element.of([record(i, length) for i in range(5)], letter, phase=phase)
        for phase in (0, 1234, 4000)
    ]
    with Capture(monreader.control, zvmlab_dir / "sets") as capture:
        with DataSets(monreader.agent) as reader:
            delivery = deliver(monreader.control, kind, *elements)
            assert delivery.fate == "delivered"
            found = reader.read(size)
            wanted = capture.next()
            compare(found, wanted)
            assert [part.data for part in wanted.parts()] == [e.data for e in elements]
            assert [part.mce.start % 4096 for part in wanted.parts()] == [0, 1234, 4000]
            assert {part.mce.type for part in found.parts()} == {letter}
            assert max(found.sizes) <= size and found.sizes[-1] == 0
            assert 0 not in found.sizes[:-1]


@pytest.mark.zvmlab(cpus=4)
def test_set_is_read_with_four_cpus(guest: Guest, zvmlab_dir: Path) -> None:
    guest.agent.insmod("monreader").check()
    with Capture(guest.control, zvmlab_dir / "sets") as capture:
        with DataSets(guest.agent) as reader:
            for number in range(50):
                deliver(guest.control, "sample", Element.of([record(number, 84)]))
                compare(reader.read(), capture.next())
