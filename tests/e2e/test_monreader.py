# SPDX-License-Identifier: MIT
"""The kernel's own monreader delivers what CP stored, byte for byte."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from zvmlab.guest import Guest
from zvmlab.monitor import Capture, DataSets, compare, deliver
from zvmlab.records import EVENT, SAMPLE, Element, Record

SIZES = (1, 2, 11, 12, 13, 4095, 4096, 4097, 65536, 1 << 20)
MIB = 1 << 20


def record(number: int, size: int) -> Record:
    """A user-domain record of *size* bytes with a payload that shows its place."""
    return Record(4, 3, number, bytes((number * 7 + i) & 0xFF for i in range(size - 20)))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", ("sample-config", "sample", "event-config", "event"))
def test_m18_m23_every_kind_with_any_buffer(
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


def test_m13_started_monitor_gives_configuration_samples_and_events(
    monreader: Guest, zvmlab_dir: Path
) -> None:
    control = monreader.control
    control.execute("monitor-manual", manual=True)
    with Capture(control, zvmlab_dir / "sets") as capture:
        for command in (
            "MONITOR SAMPLE ENABLE ALL",
            "MONITOR EVENT ENABLE ALL",
            "MONITOR SAMPLE START",
            "MONITOR EVENT START",
        ):
            assert monreader.cp(command).rc == 0
        with DataSets(monreader.agent) as reader:
            kinds: list[str] = []
            for _ in range(2):
                control.execute("monitor-tick")
            event = Record(4, 1, 7, b"\0" * 60).encode()
            assert control.execute("monitor-event", domain=4, record=event)["recorded"]
            control.execute("monitor-tick")  # events wait for a full block, or for this
            while "event" not in kinds or kinds.count("sample") < 2:
                wanted = capture.next()
                compare(reader.read(), wanted)
                kinds.append(wanted.kind)
        assert kinds.index("sample-config") < kinds.index("sample")
        assert kinds.index("event-config") < kinds.index("event")
        for command in ("MONITOR SAMPLE STOP", "MONITOR EVENT STOP"):
            assert monreader.cp(command).rc == 0
        for command in ("MONITOR SAMPLE DISABLE ALL", "MONITOR EVENT DISABLE ALL"):
            assert monreader.cp(command).rc == 0
    control.execute("monitor-manual", manual=False)


def test_m14_size_of_the_segment_is_logged(warm_guest: Guest) -> None:
    loaded = warm_guest.agent.insmod("monreader").check()
    assert (
        "DCSS MONDCSS of range 0000000009000000 to 00000000097fffff and type SC"
        " loaded in shared access mode" in loaded.text
    )
    warm_guest.agent.rmmod("monreader").check()


def test_m11_connected_user_is_shown(monreader: Guest) -> None:
    assert "LINUX001" not in monreader.cp("QUERY MONITOR").response
    with DataSets(monreader.agent):
        during = monreader.cp("QUERY MONITOR").response
        assert "MONDCSS" in during and "LINUX001" in during
    assert "LINUX001" not in monreader.cp("QUERY MONITOR").response


@pytest.mark.zvmlab(storage="0.140M 200M.200M")
def test_m07_reads_a_set_with_the_segment_in_the_hole(guest: Guest, zvmlab_dir: Path) -> None:
    guest.agent.insmod("monreader").check()
    with Capture(guest.control, zvmlab_dir / "sets") as capture:
        with DataSets(guest.agent) as reader:
            deliver(guest.control, "sample", Element.of([record(1, 200)]))
            compare(reader.read(), capture.next())


@pytest.mark.zvmlab(cpus=4)
def test_set_is_read_with_four_cpus(guest: Guest, zvmlab_dir: Path) -> None:
    guest.agent.insmod("monreader").check()
    with Capture(guest.control, zvmlab_dir / "sets") as capture:
        with DataSets(guest.agent) as reader:
            for number in range(50):
                deliver(guest.control, "sample", Element.of([record(number, 84)]))
                compare(reader.read(), capture.next())


def test_m35_load_and_unload_a_hundred_times(warm_guest: Guest) -> None:
    agent = warm_guest.agent
    for _ in range(100):
        agent.insmod("monreader").check()
        agent.rmmod("monreader").check()
    assert not any(
        line.startswith("monreader ")
        for line in agent.read_file("/proc/modules").decode().splitlines()
    )
    segment = warm_guest.control.execute("query-segments")["segments"][0]
    assert segment["name"] == "MONDCSS" and not segment["loaded"] and segment["users"] == 0


def test_m35_unloading_is_refused_while_open(monreader: Guest) -> None:
    with DataSets(monreader.agent):
        assert monreader.agent.rmmod("monreader").errno == errno.EWOULDBLOCK
