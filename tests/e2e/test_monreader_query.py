# SPDX-License-Identifier: MIT
"""QUERY NSS MAP and QUERY MONITOR from inside the guest, through /dev/vmcp."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from other_users import SAMPLE_DATA, connect

from zvmlab.cp.peer import Peer
from zvmlab.guest.guest import Guest
from zvmlab.monitor.monitor import DataSets

if TYPE_CHECKING:
    from conftest import Commands, Define

HEADER = "FILE FILENAME FILETYPE MINSIZE BEGPAG ENDPAG TYPE CL #USERS PARMREGS VMGROUP"
PAGE = 4096


def nss_map(vmcp: Commands, operands: str) -> list[dict[str, str]]:
    """Rows of QUERY NSS … MAP by the names of the columns."""
    answer = vmcp(f"Q NSS {operands}MAP")
    assert answer.rc == 0, answer.text
    header, *lines = answer.text.splitlines()
    assert header.split() == HEADER.split()
    return [dict(zip(HEADER.split(), line.split(), strict=True)) for line in lines]


def connected(vmcp: Commands) -> list[tuple[str, str]]:
    """Segment and users that QUERY MONITOR shows, first for event, then for sample data."""
    answer = vmcp("Q MONITOR")
    assert answer.rc == 0, answer.text
    names = re.findall(r"^MONITOR DCSS NAME - (.*)$", answer.text, re.MULTILINE)
    users = re.findall(r"^USERS CONNECTED TO \*MONITOR - (.*)$", answer.text, re.MULTILINE)
    return list(zip(names, users, strict=True))


NOBODY = [("NO DCSS NAME DEFINED", "NO USERS CONNECTED")] * 2


@pytest.mark.requirement("M10")
@pytest.mark.representative
def test_map_gives_the_place_in_pages_that_the_driver_logs(
    warm_guest: Guest, zvmlab_driver: str, vmcp: Commands
) -> None:
    """BEGPAG and ENDPAG, in 4 KiB pages, are the range that loading the module logs."""
    (row,) = nss_map(vmcp, "NAME MONDCSS ")
    wanted = {"FILENAME": "MONDCSS", "FILETYPE": "CPDCSS", "TYPE": "SC", "CL": "R"}
    assert wanted.items() <= row.items()
    assert (row["BEGPAG"], row["ENDPAG"]) == ("09000", "097FF")
    start, end = int(row["BEGPAG"], 16) * PAGE, (int(row["ENDPAG"], 16) + 1) * PAGE - 1
    loaded = warm_guest.agent.insmod("monreader").check()
    warm_guest.agent.rmmod("monreader").check()
    assert f"DCSS MONDCSS of range {start:016x} to {end:016x} and type SC" in loaded.text
    assert vmcp("Q NSS MAP").text == warm_guest.cp("QUERY NSS MAP").response


@pytest.mark.requirement("M10")
def test_map_lists_all_segments_and_ranges(vmcp: Commands, define: Define) -> None:
    """Without a name the map has every segment, one line for each range of pages."""
    define("MYDCSS", "8000-80FF SR 8200-82FF EN")
    rows = nss_map(vmcp, "")
    assert [(row["FILENAME"], row["BEGPAG"], row["ENDPAG"], row["TYPE"]) for row in rows] == [
        ("MONDCSS", "09000", "097FF", "SC"),
        ("MYDCSS", "08000", "080FF", "SR"),
        ("MYDCSS", "08200", "082FF", "EN"),
    ]
    assert vmcp("Q NSS NAME NOSUCH MAP").rc == 44


@pytest.mark.requirement("M10")
def test_map_counts_the_guest_and_the_monitor_as_users(
    warm_guest: Guest, zvmlab_driver: str, vmcp: Commands
) -> None:
    """#USERS is 0 before, 1 with the module loaded, 2 while the device is open, and 0 at last."""
    agent = warm_guest.agent
    seen: list[str] = []

    def look() -> None:
        seen.extend(row["#USERS"] for row in nss_map(vmcp, "NAME MONDCSS "))

    look()
    agent.insmod("monreader").check()
    look()
    with DataSets(agent):
        look()
    look()
    agent.rmmod("monreader").check()
    look()
    assert seen == ["00000", "00001", "00002", "00001", "00000"]


@pytest.mark.requirement("M11")
@pytest.mark.representative
def test_monitor_shows_segment_and_users_before_during_and_after(
    monreader: Guest, vmcp: Commands
) -> None:
    """QUERY MONITOR names the DCSS and the guest while the device is open, and only then."""
    assert connected(vmcp) == NOBODY
    for _ in range(2):
        with DataSets(monreader.agent):
            assert connected(vmcp) == [("MONDCSS", "LINUX001")] * 2
            assert vmcp("Q MONITOR").text == monreader.cp("QUERY MONITOR").response
        assert connected(vmcp) == NOBODY


@pytest.mark.requirement("M11")
def test_monitor_shows_several_users_and_what_they_want(monreader: Guest, vmcp: Commands) -> None:
    """Users are listed in the order they came, each for the kind of data it asked for."""
    with Peer(monreader.control, "PERFSVM") as peer:
        path = connect(peer, wants=SAMPLE_DATA)
        assert connected(vmcp) == [("MONDCSS", "NO USERS CONNECTED"), ("MONDCSS", "PERFSVM")]
        with DataSets(monreader.agent):
            assert connected(vmcp) == [("MONDCSS", "LINUX001"), ("MONDCSS", "PERFSVM LINUX001")]
        peer.sever(path)
        assert connected(vmcp) == NOBODY


@pytest.mark.requirement("M11")
def test_monitor_shows_what_is_enabled(monreader: Guest, vmcp: Commands) -> None:
    """The domains that are collected are shown for event and for sample data."""
    text = vmcp("Q MONITOR").text
    assert text.splitlines()[0].startswith("MONITOR EVENT INACTIVE")
    found = re.findall(r"^(\S+) +DOMAIN (\w+)$", text, re.MULTILINE)
    enabled = [domain for domain, state in found if state == "ENABLED"]
    assert enabled == ["MONITOR", "MONITOR", "SYSTEM"]  # always on
    assert len(found) == 11 + 10
    with DataSets(monreader.agent):
        assert vmcp("MONITOR SAMPLE START").text == "Monitor sample started\n"
        assert "\nMONITOR SAMPLE ACTIVE\n" in vmcp("Q MONITOR").text
        assert vmcp("MONITOR SAMPLE STOP").rc == 0
    assert "\nMONITOR SAMPLE INACTIVE\n" in vmcp("Q MONITOR").text
