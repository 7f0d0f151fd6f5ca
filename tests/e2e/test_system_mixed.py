# SPDX-License-Identifier: MIT
"""Guests of one system that are not alike: kernels, emulators, numbers of CPUs, storage."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import permutations

import pytest
from test_dcssblk import BEFORE, PAGE, Block
from test_hypfs import cpus_of, hypfs, number, storage_of
from test_system import LIMIT, connected, send_and_compare

from zvmlab.guest.system import System

pytestmark = pytest.mark.first_kernel
SIZE, COUNT = 16_000, 100
BLOCKS: dict[str, object] = {"modules": ("dcssblk",)}
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


@pytest.mark.requirement("S1", "S2", "S21")
@pytest.mark.zvmlab_system(
    ALICE={}, BOB={"backend": "hercules"}, CAROL={"backend": "hercules", "cpus": 2}
)
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
@pytest.mark.zvmlab_system(
    ALICE=BLOCKS, BOB=BLOCKS | {"backend": "hercules"}, segments=["SHARED 9000-90FF SW"]
)
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
