# SPDX-License-Identifier: MIT
"""Allocations and copies of the guest's kernel that fail, where it can make them fail.

    failing = Failing(guest)                            # skips the test where the kernel cannot
    errors = failing.loads(program, "vmlogrdr")         # each load of a module fails once
    errors = failing.each(worker, lambda batch: batch.write(fd, b"1"))
    failing.interrupted(worker, 3, lambda batch: …)      # the third that must not sleep

The kernel counts the allocations and copies of one thread (fail-nth): the number that
fails is set, what is tried is done, and the counter is taken back, in one batch.  What runs
in interruptions has no thread; there the n-th of all that must not sleep fails.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator

import pytest

from zvmlab.agent.agent import Batch, Worker
from zvmlab.agent.calls import BatchResult, CallResult, Ref
from zvmlab.guest.guest import Guest

DEBUGFS = "/sys/kernel/debug"
FAIL_NTH = "/proc/{thread}/fail-nth"
SECONDS = 300.0
# More than any call under test has.
_NUMBERS_MAX = 2000
# An order of pages that nobody asks for.
_NO_ORDER = 64
# The kernel's threads are its first ones.
_THREADS_MAX = 300
_KINDS = ("failslab", "fail_page_alloc", "fail_usercopy")


def void(_: object) -> None:
    """Nothing; for a lambda that is to give None."""


def thread_named(guest: Guest, name: str) -> int:
    """The id of a thread of the guest's kernel."""
    for thread in range(2, _THREADS_MAX):
        with contextlib.suppress(FileNotFoundError):
            if guest.agent.read_file(f"/proc/{thread}/comm").decode().strip() == name:
                return thread
    raise AssertionError(f"the guest's kernel has no thread {name}")


class Failing:
    """A guest whose allocations can be made to fail."""

    def __init__(self, guest: Guest) -> None:
        self.guest = guest
        agent = guest.agent
        if agent.open(FAIL_NTH.format(thread="thread-self")).errno == errno.ENOENT:
            pytest.skip("the kernel cannot make an allocation fail")
        for kind in _KINDS:
            self._set(kind, "verbose", 0)
        for kind in ("failslab", "fail_page_alloc"):
            self._set(kind, "ignore-gfp-wait", "N")
        self._set("fail_page_alloc", "min-order", 0)

    def _set(self, kind: str, name: str, value: int | str) -> None:
        self.guest.agent.write_file(f"{DEBUGFS}/{kind}/{name}", str(value).encode())

    def loads(
        self, program: Callable[[str], os.PathLike[str]], name: str, also: Collection[int] = ()
    ) -> Counter[int]:
        """Load a module again and again, until nothing fails; how often with which error number.

        What it needs is there.  It is not loaded then.  The numbers are those for a lack of memory
        and a copy that fails, and what *also* names.  A load that succeeds has registered what one
        does of which nothing fails.
        """
        agent = self.guest.agent
        with open(program("failing"), "rb") as file:
            agent.write_file("/tmp/failing", file.read(), 0o755)
        path = f"/lib/modules/{name}.ko"
        done = agent.run(["/tmp/failing", path, name], timeout=SECONDS).check()
        loads = [tuple(map(int, line.split())) for line in done.stdout.decode().splitlines()]
        found = Counter(error for _, error, _ in loads)
        assert set(found) <= {0, errno.ENOMEM, errno.EFAULT, *also}, found
        whole = loads[-1][2]
        assert [load for load in loads if load[1] == 0 and load[2] != whole] == []
        return found

    def each(
        self,
        worker: Worker,
        add: Callable[[Batch], Ref],
        undo: Callable[[CallResult], None] = void,
        again: Collection[int] = (),
    ) -> Counter[int]:
        """Do what *add* says until nothing of it fails; how often with which error number.

        *undo* is called after each that has succeeded; what ends with an error of *again* is
        done once more.

        All of this is done twice.  First the kernel's objects fail, and copies: each time they are
        the same ones.  Then pages fail, and copies.  Now and then a cache of objects needs a page,
        or what watches the kernel does; counted with the objects, it would take the turn of one.
        """
        errors: Counter[int] = Counter()
        for pages in (False, True):
            self._set("failslab", "cache-filter", "Y" if pages else "N")
            self._set("fail_page_alloc", "min-order", 0 if pages else _NO_ORDER)
            errors += self._until_none_fails(worker, add, undo, again)
        self._set("failslab", "cache-filter", "N")
        return errors

    def _until_none_fails(
        self,
        worker: Worker,
        add: Callable[[Batch], Ref],
        undo: Callable[[CallResult], None],
        again: Collection[int],
    ) -> Counter[int]:
        errors: Counter[int] = Counter()
        with self._counter(worker) as nth:
            number = 1
            while number < _NUMBERS_MAX:
                batch = worker.batch()
                batch.write(nth, str(number).encode())
                tried = add(batch)
                left = batch.pread(nth, 16, 0)
                for _ in range(2):  # a counter of 2 makes the first one fail
                    batch.write(nth, b"0")
                results: BatchResult = batch.run(timeout=SECONDS)
                result = results[tried]
                if result.errno in again:
                    continue
                number += 1
                errors[result.errno] += 1
                if result.errno == 0:
                    undo(result)
                # A counter of 1 makes the call that reads the counter fail.
                if results[left].errno or results[left].data != b"0\n":
                    return errors
        raise AssertionError("something failed in each of so many tries")

    def interrupted(self, worker: Worker, number: int, add: Callable[[Batch], Ref]) -> CallResult:
        """Do what *add* says while the allocation of that number fails that must not sleep.

        Those are above all allocations of interruptions.  The kernel counts on from the last time
        and lets each fail that can be divided by the number, so it is the one of that number only
        if the one before had the same and failed.  *add* has to wait for what it causes.
        """
        self._set("failslab", "ignore-gfp-wait", "Y")
        self._set("failslab", "interval", number)
        self._set("failslab", "times", 1)
        batch = worker.batch()
        switch = batch.open(f"{DEBUGFS}/failslab/probability", os.O_WRONLY)
        batch.write(switch, b"100")
        tried = add(batch)
        off = batch.write(switch, b"0")
        batch.close(switch)
        results = batch.run(timeout=SECONDS)
        results[off].check()
        self._set("failslab", "ignore-gfp-wait", "N")
        return results[tried]

    @contextlib.contextmanager
    def _counter(self, worker: Worker) -> Iterator[int]:
        fd = worker.open(FAIL_NTH.format(thread="thread-self"), os.O_RDWR).check()
        yield fd
        worker.close(fd).check()

    def thread(self, thread: int, number: int) -> None:
        """The allocation of that number of a thread of the kernel fails; 0 takes it back."""
        self.guest.agent.write_file(FAIL_NTH.format(thread=thread), str(number).encode())

    def has_failed(self, thread: int) -> bool:
        """Has the allocation of that thread failed, and does the thread sleep again?"""
        agent = self.guest.agent
        if int(agent.read_file(FAIL_NTH.format(thread=thread))):
            return False
        state = agent.read_file(f"/proc/{thread}/stat").decode().rpartition(")")[2].split()[0]
        return state == "S"
