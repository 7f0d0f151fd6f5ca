# SPDX-License-Identifier: MIT
"""Buffers of /dev/vmcp and of Debian's vmcp: responses that fit, and those that are cut."""

from __future__ import annotations

import errno
import os
import re
import struct

import pytest

from zvmlab.agent.agent import Agent
from zvmlab.agent.calls import Both
from zvmlab.builder.guesttools import debian_program
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest

# The documented ioctls: type 0x10; 1 GETCODE, 2 SETBUF, 3 GETSIZE, all on int.
GETCODE, SETBUF, GETSIZE = 0x80041001, 0x40041002, 0x80041003
PAGE, MEBIBYTE = 4096, 1 << 20
LONGEST = 240
TOOL = "/sbin/vmcp"
# Each makes 32 bytes of response and as many as it has itself.
UNKNOWN = "HCPCMD001E Unknown CP command: "
TRUNCATED = "Error: output ({} bytes) was truncated, try --buffer to increase size"


def ioctl(agent: Agent, fd: int, request: int, value: int = 0) -> tuple[int, int]:
    """The error number, and the value that the ioctl leaves."""
    result = agent.ioctl(fd, request, Both(struct.pack(">i", value)))
    return result.errno, int.from_bytes(result.data, "big", signed=True)


def opened(agent: Agent) -> int:
    return agent.open("/dev/vmcp", os.O_RDWR).check()


def answer(agent: Agent, fd: int, command: str) -> tuple[int, int, bytes]:
    """CP's return code, the length that the response has, and what read() gives."""
    data = command.encode()
    assert agent.write(fd, data).check() == len(data)
    (error, code), (_, size) = ioctl(agent, fd, GETCODE), ioctl(agent, fd, GETSIZE)
    assert error == 0
    agent.lseek(fd, 0)
    return code, size, agent.read(fd, MEBIBYTE).data


def words(length: int) -> str:
    """One command whose response has this length with its newline."""
    return "X" * (length - len(UNKNOWN) - 1)


@pytest.mark.requirement("V9")
@pytest.mark.parametrize("length", (33, 64, 100, 200, 271))
def test_response_of_any_length_fits_exactly_or_is_cut(warm_guest: Guest, length: int) -> None:
    """Buffers of one byte less, as much, and one byte more."""
    agent, command = warm_guest.agent, words(length)
    whole = f"{UNKNOWN}{command}\n".encode()
    assert len(whole) == length
    fd = opened(agent)
    for size in (length - 1, length, length + 1, PAGE):
        assert ioctl(agent, fd, SETBUF, size)[0] == 0
        wanted = whole if size >= length else bytes(size)  # CP stores whole lines
        assert answer(agent, fd, command) == (1, length, wanted)
    agent.close(fd).check()


@pytest.mark.requirement("V9")
def test_before_a_command_there_is_nothing_to_read(warm_guest: Guest) -> None:
    agent = warm_guest.agent
    fd = opened(agent)
    assert agent.read(fd, PAGE).check() == 0
    assert agent.write(fd, b"QUERY USERID").check() == 12
    assert agent.read(fd, PAGE).data == b"LINUX001 AT ZVMLAB\n"
    agent.close(fd).check()


@pytest.mark.requirement("V9")
@pytest.mark.zvmlab(command_line="vmcp_cma=8M")
def test_storage_for_buffers_is_set_aside(guest: Guest) -> None:
    """4 MiB by default (CONFIG_VMCP_CMA_SIZE), or as the kernel's parameter says."""
    text = guest.agent.read_file("/proc/meminfo").decode()
    assert re.search(r"^CmaTotal: +8192 kB$", text, re.M)
    fd = opened(guest.agent)
    assert ioctl(guest.agent, fd, SETBUF, MEBIBYTE)[0] == 0
    assert answer(guest.agent, fd, "QUERY USERID")[0] == 0
    guest.agent.close(fd).check()


@pytest.mark.requirement("V9")
def test_buffer_has_limits_einval(warm_guest: Guest) -> None:
    """A refused value leaves a page."""
    agent = warm_guest.agent
    fd = opened(agent)
    for size in (1, PAGE, PAGE + 1, MEBIBYTE - 1, MEBIBYTE):
        assert ioctl(agent, fd, SETBUF, size)[0] == 0
        assert answer(agent, fd, "QUERY USERID")[:2] == (0, len("LINUX001 AT ZVMLAB\n"))
    many = "\n".join(["QUERY MONITOR"] * 8)
    for size in (0, -1, -(1 << 31), MEBIBYTE + 1, (1 << 31) - 1):
        assert ioctl(agent, fd, SETBUF, size)[0] == errno.EINVAL
        code, length, data = answer(agent, fd, many)
        assert code == 0 and length > PAGE and len(data) == PAGE
    agent.close(fd).check()


@pytest.mark.requirement("V9")
def test_largest_response_comes_whole(guest: Guest) -> None:
    """The longest response to 240 characters, with as many users as can be described."""
    agent = guest.agent
    for number in range(64):
        guest.control.execute("guest-describe", name=f"USER{number:04}")
    once = guest.cp("QUERY NAMES").response
    command = "\n".join(["Q N"] * (LONGEST // 4))
    wanted = (once.rstrip("\n") + "\n") * (LONGEST // 4)
    fd = opened(agent)
    assert ioctl(agent, fd, SETBUF, MEBIBYTE)[0] == 0
    code, length, data = answer(agent, fd, command)
    assert (code, length, data.decode()) == (0, len(wanted), wanted)
    # It takes sixteen pages, to the last of them.
    assert length > 15 * PAGE
    agent.close(fd).check()


@pytest.mark.requirement("V9")
def test_code_is_that_of_the_last_command(warm_guest: Guest) -> None:
    """None before the first; a command that is too long changes nothing."""
    agent = warm_guest.agent
    fd = opened(agent)
    assert answer(agent, fd, "XYZ")[0] == 1
    assert answer(agent, fd, "QUERY XYZ")[0] == 3
    assert agent.write(fd, b"Q" * (LONGEST + 1)).errno == errno.EINVAL
    assert ioctl(agent, fd, GETCODE) == (0, 3)
    assert answer(agent, fd, "QUERY USERID")[0] == 0
    agent.close(fd).check()


@pytest.fixture
def guest_config(guest_config: GuestConfig, request: pytest.FixtureRequest) -> GuestConfig:
    """With Debian's vmcp, for the tests of it."""
    if "tool" not in request.node.name:
        return guest_config
    return guest_config._replace(files=debian_program(TOOL))


def tool(agent: Agent, *arguments: str) -> tuple[int | None, str, str]:
    """Exit status, output and error output of the program."""
    done = agent.run([TOOL, *arguments], timeout=120)
    return done.status, done.stdout.decode(), done.stderr.decode().strip()


@pytest.mark.requirement("V10")
@pytest.mark.representative
def test_tool_prints_the_response_and_cps_code(guest: Guest) -> None:
    """Upper case unless -k; 1 for an error of CP, whose text is printed all the same."""
    agent = guest.agent
    assert tool(agent, "query", "userid") == (0, "LINUX001 AT ZVMLAB\n", "")
    status, output, error = tool(agent, "frobnicate", "now")
    assert (status, output) == (1, f"{UNKNOWN}FROBNICATE\n")
    # The command as it was given, or as it was sent.
    assert error.upper() == "ERROR: NON-ZERO CP RESPONSE FOR COMMAND 'FROBNICATE NOW': #1"
    assert tool(agent, "signal", "shutdown", "*")[:2] == (1, f"{UNKNOWN}SIGNAL\n")
    assert tool(agent, "-k", "msg operator Hello")[0] == 0
    heard = guest.control.wait_event("console", 60.0, user="OPERATOR").data["text"]
    assert heard.endswith("MSG FROM LINUX001: Hello")


# What LTP's and openQA's suites run, and the exit status that both expect.
PUBLIC_SUITES = (
    (0, ["--version"]),
    (0, ["--help"]),
    (0, ["-v"]),
    (0, ["-h"]),
    (0, ["q", "dasd"]),
    (4, ["-L"]),
    (4, ["-m", "q", "dasd"]),
    (1, ["dasddasddasd"]),
)


@pytest.mark.requirement("V17")
@pytest.mark.parametrize(
    "classes",
    [
        pytest.param(
            classes,
            marks=pytest.mark.zvmlab(
                cp={"class": classes, "directory": "IUCV ALLOW;IUCV ANY;IUCV *MSG" + disk}
            ),
        )
        for classes, disk in (("G", ";MDISK 0200 FB-512 V-DISK 64 MW"), ("ABCDEFG", ""))
    ],
)
def test_tool_passes_the_public_suites(guest: Guest, classes: str) -> None:
    """A general user with a disk, and an operator, to whom QUERY DASD is about real disks."""
    failed = [
        (words, status) for status, words in PUBLIC_SUITES if tool(guest.agent, *words)[0] != status
    ]
    assert failed == []


@pytest.mark.requirement("V10")
def test_tool_says_how_large_its_buffer_must_be(guest: Guest) -> None:
    """A response just longer than the buffer is cut, status 2; with that size it comes whole."""
    agent = guest.agent
    for number in range(64):
        guest.control.execute("guest-describe", name=f"USER{number:04}")
    for times, buffer in ((8, "8k"), (4, "4096"), (55, "32K")):
        command = "\n".join(["Q N"] * times)
        size = len(guest.cp(command).response.rstrip("\n")) + 1
        status, output, error = tool(agent, "-b", buffer, command)
        assert status == 2 and error.endswith(TRUNCATED.format(size))
        whole = guest.cp(command).response.rstrip("\n") + "\n"
        assert whole.startswith(output.rstrip("\0")) and output.rstrip("\0") != whole
        for enough in (str(max(size, PAGE)), "1M"):
            assert tool(agent, "-b", enough, command) == (0, whole, "")
    # At least the two pages of its man page, if nothing is said.
    command = "\n".join(["Q N"] * 7)
    whole = guest.cp(command).response.rstrip("\n") + "\n"
    assert PAGE < len(whole) <= 2 * PAGE
    assert tool(agent, command) == (0, whole, "")


@pytest.mark.requirement("V10")
@pytest.mark.parametrize("size", ("4095", "1048577", "2M", "0", "many"))
def test_tool_refuses_buffers_that_are_none(guest: Guest, size: str) -> None:
    """From 4096 to 1048576 bytes, says its man page; 4 is for options that are wrong."""
    assert tool(guest.agent, "-b", size, "query", "userid")[0] == 4
