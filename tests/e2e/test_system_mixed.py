# SPDX-License-Identifier: MIT
"""Guests of one system that are not alike: kernels, emulators, numbers of CPUs, storage."""

from __future__ import annotations

import hashlib
import random
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations

import pytest
from netiucv_lab import BUSYBOX, OTHER, OWN, Interface, Stream, make
from test_dcssblk import BEFORE, PAGE, Block
from test_hypfs import cpus_of, hypfs, number, storage_of
from test_system import LIMIT, connected, send_and_compare
from waiting import wait_until

from zvmlab.guest.guest import Guest
from zvmlab.guest.system import System

pytestmark = pytest.mark.first_kernel
SIZE, COUNT = 16_000, 100
TCP_BYTES = 64 << 20
BLOCKS: dict[str, object] = {"modules": ("dcssblk",)}
# What we build ourselves is for a z13, which Hercules is not.
HERCULES: dict[str, object] = {"backend": "hercules", "kernel": "bookworm"}
MIXED = pytest.mark.zvmlab_system(
    ALICE={"kernel": "bookworm", "cp": {"class": "BEG"}},
    BOB={"kernel": "trixie", "cpus": 4},
    CAROL={"kernel": "bookworm", "cpus": 2, "storage": "0.192M"},
)


@pytest.mark.requirement("S1")
@MIXED
def test_messages_between_kernels(system: System) -> None:
    """From each to each, both ways; then in both directions at once."""
    releases = {name: guest.agent.info.release for name, guest in system.guests.items()}
    assert releases["ALICE"] == releases["CAROL"] != releases["BOB"]
    for one, other in permutations(system.guests, 2):
        client = system.guests[one].agent.worker(f"to-{other}")
        server = system.guests[other].agent.worker(f"from-{one}")
        calling, accepted = connected(client, server, other)
        for size in (1, 100, 16_000):
            send_and_compare(calling, accepted, size, 5)
            send_and_compare(accepted, calling, size, 5)
        calling.close()
        accepted.close()
    alice, bob = (system.guests[name].agent for name in ("ALICE", "BOB"))
    there = connected(alice.worker("to"), bob.worker("from"), "BOB")
    back = connected(bob.worker("to"), alice.worker("from"), "ALICE")
    with ThreadPoolExecutor(2) as threads:
        for done in [
            threads.submit(send_and_compare, *ends, SIZE, COUNT) for ends in (there, back)
        ]:
            done.result(LIMIT)


def interface_to(guest: Guest, partner: str, own: str, other: str) -> Interface:
    """netiucv's interface to another guest, up."""
    guest.agent.modprobe("netiucv").check()
    make(guest.agent, partner).check()
    end = Interface(guest)
    end.up(own, other)
    return end


def ping(end: Interface, to: str) -> None:
    """Small and large packets, when both connections are there."""
    for size in ("56", "8000"):
        command = [BUSYBOX, "ping", "-c", "3", "-W", "60", "-s", size, to]
        done = end.guest.agent.run(command, timeout=LIMIT).check()
        assert b"3 packets transmitted, 3 packets received, 0% packet loss" in done.stdout


@pytest.mark.full
@pytest.mark.requirement("S5")
@pytest.mark.zvmlab_system(
    ALICE={"kernel": "bookworm", "modules": ("netiucv",), "busybox": True},
    BOB={"kernel": "trixie", "modules": ("netiucv",), "busybox": True},
)
def test_network_between_kernels(system: System) -> None:
    """ping and TCP by netiucv; again when it was down, and when one guest was killed and is back."""
    alice, bob = system.guests["ALICE"], system.guests["BOB"]
    assert alice.agent.info.release != bob.agent.info.release
    one = interface_to(alice, "BOB", OWN, OTHER)
    other = interface_to(bob, "ALICE", OTHER, OWN)

    def ready(*ends: Interface) -> None:
        connected = ("Running", "Idle")
        wait_until(
            lambda: all(end.states == connected for end in ends),
            "the connections",
            lambda: [end.states for end in ends],
        )

    ready(one, other)
    ping(one, OTHER)
    ping(other, OWN)
    listening, calling = Stream(bob.agent.worker("tcp")), Stream(alice.agent.worker("tcp"))
    listening.listen(OTHER)
    calling.connect(OTHER)
    accepted = listening.accept()
    data = random.Random(64).randbytes(TCP_BYTES)
    with ThreadPoolExecutor(1) as threads:
        received = threads.submit(accepted.recv_all, len(data))
        calling.send_all(data)
        assert hashlib.sha256(received.result()).digest() == hashlib.sha256(data).digest()
    for socket in (calling, accepted, listening):
        socket.close()
    one.down()
    one.up(OWN, OTHER)
    ready(one, other)
    ping(one, OTHER)
    bob.kill()
    bob.stop()
    again = system.guest("BOB", bob.config)
    again.boot()
    ready(one, interface_to(again, "ALICE", OTHER, OWN))
    ping(one, OTHER)


@pytest.mark.requirement("S1", "S2", "S21")
@pytest.mark.zvmlab_system(ALICE={}, BOB=HERCULES, CAROL=HERCULES | {"cpus": 2})
def test_messages_between_emulators(system: System) -> None:
    """From each to each, both ways; one in Hercules is killed, and another takes its place."""
    for one, other in permutations(system.guests, 2):
        client = system.guests[one].agent.worker(f"to-{other}")
        server = system.guests[other].agent.worker(f"from-{one}")
        calling, accepted = connected(client, server, other)
        for size in (1, 16_000):
            send_and_compare(calling, accepted, size, 3)
            send_and_compare(accepted, calling, size, 3)
        calling.close()
        accepted.close()
    alice, bob = system.guests["ALICE"], system.guests["BOB"]
    calling, _ = connected(alice.agent.worker("to-BOB"), bob.agent.worker("from-ALICE"), "BOB")
    bob.kill()
    assert calling.try_recv(1).ret <= 0
    calling.close()
    bob.stop()
    again = system.guest("BOB", bob.config)
    again.boot()
    calling, accepted = connected(alice.agent.worker("to-BOB"), again.agent.worker("own"), "BOB")
    send_and_compare(calling, accepted, SIZE, 3)


@pytest.mark.requirement("S9", "S21")
@pytest.mark.zvmlab_system(ALICE=BLOCKS, BOB=BLOCKS | HERCULES, segments=["SHARED 9000-90FF SW"])
def test_stores_between_emulators(system: System) -> None:
    """What a guest stores into a segment is there in the other, whose emulator is another."""
    blocks = []
    for guest in system.guests.values():
        guest.agent.modprobe("dcssblk").check()
        blocks.append(Block(guest, "SHARED"))
        blocks[-1].load(exclusive=False)
    for number, (one, other) in enumerate(permutations(blocks, 2)):
        one.write(number * PAGE, BEFORE)
        assert other.read(number * PAGE, len(BEFORE)) == BEFORE


@pytest.mark.requirement("S6")
@MIXED
def test_hypfs_has_the_neighbours_configurations(system: System) -> None:
    """CPUs and storage as each guest sees them itself; how long each has been logged on."""
    alice = system.guests["ALICE"]
    with hypfs(alice):
        online = {name: number(alice, f"systems/{name}/onlinetime_us") for name in system.guests}
        for name, guest in system.guests.items():
            assert number(alice, f"systems/{name}/cpus/count") == cpus_of(guest)
            for key in ("max_KiB", "used_KiB"):
                assert number(alice, f"systems/{name}/mem/{key}") == storage_of(guest) // 1024
    # In the order of the log-on.
    assert online["ALICE"] >= online["BOB"] >= online["CAROL"] > 0
