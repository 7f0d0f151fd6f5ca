# SPDX-License-Identifier: MIT
"""IUCV calls and events of a trace in words, without storage addresses, ids numbered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from zvmlab.cp.afiucv import name_text
from zvmlab.cp.iucv_fields import (
    ANSWER,
    CALLS,
    CLASSES,
    CONNECTION,
    CONTROL,
    DATA,
    LENGTH,
    NO_PATH,
    message_fields,
    words_of,
)
from zvmlab.cp.peer import EventType, Flag
from zvmlab.monitor.steps import SERVICE

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
        """The entries of another user."""
        return self._users.setdefault(user, Names(self.agent))

    def connected(self, path: int, partner: str = "") -> str:
        """A path that has come into being; an id may be used again."""
        self._made += 1
        name = f"path {self._made}"
        self._paths[path], self._partners[name] = name, partner
        return name

    def partner(self, path: str) -> str:
        """The user at the other end of a path; "" if unknown."""
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


def _connect(before: bytes, after: bytes, result: str, names: Names) -> str | None:
    user = name_text(before[8:16])
    if user == names.agent:
        return None
    made = ""
    if result == "cc 0":
        granted = int.from_bytes(after[4:6], "big")
        made = f", {names.connected(int.from_bytes(after[:2], 'big'), user)} limit {granted}"
    fields = words_of(before, CALLS["connect"])
    return f"connect {user} {fields}flags {before[2]:02x}, {result}{made}"


def call_text(what: str, before: bytes, after: bytes, result: str, names: Names) -> str | None:
    """An instruction; None if it is about a path from before that is there."""
    if result == "cc 1":
        result += f" code {after[3]:#04x}"
    if what == "connect":
        return _connect(before, after, result, names)
    place = ""
    if what not in NO_PATH:
        path = names.path(int.from_bytes(before[:2], "big"))
        if path is None and not (result.startswith("cc 1") and after[3] == _INVALID_PATH):
            return None
        place = f"{path or 'no path'} "
    if what in NO_PATH:
        return f"{what} {words_of(before, CALLS.get(what, ()))}{result}"
    flags = f"flags {before[2]:02x}"
    if what in CALLS:
        return f"{what} {place}{words_of(before, CALLS[what])}{flags}, {result}"
    fields = message_fields(what, before)
    words, then = (words_of(image, fields, names.number) for image in (before, after))
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
        made, fields = names.connected(number, user), words_of(image, CONNECTION)
        return f"{who}pending {made} of {user} {fields}flags {image[2]:02x}"
    path = names.path(number)
    if path is None:
        return None
    name = EventType(kind).name.lower() if kind in list(EventType) else f"type {kind}"
    place = f"{who}{name.replace('_', ' ')} {path}"
    if kind in _PENDING or kind in _COMPLETE:
        words = f"{names.message(image)} {_message_words(kind, image, path, names)}"
    else:
        words = words_of(image, CONNECTION if kind == EventType.COMPLETE else CONTROL)
    return f"{place} {words}flags {image[2]:02x}"


def _message_words(kind: int, image: bytes, path: str, names: Names) -> str:
    """Describe the message of an event in words."""
    data = image[2] & Flag.RMDATA
    if kind in _COMPLETE:
        fields = (("audit", 8, 3), *(DATA if data else ()), *CLASSES[1:], *ANSWER)
        return words_of(image, fields, names.number)
    if data and names.partner(path) == SERVICE:
        start, end = (int.from_bytes(image[at : at + 4], "big") for at in (12, 16))
        size = (end - start + 1) & 0xFFFFFFFF
        return f"{words_of(image, CLASSES[:1])}{size} bytes of control area "
    return words_of(image, (*CLASSES[:1], *(DATA if data else LENGTH), *ANSWER))
