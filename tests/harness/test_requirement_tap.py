# SPDX-License-Identifier: MIT
"""A run as TAP, read by a parser that is not ours, and as KTAP, by the rules of its page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from test_requirement_report import DEVIATES, FAILED, HOSTILE, PASSED, SKIPPED, result, run

from zvmlab.pytest_plugin.requirement_results import Run
from zvmlab.pytest_plugin.requirement_tap import ktap, tap

parser = pytest.importorskip("tap.parser", reason="python3-tap is missing")

_KTAP = re.compile(r"(not ok|ok) (\d+) ([^#]+?)(?: # (SKIP|XFAIL)(?: (.*))?)?")


def _run() -> Run:
    return run(
        result("test_m1_good", PASSED),
        result("test_m1_odd", DEVIATES, reason="defect 3 # of\nthe driver"),
        result("test_m2_there", SKIPPED, reason="needs Hercules"),
        result("test_t1_reads", FAILED, failure="def test():\n>   read()\nE   assert 0 == 4 # no"),
        result(f"test_t1_{HOSTILE}", FAILED, failure=HOSTILE, logs=["build/logs"]),
        result("test_t1_5#6", PASSED),
    )


def _lines(shown: Run) -> list[Any]:
    return list(parser.Parser().parse_text("".join(f"{line}\n" for line in tap(shown))))


def test_tap_is_read_by_its_parser() -> None:
    lines = _lines(_run())
    assert [line.category for line in lines[:2]] == ["version", "plan"]
    assert lines[0].version == 13 and lines[1].expected_tests == 6
    found = [line for line in lines if line.category == "test"]
    # The others are the ends of YAML blocks; nothing is unknown to the parser.
    assert {line.category for line in lines[2:]} == {"test"}
    assert [line.number for line in found] == [1, 2, 3, 4, 5, 6]
    shown = [(line.ok, bool(line.skip), bool(line.todo)) for line in found]
    by_name = dict(zip([line.description.split("::")[1][:12] for line in found], shown))
    assert by_name == {
        "test_m1_good": (True, False, False),
        "test_m1_odd[": (False, False, True),
        "test_m2_ther": (True, True, False),
        "test_t1_5_6[": (True, False, False),
        "test_t1_</sc": (False, False, False),
        "test_t1_read": (False, False, False),
    }
    reasons = [line.directive.text for line in found if line.directive.text]
    assert reasons == ["TODO defect 3 # of the driver", "SKIP needs Hercules"]


def test_failure_in_tap_is_yaml() -> None:
    blocks = {
        line.description: line.yaml_block for line in _lines(_run()) if line.category == "test"
    }
    failed = {name: block for name, block in blocks.items() if block is not None}
    assert len(failed) == 2
    (reads,) = (block for name, block in failed.items() if "reads" in name)
    assert reads["message"] == "def test():\n>   read()\nE   assert 0 == 4 # no"
    assert reads["requirements"] == ["T1"] and reads["duration_ms"] >= 0
    (hostile,) = (block for name, block in failed.items() if "script" in name)
    assert hostile["logs"] == ["build/logs"] and "\x1b" not in hostile["message"]


def test_ktap_keeps_to_its_rules() -> None:
    lines = list(ktap(_run()))
    assert lines[:2] == ["KTAP version 1", "1..6"]
    told = [line for line in lines[2:] if not line.startswith("#")]
    found = [_KTAP.fullmatch(line) for line in told]
    assert all(found) and [int(one[2]) for one in found if one] == [1, 2, 3, 4, 5, 6]
    assert [(one[1], one[4]) for one in found if one] == [
        ("ok", None),
        ("ok", "XFAIL"),
        ("ok", "SKIP"),
        ("not ok", None),
        ("not ok", None),
        ("ok", None),
    ]
    # What failed is told before its line.
    at = next(number for number, line in enumerate(lines) if "test_t1_reads" in line)
    assert lines[at - 3 : at] == ["# def test():", "# >   read()", "# E   assert 0 == 4 # no"]


@pytest.mark.parametrize("form", (tap, ktap))
def test_nothing_but_printable_lines(form: Callable[[Run], Iterator[str]]) -> None:
    assert all(line.isprintable() for line in form(_run()))
    assert list(form(run()))[1] == "1..0"
