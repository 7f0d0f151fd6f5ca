# SPDX-License-Identifier: MIT
"""Control program identification: what the guest says that it is reaches the emulator."""

from __future__ import annotations

import re
import time

import pytest
from waiting import fair

from zvmlab.guest.config import HERCULES, QEMU
from zvmlab.guest.guest import Guest

CPI = "/sys/firmware/cpi"
SECONDS = 60
SAID = {
    "system_type": "LINUX",
    "system_name": "MYNAME",
    "sysplex_name": "PLEX#1",
    "system_level": "0x0123456789abcdef",
}
# What each emulator writes into its log; Hercules leaves the level out.
TOLD = {
    QEMU: 'control program: type "LINUX", name "MYNAME", sysplex "PLEX#1", level 0123456789abcdef',
    HERCULES: r"CPI: System Type: LINUX +Name: MYNAME +Sysplex: PLEX#1",
}


@pytest.mark.requirement("J2")
def test_the_guest_says_what_it_is(guest: Guest) -> None:
    for name, value in SAID.items():
        guest.agent.write_file(f"{CPI}/{name}", f"{value}\n".encode())
        assert guest.agent.read_file(f"{CPI}/{name}").decode().strip() == value
    log = guest.emulator.log
    assert not re.search("MYNAME", log.read_text("ascii", "replace"))
    guest.agent.write_file(f"{CPI}/set", b"1\n")
    limit = fair(SECONDS)
    # Hercules has a thread that writes its log.
    while not re.search(TOLD[guest.config.backend], log.read_text("ascii", "replace")):
        assert not limit.over, log.read_text("ascii", "replace")
        time.sleep(0.05)
