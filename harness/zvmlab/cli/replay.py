# SPDX-License-Identifier: MIT
"""``zvmlab replay``: traces, given to the CP once more without an emulator."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from zvmlab.base.progress import Progress
from zvmlab.cli.options import top_command


def add_commands(commands: Any) -> None:
    """replay."""
    parser = top_command(
        commands,
        "replay",
        "  zvmlab replay run/trace.jsonl\n"
        "made by\n"
        "  zvmlab run --trace-data full --keep run -- cat /proc/sysinfo\n"
        "or the traces of all machines of a system:\n"
        "  zvmlab replay ALICE/trace.jsonl BOB/trace.jsonl",
    )
    parser.add_argument(
        "files",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="trace.jsonl of a guest, or those of all guests of a system",
    )
    parser.set_defaults(command=run_replay)


def run_replay(arguments: argparse.Namespace) -> int:
    """The replayer's exit code: 0 the same, 1 it differs, 2 no trace that can be replayed."""
    from zvmlab.cp.replay import replay  # only this command needs it

    return replay(arguments.files, Progress())
