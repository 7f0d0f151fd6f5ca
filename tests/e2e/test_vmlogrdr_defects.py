# SPDX-License-Identifier: MIT
"""Defects of the kernel's vmlogrdr, as docs/upstream-vmlogrdr.md numbers them.

Each test shows the defect, and fails on a kernel where it is mended.
"""

from __future__ import annotations

import errno
import re
import time
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from failing import Failing
from vmlogrdr_lab import ACCOUNT, DIRECTORY, MODULE, PART, SECONDS, framed, opened, queue, texts

from zvmlab.agent.results import ProgramFailed
from zvmlab.agent.worker import Worker
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


def await_spinning(control: Control) -> None:
    """Wait until the guest asks for a record again and again."""
    limit = time.monotonic() + SECONDS
    before = receives(control)
    while receives(control) < before + MANY:
        assert time.monotonic() < limit, "the guest does not spin in RECEIVE"
        time.sleep(0.05)


def begin_read(reader: Worker, fd: int) -> None:
    """Start a read that never ends."""
    batch = reader.batch()
    batch.read(fd, 4096)
    batch.start(timeout=SECONDS).forget()


@pytest.mark.requirement("L13")
def test_1_refused_connection_leaves_recording_on(guest: Guest) -> None:
    """Only a sever instead of an answer switches it off again."""
    guest.agent.modprobe(MODULE).check()
    with armed(guest.control, Fault("iucv.connect", "rc", 15, name="*ACCOUNT")):
        assert guest.agent.open(ACCOUNT.path).errno == errno.EIO
    assert queue(guest.control, ACCOUNT).on
    make(guest.control, "*ACCOUNT", b"for nobody")
    assert queue(guest.control, ACCOUNT).count == 1


@pytest.mark.requirement("L13")
def test_2_name_in_the_log_has_no_end(guest: Guest) -> None:
    """The eight characters of the service are followed by the field behind them."""
    guest.agent.modprobe(MODULE).check()
    since = guest.agent.log_position()
    with armed(guest.control, Fault("iucv.connect", "rc", 15, name="*ACCOUNT")):
        assert guest.agent.open(ACCOUNT.path).errno == errno.EIO
    mended = guest.agent.read_file("/proc/sys/kernel/osrelease").startswith(b"7.")
    name = "account" if mended else "*ACCOUNTaccount"
    assert texts(guest.agent.dmesg(since)) == [f"iucv connection to {name} failed with rc 15 "]


@pytest.mark.requirement("L14")
@pytest.mark.zvmlab(modules=(MODULE,), cp={"directory": DIRECTORY}, crashes=("panic",))
def test_3_close_after_a_sever_is_a_kernel_bug(guest: Guest) -> None:
    """The path that the sever has freed is severed once more."""
    fd = open_account(guest)
    assert sever(guest.control, "*ACCOUNT", 44) == 1
    settle(guest)
    begin_close = guest.agent.worker("closer").batch()
    begin_close.close(fd)
    begin_close.start(timeout=SECONDS).forget()
    guest.expect_crash("panic")
    report = guest.console.text()
    # The debug kernel warns where Debian's have a BUG; one that does not look at its lists takes
    # what is left of an entry for an address.
    unlooked = "Unable to handle kernel pointer dereference"
    assert re.search(rf"(kernel BUG|WARNING: .*) at lib/list_debug\.c|{unlooked}", report)
    assert "iucv_path_sever" in report and "vmlogrdr_release" in report


@pytest.mark.requirement("L14")
def test_4_read_that_waits_never_learns_of_a_sever(guest: Guest) -> None:
    """It is woken, and goes on waiting; only a signal ends it."""
    fd = open_account(guest)
    reader = guest.agent.worker("reader")
    thread = thread_of(reader)
    batch = reader.batch()
    batch.read(fd, 4096)
    pending = batch.start(timeout=SECONDS)
    assert await_sleep(guest.agent, thread, READ) == "S"
    assert sever(guest.control, "*ACCOUNT", 44) == 1
    settle(guest)
    assert await_sleep(guest.agent, thread, READ) == "S"
    assert reader.interrupt()
    assert pending.result()[0].errno == errno.EINTR


# One CPU is the reader's forever.
@pytest.mark.requirement("L14")
@pytest.mark.zvmlab(cpus=2)
def test_5_read_after_a_sever_with_a_record_pending_spins(guest: Guest) -> None:
    """The path is gone; the driver asks CP again and again, from address 0."""
    fd = open_account(guest)
    make(guest.control, "*ACCOUNT", b"record")
    settle(guest)
    assert sever(guest.control, "*ACCOUNT", 44) == 1
    settle(guest)
    begin_read(guest.agent.worker("reader"), fd)
    await_spinning(guest.control)


# As above.
@pytest.mark.requirement("L3")
@pytest.mark.zvmlab(cpus=2)
def test_6_second_message_takes_the_place_of_the_first(guest: Guest) -> None:
    """The record of the last is read; then the driver asks for it once more, forever."""
    fd = open_account(guest)
    with armed(guest.control, Fault("recording.message", "duplicate", name="*ACCOUNT")):
        make(guest.control, "*ACCOUNT", b"record")
    settle(guest)
    assert guest.agent.read(fd, 4096).data == framed(b"record")
    begin_read(guest.agent.worker("reader"), fd)
    await_spinning(guest.control)


@pytest.mark.requirement("L4")
def test_7_rest_of_a_record_is_expected_after_the_next_open(guest: Guest) -> None:
    """A reader that closes within a long record: the next one gets old bytes, and no length."""
    agent = guest.agent
    agent.modprobe(MODULE).check()
    with opened(agent, ACCOUNT) as fd:
        make(guest.control, "*ACCOUNT", b"x" * 5000)
        assert len(agent.read(fd, 65536).data) == 4 + PART
    with opened(agent, ACCOUNT) as fd:
        make(guest.control, "*ACCOUNT", b"record")
        found = agent.read(fd, 65536).data
    # The first record had 912 bytes left; those behind the new record are of the first read.
    assert len(found) == 5000 - PART + 4
    assert found[:6] == b"record" and found[6:-4] == b"x" * (5000 - PART - 6)


@pytest.mark.requirement("L3")
def test_9_receive_that_cp_refuses_is_given_again_for_ever(guest: Guest) -> None:
    """The driver knows two of CP's codes; with another one it does not wait for a message."""
    fd = open_account(guest)
    make(guest.control, "*ACCOUNT", b"record")
    settle(guest)
    with armed(guest.control, Fault("iucv.receive", "rc", 8, name="*ACCOUNT")) as rules:
        begin_read(guest.agent.worker("reader"), fd)
        await_spinning(guest.control)
    assert rules[0].fired >= MANY


@pytest.mark.requirement("L13")
def test_10_open_waits_for_ever_when_cp_does_not_answer(guest: Guest) -> None:
    """No signal ends it, unlike a read that waits."""
    guest.agent.modprobe(MODULE).check()
    opener = guest.agent.worker("opener")
    thread = thread_of(opener)
    with armed(guest.control, Fault("recording.connect", "drop", name="*ACCOUNT")) as rules:
        batch = opener.batch()
        batch.open(ACCOUNT.path)
        batch.start(timeout=SECONDS).forget()
        assert await_sleep(guest.agent, thread, OPENAT) == "D"
    assert rules[0].fired == 1
    opener.interrupt()
    assert await_sleep(guest.agent, thread, OPENAT) == "D"


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
