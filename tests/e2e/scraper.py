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
        """What it has now, or had *at* so many seconds since 1970: labels and value of each series."""
        fields = {"query": query} if at is None else {"query": query, "time": str(at)}
        words = urllib.parse.urlencode(fields)
        url = f"http://{self._address}/api/v1/query?{words}"
        with urllib.request.urlopen(url, timeout=SECONDS) as answer:
            found: dict[str, Any] = json.load(answer)
        assert found["status"] == "success", found
        return [(one["metric"], float(one["value"][1])) for one in found["data"]["result"]]


@contextlib.contextmanager
def scraping(folder: Path, ports: Mapping[str, int], seconds: int = 15) -> Iterator[Prometheus]:
    """Scrape each port every so many *seconds*, as a job of that name."""
    jobs = [
        {"job_name": name, "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}
        for name, port in ports.items()
    ]
    # A busy machine takes its time for one.
    times = {"scrape_interval": f"{seconds}s", "scrape_timeout": f"{seconds}s"}
    config = {"global": times, "scrape_configs": jobs}
    (folder / "prometheus.yml").write_text(json.dumps(config))  # JSON is YAML
    argv = ["prometheus", f"--config.file={folder / 'prometheus.yml'}"]
    argv += [f"--storage.tsdb.path={folder / 'tsdb'}", "--web.listen-address=127.0.0.1:0"]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        drain = threading.Thread(target=process.stderr.read)
        try:
            said: list[str] = []
            for line in process.stderr:
                said.append(line)
                if "Server is ready to receive web requests" in line:
                    break
            found = re.search(r'msg="Listening on" address=(\S+)', "".join(said))
            assert found, f"Prometheus is not ready: {''.join(said[-5:])}"
            drain.start()
            yield Prometheus(found[1])
        finally:
            process.kill()
            process.wait(SECONDS)
            if drain.ident is not None:
                drain.join(SECONDS)
