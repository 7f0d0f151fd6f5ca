# SPDX-License-Identifier: MIT
"""Requests to the agent in the guest.

    agent.run(["/bin/true"]).check()
    fd = agent.open("/dev/monreader").check()
    batch = agent.worker("reader").batch()      # may sleep while others are served
    data = batch.read(fd, 4096)
    pending = batch.start(timeout=10)
    ...
    print(pending.result()[data].data)

`zvmlab.agent.worker` has the requests, `zvmlab.agent.calls` the system calls.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Callable, Sequence

from zvmlab.agent.calls import AT_FDCWD, Out, path_bytes
from zvmlab.agent.channel import Channel, Stream
from zvmlab.agent.results import AgentInfo, decode_info
from zvmlab.agent.wire import (
    VERSION,
    WORKERS,
    AgentError,
    AgentLost,
    Call,
    Power,
    PowerFlag,
    Request,
    Writer,
)
from zvmlab.agent.worker import DEFAULT_SECONDS, Batch, Pending, Process, Worker
from zvmlab.base.errors import UsageError

# struct statx (statx(2)): stx_mode and stx_size of its 256 bytes; what is asked for.
_STATX_LAYOUT, _STATX_SIZE = "28xH10xQ208x", 256
_STATX_MASK = 0x1 | 0x200  # STATX_TYPE, STATX_SIZE
USER = "ZVMLAB"
NAME = "AGENT"
"""User ID and application name that the agent connects to."""
_LOOKER = WORKERS - 1
_ALL_FLAGS = PowerFlag.PANIC_ON_WARN | PowerFlag.PANIC_ON_OOPS


class Agent(Worker):
    """The agent of one guest; itself its worker number 0.

    *info* is what it has said of itself already; otherwise it is asked.  *check_runs* raises Timeout
    if its guest stands still; *starved* is the channel's.
    """

    def __init__(
        self,
        stream: Stream,
        timeout: float = DEFAULT_SECONDS,
        info: AgentInfo | None = None,
        check_runs: Callable[[], None] = lambda: None,
        starved: Callable[[], float] = lambda: 0.0,
    ) -> None:
        super().__init__(Channel(stream, check_runs, starved), 0, timeout)
        self._workers: dict[str, Worker] = {}
        self.info = info or self.hello()
        if self.info.version != VERSION:
            raise UsageError(
                f"the guest's agent has protocol version {self.info.version}, not {VERSION};"
                " build the image anew"
            )

    def hello(self) -> AgentInfo:
        """Ask the agent what it is; it answers while all workers sleep."""
        return decode_info(self.ask(Request.HELLO, b"", "HELLO"))

    def worker(self, name: str) -> Worker:
        """The worker of that name; there are 15 beside the agent itself."""
        if name not in self._workers:
            number = len(self._workers) + 1
            if number == _LOOKER:
                raise UsageError(f"the agent has no more than {_LOOKER - 1} workers")
            self._workers[name] = Worker(self.channel, number, self.timeout)
        return self._workers[name]

    def looker(self, timeout: float) -> Worker:
        """The worker that looks at the guest, whatever all others do; nobody else has it."""
        return Worker(self.channel, _LOOKER, timeout)

    def pack(self, layout: str, *values: int | bytes) -> bytes:
        """struct.pack in the guest's byte order, without padding."""
        return struct.pack((">" if self.info.byteorder == "big" else "<") + layout, *values)

    def unpack(self, layout: str, data: bytes) -> tuple[int, ...]:
        """struct.unpack in the guest's byte order, without padding."""
        return struct.unpack((">" if self.info.byteorder == "big" else "<") + layout, data)

    def size_of_file(self, path: str) -> int | None:
        """Bytes of a regular file; None if it is something else, which need not have an end."""
        asked = (AT_FDCWD, path_bytes(path), 0, _STATX_MASK, Out(_STATX_SIZE, whole=True))
        found = self.call(Call.STATX, *asked)
        if found.errno:
            raise OSError(found.errno, os.strerror(found.errno), path)
        mode, size = self.unpack(_STATX_LAYOUT, found.data)
        return size if stat.S_ISREG(mode) else None

    def keep_on(self, worker: Worker, *cpus: int) -> None:
        """Let that thread, and the programs that it starts, run on these CPUs (below 64) only."""
        self._set_affinity(worker, 0, cpus)
        worker.is_kept = True

    def answer_on(self, *cpus: int) -> None:
        """The same for the agent's main thread, which hands requests over and starts all others.

        Also for the one that looks at the guest, and for worker number 0, unless it has been kept
        elsewhere.
        """
        self._set_affinity(self, self.info.pid, cpus)
        self._set_affinity(self.looker(self.timeout), 0, cpus)
        if not self.is_kept:
            self._set_affinity(self, 0, cpus)

    def _set_affinity(self, worker: Worker, thread: int, cpus: Sequence[int]) -> None:
        mask = self.pack("Q", sum(1 << cpu for cpu in cpus))
        worker.call(Call.SCHED_SETAFFINITY, thread, len(mask), mask).check()

    def power(self, what: Power, flags: int = _ALL_FLAGS, patience: float = 0.0) -> None:
        """Stop or restart the machine; the connection ends.

        *flags* say what makes the kernel panic then (PowerFlag), for nobody can ask it any more.
        *patience* is how long the agent may take to end the connection by itself.
        """
        request = Writer().u8(what).u8(flags).payload()
        try:
            self.ask(Request.POWER, request, f"power {what.name.lower()}")
        except AgentLost:
            pass  # It was quicker than its reply.
        self.channel.await_end(patience)
        self.close_connection()

    def poweroff(self) -> None:
        """Turn the machine off."""
        self.power(Power.OFF)

    def reboot(self) -> None:
        """Restart the machine."""
        self.power(Power.REBOOT)

    def close_connection(self) -> None:
        """End the connection; the agent waits for another one."""
        self.channel.close()


__all__ = [
    "Agent",
    "AgentError",
    "AgentLost",
    "Batch",
    "Pending",
    "Power",
    "PowerFlag",
    "Process",
    "Worker",
]
