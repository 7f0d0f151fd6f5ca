# SPDX-License-Identifier: MIT
"""What each test in a guest pays: a start, a put-back, a warm guest lent and returned, requests.

CPU time is that of harness and emulator together, but of a put-back, which is the emulator's.  The
least of several counts: what else the machine does only adds to it.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmark import Benchmark, Budget, Pairs
from pairs import emulator_seconds
from zvmlab.agent.wire import Call
from zvmlab.base.progress import Progress
from zvmlab.guest.artifacts import prepare
from zvmlab.guest.config import Artifacts, GuestConfig
from zvmlab.guest.guest import Guest
from zvmlab.guest.pool import Pool

TIMES = 10
REQUESTS = 500
_MS = 1e3


def _least(work: Callable[[], float], times: int) -> float:
    """The least of so many values, in milliseconds."""
    return min(work() for _ in range(times)) * _MS


def _elapsed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def _emulators(guest: Guest, work: Callable[[], object]) -> float:
    """CPU seconds of the emulator alone."""
    before = emulator_seconds(guest.emulator)
    work()
    return emulator_seconds(guest.emulator) - before


def _all(guest: Guest, work: Callable[[], object]) -> float:
    """CPU seconds of emulator and harness."""
    own = time.process_time()
    return _emulators(guest, work) + time.process_time() - own


def _start(config: GuestConfig, artifacts: Artifacts) -> float:
    """CPU seconds of a guest that is restored and answers, until it ends."""
    own = time.process_time()
    with Guest(config, artifacts=artifacts) as guest:
        guest.boot()
        spent = emulator_seconds(guest.emulator)
    return spent + time.process_time() - own


def _benchmarks() -> Pairs:
    return Pairs(
        Benchmark("start", "a restored start, CPU time", "ms"),
        Benchmark("put-back", "a guest put back, CPU time of the emulator", "ms"),
        Benchmark("put-back-ratio", "put back ÷ restored start", "ratio", Budget(1 / 15, True)),
        Benchmark("warm", "an empty test with a warm guest, CPU time", "ms"),
        Benchmark("warm-ratio", "empty test ÷ restored start", "ratio", Budget(1 / 15, True)),
        Benchmark("control", "a control request, elapsed time", "ms"),
        Benchmark("agent", "a request to the agent, elapsed time", "ms"),
        Benchmark("agent-ratio", "agent ÷ control request", "ratio", Budget(7, True)),
    )


def measure(config: GuestConfig, pairs: int, progress: Progress) -> list[Benchmark]:
    """One guest for requests and put-backs, another one in a pool."""
    artifacts = prepare(config, progress)
    with (
        tempfile.TemporaryDirectory(prefix="zvmlab-bench-") as folder,
        Guest(config, artifacts=artifacts) as guest,
    ):
        guest.boot()
        pool = Pool(lambda _: Path(tempfile.mkdtemp(dir=folder)), artifacts=artifacts)
        warm = pool.get(config)
        pool.put_back(warm)

        def pair(_: bool) -> dict[str, float]:
            start = _least(lambda: _start(config, artifacts), TIMES)
            back = _least(lambda: _emulators(guest, guest.put_back), TIMES)
            lent = _least(
                lambda: _all(warm, lambda: pool.put_back(pool.get(config), soon=True)), TIMES
            )
            control = _least(
                lambda: _elapsed(lambda: guest.control.execute("query-monitor")), REQUESTS
            )
            agent = _least(lambda: _elapsed(lambda: guest.agent.call(Call.GETPID)), REQUESTS)
            return {
                "start": start,
                "put-back": back,
                "put-back-ratio": back / start,
                "warm": lent,
                "warm-ratio": lent / start,
                "control": control,
                "agent": agent,
                "agent-ratio": agent / control,
            }

        try:
            return _benchmarks().repeat(pairs, pair)
        finally:
            pool.stop()
