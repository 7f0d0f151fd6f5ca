# SPDX-License-Identifier: MIT
"""Results of a run of the fuzzer in a file, and the run whose shards such files are.

The lines of results.jsonl (zvmlab.base.results), of the kind "kernel-fuzz":

    {"cases": 100, "seconds": 8.5, "cpu-seconds": 3.2, "guests": 2}
    {"pairs": [["outside", "mon_open+0x0 [monreader]"], …]}
    {"corpus": {…}}                                             a case that has reached something new
    {"finding": {…}, "case": {…}, "known": null, "times": 3, "notes": []}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from zvmlab.base.errors import UsageError
from zvmlab.base.json_file import short
from zvmlab.base.plain import harmless
from zvmlab.base.results import NAME, Head, Results, ResultsFile, sense
from zvmlab.fuzz.campaign import Campaign, Found, Plan, keep
from zvmlab.fuzz.case import Case, from_json, save
from zvmlab.fuzz.finding import Finding
from zvmlab.fuzz.grammar import find

KIND = "kernel-fuzz"
_MOST = 1 << 53
_FINDING = ("kind", "where", "text", "report")


def write(done: Campaign, kernel: str, driver: str) -> None:
    """Write the results of a run, or of a shard of one, into its folder."""
    plan = done.plan
    file = ResultsFile(plan.folder / NAME)
    run = {"target": plan.target.name, "kernel": kernel, "driver": driver, "seed": plan.seed}
    file.begin(Head(KIND, plan.shard, run))
    lines = list(_lines(done))
    for line in lines:
        file.add(line)
    file.finish(len(lines))


def _lines(done: Campaign) -> Iterator[dict[str, Any]]:
    yield {
        "cases": done.cases,
        "seconds": round(done.seconds, 1),
        "cpu-seconds": round(done.cpu_seconds, 1),
        "guests": done.guests,
    }
    yield {"pairs": sorted(done.pairs)}
    for case in done.corpus:
        yield {"corpus": case.to_json()}
    for found in done.found.values():
        yield {
            "finding": {name: getattr(found.finding, name) for name in _FINDING},
            "case": found.case.to_json(),
            "known": found.defect,
            "times": found.times,
            "notes": found.notes,
        }


def merged(shards: Sequence[Results], output: Path) -> Campaign:
    """All of a run; *shards*: of zvmlab.base.results.together().  Corpus and findings go to *output*."""
    first = shards[0]
    with sense(first.path):
        target = find(str(first.head.run["target"]))
        seed = int(first.head.run["seed"])
    plan = Plan(target, output, output / "corpus", 0.0, seed, 1)
    done = Campaign(plan)
    for shard in shards:
        shard.check_number(len(shard.lines))
        with sense(shard.path):
            for line in shard.lines:
                _add(done, shard.path, line)
    for case in done.corpus:
        save(case, plan.corpus / f"{case.name}.json")
    for found in done.found.values():
        keep(found, output)
    return done


def _add(done: Campaign, path: Path, line: dict[str, Any]) -> None:
    if "cases" in line:
        done.cases += _count(line["cases"])
        # Shards run beside each other.
        done.seconds = max(done.seconds, float(line["seconds"]))
        done.cpu_seconds += float(line["cpu-seconds"])
        done.guests += _count(line["guests"])
    elif "pairs" in line:
        pairs = {(str(before), str(after)) for before, after in line["pairs"]}
        done.pairs |= pairs
        done.places |= {after for _, after in pairs}
    elif "corpus" in line:
        case = _case(done, path, line["corpus"])
        if case not in done.corpus:
            done.corpus.append(case)
    else:
        _add_finding(done, path, line)


def _count(value: object) -> int:
    if not isinstance(value, int) or not 0 <= value <= _MOST:
        raise ValueError("no number of a run")
    return value


def _case(done: Campaign, path: Path, data: object) -> Case:
    case = from_json(f"a case in {path}", data)
    if case.target != done.plan.target.name:
        raise UsageError(f"a case in {path} is of the target {short(case.target)}")
    return case


def _add_finding(done: Campaign, path: Path, line: dict[str, Any]) -> None:
    texts = {name: str(line["finding"][name]) for name in _FINDING}
    finding = Finding(**{name: harmless(text, name == "report") for name, text in texts.items()})
    known = done.found.get(finding.key)
    if known is not None:
        known.times += _count(line["times"])
        return
    defect = line["known"]
    done.found[finding.key] = Found(
        finding,
        _case(done, path, line["case"]),
        None if defect is None else harmless(str(defect), lines=False),
        _count(line["times"]),
        notes=[harmless(str(note), lines=False) for note in line["notes"]],
    )
