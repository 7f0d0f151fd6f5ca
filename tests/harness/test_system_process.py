# SPDX-License-Identifier: MIT
"""The process that has CP for a system: what it is started with, its socket, and its end."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from zvmlab.base.limit import Limit
from zvmlab.base.progress import Progress
from zvmlab.guest.system import program

SECONDS = 120.0
MANY = 1000
STRANGERS = 32
"""SYS_STRANGERS: so many are kept that have not said who they are."""
OWN_DESCRIPTORS = 8
"""Standard ones, socket, epoll, timer, signals, and one for \\*MONITOR's segment."""
REFUSAL = b"that is no hello of a machine"


@pytest.fixture(scope="module")
def executable() -> Path:
    return program(Progress(quiet=True))


@pytest.fixture
def folder() -> Iterator[Path]:
    """Its path is short."""
    with tempfile.TemporaryDirectory(prefix="zvmlab-test-", dir="/tmp") as made:
        yield Path(made)


@contextlib.contextmanager
def running(executable: Path, path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """One whose socket is there."""
    with subprocess.Popen([executable, path], stdout=subprocess.PIPE) as process:
        try:
            assert Limit(SECONDS).look(lambda: connects(path) or process.poll() is not None)
            assert process.poll() is None
            yield process
        finally:
            process.kill()


def connects(path: Path) -> bool:
    with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
        stranger(path).close()
        return True
    return False


def stranger(path: Path) -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        made.connect(str(path))
    except OSError:
        made.close()
        raise
    made.settimeout(SECONDS)
    return made


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["level"], "level is not KEY=VALUE"),
        (["storage=0.1M"], "a system has no option storage (level, machine, segment, user, turn)"),
        (["level=8"], 'level "8": '),
        (["segment=ONE 9000"], 'segment "'),
        (["user=NINECHARS"], 'userid "NINECHARS": '),
        (["user=*MSG"], 'userid "*MSG": '),
        (["user=BOB", "user=bob"], "user=bob: there is that user already"),
        (["user=BOB\ndirectory=IUCV ANY\nclass=7"], 'BOB: class "7": '),
        (["user=BOB\ndirectory=FROB 12"], 'BOB: directory "FROB 12": '),
        (["user=BOB\nFROB"], "BOB: FROB is not KEY=VALUE"),
        ([f"user=U{number}" for number in range(65)], "user=U64: there are too many users"),
    ],
)
def test_options(executable: Path, folder: Path, words: list[str], sentence: str) -> None:
    """One sentence, and no socket."""
    done = subprocess.run(
        [executable, folder / "system", *words],
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    said = done.stderr.decode()
    assert (done.returncode, done.stdout) == (1, b"")
    assert said.startswith(f"zvmlab-system: {sentence}") and said.count("\n") == 1
    assert os.listdir(folder) == []


def test_the_socket_comes_last(executable: Path, folder: Path) -> None:
    """Whoever sees it starts machines: what is refused has been by then."""
    done = subprocess.run(
        [executable, folder / "nowhere/system", "user=NINECHARS"],
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith(b'zvmlab-system: userid "NINECHARS": ')


def test_socket(executable: Path, folder: Path) -> None:
    """Where it cannot be; where another one is; where one was that has been killed."""

    def refused(path: Path) -> str:
        done = subprocess.run([executable, path], capture_output=True, timeout=SECONDS, check=False)
        assert done.returncode == 1
        return done.stderr.decode()

    assert "No such file or directory" in refused(folder / "none" / "system")
    assert "longer than 107 bytes" in refused(folder / ("x" * 100))
    (folder / "file").write_text("mine")
    assert "file" in refused(folder / "file")
    assert (folder / "file").read_text() == "mine"
    path = folder / "system"
    with running(executable, path) as process:
        assert path.stat().st_mode & 0o777 == 0o600
        assert "in use" in refused(path)
        stranger(path).close()
        process.kill()
    with running(executable, path):
        stranger(path).close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_end(executable: Path, folder: Path, number: signal.Signals) -> None:
    path = folder / "system"
    with running(executable, path) as process, stranger(path) as waits:
        process.send_signal(number)
        assert process.wait(SECONDS) == 0
        # It may not have been looked at yet.
        with contextlib.suppress(ConnectionResetError):
            assert waits.recv(1) == b""
    assert os.listdir(folder) == []


def descriptors(process: subprocess.Popen[bytes]) -> int:
    return len(os.listdir(f"/proc/{process.pid}/fd"))


def test_no_machines(executable: Path, folder: Path) -> None:
    """Garbage, silence, and a thousand of them: each is told or let go, and nothing of it stays."""
    path = folder / "system"
    silent = []
    with running(executable, path) as process:
        least = 0

        def is_least() -> bool:
            return descriptors(process) == least

        # It has all of its own, and the one that has found the socket is let go.
        wait = Limit(SECONDS)
        least = wait.look(lambda: descriptors(process), lambda seen: seen == OWN_DESCRIPTORS)
        assert least == OWN_DESCRIPTORS
        for number in range(MANY // 2):
            silent.append(stranger(path))
            with stranger(path) as one:
                one.send(os.urandom(1 + 10 * number))
                assert REFUSAL in one.recv(4096)
                assert one.recv(4096) == b""
            assert descriptors(process) <= least + STRANGERS
        # The first one had to go for others.
        assert silent[0].recv(1) == b""
        for one in silent:
            one.close()
        assert Limit(SECONDS).look(is_least)
        assert process.poll() is None
