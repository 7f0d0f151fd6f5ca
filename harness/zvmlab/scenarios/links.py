# SPDX-License-Identifier: MIT
"""A scenario of netiucv: a network interface of the guest to a user ID that is played."""

from __future__ import annotations

import errno
import socket
import struct

from zvmlab.agent.calls import Both, CallResult, Out
from zvmlab.agent.wire import Call
from zvmlab.base.errors import Timeout, ZvmlabError
from zvmlab.cp.netiucv import Link, LinkGone, accept
from zvmlab.cp.peer import IucvError, Peer
from zvmlab.scenarios.context import Context, error_name, scenario

_MODULE, _CORE, _DRIVER = "netiucv", "fsm", "/sys/bus/iucv/drivers/netiucv"
_PARTNER, _NAME = "PARTNER", "iucv0"
_OWN, _OTHER = "10.1.1.1", "10.1.1.2"
_PORT = 4000
_AF_INET, _DGRAM = 2, 2
_MSG_DONTWAIT = 0x40
# linux/sockios.h, and struct ifreq of 40 bytes.
_SIOCSIFFLAGS, _SIOCSIFADDR, _SIOCSIFDSTADDR = 0x8914, 0x8916, 0x8918
_IFF_UP = 1
_IFREQ = 40
_UDP = 17
# RFC 791 and 768: headers without checksum of the data, which UDP allows.
_IP = struct.Struct(">BBHHHBBH4s4s")
_DATAGRAM = struct.Struct(">HHHH")


def _checksum(header: bytes) -> int:
    """RFC 1071, of a whole number of words."""
    total = sum(int(word) for (word,) in struct.iter_unpack(">H", header))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def _packet(data: bytes) -> bytes:
    """A datagram of the partner's."""
    length = _IP.size + _DATAGRAM.size + len(data)
    ends = socket.inet_aton(_OTHER), socket.inet_aton(_OWN)
    fields = 0x45, 0, length, 0, 0x4000, 64, _UDP
    header = _IP.pack(*fields, _checksum(_IP.pack(*fields, 0, *ends)), *ends)
    return header + _DATAGRAM.pack(_PORT, _PORT, _DATAGRAM.size + len(data), 0) + data


def _data(packet: bytes) -> str:
    """The data of a datagram from the guest."""
    return packet[_IP.size + _DATAGRAM.size :].decode("latin-1")


def _address(text: str) -> bytes:
    return struct.pack(">HH4s8x", _AF_INET, _PORT, socket.inet_aton(text))


def _interface(context: Context, request: int, value: bytes) -> CallResult:
    """An ioctl of the network interface."""
    agent = context.guest.agent
    fd = agent.call(Call.SOCKET, _AF_INET, _DGRAM, 0).check()
    asked = (_NAME.encode().ljust(16, b"\0") + value).ljust(_IFREQ, b"\0")
    result = agent.ioctl(fd, request, Both(asked))
    agent.close(fd)
    return result


def _up(context: Context) -> list[str | None]:
    """Give the interface its addresses, which brings it up; what is wrong with that."""
    steps = ((_SIOCSIFADDR, _OWN), (_SIOCSIFDSTADDR, _OTHER))
    found = [_interface(context, request, _address(text)) for request, text in steps]
    found.append(_interface(context, _SIOCSIFFLAGS, struct.pack(">H", _IFF_UP)))
    return [error_name(one.errno) for one in found]


def _down(context: Context) -> str | None:
    return error_name(_interface(context, _SIOCSIFFLAGS, struct.pack(">H", 0)).errno)


def _states(context: Context) -> list[str]:
    """The states of the interface and of its connection."""
    folder = f"/sys/bus/iucv/devices/net{_NAME}/stats"
    names = ("device_fsm_state", "connection_fsm_state")
    agent = context.guest.agent
    return [agent.read_text(f"{folder}/{name}").strip() for name in names]


def _received(context: Context, fd: int, seconds: float) -> str:
    """The next datagram of the guest's socket, or why there is none."""
    found: list[CallResult] = []

    def come() -> bool:
        found[:] = [context.guest.agent.call(Call.RECVFROM, fd, Out(100), 100, _MSG_DONTWAIT, 0, 0)]
        return found[0].errno != errno.EAGAIN

    if not context.control.limit(seconds).look(come):
        return "nothing comes"
    return found[0].data[: max(found[0].ret, 0)].decode("latin-1")


def _exchange(context: Context, link: Link, seconds: float) -> None:
    """A datagram each way."""
    agent = context.guest.agent
    fd = agent.call(Call.SOCKET, _AF_INET, _DGRAM, 0).check()
    try:
        _exchange_at(context, link, fd, seconds)
    finally:
        agent.close(fd)


def _exchange_at(context: Context, link: Link, fd: int, seconds: float) -> None:
    """The same at this socket of the guest's."""
    agent = context.guest.agent
    own, other = _address("0.0.0.0"), _address(_OTHER)
    agent.call(Call.BIND, fd, own, len(own)).check()
    sent = agent.call(Call.SENDTO, fd, b"question", 8, _MSG_DONTWAIT, other, len(other))
    context.note("send", errno=error_name(sent.errno))
    try:
        found = [_data(packet) for packet in link.packets(seconds)]
    except (IucvError, Timeout, LinkGone, ValueError) as error:
        found = [type(error).__name__]
    context.note("the partner", got=found)
    try:
        link.send(_packet(b"answer"))
    except ZvmlabError as error:
        context.note("the partner", error=type(error).__name__)
    context.note("receive", text=_received(context, fd, seconds))


def _connect(context: Context, peer: Peer) -> None:
    """The interface comes up and goes down; its partner accepts it, and a datagram goes each way."""
    seconds = context.patience
    context.note("up", errors=_up(context))
    try:
        with accept(peer, timeout=seconds) as link:
            running = context.control.limit(seconds).look(
                lambda: _states(context) == ["Running", "Idle"]
            )
            context.note("connected", running=running)
            _exchange(context, link, seconds)
            context.note("down", errno=_down(context))
            try:
                link.await_sever(seconds)
                context.note("the partner", severed=True)
            except ZvmlabError as error:
                context.note("the partner", error=type(error).__name__)
    except ZvmlabError as error:
        context.note("the partner", error=type(error).__name__)
        context.note("down", errno=_down(context))


def _remove(context: Context) -> list[str | None]:
    """The interface, the module, and the one that came with it; what is wrong with that."""
    removed = context.write_file(f"{_DRIVER}/remove", _NAME)
    number = context.guest.agent.rmmod(_MODULE).errno
    if not number:
        context.guest.agent.rmmod(_CORE)
    return [removed, error_name(number)]


def _link_works(context: Context) -> str | None:
    context.guest.agent.rmmod(_MODULE)
    context.guest.agent.modprobe(_MODULE)
    wrong = context.write_file(f"{_DRIVER}/connection", _PARTNER)
    if wrong:
        return f"there is no interface: {wrong}"
    before = len(context.steps)
    with Peer(context.control, _PARTNER) as peer:
        _connect(context, peer)
    found = [step.result for step in context.steps[before:]]
    removed = _remove(context)
    if {"got": ["question"]} not in found or {"text": "answer"} not in found:
        return f"the interface gives {found}"
    return f"its end is {removed}" if any(removed) else None


@scenario(
    "netiucv",
    "A network interface comes up and is connected; a datagram each way; it goes down.",
    partner=_PARTNER,
    modules=(_MODULE,),
    usable=_link_works,
)
def netiucv(context: Context) -> None:
    """CONNECT, SEND, RECEIVE and SEVER of the driver."""
    loaded = context.guest.agent.modprobe(_MODULE).errno
    context.note("load", errno=error_name(loaded))
    made = context.write_file(f"{_DRIVER}/connection", _PARTNER)
    context.note("interface", errno=made)
    if not made:
        with Peer(context.control, _PARTNER) as peer:
            _connect(context, peer)
    context.note("unload", errors=_remove(context))
