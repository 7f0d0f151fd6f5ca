# SPDX-License-Identifier: MIT
"""What the suite has made of an edit before, so that a run asks only what is new.

    memory = Remembered(target, files, ["--log"])
    memory.recall(tests)            # None: they have to be asked
    memory.keep(tests, noticing)

What a test has noticed counts as long as the kernel, the edit and the test's file stay as they are;
that none has, as long as the files of all tests do.  Nothing is kept of a user's own tree, which may
change.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from zvmlab.base.cache import digest
from zvmlab.base.decided import keep, recall
from zvmlab.base.progress import Progress
from zvmlab.base.tree import TREE
from zvmlab.builder.kernels import resolve
from zvmlab.builder.tree_name import tree_name
from zvmlab.museum.suite import Noticing
from zvmlab.verdict.applied import Applied
from zvmlab.verdict.runs import short_name
from zvmlab.verdict.sides import Target

_WHAT = "museum-suite"
_MEANING = "1"
"""Another number, if an answer comes to mean something else."""


class Remembered:
    """An answer for one edit of one kernel; *words* tell it from others."""

    def __init__(self, target: Target, files: Applied, words: Sequence[str]) -> None:
        kernel = _lasting(target)
        texts: list[str | bytes] = []
        for side in (files.base, files.patched):
            for name, file in sorted(side.items()):
                texts += [name, file.data if file else b""]
        self._key = digest(kernel, *texts, *words) if kernel else ""

    def recall(self, tests: Sequence[str]) -> Noticing | None:
        """What became of these tests; None if that is not known."""
        found = recall(_WHAT, self._key, _MEANING) if self._key else None
        try:
            what, shows = Noticing(**found["noticing"]), found["shows"]
        except (KeyError, TypeError):
            return None
        return what if shows == _shows(what, tests) else None

    def keep(self, tests: Sequence[str], what: Noticing) -> None:
        """Note it, unless it may be another one the next time."""
        if self._key and not what.hung:
            answer = {"noticing": asdict(what), "shows": _shows(what, tests)}
            keep(_WHAT, self._key, _MEANING, answer)


def _lasting(target: Target) -> str:
    """Names a kernel that is the same the next time; "" for a tree that its user can change."""
    if target.packaged:
        return f"{target.name} {resolve(target.name, progress=Progress(quiet=True))} {target.tree}"
    name = tree_name(target.name)
    if name is None or name.series is None or name.file is not None:
        return ""
    return f"{target.name} {target.tree} {digest(*sorted((TREE / 'guest').glob('*.config')))}"


def _shows(what: Noticing, tests: Iterable[str]) -> str:
    """Changes with the file of the test that has noticed it, or with all that were asked."""
    by = what.by.partition("[")[0]
    deciding = sorted(test for test in tests if by in ("", short_name(test)))
    files = sorted({TREE / test.partition("::")[0] for test in deciding})
    return digest(*deciding, *filter(Path.is_file, files))
