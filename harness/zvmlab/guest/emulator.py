# SPDX-License-Identifier: MIT
"""One emulator process, from start to end, with nothing left behind.

The process leads a session of its own, so that Ctrl-C reaches only the harness,
which then ends it in order.  Should the harness die without a chance to do so,
the kernel kills the emulator (zvmlab.builder.launcher).  The signal for that comes when the
thread ends that has started the process, so one thread starts them all, which ends
with the harness only.
"""

from __future__ import annotations

import contextlib
import os
import queue
import re
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NoReturn

from zvmlab.agent.results import signal_name
from zvmlab.base.errors import CannotRun, EmulatorError, Timeout, UsageError
from zvmlab.base.limit import FairLimit, Limit
from zvmlab.base.plain import shortened
from zvmlab.builder.launcher import ending_with_us
from zvmlab.guest.run_dir import cannot_write

TERM_SECONDS = 2.0
KILL_SECONDS = 60.0
_LOG_TAIL = 4096
LOG_MAX = 64 << 20
"""An emulator says a few lines; one whose log has more bytes is at fault."""
Process = subprocess.Popen[bytes]
HALTED = "the emulator is stopped, as by SIGSTOP"


class Halted(Timeout):
    """The emulator stands still; the text says so."""


# How our device begins a message about its options, with which the emulator then ends.
_REFUSED = re.compile(r"zvmlab-cp: (.*)")
# Signals that come from others; one that ends by another signal is at fault.
_FROM_OUTSIDE = (signal.SIGTERM, signal.SIGKILL, signal.SIGINT, signal.SIGHUP)
# How either says that a signal ends it, from whom, and what that is called if it is there still.
_TERMINATED = re.compile(r"terminating on signal (\d+) from pid (\d+)(?: \((.*)\))?")
# What Hercules says last if its panel ends it.
_TOLD_TO_QUIT = "zvmlab: told to quit"
# How either says that the trace ends before the machine does.
_TRACE_ENDED = re.compile(r"^zvmlab: trace file .* ends here: (.*)$", re.MULTILINE)


class _Order:
    """A process to start for somebody who waits for it."""

    def __init__(self, start: Callable[[], Process]) -> None:
        self._start = start
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._unwanted = False
        self._process: Process | None = None
        self._error: BaseException | None = None

    def carry_out(self) -> None:
        """Start it; whoever waits gets an error that this meets."""
        try:
            self._process = self._start()
        except BaseException as error:
            self._error = error
        with self._lock:
            self._done.set()
            if self._unwanted:
                self._kill()

    def process(self) -> Process:
        """Wait for it; kill one that nobody waits for any more."""
        try:
            self._done.wait()
        except BaseException:
            with self._lock:
                self._unwanted = True
                if self._done.is_set():
                    self._kill()
            raise
        if self._process is None:
            assert self._error is not None
            raise self._error
        return self._process

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()


class _Starter:
    """The thread that starts processes; a fork of the harness needs its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pid = 0
        self._orders: queue.SimpleQueue[_Order]

    def __call__(self, start: Callable[[], Process]) -> Process:
        """Return what *start* returns."""
        order = _Order(start)
        with self._lock:
            if self._pid != os.getpid():
                self._pid = os.getpid()
                self._orders = queue.SimpleQueue()
                threading.Thread(
                    target=self._serve, args=(self._orders,), name="zvmlab-starter", daemon=True
                ).start()
            self._orders.put(order)
        return order.process()

    @staticmethod
    def _serve(orders: queue.SimpleQueue[_Order]) -> None:
        while True:
            orders.get().carry_out()


_start = _Starter()


class Emulator:
    """Runs a command line; standard output and error go to the log.

    *kept*: the log outlives the process, so that messages may name it.  *folder*
    is its working directory, the harness's if there is none.  *tells*: standard
    output is what next_line() reads, and not in the log.  *environment*: what its own has beside
    the harness's.
    """

    def __init__(
        self,
        argv: Sequence[str],
        log: Path,
        kept: bool = True,
        folder: Path | None = None,
        tells: bool = False,
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.log = log
        self._says = f"{Path(argv[0]).name}: "
        self._kept = kept
        self._expected = False
        self._stopped = False
        self._told_to_end = False
        self._told = b""
        try:
            output = open(log, "wb")
        except OSError as error:
            raise cannot_write(log, error) from error
        with output:
            self._process = _start(
                lambda: subprocess.Popen(
                    ending_with_us(argv),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE if tells else output,
                    stderr=output,
                    start_new_session=True,
                    cwd=folder,
                    env={**os.environ, **environment},
                )
            )

    @property
    def pid(self) -> int:
        """Process id, which is its process group's as well."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Does the process still run?"""
        return self._process.poll() is None

    def cpu_seconds(self) -> float:
        """CPU time that its threads have used, in seconds; 0 if it has ended."""
        fields = self._fields()
        # proc(5): utime and stime are fields 14 and 15.
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if fields else 0.0

    def starved_seconds(self) -> float:
        """For how long one of its threads was ready to run, and had no CPU: the one that waited longest."""
        # Documentation/scheduler/sched-stats.rst of Linux: the second number of schedstat.
        waited = [0]
        with contextlib.suppress(OSError, ValueError, IndexError):
            for task in Path(f"/proc/{self.pid}/task").iterdir():
                waited.append(int((task / "schedstat").read_text("ascii").split()[1]))
        return max(waited) / 1e9

    def limit(self, seconds: float) -> Limit:
        """A limit for what this process is to do: time in which it had no CPU does not count."""
        return FairLimit(seconds, self.starved_seconds, soon=True)

    @property
    def halted(self) -> bool:
        """Does it stand still, as after SIGSTOP?"""
        return self._fields()[:1] == [b"T"]

    def _fields(self) -> list[bytes]:
        """The fields of proc(5) from the third on: the second may contain blanks."""
        try:
            said = Path(f"/proc/{self.pid}/stat").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            return []
        return said.rpartition(b")")[2].split()

    def check_runs(self) -> None:
        """Raise Timeout if nobody needs to wait for it any longer: it stands still."""
        if self.halted:
            raise Halted(f"{HALTED}; 'kill -CONT {self.pid}' lets it go on")

    def command(self, text: str) -> None:
        """Write a line to its standard input, which takes it at once or not at all."""
        assert self._process.stdin is not None, "it was started with a pipe"
        try:
            self._process.stdin.write(f"{text}\n".encode())
            self._process.stdin.flush()
        except BrokenPipeError as error:
            self.check()
            raise EmulatorError(f"the emulator has ended and cannot {text}") from error

    def next_line(self, seconds: float) -> str | None:
        """What it tells next; None if it tells nothing for so long, or has ended."""
        stdout = self._process.stdout
        assert stdout is not None, "it was started with a pipe"
        ready = select.poll()
        ready.register(stdout, select.POLLIN)
        limit = self.limit(seconds)
        while b"\n" not in self._told:
            if ready.poll(limit.left() * 1000):
                data = os.read(stdout.fileno(), 4096)
                if not data:
                    return None
                self._told += data
            elif limit.over:
                return None
        line, _, self._told = self._told.partition(b"\n")
        return line.decode("utf-8", "replace")

    def expect_exit(self) -> None:
        """From now on its end is no error."""
        self._expected = True

    @property
    def may_end(self) -> bool:
        """Has expect_exit() been called?"""
        return self._expected

    def check(self) -> None:
        """Raise EmulatorError if it has ended on its own, or by a fault of its own.

        A log that is too long is one: the emulator is killed.
        """
        if self._log_size() > LOG_MAX:
            self.kill()
            last = shortened(self._tail().rpartition("\n")[2])
            raise EmulatorError(
                f"the emulator was killed because its log has more than {LOG_MAX} bytes, and ends"
                f" with: {last}"
            )
        code = self._process.poll()
        if code is not None and (not self._expected or self._at_fault(code)):
            self._refuse(code)

    def _at_fault(self, code: int) -> bool:
        """An emulator that is stopped has nothing to complain of."""
        return -code not in _FROM_OUTSIDE if code < 0 else code > 0 and self._told_to_end

    def check_power_off(self, timeout: float) -> None:
        """Wait for its end; raise EmulatorError unless the guest powered off."""
        code = self.wait(timeout)
        if code:
            self._refuse(code)

    def _refuse(self, code: int) -> NoReturn:
        tail = self._tail()
        refused = _REFUSED.search(tail)
        said = self._last_words(tail)
        terminated = _TERMINATED.search(said)
        if code < 0:
            how = f"was killed by {signal_name(-code)}"
        elif terminated is not None:
            number, sender, name = terminated.groups()
            by = f"process {sender}" + (f" ({name})" if name else "")
            how, said = f"was ended by {signal_name(int(number))} from {by}", ""
        elif code == 0 and said == _TOLD_TO_QUIT:
            how, said = "was told to quit", ""
        elif code == 0:
            how = "ended because the guest powered off unasked"
        else:
            how = f"ended with exit code {code}"
        if code == 1 and refused is not None:
            raise UsageError(f"the CP refuses its configuration: {refused.group(1)}")
        place = f"; its log is {self.log}" if self._kept else ""
        # What it said before it was killed has nothing to do with that.
        why = f": {said}" if said and code >= 0 else ""
        raise EmulatorError(f"the emulator {how}{why}{place}")

    def _last_words(self, tail: str) -> str:
        """The last line; if it is a hint, which has no name before it, with the error that it is for."""
        before, last = ["", *tail.split("\n")][-2:]
        hint = before.startswith(self._says) and not last.startswith(self._says)
        return (f"{before} ({last.rstrip('.')})" if hint else last).rstrip(".")

    def trace_ended(self) -> str | None:
        """Why it could write no more of the CP's trace, if it has said so."""
        found = _TRACE_ENDED.search(self._tail())
        return found.group(1) if found else None

    def _log_size(self) -> int:
        try:
            return os.stat(self.log).st_size
        except OSError:
            return 0

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
        limit = self.limit(timeout)
        while True:
            try:
                return self._process.wait(limit.left())
            except subprocess.TimeoutExpired as error:
                if limit.over:
                    raise Timeout(f"the emulator did not end within {limit}") from error

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def _ended(self, seconds: float) -> bool:
        """Wait without being impatient with a second Ctrl-C."""
        return self.limit(seconds).look(lambda: self._process.poll() is not None)

    def kill(self) -> None:
        """Kill it and everything it started, without waiting; stop() is still to be called."""
        if self._process.poll() is None:
            self._signal(signal.SIGKILL)

    def stop(self) -> None:
        """End it and everything it started; harmless the second time."""
        self._expected = True
        if self._stopped:
            return
        try:
            if self._process.poll() is None:
                self._told_to_end = True
                self._signal(signal.SIGTERM)
                self._ended(TERM_SECONDS)
        finally:
            self._signal(signal.SIGKILL)
            if self._process.stdin is not None:
                with contextlib.suppress(BrokenPipeError):
                    self._process.stdin.close()
            if self._process.stdout is not None:
                self._process.stdout.close()
            self._stopped = self._ended(KILL_SECONDS)
