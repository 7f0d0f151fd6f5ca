# SPDX-License-Identifier: MIT
"""The emulator executes code as it is, not as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zvmlab.guest.guest import Guest

if TYPE_CHECKING:
    from conftest import Build


def test_code_written_over_other_code_is_executed(warm_guest: Guest, program: Build) -> None:
    warm_guest.agent.write_file("/tmp/rewritten", program("rewritten").read_bytes(), 0o755)
    done = warm_guest.agent.run(["/tmp/rewritten"])
    assert done.stdout == b"0 of 1000\n"
