# SPDX-License-Identifier: MIT
"""One run of a program of kvm-unit-tests in one emulator."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from results import Run, run_of
from unittests import Case
from zvmlab.base.errors import EmulatorError, Timeout
from zvmlab.guest.qmp import Qmp, QmpError

# What a program says before it waits for a key: when it wants to be migrated, has nothing to be
# migrated for, or works while it is migrated.
_MIGRATE = b"Now migrate the VM"
_SKIPPED = b"Skipped VM migration"
_BEGINS = b"Begin continuous migration"
_ENDS = b"End continuous migration (quiet)"
_STATE = "state"
_SECONDS = 60.0
# A program that waits for what never comes uses no CPU time, whatever else the machine does.
IDLE_SECONDS = 90.0
_LEAST_CPU_SECONDS = 1.0
_POLL = 0.01


@dataclass(frozen=True)
class Variant:
    """A test in one of the machines that it runs in."""

    test: Case
    cpus: int
    """0: as the test's own options say."""
    model: str
    """Of the CPU; "": QEMU's default, or as the test's own options say."""

    def __str__(self) -> str:
        words = [self.test.name]
        if self.cpus:
            words.append(f"{self.cpus} CPU{'s' if self.cpus > 1 else ''}")
        return ", ".join([*words, *([f"-cpu {self.model}"] if self.model else [])])

    @property
    def label(self) -> str:
        """For a file's name."""
        return "-".join(filter(None, (self.test.name, str(self.cpus or ""), self.model)))

    def options(self, program: Path) -> list[str]:
        """QEMU's options, without those of its monitor."""
        return [
            *("-nodefaults", "-no-user-config", "-display", "none"),
            *("-machine", "s390-ccw-virtio", "-accel", "tcg"),
            *("-chardev", "stdio,id=console", "-device", "sclpconsole,chardev=console"),
            *("-kernel", str(program)),
            *(("-append", self.test.arguments) if self.test.arguments else ()),
            *(("-smp", str(self.cpus)) if self.cpus else ()),
            *(("-cpu", self.model) if self.model else ()),
            *self.test.options,
        ]


def variants(test: Case) -> list[Variant]:
    """With its own number of CPUs and with four; and with the CPU that zvmlab's guests have."""
    numbers = [0] if "-smp" in test.options else sorted({test.cpus, 4})
    found = [Variant(test, number, "") for number in numbers]
    if "-cpu" not in test.options:
        found.append(Variant(test, numbers[0] if len(numbers) == 1 else test.cpus, "max"))
    return found


@dataclass
class Machine:
    """An emulator in a folder; the console is in a file of its own."""

    emulator: Path
    options: list[str]
    seconds: float
    folder: Path
    _processes: int = 0
    _process: subprocess.Popen[bytes] | None = None
    _open: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    @property
    def console(self) -> Path:
        """All that the program says."""
        return self.folder / "console.txt"

    def _start(self, *more: str) -> None:
        self._processes += 1
        argv = [str(self.emulator), *self.options, *more]
        argv += ["-qmp", f"unix:{self._monitor.name},server=on,wait=off"]
        console = self._open.enter_context(open(self.console, "ab"))
        log = self._open.enter_context(open(self._log, "ab"))
        self._process = subprocess.Popen(
            argv, cwd=self.folder, stdin=subprocess.PIPE, stdout=console, stderr=log
        )
        limit = int(self.seconds) + 1
        resource.prlimit(self._process.pid, resource.RLIMIT_CPU, (limit, limit))

    @property
    def _log(self) -> Path:
        return self.folder / "emulator.log"

    @property
    def _monitor(self) -> Path:
        return self.folder / f"monitor-{self._processes}"

    def _check(self) -> None:
        assert self._process is not None
        if self._process.poll() is not None:
            raise EmulatorError("the emulator has ended")

    def _await(self, there: Callable[[], bool], what: str) -> None:
        limit = time.monotonic() + _SECONDS
        while not there():
            if time.monotonic() > limit:
                raise Timeout(f"the machine did not {what} within {_SECONDS:g} s")
            time.sleep(_POLL)

    def _press_key(self) -> None:
        assert self._process is not None and self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it ends just now
            self._process.stdin.write(b"\n")
            self._process.stdin.flush()

    def _migrate(self) -> None:
        """Through a file into another process, which goes on."""
        (self.folder / _STATE).unlink(missing_ok=True)
        with Qmp(self._monitor, _SECONDS, self._check) as qmp:
            qmp.execute("migrate", {"uri": f"exec:cat > {_STATE}"})
            self._await(
                lambda: bool(qmp.execute("query-migrate").get("status") == "completed"),
                "be migrated",
            )
        self._stop()
        self._start("-incoming", f"exec:cat {_STATE}")
        with Qmp(self._monitor, _SECONDS, self._check) as qmp:
            # A key that is pressed before would be lost.
            self._await(lambda: bool(qmp.execute("query-status")["status"] == "running"), "go on")

    @property
    def _answers(self) -> dict[bytes, Callable[[], None]]:
        def migrate() -> None:
            self._migrate()
            self._press_key()

        def migrate_at_work() -> None:
            self._press_key()
            self._migrate()

        return {
            _MIGRATE: migrate,
            _SKIPPED: self._press_key,
            _BEGINS: migrate_at_work,
            _ENDS: self._press_key,
        }

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _cpu_seconds(self) -> float:
        """CPU time of the emulator so far (proc(5))."""
        assert self._process is not None
        try:
            stat = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="ascii")
        except OSError:
            return 0.0
        words = stat.rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def _follow(self) -> bool:
        """Until the emulator ends; False if it reached its limit, or does nothing."""
        answered: Counter[bytes] = Counter()
        looked, spent = time.monotonic(), 0.0
        while True:
            assert self._process is not None
            status = self._process.poll()
            if status is not None:
                return status >= 0
            if time.monotonic() > looked + IDLE_SECONDS:
                now = self._cpu_seconds()
                if abs(now - spent) < _LEAST_CPU_SECONDS:
                    return False
                looked, spent = time.monotonic(), now
            said = self.console.read_bytes()
            for request, answer in self._answers.items():
                if said.count(request) > answered[request]:
                    answered[request] += 1
                    answer()
            time.sleep(_POLL)

    def run(self) -> Run:
        """Run the program to its end, or its limit."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.console.touch()
        try:
            self._start()
            ended = self._follow()
        except (EmulatorError, QmpError, Timeout) as error:
            ended = True
            with open(self._log, "a", encoding="utf-8") as log:
                log.write(f"{error}\n")
        finally:
            self._stop()
            self._open.close()
            (self.folder / _STATE).unlink(missing_ok=True)
        return run_of(self.console.read_bytes(), ended)
