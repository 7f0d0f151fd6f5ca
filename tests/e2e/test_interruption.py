# SPDX-License-Identifier: MIT
"""When a guest without an operating system is given IUCV's external interruption."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest

if TYPE_CHECKING:
    from conftest import Build

COMPLETE, MESSAGE = "4000/02", "4000/09"
EXTERNAL_CALL = "1202"
SECONDS = 60


@pytest.fixture
def guest_config(bare: Build) -> GuestConfig:
    """The bare-metal program instead of a kernel."""
    return GuestConfig(kernel=str(bare("interrupt")))


@pytest.mark.representative
def test_masks_priority_and_wait(made_guest: Guest) -> None:
    made_guest.start()
    made_guest.emulator.expect_exit()
    made_guest.resume()

    def report() -> str:
        event = made_guest.control.wait_event("console", SECONDS, user="OPERATOR")
        return str(event.data["text"].split("LINUX001: ")[-1])

    assert [report() for _ in range(8)] == [
        "SUBCLASS OFF",
        f"SUBCLASS ON {COMPLETE}",
        "PSW OFF",
        f"PSW ON {COMPLETE}",
        "BOTH OFF",
        f"BOTH ON {EXTERNAL_CALL} {COMPLETE}",
        "CR0 AS LOADED",
        "WAITING",
    ]
    made_guest.control.cp("SMSG LINUX001 WAKE UP")
    assert report() == f"WOKEN {MESSAGE}"
    assert made_guest.emulator.wait(SECONDS) == 0
