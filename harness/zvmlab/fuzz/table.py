# SPDX-License-Identifier: MIT
"""What a campaign has reached and found, from the folders of its pairs (zvmlab.fuzz.turns): report.md.

    rows = rows_of(Path("campaign"), load_known())
    print(text(rows))
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zvmlab.base.errors import UsageError
from zvmlab.base.plain import harmless
from zvmlab.base.results import sense
from zvmlab.fuzz.campaign import RUN, rate
from zvmlab.fuzz.finding import Known, reason
from zvmlab.fuzz.found import CASE, FINDINGS, Found, from_data, number
from zvmlab.fuzz.turns import LINES, REPRODUCERS, SAID, noted
from zvmlab.guest.names import UPSTREAM_DRIVER

NAME = "report.md"
_HOUR = 3600
_OUR_PAGE = "monreader"
# "docs/upstream-kernel.md, 5, 6 or 9: …" of known.toml, "kernel: dcssblk, defect 2: …" of sweep/known.py.
_PAGE = re.compile(r"docs/upstream-([\w-]+)\.md, ([\d, or]+):")
_SWEPT = re.compile(r"(upstream's driver|kernel: \w+|kernel)[,:] defect (\d+):")
_PAGES = {"driver": _OUR_PAGE, "upstream's driver": _OUR_PAGE}


@dataclass
class Row:
    """A pair of a campaign."""

    folder: Path
    target: str
    kernel: str
    driver: str
    cases: int
    cpu_seconds: float
    blocks: int
    pairs: int
    lines: int | None
    found: list[Found]
    said: str

    @property
    def new(self) -> list[Found]:
        """Findings that are not known."""
        return [one for one in self.found if one.defect is None]

    @property
    def name(self) -> str:
        """The target, and the driver if it is not the kernel's own."""
        return self.target if self.driver == UPSTREAM_DRIVER else f"{self.target} ({self.driver})"


def rows_of(folder: Path, known: Sequence[Known]) -> list[Row]:
    """The pairs in the folder of a campaign, by target and kernel.

    What is known now counts, also if it was new when it was found.  UsageError if there are none.
    """
    places = [file.parent for file in folder.glob(f"*/*/{RUN}")]
    rows = [row for place in places if (data := noted(place)) and (row := _row(place, data, known))]
    if not rows:
        raise UsageError(f"{folder} is no folder of a campaign; zvmlab fuzz all makes one")
    return sorted(rows, key=lambda row: (row.target, row.kernel, row.driver))


def _row(place: Path, data: Mapping[str, Any], known: Sequence[Known]) -> Row:
    file = place / RUN
    with sense(file):
        target, driver = str(data["target"]), str(data["driver"])
        found = [from_data(file, target, one) for one in data["findings"]]
        for one in found:
            one.defect = reason(one.case, one.finding, known, driver) or one.defect
        return Row(
            place,
            harmless(target, lines=False),
            harmless(str(data["kernel"]), lines=False),
            harmless(driver, lines=False),
            number(data["cases"]),
            float(data["cpu-seconds"]),
            number(data["blocks"]),
            number(data["pairs"]),
            number(data[LINES]) if LINES in data else None,
            found,
            harmless(str(data.get(SAID, "")), lines=False),
        )


def label(defect: str) -> tuple[str, str] | None:
    """Page and number of a defect that is known; None if it has no number."""
    found = _PAGE.match(defect) or _SWEPT.match(defect)
    if found is None:
        return None
    page = _PAGES.get(found[1], found[1].removeprefix("kernel: "))
    return page, found[2]


def _labels(defects: Sequence[str]) -> list[str]:
    """The numbers of each page."""
    pages: dict[str, set[str]] = defaultdict(set)
    for page, numbers in filter(None, map(label, defects)):
        pages[page].add(numbers)
    return [f"{page} {', '.join(sorted(pages[page], key=_order))}" for page in sorted(pages)]


def _order(numbers: str) -> tuple[int, str]:
    return int(re.split(r"\D", numbers)[0]), numbers


def _findings(row: Row) -> str:
    """What a row has found, in a few words."""
    words = _labels([one.defect for one in row.found if one.defect is not None])
    words += [f"{len(row.new)} new"] if row.new else []
    words += [row.said.replace("|", "\\|")] if row.said else []
    return "; ".join(words) or "–"


def table(rows: Sequence[Row]) -> Iterator[str]:
    """The lines of the table, in Markdown; with lines of Linux if any were counted."""
    counted = any(row.lines is not None for row in rows)
    names = ["target", "kernel", "cases", "a CPU second", "blocks", "pairs"]
    names += ["lines", "findings"] if counted else ["findings"]
    yield _cells(names)
    yield "|---" * len(names) + "|"
    for row in rows:
        figures = [row.cases, rate(row.cases, row.cpu_seconds), row.blocks, row.pairs]
        figures += ["–" if row.lines is None else row.lines] if counted else []
        name = row.name.replace(row.target, f"`{row.target}`", 1)
        yield _cells([name, row.kernel, *map(str, figures), _findings(row)])


def _cells(words: Sequence[str]) -> str:
    return f"| {' | '.join(words)} |"


def text(rows: Sequence[Row]) -> str:
    """The report: how much was done, the table, what is new, and what is known."""
    cases, cpu = sum(row.cases for row in rows), sum(row.cpu_seconds for row in rows)
    lines = [
        "# A campaign of zvmlab fuzz",
        "",
        f"{len(rows)} pairs of a target and a kernel, {cases} cases in {cpu / _HOUR:.2f} CPU hours,"
        f" {sum(len(row.new) for row in rows)} new findings.",
        "",
        *table(rows),
    ]
    return "\n".join([*lines, *_new(rows), *_known(rows)]) + "\n"


def _new(rows: Sequence[Row]) -> Iterator[str]:
    """Each new finding once, with where it was seen."""
    seen: dict[str, list[tuple[Row, Found]]] = defaultdict(list)
    for row in rows:
        for found in row.new:
            seen[found.finding.key].append((row, found))
    for key, places in seen.items():
        yield from ("", f"## New: {key}", "", places[0][1].finding.text, "")
        for row, found in places:
            shown, runs = found.shown
            yield (
                f"* `{row.target}` on {row.kernel}, driver {row.driver}: by {found.times} cases;"
                f" {shown} of {runs} runs of {_place(row, found)}, {len(found.case.steps)} steps"
            )
            yield from (f"  * {note}" for note in found.notes)


def _place(row: Row, found: Found) -> Path:
    """Where its reproducer is, or if there is none the case."""
    emitted = row.folder / REPRODUCERS / found.finding.name
    return emitted if emitted.is_dir() else row.folder / FINDINGS / found.finding.name / CASE


def _known(rows: Sequence[Row]) -> Iterator[str]:
    defects = {one.defect for row in rows for one in row.found if one.defect is not None}
    if defects:
        yield from ("", "## Known", "")
        yield from (f"* {defect}" for defect in sorted(defects))


def write(folder: Path, rows: Sequence[Row]) -> Path:
    """Write the report into the folder of the campaign."""
    file = folder / NAME
    file.write_text(text(rows), encoding="utf-8")
    return file
