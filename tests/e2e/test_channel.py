# SPDX-License-Identifier: MIT
"""Channel programs of a guest without an operating system that takes no I/O interruption."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from zvmlab.guest.config import HERCULES, QEMU, GuestConfig
from zvmlab.guest.guest import Guest

if TYPE_CHECKING:
    from conftest import Build

pytestmark = [pytest.mark.first_kernel(always=True), pytest.mark.representative]
SECONDS = 240
REQUESTS = 100
CRWS = 512
"""Channel report words that QEMU keeps: our limit, docs/qemu-corrections.md."""

# Condition codes and status are those of the Principles of Operation.  An interruption is pending
# while it has neither been taken nor its status cleared, and a subchannel has one.
SAID = (
    ("DEVICE", 0x200),
    ("WRONG", 0),
    ("AFTER TSCH", 0),
    ("AFTER SSCH", 1),
    ("STATUS", 0),
    ("AFTER CSCH", 1),
    ("STATUS", 0),
    ("AFTER SSCH CSCH", 1),
    ("STATUS", 0),
    ("AFTER REFUSED CSCH", 1),
    ("STATUS", 0),
    ("CLEARED", 1),
    ("XSCH", 0),
    ("MSCH", 0),
    ("AFTER MSCH", 0),
    ("MACHINE CHECK", 1),
    ("TIMER IS OFF", 0),
    ("REPORTS", CRWS),
    ("OVERFLOW", 0x2000),
    ("NO MORE", 1),
    ("MACHINE CHECK", 1),
    ("ENDLESS", 0),
    ("STATUS", 0),
    ("SUBCHANNEL", 0x20),
    # QEMU has a limit of its own for a loop, but none for a chain as long as storage.
    ("LONG", 0),
    ("STATUS", 0),
    ("SUBCHANNEL", 0x20),
)


@pytest.fixture
def guest_config(bare: Build, zvmlab_backend: str) -> GuestConfig:
    """The bare-metal program, and the one device that its subchannel is for."""
    if zvmlab_backend == HERCULES:
        pytest.skip("its devices are Hercules' own; MDISK statements are for QEMU only")
    directory = "MDISK 0200 FB-512 V-DISK 16 MW"
    return GuestConfig(kernel=str(bare("channel")), cp={"directory": directory})


def test_interruptions_and_programs_have_an_end(made_guest: Guest, zvmlab_dir: Path) -> None:
    assert made_guest.config.backend == QEMU
    made_guest.start()
    made_guest.resume()
    for what, value in SAID:
        event = made_guest.control.wait_event("console", SECONDS, user="OPERATOR")
        assert event.data["text"].split("LINUX001: ")[-1] == f"{what} {value:04X}"
    # It starts programs without an end now; everybody else gets a turn.
    before = made_guest.control.execute("query-counters")["heap"]
    for _ in range(REQUESTS):
        made_guest.control.execute("query-counters")
    assert made_guest.control.execute("query-counters")["heap"] < before + (1 << 20)
    made_guest.machine.pause()
    made_guest.machine.go_on()
    # Nothing is left pending that would keep it from being saved.
    made_guest.machine.save(zvmlab_dir / "machine")
    assert (zvmlab_dir / "machine").stat().st_size > 0
