# SPDX-License-Identifier: MIT
"""Linux' source, out of Debian's packages linux-source-VERSION, in the cache.

    source = newest("bookworm", progress)
    tarball(source)                      # as Debian packs it
    source_tree("6.12", progress)        # a source tree, which nobody writes to

A suite's package is looked for once a day; when the index cannot be read, the source found last
is used.
"""

from __future__ import annotations

import collections
import os
import time
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base.cache import cache_root, entry, usable
from zvmlab.base.errors import CannotRun, UsageError
from zvmlab.base.progress import Progress
from zvmlab.builder.buildstep import UNTAR, run_step
from zvmlab.builder.kernel import ARCH, SERIES, STANDS_IN, SUITES, unpack
from zvmlab.builder.packages import DAY, Suite

UNPACK_SECONDS = 900
_PACKAGE = r"linux-source-\d+\.\d+"


@dataclass(frozen=True)
class Source:
    """Debian's package of a kernel's source."""

    package: str
    version: str
    sha256: str

    @property
    def tarball(self) -> str:
        """The path of the tarball in the unpacked package."""
        return f"usr/src/{self.package}.tar.xz"


def tarball(source: Source) -> Path:
    """The path of the tarball in the cache."""
    return cache_root() / _kept(source) / source.tarball


def unpack_tarball(source: Source, tree: Path, log: Path) -> None:
    """Fill the folder *tree*."""
    argv = [*UNTAR, str(tarball(source)), "--strip-components=1"]
    what = f"unpacking the source of Linux {source.version}"
    collections.deque(run_step(what, argv, tree, log, UNPACK_SECONDS), maxlen=0)


def source_tree(series: str, progress: Progress) -> tuple[Path, str]:
    """The source tree of Debian's linux-source-SERIES in the cache, and the package's version."""
    source = _of_series(series, progress)

    def fill(folder: Path) -> None:
        with progress.step(f"unpacking the source of Linux {source.version}"):
            tree = folder / "linux"
            tree.mkdir()
            unpack_tarball(source, tree, folder / "unpack.log")
            (folder / "unpack.log").unlink()

    folder = entry("linux-tree", f"{series}-{source.sha256[:16]}", fill, vast=True)
    return folder / "linux", source.version


def _of_series(series: str, progress: Progress) -> Source:
    suite = SERIES.get(series, SUITES[-1])
    try:
        source = newest(suite, progress)
    except CannotRun as error:
        if suite not in STANDS_IN:
            raise
        progress.say(f"{error}; using the source of {STANDS_IN[suite]} instead")
        source = newest(STANDS_IN[suite], progress)
    if source.package != f"linux-source-{series}":
        possible = ", ".join(f"source:{known}" for known in SERIES)
        raise UsageError(
            f"Debian's {suite} has {source.package}, and no suite has linux-source-{series}"
            f" (possible: {possible}, source:{source.package.rpartition('-')[2]})"
        )
    return source


def kernel_source(suite: str, progress: Progress) -> Path:
    """The tarball of the suite's newest kernel source, in the cache."""
    return tarball(newest(suite, progress))


def newest(suite: str, progress: Progress) -> Source:
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
    source = Source(found[-1].name, found[-1].version, found[-1].sha256)
    _fetch(archive, source)
    if current:
        scratch = noted.with_name(f".{noted.name}.{os.getpid()}")
        scratch.write_text(f"{source.package} {source.version} {source.sha256}", encoding="ascii")
        scratch.replace(noted)
    return source


def _noted(file: Path) -> tuple[Source | None, float]:
    """The source that was found last time, and how many seconds ago."""
    try:
        words = file.read_text(encoding="ascii").split()
        return (Source(*words) if len(words) == 3 else None), time.time() - file.stat().st_mtime
    except (OSError, ValueError):
        return None, 0.0


def _kept(source: Source) -> str:
    return f"linux-source-{source.sha256[:16]}"


def _fetch(archive: Suite, source: Source) -> None:
    """Fetch the package into the cache and take the tarball out of it."""

    def fetch(folder: Path) -> None:
        deb = archive.download(source.package, folder)
        if archive.package(source.package).sha256 != source.sha256:
            raise CannotRun(f"Debian replaced {source.package} just now; try again")
        unpack(deb, folder)
        deb.unlink()

    kind, _, key = _kept(source).rpartition("-")
    entry(kind, key, fetch, source.tarball)
