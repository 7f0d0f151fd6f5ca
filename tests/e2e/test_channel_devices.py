# SPDX-License-Identifier: MIT
"""Channel programs of CP's devices, by a guest without an operating system: right and wrong ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from keyboard import type_keys
from waiting import wait_until
from zvmlab.cp import disk
from zvmlab.guest.config import HERCULES, GuestConfig
from zvmlab.guest.guest import Guest

if TYPE_CHECKING:
    from conftest import Build

pytestmark = [pytest.mark.first_kernel(always=True), pytest.mark.representative]
SECONDS = 240

# Unit status, subchannel status, residual count.  Status are those of the Principles of Operation
# (0C: channel end, device end; 40: incorrect length; 20: program check), sense that of GA26-1657.
SAID = (
    ("CONSOLE", "00 09 0000"),
    ("DISK", "02 00 0000"),
    ("READ", "0C 00 0000"),
    ("DATA", "A7 A7 0000"),
    ("INDIRECT", "0C 00 0000"),
    ("READ", "0C 00 0000"),
    ("DATA", "11 22 0000"),
    ("LESS", "0C 40 0000"),
    ("MORE", "0C 40 0001"),
    ("MORE SLI", "0C 00 0001"),
    ("NOWHERE", "00 20 0000"),
    ("DATA CHAIN", "00 20 0000"),
    ("NOT LOCATED", "0E 00 0100"),
    ("SENSE", "80 00 0000"),
    ("LOCATE", "0C 00 0000"),
    ("NEXT PROGRAM", "0E 00 0200"),
    ("SENSE", "80 00 0000"),
    ("OUTSIDE", "0E 00 0000"),
    ("SENSE", "00 04 0000"),
    ("LOOP", "00 20 0000"),
    ("UNKNOWN", "02 00 0000"),
    ("SENSE", "80 00 0000"),
    ("WRITE", "0C 00 0000"),
    # Condition codes: started, no status, busy.
    ("WAITS", "00 01 0002"),
    ("HALT", "00 00 0000"),
    ("STATUS", "00 00 0000"),
    ("STATUS", "04 00 0000"),
    ("WRITE", "0C 00 0000"),
    ("WAITS", "00 01 0002"),
    ("CLEAR", "00 00 0000"),
    ("STATUS", "00 00 0000"),
    ("STATUS", "00 00 0000"),
    ("WRITE", "0C 00 0000"),
    ("TYPE", "00 01 0002"),
)
TYPED = (("TYPED", "0C 00 0000"), ("DATA", "88 89 0000"))
TOLD = (
    ("ATTENTION", "80 00 0000"),
    ("READ", "0C 00 0000"),
    ("DATA", "89 88 0000"),
    ("UNKNOWN", "02 00 0000"),
    ("SENSE", "80 00 0000"),
)


@pytest.fixture
def guest_config(bare: Build, zvmlab_backend: str) -> GuestConfig:
    """The bare-metal program, and its devices."""
    if zvmlab_backend == HERCULES:
        pytest.skip("its devices are Hercules' own, and CP has no part in them")
    directory = "MDISK 0200 FB-512 V-DISK 16 MW"
    return GuestConfig(kernel=str(bare("devices")), cp={"directory": directory, "conmode": "3215"})


def test_each_program_ends_as_it_should(made_guest: Guest) -> None:
    made_guest.start()
    disk.write(made_guest.control, 0x200, 0, bytes(3 * 512) + b"\xa7" * 512 + bytes(12 * 512))
    made_guest.resume()

    def expect(lines: tuple[tuple[str, str], ...]) -> None:
        for what, values in lines:
            event = made_guest.control.wait_event("console", SECONDS, user="OPERATOR")
            assert event.data["text"].split("LINUX001: ")[-1] == f"{what} {values}"

    expect(SAID)
    type_keys(made_guest, b"hi\n")
    expect(TYPED)
    type_keys(made_guest, b"ih\n")
    expect(TOLD)
    shown = made_guest.channels.console_log.read_text
    wait_until(lambda: shown("latin-1").count("READ") == 2, "both answers", shown)
    assert shown("latin-1").splitlines() == ["AT THE CONSOLE"] * 3 + ["hi", "READ", "ih", "READ"]
    assert disk.read(made_guest.control, 0x200, 3, 1) == b"\x11" * 256 + b"\x22" * 256
