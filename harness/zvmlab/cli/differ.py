# SPDX-License-Identifier: MIT
"""Sub-commands for differential runs: diff drivers, diff emulators."""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zvmlab.base.errors import EXIT_FAILED, EXIT_PASS, UsageError
from zvmlab.base.progress import Progress
from zvmlab.cli.options import (
    backend_option,
    check_seed,
    command,
    driver_option,
    json_option,
    kernel_option,
    seed_option,
    shard_option,
    top_command,
)
from zvmlab.sweep.sweep import MAX_SEED

if TYPE_CHECKING:
    from zvmlab.differ.differ import Pair
    from zvmlab.scenarios.context import Scenario

    _Catalogues = Callable[[Mapping[str, Scenario]], dict[str, Scenario]]

ALL_SETS = 200


def add_commands(commands: Any) -> None:
    """diff drivers, diff emulators."""
    diff = top_command(
        commands,
        "diff",
        "  zvmlab diff drivers --all\n  zvmlab diff emulators --all",
    )
    two = diff.add_subparsers(metavar="WHAT", required=True)
    drivers = command(
        two,
        "drivers",
        "run the same scenarios with two drivers and explain every difference",
        "  zvmlab diff drivers --all\n"
        "  zvmlab diff drivers read-many-sets sever-and-reopen --kernel trixie\n"
        "  zvmlab diff drivers --sets 10000 --seed 7\n"
        "  zvmlab diff drivers my_scenarios.py:my-scenario --drivers old.ko new.ko",
    )
    _drivers_options(drivers, "zvmlab-diff-drivers")
    emulators = command(
        two,
        "emulators",
        "run the same scenarios in both emulators and explain every difference",
        "  zvmlab diff emulators --all\n"
        "  zvmlab diff emulators boot read-many-sets --driver zvmlab\n"
        "  zvmlab diff emulators sever-and-reopen --kernel trixie --keep\n"
        "  zvmlab diff emulators my_scenarios.py:my-scenario",
    )
    _emulators_options(emulators, "zvmlab-diff-emulators")


def _drivers_options(parser: argparse.ArgumentParser, output: str) -> None:
    _options(parser, output)
    backend_option(parser)
    names = "two of upstream, zvmlab or .ko files (default: upstream zvmlab)"
    parser.add_argument("--drivers", nargs=2, metavar="DRIVER", help=names)
    parser.set_defaults(command=run_diff_drivers)


def _emulators_options(parser: argparse.ArgumentParser, output: str) -> None:
    _options(parser, output)
    driver_option(parser)
    parser.set_defaults(command=run_diff_emulators)


def _options(parser: argparse.ArgumentParser, output: str) -> None:
    add = parser.add_argument
    add(
        "scenario",
        nargs="*",
        metavar="SCENARIO",
        help="a name from 'zvmlab scenarios', or FILE.py:NAME",
    )
    add("--all", action="store_true", help=f"use all scenarios of zvmlab, and --sets {ALL_SETS}")
    add("--sets", type=int, metavar="N", help="also use N data sets made from the seed")
    kernel_option(parser)
    seed_option(parser, "run")
    shard_option(parser, "scenarios")
    add(
        "--output",
        type=Path,
        metavar="DIR",
        help=f"folder for results (default: {output}; with --shard …-I-of-N)",
    )
    parser.set_defaults(folder=output)
    add(
        "--keep",
        action="store_true",
        help="keep the guests' logs even if every difference is explained",
    )
    json_option(parser, "also print the report as JSON")


def run_diff_drivers(arguments: argparse.Namespace) -> int:
    """With two drivers."""
    from zvmlab.differ.known_drivers import DRIVERS, driver_pair  # only this command needs them

    first, second = arguments.drivers or DRIVERS
    return _run(arguments, driver_pair(arguments.kernel, (first, second), arguments.backend))


def run_diff_emulators(arguments: argparse.Namespace) -> int:
    """In two emulators."""
    from zvmlab.differ.known_emulators import emulator_pair  # only this command needs these
    from zvmlab.scenarios import possible

    pair = emulator_pair(arguments.kernel, arguments.driver)
    return _run(arguments, pair, lambda catalogue: possible(catalogue, arguments.kernel))


def _run(arguments: argparse.Namespace, pair: Pair, there: _Catalogues | None = None) -> int:
    """Seed first, then the report; 1 if a difference is not explained, or an entry is not needed."""
    from zvmlab.differ import differ, report as differ_report  # only these commands need them

    if arguments.all and arguments.scenario:
        raise UsageError("--all already includes all scenarios; leave out their names")
    sets = arguments.sets if arguments.sets is not None else ALL_SETS if arguments.all else 0
    seed, shard = arguments.seed, arguments.shard
    if seed is None:
        check_seed(shard)
        seed = random.randint(0, MAX_SEED)
    output = arguments.output or Path(f"{arguments.folder}{shard.folder}")

    def plan_of(pair: Pair) -> differ.Plan:
        names = list(pair.catalogue) if arguments.all else arguments.scenario
        return differ.Plan(pair, names, output, sets, seed, arguments.keep, shard)

    plan = plan_of(pair)
    if there:
        # Only when nothing is wrong: this needs the kernel, which may have to be fetched.
        plan = plan_of(replace(pair, catalogue=there(pair.catalogue)))
    if not arguments.json:
        print(f"seed {seed}", flush=True)
    done = differ.differ(plan, Progress())
    path = differ_report.write(done)
    if arguments.json:
        print(json.dumps(differ_report.to_json(done), ensure_ascii=False))
    else:
        print(*differ_report.lines(done), path, sep="\n")
    return EXIT_PASS if done.passed else EXIT_FAILED
