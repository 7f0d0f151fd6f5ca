# SPDX-License-Identifier: MIT
"""Edits of a kernel's source: places that are found by a pattern, and what becomes of them.

    edit = PatternEdit("net/iucv/af_iucv.c", "skb_unref", "kfree_skb", times=2)
    edited_texts(tree, [edit])               # {"net/iucv/af_iucv.c": …}; the tree stays as it is

An edit says in how many places it fits.  One that fits in another number of places is refused:
the source has changed, and the edit would do something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from zvmlab.base.errors import UsageError


@dataclass(frozen=True)
class PatternEdit:
    """What is changed in one file."""

    file: str
    """Its path in the tree."""
    place: str
    """A regular expression; ``^`` and ``$`` match at each line."""
    becomes: str
    """What is put there, with the groups of the expression."""
    times: int = 1
    """In so many places."""

    def __post_init__(self) -> None:
        path = PurePosixPath(self.file)
        if path.is_absolute() or ".." in path.parts or self.times < 1:
            raise UsageError(f"an edit of '{self.file}' in {self.times} places is impossible")
        try:
            re.compile(self.place, re.MULTILINE).sub(self.becomes, "")
        except (re.error, IndexError) as error:
            raise UsageError(f"the pattern {self.place!r} is wrong: {error}") from None

    def of(self, text: str) -> str:
        """The file with the edit."""
        # Groups are put in only where the expression matches, and are checked there.
        try:
            changed, count = re.subn(self.place, self.becomes, text, flags=re.MULTILINE)
        except (re.error, IndexError) as error:
            raise UsageError(f"{self.becomes!r} cannot be put in: {error}") from None
        if count != self.times:
            raise UsageError(
                f"the edit of {self.file} fits in {count} places instead of {self.times}"
                f" (its pattern is {self.place!r})"
            )
        return changed


def edited_texts(tree: Path, edits: Iterable[PatternEdit]) -> dict[str, str]:
    """The files that the edits change, by their paths in the tree; each edit sees those before it."""
    texts: dict[str, str] = {}
    for edit in edits:
        if edit.file not in texts:
            texts[edit.file] = _read(tree, edit.file)
        texts[edit.file] = edit.of(texts[edit.file])
    return texts


def _read(tree: Path, name: str) -> str:
    """A file of the tree."""
    try:
        # Any byte comes out as it went in.
        return (tree / name).read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        raise UsageError(f"the kernel source tree {tree} has no {name}") from None
    except OSError as error:
        raise UsageError(f"{tree / name} cannot be read: {error.strerror}") from None
