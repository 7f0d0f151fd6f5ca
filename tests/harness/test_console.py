# SPDX-License-Identifier: MIT
"""Crashes on the console are noticed at once; nothing else is taken for one."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from zvmlab.base.errors import GuestPanic, Timeout, UsageError, ZvmlabError
from zvmlab.base.limit import FairLimit
from zvmlab.guest import console as console_module
from zvmlab.guest.console import Console, Crash, classify, innermost


SECONDS = 60


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("[    3.141593] Kernel panic - not syncing: VFS: Unable to mount root fs", "panic"),
        ("Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000009", "panic"),
        ("[   12.000001] illegal operation: 0001 ilc:1 [#1] SMP ", "oops"),
        ("[   12.000001] monitor event: 0040 ilc:2 [#12] SMP ", "oops"),
        ("[    1.5] Unable to handle kernel pointer dereference in virtual kernel addr", "oops"),
        ("[    2.000000] Kernel stack overflow.", "oops"),
        ("[    2.000000][   T1] kernel BUG at net/iucv/iucv.c:1234!", "bug"),
        ("[    2.000000] BUG: sleeping function called from invalid context", "bug"),
        ("[    9.123456] WARNING: CPU: 0 PID: 77 at drivers/s390/char/monreader.c:99", "warning"),
        ("[    9.123456] WARNING: lib/list.c:12 at foo+0x1/0x2, CPU#0: insmod/77", "warning"),
        ("[    9.123456] WARNING: possible circular locking dependency detected", "warning"),
        ("[   13.946910] WARNING: suspicious RCU usage", "warning"),
        ("[   13.946910] WARNING: inconsistent lock state", "warning"),
        ("[   13.946910] [ BUG: Invalid wait context ]", "bug"),
        ("[   13.946910] INFO: trying to register non-static key.", "bug"),
        ("[    7.000001] BUG: KASAN: use-after-free in mon_read+0x1a4/0x3c0 [monreader]", "bug"),
        ("[    7.000001] BUG kmalloc-64 (Tainted: G    B     O     ): Poison overwritten", "bug"),
        ("[    7.000001] UBSAN: shift-out-of-bounds in drivers/s390/char/x.c:60:18", "ubsan"),
        ("[   99.000001] INFO: task reader:77 blocked for more than 60 seconds.", "hang"),
        ("[   99.000001] INFO: lockdep is turned off.", None),
        ("[    1.0] sysfs: cannot create duplicate filename '/kernel/crash'", "warning"),
        ("[    1.0] debugfs: Directory 'a' with parent '/' already present!", "warning"),
        ("[    1.0] debugfs: File 'a' in directory 'b' already present!", "warning"),
        ("[    1.0] debugfs: 'a' already exists in 'b'", "warning"),
        ("[    1.0] cat: page allocation failure: order:8, mode:0x40cc0(GFP_KERNEL)", None),
        ("[    1.0] CPU: 0 PID: 77 Comm: insmod Tainted: G           O       6.1.0", None),
        # A program has not ended its line.
        ("50 % done [    9.123456] WARNING: CPU: 0 PID: 77 at x.c:1", "warning"),
        ("50 % done [    9.123456][   T77] BUG: Bad page state in process cat", "bug"),
        ("[   99.000001] DEBUG: BUG: is not at the beginning", None),
        ("UBSAN: printed by a program", None),
        ("WARNING: this program is old", None),
        ("[    1.000000] random: crng init done", None),
        ("[    1.000000] watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [cat:77]", "lockup"),
        ("[    1.000000] watchdog: CPU3: Watchdog detected hard LOCKUP on cpu 3", "lockup"),
        ("[    1.000000] watchdog: Delayed init of the lockup detector failed: -12", None),
        ("[   99.000001] rcu: INFO: rcu_sched self-detected stall on CPU", "stall"),
        ("[   99.000001] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:", "stall"),
        (
            "[   99.000001] rcu: INFO: rcu_sched detected expedited stalls on CPUs: { 1-... }",
            "stall",
        ),
        ("[   99.000001] INFO: rcu_tasks detected stalls on tasks:", "stall"),
        ("[   99.000001] rcu: rcu_sched kthread starved for 5250 jiffies! g-1199 f0x0", "stall"),
        ("[    0.000000] rcu: RCU calculated value of scheduler-enlistment delay is 10", None),
        ("illegal operation: 0001 ilc:1 [#1]", None),
        ("", None),
    ],
)
def test_classify(line: str, kind: str | None) -> None:
    found = classify(line)
    assert (found and found.kind) == kind


def test_classify_only_what_is_asked_for() -> None:
    line = "[    9.123456] WARNING: CPU: 0 PID: 77 at x.c:1"
    assert classify(line, ("panic", "oops")) is None


def _trace(*names: str) -> str:
    lines = [
        f"[    5.1{at:05}]  [<000000000102{at:04x}>] {name}+0x10/0x20"
        for at, name in enumerate(names)
    ]
    return "Call Trace:\n" + "\n".join(lines)


def test_innermost_functions() -> None:
    """At most eight, and nothing of what an interruption has interrupted: on an idle CPU another stack is used."""
    handler = ("iucv_external_interrupt", "do_ext_interrupt", "handle_irq_desc")
    idle = _trace(*handler, "do_irq_async", "do_ext_irq", "ext_int_handler", "arch_cpu_idle")
    busy = _trace(*handler, "do_ext_irq", "ext_int_handler", "mon_open")
    assert innermost(idle) == innermost(busy) == " < ".join(handler)
    assert innermost(_trace("do_io_irq", "io_int_handler")) == "do_io_irq < io_int_handler"
    many = tuple(f"f{number}" for number in range(10))
    assert innermost(_trace(*many)) == " < ".join(many[:8])
    assert innermost("nothing") == ""
    # Two reports that only the allocator, or KASAN, has in common are not the same.
    reports = ("dump_stack_lvl", "print_report", "kasan_report")
    assert (
        innermost(_trace(*reports, "hvc_iucv_get_chars", "khvcd")) == "hvc_iucv_get_chars < khvcd"
    )
    allocates = ("__alloc_pages_noprof", "___kmalloc_large_node", "__kmalloc_large_node_noprof")
    assert innermost(_trace(*allocates, "mon_open")) == "mon_open"
    assert innermost(_trace("dump_stack_lvl", "panic")) == "dump_stack_lvl < panic"


def test_unknown_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match="unknown kind of crash: 'nosuch'.*panic, oops, bug, warning"
    ):
        Console(tmp_path / "console.log", ["nosuch"])


@pytest.fixture
def console(tmp_path: Path) -> Iterator[Console]:
    watched = Console(tmp_path / "console.log")
    watched.start()
    yield watched
    watched.stop()


def _append(console: Console, text: str) -> None:
    with open(console.path, "a", encoding="ascii") as log:
        log.write(text)


def test_panic_is_noticed_with_its_tail(console: Console) -> None:
    _append(console, "[    0.1] booting\r\n[    5.0] Kernel panic - not sync")
    assert console.wait_crash(0.2) is None
    _append(console, "ing: test\r\n[    5.1] CPU: 0 PID: 1 Comm: init\r\n")
    found = console.wait_crash(SECONDS)
    assert found is not None and found.kind == "panic"
    with pytest.raises(GuestPanic, match="reported a panic .*not syncing: test") as caught:
        console.check()
    assert caught.value.exit_code == 255
    assert caught.value.tail.splitlines() == [
        "[    0.1] booting",
        "[    5.0] Kernel panic - not syncing: test",
        "[    5.1] CPU: 0 PID: 1 Comm: init",
    ]


def test_a_last_line_that_has_no_end_counts(tmp_path: Path) -> None:
    """The emulator was killed, or the disk was full."""
    console = Console(tmp_path / "console.log")
    console.start()
    _append(console, "[    1.0] WARNING: CPU: 0 PID: 1 at x.c:1")
    console.catch_up(SECONDS)
    assert console.crash is None  # the rest may come
    console.stop()
    assert console.crash is not None and console.crash.kind == "warning"


def test_logs_that_cannot_be_read_are_no_sign_of_health(tmp_path: Path) -> None:
    console = Console(tmp_path / "folder")
    console.path.mkdir()
    console.start()
    console.catch_up(SECONDS)
    with pytest.raises(
        ZvmlabError, match="the console is no longer checked for crashes: .*Is a directory"
    ):
        console.check()
    console.stop()


def test_what_was_not_read_in_time_is_a_timeout(console: Console) -> None:
    """As when nobody lets the console's thread run."""
    told, let_go = threading.Event(), threading.Event()

    def listener() -> None:
        told.set()
        let_go.wait(SECONDS)

    console.on_crash = listener
    _append(console, "[    1.0] BUG: one\n")
    assert told.wait(SECONDS)
    # This one is expected, so the thread is merely late.
    console._expected.add("bug")
    for late in (console.catch_up, console.finish):
        with pytest.raises(Timeout, match="the console was not read to its end within 0.1 s"):
            late(0.1)
    let_go.set()


def test_every_wait_is_told(console: Console) -> None:
    waits: list[bool] = []
    console.on_crash = lambda: waits.append(True)
    _append(console, "[    1.0] BUG: one\n[    1.1] BUG: two\n")
    assert console.wait_crash(SECONDS) is not None
    console.stop()
    assert waits == [True]


def test_quiet_console_raises_nothing(console: Console) -> None:
    _append(console, "[    1.0] all is well\n")
    assert console.wait_crash(0.3) is None
    console.check()


def test_last_words_before_the_end_count(tmp_path: Path) -> None:
    console = Console(tmp_path / "console.log")
    console.start()
    _append(console, "[    1.0] Kernel panic - not syncing: late\n")
    console.stop()
    with pytest.raises(GuestPanic):
        console.check()


def test_finish_knows_all_that_was_printed(console: Console) -> None:
    _append(console, "[    1.0] Kernel panic - not syncing: at once\n[    1.1] the rest\n")
    console.finish(SECONDS)
    assert console.crash is not None
    assert console.tail().endswith("the rest")


def test_finish_waits_for_nobody_who_is_being_told(console: Console) -> None:
    told, let_go = threading.Event(), threading.Event()

    def listener() -> None:
        told.set()
        let_go.wait(SECONDS)

    console.on_crash = listener
    _append(console, "[    1.0] BUG: one\n")
    assert told.wait(SECONDS)
    console.finish(SECONDS)
    assert console.crash is not None and not let_go.is_set()
    let_go.set()


WAIT = "HHCCP011I CPU0001: Disabled wait state\n          PSW=00020001 80000000 {address}\n"


@pytest.fixture
def with_log(tmp_path: Path) -> Iterator[Console]:
    """A console beside an emulator's log."""
    watched = Console(tmp_path / "console.log", emulator_log=tmp_path / "emulator.log")
    watched.start()
    yield watched
    watched.stop()


def _emulator_says(console: Console, text: str) -> None:
    with open(console.path.parent / "emulator.log", "a", encoding="ascii") as log:
        log.write(text)


QEMU_WAIT = (
    "qemu-system-s390x: zvmlab-cp: CPU0001: Disabled wait state"
    " PSW=0002000180000000 000000000000DEAD\n"
)


@pytest.mark.parametrize("said", [WAIT.format(address="000000000000DEAD"), QEMU_WAIT])
def test_disabled_wait_in_an_emulators_log_is_a_crash_with_its_psw(
    with_log: Console, said: str
) -> None:
    _emulator_says(with_log, said[:60])  # the PSW comes a moment later
    with_log.catch_up(SECONDS)
    assert with_log.crash is None
    _emulator_says(with_log, said[60:])
    with pytest.raises(GuestPanic) as caught:
        with_log.wait_crash(SECONDS)
        with_log.check()
    psw = "00020001 80000000 00000000 0000DEAD"
    assert str(caught.value) == f"the guest is in a disabled wait (CPU 1, PSW {psw})"


def test_guest_that_was_told_to_end_is_in_no_disabled_wait(with_log: Console) -> None:
    _emulator_says(with_log, WAIT.format(address="0000000000000FFF"))
    with_log.catch_up(SECONDS)
    with_log.stop()
    assert with_log.crash is None


def test_panic_is_named_before_the_wait_that_it_ends_in(tmp_path: Path) -> None:
    console = Console(tmp_path / "console.log", emulator_log=tmp_path / "emulator.log")
    _append(console, "[    1.0] Kernel panic - not syncing: cause\n")
    _emulator_says(console, WAIT.format(address="000000000000DEAD"))
    console.start()
    console.stop()
    assert console.crash is not None and console.crash.kind == "panic"
    # Whoever has expected the panic has expected how it ends.
    console.expect(["panic"], 0)
    assert console.crash is None


def test_guest_cannot_say_what_the_emulator_says(with_log: Console) -> None:
    _append(with_log, WAIT.format(address="000000000000DEAD"))
    with_log.catch_up(SECONDS)
    with_log.stop()
    assert with_log.crash is None


def test_catch_up_has_seen_what_was_there(console: Console) -> None:
    for number in range(20):
        _append(console, f"[    {number}.0] all is well\n")
        console.catch_up(SECONDS)
        assert console.crash is None
    _append(console, "[   21.0] WARNING: the last line\n")
    console.catch_up(SECONDS)
    assert console.crash is not None


@pytest.mark.parametrize(
    "end", ["---[ end trace 0000000000000000 ]---", "---[ end Kernel panic - not syncing: x ]---"]
)
def test_a_report_that_has_ended_is_known_at_once(
    console: Console, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    monkeypatch.setattr(console_module, "SETTLE_SECONDS", 100 * SECONDS)
    # The first one's end is not the second one's.
    _append(console, f"[    1.0] BUG: one\n[    1.1] {end}\n")
    console.expect(["bug"], SECONDS)
    _append(console, "[    2.0] WARNING: two\n")
    assert not console.wait_kind("warning", 0.2)
    _append(console, f"[    2.1] {end}\n")
    assert console.wait_kind("warning", SECONDS)


@pytest.mark.parametrize(
    ("line", "more", "lines", "looks"),
    [
        ("BUG: one", "more", 5, 7),
        ("BUG: one", "more", 1000, 34),
        # An oops says when it has ended, unless it becomes a panic.
        ("specification exception: 0006 ilc:2 [#1] SMP", "more", 5, 34),
        ("specification exception: 0006 ilc:2 [#1] SMP", "Kernel panic - not syncing: x", 5, 7),
    ],
)
def test_a_report_that_goes_on_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, more: str, lines: int, looks: int
) -> None:
    """0.3 s pass between two looks: it has ended when two find nothing new, or after 10 s."""
    clock = SimpleNamespace(monotonic=map((0.3).__mul__, itertools.count()).__next__)
    monkeypatch.setattr(console_module, "time", clock)
    console = Console(tmp_path / "console.log")
    found = classify(f"[    1.0] {line}") or Crash("", "")
    assert found.kind
    console.path.write_text(f"{found.line}\n")
    seen: list[int] = []

    def peek(offset: int) -> bytes:
        seen.append(offset)
        return f"{more}\n".encode() if len(seen) <= lines else b""

    monkeypatch.setattr(console._logs[0], "peek", peek)
    console._settle(found)
    assert len(seen) == looks
    assert seen == [min(at, lines) * len(f"{more}\n") for at in range(looks)]


def test_log_that_grows_without_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its middle is cut out, and says so; what was cut out has been looked at."""
    monkeypatch.setattr(console_module, "LOG_MAX", 1 << 20)
    monkeypatch.setattr(console_module, "LOG_KEPT", 1 << 19)
    console = Console(tmp_path / "console.log")
    part = b"x" * 1023 + b"\n"
    # Its writer appends, as the emulators do.
    with open(console.path, "ab", buffering=0) as log:
        log.write(b"the beginning\n" + part * 1023)
        console.start()
        console.catch_up(SECONDS)
        assert console.path.stat().st_size == 1023 * 1024 + 14
        log.write(b"[    1.0] WARNING: in the middle\n" + part)
        assert console.wait_kind("warning", SECONDS)
        limit = time.monotonic() + SECONDS
        while console.path.stat().st_size > 1 << 20:
            assert time.monotonic() < limit, "it was not cut"
            time.sleep(0.01)
        log.write(b"the end\n")
    console.stop()
    size = 1024 * 1024 + 14 + 33
    said = f"[zvmlab: {size - (1 << 19)} bytes of the console are cut out here; its log has at most"
    text = console.text()
    assert text.startswith("the beginning\n") and text.endswith("the end\n")
    assert said in text and len(text) < (1 << 19) + 200


def test_a_crash_is_expected_for_as_long_as_there_is_no_cpu(console: Console) -> None:
    begun = time.monotonic()
    with pytest.raises(ZvmlabError, match="^no bug came within 0.05 s$"):
        console.expect(["bug"], 0.05, lambda seconds: FairLimit(seconds, time.monotonic))
    assert time.monotonic() - begun >= 0.05 * FairLimit.LONGEST


def test_expected_crash_does_not_count_but_another_one_does(console: Console) -> None:
    _append(console, "[    1.0] WARNING: wanted\n")
    found = console.expect(["warning", "bug"], SECONDS)
    assert (found.kind, found.line) == ("warning", "[    1.0] WARNING: wanted")
    _append(console, "[    2.0] WARNING: once more\n[    2.1] BUG: of that kind, too\n")
    console.catch_up(SECONDS)
    console.check()
    _append(console, "[    3.0] Kernel panic - not syncing: not wanted\n")
    assert console.wait_crash(SECONDS) is not None
    with pytest.raises(GuestPanic, match="reported a panic .*not wanted"):
        console.check()


def test_expected_crash_has_been_told_to_whoever_waits(console: Console) -> None:
    """What is asked of the guest afterwards must not be ended by it."""
    told, let_go = threading.Event(), threading.Event()

    def listener() -> None:
        told.set()
        let_go.wait(SECONDS)

    console.on_crash = listener
    found: list[str] = []
    expects = threading.Thread(target=lambda: found.append(console.expect(["bug"], SECONDS).kind))
    expects.start()
    _append(console, "[    1.0] BUG: one\n")
    assert told.wait(SECONDS)
    expects.join(0.3)
    assert not found
    let_go.set()
    expects.join(SECONDS)
    assert found == ["bug"]


def test_expected_crash_that_does_not_come(console: Console) -> None:
    with pytest.raises(ZvmlabError, match=r"^no oops or panic came within 0.1 s$"):
        console.expect(["panic", "oops"], 0.1)
    _append(console, "[    1.0] WARNING: another\n")
    assert console.wait_crash(SECONDS) is not None
    with pytest.raises(ZvmlabError, match="within 0.1 s; instead the guest's kernel reported a wa"):
        console.expect(["panic"], 0.1)
    with pytest.raises(GuestPanic):
        console.check()


def test_crash_that_nobody_looks_for_cannot_be_expected(tmp_path: Path) -> None:
    console = Console(tmp_path / "console.log", ["panic"])
    with pytest.raises(UsageError, match="not checked for crashes of kind 'bug'"):
        console.expect(["panic", "bug"], 0)
