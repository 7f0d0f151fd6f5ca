# SPDX-License-Identifier: MIT
"""zvmlab up: a system out of a file, used by the other commands, and what is left of it: nothing."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet
from children import alive, children
from test_shell import read_until, type_keys
from waiting import exit_code, run_within, wait_until

from zvmlab.base.owned import MARK
from zvmlab.base.tree import TREE
from zvmlab.cp.control import Control
from zvmlab.guest.run_dir import find_guest, running_systems

pytestmark = pytest.mark.first_kernel
SECONDS = 300.0
FILE = """
[users.ALICE]
kernel = {kernel}
tools = ["iucvconn"]

[users.BOB]
kernel = {kernel}
cpus = 2
"""


def zvmlab(*words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """A command of another terminal."""
    return run_within(SECONDS, [sys.executable, TREE / "zvmlab", *words], stdin)


class Up:
    """zvmlab up, and where it writes."""

    def __init__(self, process: subprocess.Popen[bytes], output: Path) -> None:
        self.process = process
        self.output = output

    @property
    def lines(self) -> list[str]:
        """All that it has said."""
        return self.output.read_text().splitlines()

    def wait_line(self, beginning: str) -> None:
        """Until a line begins so."""

        def there() -> bool:
            assert self.process.poll() is None, self.lines
            return any(line.startswith(beginning) for line in self.lines)

        wait_until(there, beginning, limit=SECONDS)

    def children(self) -> list[int]:
        """Its emulators, and the process that has CP."""
        return children(self.process)


@contextlib.contextmanager
def up(file: Path, name: str, *options: str) -> Iterator[Up]:
    """One that has just been started."""
    # What runs the tests may ignore SIGHUP, as nohup does, and its children with it.
    argv = [
        "env",
        "--default-signal=HUP,QUIT",
        sys.executable,
        str(TREE / "zvmlab"),
        "up",
        str(file),
    ]
    argv += ["--name", name, *options]
    output = file.with_suffix(".log")
    with (
        open(output, "wb") as log,
        subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log) as process,
    ):
        try:
            yield Up(process, output)
        finally:
            process.kill()


@contextlib.contextmanager
def shell(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    """zvmlab shell of a running guest, whose prompt has come."""
    with subprocess.Popen(
        [sys.executable, str(TREE / "zvmlab"), "shell", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            read_until(process, b"guest# ")
            yield process
        finally:
            process.kill()


def await_prompt(terminal: subprocess.Popen[bytes]) -> None:
    """Press Enter now and then: what comes before iucvconn is there is lost."""
    assert terminal.stdout is not None
    stdout, said = terminal.stdout, b""

    def shown() -> bool:
        nonlocal said
        type_keys(terminal, b"\n")
        if select.select([stdout], [], [], 1.0)[0]:
            said += os.read(stdout.fileno(), 65536)
        return b"guest# " in said

    wait_until(shown, "the prompt of the other guest's shell")


@pytest.fixture
def file(zvmlab_kernel: str, zvmlab_dir: Path) -> Path:
    place = zvmlab_dir / "two.toml"
    place.write_text(FILE.format(kernel=repr(zvmlab_kernel)))
    return place


@pytest.fixture
def name() -> str:
    """Of a system that no other test has."""
    return f"t{os.urandom(4).hex()}"


@pytest.mark.requirement("S4", "S7")
def test_its_guests_are_used_by_other_commands(file: Path, name: str) -> None:
    there = ("--system", name, "--guest")
    with up(file, name) as system:
        system.wait_line("ALICE    is up: Linux ")
        system.wait_line("BOB      is up: Linux ")
        assert system.lines[:2] == ["ALICE    logs on", "BOB      logs on"]

        done = zvmlab("run", *there, "BOB", "--", "cat", stdin=b"both ways")
        assert (done.returncode, done.stdout, done.stderr) == (0, b"both ways", b"")
        done = zvmlab("run", *there, "alice", "--", "sh", "-c", "exit 7")
        assert done.returncode == 7
        done = zvmlab("run", *there, "BOB", "--", "grep", "VM00 Name", "/proc/sysinfo")
        assert done.stdout.split() == [b"VM00", b"Name:", b"BOB"]
        sleeper = ("sh", "-c", "echo $$ > /tmp/pid; exec sleep 1000")
        done = zvmlab("run", *there, "BOB", "--timeout", "1", "--", *sleeper)
        assert (done.returncode, done.stdout) == (124, b"")
        assert b"did not end within 1 s" in done.stderr
        gone = ("sh", "-c", "test ! -e /proc/$(cat /tmp/pid)")
        assert zvmlab("run", *there, "BOB", "--", *gone).returncode == 0

        said = zvmlab("cp", *there, "BOB", "QUERY NAMES", "QUERY USERID").stdout.decode()
        assert "ALICE    - DSC" in said and "BOB      AT " in said
        listed = zvmlab("list").stdout.decode().splitlines()
        begin = next(n for n, line in enumerate(listed) if line.startswith(name))
        assert f"system of 2 guests  file {file}" in listed[begin]
        assert [line.split()[0] for line in listed[begin + 1 : begin + 3]] == ["ALICE", "BOB"]

        with shell(*there, "ALICE") as terminal:
            type_keys(terminal, b"stty rows 33 cols 99; iucvconn BOB lnxhvc0\n")
            await_prompt(terminal)  # BOB's: ALICE's own comes only after iucvconn
            type_keys(terminal, b"grep 'VM00 Name' /proc/sysinfo\n")
            said = read_until(terminal, b"BOB").decode("ascii", "replace")
            assert re.search(r"VM00 Name: +BOB\b", said), said
            type_keys(terminal, b"stty size\n")
            read_until(terminal, b"33 99\r\n")
            type_keys(terminal, b"seq 100000; echo end of $((4 + 3)) lines\n")
            said = read_until(terminal, b"end of 7 lines").decode("ascii", "replace")
            assert re.findall(r"^(\d+)\r$", said, re.M) == [str(n) for n in range(1, 100_001)]
        calls = zvmlab("trace", *there, "ALICE", "--call", "iucv.connect").stdout
        assert b"iucv.connect to BOB" in calls

        done = zvmlab("up", str(file), "--name", name)
        assert done.returncode == 2
        assert f"the system {name} of {file} is up (process {system.process.pid})" in (
            done.stderr.decode()
        )
        done = zvmlab("run", *there, "BOB", "--cpus", "2", "--", "true")
        assert done.returncode == 2
        assert b"--cpus is for a new guest" in done.stderr

        zvmlab("run", *there, "ALICE", "--", "poweroff", "-f")
        system.wait_line("ALICE    has logged off")
        assert b"ALICE" not in zvmlab("cp", *there, "BOB", "QUERY NAMES").stdout
        started = system.children()
        assert len(started) == 2  # BOB's, and CP's
        system.process.send_signal(signal.SIGINT)
        assert exit_code(system.process, SECONDS) == 0
        for pid in started:
            assert not alive(pid)
        assert name not in [found.name for found in running_systems()]


@pytest.mark.requirement("S10")
def test_logged_on_by_another(file: Path, name: str) -> None:
    """A user with autolog waits until XAUTOLOG asks for it; after its end it can be asked for again."""
    file.write_text(file.read_text() + 'autolog = "ALICE"\n')
    with up(file, name) as system, contextlib.ExitStack() as stack:
        system.wait_line("ALICE    is up: Linux ")
        assert system.lines[0] == "ALICE    logs on"
        alice = stack.enter_context(Control.connect(find_guest("ALICE", name).control, SECONDS))
        for number in range(2):
            assert alice.cp("QUERY BOB").response == "HCPCQU045E BOB not logged on\n"
            assert alice.cp("XAUTOLOG BOB").response == "Command accepted\n"
            wait_until(
                lambda: sum(line.startswith("BOB      is up") for line in system.lines) > number,
                "BOB",
                limit=SECONDS,
            )
            words = ("--system", name, "--guest", "BOB", "--", "grep", "VM00 Name", "/proc/sysinfo")
            assert zvmlab("run", *words).stdout.split()[-1] == b"BOB"
            # One that is there is not started again.
            assert alice.cp("XAUTOLOG BOB").rc != 0
            assert alice.cp("FORCE BOB").rc == 0
            wait_until(
                lambda: system.lines.count("BOB      has logged off") > number,
                "the log-off of BOB",
                lambda: system.lines,
                limit=SECONDS,
            )
        system.process.send_signal(signal.SIGINT)
        assert exit_code(system.process, SECONDS) == 0
        assert sum(line == "BOB      logs on" for line in system.lines) == 2


@pytest.mark.requirement("S18")
def test_the_next_start_goes_on_from_the_first(file: Path, name: str) -> None:
    """Saved when all were up: the next one has what the first one's guests had then, and nothing later."""
    there = ("--system", name, "--guest")
    for start in (1, 2):
        with up(file, name) as system:
            system.wait_line("ALICE    is up: Linux ")
            system.wait_line("BOB      is up: Linux ")
            for user in ("ALICE", "BOB"):
                later = "test ! -e /tmp/later && echo > /tmp/later"
                done = zvmlab("run", *there, user, "--", "sh", "-c", later)
                assert done.returncode == 0, done.stderr
            calls = zvmlab("trace", "--system", name, "--call", "state.load").stdout
            # The cache may have it already at the first.
            assert calls.count(b"state.load") == 1 or start == 1
            said = zvmlab("run", *there, "ALICE", "--", "grep", "VM00 Name", "/proc/sysinfo")
            assert said.stdout.split()[2] == b"ALICE"
            system.process.send_signal(signal.SIGINT)
            assert exit_code(system.process, SECONDS) == 0


HANDLED = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


def ending_signals() -> Iterator[ParameterSet]:
    """All that end a program which does not handle them: signal(7)."""
    others = {"CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "WINCH"}
    ignored_by_python = {"PIPE", "XFSZ"}
    usual = {*HANDLED, signal.SIGKILL, signal.SIGQUIT}
    for number in signal.Signals:
        name = number.name.removeprefix("SIG")
        if name not in others | ignored_by_python and number < signal.SIGRTMIN:
            yield pytest.param(number, id=name, marks=() if number in usual else pytest.mark.full)


@pytest.mark.requirement("S7")
@pytest.mark.parametrize("number", ending_signals())
def test_killed(file: Path, name: str, number: signal.Signals) -> None:
    """While its guests boot: no process is left, and what some signals leave the next one removes."""
    with up(file, name) as system:
        system.wait_line("BOB      logs on")
        wait_until(lambda: len(system.children()) == 3, "two emulators, and CP's process")
        started = system.children()
        system.process.send_signal(number)
        assert exit_code(system.process, SECONDS) == HANDLED.get(number, -number)
        wait_until(lambda: not any(map(alive, started)), "the end of what it has started")
    assert name not in [found.name for found in running_systems()]
    done = zvmlab("cp", "--system", name, "QUERY NAMES")
    assert (done.returncode, done.stdout) == (2, b"")
    assert f"no such running system: {name}" in done.stderr.decode()


def refused(file: Path, code: int) -> str:
    """The one sentence after which nothing is left."""
    done = zvmlab("up", str(file))
    assert done.returncode == code, done.stderr
    assert os.listdir(os.environ["ZVMLAB_RUN"]) in ([], [MARK])
    lines = [line for line in done.stderr.decode().splitlines() if line.startswith("zvmlab: ")]
    assert len(lines) == 1
    # What a user has written wrong is found before anybody logs on.
    assert code != 2 or b"logs on" not in done.stdout + done.stderr
    return lines[0]


@pytest.fixture
def run_dir(zvmlab_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Running guests of this test alone."""
    with tempfile.TemporaryDirectory(prefix="zvmlab-test-", dir="/tmp") as folder:
        monkeypatch.setenv("ZVMLAB_RUN", folder)
        yield Path(folder)


@pytest.mark.requirement("S7")
def test_a_second_one_of_the_file(file: Path, name: str) -> None:
    """One sentence that names the first, which goes on."""
    with up(file, name) as system:
        system.wait_line("BOB      is up: Linux ")
        done = zvmlab("up", str(file), "--name", name)
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr.decode() == (
            f"zvmlab: the system {name} of {file} is up (process {system.process.pid}) already;"
            " choose another name\n"
        )
        done = zvmlab("cp", "--system", name, "--guest", "ALICE", "QUERY USERID")
        assert done.stdout.startswith(b"ALICE ")
        system.process.send_signal(signal.SIGINT)
        assert system.process.wait(SECONDS) == 0


@pytest.mark.requirement("S7")
def test_an_emulator_that_ends_at_once(
    file: Path, run_dir: Path, zvmlab_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last line of its log is told."""
    emulator = zvmlab_dir / "emulator"
    emulator.write_text("#!/bin/sh\necho first\necho no such machine\nexit 3\n")
    emulator.chmod(0o755)
    monkeypatch.setenv("ZVMLAB_QEMU", str(emulator))
    said = refused(file, 1)
    assert said == "zvmlab: ALICE: the emulator ended with exit code 3: no such machine"


@pytest.mark.requirement("S7")
def test_a_socket_whose_path_is_too_long(
    file: Path, run_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZVMLAB_RUN", str(run_dir / ("x" * 90)))
    assert "is too long:" in refused(file, 2)


@pytest.mark.requirement("S7")
def test_more_memory_than_is_free(
    file: Path, run_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text(file.read_text() + 'storage = "1000G"\n')
    said = refused(file, 2)
    assert "the users' storage takes 1024152 MiB (ALICE 152 MiB, BOB 1024000 MiB)" in said


@pytest.mark.requirement("S7")
@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('level = "8"', 'level "8": expected version.release.modification, such as 7.3.0'),
        ('machine = "z15"', 'machine "z15": expected a machine type of 4 digits, such as 8561'),
        ('segments = {ONE = "9001-9000 SR"}', 'segment "ONE 9001-9000 SR": expected '),
    ],
)
def test_a_system_that_cp_refuses(file: Path, run_dir: Path, line: str, sentence: str) -> None:
    file.write_text(f"{line}\n{file.read_text()}")
    assert refused(file, 2).startswith(f"zvmlab: {file}: {sentence}")


@pytest.mark.requirement("S7")
def test_a_machine_that_cp_refuses(file: Path, run_dir: Path) -> None:
    """Nobody logs on, though the first user's is right."""
    file.write_text(file.read_text() + 'directory = ["IUCV ALLOW", "NOSUCH"]\n')
    assert refused(file, 2).startswith(f'zvmlab: {file}: BOB: directory "NOSUCH": ')


@pytest.mark.requirement("S7")
@pytest.mark.parametrize(
    ("device", "sentence"),
    [
        ("frob,id=1", "-device frob,id=1: Parameter 'id' expects an identifier"),
        ("virtio-rng-ccw,bus=none", "-device virtio-rng-ccw,bus=none: Bus 'none' not found"),
    ],
)
def test_a_device_that_qemu_refuses(file: Path, run_dir: Path, device: str, sentence: str) -> None:
    """Nobody logs on, though the first user's is right."""
    file.write_text(file.read_text() + f'devices = ["virtio-rng-ccw", "{device}"]\n')
    where = f"zvmlab: {file}, line 6: user BOB: QEMU refuses a device: "
    assert refused(file, 2) == where + sentence
