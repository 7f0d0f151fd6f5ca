# SPDX-License-Identifier: MIT
"""One guest, from its run directory to its end.

    with Guest(GuestConfig(kernel="trixie", cpus=2)) as guest:
        guest.start()      # the emulator is there, no instruction has been executed
        guest.boot()       # the kernel is up, the agent answers
        guest.agent.run(["/bin/true"])

Every step is a rung of a ladder (class Stage) and climbs the rungs below it that
are still missing.  Leaving the block ends the guest, whatever happened in it; if nothing
went wrong there, a crash of the guest that nobody has met yet is raised (Guest.end).
boot() by itself takes the rungs at once where a checkpoint can be had.
"""

from __future__ import annotations

import contextlib
import enum
import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from zvmlab.agent.agent import NAME, USER, Agent, Pending, Power, PowerFlag, Worker
from zvmlab.agent.results import Settled
from zvmlab.agent.wire import AgentLost
from zvmlab.base.descriptors import allow_descriptors
from zvmlab.base.errors import (
    CannotRun,
    EmulatorError,
    GuestPanic,
    Timeout,
    UsageError,
    ZvmlabError,
)
from zvmlab.base.limit import Limit
from zvmlab.builder.kernel import slowness
from zvmlab.cp.afiucv import AfIucvClosed, AfIucvListener, AfIucvStream
from zvmlab.cp.control import Control, CpResponse
from zvmlab.cp.peer import Peer
from zvmlab.guest import checkpoint
from zvmlab.guest.artifacts import prepare
from zvmlab.guest.backends import Machine, backend_of, qmp_of
from zvmlab.guest.config import Channels, GuestConfig, Artifacts
from zvmlab.guest.console import DISABLED_WAIT, ENDS, Crash, Console
from zvmlab.guest.emulator import Emulator
from zvmlab.guest.kernel_log import KernelLog
from zvmlab.guest.qmp import Qmp
from zvmlab.guest.run_dir import AGENT_SOCKET, RunDir, cannot_write, free_bytes

if TYPE_CHECKING:
    from zvmlab.base.progress import Progress
    from zvmlab.cp.faults import ArmedFault
    from zvmlab.guest.cover import Block, Cover, SourceLines
    from zvmlab.guest.hold import Hold
    from zvmlab.guest.lockstep import Stepper
    from zvmlab.guest.symbols import Symbols

_T = TypeVar("_T")

START_SECONDS = 60.0
REQUEST_SECONDS = 60.0
SHUTDOWN_SECONDS = 60.0
# An emulator that has closed a connection is about to end, and its console is about to be read.
_END_SECONDS = 60.0
# Between the end of the agent's connection and the news why, if there are any.
_NEWS_SECONDS = 5.0
# What a guest is given at its end to finish what it has begun, in its own time.
_SETTLE_SECONDS = 0.02
# And what runs there and does not sleep: no CPU of the host may have been free.
_RUNNING_SECONDS = 10.0
# The most replies in which the kernel's log is given; each has up to 4 MiB of it.
_LOG_REPLIES = 64
# A guest that does not answer then for so long hangs.
_ANSWER_SECONDS = 30.0
# What most requests take, before the guest's clock is made to jump.
_SOON_SECONDS = 0.05
# What a reply may take that has been sent.
_REPLY_SECONDS = 0.5
# How often what is left of the time to jump over is asked for.
_LOOK_SECONDS = 0.01
# Of the guest's time, before it is saved for others to go on there: what RCU and the agent's new
# threads have left to do takes a few of its ticks.
_REST_SECONDS = 0.1
# Between the kernel's log and the console, which the kernel writes to a moment later.
_CONSOLE_SECONDS = 3.0
_EMULATOR_LOG = "emulator.log"
# What the agent of GuestConfig.base() says (guest/agent/init.c).
_WAITS_FOR_NAME = "zvmlab: waits for a name of its own"
_FULL_BYTES = 64 * 1024


class Stage(enum.IntEnum):
    """The stages of a guest's life."""

    MADE = 0
    """It has a run directory and a folder for its logs."""
    CONFIGURED = 1
    """Emulator, kernel and image are there."""
    PAUSED = 2
    """The CPUs wait, in front of the first instruction or restored; CP and emulator answer."""
    RUNNING = 3
    """The CPUs run."""
    READY = 4
    """The kernel is up and the agent answers."""
    OFF = 5
    """The emulator has ended, nothing is left of it but the logs."""


def _add_stacks(error: BaseException | None, guest: Guest) -> None:
    from zvmlab.guest.stacks import add_stacks  # for guests that hang

    add_stacks(error, guest)


class _WatchedStream:
    """The agent's stream; when it ends, the reason is looked for first."""

    def __init__(self, stream: AfIucvStream, news: Callable[[], None]) -> None:
        self._stream = stream
        self._news = news

    def send(self, data: bytes, timeout: float, answered: bool = False) -> None:
        try:
            self._stream.send(data, timeout, answered)
        except AfIucvClosed:
            self._news()
            raise

    def recv(self, timeout: float) -> bytes:
        try:
            data = self._stream.recv(timeout)
        except AfIucvClosed:
            self._news()
            raise
        if not data:
            self._news()
        return data

    def close(self) -> None:
        self._stream.close()


class Guest:
    """A guest; *logs* is where console, trace and emulator log go (default: temporary).

    *artifacts* saves looking for emulator, kernel and image again.  *kept*: the logs outlive it, and
    messages may name them (default: if there are any).  *turns*: of the system that it is a member of.
    """

    def __init__(
        self,
        config: GuestConfig | None = None,
        logs: Path | None = None,
        artifacts: Artifacts | None = None,
        kept: bool | None = None,
        turns: Stepper | None = None,
    ) -> None:
        self.config = config or GuestConfig()
        self._turns = turns
        self._artifacts = artifacts
        self._kept = logs is not None if kept is None else kept
        self._run_dir = RunDir.create(self.config.name)
        self._undo = contextlib.ExitStack()
        self._undo.callback(self._run_dir.remove)
        try:
            self.logs = logs or self._run_dir.path
            self.logs.mkdir(parents=True, exist_ok=True)
            self.channels = Channels(
                control=self._run_dir.socket("control"),
                qmp=self._run_dir.socket("qmp"),
                console_log=self.logs / "console.log",
                console_socket=self._run_dir.socket("console")
                if self.config.has_keyboard
                else None,
                trace=self.logs / "trace.jsonl" if self.config.trace else None,
            )
            self.console = Console(
                self.channels.console_log, self.config.crashes, self.logs / _EMULATOR_LOG
            )
        except OSError as error:
            self._undo.close()
            raise cannot_write(self.logs, error) from error
        except BaseException:
            self._undo.close()
            raise
        self.stage = Stage.MADE
        self._emulator: Emulator | None = None
        self._trace_ended: str | None = None
        self._control: Control | None = None
        self._machine: Machine | None = None
        self._peer: Peer | None = None
        self._listener: AfIucvListener | None = None
        self._stream: AfIucvStream | None = None
        self._connected: checkpoint.Connected | None = None  # a restored guest's, not used yet
        self._pool: int | None = None  # its agent's, from a checkpoint (checkpoint.open_pool)
        self._agent: Agent | None = None
        self._lockstep: Stepper | None = None
        self._agent_ends = False  # the connection, before the machine stops
        self._checkpoint: Path | None = None
        self._restored: Callable[[], None] | None = None  # completes what connect() has begun
        self._marks = 0
        self._same = False
        self._resting = False
        self._log = KernelLog()
        self._symbols: Symbols | None = None
        self._holds: list[Hold] = []
        self._cover: Cover | None = None
        self._jumps = False
        self._settled: int | None = None
        self._found: Settled | None = None
        self._modules: tuple[int, list[bytes]] | None = None
        self._load_steps: dict[str, list[str]] | None = None
        self._waits_ended = False
        self.faults: list[ArmedFault] = []
        """The rules of the configuration, armed from PAUSED on; see zvmlab.cp.faults.count()."""

    @property
    def name(self) -> str:
        """Name of the guest's run directory, unique on this machine."""
        return self._run_dir.name

    @property
    def agent_socket(self) -> Path:
        """Where its agent can be shared with other processes (zvmlab.guest.shared_agent)."""
        return self._run_dir.socket(AGENT_SOCKET)

    @property
    def alive(self) -> bool:
        """Is its emulator there?"""
        return self.stage is not Stage.OFF and self._machine is not None and self.emulator.alive

    @property
    def can_answer(self) -> bool:
        """Is the agent there, and do the CPUs run?"""
        held = self.machine.held and self._lockstep is None
        return self.stage is Stage.READY and not held

    @property
    def halted(self) -> bool:
        """Does its emulator stand still, as after SIGSTOP?"""
        return self._emulator is not None and self._emulator.halted

    @property
    def restored(self) -> bool:
        """Does it go on from a checkpoint instead of from its first instruction?"""
        return self._checkpoint is not None

    @property
    def artifacts(self) -> Artifacts:
        """The files that it runs; from CONFIGURED on."""
        if self._artifacts is None:
            raise UsageError("the guest has no artifacts yet; call configure() first")
        return self._artifacts

    @property
    def emulator(self) -> Emulator:
        """The emulator's process; from PAUSED on."""
        return self._there(self._emulator, "emulator", "start()")

    @property
    def last_storage(self) -> Path:
        """The file of keep_last_storage(), as soon as the guest has ended."""
        return self._run_dir.path / "last-storage"

    def keep_last_storage(self) -> None:
        """Keep what is in its storage when it ends by itself, in QEMU (zvmlab.guest.last_counts)."""
        self.qmp.execute(
            "qom-set",
            {"path": "/objects/cp", "property": "last-storage", "value": str(self.last_storage)},
        )

    @property
    def control(self) -> Control:
        """Control socket of the CP; from PAUSED on."""
        return self._there(self._control, "control socket", "start()")

    @property
    def qmp(self) -> Qmp:
        """QEMU's protocol for programs; from PAUSED on."""
        found = qmp_of(self.machine)
        if found is None:
            raise UsageError(f"a guest in {self.config.backend} has no QMP")
        return found

    @property
    def machine(self) -> Machine:
        """The emulator's own side of the guest; from PAUSED on."""
        return self._there(self._machine, "emulator", "start()")

    @property
    def agent(self) -> Agent:
        """The agent in the guest; from READY on."""
        return self._there(self._agent, "agent", "boot()")

    def configure(self) -> None:
        """Reach CONFIGURED: build or fetch what is missing, which may take minutes."""
        if self.stage is Stage.MADE:
            allow_descriptors()
            if self._artifacts is None:
                self._artifacts = prepare(self.config)
            self.stage = Stage.CONFIGURED

    def start(self) -> None:
        """Reach PAUSED: the configuration's faults are armed, no instruction was executed.

        Peers can be created and more faults armed for the first one.
        """
        self.configure()
        if self.stage is Stage.CONFIGURED:
            self._start()

    def restore(self) -> bool:
        """Reach PAUSED by a checkpoint, which is made if there is none: that boots a guest first.

        Return: False if this one starts cold (zvmlab.guest.checkpoint.why_cold), or has started.
        """
        found = None if self._emulator is not None else self.find_checkpoint()
        if found is None:
            return False
        self.launch(found)
        self._start()
        return True

    def find_checkpoint(self) -> Path | None:
        """Where restore() begins, which makes it if there is none; None if it starts cold, or has started."""
        if self.stage >= Stage.PAUSED or checkpoint.why_cold(self.config) is not None:
            return None
        self.configure()
        config = self.config if self.config.system is None else self.config.base()
        # Also for put_back().
        self._undo.enter_context(checkpoint.kept(config, self.artifacts))
        return checkpoint.find(
            config, self.artifacts, lambda into: self._make_checkpoint(config, into)
        )

    def launch(self, found: Path | None) -> None:
        """Begin to reach PAUSED, in front of the first instruction or where a checkpoint stands.

        start() completes it.  Members of a system are launched side by side, and then connected to.
        """
        self.configure()
        self._checkpoint = found
        self._launch()

    def _make_checkpoint(self, config: GuestConfig, into: Path) -> None:
        """Boot such a guest and save it; logs that are kept stay if that fails."""
        from zvmlab.guest.brought import booted_with_less  # which restored guests need not import

        config = config._replace(name=None, schedule=0)
        # Guests with other modules start there, too.
        artifacts = self.artifacts._replace(late=())
        less = booted_with_less(config, artifacts)
        begin, files = less or (config._replace(cold=True), artifacts)
        with Guest(begin, self.logs if self._kept else None, files) as first:
            try:
                pool = first._boot_to_save(artifacts.image)
                first.settle()
                first._come_to_rest()
                first._save(into, pool)
            except ZvmlabError:
                crash = first.console.crash
                if crash is not None:
                    self.console.report(crash)
                raise
            first.stop()
            logs = (first.emulator.log, first.channels.console_log, first.channels.trace)
        for log in logs:
            if log is not None:
                log.unlink(missing_ok=True)
        # A member's agent, which is not there yet, waits for its name.
        if checkpoint.has_translations(config) and not config.is_base:
            self._start_once(config, into)

    def _start_once(self, config: GuestConfig, found: Path) -> None:
        """Start a guest at a new checkpoint: what it translates until its first replies, others need not."""
        # What ails it, whoever begins there is told.
        with (
            contextlib.suppress(ZvmlabError),
            Guest(config, artifacts=self.artifacts._replace(late=())) as guest,
        ):
            guest.launch(found)
            guest.boot()
            guest.settle()
            guest.save_translations(found)
            guest.stop()

    def save_translations(self, found: Path) -> None:
        """Guests that begin at that checkpoint will begin with what this one has translated."""
        self.machine.pause()
        file = str(found / checkpoint.TRANSLATIONS)
        value = {"path": "/objects/cp", "property": "save-translations", "value": file}
        self.qmp.execute("qom-set", value)
        self.machine.go_on()

    def _boot_to_save(self, image: Path) -> int | None:
        """As far as all that go on from here are the same, and have *image*.

        Return: what open_pool() gives, with an agent.
        """
        if not self.config.is_base:
            self.boot()
            if image != self.artifacts.image:
                from zvmlab.guest.brought import bring  # as above

                bring(self.agent, self.artifacts.image, image)
            return checkpoint.open_pool(self.agent)
        self.resume()
        if self._lockstep is not None:
            # Nothing comes from outside before its checkpoint is there.
            self._lockstep.end()
        limit = self.emulator.limit(self.config.boot_seconds * self._slowness)
        while _WAITS_FOR_NAME not in self.console.text():
            self.check()
            if limit.over:
                raise Timeout(f"the guest has not booted within {limit}")
            time.sleep(_LOOK_SECONDS)
        return None

    def _come_to_rest(self) -> None:
        """What the last request and the boot have left to do is done once, not by every restored guest."""
        if not self.config.counts:
            with self.passing(_REST_SECONDS) as left:
                while left() > 0:
                    time.sleep(_LOOK_SECONDS)

    def _save(self, into: Path, pool: int | None = None) -> None:
        """Save this guest to a checkpoint; whoever restores it goes on with its agent, and *pool*."""
        with self._free():
            checkpoint.save(self.machine, self.channels, into, self._agent_now(pool))

    def _agent_now(self, pool: int | None) -> checkpoint.Connected | None:
        if self._agent is None or self._stream is None:
            return None
        return checkpoint.Connected(self._stream, self._agent.info, pool, self._log.position)

    def about_to_be_saved(self) -> checkpoint.Connected | None:
        """A member of a system that is saved next, with all others: its agent, which is idle."""
        self.settle()
        return self._agent_now(checkpoint.open_pool(self.agent))

    def has_been_saved(self, agent: checkpoint.Connected | None, into: Path) -> None:
        """It goes on from here, and others from there."""
        checkpoint.note(self.channels, into, agent)
        self.machine.go_on()
        if agent is not None and agent.pool is not None:
            self.agent.close(agent.pool).check()

    def begin_to_stand_at(self, found: Path) -> Callable[[], None]:
        """Have its machine, which stands still, stand where it was saved; what completes that."""
        return self.machine.begin_restore(found / checkpoint.MACHINE)

    def _stand_at(self, found: Path) -> None:
        """Its machine stands where it was saved; CP and its agent still have to."""
        if not self._resting:
            self.machine.pause()
        self._resting = False
        with self._free():
            self.machine.restore(found / checkpoint.MACHINE)

    def take_agent(self, found: Path) -> None:
        """CP is as it was saved, too: READY again by boot()."""
        assert self._peer is not None
        # What CP has said until then has come, …
        self.control.execute("query-monitor")
        self._take_agent(found)
        self.stage = Stage.PAUSED

    def _take_agent(self, found: Path) -> None:
        assert self._peer is not None
        # … and nobody wants it any more.
        self.control.forget_events("iucv-event", peer=self._peer.name)
        self._connected = checkpoint.agent_of(self._peer, found)

    def _launch(self) -> None:
        """Start its emulator, without waiting for it."""
        self._claim_logs()
        backend = backend_of(self.config.backend)
        argv = backend.command_line(
            self.config, self.artifacts, self.channels, restored=self.restored
        )
        self._run_dir.describe(
            control=str(self.channels.control),
            kernel=self.artifacts.kernel_version,
            cpus=self.config.cpus,
            pid=os.getpid(),
            **self._membership(),
        )
        self._undo.callback(self.console.stop)
        self.console.on_crash = self._end_waits
        self.console.start()
        folder = backend.folder(self.channels)
        told = checkpoint.environment(self._checkpoint)
        log = self.logs / _EMULATOR_LOG
        self._emulator = Emulator(argv, log, self._kept, folder, environment=told)
        self._undo.callback(self._emulator.stop)

    def connect(self) -> None:
        """After launch(): the emulator's own side is there, and goes to its checkpoint meanwhile."""
        self._machine = backend_of(self.config.backend).machine(
            self.emulator, self.channels, START_SECONDS, self.check, self._await_end
        )
        self._undo.callback(self._machine.close)
        if self._checkpoint is not None:
            self._restored = checkpoint.begin_restore(
                self._machine, self.channels, self._checkpoint
            )

    def _start(self) -> None:
        """Reach PAUSED, in front of the first instruction or where its checkpoint stands."""
        if self._emulator is None:
            self._launch()
        if self._machine is None:
            self.connect()
        if self._restored is not None:
            self._restored()
        self._control = Control.connect(
            self.channels.control, START_SECONDS, self._control_check, self.emulator.limit
        )
        self._control.timeout = REQUEST_SECONDS
        self._undo.callback(self._control.close)
        # The socket of a member's is its system's, and one that takes turns goes on by QMP only.
        if self.config.system is None and not self.config.deterministic:
            self.machine.use(self._control)
        self._peer = Peer(self._control, USER, stream=True)
        if self._checkpoint is not None:
            self._connected = checkpoint.agent_of(self._peer, self._checkpoint)
        self._listener = AfIucvListener(self._peer, NAME)
        if self.config.schedule:
            value = {"path": "/objects/cp", "property": "turns", "value": self.config.schedule}
            self.qmp.execute("qom-set", value)
        if self.config.deterministic:
            from zvmlab.guest.lockstep import Lockstep

            self._lockstep = self._turns or Lockstep(self.qmp)
            self._control.step = self._lockstep.step
        rules = self.config.fault_rules()
        if rules:
            from zvmlab.cp.faults import arm

            self.faults = arm(self._control, *rules)
        self.stage = Stage.PAUSED

    def _membership(self) -> dict[str, str]:
        """What others are told of a member of a system."""
        if self.config.system is None:
            return {}
        return {
            "system": self.config.system.parent.name,
            "userid": self.config.cp.get("userid", ""),
            "trace": str(self.channels.trace or ""),
        }

    def _claim_logs(self) -> None:
        """Have the folder of the logs alone; what an earlier guest has said there goes."""
        try:
            folder = os.open(self.logs, os.O_RDONLY | os.O_DIRECTORY)
            self._undo.callback(os.close, folder)
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for log in (self.logs / _EMULATOR_LOG, self.channels.console_log):
                log.unlink(missing_ok=True)
        except BlockingIOError as error:
            raise UsageError(
                f"another guest keeps its logs in {self.logs}; choose another folder for this one"
            ) from error
        except OSError as error:
            raise cannot_write(self.logs, error) from error

    def resume(self) -> None:
        """Reach RUNNING: the CPUs execute; without restore() from the kernel's first instruction."""
        self.start()
        if self.stage is Stage.PAUSED:
            # A deterministic guest runs only while an event is waited for.
            if self._turns is not None:
                self.machine.begin_to_go_on()
                self._turns.await_machine(self.config.cp["userid"])
            elif self._lockstep is None:
                try:
                    self.machine.go_on()
                except EmulatorError:
                    # A guest that is to end may have done so before the emulator has answered.
                    if not self.emulator.may_end:
                        raise
            self.stage = Stage.RUNNING

    def boot(self) -> None:
        """Reach READY: wait until the agent answers; the wall clock is right, random numbers are new."""
        self.begin_boot()()

    def begin_boot(self) -> Callable[[], None]:
        """boot() but for the agent's first work, during which others can boot; what completes that."""
        self.restore()
        self.resume()
        if self.stage is Stage.RUNNING:
            self.await_agent()
            if self.restored and self.config.deterministic:
                checkpoint.keep_together(self.agent, self._pool)
            elif (self.restored or self._pool is not None) and not self._same:
                return checkpoint.set_apart(self.agent, self._pool)
        return lambda: None

    @property
    def can_go_back(self) -> bool:
        """put_back() is possible: in QEMU, from a checkpoint that is there, and no crash so far.

        Not even one that was expected: what that leaves behind is not known.
        """
        there = self._checkpoint is not None and (self._checkpoint / checkpoint.MACHINE).exists()
        return there and self.can_be_marked

    @property
    def can_be_marked(self) -> bool:
        """mark() is possible: in QEMU, wherever it began, and no crash so far."""
        return self.config.system is None and self.is_quiet and self.machine.can_go_back

    @property
    def is_quiet(self) -> bool:
        """READY, and no crash so far."""
        if self.stage is not Stage.READY or not self.alive:
            return False
        return self.console.news == self.console.kinds and not self.control.closed

    @property
    def marks(self) -> int:
        """How often mark() has been called: each time put_back() leads elsewhere."""
        return self._marks

    def mark(self, same: bool = False) -> None:
        """From now on put_back() comes here: what is loaded, open and connected now is so again.

        *same*: its wall clock and random numbers, too, are each time those of now.

        Nothing may be under way: no request to the agent, and no CPU that is held.  An earlier mark is
        gone.  A peer of the test's has its paths and messages of now again, too.
        """
        if not self.can_be_marked:
            raise UsageError(f"the guest {self.name} cannot be marked to be put back to")
        self.check_not_held()
        self.settle()
        pool = None if same else checkpoint.open_pool(self.agent)
        folder = self._run_dir.path / f"mark-{self._marks + 1}"
        folder.mkdir(mode=0o700)
        try:
            self._save(folder, pool)
        except ZvmlabError:
            shutil.rmtree(folder)
            if self.alive:
                self._go_on_after_mark(pool)
            raise
        if self._marks:
            shutil.rmtree(self._run_dir.path / f"mark-{self._marks}")
        self._marks += 1
        self._checkpoint = folder
        self._same = same
        self._go_on_after_mark(pool)

    def check_not_held(self) -> None:
        """UsageError if a CPU is held: the guest could not be saved, however long that is tried."""
        for hold in self._holds:
            if hold.held:
                raise UsageError(
                    f"the guest {self.name} cannot be marked while a CPU is held at {hold.function}"
                )

    def _go_on_after_mark(self, pool: int | None) -> None:
        if self._lockstep is None:
            self.machine.go_on()
        if pool is not None:
            self.agent.close(pool).check()

    def put_back(self) -> None:
        """READY again as after boot(), or at the last mark(): storage, CPUs and CP are as they were.

        The agent is another, without what was asked of it; peers stay logged on.
        """
        if not self.can_go_back:
            raise UsageError(f"the guest {self.name} cannot be put back to a checkpoint")
        assert self._checkpoint is not None
        if self._lockstep is None:
            self.machine.put_back(self._checkpoint / checkpoint.MACHINE)
            self._resting = False
            self._take_agent(self._checkpoint)
            self.stage = Stage.RUNNING
        else:
            self._stand_at(self._checkpoint)
            self.take_agent(self._checkpoint)
        self.boot()

    @contextlib.contextmanager
    def _free(self) -> Iterator[None]:
        """Within the block the machine, which stands still, does not take turns with the harness."""
        if self._lockstep is None:
            yield
        else:
            self._lockstep.set(False)
            try:
                yield
            finally:
                self._lockstep.set(True)

    def rest(self) -> None:
        """Stop the CPUs until wake(), if the guest's clocks stop with them; READY only.

        A kernel that ticks also when idle, as Debian's, takes up to a seventh of a host's CPU.
        """
        if self.machine.clocks_stop and self._lockstep is None:
            self.machine.pause()
            self._resting = True

    def wake(self) -> None:
        """End rest(); harmless without."""
        if self._resting:
            self.machine.go_on()
            self._resting = False

    @contextlib.contextmanager
    def passing(self, seconds: float) -> Iterator[Callable[[], float]]:
        """Within the block the guest's clocks jump whenever all its CPUs wait, for *seconds* of its time.

        For a wait in which nothing comes from outside: the guest sees what it would see later.
        Gives a function that tells how many seconds are left.  Where the emulator cannot do that,
        time passes by itself.  Within another such block nothing more is jumped over.
        """
        limit = Limit(seconds)
        if not self._may_pass:
            yield limit.left
            return
        self.machine.pass_time(seconds)
        self._jumps = True
        try:
            yield lambda: 0.0 if limit.over else self.machine.time_to_pass()
        finally:
            self._jumps = False
        self.machine.pass_time(0)

    @property
    def _may_pass(self) -> bool:
        return self.machine.clocks_jump and not self.config.counts and not self._jumps

    def outlast(self, pending: Pending[_T], seconds: float, jump: float | None = None) -> _T:
        """A request's result, within so many seconds of the guest's time; nothing else may be going on.

        At most *jump* of them are jumped over (default: all).  Timeout if it does not come.
        """
        limit = Limit(seconds)
        if not pending.done_within(min(seconds, _SOON_SECONDS)):
            # Time that passes before the request has begun to wait would be lost for it, and so
            # would be what it says when it has waited.
            self._let_all_sleep(seconds)
            with self.passing(seconds if jump is None else jump) as left:
                while not pending.done_within(_LOOK_SECONDS) and left() > 0:
                    pass
            self._let_all_sleep(seconds)
            if jump is not None:
                pending.done_within(limit.left())
        return pending.result(_REPLY_SECONDS)

    def hold(
        self, function: str, cpu: int | None = None, nth: int = 1, where: str = "entry"
    ) -> Hold:
        """From now on: the CPU that calls this function of the kernel for the nth time is held there.

        *cpu*: only that CPU, and its calls; *where*: in front of the function's first instruction
        ("entry"), or behind its call ("return").  MODULE:FUNCTION if several have one, and
        FUNCTION+OFFSET for an instruction within it.  The guest's other CPUs and CP go on, and
        the agent answers on them from now on.  It is over after its release(), and when the guest
        is put back.
        """
        from zvmlab.guest.hold import Hold, check_hold

        if qmp_of(self.machine) is None:
            raise UsageError(f"a guest in {self.config.backend} cannot hold a CPU; QEMU can")
        if self._lockstep is not None:
            raise UsageError(
                "a deterministic guest runs between two events of CP only, and no CPU of it can be held"
            )
        check_hold(function, self.config.cpus, cpu, nth, where)
        address = self._known_symbols().find(function)
        # A thread that is to wake on the CPU that is held would wait, too.
        free = [n for n in range(self.config.cpus) if n != cpu]
        self.agent.answer_on(*(free if cpu is not None else [0]))
        hold = Hold(self, function, address, cpu, nth, where)
        self._holds.append(hold)
        return hold

    def _known_symbols(self) -> Symbols:
        if self._symbols is None:
            from zvmlab.guest.symbols import Symbols

            self._symbols = Symbols(self.artifacts.kernel, self.agent)
        return self._symbols

    def cover(self, *names: str, mode: str = "blocks") -> Cover:
        """From now on: which code of the kernel is executed, as zvmlab.guest.cover has it.

        *names*: "kernel", "modules", modules that are loaded, functions, or patterns such as
        "iucv_*".  Modules are covered where they are now.  One cover at a time.
        """
        from zvmlab.guest.cover import Cover, check_mode

        check_mode(mode)
        if qmp_of(self.machine) is None:
            raise UsageError(f"a guest in {self.config.backend} does not tell what it executes;"
                             " QEMU does")  # fmt: skip
        if self._cover is not None:
            self._cover.close()
        symbols = self._known_symbols()
        code = symbols.code(*names)
        lines = partial(self._source_lines, symbols)
        self._cover = Cover(self.qmp, self._run_dir.path, code, mode, lines)
        return self._cover

    def end_judges(self) -> list[str]:
        """End the holds and the cover that nobody has ended; what there was, by its name."""
        found = {
            "holds": [hold for hold in self._holds if hold.begun],
            "cover": [self._cover] if self._cover is not None and not self._cover.closed else [],
        }
        while self._holds:
            self._holds.pop().release()
        if self._cover is not None:
            self._cover.close()
        return [name for name, judges in found.items() if judges]

    def _source_lines(
        self, symbols: Symbols, blocks: Iterable[Block], progress: Progress
    ) -> SourceLines:
        from zvmlab.builder.kernels import resolve
        from zvmlab.builder.tree_name import tree_name
        from zvmlab.guest.source_lines import source_lines

        if tree_name(self.config.kernel) is None:
            raise UsageError(f"kernel {self.config.kernel} is not built from a source tree, so that"
                             " lines of its source are not known")  # fmt: skip
        return source_lines(resolve(self.config.kernel), symbols, blocks, progress)

    def await_agent(self) -> None:
        """Wait for an agent that is about to connect: after resume(), or after a reboot."""
        if self._connected is not None:
            known, self._connected = self._connected, None
            self._pool = known.pool
            self._adopt(known.stream, known)
        else:
            self._await_connection()
        self._put_late_modules()
        self.stage = Stage.READY

    def _adopt(self, stream: AfIucvStream, known: checkpoint.Connected | None = None) -> None:
        """The agent at its other end is this guest's."""
        self._stream = stream
        self._agent = Agent(
            _WatchedStream(stream, self._stream_has_ended),
            info=None if known is None else known.info,
            check_runs=self.emulator.check_runs,
            starved=self.emulator.starved_seconds,
        )
        self._log = KernelLog(0 if known is None else known.log)
        self._modules = None
        self._symbols = None
        self._holds.clear()
        self._agent_ends = False

    def _await_connection(self) -> None:
        seconds = self.config.boot_seconds * self._slowness
        listener = self._there(self._listener, "agent channel", "start()")
        used = self.emulator.cpu_seconds()
        limit = self.emulator.limit(seconds)
        try:
            self._pool = None
            self._adopt(listener.accept(limit))
            # In Hercules, and in the process of a system, CP cannot read the kernel's shadow.
            if qmp_of(self.machine) is not None and self.config.system is None:
                from zvmlab.guest.kasan import watch_accesses

                watch_accesses(self.control, self.artifacts.kernel)
        except Timeout as error:
            self.emulator.check_runs()
            place = f"; the console is in {self.channels.console_log}" if self._kept else ""
            used = self.emulator.cpu_seconds() - used
            late = Timeout(
                f"the guest's agent did not answer within {seconds:g} s, in which the emulator had"
                f" {used:.1f} s of CPU time{place}"
            )
            late.add_note(self.console.tail())
            _add_stacks(late, self)
            raise late from error

    def _put_late_modules(self) -> None:
        """Also after a reboot, which has brought the image's back."""
        if not self.artifacts.late:
            return
        from zvmlab.builder.modules import (
            module_name,
            read_module,
        )  # which most guests need not import

        agent = self._there(self._agent, "agent", "boot()")
        for file in self.artifacts.late:
            path = f"/lib/modules/{module_name(file)}.ko"
            try:
                agent.size_of_file(path)
            except FileNotFoundError:
                continue  # an image has only what its guests ask for
            agent.write_file(path, read_module(file), 0o644)

    @property
    def _slowness(self) -> float:
        # All CPUs of a guest whose instructions are counted take turns on one of the host's.
        turns = 1 + self.config.cpus if self.config.counts else 1
        return slowness(self.config.kernel) * backend_of(self.config.backend).slowness * turns

    def reboot(self) -> None:
        """Restart the kernel by its own means; READY again afterwards.  Raises as settle() does."""
        self.settle()
        with self._saying_when("while it restarted"):
            self._power(Power.REBOOT)
            self.stage = Stage.RUNNING
            self.await_agent()

    def shut_down(self, timeout: float = SHUTDOWN_SECONDS) -> None:
        """Let the kernel power off, then stop(); the emulator's exit code must be 0.

        A crash that the kernel has had until then, or has meanwhile, is raised.
        """
        self.settle()
        self._trace_ended = self.control.execute("query-counters").get("trace-ended")
        self.emulator.expect_exit()
        with self._saying_when("while it powered off"):
            try:
                self._power(Power.OFF)
            except EmulatorError:
                # A member may have ended in the turn in which its agent was asked.
                if self._turns is None:
                    raise
            if self._lockstep is not None:
                # Nothing may come from outside any more, not even the channel's end.
                with contextlib.suppress(EmulatorError):  # a member may have ended by then
                    self._there(self._peer, "agent channel", "start()").close()
                self._lockstep.end()
            self._await_exit(timeout)
            self.end()
        self.emulator.check_power_off(timeout)

    def _power(self, what: Power) -> None:
        """From here on nobody can ask the kernel: a crash is to end in a panic, if it counts."""
        counts = {"warning": PowerFlag.PANIC_ON_WARN, "oops": PowerFlag.PANIC_ON_OOPS}
        kinds = self.console.kinds if DISABLED_WAIT in self.console.kinds else ()
        flags = sum(flag for kind, flag in counts.items() if kind in kinds)
        # A socket whose last message is not complete when its path goes waits for that for seconds.
        self._agent_ends = self._lockstep is not None
        self.agent.power(what, flags, SHUTDOWN_SECONDS if self._agent_ends else 0.0)

    def _await_exit(self, timeout: float) -> None:
        limit = self.emulator.limit(timeout)
        while self.emulator.alive:
            self.console.check()
            if limit.over:
                raise Timeout(f"the guest did not power off within {limit}")
            # Others have no turn for it once it has logged off.
            if self._lockstep is None or self._lockstep.has_gone(self.config.cp.get("userid", "")):
                time.sleep(_LOOK_SECONDS)
            else:
                self._lockstep.let_run(_LOOK_SECONDS)

    @contextlib.contextmanager
    def _saying_when(self, when: str) -> Iterator[None]:
        """A crash within the block says so, and why its report may be missing."""
        try:
            yield
        except GuestPanic as error:
            crash = self.console.crash
            why = ""
            if crash is not None and crash.kind == DISABLED_WAIT:
                why = (
                    "; it has panicked, for example by a warning or an oops in a driver's shutdown,"
                    " when the console has already been turned off"
                )
            raise GuestPanic(f"{error} {when}{why}", error.tail) from error

    def stop(self) -> None:
        """Reach OFF from anywhere: no process, no socket, no directory is left."""
        if self.stage is not Stage.OFF:
            self.stage = Stage.OFF
            self._undo.close()

    def kill(self) -> None:
        """From any thread: whoever waits for the guest gets EmulatorError; stop() is still to be called."""
        if self._emulator is not None:
            self._emulator.kill()

    def end(self) -> None:
        """settle(), then stop(): raise if the guest has had a crash at any time.

        CPUs that are stopped, or held, go on for that, and an emulator may not die while it is
        stopped.
        """
        try:
            self._go_on_to_answer()
            self.settle_again()
        except Timeout as error:
            _add_stacks(error, self)
            raise
        finally:
            self.stop()
        self.check()

    def _go_on_to_answer(self) -> None:
        with contextlib.suppress(EmulatorError, Timeout):  # settle() says why
            if self.alive and self.stage is Stage.READY and not self.can_answer:
                self.machine.go_on()
            while self._holds:
                self._holds.pop().release()

    def settle(self) -> None:
        """Give what is on its way a moment, and raise if it is a crash: check() with patience.

        What the kernel has logged so far has been looked at afterwards, and an emulator that is
        about to die is dead.  A guest that was READY and does not answer is a Timeout; one whose
        CPUs are held, or that is not READY, is not asked.
        """
        self._found = None
        self.check()
        if self._control is not None and self.alive:
            try:
                self._ask(self._control)
            except (EmulatorError, Timeout):
                # One that is to end may have done so while it was asked.
                if self.alive or not self.emulator.may_end:
                    raise
        self.console.catch_up(_END_SECONDS)
        self.check()
        self._log.check()
        if self._disk_full():
            # The emulator goes on without a console that cannot be written.
            raise self._no_room()
        self._settled = None if self._control is None else self._control.asked

    def warnings(self) -> list[str]:
        """What the kernel has logged as a warning, or as worse, and settle() has read since the last call."""
        return self._log.warnings()

    def settle_again(self) -> Settled | None:
        """settle(), or check() if it and CP have been asked nothing since settle() found nothing.

        Return: what the kernel said then, if it was asked.
        """
        if self._control is not None and self._control.asked == self._settled:
            self.check()
        else:
            self.settle()
        return self._found

    def modules(self, found: Settled | None = None) -> list[bytes]:
        """The names of the kernel's modules; *found*, what settle_again() gave, may save asking."""
        if found is not None and self._modules is not None and self._modules[0] == found.uevents:
            return self._modules[1]
        lines = self.agent.read_file("/proc/modules").splitlines()
        names = sorted(line.partition(b" ")[0] for line in lines)
        self._modules = (found.uevents, names) if found is not None and found.uevents else None
        return names

    def load_steps(self) -> dict[str, list[str]]:
        """What loads each module of its image, as Worker.load_steps() has it; asked once."""
        if self._load_steps is None:
            self._load_steps = self.agent.load_steps()
        return self._load_steps

    def _ask(self, control: Control) -> None:
        """Is the emulator there, and has the kernel something to say?"""
        if control.closed:
            # After a crash that was expected nobody can be asked.
            if not self._waits_ended:
                self._await_end()
            return
        # Whoever has been killed does not answer.
        if self.can_answer:
            self._ask_kernel()
        else:
            control.execute("query-version")

    def _ask_kernel(self) -> None:
        """Look through what the kernel has logged since the last time."""
        seconds = _ANSWER_SECONDS * self._slowness
        try:
            self._let_tasks_run(self.agent.looker(seconds))
        except (AgentLost, Timeout) as error:
            self._news()
            raise Timeout(f"the guest no longer answers: {error}") from error
        except OSError as error:
            raise ZvmlabError(
                f"the guest's kernel cannot be asked for crashes: {error.filename}:"
                f" {error.strerror}"
            ) from error
        for found in self._log.crashes(self.console.news):
            if not self.console.wait_kind(found.kind, _CONSOLE_SECONDS):
                self.console.report(found)

    def _let_tasks_run(self, worker: Worker) -> None:
        """Wait until no task runs, a request's or one that it has woken, or the guest has crashed."""
        limit = self.emulator.limit(_RUNNING_SECONDS)
        running = True
        while running and not limit.over:
            running = self._runs(worker, _SETTLE_SECONDS, self._pass_moment)

    def _pass_moment(self) -> None:
        """The guest has been asked, and so does not wait before it sleeps."""
        if self._may_pass:
            self.machine.pass_time(_SETTLE_SECONDS)

    def _let_all_sleep(self, seconds: float) -> None:
        """Wait until no task runs, who replies neither; *seconds* at most, also if nobody answers."""
        limit = self.emulator.limit(seconds)
        with contextlib.suppress(AgentLost, Timeout):
            worker = self.agent.looker(seconds)
            rest = 0.0
            while self._runs(worker, rest) and not limit.over:
                rest = _SETTLE_SECONDS

    def _runs(
        self, worker: Worker, seconds: float, meanwhile: Callable[[], None] | None = None
    ) -> bool:
        """After so many seconds, does anything run but the *worker* that looks, without a crash?"""
        for _ in range(_LOG_REPLIES):
            self._found = found = worker.settle(seconds, self._log.position, meanwhile)
            self._log.take(found)
            if not found.more:
                return found.runnable > 0 and self.console.crash is None
            seconds, meanwhile = 0.0, None
        raise Timeout("its kernel logs more than can be read")

    def expect_crash(self, *kinds: str, seconds: float = REQUEST_SECONDS) -> Crash:
        """Wait for a crash of one of *kinds*, which then counts as no crash of this guest.

        For tests that provoke one; zvmlab.guest.console.CRASHES are the kinds.  The machine's end
        belongs to a panic and to a disabled wait.
        """
        if self._emulator is not None and not self._emulator.alive:
            self._learn_crash()
        make_limit = Limit if self._emulator is None else self._emulator.limit
        found = self.console.expect(kinds, seconds, make_limit)
        if found.kind in ENDS:
            self.emulator.expect_exit()
        return found

    def cp(self, command: str) -> CpResponse:
        """A CP command of the operator."""
        return self.control.cp(command)

    def check(self) -> None:
        """Raise if the guest has had a crash or the emulator has gone."""
        gone = self._emulator is not None and not self._emulator.alive
        if gone:
            self._read_to_end()
        self.console.check()
        if self._emulator is None:
            return
        try:
            self._emulator.check()
        except EmulatorError:
            # It may have ended since the console was looked at.
            if not gone:
                self._read_to_end()
                self.console.check()
            raise

    def _read_to_end(self) -> None:
        """The emulator has gone: a panic is the cause of what follows."""
        self.console.finish(_END_SECONDS)
        self._learn_crash()

    def _learn_crash(self) -> None:
        """An emulator that sees the guest crash says so by its monitor."""
        crash = self._machine.crash() if self._machine is not None else None
        if crash is not None:
            self.console.report(crash)

    def _control_check(self) -> None:
        """The control socket is being waited for, or has ended."""
        if self._control is None:
            self.check()
        else:
            self._await_end()

    def _await_end(self) -> None:
        """The emulator has closed a connection: raise why, when that is known."""
        # Unless it was closed here, after a crash.
        self._news(0.0 if self._waits_ended else _END_SECONDS)

    def _stream_has_ended(self) -> None:
        if not self._agent_ends:
            self._news()

    def _news(self, seconds: float = _NEWS_SECONDS) -> None:
        """A connection has ended: is the reason known, or will it be in that time?"""
        if self.stage is Stage.OFF:
            return
        limit = self.emulator.limit(seconds)
        while not limit.over and self.emulator.alive:
            self.check()
            time.sleep(0.01)
        self.check()

    def _end_waits(self) -> None:
        """The console's thread noticed a crash: whoever waits for the guest is told."""
        self._waits_ended = True
        if self._control is not None:
            self._control.close()

    def _there(self, value: _T | None, what: str, how: str) -> _T:
        if value is None:
            raise UsageError(f"the guest has no {what} yet; call {how} first")
        return value

    def __enter__(self) -> Guest:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        full = isinstance(error, ZvmlabError) and self._disk_full()
        if error is None:
            self.end()
        try:
            _add_stacks(error, self)
        finally:
            self.stop()
        lost = self._trace_lost()
        if full:
            raise self._no_room() from error
        if lost is not None and error is None:
            raise CannotRun(f"{self.channels.trace} is not complete: {lost}")

    def _trace_lost(self) -> str | None:
        """Why the trace that is to be kept could not be written; its limit is no such reason."""
        if not self._kept or self._emulator is None:
            return None
        reason = self._trace_ended or self._emulator.trace_ended()
        return None if reason is None or reason.startswith("its limit ") else reason

    def _no_room(self) -> CannotRun:
        return CannotRun(
            f"the disk of {self.logs} is full; free some space or choose another with --keep"
        )

    def _disk_full(self) -> bool:
        try:
            return free_bytes(self.logs) < _FULL_BYTES
        except OSError:
            return False
