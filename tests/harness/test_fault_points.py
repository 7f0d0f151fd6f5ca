# SPDX-License-Identifier: MIT
"""What Python knows of fault rules, against CP; docs/faults.md against both."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest
from controlled import _control as _control
from controlled import _server as _server

from zvmlab.base.errors import UsageError
from zvmlab.cp import fault_points
from zvmlab.cp.control import Control, ControlError
from zvmlab.cp.faults import Fault, armed

DOCUMENT = Path(__file__).parents[2] / "docs" / "faults.md"
BEGIN = "<!-- points: made by tests/harness/test_fault_points.py with ZVMLAB_UPDATE_FAULTS=1 -->\n"
END = "<!-- end of points -->\n"


def _table() -> str:
    lines = ["| point | what it is | kinds |\n", "|---|---|---|\n"]
    for point in fault_points.points().values():
        names = " ".join(f"`{kind.name}`" for kind in point.kinds)
        lines.append(f"| `{point.name}` | {point.text} | {names} |\n")
    lines += ["\n", "| kind | value | what happens |\n", "|---|---|---|\n"]
    for kind in fault_points.kinds().values():
        value = f"{kind.least}–{kind.most}" if kind.most else "–"
        lines.append(f"| `{kind.name}` | {value} | {kind.text} |\n")
    lines += ["\n", "| filter | values | meaning |\n", "|---|---|---|\n"]
    for field in fault_points.fields().values():
        if field.filter:
            unit = " characters" if field.type == "name" else ""
            only = "" if field.only is None else f" At `{field.only}` only."
            values = f"{field.least}–{field.most}{unit}"
            lines.append(f"| `{field.name}` | {values} | {field.text}{only} |\n")
    return "".join(lines)


def test_the_documents_tables_are_those_of_the_source() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    found, _, tail = rest.partition(END)
    if os.environ.get("ZVMLAB_UPDATE_FAULTS"):
        DOCUMENT.write_text(head + BEGIN + _table() + END + tail, encoding="utf-8")
    else:
        assert found == _table()


def test_the_list_is_what_cp_answers(control: Control) -> None:
    answer = control.execute("query-fault-points")
    assert answer["kinds"] == [
        {"kind": kind.name, "text": kind.text, "min": kind.least, "max": kind.most}
        for kind in fault_points.kinds().values()
    ]
    found = [
        {
            "point": point.name,
            "text": point.text,
            "kinds": [kind.name for kind in point.kinds],
            "values": [
                {"kind": k.name, "min": k.least, "max": k.most, "offset-max": k.offset}
                for k in point.kinds
            ],
            "reached": 0,
        }
        for point in fault_points.points().values()
    ]
    assert found == answer["points"]
    assert len(found) > 40


def test_a_rule_has_a_member_for_each_of_cp(control: Control) -> None:
    """What CP calls when and n is spelled nth, every and probability by people."""
    fields = [field["field"] for field in control.execute("query-fault-points")["fields"]]
    assert fields == list(fault_points.fields())
    own = {field.name for field in dataclasses.fields(Fault)}
    assert own - {"nth", "every", "probability"} == set(fields) - {"when", "n"}


def _both_agree(control: Control, fault: Fault) -> bool:
    """What Python accepts CP accepts, and the other way round; is it accepted?"""
    try:
        with armed(control, fault):
            accepted = True
    except ControlError:
        accepted = False
    try:
        fault_points.check(fault)
    except UsageError:
        assert not accepted, fault
    else:
        assert accepted, fault
    return accepted


def test_cp_and_the_check_agree_about_every_pair_and_its_limits(control: Control) -> None:
    for point in fault_points.points().values():
        for kind in fault_points.kinds().values():
            here = point.kind(kind.name)
            least, most = (here.least, here.most) if here else (kind.least, kind.most)
            for value in {max(least - 1, 0), least, most, min(most + 1, 0xFFFFFFFF)}:
                inside = here is not None and least <= value <= most
                assert _both_agree(control, Fault(point.name, kind.name, value)) == inside


@pytest.mark.parametrize(
    ("words", "accepted"),
    [
        ({"offset": 39}, True),
        ({"offset": 40}, False),
        ({"kind": "drop", "value": 0, "offset": 1}, False),
        ({"type": 9}, True),
        ({"type": 0}, False),
        ({"type": 10}, False),
        ({"point": "iucv.receive", "type": 9}, False),
        ({"point": "iucv.receive", "offset": 40}, True),
        ({"path": 65535}, True),
        ({"path": 65536}, False),
        ({"name": "*MONITOR", "user": "a"}, True),
        ({"name": "NINELETTR"}, False),
        ({"user": ""}, False),
        ({"user": "a b"}, False),
        ({"times": 0xFFFFFFFF}, True),
        ({"times": 1 << 32}, False),
    ],
)
def test_cp_and_the_check_agree_about_filters(
    control: Control, words: dict[str, object], accepted: bool
) -> None:
    given = {"point": "interrupt", "kind": "corrupt", "value": 1, **words}
    assert _both_agree(control, Fault(**given)) == accepted  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (Fault("iucv", "drop"), "unknown fault point: iucv; 'zvmlab faults' lists them"),
        (Fault("interrupt", "lose"), "unknown kind of fault: lose; 'zvmlab faults' lists them"),
        (Fault("msg.sever", "cc"), "msg.sever does not support cc (possible: drop)"),
        (Fault("iucv.reply", "rc", 256), "the value of rc is 256; it must be 0 to 255"),
        (Fault("iucv.reply", "drop", 1), "drop takes no value"),
        (Fault("iucv.reply", "cc", 1, 1), "cc takes no offset; only corrupt does"),
        (Fault("interrupt", "corrupt", 1, 40), "the offset is 40; it must be 0 to 39"),
        (Fault("iucv.send", "drop", path=-1), "path is -1; it must be 0 to 65535"),
        (
            Fault("iucv.send", "drop", name="MONITOR SERVICE"),
            "name 'MONITOR SERVICE' is not 1 to 8 letters, digits and @#$_*-+:",
        ),
        (
            Fault("iucv.send", "drop", type=3),
            "type is for the point interrupt, not for iucv.send",
        ),
        (Fault("interrupt", "drop", type=12), "type is 12; it must be 1 to 9"),
    ],
)
def test_each_mistake_is_one_sentence(fault: Fault, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        fault_points.check(fault)
    assert str(caught.value) == sentence
