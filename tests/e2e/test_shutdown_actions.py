# SPDX-License-Identifier: MIT
"""CP commands that Linux gives when it ends: its shutdown action vmcmd, and what CP says then."""

from __future__ import annotations

import contextlib
import errno
import os
import re

import pytest

from zvmlab.agent.agent import Power
from zvmlab.base.errors import EmulatorError
from zvmlab.cp.faults import Fault, arm
from zvmlab.guest.console import DISABLED_WAIT, PANIC
from zvmlab.guest.guest import Guest

SECONDS = 180.0
FIRMWARE = "/sys/firmware"
BOOT_ID = "/proc/sys/kernel/random/boot_id"
TRIGGERS = ("halt", "panic", "poff", "reboot", "restart")
POWER = {"halt": Power.HALT, "poff": Power.OFF, "reboot": Power.REBOOT}
CP_LONGEST = 240
STOPPED = "HCPGSP2629I The virtual machine is placed in CP mode due to a SIGP stop from CPU {:02X}."
WAITS = r"HCPGIR450W CP entered; disabled wait PSW 000[02]0001 80000000 [0-9A-F]{8} [0-9A-F]{8}"
USERID = "LINUX001 AT ZVMLAB"

pytestmark = [pytest.mark.requirement("V12")]


@pytest.fixture
def machine(guest: Guest) -> Guest:
    """A guest whose emulator restarts it, ends with it, and tells CP of CPUs that stop."""
    if guest.config.backend == "hercules":
        pytest.skip("the port for Hercules neither restarts the machine nor sees CPUs that stop")
    return guest


def set_action(guest: Guest, trigger: str, commands: str) -> None:
    """Linux gives CP these commands, one a line, at *trigger*."""
    guest.agent.write_file(f"{FIRMWARE}/vmcmd/on_{trigger}", commands.encode())
    guest.agent.write_file(f"{FIRMWARE}/shutdown_actions/on_{trigger}", b"vmcmd\n")
    assert guest.agent.read_file(f"{FIRMWARE}/vmcmd/on_{trigger}").decode() == f"{commands}\n"
    assert guest.agent.read_file(f"{FIRMWARE}/shutdown_actions/on_{trigger}") == b"vmcmd\n"


def refused(guest: Guest, path: str, text: bytes) -> int:
    """The error of writing that."""
    fd = guest.agent.open(path, os.O_WRONLY).check()
    error = guest.agent.write(fd, text).errno
    assert guest.agent.close(fd).errno == 0
    return error


def pull(guest: Guest, trigger: str) -> None:
    """Do what *trigger* is about; the guest's agent does not answer any more."""
    guest.emulator.expect_exit()
    if trigger == "restart":
        assert guest.cp("SYSTEM RESTART").rc == 0
    elif trigger == "panic":
        batch = guest.agent.worker("sysrq").batch()
        batch.write(batch.open("/proc/sysrq-trigger", os.O_WRONLY), b"c")
        batch.start()
    else:
        with contextlib.suppress(EmulatorError):
            guest.agent.power(POWER[trigger])


def gives(guest: Guest, *commands: tuple[str, int]) -> None:
    """Linux gives these commands in this order, and CP's return codes are these."""
    for command, rc in commands:
        event = guest.control.wait_event("command", SECONDS)
        assert event.data == {"command": command, "rc": rc}


def shows(guest: Guest, *lines: str) -> None:
    """CP writes these lines, as patterns, to the guest's console."""
    for line in lines:
        event = guest.control.wait_event("console", SECONDS, user="LINUX001")
        assert re.fullmatch(line, event.data["text"])


def follows(guest: Guest, trigger: str, first: bytes) -> None:
    """What Linux does behind the commands, if CP lets it, and what CP says of that."""
    if trigger == "reboot":
        guest.control.wait_event("reset", SECONDS)
        guest.await_agent()
        assert guest.agent.read_file(BOOT_ID) != first
    elif trigger in ("halt", "poff"):
        shows(guest, re.escape(STOPPED.format(0)))
        assert guest.emulator.wait(SECONDS) == 0
    else:
        shows(guest, WAITS)
        kinds = (PANIC, DISABLED_WAIT) if trigger == "panic" else (DISABLED_WAIT,)
        guest.expect_crash(*kinds, seconds=SECONDS)


@pytest.mark.parametrize("trigger", TRIGGERS)
def test_commands_run_before_the_end(machine: Guest, trigger: str) -> None:
    """Several, a refused one among them; their responses are on the console; then the end."""
    first = machine.agent.read_file(BOOT_ID)
    machine.agent.write_file("/proc/sys/kernel/panic", b"0")
    set_action(machine, trigger, f"QUERY USERID\nBOGUS {trigger}\nQUERY VIRTUAL STORAGE")
    pull(machine, trigger)
    gives(machine, ("QUERY USERID", 0), (f"BOGUS {trigger}", 1), ("QUERY VIRTUAL STORAGE", 0))
    shows(machine, USERID, "HCPCMD001E Unknown CP command: BOGUS", "STORAGE = .*")
    follows(machine, trigger, first)


@pytest.mark.zvmlab(cpus=2)
def test_all_cpus_stop(machine: Guest) -> None:
    """Messages about a CPU have its number, as soon as there are several."""
    set_action(machine, "poff", "QUERY USERID")
    pull(machine, "poff")
    last = machine.control.wait_event("console", SECONDS, user="LINUX001").data["text"]
    stopped = re.fullmatch(rf"(0[01]): {STOPPED.format(0)[:-3]}(0[01])\.", last)
    assert stopped and stopped[1] != stopped[2]
    shows(machine, USERID, rf"{stopped[2]}: {STOPPED.format(int(stopped[2]))[:-1]}\.")
    assert machine.emulator.wait(SECONDS) == 0


@pytest.mark.parametrize("trigger", ("halt", "panic"))
def test_logoff_ends_the_machine_at_once(machine: Guest, trigger: str) -> None:
    """No command behind it runs, and Linux neither stops its CPU nor waits."""
    set_action(machine, trigger, "QUERY USERID\nLOGOFF\nQUERY USERID")
    pull(machine, trigger)
    gives(machine, ("QUERY USERID", 0), ("LOGOFF", 0))
    shows(machine, USERID)
    assert machine.control.wait_event("machine", SECONDS).data["request"] == "logoff"
    if trigger == "panic":
        machine.expect_crash(PANIC, seconds=SECONDS)
    assert machine.emulator.wait(SECONDS) == 0
    assert not machine.control.events("command")


def test_longest_commands(machine: Guest) -> None:
    """All that CP takes, in one command; Linux 6.1 keeps 127 characters of it."""
    old = machine.agent.read_file("/proc/sys/kernel/osrelease").startswith(b"6.1.")
    longest = 127 if old else CP_LONGEST
    command = "MSG * " + "x" * (longest - 6)
    set_action(machine, "halt", command)
    path = f"{FIRMWARE}/vmcmd/on_halt"
    if old:
        machine.agent.write_file(path, command.encode() + b"yz")
    else:
        assert refused(machine, path, command.encode() + b"yz") == errno.E2BIG
    assert machine.agent.read_file(path).decode() == f"{command}\n"
    pull(machine, "halt")
    gives(machine, (command, 0))
    shows(machine, rf"\d\d:\d\d:\d\d  \* MSG FROM LINUX001: x{{{longest - 6}}}")


def test_signal_to_shut_down_leaves_no_time_for_commands(machine: Guest) -> None:
    """Linux answers the signal with a wait of its own instead (its sclp_quiesce.c)."""
    set_action(machine, "poff", "QUERY USERID")
    machine.emulator.expect_exit()
    assert machine.cp("SIGNAL SHUTDOWN LINUX001").rc == 0
    assert machine.emulator.wait(SECONDS) == 0
    assert not machine.control.events("command")
    assert not [event for event in machine.control.events("console") if USERID in str(event.data)]


def test_command_that_cp_drops_ends_nothing(machine: Guest) -> None:
    """Linux stops its CPU where CP should have ended the machine."""
    set_action(machine, "poff", "LOGOFF")
    arm(machine.control, Fault("diag08.command", kind="drop", name="LOGOFF"))
    pull(machine, "poff")
    shows(machine, re.escape(STOPPED.format(0)))
    assert machine.emulator.wait(SECONDS) == 0


@pytest.mark.zvmlab(command_line='vmhalt="QUERY USERID" vmpoff=LOGOFF vmpanic=VMDUMP vmreboot=#')
def test_kernel_parameters(machine: Guest) -> None:
    """They set the commands, and the action with them; quotes are taken off."""
    commands = {"halt": "QUERY USERID", "poff": "LOGOFF", "panic": "VMDUMP", "reboot": "#"}
    for trigger in TRIGGERS:
        command = machine.agent.read_file(f"{FIRMWARE}/vmcmd/on_{trigger}").decode()
        action = machine.agent.read_file(f"{FIRMWARE}/shutdown_actions/on_{trigger}").decode()
        assert command == commands.get(trigger, "") + "\n"
        assert action == ("vmcmd\n" if trigger in commands else "stop\n")
    pull(machine, "halt")
    gives(machine, ("QUERY USERID", 0))
    shows(machine, USERID)


def test_wrong_actions_are_refused(guest: Guest) -> None:
    """EINVAL, and the action stays."""
    path = f"{FIRMWARE}/shutdown_actions/on_halt"
    for wrong in (b"vm", b"vmcmdx", b"\n", b"VMCMD"):
        assert refused(guest, path, wrong) == errno.EINVAL
    assert guest.agent.read_file(path) == b"stop\n"
