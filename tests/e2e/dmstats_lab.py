# SPDX-License-Identifier: MIT
"""A guest with device-mapper devices: messages as they are, dmmon, dmsetup, I/O.

Three devices on two RAM disks: ``lin`` (20000 sectors), and ``up`` on ``low`` (32768 sectors).  An
I/O of ``up`` stays under way for as long as ``low`` is suspended.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import json
import os
import re
import stat
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from waiting import fair

from zvmlab.agent.calls import Both
from zvmlab.agent.results import ENVIRONMENT, RunResult
from zvmlab.builder.guesttools import debian_program, tool
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest

MODULES = ("brd", "dm-mod", "dm-delay", "dm-multipath", "dm-round-robin", "null_blk")
SECTOR = 512
LIN_SECTORS = 20000
LOW_SECTORS = 32768
ALLOCATED = "/sys/module/dm_mod/parameters/stats_current_allocated_bytes"
WAIT_SECONDS = 120.0
TICK_MS = 4
"""Debian's kernels have 250 a second."""
COUNTERS = 13
# Fields of dmmon for the kernel's counters, from the first on.
COUNTER_FIELDS = (
    *("reads", "reads_merged", "read_sectors", "read_time_ns"),
    *("writes", "writes_merged", "write_sectors", "write_time_ns"),
    *("in_flight", "io_time_ns", "queue_time_ns", "reading_time_ns", "writing_time_ns"),
)
# linux/dm-ioctl.h: struct dm_ioctl, struct dm_target_spec, the beginning of struct dm_name_list.
_HEAD = struct.Struct(">10IQ128s129s7x")
_TARGET = struct.Struct(">QQiI16s")
_LISTED = struct.Struct(">QI")
_VERSION = (4, 0, 0)
_FOLDER = "/dev/mapper"
_SUSPEND, _SKIP_LOCKFS, _NOFLUSH = 1 << 1, 1 << 10, 1 << 11
BUFFER_FULL = 1 << 8
DATA_OUT = 1 << 16
BUFFER = 65536
SHORT = 4096
MOST = 4 << 20


class _Command(enum.IntEnum):
    """_IOWR(0xfd, n, struct dm_ioctl)."""

    REMOVE_ALL = 0xC138FD01
    LIST = 0xC138FD02
    CREATE = 0xC138FD03
    REMOVE = 0xC138FD04
    RENAME = 0xC138FD05
    SUSPEND = 0xC138FD06
    STATUS = 0xC138FD07
    LOAD = 0xC138FD09
    MESSAGE = 0xC138FD0E


@dataclass(frozen=True)
class Answer:
    """What the kernel answered to a message: errno (0: none), flags, text."""

    errno: int
    flags: int = 0
    text: str = ""

    @property
    def has_text(self) -> bool:
        """It says that it has a text, which may be empty."""
        return bool(self.flags & DATA_OUT)

    @property
    def full(self) -> bool:
        """The buffer was too small."""
        return bool(self.flags & BUFFER_FULL)


@dataclass(frozen=True)
class Area:
    """A line of counters as the kernel prints it; *counts* as the document numbers them, from 1."""

    start: int
    step: int
    counts: tuple[int, ...]
    histogram: tuple[int, ...]

    def __getitem__(self, number: int) -> int:
        return self.counts[number - 1]


def parse_area(line: str) -> Area:
    """One line of @stats_print."""
    words = line.split(" ")
    start, step = words[0].split("+")
    buckets = words[1 + COUNTERS].split(":") if len(words) > 1 + COUNTERS else []
    counts = tuple(int(word) for word in words[1 : 1 + COUNTERS])
    assert len(counts) == COUNTERS and len(words) <= 2 + COUNTERS
    return Area(int(start), int(step), counts, tuple(int(word) for word in buckets))


class Lab:
    """The guest and its devices."""

    def __init__(self, guest: Guest) -> None:
        self.guest = guest
        self.agent = guest.agent
        self._control = self.agent.open(f"{_FOLDER}/control", os.O_RDWR).check()

    def set_up(self) -> None:
        """Make the devices."""
        self.create("lin", f"0 {LIN_SECTORS} linear /dev/ram0 0")
        self.create("low", f"0 {LOW_SECTORS} linear /dev/ram1 0")
        self.create("up", f"0 {LOW_SECTORS} linear {self.node('low')} 0")

    def tear_down(self) -> None:
        """Remove all devices; nothing is allocated for statistics any more, nothing is open."""
        for name in self._names():
            self._device(_Command.SUSPEND, name)  # without the flag: it goes on
            self.agent.unlink(f"{_FOLDER}/{name}")  # of a name that has no node: nothing
        self._device(_Command.REMOVE_ALL)
        assert not self._names()
        self.wait_freed()
        self.agent.close(self._control).check()

    # Programs.

    def dmsetup(self, *words: str) -> RunResult:
        """Debian's dmsetup; "stats" as the first word makes it dmstats."""
        env = {**ENVIRONMENT, "DM_DISABLE_UDEV": "1"}
        return self.agent.run(["/sbin/dmsetup", *words], env=env)

    def dmmon(self, *words: str) -> RunResult:
        """Our tool."""
        return self.agent.run(["/bin/dmmon", *words])

    def rows(self, *words: str) -> list[dict[str, Any]]:
        """What a command of dmmon reports, all fields."""
        done = self.dmmon(*words, "--format", "json", "--fields", "all").check()
        return [json.loads(line) for line in done.stdout.decode().splitlines()]

    # Devices: by ioctl, because each start of dmsetup takes as long as a short test.

    def create(self, name: str, table: str) -> None:
        """Make a device."""
        self._device(_Command.CREATE, name)
        targets = [line.split(" ", 3) for line in table.splitlines()]
        body = b""
        for start, sectors, kind, words in targets:
            text = words.encode() + b"\0"
            text += bytes(-len(text) % 8)
            size = _TARGET.size + len(text)
            body += _TARGET.pack(int(start), int(sectors), 0, size, kind.encode()) + text
        self._device(_Command.LOAD, name, body, targets=len(targets))
        self._device(_Command.SUSPEND, name)
        self._make_node(name)

    def _make_node(self, name: str) -> None:
        """What dmsetup makes, and libdevmapper looks for."""
        device = self._number(name)
        self.agent.mknod(f"{_FOLDER}/{name}", stat.S_IFBLK | 0o600, device).check()

    def remove(self, name: str) -> None:
        """Remove a device."""
        self._device(_Command.REMOVE, name)
        self.agent.unlink(f"{_FOLDER}/{name}").check()

    def rename(self, name: str, other: str) -> None:
        """Give a device another name."""
        self._device(_Command.RENAME, name, other.encode() + b"\0")
        self.agent.unlink(f"{_FOLDER}/{name}").check()
        self._make_node(other)

    def _number(self, name: str) -> int:
        """Major and minor, as the kernel has them in one number."""
        return int(_HEAD.unpack_from(self._device(_Command.STATUS, name))[10])

    def minor(self, name: str) -> int:
        """Its minor number."""
        number = self._number(name)
        return number & 0xFF | number >> 12 & 0xFFF00

    def node(self, name: str) -> str:
        """The kernel's own node of it."""
        return f"/dev/dm-{self.minor(name)}"

    @contextlib.contextmanager
    def held(self, name: str = "low") -> Iterator[None]:
        """What is sent to the device in this block stays under way."""
        self._device(_Command.SUSPEND, name, flags=_SUSPEND | _SKIP_LOCKFS | _NOFLUSH)
        try:
            yield
        finally:
            self._device(_Command.SUSPEND, name)

    def _names(self) -> list[str]:
        """Of all devices."""
        back = self._device(_Command.LIST, size=BUFFER)
        at, names = _HEAD.unpack_from(back)[4], []
        while True:
            number, following = _LISTED.unpack_from(back, at)
            if number:
                name = back[at + _LISTED.size :].split(b"\0")[0]
                names.append(name.decode("latin-1"))
            if not following:
                return names
            at += following

    def _device(
        self,
        command: _Command,
        name: str = "",
        body: bytes = b"",
        *,
        flags: int = 0,
        targets: int = 0,
        size: int = 0,
    ) -> bytes:
        """An ioctl that must succeed; the buffer afterwards."""
        size = max(size, _HEAD.size + len(body))
        head = (*_VERSION, size, _HEAD.size, targets, 0, flags, 0, 0, 0)
        data = _HEAD.pack(*head, name.encode("latin-1"), b"") + body
        done = self.agent.ioctl(self._control, command, Both(data.ljust(size, b"\0")))
        assert done.ret == 0, (command.name, name, done.errno)
        return bytes(done.buffers[0])

    def io(self, name: str, what: str, sector: int = 0, sectors: int = 8, count: int = 1) -> None:
        """So many I/Os one behind the other."""
        done = self.agent.run(self.io_words(name, what, sector, sectors, count)).check()
        assert int(done.stdout) == count

    def io_words(
        self, name: str, what: str, sector: int = 0, sectors: int = 8, count: int = 1
    ) -> list[str]:
        """The command of an I/O, for spawn()."""
        offset, length = sector * SECTOR, sectors * SECTOR
        return ["/bin/blockio", self.node(name), what, str(offset), str(length), str(count)]

    # Messages.

    def send(self, name: str, message: str | bytes, size: int = BUFFER, nul: bool = True) -> Answer:
        """A message by ioctl, as it is: with a buffer of *size* bytes, and a NUL or none."""
        text = message.encode() if isinstance(message, str) else message
        body = struct.pack(">Q", 0) + text + (b"\0" if nul else b"")
        size = max(size, _HEAD.size + len(body))
        head = (*_VERSION, size, _HEAD.size, 0, 0, 0, 0, 0, 0)  # no flags, no device number
        data = _HEAD.pack(*head, name.encode(), b"") + body
        filler = b"\0" if nul else b"x"
        done = self.agent.ioctl(self._control, _Command.MESSAGE, Both(data.ljust(size, filler)))
        if done.ret < 0:
            return Answer(done.errno)
        back = done.buffers[0]
        fields = _HEAD.unpack_from(back)
        start, flags = fields[4], fields[7]
        if not flags & DATA_OUT:
            return Answer(0, flags)
        return Answer(0, flags, back[start:].split(b"\0")[0].decode("latin-1"))

    def ask(self, name: str, message: str | bytes) -> str:
        """The text of an answer, there has to be one; the buffer grows until it fits."""
        size = SHORT
        while (answer := self.send(name, message, size)).full and size < MOST:
            size *= 4
        assert (answer.errno, answer.full, answer.has_text) == (0, False, True), message
        return answer.text

    def region(self, name: str, words: str) -> int:
        """Make a region; its number."""
        return int(self.ask(name, f"@stats_create {words}"))

    def areas(self, name: str, region: int, words: str = "") -> list[Area]:
        """Counters of a region."""
        text = self.ask(name, f"@stats_print {region} {words}".rstrip())
        return [parse_area(line) for line in text.splitlines()]

    def known(self, name: str, region: int) -> list[dict[str, Any]]:
        """What dmmon should report of the counters of each area of a region, by what the kernel says.

        The kernel's list and its counters, read by nothing of dmmon.
        """
        (line,) = (
            words
            for words in (line.split() for line in self.ask(name, "@stats_list").splitlines())
            if words[0] == f"{region}:"
        )
        start, length = (int(number) for number in line[1].split("+"))
        step, unit = int(line[2]), 1 if "precise_timestamps" in line else 1_000_000
        found = []
        for index, area in enumerate(self.areas(name, region)):
            row: dict[str, Any] = {
                key: area[number] * (unit if key.endswith("_ns") else 1)
                for number, key in enumerate(COUNTER_FIELDS, 1)
            }
            row |= {"device": name, "region": region, "area": index}
            row["start_sector"] = start + index * step
            row["sectors"] = min(step, length - index * step)
            row["histogram"] = list(area.histogram) or None
            found.append(row)
        return found

    def statistics(self, name: str) -> list[int]:
        """The kernel's own statistics of the block device, as in /proc/diskstats."""
        for line in self.agent.read_file("/proc/diskstats").decode().splitlines():
            words = line.split()
            if words[2] == f"dm-{self.minor(name)}":
                return [int(word) for word in words[3:]]
        raise AssertionError(f"{name} is not in /proc/diskstats")

    def uptime(self) -> float:
        """Seconds since the guest was started, by hundredths."""
        return float(self.agent.read_file("/proc/uptime").split()[0])

    def ticks(self) -> int:
        """The kernel's jiffies, by which it counts milliseconds."""
        found = re.search(rb"^jiffies: (\d+)$", self.agent.read_file("/proc/timer_list"), re.M)
        assert found is not None
        return int(found[1])

    def pass_time(self, seconds: float) -> None:
        """Let so much time go by, by the clock and by ticks, which come late on a busy machine."""
        end = self.ticks() + seconds * 1000 / TICK_MS
        batch = self.agent.batch()
        batch.sleep(seconds)
        # The guest's clocks need not wait for the host's: nothing comes from there.
        self.guest.outlast(batch.start(seconds + WAIT_SECONDS), WAIT_SECONDS, seconds)
        self.until(lambda: self.ticks() >= end)

    def wait_watched(self, count: int = 1) -> None:
        """Until so many dmmon, the ones started last, have taken their first look."""
        self.until(lambda: self._timers_run(count))

    def _timers_run(self, count: int) -> bool:
        """Have that many a timer that runs?  It does from the first look on."""
        last = int(self.agent.read_file("/proc/loadavg").split()[-1])
        for pid in range(last, 1, -1):
            if self._text_of(f"/proc/{pid}/cmdline").startswith(b"/bin/dmmon"):
                files = [self._text_of(f"/proc/{pid}/fdinfo/{fd}") for fd in range(3, 10)]
                if not any(b"it_value:" in t and b"it_value: (0, 0)" not in t for t in files):
                    return False
                count -= 1
                if count == 0:
                    return True
        return False

    def _text_of(self, path: str) -> bytes:
        """What a file in /proc says; nothing if it is not there."""
        try:
            return self.agent.read_file(path)
        except OSError:
            return b""

    def wait_in_flight(self, name: str, region: int, count: int) -> None:
        """Until so many I/Os are under way in the region's first area."""
        self.until(lambda: self.areas(name, region)[0][9] == count)

    # The machine.

    @staticmethod
    def until(what: Callable[[], bool]) -> None:
        """Wait for it, not forever."""
        end = fair(WAIT_SECONDS)
        while not what():
            assert not end.over

    def allocated(self) -> int:
        """Bytes that the kernel says statistics take."""
        return int(self.agent.read_file(ALLOCATED))

    def wait_freed(self) -> None:
        """Until they take none: the kernel frees a region's memory a while after its deletion."""
        self.until(lambda: self.allocated() == 0)


def prepare_lab(guest: Guest, blockio: Path) -> None:
    """What all tests of a guest need and leave as it is: the program, RAM disks, device-mapper."""
    guest.agent.write_file("/bin/blockio", blockio.read_bytes(), 0o755)
    guest.agent.modprobe("brd", {"rd_nr": 2, "rd_size": LOW_SECTORS // 2}).check()
    guest.agent.modprobe("dm-mod").check()
    guest.agent.modprobe("dm-delay").check()


@functools.cache
def lab_config(kernel: str, backend: str) -> GuestConfig:
    """The guest: two CPUs, modules, programs, a shell."""
    files = {**debian_program("/sbin/dmsetup"), **tool("dmmon")}
    return GuestConfig(
        kernel=kernel, backend=backend, cpus=2, modules=MODULES, files=files, busybox=True
    )
