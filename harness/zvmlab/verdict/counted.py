# SPDX-License-Identifier: MIT
"""Instructions that each operation of a scenario takes, on both sides.

The guests count their instructions, so that the same calls take the same number, whatever else the
machine does.  An operation is a system call of a scenario, and counts with all that it takes until it
returns.  A process of its own counts one side:

    python3 -m zvmlab.verdict.counted KERNEL OUTPUT SCENARIO…
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from zvmlab.agent.counting import CountingWorker
from zvmlab.base.decided import keep, recall
from zvmlab.base.errors import EXIT_PASS, UsageError, ZvmlabError, exit_code
from zvmlab.base.json_file import parse
from zvmlab.base.plain import harmless, shortened
from zvmlab.base.results import sense
from zvmlab.base.tree import TREE
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.pool import Pool, numbered
from zvmlab.scenarios import find, possible
from zvmlab.scenarios.context import Context, Scenario
from zvmlab.verdict.runs import call, decided_by
from zvmlab.verdict.sides import BASE, PATCHED, Side, Sides

MOST_SCENARIOS = 3
"""Of those that use a touched file, so many count."""
CHANGED = 0.02
"""A difference of a larger share is told."""
FIRST_ROUNDS, ROUNDS = 3, 5
"""The first round finds nothing ready, so that two more are needed; further ones only if they differ."""
_SEED = "seed"
_BASE = "try-counts"
# A tick of the guest's clock may come in any round; two rounds without one are as good as equal.
_STEADY = 0.005
_MOST_BYTES = 16 << 20

Counts = Mapping[str, Mapping[str, int]]
"""Of a side, instructions by operation: its "counts", and the "most" of them (usual_most())."""
Round = Sequence[tuple[str, int]]


def steady(rounds: Sequence[Round]) -> dict[str, int]:
    """The instructions of each operation, of all its calls, where two rounds are alike.

    Empty if the rounds do not have the same operations.
    """
    if len({tuple(what for what, _ in one) for one in rounds}) != 1:
        return {}
    found: dict[str, int] = {}
    unsteady = set()
    for position, (what, _) in enumerate(rounds[0]):
        first, second = sorted(one[position][1] for one in rounds)[:2]
        if second - first > _STEADY * first:
            unsteady.add(what)
        found[what] = found.get(what, 0) + first
    return {what: number for what, number in found.items() if what not in unsteady}


def usual_most(rounds: Sequence[Round]) -> dict[str, int]:
    """What each operation takes at most, of all its calls, but for the round that took most of it.

    What a call waits for may come a moment later, and then takes another number each time.
    """
    found: dict[str, int] = {}
    for position, (what, _) in enumerate(rounds[0] if rounds else ()):
        found[what] = found.get(what, 0) + sorted(one[position][1] for one in rounds)[-2]
    return found


def enough(rounds: Sequence[Round]) -> bool:
    """Do these rounds tell of every operation what it takes, or are there as many as there may be?"""
    if not FIRST_ROUNDS <= len(rounds) < ROUNDS:
        return len(rounds) >= ROUNDS
    return steady(rounds).keys() == {what for one in rounds for what, _ in one}


def changed(scenario: str, base: Counts, patched: Counts) -> list[str]:
    """A sentence for each operation that takes another number of instructions.

    It has to be outside of what the rounds of the other side have taken, too.
    """
    before, now = base["counts"], patched["counts"]
    most_before, most_now = base.get("most", {}), patched.get("most", {})
    return [
        f"{scenario}: {what}: {few} to {now[what]} ({(now[what] - few) / few:+.1%})"
        for what, few in before.items()
        if few and abs(now.get(what, few) - few) > CHANGED * few
        if now[what] > most_before.get(what, few) or few > most_now.get(what, now[what])
    ]


def compare(
    sides: Sides,
    names: Sequence[str],
    folder: Path,
    not_tried: list[str],
    known: bool = False,
) -> list[str]:
    """Count both sides; the operations that changed.  What was not counted goes to *not_tried*.

    With *known*, what base takes is kept in the cache, as long as nothing that has a part in it changes.
    """
    base = (_known_side if known else _side)(sides.base, names, folder / BASE)
    patched = _side(sides.patched, names, folder / PATCHED)
    found = []
    for name in names:
        why = base[name].get("error") or patched[name].get("error")
        if why:
            not_tried.append(f"instructions of {name} on {sides.base.kernel}: {why}")
        else:
            found += changed(name, base[name], patched[name])
    if names and not any(base[name].get("counts") for name in names) and not not_tried:
        not_tried.append(f"instructions of {', '.join(names)}: no system call of theirs is counted")
    return found


def _known_side(side: Side, names: Sequence[str], folder: Path) -> dict[str, Any]:
    key, state = decided_by(side, names)
    answer = recall(_BASE, key, state)
    if isinstance(answer, dict) and answer.keys() >= set(names):
        return answer
    found = _side(side, names, folder)
    if not any("error" in one for one in found.values()):
        keep(_BASE, key, state, found)
    return found


def _side(side: Side, names: Sequence[str], folder: Path) -> dict[str, Any]:
    output = folder / "counts.json"
    if not output.exists():
        folder.mkdir(parents=True, exist_ok=True)
        env = {**os.environ, **side.environment, "PYTHONPATH": str(TREE / "harness")}
        argv = [sys.executable, "-m", __name__, side.kernel, str(output), *names]
        log = folder / "counting.log"
        if call(argv, env, log) != EXIT_PASS:
            said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            why = shortened(harmless((said or ["nothing was said"])[-1], lines=False))
            return {name: {"error": why} for name in names}
    data: Any = parse(output, str(output), _MOST_BYTES)
    with sense(output):
        return {name: dict(data[name]) for name in names}


def count(kernel: str, scenarios: Mapping[str, Scenario], folder: Path) -> dict[str, Any]:
    """The counts of each scenario on a kernel, or why there are none."""
    found: dict[str, Any] = {}
    pool = Pool(numbered(folder))
    try:
        for name, scenario in scenarios.items():
            try:
                rounds = _rounds(pool, scenario, kernel)
                counts = steady(rounds)
                found[name] = {"counts": counts, "most": usual_most(rounds) if counts else {}}
                if not counts and any(rounds):
                    found[name] = {"error": "no two runs are alike"}
            except ZvmlabError as error:
                found[name] = {"error": shortened(harmless(str(error), lines=False))}
    finally:
        pool.stop()
    return found


def _rounds(pool: Pool, scenario: Scenario, kernel: str) -> list[Round]:
    guest = pool.get(scenario.config(GuestConfig(kernel=kernel, deterministic=True)))
    rounds: list[Round] = []
    try:
        while not enough(rounds):
            noted: list[tuple[str, int]] = []
            with Context(guest, guest.logs, _SEED) as context:
                context.worker = CountingWorker(
                    context.worker, lambda what, taken: noted.append((what, taken))
                )
                scenario.run(context)
            rounds.append(noted)
    finally:
        pool.drop(guest)
    return rounds


def main(argv: Sequence[str]) -> int:
    """The process: 0, or the exit code of what went wrong."""

    def run() -> int:
        if len(argv) < 3:
            raise UsageError("KERNEL OUTPUT SCENARIO… are needed")
        kernel, output, *names = argv
        wanted = {name: find(name) for name in names}
        there = possible(wanted, kernel)
        with tempfile.TemporaryDirectory(prefix="zvmlab-counted-") as folder:
            found = count(kernel, there, Path(folder))
        for name in wanted.keys() - there.keys():
            found[name] = {"error": "the kernel has not the modules that it needs"}
        scratch = Path(f"{output}.new")
        scratch.write_text(json.dumps(found), encoding="utf-8")
        scratch.replace(output)
        return EXIT_PASS

    return exit_code(run, "counted")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
