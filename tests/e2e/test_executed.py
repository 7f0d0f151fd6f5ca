# SPDX-License-Identifier: MIT
"""Relative operands and branch targets of instructions that are executed by EXECUTE."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from reports import expect_nothing_wrong

from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest

if TYPE_CHECKING:
    from conftest import Build

# Tries of an instruction: EX and EXRL, each modified or not, from 3 places, of targets in 4, over
# 3 distances, or 4 if it has 32 bits for them.
NEAR = 2 * 2 * 3 * 4 * 3
FAR = 2 * 2 * 3 * 4 * 4
BRANCHES = 32 * NEAR + 6 * FAR
REPORTS = {
    "BRANCH 64": BRANCHES,
    "SAVE 64": NEAR + FAR,
    "LOAD 64": 10 * FAR,
    "STORE 64": 3 * FAR,
    "COMPARE 64": 20 * FAR,
    "EXECUTE 64": NEAR + FAR,
    "BRANCH 31": BRANCHES,
    "SAVE 31": NEAR + FAR,
    "NOWHERE 64": 8,
}


@pytest.fixture
def guest_config(bare: Build) -> GuestConfig:
    """The bare-metal program instead of a kernel."""
    return GuestConfig(kernel=str(bare("executed")))


@pytest.mark.first_kernel(always=True)
@pytest.mark.representative
def test_what_is_relative_counts_from_the_target(made_guest: Guest) -> None:
    """And links, what comes next and exceptions have to do with the EXECUTE."""
    cases = (f"{what} {count:04X}" for what, count in REPORTS.items())
    expect_nothing_wrong(made_guest, cases)
