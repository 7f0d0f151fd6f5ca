# SPDX-License-Identifier: MIT
"""Suggestions for mistyped words."""

from __future__ import annotations

from collections.abc import Iterable

_ALIKE = 0.65


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """Text to append to the sentence that refuses *word*: the most similar word, or nothing."""
    import difflib  # which nobody needs who makes no mistake

    known = {one.lower().lstrip("-"): one for one in words}
    close = difflib.get_close_matches(word.lower().lstrip("-"), list(known), 1, _ALIKE)
    return f"; did you mean {known[close[0]]}?" if close else ""
