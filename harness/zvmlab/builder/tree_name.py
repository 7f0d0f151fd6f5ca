# SPDX-License-Identifier: MIT
"""Names of kernel source trees, and whether one can be built.

    TREE[:CONFIG][:debug|:fuzz][:coverage]

    TREE      a folder, or source:6.1, Debian's source of that series
    CONFIG    minimal (default), full, or a file, with a "/"
    debug     with all checks; fuzz: with those that find much and cost little
    coverage  counts which lines of Linux' code for z/VM run; coverage=net/core/sock.c also those
              of that file
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from zvmlab.base.cache import UNFIT
from zvmlab.base.errors import UsageError
from zvmlab.base.hints import did_you_mean
from zvmlab.base.home import from_home

MINIMAL = "minimal"
FULL = "full"
DEBUG_WORD = "debug"
FUZZ_WORD = "fuzz"
CHECKS = (DEBUG_WORD, FUZZ_WORD)
"""Words of kernels that look for mistakes."""
COVERAGE_WORD = "coverage"
_CONFIGS = (MINIMAL, FULL)
_WORDS = (*_CONFIGS, *CHECKS, COVERAGE_WORD)
_COUNTED = f"{COVERAGE_WORD}="
# From this series on, what checks gives the addresses of storage another base than 0.
_MOVES_SINCE = (6, 12)
# From this series on, SLUB keeps objects in sheaves, where their addresses stay when they are
# in use: kmemleak finds them there.  Caches that are checked have none.
_SHEAVES_SINCE = (6, 18)
_NO_SHEAVES = "slab_debug=F"
_SOURCE = "source"
# What a configuration or a build in the tree itself leaves there; kbuild looks for the same.
_IN_PLACE = (".config", "include/config", "arch/s390/include/generated")
_NUMBERS = ("VERSION", "PATCHLEVEL", "SUBLEVEL")
_MOST_OF_MAKEFILE = 4096


class TreeName(NamedTuple):
    """The tree that the user named."""

    place: str
    """The folder, or "source:6.1"."""
    config: str = MINIMAL
    """MINIMAL, FULL, or the path of a file."""
    checks: str = ""
    """One of CHECKS, or ""."""
    coverage: bool = False
    """Counts which lines run: of linux_files(), and of *counted*."""
    counted: tuple[str, ...] = ()
    """Sources of the tree, sorted."""

    @property
    def series(self) -> str | None:
        """6.1, if it is Debian's source of that series."""
        kind, _, series = self.place.partition(":")
        return series if kind == _SOURCE and series else None

    @property
    def short(self) -> str:
        """The name in reports: without the folder's own folders."""
        place = self.place if self.series else from_home(self.place).resolve().name
        config = [] if self.config == MINIMAL else [Path(self.config).name]
        coverage = [COVERAGE_WORD] if self.coverage and not self.counted else []
        counted = [f"{_COUNTED}{path}" for path in self.counted]
        return ":".join(filter(None, (place, *config, self.checks, *coverage, *counted)))

    @property
    def file(self) -> Path | None:
        """The configuration, if it is a file of the user's."""
        return None if self.config in _CONFIGS else from_home(self.config).absolute()

    @property
    def release(self) -> str:
        """The series, such as 6.1, of any tree; UsageError if its Makefile does not say it."""
        return self.series or series_of(from_home(self.place).resolve())

    @property
    def moves(self) -> bool:
        """Does it lie elsewhere each time, with other virtual addresses of storage than real ones?"""
        return self.checks != "" and number_of(self.release) >= _MOVES_SINCE

    @property
    def parameters(self) -> tuple[str, ...]:
        """What its guests' kernel is told so that its checks see."""
        hides = self.checks == DEBUG_WORD and number_of(self.release) >= _SHEAVES_SINCE
        return (_NO_SHEAVES,) if hides else ()


def tree_name(name: str) -> TreeName | None:
    """Parse the name of a tree; None if it is none, UsageError if its words are wrong."""
    if from_home(name).exists():
        return TreeName(name) if is_tree(from_home(name)) else None
    place, *words = name.split(":")
    if place == _SOURCE and words:
        if not re.fullmatch(r"\d+\.\d+", words[0]):
            raise UsageError(
                f"kernel {name!r}: after 'source:' comes a series that Debian has the source of,"
                " as in source:6.1"
            )
        place, words = f"{place}:{words[0]}", words[1:]
    elif not words or not from_home(place).is_dir():
        return None
    elif not is_tree(from_home(place)):
        raise UsageError(
            f"kernel {name!r}: {place} is not a kernel source tree (Makefile, Kconfig)"
        )
    return _with_words(name, place, words)


def _with_words(name: str, place: str, words: list[str]) -> TreeName:
    counted = {_counted(name, word) for word in words if word.startswith(_COUNTED)}
    plain = [word for word in words if not word.startswith(_COUNTED)]
    configs = [word for word in plain if word not in (*CHECKS, COVERAGE_WORD)]
    for word in configs:
        if word not in _CONFIGS and "/" not in word:
            raise UsageError(
                f"kernel {name!r}: {word!r} is neither {', '.join(_WORDS[:-1])} nor {_WORDS[-1]},"
                f" nor a file with a configuration, named with a '/'{did_you_mean(word, _WORDS)}"
            )
    checks = [word for word in plain if word in CHECKS]
    if len(configs) > 1 or len(checks) > 1 or plain.count(COVERAGE_WORD) > 1:
        raise UsageError(
            f"kernel {name!r}: a tree has one configuration (minimal, full or a file), and may be"
            f" followed by {' or '.join(CHECKS)} once, and by {COVERAGE_WORD} once"
        )
    coverage = COVERAGE_WORD in plain or bool(counted)
    config = configs[0] if configs else MINIMAL
    found = TreeName(place, config, "".join(checks), coverage, tuple(sorted(counted)))
    if found.file is not None and not found.file.is_file():
        raise UsageError(f"kernel {name!r}: the configuration {found.file} does not exist")
    return found


def _counted(name: str, word: str) -> str:
    """The source that a word coverage=PATH names."""
    path = PurePosixPath(word.removeprefix(_COUNTED))
    if path.suffix != ".c" or path.is_absolute() or ".." in path.parts:
        raise UsageError(
            f"kernel {name!r}: {str(path)!r} is no C source in the tree, such as net/core/sock.c"
        )
    return str(path)


def with_counted(name: str, paths: Iterable[str]) -> str:
    """The name of the same kernel which counts the lines of these sources, too."""
    tree = tree_name(name)
    known = () if tree is None else tree.counted
    added = [f"{_COUNTED}{path}" for path in paths if path not in known]
    if not added:
        return name
    if tree is None or not tree.coverage:
        raise UsageError(
            f"lines of further files are counted by a source tree with the word {COVERAGE_WORD},"
            f" as in source:6.1:{COVERAGE_WORD}, not by {name!r}"
        )
    tree_name(":".join([name, *added]))
    return ":".join([name, *added])


def is_tree(folder: Path) -> bool:
    """Is it the top of Linux' source?"""
    return (
        all((folder / name).is_file() for name in ("Makefile", "Kconfig"))
        and (folder / "arch").is_dir()
    )


def series_of(tree: Path) -> str:
    """The series, such as 6.1; UsageError if the tree does not say it."""
    return ".".join(release_of(tree).split(".")[:2])


def release_of(tree: Path) -> str:
    """The release, such as 6.1.176; UsageError if the tree does not say it."""
    try:
        with open(tree / "Makefile", encoding="utf-8", errors="replace") as file:
            head = file.read(_MOST_OF_MAKEFILE)
    except OSError as error:
        raise UsageError(f"{tree}/Makefile cannot be read: {error.strerror}") from None
    numbers = dict(re.findall(rf"^({'|'.join(_NUMBERS)}) *= *(\d+)$", head, re.MULTILINE))
    if not numbers.keys() >= set(_NUMBERS[:2]):
        raise UsageError(f"{tree} is not a kernel source tree: its Makefile has no VERSION")
    return ".".join(numbers[name] for name in _NUMBERS if name in numbers)


def number_of(series: str) -> tuple[int, ...]:
    """A series as it is compared: 6.12 is later than 6.2."""
    return tuple(int(word) for word in series.split("."))


def nearest(series: str, known: Iterable[str]) -> str:
    """Of the known series the nearest one, which is not newer if there is such a one."""
    ordered = sorted(known, key=number_of)
    older = [one for one in ordered if number_of(one) <= number_of(series)]
    return (older[-1:] or ordered[:1])[0]


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
