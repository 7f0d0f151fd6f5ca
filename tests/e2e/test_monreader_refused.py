# SPDX-License-Identifier: MIT
"""No connection to *MONITOR: open fails with EIO, CP's code is in the log."""

from __future__ import annotations

import contextlib
import errno
import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from readers import RunningReader, install, opening

from zvmlab.base.errors import Timeout
from zvmlab.cp.faults import Fault, armed
from zvmlab.cp.peer import EventType, Flag, Peer
from zvmlab.guest.config import UPSTREAM_DRIVER
from zvmlab.guest.guest import Guest
from zvmlab.monitor.monitor import DEVICE, DataSets
from zvmlab.monitor.steps import (
    OPENAT,
    SERVICE,
    Log,
    await_sleep,
    monitor_user,
    service_paths,
    thread_of,
)

if TYPE_CHECKING:
    from conftest import Build, OneSet

GUEST = "LINUX001"
TOO_MANY_USERS = 0x1C
CODE = 44
# Rules that are armed at once; CP's table has room for 64.
PART = 64


def connecting(code: int) -> str:
    """The log's line if CONNECT fails."""
    return f"Connecting to the z/VM *MONITOR system service failed with rc={code}"


def disconnected(code: int) -> str:
    """The log's line if CP severs."""
    return f"z/VM *MONITOR system service disconnected with rc={code}"


def opens(guest: Guest, count: int) -> list[int]:
    """errno of so many attempts to open the device; none may succeed."""
    batch = guest.agent.batch()
    for _ in range(count):
        batch.open(DEVICE)
    results = batch.run()
    assert [result.ret for result in results] == [-1] * count
    return [result.errno for result in results]


def patience(driver: str) -> int:
    """Seconds to wait for what the kernel's own driver never does: with it, as long as it takes."""
    return 4 if driver == UPSTREAM_DRIVER else 60


@contextlib.contextmanager
def silent(guest: Guest) -> Iterator[None]:
    """CP does not answer CONNECT within the block; whoever waits for it still is let go at the end.

    *MONITOR accepts, but the interruption that says so is lost.
    """
    try:
        with armed(guest.control, Fault("interrupt", "drop", name=SERVICE, nth=1)):
            yield
    finally:
        guest.control.execute("monitor-sever", user=GUEST, code=CODE)


def refuse(guest: Guest, faults: list[Fault], texts: list[str]) -> None:
    """One open for each fault fails with EIO and leaves its line in the log, and no path."""
    log = Log(guest.agent)
    with armed(guest.control, *faults) as rules:
        assert opens(guest, len(faults)) == [errno.EIO] * len(faults)
    assert [rule.fired for rule in rules] == [1] * len(faults)
    assert log.texts() == texts
    assert service_paths(guest) == []


@pytest.mark.requirement("M5", "M30")
@pytest.mark.parametrize("first", range(0, 256, PART))
def test_each_connect_code_is_eio(monreader: Guest, one_set: OneSet, first: int) -> None:
    """CP ends CONNECT with each IPRCODE, 15 (no directory statement) included: EIO, logged."""
    codes = range(max(first, 1), first + PART)
    faults = [
        Fault("iucv.connect", "rc", code, name=SERVICE, nth=nth + 1)
        for nth, code in enumerate(codes)
    ]
    refuse(monreader, faults, [connecting(code) for code in codes])
    one_set(monreader)


@pytest.mark.requirement("M30")
@pytest.mark.parametrize("code", (2, 3))
@pytest.mark.representative
def test_connect_with_condition_code_is_eio(monreader: Guest, one_set: OneSet, code: int) -> None:
    """CONNECT ends with condition code 2 or 3: open fails with EIO, the code is in the log."""
    fault = Fault("iucv.connect", "cc", code, name=SERVICE, nth=1)
    refuse(monreader, [fault], [connecting(code)])
    one_set(monreader)


@pytest.mark.requirement("M30")
@pytest.mark.parametrize("first", range(0, 256, PART))
def test_each_sever_code_is_eio(monreader: Guest, one_set: OneSet, first: int) -> None:
    """CP severs instead of accepting, with each code: open fails with EIO, the code is logged."""
    codes = range(first, first + PART)
    faults = [
        Fault("monitor.connect", "sever", code, user=GUEST, nth=nth + 1)
        for nth, code in enumerate(codes)
    ]
    refuse(monreader, faults, [disconnected(code) for code in codes])
    one_set(monreader)


@pytest.mark.requirement("M30")
def test_too_many_users_is_eio(monreader: Guest, one_set: OneSet) -> None:
    """16 users are connected to *MONITOR already: the 17th is refused, until one leaves."""
    log = Log(monreader.agent)
    ipuser = b"\x01\xc0" + bytes(6) + "MONDCSS ".encode("cp037")
    with Peer(monreader.control, "TOOLKIT") as toolkit:
        for _ in range(16):
            path = toolkit.connect(SERVICE, ipuser, msglim=255, flags=Flag.RMDATA).path
            toolkit.wait(EventType.COMPLETE, 60, path)
        assert opens(monreader, 1) == [errno.EIO]
        assert log.texts() == [disconnected(TOO_MANY_USERS)]
        toolkit.sever(path)
        with DataSets(monreader.agent):
            pass
    one_set(monreader)


@pytest.mark.requirement("M30")
def test_severed_while_open_waits_is_eio(monreader: Guest, one_set: OneSet) -> None:
    """open waits for CP, which severs in the end: EIO, the code is in the log."""
    worker, log = monreader.agent.worker("reader"), Log(monreader.agent)
    thread = thread_of(worker)
    with silent(monreader):
        batch = worker.batch()
        batch.open(DEVICE)
        pending = batch.start()
        await_sleep(monreader.agent, thread, OPENAT)
        assert monitor_user(monreader.control)["name"] == GUEST
    assert pending.result()[0].errno == errno.EIO
    assert log.texts() == [disconnected(CODE)]
    one_set(monreader)


@pytest.mark.requirement("M30", "M36")
@pytest.mark.upstream_defect(
    5,
    "no signal reaches who waits in open for CP's answer",
    seen="asleep in state D, and SIGKILL did not end it",
)
def test_open_of_a_silent_cp_can_be_killed(
    monreader: Guest, zvmlab_driver: str, one_set: OneSet, program: Build
) -> None:
    """CP does not answer CONNECT: whoever waits in open can be killed, and the next open works."""
    install(monreader.agent, program)
    with silent(monreader):
        reader = RunningReader.start(monreader.agent, opening(0))
        state = reader.await_sleep(OPENAT)
        reader.process.signal(signal.SIGKILL)
        try:
            killed = reader.process.wait(timeout=patience(zvmlab_driver))
        except Timeout:
            killed = None
    # Now even who cannot be killed comes back, and CP has no path to it any more.
    assert (killed or reader.process.wait()).signal == signal.SIGKILL
    one_set(monreader)
    assert killed is not None, f"asleep in state {state}, and SIGKILL did not end it"


@pytest.mark.requirement("M30")
@pytest.mark.upstream_defect(
    5, "open waits for CP's answer without a limit", seen="open did not return within 4 seconds"
)
def test_open_of_a_silent_cp_has_a_limit(
    monreader: Guest, zvmlab_driver: str, one_set: OneSet, pytestconfig: pytest.Config
) -> None:
    """CP does not answer CONNECT: open fails when its time is over, with EIO or ETIMEDOUT."""
    corrected = "monreader-5" in pytestconfig.getoption("corrected")
    agent, seconds = monreader.agent, 60 if corrected else patience(zvmlab_driver)
    agent.rmmod("monreader").check()
    agent.modprobe("monreader", {"open_timeout": 1}).check()
    with silent(monreader):
        batch = agent.worker("reader").batch()
        batch.open(DEVICE)
        pending = batch.start()
        try:
            failed = pending.result(timeout=seconds)[0].errno
        except Timeout:
            failed = 0
            assert monitor_user(monreader.control)["name"] == GUEST
    if not failed:
        assert pending.result()[0].errno == errno.EIO  # from the sever that let it go
    one_set(monreader)
    assert failed in (errno.EIO, errno.ETIMEDOUT), f"open did not return within {seconds} seconds"
