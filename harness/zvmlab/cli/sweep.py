# SPDX-License-Identifier: MIT
"""Sub-commands for scenarios: scenarios, sweep."""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zvmlab.base.errors import EXIT_FAILED, EXIT_PASS
from zvmlab.base.progress import Progress
from zvmlab.cli.options import (
    backend_option,
    check_seed,
    counts_of,
    coverage_options,
    driver_option,
    kernel_option,
    seed_option,
    shard_option,
    top_command,
)
from zvmlab.scenarios import BUILT_IN, EDGES, MACHINE, TOGETHER, USERS, WRITERS, to_sweep
from zvmlab.scenarios.context import Scenario
from zvmlab.scenarios.together import TogetherScenario
from zvmlab.sweep.sweep import MAX_SEED, Plan, default_jobs, seed_of, sweep

_NAME = 28


def add_commands(commands: Any) -> None:
    """scenarios, sweep."""
    listing = top_command(commands, "scenarios", "  zvmlab scenarios")
    listing.set_defaults(command=run_scenarios)

    parser = top_command(
        commands,
        "sweep",
        "  zvmlab sweep read-one-set\n"
        "  zvmlab sweep read-one-set --point 'iucv.*' --point interrupt\n"
        "  zvmlab sweep sever-and-reopen --kernel trixie --seed 7 --output sweep\n"
        "  zvmlab sweep my_scenarios.py:my-scenario --driver zvmlab\n"
        "  zvmlab sweep read-one-set --seed 7 --shard 2/8\n"
        "  zvmlab sweep conversation --point 'ALICE iucv.*' --point machine.link",
    )
    add = parser.add_argument
    add("scenario", metavar="SCENARIO", help="a name from 'zvmlab scenarios', or FILE.py:NAME")
    kernel_option(parser)
    coverage_options(parser)
    driver_option(parser)
    add(
        "--params",
        metavar="TEXT",
        help="parameters of the driver (default for zvmlab's: open_timeout=1)",
    )
    backend_option(parser)
    seed_option(parser, "sweep")
    add(
        "--point",
        action="append",
        default=[],
        metavar="PATTERN",
        help="only points, or faults, that match; may be repeated",
    )
    add(
        "--jobs",
        type=int,
        default=default_jobs(),
        metavar="N",
        help="number of guests at the same time (default: 2 for each CPU of this machine)",
    )
    add(
        "--output",
        type=Path,
        metavar="DIR",
        help="folder for results (default: zvmlab-sweep/SCENARIO; with --shard …-I-of-N)",
    )
    shard_option(parser, "faults")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--resume", action="store_true", help="continue an interrupted sweep")
    how.add_argument("--fresh", action="store_true", help="start an interrupted sweep again")
    parser.set_defaults(command=run_sweep)


def run_scenarios(_arguments: argparse.Namespace) -> int:
    """One line for each scenario."""
    groups: tuple[tuple[str, Mapping[str, Scenario | TogetherScenario]], ...] = (
        ("", BUILT_IN),
        ("of other parts of the kernel:\n", USERS | WRITERS),
        ("of two guests on one CP:\n", TOGETHER),
        ("of diff drivers and diff emulators only:\n", EDGES),
        ("of diff emulators only:\n", MACHINE),
    )
    for heading, found in groups:
        print(heading, end="")
        for scenario in found.values():
            print(f"{scenario.name:<{_NAME}} {scenario.text}")
    return EXIT_PASS


def run_sweep(arguments: argparse.Namespace) -> int:
    """Seed first, then the table; 1 if a fault failed."""
    from rich.console import Console  # the table is needed here only

    from zvmlab.sweep import report as sweep_report

    counts_of(arguments)
    scenario = to_sweep(arguments.scenario)
    shard = arguments.shard
    output = arguments.output or Path("zvmlab-sweep", f"{scenario.name}{shard.folder}")
    seed = arguments.seed
    if seed is None and arguments.resume:
        seed = seed_of(output)
    if seed is None:
        check_seed(shard)
        seed = random.randint(0, MAX_SEED)
    print(f"seed {seed}", flush=True)
    plan = Plan(
        arguments.scenario,
        output,
        arguments.kernel,
        arguments.driver,
        seed,
        tuple(arguments.point),
        arguments.jobs,
        arguments.params,
        arguments.backend,
        shard,
        arguments.coverage,
    )
    resume = True if arguments.resume else False if arguments.fresh else None
    started = time.monotonic()
    try:
        done = sweep(plan, Progress(), resume)
    except (KeyboardInterrupt, SystemExit):
        print(f"{output} has the results so far; --resume continues the sweep", file=sys.stderr)
        raise
    seconds = time.monotonic() - started
    found = sweep_report.verdicts(done)
    Console().print(sweep_report.table(done, found))
    print(*sweep_report.lines(done, found, seconds), sep="\n")
    print(*sweep_report.write(done, found, seconds), sep="\n")
    failed = any(verdict.word == sweep_report.FAILED for verdict in found)
    return EXIT_FAILED if failed else EXIT_PASS
