# SPDX-License-Identifier: MIT
"""The files that describe a run: report.json, .html, .tap, .ktap, requirements.md (docs/report.md)."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import time
from itertools import islice
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from zvmlab.base.version import __version__
from zvmlab.pytest_plugin.requirement_results import Outcome, Result, Run
from zvmlab.pytest_plugin.requirement_table import deviations, markdown, totals
from zvmlab.pytest_plugin.requirement_tap import ktap, tap
from zvmlab.pytest_plugin.requirement_timeline import RECORDS_MAX, TRACK, Timeline, timeline
from zvmlab.pytest_plugin.speeds import told

FORMAT = 3
TIMELINES_MAX = 50
_HERE = Path(__file__).parent
# What is looked for first comes first.
_ORDER = (Outcome.FAILED, Outcome.DEVIATES, Outcome.SKIPPED, Outcome.PASSED)


def write(run: Run, folder: Path) -> list[Path]:
    """Write all files; an OSError is the caller's."""
    texts = {
        "report.json": json.dumps(as_json(run), indent=1) + "\n",
        "report.html": page(run),
        "requirements.md": markdown(run),
        "report.tap": "".join(f"{line}\n" for line in tap(run)),
        "report.ktap": "".join(f"{line}\n" for line in ktap(run)),
    }
    if not run.requirements.rows:
        del texts["requirements.md"]
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", errors="replace")
    return [folder / name for name in texts]


def as_json(run: Run) -> dict[str, Any]:
    """The run as docs/report.md describes it."""
    columns = [column._asdict() for column in run.columns]
    rows = []
    for row in run.rows():
        cells = [
            {
                **column._asdict(),
                "result": cell.outcome,
                "shown": cell.shown,
                "tests": cell.counts,
                "left": cell.left,
            }
            for column, cell in row.cells.items()
        ]
        rows.append({**dataclasses.asdict(row.requirement), "functions": row.tests, "cells": cells})
    return {
        "format": FORMAT,
        "zvmlab": __version__,
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(run.started)),
        "seconds": round(run.seconds, 3),
        "columns": columns,
        "kernels": dict(run.kernels),
        "groups": dict(run.requirements.groups),
        "requirements": rows,
        "whole": run.whole,
        "left": sum(run.left.values()),
        "complaints": run.complaints(),
        "tests": [result.to_json() for result in run.results],
    }


def page(run: Run) -> str:
    """The page: one file, nothing of it from elsewhere, no script but its own."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script = (_HERE / "requirement_report.js").read_text(encoding="utf-8")
    style = (_HERE / "requirement_report.css").read_text(encoding="utf-8")
    ranked = sorted(run.results, key=lambda r: _ORDER.index(r.outcome or Outcome.FAILED))
    return environment.get_template("requirement_report.html").render(
        run=run,
        rows=run.rows(),
        results=ranked,
        timelines=_timelines(ranked),
        totals=totals(run),
        deviations=deviations(run),
        left=told(run.whole, run.left) if run.left else "",
        errnos=sorted({name for r in run.results for name in r.case.errnos}),
        started=time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(run.started)),
        version=__version__,
        track=TRACK,
        records_max=RECORDS_MAX,
        script=Markup(script),
        style=Markup(style),
        script_hash=_hash(script),
        style_hash=_hash(style),
    )


def _timelines(results: list[Result]) -> dict[str, list[Timeline]]:
    """By the test's name; for the first failed ones only, because each takes 100 KB."""
    failed = (result for result in results if result.cuts)
    return {r.case.test: [timeline(cut) for cut in r.cuts] for r in islice(failed, TIMELINES_MAX)}


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _printable(value: object) -> object:
    """Control characters as their pictures; a browser would drop or obey them."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return "".join(chr(0x2400 + ord(c)) if ord(c) < 0x20 and c not in "\n\t" else c for c in value)
