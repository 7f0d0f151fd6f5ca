# SPDX-License-Identifier: MIT
"""git bisect with guests: which commit of a kernel, or of a module, breaks a test.

The cache has for each repository a folder bisect-KEY:

    bisect-KEY/NAME      a repository of ours, whose objects are the user's: git bisect works there
    bisect-KEY/identity  which search it is
    bisect-KEY/failing   the tests that fail at the bad end
    bisect-KEY/results   what pytest said of the commit that is tried

The user's repository is only read.  After a kill the search goes on from git's own log.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from zvmlab.base import manifest
from zvmlab.base.cache import cache_root, digest, locked_within
from zvmlab.base.errors import (
    EXIT_CANNOT_RUN,
    EXIT_FAILED,
    EXIT_PANIC,
    EXIT_PASS,
    EXIT_TIMEOUT,
    EXIT_USAGE,
    CannotRun,
    UsageError,
    ZvmlabError,
)
from zvmlab.base.home import from_home
from zvmlab.base.owned import discard, is_ours, mark
from zvmlab.base.plain import harmless, shortened
from zvmlab.base.progress import Progress
from zvmlab.base.tree import TREE
from zvmlab.builder.kernel import REPLACED
from zvmlab.builder.kernels import check_name, resolve
from zvmlab.builder.modulebuild import built_modules
from zvmlab.builder.modules import available
from zvmlab.builder.tree_name import DEBUG_WORD, tree_name
from zvmlab.guest.names import DRIVER
from zvmlab.scenarios import to_sweep
from zvmlab.verdict.git import commit_of, git, init_repository, need, top_of, try_git
from zvmlab.verdict.runs import Runner, words_for_pytest
from zvmlab.verdict.sides import Side

LOCK_SECONDS = 3600
MOST_TIMES = 100
_SCENARIO = "scenario:"
_FIRST_BAD = re.compile(r"^([0-9a-f]{40}) is the first bad commit$", re.MULTILINE)
_ONLY_SKIPPED = "only 'skip'ped commits left"


class _Untested(Exception):
    """The tests say nothing of a commit; the text says why."""


class Result(StrEnum):
    """What became of a commit, in git's words."""

    GOOD = "good"
    BAD = "bad"
    SKIP = "skip"


@dataclass(frozen=True)
class Plan:
    """What the user asks for."""

    good: str
    bad: str
    kernel: str
    test: tuple[str, ...]
    module: Path | None = None
    """The folder of a module: only that is built, for *kernel*."""
    times: int = 1
    resume: bool = False


@dataclass
class Found:
    """The end of a search."""

    commit: str = ""
    """Hash of the first bad commit; "" if only skipped ones are left."""
    text: str = ""
    """That commit, or those that it may be, in words."""
    tried: list[str] = field(default_factory=list)
    """A line for each commit that was tried."""

    @property
    def exit_code(self) -> int:
        """The exit code of the command."""
        return EXIT_PASS if self.commit else EXIT_FAILED


def bisect(plan: Plan, progress: Progress) -> Found:
    """Search; UsageError if an end is not what it is said to be."""
    need("git", "git", "a bisection")
    if not plan.test:
        raise UsageError("after -- comes the test: words for pytest, scenario:NAME, or a program")
    if plan.test[0].startswith(_SCENARIO):
        to_sweep(_scenario(plan.test[0])[0])
    elif _is_for_pytest(plan.test):
        plan = replace(plan, test=words_for_pytest(plan.test))
    if not 1 <= plan.times <= MOST_TIMES:
        raise UsageError(f"-n is from 1 to {MOST_TIMES}")
    return _Search(plan, progress).run()


class _Search:
    """One bisection."""

    def __init__(self, plan: Plan, progress: Progress) -> None:
        self._plan = plan
        self._progress = progress
        self._words = ""
        self._inner = Path()
        top = self._repository()
        self._top = top
        self._good, self._bad = commit_of(top, plan.good), commit_of(top, plan.bad)
        if self._good == self._bad:
            raise UsageError(f"--good and --bad are the same commit, {self._good[:12]}")
        ancestry = ["merge-base", "--is-ancestor", self._good, self._bad]
        if try_git(ancestry, top).returncode != 0:
            raise UsageError(
                f"--good {plan.good} is not an ancestor of --bad {plan.bad}: there is no first bad"
                " commit between them"
            )
        self._work = cache_root() / f"bisect-{digest(str(top))}"
        self._clone = self._work / top.name
        self._found = Found()

    def _repository(self) -> Path:
        """The top of the repository; notes what in it is built."""
        plan = self._plan
        check_name(plan.kernel)
        if plan.module is not None:
            folder = from_home(plan.module).resolve()
            if not folder.is_dir():
                raise UsageError(f"--module: there is no folder {plan.module}")
            done = try_git(["rev-parse", "--show-toplevel"], folder)
            if done.returncode != 0:
                raise UsageError(f"--module: {folder} is not in a git repository")
            top = Path(os.fsdecode(done.stdout.strip()))
            self._inner = folder.relative_to(top)
            return top
        name = tree_name(plan.kernel)
        tree = None if name is None or name.series else from_home(name.place).resolve()
        if name is None or tree is None or top_of(tree) is None:
            raise UsageError(
                f"--kernel {plan.kernel} is not a source tree in a git repository, which a bisection"
                " needs; or name the repository of a module with --module"
            )
        self._words = plan.kernel[len(name.place) :]
        return tree

    def run(self) -> Found:
        """Search to the end."""
        what = f"the commits of {self._top}"
        with locked_within(self._work.name, LOCK_SECONDS, what, self._progress.say):
            self._prepare()
            try:
                self._search()
            except UsageError:
                discard(self._work)
                raise
            discard(self._work)
        return self._found

    def _search(self) -> None:
        git_log = self._clone / ".git" / "BISECT_LOG"
        if not git_log.exists():
            self._ends()
            said = self._bisect("start", self._bad, self._good)
        else:
            said = self._again(git_log)
        while not self._is_over(said):
            commit = git(["rev-parse", "HEAD"], self._clone).decode("ascii").strip()
            said = self._bisect(self._try(commit).value)

    def _prepare(self) -> None:
        """A repository of ours with the user's objects; what a kill has left is used or removed."""
        plan = self._plan
        words = (self._good, self._bad, plan.kernel, *plan.test, str(self._inner), str(plan.times))
        identity = digest(*words)
        noted = self._work / "identity"
        if plan.resume:
            if not noted.is_file():
                raise UsageError(f"--resume: no bisection of {self._top} was cut off")
            if noted.read_text(encoding="ascii") != identity:
                raise UsageError(
                    "--resume: the bisection that was cut off had other ends, another test or another"
                    " kernel; leave out --resume to begin anew"
                )
            for lock in (self._clone / ".git").glob("*.lock"):
                lock.unlink()
            return
        discard(self._work)
        self._clone.mkdir(parents=True)
        if not is_ours(self._work):
            mark(self._work, manifest.NOTHING)
        init_repository(self._clone)
        alternates = self._clone / ".git" / "objects" / "info" / "alternates"
        alternates.parent.mkdir(exist_ok=True)
        alternates.write_text(f"{self._of_git('objects')}\n", encoding="utf-8")
        shallow = self._of_git("shallow")  # where the history of a "clone --depth" ends
        if shallow.is_file():
            shutil.copy(shallow, self._clone / ".git" / "shallow")
        noted.write_text(identity, encoding="ascii")

    def _of_git(self, name: str) -> Path:
        """A file or folder of the user's .git."""
        found = git(["rev-parse", "--git-path", name], self._top)
        return self._top / os.fsdecode(found.strip())

    def _ends(self) -> None:
        """Try both ends first: a search between wrong ones finds anything."""
        for commit, wanted, name in (
            (self._bad, Result.BAD, self._plan.bad),
            (self._good, Result.GOOD, self._plan.good),
        ):
            git(["checkout", "--quiet", "--force", "--detach", commit], self._clone)
            found = self._try(commit)
            if found is wanted:
                continue
            why = {
                Result.SKIP: "cannot be tested",
                Result.GOOD: "passes the test",
                Result.BAD: "fails the test",
            }[found]
            raise UsageError(f"--{wanted} {name} {why}: {self._found.tried[-1]}")

    def _again(self, git_log: Path) -> str:
        """Go on from git's own log."""
        kept = self._work / "log"
        kept.write_bytes(git_log.read_bytes())
        git(["reset", "--quiet", "--hard"], self._clone)
        self._bisect("reset")
        self._progress.say(f"going on with the bisection of {self._top}")
        return self._bisect("replay", str(kept))

    def _bisect(self, *words: str) -> str:
        done = try_git(["bisect", *words], self._clone)
        said = (done.stdout + done.stderr).decode("utf-8", "replace")
        if done.returncode != 0 and _ONLY_SKIPPED not in said:
            raise ZvmlabError(f"git bisect {words[0]} failed: {shortened(harmless(said.strip()))}")
        return said

    def _is_over(self, said: str) -> bool:
        first = _FIRST_BAD.search(said)
        if first is not None:
            self._found.commit = first[1]
            words = ["show", "--no-patch", "--format=%h %s%n%an, %ad", "--date=short", first[1]]
            self._found.text = harmless(git(words, self._clone).decode("utf-8", "replace").strip())
            return True
        if _ONLY_SKIPPED in said:
            commits = re.findall(r"^[0-9a-f]{40}$", said, re.MULTILINE)
            self._found.text = "it is one of " + ", ".join(commit[:12] for commit in commits)
            return True
        return False

    def _try(self, commit: str) -> Result:
        """Build and test what is checked out."""
        words = ["show", "--no-patch", "--format=%h %s", commit]
        shown = harmless(git(words, self._clone).decode("utf-8", "replace").strip(), lines=False)
        with self._progress.step(f"trying {shortened(shown, 60)}"):
            result, why = self._result()
        self._found.tried.append(f"{result:<4} {shown}{f' ({why})' if why else ''}")
        return result

    def _result(self) -> tuple[Result, str]:
        try:
            kernel, options, environment = self._build()
        except UsageError as error:
            return Result.SKIP, shortened(str(error), 200)
        seen = set()
        for turn in range(self._plan.times):
            try:
                seen.add(self._test(kernel, options, environment, turn))
            except _Untested as error:
                return Result.SKIP, str(error)
            if len(seen) > 1:
                return Result.SKIP, f"unsteady in {turn + 1} runs"
        return (Result.GOOD if seen == {True} else Result.BAD), ""

    def _build(self) -> tuple[str, list[str], Mapping[str, str]]:
        """Kernel, further options for the harness, and its environment.

        UsageError if there is nothing to test.
        """
        plan = self._plan
        if plan.module is None:
            name = f"{self._clone}{self._words}"
            # A process of its own: in one process a tree has one state.
            argv = [sys.executable, str(TREE / "zvmlab"), "fetch", name]
            done = subprocess.run(
                argv, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
            )
            if done.returncode == EXIT_USAGE:
                raise UsageError(_last(done.stderr))
            if done.returncode != 0:
                raise CannotRun(_last(done.stderr))
            return name, [], {REPLACED: ""}
        kernel = resolve(plan.kernel, progress=self._progress)
        folder = self._clone / self._inner
        if not folder.is_dir():
            raise UsageError(f"there is no folder {self._inner}")
        modules = built_modules(folder, kernel, Progress(quiet=True))
        options = ["--driver", str(modules[DRIVER])] if DRIVER in modules else []
        replaced = [str(file) for name, file in modules.items() if name in available(kernel)]
        if not options and not replaced:
            raise UsageError(
                f"kernel {kernel} has no module {' or '.join(sorted(modules))}, so that no guest would"
                " load what is built"
            )
        return plan.kernel, options, {REPLACED: "" if options else ":".join(replaced)}

    def _test(
        self, kernel: str, options: list[str], environment: Mapping[str, str], turn: int
    ) -> bool:
        """Does it pass?"""
        words = self._plan.test
        if words[0].startswith(_SCENARIO):
            name, fault = _scenario(words[0])
            argv = ["sweep", name, "--kernel", kernel, *options, "--seed", "1", "--fresh"]
            argv += [
                "--output",
                str(self._work / "sweep"),
                *(["--point", fault] if fault else []),
            ]
            return self._zvmlab(argv, environment)
        if is_case(words):
            argv = ["fuzz", "--replay", words[0], "--kernel", kernel, *options]
            return self._zvmlab(argv, environment, folder=self._work)
        if _is_for_pytest(words):
            return self._pytest(kernel, options, environment, turn)
        return self._zvmlab(["run", "--kernel", kernel, *options, "--", *words], environment, True)

    def _zvmlab(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        program: bool = False,
        folder: Path | None = None,
    ) -> bool:
        """Does a command of this clone pass, in the user's folder or another one?"""
        argv = [sys.executable, str(TREE / "zvmlab"), *words]
        done = subprocess.run(
            argv,
            cwd=folder,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            check=False,
        )
        said = done.stderr.strip().rpartition("\n")[2]
        if said.startswith("zvmlab: ") and done.returncode in (EXIT_USAGE, EXIT_CANNOT_RUN):
            raise ZvmlabError(f"the test cannot be run: {_last(done.stderr)}")
        if (
            is_case(self._plan.test)
            and said.startswith("zvmlab: ")
            and done.returncode == EXIT_FAILED
        ):
            raise _Untested(_last(done.stderr))  # the guest could not be prepared
        fails = (EXIT_FAILED, EXIT_TIMEOUT, EXIT_PANIC)
        ended = done.returncode < 0  # by a signal
        if done.returncode != 0 and (ended or not program and done.returncode not in fails):
            raise ZvmlabError(f"the test cannot be run: {_last(done.stderr)}")
        return done.returncode == 0

    def _pytest(
        self, kernel: str, options: list[str], environment: Mapping[str, str], turn: int
    ) -> bool:
        folder = self._work / "results"
        shutil.rmtree(folder, ignore_errors=True)
        replaced = tuple(Path(word) for word in environment.get(REPLACED, "").split(":") if word)
        side = Side(kernel, kernel, replaced)
        seen = Runner(folder, False).run(side, [*options, *self._plan.test], str(turn))
        failing = sorted(key for key, one in seen.items() if one.holds is False)
        noted = self._work / "failing"
        if failing:
            if not noted.exists():  # the bad end is tried first
                noted.write_text("\n".join(failing), encoding="utf-8")
            return False
        ran = {key for key, one in seen.items() if one.holds}
        deciding = noted.read_text(encoding="utf-8").split("\n") if noted.exists() else ran
        if not ran or not ran.issuperset(deciding):
            raise _Untested("its tests are skipped")
        return True


def is_case(words: Sequence[str]) -> bool:
    """Is the test a case of the fuzzer?"""
    return len(words) == 1 and words[0].endswith(".json")


def _scenario(word: str) -> tuple[str, str]:
    """Of scenario:NAME[:FAULT], or scenario:FILE.py:NAME[:FAULT], the scenario and the fault."""
    file, python, rest = word.removeprefix(_SCENARIO).rpartition(".py:")
    name, _, fault = rest.partition(":")
    return f"{from_home(file + '.py').absolute()}:{name}" if python else name, fault


def _is_for_pytest(words: Sequence[str]) -> bool:
    return words[0].startswith("-") or ".py" in words[0]


def _last(text: str) -> str:
    lines = text.strip().splitlines() or ["nothing was said"]
    return shortened(harmless(lines[-1].removeprefix("zvmlab: "), lines=False))


def report(plan: Plan, found: Found) -> Iterator[str]:
    """The end of a search as text."""
    yield from found.tried
    yield ""
    if found.commit:
        yield f"first bad commit: {found.text}"
    else:
        yield f"not decided: {found.text}"
        yield "all commits left do not build or are unsteady; -n TIMES repeats the test"
    words = " ".join(plan.test)
    yield f"test: {words} on {plan.kernel}"


def debug_kernel(name: str) -> str:
    """The same tree as a debug kernel."""
    return f"{name}:{DEBUG_WORD}"
