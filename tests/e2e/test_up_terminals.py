# SPDX-License-Identifier: MIT
"""iucvtty and ts-shell of Debian's s390-tools: terminals of other guests beside those of hvc_iucv."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_shell import read_until, type_keys
from test_up import await_prompt, name as name, shell, up, zvmlab
from waiting import exit_code

from zvmlab.base.tree import TREE
from zvmlab.builder.guesttools import debian_program, packages_root, with_libraries

pytestmark = [pytest.mark.first_kernel, pytest.mark.requirement("S4")]
SECONDS = 300.0
IUCVCONN, IUCVTTY, TS_SHELL = "/usr/bin/iucvconn", "/sbin/iucvtty", "/usr/bin/ts-shell"
PERL = ("perl-base", "perl-modules-5.36", "s390-tools", "libcrypt1", "libc6")
"""ts-shell is a program in Perl."""
READLINE = "usr/share/perl/5.36.0/Term/ReadLine.pm"
CONFIG = {
    "/etc/passwd": "root:x:0:0:root:/:/bin/sh\n",
    "/etc/group": "root:x:0:\n",
    "/etc/iucvterm/ts-shell.conf": "",
    "/etc/iucvterm/ts-systems.conf": "BOB\nCAROL\n",
    "/etc/iucvterm/ts-logsys.conf": "",
    "/etc/iucvterm/ts-authorization.conf": "root = list:BOB,DAVE\n",
}
"""CAROL is a system that the user is not allowed, DAVE one that the server does not know."""


def terminal_server(folder: Path) -> dict[str, Path]:
    """ts-shell with its configuration, and the parts of Perl that it uses."""
    root = packages_root(PERL)
    files = with_libraries(root / "usr/bin/perl", "/usr/bin/perl", root=root)
    files[TS_SHELL] = root / TS_SHELL.lstrip("/")
    modules = root / "usr/lib/s390x-linux-gnu/perl-base"
    for file in modules.rglob("*"):
        if file.is_file():
            files[f"/{file.relative_to(root)}"] = file
    # Perl looks for it beside the others, too.
    files[f"/{modules.relative_to(root)}/Term/ReadLine.pm"] = root / READLINE
    folder.mkdir()
    for at, text in CONFIG.items():
        files[at] = folder / Path(at).name
        files[at].write_text(text, "utf-8")
    return files


def table(userid: str, kernel: str, files: dict[str, Path]) -> str:
    """A user of the system, with these files."""
    lines = [f"[users.{userid}]", f"kernel = {kernel!r}", f"[users.{userid}.files]"]
    return "\n".join([*lines, *(f"{at!r} = {str(local)!r}" for at, local in files.items()), ""])


@pytest.fixture
def file(zvmlab_kernel: str, zvmlab_dir: Path) -> Path:
    """ALICE has what connects, BOB the terminals."""
    place = zvmlab_dir / "terminals.toml"
    calling = debian_program(IUCVCONN) | terminal_server(zvmlab_dir / "etc")
    called = debian_program(IUCVTTY)
    place.write_text(table("ALICE", zvmlab_kernel, calling) + table("BOB", zvmlab_kernel, called))
    return place


@contextlib.contextmanager
def iucvtty(there: tuple[str, ...], *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """The program in BOB."""
    argv = [sys.executable, str(TREE / "zvmlab"), "run", *there, "BOB", "--timeout", "900"]
    with subprocess.Popen(
        [*argv, "--", IUCVTTY, *words], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield process
        finally:
            process.kill()


SHELL = ("/bin/sh", "-c", "PS1='there# ' exec /bin/sh")
"""A program for iucvtty, whose prompt is no other's."""


def typed(terminal: subprocess.Popen[bytes], keys: bytes, until: bytes) -> str:
    """What comes after these keys, up to that."""
    type_keys(terminal, keys)
    return read_until(terminal, until).decode("ascii", "replace")


@pytest.fixture(name="there")
def _there(file: Path, name: str) -> Iterator[tuple[str, ...]]:
    """Both are up, and BOB has what iucvtty makes terminals of; the options that name a guest."""
    there = ("--system", name, "--guest")
    with up(file, name) as system:
        for userid in ("ALICE", "BOB"):
            system.wait_line(f"{userid:8} is up: Linux ")
        mounts = "mkdir -p /dev/pts; mount -t devpts devpts /dev/pts"
        assert zvmlab("run", *there, "BOB", "--", "sh", "-c", mounts).returncode == 0
        yield there


def test_iucvtty_gives_a_program_a_terminal(there: tuple[str, ...]) -> None:
    """A login in BOB; when the program ends, so do both ends of the connection."""
    with shell(*there, "ALICE") as terminal, iucvtty(there, "lnxterm", "--", *SHELL) as tty:
        # As long as iucvtty does not listen, nobody takes the connection.
        connect = b"stty rows 33 cols 99; until iucvconn BOB lnxterm; do sleep 1; done\n"
        typed(terminal, connect, b"there# ")
        said = typed(terminal, b"grep 'VM00 Name' /proc/sysinfo; tty; stty size\n", b"33 99\r\n")
        assert re.search(r"VM00 Name: +BOB\b", said) and "/dev/pts/" in said, said
        said = typed(terminal, b"seq 10000; echo end of $((4 + 3)) lines\n", b"end of 7 lines")
        assert re.findall(r"^(\d+)\r$", said, re.M) == [str(n) for n in range(1, 10_001)]
        typed(terminal, b"exit\n", b"guest# ")
        assert exit_code(tty, SECONDS) == 0


def test_iucvtty_refuses_others(there: tuple[str, ...]) -> None:
    """For whom its pattern of user IDs does not fit, it starts no program, and ends.

    Its message to the other end is lost if that has not received it when iucvtty closes.
    """
    words = ("-a", "CAROL", "lnxterm", "--", *SHELL)
    with shell(*there, "ALICE") as terminal, iucvtty(there, *words) as tty:
        connect = b"until iucvconn BOB lnxterm || test -e /tmp/over; do sleep 1; done\n"
        type_keys(terminal, connect)
        assert exit_code(tty, SECONDS) == 3
        assert zvmlab("run", *there, "ALICE", "--", "touch", "/tmp/over").returncode == 0
        assert b"there# " not in read_until(terminal, b"guest# ")


def test_terminal_server(there: tuple[str, ...]) -> None:
    """ts-shell shows the systems that its user may reach, and connects to these alone."""
    with shell(*there, "ALICE") as terminal:
        prompt = b"root@ts-shell> "
        assert "Welcome" in typed(terminal, b"PAGER=/bin/cat ts-shell\n", prompt)
        assert re.search(r"^BOB\r$", typed(terminal, b"list\n", prompt), re.M)
        said = typed(terminal, b"connect CAROL\n", prompt)
        assert "You are not authorized to connect to CAROL" in said
        said = typed(terminal, b"connect DAVE\n", prompt)
        assert "not configured to connect to DAVE" in said
        typed(terminal, b"connect BOB\n", b"(terminal identifier: lnxhvc0)")
        await_prompt(terminal)
        said = typed(terminal, b"grep 'VM00 Name' /proc/sysinfo\n", b"BOB")
        assert re.search(r"VM00 Name: +BOB\b", said), said
