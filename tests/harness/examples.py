# SPDX-License-Identifier: MIT
"""How many examples of Hypothesis a test takes: in a short run, a part of them."""

from __future__ import annotations

from hypothesis import settings

USUAL = 100
"""Of a test that does not say, in the profile for whole runs."""


def some(count: int) -> int:
    """Of *count* examples, what the profile of this run leaves; tests/conftest.py loads it."""
    return max(2, count * int(settings.default.max_examples) // USUAL)
