# SPDX-License-Identifier: MIT
"""Which lines of Linux' sources ran, by the counts that guests kept (zvmlab.guest.kernel_lines)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from zvmlab.builder.count_folder import KernelCounts
from zvmlab.builder.linux_files import COUNTS, NOTES, LinuxFile
from zvmlab.coverage.gcov import documents, merged, of_source


@dataclass
class Lines:
    """Lines and functions of a source that count."""

    file: LinuxFile
    ran: dict[int, bool] = field(default_factory=dict)
    """By the line's number: did it run in any guest?"""
    called: dict[str, bool] = field(default_factory=dict)
    """By the function's name."""

    @property
    def total(self) -> int:
        """Number of lines with code."""
        return len(self.ran)

    @property
    def done(self) -> int:
        """Number of those that ran."""
        return sum(self.ran.values())

    @property
    def percent(self) -> float:
        """Share of the lines that ran, 0 to 100."""
        return 100.0 * self.done / self.total if self.total else 0.0

    @property
    def never_called(self) -> list[str]:
        """Functions, in the alphabet's order."""
        return sorted(name for name, called in self.called.items() if not called)

    def gaps(self) -> list[tuple[int, int]]:
        """First and last line of each run of lines that did not; a line without code is no end."""
        groups = groupby(sorted(self.ran.items()), key=lambda item: item[1])
        numbers = [[number for number, _ in lines] for ran, lines in groups if not ran]
        return [(lines[0], lines[-1]) for lines in numbers]


def lines_of(
    files: Sequence[LinuxFile], kernels: Sequence[KernelCounts], scratch: Path
) -> list[Lines]:
    """What ran of each of *files* that the kernel has compiled, by all counts of that kernel."""
    (scratch / "merged").mkdir()
    folder = merged(kernels, scratch / "merged")
    there = [file for file in files if (folder / file.path.with_suffix(NOTES)).is_file()]
    names = [str(file.path.with_suffix(COUNTS)) for file in there]
    found = [Lines(file) for file in there]
    for lines, document in zip(found, documents(folder, names), strict=True):
        _add(lines, document)
    return found


def _add(found: Lines, document: dict[str, Any]) -> None:
    """Add the lines of gcov's document; functions of headers are none of the source's."""
    for part in of_source(document, str(found.file.path)):
        counted = {
            function["name"]: function["execution_count"] > 0
            for function in part["functions"]
            if found.file.counts(function["demangled_name"])
        }
        for name, called in counted.items():
            found.called[name] = found.called.get(name, False) or called
        for line in part["lines"]:
            if line.get("function_name") in counted:
                number = line["line_number"]
                found.ran[number] = found.ran.get(number, False) or line["count"] > 0
