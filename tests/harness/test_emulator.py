# SPDX-License-Identifier: MIT
"""The emulator's process: its end is explained, and nothing of it is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fake_guest import ended

from zvmlab.base.errors import CannotRun, EmulatorError, Timeout
from zvmlab.base.limit import FairLimit
from zvmlab.builder.launcher import ending_with_us
from zvmlab.guest import emulator as emulator_module
from zvmlab.guest.emulator import Emulator


SECONDS = 60


def _wait_for(log: Path, text: str) -> None:
    """Until a line of it ends so: a program may write a line and its end one after the other."""
    limit = time.monotonic() + SECONDS
    while f"{text}\n" not in log.read_text():
        assert time.monotonic() < limit, f"no line of {log} ends with {text!r}"
        time.sleep(0.01)


def _gone(pid: int) -> bool:
    limit = time.monotonic() + SECONDS
    while time.monotonic() < limit:
        if ended(pid):
            return True
        time.sleep(0.01)
    return False


def test_exit_is_explained_with_the_last_words(tmp_path: Path) -> None:
    log = tmp_path / "log"
    emulator = Emulator(["sh", "-c", "echo first; echo 'no such machine.' >&2; exit 3"], log)
    assert emulator.wait(SECONDS) == 3
    with pytest.raises(EmulatorError) as caught:
        emulator.check()
    text = f"the emulator ended with exit code 3: no such machine; its log is {log}"
    assert str(caught.value) == text


def test_kill_is_explained(tmp_path: Path) -> None:
    emulator = Emulator(["sh", "-c", "echo all is well; exec sleep 100"], tmp_path / "log")
    _wait_for(tmp_path / "log", "all is well")
    emulator.check()
    os.kill(emulator.pid, signal.SIGKILL)
    emulator.wait(SECONDS)
    with pytest.raises(EmulatorError, match="the emulator was killed by SIGKILL; its log is"):
        emulator.check()


def test_log_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Something lets it fill the disk: it is killed, and its last line told."""
    monkeypatch.setattr(emulator_module, "LOG_MAX", 1 << 20)
    log = tmp_path / "log"
    program = "import sys, time; print('x' * (1 << 20)); print('again'); sys.stdout.flush(); time.sleep(900)"
    emulator = Emulator([sys.executable, "-c", program], log)
    _wait_for(log, "again")
    for _ in range(2):
        with pytest.raises(EmulatorError) as caught:
            emulator.check()
        assert str(caught.value) == (
            "the emulator was killed because its log has more than 1048576 bytes, and ends with: again"
        )
    assert _gone(emulator.pid)


@pytest.mark.parametrize(
    ("said", "how"),
    [
        (
            "qemu: terminating on signal 15 from pid 9 (kill)",
            "ended by SIGTERM from process 9 (kill)",
        ),
        ("qemu: terminating on signal 1 from pid 9", "ended by SIGHUP from process 9"),
        ("zvmlab: told to quit", "told to quit"),
    ],
)
def test_end_that_somebody_asked_for(tmp_path: Path, said: str, how: str) -> None:
    """An emulator ends with exit code 0 then, as after a power-off."""
    emulator = Emulator(["sh", "-c", f"echo '{said}' >&2"], tmp_path / "log")
    assert emulator.wait(SECONDS) == 0
    with pytest.raises(EmulatorError) as caught:
        emulator.check()
    assert str(caught.value) == f"the emulator was {how}; its log is {tmp_path / 'log'}"


def test_emulator_that_is_stopped(tmp_path: Path) -> None:
    emulator = Emulator(["cat"], tmp_path / "log")
    emulator.check_runs()
    os.kill(emulator.pid, signal.SIGSTOP)
    limit = time.monotonic() + SECONDS
    while not emulator.halted:
        assert time.monotonic() < limit, "it was not stopped"
        time.sleep(0.001)
    with pytest.raises(Timeout, match=f"stopped, as by SIGSTOP; 'kill -CONT {emulator.pid}' lets"):
        emulator.check_runs()
    emulator.check()
    emulator.stop()
    assert not emulator.alive and not emulator.halted


def test_outlives_the_thread_that_started_it(tmp_path: Path) -> None:
    """The parent-death signal is a thread's; that of a test's helper ends long before the test."""
    log = tmp_path / "log"
    started: list[tuple[int, Emulator]] = []
    thread = threading.Thread(
        target=lambda: started.append((threading.get_native_id(), Emulator(["cat"], log)))
    )
    thread.start()
    thread.join()
    ((native_id, emulator),) = started
    limit = time.monotonic() + SECONDS
    while Path(f"/proc/self/task/{native_id}").exists():
        assert time.monotonic() < limit, "the thread has not ended"
        time.sleep(0.001)
    # Whoever has been sent SIGKILL does nothing more.
    emulator.command("still here")
    _wait_for(log, "still here")
    emulator.stop()


def test_many_threads_start_emulators_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        logs = [tmp_path / f"log{number}" for number in range(8)]
        emulators = list(pool.map(lambda log: Emulator(["sh", "-c", "exit 7"], log), logs))
    assert [emulator.wait(SECONDS) for emulator in emulators] == [7] * 8
    assert len({emulator.pid for emulator in emulators}) == 8


def test_a_hint_comes_with_its_error(tmp_path: Path) -> None:
    says = "echo 'sh: -device frob,id=1: no name: 1'; echo 'Names begin with a letter.'; exit 1"
    emulator = Emulator(["sh", "-c", f"echo 'sh: a warning'; {says}"], tmp_path / "log")
    emulator.wait(SECONDS)
    said = r"exit code 1: sh: -device frob,id=1: no name: 1 \(Names begin with a letter\);"
    with pytest.raises(EmulatorError, match=said):
        emulator.check()


def test_missing_program_is_explained(tmp_path: Path) -> None:
    emulator = Emulator(["/nonexistent/qemu"], tmp_path / "log")
    emulator.wait(SECONDS)
    with pytest.raises(
        EmulatorError, match="exit code 127: /nonexistent/qemu cannot be started: No such"
    ):
        emulator.check()


def test_expected_exit_is_no_error(tmp_path: Path) -> None:
    emulator = Emulator(["true"], tmp_path / "log")
    emulator.expect_exit()
    emulator.wait(SECONDS)
    emulator.check()


def test_wait_has_a_limit(tmp_path: Path) -> None:
    emulator = Emulator(["sleep", "100"], tmp_path / "log")
    with pytest.raises(Timeout, match="the emulator did not end within 0.1 s"):
        emulator.wait(0.1)
    emulator.stop()
    assert not emulator.alive


def test_stop_ends_the_deaf_and_their_children(tmp_path: Path) -> None:
    log = tmp_path / "log"
    deaf = "trap '' TERM; (trap '' TERM; sleep 100) & echo $!; while :; do sleep 1; done"
    emulator = Emulator(["sh", "-c", deaf], log)
    _wait_for(log, "")
    child = int(log.read_text())
    emulator.stop()
    emulator.stop()
    assert not emulator.alive
    assert _gone(child)


def _ends_on_sigterm(log: Path, how: str) -> Emulator:
    """A process that ends so when it is told to end."""
    program = (
        "import os, resource, signal, sys, time\n"
        "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
        f"signal.signal(signal.SIGTERM, lambda *_: {how})\n"
        "print('ready', flush=True)\n"
        "time.sleep(1000)\n"
    )
    emulator = Emulator([sys.executable, "-c", program], log)
    _wait_for(log, "ready")
    return emulator


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "the emulator was killed by SIGSEGV"),
        ("os.abort()", "the emulator was killed by SIGABRT"),
        ("sys.exit('AddressSanitizer')", "ended with exit code 1: AddressSanitizer"),
    ],
)
def test_an_emulator_that_dies_while_it_is_stopped_is_at_fault(
    tmp_path: Path, how: str, text: str
) -> None:
    emulator = _ends_on_sigterm(tmp_path / "log", how)
    emulator.check()
    emulator.stop()
    with pytest.raises(EmulatorError, match=text):
        emulator.check()


@pytest.mark.parametrize("how", ["os._exit(0)", "None"])
def test_an_emulator_that_was_stopped_is_none(tmp_path: Path, how: str) -> None:
    """One that does not listen is killed."""
    emulator = _ends_on_sigterm(tmp_path / "log", how)
    emulator.stop()
    emulator.check()


def test_an_end_that_is_expected_is_no_fault(tmp_path: Path) -> None:
    emulator = Emulator(["sleep", "1000"], tmp_path / "log")
    emulator.expect_exit()
    os.kill(emulator.pid, signal.SIGSEGV)
    emulator.wait(SECONDS)
    with pytest.raises(EmulatorError, match="was killed by SIGSEGV"):
        emulator.check()
    for program in ("exit 3", "kill -KILL $$"):
        emulator = Emulator(["sh", "-c", program], tmp_path / "log")
        emulator.expect_exit()
        emulator.wait(SECONDS)
        emulator.check()


def test_an_earlier_log_goes(tmp_path: Path) -> None:
    """Nothing of what it says is this emulator's."""
    log = tmp_path / "log"
    log.write_text("zvmlab: trace file /x ends here: No space left on device\n")
    emulator = Emulator(["true"], log)
    emulator.wait(SECONDS)
    assert emulator.trace_ended() is None
    assert log.read_text() == ""


def test_log_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(CannotRun, match=r"cannot write .*/no/log \(No such file or directory\)"):
        Emulator(["true"], tmp_path / "no" / "log")


def test_a_killed_harness_takes_it_along(tmp_path: Path) -> None:
    """SIGKILL leaves the harness no chance to clean up."""
    program = (
        "import sys, time; from pathlib import Path; from zvmlab.guest.emulator import Emulator;"
        "e = Emulator(['sleep', '100'], Path(sys.argv[1]));"
        "print(e.pid, flush=True); time.sleep(100)"
    )
    argv = [sys.executable, "-c", program, str(tmp_path / "log")]
    harness = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    assert harness.stdout is not None
    pid = int(harness.stdout.readline())
    os.kill(pid, 0)
    harness.kill()
    harness.wait(SECONDS)
    harness.stdout.close()
    assert _gone(pid)


def test_an_emulator_whose_harness_is_dead_already_does_not_start(tmp_path: Path) -> None:
    started = tmp_path / "started"
    for pid, code in ((1, 1), (os.getpid(), 0)):
        argv = ending_with_us(["touch", str(started)], pid)
        assert subprocess.run(argv, timeout=SECONDS, check=False).returncode == code
        assert started.exists() == (code == 0)


def test_cpu_time_is_its_own(tmp_path: Path) -> None:
    """As the program itself says (times(2)); of one that has ended nothing is known."""
    log = tmp_path / "log"
    program = (
        "import os, sys\n"
        "while sum(os.times()[:2]) < 0.5: pass\n"
        "print(sum(os.times()[:2]), 'used', flush=True)\n"
        "sys.stdin.read()\n"
    )
    emulator = Emulator([sys.executable, "-c", program], log)
    _wait_for(log, "used")
    used = float(log.read_text().split()[0])
    assert used - 0.02 <= emulator.cpu_seconds() < used + 0.5
    emulator.stop()
    assert emulator.cpu_seconds() == 0.0


def test_time_without_a_cpu_is_told(tmp_path: Path) -> None:
    """Of two programs that share a CPU each waits for it; both have the program's own clocks."""
    log, cpu = tmp_path / "log", min(os.sched_getaffinity(0))
    program = (
        "import os, sys, time\n"
        f"os.sched_setaffinity(0, {{{cpu}}})\n"
        "begun = time.monotonic(), sum(os.times()[:2])\n"
        "while sum(os.times()[:2]) < 1: pass\n"
        "print(time.monotonic() - begun[0] - sum(os.times()[:2]) + begun[1], 'waited', flush=True)\n"
        "sys.stdin.read()\n"
    )
    busy = f"import os\nos.sched_setaffinity(0, {{{cpu}}})\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", busy]) as other:
        try:
            emulator = Emulator([sys.executable, "-c", program], log)
            _wait_for(log, "waited")
        finally:
            other.kill()
    waited = float(log.read_text().split()[0])
    assert waited > 0.1
    # What it waited for while it began is not in the program's number.
    assert waited - 0.05 <= emulator.starved_seconds() <= waited + 60
    emulator.stop()
    assert emulator.starved_seconds() == 0.0


def test_end_is_awaited_while_there_is_no_cpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    emulator = Emulator(["sleep", "900"], tmp_path / "log")
    told = iter((0.0, 0.0))

    def starved(_: Emulator) -> float:
        seconds = next(told, None)
        if seconds is None:  # the limit has come: there was no CPU, and now there is
            emulator.kill()
            return SECONDS
        return seconds

    monkeypatch.setattr(Emulator, "starved_seconds", starved)
    # A killed process, too, needs a CPU to end.
    monkeypatch.setattr(FairLimit, "LONGEST", SECONDS / 0.01)
    assert emulator.wait(0.01) == -signal.SIGKILL
