# SPDX-License-Identifier: MIT
"""Instructions that system calls take, in a guest whose clock counts them.

    worker = CountingWorker(agent.worker("reader"), note)    # note("read", 21437)

The guest's clock is read in the agent, right before and after the calls of a batch.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable

from zvmlab.agent.calls import BatchResult, CallResult, Operation, Out, Ref, decode_results
from zvmlab.agent.wire import Call, Reader, Request
from zvmlab.agent.worker import DEFAULT_SECONDS, Batch, Pending, Worker, limit_ms

Note = Callable[[str, int], None]
_TIMESPEC = ">qq"
_NS = 10**9


class CountingWorker(Worker):
    """The same worker, which notes what its calls take."""

    def __init__(self, worker: Worker, note: Note) -> None:
        super().__init__(worker.channel, worker.number, worker.timeout)
        self.is_kept = worker.is_kept
        self._note = note

    def operation(self, operation: Operation) -> CallResult:
        batch = self.batch()
        done = batch.operation(operation)
        return batch.run(self.timeout + operation.seconds)[done]

    def batch(self) -> Batch:
        return _CountingBatch(self, self._note)


class _CountingBatch(Batch):
    def __init__(self, worker: Worker, note: Note) -> None:
        super().__init__(worker)
        self._note = note
        self._read_clock()

    def _read_clock(self) -> None:
        size = struct.calcsize(_TIMESPEC)
        self.call(Call.CLOCK_GETTIME, time.CLOCK_MONOTONIC, Out(size, whole=True))

    def start(
        self, timeout: float = DEFAULT_SECONDS, stop: bool = False, collected: bool = False
    ) -> Pending[BatchResult]:
        self._read_clock()
        begun = list(self.noted)
        what = "+".join(dict.fromkeys(operation.what for operation in begun[1:-1]))

        def decode(reader: Reader) -> BatchResult:
            result = decode_results(reader, begun, stop)
            if len(result) == len(begun):
                self._note(what, _ns(result[-1]) - _ns(result[0]))
            return _Inner(result, len(begun))

        payload = self.payload(limit_ms(timeout), stop)
        named = f"a batch with {what}"
        return self._worker.start(Request.BATCH, payload, named, timeout, decode, collected)


class _Inner(BatchResult):
    """The results without those of the clock; a reference counts that one as the first."""

    def __init__(self, result: BatchResult, begun: int) -> None:
        super().__init__(result.results[1 : begun - 1], result.timed_out)
        self._all = result

    def __getitem__(self, index: int | Ref) -> CallResult:
        return self._all[index] if isinstance(index, Ref) else self.results[index]


def _ns(clock: CallResult) -> int:
    clock.check()
    seconds, nanoseconds = struct.unpack(_TIMESPEC, clock.data)
    return int(seconds) * _NS + int(nanoseconds)
