# SPDX-License-Identifier: MIT
"""The file of zvmlab run --blocks: what was covered is in it, whatever ends the run or the search for lines."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import cast

import pytest

from zvmlab.base.errors import GuestPanic, UsageError
from zvmlab.base.progress import Progress
from zvmlab.builder.object_lines import Line
from zvmlab.cli.guest import _blocks
from zvmlab.guest.cover import Block, SourceLines
from zvmlab.guest.guest import Guest

OPEN, CLOSE = Block(0x1010, "mon_open", 0x10, "monreader"), Block(0x2000, "mon_close", 0, None)
LINES: dict[Block, tuple[Line, ...]] = {OPEN: (Line("drivers/a.c", 7), Line("include/b.h", 3))}
PLAIN = "mon_open+0x10 [monreader]\nmon_close+0x0\n"
WITH_LINES = "mon_open+0x10 [monreader]  drivers/a.c:7 > include/b.h:3\nmon_close+0x0\n"


class _Guest:
    """One that has executed two blocks; it is its own cover."""

    lost = 0

    def __init__(self, error: BaseException | None) -> None:
        self._error = error
        self.asked = 0

    def cover(self, *names: str) -> _Guest:
        assert names == ("modules",)
        return self

    def blocks(self) -> list[Block]:
        return [OPEN, CLOSE]

    def lines(self, blocks: Iterable[Block], progress: Progress) -> SourceLines:
        self.asked += 1
        if self._error is not None:
            raise self._error
        return SourceLines(LINES, ["there are no lines of a.o: it is lost"])


def covered(file: Path, guest: _Guest, ending: BaseException | None = None) -> str:
    """What is in the file after a run that ends so."""
    with file.open("w", encoding="ascii") as opened:
        with _blocks(cast(Guest, guest), opened, []):
            if ending is not None:
                raise ending
    return file.read_text("ascii")


def test_lines_stand_behind_their_blocks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert covered(tmp_path / "b", _Guest(None)) == WITH_LINES
    assert capsys.readouterr().err == "zvmlab: there are no lines of a.o: it is lost\n"


def test_without_lines_the_blocks_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "b"
    assert covered(file, _Guest(UsageError("there is no tree"))) == PLAIN
    assert capsys.readouterr().err == f"zvmlab: {file} has no lines: there is no tree\n"


def test_a_guest_that_crashes_has_lines(tmp_path: Path) -> None:
    with pytest.raises(GuestPanic):
        covered(tmp_path / "b", _Guest(None), GuestPanic("it has crashed"))
    assert (tmp_path / "b").read_text("ascii") == WITH_LINES


@pytest.mark.parametrize("ending", [KeyboardInterrupt, SystemExit])
def test_whoever_ends_the_program_waits_for_no_lines(
    tmp_path: Path, ending: type[BaseException]
) -> None:
    guest = _Guest(None)
    with pytest.raises(ending):
        covered(tmp_path / "b", guest, ending())
    assert guest.asked == 0 and (tmp_path / "b").read_text("ascii") == PLAIN


def test_whoever_ends_the_search_has_the_blocks(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        covered(tmp_path / "b", _Guest(KeyboardInterrupt()))
    assert (tmp_path / "b").read_text("ascii") == PLAIN
