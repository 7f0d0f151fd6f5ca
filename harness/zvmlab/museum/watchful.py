# SPDX-License-Identifier: MIT
"""Tests that have noticed changes of a file of Linux before: they are asked first about the next one.

    tests = watchful_first(files, tests)
    has_noticed(files, "tests/e2e/test_af_iucv_model.py::test_any_calls_in_any_order")

That costs nothing of the answer: all of the tests are asked until one notices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from zvmlab.base.cache import digest
from zvmlab.base.decided import keep, recall
from zvmlab.verdict.applied import Applied

_WHAT = "museum-watchful"
_MEANING = "1"
"""Another number, if an answer comes to mean something else."""


def watchful_first(files: Applied, tests: Sequence[str]) -> list[str]:
    """The tests, those first that have noticed most changes of these files; the others as they were."""
    known = Counter[str]()
    for name in files.changed:
        known.update(_of(name))
    return sorted(tests, key=lambda test: -known[test])


def has_noticed(files: Applied, test: str) -> None:
    """Note that a test has noticed a change of these files."""
    for name in files.changed:
        known = Counter(_of(name))
        known[test] += 1
        keep(_WHAT, digest(name), _MEANING, known)


def _of(name: str) -> dict[str, int]:
    """How many changes of a file each test has noticed."""
    found = recall(_WHAT, digest(name), _MEANING)
    if not isinstance(found, dict) or not all(isinstance(count, int) for count in found.values()):
        return {}
    return found
