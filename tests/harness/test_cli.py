# SPDX-License-Identifier: MIT
"""The zvmlab command: one clear sentence, the right exit code, no process left behind."""

from __future__ import annotations

import argparse
import importlib
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_guest import SECONDS, Fake, fake

from zvmlab.base.errors import UsageError
from zvmlab.base.owned import is_ours
from zvmlab.base.version import __version__
from zvmlab.cli.commands import COMMANDS, GROUPS
from zvmlab.cli.guest import check_program
from zvmlab.cli.main import main, parser
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.console import Console
from zvmlab.guest.guest import Guest

__all__ = ["fake"]  # a fixture: importing it is using it
ZVMLAB = Path(__file__).resolve().parents[2] / "zvmlab"
COMPILER = "s390x-linux-gnu-gcc"
needs_compiler = pytest.mark.skipif(not shutil.which(COMPILER), reason=f"{COMPILER} is missing")


def _zvmlab(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(ZVMLAB), *arguments],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
        check=False,
    )


def _in_this_process(
    capsys: pytest.CaptureFixture[str], *arguments: str
) -> subprocess.CompletedProcess[str]:
    """The same in a hundredth of the time."""
    try:
        code: object = main(arguments)
    except SystemExit as end:
        code = end.code
    assert isinstance(code, int)
    out, err = capsys.readouterr()
    return subprocess.CompletedProcess(arguments, code, out, err)


def _one_sentence(done: subprocess.CompletedProcess[str], code: int, *words: str) -> None:
    lines = [line for line in done.stderr.splitlines() if line]
    assert done.returncode == code, done.stderr
    assert len(lines) == 1 and lines[0].startswith("zvmlab: "), done.stderr
    for word in words:
        assert word in lines[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ("the following arguments are required: COMMAND", "see zvmlab --help")),
        (["nosuch"], ("invalid choice: 'nosuch'",)),
        (["run"], ("required: PROGRAM", "see zvmlab run --help")),
        (["run", "--nosuch", "--", "true"], ("--nosuch",)),
        (["run", "--cpus", "two", "--", "true"], ("--cpus: invalid int value: 'two'",)),
        (
            ["run", "--cpus", "65", "--", "true"],
            ("invalid number of CPUs: 65 (qemu supports 1 to 64)",),
        ),
        (["run", "--storage", "lots", "--", "true"], ("storage extent 'lots'", "0.140M")),
        (["run", "--segment", "X", "--", "true"], ("segment 'X'", "MONDCSS 9000-97FF SC RSTD")),
        (["run", "--cp", "userid", "--", "true"], ("invalid --cp: userid (KEY=VALUE",)),
        (["run", "--cp", "storage=1M", "--", "true"], ("storage has an option of its own",)),
        (["run", "--timeout", "0", "--", "true"], ("0 is not a number of seconds",)),
        (["run", "--timeout", "x", "--", "true"], ("x is not a number of seconds up to 86400",)),
        (["redeliver", "--timeout", "86401", "f"], ("86401 is not a number of seconds up to",)),
        (["fabricate", "--hours", "nan", "--out", "x"], ("nan is not a number of hours",)),
        (["fabricate", "--hours", "8785", "--out", "x"], ("not a number of hours up to 8784",)),
        (["run", "--workload", "w", "--hours", "-1", "true"], ("-1 is not a number of hours",)),
        (["run", "--file", "/nosuch", "--", "true"], ("--file /nosuch: /nosuch is not a file",)),
        (["run", "--file", "/bin/sh:sh", "--", "true"], ("path sh does not begin with /",)),
        (["run", "./nosuch"], ("no such program: ./nosuch",)),
        (["run", "/bin/true"], ("/bin/true is a program for another machine", "-static")),
        (["run", "--name", "a/b", "--", "true"], ("'a/b' is not 1 to 32 letters",)),
        (["run", "--kernel", "/nosuch/bzImage", "--", "true"], ("/nosuch/bzImage",)),
        (["run", "--kernel", "buster", "--", "true"], ("'buster' is neither a suite",)),
        (["cp", "QUERY TIME"], ("no guest is running; start one with zvmlab shell",)),
        (["cp", "--guest", "x", "QUERY TIME"], ("no such running guest: x",)),
        (["run", "--hours", "1", "true"], ("--hours and --pace need a workload; name one",)),
        (["fabricate", "--out", "x"], ("--workload is missing: name the file of a system",)),
        (["replay", "/none"], ("/none cannot be read: No such file",)),
        (["diff", "nothing"], ("invalid choice: 'nothing' (possible: drivers, emulators)",)),
        (["run", "--workload", "/none", "true"], ("/none cannot be read: No such file",)),
        (
            ["run", "--workload", "/none", "--pace", "x", "true"],
            ("invalid --pace: x (original, max",),
        ),
        (["run", "--workload", "/none", "--out", "/none", "true"], ("/none is not a folder",)),
        (["demo", "--sets", "0"], ("invalid --sets: 0 (1 to 11000)",)),
    ],
)
def test_wrong_usage(
    fake: Fake,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    words: tuple[str, ...],
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    _one_sentence(_in_this_process(capsys, *arguments), 2, *words)


def test_a_missing_emulator(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZVMLAB_QEMU", "/nosuch/qemu")
    _one_sentence(_zvmlab("build"), 2, "ZVMLAB_QEMU is not a program: /nosuch/qemu")


def test_debugging_shows_where(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZVMLAB_DEBUG", "1")
    done = _zvmlab("cp", "QUERY TIME")
    assert done.returncode == 2 and "Traceback" in done.stderr


def test_help_of_every_command_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    for command in COMMANDS:
        with pytest.raises(SystemExit) as caught:
            parser().parse_args([command, "--help"])
        assert caught.value.code == 0
        assert f"zvmlab {command}" in capsys.readouterr().out.partition("\nexamples:\n")[2]


def test_help_shows_commands_in_groups(capsys: pytest.CaptureFixture[str]) -> None:
    """Each beside what it does, below the title of its group, and in the order of the table."""
    with pytest.raises(SystemExit):
        parser().parse_args(["--help"])
    text = capsys.readouterr().out
    below = text.partition("\ncommands:\n")[2].partition("\n\n")[0]
    shown = re.findall(r"^  (\w[\w ]*)$|^    (\w+) +\S", below, re.MULTILINE)
    wanted = []
    for title, names in GROUPS.items():
        wanted += [(title, ""), *(("", name) for name in names)]
    assert shown == wanted


def test_version() -> None:
    done = _zvmlab("--version")
    assert (done.returncode, done.stdout) == (0, f"zvmlab {__version__}\n")


def test_program_and_its_options_are_told_apart() -> None:
    for line in (
        ["run", "--cpus", "2", "prog", "--cpus", "3"],
        ["run", "--cpus", "2", "--", "prog", "--cpus", "3"],
    ):
        found = parser().parse_args(line)
        assert (found.cpus, found.program) == (2, "prog")
        assert found.arguments == ["--cpus", "3"]


def test_guests_are_cold_when_asked_for() -> None:
    for command in (["run", "true"], ["shell"], ["demo"]):
        assert not parser().parse_args(command).cold
        assert parser().parse_args([command[0], "--cold", *command[1:]]).cold


def test_output_on_a_full_disk(fake: Fake) -> None:
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run(
            [str(ZVMLAB), "doctor"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 77
    assert done.stderr == "zvmlab: cannot go on: No space left on device\n"


def test_output_that_the_locale_has_no_characters_for(tmp_path: Path) -> None:
    """Names are of everywhere."""
    table = tmp_path / "bugs.toml"
    table.write_text(
        '[[bug]]\nid = "a"\nsubject = "s390 – a"\nauthor = "Zoë"\nyear = 2020\nfile = "a.c"\n'
        'edit = []\nhow = "b"\njudge = "c"\nmissing = "d"\n',
        encoding="utf-8",
    )
    done = subprocess.run(
        [str(ZVMLAB), "museum", "show", "a", "--table", str(table)],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "s390 \\u2013 a, Zo\\xeb, 2020" in done.stdout


def test_output_to_nobody(fake: Fake) -> None:
    done = subprocess.run(
        ["bash", "-c", f"{ZVMLAB} doctor | true; exit ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1) and done.stderr == ""


def _begun_with(before: Callable[[], object], *closed: int) -> tuple[int, str]:
    """`zvmlab list`, begun by a process that has done something before; exit code, standard error."""
    files = {number: subprocess.PIPE for number in (1, 2) if number not in closed}

    def prepare() -> None:
        for number in closed:
            os.close(number)
        before()

    done = subprocess.run(
        [str(ZVMLAB), "list"],
        stdout=files.get(1),
        stderr=files.get(2),
        text=True,
        timeout=SECONDS,
        check=False,
        preexec_fn=prepare,
    )
    return done.returncode, done.stderr or ""


def test_standard_files_that_are_closed(fake: Fake) -> None:
    said = "zvmlab: standard output is closed; send it to a file, or to /dev/null\n"
    assert _begun_with(lambda: None, 1) == (2, said)
    assert _begun_with(lambda: None, 0, 2) == (0, "")
    assert _begun_with(lambda: None, 0, 1, 2) == (2, "")


def _few(soft: int, hard: int) -> Callable[[], object]:
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_few_descriptors(fake: Fake) -> None:
    """As many as are allowed are taken."""
    said = "zvmlab: this process may have only 63 files open, and needs 64; allow more with"
    code, err = _begun_with(_few(63, 63))
    assert (code, err) == (77, f"{said} 'ulimit -n 1024'\n")
    assert _begun_with(_few(32, 64)) == (0, "")
    assert _begun_with(_few(64, 64)) == (0, "")


def _interrupt_at_once() -> None:
    """The signal comes as soon as somebody can take it."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    os.kill(os.getpid(), signal.SIGINT)


def test_interrupted_before_anything_is_imported(fake: Fake) -> None:
    assert _begun_with(_interrupt_at_once) == (130, "zvmlab: interrupted\n")


def _ignore_and_interrupt() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _interrupt_at_once()


def test_interruption_that_is_ignored_stays_ignored(fake: Fake) -> None:
    assert _begun_with(_ignore_and_interrupt) == (0, "")


def test_hangup_that_is_ignored_stays_ignored(capsys: pytest.CaptureFixture[str]) -> None:
    """As nohup(1) has it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert main(["scenarios"]) == 0
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_cp_and_list_find_a_running_guest(fake: Fake) -> None:
    with Guest(GuestConfig(name="here"), fake.folder / "logs", fake.artifacts) as guest:
        guest.start()
        done = _zvmlab("cp", "QUERY TIME", "QUERY NAMES")
        assert (done.returncode, done.stdout) == (0, "OK QUERY TIME\nOK QUERY NAMES\n")
        assert _zvmlab("cp", "--guest", "here", "Q TIME").stdout == "OK Q TIME\n"
        listing = _zvmlab("list").stdout.split()
        assert listing == ["here", "pid", str(os.getpid()), "1", "CPU", "kernel", "fake"]
    assert _zvmlab("list").stdout == ""


def _run(fake: Fake, *options: str) -> subprocess.Popen[str]:
    """zvmlab run with the fake emulator, a local kernel and a program that need no network."""
    (fake.folder / "program").write_bytes(_elf())
    # What runs the tests may ignore SIGHUP, as nohup does, and its children with it.
    argv = ["env", "--default-signal=HUP", str(ZVMLAB), "run"]
    argv += ["--kernel", str(fake.folder / "kernel"), *options]
    return subprocess.Popen(
        [*argv, str(fake.folder / "program")],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _elf(machine: int = 22, interpreter: bool = False) -> bytes:
    ident = b"\x7fELF\x02\x02\x01" + bytes(9)
    header = ident + struct.pack(">HHIQQQIHHHHHH", 2, machine, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    return header + struct.pack(">IIQQQQQQ", 3 if interpreter else 1, 5, 0, 0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"#!/bin/sh\n", "run a script with zvmlab run --file"),
        (b"", "is not a program for s390x"),
        (_elf(machine=62), "is a program for another machine"),
        (_elf(interpreter=True), "needs shared libraries"),
        (_elf()[:20], "is damaged"),
    ],
)
def test_programs_that_cannot_run(tmp_path: Path, data: bytes, text: str) -> None:
    path = tmp_path / "program"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=text):
        check_program(path)


def test_programs_that_can_run(tmp_path: Path) -> None:
    path = tmp_path / "program"
    path.write_bytes(_elf())
    check_program(path)


@needs_compiler
def test_panic_is_255_with_the_consoles_tail(fake: Fake) -> None:
    fake.mode("panic")
    out, err = _run(fake).communicate(timeout=SECONDS)
    assert "Kernel panic - not syncing: fake\n[    1.000001] CPU: 0 PID: 1" in err
    assert "zvmlab: the guest's kernel reported a panic" in err.splitlines()[-1]
    assert out == ""


@needs_compiler
@pytest.mark.parametrize(("mode", "code", "word"), [
    ("panic", 255, "reported a panic"),
    ("die", 1, "the emulator was killed by SIGKILL"),
    ("refuse", 2, "the CP refuses its configuration: no such option"),
    ("exit", 1, "powered off unasked"),
    ("term", 1, "the emulator was ended by SIGTERM from process 7 (kill)"),
])  # fmt: skip
def test_exit_codes(fake: Fake, mode: str, code: int, word: str) -> None:
    fake.mode(mode)
    process = _run(fake)
    _, err = process.communicate(timeout=SECONDS)
    assert process.returncode == code
    assert word in err.splitlines()[-1]


@needs_compiler
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGKILL, -9)],
)
def test_signals_leave_no_emulator(fake: Fake, number: signal.Signals, code: int) -> None:
    process = _run(fake)
    assert fake.pid
    time.sleep(0.3)
    process.send_signal(number)
    _, err = process.communicate(timeout=SECONDS)
    assert process.returncode == code
    assert err == ("zvmlab: interrupted\n" if number == signal.SIGINT else "")
    assert fake.gone()
    for left in filter(
        is_ours, fake.run.iterdir()
    ):  # SIGKILL leaves a directory, which the next guest removes
        assert number == signal.SIGKILL
        assert _zvmlab("list").stdout == ""
        shutil.rmtree(left)


@needs_compiler
def test_kept_logs(fake: Fake) -> None:
    fake.mode("panic")
    keep = fake.folder / "kept"
    _run(fake, "--keep", str(keep)).communicate(timeout=SECONDS)
    assert "Kernel panic" in Console(keep / "console.log").text()
    assert (keep / "emulator.log").exists()


@needs_compiler
def test_logs_that_cannot_be_kept(fake: Fake) -> None:
    process = _run(fake, "--keep", "/dev/null/logs")
    _, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 77
    assert err == (
        "zvmlab: cannot write /dev/null/logs (Not a directory); free some space or choose another"
        " place with ZVMLAB_RUN or --keep\n"
    )


def test_outside_the_main_thread(capsys: pytest.CaptureFixture[str]) -> None:
    """Signals cannot be caught there; everything else is as usual."""
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(main(["scenarios"])))
    thread.start()
    thread.join(60)
    assert codes == [0] and "read-one-set" in capsys.readouterr().out


def test_the_help_imports_no_command() -> None:
    """Its lines are those of the whole parser, and what is slow to import is not."""
    assert parser(["--help"]).format_help() == parser().format_help()
    found = _imported("from zvmlab.cli.main import parser; parser(['--help']).format_help()")
    assert {name for name in found if name.startswith("zvmlab.cli.")} == {
        *("zvmlab.cli.main", "zvmlab.cli.commands", "zvmlab.cli.say", "zvmlab.cli.translate")
    }
    assert not found & {"rich", "dataclasses", "subprocess", "shutil", "zvmlab.base.cache"}


def _imported(code: str) -> set[str]:
    """The modules that a Python of its own has imported after it has executed *code*."""
    env = {**os.environ, "PYTHONPATH": str(ZVMLAB.parent / "harness"), "LC_ALL": "C"}
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"{code}; import sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        env=env,
        timeout=60,
    )
    return set(done.stdout.split())


def test_the_version_imports_next_to_nothing() -> None:
    code = "import sys; sys.argv[1:] = ['--version']; from zvmlab.cli.start import main; main()"
    found = _imported(code) - _imported("import os")
    assert found - {__version__, "zvmlab"} == {
        *("zvmlab.base", "zvmlab.base.version", "zvmlab.cli", "zvmlab.cli.start", "__future__")
    }


def test_a_guest_in_qemu_without_faults_imports_what_it_needs() -> None:
    found = _imported("from zvmlab.cli import guest")
    assert "zvmlab.guest.guest" in found
    assert not found & {
        *("zvmlab.guest.hercules", "zvmlab.guest.stacks", "zvmlab.guest.lockstep"),
        *("zvmlab.cp.faults", "zvmlab.cp.fault_points", "concurrent.futures", "logging"),
    }


@pytest.mark.parametrize("module", sorted({command.module for command in COMMANDS.values()}))
def test_each_module_has_the_commands_that_the_table_says(module: str) -> None:
    top = argparse.ArgumentParser()
    commands = top.add_subparsers()
    importlib.import_module(f"zvmlab.cli.{module}").add_commands(commands)
    wanted = [name for name, command in COMMANDS.items() if command.module == module]
    assert sorted(commands.choices) == sorted(wanted)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_parsed_as_by_the_whole_parser(name: str) -> None:
    """Of the others it knows the names alone."""

    def help_of(whole: argparse.ArgumentParser) -> str:
        found = next(a for a in whole._actions if isinstance(a, argparse._SubParsersAction))
        text: str = found.choices[name].format_help()
        return text

    assert help_of(parser([name])) == help_of(parser())
