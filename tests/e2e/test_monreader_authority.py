# SPDX-License-Identifier: MIT
"""Restrictions by the directory: *MONITOR without a statement, commands without class E."""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from zvmlab.guest.guest import Guest
from zvmlab.monitor.monitor import DEVICE
from zvmlab.monitor.steps import Log

if TYPE_CHECKING:
    from conftest import Commands

# IPRCODE X'0F' of CONNECT: not authorised.
NOT_AUTHORISED = 15


@pytest.mark.requirement("M5")
@pytest.mark.zvmlab(cp={"directory": "IUCV ANY;IUCV *MSG;NAMESAVE MONDCSS"})
def test_without_the_directory_statement_open_is_refused_eio(driver_guest: Guest) -> None:
    """Without IUCV *MONITOR in the directory the module loads, and open fails with the code."""
    agent = driver_guest.agent
    agent.insmod("monreader").check()
    log = Log(agent)
    for _ in range(2):
        assert agent.open(DEVICE).errno == errno.EIO
    refused = f"Connecting to the z/VM *MONITOR system service failed with rc={NOT_AUTHORISED}"
    assert log.texts() == [refused] * 2
    assert driver_guest.control.execute("query-monitor")["users"] == []
    agent.rmmod("monreader").check()


@pytest.mark.requirement("M10", "M11", "M13")
@pytest.mark.zvmlab(cp={"class": "G"})
def test_commands_about_the_monitor_need_class_e(
    guest: Guest, vmcp_in: Callable[[Guest], Commands]
) -> None:
    """A guest of class G cannot ask for segments or the monitor, nor control what is collected."""
    vmcp = vmcp_in(guest)
    before = guest.control.execute("query-monitor")
    unknown = {
        "MONITOR SAMPLE START",
        "MONITOR EVENT START",
        "MONITOR SAMPLE ENABLE ALL",
        "MONITOR EVENT DISABLE ALL",
        "MONITOR SAMPLE INTERVAL 30 SECONDS",
        "DEFSEG MYDCSS 8000-87FF SC",
        "SAVESEG MYDCSS",
    }
    for command in sorted(unknown):
        answer = vmcp(command)
        word = command.partition(" ")[0]
        assert (answer.rc, answer.text) == (1, f"HCPCMD001E Unknown CP command: {word}\n")
    for option in ("NSS", "MONITOR"):
        answer = vmcp(f"QUERY {option} MAP")
        assert (answer.rc, answer.text) == (3, f"HCPCQV003E Invalid option - {option}\n")
    # A class G user's PURGE is for files of the spool.
    answer = vmcp("PURGE NSS NAME MONDCSS")
    assert (answer.rc, answer.text) == (3, "HCPPUR003E Invalid option - NSS\n")
    assert guest.control.execute("query-monitor") == before
    (segment,) = guest.control.execute("query-segments")["segments"]
    assert segment["name"] == "MONDCSS"
    assert vmcp("QUERY USERID").rc == 0  # what class G may ask
