# SPDX-License-Identifier: MIT
"""Instructions of operations: which counts are taken, and which differences are told."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from zvmlab.agent.calls import BatchResult, CallResult, Operation, Ref
from zvmlab.agent.counting import CountingWorker
from zvmlab.agent.wire import Reader, Request, Writer
from zvmlab.agent.worker import Worker
from zvmlab.builder.modulebuild import Build
from zvmlab.verdict import counted, runs
from zvmlab.verdict.counted import changed, compare, enough, steady, usual_most
from zvmlab.verdict.sides import Side, Sides


def test_fewest_instructions_of_rounds_that_are_alike() -> None:
    rounds = [
        [("open", 1000), ("read", 500), ("read", 9000), ("close", 100)],
        [("open", 1004), ("read", 480), ("read", 400), ("close", 200)],
        [("open", 2000), ("read", 480), ("read", 400), ("close", 300)],
    ]
    assert steady(rounds) == {"open": 1000, "read": 880}, "no two calls of close are alike"
    assert steady([*rounds, [("open", 1000)]]) == {} and steady([[], []]) == {}


def test_further_rounds_are_for_what_differs() -> None:
    cold, warm, late = [("read", 900)], [("read", 500)], [("read", 700)]
    assert not enough([]) and not enough([warm, warm]), "the first round finds nothing ready"
    assert enough([cold, warm, warm]) and enough([[], [], []])
    assert not enough([cold, warm, late]) and not enough([cold, warm, late, []])
    assert not enough([[], warm, warm])
    assert enough([cold, warm, late, warm]) and enough([cold, warm, late, [], []])


def test_differences_of_more_than_two_per_cent() -> None:
    base = {"open": 1000, "read": 1000, "close": 1000, "poll": 5, "none": 0}
    patched = {"open": 1020, "read": 1021, "close": 900, "write": 7, "none": 0}
    assert changed("s", {"counts": base}, {"counts": patched}) == [
        "s: read: 1000 to 1021 (+2.1%)",
        "s: close: 1000 to 900 (-10.0%)",
    ]


def test_difference_within_what_the_rounds_took_is_none() -> None:
    """As it was seen of a close() that waits for CP, of an unchanged driver."""
    rounds = [[("close", 35211)], [("close", 35905)], [("close", 33961)], [("close", 35906)], [("close", 33961)]]  # fmt: skip
    base = {"counts": steady(rounds), "most": usual_most(rounds)}
    assert base == {"counts": {"close": 33961}, "most": {"close": 35905}}
    shorter = [[("close", 35211)], [("close", 35905)], [("close", 35133)]]
    other = {"counts": steady(shorter), "most": usual_most(shorter)}
    assert changed("s", base, other) == changed("s", other, base) == []
    slower = {"counts": {"close": 36961}, "most": {"close": 38905}}
    assert changed("s", base, slower) == ["s: close: 33961 to 36961 (+8.8%)"]
    assert changed("s", slower, base) == ["s: close: 36961 to 33961 (-8.1%)"]
    tick = [[("read", 500)], [("read", 9000)], [("read", 500)]]
    assert usual_most(tick) == {"read": 500} and usual_most([[], [], []]) == {}


@pytest.fixture
def sides(tmp_path: Path) -> Sides:
    base, patched = Side("base", "1"), Side("patched", "1", (tmp_path / "a.ko",))
    return Sides(base, patched, Build(tmp_path, "cc", None), "k")


Play = Callable[[dict[str, dict[str, Any]]], list[str]]


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Play:
    """Lets the process of each kernel write these counts, or fail if there are none."""

    def start(found: dict[str, dict[str, Any]]) -> list[str]:
        modules: list[str] = []

        def call(argv: list[str], env: dict[str, str], log: Path) -> int:
            kernel, output = argv[3:5]
            modules.append(env.get("ZVMLAB_REPLACED_MODULES", ""))
            log.write_text("first\nzvmlab: no such guest\n")
            if kernel not in found:
                return 2
            Path(output).write_text(json.dumps(found[kernel]))
            return 0

        monkeypatch.setattr(counted, "call", call)
        return modules

    return start


def test_both_sides_are_counted_once(sides: Sides, play: Play, tmp_path: Path) -> None:
    base = {"a": {"counts": {"read": 100}}, "b": {"error": "it crashed"}}
    patched = {"a": {"counts": {"read": 200}}, "b": {"counts": {"read": 1}}}
    ran = play({"base": base, "patched": patched})
    for _ in range(2):  # as when a trial is resumed
        left: list[str] = []
        assert compare(sides, ["a", "b"], tmp_path, left) == ["a: read: 100 to 200 (+100.0%)"]
        assert left == ["instructions of b on base: it crashed"]
    assert ran == ["", str(tmp_path / "a.ko")]


def test_base_is_counted_once_for_all_series(
    sides: Sides, play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZVMLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(runs, "state_of", lambda _paths: "this clone")

    def said(base: dict[str, Any], folder: str, known: bool = True) -> tuple[list[str], int]:
        ran = play({"base": {"a": base}, "patched": {"a": {"counts": {"read": 100}}}})
        return compare(sides, ["a"], tmp_path / folder, [], known), len(ran)

    assert said({"error": "it crashed"}, "1") == ([], 2), "and is no result to keep"
    assert said({"counts": {"read": 200}}, "2") == (["a: read: 200 to 100 (-50.0%)"], 2)
    other = {"counts": {"read": 400}}
    assert said(other, "3") == (["a: read: 200 to 100 (-50.0%)"], 1)
    assert said(other, "4", known=False) == (["a: read: 400 to 100 (-75.0%)"], 2)


def test_scenarios_without_calls(sides: Sides, play: Play, tmp_path: Path) -> None:
    none: dict[str, dict[str, Any]] = {"a": {"counts": {}}, "b": {"counts": {}}}
    play({"base": none, "patched": none})
    left: list[str] = []
    assert compare(sides, ["a", "b"], tmp_path / "1", left) == []
    assert left == ["instructions of a, b: no system call of theirs is counted"]
    some: dict[str, dict[str, Any]] = {**none, "b": {"counts": {"read": 5}}}
    play({"base": some, "patched": some})
    assert compare(sides, ["a", "b"], tmp_path / "2", left) == [] and len(left) == 1


def test_side_that_cannot_be_counted(sides: Sides, play: Play, tmp_path: Path) -> None:
    play({"base": {"a": {"counts": {"read": 100}}}})
    left: list[str] = []
    assert compare(sides, ["a"], tmp_path, left) == []
    assert left == ["instructions of a on base: zvmlab: no such guest"]


class _Agent(Worker):
    """Answers each call of a batch with its place; a clock that it reads runs by 1000."""

    def __init__(self, done: int | None = None) -> None:
        super().__init__(None, 3)  # type: ignore[arg-type]
        self._done, self._clock = done, 0

    def start(
        self,
        request: Request,
        payload: bytes,
        what: str,
        seconds: float,
        decode: Any,
        collected: bool = False,
    ) -> Any:
        assert request is Request.BATCH
        total = struct.unpack(">H", payload[8:10])[0]
        done = total if self._done is None else self._done
        out = Writer().u16(done).u8(done < total)
        for number in range(done):
            clock = number in (0, total - 1)
            self._clock += 1000 if clock else 0
            out.u64(0 if clock else number).u32(0).u8(0).u16(1 if clock else 0)
            if clock:
                out.blob(struct.pack(">qq", 1, self._clock))
        result = decode(Reader(out.payload()))
        return type("Done", (), {"result": lambda _: result})()


def _counting(done: int | None = None) -> tuple[CountingWorker, list[tuple[str, int]]]:
    noted: list[tuple[str, int]] = []
    agent = _Agent(done)
    worker = CountingWorker(agent, lambda what, taken: noted.append((what, taken)))
    worker.start = agent.start  # type: ignore[assignment]
    return worker, noted


def test_results_are_those_without_the_clock() -> None:
    worker, noted = _counting()
    batch = worker.batch()
    first, second = batch.dup(5), batch.close(5)
    done: BatchResult = batch.run()
    assert [done[first].ret, done[second].ret] == [1, 2] == [one.ret for one in done]
    assert (done[0].ret, done[-1].ret, len(done)) == (1, 2, 2)
    assert noted == [("dup+close", 1000)]
    assert isinstance(first, Ref)
    one: CallResult = worker.close(5)
    assert one.ret == 1 and noted[1:] == [("close", 1000)]


def test_batch_that_is_not_done_counts_nothing() -> None:
    worker, noted = _counting(done=2)
    batch = worker.batch()
    batch.operation(Operation("sleep", b"", ()))
    done = batch.run(allow_timeout=True)
    assert done.timed_out and len(done) == 1 and noted == []
