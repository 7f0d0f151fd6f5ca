# SPDX-License-Identifier: MIT
"""A kernel that looks for mistakes of drivers, built from Debian's kernel source.

    kernel = debug_kernel("debug")       # what resolve("debug") and --kernel debug give

`guest/debug.config` says what is in it.  The cache entry is laid out as a kernel
package is:

    boot/vmlinuz-VERSION, config-VERSION, System.map-VERSION
    lib/modules/VERSION/                 its modules, modules.builtin
    lib/modules/VERSION/build            KDIR of external modules: make -C … M=$PWD ARCH=s390
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
from zvmlab.build.kernel import ARCH, DEBUG, Kernel, unpack, unpacked
from zvmlab.build.packages import DAY, Suite

CONFIG = TREE / "guest" / "debug.config"
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
    recipe = " ".join((*MAKE, *TARGETS, *KDIR_PARTS, RECIPE))
    key = digest(source.sha256, CONFIG, compiler_version(), recipe)
    folder = entry(
        "debugkernel", f"{source.version}-{key}", lambda into: _build(source, into, key, shown)
    )
    return unpacked(name, folder)


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


def _build(source: _Source, into: Path, key: str, progress: Progress) -> None:
    """Fill the cache entry."""
    missing = [package for tool, package in TOOLS.items() if not shutil.which(tool)]
    if missing:
        raise CannotRun(f"building the debug kernel needs: apt-get install {' '.join(missing)}")
    # The entry's folder is gone after a failure; the log must not be.
    log = cache_root() / f"debugkernel-{key}.log"
    log.unlink(missing_ok=True)
    tree = into / "tree"
    tree.mkdir()
    with progress.step(f"unpacking the source of Linux {source.version}"):
        tarball = cache_root() / _kept(source) / source.tarball
        unpack_argv = ["tar", "-xf", str(tarball), "--strip-components=1"]
        _run(unpack_argv, tree, log, _UNPACK_SECONDS)
        patch(tree)
    _configure(tree, log)
    cpus = len(os.sched_getaffinity(0))
    text = f"building the debug kernel {source.version}, with {cpus} CPUs"
    with progress.step(text, _BUILD_LINES) as step:
        _run([*MAKE, f"-j{cpus}", *TARGETS], tree, log, _BUILD_SECONDS, step)
        # depmod is not needed: the harness reads the modules themselves.
        install = f"INSTALL_MOD_PATH={into}"
        _run([*MAKE, "modules_install", install, "DEPMOD=true"], tree, log, _CONFIG_SECONDS)
    _arrange(tree, into)
    unpacked("debug", into)  # nothing incomplete enters the cache
    log.replace(into / "build.log")


def _configure(tree: Path, log: Path) -> None:
    """Our lines and nothing else; Linux drops what depends on something missing: not here."""
    _run([*MAKE, f"KCONFIG_ALLCONFIG={CONFIG}", "allnoconfig"], tree, log, _CONFIG_SECONDS)
    lost = lost_lines(
        CONFIG.read_text(encoding="utf-8"), (tree / ".config").read_text(encoding="utf-8")
    )
    if lost:
        raise ZvmlabError(
            f"{CONFIG} does not fit this kernel: its configuration drops {', '.join(lost)}"
        )


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


def _run(argv: list[str], cwd: Path, log: Path, seconds: int, step: Step | None = None) -> None:
    """A step in an environment in which no setting of the user's reaches make."""
    env = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    lines: Iterator[str] = run_step("building the debug kernel", argv, cwd, log, seconds, env)
    if step is None:
        collections.deque(lines, maxlen=0)
        return
    for done, _ in enumerate(lines, 1):
        step.update(done)
