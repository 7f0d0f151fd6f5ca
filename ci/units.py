# SPDX-License-Identifier: MIT
"""Run programs of unit tests, and do not run again what passed and has not changed since.

``units.py --jobs N PROGRAM… PROGRAM=INPUTS… PROGRAM:SOURCE,…=INPUTS``; INPUTS is a folder that is named
to the program.  What a program says comes in one piece.  If it passes, the cache keeps that beside a
checksum of all that went into it: the program, its libraries, INPUTS, the files of ``--reads``, its
environment, kernel, user, processors, and what is installed (time zones, locales), which only dpkg tells:
without its list, all programs run.  With the same checksum the words that were kept are printed instead.
No path is part of it, so that another clone profits.

Whoever starts it, and wherever, a program gets the same environment: ENVIRONMENT, and variables of
CHOSEN.

With ``--make`` and ``--options``, a program whose SOURCES are named is not even built if all that it is
made of (unit_sources.py) is as it was when it passed; make builds the others.  ``--system FILE``: objects
depend on that file, which is written anew when compilers or the system's headers are others.

Programs run in a folder that has nothing but links to the files of ``--reads``, and where the kernel
has Landlock they can open no other file: a test that reads what is not part of the checksum fails.

Exit code: 0 if all passed, 1 otherwise.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import hashlib
import os
import re
import shlex
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import unit_packages
import unit_sources
from zvmlab.base.decided import keep, recall
from zvmlab.base.errors import exit_code
from zvmlab.base.tree import TREE

LIMIT_S = 3600
"""Check ends a test by itself; this ends a program that Check does not."""
TEST_S = 1800
"""When Check ends a test: by the clock, so that a busy machine needs more than by hand."""
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TZ": "UTC", "TMPDIR": "/tmp"}
CHOSEN = re.compile(r"CK_\w+|MALLOC_\w+|GLIBC_TUNABLES|[A-Z]+SAN_OPTIONS")
"""Variables that somebody sets who wants to know more of a test."""
SYSTEM = tuple(
    map(
        Path,
        "/etc/localtime /etc/passwd /etc/group /etc/nsswitch.conf"
        " /usr/lib/locale/locale-archive".split(),
    )
)
"""What tests, or libraries for them, read beside files of packages."""
PASSING = tuple(map(Path, "/etc/ld.so.cache /proc /sys /dev /tmp".split()))
"""What a test finds there is of this moment, or it has put it there itself.  The loader's cache says where
a program's libraries are; these are known."""
LIBRARY = re.compile(r"\s(?:\S+ => )?(/\S+) \(0x")


@functools.cache
def _checksum(path: Path) -> str:
    """Of a file's contents, or of all files below a folder."""
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        parts = [f"{file.relative_to(path)} {_checksum(file)}" for file in files]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()
    return unit_sources.checksum(path)


def _libraries(programs: list[Path]) -> dict[Path, list[str]]:
    """Checksums of the libraries that each program is loaded with."""
    if not programs:
        return {}
    # A second file makes ldd head its lists with names.
    argv = ["ldd", *map(str, programs), "/bin/sh"]
    text = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=600).stdout
    found: dict[Path, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        if not line.startswith("\t"):
            lines = found.setdefault(Path(line.rstrip(":")), [])
        elif match := LIBRARY.search(line):
            lines.append(f"{match[1]} {_checksum(Path(match[1]))}")
    return found


def _environment() -> dict[str, str]:
    """What every program is given."""
    chosen = {name: value for name, value in os.environ.items() if CHOSEN.fullmatch(name)}
    return {**ENVIRONMENT, "CK_DEFAULT_TIMEOUT": str(TEST_S), **chosen}


def surroundings(reads: list[Path]) -> list[str]:
    """All that goes into every program."""
    host = os.uname()
    files = [f"{file} {_checksum(file)}" for file in (*SYSTEM, *reads) if file.is_file()]
    return [
        f"{host.release} {host.version} {host.machine} {os.getuid()} {os.cpu_count()}",
        f"{sorted(os.sched_getaffinity(0))}",
        *(f"{name}={value}" for name, value in sorted(_environment().items())),
        *unit_packages.for_running(),
        _checksum(Path(__file__)),
        *files,
    ]


def confine(opened: list[Path]) -> None:
    """Let this thread, and what it starts, open these files, or files below these folders, only.

    Nothing happens where the kernel has no Landlock that allows renaming.
    """
    create, add, restrict, no_new_privileges = 444, 445, 446, 38
    execute, read_file, refer = 1 << 0, 1 << 2, 1 << 13
    libc = ctypes.CDLL(None, use_errno=True)
    handled = struct.pack("=Q", execute | read_file | refer)
    ruleset = libc.syscall(create, handled, len(handled), 0)
    if ruleset < 0:
        return
    rules = [(path, execute | read_file) for path in opened]
    for path, rights in [*rules, (Path("/"), refer)]:
        with suppress(FileNotFoundError):
            beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
            failed = libc.syscall(add, ruleset, 1, struct.pack("=Qi", rights, beneath), 0)
            os.close(beneath)
            if failed:
                raise OSError(ctypes.get_errno(), "cannot confine the tests", str(path))
    if libc.prctl(no_new_privileges, 1, 0, 0, 0) or libc.syscall(restrict, ruleset, 0):
        raise OSError(ctypes.get_errno(), "cannot confine the tests")
    os.close(ruleset)


@dataclass(frozen=True)
class Test:
    """A program, the folder that is named to it, and its own sources, if they are known."""

    name: str
    sources: tuple[str, ...]
    inputs: Path | None

    @property
    def program(self) -> Path:
        """Wherever it is started."""
        return Path(self.name).absolute()

    @classmethod
    def named(cls, word: str) -> Test:
        """What PROGRAM:SOURCES=INPUTS says."""
        left, _, folder = word.partition("=")
        name, _, sources = left.partition(":")
        inputs = Path(folder).absolute() if folder else None
        return cls(name, tuple(filter(None, sources.split(","))), inputs)

    def checksum(self, around: list[str], made_of: list[str]) -> str:
        """Of all that goes into it; *made_of*: into the program itself."""
        parts = [*around, self.program.name, *made_of]
        parts += [_checksum(self.inputs)] if self.inputs else []
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def run(self, place: str) -> tuple[bool, str]:
        """Did it pass, and what did it say?"""
        argv = [str(self.program), *([str(self.inputs)] if self.inputs else [])]
        try:
            done = subprocess.run(
                argv,
                cwd=place,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=LIMIT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return False, f"{self.program}: did not end within {LIMIT_S} s\n"
        text = done.stdout.decode(errors="replace")
        if done.returncode:
            text += f"{self.program}: exit code {done.returncode}\n"
        return done.returncode == 0, text


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


class Remembered:
    """What passed before, by checksums: of what a program is, and of what it is made of."""

    def __init__(self, around: list[str], sources: unit_sources.Sources | None) -> None:
        self._around = around
        self._sources = sources
        self._sums: dict[Test, list[str]] = {}

    def before_it_is_made(self, test: Test) -> str | None:
        """What it said when it passed, made of the same; None if that is not known."""
        if self._sources is None or not test.sources:
            return None
        made_of = self._sources.checksum(test.sources)
        return self._recall(test, test.checksum(self._around, ["made of", made_of]))

    def as_it_is(self, test: Test, libraries: list[str]) -> str | None:
        """What the same program said when it passed; None if that is not known."""
        return self._recall(
            test, test.checksum(self._around, [_checksum(test.program), *libraries])
        )

    def _recall(self, test: Test, checksum: str) -> str | None:
        self._sums.setdefault(test, []).append(checksum)
        said: str | None = recall(f"unit.{test.program.name}", checksum[:16], checksum)
        return said

    def keep(self, test: Test, text: str) -> None:
        """It has passed as it is."""
        for checksum in self._sums.get(test, []):
            keep(f"unit.{test.program.name}", checksum[:16], checksum, text)


def _run_all(
    tests: dict[Test, list[str]],
    reads: list[Path],
    counts: Path | None,
    jobs: int,
    remembered: Remembered | None,
) -> dict[str, str]:
    """What failed tests said, by name.  *tests*: with their libraries."""
    opened = [*SYSTEM, *PASSING, *unit_packages.opened(), *reads]
    opened += [counts] if counts else []
    for test, libraries in tests.items():
        opened += [test.program, *([test.inputs] if test.inputs else [])]
        opened += [Path(line.rpartition(" ")[0]) for line in libraries]
    failed = {}
    with tempfile.TemporaryDirectory(dir=ENVIRONMENT["TMPDIR"]) as place:
        for file in reads:
            link = Path(place, file)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(file.absolute())
        with ThreadPoolExecutor(jobs, initializer=confine, initargs=(list(set(opened)),)) as pool:
            running = {pool.submit(test.run, place): test for test in tests}
            for run in as_completed(running):
                test = running[run]
                passed, text = run.result()
                if not passed:
                    failed[test.program.name] = text
                    continue
                _say(text)
                if remembered is not None:
                    remembered.keep(test, text)
    return failed


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="run programs of unit tests")
    parser.add_argument("--jobs", type=int, required=True)
    parser.add_argument("--again", action="store_true", help="run all of them")
    parser.add_argument("--counts", type=Path, help="all run, and count their lines there")
    parser.add_argument("--reads", type=Path, action="append", default=[])
    parser.add_argument("--make", help="the command that builds programs")
    parser.add_argument("--options", default="", help="compiler and options that make was given")
    parser.add_argument(
        "--system", type=Path, help="a file that is written if make is to build all"
    )
    parser.add_argument("programs", nargs="+", metavar="PROGRAM[:SOURCE,…][=INPUTS]")
    return parser.parse_args()


def sources_of(options: str) -> unit_sources.Sources | None:
    """What programs are made of, with this compiler and these options; None if that cannot be known."""
    compiler = (shlex.split(options) or [""])[0]
    packages = unit_packages.for_building(compiler)
    return None if packages is None else unit_sources.Sources(TREE, options, packages)


def _tell_make(file: Path, sources: unit_sources.Sources | None) -> None:
    """Make looks at times, and an older header of the system is as good as none to it."""
    text = sources.system if sources else ""
    with suppress(FileNotFoundError):
        if file.read_text(encoding="utf-8") == text:
            return
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def main() -> int:
    """Return the exit code."""
    options = _options()
    tests = [Test.named(word) for word in options.programs]
    sources = sources_of(options.options) if options.make else None
    if options.system:
        _tell_make(options.system, sources)
    forgetful = options.again or options.counts or not unit_packages.STATUS.is_file()
    remembered = None if forgetful else Remembered(surroundings(options.reads), sources)
    waiting = []
    for test in tests:
        said = None if remembered is None else remembered.before_it_is_made(test)
        if said is None:
            waiting.append(test)
        else:
            _say(said)
    if options.make and waiting:
        names = [test.name for test in waiting]
        code = subprocess.run([*shlex.split(options.make), *names], check=False).returncode
        if code:
            return code
    libraries = _libraries([test.program for test in waiting])
    running = {}
    for test in waiting:
        said = None if remembered is None else remembered.as_it_is(test, libraries[test.program])
        if said is None:
            running[test] = libraries[test.program]
        elif remembered is not None:
            _say(said)
            remembered.keep(test, said)
    failed = _run_all(running, options.reads, options.counts, options.jobs, remembered)
    # Last, where those look who have only the end of a long log.
    for name in sorted(failed):
        _say(failed[name])
    if failed:
        print(f"unit tests failed: {' '.join(sorted(failed))}", file=sys.stderr)
    kept = len(tests) - len(running)
    print(
        f"unit tests: {len(tests)} programs, {kept} of them not run again: all that goes"
        " into them is as it was when they passed (AGAIN=1 runs them)"
        if kept
        else f"unit tests: {len(tests)} programs, all of them run"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(exit_code(main, "units"))
