# SPDX-License-Identifier: MIT
"""The CP command MONITOR, given inside the guest, decides what the device delivers."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import EVENT, SAMPLE, Record, domain_bits
from zvmlab.monitor.monitor import CAPTURE_SECONDS, Capture, CapturedSet, DataSets, compare

if TYPE_CHECKING:
    from conftest import Commands

# Operand of ENABLE and DISABLE, name of the domain.  Application data need an application:
# test_monwriter.py.
SAMPLE_DOMAINS = (
    ("PROCESSOR", "processor"),
    ("STORAGE", "storage"),
    ("USER ALL", "user"),
    ("I/O ALL", "io"),
    ("NETWORK", "network"),
)
EVENT_DOMAINS = (
    ("PROCESSOR", 5),
    ("STORAGE", 3),
    ("SCHEDULER ALL", 2),
    ("SEEKS ALL", 7),
    ("USER ALL", 4),
    ("I/O ALL", 6),
    ("NETWORK", 8),
    ("ISFC", 9),
    ("APPLDATA ALL", 10),
    ("SSI", 11),
)
# Collected whatever is enabled.
ALWAYS = domain_bits("monitor", "system")
SAMPLE_CHANGE = (1, 10)
SAMPLE_PROFILE = (1, 9)


class Collection:
    """The device, open; MONITOR commands from inside; intervals that end when told to."""

    def __init__(self, guest: Guest, vmcp: Commands, capture: Capture, reader: DataSets) -> None:
        self._control = guest.control
        self._vmcp = vmcp
        self._capture = capture
        self._reader = reader
        self._read = 0

    def monitor(self, operands: str) -> str:
        """A MONITOR command that must succeed; its response."""
        answer = self._vmcp(f"MONITOR {operands}")
        assert answer.rc == 0, f"MONITOR {operands}: {answer.text}"
        return answer.text

    def tick(self) -> None:
        """End the interval now."""
        self._control.execute("monitor-tick")

    def next(self, timeout: float = CAPTURE_SECONDS) -> CapturedSet:
        """The next set, read in the guest and equal to what CP stored."""
        wanted = self._capture.next(timeout)
        compare(self._reader.read(), wanted)
        self._read += 1
        return wanted

    def nothing(self) -> None:
        """CP has announced no set beyond those that were read."""
        (user,) = self._control.execute("query-monitor")["users"]
        assert (user["delivered"], user["lost"]) == (self._read, 0)

    def event(self, domain: int) -> bool:
        """Something happens in a domain; was it recorded?"""
        record = Record(domain, 1, 1, bytes(40)).encode()
        answer = self._control.execute("monitor-event", domain=domain, record=record)
        return bool(answer["recorded"])


@pytest.fixture
def collection(monreader: Guest, vmcp: Commands, zvmlab_dir: Path) -> Iterator[Collection]:
    """Nothing enabled or started yet; as before afterwards."""
    monreader.control.execute("monitor-manual", manual=True)
    with Capture(monreader.control, zvmlab_dir / "sets") as capture:
        with DataSets(monreader.agent) as reader:
            yield Collection(monreader, vmcp, capture, reader)
    for kind in ("SAMPLE", "EVENT"):
        monreader.cp(f"MONITOR {kind} STOP")  # refused if the test has done it
        assert monreader.cp(f"MONITOR {kind} DISABLE ALL").rc == 0
    assert monreader.cp("MONITOR SAMPLE INTERVAL 1 MINUTES").rc == 0
    monreader.control.execute("monitor-manual", manual=False)


def records(found: CapturedSet) -> list[Record]:
    """All records of a set."""
    return [record for part in found.parts() for record in part.records()]


def only(found: CapturedSet, identity: tuple[int, int]) -> Record:
    """The set's one record of that domain and number."""
    (record,) = [r for r in records(found) if (r.domain, r.number) == identity]
    return record


@pytest.mark.requirement("M13")
@pytest.mark.representative
def test_nothing_comes_before_start_and_nothing_after_stop(collection: Collection) -> None:
    """Sample data begin with MONITOR SAMPLE START and end with STOP; the device cannot do that."""
    collection.tick()
    collection.nothing()
    assert collection.monitor("SAMPLE START") == "Monitor sample started\n"
    kinds = [collection.next().kind for _ in range(2)]
    assert kinds == ["sample-config", "sample"]
    for _ in range(3):
        collection.tick()
        assert collection.next().kind == "sample"
    assert collection.monitor("SAMPLE STOP") == "Monitor sample stopped\n"
    collection.tick()
    collection.nothing()
    collection.monitor("SAMPLE START")
    assert [collection.next().kind for _ in range(2)] == ["sample-config", "sample"]


@pytest.mark.requirement("M13")
def test_enable_and_disable_decide_which_domains_are_sampled(collection: Collection) -> None:
    """Each domain's records are in the samples from ENABLE on until DISABLE, and only then."""
    collection.monitor("SAMPLE START")
    collection.next()
    assert collection.next().parts()[0].mce.domains == ALWAYS
    for operands, name in SAMPLE_DOMAINS:
        for command, bits in (("ENABLE", domain_bits(name)), ("DISABLE", 0)):
            collection.monitor(f"SAMPLE {command} {operands}")
            change = collection.next()
            assert change.kind == "sample-config"
            quoted = only(change, SAMPLE_CHANGE).payload[12:].decode("cp037")
            assert quoted == f"MONITOR SAMPLE {command} {operands}"
            collection.tick()
            sample = collection.next()
            (part,) = sample.parts()
            assert (part.mce.type, part.mce.domains) == (SAMPLE, ALWAYS | bits)
            assert domain_bits(*{record.domain for record in records(sample)}) == ALWAYS | bits


@pytest.mark.requirement("M13")
def test_enable_and_disable_decide_which_events_are_recorded(collection: Collection) -> None:
    """Events of a domain arrive from ENABLE on until DISABLE; before START none do."""
    collection.monitor("EVENT ENABLE USER ALL")
    assert not collection.event(4)
    assert collection.monitor("EVENT START") == "Monitor event started\n"
    assert collection.next().kind == "event-config"
    assert collection.event(4)
    collection.monitor("EVENT DISABLE USER ALL")
    for operands, domain in EVENT_DOMAINS:
        assert not collection.event(domain)
        collection.monitor(f"EVENT ENABLE {operands}")
        assert collection.event(domain)
        collection.monitor(f"EVENT DISABLE {operands}")
        assert not collection.event(domain)
    collection.tick()
    block = collection.next()
    (part,) = block.parts()
    assert (block.kind, part.mce.type) == ("event", EVENT)
    domains = [domain for _, domain in EVENT_DOMAINS]
    assert [r.domain for r in records(block) if r.domain != 1] == [4, *domains]
    assert part.mce.domains == domain_bits("monitor", *domains)
    quoted = [r.payload[4:].decode("cp037") for r in records(block) if r.domain == 1]
    assert len(quoted) == 1 + 2 * len(EVENT_DOMAINS)
    assert quoted[:2] == ["MONITOR EVENT DISABLE USER ALL", "MONITOR EVENT ENABLE PROCESSOR"]


@pytest.mark.requirement("M13")
def test_stop_ends_event_data_and_delivers_what_was_recorded(collection: Collection) -> None:
    """MONITOR EVENT STOP delivers the block that was begun; nothing is recorded afterwards."""
    collection.monitor("EVENT ENABLE ALL")
    collection.monitor("EVENT START")
    assert collection.next().kind == "event-config"
    assert collection.event(4)
    collection.nothing()
    assert collection.monitor("EVENT STOP") == "Monitor event stopped\n"
    block = collection.next()
    assert [(r.domain, r.number) for r in records(block)] == [(4, 1)]
    assert not collection.event(4)
    collection.tick()
    collection.nothing()


@pytest.mark.requirement("M13")
def test_samples_and_events_come_each_after_their_configuration(
    collection: Collection,
) -> None:
    """With everything enabled and both started, each kind's configuration comes before its data."""
    for operands in ("SAMPLE ENABLE ALL", "EVENT ENABLE ALL", "SAMPLE START", "EVENT START"):
        collection.monitor(operands)
    kinds = [collection.next().kind for _ in range(3)]
    assert kinds == ["sample-config", "sample", "event-config"]
    assert collection.event(4)
    collection.tick()
    assert [collection.next().kind for _ in range(2)] == ["sample", "event"]


@pytest.mark.requirement("M13")
def test_interval_is_what_the_configuration_says(collection: Collection) -> None:
    """MONITOR SAMPLE INTERVAL takes effect; the configuration records carry its seconds."""
    for operands, seconds in (("30 SECONDS", 30), ("2 MINUTES", 120), ("6 SECONDS", 6)):
        collection.monitor(f"SAMPLE INTERVAL {operands}")
        collection.monitor("SAMPLE START")
        profile = only(collection.next(), SAMPLE_PROFILE)
        assert struct.unpack_from(">I", profile.payload)[0] == seconds
        assert collection.next().kind == "sample"
        collection.monitor("SAMPLE STOP")


@pytest.mark.requirement("M13")
@pytest.mark.full
def test_samples_come_once_in_an_interval(collection: Collection, monreader: Guest) -> None:
    """By the guest's clock, samples come as many seconds apart as INTERVAL says, START first."""
    collection.monitor("SAMPLE INTERVAL 6 SECONDS")
    monreader.control.execute("monitor-manual", manual=False)
    collection.monitor("SAMPLE START")
    assert collection.next().kind == "sample-config"
    times = []
    for _ in range(3):
        times.append(records(collection.next(30))[0].tod)
    # Bit 51 of the TOD clock is a microsecond.  No sample comes before it is due; how much later
    # is a matter of the machine.
    since = [(tod - times[0]) / 4096e6 for tod in times]
    assert all(6 * n - 0.5 <= after < 6 * n + 30 for n, after in enumerate(since))


@pytest.mark.requirement("M13")
@pytest.mark.parametrize(
    "operands, rc",
    [
        ("SAMPLE ENABLE SEEKS ALL", 3),  # events only
        ("SAMPLE INTERVAL 5 SECONDS", 26),
        ("SAMPLE INTERVAL 61 MINUTES", 26),
        ("SAMPLE FROBNICATE", 3),
        ("EVENT INTERVAL 1 MINUTES", 3),  # samples only
        ("EVENT STOP", 13),
        ("SAMPLE STOP", 13),
        ("", 26),
    ],
)
def test_what_monitor_refuses_changes_nothing(
    collection: Collection, monreader: Guest, vmcp: Commands, operands: str, rc: int
) -> None:
    """A MONITOR command that is wrong is refused with CP's message, and nothing is collected."""
    before = monreader.control.execute("query-monitor")
    answer = vmcp(f"MONITOR {operands}")
    assert answer.rc == rc and f"{rc:03d}E" in answer.text
    assert monreader.control.execute("query-monitor") == before
    collection.tick()
    collection.nothing()
