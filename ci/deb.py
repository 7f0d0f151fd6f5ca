# SPDX-License-Identifier: MIT
"""Debian packages of this clone: built, checked by lintian, and then put into build/deb.

``deb.py --build FOLDER`` copies what git knows of the clone, and calls dpkg-buildpackage there.  FOLDER/deb is
replaced when all packages are complete and lintian has nothing against them; until then, and
after an error, it is as it was.  FOLDER/deb.log has what the build said.
"""

from __future__ import annotations

import argparse
import collections
import errno
import fcntl
import shutil
import subprocess
import sys
from pathlib import Path

from zvmlab.base.errors import CannotRun, ZvmlabError, exit_code
from zvmlab.base.progress import Progress
from zvmlab.base.tree import TREE
from zvmlab.builder.buildstep import run_step
from zvmlab.cli.ship import PACKAGES

BUILD_SECONDS = 3600
LINTIAN_SECONDS = 900
_FULL = "No space left on device"
_BUILD = ("dpkg-buildpackage", "--build=binary", "--unsigned-changes", "--no-check-builddeps")
_LINTIAN = ("lintian", "--allow-root", "--fail-on", "error,warning", "--info")
_GIT_SECONDS = 60


def sources(root: Path) -> list[str]:
    """Files of the clone that git knows, as seen from it."""
    argv = ["git", "-C", str(root), "ls-files", "-z"]
    try:
        done = subprocess.run(argv, capture_output=True, timeout=_GIT_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise CannotRun(
            f"{root} is no clone of zvmlab, or git is missing; 'dpkg-buildpackage -b' builds the"
            " packages of an unpacked source package"
        ) from error
    return [name for name in done.stdout.decode().split("\0") if name]


def _copy(root: Path, into: Path) -> None:
    for name in sources(root):
        if (root / name).is_file():
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, into / name)


def _build(root: Path, scratch: Path, log: Path, progress: Progress) -> list[Path]:
    """The packages, which lintian has nothing against, in *scratch*."""
    tree = scratch / "zvmlab"
    _copy(root, tree)
    with progress.step("building Debian packages") as step:
        commands = 0
        for line in run_step("building packages", _BUILD, tree, log, BUILD_SECONDS):
            commands += line.startswith("   dh_")
            step.update(commands)
    changes = next(scratch.glob("*.changes"))
    with progress.step("checking them with lintian"):
        step_lines = run_step("lintian", [*_LINTIAN, str(changes)], scratch, log, LINTIAN_SECONDS)
        collections.deque(step_lines, maxlen=0)
    return sorted(scratch.glob("*.*deb"))


def _full(error: Exception, log: Path) -> str:
    """Find the message of a full disk in the output, or nothing."""
    if isinstance(error, OSError):
        if error.errno != errno.ENOSPC:
            return ""
        return f"{error.filename2 or error.filename or log}: {_FULL}"
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    said = [line.strip() for line in [*lines, str(error)] if _FULL in line]
    return said[0] if said else ""


def _replace(packages: list[Path], scratch: Path, final: Path) -> None:
    """*final* has these packages, and no others, from one moment to the next."""
    new, old = scratch / "new", scratch / "old"
    new.mkdir()
    for package in packages:
        package.rename(new / package.name)
    if final.exists():
        final.rename(old)
    new.rename(final)


def build(root: Path, folder: Path, progress: Progress) -> Path:
    """The folder with the packages."""
    final, scratch, log = folder / "deb", folder / ".deb", folder / "deb.log"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / ".deb.lock", "w", encoding="ascii") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise CannotRun(f"another 'make deb' is building in {folder}") from error
            shutil.rmtree(scratch, ignore_errors=True)
            try:
                log.unlink(missing_ok=True)
                scratch.mkdir()
                _replace(_build(root, scratch, log, progress), scratch, final)
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
    except (OSError, ZvmlabError) as error:
        full = _full(error, log)
        if full:
            raise CannotRun(
                f"a disk is full ({full}); free some space, or name a folder on another disk by"
                f" BUILD=DIR and ZVMLAB_CACHE=DIR; {final} is as it was"
            ) from error
        if isinstance(error, OSError):
            raise CannotRun(f"cannot build in {folder}: {error.strerror}") from error
        raise
    return final


def main(words: list[str]) -> None:
    """Print the packages with their sizes."""
    options = argparse.ArgumentParser(allow_abbrev=False)
    options.add_argument("--build", type=Path, default=Path("build"), metavar="FOLDER")
    given = options.parse_args(words)
    progress = Progress()
    # First what takes longest; the packages' build finds it in the cache.
    for builders in PACKAGES.values():
        for builder in builders:
            builder(progress)
    folder = build(TREE, given.build.absolute(), progress)
    for package in sorted(folder.iterdir()):
        print(f"{package.stat().st_size / 1e6:7.2f} MB  {package}")


if __name__ == "__main__":
    sys.exit(exit_code(lambda: main(sys.argv[1:]), "make deb"))
