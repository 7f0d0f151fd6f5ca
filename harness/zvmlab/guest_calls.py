# SPDX-License-Identifier: MIT
"""What a monreader said to CP and heard of it, as the trace has it, one line each.

Made to be compared with another run: without time, storage addresses and the
agent's calls; path and message ids are numbered in the order of their coming up.
Calls and interruptions are apart, for an interruption may come a moment sooner
or later.  Offsets are those of the IUCV parameter list and interrupt buffer
(zvmlab/iucv.h, docs/choices.md).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field

from zvmlab.afiucv import name_text
from zvmlab.peer import EventType
from zvmlab.scenario import SERVICE
from zvmlab.tracefmt import Record

_LIST_SIZE = 40
_SEGMENTS = "diag.64"


@dataclass
class GuestCalls:
    """Lines of both directions, in order."""

    calls: list[str] = field(default_factory=list)
    interruptions: list[str] = field(default_factory=list)


class _Names:
    """Ids numbered as they come up."""

    def __init__(self) -> None:
        self._paths: dict[int, str] = {}
        self._messages: dict[tuple[str, int], str] = {}
        self._made = 0

    def connected(self, path: int) -> str:
        """A path that CONNECT made; an id may be used again."""
        self._made += 1
        self._paths[path] = f"path {self._made}"
        return self._paths[path]

    def path(self, path: int) -> str | None:
        """A path of the service; None if it is another one."""
        return self._paths.get(path)

    def message(self, path: str, message: int) -> str:
        """A message on such a path."""
        return self._messages.setdefault((path, message), f"message {len(self._messages) + 1}")


def _patched(record: Record, before: bytes, address: str) -> bytes:
    """The parameter list after the call."""
    image, base = bytearray(before), int(address, 16)
    for place, data, *more in record.fields.get("out", []):
        if place == "more" or more or data is None:
            continue
        at = int(place, 16) - base
        if 0 <= at < len(image):
            stored = bytes.fromhex(data)[: len(image) - at]
            image[at : at + len(stored)] = stored
    return bytes(image)


def _result(record: Record, after: bytes) -> str:
    if "pgm" in record.fields:
        return f"program interruption {record.fields['pgm']}"
    code = record.fields.get("cc")
    return f"cc {code}" + (f" code {after[3]:#04x}" if code == 1 else "")


def _iucv(record: Record, names: _Names) -> str | None:
    """An IUCV instruction on a path to the service; None if it is another one."""
    address = record.fields.get("gr1", "")
    access = next((a for a in record.fields.get("in", []) if a[0] == address), None)
    if access is None or len(access) != 2 or access[1] is None:
        return None
    before = bytes.fromhex(access[1])
    if len(before) != _LIST_SIZE:
        return None
    after = _patched(record, before, address)
    what = record.call.removeprefix("iucv.")
    result = f"flags {before[2]:02x}, {_result(record, after)}"
    if what == "connect":
        if name_text(before[8:16]) != SERVICE:
            return None
        (limit,) = struct.unpack_from(">H", before, 4)
        made = f", {names.connected(int.from_bytes(after[:2], 'big'))}"
        asked = f"connect {SERVICE} limit {limit} ipuser {before[16:32].hex()}"
        return f"{asked} {result}{made if record.fields.get('cc') == 0 else ''}"
    path = names.path(int.from_bytes(before[:2], "big"))
    if path is None:
        return None
    if what == "reply":
        message = names.message(path, int.from_bytes(before[4:8], "big"))
        return f"reply {path} {message} {result}"
    return f"{what} {path} ipuser {before[16:32].hex()} {result}"


def _segment(record: Record) -> str:
    """DIAGNOSE X'64': a saved segment is asked for, loaded, given back."""
    registers, r3 = record.fields["gr"], record.fields["r3"]
    text = f"diagnose 64 subcode {registers[r3]} {record.fields.get('segment', '')}"
    code = record.fields.get("cc")
    if code is None:
        return f"{text} program interruption {record.fields.get('pgm')}"
    refused = f" code {record.fields.get(f'gr{r3}')}" if code > 1 else ""
    return f"{text} cc {code}{refused}"


def _interruption(record: Record, names: _Names) -> str | None:
    event = record.event
    path = None if event is None else names.path(int.from_bytes(event[:2], "big"))
    if event is None or path is None:
        return None
    kind = event[3]
    if kind in (EventType.MSG_PENDING, EventType.PRIO_PENDING):
        message, trgcls, start, end = struct.unpack_from(">4I", event, 4)
        size = (end - start + 1) & 0xFFFFFFFF
        name = names.message(path, message)
        return f"{name} {path} flags {event[2]:02x} class {trgcls:x}, {size} bytes of control area"
    if kind == EventType.COMPLETE:
        return f"complete {path} limit {int.from_bytes(event[4:6], 'big')}"
    if kind == EventType.SEVERED:
        return f"severed {path} code {event[16]}"
    return f"{EventType(kind).name.lower() if kind in list(EventType) else kind} {path}"


def guest_calls(records: Iterable[Record]) -> GuestCalls:
    """What belongs to the driver in a part of a trace in which it was not connected before."""
    found, names = GuestCalls(), _Names()
    for record in records:
        if record.cpu is None:
            continue
        if record.call == "interrupt":
            line = _interruption(record, names)
            found.interruptions += [] if line is None else [line]
        elif record.call == _SEGMENTS:
            found.calls.append(_segment(record))
        elif record.call.startswith("iucv."):
            line = _iucv(record, names)
            found.calls += [] if line is None else [line]
    return found
