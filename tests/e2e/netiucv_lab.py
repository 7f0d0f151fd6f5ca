# SPDX-License-Identifier: MIT
"""Interfaces of the guest's netiucv, and UDP sockets of its programs."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

import ip_packets
import pytest
from ip_packets import Packet, datagram
from waiting import wait_until

from zvmlab.agent.agent import Agent
from zvmlab.agent.calls import CallResult, Out
from zvmlab.agent.wire import Call
from zvmlab.agent.worker import Worker
from zvmlab.base.errors import UsageError
from zvmlab.builder.kernels import resolve
from zvmlab.builder.modules import module_graph
from zvmlab.cp.netiucv import Link, accept
from zvmlab.cp.peer import Peer
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest

MODULE = "netiucv"
DRIVER = "/sys/bus/iucv/drivers/netiucv"
BUSYBOX = "/bin/busybox"
USER, PARTNER = "LINUX001", "PARTNER"
OWN, OTHER = "10.1.1.1", "10.1.1.2"
PORT = 4000
SECONDS = 60.0
UP, WAITS = ("Running", "Idle"), ("StartWait", "StartWait")
"""States of an interface and of its connection."""
_AF_INET, _STREAM, _DGRAM = 2, 1, 2
_PART = 1 << 18
_SOL_SOCKET, _SO_SNDBUF, _SO_RCVTIMEO = 1, 7, 20
_MSG_TRUNC = 0x20


def need_module(kernel: str) -> None:
    """Skip the test where Linux has dropped the driver."""
    try:
        module_graph(resolve(kernel), [MODULE])
    except UsageError:
        pytest.skip("Linux has no netiucv any more since July 2025")


def make(agent: Agent, user: str) -> CallResult:
    """Ask for an interface to a user ID; what the driver says."""
    return _write(agent, f"{DRIVER}/connection", user.encode())


def remove(agent: Agent, name: str) -> CallResult:
    """Ask for its end; what the driver says."""
    return _write(agent, f"{DRIVER}/remove", name.encode())


def _write(agent: Agent, path: str, text: bytes) -> CallResult:
    fd = agent.open(path, 1).check()
    try:
        return agent.write(fd, text)
    finally:
        agent.close(fd).check()


@dataclass(frozen=True)
class Interface:
    """One of the guest's, with the number that the kernel has given it."""

    guest: Guest
    number: int = 0

    @property
    def name(self) -> str:
        return f"iucv{self.number}"

    def attribute(self, name: str) -> str:
        """An attribute of the device in sysfs: user, buffer, stats/…"""
        path = f"/sys/bus/iucv/devices/net{self.name}/{name}"
        return self.guest.agent.read_file(path).decode().strip()

    def set(self, name: str, text: str) -> CallResult:
        """Write an attribute; return the driver's answer."""
        path = f"/sys/bus/iucv/devices/net{self.name}/{name}"
        return _write(self.guest.agent, path, text.encode())

    @property
    def states(self) -> tuple[str, str]:
        """The states of the interface and of its connection."""
        return self.attribute("stats/device_fsm_state"), self.attribute(
            "stats/connection_fsm_state"
        )

    def counts(self, *names: str) -> list[int]:
        """The counters of the network device: rx_packets, tx_errors, …"""
        at = f"/sys/class/net/{self.name}/statistics"
        return [int(self.guest.agent.read_file(f"{at}/{name}")) for name in names]

    @property
    def mtu(self) -> int:
        return int(self.guest.agent.read_file(f"/sys/class/net/{self.name}/mtu"))

    def configure(self, *words: str) -> int:
        """ifconfig's exit status."""
        done = self.guest.agent.run([BUSYBOX, "ifconfig", self.name, *words])
        return -1 if done.status is None else done.status

    def up(self, own: str = OWN, other: str = OTHER) -> None:
        assert self.configure(own, "pointopoint", other, "up") == 0

    def down(self) -> None:
        assert self.configure("down") == 0


def _address(of: str, port: int) -> bytes:
    return struct.pack(">HH4s8x", _AF_INET, port, ip_packets.address(of))


class Datagrams:
    """A UDP socket of the guest's on a port of its own address, for the partner's."""

    def __init__(self, worker: Worker, port: int = PORT) -> None:
        self.worker = worker
        self.fd = worker.call(Call.SOCKET, _AF_INET, _DGRAM, 0).check()
        self.port = port
        at = _address("0.0.0.0", self.port)
        worker.call(Call.BIND, self.fd, at, len(at)).check()
        limit = struct.pack(">qq", int(SECONDS), 0)
        self._option(_SO_RCVTIMEO, limit)
        self._option(_SO_SNDBUF, struct.pack(">i", 1 << 20))

    def try_send(self, data: bytes, to: str = OTHER) -> CallResult:
        at = _address(to, self.port)
        return self.worker.call(Call.SENDTO, self.fd, data, len(data), 0, at, len(at))

    def send(self, data: bytes, to: str = OTHER) -> None:
        assert self.try_send(data, to).check() == len(data)

    def recv(self, size: int = 65536) -> bytes:
        """The next datagram's data."""
        found = self.worker.call(Call.RECVFROM, self.fd, Out(size), size, _MSG_TRUNC, 0, 0)
        return found.data[: found.check()]

    def close(self) -> None:
        self.worker.close(self.fd).check()

    def __enter__(self) -> Datagrams:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _option(self, option: int, value: bytes) -> None:
        self.worker.call(Call.SETSOCKOPT, self.fd, _SOL_SOCKET, option, value, len(value)).check()


class Stream:
    """A TCP socket of the guest's."""

    def __init__(self, worker: Worker, fd: int | None = None) -> None:
        self.worker = worker
        self.fd = worker.call(Call.SOCKET, _AF_INET, _STREAM, 0).check() if fd is None else fd

    def listen(self, own: str) -> None:
        at = _address(own, PORT)
        self.worker.call(Call.BIND, self.fd, at, len(at)).check()
        self.worker.call(Call.LISTEN, self.fd, 1).check()

    def accept(self) -> Stream:
        return Stream(self.worker, self.worker.call(Call.ACCEPT4, self.fd, 0, 0, 0).check())

    def connect(self, to: str) -> None:
        at = _address(to, PORT)
        self.worker.call(Call.CONNECT, self.fd, at, len(at)).check()

    def send_all(self, data: bytes) -> None:
        while data:
            sent = self.worker.call(Call.SENDTO, self.fd, data[:_PART], len(data[:_PART]), 0, 0, 0)
            data = data[sent.check() :]

    def recv_all(self, size: int) -> bytes:
        """So many bytes, or fewer if the other end has closed."""
        data = bytearray()
        while len(data) < size:
            part = min(_PART, size - len(data))
            found = self.worker.call(Call.RECVFROM, self.fd, Out(part), part, 0, 0, 0)
            if found.check() == 0:
                break
            data += found.data[: found.ret]
        return bytes(data)

    def close(self) -> None:
        self.worker.close(self.fd).check()


def to_guest(data: bytes, length: int | None = None) -> bytes:
    """A packet with a datagram of the partner's; *length*: what its headers say of the data."""
    said = None if length is None else 8 + length
    body = datagram(PORT, PORT, data, said)
    return Packet(ip_packets.UDP, OTHER, OWN, body, None if said is None else 20 + said).encode()


def from_guest(packet: bytes) -> bytes:
    """The data of a datagram of the guest's, whose headers are as they must be."""
    found = Packet.decode(packet)
    assert (found.protocol, found.source, found.target) == (ip_packets.UDP, OWN, OTHER)
    source, target, length, summed = struct.unpack_from(">HHHH", found.data)
    assert (source, target, length) == (PORT, PORT, len(found.data))
    if summed:
        ends = ip_packets.address(OWN) + ip_packets.address(OTHER)
        pseudo = ends + struct.pack(">BBH", 0, ip_packets.UDP, length)
        assert ip_packets.checksum(pseudo + found.data) == 0
    return found.data[8:]


def reached(interface: Interface, states: tuple[str, str]) -> None:
    """Wait until the interface and its connection are in these states."""
    wait_until(lambda: interface.states == states, f"states {states}", lambda: interface.states)


# Fixtures of all tests of one interface.


@pytest.fixture
def guest_config(guest_config: GuestConfig, zvmlab_kernel: str) -> GuestConfig:
    """A guest with the driver at hand, if its kernel has it."""
    need_module(zvmlab_kernel)
    return guest_config._replace(modules=(MODULE,), busybox=True)


@pytest.fixture
def agent_guest(guest: Guest) -> Guest:
    """The driver is loaded."""
    guest.agent.modprobe(MODULE).check()
    return guest


@pytest.fixture
def peer(agent_guest: Guest) -> Iterator[Peer]:
    """The user at the other end."""
    with Peer(agent_guest.control, PARTNER) as found:
        yield found


@pytest.fixture
def interface(agent_guest: Guest) -> Interface:
    """iucv0, to the peer; it is down."""
    make(agent_guest.agent, PARTNER).check()
    return Interface(agent_guest)


@pytest.fixture
def link(interface: Interface, peer: Peer) -> Link:
    """Its other end; the interface is up."""
    interface.up()
    found = accept(peer)
    reached(interface, UP)
    return found


@pytest.fixture
def datagrams(agent_guest: Guest) -> Iterator[Datagrams]:
    """A socket of a worker of its own."""
    with Datagrams(agent_guest.agent.worker("datagrams")) as found:
        yield found
