# SPDX-License-Identifier: MIT
"""The debug kernel notices mistakes, and the harness notices that it does."""

from __future__ import annotations

import contextlib
import re
import time
from pathlib import Path

import pytest

from zvmlab.base.errors import GuestPanic, ZvmlabError
from zvmlab.builder.modulebuild import built_module
from zvmlab.builder.kernels import resolve
from zvmlab.guest.config import storage_end
from zvmlab.guest.console import Crash, classify
from zvmlab.guest.guest import Guest
from zvmlab.guest.kernelcheck import check_kernel, leaks, lockdep_off

SOURCE = Path(__file__).parent / "mistakes"
MODULE = "/tmp/mistakes.ko"

# In an order in which no report keeps a later one from being made: a wrong order
# of locks turns lockdep off, and what KASAN reports makes it unreliable.
REPORTS = (
    ("rcu", "warning", "WARNING: suspicious RCU usage"),
    ("sleep", "bug", "BUG: sleeping function called from invalid context"),
    ("shift", "ubsan", "UBSAN: shift-out-of-bounds in .*mistakes.c"),
    ("list", "warning", "WARNING: .*__list_add_valid"),
    ("lock-order", "warning", "WARNING: possible circular locking dependency detected"),
    ("out-of-bounds", "bug", r"BUG: KASAN: slab-out-of-bounds in .*\[mistakes\]"),
    ("use-after-free", "bug", r"BUG: KASAN: \S*use-after-free in .*\[mistakes\]"),
    ("stack", "bug", r"BUG: KASAN: stack-out-of-bounds in .*\[mistakes\]"),
)
CONSOLE_SECONDS = 60.0
# CP's answer to QUERY USERID, and the shadow of freed objects and of what is behind one.
ANSWER = len("LINUX001 AT ZVMLAB\n")
ACCESSES = (("cp-use-after-free", r"\[f[ab]\]"), ("cp-out-of-bounds", r"00 \[fc\]"))


@pytest.fixture(scope="session")
def mistakes(zvmlab_kernel: str) -> Path:
    """The module of mistakes, built against the kernel under test as any external module is."""
    return built_module(SOURCE, "mistakes.ko", resolve(zvmlab_kernel))


def make(guest: Guest, module: Path, mistake: str) -> None:
    """Load the module, which makes the mistake."""
    guest.agent.write_file(MODULE, module.read_bytes(), 0o600)
    guest.agent.insmod(MODULE, f"make={mistake}").check()


def first_crash(guest: Guest, start: int) -> Crash:
    """The console's crash message behind that position; it is written with a delay."""
    limit = time.monotonic() + CONSOLE_SECONDS
    while time.monotonic() < limit:
        # The last line may not be complete yet.
        lines = guest.console.text()[start:].split("\n")[:-1]
        found = [crash for crash in map(classify, lines) if crash is not None]
        if found:
            return found[0]
        time.sleep(0.05)
    raise AssertionError(f"the console announces nothing:\n{guest.console.text()[start:]}")


@pytest.mark.zvmlab(crashes=("panic", "oops"), command_line="kasan_multi_shot")
def test_every_kind_of_report_is_a_crash(guest: Guest, mistakes: Path) -> None:
    for mistake, kind, text in REPORTS:
        assert lockdep_off(guest) == ("KASAN" in text)
        before = len(guest.console.text())
        make(guest, mistakes, mistake)
        found = first_crash(guest, before)
        assert found.kind == kind and re.search(text, found.line), found
        # The rest of the report must not be taken for the next one's.
        wait_quiet(guest)
        guest.agent.rmmod("mistakes").check()
    guest.stop()  # or the plugin's own check would find that lockdep is off


def wait_quiet(guest: Guest) -> None:
    """Until the console has shown a mark put into the kernel's log."""
    mark = f"zvmlab mark {guest.agent.log_position()}"
    guest.agent.write_file("/dev/kmsg", f"<3>{mark}\n".encode())
    limit = time.monotonic() + CONSOLE_SECONDS
    while mark not in guest.console.text():
        assert time.monotonic() < limit, f"the console does not show '{mark}'"
        time.sleep(0.05)


def test_report_ends_the_test_that_waits(guest: Guest, mistakes: Path) -> None:
    with pytest.raises(GuestPanic, match="reported a bug .*KASAN: slab-out-of-bounds") as caught:
        make(guest, mistakes, "out-of-bounds")
        guest.console.wait_crash(CONSOLE_SECONDS)
        guest.check()
    assert "mistakes_init" in caught.value.tail
    guest.expect_crash("bug")


def test_task_that_hangs_is_a_crash(guest: Guest, mistakes: Path) -> None:
    guest.agent.write_file("/proc/sys/kernel/hung_task_timeout_secs", b"2")
    make(guest, mistakes, "hang")
    found = guest.expect_crash("hang", seconds=CONSOLE_SECONDS)
    assert "task mistakes:" in found.line


def test_virtual_addresses_are_no_real_ones(guest: Guest, mistakes: Path) -> None:
    """Since Linux 6.12, so that a driver which gives CP the wrong one is seen."""
    make(guest, mistakes, "addresses")
    log = "\n".join(line.text for line in guest.agent.dmesg())
    ((virtual, real),) = re.findall(r"mistakes: virtual (\w+) real (\w+)", log)
    series = series_numbers(guest.agent.read_file("/proc/sys/kernel/osrelease").decode())
    assert (virtual != real) == (series >= (6, 12)), (virtual, real)
    assert int(real, 16) < storage_end(guest.config.storage)


def series_numbers(release: str) -> tuple[int, ...]:
    """6.12.95+deb12-s390x: 6, 12."""
    found = re.match(r"(\d+)\.(\d+)", release)
    assert found is not None
    return tuple(map(int, found.groups()))


def test_leak_is_found_and_named(guest: Guest, mistakes: Path) -> None:
    assert leaks(guest) == "" == leaks(guest)
    check_kernel(guest)
    make(guest, mistakes, "leak")
    report = leaks(guest)
    assert report.startswith("unreferenced object 0x") and "(size 256)" in report
    assert report.count("unreferenced object") == 1
    assert re.search(r" leak\+0x\w+/0x\w+ \[mistakes\]", report)
    with pytest.raises(ZvmlabError, match="has leaked memory; kmemleak says:\nunreferenced"):
        check_kernel(guest)
    guest.stop()  # or the plugin's own check would find it again


@pytest.mark.zvmlab(command_line="slab_debug=-")
def test_leak_is_found_or_nothing_is_said(guest: Guest, mistakes: Path) -> None:
    """Since Linux 7.0, SLUB hides leaked objects from kmemleak unless it is told to check them."""
    make(guest, mistakes, "leak")
    try:
        assert "(size 256)" in leaks(guest)
    except ZvmlabError as error:
        assert "its kmemleak is blind: it does not report memory" in str(error)
    guest.stop()  # as above


@pytest.mark.zvmlab(crashes=("panic", "oops"))
@pytest.mark.parametrize(("mistake", "shadow"), ACCESSES)
def test_access_of_cp_is_reported_with_its_shadow(
    guest: Guest, mistakes: Path, mistake: str, shadow: str
) -> None:
    """The kernel's own KASAN does not see it; and nothing that CP has done before was wrong."""
    make(guest, mistakes, "cp-in-bounds")
    guest.agent.rmmod("mistakes").check()
    guest.control.execute("query-monitor")
    assert guest.control.events("kasan") == []
    make(guest, mistakes, mistake)
    found = guest.control.wait_event("kasan", CONSOLE_SECONDS).data
    assert re.fullmatch(rf"writes {ANSWER} bytes, shadow .*{shadow}.*", found["access"])
    assert found["call"] == "diag.08"


@pytest.mark.parametrize("again", [False, True])
def test_access_of_cp_is_a_crash(guest: Guest, mistakes: Path, again: bool) -> None:
    """Also in a guest that has been put back."""
    if again:
        guest.put_back()
    with contextlib.suppress(GuestPanic):
        make(guest, mistakes, "cp-use-after-free")
    found = guest.expect_crash("kasan-cp", seconds=CONSOLE_SECONDS)
    assert re.match(rf"diag\.08 at real X'[0-9a-f]+' writes {ANSWER} bytes, shadow ", found.line)
    assert "CP was given storage that the guest's kernel has not got" in str(found)
