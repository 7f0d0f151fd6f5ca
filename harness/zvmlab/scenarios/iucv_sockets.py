# SPDX-License-Identifier: MIT
"""AF_IUCV sockets of a guest as scenarios need them (include/net/iucv/af_iucv.h of Linux)."""

from __future__ import annotations

import select
import struct

from zvmlab.agent.calls import CallResult, Out
from zvmlab.agent.wire import Call
from zvmlab.agent.worker import Worker

AF_IUCV, SOCK_STREAM = 32, 1
SHUT_WR = 1
_MSG_DONTWAIT, _MSG_NOSIGNAL = 0x40, 0x4000
_SOL_SOCKET, _SO_SNDTIMEO = 1, 21


def address(user: str, name: str) -> bytes:
    """A sockaddr_iucv."""
    texts = [text.ljust(8).encode() for text in ("", user, name)]
    return struct.pack(">HHI8s8s8s", AF_IUCV, 0, 0, *texts)


def stream(worker: Worker, seconds: float) -> int:
    """A socket whose connect() takes no longer than that; its descriptor."""
    fd = worker.call(Call.SOCKET, AF_IUCV, SOCK_STREAM, 0).check()
    limit = struct.pack(">qq", int(seconds), 0)
    worker.call(Call.SETSOCKOPT, fd, _SOL_SOCKET, _SO_SNDTIMEO, limit, len(limit)).check()
    return fd


def send(worker: Worker, fd: int, data: bytes) -> CallResult:
    """Send without waiting for room."""
    return worker.call(Call.SENDTO, fd, data, len(data), _MSG_DONTWAIT | _MSG_NOSIGNAL, 0, 0)


def receive(worker: Worker, fd: int, size: int = 100) -> CallResult:
    """Receive what is there."""
    return worker.call(Call.RECVFROM, fd, Out(size), size, _MSG_DONTWAIT, 0, 0)


def readable(worker: Worker, fd: int, seconds: float) -> bool:
    """Is there something to receive, or an end, within that time?"""
    ready = worker.poll([(fd, select.POLLIN)], int(seconds * 1000))
    return bool(ready.revents and ready.revents[0])
