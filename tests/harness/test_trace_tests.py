# SPDX-License-Identifier: MIT
"""Records since a test began, in a trace that it shares with others."""

from __future__ import annotations

from pathlib import Path

import pytest

from zvmlab.base.errors import EXIT_PASS, EXIT_USAGE, UsageError
from zvmlab.cli.main import main
from zvmlab.cp.trace_tests import begin_test, first_of


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Two records before test_one, three of it, none of test_two, one of test_one[again]."""
    path = tmp_path / "trace.jsonl"
    begin_test(path, "t.py::test_zero")
    for number, test in ((2, "t.py::test_one"), (3, "t.py::test_two")):
        _write(path, number)
        begin_test(path, test)
    begin_test(path, "t.py::test_one[again]")
    _write(path, 1)
    begin_test(path, "t.py::test_end")
    return path


def _write(path: Path, count: int) -> None:
    have = len(path.read_text().splitlines()) if path.exists() else 0
    with open(path, "a", encoding="ascii") as file:
        for seq in range(have + 10, have + 10 + count):
            file.write(
                f'{{"seq":{seq},"tod":"db0000000000{seq:04x}","call":"iucv.query","cpu":0}}\n'
            )


@pytest.mark.parametrize(
    ("test", "seq"),
    [("zero", 10), ("test_one[", 15), ("test_one", 15), ("test_two", 15), ("py::test_zero", 10)],
)
def test_last_test_of_the_name_counts(trace: Path, test: str, seq: int) -> None:
    """A part of its name is enough."""
    assert first_of(trace, test) == seq


def test_command_begins_there(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same as --since with the number of its first record."""
    assert main(["trace", str(trace), "--since-test", "test_one["]) == EXIT_PASS
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 and lines[0].split()[0] == "15"
    with pytest.raises(SystemExit) as ended:
        main(["trace", str(trace), "--since", "1", "--since-test", "x"])
    assert ended.value.code == EXIT_USAGE
    assert "not allowed with argument --since" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("test", "said"),
    [("gone", "no test with 'gone' in its name"), ("test_end", "no record since t.py::test_end")],
)
def test_name_that_leads_nowhere_is_refused(trace: Path, test: str, said: str) -> None:
    """Not the whole trace, and not nothing."""
    with pytest.raises(UsageError, match=said):
        first_of(trace, test)


@pytest.mark.parametrize(
    "line",
    ["", "[", "1", "null", '{"test": 1, "begin": 0}', '{"test": "x"}', '{"test": "x", "begin": -1}']
    + ['{"test": "x", "begin": true}', "[" * 100_000],
)
def test_file_that_is_none_of_ours_is_refused(trace: Path, line: str) -> None:
    """With the line."""
    with open(trace.with_name("tests.jsonl"), "a", encoding="utf-8") as file:
        file.write(line + "\n")
    with pytest.raises(UsageError, match=r"tests\.jsonl:6 does not name a test and where it"):
        first_of(trace, "test_one")


def test_trace_without_tests_is_refused(tmp_path: Path) -> None:
    """And told what to use instead."""
    with pytest.raises(UsageError, match="no trace of tests: .* use --since"):
        first_of(tmp_path / "trace.jsonl", "x")
