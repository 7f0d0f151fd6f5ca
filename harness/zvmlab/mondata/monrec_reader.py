# SPDX-License-Identifier: MIT
"""libmonrec in Python: monitor data item by item, each rule of the format checked.

    with open("capture", "rb") as file:
        for item in read(file, Format.MONWRITE):
            if item.kind is Kind.RECORD:
                print(item.record.layout, item.record.values())

The release whose layouts the records have is given, or found: by the lengths of the records of the
first set, which is held back until it is complete, and of all that come later.

What the kinds mean stands in ``lib/monrec/monrec.h``.
"""

from __future__ import annotations

import ctypes
import dataclasses
import enum
import errno
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, cast

from zvmlab.mondata import monrec
from zvmlab.mondata.monrec import Field, Layout
from zvmlab.mondata.monrec_release import CRecord, Evidence, release_of

_INTERRUPT_SIZE = 40
_LINE = 256
# Bytes of records that are held back: far more than tell the release.
_HOLD_MOST = 4 << 20


class Format(enum.IntEnum):
    """The format of the data."""

    DEVICE = 0
    SAVED = 1
    MONWRITE = 2


class Kind(enum.IntEnum):
    """The kind of an item."""

    END = 0
    SET = 1
    ELEMENT = 2
    RECORD = 3
    SET_END = 4
    SET_LOST = 5
    OVERFLOW = 6
    VIOLATION = 7
    AGAIN = 8
    ERROR = 9
    FRAME = 10


class _CPlace(ctypes.Structure):
    _fields_ = [
        ("set", ctypes.c_uint64),
        ("offset", ctypes.c_uint64),
        ("element", ctypes.c_uint32),
        ("record", ctypes.c_uint32),
    ]


class _CElement(ctypes.Structure):
    _fields_ = [
        ("start", ctypes.c_uint32),
        ("end", ctypes.c_uint32),
        ("domains", ctypes.c_uint16),
        ("type", ctypes.c_uint8),
        ("byte3", ctypes.c_uint8),
    ]


class _CItem(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_int),
        ("at", _CPlace),
        ("element", _CElement),
        ("record", CRecord),
        ("interrupt", ctypes.POINTER(ctypes.c_uint8)),
        ("rule", ctypes.c_int),
        ("error", ctypes.c_int),
        ("value", ctypes.c_uint64 * 2),
    ]


_READ = ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


@dataclass(frozen=True)
class Place:
    """The position of an item; counts begin with 1, 0 is none."""

    set: int
    offset: int
    element: int
    record: int


@dataclass(frozen=True)
class Element:
    """A control element: bytes 1 and 2, type, addresses of its records' first and last byte."""

    type: int
    domains: int
    byte3: int
    start: int
    end: int


@dataclass(frozen=True)
class Record:
    """A record, header and all.  *release*: whose layout it has, 530 for z/VM 5.3; 0: not known."""

    data: bytes
    domain: int
    number: int
    tod: int
    address: int
    release: int = 0

    @property
    def layout(self) -> Layout | None:
        """The layout in the catalogue."""
        return monrec.by_number(self.domain, self.number)

    def value(self, field: Field) -> int | str | bytes | None:
        """A field's value: a number, text, or bytes; None if the record ends before it does."""
        data = self.data[field.offset : field.offset + field.length]
        if len(data) < field.length:
            return None
        if field.type == "text":
            return data.rstrip(b"\x40\0").decode("cp037")
        if field.type == "bytes":
            return data
        return int.from_bytes(data, "big", signed=field.type == "signed")

    def values(self, release: int = 0) -> dict[str, int | str | bytes | None]:
        """The values of all fields known in that release, or in the record's own."""
        release = release or self.release
        fields = self.layout.fields if self.layout else ()
        return {field.name: self.value(field) for field in fields if field.known_in(release)}


@dataclass(frozen=True)
class Item:
    """The next item.

    *record*: of RECORD, and of a VIOLATION about one.  *interrupt*: of SET in a file
    of MONWRITE.  *rule*, *text*: of VIOLATION.  *error*: errno of SET_LOST and ERROR.
    """

    kind: Kind
    at: Place
    element: Element
    record: Record | None
    interrupt: bytes | None
    rule: str
    text: str
    error: int


def read(
    file: BinaryIO | Callable[[int], bytes | None], format: Format, release: int = 0
) -> Iterator[Item]:
    """The items of a file, or of a function like its read(); END is not among them.

    OSError of a read counts as read(2)'s, EOVERFLOW and EIO of the device for
    instance; None, which a file that would have to wait gives, as EAGAIN.  Any other
    exception ends the iteration with it.  With *release* lengths of records are checked.
    """
    evidence, held, held_bytes = Evidence(release), list[Item](), 0
    holding = not release
    for item in _items(file, format, release):
        if item.record is not None:
            evidence.add(item.record.domain, item.record.number, len(item.record.data))
            held_bytes += len(item.record.data)
        held.append(item)
        holding = holding and item.kind in _PARTS and held_bytes <= _HOLD_MOST
        if not holding:
            yield from (_with_release(one, evidence.releases) for one in held)
            held.clear()
    yield from (_with_release(one, evidence.releases) for one in held)


# What a set consists of: anything else ends the waiting for more of it.
_PARTS = {Kind.SET, Kind.ELEMENT, Kind.RECORD, Kind.VIOLATION}


def _with_release(item: Item, releases: int) -> Item:
    record = item.record
    if record is None:
        return item
    release = release_of(record.domain, record.number, len(record.data), releases)
    return dataclasses.replace(item, record=dataclasses.replace(record, release=release))


def _items(
    file: BinaryIO | Callable[[int], bytes | None], format: Format, release: int
) -> Iterator[Item]:
    source = cast(Callable[[int], bytes | None], getattr(file, "read", file))
    failed: list[BaseException] = []

    def read_some(_context: int, buffer: int, size: int) -> int:
        try:
            data = source(size)
        except OSError as error:
            return -(error.errno or errno.EIO)
        except BaseException as error:  # no exception may leave through C
            failed.append(error)
            return -errno.EIO
        if data is None:
            return -errno.EAGAIN
        ctypes.memmove(buffer, data, len(data))
        return len(data)

    lib = _loaded()
    function = _READ(read_some)  # must live as long as the reader
    reader = lib.monrec_open(format, function, None)
    if not reader:
        raise MemoryError
    try:
        lib.monrec_set_release(reader, release)
        found = _CItem()
        while lib.monrec_next(reader, ctypes.byref(found)) != Kind.END:
            if failed:
                raise failed[0]
            yield _item(found)
    finally:
        lib.monrec_close(reader)


def _loaded() -> ctypes.CDLL:
    lib = monrec.loaded()
    lib.monrec_open.argtypes = [ctypes.c_int, _READ, ctypes.c_void_p]
    lib.monrec_open.restype = ctypes.c_void_p
    lib.monrec_close.argtypes = [ctypes.c_void_p]
    lib.monrec_close.restype = None
    lib.monrec_set_release.argtypes = [ctypes.c_void_p, ctypes.c_uint]
    lib.monrec_set_release.restype = None
    lib.monrec_next.argtypes = [ctypes.c_void_p, ctypes.POINTER(_CItem)]
    lib.monrec_next.restype = ctypes.c_int
    lib.monrec_describe.argtypes = [ctypes.POINTER(_CItem), ctypes.c_char_p, ctypes.c_size_t]
    lib.monrec_describe.restype = ctypes.c_char_p
    return lib


def _record(found: CRecord) -> Record | None:
    if not found.data:
        return None
    data = ctypes.string_at(found.data, found.len)
    return Record(data, found.domain, found.number, found.tod, found.address)


def _item(found: _CItem) -> Item:
    at, element, kind = found.at, found.element, Kind(found.kind)
    rule, text = "", ""
    if kind is Kind.VIOLATION:
        line = ctypes.create_string_buffer(_LINE)
        text = monrec.loaded().monrec_describe(ctypes.byref(found), line, _LINE).decode()
        rule = list(monrec.rules())[found.rule]
    return Item(
        kind=kind,
        at=Place(at.set, at.offset, at.element, at.record),
        element=Element(element.type, element.domains, element.byte3, element.start, element.end),
        record=_record(found.record),
        interrupt=ctypes.string_at(found.interrupt, _INTERRUPT_SIZE) if found.interrupt else None,
        rule=rule,
        text=text,
        error=found.error,
    )
