# SPDX-License-Identifier: MIT
"""Entries of a table of known differences between the two sides of a differential run."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass

from zvmlab.differ.compare import Difference


@dataclass(frozen=True)
class Explained:
    """Differences of one aspect, in these scenarios, between texts that match wholly."""

    scenarios: str
    """Patterns of names, separated by blanks."""
    aspect: str
    """A pattern."""
    first: str
    second: str
    """Regular expressions."""
    reason: str

    def covers(self, difference: Difference) -> bool:
        """Is this difference what the entry is about?"""
        return (
            any(fnmatch.fnmatchcase(difference.scenario, p) for p in self.scenarios.split())
            and fnmatch.fnmatchcase(difference.aspect, self.aspect)
            and re.fullmatch(self.first, difference.first) is not None
            and re.fullmatch(self.second, difference.second) is not None
        )


Rule = tuple[str, str, str]
"""Aspect, text of the first side, of the second."""


def because(reason: str, scenarios: str, *rules: Rule) -> tuple[Explained, ...]:
    """Entries that have the reason and the scenarios in common."""
    return tuple(Explained(scenarios, *rule, reason) for rule in rules)
