# SPDX-License-Identifier: MIT
"""What drivers take of the kernel's memory, they give back: the same is done hundreds of times.

A driver that keeps an object each time goes on working, and no value is wrong.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import pytest
from applications import CONFIG, EVENT, START, STOP, Header
from memory import UNCACHED, settled
from waiting import fair

from zvmlab.agent.agent import Batch
from zvmlab.agent.calls import Ref
from zvmlab.cp.recording import make
from zvmlab.cp.spool import cards, put
from zvmlab.guest.config import HERCULES
from zvmlab.guest.guest import Guest

SECONDS = 120.0
TIMES = 200
LOADS = 60
DIRECTORY = (
    "IUCV ALLOW;IUCV ANY;IUCV *MSG;IUCV *LOGREC;IUCV *ACCOUNT;IUCV *SYMPTOM;OPTION APPLMON;"
    "SPOOL 00C 2540 READER *;SPOOL 00D 2540 PUNCH A;SPOOL 00E 1403 A"
)
MODULES = (
    *("appldata_mem", "appldata_net_sum", "appldata_os", "dcssblk", "hmcdrv", "monwriter"),
    *("smsgiucv_app", "vmlogrdr", "vmur"),
)

pytestmark = [
    pytest.mark.not_debug("KASAN keeps freed objects in their caches for a while", coverage=True),
    pytest.mark.zvmlab(
        command_line=UNCACHED,
        modules=MODULES,
        segments=("MINE 8000-80FF EW",),
        cp={"directory": DIRECTORY, "class": "BEG"},
    ),
    pytest.mark.timeout(600),
]


@pytest.fixture(autouse=True)
def _qemu_only(zvmlab_backend: str) -> None:
    if zvmlab_backend == HERCULES:
        pytest.skip("the card devices of Hercules are its own, and CP has no part in them")


def gives_back(guest: Guest, once: Callable[[], object], times: int) -> None:
    """Do it so often; no cache of the kernel's has an object more for each time, nor a page."""
    once()
    before = settled(guest)
    for _ in range(times):
        once()
    after = settled(guest)
    assert after.growth(before) < times // 2, after.more_objects(before, times // 2)
    assert not after.more_pages(before, times)


def check(batch: Batch, done: Sequence[Ref]) -> None:
    """Run the batch; of its calls these have to succeed."""
    results = batch.run(timeout=SECONDS)
    for one in done:
        results[one].check()


def in_turn(guest: Guest, steps: Sequence[tuple[str, int, bytes]]) -> Callable[[], None]:
    """Open each of these files with these flags, write this to it if it is something, close it."""

    def once() -> None:
        batch = guest.agent.batch()
        for path, flags, data in steps:
            fd = batch.open(path, flags)
            if data:
                batch.write(fd, data)
            batch.close(fd)
        for result in batch.run(timeout=SECONDS):
            result.check()

    return once


def await_node(guest: Guest, name: str) -> None:
    """The kernel makes a node after the write that sets its device online."""
    limit = fair(SECONDS)
    while guest.agent.open(f"/sys/class/vmur/{name}/dev").errno:
        assert not limit.over, f"there is no {name} after {SECONDS} s"


@pytest.mark.requirement("R8", "R9")
def test_cards_that_are_read_and_punched(guest: Guest) -> None:
    """Opens that succeed and that fail, reads, and writes of several records."""
    agent = guest.agent
    agent.modprobe("vmur").check()
    names = [f"vm{kind}-0.0.000{device}" for kind, device in (("rdr", "c"), ("pun", "d"))]
    for name in names:
        agent.write_file(f"/sys/bus/ccw/devices/{name[6:]}/online", b"1\n")
        await_node(guest, name)
    reader, punch = (f"/dev/{name}" for name in names)
    put(guest.control, "LINUX001", cards("card"))

    def once() -> None:
        batch = agent.batch()
        again = os.O_NONBLOCK
        punched, read = batch.open(punch, os.O_WRONLY), batch.open(reader, os.O_RDONLY)
        done = [punched, read, batch.write(punched, b"\xc1" * 240), batch.read(read, 4096)]
        batch.open(punch, os.O_WRONLY | again)
        batch.open(reader, os.O_RDWR | again)
        batch.open(punch, os.O_RDONLY | again)
        batch.write(punched, b"\xc1" * 81)
        done += [batch.close(punched), batch.close(read)]
        check(batch, done)

    gives_back(guest, once, TIMES)


@pytest.mark.requirement("R1")
def test_devices_that_go_and_come(guest: Guest) -> None:
    """A punch that is set offline and online."""
    guest.agent.modprobe("vmur").check()
    online = "/sys/bus/ccw/devices/0.0.000d/online"
    guest.agent.write_file(online, b"1\n")
    turn = [(online, os.O_WRONLY, value) for value in (b"0\n", b"1\n")]
    gives_back(guest, in_turn(guest, turn), TIMES)


@pytest.mark.requirement("W5", "W6", "W10")
def test_application_data_that_are_written(guest: Guest) -> None:
    """Each function, what is refused, and a close with buffers that are declared."""
    guest.agent.modprobe("monwriter").check()
    kinds = [(START, b"first"), (START, b"later"), (CONFIG, b"config"), (EVENT, b"event")]
    whole = [Header(kind, datalen=len(data)).encode() + data for kind, data in kinds]
    stopped = [Header(STOP).encode(), Header(STOP, record=9).encode()]

    def once() -> None:
        batch = guest.agent.batch()
        fd = batch.open("/dev/monwriter", os.O_WRONLY)
        done = [fd, *(batch.write(fd, part) for part in [*whole, *stopped, whole[0]])]
        batch.write(fd, Header(START, datalen=5, hdrlen=3).encode())
        done.append(batch.close(fd))
        check(batch, done)

    gives_back(guest, once, TIMES)


@pytest.mark.requirement("L3", "L6")
def test_system_records_that_are_read(guest: Guest) -> None:
    """A device that is opened, has a record, is read and closed; and one that is refused."""
    agent = guest.agent
    agent.modprobe("vmlogrdr").check()

    def once() -> None:
        fd = agent.open("/dev/account").check()
        make(guest.control, "*ACCOUNT", b"record")
        batch = agent.batch()
        batch.open("/dev/account", os.O_RDONLY)
        batch.open("/dev/logrec", os.O_NONBLOCK)
        done = [batch.read(fd, 4096), batch.close(fd)]
        check(batch, done)

    gives_back(guest, once, TIMES)


@pytest.mark.requirement("B2", "B10")
def test_segments_that_are_added_and_removed(guest: Guest) -> None:
    """A disk, its mode, a save, and names that are refused."""
    agent = guest.agent
    agent.modprobe("dcssblk").check()
    folder = "/sys/devices/dcssblk"

    def write(path: str, text: bytes) -> int:
        fd = agent.open(f"{folder}/{path}", os.O_WRONLY).check()
        result = agent.write(fd, text)
        agent.close(fd)
        return result.errno

    def once() -> None:
        assert write("add", b"MINE") == 0
        for value in (b"0", b"1"):
            assert write("MINE/shared", value) == 0
        assert write("MINE/save", b"1") == 0
        for wrong in (b"MINE", b"NOSUCH", b"NINECHARS"):
            assert write("add", wrong) != 0
        assert write("remove", b"NOSUCH") != 0
        assert write("remove", b"MINE") == 0

    gives_back(guest, once, LOADS)


@pytest.mark.requirement("U1", "U5")
def test_messages_that_become_events(guest: Guest) -> None:
    """Those that do, and those that have nothing in them."""
    guest.agent.modprobe("smsgiucv_app").check()
    told = [("/dev/vmcp", os.O_RDWR, f"SMSG * APP{text}".encode()) for text in (" text", "", "  ")]
    gives_back(guest, in_turn(guest, told), TIMES)


@pytest.mark.requirement("A2")
def test_data_of_the_kernel_that_are_collected(guest: Guest) -> None:
    """Each kind is switched on and off."""
    names = ("mem", "os", "net_sum")
    for name in names:
        guest.agent.modprobe(f"appldata_{name}").check()
    files = [f"/proc/sys/appldata/{name}" for name in (*names, "timer")]
    turn = [(file, os.O_WRONLY, value) for value in (b"1\n", b"0\n") for file in files]
    gives_back(guest, in_turn(guest, turn), TIMES)


@pytest.mark.requirement("F2", "F5")
def test_files_of_the_drive_that_are_asked_for(guest: Guest) -> None:
    """What is there, what is not, and commands that are none."""
    guest.control.execute("hmc-drive", bytes=1 << 20, **{"read-only": False})
    guest.control.execute("hmc-write", name="readme", data=b"Hello")
    agent = guest.agent
    agent.modprobe("hmcdrv").check()

    def once() -> None:
        batch = agent.batch()
        opened = batch.open("/dev/hmcdrv", os.O_RDWR)
        done = [opened]
        for command in (b"get readme", b"dir /", b"get nothing", b"fetch readme"):
            done += [batch.lseek(opened, 0, os.SEEK_END), batch.write(opened, command)]
            batch.read(opened, 4096)
        batch.open("/dev/hmcdrv", os.O_RDONLY)
        done.append(batch.close(opened))
        check(batch, done)

    gives_back(guest, once, TIMES)


@pytest.mark.requirement("M35", "W11", "L19", "U6", "A8", "F8")
def test_modules_that_come_and_go(guest: Guest) -> None:
    """All of them, one after the other."""

    def once() -> None:
        for module in MODULES:
            guest.agent.modprobe(module).check()
            guest.agent.rmmod(module).check()

    gives_back(guest, once, LOADS)
