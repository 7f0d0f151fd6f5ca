# SPDX-License-Identifier: MIT
"""tools/taskmon in a guest, for its tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

from zvmlab.agent.results import RunResult
from zvmlab.build.guesttools import tool
from zvmlab.guest.guest import Guest

Row = dict[str, Any]
Taskmon = Callable[..., RunResult]

EXIT_FAILED, EXIT_USAGE, EXIT_CANNOT_RUN = 1, 2, 77


def install(guest: Guest) -> Taskmon:
    """taskmon(ARGUMENT…) in a guest; an earlier test of a warm one may have put it there."""
    for path, file in tool("taskmon").items():
        there = guest.agent.open(path)
        if not there.errno:
            guest.agent.close(there.ret).check()
            continue
        folder = str(PurePosixPath(path).parent)
        guest.agent.mkdir(folder)
        guest.agent.write_file(path, file.read_bytes(), 0o755)
    return lambda *arguments, **options: guest.agent.run(
        ["/bin/taskmon", *arguments], timeout=120, **options
    )


def rows(output: bytes) -> list[Row]:
    """What --format json wrote."""
    return [json.loads(line) for line in output.decode().splitlines() if line.startswith("{")]


def total(output: bytes) -> Row:
    """The summary's last line, of --format json."""
    found = [row for row in rows(output) if row.get("cpu") == "all"]
    assert len(found) == 1, output.decode()
    return found[0]
