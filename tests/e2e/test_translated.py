# SPDX-License-Identifier: MIT
"""Our QEMU keeps translations longer than stock QEMU, but not too long: docs/qemu-speed.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from zvmlab.guest.config import HERCULES, GuestConfig
from zvmlab.guest.guest import Guest

if TYPE_CHECKING:
    from conftest import Build

pytestmark = pytest.mark.first_kernel(always=True)
SECONDS = 240
ANYHOW = ("PREFIX AREA", "ELSEWHERE", "ACROSS")
UNPROTECTED = ("SVC", "PROGRAM", "EXTERNAL", "STFL", "PAGE 1")
LOADED = ("LCTLG 1", "LCTL 1", "LCTLG ALL", "LCTLG 7", "MVCP MVCS", "LCTLG 13")
PURGED = ("IPTE", "IDTE SPACE", "IDTE SEGMENT", "CSP", "CSPG")
CHANGES = "07D0"


@pytest.fixture
def guest_config(bare: Build, request: pytest.FixtureRequest) -> GuestConfig:
    """A bare-metal program instead of a kernel, on so many CPUs."""
    name, cpus = request.param
    return GuestConfig(kernel=str(bare(name)), cpus=cpus)


def _expect(guest: Guest, *lines: str, not_in_hercules: tuple[str, ...] = ()) -> None:
    """The program says these lines, with nothing wrong, and ends."""
    if guest.config.backend == HERCULES:
        lines = tuple(line if line not in not_in_hercules else "" for line in lines)
    guest.start()
    guest.emulator.expect_exit()
    guest.resume()
    for line in lines:
        event = guest.control.wait_event("console", SECONDS, user="OPERATOR")
        said = event.data["text"].split("LINUX001: ")[-1]
        assert said == f"{line} WRONG 0000" or not line
    assert guest.emulator.wait(SECONDS) == 0


@pytest.mark.parametrize("guest_config", [("rewriting", 1)], indirect=True)
def test_code_that_is_written_over(made_guest: Guest) -> None:
    """By instructions and interruptions; some of it in the prefix area, or in two pages."""
    modes = {
        "REAL PROTECTED": ANYHOW,
        "DAT PROTECTED": ANYHOW,
        "DAT": (*ANYHOW, *UNPROTECTED),
        "REAL": (*ANYHOW, *UNPROTECTED),
    }
    _expect(made_guest, *(f"{mode} {name}" for mode, names in modes.items() for name in names))


@pytest.mark.parametrize("guest_config", [("translations", 1), ("translations", 4)], indirect=True)
def test_no_translation_outlives_what_ends_it(made_guest: Guest) -> None:
    """Control registers, purging, prefix, storage keys; the other CPUs look on."""
    alone = (*LOADED, *PURGED, "PTLB", "SPX", "SSKE")
    cpus = made_guest.config.cpus
    _expect(
        made_guest,
        *(f"{name} {CHANGES}" for name in alone),
        *(f"{name} {cpus:04X}" for name in PURGED),
        # Hercules 3.13 does not note a change after the key was set.
        not_in_hercules=(f"SSKE {CHANGES}",),
    )


@pytest.mark.parametrize("guest_config", [("protected", 1)], indirect=True)
def test_low_address_protection(made_guest: Guest) -> None:
    """Stores of all kinds at the boundaries, with storage-alteration events beside them."""
    _expect(
        made_guest,
        *("REAL OFF", "REAL ON", "REAL ON PER", "LAST PAGE", "DAT ON", "DAT ON PER"),
        *("PRIVATE ON", "DAT ON AGAIN", "DAT OFF", "DAT OFF PER", "REASON"),
        # Hercules 3.13 does not tell one kind of protection from another.
        not_in_hercules=("REASON",),
    )


@pytest.mark.parametrize("guest_config", [("bear", 1)], indirect=True)
def test_breaking_event_addresses(made_guest: Guest, zvmlab_backend: str) -> None:
    if zvmlab_backend == HERCULES:
        pytest.skip("Hercules 3.13 does not have the BEAR-enhancement facility")
    _expect(
        made_guest,
        *("FACILITY", "LBEAR STBEAR", "BOUNDARIES", "NO STORAGE", "PROBLEM STATE"),
        *("BRANCHES", "LPSWE", "LPSWEY", "SVC"),
    )
