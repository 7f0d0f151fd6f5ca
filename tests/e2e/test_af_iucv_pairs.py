# SPDX-License-Identifier: MIT
"""Two calls of one AF_IUCV socket at once, every pair of them, on two CPUs.

The first call is held as soon as it owns the socket.  The second one either waits for it, and then both
have the results of one call after the other, or it needs nothing that the first one changes.
"""

from __future__ import annotations

import contextlib
import errno
import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace

import pytest

from iucv_socket import (
    MSG_DONTWAIT,
    MSG_NOSIGNAL,
    SHUT_RD,
    SHUT_WR,
    SO_IPRMDATA_MSG,
    SO_MSGLIMIT,
    SO_MSGSIZE,
    SOL_IUCV,
    Socket,
    address,
)
from test_af_iucv_races import CPU, here, in_qemu, path_ids, there
from test_af_iucv_sockets import GUEST, pair
from waiting import LIMIT, wait_until
from zvmlab.agent.calls import Both, CallResult, Out, Ref
from zvmlab.agent.wire import Call
from zvmlab.agent.worker import Batch, Worker
from zvmlab.guest.guest import Guest
from zvmlab.monitor.steps import task_state, thread_of

__all__ = ["here", "in_qemu", "there"]  # fixtures

pytestmark = pytest.mark.zvmlab(cpus=2)
WAITING = 3
DATA = b"data of one message"
NAME = len(address("", ""))

Begin = Callable[[Batch, int], Ref]


def named(call: Call, user: str, name: str) -> Begin:
    at = address(user, name)
    return lambda batch, fd: batch.call(call, fd, at, len(at))


def asked(call: Call) -> Begin:
    """A name."""
    length = struct.pack(">i", NAME)
    return lambda batch, fd: batch.call(call, fd, Out(NAME, whole=True), Both(length))


def option(number: int) -> Begin:
    length = struct.pack(">i", 4)
    return lambda batch, fd: batch.call(
        Call.GETSOCKOPT, fd, SOL_IUCV, number, Out(4, whole=True), Both(length)
    )


def set_option(number: int, value: int) -> Begin:
    packed = struct.pack(">i", value)
    return lambda batch, fd: batch.call(Call.SETSOCKOPT, fd, SOL_IUCV, number, packed, len(packed))


def plain(call: Call, *arguments: int) -> Begin:
    return lambda batch, fd: batch.call(call, fd, *arguments)


CALLS: dict[str, Begin] = {
    "bind": named(Call.BIND, "", "OTHER"),
    "connect": named(Call.CONNECT, GUEST, "SERVER"),
    "listen": plain(Call.LISTEN, 2),
    "accept": plain(Call.ACCEPT4, 0, 0, 0),
    "send": lambda batch, fd: batch.call(
        Call.SENDTO, fd, DATA, len(DATA), MSG_DONTWAIT | MSG_NOSIGNAL, 0, 0
    ),
    "recv": lambda batch, fd: batch.call(
        Call.RECVFROM, fd, Out(len(DATA)), len(DATA), MSG_DONTWAIT, 0, 0
    ),
    "end-of-sending": plain(Call.SHUTDOWN, SHUT_WR),
    "end-of-receiving": plain(Call.SHUTDOWN, SHUT_RD),
    "set-limit": set_option(SO_MSGLIMIT, 7),
    "limit": option(SO_MSGLIMIT),
    "size": option(SO_MSGSIZE),
    "short-messages": set_option(SO_IPRMDATA_MSG, 1),
    "own-name": asked(Call.GETSOCKNAME),
    "partners-name": asked(Call.GETPEERNAME),
}
# What only reads what never changes while it is read, or has a lock of its own.
FREE = ("recv", "own-name", "partners-name")
OWNING = tuple(name for name in CALLS if name not in FREE)


@contextlib.contextmanager
def bound(worker: Worker) -> Iterator[int]:
    """A socket with a name; somebody listens whom it can connect to."""
    with Socket.make(worker, name="SERVER") as server, Socket.make(worker, name="CLIENT") as made:
        server.listen(WAITING)
        yield made.fd


@contextlib.contextmanager
def listening(worker: Worker) -> Iterator[int]:
    """Connections wait for it."""
    with ExitStack() as stack:
        server = stack.enter_context(Socket.make(worker, name="SERVER"))
        server.listen(WAITING)
        for _ in range(WAITING):
            stack.enter_context(Socket.make(worker)).connect(GUEST, "SERVER")
        yield server.fd


@contextlib.contextmanager
def connected(worker: Worker) -> Iterator[int]:
    """Messages have come for it."""
    with pair(worker) as (client, accepted):
        for _ in range(2):
            accepted.send(DATA)
        yield client.fd


STATES = {"bound": bound, "listening": listening, "connected": connected}
USED = {
    # The calls that a state has a use for; the others are refused at once, whoever else calls.
    "bound": ("bind", "connect", "listen", "set-limit", "limit", "size", "own-name"),
    "listening": ("accept", "listen", "end-of-sending", "limit", "short-messages", "own-name"),
    "connected": tuple(
        name for name in CALLS if name not in ("bind", "connect", "listen", "accept")
    ),
}
# connect() looks at the state before it waits (defect 45).
CONNECTED_TWICE = (("connect", "connect"), ("listen", "connect"))


@dataclass(frozen=True)
class Outcome:
    """What came of one call, or of asking afterwards."""

    ret: int
    errno: int
    data: tuple[bytes, ...]


def outcome(worker: Worker, name: str, found: CallResult) -> Outcome:
    if name == "accept" and not found.errno:
        worker.close(found.ret).check()
        return Outcome(0, 0, ())
    return Outcome(found.ret if not found.errno else -1, found.errno, tuple(found.buffers))


def run(worker: Worker, name: str, fd: int) -> Outcome:
    batch = worker.batch()
    done = CALLS[name](batch, fd)
    return outcome(worker, name, batch.run()[done])


def after(worker: Worker, fd: int) -> list[Outcome]:
    """What the socket says of itself."""
    asked = ("own-name", "partners-name", "limit", "size", "recv", "send")
    return [run(worker, name, fd) for name in asked]


def in_turn(worker: Worker, state: str, names: tuple[str, str]) -> list[Outcome]:
    """The results of one after the other, and the socket's state then."""
    with STATES[state](worker) as fd:
        return [*(run(worker, name, fd) for name in names), *after(worker, fd)]


def at_once(
    guest: Guest, here: Worker, there: Worker, state: str, names: tuple[str, str]
) -> tuple[bool, list[Outcome]]:
    """Did the second wait for the first one, which owns the socket?  And all results."""
    first, second = names
    thread = thread_of(here)
    with STATES[state](here) as fd:
        with (
            guest.hold("lock_sock_nested", cpu=CPU, where="return") as owns,
            guest.hold("release_sock", cpu=CPU) as through,
        ):
            batch = there.batch()
            done = CALLS[first](batch, fd)
            begun = batch.start(LIMIT)
            wait_until(lambda: owns.held or through.held or begun.done(), f"{first} owns it")
            assert owns.held, f"{first} does not own the socket"
            batch = here.batch()
            then = CALLS[second](batch, fd)
            other = batch.start(LIMIT)
            wait_until(
                lambda: other.done() or task_state(guest.agent, thread) == "D",
                f"{second} done or asleep",
            )
            waits = not other.done()
        found = begun.result(LIMIT)[done], other.result(LIMIT)[then]
        outcomes = [outcome(here, name, one) for name, one in zip(names, found, strict=True)]
        return waits, [*outcomes, *after(here, fd)]


@pytest.mark.requirement("I8", "I12")
@pytest.mark.not_debug(
    "lockdep reports a listener that closes with connections", defect="af_iucv-14"
)
@pytest.mark.parametrize(
    "state, first",
    [(state, name) for state, names in USED.items() for name in names if name in OWNING],
)
def test_second_call_waits_for_the_first(
    guest: Guest, here: Worker, there: Worker, corrected: frozenset[str], state: str, first: str
) -> None:
    """Then both have done what they do one after the other."""
    before = path_ids(guest)
    for second in USED[state]:
        if (first, second) in CONNECTED_TWICE and "af_iucv-45" not in corrected:
            continue
        waits, found = at_once(guest, here, there, state, (first, second))
        wanted = [in_turn(here, state, (first, second))]
        if second in FREE:
            early = in_turn(here, state, (second, first))
            wanted.append([early[1], early[0], *early[2:]])
        if (first, second) == ("connect", "connect"):
            # The first one waits for its answer without the socket.
            (turn,) = wanted
            wanted.append([turn[0], replace(turn[1], errno=errno.EALREADY), *turn[2:]])
        assert (second, waits) == (second, second in OWNING)
        assert found in wanted, (first, second)
        wait_until(lambda: path_ids(guest) == before, f"no path left by {first} and {second}")
