# SPDX-License-Identifier: MIT
"""Unloading the module: refused while the device is open, clean afterwards, again and again."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest
from memory import UNCACHED, flat

from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import MCE_SIZE, Element, Record
from zvmlab.monitor.monitor import DEVICE, Capture, DataSets, compare, deliver
from zvmlab.monitor.steps import READ, await_sleep, thread_of
from zvmlab.scenarios.outcome import normal_log

# Opened so many times for each time that the module is loaded.
OPENS = 4
# Kernel and agent keep a few objects more or less; a leak is at least one a cycle.
PART = 10


def cp_view(guest: Guest) -> tuple[Any, ...]:
    """CP's view of the guest's driver: paths, users of *MONITOR, users of the segment."""
    ask = guest.control.execute
    paths = ask("query-paths", user="LINUX001")["paths"]
    (segment,) = ask("query-segments")["segments"]
    monitor = ask("query-monitor")
    return (
        sorted(path["partner"] for path in paths),
        monitor["segment"],
        monitor["users"],
        (segment["loaded"], segment["users"]),
    )


def settled_view(guest: Guest) -> tuple[Any, ...]:
    """The same of a guest in which nobody but the agent is active."""
    view = cp_view(guest)
    assert view[1:] == ("", [], (False, 0))
    return view


def cycles(guest: Guest, count: int) -> None:
    """Load the module, open and close the device, unload the module."""
    agent = guest.agent
    for _ in range(count):
        agent.insmod("monreader").check()
        batch = agent.batch()
        for _ in range(OPENS):
            batch.close(batch.open(DEVICE))
        assert [result.errno for result in batch.run()] == [0] * (2 * OPENS)
        agent.rmmod("monreader").check()


@pytest.mark.requirement("M35")
@pytest.mark.first_kernel
@pytest.mark.zvmlab(command_line=UNCACHED, trace=False)
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("count", (40, pytest.param(1000, marks=pytest.mark.full)))
def test_loading_and_unloading_leaves_nothing(driver_guest: Guest, count: int) -> None:
    """Load, open, close, unload, many times: no object, page or resource is left, nor a path."""
    agent = driver_guest.agent
    view = settled_view(driver_guest)
    cycles(driver_guest, PART)  # what is allocated once for good
    position = agent.log_position()
    with flat(driver_guest, objects=count // 4, pages=count - 1):
        cycles(driver_guest, count)
    assert settled_view(driver_guest) == view
    loaded = [line.text for line in agent.dmesg(position) if "loaded in shared" in line.text]
    others = normal_log(line.text for line in agent.dmesg(position) if line.level < 6)
    assert (len(loaded), others) == (count, ())


@pytest.mark.requirement("M35")
def test_unloading_is_refused_while_the_device_is_open_eagain(
    monreader: Guest, zvmlab_dir: Path
) -> None:
    """rmmod fails while the device is open, mid-set too, and disturbs nothing that is read."""
    agent = monreader.agent
    with Capture(monreader.control, zvmlab_dir / "sets") as capture:
        with DataSets(agent) as reader:
            assert agent.rmmod("monreader").errno == errno.EAGAIN
            deliver(monreader.control, "sample", Element.of([Record(4, 3, 7, bytes(200))]))
            head = agent.read(reader.fd, MCE_SIZE).data
            assert agent.rmmod("monreader").errno == errno.EAGAIN
            wanted = capture.next()
            assert head + reader.read().stream == wanted.stream
            deliver(monreader.control, "sample", Element.of([Record(4, 3, 8, bytes(200))]))
            compare(reader.read(), capture.next())
    agent.rmmod("monreader").check()
    assert agent.open(DEVICE).errno == errno.ENOENT
    agent.insmod("monreader").check()


@pytest.mark.requirement("M35")
@pytest.mark.representative
def test_unloading_is_refused_while_a_read_sleeps_eagain(
    monreader: Guest, zvmlab_dir: Path
) -> None:
    """rmmod fails while somebody sleeps in read; the sleeper gets its set afterwards."""
    with Capture(monreader.control, zvmlab_dir / "sets") as capture:
        sleeper = monreader.agent.worker("sleeper")
        thread = thread_of(sleeper)
        reader = DataSets(sleeper)
        pending = reader.start(timeout=120)
        await_sleep(monreader.agent, thread, READ)
        assert monreader.agent.rmmod("monreader").errno == errno.EAGAIN
        deliver(monreader.control, "sample", Element.of([Record(4, 3, 9, bytes(100))]))
        compare(pending(), capture.next())
        reader.close()
    settled = cp_view(monreader)
    assert settled[1:3] == ("", [])


@pytest.mark.requirement("M35")
def test_unloading_with_unread_sets_is_clean(monreader: Guest, zvmlab_dir: Path) -> None:
    """Sets nobody has read go with the close: unloading works, and CP has its frames back."""
    areas = [area["used"] for area in monreader.control.execute("query-monitor")["areas"]]
    with DataSets(monreader.agent) as reader:
        for number in range(20):
            deliver(monreader.control, "sample", Element.of([Record(4, 3, number, bytes(500))]))
        monreader.agent.read(reader.fd, 100).check()
        (user,) = monreader.control.execute("query-monitor")["users"]
        assert user["outstanding"] == 20
    monreader.agent.rmmod("monreader").check()
    settled_view(monreader)
    assert [a["used"] for a in monreader.control.execute("query-monitor")["areas"]] == areas
    monreader.agent.insmod("monreader").check()
