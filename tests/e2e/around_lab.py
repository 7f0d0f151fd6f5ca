# SPDX-License-Identifier: MIT
"""Open files of z/VM's drivers, and programs/around.c, which hands them to other parts of the kernel.

Of a Sleeper, a read sleeps until the test wakes it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pytest
from test_af_iucv_sockets import pair
from test_hvc_iucv import Tty
from vmlogrdr_lab import LOGREC, framed
from waiting import wait_until

from zvmlab.agent.results import RunResult
from zvmlab.agent.worker import Process
from zvmlab.cp import recording
from zvmlab.cp.hvciucv import IucvTerminal
from zvmlab.cp.peer import Peer
from zvmlab.guest.config import OUR_DRIVER, UPSTREAM_DRIVER, GuestConfig
from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import MCE_SIZE
from zvmlab.monitor.monitor import DEVICE, Capture, DataSets, deliver
from zvmlab.monitor.steps import small, task_state

USER = "LINUX001"
PROGRAM, PID_FILE = "/tmp/around", "/tmp/around.pid"
CGROUP = "/tmp/cgroup"
MIB = 1 << 20
CPU1 = "/sys/devices/system/cpu/cpu1/online"
# linux/io_uring.h.
POLL_ADD, ACCEPT, READ, WRITE, SEND, RECV = 6, 13, 22, 23, 26, 27
DIRECTORY = (
    "IUCV ALLOW;IUCV ANY;IUCV *MSG;IUCV *MONITOR;NAMESAVE MONDCSS;OPTION APPLMON;"
    "IUCV *LOGREC;IUCV *ACCOUNT;IUCV *SYMPTOM;"
    "SPOOL 00C 2540 READER *;SPOOL 00D 2540 PUNCH A"
)
SEGMENTS = ("MONDCSS 9000-97FF SC RSTD", "DISK 10000-107FF EW")
DISK_SIZE = 8 * MIB


def lab_config(kernel: str, driver: str = UPSTREAM_DRIVER) -> GuestConfig:
    """A guest with two CPUs that has all of the drivers."""
    return GuestConfig(
        kernel=kernel,
        driver=driver,
        cpus=2,
        segments=SEGMENTS,
        cp={"directory": DIRECTORY, "class": "BEG"},
        modules=("monwriter", "vmlogrdr", "vmur", "dcssblk"),
        command_line="hvc_iucv=1",
    )


class Answer(NamedTuple):
    """What a call of the program returned."""

    ret: int
    errno: int
    data: bytes


def answer(done: RunResult) -> Answer:
    """From its output; skips the test if the kernel lacks the part in question."""
    said = done.stderr.decode()
    if "io_uring_setup: Function not implemented" in said:
        pytest.skip("this kernel has no io_uring")
    words = done.check().stdout.decode().split(" ")
    return Answer(int(words[0]), int(words[1]), bytes.fromhex(words[2]))


def run(guest: Guest, fd: int, *words: object, stdin: bytes = b"") -> Answer:
    """One call that does not sleep."""
    argv = [PROGRAM, *map(str, (fd, *words))]
    return answer(guest.agent.run(argv, stdin=stdin, inherit=True))


def _exists(guest: Guest, path: str) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return guest.agent.read_file(path) != b""
    return False


class Running:
    """The program, which sleeps; its number in /tmp/around.pid."""

    def __init__(self, guest: Guest, fd: int | str, *words: object, **environment: str) -> None:
        self._guest = guest
        # It may be left from before.
        guest.agent.unlink(PID_FILE)
        argv = [PROGRAM, *map(str, (fd, *words))]
        worker = guest.agent.worker(f"around {words[0]}")
        self.process: Process = worker.spawn(argv, environment, inherit=True)
        wait_until(lambda: _exists(guest, PID_FILE), f"{' '.join(argv)} runs")
        self.pid = int(guest.agent.read_file(PID_FILE))

    @property
    def folder(self) -> str:
        """Its folder in /proc."""
        return f"/proc/{self.pid}"

    def signal(self, number: signal.Signals, state: str = "") -> None:
        """Send it a signal, and wait until it is in that state."""
        self.process.signal(number)
        if state:
            self.await_state(state)

    def await_state(self, state: str) -> None:
        """Wait until it is in one of these states (proc(5))."""
        wait_until(
            lambda: task_state(self._guest.agent, self.folder) in state,
            f"process {self.pid} is in state {state}",
            lambda: task_state(self._guest.agent, self.folder),
        )

    def answer(self) -> Answer:
        """What its call returned."""
        return answer(self.process.wait())

    def kill(self) -> None:
        """End it by SIGKILL."""
        self.process.kill()
        assert self.process.wait().signal == signal.SIGKILL


@dataclass
class Sleeper:
    """An open file, and what ends the sleep of who reads it."""

    guest: Guest
    fd: int
    size: int
    wake: Callable[[], bytes]
    """Have something come; what a read of *size* bytes gives then."""
    opens: Callable[[], int] | None = None
    """If only one may have the file open: errno of another open."""
    rest: Callable[[], None] = field(default=lambda: None)
    """Read what has come beyond these bytes."""
    close: Callable[[], None] = field(default=lambda: None)

    def woken(self) -> Answer:
        """Have something come; what a read returns for it."""
        data = self.wake()
        assert len(data) == self.size
        return Answer(self.size, 0, data)


def open_errno(guest: Guest, path: str, flags: int = os.O_RDONLY) -> int:
    """errno of an open; 0: it works, and the file is closed."""
    found = guest.agent.open(path, flags)
    if found.errno == 0:
        guest.agent.close(found.ret).check()
    return found.errno


@contextlib.contextmanager
def monreader_sleeper(guest: Guest, folder: Path) -> Iterator[Sleeper]:
    """Sleeps until CP delivers a set, and gives its control element."""
    agent = guest.agent
    agent.modprobe("monreader").check()
    with Capture(guest.control, folder / "sets") as capture, DataSets(agent) as reader:
        wanted: list[bytes] = []

        def wake() -> bytes:
            deliver(guest.control, "sample", small(1))
            wanted.append(capture.next().stream)
            return wanted[0][:MCE_SIZE]

        def rest() -> None:
            if not wanted:
                return
            (stream,) = wanted
            wanted.clear()
            found = b""
            while part := agent.read(reader.fd, len(stream)).data:
                found += part
            assert found == stream[MCE_SIZE:]

        yield Sleeper(
            *(guest, reader.fd, MCE_SIZE, wake, lambda: open_errno(guest, DEVICE), rest),
            reader.close,
        )
    agent.rmmod("monreader").check()


@contextlib.contextmanager
def logrec_sleeper(guest: Guest, _: Path) -> Iterator[Sleeper]:
    """Sleeps until CP makes a record."""
    agent = guest.agent
    agent.modprobe("vmlogrdr").check()
    record = b"something broke"
    fds = [agent.open(LOGREC.path).check()]

    def close() -> None:
        while fds:
            agent.close(fds.pop()).check()

    def wake() -> bytes:
        recording.make(guest.control, LOGREC.service, record)
        return framed(record)

    try:
        yield Sleeper(
            *(guest, fds[0], len(framed(record)), wake, lambda: open_errno(guest, LOGREC.path)),
            close=close,
        )
    finally:
        close()
    agent.rmmod("vmlogrdr").check()


@contextlib.contextmanager
def terminal_sleeper(guest: Guest, _: Path) -> Iterator[Sleeper]:
    """Sleeps until somebody types at a terminal of hvc_iucv: the first, which is never hung up."""
    with (
        Peer(guest.control, "TYPIST") as peer,
        Tty(guest.agent.worker("tty"), 0) as tty,
        IucvTerminal(peer, USER, "lnxhvc0") as end,
    ):

        def wake() -> bytes:
            end.send(b"typed")
            return b"typed"

        yield Sleeper(guest, tty.fd, 5, wake, close=tty.close)


@contextlib.contextmanager
def socket_sleeper(guest: Guest, _: Path) -> Iterator[Sleeper]:
    """Sleeps until the other socket sends."""
    with pair(guest.agent) as (client, accepted):

        def wake() -> bytes:
            client.send(b"sent")
            return b"sent"

        yield Sleeper(guest, accepted.fd, 4, wake, close=accepted.close)


SLEEPERS = {
    "monreader": (UPSTREAM_DRIVER, monreader_sleeper),
    "own_monreader": (OUR_DRIVER, monreader_sleeper),
    "vmlogrdr": (UPSTREAM_DRIVER, logrec_sleeper),
    "hvc_iucv": (UPSTREAM_DRIVER, terminal_sleeper),
    "af_iucv": (UPSTREAM_DRIVER, socket_sleeper),
}


@contextlib.contextmanager
def cgroup(guest: Guest, **values: str) -> Iterator[str]:
    """A cgroup with these values, underscores for points; skips the test if the kernel has none."""
    agent = guest.agent
    agent.mkdir(CGROUP).check()
    mounted = agent.mount("none", CGROUP, "cgroup2")
    if mounted.errno == errno.ENODEV:
        agent.rmdir(CGROUP).check()
        pytest.skip("this kernel has no cgroups")
    mounted.check()
    folder = f"{CGROUP}/some"
    try:
        agent.write_file(f"{CGROUP}/cgroup.subtree_control", b"+memory")
        agent.mkdir(folder).check()
        for name, value in values.items():
            agent.write_file(f"{folder}/{name.replace('_', '.', 1)}", value.encode())
        yield folder
        wait_until(lambda: agent.rmdir(folder).errno == 0, f"nobody is left in {folder}")
    finally:
        agent.umount(CGROUP).check()
        agent.rmdir(CGROUP).check()


def freeze(guest: Guest, folder: str, frozen: bool) -> None:
    """Freeze or thaw a cgroup, and wait until it is."""
    agent = guest.agent
    agent.write_file(f"{folder}/cgroup.freeze", b"1" if frozen else b"0")
    word = f"frozen {int(frozen)}\n".encode()
    wait_until(lambda: word in agent.read_file(f"{folder}/cgroup.events"), f"{folder} is {word!r}")


def set_cpu1(guest: Guest, online: bool) -> None:
    """Switch the second CPU on or off."""
    guest.agent.write_file(CPU1, b"1" if online else b"0")
    assert guest.agent.read_file(CPU1) == (b"1\n" if online else b"0\n")
