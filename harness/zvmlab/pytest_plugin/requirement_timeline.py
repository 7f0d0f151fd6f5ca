# SPDX-License-Identifier: MIT
"""The part of a trace that belongs to a failed test, laid out to be drawn."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

from zvmlab.base.errors import ZvmlabError
from zvmlab.cp.tracefmt import Record, describe, read_part, seconds_since
from zvmlab.pytest_plugin.requirement_results import TraceCut

RECORDS_MAX = 400
_BYTES_MAX = 4 * 1024 * 1024
# Of a long line the beginning, and the end, where the result is.
_HEAD, _TAIL = 200, 40
# Pixels.
TRACK = 30
_MARGIN = 16
_STEP = 13
_GAP_MAX = 60
_LABEL = 80


@dataclass(frozen=True)
class Mark:
    """One record."""

    seq: int
    x: float
    y: float
    kind: str
    """fault, error, interrupt, event, outside or call."""
    text: str


@dataclass
class Timeline:
    """A drawing; lengths in pixels.  A gap is drawn by the logarithm of its time."""

    guest: str
    tracks: list[str] = field(default_factory=list)
    """From top to bottom, each TRACK high."""
    marks: list[Mark] = field(default_factory=list)
    labels: list[tuple[float, str]] = field(default_factory=list)
    """Where a time stands below, counted from the first record."""
    width: float = 0.0
    height: float = 0.0
    earlier: bool = False
    """Were records left out before the first?"""
    problem: str = ""
    """Why there is nothing to draw."""


def timeline(cut: TraceCut) -> Timeline:
    """The last RECORDS_MAX records of the cut."""
    made = Timeline(cut.guest)
    begin = max(cut.begin, cut.end - _BYTES_MAX)
    last: deque[Record] = deque(maxlen=RECORDS_MAX)
    number = 0
    try:
        for number, record in enumerate(read_part(cut.path, begin, cut.end), 1):
            last.append(record)
    except ZvmlabError as error:
        made.problem = str(error)
        return made
    if not last:
        made.problem = "the guest did not call CP during this test"
        return made
    made.earlier = begin > cut.begin or number > len(last)
    made.tracks = list(dict.fromkeys(sorted((r.track for r in last), key=_track_order)))
    _place(made, list(last))
    return made


def _track_order(track: str) -> tuple[bool, str]:
    return (not track.startswith("CPU "), track)


def _place(made: Timeline, records: list[Record]) -> None:
    start = records[0].tod
    x = float(_MARGIN)
    labelled = -math.inf
    before: Record | None = None
    for record in records:
        if before is not None:
            gap = max(0.0, seconds_since(record, before.tod))
            x += _STEP + min(_GAP_MAX, 5 * math.log2(1 + gap * 1e5))
        before = record
        track = made.tracks.index(record.track)
        text = _shortened(describe(record, start).strip())
        made.marks.append(Mark(record.seq, x, (track + 0.5) * TRACK, _kind(record), text))
        if x - labelled >= _LABEL:
            labelled = x
            made.labels.append((x, _time(seconds_since(record, start))))
    made.width = x + _LABEL
    made.height = len(made.tracks) * TRACK + 22


def _shortened(text: str) -> str:
    return text if len(text) <= _HEAD + _TAIL else f"{text[:_HEAD]} … {text[-_TAIL:]}"


def _time(seconds: float) -> str:
    return f"{seconds:.3f} s" if seconds >= 1 else f"{seconds * 1e3:.2f} ms"


def _kind(record: Record) -> str:
    fields = record.fields
    if "fault" in fields:
        return "fault"
    if "pgm" in fields or fields.get("cc", 0) != 0:
        return "error"
    if record.call in ("interrupt", "event"):
        return record.call
    return "call" if record.cpu is not None else "outside"
