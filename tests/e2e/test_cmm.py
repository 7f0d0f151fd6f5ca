# SPDX-License-Identifier: MIT
"""cmm: the guest gives pages back to CP, told to by SMSG or by sysctl, and takes them again."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from failing import Failing, thread_named
from memory import settled
from waiting import LIMIT, wait_until
from zvmlab.cp.control import CpResponse, decode
from zvmlab.cp.faults import Fault, armed
from zvmlab.cp.peer import Peer
from zvmlab.cp.tracefmt import read as read_trace
from zvmlab.guest.guest import Guest

if TYPE_CHECKING:
    from conftest import Build

PAGE = 4096
MIB = 1 << 20
DONE = CpResponse("", 0)
MANAGER = "VMRMSVM"
"""From whom the kernel takes orders unless cmm.sender says otherwise."""
NAMES = ("cmm_pages", "cmm_timed_pages", "cmm_timeout")
SECONDS = 30
"""Between two times that pages come back: what is between them is seen also on a busy machine."""


class Cmm:
    """The kernel's counters of pages, and the files to change them."""

    def __init__(self, guest: Guest) -> None:
        self.guest = guest

    def __getitem__(self, name: str) -> str:
        text = self.guest.agent.read_file(f"/proc/sys/vm/cmm_{name}").decode()
        return " ".join(text.split())

    def __setitem__(self, name: str, value: str) -> None:
        fd = self.guest.agent.open(f"/proc/sys/vm/cmm_{name}", os.O_WRONLY).check()
        self.guest.agent.write(fd, f"{value}\n".encode()).check()
        self.guest.agent.close(fd).check()

    def wait(self, name: str, value: str) -> None:
        """Until the kernel's thread has come so far."""
        wait_until(lambda: self[name] == value, f"cmm_{name} becomes {value}", lambda: self[name])

    def let_pass(self, seconds: float) -> None:
        """Let this much of the guest's time pass."""
        batch = self.guest.agent.batch()
        batch.sleep(seconds)
        self.guest.outlast(batch.start(seconds + LIMIT), seconds + LIMIT, jump=seconds)

    def release_all(self) -> None:
        self["pages"] = "0"
        self["timeout"] = "1000000 1"
        self.wait("pages", "0")
        self.wait("timed_pages", "0")
        self["timeout"] = "0 0"


@pytest.fixture
def cmm(warm_guest: Guest) -> Iterator[Cmm]:
    """None of the warm guest's pages is CP's; nor afterwards."""
    found = Cmm(warm_guest)
    assert [found["pages"], found["timed_pages"], found["timeout"]] == ["0", "0", "0 0"]
    yield found
    found.release_all()


@pytest.fixture
def manager(warm_guest: Guest) -> Iterator[Peer]:
    """The user whom the kernel obeys by default."""
    with Peer(warm_guest.control, MANAGER) as peer:
        yield peer


def tell(peer: Peer, text: str) -> None:
    assert peer.cp(f"SMSG LINUX001 {text}") == DONE


@pytest.mark.representative
@pytest.mark.requirement("C1")
def test_shrink_sets_the_number_of_pages(cmm: Cmm, manager: Peer) -> None:
    """Up and down, in decimal, octal and hexadecimal numbers."""
    # CMM gives up where it gets no page; a warm guest with all checks has few that nobody uses.
    for number, pages in (("400", 400), ("0x10", 16), ("010", 8), ("300  ", 300), ("0", 0)):
        tell(manager, f"CMM SHRINK {number}")
        cmm.wait("pages", str(pages))
    assert cmm["timed_pages"] == "0"


@pytest.mark.requirement("C2")
def test_released_pages_come_back_by_the_clock(cmm: Cmm, manager: Peer) -> None:
    """RELEASE adds, REUSE says how many come back in how many seconds."""
    tell(manager, "CMM RELEASE 300")
    cmm.wait("timed_pages", "300")
    tell(manager, "CMM RELEASE 200")
    cmm.wait("timed_pages", "500")
    tell(manager, "CMM SHRINK 20")
    cmm.wait("pages", "20")
    tell(manager, f"CMM REUSE 400 {SECONDS}")
    cmm.wait("timeout", f"400 {SECONDS}")
    # The clock starts when the number of pages next changes, or runs already.
    tell(manager, "CMM RELEASE 0")
    assert cmm["timed_pages"] == "500"
    cmm.let_pass(SECONDS)
    cmm.wait("timed_pages", "100")
    cmm.let_pass(SECONDS)
    cmm.wait("timed_pages", "0")
    assert cmm["pages"] == "20"


@pytest.mark.requirement("C2")
def test_clock_that_is_stopped_brings_nothing_back(cmm: Cmm, manager: Peer) -> None:
    """REUSE with 0 seconds stops the clock that runs; the next REUSE starts it again."""
    tell(manager, "CMM RELEASE 300")
    cmm.wait("timed_pages", "300")
    tell(manager, f"CMM REUSE 100 {SECONDS}")
    cmm.wait("timeout", f"100 {SECONDS}")
    tell(manager, "CMM REUSE 100 0")
    cmm.wait("timeout", "100 0")
    cmm.let_pass(2 * SECONDS)
    assert cmm["timed_pages"] == "300"
    tell(manager, f"CMM REUSE 7 {SECONDS}")
    cmm.wait("timeout", f"7 {SECONDS}")
    cmm.let_pass(SECONDS)
    cmm.wait("timed_pages", "293")


@pytest.mark.requirement("C3")
def test_sysctl_does_the_same(cmm: Cmm) -> None:
    """cmm_pages sets, cmm_timed_pages adds, cmm_timeout has two numbers."""
    cmm["pages"] = "250"
    cmm.wait("pages", "250")
    cmm["timed_pages"] = "30"
    cmm["timed_pages"] = "12"
    cmm.wait("timed_pages", "42")
    cmm["timeout"] = f"40 {SECONDS}"
    assert cmm["timeout"] == f"40 {SECONDS}"
    cmm.let_pass(SECONDS)
    cmm.wait("timed_pages", "2")
    cmm.let_pass(SECONDS)
    cmm.wait("timed_pages", "0")
    cmm["pages"] = "7"
    cmm.wait("pages", "7")


@pytest.mark.requirement("C3")
@pytest.mark.kernel_defect(
    9,
    "the last character of a value is cut off, be it a newline or not",
    seen=r"assert '40 1' == '40 12'",
)
def test_value_may_end_without_a_newline(cmm: Cmm) -> None:
    """A value without a newline is accepted, as `sysctl -w` writes it."""
    fd = cmm.guest.agent.open("/proc/sys/vm/cmm_timeout", os.O_WRONLY).check()
    written = cmm.guest.agent.write(fd, b"40 12")
    cmm.guest.agent.close(fd).check()
    assert written.check() == 5
    assert cmm["timeout"] == "40 12"


@pytest.mark.requirement("C3")
def test_long_value_ends_with_the_kernels_copy(cmm: Cmm) -> None:
    """The kernel copies 64 bytes of a value at most, and looks at none behind them."""
    for blanks in (61, 62, 63, 64, 200):
        cmm["timeout"] = "0 0"
        fd = cmm.guest.agent.open("/proc/sys/vm/cmm_timeout", os.O_WRONLY).check()
        written = cmm.guest.agent.write(fd, b"40" + b" " * blanks)
        cmm.guest.agent.close(fd).check()
        assert written.check() == 2 + blanks
        assert cmm["timeout"] == "40 0"


@pytest.mark.requirement("C4")
@pytest.mark.parametrize(
    "text",
    [
        "CMM",
        "CMMSHRINK 9",
        "CMM SHRINK",
        "CMM SHRINK9",
        "CMM SHRINK x9",
        "CMM SHRINK 9 9",
        "CMM shrink 9",
        "cmm SHRINK 9",
        "CMM RELEASE",
        "CMM RELEASE 9x",
        "CMM REUSE 9",
        "CMM REUSE 9 9 9",
        "CMM GROW 9",
    ],
)
def test_what_is_no_order_is_ignored(cmm: Cmm, manager: Peer, text: str) -> None:
    tell(manager, text)
    tell(manager, "CMM SHRINK 3")
    cmm.wait("pages", "3")
    assert [cmm["timed_pages"], cmm["timeout"]] == ["0", "0 0"]


@pytest.mark.requirement("C5")
def test_nobody_else_is_obeyed(cmm: Cmm, manager: Peer) -> None:
    """Not the operator either, nor a name that begins as the right one does."""
    with (
        Peer(cmm.guest.control, "VMRMSV") as shorter,
        Peer(cmm.guest.control, "VMRMSVM1") as longer,
    ):
        for peer in (shorter, longer):
            tell(peer, "CMM SHRINK 50")
        assert cmm.guest.cp("SMSG LINUX001 CMM SHRINK 60") == DONE
        tell(manager, "CMM RELEASE 1")
        cmm.wait("timed_pages", "1")
    assert cmm["pages"] == "0"


@pytest.mark.requirement("C5")
@pytest.mark.zvmlab(command_line="cmm.sender=keeper")
def test_sender_can_be_chosen(guest: Guest) -> None:
    """The kernel parameter, in lower case as well: then the default one is nobody."""
    cmm = Cmm(guest)
    with Peer(guest.control, "KEEPER") as keeper, Peer(guest.control, MANAGER) as manager:
        tell(manager, "CMM SHRINK 50")
        tell(keeper, "CMM RELEASE 5")
        cmm.wait("timed_pages", "5")
        assert cmm["pages"] == "0"


def resident(guest: Guest) -> int:
    """Bytes of the emulator's memory, wherever the host has put them."""
    status = Path(f"/proc/{guest.emulator.pid}/status").read_text(encoding="ascii")
    found = re.findall(r"^Vm(?:RSS|Swap):\s+(\d+) kB$", status, re.MULTILINE)
    assert len(found) == 2
    return sum(int(kib) << 10 for kib in found)


def released(guest: Guest, since: int) -> list[int]:
    """Addresses of the pages that the guest has released, by CP's trace."""
    pages: list[int] = []
    assert guest.channels.trace is not None
    for record in read_trace(guest.channels.trace):
        if record.call != "diag.10" or record.seq <= since:
            continue
        assert "pgm" not in record.fields
        gr = [int(value, 16) for value in record.fields["gr"]]
        first, last = gr[record.fields["r1"]], gr[record.fields["r3"]]
        pages += range(first, last + 1, PAGE)
    return pages


def last_record(guest: Guest) -> int:
    assert guest.channels.trace is not None
    return max(record.seq for record in read_trace(guest.channels.trace))


def of_meminfo(guest: Guest, name: str) -> int:
    """A line of /proc/meminfo, in bytes."""
    text = guest.agent.read_file("/proc/meminfo").decode()
    return int(text.split(f"{name}:")[1].split()[0]) << 10


def fill(guest: Guest) -> None:
    """Have the guest store into nearly all of its memory that is free, and look at it."""
    mib = of_meminfo(guest, "MemAvailable") * 9 // 10 // MIB
    guest.agent.run(["/tmp/fill", str(mib)], timeout=LIMIT).check()


@pytest.mark.representative
@pytest.mark.requirement("C6", "C7")
@pytest.mark.zvmlab(command_line="init_on_alloc=0 init_on_free=0")
def test_pages_are_gone_and_come_back(guest: Guest, program: Build) -> None:
    """They are zero, no memory of the emulator's stands for them, and they can be used again."""
    cmm = Cmm(guest)
    guest.agent.write_file("/tmp/fill", program("fill").read_bytes(), 0o755)
    fill(guest)
    # A kernel with KASAN has little left.
    pages = min(6000, of_meminfo(guest, "MemAvailable") // PAGE // 3)
    before, since = resident(guest), last_record(guest)
    cmm["pages"] = str(pages)
    cmm.wait("pages", str(pages))
    after = resident(guest)
    found = released(guest, since)
    assert len(set(found)) == len(found) == pages
    for page in found[:: pages // 100]:
        answer = guest.control.execute("storage-read", address=page, length=PAGE)
        assert decode(answer["data"]) == bytes(PAGE)
    # The guest had stored into about every second of them; what else the emulator needs is little.
    assert before - after > pages * PAGE // 4
    cmm["pages"] = "0"
    cmm.wait("pages", "0")
    fill(guest)


@pytest.mark.requirement("C6")
@pytest.mark.zvmlab(command_line="init_on_alloc=0 init_on_free=0")
def test_cp_that_keeps_the_pages_is_no_harm(guest: Guest, program: Build) -> None:
    """It loses the call: then the pages have what they had, and the kernel counts them."""
    cmm = Cmm(guest)
    guest.agent.write_file("/tmp/fill", program("fill").read_bytes(), 0o755)
    fill(guest)
    before = last_record(guest)
    with armed(guest.control, Fault("diag10.release", "drop")) as rules:
        cmm["pages"] = "2000"
        cmm.wait("pages", "2000")
    assert rules[0].fired == 2000
    kept = 0
    for page in released(guest, before)[::20]:
        answer = guest.control.execute("storage-read", address=page, length=PAGE)
        kept += decode(answer["data"]) != bytes(PAGE)
    # The guest had stored into about every second of them.
    assert kept > 10
    cmm["pages"] = "0"
    cmm.wait("pages", "0")
    fill(guest)


@pytest.mark.requirement("C8")
def test_release_that_cp_refuses_is_no_harm(cmm: Cmm) -> None:
    """A program interruption at each DIAGNOSE X'10': the pages are taken all the same."""
    with armed(cmm.guest.control, Fault("diag10.release", "pgm", 6)) as rules:
        cmm["pages"] = "100"
        cmm.wait("pages", "100")
    assert rules[0].fired == 100
    cmm["pages"] = "0"
    cmm.wait("pages", "0")


@pytest.mark.requirement("C7")
@pytest.mark.timeout(600)
def test_pages_that_come_and_go_leave_nothing(cmm: Cmm) -> None:
    """Two hundred rounds: the number of free pages is as before, up to the kernel's own use."""

    def free() -> int:
        return settled(cmm.guest).kib["MemFree"] * 1024 // PAGE

    cmm["pages"] = "500"
    cmm.wait("pages", "500")
    cmm["pages"] = "0"
    cmm.wait("pages", "0")
    before = free()
    for _ in range(200):
        cmm["pages"] = "100"
        cmm.wait("pages", "100")
        cmm["pages"] = "0"
        cmm.wait("pages", "0")
    assert abs(free() - before) < 2000


@pytest.mark.requirement("C9")
@pytest.mark.zvmlab
def test_guest_without_memory_takes_pages_back(guest: Guest) -> None:
    """256 in all: those that would come back by the clock, then others."""
    cmm = Cmm(guest)
    cmm["pages"] = "300"
    cmm.wait("pages", "300")
    cmm["timed_pages"] = "100"
    cmm.wait("timed_pages", "100")
    # As if an allocation had failed; there is nobody else who could be killed.
    guest.agent.write_file("/proc/self/oom_score_adj", b"-1000")
    guest.agent.write_file("/proc/sysrq-trigger", b"f")
    cmm.wait("pages", str(300 - (256 - 100)))
    assert cmm["timed_pages"] == "0"
    cmm.release_all()


@pytest.mark.requirement("C3")
def test_value_can_be_read_in_parts(cmm: Cmm) -> None:
    """A read returns as much of the text as is asked for."""
    cmm["timeout"] = "12345 67"
    agent = cmm.guest.agent
    fd = agent.open("/proc/sys/vm/cmm_timeout").check()
    assert agent.read(fd, 3).data == b"123"
    agent.close(fd).check()
    assert cmm["timeout"] == "12345 67"


@pytest.mark.requirement("C10")
@pytest.mark.parametrize("name", ["pages", "timed_pages"])
def test_target_is_what_there_is_memory_for(warm_guest: Guest, cmm: Cmm, name: str) -> None:
    """If there is no page, or none for the list of pages, the thread is content with fewer."""
    thread = thread_named(warm_guest, "cmmthread")
    failing = Failing(warm_guest)
    for number in (1, 2):
        failing.thread(thread, number)
        cmm[name] = "100"
        wait_until(lambda: failing.has_failed(thread), "an allocation that fails")
        assert cmm[name] == "0"
    cmm[name] = "100"
    cmm.wait(name, "100")
