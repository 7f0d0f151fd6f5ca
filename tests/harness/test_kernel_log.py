# SPDX-License-Identifier: MIT
"""What a guest's kernel has logged, and what of it is lost."""

from __future__ import annotations

import pytest

from zvmlab.agent.results import LogLine, Settled
from zvmlab.base.errors import ZvmlabError
from zvmlab.guest.console import CRASHES
from zvmlab.guest.kernel_log import KernelLog

WARNING = "WARNING: CPU: 0 PID: 77 at x.c:1"


def settled(*texts: str, first: int = 0, lost: int = 0, taints: int = 0) -> Settled:
    """These lines, from number *first* on."""
    lines = [LogLine(number, 4, 1.5, text) for number, text in enumerate(texts, first)]
    return Settled(0, taints, 0, 0, first + len(lines), lost, False, lines)


def test_the_first_line_of_each_kind_counts_once() -> None:
    log = KernelLog(7)
    log.take(settled("fine", WARNING, "WARNING: two", "BUG: three", first=7))
    assert log.position == 11
    assert [(crash.kind, crash.line) for crash in log.crashes(CRASHES)] == [
        ("warning", f"[    1.500000] {WARNING}"),
        ("bug", "[    1.500000] BUG: three"),
    ]
    assert not list(log.crashes(CRASHES))


@pytest.mark.parametrize(
    ("taints", "kinds"),
    [
        (0, []),
        # Modules that are not Linux' own, not signed, proprietary; firmware to work around.
        (1 << 12 | 1 << 13 | 1 << 0 | 1 << 11, []),
        (1 << 9, ["warning"]),
        (1 << 7 | 1 << 9, ["oops", "warning"]),
        (1 << 5, ["bug"]),
        (1 << 14, ["lockup"]),
    ],
)
def test_a_kernel_remembers_what_its_log_has_lost(taints: int, kinds: list[str]) -> None:
    log = KernelLog()
    log.take(settled("fine", first=500, lost=500, taints=taints))
    found = list(log.crashes(CRASHES))
    assert [crash.kind for crash in found] == kinds
    assert all("its line is lost, but the kernel is tainted: " in crash.line for crash in found)
    assert not list(log.crashes([kind for kind in CRASHES if kind not in kinds]))


def test_warnings_are_told_once() -> None:
    log = KernelLog()
    log.take(settled("one"))
    info = settled("two", first=1)
    info.lines[0] = info.lines[0]._replace(priority=6)
    log.take(info)
    assert log.warnings() == ["one"] and not log.warnings()
    log.take(settled(*map(str, range(1000)), first=2))
    assert log.warnings() == [str(number) for number in range(100)]


def test_a_line_says_more_than_a_taint() -> None:
    log = KernelLog()
    log.take(settled(WARNING, taints=1 << 9))
    assert [crash.line for crash in log.crashes(CRASHES)] == [f"[    1.500000] {WARNING}"]


def test_records_that_nobody_has_read_are_an_error_once() -> None:
    log = KernelLog()
    log.check()
    log.take(settled("a", first=10, lost=10))
    log.take(settled("b", first=20, lost=9))
    with pytest.raises(ZvmlabError, match="holds: 19 records were overwritten .* log_buf_len=4M"):
        log.check()
    log.check()
