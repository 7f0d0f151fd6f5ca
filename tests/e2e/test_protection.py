# SPDX-License-Identifier: MIT
"""What a guest without an operating system finds at the segment's addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from zvmlab.guest import Guest
from zvmlab.guest_config import GuestConfig

if TYPE_CHECKING:
    from conftest import Build

NONE, PROTECTION, ADDRESSING = "0", "4", "5"


@pytest.fixture
def guest_config(bare: Build) -> GuestConfig:
    """The bare-metal program instead of a kernel."""
    return GuestConfig(kernel=str(bare("segment")))


@pytest.mark.representative
def test_sc_segment_can_be_read_while_loaded_and_never_stored_into(made_guest: Guest) -> None:
    made_guest.start()
    made_guest.emulator.expect_exit()
    made_guest.resume()
    lines = []
    for _ in range(7):
        event = made_guest.control.wait_event("console", 10, user="OPERATOR")
        lines.append(event.data["text"].split("LINUX001: ")[-1])
    assert lines == [
        f"LOADED START {NONE} {PROTECTION}",
        f"LOADED END {NONE} {PROTECTION}",
        f"PURGED START {ADDRESSING} {ADDRESSING}",
        f"PURGED END {ADDRESSING} {ADDRESSING}",
        f"AGAIN START {NONE} {PROTECTION}",
        f"BEYOND {ADDRESSING} {ADDRESSING}",
        f"KEYS {NONE} {ADDRESSING}",
    ]
