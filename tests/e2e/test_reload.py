# SPDX-License-Identifier: MIT
"""Guests without an operating system that have themselves loaded again, or begin anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest

if TYPE_CHECKING:
    from conftest import Build

TIMES = 20
SECONDS = 60


@pytest.fixture(params=["reload"])
def guest_config(bare: Build, request: pytest.FixtureRequest) -> GuestConfig:
    """The bare-metal program instead of a kernel."""
    return GuestConfig(kernel=str(bare(request.param)))


@pytest.mark.representative
def test_each_load_finds_a_clean_cp(made_guest: Guest) -> None:
    made_guest.resume()
    for number in range(TIMES):
        event = made_guest.control.wait_event("console", SECONDS, user="OPERATOR")
        assert event.data["text"].endswith("LINUX001: LOADED 00"), f"load {number}"
        made_guest.control.wait_event("reset", SECONDS)
    made_guest.check()


@pytest.mark.representative
@pytest.mark.parametrize("guest_config", ["reset"], indirect=True)
def test_machine_is_reset_and_begins_with_the_psw_at_0(made_guest: Guest) -> None:
    """As with kexec storage stays, CP has forgotten the buffer, and then the guest ends."""
    made_guest.start()
    # All of it takes 3 ms, which may be over before the emulator has said that it runs.
    made_guest.emulator.expect_exit()
    made_guest.resume()
    for number in range(3):
        event = made_guest.control.wait_event("console", SECONDS, user="OPERATOR")
        # Nothing was loaded from a device, so there are no parameters: X'0102'.
        assert event.data["text"].endswith(f"LINUX001: BEGUN 0{number} 00 0102")
        if number < 2:
            made_guest.control.wait_event("reset", SECONDS)
    assert made_guest.emulator.wait(SECONDS) == 0
