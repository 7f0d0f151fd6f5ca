# SPDX-License-Identifier: MIT
"""A run as TAP, read by two parsers that are not ours, and as KTAP, by the rules of its page."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from test_requirement_report import DEVIATES, FAILED, HOSTILE, PASSED, SKIPPED, result, run

from zvmlab.pytest_plugin.requirement_results import Run
from zvmlab.pytest_plugin.requirement_tap import ktap, tap

parser = pytest.importorskip("tap.parser", reason="python3-tap is missing")

# What Perl's parser, which "prove" is made of, finds in its input: a line of JSON each.
_PERL = """
use strict; use warnings; use TAP::Parser; use JSON::PP;
local $/; my $parser = TAP::Parser->new({ tap => <STDIN> });
my $json = JSON::PP->new->canonical;
while (my $found = $parser->next) {
    print $json->encode({ type => $found->type, $found->is_test ?
        (number => $found->number, ok => $found->is_actual_ok ? 1 : 0, directive => $found->directive,
         explanation => $found->explanation) : (raw => $found->raw) }), "\\n";
}
print $json->encode({ type => "end", version => $parser->version, failed => [$parser->actual_failed],
    wrong => [$parser->parse_errors], todo => [$parser->todo], skipped => [$parser->skipped] }), "\\n";
"""
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


def _by_perl(lines: list[str]) -> list[dict[str, Any]]:
    if shutil.which("perl") is None:
        pytest.skip("perl is missing, whose parser is the second opinion (package perl)")
    text = "".join(f"{line}\n" for line in lines)
    done = subprocess.run(
        ["perl", "-e", _PERL], input=text, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_tap_is_read_by_the_parser_of_prove() -> None:
    """Nothing is wrong with it, and it finds the same results."""
    *found, end = _by_perl(list(tap(_run())))
    assert end["version"] == 13 and end["wrong"] == []
    assert (end["failed"], end["skipped"], end["todo"]) == ([2, 4, 5], [3], [2])
    tests = [one for one in found if one["type"] == "test"]
    assert [one["number"] for one in tests] == [1, 2, 3, 4, 5, 6]
    assert [one["explanation"] for one in tests if one["directive"]] == [
        "defect 3 # of the driver",
        "needs Hercules",
    ]
    assert {one["type"] for one in found} == {"version", "plan", "test", "yaml"}


def test_parser_of_prove_notices_a_line_that_is_lost() -> None:
    lines = [line for line in tap(_run()) if not line.startswith("ok 6")]
    end = _by_perl(lines)[-1]
    assert any("Bad plan" in text for text in end["wrong"]), end


def test_ktap_is_read_by_the_parser_of_prove() -> None:
    """A form of TAP: all but its first line, and XFAIL, is what TAP has."""
    *found, end = _by_perl(list(ktap(_run())))
    assert end["wrong"] == [] and end["skipped"] == [3]
    assert [one["ok"] for one in found if one["type"] == "test"] == [1, 1, 1, 0, 0, 1]
    assert [one["raw"] for one in found if one["type"] == "unknown"] == ["KTAP version 1"]


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
