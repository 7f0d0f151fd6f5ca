# SPDX-License-Identifier: MIT
"""``zvmlab redeliver``: recorded monitor data, delivered to a running guest once more."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from zvmlab.base.errors import EXIT_PASS, UsageError
from zvmlab.cli.options import monwrite_option, running_guest, running_option, seconds, top_command
from zvmlab.cli.tools import REQUEST_SECONDS
from zvmlab.cp.control import Control

_DAY = 86400.0
_SECONDS = 60.0


def add_commands(commands: Any) -> None:
    """redeliver."""
    parser = top_command(
        commands,
        "redeliver",
        "  zvmlab redeliver capture\n"
        "  zvmlab redeliver --monwrite monitor.data --pace max\n"
        "  zvmlab redeliver --monwrite monitor.data --pace 60 --guest g1a2b3",
    )
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="a stream of /dev/monreader, or a MONWRITE file"
    )
    add = parser.add_argument
    monwrite_option(parser)
    add(
        "--pace",
        default="original",
        metavar="original|N|max",
        help="deliver in original time, N times faster, or as fast as possible"
        " (default: original)",
    )
    running_option(parser)
    add(
        "--timeout",
        type=seconds,
        default=_SECONDS,
        metavar="S",
        help=f"time limit for a reader to connect, and to reply (default: {_SECONDS:g})",
    )
    parser.set_defaults(command=run_redeliver)


def _number(text: str, most: float) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 < value <= most else None


def speed(text: str) -> float | None:
    """The speed of --pace; None: as fast as possible."""
    if text == "max":
        return None
    value = 1.0 if text == "original" else _number(text, 1e6)
    if value is None:
        raise UsageError(f"invalid --pace: {text} (original, max, or a factor such as 60)")
    return value


def run_redeliver(arguments: argparse.Namespace) -> int:
    """Deliver the recording, and print the counts."""
    from zvmlab.mondata.recorded import recorded  # only this command needs them
    from zvmlab.monitor.redeliver import Redelivery

    pace = speed(arguments.pace)
    found = running_guest(arguments)
    with Control.connect(found.control, REQUEST_SECONDS) as control:
        redelivery = Redelivery(control, pace, arguments.timeout)
        count = redelivery.run(recorded(arguments.file, arguments.monwrite))
    print(f"{count.sets} sets, {count.size} bytes of records")
    return EXIT_PASS
