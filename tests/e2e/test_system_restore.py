# SPDX-License-Identifier: MIT
"""Members of a system go on from one checkpoint of a guest alone, each under a name of its own."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from iucv_socket import AF_IUCV, STREAM, Socket

from zvmlab.agent.wire import Call
from zvmlab.base.errors import UsageError
from zvmlab.cp import disk
from zvmlab.guest import checkpoint
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest
from zvmlab.guest.system import System

USERS = ("ALICE", "BOB", "CAROL")
SIZE = 16_000
CLOCK_SECONDS = 60.0
DISK = "IUCV ALLOW;IUCV ANY;IUCV *MSG;MDISK 0200 FB-512 V-DISK 100"


def talk(sender: Guest, receiver: Guest) -> None:
    """Bytes from one to the other, by the sockets' names."""
    name = receiver.config.cp["userid"]
    message = os.urandom(SIZE)
    with (
        Socket.make(receiver.agent.worker("sockets"), name="SERVER") as listening,
        Socket.make(sender.agent.worker("sockets"), name="CLIENT") as calling,
    ):
        listening.listen(1)
        calling.connect(name, "SERVER")
        with listening.accept() as accepted:
            assert accepted.names(Call.GETPEERNAME)[0] == sender.config.cp["userid"]
            assert calling.send(message) == SIZE
            assert accepted.recv_all(SIZE) == message


def user_of(guest: Guest) -> str:
    """What STSI says."""
    lines = guest.agent.read_file("/proc/sysinfo").decode("ascii").splitlines()
    return next(line.split()[2] for line in lines if line.startswith("VM00 Name:"))


@pytest.fixture
def fresh(zvmlab_kernel: str, zvmlab_dir: Path) -> Iterator[System]:
    """Three members, each from the checkpoint of a guest alone and not from a saved system."""
    with System(logs=zvmlab_dir) as system:
        for userid in USERS:
            system.guest(userid, GuestConfig(kernel=zvmlab_kernel))
        system.boot()
        yield system
        for guest in system.guests.values():
            guest.settle()


@pytest.mark.requirement("S17")
def test_own_names(fresh: System) -> None:
    """Whoever asks gets the member's own user ID; bytes go round; time and random numbers are new."""
    guests = [fresh.guests[name] for name in USERS]
    assert all(guest.restored for guest in guests)
    assert len({checkpoint.key(guest.config.base(), guest.artifacts) for guest in guests}) == 1
    for guest, name in zip(guests, USERS, strict=True):
        assert user_of(guest) == name
        assert guest.cp("QUERY USERID").response.split()[0] == name
        assert abs(checkpoint.clock(guest.agent) - time.time()) < CLOCK_SECONDS
    assert len({guest.agent.read_file("/proc/sys/kernel/random/uuid") for guest in guests}) == len(
        guests
    )
    for sender, receiver in zip(guests, (*guests[1:], guests[0]), strict=True):
        talk(sender, receiver)


@pytest.mark.requirement("S17")
def test_again(fresh: System) -> None:
    """A member goes back to its beginning: its connections end; so does one that logs on once more."""
    alice, bob = fresh.guests["ALICE"], fresh.guests["BOB"]
    talk(alice, bob)
    server = Socket.make(bob.agent.worker("sockets"), name="SERVER")
    server.listen(1)
    calling = Socket.make(alice.agent.worker("sockets"), name="CLIENT")
    calling.connect("BOB", "SERVER")
    accepted = server.accept()
    alice.agent.write_file("/tmp/mark", b"here", 0o644)
    machine = checkpoint.find(alice.config.base(), alice.artifacts, _exists) / checkpoint.MACHINE
    alice.machine.pause()
    alice.machine.restore(machine)
    alice.machine.go_on()
    alice.await_agent()
    assert accepted.recv(1) == b""
    accepted.close()
    server.close()
    with pytest.raises(OSError) as missing:
        alice.agent.read_file("/tmp/mark")
    assert missing.value.errno == errno.ENOENT
    talk(bob, alice)
    alice.stop()
    again = fresh.guest("ALICE", alice.config)
    again.boot()
    assert again.restored and user_of(again) == "ALICE"
    talk(again, bob)


def _exists(_into: Path) -> None:
    raise AssertionError("the checkpoint is there, for a guest has been restored from it")


@contextlib.contextmanager
def with_disk(kernel: str, logs: Path, saved: bool) -> Iterator[System]:
    """ALICE has a virtual disk."""
    with System(logs=logs) as system:
        system.guest("ALICE", GuestConfig(kernel=kernel, cp={"directory": DISK}))
        system.guest("BOB", GuestConfig(kernel=kernel))
        if saved:
            system.boot_saved()
        else:
            system.boot()
        yield system


@pytest.mark.requirement("S17", "S18")
def test_disks(zvmlab_kernel: str, zvmlab_dir: Path) -> None:
    """Contents of a virtual disk are the system's: its owner boots, or goes on with the whole system."""
    with with_disk(zvmlab_kernel, zvmlab_dir / "alone", saved=False) as system:
        assert not system.guests["ALICE"].restored
        assert system.guests["BOB"].restored
    with with_disk(zvmlab_kernel, zvmlab_dir / "made", saved=True) as system:
        alice = system.guests["ALICE"]
        before = disk.read(alice.control, 0x200, 0, 8)
        disk.write(alice.control, 0x200, 0, b"x" * len(before))
        system.put_back()
        assert disk.read(alice.control, 0x200, 0, 8) == before
    with with_disk(zvmlab_kernel, zvmlab_dir / "found", saved=True) as system:
        assert all(guest.restored for guest in system.guests.values())
        assert disk.read(system.guests["ALICE"].control, 0x200, 0, 8) == before
        talk(*system.guests.values())


@pytest.mark.requirement("S18")
def test_put_back(system: System) -> None:
    """Both are where they were, connected to each other; what came after is gone, any number of times."""
    alice, bob = system.guests["ALICE"], system.guests["BOB"]
    server = Socket.make(bob.agent.worker("sockets"), name="SERVER")
    server.listen(1)
    calling = Socket.make(alice.agent.worker("sockets"), name="CLIENT")
    calling.connect("BOB", "SERVER")
    accepted = server.accept()
    alice.agent.write_file("/tmp/before", b"here", 0o644)
    system.mark()
    for _ in range(2):
        assert alice.agent.read_file("/tmp/before") == b"here"
        bob.agent.write_file("/tmp/after", b"here", 0o644)
        message = os.urandom(SIZE)
        assert Socket(alice.agent.worker("sockets"), calling.fd).send(message) == SIZE
        taken = Socket(bob.agent.worker("sockets"), accepted.fd)
        assert taken.recv_all(SIZE) == message
        taken.close()
        alice.agent.modprobe("monreader").check()
        alice.cp("FORCE NOBODY")
        system.put_back()
        with pytest.raises(OSError) as missing:
            bob.agent.read_file("/tmp/after")
        assert missing.value.errno == errno.ENOENT
        assert b"monreader" not in alice.agent.read_file("/proc/modules")
        assert abs(checkpoint.clock(bob.agent) - time.time()) < CLOCK_SECONDS
    talk(bob, alice)


@pytest.mark.requirement("S18")
def test_all_or_none(system: System) -> None:
    """Without one of those that were there, nobody goes back, and the others go on."""
    alice, bob = system.guests["ALICE"], system.guests["BOB"]
    system.mark()
    bob.stop()
    assert not system.can_go_back
    with pytest.raises(UsageError, match="cannot be put back"):
        system.put_back()
    assert user_of(alice) == "ALICE"
    system.guest("BOB", bob.config).boot()
    assert not system.can_go_back


@pytest.mark.zvmlab_system(ALICE={"cpus": 2}, BOB={})
def test_held(system: System) -> None:
    """A system in which a CPU is held cannot be marked, which is said at once."""
    alice = system.guests["ALICE"]
    worker = alice.agent.worker("held")
    alice.agent.keep_on(worker, 1)
    with alice.hold("iucv_sock_create", cpu=1) as hold:
        batch = worker.batch()
        batch.call(Call.SOCKET, AF_IUCV, STREAM, 0)
        making = batch.start()
        hold.wait()
        with pytest.raises(UsageError, match="cannot be marked while a CPU is held"):
            system.mark()
    assert making.result()[0].ret >= 0
    system.mark()
