# SPDX-License-Identifier: MIT
"""The dashboards: what they draw is exported, under these names and with these labels."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from monread_tool import ROOT

TABLES = {
    "monread": "tools/monread/quantities.def",
    "taskmon": "tools/taskmon/sums.c",
    "dmmon": "tools/dmmon/dms_values.c",
}
_FAMILY = re.compile(
    r'\{ "(?P<name>[a-z_]+)", METRIC_(?P<type>[A-Z]+),.*?\{ (?P<labels>[^{}]*) \} \}', re.DOTALL
)
_ROW = re.compile(
    r'^FAMILY\([A-Z_]+,\s+"(?P<name>[a-z_]+)",\s+(?P<type>[A-Z]+),\s+(NULL|"[a-z]+"),'
    r'(\s+"[^"]*")+,(?P<labels>[^()]*)\)$',
    re.MULTILINE,
)
_WORDS = re.compile(r'"[^"]*"|\[[^]]*\]|[a-z_]+')
_FUNCTIONS = {"sum", "by", "rate", "increase", "topk", "time", "histogram_quantile"}
_FUNCTIONS |= {"on", "group_left", "unless"}


def exported(tool: str) -> dict[str, set[str]]:
    """Names of values, each with its labels."""
    source = (ROOT / TABLES[tool]).read_text()
    source = source.replace("AREA_LABELS", '"device", "region", "area"')
    found: dict[str, set[str]] = {}
    for sample in (_ROW if tool == "monread" else _FAMILY).finditer(source):
        labels = set(re.findall(r'"([a-z_]+)"', sample["labels"]))
        if sample["type"] == "HISTOGRAM":
            found[f"{sample['name']}_bucket"] = labels | {"le"}
        else:
            found[sample["name"] + ("_total" if sample["type"] == "COUNTER" else "")] = labels
    return found


def dashboard(tool: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((ROOT / f"docs/dashboards/{tool}.json").read_text())
    return read


def expressions(tool: str) -> list[tuple[str, str]]:
    """Each with its legend."""
    return [
        (target["expr"], target["legendFormat"])
        for panel in dashboard(tool)["panels"]
        for target in panel["targets"]
    ]


@pytest.mark.parametrize("tool", TABLES)
def test_values_are_exported(tool: str) -> None:
    known = exported(tool)
    assert len(known) > 10
    labels = {"instance", *(label for one in known.values() for label in one)}
    if tool == "taskmon":
        labels |= {"user", "group"}
    drawn = set()
    for expression, legend in expressions(tool):
        words = {word for word in _WORDS.findall(expression) if word[0] not in '"['}
        names = {word for word in words if word.startswith(("zvm_", f"{tool}_"))}
        assert names and names <= set(known), expression
        assert words - names - _FUNCTIONS <= labels, expression
        of_these = {"instance", *(label for name in names for label in known[name])}
        of_these |= {"user", "group"} if tool == "taskmon" else set()
        assert set(re.findall(r"\{\{([a-z_]+)\}\}", legend)) <= of_these, legend
        drawn |= names
    variable = dashboard(tool)["templating"]["list"][1]["query"]
    assert re.fullmatch(r"label_values\(([a-z_]+), instance\)", variable)[1] in known  # type: ignore[index]
    # What is lost, or not known, is drawn.
    missing = ("lost", "left_out", "not_understood", "unused", "without")
    assert {name for name in known if any(word in name for word in missing)} <= drawn


@pytest.mark.skipif(shutil.which("promtool") is None, reason="Debian's prometheus has promtool")
@pytest.mark.parametrize("tool", TABLES)
def test_expressions_are_those_of_prometheus(tool: str, tmp_path: Path) -> None:
    """Its own parser takes each of them; a rule is an expression with a name."""
    drawn = (expression.replace("$instance", ".*") for expression, _ in expressions(tool))
    rules = [
        {"record": f"{tool}:{number}", "expr": expression.replace("$__rate_interval", "5m")}
        for number, expression in enumerate(drawn)
    ]
    file = tmp_path / "rules.yml"
    file.write_text(json.dumps({"groups": [{"name": tool, "rules": rules}]}))
    done = subprocess.run(
        ["promtool", "check", "rules", file],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"{len(rules)} rules found" in done.stdout


@pytest.mark.parametrize("tool", TABLES)
def test_panels(tool: str) -> None:
    """Each has a title and a place of its own, and asks the chosen Prometheus."""
    panels = dashboard(tool)["panels"]
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels]
    assert len(set(places)) == len(panels) == len({panel["title"] for panel in panels})
    assert [panel["id"] for panel in panels] == list(range(1, len(panels) + 1))
    assert {panel["datasource"]["uid"] for panel in panels} == {"${datasource}"}
    for expression, _ in expressions(tool):
        assert 'instance=~"$instance"' in expression


@pytest.mark.parametrize("tool", TABLES)
def test_documented(tool: str) -> None:
    """docs/export.md has each value, and no other one."""
    page = (ROOT / "docs/export.md").read_text()
    section = re.search(rf"^## Values of {tool}$(.*?)^## ", page, re.MULTILINE | re.DOTALL)
    assert section
    rows = re.findall(r"^\| `([a-z_]+)` \| (.*?) \|", section[1], re.MULTILINE)
    shown = {name: set(re.findall(r"`([a-z_]+)`", labels)) for name, labels in rows}
    assert shown == {
        name.removesuffix("_bucket"): labels - {"le"} for name, labels in exported(tool).items()
    }
