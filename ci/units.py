# SPDX-License-Identifier: MIT
"""Run programs of unit tests, and do not run again what passed and has not changed since.

``units.py --jobs N PROGRAM… PROGRAM=INPUTS…``; INPUTS is a folder that is named to the program.  What
a program says comes in one piece.  If it passes, the cache keeps that beside a checksum of all that
went into it: the program, its libraries, INPUTS, the files of ``--reads``, the variables of the
environment that libraries look at, kernel, user, processors, and what is installed (time zones,
locales), which only dpkg tells: without its list, all programs run.  With the same checksum the words
that were kept are printed instead.  No path is part of it, so that another clone profits.

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
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base.decided import keep, recall
from zvmlab.base.errors import exit_code

LIMIT_S = 3600
"""Check ends a test by itself; this ends a program that Check does not."""
LOOKED_AT = re.compile(
    r"(CK_|LC_|LD_|MALLOC_|GLIBC_)\w+|[A-Z]+SAN_OPTIONS|LANG|LANGUAGE|TZ|TMPDIR|ARGP_HELP_FMT|PATH"
)
"""Variables of the environment that a test, Check, a sanitizer or the C library looks at."""
INSTALLED = Path("/var/lib/dpkg/status")
PACKAGED = tuple(map(Path, "/usr/bin /usr/sbin /usr/lib /usr/lib64 /usr/share".split()))
"""What is installed there, INSTALLED says."""
SYSTEM = tuple(
    map(
        Path,
        "/etc/ld.so.cache /etc/localtime /etc/passwd /etc/group /etc/nsswitch.conf"
        " /usr/lib/locale/locale-archive".split(),
    )
)
"""What tests, or libraries for them, read beside that; no package has these files."""
PASSING = tuple(map(Path, "/proc /sys /dev /tmp".split()))
"""What a test finds there is of this moment, or it has put it there itself."""
LIBRARY = re.compile(r"\s(?:\S+ => )?(/\S+) \(0x")


@functools.cache
def _checksum(path: Path) -> str:
    """Of a file's contents, or of all files below a folder."""
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        parts = [f"{file.relative_to(path)} {_checksum(file)}" for file in files]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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


def _surroundings(reads: list[Path]) -> list[str]:
    """All that goes into every program."""
    host = os.uname()
    files = [f"{file} {_checksum(file)}" for file in (INSTALLED, *SYSTEM, *reads) if file.is_file()]
    return [
        f"{host.release} {host.version} {host.machine} {os.getuid()} {os.cpu_count()}",
        f"{sorted(os.sched_getaffinity(0))}",
        *(f"{name}={os.environ[name]}" for name in sorted(os.environ) if LOOKED_AT.fullmatch(name)),
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
    """A program, the folder that is named to it, and what it is loaded with."""

    program: Path
    inputs: Path | None
    libraries: tuple[str, ...]

    def checksum(self, around: list[str]) -> str:
        """Of all that goes into it."""
        parts = [*around, self.program.name, _checksum(self.program), *self.libraries]
        parts += [_checksum(self.inputs)] if self.inputs else []
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def run(self, place: str) -> tuple[bool, str]:
        """Did it pass, and what did it say?"""
        argv = [str(self.program), *([str(self.inputs)] if self.inputs else [])]
        try:
            done = subprocess.run(
                argv,
                cwd=place,
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


def _run_all(
    tests: dict[Test, str], reads: list[Path], counts: Path | None, jobs: int
) -> dict[str, str]:
    """What failed tests said, by name; the cache keeps what the others said, by their checksums."""
    opened = [*PACKAGED, *SYSTEM, *PASSING, Path(tempfile.gettempdir())]
    opened += [*reads, *([counts] if counts else [])]
    for test in tests:
        opened += [test.program, *([test.inputs] if test.inputs else [])]
        opened += [Path(line.rpartition(" ")[0]) for line in test.libraries]
    failed = {}
    with tempfile.TemporaryDirectory() as place:
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
                if not counts:
                    keep(f"unit.{test.program.name}", tests[test][:16], tests[test], text)
    return failed


def main() -> int:
    """Return the exit code."""
    parser = argparse.ArgumentParser(description="run programs of unit tests")
    parser.add_argument("--jobs", type=int, required=True)
    parser.add_argument("--again", action="store_true", help="run all of them")
    parser.add_argument("--counts", type=Path, help="all run, and count their lines there")
    parser.add_argument("--reads", type=Path, action="append", default=[])
    parser.add_argument("programs", nargs="+", metavar="PROGRAM[=INPUTS]")
    options = parser.parse_args()
    asked = [word.partition("=") for word in options.programs]
    programs = {Path(name).absolute(): folder for name, _, folder in asked}
    libraries = _libraries(list(programs))
    around = _surroundings(options.reads)
    waiting = {}
    for program, folder in programs.items():
        inputs = Path(folder).absolute() if folder else None
        test = Test(program, inputs, tuple(libraries[program]))
        checksum = test.checksum(around)
        said = None
        if INSTALLED.is_file() and not (options.again or options.counts):
            said = recall(f"unit.{program.name}", checksum[:16], checksum)
        if said is None:
            waiting[test] = checksum
        else:
            _say(said)
    failed = _run_all(waiting, options.reads, options.counts, options.jobs)
    # Last, where those look who have only the end of a long log.
    for name in sorted(failed):
        _say(failed[name])
    if failed:
        print(f"unit tests failed: {' '.join(sorted(failed))}", file=sys.stderr)
    remembered = len(programs) - len(waiting)
    print(
        f"unit tests: {len(programs)} programs, {remembered} of them not run again: all that goes"
        " into them is as it was when they passed (AGAIN=1 runs them)"
        if remembered
        else f"unit tests: {len(programs)} programs, all of them run"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(exit_code(main, "units"))
