# SPDX-License-Identifier: MIT
"""Results of changes of Linux in a file, so that a run that was cut off can go on.

    kept = Kept(Path("build/mutants/linux-results.jsonl"), "sid", resume=True)
    kept.of(mutant)         # what became of it in the run before; None if it was not tried there
    kept.add(result)
"""

from __future__ import annotations

import json
from pathlib import Path

from change import Mutant
from trial import Result, Verdict
from zvmlab.base.cache import digest
from zvmlab.base.errors import UsageError


class Kept:
    """One line for each change that was tried; of two for the same change the last one counts."""

    def __init__(self, path: Path, kernel: str, resume: bool) -> None:
        self._path = path
        self._kernel = kernel
        self._known: dict[str, tuple[Verdict, str, tuple[str, ...], float]] = {}
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        # What is behind the last newline was being written when the run was cut off.
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            path.write_text(whole, encoding="utf-8")
        if resume:
            self._read(whole)

    def _read(self, text: str) -> None:
        for number, line in enumerate(text.splitlines(), 1):
            try:
                key, verdict, by, asked, seconds = json.loads(line)
                self._known[key] = Verdict(verdict), by, tuple(asked), seconds
            except (TypeError, ValueError):
                raise UsageError(
                    f"{self._path}:{number}: this is no result; remove the file, and begin anew"
                ) from None

    def of(self, mutant: Mutant) -> Result | None:
        """What became of a change."""
        known = self._known.get(self._key(mutant))
        return Result(mutant, *known) if known is not None else None

    def add(self, result: Result) -> None:
        """Keep a result at once."""
        values = self._key(result.mutant), result.verdict.value, result.by, result.asked
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(json.dumps([*values, result.seconds]) + "\n")

    def _key(self, mutant: Mutant) -> str:
        return digest(self._kernel, mutant.file, mutant.changed)
