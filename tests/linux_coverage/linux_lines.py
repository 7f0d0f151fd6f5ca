# SPDX-License-Identifier: MIT
"""Which lines of Linux' sources ran, by the counts that guests kept (zvmlab.guest.kernel_lines)."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, groupby
from pathlib import Path
from typing import Any

from zvmlab.base.errors import CannotRun, ZvmlabError
from zvmlab.builder.image import COMPILER
from zvmlab.builder.linux_files import COUNTS, NOTES, LinuxFile

GCOV = COMPILER.removesuffix("gcc") + "gcov"
# So many files of counts at once: each is a name on the command line.
_BATCH = 200
_SECONDS = 300


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


def lines_of(files: Sequence[LinuxFile], gcov: Path, kept: Path) -> list[Lines]:
    """What ran of each of *files*: the notes are below *gcov*, the guests' folders in *kept*."""
    if shutil.which(GCOV) is None:
        raise CannotRun("reading the counts needs: apt-get install gcc-s390x-linux-gnu")
    return [_lines(file, gcov, kept) for file in files]


def _lines(file: LinuxFile, gcov: Path, kept: Path) -> Lines:
    found = Lines(file)
    with tempfile.TemporaryDirectory(prefix="zvmlab-lines-") as name:
        folder = Path(name)
        stems = _laid_out(file, gcov, kept, folder)
        for first in range(0, len(stems), _BATCH):
            for document in _gcov(stems[first : first + _BATCH], folder):
                _add(found, document)
    return found


def _laid_out(file: LinuxFile, gcov: Path, kept: Path, folder: Path) -> list[str]:
    """Notes and counts under one name for each guest; equal counts once, and one without any."""
    notes = gcov / file.path.with_suffix(NOTES)
    if not notes.is_file():
        raise ZvmlabError(f"the coverage kernel has no notes of {file.path}")
    seen: set[bytes] = set()
    stems = ["0"]
    numbers = count(1)
    (folder / f"0{NOTES}").symlink_to(notes.absolute())
    for counts in sorted(kept.glob(f"*/{file.path.with_suffix(COUNTS)}")):
        content = counts.read_bytes()
        digest = hashlib.sha256(content).digest()
        if digest in seen:
            continue
        seen.add(digest)
        stem = str(next(numbers))
        (folder / f"{stem}{NOTES}").symlink_to(notes.absolute())
        (folder / f"{stem}{COUNTS}").write_bytes(content)
        stems.append(stem)
    return stems


def _gcov(stems: Sequence[str], folder: Path) -> Iterator[dict[str, Any]]:
    """What gcov says of them: one document each."""
    argv = [GCOV, "--json-format", "--stdout", *(f"{stem}{COUNTS}" for stem in stems)]
    try:
        done = subprocess.run(
            argv, cwd=folder, capture_output=True, text=True, timeout=_SECONDS, check=True
        )
    except subprocess.CalledProcessError as error:
        raise ZvmlabError(f"{GCOV} cannot read the counts: {error.stderr.strip()}") from None
    except subprocess.TimeoutExpired:
        raise ZvmlabError(f"{GCOV} took longer than {_SECONDS} s") from None
    for line in done.stdout.splitlines():
        document = json.loads(line)
        if isinstance(document, dict):
            yield document


def _add(found: Lines, document: dict[str, Any]) -> None:
    """Add one guest's lines; functions of headers are none of the source's."""
    path = str(found.file.path)
    for part in document["files"]:
        if part["file"] != path and not part["file"].endswith(f"/{path}"):
            continue
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
