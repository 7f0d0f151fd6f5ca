# SPDX-License-Identifier: MIT
"""An agent that other processes use, too: a UNIX socket with the agent's own protocol.

    with SharedAgent(path, guest.agent):                    # the process that has started the guest
        ...
    agent = connect(path)                                   # another one
    agent.run(["/bin/true"]).check()

Each connection has a worker of the agent to itself, so that one does not wait for another.  Requests of
it are numbered anew, and POWER is refused: the guest belongs to the process that has started it.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from zvmlab.agent.agent import Agent
from zvmlab.agent.wire import (
    COUNTED,
    HEADER,
    REPLY_BIT,
    REQUEST_MAX,
    WORKERS,
    AgentLost,
    Request,
    Status,
)
from zvmlab.base.errors import CannotRun, Timeout, UsageError

CLIENTS_MAX = WORKERS - 2
"""Worker 0 is the owner's, and the last one the harness'."""
PENDING_MAX = 16
"""Requests of one connection that have no reply yet."""
_SEND_SECONDS = 60.0
_CONNECT_SECONDS = 30.0
_CHUNK = 1 << 16
_REFUSED = frozenset({Request.POWER})


class SocketStream:
    """A stream of bytes through a connected socket."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def send(self, data: bytes, timeout: float, answered: bool = False) -> None:
        """Send all of *data*."""
        self._connection.settimeout(max(timeout, 0.001))
        try:
            self._connection.sendall(data)
        except TimeoutError as error:
            raise Timeout(f"the agent took nothing for {timeout:g} s") from error
        except OSError:
            pass  # recv() tells

    def recv(self, timeout: float) -> bytes:
        """Whatever is there; nothing at the end of the stream."""
        # The socket's own limit is that of the thread which sends.
        ready = select.poll()
        ready.register(self._connection, select.POLLIN)
        if not ready.poll(max(timeout, 0.0) * 1000):
            raise Timeout(f"the agent sent nothing for {timeout:g} s")
        try:
            return self._connection.recv(_CHUNK, socket.MSG_DONTWAIT)
        except OSError:
            return b""

    def close(self) -> None:
        """End the stream."""
        self._connection.close()


def connect(path: Path) -> Agent:
    """The agent that is shared at this socket."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(_CONNECT_SECONDS)
    try:
        connection.connect(str(path))
        return Agent(SocketStream(connection))
    except OSError as error:
        connection.close()
        raise CannotRun(
            f"the guest's agent cannot be reached at {path}: {error.strerror}"
        ) from error
    except AgentLost as error:
        connection.close()
        raise UsageError(
            f"the guest's agent serves {CLIENTS_MAX} other programs, or has just ended; try again"
        ) from error


class SharedAgent:
    """Serves connections at *path* for as long as the block lasts, or the agent is there."""

    def __init__(self, path: Path, agent: Agent) -> None:
        self._path, self._agent = path, agent
        self._lock = threading.Lock()
        self._free = set(range(1, CLIENTS_MAX + 1))
        self._clients: set[_Client] = set()
        self._listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)

    def __enter__(self) -> SharedAgent:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path)
        self._listening.bind(str(self._path))
        os.chmod(self._path, 0o600)
        self._listening.listen()
        threading.Thread(target=self._accept, name="shared agent", daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        with self._lock:
            clients = list(self._clients)
        for client in clients:
            client.end()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            with self._lock:
                worker = self._free.pop() if self._free else None
            if worker is None:
                connection.close()
                continue
            client = _Client(connection, self._agent, worker)
            with self._lock:
                self._clients.add(client)
            serve = threading.Thread(target=self._serve, args=(client,), daemon=True)
            serve.start()

    def _serve(self, client: _Client) -> None:
        try:
            client.serve()
        finally:
            client.end()
            client.await_replies()
            with self._lock:
                self._clients.discard(client)
                self._free.add(client.worker)


class _Client:
    """One connection."""

    def __init__(self, connection: socket.socket, agent: Agent, worker: int) -> None:
        self.worker = worker
        self._connection = connection
        self._agent = agent
        self._sending = threading.Lock()
        self._ended = threading.Event()
        self._waiting: set[threading.Thread] = set()

    def end(self) -> None:
        """Its replies are not wanted any more; harmless the second time."""
        self._ended.set()
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)

    def await_replies(self) -> None:
        """Until nobody sends on the connection, which is closed then."""
        for thread in list(self._waiting):
            thread.join()
        self._connection.close()

    def serve(self) -> None:
        """Pass on what comes, until the other side ends, or breaks the protocol."""
        with contextlib.suppress(AgentLost, Timeout, OSError):
            for number, kind, payload in self._frames():
                self._waiting = {thread for thread in self._waiting if thread.is_alive()}
                if len(self._waiting) >= PENDING_MAX:
                    return
                if kind not in Request.__members__.values() or kind in _REFUSED:
                    why = b"this guest belongs to the process that has started it"
                    self._reply(number, kind, Status.UNKNOWN, why)
                    continue
                asked = self._agent.channel.submit(
                    Request(kind), payload, self.worker, _SEND_SECONDS
                )
                thread = threading.Thread(
                    target=self._answer, args=(number, kind, asked), daemon=True
                )
                self._waiting.add(thread)
                thread.start()

    def _frames(self) -> Iterator[tuple[int, int, bytes]]:
        while (header := self._read(HEADER.size)) is not None:
            counted, number, kind, worker = HEADER.unpack(header)
            # A request of more than one worker would not be in order with its own.
            if not COUNTED <= counted <= COUNTED + REQUEST_MAX or worker != 0:
                return
            payload = self._read(counted - COUNTED)
            if payload is None:
                return
            yield number, kind, payload

    def _read(self, size: int) -> bytes | None:
        data = bytearray()
        while len(data) < size:
            part = self._connection.recv(min(_CHUNK, size - len(data)))
            if not part:
                return None
            data += part
        return bytes(data)

    def _answer(self, number: int, kind: int, asked: int) -> None:
        try:
            reply = self._agent.channel.pass_on(asked, lambda: not self._ended.is_set())
            if reply is not None:
                self._reply(number, kind, *reply)
        except (AgentLost, OSError):
            self.end()

    def _reply(self, number: int, kind: int, status: int, payload: bytes) -> None:
        header = HEADER.pack(COUNTED + len(payload), number, kind | REPLY_BIT, status)
        with self._sending:
            self._connection.sendall(header + payload)
