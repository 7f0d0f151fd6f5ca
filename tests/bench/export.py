# SPDX-License-Identifier: MIT
"""The cost of monread export for a system of 1,000 users, scraped by Debian's Prometheus.

An hour of the system is read as fast as it comes, and asked for as often as Prometheus would, by
HTTPS and with a password; what that costs a minute is a part of a processor.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import signal
import ssl
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmark import Benchmark, Budget, Pairs
from zvmlab.base.errors import CannotRun, ZvmlabError
from zvmlab.base.tree import TREE

USERS = 1000
HOURS = 1
INTERVAL = 60
# Prometheus' own default is a minute; many take less.
SCRAPES = 4
ASKED = 100
SECONDS = 120.0
LOGIN = "prometheus:se:cret"
# "se:cret" by bcrypt.
PASSWORDS = "prometheus:$2y$05$aaaaaaaaaaaaaaaaaaaaaeSbtCjow3Cq0UmJMn54x1VhZFBwGT/IK\n"
CPU = Budget(1.0, at_most=True)
STORAGE = Budget(50.0, at_most=True)


def _benchmarks() -> Pairs:
    return Pairs(
        Benchmark("cpu", f"export: {USERS:,} users, {SCRAPES} requests a minute", "% CPU", CPU),
        Benchmark("storage", f"export: {USERS:,} users, most storage", "MB", STORAGE),
        Benchmark("read", "export: a minute's records", "ms CPU"),
        Benchmark("request", "export: a request by HTTPS with a password", "ms CPU"),
        Benchmark("samples", "export: values that Prometheus took at a time", "values"),
    )


def _workload() -> dict[str, Any]:
    """The system of the example, ten times as large."""
    found: dict[str, Any] = json.loads((TREE / "examples/busy-day.json").read_text())
    counts = {"WEB": 500, "DB": 100, "BATCH": 196, "CMS": 200}
    for user in found["users"]:
        user["count"] = counts.get(user["name"], 1)
        user.pop("logon", None), user.pop("logoff", None), user.pop("spread_minutes", None)
    found["segment"]["megabytes"] = 64
    found["events"] = []
    return found


def _prepare(folder: Path) -> None:
    (folder / "workload.json").write_text(json.dumps(_workload()))
    (folder / "passwords").write_text(PASSWORDS)
    argv = [str(TREE / "zvmlab"), "fabricate", "--workload", str(folder / "workload.json")]
    argv += ["--hours", str(HOURS), "--out", str(folder / "data")]
    subprocess.run(argv, check=True, capture_output=True, timeout=600)
    argv = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    argv += ["-nodes", "-days", "2", "-subj", "/CN=localhost"]
    argv += ["-addext", "subjectAltName=IP:127.0.0.1", "-out", str(folder / "cert.pem")]
    argv += ["-keyout", str(folder / "key.pem")]
    subprocess.run(argv, check=True, capture_output=True, timeout=SECONDS)


def _cpu(process: subprocess.Popen[str]) -> float:
    """Seconds that it has used."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _most_storage(process: subprocess.Popen[str]) -> float:
    status = Path(f"/proc/{process.pid}/status").read_text()
    found = re.search(r"^VmHWM:\s*(\d+) kB", status, re.MULTILINE)
    assert found
    return int(found[1]) * 1024 / 1e6


@contextmanager
def _exporting(program: Path, folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """It has read all when the block begins; its URL."""
    argv = [str(program), "export", "--listen", "0", "--passwords", str(folder / "passwords")]
    argv += ["--certificate", str(folder / "cert.pem"), "--key", str(folder / "key.pem")]
    with subprocess.Popen(
        [*argv, str(folder / "data")], stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr
            first = process.stderr.readline()
            found = re.search(r"https://\S+", first)
            if not found or "0 violations" not in process.stderr.readline():
                raise ZvmlabError(f"{program} does not export: {first.strip()}")
            yield process, found[0]
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(SECONDS)


def _ask(url: str, folder: Path) -> str:
    request = urllib.request.Request(url)
    request.add_header("Authorization", "Basic " + base64.b64encode(LOGIN.encode()).decode())
    request.add_header("Accept", "application/openmetrics-text")
    trust = ssl.create_default_context(cafile=str(folder / "cert.pem"))
    with urllib.request.urlopen(request, timeout=SECONDS, context=trust) as answer:
        body: bytes = answer.read()
    return body.decode()


def _scraped(url: str, folder: Path) -> float:
    """Values that Prometheus takes at a time: it finds nothing wrong with them."""
    target = url.removeprefix("https://").removesuffix("/metrics")
    user, _, password = LOGIN.partition(":")
    config = {
        "scrape_configs": [
            {
                **{"job_name": "zvm", "scrape_interval": "1s", "scheme": "https"},
                "basic_auth": {"username": user, "password": password},
                "tls_config": {"ca_file": str(folder / "cert.pem")},
                "static_configs": [{"targets": [target]}],
            }
        ]
    }
    # JSON is YAML.
    (folder / "prometheus.yml").write_text(json.dumps(config))
    shutil.rmtree(folder / "tsdb", ignore_errors=True)
    argv = ["prometheus", f"--config.file={folder / 'prometheus.yml'}"]
    argv += [f"--storage.tsdb.path={folder / 'tsdb'}", "--web.listen-address=127.0.0.1:0"]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as prometheus:
        try:
            assert prometheus.stderr
            address = next(
                found[1]
                for line in prometheus.stderr
                if (found := re.search(r'msg="Listening on" address=(\S+)', line))
            )
            return _wait_for_values(address)
        except StopIteration as error:
            raise CannotRun("Debian's prometheus does not start") from error
        finally:
            prometheus.kill()


def _wait_for_values(address: str) -> float:
    query = f"http://{address}/api/v1/query?query=scrape_samples_scraped"
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(query, timeout=SECONDS) as answer:
                result = json.load(answer)["data"]["result"]
        except OSError:
            continue
        if result and float(result[0]["value"][1]) > 0:
            return float(result[0]["value"][1])
    raise ZvmlabError(f"Prometheus has taken no values within {SECONDS:g} s")


def measure(program: Path, pairs: int) -> list[Benchmark]:
    """Each run reads the hour, is asked, and is scraped."""
    if not shutil.which("prometheus"):
        raise CannotRun("prometheus is missing; 'make setup-bench' installs it")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _prepare(folder)

        def run(_swapped: bool) -> dict[str, float]:
            with _exporting(program, folder) as (process, url):
                read = _cpu(process) / (HOURS * 3600 / INTERVAL)
                text = _ask(url, folder)
                users = set(re.findall(r'zvm_user_cpu_seconds_total{user="([^"]+)"', text))
                if len(users) != USERS:
                    raise ZvmlabError(f"{len(users)} users are exported, not {USERS}")
                before = _cpu(process)
                for _ in range(ASKED):
                    _ask(url, folder)
                request = (_cpu(process) - before) / ASKED
                samples = _scraped(url, folder)
                return {
                    "cpu": 100 * (read + SCRAPES * request) / INTERVAL,
                    "storage": _most_storage(process),
                    "read": 1000 * read,
                    "request": 1000 * request,
                    "samples": samples,
                }

        return _benchmarks().repeat(pairs, run)
