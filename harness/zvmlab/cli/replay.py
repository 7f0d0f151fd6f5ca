# SPDX-License-Identifier: MIT
"""``zvmlab replay``: a trace, given to the CP once more without an emulator."""

from __future__ import annotations

import argparse
from typing import Any

from zvmlab.base.progress import Progress
from zvmlab.cli.options import top_command, trace_argument


def add_commands(commands: Any) -> None:
    """replay."""
    parser = top_command(
        commands,
        "replay",
        "  zvmlab replay run/trace.jsonl\n"
        "made by\n"
        "  zvmlab run --trace-data full --keep run -- cat /proc/sysinfo",
    )
    trace_argument(parser)
    parser.set_defaults(command=run_replay)


def run_replay(arguments: argparse.Namespace) -> int:
    """The replayer's exit code: 0 the same, 1 it differs, 2 no trace that can be replayed."""
    from zvmlab.cp.replay import replay  # only this command needs it

    return replay(arguments.file, Progress())
