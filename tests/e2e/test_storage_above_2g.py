# SPDX-License-Identifier: MIT
"""A guest with storage above 2 GiB: most addresses that CP is given have 31 bits.

The kernel takes memory from above before it takes any from below.  What a driver gives CP has to come
from below, or CP takes other storage for it.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest

from applications import EVENT, START, Header, Writer, declared
from iucv_socket import MSG_EOR, SEQPACKET, STREAM, Socket
from vmlogrdr_lab import ACCOUNT, framed, opened, pattern, read_record
from waiting import LIMIT, wait_until
from zvmlab.agent.results import RunResult
from zvmlab.cp.peer import Peer
from zvmlab.cp.recording import make
from zvmlab.cp.spool import PUNCH, cards, files, lines, put, read
from zvmlab.guest.config import HERCULES
from zvmlab.guest.guest import Guest

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Build, Commands

USER = "LINUX001"
END = 1 << 31
DIRECTORY = (
    "IUCV ALLOW;IUCV ANY;IUCV *MSG;IUCV *LOGREC;IUCV *ACCOUNT;IUCV *SYMPTOM;OPTION APPLMON;"
    "SPOOL 00C 2540 READER *;SPOOL 00D 2540 PUNCH A"
)
MODULES = ("appldata_mem", "hmcdrv", "monwriter", "smsgiucv_app", "vmlogrdr", "vmur")

pytestmark = [
    pytest.mark.zvmlab(
        storage="0.3G", segments=(), modules=MODULES, cp={"directory": DIRECTORY, "class": "EG"}
    ),
    pytest.mark.not_debug(
        "kmemleak has no room for what Linux 6.1 allocates of so much storage before it starts",
        kernels=("bookworm:debug",),
    ),
]


@pytest.fixture(autouse=True)
def _qemu_only(zvmlab_backend: str) -> None:
    if zvmlab_backend == HERCULES:
        pytest.skip("the card devices of Hercules are its own, and CP has no part in them")


@pytest.fixture
def large(guest: Guest) -> Guest:
    """The guest, whose kernel has memory above."""
    zones = guest.agent.read_file("/proc/zoneinfo").decode()
    assert re.search(r"zone +Normal\n +pages free +[1-9]", zones), "all storage is below 2 GiB"
    return guest


@pytest.mark.requirement("I1", "I2")
@pytest.mark.parametrize("kind", [STREAM, SEQPACKET], ids=["stream", "seqpacket"])
def test_sockets(large: Guest, kind: int) -> None:
    """Messages of every size up to several pages, both ways."""
    worker = large.agent.worker("sockets")
    with Socket.make(worker, kind, "SERVER") as server, Socket.make(worker, kind) as client:
        server.listen(1)
        client.connect(USER, "SERVER")
        with server.accept() as accepted:
            for size in (1, 7, 8, 100, 4096, 30_000):
                for sender, receiver in ((client, accepted), (accepted, client)):
                    data = pattern(size, size % 251)
                    assert sender.send(data, MSG_EOR if kind == SEQPACKET else 0) == size
                    assert receiver.recv_all(size) == data


@pytest.mark.requirement("U1", "V9")
def test_commands_and_messages(
    large: Guest, program: Build, vmcp_in: Callable[[Guest], Commands]
) -> None:
    """CP's answers, and texts that it has for the guest."""
    large.agent.modprobe("smsgiucv_app").check()
    vmcp = vmcp_in(large)
    answer = vmcp("QUERY VIRTUAL ALL", 65536)
    assert answer.text.startswith("STORAGE = 3G") and len(answer.text) == answer.size
    large.agent.write_file("/tmp/uevents", program("uevents").read_bytes(), 0o755)
    text = "x" * 200
    words = ["/tmp/uevents", "2", "/tmp/listening", f"SMSG_TEXT={text}"]
    listener = large.agent.worker("events").spawn(words)
    wait_until(lambda: large.agent.open("/tmp/listening").errno == 0, "the program listens")
    with Peer(large.control, "TESTER") as tester:
        for _ in range(2):
            assert tester.cp(f"SMSG {USER} APP {text}").rc == 0
    found: RunResult = listener.wait(LIMIT).check()
    assert found.stdout.splitlines() == [b"change@/devices/iucv/smsgiucv_app"] * 2


@pytest.mark.requirement("W2", "W6", "A2")
def test_data_that_cp_collects(large: Guest) -> None:
    """Buffers of programs, which CP copies from later, lie below."""
    for module in ("monwriter", "appldata_mem"):
        large.agent.modprobe(module).check()
    with Writer(large) as writer:
        for number in range(50):
            writer.put(Header(START, record=number), pattern(4000, number))
        large.agent.write_file("/proc/sys/appldata/mem", b"1\n")
        assert len(declared(large)) == 51
        ends = [
            buffer["address"] + buffer["length"]
            for buffer in declared(large)
            if buffer["product-id"].startswith(b"LNXAPPL")
        ]
        assert len(ends) == 50 and max(ends) <= END
        writer.put(Header(EVENT), b"event")
        large.agent.write_file("/proc/sys/appldata/mem", b"0\n")
    assert declared(large) == []


@pytest.mark.requirement("L2")
def test_records_of_the_system(large: Guest) -> None:
    large.agent.modprobe("vmlogrdr").check()
    with opened(large.agent, ACCOUNT) as fd:
        for size in (1, 80, 4088, 10_000):
            make(large.control, ACCOUNT.service, pattern(size))
            assert read_record(large.agent, fd, size) == framed(pattern(size))


@pytest.mark.requirement("R3", "R9")
def test_cards(large: Guest) -> None:
    """Read by a DIAGNOSE, punched by channel programs of many commands."""
    agent = large.agent
    agent.modprobe("vmur").check()
    names = {device: f"vm{kind}-0.0.000{device}" for kind, device in (("rdr", "c"), ("pun", "d"))}
    for device, name in names.items():
        agent.write_file(f"/sys/bus/ccw/devices/0.0.000{device}/online", b"1\n")
        node = f"/sys/class/vmur/{name}/dev"
        wait_until(lambda: agent.open(node).errno == 0, f"there is {node}")
    wanted = [f"card {number}" for number in range(200)]
    fd = agent.open(f"/dev/{names['d']}", os.O_WRONLY).check()
    assert agent.write(fd, cards(*wanted)).check() == 80 * len(wanted)
    agent.close(fd).check()
    assert large.cp("CLOSE 00D").rc == 0
    (file,) = files(large.control, USER, PUNCH)
    assert lines(read(large.control, file)) == wanted
    put(large.control, USER, cards(*wanted))
    fd = agent.open(f"/dev/{names['c']}", os.O_RDONLY).check()
    data = agent.read(fd, 1 << 16).data
    agent.close(fd).check()
    for text in wanted:
        assert text.encode("cp037") in data


@pytest.mark.requirement("F2", "F4")
def test_files_of_the_drive(large: Guest) -> None:
    """Read into storage of the driver's, and written from there."""
    data = pattern(50_000)
    large.control.execute("hmc-drive", bytes=1 << 20, **{"read-only": False})
    large.control.execute("hmc-write", name="file", data=data)
    agent = large.agent
    agent.modprobe("hmcdrv").check()
    fd = agent.open("/dev/hmcdrv", os.O_RDWR).check()
    for command in (b"get file", b"put copy", b"get copy"):
        agent.lseek(fd, 0, os.SEEK_END).check()
        agent.write(fd, command).check()
        if command == b"put copy":
            assert agent.write(fd, data).check() == len(data)
        else:
            assert agent.read(fd, len(data)).data == data
    agent.close(fd).check()
