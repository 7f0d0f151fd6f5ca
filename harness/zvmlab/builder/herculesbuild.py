# SPDX-License-Identifier: MIT
"""Building the CP as a module of Debian's Hercules, into the cache.

Hercules itself is the package's, not recompiled.  Its headers come from the
upstream tarball, configured as Debian does it; whether the program agrees with
them, the module finds out when it is loaded.

    hercules-headers-KEY/*.h
    hercules-core-KEY/libcp.a          one per state of core and control layer
    hercules-module-KEY/zvmcp.so       one per state of all our sources

``python3 -m zvmlab.builder.herculesbuild`` builds if need be and prints the module's path; with
``--lint`` it compiles the port with warnings as errors.
"""

from __future__ import annotations

import collections
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from zvmlab.base.cache import digest, entry
from zvmlab.base.errors import CannotRun, exit_code
from zvmlab.base.progress import Progress
from zvmlab.base.shipped import or_install
from zvmlab.base.tree import TREE
from zvmlab.builder.buildstep import UNTAR, run_step
from zvmlab.builder.module_mk import Module, closure, files, link_options, read
from zvmlab.builder.objects import object_files
from zvmlab.builder.sourcepackage import Tarball

VERSION = "3.13"
TARBALL = Tarball(
    "hercules",
    "bookworm",
    f"hercules_{VERSION}.orig.tar.gz",
    "890c57c558d58708e55828ae299245bd2763318acf53e456a48aac883ecfe67d",
)
MACHINE = "x86_64"
"""As uname(2) has it.  The module redirects functions of Hercules, and reads fault codes, as x86-64 has them."""
PROGRAM = "hercules"
MODULE = "zvmcp.so"
_MODULE_KIND = "hercules-module"
STEP_SECONDS = 600
ARCHIVE = "libcp.a"
PORT = "sim/hercules"
WHAT = "building the module for Hercules"
FLAGS = ("-std=gnu11", "-O2", "-g", "-fPIC", "-pthread", "-DHAVE_CONFIG_H")
# What of the project's warnings Hercules' macros let pass; they hand string literals around.
WARNINGS = (
    *("-Wall", "-Wextra", "-Wshadow", "-Wstrict-prototypes", "-Wmissing-prototypes"),
    *("-Wold-style-definition", "-Wpointer-arith", "-Wvla", "-Wundef", "-Wformat=2"),
    *("-Wimplicit-fallthrough", "-Wnull-dereference", "-Werror"),
)


def check_machine() -> None:
    """CannotRun if our module is not for this machine."""
    machine = os.uname().machine
    if machine != MACHINE:
        raise CannotRun(
            f"the CP runs in Hercules on x86-64 only, and this machine is {machine};"
            " use QEMU (--backend qemu)"
        )


def program() -> Path:
    """Debian's Hercules."""
    check_machine()
    found = shutil.which(PROGRAM)
    if found is None:
        raise CannotRun("Hercules is missing; install it with: apt-get install hercules")
    return Path(found)


def sources() -> Path:
    """The clone that this package belongs to."""
    if not (TREE / PORT / "module.c").is_file():
        raise CannotRun(f"{TREE} has no {PORT}; only a clone of zvmlab can build the module")
    return TREE


def headers(progress: Progress) -> Path:
    """Hercules' headers, config.h among them."""

    def build(folder: Path) -> None:
        tree, log = folder / "tree", folder / "build.log"
        tree.mkdir()
        unpack = [*UNTAR, str(TARBALL.fetch(progress)), "--strip-components=1"]
        with progress.step("configuring Hercules for its headers"):
            for argv in (unpack, ["./configure"]):
                step = run_step("preparing Hercules' headers", argv, tree, log, STEP_SECONDS)
                collections.deque(step, maxlen=0)
        for header in tree.glob("*.h"):
            shutil.copy(header, folder)
        shutil.rmtree(tree)

    return entry("hercules-headers", digest(TARBALL.sha256), build)


def core(root: Path) -> list[Module]:
    """The folders that the port uses: core and control layer."""
    return closure(root, PORT)[1:]


def core_key(root: Path) -> str:
    """Changes with everything that core and control layer are made of."""
    return _key(root, core(root))


def module_key(root: Path) -> str:
    """Changes with everything that the module is made of."""
    return _key(root, closure(root, PORT))


def module_entry(root: Path) -> str:
    """The module's folder in the cache."""
    return f"{_MODULE_KIND}-{module_key(root)}"


def _key(root: Path, modules: Sequence[Module]) -> str:
    words: list[str | Path] = [TARBALL.sha256, *FLAGS]
    for file in files(root, modules):
        words += [str(file.relative_to(root)), file]
    return digest(*words)


def _core(root: Path, progress: Progress) -> Path:
    """Core and control layer as an archive."""

    def build(folder: Path) -> None:
        with progress.step("building the CP for Hercules") as step:
            objects = object_files(WHAT, root, core(root), folder, FLAGS, step)
            argv = ["ar", "rcs", str(folder / ARCHIVE), *objects]
            collections.deque(run_step(WHAT, argv, root, folder / "log", STEP_SECONDS), maxlen=0)
        for name in objects:
            Path(name).unlink()

    return entry("hercules-core", lambda: core_key(root), build, ARCHIVE)


def build_module(progress: Progress | None = None) -> Path:
    """The module made of the sources as they are; built if it is not in the cache."""
    check_machine()
    shown = progress or Progress()
    root = sources()

    def build(folder: Path) -> None:
        if not shutil.which("gcc"):
            raise CannotRun(
                "building the module for Hercules needs: apt-get install gcc"
                f"{or_install('zvmlab-hercules')}"
            )
        archive = _core(root, shown)
        modules = closure(root, PORT)
        flags = [*FLAGS, "-isystem", str(headers(shown))]
        exports = f"-Wl,--version-script={root / PORT / 'exports.map'}"
        with shown.step(WHAT) as step:
            objects = object_files(WHAT, root, modules[:1], folder, flags, step)
            argv = ["gcc", "-shared", "-pthread", exports, "-o", str(folder / MODULE), *objects]
            argv += ["-Wl,--whole-archive", str(archive), "-Wl,--no-whole-archive"]
            argv += link_options(modules)
            collections.deque(run_step(WHAT, argv, root, folder / "log", STEP_SECONDS), maxlen=0)
        for name in objects:
            Path(name).unlink()

    return entry(_MODULE_KIND, lambda: module_key(root), build, MODULE)


def lint(progress: Progress) -> None:
    """Compile the port with warnings as errors."""
    with tempfile.TemporaryDirectory() as folder, progress.step("checking sim/hercules") as step:
        flags = [*FLAGS, *WARNINGS, "-isystem", str(headers(progress))]
        object_files(WHAT, sources(), [read(sources(), PORT)], Path(folder), flags, step)


def main(arguments: Sequence[str]) -> None:
    """Print the module's path; with --lint, only check its sources."""
    if list(arguments) == ["--lint"]:
        lint(Progress(quiet=True))
    else:
        print(build_module())


if __name__ == "__main__":
    sys.exit(exit_code(lambda: main(sys.argv[1:])))
