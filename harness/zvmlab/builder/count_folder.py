# SPDX-License-Identifier: MIT
"""A folder with the counts of Linux' lines that tests have run.

    KERNEL/kernel.json           its version and its name
    KERNEL/notes/PATH.gcno       the compiler's notes of each source; beside it the source, PATH.c
    KERNEL/tests/N/test.json     the name of a test, why its counts are lost, if they are, and whether it
                                 failed or was skipped
    KERNEL/tests/N/PATH.gcda     what of the source has run in it

`zvmlab.guest.kernel_lines` writes it, `zvmlab.coverage` reads it.  A test that several guests ran, or
one guest several times, is there more than once.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zvmlab.base.errors import UsageError
from zvmlab.builder.kernel import Kernel
from zvmlab.builder.linux_files import BUILT_IN, COUNTS, gcov_folder

BOOT = "(boot)"
"""Name of what guests ran before their tests."""
_KERNEL, _NOTES, _TESTS, _TEST = "kernel.json", "notes", "tests", "test.json"


@dataclass(frozen=True)
class CountsOfTest:
    """What one test has run."""

    name: str
    lost: str
    """Why there are no counts; "" if there are."""
    folder: Path
    undecided: str = ""
    """"failed" or "skipped", if it did not show what it is to show."""


@dataclass(frozen=True)
class KernelCounts:
    """The counts of one kernel."""

    folder: Path
    version: str
    name: str
    only: str = ""
    """The names of tests that count begin so."""

    @property
    def notes(self) -> Path:
        """The folder of notes and sources."""
        return self.folder / _NOTES

    def add(self, test: str, lost: str = "", undecided: str = "") -> Path:
        """A new folder for the counts of that test."""
        folder = Path(tempfile.mkdtemp(dir=self.folder / _TESTS))
        noted = {"test": test, "lost": lost, "undecided": undecided}
        text = json.dumps(noted, ensure_ascii=False)
        (folder / _TEST).write_text(f"{text}\n", encoding="utf-8")
        return folder

    def tests(self) -> Iterator[CountsOfTest]:
        """All tests, by their names."""
        found = []
        for file in (self.folder / _TESTS).glob(f"*/{_TEST}"):
            noted = _texts(file, "test", "lost", undecided="")
            # Whoever was to write them may have ended before.
            there = any(file.parent.rglob(f"*{COUNTS}"))
            lost = noted["lost"] or ("" if there else "they were never written")
            if noted["test"].startswith(self.only):
                found.append(CountsOfTest(noted["test"], lost, file.parent, noted["undecided"]))
        yield from sorted(found, key=lambda test: (test.name, test.folder))


def of_kernel(into: Path, kernel: Kernel) -> KernelCounts:
    """The part of the folder *into* for a kernel that counts lines; it is made if need be."""
    gcov = gcov_folder(kernel)
    if gcov is None:
        raise UsageError(f"kernel {kernel} counts no lines")
    state = kernel.image.parent.parent.name.rpartition("-")[2][:8]
    counts = KernelCounts(into / f"{kernel.version}-{state}", kernel.version, kernel.suite)
    if not counts.folder.is_dir():
        into.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(dir=into, prefix="."))
        shutil.copytree(gcov, scratch / _NOTES, ignore=lambda *_: [BUILT_IN])
        (scratch / _TESTS).mkdir()
        text = json.dumps({"version": kernel.version, "name": kernel.suite})
        (scratch / _KERNEL).write_text(f"{text}\n", encoding="utf-8")
        try:
            scratch.rename(counts.folder)
        except OSError:  # another process was faster
            shutil.rmtree(scratch)
    return counts


def kernels_in(folder: Path) -> list[KernelCounts]:
    """What a folder has; UsageError if it has nothing."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder with counts of lines")
    files = sorted(folder.glob(f"*/{_KERNEL}"))
    if not files:
        raise UsageError(
            f"{folder} holds no counts of lines; run tests with --kernel TREE:coverage --coverage"
            f" {folder}"
        )
    found = []
    for file in files:
        noted = _texts(file, "version", "name")
        if not (file.parent / _NOTES).is_dir():
            raise UsageError(
                f"{file.parent} has no folder {_NOTES}, without which counts say nothing"
            )
        found.append(KernelCounts(file.parent, noted["version"], noted["name"]))
    return found


def _texts(file: Path, *names: str, **others: str) -> dict[str, str]:
    """The texts in a file of ours; *others* may be missing."""
    try:
        found: Any = json.loads(file.read_text(encoding="utf-8"))
        texts = {name: _text(found[name]) for name in names}
        return texts | {name: _text(found.get(name, text)) for name, text in others.items()}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{file} is damaged: {type(error).__name__}: {error}") from None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value
