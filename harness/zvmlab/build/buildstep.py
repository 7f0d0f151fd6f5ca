# SPDX-License-Identifier: MIT
"""One step of a build: its output goes to a log and to whoever counts its lines."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from zvmlab.base.errors import StepFailed, ZvmlabError

LOG_TAIL = 15


def log_tail(log: Path) -> str:
    """The last lines of a log, long ones cut."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return "\n".join(line[:200] for line in lines[-LOG_TAIL:])


def run_step(
    what: str,
    argv: Sequence[str],
    cwd: Path,
    log: Path,
    seconds: int,
    env: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """Run *argv* and yield its output's lines, which are appended to *log* as well.

    *what* names the whole in errors ("building QEMU"); *env* replaces the
    environment.  At the time limit, or when the caller stops listening, the
    step's whole process group is killed.
    """
    with open(log, "a", encoding="utf-8") as out:
        process = subprocess.Popen(
            argv,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
            env={**(os.environ if env is None else env), "LC_ALL": "C.UTF-8"},
        )
        assert process.stdout is not None
        expired = threading.Event()

        def kill() -> None:
            expired.set()
            with contextlib.suppress(ProcessLookupError):  # it ends just now
                os.killpg(process.pid, signal.SIGKILL)

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
                os.killpg(process.pid, signal.SIGKILL)
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
    """What *argv* prints on both outputs, and its exit code, whatever that is.

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
