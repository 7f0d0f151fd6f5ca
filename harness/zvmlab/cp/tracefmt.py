# SPDX-License-Identifier: MIT
"""The CP's trace (docs/trace.md) for people: as text, or as a timeline for Perfetto."""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TextIO

from zvmlab.base.errors import ZvmlabError
from zvmlab.base.plain import harmless
from zvmlab.cp.peer import EventType

# The TOD clock counts 1/4096 microseconds (z/Architecture PoP, "Time-of-day clock").
_TOD_PER_MICROSECOND = 4096
_EVENT_BYTES = 40
# CP's own are shorter by far; a longer one is no trace.
_MAX_LINE = 16 << 20
_MAX_NUMBER = 1 << 64
_TOD = re.compile("[0-9a-fA-F]{1,16}")
_KNOWN = {"seq", "tod", "cpu", "call", "in", "out", "cc", "pgm", "how", "lost"}
_PENDING = {EventType.MSG_PENDING, EventType.PRIO_PENDING}
_COMPLETE = {EventType.MSG_COMPLETE, EventType.PRIO_COMPLETE}


@dataclass(frozen=True)
class Record:
    """One line of the trace."""

    seq: int
    tod: int
    cpu: int | None
    call: str
    fields: Mapping[str, Any]

    @property
    def track(self) -> str:
        """What the record belongs to in a timeline."""
        if self.cpu is not None:
            return f"CPU {self.cpu}"
        return str(self.fields.get("user", "CP"))

    @property
    def event(self) -> bytes | None:
        """The interrupt buffer, if the record is an interruption or an event of a user."""
        image = ""
        if self.call == "event":
            image = str(self.fields.get("event", ""))
        elif self.call == "interrupt":
            stores = [data for _, data, *hashed in self.fields.get("out", []) if not hashed]
            image = next((data for data in stores if data and len(data) == 2 * _EVENT_BYTES), "")
        return bytes.fromhex(image) if len(image) == 2 * _EVENT_BYTES else None


def read(path: str | os.PathLike[str]) -> Iterator[Record]:
    """The records of a trace file; a last line that was cut by a kill is left out."""
    try:
        with open(path, encoding="ascii") as file:
            for number in itertools.count(1):
                line = file.readline(_MAX_LINE)
                if not line.endswith("\n") and len(line) < _MAX_LINE:
                    return
                yield _record(path, number, line)
    except OSError as error:
        raise ZvmlabError(f"trace {os.fspath(path)} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ZvmlabError(f"{os.fspath(path)} is not a trace of a CP: it is not ASCII") from None


def read_part(path: str | os.PathLike[str], begin: int, end: int) -> Iterator[Record]:
    """The records whose lines lie wholly within the bytes *begin* to *end* of a trace file."""
    try:
        with open(path, "rb") as file:
            if begin > 0:
                file.seek(begin - 1)
                file.readline()  # the rest of a line that began before
            for number, line in enumerate(file, 1):
                if file.tell() > end or not line.endswith(b"\n"):
                    return
                text = line.decode("ascii", "replace")
                yield _record(f"{os.fspath(path)}, from byte {begin} on,", number, text)
    except OSError as error:
        raise ZvmlabError(f"trace {os.fspath(path)} cannot be read: {error.strerror}") from None


def _record(path: str | os.PathLike[str], number: int, line: str) -> Record:
    try:
        fields = json.loads(line)
        tod, call = fields["tod"], fields["call"]
        for access in fields.get("in", []) + fields.get("out", []):
            _check_access(access)
        if not isinstance(call, str) or not isinstance(tod, str) or not _TOD.fullmatch(tod):
            raise ValueError(tod)
        found = Record(
            seq=_number(fields["seq"]),
            tod=int(tod, 16),
            cpu=None if fields["cpu"] is None else _number(fields["cpu"]),
            call=call,
            fields=fields,
        )
        if found.event is not None and len(found.event) != _EVENT_BYTES:
            raise ValueError(found.event)
        return found
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ZvmlabError(
            f"line {number} of {os.fspath(path)} is not a record of a CP trace"
        ) from None


def _number(value: Any) -> int:
    """A member that is a number; True, 1e999 and what has no end are none."""
    if type(value) is not int or not 0 <= value < _MAX_NUMBER:
        raise ValueError(value)
    return value


def _check_access(access: Any) -> None:
    """Address and data; length and hash instead of data; "more", how many more and their hash."""
    if not isinstance(access, list) or len(access) not in (2, 3):
        raise ValueError(access)
    if len(access) == 2 and not isinstance(access[1], (str, type(None))):
        raise ValueError(access)


def _value(value: Any) -> str:
    if isinstance(value, list) and len(value) == 2 and isinstance(value[0], int):
        return f"({value[0]} bytes, hash {value[1]})"
    if isinstance(value, list):
        return "[" + " ".join(str(v) for v in value) + "]"
    text = str(value)
    return json.dumps(text, ensure_ascii=False) if " " in text or text == "" else text


def _access(access: list[Any]) -> str:
    if access[0] == "more":
        return f"and {access[1]} more (hash {access[2]})"
    if len(access) == 3:
        return f"{access[0]}:({access[1]} bytes, hash {access[2]})"
    if access[1] is None:
        return f"{access[0]}:(no storage)"
    return f"{access[0]}:{access[1]}"


def _event_text(image: bytes) -> str:
    path = int.from_bytes(image[:2], "big")
    try:
        kind = EventType(image[3]).name.lower().replace("_", "-")
    except ValueError:
        return f"type {image[3]:02x} path {path}"
    if EventType(image[3]) in _PENDING | _COMPLETE:
        return f"{kind} path {path} msgid {int.from_bytes(image[4:8], 'big')}"
    return f"{kind} path {path}"


def _result(fields: Mapping[str, Any]) -> str:
    for key, text in (("cc", "cc {}"), ("pgm", "program interruption {:04x}"), ("how", "{}")):
        if key in fields:
            return " -> " + text.format(fields[key])
    return ""


def seconds_since(record: Record, start: int) -> float:
    """Time from `start` (a TOD value) to the record."""
    return (record.tod - start) / _TOD_PER_MICROSECOND / 1e6


def describe(record: Record, start: int) -> str:
    """One record as a line, its time counted from `start` (a TOD value)."""
    fields = record.fields
    seconds = seconds_since(record, start)
    where = "-" if record.cpu is None else f"cpu{record.cpu}"
    parts = [f"{record.seq:>7} {seconds:13.6f} {where:>5}  {record.call}"]
    if record.event is not None:
        parts.append(_event_text(record.event))
    parts += [f"{key}={_value(value)}" for key, value in fields.items() if key not in _KNOWN]
    for key in ("in", "out"):
        if key in fields:
            parts.append(key + " " + " ".join(_access(a) for a in fields[key]))
    if "lost" in fields:
        parts.append(f"({fields['lost']} fields left out)")
    return harmless(" ".join(parts) + _result(fields), lines=False)


def print_trace(path: str | os.PathLike[str], out: TextIO) -> None:
    """The whole trace as text, one line for each record."""
    start: int | None = None
    for record in read(path):
        start = record.tod if start is None else start
        print(describe(record, start), file=out)


class _Timeline:
    """Chrome's trace-event format, which Perfetto reads."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = [_metadata("process_name", 0, "CP")]
        self._tracks: dict[str, int] = {}
        self._open: set[int] = set()
        self._start: int | None = None

    def add(self, record: Record) -> None:
        """A record as a slice; messages as spans from pending to complete."""
        self._start = record.tod if self._start is None else self._start
        when = (record.tod - self._start) / _TOD_PER_MICROSECOND
        base = {"pid": 1, "tid": self._track(record.track), "ts": when}
        arguments = {k: v for k, v in record.fields.items() if k not in ("tod", "call", "cpu")}
        self.events.append(
            {**base, "name": record.call, "cat": "call", "ph": "X", "dur": 1, "args": arguments}
        )
        image = record.event
        if image is not None:
            self._message(base, image)

    def _track(self, name: str) -> int:
        if name not in self._tracks:
            self._tracks[name] = len(self._tracks) + 1
            self.events.append(_metadata("thread_name", self._tracks[name], name))
        return self._tracks[name]

    def _message(self, base: Mapping[str, Any], image: bytes) -> None:
        msgid = int.from_bytes(image[4:8], "big")
        if image[3] in _PENDING and msgid not in self._open:
            phase = "b"
            self._open.add(msgid)
        elif image[3] in _COMPLETE and msgid in self._open:
            phase = "e"
            self._open.remove(msgid)
        else:
            return
        span = {"name": f"message {msgid}", "cat": "message", "id": msgid, "ph": phase}
        self.events.append({**base, **span})


def _metadata(kind: str, track: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": kind, "pid": 1, "tid": track, "args": {"name": name}}


def write_perfetto(path: str | os.PathLike[str], out: str | os.PathLike[str]) -> None:
    """A timeline that ui.perfetto.dev and chrome://tracing open."""
    timeline = _Timeline()
    for record in read(path):
        timeline.add(record)
    try:
        with open(out, "w", encoding="ascii") as file:
            json.dump({"traceEvents": timeline.events, "displayTimeUnit": "ns"}, file)
    except OSError as error:
        raise ZvmlabError(
            f"timeline {os.fspath(out)} cannot be written: {error.strerror}"
        ) from None
