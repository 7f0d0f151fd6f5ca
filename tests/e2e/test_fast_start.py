# SPDX-License-Identifier: MIT
"""Guests that go on from a checkpoint, in both emulators.

The first one to need a checkpoint makes it, which takes as long as a boot.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import json
import os
import re
import resource
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from waiting import fair, wait_until

from zvmlab.base.errors import EmulatorError, UsageError
from zvmlab.base.owned import claim
from zvmlab.cp.control import decode
from zvmlab.cp.faults import Fault, arm
from zvmlab.cp.tracefmt import read as read_trace
from zvmlab.guest import checkpoint, saving
from zvmlab.guest.backends import panel_of
from zvmlab.guest.checkpoint import AGENT, CONSOLE, MACHINE, clock
from zvmlab.guest.config import HERCULES, MAX_CPUS, QEMU, GuestConfig, emulator_arguments
from zvmlab.guest.console import Crash
from zvmlab.guest.guest import Guest, Stage
from zvmlab.guest.hercules import Panel
from zvmlab.guest.herculesload import LOAD
from zvmlab.guest.qmp import QmpError
from zvmlab.mondata.records import Element, Record
from zvmlab.monitor.monitor import DEVICE, READ_SIZE, deliver, read_set

if TYPE_CHECKING:
    from conftest import Build, OneSet

HAS_HERCULES = pytest.mark.skipif(
    shutil.which("hercules") is None, reason="Hercules is not installed: ci/setup.sh hercules"
)
pytestmark = pytest.mark.timeout(900)
MONOTONIC = 1


# Where things are in a checkpoint's file (sim/port/cp_machine_file.h).
HEAD_LENGTH, SUM, HEAD = slice(152, 160), slice(168, 176), 176
# In Hercules the head begins with the TOD clock; QEMU's clocks stand still while the machine does.
CLOCK = {HERCULES: slice(180, 188), QEMU: slice(0, 0)}
UUID = "/proc/sys/kernel/random/uuid"
BOOT_ID = "/proc/sys/kernel/random/boot_id"
SECONDS = 60


@pytest.fixture(params=[QEMU, pytest.param(HERCULES, marks=HAS_HERCULES)])
def config(request: pytest.FixtureRequest) -> GuestConfig:
    """The configuration of other tests' guests: their checkpoint serves here."""
    return GuestConfig(backend=request.param)


@pytest.fixture
def logs(zvmlab_dir: Path) -> Callable[[str], Path]:
    return lambda name: zvmlab_dir / name


def _of(config: GuestConfig, kernel: Path) -> GuestConfig:
    return config._replace(kernel=str(kernel))


def _panel(guest: Guest) -> Panel:
    panel = panel_of(guest.machine)
    assert panel is not None
    return panel


def _calls(guest: Guest) -> list[str]:
    """The calls in the trace, in order."""
    assert guest.channels.trace is not None
    return [record.call for record in read_trace(guest.channels.trace)]


def _save(guest: Guest, into: Path) -> bytes:
    """Save a guest as it is, with whoever is connected; what is in the file."""
    claim(into)
    guest._save(into)
    return (into / MACHINE).read_bytes()


def _cached(guest: Guest) -> Path:
    """The checkpoint that it has been restored from."""
    return checkpoint.find(guest.config, guest.artifacts, lambda into: pytest.fail("not there"))


def _started_from(guest: Guest, found: Path) -> None:
    """Reach PAUSED by that checkpoint instead of the cache's."""
    guest.launch(found)
    guest.start()


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
        numbers = first.agent.read_file(UUID)
        # Another one begins where this one began, not where it is now.
        with Guest(config, logs("second")) as second:
            started_too = time.monotonic()
            second.boot()
            assert second.restored and _clock_is_set(second, started_too)
            too = Reading.take(second)
            assert too.guest - (too.after - started_too) <= begun.guest
            assert begun.guest - (begun.after - started) <= too.guest
            # Neither knows of the other, and chance has not the same in store for them.
            assert second.agent.read_file(UUID) != numbers
            second.agent.write_file("/tmp/mine", b"second", 0o600)
            with pytest.raises(OSError, match="No such file"):
                first.agent.read_file("/tmp/mine")
            second.agent.modprobe("monreader").check()
            one_set(second)
            one_set(first)
            second.shut_down()
        first.shut_down()


def _differing(backend: str, saved: bytearray, again: bytearray) -> list[int]:
    """The pages where two files of a machine differ, outside of the harness' own."""
    for file in (saved, again):
        # In the CP's image the number of the last trace record counts those of the harness.
        trace = file.index(b"TRAC") + 4
        # The image ends with its own sum.
        end = HEAD + int.from_bytes(file[HEAD_LENGTH], sys.byteorder)
        image_sum = file.rindex(b"END.", 0, end) + 4
        for change in (
            SUM,
            CLOCK[backend],
            slice(trace, trace + 8),
            slice(image_sum, image_sum + 8),
        ):
            file[change] = bytes(change.stop - change.start)
    # Not with ==, whose message would show two files of 46 MB.
    assert len(saved) == len(again)
    return [
        at for at in range(0, len(saved), 4096) if saved[at : at + 4096] != again[at : at + 4096]
    ]


def test_what_is_restored_is_what_was_saved(
    config: GuestConfig, logs: Callable[[str], Path], zvmlab_dir: Path
) -> None:
    # Every register, key, page and all of the CP: held from one file to the other.
    with Guest(config, logs("guest")) as guest:
        assert guest.restore()
        again = bytearray(_save(guest, zvmlab_dir / "again"))
        saved = bytearray((_cached(guest) / MACHINE).read_bytes())
    assert _differing(config.backend, saved, again) == []


@pytest.fixture
def two_cpus(config: GuestConfig) -> GuestConfig:
    return config._replace(cpus=2, busybox=True)


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


DAY = 86400


def test_a_guest_that_slept_for_a_day_is_not_stalled(
    logs: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """For all that emulator and harness know, the checkpoint is of yesterday."""
    config = GuestConfig()
    with Guest(config, logs("today")) as guest:
        guest.boot()
        today = clock(guest.agent, MONOTONIC)
    tomorrow = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() + DAY))
    now = time.time_ns

    def late(*words: Any) -> list[str]:
        return [*emulator_arguments(*words), "-rtc", f"base={tomorrow}"]

    monkeypatch.setattr("zvmlab.guest.backends.emulator_arguments", late)
    monkeypatch.setattr(time, "time_ns", lambda: now() + DAY * 10**9)
    with Guest(config, logs("tomorrow")) as guest:
        begun = time.monotonic()
        guest.boot()
        assert guest.restored
        # It has been up no longer, but knows what day it is.
        passed = clock(guest.agent, MONOTONIC) - today
        assert passed < time.monotonic() - begun + SECONDS
        assert abs(clock(guest.agent) - (time.time() + DAY)) < SECONDS
        _is_not_stalled(guest)


def test_a_guest_whose_clocks_jump_is_not_stalled(logs: Callable[[str], Path]) -> None:
    """More than two minutes, after which kernels complain of tasks; RCU's limit is one at most."""
    with Guest(GuestConfig(), logs("guest")) as guest:
        guest.boot()
        before = clock(guest.agent, MONOTONIC)
        with guest.passing(150) as left:
            while left() > 0:
                time.sleep(0.05)
        assert clock(guest.agent, MONOTONIC) - before >= 150
        _is_not_stalled(guest)


def _is_not_stalled(guest: Guest) -> None:
    """Timers expire, modules come and go (which waits for RCU), and the kernel says nothing."""
    guest.agent.sleep(0.1)
    guest.agent.modprobe("monreader").check()
    guest.agent.rmmod("monreader").check()
    guest.settle()
    stalls = re.compile("stall|blocked for|lockup|rcu", re.IGNORECASE)
    # What the boot has said is in the checkpoint.
    later = [line for line in guest.agent.dmesg() if "monreader" not in line.text]
    assert [line.text for line in later[-20:] if stalls.search(line.text)] == []


@pytest.mark.parametrize("cpus", ["one", "most"])
def test_a_pending_message_is_delivered(
    config: GuestConfig, bare: Build, logs: Callable[[str], Path], zvmlab_dir: Path, cpus: str
) -> None:
    number = {"one": 1, "most": MAX_CPUS[config.backend]}[cpus]
    config = _of(config, bare("interrupt"))._replace(cpus=number)
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
        second.emulator.expect_exit()
        second.resume()
        event = second.control.wait_event("console", SECONDS, user="OPERATOR")
        assert event.data["text"].endswith("WOKEN 4000/09")
        assert second.emulator.wait(SECONDS) == 0


@pytest.mark.parametrize(
    ("at", "reason"),
    [
        (0, "it is not a checkpoint"),
        (20, "it was saved on another machine, or by another "),
        (200, "its checksum is wrong; it is damaged"),
        (3000, "its checksum is wrong; it is damaged"),
        (None, "its length is not what its header says"),
    ],
)
def test_a_damaged_checkpoint_is_refused(
    config: GuestConfig,
    bare: Build,
    logs: Callable[[str], Path],
    zvmlab_dir: Path,
    at: int | None,
    reason: str,
) -> None:
    config = _of(config, bare("interrupt"))
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
        with pytest.raises(EmulatorError, match=f"cannot be used: {reason}.*; it has been removed"):
            _started_from(second, found)
        assert not found.exists()


@HAS_HERCULES
def test_storage_that_is_damaged_is_refused_where_it_is_read(
    bare: Build, logs: Callable[[str], Path], zvmlab_dir: Path
) -> None:
    config = GuestConfig(kernel=str(bare("interrupt")), backend=HERCULES)
    found = zvmlab_dir / "saved"
    with Guest(config, logs("first")) as first:
        first.resume()
        first.control.wait_event("console", SECONDS, user="OPERATOR")
        data = bytearray(_save(first, found))
    # The program is there, far behind the head.
    end = HEAD + int.from_bytes(data[HEAD_LENGTH], sys.byteorder)
    storage = end + -end % 4096
    assert any(data[storage + 0x20000 : storage + 0x20100])
    data[storage + 0x20000] ^= 1
    (found / MACHINE).write_bytes(data)
    with Guest(config, logs("second")) as second:
        with pytest.raises(EmulatorError, match="cannot be used: its checksum is wrong; it is dam"):
            _started_from(second, found)


@HAS_HERCULES
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
    cold = config._replace(cold=True)
    with Guest(cold, logs("guest")) as guest:
        assert not guest.restore()
        guest.boot()
        assert not guest.restored
        calls = _calls(guest)
        # What a kernel asks first, to find out where it is.
        assert "state.load" not in calls and "stsi" in calls
        guest.shut_down()


def test_a_damaged_checkpoint_without_our_mark_stays(
    config: GuestConfig, bare: Build, logs: Callable[[str], Path], zvmlab_dir: Path
) -> None:
    config = _of(config, bare("interrupt"))
    found = zvmlab_dir / "saved"
    found.mkdir()
    (found / MACHINE).write_bytes(b"somebody else's")
    with Guest(config, logs("guest")) as guest:
        with pytest.raises(EmulatorError, match=f"; remove {found}, which does not carry"):
            _started_from(guest, found)
    assert (found / MACHINE).read_bytes() == b"somebody else's"


def _set(guest: Guest, name: str, file: Path) -> None:
    value = {"path": "/objects/cp", "property": name, "value": str(file)}
    guest.qmp.execute("qom-set", value)


def test_what_qemu_is_told_at_a_wrong_time_is_refused(
    bare: Build, logs: Callable[[str], Path], zvmlab_dir: Path
) -> None:
    config = GuestConfig(kernel=str(bare("interrupt")))
    file = zvmlab_dir / "machine"
    with Guest(config, logs("guest")) as guest:
        guest.start()
        with pytest.raises(QmpError, match="machine cannot be used: No such file"):
            _set(guest, "restore", file)
        guest.resume()
        guest.control.wait_event("console", SECONDS, user="OPERATOR")
        for name, what in {"save": "saved", "restore": "restored"}.items():
            with pytest.raises(QmpError, match=f"cannot be {what} while it runs; stop it first"):
                _set(guest, name, file)
        guest.machine.pause()
        with pytest.raises(QmpError, match="cannot be written: No such file"):
            _set(guest, "save", zvmlab_dir / "none" / "machine")
        assert not file.exists()


@pytest.mark.parametrize(
    ("more", "refused"),
    [
        ({"deterministic": True}, r"saved now: a client and the machine take turns \(lockstep\)"),
        ({"devices": ("virtio-net-pci,romfile=",)}, "non-migratable device '.*zpci"),
    ],
    ids=["lockstep", "device"],
)
def test_machines_that_qemu_cannot_save(
    bare: Build, logs: Callable[[str], Path], zvmlab_dir: Path, more: dict[str, Any], refused: str
) -> None:
    config = GuestConfig(kernel=str(bare("interrupt")), **more)
    with Guest(config, logs("guest")) as guest:
        guest.start()
        with pytest.raises(QmpError, match=refused):
            _set(guest, "save", zvmlab_dir / "machine")
        assert not (zvmlab_dir / "machine").exists()
        if guest.config.deterministic:
            with pytest.raises(QmpError, match="a machine in lockstep cannot be restored"):
                _set(guest, "restore", zvmlab_dir / "machine")


def test_a_machine_with_a_pending_interruption_is_not_saved(
    bare: Build, logs: Callable[[str], Path], zvmlab_dir: Path
) -> None:
    """A device comes, of which the machine is told by a machine check that it does not take."""
    with Guest(GuestConfig(kernel=str(bare("interrupt"))), logs("guest")) as guest:
        guest.resume()
        for _ in range(8):
            guest.control.wait_event("console", SECONDS, user="OPERATOR")
        guest.machine.pause()
        _set(guest, "save", zvmlab_dir / "before")
        guest.qmp.execute("device_add", {"driver": "virtio-serial-ccw", "id": "new"})
        with pytest.raises(QmpError, match="saved now: an interruption of a device is pending"):
            _set(guest, "save", zvmlab_dir / "after")
        assert not (zvmlab_dir / "after").exists()


@HAS_HERCULES
def test_a_device_that_hercules_cannot_save(
    bare: Build,
    logs: Callable[[str], Path],
    zvmlab_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # It would go in no minute.
    monkeypatch.setattr(saving, "SECONDS", 0.0)
    devices = ("0120 3505",)
    config = GuestConfig(kernel=str(bare("interrupt")), backend=HERCULES, devices=devices)
    with Guest(config, logs("guest")) as guest:
        guest.resume()
        guest.control.wait_event("console", SECONDS, user="OPERATOR")
        with pytest.raises(EmulatorError, match="saved now: the machine has a device beside the"):
            guest.machine.save(zvmlab_dir / "machine")
        assert not (zvmlab_dir / "machine").exists()


def _tell(guest: Guest, line: str) -> None:
    """Wake the program, which says this line next."""
    guest.control.cp("SMSG LINUX001 WAKE UP")
    _heard(guest, line)


def _heard(guest: Guest, line: str) -> None:
    event = guest.control.wait_event("console", SECONDS, user="OPERATOR")
    assert event.data["text"].endswith(f": {line}"), event.data["text"]


@contextlib.contextmanager
def _no_more_files(guest: Guest) -> Iterator[None]:
    """The emulator can open nothing."""
    limits = resource.prlimit(guest.emulator.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(guest.emulator.pid, resource.RLIMIT_NOFILE, (3, limits[1]))
    yield
    resource.prlimit(guest.emulator.pid, resource.RLIMIT_NOFILE, limits)


@HAS_HERCULES
def test_machines_that_hercules_cannot_save_at_the_moment(
    bare: Build,
    logs: Callable[[str], Path],
    zvmlab_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each state is refused with its reason; the guest goes on, ends it, and is saved."""
    # None of them would go in a minute.
    monkeypatch.setattr(saving, "SECONDS", 0.0)
    config = GuestConfig(kernel=str(bare("refusals")), backend=HERCULES)
    number = iter(range(100))

    def saved() -> Path:
        file = zvmlab_dir / f"machine-{next(number)}"
        guest.machine.save(file)
        guest.machine.go_on()
        return file

    def refused(reason: str) -> None:
        file = zvmlab_dir / "none"
        with pytest.raises(EmulatorError, match=f"cannot be saved now: {re.escape(reason)}$"):
            guest.machine.save(file)
        assert not file.exists()
        guest.machine.go_on()

    with Guest(config, logs("guest")) as guest:
        guest.resume()
        panel = _panel(guest)
        _heard(guest, "BEGINS")
        saved()
        with _no_more_files(guest):
            refused("the service processor's masks cannot be read")
        saved()
        _tell(guest, "STEERS")
        refused("the guest steers its TOD clock")
        _tell(guest, "STEERS NO MORE")
        saved()
        _tell(guest, "MEASURES")
        refused("the guest measures its channels")
        _tell(guest, "MEASURES NO MORE")
        saved()
        _tell(guest, "IO")
        refused("I/O is under way")
        _tell(guest, "IO ENDED")
        saved()
        _tell(guest, "READS")
        refused("the console is in use")
        panel._command("/a line")
        _tell(guest, "READ")
        saved()
        _tell(guest, "LISTENS")
        saved()
        panel._command(".a command")
        refused("the service processor has an event for the guest")
        _tell(guest, "EVENT TAKEN")
        last = saved()
        # It stays pending: the program takes no machine checks.
        panel._command("attach 0120 3505")
        panel._command("detach 0120")
        refused("a channel report is pending")
        guest.control.cp("SMSG LINUX001 WAKE UP")
        guest.emulator.expect_exit()
        assert guest.emulator.wait(SECONDS) == 0
    # What was saved then goes on from there.
    found = zvmlab_dir / "saved"
    claim(found)
    last.rename(found / MACHINE)
    (found / CONSOLE).touch()
    with Guest(config, logs("second")) as second:
        _started_from(second, found)
        second.resume()
        second.control.cp("SMSG LINUX001 WAKE UP")
        second.emulator.expect_exit()
        assert second.emulator.wait(SECONDS) == 0


@HAS_HERCULES
def test_a_path_that_is_too_long_to_be_saved(
    bare: Build, logs: Callable[[str], Path], zvmlab_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The path of a file that the guest was loaded from, and that a restored guest loads again."""
    monkeypatch.setattr(saving, "SECONDS", 0.0)
    config = GuestConfig(kernel=str(bare("interrupt")), backend=HERCULES)
    with Guest(config, logs("guest")) as guest:
        guest.start()
        panel = _panel(guest)
        panel._command(f"ipl {'./' * 128}{LOAD}")
        for _ in range(8):
            event = guest.control.wait_event("console", SECONDS, user="OPERATOR")
        assert event.data["text"].endswith("WAITING")
        file = zvmlab_dir / "machine"
        with pytest.raises(EmulatorError, match="saved now: the path that the guest was loaded fr"):
            panel.save(file)
        assert not file.exists()
        panel._command("zvmcp go")
        guest.control.cp("SMSG LINUX001 WAKE UP")
        guest.emulator.expect_exit()
        assert guest.emulator.wait(SECONDS) == 0


def _byte(guest: Guest, address: int) -> int:
    """A byte of the guest's storage."""
    return decode(guest.control.execute("storage-read", address=address, length=1)["data"])[0]


@HAS_HERCULES
def test_a_cpu_that_cannot_be_held(
    bare: Build, logs: Callable[[str], Path], zvmlab_dir: Path
) -> None:
    """In ESA/390 mode; it goes on, and is held and saved when it has left that mode."""
    config = GuestConfig(kernel=str(bare("esa390")), backend=HERCULES)
    with Guest(config, logs("guest")) as guest:
        guest.resume()
        panel = _panel(guest)
        _heard(guest, "CHANGES")
        wait_until(lambda: _byte(guest, 0x702) == 1, "the CPU is in ESA/390 mode")
        with pytest.raises(EmulatorError, match="not all CPUs can be held: one is in ESA/390 mod"):
            panel.save(zvmlab_dir / "machine")
        assert not (zvmlab_dir / "machine").exists()
        panel._command("r 700=01")
        _heard(guest, "IS BACK")
        panel.save(zvmlab_dir / "machine")
        assert (zvmlab_dir / "machine").exists()
        panel.go_on()
        panel._command("r 701=01")
        guest.emulator.expect_exit()
        assert guest.emulator.wait(SECONDS) == 0


@HAS_HERCULES
def test_a_file_that_hercules_cannot_write(
    bare: Build, logs: Callable[[str], Path], zvmlab_dir: Path
) -> None:
    config = GuestConfig(kernel=str(bare("interrupt")), backend=HERCULES)
    file = zvmlab_dir / "machine"
    with Guest(config, logs("guest")) as guest:
        guest.resume()
        guest.control.wait_event("console", SECONDS, user="OPERATOR")
        with pytest.raises(EmulatorError, match="cannot be written: No such file or directory"):
            guest.machine.save(zvmlab_dir / "none" / "machine")
        file.write_bytes(b"somebody's")
        with pytest.raises(EmulatorError, match="cannot be written: File exists"):
            guest.machine.save(file)
        assert file.read_bytes() == b"somebody's"
        file.unlink()
        guest.machine.save(file)
        assert file.exists()


# The last section's name, its instance and version; the section begins with the CPUs.
SECTION = b"\x09zvmlab-cp" + bytes(7) + b"\x01"


def _forged(data: bytearray, at: int) -> bytes:
    """Change a byte of the head and make the sum right: FNV-1a of header and head."""
    data[at] ^= 0x20
    length = int.from_bytes(data[HEAD_LENGTH], sys.byteorder)
    value = 0xCBF29CE484222325
    for byte in data[: SUM.start] + data[HEAD : HEAD + length]:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    data[SUM] = value.to_bytes(8, sys.byteorder)
    return bytes(data)


@pytest.mark.parametrize(
    ("offset", "said"),
    [
        # The number of CPUs, the first one's condition code, pending interruptions, the CP's image.
        (3, "the state of the CP is not complete, or of another machine"),
        (4, "the state of the CP is not complete, or of another machine"),
        (6, "the state of the CP is not complete, or of another machine"),
        (300, "the CP's state cannot be loaded from the image: its checksum is wrong"),
    ],
)
def test_a_state_that_was_tampered_with_is_refused(
    bare: Build, logs: Callable[[str], Path], zvmlab_dir: Path, offset: int, said: str
) -> None:
    config = GuestConfig(kernel=str(bare("interrupt")))
    file = zvmlab_dir / "machine"
    with Guest(config, logs("guest")) as guest:
        guest.resume()
        for _ in range(8):
            event = guest.control.wait_event("console", SECONDS, user="OPERATOR")
        guest.machine.pause()
        _set(guest, "save", file)
        data = bytearray(file.read_bytes())
        file.write_bytes(_forged(data, data.index(SECTION) + len(SECTION) + offset))
        with pytest.raises(QmpError, match="do not fit in with this machine, which has been reset"):
            _set(guest, "restore", file)
        assert said in guest.emulator.log.read_text()
        # It is as new: the program begins again.
        guest.machine.go_on()
        for _ in range(8):
            event = guest.control.wait_event("console", SECONDS, user="OPERATOR")
        assert event.data["text"].endswith("WAITING")
        guest.control.cp("SMSG LINUX001 WAKE UP")
        guest.emulator.expect_exit()
        assert guest.emulator.wait(SECONDS) == 0


RULE = Fault("iucv.connect", "rc", 0x0B, times=1, user="LINUX001")
DCSSBLK = "/sys/devices/dcssblk"
QUERIES = ("query-users", "query-faults", "query-segments", "query-monitor")


def _today() -> str:
    """The date as QUERY TIME shows it."""
    return time.strftime("%m/%d/%y", time.gmtime())


# Sections of a head of Hercules', and bytes in them that are changed.
CONTRADICTS = "its contents contradict each other"
CP_SUM = "the CP's state cannot be loaded from the image: its checksum is wrong"


@HAS_HERCULES
@pytest.mark.parametrize(
    ("section", "offset", "said"),
    [
        ("MACH", 0, CONTRADICTS),  # the tag itself
        ("MACH", 32, CONTRADICTS),  # interruptions that no machine has pending
        ("MACH", 36, CONTRADICTS),  # the CPU that was loaded
        ("MACH", 40, CONTRADICTS),  # topology
        ("MACH", 56, CONTRADICTS),  # the CPU that is loaded again
        ("CONS", 4, CONTRADICTS),  # device number
        ("CPU.", 14, CONTRADICTS),  # prefix, not aligned
        ("CPU.", 540, CONTRADICTS),  # PSW
        ("CP..", 4, CONTRADICTS),  # length of the CP's image
        ("CP..", 312, CP_SUM),
    ],
)
def test_a_state_that_was_tampered_with_is_refused_in_hercules(
    bare: Build, logs: Callable[[str], Path], zvmlab_dir: Path, section: str, offset: int, said: str
) -> None:
    config = GuestConfig(kernel=str(bare("interrupt")), backend=HERCULES)
    file = zvmlab_dir / "machine"
    with Guest(config, logs("first")) as first:
        first.resume()
        for _ in range(8):
            first.control.wait_event("console", SECONDS, user="OPERATOR")
        first.machine.save(file)
    data = bytearray(file.read_bytes())
    # Its clock is decades away from now.
    clock_at = CLOCK[HERCULES].start + 1
    data[clock_at] ^= 0x80
    file.write_bytes(_forged(data, data.index(section.encode(), HEAD) + offset))
    with Guest(config, logs("second")) as second:
        second.start()
        before = [second.control.execute(name) for name in QUERIES]
        days = [_today()]
        with pytest.raises(EmulatorError, match=re.escape(said)):
            second.machine.restore(file)
        # It is as new, its clock, too: the program is loaded, and does all that it does.
        assert [second.control.execute(name) for name in QUERIES] == before
        day = second.control.cp("QUERY TIME").response.splitlines()[0].split()[-1]
        assert day in [*days, _today()]
        second.resume()
        for _ in range(8):
            event = second.control.wait_event("console", SECONDS, user="OPERATOR")
        assert event.data["text"].endswith("WAITING")
        second.control.cp("SMSG LINUX001 WAKE UP")
        second.emulator.expect_exit()
        assert second.emulator.wait(SECONDS) == 0


def _working(cpus: int) -> GuestConfig:
    """Guests for _start_work(); one configuration, so that they share a checkpoint."""
    return GuestConfig(
        cpus=cpus,
        modules=("dcssblk",),
        segments=SEGMENTS,
        busybox=True,
        # The CPUs take turns on the host's: a boot with 64 takes six times as long as with one.
        boot_seconds=600.0,
    )


def _state(guest: Guest) -> dict[str, object]:
    """The CP as the control socket shows it."""
    state = {name: guest.control.execute(name) for name in QUERIES}
    return state | {"paths": guest.control.execute("query-paths", user="LINUX001")}


def _start_work(guest: Guest) -> int:
    """Arm a fault, load segments shared and exclusive, leave a set unread; the open monreader."""
    agent = guest.agent
    for module in ("monreader", "dcssblk"):
        agent.modprobe(module).check()
    for name in (b"SHARED", b"OWN"):
        agent.write_file(f"{DCSSBLK}/add", name)
    agent.write_file(f"{DCSSBLK}/OWN/shared", b"0")
    fd = agent.open(DEVICE, os.O_RDONLY | os.O_NONBLOCK).check()
    arm(guest.control, RULE)
    assert deliver(guest.control, "sample", SET).fate == "delivered"
    return fd


def _finish_work(guest: Guest, fd: int) -> None:
    """The set is read, the fault fires, the segments are there."""
    agent = guest.agent
    found = read_set(agent.read_until(fd, READ_SIZE))
    assert [list(part.records()) for part in found.parts()] == [list(SET_RECORDS)]
    agent.close(fd).check()
    assert agent.open(DEVICE).errno == errno.EIO
    (rule,) = guest.control.execute("query-faults")["rules"]
    assert rule["fired"] == 1
    shown = [agent.read_file(f"{DCSSBLK}/{name}/shared") for name in ("SHARED", "OWN")]
    assert shown == [b"1\n", b"0\n"]
    for name in ("SHARED", "OWN"):
        agent.write_file(f"{DCSSBLK}/remove", name.encode())


SET_RECORDS = (Record(4, 3, 7, bytes(range(60))), Record(4, 3, 8, bytes(100)))
SET = Element.of(list(SET_RECORDS))
SEGMENTS = ("MONDCSS 9000-97FF SC RSTD", "SHARED A000-A0FF SW", "OWN A200-A2FF EW")


@pytest.mark.parametrize("cpus", [1, 4, pytest.param(MAX_CPUS[QEMU], marks=pytest.mark.full)])
def test_work_that_has_begun_goes_on(
    logs: Callable[[str], Path], zvmlab_dir: Path, cpus: int
) -> None:
    config = _working(cpus)
    found = zvmlab_dir / "saved"
    with Guest(config, logs("first")) as first:
        first.boot()
        fd = _start_work(first)
        boot = first.agent.read_file(BOOT_ID)
        _save(first, found)
        # Its CPUs are held: while they run, the guest learns that its answer has been read.
        before = _state(first)
        first.machine.go_on()
        _finish_work(first, fd)
    with Guest(config, logs("second")) as second:
        _started_from(second, found)
        assert _state(second) == before
        second.boot()
        online = f"0-{cpus - 1}" if cpus > 1 else "0"
        assert second.agent.read_file("/sys/devices/system/cpu/online").decode() == f"{online}\n"
        assert second.agent.read_file(BOOT_ID) == boot
        for cpu in {cpus - 1, cpus // 2, 0}:
            assert _runs_on(second, cpu) == cpu
        _finish_work(second, fd)
        assert _calls(second).count("state.load") == 1
        second.shut_down()


@pytest.mark.parametrize("cpus", [1, 4])
def test_a_guest_is_put_back_in_place(
    logs: Callable[[str], Path], zvmlab_dir: Path, cpus: int
) -> None:
    """Every register, key and page, and all of the CP, whatever has happened meanwhile."""
    config = _working(cpus)

    def state() -> dict[str, object]:
        found = _state(guest)
        # The CPUs run: the guest learns in a moment that its answer has been read.
        for name in ("query-users", "paths"):
            del found[name]
        for user in guest.control.execute("query-users")["users"]:
            found[user["name"]] = user["paths"]
        return found

    with Guest(config, logs("guest")) as guest:
        guest.boot()
        process, before = guest.emulator.pid, state()
        for _ in range(2):
            _start_work(guest)
            guest.agent.write_file("/tmp/much", bytes(20 << 20), 0o600)
            assert state() != before
            began = time.monotonic()
            guest.put_back()
            assert guest.stage is Stage.READY
            assert guest.emulator.pid == process and state() == before
            assert b"monreader" not in guest.agent.read_file("/proc/modules")
            with pytest.raises(OSError, match="No such file"):
                guest.agent.read_file("/tmp/much")
            assert _clock_is_set(guest, began)
        saved = bytearray((_cached(guest) / MACHINE).read_bytes())
        guest.machine.pause()
        guest.machine.restore(_cached(guest) / MACHINE)
        again = bytearray(_save(guest, zvmlab_dir / "again"))
        assert _differing(QEMU, saved, again) == []
        guest.stop()  # its agent is at another place of its stream than we


@pytest.mark.parametrize("size", [1 << 20, 20 << 20], ids=["few", "many"])
def test_all_of_storage_is_put_back(
    logs: Callable[[str], Path], zvmlab_dir: Path, size: int
) -> None:
    """Where a segment was shown, too; few pages that have changed are copied, many discarded."""
    with Guest(GuestConfig(), logs("guest")) as guest:
        guest.boot()
        guest.agent.modprobe("monreader").check()
        guest.agent.rmmod("monreader").check()
        guest.agent.write_file("/tmp/file", bytes(range(256)) * (size >> 8), 0o600)
        guest.machine.pause()
        guest.machine.restore(_cached(guest) / MACHINE)
        saved = bytearray((_cached(guest) / MACHINE).read_bytes())
        again = bytearray(_save(guest, zvmlab_dir / "again"))
        assert _differing(QEMU, saved, again) == []
        guest.stop()  # its agent is at another place of its stream than we


def _mapped(guest: Guest) -> int:
    """Bytes of the emulator's memory that are its checkpoint's storage, as long as nobody stores there."""
    maps = Path(f"/proc/{guest.emulator.pid}/maps").read_text().splitlines()
    name, size = str(_cached(guest) / MACHINE), 0
    for line in maps:
        place, rights, *rest = line.split(maxsplit=5)
        if rest[-1] == name and rights == "rw-p":
            first, end = place.split("-")
            size += int(end, 16) - int(first, 16)
    return size


def test_place_of_a_segment_is_the_files_again(logs: Callable[[str], Path]) -> None:
    """A guest that had a segment there is put back to what was there when it was saved."""
    with Guest(GuestConfig(), logs("guest")) as guest:
        guest.boot()
        before = _mapped(guest)
        guest.agent.modprobe("monreader").check()
        assert 0 < _mapped(guest) < before
        guest.put_back()
        assert _mapped(guest) == before


def _translations(guest: Guest, what: str) -> int:
    """A number that QEMU has about its translated code."""
    text = guest.qmp.execute("human-monitor-command", {"command-line": "info jit"})
    found = re.search(rf"^{what} +([0-9]+)", str(text), re.MULTILINE)
    assert found is not None, text
    return int(found[1])


def test_translations_outlive_a_guest_that_is_put_back(logs: Callable[[str], Path]) -> None:
    """Storage that is the same as before needs none anew, which takes longer than all the rest."""
    with Guest(GuestConfig(), logs("guest")) as guest:
        guest.boot()
        guest.put_back()
        thrown_away = _translations(guest, "TB flush count")
        there = _translations(guest, "TB count")
        assert there > 0
        for _ in range(3):
            guest.put_back()
            assert _translations(guest, "TB count") >= there
        assert _translations(guest, "TB flush count") == thrown_away


# LGHI R2,X'1234', and another one.
ANSWER, OTHER = b"\xa7\x29\x12\x34", b"\xa7\x29\x12\x56"


def test_code_of_before_does_not_run_after_a_guest_is_put_back(
    logs: Callable[[str], Path], program: Build
) -> None:
    """One instruction of a program that is there from the boot is written over, and comes back."""
    path = program("answer")
    place = path.read_bytes().index(ANSWER)

    def answers() -> set[int | None]:
        # Code is translated for each of the emulator's address spaces, which programs get in turn.
        return {guest.agent.run(["/bin/answer"]).status for _ in range(8)}

    with Guest(GuestConfig(files={"/bin/answer": path}), logs("guest")) as guest:
        guest.boot()
        for _ in range(3):
            assert answers() == {ANSWER[-1]}
            batch = guest.agent.batch()
            # In the page that it has.
            file = batch.open("/bin/answer", os.O_WRONLY)
            batch.pwrite(file, OTHER, place)
            batch.close(file)
            for result in batch.run():
                result.check()
            assert answers() == {OTHER[-1]}
            guest.put_back()


def test_guests_that_cannot_be_put_back(
    config: GuestConfig, logs: Callable[[str], Path], zvmlab_dir: Path
) -> None:
    with Guest(config, logs("guest")) as guest:
        guest.boot()
        if config.backend == HERCULES:
            assert not guest.can_go_back
            return
        # Its checkpoint has left the cache.
        found = zvmlab_dir / "elsewhere"
        guest._checkpoint, kept = found, guest._checkpoint
        with pytest.raises(UsageError, match="cannot be put back to a checkpoint"):
            guest.put_back()
        # Another file than the one that it is mapped from is as good.
        shutil.copytree(kept, found)
        guest.put_back()
        assert guest.agent.read_file(UUID)
        guest.console.report(Crash("warning", "WARNING: a test"))
        assert guest.expect_crash("warning").line == "WARNING: a test"
        assert not guest.can_go_back
    cold = GuestConfig(kernel=config.kernel)._replace(cold=True)
    with Guest(cold, logs("cold")) as guest:
        guest.boot()
        assert not guest.can_go_back


def test_the_cp_travels_with_qemus_own_migration(
    logs: Callable[[str], Path], zvmlab_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = _working(1)
    found = zvmlab_dir / "saved"

    def migrate(guest: Guest, command: str, uri: str) -> None:
        guest.qmp.execute(command, {"uri": uri})
        limit = fair(SECONDS)
        while (status := guest.qmp.execute("query-migrate").get("status")) != "completed":
            assert status != "failed" and not limit.over, status
            time.sleep(0.01)

    with Guest(config, logs("first")) as first:
        first.boot()
        fd = _start_work(first)
        first.machine.pause()
        found.mkdir()
        assert first._stream is not None
        info = first.agent.info._asdict()
        agent = {"stream": first._stream.end(), "info": info, "log": first._log.position}
        (found / AGENT).write_text(json.dumps(agent))
        migrate(first, "migrate", f"exec:cat > '{found / MACHINE}'")
        before = _state(first)
    with Guest(config, logs("second")) as second:

        def incoming(*_: object) -> Callable[[], None]:
            return lambda: migrate(second, "migrate-incoming", f"exec:cat '{found / MACHINE}'")

        monkeypatch.setattr(checkpoint, "begin_restore", incoming)
        _started_from(second, found)
        assert _state(second) == before
        second.boot()
        _finish_work(second, fd)
        second.shut_down()
