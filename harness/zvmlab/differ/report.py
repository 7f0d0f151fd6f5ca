# SPDX-License-Identifier: MIT
"""The report of a differential run: text for people, plain data for programs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from zvmlab.base.plain import harmless
from zvmlab.differ.compare import Difference
from zvmlab.differ.differ import Compared, Differential
from zvmlab.differ.explain import Explained

JSON_NAME = "report.json"
_TEXT = 160


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _sentence(difference: Difference, names: tuple[str, str]) -> str:
    """One difference that nothing explains."""
    place = f"{difference.where}, " if difference.where else ""
    values = [text[:_TEXT] or "nothing" for text in (difference.first, difference.second)]
    told = ", ".join(f"{name} {value}" for name, value in zip(names, values))
    return harmless(f"{place}{difference.aspect}: {told}", lines=False)


def _entry(entry: Explained) -> str:
    texts = f"{entry.first!r} against {entry.second!r}"
    return f"{entry.scenarios}: {entry.aspect}: {texts} ({entry.reason})"


def _scenario(compared: Compared, names: tuple[str, str]) -> Iterator[str]:
    what = _number(len(compared.found), "difference") if compared.found else "no difference"
    size = f"{_number(compared.steps, 'step')}, {_number(compared.size, 'byte')}"
    yield f"{compared.scenario}: {size}, {what}"
    reasons = Counter(why.reason for _, why in compared.found if why is not None)
    yield from (f"  {count:4} × {reason}" for reason, count in reasons.items())
    for difference in compared.unexplained:
        yield f"  unexplained: {_sentence(difference, names)}"


def summary(done: Differential) -> str:
    """One sentence."""
    counts = [len(compared.found) for compared in done.scenarios]
    open_ones = sum(len(compared.unexplained) for compared in done.scenarios)
    pair = done.plan.pair
    part = "" if done.plan.shard.whole else f"shard {done.plan.shard}: "
    text = part + (
        f"{_number(sum(counts), 'difference')} in {_number(len(counts), 'scenario')} between"
        f" {' and '.join(pair.names)} on {done.kernel_version}, {' '.join(pair.common)},"
        f" seed {done.plan.seed}: {open_ones} unexplained"
    )
    if done.plan.whole:
        text += f", {_number(len(done.unused), 'explanation')} without a difference"
    return text if done.seconds is None else f"{text}; {done.seconds:.0f} s"


def lines(done: Differential) -> Iterator[str]:
    """The whole report."""
    for compared in done.scenarios:
        yield from _scenario(compared, done.plan.pair.names)
    yield from (f"explains nothing: {_entry(entry)}" for entry in done.unused)
    yield summary(done)


def to_json(done: Differential) -> dict[str, Any]:
    """Everything, as plain data."""
    pair = done.plan.pair
    measured = {} if done.seconds is None else {"seconds": round(done.seconds, 1)}
    return {
        "kernel": done.kernel_version,
        pair.common[0]: pair.common[1],
        pair.kind: list(pair.names),
        "seed": done.plan.seed,
        "shard": str(done.plan.shard),
        **measured,
        "passed": done.passed,
        "scenarios": [
            {
                "scenario": compared.scenario,
                "steps": compared.steps,
                "bytes": compared.size,
                "differences": [
                    {
                        "where": difference.where,
                        "aspect": difference.aspect,
                        "values": [difference.first, difference.second],
                        "reason": None if why is None else why.reason,
                    }
                    for difference, why in compared.found
                ],
            }
            for compared in done.scenarios
        ],
        "explains nothing": [_entry(entry) for entry in done.unused],
    }


def write(done: Differential) -> Path:
    """The JSON report, into the run's folder."""
    path = done.plan.output / JSON_NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(to_json(done), indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
    return path
