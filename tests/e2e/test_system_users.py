# SPDX-License-Identifier: MIT
"""Users of one system who log each other on and off, and send each other messages."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from test_hyptop import hyptop_files, screen
from test_system import LIMIT, connected, hypfs_users, names, send_and_compare
from vmlogrdr_lab import ACCOUNT, MODULE, opened, read_record
from waiting import wait_until

from zvmlab.guest.guest import Guest
from zvmlab.guest.system import System

if TYPE_CHECKING:
    from conftest import Commands

ANY_CLASS: dict[str, object] = {"cp": {"class": "ABCEG"}}
LATER = {"later": True}


def log_on(system: System, userid: str) -> Guest:
    """The guest of a user for whom XAUTOLOG has just asked; it is up."""
    assert system.next_start(LIMIT) == userid
    guest = system.guest(userid, system.users[userid])
    guest.boot()
    return guest


def await_log_off(watching: Guest, userid: str) -> str:
    """What the operator is told of it."""
    while True:
        event = watching.control.wait_event("console", LIMIT, user="OPERATOR")
        text = str(event.data["text"])
        if f"LOGOFF AS  {userid}" in text:
            return text[9:]


@pytest.mark.representative
@pytest.mark.requirement("S10")
@pytest.mark.zvmlab_system(ALICE=ANY_CLASS, BOB=LATER)
def test_logged_on_forced_and_logged_on_again(
    system: System, vmcp_in: Callable[[Guest], Commands]
) -> None:
    """By a guest's own commands; hypfs and QUERY NAMES show who is there."""
    alice = system.guests["ALICE"]
    vmcp = vmcp_in(alice)
    assert vmcp("QUERY BOB").text == "HCPCQU045E BOB not logged on\n"
    assert vmcp("XAUTOLOG CAROL").rc == 53
    for number in range(2):
        assert vmcp("XAUTOLOG BOB").text == "Command accepted\n"
        bob = log_on(system, "BOB")
        assert "BOB" in names(alice) and "BOB" in hypfs_users(alice)
        assert vmcp("XAUTOLOG BOB").rc == 54
        calling, accepted = connected(
            alice.agent.worker(f"caller{number}"), bob.agent.worker("sockets"), "BOB"
        )
        send_and_compare(calling, accepted, 100, 3)
        bob.emulator.expect_exit()
        assert vmcp("FORCE BOB").rc == 0
        assert await_log_off(alice, "BOB").split() == (
            "USER DSC LOGOFF AS BOB USERS = 2 FORCED BY ALICE".split()
        )
        assert bob.emulator.wait(LIMIT) == 0
        assert calling.recv(1) == b""
        calling.close()
        assert "BOB" not in names(alice) and hypfs_users(alice) == {"ALICE"}
        bob.stop()


@pytest.mark.requirement("S6")
@pytest.mark.zvmlab_system(
    ALICE=ANY_CLASS | {"busybox": True}, BOB={"cpus": 2, "storage": "0.192M"}, CAROL={}
)
def test_hyptop_shows_the_neighbours(system: System, vmcp_in: Callable[[Guest], Commands]) -> None:
    """CPUs and storage of each; then one fewer."""
    alice = system.guests["ALICE"]
    for path, file in hyptop_files().items():
        alice.agent.run(["/bin/busybox", "mkdir", "-p", os.path.dirname(path)]).check()
        alice.agent.write_file(path, file.read_bytes(), 0o755)
    found = screen(alice, "#,a:mib", 1)
    shown = {name: found.get(name) for name in system.guests}
    assert shown == {"ALICE": ["1", "128.00"], "BOB": ["2", "192.00"], "CAROL": ["1", "128.00"]}
    system.guests["BOB"].emulator.expect_exit()
    assert vmcp_in(alice)("FORCE BOB").rc == 0
    await_log_off(alice, "BOB")
    found = screen(alice, "#", 1)
    assert "BOB" not in found
    assert {name: found.get(name) for name in ("ALICE", "CAROL")} == {
        "ALICE": ["1"],
        "CAROL": ["1"],
    }


@pytest.mark.requirement("S11")
@pytest.mark.zvmlab_system(ALICE=ANY_CLASS, BOB={})
def test_told_and_signalled(system: System, vmcp_in: Callable[[Guest], Commands]) -> None:
    """Messages on the other's console; SIGNAL SHUTDOWN forces whoever does not end in time."""
    alice, bob = system.guests["ALICE"], system.guests["BOB"]
    vmcp, bobs = vmcp_in(alice), vmcp_in(bob)

    def told(command: str) -> str:
        assert vmcp(command).rc == 0
        return str(bob.control.wait_event("console", LIMIT, user="BOB").data["text"])

    assert told("MSG BOB one").endswith("  * MSG FROM ALICE   : one")
    assert told("WARNING BOB two").endswith("  * WNG FROM ALICE   : two")
    assert told("MSGNOH BOB three") == "three"
    assert bobs("SET MSG OFF").rc == 0
    refused = vmcp("MSG BOB four")
    assert (refused.rc, refused.text) == (57, "HCPMFS057I BOB not receiving; MSG off\n")
    assert told("WNG BOB five").endswith("  * WNG FROM ALICE   : five")

    bob.machine.pause()  # so it cannot react
    bob.emulator.expect_exit()
    assert vmcp("SIGNAL SHUTDOWN BOB WITHIN 2").rc == 0
    assert "FORCED BY ALICE" in await_log_off(alice, "BOB")
    assert bob.emulator.wait(LIMIT) == 0


def _log_off(_alice: Guest, bob: Guest) -> None:
    bob.cp("LOGOFF")


def _power_off(_alice: Guest, bob: Guest) -> None:
    bob.agent.spawn(["sh", "-c", "poweroff -f"])


def _panic(_alice: Guest, bob: Guest) -> None:
    batch = bob.agent.worker("sysrq").batch()
    batch.write(batch.open("/proc/sysrq-trigger", os.O_WRONLY), b"c")
    batch.start(LIMIT)


def _kill(_alice: Guest, bob: Guest) -> None:
    bob.kill()


def _force(alice: Guest, _bob: Guest) -> None:
    alice.cp("FORCE BOB")


End = Callable[[Guest, Guest], None]


@pytest.mark.requirement("S12")
@pytest.mark.zvmlab_system(
    ALICE={
        "cp": {"class": "ABCEG", "directory": "IUCV ALLOW;IUCV ANY;IUCV *MSG;IUCV *ACCOUNT"},
        "modules": (MODULE,),
    },
    BOB={"busybox": True},
)
@pytest.mark.parametrize(
    "ends",
    [
        pytest.param([_log_off, _kill], id="two"),
        pytest.param([_power_off, _panic, _force], id="others", marks=pytest.mark.full),
    ],
)
def test_accounting_record_of_each_log_off(system: System, ends: list[End]) -> None:
    """However the machine ends, vmlogrdr of the other guest reads one record, with its user ID."""
    alice = system.guests["ALICE"]
    alice.agent.modprobe(MODULE).check()

    with opened(alice.agent, ACCOUNT) as fd:
        for end in ends:
            bob = system.guests["BOB"]
            if not bob.alive:
                bob = system.guest("BOB", system.users["BOB"])
                bob.boot()
            bob.emulator.expect_exit()
            end(alice, bob)
            record = read_record(alice.agent.worker("reader"), fd, 80)[4:-4]
            assert record[:16].decode("cp037") == "BOB     BOB     ", end
            assert record[78:].decode("cp037") == "01"
            wait_until(lambda: "BOB" not in names(alice), "the log-off of BOB")
            bob.stop()
