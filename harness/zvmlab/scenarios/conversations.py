# SPDX-License-Identifier: MIT
"""Scenarios of two guests that talk to each other by AF_IUCV."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator

from zvmlab.agent.calls import CallResult
from zvmlab.agent.wire import Call
from zvmlab.agent.worker import Worker
from zvmlab.base.limit import Limit
from zvmlab.monitor.steps import settle
from zvmlab.scenarios.iucv_sockets import SHUT_WR, address, readable, receive, send, stream
from zvmlab.scenarios.together import Together, together

_ALICE, _BOB = "ALICE", "BOB"
_DONE = ["question", "answer", ""]
"""What arrives if all goes well: at the server, at the client, and the end."""


def _note(context: Together, what: str, result: CallResult) -> str:
    """What came."""
    error = errno.errorcode.get(result.errno, str(result.errno)) if result.errno else None
    text = result.data[: max(result.ret, 0)].decode("latin-1")
    context.note(what, returned=min(result.ret, 1), errno=error, data=text)
    return text if error is None else error


@contextlib.contextmanager
def _closing(worker: Worker, *fds: int) -> Iterator[None]:
    try:
        yield
    finally:
        for fd in fds:
            worker.close(fd)


def _converse(context: Together, calling: str, called: str, name: str) -> list[str]:
    """Connect, a message each way, and the end; what arrived, or did not."""
    client, server = context.worker(calling), context.worker(called)
    listening, fd = stream(server, context.patience), stream(client, context.patience)
    with _closing(server, listening), _closing(client, fd):
        own, to = address("", name), address(called, name)
        server.call(Call.BIND, listening, own, len(own)).check()
        server.call(Call.LISTEN, listening, 1).check()
        connected = client.call(Call.CONNECT, fd, to, len(to))
        _note(context, f"{calling} connects", connected)
        if connected.errno or not readable(server, listening, context.patience):
            return ["no connection"]
        accepted = server.call(Call.ACCEPT4, listening, 0, 0, 0)
        if accepted.errno:
            _note(context, f"{called} accepts", accepted)
            return ["no connection"]
        with _closing(server, accepted.ret):
            return _exchange(context, (calling, client, fd), (called, server, accepted.ret))


def _exchange(
    context: Together, calling: tuple[str, Worker, int], called: tuple[str, Worker, int]
) -> list[str]:
    (client_id, client, fd), (server_id, server, accepted) = calling, called
    found = []
    _note(context, f"{client_id} sends", send(client, fd, b"question"))
    readable(server, accepted, context.patience)
    found.append(_note(context, f"{server_id} receives", receive(server, accepted)))
    _note(context, f"{server_id} sends", send(server, accepted, b"answer"))
    readable(client, fd, context.patience)
    found.append(_note(context, f"{client_id} receives", receive(client, fd)))
    _note(context, f"{client_id} shuts down", client.call(Call.SHUTDOWN, fd, SHUT_WR))
    readable(server, accepted, context.patience)
    found.append(_note(context, f"{server_id} receives", receive(server, accepted)))
    return found


def _end(context: Together) -> None:
    """Wait until no path is left between the two, and both have dealt with what they were told."""
    limit = Limit(context.patience)
    for userid, guest in context.guests.items():
        paths = guest.control.execute
        limit.look(
            lambda: [path["partner"] for path in paths("query-paths", user=userid)["paths"]],
            lambda partners: not {_ALICE, _BOB} & set(partners),
        )
        settle(guest)


def _both_ways(context: Together) -> str | None:
    for calling, called in ((_ALICE, _BOB), (_BOB, _ALICE)):
        found = _converse(context, calling, called, "AGAIN")
        if found != _DONE:
            return f"a conversation of {calling} with {called} gives {found}"
    return None


@together(
    "conversation",
    "ALICE connects an AF_IUCV socket to BOB; a message each way; the end.",
    users={_ALICE: {}, _BOB: {}},
    usable=_both_ways,
)
def conversation(context: Together) -> None:
    """CONNECT, ACCEPT, SEND, RECEIVE and SEVER between two kernels."""
    _converse(context, _ALICE, _BOB, "SERVER")
    _end(context)
