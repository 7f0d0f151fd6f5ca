# SPDX-License-Identifier: MIT
"""Compare two runs of a scenario: one entry for each difference.

What is compared, and by which name (*aspect*) a difference goes:

    end               what ended the scenario early: a call that sleeps for good, a panic
    STEP MEMBER       a member of what a step noted: "read errno", "poll ready"
    whole-set reads   sizes of reads that are exactly those that follow from reading each
                      part of a set by itself, and as many whole parts as there is room for
    read sizes        any other difference in what reads returned
    read set          which of CP's sets it was that a read called whole
    log, calls, CP, ...   a line of the kernel's log or of a track of the trace
                      (zvmlab.differ.trace_lines) that only one of the two has

Of a run that ended early only its steps are compared.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from zvmlab.differ.run import Observed
from zvmlab.mondata.records import MCE_SIZE, BadStream, parse_set
from zvmlab.scenarios.context import FoundSet
from zvmlab.scenarios.outcome import Step

WHOLE_SETS = "whole-set reads"


@dataclass(frozen=True)
class Difference:
    """One thing that is not the same; "" where a side has nothing."""

    scenario: str
    where: str
    """The step, or "" where it belongs to none."""
    aspect: str
    first: str
    second: str


def _chunks(lengths: Sequence[int], size: int) -> list[int]:
    """Sizes of reads with such a buffer of parts of these lengths, none across parts."""
    return [min(size, length - at) for length in lengths for at in range(0, length, size)]


def _joined(lengths: Sequence[int], size: int) -> list[int]:
    """The same of parts that are read together where all of the next one fits behind the others."""
    reads: list[int] = []
    for length in lengths:
        if reads and reads[-1] + length <= size:
            reads[-1] += length
        else:
            reads += _chunks([length], size)
    return reads


def _lengths(stream: bytes) -> list[int] | None:
    """The lengths of elements and records in turn; None if the last is cut."""
    try:
        parts = parse_set(stream)
    except BadStream:
        return None
    return [length for part in parts for length in (MCE_SIZE, len(part.data))]


def whole_set_reads(
    found: tuple[FoundSet, FoundSet], sizes: tuple[Sequence[int], Sequence[int]]
) -> bool:
    """Was as much read, on the first side in parts and on the second in several at a time?

    Both must have ended alike.  What the bytes are is compared apart from that:
    control elements may have other addresses.
    """
    first, second = found
    lengths = _lengths(first.stream)
    alike = (first.complete, first.size) == (second.complete, second.size)
    if not alike or lengths is None or lengths != _lengths(second.stream):
        return False
    end = [0] if first.complete else []
    apart, joined = _chunks(lengths, first.size), _joined(lengths, first.size)
    return sizes == (apart + end, joined + end)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def _members(
    first: Step, second: Step, found: tuple[FoundSet, FoundSet] | None
) -> Iterator[tuple[str, str, str]]:
    """Aspect and both values of each member that differs."""
    for name in dict.fromkeys([*first.result, *second.result]):
        values = (first.result.get(name, ""), second.result.get(name, ""))
        if values[0] == values[1]:
            continue
        aspect = f"{first.what} {name}"
        if name == "sizes" and found is not None and whole_set_reads(found, values):
            aspect = WHOLE_SETS
        yield aspect, _text(values[0]), _text(values[1])


def _steps(first: Observed, second: Observed) -> Iterator[tuple[str, str, str, str]]:
    reads = [iter(side.sets) for side in (first, second)]
    pairs = zip(first.outcome.steps, second.outcome.steps)
    for number, (mine, other) in enumerate(pairs, 1):
        where = f"step {number} {mine.what}"
        if mine.what != other.what:
            yield where, "step", str(mine), str(other)
            return
        found = None
        if mine.what == "read" and "sizes" in mine.result and "sizes" in other.result:
            pair = [next(read, None) for read in reads]
            if pair[0] is None or pair[1] is None:
                # A scenario that ended early has read none here, whatever the step says.
                yield where, "read sets", str(len(first.sets)), str(len(second.sets))
                return
            found = (pair[0], pair[1])
            sets = (first.which(found[0]), second.which(found[1]))
            if sets[0] != sets[1]:
                yield where, "read set", *sets
        for aspect, *values in _members(mine, other, found):
            yield where, aspect, values[0], values[1]
    counts = [len(side.outcome.steps) for side in (first, second)]
    if counts[0] != counts[1] and not (first.ended or second.ended):
        yield "", "steps", str(counts[0]), str(counts[1])


def _lines(first: Sequence[str], second: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Lines that only one of them has, in their order."""
    matcher = difflib.SequenceMatcher(None, first, second, autojunk=False)
    for _, i, i_end, j, j_end in matcher.get_opcodes():
        if first[i:i_end] != second[j:j_end]:
            yield from ((line, "") for line in first[i:i_end])
            yield from (("", line) for line in second[j:j_end])


def differences(first: Observed, second: Observed, tracks: Sequence[str]) -> list[Difference]:
    """Everything that is not the same in two runs of the same scenario."""
    name = first.outcome.scenario
    found = []
    if first.ended != second.ended:
        found.append(Difference(name, "", "end", first.ended, second.ended))
    found += [Difference(name, *difference) for difference in _steps(first, second)]
    if first.ended or second.ended:
        return found
    pairs = [("log", first.outcome.log, second.outcome.log)]
    pairs += [(track, first.trace.track(track), second.trace.track(track)) for track in tracks]
    for aspect, mine, other in pairs:
        found += [Difference(name, "", aspect, *pair) for pair in _lines(mine, other)]
    return found
