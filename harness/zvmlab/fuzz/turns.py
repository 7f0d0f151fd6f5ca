# SPDX-License-Identifier: MIT
"""A campaign: several targets on several kernels, each pair of them in a process and a folder of its own.

    todo = turns(["af_iucv", "iucv"], ["6.12", "source:7.2:fuzz"], UPSTREAM_DRIVER, Path("campaign"))
    run(todo, How(seconds=7200, jobs=2, seed=7), Progress())

A process is an ordinary run of zvmlab fuzz, so each pair's folder goes on as that of a single run does:

    FOLDER/KERNEL/TARGET/run.json       figures and findings of all runs of the pair
    FOLDER/KERNEL/TARGET/log            what the last run has said
    FOLDER/KERNEL/TARGET/reproducers    of new findings
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zvmlab.base.errors import EXIT_FAILED, EXIT_PASS, UsageError
from zvmlab.base.json_file import parse
from zvmlab.base.plain import harmless, shortened
from zvmlab.base.progress import Progress
from zvmlab.base.results import sense
from zvmlab.base.tree import TREE
from zvmlab.builder.kernel import Kernel, counts_lines
from zvmlab.builder.kernels import resolve
from zvmlab.builder.modules import available, builtin, module_name
from zvmlab.fuzz.campaign import MAX_JOBS, RUN, RUN_BYTES, SMALL_SECONDS, write
from zvmlab.fuzz.grammar import Target, find, names
from zvmlab.guest.names import DRIVER, OUR_DRIVER, UPSTREAM_DRIVER

ALL = "all"
SAID = "said"
"""Of run.json: why the last run was none, or what has ended it."""
LINES = "lines"
"""And so many lines of Linux its cases have run, if they were counted."""
LOG, REPRODUCERS = "log", "reproducers"
_START_SECONDS = 1200.0
"""So long a pair may take to build what its guest runs, to start it, and to end, beside its share."""
_END_SECONDS = 120.0
"""After a request to end, a pair has so long to say what it has found."""
_LOOK_SECONDS = 0.2
_SAID_MAX = 300
_NAME = "zvmlab: "
"""So an error begins on standard error."""
_NOTHING = {"cases": 0, "seconds": 0.0, "cpu-seconds": 0.0, "guests": 0, "blocks": 0, "pairs": 0}


@dataclass(frozen=True)
class Turn:
    """A target on a kernel."""

    target: Target
    kernel: str
    driver: str
    folder: Path

    @property
    def counts(self) -> bool:
        """Are the lines counted that it runs?  A driver that is not the kernel's has none of its lines."""
        return counts_lines(self.kernel) and self.driver == UPSTREAM_DRIVER

    def __str__(self) -> str:
        ours = "" if self.driver == UPSTREAM_DRIVER else f" with the driver {self.driver}"
        return f"{self.target.name} on {self.kernel}{ours}"


@dataclass(frozen=True)
class How:
    """What all pairs of a campaign have in common."""

    seconds: float
    """For all pairs together."""
    jobs: int
    """So many pairs run at the same time."""
    seed: int
    options: tuple[str, ...] = ()
    """Further words of the command line."""
    coverage: Path | None = None
    """Where kernels that count lines keep which have run."""

    def __post_init__(self) -> None:
        if not 1 <= self.jobs <= MAX_JOBS:
            raise UsageError(f"invalid number of jobs: {self.jobs} (1 to {MAX_JOBS})")


def turns(words: Sequence[str], kernels: Sequence[str], driver: str, folder: Path) -> list[Turn]:
    """Each target on each kernel; UsageError names one that there is not.

    All of them are the others, and monreader with our driver.
    """
    whole = ALL in words
    targets = [find(name) for name in dict.fromkeys(names() if whole else words)]
    found = []
    for kernel in dict.fromkeys(kernels):
        place = folder / _folder_name(kernel)
        found += [Turn(target, kernel, driver, place / target.name) for target in targets]
        if whole and driver == UPSTREAM_DRIVER:
            ours = place / f"{DRIVER}-{OUR_DRIVER}"
            found.append(Turn(find(DRIVER), kernel, OUR_DRIVER, ours))
    if len({turn.folder for turn in found}) < len(found):
        raise UsageError(f"two of the kernels {', '.join(kernels)} would have the same folder")
    return found


def _folder_name(kernel: str) -> str:
    """source:7.2:fuzz is source-7.2-fuzz."""
    return kernel.strip("/").replace("/", "-").replace(":", "-")


def lacks(kernel: Kernel, turn: Turn) -> str | None:
    """Why that kernel cannot run it; None if it can."""
    loaded = {module_name(str(step["module"])) for step in turn.target.mark if step["do"] == "load"}
    wanted = [module_name(name) for name in turn.target.modules if "/" not in name]
    if turn.driver == UPSTREAM_DRIVER and DRIVER in loaded:
        wanted.append(DRIVER)
    there, inside = available(kernel), builtin(kernel)
    for name in wanted:
        if name not in there and name not in inside:
            return f"the kernel has no module {name}"
        if name not in there and name in loaded:
            return f"{name} is a part of the kernel and no module"
    return None


def noted(folder: Path) -> dict[str, Any] | None:
    """What run.json of a pair has; None if it has not been run."""
    file = folder / RUN
    if not file.exists():
        return None
    found = parse(file, str(file), RUN_BYTES)
    with sense(file):
        return dict(found)  # type: ignore[call-overload, no-any-return]


def _say(turn: Turn, text: str) -> None:
    """Note why there was no run, beside the figures of earlier ones."""
    turn.folder.mkdir(parents=True, exist_ok=True)
    run = {"target": turn.target.name, "kernel": turn.kernel, "driver": turn.driver}
    found = noted(turn.folder) or {**run, "runs": 0, **_NOTHING, "findings": []}
    write(turn.folder / RUN, {**found, SAID: harmless(text, lines=False)})


def note_lines(turn: Turn, lines: int) -> None:
    """Note how many lines of Linux the cases of a pair have run."""
    found = noted(turn.folder)
    if found is not None:
        write(turn.folder / RUN, {**found, LINES: lines})


def _seconds(turn: Turn) -> float:
    """So much time a pair has had."""
    found = noted(turn.folder) or {}
    with sense(turn.folder / RUN):
        return float(found.get("seconds", 0.0))


class _Run:
    """A pair that runs, in a process that ends with this one."""

    def __init__(self, turn: Turn, how: How, share: float, jobs: int) -> None:
        self.turn = turn
        turn.folder.mkdir(parents=True, exist_ok=True)
        self._log = turn.folder / LOG
        self._limit = share + max(share, SMALL_SECONDS) + _START_SECONDS
        self._end = time.monotonic() + self._limit
        self.late = False
        with open(self._log, "wb") as log:
            self._process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", *command(turn, how, share, jobs)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # Ctrl-C is for us, who ask it to end.
                start_new_session=True,
            )

    def ended(self) -> bool:
        """Has it ended?  What takes too long is asked to."""
        if self._process.poll() is None and time.monotonic() >= self._end:
            self.late = True
            self.ask_to_end()
            self.await_end()
        return self._process.poll() is not None

    def ask_to_end(self) -> None:
        """It says what it has found, and ends."""
        self._process.terminate()

    def await_end(self) -> None:
        """Until it has."""
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def failed(self) -> str | None:
        """Why it has come to no end; None if it has."""
        if self.late:
            return f"it took longer than {self._limit:.0f} s, and was ended"
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        said = [line.removeprefix(_NAME) for line in lines if line.startswith(_NAME)]
        code = self._process.returncode
        if said and code != EXIT_PASS:
            return shortened(said[-1], _SAID_MAX)
        if code not in (EXIT_PASS, EXIT_FAILED):
            return f"its process has ended with {code}; {self._log} has what it has said"
        return None


def command(turn: Turn, how: How, share: float, jobs: int) -> list[str]:
    """What runs a pair for so many seconds in so many guests."""
    words = [sys.executable, str(TREE / "zvmlab"), "fuzz", turn.target.name]
    words += ["--kernel", turn.kernel, "--driver", turn.driver, "--seed", str(how.seed)]
    words += ["--seconds", f"{share:.1f}", "--jobs", str(jobs), "--output", str(turn.folder)]
    words += ["--emit", str(turn.folder / REPRODUCERS), *how.options]
    return [*words, "--coverage", str(how.coverage)] if how.coverage and turn.counts else words


def run(todo: Iterable[Turn], how: How, progress: Progress) -> bool:
    """Run all pairs, those first that have had the least time; False if one has failed.

    What a kernel cannot run is noted, and no failure.
    """
    can, kernels = [], {}
    for turn in todo:
        if turn.kernel not in kernels:
            kernels[turn.kernel] = resolve(turn.kernel, progress=progress)
        why = lacks(kernels[turn.kernel], turn)
        if why is None:
            can.append(turn)
        else:
            _say(turn, why)
            progress.say(f"{turn}: {why}")
    return _Turns(sorted(can, key=_seconds), how, progress).run() if can else True


class _Turns:
    """Pairs that wait, and those that run."""

    def __init__(self, waiting: list[Turn], how: How, progress: Progress) -> None:
        self._waiting = waiting
        self._how = how
        self._progress = progress
        self._number = len(waiting)
        self._running: list[_Run] = []
        self._good = True

    def run(self) -> bool:
        """All of them."""
        with self._progress.step("fuzzing", self._number) as step:
            try:
                while self._waiting or self._running:
                    self._start()
                    time.sleep(_LOOK_SECONDS)
                    self._look()
                    step.update(self._number - len(self._waiting) - len(self._running))
            finally:
                self._end()
        return self._good

    def _start(self) -> None:
        beside = min(self._how.jobs, self._number)
        share = self._how.seconds * beside / self._number
        while self._waiting and len(self._running) < beside:
            turn = self._waiting.pop(0)
            self._running.append(_Run(turn, self._how, share, self._how.jobs // beside))

    def _look(self) -> None:
        for one in [one for one in self._running if one.ended()]:
            self._running.remove(one)
            why = one.failed()
            if why is not None:
                self._good = False
                _say(one.turn, why)
            self._progress.say(f"{one.turn}: {why or _result(one.turn)}")

    def _end(self) -> None:
        """Of Ctrl-C: who runs says what it has found, all at the same time."""
        for one in self._running:
            with contextlib.suppress(ProcessLookupError):
                one.ask_to_end()
        for one in self._running:
            one.await_end()


def _result(turn: Turn) -> str:
    found = noted(turn.folder) or {}
    with sense(turn.folder / RUN):
        new = sum(one["known"] is None for one in found["findings"])
        return f"{found['cases']} cases, findings {len(found['findings'])} ({new} new)"
