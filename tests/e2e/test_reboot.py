# SPDX-License-Identifier: MIT
"""Linux boots again while drivers have what they have of CP, and nobody gives it back.

A boot takes ten times as long as what each driver does before and after it, so one does for all of them.  Each
driver's file has a test with a boot of its own for `make check-full`.
"""

from __future__ import annotations

import contextlib

import pytest

from test_dasd_diag import file_system_at_a_boot
from test_hmcdrv import request_at_a_boot
from test_machine_commands import ACTIONS, BOOT_ID, RESTARTS, asked, boots_again
from test_monwriter import buffers_at_a_boot
from test_vmur import files_at_a_boot
from test_watchdog import time_bomb_at_a_boot
from vdisk_lab import DIRECTORY, MODULES, VIRTUAL
from zvmlab.guest.config import QEMU
from zvmlab.guest.guest import Guest

DEVICES = "OPTION APPLMON;SPOOL 00C 2540 READER *;SPOOL 00D 2540 PUNCH A"
DRIVERS = ("monwriter", "diag288_wdt", "hmcdrv", "vmur", *MODULES, "ext4")
SUBJECTS = (
    buffers_at_a_boot,
    time_bomb_at_a_boot,
    request_at_a_boot,
    files_at_a_boot,
    file_system_at_a_boot,
)


@pytest.mark.zvmlab(cp={"directory": f"{DIRECTORY};{DEVICES}"}, modules=DRIVERS, busybox=True)
@pytest.mark.requirement("F9", "K4", "R13", "V1", "W15", "Z8")
@VIRTUAL
@RESTARTS
def test_nothing_is_given_back_before_a_boot(guest: Guest, zvmlab_backend: str) -> None:
    """The boot is Linux' action for a restart interruption, which is CP's SYSTEM RESTART."""
    if zvmlab_backend != QEMU:
        pytest.skip("Hercules has devices of its own, and no external interruption X'2603'")
    with contextlib.ExitStack() as subjects:
        for subject in SUBJECTS:
            subjects.enter_context(subject(guest))
        first = guest.agent.read_file(BOOT_ID)
        guest.agent.write_file(f"{ACTIONS}/on_restart", b"reipl")
        assert guest.cp("SYSTEM RESTART").rc == 0
        asked(guest, "restart")
        boots_again(guest, first)
