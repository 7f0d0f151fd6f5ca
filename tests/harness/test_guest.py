# SPDX-License-Identifier: MIT
"""The life of a guest against a fake emulator: every way to end leaves nothing behind."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from fake_guest import Fake, fake

from zvmlab.base.errors import CannotRun, EmulatorError, GuestPanic, Timeout, UsageError
from zvmlab.base.owned import discard
from zvmlab.guest.config import (
    MIB,
    Channels,
    GuestConfig,
    Artifacts,
    emulator_arguments,
    normal_storage,
)
from zvmlab.guest.guest import Guest, Stage
from zvmlab.guest.run_dir import find_guest


__all__ = ["fake"]  # a fixture: importing it is using it

BOOT_SECONDS = 90


def _guest(fake: Fake, logs: Path | None = None, **fields: object) -> Guest:
    return Guest(GuestConfig(**fields), logs or fake.folder / "logs", fake.artifacts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "mib"),
    [
        ({}, 152),
        ({"segments": ()}, 128),
        ({"storage": "0.140M 200M.200M"}, 400),
        ({"storage": "0.64M", "segments": ("DATA 10000-100FF EN 20000-200FF SW",)}, 513),
        ({"storage": "0.2049M", "segments": ()}, 2052),
        ({"storage": "0.1G 4G.1G", "segments": ()}, 5120),
        ({"storage": "0.128m", "segments": ("A 8000-8000 SC",)}, 129),
    ],
)
def test_emulated_storage(fields: dict[str, object], mib: int) -> None:
    assert GuestConfig(**fields).emulated_storage() == mib * MIB  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"cpus": 0}, "invalid number of CPUs: 0 .qemu supports 1 to 64"),
        ({"cpus": 65}, "invalid number of CPUs: 65 "),
        ({"backend": "hercules", "count_instructions": True}, "counted in qemu only, not in her"),
        ({"backend": "hercules", "deterministic": True}, "counted in qemu only, not in her"),
        ({"interactive": True, "deterministic": True}, "a person at its console cannot be det"),
        ({"schedule": 7}, r"a schedule needs a guest that counts its instructions \(count_instr"),
        ({"deterministic": True, "schedule": -1}, r"seed of a schedule: -1 \(0 to 2\^63 - 1\)"),
        ({"count_instructions": True, "schedule": 1 << 63}, "invalid seed of a schedule: 92233720"),
        (
            {"system": Path("/s"), "count_instructions": True},
            "only if, its system is deterministic",
        ),
        ({"storage": ""}, "the storage has no extent"),
        ({"storage": "0-140M"}, "storage extent '0-140M' is not START.SIZE"),
        ({"storage": "0.256M STANDBY"}, "a size has to follow STANDBY, as in STANDBY 256M; ''"),
        ({"storage": "0.1M reserved 5"}, "a size has to follow reserved, .*; '5' is none"),
        ({"storage": "0.99999999G"}, "1048576 MiB are possible"),
        ({"segments": ("MONDCSS",)}, "segment 'MONDCSS' is not NAME FIRST-LAST TYPE"),
        ({"cp": {"storage": "0.64M"}}, "the CP option storage has an option of its own"),
        ({"cp": {"trace-data": "full"}}, "the CP option trace-data has an option of its own"),
        ({"trace_data": "long"}, "invalid trace data: 'long' .short or full"),
    ],
)
def test_configurations_that_cannot_be(fields: dict[str, object], text: str) -> None:
    with pytest.raises(UsageError, match=text):
        GuestConfig(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("files", [{}, {"/bin/x": Path("x")}])
def test_other_processes_can_be_given_a_configuration(files: dict[str, Path]) -> None:
    config = GuestConfig(cpus=2, files=files)
    assert pickle.loads(pickle.dumps(config)) == config


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("128M", "0.128M"),
        ("0.140M,200M.200M", "0.140M 200M.200M"),
        (" 0.140M  200M.200M ", "0.140M 200M.200M"),
        ("256M standby 256M RESERVED 1G", "0.256M standby 256M RESERVED 1G"),
        ("1T", "0.1T"),
    ],
)
def test_normal_storage(text: str, words: str) -> None:
    assert normal_storage(text) == words


def test_emulator_has_storage_that_comes_later() -> None:
    """Standby and reserved storage lie behind the extent."""
    config = GuestConfig(storage="0.256M STANDBY 256M RESERVED 0", segments=())
    assert config.emulated_storage() == 512 << 20
    assert config._replace(storage="0.256M RESERVED 1G").emulated_storage() == 1280 << 20
    assert config._replace(storage="0.1T").emulated_storage() == 1 << 40


@pytest.mark.parametrize(
    ("kernel", "storage"),
    [
        ("bookworm", "0.128M"),
        ("debug", "0.128M"),
        ("~/linux:debug", "0.128M"),
        ("source:6.1:full", "0.128M"),
        ("source:6.1:full:debug", "0.144M 152M.104M"),
        ("~/linux:./my.config:debug", "0.144M 152M.104M"),
    ],
)
def test_large_kernels_have_more_storage(kernel: str, storage: str) -> None:
    """Beside the default segment, which is from 144 to 152 MiB."""
    assert GuestConfig(kernel=kernel).storage == storage
    assert GuestConfig(kernel=kernel, storage="0.64M").storage == "0.64M"


def test_command_line(tmp_path: Path) -> None:
    config = GuestConfig(cpus=2, cp={"directory": "IUCV ANY;IUCV *MONITOR", "userid": "A,B"})
    artifacts = Artifacts(Path("/q"), Path("/k"), "6.1", Path("/i"))
    channels = Channels(Path("/c"), Path("/m"), Path("/l"), None, None)
    words = emulator_arguments(config, artifacts, channels)
    pairs = dict(zip(words, words[1:]))
    assert words[0] == "/q" and words[-1] == "-S"
    assert (pairs["-smp"], pairs["-m"], pairs["-initrd"]) == ("2", "152M", "/i")
    assert pairs["-object"] == (
        "zvmlab-cp,id=cp,storage=0.128M,segment=MONDCSS 9000-97FF SC RSTD,"
        "directory=IUCV ANY;IUCV *MONITOR,userid=A,,B,control=/c"
    )
    assert pairs["-chardev"] == "file,id=console,path=/l,append=on"
    assert "-incoming" not in words
    restored = emulator_arguments(config, artifacts, channels, restored=True)
    assert " ".join(restored).endswith(" -incoming defer -S")
    full = GuestConfig(trace_data="full")
    assert ",trace-data=full,control=/c" in " ".join(emulator_arguments(full, artifacts, channels))
    counted = GuestConfig(count_instructions=True)
    assert "-icount" not in words and "-rtc" not in words and "-seed" not in words
    member = " ".join(emulator_arguments(GuestConfig(system=Path("/s")), artifacts, channels))
    assert "-object memory-backend-memfd,id=ram,size=152M " in member
    assert "-machine s390-ccw-virtio,memory-backend=ram " in member
    assert ",system=/s " in member
    fixed = " ".join(emulator_arguments(GuestConfig(deterministic=True), artifacts, channels))
    assert "-icount shift=0,sleep=off -rtc base=2026-01-01T00:00:00,clock=vm -seed 1" in fixed
    assert "-icount shift=0,sleep=off" in " ".join(emulator_arguments(counted, artifacts, channels))
    assert "-accel tcg,tb-size=128 -cpu" in " ".join(words)
    unlimited = emulator_arguments(GuestConfig(translations=0), artifacts, channels)
    assert "-accel tcg -cpu" in " ".join(unlimited)
    few = GuestConfig(translations=32)
    assert "-accel tcg,tb-size=32" in " ".join(emulator_arguments(few, artifacts, channels))
    assert "zvmlab.shell=1" not in pairs["-append"]
    image = tmp_path / "a,b.img"
    image.touch()
    own = GuestConfig(devices=("virtio-rng-ccw", f"virtio-blk-ccw,devno=fe.0.0001,file={image}"))
    found = " ".join(emulator_arguments(own, artifacts, channels))
    assert "-device virtio-rng-ccw -drive id=drive1,if=none,format=raw,file=" in found
    assert "a,,b.img -device virtio-blk-ccw,devno=fe.0.0001,drive=drive1 " in found
    with pytest.raises(UsageError, match="no such image: '/none'"):
        emulator_arguments(GuestConfig(devices=("x,file=/none",)), artifacts, channels)
    assert "zvmlab.shell=1" in GuestConfig(interactive=True).kernel_parameters()
    assert "possible_cpus=4" in GuestConfig(cpus=4).kernel_parameters().split()


def test_a_kernel_lies_where_it_did_unless_it_is_told_to_move() -> None:
    assert "nokaslr" in GuestConfig().kernel_parameters().split()
    assert "nokaslr" not in GuestConfig(command_line="quiet kaslr").kernel_parameters().split()
    assert "nokaslr" in GuestConfig(command_line="x=kaslr").kernel_parameters().split()


def test_the_ladder(fake: Fake) -> None:
    with _guest(fake, name="ladder", cpus=2) as guest:
        stages = [guest.stage]
        with pytest.raises(
            UsageError, match=r"the guest has no control socket yet; call start\(\)"
        ):
            guest.cp("QUERY TIME")
        guest.start()
        stages.append(guest.stage)
        assert guest.cp("QUERY TIME").response == "OK QUERY TIME\n"
        assert find_guest("ladder").cpus == 2
        assert guest.console.text() == ""
        guest.resume()
        stages.append(guest.stage)
        with pytest.raises(UsageError, match=r"no agent yet; call boot\(\) first"):
            guest.agent  # pylint: disable=pointless-statement
    assert [*stages, guest.stage] == [Stage.MADE, Stage.PAUSED, Stage.RUNNING, Stage.OFF]
    assert "Linux version fake" in guest.console.text()
    guest.stop()


def test_refused_options_are_the_emulators_words(fake: Fake) -> None:
    fake.mode("refuse")
    with pytest.raises(UsageError, match="the CP refuses its configuration: no such option$"):
        with _guest(fake) as guest:
            guest.start()


def test_an_emulator_that_opens_no_socket(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    fake.mode("deaf")
    monkeypatch.setattr("zvmlab.guest.guest.START_SECONDS", 0.5)
    with pytest.raises(Timeout, match="QEMU did not open its socket"):
        with _guest(fake) as guest:
            guest.start()


@pytest.mark.parametrize("mode", ["panic", "warn"])
def test_a_crash_ends_the_wait_for_the_agent(fake: Fake, mode: str) -> None:
    fake.mode(mode)
    started = time.monotonic()
    with pytest.raises(GuestPanic, match="panic|warning") as caught:
        with _guest(fake, boot_seconds=BOOT_SECONDS) as guest:
            guest.boot()
    assert time.monotonic() - started < BOOT_SECONDS
    assert "fake" in caught.value.tail


def test_a_crash_that_was_not_asked_for_is_none(fake: Fake) -> None:
    fake.mode("warn")
    late = r"the guest's agent did not answer within 1 s, in which the emulator had \d\.\d s of CPU"
    with pytest.raises(Timeout, match=late) as caught:
        with _guest(fake, crashes=("panic",), boot_seconds=1) as guest:
            guest.boot()
    assert "WARNING" in "".join(caught.value.__notes__)


def test_an_emulator_killed_while_waited_for(fake: Fake) -> None:
    with pytest.raises(EmulatorError, match="the emulator was killed by SIGKILL"):
        with _guest(fake) as guest:
            guest.start()
            threading.Timer(0.3, os.kill, (fake.pid, signal.SIGKILL)).start()
            guest.boot()


def test_a_guest_that_is_killed_while_waited_for(fake: Fake) -> None:
    with pytest.raises(EmulatorError, match="the emulator was killed by SIGKILL"):
        with _guest(fake) as guest:
            guest.kill()  # which is nothing yet
            guest.start()
            threading.Timer(0.3, guest.kill).start()
            guest.boot()
    guest.kill()


def test_a_guest_that_powers_off_unasked(fake: Fake) -> None:
    fake.mode("exit")
    with pytest.raises(EmulatorError, match="ended because the guest powered off unasked"):
        with _guest(fake) as guest:
            guest.boot()


def test_a_guest_that_is_to_end_may_do_so_at_once(fake: Fake) -> None:
    fake.mode("exit")
    with _guest(fake) as guest:
        guest.start()
        guest.emulator.expect_exit()
        guest.resume()
        assert guest.emulator.wait(60) == 0


def test_a_guest_that_ends_while_it_is_asked(fake: Fake) -> None:
    """The end of zvmlab shell: CP's connection ends before the process does."""
    fake.mode("leave")
    with _guest(fake) as guest:
        guest.start()
        guest.resume()
        guest.emulator.expect_exit()
        guest.settle()
        assert not guest.alive and guest.control.closed
    with pytest.raises(EmulatorError, match="powered off unasked"):
        with _guest(fake) as guest:
            guest.start()
            guest.resume()
            guest.settle()


def test_a_disabled_wait_is_told_from_a_power_off(fake: Fake) -> None:
    fake.mode("wait")
    with pytest.raises(GuestPanic) as caught:
        with _guest(fake) as guest:
            guest.boot()
    psw = "00020001 80000000 00000000 0000DEAD"
    assert str(caught.value) == f"the guest is in a disabled wait (CPU 0, PSW {psw})"


def test_a_guest_that_ends_while_it_is_looked_at(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at the console and the one at the emulator: the cause is told."""
    fake.mode("wait")
    with pytest.raises(GuestPanic, match="is in a disabled wait"):
        with _guest(fake) as guest:
            guest.start()
            alive, check = guest.emulator.alive, guest.emulator.check

            def ended_meanwhile() -> None:
                guest.emulator.wait(60)
                check()

            monkeypatch.setattr(guest.emulator, "check", ended_meanwhile)
            monkeypatch.setattr(type(guest.emulator), "alive", alive)
            guest.resume()
            guest.check()


@pytest.mark.parametrize(
    ("command", "error", "text"),
    [
        ("WARN", GuestPanic, "reported a warning"),
        ("PANIC", GuestPanic, "reported a panic"),
        ("WAIT", GuestPanic, "is in a disabled wait"),
        ("EXIT", EmulatorError, "the guest powered off unasked"),
        ("DIE", EmulatorError, "was killed by SIGKILL"),
    ],
)
def test_a_crash_after_the_last_call_is_raised_at_the_end(
    fake: Fake, command: str, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        with _guest(fake) as guest:
            guest.resume()
            with contextlib.suppress(GuestPanic, EmulatorError):
                guest.cp(command)


def test_an_emulator_killed_by_the_last_line_is_noticed(fake: Fake) -> None:
    with pytest.raises(EmulatorError, match="was killed by SIGSEGV"):
        with _guest(fake) as guest:
            guest.start()
            os.kill(guest.emulator.pid, signal.SIGSEGV)


def test_an_error_that_is_on_its_way_is_not_hidden_by_a_crash(fake: Fake) -> None:
    with pytest.raises(ZeroDivisionError):
        with _guest(fake) as guest:
            guest.resume()
            guest.cp("WARN")
            raise ZeroDivisionError


def test_a_crash_is_noticed_though_the_test_has_ended_the_guest(fake: Fake) -> None:
    with pytest.raises(GuestPanic, match="reported a warning"):
        with _guest(fake) as guest:
            guest.resume()
            guest.cp("WARN")
            guest.stop()


def test_a_crash_that_was_expected_is_none(fake: Fake) -> None:
    with _guest(fake) as guest:
        guest.resume()
        guest.cp("WARN")
        assert "WARNING: CPU: 0 PID: 9" in guest.expect_crash("warning").line
    with pytest.raises(GuestPanic, match="reported a panic"):
        with _guest(fake) as guest:
            guest.resume()
            guest.cp("WARN")
            guest.expect_crash("warning")
            with open(guest.console.path, "a", encoding="ascii") as log:
                log.write("[    2.0] Kernel panic - not syncing: another one\n")


def test_a_disabled_wait_that_was_expected_is_none(fake: Fake) -> None:
    with _guest(fake) as guest:
        guest.resume()
        with contextlib.suppress(GuestPanic, EmulatorError):
            guest.cp("WAIT")
        guest.emulator.wait(60)
        assert guest.expect_crash("disabled wait").line.startswith("CPU 0, PSW 00020001")


def test_a_time_out_says_where_the_cpus_are(fake: Fake) -> None:
    with pytest.raises(Timeout) as caught:
        with _guest(fake, boot_seconds=0.2) as guest:
            guest.boot()
    (note,) = [note for note in caught.value.__notes__ if "CPU#0" in note]
    assert note.splitlines() == [
        "the agent does not answer; the emulator says of the CPUs:",
        "CPU#0",
        "PSW=mask 0002000180000000 addr 000000000000dead cc 00",
    ]


def test_a_time_out_within_the_block_says_it_too(fake: Fake) -> None:
    with pytest.raises(Timeout) as caught:
        with _guest(fake) as guest:
            guest.resume()
            raise Timeout("the test waited in vain")
    assert "PSW=mask 0002000180000000" in "".join(caught.value.__notes__)


def test_ctrl_c_while_booting(fake: Fake) -> None:
    # Python gives the signal to the main thread alone: it would end the worker, not this test.
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("execnet runs this worker's tests outside of the main thread")
    with pytest.raises(KeyboardInterrupt):
        with _guest(fake) as guest:
            guest.start()
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
            guest.boot()
    assert fake.gone()


def test_what_an_earlier_guest_has_said_counts_no_more(fake: Fake) -> None:
    """Its panic, and its disk that was full."""
    logs = fake.folder / "logs"
    logs.mkdir()
    psw = "PSW=0002000180000000 000000000000DEAD"
    (logs / "emulator.log").write_text(
        f"qemu-system-s390x: zvmlab-cp: CPU0000: Disabled wait state {psw}\n"
        "zvmlab: trace file /x ends here: No space left on device\n"
    )
    (logs / "console.log").write_text("[    1.0] Kernel panic - not syncing: another guest's\n")
    for _ in range(2):
        with _guest(fake, logs) as guest:
            guest.start()
            guest.resume()
    assert guest.console.text() == "[    0.100000] Linux version fake\n"


def test_two_guests_cannot_keep_their_logs_in_one_folder(fake: Fake) -> None:
    logs = fake.folder / "logs"
    with _guest(fake, logs) as guest:
        guest.start()
        with pytest.raises(UsageError, match="another guest keeps its logs in .*/logs; choose"):
            with _guest(fake, logs) as other:
                other.start()
        guest.resume()
    with _guest(fake, logs) as guest:
        guest.start()


def test_logs_that_cannot_be_written(fake: Fake) -> None:
    with pytest.raises(CannotRun, match=r"cannot write /dev/null/logs \(Not a directory\); free"):
        _guest(fake, Path("/dev/null/logs"))


def test_a_full_disk_is_named_as_the_cause(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zvmlab.guest.guest.free_bytes", lambda folder: 0)
    with pytest.raises(CannotRun, match="the disk of .*/logs is full; free some space or choose"):
        with _guest(fake, boot_seconds=0.5) as guest:
            guest.boot()


def test_what_a_full_disk_may_have_lost_is_no_sign_of_health(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing has failed: neither emulator says that the console is lost."""
    with pytest.raises(CannotRun, match="the disk of .*/logs is full; free some space or choose"):
        with _guest(fake) as guest:
            guest.resume()
            monkeypatch.setattr("zvmlab.guest.guest.free_bytes", lambda folder: 0)


def test_a_socket_path_that_is_too_long(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZVMLAB_RUN", str(fake.run / ("x" * 90)))
    with pytest.raises(UsageError, match="at most 107\\); set ZVMLAB_RUN"):
        _guest(fake)
    assert discard(fake.run / ("x" * 90))
