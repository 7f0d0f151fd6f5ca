# SPDX-License-Identifier: MIT
"""Lines of a tree's sources behind the code of the objects that its kernel was built of.

    with at_work(kernel, progress):
        objects = TreeObjects(kernel)
        found = objects.lines({"net/iucv/iucv.o": {(".text", 0x50)}}, progress)
    found.lines["net/iucv/iucv.o", ".text", 0x50]       # (Line("net/iucv/iucv.c", 1042),)

Kernels of trees have no debug information, which would double their size and the time of a build.
So an object is compiled once more, with the command that kbuild has left beside it and with numbers
of lines.  They count only if the code is byte for byte that of the kernel's own object.  The folder
of the build keeps what was compiled so:

    linux-build-KEY/lines/net/iucv/iucv.o-KEY
"""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from zvmlab.base.cache import digest
from zvmlab.base.errors import StepFailed, ZvmlabError
from zvmlab.base.progress import Progress
from zvmlab.builder.buildstep import first_error, run_tool
from zvmlab.builder.elf import sections
from zvmlab.builder.image import COMPILER, compiler_version
from zvmlab.builder.kbuild import cpus, need_tools, run
from zvmlab.builder.kernel import Kernel
from zvmlab.builder.modules import module_name
from zvmlab.builder.tree_notes import last_build, last_files

# The least information that has lines and inlined calls, and the lines of -g.
_LINES = ("-g1", "-gstatement-frontiers")
_SECONDS = 600
_FOLDER = "lines"
_ADDR2LINE = COMPILER.removesuffix("gcc") + "addr2line"
_AR = COMPILER.removesuffix("gcc") + "ar"
_ADDRESS = re.compile(r"0x[0-9a-f]+")
_LINE = re.compile(r"(.+):([1-9]\d*)(?: \(discriminator \d+\))?")
# Executable and Linkable Format: a section's flag.
_EXECUTED = 4

Place = tuple[str, int]
"""A section of an object, and an offset in it."""


class Line(NamedTuple):
    """A line of a source."""

    file: str
    """Its name in the tree, or in the folder of the build if it was made there."""
    number: int

    def __str__(self) -> str:
        return f"{self.file}:{self.number}"


class ObjectLines(NamedTuple):
    """What is known of places in objects."""

    lines: dict[tuple[str, str, int], tuple[Line, ...]]
    """By object, section and offset: the line in the function itself; if that calls one that was
    inlined there, the line in that one, and so on."""
    missing: dict[str, str]
    """Objects that have no lines, and why."""


class TreeObjects:
    """The objects of a tree's kernel, named as in the folder of its build.

    The kernel has Kernel.work, and at_work() keeps that as it is.
    """

    def __init__(self, kernel: Kernel) -> None:
        assert kernel.work is not None
        need_tools(f"finding lines of kernel {kernel}")
        self._kernel = kernel
        self._work = kernel.work
        self._out = kernel.work / "out"
        self._tree = os.path.realpath(last_build(kernel.work)["tree"])
        self._files = last_files(kernel.work)
        self._compiler = compiler_version()

    def of_kernel(self) -> list[str]:
        """Those that the kernel itself is linked of; ZvmlabError if its build does not say."""
        found = []
        for archive in _command(self._out / ".vmlinux.o.cmd"):
            if archive.endswith(".a"):
                found += self._tool([_AR, "t", archive])
        if not found:
            raise ZvmlabError(
                f"the build of kernel {self._kernel} does not say of what it is linked"
            )
        return found

    def of_module(self, name: str) -> list[str]:
        """Those that a module is linked of; none if the tree has no such module."""
        order = (self._out / "modules.order").read_text(encoding="utf-8").split()
        for made in (self._out / line for line in order):
            if module_name(made.with_suffix(".ko")) == name:
                return made.with_suffix(".mod").read_text(encoding="utf-8").split()
        return []

    def read(self, name: str) -> bytes:
        """What is in an object."""
        return (self._out / name).read_bytes()

    def lines(self, wanted: Mapping[str, Collection[Place]], progress: Progress) -> ObjectLines:
        """The lines of these places in objects.

        An object is compiled for it if that has not been done for its state: that takes seconds.
        """
        text = f"finding lines in {len(wanted)} files of kernel {self._kernel}"
        found = ObjectLines({}, {})
        with progress.step(text, len(wanted)) as step, ThreadPoolExecutor(cpus()) as pool:
            made = zip(wanted, pool.map(self._with_lines, wanted), strict=True)
            for number, (name, object_or_why) in enumerate(made, 1):
                step.update(number)
                if isinstance(object_or_why, str):
                    found.missing[name] = object_or_why
                else:
                    for place, lines in self._lines(object_or_why, wanted[name]):
                        found.lines[name, *place] = lines
        return found

    def _with_lines(self, name: str) -> Path | str:
        """The object with numbers of lines, or why there is none."""
        note = self._out / name
        note = note.with_name(f".{note.name}.cmd")
        words = _command(note)
        if "-c" not in words or "-o" not in words:
            return "kbuild has left no command of the compiler"
        if words[-1].endswith(".S"):
            # The lines that assembler's macros make have no numbers: they would seem to be others.
            return "it is written in assembler"
        content = self.read(name)
        key = digest(*words, content, self._read_of(note), self._compiler, *_LINES)
        kept = self._work / _FOLDER / f"{name}-{key}"
        if not kept.exists():
            kept.parent.mkdir(parents=True, exist_ok=True)
            for old in kept.parent.glob(f"{Path(name).name}-*"):
                old.unlink()
            with tempfile.TemporaryDirectory(dir=self._work / _FOLDER) as scratch:
                return self._compile(words, content, Path(scratch), kept)
        return kept

    def _read_of(self, note: Path) -> str:
        """Hashes of what the compiler has read of the tree."""
        words = note.read_text(encoding="utf-8", errors="surrogateescape").split()
        names = {os.path.relpath(word, self._tree) for word in words if word.startswith("/")}
        return " ".join(self._files[name][1] for name in sorted(names & self._files.keys()))

    def _compile(
        self, words: Sequence[str], content: bytes, scratch: Path, kept: Path
    ) -> Path | str:
        made, log = scratch / "object", scratch / "log"
        at = words.index("-o")
        # A list of headers beside the build's object would say that this is unfinished.
        argv = [word for word in (*words[:at], *words[at + 2 :]) if not word.startswith("-Wp,-M")]
        try:
            run("compiling", [*argv, *_LINES, "-o", str(made)], self._out, log, _SECONDS)
        except StepFailed:
            said = log.read_text(encoding="utf-8", errors="replace").splitlines()
            return f"compiling it again fails: {first_error(said)}"
        if _code(made.read_bytes()) != _code(content):
            return "compiled again, its code is another"
        return made.replace(kept)

    def _lines(
        self, made: Path, places: Collection[Place]
    ) -> Iterator[tuple[Place, tuple[Line, ...]]]:
        """The lines of places in an object that has their numbers; places that have none are left out."""
        for section in {section for section, _ in places}:
            offsets = {offset for within, offset in places if within == section}
            argv = [_ADDR2LINE, "-a", "-i", "-j", section, "-e", str(made), *map(hex, offsets)]
            at, lines = 0, list[Line]()
            for text in [*self._tool(argv), "0x0"]:
                if _ADDRESS.fullmatch(text):
                    if lines:
                        yield (section, at), tuple(lines)
                    at, lines = int(text, 16), []
                elif match := _LINE.fullmatch(text):
                    lines.insert(0, Line(self._shown(match[1]), int(match[2])))

    def _shown(self, file: str) -> str:
        """The name of a source as the tree has it."""
        for folder in (self._tree, os.path.realpath(self._out)):
            if os.path.normpath(file).startswith(f"{folder}/"):
                return os.path.relpath(file, folder)
        return file

    def _tool(self, argv: Sequence[str]) -> list[str]:
        """What a program of binutils says, in lines."""
        what = f"{argv[0]} in {self._out}"
        done = run_tool(what, argv, _SECONDS, {**os.environ, "LC_ALL": "C.UTF-8"}, self._out)
        if done.returncode != 0:
            raise ZvmlabError(f"{what} failed: {first_error(done.stdout.splitlines())}")
        return done.stdout.splitlines()


def _command(note: Path) -> list[str]:
    """The first command that kbuild has noted, in words; none if there is no note."""
    try:
        noted = note.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return []
    text = noted.partition("\n")[0].partition(" := ")[2]
    # As make reads it.
    text = text.replace("$(pound)", "#").replace("$$", "$")
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";")
    lexer.whitespace_split, lexer.commenters = True, ""
    words = []
    for word in lexer:
        if word == ";":
            break
        words.append(word)
    return words


def _code(content: bytes) -> list[tuple[str, bytes]]:
    """The sections of an object that are code, and what is in them."""
    return [
        (section.name, content[section.place : section.place + section.size])
        for section in sections(content)
        if section.flags & _EXECUTED
    ]
