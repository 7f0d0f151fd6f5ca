# SPDX-License-Identifier: MIT
"""AF_IUCV sockets of a guest, call by call, through its agent.

    with Socket.make(worker, name="SERVER") as server:
        server.listen(1)
        with server.accept() as connected:
            connected.send(b"hello")

Numbers are those of Linux' include/net/iucv/af_iucv.h and of its generic socket interface.
"""

from __future__ import annotations

import mmap
import os
import struct
from dataclasses import dataclass

from zvmlab.agent.calls import Both, CallResult, Out
from zvmlab.agent.wire import Call
from zvmlab.agent.worker import Worker

AF_IUCV = 32
STREAM, SEQPACKET = 1, 5
NONBLOCK = 0o4000
SOL_SOCKET, SO_ERROR, SO_RCVBUF, SO_LINGER, SO_RCVTIMEO, SO_SNDTIMEO = 1, 4, 8, 13, 20, 21
SOL_IUCV, SO_IPRMDATA_MSG, SO_MSGSIZE, SO_MSGLIMIT = 277, 0x80, 0x800, 0x1000
SCM_IUCV_TRGCLS = 1
MSG_OOB, MSG_PEEK, MSG_TRUNC, MSG_DONTWAIT, MSG_EOR, MSG_NOSIGNAL = 1, 2, 0x20, 0x40, 0x80, 0x4000
SHUT_RD, SHUT_WR, SHUT_RDWR = 0, 1, 2
# Family, port, address, node, user ID, name: struct sockaddr_iucv.
_ADDRESS = struct.Struct(">HHI8s8s8s")
# Where sendmsg and recvmsg find struct msghdr, struct iovec, ancillary data and data.
_AT = 0x100000000
_IOVEC, _CONTROL, _DATA = 64, 128, 4096
_CONTROL_SIZE = 256
_MAP_FIXED = 0x10
_MSGHDR = struct.Struct(">QI4xQQQQi4x")
_CMSG = struct.Struct(">Qii")


def address(user: str, name: str) -> bytes:
    """A socket's address; blanks where there is no name."""
    blank = b" " * 8
    return _ADDRESS.pack(AF_IUCV, 0, 0, blank, user.ljust(8).encode(), name.ljust(8).encode())


def cmsg(level: int, kind: int, data: bytes) -> bytes:
    """One ancillary message."""
    length = _CMSG.size + len(data)
    return _CMSG.pack(length, level, kind) + data.ljust(-(-len(data) // 8) * 8, b"\0")


def class_message(trgcls: int) -> bytes:
    """The ancillary message that gives the target class."""
    return cmsg(SOL_IUCV, SCM_IUCV_TRGCLS, struct.pack(">I", trgcls))


@dataclass(frozen=True)
class Received:
    """The result of recvmsg."""

    ret: int
    errno: int
    data: bytes
    trgcls: int | None
    flags: int


class Socket:
    """One socket; the methods named after calls raise OSError, try_… give what came out."""

    def __init__(self, worker: Worker, fd: int) -> None:
        self.worker = worker
        self.fd = fd

    @classmethod
    def make(cls, worker: Worker, kind: int = STREAM, name: str = "") -> Socket:
        """A new socket, bound if it has a name."""
        made = cls(worker, worker.call(Call.SOCKET, AF_IUCV, kind, 0).check())
        if name:
            made.try_bind(name).check()
        return made

    def try_bind(self, name: str, user: str = "") -> CallResult:
        at = address(user, name)
        return self.worker.call(Call.BIND, self.fd, at, len(at))

    def listen(self, backlog: int) -> None:
        self.worker.call(Call.LISTEN, self.fd, backlog).check()

    def try_connect(self, user: str, name: str) -> CallResult:
        at = address(user, name)
        return self.worker.call(Call.CONNECT, self.fd, at, len(at))

    def connect(self, user: str, name: str) -> None:
        self.try_connect(user, name).check()

    def try_accept(self, flags: int = 0) -> CallResult:
        return self.worker.call(Call.ACCEPT4, self.fd, 0, 0, flags)

    def accept(self) -> Socket:
        return Socket(self.worker, self.try_accept().check())

    def try_send(self, data: bytes, flags: int = 0) -> CallResult:
        return self.worker.call(Call.SENDTO, self.fd, data, len(data), flags | MSG_NOSIGNAL, 0, 0)

    def send(self, data: bytes, flags: int = 0) -> int:
        return self.try_send(data, flags).check()

    def try_recv(self, size: int, flags: int = 0) -> CallResult:
        return self.worker.call(Call.RECVFROM, self.fd, Out(size), size, flags, 0, 0)

    def recv(self, size: int, flags: int = 0) -> bytes:
        found = self.try_recv(size, flags)
        return found.data[: min(found.check(), size)]

    def recv_all(self, size: int) -> bytes:
        """Receive this number of bytes, or everything up to the end of the stream."""
        data = b""
        while len(data) < size:
            part = self.recv(min(size - len(data), 1 << 20))
            if not part:
                break
            data += part
        return data

    def sendmsg(self, data: bytes, control: bytes = b"", flags: int = 0) -> CallResult:
        return self._message(Call.SENDMSG, data, control, flags | MSG_NOSIGNAL)[0]

    def recvmsg(self, size: int, flags: int = 0) -> Received:
        result, image = self._message(Call.RECVMSG, bytes(size), bytes(_CONTROL_SIZE), flags)
        *_, length, seen = _MSGHDR.unpack_from(image)
        trgcls = None
        if result.errno == 0 and length >= _CMSG.size:
            _, level, kind = _CMSG.unpack_from(image, _CONTROL)
            assert (level, kind) == (SOL_IUCV, SCM_IUCV_TRGCLS)
            (trgcls,) = struct.unpack_from(">I", image, _CONTROL + _CMSG.size)
        data = image[_DATA : _DATA + max(0, min(result.ret, size))]
        return Received(result.ret, result.errno, data, trgcls, seen)

    def shutdown(self, how: int) -> CallResult:
        return self.worker.call(Call.SHUTDOWN, self.fd, how)

    def set_option(self, option: int, value: int, level: int = SOL_IUCV) -> CallResult:
        packed = struct.pack(">i", value)
        return self.worker.call(Call.SETSOCKOPT, self.fd, level, option, packed, len(packed))

    def set_timeout(self, option: int, seconds: int) -> None:
        packed = struct.pack(">qq", seconds, 0)
        self.worker.call(Call.SETSOCKOPT, self.fd, SOL_SOCKET, option, packed, len(packed)).check()

    def linger(self, seconds: int) -> None:
        """Set how long close() waits for messages to be taken (kernel: two seconds)."""
        packed = struct.pack(">ii", 1, seconds)
        level = SOL_SOCKET, SO_LINGER
        self.worker.call(Call.SETSOCKOPT, self.fd, *level, packed, len(packed)).check()

    def try_option(self, option: int, level: int = SOL_IUCV) -> CallResult:
        length = struct.pack(">i", 4)
        return self.worker.call(
            Call.GETSOCKOPT, self.fd, level, option, Out(4, whole=True), Both(length)
        )

    def option(self, option: int, level: int = SOL_IUCV) -> int:
        found = self.try_option(option, level)
        found.check()
        return int.from_bytes(found.buffers[0], "big")

    def names(self, call: Call) -> tuple[str, str]:
        """User ID and name by GETSOCKNAME or GETPEERNAME."""
        length = struct.pack(">i", _ADDRESS.size)
        found = self.worker.call(call, self.fd, Out(_ADDRESS.size, whole=True), Both(length))
        found.check()
        *_, user, name = _ADDRESS.unpack(found.buffers[0])
        return user.decode().rstrip(), name.decode().rstrip()

    def ready(self, events: int, milliseconds: int = 0) -> int:
        """The result of poll."""
        return self.worker.poll([(self.fd, events)], milliseconds).revents[0]

    def close(self) -> None:
        if self.fd >= 0:
            self.worker.close(self.fd).check()
            self.fd = -1

    def __enter__(self) -> Socket:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _message(
        self, call: Call, data: bytes, control: bytes, flags: int
    ) -> tuple[CallResult, bytes]:
        """Through a file that is mapped where the structures say that they are."""
        image = bytearray(_DATA + max(len(data), 1))
        places = _AT + _IOVEC, 1, _AT + _CONTROL if control else 0, len(control)
        image[: _MSGHDR.size] = _MSGHDR.pack(0, 0, *places, 0)
        image[_IOVEC : _IOVEC + 16] = struct.pack(">QQ", _AT + _DATA, len(data))
        image[_CONTROL : _CONTROL + len(control)] = control
        image[_DATA : _DATA + len(data)] = data
        path = f"/tmp/message{self.fd}"
        self.worker.write_file(path, bytes(image), 0o600)
        batch = self.worker.batch()
        file = batch.open(path, os.O_RDWR)
        protection = mmap.PROT_READ | mmap.PROT_WRITE
        batch.mmap(file, len(image), protection, mmap.MAP_SHARED | _MAP_FIXED, address=_AT)
        done = batch.call(call, self.fd, _AT, flags)
        batch.munmap(_AT, len(image))
        batch.close(file)
        result = batch.run()[done]
        found = self.worker.read_file(path)
        self.worker.unlink(path).check()
        return result, found
