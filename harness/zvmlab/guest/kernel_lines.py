# SPDX-License-Identifier: MIT
"""Lines of Linux' sources that ran: the counts of guests whose kernel counts them.

    counts = Counts(Path("coverage"))
    counts.begin(guest)                  # from here on they are the test's
    counts.keep(guest, "tests/e2e/test_smsg.py::test_smsg_arrives[…]")

`zvmlab.builder.count_folder` says how the folder looks.  A module's counts stay in the kernel when it
is unloaded.  The counts of a guest that ends in QEMU are read from what it leaves in its storage; of one
that is killed, or boots again, they are lost.
"""

from __future__ import annotations

import contextlib
import errno
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from weakref import WeakKeyDictionary

from zvmlab.agent.wire import AgentLost
from zvmlab.agent.worker import Worker
from zvmlab.base.errors import Timeout, UsageError, ZvmlabError
from zvmlab.builder.count_folder import BOOT, of_kernel
from zvmlab.builder.kernel import Kernel, counts_lines
from zvmlab.builder.kernels import resolve
from zvmlab.builder.linux_files import BUILT_IN, COUNTS, NOTES, gcov_folder
from zvmlab.guest.config import QEMU, GuestConfig
from zvmlab.guest.console import ENDS
from zvmlab.guest.guest import Guest, Stage
from zvmlab.guest.last_counts import LastStorage, counts_in, list_head

_SECONDS = 60.0
_END_SECONDS = 20.0
_LINE_MAX = 200
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
        self._symbols: WeakKeyDictionary[Guest, str] = WeakKeyDictionary()

    def begin(self, guest: Guest) -> None:
        """Let the guest count from zero; what its boot ran is kept, once for its configuration."""
        if not answers(guest) or gcov_folder(resolve(guest.config.kernel)) is None:
            return
        if guest.config.backend == QEMU:
            guest.keep_last_storage()
            self._symbols[guest] = _symbol(guest)
        if guest.config not in self._booted:
            self._booted.append(guest.config)
            self.keep(guest, BOOT)
        self._boots[guest] = _boot(guest)
        guest.agent.write_file(str(DEBUGFS / "reset"), b"1")

    def keep(self, guest: Guest, test: str, undecided: str = "") -> None:
        """Keep what a test has run, or why that is lost; *undecided*: it "failed" or was "skipped"."""
        kernel = resolve(guest.config.kernel)
        gcov = gcov_folder(kernel)
        if gcov is None or guest.stage < Stage.PAUSED:
            return
        add = partial(of_kernel(self._folder, kernel).add, test, undecided=undecided)
        if not answers(guest):
            crash = guest.console.crash
            why = crash.line if crash else "the guest ended before it could be asked"
            self._keep_last(guest, kernel, add, why)
            return
        folder = add()
        try:
            if self._boots.get(guest, boot := _boot(guest)) != boot:
                add("the guest booted again, and what it had run before is lost")
            _read(guest, gcov, folder)
        except (AgentLost, Timeout) as error:
            shutil.rmtree(folder)
            self._keep_last(guest, kernel, add, str(error).splitlines()[0])

    def lose(self, kernel: str, test: str, why: str) -> None:
        """Keep why there are no counts of a test."""
        of_kernel(self._folder, resolve(kernel)).add(test, why)

    def _keep_last(self, guest: Guest, kernel: Kernel, add: Callable[..., Path], why: str) -> None:
        """Keep what a guest has run that cannot be asked any more, or *why* that is lost."""
        crash = guest.console.crash
        if guest.emulator.may_end or (crash is not None and crash.kind in ENDS):
            with contextlib.suppress(Timeout):
                guest.emulator.wait(_END_SECONDS)
        if guest.emulator.alive or not guest.last_storage.is_file():
            add(why)
            return
        folder = add()
        try:
            _read_last(guest.last_storage, kernel, self._symbols[guest], folder)
        except ZvmlabError as error:
            shutil.rmtree(folder)
            add(str(error))
        finally:
            guest.last_storage.unlink()

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


def _symbol(guest: Guest) -> str:
    """The first line of /proc/kallsyms, which is long."""
    batch = guest.agent.batch()
    fd = batch.open("/proc/kallsyms")
    batch.read(fd, _LINE_MAX)
    batch.close(fd)
    return batch.run()[1].data.decode("ascii", "replace").partition("\n")[0]


def _read_last(storage: Path, kernel: Kernel, symbol: str, folder: Path) -> None:
    gcov = gcov_folder(kernel)
    assert gcov is not None, "it counts lines"
    symbols = kernel.image.with_name(kernel.image.name.replace("vmlinuz", "System.map"))
    head = list_head(symbols, symbol)
    folders = (gcov / BUILT_IN).read_text(encoding="utf-8").splitlines()
    wanted = {
        f"{built}/{source}": source
        for notes in gcov.rglob(f"*{NOTES}")
        for source in [notes.relative_to(gcov).with_suffix(COUNTS)]
        for built in folders
    }
    with LastStorage(storage) as last:
        for name, counts in counts_in(last, head):
            if name in wanted:
                target = folder / wanted[name]
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
