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
    gcov/                                of the coverage kernel: linux_files() and the compiler's
                                         notes of them (*.gcno), and where they were built (tree)
    build.log

Building it takes minutes, once for every state of source, configuration and
compiler.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from zvmlab.base.cache import digest, entry
from zvmlab.base.errors import ZvmlabError
from zvmlab.base.progress import Progress
from zvmlab.builder import kbuild
from zvmlab.builder.image import compiler_version
from zvmlab.builder.kbuild import (
    BUILD_SECONDS,
    COMMON,
    CONFIG_SECONDS,
    MAKE,
    TARGETS,
    cpus,
    lost_lines,
    need_tools,
    run,
)
from zvmlab.builder.kernel_patches import RECIPE, patch
from zvmlab.builder.kernel import COVERAGE, DEBUG, Kernel, unpacked
from zvmlab.builder.linux_files import GCOV, counting, keep_notes, linux_files
from zvmlab.builder.linux_source import Source, newest, unpack_tarball

KDIR_PARTS = (
    *("Makefile", ".config", "Module.symvers", "include", "scripts"),
    *("arch/s390/Makefile", "arch/s390/include"),
)
"""What the build of an external module reads of the kernel's tree."""
# What make says, in lines; for the progress bar only.
_BUILD_LINES = 1150


def debug_kernel(name: str, progress: Progress | None = None) -> Kernel:
    """The debug kernel of that name (a key of kernels.DEBUG), built if it is not in the cache."""
    shown = progress or Progress()
    source = newest(DEBUG[name], shown)
    build = _Build(name, source, shown)
    folder = entry("debugkernel", f"{source.version}-{build.key}", build.into)
    return unpacked(name, folder)


class _Build:
    """The build of one of these kernels."""

    def __init__(self, name: str, source: Source, progress: Progress) -> None:
        self._name = name
        self._what = f"building the {name} kernel"
        self._source = source
        self._progress = progress
        self._counted = [file.path for file in linux_files()] if name == COVERAGE else []
        self._make = (*MAKE, *counting(self._counted))
        self._configs = (kbuild.CONFIGS / COMMON, kbuild.CONFIGS / f"{name}.config")
        recipe = " ".join((*self._make, *TARGETS, *KDIR_PARTS, RECIPE))
        self.key = digest(source.sha256, *self._configs, compiler_version(), recipe)

    def into(self, into: Path) -> None:
        """Fill the cache entry."""
        need_tools(self._what)
        log = into / "build.log"
        tree = into / "tree"
        tree.mkdir()
        with self._progress.step(f"unpacking the source of Linux {self._source.version}"):
            unpack_tarball(self._source, tree, log)
            patch(tree)
        self._configure(tree, log)
        text = f"{self._what} {self._source.version}, with {cpus()} CPUs"
        with self._progress.step(text, _BUILD_LINES) as step:
            run(self._what, [*self._make, f"-j{cpus()}", *TARGETS], tree, log, BUILD_SECONDS, step)
            # depmod is not needed: the harness reads the modules themselves.
            install = f"INSTALL_MOD_PATH={into}"
            argv = [*self._make, "modules_install", install, "DEPMOD=true"]
            run(self._what, argv, tree, log, CONFIG_SECONDS)
        if self._counted:
            for path in keep_notes(self._counted, tree, [tree], into / GCOV):
                raise ZvmlabError(f"the coverage kernel has not compiled {path}")
        _arrange(tree, into)
        unpacked(self._name, into)  # nothing incomplete enters the cache

    def _configure(self, tree: Path, log: Path) -> None:
        """Our lines and nothing else; Linux drops what depends on something missing: not here."""
        wanted = "".join(config.read_text(encoding="utf-8") for config in self._configs)
        ours = tree / "zvmlab.config"
        ours.write_text(wanted, encoding="utf-8")
        argv = [*self._make, f"KCONFIG_ALLCONFIG={ours}", "allnoconfig"]
        run(self._what, argv, tree, log, CONFIG_SECONDS)
        lost = lost_lines(wanted, (tree / ".config").read_text(encoding="utf-8"))
        if lost:
            names = " and ".join(str(config) for config in self._configs)
            raise ZvmlabError(
                f"{names} do not fit this kernel: its configuration drops {', '.join(lost)}"
            )


def _arrange(tree: Path, into: Path) -> None:
    """Lay out the built tree as a kernel package, without the rest of it."""
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
