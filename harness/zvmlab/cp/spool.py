# SPDX-License-Identifier: MIT
"""Spool files of users whom a test plays: what they send, and what has come from the guest.

    number = put(guest.control, "LINUX001", cards("Hello", "World"), name="HELLO")
    (file,) = files(guest.control, "OPERATOR")
    assert read(guest.control, file) == cards("Hello")
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from zvmlab.cp.control import Control, decode

READER, PUNCH, PRINTER = ("RDR", "PUN", "PRT")
CARD, LINE = 80, 132
"""Bytes of a record: of a card, and of a line of a printer."""
_CODE_PAGE = "cp037"


@dataclass(frozen=True)
class SpoolFile:
    """A file of the spool."""

    user: str
    queue: str
    device: str
    """The kind of device that made it."""
    origin: str
    id: int
    spool_class: str
    name: str
    type: str
    form: str
    dist: str
    tag: str
    open: bool
    """A device reads or writes it."""
    hold: bool
    system_hold: bool
    records: int
    record_length: int
    pages: int
    copies: int


def cards(*lines: str, length: int = CARD) -> bytes:
    """Lines as records in EBCDIC."""
    return b"".join(line.ljust(length).encode(_CODE_PAGE) for line in lines)


def lines(records: bytes, length: int = CARD) -> list[str]:
    """Records in EBCDIC as lines, without the blanks behind them."""
    parts = (records[at : at + length] for at in range(0, len(records), length))
    return [part.decode(_CODE_PAGE).rstrip(" ") for part in parts]


def put(
    control: Control,
    user: str,
    data: bytes,
    *,
    origin: str = "OPERATOR",
    name: str = "",
    type: str = "",  # pylint: disable=redefined-builtin
    spool_class: str = "A",
    hold: bool = False,
    system_hold: bool = False,
    queue: str = READER,
    record_length: int = CARD,
) -> int:
    """Put a file on a queue, as another user would; its number."""
    named = {key: value for key, value in (("name", name), ("type", type)) if value}
    arguments: dict[str, Any] = {
        "origin": origin,
        "class": spool_class,
        "hold": hold,
        "system-hold": system_hold,
        "record-length": record_length,
        **named,
    }
    answer = control.execute("spool-put", user=user, queue=queue, data=data, **arguments)
    number: int = answer["id"]
    return number


def files(control: Control, user: str, queue: str = READER) -> list[SpoolFile]:
    """A user's files on a queue, and those that a device writes for it, in their order."""
    found = control.execute("query-spool")["files"]
    return [
        SpoolFile(
            spool_class=one["class"],
            system_hold=one["system-hold"],
            record_length=one["record-length"],
            **{
                key: value
                for key, value in one.items()
                if key not in ("class", "system-hold", "record-length")
            },
        )
        for one in found
        if (one["user"], one["queue"]) == (user, queue)
    ]


def read(control: Control, file: SpoolFile) -> bytes:
    """Read all of its records."""
    parts: list[bytes] = []
    first = 0
    while True:
        answer = control.execute(
            "spool-read", user=file.user, queue=file.queue, id=file.id, first=first
        )
        if answer["records"] == 0:
            return b"".join(parts)
        parts.append(decode(answer["data"]))
        first += answer["records"]


def limits(control: Control, **limit: int) -> None:
    """Set limits: *pages* of all files together, *files* of each user; without: unlimited."""
    control.execute("spool-limits", **limit)
