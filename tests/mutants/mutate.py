# SPDX-License-Identifier: MIT
"""``make mutants``: small changes of the sources, one at a time; which does no test notice?

docs/mutants.md explains it.

    make mutants N=100 SEED=7 FOLDER=sim/record
    make mutants BASE=main
    mutate.py --entries build/mutants/survivors.toml    (the same changes once more)
    mutate.py --check                                   (the tables against the sources)
"""

from __future__ import annotations

import argparse
import math
import queue
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import enumerate_changes
import judged
import page
import reach
import table
from change import Mutant, short
from chance import by_chance
from contained import must_work
from trial import Base, Result, Trial, Verdict
from tree import SERVER, Tree
from zvmlab.base.errors import EXIT_FAILED, EXIT_PASS, UsageError, exit_code


class Runner:
    """Trees, and the changes that are tried in them."""

    def __init__(self, args: argparse.Namespace, rows: list[table.Row]) -> None:
        self._root: Path = args.tree
        self._build: Path = args.build.resolve() / "mutants"
        self._jobs: int = args.jobs
        self._end = time.monotonic() + args.seconds
        self._rows = rows
        self._base = Base()
        self._free: queue.SimpleQueue[Tree] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._reached = reach.Reached()

    @property
    def failing(self) -> dict[str, str]:
        """Tests that fail without a change, and what they say."""
        return self._base.failing

    def prepare(self) -> None:
        """Copies and builds the tree, finds out which test comes past which line."""
        first = Tree(self._build / "tree-0")
        first.sync(self._root)
        must_work(first.folder)
        print("building the tree, running each test program once …", flush=True)
        self._reached = reach.measure(first, self._rows, self._jobs)
        wanted = [f"build/unit/{name}" for name in table.asked(self._rows, first.folder)]
        first.must_make(SERVER, *wanted, jobs=self._jobs)
        self._free.put(first)
        for number in range(1, self._jobs):
            self._free.put(first.twin(self._build / f"tree-{number}"))

    def one(self, mutant: Mutant) -> Result:
        """Tries a change in the next free tree."""
        row = table.row_of(self._rows, mutant.file)
        if row is None:
            raise UsageError(f"{mutant.file}: tests.toml has no row for it")
        tree = self._free.get()
        try:
            result = Trial(tree, row, mutant, self._reached, self._base).run()
        finally:
            self._free.put(tree)
        with self._lock:
            what = f"{short(mutant.change.was)} -> {short(mutant.change.became)}"
            by = f" ({result.by})" if result.by else ""
            print(f"{result.verdict.value}{by}: {mutant.place}: {what}", flush=True)
        return result

    def several(self, mutants: Sequence[Mutant]) -> list[Result]:
        """Tries all of them, or those for which there is time."""
        with ThreadPoolExecutor(self._jobs) as pool:
            tried = list(pool.map(self._in_time, mutants))
        return [result for result in tried if result is not None]

    def _in_time(self, mutant: Mutant) -> Result | None:
        return self.one(mutant) if time.monotonic() < self._end else None

    def folders(self, results: list[Result]) -> dict[str, list[Result]]:
        """The results by the folder that they count for."""
        return _by_folder(self._rows, results)


def _by_folder(rows: list[table.Row], results: list[Result]) -> dict[str, list[Result]]:
    found: dict[str, list[Result]] = {}
    for result in results:
        row = table.row_of(rows, result.mutant.file)
        assert row is not None
        found.setdefault(row.folder, []).append(result)
    return found


def _tried(args: argparse.Namespace, rows: list[table.Row]) -> tuple[list[Result], dict[str, str]]:
    """What became of the changes; tests that could not be asked."""
    every = enumerate_changes.all_mutants(args.tree, rows, args.folder)
    mutants = None
    if args.entries:
        mutants = [judged.mutant_of(entry, args.tree) for entry in judged.load(args.entries)]
    elif args.base:
        lines = enumerate_changes.changed_lines(args.tree, args.base)
        mutants = enumerate_changes.on_lines(every, lines)
    if mutants == []:
        return [], {}
    files = {
        mutant.file for mutant in mutants or [change for all in every.values() for change in all]
    }
    used = [row for row in rows if any(table.row_of(rows, file) is row for file in files)]
    runner = Runner(args, used)
    runner.prepare()
    if mutants is None:
        tried = by_chance(every, args.number, args.seed, runner.several, runner.folders)
        return tried, runner.failing
    return runner.several(mutants), runner.failing


def _title(args: argparse.Namespace) -> str:
    if args.entries:
        return f"Changes of {args.entries}"
    if args.base:
        return f"Changes of lines that differ from {args.base}"
    return f"{args.number} changes chosen by chance, seed {args.seed}"


def _check(root: Path, rows: list[table.Row]) -> Iterator[str]:
    yield from table.findings(rows, root)
    yield from judged.findings(judged.load(root / judged.JUDGED), root)


def _report(args: argparse.Namespace, rows: list[table.Row]) -> int:
    tried, failing = _tried(args, rows)
    found = _by_folder(rows, tried)
    reasons = judged.reasons(judged.load(args.tree / judged.JUDGED), args.tree)
    parts = []
    opened: list[Result] = []
    for folder, results in sorted(found.items()):
        left = [result for result in results if result.verdict is Verdict.SURVIVED]
        known = [r for r in left if (r.mutant.file, r.mutant.changed) in reasons]
        opened += [result for result in left if result not in known]
        parts.append(page.Part(folder, tuple(results), len(known)))
    target = args.build / "mutants"
    target.mkdir(parents=True, exist_ok=True)
    (target / "report.md").write_text(page.page(_title(args), parts, reasons), encoding="utf-8")
    entries = "\n".join(page.entry(result) for result in opened)
    (target / "survivors.toml").write_text(entries, encoding="utf-8")
    print("\n".join(page.totals(parts)))
    print(f"{target / 'report.md'} has the survivors, {target / 'survivors.toml'} entries to judge")
    for name, said in failing.items():
        print(f"not asked, because it fails without a change: {name}\n{said}", file=sys.stderr)
    return EXIT_FAILED if opened or failing else EXIT_PASS


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--build", type=Path, default=Path("build"), help="folder of what is made")
    parser.add_argument("--number", type=int, default=100, help="changes chosen by chance")
    parser.add_argument("--seed", type=int, default=1, help="another number, other changes")
    parser.add_argument("--base", help="changes of lines that differ from this branch")
    parser.add_argument("--folder", action="append", default=[], help="only this one; repeatable")
    parser.add_argument("--jobs", type=int, default=2, help="changes tried at once")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin none after these")
    parser.add_argument("--entries", type=Path, help="the changes of a file like judged.toml")
    parser.add_argument("--check", action="store_true", help="only hold the tables to the sources")
    parser.add_argument("--tree", type=Path, default=table.ROOT, help="another clone than this one")
    args = parser.parse_args(argv)
    if args.number < 1 or args.jobs < 1:
        parser.error("--number and --jobs must be 1 or more")
    return args


def _run(args: argparse.Namespace) -> int:
    rows = table.load(args.tree)
    if args.check:
        found = list(_check(args.tree, rows))
        for finding in found:
            print(finding)
        return EXIT_FAILED if found else EXIT_PASS
    return _report(args, rows)


def main(argv: Sequence[str] | None = None) -> int:
    """The command; its exit code."""
    args = _arguments(argv)
    return exit_code(lambda: _run(args), "mutants")


if __name__ == "__main__":
    sys.exit(main())
