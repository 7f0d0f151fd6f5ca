# SPDX-License-Identifier: MIT
"""The driver where there is no z/VM: the same emulator without the CP."""

from __future__ import annotations

from pathlib import Path

import pytest

from without_zvm import STOPPED, console_of, loads
from zvmlab.guest.config import HERCULES, GuestConfig

MODULE = "monreader"
REFUSED = f"zvmlab: /lib/modules/{MODULE}.ko cannot be loaded: No such device"


@pytest.mark.requirement("M4")
def test_without_zvm_loading_fails_and_says_so_enodev(
    guest_config: GuestConfig, zvmlab_driver: str, zvmlab_dir: Path
) -> None:
    """On a machine that is not z/VM the module does not load (ENODEV) and the log says why."""
    assert zvmlab_driver
    log = console_of(loads(guest_config, zvmlab_dir, [MODULE]), zvmlab_dir)
    assert "The z/VM *MONITOR record device driver cannot be loaded without z/VM" in log
    # In Hercules the power may go before the console has written /init's last lines.
    assert REFUSED in log or (guest_config.backend == HERCULES and STOPPED in log)
