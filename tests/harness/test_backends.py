# SPDX-License-Identifier: MIT
"""QEMU's side of saving and restoring a machine, without QEMU: what it is told, what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from zvmlab.base.errors import EmulatorError
from zvmlab.cp.control import Control, ControlError
from zvmlab.guest import saving
from zvmlab.guest.backends import _QemuMachine, save_together
from zvmlab.guest.qmp import Qmp, QmpError

BUSY = "zvmlab-cp: the machine cannot be saved now: an interruption of a device is pending"
NOT_NOW = "DeviceNotActive"


class _Qmp:
    """Notes commands; refuses the first settings of a property for the reasons given.

    Only the class of an error says that another moment may be better.
    """

    def __init__(self, *reasons: str, klass: str = NOT_NOW) -> None:
        self.reasons = list(reasons)
        self.klass = klass
        self.told: list[object] = []

    def execute(self, command: str, arguments: dict[str, Any] | None = None, _: float = 0) -> Any:
        self.told.append(command if arguments is None else (command, arguments))
        if command == "qom-set" and self.reasons:
            raise QmpError(command, self.klass, self.reasons.pop(0))
        return 2_500_000_000 if command == "qom-get" else None

    def begin(self, command: str, arguments: dict[str, Any], _: float) -> Callable[[], Any]:
        self.told.append(("begin", arguments["value"]))
        return lambda: self.execute(command, arguments)

    def order(self, command: str, arguments: dict[str, Any]) -> None:
        self.told.append(("order", command, arguments))

    def take_in(self) -> None:
        self.told.append("take in")

    def forget(self, *names: str) -> None:
        self.told.append(("forget", *names))


class _Control:
    """Notes requests; refuses the first ones for the reasons given."""

    def __init__(self, *reasons: str) -> None:
        self.reasons = list(reasons)
        self.closed = False
        self.told: list[object] = []

    def execute(self, command: str, time_limit: float = 0, **arguments: Any) -> Any:
        self.told.append((command, arguments) if arguments else command)
        if self.reasons:
            raise ControlError("Failed", self.reasons.pop(0))
        return {"runs": False, "pass": 2_500_000_000} if command == "query-machine" else {}

    def post(self, command: str, _: object, later: bool, **arguments: Any) -> None:
        assert later
        self.told.append(("post", command, arguments))


def _machine(qmp: _Qmp, control: _Control | None = None) -> _QemuMachine:
    machine = _QemuMachine(cast(Qmp, qmp))
    if control is not None:
        machine.use(cast(Control, control))
    return machine


def _set(name: str, file: Path) -> list[object]:
    """It is begun, and then waited for."""
    value = {"path": "/objects/cp", "property": name, "value": str(file)}
    return [("begin", str(file)), ("qom-set", value)]


def test_a_machine_is_saved_while_it_is_held(tmp_path: Path) -> None:
    qmp = _Qmp()
    machine = _machine(qmp)
    machine.go_on()
    machine.save(tmp_path / "machine")
    assert qmp.told == ["cont", "stop", *_set("save", tmp_path / "machine")]
    assert machine.held


def test_a_busy_machine_goes_on_before_it_is_tried_again(tmp_path: Path) -> None:
    qmp = _Qmp(BUSY, BUSY)
    _machine(qmp).save(tmp_path / "machine")
    once = ["stop", *_set("save", tmp_path / "machine")]
    assert qmp.told == [*once, "cont", *once, "cont", *once]


def test_a_machine_that_stays_busy_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saving, "SECONDS", 0.0)
    machine = _machine(_Qmp(*(BUSY for _ in range(3))))
    with pytest.raises(EmulatorError, match="^QEMU cannot save the guest: the machine cannot be s"):
        machine.save(tmp_path / "machine")


def test_what_cannot_be_saved_is_told_at_once(tmp_path: Path) -> None:
    """Whatever the text says: here it is the one of a busy machine."""
    qmp = _Qmp(BUSY, BUSY, klass="GenericError")
    with pytest.raises(EmulatorError, match="cannot save the guest: the machine cannot be saved n"):
        _machine(qmp).save(tmp_path / "machine")
    assert qmp.told == ["stop", *_set("save", tmp_path / "machine")]


def test_a_restored_machine_is_held(tmp_path: Path) -> None:
    qmp = _Qmp()
    machine = _machine(qmp)
    machine.restore(tmp_path / "machine")
    assert machine.held
    # A panic of before is no crash of the machine that goes on.
    wanted = [
        *_set("restore", tmp_path / "machine"),
        ("forget", "GUEST_PANICKED", "STOP", "RESUME"),
    ]
    assert qmp.told == wanted


def test_a_refused_checkpoint_is_told(tmp_path: Path) -> None:
    qmp = _Qmp("zvmlab-cp: the checkpoint x cannot be used: it is not a checkpoint")
    with pytest.raises(
        EmulatorError, match="^QEMU cannot restore the guest: the checkpoint x cannot be used: it"
    ):
        _machine(qmp).restore(tmp_path / "machine")


def test_time_passes_in_nanoseconds() -> None:
    qmp = _Qmp()
    machine = _machine(qmp)
    machine.pass_time(1.25)
    assert machine.time_to_pass() == 2.5
    where = {"path": "/objects/cp", "property": "pass"}
    value = {"value": 1_250_000_000}
    assert qmp.told == [("order", "qom-set", where | value), ("qom-get", where)]


def test_machines_of_a_system_are_saved_at_once(tmp_path: Path) -> None:
    """All of them write at the same time; if one is busy, all go on and are tried again."""
    told: list[object] = []
    first, second = _Qmp(BUSY), _Qmp()
    first.told = second.told = told
    files = [tmp_path / "first", tmp_path / "second"]
    save_together({files[0]: _machine(first), files[1]: _machine(second)})
    begun, done = zip(*(_set("save", file) for file in files))
    once = ["stop", "stop", *begun, *done]
    assert told == [*once, "cont", "cont", *once]


def test_what_is_wrong_with_one_machine_of_a_system_ends_that(tmp_path: Path) -> None:
    """Another moment would not help."""
    busy, full = _Qmp(BUSY), _Qmp("zvmlab-cp: the disk is full", klass="GenericError")
    with pytest.raises(EmulatorError, match="^QEMU cannot save the guest: the disk is full"):
        save_together({tmp_path / "busy": _machine(busy), tmp_path / "full": _machine(full)})


def test_the_emulators_own_control_socket_is_asked(tmp_path: Path) -> None:
    qmp, control = _Qmp(), _Control()
    machine = _machine(qmp, control)
    machine.go_on()
    assert not machine.held
    machine.pause()
    assert machine.held
    machine.pass_time(1.25)
    assert machine.time_to_pass() == 2.5
    wanted = ["machine-continue", "machine-pause", ("post", "machine-pass", {"ns": 1_250_000_000})]
    assert control.told == [*wanted, "query-machine"]
    assert not qmp.told


def test_a_machine_is_put_back_by_one_request(tmp_path: Path) -> None:
    qmp, control = _Qmp(), _Control()
    machine = _machine(qmp, control)
    machine.put_back(tmp_path / "machine")
    assert not machine.held
    assert control.told == [("machine-restore", {"file": tmp_path / "machine", "continue": True})]
    # QEMU tells that it has stopped and gone on, and keeps that for whoever does not read it.
    assert qmp.told == ["take in", ("forget", "GUEST_PANICKED", "STOP", "RESUME")]


def test_reason_of_the_control_socket_is_told(tmp_path: Path) -> None:
    machine = _machine(_Qmp(), _Control("zvmlab-cp: the checkpoint x cannot be used"))
    with pytest.raises(EmulatorError, match="^QEMU refused machine-restore: the checkpoint x can"):
        machine.put_back(tmp_path / "machine")


def test_qmp_is_asked_when_the_control_socket_is_closed() -> None:
    """As it is after a crash."""
    qmp, control = _Qmp(), _Control()
    machine = _machine(qmp, control)
    control.closed = True
    machine.pause()
    machine.go_on()
    machine.pass_time(1.0)
    assert machine.time_to_pass() == 2.5
    assert not control.told
    assert qmp.told[:2] == ["stop", "cont"]
