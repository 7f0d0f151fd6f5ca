# SPDX-License-Identifier: MIT
"""Show a bug: its tests pass without it, and fail with it, each time."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from zvmlab.base.errors import GuestPanic, Timeout, ZvmlabError
from zvmlab.base.progress import Progress
from zvmlab.builder.kernels import resolve
from zvmlab.builder.pattern_edit import edited_texts, texts_of
from zvmlab.builder.tree_name import tree_name
from zvmlab.museum.bugs import Bug
from zvmlab.museum.edited import edited, source_of
from zvmlab.museum.runs import EXPECTED, FAILED, PASSED, SKIPPED, Results, run_pytest

TEST_SECONDS = 600
Say = Callable[[str], None]
Texts = dict[str, str]


@dataclass(frozen=True)
class Shown:
    """What became of one bug."""

    bug: Bug
    kernel: str
    times: int
    base: int
    """So many times the tests passed without the edit."""
    seen: int
    """So many times one failed with it, as the table says."""
    why: str = ""
    """What was otherwise."""
    seconds: float = 0
    """The longest that one time took, without building."""

    @property
    def right(self) -> bool:
        """Each time as it should be?"""
        return self.base == self.seen == self.times


def kernel_of(bug: Bug, kernel: str) -> str:
    """The kernel that a bug is shown on: the user's, or its own."""
    return kernel or bug.kernel


def both_texts(bug: Bug, kernel: str, progress: Progress) -> tuple[Texts, Texts]:
    """The files that the bug's edits change, without and with them."""
    known = None if tree_name(kernel) else resolve(kernel, progress=progress)
    tree = source_of(kernel, known, progress)
    texts = edited_texts(tree, bug.edits)
    return texts_of(tree, texts), texts


def show(bug: Bug, kernel: str, times: int, progress: Progress) -> Shown:
    """Run the bug's tests so many times without its edit, and with it."""
    name = kernel_of(bug, kernel)
    words = [*bug.options, *bug.tests]
    right, why, longest = [0, 0], "", 0.0
    for side, texts in enumerate(both_texts(bug, name, progress)):
        judge = _wrong_with if side else _wrong_without
        with edited(name, bug.module, texts, progress) as built:
            for _ in range(times):
                begun = time.monotonic()
                wrong = judge(bug, run_pytest(built, words, TEST_SECONDS))
                longest = max(longest, time.monotonic() - begun)
                right[side] += not wrong
                why = why or wrong
    return Shown(bug, name, times, right[0], right[1], why, longest)


def _wrong_without(bug: Bug, results: Results) -> str:
    """Why the tests do not show that the kernel is right without the edit; "" if they do."""
    failed = [name for name, result in results.items() if result.state == FAILED]
    if failed:
        return f"without the edit, {failed[0]} fails: {_first(results[failed[0]].text)}"
    if not any(result.state in (PASSED, EXPECTED) for result in results.values()):
        return f"without the edit, no test ran{_skipped(results)}"
    return ""


def _wrong_with(bug: Bug, results: Results) -> str:
    """Why they do not show the bug; "" if they do."""
    failed = {name: result for name, result in results.items() if result.state == FAILED}
    if not failed:
        return f"with the edit, no test fails{_skipped(results)}"
    if not any(re.search(bug.seen, result.text) for result in failed.values()):
        name, result = next(iter(failed.items()))
        return f"with the edit, {name} fails otherwise: {_first(result.text)}"
    return ""


def _skipped(results: Results) -> str:
    reasons = {result.text for result in results.values() if result.state == SKIPPED}
    return f" (skipped: {'; '.join(sorted(reasons))})" if reasons else ""


def _first(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "nothing was said")


@dataclass(frozen=True)
class Noticed:
    """Has the ordinary suite noticed a bug?"""

    bug: Bug
    by: tuple[str, ...] = ()
    """Tests whose result is another one than without the edit."""
    ran: int = 0
    why: str = ""
    """Why it could not be asked."""


def suite(
    bugs: Iterable[Bug],
    kernel: str,
    ordinary_tests: Callable[[Bug], Sequence[str]],
    jobs: int,
    progress: Progress,
    say: Say,
) -> list[Noticed]:
    """Run the ordinary tests of each bug's file without the edits, and with each of them."""
    found: list[Noticed] = []
    known: dict[tuple[str, ...], Results] = {}
    for bug in bugs:
        name, words = kernel_of(bug, kernel), ordinary_tests(bug)
        try:
            key = (name, bug.module, *words)
            without, texts = both_texts(bug, name, progress)
            if key not in known:
                known[key] = _suite_run(name, bug, without, words, jobs, progress)
            changed = _suite_run(name, bug, texts, words, jobs, progress)
            by = _differing(known[key], changed)
            found.append(Noticed(bug, tuple(by), len(changed)))
        except Timeout as error:
            found.append(Noticed(bug, (str(error),)))
        except GuestPanic:
            raise
        except ZvmlabError as error:
            found.append(Noticed(bug, why=str(error).splitlines()[0]))
        say(sentence(found[-1]))
    return found


def _suite_run(
    kernel: str,
    bug: Bug,
    texts: Texts,
    words: Sequence[str],
    jobs: int,
    progress: Progress,
) -> Results:
    with edited(kernel, bug.module, texts, progress) as built:
        return run_pytest(built, words, 6 * TEST_SECONDS, jobs)


def _differing(base: Results, changed: Results) -> list[str]:
    """Tests that fail with the edit, and not without it."""
    return [
        name
        for name, result in changed.items()
        if result.state == FAILED and name in base and base[name].state in (PASSED, EXPECTED)
    ]


def sentence(noticed: Noticed) -> str:
    """One line for a bug."""
    if noticed.why:
        return f"{noticed.bug.id}: cannot be asked: {noticed.why}"
    if not noticed.by:
        return f"{noticed.bug.id}: not noticed by {noticed.ran} tests"
    more = f" and {len(noticed.by) - 1} more" if len(noticed.by) > 1 else ""
    return f"{noticed.bug.id}: noticed by {noticed.by[0].rpartition('::')[2]}{more}"
