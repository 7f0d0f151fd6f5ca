# SPDX-License-Identifier: MIT
"""How many examples of Hypothesis a test takes: in a short run, a part of them."""

from __future__ import annotations

from hypothesis import settings

USUAL = 100
"""Of a test that does not say, in the profile for whole runs."""


def some(count: int, few: int | None = None) -> int:
    """Of *count* examples, what the profile of this run leaves; tests/conftest.py loads it.

    *few*: how many a short run takes, if each takes seconds.
    """
    usual = int(settings.default.max_examples)
    if few is not None and usual < USUAL:
        return few
    return max(2, count * usual // USUAL)
