# SPDX-License-Identifier: MIT
"""Kernels that look for mistakes of drivers, or count lines, built from Debian's kernel source.

    kernel = debug_kernel("debug")       # what resolve("debug") and --kernel debug give
    kernel = debug_kernel("coverage")

`guest/kernel.config` says what is in both, `guest/debug.config` and
`guest/coverage.config` what one has beside that.  The cache entry is laid out as a
kernel package is:

    boot/vmlinuz-VERSION, config-VERSION, System.map-VERSION
    lib/modules/VERSION/                 its modules, modules.builtin
    lib/modules/VERSION/build            KDIR of external modules: make -C … M=$PWD ARCH=s390
    gcov/                                of the coverage kernel: the compiler's notes (*.gcno) of
                                         linux_files(), and where they were built (tree)
    build.log

Building it takes minutes, once for every state of source, configuration and
compiler.  When Debian's index cannot be read, the source found last is used.
"""

from __future__ import annotations

import collections
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base.cache import cache_root, digest, entry, usable
from zvmlab.base.errors import CannotRun, ZvmlabError
from zvmlab.base.progress import Progress, Step
from zvmlab.base.tree import TREE
from zvmlab.build.buildstep import run_step
from zvmlab.build.image import COMPILER, compiler_version
from zvmlab.build.kernel_patches import RECIPE, patch
from zvmlab.build.kernel import ARCH, COVERAGE, DEBUG, Kernel, unpack, unpacked
from zvmlab.build.linux_files import NOTES, counting, linux_files
from zvmlab.build.packages import DAY, Suite

CONFIGS = TREE / "guest"
"""Folder of the configurations."""
COMMON = "kernel.config"
GCOV = "gcov"
BUILT_IN = "tree"
"""File in GCOV that names the folder in which the sources were compiled."""
TOOLS = {
    "bc": "bc",
    "bison": "bison",
    "flex": "flex",
    "gcc": "gcc",
    "make": "make",
    "xz": "xz-utils",
    COMPILER: "gcc-s390x-linux-gnu",
}
# The same sources give the same kernel, whoever builds it and when.
MAKE = (
    *("make", "ARCH=s390", f"CROSS_COMPILE={COMPILER.removesuffix('gcc')}", "LOCALVERSION="),
    *("KBUILD_BUILD_USER=zvmlab", "KBUILD_BUILD_HOST=zvmlab", "KBUILD_BUILD_VERSION=1"),
    "KBUILD_BUILD_TIMESTAMP=Thu Jan  1 00:00:00 UTC 1970",
)
TARGETS = ("bzImage", "modules")
KDIR_PARTS = (
    *("Makefile", ".config", "Module.symvers", "include", "scripts"),
    *("arch/s390/Makefile", "arch/s390/include"),
)
"""What the build of an external module reads of the kernel's tree."""
_PACKAGE = r"linux-source-\d+\.\d+"
_UNPACK_SECONDS = 900
_CONFIG_SECONDS = 300
_BUILD_SECONDS = 3 * 3600
# What make says, in lines; for the progress bar only.
_BUILD_LINES = 1150


@dataclass(frozen=True)
class _Source:
    """Debian's package of a kernel's source."""

    package: str
    version: str
    sha256: str

    @property
    def tarball(self) -> str:
        """Where the tarball is in the unpacked package."""
        return f"usr/src/{self.package}.tar.xz"


def debug_kernel(name: str, progress: Progress | None = None) -> Kernel:
    """The debug kernel of that name (a key of kernels.DEBUG), built if it is not in the cache."""
    shown = progress or Progress()
    source = _newest(DEBUG[name], shown)
    build = _Build(name, source, shown)
    folder = entry("debugkernel", f"{source.version}-{build.key}", build.into)
    return unpacked(name, folder)


def gcov_folder(kernel: Kernel) -> Path | None:
    """Where the notes of a coverage kernel are; None for other kernels."""
    folder = kernel.image.parent.parent / GCOV
    return folder if (folder / BUILT_IN).is_file() else None


def kernel_source(suite: str, progress: Progress) -> Path:
    """The tarball of the suite's newest kernel source, in the cache."""
    source = _newest(suite, progress)
    return cache_root() / _kept(source) / source.tarball


def _newest(suite: str, progress: Progress) -> _Source:
    """The suite's newest kernel source, looked for once a day."""
    noted = cache_root() / f"debug-source-of-{suite}"
    old, age = _noted(noted)
    kept = old is not None and usable(cache_root() / _kept(old), old.tarball)
    if old is not None and kept and age < DAY:
        return old
    try:
        archive = Suite(suite, ARCH, progress=progress)
        current = archive.update()
        found = archive.find(_PACKAGE)
    except CannotRun as error:
        if old is None or not kept:
            raise
        progress.say(f"using the kernel source {old.version} of {suite}: {error}")
        return old
    if not found:
        raise CannotRun(f"Debian's {suite} has no package linux-source-VERSION")
    source = _Source(found[-1].name, found[-1].version, found[-1].sha256)
    _unpacked_source(archive, source)
    if current:
        scratch = noted.with_name(f".{noted.name}.{os.getpid()}")
        scratch.write_text(f"{source.package} {source.version} {source.sha256}", encoding="ascii")
        scratch.replace(noted)
    return source


def _noted(file: Path) -> tuple[_Source | None, float]:
    """The source that was found last time, and how many seconds ago."""
    try:
        words = file.read_text(encoding="ascii").split()
        return (_Source(*words) if len(words) == 3 else None), time.time() - file.stat().st_mtime
    except (OSError, ValueError):
        return None, 0.0


def _kept(source: _Source) -> str:
    return f"linux-source-{source.sha256[:16]}"


def _unpacked_source(archive: Suite, source: _Source) -> None:
    """Fetch the package into the cache and take the tarball out of it."""

    def fetch(folder: Path) -> None:
        deb = archive.download(source.package, folder)
        if archive.package(source.package).sha256 != source.sha256:
            raise CannotRun(f"Debian replaced {source.package} just now; try again")
        unpack(deb, folder)
        deb.unlink()

    kind, _, key = _kept(source).rpartition("-")
    entry(kind, key, fetch, source.tarball)


class _Build:
    """How one of the kernels is built."""

    def __init__(self, name: str, source: _Source, progress: Progress) -> None:
        self._name = name
        self._source = source
        self._progress = progress
        self._counted = linux_files() if name == COVERAGE else []
        self._make = (*MAKE, *counting(self._counted))
        self._configs = (CONFIGS / COMMON, CONFIGS / f"{name}.config")
        recipe = " ".join((*self._make, *TARGETS, *KDIR_PARTS, RECIPE))
        self.key = digest(source.sha256, *self._configs, compiler_version(), recipe)

    def into(self, into: Path) -> None:
        """Fill the cache entry."""
        missing = [package for tool, package in TOOLS.items() if not shutil.which(tool)]
        if missing:
            raise CannotRun(
                f"building the {self._name} kernel needs: apt-get install {' '.join(missing)}"
            )
        log = into / "build.log"
        tree = into / "tree"
        tree.mkdir()
        with self._progress.step(f"unpacking the source of Linux {self._source.version}"):
            tarball = cache_root() / _kept(self._source) / self._source.tarball
            unpack_argv = ["tar", "-xf", str(tarball), "--strip-components=1"]
            self._run(unpack_argv, tree, log, _UNPACK_SECONDS)
            patch(tree)
        self._configure(tree, log)
        cpus = len(os.sched_getaffinity(0))
        text = f"building the {self._name} kernel {self._source.version}, with {cpus} CPUs"
        with self._progress.step(text, _BUILD_LINES) as step:
            self._run([*self._make, f"-j{cpus}", *TARGETS], tree, log, _BUILD_SECONDS, step)
            # depmod is not needed: the harness reads the modules themselves.
            install = f"INSTALL_MOD_PATH={into}"
            argv = [*self._make, "modules_install", install, "DEPMOD=true"]
            self._run(argv, tree, log, _CONFIG_SECONDS)
        if self._counted:
            self._keep_notes(tree, into / GCOV)
        _arrange(tree, into)
        unpacked(self._name, into)  # nothing incomplete enters the cache

    def _configure(self, tree: Path, log: Path) -> None:
        """Our lines and nothing else; Linux drops what depends on something missing: not here."""
        wanted = "".join(config.read_text(encoding="utf-8") for config in self._configs)
        ours = tree / "zvmlab.config"
        ours.write_text(wanted, encoding="utf-8")
        argv = [*self._make, f"KCONFIG_ALLCONFIG={ours}", "allnoconfig"]
        self._run(argv, tree, log, _CONFIG_SECONDS)
        lost = lost_lines(wanted, (tree / ".config").read_text(encoding="utf-8"))
        if lost:
            names = " and ".join(str(config) for config in self._configs)
            raise ZvmlabError(
                f"{names} do not fit this kernel: its configuration drops {', '.join(lost)}"
            )

    def _keep_notes(self, tree: Path, gcov: Path) -> None:
        """What gcov needs beside the counts, and where the kernel says that these belong."""
        for file in self._counted:
            notes = tree / file.path.with_suffix(NOTES)
            if not notes.is_file():
                raise ZvmlabError(f"the coverage kernel has not compiled {file.path}")
            kept = gcov / file.path.with_suffix(NOTES)
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(notes, kept)
        (gcov / BUILT_IN).write_text(f"{tree}\n", encoding="utf-8")

    def _run(
        self, argv: list[str], cwd: Path, log: Path, seconds: int, step: Step | None = None
    ) -> None:
        """A step in an environment in which no setting of the user's reaches make."""
        env = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
        what = f"building the {self._name} kernel"
        lines: Iterator[str] = run_step(what, argv, cwd, log, seconds, env)
        if step is None:
            collections.deque(lines, maxlen=0)
            return
        for done, _ in enumerate(lines, 1):
            step.update(done)


def lost_lines(wanted: str, made: str) -> list[str]:
    """Settings of *wanted* that the configuration *made* does not have."""
    have = set(made.splitlines())
    lines = [line for line in wanted.splitlines() if line.startswith(("CONFIG_", "# CONFIG_"))]
    return [
        line
        for line in lines
        # What depends on something that is off is not mentioned: it is off, too.
        if line not in have
        and not (line.startswith("#") and f"\n{line.split()[1]}=" not in f"\n{made}")
    ]


def _arrange(tree: Path, into: Path) -> None:
    """What is kept of the built tree, laid out as a kernel package."""
    version = (tree / "include/config/kernel.release").read_text(encoding="ascii").strip()
    boot = into / "boot"
    boot.mkdir()
    for part, name in (
        ("arch/s390/boot/bzImage", "vmlinuz"),
        (".config", "config"),
        ("System.map", "System.map"),
    ):
        shutil.copy2(tree / part, boot / f"{name}-{version}")
    modules = into / "lib" / "modules" / version
    for link in ("build", "source"):
        (modules / link).unlink(missing_ok=True)
    for part in KDIR_PARTS:
        target = modules / "build" / part
        target.parent.mkdir(parents=True, exist_ok=True)
        (tree / part).rename(target)
    shutil.rmtree(tree)
