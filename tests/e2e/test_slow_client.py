# SPDX-License-Identifier: MIT
"""A client of the control socket that reads more slowly than a guest makes events."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest

if TYPE_CHECKING:
    from conftest import Build

pytestmark = pytest.mark.representative
TIMES = 10_000  # as in bare/talking.c
SECONDS = 120.0
# What a client has to read before the guest waits for it, and where the system says how much
# a socket may hold beside it.
BEHIND = 1 << 20
SOCKETS = Path("/proc/sys/net/core/wmem_default")
PAUSE = 0.001
LEAST = TIMES // 10


@pytest.fixture
def guest_config(bare: Build) -> GuestConfig:
    return GuestConfig(kernel=str(bare("talking")))


def lines_until(slow: socket.socket, last: bytes) -> list[bytes]:
    """All lines up to the first one with that text, which is among them."""
    data = b""
    while last not in data or not data.endswith(b"\n"):
        more = slow.recv(1 << 20)
        assert more, "the connection has ended"
        data += more
    return data.splitlines()


def moment(event: dict[str, Any]) -> float:
    """When it was sent, in seconds since 1970."""
    stamp = event["timestamp"]
    return float(stamp["seconds"] + stamp["microseconds"] / 1e6)


def test_guest_waits_for_a_client_and_loses_nothing(made_guest: Guest) -> None:
    """Each call with an event takes a millisecond more, and then the client reads them all."""
    made_guest.start()
    with socket.socket(socket.AF_UNIX) as slow:
        slow.settimeout(SECONDS)
        slow.connect(os.fspath(made_guest.control.path))
        made_guest.resume()
        last = f"{TIMES - 1:08X}"
        text = ""
        while not text.endswith(last):
            text = made_guest.control.wait_event("console", SECONDS, user="OPERATOR").data["text"]
        lines = lines_until(slow, last.encode())
    free = BEHIND + int(SOCKETS.read_text())
    said, waits, size = [], 0, 0
    for line in lines:
        event = json.loads(line)
        size += len(line) + 1
        if event.get("event") != "console":
            continue
        said.append(event)
        waits += size > free
    assert [int(event["data"]["text"].split()[-1], 16) for event in said] == list(range(TIMES))
    assert waits >= LEAST
    # Half of it, as the host's clock may be set.
    assert moment(said[-1]) - moment(said[-waits]) > waits * PAUSE / 2
