# SPDX-License-Identifier: MIT
"""Results of a run of the fuzzer in a file, and the run whose shards such files are.

The lines of results.jsonl (zvmlab.base.results), of the kind "kernel-fuzz":

    {"cases": 100, "refused": 0, "refusal": "", "seconds": 8.5, "cpu-seconds": 3.2, …}
    {"pairs": [["outside", "mon_open+0x0 [monreader]"], …]}
    {"corpus": {…}}                                             a case that has reached something new
    {"finding": {…}, "case": {…}, "known": null, "times": 3, …}  a finding (zvmlab.fuzz.found)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from zvmlab.base.plain import harmless
from zvmlab.base.results import NAME, Head, Results, ResultsFile, sense
from zvmlab.fuzz.campaign import Campaign, Plan
from zvmlab.fuzz.case import save
from zvmlab.fuzz.found import case_of, from_data, keep, number
from zvmlab.fuzz.grammar import find

KIND = "kernel-fuzz"


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
        "refused": done.refused,
        "refusal": done.refusal,
        "seconds": round(done.seconds, 1),
        "cpu-seconds": round(done.cpu_seconds, 1),
        "guests": done.guests,
    }
    yield {"pairs": sorted(done.pairs)}
    for case in done.corpus:
        yield {"corpus": case.to_json()}
    for found in done.found.values():
        yield found.to_json()


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
    target = done.plan.target.name
    if "cases" in line:
        done.cases += number(line["cases"])
        done.refused += number(line["refused"])
        done.refusal = done.refusal or harmless(str(line["refusal"]), lines=False)
        # Shards run beside each other.
        done.seconds = max(done.seconds, float(line["seconds"]))
        done.cpu_seconds += float(line["cpu-seconds"])
        done.guests += number(line["guests"])
    elif "pairs" in line:
        pairs = {(str(before), str(after)) for before, after in line["pairs"]}
        done.pairs |= pairs
        done.places |= {after for _, after in pairs}
    elif "corpus" in line:
        case = case_of(path, target, line["corpus"])
        if case not in done.corpus:
            done.corpus.append(case)
    else:
        found = from_data(path, target, line)
        known = done.found.setdefault(found.finding.key, found)
        if known is not found:
            known.times += found.times
