# SPDX-License-Identifier: MIT
"""Text that others have written, made harmless for a terminal.

A guest chooses what it writes to its console, sends in messages and gives CP as
commands; a terminal would obey the escape sequences in it.
"""

from __future__ import annotations

_LINES = "\n\t"
SHORT = 300
"""Characters of what others have written, in a sentence."""


def harmless(text: str, lines: bool = True) -> str:
    """*text* with its control and formatting characters spelled, as ``\\x1b``.

    Ends of lines and tabs stay if there may be *lines*.
    """
    keep = _LINES if lines else ""
    if lines:
        text = text.replace("\r\n", "\n")
    if all(c.isprintable() or c in keep for c in text):
        return text
    return "".join(c if c.isprintable() or c in keep else _spelled(c) for c in text)


def shortened(text: str, most: int = SHORT) -> str:
    """*text*, or as much of it as a sentence can bear."""
    return text if len(text) <= most else f"{text[:most]}…"


def _spelled(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
