# SPDX-License-Identifier: MIT
"""What two CPUs see of each other's stores: kernels rely on it whenever a task sleeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from zvmlab.guest import Guest
from zvmlab.guest_config import GuestConfig

if TYPE_CHECKING:
    from conftest import Build

CPUS = 2
SECONDS = 20


@pytest.fixture
def guest_config(bare: Build) -> GuestConfig:
    """The bare-metal program instead of a kernel."""
    return GuestConfig(kernel=str(bare("ordering")), cpus=CPUS)


@pytest.mark.representative
def test_serialization_orders_a_store_before_a_fetch(made_guest: Guest) -> None:
    made_guest.start()
    made_guest.emulator.expect_exit()
    made_guest.resume()
    lines = []
    for _ in range(2):
        event = made_guest.control.wait_event("console", SECONDS, user="OPERATOR")
        lines.append(event.data["text"].split("LINUX001: ")[-1])
    assert lines == [f"BCR {mask},0 BOTH RAN, MISSED 00000000" for mask in (15, 14)]
    assert made_guest.emulator.wait(SECONDS) == 0
