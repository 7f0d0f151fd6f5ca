# SPDX-License-Identifier: MIT
"""Defects of the kernel's vmlogrdr, as docs/upstream-vmlogrdr.md numbers them.

Each test has what is required; its mark says what is seen instead.
"""

from __future__ import annotations

import errno
import time
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from failing import Failing
from vmlogrdr_lab import (
    ACCOUNT,
    DIRECTORY,
    MODULE,
    PART,
    SECONDS,
    class_of,
    framed,
    opened,
    queue,
    texts,
)
from waiting import fair

from zvmlab.agent.calls import BatchResult, CallResult
from zvmlab.agent.results import ProgramFailed
from zvmlab.agent.worker import Pending, Worker
from zvmlab.base.errors import GuestPanic
from zvmlab.builder.kernel import COVERAGE
from zvmlab.cp.control import Control
from zvmlab.cp.faults import Fault, armed
from zvmlab.cp.recording import make, sever
from zvmlab.guest.guest import Guest
from zvmlab.monitor.steps import READ, await_sleep, settle, thread_of

if TYPE_CHECKING:
    from conftest import Build

pytestmark = [
    pytest.mark.zvmlab(modules=(MODULE,), cp={"directory": DIRECTORY}),
]
# The system call's number (asm/unistd.h).
OPENAT = 288
# As many RECEIVEs no read of one record needs.
MANY = 1000


def open_account(guest: Guest) -> int:
    """The module is loaded, and /dev/account open."""
    guest.agent.modprobe(MODULE).check()
    return guest.agent.open(ACCOUNT.path).check()


def receives(control: Control) -> int:
    """How often the guest has issued IUCV RECEIVE; not on the agent's path."""
    points = control.execute("query-fault-points")["points"]
    (found,) = [point["reached"] for point in points if point["point"] == "iucv.receive"]
    return int(found)


def begin_read(reader: Worker, fd: int) -> Pending[BatchResult]:
    """Start a read that may never end."""
    batch = reader.batch()
    batch.read(fd, 4096)
    return batch.start(timeout=SECONDS)


def result_of(control: Control, read: Pending[BatchResult]) -> CallResult:
    """What the read gives; AssertionError if it asks CP for a record again and again."""
    limit = fair(SECONDS)
    before = receives(control)
    while not read.done_within(0.05):
        assert receives(control) < before + MANY, "the read spins in RECEIVE"
        assert not limit.over, "the read neither ends nor spins"
    return read.result()[0]


SPINS = "the read spins in RECEIVE"


@pytest.mark.requirement("L13")
@pytest.mark.kernel_defect(
    1, "vmlogrdr: a connection that CP refuses leaves recording on", seen=r"assert not True"
)
def test_1_refused_connection_switches_recording_off(guest: Guest) -> None:
    """As a sever instead of an answer does."""
    guest.agent.modprobe(MODULE).check()
    with armed(guest.control, Fault("iucv.connect", "rc", 15, name="*ACCOUNT")):
        assert guest.agent.open(ACCOUNT.path).errno == errno.EIO
    on = queue(guest.control, ACCOUNT).on
    assert not on


@pytest.mark.requirement("L13")
@pytest.mark.kernel_defect(
    2,
    "vmlogrdr: the eight characters of the service are followed by the field behind them",
    seen=r"assert '\*ACCOUNTaccount' == 'account'",
    kernels=("bookworm", "trixie", "bookworm-backports"),
)
def test_2_name_in_the_log_is_the_devices(guest: Guest) -> None:
    guest.agent.modprobe(MODULE).check()
    since = guest.agent.log_position()
    with armed(guest.control, Fault("iucv.connect", "rc", 15, name="*ACCOUNT")):
        assert guest.agent.open(ACCOUNT.path).errno == errno.EIO
    (text,) = texts(guest.agent.dmesg(since))
    words = text.split()
    assert words[:3] + words[4:] == "iucv connection to failed with rc 15".split()
    assert words[3] == "account"


@pytest.mark.requirement("L14")
@pytest.mark.kernel_defect(
    3,
    "vmlogrdr: the path that the sever has freed is severed once more",
    # The debug kernel warns where Debian's have a BUG; one that does not look at its lists takes
    # what is left of an entry for an address.
    seen=r"the guest's kernel reported an? \w+ .*"
    r"(lib/list_debug\.c|list_del corruption|Unable to handle kernel pointer).*",
    raises=GuestPanic,
)
def test_3_close_after_a_sever(guest: Guest) -> None:
    """The device can be closed, and opened again."""
    fd = open_account(guest)
    assert sever(guest.control, "*ACCOUNT", 44) == 1
    settle(guest)
    guest.agent.close(fd).check()
    guest.agent.open(ACCOUNT.path).check()


@pytest.mark.requirement("L14")
@pytest.mark.kernel_defect(
    4, "vmlogrdr: a read that is woken by a sever goes on waiting", seen=r"assert 4 == 5"
)
def test_4_read_that_waits_learns_of_a_sever(guest: Guest) -> None:
    """EIO, even if a signal comes at the same time."""
    fd = open_account(guest)
    reader = guest.agent.worker("reader")
    thread = thread_of(reader)
    pending = begin_read(reader, fd)
    assert await_sleep(guest.agent, thread, READ) == "S"
    assert sever(guest.control, "*ACCOUNT", 44) == 1
    settle(guest)
    reader.interrupt()
    assert pending.result()[0].errno == errno.EIO


# One CPU is the reader's forever.
@pytest.mark.requirement("L14")
@pytest.mark.kernel_defect(
    5, "vmlogrdr: a read asks for the record of a path that is gone, again and again", seen=SPINS
)
@pytest.mark.zvmlab(cpus=2)
def test_5_read_after_a_sever_with_a_record_pending(guest: Guest) -> None:
    """The record is gone with the path: EIO."""
    fd = open_account(guest)
    make(guest.control, "*ACCOUNT", b"record")
    settle(guest)
    assert sever(guest.control, "*ACCOUNT", 44) == 1
    settle(guest)
    read = begin_read(guest.agent.worker("reader"), fd)
    assert result_of(guest.control, read).errno == errno.EIO


# As above.
@pytest.mark.requirement("L3")
@pytest.mark.kernel_defect(
    6, "vmlogrdr: the driver has room for one message, and counts two", seen=SPINS
)
@pytest.mark.zvmlab(cpus=2)
def test_6_two_messages_are_two_records(guest: Guest) -> None:
    """CP tells of a record twice."""
    fd = open_account(guest)
    with armed(guest.control, Fault("recording.message", "duplicate", name="*ACCOUNT")):
        make(guest.control, "*ACCOUNT", b"record")
    settle(guest)
    assert guest.agent.read(fd, 4096).data == framed(b"record")
    read = begin_read(guest.agent.worker("reader"), fd)
    assert result_of(guest.control, read).data == framed(b"record")


@pytest.mark.requirement("L4")
@pytest.mark.kernel_defect(
    7, "vmlogrdr: the next reader gets old bytes, and no length", seen=r"assert 916 == 14"
)
def test_7_rest_of_a_record_goes_with_its_reader(guest: Guest) -> None:
    """A reader closes within a long record; the next one gets the next record."""
    agent = guest.agent
    agent.modprobe(MODULE).check()
    with opened(agent, ACCOUNT) as fd:
        make(guest.control, "*ACCOUNT", b"x" * 5000)
        assert len(agent.read(fd, 65536).data) == 4 + PART
    with opened(agent, ACCOUNT) as fd:
        make(guest.control, "*ACCOUNT", b"record")
        found = agent.read(fd, 65536).data
    assert len(found) == len(framed(b"record"))
    assert found == framed(b"record")


@pytest.mark.requirement("L1")
@pytest.mark.kernel_defect(
    8,
    "vmlogrdr: the class has another name than is documented",
    seen="assert 'vmlogrdr_class' == 'vmlogrdr'",
    kernels=("trixie", "bookworm-backports", "sid"),
)
def test_8_class_has_its_documented_name(guest: Guest) -> None:
    """Programs look for the devices' numbers in /sys/class/vmlogrdr."""
    guest.agent.modprobe(MODULE).check()
    assert class_of(guest) == MODULE


@pytest.mark.requirement("L3")
@pytest.mark.kernel_defect(
    9, "vmlogrdr: with a code that it does not know, the driver asks again at once", seen=SPINS
)
def test_9_receive_that_cp_refuses_is_an_error(guest: Guest) -> None:
    fd = open_account(guest)
    make(guest.control, "*ACCOUNT", b"record")
    settle(guest)
    with armed(guest.control, Fault("iucv.receive", "rc", 8, name="*ACCOUNT")):
        read = begin_read(guest.agent.worker("reader"), fd)
        assert result_of(guest.control, read).errno == errno.EIO


@pytest.mark.requirement("L13")
@pytest.mark.kernel_defect(
    10, "vmlogrdr: open waits for ever when CP does not answer", seen=r"assert 'D' == 'S'"
)
def test_10_open_that_cp_does_not_answer_can_be_interrupted(guest: Guest) -> None:
    """As a read that waits."""
    guest.agent.modprobe(MODULE).check()
    opener = guest.agent.worker("opener")
    thread = thread_of(opener)
    with armed(guest.control, Fault("recording.connect", "drop", name="*ACCOUNT")) as rules:
        batch = opener.batch()
        batch.open(ACCOUNT.path)
        pending = batch.start(timeout=SECONDS)
        assert await_sleep(guest.agent, thread, OPENAT) == "S"
        assert opener.interrupt()
        assert pending.result()[0].errno == errno.EINTR
    assert rules[0].fired == 1
    guest.agent.open(ACCOUNT.path).check()


@pytest.mark.requirement("L22")
@pytest.mark.kernel_defect(
    11, "vmlogrdr: a load that fails is cleaned up twice", seen=r"assert [1-9][0-9]* == 0"
)
@pytest.mark.zvmlab(modules=(MODULE,), cp={"directory": DIRECTORY}, crashes=("panic",))
def test_11_loading_without_memory_is_enomem(guest: Guest, program: Build) -> None:
    """Each allocation fails once, and nothing is undone that was not done; then it can be loaded."""
    failing = Failing(guest)
    agent = guest.agent
    since = agent.log_position()
    agent.modprobe(MODULE).check()
    agent.rmmod(MODULE).check()
    errors: Counter[int] = Counter()
    failed: ProgramFailed | None = None
    try:
        # EINVAL: a device without a name.
        errors = failing.loads(program, MODULE, also=(errno.EINVAL,))
    except ProgramFailed as error:
        # An oops ends it, if what was freed is used again.
        failed = error
    lines = [line.text for line in agent.dmesg(since)]
    if failed is not None and guest.config.kernel != COVERAGE:
        guest.stop()  # what an oops interrupts frees nothing, and kmemleak would say so
    assert lines.count("Unexpected driver unregister!") == 0
    if failed is not None:
        raise failed
    assert errors[errno.ENOMEM] > 0
    open_account(guest)


@pytest.mark.requirement("L3")
@pytest.mark.kernel_defect(
    12,
    "vmlogrdr: two reads at the same time give the same bytes twice",
    seen="the read beside gives the first 12 bytes again",
)
def test_12_two_threads_get_each_byte_once(guest: Guest, program: Build) -> None:
    """While one sleeps in the middle of its copy, the other one waits."""
    agent, stream = guest.agent, framed(b"of 12 bytes.")
    agent.write_file("/tmp/two_readers", program("two_readers").read_bytes(), 0o755)
    fd = open_account(guest)
    make(guest.control, "*ACCOUNT", b"of 12 bytes.")
    settle(guest)
    done = agent.run(["/tmp/two_readers", str(fd), "both"], inherit=True).check()
    first, beside = map(bytes.fromhex, done.stdout.decode().splitlines())
    again = beside == stream[: len(beside)]
    said = f"the read beside gives the first {len(beside)} bytes again" if again else "bytes differ"
    assert first + beside == stream, said
