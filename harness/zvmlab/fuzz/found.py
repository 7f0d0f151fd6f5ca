# SPDX-License-Identifier: MIT
"""A finding with the case that has shown it: in a folder, and as JSON.

    FOLDER/findings/NAME/case.json      the case, as small as it has become
    FOLDER/findings/NAME/report.txt     what it shows
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zvmlab.base.errors import UsageError
from zvmlab.base.json_file import short
from zvmlab.base.plain import harmless
from zvmlab.fuzz.case import Case, from_json, save
from zvmlab.fuzz.finding import Finding
from zvmlab.scenarios.steps import text_of

FINDINGS = "findings"
CASE, REPORT = "case.json", "report.txt"
_FINDING = ("kind", "where", "text", "report")
_MOST = 1 << 53


@dataclass
class Found:
    """A finding, and the case that has shown it first."""

    finding: Finding
    case: Case
    defect: str | None
    """What it is known as."""
    times: int = 1
    tries: int = 0
    """Candidates that were run to make the case small."""
    notes: list[str] = field(default_factory=list)
    """What else is to be said of it."""
    small: bool = False
    """The case is as small as it becomes."""
    shown: tuple[int, int] = (1, 1)
    """Of the case as it is: how many runs have shown the finding, of how many."""

    def note(self, text: str) -> None:
        """Say that of it, too."""
        if text not in self.notes:
            self.notes.append(text)

    def to_json(self) -> dict[str, Any]:
        """Plain data; from_data() gives an equal one."""
        return {
            "finding": {name: getattr(self.finding, name) for name in _FINDING},
            "case": self.case.to_json(),
            "known": self.defect,
            "times": self.times,
            "tries": self.tries,
            "notes": self.notes,
            "small": self.small,
            "shown": list(self.shown),
        }


def from_data(path: Path, target: str, data: Mapping[str, Any]) -> Found:
    """From what to_json() gave, read from that file.

    UsageError if the case is none, or of another target; ValueError, TypeError or KeyError for others.
    """
    texts = {name: str(data["finding"][name]) for name in _FINDING}
    defect = data["known"]
    shown, runs = map(number, data.get("shown", (1, 1)))
    return Found(
        Finding(**{name: harmless(text, name == "report") for name, text in texts.items()}),
        case_of(path, target, data["case"]),
        None if defect is None else harmless(str(defect), lines=False),
        number(data["times"]),
        number(data.get("tries", 0)),
        [harmless(str(note), lines=False) for note in data["notes"]],
        data.get("small") is True,
        (shown, runs),
    )


def case_of(path: Path, target: str, data: object) -> Case:
    """A case in a file that has several; UsageError if it is none, or of another target."""
    case = from_json(f"a case in {path}", data)
    if case.target != target:
        raise UsageError(f"a case in {path} is of the target {short(case.target)}")
    return case


def number(value: object) -> int:
    """A count of a run; ValueError if it is none."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST:
        raise ValueError("no number of a run")
    return value


def keep(found: Found, folder: Path) -> None:
    """Write a finding into the folder of the run."""
    place = folder / FINDINGS / found.finding.name
    save(found.case, place / CASE)
    (place / REPORT).write_text(report(found), encoding="utf-8")


def report(found: Found) -> str:
    """What a finding is, for people."""
    finding = found.finding
    lines = [finding.key, "", finding.text]
    lines += ["", f"known: {found.defect}"] if found.defect else []
    lines += ["", "steps:", *(f"  {text_of(step)}" for step in found.case.steps)]
    lines += ["", finding.report] if finding.report else []
    return "\n".join(lines) + "\n"
