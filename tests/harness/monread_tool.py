# SPDX-License-Identifier: MIT
"""monread for tests on this machine, and data for it."""

from __future__ import annotations

import fcntl
import functools
import os
import subprocess
from pathlib import Path

from zvmlab.mondata.records import SAMPLE, Element, Mce, Part, Record

ROOT = Path(__file__).parents[2]
START = 0x9000000
SECONDS = 60
TOD = (2208988800 + 1234567890) * 1000000 * 4096 + 4096 * 250
END = Record(1, 11)


def build_monread() -> Path:
    """The program, with sanitizers; made once, for all processes that run tests."""
    return build_tool("monread")


@functools.cache
def build_tool(name: str) -> Path:
    """One of the tools, likewise.  Where ZVMLAB_TOOLS says, it has been made before."""
    if made := os.environ.get("ZVMLAB_TOOLS"):
        return Path(made, name)
    build = ROOT / "build/unit"
    argv = ["make", "-s", "-C", str(ROOT), "BUILD=build", f"build/unit/{name}"]
    build.mkdir(parents=True, exist_ok=True)
    with open(build / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(argv, check=True, timeout=540, capture_output=True)
    return build / name


def part(*records: Record, type: int = SAMPLE, start: int = START) -> Part:
    """An element at that address."""
    made = Element.of(records, type, start % 4096)
    return Part(Mce(type, made.domains, 0, start, start + len(made.data) - 1), made.data)


def stream(*parts: Part) -> bytes:
    """The stream as the device gives it."""
    return b"".join(one.mce.encode() + one.data for one in parts)


def run(program: Path, *words: str | Path, data: bytes = b"") -> subprocess.CompletedProcess[str]:
    """With *data* on standard input."""
    done = subprocess.run(
        [program, *words], input=data, capture_output=True, timeout=SECONDS, check=False
    )
    text = [done.stdout.decode(), done.stderr.decode()]
    return subprocess.CompletedProcess(done.args, done.returncode, *text)


def user(name: str) -> Record:
    """D4R5, of a user."""
    return Record(4, 5, TOD, name.encode("cp037").ljust(8, b"\x40") + bytes([0, 3]) + bytes(6))
