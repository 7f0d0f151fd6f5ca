# SPDX-License-Identifier: MIT
"""Sub-commands for differential runs: diff-drivers, compare."""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zvmlab.base.errors import EXIT_FAILED, EXIT_PASS, UsageError
from zvmlab.base.progress import Progress
from zvmlab.cli.guest import driver_option
from zvmlab.cli.tools import backend_option, command
from zvmlab.sweep.sweep import MAX_SEED

if TYPE_CHECKING:
    from zvmlab.differ.differ import Pair

ALL_SETS = 200


def add_commands(commands: Any) -> None:
    """diff-drivers, compare."""
    made = command(
        commands,
        "diff-drivers",
        "run the same scenarios with two drivers and explain every difference",
        "  zvmlab diff-drivers --all\n"
        "  zvmlab diff-drivers read-many-sets sever-and-reopen --kernel trixie\n"
        "  zvmlab diff-drivers --sets 10000 --seed 7\n"
        "  zvmlab diff-drivers my_scenarios.py:my-scenario --drivers old.ko new.ko",
    )
    _options(made, "zvmlab-diff")
    backend_option(made)
    names = "upstream, zvmlab or a .ko (the first two)"
    made.add_argument("--drivers", nargs=2, metavar="DRIVER", help=names)
    made.set_defaults(command=run_diff_drivers)

    made = command(
        commands,
        "compare",
        "run the same scenarios in both emulators and explain every difference",
        "  zvmlab compare --all\n"
        "  zvmlab compare boot read-many-sets --driver zvmlab\n"
        "  zvmlab compare sever-and-reopen --kernel trixie --keep\n"
        "  zvmlab compare my_scenarios.py:my-scenario",
    )
    _options(made, "zvmlab-compare")
    driver_option(made)
    made.set_defaults(command=run_compare)


def _options(parser: argparse.ArgumentParser, output: str) -> None:
    add = parser.add_argument
    add("scenario", nargs="*", metavar="SCENARIO", help="a name of zvmlab's, or FILE.py:NAME")
    add("--all", action="store_true", help=f"all of zvmlab's, and --sets {ALL_SETS}")
    add("--sets", type=int, metavar="N", help="and so many data sets, made up from the seed")
    add("--kernel", default="bookworm", metavar="SUITE|PATH", help="guest kernel (bookworm)")
    add("--seed", type=int, metavar="N", help="of the run to be repeated (default: a new one)")
    add("--output", type=Path, default=Path(output), metavar="DIR", help=f"({output})")
    add("--keep", action="store_true", help="keep the guests' logs even if all is explained")
    add("--json", action="store_true", help="the report as JSON, on standard output, too")


def run_diff_drivers(arguments: argparse.Namespace) -> int:
    """With two drivers."""
    from zvmlab.differ.known_drivers import DRIVERS, driver_pair  # only this command needs them

    first, second = arguments.drivers or DRIVERS
    return _run(arguments, driver_pair(arguments.kernel, (first, second), arguments.backend))


def run_compare(arguments: argparse.Namespace) -> int:
    """In two emulators."""
    from zvmlab.differ.known_emulators import emulator_pair  # only this command needs it

    return _run(arguments, emulator_pair(arguments.kernel, arguments.driver))


def _run(arguments: argparse.Namespace, pair: Pair) -> int:
    """Seed first, then the report; 1 if a difference is not explained, or an entry is not needed."""
    from zvmlab.differ import differ, report as differ_report  # only these commands need them

    if arguments.all and arguments.scenario:
        raise UsageError("--all has all scenarios; leave out their names")
    sets = arguments.sets if arguments.sets is not None else ALL_SETS if arguments.all else 0
    seed = random.randint(0, MAX_SEED) if arguments.seed is None else arguments.seed
    names = list(pair.catalogue) if arguments.all else arguments.scenario
    plan = differ.Plan(pair, names, arguments.output, sets, seed, arguments.keep)
    if not arguments.json:
        print(f"seed {seed}", flush=True)
    done = differ.differ(plan, Progress())
    path = differ_report.write(done)
    if arguments.json:
        print(json.dumps(differ_report.to_json(done), ensure_ascii=False))
    else:
        print(*differ_report.lines(done), path, sep="\n")
    return EXIT_PASS if done.passed else EXIT_FAILED
