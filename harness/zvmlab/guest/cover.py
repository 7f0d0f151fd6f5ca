# SPDX-License-Identifier: MIT
"""Which code of a guest's kernel is executed, seen from below an unmodified kernel.

    with guest.cover("monreader", "iucv_*", mode="blocks") as cover:
        ...                     # load, read, deliver
        for block in cover.take():
            print(block)        # mon_read+0x1c [monreader]
        found = cover.lines(cover.blocks())     # of a kernel that is built from a source tree

A block begins where the emulator's translation of one does: where a branch goes to, behind a
branch, and also where a page begins, or where the guest goes on after an interruption.
"""

from __future__ import annotations

import bisect
import itertools
import mmap
import struct
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple

from zvmlab.base.errors import EmulatorError, UsageError
from zvmlab.base.progress import Progress
from zvmlab.guest.qmp import Qmp, QmpError
from zvmlab.guest.symbols import Code

if TYPE_CHECKING:
    from zvmlab.builder.object_lines import Line

NEW, BLOCKS, EDGES = "new", "blocks", "edges"
MODES = (NEW, BLOCKS, EDGES)
"""Blocks when they are translated for the first time, blocks or pairs of them when they are executed."""
_OFF = "off"
_CP = "/objects/cp"
# sim/qemu/cover.c: magic, entries that are complete, entries lost, how often all was forgotten.
_HEAD = struct.Struct("=QQQQ")
_ENTRY = struct.Struct("=QQ")
_MAGIC = 0x5A564D434F564552
_numbers = itertools.count(1)


class Block(NamedTuple):
    """Where a block of code begins."""

    address: int
    function: str
    offset: int
    module: str | None

    def __str__(self) -> str:
        where = f" [{self.module}]" if self.module is not None else ""
        return f"{self.function}+{self.offset:#x}{where}"


class Edge(NamedTuple):
    """A CPU has executed the one block after the other; others that are not covered may lie between."""

    before: Block | None
    """None: nothing that is covered came before."""
    after: Block

    def __str__(self) -> str:
        return f"{self.before or 'outside'} -> {self.after}"


class SourceLines(NamedTuple):
    """What is known of the lines of some blocks."""

    lines: dict[Block, tuple[Line, ...]]
    """The line in the block's function; if that calls one that was inlined there, the line in that
    one, and so on.  A block that has none is not there."""
    missing: list[str]
    """Why there are none of some code, in sentences."""

    def shown(self, block: Block) -> str:
        """Its lines in a text; "" if it has none."""
        return " > ".join(map(str, self.lines.get(block, ())))


def check_mode(mode: str) -> None:
    """UsageError if there is none of that name."""
    if mode not in MODES:
        raise UsageError(f"there is no coverage of {mode!r} ({', '.join(MODES)})")


def _ranges(code: Sequence[Code]) -> list[dict[str, int]]:
    """What lies together is one range."""
    found: list[dict[str, int]] = []
    for function in code:
        if found and function.start <= found[-1]["end"]:
            found[-1]["end"] = max(found[-1]["end"], function.end)
        else:
            found.append({"start": function.start, "end": function.end})
    return found


class Cover:
    """What has been executed of some functions; made by Guest.cover().

    When the guest is put back, nothing has been executed so far; what has been translated ("new")
    stays known.
    """

    def __init__(
        self,
        qmp: Qmp,
        folder: Path,
        code: Sequence[Code],
        mode: str,
        lines: Callable[[Iterable[Block], Progress], SourceLines],
    ) -> None:
        if not code:
            raise UsageError("nothing is to be covered: name a module, a function, or 'kernel'")
        self.mode = mode
        self._qmp = qmp
        self._code = code
        self._lines = lines
        self._starts = [function.start for function in code]
        self._file = folder / f"cover-{next(_numbers)}"
        self._file.touch(mode=0o600)
        self._begun = self._position = 0
        self.closed = False
        """Somebody has ended it."""
        try:
            self._set("cover", {"file": str(self._file), "mode": mode, "ranges": _ranges(code)})
            with self._file.open("rb") as file:
                self._shared = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        finally:
            self._file.unlink()
        if self._head()[0] != _MAGIC:
            raise EmulatorError("the emulator did not begin to write which code is executed")

    def _set(self, name: str, value: object) -> None:
        try:
            self._qmp.execute("qom-set", {"path": _CP, "property": name, "value": value})
        except QmpError as error:
            raise EmulatorError(error.desc.removeprefix("zvmlab-cp: ")) from error

    def _head(self) -> tuple[int, int, int, int]:
        magic, count, lost, begun = _HEAD.unpack_from(self._shared)
        return magic, count, lost, begun

    def block(self, address: int) -> Block:
        function = self._code[max(bisect.bisect_right(self._starts, address) - 1, 0)]
        return Block(address, function.name, address - function.start, function.module)

    @property
    def lost(self) -> int:
        """How often there was no room for one more; 0 as long as all is known."""
        return self._head()[2]

    def addresses(self) -> list[tuple[int, int]]:
        """What take() would name, as addresses: of the block before (0: none), and of the block."""
        _, count, _, begun = self._head()
        if begun != self._begun:
            self._begun, self._position = begun, 0
        first, self._position = self._position, count
        size = _ENTRY.size
        part = self._shared[_HEAD.size + first * size : _HEAD.size + count * size]
        return [(before, after) for before, after in _ENTRY.iter_unpack(part)]

    def take(self) -> list[Block] | list[Edge]:
        """What was executed for the first time since the last call, in that order; Edge for "edges"."""
        found = self.addresses()
        if self.mode != EDGES:
            return [self.block(to) for _, to in found]
        return [Edge(self.block(start) if start else None, self.block(to)) for start, to in found]

    def blocks(self) -> list[Block]:
        """take() of the modes "new" and "blocks"; of "edges", the blocks that these lead to, once each."""
        return [self.block(to) for to in dict.fromkeys(to for _, to in self.addresses())]

    def lines(self, blocks: Iterable[Block], progress: Progress | None = None) -> SourceLines:
        """The lines of the kernel's source at which these blocks begin (zvmlab.guest.source_lines).

        Files of which that is asked for the first time are compiled for it, which takes seconds
        for each.  The guest may have ended.  UsageError if its kernel is not built from a source
        tree, or if the tree has been changed since.
        """
        return self._lines(blocks, progress or Progress(quiet=True))

    def again(self) -> None:
        """Nothing has been executed so far, as after put_back()."""
        self._set("cover-again", True)

    def close(self) -> None:
        """End it; harmless the second time."""
        if not self.closed:
            self.closed = True
            self._set("cover", {"file": "", "mode": _OFF, "ranges": []})

    def __enter__(self) -> Cover:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.close()
        except EmulatorError:
            if error is None:  # else the emulator's end has a better reason
                raise
