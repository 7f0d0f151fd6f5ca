# SPDX-License-Identifier: MIT
"""The beginning of a failed test's report: the cause, the test's own lines, paths of logs.

pytest prints the source of every function between the test and the failure, 300 lines of the
harness for a panic.  Here the harness' functions are left out (--full-trace shows them), and
the report begins with

    panic: Kernel panic - not syncing: sysrq triggered crash
      in: sysrq_handle_crash < __handle_sysrq < write_sysrq_trigger
      test_mine.py:12 in test_it: guest.agent.run(["/bin/true"])
      logs: .../pytest-0/test_it0

Mistakes of the harness itself, exceptions that are not among its own, keep their functions.
"""

from __future__ import annotations

import linecache
import re
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from _pytest._code.code import (  # pytest has no public names for what it reports
    ExceptionChainRepr,
    ReprEntryNative,
    ReprFileLocation,
    ReprTraceback,
)

from zvmlab.base.errors import ZvmlabError
from zvmlab.base.plain import harmless
from zvmlab.guest.console import Crash, innermost
from zvmlab.guest.guest import Guest

_HARNESS = __name__.split(".", maxsplit=1)[0]
_RUNNERS = ("_pytest", "pytest", "pluggy", "xdist")
# What the harness raises with a text that says all; AssertionError: its comparisons.
_TELLING = (ZvmlabError, OSError, AssertionError, pytest.fail.Exception)
_STYLES = ("auto", "long", "short")
_LINES = 4
_STAMP = re.compile(r"^\[ *\d+\.\d+\](?:\[[^\]]*\])? +")


class _Frame:
    """One function on the way to the failure."""

    def __init__(self, frame: FrameType, line: int) -> None:
        self.names: dict[str, Any] = frame.f_globals
        package = str(self.names.get("__name__", "")).split(".")[0]
        self.harness = package == _HARNESS
        self.own = not self.harness and package not in _RUNNERS
        self._code = frame.f_code
        self._line = line

    def __str__(self) -> str:
        file, function = self._code.co_filename, self._code.co_name
        source = linecache.getline(file, self._line).strip()
        return f"{Path(file).name}:{self._line} in {function}: {source}"


def _frames(error: BaseException) -> list[_Frame]:
    """The frames that are not hidden."""
    walk = traceback.walk_tb(error.__traceback__)
    return [_Frame(frame, at) for frame, at in walk if "__tracebackhide__" not in frame.f_locals]


def _cause(error: BaseException) -> BaseException | None:
    return error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _hides(config: pytest.Config, error: BaseException) -> bool:
    """Are the harness' functions of no interest?"""
    frames = _frames(error)
    if config.getoption("fulltrace", False) or not frames:
        return False
    return isinstance(error, _TELLING) or not frames[-1].harness


def hide_harness(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Before pytest makes its report: leave the harness' functions out, or none."""
    if call.excinfo is None:
        return
    error: BaseException | None = call.excinfo.value
    hide = _hides(item.config, call.excinfo.value)
    while error is not None:
        for frame in _frames(error):
            if frame.harness:
                frame.names["__tracebackhide__"] = hide
        cause = _cause(error)
        if hide and cause is not None and not any(frame.own for frame in _frames(cause)):
            # Only the harness has seen it; the text of what it raised then says what it was.
            error.__cause__, error.__suppress_context__ = None, True
            return
        error = cause


def put_cause_first(
    item: pytest.Item,
    call: pytest.CallInfo[None],
    report: pytest.TestReport,
    guests: Sequence[Guest],
) -> None:
    """After that: begin the report of a failure with what matters."""
    excinfo = call.excinfo
    if excinfo is None or item.config.getoption("tbstyle", "auto") not in _STYLES:
        return
    frames = _frames(excinfo.value)
    if not guests and not any(frame.harness for frame in frames):
        return
    head = [*_what(excinfo, guests)]
    head += [f"  {frame}" for frame in [frame for frame in frames if frame.own][-_LINES:]]
    if call.when == "call" and not any(frame.own for frame in frames):
        head.append("  noticed after the test's last line")
    head += [f"  logs: {guest.logs}" for guest in guests]
    entry = ReprEntryNative([f"{harmless(line, lines=False)}\n" for line in head])
    told = report.longrepr
    if isinstance(told, ExceptionChainRepr) and any(frame.own for frame in frames):
        first = told.chain[0][0]
        first.reprentries = [entry, *first.reprentries]
    elif _hides(item.config, excinfo.value):
        # None of it is the test's own: the text, all of it, is what there is to say.
        rest = str(excinfo.value).partition("\n")[2]
        said = [rest] if rest and not any(guest.console.crash for guest in guests) else []
        said += getattr(excinfo.value, "__notes__", [])
        entry.lines = [*entry.lines, *(f"{harmless(text)}\n" for text in said)]
        path, line, _ = item.location
        place = ReprFileLocation(path, (line or 0) + 1, excinfo.exconly())
        report.longrepr = ExceptionChainRepr(
            [(ReprTraceback([entry], None, "native"), place, None)]
        )


def _what(excinfo: pytest.ExceptionInfo[BaseException], guests: Sequence[Guest]) -> Iterator[str]:
    """The crash that a guest has had, with the kernel's own words; else the exception."""
    for guest in guests:
        crash = guest.console.crash
        if crash is not None:
            yield from _crash(guest, crash)
            return
    text = str(excinfo.value).splitlines() or [""]
    yield f"{type(excinfo.value).__name__}: {text[0]}"


def _crash(guest: Guest, crash: Crash) -> Iterator[str]:
    yield f"{crash.kind}: {_STAMP.sub('', crash.line)}"
    functions = innermost(guest.console.text())
    if functions:
        yield f"  in: {functions}"
