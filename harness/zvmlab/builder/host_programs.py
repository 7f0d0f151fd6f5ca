# SPDX-License-Identifier: MIT
"""Programs of another Debian suite, made to run on this machine.

They are unpacked into the cache together with the C library and all else they
need, and told (by patchelf) to use these.  Nothing is installed, and the
machine's own libraries may be older.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from zvmlab.base.errors import CannotRun
from zvmlab.base.progress import Progress
from zvmlab.builder.kernel import unpack
from zvmlab.builder.packages import Suite

PATCH_SECONDS = 60


def host_arch() -> str:
    """Debian's name of this machine's architecture."""
    try:
        done = subprocess.run(
            ["dpkg", "--print-architecture"],
            capture_output=True,
            text=True,
            check=True,
            timeout=PATCH_SECONDS,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise CannotRun("dpkg is missing; packages are fetched on Debian only") from error
    return done.stdout.strip()


def unpack_programs(
    suite: Suite,
    names: Sequence[str],
    into: Path,
    final: Path,
    useless: Sequence[str],
    progress: Progress,
) -> None:
    """Unpack these packages and all they depend on below *into*.

    The programs run once *into* has been renamed to *final*, and only there.
    *useless*: patterns, relative to *into*, of what is not kept.
    """
    scratch = into / "debs"
    debs = suite.download_all(names, scratch)
    with progress.step("unpacking", total=len(debs)) as step:
        for number, deb in enumerate(debs, 1):
            unpack(deb, into)
            step.update(number)
    shutil.rmtree(scratch)
    for pattern in useless:
        for path in list(into.glob(pattern)):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
    _relocate(into, final)


def _relocate(root: Path, final: Path) -> None:
    """Have every program below *root* use the loader and the libraries that it came with."""
    triplets = {file.parent.name for file in root.glob("**/lib/*/libc.so.6")}
    if len(triplets) != 1:
        raise CannotRun(f"the unpacked programs come with {len(triplets)} C libraries, not one")
    triplet = triplets.pop()
    folders = [f"{folder}/{triplet}" for folder in ("lib", "usr/lib")]
    path = ":".join(f"{final}/{folder}" for folder in folders)
    for program in _executables(root):
        loader = _patchelf("--print-interpreter", str(program))
        if loader is None:
            continue  # a library that may be executed, or static
        # Not the path it has: that may be a link to this machine's, which takes its own C library only.
        name = Path(loader.strip()).name
        inside = next(
            (way for folder in folders if (root / (way := f"{folder}/{name}")).exists()), ""
        )
        # One after the other: with both at once, patchelf 0.18 spoils programs as large as a compiler.
        steps = (
            ("--force-rpath", "--set-rpath", path),
            ("--set-interpreter", str(final / inside)),
        )
        if not inside or any(_patchelf(*step, str(program)) is None for step in steps):
            raise CannotRun(f"{program.name} cannot be made to use its own {name}")


def _executables(root: Path) -> Iterator[Path]:
    """Programs; the C library can be executed, too, and is none."""
    for file in sorted(root.rglob("*")):
        if ".so" in file.suffixes:
            continue
        if file.is_file() and not file.is_symlink() and os.access(file, os.X_OK):
            with open(file, "rb") as stream:
                if stream.read(4) == b"\x7fELF":
                    yield file


def _patchelf(*arguments: str) -> str | None:
    """Run patchelf; return its output, None if it refuses."""
    try:
        done = subprocess.run(
            ["patchelf", *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=PATCH_SECONDS,
        )
    except FileNotFoundError as error:
        raise CannotRun("patchelf is missing; install the package patchelf") from error
    return done.stdout if done.returncode == 0 else None
