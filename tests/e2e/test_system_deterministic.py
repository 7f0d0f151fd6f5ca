# SPDX-License-Identifier: MIT
"""A system whose machines take turns: the same calls give the same traces, byte for byte."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from iucv_socket import Socket

from zvmlab.guest.config import GuestConfig
from zvmlab.guest.system import System

pytestmark = pytest.mark.first_kernel
USERS = {"ALICE": 1, "BOB": 2}
SIZES = (1, 100, 16_000)
LOOK = "date; cat /proc/interrupts /proc/uptime; sleep 1; date; head -c 32 /dev/urandom | od -x"


def talk(system: System) -> None:
    """Messages both ways, each read before the next."""
    alice, bob = (system.guests[name].agent.worker("sockets") for name in USERS)
    with (
        Socket.make(bob, name="SERVER") as listening,
        Socket.make(alice, name="CLIENT") as calling,
    ):
        listening.listen(1)
        calling.connect("BOB", "SERVER")
        with listening.accept() as accepted:
            for size in SIZES:
                data = bytes(number % 251 for number in range(size))
                for sender, receiver in ((calling, accepted), (accepted, calling)):
                    assert sender.send(data) == size
                    assert receiver.recv_all(size) == data


def lived(kernel: str, logs: Path, trace_data: str, slow: bool = False) -> dict[str, bytes]:
    """What two guests have seen in a system, and all that CP has done for them."""
    found: dict[str, bytes] = {}
    with System(logs=logs, deterministic=True) as system:
        for userid, cpus in USERS.items():
            config = GuestConfig(kernel=kernel, cpus=cpus, trace_data=trace_data, busybox=True)
            system.guest(userid, config)
        system.boot()
        talk(system)
        for userid, guest in system.guests.items():
            if slow:
                time.sleep(0.5)
            found[f"{userid} sees"] = guest.agent.run(["/bin/busybox", "sh", "-c", LOOK]).stdout
        alice, bob = (system.guests[userid] for userid in USERS)
        alice.shut_down()
        if slow:
            time.sleep(0.5)
        assert "ALICE" not in bob.cp("QUERY NAMES").response
        found["BOB sees later"] = bob.agent.run(["/bin/busybox", "sh", "-c", LOOK]).stdout
        bob.shut_down()
    for userid in USERS:
        found[f"trace of {userid}"] = (logs / userid / "trace.jsonl").read_bytes()
    return found


@pytest.mark.requirement("S19")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("trace_data", ["short", pytest.param("full", marks=pytest.mark.full)])
def test_two_runs_give_the_same_traces(
    zvmlab_kernel: str, zvmlab_dir: Path, trace_data: str
) -> None:
    """Also by a harness that is slow, and after one of the two has ended.

    With all data in its trace a guest boots from its first instruction on, else from a checkpoint.
    """
    first = lived(zvmlab_kernel, zvmlab_dir / "first", trace_data)
    second = lived(zvmlab_kernel, zvmlab_dir / "second", trace_data, slow=True)
    for name, said in first.items():
        pairs = zip(said.splitlines(), second[name].splitlines())
        differing = [number for number, (one, other) in enumerate(pairs) if one != other]
        assert (name, differing[:1], len(said)) == (name, [], len(second[name]))
    assert all(first[f"trace of {userid}"].count(b"iucv.send") > 10 for userid in USERS)
