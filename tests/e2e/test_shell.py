# SPDX-License-Identifier: MIT
"""How zvmlab shell ends: by its user, by its guest, or because the emulator has died."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from children import children
from waiting import exit_code, fair, finish

from zvmlab.base.errors import EXIT_FAILED, EXIT_PANIC, EXIT_PASS
from zvmlab.base.tree import TREE
from zvmlab.builder.count_folder import kernels_in
from zvmlab.builder.kernel import counts_lines
from zvmlab.guest.config import HERCULES

pytestmark = pytest.mark.first_kernel
SECONDS = 300.0
GREETING = b"ends the guest]"


@contextlib.contextmanager
def shell(
    kernel: str, backend: str, keep: Path, *more: str, stdin: int = subprocess.PIPE
) -> Iterator[subprocess.Popen[bytes]]:
    """One that has said that its guest is there; what is typed goes through a pipe."""
    argv = [sys.executable, str(TREE / "zvmlab"), "shell", "--kernel", kernel, "--backend", backend]
    with subprocess.Popen(
        [*argv, "--keep", str(keep), *more],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            read_until(process, GREETING)
            yield process
        finally:
            process.kill()


def read_until(process: subprocess.Popen[bytes], wanted: bytes) -> bytes:
    """Read the guest's output up to this."""
    assert process.stdout is not None
    limit, said = fair(SECONDS), b""
    while wanted not in said:
        if not select.select([process.stdout], [], [], limit.left())[0]:
            assert not limit.over, said[-2000:]
            continue
        part = os.read(process.stdout.fileno(), 65536)
        assert part, said[-2000:]
        said += part
    return said


def type_keys(process: subprocess.Popen[bytes], keys: bytes) -> None:
    """Type keys all at once."""
    assert process.stdin is not None
    process.stdin.write(keys)
    process.stdin.flush()


@pytest.mark.parametrize("typed", [b"exit\n", b"#cp logoff\n"], ids=["exit", "logoff"])
def test_a_warning_that_its_user_did_not_see(
    zvmlab_kernel: str,
    zvmlab_backend: str,
    tmp_path: Path,
    built_module: Callable[..., Path],
    typed: bytes,
) -> None:
    """The console is quiet; at the end the first process, or zvmlab, looks at the log."""
    module = built_module(Path(__file__).parent / "modules" / "crash")
    file = ("--file", f"{module}:/crash.ko")
    quiet = b"echo 1 > /proc/sys/kernel/printk; insmod /crash.ko kind=warning; echo do''ne\n"
    with shell(zvmlab_kernel, zvmlab_backend, tmp_path, *file) as process:
        type_keys(process, quiet)
        assert b"WARNING: " not in read_until(process, b"done")
        _, errors = finish(process, typed, SECONDS)
        assert b"the guest's kernel reported a warning" in errors
        assert process.returncode == EXIT_PANIC


@pytest.mark.parametrize("typed", [b"exit\n", b"#cp logoff\n"], ids=["exit", "logoff"])
def test_user_ends_it(
    zvmlab_kernel: str, zvmlab_backend: str, tmp_path: Path, typed: bytes
) -> None:
    """By the guest's shell, which powers the guest off, or by CP."""
    with shell(zvmlab_kernel, zvmlab_backend, tmp_path) as process:
        _, errors = finish(process, typed, SECONDS)
    assert (process.returncode, b"zvmlab: " in errors) == (EXIT_PASS, False), errors


def test_guest_can_stay_when_its_shell_ends(
    zvmlab_kernel: str, zvmlab_backend: str, tmp_path: Path
) -> None:
    """With --coverage it has yet to be asked for its counts; any guest does so if it is told to."""
    coverage = tmp_path / "coverage"
    counts = counts_lines(zvmlab_kernel)
    more = ("--coverage", str(coverage)) if counts else ("--append", "zvmlab.stays=1")
    with shell(zvmlab_kernel, zvmlab_backend, tmp_path, *more) as process:
        type_keys(process, b"exit\n")
        read_until(process, b"the shell ended with status 0; the guest stays")
        _, errors = finish(process, b"" if counts else b"#cp logoff\n", SECONDS)
    assert process.returncode == EXIT_PASS, errors
    names = (
        [test.name for kernel in kernels_in(coverage) for test in kernel.tests()] if counts else []
    )
    assert names == ["shell"] * counts


@pytest.mark.representative
def test_end_of_what_is_piped_in_ends_it(
    zvmlab_kernel: str, zvmlab_backend: str, tmp_path: Path
) -> None:
    """The end of piped input is like Ctrl-D on a terminal; the last line needs no end."""
    with shell(zvmlab_kernel, zvmlab_backend, tmp_path) as process:
        type_keys(process, b"echo here=$((40 + 2))\n")
        read_until(process, b"here=42")
        said, errors = finish(process, b"echo last=$((40 + 3))", SECONDS)
    assert (process.returncode, b"zvmlab: " in errors) == (EXIT_PASS, False), errors
    assert b"last=43" in said


def test_lines_that_a_guest_does_not_read_at_once_are_not_lost(
    zvmlab_kernel: str, zvmlab_backend: str, tmp_path: Path
) -> None:
    """More than Linux keeps for a terminal (4095 bytes) comes while a program is busy."""
    count = 200
    lines = b"".join(b"total=$((total + %d)) # %s\n" % (n, b"." * 60) for n in range(count))
    with shell(zvmlab_kernel, zvmlab_backend, tmp_path) as process:
        said, errors = finish(process, b"sleep 3\n" + lines + b"echo sum=$total.\n", SECONDS)
    assert (process.returncode, b"zvmlab: " in errors) == (EXIT_PASS, False), errors
    assert b"sum=%d." % sum(range(count)) in said, said[-2000:]


def test_keys_that_come_before_linux_is_ready_do_not_lock_its_console(
    zvmlab_kernel: str, zvmlab_backend: str, tmp_path: Path
) -> None:
    """On a terminal, which unlike a pipe is listened to from the beginning."""
    keys, terminal = os.openpty()
    ready = threading.Event()

    def press_enter() -> None:
        while not ready.wait(0.1):
            os.write(keys, b"\n")

    presser = threading.Thread(target=press_enter, daemon=True)
    presser.start()
    try:
        with shell(zvmlab_kernel, zvmlab_backend, tmp_path, stdin=terminal) as process:
            ready.set()
            presser.join()
            os.write(keys, b"echo here=$((40 + 2))\n")
            read_until(process, b"here=42")
            os.write(keys, b"exit\n")
            assert exit_code(process, SECONDS) == EXIT_PASS
    finally:
        ready.set()
        os.close(keys)
        os.close(terminal)


def test_emulator_that_is_killed_is_an_error(
    zvmlab_kernel: str, zvmlab_backend: str, tmp_path: Path
) -> None:
    """Although the guest may end whenever its user wants."""
    with shell(zvmlab_kernel, zvmlab_backend, tmp_path) as process:
        (emulator,) = children(process)
        os.kill(emulator, signal.SIGKILL)
        _, errors = finish(process, seconds=SECONDS)
    said = errors.decode().splitlines()[-1]
    assert process.returncode == EXIT_FAILED, said
    assert said == (
        f"zvmlab: the emulator was killed by SIGKILL; its log is {tmp_path}/emulator.log"
    )


@pytest.mark.representative
def test_interrupt_key(zvmlab_kernel: str, zvmlab_backend: str, tmp_path: Path) -> None:
    """Ctrl-C ends the program that runs; a 3215, which Hercules has, knows lines only.

    The program itself says that it is there: a shell that is only about to start one may take
    the signal, and then waits for a program that never got it.
    """
    with shell(zvmlab_kernel, zvmlab_backend, tmp_path) as process:
        type_keys(process, b'sh -c "echo here=\\$((40 + 2)); while :; do :; done"\n')
        read_until(process, b"here=42")
        type_keys(process, b"\x03")
        read_until(process, b"guest# ")
        type_keys(process, b"echo left=$?.\n")
        read_until(process, b"left=130.")
        finish(process, b"exit\n", SECONDS)
    assert process.returncode == EXIT_PASS


@pytest.mark.representative
def test_suspend_key(zvmlab_kernel: str, zvmlab_backend: str, tmp_path: Path) -> None:
    """Ctrl-Z stops the program in the foreground, which says when it is there."""
    with shell(zvmlab_kernel, zvmlab_backend, tmp_path) as process:
        type_keys(process, b'sh -c "echo here=\\$((40 + 2)); exec sleep 1000"\n')
        read_until(process, b"here=42")
        type_keys(process, b"\x1a")
        assert b"Stopped" in read_until(process, b"guest# ")
        type_keys(process, b"kill %1; echo left=$?.\n")
        read_until(process, b"left=0.")
        finish(process, b"exit\n", SECONDS)
    assert process.returncode == EXIT_PASS


@pytest.mark.representative
def test_end_of_file_key_behind_text(
    zvmlab_kernel: str, zvmlab_backend: str, tmp_path: Path
) -> None:
    """The first Ctrl-D hands over what was typed, without a line's end; the second is the end.

    Linux leaves that mode of a terminal out on a 3215 (ICANON).
    """
    with shell(zvmlab_kernel, zvmlab_backend, tmp_path) as process:
        type_keys(process, b"stty icanon; echo here=$((40 + 2)); wc -c\n")
        read_until(process, b"here=42")
        type_keys(process, b"12345\x04\x04")
        said = read_until(process, b"guest# ")
        finish(process, b"exit\n", SECONDS)
    assert process.returncode == EXIT_PASS
    assert said.replace(b"12345", b"").split()[0] == b"5", said


CONSOLE_3215 = ("--cp", "conmode=3215")


@pytest.mark.requirement("O3", "O5")
def test_shell_at_a_3215(zvmlab_kernel: str, zvmlab_backend: str, tmp_path: Path) -> None:
    """By choice: commands for Linux and for CP, long output whole, the keys that end programs, and exit."""
    if zvmlab_backend == HERCULES:
        pytest.skip("in Hercules the console is always a 3215")
    with shell(zvmlab_kernel, zvmlab_backend, tmp_path, *CONSOLE_3215) as process:
        type_keys(process, b"tty; head -n1 /proc/consoles; echo here=$((40 + 2))\n")
        said = read_until(process, b"here=42")
        assert b"/dev/ttyS0" in said and b"ttyS0" in said.split(b"here=")[-2]
        type_keys(process, b"#cp query userid\n")
        read_until(process, b"LINUX001 AT ")
        type_keys(process, b"seq 1 3000; echo do''ne\n")
        said = read_until(process, b"done")
        assert [int(word) for word in said.split() if word.isdigit()][-3000:] == [*range(1, 3001)]
        # CP takes " for its escape character.
        type_keys(process, b"sh -c 'echo here=$((41 + 2)); while :; do :; done'\n")
        read_until(process, b"here=43")
        type_keys(process, b"\x03\n")
        type_keys(process, b"echo left=$?.\n")
        read_until(process, b"left=130.")
        said, errors = finish(process, b"echo last=$((40 + 4)); exit\n", SECONDS)
    assert b"last=44" in said
    assert (process.returncode, b"zvmlab: " in errors) == (EXIT_PASS, False), errors
