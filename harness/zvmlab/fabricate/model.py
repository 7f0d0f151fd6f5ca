# SPDX-License-Identifier: MIT
"""The model of a living system (``sim/fabricate/model.h``): its data sets, one after the other.

    with Model(config) as model:
        for found in model.sets():
            file.writelines(found.stream())

The library is built from the clone when it is needed first.  What the members
mean, and their bounds, stands in the header.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from zvmlab.base.errors import UsageError
from zvmlab.base.progress import Progress
from zvmlab.builder import hostbuild
from zvmlab.mondata.monwrite import Notification, control_record
from zvmlab.mondata.records import FRAME_SIZE, KINDS, Element, Mce

_ERROR = 512
DASD, SCSI, OSA, PAGING = range(4)
(LOGON, LOGOFF, LOAD, RUNAWAY, PROCESSOR, DEVICE, PATH, STORM, READER, SAMPLE, EVENT) = range(11)
AT_ONCE = 0xFFFFFFFF
MAX_RATE = 100_000
"""Of anything, a second."""
# Message classes, as CP's *MONITOR has them: EBCDIC letters for the kind of data.
_CLASSES = dict(zip(KINDS, (0xE2C30000, 0xE2C40000, 0xC5C30000, 0xC5C40000)))


class _Processor(ctypes.Structure):
    _fields_ = [("type", ctypes.c_uint32)]


class _Device(ctypes.Structure):
    _fields_ = [
        ("number", ctypes.c_uint32),
        ("kind", ctypes.c_uint32),
        ("paths", ctypes.c_uint32),
        ("chpid", ctypes.c_uint8 * 8),
        ("volume", ctypes.c_char * 8),
        ("slots", ctypes.c_uint32),
    ]


class _User(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char * 12)] + [
        (name, ctypes.c_uint32)
        for name in (
            "type processors pattern logged_on application network share pages cpu io paging"
            " packets transactions"
        ).split()
    ]


class _Pattern(ctypes.Structure):
    _fields_ = [("percent", ctypes.c_uint16 * 24)]


class _Action(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in "second kind first count value".split()] + [
        ("text", ctypes.c_char * 64)
    ]


class _Wish(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_uint32)
        for name in "pages partition sample_config event_config usual_sample_config".split()
    ]


class _Config(ctypes.Structure):
    _fields_ = [
        ("seed", ctypes.c_uint64),
        ("start", ctypes.c_uint64),
        *(
            (name, ctypes.c_uint32)
            for name in (
                "second_of_day seconds release interval rate sample_domains event_domains segment"
            ).split()
        ),
        ("area", _Wish),
        ("block", ctypes.c_uint32),
        ("reader", ctypes.c_uint32),
        ("frames", ctypes.c_uint32),
        ("system", ctypes.c_char * 12),
        ("partition", ctypes.c_char * 12),
        ("vswitch", ctypes.c_char * 12),
        *((name, ctypes.c_uint32) for name in "processors devices users patterns actions".split()),
        ("processor", ctypes.POINTER(_Processor)),
        ("device", ctypes.POINTER(_Device)),
        ("user", ctypes.POINTER(_User)),
        ("pattern", ctypes.POINTER(_Pattern)),
        ("action", ctypes.POINTER(_Action)),
    ]


class _Set(ctypes.Structure):
    _fields_ = [
        ("number", ctypes.c_uint64),
        ("tod", ctypes.c_uint64),
        ("data", ctypes.c_void_p),
        *((name, ctypes.c_uint32) for name in "len start mca_start kind".split()),
        ("domains", ctypes.c_uint16),
        ("type", ctypes.c_uint8),
    ]


class _Totals(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_uint64)
        for name in "sets records bytes sets_lost records_lost suspensions".split()
    ]


@dataclass(frozen=True)
class Device:
    """A real device; *slots* of a paging volume."""

    number: int
    kind: int
    chpids: tuple[int, ...]
    volume: str = ""
    slots: int = 0


@dataclass(frozen=True)
class User:
    """A virtual machine; rates are thousandths of a second's worth."""

    name: str
    type: int
    pattern: int
    pages: int
    processors: int = 1
    logged_on: bool = True
    application: bool = False
    network: bool = False
    share: int = 100
    cpu: int = 0
    io: int = 0
    paging: int = 0
    packets: int = 0
    transactions: int = 0


@dataclass(frozen=True)
class Action:
    """An action in a second; *text* is a MONITOR command."""

    second: int
    kind: int
    first: int = 0
    count: int = 0
    value: int = 0
    text: str = ""


@dataclass(frozen=True)
class Segment:
    """The monitor DCSS, in pages; 0 is what CP would take."""

    start: int = 0x9000
    pages: int = 2048
    partition: int = 0
    sample_config: int = 0
    event_config: int = 0
    block: int = 4


@dataclass(frozen=True)
class Config:
    """A system and what happens to it; *start* is a TOD clock."""

    seed: int
    start: int
    second_of_day: int
    seconds: int
    release: int
    interval: int
    rate: int
    sample_domains: int
    event_domains: int
    segment: Segment
    reader: int
    frames: int
    system: str
    partition: str
    vswitch: str
    processors: Sequence[int]
    devices: Sequence[Device]
    users: Sequence[User]
    patterns: Sequence[Sequence[int]]
    actions: Sequence[Action] = field(default=())

    @property
    def usual_sample_config(self) -> int:
        """Pages of the sample configuration area that z/VM gives it by default."""
        return 4096 if self.release >= 620 else 241

    @property
    def sample_config(self) -> int:
        """The sample configuration of this system."""
        return self.segment.sample_config or self.usual_sample_config

    @property
    def event_config(self) -> int:
        """Likewise for events."""
        return self.segment.event_config or 68


@dataclass(frozen=True)
class Totals:
    """The totals so far."""

    sets: int
    records: int
    bytes: int
    sets_lost: int
    records_lost: int
    suspensions: int


@dataclass(frozen=True)
class ModelSet:
    """A data set of one element; *data* is valid until the next one is asked for."""

    number: int
    tod: int
    kind: str
    mce: Mce
    mca_start: int
    data: memoryview

    def stream(self) -> tuple[bytes, memoryview]:
        """The set as /dev/monreader gives it."""
        return self.mce.encode(), self.data

    def monwrite(self) -> tuple[bytes, memoryview, bytes]:
        """The set as MONWRITE writes it: control record and frames, zeros behind the records."""
        notification = Notification(
            msgid=self.number & 0xFFFFFFFF,
            trgcls=_CLASSES[self.kind],
            mca_start=self.mca_start,
        )
        return (
            control_record(notification, [self.mce]),
            self.data,
            bytes(-len(self.data) % FRAME_SIZE),
        )

    def element(self) -> Element:
        """For monitor-deliver."""
        return Element(
            bytes(self.data), self.mce.domains, self.mce.type, 0, self.mce.start % FRAME_SIZE
        )


def library(progress: Progress | None = None) -> Path:
    """The model as a shared library, built into the cache if need be."""
    return hostbuild.library(progress or Progress(), "the model", "libmodel.so", "sim/fabricate")


@functools.cache
def _loaded() -> ctypes.CDLL:
    lib = ctypes.CDLL(str(library()))
    lib.model_open.argtypes = [ctypes.POINTER(_Config), ctypes.c_char_p, ctypes.c_size_t]
    lib.model_open.restype = ctypes.c_void_p
    lib.model_close.argtypes = [ctypes.c_void_p]
    lib.model_close.restype = None
    lib.model_next.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Set)]
    lib.model_next.restype = ctypes.c_bool
    lib.model_totals.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Totals)]
    lib.model_totals.restype = None
    lib.monrec_add_page.argtypes = [
        ctypes.c_char_p,
        ctypes.c_size_t,
        ctypes.c_char_p,
        ctypes.c_size_t,
    ]
    lib.monrec_add_page.restype = ctypes.c_uint
    lib.monrec_forget_pages.argtypes = []
    lib.monrec_forget_pages.restype = None
    return lib


def _array(kind: Any, items: Sequence[Any]) -> Any:
    return (kind * max(len(items), 1))(*items)


def _device(device: Device) -> _Device:
    chpids = (ctypes.c_uint8 * 8)(*device.chpids)
    return _Device(
        device.number,
        device.kind,
        len(device.chpids),
        chpids,
        device.volume.encode(),
        device.slots,
    )


def _user(user: User) -> _User:
    values = {name: getattr(user, name) for name, _ in _User._fields_[1:]}
    return _User(name=user.name.encode(), **values)


def _action(action: Action) -> _Action:
    return _Action(
        action.second, action.kind, action.first, action.count, action.value, action.text.encode()
    )


def _config(config: Config) -> _Config:
    """Everything in C's form; the model makes copies."""
    made = _Config()
    for item in fields(config):
        value = getattr(config, item.name)
        if isinstance(value, int):
            setattr(made, item.name, value)
        elif isinstance(value, str):
            setattr(made, item.name, value.encode())
    segment = config.segment
    made.segment, made.block = segment.start, segment.block
    made.area = _Wish(
        segment.pages,
        segment.partition,
        config.sample_config,
        config.event_config,
        config.usual_sample_config,
    )
    made.processors, made.devices = len(config.processors), len(config.devices)
    made.users, made.patterns = len(config.users), len(config.patterns)
    made.actions = len(config.actions)
    made.processor = _array(_Processor, [_Processor(one) for one in config.processors])
    made.device = _array(_Device, [_device(one) for one in config.devices])
    made.user = _array(_User, [_user(one) for one in config.users])
    made.pattern = _array(_Pattern, [_Pattern((ctypes.c_uint16 * 24)(*p)) for p in config.patterns])
    made.action = _array(_Action, [_action(one) for one in config.actions])
    return made


def _add_page(name: Path, release: int) -> None:
    """The record of this page of IBM's is laid out as it says."""
    text = ctypes.create_string_buffer(_ERROR)
    try:
        page = name.read_bytes()
    except OSError as why:
        raise UsageError(f"--layout {name}: {why.strerror}") from why
    found = _loaded().monrec_add_page(page, len(page), text, _ERROR)
    if not found:
        raise UsageError(f"--layout {name}: {text.value.decode()}")
    if found != release:
        raise UsageError(
            f"--layout {name}: it is of z/VM {found / 100:.1f}, and the workload's release is"
            f" {release / 100:.1f}"
        )


class Model:
    """One run of it; *pages* are IBM's, of records that are to be laid out as they say."""

    def __init__(self, config: Config, pages: Sequence[Path] = ()) -> None:
        text = ctypes.create_string_buffer(_ERROR)
        try:
            for page in pages:
                _add_page(page, config.release)
            self._model = _loaded().model_open(ctypes.byref(_config(config)), text, _ERROR)
        finally:
            _loaded().monrec_forget_pages()
        if not self._model:
            raise UsageError(text.value.decode())

    def close(self) -> None:
        """Free it; harmless the second time.  No data of its sets may be used any more."""
        if self._model:
            _loaded().model_close(self._model)
            self._model = None

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def sets(self) -> Iterator[ModelSet]:
        """The remaining sets."""
        found = _Set()
        while self._model and _loaded().model_next(self._model, ctypes.byref(found)):
            data = (ctypes.c_uint8 * found.len).from_address(found.data)
            mce = Mce(found.type, found.domains, 0, found.start, found.start + found.len - 1)
            yield ModelSet(
                found.number,
                found.tod,
                KINDS[found.kind],
                mce,
                found.mca_start,
                memoryview(data).cast("B"),
            )

    def totals(self) -> Totals:
        """The totals so far."""
        found = _Totals()
        _loaded().model_totals(self._model, ctypes.byref(found))
        return Totals(*(getattr(found, name) for name, _ in _Totals._fields_))
