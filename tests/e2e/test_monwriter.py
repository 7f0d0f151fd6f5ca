# SPDX-License-Identifier: MIT
"""monwriter, unmodified: what programs write comes back through CP and monreader."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from applications import (
    CONFIG,
    DEVICE,
    EVENT,
    HEADER_BYTES,
    MOST,
    START,
    STOP,
    USERID,
    Application,
    Collection,
    Header,
    Writer,
    applications,
    declared,
    records,
)
from waiting import fair

from zvmlab.agent.calls import Bad
from zvmlab.agent.wire import BadKind
from zvmlab.cp.faults import Fault, armed
from zvmlab.guest.guest import Guest

if TYPE_CHECKING:
    from conftest import Build


MAX_BUFS = "/sys/module/monwriter/parameters/max_bufs"
SECONDS = 60.0
FAILED = "monwriter: Writing monitor data failed with rc=%i"


def pattern(length: int, first: int = 1) -> bytes:
    """Bytes that differ from their neighbours and from other patterns."""
    return bytes((first + n * 7 + n // 256) % 256 for n in range(length))


def sampled(header: Header, data: bytes) -> Application:
    """The sample records at the end of an interval."""
    return Application(2, USERID, header.product, 0, data)


def event(header: Header, data: bytes) -> Application:
    """The event records."""
    return Application(1, USERID, header.product, 0, data)


def log_of(guest: Guest, since: int) -> list[str]:
    """The driver's lines."""
    return [line.text for line in guest.agent.dmesg(since) if "monwriter" in line.text]


@pytest.fixture(name="limit")
def _limit(writers: Guest) -> Iterator[Callable[[int], None]]:
    """limit(N): max_bufs; the default again afterwards."""
    yield lambda number: writers.agent.write_file(MAX_BUFS, str(number).encode())
    writers.agent.write_file(MAX_BUFS, b"255")


@pytest.mark.requirement("W1")
@pytest.mark.representative
def test_device_is_there_while_the_module_is(writers: Guest) -> None:
    """A misc device; reading it is not possible, and its place in the file has no meaning."""
    agent = writers.agent
    number = agent.read_file("/sys/class/misc/monwriter/dev").decode().strip()
    assert number.startswith("10:")
    with Writer(writers) as writer:
        assert agent.read(writer.fd, 16).errno in (errno.EBADF, errno.EINVAL)
    agent.rmmod("monwriter").check()
    assert agent.open(DEVICE, os.O_WRONLY).errno == errno.ENOENT
    agent.modprobe("monwriter").check()
    with Writer(writers):
        pass


@pytest.mark.requirement("W2", "W3")
@pytest.mark.representative
@pytest.mark.parametrize("length", (1, 2, 13, 255, 256, 4009, MOST))
def test_data_come_back_byte_for_byte(writers: Guest, collection: Collection, length: int) -> None:
    """Each sample has the data as last written, until STOP."""
    header = Header()
    with Writer(writers) as writer:
        writer.put(header, pattern(length))
        assert collection.sample() == [sampled(header, pattern(length))]
        assert collection.sample() == [sampled(header, pattern(length))]
        # The same header again: another content, and nothing new for CP.
        writer.put(header, pattern(length, 99))
        (buffer,) = declared(writers)
        assert (buffer["product-id"], buffer["length"]) == (header.product, length)
        assert buffer["kind"] == "interval" and buffer["records"] == 2
        assert collection.sample() == [sampled(header, pattern(length, 99))]
        writer.put(replace(header, function=STOP))
        assert declared(writers) == []
        assert collection.sample() == []
        last = collection.next()
        assert (last.kind, applications(records(last))) == (
            "event",
            [event(header, pattern(length, 99))],
        )


@pytest.mark.requirement("W4")
@pytest.mark.representative
def test_many_buffers_in_one_write_and_one_in_many(writers: Guest, collection: Collection) -> None:
    """The device is a stream: where a write ends has no meaning."""
    headers = [Header(record=n, datalen=n) for n in range(1, 41)]
    stream = b"".join(header.encode() + pattern(header.datalen) for header in headers)
    expected = [sampled(header, pattern(header.datalen)) for header in headers]
    with Writer(writers) as writer:
        assert writer.write(stream).check() == len(stream)
        assert collection.sample() == expected
    assert len(collection.events()) == 40
    with Writer(writers) as writer:
        for at in range(0, 60):
            assert writer.write(stream[at : at + 1]).check() == 1
        assert writer.write(stream[60:]).check() == len(stream) - 60
        assert collection.sample() == expected
    assert len(collection.events()) == 40


@pytest.mark.requirement("W4")
def test_buffer_whose_data_are_not_complete_is_not_declared(
    writers: Guest, collection: Collection
) -> None:
    """CP hears of a buffer with the last byte of its first data."""
    header = Header(datalen=100)
    with Writer(writers) as writer:
        whole = header.encode() + pattern(100)
        writer.write(whole[:-1]).check()
        assert declared(writers) == [] and collection.sample() == []
        writer.write(whole[-1:]).check()
        assert collection.sample() == [sampled(header, pattern(100))]
        # Later data change the buffer in place: CP sees as much as has come.
        writer.write(header.encode() + pattern(100, 50)[:30]).check()
        assert collection.sample() == [sampled(header, pattern(100, 50)[:30] + pattern(100)[30:])]


@pytest.mark.requirement("W5")
@pytest.mark.representative
def test_stop_of_what_was_never_started_succeeds(writers: Guest) -> None:
    """CP does not hear of it; STOP has no data, whatever its header says."""
    with Writer(writers) as writer:
        writer.put(Header(STOP))
        header = Header(STOP, datalen=100).encode()
        assert writer.write(header).check() == HEADER_BYTES
        points = writers.control.execute("query-fault-points")["points"]
        before = next(p["reached"] for p in points if p["point"] == "diagdc.stop")
        writer.put(Header(START), b"x")
        assert len(declared(writers)) == 1
        writer.put(replace(Header(STOP), mod=5))
        assert len(declared(writers)) == 1
        writer.put(Header(STOP))
        assert declared(writers) == []
        points = writers.control.execute("query-fault-points")["points"]
        assert next(p["reached"] for p in points if p["point"] == "diagdc.stop") == before + 1


@pytest.mark.requirement("W6")
@pytest.mark.representative
def test_events_are_recorded_at_once(writers: Guest, collection: Collection) -> None:
    """Each event is a record of its own, in order, and leaves no buffer."""
    headers = [Header(EVENT, record=n % 3) for n in range(20)]
    with Writer(writers) as writer:
        for n, header in enumerate(headers):
            writer.put(header, pattern(50 + n, n))
        assert declared(writers) == []
        assert collection.events() == [
            event(header, pattern(50 + n, n)) for n, header in enumerate(headers)
        ]
    assert declared(writers) == []


@pytest.mark.requirement("W7")
@pytest.mark.representative
def test_configuration_is_in_configuration_records(writers: Guest, collection: Collection) -> None:
    """Configuration data come at once, and no sample has them; STOP ends them, too."""
    header = Header(CONFIG)
    with Writer(writers) as writer:
        writer.put(header, pattern(77))
        found = collection.next()
        assert found.kind == "sample-config"
        assert applications(records(found)) == [sampled(header, pattern(77))]
        assert collection.sample() == []
        (buffer,) = declared(writers)
        assert buffer["kind"] == "config"
        collection.cp("MONITOR SAMPLE STOP")
        collection.cp("MONITOR SAMPLE START")
        found = collection.next()
        assert found.kind == "sample-config"
        assert applications(records(found)) == [sampled(header, pattern(77))]
        assert collection.next().kind == "sample"
        writer.put(replace(header, function=STOP))
        assert declared(writers) == []


@pytest.mark.requirement("W8")
@pytest.mark.representative
@pytest.mark.parametrize(
    "header",
    (
        Header(4, datalen=1),
        Header(255, datalen=1),
        Header(datalen=MOST + 1),
        Header(datalen=65535),
        Header(STOP, datalen=MOST + 1),
        Header(datalen=1, hdrlen=0),
        Header(datalen=1, hdrlen=HEADER_BYTES - 1),
        Header(datalen=1, hdrlen=HEADER_BYTES + 1),
        Header(datalen=1, hdrlen=255),
    ),
    ids=lambda header: f"{header.function}-{header.datalen}-{header.hdrlen}",
)
def test_wrong_headers_are_einval(writers: Guest, collection: Collection, header: Header) -> None:
    """Function, length of the data and length of the header are checked; then all begins anew."""
    with Writer(writers) as writer:
        assert writer.write(header.encode() + b"x").errno == errno.EINVAL
        assert declared(writers) == []
        writer.put(Header(), b"after")
        assert collection.sample() == [sampled(Header(), b"after")]
        # What came before it in the same write stays.
        good = Header(record=2, datalen=4)
        bad = writer.write(good.encode() + b"kept" + header.encode())
        assert bad.errno == errno.EINVAL
        assert collection.sample() == [sampled(Header(), b"after"), sampled(good, b"kept")]


@pytest.mark.requirement("W9")
@pytest.mark.representative
def test_more_buffers_than_max_bufs_are_enospc(
    writers: Guest, collection: Collection, limit: Callable[[int], None]
) -> None:
    """The limit is a parameter, readable and writable; it counts the buffers of all files."""
    assert writers.agent.read_file(MAX_BUFS) == b"255\n"
    limit(3)
    with Writer(writers) as one, Writer(writers) as other:
        for n in range(2):
            one.put(Header(record=n), pattern(8, n))
        other.put(Header(CONFIG, record=2), pattern(8, 2))
        collection.next()
        more = Header(record=3, datalen=8)
        assert other.write(more.encode() + pattern(8)).errno == errno.ENOSPC
        # Not even an event, though it would not stay.
        assert one.write(replace(more, function=EVENT).encode() + pattern(8)).errno == errno.ENOSPC
        # New data of old buffers are no new buffer.
        one.put(Header(record=0), pattern(8, 9))
        assert [found.data for found in collection.sample()] == [pattern(8, 9), pattern(8, 1)]
        one.put(Header(STOP, record=1))
        other.put(Header(record=3), pattern(8, 3))
        assert [found.data for found in collection.sample()] == [pattern(8, 9), pattern(8, 3)]


@pytest.mark.requirement("W9")
def test_as_many_buffers_as_there_can_be(writers: Guest, collection: Collection) -> None:
    """255 by default, each with its own data in every sample."""
    with Writer(writers) as writer:
        for n in range(255):
            writer.put(Header(record=n), pattern(200, n))
        more = Header(record=255, datalen=8)
        assert writer.write(more.encode() + pattern(8)).errno == errno.ENOSPC
        found = collection.sample()
        assert found == [sampled(Header(record=n), pattern(200, n)) for n in range(255)]
        assert len(declared(writers)) == 255
    assert declared(writers) == []


@pytest.mark.requirement("W10")
@pytest.mark.representative
def test_close_ends_all_buffers_of_the_file(writers: Guest, collection: Collection) -> None:
    """Buffers of other files stay, even those with the same product ID."""
    with Writer(writers) as stays:
        stays.put(Header(), b"stays")
        with Writer(writers) as goes:
            goes.put(Header(), b"goes!")
            goes.put(Header(CONFIG, record=2), b"too")
            collection.next()
            assert len(declared(writers)) == 3
            assert [found.data for found in collection.sample()] == [b"stays", b"goes!"]
        assert [buffer["length"] for buffer in declared(writers)] == [5]
        assert [found.data for found in collection.sample()] == [b"stays"]
        assert [found.data for found in applications(records(collection.next()))] == [
            b"goes!",
            b"too",
        ]
    assert declared(writers) == []


@pytest.mark.requirement("W10")
def test_buffers_of_a_killed_program_end(writers: Guest, program: Build) -> None:
    """A kill is like a close: CP must not copy from storage that somebody else uses by then."""
    agent = writers.agent
    agent.write_file("/tmp/hold", program("hold").read_bytes(), 0o755)
    agent.write_file("/tmp/data", Header(datalen=5).encode() + b"alive", 0o600)
    process = agent.worker("writer").spawn(["/tmp/hold", DEVICE, "/tmp/data"])
    deadline = fair(SECONDS)
    while not declared(writers):
        assert not deadline.over, "the program has not declared its buffer"
        time.sleep(0.05)
    process.signal(signal.SIGKILL)
    process.wait(SECONDS)
    assert declared(writers) == []


@pytest.mark.requirement("W11")
@pytest.mark.representative
def test_module_stays_while_buffers_are_declared(writers: Guest, collection: Collection) -> None:
    """An open file keeps the module; afterwards nothing is left of it in CP."""
    with Writer(writers) as writer:
        writer.put(Header(), b"here")
        assert writers.agent.rmmod("monwriter").errno == errno.EWOULDBLOCK
        assert collection.sample() == [sampled(Header(), b"here")]
    writers.agent.rmmod("monwriter").check()
    assert declared(writers) == [] and collection.sample() == []
    collection.next()
    writers.agent.modprobe("monwriter", {"max_bufs": 1}).check()
    assert writers.agent.read_file(MAX_BUFS) == b"1\n"
    with Writer(writers) as writer:
        writer.put(Header(), b"here")
        more = Header(record=2, datalen=1)
        assert writer.write(more.encode() + b"x").errno == errno.ENOSPC


@pytest.mark.requirement("W12")
@pytest.mark.representative
def test_data_that_cannot_be_read_are_efault(writers: Guest, collection: Collection) -> None:
    """In the header and in the data; then a header is expected."""
    with Writer(writers) as writer:
        worker = writers.agent
        assert worker.write(writer.fd, Bad(BadKind.UNMAPPED)).errno == errno.EFAULT
        header = Header(datalen=8)
        writer.write(header.encode()).check()
        assert worker.write(writer.fd, Bad(BadKind.UNMAPPED)).errno == errno.EFAULT
        assert declared(writers) == []
        writer.put(Header(), b"12345678")
        assert collection.sample() == [sampled(Header(), b"12345678")]


@pytest.mark.requirement("W13")
@pytest.mark.representative
@pytest.mark.parametrize(
    ("function", "point"),
    ((START, "start"), (EVENT, "event"), (CONFIG, "config")),
)
@pytest.mark.parametrize(("rc", "error"), ((1, "EINVAL"), (5, "EPERM"), (8, "EINVAL")))
def test_errors_of_cp_are_errors_of_write(
    writers: Guest, function: int, point: str, rc: int, error: str
) -> None:
    """CP's return code is in the log; 5 is EPERM, each other one EINVAL."""
    since = writers.agent.log_position()
    with Writer(writers) as writer:
        with armed(writers.control, Fault(f"diagdc.{point}", "rc", rc, name="LNXAPPL", times=1)):
            written = writer.write(Header(function, datalen=1).encode() + b"x")
            assert written.errno == getattr(errno, error)
        assert log_of(writers, since)[0] == FAILED % rc


@pytest.mark.requirement("W13")
@pytest.mark.zvmlab(modules=("monwriter",))
def test_stop_that_cp_refuses_or_forgets(guest: Guest) -> None:
    """The driver gives up the buffer all the same: write or close, EINVAL and EPERM."""
    guest.agent.modprobe("monwriter").check()
    since = guest.agent.log_position()
    with Writer(guest) as writer:
        for number, (rc, error) in enumerate(((1, errno.EINVAL), (5, errno.EPERM))):
            writer.put(Header(record=number), b"x")
            with armed(guest.control, Fault("diagdc.stop", "rc", rc, times=1)):
                assert writer.write(Header(STOP, record=number).encode()).errno == error
            # What the driver does not know it does not withdraw.
            writer.put(Header(STOP, record=number))
        writer.put(Header(record=2), b"x")
        with armed(guest.control, Fault("diagdc.stop", "drop", times=1)):
            writer.put(Header(STOP, record=2))
        writer.put(Header(record=3), b"x")
        with armed(guest.control, Fault("diagdc.stop", "rc", 8, times=1)):
            writer.close()
    assert log_of(guest, since) == [FAILED % rc for rc in (1, 5, 8)]
    assert len(declared(guest)) == 4


@pytest.mark.requirement("W13")
@pytest.mark.zvmlab(
    cp={"directory": "IUCV ALLOW;IUCV ANY;IUCV *MSG"}, modules=("monwriter",), segments=()
)
def test_without_option_applmon_nothing_can_be_written(guest: Guest) -> None:
    """The directory entry lacks OPTION APPLMON: EPERM, for whatever is asked."""
    guest.agent.modprobe("monwriter").check()
    since = guest.agent.log_position()
    for function in (START, EVENT, CONFIG):
        with Writer(guest) as writer:
            header = Header(function, datalen=1)
            assert writer.write(header.encode() + b"x").errno == errno.EPERM
    assert FAILED % 5 in log_of(guest, since)
    assert declared(guest) == []


@pytest.mark.requirement("W14")
@pytest.mark.representative
def test_monitor_commands_select_the_user(writers: Guest, collection: Collection) -> None:
    """MONITOR … APPLDATA USERID: of other users, and of nobody, there is no record."""
    header = Header()
    with Writer(writers) as writer:
        writer.put(header, b"data")
        for command, seen in (
            ("DISABLE APPLDATA USERID LINUX001", False),
            ("ENABLE APPLDATA USERID LINUX001", True),
            ("DISABLE APPLDATA ALL", False),
            ("ENABLE APPLDATA USERID OTHER", False),
            ("ENABLE APPLDATA USERID LINUX001", True),
            ("DISABLE APPLDATA USERID OTHER", True),
        ):
            collection.cp(f"MONITOR SAMPLE {command}")
            assert collection.next().kind == "sample-config"
            assert collection.sample() == ([sampled(header, b"data")] if seen else []), command
        collection.cp("MONITOR EVENT DISABLE APPLDATA ALL")
        writer.put(Header(EVENT), b"lost")
        collection.cp("MONITOR EVENT ENABLE APPLDATA USERID LINUX001")
        writer.put(Header(EVENT), b"kept")
        assert collection.events() == [event(Header(EVENT), b"kept")]


@contextlib.contextmanager
def buffers_at_a_boot(guest: Guest) -> Iterator[None]:
    """CP copies from no storage of the system before."""
    guest.agent.modprobe("monwriter").check()
    writer = Writer(guest)
    writer.put(Header(), b"before")
    assert len(declared(guest)) == 1
    yield
    assert declared(guest) == []
    guest.agent.modprobe("monwriter").check()
    with Writer(guest) as writer:
        writer.put(Header(), b"after")
        assert [buffer["length"] for buffer in declared(guest)] == [5]


@pytest.mark.requirement("W15")
@pytest.mark.zvmlab(modules=("monwriter",))
def test_buffers_end_with_a_reset(guest: Guest) -> None:
    with buffers_at_a_boot(guest):
        guest.reboot()


@pytest.mark.requirement("W16")
@pytest.mark.representative
def test_faults_of_the_copy(writers: Guest, collection: Collection) -> None:
    """CP can lose a copy, spoil it or write it twice; the program's own bytes stay."""
    header = Header()
    with Writer(writers) as writer:
        writer.put(header, b"abcd")
        with armed(writers.control, Fault("appldata.sample", "drop", name="LNXAPPL", times=1)):
            assert collection.sample() == []
        with armed(writers.control, Fault("appldata.sample", "duplicate", times=1)):
            assert collection.sample() == [sampled(header, b"abcd")] * 2
        with armed(writers.control, Fault("appldata.sample", "corrupt", 1, offset=5, times=1)):
            assert collection.sample() == [sampled(header, b"accd")]
        assert collection.sample() == [sampled(header, b"abcd")]
        with armed(writers.control, Fault("appldata.event", "drop", times=1)):
            writer.put(Header(EVENT), b"lost")
        with armed(writers.control, Fault("appldata.event", "duplicate", times=1)):
            writer.put(Header(EVENT), b"wxyz")
        assert collection.events() == [event(Header(EVENT), b"wxyz")] * 2


# Defects of the driver itself: docs/upstream-monwriter.md.


@pytest.mark.requirement("W8", "W17")
@pytest.mark.not_debug("KASAN leaves room between any two buffers", coverage=True)
@pytest.mark.kernel_defect(
    1,
    "monwriter: the same product ID with a greater length changes another's buffer",
    seen=r"assert 0 == 22",
    kernels=("bookworm", "bookworm-backports"),
)
def test_data_of_another_length_are_refused(writers: Guest, collection: Collection) -> None:
    """And nothing is stored outside the buffer."""
    with Writer(writers) as writer:
        for n in range(64):
            writer.put(Header(record=n), bytes([n]) * 256)
        place = {buffer["address"]: n for n, buffer in enumerate(declared(writers))}
        first, second = next((n, place[at + 256]) for at, n in place.items() if at + 256 in place)
        # 256 bytes of data, which the driver puts 256 bytes behind the buffer's begin.
        written = writer.write(Header(record=first, datalen=512).encode() + b"!" * 256)
        found = [record.data for record in collection.sample()]
    assert found[first] == bytes([first]) * 256
    if (written.errno == 0) != (found[second] == b"!" * 256):
        raise RuntimeError("another buffer changes if and only if the write succeeds")
    assert written.errno == errno.EINVAL
    assert found[second] == bytes([second]) * 256


@pytest.mark.requirement("W17")
@pytest.mark.kernel_defect(
    2,
    "monwriter: closing with half an event counts down what was never counted up",
    seen=r"assert 0 == 28",
)
def test_events_that_are_cut_make_no_room(writers: Guest, limit: Callable[[int], None]) -> None:
    limit(1)
    with Writer(writers) as writer:
        writer.write(Header(EVENT, datalen=2).encode() + b"x").check()
    with Writer(writers) as writer:
        writer.put(Header(record=1), b"x")
        more = Header(record=2, datalen=1)
        assert writer.write(more.encode() + b"y").errno == errno.ENOSPC


@pytest.mark.requirement("W17")
@pytest.mark.kernel_defect(
    2,
    "monwriter: stopping an event that was not complete counts down what was never counted up",
    seen=r"assert 0 == 28",
)
def test_events_that_are_stopped_make_no_room(writers: Guest, limit: Callable[[int], None]) -> None:
    """What could not be read of an event leaves its buffer, which a STOP takes."""
    limit(1)
    with Writer(writers) as writer:
        writer.write(Header(EVENT, datalen=2).encode()).check()
        assert writers.agent.write(writer.fd, Bad(BadKind.UNMAPPED)).errno == errno.EFAULT
        writer.write(Header(STOP).encode())
        writer.put(Header(record=1), b"x")
        more = Header(record=2, datalen=1)
        assert writer.write(more.encode() + b"y").errno == errno.ENOSPC


@pytest.mark.requirement("W17")
@pytest.mark.kernel_defect(
    3,
    "monwriter: after a failed START, a second write of it succeeds, and CP knows nothing",
    seen=r"assert 0 == 1",
)
def test_data_that_cp_has_refused_are_declared_the_next_time(writers: Guest) -> None:
    since = writers.agent.log_position()
    with Writer(writers) as writer:
        with armed(writers.control, Fault("diagdc.start", "rc", 5, times=1)):
            assert writer.write(Header(datalen=1).encode() + b"x").errno == errno.EPERM
        writer.put(Header(), b"x")
        assert len(declared(writers)) == 1
    assert log_of(writers, since) == [FAILED % 5]


@pytest.mark.requirement("W17")
def test_data_that_cp_has_refused_need_not_be_withdrawn(writers: Guest) -> None:
    """Closing succeeds, and leaves nothing."""
    with Writer(writers) as writer:
        with armed(writers.control, Fault("diagdc.start", "rc", 5, times=1)):
            assert writer.write(Header(datalen=1).encode() + b"x").errno == errno.EPERM
    assert declared(writers) == []


@pytest.mark.requirement("W17")
@pytest.mark.kernel_defect(
    4,
    "monwriter: a length of 0 is accepted, and close withdraws a buffer of no bytes",
    seen=r"assert 0 == 22",
)
def test_a_buffer_has_data(writers: Guest, limit: Callable[[int], None]) -> None:
    """One without takes no place."""
    limit(1)
    with Writer(writers) as writer:
        assert writer.write(Header().encode()).errno == errno.EINVAL
        writer.put(Header(record=2), b"x")
        assert len(declared(writers)) == 1
