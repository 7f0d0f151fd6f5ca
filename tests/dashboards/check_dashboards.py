# SPDX-License-Identifier: MIT
"""The dashboards of docs/dashboards, judged by the types that Grafana itself publishes.

``check_dashboards.py`` fetches the types of one release of each major version with npm, once, into the
cache, and has TypeScript's compiler look at each dashboard: an unknown or missing field, or a value
that a field cannot have, is told with the version and the panel.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from npm import completed, packages

from zvmlab.base.errors import ZvmlabError, exit_code
from zvmlab.base.progress import Progress

ROOT = Path(__file__).resolve().parents[2]
FOLDER = "docs/dashboards"
VERSIONS = ("9.5.21", "10.4.19", "11.6.16", "12.4.11", "13.2.3")
"""Releases of @grafana/schema."""
COMPILER = "5.9.3"
_MOST = 20

# What JSON has for an enumeration is the value of its member.
_VALUES = """\
type Value<T> = T extends boolean ? T
    : T extends string ? `${T}`
    : T extends number ? (`${T}` extends `${infer N extends number}` ? N : number)
    : T extends (infer U)[] ? Value<U>[]
    : T extends object ? { [K in keyof T]: Value<T[K]> }
    : T;
"""
_TYPES = "Dashboard, GraphFieldConfig, Panel, VizLegendOptions, VizTooltipOptions"


def _alias(version: str) -> str:
    return f"grafana-{version.split('.')[0]}"


def parts(version: str, dashboard: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """The judged parts of a dashboard: place, type, contents.

    A panel's options are of any type for Grafana's own type of panels; those of panels of time
    series consist of the two that are judged here.  The types that version 9 has of dashboards and
    panels are those of its memory, not of its files.
    """
    of_files = not version.startswith("9.")
    if of_files:
        yield "the dashboard", "Dashboard", {**dashboard, "panels": []}
    for panel in dashboard["panels"]:
        where = f"panel {panel['id']} ({panel['title']})"
        if of_files:
            yield where, "Panel", panel
        if panel["type"] != "timeseries" or set(panel["options"]) - {"legend", "tooltip"}:
            raise ZvmlabError(f"{where}: the check does not know the options of such a panel")
        yield f"{where}, legend", "VizLegendOptions", panel["options"]["legend"]
        yield f"{where}, tooltip", "VizTooltipOptions", panel["options"]["tooltip"]
        custom = panel["fieldConfig"]["defaults"].get("custom")
        if custom is not None:
            yield f"{where}, fieldConfig", "GraphFieldConfig", custom


def source(version: str, dashboard: dict[str, Any]) -> tuple[str, list[str]]:
    """TypeScript that has to compile, and where in the dashboard each of its lines is."""
    lines = [f'import type {{ {_TYPES} }} from "{_alias(version)}";', *_VALUES.splitlines()]
    where = ["" for _ in lines]
    for number, (place, kind, value) in enumerate(parts(version, dashboard)):
        lines.append(f"export const part{number}: Value<{kind}> = {json.dumps(value)};")
        where.append(place)
    return "\n".join(lines) + "\n", where


def findings(types: Path, version: str, file: Path) -> list[str]:
    """A sentence for each thing that this version does not know."""
    text, where = source(version, json.loads(file.read_text(encoding="utf-8")))
    with tempfile.TemporaryDirectory() as folder:
        # Modules are looked for in the folder of the source.
        (Path(folder) / "node_modules").symlink_to(types / "node_modules")
        (Path(folder) / "dashboard.ts").write_text(text, encoding="utf-8")
        argv = ["node", "node_modules/typescript/bin/tsc", "--noEmit", "--strict", "--skipLibCheck"]
        argv += ["--module", "esnext", "--moduleResolution", "bundler", "dashboard.ts"]
        done = completed(argv, Path(folder))
    # What is indented says more, and its last line what is meant; "in type" begins a long list.
    said = re.findall(
        r"^dashboard\.ts\((\d+),.*: error \w+: (.*(?:\n .*)*)", done.stdout, re.MULTILINE
    )
    if bool(done.returncode) != bool(said):
        raise ZvmlabError(f"the compiler failed: {(done.stdout + done.stderr).strip()[-600:]}")
    name = f"{FOLDER}/{file.name}"
    return [
        f"{name}, Grafana {version}: {where[int(line) - 1]}: {error.splitlines()[-1].strip().partition(' in type ')[0]}"
        for line, error in said
    ]


def main() -> None:
    """Judge each dashboard by each version."""
    progress = Progress()
    wanted = [f"{_alias(version)}@npm:@grafana/schema@{version}" for version in VERSIONS]
    types = packages("grafana-types", (f"typescript@{COMPILER}", *wanted), progress)
    files = sorted((ROOT / FOLDER).glob("*.json"))
    found: list[str] = []
    with progress.step("judging the dashboards", len(files) * len(VERSIONS)) as step:
        for number, file in enumerate(files):
            for index, version in enumerate(VERSIONS):
                found += findings(types, version, file)
                step.update(number * len(VERSIONS) + index + 1)
    for line in found[:_MOST]:
        print(line)
    if found:
        raise ZvmlabError(f"{len(found)} errors in {FOLDER}; the first of them are above")
    print(f"{len(files)} dashboards fit Grafana {', '.join(VERSIONS)}: 0 errors")


if __name__ == "__main__":
    sys.exit(exit_code(main, "make check-dashboards"))
