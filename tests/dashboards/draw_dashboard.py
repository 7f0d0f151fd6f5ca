# SPDX-License-Identifier: MIT
"""Pictures of the dashboards, drawn by Grafana's own components (@grafana/ui).

``draw_dashboard.py --monread build/monread`` has ``monread export`` read twelve hours of
examples/busy-day.json, and keeps what it gives at the end of each interval.  Then Prometheus scrapes
taskmon and dmmon in a guest for six minutes.  What each panel asks, Prometheus answers.  No Grafana
runs: npm fetches its components, which draw the answers in a browser.
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
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from npm import SECONDS, packages, run
from scraper import Prometheus, scraping
from watched_guest import STEP as GUEST_STEP
from watched_guest import watched

from zvmlab.base.errors import ZvmlabError, exit_code
from zvmlab.base.progress import Progress
from zvmlab.fabricate.file import read_workload
from zvmlab.fabricate.model import Model

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
DASHBOARDS = ROOT / "docs/dashboards"
GRAFANA = "11.6.16"
PACKAGES = (
    f"@grafana/ui@{GRAFANA}",
    f"@grafana/data@{GRAFANA}",
    "react@18.3.1",
    "react-dom@18.3.1",
    "esbuild@0.25.12",
)
HOURS = 12.0
MONREAD_STEP = 60
"""Seconds between two points: the interval of the workload."""
ROWS = {"monread": 4}
"""Rows of panels in the picture, if not all: monread's others are of losses and events."""
COLUMN, ROW = 66, 38
"""Pixels, as in drawn.tsx; a dashboard has 24 columns, and a panel 8 rows."""
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
    """The exporter's values at the end of each interval, with the interval's end."""
    argv = [str(monread), "export", "--listen", "127.0.0.1:0", "-"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stderr is not None
        address, last = "", ""
        drain = threading.Thread(target=process.stderr.read, daemon=True)
        workload = read_workload(ROOT / "examples/busy-day.json", hours)
        with _limited(process), Model(workload) as model:
            for data_set in model.sets():
                for part in data_set.stream():
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


@dataclass(frozen=True)
class Period:
    """The period to ask Prometheus for; seconds since 1970, and between two points."""

    prometheus: Prometheus
    start: int
    end: int
    step: int

    def series_of(self, panel: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The series of a panel, as drawn.tsx takes it; null where a series has no value."""
        times = range(self.start, self.end + 1, self.step)
        # As Grafana chooses it for this step.
        interval = f"{5 * self.step}s"
        for target in panel["targets"]:
            query = target["expr"].replace("$instance", ".*")
            query = query.replace("$__rate_interval", interval)
            for labels, values in self.prometheus.ask_range(
                query, (times[0], times[-1]), self.step
            ):
                found = [values.get(at, math.nan) for at in times]
                yield {
                    "name": _named(target["legendFormat"], labels),
                    "times": [1000 * at for at in times],
                    "values": [value if math.isfinite(value) else None for value in found],
                }


def _named(legend: str, labels: dict[str, str]) -> str:
    return re.sub(r"{{(\w+)}}", lambda match: labels.get(match[1], ""), legend).strip()


@contextlib.contextmanager
def monread_day(monread: Path, folder: Path, progress: Progress) -> Iterator[Period]:
    """Prometheus with what monread exports of half a day."""
    with progress.step(f"{HOURS:g} hours of monitor data"):
        taken = list(scrapes(monread, HOURS))
        lines = "\n".join(openmetrics(iter(taken)))
        (folder / "past.txt").write_text(f"{lines}\n")
        argv = ["promtool", "tsdb", "create-blocks-from", "openmetrics", "past.txt", "tsdb"]
        run(argv, folder)
    with scraping(folder, {}) as prometheus:
        yield Period(prometheus, int(taken[0][0]), int(taken[-1][0]), MONREAD_STEP)


def _has_data(panel: dict[str, Any]) -> bool:
    return any(value is not None for series in panel["series"] for value in series["values"])


def ask(name: str, period: Period, progress: Progress) -> dict[str, Any]:
    """A dashboard, with the series of each panel."""
    dashboard: dict[str, Any] = json.loads((DASHBOARDS / f"{name}.json").read_text("utf-8"))
    with progress.step(f"asking Prometheus for {name}'s panels"):
        for panel in dashboard["panels"]:
            panel["series"] = list(period.series_of(panel))
    return {"dashboard": dashboard, "from": 1000 * period.start, "to": 1000 * period.end}


def draw(folder: Path, drawn: dict[str, Any], grafana: Path, rows: int, picture: Path) -> None:
    """The page, and a browser's picture of its first *rows* of panels."""
    folder.mkdir()
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
    argv += [f"--window-size={24 * COLUMN},{rows * 8 * ROW}"]
    argv += [f"--force-device-scale-factor={SCALE}", "--virtual-time-budget=20000"]
    run([*argv, f"--screenshot={picture}", (folder / "index.html").as_uri()], folder)


def main(words: Sequence[str]) -> None:
    """Draw the pictures of docs/export.md."""
    options = argparse.ArgumentParser(allow_abbrev=False)
    options.add_argument("--monread", type=Path, required=True, help="the program")
    options.add_argument("--output", type=Path, default=DASHBOARDS, help="the pictures' folder")
    arguments = options.parse_args(words)
    progress = Progress()
    grafana = packages("grafana-ui", PACKAGES, progress)
    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "day").mkdir()
        with monread_day(arguments.monread, folder / "day", progress) as period:
            found["monread"] = ask("monread", period, progress)
        (folder / "work").mkdir()
        with watched(folder / "work", progress) as (prometheus, start, end):
            period = Period(prometheus, start, end, GUEST_STEP)
            for name in ("taskmon", "dmmon"):
                found[name] = ask(name, period, progress)
        for name, drawn in found.items():
            picture = arguments.output.absolute() / f"{name}.png"
            panels = drawn["dashboard"]["panels"]
            rows = ROWS.get(name) or max(panel["gridPos"]["y"] for panel in panels) // 8 + 1
            with progress.step(f"drawing {picture.name}"):
                draw(folder / name, drawn, grafana, rows, picture)
            empty = [panel["title"] for panel in panels if not _has_data(panel)]
            print(f"{picture}: {len(panels)} panels, without data: {', '.join(empty) or 'none'}")


if __name__ == "__main__":
    sys.exit(exit_code(lambda: main(sys.argv[1:]), "make draw-dashboard"))
