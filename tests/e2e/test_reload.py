# SPDX-License-Identifier: MIT
"""A guest without an operating system that has itself loaded again, many times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from zvmlab.guest import Guest
from zvmlab.guest_config import GuestConfig

if TYPE_CHECKING:
    from conftest import Build

TIMES = 20


@pytest.fixture
def guest_config(bare: Build) -> GuestConfig:
    """The bare-metal program instead of a kernel."""
    return GuestConfig(kernel=str(bare("reload")))


@pytest.mark.representative
def test_each_load_finds_a_clean_cp(made_guest: Guest) -> None:
    made_guest.resume()
    for number in range(TIMES):
        event = made_guest.control.wait_event("console", 10, user="OPERATOR")
        assert event.data["text"].endswith("LINUX001: LOADED 00"), f"load {number}"
        made_guest.control.wait_event("reset", 10)
    made_guest.check()
