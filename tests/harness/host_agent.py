# SPDX-License-Identifier: MIT
"""The agent compiled for this machine, on a socket instead of an AF_IUCV stream."""

from __future__ import annotations

import fcntl
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from zvmlab.agent.agent import Agent
from zvmlab.base.errors import Timeout
from zvmlab.builder.image import agent_source

# Numbers of system calls on x86-64 and on machines with the common table, where poll() is ppoll().
READ = ("0", "63")
POLL = ("7", "73")
_SECONDS = 60


class SocketStream:
    """A socket with the limits of zvmlab.agent.channel.Stream."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def send(self, data: bytes, timeout: float, answered: bool = False) -> None:
        self._sock.settimeout(timeout)
        try:
            self._sock.sendall(data)
        except TimeoutError as error:
            raise Timeout(f"nothing was taken for {timeout:g} s") from error
        except (BrokenPipeError, ConnectionResetError):
            pass  # recv tells

    def recv(self, timeout: float) -> bytes:
        self._sock.settimeout(max(timeout, 1e-6))
        try:
            return self._sock.recv(1 << 20)
        except TimeoutError as error:
            raise Timeout(f"nothing came for {timeout:g} s") from error
        except ConnectionResetError:
            return b""

    def close(self) -> None:
        self._sock.close()


def build(variant: str) -> Path:
    """Compile the agent ("native" or "asan") unless it is there; safe with several processes."""
    root = agent_source().parents[1]
    folder = root / "build" / "agent"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(
            ["make", "-s", "-C", str(agent_source()), f"BUILD={folder}", variant],
            check=True,
            timeout=300,
        )
    return folder / f"zvmlab-agent.{variant}"


def await_asleep(agent: Agent, call: tuple[str, str], threads: int = 1) -> None:
    """Until so many threads of the agent sleep in that call; a signal for one before would end nothing."""
    limit = time.monotonic() + _SECONDS
    tasks = Path(f"/proc/{agent.info.pid}/task")
    while time.monotonic() < limit:
        asleep = [(task / "syscall").read_text().split()[0] for task in tasks.iterdir()]
        if sum(number in call for number in asleep) >= threads:
            return
        time.sleep(0.01)
    raise AssertionError(f"{threads} threads do not sleep in one of the calls {call}")


@contextmanager
def running(
    binary: Path, cwd: Path | None = None, one_cpu: bool = False
) -> Iterator[tuple[SocketStream, subprocess.Popen[bytes]]]:
    """A running agent and the stream to it; afterwards it must have ended without a fault.

    *one_cpu*: it has one CPU, as in most guests, and so its worker 0 reads by itself.
    """
    ours, theirs = socket.socketpair()
    where = ["taskset", "-c", str(min(os.sched_getaffinity(0)))] if one_cpu else []
    process = subprocess.Popen(
        [*where, str(binary), "--fd", str(theirs.fileno())],
        pass_fds=[theirs.fileno()],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=cwd,
        # What requests leave open or mapped is theirs, not a leak of the agent.
        env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1"},
    )
    theirs.close()
    try:
        yield SocketStream(ours), process
        ours.close()
        _, text = process.communicate(timeout=60)
        assert (process.returncode, text) == (0, b"")
    finally:
        ours.close()
        process.kill()
        process.wait()
