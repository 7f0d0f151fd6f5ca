# SPDX-License-Identifier: MIT
"""A guest without an operating system looks at the segment's addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from zvmlab.guest.config import DEFAULT_SEGMENTS, GuestConfig
from zvmlab.guest.guest import Guest

if TYPE_CHECKING:
    from conftest import Build

NONE, PROTECTION, ADDRESSING, SPECIFICATION = "0", "4", "5", "6"
ACCEPTED, REFUSED = "0", "1"
SECONDS = 60


@pytest.fixture
def guest_config(bare: Build, request: pytest.FixtureRequest) -> GuestConfig:
    """A bare-metal program instead of a kernel: segment, or what the test names."""
    name, segments = getattr(request, "param", ("segment", DEFAULT_SEGMENTS))
    return GuestConfig(kernel=str(bare(name)), cpus=2, segments=segments)


@pytest.mark.representative
def test_sc_segment_can_be_read_while_loaded_and_never_stored_into(made_guest: Guest) -> None:
    made_guest.start()
    made_guest.emulator.expect_exit()
    made_guest.resume()
    lines = []
    for _ in range(11):
        event = made_guest.control.wait_event("console", SECONDS, user="OPERATOR")
        lines.append(event.data["text"].split("LINUX001: ")[-1])
    assert lines == [
        f"LOADED START {NONE} {PROTECTION}",
        f"LOADED END {NONE} {PROTECTION}",
        f"PURGED START {ADDRESSING} {ADDRESSING}",
        f"PURGED END {ADDRESSING} {ADDRESSING}",
        f"AGAIN START {NONE} {PROTECTION}",
        f"BEYOND {ADDRESSING} {ADDRESSING}",
        f"KEYS {NONE} {ADDRESSING}",
        f"PREFIX {ADDRESSING} {ADDRESSING}",
        f"SET PREFIX {ACCEPTED} {REFUSED}",
        f"STORE STATUS {ACCEPTED} {REFUSED}",
        f"HYPERCALL {SPECIFICATION} {SPECIFICATION}",
    ]
    assert made_guest.emulator.wait(SECONDS) == 0


@pytest.mark.parametrize("guest_config", [("prefix", ("INSIDE 2000-20FF SC",))], indirect=True)
@pytest.mark.representative
def test_cp_stores_nothing_into_a_read_only_segment_by_way_of_the_prefix(made_guest: Guest) -> None:
    """It is loaded over the prefix area: an interruption that would be stored there is not taken."""
    made_guest.start()
    made_guest.emulator.expect_exit()
    made_guest.resume()
    said = made_guest.control.wait_event("console", SECONDS, user="OPERATOR").data["text"]
    assert said.endswith("BACK 1 CHANGED 0000")
    assert made_guest.emulator.wait(SECONDS) == 0
