# SPDX-License-Identifier: MIT
"""One agent for several processes: zvmlab.agent.shared, on the agent compiled for this machine."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from host_agent import build, running

from zvmlab.agent.agent import Agent
from zvmlab.agent.shared import CLIENTS_MAX, SharedAgent, connect
from zvmlab.agent.wire import AgentError, AgentLost, Request
from zvmlab.base.errors import CannotRun, UsageError

LIMIT = 60.0


@pytest.fixture
def agent() -> Iterator[Agent]:
    with running(build("native")) as (stream, _):
        yield Agent(stream)


@pytest.fixture
def shared(agent: Agent, tmp_path: Path) -> Iterator[Path]:
    with SharedAgent(tmp_path / "agent", agent):
        yield tmp_path / "agent"
    assert not (tmp_path / "agent").exists()


def test_others_and_the_owner(agent: Agent, shared: Path, tmp_path: Path) -> None:
    """Each gets its own replies, and what it starts is not waited for by the others."""
    assert shared.stat().st_mode & 0o777 == 0o600
    one, two = connect(shared), connect(shared)
    sleeper = one.spawn(["/bin/sleep", "1000"])
    waiting = threading.Thread(target=lambda: sleeper.wait(LIMIT, kill=True))
    waiting.start()
    assert two.run(["/bin/echo", "two"]).stdout == b"two\n"
    assert agent.run(["/bin/cat"], stdin=b"owner").stdout == b"owner"
    two.write_file(str(tmp_path / "made"), b"data", 0o644)
    assert one.info == two.info._replace(busy=one.info.busy)
    sleeper.kill()
    waiting.join(LIMIT)
    assert not waiting.is_alive()
    assert (tmp_path / "made").read_bytes() == b"data"
    one.close_connection()
    two.close_connection()


def test_power_is_the_owners(shared: Path) -> None:
    agent = connect(shared)
    with pytest.raises(AgentError, match="belongs to the process that has started it"):
        agent.ask(Request.POWER, b"\0\0", "power")
    assert agent.run(["/bin/true"]).status == 0
    agent.close_connection()


def test_no_more_than_there_are_workers(shared: Path) -> None:
    agents = [connect(shared) for _ in range(CLIENTS_MAX)]
    with pytest.raises(UsageError, match=f"serves {CLIENTS_MAX} other programs"):
        connect(shared)
    for agent in agents:
        agent.close_connection()


@pytest.mark.parametrize(
    ("garbage", "cut_off"),
    [
        (b"", False),
        (b"GET / HTTP/1.1\r\n\r\n", True),
        (bytes(12), True),
        (struct.pack(">IIHH", 0xFFFFFFFF, 1, 1, 0), True),
        (struct.pack(">IIHH", 8, 1, 1, 5), True),
        (struct.pack(">IIHH", 8 + 100, 1, 2, 0), False),
    ],
)
def test_strangers(agent: Agent, shared: Path, garbage: bytes, cut_off: bool) -> None:
    """Whoever breaks the protocol is cut off, whoever says too little is waited for."""
    stranger = socket.socket(socket.AF_UNIX)
    stranger.connect(str(shared))
    stranger.sendall(garbage)
    stranger.settimeout(LIMIT)
    if cut_off:
        with contextlib.suppress(ConnectionResetError):  # what it said was not read to the end
            assert stranger.recv(1) == b""
    other = connect(shared)
    assert other.run(["/bin/true"]).status == 0
    other.close_connection()
    stranger.close()
    assert agent.run(["/bin/true"]).status == 0


def test_half_a_request_and_gone(shared: Path) -> None:
    """Its worker is free again: more connections than there are workers, one after the other."""
    for _ in range(2 * CLIENTS_MAX):
        stranger = socket.socket(socket.AF_UNIX)
        stranger.connect(str(shared))
        stranger.sendall(struct.pack(">IIHH", 108, 1, 2, 0))
        stranger.shutdown(socket.SHUT_WR)
        stranger.settimeout(LIMIT)
        assert stranger.recv(1) == b""
        stranger.close()
    agent = connect(shared)
    assert agent.run(["/bin/true"]).status == 0
    agent.close_connection()


def test_the_agent_ends(agent: Agent, shared: Path) -> None:
    other = connect(shared)
    agent.close_connection()
    with pytest.raises(AgentLost):
        other.run(["/bin/true"])
    other.close_connection()


def test_nobody_there(tmp_path: Path) -> None:
    with pytest.raises(CannotRun, match="the guest's agent cannot be reached at .*none: No such"):
        connect(tmp_path / "none")
