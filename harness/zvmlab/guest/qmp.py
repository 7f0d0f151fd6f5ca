# SPDX-License-Identifier: MIT
"""A small client of QEMU's machine protocol (qemu-qmp-ref(7))."""

from __future__ import annotations

import contextlib
import json
import select
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from zvmlab.base.errors import EmulatorError, Timeout, ZvmlabError
from zvmlab.base.limit import Limit

_MESSAGE_MAX = 16 * 1024 * 1024
_SLICE_SECONDS = 0.1
# A start of QEMU takes some milliseconds.
_CONNECT_PAUSE = 0.001
ANSWER_SECONDS = 60.0


class QmpError(ZvmlabError):
    """QEMU refused a command."""

    def __init__(self, command: str, klass: str, desc: str) -> None:
        super().__init__(f"QEMU refused {command}: {desc}")
        self.klass = klass
        self.desc = desc


def _nothing() -> None:
    pass


class Qmp:
    """One connection; *check* is called during every wait and may raise.

    *lost* is called when the connection has ended, and may know why.
    """

    def __init__(
        self,
        path: Path,
        timeout: float,
        check: Callable[[], None] = _nothing,
        lost: Callable[[], None] = _nothing,
        limit: Callable[[float], Limit] = Limit,
    ) -> None:
        self.limit = limit
        """Makes a limit of so many seconds for what QEMU is to do."""
        self._check = check
        self._lost = lost
        self._pending = b""
        self._serial = 0
        self.events: list[dict[str, Any]] = []
        self._socket = self._connect(path, timeout)
        try:
            greeting = self._message("QEMU's greeting", self.limit(timeout))
            if "QMP" not in greeting:
                raise EmulatorError(f"{path} does not speak QMP (it said {greeting!r:.80})")
            self.version: dict[str, Any] = greeting["QMP"]["version"]["qemu"]
            self.execute("qmp_capabilities", timeout=timeout)
        except BaseException:
            self._socket.close()
            raise

    def _connect(self, path: Path, timeout: float) -> socket.socket:
        limit = self.limit(timeout)
        while True:
            client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                client.connect(str(path))
                client.setblocking(False)
                return client
            except (FileNotFoundError, ConnectionRefusedError):
                client.close()
            except BaseException:
                client.close()
                raise
            self._check()
            if limit.over:
                raise Timeout(f"QEMU did not open its socket {path} within {limit}")
            time.sleep(_CONNECT_PAUSE)

    def close(self) -> None:
        """Drop the connection; harmless the second time."""
        self._socket.close()

    def __enter__(self) -> Qmp:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _readable(self, seconds: float) -> bool:
        return bool(select.select([self._socket], [], [], seconds)[0])

    def _message(self, what: str, limit: Limit) -> dict[str, Any]:
        """The next message of any kind."""
        while b"\n" not in self._pending:
            try:
                self._check()
            except ZvmlabError:
                # Not before what QEMU said at its end has been read.
                if b"\n" not in self._pending and not self._readable(0):
                    raise
            if b"\n" in self._pending:
                break  # arrived() has read it
            if limit.over:
                raise Timeout(f"{what} did not come within {limit}; QEMU may be stuck")
            if not self._readable(min(limit.left(), _SLICE_SECONDS)):
                continue
            try:
                data = self._socket.recv(65536)
            except BlockingIOError:
                continue
            except OSError:
                data = b""
            if not data:
                self._lost()
                raise EmulatorError(f"QEMU closed its socket while waiting for {what}")
            self._pending += data
            if len(self._pending) > _MESSAGE_MAX:
                raise EmulatorError("QEMU sent a message of more than 16 MiB")
        line, self._pending = self._pending.split(b"\n", 1)
        try:
            message = json.loads(line)
        except ValueError as error:
            raise EmulatorError(f"QEMU sent something that is not JSON ({line[:80]!r})") from error
        if not isinstance(message, dict):
            raise EmulatorError(f"QEMU sent something that is not an object ({line[:80]!r})")
        return message

    def execute(
        self, command: str, arguments: dict[str, Any] | None = None, timeout: float = ANSWER_SECONDS
    ) -> Any:
        """Run a command and return what it returns."""
        return self.begin(command, arguments, timeout)()

    def begin(
        self, command: str, arguments: dict[str, Any] | None = None, timeout: float = ANSWER_SECONDS
    ) -> Callable[[], Any]:
        """Give a command; what is returned waits for the answer, and returns what that does."""
        limit = self.limit(timeout)
        serial = self._send(command, arguments, timeout)

        def answer() -> Any:
            while True:
                message = self._message(f"QEMU's answer to {command}", limit)
                if "event" in message:
                    self.events.append(message)
                elif message.get("id") == serial:
                    if "error" in message:
                        reason = message["error"]
                        raise QmpError(command, str(reason.get("class")), str(reason.get("desc")))
                    return message.get("return")

        return answer

    def order(
        self, command: str, arguments: dict[str, Any] | None = None, timeout: float = ANSWER_SECONDS
    ) -> None:
        """Give a command and do not wait for the answer: QEMU may end before it gives one."""
        self._send(command, arguments, timeout)

    def _send(self, command: str, arguments: dict[str, Any] | None, timeout: float) -> int:
        """Send a command; the number that its answer will have."""
        self._serial += 1
        request: dict[str, Any] = {"execute": command, "id": self._serial}
        if arguments:
            request["arguments"] = arguments
        try:
            self._socket.setblocking(True)
            self._socket.settimeout(timeout)
            # QEMU reads byte by byte.
            self._socket.sendall(json.dumps(request, separators=(",", ":")).encode() + b"\n")
        except TimeoutError as error:
            raise Timeout(f"QEMU did not take the command {command} in {timeout:g} s") from error
        except OSError as error:
            self._lost()
            raise EmulatorError(f"QEMU is gone, {command} could not be sent") from error
        finally:
            if self._socket.fileno() >= 0:
                self._socket.setblocking(False)
        return self._serial

    def arrived(self, *names: str) -> list[dict[str, Any]]:
        """The events of those names that have come so far, without waiting; they stay."""
        try:
            while self._socket.fileno() >= 0 and self._readable(0):
                data = self._socket.recv(65536)
                if not data:
                    break
                self._pending += data
        except OSError:
            pass  # What came before the end counts.
        found = list(self.events)
        for line in self._pending.split(b"\n")[:-1]:
            with contextlib.suppress(ValueError):
                message = json.loads(line)
                found += [message] if isinstance(message, dict) else []
        return [message for message in found if message.get("event") in names]

    def take_in(self) -> None:
        """Read the events that have come, for QEMU keeps what nobody reads."""
        while b"\n" in self._pending or self._readable(0):
            message = self._message("an event", self.limit(ANSWER_SECONDS))
            if "event" in message:
                self.events.append(message)

    def forget(self, *names: str) -> None:
        """The events of those names that have come so far are nobody's any more."""
        self.events[:] = [event for event in self.events if event.get("event") not in names]

    def wait_event(self, *names: str, timeout: float = ANSWER_SECONDS) -> dict[str, Any]:
        """The first event of one of those names, taken out of the queue."""
        limit = self.limit(timeout)
        while True:
            for index, event in enumerate(self.events):
                if event["event"] in names:
                    return self.events.pop(index)
            message = self._message(f"the event {' or '.join(names)}", limit)
            if "event" in message:
                self.events.append(message)
