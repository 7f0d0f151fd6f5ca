# SPDX-License-Identifier: MIT
"""The commands that s390-tools' dbginfo.sh gives to CP, in a guest that may give all of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from zvmlab.guest.guest import Guest

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Commands

LIST = Path(__file__).with_name("dbginfo_commands.txt")
COUNT, WANTED = 66, 55
UNKNOWN_TEXTS = {
    "q cpservice", "q cpprot user", "q specex", "q sxspages", "q proc topology",
    "q qioass", "q dump", "q reorder VMUSERID", "q syscontrol",
}  # fmt: skip
"""No public text says how CP answers: refused as an option that it does not have."""
NO_LONGER = {"q xstore", "q xstore user system"}
"""z/VM has had no expanded storage since 6.4."""
NO_DEVICE = {f"q v {kind}" for kind in ("osa", "dasd", "crypto", "fcp", "pav", "sw", "nic")}
NO_DEVICE.add("q nic")

pytestmark = [pytest.mark.zvmlab(cp={"class": "ABCDEFG"})]


def commands() -> list[str]:
    """One a line; VMUSERID stands for the user."""
    lines = LIST.read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def expected(command: str) -> tuple[int, str]:
    """CP's return code, and a pattern of the whole response where CP refuses."""
    words = command.replace("VMUSERID", "LINUX001").upper().split()
    if command in NO_DEVICE:
        return 40, rf"HCPQVD040E Device {words[-1]} does not exist\n"
    if command == "q proc topology":
        return 3, (
            r"HCPCQV003E Invalid option - command contains extra option\(s\) starting with "
            r"TOPOLOGY\n"
        )
    if command in UNKNOWN_TEXTS | NO_LONGER:
        return 3, rf"HCPCQV003E Invalid option - {words[1]}\n"
    return 0, r"(?!HCP)[\s\S]*"


@pytest.mark.requirement("V11")
def test_every_command_of_dbginfo_is_answered(
    guest: Guest, vmcp_in: Callable[[Guest], Commands]
) -> None:
    """At least 55 of 66 as by z/VM, the others with CP's own message."""
    vmcp = vmcp_in(guest)
    given = commands()
    assert len(given) == COUNT
    wrong: list[str] = []
    for command in given:
        answer = vmcp(command.replace("VMUSERID", "LINUX001"), 65536)
        rc, pattern = expected(command)
        if answer.rc != rc or not re.fullmatch(pattern, answer.text):
            wrong.append(f"{command}: rc {answer.rc}: {answer.text}")
    assert not wrong
    assert COUNT - len(UNKNOWN_TEXTS) >= WANTED


@pytest.mark.requirement("V11")
def test_what_programs_read_in_the_answers(
    guest: Guest, vmcp_in: Callable[[Guest], Commands]
) -> None:
    """Feilong's patterns find their numbers, which are those of Linux."""
    vmcp = vmcp_in(guest)
    online = guest.agent.read_file("/sys/devices/system/cpu/online").decode()
    cpus = int(online.strip().rpartition("-")[2]) + 1
    assert len(re.findall(r"^PROCESSOR", vmcp("query processor").text, re.M)) == cpus
    assert re.search(r"AVGPROC-(\d+)%", vmcp("indicate load").text)
    assert re.search(r"PAGING-(\d+)/SEC", vmcp("indicate load").text)
    assert re.search(r"CHPID Virtualization is off", vmcp("query chpidv").text)
    frames = re.search(r"Configured=(\d+)", vmcp("query frames").text)
    total = re.search(r"MemTotal:\s+(\d+) kB", guest.agent.read_file("/proc/meminfo").decode())
    assert frames and total and int(frames[1]) * 4 > int(total[1])
    assert vmcp("query rdr userid *").text == "NO RDR FILES\n"
    assert vmcp("detach 260c").text == "HCPDTV040E Device 260C does not exist\n"
