# SPDX-License-Identifier: MIT
"""Which tests are the right ones: tests.toml as Python sees it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from zvmlab.base.errors import UsageError
from zvmlab.builder import module_mk

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path("tests/mutants/tests.toml")


@dataclass(frozen=True)
class Row:
    """Sources, and what tests them."""

    folder: str
    """The name that its changes are counted under."""
    sources: tuple[str, ...]
    """Names or patterns of files."""
    programs: tuple[str, ...]
    """Patterns of unit test programs; which of them reach a line is measured."""
    harness: tuple[str, ...]
    """Files of pytest: they run when no program has noticed."""
    monread: bool
    """Do those files start monread?"""


def _row(root: Path, number: int, entry: object) -> Row:
    words = {"folder", "module", "sources", "programs", "harness", "monread"}
    if not isinstance(entry, dict) or not words.issuperset(entry):
        raise UsageError(f"tests.toml: row {number} may have {', '.join(sorted(words))}")
    lists = {name: entry.get(name, []) for name in ("sources", "programs", "harness")}
    for name, value in lists.items():
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise UsageError(f"tests.toml: row {number}: {name} must be a list of texts")
    module = entry.get("module")
    if not isinstance(entry.get("folder", module), str):
        raise UsageError(f"tests.toml: row {number} has no folder")
    if not isinstance(entry.get("monread", False), bool):
        raise UsageError(f"tests.toml: row {number}: monread must be true or false")
    sources, named, harness = (tuple(lists[name]) for name in ("sources", "programs", "harness"))
    if module is not None:
        sources = (*module_mk.read(root, str(module)).sources, *sources)
    folder = entry.get("folder", module)
    return Row(folder, sources, named, harness, entry.get("monread", False))


def load(root: Path = ROOT) -> list[Row]:
    """The table's rows."""
    path = root / TABLE
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("row", [])
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: {error}") from None
    return [_row(root, number, entry) for number, entry in enumerate(entries, 1)]


def asked(rows: list[Row], root: Path) -> list[str]:
    """The programs that any of the rows asks for."""
    patterns = [pattern for row in rows for pattern in row.programs]
    return [name for name in programs(root) if any(fnmatch(name, one) for one in patterns)]


def row_of(rows: list[Row], file: str) -> Row | None:
    """The first row that a file is in."""
    for row in rows:
        if any(fnmatch(file, pattern) for pattern in row.sources):
            return row
    return None


def findings(rows: list[Row], root: Path = ROOT) -> list[str]:
    """What does not belong together: patterns that match nothing, programs that no row names."""
    named = asked(rows, root)
    found = [f"tests.toml: no row has {name}" for name in programs(root) if name not in named]
    for row in rows:
        for pattern in row.sources:
            if not any(root.glob(pattern)):
                found.append(f"tests.toml: {row.folder}: no file is {pattern}")
        for pattern in row.programs:
            if not any(fnmatch(name, pattern) for name in programs(root)):
                found.append(f"tests.toml: {row.folder}: no program is {pattern}")
        for name in row.harness:
            if not (root / name).is_file():
                found.append(f"tests.toml: {row.folder}: there is no {name}")
    return found


def programs(root: Path = ROOT) -> dict[str, list[str]]:
    """Every program of "make unit", and what it is started with."""
    found: dict[str, list[str]] = {
        path.stem: [] for path in sorted((root / "tests/unit").rglob("test_*.c"))
    }
    for corpus in sorted((root / "tests/fuzz").glob("corpus/*.tar.xz")):
        target = corpus.name.partition(".")[0]
        found[f"replay_{target}"] = [f"build/inputs/{target}"]
    return found
