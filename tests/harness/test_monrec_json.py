# SPDX-License-Identifier: MIT
"""JSON to records and back: monread prints again what a record was made of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from examples import some
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from monread_tool import START, build_monread, part, run, stream

from zvmlab.base.errors import UsageError
from zvmlab.mondata.monrec import REFERENCE, Field, Layout, catalogue
from zvmlab.mondata.monrec_json import record_of, tod_of
from zvmlab.mondata.records import EVENT, RECORD_MAX

# Letters that EBCDIC and monread have alike, and none that is cut off at the end.
TEXT = st.text("ABCXYZ0189@#$_-+.,;:'\"\\/()<>&%*? äöüßéñ", max_size=24)


@pytest.fixture(name="monread", scope="module")
def _monread() -> Path:
    return build_monread()


def value_of(field: Field) -> st.SearchStrategy[int | str]:
    """What monread may print of such a field."""
    bits = 8 * field.length
    if field.type == "text":
        return TEXT.map(lambda text: text[: field.length].rstrip())
    if field.type == "signed":
        return st.integers(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    if field.type == "unsigned" and field.length < 8:
        return st.integers(0, (1 << bits) - 1)
    return st.binary(min_size=field.length, max_size=field.length).map(bytes.hex)


@st.composite
def lines(draw: st.DrawFn) -> dict[str, Any]:
    """About a record of the catalogue, as long as 5.3 has it."""
    layout: Layout = draw(st.sampled_from([one for one in catalogue() if one.fields]))
    fields = [field for field in layout.fields if field.known_in(REFERENCE)]
    least = max([20, *(field.offset + field.length for field in fields)])
    length = layout.length() or least
    microseconds = draw(st.integers(0, 999_999))
    return {
        **{"domain": layout.domain, "number": layout.number, "name": layout.name},
        **{"length": min(max(length, least), RECORD_MAX)},
        **{"time": f"2026-11-21T01:02:03.{microseconds:06}Z"},
        "fields": {field.name: draw(value_of(field)) for field in fields},
    }


@given(st.lists(lines(), min_size=1, max_size=20))
@settings(
    max_examples=some(30),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_json_record_json(monread: Path, made: list[dict[str, Any]]) -> None:
    data = stream(part(*(record_of(line, REFERENCE) for line in made), type=EVENT, start=START))
    done = run(monread, "-", "--json", "--values", "--release", "5.3", data=data)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    records = [line for line in found if line["item"] == "record"]
    # Without those that end frames, which nobody asked for.
    ends = {(1, 13)} - {(line["domain"], line["number"]) for line in made}
    kept = [line for line in records if (line["domain"], line["number"]) not in ends]
    assert [{key: line[key] for key in made[0]} for line in kept] == made


def test_tod() -> None:
    assert tod_of("1900-01-01T00:00:00.000001Z") == 4096
    assert tod_of("1970-01-01T00:00:00.000000Z") == 2208988800 * 1_000_000 * 4096


LINE = {"domain": 4, "number": 5, "length": 36, "time": "2026-11-21T00:00:00.000000Z"}


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"length": 19}, "a record has 20 to 4076 bytes, not 19"),
        ({"length": 4077}, "not 4077"),
        ({"time": "yesterday"}, "not a line about a record"),
        ({"domain": None}, "not a line about a record"),
        ({"fields": {"NONE": 1}}, "D4R5 is not known to have a field NONE"),
        ({"fields": {"VMDUSER": "NINECHARS"}}, "VMDUSER, 8 bytes, text, cannot be 'NINECHARS'"),
        ({"fields": {"VMDUSER": "€"}}, "VMDUSER, 8 bytes, text, cannot be '€'"),
        ({"fields": {"VMDCPUAD": 65536}}, "VMDCPUAD, 2 bytes, unsigned, cannot be 65536"),
        ({"fields": {"VMDCPUAD": -1}}, "cannot be -1"),
        ({"fields": {"VMDCPUAD": True}}, "cannot be True"),
        ({"fields": {"VMDCPUAD": "zz"}}, "cannot be 'zz'"),
        ({"length": 29, "fields": {"VMDCPUAD": 1}}, "VMDCPUAD, 2 bytes, unsigned, cannot be 1"),
    ],
)
def test_what_is_refused(more: dict[str, Any], text: str) -> None:
    with pytest.raises(UsageError, match=text):
        record_of(LINE | more, REFERENCE)


def test_the_length_tells_the_release() -> None:
    """IBM's pages: of 140 bytes D0R2 is in z/VM 6.2, where PFXTMSYS is behind PFXUTIME as in 5.3."""
    fields = {"PFXCPUAD": 7, "PFXUTIME": "00" * 7 + "09"}
    line = LINE | {"domain": 0, "number": 2, "length": 140, "fields": fields}
    assert record_of(line).encode()[20:40] == b"\0\7" + bytes(10) + bytes(7) + b"\x09"
    with pytest.raises(UsageError, match="PFXCPUTY"):
        record_of(line | {"fields": {"PFXCPUTY": 3}})
    assert record_of(line | {"fields": {"PFXCPUTY": 3}}, REFERENCE)
