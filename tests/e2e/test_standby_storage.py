# SPDX-License-Identifier: MIT
"""Storage that CP keeps standby or reserved: Debian's lsmem and chmem, and Linux that uses it."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from zvmlab.builder.guesttools import debian_program
from zvmlab.cp.control import decode
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest
from zvmlab.guest.pool import Pool
from zvmlab.pytest_plugin.plugin import lent

if TYPE_CHECKING:
    from conftest import Commands

MIB = 1 << 20
# Memory blocks of Linux have 256 MiB up to 6.8, 128 MiB after it.
BLOCK = 256 * MIB
STORAGE = "0.256M STANDBY 256M RESERVED 256M"
SYS = "/sys/devices/system/memory"
PACKAGES = ("util-linux", "libsmartcols1", "libmount1", "libblkid1", "libselinux1", "libpcre2-8-0",
            "libtinfo6", "libc6")  # fmt: skip
LSMEM, CHMEM = "/usr/bin/lsmem", "/usr/sbin/chmem"
SECONDS = 180.0
PIECE = bytes(range(256)) * 16

pytestmark = [
    pytest.mark.requirement("V14"),
    pytest.mark.zvmlab(storage=STORAGE, segments=()),
]


@pytest.fixture
def tools(guest_config: GuestConfig) -> GuestConfig:
    """A guest that has util-linux' programs."""
    if guest_config.backend == "hercules":
        pytest.skip("the port for Hercules refuses standby storage")
    files = {
        **debian_program(LSMEM, packages=PACKAGES),
        **debian_program(CHMEM, packages=PACKAGES),
    }
    return guest_config._replace(files={**guest_config.files, **files})


def run(guest: Guest, *argv: str) -> str:
    """What the program writes, which succeeds."""
    return guest.agent.run(list(argv), timeout=SECONDS).check().stdout.decode()


def ranges(guest: Guest) -> list[tuple[str, str]]:
    """lsmem's rows: range and state."""
    lines = run(guest, LSMEM, "--noheadings", "--raw", "--output", "RANGE,STATE",
                "--split", "STATE", "--summary=never").splitlines()  # fmt: skip
    return [(words[0], words[1]) for words in map(str.split, lines)]


def span(first: int, last: int) -> str:
    """As lsmem writes it: blocks of 256 MiB from the first to the last."""
    return f"0x{first * BLOCK:016x}-0x{(last + 1) * BLOCK - 1:016x}"


def total(guest: Guest) -> int:
    """MemTotal in MiB."""
    return int(guest.agent.read_file("/proc/meminfo").decode().split()[1]) // 1024


@pytest.fixture
def guest_with_tools(tools: GuestConfig) -> Iterator[Guest]:
    """It has booted."""
    with Guest(tools) as guest:
        guest.boot()
        if guest.agent.open("/sys/firmware/memory", os.O_RDONLY).errno == 0:
            pytest.skip("this Linux configures blocks first, of which Debian's chmem knows nothing")
        if guest.agent.open(SYS, os.O_RDONLY).errno == errno.ENOENT:
            pytest.skip("this kernel is built without CONFIG_MEMORY_HOTPLUG")
        yield guest


def line(storage: str, standby: str, reserved: str) -> str:
    """CP's answer, in the words of a public capture."""
    return f"STORAGE = {storage} MAX = 768M INC = 1M STANDBY = {standby} RESERVED = {reserved}\n"


def test_storage_comes(guest_with_tools: Guest, vmcp_in: Callable[[Guest], Commands]) -> None:
    """chmem -e; CP counts what is standby; reserved storage becomes so; all can be put back."""
    guest = guest_with_tools
    vmcp = vmcp_in(guest)
    before = total(guest)
    assert before < 256
    assert vmcp("query virtual storage").text == line("256M", "256M", "256M")
    assert ranges(guest) == [(span(0, 0), "online"), (span(1, 2), "offline")]
    run(guest, CHMEM, "-e", "-z", "Movable", span(1, 1))
    assert ranges(guest) == [(span(0, 1), "online"), (span(2, 2), "offline")]
    assert total(guest) >= before + 240
    assert vmcp("query virtual storage").text == line("512M", "0", "256M")
    # No more than that: what is reserved is nobody's yet.
    assert guest.agent.run([CHMEM, "-e", span(2, 2)], timeout=SECONDS).status != 0
    assert vmcp("query virtual storage").text == line("512M", "0", "256M")
    # As cloud software resizes a guest that runs.
    answer = vmcp("def storage standby 256M")
    assert (answer.rc, answer.text) == (0, line("512M", "256M", "0"))
    run(guest, CHMEM, "-e", "-z", "Movable", span(2, 2))
    shown = run(guest, LSMEM, "-o", "RANGE,SIZE,STATE").splitlines()
    assert [words.split() for words in shown] == [
        ["RANGE", "SIZE", "STATE"],
        [span(0, 2), "768M", "online"],
        [],
        ["Memory", "block", "size:", guest_block(guest)],
        ["Total", "online", "memory:", "768M"],
        ["Total", "offline", "memory:", "0B"],
    ]
    run(guest, CHMEM, "-d", span(2, 2))
    assert ranges(guest) == [(span(0, 1), "online"), (span(2, 2), "offline")]
    assert vmcp("query virtual storage").text == line("512M", "256M", "0")
    guest.put_back()
    assert ranges(guest) == [(span(0, 0), "online"), (span(1, 2), "offline")]
    assert vmcp_in(guest)("query virtual storage").text == line("256M", "256M", "256M")


@pytest.mark.kernel_defect(
    43,
    "storage behind an area that Linux has reserved cannot be given back",
    seen=r"assert 1 == 0",
    kernels=("bookworm",),
)
def test_storage_behind_a_reserved_area_goes(guest_with_tools: Guest) -> None:
    """vmcp's area ends where the guest's first storage does."""
    guest = guest_with_tools
    run(guest, CHMEM, "-e", "-z", "Movable", span(1, 1))
    assert guest.agent.run([CHMEM, "-d", span(1, 1)], timeout=SECONDS).status == 0


LATE = "013E Conflicting option - storage can be defined only before the guest is IPLed"
LARGE = "094E Storage exceeds allowable maximum - 512M is standby or reserved"
ODD = "025E Storage missing or invalid - 100K is no multiple of the increment, 1M"


@pytest.mark.parametrize(
    ("size", "rc", "why"),
    (
        ("512M", 13, LATE),
        ("64M standby 1T", 13, LATE),
        ("standby 513M", 94, LARGE),
        ("standby 512G", 94, LARGE),
        ("standby 100K", 25, ODD),
    ),
)
def test_storage_that_there_cannot_be(
    warm_standby: Guest, vmcp_in: Callable[[Guest], Commands], size: str, rc: int, why: str
) -> None:
    """One sentence; Linux runs on with what it has."""
    vmcp = vmcp_in(warm_standby)
    before = total(warm_standby)
    answer = vmcp(f"def stor {size}")
    assert (answer.rc, answer.text) == (rc, f"HCPDST{why}\n")
    assert vmcp("query virtual storage").text == line("256M", "256M", "256M")
    assert total(warm_standby) == before


@pytest.fixture
def warm_standby(
    request: pytest.FixtureRequest, zvmlab_kernel: str, zvmlab_backend: str, guest_pool: Pool
) -> Iterator[Guest]:
    """A guest with such storage, put back after each test."""
    if zvmlab_backend == "hercules":
        pytest.skip("the port for Hercules refuses standby storage")
    config = GuestConfig(kernel=zvmlab_kernel, storage=STORAGE, segments=())
    with lent(request, guest_pool, config) as guest:
        yield guest


def test_more_standby_storage_than_the_emulator_has(paused_guest: Guest) -> None:
    """Before IPL, where storage is defined; what there was before is there."""
    if paused_guest.config.backend == "hercules":
        pytest.skip("the port for Hercules refuses standby storage")
    answer = paused_guest.cp("DEFINE STORAGE 256M STANDBY 512M RESERVED 256M")
    assert (answer.rc, answer.response) == (
        94,
        "HCPDST094E Storage exceeds allowable maximum - the emulator has no storage for 0.1G\n",
    )
    assert paused_guest.cp("QUERY VIRTUAL STORAGE").response == line("256M", "256M", "256M")


def guest_block(guest: Guest) -> str:
    """The size of a memory block, as lsmem writes it."""
    size = int(guest.agent.read_file(f"{SYS}/block_size_bytes").decode(), 16)
    return f"{size // MIB}M"


def test_storage_that_came_is_used(
    guest_with_tools: Guest, vmcp_in: Callable[[Guest], Commands]
) -> None:
    """Linux has a file's pages there; after a restart it is standby again."""
    guest = guest_with_tools
    run(guest, CHMEM, "-e", span(1, 1))
    guest.agent.write_file("/file", PIECE * (64 * MIB // len(PIECE)), mode=0o600)
    found = 0
    for start in range(BLOCK, 2 * BLOCK, MIB):
        data = decode(guest.control.execute("storage-read", address=start, length=MIB)["data"])
        found += data.count(PIECE)
    assert found > 1000
    guest.reboot()
    assert ranges(guest) == [(span(0, 0), "online"), (span(1, 2), "offline")]
    assert vmcp_in(guest)("query virtual storage").text == line("256M", "256M", "256M")
