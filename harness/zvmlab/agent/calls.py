# SPDX-License-Identifier: MIT
"""System calls in the guest: arguments, results, batches.

    batch = worker.batch()
    fd = batch.open("/dev/monreader", os.O_RDONLY)
    batch.read_until(fd, 4096)
    batch.close(fd)
    opened, reads, closed = batch.run(timeout=10)
"""

from __future__ import annotations

import abc
import os
import struct
from collections.abc import Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

from zvmlab.agent.wire import (
    ERRNO_MAX,
    OPS_MAX,
    READS_MAX,
    AgentLost,
    Arg,
    BadKind,
    Call,
    Op,
    Reader,
    TooLarge,
    Writer,
)

R = TypeVar("R")

_EVENTS = struct.Struct(">H")
_READ = struct.Struct(">iI")

AT_FDCWD = -100
AT_REMOVEDIR = 0x200
RESULT_OVERRUN = 1
RESULT_FULL = 2
MAX_DATA = 64 << 20


class Ref:
    """The return value of an earlier operation of the same batch, plus *addend*."""

    def __init__(self, index: int, addend: int = 0) -> None:
        self.index = index
        self.addend = addend

    def __add__(self, addend: int) -> Ref:
        return Ref(self.index, self.addend + addend)

    def __sub__(self, addend: int) -> Ref:
        return self + -addend


class Out(NamedTuple):
    """A buffer that the call fills; *whole*: all of it comes back, filled with A5 beforehand."""

    size: int
    whole: bool = False


class Both(NamedTuple):
    """A buffer with these bytes, all of which come back."""

    data: bytes


class Bad(NamedTuple):
    """Memory that is not as it should be.

    PARTIAL: the first *valid* of *size* bytes can be written and come back
    (filled with A5 beforehand), what follows has no access.
    """

    kind: BadKind
    size: int = 4096
    valid: int = 0


class Iovec(NamedTuple):
    """A pointer to an array of struct iovec, for readv and writev."""

    parts: Sequence[bytes | Out | Both | Bad]


class Message(NamedTuple):
    """A pointer to a struct msghdr, for sendmsg and recvmsg.

    Each pointer of it has a length of its own, which need not be that of what is there.
    """

    parts: Iovec
    parts_count: int
    """As the structure says."""
    name: bytes | Out | Both | Bad | int = 0
    name_size: int = 0
    control: bytes | Out | Both | Bad | int = 0
    control_size: int = 0
    flags: int = 0

    def received(self, buffers: Sequence[bytes]) -> bytes:
        """Of the buffers that have come back, what is in the parts."""
        first = len(list(_buffers(self.name)))
        return b"".join(buffers[first : first + len(list(_buffers(self.parts)))])


Number = int | Ref
Argument = Number | bytes | Out | Both | Bad | Iovec | Message
Target = int | Bad
"""Where a read goes: so many bytes, or memory that is not as it should be."""


class Read(NamedTuple):
    """One of the reads of read_until."""

    ret: int
    errno: int
    data: bytes


class Operation(NamedTuple):
    """One operation of a batch, and what its result is to look like."""

    what: str
    encoded: bytes
    buffers: Sequence[Out]
    """Those of the result: of at most that size, or exactly of it if they come back whole."""
    seconds: float = 0.0
    """It sleeps so long by itself."""
    reads: bool = False
    """The second buffer describes the reads that the first one has the data of."""

    def fits(self, buffers: Sequence[bytes]) -> bool:
        """Can the result have these?"""
        if len(buffers) != len(self.buffers):
            return False
        for wanted, found in zip(self.buffers, buffers):
            if len(found) > wanted.size or wanted.whole and len(found) != wanted.size:
                return False
        return not self.reads or _are_reads(*buffers)


def _are_reads(data: bytes, reads: bytes) -> bool:
    if len(reads) % _READ.size:
        return False
    entries = list(_READ.iter_unpack(reads))
    total = sum(max(ret, 0) for ret, _ in entries)
    return total == len(data) and all(errno <= ERRNO_MAX for _, errno in entries)


class CallResult(NamedTuple):
    """The result of an operation, exactly: return value and errno (0 if it did not fail)."""

    what: str
    ret: int
    errno: int
    buffers: Sequence[bytes] = ()
    overrun: bool = False
    """Bytes behind an output buffer were changed."""
    full: bool = False
    """read_until stopped because there was no room for more."""

    @property
    def data(self) -> bytes:
        """The returned data, joined."""
        return b"".join(self.buffers)

    @property
    def revents(self) -> list[int]:
        """For poll: the ready events of each file."""
        return [event for (event,) in _EVENTS.iter_unpack(self.buffers[0])]

    @property
    def reads(self) -> list[Read]:
        """For read_until: the single reads."""
        found, at = [], 0
        for ret, errno in _READ.iter_unpack(self.buffers[1]):
            found.append(Read(ret, errno, self.buffers[0][at : at + max(ret, 0)]))
            at += max(ret, 0)
        return found

    def check(self) -> int:
        """The return value; OSError if the call failed."""
        if self.errno:
            raise OSError(self.errno, f"{self.what} in the guest: {os.strerror(self.errno)}")
        return self.ret


def _put_argument(out: Writer, arg: Argument) -> None:
    if isinstance(arg, int):
        out.u8(Arg.IMMEDIATE).u64(arg)
    elif isinstance(arg, Ref):
        out.u8(Arg.RESULT).u16(arg.index).u64(arg.addend)
    elif isinstance(arg, bytes):
        out.u8(Arg.IN).blob(arg)
    elif isinstance(arg, Out):
        out.u8(Arg.OUT).u32(arg.size).u8(arg.whole)
    elif isinstance(arg, Both):
        out.u8(Arg.BOTH).blob(arg.data)
    elif isinstance(arg, Bad):
        out.u8(Arg.BAD).u8(arg.kind).u32(arg.size).u32(arg.valid)
    elif isinstance(arg, Message):
        out.u8(Arg.MESSAGE)
        for part, size in _of_message(arg):
            _put_argument(out, part)
            out.u32(size)
        out.u32(arg.flags)
    else:
        out.u8(Arg.IOVEC).u16(len(arg.parts))
        for part in arg.parts:
            _put_argument(out, part)


def _of_message(arg: Message) -> Iterator[tuple[Argument, int]]:
    """Its pointers, each with its length, in the structure's order."""
    yield arg.name, arg.name_size
    yield arg.parts, arg.parts_count
    yield arg.control, arg.control_size


def _buffers(arg: Argument) -> Iterator[Out]:
    """The buffers of an argument that come back."""
    if isinstance(arg, Iovec):
        for part in arg.parts:
            yield from _buffers(part)
    elif isinstance(arg, Message):
        for inner, _ in _of_message(arg):
            yield from _buffers(inner)
    elif isinstance(arg, Out):
        yield arg
    elif isinstance(arg, Both):
        yield Out(len(arg.data), whole=True)
    elif isinstance(arg, Bad) and arg.kind is BadKind.PARTIAL:
        yield Out(arg.valid, whole=True)


def encode_call(call: Call, args: Sequence[Argument]) -> bytes:
    """One CALL operation."""
    out = Writer().u8(Op.CALL).u16(call).u8(len(args))
    for arg in args:
        _put_argument(out, arg)
    return out.payload()


def encode_poll(fds: Sequence[tuple[Number, int]], timeout_ms: int) -> bytes:
    """One POLL operation."""
    out = Writer().u8(Op.POLL).u16(len(fds))
    for fd, events in fds:
        _put_argument(out, fd)
        out.u16(events)
    return out.u32(timeout_ms).payload()


def path_bytes(path: str) -> bytes:
    """A path as the kernel takes it."""
    return os.fsencode(path) + b"\0"


def _target(target: Target) -> tuple[Argument, int]:
    if isinstance(target, int):
        return Out(target), target
    return target, target.size


class Calls(abc.ABC, Generic[R]):
    """System calls by their names; R is what each of them gives."""

    @abc.abstractmethod
    def operation(self, operation: Operation) -> R:
        """Execute, or note, one operation."""

    def call(self, call: Call, *args: Argument) -> R:
        """Any system call, with its arguments as they are."""
        buffers = [buffer for arg in args for buffer in _buffers(arg)]
        return self.operation(Operation(call.name.lower(), encode_call(call, args), buffers))

    def open(self, path: str, flags: int = os.O_RDONLY, mode: int = 0o600) -> R:
        return self.openat(AT_FDCWD, path, flags, mode)

    def openat(self, dirfd: Number, path: str, flags: int, mode: int = 0o600) -> R:
        return self.call(Call.OPENAT, dirfd, path_bytes(path), flags, mode)

    def close(self, fd: Number) -> R:
        return self.call(Call.CLOSE, fd)

    def read(self, fd: Number, target: Target) -> R:
        buffer, size = _target(target)
        return self.call(Call.READ, fd, buffer, size)

    def pread(self, fd: Number, target: Target, offset: int) -> R:
        buffer, size = _target(target)
        return self.call(Call.PREAD64, fd, buffer, size, offset)

    def readv(self, fd: Number, parts: Sequence[Target]) -> R:
        return self.call(Call.READV, fd, Iovec([_part(p) for p in parts]), len(parts))

    def write(self, fd: Number, data: bytes | Bad) -> R:
        return self.call(Call.WRITE, fd, data, data.size if isinstance(data, Bad) else len(data))

    def pwrite(self, fd: Number, data: bytes, offset: int) -> R:
        return self.call(Call.PWRITE64, fd, data, len(data), offset)

    def writev(self, fd: Number, parts: Sequence[bytes | Bad]) -> R:
        return self.call(Call.WRITEV, fd, Iovec(parts), len(parts))

    def lseek(self, fd: Number, offset: int, whence: int = os.SEEK_SET) -> R:
        return self.call(Call.LSEEK, fd, offset, whence)

    def ioctl(self, fd: Number, request: int, arg: Argument = 0) -> R:
        return self.call(Call.IOCTL, fd, request, arg)

    def fcntl(self, fd: Number, command: int, arg: Number = 0) -> R:
        return self.call(Call.FCNTL, fd, command, arg)

    def dup(self, fd: Number) -> R:
        return self.call(Call.DUP, fd)

    def mmap(
        self, fd: Number, size: int, prot: int, flags: int, offset: int = 0, address: int = 0
    ) -> R:
        return self.call(Call.MMAP, address, size, prot, flags, fd, offset)

    def munmap(self, address: Number, size: int) -> R:
        return self.call(Call.MUNMAP, address, size)

    def mknod(self, path: str, mode: int, device: int = 0) -> R:
        return self.call(Call.MKNODAT, AT_FDCWD, path_bytes(path), mode, device)

    def mkdir(self, path: str, mode: int = 0o755) -> R:
        return self.call(Call.MKDIRAT, AT_FDCWD, path_bytes(path), mode)

    def symlink(self, target: str, path: str) -> R:
        return self.call(Call.SYMLINKAT, path_bytes(target), AT_FDCWD, path_bytes(path))

    def unlink(self, path: str) -> R:
        return self.call(Call.UNLINKAT, AT_FDCWD, path_bytes(path), 0)

    def rmdir(self, path: str) -> R:
        return self.call(Call.UNLINKAT, AT_FDCWD, path_bytes(path), AT_REMOVEDIR)

    def mount(self, source: str, target: str, kind: str, flags: int = 0, data: str = "") -> R:
        texts = [path_bytes(text) for text in (source, target, kind)]
        return self.call(Call.MOUNT, *texts, flags, path_bytes(data))

    def umount(self, target: str, flags: int = 0) -> R:
        return self.call(Call.UMOUNT2, path_bytes(target), flags)

    def poll(self, fds: Sequence[tuple[Number, int]], timeout_ms: int) -> R:
        """fds: descriptor and events; -1 waits until the time limit of the request."""
        seconds = max(timeout_ms, 0) / 1000
        events = Out(_EVENTS.size * len(fds), whole=True)
        return self.operation(Operation("poll", encode_poll(fds, timeout_ms), [events], seconds))

    def sleep(self, seconds: float) -> R:
        encoded = encode_poll([], int(seconds * 1000))
        return self.operation(Operation("sleep", encoded, [Out(0)], seconds))

    def read_until(
        self,
        fd: Number,
        size: int,
        zeros: int = 1,
        reads: int = READS_MAX,
        max_bytes: int = MAX_DATA,
        poll_ms: int = -1,
    ) -> R:
        """Read until so many 0-byte reads, an error or a limit; poll before each read if >= 0."""
        out = Writer().u8(Op.READS)
        _put_argument(out, fd)
        out.u32(size).u32(reads).u64(max_bytes).u32(zeros).u32(poll_ms)
        buffers = [Out(max_bytes), Out(_READ.size * reads)]
        return self.operation(Operation("reads", out.payload(), buffers, reads=True))


def _part(part: Target) -> Out | Bad:
    return Out(part) if isinstance(part, int) else part


class BatchResult:
    """Results of the operations that were executed, by number or reference.

    *timed_out*: the time limit ended it; the last call was interrupted, what follows not begun.
    """

    def __init__(self, results: list[CallResult], timed_out: bool) -> None:
        self.results = results
        self.timed_out = timed_out

    def __getitem__(self, index: int | Ref) -> CallResult:
        return self.results[index.index if isinstance(index, Ref) else index]

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[CallResult]:
        return iter(self.results)


def decode_results(
    reader: Reader, operations: Sequence[Operation], stop: bool = False
) -> BatchResult:
    """The reply to a batch of these operations, which was to *stop* at the first failure or not."""
    done, timed_out = reader.u16(), bool(reader.u8())
    results = [_result(reader, operation) for operation in operations[:done]]
    stopped = stop and bool(results) and results[-1].errno != 0
    if done > len(operations) or (done < len(operations) and not timed_out and not stopped):
        raise AgentLost(f"the agent sent {done} results of {len(operations)} operations")
    return BatchResult(results, timed_out)


def _result(reader: Reader, operation: Operation) -> CallResult:
    ret, errno, flags = reader.i64(), reader.errno(), reader.u8()
    buffers = [reader.blob() for _ in range(reader.u16())]
    if not operation.fits(buffers):
        size = sum(map(len, buffers))
        raise AgentLost(
            f"the agent sent {len(buffers)} buffers with {size} bytes as a result of"
            f" {operation.what}, which cannot be"
        )
    overrun, full = bool(flags & RESULT_OVERRUN), bool(flags & RESULT_FULL)
    return CallResult(operation.what, ret, errno, buffers, overrun, full)


class Operations(Calls[Ref]):
    """Notes operations; each method gives a reference to its result."""

    def __init__(self) -> None:
        self.noted: list[Operation] = []

    def operation(self, operation: Operation) -> Ref:
        if len(self.noted) == OPS_MAX:
            raise TooLarge(f"a batch of more than {OPS_MAX} operations is not possible")
        self.noted.append(operation)
        return Ref(len(self.noted) - 1)

    def payload(self, limit_ms: int, stop: bool) -> bytes:
        """The request's payload."""
        head = Writer().u32(limit_ms).u32(int(stop)).u16(len(self.noted)).payload()
        return head + b"".join(operation.encoded for operation in self.noted)
