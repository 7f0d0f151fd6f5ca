# SPDX-License-Identifier: MIT
"""Lines of Linux' sources that ran: the counts of guests whose kernel counts them.

    counts = Counts(Path("coverage"))
    counts.begin(guest)                  # from here on they are the test's
    counts.keep(guest, "tests/e2e/test_smsg.py::test_smsg_arrives[…]")

`zvmlab.builder.count_folder` says how the folder looks.  A module's counts stay in the kernel when it
is unloaded; a kernel that ends takes its counts along.
"""

from __future__ import annotations

import contextlib
import errno
import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from weakref import WeakKeyDictionary

from zvmlab.agent.wire import AgentLost
from zvmlab.agent.worker import Worker
from zvmlab.base.errors import Timeout, UsageError
from zvmlab.builder.count_folder import BOOT, of_kernel
from zvmlab.builder.kernel import counts_lines
from zvmlab.builder.kernels import resolve
from zvmlab.builder.linux_files import BUILT_IN, COUNTS, NOTES, gcov_folder
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest, Stage

_SECONDS = 60.0
_BOOT_ID = "/proc/sys/kernel/random/boot_id"
DEBUGFS = PurePosixPath("/sys/kernel/debug/gcov")


def check_counts(kernel: str) -> None:
    """UsageError if that kernel counts no lines."""
    if not counts_lines(kernel):
        raise UsageError(
            f"kernel {kernel} counts no lines; --coverage needs the kernel 'coverage', or a source"
            " tree with that word, such as source:6.12:coverage"
        )


class Counts:
    """Keeps the counts of guests in a folder, by the tests that ran in them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()
        self._booted: list[GuestConfig] = []
        self._boots: WeakKeyDictionary[Guest, bytes] = WeakKeyDictionary()

    def begin(self, guest: Guest) -> None:
        """Let the guest count from zero; what its boot ran is kept, once for its configuration."""
        if not answers(guest):
            return
        if guest.config not in self._booted:
            self._booted.append(guest.config)
            self.keep(guest, BOOT)
        self._boots[guest] = _boot(guest)
        guest.agent.write_file(str(DEBUGFS / "reset"), b"1")

    def keep(self, guest: Guest, test: str) -> None:
        """Keep what a test has run, or why that is lost."""
        kernel = resolve(guest.config.kernel)
        gcov = gcov_folder(kernel)
        if gcov is None or guest.stage < Stage.PAUSED:
            return
        counts = of_kernel(self._folder, kernel)
        if not answers(guest):
            crash = guest.console.crash
            counts.add(test, crash.line if crash else "the guest ended before it could be asked")
            return
        folder = counts.add(test)
        try:
            if self._boots.get(guest, boot := _boot(guest)) != boot:
                counts.add(test, "the guest booted again, and what it had run before is lost")
            _read(guest, gcov, folder)
        except (AgentLost, Timeout) as error:
            shutil.rmtree(folder)
            counts.add(test, str(error).splitlines()[0])

    @contextlib.contextmanager
    def of(self, guest: Guest, test: str) -> Iterator[None]:
        """Keep what runs within, also if that fails."""
        try:
            yield
        finally:
            self.keep(guest, test)


def answers(guest: Guest) -> bool:
    """Can the guest be asked something?"""
    there = guest.can_answer and guest.emulator.alive and not guest.console.crash
    # A crash ends all connections, and an expected one is none for the console any more.
    return there and not guest.control.closed


def _boot(guest: Guest) -> bytes:
    """Another one after each boot, the same one when the guest is put back."""
    return guest.agent.looker(_SECONDS).read_file(_BOOT_ID)


def _read(guest: Guest, gcov: Path, folder: Path) -> None:
    worker = guest.agent.looker(_SECONDS)  # whatever sleeps in the others for good
    names = (gcov / BUILT_IN).read_text(encoding="utf-8").splitlines()
    folders = [DEBUGFS / PurePosixPath(name).relative_to("/") for name in names]
    for notes in sorted(gcov.rglob(f"*{NOTES}")):
        source = notes.relative_to(gcov).with_suffix(COUNTS)
        found = (_counts(worker, folder / source) for folder in folders)
        counts = next((one for one in found if one is not None), None)
        if counts is not None:
            target = folder / source
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(counts)


def _counts(worker: Worker, path: PurePosixPath) -> bytes | None:
    """None for a module that was never loaded."""
    try:
        return worker.read_file(str(path))
    except OSError as error:
        if error.errno == errno.ENOENT:
            return None
        raise
