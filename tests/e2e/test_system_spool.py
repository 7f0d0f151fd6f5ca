# SPDX-License-Identifier: MIT
"""Files from one guest's punch to another's reader, by vmur of Debian's s390-tools."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import PurePath
from typing import TYPE_CHECKING

import pytest
from test_vmur import DEVICES, DIRECTORY, GCONV, NODES, TOOL, await_node, online, tool

from zvmlab.builder.guesttools import debian_program, debian_root
from zvmlab.cp.spool import PRINTER, files
from zvmlab.guest.guest import Guest
from zvmlab.guest.system import System

if TYPE_CHECKING:
    from conftest import Commands

USER = {"cp": {"directory": DIRECTORY, "class": "EG"}, "modules": ("vmur",), "busybox": True}


def install(guest: Guest) -> None:
    """The tool with what it needs; its devices are online."""
    inside = [f"{GCONV}/{name}" for name in ("gconv-modules.cache", "IBM037.so", "ISO8859-1.so")]
    conversion = {name: debian_root() / name.lstrip("/") for name in inside}
    for path, local in (debian_program(TOOL) | conversion).items():
        guest.agent.run(["sh", "-c", f"mkdir -p {PurePath(path).parent}"]).check()
        guest.agent.write_file(path, local.read_bytes(), 0o755)
    guest.agent.modprobe("vmur").check()
    for device, node in zip(DEVICES, NODES, strict=True):
        online(guest, device)
        await_node(guest, node)


@pytest.mark.requirement("S15")
@pytest.mark.zvmlab_system(ALICE=USER, BOB=USER)
@pytest.mark.parametrize("size", [1 << 16, pytest.param(1 << 20, marks=pytest.mark.full)])
def test_files_between_guests(
    system: System, vmcp_in: Callable[[Guest], Commands], size: int
) -> None:
    """So many bytes there and back, each as it was; TRANSFER and TAG; the other's files are his."""
    alice, bob = system.guests["ALICE"], system.guests["BOB"]
    for guest in (alice, bob):
        install(guest)
    data = random.Random(39).randbytes(size)
    alice.agent.write_file("/data", data, 0o600)
    tool(alice, "pun", "-r", "-u", "BOB", "/data").check()
    (file,) = files(alice.control, "BOB")
    assert (file.origin, file.name, file.records) == ("ALICE", "data", -(-len(data) // 80))
    assert tool(alice, "list").check().stdout == b"NO RDR FILES\n"
    tool(bob, "re", "-f", str(file.id), "/back").check()
    received = bob.agent.read_file("/back")
    assert received == data + bytes(-len(data) % 80)
    tool(bob, "pun", "-r", "-u", "ALICE", "/back").check()
    (file,) = files(bob.control, "ALICE")
    assert file.origin == "BOB"
    tool(alice, "re", "-f", str(file.id), "/again").check()
    assert alice.agent.read_file("/again") == received
    assert files(alice.control, "BOB") == files(alice.control, "ALICE") == []

    vmcp, bobs = vmcp_in(alice), vmcp_in(bob)
    assert vmcp("TAG DEV 00D for the neighbour").rc == 0
    tool(alice, "pun", "-t", "-r", "-N", "note", stdin=b"a note\n").check()
    (file,) = files(alice.control, "ALICE")
    refused = vmcp(f"TRANSFER RDR {file.id} TO NOBODY")
    assert (refused.rc, files(alice.control, "ALICE")) == (53, [file])
    assert vmcp(f"TRANSFER RDR {file.id} TO BOB").text == "0001 FILE TRANSFERRED\n"
    (moved,) = files(bob.control, "BOB")
    assert bobs(f"TAG QUERY FILE {moved.id}").text == "for the neighbour\n"
    assert "NO RDR FILES" in vmcp("QUERY RDR ALL").text
    assert tool(bob, "re", "-t", str(moved.id), "-O").check().stdout == b"a note\n"

    tool(alice, "pri", "-t", "-N", "list", stdin=b"a line\n").check()
    assert len(files(bob.control, "ALICE", PRINTER)) == 1
    assert bobs("QUERY ALICE PRT ALL").rc == 3
