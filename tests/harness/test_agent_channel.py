# SPDX-License-Identifier: MIT
"""Several threads use one channel to the agent: each gets its own reply, as soon as that comes."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from zvmlab.agent.channel import Channel
from zvmlab.agent.wire import COUNTED, HEADER, REPLY_BIT, AgentLost, Request, Status, Writer
from zvmlab.base.errors import Timeout

SECONDS = 60.0
SHORT = 0.2


class Wire:
    """A stream of the test's own; it notes how many threads send, or receive, at a time."""

    def __init__(self) -> None:
        self.sent: queue.Queue[bytes] = queue.Queue()
        self.coming: queue.Queue[bytes] = queue.Queue()
        self.most = {"send": 0, "recv": 0}
        self._inside = {"send": 0, "recv": 0}
        self._count = threading.Lock()

    def send(self, data: bytes, timeout: float, answered: bool = False) -> None:
        self._enter("send")
        for byte in (data[:5], data[5:]):
            self.sent.put(byte)
            time.sleep(0)
        self._leave("send")

    def recv(self, timeout: float) -> bytes:
        self._enter("recv")
        try:
            return self.coming.get(timeout=timeout) if timeout else self.coming.get_nowait()
        except queue.Empty:
            raise Timeout("nothing came") from None
        finally:
            self._leave("recv")

    def close(self) -> None:
        pass

    def await_receiver(self) -> None:
        """Until a thread is in recv()."""
        end = time.monotonic() + SECONDS
        while not self._inside["recv"]:
            assert time.monotonic() < end
            time.sleep(0.001)

    def _enter(self, where: str) -> None:
        with self._count:
            self._inside[where] += 1
            self.most[where] = max(self.most[where], self._inside[where])

    def _leave(self, where: str) -> None:
        with self._count:
            self._inside[where] -= 1


def reply(number: int, payload: bytes) -> bytes:
    """The agent's answer to HELLO."""
    kind, body = Request.HELLO | REPLY_BIT, Writer().blob(payload).payload()
    return HEADER.pack(COUNTED + len(body), number, kind, Status.OK) + body


def asked(channel: Channel) -> int:
    return channel.submit(Request.HELLO, b"", 0, SECONDS)


def two_requests() -> tuple[Wire, Channel, int, int]:
    """Both are under way; their numbers."""
    channel = Channel(wire := Wire())
    return wire, channel, asked(channel), asked(channel)


@pytest.fixture(name="later")
def _later() -> Callable[..., Future[bytes]]:
    """collect() in a thread of its own."""
    threads = ThreadPoolExecutor(20)

    def start(channel: Channel, number: int, seconds: float = SECONDS) -> Future[bytes]:
        return threads.submit(lambda: channel.collect(number, seconds, "HELLO").blob())

    return start


def test_reply_that_another_thread_takes_in(later: Callable[..., Future[bytes]]) -> None:
    """The waiting thread is told; the other one goes on waiting for its own reply."""
    wire, channel, first, second = two_requests()
    waits = later(channel, first)
    wire.await_receiver()
    other = later(channel, second)
    wire.coming.put(reply(second, b"two"))
    assert other.result(SECONDS) == b"two"
    assert not waits.done()
    wire.coming.put(reply(first, b"one"))
    assert waits.result(SECONDS) == b"one"
    assert wire.most["recv"] == 1


def test_limit_of_who_receives_is_not_the_others(later: Callable[..., Future[bytes]]) -> None:
    wire, channel, first, second = two_requests()
    short = later(channel, first, SHORT)
    wire.await_receiver()
    other = later(channel, second)
    with pytest.raises(Timeout, match=f"the agent did not answer HELLO within {SHORT} s"):
        short.result(SECONDS)
    wire.coming.put(reply(second, b"two"))
    assert other.result(SECONDS) == b"two"


def test_limit_of_who_does_not_receive(later: Callable[..., Future[bytes]]) -> None:
    wire, channel, first, second = two_requests()
    waits = later(channel, first)
    wire.await_receiver()
    assert not channel.arrived(second)
    with pytest.raises(Timeout, match=f"the agent did not answer HELLO within {SHORT} s"):
        later(channel, second, SHORT).result(SECONDS)
    wire.coming.put(reply(first, b"one"))
    assert waits.result(SECONDS) == b"one"


def test_grace_is_for_a_guest_that_runs(later: Callable[..., Future[bytes]]) -> None:
    """A late reply is waited for, unless it cannot come."""
    wire = Wire()
    asked_for = threading.Event()
    channel = Channel(wire, asked_for.set)
    number = asked(channel)
    with ThreadPoolExecutor(1) as pool:
        late = pool.submit(lambda: channel.collect(number, 0.0, "HELLO", SECONDS).blob())
        assert asked_for.wait(SECONDS)
        wire.coming.put(reply(number, b"late"))
        assert late.result(SECONDS) == b"late"

    def stopped() -> None:
        raise Timeout("the emulator is stopped")

    channel = Channel(Wire(), stopped)
    with pytest.raises(Timeout, match="^the emulator is stopped$"):
        channel.collect(asked(channel), 0.0, "HELLO", SECONDS)


def test_grace_does_not_count_time_without_a_cpu() -> None:
    wire = Wire()
    told = iter((0.0, 0.0))

    def starved() -> float:
        seconds = next(told, None)
        if seconds is None:  # at the end of the grace: there was no CPU, and now there is
            wire.coming.put(reply(number, b"late"))
            return SHORT
        return seconds

    channel = Channel(wire, starved=starved)
    number = asked(channel)
    assert channel.collect(number, 0.0, "HELLO", SHORT).blob() == b"late"


def test_other_replies_are_not_taken_in_for_ever() -> None:
    class Flood(Wire):
        """A frame that nobody waits for is always there."""

        def recv(self, timeout: float) -> bytes:
            return reply(0, b"")

    channel = Channel(Flood())
    number = asked(channel)
    assert not channel.arrived(number)
    with pytest.raises(Timeout, match="did not answer HELLO within 0 s"):
        channel.collect(number, 0.0, "HELLO")


def test_end_of_the_stream_is_told_to_all(later: Callable[..., Future[bytes]]) -> None:
    wire = Wire()
    channel = Channel(wire)
    waiting = [later(channel, asked(channel)) for _ in range(3)]
    wire.await_receiver()
    wire.coming.put(b"")
    for waiter in waiting:
        with pytest.raises(AgentLost, match="the agent ended the connection"):
            waiter.result(SECONDS)


def test_many_threads(later: Callable[..., Future[bytes]]) -> None:
    """Replies come in the reverse order, in pieces of seven bytes; requests go out whole."""
    wire = Wire()
    channel = Channel(wire)
    threads, each = 8, 50

    def user(_: int) -> list[tuple[int, bytes]]:
        found = []
        for _ in range(each):
            number = asked(channel)
            found.append((number, channel.collect(number, SECONDS, "HELLO").blob()))
        return found

    def answer() -> None:
        data, wanted = b"", list[int]()
        for done in range(threads * each):
            while not wanted or not wire.sent.empty():
                data += wire.sent.get(timeout=SECONDS)
                while len(data) >= HEADER.size:
                    wanted.append(HEADER.unpack(data[: HEADER.size])[1])
                    data = data[HEADER.size :]
            number = wanted.pop()
            frame = reply(number, b"reply %d" % number)
            for at in range(0, len(frame), 7):
                wire.coming.put(frame[at : at + 7])

    with ThreadPoolExecutor(threads + 1) as pool:
        agent = pool.submit(answer)
        found = [pair for part in pool.map(user, range(threads)) for pair in part]
        agent.result(SECONDS)
    assert sorted(found) == [(number, b"reply %d" % number) for number in range(1, 401)]
    assert wire.most == {"send": 1, "recv": 1}


def test_request_that_had_to_wait_too_long_to_be_sent_keeps_no_worker_busy() -> None:
    wire = Wire()
    held, go_on = threading.Event(), threading.Event()

    def send(data: bytes, timeout: float, answered: bool) -> None:
        held.set()
        assert go_on.wait(SECONDS)

    wire.send = send  # type: ignore[assignment]
    channel = Channel(wire)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(channel.submit, Request.HELLO, b"", 1, SECONDS)
        assert held.wait(SECONDS)
        try:
            with pytest.raises(Timeout, match=f"was not sent within {SHORT} s"):
                channel.submit(Request.HELLO, b"", 2, SHORT)
            assert len(channel._waiting) == 1
        finally:
            go_on.set()
        assert first.result(SECONDS) == 1
