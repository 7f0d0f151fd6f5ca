# SPDX-License-Identifier: MIT
"""Comparing what test programs say in two emulators: lists, results, runs of a fake emulator."""

from __future__ import annotations

import sys
from pathlib import Path

import kvm_unit_tests
import machine
import pytest
import unittests
from machine import Machine, variants
from results import End, Line, Run, compare, run_of
from unittests import Case, cases_of
from zvmlab.base.errors import EXIT_FAILED, EXIT_PASS, EXIT_USAGE, UsageError

LIST = '''\
# Two comments,
# the second one with key = value
[first]
file = one.elf
test_args = 'a word and -b 3'

[second]
file = two.elf
smp = 2
timeout = 20
groups = migration slow
extra_params = -m 1G -name "with blank"
[third]
file = three.elf
accel = kvm
qemu_params = """-smp 1,maxcpus=3 \\
-cpu qemu
"""
[fourth]
file = four.elf
groups = pv-host
'''


def test_a_list_of_tests() -> None:
    first, second, third, fourth = cases_of(LIST)
    assert first == Case("first", "one.elf", arguments="a word and -b 3")
    options = ("-m", "1G", "-name", "with blank")
    assert second == Case("second", "two.elf", 2, "", options, 20, groups=("migration", "slow"))
    assert third.options == ("-smp", "1,maxcpus=3", "-cpu", "qemu")
    assert [test.why_not() for test in (first, second, third, fourth)] == [
        *("", "", "needs kvm", "needs a host for protected guests")
    ]


def test_machines_of_a_test() -> None:
    first, second, third, _ = cases_of(LIST)
    assert [str(variant) for variant in variants(first)] == [
        *("first, 1 CPU", "first, 4 CPUs", "first, 1 CPU, -cpu max")
    ]
    assert [(variant.cpus, variant.model) for variant in variants(second)] == [
        *((2, ""), (4, ""), (2, "max"))
    ]
    # What its own options say stays.
    (only,) = variants(third)
    options = only.options(Path("/three.elf"))
    assert options.count("-smp") == options.count("-cpu") == 1
    assert options[-4:] == ["-smp", "1,maxcpus=3", "-cpu", "qemu"]
    labels = [variant.label for test in (first, second, third) for variant in variants(test)]
    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[a b]\nfile = x.elf", "'a b' is not the name of a test"),
        ("[..]\nfile = ../x.elf", r"\[..\] has file = '../x.elf'; it takes NAME.elf"),
        ("[a]\nsmp = 2", r"\[a\] has file = ''; it takes NAME.elf"),
        ("[a]\nfile = x.elf\nsmp = many", r"\[a\] has smp = 'many'; it takes 1 to 248"),
        ("[a]\nfile = x.elf\ntimeout = 0", r"\[a\] has timeout = '0'; it takes 1 to 3600"),
        ("[a]\nfile = x.elf\nqemu_params = -m '1", r"\[a\] has options that cannot be read"),
    ],
)
def test_a_list_that_cannot_be_used(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=f"^{unittests.LIST}: {said}"):
        cases_of(text)


@pytest.mark.parametrize("there", [(), ("configure",), ("s390x/unittests.cfg",)])
def test_a_folder_that_is_no_source_tree(
    tmp_path: Path, there: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    for name in there:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    argv = ["--source", str(tmp_path), "--build", str(tmp_path / "build")]
    assert kvm_unit_tests.main(argv) == EXIT_USAGE
    said = f"kvm-unit-tests: {tmp_path} is not a source tree of kvm-unit-tests: it has no conf"
    assert capsys.readouterr().err.startswith(said)
    assert not (tmp_path / "build").exists()


def test_no_folder_and_an_empty_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert kvm_unit_tests.main(["--source", "", "--build", "build"]) == EXIT_USAGE
    assert "no source tree given; say make kvm-unit-tests SOURCE=DIR" in capsys.readouterr().err
    (tmp_path / "s390x").mkdir()
    for name in ("configure", unittests.LIST):
        (tmp_path / name).write_text("# nothing\n")
    with pytest.raises(UsageError, match="unittests.cfg lists no tests"):
        unittests.read(tmp_path)


def test_what_a_program_says() -> None:
    said = (
        b"SMP: Initializing, found 2 cpus\r\nPASS: a: one\r\nINFO: a: 5 times\n"
        b"FAIL: a: two: expected(4) == received(0)\nSKIP: a: no facility\nnoise: PASS: no\n"
        b"XFAIL: b: known\nPASS: t: avg 12.5 worst 3.125 us\nSUMMARY: 5 tests\n\nEXIT: STATUS=3\n"
    )
    assert run_of(said, True) == Run(
        (
            Line("PASS", "a: one"),
            Line("FAIL", "a: two: expected(4) == received(0)"),
            Line("SKIP", "a: no facility"),
            Line("XFAIL", "b: known"),
            Line("PASS", "t: avg # worst # us"),
        ),
        End.EXIT,
        3,
    )
    assert run_of(said, False).end is End.LIMIT
    assert run_of(said.replace(b"EXIT", b"IT"), True).end is End.EMULATOR
    # Bytes that are no text end nothing.
    assert run_of(b"PASS: \xff\n", True).lines[0].verdict == "PASS"


def test_a_program_without_verdicts_has_lines() -> None:
    run = run_of(b"SMP: Initializing\nfound 78498 of 1000000\n\nEXIT: STATUS=1\n", True)
    assert run == Run((Line("", "found 78498 of 1000000"),), End.EXIT, 1)


def _run(*lines: str, end: End = End.EXIT, status: int | None = 1) -> Run:
    found = [line.partition(": ") for line in lines]
    return Run(tuple(Line(verdict, text) for verdict, _, text in found), end, status)


SAME = ("PASS: one", "FAIL: two", "SKIP: three", "PASS: one")


def test_equal_runs() -> None:
    found = compare(_run(*SAME), _run(*SAME))
    assert (found.worse, found.better) == ([], [])
    # CPUs speak in any order.
    found = compare(_run(*SAME), _run(*reversed(SAME)))
    assert (found.worse, found.better) == ([], [])


@pytest.mark.parametrize(
    ("ours", "worse", "better"),
    [
        (("PASS: one", "PASS: two", *SAME[2:]), [], ["PASS: two; in the other FAIL"]),
        ((*SAME[:2], "PASS: three", "PASS: one"), [], ["PASS: three; in the other SKIP"]),
        (("FAIL: one", *SAME[1:]), ["FAIL: one; in the other PASS"], []),
        ((*SAME[:3], "FAIL: one"), ["FAIL: one; in the other PASS"], []),
        (("SKIP: one", *SAME[1:]), ["SKIP: one; in the other PASS"], []),
        (("PASS: one", "XFAIL: two", *SAME[2:]), ["XFAIL: two; in the other FAIL"], []),
        (SAME[:3], ["missing: PASS: one"], []),
        ((*SAME, "PASS: four"), ["only in ours: PASS: four"], []),
        (("PASS: two", *SAME[2:]), ["missing: PASS: one"], ["PASS: two; in the other FAIL"]),
    ],
)
def test_runs_that_differ(ours: tuple[str, ...], worse: list[str], better: list[str]) -> None:
    found = compare(_run(*SAME), _run(*ours, status=5 if worse or better else 1))
    assert (found.worse, found.better) == (worse, better)


def test_lines_that_are_known_to_differ() -> None:
    found = compare(_run(*SAME), _run("FAIL: one", *SAME[1:3], "FAIL: one", status=3), ("on",))
    assert (found.worse, found.better) == ([], [])
    assert found.known == 2 * ["FAIL: one; in the other PASS"]
    # Others are not.
    found = compare(_run("PASS: two"), _run("FAIL: two"), ("on",))
    assert found.worse == ["FAIL: two; in the other PASS"] and not found.known
    # Whoever corrects it takes it off the list.
    found = compare(_run("PASS: one"), _run("PASS: one"), ("on",))
    assert found.worse == ["known to differ, and does not: PASS: one"]


def test_runs_that_end_otherwise() -> None:
    early = _run("PASS: one", end=End.LIMIT, status=None)
    whole = _run("PASS: one", "PASS: two", "FAIL: three")
    found = compare(whole, early)
    assert found.worse[:2] == ["missing: PASS: two", "missing: FAIL: three"]
    assert found.worse[2:] == ["does not end; in the other ends"] and found.better == []
    found = compare(early, whole)
    assert found.worse == ["only in ours: FAIL: three"]
    assert found.better == ["only in ours: PASS: two", "ends; in the other does not end"]
    assert compare(early, early).worse == []
    found = compare(_run("PASS: one"), _run("PASS: one", status=3))
    assert found.worse == ["exit status 3; in the other 1"]
    # Neither has a status if the emulator just ends.
    found = compare(_run("PASS: one"), _run("PASS: one", end=End.EMULATOR, status=None))
    assert found.worse == ["ends without an exit status; in the other ends"]


# Takes QEMU's options, and says what the file of -kernel has for its name.
EMULATOR = """\
#!{python}
import sys, time
kernel = sys.argv[sys.argv.index("-kernel") + 1]
exec(open(kernel).read(), {{"argv": sys.argv}})
"""


def _emulator(path: Path, kernel: str) -> Path:
    path.write_text(EMULATOR.format(python=sys.executable))
    path.chmod(0o755)
    (path.parent / "program").write_text(kernel)
    return path


def _run_in(tmp_path: Path, kernel: str, seconds: float = 60) -> Run:
    emulator = _emulator(tmp_path / "emulator", kernel)
    options = ["-kernel", str(tmp_path / "program")]
    return Machine(emulator, options, seconds, tmp_path / "run").run()


def test_a_run_to_its_end(tmp_path: Path) -> None:
    run = _run_in(tmp_path, 'import sys; print("PASS: x\\nEXIT: STATUS=1"); sys.exit(3)')
    assert run == _run("PASS: x")
    # What the emulator itself says is no result.
    run = _run_in(tmp_path, 'import sys; sys.stderr.write("PASS: y\\n"); print("PASS: x")')
    assert run == _run("PASS: x", end=End.EMULATOR, status=None)
    assert (tmp_path / "run" / "emulator.log").read_text() == "PASS: y\n"


def test_a_program_that_skips_its_migration_gets_a_key(tmp_path: Path) -> None:
    text = 'print("Skipped VM migration (quiet)", flush=True); input(); print("PASS: x\\nEXIT: STATUS=1")'
    assert _run_in(tmp_path, text) == _run("PASS: x")


def test_runs_that_do_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # By CPU time, which another process does not use up.
    run = _run_in(tmp_path, 'print("PASS: x", flush=True)\nwhile True: pass', 1)
    assert run == _run("PASS: x", end=End.LIMIT, status=None)
    monkeypatch.setattr(machine, "IDLE_SECONDS", 0.5)
    run = _run_in(tmp_path, "import time; time.sleep(600)")
    assert run == _run(end=End.LIMIT, status=None)


def _tree(folder: Path, program: str) -> Path:
    """A source tree whose compiled program is this text."""
    (folder / "s390x").mkdir(parents=True)
    (folder / unittests.LIST).write_text("[a]\nfile = a.elf\n[b]\nfile = b.elf\n")
    rule = f"all directories test_cases:\n\tmkdir -p s390x; cp {folder}/program s390x/a.elf\n"
    (folder / "rules").write_text(rule)
    (folder / "program").write_text(program)
    (folder / "configure").write_text(f"#!/bin/sh\ncp {folder}/rules Makefile\n")
    (folder / "configure").chmod(0o755)
    return folder


@pytest.mark.parametrize(
    ("verdicts", "code", "said"),
    [
        (("PASS", "PASS"), EXIT_PASS, "a, 1 CPU: 1 lines, same\n"),
        (("FAIL", "PASS"), EXIT_PASS, "1 better\n    better: PASS: x; in the other FAIL\n"),
        (("PASS", "FAIL"), EXIT_FAILED, "1 differ\n    differs: FAIL: x; in the other PASS\n"),
    ],
)
def test_from_sources_to_a_verdict(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    verdicts: tuple[str, str],
    code: int,
    said: str,
) -> None:
    # The program finds out in which emulator it runs.
    text = 'print(argv[0].rsplit("/", 1)[1] + ": x\\nEXIT: STATUS=1")'
    source = _tree(tmp_path / "source", text)
    for name in ("theirs", "ours"):
        (tmp_path / name).mkdir()
    theirs = _emulator(tmp_path / "theirs" / verdicts[0], "")
    ours = _emulator(tmp_path / "ours" / verdicts[1], "")
    monkeypatch.setattr(kvm_unit_tests, "STOCK", theirs)
    monkeypatch.setattr(kvm_unit_tests, "build_qemu", lambda: ours)
    argv = ["--source", str(source), "--build", str(tmp_path / "build")]
    assert kvm_unit_tests.main(argv) == code
    shown = capsys.readouterr().out
    assert said in shown
    assert "\n1 tests, 3 runs in each emulator, 3 lines: " in shown
    assert shown.endswith("\nnot run: b: was not compiled\n")
    assert {path.name for path in source.iterdir()} == {"s390x", "rules", "program", "configure"}
