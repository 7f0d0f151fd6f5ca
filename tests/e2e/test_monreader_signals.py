# SPDX-License-Identifier: MIT
"""Signals, threads and processes around a sleeping read: nothing is lost, nobody hangs."""

from __future__ import annotations

import errno
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from readers import PLENTY, RunningReader, install, opening

from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import MCE_SIZE, Element, Record
from zvmlab.monitor.monitor import (
    DEVICE,
    Capture,
    DataSets,
    compare,
    deliver,
    element_arguments,
    read_set,
)
from zvmlab.monitor.steps import READ, await_sleep, thread_of

if TYPE_CHECKING:
    from conftest import Build

ELEMENT = Element.of([Record(4, 3, 1, bytes(range(40)))])


@pytest.mark.requirement("M36")
@pytest.mark.representative
def test_signal_ends_a_sleeping_read_with_eintr(monreader: Guest, zvmlab_dir: Path) -> None:
    """Without SA_RESTART a signal ends the read with EINTR; the next one gets the whole set."""
    sleeper = monreader.agent.worker("sleeper")
    thread = thread_of(sleeper)
    with DataSets(monreader.agent) as reader, Capture(
        monreader.control, zvmlab_dir / "sets"
    ) as capture:
        for _ in range(20):
            batch = sleeper.batch()
            batch.read(reader.fd, 4096)
            pending = batch.start(timeout=120)
            await_sleep(monreader.agent, thread, READ)
            assert sleeper.interrupt()
            result = pending.result()[0]
            assert (result.ret, result.errno) == (-1, errno.EINTR)
            deliver(monreader.control, "sample", ELEMENT)
            compare(reader.read(), capture.next())


@pytest.mark.requirement("M36")
def test_signal_with_sa_restart_is_not_noticed(monreader: Guest, zvmlab_dir: Path) -> None:
    """With SA_RESTART the read sleeps on after a signal, and gets the set."""
    sleeper = monreader.agent.worker("sleeper")
    thread = thread_of(sleeper)
    with DataSets(monreader.agent) as reader, Capture(
        monreader.control, zvmlab_dir / "sets"
    ) as capture:
        batch = sleeper.batch()
        batch.read_until(reader.fd, 4096)
        pending = batch.start(timeout=120)
        for _ in range(20):
            await_sleep(monreader.agent, thread, READ)
            assert sleeper.interrupt(restart=True)
            await_sleep(monreader.agent, thread, READ)
            assert not pending.done()
        deliver(monreader.control, "sample", ELEMENT)
        compare(read_set(pending.result()[0]), capture.next())


@pytest.mark.requirement("M36")
def test_close_while_another_thread_sleeps_in_read(monreader: Guest, zvmlab_dir: Path) -> None:
    """Closing the descriptor does not disturb the read; the device is free when that has ended."""
    sleeper = monreader.agent.worker("sleeper")
    thread = thread_of(sleeper)
    agent = monreader.agent
    with Capture(monreader.control, zvmlab_dir / "sets") as capture:
        fd = agent.open(DEVICE).check()
        batch = sleeper.batch()
        batch.read(fd, MCE_SIZE)
        pending = batch.start(timeout=120)
        await_sleep(monreader.agent, thread, READ)
        agent.close(fd).check()
        assert agent.open(DEVICE).errno == errno.EBUSY
        deliver(monreader.control, "sample", ELEMENT)
        assert pending.result()[0].data == capture.next().stream[:MCE_SIZE]
        with DataSets(agent) as reader:
            deliver(monreader.control, "sample", ELEMENT)
            compare(reader.read(), capture.next())


@pytest.mark.requirement("M36")
def test_reader_killed_asleep_leaves_the_device_free(
    monreader: Guest, program: Build, zvmlab_dir: Path
) -> None:
    """A process killed in its sleeping read takes its connection with it; the next open works."""
    agent = monreader.agent
    install(agent, program)
    killed = RunningReader.start(agent, opening(PLENTY))
    assert killed.await_sleep(READ) == "S"
    assert agent.open(DEVICE).errno == errno.EBUSY
    killed.process.kill()
    assert killed.process.wait(60).signal == signal.SIGKILL
    assert monreader.control.execute("query-monitor")["users"] == []
    with Capture(monreader.control, zvmlab_dir / "sets") as capture, DataSets(agent) as reader:
        deliver(monreader.control, "sample", ELEMENT)
        compare(reader.read(), capture.next())


def two_reads(monreader: Guest, program: Build, folder: Path, *how: str) -> tuple[list[str], bytes]:
    """The output of programs/two_readers.c, and the stream that both have read from."""
    agent = monreader.agent
    agent.write_file("/tmp/two_readers", program("two_readers").read_bytes(), 0o755)
    try:
        with DataSets(agent) as reader, Capture(monreader.control, folder / "sets") as capture:
            deliver(monreader.control, "sample", ELEMENT)
            done = agent.run(["/tmp/two_readers", str(reader.fd), *how], inherit=True).check()
            return done.stdout.decode().splitlines(), capture.next().stream
    finally:
        agent.unlink("/tmp/two_readers").check()


@pytest.mark.requirement("M18")
@pytest.mark.upstream_defect(
    4,
    "two reads at the same time give the same bytes twice",
    seen="the read beside gives the first 12 bytes again",
)
def test_two_threads_get_each_byte_once(monreader: Guest, program: Build, zvmlab_dir: Path) -> None:
    """A read that sleeps in the middle of its copy and one beside it: each byte is read once."""
    lines, stream = two_reads(monreader, program, zvmlab_dir)
    first, beside, rest = map(bytes.fromhex, lines)
    again = beside == stream[: len(beside)]
    said = f"the read beside gives the first {len(beside)} bytes again" if again else "bytes differ"
    assert first + beside + rest == stream, said


@pytest.mark.requirement("M36")
@pytest.mark.upstream_defect(
    4, "the read beside does not wait", seen="assert 'e2080000[0-9a-f]{16}' == '4'"  # EINTR
)
def test_signal_ends_a_read_that_waits_for_another(
    monreader: Guest, program: Build, zvmlab_dir: Path
) -> None:
    """While another read sleeps in its copy a signal ends the one beside it; no byte is lost."""
    lines, stream = two_reads(monreader, program, zvmlab_dir, "interrupt")
    assert lines[1] == str(errno.EINTR)
    assert bytes.fromhex(lines[0]) + bytes.fromhex(lines[2]) == stream


@pytest.mark.requirement("M18")
@pytest.mark.upstream_defect(
    11, "a read of no bytes takes the end of a set", seen=r"assert \(-1, 11\) == \(0, 0\)"
)
def test_read_of_no_bytes_has_no_effect(monreader: Guest, zvmlab_dir: Path) -> None:
    """A read of size 0 gives 0 at every place of the stream and changes nothing."""
    with DataSets(monreader.agent, os.O_NONBLOCK) as reader, Capture(
        monreader.control, zvmlab_dir / "sets"
    ) as capture:
        deliver(monreader.control, "sample", ELEMENT)
        wanted = capture.next().stream
        batch = monreader.agent.batch()
        for _ in range(len(wanted) + 1):
            batch.read(reader.fd, 0)
            batch.read(reader.fd, 1)
        results = list(batch.run())
        nothing, reads = results[::2], results[1::2]
        assert {(result.ret, result.errno) for result in nothing} == {(0, 0)}
        assert b"".join(read.data for read in reads) == wanted
        assert (reads[-1].ret, reads[-1].errno) == (0, 0)


@pytest.mark.requirement("M36")
def test_hundred_signals_between_sets(monreader: Guest) -> None:
    """Signals while sets come one after the other: each is there once, whole, in order."""
    sets = 100
    sleeper = monreader.agent.worker("sleeper")
    with DataSets(monreader.agent) as reader:
        monreader.control.execute(
            "monitor-repeat",
            kind="sample",
            elements=[element_arguments(ELEMENT)],
            outstanding=3,
            times=sets,
        )
        found = b""
        ends = interrupted = 0
        while ends < sets:
            batch = sleeper.batch()
            batch.read_until(reader.fd, 17, zeros=min(7, sets - ends))
            pending = batch.start(timeout=120)
            sleeper.interrupt()
            for read in pending.result()[0].reads:
                assert read.errno in (0, errno.EINTR)
                interrupted += read.errno == errno.EINTR
                ends += read.ret == 0
                found += read.data
        assert len(found) == sets * (MCE_SIZE + len(ELEMENT.data))
        assert found[MCE_SIZE:][: len(ELEMENT.data)] == ELEMENT.data
