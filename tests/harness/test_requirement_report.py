# SPDX-License-Identifier: MIT
"""What a run has shown, as a table, JSON, Markdown and a page."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from test_tracefmt import COMPLETE, record, trace

from zvmlab.pytest_plugin.requirement_report import TIMELINES_MAX, as_json, page, write
from zvmlab.pytest_plugin.requirement_results import (
    Case,
    Cell,
    Column,
    Outcome,
    Result,
    Run,
    TraceCut,
)
from zvmlab.pytest_plugin.requirement_table import (
    WIDTH,
    deviations,
    markdown,
    table,
    totals,
    wrapped,
)
from zvmlab.pytest_plugin.requirement_timeline import RECORDS_MAX, timeline
from zvmlab.pytest_plugin.requirements import Requirement, Requirements

PASSED, FAILED = Outcome.PASSED, Outcome.FAILED
DEVIATES, SKIPPED = Outcome.DEVIATES, Outcome.SKIPPED
HOSTILE = "</script><script>alert('x')</script> & \"quoted\" \x1b[31m\x00 \ud800"
REQUIREMENTS = Requirements(
    {"M": "monitor", "T": "tasks & more"},
    {
        row: Requirement(row, f"title of {row}", f"requirement {row} | so", "by showing", ("EIO",))
        for row in ("M1", "M2", "T1")
    },
)
COLUMNS = (Column("bookworm", "upstream"), Column("trixie", "upstream"))
KERNELS = ("bookworm", "trixie")
VOID = {"meta", "input", "br", "link", "img"}


def result(
    name: str, outcome: Outcome | None, kernel: str | None = "bookworm", **more: Any
) -> Result:
    """A result of the test function *name*."""
    case = Case(
        test=f"tests/e2e/test_x.py::{name}[{kernel}]",
        function=name,
        sentence=f"sentence of {name}",
        rows=tuple(word.upper() for word in re.findall("(?<=_)[mt][0-9](?=_)", name)),
        errnos=("EIO",),
        kernel=kernel,
        driver="upstream",
        backend="qemu" if kernel is not None else None,
        parameters={},
        defect=None,
    )
    own = {field.name for field in dataclasses.fields(Case)}
    case = dataclasses.replace(case, **{key: more.pop(key) for key in own & more.keys()})
    return Result(case, outcome, **more)


def run(*results: Result, columns: tuple[Column, ...] = COLUMNS) -> Run:
    """A run with these results."""
    return Run(REQUIREMENTS, columns, results, {"bookworm": "6.1.0 (bookworm)"}, 1.8e9, 61.5)


@pytest.mark.parametrize(
    "counts, outcome, shown, text",
    [
        ({}, None, False, "no test"),
        ({PASSED: 3}, PASSED, True, "passed 3"),
        ({PASSED: 3, SKIPPED: 1}, PASSED, True, "passed 3/4"),
        ({PASSED: 3, DEVIATES: 1}, DEVIATES, False, "deviates 1/4"),
        ({PASSED: 3, DEVIATES: 1, FAILED: 2}, FAILED, False, "FAILED 2/6"),
        ({SKIPPED: 2}, SKIPPED, False, "skipped 2"),
    ],
)
def test_cell(counts: dict[Outcome, int], outcome: Outcome | None, shown: bool, text: str) -> None:
    cell = Cell(counts)
    assert (cell.outcome, cell.shown, cell.text) == (outcome, shown, text)


def test_complaints() -> None:
    everything = run(
        result("test_m1_m2_t1_all", PASSED), result("test_m1_m2_t1_all", DEVIATES, "trixie")
    )
    assert everything.complaints() == []
    any_kernel = run(result("test_m1_m2_t1_all", PASSED, None, driver=None))
    assert any_kernel.complaints() == []
    lacking = run(
        result("test_m1_a", PASSED),
        result("test_m1_a", SKIPPED, "trixie"),
        result("test_m2_m9_b", FAILED),
    )
    assert lacking.complaints() == [
        "no test shows T1",
        "all tests of M1 were skipped on trixie with upstream",
        "all tests of M2 were not run on trixie with upstream",
        "tests name rows that the list does not have: test_m2_m9_b (M9)",
    ]


def test_row_of_another_emulator_needs_no_test() -> None:
    """Its skipped tests do not count, and it is shown only where they ran."""
    rows = dict(REQUIREMENTS.rows)
    rows["M2"] = dataclasses.replace(rows["M2"], emulators=("hercules",))
    requirements = dataclasses.replace(REQUIREMENTS, rows=rows)
    part = Column("bookworm", "upstream", "hercules", part=True)
    mine = [result("test_m1_t1_a", PASSED), result("test_m2_b", SKIPPED)]
    for outcome, cell, shown in ((PASSED, "passed 1", 3), (SKIPPED, "skipped 1", 2)):
        there = result("test_m2_b", outcome, backend="hercules")
        made = dataclasses.replace(
            run(*mine, there, columns=(COLUMNS[0], part)), requirements=requirements
        )
        assert [found.text for found in made.rows()[1].cells.values()] == ["–", cell]
        assert totals(made).startswith(f"{shown} of 3 requirements shown")
        assert bool(made.complaints()) == (outcome is SKIPPED)
    alone = dataclasses.replace(run(*mine, columns=COLUMNS[:1]), requirements=requirements)
    assert alone.complaints() == []
    assert totals(alone).startswith("2 of 3 requirements shown")


def test_row_of_another_kernel_needs_no_test() -> None:
    """Tests that are skipped elsewhere, because no other kernel can do it, are no complaint."""
    rows = dict(REQUIREMENTS.rows)
    rows["M2"] = dataclasses.replace(rows["M2"], kernels=("trixie",))
    requirements = dataclasses.replace(REQUIREMENTS, rows=rows)
    mine = [result("test_m1_t1_a", PASSED, kernel) for kernel in ("bookworm", "trixie")]
    mine += [result("test_m2_b", SKIPPED)]
    for outcome, cell, shown in ((PASSED, "passed 1", 3), (SKIPPED, "skipped 1", 2)):
        there = result("test_m2_b", outcome, "trixie")
        made = dataclasses.replace(run(*mine, there), requirements=requirements)
        assert [found.text for found in made.rows()[1].cells.values()] == ["–", cell]
        assert totals(made).startswith(f"{shown} of 3 requirements shown")
        assert bool(made.complaints()) == (outcome is SKIPPED)
    alone = dataclasses.replace(run(*mine, columns=COLUMNS[:1]), requirements=requirements)
    assert alone.complaints() == []


def test_emulator_that_only_a_part_runs_in_needs_no_test_of_every_row() -> None:
    part = Column("bookworm", "upstream", "hercules", part=True)
    mine = [result("test_m1_m2_t1_all", PASSED)]
    mine += [result(n, PASSED, backend="hercules") for n in ("test_m1_a", "test_m2_a")]
    made = run(*mine, columns=(COLUMNS[0], part))
    assert made.complaints() == []
    assert [line.text.rstrip() for line in table(made)] == [
        "     requirement           tests  bookworm   bookworm",
        "                                  upstream   upstream",
        "                                  qemu       hercules",
        "M1   title of M1               2  passed 1   passed 1",
        "M2   title of M2               2  passed 1   passed 1",
        "T1   title of T1               1  passed 1   –",
    ]
    assert totals(made).startswith(
        "3 of 3 requirements shown on every kernel, driver and emulator;"
    )
    assert "| bookworm, upstream | bookworm, upstream, hercules |" in markdown(made)
    whole = run(*mine, columns=(COLUMNS[0], part._replace(part=False)))
    assert whole.complaints() == [
        "all tests of T1 were not run on bookworm with upstream in hercules"
    ]
    skipped = result("test_t1_b", SKIPPED, backend="hercules")
    made = run(*mine, skipped, columns=(COLUMNS[0], part))
    assert made.complaints() == [
        "all tests of T1 were skipped on bookworm with upstream in hercules"
    ]
    assert totals(made).startswith("2 of 3 requirements shown")


def test_row_of_the_first_kernel_needs_no_test_on_others() -> None:
    mine = [result(n, PASSED, kernel=k) for n in ("test_m1_a", "test_m2_a") for k in KERNELS]
    first = result("test_t1_a", PASSED, first_kernel=True)
    made = run(*mine, first)
    assert made.complaints() == []
    assert [cell.text for cell in made.rows()[2].cells.values()] == ["passed 1", "–"]
    assert totals(made).startswith("3 of 3 requirements shown")
    other = result("test_t1_b", PASSED)
    assert run(*mine, first, other).complaints() == [
        "all tests of T1 were not run on trixie with upstream"
    ]


def test_deviating_rows_are_counted_apart() -> None:
    """A row that a driver breaks is not shown, however well that is known."""
    both = [result(name, PASSED) for name in ("test_m1_a", "test_m2_a", "test_t1_a")]
    known = result("test_m2_b", DEVIATES)
    made = run(*both, known, columns=COLUMNS[:1])
    assert [(row.shown, row.deviates) for row in made.rows()] == [
        (True, False),
        (False, True),
        (True, False),
    ]
    assert totals(made).startswith(
        "2 of 3 requirements shown on every kernel and driver, 1 with a known deviation; 4 tests:"
    )
    # A failure beside it is none of what is known; nor is a kernel without a test.
    assert not run(*both, known, result("test_m2_c", FAILED)).rows()[1].deviates
    assert not run(*both, known).rows()[1].deviates


def test_table() -> None:
    made = run(
        result("test_m1_a", PASSED),
        result("test_m1_b", FAILED),
        result("test_m1_a", SKIPPED, "trixie"),
        result("test_m2_t1_c", DEVIATES, "trixie"),
    )
    assert [line.text.rstrip() for line in table(made)] == [
        "     requirement           tests  bookworm    trixie",
        "                                  upstream    upstream",
        "M1   title of M1               2  FAILED 1/2  skipped 1",
        "M2   title of M2               1  no test     deviates 1",
        "T1   title of T1               1  no test     deviates 1",
    ]
    states = [[state for text, state in line.pieces if text.strip()] for line in table(made)]
    assert states[2:] == [
        ["", "failed", "skipped"],
        ["", "missing", "deviates"],
        ["", "missing", "deviates"],
    ]
    named = [line.text for line in table(made, names=True)]
    assert named[3:5] == ["     test_m1_a", "     test_m1_b"]
    assert totals(made) == (
        "0 of 3 requirements shown on every kernel and driver; 4 tests: 1 passed,"
        " 1 known to deviate, 1 failed, 1 skipped"
    )


@pytest.mark.parametrize("number", (1, 4, 5, 6, 20))
def test_table_is_never_too_wide(number: int) -> None:
    columns = tuple(Column(f"kernel-{i}-with-a-name", "a driver") for i in range(number))
    lines = [line.text for line in table(run(columns=columns), names=True)]
    assert max(map(len, lines)) <= WIDTH
    assert sum(line.count("kernel-") for line in lines) == number
    assert sum(line.count("no test") for line in lines) == number * 3


def test_deviations_come_once() -> None:
    made = run(
        result("test_t1_c", DEVIATES, reason="defect 2: late"),
        result("test_m1_m2_a", DEVIATES, reason="defect 5: never ends"),
        result("test_m1_m2_a", DEVIATES, "trixie", reason="defect 5: never ends"),
        result("test_other", DEVIATES, None, reason="defect 6: other"),
        result("test_t1_b", PASSED),
    )
    assert deviations(made) == [
        "no requirement: defect 6: other [test_other]",
        "M1, M2 (bookworm, trixie): defect 5: never ends [test_m1_m2_a]",
        "T1 (bookworm): defect 2: late [test_t1_c]",
    ]
    lines = wrapped("word " * 50).splitlines()
    assert len(lines) == 3 and max(map(len, lines)) <= WIDTH


def test_markdown() -> None:
    lines = markdown(run(result("test_m1_a", PASSED), result("test_t1_b", DEVIATES, reason="<b>")))
    assert "| M1 | requirement M1 \\| so | `test_m1_a` | passed 1 | no test |" in lines.splitlines()
    assert "| M2 | requirement M2 \\| so |  | no test | no test |" in lines.splitlines()
    assert "## T: tasks & more" in lines
    assert "Kernels: bookworm 6.1.0 (bookworm)." in lines
    assert "* T1 (bookworm): \\<b\\> \\[test\\_t1\\_b\\]" in lines


def test_json(tmp_path: Path) -> None:
    cut = TraceCut("g1", str(tmp_path / "logs" / "trace.jsonl"), 10, 20)
    made = run(
        result("test_m1_a", FAILED, parameters={"size": "5"}, failure=HOSTILE, cuts=[cut]),
        result("test_m2_b", SKIPPED, reason="why", seconds=1.5),
    )
    paths = write(made, tmp_path)
    assert [path.name for path in paths] == [
        *("report.json", "report.html", "requirements.md", "report.tap", "report.ktap")
    ]
    read = json.loads(paths[0].read_text(encoding="utf-8"))
    assert read == json.loads(json.dumps(as_json(made)))
    assert read["format"] == 3 and read["started"] == "2027-01-15T08:00:00Z"
    assert read["requirements"][0]["cells"][0] == {
        "kernel": "bookworm",
        "driver": "upstream",
        "backend": "qemu",
        "part": False,
        "left": 0,
        "result": "failed",
        "shown": False,
        "tests": {"failed": 1},
    }
    assert read["tests"][0]["failure"] == HOSTILE
    assert read["tests"][0]["traces"] == [dataclasses.asdict(cut)]
    assert read["tests"][1]["reason"] == "why" and read["tests"][1]["seconds"] == 1.5
    assert read["complaints"] == made.complaints()


class Page(HTMLParser):
    """Elements, their attributes and the text of a page; every element must be closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        assert len(dict(attrs)) == len(attrs), attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("script", "style"):
            self.text += data

    def all(self, tag: str, **attributes: str) -> list[dict[str, str | None]]:
        """The attributes of all elements of a kind."""
        found = [own for name, own in self.elements if name == tag]
        return [own for own in found if attributes.items() <= own.items()]


def test_page_is_well_formed_and_has_what_the_filters_need() -> None:
    read = Page(
        page(
            run(
                result("test_m1_m2_a", PASSED, seconds=2.5),
                result("test_t1_b", FAILED, None, driver=None, errnos=("EIO", "EBUSY")),
            )
        )
    )
    tests = read.all("details")
    assert [
        (t["data-rows"], t["data-kernel"], t["data-backend"], t["data-result"]) for t in tests
    ] == [
        ("T1", "", "", "failed"),  # failed ones come first
        ("M1 M2", "bookworm", "qemu", "passed"),
    ]
    assert [t["data-errnos"] for t in tests] == ["EIO EBUSY", "EIO"]
    assert [t["data-seconds"] for t in tests] == ["0.000", "2.500"]
    names = {own["name"] for own in read.all("select") + read.all("input")}
    assert names == {"text", "row", "kernel", "driver", "backend", "result", "errno", "order"}
    links = [own["href"] for own in read.all("a")]
    assert "#?row=T1&kernel=trixie&driver=upstream&backend=qemu" in links
    assert "bookworm: 6.1.0 (bookworm)" in read.text
    assert "all tests of M1, M2 were not run on trixie with upstream" in read.text
    ids = [own["id"] for _, own in read.elements if "id" in own]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    ("more", "cause"),
    [
        (
            {"failure": "    def test_a():\n>   assert x\nE   AssertionError: first\nE   more"},
            "first",
        ),
        ({"failure": "\nTimeout: no answer\n  test_x.py:1 in test_a: guest.boot()"}, "no answer"),
        ({"failure": "E   text", "reason": "a known defect"}, "a known defect"),
        ({"failure": "E   " + "x" * 9999}, "x" * 300 + "…"),
        ({}, ""),
    ],
)
def test_cause_stands_in_the_row_of_its_test(more: dict[str, str], cause: str) -> None:
    """Before the test is opened."""
    found = result("test_m1_a", FAILED, **more)
    assert found.cause.endswith(cause) and "\n" not in found.cause
    summary = re.findall(r"<summary>(.*?)</summary>", page(run(found)), re.DOTALL)
    assert [bool(cause) and cause in row for row in summary] == [bool(cause)]
    assert page(run(found)).count('class="cause"') == bool(cause)


def test_page_of_a_run_without_requirements() -> None:
    """What there is none of is not spoken of, and nothing can be chosen of it."""
    alone = result("test_a", FAILED, kernel=None, errnos=(), driver=None, failure="E   cause")
    made = dataclasses.replace(run(alone, columns=()), requirements=Requirements({}, {}))
    assert totals(made) == "1 tests: 1 failed"
    text = page(made)
    assert "equirement" not in text.partition("<header>")[2].partition("<script>")[0]
    hidden = re.findall(r"<label hidden>(\w+)", text)
    assert hidden == ["row", "kernel", "driver", "emulator", "errno"]


def test_page_is_self_contained() -> None:
    text = page(run(result("test_m1_a", PASSED)))
    read = Page(text)
    assert not read.all("link") + read.all("img") + read.all("iframe")
    assert all("src" not in own and "style" not in own for _, own in read.elements)
    assert not any(name.startswith("on") for _, own in read.elements for name in own)
    assert all((own["href"] or "").startswith("#") for own in read.all("a"))
    assert not re.search(r"https?:|url\(|@import", text)
    (policy,) = read.all("meta", **{"http-equiv": "Content-Security-Policy"})
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in (policy["content"] or "")
    assert (policy["content"] or "").startswith("default-src 'none';")


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    logs = trace(tmp_path / "t", record(1, 0, "<script>", text=HOSTILE[:30]))
    made = run(
        result(
            "test_m1_a",
            FAILED,
            test=f'x::{HOSTILE}" onclick="x',
            sentence=HOSTILE,
            parameters={HOSTILE: HOSTILE},
            reason=HOSTILE,
            failure=HOSTILE,
            console=HOSTILE,
            logs=[HOSTILE],
            cuts=[TraceCut(HOSTILE, str(logs), 0, 10**6)],
        )
    )
    (path,) = (path for path in write(made, tmp_path) if path.name == "report.html")
    text = path.read_text(encoding="utf-8")
    read = Page(text)
    assert len(read.all("script")) == 1
    assert not any("onclick" in own for _, own in read.elements)
    assert "<script>alert" not in text
    assert read.text.count("<script>alert('x')</script>") >= 8
    assert not set(map(chr, range(0x20))) - {"\n", "\t"} & set(text)
    assert "␛[31m␀ ?" in read.text


def test_timeline(tmp_path: Path) -> None:
    before = record(1, 0, "before")
    logs = trace(
        tmp_path / "t",
        before,
        record(2, 0, "iucv.connect", fault="iucv.connect", cc=0),
        record(3, 0, "iucv.send", cc=1),
        record(4, None, "event", user="BOB", event=COMPLETE),
        record(5, None, "command", text="x" * 500, rc=0),
        record(4096 * 100, 1, "interrupt"),
        record(4096 * 200, 1, "diag.08", pgm=6),
        record(4096 * 200, 1, "after"),
    )
    size = logs.stat().st_size
    drawn = timeline(TraceCut("g1", str(logs), len(before), size - 1))
    assert drawn.problem == "" and not drawn.earlier
    assert drawn.tracks == ["CPU 0", "CPU 1", "BOB", "CP"]
    assert [mark.kind for mark in drawn.marks] == [
        *("fault", "error", "event", "outside", "interrupt", "error")
    ]
    assert [mark.y for mark in drawn.marks] == [15, 15, 75, 105, 45, 45]
    places = [mark.x for mark in drawn.marks]
    assert places == sorted(places) and places[-1] < drawn.width
    assert places[4] - places[3] > 2 * (places[3] - places[2])  # a longer time is wider
    assert drawn.labels[0][1] == "0.00 ms"
    assert drawn.labels[-1][1] == "409.60 ms"
    assert max(len(mark.text) for mark in drawn.marks) < 250
    failed = result("test_m1_a", FAILED, cuts=[TraceCut("g1", str(logs), len(before), size)])
    read = Page(page(run(failed)))
    circles = read.all("circle")
    assert [own["class"] for own in circles[:2]] == ["fault", "error"]
    targets = {own.get("id") for own in read.all("li")}
    links = [own["href"] for own in read.all("a") if (own["href"] or "").startswith("#t")]
    assert len(links) == 7 and {link[1:] for link in links if link} <= targets


def test_timeline_has_an_end(tmp_path: Path) -> None:
    lines = [record(i, 0, "x") for i in range(RECORDS_MAX + 5)]
    logs = trace(tmp_path / "t", *lines)
    drawn = timeline(TraceCut("g", str(logs), 0, logs.stat().st_size))
    assert [mark.seq for mark in drawn.marks] == list(range(5, RECORDS_MAX + 5))
    assert drawn.earlier
    many = [
        result(f"test_m1_{i}", FAILED, cuts=[TraceCut("g", str(logs), 0, len(lines[0]))])
        for i in range(TIMELINES_MAX + 1)
    ]
    assert page(run(*many)).count("<svg ") == TIMELINES_MAX


@pytest.mark.parametrize(
    "text, problem",
    [
        (None, "trace .* cannot be read: No such file or directory"),
        ("", "the guest did not call CP during this test"),
        ("x\n", "line 1 of .*, from byte 0 on, is not a record of a CP trace"),
        ("\xff\n", "line 1 of .* is not a record of a CP trace"),
    ],
)
def test_no_timeline(tmp_path: Path, text: str | None, problem: str) -> None:
    path = tmp_path / "t"
    if text is not None:
        path.write_text(text, encoding="latin-1")
    drawn = timeline(TraceCut("g", str(path), 0, 100))
    assert re.fullmatch(problem, drawn.problem)
    failed = result("test_m1_a", FAILED, cuts=[TraceCut("g", str(path), 0, 100)])
    assert drawn.problem.replace("'", "&#39;") in page(run(failed))
