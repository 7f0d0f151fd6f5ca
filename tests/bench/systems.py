# SPDX-License-Identifier: MIT
"""Guests of a system beside a guest that is alone: AF_IUCV messages, round trips, starts.

The guest alone has its program talk to itself, and to a peer in Python.  All guests have one CPU, and work
in turn.  Time is elapsed time of the guests' own clocks, since several processes share the work.
"""

from __future__ import annotations

import functools
import struct
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from benchmark import Benchmark, Budget, Pairs, both
from guest_program import guest_program, number
from program import rows
from zvmlab.base.errors import ZvmlabError
from zvmlab.base.progress import Progress
from zvmlab.cp.afiucv import AfIucvListener
from zvmlab.cp.peer import Peer
from zvmlab.guest.artifacts import prepare
from zvmlab.guest.config import Artifacts, GuestConfig
from zvmlab.guest.guest import Guest
from zvmlab.guest.system import System, program

PROGRAM = "/bin/iucv_pace"
_PEER = "PACER"
_NAME = "PACE"
# struct plan of tests/e2e/programs/iucv_pace.c, in the guest's byte order.
_PLAN = struct.Struct(">III")
MESSAGES = {100: 3000, 16_000: 1000}
TRIPS = 1000
# Where a peer is much slower, so many are enough.
PEER_MESSAGES = 500
USERS = ("ALICE", "BOB", "CAROL")
CORE_SECONDS = 0.5
_CORE_TIMEOUT = 60.0
_LIMIT = 300.0
_NS = 1e9


def _benchmarks() -> Pairs:
    found = []
    for size in MESSAGES:
        of = f"AF_IUCV, messages of {size:,} bytes"
        found += [
            Benchmark(f"alone-{size}", f"{of}: a guest with itself", "1/s"),
            Benchmark(f"two-{size}", f"{of}: guest to guest", "1/s"),
            Benchmark(
                f"ratio-{size}", f"{of}: the latter ÷ the former", "ratio", Budget(0.8, False)
            ),
        ]
    return Pairs(
        *found,
        Benchmark("peer", "AF_IUCV, messages of 100 bytes: a guest to a peer", "1/s"),
        Benchmark("ratio-peer", "the same: guest to guest ÷ to a peer", "ratio", Budget(3, False)),
        Benchmark("trip-alone", "AF_IUCV, 100 bytes and back: a guest with itself", "µs"),
        Benchmark("trip-two", "AF_IUCV, 100 bytes and back: guest to guest", "µs"),
        Benchmark("ratio-trip", "the same: the latter ÷ the former", "ratio", Budget(2.5, True)),
        Benchmark(
            "core", "core: two machines of one system", "round trips/s", Budget(1.5e6, False)
        ),
        Benchmark("start-one", "a guest alone to its first reply", "s"),
        Benchmark(
            "start-three",
            "a saved system of three to the last one's first reply",
            "s",
            Budget(0.3, True),
        ),
        Benchmark("ratio-start", "the latter ÷ the former", "ratio", Budget(4, True)),
        Benchmark("start-each", "three members, each from the checkpoint of a guest alone", "s"),
        Benchmark("back-three", "a system of three put back, to the last one's first reply", "s"),
    )


def _served(guest: Guest) -> None:
    """Its server is there; it ends with the guest."""
    guest.agent.spawn([PROGRAM, "serve"])


def _rate(guest: Guest, user: str, size: int, count: int) -> float:
    return count * _NS / number(guest, PROGRAM, "send", user, str(count), str(size))


def _trip(guest: Guest, user: str) -> float:
    return number(guest, PROGRAM, "echo", user, str(TRIPS), "100") / TRIPS / 1000


def _serve_peer(listener: AfIucvListener) -> None:
    """As the program does it, for one connection."""
    with listener.accept(_LIMIT) as stream:
        count, size, _ = _PLAN.unpack(stream.recv(_LIMIT))
        for _ in range(count):
            if len(stream.recv(_LIMIT)) != size:
                raise ZvmlabError("a message of another length has come")
        stream.send(b"x", _LIMIT)
        # A sever would end what has not been received yet.
        stream.shut_down(_LIMIT)
        stream.recv(_LIMIT)


def _peer_rate(guest: Guest) -> float:
    with Peer(guest.control, _PEER, stream=True) as peer:
        server = threading.Thread(target=_serve_peer, args=(AfIucvListener(peer, _NAME),))
        server.start()
        try:
            return _rate(guest, _PEER, 100, PEER_MESSAGES)
        finally:
            server.join(_LIMIT)


def _start_alone(config: GuestConfig, artifacts: Artifacts) -> float:
    with Guest(config, artifacts=artifacts) as guest:
        guest.configure()
        begun = time.monotonic()
        guest.boot()
        return time.monotonic() - begun


def _start_each(config: GuestConfig, artifacts: Artifacts) -> float:
    with System() as system:
        begun = time.monotonic()
        _boot(system, config, artifacts, USERS)
        return time.monotonic() - begun


def _start_saved(config: GuestConfig, artifacts: Artifacts) -> tuple[float, float]:
    """Seconds for a start, and for the way back there."""
    with System() as system:
        begun = time.monotonic()
        for userid in USERS:
            system.guest(userid, config, artifacts)
        system.boot_saved()
        started = time.monotonic()
        system.put_back()
        return started - begun, time.monotonic() - started


def _boot(
    system: System, config: GuestConfig, artifacts: Artifacts, users: Sequence[str]
) -> list[Guest]:
    guests = [system.guest(userid, config, artifacts) for userid in users]
    system.boot()
    return guests


class _Bench:
    """Three guests: one alone, and two of a system."""

    def __init__(self, alone: Guest, two: Sequence[Guest], core: Path) -> None:
        self._alone = alone
        self._own = str(alone.control.execute("query-cp")["userid"])
        self._first, self._second = two
        self._to = self._second.config.cp["userid"]
        self._core = core
        for guest in (alone, self._second):
            _served(guest)

    def pair(self, swapped: bool) -> dict[str, float]:
        """Each value once; what is compared directly after each other."""
        found: dict[str, float] = {}
        for size, count in MESSAGES.items():
            alone, two = both(
                swapped,
                functools.partial(_rate, self._alone, self._own, size, count),
                functools.partial(_rate, self._first, self._to, size, count),
            )
            found |= {f"alone-{size}": alone, f"two-{size}": two, f"ratio-{size}": two / alone}
        peer, two = both(
            swapped,
            lambda: _peer_rate(self._alone),
            lambda: _rate(self._first, self._to, 100, PEER_MESSAGES),
        )
        alone_trip, two_trip = both(
            swapped,
            lambda: _trip(self._alone, self._own),
            lambda: _trip(self._first, self._to),
        )
        (row,) = rows(self._core, _CORE_TIMEOUT, CORE_SECONDS, "machines")
        return found | {
            "peer": peer,
            "ratio-peer": two / peer,
            "trip-alone": alone_trip,
            "trip-two": two_trip,
            "ratio-trip": two_trip / alone_trip,
            "core": row["per_second"],
        }


def measure(config: GuestConfig, core: Path, pairs: int, progress: Progress) -> list[Benchmark]:
    """One pair is thrown away, for the emulators to have translated the guests' code."""
    plain, plain_artifacts = config, prepare(config, progress)
    config = config._replace(files={PROGRAM: guest_program("iucv_pace")})
    artifacts = prepare(config, progress)
    program(progress)
    with Guest(config, artifacts=artifacts) as alone, System() as system:
        alone.boot()
        bench = _Bench(alone, _boot(system, config, artifacts, USERS[:2]), core)
        bench.pair(False)
        values = [bench.pair(number % 2 == 1) for number in range(pairs)]
    # The checkpoint, and what programs read first.
    _start_alone(plain, plain_artifacts)
    _start_saved(plain, plain_artifacts)
    found = _benchmarks()

    def with_starts(swapped: bool) -> dict[str, float]:
        one, saved = both(
            swapped,
            lambda: _start_alone(plain, plain_artifacts),
            lambda: _start_saved(plain, plain_artifacts),
        )
        three, back = saved
        starts = {"start-one": one, "start-three": three, "ratio-start": three / one}
        starts |= {"start-each": _start_each(plain, plain_artifacts), "back-three": back}
        return values.pop(0) | starts

    return found.repeat(pairs, with_starts)
