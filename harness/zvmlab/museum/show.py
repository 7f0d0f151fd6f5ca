# SPDX-License-Identifier: MIT
"""Show a bug: its tests pass without it, and fail with it, each time."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence

from zvmlab.base.progress import Progress
from zvmlab.museum.bugs import Bug
from zvmlab.museum.edited import Both, edited
from zvmlab.museum.shown import Shown, remember
from zvmlab.verdict.compare import Results
from zvmlab.verdict.runs import Seen, short_name

TEST_SECONDS = 1800


def kernel_of(bug: Bug, kernel: str) -> str:
    """The kernel that a bug is shown on: the user's, or its own."""
    return kernel or bug.kernel


def show(bug: Bug, kernel: str, times: int, progress: Progress) -> Shown:
    """Run the bug's tests so many times without its edit, and with it.

    What has been shown so far is remembered, so that nothing of a run that is cut off is lost.
    """
    name = kernel_of(bug, kernel)
    words = [*bug.options, f"--bystanders={','.join(bug.named)}", *bug.tests]
    shown = Shown(name, 0, 0, 0)
    with edited(name, bug, TEST_SECONDS, progress) as both:
        for _ in range(times):
            shown = _once_more(bug, both, words, shown)
            remember(bug, shown)
    return shown


def _once_more(bug: Bug, both: Both, words: Sequence[str], before: Shown) -> Shown:
    """Run them on both sides; what has been shown then."""
    why, seconds, right = before.why, before.seconds, []
    for run, judge in ((both.base, _wrong_without), (both.changed, _wrong_with)):
        begun = time.monotonic()
        wrong = judge(bug, run(words))
        seconds = max(seconds, time.monotonic() - begun)
        right.append(not wrong)
        why = why or wrong
    base, seen = before.base + right[0], before.seen + right[1]
    return Shown(before.kernel, before.times + 1, base, seen, why, seconds)


def _failed(results: Results) -> dict[str, Seen]:
    """Those that fail in another way than is known."""
    return {k: one for k, one in results.items() if one.holds is False and not one.known}


def _wrong_without(_bug: Bug, results: Results) -> str:
    """Why the tests do not show that the kernel is right without the edit; "" if they do."""
    for name, one in _failed(results).items():
        return f"without the edit, {short_name(name)} fails: {first_line(one.text)}"
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
        return f"with the edit, {short_name(name)} fails otherwise: {first_line(one.text)}"
    return ""


def _skipped(results: Results) -> str:
    reasons = {one.cause for one in results.values() if one.holds is None}
    return f" (skipped: {'; '.join(sorted(reasons))})" if reasons else ""


def first_line(text: str) -> str:
    """The first line with something in it."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "nothing was said")
