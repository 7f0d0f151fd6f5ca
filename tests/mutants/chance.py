# SPDX-License-Identifier: MIT
"""Changes that are chosen by chance, until as many as are wanted have counted."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

from change import Mutant
from enumerate_changes import in_chosen_order, shares
from trial import Result

Try = Callable[[Sequence[Mutant]], list[Result]]
"""Tries all of them, or those for which there is time."""
Folders = Callable[[list[Result]], Mapping[str, list[Result]]]


def by_chance(
    every: Mapping[str, list[Mutant]], number: int, seed: int, attempt: Try, folders: Folders
) -> list[Result]:
    """Tries as many of each folder, in the order of chance, as give *number* that count."""
    wanted = shares({folder: len(mutants) for folder, mutants in every.items()}, number)
    waiting = {
        folder: iter(in_chosen_order(mutants, random.Random(f"{seed} {folder}")))
        for folder, mutants in every.items()
    }
    results: list[Result] = []
    while True:
        batch = []
        for folder, count in wanted.items():
            batch += [mutant for _, mutant in zip(range(count), waiting[folder])]
        random.Random(seed).shuffle(batch)
        tried = attempt(batch)
        results += tried
        if len(tried) < len(batch) or not batch:
            return results
        for folder, group in folders(tried).items():
            wanted[folder] -= sum(result.counted for result in group)
