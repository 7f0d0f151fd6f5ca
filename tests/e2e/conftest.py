# SPDX-License-Identifier: MIT
"""What the end-to-end tests share: programs for the guest, built once into the cache."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from zvmlab.cache import digest, entry
from zvmlab.errors import CannotRun

HERE = Path(__file__).parent
CC = "s390x-linux-gnu-gcc"
STATIC = ("-static", "-O2", "-Wall", "-Wextra", "-Werror")
# No operating system below: EBCDIC strings for CP, no floating-point registers.
BARE = (
    *("-O2", "-march=z10", "-msoft-float", "-ffreestanding", "-fexec-charset=IBM037"),
    *("-fno-pic", "-no-pie", "-nostdlib", "-static", "-Wl,-Ttext=0x10000,--build-id=none"),
    *("-Wall", "-Wextra", "-Werror"),
)

Build = Callable[[str], Path]


def _compile(name: str, flags: tuple[str, ...], sources: list[Path]) -> Path:
    def build(into: Path) -> None:
        command = [CC, *flags, "-o", str(into / name), *map(str, sources)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        except FileNotFoundError as error:
            raise CannotRun(f"{CC} is missing; install gcc-s390x-linux-gnu") from error
        assert done.returncode == 0, done.stderr

    version = subprocess.run([CC, "-dumpfullversion"], capture_output=True, check=True).stdout
    return entry("program", digest(name, *flags, version, *sources), build) / name


@pytest.fixture(scope="session")
def program() -> Build:
    """Builds programs/NAME.c for the guest (static); returns the executable."""
    return lambda name: _compile(name, STATIC, [HERE / "programs" / f"{name}.c"])


@pytest.fixture(scope="session")
def bare() -> Build:
    """Builds bare/NAME.c, which runs without an operating system; returns the kernel image."""
    return lambda name: _compile(name, BARE, [HERE / "bare/start.S", HERE / f"bare/{name}.c"])
