# SPDX-License-Identifier: MIT
"""Results of a run in a file, a line of JSON each, written as soon as they are known.

So a run that was killed can go on, a shard of a run can be repeated, and the shards of one run
can be put together (zvmlab merge).  The lines are:

    {"results": 1, "of": "sweep", "shard": "2/8", "run": {…}}    which run it is
    {…}                                                          a result
    {"finished": 57}                                             the end: all results are there

What "run" has must be the same for results to belong together.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zvmlab.base.errors import UsageError, ZvmlabError
from zvmlab.base.shard import Shard, shard_of

NAME = "results.jsonl"
FORMAT = 1
MAX_BYTES = 1 << 30
_SHOWN = 60


@dataclass(frozen=True)
class Head:
    """The identity of the run that the results belong to."""

    kind: str
    """"sweep", "diff", "tests", "fuzz"."""
    shard: Shard
    run: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """The first line."""
        return {
            "results": FORMAT,
            "of": self.kind,
            "shard": str(self.shard),
            "run": dict(self.run),
        }


@dataclass(frozen=True)
class Results:
    """The contents of a results file."""

    path: Path
    head: Head
    lines: list[dict[str, Any]]
    """Without the first one and the end."""
    number: int | None
    """How many results its end says that there are; None: it has no end."""

    @property
    def finished(self) -> bool:
        """Did the run come to its end?"""
        return self.number is not None

    def check_number(self, found: int) -> None:
        """UsageError unless so many results are all that there are."""
        if found != self.number:
            raise UsageError(
                f"{self.path} has {found} of {self.number} results; run its shard again"
            )


class LostShards(ZvmlabError):
    """A shard of the run is missing or incomplete."""


@contextlib.contextmanager
def sense(path: Path) -> Iterator[None]:
    """UsageError if what is read from *path* meanwhile is not what zvmlab writes."""
    try:
        yield
    except (
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        IndexError,
        OverflowError,
        RecursionError,
    ):
        raise UsageError(f"{path} is not a results file of zvmlab") from None


class ResultsFile:
    """One file; several threads may add lines."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()

    def begin(self, head: Head) -> None:
        """Forget what was there."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(head.to_json()) + "\n", encoding="utf-8")

    def add(self, line: Mapping[str, Any]) -> None:
        """One more result."""
        with self._lock, open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def finish(self, number: int) -> None:
        """Mark the file complete with this number of results."""
        self.add({"finished": number})

    def mend(self, found: Results) -> None:
        """Write what was found again, without the end and what a kill has cut."""
        lines = [found.head.to_json(), *found.lines]
        self.path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")

    def read(self) -> Results | None:
        """Read a results file; None if there is none, UsageError if it is something else."""
        try:
            with open(self.path, encoding="utf-8") as file, sense(self.path):
                text = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise UsageError(f"{self.path} cannot be read: {error.strerror}") from None
        if len(text) > MAX_BYTES:
            raise UsageError(f"{self.path} has more than {MAX_BYTES >> 20} MiB")
        with sense(self.path):
            whole = text[: text.rfind("\n") + 1].split("\n")[:-1]
            lines = [dict(json.loads(line)) for line in whole]
            return self._results(lines) if lines else None

    def _results(self, lines: list[dict[str, Any]]) -> Results:
        first = lines[0]
        if first["results"] != FORMAT:
            raise UsageError(f"{self.path} has results of another version of zvmlab")
        head = Head(str(first["of"]), shard_of(first["shard"]), dict(first["run"]))
        body = [line for line in lines[1:] if "finished" not in line]
        end = lines[-1].get("finished")
        return Results(self.path, head, body, None if end is None else int(end))


def together(found: Sequence[Results]) -> list[Results]:
    """All shards of one run, in their order; where one is there twice, the last whole one.

    UsageError if they are of different runs; LostShards names each that is not there.
    """
    for other in found[1:]:
        _check_same(found[0], other)
    whole = {results.head.shard: results for results in found if results.finished}
    begun = {results.head.shard: results for results in found if not results.finished}
    count = found[0].head.shard.count
    shards = [Shard(number, count) for number in range(1, count + 1)]
    said = []
    for shard in shards:
        if shard not in whole and shard in begun:
            said.append(f"{shard} is incomplete ({begun[shard].path})")
        elif shard not in whole:
            said.append(f"{shard} is missing")
    if said:
        raise LostShards(f"shard {'; shard '.join(said)}: run these shards again, then merge again")
    return [whole[shard] for shard in shards]


def _check_same(first: Results, other: Results) -> None:
    ours = {"kind": first.head.kind, "number of shards": first.head.shard.count, **first.head.run}
    theirs = {"kind": other.head.kind, "number of shards": other.head.shard.count, **other.head.run}
    for key in dict.fromkeys([*ours, *theirs]):
        if ours.get(key) != theirs.get(key):
            values = " against ".join(_short(values.get(key)) for values in (ours, theirs))
            raise UsageError(
                f"{first.path} and {other.path} belong to different runs: {key} differs ({values})"
            )


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
