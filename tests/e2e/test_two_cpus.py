# SPDX-License-Identifier: MIT
"""Two CPUs without an operating system: what they see of each other, and CP of both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest

if TYPE_CHECKING:
    from conftest import Build

pytestmark = pytest.mark.first_kernel(always=True)
SECONDS = 120


@pytest.fixture
def guest_config(bare: Build, request: pytest.FixtureRequest) -> GuestConfig:
    """The bare-metal program instead of a kernel."""
    return GuestConfig(kernel=str(bare(request.param)), cpus=2)


def _said(guest: Guest, count: int) -> list[str]:
    """Lines of the program's output; it then ends."""
    guest.start()
    guest.emulator.expect_exit()
    guest.resume()
    lines = []
    for _ in range(count):
        event = guest.control.wait_event("console", SECONDS, user="OPERATOR")
        lines.append(event.data["text"].split("LINUX001: ")[-1])
    assert guest.emulator.wait(SECONDS) == 0
    return lines


@pytest.mark.representative
@pytest.mark.parametrize("guest_config", ["ordering"], indirect=True)
def test_serialization_orders_a_store_before_a_fetch(made_guest: Guest) -> None:
    """Kernels rely on it whenever a task sleeps and another one wakes it."""
    assert _said(made_guest, 2) == [f"BCR {mask},0 BOTH RAN, MISSED 00000000" for mask in (15, 14)]


@pytest.mark.representative
@pytest.mark.parametrize("guest_config", ["signalling"], indirect=True)
def test_orders_reach_a_cpu_that_purges(made_guest: Guest) -> None:
    """Kernels stop and start CPUs while others change page tables."""
    assert _said(made_guest, 1) == ["BOTH RAN, WRONG 00000000"]


@pytest.mark.representative
@pytest.mark.parametrize("guest_config", ["purging"], indirect=True)
def test_instructions_of_cp_take_effect_once(made_guest: Guest) -> None:
    """While another CPU purges what this one knows of its instructions' addresses."""
    assert _said(made_guest, 1) == ["BOTH RAN, WRONG 00000000"]


@pytest.mark.representative
@pytest.mark.parametrize("guest_config", ["crossing"], indirect=True)
def test_an_instruction_across_two_pages_waits_for_no_store_of_cp(made_guest: Guest) -> None:
    """Nor does the store for it, whatever is to be done to find the second page."""
    said = [f"{how} BOTH RAN, WRONG 00000000" for how in ("ASKED", "NO TABLE")]
    assert _said(made_guest, 2) == said
