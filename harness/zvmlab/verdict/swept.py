# SPDX-License-Identifier: MIT
"""Sweeps on both sides: every fault at every call of the scenarios that use a touched file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

from zvmlab.base.errors import ZvmlabError
from zvmlab.base.plain import harmless, shortened
from zvmlab.base.tree import TREE
from zvmlab.scenarios import BUILT_IN, USERS, WRITERS
from zvmlab.verdict.compare import compare
from zvmlab.verdict.report import Tried
from zvmlab.verdict.runs import Seen
from zvmlab.verdict.sides import Side, Sides

SEED = 1
_MONREADER = "monreader"


def scenarios_for(files: Iterable[str]) -> list[str]:
    """The scenarios that need a module of which one of the files is."""
    stems = {PurePosixPath(name).stem for name in files}
    found = list(BUILT_IN) if _MONREADER in stems else []
    for name, scenario in (USERS | WRITERS).items():
        if stems & set(scenario.modules):
            found.append(name)
    return found


def sweeps(sides: Sides, files: Iterable[str], folder: Path, one: Tried, said: list[str]) -> None:
    """Sweep each scenario on both sides, and add what differs to the verdict."""
    names = scenarios_for(files)
    if not names:
        said.append("no scenario that can be swept uses the files of the series")
    for name in names:
        base = _sweep(sides.base, name, folder / f"{name}-base")
        patched = _sweep(sides.patched, name, folder / f"{name}-patched")
        found = compare(base, patched)
        one.difference.failing += found.failing
        one.difference.passing += found.passing
        one.difference.states |= found.states
        one.difference.compared += found.compared


def _sweep(side: Side, scenario: str, output: Path) -> dict[str, Seen]:
    """The judged faults of one side's sweep."""
    report = output / "report.json"
    if not report.exists():
        argv = [sys.executable, str(TREE / "zvmlab"), "sweep", scenario, "--kernel", side.kernel]
        argv += ["--seed", str(SEED), "--output", str(output)]
        env = {**os.environ, **side.environment}
        done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
        if not report.exists():
            text = (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
            raise ZvmlabError(f"the sweep of {scenario} on {side.kernel} failed: {shortened(text)}")
    return _read(json.loads(report.read_text(encoding="utf-8")), scenario)


def _read(data: Any, scenario: str) -> dict[str, Seen]:
    found = {}
    for case in data["cases"]:
        name = f"sweep.py::{scenario}[{case['case']}]"
        word = str(case["verdict"])
        texts = [str(symptom) for symptom in case.get("blame", [])] or [str(case.get("effect", ""))]
        cause = harmless(shortened("; ".join(texts)), lines=False)
        found[name] = Seen(name, word == "ok", word == "known", cause, "", "")
    return found
