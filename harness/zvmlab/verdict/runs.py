# SPDX-License-Identifier: MIT
"""Tests on one side of a verdict, as pytest's report tells them."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from zvmlab.base.cache import digest
from zvmlab.base.decided import keep, recall, state_of
from zvmlab.base.errors import CannotRun, Timeout, UsageError, ZvmlabError
from zvmlab.base.home import from_home
from zvmlab.base.plain import harmless, shortened
from zvmlab.base.results import NAME, ResultsFile, sense
from zvmlab.base.tree import TREE
from zvmlab.builder.launcher import ending_with_us
from zvmlab.guest.console import CRASHES
from zvmlab.pytest_plugin.backend_choice import kernel_id
from zvmlab.pytest_plugin.requirement_results import Outcome, Result
from zvmlab.verdict.sides import Side

END_SECONDS = 30
_XPASS = "[XPASS(strict)]"
_EXPECTED = "expected to fail: "
_CRASH = re.compile(rf"^(?:E +)?({'|'.join(CRASHES)}): (.+)$", re.MULTILINE)
_IN = re.compile(r"^(?:E +)?  in: (\S.*)$", re.MULTILINE)
_LEAK = re.compile(r"^(?:E +)?(unreferenced object) 0x[0-9a-f]+ (\(size \d+\)):", re.MULTILINE)
_LEAKED = "has leaked memory"
_CALLER = re.compile(r"^(?:E +)? {4}(?:\[<[0-9a-f]+>\] )?([A-Za-z_][\w.]*)\+0x", re.MULTILINE)
_ALLOCATES = re.compile(r"kmem\w*|\w*slab\w*|\w*alloc\w*|kstrdup\w*|kmemdup\w*|__get_free_pages")
_CALLERS = 3
_NUMBERS = re.compile(r"\b0x[0-9a-f]+\b|\b[0-9a-f]{6,}\b|\b\d+\b")
_NO_TESTS = 5
_BASE = "try-base"
_PYTEST_OPTIONS = "PYTEST_ADDOPTS"
_DECIDING = ("artifacts", "driver", "guest", "harness/zvmlab", "lib", "sim", "tests", "tools")
"""What of this clone a test's result follows from."""


@dataclass(frozen=True)
class Seen:
    """What a test showed on one side."""

    node: str
    """Its name for pytest on this side."""
    holds: bool | None
    """Is what it asserts so?  None: it was skipped."""
    known: bool
    """Does it not hold just as is known of a defect?"""
    cause: str
    """Why not, in one line."""
    report: str
    """What the kernel reported: "bug: BUG: KASAN: …"."""
    inside: str
    """The innermost functions of that report."""
    text: str = ""
    """All that was said of the failure."""
    effect: str = ""
    """What a fault did, whether that is right or not."""
    warnings: Sequence[str] = ()
    """What the kernel has logged as a warning, or as worse."""

    @property
    def leaks(self) -> bool:
        """Is it memory that a guest has leaked until its end, after which of its tests ever?"""
        return self.report.startswith("leak: ")

    @property
    def kind(self) -> str:
        """Reports with the same text but for numbers, and in the same function, are one."""
        return f"{_NUMBERS.sub('N', self.report)} in {self.inside.split(' < ')[0]}"

    @property
    def logged(self) -> dict[str, str]:
        """The lines of warnings; those with the same text but for numbers are one."""
        return {_NUMBERS.sub("N", line): line for line in self.warnings}


def words_for_pytest(words: Sequence[str]) -> tuple[str, ...]:
    """The words, with tests of the user's by their whole names: pytest runs in this clone.

    UsageError if they name a file of tests that is neither there nor here.
    """
    return tuple(_placed(before, word) for before, word in zip(("", *words), words))


def _placed(before: str, word: str) -> str:
    name, colons, test = word.partition("::")
    named = name.endswith(".py") and not word.startswith("-") and not before.startswith("-")
    if not named or (TREE / name).is_file():
        return word
    path = from_home(name).absolute()
    if not path.is_file():
        raise UsageError(f"no test is called '{shortened(word)}': {TREE} has no {name}")
    return f"{path}{colons}{test}"


def _is_elsewhere(word: str) -> bool:
    """Does a word for pytest name a file or folder that is not of this clone, and may change?"""
    path = TREE / re.split("::|=", word)[word.startswith("-") and "=" in word]
    return os.path.exists(path) and not path.resolve().is_relative_to(TREE.resolve())


def short_name(node: str) -> str:
    """A test in a report: sockets.severed_with_data_unread[3]."""
    file, _, function = node.partition("::")
    return f"{Path(file).stem.removeprefix('test_')}.{function.removeprefix('test_')}"


def seen(result: Result) -> Seen:
    """A result without what pytest was told to expect."""
    text = result.failure
    expected = result.reason.startswith(_EXPECTED)
    holds: bool | None = result.outcome is Outcome.PASSED
    if result.outcome is Outcome.FAILED and _XPASS in text:
        holds, text = True, ""
    elif result.outcome is Outcome.SKIPPED and not expected:
        holds = None
    known = result.outcome is Outcome.DEVIATES or expected
    report, inside = _reported(text)
    return Seen(
        result.case.test,
        holds,
        known,
        "" if holds else shortened(harmless(result.cause, lines=False)),
        harmless(report, lines=False),
        harmless(inside, lines=False),
        text,
        warnings=[shortened(harmless(line, lines=False)) for line in result.warnings],
    )


def _reported(text: str) -> tuple[str, str]:
    """What the kernel has reported in a failure's text, and in which functions."""
    crash, inside = _CRASH.search(text), _IN.search(text)
    if crash is not None:
        return f"{crash[1]}: {crash[2]}", "" if inside is None else inside[1]
    leak = _LEAK.search(text) if _LEAKED in text else None
    if leak is None:
        return "", ""
    after = _LEAK.search(text, leak.end())
    called = _CALLER.findall(text, leak.end(), len(text) if after is None else after.start())
    others = [name for name in called if not _ALLOCATES.fullmatch(name)]
    return f"leak: {leak[1]} {leak[2]}", " < ".join(others[:_CALLERS])


def key_of(node: str, kernel: str) -> str:
    """The test's name without the kernel's, which may differ between the sides."""
    return node.replace(f"[{kernel_id(kernel)}-", "[").replace(f"[{kernel_id(kernel)}]", "")


class Runner:
    """Runs tests on sides; results are kept in a folder, so that a run can go on.

    *seconds*: a limit for each run.  With *known*, what base shows is kept in the cache as well, as long as nothing that has a part in
    it changes.
    """

    def __init__(
        self,
        folder: Path,
        resume: bool = False,
        known: bool = False,
        seconds: float | None = None,
    ) -> None:
        self.folder = folder
        self._resume = resume
        self._known = known
        self._seconds = seconds
        self.recalled: list[str] = []
        """Kernels on which base need not run."""

    def base(self, side: Side, tests: Sequence[str], label: str) -> dict[str, Seen]:
        """The results of a side that other series have, too."""
        if not self._known or any(map(_is_elsewhere, tests)):
            return self.run(side, tests, label)
        key, before = decided_by(side, tests)
        answer = recall(_BASE, key, before)
        with contextlib.suppress(AttributeError, TypeError):
            found = {str(name): Seen(**one) for name, one in answer.items()}
            self.recalled.append(side.kernel)
            return found
        results = self.run(side, tests, label)
        # A failure may be one by chance.
        if all(one.holds is not False or one.known for one in results.values()):
            keep(_BASE, key, before, {name: asdict(one) for name, one in results.items()})
        return results

    def so_far(self, side: Side, label: str) -> dict[str, Seen]:
        """The results of a run that was cut off."""
        return self._results(self.folder / label, side)

    def run(
        self, side: Side, tests: Sequence[str], label: str, counts: Path | None = None
    ) -> dict[str, Seen]:
        """The results by key_of() the tests; *label* is a name for this run in the folder.

        *counts*: a folder for what runs of the kernel's lines.
        """
        report = self.folder / label
        before = ResultsFile(report / NAME).read() if self._resume and report.exists() else None
        if before is None or not before.finished:
            self._pytest(side, tests, report, counts)
        return self._results(report, side)

    def _pytest(self, side: Side, tests: Sequence[str], report: Path, counts: Path | None) -> None:
        report.mkdir(parents=True, exist_ok=True)
        (report / NAME).unlink(missing_ok=True)  # of a run that was cut off
        argv = [sys.executable, "-m", "pytest", "-q", "-p", "zvmlab.pytest_plugin"]
        argv += ["-p", "no:cacheprovider", "--kernel", side.kernel]
        argv += ["--zvmlab-report", str(report), "--basetemp", str(report / "guests")]
        argv += ["--coverage", str(counts)] if counts is not None else []
        env = {**os.environ, **side.environment, "PYTHONPATH": str(TREE / "harness")}
        log = report / "pytest.log"
        code = call([*argv, *tests], env, log, self._seconds)
        if not (report / NAME).exists() or code not in (0, 1):
            self._explain(code, log, tests)

    def _explain(self, code: int, log: Path, tests: Sequence[str]) -> None:
        said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        errors = [line for line in said if "ERROR" in line or line.startswith("E ")]
        text = shortened(harmless((errors or said or ["nothing was said"])[-1], lines=False))
        if code == _NO_TESTS:
            raise UsageError(f"pytest finds no test by the words {shortened(shlex.join(tests))}")
        if "No module named" in text:
            raise CannotRun(f"the tests need: ci/setup.sh test ({text})")
        if code == 4:
            raise UsageError(f"pytest does not take the tests: {text}")
        raise ZvmlabError(f"pytest ended with exit code {code}: {text}")

    def _results(self, report: Path, side: Side) -> dict[str, Seen]:
        found = ResultsFile(report / NAME).read() if report.exists() else None
        results: dict[str, Seen] = {}
        if found is not None:
            with sense(found.path):
                for line in found.lines:
                    if "result" in line:
                        one = seen(Result.from_json(line))
                        results[key_of(one.node, side.kernel)] = one
        return results


def call(
    argv: Sequence[str], env: Mapping[str, str], log: Path, seconds: float | None = None
) -> int:
    """Run a command of this clone; its exit code.  Whatever ends us ends it and its guests.

    Timeout after so many seconds.
    """
    with open(log, "w", encoding="utf-8") as out:
        process = subprocess.Popen(
            ending_with_us(argv),
            cwd=TREE,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Timeout(f"{argv[-1]} did not end within {seconds:g} s") from None
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End pytest in order, so that its guests end, too; then by force."""
    for number in (signal.SIGINT, signal.SIGKILL):
        if process.poll() is not None:
            return
        try:
            os.killpg(process.pid, number)
            process.wait(END_SECONDS)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue


def decided_by(side: Side, words: Sequence[str]) -> tuple[str, str | None]:
    """What the results of these tests, or of other words, on a side follow from: a key, and this clone."""
    key = digest(side.identity, side.kernel, *words, *_settings())
    return key, state_of(TREE / name for name in _DECIDING)


def _settings() -> list[str]:
    """Settings of the harness, and the emulator that its guests have."""
    from zvmlab.builder.qemubuild import version

    known = sorted(os.environ.items())
    found = [f"{k}={v}" for k, v in known if k.startswith("ZVMLAB_") or k == _PYTEST_OPTIONS]
    return [version(), *found]
