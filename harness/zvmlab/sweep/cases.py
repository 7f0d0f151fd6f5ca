# SPDX-License-Identifier: MIT
"""The faults that a sweep tries at each call of CP: every kind of its point, with these values.

The values are those that the function can give, or that make a difference to a
driver; which kinds a point can carry out is asked of CP (query-fault-points).
"""

from __future__ import annotations

import fnmatch
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from zvmlab.cp.faults import Fault
from zvmlab.scenarios.context import SERVICE

# A rule that counts the calls it matches and never fires.
NEVER = 0xFFFFFFFF
_CONTENT_OFFSETS = (0, 19, 20)
LINK = "machine.link"
LINK_CALLS = tuple(1 << power for power in range(9))
"""At which calls a machine's connection breaks: all that it makes count, its agent's among them, of
which no two runs have the same number."""

_Table = tuple[tuple[str, tuple[int, ...]], ...]
"""Patterns of points with values; the first that matches counts."""

# 0 is success, what drop does; with 1 IUCV gives an IPRCODE, what rc does.
_CC: _Table = (("iucv.*", (2, 3)), ("*", (1, 2, 3)))
# IPRCODEs (VM/SP System Facilities for Programming, figure 24; zvmlab/iucv.h), return codes
# of DIAGNOSE X'64', message numbers of CP.
_RC: _Table = (
    ("iucv.connect", (0x04, 0x0B, 0x0C, 0x0D, 0x0E, 0x0F, 0x10, 0x11, 0x12, 0x1C, 0x30)),
    ("iucv.accept", (0x01, 0x04, 0x14, 0x1C)),
    ("iucv.reply", (0x01, 0x02, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x14, 0x15, 0x1C)),
    ("iucv.send", (0x01, 0x02, 0x03, 0x04, 0x0A, 0x14, 0x15, 0x1C)),
    ("iucv.receive", (0x01, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x1C)),
    ("iucv.declare-buffer", (0x03, 0x0A, 0x13, 0x3E, 0x5C)),
    ("iucv.*", (0x01, 0x1C)),
    ("diag64.*", (4, 40, 44, 45, 177, 263)),
    ("diag08.command", (1, 3, 6, 22)),
    # Sense byte 0 of unit record devices: command reject, intervention required, data check.
    ("spool.*", (0x80, 0x40, 0x08)),
    # What diag_ftp of Linux knows: busy, I/O error; status of a transfer that has ended.
    ("diag2c4.start", (4, 8)),
    ("hmc.transfer", (4, 8, 12, 16, 17, 18, 19, 20)),
    # DIAGNOSE X'250' (zvmlab/disk.h): read-only, no device, no disk, wrong size of blocks, wrong
    # state; started, wrong number of blocks, none done.
    ("diag250.init", (4, 16, 20, 24, 28)),
    ("diag250.io", (8, 16, 28, 36, 40)),
    ("diag250.remove", (16, 28)),
    ("*", (1,)),
)
# Operation and specification exception: the function is missing, the parameters are wrong.
_PGM: _Table = (("*", (1, 6)),)
_DELAY: _Table = (("*", (1, 2)),)
# What *MONITOR says when it refuses or ends a path (docs/choices.md), and two more.
_SEVER: _Table = (
    ("monitor.connect", (0x00, 0x04, 0x08, 0x0C, 0x10, 0x14, 0x18, 0x1C, 0x20, 0x2C, 0xFF)),
    (LINK, (0,)),
    ("*", (0x00, 0x2C, 0xFF)),
)
_LIMIT: _Table = (("*", (1, 10, 100)),)
_VALUES: Mapping[str, _Table] = {
    "cc": _CC,
    "rc": _RC,
    "pgm": _PGM,
    "delay": _DELAY,
    "sever": _SEVER,
    "limit": _LIMIT,
}
# (offset, mask): one bit of each field that a driver goes by.
_CORRUPT: Mapping[str, tuple[tuple[int, int], ...]] = {
    # Interrupt buffer: IPPATHID, IPFLAGS1, IPTYPE (no type; another type), IPMSGID or
    # IPMSGLIM, IPTRGCLS, and of *MONITOR's message the first and last byte of the control area.
    "interrupt": (
        *((0, 0x80), (1, 0x01), (2, 0x80), (3, 0x10), (3, 0x01), (4, 0x80), (8, 0x80)),
        *((12, 0x80), (15, 0x01), (16, 0x80), (19, 0x01)),
    ),
    # Monitor control element: type and domains that become zero for a sample of the user
    # domain, the reserved byte, first and last byte of the records.
    "monitor.message": (
        *((0, 0xE2), (1, 0x08), (3, 0xFF), (4, 0x80), (7, 0x04), (8, 0x80), (11, 0x04)),
    ),
}
# Whom a call of the path under test names (fault_check() in the core); None: nobody.
# SEVER of a path that CP has forgotten already names nobody either, so it is not filtered.
_NAMES: tuple[tuple[str, str | None], ...] = (
    ("iucv.sever", None),
    ("iucv.connect", "partner"),
    ("iucv.[ars]*", "partner"),
    ("interrupt", "partner"),
    ("diag64.*", "segment"),
    ("segment.*", "segment"),
    ("monitor.*", "partner"),
    ("*", None),
)


def plain(point: str) -> str:
    """CP's name of a point; in a scenario of several guests the user's is in front."""
    return point.rpartition(" ")[2]


@dataclass(frozen=True)
class Point:
    """A fault point: its name and the kinds it can carry out."""

    name: str
    kinds: tuple[str, ...]

    @property
    def plain(self) -> str:
        """CP's name of it."""
        return plain(self.name)

    @property
    def user(self) -> str:
        """Whose calls it is about; "" if there is one guest."""
        return self.name.rpartition(" ")[0]


@dataclass(frozen=True)
class Subject:
    """The subject of the path under test: its segment, and its partner."""

    segment: str
    partner: str = SERVICE

    def name(self, point: str) -> str | None:
        """The name that calls of the path have at this point; None if they have none."""
        found = next(name for pattern, name in _NAMES if fnmatch.fnmatchcase(plain(point), pattern))
        return None if found is None else self.segment if found == "segment" else self.partner

    def counter(self, point: Point) -> Fault:
        """A rule that counts the calls of the path at a point and never fires."""
        kind = "drop" if "drop" in point.kinds else point.kinds[0]
        value = 0 if kind == "drop" else 1
        name, user = self.name(point.name), point.user or None
        return Fault(point.plain, kind, value, name=name, user=user, nth=NEVER)


@dataclass(frozen=True)
class Case:
    """One fault at one call."""

    point: str
    call: int
    """Counted from 1 over the calls of the path under test."""
    kind: str
    value: int = 0
    offset: int = 0

    def __str__(self) -> str:
        text = f"{self.point}#{self.call}:{self.kind}"
        if self.kind in _VALUES:
            iucv = plain(self.point).startswith("iucv.")
            code = self.kind == "sever" or (self.kind == "rc" and iucv)
            text += f"={self.value:#04x}" if code else f"={self.value}"
        if self.kind == "corrupt":
            text += f"={self.offset}^{self.value:#04x}"
        return text

    def fault(self, subject: Subject) -> Fault:
        """The rule that carries it out."""
        name, user = subject.name(self.point), Point(self.point, ()).user or None
        point, nth = plain(self.point), self.call
        return Fault(point, self.kind, self.value, self.offset, name=name, user=user, nth=nth)


def _values(point: str, kind: str, seed: str) -> Sequence[tuple[int, int]]:
    """Value and offset of each fault of a kind."""
    point = plain(point)
    if kind in _VALUES:
        table = _VALUES[kind]
        return [(v, 0) for v in next(v for p, v in table if fnmatch.fnmatchcase(point, p))]
    if kind != "corrupt":
        return [(0, 0)]
    if point in _CORRUPT:
        return [(mask, offset) for offset, mask in _CORRUPT[point]]
    drawn = random.Random(f"{seed} {point}")
    return [(drawn.randint(1, 0xFF), offset) for offset in _CONTENT_OFFSETS]


def cases(
    points: Sequence[Point], calls: Mapping[str, int], seed: str, patterns: Sequence[str] = ()
) -> Iterator[Case]:
    """Every fault at every call that was counted; *patterns* choose points, or cases."""
    for point in points:
        made = range(1, calls.get(point.name, 0) + 1)
        for call in LINK_CALLS if made and point.plain == LINK else made:
            for kind in point.kinds:
                for value, offset in _values(point.name, kind, seed):
                    case = Case(point.name, call, kind, value, offset)
                    if _wanted(case, patterns):
                        yield case


def _wanted(case: Case, patterns: Sequence[str]) -> bool:
    return not patterns or any(
        fnmatch.fnmatchcase(text, pattern)
        for pattern in patterns
        for text in (case.point, str(case), plain(case.point), str(case).rpartition(" ")[2])
    )
