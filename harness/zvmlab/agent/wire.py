# SPDX-License-Identifier: MIT
"""The agent's protocol: numbers and encoding (docs/agent-protocol.md, guest/agent/proto.h)."""

from __future__ import annotations

import enum
import struct

from zvmlab.base.errors import UsageError, ZvmlabError
from zvmlab.base.plain import harmless, shortened

VERSION = 3
HEADER = struct.Struct(">IIHH")
# Made once: each request and reply has a dozen of them.
_U8, _U16, _U32 = struct.Struct(">B"), struct.Struct(">H"), struct.Struct(">I")
_U64, _I64 = struct.Struct(">Q"), struct.Struct(">q")
COUNTED = 8
REQUEST_MAX = 16 << 20
REPLY_MAX = (64 << 20) + (1 << 20)
REPLY_BIT = 0x8000
WORKERS = 17
LIMIT_MAX_MS = 3_600_000
CHUNK_MAX = 4 << 20
OPS_MAX = 1024
READS_MAX = 65536
FILL_BYTE = 0xA5
ERRNO_MAX = 4095
"""Linux has no higher one (MAX_ERRNO in include/linux/err.h)."""


class Request(enum.IntEnum):
    """Types of requests."""

    HELLO = 1
    BATCH = 2
    RUN = 3
    SPAWN = 4
    WAIT = 5
    SIGNAL = 6
    DRAIN = 7
    INSMOD = 8
    RMMOD = 9
    READ_FILE = 10
    WRITE_FILE = 11
    KLOG = 12
    POWER = 13
    INTERRUPT = 14
    SETTLE = 15


class Status(enum.IntEnum):
    """Why a request was not executed."""

    OK = 0
    MALFORMED = 1
    UNKNOWN = 2
    LIMIT = 3
    BUSY = 4
    NO_MEMORY = 5
    NO_PROCESS = 6


class Op(enum.IntEnum):
    """Operations of a batch."""

    CALL = 1
    POLL = 2
    READS = 3


class Call(enum.IntEnum):
    """System calls, by numbers that do not depend on the machine."""

    OPENAT = 1
    CLOSE = 2
    READ = 3
    WRITE = 4
    READV = 5
    WRITEV = 6
    PREAD64 = 7
    PWRITE64 = 8
    LSEEK = 9
    IOCTL = 10
    DUP = 11
    DUP3 = 12
    PIPE2 = 13
    FCNTL = 14
    MMAP = 15
    MUNMAP = 16
    MPROTECT = 17
    MKNODAT = 18
    MKDIRAT = 19
    UNLINKAT = 20
    FTRUNCATE = 21
    FSYNC = 22
    MOUNT = 23
    UMOUNT2 = 24
    SOCKET = 25
    BIND = 26
    LISTEN = 27
    CONNECT = 28
    ACCEPT4 = 29
    SENDTO = 30
    RECVFROM = 31
    SHUTDOWN = 32
    SETSOCKOPT = 33
    GETSOCKOPT = 34
    GETPID = 35
    SYNC = 36
    CLOCK_GETTIME = 37
    CLOCK_SETTIME = 38
    SENDMSG = 39
    RECVMSG = 40
    GETSOCKNAME = 41
    GETPEERNAME = 42
    STATX = 43
    SCHED_SETAFFINITY = 44
    FINIT_MODULE = 45
    DELETE_MODULE = 46
    SYMLINKAT = 47


class Arg(enum.IntEnum):
    """Kinds of arguments of a system call."""

    IMMEDIATE = 0
    RESULT = 1
    IN = 2
    OUT = 3
    BOTH = 4
    BAD = 5
    IOVEC = 6
    MESSAGE = 7


class BadKind(enum.IntEnum):
    """The fault in the memory of a Bad argument."""

    UNMAPPED = 1
    READONLY = 2
    PARTIAL = 3


class Power(enum.IntEnum):
    """The action of POWER."""

    OFF = 0
    REBOOT = 1
    HALT = 2


class PowerFlag(enum.IntFlag):
    """Ways to let the kernel panic while the machine ends."""

    PANIC_ON_WARN = 1
    PANIC_ON_OOPS = 2


class AgentError(ZvmlabError):
    """The agent refused a request."""

    def __init__(self, status: int, text: str, what: str) -> None:
        said = shortened(harmless(text, lines=False)) or f"status {status}"
        super().__init__(f"the agent refused {what}: {said}")
        self.status = status


class TooLarge(UsageError):
    """A request has more bytes, or a batch more operations, than the agent takes."""


class AgentLost(ZvmlabError):
    """The connection to the agent ended."""


def _too_short() -> AgentLost:
    return AgentLost("the agent sent a reply that is too short")


class Writer:
    """A payload under construction; integers are big-endian."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def u8(self, value: int) -> Writer:
        return self.raw(_U8.pack(value))

    def u16(self, value: int) -> Writer:
        return self.raw(_U16.pack(value & 0xFFFF))

    def u32(self, value: int) -> Writer:
        return self.raw(_U32.pack(value & 0xFFFFFFFF))

    def u64(self, value: int) -> Writer:
        return self.raw(_U64.pack(value & 0xFFFFFFFFFFFFFFFF))

    def raw(self, data: bytes) -> Writer:
        self._parts.append(data)
        return self

    def blob(self, data: bytes) -> Writer:
        return self.u32(len(data)).raw(data)

    def string(self, text: str) -> Writer:
        return self.blob(text.encode("utf-8", "surrogateescape"))

    def payload(self) -> bytes:
        return b"".join(self._parts)


class Reader:
    """A payload that came; what does not fit it is an AgentLost, for nothing is in step then."""

    def __init__(self, data: bytes | bytearray | memoryview) -> None:
        self.data = memoryview(data)
        self.at = 0

    def _unpack(self, layout: struct.Struct) -> int:
        try:
            (value,) = layout.unpack_from(self.data, self.at)
        except struct.error:
            raise _too_short() from None
        self.at += layout.size
        return int(value)

    def u8(self) -> int:
        return self._unpack(_U8)

    def u16(self) -> int:
        return self._unpack(_U16)

    def u32(self) -> int:
        return self._unpack(_U32)

    def u64(self) -> int:
        return self._unpack(_U64)

    def i64(self) -> int:
        return self._unpack(_I64)

    def errno(self) -> int:
        """An error number, 0 for none."""
        found = self.u32()
        if found > ERRNO_MAX:
            raise AgentLost(f"the agent sent the error number {found}, which Linux does not have")
        return found

    def raw(self, size: int) -> bytes:
        if size > len(self.data) - self.at:
            raise _too_short()
        self.at += size
        return bytes(self.data[self.at - size : self.at])

    def blob(self) -> bytes:
        return self.raw(self.u32())

    def string(self) -> str:
        return self.blob().decode("utf-8", "surrogateescape")
