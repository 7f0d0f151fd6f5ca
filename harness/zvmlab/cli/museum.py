# SPDX-License-Identifier: MIT
"""The sub-command for old bugs of Linux: museum."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from zvmlab.base.errors import EXIT_FAILED, EXIT_PASS, CannotRun, UsageError, ZvmlabError
from zvmlab.base.progress import Progress
from zvmlab.cli.options import command, top_command
from zvmlab.museum.bugs import Bug, default_table, find, load

_MOST_TIMES = 1000


def add_commands(commands: Any) -> None:
    """museum list, museum show, museum run."""
    museum = top_command(commands, "museum", "  zvmlab museum list\n  zvmlab museum run peek-leak")
    what = museum.add_subparsers(metavar="WHAT", required=True)
    listing = command(what, "list", "list the bugs", "  zvmlab museum list")
    listing.add_argument("--markdown", action="store_true", help="print a table in Markdown")
    listing.set_defaults(command=run_list)
    showing = command(
        what, "show", "describe a bug, and print its edit", "  zvmlab museum show peek-leak"
    )
    showing.add_argument("id", metavar="ID", help="a bug of 'zvmlab museum list'")
    showing.set_defaults(command=run_show)
    running = command(
        what,
        "run",
        "bring bugs back: their tests must pass without the edit and fail with it",
        "  zvmlab museum run peek-leak\n"
        "  zvmlab museum run peek-leak -n 10 --kernel sid\n"
        "  zvmlab museum run --suite              does the ordinary suite notice them?",
    )
    add = running.add_argument
    add("id", nargs="*", metavar="ID", help="bugs of 'zvmlab museum list' (default: all shown)")
    add(
        "--kernel",
        default="",
        metavar="SUITE|TREE",
        help="a suite of Debian, for bugs of modules, or a source tree (default: the bug's own)",
    )
    add(
        "-n",
        "--times",
        type=int,
        default=1,
        metavar="N",
        help="show each so many times (default: 1)",
    )
    add(
        "--suite",
        action="store_true",
        help="run all tests that come past each edit instead: who notices?",
    )
    add(
        "--fresh",
        action="store_true",
        help="with --suite, ask also what an earlier run has decided",
    )
    for parser in (listing, showing, running):
        parser.add_argument(
            "--table", type=Path, metavar="FILE", help="another table than tests/museum/bugs.toml"
        )
    running.set_defaults(command=run_bugs)


def _bugs(arguments: argparse.Namespace) -> list[Bug]:
    return load(arguments.table or default_table())


def run_list(arguments: argparse.Namespace) -> int:
    """What each bug is, what sees it, and what earlier runs have shown of it."""
    from zvmlab.museum.shown import remembered

    if arguments.markdown:
        print("| bug | year | seen by | shown |\n|---|--:|---|---|")
    for bug in _bugs(arguments):
        runs = [run.sentence for run in remembered(bug)]
        if arguments.markdown:
            shown = "; ".join(runs) or "-" if bug.shown else "no"
            print(f"| {bug.id} | {bug.year} | {bug.judge} | {shown} |")
            continue
        seen = bug.judge if bug.shown else "not shown"
        print(f"{bug.id:<18} {bug.year}  {bug.subject}\n{'':<18} {bug.file}: {seen}")
        for run in runs:
            print(f"{'':<18} shown {run}")
    return EXIT_PASS


def run_show(arguments: argparse.Namespace) -> int:
    """Everything about one bug."""
    bug = find(_bugs(arguments), arguments.id)
    lines = [("mended by", f"{bug.subject}, {bug.author}, {bug.year}"), ("file", bug.file)]
    lines += [("provoked by", bug.how), ("seen by", bug.judge)]
    lines += [("kernel", bug.kernel)] if bug.kernel else []
    lines += [("test", test) for test in bug.tests]
    lines += [("missing", bug.missing)] if bug.missing else []
    for edit in bug.edits:
        places = "one place" if edit.times == 1 else f"{edit.times} places"
        lines.append(("edit", f"in {places} of {edit.file}: {edit.place!r} -> {edit.becomes!r}"))
    for name, text in lines:
        print(f"{name:<12} {text}")
    return EXIT_PASS


def _say(line: str) -> None:
    print(line, flush=True)


def run_bugs(arguments: argparse.Namespace) -> int:
    """Show the bugs, or ask the suite; EXIT_FAILED if one is not seen, or not by the suite itself."""
    from zvmlab.museum.noticed import complete, suite, summary  # others need not import these
    from zvmlab.museum.show import show

    if not 1 <= arguments.times <= _MOST_TIMES:
        raise UsageError(f"--times takes 1 to {_MOST_TIMES}")
    every = _bugs(arguments)
    chosen = [find(every, name) for name in arguments.id] or [bug for bug in every if bug.shown]
    for bug in chosen:
        if not bug.shown:
            raise UsageError(f"{bug.id} is not shown: {bug.missing}")
    progress = Progress()
    if arguments.fresh and not arguments.suite:
        raise UsageError("--fresh needs --suite: all other runs are fresh")
    if arguments.suite:
        found = suite(chosen, arguments.kernel, progress, _say, arguments.fresh)
        for line in summary(found):
            print(line)
        return EXIT_PASS if complete(found) else EXIT_FAILED
    right = True
    for bug in chosen:
        try:
            shown = show(bug, arguments.kernel, arguments.times, progress)
        except CannotRun:
            raise
        except ZvmlabError as error:
            if len(chosen) == 1:
                raise
            right = False
            why = str(error).removeprefix(f"{bug.id}: ")
            print(f"{bug.id:<18} cannot be shown: {why}", flush=True)
            continue
        right &= shown.right
        print(
            f"{bug.id:<18} {shown.kernel}: without the edit passed {shown.base} of {shown.times},"
            f" with it seen {shown.seen} of {shown.times}, by {bug.judge}"
            f" ({shown.seconds:.0f} s at most)" + (f"\n  {shown.why}" if shown.why else ""),
            flush=True,
        )
    return EXIT_PASS if right else EXIT_FAILED
