# SPDX-License-Identifier: MIT
"""Guests in Hercules that go on from a checkpoint.

These run in Hercules whatever --backend says.  The first one to need a checkpoint
makes it, which takes as long as a boot.
"""

from __future__ import annotations

import dataclasses
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from zvmlab.base.errors import EmulatorError
from zvmlab.base.owned import claim
from zvmlab.cp.tracefmt import read as read_trace
from zvmlab.guest import checkpoint
from zvmlab.guest.backends import panel_of
from zvmlab.guest.checkpoint import CONSOLE, MACHINE, clock
from zvmlab.guest.config import HERCULES, GuestConfig
from zvmlab.guest.guest import Guest, Stage
from zvmlab.guest.hercules import Panel

if TYPE_CHECKING:
    from conftest import Build, OneSet

pytestmark = [
    pytest.mark.skipif(
        shutil.which("hercules") is None, reason="Hercules is not installed: ci/setup.sh hercules"
    ),
    pytest.mark.timeout(900),
]
MONOTONIC = 1
# A checkpoint's file: sum, length of the head, the head's beginning, in it the TOD clock.
SUM = slice(168, 176)
HEAD_LENGTH = slice(152, 160)
HEAD = 176
TOD = slice(180, 188)
BOOT_ID = "/proc/sys/kernel/random/boot_id"
SECONDS = 60


@pytest.fixture(scope="module")
def config() -> GuestConfig:
    """What other tests' guests are made of, too: their checkpoint serves here."""
    return GuestConfig(backend=HERCULES)


@pytest.fixture
def logs(zvmlab_dir: Path) -> Callable[[str], Path]:
    return lambda name: zvmlab_dir / name


def _panel(guest: Guest) -> Panel:
    panel = panel_of(guest.machine)
    assert panel is not None
    return panel


def _calls(guest: Guest) -> list[str]:
    """What the trace has, in order."""
    assert guest.channels.trace is not None
    return [record.call for record in read_trace(guest.channels.trace)]


def _save(guest: Guest, into: Path) -> bytes:
    """Save a guest as it is, with whoever is connected; what is in the file."""
    claim(into)
    checkpoint.save(_panel(guest), guest.channels, into)
    return (into / MACHINE).read_bytes()


def _cached(guest: Guest) -> Path:
    """The checkpoint that it has been restored from."""
    return checkpoint.find(guest.config, guest.artifacts, lambda into: pytest.fail("not there"))


def _started_from(guest: Guest, found: Path) -> None:
    """Reach PAUSED by that checkpoint instead of the cache's."""
    guest.configure()
    guest._start(found)


@dataclasses.dataclass(frozen=True)
class Reading:
    """A guest's clock, in seconds, and the host's monotonic clock on either side of it."""

    before: float
    guest: float
    after: float

    @classmethod
    def take(cls, guest: Guest) -> Reading:
        before = time.monotonic()
        return cls(before, clock(guest.agent, MONOTONIC), time.monotonic())

    def went_on(self, later: Reading) -> bool:
        """Whether both clocks went equally fast, as far as the host can tell."""
        passed = later.guest - self.guest
        slack = 0.01 * (later.after - self.before)
        return later.before - self.after - slack <= passed <= later.after - self.before + slack


def _clock_is_set(guest: Guest, started: float) -> bool:
    """Whether it tells the time of day, no later than what has passed since it was started."""
    earliest = time.time() - (time.monotonic() - started)
    return earliest - 0.1 <= clock(guest.agent) <= time.time() + 0.1


def test_a_restored_guest_goes_on(
    config: GuestConfig, logs: Callable[[str], Path], one_set: OneSet
) -> None:
    with Guest(config, logs("first")) as first:
        started = time.monotonic()
        first.boot()
        assert first.restored and first.stage is Stage.READY
        begun = Reading.take(first)
        assert _clock_is_set(first, started)
        first.agent.modprobe("monreader").check()
        one_set(first)
        assert first.console.path.read_bytes().startswith((_cached(first) / CONSOLE).read_bytes())
        assert [call for call in _calls(first) if call == "state.load"] == ["state.load"]
        time.sleep(max(0.0, begun.after + 4 - time.monotonic()))
        assert begun.went_on(Reading.take(first))
        # Another one begins where this one began, not where it is now.
        with Guest(config, logs("second")) as second:
            started_too = time.monotonic()
            second.boot()
            assert second.restored and _clock_is_set(second, started_too)
            too = Reading.take(second)
            assert too.guest - (too.after - started_too) <= begun.guest
            assert begun.guest - (begun.after - started) <= too.guest
            # Neither knows of the other.
            second.agent.write_file("/tmp/mine", b"second", 0o600)
            with pytest.raises(OSError, match="No such file"):
                first.agent.read_file("/tmp/mine")
            second.agent.modprobe("monreader").check()
            one_set(second)
            one_set(first)
            second.shut_down()
        first.shut_down()


def test_what_is_restored_is_what_was_saved(
    config: GuestConfig, logs: Callable[[str], Path], zvmlab_dir: Path
) -> None:
    # Every register, key, page and all of the CP: held from one file to the other.
    with Guest(config, logs("guest")) as guest:
        assert guest.restore()
        guest.control.execute("peer-destroy", peer="ZVMLAB")
        again = bytearray(_save(guest, zvmlab_dir / "again"))
        saved = bytearray((_cached(guest) / MACHINE).read_bytes())
    for file in (saved, again):
        # In the CP's image the number of the last trace record counts those of the harness.
        trace = file.index(b"TRAC") + 4
        # The image's own sum is the end of the head, which is padded.
        end = HEAD + int.from_bytes(file[HEAD_LENGTH], sys.byteorder)
        file[SUM] = file[TOD] = file[trace : trace + 8] = bytes(8)
        file[end - 16 : end] = bytes(16)
    # Not with ==, whose message would show two files of 46 MB.
    assert len(saved) == len(again)
    differing = [
        at for at in range(0, len(saved), 4096) if saved[at : at + 4096] != again[at : at + 4096]
    ]
    assert differing == []


@pytest.fixture
def two_cpus(config: GuestConfig) -> GuestConfig:
    return dataclasses.replace(config, cpus=2, busybox=True)


def _runs_on(guest: Guest, cpu: int) -> int:
    """The CPU that a program bound to one runs on."""
    argv = ["/bin/busybox", "taskset", "-c", str(cpu), "/bin/busybox", "cat", "/proc/self/stat"]
    result = guest.agent.run(argv)
    assert result.status == 0, result.stderr
    return int(result.stdout.rpartition(b") ")[2].split()[36])


def test_all_cpus_go_on(two_cpus: GuestConfig, logs: Callable[[str], Path]) -> None:
    online = "/sys/devices/system/cpu/online"
    with Guest(two_cpus, logs("guest")) as guest:
        guest.boot()
        assert guest.restored and guest.agent.read_file(online) == b"0-1\n"
        for cpu in (1, 0, 1):
            assert _runs_on(guest, cpu) == cpu
        guest.machine.pause()
        guest.machine.go_on()
        assert [_runs_on(guest, cpu) for cpu in (0, 1)] == [0, 1]
        # A CPU that the guest has stopped is not started by whoever held the others.
        guest.agent.write_file("/sys/devices/system/cpu/cpu1/online", b"0")
        guest.machine.pause()
        guest.machine.go_on()
        assert guest.agent.read_file(online) == b"0\n"
        guest.agent.write_file("/sys/devices/system/cpu/cpu1/online", b"1")
        assert _runs_on(guest, 1) == 1
        guest.shut_down()


def test_a_pending_message_is_delivered(
    bare: Build, logs: Callable[[str], Path], zvmlab_dir: Path
) -> None:
    config = GuestConfig(kernel=str(bare("interrupt")), backend=HERCULES)
    found = zvmlab_dir / "saved"
    with Guest(config, logs("first")) as first:
        first.resume()
        for _ in range(8):
            event = first.control.wait_event("console", SECONDS, user="OPERATOR")
        assert event.data["text"].endswith("WAITING")
        first.machine.pause()
        first.control.cp("SMSG LINUX001 WAKE UP")
        first.control.execute("peer-destroy", peer="ZVMLAB")
        _save(first, found)
        assert (found / CONSOLE).exists()
    with Guest(config, logs("second")) as second:
        _started_from(second, found)
        second.resume()
        event = second.control.wait_event("console", SECONDS, user="OPERATOR")
        assert event.data["text"].endswith("WOKEN 4000/09")
        second.emulator.expect_exit()
        assert second.emulator.wait(SECONDS) == 0


@pytest.mark.parametrize(
    ("at", "reason"),
    [
        (0, "it is not a checkpoint"),
        (20, "it was saved on another machine, or by another Hercules"),
        (200, "its checksum is wrong; it is damaged"),
        (-100, "its checksum is wrong; it is damaged"),
        (None, "its length is not what its header says"),
    ],
)
def test_a_damaged_checkpoint_is_refused(
    bare: Build, logs: Callable[[str], Path], zvmlab_dir: Path, at: int | None, reason: str
) -> None:
    config = GuestConfig(kernel=str(bare("interrupt")), backend=HERCULES)
    found = zvmlab_dir / "saved"
    with Guest(config, logs("first")) as first:
        first.resume()
        first.control.wait_event("console", SECONDS, user="OPERATOR")
        data = bytearray(_save(first, found))
    if at is None:
        del data[-1:]
    else:
        data[at] ^= 1
    (found / MACHINE).write_bytes(data)
    with Guest(config, logs("second")) as second:
        with pytest.raises(EmulatorError, match=f"cannot be used: {reason}; it has been removed"):
            _started_from(second, found)
        assert not found.exists()
        # Hercules is as new: it can still load.
        panel = panel_of(second._machine) if second._machine is not None else None
        assert panel is not None
        panel.go_on()


def test_commands_that_are_refused(bare: Build, logs: Callable[[str], Path]) -> None:
    config = GuestConfig(kernel=str(bare("interrupt")), backend=HERCULES)
    with Guest(config, logs("guest")) as guest:
        guest.start()
        panel = _panel(guest)
        for command, reason in {
            "zvmcp": "zvmcp takes hold, go, save FILE or restore FILE",
            "zvmcp save": "zvmcp takes hold, go, save FILE or restore FILE",
            "zvmcp go": "no guest is held",
            "zvmcp save nothing": "no guest is held; load one, and say zvmcp hold",
            "zvmcp restore nothing": "the checkpoint nothing cannot be used: No such file",
        }.items():
            with pytest.raises(EmulatorError, match=f"Hercules cannot {command}: .*{reason}"):
                panel._command(command)
        guest.resume()
        guest.control.wait_event("console", SECONDS, user="OPERATOR")
        with pytest.raises(EmulatorError, match="a guest has run in this Hercules"):
            panel._command("zvmcp restore nothing")
        with pytest.raises(EmulatorError, match="cannot be saved now: no guest is held"):
            panel._command("zvmcp save nothing")


@pytest.mark.full
def test_a_restored_guest_restarts_and_ends(
    config: GuestConfig, logs: Callable[[str], Path]
) -> None:
    with Guest(config, logs("guest")) as guest:
        guest.boot()
        assert guest.restored
        before = guest.agent.read_file(BOOT_ID)
        guest.reboot()
        assert guest.agent.read_file(BOOT_ID) != before
        guest.shut_down()


@pytest.mark.full
def test_a_cold_guest_boots(config: GuestConfig, logs: Callable[[str], Path]) -> None:
    cold = dataclasses.replace(config, cold=True)
    with Guest(cold, logs("guest")) as guest:
        assert not guest.restore()
        guest.boot()
        assert not guest.restored
        calls = _calls(guest)
        # What a kernel asks first, to find out where it is.
        assert "state.load" not in calls and "stsi" in calls
        guest.shut_down()


def test_a_damaged_checkpoint_without_our_mark_stays(
    bare: Build, logs: Callable[[str], Path], zvmlab_dir: Path
) -> None:
    config = GuestConfig(kernel=str(bare("interrupt")), backend=HERCULES)
    found = zvmlab_dir / "saved"
    found.mkdir()
    (found / MACHINE).write_bytes(b"somebody else's")
    with Guest(config, logs("guest")) as guest:
        with pytest.raises(EmulatorError, match=f"; remove {found}, which does not carry"):
            _started_from(guest, found)
    assert (found / MACHINE).read_bytes() == b"somebody else's"
