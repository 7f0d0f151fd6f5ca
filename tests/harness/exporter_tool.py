# SPDX-License-Identifier: MIT
"""A tool that exports, for tests on this machine: started, asked, ended."""

from __future__ import annotations

import base64
import contextlib
import http.client
import re
import signal
import ssl
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from prometheus_client import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_open
from prometheus_client.parser import text_string_to_metric_families as read_text

from zvmlab.base.errors import EXIT_PASS

SECONDS = 60
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
TEXT = "text/plain; version=0.0.4; charset=utf-8"


@dataclass
class Answer:
    code: int
    headers: http.client.HTTPMessage
    body: str


@dataclass
class Exporter:
    """One that runs; where it listens, by what it has said."""

    process: subprocess.Popen[str]
    said: list[str] = field(default_factory=list)
    heard: threading.Condition = field(default_factory=threading.Condition)

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Until it says that."""
        with self.heard:
            found = self.heard.wait_for(
                lambda: next(filter(None, (re.search(pattern, one) for one in self.said)), None),
                SECONDS,
            )
        assert found, f"no line like '{pattern}' came within {SECONDS} s: {self.said}"
        return found

    def address(self, what: str = "values at https?://") -> tuple[str, int]:
        found = self.wait_for(rf"{what}(\[.*\]|[^:]*):(\d+)")
        return found[1].strip("[]"), int(found[2])

    def ask(
        self,
        path: str = "/metrics",
        method: str = "GET",
        login: str | None = None,
        tls: ssl.SSLContext | None = None,
        accept: str | None = "application/openmetrics-text;version=1.0.0,text/plain;q=0.5",
        source: str | None = None,
    ) -> Answer:
        host, port = self.address()
        connection: http.client.HTTPConnection
        if tls:
            connection = http.client.HTTPSConnection(host, port, timeout=SECONDS, context=tls)
        else:
            own = (source, 0) if source else None
            connection = http.client.HTTPConnection(host, port, SECONDS, own)
        headers = {"Accept": accept} if accept else {}
        if login is not None:
            headers["Authorization"] = "Basic " + base64.b64encode(login.encode()).decode()
        with contextlib.closing(connection):
            connection.request(method, path, headers=headers)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read().decode())

    def values(self, **how: str) -> dict[str, float]:
        """Parse values with the public parser."""
        answer = self.ask(**how)  # type: ignore[arg-type]
        assert answer.code == 200 and answer.headers["Content-Type"] == OPENMETRICS
        return values(answer.body)

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(SECONDS)


def families(text: str) -> dict[str, Metric]:
    """Parse OpenMetrics with the parser of Prometheus' own client."""
    return {family.name: family for family in read_open(text)}  # type: ignore[no-untyped-call]


def flat(read: dict[str, Metric]) -> dict[str, float]:
    """'name{label="value"}' to value."""
    found = {}
    for one in read.values():
        for sample in one.samples:
            labels = ",".join(f'{name}="{value}"' for name, value in sample.labels.items())
            found[sample.name + (f"{{{labels}}}" if labels else "")] = sample.value
    return found


def values(text: str) -> dict[str, float]:
    return flat(families(text))


def text_values(text: str) -> dict[str, float]:
    """The same of the text format 0.0.4."""
    found = read_text(text)  # type: ignore[no-untyped-call]
    return flat({one.name: one for one in found})


@contextlib.contextmanager
def exporting(program: Path, *words: str | Path, ends: int = EXIT_PASS) -> Iterator[Exporter]:
    """``PROGRAM export WORDS``, until the block ends; what it must return then."""
    argv = [str(program), "export", *map(str, words)]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as process:
        running = Exporter(process)

        def listen() -> None:
            assert process.stderr is not None
            for line in process.stderr:
                with running.heard:
                    running.said.append(line.rstrip("\n"))
                    running.heard.notify_all()

        listener = threading.Thread(target=listen)
        listener.start()
        try:
            yield running
            if process.poll() is None:
                assert running.end() == ends, running.said
        finally:
            process.kill()
            process.wait(SECONDS)
            listener.join(SECONDS)
