# SPDX-License-Identifier: MIT
"""Two speeds of a suite: what --short takes, what it leaves, and what it says of it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from fake_guest import Fake, fake
from inner_pytest import HARNESS, inner, run

from zvmlab.base.errors import EXIT_PASS, EXIT_USAGE, UsageError, exit_code
from zvmlab.cli.main import main
from zvmlab.pytest_plugin import costs
from zvmlab.pytest_plugin.costs import load as load_costs
from zvmlab.pytest_plugin.speeds import load

__all__ = ["fake", "inner"]  # fixtures: importing them is using them
ROOT = HARNESS.parent
COMPILER = "s390x-linux-gnu-gcc"
pytestmark = pytest.mark.skipif(not shutil.which(COMPILER), reason=f"{COMPILER} is missing")

RULES = """
whole = "make everything"
long = 10
[default]
kernels = "turn"
drivers = "turn"
representative = false
"""
DRIVER = """
[[rule]]
why = "it is about the driver"
tests = ["test_driver.py"]
drivers = "each"
"""
LIST = """
[P]
title = "product"
[P.1]
title = "everywhere"
text = "t"
shown = "s"
[P.2]
title = "first"
text = "t"
shown = "s"
"""
SUITE = """
import pytest
pytestmark = pytest.mark.requirement("P1")
@pytest.mark.parametrize("number", range(24))
def test_many(zvmlab_kernel, zvmlab_driver, number): pass
"""
OTHERS = """
import pytest
@pytest.mark.requirement("P2")
@pytest.mark.first_kernel
def test_first(zvmlab_kernel): pass
@pytest.mark.full
def test_marked(zvmlab_kernel): pass
@pytest.mark.representative
def test_in_both(zvmlab_kernel, zvmlab_backend): pass
def test_on_the_host(): pass
"""


@pytest.fixture
def suite(inner: Fake, pytester: pytest.Pytester) -> Fake:
    """Two kernels, two drivers, three files of tests, and rules for them."""
    pytester.makeini("[pytest]\nrequirements = list.toml\nspeeds = rules.toml\ntestpaths = .\n")
    (pytester.path / "list.toml").write_text(LIST, encoding="utf-8")
    (pytester.path / "rules.toml").write_text(RULES + DRIVER, encoding="utf-8")
    pytester.makepyfile(test_many=SUITE, test_driver=SUITE, test_others=OTHERS)
    shutil.copy(inner.folder / "kernel", inner.folder / "other")
    return inner


def _run(fake: Fake, pytester: pytest.Pytester, *options: str) -> pytest.RunResult:
    kernels = ("--kernel", str(fake.folder / "other"))
    drivers = ("--driver", "upstream", "--driver", "zvmlab")
    where = ("--representative", "hercules", "--rootdir", str(pytester.path))
    ini = ("-c", str(pytester.path / "tox.ini"))
    return run(fake, pytester, *kernels, *drivers, *where, *ini, *options)


def _chosen(result: pytest.RunResult) -> dict[str, list[str]]:
    """Where each test runs, by file and name; "" if it needs no guest."""
    found: dict[str, list[str]] = {}
    for line in result.outlines:
        match = re.fullmatch(r"(test_\w+\.py)::(test_\w+)(?:\[(.*)\])?", line)
        if match is not None:
            found.setdefault(f"{match[1]}::{match[2]}", []).append(match[3] or "")
    return found


def test_each_test_once_and_each_combination_often(suite: Fake, pytester: pytest.Pytester) -> None:
    found = _chosen(_run(suite, pytester, "--short", "--collect-only", "-q"))
    many = [name.rsplit("-", 1) for name in found["test_many.py::test_many"]]
    assert sorted(int(number) for _, number in many) == list(range(24))
    assert set(Counter(where for where, _ in many)) == {
        f"{kernel}-{driver}" for kernel in ("kernel", "other") for driver in ("upstream", "zvmlab")
    }

    # Each driver on a kernel of its own.
    of_number: dict[str, set[tuple[str, str]]] = {}
    for name in found["test_driver.py::test_many"]:
        kernel, driver, number = name.split("-")
        of_number.setdefault(number, set()).add((kernel, driver))
    assert len(of_number) == 24
    one = {("kernel", "upstream"), ("other", "zvmlab")}
    other = {("other", "upstream"), ("kernel", "zvmlab")}
    assert all(where in (one, other) for where in of_number.values())
    assert one in of_number.values() and other in of_number.values()


def test_marks_are_heeded_and_the_whole_has_all(suite: Fake, pytester: pytest.Pytester) -> None:
    short = _chosen(_run(suite, pytester, "--short", "--collect-only", "-q"))
    assert short["test_others.py::test_first"] == ["kernel"]
    assert "test_others.py::test_marked" not in short
    assert [name.split("-")[1] for name in short["test_others.py::test_in_both"]] == ["qemu"]
    assert len(short["test_others.py::test_on_the_host"]) == 1
    full = _chosen(_run(suite, pytester, "--full", "--collect-only", "-q"))
    assert full["test_others.py::test_first"] == ["kernel", "other"]
    assert full["test_others.py::test_marked"] == ["kernel", "other"]
    assert len(full["test_others.py::test_in_both"]) == 3
    assert len(full["test_many.py::test_many"]) == len(full["test_driver.py::test_many"]) == 96
    for name, places in short.items():
        assert set(places) <= set(full[name])


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one", "workers"])
def test_what_is_left_is_told_and_in_the_report(
    suite: Fake, pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    """24 × 4 of each file: 72 and 48 are left; one more of each kind by marks and emulator."""
    result = _run(suite, pytester, "--short", "--requirements", "--zvmlab-report", "out", *workers)
    assert result.ret == pytest.ExitCode.OK
    last = [line for line in result.outlines if line][-2]
    match = re.fullmatch(
        r"left to make everything: 125 tests: (\d+) on another kernel, (\d+) with another driver,"
        r" 1 in another emulator, 2 because they take long",
        last,
    )
    assert match is not None, last
    assert int(match[1]) + int(match[2]) == 122
    report = json.loads((pytester.path / "out/report.json").read_text(encoding="utf-8"))
    assert (report["whole"], report["left"]) == ("make everything", 125)
    p1, p2 = report["requirements"]
    qemu = [cell for cell in p1["cells"] if cell["backend"] == "qemu"]
    # The whole has 48 of P1 in each cell; P2 is left to it on the other kernel.
    assert [cell["left"] + cell["tests"]["passed"] for cell in qemu] == [48] * 4
    assert [cell["left"] for cell in p2["cells"] if cell["backend"] == "qemu"] == [0, 0, 1, 1]
    assert "left 1" in result.stdout.str() and "(+" in result.stdout.str()
    assert "2 of 2 requirements shown" in result.stdout.str()
    assert "2 of them by a part of their tests" in " ".join(result.stdout.str().split())
    for name in ("report.html", "requirements.md"):
        assert "125 tests" in (pytester.path / "out" / name).read_text(encoding="utf-8")


def test_shards_leave_the_same(
    suite: Fake, pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    for shard in ("1/2", "2/2"):
        folder = f"out-{shard[0]}"
        result = _run(suite, pytester, "--short", "--shard", shard, "--zvmlab-report", folder)
        assert result.ret == pytest.ExitCode.OK
    merged = str(pytester.path / "merged")
    parts = [str(pytester.path / f"out-{number}") for number in (1, 2)]
    assert main(["merge", "--output", merged, *parts]) == EXIT_PASS
    assert "left to make everything: 125 tests: " in capsys.readouterr().out


def test_row_that_only_the_whole_shows_fails_a_short_run(
    suite: Fake, pytester: pytest.Pytester
) -> None:
    rule = '[[rule]]\nwhy = "long"\ntests = ["test_others.py::test_first"]\nleft = true\n'
    (pytester.path / "rules.toml").write_text(RULES + rule, encoding="utf-8")
    result = _run(suite, pytester, "--short", "--requirements")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "requirements: no test shows P2" in result.outlines


def test_test_that_takes_long_is_named(suite: Fake, pytester: pytest.Pytester) -> None:
    (pytester.path / "rules.toml").write_text(
        RULES.replace("long = 10", "long = 0.2"), encoding="utf-8"
    )
    pytester.makepyfile(test_slow="import time\ndef test_slow(): time.sleep(0.3)")
    result = _run(suite, pytester, "--short", "-k", "slow or host")
    assert result.ret == pytest.ExitCode.OK
    at = result.outlines.index("longer than 0.2 s: 1 tests")
    assert re.fullmatch(r"    0\.[3-9] s  test_slow.py::test_slow", result.outlines[at + 1])


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_test_that_may_take_long_is_not_named(
    suite: Fake, pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    """The others still are."""
    rule = '[[rule]]\nwhy = "it sleeps"\ntests = ["test_slow.py::test_sleeps"]\nslow = true\n'
    text = RULES.replace("long = 10", "long = 0.2") + rule
    (pytester.path / "rules.toml").write_text(text, encoding="utf-8")
    pytester.makepyfile(
        test_slow="""
        import time, pytest
        @pytest.mark.parametrize("how", ["long", "a::b"])
        def test_sleeps(how): time.sleep(0.3)
        def test_works(): time.sleep(0.3)
        """
    )
    result = _run(suite, pytester, "--short", *workers, "test_slow.py")
    assert result.ret == pytest.ExitCode.OK
    at = result.outlines.index("longer than 0.2 s: 1 tests")
    assert result.outlines[at + 1].endswith(" test_slow.py::test_works")


BUDGET = RULES.replace("[default]", 'costs = "costs.toml"\n[default]\nbudget = 2')


def _cost(pytester: pytest.Pytester, text: str, more: str = "") -> None:
    (pytester.path / "rules.toml").write_text(more + BUDGET, encoding="utf-8")
    (pytester.path / "costs.toml").write_text(text, encoding="utf-8")


def test_cases_of_a_test_have_a_budget(suite: Fake, pytester: pytest.Pytester) -> None:
    """24 cases of 0.3 s: 6 fit into 2 s.  What the file does not name costs nothing."""
    _cost(pytester, '["test_many.py"]\ntest_many = 0.3\n')
    result = _run(suite, pytester, "--short", "-n", "2", "--requirements")
    assert result.ret == pytest.ExitCode.OK
    told = next(line for line in result.outlines if line.startswith("left to"))
    assert ", 18 further cases of a test," in told
    found = _chosen(_run(suite, pytester, "--short", "--collect-only", "-q"))
    assert len(found["test_many.py::test_many"]) == 6
    assert len(found["test_driver.py::test_many"]) == 24
    assert len({name.split("-")[0] for name in found["test_many.py::test_many"]}) == 2
    every = _chosen(_run(suite, pytester, "--full", "--collect-only", "-q"))
    assert len(every["test_many.py::test_many"]) == 96


def test_row_and_file_keep_their_cheapest_test(suite: Fake, pytester: pytest.Pytester) -> None:
    """Nothing fits: a row needs its only test, and a file one case."""
    costly = '["test_{}.py"]\ntest_{} = {}\n'
    lines = (("many", "many", 9), ("driver", "many", 8), ("others", "first", 60))
    more = "\n@pytest.mark.requirement('P1')\ndef test_more(): pass\n"
    more += "def test_no_row(): pass\n"
    with (pytester.path / "test_many.py").open("a", encoding="utf-8") as file:
        file.write(more)
    _cost(pytester, "".join(costly.format(*line) for line in lines))
    found = _chosen(_run(suite, pytester, "--short", "--collect-only", "-q"))
    # The file and its row have cheap tests.
    assert "test_many.py::test_many" not in found
    assert len(found["test_driver.py::test_many"]) == 1
    assert found["test_others.py::test_first"] == ["kernel"]
    result = _run(suite, pytester, "--short", "--requirements")
    assert "2 of 2 requirements shown" in result.stdout.str()


@pytest.mark.parametrize("budget, kept", [(8, 1), (7.9, 0)])
def test_file_keeps_what_is_not_too_dear(
    suite: Fake, pytester: pytest.Pytester, budget: float, kept: int
) -> None:
    """For a row it is never too dear."""
    costly = '["test_driver.py"]\ntest_many = 8\n["test_others.py"]\ntest_first = 60\n'
    _cost(pytester, costly, f"file_budget = {budget}\n")
    found = _chosen(_run(suite, pytester, "--short", "--collect-only", "-q"))
    assert len(found.get("test_driver.py::test_many", [])) == kept
    assert found["test_others.py::test_first"] == ["kernel"]


def test_what_a_row_needs_at_any_price_runs_on_the_first_kernel(
    suite: Fake, pytester: pytest.Pytester
) -> None:
    """Those that fit take turns; both have tests that would have the other kernel."""
    more = "@pytest.mark.requirement('Q{0}')\ndef test_{0}(zvmlab_kernel): pass\n"
    tests = "import pytest\n" + "".join(map(more.format, range(1, 17)))
    pytester.makepyfile(test_turns=tests, test_dear=tests)
    lines = "".join(f"test_{number} = 3\n" for number in range(1, 17))
    _cost(pytester, f'["test_dear.py"]\n{lines}')
    rows = "".join(
        f"[Q.{number}]\ntitle = 'q'\ntext = 'q'\nshown = 'q'\n" for number in range(1, 17)
    )
    with (pytester.path / "requirements.toml").open("a", encoding="utf-8") as file:
        file.write(f"[Q]\ntitle = 'Q'\n{rows}")
    found = _chosen(_run(suite, pytester, "--short", "--collect-only", "-q", "-k", "turns or dear"))
    kernels = {
        name: {one for test, ones in found.items() if name in test for one in ones}
        for name in ("turns", "dear")
    }
    assert kernels == {"turns": {"kernel", "other"}, "dear": {"kernel"}}


COSTLY = """
import subprocess, sys, time, pytest
def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
@pytest.fixture
def slow(): spin(0.55)
def test_itself(): spin(0.6)
def test_set_up(slow): pass
def test_program(): subprocess.run([sys.executable, "-c", {program!r}])
def test_asleep(): time.sleep(0.6)
@pytest.mark.parametrize("seconds", [0.8, 0.2, 0.2, 0.2])
def test_cases(seconds): spin(seconds)
@pytest.mark.xfail
def test_known(): spin(0.55); assert 0
@pytest.mark.skipif(True, reason="none")
def test_skipped(): pass
"""


@pytest.mark.parametrize(
    "workers", [pytest.param((), marks=pytest.mark.full), ("-n", "2")], ids=["one", "workers"]
)
def test_costs_are_measured_where_the_work_is_done(
    suite: Fake,
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    workers: tuple[str, ...],
) -> None:
    """In the test, its set-up, or a program that it starts; by a clock of the kernel's own."""
    spin = "import time\ndef spin():\n while time.process_time() < 0.55: pass\nspin()\n"
    pytester.makepyfile(test_costly=COSTLY.format(program=spin))
    old = '["test_costly.py"]\ntest_asleep = 9\ntest_gone = 4\ntest_skipped = 3\n'
    old += '["test_no.py"]\ntest_a = 1\n["test_many.py"]\ntest_many = 0.3\n'
    _cost(pytester, old)
    report = ("--junitxml", "report.xml")
    result = _run(suite, pytester, "--write-costs", *report, *workers, "test_costly.py")
    assert result.ret == pytest.ExitCode.OK
    file = pytester.path / "costs.toml"
    written = file.read_text(encoding="utf-8")
    found = load_costs(file)
    assert found.keys() == {"test_costly.py", "test_many.py"}
    assert found["test_many.py"] == {"test_many": 0.3}, "it did not run"
    costly = dict(found["test_costly.py"])
    assert costly.pop("test_skipped") == 3, "it was not measured"
    measured = {"test_itself", "test_set_up", "test_program", "test_cases", "test_known"}
    assert costly.keys() == measured
    # The kernel gives four times, of it and its children, and rounds each down to a hundredth.
    assert 0.56 <= costly["test_itself"] < 1.1 and 0.51 <= costly["test_set_up"] < 1.05
    assert 0.51 <= costly["test_program"] < 1.6
    assert 0.16 <= costly["test_cases"] < 0.6, "the lower median"
    # The report has the same.  It may be one of a short run: what is known does not go.
    file.write_text(old, encoding="utf-8")
    assert _from_reports(pytester, monkeypatch, "rules.toml", "report.xml") == EXIT_PASS
    again = {name: dict(tests) for name, tests in load_costs(file).items()}
    assert again["test_costly.py"].pop("test_asleep") < 0.5
    assert again == found and "test_asleep" not in written


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("loadfile", ["c1", "c2", "a1", "a2", "b1", "b2"]),
        ("loadgroup", ["b2", "a1", "c1", "a2", "b1", "c2"]),
    ],
)
def test_what_takes_longest_runs_first(
    suite: Fake, pytester: pytest.Pytester, how: str, expected: list[str]
) -> None:
    """Files, or groups; the tests of one stay as they are, and so does what costs little."""
    group = "@pytest.mark.xdist_group('g')\n"
    for name, marked in (("a", 1), ("b", 2), ("c", 0)):
        tests = [f"{group if n == marked else ''}def test_{name}{n}(): pass\n" for n in (1, 2)]
        (pytester.path / f"test_{name}.py").write_text("import pytest\n" + "".join(tests))
    text = '["test_{0}.py"]\ntest_{0}1 = {1}\ntest_{0}2 = {2}\n'
    lines = text.format("a", 6, 5.5) + text.format("c", 9, 4)
    _cost(pytester, lines + '["test_b.py"]\ntest_b2 = 7\n')
    rules = BUDGET.replace("budget = 2", "budget = 20")
    (pytester.path / "rules.toml").write_text(rules, encoding="utf-8")
    files = ("test_b.py", "test_a.py", "test_c.py")
    result = _run(suite, pytester, "--short", "-v", "-n", "1", "--dist", how, *files)
    assert result.ret == pytest.ExitCode.OK
    assert re.findall(r"PASSED test_.\.py::test_(\w+)", result.stdout.str()) == expected


def _from_reports(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.chdir(pytester.path)
    monkeypatch.setattr(sys, "argv", ["costs", *words])
    return exit_code(costs.main, "costs")


CASE = '<testcase classname="test_a" name="test_b"><properties><property name="cpu_seconds" {}/>'
CASE = f"<testsuites>{CASE}</properties></testcase></testsuites>"


@pytest.mark.parametrize(
    ("rules", "report", "sentence"),
    [
        (None, "", "speeds rules.toml cannot be read: "),
        ("whole = 1\n", "", "speeds rules.toml has no costs, the file to write"),
        ('costs = "c"\n', None, "report report.xml cannot be read: No such file or directory"),
        ('costs = "c"\n', "<a", "report report.xml is not XML: "),
        ('costs = "c"\n', "<a/>", "report report.xml has no test with the property cpu_seconds"),
        ('costs = "c"\n', CASE.format('value="x"'), "report report.xml: 'x' is no cpu_seconds"),
        ('costs = "c"\n', CASE.format('value="nan"'), "'nan' is no cpu_seconds"),
        ('costs = "c"\n', CASE.format(""), "report report.xml: None is no cpu_seconds"),
        ('costs = "c"\n', CASE.format('value="1"'), "c cannot be read: No such file or directory"),
    ],
)
def test_reports_that_cannot_be_are_one_sentence(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    rules: str | None,
    report: str | None,
    sentence: str,
) -> None:
    for name, text in (("rules.toml", rules), ("report.xml", report)):
        if text is not None:
            (pytester.path / name).write_text(text, encoding="utf-8")
    assert _from_reports(pytester, monkeypatch, "rules.toml", "report.xml") == EXIT_USAGE
    said = capsys.readouterr().err
    assert said.startswith("costs: ") and sentence in said and said.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "cannot be read: No such file or directory"),
        ("[a", "is not TOML"),
        ("a = 1", "a must be a table"),
        ("[a]\nb = 0", "a, b: 0 is no time"),
        ("[a]\nb = true", "a, b: True is no time"),
        ("[a]\nb = inf", "a, b: inf is no time"),
        ('[a]\nb = "1"', "a, b: '1' is no time"),
    ],
)
def test_costs_that_cannot_be_are_one_sentence(
    suite: Fake, pytester: pytest.Pytester, text: str | None, sentence: str
) -> None:
    _cost(pytester, text or "")
    if text is None:
        (pytester.path / "costs.toml").unlink()
    result = _run(suite, pytester, "--short")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    said = [line for line in result.errlines if line]
    assert len(said) == 1 and sentence in said[0]


RULE = '[[rule]]\nwhy = "x"\n'


@pytest.mark.parametrize(
    ("rules", "sentence"),
    [
        (
            f'{RULE}tests = ["test_none.py"]\nleft = true',
            "names test_none.py, but there is no such file",
        ),
        (
            f'{RULE}tests = ["test_a.py::test_x"]\nleft = true',
            "names test_a.py::test_x, but test_a.py has no such test",
        ),
        (f'{RULE}tests = ["test_a.py"]', "rule 1 (x) says nothing of its tests"),
        (f"{RULE}left = true", "rule 1 (x) needs tests"),
        ('[[rule]]\ntests = ["test_a.py"]\nleft = true', "rule 1 needs why, the reason"),
        (
            f'{RULE}tests = ["test_a.py"]\nkernels = "some"',
            "invalid kernels: 'some' (each, turn, first)",
        ),
        (f'{RULE}tests = ["test_a.py"]\nkernel = "each"', "has a field 'kernel'"),
        (f'{RULE}tests = ["test_a.py"]\nleft = 1', "invalid left: 1"),
        (f'{RULE}tests = ["test_a.py"]\nbudget = "1"', "invalid budget: '1'"),
        ("[rule", "is not TOML"),
        ("[other]", "has a field 'other'"),
        ("[rule]", "invalid rule: {}"),
    ],
)
def test_rules_that_cannot_be_are_one_sentence(tmp_path: Path, rules: str, sentence: str) -> None:
    (tmp_path / "test_a.py").write_text("def test_a(): pass\n", encoding="utf-8")
    (tmp_path / "rules.toml").write_text(RULES + rules, encoding="utf-8")
    with pytest.raises(UsageError, match=re.escape(sentence)) as error:
        load(tmp_path / "rules.toml").check_names()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("left", ["whole", "long", "default", "kernels", "drivers"])
def test_what_rules_need_is_told(tmp_path: Path, left: str) -> None:
    lines = [line for line in RULES.splitlines() if not line.strip("[").startswith(left)]
    (tmp_path / "rules.toml").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(UsageError, match=f"has no .*{left}|default needs|has a field 'kernels'"):
        load(tmp_path / "rules.toml")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--full",), "--short and --full exclude each other"),
        (("-o", "speeds="), "--short needs rules; name them as speeds in pytest's ini file"),
        (("--write-costs",), "--write-costs: speeds "),
        (("-o", "speeds=none.toml"), "cannot be read: No such file or directory"),
        (("-o", "testpaths=sub"), "no run would take the tests of "),
    ],
)
def test_options_that_cannot_be_are_one_sentence(
    suite: Fake, pytester: pytest.Pytester, options: tuple[str, ...], sentence: str
) -> None:
    result = _run(suite, pytester, "--short", *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    said = [line for line in result.errlines if line]
    assert len(said) == 1 and sentence in said[0]


def test_test_that_is_never_in_the_other_emulator_is_one_sentence(
    suite: Fake, pytester: pytest.Pytester
) -> None:
    rule = f'{RULE}tests = ["test_many.py"]\nrepresentative = true\n'
    (pytester.path / "rules.toml").write_text(RULES + rule, encoding="utf-8")
    result = _run(suite, pytester, "--short", "-n", "2")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert [line for line in result.outlines if "no such test is marked representative" in line]


def test_random_half_is_the_same_with_the_same_seed(suite: Fake, pytester: pytest.Pytester) -> None:
    def run_of(*options: str) -> list[str]:
        result = _run(suite, pytester, "--collect-only", "-q", *options, "test_many.py")
        return [line for line in result.outlines if "::" in line]

    every, first, again = (run_of(*o) for o in ((), ("--random-half=7",), ("--random-half=7",)))
    assert first == again and len(first) == len(set(first)) == 48 == len(every) // 2
    assert set(first) < set(every) and first != [name for name in every if name in first]
    assert run_of("--random-half=8") != first


def test_own_rules_keep_many_tests_in_each_pair() -> None:
    """What the rules of this tree leave: enough of each kernel with each driver and emulator."""
    command = [sys.executable, "-m", "pytest", "-p", "zvmlab.pytest_plugin", "--collect-only", "-q"]
    # The run that this test is part of has the cache of this tree.
    command += ["-p", "no:cacheprovider"]
    command += ["--short", "--representative", "hercules", "tests/e2e"]
    command += ["--kernel", "bookworm", "--kernel", "trixie", "--driver", "upstream"]
    kept = {name: os.environ[name] for name in ("PYTHONPYCACHEPREFIX",) if name in os.environ}
    done = subprocess.run(
        [*command, "--driver", "zvmlab"],
        cwd=ROOT,
        env={
            "PYTHONPATH": str(ROOT / "harness"),
            "PATH": "/usr/bin:/bin",
            "HOME": str(Path.home()),
            **kept,
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-5000:]
    names = re.findall(r"^tests/e2e/test_\w+\.py::test_\w+\[(.*)\]$", done.stdout, re.MULTILINE)
    kinds = Counter(
        (kernel, other)
        for name in names
        for kernel in ("bookworm", "trixie")
        for other in ("upstream", "zvmlab", "hercules")
        if kernel in name.split("-") and other in name.split("-")
    )
    assert all(
        kinds[kernel, driver] >= 60
        for kernel in ("bookworm", "trixie")
        for driver in ("upstream", "zvmlab")
    ), done.stdout[-500:]
    assert kinds["bookworm", "hercules"] >= 50
    assert len(names) >= 700
