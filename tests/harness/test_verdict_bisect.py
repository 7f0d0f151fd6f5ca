# SPDX-License-Identifier: MIT
"""Bisections of a made repository; what builds and what passes is written in its commits."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from made_patches import git

from zvmlab.base.cache import cache_root
from zvmlab.base.errors import UsageError, ZvmlabError
from zvmlab.base.progress import Progress
from zvmlab.cli.main import main
from zvmlab.fuzz.case import Case, save
from zvmlab.verdict import bisect as subject
from zvmlab.verdict.bisect import Found, Plan, bisect
from zvmlab.verdict.runs import Runner, Seen, words_for_pytest

QUIET = Progress(quiet=True)
COMMITS, PLANTED = 26, 6
"""The mistake is planted 20 commits before the last one."""
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A module's repository: each commit says in its files whether it builds and passes."""
    folder = tmp_path_factory.mktemp("history") / "module"
    (folder / "src").mkdir(parents=True)
    git(folder, "init", "--quiet")
    for number in range(1, COMMITS + 1):
        (folder / "src" / "Kbuild").write_text("obj-m := m.o\n")
        (folder / "src" / "m.c").write_text(f"/* {number} */\n")
        state = "bad" if number >= PLANTED else "good"
        (folder / "src" / "state").write_text(state)
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", f"--message=change {number}")
    return folder


@pytest.fixture
def repository(history: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One of the test's own with that history."""
    monkeypatch.setenv("ZVMLAB_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "module"
    shutil.copytree(history, folder)
    return folder


def fake(monkeypatch: pytest.MonkeyPatch, states: Callable[[str], list[str]]) -> list[str]:
    """Builds and tests by what *states* says of a commit's subject; return: what was tried."""
    tried: list[str] = []

    def built(folder: Path, _kernel: object, _progress: object) -> dict[str, Path]:
        subject_ = git(folder, "show", "--no-patch", "--format=%s").strip()
        tried.append(subject_)
        if states(subject_) == ["broken"]:
            raise UsageError("m.c:1:1: error: expected ';'")
        return {"m": folder / "m.c"}

    def test(self: Any, _kernel: str, _options: object, _environment: object, turn: int) -> bool:
        state = states(tried[-1])
        if state == ["skipped"]:
            raise subject._Untested("its tests are skipped")
        return state[turn % len(state)] == "good"

    monkeypatch.setattr(subject, "resolve", lambda name, progress: SimpleNamespace(name=name))
    monkeypatch.setattr(subject, "available", lambda kernel: frozenset({"m"}))
    monkeypatch.setattr(subject, "built_modules", built)
    monkeypatch.setattr(subject._Search, "_test", test)
    return tried


def number(text: str) -> int:
    return int(text.rpartition(" ")[2])


def planted(text: str) -> list[str]:
    return ["bad" if number(text) >= PLANTED else "good"]


def plan(repository: Path, **fields: Any) -> Plan:
    values: dict[str, Any] = {
        "good": f"HEAD~{COMMITS - 1}",
        "bad": "HEAD",
        "kernel": "bookworm",
        "test": ("tests/e2e/test_smsg.py",),
        "module": repository / "src",
    }
    return Plan(**values | fields)


def first_bad(found: Found, repository: Path) -> str:
    assert found.commit
    return git(repository, "show", "--no-patch", "--format=%s", found.commit).strip()


def test_mistake_of_20_commits_ago_is_found(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = git(repository, "status", "--porcelain"), git(repository, "for-each-ref")
    tried = fake(monkeypatch, planted)
    found = bisect(plan(repository), QUIET)
    assert first_bad(found, repository) == f"change {PLANTED}" and found.exit_code == 0
    assert tried[:2] == [f"change {COMMITS}", "change 1"], "the ends come first"
    assert len(tried) <= 2 + 5
    assert (git(repository, "status", "--porcelain"), git(repository, "for-each-ref")) == before
    assert not (repository / ".git" / "BISECT_LOG").exists()
    assert not list(cache_root().glob("bisect-*"))


def test_history_may_end_before_the_good_commit(
    repository: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As that of git clone --depth does."""
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "--quiet", "--depth=24", f"file://{repository}", str(shallow))
    fake(monkeypatch, planted)
    found = bisect(plan(shallow, good="HEAD~22"), QUIET)
    assert first_bad(found, shallow) == f"change {PLANTED}"


def test_what_does_not_build_is_skipped(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(monkeypatch, lambda text: ["broken"] if number(text) in (13, 12, 7) else planted(text))
    found = bisect(plan(repository), QUIET)
    assert first_bad(found, repository) == f"change {PLANTED}"
    assert any(line.startswith("skip") and "expected ';'" in line for line in found.tried)


def test_unsteady_result_is_skipped(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(monkeypatch, lambda text: ["bad", "good"] if number(text) == 13 else planted(text))
    found = bisect(plan(repository, times=3), QUIET)
    assert first_bad(found, repository) == f"change {PLANTED}"
    assert any("unsteady in 2 runs" in line for line in found.tried)


def test_commit_whose_tests_are_skipped_is_skipped(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(monkeypatch, lambda text: ["skipped"] if number(text) == 13 else planted(text))
    found = bisect(plan(repository), QUIET)
    assert first_bad(found, repository) == f"change {PLANTED}"
    assert any(line.endswith("change 13 (its tests are skipped)") for line in found.tried)


def test_commit_passes_only_if_what_fails_at_the_bad_end_passes(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mistake's own test may be skipped there, and another one pass."""
    search = subject._Search(plan(repository), QUIET)
    search._work.mkdir(parents=True)
    results: dict[str, bool | None] = {}

    def run(_self: Any, *_words: object) -> dict[str, Seen]:
        return {key: Seen(key, holds, False, "", "", "") for key, holds in results.items()}

    monkeypatch.setattr(Runner, "run", run)
    commits: list[tuple[dict[str, bool | None], bool | None]] = [
        ({"a": None, "b": None}, None),
        ({"a": None, "b": True}, True),
        ({"a": False, "b": True}, False),  # the bad end
        ({"a": None, "b": True}, None),
        ({"b": True}, None),
        ({"a": True, "b": None}, True),
        ({"a": None, "b": False}, False),
    ]
    for holds, wanted in commits:
        results.clear()
        results.update(holds)
        if wanted is not None:
            assert search._pytest("bookworm", [], {}, 0) is wanted, holds
            continue
        with pytest.raises(subject._Untested):
            search._pytest("bookworm", [], {}, 0)


def test_program_that_a_signal_ended_on_the_host_decides_nothing(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as zvmlab itself, where memory is short."""
    search = subject._Search(plan(repository, test=("/bin/true",)), QUIET)
    ended = SimpleNamespace(returncode=-signal.SIGKILL, stderr="")
    monkeypatch.setattr(subprocess, "run", lambda *_words, **_more: ended)
    with pytest.raises(ZvmlabError, match="the test cannot be run"):
        search._test("bookworm", [], {}, 0)


def test_command_that_fails_by_itself_decides_nothing(
    repository: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """zvmlab ends with 1 if a guest cannot be prepared, as it does for a finding."""
    save(Case("af_iucv", ()), tmp_path / "case.json")
    search = subject._Search(plan(repository, test=(str(tmp_path / "case.json"),)), QUIET)
    done = SimpleNamespace(returncode=1, stderr="building\n")
    monkeypatch.setattr(subprocess, "run", lambda *_words, **_more: done)
    assert not search._test("bookworm", [], {}, 0)
    done.stderr += "zvmlab: what prepares the guest fails: load gives 2\n"
    with pytest.raises(subject._Untested, match="^what prepares the guest fails"):
        search._test("bookworm", [], {}, 0)


def test_module_that_no_guest_would_load_is_a_sentence(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(monkeypatch, planted)
    monkeypatch.setattr(subject, "available", lambda kernel: frozenset({"other"}))
    with pytest.raises(UsageError, match="has no module m, so that no guest would load"):
        bisect(plan(repository), QUIET)


def test_only_skipped_commits_left_is_not_decided(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(monkeypatch, lambda text: ["broken"] if 1 < number(text) < COMMITS else planted(text))
    found = bisect(plan(repository), QUIET)
    assert not found.commit and found.exit_code == 1 and found.text.startswith("it is one of ")


@pytest.mark.parametrize(
    ("states", "said"),
    [
        (lambda _text: ["good"], "--bad HEAD passes the test"),
        (lambda _text: ["bad"], "--good HEAD~25 fails the test"),
        (
            lambda text: ["broken"] if number(text) == 1 else ["bad"],
            "--good .* cannot be tested: .* expected",
        ),
    ],
)
def test_ends_are_tried_first(
    states: Callable[[str], list[str]],
    said: str,
    repository: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fake(monkeypatch, states)
    with pytest.raises(UsageError, match=said):
        bisect(plan(repository), QUIET)
    assert not list(cache_root().glob("bisect-*"))


def test_killed_search_goes_on_from_gits_log(
    repository: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A process that SIGKILL ends in its third step has tried both ends, and two commits more."""
    program = tmp_path / "killed.py"
    program.write_text(
        textwrap.dedent(
            """\
        import os, pathlib, signal, sys
        sys.path[:0] = sys.argv[1:3]
        import pytest
        import test_verdict_bisect as own
        from zvmlab.verdict.bisect import bisect

        repository = pathlib.Path(sys.argv[3])
        tried = []

        def states(text):
            tried.append(text)
            if len(set(tried)) == 5:
                os.kill(os.getpid(), signal.SIGKILL)
            return own.planted(text)

        own.fake(pytest.MonkeyPatch(), states)
        bisect(own.plan(repository), own.QUIET)
        """
        )
    )
    folders = [str(ROOT / "harness"), str(ROOT / "tests" / "harness")]
    argv = [sys.executable, str(program), *folders, str(repository)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    (left,) = cache_root().glob("bisect-*")
    # What git was doing just then leaves its lock.
    (left / "module" / ".git" / "index.lock").touch()
    tried = fake(monkeypatch, planted)
    with pytest.raises(UsageError, match="--resume: the bisection that was cut off had other"):
        bisect(plan(repository, resume=True, times=2), QUIET)
    found = bisect(plan(repository, resume=True), QUIET)
    assert first_bad(found, repository) == f"change {PLANTED}"
    assert f"change {COMMITS}" not in tried and "change 1" not in tried, "the ends are known"
    assert not left.exists()


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"good": "HEAD", "bad": "HEAD~3"}, "is not an ancestor of"),
        ({"good": "HEAD"}, "are the same commit"),
        ({"good": "v1"}, "has no commit 'v1'"),
        ({"module": Path("/no/such")}, "there is no folder"),
        ({"module": None}, "is not a source tree in a git repository"),
        ({"kernel": "wheezy"}, "kernel 'wheezy' is neither"),
        ({"times": 0}, "-n is from 1 to"),
        ({"resume": True}, "was cut off"),
        ({"test": ()}, "after -- comes the test"),
        ({"test": ("scenario:read-one-sett",)}, "did you mean read-one-set"),
        ({"test": ("scenario:no/such.py:a",)}, "no/such.py"),
        ({"test": ("tests/e2e/no.py::test_a", "-k", "b")}, "has no tests/e2e/no.py"),
    ],
)
def test_bad_bisection_is_a_sentence(
    fields: dict[str, Any], said: str, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(monkeypatch, planted)
    with pytest.raises(UsageError, match=said):
        bisect(plan(repository, **fields), QUIET)
    assert not list(cache_root().glob("bisect-*"))


SCENARIO = """
from zvmlab.scenarios.context import Context, scenario

@scenario("own", "One of the user's.")
def own(context: Context) -> None:
    pass
"""


@pytest.mark.parametrize(
    ("test", "asked"),
    [
        ("case.json", ["fuzz", "--replay", "{here}/case.json", "--kernel", "bookworm"]),
        ("scenario:own.py:own", ["sweep", "{here}/own.py:own", "--kernel", "bookworm"]),
        ("scenario:own.py:own:iucv.reply", ["--point", "iucv.reply"]),
        ("scenario:read-one-set:iucv.reply", ["--point", "iucv.reply"]),
    ],
)
def test_reproducers_of_the_fuzzer_are_tests(
    test: str,
    asked: list[str],
    repository: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """By the names that they have where the user is."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(SCENARIO)
    save(Case("af_iucv", ()), tmp_path / "case.json")
    really = subject._Search._test
    tried = fake(monkeypatch, planted)
    monkeypatch.setattr(subject._Search, "_test", really)
    ran: list[list[str]] = []

    def answer(_self: Any, words: list[str], *_more: object, **_named: object) -> bool:
        ran.append(words)
        return planted(tried[-1]) == ["good"]

    monkeypatch.setattr(subject._Search, "_zvmlab", answer)
    words = ["bisect", "--good", "HEAD~25", "--bad", "HEAD", "--kernel", "bookworm"]
    assert main([*words, "--module", str(repository / "src"), "--", test]) == 0
    wanted = [word.format(here=tmp_path) for word in asked]
    assert ran and all(" ".join(wanted) in " ".join(one) for one in ran)


def test_tests_of_the_users_own_have_their_whole_names(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "test_own.py").touch()
    assert words_for_pytest(["test_own.py::test_a[1]", "-k", "no.py", "tests/e2e/test_try.py"]) == (
        f"{tmp_path}/test_own.py::test_a[1]",
        "-k",
        "no.py",
        "tests/e2e/test_try.py",
    )


@pytest.mark.parametrize(
    ("contents", "said"),
    [
        ("{", "is not JSON"),
        ('{"version": 9}', "is a case of version 9"),
        (None, "cannot be read"),
    ],
)
def test_bad_case_is_a_sentence(
    contents: str | None,
    said: str,
    repository: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    tried = fake(monkeypatch, planted)
    if contents is not None:
        (tmp_path / "case.json").write_text(contents)
    words = ["bisect", "--good", "HEAD~25", "--bad", "HEAD", "--kernel", "bookworm"]
    words += ["--module", str(repository / "src"), "--", str(tmp_path / "case.json")]
    assert main(words) == 2
    err = capsys.readouterr().err
    assert said in err and err.count("\n") == 1 and not tried


def test_command_prints_the_first_bad_commit(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake(monkeypatch, planted)
    words = ["bisect", "--good", "HEAD~25", "--bad", "HEAD", "--kernel", "bookworm"]
    words += [
        "--module",
        os.path.relpath(repository / "src"),
        "--",
        "tests/e2e/test_smsg.py",
        "-k",
        "a",
    ]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert f"change {PLANTED}\nA U Thor, " in out
    assert out.splitlines()[0].startswith("bad ") and out.splitlines()[1].startswith("good ")
