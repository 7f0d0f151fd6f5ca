# SPDX-License-Identifier: MIT
"""What somebody who mistyped a word may have meant."""

from __future__ import annotations

from collections.abc import Iterable

_ALIKE = 0.65


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """What to add to the sentence that refuses *word*: the word most like it, or nothing."""
    import difflib  # which nobody needs who makes no mistake

    known = {one.lower().lstrip("-"): one for one in words}
    close = difflib.get_close_matches(word.lower().lstrip("-"), list(known), 1, _ALIKE)
    return f"; did you mean {known[close[0]]}?" if close else ""
