# SPDX-License-Identifier: MIT
"""AF_IUCV between the guest and a peer, both ways, through the kernel's own af_iucv."""

from __future__ import annotations

import hashlib
import stat
from typing import TYPE_CHECKING

import pytest

from zvmlab.cp.afiucv import AfIucvListener, connect
from zvmlab.cp.peer import Peer
from zvmlab.guest.guest import Guest

if TYPE_CHECKING:
    from conftest import Build

READY = "/tmp/iucvcat.ready"
SECONDS = 60
SIZES = (0, 1, 7, 8, 100, 4095, 4096, 4097, 32760, 65536, 1 << 20)


def pattern(size: int, seed: int) -> bytes:
    """Bytes that differ at every place and for every seed."""
    block = hashlib.sha256(f"{seed}".encode()).digest()
    return (block * (size // len(block) + 1))[:size]


@pytest.fixture
def iucvcat(warm_guest: Guest, program: Build) -> str:
    """Path of the AF_IUCV test program in the warm guest."""
    agent = warm_guest.agent
    agent.write_file("/tmp/iucvcat", program("iucvcat").read_bytes(), 0o755)
    agent.unlink(READY)
    agent.mknod(READY, stat.S_IFIFO | 0o600).check()
    return "/tmp/iucvcat"


@pytest.mark.requirement("I1")
@pytest.mark.parametrize("size", SIZES)
def test_guest_connects_and_gets_back_what_it_sent(
    warm_guest: Guest, iucvcat: str, size: int
) -> None:
    data = pattern(size, 1)
    with Peer(warm_guest.control, "PARTNER") as peer:
        listener = AfIucvListener(peer, "ECHO")
        process = warm_guest.agent.worker("iucv").spawn(
            [iucvcat, "connect", "PARTNER", "ECHO"], stdin=data
        )
        with listener.accept(SECONDS) as stream:
            received = b""
            while part := stream.recv(SECONDS):
                received += part
            assert received == data
            stream.send(data)
            stream.shut_down()
            done = process.wait(SECONDS).check()
    assert done.stdout == data


@pytest.mark.requirement("I1")
@pytest.mark.parametrize("size", SIZES)
def test_peer_connects_to_the_guest(warm_guest: Guest, iucvcat: str, size: int) -> None:
    data = pattern(size, 2)
    process = warm_guest.agent.worker("iucv").spawn([iucvcat, "listen", "SERVER"], stdin=data)
    with Peer(warm_guest.control, "PARTNER") as peer:
        wait_listening(warm_guest, "SERVER")
        with connect(peer, "LINUX001", "SERVER", timeout=SECONDS) as stream:
            stream.send(data)
            stream.shut_down()
            received = b""
            while part := stream.recv(SECONDS):
                received += part
            assert received == data
            assert process.wait(SECONDS).check().stdout == data


def wait_listening(guest: Guest, name: str) -> None:
    """Until the guest's program listens: it says so in a FIFO."""
    fd = guest.agent.open(READY).check()
    try:
        ready = guest.agent.read(fd, 16)
        assert ready.data == f"{name}\n".encode()
    finally:
        guest.agent.close(fd)


@pytest.mark.first_kernel
def test_ten_thousand_messages_in_order(warm_guest: Guest, iucvcat: str) -> None:
    count = 10_000
    with Peer(warm_guest.control, "PARTNER") as peer:
        listener = AfIucvListener(peer, "COUNT")
        process = warm_guest.agent.worker("iucv").spawn(
            [iucvcat, "count", "PARTNER", "COUNT", str(count)]
        )
        with listener.accept(SECONDS) as stream:
            received = b""
            while part := stream.recv(SECONDS):
                received += part
            # Severed before that, it would wait for its time to linger.
            process.wait(SECONDS).check()
    numbers = [int.from_bytes(received[i : i + 4], "big") for i in range(0, len(received), 4)]
    assert numbers == list(range(count))


@pytest.mark.zvmlab(cp={"directory": "IUCV ALLOW;IUCV ANY;IUCV *RPI MSGLIMIT 50;IUCV *SPL"})
def test_guest_connects_to_a_service_that_the_test_plays(guest: Guest, program: Build) -> None:
    """Only one that its directory names: another is refused, and so is one that nobody plays."""
    guest.agent.write_file("/tmp/iucvcat", program("iucvcat").read_bytes(), 0o755)
    data = pattern(5000, 3)
    with Peer(guest.control, "*RPI") as service, Peer(guest.control, "*SIGNAL"):
        listener = AfIucvListener(service, "RACF")
        process = guest.agent.worker("iucv").spawn(
            ["/tmp/iucvcat", "connect", "*RPI", "RACF"], stdin=data
        )
        with listener.accept(SECONDS) as stream:
            paths = guest.control.execute("query-paths", user="LINUX001")["paths"]
            # Linux asks for its own limit of messages, which the directory's 50 is below.
            assert [p["msglim-send"] for p in paths if p["partner"] == "*RPI"] == [50]
            received = b""
            while part := stream.recv(SECONDS):
                received += part
            stream.send(data)
            stream.shut_down()
            assert process.wait(SECONDS).check().stdout == data
        assert received == data
        for name, reason in (
            ("*SIGNAL", "Permission denied"),
            ("*SPL", "Connection refused"),
        ):
            refused = guest.agent.run(["/tmp/iucvcat", "connect", name, "ANY"], stdin=b"")
            assert refused.status != 0
            assert reason in refused.stderr.decode()
