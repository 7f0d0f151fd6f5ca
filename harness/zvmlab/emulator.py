# SPDX-License-Identifier: MIT
"""One emulator process, from start to end, with nothing left behind.

The process leads a session of its own, so that Ctrl-C reaches only the harness,
which then ends it in order.  Should the harness die without a chance to do so,
the kernel kills the emulator: setpriv(1) arms PR_SET_PDEATHSIG before it
becomes the emulator.  A harness that died even before is noticed by its process
id, which is the parent's no more.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from zvmlab.errors import CannotRun, EmulatorError, Timeout, UsageError
from zvmlab.run_dir import cannot_write

TERM_SECONDS = 2.0
KILL_SECONDS = 5.0
_LOG_TAIL = 4096
_LAUNCH = ("setpriv", "--pdeathsig", "KILL", "--", "sh", "-c", '[ "$PPID" = "$0" ] && exec "$@"')
# How our device begins a message about its options, with which the emulator then ends.
_REFUSED = re.compile(r"zvmlab-cp: (.*)")


class Emulator:
    """Runs a command line; standard output and error go to the log.

    *kept*: the log outlives the process, so that messages may name it.  *folder*
    is its working directory, the harness's if there is none.
    """

    def __init__(
        self, argv: Sequence[str], log: Path, kept: bool = True, folder: Path | None = None
    ) -> None:
        self.log = log
        self._kept = kept
        self._expected = False
        self._stopped = False
        try:
            output = open(log, "ab")
        except OSError as error:
            raise cannot_write(log, error) from error
        with output:
            try:
                self._process = subprocess.Popen(
                    [*_LAUNCH, str(os.getpid()), *argv],
                    stdin=subprocess.PIPE,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    cwd=folder,
                )
            except FileNotFoundError as error:
                raise CannotRun(
                    "setpriv is missing; install the Debian package util-linux"
                ) from error

    @property
    def pid(self) -> int:
        """Process id, which is its process group's as well."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Does the process still run?"""
        return self._process.poll() is None

    def command(self, text: str) -> None:
        """Write a line to its standard input, which takes it at once or not at all."""
        assert self._process.stdin is not None, "it was started with a pipe"
        try:
            self._process.stdin.write(f"{text}\n".encode())
            self._process.stdin.flush()
        except BrokenPipeError as error:
            self.check()
            raise EmulatorError(f"the emulator has ended and cannot {text}") from error

    def expect_exit(self) -> None:
        """From now on its end is no error."""
        self._expected = True

    def check(self) -> None:
        """Raise EmulatorError if it has ended on its own."""
        code = self._process.poll()
        if code is None or self._expected:
            return
        if code < 0:
            how = f"was killed by {signal.Signals(-code).name}"
        elif code == 0:
            how = "ended because the guest powered off unasked"
        else:
            how = f"ended with exit code {code}"
        tail = self._tail()
        refused = _REFUSED.search(tail)
        said = tail.rpartition("\n")[2].rstrip(".")
        if code == 1 and refused is not None:
            raise UsageError(f"the CP refuses its configuration: {refused.group(1)}")
        place = f"; its log is {self.log}" if self._kept else ""
        raise EmulatorError(f"the emulator {how}{': ' + said if said else ''}{place}")

    def _tail(self) -> str:
        """The end of the log, without empty lines."""
        try:
            with open(self.log, "rb") as log:
                log.seek(max(0, log.seek(0, os.SEEK_END) - _LOG_TAIL))
                lines = log.read().decode("utf-8", "replace").split("\n")
        except OSError:
            return ""
        return "\n".join(line.strip() for line in lines if line.strip())

    def wait(self, timeout: float) -> int:
        """Wait for its end; its exit code."""
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired as error:
            raise Timeout(f"the emulator did not end within {timeout:g} s") from error

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def _ended(self, seconds: float) -> bool:
        """Wait without being impatient with a second Ctrl-C."""
        limit = time.monotonic() + seconds
        while self._process.poll() is None:
            if time.monotonic() > limit:
                return False
            time.sleep(0.01)
        return True

    def stop(self) -> None:
        """End it and everything it started; harmless the second time."""
        self._expected = True
        if self._stopped:
            return
        try:
            if self._process.poll() is None:
                self._signal(signal.SIGTERM)
                self._ended(TERM_SECONDS)
        finally:
            self._signal(signal.SIGKILL)
            if self._process.stdin is not None:
                with contextlib.suppress(BrokenPipeError):
                    self._process.stdin.close()
            self._stopped = self._ended(KILL_SECONDS)
