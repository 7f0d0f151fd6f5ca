# SPDX-License-Identifier: MIT
"""Parameter lists and interrupt buffers of IUCV, field by field.

Offsets are those of the 40 bytes of each (zvmlab/iucv.h, docs/choices.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from zvmlab.cp.peer import Flag

LIST_SIZE = 40
Fields = tuple[tuple[str, int, int], ...]
"""Name, offset, size."""
CONTROL: Fields = (("ipuser", 16, 16),)
CONNECTION: Fields = (("limit", 4, 2), *CONTROL)
MASK: Fields = (("mask", 0, 1),)
CLASSES: Fields = (("class", 8, 4), ("source class", 20, 4), ("tag", 24, 4))
DATA: Fields = (("data", 12, 8),)
LENGTH: Fields = (("length", 16, 4),)
ANSWER: Fields = (("answer", 32, 4),)
CALLS: dict[str, Fields] = {
    "connect": (*CONNECTION, ("target", 32, 8)),
    "accept": CONNECTION,
    "quiesce": CONTROL,
    "resume": CONTROL,
    "sever": CONTROL,
    "declare-buffer": (),
    "retrieve-buffer": (),
    "set-mask": MASK,
    "set-control-mask": MASK,
}
NO_PATH = ("declare-buffer", "retrieve-buffer", "set-mask", "set-control-mask", "describe")
_DECIMAL = ("limit", "length", "answer")
_WITH_DATA = ("send", "reply")

CODES: Mapping[int, str] = {
    0x01: "no such path",
    0x02: "the path is quiesced",
    0x03: "the path's message limit is reached",
    0x04: "the path has no priority messages",
    0x05: "the buffer is too short",
    0x08: "another class",
    0x09: "the message was purged",
    0x0A: "a length is not valid",
    0x0B: "the other user is not logged on",
    0x0C: "the other user has no interrupt buffer",
    0x0D: "this user has as many paths as it may have",
    0x0E: "the other user has as many paths as it may have",
    0x0F: "the directory does not allow it",
    0x10: "no such system service",
    0x11: "no such function",
    0x12: "the message limit is not valid",
    0x13: "an interrupt buffer is declared already",
    0x14: "the other user has severed the path",
    0x15: "the path has no messages in the parameter list",
    0x1C: "no interrupt buffer for control interruptions",
    0x30: "not for a path to a system service",
    0x3E: "the parameter list overlaps the interrupt buffer",
    0x5C: "storage cannot be used",
}
"""What an IPRCODE with condition code 1 means (enum iucv_code in zvmlab/iucv.h)."""


def lists_and_rest(fields: Mapping[str, Any]) -> tuple[bytes | None, bytes, list[Any], list[Any]]:
    """The parameter list before the call (None: CP has not read it) and after it; reads and
    stores elsewhere."""
    address = fields.get("gr1", "")
    reads, stores = (list(fields.get(name, [])) for name in ("in", "out"))
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


def words_of(image: bytes, fields: Fields, number: Callable[[str, int], str] | None = None) -> str:
    """Fields that are not zero, hexadecimal; limits and lengths are numbers.

    Tags count messages; *number* says how one is shown.
    """
    words = []
    for name, offset, size in fields:
        part = image[offset : offset + size]
        value = int.from_bytes(part, "big")
        if value and name in _DECIMAL:
            words.append(f"{name} {value}")
        elif value and name == "tag" and number is not None:
            words.append(number(name, value))
        elif value:
            words.append(f"{name} {part.hex()}")
    return "".join(f"{word} " for word in words)


def message_fields(what: str, image: bytes) -> Fields:
    """The fields of a function about a message."""
    in_list = image[2] & Flag.RMDATA and what in _WITH_DATA
    return (*CLASSES, *(DATA if in_list else LENGTH), *(ANSWER if what == "send" else ()))
