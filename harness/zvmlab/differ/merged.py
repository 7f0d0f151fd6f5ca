# SPDX-License-Identifier: MIT
"""The differential run whose shards these are, as if it had run in one piece."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from zvmlab.base.errors import UsageError
from zvmlab.base.json_file import short
from zvmlab.base.results import Results, sense
from zvmlab.differ.differ import Compared, Differential, Pair, Plan
from zvmlab.differ.known_drivers import driver_pair
from zvmlab.differ.known_emulators import emulator_pair
from zvmlab.scenarios.streams import random_streams


def merged(shards: Sequence[Results], output: Path) -> Differential:
    """All scenarios in their order.  *shards*: of zvmlab.base.results.together()."""
    run, path = shards[0].head.run, shards[0].path
    with sense(path):
        pair = _pair(shards[0])
        names = tuple(map(str, run["scenarios"]))
        plan = Plan(pair, names, output, int(run["sets"]), int(run["seed"]))
        done = Differential(plan, str(run["kernel"]))
    found: dict[str, Compared] = {}
    for shard in shards:
        with sense(shard.path):
            mine = [Compared.from_json(line, pair) for line in shard.lines]
        found |= {compared.scenario: compared for compared in mine}
    for number, name in enumerate(_in_order(plan)):
        if name not in found:
            path = shards[number % len(shards)].path
            raise UsageError(
                f"{path} does not have {short(name)}, which belongs to its shard; run it again"
            )
        done.scenarios.append(found[name])
    return done


def _in_order(plan: Plan) -> list[str]:
    """The scenarios as results name them; one of a file by its own name."""
    names = [name.rpartition(":")[2] for name in plan.scenarios]
    return names + ([random_streams(plan.sets).name] if plan.sets else [])


def _pair(shard: Results) -> Pair:
    """The sides as reports need them: a driver's file may be on another machine.

    What is known of their differences is this version's.
    """
    run = shard.head.run
    if "drivers" not in run:
        return replace(emulator_pair(), common=("driver", str(run["driver"])))
    pair = driver_pair()
    first, second = map(str, run["drivers"])
    explained = pair.explained if pair.names == (first, second) else ()
    common = ("backend", str(run["backend"]))
    return replace(pair, names=(first, second), common=common, explained=explained)
