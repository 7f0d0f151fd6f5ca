# SPDX-License-Identifier: MIT
"""Runs of pytest that show requirements, as a foreign repository has them."""

from __future__ import annotations

import json
import re
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from fake_guest import Fake, fake
from inner_pytest import inner, run

from zvmlab.base.errors import EXIT_USAGE
from zvmlab.cli.main import main

__all__ = ["fake", "inner"]  # fixtures: importing them is using them
COMPILER = "s390x-linux-gnu-gcc"
pytestmark = pytest.mark.skipif(not shutil.which(COMPILER), reason=f"{COMPILER} is missing")

LIST = """
[P]
title = "my driver"
[P.1]
title = "opens"
text = "the device can be opened"
shown = "open"
[P.2]
title = "is exclusive"
text = "the second open fails"
shown = "EBUSY"
errnos = ["EBUSY"]
"""
OPENS = """
import pytest
@pytest.mark.requirement("P1")
def test_opens(zvmlab_kernel): pass
"""
BOTH = f"""{OPENS}
@pytest.mark.requirement("P2")
def test_is_exclusive(): pass
"""
TRACE = '{"seq":%d,"tod":"d000000000000000","cpu":0,"call":"%s"}\n'


@pytest.fixture
def project(inner: Fake, pytester: pytest.Pytester) -> Fake:
    """A repository with a list of requirements."""
    pytester.makeini("[pytest]\nrequirements = list.toml\n")
    (pytester.path / "list.toml").write_text(LIST, encoding="utf-8")
    return inner


def _run(fake: Fake, pytester: pytest.Pytester, *options: str) -> pytest.RunResult:
    """With the folder's name, so that pytest finds the ini file although the kernel is elsewhere."""
    return run(fake, pytester, *options, str(pytester.path))


def _report(pytester: pytest.Pytester) -> Any:
    return json.loads((pytester.path / "out/report.json").read_text(encoding="utf-8"))


def _last_lines(result: pytest.RunResult, count: int) -> list[str]:
    return [line for line in result.stdout.str().splitlines() if line][-count:]


def test_all_requirements_shown(project: Fake, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(BOTH)
    result = _run(project, pytester, "--requirements")
    assert result.ret == pytest.ExitCode.OK
    lines = _last_lines(result, 7)
    assert re.fullmatch("=+ requirements =+", lines[0])
    assert lines[1:6] == [
        "     requirement           tests  kernel",
        "                                  upstream",
        "P1   opens                     1  passed 1",
        "P2   is exclusive              1  passed 1",
        "2 of 2 requirements shown on every kernel and driver; 2 tests: 2 passed",
    ]
    assert re.fullmatch("=+ 2 passed in .* =+", lines[6])
    assert "zvmlab: " not in result.stdout.str() and "still by" not in result.stdout.str()
    assert not (pytester.path / "out").exists()


@pytest.mark.parametrize("workers", ((), ("-n", "2", "--dist", "loadgroup")))
def test_requirement_without_a_test_fails_the_run(
    project: Fake, pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    pytester.makepyfile(OPENS + "def test_other(): pass")
    result = _run(project, pytester, "--requirements", *workers)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=2)
    lines = _last_lines(result, 4)
    assert lines[0] == "P2   is exclusive              0  no test"
    assert lines[2] == "requirements: no test shows P2"
    assert " 2 passed in " in lines[3]
    by_hand = _run(project, pytester, "--zvmlab-report", "out", *workers)
    assert by_hand.ret == pytest.ExitCode.OK
    assert _report(pytester)["complaints"] == ["no test shows P2"]


@pytest.mark.parametrize("workers", ((), ("-n", "2", "--dist", "loadgroup")))
def test_parameters_of_any_type_come_to_the_report(
    project: Fake, pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    """From a worker of pytest-xdist, which sends nothing but plain text."""
    pytester.makepyfile(
        """
        import enum
        import pytest

        class State(enum.StrEnum):
            ON = "on"

        class Bit(enum.IntEnum):
            HIGH = 1

        @pytest.mark.parametrize("value", (State.ON, Bit.HIGH, b"x", 7, "text"))
        def test_opens(value): pass
        """
    )
    result = _run(project, pytester, "--zvmlab-report", "out", *workers)
    result.assert_outcomes(passed=5)
    values = [test["parameters"]["value"] for test in _report(pytester)["tests"]]
    assert sorted(values) == ["7", "<Bit.HIGH: 1>", "b'x'", "on", "text"]


def test_only_skipped_is_not_shown(project: Fake, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest
        @pytest.mark.requirement("P1")
        def test_opens(): pass
        @pytest.mark.requirement("P2")
        def test_busy(zvmlab_kernel):
            if zvmlab_kernel.endswith("other"):
                pytest.skip("not there")
        @pytest.mark.xfail(reason="one day")
        @pytest.mark.requirement("P2")
        def test_expected(): assert False
        """
    )
    shutil.copy(project.folder / "kernel", project.folder / "other")
    options = ("--kernel", str(project.folder / "other"), "--zvmlab-report", "out")
    result = _run(project, pytester, "--requirements", *options)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "requirements: all tests of P2 were skipped on other with upstream" in result.outlines
    read = _report(pytester)
    assert [(cell["kernel"], cell["result"]) for cell in read["requirements"][1]["cells"]] == [
        ("kernel", "passed"),
        ("other", "skipped"),
    ]
    reasons = [test["reason"] for test in read["tests"] if test["result"] == "skipped"]
    assert reasons == ["not there", "expected to fail: one day"]


def test_unknown_row_and_nothing_to_run(project: Fake, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(BOTH + "@pytest.mark.requirement('P1', 'P3')\ndef test_what(): pass")
    result = _run(project, pytester, "--requirements")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert (
        "requirements: tests name rows that the list does not have: test_what (P3)"
        in result.outlines
    )
    pytester.makepyfile("")
    result = _run(project, pytester, "--requirements")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "requirements: no test shows P1, P2" in result.outlines


def test_wrong_usage_and_interruption_keep_their_codes(
    project: Fake, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(OPENS.replace("pass", "raise KeyboardInterrupt"))
    assert _run(project, pytester, "--requirements").ret == pytest.ExitCode.INTERRUPTED
    assert _run(project, pytester, "--requirements", "none").ret == pytest.ExitCode.USAGE_ERROR
    collected = _run(project, pytester, "--requirements", "--collect-only", "-q")
    assert collected.ret == pytest.ExitCode.OK and "no test shows" not in collected.stdout.str()


def test_deviation_of_upstream_is_told_apart(project: Fake, pytester: pytest.Pytester) -> None:
    module = project.folder / "monreader.ko"
    module.write_bytes(b"")
    pytester.makepyfile(
        """
        import pytest
        @pytest.mark.requirement("P1")
        def test_opens(): pass

        @pytest.mark.upstream_defect(5, "it never ends", seen="assert 'upstream' != 'upstream'")
        @pytest.mark.requirement("P2")
        def test_ends(zvmlab_kernel, zvmlab_driver):
            assert zvmlab_driver != "upstream"

        @pytest.fixture
        def ends_badly():
            yield
            assert False, "ends badly"

        @pytest.mark.upstream_defect(
            5, "it never ends", seen="division by zero", raises=ZeroDivisionError
        )
        def test_other(ends_badly, zvmlab_kernel, zvmlab_driver):
            1 / 0
        """
    )
    options = ("--driver", "upstream", "--driver", str(module), "-n", "2")
    result = _run(project, pytester, "--requirements", "--zvmlab-report", "out", *options)
    assert result.ret == pytest.ExitCode.TESTS_FAILED  # the other one's tear-down
    assert "P2   is exclusive              1  deviates 1  passed 1" in result.outlines
    assert "known: P2 (kernel): upstream's driver, defect 5: it never ends [test_ends]" in (
        result.outlines
    )
    tests = {(test["function"], test["driver"]): test for test in _report(pytester)["tests"]}
    assert tests["test_ends", "upstream"]["result"] == "deviates"
    assert tests["test_ends", "upstream"]["defect"] == 5
    assert "assert 'upstream' != 'upstream'" in tests["test_ends", "upstream"]["failure"]
    other = tests["test_other", "upstream"]
    assert (other["result"], other["reason"]) == ("failed", "")
    assert "1 / 0" in other["failure"] and "ends badly" in other["failure"]
    assert tests["test_ends", "monreader"]["result"] == "passed"
    assert tests["test_opens", None]["kernel"] is None


@pytest.mark.parametrize("workers", ((), ("-n", "2", "--dist", "loadgroup")))
def test_files_of_a_run(project: Fake, pytester: pytest.Pytester, workers: tuple[str, ...]) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("size, how", [(1, "eintr"), (4096, "eperm")])
        @pytest.mark.requirement("P1", "P2")
        def test_reads(zvmlab_kernel, zvmlab_driver, size, how):
            '''Reads with a buffer.

            More about it.
            '''
            assert size == 1
        """
    )
    options = ("--zvmlab-report", "out", "--junitxml", "out/junit.xml", *workers)
    result = _run(project, pytester, *options)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    folder = pytester.path / "out"
    assert {path.name for path in folder.iterdir()} == {
        *("report.json", "report.html", "requirements.md", "results.jsonl", "junit.xml"),
        *("report.tap", "report.ktap"),
    }
    assert "| `test_reads` | FAILED 1/2 |" in (folder / "requirements.md").read_text()
    first, second = _report(pytester)["tests"]
    assert first["test"].endswith(".py::test_reads[kernel-upstream-1-eintr]")
    assert first["sentence"] == "Reads with a buffer."
    assert first["parameters"] == {"size": "1", "how": "eintr"}
    assert (first["kernel"], first["driver"]) == ("kernel", "upstream")
    assert first["errnos"] == ["EBUSY", "EINTR"] and second["errnos"] == ["EBUSY", "EPERM"]
    assert (first["result"], second["result"]) == ("passed", "failed")
    assert "assert 4096 == 1" in second["failure"] and first["failure"] == ""
    cases = ET.parse(folder / "junit.xml").getroot().iter("testcase")
    properties = [
        [(own.get("name"), own.get("value")) for own in case.iter("property")] for case in cases
    ]
    assert sorted(properties)[0] == [
        *(("requirement", "P1"), ("requirement", "P2"), ("errno", "EBUSY"), ("errno", "EINTR")),
        *(("kernel", "kernel"), ("driver", "upstream"), ("backend", "qemu")),
    ]


@pytest.mark.parametrize("workers", ((), ("-n", "1")))
def test_failure_in_a_guest_has_console_and_timeline(
    project: Fake, pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    pytester.makepyfile(
        f"""
        import pytest
        TRACE = {TRACE!r}

        def log(guest, name, text):
            with open(guest.logs / name, "a") as file:
                file.write(text)

        @pytest.fixture
        def traced(paused_guest):
            log(paused_guest, "trace.jsonl", TRACE % (1, "boot"))
            return paused_guest

        @pytest.fixture
        def ends_badly(traced):
            yield
            assert False, "ends badly"

        @pytest.mark.requirement("P1")
        def test_body(traced):
            log(traced, "console.log", "the last words\\n")
            log(traced, "trace.jsonl", TRACE % (2, "body"))
            assert False, "body fails"

        @pytest.fixture
        def begins_badly(traced):
            assert False, "begins badly"

        @pytest.mark.requirement("P1")
        def test_setup(begins_badly): pass

        @pytest.mark.requirement("P1")
        def test_teardown(ends_badly): pass

        @pytest.mark.requirement("P1")
        def test_passes(traced): pass
        """
    )
    _run(project, pytester, "--zvmlab-report", "out", *workers)
    tests = {test["function"]: test for test in _report(pytester)["tests"]}
    results = {name: test["result"] for name, test in tests.items()}
    assert results == {
        **{"test_body": "failed", "test_setup": "failed", "test_teardown": "failed"},
        "test_passes": "passed",
    }
    assert "the last words" in tests["test_body"]["console"]
    assert "begins badly" in tests["test_setup"]["failure"]
    seen = {name: _traced(test) for name, test in tests.items()}
    assert seen == {
        "test_body": ["body"],
        "test_setup": ["boot"],
        **{"test_teardown": [], "test_passes": []},  # their folders are gone
    }
    assert _report(pytester)["kernels"] == {"kernel": "kernel (local)"}
    page = (pytester.path / "out/report.html").read_text(encoding="utf-8")
    assert page.count("<svg ") == 2 and page.count("<circle ") == 2


def _traced(test: Any) -> list[str]:
    """The calls in the parts of the traces that a test's report names."""
    calls = []
    for cut in test["traces"]:
        path = Path(cut["path"])
        assert str(path.parent) in test["logs"]
        part = path.read_bytes()[cut["begin"] : cut["end"]]
        calls += [json.loads(line)["call"] for line in part.splitlines()]
    return calls


@pytest.mark.parametrize(
    "ini, options, text",
    [
        (
            "",
            ("--requirements",),
            "*--requirements needs a list; name it as requirements in pytest's ini file",
        ),
        (
            "requirements = no.toml",
            (),
            "*requirements */no.toml cannot be read: No such file or directory",
        ),
        ("requirements = bad.toml", (), "*requirements */bad.toml are not TOML: *"),
        (
            "requirements = list.toml",
            ("--requirement", "P7"),
            "*--requirement: the list has no row P7",
        ),
        ("", ("--zvmlab-report", "bad.toml"), "*--zvmlab-report bad.toml: File exists"),
    ],
)
def test_wrong_use_is_one_sentence(
    inner: Fake, pytester: pytest.Pytester, ini: str, options: tuple[str, ...], text: str
) -> None:
    pytester.makeini(f"[pytest]\n{ini}\n")
    (pytester.path / "bad.toml").write_text("x", encoding="utf-8")
    (pytester.path / "list.toml").write_text(LIST, encoding="utf-8")
    pytester.makepyfile("def test_it(): pass")
    result = _run(inner, pytester, *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([text])


def test_page_needs_jinja2(project: Fake, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(nojinja2="import sys; sys.modules['jinja2'] = None", test_it=BOTH)
    result = _run(project, pytester, "-p", "nojinja2", "--zvmlab-report", "out")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--zvmlab-report needs jinja2; install python3-jinja2"])
    assert _run(project, pytester, "-p", "nojinja2", "--requirements").ret == pytest.ExitCode.OK


def test_lost_worker_is_a_failed_test(project: Fake, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(OPENS.replace("pass", "__import__('os')._exit(3)"))
    result = _run(project, pytester, "--zvmlab-report", "out", "-n", "1")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    (test,) = _report(pytester)["tests"]
    assert (test["result"], test["failure"]) == ("failed", "the test began and did not end")


def test_report_without_a_list(inner: Fake, pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_p1_it(): pass")
    result = _run(inner, pytester, "--zvmlab-report", "out")
    assert result.ret == pytest.ExitCode.OK
    assert (
        "report: out/report.json, out/report.html, out/report.tap, out/report.ktap"
        in result.outlines
    )
    assert "of 0 requirements" not in result.stdout.str()
    assert _report(pytester)["requirements"] == [] and _report(pytester)["tests"][0]["rows"] == []
    assert "<h2>Requirements</h2>" not in (pytester.path / "out/report.html").read_text()


def test_report_that_cannot_be_written(project: Fake, pytester: pytest.Pytester) -> None:
    (pytester.path / "out/report.json").mkdir(parents=True)
    pytester.makepyfile(BOTH)
    result = _run(project, pytester, "--zvmlab-report", "out")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["requirements: the report cannot be written: *Is a directory*"])


def test_tests_of_a_row_can_be_chosen(project: Fake, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(BOTH + "def test_other(): pass")
    result = _run(project, pytester, "--requirement", "P2", "-v")
    result.assert_outcomes(passed=1, deselected=2)
    result.stdout.fnmatch_lines(["*::test_is_exclusive PASSED*"])
    result = _run(project, pytester, "--requirement", "P2", "--requirement", "P1")
    result.assert_outcomes(passed=2, deselected=1)


def test_markers_of_module_class_function_and_parameter_count(
    project: Fake, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(
        """
        import pytest
        pytestmark = pytest.mark.requirement("P3")

        @pytest.mark.requirement("P2", "P3")
        class TestIt:
            @pytest.mark.requirement("P1")
            @pytest.mark.parametrize("a", [1, pytest.param(2, marks=pytest.mark.requirement("P4"))])
            def test_p5_is_no_row_beside_a_marker(self, a): pass
        """
    )
    _run(project, pytester, "--zvmlab-report", "out")
    rows = [test["rows"] for test in _report(pytester)["tests"]]
    assert [sorted(row) for row in rows] == [["P1", "P2", "P3"], ["P1", "P2", "P3", "P4"]]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("", "no row given (for example M15)"),
        ("'P01'", "invalid row: 'P01' (for example M15)"),
        ("'P1', 'p2'", "invalid row: 'p2' (for example M15)"),
        ("['P1']", "invalid row: ['P1'] (for example M15)"),
    ],
)
def test_marker_that_names_no_row(
    project: Fake, pytester: pytest.Pytester, arguments: str, sentence: str
) -> None:
    pytester.makepyfile(
        f"import pytest\n@pytest.mark.requirement({arguments})\ndef test_it(): pass"
    )
    result = _run(project, pytester)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    where = "test_marker_that_names_no_row.py::test_it: mark.requirement: "
    assert f"ERROR: {where}{sentence}" in result.errlines


SIX = f"""{BOTH}
@pytest.mark.parametrize("number", range(4))
def test_more(number): assert number != 2
"""


@pytest.mark.parametrize("workers", ((), ("-n", "2", "--dist", "loadgroup")))
def test_shards_run_each_test_once_and_merge(
    project: Fake,
    pytester: pytest.Pytester,
    workers: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytester.makepyfile(SIX)
    whole = _run(project, pytester, "--requirements", "--zvmlab-report", "out", *workers)
    whole.assert_outcomes(passed=5, failed=1)
    names = set()
    for number, outcomes in ((1, (1, 1)), (2, (2, 0)), (3, (2, 0))):
        out = f"out-{number}"
        options = ("--requirements", "--zvmlab-report", out, "--shard", f"{number}/3", *workers)
        result = _run(project, pytester, *options)
        # What the others show is not missed here.
        assert result.ret == (1 if outcomes[1] else 0)
        result.assert_outcomes(passed=outcomes[0], failed=outcomes[1])
        result.stdout.fnmatch_lines([f"shard {number}/3: zvmlab merge judges the requirements*"])
        names |= {
            line["test"]
            for line in map(json.loads, (pytester.path / out / "results.jsonl").open())
            if "test" in line
        }
    assert len(names) == 6
    parts = [str(pytester.path / f"out-{number}") for number in (3, 1, 2)]
    capsys.readouterr()
    assert main(["merge", *parts, "--output", str(pytester.path / "merged")]) == 1
    said = capsys.readouterr().out
    assert "P1   opens                     1  passed 1" in said
    assert "failed " in said and "6 tests: 5 passed, 1 failed" in said
    page, merged = (
        (pytester.path / folder / "requirements.md").read_text().partition("## P")[2]
        for folder in ("out", "merged")
    )
    assert merged == page and "`test_is_exclusive`" in page


def test_requirement_that_no_shard_shows(
    project: Fake, pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    pytester.makepyfile(OPENS + "def test_other(): pass")
    for number in (1, 2):
        options = ("--requirements", "--zvmlab-report", f"out-{number}")
        assert _run(project, pytester, *options, "--shard", f"{number}/2").ret == 0
    parts = [str(pytester.path / f"out-{number}") for number in (1, 2)]
    assert main(["merge", *parts, "--output", str(pytester.path / "merged")]) == 1
    assert "requirements: no test shows P2" in capsys.readouterr().out


@pytest.mark.parametrize("workers", ((), ("-n", "2", "--dist", "loadgroup")))
def test_more_shards_than_tests(
    project: Fake,
    pytester: pytest.Pytester,
    workers: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A machine that has nothing to do has not failed."""
    pytester.makepyfile("def test_one(): pass\ndef test_two(): pass")
    ran = 0
    for number in (1, 2, 3):
        options = ("--zvmlab-report", f"out-{number}", "--shard", f"{number}/3", *workers)
        result = _run(project, pytester, *options)
        assert result.ret == pytest.ExitCode.OK
        ran += result.parseoutcomes().get("passed", 0)
    assert ran == 2
    parts = [str(pytester.path / f"out-{number}") for number in (1, 2, 3)]
    capsys.readouterr()
    assert main(["merge", *parts, "--output", str(pytester.path / "merged")]) == 0
    assert "2 tests: 2 passed" in capsys.readouterr().out


def test_no_test_in_any_shard(
    project: Fake, pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    """What pytest says of one run, zvmlab merge says of shards."""
    pytester.makepyfile("def test_one(): pass")
    assert _run(project, pytester, "-k", "nosuch").ret == pytest.ExitCode.NO_TESTS_COLLECTED
    for number in (1, 2):
        options = ("--zvmlab-report", f"out-{number}", "--shard", f"{number}/2", "-k", "nosuch")
        assert _run(project, pytester, *options).ret == pytest.ExitCode.OK
    parts = [str(pytester.path / f"out-{number}") for number in (1, 2)]
    capsys.readouterr()
    assert main(["merge", *parts, "--output", str(pytester.path / "merged")]) == EXIT_USAGE
    assert "all other shards have no test: nothing was chosen" in capsys.readouterr().err


def test_what_is_no_shard(project: Fake, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(OPENS)
    result = _run(project, pytester, "--shard", "3/2")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*invalid shard: '3/2' (I/N with I from 1 to N*"])


def test_results_are_there_as_soon_as_a_test_ends(project: Fake, pytester: pytest.Pytester) -> None:
    """Whatever kills the run, what was known is in the file, which says that it is not whole."""
    pytester.makepyfile(
        """
        import os
        def test_1(): pass
        def test_2(): os._exit(9)
        """
    )
    assert _run(project, pytester, "--zvmlab-report", "out").ret == 9
    lines = (pytester.path / "out/results.jsonl").read_text().splitlines()
    assert [json.loads(line).get("function") for line in lines] == [None, "test_1"]


@pytest.mark.parametrize(
    ("text", "options", "code"),
    (
        ("def test_1(): assert 0\ndef test_2(): pass", ("-x",), 1),
        ("def test_1(): raise KeyboardInterrupt\ndef test_2(): pass", (), 2),
        ("def test_1(): pass\nimport no_such_module", (), 2),
        ("def test_1(): pass\nimport no_such_module", ("--continue-on-collection-errors",), 1),
        ("import os\ndef test_1(): os._exit(9)\ndef test_2(): pass", ("-n", "2"), 1),
    ),
)
def test_shard_that_did_not_run_all_its_tests_is_lost(
    project: Fake,
    pytester: pytest.Pytester,
    text: str,
    options: tuple[str, ...],
    code: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nobody would miss what it leaves out."""
    pytester.makepyfile(text)
    assert _run(project, pytester, "--zvmlab-report", "out", *options).ret == code
    capsys.readouterr()
    assert main(["merge", str(pytester.path / "out"), "--output", str(pytester.path / "m")]) == 1
    assert "shard 1/1 is incomplete" in capsys.readouterr().err
    assert not (pytester.path / "m").exists()


def test_results_that_cannot_be_written(project: Fake, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(BOTH)
    (pytester.path / "out/results.jsonl").mkdir(parents=True)
    result = _run(project, pytester, "--zvmlab-report", "out")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=2)
    said = [line for line in result.stdout.lines if "the results cannot be written" in line]
    assert len(said) == 1
