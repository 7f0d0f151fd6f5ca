# SPDX-License-Identifier: MIT
"""Options that several sub-commands share, and how a sub-command is made."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zvmlab.base.errors import UsageError
from zvmlab.cli.commands import COMMANDS
from zvmlab.guest.names import BACKENDS, QEMU, UPSTREAM_DRIVER

if TYPE_CHECKING:
    from zvmlab.base.shard import Shard
    from zvmlab.guest.kernel_lines import Counts
    from zvmlab.guest.run_dir import RunningGuest

_DAY = 86400
DEFAULT_KERNEL = "bookworm"
KERNEL_HELP = (
    "guest kernel: bookworm (default), trixie, sid, debug, an image, or a kernel source tree to"
    " build: a folder or source:6.1; TREE:full uses Debian's configuration, TREE:FILE the one in FILE,"
    " TREE:debug checks for mistakes, TREE:fuzz for those that are found at little cost,"
    " TREE:coverage counts lines"
)


def command(commands: Any, name: str, text: str, examples: str) -> argparse.ArgumentParser:
    """A sub-command with help, description and examples."""
    made: argparse.ArgumentParser = commands.add_parser(
        name,
        help=text,
        description=text[0].upper() + text[1:] + ".",
        epilog=f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    return made


def top_command(commands: Any, name: str, examples: str) -> argparse.ArgumentParser:
    """The same for a sub-command of zvmlab's own."""
    return command(commands, name, COMMANDS[name].text, examples)


def workload_option(parser: argparse.ArgumentParser, text: str) -> None:
    """--workload, a modelled system."""
    parser.add_argument("--workload", type=Path, metavar="FILE", help=text)


def backend_option(parser: argparse.ArgumentParser) -> None:
    """--backend, which emulator."""
    parser.add_argument(
        "--backend", choices=BACKENDS, default=QEMU, help="emulator of the guest (default: qemu)"
    )


def _shard(text: str) -> Shard:
    from zvmlab.base.shard import shard_of

    try:
        return shard_of(text)
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def shard_option(parser: argparse.ArgumentParser, what: str) -> None:
    """--shard, which part of a run that several machines share."""
    from zvmlab.base.shard import Shard

    parser.add_argument(
        "--shard",
        type=_shard,
        default=Shard(),
        metavar="I/N",
        help=f"run only every N-th of the {what}, starting with the I-th; zvmlab merge combines the"
        " results of all N",
    )


def check_seed(shard: Shard) -> None:
    """UsageError if shards would not be of one run: each would draw a seed of its own."""
    if not shard.whole:
        raise UsageError("--shard needs --seed; give the same to all shards")


def seconds(text: str) -> float:
    """A time limit."""
    return _limited(text, 0.0, _DAY, "seconds")


def _hours(text: str) -> float:
    from zvmlab.fabricate.file import MAX_HOURS  # which few commands have to import

    return _limited(text, 1 / 3600, MAX_HOURS, "hours")


def _limited(text: str, least: float, most: int, unit: str) -> float:
    """A number of them; 0 is none."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not (value > 0 and least <= value <= most):
        raise argparse.ArgumentTypeError(f"{text} is not a number of {unit} up to {most}")
    return value


def kernel_option(parser: argparse.ArgumentParser) -> None:
    """--kernel, which kernel."""
    parser.add_argument(
        "--kernel",
        default=DEFAULT_KERNEL,
        metavar="SUITE|PATH|TREE",
        help=KERNEL_HELP,
    )


def kernels_option(parser: argparse.ArgumentParser) -> None:
    """--kernel, which kernels; none: the default one."""
    parser.add_argument(
        "--kernel",
        action="append",
        default=[],
        metavar="SUITE|PATH|TREE",
        help=f"{KERNEL_HELP}; may be repeated",
    )


def coverage_options(parser: argparse.ArgumentParser) -> None:
    """--coverage, which keeps what of Linux runs."""
    parser.add_argument(
        "--coverage",
        type=Path,
        metavar="DIR",
        help="keep in DIR which lines of Linux' sources run, for zvmlab coverage; the kernel is"
        " 'coverage' or TREE:coverage",
    )
    parser.add_argument(
        "--coverage-file",
        action="append",
        default=[],
        metavar="PATH",
        help="also count the lines of this source of TREE; may be repeated",
    )


def counts_of(arguments: argparse.Namespace) -> Counts | None:
    """What keeps the counts; the kernel counts those of --coverage-file, too."""
    if arguments.coverage_file:
        from zvmlab.builder.tree_name import with_counted

        arguments.kernel = with_counted(arguments.kernel, arguments.coverage_file)
    if arguments.coverage is None:
        return None
    from zvmlab.guest.kernel_lines import Counts, check_counts  # which few commands have to import

    check_counts(arguments.kernel)
    return Counts(arguments.coverage)


def driver_option(parser: argparse.ArgumentParser) -> None:
    """--driver, which monreader."""
    parser.add_argument(
        "--driver",
        default=UPSTREAM_DRIVER,
        metavar="upstream|zvmlab|PATH",
        help="the guest's monreader: upstream (the kernel's own, default), zvmlab, or a .ko file",
    )


def guest_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of every command that starts a guest."""
    kernel_option(parser)
    parser.add_argument(
        "--cpus",
        type=int,
        default=1,
        metavar="N",
        help="number of CPUs: 1 (default) to 64, in Hercules to 8",
    )
    backend_option(parser)
    driver_option(parser)
    _faults_option(parser)
    _cold_option(parser)


def _faults_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--faults",
        type=Path,
        default=(),
        metavar="FILE",
        help="arm the fault rules of this JSON file before the first instruction",
    )


def _cold_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--cold",
        action="store_true",
        help="boot from the first instruction (default: start from a checkpoint)",
    )


def running_option(parser: argparse.ArgumentParser) -> None:
    """--guest and --system, which of the running guests."""
    text = "name of the guest, or its user ID in a system (default: the only running guest)"
    parser.add_argument("--guest", metavar="NAME", help=text)
    system_option(parser)


def system_option(parser: argparse.ArgumentParser) -> None:
    """--system, whose guest it is."""
    text = "name of the system that the guest is a member of, if several have one of that name"
    parser.add_argument("--system", metavar="NAME", help=text)


def running_guest(arguments: argparse.Namespace) -> RunningGuest:
    """The guest that running_option() has asked for."""
    from zvmlab.guest.run_dir import find_guest

    return find_guest(arguments.guest, arguments.system)


def monwrite_option(parser: argparse.ArgumentParser) -> None:
    """--monwrite, the format of a file."""
    text = "the file is a MONWRITE file, even if its beginning is damaged"
    parser.add_argument("--monwrite", action="store_true", help=text)


def hours_option(parser: argparse.ArgumentParser) -> None:
    """--hours, how long a modelled system is simulated."""
    parser.add_argument(
        "--hours", type=_hours, metavar="H", help="simulated hours (default: those of the workload)"
    )


def guest_workload_options(run: argparse.ArgumentParser) -> None:
    """--workload of a command that runs a program, and what goes with it."""
    add = run.add_argument
    text = "let the program read data sets of this system (docs/fabricate.md)"
    workload_option(run, text)
    hours_option(run)
    add(
        "--pace",
        default="max",
        metavar="original|N|max",
        help="deliver in original time, N times faster, or as fast as possible (default: max)",
    )
    add(
        "--out", type=Path, default=Path("."), metavar="DIR",
        help="with --workload: folder for the program's files in /out (default: current folder)",
    )  # fmt: skip


def seed_option(parser: argparse.ArgumentParser, what: str) -> None:
    """--seed, of *what* is to be repeated."""
    parser.add_argument(
        "--seed",
        type=int,
        metavar="N",
        help=f"repeat the {what} with this seed (default: a new seed)",
    )


def json_option(parser: argparse._ActionsContainer, text: str = "print JSON") -> None:
    """--json."""
    parser.add_argument("--json", action="store_true", help=text)
