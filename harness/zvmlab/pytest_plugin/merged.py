# SPDX-License-Identifier: MIT
"""The run of tests whose shards these are, as if it had run in one piece."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zvmlab.base.errors import UsageError
from zvmlab.base.results import Results, sense
from zvmlab.pytest_plugin.requirement_report import write
from zvmlab.pytest_plugin.requirement_results import Column, Outcome, Result, Run
from zvmlab.pytest_plugin.requirement_table import deviations, table, totals
from zvmlab.pytest_plugin.requirements import Requirement, Requirements
from zvmlab.pytest_plugin.speeds import Left, from_json, told


@dataclass(frozen=True)
class Merged:
    """A whole run that several machines have shared."""

    run: Run
    strict: bool

    @property
    def complaints(self) -> list[str]:
        """Why the run fails although no test has."""
        return self.run.complaints() if self.strict else []

    @property
    def passed(self) -> bool:
        """Has no test failed, and is every requirement shown if that was asked for?"""
        return not self.run.counts().get(Outcome.FAILED) and not self.complaints

    def lines(self) -> Iterator[str]:
        """The lines that pytest would print at its end."""
        if self.run.requirements.rows:
            yield from (line.text for line in table(self.run))
        yield from (f"known: {sentence}" for sentence in deviations(self.run))
        for result in self.run.results:
            if result.outcome is Outcome.FAILED:
                yield f"failed {result.case.test}"
        yield totals(self.run)
        if self.run.left:
            yield told(self.run.whole, self.run.left)
        yield from (f"requirements: {sentence}" for sentence in self.complaints)

    def write(self, folder: Path) -> list[Path]:
        """The files of a report into a folder, which is made if need be."""
        folder.mkdir(parents=True, exist_ok=True)
        return write(self.run, folder)


def merged(shards: Sequence[Results]) -> Merged:
    """All tests by name.  *shards*: of zvmlab.base.results.together()."""
    results: dict[str, Result] = {}
    kernels: dict[str, str] = {}
    started = []
    everything: dict[str, Path] = {}
    whole: str = ""
    left: dict[Left, int] = {}
    for shard in shards:
        shard.check_number(sum("kernels" not in line for line in shard.lines))
        with sense(shard.path):
            for line in shard.lines:
                if "kernels" in line:
                    if "left" in line:
                        whole = str(line["left"]["whole"])
                        left = from_json(line["left"]["tests"])
                    if line["all"] is not None:
                        everything.setdefault(str(line["all"]), shard.path)
                    kernels |= {str(name): str(text) for name, text in line["kernels"].items()}
                    started.append(float(line["started"]))
                    time.gmtime(started[-1])  # or it is no time
                else:
                    result = Result.from_json(line)
                    results[result.case.test] = result
    if not results:
        raise UsageError(f"{shards[0].path} and all other shards have no test: nothing was chosen")
    if len(everything) > 1:
        first, other = list(everything.values())[:2]
        raise UsageError(
            f"{first} and {other} belong to different runs: they chose from different tests"
        )
    with sense(shards[0].path):
        run = shards[0].head.run
        found = Run(
            requirements=_requirements(run["groups"], run["requirements"]),
            columns=tuple(_column(*column) for column in run["columns"]),
            results=tuple(results[name] for name in sorted(results)),
            kernels=dict(sorted(kernels.items())),
            started=min(started),
            whole=whole,
            left=left,
            seconds=math.fsum(result.seconds for result in results.values()),
        )
        return Merged(found, bool(run["strict"]))


def _column(kernel: object, driver: object, backend: object, part: object) -> Column:
    return Column(str(kernel), str(driver), str(backend), bool(part))


def _requirements(groups: dict[str, str], rows: list[dict[str, Any]]) -> Requirements:
    made = [
        Requirement(
            row=str(row["row"]),
            title=str(row["title"]),
            text=str(row["text"]),
            shown=str(row["shown"]),
            errnos=tuple(map(str, row["errnos"])),
            emulators=tuple(map(str, row["emulators"])),
            kernels=tuple(map(str, row["kernels"])),
        )
        for row in rows
    ]
    titles = {str(letter): str(title) for letter, title in groups.items()}
    return Requirements(titles, {one.row: one for one in made})
