# SPDX-License-Identifier: MIT
"""Sub-commands for patches: try, bisect."""

from __future__ import annotations

import argparse
import importlib.util
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zvmlab.base.errors import CannotRun, UsageError
from zvmlab.base.home import from_home
from zvmlab.base.progress import Progress
from zvmlab.cli.options import seconds, top_command


def add_commands(commands: Any) -> None:
    """try, bisect."""
    parser = top_command(
        commands,
        "try",
        "  zvmlab try series.mbox --kernel ~/linux --kernel source:6.12\n"
        "  zvmlab try fix.patch --kernel bookworm --kernel trixie --mail verdict.txt\n"
        "  zvmlab try v7.2..my-branch --kernel ~/linux --sweep\n"
        "  zvmlab try worktree --kernel ~/linux:debug --tests '-k severed'",
    )
    add = parser.add_argument
    add(
        "series",
        metavar="SERIES",
        help="a thread saved as an mbox, a maildir, a .patch, a .diff, a folder of patches,"
        " COMMIT..COMMIT, worktree (what is not committed), - (standard input), or a message id",
    )
    add(
        "--kernel",
        action="append",
        required=True,
        metavar="TREE|SUITE",
        help="a source tree: a folder or source:6.12, plain and with :debug, or, as TREE:CONFIG, in"
        " that configuration alone; one of Debian's kernels, if the series touches modules only;"
        " may be repeated",
    )
    add("--on-top", type=Path, metavar="DIR", help="apply the patches in DIR to both sides first")
    add(
        "--tests",
        metavar="WORDS",
        help="run these tests, in words for pytest (default: those that run the touched functions)",
    )
    add("--full", action="store_true", help="run all of those tests, not the first ten")
    add("--sweep", action="store_true", help="also sweep the scenarios that use the touched files")
    add(
        "--coverage",
        type=Path,
        metavar="DIR",
        help="also try each source tree as TREE:coverage, list the changed lines that no test ran,"
        " and keep the counts in DIR",
    )
    add(
        "--allow",
        type=Path,
        metavar="FILE",
        help="differences that are allowed: TOML with patterns, reasons and last dates",
    )
    add("--limit", type=seconds, metavar="SECONDS", help="end after so long, with what is known")
    add("--mail", type=Path, metavar="FILE", help="also write the report to FILE")
    add("--ktap", type=Path, metavar="FILE", help="also write it as KTAP")
    add("--json", type=Path, metavar="FILE", help="also write it as JSON")
    add("--keep", type=Path, metavar="DIR", help="keep logs of the tests, and sources of modules")
    add("--resume", action="store_true", help="continue the same trial, if it was cut off")
    add("--fresh", action="store_true", help="test base again, also if its results are known")
    parser.set_defaults(command=run_try)
    _bisect_options(commands)


def _bisect_options(commands: Any) -> None:
    parser = top_command(
        commands,
        "bisect",
        "  zvmlab bisect --good v7.1 --bad v7.2 --kernel ~/linux -- tests/e2e/test_af_iucv.py\n"
        "  zvmlab bisect --good HEAD~20 --bad HEAD --kernel bookworm --module driver -- \\\n"
        "      tests/e2e/test_monreader_busy.py\n"
        "  zvmlab bisect --good A --bad B --kernel ~/linux -- scenario:read-one-set:iucv.reply\n"
        "  zvmlab bisect --good A --bad B --kernel ~/linux:fuzz -- reproducer/case.json",
    )
    add = parser.add_argument
    add("--good", required=True, metavar="COMMIT", help="a commit that passes the test")
    add("--bad", required=True, metavar="COMMIT", help="a later commit that fails it")
    add(
        "--kernel",
        required=True,
        metavar="TREE|SUITE",
        help="the source tree, which is a git repository; with --module: the guest's kernel",
    )
    add("--debug", action="store_true", help="build the tree as a debug kernel")
    add(
        "--module",
        type=Path,
        metavar="DIR",
        help="bisect the module in this folder of a repository",
    )
    add(
        "-n",
        dest="times",
        type=int,
        default=1,
        metavar="TIMES",
        help="run the test so often on each commit, and skip one whose results differ (default: 1)",
    )
    add("--resume", action="store_true", help="continue the same bisection, if it was cut off")
    add(
        "test",
        nargs="+",
        metavar="TEST",
        help="after --: words for pytest, scenario:NAME[:FAULT], CASE.json of 'zvmlab fuzz', or a"
        " program and its arguments",
    )
    parser.set_defaults(command=run_bisect)


def run_bisect(arguments: argparse.Namespace) -> int:
    """The first bad commit; 1 if there are only skipped ones left."""
    _need_pytest()
    from zvmlab.verdict.bisect import Plan, bisect, debug_kernel, report

    plan = Plan(
        arguments.good,
        arguments.bad,
        debug_kernel(arguments.kernel) if arguments.debug else arguments.kernel,
        _test(arguments.test),
        arguments.module,
        arguments.times,
        arguments.resume,
    )
    found = bisect(plan, Progress())
    print(*report(plan, found), sep="\n")
    return found.exit_code


def _test(words: Sequence[str]) -> tuple[str, ...]:
    """The test of a bisection; a case of the fuzzer by its whole name, if it is one."""
    from zvmlab.fuzz.case import load
    from zvmlab.fuzz.grammar import find
    from zvmlab.verdict.bisect import is_case

    if not is_case(words):
        return tuple(words)
    file = from_home(words[0]).absolute()
    find(load(file).target)
    return (str(file),)


def _need_pytest() -> None:
    if any(importlib.util.find_spec(name) is None for name in ("pytest", "jinja2")):
        raise CannotRun("the tests of drivers need: apt-get install python3-pytest python3-jinja2")


def _words(text: str | None, option: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text or ""))
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None


def run_try(arguments: argparse.Namespace) -> int:
    """The report; 1 if something newly fails."""
    _need_pytest()
    from zvmlab.museum.bugs import default_table, load, tests_by_file
    from zvmlab.verdict import report
    from zvmlab.verdict.trial import Plan, trial

    outputs = [file for file in (arguments.mail, arguments.ktap, arguments.json) if file]
    for file in outputs:
        if not file.absolute().parent.is_dir():
            raise UsageError(f"there is no folder for {file}")
        if file.is_dir():
            raise UsageError(f"{file} is a folder; name a file for the report")
    plan = Plan(
        series=arguments.series,
        kernels=tuple(dict.fromkeys(arguments.kernel)),
        command=_command(arguments),
        on_top=arguments.on_top,
        tests=_words(arguments.tests, "--tests"),
        full=arguments.full,
        sweep=arguments.sweep,
        coverage=arguments.coverage.absolute() if arguments.coverage else None,
        allow=arguments.allow,
        limit=arguments.limit,
        keep=arguments.keep,
        resume=arguments.resume,
        fresh=arguments.fresh,
        museum=tests_by_file(load(default_table())),
    )
    verdict = trial(plan, Progress())
    said = report.text(verdict)
    sys.stdout.write(said)  # before anything can fail
    for file, text in (
        (arguments.mail, said),
        (arguments.ktap, report.ktap(verdict)),
        (arguments.json, report.to_json(verdict)),
    ):
        if file is not None:
            try:
                file.write_text(text, encoding="utf-8")
            except OSError as error:
                raise CannotRun(f"{file} cannot be written: {error.strerror}") from None
    return verdict.exit_code


def _command(arguments: argparse.Namespace) -> tuple[str, ...]:
    """What repeats the trial: the options that decide its result."""
    words = ["zvmlab", "try", arguments.series]
    for name in dict.fromkeys(arguments.kernel):
        words += ["--kernel", name]
    for option in ("on_top", "tests", "coverage", "allow"):
        value = getattr(arguments, option)
        words += [f"--{option.replace('_', '-')}", str(value)] if value else []
    words += [f"--{option}" for option in ("full", "sweep") if getattr(arguments, option)]
    return tuple(words)
