# SPDX-License-Identifier: MIT
"""Debian's Prometheus on this machine: it scrapes ports of it, and is asked for what it has taken."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import threading
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

SECONDS = 120.0


class Prometheus:
    """One that runs, at this address."""

    def __init__(self, address: str) -> None:
        self._address = address

    def ask(self, query: str, at: float | None = None) -> list[tuple[dict[str, str], float]]:
        """Query the values now, or *at* seconds since 1970: labels and value of each series."""
        fields = {"query": query} if at is None else {"query": query, "time": str(at)}
        return [
            (answer["metric"], float(answer["value"][1]))
            for answer in self._answer("query", fields)
        ]

    def ask_range(
        self, query: str, times: tuple[float, float], step: float
    ) -> list[tuple[dict[str, str], dict[float, float]]]:
        """Between two *times*, every *step* seconds: labels of each series, and its value by time."""
        start, end = times
        fields = {"query": query, "start": str(start), "end": str(end), "step": str(step)}
        return [
            (answer["metric"], {float(at): float(value) for at, value in answer["values"]})
            for answer in self._answer("query_range", fields)
        ]

    def _answer(self, kind: str, fields: Mapping[str, str]) -> list[dict[str, Any]]:
        url = f"http://{self._address}/api/v1/{kind}?{urllib.parse.urlencode(fields)}"
        with urllib.request.urlopen(url, timeout=SECONDS) as answer:
            found: dict[str, Any] = json.load(answer)
        assert found["status"] == "success", found
        result: list[dict[str, Any]] = found["data"]["result"]
        return result


@contextlib.contextmanager
def scraping(
    folder: Path,
    ports: Mapping[str, int],
    seconds: int = 15,
    instances: Mapping[str, str] | None = None,
) -> Iterator[Prometheus]:
    """Scrape each port every so many *seconds*, as a job of that name; with what is there already.

    *instances*: what a job's instance is called, if not by its address.
    """
    jobs = [
        {
            "job_name": name,
            "static_configs": [
                {
                    "targets": [f"127.0.0.1:{port}"],
                    "labels": {"instance": (instances or {}).get(name, f"127.0.0.1:{port}")},
                }
            ],
        }
        for name, port in ports.items()
    ]
    # A busy machine takes its time for one.
    times = {"scrape_interval": f"{seconds}s", "scrape_timeout": f"{seconds}s"}
    config = {"global": times, "scrape_configs": jobs}
    (folder / "prometheus.yml").write_text(json.dumps(config))  # JSON is YAML
    argv = ["prometheus", f"--config.file={folder / 'prometheus.yml'}"]
    argv += [f"--storage.tsdb.path={folder / 'tsdb'}", "--storage.tsdb.retention.time=100y"]
    argv += ["--web.listen-address=127.0.0.1:0"]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        drain = threading.Thread(target=process.stderr.read)
        slow = threading.Timer(SECONDS, process.kill)
        slow.start()
        try:
            said: list[str] = []
            for line in process.stderr:
                said.append(line)
                if "Server is ready to receive web requests" in line:
                    break
            slow.cancel()
            found = re.search(r'msg="Listening on" address=(\S+)', "".join(said))
            assert found and "ready" in said[-1], f"Prometheus is not ready: {''.join(said[-5:])}"
            drain.start()
            yield Prometheus(found[1])
        finally:
            slow.cancel()
            process.kill()
            process.wait(SECONDS)
            if drain.ident is not None:
                drain.join(SECONDS)
