# SPDX-License-Identifier: MIT
"""What kvm-unit-tests' programs say, and how two runs of one of them differ."""

from __future__ import annotations

import enum
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

VERDICTS = ("PASS", "FAIL", "XPASS", "XFAIL", "KFAIL", "SKIP")
PASS = "PASS"
# Of what a program says beside its verdicts, these lines are not its own, or a consequence.
_ASIDE = re.compile(r"(?:INFO|SUMMARY|EXIT|SMP): ?|\s*$")
_VERDICT = re.compile(rf"({'|'.join(VERDICTS)}): (.*)")
_STATUS = re.compile(r"EXIT: STATUS=(\d+)")
NO_VERDICT = ""
# Times that were measured are others in each run.
_MEASURED = re.compile(r"\d+\.\d+")


class End(enum.Enum):
    """How a run ended."""

    EXIT = "ends"
    EMULATOR = "ends without an exit status"
    LIMIT = "does not end"


@dataclass(frozen=True)
class Line:
    """One result: its verdict, and what was tested."""

    verdict: str
    text: str

    def __str__(self) -> str:
        return f"{self.verdict}: {self.text}" if self.verdict else self.text


@dataclass(frozen=True)
class Run:
    """All that a run said."""

    lines: tuple[Line, ...]
    end: End
    status: int | None = None


@dataclass
class Differences:
    """Of ours from the other's: what is wrong, what is better, what is known to be worse."""

    worse: list[str] = field(default_factory=list)
    better: list[str] = field(default_factory=list)
    known: list[str] = field(default_factory=list)


def run_of(output: bytes, ended: bool) -> Run:
    """What was said on a console; *ended*: the emulator ended by itself.

    A program that gives no verdicts has all of its lines as results.
    """
    said = output.decode("utf-8", "replace").replace("\r", "").split("\n")
    found = [_VERDICT.fullmatch(line) for line in said]
    lines = [Line(match[1], _MEASURED.sub("#", match[2])) for match in found if match]
    if not lines:
        lines = [Line(NO_VERDICT, line) for line in said if not _ASIDE.match(line)]
    statuses = [int(match[1]) for line in said if (match := _STATUS.fullmatch(line))]
    if not ended:
        return Run(tuple(lines), End.LIMIT)
    if not statuses:
        return Run(tuple(lines), End.EMULATOR)
    return Run(tuple(lines), End.EXIT, statuses[-1])


def _by_text(lines: Sequence[Line]) -> dict[tuple[str, int], Line]:
    """Each line by its text, and how often the text has been there before."""
    seen: Counter[str] = Counter()
    found = {}
    for line in lines:
        found[line.text, seen[line.text]] = line
        seen[line.text] += 1
    return found


def _compare_ends(theirs: Run, ours: Run, found: Differences) -> None:
    if theirs.end is not ours.end:
        text = f"{ours.end.value}; in the other {theirs.end.value}"
        (found.better if ours.end is End.EXIT else found.worse).append(text)
    # With other verdicts the status is another, too.
    elif theirs.status != ours.status and not (found.better or found.worse or found.known):
        found.worse.append(f"exit status {ours.status}; in the other {theirs.status}")


def _compare_verdicts(line: Line, ours: Line, known: bool, found: Differences) -> None:
    text = f"{ours}; in the other {line.verdict}"
    if known and ours.verdict == line.verdict:
        found.worse.append(f"known to differ, and does not: {ours}")
    elif ours.verdict == line.verdict:
        return
    elif ours.verdict == PASS:
        found.better.append(text)
    else:
        (found.known if known else found.worse).append(text)


def compare(theirs: Run, ours: Run, known: tuple[str, ...] = ()) -> Differences:
    """Line by line, whatever their order; *known*: how lines begin that are worse in ours.

    Better is what passes in ours and did not in the other, and what comes after the other's
    early end.  All else that differs is worse: a line that only one of them has, too.
    """
    found = Differences()
    before, after = _by_text(theirs.lines), _by_text(ours.lines)
    for key, line in before.items():
        other = after.get(key)
        if other is None:
            found.worse.append(f"missing: {line}")
        else:
            _compare_verdicts(line, other, line.text.startswith(known), found)
    went_on = theirs.end is not End.EXIT and ours.end is End.EXIT
    for key, line in after.items():
        if key not in before:
            good = went_on and line.verdict in (PASS, NO_VERDICT)
            (found.better if good else found.worse).append(f"only in ours: {line}")
    _compare_ends(theirs, ours, found)
    return found
