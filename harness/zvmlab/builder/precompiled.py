# SPDX-License-Identifier: MIT
"""QEMU's first header, parsed once instead of in each file.

Every file of QEMU's includes qemu/osdep.h before all else, and with it some 300 headers of
the system: more than a quarter of the time that compiling takes.  gcc takes a header's
precompiled form out of the folder HEADER.gch beside it, if one there was made with the same
options.

What ninja then knows of an object lacks the headers behind that one.  They are known here
instead, and all is compiled anew if any of them changes.
"""

from __future__ import annotations

import collections
import shlex
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from zvmlab.base.cache import digest

HEADER = "include/qemu/osdep.h"
# The one header behind it that is made in the build.
GENERATED = "config-poison.h"
# The core's own files, which know nothing of QEMU.
NOT_QEMUS = "/zvmlab/core/"
# Options that so few files share are not worth the second that a header takes.
FEW = 10
_OF_ONE_FILE = {"-o": 2, "-c": 2, "-MF": 2, "-MQ": 2, "-MD": 1}

Run = Callable[[list[str]], Iterable[str]]
"""Runs a program in QEMU's build folder, and gives the lines that it wrote."""


def options_of(command: str) -> tuple[str, ...]:
    """The compiler and the options that it has for every file alike; nothing if it links."""
    words = shlex.split(command)
    if "-c" not in words or NOT_QEMUS in words[words.index("-c") + 1]:
        return ()
    return tuple(_without_the_file(words))


def _without_the_file(words: list[str]) -> Iterator[str]:
    at = 0
    while at < len(words):
        skipped = _OF_ONE_FILE.get(words[at], 0)
        if not skipped:
            yield words[at]
        at += skipped or 1


def _decides(options: tuple[str, ...]) -> tuple[str, ...]:
    """Everything that must be equal for gcc to take a precompiled header; folders need not."""
    return tuple(word for word in options if not word.startswith("-I"))


def option_sets(commands: Iterable[str]) -> list[tuple[str, ...]]:
    """The options that many files are compiled with, those with the most files first."""
    found = [options for command in commands if (options := options_of(command))]
    counts = collections.Counter(map(_decides, found))
    first: dict[tuple[str, ...], tuple[str, ...]] = {}
    for options in found:
        first.setdefault(_decides(options), options)
    return [first[kind] for kind, count in counts.most_common() if count >= FEW]


def headers(rule: str) -> list[str]:
    """The files in a rule for make, as -MF has it written."""
    return rule.replace("\\\n", " ").split(":", 1)[-1].split()


def _state(sets: list[tuple[str, ...]], build: Path, rules: Iterable[Path]) -> str:
    """Changes with the options and with every header behind HEADER; "" if one has gone."""
    parts: list[str | Path] = [" ".join(options) for options in sets]
    for rule in rules:
        for name in headers(rule.read_text(encoding="utf-8")):
            if not (build / name).is_file():
                return ""
            parts.append(build / name)
    return digest(*parts)


def precompile(source: Path, target: str, run: Run) -> None:
    """HEADER of *source*, which is configured in its folder build, is precompiled for *target*.

    Objects that were compiled with it as it was are removed when it is not the same any more.
    """
    build, folder = source / "build", source / f"{HEADER}.gch"
    noted = build / "precompiled"
    sets = option_sets(run(["ninja", "-t", "commands", target]))
    rules = [noted.with_name(f"{noted.name}.{number}.d") for number in range(len(sets))]
    before = noted.read_text(encoding="ascii") if noted.exists() else ""
    if before and all(rule.exists() for rule in rules) and before == _state(sets, build, rules):
        return
    noted.unlink(missing_ok=True)
    if folder.exists():
        # The folder goes last: as long as it is there, objects may be of the old header.
        collections.deque(run(["ninja", "-t", "clean"]), maxlen=0)
        shutil.rmtree(folder)
    folder.mkdir()
    collections.deque(run(["ninja", GENERATED]), maxlen=0)
    for number, (options, rule) in enumerate(zip(sets, rules, strict=True)):
        words = [*options, "-MD", "-MF", str(rule), "-o", str(folder / str(number))]
        collections.deque(run([*words, "-x", "c-header", str(source / HEADER)]), maxlen=0)
    noted.write_text(_state(sets, build, rules), encoding="ascii")
