# SPDX-License-Identifier: MIT
"""The taskstats interface as it is on the wire, for tests: requests and what comes back.

``programs/taskstats.c`` does in the guest what a script says; this writes the script's lines
and takes apart, independently of tools/taskmon, what it prints.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

PID, TGID, REGISTER, DEREGISTER = 1, 2, 3, 4
"""Attributes of a request."""
GET, NEW, CGROUP_GET, CGROUP_NEW = 1, 2, 4, 5
"""Commands."""
STRUCTS = {"bookworm": (13, 416), "trixie": (14, 432), "sid": (17, 688)}
"""Version and size of struct taskstats by kernel."""
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
NLM_F_DUMP = 0x300

_T_PID, _T_TGID, _T_STATS, _T_AGGR_PID, _T_AGGR_TGID = 1, 2, 3, 4, 5
_FIELDS = {
    "version": (0, "H"), "exitcode": (4, "I"), "flag": (8, "B"), "nice": (9, "b"),
    "cpu_count": (16, "Q"), "cpu_delay": (24, "Q"), "blkio_count": (32, "Q"),
    "cpu_run_real": (64, "Q"), "cpu_run_virtual": (72, "Q"), "uid": (120, "I"),
    "pid": (128, "I"), "etime": (144, "Q"), "utime": (152, "Q"), "stime": (160, "Q"),
    "hiwater_rss": (200, "Q"), "read_char": (216, "Q"), "read_syscalls": (232, "Q"),
    "nvcsw": (272, "Q"), "nivcsw": (280, "Q"), "btime64": (344, "Q"), "tgid": (368, "I"),
    "wpcopy_count": (400, "Q"),
}  # fmt: skip

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
        try:
            offset, form = _FIELDS[name]
        except KeyError as error:
            raise AttributeError(name) from error
        value: int = struct.unpack_from(f">{form}", self.data, offset)[0]
        return value

    @property
    def comm(self) -> str:
        """The program's name."""
        return self.data[80:112].partition(b"\0")[0].decode()


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
    """What is in the attributes of an answer or a message, each in a nest as the kernel has it."""
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


def messages(lines: list[str]) -> list[Message]:
    """The messages about exits."""
    found = []
    for line in lines:
        if line.startswith("message "):
            *head, text = line.split()[1:]
            command, flags, port, number, length = map(int, head)
            found.append(Message(command, flags, port, number, length, records(text)))
    return found


def numbers(lines: list[str], word: str) -> list[list[int]]:
    """The numbers of each line that begins with this word."""
    return [
        [int(one) for one in line.split()[1:] if one.isdigit()]
        for line in lines
        if line.split()[0] == word
    ]
