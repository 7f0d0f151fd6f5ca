# SPDX-License-Identifier: MIT
"""Instructions that QEMU 7.2 executes wrongly, in our build of it: docs/qemu-corrections.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from zvmlab.guest.config import QEMU, GuestConfig
from zvmlab.guest.guest import Guest

if TYPE_CHECKING:
    from conftest import Build

SECONDS = 60
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
    made_guest.start()
    made_guest.emulator.expect_exit()
    made_guest.resume()
    for name, cases in INSTRUCTIONS.items():
        event = made_guest.control.wait_event("console", SECONDS, user="OPERATOR")
        assert event.data["text"].split("LINUX001: ")[-1] == f"{name} {cases} WRONG 0000"
    assert made_guest.emulator.wait(SECONDS) == 0
