# SPDX-License-Identifier: MIT
"""The guest's clocks jump over time that its CPUs wait: Guest.passing(), Guest.outlast()."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from waiting import fair

from zvmlab.agent.agent import Pending
from zvmlab.agent.calls import BatchResult
from zvmlab.base.errors import Timeout
from zvmlab.guest.checkpoint import clock
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest
from zvmlab.guest.qmp import QmpError

pytestmark = pytest.mark.first_kernel
MONOTONIC = 1
SLEEP = 60.0
MOST = 90.0
# As long as the emulator would have to be held up for the test to see no jump.
SEEN = 1.0
# What settle() gives a guest.
MOMENT = 0.02
TIMES = 20


def begin_to_sleep(guest: Guest) -> Pending[BatchResult]:
    """A worker sleeps SLEEP seconds of the guest's time."""
    batch = guest.agent.worker("sleeper").batch()
    batch.sleep(SLEEP)
    return batch.start(2 * MOST)


@pytest.mark.parametrize("cpus", [1, 4])
def test_a_sleep_takes_the_guests_time_but_not_the_hosts(
    guest_config: GuestConfig, zvmlab_dir: Path, cpus: int
) -> None:
    with Guest(guest_config._replace(cpus=cpus), zvmlab_dir) as guest:
        guest.boot()
        host, before = time.monotonic(), clock(guest.agent, MONOTONIC)
        wall = clock(guest.agent)
        guest.outlast(begin_to_sleep(guest), MOST)
        passed, walled = clock(guest.agent, MONOTONIC) - before, clock(guest.agent) - wall
        took = time.monotonic() - host
        # No jump is further than to the next timer, and all of them no further than was said.
        assert SLEEP <= passed <= took + MOST
        assert passed - took > SEEN or not guest.machine.clocks_jump
        assert abs(walled - passed) < took
        # It is over with the block.
        assert guest.machine.time_to_pass() == 0


def test_what_lasts_longer_is_a_time_out(warm_guest: Guest) -> None:
    before = clock(warm_guest.agent, MONOTONIC)
    pending = begin_to_sleep(warm_guest)
    with pytest.raises(Timeout, match="did not answer"):
        warm_guest.outlast(pending, SLEEP / 2)
    assert clock(warm_guest.agent, MONOTONIC) - before >= SLEEP / 2
    warm_guest.outlast(pending, MOST)


def test_no_more_is_jumped_over_than_was_said(warm_guest: Guest) -> None:
    host, before = time.monotonic(), clock(warm_guest.agent, MONOTONIC)
    batch = warm_guest.agent.worker("sleeper").batch()
    batch.sleep(2 * SEEN)
    warm_guest.outlast(batch.start(MOST), MOST, jump=SEEN)
    passed = clock(warm_guest.agent, MONOTONIC) - before
    assert 2 * SEEN <= passed <= time.monotonic() - host + SEEN


def test_settling_jumps_over_the_moment_that_the_guest_is_given(warm_guest: Guest) -> None:
    machine, jumped = warm_guest.machine, 0.0
    if not machine.clocks_jump:
        pytest.skip(f"the clocks of a guest in {warm_guest.config.backend} do not jump")
    limit = fair(MOST)
    # A CPU that the host holds up for all of the moment leaves nothing to jump over.
    while jumped <= 0:
        assert not limit.over, "nothing is jumped over"
        host, before = time.monotonic(), clock(warm_guest.agent, MONOTONIC)
        for _ in range(TIMES):
            warm_guest.settle()
        passed = clock(warm_guest.agent, MONOTONIC) - before
        assert passed >= TIMES * MOMENT
        jumped = passed - (time.monotonic() - host)
    assert machine.time_to_pass() == 0


def test_settling_leaves_what_somebody_else_jumps_over(warm_guest: Guest) -> None:
    if not warm_guest.machine.clocks_jump:
        pytest.skip(f"the clocks of a guest in {warm_guest.config.backend} do not jump")
    with warm_guest.passing(1000 * MOST):
        before = warm_guest.machine.time_to_pass()
        warm_guest.settle()
        assert 0 < warm_guest.machine.time_to_pass() < before
    assert warm_guest.machine.time_to_pass() == 0


def test_what_runs_is_told_from_what_sleeps(guest_config: GuestConfig, zvmlab_dir: Path) -> None:
    with Guest(guest_config._replace(busybox=True), zvmlab_dir) as guest:
        guest.boot()
        judge = guest.agent.worker("judge")

        def running() -> int:
            return min(judge.settle(0.02, 0).runnable for _ in range(10))

        sleeping = begin_to_sleep(guest)
        assert running() == 0
        spinning = guest.agent.spawn(["/bin/busybox", "sh", "-c", "while :; do :; done"])
        assert running() == 1
        spinning.kill()
        spinning.wait()
        assert running() == 0
        guest.outlast(sleeping, MOST)


def test_nothing_is_left_to_pass_when_the_machine_has_stopped(warm_guest: Guest) -> None:
    machine = warm_guest.machine
    machine.pass_time(3600.0)
    machine.pause()
    assert machine.time_to_pass() == 0
    machine.pass_time(3600.0)
    assert machine.time_to_pass() == 0
    machine.go_on()


def test_a_guest_whose_instructions_are_counted_waits(
    guest_config: GuestConfig, zvmlab_dir: Path
) -> None:
    config = guest_config._replace(count_instructions=True)
    with Guest(config, zvmlab_dir) as guest:
        guest.start()
        value = {"path": "/objects/cp", "property": "pass", "value": 1}
        with pytest.raises(QmpError, match=r"cannot jump: it counts instructions \(-icount\)"):
            guest.qmp.execute("qom-set", value)
        with pytest.raises(QmpError, match=r"invalid time to pass: -1 ns \(0 or more\)"):
            guest.qmp.execute("qom-set", value | {"value": -1})
        with guest.passing(MOST) as left:
            assert left() <= MOST


def test_guest_is_looked_at_again_if_it_was_asked_something(warm_guest: Guest) -> None:
    """A look asks the agent and CP, so CP's count of commands tells."""
    warm_guest.settle()
    before = warm_guest.control.asked
    warm_guest.settle_again()
    assert warm_guest.control.asked == before
    # The agent's requests come by way of CP, too.
    requests: tuple[Callable[[], object], ...] = (
        lambda: warm_guest.cp("QUERY USERID"),
        warm_guest.agent.hello,
    )
    for ask in requests:
        ask()
        asked = warm_guest.control.asked
        assert asked > before
        warm_guest.settle_again()
        assert (before := warm_guest.control.asked) > asked
