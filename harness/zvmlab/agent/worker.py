# SPDX-License-Identifier: MIT
"""Workers: the threads of the agent that execute requests.

Methods named after system calls give a CallResult with the exact return value
and errno; `check()` turns a failure into OSError.
"""

from __future__ import annotations

import errno
import os
import signal as signals
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

from zvmlab.agent.calls import BatchResult, Calls, CallResult, Operation, Operations, decode_results
from zvmlab.agent.channel import Channel
from zvmlab.agent.results import (
    DrainResult,
    Interrupted,
    LogLine,
    ModuleResult,
    RunResult,
    Settled,
    decode_drain,
    decode_log,
    decode_outcome,
    encode_start,
)
from zvmlab.agent.wire import CHUNK_MAX, LIMIT_MAX_MS, AgentLost, Reader, Request, Writer
from zvmlab.base.errors import Timeout, ZvmlabError
from zvmlab.base.plain import harmless, shortened

T = TypeVar("T")

MODULES = "/lib/modules"
LOAD_STEPS = "/etc/zvmlab/modprobe"
_LOAD_STEPS_MAX = 1 << 20
_LOG_PARTS_MAX = 64
FILE_MAX = 64 << 20
"""Bytes of a file that are read unless more are asked for: a guest may offer any number."""
DEFAULT_SECONDS = 60.0
# What a reply may take beyond the time limit that the agent itself keeps: the guest may not run
# for a while, on a busy machine.
GRACE_SECONDS = 60.0
_WRITE_CREATE, _WRITE_TRUNCATE, _WRITE_APPEND = 1, 2, 4
_DRAIN_CRC = 1
_SETTLE = "what still runs"
_NS = 10**9


def module_path(name: str) -> str:
    """The file in the guest of a module that the image has."""
    return f"{MODULES}/{name.replace('-', '_')}.ko"


def limit_ms(seconds: float) -> int:
    """A limit as the agent takes it."""
    return max(1, min(LIMIT_MAX_MS, int(seconds * 1000)))


class Pending(Generic[T]):
    """A request that is being executed."""

    def __init__(
        self,
        channel: Channel,
        number: int,
        what: str,
        seconds: float,
        decode: Callable[[Reader], T],
    ) -> None:
        self._channel = channel
        self._number = number
        self._what = what
        self._seconds = seconds
        self._decode = decode

    def result(self, timeout: float | None = None) -> T:
        """Wait for it; once."""
        seconds, grace = (self._seconds, GRACE_SECONDS) if timeout is None else (timeout, 0.0)
        return self._decode(self._channel.collect(self._number, seconds, self._what, grace))

    def done(self) -> bool:
        """Has the reply come?"""
        return self._channel.arrived(self._number)

    def done_within(self, seconds: float) -> bool:
        """Does the reply come in that time?"""
        return self._channel.arrived(self._number, seconds)

    def forget(self) -> None:
        """The reply is not wanted any more."""
        self._channel.forget(self._number)


class Batch(Operations):
    """Operations to be executed in one round trip."""

    def __init__(self, worker: Worker) -> None:
        super().__init__()
        self._worker = worker

    def start(
        self, timeout: float = DEFAULT_SECONDS, stop: bool = False, collected: bool = False
    ) -> Pending[BatchResult]:
        """Begin; *stop*: at the first operation that fails.  The limit is for all together.

        *collected*: the result is what is asked for next.
        """
        begun = list(self.noted)
        return self._worker.start(
            Request.BATCH,
            self.payload(limit_ms(timeout), stop),
            f"a batch of {len(begun)} operations",
            timeout,
            lambda reader: decode_results(reader, begun, stop),
            collected,
        )

    def run(
        self, timeout: float = DEFAULT_SECONDS, stop: bool = False, allow_timeout: bool = False
    ) -> BatchResult:
        """Execute; Timeout if the limit ended it, unless that is allowed."""
        return self.begin(timeout, stop, allow_timeout)()

    def begin(
        self, timeout: float = DEFAULT_SECONDS, stop: bool = False, allow_timeout: bool = False
    ) -> Callable[[], BatchResult]:
        """Begin run(), and return what completes it: other guests can have theirs meanwhile."""
        pending = self.start(timeout, stop)

        def complete() -> BatchResult:
            result = pending.result()
            if result.timed_out and not allow_timeout:
                last = f" in {result[-1].what}" if len(result) else ""
                raise Timeout(f"a batch in the guest was not done within {timeout:g} s{last}")
            return result

        return complete


class Process:
    """A program running in the guest."""

    def __init__(self, worker: Worker, handle: int, argv: Sequence[str]) -> None:
        self._worker = worker
        self.handle = handle
        self.argv = list(argv)

    def wait(self, timeout: float = DEFAULT_SECONDS, kill: bool = False) -> RunResult:
        """Its outcome, once; Timeout if it goes on running (with *kill* it is ended then)."""
        payload = Writer().u32(self.handle).u32(limit_ms(timeout)).u8(kill).payload()
        what = f"'{' '.join(self.argv)}'"
        result = decode_outcome(self._worker.ask(Request.WAIT, payload, what, timeout), self.argv)
        if result.status is None and result.signal is None:
            raise Timeout(f"{what} in the guest did not end within {timeout:g} s")
        return result

    def signal(self, number: int, group: bool = False) -> None:
        """Send a signal to it, or to all of its process group."""
        payload = Writer().u32(self.handle).u32(number).u8(group).payload()
        error = self._worker.ask(Request.SIGNAL, payload, "a signal").errno()
        if error:
            raise OSError(error, os.strerror(error), self.argv[0])

    def kill(self) -> None:
        """End its process group."""
        self.signal(signals.SIGKILL, group=True)


class Worker(Calls[CallResult]):
    """A thread of the agent: executes its requests in order, beside the others."""

    def __init__(self, channel: Channel, number: int, timeout: float = DEFAULT_SECONDS) -> None:
        self.channel = channel
        self.number = number
        self.timeout = timeout
        self.is_kept = False  # on some CPUs: Agent.keep_on()

    def start(
        self,
        request: Request,
        payload: bytes,
        what: str,
        seconds: float,
        decode: Callable[[Reader], T],
        collected: bool = False,
    ) -> Pending[T]:
        """Send any request; *collected*: its reply is what is asked for next."""
        number = self.channel.submit(request, payload, self.number, self.timeout, collected)
        return Pending(self.channel, number, what, seconds, decode)

    def ask(
        self,
        request: Request,
        payload: bytes,
        what: str,
        seconds: float | None = None,
        meanwhile: Callable[[], None] | None = None,
    ) -> Reader:
        """Send any request and wait for its reply; *meanwhile* is called in between."""
        limit = self.timeout if seconds is None else seconds
        number = self.channel.submit(request, payload, self.number, self.timeout, collected=True)
        if meanwhile is not None:
            meanwhile()
        return self.channel.collect(number, limit, what, GRACE_SECONDS)

    def operation(self, operation: Operation) -> CallResult:
        """Execute one operation at once."""
        limit = self.timeout + operation.seconds
        what = operation.what
        head = Writer().u32(limit_ms(limit)).u32(0).u16(1).payload()
        reply = self.ask(Request.BATCH, head + operation.encoded, what, limit)
        result = decode_results(reply, [operation])
        if result.timed_out:
            raise Timeout(f"{what} in the guest did not return within {limit:g} s")
        return result[0]

    def batch(self) -> Batch:
        """An empty batch."""
        return Batch(self)

    def interrupt(self, restart: bool = False) -> bool:
        """Send the thread a signal; what sleeps ends with EINTR, or is restarted.

        Return: False if it was not executing a request.
        """
        return self.start_interrupt(restart).result().sent

    def start_interrupt(self, restart: bool = False) -> Pending[Interrupted]:
        """Begin to do so, in a guest that may not answer any more."""
        payload = Writer().u16(self.number).u8(restart).payload()
        return self.start(
            Request.INTERRUPT,
            payload,
            "an interrupt",
            self.timeout,
            lambda reply: Interrupted(bool(reply.u8()), reply.u16()),
            collected=True,
        )

    def run(
        self,
        argv: Sequence[str],
        env: dict[str, str] | None = None,
        stdin: bytes = b"",
        cwd: str = "/",
        timeout: float = DEFAULT_SECONDS,
        inherit: bool = False,
    ) -> RunResult:
        """Run a program to its end; at its time limit it is killed.

        *inherit*: it keeps the files that the agent has open.
        """
        payload = Writer().u32(limit_ms(timeout)).payload()
        payload += encode_start(argv, env, stdin, cwd, inherit)
        what = f"'{' '.join(argv)}'"
        return decode_outcome(self.ask(Request.RUN, payload, what, timeout), argv)

    def spawn(
        self,
        argv: Sequence[str],
        env: dict[str, str] | None = None,
        stdin: bytes = b"",
        cwd: str = "/",
        inherit: bool = False,
    ) -> Process:
        """Start a program."""
        payload = encode_start(argv, env, stdin, cwd, inherit)
        reply = self.ask(Request.SPAWN, payload, f"the start of '{' '.join(argv)}'")
        error, handle = reply.errno(), reply.u32()
        if error:
            raise OSError(error, os.strerror(error), argv[0])
        return Process(self, handle, argv)

    def drain(
        self,
        fd: int,
        size: int,
        sets: int = 0,
        reads: int = 0,
        max_bytes: int = 0,
        timeout: float = DEFAULT_SECONDS,
        crc: bool = False,
    ) -> DrainResult:
        """Read at full speed up to any of the limits (0: none) and return figures."""
        payload = Writer().u32(fd).u32(size).u32(sets).u64(reads).u64(max_bytes)
        payload.u32(limit_ms(timeout)).u8(_DRAIN_CRC if crc else 0)
        return decode_drain(self.ask(Request.DRAIN, payload.payload(), "a drain", timeout))

    def insmod(
        self, module: str, params: str | Mapping[str, object] = "", flags: int = 0
    ) -> ModuleResult:
        """Load one module: a file in the guest, or the name of one that the image has."""
        return self.start_insmod(module, params, flags).result()

    def start_insmod(
        self, module: str, params: str | Mapping[str, object] = "", flags: int = 0
    ) -> Pending[ModuleResult]:
        """Begin to load one, as insmod() does."""
        path = module if "/" in module else module_path(module)
        if not isinstance(params, str):
            params = " ".join(f"{key}={value}" for key, value in params.items())
        payload = Writer().string(path).string(params).u32(flags).payload()
        return self._start_module(Request.INSMOD, payload, f"loading {module}")

    def _start_module(self, request: Request, payload: bytes, what: str) -> Pending[ModuleResult]:
        return self.start(
            request,
            payload,
            what,
            self.timeout,
            lambda reply: ModuleResult(what, reply.errno(), decode_log(reply.blob())),
        )

    def rmmod(self, name: str, flags: int = os.O_NONBLOCK) -> ModuleResult:
        """Unload a module."""
        return self.start_rmmod(name, flags).result()

    def start_rmmod(self, name: str, flags: int = os.O_NONBLOCK) -> Pending[ModuleResult]:
        """Begin to unload one."""
        payload = Writer().string(name.replace("-", "_")).u32(flags).payload()
        return self._start_module(Request.RMMOD, payload, f"unloading {name}")

    def modprobe(self, name: str, params: str | Mapping[str, object] = "") -> ModuleResult:
        """Load a module of the image with what it needs and wants, which may be there already."""
        return self.start_modprobe(name, params).result()

    def start_modprobe(
        self, name: str, params: str | Mapping[str, object] = ""
    ) -> Pending[ModuleResult]:
        """Begin to load one; what it needs is there when this returns."""
        wanted = name.replace("-", "_")
        for step in self.load_steps().get(wanted, []):
            if step != wanted:  # it is the last of them
                done = self.insmod(step.rstrip("?"))
                if not step.endswith("?") and done.errno != errno.EEXIST:
                    done.check()
        return self.start_insmod(wanted, params)

    def load_steps(self) -> dict[str, list[str]]:
        """The steps to load each module of the image (zvmlab.builder.image)."""
        found = self.read_file(LOAD_STEPS, _LOAD_STEPS_MAX)
        lines = found.decode("utf-8", "surrogateescape").splitlines()
        return {name: words.split() for name, _, words in (line.partition(":") for line in lines)}

    def dmesg(self, since: int = 0) -> list[LogLine]:
        """The kernel's log, from that sequence number on, as far as it has not been overwritten."""
        return [line for _, lines in self._log_parts(since) for line in lines]

    def log_position(self) -> int:
        """The sequence number that the next line of the kernel's log will have."""
        return max(position for position, _ in self._log_parts(0))

    def _log_parts(self, since: int) -> Iterator[tuple[int, list[LogLine]]]:
        """The kernel's log from that number on, in parts; in front of each, the number after it."""
        for _ in range(_LOG_PARTS_MAX):
            since, _, more, lines = self._klog(since)
            yield since, lines
            if not more:
                return
        raise ZvmlabError("the guest's kernel logs faster than its log can be read")

    def settle(
        self, seconds: float, since: int, meanwhile: Callable[[], None] | None = None
    ) -> Settled:
        """Sleep; what runs then, and the kernel's log from that sequence number on.

        *meanwhile* is called once the guest has been asked.
        """
        asked = Writer().u64(round(seconds * _NS)).u64(since).payload()
        return self._settled(self.ask(Request.SETTLE, asked, _SETTLE, meanwhile=meanwhile))

    def start_settle(self, since: int) -> Pending[Settled]:
        """Begin to ask what runs now, of a guest that may not answer any more."""
        asked = Writer().u64(0).u64(since).payload()
        return self.start(Request.SETTLE, asked, _SETTLE, self.timeout, self._settled, True)

    def _settled(self, reply: Reader) -> Settled:
        error, runnable, taints = reply.errno(), reply.u32(), reply.u64()
        busy, uevents = reply.u32(), reply.u64()
        if error:
            raise OSError(error, os.strerror(error), "/proc")
        return Settled(runnable - 1, taints, busy, uevents, *self._log_in(reply))

    def _klog(self, since: int) -> tuple[int, int, bool, list[LogLine]]:
        asked = Writer().u64(since).payload()
        return self._log_in(self.ask(Request.KLOG, asked, "the kernel's log"))

    @staticmethod
    def _log_in(reply: Reader) -> tuple[int, int, bool, list[LogLine]]:
        error, position, lost, more = reply.errno(), reply.u64(), reply.u64(), bool(reply.u8())
        if error:
            raise OSError(error, os.strerror(error), "/dev/kmsg")
        return position, lost, more, decode_log(reply.blob())

    def read_file(self, path: str, limit: int = FILE_MAX) -> bytes:
        """Read a whole file; ZvmlabError if it has more than *limit* bytes."""
        data = bytearray()
        while True:
            wanted = min(CHUNK_MAX, limit + 1 - len(data))
            payload = Writer().string(path).u64(len(data)).u32(wanted).payload()
            reply = self.ask(Request.READ_FILE, payload, f"reading {path}")
            error = reply.errno()
            if error:
                raise OSError(error, os.strerror(error), path)
            part = reply.blob()
            if len(part) > wanted:
                raise AgentLost(f"the agent sent {len(part)} bytes of {path} instead of {wanted}")
            data += part
            if len(data) > limit:
                raise ZvmlabError(f"{path} in the guest has more than {limit} bytes")
            if len(part) < wanted:
                return bytes(data)

    def read_text(self, path: str) -> str:
        """Read a whole text file; bytes that are not UTF-8 are replaced."""
        return self.read_file(path).decode("utf-8", "replace")

    def read_word(self, path: str, at: int) -> str:
        """One of the words of a text file."""
        text = self.read_text(path)
        try:
            return text.split()[at]
        except IndexError as error:
            said = shortened(harmless(text, lines=False))
            raise ZvmlabError(f"{path} in the guest has too few words: {said!r}") from error

    def write_file(
        self, path: str, data: bytes, mode: int | None = None, append: bool = False
    ) -> None:
        """Write a file; with *mode* it is made or emptied, without it must exist (as in /sys)."""
        flags = 0 if mode is None else _WRITE_CREATE | (0 if append else _WRITE_TRUNCATE)
        flags |= _WRITE_APPEND if append else 0
        offset = 0
        while True:
            part = data[offset : offset + CHUNK_MAX]
            out = Writer().string(path).u8(flags).u32(mode or 0)
            out.u64(0 if append else offset).blob(part)
            reply = self.ask(Request.WRITE_FILE, out.payload(), f"writing {path}")
            error = reply.errno()
            if error:
                raise OSError(error, os.strerror(error), path)
            offset += len(part)
            flags &= ~_WRITE_TRUNCATE
            if offset >= len(data):
                return
