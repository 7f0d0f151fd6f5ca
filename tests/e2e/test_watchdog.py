# SPDX-License-Identifier: MIT
"""The kernel's diag288_wdt: CP's time bomb (DIAGNOSE X'288') as /dev/watchdog."""

from __future__ import annotations

import contextlib
import errno
import os
import struct
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest
from failcall import Fails, fails as fails
from failing import Failing
from memory import UNCACHED, settled

from zvmlab.agent.agent import Agent
from zvmlab.agent.calls import Both, CallResult
from zvmlab.cp.faults import Fault, armed
from zvmlab.guest.guest import Guest

if TYPE_CHECKING:
    from conftest import Build

MODULE, DEVICE = "diag288_wdt", "/dev/watchdog"
# linux/watchdog.h
KEEPALIVE, SETTIMEOUT, GETTIMEOUT = 0x80045705, 0xC0045706, 0x80045707
SECONDS = 180.0
SPECIFICATION = 6
NOTHING = {"active": False, "conceal": False, "seconds": 0, "command": ""}

pytestmark = [
    pytest.mark.zvmlab(modules=(MODULE,)),
]


def bomb(guest: Guest) -> Mapping[str, Any]:
    """CP's view of the time bomb."""
    found: Mapping[str, Any] = guest.control.execute("query-watchdog")
    return found


def load(guest: Guest, parameters: str = "") -> None:
    """The module, with what it needs."""
    guest.agent.modprobe(MODULE, parameters).check()


@contextlib.contextmanager
def opened(agent: Agent) -> Iterator[int]:
    """The device, open within the block; it is stopped in the end."""
    fd = agent.open(DEVICE, os.O_WRONLY).check()
    yield fd
    assert agent.write(fd, b"V").check() == 1
    agent.close(fd).check()


def timeout(agent: Agent, fd: int, request: int, seconds: int = 0) -> tuple[int, int]:
    """An ioctl about the timeout: the error number, and the seconds that it leaves."""
    result = agent.ioctl(fd, request, Both(struct.pack(">i", seconds)))
    return result.errno, int.from_bytes(result.data, "big")


@pytest.mark.requirement("Z1")
def test_module_asks_and_leaves_nothing_set(guest: Guest) -> None:
    """Loading sets a time bomb and cancels it; so does loading once more."""
    for _ in range(2):
        load(guest)
        assert bomb(guest) == NOTHING
        guest.agent.rmmod(MODULE).check()


@pytest.mark.requirement("Z2")
def test_open_sets_timeout_and_command(guest: Guest) -> None:
    """The module's defaults are used."""
    load(guest)
    with opened(guest.agent):
        assert bomb(guest) == NOTHING | {
            "active": True,
            "seconds": 30,
            "command": "SYSTEM RESTART",
        }
    assert bomb(guest) == NOTHING


@pytest.mark.requirement("Z2")
@pytest.mark.parametrize("length", (1, 230))
def test_command_is_that_of_the_parameter(guest: Guest, length: int) -> None:
    """In upper case, whatever its length."""
    load(guest, f"cmd={'m' * length}")
    with opened(guest.agent):
        assert bomb(guest)["command"] == "M" * length


@pytest.mark.requirement("Z3", "Z4")
@pytest.mark.representative
def test_expiry_runs_the_command(guest: Guest) -> None:
    """After 15 s of the guest's time CP sends what the command says; then nothing is set."""
    agent = guest.agent
    load(guest, 'cmd="msg operator bang"')
    with opened(agent) as fd:
        assert timeout(agent, fd, SETTIMEOUT, 15) == (0, 15)
        # Nothing comes from outside meanwhile, so nobody has to wait for the guest's seconds.
        with guest.passing(15):
            heard = guest.control.wait_event("watchdog", SECONDS)
        assert heard.data == {"user": "LINUX001", "command": "MSG OPERATOR BANG", "rc": 0}
        text = guest.control.wait_event("console", SECONDS, user="OPERATOR").data["text"]
        assert text.endswith("* MSG FROM LINUX001: BANG")
        assert bomb(guest) == NOTHING
        # A write sets it once more.
        agent.write(fd, b"x").check()
        assert bomb(guest)["seconds"] == 15


@pytest.mark.requirement("Z3")
def test_who_puts_it_off_in_time_is_left_alone(guest: Guest) -> None:
    """Forty seconds of the guest's time, with a write or an ioctl in each second."""
    agent = guest.agent
    load(guest)
    with opened(agent) as fd:
        assert timeout(agent, fd, SETTIMEOUT, 15) == (0, 15)
        batch = agent.batch()
        for second in range(40):
            batch.sleep(1)
            if second % 2:
                batch.write(fd, b"x")
            else:
                batch.ioctl(fd, KEEPALIVE)
        for result in batch.run(timeout=SECONDS):
            result.check()
        assert bomb(guest)["active"]
    assert guest.control.events("watchdog") == []


@pytest.mark.requirement("Z4")
def test_command_has_the_guests_classes(guest: Guest) -> None:
    """CP does nothing that the guest may not do."""
    load(guest, 'cmd="msgnoh operator bang"')
    with opened(guest.agent):
        assert guest.control.execute("watchdog-expire") == {"expired": True}
        assert guest.control.wait_event("watchdog", SECONDS).data["rc"] == 1
        assert guest.control.execute("watchdog-expire") == {"expired": False}


@pytest.mark.requirement("Z5")
def test_timeout_has_limits_einval(guest: Guest) -> None:
    """15 s, CP's least, and one hour; each change is told to CP at once."""
    agent = guest.agent
    load(guest)
    with opened(agent) as fd:
        for seconds in (15, 16, 3599, 3600):
            assert timeout(agent, fd, SETTIMEOUT, seconds) == (0, seconds)
            assert timeout(agent, fd, GETTIMEOUT) == (0, seconds)
            assert bomb(guest)["seconds"] == seconds
        for seconds in (-1, 0, 14, 3601, 0x7FFFFFFF):
            assert timeout(agent, fd, SETTIMEOUT, seconds)[0] == errno.EINVAL
        assert bomb(guest)["seconds"] == 3600


@pytest.mark.requirement("Z6")
def test_close_without_v_leaves_it_set(guest: Guest) -> None:
    """The log says so.  Who opens it again can stop it."""
    agent = guest.agent
    load(guest)
    since = agent.log_position()
    fd = agent.open(DEVICE, os.O_WRONLY).check()
    agent.write(fd, b"Vx").check()
    agent.write(fd, b"x").check()
    agent.close(fd).check()
    assert bomb(guest)["active"]
    assert any("watchdog did not stop!" in line.text for line in agent.dmesg(since))
    with opened(agent):
        pass
    assert bomb(guest) == NOTHING


@pytest.mark.requirement("Z6")
@pytest.mark.kernel_defect(
    13,
    "the module goes while the time bomb is set",
    seen=r"assert 0 == 11",
    kernels=("bookworm",),
)
def test_time_bomb_that_is_set_keeps_the_module(guest: Guest) -> None:
    """Somebody must be able to put it off."""
    agent = guest.agent
    load(guest)
    agent.close(agent.open(DEVICE, os.O_WRONLY).check()).check()
    assert bomb(guest)["active"]
    result = agent.rmmod(MODULE)
    if not bomb(guest)["active"]:
        raise RuntimeError("CP has lost the time bomb")
    assert result.errno == errno.EAGAIN


@pytest.mark.requirement("Z7")
def test_nowayout_never_stops_it(guest: Guest) -> None:
    """V and close, twice."""
    load(guest, "nowayout=1")
    for _ in range(2):
        with opened(guest.agent):
            pass
        assert bomb(guest)["active"]


@contextlib.contextmanager
def time_bomb_at_a_boot(guest: Guest) -> Iterator[None]:
    """The device is left open: the kernel or the reset cancels it."""
    load(guest)
    guest.agent.open(DEVICE, os.O_WRONLY).check()
    assert bomb(guest)["active"]
    yield
    assert bomb(guest) == NOTHING


@pytest.mark.requirement("Z8")
def test_reset_cancels_it(guest: Guest) -> None:
    with time_bomb_at_a_boot(guest):
        guest.reboot()


@pytest.mark.requirement("Z9")
def test_second_open_is_ebusy(guest: Guest) -> None:
    """And the module is in use."""
    load(guest)
    with opened(guest.agent):
        assert guest.agent.open(DEVICE, os.O_WRONLY).errno == errno.EBUSY
        assert guest.agent.rmmod(MODULE).errno == errno.EAGAIN
    with opened(guest.agent):
        pass


@pytest.mark.requirement("Z10")
def test_conceal_is_asked_for(guest: Guest) -> None:
    """With the parameter, not without."""
    load(guest, "conceal=1")
    with opened(guest.agent):
        assert bomb(guest)["conceal"]


@pytest.mark.requirement("Z1", "Z11")
@pytest.mark.zvmlab(modules=(MODULE,), faults=[Fault("diag288.init", "pgm", SPECIFICATION)])
def test_without_a_time_bomb_the_module_does_not_load(guest: Guest) -> None:
    """EINVAL; Linux 7.2 has asked when it booted, and says ENODEV."""
    assert guest.agent.modprobe(MODULE).errno in (errno.EINVAL, errno.ENODEV)


@pytest.mark.requirement("Z11")
@pytest.mark.zvmlab(modules=(MODULE,), crashes=("panic", "oops"))  # 6.1 and 6.12 warn
def test_refusal_reaches_the_program(guest: Guest) -> None:
    """A program interruption at INIT: open and keep-alive fail; at CANCEL the bomb stays."""
    agent, control = guest.agent, guest.control
    load(guest)
    with armed(control, Fault("diag288.init", "pgm", SPECIFICATION)):
        assert agent.open(DEVICE, os.O_WRONLY).errno == errno.EINVAL
    with opened(agent) as fd:
        with armed(control, Fault("diag288.init", "pgm", SPECIFICATION)):
            assert agent.ioctl(fd, KEEPALIVE).errno == errno.EINVAL
        assert bomb(guest)["active"]
    with armed(control, Fault("diag288.cancel", "pgm", SPECIFICATION)):
        with opened(agent):
            pass
        assert bomb(guest)["active"]
    with opened(agent):
        pass
    assert bomb(guest) == NOTHING


@pytest.mark.not_debug(
    "the driver leaves its buffer if CP does not cancel, which kmemleak reports",
    kernels=("trixie:debug",),
    defect="diag288_wdt-63",
)
@pytest.mark.requirement("Z11")
def test_cancel_that_cp_refuses_keeps_the_module_out(guest: Guest) -> None:
    """Loading sets a time bomb that cannot be cancelled: EINVAL; Linux 7.2 tries when it boots."""
    with armed(guest.control, Fault("diag288.cancel", "pgm", SPECIFICATION)) as rules:
        error = guest.agent.modprobe(MODULE).errno
    assert error == (errno.EINVAL if rules[0].fired else 0)
    guest.agent.modprobe(MODULE)
    with opened(guest.agent):
        assert bomb(guest)["active"]
    assert bomb(guest) == NOTHING


@pytest.mark.not_debug(
    "the driver leaves its buffer if it cannot be registered, which kmemleak reports",
    kernels=("trixie:debug", "sid:debug"),
    defect="diag288_wdt-63",
)
@pytest.mark.requirement("Z12")
def test_loading_without_memory_is_enomem(guest: Guest, program: Build) -> None:
    """Each allocation fails once; then it can be loaded, and sets the time bomb."""
    load(guest)
    guest.agent.rmmod(MODULE).check()
    assert Failing(guest).loads(program, MODULE)[errno.ENOMEM] > 0
    load(guest)
    with opened(guest.agent):
        assert bomb(guest)["active"]


@pytest.mark.not_debug("KASAN keeps freed objects in their caches for a while", coverage=True)
@pytest.mark.requirement("Z12")
@pytest.mark.zvmlab(modules=(MODULE,), command_line=UNCACHED)
@pytest.mark.kernel_defect(
    63,
    "the buffer of a load that fails is never freed",
    seen=r"assert (9|1\d)\d < 50",
    kernels=("trixie", "bookworm-backports", "sid"),
)
@pytest.mark.timeout(600)
def test_load_that_fails_leaves_nothing(guest: Guest, fails: Fails) -> None:
    """A hundred of them, whose watchdog the kernel does not register."""
    load(guest)
    guest.agent.rmmod(MODULE).check()
    for count in (5, 100):
        before = settled(guest)
        for _ in range(count):
            with fails("", ["watchdog_register_device"]):
                assert guest.agent.insmod(MODULE).errno == errno.ENOMEM
    left = settled(guest).growth(before)
    assert left < 50


@pytest.mark.requirement("Z12")
def test_open_without_memory_is_enomem(guest: Guest) -> None:
    """Nothing is set then, and the device can be opened afterwards."""
    load(guest)
    worker = guest.agent.worker("opener")

    def undo(result: CallResult) -> None:
        worker.write(result.ret, b"V").check()
        worker.close(result.ret).check()

    errors = Failing(guest).each(worker, lambda batch: batch.open(DEVICE, os.O_WRONLY), undo)
    assert {0, errno.ENOMEM} <= set(errors) <= {0, errno.ENOMEM, errno.EFAULT}
    assert bomb(guest) == NOTHING
    with opened(guest.agent):
        assert bomb(guest)["active"]
