# SPDX-License-Identifier: MIT
"""Scenarios: what a program and CP do with the driver, written once, run in many ways.

    @scenario("read-one-set", "Load the driver, read one data set, unload it.")
    def read_one_set(context: Context) -> None:
        context.load()
        context.open()
        context.deliver("sample", context.element())
        context.read()
        context.close()
        context.unload()

A scenario goes straight on when something fails: each step notes what it gave,
so that runs with and without a fault can be compared (zvmlab.scenarios.outcome).  The same
seed gives the same steps.
"""

from __future__ import annotations

import contextlib
import errno
import os
import random
import select
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from zvmlab.agent.agent import Batch, Pending
from zvmlab.agent.calls import BatchResult, CallResult, Ref
from zvmlab.agent.results import LogLine, ModuleResult
from zvmlab.base.errors import Timeout, UsageError, ZvmlabError
from zvmlab.cp.control import ControlError
from zvmlab.guest.artifacts import with_built_modules
from zvmlab.guest.names import DRIVER
from zvmlab.guest.config import BACKENDS, GuestConfig
from zvmlab.guest.guest import Guest
from zvmlab.guest.hold import Hold
from zvmlab.mondata.records import SAMPLE, Element, Record
from zvmlab.monitor.monitor import DEVICE, READ_SIZE, Capture, CapturedSet, deliver
from zvmlab.scenarios.outcome import Outcome, Step, describe_stream, normal_log
from zvmlab.scenarios.steps import text_of

STEP_SECONDS = 10.0
"""A step that takes longer sleeps for good: without a fault the longest takes some 20 ms."""
# A thread that a signal does not wake is given this long beyond its limit.
_STUCK_SECONDS = 3.0
PATIENCE = 60.0
"""How long the other side waits for what the guest does, unless a fault may have prevented it."""
HELD_CPU = 1
"""Where Context.hold() has the thread: the agent's connection is served by CPU 0."""
_WORKER = "scenario"
ANYTHING = "anything"
"""Of what a scenario leaves behind: the guest is not used again then."""
SERVICE = "*MONITOR"
"""Whom a scenario is about unless it says otherwise."""
_USER_DOMAIN = 4
_POLL_NAMES = {
    select.POLLIN: "IN",
    select.POLLPRI: "PRI",
    select.POLLOUT: "OUT",
    select.POLLERR: "ERR",
    select.POLLHUP: "HUP",
    select.POLLNVAL: "NVAL",
    select.POLLRDNORM: "RDNORM",
}


class Stuck(ZvmlabError):
    """A system call in the guest sleeps and cannot be interrupted; the scenario ends there."""

    def __init__(self, guest: Guest, what: str, pending: Pending[Any]) -> None:
        """*pending*: of a batch, or of loading a module."""
        super().__init__(f"{what} sleeps uninterruptibly in the guest")
        self.what = what
        self._guest = guest
        self._pending = pending

    def result(self, seconds: float) -> CallResult | None:
        """Its result if it returns within this guest time."""
        try:
            reply: Any = self._guest.outlast(self._pending, seconds)
        except Timeout:
            return None
        if isinstance(reply, ModuleResult):
            return CallResult(reply.what, 0, reply.errno)
        return reply[0] if len(reply) else None


@dataclass(frozen=True)
class FoundSet:
    """The data of one set, read by read."""

    stream: bytes
    complete: bool
    """It ended with a 0-byte read, which is how the driver says that it is whole."""
    size: int = READ_SIZE
    """Of the buffers that it was read with."""


class Context:
    """The tools of a scenario: one guest, one thread in it that opens, reads and closes.

    *worker* is the thread.  *folder* takes the captured sets; *seed* decides whatever the scenario
    draws; *params* are what the driver is loaded with.  *limit* is how long a step
    may take, *patience* how long the other side waits for the guest; *before_unload*, if set, is
    called in front of each unload().
    """

    def __init__(
        self,
        guest: Guest,
        folder: Path,
        seed: str = "",
        params: str = "",
    ) -> None:
        self.guest = guest
        self.control = guest.control
        self.random = random.Random(seed)
        self.capture = Capture(guest.control, folder / "sets")
        self.fd = -1
        self.loaded = False
        self.sets: list[FoundSet] = []
        self.stored: list[CapturedSet] = []
        self.steps: list[Step] = []
        self.limit = STEP_SECONDS
        self.patience = PATIENCE
        self.before_unload: Callable[[], None] | None = None
        self._params = params
        self.worker = guest.agent.worker(_WORKER)
        self.worker.timeout = PATIENCE
        self._reading: tuple[Pending[BatchResult], int] | None = None
        self._log_start = guest.agent.log_position()

    def note(self, what: str, **result: Any) -> None:
        """Add a step of the scenario's own; values must be JSON's and the same in each run."""
        self.steps.append(Step(what, result))

    def hold(self, function: str, nth: int = 1, where: str = "entry") -> Hold:
        """Have the scenario's thread held at a function of the kernel (Guest.hold); needs two CPUs.

        The thread runs on CPU 1 from now on, where its calls are counted.
        """
        self.guest.agent.keep_on(self.worker, HELD_CPU)
        return self.guest.hold(function, HELD_CPU, nth, where)

    def await_hold(self, hold: Hold) -> None:
        """Note whether the thread comes to where it is held, as long as the other side is patient."""
        try:
            hold.wait(self.patience)
            reached = True
        except Timeout:
            reached = False
        self.note("hold", function=hold.function, where=hold.where, reached=reached)

    def load(self, params: str = "") -> None:
        """Load the driver, with parameters of the scenario's own besides."""
        words = f"{self._params} {params}".strip()
        result = self._module("load", lambda: self.worker.modprobe(DRIVER, words))
        self.loaded = self.loaded or result.errno == 0

    def unload(self) -> None:
        """Unload the driver."""
        if self.before_unload is not None:
            self.before_unload()
        result = self._module("unload", lambda: self.worker.rmmod(DRIVER))
        self.loaded = self.loaded and result.errno != 0

    def open(self, flags: int = os.O_RDONLY) -> None:
        """Open the device; later steps use this descriptor."""
        result = self.call("open", lambda batch: batch.open(DEVICE, flags))
        self.fd = -1 if result is None or result.errno else result.ret
        self._note_call("open", result)

    def close(self) -> None:
        """Close the device."""
        result = self.call("close", lambda batch: batch.close(self.fd))
        self.fd = -1
        self._note_call("close", result)

    def read(self, size: int = READ_SIZE, hashes: bool = True) -> None:
        """Read with buffers of *size* bytes up to the 0-byte read that ends a set, or an error.

        Without *hashes* the records' contents are no part of the outcome, for
        records that carry CP's clock.
        """
        self.start_read(size)
        self.finish_read(hashes)

    def start_read(self, size: int = READ_SIZE) -> None:
        """Begin to read a set that CP may not have stored yet."""
        assert self._reading is None, "one read at a time"
        batch = self.worker.batch()
        batch.read_until(self.fd, size)
        self._reading = batch.start(self.limit), size

    def finish_read(self, hashes: bool = True) -> None:
        """Wait for what start_read() began."""
        assert self._reading is not None, "start_read() comes first"
        (pending, size), self._reading = self._reading, None
        reply = self._collect("read", pending)
        reads = reply[0].reads if len(reply) else []
        stream = b"".join(read.data for read in reads)
        found = FoundSet(stream, bool(reads) and reads[-1].ret == 0, size)
        self.sets.append(found)
        # The read that the time limit interrupted has no result of its own.
        error = 0 if reply.timed_out or not reads else reads[-1].errno
        self.note(
            "read",
            errno=error_name(error),
            blocked=reply.timed_out,
            sizes=[read.ret for read in reads if read.ret >= 0],
            **describe_stream(found.stream, hashes),
        )

    def poll(self, seconds: float = 0.0) -> None:
        """Ask what the device is ready for."""
        events = select.POLLIN | select.POLLPRI | select.POLLRDNORM
        milliseconds = int(seconds * 1000)
        result = self.call("poll", lambda batch: batch.poll([(self.fd, events)], milliseconds))
        ready = result.revents[0] if result is not None and result.buffers else 0
        names = [name for bit, name in _POLL_NAMES.items() if ready & bit]
        self._note_call("poll", result, ready="|".join(names))

    def element(
        self, records: int = 1, size: int = 80, type: int = SAMPLE, phase: int = 0
    ) -> Element:
        """An element of so many records of *size* bytes, whose contents follow from the seed."""
        made = [
            Record(_USER_DOMAIN, 3, number, self.random.randbytes(size - 20))
            for number in range(records)
        ]
        return Element.of(made, type, phase)

    def deliver(self, kind: str, *elements: Element) -> None:
        """Have CP store a data set and announce it; nothing happens while nobody is connected."""
        try:
            fate = deliver(self.control, kind, *elements).fate
        except ControlError as error:
            if error.error_class != "Failed":
                raise
            self.note("deliver", kind=kind, fate="refused", reason=error.desc)
        else:
            self.note("deliver", kind=kind, fate=fate)

    def sever(self, code: int = 0) -> None:
        """Have *MONITOR sever all its paths; *code* is byte 0 of IPUSER."""
        answer = self.control.execute("monitor-sever", code=code)
        self.note("sever", code=code, severed=answer["severed"])

    def play(self, steps: Sequence[Mapping[str, Any]]) -> None:
        """Play steps that are data (zvmlab.scenarios.steps), and note what each gave."""
        from zvmlab.scenarios.player import Player  # for reproducers of the fuzzer

        player = Player(self.guest)
        played = player.play(steps)
        player.end()
        for one in played:
            self.note(text_of(one.step), ret=one.ret, errno=error_name(one.error))
        for one in player.stuck:
            raise ZvmlabError(f"{text_of(one.step)} sleeps uninterruptibly in the guest")

    def outcome(self, name: str) -> Outcome:
        """All steps so far, and what the kernel logged since the beginning."""
        return Outcome(name, tuple(self.steps), normal_log(line.text for line in self.log()))

    def log(self) -> list[LogLine]:
        """The kernel's log since the beginning."""
        return self.guest.agent.dmesg(self._log_start)

    def log_from_boot(self) -> None:
        """From now on the log is all that the kernel has logged since it was started."""
        self._log_start = 0

    def stored_sets(self) -> list[CapturedSet]:
        """All sets that CP has announced so far."""
        self.stored += self.capture.so_far()
        return self.stored

    @contextlib.contextmanager
    def aside(self) -> Iterator[list[Step]]:
        """Steps of the block are no part of the outcome; they are in this list."""
        steps, sets, state = self.steps, self.sets, self.random.getstate()
        self.steps, self.sets = [], []
        try:
            yield self.steps
        finally:
            self.steps, self.sets = steps, sets
            self.random.setstate(state)

    def release(self, stuck: Stuck, seconds: float) -> bool:
        """Does it return within that time if CP severs the path?"""
        self.control.execute("monitor-sever", code=0)
        result = stuck.result(seconds)
        if result is not None and stuck.what == "open" and not result.errno:
            self.fd = result.ret
        return result is not None

    def __enter__(self) -> Context:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.capture.close()

    def _module(self, what: str, action: Callable[[], ModuleResult]) -> ModuleResult:
        result = action()
        self.note(what, errno=error_name(result.errno))
        return result

    def call(self, what: str, operation: Callable[[Batch], Ref]) -> CallResult | None:
        """One system call, which is no step by itself; None if it slept until the limit.

        Stuck if it cannot be interrupted.
        """
        batch = self.worker.batch()
        operation(batch)
        reply = self._collect(what, batch.start(self.limit))
        return None if reply.timed_out else reply[0]

    def insmod(self, what: str, module: str) -> str | None:
        """Load a module of the image that may sleep meanwhile, which is no step by itself.

        What is wrong with that; Stuck if it goes on sleeping.
        """
        pending = self.worker.start_insmod(module)
        try:
            return error_name(self.guest.outlast(pending, self.limit + _STUCK_SECONDS).errno)
        except Timeout:
            self.note(what, stuck=True)
            raise Stuck(self.guest, what, pending) from None

    def write_file(self, path: str, text: str) -> str | None:
        """Write a file of sysfs or procfs, which is no step by itself; what is wrong with that."""
        agent = self.guest.agent
        opened = agent.open(path, os.O_WRONLY)
        if opened.errno:
            return error_name(opened.errno)
        written = agent.write(opened.ret, text.encode())
        agent.close(opened.ret)
        return error_name(written.errno)

    def _collect(self, what: str, pending: Pending[BatchResult]) -> BatchResult:
        try:
            return self.guest.outlast(pending, self.limit + _STUCK_SECONDS)
        except Timeout:
            self.note(what, stuck=True)
            raise Stuck(self.guest, what, pending) from None

    def _note_call(self, what: str, result: CallResult | None, **more: Any) -> None:
        error = 0 if result is None else result.errno
        self.note(what, errno=error_name(error), blocked=result is None, **more)


def error_name(number: int) -> str | None:
    """EIO and the like; None for success."""
    return errno.errorcode.get(number, str(number)) if number else None


@dataclass(frozen=True)
class Scenario:
    """A scenario: its name, one sentence, what it does."""

    name: str
    text: str
    run: Callable[[Context], None]
    boots: bool = False
    """It begins with the guest's first instruction: what led to the agent belongs to it."""
    partner: str = SERVICE
    """Whom the guest's IUCV path is with that the scenario is about."""
    modules: tuple[str, ...] = ()
    """What the guest needs besides the driver: names of the kernel's, or folders, which are built."""
    usable: Callable[[Context], str | None] | None = None
    """Asked after a fault: what does not work any more; None: all works.  Without it, the driver
    has to read a data set."""
    segments: tuple[str, ...] = ()
    """Saved segments besides the usual ones, as a guest's configuration has them: what it is about first."""
    cp: Mapping[str, str] = field(default_factory=dict)
    """Options of CP that it needs."""
    cpus: int = 1
    """As many as it needs."""
    backends: tuple[str, ...] = BACKENDS
    """Emulators that can do it."""
    leaves: tuple[str, ...] = ()
    """What it may leave behind in a guest, as zvmlab.guest.cleanliness names it, or ANYTHING."""

    def config(self, usual: GuestConfig) -> GuestConfig:
        """A guest like *usual* that has what the scenario needs; UsageError if there cannot be one."""
        if usual.backend not in self.backends:
            able = " and ".join(self.backends)
            raise UsageError(f"{usual.backend} cannot run scenario {self.name}; {able} can")
        own = usual._replace(
            modules=(*usual.modules, *self.modules),
            segments=(*usual.segments, *self.segments),
            cp={**usual.cp, **self.cp},
            cpus=max(usual.cpus, self.cpus),
        )
        return with_built_modules(own)


def scenario(
    name: str,
    text: str,
    *,
    boots: bool = False,
    partner: str = SERVICE,
    modules: tuple[str, ...] = (),
    usable: Callable[[Context], str | None] | None = None,
    segments: tuple[str, ...] = (),
    cp: Mapping[str, str] | None = None,
    cpus: int = 1,
    backends: tuple[str, ...] = BACKENDS,
    leaves: tuple[str, ...] = (),
) -> Callable[[Callable[[Context], None]], Scenario]:
    """Make a function of a Context a scenario; the arguments are the fields of Scenario."""
    return lambda run: Scenario(
        name, text, run, boots, partner, modules, usable, segments, cp or {}, cpus, backends, leaves
    )
