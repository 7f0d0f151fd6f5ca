# SPDX-License-Identifier: MIT
"""``zvmlab replay``: a trace, given to the CP once more without an emulator."""

from __future__ import annotations

import argparse
import stat
from pathlib import Path
from typing import Any

from zvmlab.base.errors import UsageError
from zvmlab.base.progress import Progress
from zvmlab.cli import redeliver
from zvmlab.cli.options import command, say, trace_argument

_TRACE_BEGINS = b'{"'


def add_commands(commands: Any) -> None:
    """replay."""
    made = command(
        commands,
        "replay",
        "run CP again on a trace, without an emulator, and compare the traces",
        "  zvmlab replay run/trace.jsonl\n"
        "made by\n"
        "  zvmlab run --trace-data full --keep run -- cat /proc/sysinfo",
    )
    trace_argument(made)
    # Up to version 0.1 this was the command that is redeliver now.
    redeliver.add_options(made, hidden=True)
    made.set_defaults(command=run_replay)


def is_trace(path: Path) -> bool:
    """Does the file begin as a trace does?  Monitor data begin with a binary number."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return False
        with path.open("rb") as file:
            return file.read(len(_TRACE_BEGINS)) == _TRACE_BEGINS
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


def run_replay(arguments: argparse.Namespace) -> int:
    """The replayer's exit code: 0 the same, 1 it differs, 2 no trace that can be replayed."""
    from zvmlab.cp.replay import replay  # only this command needs it

    if redeliver.has_options(arguments) or not is_trace(arguments.file):
        say(f"{arguments.file} is taken as monitor data: zvmlab replay is now zvmlab redeliver")
        return redeliver.run_redeliver(arguments)
    return replay(arguments.file, Progress())
