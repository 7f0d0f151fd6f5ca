# SPDX-License-Identifier: MIT
"""The emulators that a guest can run in.

A backend turns a configuration into a command line and the files it names, and
gives the emulator's own side of a running guest: its monitor.  Everything else,
the CP's control socket, trace and console log among it, is the same on all.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from zvmlab.base.errors import EmulatorError, UsageError
from zvmlab.base.progress import Progress
from zvmlab.cp.control import Control, ControlError
from zvmlab.guest import saving
from zvmlab.guest.config import HERCULES, QEMU, Channels, GuestConfig, Artifacts, emulator_arguments
from zvmlab.guest.console import Crash, disabled_wait
from zvmlab.guest.emulator import Emulator
from zvmlab.guest.qmp import Qmp, QmpError

if TYPE_CHECKING:
    from zvmlab.guest import hercules

Check = Callable[[], None]
# The class of the error by which our device refuses to be saved at present (sim/qemu/checkpoint.c).
_NOT_NOW = "DeviceNotActive"


class Machine(Protocol):
    """The emulator's own side of a running guest."""

    clocks_stop: bool
    """The guest's clocks stop with its CPUs, so that it does not notice a pause."""
    can_go_back: bool
    """restore() also takes a machine that has run, back to the checkpoint that it began at."""
    clocks_jump: bool
    """pass_time() does something; not if instructions are counted."""
    held: bool
    """The CPUs do not run: not yet, or not after pause()."""

    def go_on(self) -> None:
        """Let the CPUs run: the first time from the kernel's first instruction on."""

    def begin_to_go_on(self) -> None:
        """The same without an answer: CP may have the CPUs wait at once."""

    def pause(self) -> None:
        """Stop the CPUs between two instructions."""

    def pass_time(self, seconds: float) -> None:
        """From now on the guest's clocks jump over time that its CPUs wait, by that much in all."""

    def time_to_pass(self) -> float:
        """The remaining time in seconds."""

    def save(self, file: Path) -> None:
        """Write the machine, which is held afterwards, to a new file."""

    def restore(self, file: Path) -> None:
        """Take a saved machine's place, before the first go_on() or later; the CPUs are held."""

    def begin_restore(self, file: Path) -> Callable[[], None]:
        """Begin that, and return what completes it: other machines can be restored meanwhile."""

    def crash(self) -> Crash | None:
        """The emulator's message about a guest that cannot continue, beyond the logs."""

    def registers(self) -> str:
        """PSW and general registers of every CPU, as the emulator writes them."""

    def put_back(self, file: Path) -> None:
        """pause(), restore() and go_on(); what CP has said until then has come.  After use()."""

    def use(self, control: Control) -> None:
        """The control socket is the emulator's own, and may be asked for all this."""

    def close(self) -> None:
        """Drop the connection; harmless the second time."""


class Backend(Protocol):
    """One emulator."""

    slowness: float
    """How much longer than on QEMU a boot may take."""

    def build(self, progress: Progress | None) -> Path:
        """Build the emulator, or its module, into the cache."""

    def entry(self) -> str:
        """Name in the cache of what build() makes; it changes with all that goes into it."""

    def command_line(
        self, config: GuestConfig, artifacts: Artifacts, channels: Channels, restored: bool
    ) -> list[str]:
        """The command line; files that it names are written beside the control socket.

        *restored*: the machine will be restored, not loaded, unless that fails.
        """

    def folder(self, channels: Channels) -> Path | None:
        """The emulator's working directory, if it needs one of its own."""

    def machine(
        self, emulator: Emulator, channels: Channels, seconds: float, check: Check, lost: Check
    ) -> Machine:
        """Connect; *check* is called while waiting, *lost* if the connection ends."""


_CP = "/objects/cp"
_NS = 10**9
# A machine that is put back thousands of times has two of them each time.
_STOPS = ("STOP", "RESUME")
# The longest that writing or mapping a guest's storage may take.
_FILE_SECONDS = 60.0


def _plain(text: str) -> str:
    """What QEMU says, without the name of our device."""
    return text.removeprefix("zvmlab-cp: ")


def _nothing(_answer: object, _error: object) -> None:
    """Of an order: QEMU may end before it answers."""


class _QemuMachine:
    clocks_stop = True
    clocks_jump = True
    can_go_back = True

    def __init__(self, qmp: Qmp) -> None:
        self.qmp = qmp
        self.held = True
        self._control: Control | None = None

    def use(self, control: Control) -> None:
        self._control = control

    @property
    def _socket(self) -> Control | None:
        """QEMU takes in a command of QMP byte by byte; a request here costs a tenth of that.

        After a crash, when this socket is closed, it can still be asked by QMP.
        """
        return None if self._control is None or self._control.closed else self._control

    def go_on(self) -> None:
        if (control := self._socket) is not None:
            self._request(control, "machine-continue")
        else:
            self.qmp.execute("cont")
        self.held = False

    def begin_to_go_on(self) -> None:
        self.qmp.order("cont")
        self.held = False

    def pause(self) -> None:
        if (control := self._socket) is not None:
            self._request(control, "machine-pause")
        else:
            self.qmp.execute("stop")
        self.held = True

    def put_back(self, file: Path) -> None:
        assert self._control is not None
        arguments = {"file": file.absolute(), "continue": True}
        self._request(self._control, "machine-restore", arguments)
        self.qmp.take_in()
        self._forget()
        self.held = False

    def pass_time(self, seconds: float) -> None:
        ns = round(seconds * _NS)
        if (control := self._socket) is not None:
            control.post("machine-pass", _nothing, later=True, ns=ns)
        else:
            self.qmp.order("qom-set", {"path": _CP, "property": "pass", "value": ns})

    def time_to_pass(self) -> float:
        if (control := self._socket) is not None:
            left = control.execute("query-machine")["pass"]
        else:
            left = self.qmp.execute("qom-get", {"path": _CP, "property": "pass"})
        return float(left) / _NS

    @staticmethod
    def _request(
        control: Control, command: str, arguments: Mapping[str, object] | None = None
    ) -> None:
        try:
            control.execute(command, time_limit=_FILE_SECONDS, **(arguments or {}))
        except ControlError as error:
            raise EmulatorError(f"QEMU refused {command}: {_plain(error.desc)}") from error

    def save(self, file: Path) -> None:
        saving.save(self, "QEMU", lambda: self._set("save", file))

    def begin_save(self, file: Path) -> Callable[[], None]:
        """Write it to a file, also in place of another one; what completes that: NotNow if it is busy."""
        file.unlink(missing_ok=True)
        return self._begin_set("save", file)

    def restore(self, file: Path) -> None:
        self.begin_restore(file)()

    def begin_restore(self, file: Path) -> Callable[[], None]:
        restored = self._begin_set("restore", file)

        def complete() -> None:
            try:
                restored()
            except EmulatorError as error:
                raise EmulatorError(f"QEMU cannot restore the guest: {error}") from error
            self._forget()

        return complete

    def _forget(self) -> None:
        """A machine that stood after a panic is another one now; nobody waits for the others."""
        self.qmp.forget("GUEST_PANICKED", *_STOPS)

    def _set(self, name: str, file: Path) -> None:
        """EmulatorError says why it was refused."""
        self._begin_set(name, file)()

    def _begin_set(self, name: str, file: Path) -> Callable[[], None]:
        value = {"path": _CP, "property": name, "value": str(file.absolute())}
        answered = self.qmp.begin("qom-set", value, _FILE_SECONDS)

        def complete() -> None:
            try:
                answered()
            except QmpError as error:
                kind = saving.NotNow if error.klass == _NOT_NOW else EmulatorError
                raise kind(_plain(error.desc)) from error

        return complete

    def crash(self) -> Crash | None:
        for event in self.qmp.arrived("GUEST_PANICKED"):
            info = event.get("data", {}).get("info", {})
            if info.get("reason") == "disabled-wait":
                psw = f"{info['psw-mask'] % 2**64:016X}{info['psw-addr'] % 2**64:016X}"
                return disabled_wait(info["core"], psw)
        return None

    def registers(self) -> str:
        arguments = {"command-line": "info registers -a"}
        said = str(self.qmp.execute("human-monitor-command", arguments))
        wanted = ("CPU#", "PSW=", "R")
        return "\n".join(line.rstrip() for line in said.splitlines() if line.startswith(wanted))

    def close(self) -> None:
        self.qmp.close()


class _Qemu:
    slowness = 1.0

    def build(self, progress: Progress | None) -> Path:
        named = os.environ.get("ZVMLAB_QEMU")
        if not named:
            from zvmlab.builder.qemubuild import build_qemu  # which few guests have to import

            return build_qemu(progress)
        if not os.access(named, os.X_OK):
            raise UsageError(f"ZVMLAB_QEMU is not a program: {named}")
        return Path(named)

    def entry(self) -> str:
        from zvmlab.builder.qemubuild import qemu_entry

        return qemu_entry()

    def command_line(
        self, config: GuestConfig, artifacts: Artifacts, channels: Channels, restored: bool
    ) -> list[str]:
        return emulator_arguments(config, artifacts, channels, restored)

    def folder(self, channels: Channels) -> Path | None:
        return None

    def machine(
        self, emulator: Emulator, channels: Channels, seconds: float, check: Check, lost: Check
    ) -> Machine:
        return _QemuMachine(Qmp(channels.qmp, seconds, check, lost, emulator.limit))


class _Hercules:
    """Imports its modules only when one runs: most guests do without."""

    slowness = 4.0

    def build(self, progress: Progress | None) -> Path:
        from zvmlab.builder.herculesbuild import build_module
        from zvmlab.guest import hercules

        hercules.check_program()
        return build_module(progress)

    def entry(self) -> str:
        from zvmlab.builder.herculesbuild import module_entry, sources

        return module_entry(sources())

    def command_line(
        self, config: GuestConfig, artifacts: Artifacts, channels: Channels, restored: bool
    ) -> list[str]:
        from zvmlab.guest import hercules

        return hercules.prepare(config, artifacts, channels)

    def folder(self, channels: Channels) -> Path | None:
        from zvmlab.guest import hercules

        return hercules.folder(channels)

    def machine(
        self, emulator: Emulator, channels: Channels, seconds: float, check: Check, lost: Check
    ) -> Machine:
        from zvmlab.guest import hercules

        return hercules.Panel(emulator, hercules.folder(channels), seconds, check)


_BACKENDS: dict[str, Backend] = {QEMU: _Qemu(), HERCULES: _Hercules()}


def backend_of(name: str) -> Backend:
    """The emulator of that name; GuestConfig has checked it."""
    return _BACKENDS[name]


def at_once(begun: Sequence[Callable[[], None]]) -> None:
    """Complete all that have been begun, and then raise an error of those that had one."""
    errors = []
    for complete in begun:
        try:
            complete()
        except EmulatorError as error:
            errors.append(error)
    # What would be better at another moment is of no use if something else is wrong.
    for found in sorted(errors, key=lambda found: isinstance(found, saving.NotNow)):
        raise found


class _Together:
    """Machines of one system, which stand still at the same time."""

    def __init__(self, machines: Sequence[_QemuMachine]) -> None:
        self._machines = machines

    def go_on(self) -> None:
        for machine in self._machines:
            machine.go_on()

    def pause(self) -> None:
        for machine in self._machines:
            machine.pause()


def save_together(machines: Mapping[Path, Machine]) -> None:
    """Save all of them as they are at one moment, each to its file; they are held afterwards."""
    found = {
        file: machine for file, machine in machines.items() if isinstance(machine, _QemuMachine)
    }
    assert len(found) == len(machines), "members of a system run in QEMU"

    def attempt() -> None:
        at_once([machine.begin_save(file) for file, machine in found.items()])

    saving.save(_Together(list(found.values())), "QEMU", attempt)


def panel_of(machine: Machine) -> hercules.Panel | None:
    """Hercules' panel, if it is one."""
    from zvmlab.guest import hercules

    return machine if isinstance(machine, hercules.Panel) else None


def qmp_of(machine: Machine) -> Qmp | None:
    """The connection to QEMU's monitor, if it is one."""
    return machine.qmp if isinstance(machine, _QemuMachine) else None
