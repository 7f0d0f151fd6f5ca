# SPDX-License-Identifier: MIT
"""Memory use of the guest's kernel: equal before and after many repetitions.

    with flat(guest, objects=10, pages=100):
        for _ in range(1000):
            ...
    before = settled(guest)  # for a test that counts by itself: never a look at any moment

The kernel frees much of it a while later (RCU, batches of kfree_rcu(), delayed work), and a guest
that has just booted is not done with that either.  Counts are taken when nothing changes any more.

Booted with ``slub_debug=F`` (UNCACHED) a kernel keeps no reserve of objects per
CPU, so that /proc/slabinfo is exact; every cache of it is compared but those of
DAMON and kmemleak.  A debug
kernel's KASAN keeps freed objects for a while, so numbers say nothing there;
kmemleak is asked instead.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from waiting import LIMIT

from zvmlab.agent.agent import Agent
from zvmlab.base.limit import Limit
from zvmlab.builder.kernel import is_debug
from zvmlab.guest.guest import Guest
from zvmlab.guest.kernelcheck import check_kernel

UNCACHED = "slub_debug=F"
# Of /proc/meminfo: what the kernel says it has taken; MemAvailable is what is left.
_LINES = ("Slab", "VmallocUsed", "PageTables", "KernelStack")
_PAGE_KIB = 4
# Of the guest's time: kfree_rcu() frees every 5 s, and a lazy call_rcu() after 10.
_FREES_SECONDS = 12.0
# Asking takes three inodes and dentries, and 7.2 keeps 20 maple_node at a time for a CPU.
_ASKING = 25
# Caches of DAMON, which watches memory by the clock and which Debian's 7.2 runs by itself; and the
# one of kmemleak, with an object for each of all other caches, so that it moves as their sum does.
_NOT_COMPARED = ("damon_", "kmemleak_object")


@dataclass(frozen=True)
class KernelMemory:
    """The memory and resources that the kernel uses."""

    objects: dict[str, int]
    """By slab cache."""
    kib: dict[str, int]
    """Lines of /proc/meminfo."""
    iomem: bytes
    modules: bytes

    @classmethod
    def of(cls, agent: Agent) -> KernelMemory:
        """Read the current state."""
        slabs = agent.read_file("/proc/slabinfo").decode().splitlines()[2:]
        memory = agent.read_file("/proc/meminfo").decode().splitlines()
        return cls(
            {
                line.split()[0]: int(line.split()[1])
                for line in slabs
                if not line.startswith(_NOT_COMPARED)
            },
            {line.split(":")[0]: int(line.split()[1]) for line in memory},
            agent.read_file("/proc/iomem"),
            agent.read_file("/proc/modules"),
        )

    def more_objects(self, before: KernelMemory, limit: int) -> dict[str, int]:
        """Slab caches with more objects than before, by more than the limit."""
        more = {name: count - before.objects.get(name, 0) for name, count in self.objects.items()}
        return {name: count for name, count in more.items() if count > limit}

    def growth(self, before: KernelMemory) -> int:
        """By how many objects the slab cache has grown that has grown most.

        A sum over caches would hide a leak in one of them behind what the kernel frees meanwhile.
        """
        return max(self.more_objects(before, 0).values(), default=0)

    def more_pages(self, before: KernelMemory, limit: int) -> dict[str, int]:
        """Lines of /proc/meminfo that have grown, MemAvailable shrunk, by more pages than that."""
        more = {line: self.kib[line] - before.kib[line] for line in _LINES}
        more["MemAvailable"] = before.kib["MemAvailable"] - self.kib["MemAvailable"]
        pages = {line: kib // _PAGE_KIB for line, kib in more.items()}
        return {line: count for line, count in pages.items() if count > limit}


def _let_free(guest: Guest) -> None:
    batch = guest.agent.batch()
    batch.sleep(_FREES_SECONDS)
    limit = _FREES_SECONDS + LIMIT
    guest.outlast(batch.start(limit), limit, jump=_FREES_SECONDS)


def settled(guest: Guest, seconds: float = LIMIT) -> KernelMemory:
    """Wait until nothing is freed or allocated any more: two equal readings."""
    limit = Limit(seconds)
    found = KernelMemory.of(guest.agent)
    while True:
        before = found
        _let_free(guest)
        found = KernelMemory.of(guest.agent)
        moved = found.more_objects(before, _ASKING) | before.more_objects(found, _ASKING)
        if not moved:
            return found
        assert not limit.over, f"the guest's memory does not settle within {limit}: {moved}"


@contextlib.contextmanager
def flat(guest: Guest, objects: int, pages: int, seconds: float = 60.0) -> Iterator[None]:
    """AssertionError if what the block did takes more memory than this of the guest's kernel.

    So many *objects* of any one slab cache, and *pages*, may be more than before.
    What is allocated once for good has to be there already.  The kernel frees some of it a while
    later (RCU): so many *seconds* are granted, in which a leak does not go.
    """
    before = settled(guest)
    yield
    if is_debug(guest.config.kernel):
        check_kernel(guest)
    limit = Limit(seconds)
    while left := _left(guest, before, objects, pages):
        assert not limit.over, f"not as before: {left}"
        _let_free(guest)


def _left(guest: Guest, before: KernelMemory, objects: int, pages: int) -> str:
    """The differences from before, or nothing."""
    after = KernelMemory.of(guest.agent)
    changed = [
        name for name in ("iomem", "modules") if getattr(after, name) != getattr(before, name)
    ]
    grown: dict[str, int] = {}
    if not is_debug(guest.config.kernel):
        grown = after.more_objects(before, objects) | after.more_pages(before, pages)
    return f"{', '.join(changed)} {grown}" if changed or grown else ""
