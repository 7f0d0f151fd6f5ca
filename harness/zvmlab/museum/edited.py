# SPDX-License-Identifier: MIT
"""Kernels without and with a bug.

    with edited("6.12", bug, 600, progress) as both:
        both.base(bug.tests)
        both.changed(bug.tests)

Both sides are built as those of a series are (zvmlab.verdict.sides): an edited module takes the place of
the kernel's own, and if the file is part of the kernel itself, that is built from a copy of its tree.
"""

from __future__ import annotations

import contextlib
import itertools
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from zvmlab.base.errors import UsageError
from zvmlab.base.progress import Progress
from zvmlab.builder.tree_name import series_of
from zvmlab.museum.pattern_edit import edited_texts
from zvmlab.museum.bugs import Bug
from zvmlab.verdict.applied import Applied, File, tree_file
from zvmlab.verdict.compare import Results
from zvmlab.verdict.diffs import parse
from zvmlab.verdict.parts import text_of
from zvmlab.verdict.runs import Runner
from zvmlab.verdict.sides import Side, Sides, build_sides, targets_of
from zvmlab.verdict.workspace import RESULTS, claimed, clear, temporaries, workspace

Run = Callable[[Sequence[str]], Results]
"""Runs tests, in words for pytest."""


@dataclass(frozen=True)
class Both:
    """A kernel without and with a change of its tree."""

    series: str
    """Of the tree, such as 7.2."""
    sides: Sides
    files: Applied
    base: Run
    changed: Run


@contextlib.contextmanager
def both_sides(
    kernel: str, change: Callable[[Path], Applied], seconds: float, progress: Progress
) -> Iterator[Both]:
    """Build both; *change* says what becomes of a tree, each run of tests has so many seconds."""
    # A tree without words stands for two: the plain one comes first.
    target = targets_of(kernel, progress)[0]
    work = workspace("museum", target.tree)
    with claimed(work, f"both sides of {target.tree}", progress), temporaries(work):
        try:
            files = change(target.tree)
            sides = build_sides(target, files, work, progress)
            shutil.rmtree(work / RESULTS, ignore_errors=True)
            runner = Runner(work / RESULTS, seconds=seconds)
            numbers = itertools.count(1)

            def run(side: Side) -> Run:
                return lambda words: runner.run(side, words, str(next(numbers)))

            yield Both(series_of(target.tree), sides, files, run(sides.base), run(sides.patched))
        finally:
            clear(work)
            shutil.rmtree(work / RESULTS, ignore_errors=True)


@contextlib.contextmanager
def edited(kernel: str, bug: Bug, seconds: float, progress: Progress) -> Iterator[Both]:
    """The kernel without and with the bug's edits."""
    with both_sides(kernel, lambda tree: applied(tree, bug), seconds, progress) as both:
        if bug.module and bug.module not in both.sides.modules:
            raise UsageError(f"{bug.id}: {bug.file} is not a part of the module {bug.module}")
        yield both


def applied(tree: Path, bug: Bug) -> Applied:
    """The files that the bug's edits change, without and with them; UsageError names the bug."""
    try:
        return changed_files(tree, edited_texts(tree, bug.edits))
    except UsageError as error:
        raise UsageError(f"{bug.id}: {error}") from None


def changed_files(tree: Path, texts: Mapping[str, str]) -> Applied:
    """Files of a tree that get other texts, and what differs."""
    base, patched, diffs = {}, {}, {}
    for name, text in texts.items():
        base[name] = tree_file(tree, name)
        patched[name] = File(text.encode("utf-8", "surrogateescape"))
        lines = unified_diff(
            text_of(base[name]).splitlines(True),
            text_of(patched[name]).splitlines(True),
            f"a/{name}",
            f"b/{name}",
        )
        for diff in parse("".join(lines).encode("utf-8", "surrogateescape"), name):
            diffs[name] = diff
    return Applied(base, patched, diffs)
