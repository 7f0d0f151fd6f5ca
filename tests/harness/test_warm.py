# SPDX-License-Identifier: MIT
"""Warm guests: who gets the same one again, and what a guest has to answer for when it goes."""

from __future__ import annotations

import dataclasses
import errno
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from zvmlab.agent.results import AgentInfo
from zvmlab.base.errors import EmulatorError, GuestPanic, ZvmlabError
from zvmlab.guest import kernelcheck
from zvmlab.guest.guest import Stage
from zvmlab.guest.traces import boot_clean, traces_left
from zvmlab.pytest_plugin import debugtests, warm
from zvmlab.pytest_plugin.warm import WarmGuests

WHICH = ("debug", "upstream", "qemu")
OTHER = ("debug", "zvmlab", "qemu")
LOG = "console.log"
INFO = AgentInfo(1, "big", True, 75, 4096, 1, 1, 0, "6.1", "s390x")


class Guest:
    """A guest as far as the pool can see; what it is asked is noted."""

    made: list[Guest] = []

    def __init__(self, config: Any, logs: Path) -> None:
        self.config = config
        self.logs = logs
        self.stage = Stage.MADE
        self.done: list[str] = []
        self.modules = b"af_iucv 1 0 - Live 0x0\n"
        self.busy = 0
        self.left: dict[str, Any] = {"users": [], "rules": [], "sample": {"users": 0}}
        self.accident: ZvmlabError | None = None
        self.console = SimpleNamespace(accident=None)
        self.emulator = SimpleNamespace(alive=True)
        self.agent = self
        self.control = self
        self.closed = False
        self.files: dict[str, str] = {}
        Guest.made.append(self)

    def boot(self) -> None:
        self.stage = Stage.READY
        self.done.append("boot")

    def check(self) -> None:
        if self.accident is not None:
            raise self.accident

    def settle(self) -> None:
        self.done.append("settle")
        self.check()

    def end(self) -> None:
        self.done.append("end")
        self.stop()
        self.check()

    def stop(self) -> None:
        self.stage = Stage.OFF

    def rest(self) -> None:
        self.done.append("rest")

    def wake(self) -> None:
        self.done.append("wake")

    def hello(self) -> AgentInfo:
        return dataclasses.replace(INFO, busy=self.busy)

    def read_file(self, path: str) -> bytes:
        if path == "/proc/modules":
            return self.modules
        if path not in self.files:
            raise OSError(errno.ENOENT, "no such file", path)
        return self.files[path].encode()

    def execute(self, command: str) -> Any:
        parts = {"sample": self.left["sample"], "event": {}, "users": []}
        return {"query-monitor": parts}.get(command, self.left)


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> WarmGuests:
    Guest.made = []
    monkeypatch.setattr(warm, "Guest", Guest)
    return WarmGuests(tmp_path_factory, keep=False, cold=False)


def _after(pool: WarmGuests, use: Any, failed: bool = False, reported: bool = False) -> Any:
    """Use a guest, which logs something, and put it back; the next test's."""
    guest = pool.get(WHICH)
    (guest.logs / LOG).touch()
    use(guest)
    pool.put_back(WHICH, failed, reported)
    return pool.get(WHICH)


def _leave(name: str, value: Any) -> Any:
    return lambda guest: setattr(guest, name, value)


def _leave_in_cp(name: str, value: Any) -> Any:
    return lambda guest: guest.left.update({name: value})


def test_a_clean_guest_is_used_again(pool: WarmGuests) -> None:
    assert _after(pool, lambda guest: None) is Guest.made[0]
    assert Guest.made[0].done == ["boot", "settle", "settle", "rest", "wake"]
    assert (Guest.made[0].logs / LOG).exists()


@pytest.mark.parametrize(
    "leave",
    [
        _leave("modules", b"monreader 1 0 - Live 0x0\naf_iucv 1 0 - Live 0x0\n"),
        _leave("modules", b""),
        _leave("busy", 1 << 3),
        _leave_in_cp("users", [{"name": "SERVER"}]),
        _leave_in_cp("rules", [{"point": "iucv.query", "kind": "cc"}]),
        _leave_in_cp("sample", {"users": 1}),
    ],
    ids=["module", "module-gone", "busy-worker", "user", "fault", "monitor"],
)
def test_a_guest_that_something_was_left_in_is_used_no_more(pool: WarmGuests, leave: Any) -> None:
    found = _after(pool, leave)
    first, second = Guest.made
    assert found is second and first.stage is Stage.OFF
    # It ends in order: asked for leaks, and for what else may have happened to it.
    assert first.done[-1] == "end"
    assert not (first.logs / LOG).exists()


def test_a_guest_of_a_failed_test_is_used_no_more_and_its_logs_stay(pool: WarmGuests) -> None:
    found = _after(pool, lambda guest: None, failed=True, reported=True)
    first, second = Guest.made
    assert found is second and first.stage is Stage.OFF
    assert "end" not in first.done  # what it has to answer for has been said
    assert (first.logs / LOG).exists()


def test_a_known_defect_that_leaves_the_guest_clean_costs_no_boot(pool: WarmGuests) -> None:
    assert _after(pool, lambda guest: None, reported=True) is Guest.made[0]


@pytest.mark.parametrize("error", [GuestPanic("a warning"), EmulatorError("killed")])
def test_an_accident_is_raised_and_costs_the_guest(pool: WarmGuests, error: ZvmlabError) -> None:
    with pytest.raises(type(error), match=str(error)):
        _after(pool, _leave("accident", error))
    second: Any = pool.get(WHICH)
    assert second is Guest.made[1]
    assert Guest.made[0].stage is Stage.OFF


def test_an_accident_that_was_reported_is_not_raised_again(pool: WarmGuests) -> None:
    found = _after(pool, _leave("accident", GuestPanic("a warning")), reported=True)
    assert found is Guest.made[1] and Guest.made[0].stage is Stage.OFF


def test_all_guests_end_though_one_has_something_to_answer_for(pool: WarmGuests) -> None:
    pool.get(WHICH)
    pool.get(OTHER)
    for guest in Guest.made:
        guest.accident = GuestPanic("a late warning")
    with pytest.raises(GuestPanic):
        pool.close()
    assert [guest.stage for guest in Guest.made] == [Stage.OFF] * 2


def test_a_guest_is_asked_for_leaks_before_it_ends(
    pool: WarmGuests, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(debugtests, "check_kernel", asked.append)
    guest: Any = pool.get(WHICH)
    pool.close()
    assert asked == [guest]
    assert guest.done == ["boot", "settle", "wake", "end"]


def test_a_leak_ends_the_guest_and_is_raised(
    pool: WarmGuests, monkeypatch: pytest.MonkeyPatch
) -> None:
    def leak(_guest: Any) -> None:
        raise ZvmlabError("the guest's kernel has leaked memory")

    monkeypatch.setattr(debugtests, "check_kernel", leak)
    with pytest.raises(ZvmlabError, match="leaked"):
        _after(pool, _leave("modules", b""))
    assert Guest.made[0].stage is Stage.OFF


def _guest(tmp_path: Path, **files: str) -> Any:
    config = SimpleNamespace(kernel="debug")
    guest = Guest(config, tmp_path)
    guest.boot()
    guest.files = {path.replace("__", "/"): text for path, text in files.items()}
    return guest


@pytest.mark.parametrize(
    ("change", "asked"),
    [
        (lambda guest: None, True),
        (lambda guest: setattr(guest.config, "kernel", "trixie"), False),
        (lambda guest: setattr(guest, "stage", Stage.RUNNING), False),
        (lambda guest: setattr(guest.emulator, "alive", False), False),
        (lambda guest: setattr(guest.console, "accident", "a panic"), False),
        (lambda guest: setattr(guest.control, "closed", True), False),
    ],
    ids=["ready", "no-debug-kernel", "not-ready", "emulator-gone", "accident", "expected-accident"],
)
def test_who_is_asked_for_leaks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Any, asked: bool
) -> None:
    calls: list[Any] = []
    monkeypatch.setattr(debugtests, "check_kernel", calls.append)
    guest = _guest(tmp_path)
    change(guest)
    debugtests.last_check(guest)
    assert calls == ([guest] if asked else [])


def test_a_kernel_that_leaks_or_looks_no_more_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guest = _guest(tmp_path)
    found = ""
    monkeypatch.setattr(kernelcheck, "leaks", lambda asked: found)
    kernelcheck.check_kernel(guest)  # without lockdep there is nothing to ask
    guest.files[kernelcheck.LOCKDEP] = " debug_locks:                             1\n"
    kernelcheck.check_kernel(guest)
    guest.files[kernelcheck.LOCKDEP] = " debug_locks:                             0\n"
    with pytest.raises(ZvmlabError, match="lockdep has turned itself off"):
        kernelcheck.check_kernel(guest)
    found = "unreferenced object 0x1234 (size 64)"
    with pytest.raises(ZvmlabError, match="leaked memory; kmemleak says:\nunreferenced object"):
        kernelcheck.check_kernel(guest)


def test_a_boot_that_fails_ends_the_guest(tmp_path: Path) -> None:
    guest = _guest(tmp_path)
    guest.accident = GuestPanic("a panic")
    with pytest.raises(GuestPanic):
        boot_clean(guest)
    assert guest.stage is Stage.OFF


def test_traces_left_are_said_by_name(tmp_path: Path) -> None:
    guest = _guest(tmp_path)
    guest.left["rules"] = [{"point": "interrupt"}]
    guest.left["users"] = [{"name": "B"}, {"name": "A"}]
    assert traces_left(guest) == {
        "modules": [b"af_iucv"],
        "busy workers": 0,
        "user IDs": ["A", "B"],
        "faults": [{"point": "interrupt"}],
        "monitor sample": {"users": 0},
        "monitor event": {},
        "monitor users": [],
    }
