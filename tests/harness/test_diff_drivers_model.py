# SPDX-License-Identifier: MIT
"""Differential runs: what counts as a difference, which are explained, what is reported."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest

from zvmlab.base.errors import UsageError
from zvmlab.cli.main import main
from zvmlab.differ import known_drivers, known_emulators, report as differ_report
from zvmlab.differ.compare import WHOLE_SETS, Difference, differences, whole_set_reads
from zvmlab.differ.differ import Compared, Differential, Pair, Plan
from zvmlab.differ.explain import Explained
from zvmlab.differ.known_drivers import CATALOGUE, EXPLAINED, driver_pair
from zvmlab.differ.run import Observed
from zvmlab.differ.trace_lines import CALLS, CP, INTERRUPTIONS, ORDERED, TraceLines
from zvmlab.mondata.records import SAMPLE, Mce
from zvmlab.monitor.monitor import CapturedSet
from zvmlab.scenarios.context import FoundSet
from zvmlab.scenarios.outcome import Outcome, Step

LENGTHS = (80, 100)
STREAM = b"".join(
    Mce(SAMPLE, 0x0800, 0, 0x9000000, 0x9000000 + length - 1).encode() + bytes(length)
    for length in LENGTHS
)
BY_PARTS = [12, 50, 30, 12, 50, 50, 0]
JOINED = [12, 50, 42, 50, 50, 0]
SEVER = "sever-while-empty"
PAIR = driver_pair()


def observed(
    sizes: list[int], stream: bytes = STREAM, complete: bool = True, **more: Any
) -> Observed:
    """A scenario that read one set."""
    step = Step("read", {"errno": None, "sizes": sizes, "hash": str(hash(stream))})
    return Observed(
        Outcome("some", (step,), more.pop("log", ())),
        [FoundSet(stream, complete, 50)],
        [CapturedSet(1, "sample", 2, STREAM)],
        **more,
    )


def found(
    first: Observed, second: Observed, tracks: tuple[str, ...] = PAIR.tracks
) -> list[tuple[str, str, str]]:
    """Aspect and values of each difference."""
    return [
        (difference.aspect, difference.first, difference.second)
        for difference in differences(first, second, tracks)
    ]


def test_equal_runs_have_no_difference() -> None:
    assert found(observed(BY_PARTS), observed(BY_PARTS)) == []


def test_whole_set_reads_are_told_by_their_sizes() -> None:
    both = (json.dumps(BY_PARTS, separators=(",", ":")), json.dumps(JOINED, separators=(",", ":")))
    assert found(observed(BY_PARTS), observed(JOINED)) == [(WHOLE_SETS, *both)]
    # The other way round, or with a read too short, it is just a difference.
    assert [difference[0] for difference in found(observed(JOINED), observed(BY_PARTS))] == [
        "read sizes"
    ]
    wrong = [12, 50, 42, 50, 49, 1, 0]
    assert [difference[0] for difference in found(observed(BY_PARTS), observed(wrong))] == [
        "read sizes"
    ]
    # An end that only one of them has is no matter of sizes.
    cut = observed(JOINED[:-1], complete=False)
    assert [difference[0] for difference in found(observed(BY_PARTS), cut)] == [
        "read set",
        "read sizes",
    ]


def test_sizes_alone_do_not_tell_whole_set_reads() -> None:
    """Sets that ended alike, of the same size of buffer and with the same parts: or none are."""
    sizes = (BY_PARTS, JOINED)
    one = FoundSet(STREAM, True, 50)
    assert whole_set_reads((one, one), sizes)
    longer = STREAM[:-100] + Mce(SAMPLE, 0x0800, 0, 0x9000000, 0x9000000).encode()
    for other in (
        FoundSet(STREAM, False, 50),
        FoundSet(STREAM, True, 51),
        FoundSet(STREAM[:92], True, 50),
        FoundSet(STREAM[:-1], True, 50),
        FoundSet(longer, True, 50),
    ):
        assert not whole_set_reads((one, other), sizes)
    cut = FoundSet(STREAM[:-1], True, 50)
    assert not whole_set_reads((cut, cut), sizes)
    begun = FoundSet(STREAM, False, 50)
    assert whole_set_reads((begun, begun), (BY_PARTS[:-1], JOINED[:-1]))
    assert not whole_set_reads((begun, begun), sizes)


def test_bytes_that_differ_are_a_difference_of_the_set() -> None:
    other = observed(BY_PARTS, STREAM[:-1] + b"x")
    names = [difference[0] for difference in found(observed(BY_PARTS), other)]
    assert names == ["read set", "read hash"]
    assert found(observed(BY_PARTS), other)[0][1:] == (
        "set 1",
        f"{len(STREAM)} bytes that are not a set of CP's",
    )


def test_lines_that_one_side_lacks_are_differences() -> None:
    first = observed(
        BY_PARTS, log=("a", "b"), trace=TraceLines([(CALLS, "x"), (INTERRUPTIONS, "i")])
    )
    second = observed(BY_PARTS, log=("b", "c"), trace=TraceLines([(CALLS, "x"), (CALLS, "y")]))
    assert found(first, second) == [
        ("log", "a", ""),
        ("log", "", "c"),
        ("calls", "", "y"),
        ("interruptions", "i", ""),
    ]


def test_order_counts_within_a_track_only() -> None:
    lines = [(CALLS, "x"), (INTERRUPTIONS, "i"), (CP, "e"), (CALLS, "y")]
    first = observed(BY_PARTS, trace=TraceLines(lines))
    later = observed(BY_PARTS, trace=TraceLines([lines[0], *lines[2:], lines[1]]))
    assert found(first, later, (ORDERED, INTERRUPTIONS)) == []
    swapped = observed(BY_PARTS, trace=TraceLines([lines[2], lines[0], lines[1], lines[3]]))
    assert found(first, swapped, (CALLS, CP, INTERRUPTIONS)) == []
    assert {difference[0] for difference in found(first, swapped, (ORDERED,))} == {ORDERED}


def test_run_that_ends_early_is_compared_up_to_there() -> None:
    first = observed(BY_PARTS, ended="open sleeps")
    second = observed(BY_PARTS, log=("a",))
    assert found(first, second) == [("end", "open sleeps", "")]


def test_explanations_match_the_whole_text_of_their_scenario() -> None:
    one = Difference(SEVER, "step 4 read", "read errno", "EAGAIN", "EIO")
    entry = PAIR.explain(one)
    assert entry is not None and entry.reason.startswith("defect 6")
    for other in (
        Difference("read-one-set", "", "read errno", "EAGAIN", "EIO"),
        Difference(SEVER, "", "read errno", "EAGAIN", "EIO or so"),
        Difference(SEVER, "", "poll errno", "EAGAIN", "EIO"),
    ):
        assert PAIR.explain(other) is None
    # They are about these two drivers in this order.
    assert PAIR.params == ("", "open_timeout=1")
    assert driver_pair(drivers=("zvmlab", "upstream")).params == ("open_timeout=1", "")
    assert driver_pair(drivers=("zvmlab", "upstream")).explain(one) is None


@pytest.mark.parametrize("which", range(2))
def test_explanation_matches_each_of_its_parts_as_a_whole(which: int) -> None:
    """More text before or after, on either side, is another difference."""
    entry = Explained("some other-*", "read e*", "EA(GAIN)?", "E?IO", "why")
    one = Difference("other-one", "step 1 read", "read errno", "EAGAIN", "EIO")
    assert entry.covers(one) and entry.covers(dataclasses.replace(one, scenario="some"))
    value = (one.first, one.second)[which]
    name = ("first", "second")[which]
    for text in (f"{value} ", f" {value}", f"x{value}", f"{value}x", f"{value}\n", "", "x"):
        assert not entry.covers(dataclasses.replace(one, **{name: text})), text
    for scenario in ("other", "another-one", "some other-*", "", "so", "some "):
        assert not entry.covers(dataclasses.replace(one, scenario=scenario)), scenario
    for aspect in ("read", "read sizes", "a read errno", "log", ""):
        assert not entry.covers(dataclasses.replace(one, aspect=aspect)), aspect


LITERAL = re.compile(r"[\w /'-]{4,}")
WIDE = {WHOLE_SETS: "sizes of both reads have been looked at"}
LINES = ("log", "end", CALLS, CP, ORDERED, INTERRUPTIONS)


@pytest.mark.parametrize("table", (known_drivers.EXPLAINED, known_emulators.EXPLAINED))
def test_no_explanation_is_wide(table: tuple[Explained, ...]) -> None:
    """An entry for lines names what the line says; for values it covers no other kind of value."""
    for entry in table:
        assert entry.aspect in WIDE or entry.scenarios != "*", entry
        assert (entry.first, entry.second) != ("", ""), entry
        for text in (entry.first, entry.second):
            if entry.aspect in LINES and text:
                said = re.sub(r"\\[a-zA-Z]|\[[^]]*\]|[*+?.]", "\0", text).replace("\\", "")
                assert LITERAL.search(said), entry
            if text and entry.aspect not in WIDE:
                others = ("x", "monreader: other", "[7,7]", "set 99", "cc 2 code 0x7f", "EPERM")
                assert not [
                    explanation for explanation in others if re.fullmatch(text, explanation)
                ], entry


@pytest.mark.parametrize(("first", "second"), [(2, 1), (1, 2), (3, 0)])
def test_another_number_of_steps_is_a_difference(first: int, second: int) -> None:
    def noted(count: int, ended: str = "") -> Observed:
        steps = tuple(Step("note", {"n": number}) for number in range(count))
        return Observed(Outcome("some", steps, ()), ended=ended)

    assert found(noted(first), noted(second)) == [("steps", str(first), str(second))]
    assert found(noted(first), noted(first)) == []
    assert found(noted(first, "panic"), noted(second)) == [("end", "panic", "")]


def test_steps_are_compared_one_by_one_and_by_name() -> None:
    def noted(*steps: Step) -> Observed:
        return Observed(Outcome("some", steps, ()))

    a, b, c = (Step(name, {"n": 1}) for name in "abc")
    assert found(noted(a, b, c), noted(a, c, b)) == [("step", str(b), str(c))]
    other = Step("c", {"n": 2})
    assert found(noted(a, b, c), noted(a, b, other)) == [("c n", "1", "2")]
    assert [
        difference.where for difference in differences(noted(a, b, c), noted(a, b, other), ())
    ] == ["step 3 c"]
    assert found(noted(a, b, other), noted(a, b, Step("c", {}))) == [("c n", "2", "")]


def test_sets_belong_to_reads_that_both_noted() -> None:
    """One that failed on a side has no set; what else has sizes is no read."""
    sizes, failed = {"errno": None, "sizes": [92, 0]}, {"errno": "EIO"}

    def noted(sets: int, *results: dict[str, Any], what: str = "read") -> Observed:
        steps = tuple(Step(what, result) for result in results)
        captured = [CapturedSet(1, "sample", 2, STREAM)]
        return Observed(Outcome("some", steps, ()), [FoundSet(STREAM, True, 50)] * sets, captured)

    for first, second in ((noted(1, sizes), noted(0, failed)), (noted(0, failed), noted(1, sizes))):
        assert {difference[0] for difference in found(first, second)} == {
            "read errno",
            "read sizes",
        }
    # What a scenario that ended early has read belongs to no set.
    assert found(noted(1, sizes), noted(0, sizes)) == [("read sets", "1", "0")]
    other = {"sizes": [80, 12, 0]}
    assert found(noted(0, sizes, what="readv"), noted(0, sizes | other, what="readv")) == [
        ("readv sizes", "[92,0]", "[80,12,0]")
    ]


def test_report_counts_steps_and_bytes_of_what_was_compared(tmp_path: Path) -> None:
    done = differential(tmp_path)
    assert next(differ_report.lines(done)) == "some: 3 steps, 92 bytes, no difference"
    assert json.loads(differ_report.write(done).read_text())["scenarios"][0]["steps"] == 3


def test_explanations_are_about_scenarios_that_are_there() -> None:
    named = {name for entry in EXPLAINED for name in entry.scenarios.split()} - {"*"}
    assert named <= set(CATALOGUE)
    assert len(set(EXPLAINED)) == len(EXPLAINED)


def differential(
    tmp_path: Path, *found: Difference, whole: bool = False, pair: Pair = PAIR
) -> Differential:
    """A run of one scenario, or as if it had been all."""
    plan = Plan(pair, list(pair.catalogue) if whole else ["open-close"], tmp_path)
    explained = [(one, pair.explain(one)) for one in found]
    return Differential(plan, "6.1", [Compared("some", 3, 92, explained)], 1.0)


def test_unexplained_difference_fails_and_is_told(tmp_path: Path) -> None:
    done = differential(tmp_path, Difference("some", "step 2 read", "read errno", "null", "EIO"))
    assert not done.passed
    lines = list(differ_report.lines(done))
    assert "  unexplained: step 2 read, read errno: upstream null, zvmlab EIO" in lines
    data = json.loads(differ_report.write(done).read_text())
    assert data["passed"] is False
    assert data["scenarios"][0]["differences"][0] == {
        "where": "step 2 read",
        "aspect": "read errno",
        "values": ["null", "EIO"],
        "reason": None,
    }


def test_explanation_without_a_difference_fails_a_whole_run(tmp_path: Path) -> None:
    used, unused = EXPLAINED[0], EXPLAINED[1]
    pair = dataclasses.replace(PAIR, explained=(used, unused))
    one = Difference("some", "step 1 read", WHOLE_SETS, "[12,80,0]", "[92,0]")
    assert differential(tmp_path, one, pair=pair).passed
    whole = differential(tmp_path, one, whole=True, pair=pair)
    assert whole.unused == [unused] and not whole.passed
    assert any(line.startswith("explains nothing: ") for line in differ_report.lines(whole))


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((), "nothing to compare given; name scenarios, or use --all or --sets"),
        (("--all", "open-close"), "--all already includes all scenarios; leave out their names"),
        (("--sets", "-1"), "invalid number of sets: -1 (0 to 1000000)"),
        (("open-close", "--seed", "-1"), "the seed -1 is not a number from 0 to 4294967295"),
    ],
)
@pytest.mark.parametrize("command", ("drivers", "emulators"))
def test_usage(
    command: str, words: tuple[str, ...], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", command, *words]) == 2
    assert text in capsys.readouterr().err


def test_scenario_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no scenario 'nonsense'"):
        Plan(PAIR, ["nonsense"], tmp_path).runs()
    assert [run.name for run in Plan(PAIR, ["readv"], tmp_path, sets=3).runs()] == [
        "readv",
        "random-streams",
    ]


def test_table_says_which_defect_or_decision() -> None:
    starts = ("defect ", "whole-stream read", "our driver does not reply")
    assert all(entry.reason.startswith(starts) for entry in known_drivers.EXPLAINED)
