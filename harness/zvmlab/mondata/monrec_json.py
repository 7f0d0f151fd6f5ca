# SPDX-License-Identifier: MIT
"""Records out of the lines that ``monread --json --values`` prints of them.

    record = record_of(json.loads(line))
    record.encode()

The line does not say of which release it is: it is given, or the record's length tells it.  What the catalogue does not explain is zeros; of a TOD clock what is finer than a microsecond is
lost, in the record's header.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

from zvmlab.base.errors import UsageError
from zvmlab.mondata import monrec
from zvmlab.mondata.monrec import Field
from zvmlab.mondata.monrec_release import release_of
from zvmlab.mondata.records import HEADER_SIZE, RECORD_MAX, Record

_EPOCH = datetime.datetime(1900, 1, 1, tzinfo=datetime.timezone.utc)
_MICROSECOND = datetime.timedelta(microseconds=1)
_TOD_MICROSECOND = 4096


def record_of(line: Mapping[str, Any], release: int = 0) -> Record:
    """The record that such a line is about, its fields where that release has them, or the one found."""
    try:
        domain, number, length = (int(line[key]) for key in ("domain", "number", "length"))
        tod = tod_of(line["time"])
        values = dict(line.get("fields", {}))
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"this is not a line about a record: {error}") from error
    if not HEADER_SIZE <= length <= RECORD_MAX:
        raise UsageError(f"a record has {HEADER_SIZE} to {RECORD_MAX} bytes, not {length}")
    payload = bytearray(length - HEADER_SIZE)
    layout = monrec.by_number(domain, number)
    release = release or release_of(domain, number, length)
    fields = {f.name: f for f in layout.fields if f.known_in(release)} if layout else {}
    for name, value in values.items():
        if name not in fields:
            raise UsageError(f"D{domain}R{number} is not known to have a field {name}")
        _put(payload, fields[name], value)
    return Record(domain, number, tod, bytes(payload))


def tod_of(text: str) -> int:
    """The TOD clock at a time such as 2026-03-02T00:01:00.000000Z."""
    found = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return (found - _EPOCH) // _MICROSECOND * _TOD_MICROSECOND


def _put(payload: bytearray, field: Field, value: Any) -> None:
    at = field.offset - HEADER_SIZE
    data = _encoded(field, value)
    if data is None or len(data) != field.length or at + len(data) > len(payload):
        raise UsageError(f"{field.name}, {field.length} bytes, {field.type}, cannot be {value!r}")
    payload[at : at + len(data)] = data


def _encoded(field: Field, value: Any) -> bytes | None:
    """None if it is no value of such a field."""
    try:
        if field.type == "text":
            return str(value).encode("cp037").ljust(field.length, b"\x40")
        if isinstance(value, int) and not isinstance(value, bool):
            return value.to_bytes(field.length, "big", signed=field.type == "signed")
        return bytes.fromhex(value) if isinstance(value, str) else None
    except (OverflowError, TypeError, ValueError):
        return None
