# SPDX-License-Identifier: MIT
"""What a case shows that must not be, and whether that is known.

Equal findings are one: those of the same kind in the same innermost functions.
"""

from __future__ import annotations

import fnmatch
import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zvmlab.base.errors import UsageError
from zvmlab.base.toml_file import parse
from zvmlab.fuzz.case import Case
from zvmlab.fuzz.grammar import KNOWN as KNOWN_NAME, folder
from zvmlab.guest.console import innermost
from zvmlab.scenarios.steps import faults_of, text_of
from zvmlab.sweep.cases import Case as SweepCase
from zvmlab.sweep.known import KNOWN as SWEEP_KNOWN
from zvmlab.sweep.run import HANGS, LOG, PANIC, PASSED_OFF, UNUSABLE, Symptom

_FUNCTIONS = 3
"""So many innermost functions tell findings apart."""
_DIGITS = 10
BYSTANDER, DATA, SILENT, LOST = "bystander", "data", "silent", "lost"
STRAY, LEFT, ERRNO, OVERRUN, CONTRACT = "stray", "left", "errno", "overrun", "contract"
_SYMPTOMS = {HANGS: HANGS, LOG: LOG, UNUSABLE: UNUSABLE, DATA: PASSED_OFF}
_STAMP = re.compile(r"^.*?\[ *\d+\.\d+\](?:\[[^\]]*\])? *")
_ENTRY = {"target", "kind", "where", "text", "defect", "driver", "needs", "without"}


@dataclass(frozen=True)
class Finding:
    """One thing that must not be."""

    kind: str
    """A kind of crash (zvmlab.guest.console), or a judge's name."""
    where: str
    """The innermost functions, or what else tells it from others of its kind."""
    text: str
    """A sentence; the kernel's first line if it has one."""
    report: str = ""
    """All that the kernel said."""

    @property
    def key(self) -> str:
        """The same for equal findings."""
        return f"{self.kind} in {self.where}" if self.where else self.kind

    @property
    def name(self) -> str:
        """A short name for files."""
        return hashlib.sha256(self.key.encode()).hexdigest()[:_DIGITS]


def of_report(kind: str, line: str, report: str) -> Finding:
    """A finding that the kernel itself reports."""
    functions = innermost(report).split(" < ")[:_FUNCTIONS]
    where = " < ".join(function for function in functions if function)
    cause = _STAMP.sub("", line)
    return Finding(kind, where or _stable(cause), cause, report)


def _stable(text: str) -> str:
    """A sentence without what differs each time."""
    return re.sub(r"\b(?:0x)?[0-9a-f]{6,}\b|\d+", "N", text)


@dataclass(frozen=True)
class Known:
    """A defect that is known: docs/upstream-*.md describe it."""

    target: str
    """A pattern."""
    kind: str
    where: str
    """Regular expressions, for all of the functions, and for a part of the text."""
    text: str
    defect: str
    driver: str = "*"
    """A pattern: whose monreader has it."""
    needs: str = ""
    """A regular expression for a part of one of the case's steps (zvmlab.scenarios.steps.text_of)."""
    without: str = ""
    """And one for what none of them has."""

    def covers(self, case: Case, finding: Finding, driver: str) -> bool:
        """Is the finding this defect?"""
        return (
            fnmatch.fnmatchcase(case.target, self.target)
            and fnmatch.fnmatchcase(driver, self.driver)
            and self.kind == finding.kind
            and re.fullmatch(self.where, finding.where) is not None
            and re.search(self.text, finding.text) is not None
            and self._covers_steps(list(map(text_of, case.steps)))
        )

    def _covers_steps(self, steps: Sequence[str]) -> bool:
        """Has the case got what leads to the defect, and nothing that leads to another one?"""
        if self.without and any(re.search(self.without, step) for step in steps):
            return False
        return not self.needs or any(re.search(self.needs, step) for step in steps)


def load_known(file: Path | None = None) -> list[Known]:
    """The defects of tests/fuzz/kernel/known.toml; UsageError says which entry is wrong."""
    file = file or folder() / f"{KNOWN_NAME}.toml"
    found = parse(file)
    entries = found.get("known", [])
    if set(found) - {"known"} or not isinstance(entries, list):
        raise UsageError(f"{file} has something besides [[known]]")
    return [_known(file, number, entry) for number, entry in enumerate(entries, 1)]


def _known(file: Path, number: int, entry: Any) -> Known:
    what = f"{file}, entry {number}"
    if not isinstance(entry, dict) or not {"target", "kind", "defect"} <= set(entry) <= _ENTRY:
        raise UsageError(
            f"{what}: it has target, kind and defect, and may have driver, where, text, needs and without"
        )
    texts = {"where": ".*", "text": "", "driver": "*", "needs": "", "without": ""} | entry
    if not all(isinstance(text, str) for text in texts.values()):
        raise UsageError(f"{what}: one of its values is no text")
    for key in ("where", "text", "needs", "without"):
        try:
            re.compile(texts[key])
        except re.error as error:
            raise UsageError(f"{what}: '{key}' is no regular expression: {error}") from None
    return Known(**texts)


def reason(case: Case, finding: Finding, known: Iterable[Known], driver: str) -> str | None:
    """The defect that a finding is; None if it is new."""
    for one in known:
        if one.covers(case, finding, driver):
            return one.defect
    symptom = _symptom(finding)
    for fault in _sweep_cases(case):
        for entry in SWEEP_KNOWN:
            if entry.covers(fault, symptom, driver):
                return entry.reason
    return None


def _symptom(finding: Finding) -> Symptom:
    """As a sweep would say it."""
    kind = _SYMPTOMS.get(finding.kind, PANIC)
    text = finding.text
    if kind == PANIC:
        functions = innermost(finding.report) or "an unknown place"
        text = f"the guest's kernel reported a {finding.kind} ({text}); in {functions}"
    return Symptom(kind, text)


def _sweep_cases(case: Case) -> Sequence[SweepCase]:
    return [
        SweepCase(
            str(fault.get("point", "")),
            int(fault.get("n", 1)),
            str(fault.get("kind", "")),
            int(fault.get("value", 0)),
            int(fault.get("offset", 0)),
        )
        for fault in faults_of(case.steps)
    ]
