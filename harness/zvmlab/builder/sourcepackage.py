# SPDX-License-Identifier: MIT
"""Upstream tarballs out of Debian's source packages, in the cache, pinned by their hash."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base.cache import entry
from zvmlab.base.errors import CannotRun
from zvmlab.base.progress import Progress
from zvmlab.builder.host_programs import host_arch
from zvmlab.builder.packages import Suite

SOURCES = frozenset({".c", ".h", ".def", ".py", ".json", ".build", ".map", ".mk", ".toml"})


def our_sources(folder: Path) -> Iterator[Path]:
    """Our source files below *folder*, in a fixed order; what tools hide there is none."""
    for file in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
        if file.suffix in SOURCES and not hidden and file.is_file():
            yield file


@dataclass(frozen=True)
class Tarball:
    """One file of a source package.

    *later* is a pattern for the files of later point releases, which serve as well if the
    suite has no other any more.  No hash is known of them: it is apt that has checked them.

    The archive may have the file, and not what the suite lists.  Then it is fetched by its name,
    and only with this hash.
    """

    package: str
    suite: str
    file: str
    sha256: str
    later: str = ""

    def _from_suite(self, suite: Suite, folder: Path) -> CannotRun | None:
        """Fetch what the suite lists.  Return: why that does not serve, or None."""
        file = folder / self.file
        try:
            found = suite.download_source(self.package, folder)
        except CannotRun as error:
            file.unlink(missing_ok=True)
            return error
        later = sorted(folder.glob(self.later)) if self.later else []
        if not file.is_file() and len(later) == 1:
            later[0].rename(file)
            return None
        if not file.is_file():
            names = ", ".join(f.name for f in found)
            return CannotRun(f"Debian's {self.suite} has {names} instead of {self.file}")
        with open(file, "rb") as stream:
            sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
        if sha256 != self.sha256:
            raise CannotRun(f"{self.file} has the hash {sha256} instead of {self.sha256}")
        return None

    def fetch(self, progress: Progress) -> Path:
        """The file in the cache, its hash checked."""

        def download(folder: Path) -> None:
            suite = Suite(self.suite, host_arch(), source=True, progress=progress)
            suite.update()
            lacking = self._from_suite(suite, folder)
            if lacking is None:
                return
            try:
                suite.download_known(self.package, self.file, self.sha256, folder)
            except CannotRun as error:
                raise lacking from error

        return entry(f"{self.package}-source", self.sha256[:16], download, self.file)
