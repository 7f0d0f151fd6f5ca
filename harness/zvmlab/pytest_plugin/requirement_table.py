# SPDX-License-Identifier: MIT
"""The result of a run as a table: for a terminal, and in Markdown."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from zvmlab.guest.config import QEMU
from zvmlab.pytest_plugin.requirement_results import Column, Outcome, Result, Row, Run
from zvmlab.pytest_plugin.speeds import told

WIDTH = 100
_TITLE_MIN = 20
_CELL_MIN = 9


class Line(NamedTuple):
    """One line of text, in pieces with the state of each: an outcome, "heading" or none."""

    pieces: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """The line without its states."""
        return "".join(text for text, _ in self.pieces)


def _plain(text: str) -> Line:
    return Line(((text, ""),))


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _width(column: Column, rows: Sequence[Row]) -> int:
    texts = (
        column.kernel,
        column.driver,
        column.backend,
        *(row.cells[column].text for row in rows),
    )
    return max(_CELL_MIN, min(16, max(map(len, texts))))


def _blocks(run: Run, rows: Sequence[Row], room: int) -> Iterator[list[tuple[Column, int]]]:
    """The columns in blocks that fit beside the titles."""
    block: list[tuple[Column, int]] = []
    left = room
    for column in run.columns:
        width = _width(column, rows)
        if block and left < width + 2:
            yield block
            block, left = [], room
        block.append((column, width))
        left -= width + 2
    yield block


def table(run: Run, names: bool = False) -> Iterator[Line]:
    """The table, at most WIDTH wide; with *names*, the tests of each row below it."""
    rows = run.rows()
    first = max(3, *(len(row.requirement.row) for row in rows))
    longest = max(len(row.requirement.title) for row in rows)
    room = WIDTH - first - 2 - _TITLE_MIN - 7
    for block in _blocks(run, rows, room):
        taken = sum(width + 2 for _, width in block)
        title = max(_TITLE_MIN, min(longest, WIDTH - first - 2 - 7 - taken))
        yield from _heading(run, block, first, title)
        for row in rows:
            yield _line(row, block, first, title)
            if names:
                yield from (_plain(f"{'':{first + 2}}{_cut(name, 90)}") for name in row.tests)


def _heading(
    run: Run, block: Sequence[tuple[Column, int]], first: int, title: int
) -> Iterator[Line]:
    left = f"{'':{first + 2}}{'requirement':{title}}  tests"
    kernels = "".join(f"  {_cut(column.kernel, width):{width}}" for column, width in block)
    yield Line((((left + kernels).rstrip(), "heading"),))
    lines = ["".join(f"  {_cut(column.driver, width):{width}}" for column, width in block)]
    if any(column.backend != QEMU for column in run.columns):
        lines.append("".join(f"  {_cut(c.backend, width):{width}}" for c, width in block))
    for text in lines:
        yield Line((((f"{'':{first + title + 9}}{text}").rstrip(), "heading"),))


def _line(row: Row, block: Sequence[tuple[Column, int]], first: int, title: int) -> Line:
    left = f"{row.requirement.row:{first}}  {_cut(row.requirement.title, title):{title}}"
    pieces = [(f"{left}  {len(row.tests):>5}", "")]
    for column, width in block:
        cell = row.cells[column]
        text = _cut(cell.text, width)
        state = "missing" if cell.missing else cell.outcome or ""
        pieces += [("  ", ""), (text, state), (" " * (width - len(text)), "")]
    return Line(tuple(pieces[:-1]))


def deviations(run: Run) -> list[str]:
    """Each known deviation once: rows, reason, and where it was seen."""
    places = {row: place for place, row in enumerate(run.requirements.rows)}
    seen: dict[tuple[tuple[str, ...], str], list[Result]] = {}
    for result in run.results:
        if result.outcome is Outcome.DEVIATES:
            seen.setdefault((result.case.rows, result.reason), []).append(result)
    lines = []
    for names, reason in sorted(seen, key=lambda key: [places.get(row, -1) for row in key[0]]):
        results = seen[names, reason]
        rows = ", ".join(names) or "no requirement"
        kernels = dict.fromkeys(r.case.kernel for r in results if r.case.kernel)
        functions = dict.fromkeys(r.case.function for r in results)
        where = f" ({', '.join(kernels)})" if kernels else ""
        lines.append(f"{rows}{where}: {reason} [{', '.join(functions)}]")
    return lines


def wrapped(sentence: str) -> str:
    """A sentence in lines that are not wider than the table."""
    return textwrap.fill(sentence, WIDTH, subsequent_indent="     ", break_on_hyphens=False)


def totals(run: Run) -> str:
    """The run in one sentence."""
    rows = run.rows()
    shown = sum(row.shown for row in rows)
    deviating = sum(row.deviates for row in rows)
    counts = run.counts()
    words = {Outcome.DEVIATES: "known to deviate"}
    parts = ", ".join(f"{counts[o]} {words.get(o, o)}" for o in Outcome if counts.get(o))
    tests = f"{len(run.results)} tests" + (f": {parts}" if parts else "")
    if not rows:
        return tests
    in_part = sum(row.in_part for row in rows)
    several = any(column.backend != QEMU for column in run.columns)
    what = "kernel, driver and emulator" if several else "kernel and driver"
    return (
        f"{shown} of {len(rows)} requirements shown on every {what}"
        + (f", {in_part} of them by a part of their tests" if in_part else "")
        + (f", {deviating} with a known deviation" if deviating else "")
        + f"; {tests}"
    )


def _escaped(text: str) -> str:
    return "".join(f"\\{c}" if c in "\\|`*_<>[]" else c for c in " ".join(text.split()))


def _heads(column: Column) -> list[str]:
    emulator = [] if column.backend == QEMU else [column.backend]
    return [column.kernel, column.driver, *emulator]


def markdown(run: Run) -> str:
    """The table for documentation: row, requirement, tests, result per column."""
    head = ["row", "requirement", "tests"]
    head += [_escaped(", ".join(_heads(column))) for column in run.columns]
    lines = [
        "<!-- SPDX-License-Identifier: MIT -->",
        "# Requirements and the tests that show them",
        "",
        "What each test shows, and with what result.",
    ]
    lines += ["", f"Run: {time.strftime('%Y-%m-%d', time.gmtime(run.started))}."]
    if run.kernels:
        versions = ", ".join(f"{name} {version}" for name, version in sorted(run.kernels.items()))
        lines += ["", f"Kernels: {_escaped(versions)}."]
    if run.left:
        lines += ["", f"{_escaped(told(run.whole, run.left)).capitalize()}."]
    for letter, title in run.requirements.groups.items():
        lines += ["", f"## {letter}: {_escaped(title)}", ""]
        lines += [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
        for row in run.rows():
            if row.requirement.row.startswith(letter):
                tests = "<br>".join(f"`{name}`" for name in row.tests)
                cells = [row.cells[column].text for column in run.columns]
                fields = [row.requirement.row, _escaped(row.requirement.text), tests, *cells]
                lines.append(f"| {' | '.join(fields)} |")
    found = deviations(run)
    if found:
        lines += ["", "## Known deviations of the kernel's own driver", ""]
        lines += [f"* {_escaped(line)}" for line in found]
    return "\n".join(lines) + "\n"
