# SPDX-License-Identifier: MIT
"""Two guests on one CP: AF_IUCV from one to the other, and what becomes of one when the other ends."""

from __future__ import annotations

import errno
import hashlib
import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from iucv_socket import STREAM, Socket
from netiucv_lab import OTHER, OWN, Datagrams, Interface, make, need_module
from test_smsg import Events, seen_by
from waiting import wait_until

from zvmlab.agent.wire import Call
from zvmlab.agent.worker import Worker
from zvmlab.base.errors import EmulatorError, UsageError
from zvmlab.guest.guest import Guest
from zvmlab.guest.system import System

if TYPE_CHECKING:
    from conftest import Build, Commands

LIMIT = 120.0


@pytest.fixture
def alice(system: System) -> Worker:
    return system.guests["ALICE"].agent.worker("sockets")


@pytest.fixture
def bob(system: System) -> Worker:
    return system.guests["BOB"].agent.worker("sockets")


def connected(
    client: Worker, server: Worker, user: str, kind: int = STREAM
) -> tuple[Socket, Socket]:
    """A socket of *client*'s guest and the one that *user*'s guest has accepted it with."""
    with Socket.make(server, kind, "SERVER") as listening:
        listening.listen(1)
        calling = Socket.make(client, kind, "CLIENT")
        calling.connect(user, "SERVER")
        return calling, listening.accept()


def send_and_compare(sender: Socket, receiver: Socket, size: int, count: int) -> None:
    """*count* messages of *size* random bytes arrive whole, once, and in order."""
    messages = [os.urandom(size) for _ in range(count)]
    for message in messages:
        assert sender.send(message) == size
        assert hashlib.sha256(receiver.recv_all(size)).digest() == hashlib.sha256(message).digest()


@pytest.mark.representative
@pytest.mark.requirement("S1")
@pytest.mark.parametrize("size", [100, 16_000])
def test_messages_both_ways(alice: Worker, bob: Worker, size: int) -> None:
    calling, accepted = connected(alice, bob, "BOB")
    send_and_compare(calling, accepted, size, 50)
    send_and_compare(accepted, calling, size, 50)
    assert calling.names(Call.GETPEERNAME) == ("BOB", "SERVER")
    assert accepted.names(Call.GETPEERNAME)[0] == "ALICE"
    calling.close()
    assert accepted.recv(1) == b""


@pytest.mark.representative
@pytest.mark.requirement("S1")
def test_who_is_not_there(system: System, alice: Worker) -> None:
    """errno of connect: nobody of that name; nobody who listens; a guest that has ended."""
    with Socket.make(alice, name="CLIENT") as client:
        assert client.try_connect("NOBODY", "SERVER").errno == errno.ENETUNREACH
    with Socket.make(alice, name="CLIENT") as client:
        assert client.try_connect("BOB", "NOSUCH").errno == errno.ECONNREFUSED
    system.guests["BOB"].stop()
    with Socket.make(alice, name="CLIENT") as client:
        assert client.try_connect("BOB", "SERVER").errno == errno.ENETUNREACH


@pytest.mark.representative
@pytest.mark.requirement("S2")
def test_killed(system: System, alice: Worker, bob: Worker) -> None:
    """SIGKILL of one emulator: recv of the other guest's program ends; a new guest takes its place."""
    calling, _ = connected(alice, bob, "BOB")
    batch = alice.batch()
    done = batch.call(Call.RECVFROM, calling.fd, bytes(100), 100, 0, 0, 0)
    pending = batch.start(LIMIT)
    ended = system.guests["BOB"]
    ended.kill()
    reply = pending.result(LIMIT)
    assert not reply.timed_out
    assert reply[done].ret <= 0
    calling.close()
    ended.stop()
    again = system.guest("BOB", ended.config)
    again.boot()
    calling, accepted = connected(alice, again.agent.worker("sockets"), "BOB")
    send_and_compare(calling, accepted, 100, 10)


@pytest.mark.representative
@pytest.mark.requirement("S3")
def test_system_ends(system: System) -> None:
    """The end of the process is that of all guests; each says so."""
    guests: list[Guest] = list(system.guests.values())
    system.process.kill()
    for guest in guests:
        guest.emulator.wait(LIMIT)
        with pytest.raises(
            EmulatorError, match="the system .* has ended, and this machine with it"
        ):
            guest.emulator.check()
        guest.stop()


def test_logged_on_once(system: System) -> None:
    guest = system.guests["ALICE"]
    assert guest.cp("QUERY USERID").response.startswith("ALICE ")
    with pytest.raises(UsageError, match="ALICE is logged on already"):
        system.guest("ALICE")


@pytest.fixture
def has_netiucv(zvmlab_kernel: str) -> None:
    """Before there are guests, which could not have it."""
    need_module(zvmlab_kernel)


@pytest.mark.representative
@pytest.mark.requirement("S5")
@pytest.mark.zvmlab_system(
    ALICE={"modules": ("netiucv",), "busybox": True}, BOB={"modules": ("netiucv",), "busybox": True}
)
def test_datagrams_between_guests(has_netiucv: None, system: System) -> None:
    """Each names the other; the connection is up when both are."""
    alice, bob = system.guests["ALICE"], system.guests["BOB"]
    ends = []
    for guest, partner, own, other in ((alice, "BOB", OWN, OTHER), (bob, "ALICE", OTHER, OWN)):
        guest.agent.modprobe("netiucv").check()
        make(guest.agent, partner).check()
        end = Interface(guest)
        end.up(own, other)
        ends.append(end)
    ready = ("Running", "Idle")
    wait_until(lambda: all(end.states == ready for end in ends), "both connections")
    with Datagrams(alice.agent.worker("udp")) as one, Datagrams(bob.agent.worker("udp")) as two:
        for size in (1, 100, ends[0].mtu - 28, 20_000):
            data = os.urandom(size)
            one.send(data, OTHER)
            assert two.recv() == data
            two.send(data[::-1], OWN)
            assert one.recv() == data[::-1]


def names(guest: Guest) -> set[str]:
    """Users that QUERY NAMES of that guest shows."""
    return set(re.findall(r"(\w+) +-", guest.cp("QUERY NAMES").response))


@pytest.mark.representative
@pytest.mark.requirement("S6")
@pytest.mark.zvmlab_system(ALICE={"cp": {"class": "BEG"}}, BOB={}, CAROL={})
def test_neighbours(system: System) -> None:
    """QUERY NAMES and hypfs: all three, then one fewer."""
    alice = system.guests["ALICE"]
    all_users = {"ALICE", "BOB", "CAROL"}
    for guest in system.guests.values():
        assert names(guest) & all_users == all_users
    assert hypfs_users(alice) & all_users == all_users
    system.guests["BOB"].stop()
    wait_until(lambda: "BOB" not in names(alice), "the log-off of BOB")
    assert hypfs_users(alice) & all_users == {"ALICE", "CAROL"}


def hypfs_users(guest: Guest) -> set[str]:
    """The systems that hypfs shows when it is mounted."""
    at = "/sys/hypervisor/s390"
    guest.agent.mount("none", at, "s390_hypfs").check()
    try:
        found = set()
        for name in ("ALICE", "BOB", "CAROL"):
            try:
                guest.agent.read_file(f"{at}/systems/{name}/onlinetime_us")
            except FileNotFoundError:
                continue
            found.add(name)
        return found
    finally:
        guest.agent.umount(at).check()


@pytest.mark.representative
@pytest.mark.requirement("S8")
@pytest.mark.zvmlab_system(
    ALICE={"modules": ("smsgiucv_app",)}, BOB={"modules": ("smsgiucv_app",)}, CAROL={}
)
def test_smsg_between_guests(
    system: System, program: Build, vmcp_in: Callable[[Guest], Commands]
) -> None:
    """Each way: an event of smsgiucv_app, which names the sender; not to who cannot take it."""
    guests = system.guests
    sent = [f"APP message {number}" for number in range(20)]
    for sender, receiver in (("ALICE", "BOB"), ("BOB", "ALICE")):
        guests[receiver].agent.modprobe("smsgiucv_app").check()
        listener = Events(guests[receiver], program).listen(len(sent))
        vmcp = vmcp_in(guests[sender])
        for text in sent:
            assert vmcp(f"SMSG {receiver} {text}").rc == 0
        assert seen_by(listener) == [f"{sender} {text}" for text in sent]
    assert vmcp_in(guests["CAROL"])("SMSG NOBODY APP x").rc == 45


@pytest.mark.requirement("S8")
@pytest.mark.zvmlab_system(VMRMSVM={}, BOB={}, CAROL={})
def test_pages_at_the_order_of_a_guest(
    system: System, vmcp_in: Callable[[Guest], Commands]
) -> None:
    """BOB's cmm gives pages to CP when VMRMSVM says so, and not when CAROL does."""
    guests = system.guests

    def has(name: str, number: int) -> None:
        at = f"/proc/sys/vm/cmm_{name}"
        wait_until(lambda: int(guests["BOB"].agent.read_file(at)) == number, f"{at}: {number}")

    for sender, order in (("VMRMSVM", "SHRINK 100"), ("CAROL", "SHRINK 0")):
        assert vmcp_in(guests[sender])(f"SMSG BOB CMM {order}").rc == 0
        has("pages", 100)
    # What comes after CAROL's order: had it been obeyed, pages would have gone at the same time.
    assert vmcp_in(guests["VMRMSVM"])("SMSG BOB CMM RELEASE 50").rc == 0
    has("timed_pages", 50)
    has("pages", 100)
