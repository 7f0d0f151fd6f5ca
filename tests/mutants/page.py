# SPDX-License-Identifier: MIT
"""What a run has shown: a page to read, and entries to judge."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from change import Kind, short
from judged import HARMLESS
from trial import Result, Verdict


@dataclass(frozen=True)
class Part:
    """Results of a folder."""

    folder: str
    results: tuple[Result, ...]
    judged: int
    """How many of those that were not noticed are judged harmless."""

    def count(self, *verdicts: Verdict) -> int:
        """Results with one of these verdicts."""
        return sum(result.verdict in verdicts for result in self.results)

    @property
    def counted(self) -> int:
        """Changes that a test could notice."""
        return sum(result.counted for result in self.results)

    @property
    def noticed(self) -> int:
        """Changes that one did notice."""
        return sum(result.noticed for result in self.results)

    @property
    def share(self) -> float:
        """Noticed, of those that are not harmless."""
        real = self.counted - self.judged
        return self.noticed / real if real else 1.0


def _cells(part: Part) -> str:
    raw = part.noticed / part.counted if part.counted else 1.0
    cells = (
        part.folder,
        part.counted,
        part.noticed,
        part.count(Verdict.HANG),
        f"{raw:.1%}",
        part.judged,
        part.counted - part.noticed - part.judged,
        f"{part.share:.1%}",
        part.count(Verdict.NO_C, Verdict.SAME),
    )
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def totals(parts: list[Part]) -> list[str]:
    """The table of folders, and all of them together."""
    whole = Part(
        "all", tuple(r for part in parts for r in part.results), sum(p.judged for p in parts)
    )
    return [
        "| folder | changes | noticed | of them hung | share | judged harmless | open | "
        "share without harmless | not counted |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
        *(_cells(part) for part in [*parts, whole]),
    ]


def _kinds(results: Iterable[Result]) -> list[str]:
    lines = ["| kind | changes | noticed |", "|---|--:|--:|"]
    counted = [result for result in results if result.counted]
    for kind in Kind:
        group = [result for result in counted if result.mutant.change.kind == kind]
        lines.append(f"| {kind} | {len(group)} | {sum(result.noticed for result in group)} |")
    return lines


def _code(text: str) -> str:
    shown = short(text).replace("|", "\\|")
    return f"`` {shown} ``" if "`" in shown else f"`{shown}`"


def _survivor(result: Result, why: str) -> str:
    mutant = result.mutant
    lines = mutant.text.splitlines()
    cells = (
        f"`{mutant.place}`",
        mutant.change.kind,
        _code(mutant.change.was),
        _code(mutant.change.became),
        _code(lines[mutant.change.line(mutant.text) - 1]),
        why or (f"{len(result.asked)} asked" if result.asked else "no test comes past it"),
    )
    return "| " + " | ".join(cells) + " |"


def page(title: str, parts: list[Part], reasons: dict[tuple[str, str], str]) -> str:
    """The page, in Markdown."""
    results = [result for part in parts for result in part.results]
    left = [result for result in results if result.verdict is Verdict.SURVIVED]
    why = {
        id(result): reasons.get((result.mutant.file, result.mutant.changed), "") for result in left
    }
    head = "| place | kind | was | became | line | tests, or why it is harmless |\n|---|---|---|---|---|---|"
    opened = [_survivor(result, "") for result in left if not why[id(result)]]
    judged = [_survivor(result, why[id(result)]) for result in left if why[id(result)]]
    return "\n".join(
        [
            f"# {title}",
            "",
            "Not counted are changes that do not compile, and those of which the compiler makes the same.",
            "",
            *totals(parts),
            "",
            *_kinds(results),
            "",
            "## Not noticed, not judged",
            "",
            head,
            *opened,
            "",
            "## Not noticed, judged harmless",
            "",
            head,
            *judged,
            "",
        ]
    )


def _unique(text: str, start: int, end: int) -> tuple[int, int]:
    """The smallest run of lines around a place that the text has once."""
    first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    last = len(text) if last < 0 else last
    while text.count(text[first:last]) != 1:
        first = text.rfind("\n", 0, max(first - 1, 0)) + 1
        after = text.find("\n", last + 1)
        last = len(text) if after < 0 else after
    return first, last


def entry(result: Result, section: str = HARMLESS) -> str:
    """A survivor as an entry of judged.toml, without a reason."""
    mutant = result.mutant
    text, change = mutant.text, mutant.change
    start, end = change.start, change.start + len(change.was)
    first, last = _unique(text, start, end)
    # Blanks before the first word are no help to a reader.
    trimmed = first + len(text[first:start]) - len(text[first:start].lstrip())
    if text.count(text[trimmed:last]) == 1:
        first = trimmed
    right = text[first:last]
    wrong = text[first:start] + change.became + text[end:last]
    return "\n".join(
        [
            f"[[{section}]]",
            f'file = "{mutant.file}"',
            f"right = {_quoted(right)}",
            f"wrong = {_quoted(wrong)}",
            'why = ""',
            "",
        ]
    )


def _quoted(text: str) -> str:
    if "'" not in text and "\n" not in text:
        return f"'{text}'"
    if "'''" not in text and not text.endswith("'"):
        return f"'''\n{text}'''"
    escaped = (
        text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    )
    return f'"{escaped}"'
