# SPDX-License-Identifier: MIT
"""The place where the commands of pages run: a clone of the tree and a user's home."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from scenes import Command, Page
from shown import Shown

from zvmlab.base.cache import cache_root
from zvmlab.base.errors import Timeout, ZvmlabError

_STATE = re.compile(r"(export |source |[A-Za-z_]+=\S*\$\()")
_READY_SECONDS = 300
_END_SECONDS = 30
_POLL_SECONDS = 0.05
_COPY_SECONDS = 300


@dataclass(frozen=True)
class Result:
    """How a command ended: *problem* is empty if it did as its scene says."""

    shown: Shown
    scene: Command
    problem: str
    seconds: float
    log: Path | None = None

    @property
    def state(self) -> str:
        """One or two words for the report."""
        if self.scene.not_run:
            return "not run"
        if self.problem:
            return "FAILED"
        return "shortened" if self.scene.shortened else "run"


class Stage:
    """*folder* holds tree/ (a clone with what has changed since), home/, output/ and work/."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._root = root
        self._folder = folder
        self.tree = folder / "tree"
        self._home = folder / "home"
        self._state: list[str] = []
        # Other guests of the user's would be meant as well; sockets need a short name.
        self._guests = tempfile.TemporaryDirectory(prefix="zvmlab-docs-")

    def make(self) -> None:
        """A fresh clone; what an earlier one has built is kept."""
        shutil.rmtree(self._home, ignore_errors=True)
        shutil.rmtree(self._folder / "output", ignore_errors=True)
        built = self._folder / "build"
        if (self.tree / "build").is_dir():
            shutil.rmtree(built, ignore_errors=True)
            (self.tree / "build").rename(built)
        shutil.rmtree(self.tree, ignore_errors=True)
        self._git("clone", "--quiet", str(self._root), str(self.tree))
        self._copy_changed()
        if built.is_dir():
            built.rename(self.tree / "build")
        (self._folder / "output").mkdir()
        programs = self._home / "bin"
        programs.mkdir(parents=True)
        # The one that has the distribution's modules, whatever comes first for the caller.
        (programs / "python3").symlink_to(sys.executable)
        (self._home / "zvmlab").symlink_to(self.tree)

    def _git(self, *words: str) -> str:
        command = ["git", *words]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_COPY_SECONDS
        )
        if done.returncode:
            raise ZvmlabError(f"{' '.join(command)} failed: {done.stderr.strip()}")
        return done.stdout

    def _copy_changed(self) -> None:
        """Copy the changes of the user's tree since its last commit."""
        listed = self._git(
            "-C", str(self._root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"
        )
        for name in filter(None, listed.split("\0")):
            source, copy = self._root / name, self.tree / name
            if source.is_file() and not (copy.is_file() and _same(source, copy)):
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, copy)
            elif not source.exists():
                copy.unlink(missing_ok=True)

    def begin(self, page: Page, programs: Mapping[str, str]) -> Path:
        """The folder for the commands of a page; *programs* are files with the page's Python."""
        self._state = []
        folder = self.tree
        if page.folder:
            folder = self._folder / "work" / page.folder
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        for name, source in page.files.items():
            _copy(self._root / source, folder / name)
        for name, text in programs.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        return folder

    def _environment(self, folder: Path, scene: Command) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            # make's own would reach the commands' makes.
            if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "PYTHONPATH")
        }
        own = {
            "HOME": str(self._home),
            "PATH": f"{self._home / 'bin'}:{self.tree}:{os.environ['PATH']}",
            "ZVMLAB_CACHE": str(cache_root()),
            "ZVMLAB_RUN": self._guests.name,
            "PWD": str(folder),
        }
        return {**kept, **own, **scene.environment}

    def run(self, shown: Shown, scene: Command, folder: Path) -> Result:
        """Runs one command of the page."""
        if scene.not_run:
            return Result(shown, scene, "", 0.0)
        text = shown.text
        for word, other in scene.instead:
            if word not in text:
                return Result(shown, scene, f"{word} is not in it any more", 0.0)
            text = text.replace(word, other)
        log = self._folder / "output" / f"{shown.page.replace('/', '-')}-{shown.line}.log"
        begun = time.monotonic()
        try:
            problem = self._play(text, scene, folder, log)
        except Timeout as error:
            problem = str(error)
        if _STATE.match(shown.text):
            self._state.append(shown.text)
        return Result(shown, scene, problem, time.monotonic() - begun, log)

    def _play(self, text: str, scene: Command, folder: Path, log: Path) -> str:
        environment = self._environment(folder, scene)
        with contextlib.ExitStack() as stack:
            if scene.before:
                made = self._shell(scene.before, "", scene.seconds, environment, folder, log)
                if made != 0:
                    return f"what comes before it failed with {made}: {scene.before}"
            if scene.beside:
                stack.enter_context(_beside(scene, environment, folder, log.with_suffix(".beside")))
            code = self._shell(text, scene.input, scene.seconds, environment, folder, log)
        if code != scene.exit:
            return f"exit code {code} instead of {scene.exit}"
        said = log.read_text(encoding="utf-8", errors="replace")
        missing = [words for words in scene.says if words not in said]
        return f"it does not say: {missing[0]}" if missing else ""

    def _shell(
        self,
        text: str,
        typed: str,
        seconds: int,
        environment: Mapping[str, str],
        folder: Path,
        log: Path,
    ) -> int:
        script = "\n".join([*self._state, text])
        with open(log, "wb") as out:
            process = _start(script, folder, environment, out)
            try:
                process.communicate(typed.encode(), timeout=seconds)
            except subprocess.TimeoutExpired:
                raise Timeout(f"it did not end within {seconds} s") from None
            finally:
                _end(process)
        return process.returncode


def _start(
    script: str, folder: Path, environment: Mapping[str, str], out: IO[bytes]
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ["bash", "-c", script],
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=out,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


@contextlib.contextmanager
def _beside(
    scene: Command, environment: Mapping[str, str], folder: Path, log: Path
) -> Iterator[None]:
    """The scene's other command, from when it is ready until the end of its input."""
    with open(log, "wb") as out:
        process = _start(scene.beside, folder, environment, out)
        assert process.stdin is not None
        try:
            process.stdin.write(scene.typed.encode())
            process.stdin.flush()
            _until_ready(process, scene, log)
            yield
            process.communicate(timeout=_READY_SECONDS)
        except subprocess.TimeoutExpired:
            raise Timeout(f"{scene.beside} did not end within {_READY_SECONDS} s") from None
        finally:
            _end(process)


def _until_ready(process: subprocess.Popen[bytes], scene: Command, log: Path) -> None:
    end = time.monotonic() + _READY_SECONDS
    while scene.ready.encode() not in log.read_bytes():
        if process.poll() is not None:
            raise Timeout(f"{scene.beside} ended with {process.returncode} before it was ready")
        if time.monotonic() > end:
            raise Timeout(f"{scene.beside} did not say {scene.ready} within {_READY_SECONDS} s")
        time.sleep(_POLL_SECONDS)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Nothing that a command has started outlives it."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_END_SECONDS)
        if not _group_lives(process.pid, _END_SECONDS):
            return
    raise Timeout(f"what the command has started does not end {_END_SECONDS} s after SIGKILL")


def _group_lives(group: int, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while True:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        if time.monotonic() > end:
            return True
        time.sleep(_POLL_SECONDS)


def _same(path: Path, other: Path) -> bool:
    return path.stat().st_size == other.stat().st_size and path.read_bytes() == other.read_bytes()


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        shutil.copy(source, target)
