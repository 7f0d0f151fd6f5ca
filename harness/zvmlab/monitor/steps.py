# SPDX-License-Identifier: MIT
"""Steps of scenarios for a monreader, beyond `zvmlab.monitor.monitor`.

    log = Log(guest.agent)
    with open_device(guest.agent, os.O_NONBLOCK) as fd:
        deliver_many(guest.control, 3)
        assert [end.errno for end in drain(guest.agent, fd)] == [0, 0, 0]
        assert monitor_user(guest.control)["replied"] == 3
    assert log.texts() == []
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from zvmlab.agent.agent import Agent, Worker
from zvmlab.agent.calls import CallResult
from zvmlab.base.errors import Timeout, ZvmlabError
from zvmlab.base.limit import Limit
from zvmlab.cp.control import Control
from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import Element, Record
from zvmlab.monitor.monitor import DEVICE, Delivery, deliver

SERVICE = "*MONITOR"
# System-call numbers of s390x, as /proc/PID/syscall shows them.
READ, POLL, OPENAT = 3, 168, 288
SLEEP_SECONDS = 60.0
_MOST_SETS = 600


class Log:
    """A module's messages in the kernel's log from now on."""

    def __init__(self, agent: Agent, module: str = "monreader") -> None:
        self._agent = agent
        self._prefix = f"{module}: "
        self._since = agent.log_position()

    def texts(self) -> list[str]:
        """Its lines so far, without the module's name in front."""
        lines = [line.text for line in self._agent.dmesg(self._since)]
        return [text.removeprefix(self._prefix) for text in lines if text.startswith(self._prefix)]


@dataclass(frozen=True)
class Ended:
    """The bytes read up to an end: a 0-byte read (errno 0) or an error."""

    stream: bytes
    errno: int


def ended(result: CallResult) -> Ended:
    """Evaluate one read_until; Timeout if it ended without an end."""
    reads = result.reads
    if not reads or (reads[-1].ret > 0):
        raise Timeout(f"no end within {len(reads)} reads of {len(result.data)} bytes")
    return Ended(b"".join(read.data for read in reads), reads[-1].errno)


def drain(worker: Worker, fd: int, size: int = 4096) -> list[Ended]:
    """Everything that a descriptor with O_NONBLOCK has to give now, up to EAGAIN.

    One round trip.  What comes after more than 600 sets and errors is not looked for.
    """
    batch = worker.batch()
    for _ in range(_MOST_SETS):
        batch.read_until(fd, size)
    found: list[Ended] = []
    for result in batch.run():
        end = ended(result)
        if end.errno == errno.EAGAIN:
            if end.stream:
                raise ZvmlabError(f"EAGAIN after {len(end.stream)} bytes of a data set")
            return found
        found.append(end)
    raise Timeout(f"there was still something to read after {len(found)} sets and errors")


@contextlib.contextmanager
def open_device(worker: Worker, flags: int = 0) -> Iterator[int]:
    """/dev/monreader, open for reading within the block."""
    fd = worker.open(DEVICE, os.O_RDONLY | flags).check()
    try:
        yield fd
    except BaseException:
        # Whatever went wrong is the news, not that closing fails as well.
        with contextlib.suppress(ZvmlabError, OSError):
            worker.close(fd)
        raise
    worker.close(fd).check()


def small(number: int) -> Element:
    """A set of one element with one record of 84 bytes, told apart by its number."""
    return Element.of([Record(4, 3, number, bytes([number & 0xFF]) * 64)])


def deliver_many(control: Control, count: int, kind: str = "sample") -> list[Delivery]:
    """Have CP deliver so many small sets."""
    return [deliver(control, kind, small(number)) for number in range(count)]


def monitor_user(control: Control) -> Mapping[str, Any]:
    """CP's view of the only user of *MONITOR; ZvmlabError if there is not exactly one."""
    users = control.execute("query-monitor")["users"]
    if len(users) != 1:
        raise ZvmlabError(f"{len(users)} users are connected to *MONITOR, not one")
    user: Mapping[str, Any] = users[0]
    return user


def service_paths(guest: Guest, service: str = SERVICE) -> list[Mapping[str, Any]]:
    """The guest's paths to a service, in any state."""
    answer = guest.control.execute("query-paths", user=guest.control.execute("query-cp")["userid"])
    return [path for path in answer["paths"] if path["partner"] == service]


def settle(guest: Guest) -> None:
    """Wait until the guest has dealt with all interruptions that CP has queued so far.

    The agent's request comes as one, too, and is dealt with after those before it.
    """
    guest.agent.log_position()


def thread_of(worker: Worker) -> str:
    """The folder in /proc of the thread that executes a worker's requests."""
    return f"/proc/{worker.read_word('/proc/thread-self/stat', 0)}"


def task_state(worker: Worker, folder: str) -> str:
    """The state of a thread by its folder in /proc, as in proc(5); "" if it is gone."""
    return worker.read_text(f"{folder}/stat").rpartition(")")[2].strip()[:1]


def await_sleep(agent: Agent, folder: str, call: int, timeout: float = SLEEP_SECONDS) -> str:
    """Wait until the thread with that folder in /proc sleeps in system call *call*.

    Return: its state, S (can be interrupted) or D (cannot).
    """
    limit = Limit(timeout)
    while True:
        now = agent.read_word(f"{folder}/syscall", 0)
        state = task_state(agent, folder)
        if now == str(call) and state in ("S", "D"):
            return state
        if limit.over:
            raise Timeout(
                f"{folder} did not sleep in system call {call} within {limit}:"
                f" it is in {now}, state {state}"
            )
