# SPDX-License-Identifier: MIT
"""CP severs the connection while the device is open: the reader learns of it and can start again."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest

from zvmlab.agent.agent import Worker
from zvmlab.cp.faults import Fault, armed
from zvmlab.cp.peer import EventType, Peer
from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import MCE_SIZE, Element, Record
from zvmlab.monitor.monitor import DEVICE, Capture, DataSets, compare, deliver
from zvmlab.monitor.steps import (
    POLL,
    READ,
    Log,
    await_sleep,
    deliver_many,
    ended,
    monitor_user,
    open_device,
    service_paths,
    settle,
    small,
    thread_of,
)

if TYPE_CHECKING:
    from conftest import OneSet

GUEST = "LINUX001"
CODE = 44
RECORDS = 2000
SEVERED_POLL = 0x008 | 0x010  # POLLERR | POLLHUP
# Where the sever comes in a set of two elements: bytes of it that were read before.
PLACES = {
    "within-the-element": 5,
    "behind-the-element": MCE_SIZE,
    "within-the-records": MCE_SIZE + 700,
    "behind-the-records": MCE_SIZE + RECORDS,
    "before-the-closing-read": 2 * (MCE_SIZE + RECORDS),
}


@pytest.fixture
def worker(monreader: Guest) -> Worker:
    """A thread that may sleep while others are served."""
    return monreader.agent.worker("reader")


def disconnected(code: int) -> str:
    """The log's line when CP severs."""
    return f"z/VM *MONITOR system service disconnected with rc={code}"


def two_elements() -> tuple[Element, Element]:
    """A set of two elements."""
    first, second = (
        Element.of([Record(4, 3, number, bytes([number]) * (RECORDS - 20))]) for number in (1, 2)
    )
    return first, second


def read_next(guest: Guest, fd: int, capture: Capture) -> None:
    """CP delivers a set, the reader gets it."""
    deliver(guest.control, "sample", small(1))
    read = ended(guest.agent.read_until(fd, 4096))
    assert (read.errno, read.stream) == (0, capture.next().stream)


def sever(guest: Guest, code: int = CODE) -> None:
    """CP severs when the guest has taken all messages; at the return the guest knows."""
    settle(guest)  # CP forgets the messages that it has not presented yet
    assert guest.control.execute("monitor-sever", user=GUEST, code=code) == {"severed": 1}
    settle(guest)
    assert service_paths(guest) == []  # the guest has severed its end


@pytest.mark.requirement("M34")
@pytest.mark.representative
def test_reader_asleep_when_cp_severs_is_eio(
    monreader: Guest, one_set: OneSet, worker: Worker
) -> None:
    """CP severs while a reader sleeps in read: EIO, and again EIO until the device is reopened."""
    log, thread = Log(monreader.agent), thread_of(worker)
    fd = worker.open(DEVICE).check()
    batch = worker.batch()
    for _ in range(3):
        batch.read(fd, 4096)
    pending = batch.start()
    await_sleep(monreader.agent, thread, READ)
    sever(monreader)
    assert [result.errno for result in pending.result()] == [errno.EIO] * 3
    worker.close(fd).check()
    assert log.texts()[0] == disconnected(CODE)
    one_set(monreader)


@pytest.mark.requirement("M34")
def test_poller_asleep_when_cp_severs(monreader: Guest, one_set: OneSet, worker: Worker) -> None:
    """CP severs while a reader sleeps in poll: poll reports an error, and goes on reporting it."""
    thread = thread_of(worker)
    with open_device(monreader.agent) as fd:
        batch = worker.batch()
        batch.poll([(fd, 1)], 100_000)
        pending = batch.start(timeout=120)
        await_sleep(monreader.agent, thread, POLL)
        sever(monreader)
        assert pending.result()[0].revents[0] & SEVERED_POLL
        for events in (0, 1):  # asked for or not
            assert monreader.agent.poll([(fd, events)], 0).revents[0] & SEVERED_POLL
        assert monreader.agent.read(fd, 4096).errno == errno.EIO
    one_set(monreader)


@pytest.mark.requirement("M34")
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES.keys())
def test_severed_within_a_set_is_eio(
    monreader: Guest, capture: Capture, one_set: OneSet, place: int
) -> None:
    """CP severs between two reads of one set: it does not end as a complete one, then all is EIO."""
    with open_device(monreader.agent) as fd:
        deliver(monreader.control, "sample", *two_elements())
        wanted = capture.next().stream
        begin = b""
        while len(begin) < place:
            begin += monreader.agent.read(fd, place - len(begin)).data
        sever(monreader)
        rest = ended(monreader.agent.read_until(fd, 4096))
        assert rest.errno == errno.EIO
        assert wanted.startswith(begin + rest.stream)
        assert monreader.agent.read(fd, 4096).errno == errno.EIO
    one_set(monreader)


@pytest.mark.requirement("M34")
@pytest.mark.parametrize("sets", (0, 1, 10, 254, 255))
def test_severed_between_sets_is_eio(
    monreader: Guest, capture: Capture, one_set: OneSet, sets: int
) -> None:
    """One set was read, up to 255 are queued when CP severs: each can be read, and ends with EIO."""
    log = Log(monreader.agent)
    with open_device(monreader.agent) as fd:
        read_next(monreader, fd, capture)
        deliver_many(monreader.control, sets)
        assert monitor_user(monreader.control)["outstanding"] == sets
        sever(monreader)
        batch = monreader.agent.batch()
        for _ in range(sets + 3):
            batch.read_until(fd, 4096)
        ends = [ended(result) for result in batch.run()]
        # The limit was reached before CP severed: that is reported, too.
        overflows = [end for end in ends if end.errno == errno.EOVERFLOW]
        assert len(overflows) == (sets == 255)
        ends = [end for end in ends if end.errno != errno.EOVERFLOW]
        assert {end.errno for end in ends} == {errno.EIO}
        assert [end.stream for end in ends[:sets]] == [capture.next().stream for _ in range(sets)]
        assert b"".join(end.stream for end in ends[sets:]) == b""
    assert log.texts().count(disconnected(CODE)) == 1
    one_set(monreader)


@pytest.mark.requirement("M30", "M34")
@pytest.mark.parametrize("code", (0, 1, 44, 127, 128, 255))
def test_code_of_the_sever_is_logged(monreader: Guest, one_set: OneSet, code: int) -> None:
    """CP severs an open connection with a code: the log has it, once."""
    log = Log(monreader.agent)
    with open_device(monreader.agent) as fd:
        sever(monreader, code)
        assert log.texts() == [disconnected(code)]
        assert monreader.agent.read(fd, 12).errno == errno.EIO
    one_set(monreader)


@pytest.mark.requirement("M34")
def test_severed_instead_of_a_message_is_eio(
    monreader: Guest, capture: Capture, one_set: OneSet, worker: Worker
) -> None:
    """CP severs when it should announce the third set; the reader sleeps, and gets EIO."""
    log, thread = Log(monreader.agent), thread_of(worker)
    with armed(monreader.control, Fault("monitor.message", "sever", CODE, nth=3)) as rules:
        with open_device(monreader.agent) as fd:
            for _ in range(2):
                read_next(monreader, fd, capture)
            batch = worker.batch()
            batch.read(fd, 4096)
            pending = batch.start()
            await_sleep(monreader.agent, thread, READ)
            deliver(monreader.control, "sample", small(1))
            assert pending.result()[0].errno == errno.EIO
    assert rules[0].fired == 1
    assert disconnected(CODE) in log.texts()
    one_set(monreader)


@pytest.mark.requirement("M34")
def test_severed_by_the_reply_is_eio(monreader: Guest, capture: Capture, one_set: OneSet) -> None:
    """CP severs when it gets the third reply: it had taken it, so the set is complete; then EIO."""
    log = Log(monreader.agent)
    with armed(monreader.control, Fault("monitor.reply", "sever", CODE, nth=3)) as rules:
        with open_device(monreader.agent) as fd:
            for _ in range(3):
                read_next(monreader, fd, capture)
            assert monreader.agent.read(fd, 4096).errno == errno.EIO
    assert rules[0].fired == 1
    assert disconnected(CODE) in log.texts()
    one_set(monreader)


@pytest.mark.requirement("M34")
@pytest.mark.first_kernel
def test_severed_again_and_again(monreader: Guest, one_set: OneSet) -> None:
    """CP severs, the device is reopened, thirty times: CP's and the guest's paths do not run out."""
    paths = set()
    for number in range(30):
        with open_device(monreader.agent, os.O_NONBLOCK):
            paths.add(service_paths(monreader)[0]["path"])
            sever(monreader, number)
    assert len(paths) == 1
    one_set(monreader)


@pytest.mark.requirement("M34")
@pytest.mark.upstream_defect(
    1, "close severs once more, by then somebody else's path", seen=r"assert \[\] == \['open'\]"
)
def test_close_after_sever_leaves_other_paths_alone(monreader: Guest, one_set: OneSet) -> None:
    """CP severs, another connection gets the path's number, the device is closed: it stands."""
    with Peer(monreader.control, "TERMINAL") as peer:
        with open_device(monreader.agent):
            number = service_paths(monreader)[0]["path"]
            sever(monreader)
            # The kernel's terminal over IUCV accepts whoever wants to see a console.
            path = peer.connect(GUEST, "lnxhvc0 TERMINAL".encode("cp037"), msglim=10).path
            peer.wait(EventType.COMPLETE, 60, path)
            (other,) = service_paths(monreader, "TERMINAL")
            assert other["path"] == number
        settle(monreader)
        stands = service_paths(monreader, "TERMINAL")
    settle(monreader)
    one_set(monreader)
    assert [one["state"] for one in stands] == ["open"]


@pytest.mark.requirement("M34")
def test_quiesce_and_resume_change_nothing(
    monreader: Guest, capture: Capture, worker: Worker
) -> None:
    """CP quiesces the path and resumes it: reading goes on all the time, nothing is lost."""
    control, log, thread = monreader.control, Log(monreader.agent), thread_of(worker)
    with DataSets(worker) as reader:
        for quiesced in (True, True, False, False):
            result = reader.start()
            await_sleep(monreader.agent, thread, READ)
            answer = control.execute("monitor-quiesce", user=GUEST, quiesced=quiesced)
            assert answer == {"paths": 1}
            deliver(control, "sample", small(5))
            compare(result(), capture.next())
        user = monitor_user(control)
        assert (user["delivered"], user["replied"], user["lost"]) == (4, 4, 0)
    assert log.texts() == []
