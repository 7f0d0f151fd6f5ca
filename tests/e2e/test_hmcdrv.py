# SPDX-License-Identifier: MIT
"""hmcdrv: files of the HMC's drive, which CP transfers by DIAGNOSE X'2C4'."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from failing import Failing
from waiting import LIMIT, wait_until
from zvmlab.agent.calls import Bad, Both, CallResult
from zvmlab.agent.wire import BadKind, Call
from zvmlab.agent.worker import Worker
from zvmlab.base.errors import GuestPanic
from zvmlab.cp.control import Control, decode
from zvmlab.cp.faults import Fault, armed
from zvmlab.guest.config import QEMU
from zvmlab.guest.guest import Guest
from zvmlab.monitor.steps import READ, await_sleep, thread_of

if TYPE_CHECKING:
    from conftest import Build

pytestmark = pytest.mark.zvmlab(modules=("hmcdrv",))
DEVICE = "/dev/hmcdrv"
SIZE = 1 << 20
PAGE = 4096
# Status of a transfer that CP tells of, and what Linux makes of it (diag_ftp.c).
STATUSES = {
    4: errno.EIO,
    8: errno.EIO,
    12: errno.EIO,
    16: errno.EIO,
    17: errno.ENOENT,
    18: errno.EPERM,
    19: errno.EBUSY,
    20: errno.EIO,
}
FILES = {
    "readme": b"Hello, HMC\n",
    "images/kernel.img": hashlib.sha256(b"kernel").digest() * 9000,
    "images/empty": b"",
    "images/old/kernel.img": b"old",
}


def pattern(size: int, seed: int = 0) -> bytes:
    block = hashlib.sha256(f"{seed}".encode()).digest()
    return (block * (size // len(block) + 1))[:size]


class Drive:
    """The drive as the HMC sees it."""

    def __init__(self, control: Control) -> None:
        self.control = control

    def assign(self, size: int = SIZE, read_only: bool = False) -> None:
        self.control.execute("hmc-drive", bytes=size, **{"read-only": read_only})
        if size:
            for name, data in FILES.items():
                self.write(name, data)

    def write(self, name: str, data: bytes) -> None:
        self.control.execute("hmc-write", name=name, data=data)

    def read(self, name: str) -> bytes:
        return decode(self.control.execute("hmc-read", name=name)["data"])

    @property
    def files(self) -> dict[str, int]:
        found = self.control.execute("query-hmc")["files"]
        return {file["name"]: file["bytes"] for file in found}

    @property
    def requests(self) -> int:
        return int(self.control.execute("query-hmc")["requests"])


class Device:
    """/dev/hmcdrv as a program of the guest has it open."""

    def __init__(self, worker: Worker, flags: int = os.O_RDWR) -> None:
        self.worker = worker
        self.fd = worker.open(DEVICE, flags).check()

    def command(self, text: str) -> None:
        """A new one, at the file's beginning."""
        self.seek(0, os.SEEK_END)
        assert self.worker.write(self.fd, text.encode()).check() == len(text)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self.worker.call(Call.LSEEK, self.fd, offset, whence).check()

    def try_read(self, size: int = PAGE) -> CallResult:
        return self.worker.read(self.fd, size)

    def try_write(self, data: bytes) -> CallResult:
        return self.worker.write(self.fd, data)

    def read_all(self, size: int = PAGE) -> bytes:
        """In parts of *size*, to the end."""
        data = b""
        while part := self.try_read(size):
            if part.check() == 0:
                break
            data += part.data[: part.ret]
        return data

    def get(self, name: str, size: int = PAGE) -> bytes:
        self.command(f"get {name}")
        return self.read_all(size)

    def close(self) -> None:
        self.worker.close(self.fd).check()

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


@pytest.fixture
def drive(guest: Guest, zvmlab_backend: str) -> Drive:
    """Assigned, with FILES."""
    if zvmlab_backend != QEMU:
        pytest.skip("only QEMU presents external interruption X'2603'")
    found = Drive(guest.control)
    found.assign()
    return found


@pytest.fixture
def device(guest: Guest, drive: Drive) -> Iterator[Device]:
    assert drive.files
    guest.agent.modprobe("hmcdrv").check()
    yield Device(guest.agent.worker("hmc"))


@pytest.mark.requirement("F1")
def test_driver_asks_for_the_service(guest: Guest, drive: Drive) -> None:
    """Once, with a function that does nothing; the node is for root alone."""
    before = drive.requests
    guest.agent.modprobe("hmcdrv").check()
    assert drive.requests == before + 1
    assert re.search(r"^ *\d+ hmcdrv$", guest.agent.read_file("/proc/misc").decode(), re.M)
    with Device(guest.agent.worker("hmc")):
        assert drive.requests == before + 1
    guest.agent.rmmod("hmcdrv").check()


@pytest.mark.requirement("F1")
def test_without_a_drive_the_driver_is_loaded(guest: Guest, drive: Drive) -> None:
    """The service is there; what it is asked for is not."""
    drive.assign(0)
    guest.agent.modprobe("hmcdrv").check()
    with Device(guest.agent.worker("hmc")) as device:
        for command in ("get readme", "dir /"):
            device.command(command)
            assert device.try_read().errno == errno.ENOENT
        drive.assign()
        assert device.get("readme") == FILES["readme"]


@pytest.mark.requirement("F1")
@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault("diag2c4.start", "pgm", 6), errno.EPERM),
        (Fault("diag2c4.start", "rc", 8), errno.EIO),
        (Fault("diag2c4.start", "rc", 5), errno.EIO),
        (Fault("diag2c4.start", "rc", 4), 0),
        *(
            (Fault("hmc.transfer", "rc", status), 0 if error in (2, 16) else error)
            for status, error in STATUSES.items()
        ),
    ],
    ids=lambda value: f"{value.kind}{value.value}" if isinstance(value, Fault) else None,
)
def test_driver_without_the_service_is_not_loaded(
    guest: Guest, drive: Drive, fault: Fault, error: int
) -> None:
    """Unless it is only busy, or there is no file."""
    assert drive.files
    with armed(guest.control, fault) as rules:
        assert guest.agent.modprobe("hmcdrv").errno == error
    assert rules[0].fired == 1


@pytest.mark.requirement("F2")
@pytest.mark.parametrize("size", [1, 100, PAGE, 65536, 100_000])
def test_files_are_read_whole(device: Device, size: int) -> None:
    """In parts of every size, within and beyond the driver's cache."""
    if size == 1:
        assert device.get("/readme", size) == FILES["readme"]
        return
    for name, data in FILES.items():
        assert device.get(name, size) == data


@pytest.mark.requirement("F2")
def test_file_is_read_from_any_place(device: Device) -> None:
    data = FILES["images/kernel.img"]
    device.command("get images/kernel.img")
    for offset in (100_000, 5, len(data) - 3, len(data), len(data) + 1000, 0):
        assert device.seek(offset) == offset
        found = device.try_read(1000)
        assert found.data[: found.check()] == data[offset : offset + 1000]


@pytest.mark.requirement("F3")
def test_directories_are_listed(device: Device) -> None:
    """Like ls -l: kind, length, date and name."""
    long = re.compile(r"^([-d])rw-r--r-- 1 0 0 +(\d+) [A-Z][a-z]{2} +\d+ +(\d{4}) (.*)$")

    def listed(path: str) -> dict[str, tuple[str, int]]:
        device.command(f"dir {path}")
        found = [long.match(line) for line in device.read_all(10).decode().splitlines()]
        assert all(found)
        return {line[4]: (line[1], int(line[2])) for line in found if line}

    for path in ("/", ".", "//"):
        assert listed(path) == {"images": ("d", 0), "readme": ("-", 11)}
    for path in ("images", "/images/"):
        assert listed(path) == {
            "empty": ("-", 0),
            "kernel.img": ("-", len(FILES["images/kernel.img"])),
            "old": ("d", 0),
        }
    assert listed("images/old/kernel.img") == {"images/old/kernel.img": ("-", 3)}


@pytest.mark.requirement("F3")
def test_names_are_listed_without_directories(device: Device) -> None:
    for path, names in (("/", b"readme\n"), ("images", b"empty\nkernel.img\n")):
        device.command(f"nls {path}")
        assert device.read_all() == names
    device.command("nls nowhere")
    assert device.try_read().errno == errno.ENOENT


@pytest.mark.requirement("F4")
def test_files_are_written(device: Device, drive: Drive) -> None:
    """In parts; a file that is there is replaced, or gets more."""
    first, second = pattern(5000, 1), pattern(70_000, 2)
    device.command("put new/file.bin")
    assert device.try_write(first).check() == len(first)
    assert device.try_write(second).check() == len(second)
    assert drive.read("new/file.bin") == first + second
    device.command("append /new/file.bin")
    assert device.try_write(b"end").check() == 3
    assert drive.read("new/file.bin") == first + second + b"end"
    device.command("put new/file.bin")
    assert device.try_write(b"short").check() == 5
    assert drive.read("new/file.bin") == b"short"
    assert device.get("new/file.bin") == b"short"
    device.command("append readme")
    assert device.try_write(b"more").check() == 4
    assert drive.read("readme") == FILES["readme"] + b"more"
    assert {name: drive.read(name) for name in FILES if name != "readme"} == {
        name: data for name, data in FILES.items() if name != "readme"
    }


@pytest.mark.requirement("F4")
def test_file_is_deleted(device: Device, drive: Drive) -> None:
    device.command("delete images/kernel.img")
    assert device.try_read(1).check() == 0
    assert sorted(drive.files) == sorted(set(FILES) - {"images/kernel.img"})
    assert device.try_read(1).errno == errno.ENOENT
    assert {name: drive.read(name) for name in drive.files} == {
        name: data for name, data in FILES.items() if name != "images/kernel.img"
    }


@pytest.mark.requirement("F5")
def test_what_cannot_be_is_enoent(device: Device, drive: Drive) -> None:
    """Files that are not there, directories in their place, and a drive that is full."""
    before = drive.files
    for command in ("get nothing", "get images", "get /", "dir nothing", "delete images"):
        device.command(command)
        assert device.try_read().errno == errno.ENOENT, command
    for command in ("put images", "put readme/x", "append images/old", "put images/empty//x"):
        device.command(command)
        assert device.try_write(b"x").errno == errno.ENOENT, command
    device.command("put too-large")
    assert device.try_write(bytes(SIZE - sum(before.values()) + 1)).errno == errno.ENOENT
    assert drive.files == before
    assert device.try_write(bytes(SIZE - sum(before.values()))).check() > 0
    device.command("append readme")
    assert device.try_write(b"x").errno == errno.ENOENT


@pytest.mark.requirement("F5")
def test_drive_that_is_read_only_is_eperm(device: Device, drive: Drive) -> None:
    drive.assign(read_only=True)
    for command in ("put new", "append readme", "delete readme"):
        device.command(command)
        assert device.try_write(b"x").errno == errno.EPERM, command
    assert device.get("readme") == FILES["readme"]
    assert sorted(drive.files) == sorted(FILES)


@pytest.mark.requirement("F5")
@pytest.mark.parametrize("status", STATUSES)
def test_transfer_that_fails(guest: Guest, device: Device, status: int) -> None:
    """Every status that CP can tell, and the error number."""
    device.command("get readme")
    with armed(guest.control, Fault("hmc.transfer", "rc", status)) as rules:
        assert device.try_read().errno == STATUSES[status]
    # Linux tries what is busy three times.
    assert rules[0].fired == (3 if STATUSES[status] == errno.EBUSY else 1)
    assert device.read_all() == FILES["readme"]


@pytest.mark.requirement("F5")
@pytest.mark.parametrize(
    ("fault", "error", "times"),
    [
        (Fault("diag2c4.start", "pgm", 2), errno.EPERM, 1),
        (Fault("diag2c4.start", "rc", 8), errno.EIO, 1),
        (Fault("diag2c4.start", "rc", 4), errno.EBUSY, 3),
    ],
    ids=["pgm", "I/O error", "busy"],
)
def test_request_that_is_not_started(
    guest: Guest, device: Device, fault: Fault, error: int, times: int
) -> None:
    device.command("get readme")
    with armed(guest.control, fault) as rules:
        assert device.try_read().errno == error
    assert rules[0].fired == times
    assert device.read_all() == FILES["readme"]


@pytest.mark.requirement("F6")
def test_reader_waits_until_cp_tells(guest: Guest, device: Device, drive: Drive) -> None:
    """The HMC takes its time; whatever else is asked for waits as well."""
    guest.control.execute("hmc-hold", hold=True)
    other = guest.agent.worker("other")
    with Device(other) as second:
        device.command("get readme")
        second.command("get images/old/kernel.img")
        first_read, second_read = device.worker.batch(), other.batch()
        first_read.read(device.fd, PAGE)
        second_read.read(second.fd, PAGE)
        waiting = first_read.start(timeout=LIMIT)
        held = guest.control.wait_event("hmc", LIMIT, what="held")
        assert held.data["file"] == "readme"
        later = second_read.start(timeout=LIMIT)
        assert not waiting.done() and not later.done()
        drive.write("readme", b"changed meanwhile")
        guest.control.execute("hmc-complete")
        (found,) = waiting.result()
        assert found.data[: found.check()] == b"changed meanwhile"
        held = guest.control.wait_event("hmc", LIMIT, what="held")
        assert held.data["file"] == "images/old/kernel.img"
        guest.control.execute("hmc-complete")
        (found,) = later.result()
        assert found.data[: found.check()] == b"old"
        guest.control.execute("hmc-hold", hold=False)


@pytest.mark.requirement("F6")
def test_interruption_that_comes_twice_is_harmless(guest: Guest, device: Device) -> None:
    with armed(guest.control, Fault("hmc.completion", "duplicate")) as rules:
        for name, data in FILES.items():
            assert device.get(name) == data
    assert rules[0].fired >= len(FILES)


@pytest.mark.requirement("F7")
def test_what_was_read_is_read_again_from_the_cache(device: Device, drive: Drive) -> None:
    """Without a request, until the guest writes."""
    assert device.get("readme", 3) == FILES["readme"]
    before = drive.requests
    drive.write("readme", b"Hello, you\n")
    assert device.get("readme", 5) == FILES["readme"]
    assert drive.requests == before
    device.command("append images/empty")
    device.try_write(b"x").check()
    assert device.get("readme", 5) == b"Hello, you\n"
    assert drive.requests == before + 2


@pytest.mark.requirement("F7")
def test_cache_may_be_switched_off(guest: Guest, drive: Drive) -> None:
    guest.agent.modprobe("hmcdrv", "cachesize=0").check()
    before = drive.requests
    with Device(guest.agent.worker("hmc")) as device:
        assert device.get("readme", 3) == FILES["readme"]
        # Four parts; Linux knows the file's length by then.
        assert drive.requests == before + 4


@pytest.mark.requirement("F7")
def test_cache_has_what_was_asked_for_last(guest: Guest, device: Device, drive: Drive) -> None:
    """A listing of a file is not the file, and two files that are read in turn are not mixed."""
    for _ in range(2):
        device.command("dir readme")
        assert device.read_all().decode().split()[-1] == "readme"
        assert device.get("readme") == FILES["readme"]
    big = {name: pattern(10_000, seed) for seed, name in enumerate(("one", "two"))}
    for name, data in big.items():
        drive.write(name, data)
    with Device(guest.agent.worker("other")) as other:
        readers = {"one": device, "two": other}
        for name, reader in readers.items():
            reader.command(f"get {name}")
        for at in range(0, 10_000, 1000):
            for name, reader in readers.items():
                assert reader.try_read(1000).data[:1000] == big[name][at : at + 1000], (name, at)


@pytest.mark.requirement("F7")
def test_cache_grows_old(guest: Guest, device: Device, drive: Drive) -> None:
    """After half a minute the file is asked for again."""
    assert device.get("readme", 3) == FILES["readme"]
    drive.write("readme", b"Hello, you\n")
    batch = guest.agent.batch()
    batch.sleep(31)
    guest.outlast(batch.start(LIMIT), LIMIT, jump=31)
    before = drive.requests
    assert device.get("readme", 3) == b"Hello, you\n"
    assert drive.requests == before + 1


@pytest.mark.requirement("F7")
def test_each_request_fills_the_cache(guest: Guest, drive: Drive) -> None:
    """From where the program reads; what is larger than the cache is not kept."""
    data, cache = pattern(20_000), 2 * PAGE
    drive.write("file", data)
    guest.agent.modprobe("hmcdrv", f"cachesize={cache}").check()
    with Device(guest.agent.worker("hmc")) as device:
        for size in (1000, PAGE, cache):
            before, wanted, begin = drive.requests, 0, -cache
            for at in range(0, len(data), size):
                if not at + min(size, len(data) - at) <= begin + cache:
                    wanted, begin = wanted + 1, at
            # Another file in between, so that nothing is there at first.
            device.get("readme")
            assert device.get("file", size) == data
            assert drive.requests == before + 1 + wanted, size
        before = drive.requests
        device.command("get file")
        assert device.try_read(cache + 1).data[: cache + 1] == data[: cache + 1]
        assert drive.requests == before + 1
        device.seek(0)
        assert device.try_read(5).data[:5] == data[:5]
        assert drive.requests == before + 2


@pytest.mark.requirement("F6")
def test_each_request_ends_with_an_interruption(guest: Guest, device: Device, drive: Drive) -> None:
    """The kernel counts them, and none is missing."""

    def counted() -> int:
        text = guest.agent.read_file("/proc/interrupts").decode()
        return int(re.findall(r"^FTP: +(\d+)", text, re.MULTILINE)[0])

    before, requests = counted(), drive.requests
    device.get("readme")
    device.command("append readme")
    device.try_write(b"more").check()
    device.command("get nothing")
    assert device.try_read().errno == errno.ENOENT
    assert counted() - before == drive.requests - requests == 3


@pytest.mark.requirement("F8")
@pytest.mark.parametrize(
    "command",
    ["  get   readme", "get\treadme", "\tget readme", "get readme\n", "get readme\nfetch it"],
)
def test_blanks_around_the_words_mean_nothing(device: Device, command: str) -> None:
    """Nor does what follows the end of the line."""
    device.command(command)
    assert device.read_all() == FILES["readme"]


@pytest.mark.requirement("F8")
def test_name_may_have_blanks(device: Device, drive: Drive) -> None:
    drive.write("read me", b"blank")
    assert device.get("read me") == b"blank"
    device.command("get read")
    assert device.try_read().errno == errno.ENOENT


@pytest.mark.requirement("F2", "F4", "F8")
def test_data_that_cannot_be_copied_are_efault(device: Device, drive: Drive) -> None:
    """The place in the file stays, and nothing is written."""
    nowhere = Bad(BadKind.UNMAPPED, 100)
    device.command("get readme")
    assert device.worker.call(Call.READ, device.fd, nowhere, 100).errno == errno.EFAULT
    assert device.read_all() == FILES["readme"]
    device.command("put new")
    assert device.worker.write(device.fd, nowhere).errno == errno.EFAULT
    assert sorted(drive.files) == sorted(FILES)
    assert device.try_write(b"data").check() == 4
    assert drive.read("new") == b"data"


@pytest.mark.requirement("F2", "F8")
def test_end_of_the_file_is_where_a_command_begins(device: Device) -> None:
    """SEEK_END with a distance: from there on the next command reads.  Holes cannot be looked for."""
    assert device.seek(7, os.SEEK_END) == 7
    assert device.worker.write(device.fd, b"get readme").check() == 10
    assert device.read_all() == FILES["readme"][7:]
    for whence in (os.SEEK_DATA, os.SEEK_HOLE):
        assert device.worker.lseek(device.fd, 0, whence).errno == errno.EINVAL
    for whence in (os.SEEK_SET, os.SEEK_END):
        assert device.worker.lseek(device.fd, -1, whence).errno == errno.EINVAL


@pytest.mark.requirement("F1", "F8")
def test_device_that_another_has_closed_goes_on(guest: Guest, device: Device) -> None:
    """Each open asks for the service, and only the last close ends that."""
    with Device(guest.agent.worker("other")) as other:
        assert other.get("readme") == FILES["readme"]
    assert device.get("images/kernel.img") == FILES["images/kernel.img"]
    device.close()
    with Device(guest.agent.worker("other")) as other:
        assert other.get("images/kernel.img") == FILES["images/kernel.img"]


@pytest.mark.requirement("F8")
def test_commands_that_are_none_are_einval(device: Device, drive: Drive) -> None:
    before = drive.requests
    for command in ("", " ", "get", "get ", "fetch readme", "noop x", "GET readme"):
        device.seek(0, os.SEEK_END)
        device.try_write(command.encode()).check()
        if command:
            assert device.try_read().errno == errno.EINVAL, command
    device.command("get " + "x" * 192)
    assert device.try_read().errno == errno.EINVAL
    device.command("get " + "x" * 191)
    assert device.try_read().errno == errno.ENOENT
    assert drive.requests == before + 1


@pytest.mark.requirement("F8")
def test_device_is_opened_for_writing_and_waiting(device: Device) -> None:
    """EINVAL otherwise; EBADF for a read without a command, or where nothing may be read."""
    worker = device.worker
    for flags in (os.O_RDONLY, os.O_RDWR | os.O_NONBLOCK):
        assert worker.open(DEVICE, flags).errno == errno.EINVAL
    assert device.try_read().errno == errno.EBADF
    device.command("get readme")
    assert device.try_read(5).check() == 5
    device.seek(0, os.SEEK_END)
    assert device.try_read().errno == errno.EBADF
    with Device(worker, os.O_WRONLY) as other:
        other.command("get readme")
        assert other.try_read().errno == errno.EBADF


@pytest.mark.requirement("F8")
def test_module_in_use_is_not_unloaded(guest: Guest, device: Device) -> None:
    assert guest.agent.rmmod("hmcdrv").errno in (errno.EBUSY, errno.EAGAIN)
    assert device.get("readme") == FILES["readme"]


@contextlib.contextmanager
def request_at_a_boot(guest: Guest) -> Iterator[None]:
    """It is forgotten.  The files stay; the next boot finds the service ready."""
    drive = Drive(guest.control)
    drive.assign()
    guest.agent.modprobe("hmcdrv").check()
    device = Device(guest.agent.worker("hmc"))
    guest.control.execute("hmc-hold", hold=True)
    device.command("get readme")
    batch = device.worker.batch()
    batch.read(device.fd, PAGE)
    batch.start(timeout=LIMIT).forget()
    guest.control.wait_event("hmc", LIMIT, what="held")
    yield
    guest.control.execute("hmc-hold", hold=False)
    assert not guest.control.execute("query-hmc")["waits"]
    guest.agent.modprobe("hmcdrv").check()
    with Device(guest.agent.worker("hmc")) as again:
        assert again.get("images/kernel.img") == drive.read("images/kernel.img")


@pytest.mark.requirement("F9")
@pytest.mark.usefixtures("drive")  # which only QEMU has
def test_reboot_forgets_what_was_asked_for(guest: Guest) -> None:
    with request_at_a_boot(guest):
        guest.reboot()


@pytest.mark.requirement("F2", "F8")
def test_position_is_moved_from_where_it_is(device: Device) -> None:
    data = FILES["images/kernel.img"]
    device.command("get images/kernel.img")
    assert device.seek(50, os.SEEK_SET) == 50
    assert device.seek(100, os.SEEK_CUR) == 150
    assert device.seek(-30, os.SEEK_CUR) == 120
    assert device.try_read(1000).data[:1000] == data[120:1120]
    assert device.worker.lseek(device.fd, -1200, os.SEEK_CUR).errno == errno.EINVAL


@pytest.mark.requirement("F8")
def test_command_that_cannot_be_read_is_efault(device: Device) -> None:
    """It is no command; the next one is."""
    assert device.worker.write(device.fd, Bad(BadKind.UNMAPPED, 11)).errno == errno.EFAULT
    assert device.try_read().errno == errno.EBADF
    assert device.get("readme") == FILES["readme"]


@pytest.mark.requirement("F11")
def test_loading_without_memory_is_enomem(guest: Guest, drive: Drive, program: Build) -> None:
    """Each allocation fails once; then it can be loaded, and reads a file."""
    assert drive.files
    guest.agent.modprobe("hmcdrv").check()
    guest.agent.rmmod("hmcdrv").check()
    assert Failing(guest).loads(program, "hmcdrv")[errno.ENOMEM] > 0
    guest.agent.modprobe("hmcdrv").check()
    with Device(guest.agent.worker("hmc")) as device:
        assert device.get("readme") == FILES["readme"]


# What the kernel's own hmcdrv does against this: docs/upstream-kernel.md.


@pytest.mark.requirement("F10")
@pytest.mark.kernel_defect(
    29, "what was not transferred is read from the cache", seen=r"assert b['\"].* == b['\"].*"
)
def test_short_transfer_is_not_more_than_it_was(guest: Guest, device: Device) -> None:
    """CP has transferred four bytes; the others have to be asked for."""
    with armed(guest.control, Fault("hmc.transfer", "limit", 4, nth=1)):
        device.command("get readme")
        found = device.try_read()
        assert found.data[: found.check()] == FILES["readme"][:4]
    rest = device.read_all()
    assert rest == FILES["readme"][4:]


@pytest.mark.requirement("F10")
@pytest.mark.kernel_defect(
    30,
    "a read of no bytes asks for as many pages as there can be",
    seen=r"the guest's kernel reported a warning .*mm/page_alloc\.c.*",
    raises=GuestPanic,
)
def test_read_of_no_bytes_gives_none(guest: Guest, drive: Drive) -> None:
    assert drive.files
    guest.agent.modprobe("hmcdrv").check()
    device = Device(guest.agent.worker("hmc"))
    device.command("get readme")
    found = device.try_read(0)

    def warned() -> bool:
        guest.check()
        return False

    # The console is read in its own time.
    if found.errno != 0:
        wait_until(warned, "the kernel's warning")
    assert found.ret == 0


@pytest.mark.requirement("F10")
@pytest.mark.kernel_defect(
    52,
    "read and write carry out each other's commands",
    seen=r"assert b'.*' == b'as it isas it is'.*",
)
def test_write_leaves_its_buffer_as_it_is(device: Device) -> None:
    """Whatever was asked for before: a program may have constants there."""
    device.command("get readme")
    given = b"as it is" * 2
    call = device.worker.call(Call.WRITE, device.fd, Both(given), len(given))
    assert call.data == given


@pytest.mark.requirement("F10")
@pytest.mark.kernel_defect(
    52, "read and write carry out each other's commands", seen=r"assert 'new' not in .*"
)
def test_read_makes_no_file(drive: Drive, device: Device) -> None:
    device.command("put new")
    device.try_read(16)
    assert "new" not in drive.files


@pytest.mark.requirement("F10")
@pytest.mark.kernel_defect(
    33, "the end of a transfer is waited for without a limit", seen=r"assert 'D' == 'S'"
)
def test_transfer_whose_end_is_not_told_can_be_interrupted(guest: Guest, device: Device) -> None:
    """The interruption is lost; a signal ends the read, or nothing ever does."""
    thread = thread_of(device.worker)
    device.command("get readme")
    with armed(guest.control, Fault("hmc.completion", "drop")) as rules:
        batch = device.worker.batch()
        batch.read(device.fd, PAGE)
        batch.start(timeout=LIMIT).forget()
        state = await_sleep(guest.agent, thread, READ)
    assert rules[0].fired == 1
    assert state == "S"
