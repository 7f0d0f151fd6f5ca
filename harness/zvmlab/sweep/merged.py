# SPDX-License-Identifier: MIT
"""The sweep whose shards these are, as if it had run in one piece."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from zvmlab.base.errors import UsageError
from zvmlab.base.results import Results, sense
from zvmlab.sweep.cases import Case, cases
from zvmlab.sweep.run import Counted, Result
from zvmlab.sweep.sweep import Plan, Sweep

MAX_CALLS = 1_000_000
"""Of one scenario; each is looked at."""


def merged(shards: Sequence[Results], output: Path) -> Sweep:
    """All cases in their order.  *shards*: of zvmlab.base.results.together()."""
    found: dict[str, Result] = {}
    for shard in shards:
        with sense(shard.path):
            mine = [Result.from_json(line) for line in shard.lines if "case" in line]
        found |= {result.case: result for result in mine}
    plan = _plan(shards[0], output)
    counted = _counted(shards)
    made: list[Case] = []
    with sense(shards[0].path):
        for case in cases(counted.points, counted.calls, str(plan.seed), plan.patterns):
            if str(case) not in found:
                path = shards[len(made) % len(shards)].path
                raise UsageError(
                    f"{path} does not have {case}, which belongs to its shard; run it again"
                )
            made.append(case)
    results = {str(case): found[str(case)] for case in made}
    return Sweep(plan, str(shards[0].head.run["kernel"]), counted, made, results)


def _plan(shard: Results, output: Path) -> Plan:
    run = shard.head.run
    with sense(shard.path):
        return Plan(
            scenario=str(run["scenario"]),
            output=output,
            kernel=str(run["kernel"]),
            driver=str(run["driver"]),
            seed=int(run["seed"]),
            patterns=tuple(map(str, run["patterns"])),
            jobs=1,
            params=str(run["params"]),
            backend=str(run["backend"]),
        )


def _counted(shards: Sequence[Results]) -> Counted:
    """The result of the run without a fault, which must be equal everywhere."""
    all_counted = []
    for shard in shards:
        with sense(shard.path):
            lines = [line["counted"] for line in shard.lines if "counted" in line]
            counted = Counted.from_json(lines[-1])
            if sum(counted.calls.values()) > MAX_CALLS:
                raise ValueError("no scenario makes so many calls")
            all_counted.append(counted)
    for shard, counted in zip(shards, all_counted):
        if counted != all_counted[0]:
            raise UsageError(
                f"{shards[0].path} and {shard.path} do not belong together:"
                " without a fault the scenario was not the same"
            )
    return all_counted[0]
