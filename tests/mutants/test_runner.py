# SPDX-License-Identifier: MIT
"""The runner in a planted tree: what is noticed, what is not, what hangs, what does not count."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import contained
import mutate
import pytest
import trial
from enumerate_changes import shares
from zvmlab.base.errors import EXIT_CANNOT_RUN, EXIT_FAILED, EXIT_PASS, EXIT_USAGE, CannotRun

_SOURCE = """\
int limit(int a)
{
	if (a < 3)
		return 1;
	return 0;
}

int count(int a)
{
	int n = 0;

	while (n < a)
		n++;
	return n;
}

int twice(int a)
{
	if (a > 5)
		return a + a;
	return 2 * a;
}

int late(int a)
{
	return a == 4;
}
"""
_TEST = """\
int limit(int a);
int count(int a);
int twice(int a);
int main(void)
{
	return !(limit(2) == 1 && limit(5) == 0 && count(5) == 5 && twice(6) == 12);
}
"""
_MAKEFILE = """\
UNIT := -Wall -Wextra $(if $(filter 1,$(G)),--coverage) $(if $(filter true,$(CI)),-Werror)
$(BUILD)/unit/test_%: $(BUILD)/unit/tests/unit/test_%.o $(BUILD)/unit/src/a.o
	gcc $(UNIT) -o $@ $^
$(BUILD)/unit/%.o: %.c
	mkdir -p $(@D)
	gcc $(UNIT) -c -o $@ $<
$(BUILD)/plain/%.o: %.c
	mkdir -p $(@D)
	gcc -O2 $(CFLAGS) -c -o $@ $<
$(BUILD)/unit/ctl_server:
	mkdir -p $(@D) && touch $@
"""
_TABLE = """\
[[row]]
folder = "src"
sources = ["src/*.c"]
programs = ["test_*"]
harness = ["tests/test_late.py"]
"""
_LATE = """\
from pathlib import Path


def test_late():
    assert "a == 4" in Path("src/a.c").read_text()
"""
_UNNOTICED = """\
[[harmless]]
file = "src/a.c"
right = "if (a < 3)"
wrong = "if (a <= 3)"
why = "{}"
"""
_FILES = {
    "src/a.c": _SOURCE,
    "tests/unit/test_a.c": _TEST,
    "tests/unit/test_b.c": "int main(void)\n{\n\treturn 0;\n}\n",
    "tests/test_late.py": _LATE,
    "tests/mutants/tests.toml": _TABLE,
    "tests/mutants/judged.toml": "",
    "Makefile": _MAKEFILE,
    ".gitignore": "build/\n",
    "harness/zvmlab/pytest_plugin/__init__.py": "",
}


# It does harm when something is changed: it makes what should not be made, says "done" of what it
# could, leaves a process of a name of its own, and may hang then.
_HARM = """\
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int limit(int a);

static void make(const char *path)
{
	if (open(path, O_CREAT | O_WRONLY, 0666) >= 0)
		printf("done %%s\\n", path);
}

int main(void)
{
	if (limit(2) == 1)
		return 0;
	if (link("/dev/null", "%(spare)s") == 0)
		printf("spare\\n");
	if (unlink("/dev/null") == 0)
		printf("done unlink\\n");
	make("%(home)s");
	make("%(own)s");
	make("own");
	printf("tried\\n");
	fflush(stdout);
	if (fork() == 0) {
		setsid();
		if (fork() == 0)
			execl("/bin/sleep", "%(name)s", "600", NULL);
		_exit(0);
	}
	sleep(%(seconds)s);
	return 1;
}
"""


@pytest.fixture(scope="session", autouse=True)
def _containment(tmp_path_factory: pytest.TempPathFactory) -> None:
    """All tests here run programs that may be changed."""
    try:
        contained.must_work(tmp_path_factory.mktemp("contained"))
    except CannotRun as error:
        pytest.skip(str(error))


@pytest.fixture(name="harm")
def _harm(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Names of what a harmful program leaves, taken away if it could; /dev/null put back."""
    name = f"zvmlab-mutant-{os.getpid()}"
    spare = Path("/dev") / name
    places = {"spare": spare, "home": Path.home() / name, "own": tmp_path / "own"}
    yield {"name": name, **{key: str(path) for key, path in places.items()}}
    if spare.exists() and not Path("/dev/null").is_char_device():
        spare.rename("/dev/null")
    for path in places.values():
        path.unlink(missing_ok=True)


def _git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "-C", str(folder), *who, *arguments], check=True, capture_output=True)


@pytest.fixture(name="tree")
def _tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with one source and tests that notice some of its changes."""
    folder = tmp_path / "clone"
    for name, text in _FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    _git(folder, "init", "-q", "-b", "main")
    _git(folder, "add", ".")
    _git(folder, "commit", "-q", "-m", "planted")
    monkeypatch.setattr(trial, "LEAST_SECONDS", 3)
    return folder


def _mutate(tree: Path, *arguments: str) -> int:
    build = str(tree / "build")
    return mutate.main(["--tree", str(tree), "--build", build, "--jobs", "2", *arguments])


def _verdicts(said: str) -> dict[str, str]:
    """What became of each change, by its line and what was changed: "3: < -> <="."""
    found = {}
    for line in said.splitlines():
        verdict, _, rest = line.partition(": src/a.c:")
        if rest:
            found[rest] = verdict
    return found


def _report(tree: Path) -> str:
    return (tree / "build/mutants/report.md").read_text(encoding="utf-8")


def test_every_change_of_a_tree(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All of them: each verdict once at least, and the user's tree as it was."""
    assert _mutate(tree, "--number", "1000") == EXIT_FAILED
    found = _verdicts(capsys.readouterr().out)
    assert found["3: (a < 3) -> (0 && (a < 3))"] == "noticed (test_a)"
    assert found["3: < -> <="] == "not noticed"
    assert found["13: n++; -> (void)0;"] == "noticed by a hang (test_a)"
    assert found["14: return n; -> (void)0;"] == "does not compile"
    assert found["19: > -> >="] == "the compiler makes the same of it"
    assert found["26: == -> !="] == "noticed (pytest)"
    assert (tree / "src/a.c").read_text(encoding="utf-8") == _SOURCE
    report = _report(tree)
    assert "| `src/a.c:3` | comparison | `<` | `<=` | `if (a < 3)` | 2 asked |" in report
    # test_b enters nothing of the file, and test_a does not come past line 21.
    assert "3 asked" not in report and "`return 2 * a;` | 1 asked |" in report


def test_the_same_seed_makes_the_same_changes(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And another seed others."""
    runs = []
    for seed in ("1", "1", "2"):
        _mutate(tree, "--number", "6", "--seed", seed)
        runs.append(set(_verdicts(capsys.readouterr().out)))
    assert runs[0] == runs[1] != runs[2]


def test_a_judged_change_is_not_open(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is counted apart, with its reason; the run passes."""
    judged = tree / "tests/mutants/judged.toml"
    judged.write_text(_UNNOTICED.format("nobody asks for 3"), encoding="utf-8")
    assert _mutate(tree, "--entries", str(judged)) == EXIT_PASS
    assert "| src | 1 | 0 | 0 | 0.0% | 1 | 0 | 100.0% | 0 |" in capsys.readouterr().out
    assert "nobody asks for 3" in _report(tree)


def test_survivors_are_entries(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a run writes to be judged is the same change when it is read."""
    _mutate(tree, "--number", "1000")
    written = (tree / "build/mutants/survivors.toml").read_text(encoding="utf-8")
    number = written.count("[[harmless]]")
    assert number > 0
    (tree / "again.toml").write_text(written, encoding="utf-8")
    capsys.readouterr()
    assert _mutate(tree, "--entries", str(tree / "again.toml")) == EXIT_FAILED
    assert list(_verdicts(capsys.readouterr().out).values()).count("not noticed") == number


def test_changed_lines_of_a_branch(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only what differs from where the branch began, committed or not."""
    _git(tree, "checkout", "-q", "-b", "mine")
    text = _SOURCE.replace("\treturn n;", "\tif (n == 5)\n\t\treturn 5;\n\treturn n;")
    (tree / "src/a.c").write_text(text, encoding="utf-8")
    assert _mutate(tree, "--base", "main") == EXIT_FAILED
    lines = {what.partition(":")[0] for what in _verdicts(capsys.readouterr().out)}
    assert lines == {"14", "15"}
    _git(tree, "checkout", "-q", "--", "src/a.c")
    assert _mutate(tree, "--base", "main") == EXIT_PASS


def test_a_tree_that_fails_by_itself_tells_nothing(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It would notice every change: it is not asked, the others are."""
    broken = _TEST.replace("return !", "return 1 + !")
    (tree / "tests/unit/test_a.c").write_text(broken, encoding="utf-8")
    assert _mutate(tree, "--number", "1000") == EXIT_FAILED
    said = capsys.readouterr()
    assert "not asked, because it fails without a change: test_a" in said.err
    found = _verdicts(said.out)
    assert found["3: (a < 3) -> (0 && (a < 3))"] == "not noticed"
    assert found["26: == -> !="] == "noticed (pytest)"


@pytest.mark.parametrize(
    ("was", "became", "expected"),
    [
        ("if (a < 3)", "if (a < 4)", "its text is not there"),
        ("int late", "if (a < 3)\n\t\treturn 1;\n\treturn 0;\n}\n\nint late", "2 times there"),
    ],
)
def test_an_entry_goes_stale(
    tree: Path, capsys: pytest.CaptureFixture[str], was: str, became: str, expected: str
) -> None:
    """Its text is gone, or there is more than one."""
    judged = tree / "tests/mutants/judged.toml"
    judged.write_text(_UNNOTICED.format("nobody asks for 3"), encoding="utf-8")
    assert _mutate(tree, "--check") == EXIT_PASS
    (tree / "src/a.c").write_text(_SOURCE.replace(was, became), encoding="utf-8")
    assert _mutate(tree, "--check") == EXIT_FAILED
    assert expected in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (_UNNOTICED.format(" "), "has no reason"),
        (_UNNOTICED.format("a") + _UNNOTICED.format("b"), "judged twice"),
        (_UNNOTICED.format("a").replace("<= 3", "> 3"), "no change makes"),
        (_UNNOTICED.format("a").replace("src/a.c", "src/b.c"), "there is no such file"),
    ],
)
def test_an_entry_that_judges_nothing(
    tree: Path, capsys: pytest.CaptureFixture[str], text: str, expected: str
) -> None:
    """Is a finding."""
    (tree / "tests/mutants/judged.toml").write_text(text, encoding="utf-8")
    assert _mutate(tree, "--check") == EXIT_FAILED
    assert expected in capsys.readouterr().out


@pytest.mark.parametrize(
    ("right", "wrong", "expected"),
    [
        ('["src/*.c"]', '["src/*.h"]', "no file is src/*.h"),
        ('["test_*"]', '["test_x*"]', "no program is test_x*"),
        ("tests/test_late.py", "tests/test_early.py", "there is no tests/test_early.py"),
        ('"test_*"', '"test_a"', "no row has test_b"),
    ],
)
def test_a_table_that_names_nothing(
    tree: Path, capsys: pytest.CaptureFixture[str], right: str, wrong: str, expected: str
) -> None:
    """Is a finding, too."""
    table = tree / "tests/mutants/tests.toml"
    table.write_text(_TABLE.replace(right, wrong), encoding="utf-8")
    assert _mutate(tree, "--check") == EXIT_FAILED
    assert expected in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments", [["--folder", "nowhere"], ["--base", "no-branch"], ["--entries", "/nowhere"]]
)
def test_what_is_not_there(tree: Path, arguments: list[str]) -> None:
    """A folder, a branch, a file that the user names."""
    assert _mutate(tree, *arguments) == EXIT_USAGE


def _running(name: str) -> list[str]:
    """Processes that call themselves so."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0] == name.encode():
            found.append(path.parent.name)
    return found


@pytest.mark.parametrize(("seconds", "verdict"), [(0, "noticed"), (600, "noticed by a hang")])
def test_a_harmful_program_harms_nothing(
    tree: Path,
    capsys: pytest.CaptureFixture[str],
    harm: dict[str, str],
    seconds: int,
    verdict: str,
) -> None:
    """Whether it ends or hangs: no file is made or gone, and no process goes on."""
    null = os.stat("/dev/null")
    text = _HARM % {**harm, "seconds": str(seconds)}
    (tree / "tests/unit/test_a.c").write_text(text, encoding="utf-8")
    one = _UNNOTICED.replace("(a <= 3)", "(0 && (a < 3))").format("")
    (tree / "one.toml").write_text(one, encoding="utf-8")
    assert _mutate(tree, "--entries", str(tree / "one.toml"), "--jobs", "1") == EXIT_PASS
    verdicts = list(_verdicts(capsys.readouterr().out).values())
    assert verdicts == [f"{verdict} (test_a)"]
    said = (tree / "build/mutants/tree-0/said").read_text(encoding="utf-8")
    assert said == "tried\n"
    now = os.stat("/dev/null")
    assert stat.S_ISCHR(now.st_mode) and (now.st_ino, now.st_rdev) == (null.st_ino, null.st_rdev)
    assert not any(Path(harm[key]).exists() for key in ("spare", "home", "own"))
    assert not list(tree.rglob("own"))
    assert not _running(harm["name"])


def test_nothing_is_run_that_cannot_be_contained(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without bubblewrap, or where it may not make namespaces: one sentence."""
    folder = tree / "bin"
    folder.mkdir()
    (folder / "bwrap").write_text("#!/bin/sh\necho 'no permission'\nexit 1\n", encoding="utf-8")
    (folder / "bwrap").chmod(0o755)
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", f"{folder}:{path}")
    assert _mutate(tree, "--number", "5") == EXIT_CANNOT_RUN
    said = capsys.readouterr()
    assert "cannot be contained on this machine" in said.err and "no permission" in said.err
    assert not _verdicts(said.out)
    monkeypatch.setenv("PATH", str(folder))
    (folder / "bwrap").unlink()
    (folder / "git").symlink_to("/usr/bin/git")
    assert _mutate(tree, "--number", "5") == EXIT_CANNOT_RUN
    assert "there is no bwrap" in capsys.readouterr().err


def test_shares() -> None:
    """Every folder gives some, the large ones more, none more than it has."""
    sizes = {"large": 1000, "small": 50, "tiny": 3}
    given = shares(sizes, 100)
    assert sum(given.values()) == 100
    assert given["tiny"] == 3 and 15 < given["small"] < given["large"]
    assert shares(sizes, 5000) == sizes
