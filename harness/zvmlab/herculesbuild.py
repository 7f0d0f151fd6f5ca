# SPDX-License-Identifier: MIT
"""Building the CP as a module of Debian's Hercules, into the cache.

Hercules itself is the package's, not recompiled.  Its headers come from the
upstream tarball, configured as Debian does it; whether the program agrees with
them, the module finds out when it is loaded.

    hercules-headers-KEY/*.h
    hercules-module-KEY/zvmcp.so       one per state of our sources

``python3 -m zvmlab.herculesbuild`` builds if need be and prints the module's path.
"""

from __future__ import annotations

import collections
import os
import shutil
import sys
from pathlib import Path

from zvmlab.buildstep import run_step
from zvmlab.cache import digest, entry
from zvmlab.errors import CannotRun, ZvmlabError
from zvmlab.progress import Progress
from zvmlab.sourcepackage import Tarball, our_sources

TARBALL = Tarball(
    "hercules",
    "bookworm",
    "hercules_3.13.orig.tar.gz",
    "890c57c558d58708e55828ae299245bd2763318acf53e456a48aac883ecfe67d",
)
PROGRAM = "hercules"
MODULE = "zvmcp.so"
STEP_SECONDS = 600
PARTS = ("cp", "record", "control", "hercules")
FLAGS = ("-std=gnu11", "-O2", "-g", "-fPIC", "-pthread", "-DHAVE_CONFIG_H")
INCLUDES = ("cp/include", "cp", "record", "control", "hercules")
LIBRARIES = ("-ljansson",)


def program() -> Path:
    """Debian's Hercules."""
    found = shutil.which(PROGRAM)
    if found is None:
        raise CannotRun("Hercules is missing; install it with: apt-get install hercules")
    return Path(found)


def sources() -> Path:
    """The folder sim/ of the clone that this package belongs to."""
    folder = Path(__file__).resolve().parents[2] / "sim"
    if not (folder / "hercules" / "module.c").is_file():
        raise CannotRun(f"{folder} has no hercules/; the module is built from a clone of zvmlab")
    return folder


def headers(progress: Progress) -> Path:
    """Hercules' headers, config.h among them."""

    def build(folder: Path) -> None:
        tree, log = folder / "tree", folder / "build.log"
        tree.mkdir()
        unpack = ["tar", "-xf", str(TARBALL.fetch(progress)), "--strip-components=1"]
        with progress.step("configuring Hercules for its headers"):
            for argv in (unpack, ["./configure"]):
                step = run_step("preparing Hercules' headers", argv, tree, log, STEP_SECONDS)
                collections.deque(step, maxlen=0)
        for header in tree.glob("*.h"):
            shutil.copy(header, folder)
        shutil.rmtree(tree)

    return entry("hercules-headers", digest(TARBALL.sha256), build)


def module_key(sim: Path) -> str:
    """Changes with everything that the module is made of."""
    parts: list[str | Path] = [TARBALL.sha256, *FLAGS, *LIBRARIES]
    for part in PARTS:
        for file in our_sources(sim / part):
            parts += [str(file.relative_to(sim)), file]
    return digest(*parts)


def _compile(sim: Path, system: Path, out: Path, progress: Progress) -> None:
    log = out.parent / "build.log"
    files = [f for part in PARTS for f in our_sources(sim / part) if f.suffix == ".c"]
    common = [*FLAGS, *(f"-I{sim / name}" for name in INCLUDES), "-isystem", str(system)]
    objects = []
    what = "building the module for Hercules"
    with progress.step(what, total=len(files)) as step:
        for number, file in enumerate(files, 1):
            made = out.parent / f"{file.parent.name}-{file.stem}.o"
            argv = ["gcc", *common, "-c", "-o", str(made), str(file)]
            collections.deque(run_step(what, argv, sim, log, STEP_SECONDS), maxlen=0)
            objects.append(made)
            step.update(number)
        exports = f"-Wl,--version-script={sim / 'hercules' / 'exports.map'}"
        argv = ["gcc", "-shared", "-pthread", exports, "-o", str(out), *map(str, objects)]
        collections.deque(run_step(what, [*argv, *LIBRARIES], sim, log, STEP_SECONDS), maxlen=0)
    for made in objects:
        made.unlink()


def build_module(progress: Progress | None = None) -> Path:
    """The module made of the sources as they are; built if it is not in the cache."""
    shown = progress or Progress()
    sim = sources()

    def build(folder: Path) -> None:
        if not shutil.which("gcc"):
            raise CannotRun("building the module for Hercules needs: apt-get install gcc")
        _compile(sim, headers(shown), folder / MODULE, shown)

    return entry("hercules-module", module_key(sim), build) / MODULE


def main() -> int:
    """Return: exit code."""
    try:
        print(build_module())
    except ZvmlabError as error:
        print(f"zvmlab: {error}", file=sys.stderr)
        return error.exit_code
    return os.EX_OK


if __name__ == "__main__":
    sys.exit(main())
