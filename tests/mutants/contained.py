# SPDX-License-Identifier: MIT
"""A program run where it can harm nothing: bubblewrap's namespaces, for what has a mistake in it.

It sees the machine's files but can write only to folders of its own that end with it.  It is nobody,
without capabilities and without a way to get some; it has its own network, its own /dev and
its own processes, which all end when it does.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import IO

from zvmlab.base.errors import CannotRun, Timeout

INSIDE = Path("/tmp/tree")
"""Where the tree is for it; the path of a socket must be short, and a home may be hidden."""
HOME = Path("/tmp")
"""Its home, the place of its temporary files: a file system of its own."""
_NOBODY = "65534"
_BYTES = 1 << 30
_PROCESSES = 2000
_SECONDS = 30


def _argv(folder: Path, info: int, gate: int) -> list[str]:
    own = ["--perms", "1777", "--size", str(_BYTES), "--tmpfs"]
    return [
        "bwrap",
        *("--unshare-user", "--disable-userns", "--uid", _NOBODY, "--gid", _NOBODY),
        *("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
        *("--unshare-cgroup-try", "--die-with-parent", "--new-session"),
        *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
        # Sockets of the machine's services; other people's files.
        *("--tmpfs", "/run", *own, "/dev/shm", *own, "/tmp"),
        *("--ro-bind", str(folder), str(INSIDE), "--chdir", str(INSIDE)),
        *("--info-fd", str(info), "--block-fd", str(gate)),
        *("--", "prlimit", f"--nproc={_PROCESSES}"),
    ]


class Contained:
    """A program that runs in *folder*, until it ends or is ended."""

    def __init__(
        self,
        folder: Path,
        argv: list[str],
        environment: dict[str, str],
        said: IO[bytes] | int,
        before: Callable[[], None] | None = None,
    ) -> None:
        told, tell = os.pipe()
        gate, opened = os.pipe()
        try:
            self._outer = subprocess.Popen(
                [*_argv(folder, tell, gate), *argv],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                pass_fds=(tell, gate),
                preexec_fn=before,
            )
        except FileNotFoundError:
            for number in (told, opened):
                os.close(number)
            raise CannotRun("there is no bwrap; run 'make setup' in the clone") from None
        finally:
            os.close(tell)
            os.close(gate)
        with open(told, "rb") as pipe:
            text = pipe.read()
        # The first process of its namespace: when that is gone, all of them are.  It waits at
        # the gate, so its number is its own.
        self._first = os.pidfd_open(json.loads(text)["child-pid"]) if text else -1
        with open(opened, "wb", buffering=0) as pipe:
            if text:
                pipe.write(b"\n")

    def wait(self, limit: float) -> int | None:
        """Its exit code, after all of its processes are gone; None if it was ended after *limit*
        seconds."""
        try:
            return self._outer.wait(limit)
        except subprocess.TimeoutExpired:
            return None
        finally:
            self._end()

    def _end(self) -> None:
        if self._first >= 0:
            try:
                signal.pidfd_send_signal(self._first, signal.SIGKILL)
            except ProcessLookupError:
                pass
            gone = select.poll()
            gone.register(self._first, select.POLLIN)
            ended = gone.poll(_SECONDS * 1000)
            os.close(self._first)
            if not ended:
                raise Timeout(f"a changed program does not end {_SECONDS} s after SIGKILL")
        self._outer.kill()
        self._outer.wait()


def must_work(folder: Path) -> None:
    """CannotRun if nothing can be contained on this machine; a changed program is then not run."""
    with open(folder / "said", "wb+") as said:
        code = Contained(folder, ["true"], dict(os.environ), said).wait(_SECONDS)
        said.seek(0)
        text = said.read().decode("utf-8", "replace").strip()
    if code != 0:
        raise CannotRun(
            "changed programs cannot be contained on this machine, and do not run otherwise "
            f"(docs/mutants.md has what they need): {text or 'bwrap does not answer'}"
        )
