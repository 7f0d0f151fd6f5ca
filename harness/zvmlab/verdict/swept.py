# SPDX-License-Identifier: MIT
"""Sweeps on both sides: every fault at every call of the scenarios that use a touched file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from zvmlab.base.errors import EXIT_FAILED, EXIT_PANIC, EXIT_TIMEOUT, ZvmlabError
from zvmlab.base.json_file import parse
from zvmlab.base.plain import harmless, shortened
from zvmlab.base.results import NAME, sense
from zvmlab.base.tree import TREE
from zvmlab.scenarios import BUILT_IN, USERS, WRITERS
from zvmlab.sweep.report import JSON_NAME, KNOWN, OK
from zvmlab.sweep.run import PANIC
from zvmlab.verdict.allow import Allowed
from zvmlab.verdict.compare import REPEATS, Difference, Results, compare, differing
from zvmlab.verdict.runs import Seen, call
from zvmlab.verdict.sides import BASE, PATCHED, Side, Sides

SEED = 1
_MONREADER = "monreader"
# Scenarios of what every kernel has, or loads for the agent: no module of theirs is named.
_OF_FILES = {
    "arch/s390/hypfs/": "hypfs",
    "arch/s390/mm/cmm.c": "cmm",
    "arch/s390/mm/pfault.c": "pfault",
    "drivers/tty/hvc/hvc_iucv.c": "terminal",
    "net/iucv/": "sockets",
}
_MOST_BYTES = 256 << 20
_NO_FAULT = "without a fault"


class NotSwept(ZvmlabError):
    """The scenario cannot be swept on this kernel."""


def scenarios_for(files: Sequence[str], modules: Iterable[str] = ()) -> list[str]:
    """The scenarios that use one of the files, or of the modules that are built from them."""
    touched = {PurePosixPath(name).stem for name in files} | set(modules)
    found = list(BUILT_IN) if _MONREADER in touched else []
    for name, scenario in (USERS | WRITERS).items():
        if touched & set(scenario.modules):
            found.append(name)
    for begin, name in _OF_FILES.items():
        if any(file.startswith(begin) for file in files):
            found.append(name)
    return found


def sweeps(
    sides: Sides, names: Iterable[str], folder: Path, found: Difference, allowed: Allowed
) -> list[str]:
    """Sweep the scenarios on both sides, and add what differs; sentences about what was not swept."""
    said = []
    for name in names:
        try:
            found.add(_compared(sides, name, folder, allowed))
        except NotSwept as error:
            said.append(str(error))
    return said


def _compared(sides: Sides, name: str, folder: Path, allowed: Allowed) -> Difference:
    """One scenario; faults whose effects differ are repeated."""
    base = _sweep(sides.base, name, folder / f"{name}-{BASE}")
    patched = _sweep(sides.patched, name, folder / f"{name}-{PATCHED}")
    keys = differing(base, patched)
    again: dict[str, list[Results]] = {BASE: [], PATCHED: []}
    points = [base[key].node for key in keys if base[key].node]
    for turn in range(1, REPEATS + 1) if keys else ():
        for label, side in ((BASE, sides.base), (PATCHED, sides.patched)):
            again[label].append(_sweep(side, name, folder / f"{name}-{label}-{turn}", points))
    return compare(base, patched, again[BASE], again[PATCHED], allowed)


def _sweep(side: Side, scenario: str, output: Path, points: Sequence[str] = ()) -> dict[str, Seen]:
    """The judged faults of one side's sweep, by the names of tests."""
    report = output / JSON_NAME
    whole = _key(scenario, _NO_FAULT)
    if not report.exists():
        argv = [sys.executable, str(TREE / "zvmlab"), "sweep", scenario, "--kernel", side.kernel]
        argv += ["--seed", str(SEED), "--output", str(output)]
        argv += ["--resume"] if (output / NAME).exists() else []
        argv += [word for point in points for word in ("--point", point)]
        output.mkdir(parents=True, exist_ok=True)
        log = output / "sweep.log"
        code = call(argv, {**os.environ, **side.environment}, log)
        if not report.exists():
            lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            text = harmless((lines or ["nothing was said"])[-1], lines=False)
            if code not in (EXIT_FAILED, EXIT_TIMEOUT, EXIT_PANIC):
                why = text.removeprefix("zvmlab: ")
                raise NotSwept(f"{scenario} was not swept on {side.kernel}: {shortened(why)}")
            return {whole: Seen("", False, False, shortened(text), "", "")}
    data = parse(report, str(report), _MOST_BYTES)
    with sense(report):
        return {whole: Seen("", True, False, "", "", "")} | _read(data, scenario)


def _key(scenario: str, case: str) -> str:
    return f"sweep.py::{scenario}[{case}]"


def _read(data: Any, scenario: str) -> dict[str, Seen]:
    return {_key(scenario, str(case["case"])): _seen(case) for case in data["cases"]}


def _seen(case: Mapping[str, Any]) -> Seen:
    word = str(case["verdict"])
    symptoms = [(str(one["kind"]), str(one["text"])) for one in case["symptoms"]]
    cause = "; ".join(f"{kind}: {text}" for kind, text in symptoms)
    crashes = [text.partition("; in ") for kind, text in symptoms if kind == PANIC]
    report, _, inside = crashes[0] if crashes else ("", "", "")
    return Seen(
        str(case["case"]),
        word == OK,
        word == KNOWN,
        harmless(shortened(cause), lines=False),
        harmless(report, lines=False),
        harmless(inside, lines=False),
        effect=harmless(shortened(str(case["effect"])), lines=False),
    )
