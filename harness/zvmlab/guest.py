# SPDX-License-Identifier: MIT
"""One guest, from its run directory to its end.

    with Guest(GuestConfig(kernel="trixie", cpus=2)) as guest:
        guest.start()      # the emulator is there, no instruction has been executed
        guest.boot()       # the kernel is up, the agent answers
        guest.agent.run(["/bin/true"])

Every step is a rung of a ladder (class Stage) and climbs the rungs below it that
are still missing.  Leaving the block ends the guest, whatever happened in it.
boot() by itself takes the rungs at once where a checkpoint can be had.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from zvmlab import checkpoint
from zvmlab.afiucv import AfIucvClosed, AfIucvListener, AfIucvStream
from zvmlab.agent import NAME, USER, Agent, Power
from zvmlab.backends import Monitor, backend_of, panel_of, qmp_of
from zvmlab.console import Console
from zvmlab.control import Control, CpResponse
from zvmlab.emulator import Emulator
from zvmlab.errors import CannotRun, EmulatorError, Timeout, UsageError, ZvmlabError
from zvmlab.faults import ArmedFault, arm
from zvmlab.guest_config import Channels, GuestConfig, Products
from zvmlab.kernels import slowness
from zvmlab.peer import Peer
from zvmlab.products import prepare
from zvmlab.qmp import Qmp
from zvmlab.run_dir import RunDir, cannot_write

_T = TypeVar("_T")

START_SECONDS = 20.0
REQUEST_SECONDS = 30.0
SHUTDOWN_SECONDS = 30.0
# Between the end of a connection and the news why.
_NEWS_SECONDS = 1.0
_FULL_BYTES = 64 * 1024


class Stage(enum.IntEnum):
    """How far a guest has come."""

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


class _WatchedStream:
    """The agent's stream; when it ends, the reason is looked for first."""

    def __init__(self, stream: AfIucvStream, news: Callable[[], None]) -> None:
        self._stream = stream
        self._news = news

    def send(self, data: bytes, timeout: float) -> None:
        try:
            self._stream.send(data, timeout)
        except AfIucvClosed:
            self._news()
            raise

    def recv(self, timeout: float) -> bytes:
        data = self._stream.recv(timeout)
        if not data:
            self._news()
        return data

    def close(self) -> None:
        self._stream.close()


class Guest:
    """A guest; *logs* is where console, trace and emulator log go (default: temporary).

    *products* saves looking for emulator, kernel and image again.
    """

    def __init__(
        self,
        config: GuestConfig | None = None,
        logs: Path | None = None,
        products: Products | None = None,
    ) -> None:
        self.config = config or GuestConfig()
        self._products = products
        self._kept = logs is not None
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
                console_socket=self._run_dir.socket("console") if self.config.interactive else None,
                trace=self.logs / "trace.jsonl" if self.config.trace else None,
            )
            self.console = Console(self.channels.console_log, self.config.accidents)
        except OSError as error:
            self._undo.close()
            raise cannot_write(self.logs, error) from error
        except BaseException:
            self._undo.close()
            raise
        self.stage = Stage.MADE
        self._emulator: Emulator | None = None
        self._control: Control | None = None
        self._monitor: Monitor | None = None
        self._peer: Peer | None = None
        self._listener: AfIucvListener | None = None
        self._agent: Agent | None = None
        self._restored = False
        self._resting = False
        self.faults: list[ArmedFault] = []
        """The rules of the configuration, armed from PAUSED on; see zvmlab.faults.count()."""

    @property
    def name(self) -> str:
        """Name of the guest's run directory, unique on this machine."""
        return self._run_dir.name

    @property
    def restored(self) -> bool:
        """Does it go on from a checkpoint instead of from its first instruction?"""
        return self._restored

    @property
    def products(self) -> Products:
        """What it runs; from CONFIGURED on."""
        if self._products is None:
            raise UsageError("the guest has no products yet; call configure() first")
        return self._products

    @property
    def emulator(self) -> Emulator:
        """The emulator's process; from PAUSED on."""
        return self._there(self._emulator, "emulator", "start()")

    @property
    def control(self) -> Control:
        """Control socket of the CP; from PAUSED on."""
        return self._there(self._control, "control socket", "start()")

    @property
    def qmp(self) -> Qmp:
        """QEMU's monitor; from PAUSED on."""
        found = qmp_of(self.monitor)
        if found is None:
            raise UsageError(f"a guest in {self.config.backend} has no QEMU monitor")
        return found

    @property
    def monitor(self) -> Monitor:
        """The emulator's own side of the guest; from PAUSED on."""
        return self._there(self._monitor, "emulator", "start()")

    @property
    def agent(self) -> Agent:
        """The agent in the guest; from READY on."""
        return self._there(self._agent, "agent", "boot()")

    def configure(self) -> None:
        """Reach CONFIGURED: build or fetch what is missing, which may take minutes."""
        if self.stage is Stage.MADE:
            if self._products is None:
                self._products = prepare(self.config)
            self.stage = Stage.CONFIGURED

    def start(self) -> None:
        """Reach PAUSED: the configuration's faults are armed, no instruction was executed.

        Peers can be created and more faults armed for the first one.
        """
        self.configure()
        if self.stage is Stage.CONFIGURED:
            self._start(None)

    def restore(self) -> bool:
        """Reach PAUSED by a checkpoint, which is made if there is none: that boots a guest first.

        Return: False if this one starts cold (zvmlab.checkpoint.why_cold), or has started.
        """
        if self.stage >= Stage.PAUSED or checkpoint.why_cold(self.config) is not None:
            return False
        self.configure()
        self._start(checkpoint.find(self.config, self.products, self._make_checkpoint))
        return True

    def _make_checkpoint(self, into: Path) -> None:
        """Boot a guest like this one and save it; logs that are kept stay if that fails."""
        config = dataclasses.replace(self.config, name=None, cold=True)
        with Guest(config, self.logs if self._kept else None, self.products) as first:
            first.boot()
            first._save(into)
            logs = (first.emulator.log, first.channels.console_log, first.channels.trace)
        for log in logs:
            if log is not None:
                log.unlink(missing_ok=True)

    def _save(self, into: Path) -> None:
        """Save this guest to a checkpoint: first the harness leaves the CP, and the agent alone."""
        panel = self._there(panel_of(self.monitor), "panel", "start()")
        self.agent.close_connection()
        self._there(self._peer, "agent channel", "start()").close()
        self.control.close()
        checkpoint.save(panel, self.channels, into)

    def _start(self, found: Path | None) -> None:
        """Reach PAUSED, in front of the first instruction or where a checkpoint stands."""
        backend = backend_of(self.config.backend)
        argv = backend.command_line(self.config, self.products, self.channels)
        self._run_dir.describe(
            control=str(self.channels.control),
            kernel=self.products.kernel_version,
            cpus=self.config.cpus,
            pid=os.getpid(),
        )
        self._undo.callback(self.console.stop)
        self.console.on_accident = self._end_waits
        self.console.start()
        folder = backend.folder(self.channels)
        self._emulator = Emulator(argv, self.logs / "emulator.log", self._kept, folder)
        self._undo.callback(self._emulator.stop)
        self._monitor = backend.monitor(
            self._emulator, self.channels, START_SECONDS, self.check, self._news
        )
        self._undo.callback(self._monitor.close)
        panel = panel_of(self._monitor)
        if found is not None and panel is not None:
            checkpoint.restore(panel, self.channels, found)
            self._restored = True
        self._control = Control.connect(self.channels.control, START_SECONDS, self._control_check)
        self._control.timeout = REQUEST_SECONDS
        self._undo.callback(self._control.close)
        self._peer = Peer(self._control, USER)
        self._listener = AfIucvListener(self._peer, NAME)
        self.faults = arm(self._control, *self.config.fault_rules())
        self.stage = Stage.PAUSED

    def resume(self) -> None:
        """Reach RUNNING: the CPUs execute; without restore() from the kernel's first instruction."""
        self.start()
        if self.stage is Stage.PAUSED:
            self.monitor.go_on()
            self.stage = Stage.RUNNING

    def boot(self) -> None:
        """Reach READY: wait until the agent answers; the wall clock is right."""
        self.restore()
        self.resume()
        if self.stage is Stage.RUNNING:
            self.await_agent()
            if self._restored:
                checkpoint.set_clock(self.agent)

    def rest(self) -> None:
        """Stop the CPUs until wake(), if the guest's clocks stop with them; READY only.

        A kernel that ticks also when idle, as Debian's, takes up to a seventh of a host's CPU.
        """
        if self.monitor.clocks_stop:
            self.monitor.pause()
            self._resting = True

    def wake(self) -> None:
        """End rest(); harmless without."""
        if self._resting:
            self.monitor.go_on()
            self._resting = False

    def await_agent(self) -> None:
        """Wait for an agent that is about to connect: after resume(), or after a reboot."""
        slow = slowness(self.config.kernel) * backend_of(self.config.backend).slowness
        seconds = self.config.boot_seconds * slow
        listener = self._there(self._listener, "agent channel", "start()")
        try:
            self._agent = Agent(_WatchedStream(listener.accept(seconds), self._news))
        except Timeout as error:
            place = f"; the console is in {self.channels.console_log}" if self._kept else ""
            late = Timeout(f"the guest's agent did not answer within {seconds:g} s{place}")
            late.add_note(self.console.tail())
            raise late from error
        self.stage = Stage.READY

    def reboot(self) -> None:
        """Restart the kernel by its own means; READY again afterwards."""
        self.agent.power(Power.REBOOT)
        self.stage = Stage.RUNNING
        self.await_agent()

    def shut_down(self, timeout: float = SHUTDOWN_SECONDS) -> None:
        """Let the kernel power off, then stop(); the emulator's exit code must be 0."""
        self.emulator.expect_exit()
        self.agent.power(Power.OFF)
        code = self.emulator.wait(timeout)
        self.stop()
        self.console.check()
        if code != 0:
            raise EmulatorError(f"the emulator ended with exit code {code} after the power-off")

    def stop(self) -> None:
        """Reach OFF from anywhere: no process, no socket, no directory is left."""
        if self.stage is not Stage.OFF:
            self.stage = Stage.OFF
            self._undo.close()

    def cp(self, command: str) -> CpResponse:
        """A CP command of the operator."""
        return self.control.cp(command)

    def check(self) -> None:
        """Raise if the guest has had an accident or the emulator has gone."""
        if self._emulator is not None and not self._emulator.alive:
            self.console.finish(_NEWS_SECONDS)
        self.console.check()
        if self._emulator is not None:
            self._emulator.check()

    def _control_check(self) -> None:
        """The control socket is being waited for, or has ended."""
        if self._control is None:
            self.check()
        else:
            self._news()

    def _news(self) -> None:
        """A connection has ended: is the reason known, or will it be in a moment?"""
        if self.stage is Stage.OFF:
            return
        limit = time.monotonic() + _NEWS_SECONDS
        while time.monotonic() < limit and self.emulator.alive:
            self.check()
            time.sleep(0.01)
        self.check()

    def _end_waits(self) -> None:
        """The console's thread noticed an accident: whoever waits for the guest is told."""
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
        self.stop()
        if full:
            raise CannotRun(
                f"the disk of {self.logs} is full; free some space or choose another with --keep"
            ) from error

    def _disk_full(self) -> bool:
        try:
            return shutil.disk_usage(self.logs).free < _FULL_BYTES
        except OSError:
            return False
