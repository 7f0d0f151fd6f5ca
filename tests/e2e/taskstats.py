# SPDX-License-Identifier: MIT
"""The taskstats interface as it is on the wire, for tests: requests and what comes back.

``programs/taskstats.c`` does in the guest what a script says; this writes the script's lines
and takes apart, independently of tools/taskmon, what it prints.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from release import release

from zvmlab.guest.guest import Guest

PID, TGID, REGISTER, DEREGISTER = 1, 2, 3, 4
"""Attributes of a request."""
GET, NEW, CGROUP_GET, CGROUP_NEW = 1, 2, 4, 5
"""Commands."""
STRUCTS = {"bookworm": (13, 416), "trixie": (14, 432), "sid": (17, 688)}
"""Version and size of struct taskstats by kernel."""
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
NLM_F_DUMP = 0x300
KTHREADD = 2
"""The task whose children are the kernel's threads."""

_SUMS = (6, 12, 107)
"""First release known to add up the threads of a process that ends; 6.12.95 does not."""

_T_PID, _T_TGID, _T_STATS, _T_AGGR_PID, _T_AGGR_TGID = 1, 2, 3, 4, 5
_MEMBERS = """
    version:H exitcode:I flag:B nice:b
    @ cpu_count:Q cpu_delay_ns:Q blkio_count:Q blkio_delay_ns:Q swapin_count:Q swapin_delay_ns:Q
    cpu_run_real_ns:Q cpu_run_virtual_ns:Q comm:32s
    @ sched:B pad:3s @ uid:I gid:I pid:I ppid:I btime:I @ etime_us:Q utime_us:Q stime_us:Q
    minflt:Q majflt:Q coremem_mib_us:Q virtmem_mib_us:Q hiwater_rss_kib:Q hiwater_vm_kib:Q
    read_char_bytes:Q write_char_bytes:Q read_syscalls:Q write_syscalls:Q
    read_bytes:Q write_bytes:Q cancelled_write_bytes:Q nvcsw:Q nivcsw:Q
    utimescaled_us:Q stimescaled_us:Q cpu_scaled_run_real_ns:Q
    freepages_count:Q freepages_delay_ns:Q thrashing_count:Q thrashing_delay_ns:Q btime64:Q
    compact_count:Q compact_delay_ns:Q tgid:I @ tgetime_us:Q exe_dev:Q exe_inode:Q
    wpcopy_count:Q wpcopy_delay_ns:Q irq_count:Q irq_delay_ns:Q
"""
"""The members of struct taskstats in their order; @: the next one is aligned to 8 bytes."""
_WAITS = ("cpu", "blkio", "swapin", "freepages", "thrashing", "compact", "wpcopy", "irq")
"""Of these later versions have the longest and shortest, then when the longest was."""


def _layout() -> dict[str, tuple[int, str]]:
    """Offset and form of each member, laid out as a compiler does."""
    found = {}
    offset = 0
    ends = (f"{wait}_delay_{end}_ns:Q" for wait in _WAITS for end in ("max", "min"))
    times = (f"{wait}_delay_max_at_ns:qq" for wait in _WAITS)
    for word in (*_MEMBERS.split(), *ends, *times):
        if word == "@":
            offset += -offset % 8
            continue
        name, form = word.split(":")
        offset += -offset % (1 if form[-1] == "s" else struct.calcsize(form[0]))
        found[name] = (offset, form)
        offset += struct.calcsize(f">{form}")
    return found


LAYOUT = _layout()
"""By the names of taskmon's columns."""

Run = Callable[..., list[str]]
"""Lines of a script to the lines that came."""


@dataclass(frozen=True)
class Stats:
    """A struct taskstats, and what it is about."""

    kind: str
    """task or process"""
    id: int
    data: bytes

    def __getattr__(self, name: str) -> int:
        for unit in ("", "_ns", "_us", "_kib", "_bytes"):
            if name + unit in LAYOUT:
                value = self.values()[name + unit]
                assert isinstance(value, int)
                return value
        raise AttributeError(name)

    def values(self) -> dict[str, int | str]:
        """The values in the kernel's version, by the names of taskmon's columns."""
        found: dict[str, int | str] = {}
        for name, (offset, form) in LAYOUT.items():
            if offset + struct.calcsize(f">{form}") > len(self.data) or name == "pad":
                continue
            first, *more = struct.unpack_from(f">{form}", self.data, offset)
            if form[-1] == "s":
                found[name] = first.partition(b"\0")[0].decode()
            else:
                found[name] = first * 10**9 + more[0] if more else first
        return found

    @property
    def comm(self) -> str:
        """The program's name."""
        return str(self.values()["comm"])


@dataclass(frozen=True)
class Message:
    """A message about an exit, with its header."""

    command: int
    flags: int
    port: int
    number: int
    length: int
    stats: list[Stats]


def attribute(kind: int, payload: bytes | str | int) -> str:
    """A request's attribute in hexadecimal: a number has 32 bits, text its NUL."""
    if isinstance(payload, int):
        payload = struct.pack(">I", payload)
    elif isinstance(payload, str):
        payload = payload.encode() + b"\0"
    return (struct.pack(">HH", 4 + len(payload), kind) + payload + bytes(-len(payload) % 4)).hex()


def get(kind: int, number: int) -> str:
    """The script's line for a query."""
    return f"send {GET} 0 {attribute(kind, number)}"


def listen(mask: str, kind: int = REGISTER) -> str:
    """The script's line that registers, or ends that."""
    return f"send {GET} 0 {attribute(kind, mask)}"


def attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Types and payloads of a series."""
    while data:
        length, kind = struct.unpack_from(">HH", data)
        assert 4 <= length <= len(data), "an attribute's length is within the message"
        yield kind & 0x3FFF, data[4:length]
        data = data[length + -length % 4 :]


def records(text: str) -> list[Stats]:
    """The records in the attributes of an answer or a message, each in the kernel's nest."""
    found = []
    for kind, nest in attributes(bytes.fromhex(text)):
        assert kind in (_T_AGGR_PID, _T_AGGR_TGID)
        (first, number), (second, data) = list(attributes(nest))
        assert first == (_T_PID if kind == _T_AGGR_PID else _T_TGID) and second == _T_STATS
        name = "task" if kind == _T_AGGR_PID else "process"
        found.append(Stats(name, struct.unpack(">I", number)[0], data))
    return found


def acks(lines: list[str]) -> list[int]:
    """The errno of each request, 0 for none."""
    return [int(line.split()[1]) for line in lines if line.startswith("ack ")]


def replies(lines: list[str]) -> list[Stats]:
    """The statistics in the answers."""
    found = []
    for line in lines:
        if line.startswith("reply "):
            _, command, text = line.split()
            assert int(command) == NEW
            found += records(text)
    return found


def all_messages(lines: list[str]) -> list[Message]:
    """The messages about exits."""
    found = []
    for line in lines:
        if line.startswith("message "):
            *head, text = line.split()[1:]
            command, flags, port, number, length = map(int, head)
            found.append(Message(command, flags, port, number, length, records(text)))
    return found


def messages(lines: list[str]) -> list[Message]:
    """The same, but for threads of the kernel's, which go when it has no work for them."""
    return [message for message in all_messages(lines) if message.stats[0].ppid != KTHREADD]


def numbers(lines: list[str], word: str) -> list[list[int]]:
    """The numbers of each line that begins with this word."""
    return [
        [int(one) for one in line.split()[1:] if one.isdigit()]
        for line in lines
        if line.split()[0] == word
    ]


def sums_up_exits(guest: Guest) -> bool:
    """Does this kernel add up the threads of a process that ends?"""
    return release(guest) >= _SUMS
