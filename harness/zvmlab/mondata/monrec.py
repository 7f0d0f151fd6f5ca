# SPDX-License-Identifier: MIT
"""libmonrec in Python: the catalogue of monitor records.

    for layout in catalogue():
        print(layout.id, layout.name, layout.length(530))
    layout("SYTSYP").field("PLSDIAGT").offset

The library is built from the clone when it is needed first.  What a member means
stands in ``lib/monrec/monrec_catalogue.h``.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base.errors import UsageError
from zvmlab.base.progress import Progress
from zvmlab.builder import hostbuild

REFERENCE = 530
"""z/VM 5.3, whose layouts are known best."""
LOOK_AHEAD = 20
"""Bytes that tell whether MONWRITE has written a file (MONREC_LOOK_AHEAD)."""


class _CField(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("meaning", ctypes.c_char_p),
        ("offset", ctypes.c_uint16),
        ("len", ctypes.c_uint16),
        ("first", ctypes.c_uint16),
        ("last", ctypes.c_uint16),
        ("type", ctypes.c_uint8),
        ("nature", ctypes.c_uint8),
        ("unit", ctypes.c_uint8),
        ("source", ctypes.c_uint8),
    ]


class _CLength(ctypes.Structure):
    _fields_ = [
        ("first", ctypes.c_uint16),
        ("last", ctypes.c_uint16),
        ("len", ctypes.c_uint16),
        ("source", ctypes.c_uint8),
    ]


class _CLayout(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("title", ctypes.c_char_p),
        ("fields", ctypes.POINTER(_CField)),
        ("lengths", ctypes.POINTER(_CLength)),
        ("field_count", ctypes.c_uint16),
        ("length_count", ctypes.c_uint16),
        ("number", ctypes.c_uint16),
        ("domain", ctypes.c_uint8),
        ("kind", ctypes.c_uint8),
        ("complete", ctypes.c_bool),
        ("variable", ctypes.c_bool),
    ]


@dataclass(frozen=True)
class Field:
    """A field of a record, in the releases *first* to *last*."""

    name: str
    offset: int
    length: int
    first: int
    last: int
    type: str
    nature: str
    unit: str
    source: str
    meaning: str | None

    def known_in(self, release: int) -> bool:
        """Does a source show it in that release?"""
        return self.first <= release <= self.last


@dataclass(frozen=True)
class Length:
    """A record's length in the releases *first* to *last*, header included."""

    first: int
    last: int
    length: int
    source: str


@dataclass(frozen=True)
class Layout:
    """The known layout of a record; *complete*: all fields of z/VM 5.3."""

    domain: int
    number: int
    name: str
    title: str | None
    kind: str
    complete: bool
    variable: bool
    fields: tuple[Field, ...]
    lengths: tuple[Length, ...]

    @property
    def id(self) -> str:
        """``D0R1``."""
        return f"D{self.domain}R{self.number}"

    def length(self, release: int = REFERENCE) -> int | None:
        """Its length in that release, None if no source tells."""
        found = (length.length for length in self.lengths if length.first <= release <= length.last)
        return next(found, None)

    def field(self, name: str, release: int = REFERENCE) -> Field:
        """The field of that name in that release."""
        for field in self.fields:
            if field.name == name.upper() and field.known_in(release):
                return field
        raise UsageError(
            f"{self.name} is not known to have a field {name} in z/VM {release_text(release)}"
        )


def release_text(release: int) -> str:
    """``5.3`` for 530."""
    return f"{release // 100}.{release // 10 % 10}"


def parse_release(text: str) -> int:
    """530 for ``5.3``."""
    version, _, release = text.partition(".")
    if not (version.isascii() and version.isdigit() and release.isascii() and release.isdigit()):
        raise UsageError(f"invalid release of z/VM: {text} (for example 5.3)")
    found = int(version[:4]) * 100 + int(release[:4]) * 10
    if not loaded().monrec_release_known(found):
        raise UsageError(f"unknown release of z/VM: {text} (4.1 to 7.5)")
    return found


def releases() -> tuple[int, ...]:
    """All releases that the catalogue speaks of, the oldest first."""
    lib = loaded()
    return tuple(one for one in range(0, 1000, 10) if lib.monrec_release_known(one))


def is_monwrite(beginning: bytes) -> bool:
    """Does a file that begins with these bytes begin as MONWRITE writes them?"""
    return len(beginning) >= LOOK_AHEAD and bool(
        loaded().monrec_is_monwrite(beginning[:LOOK_AHEAD])
    )


def library(progress: Progress | None = None) -> Path:
    """libmonrec.so, built into the cache if need be."""
    flags = ("-fPIC", "-fvisibility=hidden")
    shown = progress or Progress()
    return hostbuild.library(shown, "libmonrec", "libmonrec.so", "lib/monrec", flags)


@functools.cache
def loaded() -> ctypes.CDLL:
    """The library, in this process."""
    lib = ctypes.CDLL(str(library()))
    lib.monrec_layout_next.argtypes = [ctypes.POINTER(_CLayout)]
    lib.monrec_layout_next.restype = ctypes.POINTER(_CLayout)
    lib.monrec_header.argtypes = []
    lib.monrec_header.restype = ctypes.POINTER(_CLayout)
    for what in ("domain_name", "source_text", "rule_text", *(f"{word}_name" for word in _NAMED)):
        function = getattr(lib, f"monrec_{what}")
        function.argtypes = [ctypes.c_uint]
        function.restype = ctypes.c_char_p
    lib.monrec_release_known.argtypes = [ctypes.c_uint]
    lib.monrec_release_known.restype = ctypes.c_bool
    lib.monrec_is_monwrite.argtypes = [ctypes.c_char_p]
    lib.monrec_is_monwrite.restype = ctypes.c_bool
    return lib


_NAMED = ("type", "nature", "unit", "kind", "source", "rule")


def _name(what: str, value: int) -> str:
    text: bytes = getattr(loaded(), f"monrec_{what}")(value)
    return text.decode()


def domain_name(domain: int) -> str:
    """``system``, ``monitor``, …"""
    return _name("domain_name", domain)


def sources() -> dict[str, str]:
    """The meanings of the words in ``source``."""
    return _texts("source")


@functools.cache
def rules() -> dict[str, str]:
    """Each rule that a reader holds monitor data to, and what it demands."""
    return _texts("rule")


def _texts(what: str) -> dict[str, str]:
    found: dict[str, str] = {}
    while getattr(loaded(), f"monrec_{what}_name")(len(found)):
        found[_name(f"{what}_name", len(found))] = _name(f"{what}_text", len(found))
    return found


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode()


def _field(found: _CField) -> Field:
    return Field(
        name=found.name.decode(),
        offset=found.offset,
        length=found.len,
        first=found.first,
        last=found.last,
        type=_name("type_name", found.type),
        nature=_name("nature_name", found.nature),
        unit=_name("unit_name", found.unit),
        source=_name("source_name", found.source),
        meaning=_text(found.meaning),
    )


def _length(found: _CLength) -> Length:
    return Length(found.first, found.last, found.len, _name("source_name", found.source))


def _layout(found: _CLayout) -> Layout:
    return Layout(
        domain=found.domain,
        number=found.number,
        name=found.name.decode(),
        title=_text(found.title),
        kind=_name("kind_name", found.kind),
        complete=found.complete,
        variable=found.variable,
        fields=tuple(_field(found.fields[at]) for at in range(found.field_count)),
        lengths=tuple(_length(found.lengths[at]) for at in range(found.length_count)),
    )


def _walk() -> Iterator[Layout]:
    at = loaded().monrec_layout_next(None)
    while at:
        yield _layout(at.contents)
        at = loaded().monrec_layout_next(at)


@functools.cache
def catalogue() -> tuple[Layout, ...]:
    """All records that are known, by domain and number."""
    return tuple(_walk())


@functools.cache
def header() -> Layout:
    """The header that every record begins with."""
    return _layout(loaded().monrec_header().contents)


@functools.cache
def _numbers() -> dict[tuple[int, int], Layout]:
    return {(found.domain, found.number): found for found in catalogue()}


def by_number(domain: int, number: int) -> Layout | None:
    """The record of that number, if it is known."""
    return _numbers().get((domain, number))


def layout(name: str) -> Layout:
    """The record of that name, ``SYTSYP`` or ``D0R1``."""
    for found in catalogue():
        if name.upper() in (found.name, found.id):
            return found
    raise UsageError(f"the catalogue has no record {name}; 'zvmlab records' lists those it has")
