# SPDX-License-Identifier: MIT
"""Values out of a JSON file, each checked: what is wrong is told with its place.

    top = Node("storm.json", json.loads(text))
    hours = top.number("hours", 0.01, 100)
    for user in top.nodes("users"):
        name = user.text("name")
    top.done()
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from zvmlab.base.errors import UsageError
from zvmlab.base.json_file import parse, short

MAX_BYTES = 4 << 20
_PLACE = 80
_TEXT = 64
T = TypeVar("T")
_NOTHING: Any = object()


def load(path: Path) -> Node:
    """The object in a file."""
    return Node(str(path), parse(path, str(path), MAX_BYTES))


class Node:
    """An object of the file; each member is taken once, done() finds those nobody wanted."""

    def __init__(self, file: str, value: object, place: str = "") -> None:
        self._file = file
        self._place = place
        if not isinstance(value, dict):
            raise self.error("", f"is {_short(value)}; write an object")
        self._value: dict[str, Any] = value
        self._known: set[str] = set()

    def error(self, key: str, text: str) -> UsageError:
        """One sentence about a member, or about the object itself."""
        place = ".".join(part for part in (self._place, key) if part) or "the workload"
        if len(place) > _PLACE:
            place = f"{place[:_PLACE]}…"
        return UsageError(f"{self._file}: {place} {text}")

    def has(self, key: str) -> bool:
        """Is the member there?"""
        return key in self._value

    def _take(self, key: str, default: T) -> Any | T:
        self._known.add(key)
        if key not in self._value and default is _NOTHING:
            raise self.error(key, "is missing; add it")
        return self._value.get(key, default)

    def integer(self, key: str, low: int, high: int, default: int = _NOTHING) -> int:
        """A whole number."""
        value = self._take(key, default)
        # True and False are integers for Python, not for JSON.
        if type(value) is not int or not low <= value <= high:
            raise self.error(key, f"is {_short(value)}; write a whole number, {low} to {high}")
        return value

    def number(self, key: str, low: float, high: float, default: float = _NOTHING) -> float:
        """Any number."""
        value = self._take(key, default)
        if type(value) not in (int, float) or not low <= value <= high:
            raise self.error(key, f"is {_short(value)}; write a number, {low:g} to {high:g}")
        return float(value)

    def thousandths(self, key: str, high: int, default: float = _NOTHING) -> int:
        """A number up to *high*, as so many thousandths."""
        return round(self.number(key, 0, high, default) * 1000)

    def truth(self, key: str, default: bool = _NOTHING) -> bool:
        """true or false."""
        value = self._take(key, default)
        if type(value) is not bool:
            raise self.error(key, f"is {_short(value)}; write true or false")
        return value

    def text(self, key: str, most: int = 64, default: str = _NOTHING) -> str:
        """A string of printable ASCII."""
        value = self._take(key, default)
        if (
            not isinstance(value, str)
            or not (value.isascii() and value.isprintable())
            or len(value) > most
        ):
            raise self.error(key, f"is {_short(value)}; write up to {most} characters of ASCII")
        return value

    def name(self, key: str, most: int = 8, default: str = _NOTHING) -> str:
        """A name as CP's are: letters, digits, @ # $ _, in upper case."""
        value = self.text(key, default=default)
        if not 0 < len(value) <= most or not all(c.isalnum() or c in "@#$_" for c in value):
            raise self.error(key, f'is "{value}"; write 1 to {most} letters, digits or @ # $ _')
        return value.upper()

    def hexadecimal(self, key: str, high: int, default: str = _NOTHING) -> int:
        """A string of hexadecimal digits."""
        value = self.text(key, default=default)
        try:
            found = int(value, 16) if value.isalnum() else -1
        except ValueError:
            found = -1
        if not 0 <= found <= high:
            raise self.error(key, f'is "{value}"; write hexadecimal digits, up to "{high:X}"')
        return found

    def choice(self, key: str, words: Sequence[str], default: str = _NOTHING) -> str:
        """One of some words."""
        value = self._take(key, default)
        if value not in words:
            raise self.error(key, f"is {_short(value)}; write one of {', '.join(words)}")
        return str(value)

    def items(self, key: str, default: list[Any] = _NOTHING) -> list[Any]:
        """A list of anything."""
        value = self._take(key, default)
        if not isinstance(value, list):
            raise self.error(key, f"is {_short(value)}; write a list")
        return value

    def texts(self, key: str, default: list[str] = _NOTHING) -> list[str]:
        """A list of strings."""
        value = self.items(key, default)
        for at, item in enumerate(value):
            if not isinstance(item, str) or len(item) > _TEXT:
                raise self.error(f"{key}[{at}]", f"is {_short(item)}; write a short string")
        return value

    def node(self, key: str) -> Node:
        """An object; an empty one if it is missing."""
        return Node(self._file, self._take(key, {}), self._place_of(key))

    def nodes(self, key: str, default: list[Any] = _NOTHING) -> Iterator[Node]:
        """A list of objects."""
        for at, item in enumerate(self.items(key, default)):
            yield Node(self._file, item, self._place_of(f"{key}[{at}]"))

    def keys(self) -> list[str]:
        """All members, which may have any name."""
        return list(self._value)

    def done(self) -> None:
        """Complain of members that mean nothing."""
        for key in self._value:
            if key not in self._known:
                known = ", ".join(sorted(self._known))
                raise self.error(key, f"is unknown (possible: {known})")

    def _place_of(self, key: str) -> str:
        return f"{self._place}.{key}" if self._place else key


def _short(value: object) -> str:
    return "missing" if value is _NOTHING else short(value)
