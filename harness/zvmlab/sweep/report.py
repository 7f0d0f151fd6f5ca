# SPDX-License-Identifier: MIT
"""The report of a sweep: verdicts, a table for the terminal, JSON, a summary in Markdown."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from zvmlab.base.plain import harmless
from zvmlab.scenarios.outcome import Outcome, Step
from zvmlab.sweep.cases import Case
from zvmlab.sweep.known import reason
from zvmlab.sweep.run import Result, Symptom
from zvmlab.sweep.sweep import Sweep

JSON_NAME, MARKDOWN_NAME = "report.json", "report.md"
OK, KNOWN, FAILED = "ok", "known", "failed"
_EFFECT_STEPS = 4
_TEXT = 160


@dataclass(frozen=True)
class Verdict:
    """The verdict of a case: ok, known (with reasons) or failed (with symptoms to blame)."""

    case: Case
    result: Result
    reasons: list[str]
    blame: list[Symptom]

    @property
    def word(self) -> str:
        """One of OK, KNOWN, FAILED."""
        return FAILED if self.blame else KNOWN if self.reasons else OK


def judge(case: Case, result: Result, driver: str) -> Verdict:
    """Separate known symptoms from those to blame."""
    found = [(symptom, reason(case, symptom, driver)) for symptom in result.symptoms]
    return Verdict(
        case,
        result,
        list(dict.fromkeys(why for _, why in found if why is not None)),
        [symptom for symptom, why in found if why is None],
    )


def verdicts(sweep: Sweep) -> list[Verdict]:
    """The verdicts of all cases, in their order."""
    return [
        judge(case, sweep.results[str(case)], sweep.plan.driver)
        for case in sweep.cases
        if str(case) in sweep.results
    ]


def _effect_of(step: Step) -> str:
    result = step.result
    for word in ("stuck", "blocked"):
        if result.get(word):
            return f"{step.what} {'hangs' if word == 'stuck' else 'sleeps on'}"
    if result.get("errno"):
        return f"{step.what} {result['errno']}"
    return f"{step.what} {result.get('fate') or result.get('ready') or 'other data'}"


def effect(result: Result, reference: Outcome) -> str:
    """The effect of the fault on a program, or on the log."""
    if result.outcome is None:
        return "; ".join(f"{s.kind}: {s.text}"[:_TEXT] for s in result.symptoms)
    steps = [
        _effect_of(found)
        for found, wanted in zip(result.outcome.steps, reference.steps)
        if found != wanted
    ]
    new = Counter(result.outcome.log) - Counter(reference.log)
    said = steps[:_EFFECT_STEPS] + (["…"] if len(steps) > _EFFECT_STEPS else [])
    said += [f'log "{line}"' for line in new]
    return ", ".join(said) or "nothing"


def point_rows(sweep: Sweep, found: list[Verdict]) -> list[tuple[str, int, int, int, int, int]]:
    """For each point that was reached: calls, cases, ok, known, failed."""
    rows = []
    for point in sweep.counted.points:
        words = Counter(v.word for v in found if v.case.point == point.name)
        if words:
            counts = (words.total(), words[OK], words[KNOWN], words[FAILED])
            rows.append((point.name, sweep.counted.calls[point.name], *counts))
    return rows


def table(sweep: Sweep, found: list[Verdict]) -> Table:
    """The rows for a terminal."""
    made = Table(title=f"sweep of {sweep.plan.scenario}")
    for name in ("point", "calls", "faults", "ok", "known", "failed"):
        made.add_column(name, justify="left" if name == "point" else "right", no_wrap=True)
    for name, *counts in point_rows(sweep, found):
        made.add_row(name, *map(str, counts))
    return made


def summary(sweep: Sweep, found: list[Verdict], seconds: float | None) -> str:
    """One sentence; without *seconds* the same whatever machines have shared the sweep."""
    words = Counter(verdict.word for verdict in found)
    effort = "" if seconds is None else f"; {sweep.guests} guests, {seconds:.0f} s"
    part = "" if sweep.plan.shard.whole else f"shard {sweep.plan.shard}: "
    return part + (
        f"{len(found)} faults at {sum(sweep.counted.calls[p] for p in {v.case.point for v in found})}"
        f" calls of {sweep.plan.scenario} on {sweep.kernel_version} in {sweep.plan.backend},"
        f" driver {sweep.plan.driver}, seed {sweep.plan.seed}: {words[OK]} ok,"
        f" {words[KNOWN]} known, {words[FAILED]} failed{effort}"
    )


def _case_to_json(sweep: Sweep, verdict: Verdict, measured: bool) -> dict[str, Any]:
    data = {
        "verdict": verdict.word,
        "effect": effect(verdict.result, sweep.counted.outcome),
        "reasons": verdict.reasons,
        **verdict.result.to_json(),
    }
    # Of one machine, and of one run.
    return data if measured else {k: v for k, v in data.items() if k not in ("seconds", "logs")}


def to_json(sweep: Sweep, found: list[Verdict], seconds: float | None) -> dict[str, Any]:
    """Everything, as plain data; without *seconds* no times and folders of single machines."""
    names = ("point", "calls", "faults", OK, KNOWN, FAILED)
    rows = point_rows(sweep, found)
    measured = {} if seconds is None else {"seconds": round(seconds, 1), "guests": sweep.guests}
    return {
        "scenario": sweep.plan.scenario,
        "kernel": sweep.kernel_version,
        "backend": sweep.plan.backend,
        "driver": sweep.plan.driver,
        "seed": sweep.plan.seed,
        "shard": str(sweep.plan.shard),
        **measured,
        "reference": sweep.counted.outcome.to_json(),
        "points": [dict(zip(names, row)) for row in rows],
        "other calls": sweep.counted.others,
        "not reached": [p.name for p in sweep.counted.points if p.name not in sweep.counted.calls],
        "cases": [_case_to_json(sweep, verdict, seconds is not None) for verdict in found],
    }


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def markdown(sweep: Sweep, found: list[Verdict], seconds: float | None) -> str:
    """A summary for people."""
    lines = [f"# Sweep of {sweep.plan.scenario}", "", summary(sweep, found, seconds), ""]
    lines += ["| point | calls | faults | ok | known | failed |", "|---|--:|--:|--:|--:|--:|"]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in point_rows(sweep, found)]
    idle = [point.name for point in sweep.counted.points if point.name not in sweep.counted.calls]
    others = [f"{name} {number}" for name, number in sweep.counted.others.items()]
    lines += ["", f"Not reached: {', '.join(idle) or 'none'}."]
    lines += [f"Calls of other paths, left alone: {', '.join(others) or 'none'}.", ""]
    failed = [verdict for verdict in found if verdict.word == FAILED]
    if failed:
        lines += ["## Failed", ""]
        for verdict in failed:
            lines += [f"* `{verdict.case}`: {s.kind}: {s.text}" for s in verdict.blame]
            if seconds is not None:
                lines += [f"  (logs: `{verdict.result.logs}`)"]
        lines.append("")
    reasons = dict.fromkeys(why for verdict in found for why in verdict.reasons)
    if reasons:
        lines += ["## Known", ""]
        for why in reasons:
            names = [f"`{verdict.case}`" for verdict in found if why in verdict.reasons]
            lines.append(f"* {why}: {', '.join(names)}")
        lines.append("")
    lines += ["## What each fault did", "", "| fault | verdict | seen |", "|---|---|---|"]
    lines += [
        f"| `{v.case}` | {v.word} | {_cell(effect(v.result, sweep.counted.outcome))} |"
        for v in found
    ]
    return harmless("\n".join(lines)) + "\n"


def lines(sweep: Sweep, found: list[Verdict], seconds: float | None) -> Iterator[str]:
    """The lines below the table: each symptom to blame, and the summary."""
    for verdict in found:
        for symptom in verdict.blame:
            yield harmless(f"failed {verdict.case}: {symptom.kind}: {symptom.text}")
    yield summary(sweep, found, seconds)


def write(sweep: Sweep, found: list[Verdict], seconds: float | None) -> list[Path]:
    """Both reports into the sweep's folder, which is made if need be."""
    sweep.plan.output.mkdir(parents=True, exist_ok=True)
    data = json.dumps(to_json(sweep, found, seconds), indent=1, ensure_ascii=False)
    made = [sweep.plan.output / JSON_NAME, sweep.plan.output / MARKDOWN_NAME]
    made[0].write_text(data + "\n", encoding="utf-8")
    made[1].write_text(markdown(sweep, found, seconds), encoding="utf-8")
    return made
