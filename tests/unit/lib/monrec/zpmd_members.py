#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes zpmd_members.h of zpmd's src/v53_records.h (https://github.com/pak-center/zpmd).

    tests/unit/lib/monrec/zpmd_members.py v53_records.h alpha1/v53_records.h \\
        >tests/unit/lib/monrec/zpmd_members.h

The second file is that of the branch v1.0.0-alpha1, which goes on with records that the main
branch does not have.

Of zpmd's file nothing but a sum of what it declares is kept: for each record how many members it
has, how long they are together, and a checksum of their names, offsets and lengths.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

_WIDTHS = {"8": 1, "16": 2, "32": 4, "64": 8, "u64": 8}
_STRUCT = re.compile(r"struct\s+d(\d+)r(\d+)\s*\{(.*?)\}", re.DOTALL)
_MEMBER = re.compile(r"__(?:[us]|e)(8|16|32|64|u64)\s+(\w+)\s*(?:\[\s*(\d+)\s*\])?\s*;")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_NOT_TAKEN = {(0, 5), (1, 19)}
"""Records whose members the catalogue does not have: not generated in 5.3; QDIO."""


_LENGTH_NOT_TAKEN = {(6, 3), (6, 25)}
"""Unfinished; 42 bytes cannot be its length in CP, where records end at a word."""

_TAKEN_OF_BRANCH = {(6, 3), (10, 1), (10, 2)}
_WITHOUT_HEADER = {(6, 3)}
"""Its members begin behind the header, which it does not declare."""


def _members(body: str, at: int) -> tuple[list[tuple[int, str, int]], int]:
    """Offset, name and length of each named member, the first one at *at*; the length of all."""
    found = []
    for width, name, count in _MEMBER.findall(body):
        length = _WIDTHS[width] * int(count or 1)
        _, _, field = name.partition("_")
        # What is filled up has no name of a record in front; two tables are called so.
        if field and field != "resvd":
            found.append((at, field.upper().removesuffix("_TBL"), length))
        at += length
    return found, at


def _name(body: str) -> str:
    """The record's name, which stands before that of each member."""
    names = {
        str(name).split("_", maxsplit=1)[0] for _, name, _ in _MEMBER.findall(body) if "_" in name
    }
    (name,) = names
    return name.upper()


def _checksum(members: list[tuple[int, str, int]]) -> int:
    """FNV-1a of the members, in the order of offset and name."""
    value = 0x811C9DC5
    for at, name, length in sorted(members):
        for byte in f"{name} {at} {length}\n".encode():
            value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


def _structs(path: str) -> dict[tuple[int, int], str]:
    """What the file declares of each record."""
    text = _COMMENT.sub("", Path(path).read_text(encoding="utf-8", errors="replace"))
    return {(int(domain), int(number)): body for domain, number, body in _STRUCT.findall(text)}


def main() -> None:
    """Prints the header."""
    main_branch, branch = map(_structs, sys.argv[1:])
    taken = main_branch | {record: branch[record] for record in _TAKEN_OF_BRANCH}
    print("/* SPDX-License-" "Identifier: MIT */")  # two words: it is not of this file
    print("/* Made by zpmd_members.py: domain, number, name; members, their length, their sum. */")
    for record, body in sorted(taken.items()):
        members, length = _members(body, 20 if record in _WITHOUT_HEADER else 0)
        if record in _LENGTH_NOT_TAKEN:
            length = 0
        if record not in _NOT_TAKEN:
            row = f'"{_name(body)}", {len(members)}, {length}, 0x{_checksum(members):08x}'
            print(f"{{ {record[0]}, {record[1]}, {row} }},")


if __name__ == "__main__":
    main()
