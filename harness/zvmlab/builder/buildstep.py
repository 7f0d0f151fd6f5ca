# SPDX-License-Identifier: MIT
"""One step of a build: its output goes to a log and to whoever counts its lines."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import threading
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base.errors import StepFailed, ZvmlabError

LOG_TAIL = 15
# What root unpacks belongs to root, not to whoever has the number of an archive's owner here.
UNTAR = ("tar", "--no-same-owner", "--no-same-permissions", "-xf")
# The compiler's, modpost's, the linker's, kbuild's configuration's, make's.
_ERRORS = (
    re.compile(r"^\S+:\d+:(?:\d+:)? (?:fatal )?error: "),
    re.compile(r"^ERROR: modpost: "),
    re.compile(r"undefined reference to "),
    re.compile(r"^\S*(?:Kconfig|\.config)\S*:\d+: "),
    re.compile(r"^\S+:\d+: \*\*\* "),
    re.compile(r"^make.*: \*\*\* "),
)


def log_tail(log: Path) -> str:
    """The last lines of a log, long ones cut."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return "\n".join(line[:200] for line in lines[-LOG_TAIL:])


def first_error(said: Iterable[str]) -> str:
    """The compiler's first error with file and line, else make's, else the last line."""
    lines = [line.strip() for line in said if line.strip()]
    for pattern in _ERRORS:
        for line in lines:
            if pattern.search(line):
                return line
    return lines[-1] if lines else "make said nothing"


@dataclass(frozen=True)
class Ending:
    """Stop a step: SIGTERM first, SIGKILL if it does not end in time."""

    seconds: float = 0.0
    """It has so many to end in; 0: it is killed at once."""
    killed: Callable[[], None] = lambda: None
    """Called before that, when nothing is known of what it leaves half done."""


def _stop(process: subprocess.Popen[str], ending: Ending) -> None:
    """End a step, and all that is in its process group."""
    with contextlib.suppress(ProcessLookupError):  # it ends just now
        if ending.seconds:
            os.killpg(process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(ending.seconds)
                return
        ending.killed()
        os.killpg(process.pid, signal.SIGKILL)


def run_step(
    what: str,
    argv: Sequence[str],
    cwd: Path,
    log: Path,
    seconds: int,
    env: Mapping[str, str] | None = None,
    ending: Ending = Ending(),
    keeps: Sequence[int] = (),
) -> Generator[str, None, None]:
    """Run *argv* and yield its output's lines, which are appended to *log* as well.

    *what* names the whole in errors ("building QEMU"); *env* replaces the
    environment.  At the time limit, or when the caller stops listening, the
    step's whole process group is stopped as *ending* says.  *keeps*: files of ours that
    it has open as long as it lives, even if we do not.
    """
    with open(log, "a", buffering=1, encoding="utf-8") as out:
        process = subprocess.Popen(
            argv,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
            pass_fds=keeps,
            env={**(os.environ if env is None else env), "LC_ALL": "C.UTF-8"},
        )
        assert process.stdout is not None
        expired = threading.Event()

        def kill() -> None:
            expired.set()
            _stop(process, ending)

        timer = threading.Timer(seconds, kill)
        timer.start()
        try:
            for line in process.stdout:
                out.write(line)
                yield line
            process.wait()
        finally:
            timer.cancel()
            if process.poll() is None:
                _stop(process, ending)
                process.wait()
            process.stdout.close()
    if expired.is_set():
        raise StepFailed(f"'{argv[0]}' did not end within {seconds} s", log)
    if process.returncode != 0:
        why = f"{what} failed: '{argv[0]}' ended with exit code {process.returncode}"
        raise StepFailed(why, log, log_tail(log))


def run_tool(
    what: str,
    argv: Sequence[str],
    seconds: int,
    env: Mapping[str, str],
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run *argv*; return its output on both streams and its exit code, whatever that is.

    Raises ZvmlabError with *what* at the time limit; timeout(1) ends its children, too.
    """
    done = subprocess.run(
        ["timeout", "--kill-after=5", str(seconds), *argv],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode in (124, 137):
        raise ZvmlabError(f"{what} did not end within {seconds} s")
    return done
