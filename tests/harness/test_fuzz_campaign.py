# SPDX-License-Identifier: MIT
"""Campaigns of zvmlab fuzz without guests: figures that add up, pairs in processes, the report."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from test_kernel_fuzz import CASES, QUIET, FakeRunner, plan

from zvmlab.base.errors import UsageError
from zvmlab.base.tree import TREE
from zvmlab.builder.count_folder import KernelCounts
from zvmlab.builder.kernel import Kernel
from zvmlab.cli import fuzz as command
from zvmlab.cli.main import main
from zvmlab.coverage.report import FileCoverage
from zvmlab.fuzz import campaign as campaign_module
from zvmlab.fuzz import table as table_module
from zvmlab.fuzz import turns as turns_module
from zvmlab.fuzz.campaign import RUN, Campaign, Plan, alone, begun, fuzz, note
from zvmlab.fuzz.case import Case, load
from zvmlab.fuzz.finding import Finding, Known, load_known
from zvmlab.fuzz.found import Found
from zvmlab.fuzz.grammar import find, names
from zvmlab.fuzz.minimise import minimise
from zvmlab.fuzz.table import label, rows_of, text
from zvmlab.fuzz.turns import How, Turn, lacks, turns
from zvmlab.sweep.known import KNOWN as SWEPT

SIGNAL: dict[str, Any] = {"do": "signal", "thread": "a"}
KEY = "oops in iucv_sock_bind"


def figures(folder: Path) -> dict[str, Any]:
    """What run.json has."""
    found: dict[str, Any] = json.loads((folder / RUN).read_text(encoding="utf-8"))
    return found


# Runs of one folder.


def test_runs_of_a_folder_add_up(tmp_path: Path) -> None:
    """Cases, times and findings; what the corpus reaches again is not reached twice."""
    first = fuzz(plan(tmp_path), [FakeRunner()], [], QUIET)
    noted = figures(tmp_path / "out")
    again = fuzz(plan(tmp_path, seed=5), [FakeRunner()], [], QUIET)
    total = figures(tmp_path / "out")
    assert noted["cases"] == CASES and noted["runs"] == 1
    assert total["cases"] == 2 * CASES + len(first.corpus) and total["runs"] == 2
    assert total["cpu-seconds"] >= noted["cpu-seconds"] + CASES / 100
    assert total["guests"] == 2 * noted["guests"]
    assert (total["blocks"], total["pairs"]) == (noted["blocks"], noted["pairs"])
    assert again.found[KEY].times > first.found[KEY].times
    assert total["findings"][0]["times"] == again.found[KEY].times


def test_a_run_that_ends_early_reaches_no_less(tmp_path: Path) -> None:
    """It may not have run all of the corpus."""
    whole = fuzz(plan(tmp_path), [FakeRunner()], [], QUIET)
    fuzz(plan(tmp_path, seconds=1e-9), [FakeRunner()], [], QUIET)
    assert figures(tmp_path / "out")["blocks"] == len(whole.places) > 0


def test_a_finding_is_made_small_once(tmp_path: Path) -> None:
    """The next run keeps the small case and how often it has shown the finding."""
    fuzz(plan(tmp_path), [FakeRunner()], [], QUIET)
    (found,) = begun(plan(tmp_path), []).found.values()
    assert found.small and found.shown == (10, 10)
    again = fuzz(plan(tmp_path, seed=5, cases=1), [FakeRunner()], [], QUIET)
    assert again.found[KEY].case == found.case == load(again.plan.place_of(found))
    assert again.found[KEY].tries == found.tries


def test_what_is_known_meanwhile_is_not_new(tmp_path: Path) -> None:
    """The table of known defects may have grown since."""
    fuzz(plan(tmp_path), [FakeRunner()], [], QUIET)
    known = [Known("*", "oops", ".*", "", "docs/upstream-kernel.md, 99: a mistake")]
    done = begun(plan(tmp_path), known)
    assert done.new == [] and len(done.found) == 1


@pytest.mark.parametrize("other", [{"kernel": "6.12"}, {"driver": "zvmlab"}, {"bug": "peek-leak"}])
def test_figures_of_another_kernel_are_not_added(tmp_path: Path, other: dict[str, str]) -> None:
    """Nor those of another driver, or with a bug; the corpus is used all the same."""
    fuzz(plan(tmp_path, cases=20), [FakeRunner()], [], QUIET)
    done = fuzz(plan(tmp_path, cases=1, **other), [FakeRunner()], [], QUIET)
    assert done.runs == 1 and 1 < done.cases < 20


@pytest.mark.parametrize("contents", ["[", "[]", '{"target": "af_iucv"}', "{}"])
def test_a_damaged_file_of_figures_is_named(tmp_path: Path, contents: str) -> None:
    """One sentence; figures that an earlier version has written are replaced."""
    made = plan(tmp_path)
    file = made.folder / RUN
    file.write_text(contents, encoding="utf-8")
    if contents.startswith("{"):
        assert begun(made, []).cases == 0
        file.write_text(json.dumps({**made.run, "runs": -1}), encoding="utf-8")
    with pytest.raises(UsageError, match="run.json is no"):
        begun(made, [])


def test_making_small_has_a_limit_in_time() -> None:
    """No candidate is run when it is over."""
    left = iter([False, False, False])
    case = Case("af_iucv", (SIGNAL,) * 64)
    small, tries = minimise(case, lambda one: len(one.steps) > 0, over=lambda: next(left, True))
    assert tries == 3 and len(small.steps) == 16


def test_a_finding_that_is_not_small_yet_is_the_next_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There was no time for it."""
    monkeypatch.setattr(campaign_module, "SMALL_SECONDS", 0.0)
    done = Campaign(plan(tmp_path, seconds=0.0))
    steps = ({"do": "call", "call": "bind", "args": []}, SIGNAL, SIGNAL)
    done.found[KEY] = Found(Finding("oops", "iucv_sock_bind", "x"), Case("af_iucv", steps), None)
    campaign_module._make_small(done, FakeRunner(), QUIET)
    assert not done.found[KEY].small and len(done.found[KEY].case.steps) == 3
    monkeypatch.setattr(campaign_module, "SMALL_SECONDS", 600.0)
    campaign_module._make_small(done, FakeRunner(), QUIET)
    assert done.found[KEY].small and len(done.found[KEY].case.steps) == 2


# Pairs.


def test_all_is_every_target_on_every_kernel(tmp_path: Path) -> None:
    """And monreader with our driver, in folders of their own."""
    found = turns(["all"], ["6.12", "source:7.2:fuzz", "6.12"], "upstream", tmp_path)
    assert len(found) == 2 * (len(names()) + 1) == len({turn.folder for turn in found})
    places = [str(turn.folder.relative_to(tmp_path)) for turn in found]
    assert "6.12/af_iucv" in places and "source-7.2-fuzz/monreader" in places
    ours = [str(turn) for turn in found if turn.folder.name == "monreader-zvmlab"]
    assert ours[0] == "monreader on 6.12 with the driver zvmlab"
    some = turns(["iucv", "af_iucv"], ["6.12"], "upstream", tmp_path)
    assert [turn.target.name for turn in some] == ["iucv", "af_iucv"]
    with pytest.raises(UsageError, match="did you mean af_iucv"):
        turns(["af_iucvv", "iucv"], ["6.12"], "upstream", tmp_path)
    with pytest.raises(UsageError, match="would have the same folder"):
        turns(["iucv"], ["a/b", "a:b"], "upstream", tmp_path)


def turn_of(folder: Path, target: str = "af_iucv", kernel: str = "6.12", **more: str) -> Turn:
    """A pair."""
    driver = more.get("driver", "upstream")
    return Turn(find(target), kernel, driver, folder / kernel / target)


@pytest.mark.parametrize(
    "target, driver, said",
    [
        ("netiucv", "upstream", "the kernel has no module netiucv"),
        ("watchdog", "upstream", "diag288_wdt is a part of the kernel and no module"),
        ("monreader", "upstream", "the kernel has no module monreader"),
        ("monreader", "zvmlab", None),
        ("af_iucv", "upstream", None),
        ("hiper", "upstream", None),
        ("cmm", "upstream", None),
    ],
)
def test_a_kernel_that_lacks_a_module_is_named(
    monkeypatch: pytest.MonkeyPatch, target: str, driver: str, said: str | None
) -> None:
    """What no step loads may be a part of the kernel; ours need not be there."""
    inside = frozenset({"af_iucv", "diag288_wdt"})
    monkeypatch.setattr(turns_module, "available", lambda _: frozenset())
    monkeypatch.setattr(turns_module, "builtin", lambda _: inside)
    kernel = Kernel("6.12", "6.12.0", Path("image"), Path("modules"))
    assert lacks(kernel, turn_of(Path(), target, driver=driver)) == said


PROGRAM = """
import json, pathlib, sys, time
folder, seconds, rest = pathlib.Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
with open(folder.parent.parent / "order", "a") as file:
    print(folder.name, file=file)
if rest and rest[0] == "fails":
    sys.exit("zvmlab: the guest does not start")
if rest and rest[0] == "dies":
    import os
    os.abort()
if rest and rest[0] == "waits":
    try:
        (folder / "ready").touch()
        time.sleep(600)
    finally:
        (folder / "told").touch()
file = folder / "run.json"
found = json.loads(file.read_text()) if file.exists() else {"cases": 0, "seconds": 0}
found["cases"] += 7
found["seconds"] += seconds
found["findings"] = []
found.pop("said", None)
file.write_text(json.dumps({"target": folder.name, **found}))
"""


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Processes that only note that they have run; what those of some targets do instead."""
    does: dict[str, str] = {}

    def fake(turn: Turn, _how: How, share: float, _jobs: int) -> list[str]:
        words = [sys.executable, "-c", f"import signal;{HANDLER}{PROGRAM}", str(turn.folder)]
        return [*words, str(share), *filter(None, [does.get(turn.target.name)])]

    kernel = Kernel("6.12", "6.12.0", Path("image"), Path("modules"))
    monkeypatch.setattr(turns_module, "command", fake)
    monkeypatch.setattr(turns_module, "resolve", lambda *_, **__: kernel)
    monkeypatch.setattr(turns_module, "lacks", lambda _, turn: does.get(f"no {turn.target.name}"))
    return does


# As zvmlab's own: SIGTERM ends it in order.
HANDLER = "import sys;signal.signal(15, lambda *_: sys.exit(143));"


def test_pairs_share_the_time_and_the_least_one_goes_first(
    tmp_path: Path, fakes: dict[str, str]
) -> None:
    """Two at a time have twice the time; the second campaign goes on."""
    todo = [turn_of(tmp_path, name) for name in ("cmm", "hypfs", "iucv")]
    assert turns_module.run(todo, How(60, 2, 1), QUIET)
    assert [figures(turn.folder)["seconds"] for turn in todo] == [40, 40, 40]
    assert turns_module.run(todo[:1], How(60, 2, 1), QUIET)
    assert turns_module.run(todo, How(3, 1, 1), QUIET)
    assert figures(todo[0].folder) == {"target": "cmm", "cases": 21, "seconds": 101, "findings": []}
    assert (tmp_path / "order").read_text().split()[-3:] == ["hypfs", "iucv", "cmm"]


def test_a_pair_that_fails_is_named_and_the_others_go_on(
    tmp_path: Path, fakes: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its own sentence; what a kernel cannot run is no failure, and its figures stay."""
    todo = [turn_of(tmp_path, name) for name in ("cmm", "hypfs", "iucv")]
    assert turns_module.run(todo, How(60, 1, 1), QUIET)
    fakes |= {"cmm": "fails", "no hypfs": "the kernel has no module hypfs"}
    assert not turns_module.run(todo, How(60, 1, 1), QUIET)
    first, second, third = (figures(turn.folder) for turn in todo)
    assert (first["said"], first["cases"]) == ("the guest does not start", 7)
    assert (second["said"], second["cases"]) == ("the kernel has no module hypfs", 7)
    assert "said" not in third and third["cases"] == 14
    fakes.clear()
    fakes["cmm"] = "dies"
    assert not turns_module.run(todo[:1], How(60, 1, 1), QUIET)
    assert figures(todo[0].folder)["said"].startswith("its process has ended with -6; ")
    fakes["cmm"] = "waits"
    for name in ("_START_SECONDS", "SMALL_SECONDS"):
        monkeypatch.setattr(turns_module, name, 0.1)
    assert not turns_module.run(todo[:1], How(0.1, 1, 1), QUIET)
    assert figures(todo[0].folder)["said"] == "it took longer than 0 s, and was ended"
    assert (todo[0].folder / "told").exists()


def test_an_interrupted_campaign_ends_its_pairs(
    tmp_path: Path, fakes: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that run say what they have found; no other begins."""
    fakes |= {"cmm": "waits", "hypfs": "waits"}
    todo = [turn_of(tmp_path, name) for name in ("cmm", "hypfs", "iucv")]

    def run(turns_: Any) -> None:
        turns_._start()
        for turn in todo[:2]:
            await_file(turn.folder / "ready")
        raise KeyboardInterrupt

    monkeypatch.setattr(turns_module._Turns, "_look", run)
    with pytest.raises(KeyboardInterrupt):
        turns_module.run(todo, How(60, 2, 1), QUIET)
    assert all((turn.folder / "told").exists() for turn in todo[:2])
    assert not todo[2].folder.exists()


def test_a_pair_is_an_ordinary_run(tmp_path: Path) -> None:
    """Of zvmlab fuzz, in one guest, in its own folder."""
    turn = turn_of(tmp_path, "iucv")
    words = turns_module.command(turn, How(60, 2, 7, ("--cases", "3")), 40.0, 1)[2:]
    assert words == [
        *("fuzz", "iucv", "--kernel", "6.12", "--driver", "upstream", "--seed", "7"),
        *("--seconds", "40.0", "--jobs", "1", "--output", str(turn.folder)),
        *("--emit", str(turn.folder / "reproducers"), "--cases", "3"),
    ]


def test_lines_are_counted_by_kernels_that_do(tmp_path: Path) -> None:
    """Not those of a driver that is none of the kernel's."""
    how = How(60, 2, 7, coverage=Path("cov"))
    for kernel, driver, counted in (
        ("source:7.2:coverage", "upstream", True),
        ("source:7.2:coverage", "zvmlab", False),
        ("6.12", "upstream", False),
    ):
        words = turns_module.command(Turn(find("iucv"), kernel, driver, tmp_path), how, 40.0, 1)
        assert (words[-2:] == ["--coverage", "cov"]) is counted


# The report.


def made(folder: Path, target: str, kernel: str, *found: Found, **more: Any) -> None:
    """The folder of a pair that has been run."""
    place = folder / kernel / target
    place.mkdir(parents=True)
    done = Campaign(Plan(find(target), place, place / "corpus", 60, 7, 1, kernel=kernel))
    done.cases, done.cpu_seconds, done.most_blocks, done.most_pairs = 100, 20.0, 30, 40
    done.found = {one.finding.key: one for one in found}
    note(done)
    (place / RUN).write_text(json.dumps({**figures(place), **more}), encoding="utf-8")


def oops(target: str, where: str, defect: str | None = None, **more: Any) -> Found:
    """A finding of a case with one step."""
    return Found(Finding("oops", where, "a|b"), Case(target, (SIGNAL,)), defect, 3, **more)


def test_the_report_has_a_row_for_each_pair(tmp_path: Path) -> None:
    """Known findings by page and number, new ones with their place, what could not be run."""
    known = [
        oops("iucv", name, f"docs/upstream-{page}: x")
        for name, page in (("f", "kernel.md, 12"), ("g", "kernel.md, 5"), ("h", "driver.md, 2"))
    ]
    new = oops("iucv", "mon_read", shown=(7, 10), notes=["a note"])
    made(tmp_path, "iucv", "6.12", *known, new)
    made(tmp_path, "af_iucv", "6.12", oops("af_iucv", "mon_read"))
    made(tmp_path, "netiucv", "7.2", said="the kernel has no module netiucv")
    emitted = tmp_path / "6.12/iucv/reproducers" / new.finding.name
    emitted.mkdir(parents=True)
    rows = rows_of(tmp_path, [])
    lines = text(rows).splitlines()
    assert lines[2] == (
        "3 pairs of a target and a kernel, 300 cases in 0.02 CPU hours, 2 new findings."
    )
    assert lines[4:9] == [
        "| target | kernel | cases | a CPU second | blocks | pairs | findings |",
        "|---|---|---|---|---|---|---|",
        "| `af_iucv` | 6.12 | 100 | 5.0 | 30 | 40 | 1 new |",
        "| `iucv` | 6.12 | 100 | 5.0 | 30 | 40 | kernel 5, 12; monreader 2; 1 new |",
        "| `netiucv` | 7.2 | 100 | 5.0 | 30 | 40 | the kernel has no module netiucv |",
    ]
    case = tmp_path / "6.12/af_iucv/findings" / new.finding.name / "case.json"
    at = lines.index("## New: oops in mon_read")
    assert lines[at + 2 : at + 7] == [
        "a|b",
        "",
        f"* `af_iucv` on 6.12, driver upstream: by 3 cases; 1 of 1 runs of {case}, 1 steps",
        f"* `iucv` on 6.12, driver upstream: by 3 cases; 7 of 10 runs of {emitted}, 1 steps",
        "  * a note",
    ]
    assert lines[-1] == "* docs/upstream-kernel.md, 5: x"


def test_the_report_knows_what_is_known_now(tmp_path: Path) -> None:
    """Also what was new when it was found."""
    made(tmp_path, "iucv", "6.12", oops("iucv", "f"))
    known = [Known("iucv", "oops", "f", "", "docs/upstream-vmlogrdr.md, 5, 6 or 9: x")]
    (row,) = rows_of(tmp_path, known)
    assert row.new == [] and "vmlogrdr 5, 6 or 9 |" in text([row])


def test_lines_are_shown_where_they_were_counted(tmp_path: Path) -> None:
    """A column only if there is something in it."""
    made(tmp_path, "iucv", "6.12")
    made(tmp_path, "iucv", "7.2", lines=1234)
    lines = text(rows_of(tmp_path, [])).splitlines()
    assert lines[4].endswith("| pairs | lines | findings |")
    assert lines[6].endswith("| 40 | – | – |") and lines[7].endswith("| 40 | 1234 | – |")


def test_all_known_defects_have_a_page() -> None:
    """But those that are none, or have no number where they are known."""
    defects = [one.defect for one in load_known()] + [one.reason for one in SWEPT]
    without = [defect for defect in defects if label(defect) is None]
    assert all("defect" not in one or one.startswith("no defect: ") for one in without)
    assert label("kernel: defect 12: a message") == ("kernel", "12")
    assert label("upstream's driver, defect 5: open") == ("monreader", "5")
    assert label("kernel: dcssblk, defect 2: what") == ("dcssblk", "2")


# The command.


def test_words_of_a_campaign_are_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each with one sentence."""
    monkeypatch.chdir(tmp_path)
    two = ["--kernel", "6.12", "--kernel", "7.2"]
    wrong: list[tuple[list[str], str]] = [
        (two, "name targets, or 'all'"),
        (["list", "iucv"], "'list' is no target, and stands alone"),
        (["all", "report"], "'report' is no target, and stands alone"),
        (["iucv", "af_iucvv"], "did you mean af_iucv"),
        (["all", "--jobs", "0"], "invalid number of jobs: 0"),
        (["all", "--corpus", "x"], "--corpus is for one target on one kernel"),
        (["iucv", *two, "--confirm", "x"], "--confirm is for one target on one kernel"),
        (["all", "--replay", "x"], "--replay is for one target on one kernel"),
        (["all", "--seed", "1", "--shard", "1/2"], "--shard is for one target on one kernel"),
        (["all", "--coverage", "x"], "kernel bookworm counts no lines"),
        (["report"], "zvmlab-fuzz/campaign is no folder of a campaign"),
    ]
    for words, said in wrong:
        assert main(["fuzz", *words]) == 2, words
        assert said in capsys.readouterr().err


def test_the_command_runs_a_campaign_and_reports_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """1 if a pair has failed, or something is new; the report can be had again."""
    seen: list[tuple[list[str], How]] = []
    results = [True, True, False]

    def run(todo: list[Turn], how: How, _progress: object) -> bool:
        seen.append(([str(turn) for turn in todo], how))
        return results[len(seen) - 1]

    monkeypatch.setattr(turns_module, "run", run)
    words = ["fuzz", "iucv", "cmm", "--output", str(tmp_path), "--seed", "7", "--seconds", "90"]
    made(tmp_path, "cmm", "bookworm")
    assert main([*words, "--jobs", "1", "--cases", "3", "--schedules"]) == 0
    options = ("--cases", "3", "--schedules")
    assert seen[0] == (["iucv on bookworm", "cmm on bookworm"], How(90, 1, 7, options))
    assert "| `cmm` | bookworm |" in capsys.readouterr().out
    made(tmp_path, "iucv", "bookworm", oops("iucv", "f"))
    assert main(words) == 1
    assert "1 new" in (tmp_path / table_module.NAME).read_text(encoding="utf-8")
    (tmp_path / "bookworm/iucv" / RUN).unlink()
    assert main(words) == 1, "a pair has failed"
    capsys.readouterr()
    assert main(["fuzz", "report", "--output", str(tmp_path)]) == 0
    assert "1 pairs of a target and a kernel, 100 cases" in capsys.readouterr().out


def test_lines_of_a_pair_are_those_of_its_cases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of all sources; a kernel that counts none has no number."""
    counts = KernelCounts(tmp_path / "cov" / "7.2", "7.2", "tree")
    other = KernelCounts(tmp_path / "cov" / "6.1", "6.1", "tree")

    def report(kernels: list[KernelCounts], _scratch: Path) -> object:
        assert kernels == [replace(counts, only="fuzz iucv ")]
        files = [FileCoverage("a.c", {1: 3, 2: 0}), FileCoverage("b.c", {1: 1, 9: 1})]
        return SimpleNamespace(files=files)

    monkeypatch.setattr("zvmlab.builder.count_folder.of_kernel", lambda *_: counts)
    monkeypatch.setattr("zvmlab.builder.count_folder.kernels_in", lambda _: [other, counts])
    monkeypatch.setattr("zvmlab.builder.kernels.resolve", lambda _: None)
    monkeypatch.setattr("zvmlab.coverage.report.Report", report)
    todo = [turn_of(tmp_path, "iucv", name) for name in ("source:7.2:coverage", "6.12")]
    for turn in todo:
        made(tmp_path, "iucv", turn.kernel)
    command._note_lines(todo, tmp_path / "cov")
    assert [figures(turn.folder).get("lines") for turn in todo] == [3, None]


CAMPAIGN = """
import sys
from pathlib import Path
from zvmlab.base.progress import Progress
from zvmlab.fuzz import turns
from zvmlab.fuzz.grammar import find

folder, *argv = sys.argv[1:]
turns.command = lambda *_: argv
turn = turns.Turn(find("cmm"), "6.12", "upstream", Path(folder))
turns._Turns([turn], turns.How(60, 1, 1), Progress(quiet=True)).run()
"""


@pytest.mark.parametrize("targets", [["iucv"], ["iucv", "cmm"]])
def test_two_runs_do_not_work_in_one_folder(
    targets: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each would remove the other's guests, and its figures."""
    words = ["fuzz", *targets, "--kernel", "6.12", "--output", str(tmp_path)]
    with alone(tmp_path):
        assert main(words) == 2
    assert f"another run works in {tmp_path}; wait for its end" in capsys.readouterr().err
    with alone(tmp_path), alone(tmp_path.parent):
        pass


def test_a_pair_ends_with_its_campaign(tmp_path: Path, fakes: dict[str, str]) -> None:
    """Also if that is killed."""
    fakes["cmm"] = "waits"
    turn = turn_of(tmp_path, "cmm")
    argv = turns_module.command(turn, How(60, 1, 1), 60.0, 1)
    environment = {**os.environ, "PYTHONPATH": str(TREE / "harness")}
    words = [sys.executable, "-c", CAMPAIGN, str(turn.folder), *argv]
    with subprocess.Popen(words, env=environment) as process:
        try:
            await_file(turn.folder / "ready")
        finally:
            process.kill()
    await_file(turn.folder / "told")


def await_file(file: Path) -> None:
    """Until another process has made it."""
    end = time.monotonic() + 600
    while not file.exists():
        assert time.monotonic() < end, f"{file} is not there"
        time.sleep(0.01)
