# SPDX-License-Identifier: MIT
"""Accidents on the console are noticed at once; nothing else is taken for one."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from zvmlab.console import Console, classify
from zvmlab.errors import GuestPanic, UsageError


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
        ("[   99.000001] DEBUG: BUG: is not at the beginning", None),
        ("UBSAN: printed by a program", None),
        ("WARNING: this program is old", None),
        ("[    1.000000] random: crng init done", None),
        ("[    1.000000] watchdog: BUG: soft lockup - CPU#0 stuck for 22s!", None),
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


def test_unknown_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'nosuch' is not an accident.*panic, oops, bug, warning"):
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


def test_panic_is_noticed_within_two_seconds_with_its_tail(console: Console) -> None:
    _append(console, "[    0.1] booting\r\n[    5.0] Kernel panic - not sync")
    assert console.wait_accident(0.2) is None
    started = time.monotonic()
    _append(console, "ing: test\r\n[    5.1] CPU: 0 PID: 1 Comm: init\r\n")
    found = console.wait_accident(2.0)
    assert time.monotonic() - started < 2.0
    assert found is not None and found.kind == "panic"
    with pytest.raises(GuestPanic, match="reported a panic .*not syncing: test") as caught:
        console.check()
    assert caught.value.exit_code == 255
    assert caught.value.tail.splitlines() == [
        "[    0.1] booting",
        "[    5.0] Kernel panic - not syncing: test",
        "[    5.1] CPU: 0 PID: 1 Comm: init",
    ]


def test_every_wait_is_told(console: Console) -> None:
    told: list[bool] = []
    console.on_accident = lambda: told.append(True)
    _append(console, "[    1.0] BUG: one\n[    1.1] BUG: two\n")
    assert console.wait_accident(2.0) is not None
    console.stop()
    assert told == [True]


def test_quiet_console_raises_nothing(console: Console) -> None:
    _append(console, "[    1.0] all is well\n")
    assert console.wait_accident(0.3) is None
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
    started = time.monotonic()
    console.finish(5)
    assert time.monotonic() - started < 1
    assert console.accident is not None
    assert console.tail().endswith("the rest")


def test_finish_waits_for_nobody_who_is_being_told(console: Console) -> None:
    told, let_go = threading.Event(), threading.Event()

    def listener() -> None:
        told.set()
        let_go.wait(10)

    console.on_accident = listener
    _append(console, "[    1.0] BUG: one\n")
    assert told.wait(5)
    console.finish(5)
    assert console.accident is not None and not let_go.is_set()
    let_go.set()
