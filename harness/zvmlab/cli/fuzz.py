# SPDX-License-Identifier: MIT
"""The sub-command that fuzzes kernels: fuzz."""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zvmlab.base.errors import EXIT_FAILED, EXIT_PASS, UsageError
from zvmlab.base.progress import Progress
from zvmlab.cli.options import (
    DEFAULT_KERNEL,
    check_seed,
    counts_of,
    coverage_options,
    driver_option,
    kernels_option,
    seconds,
    seed_option,
    shard_option,
    top_command,
)

if TYPE_CHECKING:
    from zvmlab.fuzz.campaign import Campaign, Plan
    from zvmlab.fuzz.case import Case
    from zvmlab.fuzz.finding import Finding
    from zvmlab.fuzz.grammar import Target
    from zvmlab.fuzz.runner import Runner
    from zvmlab.fuzz.turns import Turn
    from zvmlab.verdict.sides import Side

_SECONDS = 60.0
_TIMES = 10
_MOST_TIMES = 10_000
_JOBS = 2
_FOLDER = "zvmlab-fuzz"
_CAMPAIGN = "campaign"
_LIST, _REPORT, _ALL = "list", "report", "all"
_OF_ONE = ("corpus", "bug", "confirm", "emit", "replay", "minimise")
"""Options that a campaign has not got."""


def add_commands(commands: Any) -> None:
    """fuzz."""
    parser = top_command(
        commands,
        "fuzz",
        "  zvmlab fuzz af_iucv --seconds 600 --jobs 2 --seed 7\n"
        "  zvmlab fuzz monreader --kernel source:7.2:fuzz --confirm source:7.2:debug\n"
        "  zvmlab fuzz all --kernel 6.12 --kernel source:7.2:fuzz --seconds 7200\n"
        "  zvmlab fuzz --minimise zvmlab-fuzz/af_iucv/findings/0f3a…/case.json\n"
        "  zvmlab fuzz --replay case.json -n 10 --emit reproducer",
    )
    add = parser.add_argument
    add(
        "targets",
        nargs="*",
        metavar="TARGET",
        help="what is fuzzed; 'list' names all targets, 'all' is all of them, and 'report' the"
        " report of a campaign that has been run",
    )
    kernels_option(parser)
    driver_option(parser)
    coverage_options(parser)
    add(
        "--confirm",
        metavar="TREE",
        help="run what is new or fails again on this kernel, for example source:7.2:debug",
    )
    add(
        "--bug",
        metavar="ID",
        help="bring back a bug of 'zvmlab museum list': is it found, without anybody saying what it is?",
    )
    add(
        "--seconds",
        type=seconds,
        default=_SECONDS,
        metavar="N",
        help=f"for how long, all together (default: {_SECONDS:g})",
    )
    add("--cases", type=int, default=0, metavar="N", help="no more cases than this")
    add("--jobs", type=int, default=_JOBS, metavar="N",
        help=f"number of guests at the same time (default: {_JOBS})")  # fmt: skip
    add(
        "--schedules",
        action="store_true",
        help="count the guest's instructions: two CPUs or more take turns by a seed of each case",
    )
    seed_option(parser, "cases")
    add(
        "--corpus",
        type=Path,
        metavar="DIR",
        help="folder of the cases that reach something new"
        f" (default: {_FOLDER}/TARGET/corpus); those that are there are run first",
    )
    add(
        "--output",
        type=Path,
        metavar="DIR",
        help=f"folder for findings (default: {_FOLDER}/TARGET), or of several targets or kernels"
        f" for DIR/KERNEL/TARGET and report.md (default: {_FOLDER}/{_CAMPAIGN})",
    )
    shard_option(parser, "cases")
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--replay", type=Path, metavar="CASE", help="run one case, and say what it shows"
    )
    how.add_argument(
        "--minimise", type=Path, metavar="CASE", help="make a case small that shows something"
    )
    add("-n", type=int, dest="times", default=1, metavar="N", help="with --replay: so many times")
    add(
        "--emit",
        type=Path,
        metavar="DIR",
        help="write the case as a scenario, a pytest case and a text with versions",
    )
    parser.set_defaults(command=run_fuzz)


def run_fuzz(arguments: argparse.Namespace) -> int:
    """A run, a campaign, or one case."""
    if not 1 <= arguments.times <= _MOST_TIMES or arguments.cases < 0:
        raise UsageError(f"-n takes 1 to {_MOST_TIMES}, --cases 0 or more")
    words, kernels = arguments.targets, arguments.kernel
    for word in (_LIST, _REPORT):
        if word in words and len(words) > 1:
            raise UsageError(f"'{word}' is no target, and stands alone")
    if words == [_REPORT]:
        return _table(_place(arguments), True)
    if len(words) > 1 or len(kernels) > 1 or _ALL in words:
        return _campaign(arguments)
    arguments.target = words[0] if words else None
    arguments.kernel = kernels[0] if kernels else DEFAULT_KERNEL
    arguments.counts = counts_of(arguments)
    if arguments.replay or arguments.minimise:
        with _with_bug(arguments):
            return _one_case(arguments)
    return _run(arguments)


def _place(arguments: argparse.Namespace) -> Path:
    """The folder of a campaign."""
    return arguments.output or Path(_FOLDER, _CAMPAIGN)


def _campaign(arguments: argparse.Namespace) -> int:
    """Several targets, or several kernels."""
    from zvmlab.fuzz.campaign import MAX_SEED, alone
    from zvmlab.fuzz.turns import How, run, turns

    for name in _OF_ONE:
        if getattr(arguments, name) is not None:
            raise UsageError(f"--{name} is for one target on one kernel")
    if not arguments.shard.whole:
        raise UsageError(
            "--shard is for one target on one kernel; give each machine its own targets"
        )
    if not arguments.targets:
        raise UsageError("name targets, or 'all'")
    seed = arguments.seed if arguments.seed is not None else random.randint(0, MAX_SEED)
    kernels = _counted(arguments)
    place = _place(arguments)
    options = tuple(_passed_on(arguments))
    how = How(arguments.seconds, arguments.jobs, seed, options, arguments.coverage)
    todo = turns(arguments.targets, kernels, arguments.driver, place)
    print(f"seed {seed}", flush=True)
    place.mkdir(parents=True, exist_ok=True)
    try:
        with alone(place):
            passed = run(todo, how, Progress())
    except (KeyboardInterrupt, SystemExit):
        with contextlib.suppress(UsageError):  # of a campaign that has not begun
            _table(place, False)
        raise
    if arguments.coverage is not None:
        _note_lines(todo, arguments.coverage)
    return _table(place, passed)


def _counted(arguments: argparse.Namespace) -> list[str]:
    """The kernels of a campaign; those that count lines count those of --coverage-file, too."""
    from zvmlab.builder.kernel import counts_lines
    from zvmlab.builder.tree_name import with_counted
    from zvmlab.coverage.gcov import need_gcov
    from zvmlab.guest.kernel_lines import check_counts

    kernels = arguments.kernel or [DEFAULT_KERNEL]
    if arguments.coverage is not None:
        need_gcov()
        check_counts(next(filter(counts_lines, kernels), kernels[0]))
    files = arguments.coverage_file
    return [with_counted(one, files) if files and counts_lines(one) else one for one in kernels]


def _note_lines(todo: Sequence[Turn], folder: Path) -> None:
    """How many lines of Linux each pair has run, of those whose kernels count them."""
    from zvmlab.builder.count_folder import kernels_in, of_kernel
    from zvmlab.builder.kernels import resolve
    from zvmlab.coverage.report import Report
    from zvmlab.fuzz.turns import note_lines

    for turn in [turn for turn in todo if turn.counts]:
        place = of_kernel(folder, resolve(turn.kernel)).folder
        only = f"fuzz {turn.target.name} "
        kernels = [replace(one, only=only) for one in kernels_in(folder) if one.folder == place]
        with tempfile.TemporaryDirectory(prefix="zvmlab-coverage-") as scratch:
            files = Report(kernels, Path(scratch)).files
        note_lines(turn, sum(count > 0 for file in files for count in file.lines.values()))


def _passed_on(arguments: argparse.Namespace) -> Iterator[str]:
    """Words of the command line that are each pair's."""
    if arguments.cases:
        yield from ("--cases", str(arguments.cases))
    if arguments.schedules:
        yield "--schedules"


def _table(place: Path, passed: bool) -> int:
    """Show what a campaign has found, and write it into its folder."""
    from zvmlab.fuzz.finding import load_known
    from zvmlab.fuzz.table import rows_of, text, write

    rows = rows_of(place, load_known())
    print(text(rows), write(place, rows), sep="\n")
    return EXIT_PASS if passed and not any(row.new for row in rows) else EXIT_FAILED


def _one_case(arguments: argparse.Namespace) -> int:
    from zvmlab.fuzz.case import load
    from zvmlab.fuzz.grammar import find
    from zvmlab.fuzz.runner import Runner

    if arguments.target is not None:
        raise UsageError("a case has its own target; leave out TARGET")
    case = load(arguments.replay or arguments.minimise)
    target = find(case.target)
    with (
        tempfile.TemporaryDirectory(prefix="zvmlab-replay-") as work,
        Runner(
            target, arguments.kernel, Path(work), driver=arguments.driver, counts=arguments.counts
        ) as runner,
    ):
        if arguments.minimise:
            case = _minimise(runner, case, arguments.minimise)
        return _replay(runner, case, target, arguments)


def _minimise(runner: Runner, case: Case, file: Path) -> Case:
    from zvmlab.fuzz.campaign import shows
    from zvmlab.fuzz.case import save
    from zvmlab.fuzz.minimise import minimise

    for _ in range(_TIMES):
        findings = runner.run(case).findings
        if findings:
            break
    else:
        raise UsageError(f"the case {file} shows nothing in {_TIMES} runs")
    key = findings[0].key
    small, tries = minimise(case, shows(runner, key))
    place = file.with_name(f"{file.stem}-small.json")
    save(small, place)
    print(f"{key}: {len(case.steps)} steps became {len(small.steps)}, by {tries} candidates")
    print(place)
    return small


def _replay(runner: Runner, case: Case, target: Target, arguments: argparse.Namespace) -> int:
    from zvmlab.fuzz.emit import emit
    from zvmlab.fuzz.finding import load_known, reason
    from zvmlab.scenarios.steps import text_of

    times: Counter[str] = Counter()
    first: dict[str, Finding] = {}
    for _ in range(arguments.times):
        ran = runner.run(case)
        if ran.refused and not ran.findings:
            raise UsageError(f"the case cannot be run: {ran.refused}")
        for finding in ran.findings:
            first.setdefault(finding.key, finding)
        times.update({finding.key for finding in ran.findings})
    runner.keep_counts(case)
    for one in ran.played[: len(case.steps)]:
        said = one.answer if one.answer is not None else f"{one.ret} errno {one.error}"
        print(f"{text_of(one.step)}: {said}{', it slept' if one.slept else ''}")
    known = load_known()
    for key, finding in first.items():
        defect = reason(case, finding, known, arguments.driver)
        print(f"{times[key]} of {arguments.times}: {key}: {finding.text}"
              + (f" (known: {defect})" if defect else ""))  # fmt: skip
    if not first:
        print(f"0 of {arguments.times} runs show anything")
    if arguments.emit:
        findings = [(finding, times[key]) for key, finding in first.items()]
        kernel, artifacts = arguments.kernel, runner.guest.artifacts
        files = emit(
            *(case, target, kernel, artifacts, findings, arguments.times),
            *(arguments.emit, arguments.driver),
        )
        print(*files, sep="\n")
    return EXIT_FAILED if first else EXIT_PASS


def _run(arguments: argparse.Namespace) -> int:
    from zvmlab.fuzz.campaign import MAX_SEED, Plan, alone
    from zvmlab.fuzz.grammar import find, folder, load, names

    if arguments.target is None:
        raise UsageError(f"name a target ({', '.join(names())}), or a case by --replay")
    if arguments.target == _LIST:
        for name in names():
            print(f"{name:<14} {load(folder() / f'{name}.toml').text}")
        return EXIT_PASS
    target = find(arguments.target)
    seed = arguments.seed
    if seed is None:
        check_seed(arguments.shard)
        seed = random.randint(0, MAX_SEED)
    place = arguments.output or Path(_FOLDER, f"{target.name}{arguments.shard.folder}")
    plan = Plan(
        target,
        place,
        arguments.corpus or place / "corpus",
        arguments.seconds,
        seed,
        arguments.jobs,
        arguments.shard,
        arguments.cases,
        arguments.schedules,
        arguments.kernel,
        arguments.driver,
        arguments.bug or "",
    )
    print(f"seed {seed}", flush=True)
    plan.begin()
    with alone(place), _with_bug(arguments) as base:
        if base is None:
            return _report(_fuzzed(plan, arguments), arguments, target)
        with _prepared(plan, base, arguments) as without:
            return _with_and_without(plan, arguments, without)


def _with_and_without(plan: Plan, arguments: argparse.Namespace, without: Runner) -> int:
    """A run with a bug that may not even let the guest be prepared."""
    from zvmlab.fuzz.case import Case
    from zvmlab.fuzz.runner import Unprepared

    try:
        return _report(_fuzzed(plan, arguments, without), arguments, plan.target)
    except Unprepared as error:
        target = plan.target
        # If it fails without the bug, too, that is no bug's.
        without.run(Case(target.name, (), tuple(target.mark), target.cpus))
        print(f"found before any case: {error}; without the bug: nothing")
        return EXIT_FAILED


@contextlib.contextmanager
def _prepared(plan: Plan, base: Side, arguments: argparse.Namespace) -> Iterator[Runner]:
    """What runs cases without the bug: its guest's files are chosen here, for it boots much later."""
    from zvmlab.guest.artifacts import prepare

    with _environment(base.environment), _judge(plan, base.kernel, arguments) as judge:
        judge.artifacts = prepare(judge.config, Progress())
    yield judge
    judge.close()


def _fuzzed(plan: Plan, arguments: argparse.Namespace, without: Runner | None = None) -> Campaign:
    """The run, on one kernel or two."""
    from zvmlab.fuzz.campaign import GUESTS, confirm, fuzz
    from zvmlab.fuzz.finding import load_known
    from zvmlab.fuzz.runner import Runner
    from zvmlab.guest.artifacts import prepare

    progress = Progress()
    # A bug that is brought back may be one that older kernels still have.
    known = load_known() if without is None else []
    runners = [
        Runner(
            plan.target,
            arguments.kernel,
            plan.folder / GUESTS / str(job),
            driver=arguments.driver,
            counts=arguments.counts,
        )
        for job in range(1, plan.jobs + 1)
    ]
    prepare(runners[0].config, progress)
    try:
        done = fuzz(plan, runners, known, progress, without)
    finally:
        for runner in runners:
            runner.close()
    if arguments.confirm is not None:
        with _judge(plan, arguments.confirm, arguments) as judge:
            confirm(done, judge, known, progress)
    elif done.found and arguments.bug is None:
        print(
            "no finding was run on a second kernel; --confirm TREE:debug does so", file=sys.stderr
        )
    return done


def _judge(plan: Plan, kernel: str, arguments: argparse.Namespace) -> Runner:
    from zvmlab.fuzz.campaign import GUESTS
    from zvmlab.fuzz.runner import Runner

    return Runner(plan.target, kernel, plan.folder / GUESTS / "confirm", driver=arguments.driver)


@contextlib.contextmanager
def _with_bug(arguments: argparse.Namespace) -> Iterator[Side | None]:
    """Within the block --kernel has the bug of the museum, if one is named; gives it without the bug."""
    if arguments.bug is None:
        yield None
        return
    from zvmlab.museum.bugs import default_table, find, load
    from zvmlab.museum.edited import edited

    bug = find(load(default_table()), arguments.bug)
    with edited(arguments.kernel, bug, arguments.seconds, Progress()) as both:
        arguments.kernel = both.sides.patched.kernel
        with _environment(both.sides.patched.environment):
            yield both.sides.base


@contextlib.contextmanager
def _environment(settings: Mapping[str, str]) -> Iterator[None]:
    """Within the block the harness has these settings."""
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _report(done: Campaign, arguments: argparse.Namespace, target: Target) -> int:
    from zvmlab.fuzz.campaign import lines
    from zvmlab.fuzz.merged import write

    write(done, arguments.kernel, arguments.driver)
    print(*lines(done), sep="\n")
    if arguments.emit:
        from zvmlab.fuzz.emit import emit
        from zvmlab.guest.artifacts import prepare

        with _judge(done.plan, arguments.kernel, arguments) as judge:
            artifacts = prepare(judge.config)
        for found in done.new:
            times, runs = found.shown
            place = arguments.emit / found.finding.name
            findings = [(found.finding, times)]
            emit(
                *(found.case, target, arguments.kernel, artifacts, findings, runs),
                *(place, arguments.driver),
            )
            print(place)
    return EXIT_FAILED if done.new else EXIT_PASS
