# SPDX-License-Identifier: MIT
"""A picture of monread's dashboard, drawn by Grafana's own components (@grafana/ui).

``draw_dashboard.py --monread build/monread`` has ``monread export`` read twelve hours of
examples/busy-day.json, keeps what it gives at the end of each interval, and has Prometheus answer what
each panel asks.  No Grafana runs: npm fetches its components, which draw the answers in a browser.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from npm import SECONDS, packages, run

from zvmlab.base.errors import ZvmlabError, exit_code
from zvmlab.base.progress import Progress
from zvmlab.fabricate.file import read_workload
from zvmlab.fabricate.model import Model

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
DASHBOARD = ROOT / "docs/dashboards/monread.json"
PICTURE = ROOT / "docs/dashboards/monread.png"
GRAFANA = "11.6.16"
PACKAGES = (
    f"@grafana/ui@{GRAFANA}",
    f"@grafana/data@{GRAFANA}",
    "react@18.3.1",
    "react-dom@18.3.1",
    "esbuild@0.25.12",
)
HOURS = 12.0
STEP = 60
"""Seconds between two points: the interval of the workload."""
ROWS = 4
"""Rows of panels in the picture; the others are of losses, events and paging by volume."""
SIZE = (24 * 66, ROWS * 8 * 38)
"""Pixels, by COLUMN and ROW of drawn.tsx."""
SCALE = 0.75
SYSTEM = 'instance="vm1.example.org:9811",job="monread"'
_END = re.compile(r"^monread_interval_end_timestamp_seconds (\S+)$", re.MULTILINE)


def _get(url: str) -> str:
    try:
        with urllib.request.urlopen(url, timeout=SECONDS) as answer:
            text: str = answer.read().decode()
            return text
    except OSError as error:
        raise ZvmlabError(f"no answer from {url.partition('?')[0]}: {error}") from error


@contextlib.contextmanager
def _limited(process: subprocess.Popen[Any]) -> Iterator[None]:
    """Within the block it runs, but for so long at most: who waits for it then learns of its end."""
    timer = threading.Timer(SECONDS, process.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        process.kill()
        process.wait(SECONDS)


def scrapes(monread: Path, hours: float) -> Iterator[tuple[float, str]]:
    """What the exporter gives at the end of each interval, with the interval's end."""
    argv = [str(monread), "export", "--listen", "127.0.0.1:0", "-"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stderr is not None
        address, last = "", ""
        drain = threading.Thread(target=process.stderr.read, daemon=True)
        workload = read_workload(ROOT / "examples/busy-day.json", hours)
        with _limited(process), Model(workload) as model:
            for one in model.sets():
                for part in one.stream():
                    process.stdin.write(part)
                process.stdin.flush()
                if not address:
                    # It says where it listens when it knows what it reads.
                    address = _address(process.stderr.readline().decode())
                    drain.start()
                text = _get(address)
                end = _END.search(text)
                if end is not None and end[1] != last:
                    last = end[1]
                    yield float(last), text


def _address(said: str) -> str:
    """Of the values, out of what the exporter says first."""
    found = re.search(r"http://\S+", said)
    if found is None:
        raise ZvmlabError(f"monread does not export: {said.strip()}")
    return found[0]


def openmetrics(taken: Iterator[tuple[float, str]]) -> Iterator[str]:
    """Lines that Prometheus takes for the past: by families and series, each value with its time."""
    heads: dict[str, dict[str, None]] = {}
    series: dict[str, dict[str, list[str]]] = {}
    for end, text in taken:
        family = ""
        for line in text.splitlines():
            if line.startswith("# "):
                family = line.split(" ")[2] if line != "# EOF" else ""
                heads.setdefault(family, {})[line] = None
                continue
            name, _, value = line.rpartition(" ")
            name, brace, labels = name.partition("{")
            labelled = f"{name}{{{SYSTEM}{f',{labels}' if brace else '}'}"
            values = series.setdefault(family, {}).setdefault(labelled, [])
            values.append(f"{labelled} {value} {end:.0f}")
    for family, lines in series.items():
        yield from heads[family]
        for values in lines.values():
            yield from values
    yield "# EOF"


@contextlib.contextmanager
def prometheus(data: Path) -> Iterator[str]:
    """One that scrapes nothing, with these data; its address."""
    (data / "prometheus.yml").write_text("{}\n")
    argv = ["prometheus", f"--config.file={data / 'prometheus.yml'}"]
    argv += [f"--storage.tsdb.path={data / 'tsdb'}", "--storage.tsdb.retention.time=100y"]
    argv += ["--web.listen-address=127.0.0.1:0"]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        drain = threading.Thread(target=process.stderr.read, daemon=True)
        with _limited(process):
            said = ""
            while "Server is ready to receive web requests" not in said:
                line = process.stderr.readline()
                said += line
                if not line:
                    raise ZvmlabError(f"Prometheus did not start: {said[-600:]}")
            drain.start()
            (address,) = re.findall(r'msg="Listening on" address=(\S+)', said)
            yield f"http://{address}"


def series_of(panel: dict[str, Any], address: str, start: float, end: float) -> Iterator[Any]:
    """What Prometheus has for a panel, as drawn.tsx wants it; null where a series has no value."""
    times = [start + STEP * number for number in range(int((end - start) // STEP) + 1)]

    def named(legend: str, labels: dict[str, str]) -> str:
        return re.sub(r"{{(\w+)}}", lambda match: labels.get(match[1], ""), legend).strip()

    for target in panel["targets"]:
        expression = target["expr"].replace("$instance", ".*").replace("$__rate_interval", "5m")
        fields = {"query": expression, "start": start, "end": end, "step": STEP}
        answer = json.loads(_get(f"{address}/api/v1/query_range?{urllib.parse.urlencode(fields)}"))
        for found in answer["data"]["result"]:
            numbers = ((float(at), float(value)) for at, value in found["values"])
            values = {at: value for at, value in numbers if math.isfinite(value)}
            yield {
                "name": named(target["legendFormat"], found["metric"]),
                "times": [1000 * at for at in times],
                "values": [values.get(at) for at in times],
            }


def draw(folder: Path, drawn: dict[str, Any], grafana: Path, picture: Path) -> None:
    """The page, and a browser's picture of it."""
    (folder / "dashboard.js").write_text(f"window.drawn = {json.dumps(drawn, allow_nan=False)};\n")
    (folder / "index.html").write_text(
        '<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="drawn.css">'
        '<body style="margin: 0"><div id="root"></div>'
        '<script src="dashboard.js"></script><script src="drawn.js"></script>\n'
    )
    shutil.copy(HERE / "drawn.tsx", folder)
    (folder / "node_modules").symlink_to(grafana / "node_modules")
    argv = ["node_modules/esbuild/bin/esbuild", "drawn.tsx", "--bundle", "--outfile=drawn.js"]
    argv += ['--define:process.env.NODE_ENV="production"', "--define:global=window"]
    run([*argv, "--loader:.ttf=dataurl", "--log-level=error"], folder)
    argv = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    argv += [f"--window-size={SIZE[0]},{SIZE[1]}", f"--force-device-scale-factor={SCALE}"]
    argv += ["--virtual-time-budget=20000", f"--screenshot={picture}"]
    run([*argv, (folder / "index.html").as_uri()], folder)


def main(words: Sequence[str]) -> None:
    """Draw the picture of docs/export.md."""
    options = argparse.ArgumentParser(allow_abbrev=False)
    options.add_argument("--monread", type=Path, required=True, help="the program")
    options.add_argument("--output", type=Path, default=PICTURE, help="the picture")
    arguments = options.parse_args(words)
    progress = Progress()
    grafana = packages("grafana-ui", PACKAGES, progress)
    dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with progress.step(f"{HOURS:g} hours of monitor data"):
            taken = list(scrapes(arguments.monread, HOURS))
            lines = "\n".join(openmetrics(iter(taken)))
            (folder / "past.txt").write_text(f"{lines}\n")
            argv = ["promtool", "tsdb", "create-blocks-from", "openmetrics", "past.txt", "tsdb"]
            run(argv, folder)
        start, end = taken[0][0], taken[-1][0]
        with progress.step("asking Prometheus"), prometheus(folder) as address:
            for panel in dashboard["panels"]:
                panel["series"] = list(series_of(panel, address, start, end))
        with progress.step("drawing"):
            drawn = {"dashboard": dashboard, "from": 1000 * start, "to": 1000 * end}
            draw(folder, drawn, grafana, arguments.output.absolute())
    print(f"{arguments.output}: {len(taken)} intervals, {len(dashboard['panels'])} panels")


if __name__ == "__main__":
    sys.exit(exit_code(lambda: main(sys.argv[1:]), "make draw-dashboard"))
