# SPDX-License-Identifier: MIT
"""Building the CP as a module of Debian's Hercules, into the cache.

Hercules itself is the package's, not recompiled.  Its headers come from the
upstream tarball, configured as Debian does it; whether the program agrees with
them, the module finds out when it is loaded.

    hercules-headers-KEY/*.h
    hercules-core-KEY/libcp.a          one per state of core and control layer
    hercules-module-KEY/zvmcp.so       one per state of all our sources

``python3 -m zvmlab.build.herculesbuild`` builds if need be and prints the module's path; with
``--lint`` it compiles the port with warnings as errors.
"""

from __future__ import annotations

import collections
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from zvmlab.base.cache import digest, entry
from zvmlab.base.errors import CannotRun, exit_code
from zvmlab.base.progress import Progress, Step
from zvmlab.base.tree import TREE
from zvmlab.build.buildstep import run_step
from zvmlab.build.sourcepackage import Tarball, our_sources

VERSION = "3.13"
TARBALL = Tarball(
    "hercules",
    "bookworm",
    f"hercules_{VERSION}.orig.tar.gz",
    "890c57c558d58708e55828ae299245bd2763318acf53e456a48aac883ecfe67d",
)
PROGRAM = "hercules"
MODULE = "zvmcp.so"
_MODULE_KIND = "hercules-module"
STEP_SECONDS = 600
ARCHIVE = "libcp.a"
CORE = ("lib/base", "sim/cp", "sim/record", "sim/control")
PORT = "sim/hercules"
WHAT = "building the module for Hercules"
FLAGS = ("-std=gnu11", "-O2", "-g", "-fPIC", "-pthread", "-DHAVE_CONFIG_H")
INCLUDES = ("lib/base", "sim/cp/include", "sim/cp", "sim/record", "sim/control", "sim/hercules")
LIBRARIES = ("-ljansson", "-lz")
# What of the project's warnings Hercules' macros let pass; they hand string literals around.
WARNINGS = (
    *("-Wall", "-Wextra", "-Wshadow", "-Wstrict-prototypes", "-Wmissing-prototypes"),
    *("-Wold-style-definition", "-Wpointer-arith", "-Wvla", "-Wundef", "-Wformat=2"),
    *("-Wimplicit-fallthrough", "-Wnull-dereference", "-Werror"),
)


def program() -> Path:
    """Debian's Hercules."""
    found = shutil.which(PROGRAM)
    if found is None:
        raise CannotRun("Hercules is missing; install it with: apt-get install hercules")
    return Path(found)


def sources() -> Path:
    """The clone that this package belongs to."""
    if not (TREE / PORT / "module.c").is_file():
        raise CannotRun(f"{TREE} has no {PORT}; the module is built from a clone of zvmlab")
    return TREE


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


def core_key(root: Path) -> str:
    """Changes with everything that core and control layer are made of."""
    return _key(root, CORE)


def module_key(root: Path) -> str:
    """Changes with everything that the module is made of."""
    return _key(root, (*CORE, PORT))


def module_entry(root: Path) -> str:
    """The module's folder in the cache."""
    return f"{_MODULE_KIND}-{module_key(root)}"


def _key(root: Path, parts: Sequence[str]) -> str:
    words: list[str | Path] = [TARBALL.sha256, *FLAGS, *LIBRARIES]
    for part in parts:
        for file in our_sources(root / part):
            words += [str(file.relative_to(root)), file]
    return digest(*words)


def _compile(root: Path, parts: Sequence[str], into: Path, more: list[str], step: Step) -> list[str]:
    """Object files of the C files of these parts, made by as many compilers as there are CPUs."""
    files = [f for part in parts for f in our_sources(root / part) if f.suffix == ".c"]
    flags = [*FLAGS, *(f"-I{root / name}" for name in INCLUDES), *more]

    def compile_one(file: Path) -> str:
        made = into / f"{file.parent.name}-{file.stem}.o"
        log = made.with_suffix(".log")
        argv = ["gcc", *flags, "-c", "-o", str(made), str(file)]
        collections.deque(run_step(WHAT, argv, root, log, STEP_SECONDS), maxlen=0)
        log.unlink()
        return str(made)

    made = []
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for number, name in enumerate(pool.map(compile_one, files), 1):
            made.append(name)
            step.update(number, len(files))
    return made


def _core(root: Path, progress: Progress) -> Path:
    """Core and control layer as an archive."""

    def build(folder: Path) -> None:
        with progress.step("building the CP for Hercules") as step:
            objects = _compile(root, CORE, folder, [], step)
            argv = ["ar", "rcs", str(folder / ARCHIVE), *objects]
            collections.deque(run_step(WHAT, argv, root, folder / "log", STEP_SECONDS), maxlen=0)
        for name in objects:
            Path(name).unlink()

    return entry("hercules-core", core_key(root), build, ARCHIVE)


def build_module(progress: Progress | None = None) -> Path:
    """The module made of the sources as they are; built if it is not in the cache."""
    shown = progress or Progress()
    root = sources()

    def build(folder: Path) -> None:
        if not shutil.which("gcc"):
            raise CannotRun("building the module for Hercules needs: apt-get install gcc")
        core = _core(root, shown)
        system = ["-isystem", str(headers(shown))]
        exports = f"-Wl,--version-script={root / PORT / 'exports.map'}"
        with shown.step(WHAT) as step:
            objects = _compile(root, (PORT,), folder, system, step)
            argv = ["gcc", "-shared", "-pthread", exports, "-o", str(folder / MODULE), *objects]
            argv += ["-Wl,--whole-archive", str(core), "-Wl,--no-whole-archive", *LIBRARIES]
            collections.deque(run_step(WHAT, argv, root, folder / "log", STEP_SECONDS), maxlen=0)
        for name in objects:
            Path(name).unlink()

    return entry(_MODULE_KIND, module_key(root), build, MODULE)


def lint(progress: Progress) -> None:
    """Compile the port with warnings as errors."""
    with tempfile.TemporaryDirectory() as folder, progress.step("checking sim/hercules") as step:
        more = [*WARNINGS, "-isystem", str(headers(progress))]
        _compile(sources(), (PORT,), Path(folder), more, step)


def main(arguments: Sequence[str]) -> None:
    """Print the module's path; with --lint, only check its sources."""
    if list(arguments) == ["--lint"]:
        lint(Progress(quiet=True))
    else:
        print(build_module())


if __name__ == "__main__":
    sys.exit(exit_code(lambda: main(sys.argv[1:])))
