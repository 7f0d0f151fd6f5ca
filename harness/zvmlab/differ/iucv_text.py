# SPDX-License-Identifier: MIT
"""IUCV calls and events of a trace in words, without storage addresses, ids numbered.

Offsets are those of the parameter list and the interrupt buffer, 40 bytes each
(zvmlab/iucv.h, docs/choices.md).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from zvmlab.cp.afiucv import name_text
from zvmlab.cp.peer import EventType, Flag
from zvmlab.cp.tracefmt import Record
from zvmlab.monitor.steps import SERVICE

LIST_SIZE = 40
Fields = tuple[tuple[str, int, int], ...]
"""Name, offset, size."""
_CONTROL: Fields = (("ipuser", 16, 16),)
_CONNECTION: Fields = (("limit", 4, 2), *_CONTROL)
_MASK: Fields = (("mask", 0, 1),)
_CLASSES: Fields = (("class", 8, 4), ("source class", 20, 4), ("tag", 24, 4))
_DATA: Fields = (("data", 12, 8),)
_LENGTH: Fields = (("length", 16, 4),)
_ANSWER: Fields = (("answer", 32, 4),)
_CALLS: dict[str, Fields] = {
    "connect": (*_CONNECTION, ("target", 32, 8)),
    "accept": _CONNECTION,
    "quiesce": _CONTROL,
    "resume": _CONTROL,
    "sever": _CONTROL,
    "declare-buffer": (),
    "retrieve-buffer": (),
    "set-mask": _MASK,
    "set-control-mask": _MASK,
}
_NO_PATH = ("declare-buffer", "retrieve-buffer", "set-mask", "set-control-mask", "describe")
_DECIMAL = ("limit", "length", "answer")
_WITH_DATA = ("send", "reply")
_INVALID_PATH = 1
_PENDING = (EventType.MSG_PENDING, EventType.PRIO_PENDING)
_COMPLETE = (EventType.MSG_COMPLETE, EventType.PRIO_COMPLETE)


@dataclass
class Names:
    """Ids of a user, numbered as they come up; *agent* is the user ID that is left out."""

    agent: str = ""
    _paths: dict[int, str] = field(default_factory=dict)
    _partners: dict[str, str] = field(default_factory=dict)
    _numbers: dict[tuple[str, int], int] = field(default_factory=dict)
    _made: int = 0
    _users: dict[str, Names] = field(default_factory=dict)

    def of(self, user: str) -> Names:
        """Those of another user."""
        return self._users.setdefault(user, Names(self.agent))

    def connected(self, path: int, partner: str = "") -> str:
        """A path that has come into being; an id may be used again."""
        self._made += 1
        name = f"path {self._made}"
        self._paths[path], self._partners[name] = name, partner
        return name

    def partner(self, path: str) -> str:
        """Whom it leads to, if that is known."""
        return self._partners[path]

    def path(self, path: int) -> str | None:
        """A path that was connected; None if it is another one."""
        return self._paths.get(path)

    def number(self, kind: str, value: int) -> str:
        """Any other id; 0 is none."""
        if kind == "path":
            return self.path(value) or self.connected(value)
        if not value:
            return f"no {kind}"
        known = sum(1 for other, _ in self._numbers if other == kind)
        return f"{kind} {self._numbers.setdefault((kind, value), known + 1)}"

    def message(self, image: bytes) -> str:
        """The message of a parameter list or interrupt buffer."""
        return self.number("message", int.from_bytes(image[4:8], "big"))


def lists_and_rest(record: Record) -> tuple[bytes | None, bytes, list[Any], list[Any]]:
    """The parameter list before the call (None: CP has not read it) and after it; reads and
    stores elsewhere."""
    address = record.fields.get("gr1", "")
    reads, stores = (list(record.fields.get(name, [])) for name in ("in", "out"))
    own = next((a for a in reads if a[0] == address and len(a) == 2 and a[1] is not None), None)
    if own is None or len(own[1]) != 2 * LIST_SIZE:
        return None, b"", reads, stores
    image, base, rest = bytearray.fromhex(own[1]), int(address, 16), []
    for store in stores:
        at = int(store[0], 16) - base if store[0] != "more" else -1
        if len(store) != 2 or store[1] is None or not 0 <= at < LIST_SIZE:
            rest.append(store)
            continue
        data = bytes.fromhex(store[1])[: LIST_SIZE - at]
        image[at : at + len(data)] = data
    return bytes.fromhex(own[1]), bytes(image), [a for a in reads if a is not own], rest


def _words(image: bytes, fields: Fields, names: Names | None = None) -> str:
    """Fields that are not zero, hexadecimal; limits and lengths are numbers.

    Tags count messages, so with *names* they are numbered as they come up.
    """
    words = []
    for name, offset, size in fields:
        part = image[offset : offset + size]
        value = int.from_bytes(part, "big")
        if value and name in _DECIMAL:
            words.append(f"{name} {value}")
        elif value and name == "tag" and names is not None:
            words.append(names.number(name, value))
        elif value:
            words.append(f"{name} {part.hex()}")
    return "".join(f"{word} " for word in words)


def _message_fields(what: str, image: bytes) -> Fields:
    """Of a function that is about a message."""
    in_list = image[2] & Flag.RMDATA and what in _WITH_DATA
    return (*_CLASSES, *(_DATA if in_list else _LENGTH), *(_ANSWER if what == "send" else ()))


def _connect(before: bytes, after: bytes, result: str, names: Names) -> str | None:
    user = name_text(before[8:16])
    if user == names.agent:
        return None
    made = ""
    if result == "cc 0":
        granted = int.from_bytes(after[4:6], "big")
        made = f", {names.connected(int.from_bytes(after[:2], 'big'), user)} limit {granted}"
    fields = _words(before, _CALLS["connect"])
    return f"connect {user} {fields}flags {before[2]:02x}, {result}{made}"


def call_text(what: str, before: bytes, after: bytes, result: str, names: Names) -> str | None:
    """An instruction; None if it is about a path from before that is there."""
    if result == "cc 1":
        result += f" code {after[3]:#04x}"
    if what == "connect":
        return _connect(before, after, result, names)
    place = ""
    if what not in _NO_PATH:
        path = names.path(int.from_bytes(before[:2], "big"))
        if path is None and not (result.startswith("cc 1") and after[3] == _INVALID_PATH):
            return None
        place = f"{path or 'no path'} "
    if what in _NO_PATH:
        return f"{what} {_words(before, _CALLS.get(what, ()))}{result}"
    flags = f"flags {before[2]:02x}"
    if what in _CALLS:
        return f"{what} {place}{_words(before, _CALLS[what])}{flags}, {result}"
    fields = _message_fields(what, before)
    words, then = (_words(image, fields, names) for image in (before, after))
    stored = "" if words == then else f", then {then.rstrip() or 'nothing'}"
    message = names.message(after if what == "send" else before)
    return f"{what} {place}{message} {words}{flags}, {result}{stored}"


def event_text(image: bytes, names: Names, who: str = "") -> str | None:
    """An interruption, or an event of a service; None if it is about a path from before."""
    number, kind = int.from_bytes(image[:2], "big"), image[3]
    if kind == EventType.PENDING:
        user = name_text(image[8:16])
        if user == names.agent:
            return None
        made, fields = names.connected(number, user), _words(image, _CONNECTION)
        return f"{who}pending {made} of {user} {fields}flags {image[2]:02x}"
    path = names.path(number)
    if path is None:
        return None
    name = EventType(kind).name.lower() if kind in list(EventType) else f"type {kind}"
    place = f"{who}{name.replace('_', ' ')} {path}"
    if kind in _PENDING or kind in _COMPLETE:
        words = f"{names.message(image)} {_message_words(kind, image, path, names)}"
    else:
        words = _words(image, _CONNECTION if kind == EventType.COMPLETE else _CONTROL)
    return f"{place} {words}flags {image[2]:02x}"


def _message_words(kind: int, image: bytes, path: str, names: Names) -> str:
    """What an event says of its message."""
    data = image[2] & Flag.RMDATA
    if kind in _COMPLETE:
        fields = (("audit", 8, 3), *(_DATA if data else ()), *_CLASSES[1:], *_ANSWER)
        return _words(image, fields, names)
    if data and names.partner(path) == SERVICE:
        start, end = (int.from_bytes(image[at : at + 4], "big") for at in (12, 16))
        size = (end - start + 1) & 0xFFFFFFFF
        return f"{_words(image, _CLASSES[:1])}{size} bytes of control area "
    return _words(image, (*_CLASSES[:1], *(_DATA if data else _LENGTH), *_ANSWER))
