# SPDX-License-Identifier: MIT
"""Virtual reader, punch and printer: Linux' vmur, and the tool vmur of Debian's s390-tools."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from failing import Failing, void
from waiting import fair, wait_until

from zvmlab.agent.calls import Bad
from zvmlab.agent.results import RunResult
from zvmlab.agent.wire import BadKind, Call
from zvmlab.builder.guesttools import debian_program, debian_root
from zvmlab.cp.faults import Fault, armed, count
from zvmlab.cp.spool import CARD, LINE, PRINTER, PUNCH, cards, files, limits, lines, put, read
from zvmlab.guest.config import HERCULES, GuestConfig
from zvmlab.guest.guest import Guest
from zvmlab.monitor.steps import await_sleep, thread_of

if TYPE_CHECKING:
    from conftest import Build

TOOL = "/usr/sbin/vmur"
GCONV = "/usr/lib/s390x-linux-gnu/gconv"
DIRECTORY = (
    "IUCV ALLOW;IUCV ANY;IUCV *MSG;"
    "SPOOL 00C 2540 READER *;SPOOL 00D 2540 PUNCH A;SPOOL 00E 1403 A"
)
DEVICES = ("0.0.000c", "0.0.000d", "0.0.000e")
NODES = RDR, PUN, PRT = tuple(
    f"/dev/vm{kind}-{device}" for kind, device in zip(("rdr", "pun", "prt"), DEVICES, strict=True)
)
GUEST, OTHER = "LINUX001", "OPERATOR"
SECONDS = 120.0
PAGE = 4096
# The system call's number (asm/unistd.h).
OPENAT = 288
CARDS_OF_A_PAGE = 42
# Where the driver notes the length of the records (drivers/s390/char/vmur.h).
RECORD_LENGTH = 4064
pytestmark = [pytest.mark.zvmlab(cp={"directory": DIRECTORY}, modules=("vmur",))]


@pytest.fixture
def guest_config(guest_config: GuestConfig) -> GuestConfig:
    """A guest with the tool, which converts text from and to EBCDIC."""
    inside = [f"{GCONV}/{name}" for name in ("gconv-modules.cache", "IBM037.so", "ISO8859-1.so")]
    conversion = {name: debian_root() / name.lstrip("/") for name in inside}
    return guest_config._replace(files=debian_program(TOOL) | conversion)


@pytest.fixture(autouse=True)
def _qemu_only(zvmlab_backend: str) -> None:
    if zvmlab_backend == HERCULES:
        pytest.skip("the card devices of Hercules are its own, and CP has no part in them")


def await_node(guest: Guest, node: str) -> None:
    """The kernel makes the node after the write that sets a device online has returned."""
    limit = fair(SECONDS)
    while True:
        try:
            guest.agent.read_file(f"/sys/class/vmur/{Path(node).name}/dev")
            return
        except OSError as error:
            assert error.errno == errno.ENOENT
        assert not limit.over, f"there is no {node} after {SECONDS} s"


def online(guest: Guest, device: str, value: bytes = b"1") -> None:
    """Set a device online, or offline."""
    guest.agent.write_file(f"/sys/bus/ccw/devices/{device}/online", value + b"\n")


def set_up(guest: Guest, *nodes: str) -> None:
    """The driver is loaded, and the devices of these nodes are online."""
    guest.agent.modprobe("vmur").check()
    for device, node in zip(DEVICES, NODES, strict=True):
        if node in nodes:
            online(guest, device)
            await_node(guest, node)


@pytest.fixture
def vmur(guest: Guest) -> Guest:
    """The driver is loaded, and its devices are online."""
    set_up(guest, *NODES)
    return guest


def tool(guest: Guest, *words: str, stdin: bytes = b"") -> RunResult:
    """Run vmur."""
    return guest.agent.run([TOOL, *words], stdin=stdin, timeout=SECONDS)


def opens(guest: Guest, node: str, flags: int = os.O_RDONLY) -> int:
    """errno of an open, which does not wait; 0: it works, and the file is closed."""
    found = guest.agent.open(node, flags | os.O_NONBLOCK)
    if found.errno == 0:
        guest.agent.close(found.ret)
    return found.errno


def read_errno(guest: Guest, fault: Fault) -> int:
    """errno of a read of the open reader with this fault."""
    found = guest.agent.open(RDR, os.O_RDONLY | os.O_NONBLOCK)
    assert found.errno == 0
    with armed(guest.control, fault):
        batch = guest.agent.batch()
        result = batch.read(found.ret, PAGE)
        outcome = batch.run()[result]
    guest.agent.close(found.ret)
    return outcome.errno


def is_there(guest: Guest, device: str) -> bool:
    """Does the kernel know the device?"""
    try:
        return guest.agent.read_file(f"/sys/bus/ccw/devices/{device}/cutype") != b""
    except FileNotFoundError:
        return False


@pytest.mark.requirement("R1")
@pytest.mark.zvmlab(
    cp={"directory": DIRECTORY},
    faults=[
        Fault("diag210.device", "cc", 3, nth=1),
        Fault("diag210.device", "drop", nth=2),
    ],
)
def test_devices_that_cp_does_not_describe(guest: Guest) -> None:
    """Linux leaves those out of which CP says that they are not there, or nothing."""
    count(guest.control, guest.faults)
    assert [rule.fired for rule in guest.faults] == [1, 1]
    assert [is_there(guest, device) for device in DEVICES].count(True) == 1


@pytest.mark.requirement("R1")
def test_linux_knows_the_devices(vmur: Guest) -> None:
    """Types and record lengths of a 2540 and a 1403, and a node for each."""
    agent = vmur.agent
    kinds = [agent.read_file(f"/sys/bus/ccw/devices/{device}/cutype") for device in DEVICES]
    assert kinds == [b"2540/00\n", b"2540/00\n", b"1403/00\n"]
    # They have no SENSE ID, so it was CP who told Linux.
    points = vmur.control.execute("query-fault-points")["points"]
    (asked,) = [p["reached"] for p in points if p["point"] == "diag210.device"]
    assert asked >= len(DEVICES)
    lengths = [agent.read_file(f"/sys/bus/ccw/devices/{device}/reclen") for device in DEVICES]
    assert lengths == [b"80\n", b"80\n", b"132\n"]
    assert opens(vmur, RDR, os.O_RDWR) == errno.EACCES
    assert opens(vmur, RDR, os.O_WRONLY) == errno.EACCES
    assert opens(vmur, PUN, os.O_RDONLY) == errno.EACCES
    assert opens(vmur, PUN, os.O_WRONLY) == 0


@pytest.mark.requirement("R2")
def test_a_text_is_received(vmur: Guest) -> None:
    """It comes as it was sent, and is gone from the reader then."""
    number = put(vmur.control, GUEST, cards("Hello", "", "World!"), name="HELLO", type="TEXT")
    done = tool(vmur, "receive", "--text", str(number), "--stdout")
    assert (done.status, done.stderr) == (0, b"")
    assert done.stdout == b"Hello\n\nWorld!\n"
    assert files(vmur.control, GUEST) == []
    number = put(vmur.control, GUEST, cards("By its name"), name="NAME", type="TYPE")
    tool(vmur, "receive", "-t", str(number)).check()
    assert vmur.agent.read_file("/NAME.TYPE") == b"By its name\n"


@pytest.mark.requirement("R2")
def test_a_file_that_stays(vmur: Guest) -> None:
    """With --hold it stays, held; a held one is received all the same."""
    number = put(vmur.control, GUEST, cards("again"), name="A", hold=True)
    for _ in range(2):
        assert tool(vmur, "re", "-t", "-H", str(number), "-O").check().stdout == b"again\n"
        (file,) = files(vmur.control, GUEST)
        assert (file.hold, file.open) == (True, False)


@pytest.mark.requirement("R3")
def test_many_pages_of_bytes(vmur: Guest) -> None:
    """Any bytes, more than the tool reads at once (80 pages)."""
    data = random.Random(1).randbytes(80 * 5000)
    number = put(vmur.control, GUEST, data, name="BYTES")
    (file,) = files(vmur.control, GUEST)
    assert file.pages > 80
    tool(vmur, "receive", str(number), "/bytes").check()
    assert vmur.agent.read_file("/bytes") == data


@pytest.mark.requirement("R4")
def test_a_text_is_punched_to_another_user(vmur: Guest) -> None:
    done = tool(
        vmur, "punch", "-t", "-r", "-u", OTHER, "-N", "some.name", stdin=b"first\n\nthird\n"
    )
    assert (done.status, done.stderr) == (0, b"")
    assert done.stdout == b"Reader file with spoolid 0001 created and transferred to OPERATOR.\n"
    (file,) = files(vmur.control, OTHER)
    assert (file.name, file.type, file.origin, file.device) == ("some", "name", GUEST, PUNCH)
    assert lines(read(vmur.control, file)) == ["first", "", "third"]
    failed = tool(vmur, "punch", "-t", "-r", "-u", "NOBODY", "-N", "x", stdin=b"first\n")
    assert (failed.status, failed.stderr) == (1, b"vmur: Invalid userid: NOBODY\n")


@pytest.mark.requirement("R3", "R4")
def test_bytes_through_punch_and_own_reader(vmur: Guest) -> None:
    """Punched data come back from the own reader; the last card is filled up with zeros."""
    data = random.Random(2).randbytes(300_001)
    vmur.agent.write_file("/data", data, 0o600)
    assert tool(vmur, "pun", "-r", "/data").check().stdout.startswith(b"Reader file with spoolid")
    (file,) = files(vmur.control, GUEST)
    assert (file.name, file.records) == ("data", -(-len(data) // 80))
    tool(vmur, "re", "-f", str(file.id), "/back").check()
    assert vmur.agent.read_file("/back") == data + bytes(-len(data) % 80)


@pytest.mark.requirement("R5")
def test_a_text_is_printed(vmur: Guest) -> None:
    long = "x" * LINE
    done = tool(vmur, "print", "-t", "-N", "list", "-C", "Q", stdin=f"{long}\nend\n".encode())
    assert (done.status, done.stdout) == (0, b"Printer file with spoolid 0001 created.\n")
    (file,) = files(vmur.control, GUEST, PRINTER)
    assert (file.spool_class, file.record_length) == ("Q", LINE)
    assert lines(read(vmur.control, file), LINE) == [long, "end"]
    # The class was for this file only.
    tool(vmur, "print", "-t", "-N", "next", stdin=b"next\n").check()
    assert files(vmur.control, GUEST, PRINTER)[1].spool_class == "A"
    failed = tool(vmur, "print", "-t", "-N", "x", stdin=f"{long}y\n".encode())
    assert failed.status == 1 and b"Input line 1 too long" in failed.stderr
    assert len(files(vmur.control, GUEST, PRINTER)) == 2


@pytest.mark.requirement("R6")
def test_files_are_listed_ordered_and_purged(vmur: Guest) -> None:
    for name, spool_class in (("ONE", "A"), ("TWO", "B"), ("THREE", "A")):
        put(vmur.control, GUEST, cards("x"), name=name, type="T", spool_class=spool_class)
    line = tool(vmur, "list", "2").check().stdout.decode().splitlines()[1]
    assert re.fullmatch(
        r"OPERATOR 0002 B PUN 00000001 001 NONE \d\d/\d\d \d\d:\d\d:\d\d TWO       T        LINUX001",
        line,
    )
    tool(vmur, "order", "3").check()
    assert [file.id for file in files(vmur.control, GUEST)] == [3, 1, 2]
    listed = tool(vmur, "list").check().stdout.decode().splitlines()
    assert [one.split()[1] for one in listed] == ["FILE", "0003", "0001", "0002"]
    tool(vmur, "purge", "-f", "-C", "B").check()
    assert [file.id for file in files(vmur.control, GUEST)] == [3, 1]
    tool(vmur, "purge", "-f", "1").check()
    tool(vmur, "purge", "-f").check()
    assert tool(vmur, "list").check().stdout == b"NO RDR FILES\n"
    failed = tool(vmur, "receive", "-t", "9", "-O")
    assert failed.status == 1 and b"Spool file 0009 does not exist" in failed.stderr


@pytest.mark.requirement("R7")
def test_a_class_that_the_reader_does_not_take(vmur: Guest) -> None:
    number = put(vmur.control, GUEST, cards("b"), spool_class="B", name="B")
    failed = tool(vmur, "receive", "-C", "A", "-t", str(number), "-O")
    assert failed.status == 1
    assert b"Reader device class does not match the specified spool file class" in failed.stderr
    assert tool(vmur, "receive", "-C", "B", "-t", str(number), "-O").check().stdout == b"b\n"


@pytest.mark.requirement("R8")
def test_what_the_driver_answers_at_open(vmur: Guest) -> None:
    """No file, a held one at the top, one at the top that the reader does not take."""
    assert opens(vmur, RDR) == errno.ENODATA
    number = put(vmur.control, GUEST, cards("x"), hold=True)
    assert opens(vmur, RDR) == errno.EPERM
    vmur.control.execute("cp-command", command=f"PURGE {GUEST} RDR {number}")
    put(vmur.control, GUEST, cards("x"), system_hold=True)
    assert opens(vmur, RDR) == errno.EPERM
    vmur.control.execute("cp-command", command=f"PURGE {GUEST} RDR ALL")
    put(vmur.control, GUEST, cards("b"), spool_class="B")
    put(vmur.control, GUEST, cards("a"), spool_class="A")
    vmur.control.execute("cp-command", command="SPOOL 00C CLASS A")
    assert opens(vmur, RDR) == errno.EMFILE


@pytest.mark.requirement("R8")
def test_a_second_open(vmur: Guest) -> None:
    """One at a time has a device open; it cannot be taken offline, nor the module unloaded."""
    first = vmur.agent.open(PUN, os.O_WRONLY | os.O_NONBLOCK)
    assert first.errno == 0
    assert opens(vmur, PUN, os.O_WRONLY) == errno.EBUSY
    assert opens(vmur, PRT, os.O_WRONLY) == 0
    with pytest.raises(OSError) as busy:
        online(vmur, DEVICES[1], b"0")
    assert busy.value.errno == errno.EBUSY
    assert vmur.agent.rmmod("vmur").errno == errno.EAGAIN
    vmur.agent.close(first.ret)
    vmur.agent.rmmod("vmur").check()
    vmur.agent.modprobe("vmur").check()


@pytest.mark.requirement("R8")
def test_an_open_that_may_wait_gets_the_device_after_the_first(vmur: Guest) -> None:
    first = vmur.agent.open(PUN, os.O_WRONLY | os.O_NONBLOCK).check()
    second = vmur.agent.worker("second")
    thread = thread_of(second)
    batch = second.batch()
    batch.open(PUN, os.O_WRONLY)
    opening = batch.start(timeout=SECONDS)
    assert await_sleep(vmur.agent, thread, OPENAT) == "S"
    assert not opening.done()
    vmur.agent.close(first).check()
    (found,) = opening.result()
    assert opens(vmur, PUN, os.O_WRONLY) == errno.EBUSY
    second.close(found.check()).check()
    assert opens(vmur, PUN, os.O_WRONLY) == 0


@pytest.mark.requirement("R9")
def test_records_of_a_write(vmur: Guest) -> None:
    """A write is of whole records, at most 511 at once."""
    agent = vmur.agent
    fd = agent.open(PUN, os.O_WRONLY | os.O_NONBLOCK).ret
    batch = agent.batch()
    wrong = batch.write(fd, b"x" * 81)
    none = batch.write(fd, b"")
    most = batch.write(fd, b"\x81" * 80 * 600)
    result = batch.run()
    assert result[wrong].errno == errno.EINVAL
    assert result[none].ret == 0
    assert result[most].ret == 80 * 511
    (file,) = files(vmur.control, GUEST, PUNCH)
    assert (file.records, file.open) == (511, True)
    agent.close(fd)


@pytest.mark.requirement("R10")
def test_a_full_spool(vmur: Guest) -> None:
    """The write fails with EIO, the tool says what that may be, and leaves nothing behind."""
    limits(vmur.control, pages=1)
    text = b"".join(b"x" * 80 + b"\n" for _ in range(CARDS_OF_A_PAGE + 1))
    failed = tool(vmur, "punch", "-t", "-N", "full", stdin=text)
    assert failed.status == 1
    assert b"Spool file limit exceeded or spool space full?" in failed.stderr
    assert files(vmur.control, GUEST, PUNCH) == []
    whole = text[: 81 * CARDS_OF_A_PAGE]
    tool(vmur, "punch", "-t", "-N", "fits", stdin=whole).check()
    assert files(vmur.control, GUEST, PUNCH)[0].records == CARDS_OF_A_PAGE


@pytest.mark.requirement("R10")
def test_a_receiver_with_too_many_files(vmur: Guest) -> None:
    """The file is purged, and the tool says whose limit it was."""
    put(vmur.control, OTHER, cards("x"), origin=GUEST)
    limits(vmur.control, files=1)
    failed = tool(vmur, "punch", "-t", "-r", "-u", OTHER, "-N", "x", stdin=b"x\n")
    assert failed.status == 1
    assert b"User OPERATOR spool fileid limit exceeded." in failed.stderr
    assert files(vmur.control, GUEST, PUNCH) == []
    assert len(files(vmur.control, OTHER)) == 1


READ_FAULTS = [
    (Fault("diag14.position", "cc", 2), errno.ENOMEDIUM),
    (Fault("diag14.position", "cc", 1), errno.EIO),
    (Fault("diag14.position", "pgm", 6), errno.EIO),
    (Fault("diag14.read", "cc", 2), errno.ENOMEDIUM),
    (Fault("diag14.read", "cc", 3), errno.EIO),
    (Fault("diag14.read", "pgm", 5), errno.EIO),
]


@pytest.mark.requirement("R11")
def test_refusals_of_diagnose_14(vmur: Guest) -> None:
    """Each condition code is the error number that the driver has for it."""
    put(vmur.control, GUEST, cards("x"))
    for fault, number in READ_FAULTS:
        assert read_errno(vmur, fault) == number, fault
    with armed(vmur.control, Fault("diag14.next", "cc", 1)):
        assert opens(vmur, RDR) == errno.ENODATA
    with armed(vmur.control, Fault("diag14.next", "pgm", 6)):
        assert opens(vmur, RDR) == errno.ENODATA


@pytest.mark.requirement("R11")
def test_a_device_that_fails(vmur: Guest) -> None:
    """Unit check of the punch: EIO; the next write works."""
    agent = vmur.agent
    fd = agent.open(PUN, os.O_WRONLY | os.O_NONBLOCK).ret
    for sense, number in ((0x40, errno.EIO), (None, 0)):
        batch = agent.batch()
        result = batch.write(fd, b"\x81" * 80)
        if sense is None:
            assert batch.run()[result].errno == number
            continue
        with armed(vmur.control, Fault("spool.write", "rc", sense)):
            assert batch.run()[result].errno == number
    agent.close(fd)


@pytest.mark.requirement("R12")
@pytest.mark.parametrize(
    ("fault", "number"),
    [
        (Fault("diag210.device", "cc", 3), errno.ENODEV),
        (Fault("diag210.device", "cc", 1), errno.EIO),
    ],
    ids=["none", "paging-error"],
)
def test_a_device_that_cp_does_not_know(guest: Guest, fault: Fault, number: int) -> None:
    """The driver does not take it, and it cannot be set online."""
    with armed(guest.control, fault):
        guest.agent.modprobe("vmur").check()
    with pytest.raises(OSError) as refused:
        online(guest, DEVICES[0])
    assert refused.value.errno in (errno.EINVAL, errno.ENODEV, number)
    guest.agent.rmmod("vmur").check()
    guest.agent.modprobe("vmur").check()
    online(guest, DEVICES[0])


@contextlib.contextmanager
def files_at_a_boot(guest: Guest) -> Iterator[None]:
    """A file that was being read is there again, one that was being written is still open."""
    put(guest.control, GUEST, cards("again"))
    set_up(guest, RDR, PUN)
    reader = guest.agent.open(RDR, os.O_RDONLY | os.O_NONBLOCK).check()
    page = guest.agent.read(reader, PAGE).data
    assert "again".encode("cp037") in page
    punch = guest.agent.open(PUN, os.O_WRONLY | os.O_NONBLOCK).check()
    assert guest.agent.write(punch, b"\x81" * 80).check() == 80
    assert files(guest.control, GUEST)[0].open
    yield
    assert not files(guest.control, GUEST)[0].open
    assert files(guest.control, GUEST, PUNCH)[0].open
    set_up(guest, RDR)
    reader = guest.agent.open(RDR, os.O_RDONLY | os.O_NONBLOCK).check()
    assert guest.agent.read(reader, PAGE).data == page
    guest.agent.close(reader).check()


@pytest.mark.requirement("R13")
def test_a_reboot_with_open_files(guest: Guest) -> None:
    with files_at_a_boot(guest):
        guest.reboot()
    assert tool(guest, "re", "-t", "1", "-O").check().stdout == b"again\n"


@pytest.mark.requirement("R15")
def test_loading_without_memory_is_enomem(guest: Guest, program: Build) -> None:
    """Each allocation fails once; then it can be loaded, and a device is set online."""
    # EINVAL: Linux' driver core cannot make the module's directory of drivers.
    assert Failing(guest).loads(program, "vmur", also=(errno.EINVAL,))[errno.ENOMEM] > 0
    guest.agent.modprobe("vmur").check()
    online(guest, DEVICES[0])
    await_node(guest, RDR)


@pytest.mark.requirement("R15")
def test_device_without_memory_stays_offline(vmur: Guest) -> None:
    """Each allocation of setting the punch online fails once; then it is, and has a node."""
    failing, worker = Failing(vmur), vmur.agent.worker("operator")
    online(vmur, DEVICES[1], b"0")
    fd = worker.open(f"/sys/bus/ccw/devices/{DEVICES[1]}/online", os.O_WRONLY).check()
    errors = failing.each(
        worker,
        lambda batch: batch.write(fd, b"1"),
        lambda result: online(vmur, DEVICES[1], b"0"),
    )
    worker.close(fd).check()
    assert {0, errno.ENOMEM} <= set(errors), errors
    online(vmur, DEVICES[1])
    await_node(vmur, PUN)


@pytest.mark.requirement("R15")
def test_records_without_memory_are_not_written(vmur: Guest) -> None:
    """Each allocation and copy of open and of write fails once; then a record is written."""
    failing, worker = Failing(vmur), vmur.agent.worker("writer")
    errors = failing.each(
        worker,
        lambda batch: batch.open(PUN, os.O_WRONLY | os.O_NONBLOCK),
        lambda result: void(worker.close(result.ret).check()),
    )
    assert {0, errno.ENOMEM} <= set(errors), errors
    fd = worker.open(PUN, os.O_WRONLY | os.O_NONBLOCK).check()
    errors = failing.each(worker, lambda batch: batch.write(fd, b"\x81" * 80))
    assert {0, errno.ENOMEM, errno.EFAULT} <= set(errors), errors
    assert worker.write(fd, b"\x81" * 80).check() == 80
    worker.close(fd).check()


@pytest.mark.requirement("R3")
def test_reader_is_read_from_any_page(vmur: Guest) -> None:
    """ESPIPE within a page, and for what is written."""
    put(vmur.control, GUEST, cards(*(f"card {number}" for number in range(2 * CARDS_OF_A_PAGE))))
    agent = vmur.agent
    fd = agent.open(RDR, os.O_RDONLY | os.O_NONBLOCK).check()
    pages = [agent.read(fd, PAGE).data for _ in range(2)]
    assert agent.lseek(fd, 100).errno == errno.ESPIPE
    assert agent.lseek(fd, 0, os.SEEK_END).errno == errno.EINVAL
    for number in (1, 0):
        assert agent.lseek(fd, number * PAGE).check() == number * PAGE
        assert agent.read(fd, PAGE).data == pages[number]
    agent.close(fd).check()
    fd = agent.open(PUN, os.O_WRONLY | os.O_NONBLOCK).check()
    assert agent.lseek(fd, 0).errno == errno.ESPIPE
    agent.close(fd).check()


def position(guest: Guest, fd: int) -> int:
    """The place in an open file, as the kernel shows it."""
    text = guest.agent.read_file(f"/proc/self/fdinfo/{fd}").decode()
    return int(re.findall(r"^pos:\s+(\d+)$", text, re.MULTILINE)[0])


def record_length(page: bytes) -> int:
    """What the driver notes at a fixed place in the first page of a file."""
    return int.from_bytes(page[RECORD_LENGTH : RECORD_LENGTH + 2], "big")


@pytest.mark.requirement("R3")
@pytest.mark.parametrize("length", [CARD, LINE])
def test_file_is_the_same_however_it_is_read(vmur: Guest, length: int) -> None:
    """All at once, or in pieces; its end is an empty read; the first page says how long records are."""
    data = random.Random(length).randbytes(3 * PAGE // length * length)
    put(vmur.control, GUEST, data, record_length=length)
    (file,) = files(vmur.control, GUEST)
    agent = vmur.agent
    fd = agent.open(RDR, os.O_RDONLY | os.O_NONBLOCK).check()
    whole = agent.read(fd, 10 * PAGE)
    assert whole.check() == position(vmur, fd) == file.pages * PAGE
    pages = [whole.data[at : at + PAGE] for at in range(0, len(whole.data), PAGE)]
    assert [record_length(page) for page in pages] == [length] + [0] * (file.pages - 1)
    assert agent.read(fd, 0).check() == 0
    assert (agent.read(fd, PAGE).check(), position(vmur, fd)) == (0, len(whole.data))
    for size in (PAGE, 1000, PAGE + 1000, 2 * PAGE):
        agent.lseek(fd, 0).check()
        found = b""
        while part := agent.read(fd, size).data:
            found += part
            assert (len(part), position(vmur, fd)) == (
                min(size, len(whole.data) - len(found) + len(part)),
                len(found),
            )
        assert found == whole.data, size
    agent.close(fd).check()


@pytest.mark.requirement("R3", "R9")
def test_data_that_cannot_be_copied_are_efault(vmur: Guest) -> None:
    """The place in the file stays, and the next call has the same data."""
    put(vmur.control, GUEST, cards("card"))
    agent = vmur.agent
    fd = agent.open(RDR, os.O_RDONLY | os.O_NONBLOCK).check()
    refused = agent.call(Call.READ, fd, Bad(BadKind.UNMAPPED, PAGE), PAGE)
    assert (refused.errno, position(vmur, fd)) == (errno.EFAULT, 0)
    page = agent.read(fd, PAGE)
    assert page.check() == PAGE and "card".encode("cp037") in page.data
    agent.close(fd).check()
    fd = agent.open(PUN, os.O_WRONLY | os.O_NONBLOCK).check()
    assert agent.write(fd, Bad(BadKind.UNMAPPED, CARD)).errno == errno.EFAULT
    assert (files(vmur.control, GUEST, PUNCH), position(vmur, fd)) == ([], 0)
    for count in (1, 2):
        assert agent.write(fd, b"\x81" * CARD).check() == CARD
        assert position(vmur, fd) == count * CARD
    agent.close(fd).check()


@pytest.mark.requirement("R8")
def test_open_that_waits_ends_by_a_signal(vmur: Guest) -> None:
    """EINTR; the device is the first one's until that closes it."""
    first = vmur.agent.open(PUN, os.O_WRONLY | os.O_NONBLOCK).check()
    second = vmur.agent.worker("second")
    thread = thread_of(second)
    batch = second.batch()
    batch.open(PUN, os.O_WRONLY)
    opening = batch.start(timeout=SECONDS)
    assert await_sleep(vmur.agent, thread, OPENAT) == "S"
    assert second.interrupt()
    assert opening.result()[0].errno == errno.EINTR
    assert opens(vmur, PUN, os.O_WRONLY) == errno.EBUSY
    vmur.agent.close(first).check()
    assert opens(vmur, PUN, os.O_WRONLY) == 0


@pytest.mark.requirement("R8")
def test_refused_open_leaves_the_device_free(vmur: Guest) -> None:
    """Whatever the reason: it can be opened, and be taken offline, when that was the only reason."""
    control = vmur.control
    first = vmur.agent.open(PRT, os.O_WRONLY | os.O_NONBLOCK).check()
    assert opens(vmur, PRT, os.O_WRONLY) == errno.EBUSY
    vmur.agent.close(first).check()
    assert opens(vmur, PUN, os.O_RDWR) == opens(vmur, PUN, os.O_RDONLY) == errno.EACCES
    assert opens(vmur, RDR, os.O_WRONLY) == errno.EACCES
    assert opens(vmur, RDR) == errno.ENODATA
    put(control, GUEST, cards("x"), hold=True)
    assert opens(vmur, RDR) == errno.EPERM
    control.execute("cp-command", command=f"PURGE {GUEST} RDR ALL")
    put(control, GUEST, cards("x"))
    with armed(control, Fault("diag14.read", "cc", 2)):
        assert opens(vmur, RDR) == errno.ENOMEDIUM
    # The driver asks for the file's block three times: is there one, is it open, how long are records?
    for nth in (1, 2, 3):
        with armed(control, Fault("diag14.next", "cc", 1, nth=nth)) as rules:
            assert opens(vmur, RDR) == errno.ENODATA
        assert rules[0].fired == 1
    for node, flags in zip(NODES, (os.O_RDONLY, os.O_WRONLY, os.O_WRONLY), strict=True):
        assert opens(vmur, node, flags) == 0
    for device in DEVICES:
        online(vmur, device, b"0")
        online(vmur, device)


@pytest.mark.requirement("R1", "R8")
def test_node_is_there_while_its_device_is_online(vmur: Guest) -> None:
    """Its minor number is that of the device; without the device it leads nowhere, ENXIO."""
    agent = vmur.agent
    (major,) = re.findall(
        r"^ *(\d+) vmur$", agent.read_file("/proc/devices").decode(), re.MULTILINE
    )
    for device, node in zip(DEVICES, NODES, strict=True):
        name = f"/sys/class/vmur/{Path(node).name}"
        minor = int(device.rpartition(".")[2], 16)
        assert agent.read_file(f"{name}/dev").decode() == f"{major}:{minor}\n"
    assert agent.mknod("/punch", 0o20600, int(major) << 8 | 0x0D).errno == 0
    assert opens(vmur, "/punch", os.O_WRONLY) == 0
    online(vmur, DEVICES[1], b"0")
    assert opens(vmur, "/punch", os.O_WRONLY) == errno.ENXIO
    assert agent.open(f"/sys/class/vmur/{Path(PUN).name}/dev").errno == errno.ENOENT
    assert agent.read_file(f"/sys/bus/ccw/devices/{DEVICES[1]}/reclen") == b"80\n"
    online(vmur, DEVICES[1])
    await_node(vmur, PUN)
    assert opens(vmur, "/punch", os.O_WRONLY) == opens(vmur, PUN, os.O_WRONLY) == 0
    since = agent.log_position()
    agent.rmmod("vmur").check()
    assert "vmur: z/VM virtual unit record device driver unloaded." in [
        line.text for line in agent.dmesg(since)
    ]
    assert b" vmur\n" not in agent.read_file("/proc/devices")
    for gone in ("/sys/class/vmur", f"/sys/bus/ccw/devices/{DEVICES[1]}/reclen"):
        assert agent.open(gone).errno == errno.ENOENT
    assert opens(vmur, "/punch", os.O_WRONLY) == errno.ENXIO
    agent.modprobe("vmur").check()
    assert "vmur: z/VM virtual unit record device driver loaded." in [
        line.text for line in agent.dmesg(since)
    ]


@pytest.mark.requirement("R11")
def test_file_that_is_taken_away_while_it_is_open(vmur: Guest) -> None:
    """ENOMEDIUM from then on; the next open has the next file."""
    for text in ("first", "second"):
        put(vmur.control, GUEST, cards(text), name=text.upper())
    agent = vmur.agent
    fd = agent.open(RDR, os.O_RDONLY | os.O_NONBLOCK).check()
    assert "first".encode("cp037") in agent.read(fd, PAGE).data
    vmur.control.execute("cp-command", command="CLOSE 00C PURGE")
    assert [file.name for file in files(vmur.control, GUEST)] == ["SECOND"]
    agent.lseek(fd, 0).check()
    assert agent.read(fd, PAGE).errno == errno.ENOMEDIUM
    agent.close(fd).check()
    fd = agent.open(RDR, os.O_RDONLY | os.O_NONBLOCK).check()
    assert "second".encode("cp037") in agent.read(fd, PAGE).data
    agent.close(fd).check()


class Arrivals:
    """What the reader tells of files that come."""

    def __init__(self, guest: Guest, program: Build, count: int) -> None:
        """Wait for so many events."""
        self.guest = guest
        agent = guest.agent
        agent.write_file("/tmp/uevents", program("uevents").read_bytes(), 0o755)
        words = ["/tmp/uevents", str(count), "/tmp/listening", "EVENT=unsol_de"]
        self._listener = agent.worker("events").spawn(words)
        wait_until(lambda: agent.open("/tmp/listening").errno == 0, "the program listens")
        self._before = self._interruptions()

    def _interruptions(self) -> int:
        text = self.guest.agent.read_file("/proc/interrupts").decode()
        return int(re.findall(r"^VMR: +(\d+)", text, re.MULTILINE)[0])

    @property
    def interruptions(self) -> int:
        """Of all devices of the driver, since then."""
        return self._interruptions() - self._before

    def seen(self) -> list[str]:
        """The events that were waited for."""
        return self._listener.wait(SECONDS).check().stdout.decode().splitlines()


@pytest.mark.requirement("R16")
def test_reader_tells_of_a_file_that_comes(vmur: Guest, program: Build) -> None:
    """By an event of the reader's; of none that it does not take, nor while it reads another."""
    control, agent = vmur.control, vmur.agent
    arrivals = Arrivals(vmur, program, 2)
    first = put(control, GUEST, cards("first"))
    wait_until(lambda: arrivals.interruptions == 1, "the first file is told of")
    put(control, GUEST, cards("held"), hold=True)
    control.execute("cp-command", command="SPOOL 00C CLASS A")
    put(control, GUEST, cards("b"), spool_class="B")
    put(control, OTHER, cards("another user's"))
    fd = agent.open(RDR, os.O_RDONLY | os.O_NONBLOCK).check()
    assert "first".encode("cp037") in agent.read(fd, PAGE).data
    put(control, GUEST, cards("next"))
    agent.close(fd).check()
    control.execute("cp-command", command="CLOSE 00C PURGE")
    assert first not in [file.id for file in files(control, GUEST)]
    put(control, GUEST, cards("last"))
    changed = f"change@/devices/css0/0.0.{{}}/{DEVICES[0]}"
    for event in arrivals.seen():
        assert re.fullmatch(changed.format("[0-9a-f]{4}"), event), event
    assert arrivals.interruptions == 2
    # Who was told holds nothing: the reader can go offline.
    online(vmur, DEVICES[0], b"0")
    put(control, GUEST, cards("nobody is told"))
    online(vmur, DEVICES[0])
    await_node(vmur, RDR)
    control.execute("cp-command", command=f"PURGE {GUEST} RDR ALL")
    put(control, GUEST, cards("again"))
    assert opens(vmur, RDR) == 0


@pytest.mark.requirement("R16")
def test_file_that_comes_disturbs_no_transfer(vmur: Guest, program: Build) -> None:
    """Cards are punched meanwhile, and are as they were written."""
    arrivals = Arrivals(vmur, program, 1)
    agent = vmur.agent
    fd = agent.open(PUN, os.O_WRONLY | os.O_NONBLOCK).check()
    for number in range(20):
        batch = agent.worker("puncher").batch()
        writes = [batch.write(fd, cards(f"card {number}")) for _ in range(10)]
        pending = batch.start(timeout=SECONDS)
        put(vmur.control, GUEST, cards("file"))
        results = pending.result()
        assert [results[write].check() for write in writes] == [CARD] * 10
    agent.close(fd).check()
    assert len(arrivals.seen()) == 1
    vmur.control.execute("cp-command", command="CLOSE 00D")
    (file,) = files(vmur.control, GUEST, PUNCH)
    assert lines(read(vmur.control, file)) == [f"card {n // 10}" for n in range(200)]
