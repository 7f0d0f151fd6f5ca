# SPDX-License-Identifier: MIT
"""Shards of a run: who gets what, and that they are the whole again once they are merged."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sweep_fakes import FakeGuest
from test_hostile_files import variants

from zvmlab.base.errors import UsageError, ZvmlabError
from zvmlab.base.results import Head, LostShards, Results, ResultsFile, together
from zvmlab.base.shard import Shard, shard_of
from zvmlab.base.tree import TREE
from zvmlab.cli import merge
from zvmlab.cli.main import main
from zvmlab.differ import differ, merged as merged_diff, report as diff_report
from zvmlab.differ.known_drivers import CATALOGUE
from zvmlab.differ.run import Observed
from zvmlab.fuzz import campaign, merged as merged_fuzz
from zvmlab.fuzz.campaign import Campaign, Plan
from zvmlab.fuzz.case import Case as Fuzzed, load
from zvmlab.fuzz.finding import Finding
from zvmlab.fuzz.found import Found
from zvmlab.fuzz.grammar import find
from zvmlab.guest import pool
from zvmlab.guest.config import Artifacts
from zvmlab.pytest_plugin import merged as merged_tests, requirement_report
from zvmlab.pytest_plugin.requirement_results import (
    Case,
    Column,
    Outcome,
    Result,
    Run,
    TraceCut,
    head_of,
)
from zvmlab.pytest_plugin.requirements import Requirement, Requirements
from zvmlab.scenarios.outcome import Outcome as Shown, Step
from zvmlab.sweep import merged as merged_sweep, report as sweep_report, sweep

Capture = pytest.CaptureFixture[str]
SWEEP = ("sweep", "read-one-set", "--seed", "5")


@pytest.fixture(autouse=True)
def _fakes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Guests are fakes, nothing is built."""
    artifacts = Artifacts(Path("e"), Path("k"), "6.1 (fake)", Path("cache/image-1/i"))
    monkeypatch.setattr(pool, "Guest", FakeGuest)
    for module in (sweep, differ):
        monkeypatch.setattr(module, "prepare", lambda config, progress: artifacts)
    monkeypatch.setattr(differ, "Side", FakeSide)
    FakeGuest.made.clear()
    FakeGuest.leaves = ""
    yield
    assert all(guest.stopped for guest in FakeGuest.made)


class FakeSide:
    """What each scenario shows on a side: one difference, of a kind that nothing explains."""

    def __init__(self, config: Any, artifacts: Artifacts, folder: Path, *_: Any) -> None:
        self.kernel_version = artifacts.kernel_version
        self._driver = config.driver

    def run(self, scenario: Any) -> Observed:
        step = Step("open", {"errno": None})
        log = (f"{self._driver} says it",) if scenario.name == "sever-while-empty" else ()
        return Observed(Shown(scenario.name, (step,), log))

    def close(self) -> None:
        ...

    def forget(self) -> None:
        ...


def test_every_item_is_in_one_shard() -> None:
    items = list(range(23))
    for count in (1, 2, 5, 23, 40):
        shares = [Shard(number, count).share(items) for number in range(1, count + 1)]
        assert sorted(item for share in shares for item in share) == items
        assert max(map(len, shares)) - min(map(len, shares)) <= 1


@pytest.mark.parametrize("text", ("", "1", "0/2", "3/2", "1/0", "a/b", "1/2/3", " 1/2", "1/10000"))
def test_what_is_no_shard(text: str, capsys: Capture) -> None:
    with pytest.raises(UsageError, match=r"invalid shard: .* \(I/N with I from 1 to N"):
        shard_of(text)
    with pytest.raises(SystemExit):
        main([*SWEEP, f"--shard={text}"])
    assert "I/N with I from 1 to N" in capsys.readouterr().err


def test_shards_without_a_seed_would_be_of_several_runs(tmp_path: Path, capsys: Capture) -> None:
    options = ["--shard", "1/2", "--output", str(tmp_path / "o")]
    assert main(["sweep", "read-one-set", *options]) == 2
    assert "--shard needs --seed; give the same to all shards" in capsys.readouterr().err
    assert main(["diff", "drivers", "--all", *options]) == 2
    assert "--shard needs --seed; give the same to all shards" in capsys.readouterr().err


def _run(folder: Path, words: tuple[str, ...], count: int, numbers: tuple[int, ...] = ()) -> Path:
    for number in numbers or range(1, count + 1):
        output = folder / f"{number}-of-{count}"
        main([*words, "--output", str(output), "--shard", f"{number}/{count}"])
    return folder


def _merge(folder: Path, *parts: Path) -> int:
    return main(["merge", *map(str, parts), "--output", str(folder)])


@pytest.mark.parametrize("count", (2, 3, 40))
def test_merged_sweep_is_the_same_whatever_the_split(
    tmp_path: Path, count: int, capsys: Capture
) -> None:
    FakeGuest.leaves = "log"
    for number in (1, count):
        _run(tmp_path, SWEEP, number)
    capsys.readouterr()
    said = []
    for number in (1, count):
        parts = sorted(tmp_path.glob(f"*-of-{number}"))
        assert len(parts) == number
        assert _merge(tmp_path / f"whole-{number}", *parts) == 1  # a fault leaves a bad line
        said.append(capsys.readouterr().out.replace(f"whole-{number}", "whole"))
    assert said[0] == said[1]
    assert " calls of read-one-set on 6.1 (fake) in qemu" in said[0]
    for name in ("report.json", "report.md"):
        texts = [(tmp_path / f"whole-{number}" / name).read_text() for number in (1, count)]
        assert texts[0] == texts[1]
    alone = json.loads((tmp_path / "1-of-1/report.json").read_text())
    whole = json.loads((tmp_path / f"whole-{count}/report.json").read_text())
    cases = [{k: v for k, v in c.items() if k not in ("seconds", "logs")} for c in alone["cases"]]
    assert whole["cases"] == cases and whole["points"] == alone["points"]


def test_lost_shards_are_named(tmp_path: Path, capsys: Capture) -> None:
    _run(tmp_path, SWEEP, 4)
    file = tmp_path / "2-of-4/results.jsonl"
    file.write_text(file.read_text()[:-20])  # killed while it wrote the last lines
    capsys.readouterr()
    parts = [tmp_path / f"{number}-of-4" for number in (1, 2, 3)]
    assert _merge(tmp_path / "whole", *parts) == 1
    assert capsys.readouterr().err == (
        f"zvmlab: shard 2/4 is incomplete ({file}); shard 4/4 is missing:"
        " run these shards again, then merge again\n"
    )
    assert not (tmp_path / "whole").exists()
    assert main([*SWEEP, "--shard", "2/4", "--output", str(file.parent), "--resume"]) == 0
    assert _merge(tmp_path / "whole", *parts, tmp_path / "4-of-4") == 0


def test_shard_that_was_repeated_counts_once(tmp_path: Path, capsys: Capture) -> None:
    _run(tmp_path, SWEEP, 2)
    FakeGuest.leaves = "log"
    again = _run(tmp_path / "again", SWEEP, 2, (2,)) / "2-of-2"
    parts = [tmp_path / "1-of-2", tmp_path / "2-of-2"]
    assert _merge(tmp_path / "whole", *parts) == 0
    assert _merge(tmp_path / "whole", *parts, again) == 1
    assert _merge(tmp_path / "whole", again, *parts) == 0
    # One that did not finish does not take the place of one that did.
    file = again / "results.jsonl"
    file.write_text(file.read_text()[:-20])
    assert _merge(tmp_path / "whole", *parts, again) == 0


@pytest.mark.parametrize(
    ("other", "said"),
    (
        (("--seed", "6"), r"seed differs \(5 against 6\)"),
        (("--point", "iucv.*"), r'patterns differs \(\[\] against \["iucv\.\*"\]\)'),
        (("--shard", "2/3"), r"number of shards differs \(2 against 3\)"),
        (("--backend", "hercules"), r'backend differs \("qemu" against "hercules"\)'),
    ),
)
def test_shards_of_different_runs(
    tmp_path: Path, other: tuple[str, str], said: str, capsys: Capture
) -> None:
    first, second = str(tmp_path / "1"), str(tmp_path / "2")
    assert main([*SWEEP, "--shard", "1/2", "--output", first]) == 0
    assert main([*SWEEP, "--shard", "2/2", "--output", second, *other]) == 0
    assert _merge(tmp_path / "whole", Path(first), Path(second)) == 2
    assert re.search(f"belong to different runs: {said}$", capsys.readouterr().err.strip())


def test_shard_without_one_of_its_results(tmp_path: Path, capsys: Capture) -> None:
    _run(tmp_path, SWEEP, 2)
    file = tmp_path / "2-of-2/results.jsonl"
    lines = file.read_text().splitlines()
    (gone,) = (line for line in lines if '"iucv.connect#1:rc=0x0b"' in line)
    file.write_text("".join(f"{line}\n" for line in lines if line != gone))
    assert _merge(tmp_path / "whole", tmp_path / "1-of-2", tmp_path / "2-of-2") == 2
    said = f"{file} does not have iucv.connect#1:rc=0x0b, which belongs to its shard; run it again"
    assert said in capsys.readouterr().err


def test_shards_that_saw_different_scenarios(tmp_path: Path, capsys: Capture) -> None:
    _run(tmp_path, SWEEP, 2)
    file = tmp_path / "2-of-2/results.jsonl"
    file.write_text(file.read_text().replace('"iucv.connect": 1', '"iucv.connect": 2'))
    assert _merge(tmp_path / "whole", tmp_path / "1-of-2", tmp_path / "2-of-2") == 2
    assert "without a fault the scenario was not the same" in capsys.readouterr().err


def test_merged_diff_is_the_same_whatever_the_split(tmp_path: Path, capsys: Capture) -> None:
    words = ("diff", "drivers", "--all", "--seed", "5")
    for count in (1, 3):
        _run(tmp_path, words, count)
    # A shard cannot tell which explanations are not needed; the whole can.
    alone = json.loads((tmp_path / "1-of-1/report.json").read_text())
    part = json.loads((tmp_path / "1-of-3/report.json").read_text())
    assert alone["explains nothing"] and not part["explains nothing"]
    for count in (1, 3):
        assert _merge(tmp_path / f"whole-{count}", *tmp_path.glob(f"*-of-{count}")) == 1
    first, second = (json.loads((tmp_path / f"whole-{n}/report.json").read_text()) for n in (1, 3))
    assert first == second == {k: v for k, v in alone.items() if k != "seconds"}
    assert len(first["scenarios"]) == len(CATALOGUE) + 1
    (told,) = (one["differences"] for one in first["scenarios"] if one["differences"])
    assert told[0]["values"] == ["upstream says it", ""] and told[0]["reason"] is None
    assert "unexplained: log: upstream upstream says it, zvmlab nothing" in capsys.readouterr().out


def _tests(
    folder: Path,
    outcomes: dict[str, Outcome],
    count: int,
    strict: bool = True,
    collected: str | None = "0123",
) -> Path:
    """Results of tests, as the plugin writes them."""
    rows = {"P1": Requirement("P1", "opens", "it opens", "open", ("EBUSY",))}
    requirements = Requirements({"P": "my driver"}, rows)
    run = Run(requirements, (Column("trixie", "upstream"),), (), {}, 7.0, 1.0)
    for number in range(1, count + 1):
        shard = Shard(number, count)
        file = ResultsFile(folder / f"{number}-of-{count}" / "results.jsonl")
        file.begin(head_of(shard, run, strict))
        for name in shard.share(sorted(outcomes)):
            case = Case(
                *(name, name, "It opens.", ("P1",), ("EBUSY",)),
                *("trixie", "upstream", "qemu", {"size": "4"}, None),
            )
            cut = TraceCut("g", "logs/trace.jsonl", 1, 2)
            result = Result(case, outcomes[name], "why", 0.5, "assert 0", "panic", ["logs"], [cut])
            assert Result.from_json(json.loads(json.dumps(result.to_json()))) == result
            file.add(result.to_json())
        file.add({"kernels": {"trixie": "6.12"}, "started": 100.0 + number, "all": collected})
        file.finish(len(shard.share(sorted(outcomes))))
    return folder


def test_merged_tests_are_the_same_whatever_the_split(tmp_path: Path, capsys: Capture) -> None:
    names = {f"test_{number}": Outcome.PASSED for number in range(5)}
    for count in (1, 2, 7):
        _tests(tmp_path, names, count)
        assert _merge(tmp_path / f"whole-{count}", *tmp_path.glob(f"*-of-{count}")) == 0
    out = capsys.readouterr().out
    assert out.count("1 of 1 requirements shown on every kernel and driver; 5 tests: 5 passed") == 3
    reports = [(tmp_path / f"whole-{n}/report.json").read_text() for n in (1, 2, 7)]
    assert reports[0] == reports[1] == reports[2]
    assert json.loads(reports[0])["kernels"] == {"trixie": "6.12"}


@pytest.mark.parametrize(
    ("outcome", "strict", "code", "said"),
    (
        (Outcome.FAILED, False, 1, "failed test_1\n"),
        (Outcome.SKIPPED, True, 1, "requirements: all tests of P1 were skipped on trixie with"),
        (Outcome.SKIPPED, False, 0, "0 of 1 requirements"),
        (Outcome.DEVIATES, True, 0, "known: P1 (trixie): why [test_1]"),
    ),
)
def test_merged_tests_are_judged(
    tmp_path: Path, outcome: Outcome, strict: bool, code: int, said: str, capsys: Capture
) -> None:
    _tests(tmp_path, {"test_1": outcome}, 2, strict)
    assert _merge(tmp_path / "whole", *tmp_path.glob("*-of-2")) == code
    assert said in capsys.readouterr().out


def test_result_that_was_lost_is_not_passed_over(tmp_path: Path, capsys: Capture) -> None:
    """A disk that was full for a moment, or a line that somebody has removed."""
    _tests(tmp_path, {f"test_{number}": Outcome.FAILED for number in range(3)}, 1)
    file = tmp_path / "1-of-1/results.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:2] + lines[3:]))
    assert _merge(tmp_path / "whole", file) == 2
    assert f"{file} has 2 of 3 results; run its shard again" in capsys.readouterr().err


def test_shards_of_different_tests(tmp_path: Path, capsys: Capture) -> None:
    """Of another commit, say: what one of them leaves to the other the other need not have."""
    names = {f"test_{number}": Outcome.PASSED for number in range(4)}
    first = _tests(tmp_path / "a", names, 2) / "1-of-2"
    second = _tests(tmp_path / "b", names, 2, collected="4567") / "2-of-2"
    assert _merge(tmp_path / "whole", first, second) == 2
    assert "belong to different runs: they chose from different tests" in capsys.readouterr().err
    # A shard that has none cannot know.
    second = _tests(tmp_path / "c", names, 2, collected=None) / "2-of-2"
    assert _merge(tmp_path / "whole", first, second) == 0


def _fuzz(folder: Path, *findings: str, count: int = 2) -> Path:
    """Results as tests/fuzz/fuzz.py writes them."""
    for number in range(1, count + 1):
        file = ResultsFile(folder / f"{number}-of-{count}" / "results.jsonl")
        run = {"targets": {"guest": "0123", "control": "4567"}, "seconds": 60}
        file.begin(Head("fuzz", Shard(number, count), run))
        for target, executions in (("guest", 1000 * number), ("control", 5)):
            spent = {"executions": executions, "seconds": 3.0, "cpu_seconds": 3.0}
            file.add({"target": target, **spent, "findings": list(findings)})
        file.finish(2)
    return folder


def test_merged_fuzzing_is_the_sum(tmp_path: Path, capsys: Capture) -> None:
    assert _merge(tmp_path / "whole", *_fuzz(tmp_path).glob("*-of-2")) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[:2] == ["guest: 3,000 executions", "control: 10 executions"]
    assert said[2] == "3,010 executions, 0 findings"
    assert json.loads((tmp_path / "whole/report.json").read_text()) == {
        "executions": {"guest": 3000, "control": 10},
        "findings": [],
    }


def _kernel_fuzz(folder: Path, count: int = 2) -> Path:
    """Shards of a run of zvmlab fuzz; both have found the same."""
    steps = ({"do": "signal", "thread": "a"}, {"do": "poll", "fd": 0, "events": 1})
    oops = Finding("oops", "f < g", "pointer dereference", "[  1.0] the report")
    for number in range(1, count + 1):
        place = folder / f"{number}-of-{count}"
        plan = Plan(find("af_iucv"), place, place / "corpus", 60, 7, 1, Shard(number, count))
        done = Campaign(plan, 100, 10.0 * number, 4.0, 1)
        if count == 1:  # what is hostile needs no more than one of each
            done.corpus = [Fuzzed("af_iucv", steps[:1])]
            done.found = {oops.key: Found(oops, done.corpus[0], "7", 3, notes=["also there"])}
            merged_fuzz.write(done, "bookworm", "upstream")
            break
        done.pairs = {("", f"f{number}+0x0"), ("", "g+0x2")}
        # One that both have, and one of its own.
        done.corpus = [Fuzzed("af_iucv", steps[:1]), Fuzzed("af_iucv", steps, cpus=number)]
        done.found = {oops.key: Found(oops, done.corpus[1], "7", 3)}
        if number == 2:
            new = Finding("bug", "h", "slab-out-of-bounds")
            done.found[new.key] = Found(new, done.corpus[0], None, notes=["on the second kernel"])
        merged_fuzz.write(done, "bookworm", "upstream")
    return folder


def test_merged_fuzzing_of_kernels_is_one_run(tmp_path: Path, capsys: Capture) -> None:
    """What several have counts once; corpus and findings are in one folder."""
    shards = sorted(_kernel_fuzz(tmp_path).glob("*-of-2"))
    assert _merge(tmp_path / "whole", *shards) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[0] == (
        "200 cases, 10.0 a second, 25.0 a CPU second, 3 blocks, 3 pairs of them, corpus 3,"
        " findings 2 (1 new)"
    )
    assert said[1:3] == ["6 × oops in f < g: known: 7", "  pointer dereference"]
    assert said[4:6] == ["1 × bug in h: new", "  slab-out-of-bounds"]
    assert said[7] == "  on the second kernel"
    corpus = [load(file) for file in (tmp_path / "whole/corpus").iterdir()]
    assert {case.cpus for case in corpus} == {1, 2} and len(corpus) == 3
    assert load(Path(said[3].strip())).cpus == 1
    assert "[  1.0] the report" in Path(said[3].strip()).with_name("report.txt").read_text()
    assert _merge(tmp_path / "first", shards[0]) == 1
    assert "shard 2/2 is missing" in capsys.readouterr().err


# In the place of a fuzz target: notes how it is called, and says what libFuzzer says at its end.
_TARGET = """#!/bin/sh
echo "$0" "$@" >>"$NOTES"
echo "stat::number_of_executed_units: 100"
exit "${STATUS-0}"
"""
_GCOVR = "#!/bin/sh\necho '{\"line_percent\": 100}'\n"


def _run_fuzz(build: Path, shard: str, **env: str) -> int:
    """tests/fuzz/fuzz.py with two such targets of equal shares, for a minute with two processes."""
    programs = {f"gcov/unit/replay_{name}": "#!/bin/sh\n" for name in ("dm_stats", "taskstats")}
    programs |= {"dm_stats": _TARGET, "taskstats": _TARGET, "bin/gcovr": _GCOVR}
    for name, text in programs.items():
        (build / name).parent.mkdir(parents=True, exist_ok=True)
        (build / name).write_text(text)
        (build / name).chmod(0o755)
    argv = [sys.executable, str(TREE / "tests/fuzz/fuzz.py"), "--build", str(build)]
    argv += ["--seconds", "60", "--jobs", "2", "--shard", shard, "dm_stats", "taskstats"]
    env |= {"PATH": f"{build / 'bin'}:{os.environ['PATH']}", "NOTES": str(build / "notes")}
    env["PYTHONPATH"] = str(TREE / "harness")
    done = subprocess.run(argv, env={**os.environ, **env}, capture_output=True, timeout=300)
    return done.returncode


def test_shards_of_fuzzing_share_the_time_and_not_the_numbers(
    tmp_path: Path, capsys: Capture
) -> None:
    calls = []
    for number in (1, 2):
        assert _run_fuzz(tmp_path / str(number), f"{number}/2") == 0
        calls += (tmp_path / str(number) / "notes").read_text().splitlines()
    assert len(calls) == 8
    # A minute, of two machines, of two targets.
    assert all("-max_total_time=15 " in call for call in calls)
    assert len({found[0] for call in calls if (found := re.search(r"-seed=\d+", call))}) == 8
    assert _merge(tmp_path / "whole", tmp_path / "1", tmp_path / "2") == 0
    assert "dm_stats: 400 executions\ntaskstats: 400 executions\n" in capsys.readouterr().out
    assert _run_fuzz(tmp_path / "alone", "1/1") == 0
    alone = (tmp_path / "alone/notes").read_text().splitlines()
    assert all("-max_total_time=30 " in call and "-seed=" not in call for call in alone)


def test_shard_of_fuzzing_that_broke_off_is_lost(tmp_path: Path, capsys: Capture) -> None:
    assert _run_fuzz(tmp_path / "1", "1/2") == 0
    assert _run_fuzz(tmp_path / "2", "2/2", STATUS="9") == 1
    assert _merge(tmp_path / "whole", tmp_path / "1", tmp_path / "2") == 1
    assert "shard 2/2 is incomplete" in capsys.readouterr().err


def test_merged_fuzzing_with_a_finding(tmp_path: Path, capsys: Capture) -> None:
    folder = _fuzz(tmp_path, "guest: crash-1 (log)", count=1)
    assert _merge(tmp_path / "whole", folder / "1-of-1") == 1
    assert "finding: guest: crash-1 (log)\n" in capsys.readouterr().out


def test_nothing_to_merge(tmp_path: Path, capsys: Capture) -> None:
    assert _merge(tmp_path / "whole", tmp_path) == 2
    assert f"no results: {tmp_path}/results.jsonl" in capsys.readouterr().err
    ResultsFile(tmp_path / "results.jsonl").begin(Head("soup", Shard(), {}))
    assert _merge(tmp_path / "whole", tmp_path) == 1
    ResultsFile(tmp_path / "results.jsonl").finish(0)
    assert _merge(tmp_path / "whole", tmp_path) == 2
    assert "has results of 'soup', which cannot be merged" in capsys.readouterr().err


def test_results_of_another_version(tmp_path: Path) -> None:
    file = ResultsFile(tmp_path / "results.jsonl")
    file.path.write_text('{"results": 2, "of": "sweep", "shard": "1/1", "run": {}}\n')
    with pytest.raises(UsageError, match="has results of another version of zvmlab"):
        file.read()


def _small(folder: Path, kind: str) -> Path:
    """A whole file with few lines."""
    if kind == "sweep":
        main([*SWEEP, "--point", "iucv.reply#1:drop", "--output", str(folder)])
        return folder
    if kind == "diff":
        words = ("diff", "drivers", "sever-while-empty", "read-one-set", "--seed", "5")
        main([*words, "--output", str(folder)])
        return folder
    if kind == "fuzz":
        return _fuzz(folder, "guest: crash-1 (log)", count=1) / "1-of-1"
    if kind == "kernel-fuzz":
        return _kernel_fuzz(folder, count=1) / "1-of-1"
    return _tests(folder, {"test_1": Outcome.FAILED}, 1) / "1-of-1"


def _judge_sweep(shards: list[Results]) -> None:
    done = merged_sweep.merged(shards, Path("nowhere"))
    found = sweep_report.verdicts(done)
    sweep_report.markdown(done, found, None)
    assert json.dumps(sweep_report.to_json(done, found, None))


def _judge_diff(shards: list[Results]) -> None:
    done = merged_diff.merged(shards, Path("nowhere"))
    assert list(diff_report.lines(done)) and json.dumps(diff_report.to_json(done))


def _judge_tests(shards: list[Results]) -> None:
    done = merged_tests.merged(shards)
    assert list(done.lines()) and json.dumps(requirement_report.as_json(done.run))


@pytest.mark.parametrize("kind", ("sweep", "diff", "tests", "fuzz", "kernel-fuzz"))
def test_hostile_results(tmp_path: Path, kind: str) -> None:
    """Each is taken, or refused in one short sentence; nothing else happens."""
    file = ResultsFile(_small(tmp_path / "run", kind) / "results.jsonl")
    lines = [json.loads(line) for line in file.path.read_text().splitlines()]
    if kind == "sweep":  # calls and outcome of many points say nothing more than those of few
        lines[1]["counted"]["points"] = [["iucv.reply", ["drop"]]]
        lines[1]["counted"]["outcome"]["steps"] = lines[1]["counted"]["outcome"]["steps"][:2]
        lines[2]["outcome"]["steps"] = lines[2]["outcome"]["steps"][:2]
    judges: dict[str, Callable[[list[Results]], object]] = {
        "sweep": _judge_sweep,
        "diff": _judge_diff,
        "tests": _judge_tests,
        "fuzz": lambda shards: merge.run_fuzz(shards, tmp_path),
        "kernel-fuzz": lambda shards: list(
            campaign.lines(merged_fuzz.merged(shards, tmp_path / "whole"))
        ),
    }
    refused = 0
    for at, line in enumerate(lines):
        others = [json.dumps(one).encode() for one in lines]
        for text in variants(line):
            others[at] = text
            file.path.write_bytes(b"\n".join(others) + b"\n")
            try:
                found = file.read()
                judges[kind](together([found])) if found is not None else None
            except ZvmlabError as error:
                assert len(str(error)) < 1000 and str(error).isprintable()
                refused += 1
    assert refused > 100


def test_lost_shards_fail_and_are_no_usage_error() -> None:
    assert LostShards("").exit_code == 1
