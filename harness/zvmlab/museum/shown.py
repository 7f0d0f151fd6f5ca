# SPDX-License-Identifier: MIT
"""What runs have shown of a bug, and the memory of it.

    remember(shown)
    remembered(bug)     # of each kernel, the run that says most

A run counts as long as the bug's edits and the files of its tests stay as they are.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from zvmlab.base.cache import digest
from zvmlab.base.decided import keep, recall
from zvmlab.base.tree import TREE
from zvmlab.museum.bugs import Bug

_WHAT = "museum-shown"


@dataclass(frozen=True)
class Shown:
    """What one run, of so many times, has shown of a bug on a kernel."""

    kernel: str
    times: int
    base: int
    """So many times the tests passed without the edit."""
    seen: int
    """So many times one failed with it, as the table says."""
    why: str = ""
    """What was otherwise."""
    seconds: float = 0
    """The longest that one time took, without building."""

    @property
    def right(self) -> bool:
        """Each time as it should be?"""
        return self.base == self.seen == self.times

    @property
    def sentence(self) -> str:
        """Such as "10 of 10 on sid, 21 s at most"."""
        least = min(self.base, self.seen)
        return f"{least} of {self.times} on {self.kernel}, {self.seconds:.0f} s at most"


def remember(bug: Bug, shown: Shown) -> None:
    """Note a run, unless it is right and an earlier one was of more times."""
    found = {one.kernel: one for one in remembered(bug)}
    before = found.get(shown.kernel)
    if before is None or not shown.right or shown.times >= before.times:
        found[shown.kernel] = shown
    keep(_WHAT, bug.id, _state(bug), [asdict(found[kernel]) for kernel in sorted(found)])


def remembered(bug: Bug) -> list[Shown]:
    """The runs that are known, one for each kernel."""
    try:
        return [Shown(**one) for one in recall(_WHAT, bug.id, _state(bug)) or ()]
    except TypeError:
        return []


def _state(bug: Bug) -> str:
    """Changes with the edits and with the tests, not with what the entry says about them."""
    files = sorted({TREE / test.partition("::")[0] for test in bug.tests})
    deciding = bug.edits, bug.tests, bug.options, bug.seen
    return digest(repr(deciding), *filter(Path.is_file, files))
