# SPDX-License-Identifier: MIT
"""A CPU is held at a function of the guest's kernel, while the other one goes on."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

import pytest
from iucv_socket import AF_IUCV, STREAM, Socket, address

from zvmlab.agent.agent import Pending, Worker
from zvmlab.agent.calls import BatchResult
from zvmlab.agent.wire import Call
from zvmlab.base.errors import Timeout, UsageError
from zvmlab.guest.checkpoint import clock
from zvmlab.guest.config import QEMU, GuestConfig
from zvmlab.guest.console import DISABLED_WAIT, PANIC
from zvmlab.guest.guest import Guest
from zvmlab.guest.pool import Pool
from zvmlab.guest.qmp import QmpError
from zvmlab.scenarios.context import Context

pytestmark = pytest.mark.zvmlab(cpus=2)
# The agent's own connection has its interruptions on CPU 0.
CPU = 1
ONLINE = f"/sys/devices/system/cpu/cpu{CPU}/online"
BIND = "iucv_sock_bind"
MONOTONIC = 1
HELD_SECONDS = 1.0
# What the guest executes takes its time, too.
SLACK = 0.5


@pytest.fixture(autouse=True)
def in_qemu(zvmlab_backend: str) -> None:
    if zvmlab_backend != QEMU:
        pytest.skip("only QEMU holds a CPU at a function")


@pytest.fixture
def there(guest: Guest) -> Worker:
    """A thread of the guest on CPU 1."""
    worker = guest.agent.worker("held")
    guest.agent.keep_on(worker, CPU)
    return worker


@pytest.fixture
def here(guest: Guest) -> Worker:
    """A thread of the guest on CPU 0."""
    worker = guest.agent.worker("free")
    guest.agent.keep_on(worker, 0)
    return worker


def begin_to_bind(worker: Worker, name: str) -> Pending[BatchResult]:
    """A new socket is to be bound to that name."""
    at = address("", name)
    batch = worker.batch()
    made = batch.call(Call.SOCKET, AF_IUCV, STREAM, 0)
    batch.call(Call.BIND, made, at, len(at))
    return batch.start()


def test_call_is_held_at_its_entry(guest: Guest, there: Worker, here: Worker) -> None:
    """The other CPU takes the name before the call has done anything."""
    with guest.hold(BIND, cpu=CPU) as hold:
        binding = begin_to_bind(there, "SAME")
        assert hold.wait() == CPU
        Socket.make(here, name="SAME")
        assert hold.held and not binding.done()
    assert binding.result()[1].errno == errno.EADDRINUSE
    assert not hold.held


def test_call_is_held_at_its_return(guest: Guest, there: Worker, here: Worker) -> None:
    """The call has taken the name, which the other CPU finds in use."""
    with guest.hold(f"af_iucv:{BIND}", cpu=CPU, where="return") as hold:
        binding = begin_to_bind(there, "SAME")
        assert hold.wait() == CPU
        assert Socket.make(here).try_bind("SAME").errno == errno.EADDRINUSE
        assert not binding.done()
    assert binding.result()[1].ret == 0


def test_only_the_nth_call_of_that_cpu_is_held(guest: Guest, there: Worker, here: Worker) -> None:
    with guest.hold(BIND, cpu=CPU, nth=3) as hold:
        for name in ("FIRST", "SECOND"):
            Socket.make(there, name=name)
        for name in ("OTHER1", "OTHER2", "OTHER3"):
            Socket.make(here, name=name)
        assert not hold.held
        binding = begin_to_bind(there, "THIRD")
        assert hold.wait() == CPU
    assert binding.result()[1].ret == 0
    Socket.make(there, name="FOURTH")


def test_hold_in_a_loop_counts_every_call(guest: Guest, there: Worker) -> None:
    """Translated code that goes on by itself is left for each."""
    calls, last = 5000, 4321
    with guest.hold("__s390x_sys_getpid", cpu=CPU, nth=last) as hold:
        batches = [there.batch() for _ in range(-(-calls // 1000))]
        for batch in batches:
            for _ in range(1000):
                batch.call(Call.GETPID)
        started = [batch.start() for batch in batches]
        hold.wait()
        for complete in started[:4]:
            assert len(complete.result()) == 1000
        assert not started[4].done()
    assert len(started[4].result()) == 1000


def test_two_calls_are_held_and_released_in_another_order(guest: Guest, there: Worker) -> None:
    other = guest.agent.worker("any")
    with guest.hold("iucv_sock_create", cpu=CPU) as first, guest.hold(BIND, cpu=CPU) as second:
        binding = begin_to_bind(there, "NAME")
        assert first.wait() == CPU and not second.held
        first.release()
        assert second.wait() == CPU and not first.held
        guest.agent.keep_on(other, 0)
        Socket.make(other, name="OTHER")
    assert binding.result()[1].ret == 0


def test_call_that_is_released_does_not_count_again(guest: Guest, there: Worker) -> None:
    """A hold that begins while the CPU stands there is for the next call."""
    with guest.hold(BIND, cpu=CPU) as first:
        binding = begin_to_bind(there, "FIRST")
        assert first.wait() == CPU
        with guest.hold(BIND, cpu=CPU) as second:
            first.release()
            assert binding.result()[1].ret == 0
            assert not second.held
            binding = begin_to_bind(there, "SECOND")
            assert second.wait() == CPU
        assert binding.result()[1].ret == 0


@pytest.mark.parametrize("where", ["entry", "return"])
def test_function_is_held_once_more_by_each_hold(guest: Guest, there: Worker, where: str) -> None:
    for number in range(4):
        with guest.hold(BIND, cpu=CPU, where=where) as hold:
            binding = begin_to_bind(there, f"NAME{number}")
            assert hold.wait() == CPU
        assert binding.result()[1].ret == 0


def test_cpu_goes_on_when_the_last_hold_is_released(guest: Guest, there: Worker) -> None:
    with guest.hold(BIND, cpu=CPU) as first, guest.hold(BIND) as second:
        binding = begin_to_bind(there, "NAME")
        assert (first.wait(), second.wait()) == (CPU, CPU)
        first.release()
        guest.agent.read_file("/proc/version")
        assert second.held and not binding.done()
    assert binding.result()[1].ret == 0


def test_guest_that_is_held_can_end(guest: Guest, there: Worker) -> None:
    """As a test that has failed leaves it; the fixture ends the guest without a time-out."""
    hold = guest.hold(BIND, cpu=CPU)
    begin_to_bind(there, "NAME")
    assert hold.wait() == CPU
    guest.end()
    assert not guest.alive


def test_scenario_has_its_thread_held(guest: Guest, zvmlab_dir: Path) -> None:
    """Its steps say whether the thread came there, as long as the other side was patient."""
    with Context(guest, zvmlab_dir) as context:
        with context.hold(BIND) as hold:
            binding = begin_to_bind(context.worker, "NAME")
            context.await_hold(hold)
            assert hold.held
        assert binding.result()[1].ret == 0
        context.patience = 0.1
        with context.hold(BIND, where="return") as hold:
            context.await_hold(hold)
    assert [(step.what, step.result) for step in context.steps] == [
        ("hold", {"function": BIND, "where": "entry", "reached": True}),
        ("hold", {"function": BIND, "where": "return", "reached": False}),
    ]


@pytest.mark.zvmlab(cpus=2, count_instructions=True)
def test_clock_of_counted_instructions_takes_its_time(guest: Guest, there: Worker) -> None:
    """Else the kernel would report after a moment that the CPU has done nothing for half a minute."""
    with guest.hold(BIND, cpu=CPU) as hold:
        binding = begin_to_bind(there, "NAME")
        assert hold.wait() == CPU
        host, before = time.monotonic(), clock(guest.agent, MONOTONIC)
        while time.monotonic() - host < HELD_SECONDS:
            guest.agent.read_file("/proc/uptime")
        sleeping = guest.agent.worker("sleeper").batch()
        sleeping.sleep(HELD_SECONDS / 4)
        sleeping.run()
        passed = clock(guest.agent, MONOTONIC) - before
        assert HELD_SECONDS / 4 <= passed <= time.monotonic() - host + SLACK
    assert binding.result()[1].ret == 0


def test_hold_that_nobody_reaches_says_what_it_waited_for(guest: Guest) -> None:
    text = rf"CPU 1 has not reached the return of call 2 of {BIND} within 0\.1 s"
    with guest.hold(BIND, cpu=CPU, nth=2, where="return") as hold:
        with pytest.raises(Timeout, match=text):
            hold.wait(0.1)
    with pytest.raises(UsageError, match="the hold is over"):
        hold.wait(0.1)


@pytest.mark.parametrize(
    ("function", "words", "text"),
    [
        ("iucv_sock_bindd", {}, "has a function iucv_sock_bindd.*did you mean iucv_sock_bind"),
        ("monreader:mon_open", {}, "the module monreader is not loaded"),
        ("af_iucv:mon_open", {}, "the module af_iucv has no function mon_open"),
        ("no function", {}, "'no function' is not FUNCTION"),
        (BIND, {"cpu": 2}, r"the guest has no CPU 2 .*\(0 to 1\)"),
        (BIND, {"nth": 0}, "at call 0 of"),
        (BIND, {"where": "exit"}, r"\(entry or return\)"),
    ],
)
def test_what_cannot_be_held_is_refused(
    guest: Guest, function: str, words: dict[str, object], text: str
) -> None:
    with pytest.raises(UsageError, match=text):
        guest.hold(function, **words)  # type: ignore[arg-type]


@pytest.mark.zvmlab(cpus=1)
def test_guest_with_one_cpu_is_not_held(guest: Guest) -> None:
    with pytest.raises(UsageError, match="the guest has one CPU, and nothing would run"):
        guest.hold(BIND)


def test_machine_that_is_held_is_not_saved(guest: Guest, there: Worker, zvmlab_dir: Path) -> None:
    with guest.hold(BIND, cpu=CPU) as hold:
        binding = begin_to_bind(there, "NAME")
        hold.wait()
        guest.machine.pause()
        value = {"path": "/objects/cp", "property": "save", "value": str(zvmlab_dir / "machine")}
        with pytest.raises(QmpError, match="a CPU is held at a function"):
            guest.qmp.execute("qom-set", value)
        guest.machine.go_on()
    assert binding.result()[1].ret == 0


def test_restart_ends_holds(guest: Guest) -> None:
    hold = guest.hold(BIND, cpu=CPU)
    guest.reboot()
    worker = guest.agent.worker("again")
    guest.agent.keep_on(worker, CPU)
    with Socket.make(worker, name="NAME"):
        assert not hold.held


def test_kernel_that_is_held_can_panic(guest: Guest, there: Worker) -> None:
    """The CPU that is held is stopped, and the machine ends."""
    hold = guest.hold(BIND, cpu=CPU)
    begin_to_bind(there, "NAME")
    assert hold.wait() == CPU
    guest.agent.write_file("/proc/sys/kernel/panic", b"0")
    batch = guest.agent.worker("sysrq").batch()
    batch.write(batch.open("/proc/sysrq-trigger", os.O_WRONLY), b"c")
    batch.start()
    guest.expect_crash(PANIC, DISABLED_WAIT)


def test_cpu_that_was_offline_is_held(guest: Guest) -> None:
    hold = guest.hold(BIND, cpu=CPU)
    for online in b"01":
        guest.agent.write_file(ONLINE, bytes((online,)))
    worker = guest.agent.worker("there")
    guest.agent.keep_on(worker, CPU)
    binding = begin_to_bind(worker, "NAME")
    assert hold.wait() == CPU
    hold.release()
    assert binding.result()[1].ret == 0


def test_next_test_finds_no_hold(guest_pool: Pool, zvmlab_kernel: str) -> None:
    config = GuestConfig(kernel=zvmlab_kernel, cpus=2)
    first = guest_pool.get(config)
    first.hold(BIND, cpu=CPU)
    first.cover(BIND)
    assert guest_pool.put_back(first) == ["holds", "cover"]
    second = guest_pool.get(config)
    worker = second.agent.worker("next")
    second.agent.keep_on(worker, CPU)
    with Socket.make(worker, name="NAME"):
        pass
    assert guest_pool.put_back(second) == []


def test_guest_that_is_put_back_is_held_no_more(guest: Guest) -> None:
    """Nor does a hold of before count in it; a new one does."""
    if not guest.can_go_back:
        pytest.skip("this guest has no checkpoint to go back to")
    for _ in range(3):
        worker = guest.agent.worker("held")
        guest.agent.keep_on(worker, CPU)
        hold = guest.hold(BIND, cpu=CPU)
        waiting = guest.hold("iucv_sock_release", cpu=CPU)
        begin_to_bind(worker, "NAME")
        assert hold.wait() == CPU
        guest.put_back()
        assert not hold.held
        with pytest.raises(UsageError, match="the hold is over"):
            waiting.wait()
        again = guest.agent.worker("held")
        guest.agent.keep_on(again, CPU)
        socket = Socket.make(again, name="NAME")
        again.close(socket.fd).check()
