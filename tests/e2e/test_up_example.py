# SPDX-License-Identifier: MIT
"""zvmlab up examples/three-guests.toml, and in another terminal what docs/systems.md shows."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from children import alive
from test_shell import read_until, type_keys
from test_up import SECONDS, await_prompt, shell, up, zvmlab
from waiting import exit_code

from zvmlab.base.tree import TREE
from zvmlab.guest.run_dir import running_systems

pytestmark = [pytest.mark.first_kernel, pytest.mark.requirement("S4")]
NAMES = ("ALICE", "BOB", "CAROL")
CPUS = ("1", "2", "1")


@pytest.fixture
def example(zvmlab_dir: Path) -> Path:
    return Path(shutil.copy(TREE / "examples" / "three-guests.toml", zvmlab_dir))


@pytest.fixture
def name() -> str:
    """Of a system that no other test has."""
    return f"t{os.urandom(4).hex()}"


def words(*command: str) -> str:
    """What a command says that succeeds and complains of nothing."""
    done = zvmlab(*command)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def test_as_its_page_shows(example: Path, name: str) -> None:
    there = ("--system", name)
    with up(example, name) as system:
        for userid in NAMES:
            system.wait_line(f"{userid:<8} is up: Linux ")
        assert system.lines[:3] == [f"{userid:<8} logs on" for userid in NAMES]
        releases = {line.split()[0]: line.split()[-1] for line in system.lines[3:]}
        for userid in NAMES:
            said = words("run", *there, "--guest", userid, "--", "uname", "-r")
            assert said == releases[userid] + "\n"
        assert releases["ALICE"] == releases["BOB"] != releases["CAROL"]

        listed = words("list").splitlines()
        begin = next(n for n, line in enumerate(listed) if line.startswith(name))
        assert f"system of 3 guests  file {example}" in listed[begin]
        found = [line.split() for line in listed[begin + 1 : begin + 4]]
        assert [line[0] for line in found] == list(NAMES)
        assert [line[3] for line in found] == list(CPUS)

        said = words("cp", *there, "--guest", "BOB", "QUERY NAMES")
        assert set(re.findall(r"(\w+) +-", said)) == {*NAMES, "OPERATOR"}
        with shell(*there, "--guest", "ALICE") as terminal:
            type_keys(terminal, b"iucvconn CAROL lnxhvc0\n")
            await_prompt(terminal)
            type_keys(terminal, b"grep 'VM00 Name' /proc/sysinfo\n")
            answer = read_until(terminal, b"CAROL").decode("ascii", "replace")
            assert re.search(r"VM00 Name: +CAROL\b", answer), answer
        assert "iucv.connect to CAROL" in words(
            "trace", *there, "--guest", "ALICE", "--call", "iucv.*"
        )
        both = words("trace", *there, "--call", "iucv.*")
        assert all(userid in both for userid in NAMES)

        children = system.children()
        assert len(children) == 4
        system.process.send_signal(signal.SIGINT)
        assert exit_code(system.process, SECONDS) == 0
        assert not any(map(alive, children))
        assert name not in [found.name for found in running_systems()]


def own_terminal() -> None:
    """Standard input is the terminal of a new session, whose keys end what runs in it."""
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def test_on_a_terminal(zvmlab_kernel: str, zvmlab_dir: Path, name: str) -> None:
    """A table that shows who is up, and how Ctrl-C is typed."""
    file = zvmlab_dir / "one.toml"
    file.write_text(f"[users.ALICE]\nkernel = {zvmlab_kernel!r}\n")
    ours, its = pty.openpty()
    with subprocess.Popen(
        [sys.executable, str(TREE / "zvmlab"), "up", str(file), "--name", name],
        stdin=its,
        stdout=its,
        stderr=its,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
        preexec_fn=own_terminal,
    ) as process:
        try:
            os.close(its)
            shown, wanted = b"", (
                b"1 of 1 guests are up; Ctrl-C ends all",
                b"ALICE    is up: Linux ",
            )
            # Table and line come in no order.
            while not all(text in shown for text in wanted):
                shown += os.read(ours, 65536)
            os.write(ours, b"\x03")
            # Whoever reads nothing could keep it from ending; EIO: nobody has the terminal any more.
            while process.poll() is None:
                try:
                    os.read(ours, 65536)
                except OSError:
                    break
            assert exit_code(process, SECONDS) == 0
        finally:
            process.kill()
            os.close(ours)
    assert name not in [found.name for found in running_systems()]
