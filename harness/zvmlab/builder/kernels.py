# SPDX-License-Identifier: MIT
"""Guest kernels: by Debian suite, by series number, or from local files.

    kernel = resolve("trixie")        # also "6.12", "debug", a kernel image, a build's folder,
                                      # a kernel source tree, "source:6.12"
    print(kernel.version, kernel.image)

A suite's newest kernel is taken from its signed index, unpacked into the cache
once, and looked for again after a day.  When the index or the package cannot be
fetched, the newest kernel that the cache has of the suite is used; if it has none,
a suite stands in that has the same series, and that is said.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
from pathlib import Path

from zvmlab.base.cache import cache_root, entries, entry, usable
from zvmlab.base.errors import CannotRun, UsageError
from zvmlab.base.hints import did_you_mean
from zvmlab.base.home import from_home
from zvmlab.base.progress import Progress
from zvmlab.builder import tree_config
from zvmlab.builder.debugkernel import debug_kernel
from zvmlab.builder.elf import is_linux
from zvmlab.builder.kernel import (
    ARCH,
    DEBIAN,
    DEBUG,
    REPLACED,
    SERIES,
    STANDS_IN,
    SUITES,
    Kernel,
    judges,
    module_trees,
    replaced_files,
    unpack,
    unpacked,
)
from zvmlab.builder.kernel_tree import tree_kernel
from zvmlab.builder.tree_name import DEBUG_WORD, nearest, number_of, tree_name
from zvmlab.builder.packages import DAY, HOUR, Suite

_IMAGE = r"linux-image-\d[^-]*(-\d+)?-s390x"
_PARTS = ("linux-binary-", "linux-modules-", "linux-base-")
_LOCAL_IMAGES = (
    "vmlinuz",
    "bzImage",
    "arch/s390/boot/bzImage",
    "boot/vmlinuz",
    "boot/vmlinuz-*",
    "vmlinuz-*",
    "boot/bzImage",
)


def resolve(name: str, modules: Path | None = None, progress: Progress | None = None) -> Kernel:
    """The kernel of that suite, series number or path.

    *modules*: the directory lib/modules/VERSION that belongs to an image file.
    """
    check_name(name)
    shown = progress or Progress()
    return _with_replaced(_resolved(name, modules, shown))


def _with_replaced(kernel: Kernel) -> Kernel:
    """The same with the modules that the environment names in place of its own."""
    files = replaced_files()
    if not files or kernel.modules is None:
        return kernel
    from zvmlab.builder.modules import available, module_name  # which most guests need not import

    there = available(kernel)
    for file in files:
        if not file.is_file():
            raise UsageError(f"{REPLACED} names {file}, which does not exist")
        if module_name(file) not in there:
            raise UsageError(
                f"{REPLACED} names {file}, but kernel {kernel} has no module {module_name(file)}"
            )
    return kernel._replace(replaced=tuple(files))


def _resolved(name: str, modules: Path | None, shown: Progress) -> Kernel:
    """The kernel as it is."""
    if name in DEBIAN:
        return _of_suite(name, shown)
    if name in DEBUG:
        return debug_kernel(name, shown)
    if _is_series(name):
        return _of_series(name, shown)
    tree = tree_name(name)
    if tree is not None:
        return tree_kernel(tree, shown, lambda series: _debian_config(series, shown))
    path = from_home(name).absolute()
    if path.is_dir():
        return _of_folder(path, modules)
    if modules is not None and not modules.is_dir():
        raise UsageError(f"the folder of modules {modules} does not exist")
    return Kernel(modules.name if modules else path.name, "local", path, modules)


def check_name(name: str) -> None:
    """UsageError if no kernel can have that name; nothing is fetched or built for it."""
    if name in DEBIAN or name in DEBUG or _is_series(name) or tree_name(name) is not None:
        return
    path = from_home(name)
    if path.is_file():
        is_linux(path.absolute())
    elif not path.is_dir():
        raise UsageError(
            f"kernel '{name}' is neither a suite ({', '.join(SUITES)}), nor {' nor '.join(DEBUG)},"
            " nor a series such as 6.1, nor an existing kernel image or folder, nor a kernel source"
            f" tree (a folder, or source:6.1){did_you_mean(name, [*SUITES, *DEBUG])}"
        )


def _is_series(name: str) -> bool:
    return re.fullmatch(r"\d+\.\d+", name) is not None


def suite_in_use(name: str) -> str:
    """The suite that stands in for this one at the moment; otherwise *name*."""
    noted = _noted(name) if name in STANDS_IN else None
    return name if noted is None else noted.suite


def defects_of(name: str) -> set[str]:
    """Under which names the known defects of that kernel stand.

    A suite has those of the one that stands in for it, too, a debug kernel those of the suite
    that it is built from, and a source tree those of the suite whose series it is of.  What only
    checks see stands under "debug", and if not all series have it, under "bookworm:debug".
    """
    suites = {suite_in_use(name), DEBUG.get(name, name)}
    with contextlib.suppress(UsageError):  # what is wrong with it is told when it is built
        tree = tree_name(name)
        if tree is not None:
            suites |= _suites_of(tree.release)
    seen = {DEBUG_WORD, *(f"{suite}:{DEBUG_WORD}" for suite in suites - {name})}
    return {name, *suites, *(seen if judges(name) else ())}


def leaves_out(name: str, option: str) -> bool:
    """Is *option*, such as INET, off in that kernel because its configuration, ours, does not name it?"""
    if name in DEBUG:
        series = next(series for series, suite in SERIES.items() if suite == DEBUG[name])
        name = f"source:{series}:{name}"
    with contextlib.suppress(UsageError):  # what is wrong with it is told when it is built
        tree = tree_name(name)
        return tree is not None and tree_config.leaves_out(tree, option)
    return False


def _suites_of(series: str) -> set[str]:
    """The suite with that series, as far as is known without a network."""
    if series in SERIES:
        return {SERIES[series]}
    newest = _noted(SUITES[-1])
    return {SUITES[-1]} if newest is not None and newest.version.startswith(f"{series}.") else set()


def suite_of(series: str) -> str:
    """The suite whose kernel is the nearest to that series, and not newer if there is one."""
    if number_of(series) > max(map(number_of, SERIES)):
        return SUITES[-1]
    return SERIES[nearest(series, SERIES)]


def _debian_config(series: str, progress: Progress) -> str:
    """The configuration of that suite's kernel."""
    kernel = _of_suite(suite_of(series), progress)
    assert kernel.modules is not None
    for file in (kernel.image.with_name(f"config-{kernel.version}"), kernel.modules / "config"):
        if file.is_file():
            return file.read_text(encoding="utf-8")
    raise CannotRun(f"Debian's kernel {kernel} comes without its configuration")


def _of_series(series: str, progress: Progress) -> Kernel:
    suite = SERIES.get(series, "sid")
    kernel = _of_suite(suite, progress)
    if not kernel.version.startswith(series + "."):
        raise UsageError(
            f"no Debian suite has a kernel {series}: {suite} has {kernel.version};"
            f" choose one of {', '.join(SUITES)}"
        )
    return kernel


def _of_folder(folder: Path, modules: Path | None) -> Kernel:
    images = [found for pattern in _LOCAL_IMAGES for found in sorted(folder.glob(pattern))]
    if not images:
        raise UsageError(
            f"{folder} holds no kernel image (vmlinuz, boot/vmlinuz-*, bzImage …), and is no kernel"
            " source tree (Makefile, Kconfig, arch/)"
        )
    is_linux(images[0])
    trees = [modules] if modules else module_trees(folder)
    version = images[0].name.removeprefix("vmlinuz").lstrip("-")
    fitting = [tree for tree in trees if tree.name == version] or trees
    if len(fitting) > 1:
        raise UsageError(
            f"{folder} holds modules of several kernels"
            f" ({', '.join(tree.name for tree in fitting)}); name one kernel image"
        )
    if fitting:
        version = fitting[0].name
    return Kernel(version or folder.name, "local", images[0], fitting[0] if fitting else None)


def _of_suite(name: str, progress: Progress) -> Kernel:
    noted = _noted(name)
    if noted is not None:
        return noted
    try:
        suite = Suite(name, ARCH, progress=progress)
        current = suite.update()
        folder = _fetch(suite, progress)
    except CannotRun as error:
        kept = sorted(filter(usable, entries(f"kernel-{name}")), key=lambda f: f.stat().st_mtime)
        if not kept:
            return _stand_in(name, error, progress)
        kernel = unpacked(name, kept[-1])
        progress.say(f"using the kernel {kernel.version} of {name} from the cache: {error}")
        return kernel
    if current:
        _note(name, folder.name)
    return unpacked(name, folder)


def _stand_in(name: str, error: CannotRun, progress: Progress) -> Kernel:
    """The kernel of another suite with the same series, for an hour; else *error*."""
    if name not in STANDS_IN:
        raise error
    progress.say(f"{error}; using the kernel of {STANDS_IN[name]} instead")
    kernel = _of_suite(STANDS_IN[name], progress)
    found = _note_file(kernel.suite)
    if found.exists():
        _note(name, found.read_text(encoding="ascii"), age=DAY - HOUR)
    return kernel


def _note_file(suite: str) -> Path:
    return cache_root() / f"kernel-of-{suite}"


def _note(suite: str, folder: str, age: float = 0) -> None:
    """Note the version found for the suite, as of *age* seconds ago."""
    noted = _note_file(suite)
    scratch = noted.with_name(f".{noted.name}.{os.getpid()}")
    scratch.write_text(folder, encoding="ascii")
    then = time.time() - age
    os.utime(scratch, (then, then))
    scratch.replace(noted)


def _noted(suite: str) -> Kernel | None:
    """The version noted last time, if the note is recent and complete."""
    file = _note_file(suite)
    try:
        name = file.read_text(encoding="ascii").strip()
        old = time.time() - file.stat().st_mtime >= DAY
    except (OSError, ValueError):
        return None
    for source in (suite, STANDS_IN.get(suite, suite)):
        folder = cache_root() / name
        if name.startswith(f"kernel-{source}-") and "/" not in name and usable(folder) and not old:
            return unpacked(source, folder)
    return None


def _fetch(suite: Suite, progress: Progress) -> Path:
    """Unpack the suite's newest kernel into the cache; return the entry."""
    images = suite.find(_IMAGE)
    if not images:
        raise CannotRun(f"Debian's {suite.name} has no kernel for {ARCH}")
    newest = images[-1]
    parts = [name for name in suite.depends(newest.name) if name.startswith(_PARTS)]
    version = newest.name.removeprefix("linux-image-")

    def build(folder: Path) -> None:
        debs = folder / "debs"
        debs.mkdir()
        for name in parts or [newest.name]:
            deb = suite.download(name, debs)
            with progress.step(f"unpacking {deb.name}"):
                unpack(deb, folder)
        shutil.rmtree(debs)
        shutil.rmtree(folder / "usr" / "share", ignore_errors=True)
        unpacked(suite.name, folder)  # nothing incomplete enters the cache

    return entry("kernel", f"{suite.name}-{version}_{newest.version}", build)
