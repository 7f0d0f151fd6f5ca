# SPDX-License-Identifier: MIT
"""Pages that CP has paged out: what the kernel does when CP tells it (DIAGNOSE X'258', X'2603').

CP says which page is out and when it is in again; a program in the guest touches the page.
What the kernel has seen is taken from /proc, what CP has done from the control socket.
"""

from __future__ import annotations

import os
import re
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from waiting import LIMIT, fair, wait_until

from zvmlab.agent.calls import BatchResult
from zvmlab.agent.worker import Pending
from zvmlab.cp.control import ControlError
from zvmlab.cp.faults import Fault, armed
from zvmlab.guest.config import QEMU
from zvmlab.guest.guest import Guest

if TYPE_CHECKING:
    from conftest import Build

FILE = "/tmp/touched"
HEAD, TASK = struct.Struct(">2Q"), struct.Struct(">5Q")
ALWAYS = 1 << 62
# Interruptions; while a thread that was told of its page sleeps there are none.
MANY = 1000
CPUS = 4
# Problem state in the PSW's first half.
PROBLEM = f"{1 << 48:016x}"
pytestmark = pytest.mark.zvmlab(cpus=CPUS)


@dataclass(frozen=True)
class Task:
    """A thread of programs/pages.c, and the page that it touches."""

    tid: int
    virtual: int
    address: int
    wanted: int
    done: int


class Toucher:
    """programs/pages.c in a guest; thread i runs on CPU i modulo CPUS."""

    def __init__(self, guest: Guest, program: Build, threads: int) -> None:
        self.guest, self.control = guest, guest.control
        self.threads = threads
        guest.agent.write_file("/tmp/pages", program("pages").read_bytes(), 0o755)
        guest.agent.write_file(FILE, bytes(HEAD.size), 0o600)
        argv = ["/tmp/pages", FILE, str(threads), str(CPUS)]
        self.process = guest.agent.worker("pages").spawn(argv)
        wait_until(lambda: self._ready() != 0, "threads")
        if self._ready() != 1:
            self.process.wait(LIMIT).check()
        # While a CPU is held the guest can be asked for nothing.
        self.addresses = [task.address for task in self.tasks()]
        self.fd = guest.agent.open(FILE, os.O_WRONLY).check()

    def _ready(self) -> int:
        """0: not yet, 1: all threads run, 2: the program says what it could not have."""
        return int.from_bytes(self.guest.agent.read_file(FILE)[:8], "big")

    def tasks(self) -> list[Task]:
        data = self.guest.agent.read_file(FILE)
        return [
            Task(*TASK.unpack_from(data, HEAD.size + i * TASK.size)) for i in range(self.threads)
        ]

    def _put(self, offset: int, value: int) -> Pending[BatchResult]:
        batch = self.guest.agent.batch()
        batch.pwrite(self.fd, struct.pack(">Q", value), offset)
        return batch.start()

    def touch(self, number: int, times: int = 1, wait: bool = True) -> Pending[BatchResult]:
        """Have a thread touch its page so many times more; does not wait for that.

        Without *wait* not for the guest's answer either: the thread may hold a CPU by then.
        """
        wanted = HEAD.size + number * TASK.size + 3 * 8
        pending = self._put(wanted, self.tasks()[number].wanted + times)
        if wait:
            pending.result()
        return pending

    def touch_all(self) -> None:
        """Have all threads touch their pages all the time; one request, as no other gets through soon."""
        batch = self.guest.agent.batch()
        for number, task in enumerate(self.tasks()):
            wanted = HEAD.size + number * TASK.size + 3 * 8
            batch.pwrite(self.fd, struct.pack(">Q", task.wanted + ALWAYS), wanted)
        batch.run()

    def touched(self, number: int) -> None:
        """Wait until a thread has done that."""

        def done() -> bool:
            task = self.tasks()[number]
            return task.done == task.wanted

        wait_until(done, f"thread {number}")

    def sleeps(self, number: int) -> bool:
        """Uninterruptibly, that is."""
        stat = self.guest.agent.read_file(f"/proc/{self.tasks()[number].tid}/stat").decode()
        return stat.rpartition(")")[2].split()[0] == "D"

    def sleepers(self) -> list[int]:
        """The threads that sleep uninterruptibly, found by one request."""
        batch, stats = self.guest.agent.batch(), []
        for task in self.tasks():
            stat = batch.open(f"/proc/{task.tid}/stat")
            stats.append(batch.read(stat, 4096))
            batch.close(stat)
        found = batch.run()
        states = [found[stat].data.rpartition(b")")[2].split()[0] for stat in stats]
        return [number for number, state in enumerate(states) if state == b"D"]

    def asleep(self, number: int) -> None:
        """Wait until a thread sleeps; one that does not gets interruptions without end."""
        most = pages(self.guest)["initial"] + MANY
        what = f"thread {number} asleep"
        wait_until(lambda: self.sleeps(number) or pages(self.guest)["initial"] > most, what)
        assert self.sleeps(number), f"thread {number} does not sleep"

    def out(self, number: int, **arguments: Any) -> None:
        self.control.execute("page-out", address=self.addresses[number], **arguments)

    def come_in(self, number: int, **arguments: Any) -> int:
        found = self.control.execute("page-in", address=self.addresses[number], **arguments)
        return int(found["completed"])

    def told(self, what: str, **match: Any) -> dict[str, Any]:
        return dict(self.control.wait_event("page", LIMIT, what=what, **match).data)

    def end(self) -> None:
        """All threads end; those that sleep are woken first."""
        self.control.execute("page-thrash", faults=0, depth=0)
        for address in self.addresses:
            self.control.execute("page-in", address=address)
        self._put(8, 1).result()
        self.process.wait(LIMIT).check()


def interruptions(guest: Guest) -> list[int]:
    """How many of page faults each CPU has taken, of /proc/interrupts."""
    text = guest.agent.read_file("/proc/interrupts").decode()
    found = re.search(r"^PFL:((?: +\d+)+)", text, re.M)
    assert found is not None
    return [int(word) for word in found[1].split()]


def pages(guest: Guest) -> dict[str, Any]:
    found: dict[str, Any] = guest.control.execute("query-pages")
    return found


@pytest.fixture(autouse=True)
def _qemu_only(request: pytest.FixtureRequest, zvmlab_backend: str) -> None:
    if zvmlab_backend != QEMU and request.function is not test_an_emulator_that_cannot_says_so:
        pytest.skip("only QEMU can intercept the accesses to a page")


@pytest.mark.requirement("P1")
def test_each_cpu_establishes_the_handshake(guest: Guest) -> None:
    """Every CPU gives CP the handshake."""
    found = pages(guest)["handshakes"]
    assert [handshake["cpu"] for handshake in found] == list(range(CPUS))
    for handshake in found:
        assert (handshake["select"], handshake["compare"]) == (PROBLEM, PROBLEM)
        assert 0 < handshake["token"] < 0x2000 and handshake["token"] % 8 == 0


@pytest.mark.requirement("P2", "P3")
def test_a_task_sleeps_until_its_page_is_there(guest: Guest, program: Build) -> None:
    toucher = Toucher(guest, program, 2)
    before = interruptions(guest)
    toucher.out(1)
    toucher.touch(1)
    fault = toucher.told("initial", cpu=1)["fault"]
    # A task that does not sleep touches its page again, and gets another one.
    wait_until(lambda: toucher.sleeps(1) or pages(guest)["initial"] > 1, "thread 1 asleep")
    assert toucher.sleeps(1), "thread 1 does not sleep"
    assert toucher.tasks()[1].done == 0
    (told,) = pages(guest)["faults"]
    assert (told["fault"], told["initial"], told["completion"]) == (fault, "presented", "waits")
    assert int(told["token"], 16) & 0xFFFFFFFF == toucher.tasks()[1].tid
    assert told["address"] == toucher.addresses[1]
    # Another one on the same page's process goes on meanwhile.
    toucher.touch(0, 5)
    toucher.touched(0)
    assert toucher.sleeps(1)
    assert toucher.come_in(1, cpu=2) == 1
    assert toucher.told("completion", fault=fault)["cpu"] == 2
    toucher.touched(1)
    after = interruptions(guest)
    assert [a - b for a, b in zip(after, before)] == [0, 1, 1, 0]
    assert pages(guest)["faults"] == []
    toucher.end()


@pytest.mark.requirement("P4")
def test_completion_before_the_initial_interruption(guest: Guest, program: Build) -> None:
    """The task does not sleep then; the next fault is one like any other."""
    toucher = Toucher(guest, program, 2)
    toucher.out(1, hold=True)
    pending = toucher.touch(1, wait=False)
    fault = toucher.told("held", cpu=1)["fault"]
    assert toucher.come_in(1, cpu=3) == 1
    toucher.told("completion", fault=fault, cpu=3)
    assert pages(guest)["initial"] == 0
    guest.control.execute("page-release", fault=fault)
    toucher.told("initial", fault=fault, cpu=1)
    pending.result()
    toucher.touched(1)
    toucher.out(1)
    toucher.touch(1)
    toucher.told("initial", cpu=1)
    toucher.asleep(1)
    assert toucher.come_in(1) == 1
    toucher.touched(1)
    toucher.end()


@pytest.mark.requirement("P5")
def test_a_page_that_never_comes_stops_nobody_else(guest: Guest, program: Build) -> None:
    toucher = Toucher(guest, program, CPUS)
    toucher.out(1)
    toucher.touch(1)
    toucher.asleep(1)
    for number in (0, 2, 3):
        toucher.touch(number, 20)
        toucher.touched(number)
    # A signal does not wake it.
    toucher.process.kill()
    wait_until(lambda: not _exists(guest, toucher.tasks()[0].tid), "the others' end")
    assert toucher.sleeps(1)
    assert toucher.come_in(1) == 1
    assert toucher.process.wait(LIMIT).signal == 9


def _exists(guest: Guest, tid: int) -> bool:
    try:
        return b") Z " not in guest.agent.read_file(f"/proc/{tid}/stat")
    except FileNotFoundError:
        return False


@pytest.mark.requirement("P6")
def test_the_kernel_itself_waits_for_the_page(guest: Guest, program: Build) -> None:
    """A fetch in supervisor state is not reported: the PSW is not what the kernel asked for."""
    toucher = Toucher(guest, program, 1)
    toucher.out(0)
    task = toucher.tasks()[0]
    fd = guest.agent.open(f"/proc/{task.tid}/mem").check()
    found = guest.agent.pread(fd, 1, task.virtual)
    assert (found.check(), found.data) == (1, b"\1")
    guest.agent.close(fd).check()
    toucher.told("resolved")
    assert {name: pages(guest)[name] for name in ("pages", "initial", "resolved")} == {
        "pages": [],
        "initial": 0,
        "resolved": 1,
    }
    toucher.end()


@pytest.mark.requirement("P7")
@pytest.mark.zvmlab(command_line="nopfault")
def test_nopfault_asks_for_nothing(guest: Guest, program: Build) -> None:
    assert pages(guest)["handshakes"] == []
    toucher = Toucher(guest, program, 1)
    toucher.out(0)
    toucher.touch(0)
    toucher.touched(0)
    toucher.told("resolved", cpu=0)
    assert sum(interruptions(guest)) == 0
    toucher.end()


def _online(guest: Guest, cpu: int, online: bool) -> None:
    guest.agent.write_file(f"/sys/devices/system/cpu/cpu{cpu}/online", b"01"[online : online + 1])


@pytest.mark.requirement("P8")
def test_a_cpu_that_goes_offline_cancels(guest: Guest, program: Build) -> None:
    """Its tasks are woken, and wait again on another CPU; CP forgets what it was to tell."""
    toucher = Toucher(guest, program, 2)
    toucher.out(1)
    toucher.touch(1)
    first = toucher.told("initial", cpu=1)["fault"]
    toucher.asleep(1)
    _online(guest, 1, False)
    assert [handshake["cpu"] for handshake in pages(guest)["handshakes"]] == [0, 2, 3]
    second = toucher.told("initial", cpu=(0, 2, 3))["fault"]
    assert second != first
    toucher.asleep(1)
    assert [fault["fault"] for fault in pages(guest)["faults"]] == [second]
    assert toucher.come_in(1) == 1
    toucher.touched(1)
    _online(guest, 1, True)
    assert len(pages(guest)["handshakes"]) == CPUS
    toucher.end()


def _lost(guest: Guest, program: Build, toucher: Toucher) -> None:
    del program
    with armed(guest.control, Fault("page.completion", "drop")):
        assert toucher.come_in(1) == 1
    assert pages(guest)["faults"] == []
    # Nobody will ever wake it but a CPU that goes: the kernel wakes all that wait then.
    assert toucher.sleeps(1)
    _online(guest, 3, False)
    toucher.touched(1)
    _online(guest, 3, True)


def _twice(guest: Guest, program: Build, toucher: Toucher) -> None:
    del program
    with armed(guest.control, Fault("page.completion", "duplicate")):
        assert toucher.come_in(1) == 1
    toucher.touched(1)
    wait_until(lambda: bool(pages(guest)["completion"] == 2), "both")


def _of_nobody(guest: Guest, program: Build, toucher: Toucher) -> None:
    del program
    # The token's low half is a process id; none is so high.
    with armed(guest.control, Fault("page.completion", "corrupt", value=0x40, offset=4)):
        assert toucher.come_in(1) == 1
    wait_until(lambda: bool(pages(guest)["completion"] == 1), "it")
    assert toucher.sleeps(1)
    _online(guest, 3, False)
    toucher.touched(1)
    _online(guest, 3, True)


@pytest.mark.requirement("P9")
@pytest.mark.parametrize("damage", [_lost, _twice, _of_nobody], ids=["lost", "twice", "of-nobody"])
def test_a_completion_that_is_wrong(
    guest: Guest, program: Build, damage: Callable[[Guest, Build, Toucher], None]
) -> None:
    toucher = Toucher(guest, program, 2)
    toucher.out(1)
    toucher.touch(1)
    toucher.told("initial", cpu=1)
    toucher.asleep(1)
    damage(guest, program, toucher)
    # After that, a fault is one like any other.
    toucher.out(1)
    toucher.touch(1)
    wait_until(lambda: bool(pages(guest)["faults"]) or not pages(guest)["pages"], "the fault")
    toucher.come_in(1)
    toucher.touched(1)
    toucher.end()


def _many(guest: Guest, program: Build, faults: int) -> None:
    threads = 64
    # Where stacks are as large as KASAN has them, Linux allows about that many, with its own.
    guest.agent.write_file("/proc/sys/kernel/threads-max", b"1000")
    toucher = Toucher(guest, program, threads)
    before = interruptions(guest)
    for number in range(threads):
        toucher.out(number)
    guest.control.execute("page-thrash", faults=faults, depth=24)
    toucher.touch_all()
    deadline = fair(300 + faults / 100)
    while pages(guest)["turns"] > 0:
        assert not deadline.over, pages(guest)["turns"]
        time.sleep(0.2)
    wait_until(lambda: not pages(guest)["faults"], "all told")
    found = pages(guest)
    assert (found["initial"] >= faults, found["completion"] > 0) == (True, True)
    assert found["pages"] == []
    done = [task.done for task in toucher.tasks()]
    # All go on; none is left asleep.
    wait_until(
        lambda: all(task.done > old for task, old in zip(toucher.tasks(), done, strict=True)),
        "all tasks",
    )
    assert toucher.sleepers() == []
    taken = [a - b for a, b in zip(interruptions(guest), before)]
    assert sum(taken) == found["initial"] + found["completion"]
    # Every CPU has met pages, and been told that others were there.
    assert min(taken) > 0
    toucher.end()


@pytest.mark.requirement("P10")
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    "count",
    [100, *(pytest.param(count, marks=pytest.mark.full) for count in (300, 3000, 100_000))],
)
def test_many_faults_leave_no_task_asleep(guest: Guest, program: Build, count: int) -> None:
    _many(guest, program, count)


@pytest.mark.requirement("P11")
@pytest.mark.zvmlab(cold=True)
@pytest.mark.parametrize("kind, value", [("rc", 4), ("pgm", 1), ("pgm", 6), ("drop", 0)])
def test_cp_that_refuses_the_handshake(
    paused_guest: Guest, program: Build, kind: str, value: int
) -> None:
    """The kernel goes on without it, or believes that it has it; CP brings pages in at once."""
    guest = paused_guest
    with armed(guest.control, Fault("diag258.token", kind, value)):
        guest.boot()
    assert pages(guest)["handshakes"] == []
    toucher = Toucher(guest, program, 1)
    toucher.out(0)
    toucher.touch(0)
    toucher.touched(0)
    assert (pages(guest)["resolved"], sum(interruptions(guest))) == (1, 0)
    toucher.end()


@pytest.mark.requirement("P12")
@pytest.mark.representative
def test_an_emulator_that_cannot_says_so(guest: Guest) -> None:
    """QEMU pages a page out; another emulator says that it cannot."""
    if guest.config.backend == QEMU:
        guest.control.execute("page-out", address=0)
        assert guest.control.execute("page-in", address=0) == {"completed": 0}
        return
    with pytest.raises(ControlError, match="this emulator cannot intercept the guest's accesses"):
        guest.control.execute("page-out", address=0)
