# SPDX-License-Identifier: MIT
"""tools/taskmon in a guest, for its tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

from zvmlab.agent.results import RunResult
from zvmlab.builder.guesttools import tool
from zvmlab.guest.guest import Guest

Row = dict[str, Any]
Taskmon = Callable[..., RunResult]

Script = Callable[..., bytes]
"""Lines for programs/taskstats.c to what it and what it has run wrote."""

START = ("open 0", "force 8388608", "family")
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
    """The rows of --format json."""
    return [json.loads(line) for line in output.decode().splitlines() if line.startswith("{")]


def total(output: bytes) -> Row:
    """The summary's last line, of --format json."""
    found = [row for row in rows(output) if row.get("cpu") == "all"]
    assert len(found) == 1, output.decode()
    return found[0]


def scripts(guest: Guest, program: Callable[[str], Path]) -> Script:
    """script(LINE…, FILE=LINES) in a guest; FILEs are in /tmp."""
    guest.agent.write_file("/tmp/taskstats", program("taskstats").read_bytes(), 0o755)

    def run(*lines: str, **files: tuple[str, ...]) -> bytes:
        for name, content in files.items():
            text = "".join(f"{one}\n" for one in content).encode()
            guest.agent.write_file(f"/tmp/{name}", text, 0o644)
        text = "".join(f"{line}\n" for line in lines).encode()
        return guest.agent.run(["/tmp/taskstats"], stdin=text, timeout=100).check().stdout

    return run
