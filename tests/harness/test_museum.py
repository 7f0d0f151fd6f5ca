# SPDX-License-Identifier: MIT
"""The museum of bugs: its table, its edits, its verdicts; without guests."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from zvmlab.base.cache import cache_root
from zvmlab.base.errors import EXIT_FAILED, EXIT_PASS, EXIT_USAGE, Timeout, UsageError
from zvmlab.base.progress import Progress
from zvmlab.base.tree import TREE
from zvmlab.builder.modulebuild import Build
from zvmlab.museum.pattern_edit import PatternEdit, edited_texts
from zvmlab.cli.main import main
from zvmlab.museum import noticed as noticed_module
from zvmlab.museum import remembered as remembered_module
from zvmlab.museum import show as show_module
from zvmlab.museum import shown as shown_module
from zvmlab.museum.bugs import Bug, default_table, find, load
from zvmlab.museum.edited import Both, Run, applied, changed_files
from zvmlab.museum.noticed import Noticed
from zvmlab.museum.remembered import Remembered
from zvmlab.museum.shown import Shown, remember, remembered
from zvmlab.museum.suite import Noticing, Unchanged, mapped_tests, noticing
from zvmlab.museum.watchful import has_noticed, watchful_first
from zvmlab.verdict.applied import Applied, File
from zvmlab.verdict.compare import Results
from zvmlab.verdict.runs import Seen
from zvmlab.verdict.sides import Side, Sides, Target

GOOD = """
[[bug]]
id = "one-bug"
subject = "s390/example: fix it"
year = 2020
author = "Somebody"
file = "drivers/example.c"
module = "example"
how = "call it"
judge = "the value"
kernel = "6.12"
tests = ["tests/e2e/test_example.py"]
seen = "assert 1 == 2"

[[bug.edit]]
place = 'b\\+\\+'
becomes = "b--"
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "bugs.toml"
    path.write_text(GOOD, encoding="utf-8")
    return path


def test_edit_fits_as_often_as_it_says(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int a = 1;\nint b = 2;\n\xff", encoding="latin-1")
    edit = PatternEdit("a.c", r"^int (a|b) =", r"long \1 =", times=2)
    two = PatternEdit("a.c", "long b", "char b")
    assert edited_texts(tmp_path, [edit, two])["a.c"].startswith("long a = 1;\nchar b = 2;\n")
    assert (tmp_path / "a.c").read_bytes() == b"int a = 1;\nint b = 2;\n\xff"


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (("a.c", "int", "", 1), "the edit of a.c fits in 2 places instead of 1"),
        (("a.c", "char", "", 1), "the edit of a.c fits in 0 places instead of 1"),
        (("b.c", "int", "", 1), "has no b.c"),
    ],
)
def test_edit_that_does_not_fit_is_refused(
    tmp_path: Path, edit: tuple[str, str, str, int], text: str
) -> None:
    (tmp_path / "a.c").write_text("int a;\nint b;\n", encoding="ascii")
    with pytest.raises(UsageError, match=text):
        edited_texts(tmp_path, [PatternEdit(*edit)])


@pytest.mark.parametrize("edit", [("../a.c", "a", "b"), ("/a.c", "a", "b"), ("a.c", "(", "b")])
def test_edit_that_cannot_be_right(edit: tuple[str, str, str]) -> None:
    with pytest.raises(UsageError):
        PatternEdit(*edit)


def test_table_is_read(table: Path) -> None:
    (bug,) = load(table)
    assert (bug.id, bug.year, bug.module, bug.shown) == ("one-bug", 2020, "example", True)
    assert bug.edits == (PatternEdit("drivers/example.c", r"b\+\+", "b--", 1),)


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ('id = "one-bug"', 'id = "One Bug"', "an ID consists of small letters"),
        ("year = 2020", "year = 1999", "year must be a number from"),
        ('author = "Somebody"\n', "", "has no 'author'"),
        ('author = "Somebody"', 'autor = "Somebody"', "has 'autor', which is unknown"),
        ('judge = "the value"', "judge = 1", "judge must be a text"),
        ('tests = ["tests/e2e/test_example.py"]', "tests = [1]", "tests must be a list of texts"),
        ('tests = ["tests/e2e/test_example.py"]', "", "needs either tests or a text"),
        ('seen = "assert 1 == 2"', "", "needs 'seen' and 'kernel'"),
        ('seen = "assert 1 == 2"', 'seen = "("', "seen is no regular expression"),
        ("place = 'b\\+\\+'", "place = '('", "is wrong"),
        ('becomes = "b--"', 'becomes = "b--"\ntimes = "2"', "times is a number"),
        ('becomes = "b--"', "", "an edit has place, becomes"),
        ("[[bug]]", "[[bugs]]", "has something besides"),
        ("[[bug]]", "[[bug", "is not TOML"),
    ],
)
def test_wrong_table_is_one_sentence(table: Path, old: str, new: str, text: str) -> None:
    assert old in GOOD
    table.write_text(GOOD.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UsageError, match=text):
        load(table)


def test_page_has_a_row_for_each_bug() -> None:
    """As `zvmlab museum list --markdown` prints them."""
    page = (TREE / "docs/museum.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([a-z0-9-]+) \| (\d{4}) \| (.+?) \| [^|]+ \|$", page, re.M)
    assert rows == [(bug.id, str(bug.year), bug.judge) for bug in load(default_table())]


def test_two_bugs_of_one_name(table: Path) -> None:
    table.write_text(GOOD * 2, encoding="utf-8")
    with pytest.raises(UsageError, match="two bugs called one-bug"):
        load(table)


def test_museum_has_real_tests() -> None:
    """Each bug is shown by functions that are there, or says what is missing."""
    bugs = load(default_table())
    assert all(bug.shown or bug.missing for bug in bugs)
    for bug in bugs:
        for word in bug.tests:
            file, _, function = word.partition("::")
            names = {
                node.name
                for node in ast.walk(ast.parse((TREE / file).read_text(encoding="utf-8")))
                if isinstance(node, ast.FunctionDef)
            }
            assert function in names, word


def test_unknown_bug_is_a_usage_error(capsys: pytest.CaptureFixture[str], table: Path) -> None:
    assert main(["museum", "show", "one-bgu", "--table", str(table)]) == EXIT_USAGE
    assert "no bug 'one-bgu'" in capsys.readouterr().err
    assert find(load(table), "one-bug").year == 2020


def test_list_and_show(capsys: pytest.CaptureFixture[str], table: Path) -> None:
    assert main(["museum", "list", "--table", str(table)]) == 0
    assert main(["museum", "show", "one-bug", "--table", str(table)]) == 0
    out = capsys.readouterr().out
    assert "s390/example: fix it, Somebody, 2020" in out
    assert r"in one place of drivers/example.c: 'b\\+\\+' -> 'b--'" in out


def test_bug_that_cannot_be_shown_is_named_and_the_others_are_shown(
    monkeypatch: pytest.MonkeyPatch, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table.write_text(GOOD + GOOD.replace("one-bug", "other-bug"), encoding="utf-8")

    def show(bug: Bug, kernel: str, times: int, _progress: Progress) -> Shown:
        if bug.id == "one-bug":
            raise UsageError("one-bug: the edit of a.c fits in 2 places instead of 1")
        return Shown(kernel, times, times, times)

    monkeypatch.setattr(show_module, "show", show)
    words = ["museum", "run", "--table", str(table)]
    assert main(words) == 1
    first, second = capsys.readouterr().out.splitlines()
    assert first.split(maxsplit=1) == ["one-bug", "cannot be shown: the edit of a.c fits in 2 places instead of 1"]  # fmt: skip
    assert second.startswith("other-bug ") and "seen 1 of 1" in second
    assert main([*words, "one-bug"]) == EXIT_USAGE
    assert "fits in 2 places" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--times", "0"], ["-n", "0"], ["--times", "1001"]])
def test_wrong_numbers(table: Path, words: list[str]) -> None:
    assert main(["museum", "run", "--table", str(table), *words]) == EXIT_USAGE


def test_edits_are_the_sides_of_a_trial(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_bytes(b"int a;\n\xff")
    bug = dataclasses.replace(BUG, edits=(PatternEdit("f.c", "int", "long"),))
    both = applied(tmp_path, bug)
    assert (both.base, both.patched) == (
        {"f.c": File(b"int a;\n\xff")},
        {"f.c": File(b"long a;\n\xff")},
    )
    assert both.changed == ["f.c"] and (tmp_path / "f.c").read_bytes() == b"int a;\n\xff"


@pytest.mark.parametrize("text", ["int a;\nint b;\n", "long a;\n"])
def test_edit_that_does_not_fit_names_its_bug(tmp_path: Path, text: str) -> None:
    (tmp_path / "f.c").write_text(text, encoding="ascii")
    bug = dataclasses.replace(BUG, edits=(PatternEdit("f.c", "int", "long"),))
    sentence = f"one-bug: the edit of f.c fits in {text.count('int')} places instead of 1"
    with pytest.raises(UsageError, match=sentence):
        applied(tmp_path, bug)


@pytest.mark.parametrize("series", ["6.12", "7.2"])
def test_each_edit_fits(series: str) -> None:
    """In Debian's source, if the cache has it: `zvmlab fetch source:SERIES`."""
    trees = sorted(cache_root().glob(f"linux-tree-{series}-*/linux"))
    if not trees:
        pytest.skip(f"the cache has no source of Linux {series}")
    for bug in load(default_table()):
        both = applied(trees[-1], bug)
        assert both.base != both.patched, bug.id


BUG = Bug(
    "one-bug", "s", 2020, "a", "f.c", (), "h", "j", "m", "6.12", ("tests/x.py",), (), "1 == 2"
)
PASSES, SKIPS = Seen("t", True, False, "", "", ""), Seen("t", None, False, "x", "", "")
KNOWN = Seen("t", False, True, "", "", "", "E   assert 3 == 4")
FAILS = Seen("t", False, False, "", "", "", "E   assert 1 == 2")
OTHERWISE = Seen("t", False, False, "", "", "", "no guest")


def both(base: Run, changed: Run) -> Both:
    """Two sides without kernels."""
    side = Side("6.12", "6.12.1")
    sides = Sides(side, side, Build(Path(), "gcc", None), "")
    return Both("7.2", sides, Applied({}, {}, {}), base, changed)


@pytest.mark.parametrize(
    ("base", "changed", "right", "why"),
    [
        ({"a.py::test_t": PASSES}, {"a.py::test_t": FAILS}, (1, 1), ""),
        ({"a.py::test_t": KNOWN}, {"a.py::test_t": FAILS}, (1, 1), ""),
        (
            {"a.py::test_t": FAILS},
            {"a.py::test_t": FAILS},
            (0, 1),
            "without the edit, a.t fails: E   assert 1 == 2",
        ),
        ({"a.py::test_t": PASSES}, {"a.py::test_t": PASSES}, (1, 0), "no test fails"),
        ({"a.py::test_t": PASSES}, {"a.py::test_t": OTHERWISE}, (1, 0), "otherwise"),
        ({"a.py::test_t": SKIPS}, {"a.py::test_t": FAILS}, (0, 1), r"no test ran \(skipped: x\)"),
        ({}, {}, (0, 0), "no test ran"),
    ],
)
def test_verdict(
    monkeypatch: pytest.MonkeyPatch,
    base: Results,
    changed: Results,
    right: tuple[int, int],
    why: str,
) -> None:
    """Both sides have to be as the table says, and for the reason that it says."""

    @contextlib.contextmanager
    def edited(*_: object) -> Iterator[Both]:
        yield both(lambda _words: base, lambda _words: changed)

    monkeypatch.setattr(show_module, "edited", edited)
    monkeypatch.setattr(show_module, "remember", lambda *_: None)
    shown = show_module.show(BUG, "", 1, Progress(quiet=True))
    assert (shown.base, shown.seen) == right
    assert shown.right == (right == (1, 1))
    if why:
        assert re.search(why, shown.why)


def test_each_test_of_a_bug_is_held_to_bystanders(monkeypatch: pytest.MonkeyPatch) -> None:
    """On both sides, but for what the bug's entry names."""
    asked: list[Sequence[str]] = []

    def run(words: Sequence[str]) -> Results:
        asked.append(words)
        return {"a.py::test_t": PASSES}

    @contextlib.contextmanager
    def edited(*_: object) -> Iterator[Both]:
        yield both(run, run)

    monkeypatch.setattr(show_module, "edited", edited)
    monkeypatch.setattr(show_module, "remember", lambda *_: None)
    for bug, option in (
        (BUG, "--bystanders="),
        (dataclasses.replace(BUG, named=("A", "B")), "--bystanders=A,B"),
    ):
        asked.clear()
        show_module.show(bug, "", 1, Progress(quiet=True))
        assert [list(words) for words in asked] == [[option, "tests/x.py"]] * 2


SOURCE = """\
static int one(void)
{
	return 1;
}

static int two(void)
{
	return 2;
}
"""
MAP = {"f.c": {"one": ["a.py::test_one[x]", "(boot)"], "two": ["a.py::test_two"]}}


@pytest.mark.usefixtures("memory")
def test_tests_are_those_of_the_functions_that_differ(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(SOURCE, encoding="ascii")
    first = changed_files(tmp_path, {"f.c": SOURCE.replace("return 1", "return 3")})
    every = changed_files(tmp_path, {"f.c": SOURCE.replace("return", "return -")})
    assert mapped_tests(first, MAP) == ["a.py::test_one"]
    assert sorted(mapped_tests(every, MAP)) == [
        "a.py::test_one",
        "a.py::test_two",
    ]


@pytest.mark.usefixtures("memory")
def test_tests_that_are_newer_than_the_map_come_last(tmp_path: Path) -> None:
    """Those of the changed file's driver, by its requirements; none that runs with --full alone."""
    name, newer = "drivers/s390/char/vmur.c", "tests/e2e/test_vmur.py::test_a_text_is_printed"
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text(SOURCE, encoding="ascii")
    changed = changed_files(tmp_path, {name: SOURCE.replace("return 1", "return 3")})
    known = {name: MAP["f.c"]}
    old, *others = mapped_tests(changed, known)
    assert old == "a.py::test_one" and newer in others
    known["other.c"] = {"g": [f"{newer}[x]"]}
    assert mapped_tests(changed, known) == [old, *(test for test in others if test != newer)]


@pytest.mark.usefixtures("memory")
def test_tests_that_noticed_another_change_of_the_file_come_first(tmp_path: Path) -> None:
    """The most watchful before the others, which stay in their order; each file has its own."""
    (tmp_path / "f.c").write_text(SOURCE, encoding="ascii")
    files = changed_files(tmp_path, {"f.c": SOURCE.replace("return", "return -")})
    usual = mapped_tests(files, MAP)
    assert mapped_tests(files, MAP) == usual
    has_noticed(files, usual[1])
    assert mapped_tests(files, MAP) == usual[::-1]
    for _ in range(2):
        has_noticed(files, usual[0])
    assert mapped_tests(files, MAP) == usual
    (tmp_path / "g.c").write_text(SOURCE, encoding="ascii")
    others = changed_files(tmp_path, {"g.c": SOURCE.replace("return", "return -")})
    has_noticed(others, usual[1])
    has_noticed(others, usual[1])
    assert mapped_tests(files, MAP) == usual


class Suite:
    """Three tests; each side says what they show, and ends as "pytest -x" does."""

    NAMES = ("a.py::test_a", "a.py::test_b", "a.py::test_c")

    def __init__(self, base: str, changed: str) -> None:
        self.runs: list[tuple[str, tuple[str, ...]]] = []
        self._expected = base
        self.base = self._side("base", base)
        self.changed = self._side("changed", changed)

    def _side(self, side: str, shown: str) -> Run:
        kinds = {"P": PASSES, "F": FAILS, "K": KNOWN, "S": SKIPS, "O": OTHERWISE}
        found = {
            name: dataclasses.replace(kinds[kind], node=f"{name}[{side}]")
            for name, kind in zip(self.NAMES, shown)
        }

        def run(words: Sequence[str]) -> Results:
            names = [word for word in words if word in found]
            self.runs.append((side, tuple(names)))
            results = {}
            for name in names:
                results[name] = found[name]
                ends = found[name].holds is False and not found[name].known
                unexpected = bool(found[name].holds) and self._known(name)
                if "-x" in words and (ends or unexpected):
                    break
            return results

        return run

    def _known(self, name: str) -> bool:
        return self._expected[self.NAMES.index(name)] == "K"

    def judged(self) -> Noticing:
        """What became of the change."""
        return noticing(both(self.base, self.changed), self.NAMES, Unchanged())


@pytest.mark.parametrize(
    ("base", "changed", "by", "ran"),
    [
        ("PPP", "PPP", "", 3),
        ("PPP", "PFP", "a.b", 2),
        # What fails without the change as well notices nothing, and hides nothing.
        ("FPP", "FPF", "a.c", 3),
        ("FPP", "FPP", "", 3),
        # An expected failure that ends, and one that becomes another.
        ("PKP", "PPP", "a.b", 2),
        ("KPP", "FPP", "a.a", 1),
        ("KPP", "KPP", "", 3),
        ("SPP", "SPP", "", 2),
        ("SPP", "FPP", "", 3),
    ],
)
def test_who_notices(base: str, changed: str, by: str, ran: int) -> None:
    found = Suite(base, changed).judged()
    assert (found.by, found.hung, found.ran) == (by, False, ran)


def test_each_test_runs_once_without_the_change() -> None:
    suite = Suite("FFP", "FFP")
    assert suite.judged().by == ""
    runs = [words for side, words in suite.runs if side == "base"]
    assert runs == [("a.py::test_a",), ("a.py::test_b",), ("a.py::test_c",)]


def test_what_ends_a_run_in_any_case_comes_last_from_then_on() -> None:
    """It costs the next change one run, whatever their number."""
    unchanged = Unchanged()
    a, b, c = Suite.NAMES
    for runs in ([(a, b, c), (c,)], [(a, c), (b,)]):
        suite = Suite("PFP", "PFP")
        found = noticing(both(suite.base, suite.changed), Suite.NAMES, unchanged)
        assert (found.by, found.ran) == ("", 3)
        assert [words for side, words in suite.runs if side == "changed"] == runs


def test_tests_that_do_not_end_notice() -> None:
    def hangs(_words: Sequence[str]) -> Results:
        raise Timeout("1 s")

    found = noticing(both(lambda _words: {}, hangs), ["a.py::test_a"], Unchanged())
    assert found.hung and found.by


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ("PFF", "one-bug: noticed by a.b (2 tests): E   assert 1 == 2"),
        ("PPF", "one-bug: noticed by a.c, which was written for it (3 tests): E   assert 1 == 2"),
        ("PPP", "one-bug: not noticed by 3 tests"),
    ],
)
def test_suite_tells_the_tests_of_a_bug_from_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, changed: str, line: str
) -> None:
    sides = Suite("PPP", changed)
    asked_by(monkeypatch, sides, tmp_path)
    said: list[str] = []
    (found,) = noticed_module.suite([OF_C], "", Progress(quiet=True), said.append)
    assert said == [line]
    assert (bool(found.what.by), found.own) == (changed != "PPP", changed == "PPF")


OF_C = dataclasses.replace(BUG, tests=(Suite.NAMES[2],))


SEEN_BY_SUITE = Noticed(dataclasses.replace(BUG, id="by-suite"), Noticing("a.b"))
SEEN_BY_OWN = Noticed(dataclasses.replace(BUG, id="by-own"), Noticing("a.c"), own=True)
UNSEEN = Noticed(dataclasses.replace(BUG, id="unseen"))
UNASKED = Noticed(dataclasses.replace(BUG, id="unasked"), why="no kernel")


@pytest.mark.parametrize(
    ("found", "lines"),
    [
        ([SEEN_BY_SUITE] * 2, ["the suite noticed 2 of 2 bugs (100 %)"]),
        (
            [SEEN_BY_SUITE, SEEN_BY_OWN],
            [
                "the suite noticed 1 of 2 bugs (50 %)",
                "noticed only by the tests that show them: by-own",
            ],
        ),
        (
            [UNSEEN, SEEN_BY_SUITE, SEEN_BY_SUITE],
            ["the suite noticed 2 of 3 bugs (66 %)", "not noticed: unseen"],
        ),
        (
            [SEEN_BY_SUITE, UNASKED],
            ["the suite noticed 1 of 1 bugs (100 %)", "could not be asked: unasked"],
        ),
        ([UNASKED], ["the suite noticed 0 of 0 bugs", "could not be asked: unasked"]),
    ],
)
def test_run_ends_with_a_figure_and_the_names(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    table: Path,
    found: list[Noticed],
    lines: list[str],
) -> None:
    """Exit code 0 says that the suite itself has noticed each of the bugs."""
    monkeypatch.setattr(noticed_module, "suite", lambda *_: found)
    code = main(["museum", "run", "--suite", "--table", str(table)])
    assert code == (EXIT_PASS if len(lines) == 1 else EXIT_FAILED)
    assert capsys.readouterr().out.splitlines() == lines


KERNEL = "source:7.2:fuzz"


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A cache in which nothing is known."""
    monkeypatch.setenv("ZVMLAB_CACHE", str(tmp_path / "cache"))


def asked_by(
    monkeypatch: pytest.MonkeyPatch, sides: Suite, tree: Path, kernel: str = "/tree"
) -> None:
    """The museum has these sides of a kernel, and the suite has their tests."""

    @contextlib.contextmanager
    def edited(*_: object) -> Iterator[Both]:
        yield both(sides.base, sides.changed)

    files = Applied({"f.c": File(b"int a;")}, {"f.c": File(b"long a;")}, {})
    mapped = {id(MAP): list(Suite.NAMES)}
    for name, function in {
        "edited": edited,
        "applied": lambda *_: files,
        "read_map": {"7.2": MAP}.__getitem__,
        "series_of": {tree: "7.2"}.__getitem__,
        "mapped_tests": lambda _files, known: mapped[id(known)],
        "targets_of": lambda *_: [Target(kernel, tree, "", False)],
    }.items():
        monkeypatch.setattr(noticed_module, name, function)
    monkeypatch.setattr(remembered_module, "TREE", tree)


def asked(
    monkeypatch: pytest.MonkeyPatch, tree: Path, kernel: str, changed: str, fresh: bool = False
) -> tuple[int, str]:
    """Ask the suite; how many tests ran with the edit, and which noticed it."""
    sides = Suite("P" * len(changed), changed)
    asked_by(monkeypatch, sides, tree, kernel)
    (found,) = noticed_module.suite([OF_C], "", Progress(quiet=True), lambda _: None, fresh)
    assert found.known == (not sides.runs)
    ran = sum(len(words) for side, words in sides.runs if side == "changed")
    return ran, found.what.by


@pytest.mark.usefixtures("memory")
def test_who_notices_is_remembered_for_the_next_change(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(SOURCE, encoding="ascii")
    files = changed_files(tmp_path, {"f.c": SOURCE.replace("return", "return -")})
    suite = Suite("PPP", "PPF")
    sides = dataclasses.replace(both(suite.base, suite.changed), files=files)
    assert noticing(sides, Suite.NAMES, Unchanged()).by == "a.c"
    a, b, c = Suite.NAMES
    assert watchful_first(files, Suite.NAMES) == [c, a, b]


@pytest.mark.usefixtures("memory")
def test_what_was_noticed_is_known_until_the_test_is_another(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Another test may change: it had no part in it."""
    tests = tmp_path / "a.py"
    tests.write_text("", encoding="ascii")
    assert asked(monkeypatch, tmp_path, KERNEL, "PFP") == (2, "a.b")
    assert asked(monkeypatch, tmp_path, KERNEL, "PFP") == (0, "a.b")
    assert asked(monkeypatch, tmp_path, "source:7.2", "PFP") == (2, "a.b"), "another kernel"
    monkeypatch.setattr(Suite, "NAMES", (*Suite.NAMES[1:], "b.py::test_d"))
    assert asked(monkeypatch, tmp_path, KERNEL, "FPP") == (0, "a.b"), "the test is still there"
    tests.write_text("1", encoding="ascii")
    assert asked(monkeypatch, tmp_path, KERNEL, "FPP") == (2, "a.b")


@pytest.mark.usefixtures("memory")
def test_that_nobody_noticed_is_known_until_there_is_another_test(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert asked(monkeypatch, tmp_path, KERNEL, "PPP") == (3, "")
    assert asked(monkeypatch, tmp_path, KERNEL, "PPP") == (0, "")
    monkeypatch.setattr(Suite, "NAMES", (*Suite.NAMES, "b.py::test_d"))
    assert asked(monkeypatch, tmp_path, KERNEL, "PPPF") == (3, "b.d")


@pytest.mark.usefixtures("memory")
def test_what_is_known_is_asked_again_if_it_is_to_be_fresh(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert asked(monkeypatch, tmp_path, KERNEL, "PFP") == (2, "a.b")
    assert asked(monkeypatch, tmp_path, KERNEL, "PPF", fresh=True) == (3, "a.c")


@pytest.mark.parametrize("kernel", ["/tree", "/tree:debug", "source:7.2:{config}"])
@pytest.mark.usefixtures("memory")
def test_nothing_is_known_of_what_the_user_can_change(tmp_path: Path, kernel: str) -> None:
    config = tmp_path / ".config"
    config.write_text("", encoding="ascii")
    target = Target(kernel.format(config=config), tmp_path, "", False)
    memory = Remembered(target, Applied({}, {}, {}), [])
    memory.keep(Suite.NAMES, Noticing("a.b"))
    assert memory.recall(Suite.NAMES) is None


@pytest.mark.usefixtures("memory")
def test_tests_that_did_not_end_are_asked_again(tmp_path: Path) -> None:
    """They may have had too little time."""
    memory = Remembered(Target("source:7.2", tmp_path, "", False), Applied({}, {}, {}), [])
    memory.keep(Suite.NAMES, Noticing("tests", "they did not end", True))
    assert memory.recall(Suite.NAMES) is None


@pytest.mark.usefixtures("memory")
def test_list_says_what_was_shown(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of each kernel, until the bug's edit is another; its texts decide nothing."""
    (bug,) = load(table)
    remember(bug, Shown("sid", 10, 10, 10, "", 21.4))
    remember(bug, Shown("6.12", 3, 3, 2, "passes", 7))
    assert main(["museum", "list", "--table", str(table)]) == EXIT_PASS
    assert capsys.readouterr().out.splitlines()[2:] == [
        f"{'':<18} shown 2 of 3 on 6.12, 7 s at most",
        f"{'':<18} shown 10 of 10 on sid, 21 s at most",
    ]
    assert main(["museum", "list", "--markdown", "--table", str(table)]) == EXIT_PASS
    cell = "2 of 3 on 6.12, 7 s at most; 10 of 10 on sid, 21 s at most"
    assert capsys.readouterr().out.endswith(f"| one-bug | 2020 | the value | {cell} |\n")
    table.write_text(GOOD.replace("the value", "its value"), encoding="utf-8")
    assert main(["museum", "list", "--markdown", "--table", str(table)]) == EXIT_PASS
    assert capsys.readouterr().out.endswith(f"| its value | {cell} |\n")
    table.write_text(GOOD.replace("b--", "b -= 1"), encoding="utf-8")
    assert main(["museum", "list", "--markdown", "--table", str(table)]) == EXIT_PASS
    assert capsys.readouterr().out.endswith("| the value | - |\n")


@pytest.mark.usefixtures("memory")
def test_most_is_remembered_of_what_was_shown() -> None:
    """Once says nothing about ten times, unless it is otherwise."""
    ten, once = Shown("sid", 10, 10, 10, "", 21), Shown("sid", 1, 1, 1, "", 20)
    wrong = Shown("sid", 1, 1, 0, "passes", 20)
    for run, known in ((once, once), (ten, ten), (once, ten), (wrong, wrong), (ten, ten)):
        remember(BUG, run)
        assert remembered(BUG) == [known]


@pytest.mark.usefixtures("memory")
def test_what_was_shown_before_a_run_was_cut_off_is_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each time on both sides; of the third time only one side was shown."""
    runs = itertools.count(1)

    def run(_words: Sequence[str], results: Results) -> Results:
        if next(runs) == 6:
            raise KeyboardInterrupt
        return results

    @contextlib.contextmanager
    def edited(*_: object) -> Iterator[Both]:
        yield both(
            lambda words: run(words, {"a.py::test_t": PASSES}),
            lambda words: run(words, {"a.py::test_t": FAILS}),
        )

    monkeypatch.setattr(show_module, "edited", edited)
    with pytest.raises(KeyboardInterrupt):
        show_module.show(BUG, "", 10, Progress(quiet=True))
    (shown,) = remembered(BUG)
    assert (shown.times, shown.base, shown.seen, shown.right) == (2, 2, 2, True)


@pytest.mark.usefixtures("memory")
def test_what_was_shown_is_forgotten_with_the_test(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(shown_module, "TREE", tmp_path)
    (tmp_path / "tests").mkdir()
    remember(BUG, Shown("sid", 1, 1, 1))
    assert remembered(BUG)
    (tmp_path / BUG.tests[0]).write_text("", encoding="ascii")
    assert not remembered(BUG)


def test_fresh_is_for_the_suite(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["museum", "run", "--table", str(table), "--fresh"]) == EXIT_USAGE
    assert "--fresh needs --suite" in capsys.readouterr().err
