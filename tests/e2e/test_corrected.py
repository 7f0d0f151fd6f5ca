# SPDX-License-Identifier: MIT
"""Instructions that a version of QEMU executes wrongly, in our build: docs/qemu-corrections.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from reports import expect_nothing_wrong

from zvmlab.guest.config import QEMU, GuestConfig
from zvmlab.guest.guest import Guest

if TYPE_CHECKING:
    from conftest import Build

MANY, ONCE = "07D0", "0001"
INSTRUCTIONS = {
    "VCKSM": MANY,
    "QUADWORDS": MANY,
    "CHRL": MANY,
    "LCBB": MANY,
    "LOCFHR": MANY,
    "EPSW": MANY,
    "CLC": MANY,
    "STOC": MANY,
    "STCK": MANY,
    "TR": MANY,
    "CSP": MANY,
    "LAALG": MANY,
    "LAE": MANY,
    "RXSBG": MANY,
    "ACCESS REGISTERS": ONCE,
    "LPSW": ONCE,
    "MDEBR": MANY,
    "MXDBR": MANY,
    "CGDBR": MANY,
    "LDER": MANY,
    "CSST": MANY,
    "VSTRS": MANY,
    "VSTL": MANY,
    "STIDP": ONCE,
    "PPNO": ONCE,
    "KMC": ONCE,
    "CPU TIMER": ONCE,
    "RESET TIMER": ONCE,
    "STORED TIMER": ONCE,
    "CKC": ONCE,
    "VFMAX": ONCE,
    "CKSM": ONCE,
    "MVCRL": MANY,
}


@pytest.fixture
def guest_config(bare: Build, zvmlab_backend: str, request: pytest.FixtureRequest) -> GuestConfig:
    """The bare-metal program instead of a kernel."""
    if zvmlab_backend != QEMU:
        pytest.skip("it is QEMU that is corrected")
    kernel = str(bare("corrected"))
    return GuestConfig(kernel=kernel, cpus=2, count_instructions=request.param)


@pytest.mark.first_kernel(always=True)
@pytest.mark.parametrize("guest_config", [False, True], ids=["clock", "counted"], indirect=True)
def test_instructions_do_what_their_model_does(made_guest: Guest) -> None:
    expect_nothing_wrong(made_guest, (f"{name} {cases}" for name, cases in INSTRUCTIONS.items()))
