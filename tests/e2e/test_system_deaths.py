# SPDX-License-Identifier: MIT
"""Guests that end at any call while all talk to each other; tests/unit/sim/system has a thousand more."""

from __future__ import annotations

import contextlib
import os
import random
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from iucv_socket import Socket
from netiucv_lab import need_module
from system_load import SEGMENTS, USER, Load
from test_system import LIMIT, connected, names
from waiting import wait_until

from zvmlab.base.errors import EmulatorError, ZvmlabError
from zvmlab.cp.faults import Fault, armed
from zvmlab.guest.guest import Guest
from zvmlab.guest.system import System

if TYPE_CHECKING:
    from conftest import Build

pytestmark = pytest.mark.first_kernel
ALL = ("ALICE", "BOB", "CAROL")
SIZE = 5000
DEATHS, SEED, LATEST_CALL = 100, 1867, 2000


class Talk:
    """Messages from one guest to another, each read before the next, until one of the two has gone."""

    def __init__(self, calling: Socket, accepted: Socket) -> None:
        self.calling, self.accepted = calling, accepted
        self.messages = 0
        self.wrong: bytes | None = None
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        try:
            while not self.over.is_set():
                data = os.urandom(SIZE)
                self.calling.send(data)
                read = self.accepted.recv_all(SIZE)
                if read != data[: len(read)]:
                    self.wrong = read
                if len(read) < SIZE:
                    return
                self.messages += 1
        except (OSError, ZvmlabError):
            return

    def end(self) -> None:
        self.over.set()
        self.thread.join(LIMIT)
        assert not self.thread.is_alive()
        assert self.wrong is None
        for end in (self.calling, self.accepted):
            with contextlib.suppress(OSError, ZvmlabError):  # its guest is gone
                end.close()

    def await_more(self) -> None:
        """It goes on."""
        before = self.messages
        wait_until(lambda: self.messages > before + 5, "more messages")


def talk(system: System, number: int) -> dict[tuple[str, str], Talk]:
    """In a ring, each to the next."""
    found = {}
    for one, other in zip(ALL, ALL[1:] + ALL[:1]):
        client = system.guests[one].agent.worker(f"client{number}")
        server = system.guests[other].agent.worker(f"server{number}")
        found[one, other] = Talk(*connected(client, server, other))
    return found


def descriptors(system: System) -> int:
    """Of the process that has CP."""
    return len(list(Path(f"/proc/{system.process.pid}/fd").iterdir()))


def cut(system: System, victim: Guest, userid: str, call: int) -> None:
    """Its connection breaks at that call from now on."""
    other = next(guest for name, guest in system.guests.items() if name != userid)
    with armed(other.control, Fault("machine.link", "sever", user=userid, nth=call)):
        victim.emulator.wait(LIMIT)
    with pytest.raises(EmulatorError, match="the system .* has ended, and this machine with it"):
        victim.emulator.check()


def check_others(system: System, userid: str, talks: Mapping[tuple[str, str], Talk]) -> None:
    """Programs that talked to it read what it has sent, and the end; the other two go on."""
    for between, one in talks.items():
        if userid in between:
            one.thread.join(LIMIT)
            assert not one.thread.is_alive()
            left = one.accepted if between[0] == userid else one.calling
            while left.try_recv(SIZE).ret > 0:
                pass
        else:
            one.await_more()
    for name, guest in system.guests.items():
        if name != userid:
            wait_until(lambda: userid not in names(guest), f"the log-off of {userid}")


def resident_kib(system: System) -> int:
    """Memory of the process that has CP; without guests' storage, of which it has what it uses."""
    status = Path(f"/proc/{system.process.pid}/status").read_text("ascii")
    return int(status.split("RssAnon:")[1].split()[0])


@pytest.fixture
def has_netiucv(zvmlab_kernel: str) -> None:
    """Before there are guests, which could not have it."""
    need_module(zvmlab_kernel)


def die(system: System, userid: str, call: int) -> None:
    """At that call of its next ones; if it is not positive, killed after so many tenths of a ms."""
    victim = system.guests[userid]
    if call > 0:
        cut(system, victim, userid, call)
    else:
        time.sleep(-call / 10_000)
        victim.kill()


@pytest.mark.full
@pytest.mark.timeout(7200)
@pytest.mark.requirement("S2")
@pytest.mark.zvmlab_system(ALICE=USER, BOB=USER, CAROL=USER, segments=SEGMENTS)
def test_a_hundred_times_each_in_turn(has_netiucv: None, system: System, program: Build) -> None:
    """At any call of its next 2,000, or killed at any moment, while all services of CP are in use.

    After each death all of them go on in all guests, and the process does not grow.
    """
    chance = random.Random(SEED)
    load = Load(system, program("system_load"))
    for userid in ALL:
        load.start(userid)
    load.await_more()
    before, sizes = descriptors(system), []
    for number in range(DEATHS * len(ALL)):
        userid = ALL[number % len(ALL)]
        talks = talk(system, 0)
        for one in talks.values():
            one.await_more()
        victim = system.guests[userid]
        die(system, userid, chance.randint(-LATEST_CALL // 2, LATEST_CALL))
        check_others(system, userid, talks)
        victim.stop()
        for one in talks.values():
            one.end()
        system.guest(userid, victim.config).boot()
        load.start(userid)
        load.await_more()
        wait_until(
            lambda: descriptors(system) == before,
            f"{before} descriptors, as before death {number}",
            lambda: descriptors(system),
        )
        sizes.append(resident_kib(system))
    middle = len(sizes) // 2
    assert max(sizes[middle:]) <= max(sizes[:middle]) * 1.05


@pytest.mark.representative
@pytest.mark.requirement("S2")
@pytest.mark.zvmlab_system(ALICE={}, BOB={}, CAROL={})
def test_each_in_turn(system: System) -> None:
    """At its next call; at a later one, in the midst of a message; killed.  Then another one is there."""
    before = descriptors(system)
    for number, (userid, call) in enumerate((("BOB", 1), ("CAROL", 333), ("ALICE", None))):
        talks = talk(system, number)
        for one in talks.values():
            one.await_more()
        victim = system.guests[userid]
        if call is None:
            victim.kill()
        else:
            cut(system, victim, userid, call)
        check_others(system, userid, talks)
        victim.stop()
        for one in talks.values():
            one.end()
        system.guest(userid, victim.config).boot()
        wait_until(lambda: descriptors(system) == before, "what the guests before had")
    for one in talk(system, 3).values():
        one.await_more()
        one.end()
