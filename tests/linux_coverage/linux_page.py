# SPDX-License-Identifier: MIT
"""The page of one run: every source of Linux for z/VM, and which of its lines the tests ran."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from linux_lines import Lines

WANTED = 90.0
"""Per cent of a source's lines; what has less is explained."""
_TITLE = """\
<!-- SPDX-License-Identifier: MIT -->
# Coverage of Linux
"""
_HEAD = (
    "| source | uses of CP | requirements | shown on | lines | ran |",
    "|---|---|---|---|---|---|",
)


def page(
    found: Sequence[Lines], report: Mapping[str, Any] | None, kernel: str, lost: int = 0
) -> str:
    """The page; *report* is the report.json of a run on the other kernels, *kernel* what counted.

    *lost*: so many guests crashed or ended before they could be asked.
    """
    total = sum(lines.total for lines in found)
    done = sum(lines.done for lines in found)
    below = [lines for lines in found if lines.percent < WANTED]
    text = [
        *_TITLE.splitlines(),
        "",
        "`make linux-coverage` wrote this page; docs/coverage-of-linux.md explains it.",
        "",
        f"Kernel: {kernel}, in QEMU.  Of {total} lines with code, {done} ran"
        f" ({_percent(done, total)}); {len(found) - len(below)} of {len(found)} sources have at"
        f" least {WANTED:.0f} %.  {lost} guests crashed or ended with their counts.",
        "",
        *_HEAD,
        *(_row(lines, report) for lines in found),
    ]
    if below:
        text += ["", "## What does not run", ""]
        text += [line for lines in below for line in _below(lines)]
    return "\n".join(text).rstrip() + "\n"


def _percent(done: int, total: int) -> str:
    return f"{100.0 * done / total:.1f} %" if total else "–"


def _row(lines: Lines, report: Mapping[str, Any] | None) -> str:
    file = lines.file
    fields = (
        f"`{file.path}`",
        file.uses,
        ", ".join(file.rows) or "–",
        "; ".join(_shown_on(file.rows, report)) or "–",
        f"{lines.done} of {lines.total}",
        _percent(lines.done, lines.total),
    )
    return f"| {' | '.join(fields)} |"


def _shown_on(groups: str, report: Mapping[str, Any] | None) -> list[str]:
    """Kernels and emulators on which a requirement of these groups was shown."""
    if report is None:
        return []
    places = [
        f"{cell['kernel']}, {cell['backend']}"
        for row in report["requirements"]
        if row["row"][0] in groups
        for cell in row["cells"]
        if cell["shown"]
    ]
    return sorted(set(places))


def _below(lines: Lines) -> Iterator[str]:
    yield f"### `{lines.file.path}`"
    yield ""
    if lines.file.missing:
        yield lines.file.missing
        yield ""
    if lines.never_called:
        yield f"Functions that are never called: {', '.join(f'`{f}`' for f in lines.never_called)}."
        yield ""
    gaps = ", ".join(f"{a}" if a == b else f"{a}–{b}" for a, b in lines.gaps())
    yield f"Lines that do not run: {gaps}."
    yield ""
