# SPDX-License-Identifier: MIT
"""docs/defects.md has every defect that the pages behind it describe, and names tests that are there."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGE = (DOCS / "defects.md").read_text(encoding="utf-8")
LINUX, QEMU = PAGE.split("\n## In QEMU\n")


def _rows(text: str) -> list[list[str]]:
    """The cells of the tables' rows that name a test."""
    lines = (line for line in text.splitlines() if line.startswith("|") and "../tests/" in line)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def _described() -> Counter[tuple[str, str]]:
    """Page and number of each defect of Linux that is described; a number starts a paragraph."""
    return Counter(
        (page.name, number)
        for page in DOCS.glob("upstream-*.md")
        for number in re.findall(
            r"^\*\*([0-9]+)\. ", page.read_text(encoding="utf-8"), re.MULTILINE
        )
    )


def test_every_defect_has_a_row() -> None:
    listed: Counter[tuple[str, str]] = Counter()
    for section in LINUX.split("\n### ")[1:]:
        (page,) = set(re.findall(r"\((upstream-[a-z]+\.md)\)", section))
        listed.update((page, row[0]) for row in _rows(section))
    assert listed == _described()


def test_the_totals_are_those_of_the_tables() -> None:
    first = PAGE.split("\n\n")[1]
    assert re.findall(r"[0-9]+", first) == [str(len(_rows(LINUX))), str(len(_rows(QEMU)))]


def _test(row: list[str]) -> str:
    """The cell with the test; the correction may stand behind it."""
    (cell,) = [cell for cell in row if "../tests/" in cell]
    return cell


def _name(row: list[str]) -> str:
    return _test(row).partition("]")[0][1:]


@pytest.mark.parametrize("row", _rows(PAGE), ids=_name)
def test_the_test_of_a_row_is_there(row: list[str]) -> None:
    match = re.fullmatch(r"\[(\w+)\]\(\.\./(tests/\w+/test_\w+\.py)\)", _test(row))
    assert match is not None, row
    path = ROOT / match[2]
    is_file = match[1] == path.stem
    assert is_file or f"def test_{match[1]}(" in path.read_text(encoding="utf-8")
