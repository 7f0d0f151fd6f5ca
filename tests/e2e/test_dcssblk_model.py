# SPDX-License-Identifier: MIT
"""dcssblk against a model of it: any disks, attributes, reads and writes in any order.

The model is what Linux' "z/VM DCSS block device driver" says of disks and attributes, and IBM's manual
of the types of segments; CP says which segments the guest has.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

import pytest
from test_dcssblk import (
    MIB,
    PAGE,
    READ_ONLY,
    SEGMENTS,
    SHADOW_TAKEN_UNSAID,
    SYSFS,
    TYPES,
    attempt,
    loaded,
    text_of,
)

from zvmlab.guest.guest import Guest

STEPS = 120
PAGES = MIB // PAGE
TYPE = {f"{type}1": type for type in TYPES} | {"MINE": "EW", "MIXED": "EW", "OURS": "SW"}
# Of MIXED, CP saves the first half only.
SAVED = {name: 0 if type in ("EN", "SN") else PAGES for name, type in TYPE.items()}
SAVED["MIXED"] = PAGES // 2
LISTS = tuple((name,) for name in TYPE) + (("MINE", "MIXED"), ("MIXED", "MINE")) * 3
WRONG = {"NOSUCH": errno.ENOENT, "NINECHARS": errno.ENAMETOOLONG}
ZEROS = bytes(PAGE)


@dataclass(eq=False)
class Disk:
    """A disk of one segment, or of two that are contiguous."""

    names: tuple[str, ...]
    number: int
    contents: dict[str, dict[int, bytes]]
    shared: bool = True
    pending: bool = False
    """It is saved when it is closed."""
    opened: list[int] = field(default_factory=list)

    @property
    def read_only(self) -> bool:
        """May nobody write to it?"""
        return self.shared and TYPE[self.names[0]] in READ_ONLY

    def place(self, page: int) -> tuple[str, int]:
        """Segment and page in it: MINE lies below MIXED."""
        return sorted(self.names)[page // PAGES], page % PAGES


class Run:
    """The same steps in the guest and in the model."""

    def __init__(self, guest: Guest, rng: Random) -> None:
        self._guest = guest
        self._rng = rng
        self._saved: dict[str, dict[int, bytes]] = {name: {} for name in TYPE}
        self.disks: list[Disk] = []

    def step(self) -> None:
        """One call, about one of the disks or for a new one."""
        if not self.disks or self._rng.random() < 0.1:
            self._add()
        calls: list[Callable[[Disk], None]] = [
            *(self._write,) * 4,
            *(self._read,) * 4,
            *(self._open,) * 2,
            *(self._close, self._share, self._share, self._save, self._save, self._remove),
        ]
        if self.disks:
            self._rng.choice(calls)(self._rng.choice(self.disks))
        self.compare()

    def compare(self) -> None:
        """CP's segments, and the attributes of one of the disks."""
        assert loaded(self._guest) == {
            name: not disk.shared for disk in self.disks for name in disk.names
        }
        for disk in self._rng.sample(self.disks, min(len(self.disks), 1)):
            folder, block = f"{SYSFS}/{disk.names[0]}", f"/sys/block/dcssblk{disk.number}"
            found = [text_of(self._guest, f"{folder}/{name}") for name in ("shared", "save")]
            found += [text_of(self._guest, f"{block}/{name}") for name in ("ro", "size")]
            assert found == [
                *(f"{one:d}" for one in (disk.shared, disk.pending, disk.read_only)),
                str(len(disk.names) * MIB // 512),
            ]
            assert tuple(text_of(self._guest, f"{folder}/seglist").split()) == disk.names

    def _add(self) -> None:
        names = self._rng.choice(LISTS)
        wrong = self._rng.choice((*WRONG, "", "", "", ""))
        text = ":".join((*names, wrong) if wrong else names)
        error = attempt(self._guest, "add", text if self._rng.random() < 0.7 else text.lower())
        used = {name for disk in self.disks for name in disk.names}
        if used & set(names):
            assert error == errno.EEXIST
        elif wrong:
            assert error == WRONG[wrong]
        else:
            assert error == 0
            numbers = {disk.number for disk in self.disks}
            number = next(n for n in range(len(numbers) + 1) if n not in numbers)
            contents = {name: dict(self._saved[name]) for name in names}
            self.disks.append(Disk(names, number, contents))

    def _remove(self, disk: Disk) -> None:
        for name in (*disk.names[1:], "NOSUCH"):
            assert attempt(self._guest, "remove", name) == errno.ENODEV
        error = attempt(self._guest, "remove", disk.names[0])
        assert error == (errno.EBUSY if disk.opened else 0)
        if not error:
            self.disks.remove(disk)

    def _open(self, disk: Disk) -> None:
        if len(disk.opened) < 2:
            flags = os.O_RDONLY if disk.read_only else os.O_RDWR | os.O_SYNC
            path = f"/dev/dcssblk{disk.number}"
            disk.opened.append(self._guest.agent.open(path, flags).check())

    def _close(self, disk: Disk) -> None:
        if disk.opened:
            self._guest.agent.close(disk.opened.pop()).check()
            if disk.pending and not disk.opened:
                disk.pending = False
                self._keep(disk)

    def _keep(self, disk: Disk) -> None:
        for name, pages in disk.contents.items():
            if SAVED[name]:
                self._saved[name] = {at: page for at, page in pages.items() if at < SAVED[name]}

    def _page(self, disk: Disk) -> int:
        """Often the first or the last of a segment, and one that was written before."""
        end = len(disk.names) * PAGES
        ends = (0, PAGES - 1, end - PAGES, end - 1)
        return self._rng.choice((*ends, *ends, self._rng.randrange(end)))

    def _write(self, disk: Disk) -> None:
        if disk.opened:
            page, data = self._page(disk), self._rng.randbytes(16) * (PAGE // 16)
            done = self._guest.agent.pwrite(disk.opened[-1], data, page * PAGE)
            if disk.read_only:
                assert done.errno == errno.EBADF
            else:
                assert done.check() == PAGE
                name, at = disk.place(page)
                disk.contents[name][at] = data

    def _read(self, disk: Disk) -> None:
        if disk.opened:
            page = self._page(disk)
            found = self._guest.agent.pread(disk.opened[-1], PAGE, page * PAGE)
            name, at = disk.place(page)
            assert found.data == disk.contents[name].get(at, ZEROS)

    def _share(self, disk: Disk) -> None:
        value = self._rng.choice(("0", "1", "0", "1", "1\n", "2", "01"))
        error = attempt(self._guest, f"{disk.names[0]}/shared", value)
        if value == "01":
            assert error == errno.EINVAL
        elif disk.opened:
            assert error == errno.EBUSY
        elif value == "2" or (value == "0" and TYPE[disk.names[0]] == "SC"):
            assert error == errno.EINVAL
        else:
            assert error == 0
            shared = value != "0"
            if shared != disk.shared:
                disk.shared = shared
                disk.contents = {name: dict(self._saved[name]) for name in disk.names}

    def _save(self, disk: Disk) -> None:
        value = self._rng.choice(("1", "1", "1\n", "0", "2", "10"))
        error = attempt(self._guest, f"{disk.names[0]}/save", value)
        assert error == (errno.EINVAL if value in ("2", "10") else 0)
        if value.strip() == "1" and disk.opened:
            disk.pending = True
        elif value.strip() == "1":
            self._keep(disk)
        elif value == "0":
            disk.pending = False

    def end(self) -> None:
        """All disks are closed and removed, and CP has none of the segments."""
        for disk in list(self.disks):
            while disk.opened:
                self._close(disk)
            self._remove(disk)
            self.compare()


@SHADOW_TAKEN_UNSAID
@pytest.mark.requirement("B1", "B2", "B3", "B4", "B5")
@pytest.mark.zvmlab(
    # Lockdep would report the order of locks (defect 7).
    segments=SEGMENTS,
    modules=("dcssblk",),
    command_line="lockdep.prove_locking=0",
)
@pytest.mark.parametrize("seed", range(2))
def test_any_calls_in_any_order(guest: Guest, seed: int) -> None:
    """Each returns, and leaves on the disks and in CP, what the model says."""
    assert guest.agent.insmod("dcssblk").errno == 0
    run = Run(guest, Random(seed))
    for _ in range(STEPS):
        run.step()
    run.end()
