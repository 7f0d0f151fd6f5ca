# SPDX-License-Identifier: MIT
"""Guest kernels: by Debian suite, by series number, or from local files.

    kernel = resolve("trixie")        # also "6.12", "debug", a kernel image, a build's folder
    print(kernel.version, kernel.image)

A suite's newest kernel is taken from its signed index, unpacked into the cache
once, and looked for again after a day.  When the index or the package cannot be
fetched, the newest kernel that the cache has of the suite is used.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from pathlib import Path

from zvmlab.base.cache import cache_root, entries, entry, usable
from zvmlab.base.errors import CannotRun, UsageError
from zvmlab.base.hints import did_you_mean
from zvmlab.base.progress import Progress
from zvmlab.build.debugkernel import debug_kernel
from zvmlab.build.elf import is_linux
from zvmlab.build.kernel import ARCH, DEBUG, Kernel, module_trees, unpack, unpacked
from zvmlab.build.packages import DAY, Suite

SUITES = ("bookworm", "trixie", "sid")
_SERIES = {"6.1": "bookworm", "6.12": "trixie"}
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
    shown = progress or Progress()
    if name in SUITES:
        return _of_suite(name, shown)
    if name in DEBUG:
        return debug_kernel(name, shown)
    if re.fullmatch(r"\d+\.\d+", name):
        return _of_series(name, shown)
    path = Path(name).expanduser()
    if path.is_dir():
        return _of_folder(path.absolute(), modules)
    if path.is_file():
        if modules is not None and not modules.is_dir():
            raise UsageError(f"the folder of modules {modules} does not exist")
        image = path.absolute()
        is_linux(image)
        return Kernel(modules.name if modules else image.name, "local", image, modules)
    raise UsageError(
        f"kernel '{name}' is neither a suite ({', '.join(SUITES)}), nor {' nor '.join(DEBUG)},"
        " nor a series such as 6.1, nor an existing kernel image or folder"
        f"{did_you_mean(name, [*SUITES, *DEBUG])}"
    )


def _of_series(series: str, progress: Progress) -> Kernel:
    suite = _SERIES.get(series, "sid")
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
        raise UsageError(f"{folder} holds no kernel image (vmlinuz, boot/vmlinuz-*, bzImage …)")
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
    noted = cache_root() / f"kernel-of-{name}"
    with_date = _noted(noted, name)
    if with_date is not None and time.time() - with_date[1] < DAY:
        return unpacked(name, with_date[0])
    try:
        suite = Suite(name, ARCH, progress=progress)
        current = suite.update()
        folder = _fetch(suite, progress)
    except CannotRun as error:
        kept = sorted(filter(usable, entries(f"kernel-{name}")), key=lambda f: f.stat().st_mtime)
        if not kept:
            raise
        kernel = unpacked(name, kept[-1])
        progress.say(f"using the kernel {kernel.version} of {name} from the cache: {error}")
        return kernel
    if current:
        scratch = noted.with_name(f".{noted.name}.{os.getpid()}")
        scratch.write_text(folder.name, encoding="ascii")
        scratch.replace(noted)
    return unpacked(name, folder)


def _noted(file: Path, suite: str) -> tuple[Path, float] | None:
    """The cache's entry that was found last time, and when that was; None if it is not whole."""
    try:
        name = file.read_text(encoding="ascii").strip()
        if not name.startswith(f"kernel-{suite}-") or "/" in name:
            return None
        folder = cache_root() / name
        return (folder, file.stat().st_mtime) if usable(folder) else None
    except (OSError, ValueError):
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
