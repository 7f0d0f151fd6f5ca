# SPDX-License-Identifier: MIT
"""Programs that measure, and print a JSON line for each measurement."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from zvmlab.base.errors import CannotRun, ZvmlabError

Row = dict[str, float]


def rows(program: Path, timeout: float, *arguments: float | str) -> list[Row]:
    """The program's output, measurement by measurement."""
    try:
        done = subprocess.run(
            [program, *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
        )
    except FileNotFoundError as error:
        raise CannotRun(f"{program} is missing; run make {program}") from error
    if done.returncode != 0:
        raise ZvmlabError(f"{program} failed: {done.stderr.strip()}")
    return [json.loads(line) for line in done.stdout.splitlines()]
