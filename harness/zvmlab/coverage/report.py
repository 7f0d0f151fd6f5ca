# SPDX-License-Identifier: MIT
"""Pages and files of the lines that ran: gcovr, lcov and diff-cover, over what `gcov.py` lays out."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zvmlab.base.errors import CannotRun, UsageError, ZvmlabError
from zvmlab.builder.count_folder import BOOT, CountsOfTest, KernelCounts
from zvmlab.builder.linux_files import COUNTS, NOTES
from zvmlab.coverage import gcov
from zvmlab.coverage.gcov import run

_PACKAGES = {
    "gcovr": "gcovr",
    "geninfo": "lcov",
    "diff-cover": "diff-cover",
    "git": "git",
}
_GIT = (
    *("git", "-c", "core.hooksPath=/dev/null", "-c", "user.name=zvmlab"),
    *("-c", "user.email=zvmlab", "-c", "core.autocrlf=false", "-c", "commit.gpgsign=false"),
)
_BASE = "base"
_HTML_INDEX = "index.html"


@dataclass
class FileCoverage:
    """How much of a source has run."""

    path: str
    lines: dict[int, int] = field(default_factory=dict)
    """How often each line with code ran."""
    branches: dict[int, list[int]] = field(default_factory=dict)
    """How often each way out of a line was taken."""
    functions: dict[str, int] = field(default_factory=dict)
    """How often each was called."""
    begin: dict[int, list[str]] = field(default_factory=dict)
    """By line: the functions that begin there."""

    def figures(self) -> tuple[tuple[int, int], ...]:
        """Done and total: lines, branches, functions."""
        kinds = (
            list(self.lines.values()),
            [count for counts in self.branches.values() for count in counts],
            list(self.functions.values()),
        )
        return tuple((sum(count > 0 for count in counts), len(counts)) for counts in kinds)


def need(*tools: str) -> None:
    """CannotRun with the packages of the tools that are missing."""
    missing = sorted({_PACKAGES[tool] for tool in tools if shutil.which(tool) is None})
    if missing:
        raise CannotRun(f"these pages need: apt-get install {' '.join(missing)}")


class Report:
    """What ran of one kernel's sources, by the counts in several folders."""

    def __init__(self, kernels: Sequence[KernelCounts], scratch: Path) -> None:
        self.version = kernels[0].version
        self.name = kernels[0].name
        self.tests: list[CountsOfTest] = [test for kernel in kernels for test in kernel.tests()]
        (scratch / "merged").mkdir()
        self._scratch = scratch.resolve()
        self._folder = gcov.merged(kernels, scratch / "merged").resolve()
        self._notes = sorted(self._folder.rglob(f"*{NOTES}"))
        self.files = self._read()

    @property
    def lost(self) -> list[CountsOfTest]:
        """Tests whose counts are lost."""
        return [test for test in self.tests if test.lost]

    @property
    def title(self) -> str:
        """What the counts are of, in a line."""
        names = {test.name for test in self.tests if test.name != BOOT}
        lost = len(self.lost)
        more = f"; {lost} guest{'s' if lost != 1 else ''} lost the counts" if lost else ""
        return f"Linux {self.version} ({self.name}), {len(names)} tests{more}"

    def _read(self) -> list[FileCoverage]:
        """Of each source; one that never ran has counts of none."""
        names = [str(notes.relative_to(self._folder).with_suffix("")) for notes in self._notes]
        stems = [f"{name}{COUNTS}" for name in names]
        found = []
        documents = gcov.documents(self._folder, stems)
        for stem, document in zip(names, documents, strict=True):
            file = FileCoverage(f"{stem}.c")
            for part in gcov.of_source(document, file.path):
                for function in part["functions"]:
                    name = function["demangled_name"]
                    file.functions[name] = function["execution_count"]
                    file.begin.setdefault(function["start_line"], []).append(name)
                for line in part["lines"]:
                    number = line["line_number"]
                    file.lines[number] = file.lines.get(number, 0) + line["count"]
                    counts = [branch["count"] for branch in line["branches"]]
                    if counts:
                        file.branches.setdefault(number, []).extend(counts)
            found.append(file)
        return found

    def _gcov_texts(self, folder: Path) -> None:
        """Fill a folder with what gcov would write, which does not if a source has moved."""
        folder.mkdir()
        for file in self.files:
            text = "".join(f"{line}\n" for line in _gcov_text(self._folder / file.path, file))
            target = folder / f"{file.path.replace('/', '#')}.gcov"
            target.write_text(text, encoding="utf-8")

    def _gcovr(self, *words: str) -> None:
        need("gcovr")
        texts = self._scratch / "gcov"
        self._gcov_texts(texts)
        argv = ["gcovr", "--use-gcov-files", "--keep", "--root", str(self._folder), *words]
        run([*argv, str(texts)], self._folder)
        shutil.rmtree(texts)

    def html(self, into: Path) -> Path:
        """Pages with lines and branches; the first of them."""
        into.mkdir(parents=True, exist_ok=True)
        index = into.resolve() / _HTML_INDEX
        self._gcovr("--html-details", str(index), "--html-title", self.title)
        return index

    def cobertura(self, file: Path) -> None:
        """Cobertura's XML."""
        self._gcovr("--xml", str(file.resolve()))

    def json(self, file: Path) -> None:
        """gcovr's JSON."""
        self._gcovr("--json", str(file.resolve()))

    def lcov(self, file: Path) -> None:
        """lcov's tracefile."""
        need("geninfo")
        old = re.search(r"\bversion (\d+)", run(["geninfo", "--version"], self._scratch))
        branches = "lcov_branch_coverage" if old and int(old[1]) < 2 else "branch_coverage"
        prefix = f"(?:{'|'.join(map(re.escape, self._prefixes()))})"
        words = ["--gcov-tool", gcov.GCOV, "--rc", f"{branches}=1", "--quiet"]
        words += ["--rc", f"geninfo_adjust_src_path={prefix} => {self._folder}"]
        words += ["--include", f"{self._folder}/*", "--output-filename", str(file.resolve())]
        run(["geninfo", *words, str(self._folder)], self._scratch)

    def _prefixes(self) -> list[str]:
        """The folders in which the compiler found the sources: a copied build has several."""
        paths = [str(notes.relative_to(self._folder).with_suffix("")) for notes in self._notes]
        found = set()
        documents = gcov.documents(self._folder, [f"{path}{COUNTS}" for path in paths])
        for path, document in zip(paths, documents, strict=True):
            for part in gcov.of_source(document, f"{path}.c"):
                where = os.path.normpath(Path(document["current_working_directory"], part["file"]))
                found.add(where.removesuffix(f"/{path}.c"))
        return sorted(found, key=len, reverse=True)

    def _touched(self, text: str) -> list[str]:
        return [line.split("\t")[2] for line in self._git("apply", "--numstat", text=text)]

    def counted(self, series: Sequence[Path]) -> list[str]:
        """The sources that the patches change and whose lines are counted."""
        touched = self._touched("\n".join(_patch(path) for path in series))
        return [file.path for file in self.files if file.path in touched]

    def not_run(self, series: Sequence[Path]) -> dict[str, list[int]]:
        """By source: lines that the patches add or change, and that no test ran."""
        need("diff-cover", "gcovr", "git")
        text = "\n".join(_patch(path) for path in series)
        touched = self._touched(text)
        counted = self.counted(series)
        if not counted:
            raise UsageError(
                f"the series changes {', '.join(touched) or 'nothing'}, and none of the"
                f" {len(self.files)} files whose lines were counted; --coverage-file counts more"
            )
        # diff-cover compares two commits of a repository around the sources.
        work = self._folder
        self._git("init", "--quiet", "--initial-branch=patched", cwd=work)
        self._git("add", *counted, cwd=work)
        self._git("commit", "--quiet", "-m", "patched", cwd=work)
        only = [f"--include={name}" for name in counted]
        self._git("checkout", "--quiet", "-b", _BASE, cwd=work)
        try:
            self._git("apply", "--reverse", *only, cwd=work, text=text)
        except UsageError as error:
            raise UsageError(
                f"the series is not in the tree whose lines were counted, {self.name}: {error}"
            ) from None
        self._git("commit", "--quiet", "--all", "-m", "base", cwd=work)
        self._git("checkout", "--quiet", "patched", cwd=work)
        self.cobertura(self._scratch / "cobertura.xml")
        said = self._scratch / "diff.json"
        words = ["--compare-branch", _BASE, "--diff-range-notation", ".."]
        argv = [*self._alone, "diff-cover", str(self._scratch / "cobertura.xml"), *words]
        run([*argv, "--json-report", str(said)], work)
        stats: dict[str, Any] = json.loads(said.read_text(encoding="utf-8"))["src_stats"]
        return {name: found["violation_lines"] for name, found in sorted(stats.items())}

    def _git(self, *words: str, cwd: Path | None = None, text: str | None = None) -> list[str]:
        try:
            argv = [*self._alone, *_GIT, *words]
            return run(argv, cwd or self._scratch, text).splitlines()
        except ZvmlabError as error:
            raise UsageError(str(error).replace("env failed", "git says", 1)) from None

    @property
    def _alone(self) -> list[str]:
        """Before a command that runs git: no settings of the user's, no repository around.

        Who calls us from a hook of git's has GIT_DIR, and would have our commits.
        """
        others = [f"--unset={name}" for name in os.environ if name.startswith("GIT_")]
        settings = ("GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
        return ["env", *others, *settings, f"GIT_CEILING_DIRECTORIES={self._scratch}"]


def _patch(path: Path) -> str:
    """The text of a file, or of all files of a folder in the order of their names."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    try:
        return "\n".join(file.read_text(encoding="utf-8", errors="replace") for file in files)
    except OSError as error:
        raise UsageError(f"{error.filename} cannot be read: {error.strerror}") from None


def _gcov_text(source: Path, file: FileCoverage) -> Iterator[str]:
    """The lines of gcov's text with branches: the source, and before each line how often it ran."""
    yield f"{'-':>9}:{0:>5}:Source:{source}"
    code = source.read_text(encoding="utf-8", errors="replace").splitlines()
    for number, text in enumerate(code, 1):
        for name in file.begin.get(number, ()):
            yield f"function {name} called {file.functions[name]} returned 0% blocks executed 0%"
        count = file.lines.get(number)
        shown = "-" if count is None else "#####" if count == 0 else str(count)
        yield f"{shown:>9}:{number:>5}:{text}"
        for branch, taken in enumerate(file.branches.get(number, ())):
            yield f"branch {branch:2} taken {taken}" if count else f"branch {branch:2} never executed"
