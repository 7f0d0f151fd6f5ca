# SPDX-License-Identifier: MIT
"""The same calls give the same trace, byte for byte, in two guests."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from test_trace_replay import use_everything

from zvmlab.guest.artifacts import prepare
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest

# Numbers, clocks and the order of tasks, as far as a program sees them.
LOOK = "date; cat /proc/interrupts /proc/uptime; sleep 20; date; head -c 32 /dev/urandom | od -x"


def traced(
    config: GuestConfig, folder: Path, scenario: Callable[[Guest, Path], bytes]
) -> tuple[list[str], bytes]:
    """The lines of the trace of a guest that lives through *scenario*, and what that returned."""
    folder.mkdir()
    with Guest(config, folder, prepare(config)) as guest:
        guest.boot()
        said = scenario(guest, folder)
        guest.shut_down()
    trace = guest.channels.trace
    assert trace is not None
    return trace.read_text(encoding="ascii").splitlines(), said


def look(guest: Guest, folder: Path) -> bytes:
    """Much of what CP does for monreader and peers, and what a program sees meanwhile."""
    use_everything(guest, folder)
    return guest.agent.run(["/bin/busybox", "sh", "-c", LOOK]).check().stdout


def look_later(guest: Guest, folder: Path) -> bytes:
    """The same by a harness that is slow: nothing that the guest could notice."""
    time.sleep(1)
    return look(guest, folder)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("cpus", [1, 2])
def test_two_runs_give_the_same_trace(
    guest_config: GuestConfig, cpus: int, zvmlab_dir: Path
) -> None:
    """Time stamps, registers and storage of all records are equal, and all that a program sees."""
    config = guest_config._replace(cpus=cpus, deterministic=True, trace_data="full", busybox=True)
    first, said = traced(config, zvmlab_dir / "first", look)
    second, said_again = traced(config, zvmlab_dir / "second", look_later)
    assert said == said_again
    assert len(re.findall(rb" UTC \d{4}\n", said)) == 2
    differing = [number for number, pair in enumerate(zip(first, second)) if pair[0] != pair[1]]
    assert (differing[:1], len(first)) == ([], len(second))
    assert len(first) > 200


@pytest.mark.timeout(300)
def test_another_input_gives_another_trace(guest_config: GuestConfig, zvmlab_dir: Path) -> None:
    """The comparison above would see one record too many."""
    config = guest_config._replace(deterministic=True)

    def asking(guest: Guest, folder: Path) -> bytes:
        assert folder.is_dir()
        return guest.cp("QUERY NAMES").response.encode()

    first, _ = traced(config, zvmlab_dir / "first", lambda guest, folder: b"")
    second, _ = traced(config, zvmlab_dir / "second", asking)
    assert len(second) == len(first) + 1
    assert [line for line in second if "QUERY NAMES" in line]
