# SPDX-License-Identifier: MIT
"""Saved segments that a guest may store into: dcssblk, a block device on one or more of them."""

from __future__ import annotations

import errno
import itertools
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from failing import Failing, void

from zvmlab.base.errors import GuestPanic
from zvmlab.cp.faults import Fault, armed
from zvmlab.guest.guest import Guest
from zvmlab.monitor.steps import Log

if TYPE_CHECKING:
    from conftest import Build

SYSFS = "/sys/devices/dcssblk"
SOURCE = Path(__file__).parent / "modules" / "extmemcalls"
OTHER_USER = "/tmp/extmemcalls.ko"
DAXPAGES = Path(__file__).parent / "modules" / "daxpages"
PAGE = 4096
TYPES = ("EW", "EN", "ER", "SW", "SN", "SR", "SC")
READ_ONLY = ("ER", "SR", "SC")
# Each in a megabyte of its own: Linux loads no two in one.
SEGMENTS = (
    *("MINE 8000-80FF EW", "MIXED 8100-817F EW 8180-81FF EN", "OURS 8200-82FF SW"),
    *(
        f"{type}1 {0x8300 + 0x100 * i:X}-{0x83FF + 0x100 * i:X} {type}"
        for i, type in enumerate(TYPES)
    ),
    *("GAP 8A80-8AFF EW", "HOLE 8B00-8B3F EW 8B80-8BFF EW", "OTHER 8C00-8C7F SR 8C80-8CFF SR"),
    "LOCKED 8D00-8DFF EW RSTD",
    # CP can define more up to here.
    "TOP 9000-90FF EW",
)
MIB = 1 << 20
BEFORE, AFTER = b"before " * 512, b"after  " * 512

# Of a disk that is removed after it was open, lockdep would report the order of locks (defect 7), and
# look for nothing more.  It is not asked about orders here; the other checks are on.
pytestmark = pytest.mark.zvmlab(
    segments=SEGMENTS, modules=("dcssblk",), command_line="lockdep.prove_locking=0"
)
# What KASAN of 7.2 does against this: docs/upstream-kernel.md.
SHADOW_TAKEN = pytest.mark.kernel_defect(
    51,
    "KASAN takes away the shadow of other pages with that of a segment",
    seen=r"the guest's kernel reported an oops .*Unable to handle kernel pointer dereference.*",
    raises=GuestPanic,
    kernels=("source:7.2:fuzz",),
)
# lockdep looks at that shadow while the kernel is about to report it: no report comes, and no end.
SHADOW_TAKEN_UNSAID = pytest.mark.not_debug(
    "KASAN takes away the shadow of other pages (kernel 51), and the kernel cannot say so",
    kernels=("sid:debug",),
)


class Block:
    """A segment as a block device of the guest."""

    def __init__(self, guest: Guest, name: str) -> None:
        self.guest = guest
        self.name = name

    def set(self, attribute: str, value: str) -> None:
        assert attempt(self.guest, attribute, value) == 0

    def load(self, exclusive: bool) -> None:
        self.set("add", self.name)
        if exclusive:
            self.set(f"{self.name}/shared", "0")
        found = self.guest.control.execute("query-segments")["segments"]
        found = next(s for s in found if s["name"] == self.name and s["loaded"])
        assert found["exclusive"] == exclusive

    def purge(self) -> None:
        self.set("remove", self.name)

    def write(self, offset: int, data: bytes) -> None:
        fd = self.guest.agent.open("/dev/dcssblk0", os.O_RDWR | os.O_SYNC).check()
        assert self.guest.agent.pwrite(fd, data, offset).check() == len(data)
        self.guest.agent.close(fd).check()

    def read(self, offset: int, length: int) -> bytes:
        fd = self.guest.agent.open("/dev/dcssblk0").check()
        found = self.guest.agent.pread(fd, length, offset)
        assert found.check() == length
        self.guest.agent.close(fd).check()
        return found.data


def attempt(guest: Guest, attribute: str, value: str) -> int:
    """Write to an attribute of dcssblk; return: errno."""
    fd = guest.agent.open(f"{SYSFS}/{attribute}", os.O_WRONLY).check()
    result = guest.agent.write(fd, value.encode())
    # Of a disk that the write has removed nothing is left to close.
    guest.agent.close(fd)
    return result.errno


def loaded(guest: Guest) -> dict[str, bool]:
    """Segments that the guest has, as CP says, and whether exclusively."""
    found = guest.control.execute("query-segments")["segments"]
    return {segment["name"]: segment["exclusive"] for segment in found if segment["loaded"]}


def text_of(guest: Guest, path: str) -> str:
    return guest.agent.read_file(path).decode().strip()


@contextmanager
def opened(guest: Guest) -> Iterator[int]:
    fd = guest.agent.open("/dev/dcssblk0", os.O_RDWR | os.O_SYNC).check()
    try:
        yield fd
    finally:
        guest.agent.close(fd).check()


def write_errno(guest: Guest) -> int:
    """The errno of a write to the disk."""
    agent = guest.agent
    result = agent.open("/dev/dcssblk0", os.O_RDWR | os.O_SYNC)
    if result.errno:
        return result.errno
    fd = result.check()
    error = agent.pwrite(fd, BEFORE, 0).errno
    agent.close(fd).check()
    return error


@pytest.fixture
def lab(guest: Guest) -> Guest:
    assert guest.agent.insmod("dcssblk").errno == 0
    return guest


@pytest.fixture
def block(request: pytest.FixtureRequest, guest: Guest) -> Block:
    assert guest.agent.insmod("dcssblk").errno == 0
    return Block(guest, request.param)


@pytest.mark.requirement("B2", "B5")
@pytest.mark.parametrize(
    "block, exclusive",
    [("MINE", False), ("MINE", True), ("OURS", True)],
    indirect=["block"],
    ids=("shared", "exclusive", "shared-type"),
)
def test_stores_are_gone_after_purge_unless_saved(block: Block, exclusive: bool) -> None:
    """Stores vanish with the segment, unless SAVESEG has taken them."""
    block.load(exclusive)
    block.write(PAGE, BEFORE)
    assert block.read(PAGE, len(BEFORE)) == BEFORE
    block.purge()
    block.load(exclusive)
    assert block.read(0, 3 * PAGE) == bytes(3 * PAGE)
    block.write(PAGE, BEFORE)
    block.set(f"{block.name}/save", "1")
    block.write(PAGE, AFTER)
    assert block.read(PAGE, len(AFTER)) == AFTER
    block.purge()
    block.load(exclusive)
    assert block.read(PAGE, len(BEFORE)) == BEFORE
    block.purge()


@pytest.mark.requirement("B4", "B5")
@pytest.mark.parametrize("block", ["MIXED"], indirect=True)
def test_pages_without_saved_data_are_empty_whenever_loaded(block: Block) -> None:
    """EN: SAVESEG keeps nothing of such a page, and who loads it finds zeros."""
    saved, lost = 0x10 * PAGE, 0x90 * PAGE
    block.load(exclusive=True)
    block.write(saved, BEFORE)
    block.write(lost, BEFORE)
    block.set("MIXED/save", "1")
    block.purge()
    block.load(exclusive=True)
    assert block.read(saved, len(BEFORE)) == BEFORE
    assert block.read(lost, len(BEFORE)) == bytes(len(BEFORE))
    block.purge()


@pytest.mark.requirement("B1", "B2")
@pytest.mark.representative
def test_types_and_modes(lab: Guest) -> None:
    """Which disks can be written to, shared and exclusively; what was stored is gone."""
    for type in TYPES:
        name, log = f"{type}1", Log(lab.agent, "dcssblk")
        block = Block(lab, name)
        block.set("add", name.lower())
        assert loaded(lab) == {name: False}
        read_only = type in READ_ONLY
        assert text_of(lab, "/sys/block/dcssblk0/ro") == str(int(read_only))
        assert write_errno(lab) == (errno.EPERM if read_only else 0), type
        if type == "SC":
            assert attempt(lab, f"{name}/shared", "0") == errno.EINVAL
            message = f"DCSS {name} is of type SC and cannot be loaded as exclusive-writable"
            assert message in log.texts()
        else:
            block.set(f"{name}/shared", "0")
            assert loaded(lab) == {name: True}
            assert text_of(lab, f"{SYSFS}/{name}/shared") == "0"
            assert text_of(lab, "/sys/block/dcssblk0/ro") == "0"
            # That was another load: what was stored before is gone.
            assert block.read(0, PAGE) == bytes(PAGE)
            block.write(0, BEFORE)
            block.set(f"{name}/shared", "1")
            assert loaded(lab) == {name: False}
            assert text_of(lab, "/sys/block/dcssblk0/ro") == str(int(read_only))
            assert block.read(0, PAGE) == bytes(PAGE)
        block.purge()
        assert loaded(lab) == {}


@SHADOW_TAKEN
@SHADOW_TAKEN_UNSAID
@pytest.mark.requirement("B3", "B10")
def test_several_segments_are_one_disk(lab: Guest) -> None:
    """In any order of the names; the disk has the first one's, and saves all."""
    for names in (["MINE", "MIXED"], ["MIXED", "MINE"]):
        block = Block(lab, names[0])
        block.set("add", ":".join(names))
        assert loaded(lab) == {"MINE": False, "MIXED": False}
        assert text_of(lab, f"{SYSFS}/{names[0]}/seglist").split() == names
        assert int(text_of(lab, "/sys/block/dcssblk0/size")) * 512 == 2 * MIB
        # The last page of one, the first of the other.
        data = b"\1" * PAGE + b"\2" * PAGE
        block.write(MIB - PAGE, data)
        assert block.read(MIB - PAGE, 2 * PAGE) == data
        block.set(f"{names[0]}/save", "1")
        block.purge()
        assert loaded(lab) == {}
        block.set("add", ":".join(names))
        # MIXED's second half is EN, MINE is EW throughout.
        assert block.read(MIB - PAGE, 2 * PAGE) == data
        block.purge()


@pytest.mark.requirement("B3")
@pytest.mark.parametrize(
    "names, message",
    [
        ("MINE:OURS", "Adjacent DCSSs MINE and OURS are not contiguous"),
        ("GAP:HIGH", "Adjacent DCSSs GAP and HIGH are not contiguous"),
        ("SR1:SC1", "DCSS SR1 and DCSS SC1 have incompatible types"),
        ("EN1:ER1", "DCSS EN1 and DCSS ER1 have incompatible types"),
        ("MIXED:OURS", "DCSS MIXED and DCSS OURS have incompatible types"),
        ("MINE:MINE", "Adjacent DCSSs MINE and MINE are not contiguous"),
    ],
)
@pytest.mark.zvmlab(segments=(*SEGMENTS, "HIGH 8E80-8EFF EW"))
def test_segments_that_do_not_fit_together(lab: Guest, names: str, message: str) -> None:
    log = Log(lab.agent, "dcssblk")
    assert attempt(lab, "add", names) == errno.EINVAL
    assert log.texts()[-1] == message
    assert loaded(lab) == {}
    Block(lab, "MINE").set("add", "MINE")


@pytest.mark.requirement("B4")
@pytest.mark.parametrize("name", ["HOLE", "OTHER"])
def test_ranges_that_linux_cannot_use(lab: Guest, name: str) -> None:
    log = Log(lab.agent, "extmem")
    assert attempt(lab, "add", name) == errno.EOPNOTSUPP
    message = f"DCSS {name} has multiple page ranges and cannot be loaded or queried"
    assert log.texts() == [message]
    assert loaded(lab) == {}


@pytest.mark.requirement("B5")
def test_save_waits_until_the_disk_is_closed(lab: Guest) -> None:
    block, log = Block(lab, "MINE"), Log(lab.agent, "dcssblk")
    block.set("add", "MINE")
    block.set("MINE/save", "1")
    with opened(lab) as fd:
        lab.agent.pwrite(fd, BEFORE, 0).check()
        block.set("MINE/save", "1")
        assert text_of(lab, f"{SYSFS}/MINE/save") == "1"
        block.set("MINE/save", "0")
        assert text_of(lab, f"{SYSFS}/MINE/save") == "0"
    block.purge()
    block.set("add", "MINE")
    assert block.read(0, PAGE) == bytes(PAGE)
    with opened(lab) as fd:
        lab.agent.pwrite(fd, BEFORE, 0).check()
        block.set("MINE/save", "1")
    assert text_of(lab, f"{SYSFS}/MINE/save") == "0"
    block.purge()
    block.set("add", "MINE")
    assert block.read(0, len(BEFORE)) == BEFORE
    assert attempt(lab, "MINE/save", "2") == errno.EINVAL
    assert attempt(lab, "MINE/save", "11") == errno.EINVAL
    busy = "Device MINE is in use, its DCSSs will be saved when it becomes idle"
    # 7.2 says of DAX that the segment is not aligned to what it needs.
    found = [text for text in log.texts() if "Loaded" not in text and "DAX" not in text]
    assert found == [
        "All DCSSs that map to device MINE are saved",
        busy,
        "A pending save request for device MINE has been canceled",
        busy,
        "Device MINE has become idle and is being saved now",
    ]


@pytest.mark.requirement("B5")
@pytest.mark.parametrize("name", ["EN1", "SN1"])
def test_types_without_contents_are_not_saved(lab: Guest, name: str) -> None:
    block, log = Block(lab, name), Log(lab.agent, "dcssblk")
    block.set("add", name)
    block.write(0, BEFORE)
    block.set(f"{name}/save", "1")
    assert f"DCSS {name} is of type SN or EN and cannot be saved" in log.texts()
    block.purge()
    block.set("add", name)
    assert block.read(0, PAGE) == bytes(PAGE)


@pytest.mark.requirement("B5")
@pytest.mark.parametrize("command, nth", [("DEFSEG", 1), ("SAVESEG", 1)])
def test_what_cp_does_not_save_is_in_the_log(lab: Guest, command: str, nth: int) -> None:
    """The command fails: the kernel says so there."""
    block, log = Block(lab, "MINE"), Log(lab.agent, "extmem")
    block.set("add", "MINE")
    block.write(0, BEFORE)
    with armed(lab.control, Fault("diag08.command", "rc", 435, name=command, nth=nth)):
        attempt(lab, "MINE/save", "1")
    assert f"Saving a DCSS failed with {command} response code 435" in log.texts()
    block.purge()
    block.set("add", "MINE")
    assert block.read(0, PAGE) == bytes(PAGE)


@pytest.mark.requirement("B5")
@pytest.mark.kernel_defect(
    1, "dcssblk: a save that fails is reported as done", seen=r"assert 0 == 5"
)
@pytest.mark.parametrize("command", ["DEFSEG", "SAVESEG"])
def test_save_that_cp_does_not_do_is_an_error(lab: Guest, command: str) -> None:
    """And the log does not say that it was done."""
    block, log = Block(lab, "MINE"), Log(lab.agent, "dcssblk")
    block.set("add", "MINE")
    with armed(lab.control, Fault("diag08.command", "rc", 435, name=command, nth=1)):
        assert attempt(lab, "MINE/save", "1") == errno.EIO
    assert not any(text.endswith("are saved") for text in log.texts())


@pytest.mark.requirement("B5")
@pytest.mark.kernel_defect(
    2,
    "dcssblk: a SAVESEG that failed prevents every later save",
    seen=r"assert '(\\x00){6}' == 'after '",
)
def test_disk_can_be_saved_after_a_save_that_failed(lab: Guest) -> None:
    """CP has the segment defined, and not saved, until somebody purges that."""
    block, log = Block(lab, "MINE"), Log(lab.agent, "extmem")
    block.set("add", "MINE")
    with armed(lab.control, Fault("diag08.command", "rc", 435, name="SAVESEG", nth=1)) as rules:
        attempt(lab, "MINE/save", "1")
    block.write(0, AFTER)
    block.set("MINE/save", "1")
    block.purge()
    block.set("add", "MINE")
    failed = [text for text in log.texts() if text.startswith("Saving")]
    if not rules[0].fired or "Saving a DCSS failed with SAVESEG response code 435" != failed[0]:
        raise RuntimeError("SAVESEG was to fail")
    assert block.read(0, len(AFTER))[:6].decode() == AFTER[:6].decode()


@pytest.mark.requirement("B7")
@pytest.mark.kernel_defect(
    3, "dcssblk: a PURGESEG that CP refuses is not noticed", seen=r"assert 5 == 0"
)
def test_removed_disk_can_be_added_again(lab: Guest) -> None:
    """CP leaves the segment in exclusive mode; a shared load is refused then, once."""
    block, log = Block(lab, "MINE"), Log(lab.agent, "extmem")
    block.load(exclusive=True)
    with armed(lab.control, Fault("diag64.purgeseg", "rc", 4, name="MINE", nth=1)) as rules:
        block.purge()
    if not rules[0].fired or loaded(lab) != {"MINE": True}:
        raise RuntimeError("CP was to keep the segment")
    error = attempt(lab, "add", "MINE")
    if error and (log.texts()[-2], loaded(lab)) != ("Loading DCSS MINE failed with rc=45", {}):
        raise RuntimeError("it has failed for another reason")
    assert error == 0


@pytest.mark.requirement("B6")
@pytest.mark.representative
@pytest.mark.zvmlab(modules=("dcssblk", "ext4"), busybox=True)
def test_a_file_system_survives_the_next_boot(lab: Guest) -> None:
    content = {f"/mnt/{number}": bytes([number]) * (number * 1000) for number in range(1, 20)}
    block = Block(lab, "MINE")
    block.load(exclusive=True)
    lab.agent.modprobe("ext4").check()
    busybox(lab, "mke2fs", "-b", "4096", "/dev/dcssblk0")
    busybox(lab, "mkdir", "-p", "/mnt")
    lab.agent.mount("/dev/dcssblk0", "/mnt", "ext4").check()
    for path, data in content.items():
        lab.agent.write_file(path, data, 0o600)
    lab.agent.umount("/mnt").check()
    block.set("MINE/save", "1")
    lab.reboot()
    assert loaded(lab) == {}
    assert lab.agent.insmod("dcssblk").errno == 0
    block.load(exclusive=False)
    lab.agent.modprobe("ext4").check()
    busybox(lab, "mkdir", "-p", "/mnt")
    lab.agent.mount("/dev/dcssblk0", "/mnt", "ext4").check()
    assert {path: lab.agent.read_file(path) for path in content} == content
    # Busy with the file system, and free after it.
    assert attempt(lab, "remove", "MINE") == errno.EBUSY
    lab.agent.umount("/mnt").check()
    block.purge()


def busybox(guest: Guest, *words: str) -> None:
    guest.agent.run(["/bin/busybox", *words]).check()


# Return codes of DIAGNOSE X'64' as CP has them, and one that it has not.
CODES = (4, 40, 44, 45, 177, 263, 9999)


def refused(code: int) -> tuple[int, str]:
    """Error number and text of the kernel's for one of CP's return codes."""
    if code == 44:
        return errno.ENOENT, "DCSS MINE cannot be loaded or queried"
    return errno.EIO, "Loading or querying DCSS MINE resulted in a hardware error"


@pytest.mark.requirement("B7")
@pytest.mark.representative
def test_each_refusal_of_cp(lab: Guest) -> None:
    """The refusal of the query or of the load is in the log, and nothing is left loaded."""
    for point, text in (
        ("diag64.segext", "Querying a DCSS type failed with rc={}"),
        ("diag64.loadshr", "Loading DCSS MINE failed with rc={}"),
    ):
        for code in CODES:
            log = Log(lab.agent, "extmem")
            error, message = refused(code)
            with armed(lab.control, Fault(point, "rc", code, name="MINE")):
                assert attempt(lab, "add", "MINE") == error
            assert log.texts() == [text.format(code), message]
            assert loaded(lab) == {}
    Block(lab, "MINE").set("add", "MINE")


@SHADOW_TAKEN
@SHADOW_TAKEN_UNSAID
@pytest.mark.requirement("B7")
@pytest.mark.parametrize("code", CODES)
def test_a_mode_that_cp_refuses_removes_the_disk(lab: Guest, code: int) -> None:
    """The segment is given back before it is loaded anew, so there is none any more."""
    block, log = Block(lab, "MINE"), Log(lab.agent, "dcssblk")
    block.set("add", "MINE:MIXED")
    with armed(lab.control, Fault("diag64.loadnsr", "rc", code, name="MIXED")):
        assert attempt(lab, "MINE/shared", "0") == refused(code)[0]
    assert log.texts()[-1] == "DCSS device MINE is removed after a failed access mode change"
    assert loaded(lab) == {}
    block.load(exclusive=True)
    block.purge()


@pytest.mark.requirement("B7")
def test_refusals_by_their_causes(lab: Guest) -> None:
    """No authority, no segment, a skeleton, storage in the way of another one."""
    control = lab.control
    log = Log(lab.agent, "extmem")
    assert attempt(lab, "add", "LOCKED") == errno.EIO
    assert attempt(lab, "add", "NOSUCH") == errno.ENOENT
    assert control.cp("DEFSEG BONES 8F00-8FFF EW").rc == 0
    assert attempt(lab, "add", "BONES") == errno.ENOENT
    assert control.cp("SAVESEG BONES").rc == 0
    # Parts of BONES' megabyte, and of the guest's own storage.
    assert control.cp("DEFSEG PART 8F80-8FFF EW").rc == 0
    assert control.cp("SAVESEG PART").rc == 0
    assert control.cp("DEFSEG INSIDE 100-1FF EW").rc == 0
    assert control.cp("SAVESEG INSIDE").rc == 0
    assert attempt(lab, "add", "BONES") == 0
    assert attempt(lab, "add", "PART") == errno.EBUSY
    inside = attempt(lab, "add", "INSIDE")
    assert inside in (errno.EBUSY, errno.EINVAL, errno.ENOSPC)
    assert loaded(lab) == {"BONES": False}
    texts = log.texts()
    assert texts[:5] == [
        "Loading DCSS LOCKED failed with rc=4",
        "Loading or querying DCSS LOCKED resulted in a hardware error",
        "Querying a DCSS type failed with rc=44",
        "DCSS NOSUCH cannot be loaded or queried",
        "Querying a DCSS type failed with rc=44",
    ]
    assert "PART needs used memory resources and cannot be loaded or queried" in texts


@pytest.mark.requirement("B8")
@pytest.mark.representative
def test_what_is_open_stays(lab: Guest) -> None:
    block, log = Block(lab, "MINE"), Log(lab.agent, "dcssblk")
    block.set("add", "MINE")
    with opened(lab) as fd:
        assert attempt(lab, "remove", "MINE") == errno.EBUSY
        assert log.texts()[-1] == "Device MINE cannot be removed while it is in use"
        assert attempt(lab, "MINE/shared", "0") == errno.EBUSY
        assert lab.agent.rmmod("dcssblk").errno != 0
        lab.agent.pwrite(fd, BEFORE, 0).check()
        assert loaded(lab) == {"MINE": False}
    # A disk that nobody has open keeps its module as well.
    assert lab.agent.rmmod("dcssblk").errno != 0
    block.set("MINE/shared", "0")
    assert attempt(lab, "MINE/shared", "2") == errno.EINVAL
    block.purge()
    assert lab.agent.rmmod("dcssblk").errno == 0
    assert loaded(lab) == {}


NAMES: Sequence[tuple[str, str, int]] = (
    ("add", "NINECHARS", errno.ENAMETOOLONG),
    ("add", "\n", errno.ENAMETOOLONG),
    ("add", ":MINE", errno.ENAMETOOLONG),
    ("add", "OURS:", errno.ENAMETOOLONG),
    ("add", "OURS::MIXED", errno.ENAMETOOLONG),
    ("add", "OURS:NINECHARS", errno.ENAMETOOLONG),
    ("add", "OURS:NOSUCH", errno.ENOENT),
    ("add", "MINE", errno.EEXIST),
    ("add", "OURS:mine", errno.EEXIST),
    ("remove", "OURS", errno.ENODEV),
    ("remove", "\n", errno.ENAMETOOLONG),
    ("remove", "NINECHARS", errno.ENAMETOOLONG),
)


@pytest.mark.requirement("B9")
def test_names(lab: Guest) -> None:
    """A wrong name leaves all as it was: MINE is loaded, and nothing else."""
    Block(lab, "MINE").set("add", "mine\n")
    for attribute, names, error in NAMES:
        assert attempt(lab, attribute, names) == error, names
        assert loaded(lab) == {"MINE": False}, names
    assert attempt(lab, "remove", "mine") == 0
    assert loaded(lab) == {}


@pytest.mark.requirement("B2", "B5", "B9")
@pytest.mark.zvmlab(segments=("EIGHTCHR 8000-80FF EW",))
def test_name_of_eight_characters_and_values_with_an_end(lab: Guest) -> None:
    """As long as a name can be; a value may have a newline behind it, and nothing else."""
    Block(lab, "EIGHTCHR").set("add", "eightchr\n")
    assert loaded(lab) == {"EIGHTCHR": False}
    for value in ("0", "1"):
        assert attempt(lab, "EIGHTCHR/shared", f"{value}\n") == 0
        assert text_of(lab, f"{SYSFS}/EIGHTCHR/shared") == value
        assert attempt(lab, "EIGHTCHR/save", f"{value}\n") == 0
    for attribute in ("shared", "save"):
        for value in ("01", "1x", "x", "2\n"):
            assert attempt(lab, f"EIGHTCHR/{attribute}", value) == errno.EINVAL, (attribute, value)
    assert text_of(lab, f"{SYSFS}/EIGHTCHR/shared") == "1"
    assert attempt(lab, "remove", "EightChr\n") == 0
    assert loaded(lab) == {}


@pytest.mark.requirement("B3", "B10")
@pytest.mark.zvmlab(segments=("A1 8000-80FF EW", "B1 8100-81FF EN", "C1 8200-82FF EW"))
def test_three_segments_in_any_order_are_one_disk(lab: Guest) -> None:
    """Contents follow the addresses, whatever order the names have; a gap is one in any order."""
    for names in itertools.permutations(("A1", "B1", "C1")):
        block = Block(lab, names[0])
        block.set("add", ":".join(names))
        assert text_of(lab, f"{SYSFS}/{names[0]}/seglist").split() == list(names)
        assert int(text_of(lab, "/sys/block/dcssblk0/size")) * 512 == 3 * MIB
        parts = [bytes([number]) * PAGE for number in (1, 2, 3)]
        for number, data in enumerate(parts):
            block.write(number * MIB, data)
        assert [block.read(number * MIB, PAGE) for number in range(3)] == parts
        block.purge()
        assert loaded(lab) == {}
    for names in (("A1", "C1"), ("C1", "A1")):
        log = Log(lab.agent, "dcssblk")
        assert attempt(lab, "add", ":".join(names)) == errno.EINVAL
        assert log.texts()[-1] == "Adjacent DCSSs A1 and C1 are not contiguous"
        assert loaded(lab) == {}


@pytest.mark.requirement("B1", "B8")
def test_each_disk_has_a_number_and_data_of_its_own(lab: Guest) -> None:
    """The lowest number that is free; the disks' ends are those of their segments."""

    def node(name: str, number: int) -> str:
        assert int(text_of(lab, f"/sys/block/dcssblk{number}/size")) * 512 == MIB, name
        return f"/dev/dcssblk{number}"

    def access(number: int, data: bytes, offset: int) -> bytes:
        fd = lab.agent.open(f"/dev/dcssblk{number}", os.O_RDWR | os.O_SYNC).check()
        lab.agent.pwrite(fd, data, offset).check()
        found = lab.agent.pread(fd, len(data), offset).data
        lab.agent.close(fd).check()
        return found

    names = ("MINE", "OURS", "EW1")
    for number, name in enumerate(names):
        assert attempt(lab, "add", name) == 0
        assert node(name, number)
    for number, name in enumerate(names):
        for offset in (0, MIB - PAGE):
            data = f"{name} at {offset} ".encode().ljust(PAGE, b".")
            assert access(number, data, offset) == data
    assert attempt(lab, "remove", "OURS") == 0
    assert loaded(lab) == {"MINE": False, "EW1": False}
    for number in (0, 2):
        fd = lab.agent.open(f"/dev/dcssblk{number}", os.O_RDWR).check()
        for offset in (0, MIB - PAGE):
            assert lab.agent.pread(fd, 20, offset).data.startswith(names[number].encode())
        assert lab.agent.pread(fd, PAGE, MIB).ret == 0
        assert lab.agent.pwrite(fd, b"x", MIB).errno == errno.ENOSPC
        lab.agent.close(fd).check()
    assert attempt(lab, "add", "SW1") == 0
    assert node("SW1", 1)
    for name in ("MINE", "SW1", "EW1"):
        assert attempt(lab, "remove", name) == 0
    assert loaded(lab) == {}


@pytest.mark.requirement("B10")
def test_segments_of_the_parameter(guest: Guest) -> None:
    log = Log(guest.agent, "dcssblk")
    names = "mine(local),NOSUCH,ours,EW1:EN1(local)"
    guest.agent.modprobe("dcssblk", {"segments": names}).check()
    assert loaded(guest) == {"MINE": True, "OURS": False, "EW1": True, "EN1": True}
    assert text_of(guest, f"{SYSFS}/MINE/shared") == "0"
    assert text_of(guest, f"{SYSFS}/OURS/shared") == "1"
    assert text_of(guest, f"{SYSFS}/EW1/seglist").split() == ["EW1", "EN1"]
    assert (
        f"Loaded EW1:EN1 with total size {2 * MIB} bytes and capacity 4096 sectors" in log.texts()
    )
    for name in ("MINE", "OURS", "EW1"):
        assert attempt(guest, "remove", name) == 0


@pytest.mark.requirement("B11")
def test_loading_without_memory_is_enomem(lab: Guest, program: Build) -> None:
    """Each allocation fails once; then it can be loaded, and has a disk."""
    lab.agent.rmmod("dcssblk").check()
    assert Failing(lab).loads(program, "dcssblk")[errno.ENOMEM] > 0
    assert lab.agent.insmod("dcssblk").errno == 0
    Block(lab, "MINE").set("add", "MINE")
    assert loaded(lab) == {"MINE": False}


# A disk that could not be added keeps its name (docs/upstream-dcssblk.md, 5): sysfs says so at the next one.
NAME_STAYS = pytest.mark.zvmlab(crashes=("panic", "oops"))
NAME_LEAKS = pytest.mark.not_debug(
    "a disk that could not be made leaves its name, which kmemleak reports",
    kernels=("debug",),
    defect="dcssblk-11",
)


def add_without_memory(guest: Guest) -> Counter[int]:
    """Each allocation of a disk on MINE fails once; how often with which error number.

    What can be added nevertheless is removed again.
    """
    worker = guest.agent.worker("adder")
    fd = worker.open(f"{SYSFS}/add", os.O_WRONLY).check()
    errors = Failing(guest).each(
        worker,
        lambda batch: batch.write(fd, b"MINE"),
        lambda result: void(attempt(guest, "remove", "MINE")),
    )
    worker.close(fd).check()
    if not errors[errno.ENOMEM]:
        raise RuntimeError("memory was to be missing")
    return errors


@NAME_STAYS
@NAME_LEAKS
@pytest.mark.requirement("B11")
def test_disk_without_memory_is_none(lab: Guest) -> None:
    """ENOMEM, and the log says so of a segment; then another disk can be added, and keeps data."""
    log = Log(lab.agent, "extmem")
    errors = add_without_memory(lab)
    # EEXIST: Linux leaves a device behind, which has the name (docs/upstream-dcssblk.md, 4 and 5).
    # EINVAL: a device without a name.
    assert set(errors) <= {0, errno.ENOMEM, errno.EFAULT, errno.EEXIST, errno.EINVAL}
    assert "There is not enough memory to load or query DCSS MINE" in log.texts()
    block = Block(lab, "OURS")
    block.set("add", "OURS")
    block.write(0, BEFORE)
    assert block.read(0, len(BEFORE)) == BEFORE
    block.purge()


@NAME_STAYS
@NAME_LEAKS
@pytest.mark.requirement("B11")
@pytest.mark.kernel_defect(
    4,
    "dcssblk: a segment stays loaded when there is no memory for its disk",
    seen=r"assert \{'MINE': False\} == \{\}",
)
def test_disk_without_memory_gives_its_segment_back(lab: Guest) -> None:
    """No disk is left, and CP has none of its segments loaded."""
    add_without_memory(lab)
    assert loaded(lab) == {}


@NAME_STAYS
@NAME_LEAKS
@pytest.mark.requirement("B11")
@pytest.mark.kernel_defect(
    5, "dcssblk: a disk that could not be added keeps its name", seen=r"assert 17 == 0"
)
def test_disk_can_be_added_when_there_is_memory_again(lab: Guest) -> None:
    """The name of the one that failed is free."""
    add_without_memory(lab)
    assert attempt(lab, "add", "MINE") == 0


@pytest.mark.requirement("B2")
@pytest.mark.parametrize("attribute", ["add", "remove"])
def test_adding_and_removing_a_disk_ends(lab: Guest, attribute: str) -> None:
    """Both return while the guest has nothing else to do, whatever reads the new disk meanwhile."""
    writes = ["add"] if attribute == "add" else ["add", "remove"]
    for name in writes:
        worker = lab.agent.worker(name)
        fd = worker.open(f"{SYSFS}/{name}", os.O_WRONLY).check()
        batch = worker.batch()
        done = batch.write(fd, b"MINE")
        written = lab.outlast(batch.start(60), 60)[done]
        assert written.ret == len(b"MINE"), f"the write to {name} does not end"
        worker.close(fd)
    assert loaded(lab) == ({"MINE": False} if attribute == "add" else {})


@pytest.mark.requirement("B6")
@pytest.mark.zvmlab(modules=("dcssblk", "ext4"), busybox=True)
def test_a_file_system_without_copies(lab: Guest) -> None:
    """With the option dax, files are the segment's own pages, which CP saves."""
    content = bytes(range(256)) * 64
    block = Block(lab, "MINE")
    block.load(exclusive=True)
    lab.agent.modprobe("ext4").check()
    busybox(lab, "mke2fs", "-b", "4096", "/dev/dcssblk0")
    busybox(lab, "mkdir", "-p", "/mnt")
    mounted = lab.agent.mount("/dev/dcssblk0", "/mnt", "ext4", data="dax")
    if mounted.errno == errno.EINVAL:
        pytest.skip("the kernel has no DAX of dcssblk")
    mounted.check()
    lab.agent.write_file("/mnt/file", content, 0o600)
    assert lab.agent.read_file("/mnt/file") == content
    fd = lab.agent.open("/mnt/file", os.O_RDWR).check()
    # Within a page: the rest of it stays.
    lab.agent.pwrite(fd, b"changed", 5000).check()
    changed = content[:5000] + b"changed" + content[5007:]
    assert lab.agent.pread(fd, len(content), 0).data == changed
    lab.agent.close(fd).check()
    lab.agent.umount("/mnt").check()
    # The disk has them, without the page cache of the file.
    assert changed in block.read(0, MIB)
    block.purge()


@pytest.mark.requirement("B6")
@pytest.mark.zvmlab(modules=("dcssblk", "ext4"), busybox=True)
def test_a_file_system_without_copies_can_be_full(lab: Guest) -> None:
    """A file has all blocks that there are, up to the last page of the segment."""
    block = Block(lab, "MINE")
    block.load(exclusive=True)
    lab.agent.modprobe("ext4").check()
    busybox(lab, "mke2fs", "-b", "4096", "-m", "0", "/dev/dcssblk0")
    busybox(lab, "mkdir", "-p", "/mnt")
    mounted = lab.agent.mount("/dev/dcssblk0", "/mnt", "ext4", data="dax")
    if mounted.errno == errno.EINVAL:
        pytest.skip("the kernel has no DAX of dcssblk")
    mounted.check()
    fd = lab.agent.open("/mnt/file", os.O_RDWR | os.O_CREAT).check()
    pages = 0
    while True:
        page = pages.to_bytes(2, "big") * (PAGE // 2)
        written = lab.agent.pwrite(fd, page, pages * PAGE)
        if written.errno == errno.ENOSPC:
            break
        assert written.check() == PAGE
        pages += 1
    assert pages > 100
    for number in range(pages):
        found = lab.agent.pread(fd, PAGE, number * PAGE)
        assert (found.errno, found.data) == (0, number.to_bytes(2, "big") * (PAGE // 2))
    lab.agent.close(fd).check()
    lab.agent.umount("/mnt").check()
    # The disk has them, the last one as well.
    assert (pages - 1).to_bytes(2, "big") * (PAGE // 2) in block.read(0, MIB)
    block.purge()


@pytest.mark.requirement("B6")
# 7.2 has DAX for segments of whole pieces of 2 MiB.
@pytest.mark.zvmlab(
    segments=("WIDE 8E00-8FFF EW", "LOW 9000-91FF EW", "HIGH 9200-93FF EN", "TINY 8000-80FF EN"),
    modules=("dcssblk",),
)
@pytest.mark.parametrize(
    "names",
    [
        "WIDE",
        *(
            pytest.param(names, marks=(SHADOW_TAKEN, SHADOW_TAKEN_UNSAID))
            for names in ("LOW:HIGH", "HIGH:LOW")
        ),
        "TINY",
    ],
)
def test_each_page_can_be_accessed_without_a_copy(
    lab: Guest, built_module: Callable[..., Path], names: str
) -> None:
    """From each page on to the last one, where its data are; from behind the last one, none."""
    block = Block(lab, names.partition(":")[0])
    block.set("add", names)
    pages = int(text_of(lab, "/sys/block/dcssblk0/size")) * 512 // PAGE
    data = b"".join(number.to_bytes(8, "big") * (PAGE // 8) for number in range(1, pages + 1))
    for offset in range(0, len(data), MIB):
        block.write(offset, data[offset : offset + MIB])
    lab.agent.write_file("/tmp/daxpages.ko", built_module(DAXPAGES).read_bytes(), 0o600)
    assert lab.agent.insmod("/tmp/daxpages.ko").errno == 0
    try:
        found = text_of(lab, "/proc/daxpages").splitlines()
    except OSError as error:
        if error.errno != errno.EOPNOTSUPP:
            raise
        pytest.skip("the kernel has no DAX of this disk")
    assert found == [f"{at} {pages - at} {at + 1}" for at in range(pages)] + [
        f"{pages} {-errno.ERANGE} 0"
    ]
    lab.agent.rmmod("daxpages").check()
    block.purge()


@pytest.mark.requirement("B2")
def test_a_buffer_that_begins_within_a_page_is_refused(lab: Guest, program: Build) -> None:
    """By the disk (EIO), or before by Linux (EINVAL); nothing of it is stored."""
    block = Block(lab, "MINE")
    block.load(exclusive=True)
    lab.agent.write_file("/tmp/shifted", program("shifted").read_bytes(), 0o755)
    written = lab.agent.run(["/tmp/shifted", "/dev/dcssblk0"]).check().stdout.split()
    refused = {b"%d" % -errno.EIO, b"%d" % -errno.EINVAL}
    assert written[0] == b"%d" % PAGE
    assert len(written) == 8 and set(written[1:]) <= refused
    assert block.read(0, PAGE) == b"a" * PAGE
    block.purge()


@pytest.mark.requirement("B6")
# 7.2 has DAX for segments of whole pieces of 2 MiB.
@pytest.mark.zvmlab(segments=("WIDE 8E00-8FFF EW",), modules=("dcssblk", "ext4"), busybox=True)
@pytest.mark.kernel_defect(
    8,
    "dcssblk: a page of a file system without copies that was mapped is a bad page map",
    seen=r"the guest's kernel reported a bug .*BUG: Bad page map in process mapped.*",
    raises=GuestPanic,
    kernels=("bookworm", "trixie", "bookworm-backports"),
)
def test_a_file_without_copies_can_be_mapped(lab: Guest, program: Build) -> None:
    """What two processes store through their mappings is in the file."""
    block = Block(lab, "WIDE")
    block.load(exclusive=True)
    lab.agent.modprobe("ext4").check()
    busybox(lab, "mke2fs", "-b", "4096", "/dev/dcssblk0")
    busybox(lab, "mkdir", "-p", "/mnt")
    lab.agent.mount("/dev/dcssblk0", "/mnt", "ext4", data="dax").check()
    lab.agent.write_file("/mnt/file", bytes(2 * PAGE), 0o600)
    lab.agent.write_file("/tmp/mapped", program("mapped").read_bytes(), 0o755)
    assert lab.agent.run(["/tmp/mapped", "/mnt/file"]).check().stdout == b"parent child\n"
    lab.settle()
    assert lab.agent.read_file("/mnt/file") == b"".join(
        word.ljust(PAGE, b"\0") for word in (b"parent", b"child")
    )
    lab.agent.umount("/mnt").check()
    block.purge()


@pytest.mark.requirement("B2", "B8")
def test_segment_of_two_users_has_one_mode(lab: Guest, built_module: Callable[..., Path]) -> None:
    """A module has it, too: the disk's mode stays; EPERM for a module that wants another one."""
    lab.agent.write_file(OTHER_USER, built_module(SOURCE).read_bytes(), 0o600)
    block, log = Block(lab, "MINE"), Log(lab.agent, "extmem")
    block.set("add", "MINE")
    # In the mode that it has already nothing is done.
    block.set("MINE/shared", "1")
    assert log.texts()[-1] == "DCSS MINE is already in the requested access mode"
    assert lab.agent.insmod(OTHER_USER).errno == 0
    # CP and the log say so, dcssblk does not (docs/upstream-dcssblk.md, 6).
    attempt(lab, "MINE/shared", "0")
    assert log.texts()[-1] == "DCSS MINE is in use and cannot be reloaded"
    assert loaded(lab) == {"MINE": False}
    lab.agent.rmmod("extmemcalls").check()
    block.set("MINE/shared", "0")
    assert loaded(lab) == {"MINE": True}
    assert lab.agent.insmod(OTHER_USER).errno == errno.EPERM
    assert log.texts()[-1] == "DCSS MINE is already loaded in a different access mode"
    assert lab.agent.insmod(OTHER_USER, {"exclusive": 1}).errno == 0
    block.purge()
    assert loaded(lab) == {"MINE": True}
    lab.agent.rmmod("extmemcalls").check()
    assert loaded(lab) == {}


@pytest.mark.requirement("B2", "B8")
@pytest.mark.kernel_defect(
    6,
    "dcssblk: a mode that another user of the segment prevents is reported as set",
    seen=r"assert \(False, '0'\) == \(True, '1'\)",
)
def test_mode_that_another_user_prevents_is_an_error(
    lab: Guest, built_module: Callable[..., Path]
) -> None:
    """The write fails, and the attribute says the mode that CP has."""
    lab.agent.write_file(OTHER_USER, built_module(SOURCE).read_bytes(), 0o600)
    Block(lab, "MINE").set("add", "MINE")
    assert lab.agent.insmod(OTHER_USER).errno == 0
    error = attempt(lab, "MINE/shared", "0")
    if loaded(lab) != {"MINE": False}:
        raise RuntimeError("the segment was to stay shared")
    assert (error != 0, text_of(lab, f"{SYSFS}/MINE/shared")) == (True, "1")


@pytest.mark.requirement("B8")
def test_segment_that_is_not_loaded_is_left_alone(
    lab: Guest, built_module: Callable[..., Path]
) -> None:
    """EINVAL for another mode; the log says that it is neither saved nor unloaded."""
    lab.agent.write_file(OTHER_USER, built_module(SOURCE).read_bytes(), 0o600)
    since, log = lab.agent.log_position(), Log(lab.agent, "extmem")
    assert lab.agent.insmod(OTHER_USER, {"name": "NOSUCH"}).errno == errno.ENOENT
    assert log.texts() == [
        "Unloading unknown DCSS NOBODYS failed",
        "Saving unknown DCSS NOBODYS failed",
        "Querying a DCSS type failed with rc=44",
        "DCSS NOSUCH cannot be loaded or queried",
    ]
    said = [line.text for line in lab.agent.dmesg(since)]
    assert f"extmemcalls: another mode: {-errno.EINVAL}" in said
