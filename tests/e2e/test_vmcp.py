# SPDX-License-Identifier: MIT
"""CP commands from inside the guest, through the kernel's own /dev/vmcp."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from zvmlab.guest import Guest

if TYPE_CHECKING:
    from conftest import Build


@dataclass(frozen=True)
class Vmcp:
    """Response, CP's return code, and the response's full size."""

    text: str
    rc: int
    size: int


@pytest.fixture
def vmcp(warm_guest: Guest, program: Build) -> Callable[..., Vmcp]:
    """vmcp(COMMAND[, BUFFER]) in the warm guest."""
    agent = warm_guest.agent
    agent.write_file("/tmp/vmcp", program("vmcp").read_bytes(), 0o755)

    def run(command: str, buffer: int = 0) -> Vmcp:
        extra = [str(buffer)] if buffer else []
        done = agent.run(["/tmp/vmcp", command, *extra]).check()
        last = re.fullmatch(r"rc=(-?\d+) size=(\d+)", done.stderr.decode().strip())
        assert last is not None
        return Vmcp(done.stdout.decode("latin-1"), int(last[1]), int(last[2]))

    return run


def test_m10_userid(vmcp: Callable[..., Vmcp]) -> None:
    answer = vmcp("query userid")
    assert answer.rc == 0
    assert re.fullmatch(r"LINUX001 AT \S+\n", answer.text)
    assert answer.size == len(answer.text)


def test_m10_nss_map_in_pages(vmcp: Callable[..., Vmcp], warm_guest: Guest) -> None:
    answer = vmcp("Q NSS NAME MONDCSS MAP")
    assert answer.rc == 0
    header, line = answer.text.splitlines()
    assert header.split() == (
        "FILE FILENAME FILETYPE MINSIZE BEGPAG ENDPAG TYPE CL #USERS PARMREGS VMGROUP".split()
    )
    fields = line.split()
    assert fields[1:3] == ["MONDCSS", "CPDCSS"]
    assert fields[4:8] == ["09000", "097FF", "SC", "R"]
    assert answer.text == warm_guest.cp("QUERY NSS NAME MONDCSS MAP").response


def test_m11_monitor_shows_segment_and_users(vmcp: Callable[..., Vmcp], warm_guest: Guest) -> None:
    answer = vmcp("QUERY MONITOR")
    assert answer.rc == 0
    assert "NO USERS CONNECTED" in answer.text
    assert re.search(r"^MONITOR +DOMAIN ENABLED$", answer.text, re.MULTILINE)
    assert answer.text == warm_guest.cp("QUERY MONITOR").response


def test_unknown_command_has_cps_form_and_code(vmcp: Callable[..., Vmcp]) -> None:
    answer = vmcp("FROBNICATE NOW")
    assert answer.rc == 1
    assert answer.text == "HCPCMD001E Unknown CP command: FROBNICATE\n"


def test_response_longer_than_the_buffer_is_cut_and_its_size_told(
    vmcp: Callable[..., Vmcp],
) -> None:
    commands = "\n".join(["QUERY MONITOR"] * 8)
    whole = vmcp(commands, 65536)
    cut = vmcp(commands, 4096)
    assert whole.rc == 0 and whole.size == len(whole.text) > 4096
    assert cut.rc == 0 and cut.size == whole.size
    # CP stores whole lines only; the driver hands out the rest of its buffer as zeros.
    lines = cut.text.rstrip("\0")
    assert len(cut.text) == 4096
    assert whole.text.startswith(lines) and lines.endswith("\n")
    assert len(whole.text[len(lines) :].partition("\n")[0]) + 1 > 4096 - len(lines)


@pytest.mark.zvmlab(cp={"class": "G"})
def test_m10_refused_without_class_e(guest: Guest, program: Build) -> None:
    guest.agent.write_file("/tmp/vmcp", program("vmcp").read_bytes(), 0o755)
    for command in ("Q NSS MAP", "QUERY MONITOR", "MONITOR SAMPLE START"):
        done = guest.agent.run(["/tmp/vmcp", command]).check()
        assert done.stdout.decode().startswith("HCP")
        assert not re.search(rb"rc=0 ", done.stderr)
