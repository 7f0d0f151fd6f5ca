# SPDX-License-Identifier: MIT
"""Names of kernel source trees, and whether one can be built.

    TREE[:CONFIG][:debug]      TREE: a folder, or source:6.1, Debian's source of that series
                               CONFIG: minimal (default), full, or a file, with a "/"
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base.cache import UNFIT
from zvmlab.base.errors import UsageError
from zvmlab.base.hints import did_you_mean

MINIMAL = "minimal"
FULL = "full"
DEBUG_WORD = "debug"
_WORDS = (MINIMAL, FULL, DEBUG_WORD)
_SOURCE = "source"
# What a configuration or a build in the tree itself leaves there; kbuild looks for the same.
_IN_PLACE = (".config", "include/config", "arch/s390/include/generated")
_MOST_OF_MAKEFILE = 4096


@dataclass(frozen=True)
class TreeName:
    """The tree that the user named."""

    place: str
    """The folder, or "source:6.1"."""
    config: str = MINIMAL
    """MINIMAL, FULL, or the path of a file."""
    debug: bool = False

    @property
    def series(self) -> str | None:
        """6.1, if it is Debian's source of that series."""
        kind, _, series = self.place.partition(":")
        return series if kind == _SOURCE and series else None

    @property
    def short(self) -> str:
        """The name in reports: without the folder's own folders."""
        place = self.place if self.series else Path(self.place).expanduser().resolve().name
        config = [] if self.config == MINIMAL else [Path(self.config).name]
        return ":".join([place, *config, *([DEBUG_WORD] if self.debug else [])])

    @property
    def file(self) -> Path | None:
        """The configuration, if it is a file of the user's."""
        return None if self.config in _WORDS else Path(self.config).expanduser().absolute()


def tree_name(name: str) -> TreeName | None:
    """Parse the name of a tree; None if it is none, UsageError if its words are wrong."""
    if Path(name).expanduser().exists():
        return TreeName(name) if is_tree(Path(name).expanduser()) else None
    place, *words = name.split(":")
    if place == _SOURCE and words:
        if not re.fullmatch(r"\d+\.\d+", words[0]):
            raise UsageError(
                f"kernel {name!r}: after 'source:' comes a series that Debian has the source of,"
                " as in source:6.1"
            )
        place, words = f"{place}:{words[0]}", words[1:]
    elif not words or not Path(place).expanduser().is_dir():
        return None
    elif not is_tree(Path(place).expanduser()):
        raise UsageError(
            f"kernel {name!r}: {place} is not a kernel source tree (Makefile, Kconfig)"
        )
    return _with_words(name, place, words)


def _with_words(name: str, place: str, words: list[str]) -> TreeName:
    configs = [word for word in words if word != DEBUG_WORD]
    for word in configs:
        if word not in _WORDS and "/" not in word:
            raise UsageError(
                f"kernel {name!r}: {word!r} is neither {', '.join(_WORDS[:-1])} nor {DEBUG_WORD},"
                f" nor a file with a configuration, named with a '/'{did_you_mean(word, _WORDS)}"
            )
    if len(configs) > 1 or len(words) - len(configs) > 1:
        raise UsageError(
            f"kernel {name!r}: a tree has one configuration (minimal, full or a file), and may be"
            " followed by debug once"
        )
    config = configs[0] if configs else MINIMAL
    found = TreeName(place, config, DEBUG_WORD in words)
    if found.file is not None and not found.file.is_file():
        raise UsageError(f"kernel {name!r}: the configuration {found.file} does not exist")
    return found


def is_tree(folder: Path) -> bool:
    """Is it the top of Linux' source?"""
    return (
        all((folder / name).is_file() for name in ("Makefile", "Kconfig"))
        and (folder / "arch").is_dir()
    )


def series_of(tree: Path) -> str:
    """The series, such as 6.1; UsageError if the tree does not say it."""
    try:
        with open(tree / "Makefile", encoding="utf-8", errors="replace") as file:
            head = file.read(_MOST_OF_MAKEFILE)
    except OSError as error:
        raise UsageError(f"{tree}/Makefile cannot be read: {error.strerror}") from None
    numbers = dict(re.findall(r"^(VERSION|PATCHLEVEL) *= *(\d+)$", head, re.MULTILINE))
    if len(numbers) != 2:
        raise UsageError(f"{tree} is not a kernel source tree: its Makefile has no VERSION")
    return f"{numbers['VERSION']}.{numbers['PATCHLEVEL']}"


def number_of(series: str) -> tuple[int, ...]:
    """A series as it is compared: 6.12 is later than 6.2."""
    return tuple(int(word) for word in series.split("."))


def check_tree(tree: Path) -> str:
    """Its series; UsageError if it cannot be built as it is."""
    unfit = UNFIT.search(str(tree))
    if unfit:
        raise UsageError(
            f"the path of the kernel source tree {str(tree)!r} contains {unfit[0]!r}, and Linux"
            " cannot be built from there; move it, or name it by a path without it"
        )
    if not (tree / "arch/s390/Makefile").is_file():
        raise UsageError(f"{tree} is a kernel source tree without arch/s390, which guests need")
    series = series_of(tree)
    for left in _IN_PLACE:
        if (tree / left).exists():
            raise UsageError(
                f"{tree} has been configured or built in place ({left} is there), and Linux then"
                " refuses to be built elsewhere; save its .config if you need it, and run"
                f" 'make -C {tree} ARCH=s390 mrproper'"
            )
    return series
