# SPDX-License-Identifier: MIT
"""Results of requests to the agent."""

from __future__ import annotations

import os
import re
import signal as signals
from collections.abc import Sequence
from typing import NamedTuple

from zvmlab.agent.wire import ERRNO_MAX, AgentLost, Reader, Writer
from zvmlab.base.errors import ZvmlabError
from zvmlab.base.plain import harmless, shortened

RUNNING, EXITED, SIGNALLED, NO_EXEC = range(4)
OUT_TIMED_OUT, OUT_STDOUT_CUT, OUT_STDERR_CUT = 1, 2, 4
_LOG_SHOWN = 4000
STATUS_MAX, SIGNAL_MAX = 255, 127
"""wait(2) has no more bits for them."""
_RECORD = re.compile(r"(\d{1,10}),(\d{1,20}),(\d{1,20})(?:,[^;]*)?;(.*)", re.ASCII)
ENVIRONMENT = {"PATH": "/bin:/sbin:/usr/bin:/usr/sbin", "HOME": "/", "LC_ALL": "C"}


class AgentInfo(NamedTuple):
    """The agent's answer about itself."""

    version: int
    byteorder: str
    machine: bool
    """It is the guest's init: power requests act on the machine."""
    pid: int
    page_size: int
    request_max: int
    reply_max: int
    busy: int
    """Bit n: worker number n is executing a request, or about to."""
    release: str
    architecture: str


def decode_info(reader: Reader) -> AgentInfo:
    """The reply to HELLO."""
    return AgentInfo(
        version=reader.u16(),
        byteorder="big" if reader.u8() else "little",
        machine=bool(reader.u8()),
        pid=reader.u32(),
        page_size=reader.u32(),
        request_max=reader.u32(),
        reply_max=reader.u32(),
        busy=reader.u32(),
        release=reader.string(),
        architecture=reader.string(),
    )


class RunResult(NamedTuple):
    """How a program ended: *status* is its exit status, or *signal* the signal that ended it."""

    argv: Sequence[str]
    status: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    timed_out: bool
    """It did not end within its time limit (run: and was killed)."""
    cut: bool
    """It wrote more than 8 MiB to one of its outputs; what is here is the beginning."""
    seconds: float

    @property
    def ok(self) -> bool:
        """It ended by itself with exit status 0."""
        return self.status == 0 and not self.timed_out

    def check(self) -> RunResult:
        """Itself; ProgramFailed if it is not ok."""
        if not self.ok:
            raise ProgramFailed(self)
        return self

    def describe(self) -> str:
        """Describe the end in words."""
        if self.timed_out:
            return f"did not end within {self.seconds:.1f} s"
        if self.signal is not None:
            return f"was ended by {signal_name(self.signal)}"
        return f"ended with status {self.status}"


def signal_name(number: int) -> str:
    """SIGKILL and the like."""
    try:
        return signals.Signals(number).name
    except ValueError:
        return f"signal {number}"


class ProgramFailed(ZvmlabError):
    """A program in the guest failed."""

    def __init__(self, result: RunResult) -> None:
        last = result.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        text = f"'{' '.join(result.argv)}' in the guest {result.describe()}"
        super().__init__(": ".join([text, *map(shortened, last)]))
        self.result = result


def encode_start(
    argv: Sequence[str],
    env: dict[str, str] | None,
    stdin: bytes,
    cwd: str,
    inherit: bool,
) -> bytes:
    """Encode the fields that RUN and SPAWN share."""
    out = Writer().u16(len(argv))
    for text in argv:
        out.string(text)
    strings = [f"{key}={value}" for key, value in (ENVIRONMENT if env is None else env).items()]
    out.u16(len(strings))
    for text in strings:
        out.string(text)
    return out.string(cwd).blob(stdin).u8(inherit).payload()


def decode_outcome(reader: Reader, argv: Sequence[str]) -> RunResult:
    """The reply to RUN and WAIT; OSError if the program could not be started."""
    error = reader.errno()
    if not error:
        reader.u32()  # the handle
        state, flags, code = reader.u8(), reader.u8(), reader.u32()
        if not _is_outcome(state, flags, code):
            raise AgentLost(
                f"the agent sent an impossible end of '{argv[0]}': state {state},"
                f" flags {flags}, code {code}"
            )
        seconds = reader.u64() / 1e9
        error = code if state == NO_EXEC else 0
    if error:
        raise OSError(error, os.strerror(error), argv[0])
    return RunResult(
        argv=list(argv),
        status=code if state == EXITED else None,
        signal=code if state == SIGNALLED else None,
        stdout=reader.blob(),
        stderr=reader.blob(),
        timed_out=bool(flags & OUT_TIMED_OUT),
        cut=bool(flags & (OUT_STDOUT_CUT | OUT_STDERR_CUT)),
        seconds=seconds,
    )


def _is_outcome(state: int, flags: int, code: int) -> bool:
    """Can a program end, or go on, like that?"""
    if state == RUNNING:
        return bool(flags & OUT_TIMED_OUT)
    if state == NO_EXEC:
        return 0 < code <= ERRNO_MAX
    if state == SIGNALLED:
        return 0 < code <= SIGNAL_MAX
    return state == EXITED and code <= STATUS_MAX


class LogLine(NamedTuple):
    """One record of the kernel's log."""

    sequence: int
    priority: int
    seconds: float
    text: str

    @property
    def level(self) -> int:
        """0 (emergency) to 7 (debug)."""
        return self.priority & 7

    @property
    def stamped(self) -> str:
        """The line with its time stamp, as on the console."""
        return f"[{self.seconds:12.6f}] {self.text}"


def decode_log(data: bytes) -> list[LogLine]:
    """Records as /dev/kmsg spells them; continuation lines are left out."""
    found = []
    for line in data.decode("utf-8", "replace").split("\n"):
        record = _RECORD.fullmatch(line)
        if record is not None:
            priority, sequence, microseconds, text = record.groups()
            found.append(LogLine(int(sequence), int(priority), int(microseconds) / 1e6, text))
    return found


class Settled(NamedTuple):
    """The answer to SETTLE."""

    runnable: int
    """Tasks that run or could, beside the one that looks."""
    taints: int
    """What the kernel has had since its start, as /proc/sys/kernel/tainted counts it."""
    busy: int
    """Bit n: worker number n, which is another one, is executing a request, or about to."""
    uevents: int
    """With the same number, no device or module has come or gone; 0: nobody knows."""
    position: int
    """The sequence number that the next line of the kernel's log will have."""
    lost: int
    """Records that were overwritten before they could be read."""
    more: bool
    """The log has more lines than these."""
    lines: list[LogLine]


class Interrupted(NamedTuple):
    """The answer to INTERRUPT."""

    sent: bool
    """The worker was executing a request."""
    executed: int
    """So many operations of its batch had been executed."""


class ModuleResult(NamedTuple):
    """How loading or unloading a module went: errno, and what the kernel logged meanwhile."""

    what: str
    errno: int
    log: list[LogLine]

    @property
    def text(self) -> str:
        """The log as text."""
        return "\n".join(line.text for line in self.log)

    def check(self) -> ModuleResult:
        """Itself; ModuleFailed if it failed."""
        if self.errno:
            raise ModuleFailed(self)
        return self


class ModuleFailed(ZvmlabError):
    """A module could not be loaded or unloaded."""

    def __init__(self, result: ModuleResult) -> None:
        reason = os.strerror(result.errno)
        texts = "; ".join(line.text for line in result.log)
        said = shortened(harmless(texts, lines=False), _LOG_SHOWN)
        log = f"; the kernel's log says: {said}" if said else ""
        super().__init__(f"{result.what} in the guest: {reason}{log}")
        self.result = result


class DrainResult(NamedTuple):
    """Figures of reading at full speed."""

    elapsed_ns: int
    timed_out: bool
    sets: int
    """0-byte reads after data."""
    empty: int
    """0-byte reads without data before them."""
    reads: int
    bytes: int
    overflows: int
    errno: int
    """What ended it; 0 if it has what it was to read, or ran into the time limit."""
    crc: int
    """CRC-32 of all the data, if asked for."""


def decode_drain(reader: Reader) -> DrainResult:
    """The reply to DRAIN."""
    return DrainResult(
        elapsed_ns=reader.u64(),
        timed_out=bool(reader.u8()),
        sets=reader.u32(),
        empty=reader.u32(),
        reads=reader.u64(),
        bytes=reader.u64(),
        overflows=reader.u32(),
        errno=reader.errno(),
        crc=reader.u32(),
    )
