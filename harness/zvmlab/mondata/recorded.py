# SPDX-License-Identifier: MIT
"""Data sets that were recorded: a stream of /dev/monreader, or a file of MONWRITE.

    for one in recorded(Path("capture"), monwrite=False):
        print(one.number, one.tod, len(one.parts))

A stream has an index ``FILE.idx`` if ``monread --write-stream`` or a capture wrote it: it says
where sets end.  Without one every control element is taken as a set of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from zvmlab.base.errors import UsageError
from zvmlab.mondata.monrec import LOOK_AHEAD, is_monwrite
from zvmlab.mondata.monwrite import read_sets
from zvmlab.mondata.records import MCE_SIZE, BadStream, Mce, Part, parse_set

# A segment has no more.
_MAX_SET = 1 << 31
_AT_ONCE = 1 << 20
TOD_SECOND = 4096_000_000
"""The TOD clock counts 4096 to a microsecond."""


@dataclass(frozen=True)
class Recorded:
    """One set; *control* is the address of its control area, 0 if nothing tells it."""

    number: int
    parts: list[Part]
    control: int = 0

    @property
    def tod(self) -> int:
        """When its last record was built: the end of the interval; 0 if it has no such record."""
        try:
            return [record.tod for record in self.parts[-1].records()][-1]
        except (BadStream, IndexError):
            return 0


def recorded(path: Path, monwrite: bool) -> Iterator[Recorded]:
    """The sets of a file, one after the other; UsageError if it is none, or damaged."""
    try:
        with path.open("rb") as file:
            if monwrite or _is_monwrite(file, path):
                for number, one in enumerate(read_sets(file), 1):
                    yield Recorded(number, one.parts, one.notification.mca_start)
            else:
                yield from _stream(file, path)
    except BadStream as error:
        raise UsageError(f"{path}: {error}") from error


def _index(path: Path) -> Path:
    return path.with_name(f"{path.name}.idx")


def _is_monwrite(file: BinaryIO, path: Path) -> bool:
    """Does the file say so itself?"""
    if _index(path).exists() or not file.seekable():
        return False
    beginning = file.read(LOOK_AHEAD)
    file.seek(0)
    return is_monwrite(beginning)


def _stream(file: BinaryIO, path: Path) -> Iterator[Recorded]:
    index = _index(path)
    sets = _indexed(file, index) if index.exists() else _elements(file)
    for number, parts in enumerate(sets, 1):
        yield Recorded(number, parts)


def _indexed(file: BinaryIO, index: Path) -> Iterator[list[Part]]:
    with index.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                length = json.loads(line)["length"]
                if type(length) is not int or not 0 <= length <= _MAX_SET:
                    raise ValueError(length)
            except (ValueError, TypeError, KeyError, RecursionError) as error:
                raise BadStream(f"line {number} of {index} has no length of a set") from error
            data = _read(file, length)
            if not 0 < length <= len(data):
                raise BadStream(f"set {number} has {len(data)} bytes, {index} says {length}")
            yield parse_set(data)
    if file.read(1):
        raise BadStream(f"it has more sets than {index}")


def _read(file: BinaryIO, length: int) -> bytes:
    """Up to that many bytes; what a file only claims to have takes no storage."""
    data = bytearray()
    while len(data) < length and (more := file.read(min(length - len(data), _AT_ONCE))):
        data += more
    return bytes(data)


def _elements(file: BinaryIO) -> Iterator[list[Part]]:
    at = 0
    while head := file.read(MCE_SIZE):
        if len(head) < MCE_SIZE:
            raise BadStream(f"it ends within the control element at {at}")
        mce = Mce.decode(head)
        data = _read(file, max(mce.size, 0))
        if mce.size <= 0 or len(data) < mce.size:
            raise BadStream(
                f"the control element at {at} describes {mce.size} bytes, {len(data)} follow"
            )
        yield [Part(mce, data)]
        at += MCE_SIZE + mce.size
