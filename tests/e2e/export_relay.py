# SPDX-License-Identifier: MIT
"""HTTP into a guest that has no network: what is asked of a port here is asked in the guest."""

from __future__ import annotations

import contextlib
import socket
import threading

from prometheus_client.openmetrics.parser import text_string_to_metric_families
from waiting import fair

from zvmlab.guest.guest import Guest

_HEAD_END = b"\r\n\r\n"
_LONGEST = 65536
SECONDS = 60.0


class Relay:
    """A port of this machine that stands for one of the guest's; one request a connection."""

    def __init__(self, guest: Guest, port: int) -> None:
        self._guest = guest
        self._there = str(port)
        self._worker = guest.agent.worker(f"relay-{port}")
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def close(self) -> None:
        """Take no further connection."""
        self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join(2 * SECONDS)
        self._socket.close()
        assert not self._thread.is_alive(), "a request is still waited for"

    def ask(self, request: bytes) -> bytes:
        """A whole request, by the guest's nc; all that the exporter answers."""
        argv = ["/bin/busybox", "nc", "127.0.0.1", self._there]
        return self._worker.run(argv, stdin=request, timeout=SECONDS).stdout

    def wait(self, seconds: float) -> None:
        """Until it answers."""
        end = fair(seconds)
        while not self.ask(b"GET / HTTP/1.0\r\n\r\n").startswith(b"HTTP/1."):
            assert not end.over, f"nothing answers at port {self._there} of the guest"

    def text(self, accept: str = "text/plain;version=0.0.4") -> str:
        """The text for a scraper that takes this format."""
        wanted = f"GET /metrics HTTP/1.1\r\nHost: guest\r\nAccept: {accept}\r\n\r\n"
        head, _, body = self.ask(wanted.encode()).partition(_HEAD_END)
        assert head.startswith(b"HTTP/1.1 200 "), head
        return body.decode()

    def values(self) -> dict[str, float]:
        """Parse values with the public parser of OpenMetrics: 'name{label="value"}' to value."""
        body = self.text("application/openmetrics-text")
        return {
            sample.name
            + "{"
            + ",".join(f'{key}="{of}"' for key, of in sample.labels.items())
            + "}": sample.value
            for family in text_string_to_metric_families(body)  # type: ignore[no-untyped-call]
            for sample in family.samples
        }

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            # Whoever has asked may not wait for the answer.
            with connection, contextlib.suppress(OSError):
                connection.settimeout(SECONDS)
                self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        request = b""
        while _HEAD_END not in request and len(request) < _LONGEST:
            more = connection.recv(4096)
            if not more:
                return
            request += more
        connection.sendall(self.ask(request))
