# SPDX-License-Identifier: MIT
"""The CP's trace (docs/trace.md) for people: as text, or as a timeline for Perfetto."""

from __future__ import annotations

import fnmatch
import heapq
import itertools
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TextIO

from zvmlab.base.errors import ZvmlabError
from zvmlab.base.plain import harmless
from zvmlab.cp.afiucv import name_text
from zvmlab.cp.iucv_fields import (
    ANSWER,
    CALLS,
    CLASSES,
    CODES,
    CONNECTION,
    CONTROL,
    DATA,
    LENGTH,
    NO_PATH,
    Fields,
    lists_and_rest,
    message_fields,
    words_of,
)
from zvmlab.cp.peer import EventType, Flag

# The TOD clock counts 1/4096 microseconds (z/Architecture PoP, "Time-of-day clock").
_TOD_PER_MICROSECOND = 4096
_EVENT_BYTES = 40
# CP's own are shorter by far; a longer one is no trace.
_MAX_LINE = 16 << 20
_MAX_NUMBER = 1 << 64
_TOD = re.compile("[0-9a-fA-F]{1,16}")
_KNOWN = {"seq", "order", "tod", "clock", "cpu", "call", "in", "out", "cc", "pgm", "how", "lost"}
_PENDING = {EventType.MSG_PENDING, EventType.PRIO_PENDING}
_COMPLETE = {EventType.MSG_COMPLETE, EventType.PRIO_COMPLETE}
_YIELDS = ("diag.44", "diag.9c")
# Of a peer's parameter list; those that it does not use are zero.
_PEER_FIELDS = {
    *("vmid", "msglim", "msgid", "trgcls", "srccls", "msgtag", "ipuser", "rmmsg", "answer"),
    "path#2",
}
# The function and the list's address, both told by the words.
_IUCV_OPERANDS = ("gr0", "gr1", "amode")


@dataclass(frozen=True)
class Record:
    """One line of the trace."""

    seq: int
    tod: int
    cpu: int | None
    call: str
    fields: Mapping[str, Any]
    machine: str = ""
    """User ID of the member of a system whose record it is, if there are several."""

    @property
    def track(self) -> str:
        """The row of a timeline that the record belongs to."""
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


def read_system(traces: Mapping[str, str | os.PathLike[str]]) -> Iterator[Record]:
    """The records of a system's members, whose user IDs are the keys, in their common order.

    Their numbers and times are those of the system.
    """
    files = [_of_member(read(path), userid) for userid, path in traces.items()]
    yield from heapq.merge(*files, key=lambda record: record.seq)


def _of_member(records: Iterator[Record], userid: str) -> Iterator[Record]:
    last = 0
    for record in records:
        clock = str(record.fields.get("clock", ""))
        order = record.fields.get("order", last)
        last = order if type(order) is int and last <= order < _MAX_NUMBER else last
        tod = int(clock, 16) if _TOD.fullmatch(clock) else record.tod
        yield replace(record, seq=last, tod=tod, machine=userid)


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
        if call == "repeat":
            _number(fields["times"])
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
    """Address and data; length and hash instead of data; "more", how many more and their hash.

    In front of the address is the user ID of another machine, if the storage is that machine's.
    """
    if isinstance(access, list):
        access = access[_is_others(access) :]
    if not isinstance(access, list) or len(access) not in (2, 3):
        raise ValueError(access)
    if len(access) == 2 and not isinstance(access[1], (str, type(None))):
        raise ValueError(access)


def _is_others(access: list[Any]) -> bool:
    """Is it storage of another machine: name, address and data, or length and hash?"""
    return len(access) == 4 or (
        len(access) == 3 and not isinstance(access[1], int) and access[0] != "more"
    )


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
    if _is_others(access):
        return f"{access[0]}'s {_access(access[1:])}"
    if len(access) == 3:
        return f"{access[0]}:({access[1]} bytes, hash {access[2]})"
    if access[1] is None:
        return f"{access[0]}:(no storage)"
    return f"{access[0]}:{access[1]}"


def _iucv_text(record: Record) -> tuple[str, dict[str, Any]] | None:
    """A guest's IUCV instruction in words, and what of the record they do not tell; None if CP did
    not read its parameter list."""
    fields = record.fields
    try:
        before, after, reads, stores = lists_and_rest(fields)
    except (ValueError, TypeError, IndexError):
        return None  # a trace that CP did not write
    if record.cpu is None or before is None:
        return None
    what = record.call.removeprefix("iucv.")
    words = ""
    if what == "connect":
        words += f" to {name_text(before[8:16])} {words_of(before, CALLS[what])}".rstrip()
        if fields.get("cc") == 0:
            words += f", path {int.from_bytes(after[:2], 'big')}"
    elif what in NO_PATH:
        words += f" {words_of(before, CALLS.get(what, ()))}".rstrip()
    else:
        words += f" path {int.from_bytes(before[:2], 'big')}"
        if what not in CALLS:
            message = after if what == "send" else before
            words += f" msgid {int.from_bytes(message[4:8], 'big')}"
        words += f" {words_of(before, CALLS.get(what, message_fields(what, before)))}".rstrip()
    if before[2] and what not in NO_PATH:
        words += f" flags {before[2]:02x}"
    code = f": {_code_text(after[3])}" if fields.get("cc") == 1 else ""
    told = {"in": reads, "out": stores}
    rest = {k: told.get(k, v) for k, v in fields.items() if k not in _IUCV_OPERANDS}
    return words + code, {k: v for k, v in rest.items() if v != []}


def _code_text(code: int) -> str:
    """An IPRCODE."""
    return f"IPRCODE {code:02x}, {CODES.get(code, 'which has no meaning here')}"


def _event_text(image: bytes) -> str:
    path = int.from_bytes(image[:2], "big")
    try:
        kind = EventType(image[3])
    except ValueError:
        return f"type {image[3]:02x} path {path}"
    text = f"{kind.name.lower().replace('_', '-')} path {path}"
    fields: Fields = CONTROL
    if kind is EventType.PENDING:
        text, fields = f"{text} of {name_text(image[8:16])}", CONNECTION
    elif kind is EventType.COMPLETE:
        fields = CONNECTION
    elif kind in _PENDING | _COMPLETE:
        text += f" msgid {int.from_bytes(image[4:8], 'big')}"
        data = DATA if image[2] & Flag.RMDATA else () if kind in _COMPLETE else LENGTH
        fields = (*(CLASSES[1:] if kind in _COMPLETE else CLASSES[:1]), *data, *ANSWER)
    flags = f" flags {image[2]:02x}" if image[2] else ""
    return f"{text} {words_of(image, fields)}".rstrip() + flags


def _result(fields: Mapping[str, Any]) -> str:
    for key, text in (("cc", "cc {}"), ("pgm", "program interruption {:04x}"), ("how", "{}")):
        if key in fields:
            return " -> " + text.format(fields[key])
    return ""


def seconds_since(record: Record, start: int) -> float:
    """Time from `start` (a TOD value) to the record."""
    return (record.tod - start) / _TOD_PER_MICROSECOND / 1e6


def _is_unused(key: str, value: Any) -> bool:
    """Is it a field of a peer's parameter list that is zero, or blank?"""
    return key in _PEER_FIELDS and not str(value).strip("0 ")


def describe(record: Record, start: int, raw: bool = False) -> str:
    """One record as a line, its time counted from `start` (a TOD value).

    A parameter list or an interrupt buffer is told in words, unless *raw* bytes are wanted.
    """
    fields = record.fields
    seconds = seconds_since(record, start)
    where = "-" if record.cpu is None else f"cpu{record.cpu}"
    machine = f"{record.machine:<8} " if record.machine else ""
    parts = [f"{record.seq:>7} {machine}{seconds:13.6f} {where:>5}  {record.call}"]
    told = None if raw or not record.call.startswith("iucv.") else _iucv_text(record)
    if told is not None:
        parts[0] += told[0]
        fields = told[1]
    elif not raw and record.cpu is None and record.call.startswith("iucv."):
        fields = {key: value for key, value in fields.items() if not _is_unused(key, value)}
    if record.event is not None:
        parts.append(_event_text(record.event))
        fields = fields if raw else _without_event(fields)
    parts += [f"{key}={_value(value)}" for key, value in fields.items() if key not in _KNOWN]
    for key in ("in", "out"):
        if key in fields:
            parts.append(key + " " + " ".join(_access(a) for a in fields[key]))
    if "lost" in fields:
        parts.append(f"({fields['lost']} fields left out)")
    return harmless(" ".join(parts) + _result(fields), lines=False)


def _without_event(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Without the interrupt buffer, which is told in words."""
    stores = [
        access
        for access in fields.get("out", [])
        if len(access) != 2 or access[1] is None or len(access[1]) != 2 * _EVENT_BYTES
    ]
    rest = {key: value for key, value in fields.items() if key not in ("event", "out")}
    return rest | ({"out": stores} if stores else {})


@dataclass(frozen=True)
class Choice:
    """The records to show, and in which form; patterns as in a shell, none: all."""

    calls: tuple[str, ...] = ()
    """Names of calls: "iucv.*"."""
    users: tuple[str, ...] = ()
    """User IDs; "CPU 0" and so on are the guest's own, and of a system the members' are theirs."""
    since: int = 0
    """The first number."""
    raw: bool = False
    """Bytes instead of words, and each of the guest's waits."""

    def wants(self, record: Record) -> bool:
        """Is it one of them?"""
        return (
            record.seq >= self.since
            and _matches(record.call, self.calls)
            and (
                _matches(record.track, self.users)
                or (record.machine != "" and _matches(record.machine, self.users))
            )
        )


def _matches(text: str, patterns: tuple[str, ...]) -> bool:
    return not patterns or any(fnmatch.fnmatchcase(text, pattern) for pattern in patterns)


@dataclass
class Fold:
    """A record, or several of CPUs that wait."""

    first: Record
    last: Record
    count: int = 1


def folded(records: Iterator[Record], by_track: bool = False) -> Iterator[Fold]:
    """The records; what CPUs do while they wait, DIAGNOSE X'44' and X'9C', is one while it goes on.

    With *by_track* it goes on until that CPU does something else, not until any does.
    """
    waiting: dict[str, Fold] = {}
    for record in records:
        track = f"{record.machine} {record.track}" if by_track else ""
        fold = waiting.get(track)
        if fold is not None and fold.first.machine != record.machine:
            yield waiting.pop(track)
            fold = None
        if fold is not None and record.call == "repeat":
            fold.last, fold.count = record, fold.count + int(record.fields["times"])
        elif fold is not None and record.call in _YIELDS:
            fold.last, fold.count = record, fold.count + 1
        else:
            if fold is not None:
                yield waiting.pop(track)
            if record.call in _YIELDS:
                waiting[track] = Fold(record, record)
            else:
                yield Fold(record, record)
    yield from waiting.values()


def print_trace(path: str | os.PathLike[str], out: TextIO, choice: Choice = Choice()) -> None:
    """The trace as text, one line for each record that is wanted, or several of one kind."""
    print_records(read(path), out, choice)


def print_records(records: Iterable[Record], out: TextIO, choice: Choice = Choice()) -> None:
    """The same of what read() or read_system() gives."""
    start: int | None = None
    shown = (record for record in records if choice.wants(record))
    for fold in (Fold(record, record) for record in shown) if choice.raw else folded(shown):
        # A guest that is restored goes on at the time when it was saved.
        again = fold.first.call == "state.load"
        start = fold.first.tod if start is None or again else start
        line = describe(fold.first, start, choice.raw)
        if fold.count > 1:
            line += f", and {fold.count - 1} more until {seconds_since(fold.last, start):.6f}"
        print(line, file=out)


class _Timeline:
    """Chrome's trace-event format, which Perfetto reads; *start* is a TOD value."""

    def __init__(self, start: int) -> None:
        self.events: list[dict[str, Any]] = []
        self._machines: dict[str, int] = {}
        self._tracks: dict[tuple[str, str], int] = {}
        self._open: set[int] = set()
        self._start = start

    def add(self, fold: Fold) -> None:
        """A record, or several, as a slice; messages as spans from pending to complete."""
        record = fold.first
        when = (record.tod - self._start) / _TOD_PER_MICROSECOND
        base = {**self._track(record.machine, record.track), "ts": when}
        arguments = {k: v for k, v in record.fields.items() if k not in ("tod", "call", "cpu")}
        arguments["text"] = describe(record, self._start).split(maxsplit=3)[-1]
        name = record.call if fold.count == 1 else f"{record.call} x {fold.count}"
        length = max(1, (fold.last.tod - record.tod) / _TOD_PER_MICROSECOND)
        self.events.append(
            {**base, "name": name, "cat": "call", "ph": "X", "dur": length, "args": arguments}
        )
        image = record.event
        if image is not None:
            self._message(base, image)

    def _track(self, machine: str, name: str) -> dict[str, int]:
        """Of a machine's rows: those of a guest alone are CP's."""
        if machine not in self._machines:
            self._machines[machine] = len(self._machines) + 1
            self._name("process_name", self._machines[machine], 0, machine or "CP")
        if (machine, name) not in self._tracks:
            self._tracks[machine, name] = len(self._tracks) + 1
            self._name("thread_name", self._machines[machine], self._tracks[machine, name], name)
        return {"pid": self._machines[machine], "tid": self._tracks[machine, name]}

    def _name(self, kind: str, process: int, track: int, name: str) -> None:
        metadata = {"ph": "M", "name": kind, "pid": process, "tid": track, "args": {"name": name}}
        self.events.append(metadata)

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


def write_perfetto(
    records: Iterable[Record], out: str | os.PathLike[str], choice: Choice = Choice()
) -> None:
    """A timeline that ui.perfetto.dev and chrome://tracing open."""
    shown = (record for record in records if choice.wants(record))
    first = next(shown, None)
    timeline = _Timeline(0 if first is None else first.tod)
    if first is not None:
        for fold in folded(itertools.chain([first], shown), by_track=True):
            timeline.add(fold)
    try:
        with open(out, "w", encoding="ascii") as file:
            json.dump({"traceEvents": timeline.events, "displayTimeUnit": "ns"}, file)
    except OSError as error:
        raise ZvmlabError(
            f"timeline {os.fspath(out)} cannot be written: {error.strerror}"
        ) from None
