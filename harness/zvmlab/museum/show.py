# SPDX-License-Identifier: MIT
"""Show a bug: its tests pass without it, and fail with it, each time."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from zvmlab.base.errors import GuestPanic, Timeout, ZvmlabError
from zvmlab.base.progress import Progress
from zvmlab.museum.bugs import Bug
from zvmlab.museum.edited import edited
from zvmlab.verdict.compare import Results, worse
from zvmlab.verdict.runs import Seen, short_name

TEST_SECONDS = 600
Say = Callable[[str], None]


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


def show(bug: Bug, kernel: str, times: int, progress: Progress) -> Shown:
    """Run the bug's tests so many times without its edit, and with it."""
    name = kernel_of(bug, kernel)
    words = [*bug.options, *bug.tests]
    right, why, longest = [0, 0], "", 0.0
    with edited(name, bug, TEST_SECONDS, progress) as (base, changed):
        for side, (run, judge) in enumerate(((base, _wrong_without), (changed, _wrong_with))):
            for _ in range(times):
                begun = time.monotonic()
                wrong = judge(bug, run(words))
                longest = max(longest, time.monotonic() - begun)
                right[side] += not wrong
                why = why or wrong
    return Shown(bug, name, times, right[0], right[1], why, longest)


def _failed(results: Results) -> dict[str, Seen]:
    """Those that fail in another way than is known."""
    return {k: one for k, one in results.items() if one.holds is False and not one.known}


def _wrong_without(_bug: Bug, results: Results) -> str:
    """Why the tests do not show that the kernel is right without the edit; "" if they do."""
    for name, one in _failed(results).items():
        return f"without the edit, {short_name(name)} fails: {_first(one.text)}"
    if all(one.holds is None for one in results.values()):
        return f"without the edit, no test ran{_skipped(results)}"
    return ""


def _wrong_with(bug: Bug, results: Results) -> str:
    """Why they do not show the bug; "" if they do."""
    failed = _failed(results)
    if not failed:
        return f"with the edit, no test fails{_skipped(results)}"
    if not any(re.search(bug.seen, one.text) for one in failed.values()):
        name, one = next(iter(failed.items()))
        return f"with the edit, {short_name(name)} fails otherwise: {_first(one.text)}"
    return ""


def _skipped(results: Results) -> str:
    reasons = {one.cause for one in results.values() if one.holds is None}
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
            key = (name, bug.file, *words)
            workers = ["-n", str(jobs), "--dist", "loadgroup"] if jobs > 1 else []
            with edited(name, bug, 6 * TEST_SECONDS, progress) as (base, changed):
                if key not in known:
                    known[key] = base([*workers, *words])
                results = changed([*workers, *words])
            by = [short_name(k) for k, one in results.items() if worse(known[key].get(k, one), one)]
            found.append(Noticed(bug, tuple(by), len(results)))
        except Timeout as error:
            found.append(Noticed(bug, (str(error),)))
        except GuestPanic:
            raise
        except ZvmlabError as error:
            found.append(Noticed(bug, why=str(error).splitlines()[0]))
        say(sentence(found[-1]))
    return found


def sentence(noticed: Noticed) -> str:
    """One line for a bug."""
    if noticed.why:
        return f"{noticed.bug.id}: cannot be asked: {noticed.why}"
    if not noticed.by:
        return f"{noticed.bug.id}: not noticed by {noticed.ran} tests"
    more = f" and {len(noticed.by) - 1} more" if len(noticed.by) > 1 else ""
    return f"{noticed.bug.id}: noticed by {noticed.by[0]}{more}"
