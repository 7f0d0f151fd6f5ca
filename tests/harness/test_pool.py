# SPDX-License-Identifier: MIT
"""Guests that are used again: who gets which, and what a guest has to answer for when it goes."""

from __future__ import annotations

import errno
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from zvmlab.agent.results import AgentInfo, Settled
from zvmlab.base.errors import EmulatorError, GuestPanic, Timeout, UsageError, ZvmlabError
from zvmlab.guest import kernelcheck, pool as pool_module
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Stage
from zvmlab.guest.pool import Pool, numbered
from zvmlab.guest.cleanliness import cleanliness
from zvmlab.pytest_plugin import debugtests, plugin

CONFIG = GuestConfig(kernel="debug")
OTHER = GuestConfig(kernel="debug", driver="zvmlab")
THIRD = GuestConfig(kernel="debug", cpus=2)
LOG = "console.log"
INFO = AgentInfo(1, "big", True, 75, 4096, 1, 1, 0, "6.1", "s390x")
DIGESTS = {
    "users": "user IDs",
    "faults": "faults",
    "segments": "segments",
    "pages": "pages",
    "appldata": "application data",
    "monitor-sample": "monitor sample",
    "monitor-event": "monitor event",
    "monitor-users": "monitor users",
}


class Guest:
    """A guest as far as the pool can see; what it is asked is noted."""

    made: list[Guest] = []

    def __init__(self, config: Any, logs: Path, _artifacts: Any = None) -> None:
        self.config = config
        self.name = f"g{len(Guest.made) + 1}"
        self.logs = logs
        self.stage = Stage.MADE
        self.done: list[str] = []
        self.loaded = b"af_iucv 1 0 - Live 0x0\n"
        self.busy = 0
        self.left = dict.fromkeys(DIGESTS, "cbf29ce484222325")
        self.crash: ZvmlabError | None = None
        self.late: ZvmlabError | None = None
        self.console = SimpleNamespace(crash=None)
        self.emulator = SimpleNamespace(alive=True)
        self.agent = self
        self.control = self
        self.closed = False
        self.held = False
        self.can_go_back = self.can_be_marked = False
        self.files: dict[str, str] = {}
        self.marks = 0
        self.judges: list[str] = []
        Guest.made.append(self)

    @property
    def can_answer(self) -> bool:
        return self.stage is Stage.READY and not self.held

    def boot(self) -> None:
        self.stage = Stage.READY
        self.done.append("boot")

    def check(self) -> None:
        if self.crash is not None:
            raise self.crash

    def settle(self) -> None:
        self.done.append("settle")
        self.check()

    def settle_again(self) -> Settled | None:
        self.settle()
        return Settled(0, 0, self.busy, 0, 0, 0, False, []) if self.can_answer else None

    def modules(self, _found: Settled | None) -> list[bytes]:
        return sorted(line.split()[0] for line in self.loaded.splitlines())

    def end(self) -> None:
        self.done.append("end")
        self.stop()
        self.crash = self.crash or self.late
        self.check()

    def stop(self) -> None:
        self.stage = Stage.OFF

    def kill(self) -> None:
        self.done.append("kill")

    def put_back(self) -> None:
        self.done.append("put back")
        self.loaded, self.busy = b"af_iucv 1 0 - Live 0x0\n", 0

    def mark(self) -> None:
        self.done.append("mark")
        self.marks += 1

    def end_judges(self) -> list[str]:
        found, self.judges = self.judges, []
        return found

    def rest(self) -> None:
        self.done.append("rest")

    def wake(self) -> None:
        self.done.append("wake")
        self.check()

    def hello(self) -> AgentInfo:
        return INFO._replace(busy=self.busy)

    def read_file(self, path: str) -> bytes:
        if path == "/proc/modules":
            return self.loaded
        if path not in self.files:
            raise OSError(errno.ENOENT, "no such file", path)
        return self.files[path].encode()

    def execute(self, command: str) -> Any:
        assert command == "query-digests"
        return dict(self.left)


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Pool:
    Guest.made = []
    monkeypatch.setattr(pool_module, "Guest", Guest)
    return _pool(tmp_path)


def _pool(folder: Path, **more: Any) -> Pool:
    """A pool whose guests' folders are there, as those of real ones."""

    def logs(config: GuestConfig) -> Path:
        path = numbered(folder)(config)
        path.mkdir()
        return path

    return Pool(logs, last_check=debugtests.last_check, **more)


def _request(failed: bool = False, reported: bool = False, counts: Any = None) -> Any:
    """A test that uses a guest, and what became of it."""
    stash = pytest.Stash()
    stash[plugin._failed] = failed
    stash[plugin._reported] = reported
    config = SimpleNamespace(stash=pytest.Stash())
    if counts is not None:
        config.stash[plugin._counts] = counts
    node = SimpleNamespace(stash=stash, nodeid="tests/test_a.py::test_it")
    return SimpleNamespace(node=node, config=config)


def _after(pool: Pool, use: Any, failed: bool = False, reported: bool = False) -> Any:
    """Use a guest, which logs something, for a test; the next test's."""
    with plugin.lent(_request(failed, reported), pool, CONFIG) as guest:
        (guest.logs / LOG).touch()
        use(guest)
    return pool.get(CONFIG)


def _get(pool: Pool, config: GuestConfig = CONFIG, prepare: Any = pool_module.nothing) -> Any:
    return pool.get(config, prepare)


def _use(pool: Pool, config: GuestConfig = CONFIG) -> Any:
    """Use a guest and leave nothing behind."""
    guest = pool.get(config)
    assert pool.put_back(guest) == []
    return guest


def _leave(name: str, value: Any) -> Any:
    return lambda guest: setattr(guest, name, value)


def _leave_in_cp(name: str, value: Any) -> Any:
    return lambda guest: guest.left.update({name: value})


def test_a_clean_guest_is_used_again(pool: Pool) -> None:
    assert _after(pool, lambda guest: None) is Guest.made[0]
    assert Guest.made[0].done == ["boot", "settle", "wake", "settle", "rest", "wake"]
    assert (Guest.made[0].logs / LOG).exists()


@pytest.mark.parametrize(
    "leave",
    [
        _leave("loaded", b"monreader 1 0 - Live 0x0\naf_iucv 1 0 - Live 0x0\n"),
        _leave("loaded", b""),
        _leave("busy", 1 << 3),
        *(_leave_in_cp(part, "0123456789abcdef") for part in DIGESTS),
    ],
    ids=["module", "module-gone", "busy-worker", *DIGESTS],
)
def test_a_guest_that_something_was_left_in_is_used_no_more(pool: Pool, leave: Any) -> None:
    found = _after(pool, leave)
    first, second = Guest.made
    assert found is second and first.stage is Stage.OFF
    # It ends in order: asked for leaks, and for what else may have happened to it.
    assert first.done[-1] == "end"
    assert not (first.logs / LOG).exists()


def _leave_and_go_back(name: str, value: Any) -> Any:
    """What was left, in a guest that can be put back to a checkpoint."""

    def leave(guest: Any) -> None:
        guest.can_go_back = True
        setattr(guest, name, value)

    return leave


@pytest.mark.parametrize(("afresh", "can"), ((True, True), (True, False), (False, True)))
def test_guests_that_are_always_put_back(
    pool: Pool, tmp_path: Path, afresh: bool, can: bool
) -> None:
    """Also one that nothing was left in, where that is possible; the same guest goes on."""
    own = _pool(tmp_path / "own", afresh=afresh)
    (tmp_path / "own").mkdir()
    guest = _get(own)
    guest.can_go_back = can
    assert own.put_back(guest) == []
    assert _get(own) is guest and guest.stage is Stage.READY
    assert guest.done.count("put back") == (1 if afresh and can else 0)


def test_a_guest_that_something_was_left_in_is_put_back_where_that_is_possible(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(debugtests, "check_kernel", asked.append)
    found = _after(pool, _leave_and_go_back("busy", 1 << 3))
    (first,) = Guest.made
    # What it has to answer for is asked before it is gone.
    assert found is first and asked == [first]
    assert first.done[-5:] == ["settle", "put back", "settle", "rest", "wake"]


def test_holds_and_covers_are_ended(pool: Pool) -> None:
    """And the guest is put back: what they were for may have left something."""
    guest = _get(pool)
    guest.can_go_back = True
    guest.judges = ["holds", "cover"]
    assert pool.put_back(guest) == ["holds", "cover"]
    assert guest.judges == [] and guest.done[-3:] == ["put back", "settle", "rest"]
    assert _get(pool) is guest


@pytest.mark.parametrize("leave", [_leave("busy", 0), _leave("busy", 1 << 3)])
def test_a_guest_that_its_user_has_marked_is_used_no_more(pool: Pool, leave: Any) -> None:
    """It would be put back to that."""
    guest = _get(pool)
    guest.can_go_back = True
    guest.mark()
    leave(guest)
    assert pool.put_back(guest)[-1] == "mark"
    assert "put back" not in guest.done and guest.stage is Stage.OFF


def test_a_guest_that_is_not_clean_when_it_was_put_back_is_used_no_more(pool: Pool) -> None:
    found = _after(
        pool,
        _leave_and_go_back(
            "left",
            dict.fromkeys(DIGESTS, "0123456789abcdef"),
        ),
    )
    first, second = Guest.made
    assert found is second and first.stage is Stage.OFF and "put back" in first.done


def test_a_guest_that_was_prepared_is_put_back_to_its_mark(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Guest, "boot", _boot_to_be_marked(Guest.boot))
    guest = _get(pool, prepare=lambda guest: guest.done.append("prepare"))
    assert guest.done[:3] == ["boot", "prepare", "mark"]
    _leave_and_go_back("busy", 1 << 3)(guest)
    pool.put_back(guest)
    assert guest.stage is Stage.READY and "put back" in guest.done


def _boot_to_be_marked(boot: Any) -> Any:
    def booted(guest: Any) -> None:
        boot(guest)
        guest.can_be_marked = True

    return booted


def test_a_guest_that_was_prepared_and_cannot_be_marked_is_not_put_back(pool: Pool) -> None:
    guest = _get(pool, CONFIG, lambda guest: None)
    _leave_and_go_back("loaded", b"")(guest)
    assert pool.put_back(guest) == ["modules"]
    assert guest.stage is Stage.OFF and "put back" not in guest.done


def test_a_guest_of_a_failed_test_is_used_no_more_and_its_logs_stay(pool: Pool) -> None:
    found = _after(pool, lambda guest: None, failed=True, reported=True)
    first, second = Guest.made
    assert found is second and first.stage is Stage.OFF
    assert "end" not in first.done  # what it has to answer for has been said
    assert (first.logs / LOG).exists()


def test_a_known_defect_that_leaves_the_guest_clean_costs_no_boot(pool: Pool) -> None:
    assert _after(pool, lambda guest: None, reported=True) is Guest.made[0]


@pytest.mark.parametrize("error", [GuestPanic("a warning"), EmulatorError("killed")])
def test_a_crash_is_raised_and_costs_the_guest(pool: Pool, error: ZvmlabError) -> None:
    with pytest.raises(type(error), match=str(error)):
        _after(pool, _leave("crash", error))
    second = _get(pool)
    assert second is Guest.made[1]
    assert Guest.made[0].stage is Stage.OFF


def test_a_crash_that_was_reported_is_not_raised_again(pool: Pool) -> None:
    found = _after(pool, _leave("crash", GuestPanic("a warning")), reported=True)
    assert found is Guest.made[1] and Guest.made[0].stage is Stage.OFF


def test_all_guests_end_though_one_has_something_to_answer_for(pool: Pool) -> None:
    _use(pool)
    _use(pool, OTHER)
    for guest in Guest.made:
        guest.late = GuestPanic("a late warning")
    with pytest.raises(GuestPanic):
        pool.close()
    assert [guest.stage for guest in Guest.made] == [Stage.OFF] * 2


def test_a_guest_is_asked_for_leaks_before_it_ends(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(debugtests, "check_kernel", asked.append)
    guest = _use(pool)
    pool.close()
    assert asked == [guest]
    assert guest.done == ["boot", "settle", "wake", "settle", "rest", "wake", "end"]


def test_a_leak_ends_the_guest_and_is_raised(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    def leak(_guest: Any) -> None:
        raise ZvmlabError("the guest's kernel has leaked memory")

    monkeypatch.setattr(debugtests, "check_kernel", leak)
    with pytest.raises(ZvmlabError, match="leaked"):
        _after(pool, _leave("loaded", b""))
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
        (lambda guest: setattr(guest, "held", True), False),
        (lambda guest: setattr(guest.emulator, "alive", False), False),
        (lambda guest: setattr(guest.console, "crash", "a panic"), False),
        (lambda guest: setattr(guest.control, "closed", True), False),
    ],
    ids=[
        "ready",
        "no-debug-kernel",
        "not-ready",
        "held",
        "emulator-gone",
        "crash",
        "expected-crash",
    ],
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


@pytest.mark.parametrize("failed", [False, True])
def test_counts_are_kept_for_each_test_by_its_name(
    tmp_path: Path, pool: Pool, monkeypatch: pytest.MonkeyPatch, failed: bool
) -> None:
    """Also if it has failed, which they say: what tests before have reached is there."""
    steps: list[Any] = []
    counts = SimpleNamespace(
        begin=lambda guest: steps.append(guest),
        keep=lambda guest, test, undecided: steps.append((guest, guest.stage, test, undecided)),
    )
    request = _request(failed, failed, counts)
    undecided = "failed" if failed else ""
    if failed:
        request.node.stash[plugin._undecided] = undecided
    with plugin.lent(request, pool, GuestConfig(kernel="coverage")) as one:
        assert steps == [one]
    assert steps == [one, (one, Stage.READY, "tests/test_a.py::test_it", undecided)]
    assert one.stage is (Stage.OFF if failed else Stage.READY)


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


def test_a_boot_that_fails_ends_the_guest(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    def settle(_guest: Guest) -> None:
        raise GuestPanic("a panic")

    monkeypatch.setattr(Guest, "settle", settle)
    with pytest.raises(GuestPanic):
        pool.get(CONFIG)
    assert [guest.stage for guest in Guest.made] == [Stage.OFF]
    pool.close()  # which has nothing to end


def test_an_abandoned_pool_has_no_guests(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    used, idle = _get(pool, OTHER), _use(pool)
    boot = Guest.boot

    def abandoned_meanwhile(guest: Guest) -> None:
        pool.abandon()
        boot(guest)

    monkeypatch.setattr(Guest, "boot", abandoned_meanwhile)
    for _time in ("while one boots", "afterwards"):
        with pytest.raises(EmulatorError, match="has been stopped"):
            pool.get(CONFIG._replace(cpus=3))
    assert len(Guest.made) == 3
    assert ["kill" in guest.done for guest in Guest.made] == [True, True, True]
    assert [guest.stage for guest in (used, idle)] == [Stage.READY, Stage.READY]
    pool.stop()
    assert [guest.stage for guest in Guest.made] == [Stage.OFF, Stage.OFF, Stage.OFF]


def test_a_guest_of_another_configuration_is_another(pool: Pool) -> None:
    first, second = _use(pool), _use(pool, OTHER)
    assert (first.config, second.config) == (CONFIG, OTHER)
    assert (_get(pool), _get(pool, OTHER)) == (first, second)
    assert pool.booted == 2


def test_a_guest_in_use_is_not_given_to_another_user(pool: Pool) -> None:
    first, second = _get(pool), _get(pool)
    assert first is not second
    pool.put_back(second)
    assert _get(pool) is second


def test_a_guest_that_is_used_soon_rests_only_if_another_one_is_wanted_first(pool: Pool) -> None:
    first = _get(pool)
    pool.put_back(first, soon=True)
    assert _get(pool) is first and "rest" not in first.done
    pool.put_back(first, soon=True)
    second = _get(pool, OTHER)
    assert first.done[-1] == "rest" and "rest" not in second.done
    pool.put_back(second)
    assert second.done[-1] == "rest"


def test_one_guest_at_most_is_awake_and_not_in_use(pool: Pool) -> None:
    first, second = _get(pool), _get(pool, OTHER)
    pool.put_back(first, soon=True)
    pool.put_back(second, soon=True)
    assert first.done[-1] == "rest" and "rest" not in second.done


def test_a_guest_that_dies_when_it_is_to_rest_is_said_at_the_end(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = _get(pool)
    pool.put_back(first, soon=True)

    def gone(_guest: Guest) -> None:
        raise EmulatorError("the emulator has ended")

    monkeypatch.setattr(Guest, "rest", gone)
    assert _get(pool, OTHER) is not first and first.stage is Stage.OFF
    with pytest.raises(EmulatorError, match="has ended"):
        pool.close()


@pytest.mark.parametrize("follows", [True, False])
def test_a_guest_rests_unless_the_next_test_takes_one(pool: Pool, follows: bool) -> None:
    request = _request()
    request.node.stash[plugin._another_follows] = follows
    with plugin.lent(request, pool, CONFIG) as guest:
        pass
    assert ("rest" in cast(Any, guest).done) is not follows


def test_a_name_does_not_matter_and_a_cold_guest_stands_for_any(pool: Pool) -> None:
    restored = _use(pool)
    assert _use(pool, CONFIG._replace(name="mine")) is restored
    cold = _use(pool, CONFIG._replace(cold=True))
    assert cold is not restored and cold.config.cold
    pool.drop(restored)
    assert _use(pool) is cold


def test_what_a_user_prepares_is_no_leftover_and_is_there_once(pool: Pool) -> None:
    def prepare(guest: Any) -> None:
        guest.done.append("prepare")
        guest.loaded = b"brd 1 0 - Live 0x0\n"

    first = _get(pool, prepare=prepare)
    assert pool.put_back(first) == [] and _get(pool, prepare=prepare) is first
    assert first.done.count("prepare") == 1 and pool.put_back(first) == []
    assert _get(pool) is not first
    first.loaded = b""
    assert pool.put_back(_get(pool, prepare=prepare)) == ["modules"]


def test_a_preparation_that_fails_ends_the_guest(pool: Pool) -> None:
    def prepare(_guest: Any) -> None:
        raise OSError("no module")

    with pytest.raises(OSError, match="no module"):
        pool.get(CONFIG, prepare)
    assert Guest.made[0].stage is Stage.OFF


def test_the_guest_that_has_rested_longest_makes_room(tmp_path: Path, pool: Pool) -> None:
    pool = _pool(tmp_path, limit=2)
    first, second = _use(pool), _use(pool, OTHER)
    assert _use(pool) is first
    third = _use(pool, THIRD)
    assert [one.stage for one in (first, second, third)] == [Stage.READY, Stage.OFF, Stage.READY]
    assert second.done[-2:] == ["wake", "end"]


def test_what_a_guest_has_to_answer_for_that_made_room_is_raised_at_the_end(
    tmp_path: Path, pool: Pool
) -> None:
    pool = _pool(tmp_path, limit=1)
    _use(pool).late = GuestPanic("a late warning")
    other = _use(pool, OTHER)
    with pytest.raises(GuestPanic, match="a late warning") as error:
        pool.close()
    assert error.value.__notes__ == [
        "in guest g1 (debug, upstream, qemu), which several users had in turn"
    ]
    assert other.stage is Stage.OFF
    pool.close()  # it is said once


def test_without_room_the_users_are_named(tmp_path: Path, pool: Pool) -> None:
    pool = _pool(tmp_path, limit=1)
    _get(pool)
    with pytest.raises(
        UsageError,
        match=r"all 1 guests of the pool are in use: guest g1 \(debug, upstream, qemu\)",
    ):
        pool.get(OTHER)


def test_the_end_has_a_limit_and_says_who_was_not_asked(pool: Pool) -> None:
    guest = _use(pool)
    with pytest.raises(
        Timeout,
        match=r"guest g1 \(.*\) was stopped before .* did not end within 0 s",
    ):
        pool.close(seconds=0)
    assert guest.stage is Stage.OFF and "end" not in guest.done


def test_a_guest_that_died_at_rest_is_said_and_used_no_more(pool: Pool) -> None:
    first = _use(pool)
    first.crash = EmulatorError("killed")
    with pytest.raises(EmulatorError, match="killed"):
        pool.get(CONFIG)
    assert first.stage is Stage.OFF
    assert _get(pool) is Guest.made[1]


def test_stopping_asks_nothing(pool: Pool) -> None:
    idle, used = _use(pool), _get(pool, OTHER)
    idle.late = used.late = GuestPanic("a late warning")
    pool.stop()
    assert [guest.stage for guest in (idle, used)] == [Stage.OFF] * 2
    assert "end" not in idle.done + used.done


def test_a_fixture_that_fails_costs_the_guest_and_keeps_its_logs(pool: Pool) -> None:
    def fail(_guest: Any) -> None:
        raise AssertionError("cannot be undone")

    with pytest.raises(AssertionError, match="cannot be undone"):
        _after(pool, fail)
    (first,) = Guest.made
    assert first.stage is Stage.OFF and (first.logs / LOG).exists()


def test_logs_are_where_none_are_yet(tmp_path: Path) -> None:
    (tmp_path / "1").mkdir()
    (tmp_path / "3").mkdir()
    folder = numbered(tmp_path)
    assert folder(CONFIG) == tmp_path / "2"
    (tmp_path / "2").mkdir()
    assert folder(CONFIG) == tmp_path / "4"


def test_what_is_left_is_said_by_name(tmp_path: Path) -> None:
    guest = _guest(tmp_path)
    guest.left = {part: f"{number:016x}" for number, part in enumerate(DIGESTS)}
    digests = {name: f"{number:016x}" for number, name in enumerate(DIGESTS.values())}
    guest.busy = 5
    for guest.held in (False, True):
        assert cleanliness(guest) == {"modules": [b"af_iucv"], "busy workers": 5, **digests}
