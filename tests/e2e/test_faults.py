# SPDX-License-Identifier: MIT
"""Faults that were armed before the first instruction, and what a guest sees of others."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from waiting import fair

from zvmlab.base.errors import GuestPanic
from zvmlab.cp.faults import Fault, armed, count
from zvmlab.guest.backends import backend_of
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest, Stage
from zvmlab.mondata.records import SAMPLE, Element, Record
from zvmlab.monitor.monitor import Capture, DataSets, compare, deliver

pytestmark = pytest.mark.first_kernel
SERVICE = "*MONITOR"
ANSWER_SECONDS = 300.0


def _element(number: int) -> Element:
    """One record that shows which set it is."""
    return Element.of([Record(4, 3, number, bytes([number]) * 40)], SAMPLE)


@pytest.fixture(name="without_iucv")
def _without_iucv(guest_config: GuestConfig, zvmlab_dir: Path) -> GuestConfig:
    rules = [{"point": "iucv.query", "kind": "cc", "value": 3}]
    file = zvmlab_dir / "faults.json"
    file.write_text(json.dumps(rules), encoding="utf-8")
    return guest_config._replace(faults=file)


def test_a_file_of_rules_takes_iucv_from_the_boot(
    without_iucv: GuestConfig, zvmlab_dir: Path
) -> None:
    """A kernel whose QUERY fails has no IUCV: the agent, which needs it, never answers."""
    with Guest(without_iucv._replace(boot_seconds=60), zvmlab_dir) as guest:
        guest.resume()
        limit = fair(60 * backend_of(guest.config.backend).slowness)
        while guest.faults[0].fired == 0 and not limit.over:
            guest.check()
            count(guest.control, guest.faults)
            time.sleep(0.05)
        assert guest.faults[0].fired > 0
        users = {user["name"]: user for user in guest.control.execute("query-users")["users"]}
        assert users["LINUX001"]["paths"] == 0
        reached = {
            point["point"]: point["reached"]
            for point in guest.control.execute("query-fault-points")["points"]
        }
        assert reached["iucv.query"] > 0 and reached["iucv.declare-buffer"] == 0


@pytest.mark.zvmlab(
    faults=[Fault("diag260.extents", "rc", 4)], segments=("MONDCSS 1000-10FF SC RSTD",)
)
def test_a_rule_of_the_mark_is_met_by_the_boot(guest: Guest) -> None:
    """DIAGNOSE X'260' fails: the kernel takes all that the emulator has for its storage."""
    count(guest.control, guest.faults)
    assert guest.faults[0].fired > 0
    total = int(guest.agent.read_file("/proc/meminfo").split()[1])
    assert 32 << 10 < total <= 128 << 10


@pytest.mark.parametrize(
    ("fault", "seen", "left"),
    [
        (Fault("monitor.message", "duplicate", nth=1), [1, 1, 2, 3], 0),
        (Fault("monitor.message", "reorder", nth=1), [2, 1, 3], 0),
        (Fault("monitor.message", "delay", 2, nth=1), [2, 3, 1], 0),
        (Fault("monitor.message", "drop", nth=1), [2, 3], 0),
        (Fault("interrupt", "reorder", name=SERVICE, type=9, nth=1), [2, 1, 3], 0),
        # CP waits for a reply to the message that the guest has not heard of.
        (Fault("interrupt", "drop", name=SERVICE, type=9, nth=1), [2, 3], 1),
    ],
    ids=str,
)
@pytest.mark.representative
def test_messages_of_monitor_arrive_as_the_rule_says(
    monreader: Guest, zvmlab_dir: Path, fault: Fault, seen: list[int], left: int
) -> None:
    """The guest reads the sets in the order in which it was told of them."""
    with Capture(monreader.control, zvmlab_dir / "sets") as capture:
        with DataSets(monreader.agent) as reader:
            with armed(monreader.control, fault) as rules:
                for number in (1, 2, 3):
                    assert deliver(monreader.control, "sample", _element(number)).fate == (
                        "delivered"
                    )
            assert rules[0].fired == 1
            sets = {number: capture.next() for number in (1, 2, 3)}
            for number in seen:
                compare(reader.read(), sets[number])
            (user,) = monreader.control.execute("query-monitor")["users"]
            assert user["outstanding"] == left


@pytest.mark.zvmlab(crashes=("panic", "oops"))
def test_a_program_interruption_of_diagnose_64_is_an_oops_at_once(guest: Guest) -> None:
    """The kernel does not protect DIAGNOSE X'64': loading the segment kills the loader."""
    guest.agent.timeout = ANSWER_SECONDS
    started = time.monotonic()
    with pytest.raises(GuestPanic):
        with armed(guest.control, Fault("diag64.segext", "pgm", 6)):
            guest.agent.insmod("monreader")
            guest.check()
    # Not only when the time for the agent's answer is over.
    assert time.monotonic() - started < ANSWER_SECONDS
    assert guest.stage is Stage.READY
    assert "specification exception" in guest.console.tail()
    guest.expect_crash("oops")
