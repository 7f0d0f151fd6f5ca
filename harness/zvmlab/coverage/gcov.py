# SPDX-License-Identifier: MIT
"""gcov's tools of the cross compiler, over the counts of guests.

    folder = merged([kernel], into)          # PATH.c, PATH.gcno and PATH.gcda of each source
    for document in documents(folder, ["net/iucv/iucv.gcda"]):
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import struct
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from zvmlab.base.errors import CannotRun, UsageError, ZvmlabError
from zvmlab.builder.buildstep import run_tool
from zvmlab.builder.count_folder import CountsOfTest, KernelCounts
from zvmlab.builder.image import COMPILER
from zvmlab.builder.linux_files import COUNTS, NOTES

GCOV = COMPILER.removesuffix("gcc") + "gcov"
GCOV_TOOL = f"{GCOV}-tool"
_SECONDS = 300
# So many files of counts at once: each is a name on the command line.
_BATCH = 200
_DAMAGED = (
    "the compiler's notes are damaged, or are of another compiler: gcov, asked about {some} and others,"
    " did not tell: {error}"
)
_NOTES_MAGIC, _COUNTS_MAGIC = b"gcno", b"gcda"
_HEAD = 12  # magic, version, stamp


def need_gcov() -> None:
    """CannotRun if the compiler's tools are missing."""
    for tool in (GCOV, GCOV_TOOL):
        if shutil.which(tool) is None:
            raise CannotRun(f"reading the counts needs {tool}: apt-get install gcc-s390x-linux-gnu")


def run(argv: Sequence[str], cwd: Path, inputs: str | None = None) -> str:
    """Standard output of a program, which has to succeed."""
    env = {**os.environ, "LC_ALL": "C.UTF-8"}
    try:
        done = subprocess.run(
            list(argv),
            cwd=cwd,
            env=env,
            input=inputs,
            stdin=subprocess.DEVNULL if inputs is None else None,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=True,
        )
    except subprocess.CalledProcessError as error:
        said = (error.stderr.strip() or error.stdout.strip()).splitlines()
        ended = f"a signal ended it, {-error.returncode}" if error.returncode < 0 else ""
        what = ended or (said[-1] if said else error.returncode)
        raise ZvmlabError(f"{argv[0]} failed: {what}") from None
    except subprocess.TimeoutExpired:
        raise ZvmlabError(f"{argv[0]} took longer than {_SECONDS} s") from None
    return done.stdout


def merged(kernels: Sequence[KernelCounts], into: Path) -> Path:
    """Fill the folder *into* with sources, notes and the sum of all counts of one kernel."""
    need_gcov()
    shutil.copytree(kernels[0].notes, into, dirs_exist_ok=True)
    for sums in _sums(kernels, into.parent):
        for counts in sums.rglob(f"*{COUNTS}"):
            shutil.copyfile(counts, into / counts.relative_to(sums))
    return into


def _sums(kernels: Sequence[KernelCounts], scratch: Path) -> list[Path]:
    """A folder with the sum of all tests' counts; none if no test has any."""
    folders = []
    for kernel in kernels:
        for test in kernel.tests():
            if not test.lost:
                check_counts(kernel, test)
                folders.append(test.folder.absolute())
    if len(folders) == 1:  # there is nothing to add, but it is read
        return [_by_tool("rewrite", folders, scratch / "sum")]
    level = 0
    while len(folders) > 1:
        level += 1
        pairs = [folders[i : i + 2] for i in range(0, len(folders), 2)]
        folders = [_sum(pair, scratch / f"sum-{level}-{n}") for n, pair in enumerate(pairs)]
    return folders


def _sum(pair: Sequence[Path], into: Path) -> Path:
    return _by_tool("merge", pair, into) if len(pair) > 1 else pair[0]


def _by_tool(what: str, folders: Sequence[Path], into: Path) -> Path:
    argv = [GCOV_TOOL, what, *map(str, folders), "-o", str(into)]
    # It goes on after what it cannot read, says so, and ends with 0.
    done = run_tool(f"adding counts with {GCOV_TOOL}", argv, _SECONDS, os.environ, into.parent)
    if done.stdout or done.returncode:
        places = " or ".join(str(folder) for folder in folders if folder.parent != into.parent)
        raise UsageError(
            f"the counts in {places or folders[0]} are damaged: {GCOV_TOOL} says:"
            f" {(done.stdout.splitlines() or [str(done.returncode)])[0]}"
        )
    return into


def check_counts(kernel: KernelCounts, test: CountsOfTest) -> None:
    """UsageError if counts are damaged, or not of what the notes describe."""
    for counts in sorted(test.folder.rglob(f"*{COUNTS}")):
        notes = kernel.notes / counts.relative_to(test.folder).with_suffix(NOTES)
        if not notes.is_file():
            raise UsageError(
                f"{counts} has counts of a source that {kernel.folder} has no notes of"
            )
        if _stamp(notes, _NOTES_MAGIC) != _stamp(counts, _COUNTS_MAGIC):
            raise UsageError(f"{counts} has counts of another kernel than the notes in {notes}")


def _stamp(file: Path, magic: bytes) -> tuple[int, int]:
    """Version and stamp, which notes and counts of one compilation have in common."""
    with open(file, "rb") as opened:
        head = opened.read(_HEAD)
    if len(head) == _HEAD and head[:4] in (magic, magic[::-1]):
        version, stamp = struct.unpack(">II" if head[:4] == magic else "<II", head[4:])
        return version, stamp
    raise UsageError(f"{file} is damaged: it does not begin as gcov's files do")


def documents(folder: Path, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """What gcov says of files of counts in *folder*, one document each, in the order of the names."""
    for first in range(0, len(names), _BATCH):
        some = names[first : first + _BATCH]
        argv = [GCOV, "--json-format", "--stdout", "--branch-probabilities", *some]
        try:
            said = map(json.loads, run(argv, folder).splitlines())
            found = [document for document in said if isinstance(document, dict)]
        except (ZvmlabError, ValueError) as error:
            raise UsageError(_DAMAGED.format(some=some[0], error=error)) from None
        if len(found) != len(some):
            raise UsageError(_DAMAGED.format(some=some[0], error=f"it tells of {len(found)} files"))
        yield from found


def of_source(document: dict[str, Any], path: str) -> Iterator[dict[str, Any]]:
    """The parts of a document that are about the source itself, not about headers."""
    for part in document["files"]:
        if part["file"] == path or part["file"].endswith(f"/{path}"):
            yield part


def called(kernels: Sequence[KernelCounts], scratch: Path) -> dict[str, dict[str, set[str]]]:
    """By source and function: the names of the tests that call it, and show something of it.

    A source that no guest had loaded is there, and has no functions.
    """
    need_gcov()
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for kernel in kernels:
        for notes in sorted(kernel.notes.rglob(f"*{NOTES}")):
            path = notes.relative_to(kernel.notes)
            source = str(path.with_suffix(".c"))
            functions = found[source]
            alike = _alike(kernel, path.with_suffix(COUNTS))
            folder = scratch / str(path).replace("/", "-")
            folder.mkdir(parents=True)
            names = []
            for number, counts in enumerate(alike):
                (folder / f"{number}{NOTES}").symlink_to(notes.absolute())
                (folder / f"{number}{COUNTS}").write_bytes(counts)
                names.append(f"{number}{COUNTS}")
            for tests, document in zip(alike.values(), documents(folder, names), strict=True):
                for part in of_source(document, source):
                    for function in part["functions"]:
                        callers = functions[function["demangled_name"]]
                        callers |= tests if function["execution_count"] else set()
            shutil.rmtree(folder)
    return found


def _alike(kernel: KernelCounts, path: Path) -> dict[bytes, set[str]]:
    """The different counts of a source, and which tests have them."""
    seen: dict[bytes, bytes] = {}
    tests: dict[bytes, set[str]] = defaultdict(set)
    for test in kernel.tests():
        if not test.undecided and (test.folder / path).is_file():
            counts = (test.folder / path).read_bytes()
            first = seen.setdefault(hashlib.sha256(counts).digest(), counts)
            tests[first].add(test.name)
    return tests
