# SPDX-License-Identifier: MIT
"""A guest kernel, and how it comes out of Debian's packages."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

from zvmlab.base.errors import CannotRun
from zvmlab.builder.tree_name import CHECKS, COVERAGE_WORD, DEBUG_WORD

SUITES = ("bookworm", "trixie", "sid")
STANDS_IN = {"trixie": "bookworm-backports"}
"""Where Debian builds a suite's kernel as well: a mirror can be without the suite for hours."""
DEBIAN = (*SUITES, *STANDS_IN.values())
SERIES = {"6.1": "bookworm", "6.12": "trixie"}
"""The suite of a series that stays; all others come and go with the newest suite."""
COVERAGE = COVERAGE_WORD
DEBUG = {"debug": "bookworm", COVERAGE: "bookworm"}
"""Debug kernels by name: the suite whose kernel source they are built from."""
DEBUG_SLOWNESS = 4.0
"""For whole tests, which mostly wait; single calls take longer still (docs/debug-kernel.md)."""
ARCH = "s390x"
_UNPACK_SECONDS = 300
REPLACED = "ZVMLAB_REPLACED_MODULES"
"""Variable of the environment: .ko files, with colons between them, that take the place of the
kernel's own modules in every guest."""


class Kernel(NamedTuple):
    """A kernel and its modules."""

    version: str
    """As uname -r says it; of an image without modules, its file name."""
    suite: str
    """Debian suite, a key of DEBUG, a source tree and its state ("linux@1a2b3c4d"), or "local"."""
    image: Path
    modules: Path | None
    """The directory lib/modules/VERSION, if there is one."""
    work: Path | None = None
    """Where a kernel from a source tree is built, as long as that is at the same state."""
    replaced: tuple[Path, ...] = ()
    """Modules that take the place of its own of the same names."""

    def __str__(self) -> str:
        return f"{self.version} ({self.suite})"


def replaced_files() -> list[Path]:
    """The .ko files that the environment names."""
    return [Path(word) for word in os.environ.get(REPLACED, "").split(":") if word]


def is_debug(name: str) -> bool:
    """Is it built by us to look for mistakes, or to count lines?  Also of a source tree."""
    return has_checks(name) or counts_lines(name)


def has_checks(name: str) -> bool:
    """Is it built by us to look for mistakes?"""
    return name == DEBUG_WORD or any(word in CHECKS for word in name.split(":")[1:])


def judges(name: str) -> bool:
    """Has it all checks?"""
    return DEBUG_WORD in (name, *name.split(":")[1:])


def counts_lines(name: str) -> bool:
    """Is it built by us to count which lines run?"""
    words = [word.partition("=")[0] for word in name.split(":")[1:]]
    return name == COVERAGE or COVERAGE in words


def is_large(name: str) -> bool:
    """Has it both these checks and Debian's, or somebody's own, configuration?"""
    words = [word for word in name.split(":")[1:] if "=" not in word]
    return has_checks(name) and any(word == "full" or "/" in word for word in words)


def slowness(name: str) -> float:
    """Factor by which tests take longer on this kernel than on Debian's."""
    return DEBUG_SLOWNESS if is_debug(name) else 1.0


def module_trees(root: Path) -> list[Path]:
    """Directories lib/modules/VERSION below *root*."""
    found = [*root.glob("lib/modules/*"), *root.glob("usr/lib/modules/*")]
    return sorted({tree.resolve() for tree in found if (tree / "kernel").is_dir()})


def unpack(deb: Path, folder: Path) -> None:
    """dpkg -x with a time limit and a sentence."""
    try:
        subprocess.run(
            ["dpkg", "-x", str(deb), str(folder)],
            check=True,
            capture_output=True,
            text=True,
            timeout=_UNPACK_SECONDS,
        )
    except FileNotFoundError as error:
        raise CannotRun("dpkg is missing; Debian packages are unpacked on Debian only") from error
    except subprocess.SubprocessError as error:
        reason = str(getattr(error, "stderr", "") or error).strip().splitlines()[-1:]
        raise CannotRun(f"{deb.name} cannot be unpacked: {''.join(reason)}") from error


def unpacked(suite: str, folder: Path) -> Kernel:
    """The unpacked contents of a cache entry."""
    trees = module_trees(folder)
    if len(trees) == 1:
        version = trees[0].name
        for image in (folder / "boot" / f"vmlinuz-{version}", trees[0] / "vmlinuz"):
            if image.is_file():
                return Kernel(version, suite, image, trees[0])
    raise CannotRun(f"{folder} is not a Debian kernel package; remove it and try again")
