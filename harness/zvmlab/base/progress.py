# SPDX-License-Identifier: MIT
"""Telling the user what is going on: a bar on a terminal, plain lines elsewhere.

    progress = Progress()
    with progress.step("building QEMU", total=1215) as step:
        step.update(done)
    progress.say("kernel 6.1.0-50-s390x")

Everything goes to standard error, so that standard output carries results only.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:  # rich takes longer to import than most commands need in all
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

PLAIN_SECONDS = 10.0
"""Without a terminal, a running step repeats its line no more often than this."""
_TELLING = 0.05
"""So much of a step must be done before its speed tells how long the rest takes."""


class Step:
    """One thing that takes time."""

    def __init__(self, owner: Progress, text: str, total: int | None) -> None:
        self._owner = owner
        self.text = text
        self.total = total
        self.done = 0
        self.started = self.said = time.monotonic()
        self.told = False
        """Whether a line about it was printed."""
        self.task: TaskID | None = None

    def update(self, done: int, total: int | None = None) -> None:
        """Report progress; the total may become known, or change, under way."""
        self.done = done
        if total is not None:
            self.total = total
        self._owner.refresh(self)

    def remaining(self) -> str:
        """Estimate the remaining time in words; "" while it would be a guess."""
        if not self.total or not _TELLING * self.total <= self.done < self.total:
            return ""
        seconds = (time.monotonic() - self.started) * (self.total - self.done) / self.done
        return (
            f"about {seconds:.0f} s left" if seconds < 90 else f"about {seconds / 60:.0f} min left"
        )


class Progress:
    """Shows steps, nested ones too; one object per process is enough.

    *quiet* says nothing.  *brief* is for commands whose own output is what people want: without a
    terminal, it tells only of steps that last longer than `PLAIN_SECONDS`.
    """

    def __init__(
        self, stream: TextIO | None = None, quiet: bool = False, brief: bool = False
    ) -> None:
        self._stream = stream or sys.stderr
        self._quiet = quiet
        self._brief = brief and not self._stream.isatty()
        self._steps: list[Step] = []
        self._rich: RichProgress | None = None

    def say(self, text: str) -> None:
        """One line that stays."""
        if self._quiet or self._brief:
            return
        if self._rich is not None:
            self._rich.console.print(text, markup=False, highlight=False, soft_wrap=True)
        else:
            print(text, file=self._stream, flush=True)

    @contextlib.contextmanager
    def step(self, text: str, total: int | None = None) -> Iterator[Step]:
        """Show *text* while the block runs; without a total there is no bar to fill."""
        step = Step(self, text, total)
        self._begin(step)
        try:
            yield step
        finally:
            self._end(step)

    def refresh(self, step: Step) -> None:
        """Called by a step that has moved on."""
        if self._rich is not None and step.task is not None:
            self._rich.update(step.task, completed=step.done, total=step.total)
        elif not self._quiet and time.monotonic() - step.said >= PLAIN_SECONDS:
            step.said = time.monotonic()
            remaining = step.remaining()
            shown = f": {step.done}/{step.total or '?'}"
            self._print(step, f"{shown}, {remaining}" if remaining else shown)

    def _begin(self, step: Step) -> None:
        if self._quiet:
            return
        self._steps.append(step)
        if not self._stream.isatty():
            if not self._brief:
                self._print(step, " ...")
            return
        if self._rich is None:
            self._rich = _bar(self._stream)
            self._rich.start()
        step.task = self._rich.add_task(step.text, total=step.total)

    def _end(self, step: Step) -> None:
        if self._quiet:
            return
        self._steps.remove(step)
        seconds = time.monotonic() - step.started
        if self._rich is not None and step.task is not None:
            self._rich.remove_task(step.task)
            if not self._steps:
                self._rich.stop()
                self._rich = None
        elif step.told and seconds >= 2.0:
            self._print(step, f": {seconds:.0f} s")

    def _print(self, step: Step, rest: str) -> None:
        step.told = True
        print(f"{step.text}{rest}", file=self._stream, flush=True)


def _bar(stream: TextIO) -> RichProgress:
    """On a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as Bar
    from rich.progress import TimeElapsedColumn, TimeRemainingColumn

    return Bar(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
        console=Console(file=stream),
        transient=True,
    )
