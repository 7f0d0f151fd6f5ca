# SPDX-License-Identifier: MIT
"""The stream of /dev/monreader: control elements, records, and the 0-byte read that ends a set."""

from __future__ import annotations

import base64
import errno
import os
import random
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from zvmlab.guest.config import UPSTREAM_DRIVER
from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import (
    END_OF_FRAME,
    EVENT,
    FRAME_SIZE,
    HEADER_SIZE,
    MCE_SIZE,
    SAMPLE,
    Element,
    Mce,
    Record,
    domain_bits,
    domain_names,
    parse_set,
)
from zvmlab.monitor.malformed import Place
from zvmlab.monitor.monitor import Capture, CapturedSet, DataSets, compare, deliver

if TYPE_CHECKING:
    from conftest import Build

MOST_ELEMENTS = 338
SEED = 20070


def records(count: int, length: int) -> list[Record]:
    """Records of *length* bytes, each with other contents."""
    size = length - HEADER_SIZE
    return [Record(4, 3, n, bytes((n * 31 + i) & 0xFF for i in range(size))) for n in range(count)]


def delivered(guest: Guest, folder: Path, *elements: Element) -> CapturedSet:
    """Announce one set; what CP stored."""
    with Capture(guest.control, folder / "sets") as capture:
        assert deliver(guest.control, "sample", *elements).fate == "delivered"
        return capture.next()


@pytest.mark.requirement("M18")
@pytest.mark.representative
def test_every_set_ends_with_one_zero_byte_read(monreader: Guest, zvmlab_dir: Path) -> None:
    """Three queued sets: each is its elements and records, then exactly one 0-byte read."""
    with DataSets(monreader.agent) as reader, Capture(
        monreader.control, zvmlab_dir / "sets"
    ) as capture:
        for n in range(3):
            deliver(monreader.control, "sample", Element.of(records(n + 1, 84)))
        reads = monreader.agent.read_until(reader.fd, 4096, zeros=3).reads
        ends = [i for i, read in enumerate(reads) if read.ret == 0]
        assert len(ends) == 3 and ends[-1] == len(reads) - 1
        first = 0
        for end in ends:
            assert end > first and not any(read.errno for read in reads[first:end])
            wanted = capture.next().stream
            assert b"".join(read.data for read in reads[first:end]) == wanted
            first = end + 1


@pytest.mark.requirement("M19")
@pytest.mark.parametrize("count", (1, 2, 3, 64, MOST_ELEMENTS))
@pytest.mark.representative
def test_control_elements_in_one_set(monreader: Guest, zvmlab_dir: Path, count: int) -> None:
    """One set has as many control elements as CP put into its control area, in their order."""
    elements = [Element.of([record], phase=n % 4000) for n, record in enumerate(records(count, 84))]
    with DataSets(monreader.agent) as reader:
        wanted = delivered(monreader, zvmlab_dir, *elements)
        found = reader.read()
        compare(found, wanted)
        assert [part.data for part in found.parts()] == [element.data for element in elements]


@pytest.mark.requirement("M19")
def test_control_area_of_several_pages(monreader: Guest) -> None:
    """A control area may be longer than a page: a thousand elements over three of them."""
    place = Place.of(monreader.control)
    place.put(place.records, bytes(range(250)) * 16)
    elements = [place.element(1 + n % 97 + 1, n) for n in range(1000)]
    data = bytes(range(250)) * 16
    with DataSets(monreader.agent) as reader:
        place.announce_elements(*elements)
        found = reader.read()
        first = place.records
        assert found.stream == b"".join(
            e.encode() + data[e.start - first : e.end + 1 - first] for e in elements
        )


@pytest.mark.requirement("M20")
@pytest.mark.parametrize(("kind", "letter"), (("sample", SAMPLE), ("event", EVENT)))
@pytest.mark.representative
def test_control_element_says_type_domains_and_place(
    monreader: Guest, zvmlab_dir: Path, kind: str, letter: int
) -> None:
    """Type, domains and addresses of an element are those of the records in the segment."""
    names = ("system", "user", "processor", "appldata", "ssi")
    data = b"".join(record.encode() for record in records(3, 100))
    elements = [Element(data, domain_bits(name), letter, n, 8 * n) for n, name in enumerate(names)]
    control = monreader.control
    with DataSets(monreader.agent) as reader:
        deliver(control, kind, *elements)
        area = next(a for a in control.execute("query-monitor")["areas"] if a["kind"] == kind)
        parts = parse_set(reader.read().stream)
    for n, (part, name) in enumerate(zip(parts, names, strict=True)):
        assert (part.mce.type, part.mce.byte3) == (letter, n)
        assert domain_names(part.mce.domains) == [name]
        assert part.mce.end - part.mce.start + 1 == len(data) == part.mce.size
        assert area["start"] <= part.mce.start < part.mce.end < area["start"] + area["size"]
        where = Place.of(control)
        stored = control.execute(
            "segment-read",
            name="MONDCSS",
            offset=part.mce.start - where.start,
            length=part.mce.size,
        )
        assert base64.b64decode(stored["data"]) == part.data == data


def _walk(guest: Guest, folder: Path, phases: Sequence[int]) -> None:
    """One element for each phase, over two frames: the records are found again."""
    wanted = records(9, 700)
    elements = [Element.of(wanted, phase=phase) for phase in phases]
    with DataSets(guest.agent) as reader:
        compare_with = delivered(guest, folder, *elements)
        found = reader.read()
        compare(found, compare_with)
    for part, phase in zip(found.parts(), phases, strict=True):
        assert part.mce.start % FRAME_SIZE == phase
        walked = list(part.records())
        assert [r for r in walked if (r.domain, r.number) != END_OF_FRAME] == wanted
        assert len(walked) > len(wanted), "no end-of-frame record was passed"


@pytest.mark.requirement("M21")
def test_end_of_frame_at_many_phases(monreader: Guest, zvmlab_dir: Path) -> None:
    """Records behind an end-of-frame record are found from the start address modulo 4096."""
    _walk(monreader, zvmlab_dir, [n * 61 for n in range(64)])


@pytest.mark.requirement("M21")
@pytest.mark.full
def test_end_of_frame_at_every_phase(monreader: Guest, zvmlab_dir: Path) -> None:
    """The same for every offset in a frame at which an end-of-frame record is possible."""
    # Beyond that, not even a header fits between the first record and the frame's end.
    every = range(FRAME_SIZE - HEADER_SIZE + 1)
    for first in range(0, len(every), 64):
        _walk(monreader, zvmlab_dir, every[first : first + 64])


def _any_sizes(guest: Guest, folder: Path, examples: int) -> None:
    elements = [Element.of(records(4, 60 + n), phase=n * 997) for n in range(4)]

    # Bounded and always the same: whatever fails here fails again.
    @seed(SEED)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(st.integers(1, 400), min_size=1, max_size=60))
    def read_with(sizes: list[int]) -> None:
        wanted = delivered(guest, folder, *elements)
        batch = guest.agent.batch()
        for size in sizes:
            batch.read(reader.fd, size)
        batch.read_until(reader.fd, 4096)
        results = batch.run()
        data = [result.data for result in list(results)[:-1]]
        if b"" in data:  # it ended among these reads; the last ones found nothing
            data = data[: data.index(b"")]
            assert [r.errno for r in list(results)[len(data) + 1 :]][-1] == errno.EAGAIN
        else:
            data += [read.data for read in results[len(sizes)].reads]
        assert all(len(d) <= size for d, size in zip(data, sizes, strict=False))
        assert b"".join(data) == wanted.stream

    with DataSets(guest.agent, os.O_NONBLOCK) as reader:
        print(f"seed {SEED}")
        read_with()


@pytest.mark.requirement("M23")
def test_any_sequence_of_buffer_sizes(monreader: Guest, zvmlab_dir: Path) -> None:
    """However the sizes of the reads are mixed, they give the same bytes."""
    _any_sizes(monreader, zvmlab_dir, 40)


@pytest.mark.requirement("M23")
@pytest.mark.full
def test_thousand_sequences_of_buffer_sizes(monreader: Guest, zvmlab_dir: Path) -> None:
    """The same with more of them."""
    _any_sizes(monreader, zvmlab_dir, 1000)


@pytest.mark.requirement("M23")
def test_readv_gives_the_same_stream(monreader: Guest, zvmlab_dir: Path) -> None:
    """A read into several buffers is a read of their sum."""
    sizes = random.Random(SEED).choices(range(1, 30), k=12)
    element = Element.of(records(20, 100))
    with DataSets(monreader.agent) as reader:
        wanted = delivered(monreader, zvmlab_dir, element)
        found = b""
        # All but what the last one could hold: how a set ends is another test.
        while len(found) + sum(sizes) < len(wanted.stream):
            got = monreader.agent.readv(reader.fd, sizes)
            assert 0 < got.check() <= sum(sizes)
            found += got.data[: got.ret]
        rest = reader.read()
        assert found + rest.stream == wanted.stream


@pytest.mark.requirement("M18")
@pytest.mark.upstream_defect(
    13,
    "the rest of a readv takes the 0-byte read that ends the set",
    seen=r"assert \(-1, 11\) == \(0, 0\)",  # EAGAIN
)
def test_readv_leaves_the_end_of_the_set(monreader: Guest, zvmlab_dir: Path) -> None:
    """A readv with room for more than the set still leaves its end to the next read."""
    with DataSets(monreader.agent, os.O_NONBLOCK) as reader:
        wanted = delivered(monreader, zvmlab_dir, Element.of(records(2, 100)))
        first = monreader.agent.readv(reader.fd, [MCE_SIZE, 200, 4096])
        assert first.data[: first.ret] == wanted.stream
        end = monreader.agent.read(reader.fd, 4096)
        assert (end.ret, end.errno) == (0, 0)


@pytest.mark.requirement("M17")
def test_readv_does_not_block_either_eagain(monreader: Guest, zvmlab_dir: Path) -> None:
    """With O_NONBLOCK a readv of an empty queue is EAGAIN at once, at the begin and after a set."""
    parts = [MCE_SIZE, 4096]
    with DataSets(monreader.agent, os.O_NONBLOCK) as reader:
        for number in range(2):
            empty = monreader.agent.readv(reader.fd, parts)
            assert (empty.ret, empty.errno) == (-1, errno.EAGAIN)
            wanted = delivered(monreader, zvmlab_dir, Element.of(records(1, 84 + number)))
            compare(reader.read(), wanted)


@pytest.mark.requirement("M17")
def test_read_that_shall_not_wait_eagain(
    monreader: Guest, zvmlab_driver: str, zvmlab_dir: Path, program: Build
) -> None:
    """preadv2 with RWF_NOWAIT of a device that blocks otherwise: EAGAIN, or the bytes.

    The kernel refuses the flag for a driver that has not asked for it, as its own.
    """
    agent = monreader.agent
    agent.write_file("/tmp/nowait", program("nowait").read_bytes(), 0o755)

    def read_now(fd: int) -> list[str]:
        done = agent.run(["/tmp/nowait", str(fd)], inherit=True, timeout=60).check()
        return done.stdout.decode().split()

    with DataSets(agent) as reader:
        if zvmlab_driver == UPSTREAM_DRIVER:
            assert read_now(reader.fd) == ["-1", str(errno.EOPNOTSUPP)]
            return
        assert read_now(reader.fd) == ["-1", str(errno.EAGAIN)]
        wanted = delivered(monreader, zvmlab_dir, Element.of(records(1, 84))).stream
        assert read_now(reader.fd) == [str(len(wanted)), "0", wanted.hex()]
        assert read_now(reader.fd) == ["0", "0"]
        assert read_now(reader.fd) == ["-1", str(errno.EAGAIN)]


@pytest.mark.requirement("M15")
def test_pread_is_espipe(monreader: Guest) -> None:
    """The device has no position to read at."""
    with DataSets(monreader.agent) as reader:
        assert monreader.agent.pread(reader.fd, 12, 0).errno == errno.ESPIPE


# Three segments in one guest, each the monitor's in turn; 64 MiB are the last.
SEGMENTS = ("MON1 9000-90FF SC", "MON8 9800-9FFF SC", "MON64 B000-EFFF SC")


@pytest.mark.requirement("M22")
@pytest.mark.first_kernel
@pytest.mark.zvmlab(segments=SEGMENTS)
def test_set_as_large_as_the_segment(driver_guest: Guest, zvmlab_dir: Path) -> None:
    """DCSS of 1, 8 and 64 MiB, each filled up to its last byte by the records of one set."""
    agent, control = driver_guest.agent, driver_guest.control
    for name, mib in (("MON1", 1), ("MON8", 8), ("MON64", 64)):
        agent.modprobe("monreader", f"mondcss={name}").check()
        place = Place.of(control, name)
        assert place.end + 1 - place.start == mib << 20
        # The control area takes the first frame, the records all others.
        element = Mce(SAMPLE, domain_bits("user"), 0, place.start + FRAME_SIZE, place.end)
        data = random.Random(mib).randbytes(element.size)
        contents = zvmlab_dir / name
        contents.write_bytes(element.encode().ljust(FRAME_SIZE, b"\0") + data)
        with DataSets(agent) as reader:
            control.execute("segment-load", name=name, file=contents)
            place.announce(place.start, place.start + MCE_SIZE - 1)
            drained = agent.drain(reader.fd, 1 << 20, sets=1, timeout=120, crc=True)
        assert (drained.sets, drained.errno) == (1, 0)
        assert drained.bytes == MCE_SIZE + element.size
        assert drained.crc == zlib.crc32(data, zlib.crc32(element.encode()))
        agent.rmmod("monreader").check()


@pytest.mark.requirement("M22")
@pytest.mark.parametrize("kind", ("sample", "event"))
def test_set_that_fills_the_area_of_its_kind(monreader: Guest, zvmlab_dir: Path, kind: str) -> None:
    """CP lays a set over every frame of an area; the last byte arrives like the first."""
    control = monreader.control
    with DataSets(monreader.agent) as reader:
        area = next(a for a in control.execute("query-monitor")["areas"] if a["kind"] == kind)
        fill = {"length": area["size"], "seed": SEED}
        element = {"domains": domain_bits("user"), "fill": fill}
        with Capture(control, zvmlab_dir / "sets") as capture:
            answer = control.execute("monitor-deliver", kind=kind, elements=[element])
            assert answer["fate"] == "delivered"
            wanted = capture.next()
        assert len(wanted.stream) == MCE_SIZE + area["size"]
        compare(reader.read(1 << 20), wanted)


@pytest.mark.requirement("M15")
def test_second_open_reads_from_the_begin(monreader: Guest, zvmlab_dir: Path) -> None:
    """Opening again begins with nothing of what the reader before left in the middle."""
    agent = monreader.agent
    with DataSets(agent) as reader:
        delivered(monreader, zvmlab_dir, Element.of(records(3, 100)))
        assert len(agent.read(reader.fd, 30).data) in (12, 30)
    with DataSets(agent, os.O_NONBLOCK) as reader:
        assert agent.read(reader.fd, 30).errno == errno.EAGAIN
        wanted = delivered(monreader, zvmlab_dir, Element.of(records(1, 84)))
        compare(reader.read(), wanted)
