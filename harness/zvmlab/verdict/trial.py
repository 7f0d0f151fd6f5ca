# SPDX-License-Identifier: MIT
"""A series of patches on kernels: both sides built, tested and compared.

The cache has for each tree a folder try-KEY (zvmlab.verdict.workspace).  All but the results of a run
that was cut off goes when a run ends, and otherwise when the next one begins.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType

from zvmlab.base.cache import digest
from zvmlab.base.errors import EXIT_TIMEOUT, Timeout, UsageError
from zvmlab.base.owned import discard
from zvmlab.base.progress import Progress
from zvmlab.base.version import __version__
from zvmlab.builder.modulebuild import Build
from zvmlab.builder.tree_name import COVERAGE_WORD, DEBUG_WORD, release_of, series_of, tree_name
from zvmlab.verdict import choice as choices
from zvmlab.verdict import counted, lines
from zvmlab.verdict.allow import Allowed, read_allowed
from zvmlab.verdict.applied import Applied, apply
from zvmlab.verdict.diffs import ranges
from zvmlab.verdict.compare import REPEATS, Results, compare, differing
from zvmlab.verdict.git import need, top_of, try_git
from zvmlab.verdict.parts import check_touched
from zvmlab.verdict.report import Tried, Verdict
from zvmlab.verdict.runs import Runner, words_for_pytest
from zvmlab.verdict.series import Series, read_series
from zvmlab.verdict.sides import (
    PatchedFails,
    Sides,
    Target,
    build_sides,
    counting,
    targets_of,
)
from zvmlab.verdict.static import checkpatch, new_warnings
from zvmlab.verdict.workspace import RESULTS, claimed, clear, temporaries, workspace
from zvmlab.verdict.swept import scenarios_for, sweeps

_IDENTITY = "identity"
_NO_LINES = "lines within functions: no kernel of this trial counts them (--coverage DIR)"
_NO_PLAIN = "instructions for each operation: they are counted on plain kernels only"
_NO_SCENARIO = "instructions for each operation: no scenario uses the files of the series"


class LimitOver(Timeout):
    """The time that the user gave is over."""


@dataclass(frozen=True)
class Plan:
    """What the user asks for."""

    series: str
    kernels: tuple[str, ...]
    command: tuple[str, ...]
    on_top: Path | None = None
    tests: tuple[str, ...] = ()
    """Words for pytest in place of the tests that are chosen."""
    full: bool = False
    """All tests that run a touched function, however many."""
    sweep: bool = False
    coverage: Path | None = None
    """Count lines on each tree as well, and keep the counts here."""
    allow: Path | None = None
    limit: float | None = None
    keep: Path | None = None
    resume: bool = False
    fresh: bool = False
    """Test base, too, if it is known what it shows."""
    museum: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By file of Linux, the tests that show its old bugs."""


def trial(plan: Plan, progress: Progress) -> Verdict:
    """The verdict; one that is not finished if the limit came first.

    LimitOver if that was before anything could be built.
    """
    with limited(plan.limit):
        return _trial(plan, progress)


def _trial(plan: Plan, progress: Progress) -> Verdict:
    for program, package in (("git", "git"), ("make", "make")):
        need(program, package, "trying a series")
    plan = replace(plan, tests=words_for_pytest(plan.tests))
    if plan.keep is not None and plan.keep.exists() and not plan.keep.is_dir():
        raise UsageError(f"--keep: {plan.keep} is no folder")
    allowed = Allowed(read_allowed(plan.allow, datetime.date.today()))
    found = [target for name in plan.kernels for target in targets_of(name, progress)]
    targets = list(dict.fromkeys(found))
    if plan.coverage is not None:
        lines.need_tools(plan.coverage)
        targets += counting(targets)
    works = {target.tree: workspace("try", target.tree) for target in targets}
    with contextlib.ExitStack() as stack:
        for tree, work in sorted(works.items()):
            stack.enter_context(claimed(work, f"both sides of {tree}", progress))
        stack.enter_context(temporaries(works[targets[0].tree]))
        try:
            verdict = _Trial(plan, targets, works, allowed, progress).run()
        except UsageError:
            # What is wrong now is wrong with --resume, too.
            if not plan.resume:
                shutil.rmtree(works[targets[0].tree] / RESULTS, ignore_errors=True)
            raise
        finally:
            for work in works.values():
                clear(work)
                if not (work / RESULTS).exists():
                    discard(work)
    return verdict


@contextlib.contextmanager
def limited(seconds: float | None) -> Iterator[None]:
    """LimitOver after so many seconds, wherever the block is then."""
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(_number: int, _frame: FrameType | None) -> None:
        raise LimitOver(f"the limit of {seconds:g} s is over")

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class _Trial:
    """One run; the verdict grows as long as it goes on."""

    def __init__(
        self,
        plan: Plan,
        targets: Sequence[Target],
        works: dict[Path, Path],
        allowed: Allowed,
        progress: Progress,
    ) -> None:
        self._plan = plan
        self._targets = targets
        self._works = works
        self._allowed = allowed
        self._progress = progress
        self._first = works[targets[0].tree]
        self._choices: dict[Path, choices.Choice] = {}
        self._lines: dict[str, list[str]] = {}
        """By source whose lines were counted: those that no test ran."""

    def run(self) -> Verdict:
        plan = self._plan
        series, on_top = self._read()
        if series.note:
            self._progress.say(series.note)
        check_touched(series.names)
        applied = {tree: self._apply(tree, series, on_top) for tree in self._works}
        runner = self._runner(series, applied)
        bases = list(dict.fromkeys(_base_of(tree, series) for tree in self._works))
        verdict = Verdict(series.subject, len(series.patches), bases[0], list(plan.command))
        try:
            tree = self._targets[0].tree
            verdict.checkpatch = checkpatch(series, tree, verdict.not_tried)
            for target in self._targets:
                self._try(target, applied[target.tree], runner, verdict)
            if plan.limit is not None:  # which the verdict itself has not
                signal.setitimer(signal.ITIMER_REAL, 0)
        except LimitOver as error:
            verdict.over = f"{error} (exit {EXIT_TIMEOUT})"
            verdict.left = [target.name for target in self._targets[len(verdict.tried) :]]
        verdict.not_run = self._not_run(verdict.not_run)
        if runner.recalled:
            names = ", ".join(runner.recalled)
            verdict.versions.append(f"results of base known from before (--fresh): {names}")
        if plan.coverage is None and verdict.compared:
            verdict.not_tried.append(_NO_LINES)
        if all(target.debug or target.counts for target in self._targets):
            verdict.not_tried.append(_NO_PLAIN)
        verdict.errors = [] if verdict.over else self._allowed.unneeded()
        verdict.versions += [f"base: {base}" for base in bases]
        verdict.versions.append(f"zvmlab {__version__}, QEMU {_emulator()}")
        self._end(verdict)
        return verdict

    def _read(self) -> tuple[Series, Series | None]:
        """The series, and what goes below it."""
        trees = [t.tree for t in self._targets if tree_name(t.name) and not t.packaged]
        repository = next((tree for tree in trees if top_of(tree) is not None), None)
        repository = repository or next(iter(trees), None)
        with self._scratch("read") as scratch:
            series = read_series(self._plan.series, repository, scratch)
            on_top = None
            if self._plan.on_top is not None:
                if not self._plan.on_top.is_dir():
                    raise UsageError(f"--on-top: there is no folder {self._plan.on_top}")
                on_top = read_series(str(self._plan.on_top.absolute()), None, scratch)
        return series, on_top

    @contextlib.contextmanager
    def _scratch(self, name: str) -> Iterator[Path]:
        folder = self._first / "apply" / name
        folder.mkdir(parents=True)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _apply(self, tree: Path, series: Series, on_top: Series | None) -> Applied:
        with self._scratch(f"tree-{digest(str(tree))}") as scratch:
            return apply(tree, series, on_top, scratch)

    def _runner(self, series: Series, applied: dict[Path, Applied]) -> Runner:
        """Results go to the first tree's folder, under what identifies this trial."""
        plan = self._plan
        sides = [repr(sorted(one.base.items())) for one in applied.values()]
        parts = (
            series.digest,
            *sides,
            *plan.kernels,
            *plan.tests,
            repr((plan.full, plan.sweep, plan.coverage)),
        )
        identity = digest(*parts, __version__)
        folder = self._first / RESULTS
        noted = folder / _IDENTITY
        if plan.resume:
            if not noted.exists():
                raise UsageError("--resume: no trial of a series on this tree was cut off")
            if noted.read_text(encoding="ascii").strip() != identity:
                raise UsageError(
                    "--resume: the trial that was cut off was of another series, of other kernels or"
                    " other tests; leave out --resume to begin anew"
                )
        else:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            noted.write_text(f"{identity}\n", encoding="ascii")
        return Runner(folder, plan.resume, known=not plan.fresh)

    def _try(self, target: Target, applied: Applied, runner: Runner, verdict: Verdict) -> None:
        """One kernel in one configuration."""
        one = Tried(target.name)
        verdict.tried.append(one)
        try:
            sides = build_sides(target, applied, self._works[target.tree], self._progress)
        except PatchedFails as error:
            one.broken, one.doing = str(error), ""
            return
        label = f"{len(verdict.tried):02d}"
        _forget_others(runner.folder, label, sides)
        one.version, one.modules = sides.base.version, sides.modules
        if sides.left_out:
            named = ", ".join(sides.left_out)
            verdict.not_tried.append(f"{named}: {target.name} is not built from it")
        one.compiler = _compiler(sides.build)
        built = f"modules {', '.join(one.modules)} of {target.tree.name}, " if one.modules else ""
        verdict.versions.append(f"{target.name}: {one.version}, {built}{one.compiler}")
        tests = self._tests(target, applied, verdict)
        with self._progress.step(f"testing base and patched on {target.name}"):
            self._compare(target, sides, tests, runner, label, one)
        if target.counts and self._plan.coverage is not None:
            self._count(self._plan.coverage, sides, applied, verdict)
        if not target.debug and not target.counts:
            self._instructions(sides, applied, runner.folder / f"{label}-counted", one, verdict)
        if self._plan.sweep:
            self._sweep(sides, applied, runner.folder / f"{label}-sweep", one, verdict)
        if self._looks_for_warnings(target):
            one.doing = "looking for warnings"
            missing: list[str] = []
            build, tree = sides.build, target.tree
            one.warnings = new_warnings(applied, tree, build, sides.kernel, missing)
            verdict.not_tried += [line for line in missing if line not in verdict.not_tried]
        verdict.not_tried += [f"{target.name}: {text}" for text in one.difference.not_compared]
        one.doing = ""

    def _looks_for_warnings(self, target: Target) -> bool:
        """Not again on the kernels that come in addition to a plain one."""
        first = next(other for other in self._targets if other.tree == target.tree)
        return target == first or target.words not in (f":{DEBUG_WORD}", f":{COVERAGE_WORD}")

    def _tests(self, target: Target, applied: Applied, verdict: Verdict) -> list[str]:
        plan = self._plan
        if plan.tests:
            return list(plan.tests)
        found = self._choices.get(target.tree)
        if found is None:
            most = None if plan.full else choices.MOST_TESTS
            known = choices.read_map(series_of(target.tree))
            found = self._choices[target.tree] = choices.choose(applied, known, most, plan.museum)
            verdict.not_run += [line for line in found.not_run if line not in verdict.not_run]
            said = [f"no test is known to run {name}" for name in found.unknown]
            if found.left:
                said.append(f"{found.left} further tests that run the functions touched: --full")
            verdict.not_tried += [line for line in said if line not in verdict.not_tried]
        return found.tests

    def _compare(
        self,
        target: Target,
        sides: Sides,
        tests: list[str],
        runner: Runner,
        label: str,
        one: Tried,
    ) -> None:
        """Run the tests on both sides in turn; those that differ three times more on each."""
        if not tests:
            return
        one.doing = "testing base"
        base = runner.base(sides.base, tests, f"{label}-base")
        one.doing = "testing patched"
        patched: Results = {}
        again: dict[str, list[Results]] = {"base": [], "patched": []}
        try:
            counts = self._plan.coverage if target.counts else None
            patched = runner.run(sides.patched, tests, f"{label}-patched", counts)
            one.doing = "repeating what differs"
            keys = differing(base, patched)
            if any(patched[key].leaks for key in keys):
                keys = sorted(base.keys() & patched.keys())  # any of them may have leaked it
            for turn in range(1, REPEATS + 1) if keys else ():
                for name, side, first in (
                    ("base", sides.base, base),
                    ("patched", sides.patched, patched),
                ):
                    nodes = [first[key].node for key in keys]
                    again[name].append(runner.run(side, nodes, f"{label}-{name}-{turn}"))
        except LimitOver:
            patched = patched or runner.so_far(sides.patched, f"{label}-patched")
            base = {key: base[key] for key in base.keys() & patched.keys()}
            one.difference = compare(base, patched, again["base"], again["patched"], self._allowed)
            raise
        one.difference = compare(base, patched, again["base"], again["patched"], self._allowed)
        if not one.difference.compared:
            one.difference.not_compared.append("no test ran on both sides")

    def _count(self, counts: Path, sides: Sides, applied: Applied, verdict: Verdict) -> None:
        """Note the changed lines that did not run: that says more than which functions did."""
        with self._scratch("lines") as scratch:
            found = lines.not_run(counts, sides.patched.kernel, applied.text, scratch)
        where = f" ({sides.patched.version.partition(' ')[0]})" if len(self._works) > 1 else ""
        for name, at in found.items():
            self._lines.setdefault(name, [])
            self._lines[name] += [f"{name} {ranges(at)}{where}"] if at else []
        left = [name for name in applied.changed if name.endswith(".c") and name not in found]
        said = (f"lines of {name}: they are not counted (TREE:coverage={name})" for name in left)
        verdict.not_tried += [line for line in said if line not in verdict.not_tried]

    def _not_run(self, by_function: Sequence[str]) -> list[str]:
        """What no test ran: lines of sources that were counted, functions of the others."""
        kept = [line for line in by_function if line.partition(" ")[0] not in self._lines]
        return kept + [line for found in self._lines.values() for line in found]

    def _instructions(
        self, sides: Sides, applied: Applied, folder: Path, one: Tried, verdict: Verdict
    ) -> None:
        one.doing = "counting instructions"
        names = scenarios_for(applied.changed, one.modules)
        said = [] if names else [_NO_SCENARIO]
        names = names[: counted.MOST_SCENARIOS]
        one.instructions = counted.compare(sides, names, folder, said, not self._plan.fresh)
        verdict.not_tried += [line for line in said if line not in verdict.not_tried]

    def _sweep(
        self, sides: Sides, applied: Applied, folder: Path, one: Tried, verdict: Verdict
    ) -> None:
        one.doing = "sweeping"
        names = scenarios_for(applied.changed, one.modules)
        said = ["no scenario that can be swept uses the files of the series"] if not names else []
        said += sweeps(sides, names, folder, one.difference, self._allowed)
        verdict.not_tried += [line for line in said if line not in verdict.not_tried]

    def _end(self, verdict: Verdict) -> None:
        """Keep what was asked for; the results of a finished trial are not needed any more."""
        results, keep = self._first / RESULTS, self._plan.keep
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            shutil.copytree(results, keep / RESULTS, ignore=_links, dirs_exist_ok=True)
            for side in ("base", "patched"):
                for folder in sorted(self._first.glob(f"modules-{side}/*")):
                    to = keep / f"modules-{side}" / folder.name
                    shutil.copytree(folder, to, dirs_exist_ok=True)
        if not verdict.over:
            shutil.rmtree(results, ignore_errors=True)


def _links(folder: str, names: Sequence[str]) -> set[str]:
    """pytest's links to its last folders lead nowhere once those are gone."""
    return {name for name in names if os.path.islink(os.path.join(folder, name))}


def _forget_others(folder: Path, label: str, sides: Sides) -> None:
    """Remove results of a trial that was cut off if its tree, or what it was built with, was another."""
    noted, sides_now = folder / f"{label}-sides", f"{sides.base.identity} {sides.patched.identity}"
    if not noted.exists() or noted.read_text(encoding="ascii") != sides_now:
        for other in folder.glob(f"{label}-*/"):
            shutil.rmtree(other)
    noted.write_text(sides_now, encoding="ascii")


def _base_of(tree: Path, series: Series) -> str:
    """What the series begins at, in words."""
    if series.base is not None and series.tree == tree.resolve():
        return f"{tree.name}, commit {series.base[:12]}"
    if top_of(tree) is None:
        name = tree.parent.name if tree.name == "linux" else tree.name
        return f"{name}, Linux {release_of(tree)}, not a git repository"
    done = try_git(["rev-parse", "--verify", "--quiet", "--short=12", "HEAD"], tree)
    if done.returncode != 0:
        return f"{tree.name}, a git repository without a commit"
    head = done.stdout.decode("ascii", "replace").strip()
    differs = try_git(["diff", "--quiet", "--no-ext-diff", "HEAD"], tree).returncode != 0
    changed = ", with changes that are not committed" if differs else ""
    return f"{tree.name}, commit {head}{changed}"


def _compiler(build: Build) -> str:
    """The first line of what the compiler says of itself."""
    try:
        done = subprocess.run(
            [build.compiler, "--version"],
            env=build.environment(),
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return build.compiler
    return (done.stdout.splitlines() or [build.compiler])[0]


def _emulator() -> str:
    from zvmlab.builder.qemubuild import version

    return version()
