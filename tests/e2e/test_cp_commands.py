# SPDX-License-Identifier: MIT
"""CP's answers about the guest and other users, beyond Linux' own knowledge."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from zvmlab.cp.peer import Peer
from zvmlab.guest.guest import Guest

if TYPE_CHECKING:
    from conftest import Commands

CPUS = 3
Asked = Callable[[str], tuple[int, str]]
pytestmark = [pytest.mark.zvmlab(cpus=CPUS, cp={"class": "EG"})]


@pytest.fixture
def asked(guest: Guest, vmcp_in: Callable[[Guest], Commands]) -> Asked:
    """asked(COMMAND): CP's return code and response."""
    vmcp = vmcp_in(guest)

    def run(command: str) -> tuple[int, str]:
        answer = vmcp(command)
        return answer.rc, answer.text

    return run


def cpu_ids(guest: Guest) -> list[str]:
    """Linux' line of each CPU: version, identification and machine, from STIDP."""
    text = guest.agent.read_file("/proc/cpuinfo").decode()
    line = r"^processor \d+: version = (..),  identification = (.{6}),  machine = (.{4})$"
    return ["".join(words) for words in re.findall(line, text, re.M)]


@pytest.mark.requirement("V6")
@pytest.mark.representative
def test_cpuid_is_of_a_guest_of_zvm(asked: Asked) -> None:
    """aassssssccccdddd of IBM's manual: FF, and 8000 on all servers."""
    rc, text = asked("QUERY CPUID")
    assert rc == 0
    assert re.fullmatch(r"CPUID= FF[0-9A-F]{10}8000\n", text)


@pytest.mark.requirement("V6")
def test_cpus_are_those_of_linux(guest: Guest, asked: Asked) -> None:
    """CP has as many CPUs as Linux, with the numbers of STIDP; one of them is the base."""
    rc, text = asked("QUERY VIRTUAL CPUS")
    lines = text.splitlines()
    assert rc == 0
    ids = cpu_ids(guest)
    assert len(lines) == len(ids) == CPUS
    assert asked("QUERY CPUID") == (0, f"CPUID= {ids[0]}8000\n")
    for number, line in enumerate(lines):
        base = "(BASE) " if number == 0 else ""
        assert line == f"CPU {number:02X}  ID  {ids[number]}8000 {base}CP  CPUAFF ON"


@pytest.mark.requirement("V6")
def test_command_for_all_cpus_runs_once_for_each(asked: Asked) -> None:
    """And for one, once; a CPU that is not there is refused, and so is a list within a list."""
    _, once = asked("QUERY USERID")
    assert asked("CPU ALL QUERY USERID") == (0, once * CPUS)
    assert asked(f"CPU {CPUS - 1:02X} QUERY USERID") == (0, once)
    assert asked(f"CPU {CPUS:02X} QUERY USERID") == (
        3,
        f"HCPCPU003E Invalid option - {CPUS:02X}\n",
    )
    rc, text = asked("CPU ALL " * 28 + "QUERY")
    assert (rc, len(text.splitlines())) == (3, CPUS)


@pytest.mark.requirement("V7")
@pytest.mark.parametrize(("operand", "shown"), (("DASD",) * 2, ("NIC",) * 2, ("191", "0191")))
def test_device_that_is_not_there_is_040e(asked: Asked, operand: str, shown: str) -> None:
    """The guest has a console, and nothing else that CP knows of."""
    assert asked(f"QUERY VIRTUAL {operand}") == (
        40,
        f"HCPQVD040E Device {shown} does not exist\n",
    )


@pytest.mark.requirement("V8")
def test_share_is_what_the_user_has(guest: Guest, asked: Asked) -> None:
    """The default of 100, and what a test describes."""
    guest.control.execute("guest-describe", name="WEB", share=200, **{"share-max": 300})
    rc, text = asked("QUERY SHARE LINUX001")
    assert (rc, text.split()[-5:]) == (0, "100 MAXIMUM SHARE = NOLIMIT".split())
    rc, text = asked("QUERY SHARE WEB")
    assert rc == 0
    assert re.search(r"^USER WEB     : .*RELATIVE SHARE = 200$", text, re.M)
    assert asked("QUERY SHARE NOBODY") == (45, "HCPQSH045E NOBODY not logged on\n")


@pytest.mark.requirement("V8")
def test_xautolog_logs_nobody_on_twice(guest: Guest, asked: Asked) -> None:
    """054E for who is there, 053E for who is in no directory, 020E without a name."""
    guest.control.execute("guest-describe", name="WEB")
    with Peer(guest.control, "TESTER"):
        for name in ("WEB", "TESTER", "LINUX001"):
            assert asked(f"XAUTOLOG {name}") == (54, f"HCPAUT054E {name} already logged on\n")
    assert asked("XAUTOLOG TESTER") == (53, "HCPAUT053E TESTER not in CP directory\n")
    guest.control.execute("guest-describe", name="MAIL", **{"logged-off": True})
    assert asked("XAUTOLOG MAIL") == (0, "Command accepted\n")
    assert asked("XAUTOLOG MAIL") == (54, "HCPAUT054E MAIL already logged on\n")
    assert asked("XAUTOLOG") == (20, "HCPAUT020E Userid missing or invalid\n")


@pytest.mark.requirement("V8")
def test_user_of_the_directory_is_told_from_nobody(guest: Guest, asked: Asked) -> None:
    """As feilong asks: on, 045E for users who are off, 003E for those not in the directory."""
    guest.control.execute("guest-describe", name="WEB")
    guest.control.execute("guest-describe", name="MAIL", **{"logged-off": True})
    assert asked("QUERY WEB") == (0, "WEB      - DSC\n")
    assert asked("QUERY MAIL") == (45, "HCPCQU045E MAIL not logged on\n")
    assert asked("QUERY NOBODY") == (3, "HCPCQV003E Invalid option - NOBODY\n")
    assert asked("QUERY USERS NOBODY") == (53, "HCPCQU053E NOBODY not in CP directory\n")


@pytest.mark.requirement("V5")
def test_class_missing_is_as_if_unknown(asked: Asked) -> None:
    """The guest has E and G: no command of class A, B or C, and no option of one."""
    assert asked("SIGNAL SHUTDOWN LINUX001") == (1, "HCPCMD001E Unknown CP command: SIGNAL\n")
    assert asked("MSGNOH OPERATOR X") == (1, "HCPCMD001E Unknown CP command: MSGNOH\n")
    assert asked("ACNT ALL") == (1, "HCPCMD001E Unknown CP command: ACNT\n")
