# SPDX-License-Identifier: MIT
"""A copy of the tree that changes are made in, one for each job; the user's is never touched."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from contained import HOME, INSIDE, Contained
from enumerate_changes import tracked
from table import Row
from zvmlab.base.errors import ZvmlabError

MAKE_SECONDS = 1200
CCACHE = Path("/usr/lib/ccache")
SERVER = "build/unit/ctl_server"
MONREAD = "build/unit/monread"
"""With sanitizers, as tests of the harness have it."""
_FILE_BYTES = 1 << 30
_SAID = 4000


@dataclass(frozen=True)
class Outcome:
    """How a command ended; *code* is None if it had to be ended."""

    code: int | None
    seconds: float
    said: str

    @property
    def hung(self) -> bool:
        """It did not end by itself."""
        return self.code is None


def _limits() -> None:
    """What a program with a mistake in it cannot do to the machine."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_BYTES, _FILE_BYTES))


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends it and all that it has started in its session."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def _end_of(log: Path) -> str:
    return log.read_bytes()[-_SAID:].decode("utf-8", "replace")


class Tree:
    """*folder* holds a copy of all tracked files, and build/ beside them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def sync(self, source: Path) -> None:
        """Makes it the same as *source*; what is the same already keeps its time."""
        wanted = tracked(source)
        for name in wanted:
            old, new = self.folder / name, source / name
            if old.is_file() and old.read_bytes() == new.read_bytes():
                continue
            old.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(new, old)
        for top in {name.split("/", 1)[0] for name in wanted}:
            if (self.folder / top).is_dir():
                self._forget(top, set(wanted))

    def _forget(self, top: str, wanted: set[str]) -> None:
        for path in (self.folder / top).rglob("*"):
            name = str(path.relative_to(self.folder))
            if path.is_file() and name not in wanted and "__pycache__" not in path.parts:
                path.unlink()

    def twin(self, folder: Path) -> Tree:
        """Another one with everything that is built in this one."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        ignore = shutil.ignore_patterns("coverage", "cache", "same")
        shutil.copytree(self.folder, folder, symlinks=True, dirs_exist_ok=True, ignore=ignore)
        return Tree(folder)

    def write(self, file: str, text: str) -> None:
        """Gives a file another text, and a time that make takes for new."""
        path = self.folder / file
        path.write_text(text, encoding="utf-8")
        now = time.time_ns()
        os.utime(path, ns=(now, now))

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
        kept.pop("BUILD", None)
        if CCACHE.is_dir():
            kept["PATH"] = f"{CCACHE}:{kept['PATH']}"
        return {**kept, "LC_ALL": "C.UTF-8"}

    def make(self, *targets: str, jobs: int = 1) -> Outcome:
        """make in the tree, where warnings are errors."""
        # -g0: linking is quick.  A changed "and" need not have the brackets that people give it.
        argv = [
            "make",
            "-s",
            f"-j{jobs}",
            "CI=true",
            "CFLAGS=-g0 -Wno-parentheses",
            "BUILD=build",
            *targets,
        ]
        return self._command(argv, MAKE_SECONDS, self._environment())

    def must_make(self, *targets: str, jobs: int = 1) -> None:
        """The same; ZvmlabError if it fails."""
        done = self.make(*targets, jobs=jobs)
        if done.code != 0:
            raise ZvmlabError(f"the unchanged tree cannot be built: {done.said}")

    def run(self, argv: list[str], limit: float) -> Outcome:
        """A test of a changed tree, contained and ended after *limit* seconds."""
        environment = {
            **self._environment(),
            **{name: str(HOME) for name in ("HOME", "TMPDIR")},
            "ZVMLAB_CACHE": str(HOME / "cache"),
            "ZVMLAB_CTL_SERVER": str(INSIDE / SERVER),
            "ZVMLAB_TOOLS": str((INSIDE / MONREAD).parent),
            "PYTHONPATH": str(INSIDE / "harness"),
            "PYTHONDONTWRITEBYTECODE": "1",
            # A machine with much to do must not make a test fail.
            "CK_TIMEOUT_MULTIPLIER": "3",
        }
        began = time.monotonic()
        log = self.folder / "said"
        with log.open("wb") as said:
            code = Contained(self.folder, argv, environment, said, _limits).wait(limit)
        return Outcome(code, time.monotonic() - began, _end_of(log))

    def unchanged(self, argv: list[str], limit: float) -> Outcome:
        """A program of an unchanged tree, which may write there: what it came past."""
        return self._command(argv, limit, {**self._environment(), "CK_TIMEOUT_MULTIPLIER": "3"})

    def make_for(self, row: Row) -> Outcome:
        """What the files of pytest of a row start."""
        done = self.make(SERVER)
        if done.code == 0 and row.monread:
            done = self.make(MONREAD)
        return done

    def program(self, name: str, arguments: list[str], limit: float) -> Outcome:
        """A unit test program."""
        return self.run([f"build/unit/{name}", *arguments], limit)

    def pytest(self, files: tuple[str, ...], limit: float) -> Outcome:
        """Files of tests, up to the first that fails."""
        argv = [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "zvmlab.pytest_plugin",
            "-p",
            "no:cacheprovider",
        ]
        return self.run([*argv, "-q", "-x", *files], limit)

    def _command(self, argv: list[str], limit: float, environment: dict[str, str]) -> Outcome:
        began = time.monotonic()
        log = self.folder / "said"
        with log.open("wb") as said:
            process = subprocess.Popen(
                argv,
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_limits,
            )
            try:
                code: int | None = process.wait(limit)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                _end(process)
        return Outcome(code, time.monotonic() - began, _end_of(log))
