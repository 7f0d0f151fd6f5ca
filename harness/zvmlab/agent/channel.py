# SPDX-License-Identifier: MIT
"""Frames to and from the agent; replies may come in any order.

Any number of threads may use a channel.  One that waits for a reply takes in whatever comes, also
what the others wait for, and tells them.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Protocol

from zvmlab.agent.wire import (
    COUNTED,
    HEADER,
    REPLY_BIT,
    REPLY_MAX,
    REQUEST_MAX,
    AgentError,
    AgentLost,
    Reader,
    Request,
    Status,
    TooLarge,
)
from zvmlab.base.errors import Timeout
from zvmlab.base.limit import FairLimit, Limit


# What is there already is taken in, but not forever: more may come as fast.
_TAKE_IN_SECONDS = 1.0
_LOOK_SECONDS = 1.0


class Stream(Protocol):
    """A stream of bytes; both directions raise errors.Timeout at their limit.

    One thread sends at a time, and one receives.
    """

    def send(self, data: bytes, timeout: float, answered: bool = False) -> None:
        """Send all of *data*.  *answered*: recv() follows, and may raise what went wrong here."""

    def recv(self, timeout: float) -> bytes:
        """Whatever is there, at least one byte; nothing at the end of the stream."""

    def close(self) -> None:
        """End the stream."""


class Channel:
    """Numbers requests and finds their replies.

    *check_runs* is called when a reply is late, and raises Timeout if none can come; *starved* tells
    for how many seconds the guest could not run (FairLimit).
    """

    def __init__(
        self,
        stream: Stream,
        check_runs: Callable[[], None] = lambda: None,
        starved: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._stream = stream
        self._check_runs = check_runs
        self._starved = starved
        self._sending = threading.Lock()
        # Of all that follows; notified of replies, and when another thread may receive.
        self._changed = threading.Condition()
        self._receiving = False
        self._next_id = 0
        self._waiting: dict[int, Request] = {}
        self._replies: dict[int, tuple[int, bytes]] = {}
        self._buffer = bytearray()
        self._lost: str | None = None

    @property
    def lost(self) -> bool:
        """Has the connection ended?"""
        return self._lost is not None

    def submit(
        self, request: Request, payload: bytes, worker: int, timeout: float, collected: bool = False
    ) -> int:
        """Send a request; its number is what `collect` wants, which may be what is called next."""
        if len(payload) > REQUEST_MAX:
            raise TooLarge(
                f"a request of {len(payload)} bytes to the agent exceeds {REQUEST_MAX};"
                " send it in parts"
            )
        limit = Limit(timeout)
        if not self._sending.acquire(timeout=limit.left()):
            raise Timeout(f"an earlier request to the agent was not sent within {limit}")
        try:
            number = self._begin(request)
            header = HEADER.pack(COUNTED + len(payload), number, request, worker)
            self._stream.send(header + payload, limit.left(), collected)
        finally:
            self._sending.release()
        return number

    def _begin(self, request: Request) -> int:
        """Number a request, which is awaited from now on."""
        with self._changed:
            if self._lost is not None:
                raise AgentLost(self._lost)
            self._next_id = self._next_id % 0xFFFFFFFF + 1
            self._waiting[self._next_id] = request
            return self._next_id

    def collect(self, number: int, timeout: float, what: str, grace: float = 0.0) -> Reader:
        """The reply to request *number*; AgentError if it was refused.

        It may be late by *grace* seconds, if the guest runs; time in which it cannot does not count.
        """
        if not self.arrived(number, timeout) and grace:
            self._check_runs()
            limit = FairLimit(grace, self._starved)
            while not self.arrived(number, limit.left()) and not limit.over:
                pass
        with self._changed:
            if number not in self._replies:
                seconds = timeout + grace
                raise Timeout(f"the agent did not answer {what} within {seconds:g} s")
            status, payload = self._replies.pop(number)
        if status != Status.OK:
            raise AgentError(status, payload.decode("utf-8", "replace"), what)
        return Reader(payload)

    def arrived(self, number: int, seconds: float = 0.0) -> bool:
        """Has the reply come?  Takes in what is there, or comes within *seconds*."""
        limit, end = Limit(seconds), Limit(seconds + _TAKE_IN_SECONDS)
        with self._changed:
            try:
                while number not in self._replies and not end.over:
                    self._receive(limit.left())
            except Timeout:
                pass
            return number in self._replies

    def pass_on(self, number: int, wanted: Callable[[], bool]) -> tuple[int, bytes] | None:
        """Status and payload of a reply, for whoever has asked; None if it is *wanted* no more."""
        while not self.arrived(number, _LOOK_SECONDS):
            if not wanted():
                self.forget(number)
                return None
        with self._changed:
            return self._replies.pop(number)

    def forget(self, number: int) -> None:
        """Nobody wants the reply any more; it is dropped when it comes."""
        with self._changed:
            self._waiting.pop(number, None)
            self._replies.pop(number, None)

    def await_end(self, seconds: float) -> None:
        """Let the agent end the connection, for so long at most."""
        limit = Limit(seconds)
        with contextlib.suppress(AgentLost, Timeout), self._changed:
            while not limit.over:
                self._receive(limit.left())

    def close(self) -> None:
        """End the connection."""
        with self._changed:
            self._lost = self._lost or "the connection to the agent was closed"
        self._stream.close()

    def _receive(self, timeout: float) -> None:
        """Take in what comes, or wait for another thread that does; Timeout at the limit."""
        if self._lost is not None:
            raise AgentLost(self._lost)
        if self._receiving:
            if not self._changed.wait(timeout):
                raise Timeout(f"the agent sent nothing for {timeout:g} s")
            return
        self._receiving = True
        self._changed.release()
        try:
            data = self._stream.recv(timeout)
        finally:
            self._changed.acquire()
            self._receiving = False
            self._changed.notify_all()
        if not data:
            self._end("the agent ended the connection")
        self._buffer += data
        while self._take_frame():
            pass

    def _take_frame(self) -> bool:
        if len(self._buffer) < HEADER.size:
            return False
        counted, number, kind, status = HEADER.unpack_from(self._buffer)
        if not COUNTED <= counted <= REPLY_MAX:
            self._end(f"the agent sent a frame of {counted} bytes")
        size = HEADER.size + counted - COUNTED
        if len(self._buffer) < size:
            return False
        payload = bytes(memoryview(self._buffer)[HEADER.size : size])
        del self._buffer[:size]
        request = self._waiting.pop(number, None)
        if request is not None:
            if kind != request | REPLY_BIT:
                self._end(f"the agent answered request type {request} with type {kind:#x}")
            self._replies[number] = (status, payload)
        return True

    def _end(self, why: str) -> None:
        self._lost = why
        self._stream.close()
        raise AgentLost(why)
