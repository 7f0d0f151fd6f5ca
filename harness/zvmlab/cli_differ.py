# SPDX-License-Identifier: MIT
"""Sub-command for differential runs: diff-drivers."""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any

from zvmlab.cli_tools import backend_option, command
from zvmlab.errors import EXIT_FAILED, EXIT_PASS, UsageError
from zvmlab.progress import Progress
from zvmlab.sweep import MAX_SEED

ALL_SETS = 200


def add_commands(commands: Any) -> None:
    """diff-drivers."""
    made = command(
        commands,
        "diff-drivers",
        "run the same scenarios with two drivers and explain every difference",
        "  zvmlab diff-drivers --all\n"
        "  zvmlab diff-drivers read-many-sets sever-and-reopen --kernel trixie\n"
        "  zvmlab diff-drivers --sets 10000 --seed 7\n"
        "  zvmlab diff-drivers my_scenarios.py:my-scenario --drivers old.ko new.ko",
    )
    add = made.add_argument
    add("scenario", nargs="*", metavar="SCENARIO", help="a name of zvmlab's, or FILE.py:NAME")
    add("--all", action="store_true", help=f"all of zvmlab's, and --sets {ALL_SETS}")
    add("--sets", type=int, metavar="N", help="and so many data sets, made up from the seed")
    add("--kernel", default="bookworm", metavar="SUITE|PATH", help="guest kernel (bookworm)")
    backend_option(made)
    add("--drivers", nargs=2, metavar="DRIVER", help="upstream, zvmlab or a .ko (the first two)")
    add("--seed", type=int, metavar="N", help="of the run to be repeated (default: a new one)")
    add("--output", type=Path, default=Path("zvmlab-diff"), metavar="DIR", help="(zvmlab-diff)")
    add("--json", action="store_true", help="the report as JSON, on standard output, too")
    made.set_defaults(command=run_diff_drivers)


def run_diff_drivers(arguments: argparse.Namespace) -> int:
    """Seed first, then the report; 1 if a difference is not explained, or an entry is not needed."""
    from zvmlab import differ, differ_report  # only this command needs them

    if arguments.all and arguments.scenario:
        raise UsageError("--all has all scenarios; leave out their names")
    sets = arguments.sets if arguments.sets is not None else ALL_SETS if arguments.all else 0
    seed = random.randint(0, MAX_SEED) if arguments.seed is None else arguments.seed
    first, second = arguments.drivers or differ.DRIVERS
    names = list(differ.CATALOGUE) if arguments.all else arguments.scenario
    drivers, kernel, backend = (first, second), arguments.kernel, arguments.backend
    plan = differ.Plan(names, arguments.output, sets, kernel, drivers, seed, backend)
    if not arguments.json:
        print(f"seed {seed}", flush=True)
    done = differ.differ(plan, Progress())
    path = differ_report.write(done)
    if arguments.json:
        print(json.dumps(differ_report.to_json(done), ensure_ascii=False))
    else:
        print(*differ_report.lines(done), path, sep="\n")
    return EXIT_PASS if done.passed else EXIT_FAILED
