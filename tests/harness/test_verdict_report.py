# SPDX-License-Identifier: MIT
"""Before and after: what counts as new, what decides nothing, and how a verdict is told."""

from __future__ import annotations

import datetime
import json
from dataclasses import replace
from difflib import unified_diff
from pathlib import Path

import pytest
from tap.parser import Parser

from zvmlab.base.errors import UsageError
from zvmlab.pytest_plugin.requirement_results import Case, Outcome, Result
from zvmlab.verdict.allow import Allowed, read_allowed
from zvmlab.verdict.applied import Applied, File
from zvmlab.verdict.choice import choose, read_map
from zvmlab.verdict.compare import Difference, Finding, compare, differing
from zvmlab.verdict.diffs import FileDiff, parse
from zvmlab.verdict.report import Tried, Verdict, ktap, text, to_json
from zvmlab.verdict.runs import Seen, key_of, seen, short_name

TODAY = datetime.date(2026, 11, 28)
KASAN = "BUG: KASAN: slab-use-after-free in __iucv_message_receive+0x{}/0x200"
NODE = "tests/e2e/test_sockets.py::test_{}[bookworm-upstream]"


def result(outcome: Outcome, failure: str = "", reason: str = "") -> Result:
    case = Case(NODE.format("a"), "test_a", "", (), (), "bookworm", "upstream", "qemu", {}, None)
    return Result(case, outcome, reason, 0.0, failure)


def one(name: str, holds: bool | None, known: bool = False, report: str = "") -> Seen:
    inside = "iucv_sever < iucv_sock_close" if report else ""
    return Seen(NODE.format(name), holds, known, "" if holds else "assert 1 == 2", report, inside)


def results(**values: Seen) -> dict[str, Seen]:
    return {key_of(value.node, "bookworm"): value for value in values.values()}


def test_results_are_read_without_what_pytest_was_told_to_expect() -> None:
    assert seen(result(Outcome.PASSED)).holds
    corrected = seen(result(Outcome.FAILED, "[XPASS(strict)] upstream's driver, defect 11: text"))
    assert corrected.holds is True
    known = seen(result(Outcome.DEVIATES, "E assert 1 == 2", "upstream's driver, defect 11"))
    assert (known.holds, known.known) == (False, True)
    kernel = seen(result(Outcome.SKIPPED, "", "expected to fail: kernel, defect 3"))
    assert (kernel.holds, kernel.known) == (False, True)
    assert seen(result(Outcome.SKIPPED, "", "on a debug kernel: numbers")).holds is None
    crash = f"bug: {KASAN.format('1c')}\n  in: a < b\n  test_a.py:3 in test_a: b()\n"
    failed = seen(result(Outcome.FAILED, crash))
    assert failed.report == f"bug: {KASAN.format('1c')}" and failed.inside == "a < b"
    again = seen(result(Outcome.FAILED, crash.replace("0x1c", "0x2e")))
    assert again.kind == failed.kind


def test_names_of_both_sides_are_the_same() -> None:
    mine = "tests/e2e/test_a.py::test_b[linux:debug-upstream-3]"
    theirs = "tests/e2e/test_a.py::test_b[bookworm-upstream-3]"
    assert key_of(mine, "/x/linux:debug") == key_of(mine, "/y/linux:debug")
    assert key_of(theirs, "bookworm") == "tests/e2e/test_a.py::test_b[upstream-3]"
    assert short_name(key_of(theirs, "bookworm")) == "a.b[upstream-3]"


def test_what_differs_is_new_and_what_base_shows_is_not() -> None:
    base = results(
        a=one("a", True), b=one("b", False, True), c=one("c", False), d=one("d", None),
        e=one("e", True), f=one("f", False, True),
    )  # fmt: skip
    patched = results(
        a=one("a", False), b=one("b", True), c=one("c", False), d=one("d", True),
        e=one("e", True), f=one("f", False),
    )  # fmt: skip
    found = compare(base, patched)
    assert [finding.test for finding in found.failing] == ["sockets.a[upstream]"] + [
        "sockets.f[upstream]"
    ]
    assert [finding.test for finding in found.passing] == ["sockets.b[upstream]"]
    assert found.not_compared == ["sockets.d[upstream] ran with the series only"]
    assert found.compared == 5 and not found.unsteady and not found.reports
    assert len(differing(base, patched)) == 3


def test_unsteady_tests_decide_nothing() -> None:
    base, patched = results(a=one("a", True)), results(a=one("a", False))
    steady = compare(base, patched, [base] * 3, [patched] * 3)
    assert steady.failing == [
        Finding("sockets.a[upstream]", (3, 3), (0, 3), "assert 1 == 2", "", "")
    ]
    for again_base, again_patched in (
        ([base, patched, base], [patched] * 3),
        ([base] * 3, [patched, base, patched]),
    ):
        found = compare(base, patched, again_base, again_patched)
        assert not found.failing and [finding.test for finding in found.unsteady]


def test_unsteady_test_is_told_first_and_with_what_the_kernel_reported() -> None:
    """It may be a race of the series, which "nothing new" alone would hide."""
    base = results(a=one("a", True))
    patched = results(a=one("a", False, report=f"bug: {KASAN.format('1c')}"))
    found = verdict(compare(base, patched, [base] * 3, [base, patched, base]))
    assert found.headline == "nothing new, 1 unsteady" and found.exit_code == 0
    told = " ".join(text(found).split())
    assert f"bug: {KASAN.format('1c')}, in iucv_sever < iucv_sock_close" in told


def test_test_that_is_skipped_with_the_series_only_newly_fails() -> None:
    """Nobody knows whether what it asserts still holds."""
    base = results(a=one("a", True), b=one("b", True))
    gone = replace(one("a", None), cause="the kernel has no DAX")
    patched = results(a=gone, b=one("b", True))
    assert differing(base, patched) == [key_of(NODE.format("a"), "bookworm")]
    found = compare(base, patched, [base] * 3, [patched] * 3)
    (finding,) = found.failing
    assert (finding.base, finding.patched) == ((3, 3), (0, 3))
    assert finding.cause == "skipped: the kernel has no DAX" and not found.not_compared


def test_report_of_a_test_that_base_skips_is_new() -> None:
    base = results(a=one("a", None), b=one("b", True))
    patched = results(a=one("a", False, report="oops: null"), b=one("b", True))
    found = compare(base, patched)
    assert [report.report for report in found.reports] == ["oops: null"] and not found.failing


def test_report_of_the_kernel_that_base_has_too_is_not_new() -> None:
    mine, other = f"bug: {KASAN.format('1c')}", f"bug: {KASAN.format('9e')}"
    base = results(a=one("a", False, report=mine), b=one("b", True))
    patched = results(a=one("a", False, report=other), b=one("b", False, report=other))
    found = compare(base, patched)
    assert not found.reports, "the same but for numbers, by another test"
    patched = results(a=one("a", False, report="oops: null"), b=one("b", True))
    found = compare(base, patched)
    assert [report.report for report in found.reports] == ["oops: null"]


def logs(name: str, *lines: str) -> Seen:
    """A test that passes, and of which the kernel has said so."""
    return replace(one(name, True), warnings=lines)


def test_warning_in_the_log_that_base_has_not_is_a_report() -> None:
    """Each time; numbers do not count, nor which test it was."""
    base = results(a=logs("a", "m: error 7"), b=logs("b"), c=logs("c"))
    patched = results(a=logs("a"), b=logs("b", "m: error 9"), c=logs("c", "m: 3 lost", "m: 5 lost"))
    assert differing(base, patched) == [key_of(NODE.format("c"), "bookworm")]
    found = compare(base, patched, [base] * 3, [patched] * 3)
    assert [(report.report, report.test) for report in found.reports] == [
        ("log: m: 5 lost", "sockets.c[upstream]")
    ]
    assert not found.failing and not found.unsteady
    silent = results(c=logs("c"))
    assert not compare(base, patched, [base], [patched, silent]).reports
    assert not compare(base, patched, [patched], [patched]).reports


def test_warning_of_a_test_that_comes_to_its_end_with_the_series_only_is_no_report() -> None:
    """Base may log it, too, and nobody has asked: it failed before."""
    line = "m: loading out-of-tree module taints kernel."
    base = results(a=one("a", False, True), b=logs("b"))
    patched = results(a=logs("a", line), b=logs("b"))
    found = compare(base, patched, [base] * 3, [patched] * 3)
    assert [finding.test for finding in found.passing] == ["sockets.a[upstream]"]
    assert not found.reports


LEAK = """ZvmlabError: the guest's kernel has leaked memory; kmemleak says:
E   unreferenced object 0x000000008a2b4c00 (size 256):
E     comm "init", pid 77, jiffies 4294938000
E     backtrace (crc 1234):
E       kmemleak_alloc+0x6a/0x90
E       [<00000000f2a8b1c2>] __kmalloc_cache_noprof+0x2c/0x300
E       mon_open+0x4e/0x2c0 [monreader]
E       misc_open+0x10/0x20
E   unreferenced object 0x000000008a2b4d00 (size 64):
E     backtrace:
E       other+0x4e/0x2c0
"""


def test_leak_has_its_size_and_its_innermost_functions() -> None:
    found = seen(result(Outcome.FAILED, LEAK))
    assert found.leaks and found.report == "leak: unreferenced object (size 256)"
    assert found.inside == "mon_open < misc_open"
    assert not seen(result(Outcome.FAILED, "a test of an unreferenced object")).leaks


ENTRY = '[[allow]]\ntest = "sockets.a*"\nreason = "why"\nuntil = 2027-01-01\n'


def test_allowed_differences(tmp_path: Path) -> None:
    file = tmp_path / "allow.toml"
    file.write_text(ENTRY + ENTRY.replace('test = "sockets.a*"', 'report = "oops*"'))
    allowed = Allowed(read_allowed(file, TODAY))
    base, patched = results(a=one("a", True)), results(a=one("a", False))
    found = compare(base, patched, allowed=allowed)
    assert not found.failing and set(found.states.values()) == {"allowed"}
    assert allowed.unneeded() == ["--allow: entry 2 (oops*) was not needed; remove it"]


@pytest.mark.parametrize(
    ("contents", "said"),
    [
        ("[[", "is not TOML"),
        ("a = 1\n", "has to be a list of tables"),
        (ENTRY.replace("2027-01-01", "2026-11-27"), "entry 1 .* ended on 2026-11-27"),
        (ENTRY.replace('"why"', '" "'), "needs a reason"),
        (ENTRY.replace("2027-01-01", '"soon"'), "needs a last date"),
        (ENTRY.replace("test", "tests"), "has other fields than"),
        (ENTRY.replace('test = "sockets.a*"\n', ""), "needs a pattern"),
        (ENTRY.replace('"sockets.a*"', "1"), "test has to be a text"),
    ],
)
def test_bad_list_of_allowed_differences(contents: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "allow.toml"
    file.write_text(contents)
    with pytest.raises(UsageError, match=said):
        read_allowed(file, TODAY)


def verdict(difference: Difference, **fields: str) -> Verdict:
    tried = Tried("source:7.2:debug", "7.2.13 (source:7.2:debug@1a2b)", difference=difference)
    command = ["zvmlab", "try", "a.mbox", "--kernel", "source:7.2"]
    made = Verdict("net/iucv: fix use-after-free of a severed iucv_path", 1, "linux", command)
    made.tried.append(tried)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def differences() -> Difference:
    names = ("severed_with_data_unread", "other", "third")
    base = results(a=one(names[0], True), b=one(names[1], False, True), c=one(names[2], True))
    bad = one(names[0], False, report=f"bug: {KASAN.format('1c')}")
    patched = results(a=bad, b=one(names[1], True), c=one(names[2], True))
    return compare(base, patched, [base] * 3, [patched] * 3)


def test_mail_has_72_columns_and_only_sections_with_contents() -> None:
    said = text(verdict(differences()))
    lines = said.splitlines()
    assert max(map(len, lines)) <= 72
    assert lines[0].startswith('zvmlab tried "net/iucv: fix use-after-free of a severed')
    assert "1 newly failing, 1 newly passing, 1 new report" in " ".join(lines)
    row = lines[lines.index("Newly failing") + 1 :]
    assert row[0].strip() == "sockets.severed_with_data_unread[upstream]"
    assert row[1].strip() == "7.2.13 (source:7.2:debug), 3 of 3, base 0 of 3"
    told = " ".join(" ".join(row).split())
    assert f"bug: {KASAN.format('1c')}, in iucv_sever < iucv_sock_close" in told
    assert "Unsteady" not in said and "checkpatch" not in said and "Not tried" not in said
    assert lines[-1] == "  zvmlab try a.mbox --kernel source:7.2"
    nothing = text(verdict(Difference(compared=3)))
    assert "nothing new" in nothing and "Newly" not in nothing


def test_exit_codes() -> None:
    assert verdict(Difference(compared=1)).exit_code == 0
    assert verdict(differences()).exit_code == 1
    assert verdict(differences(), over="the limit of 5 s is over").exit_code == 124
    broken = verdict(Difference())
    broken.tried[0].broken = "a.c:1: error"
    assert broken.exit_code == 1
    nothing = verdict(Difference())
    assert nothing.exit_code == 77 and nothing.headline == "no test ran"
    listed = verdict(Difference(compared=1))
    listed.errors.append("--allow: entry 1 was not needed")
    assert listed.exit_code == 1


def test_ktap_and_json_say_the_same() -> None:
    found = verdict(differences())
    found.not_run, found.checkpatch = ["net/iucv/af_iucv.c 361-363"], ["patch 1: CHECK:LINE: long"]
    found.not_tried, found.versions = ["no scenario uses the file"], ["zvmlab 1, QEMU 10"]
    found.tried[0].warnings = ["net/iucv/af_iucv.c:3: warning: x"]
    found.tried[0].instructions = ["sockets: close: 100 to 200 (+100.0%)"]
    lines = ktap(found).splitlines()
    assert lines[:2] == ["KTAP version 1", "1..1"]
    inner = [line.strip() for line in lines if line.startswith("    ")]
    assert inner[:2] == ["KTAP version 1", "1..3"]
    assert "not ok 2 sockets.severed_with_data_unread[upstream]" in inner
    assert lines[-1] == "not ok 1 7.2.13 (source:7.2:debug)"
    # What an outer reader makes of it.
    outer = "\n".join(line for line in lines if not line.startswith("    "))
    parsed = list(Parser().parse_text(outer.replace("KTAP version 1", "TAP version 13")))
    assert [entry.ok for entry in parsed if entry.category == "test"] == [False]
    comments = [line[2:].strip() for line in lines if line.startswith("# ")]
    mail = [line.strip() for line in text(found).splitlines() if line]
    assert set(mail[mail.index("Newly failing") :]) <= set(comments)
    data = json.loads(to_json(found))
    assert data["exit"] == 1 and data["headline"] == found.headline
    (tried,) = data["tried"]
    assert tried["difference"]["failing"][0]["test"] == "sockets.severed_with_data_unread[upstream]"
    assert tried["difference"]["passing"][0]["patched"] == [3, 3]


def test_text_of_others_is_harmless() -> None:
    found = verdict(Difference(compared=1))
    found.subject = "\x1b]0;gone\x07 subject\nnext"
    for said in (text(found), ktap(found)):
        assert "\x1b" not in said and "\x07" not in said


def test_tests_are_those_that_run_the_functions_touched(tmp_path: Path) -> None:
    part = {
        "kernel": "6.1.9",
        "date": "2026-11-28",
        "tests": {"": ["(boot)"], "t.py": ["test_a", "test_b", "test_c"]},
        "files": {
            "a.c": {"closes": "0-2", "opens": "2 3", "never": "", "boots": "0"},
            "b.c": {"other": "3"},
        },
    }
    file = tmp_path / "map.json"
    file.write_text(json.dumps({"6.1": part, "7.2": {**part, "files": {}}}))
    known = read_map("6.1", file)
    assert read_map("6.12", file) == read_map("5.10", file) == known, "the nearest series has to do"
    assert read_map("7.2", file) == read_map("7.10", file) == {}
    old = "".join(f"int {name}(void)\n{{\n\treturn 0;\n}}\n\n" for name in ("closes", "never"))
    new = old.replace("return 0", "return 1")
    (diff,) = parse("".join(unified_diff(old.splitlines(True), new.splitlines(True), "a/a.c", "b/a.c")).encode(), "it")  # fmt: skip
    both = Applied({"a.c": File(old.encode())}, {"a.c": File(new.encode())}, {"a.c": diff})
    found = choose(both, known)
    assert found.tests == ["t.py::test_b", "t.py::test_a"], "that which runs most comes first"
    assert found.not_run == ["a.c 8 (never)"] and not found.left and not found.unknown
    assert known["a.c"]["opens"] == ["t.py::test_b", "t.py::test_c"]
    assert (choose(both, known, 1).tests, choose(both, known, 1).left) == (["t.py::test_b"], 1)
    shown = choose(both, known, 1, {"a.c": ["t.py::test_old_bug"] * 2})
    assert shown.tests == ["t.py::test_old_bug", "t.py::test_b"] and shown.left == 1


def test_function_of_the_boot_is_run_by_every_test_of_its_file() -> None:
    old, new = (f"int boots(void)\n{{\n\treturn {value};\n}}\n" for value in (0, 1))
    (diff,) = parse("".join(unified_diff(old.splitlines(True), new.splitlines(True), "a/a.c", "b/a.c")).encode(), "it")  # fmt: skip
    both = Applied({"a.c": File(old.encode())}, {"a.c": File(new.encode())}, {"a.c": diff})
    found = choose(both, {"a.c": {"boots": ["(boot)"], "opens": ["(boot)", "t.py::test_a"]}})
    assert found.tests == ["t.py::test_a"] and not found.not_run


def test_tests_that_have_been_removed_since_are_not_asked_for() -> None:
    old, new = (f"int opens(void)\n{{\n\treturn {value};\n}}\n" for value in (0, 1))
    (diff,) = parse("".join(unified_diff(old.splitlines(True), new.splitlines(True), "a/a.c", "b/a.c")).encode(), "it")  # fmt: skip
    both = Applied({"a.c": File(old.encode())}, {"a.c": File(new.encode())}, {"a.c": diff})
    there = "tests/e2e/test_watchdog.py::test_open_sets_timeout_and_command"
    gone = [f"{there}s", "tests/e2e/test_that_is_gone.py::test_a"]
    found = choose(both, {"a.c": {"opens": [*gone, f"{there}[x]"]}})
    assert (found.tests, found.left, found.not_run) == ([there], 0, [])


def test_each_function_touched_has_a_test_and_costly_ones_come_last() -> None:
    old = "".join(f"int {name}(void)\n{{\n\treturn 0;\n}}\n\n" for name in ("a", "b", "c"))
    new = old.replace("return 0", "return 1")
    (diff,) = parse("".join(unified_diff(old.splitlines(True), new.splitlines(True), "a/a.c", "b/a.c")).encode(), "it")  # fmt: skip
    both = Applied({"a.c": File(old.encode())}, {"a.c": File(new.encode())}, {"a.c": diff})
    # Left out of the short run by tests/speeds.toml; the names of the others say nothing.
    costly = "tests/e2e/test_monreader_endurance.py::test_reading_sets_leaves_nothing"
    often = [f"x.py::test_{number}" for number in range(20)]
    known = {"a.c": {"a": [*often, costly], "b": often, "c": ["y.py::test_c"]}}
    found = choose(both, known, 10)
    assert "y.py::test_c" in found.tests and costly not in found.tests
    assert (len(found.tests), found.left) == (10, 12)
    assert choose(both, known, None).tests[-1] == costly
    assert choose(both, {"a.c": {"a": [costly]}}).tests == [costly], "nothing else runs it"


def test_driver_without_a_map_has_a_test_of_each_subject() -> None:
    name = "drivers/s390/char/monreader.c"
    both = Applied({name: File(b"a\n")}, {name: File(b"b\n")}, {name: FileDiff(name, name)})
    found = choose(both, {}, 10)
    assert len({test.partition("::")[0] for test in found.tests}) == 10
    assert not any("endurance" in test for test in found.tests)


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        *(
            '{"6.1": {"tests": {"": ["a", "b"]}, "files": {"a.c": {"f": "%s"}}}}' % places
            for places in ("2", "1-2", "1-0", "0-", "x", "-1", "0-99999999999999")
        ),
    ],
)
def test_map_that_is_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "map.json").write_text(text)
    with pytest.raises(UsageError, match="is no map of tests"):
        read_map("6.1", tmp_path / "map.json")


def test_driver_without_a_map_has_the_tests_of_its_requirements() -> None:
    name = "drivers/s390/char/monwriter.c"
    both = Applied({name: File(b"a\n")}, {name: File(b"b\n")}, {name: FileDiff(name, name)})
    found = choose(both, {})
    files = {test.partition("::")[0].rpartition("/")[2] for test in found.tests}
    assert "test_monwriter.py" in files
    assert all(file.startswith("test_mon") for file in files - {"test_storage_above_2g.py"})
    other = "drivers/none.c"
    both = Applied({other: None}, {other: File(b"b\n")}, {other: FileDiff("/dev/null", other)})
    assert choose(both, {}).unknown == [other]
