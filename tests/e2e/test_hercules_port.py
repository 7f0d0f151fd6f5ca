# SPDX-License-Identifier: MIT
"""The CP as a module of Hercules: when it refuses to run, and guests without an operating system.

These run whatever --backend says; what all guests must do is tested elsewhere.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from waiting import fair

from zvmlab.base.errors import EmulatorError, UsageError
from zvmlab.base.progress import Progress
from zvmlab.builder import herculesbuild
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.emulator import Emulator
from zvmlab.guest.guest import Guest
from zvmlab.guest.hercules import CONFIGURATION, MODULE, OPTIONS

if TYPE_CHECKING:
    from conftest import Build

pytestmark = [
    pytest.mark.skipif(
        shutil.which("hercules") is None, reason="Hercules is not installed: ci/setup.sh hercules"
    ),
    # The first one may have to build the module.
    pytest.mark.timeout(600),
]
CNF = "ARCHMODE z/Arch\nMAINSIZE 152\nNUMCPU 1\nMAXCPU 1\nLDMOD ./zvmcp.so\n"
CONSOLE = f"0009 ZVMCP {OPTIONS}\n"
SECONDS = 60


@pytest.fixture
def in_hercules(bare: Build, zvmlab_dir: Path) -> Callable[..., Guest]:
    """A guest, made, that is the bare-metal program of that name; further fields as given."""

    def make(name: str, **fields: object) -> Guest:
        config = GuestConfig(kernel=str(bare(name)), backend="hercules", **fields)  # type: ignore[arg-type]
        return Guest(config, zvmlab_dir)

    return make


def _refusal(folder: Path, configuration: str, options: str = "") -> str:
    """The message of Hercules, started by hand with these files, before it ends with code 1."""
    module = folder / MODULE
    if not module.exists():
        module.symlink_to(herculesbuild.build_module(Progress(quiet=True)))
    (folder / CONFIGURATION).write_text(configuration)
    (folder / OPTIONS).write_text(options)
    words = [str(herculesbuild.program()), "-d", "-f", CONFIGURATION]
    emulator = Emulator(words, folder / "log", folder=folder)
    try:
        assert emulator.wait(SECONDS) == 1, (folder / "log").read_text()
        lines = (folder / "log").read_text().splitlines()
    finally:
        emulator.stop()
    (said,) = [line for line in lines if line.startswith("zvmlab-cp: ")]
    return said.removeprefix("zvmlab-cp: ")


@pytest.mark.parametrize(
    ("configuration", "options", "reason"),
    [
        (CNF + CONSOLE, "userid ABCDEFGHI\n", "guest.options, line 1: userid"),
        (
            CNF + CONSOLE,
            "\n# a comment\ncolour red\n",
            'guest.options, line 3: option "colour" is not known',
        ),
        (CNF + CONSOLE, "cpus 2\n", "cpus 2 differs from NUMCPU 1"),
        (CNF + CONSOLE, "storage 0.200M\n", "machine has 152M; give at least MAINSIZE 200"),
        (CNF + CONSOLE, "control /nowhere/control\n", "control socket /nowhere/control cannot"),
        (CNF + CONSOLE, "trace /nowhere/trace\n", "/nowhere/trace"),
        (CNF + CONSOLE, "log /nowhere/log\n", "console's log /nowhere/log cannot be written"),
        (CNF + "0009 ZVMCP\n", "", "the console's statement names no file of options"),
        (CNF + "0009 ZVMCP nothing\n", "", "the options nothing cannot be read: No such file"),
        (CNF.replace("z/Arch", "ESA/390") + CONSOLE, "", "needs ARCHMODE z/Arch"),
        (CNF + CONSOLE + "000A ZVMCP guest.options\n", "", "device 000A is a second one"),
    ],
    ids=lambda text: "".join(c if c.isalnum() else "-" for c in text)[-30:],
)
def test_a_configuration_is_refused(
    tmp_path: Path, configuration: str, options: str, reason: str
) -> None:
    assert reason in _refusal(tmp_path, configuration, options)


def test_another_hercules_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # As if built for one that lays out structures for z/Architecture only.
    monkeypatch.setattr(herculesbuild, "FLAGS", (*herculesbuild.FLAGS, "-D_GEN_ARCH=900"))
    said = _refusal(tmp_path, CNF + CONSOLE)
    assert said == "this is not the Hercules that the module was built for"


def test_the_harness_says_what_the_cp_refuses(in_hercules: Callable[..., Guest]) -> None:
    with pytest.raises(UsageError, match="the CP refuses its configuration: .*userid"):
        with in_hercules("segment", cp={"userid": "ABCDEFGHI"}) as guest:
            guest.start()


@pytest.mark.requirement("R14")
def test_a_guest_with_card_devices_is_refused(in_hercules: Callable[..., Guest]) -> None:
    with pytest.raises(UsageError, match="SPOOL statements in the directory are for QEMU only"):
        with in_hercules("segment", cp={"directory": "SPOOL 00C 2540 READER *"}) as guest:
            guest.start()


@pytest.mark.requirement("K11")
def test_a_guest_with_virtual_disks_is_refused(in_hercules: Callable[..., Guest]) -> None:
    with pytest.raises(UsageError, match="MDISK statements in the directory are for QEMU only"):
        with in_hercules("segment", cp={"directory": "MDISK 0200 FB-512 V-DISK 64 R"}) as guest:
            guest.start()


def test_without_a_console_of_the_type_hercules_is_as_it_was(tmp_path: Path) -> None:
    (tmp_path / MODULE).symlink_to(herculesbuild.build_module(Progress(quiet=True)))
    (tmp_path / CONFIGURATION).write_text(CNF + "0009 3215-C /\n")
    words = [str(herculesbuild.program()), "-d", "-f", CONFIGURATION]
    emulator = Emulator(words, tmp_path / "log", folder=tmp_path)
    try:
        emulator.command("quit")
        assert emulator.wait(SECONDS) == 0
    finally:
        emulator.stop()
    assert "zvmlab-cp" not in (tmp_path / "log").read_text()


@pytest.mark.parametrize(("lines", "refused"), [(1, 0), (2, 1), (3, 2)])
def test_a_line_is_refused_while_the_guest_has_not_read_the_last(
    tmp_path: Path, lines: int, refused: int
) -> None:
    """Nobody reads: the machine has not been loaded."""
    (tmp_path / MODULE).symlink_to(herculesbuild.build_module(Progress(quiet=True)))
    (tmp_path / CONFIGURATION).write_text(CNF + CONSOLE)
    (tmp_path / OPTIONS).write_text("")
    words = [str(herculesbuild.program()), "-d", "-f", CONFIGURATION]
    emulator = Emulator(words, tmp_path / "log", folder=tmp_path)
    try:
        for number in range(lines):
            emulator.command(f"/line {number}")
        emulator.command("quit")
        assert emulator.wait(SECONDS) == 0
    finally:
        emulator.stop()
    said = "zvmlab-cp: the guest has not read the last line yet; type this one again later\n"
    assert (tmp_path / "log").read_text().count(said) == refused


def test_the_end_of_standard_input_is_the_end(in_hercules: Callable[..., Guest]) -> None:
    with in_hercules("interrupt") as guest:
        guest.start()
        guest.emulator.expect_exit()
        process = guest.emulator._process
        assert process.stdin is not None
        process.stdin.close()
        assert guest.emulator.wait(SECONDS) == 0
        assert guest.emulator.log.read_text().endswith("zvmlab: told to quit\n")


def test_a_stopped_machine_ends_only_if_the_guest_has_stopped_it(
    in_hercules: Callable[..., Guest],
) -> None:
    with in_hercules("interrupt") as guest:
        guest.start()
        guest.resume()
        for _ in range(8):
            event = guest.control.wait_event("console", SECONDS, user="OPERATOR")
        assert event.data["text"].endswith("WAITING")
        guest.machine.pause()
        guest.control.cp("SMSG LINUX001 WAKE UP")
        # A guest whose CPUs are stopped takes no interruption, and goes on afterwards.
        with pytest.raises(Exception, match="did not come within"):
            guest.control.wait_event("console", 1, user="OPERATOR")
        guest.check()
        guest.machine.go_on()
        event = guest.control.wait_event("console", SECONDS, user="OPERATOR")
        assert event.data["text"].endswith("WOKEN 4000/09")
        guest.emulator.expect_exit()
        assert guest.emulator.wait(SECONDS) == 0


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (signal.SIGKILL, "was killed by SIGKILL"),
        (signal.SIGTERM, r"was ended by SIGTERM from process \d+ \("),
    ],
    ids=["KILL", "TERM"],
)
def test_a_killed_hercules_is_noticed(
    in_hercules: Callable[..., Guest], number: signal.Signals, text: str
) -> None:
    with in_hercules("interrupt") as guest:
        guest.start()
        os.kill(guest.emulator.pid, number)
        limit = fair(SECONDS)
        while guest.emulator.alive:
            assert not limit.over
            time.sleep(0.01)
        with pytest.raises(EmulatorError, match=text):
            guest.check()
        guest.emulator.expect_exit()
