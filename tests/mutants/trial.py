# SPDX-License-Identifier: MIT
"""One change tried: built, given to the tests that could notice it, taken back."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass
from enum import Enum

from change import Mutant
from reach import Reached
from table import Row, asked, programs
from tree import Outcome, Tree
from zvmlab.base.errors import ZvmlabError

FIRST_SECONDS = 300
"""For the first run of a test, without any change."""
LEAST_SECONDS = 30
TIMES = 8
"""A changed program may take so many times as long as an unchanged one, or the least time."""


class Verdict(Enum):
    """What became of a change."""

    NO_C = "does not compile"
    SAME = "the compiler makes the same of it"
    NOTICED = "noticed"
    HANG = "noticed by a hang"
    SURVIVED = "not noticed"


@dataclass(frozen=True)
class Result:
    """What became of a change, who noticed, who had a look."""

    mutant: Mutant
    verdict: Verdict
    by: str = ""
    asked: tuple[str, ...] = ()
    seconds: float = 0

    @property
    def counted(self) -> bool:
        """Is it one that a test could notice?"""
        return self.verdict not in (Verdict.NO_C, Verdict.SAME)

    @property
    def noticed(self) -> bool:
        """Has a test noticed it?"""
        return self.verdict in (Verdict.NOTICED, Verdict.HANG)


class Base:
    """What tests do in an unchanged tree: only one that passes there can notice anything."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: dict[tuple[str, ...], threading.Lock] = {}
        self._limits: dict[tuple[str, ...], float] = {}
        self.failing: dict[str, str] = {}
        """Tests that fail without a change, and what they say: they are not asked."""

    def passes(self, tree: Tree, row: Row, key: tuple[str, ...]) -> bool:
        """Runs a program, or files of pytest of a row, without a change; each once."""
        with self._lock:
            turn = self._runs.setdefault(key, threading.Lock())
        with turn:
            if key not in self._limits:
                done = self._run(tree, row, key)
                self._limits[key] = max(LEAST_SECONDS, TIMES * done.seconds)
                if done.code != 0:
                    self.failing[" ".join(key)] = done.said
            return " ".join(key) not in self.failing

    def _run(self, tree: Tree, row: Row, key: tuple[str, ...]) -> Outcome:
        if key[0].endswith(".py"):
            made = tree.make_for(row)
            if made.code != 0:
                raise ZvmlabError(f"the unchanged tree cannot be built: {made.said}")
            return tree.pytest(key, FIRST_SECONDS)
        tree.must_make(f"build/unit/{key[0]}")
        return tree.program(key[0], programs(tree.folder)[key[0]], FIRST_SECONDS)

    def limit(self, *key: str) -> float:
        """The time limit of a test that has run without a change."""
        return self._limits[key]


class Trial:
    """One change in one tree."""

    def __init__(self, tree: Tree, row: Row, mutant: Mutant, reached: Reached, base: Base) -> None:
        self._tree = tree
        self._mutant = mutant
        self._base = base
        self._asked: list[str] = []
        lines = mutant.change.lines(mutant.text)
        self._names = reached.order(asked([row], tree.folder), mutant.file, lines)
        self._row = row
        self._files = row.harness

    def run(self) -> Result:
        """What becomes of it; the tree is as it was afterwards."""
        tree, row = self._tree, self._row
        self._names = [name for name in self._names if self._base.passes(tree, row, (name,))]
        if self._files and not self._base.passes(tree, row, self._files):
            self._files = ()
        self._tree.write(self._mutant.file, self._mutant.changed)
        try:
            verdict, by = self._judge()
        finally:
            self._tree.write(self._mutant.file, self._mutant.text)
        if verdict is Verdict.SURVIVED and self._same():
            verdict = Verdict.SAME
        return Result(self._mutant, verdict, by, tuple(self._asked))

    def _object(self, folder: str) -> str | None:
        """The object made of the file alone, if it is a C file."""
        file = self._mutant.file
        return f"build/{folder}/{file.removesuffix('.c')}.o" if file.endswith(".c") else None

    def _judge(self) -> tuple[Verdict, str]:
        alone = self._object("unit")
        if alone and self._tree.make(alone).code != 0:
            return Verdict.NO_C, ""
        for name in self._names:
            if self._tree.make(f"build/unit/{name}").code != 0:
                return Verdict.NO_C, ""
            self._asked.append(name)
            arguments = programs(self._tree.folder)[name]
            done = self._tree.program(name, arguments, self._base.limit(name))
            if done.code != 0:
                return Verdict.HANG if done.hung else Verdict.NOTICED, name
        return self._harness()

    def _harness(self) -> tuple[Verdict, str]:
        files = self._files
        if not files:
            return Verdict.SURVIVED, ""
        if self._tree.make_for(self._row).code != 0:
            return Verdict.NO_C, ""
        self._asked += files
        done = self._tree.pytest(files, self._base.limit(*files))
        if done.code == 0:
            return Verdict.SURVIVED, ""
        return Verdict.HANG if done.hung else Verdict.NOTICED, "pytest"

    def _same(self) -> bool:
        """Does the compiler make the same code of both, without the tests' instruments?"""
        path = self._object("same/plain")
        if path is None:
            return False
        found = []
        for text in (self._mutant.changed, self._mutant.text):
            self._tree.write(self._mutant.file, text)
            if self._tree.make("BUILD=build/same", path).code != 0:
                return False
            found.append(hashlib.sha256((self._tree.folder / path).read_bytes()).digest())
        return found[0] == found[1]
