# SPDX-License-Identifier: MIT
"""Files of fault rules: what is read, and one sentence for each mistake."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from zvmlab.base.errors import UsageError
from zvmlab.cp.faults import Fault
from zvmlab.cp.faults_file import MAX_BYTES, load
from zvmlab.guest.config import GuestConfig

DOCUMENT = Path(__file__).parents[2] / "docs" / "faults.md"


def _write(folder: Path, text: str) -> Path:
    path = folder / "f.json"
    path.write_text(text, encoding="utf-8")
    return path


def test_rules(tmp_path: Path) -> None:
    rules = [
        {"point": "iucv.connect", "kind": "rc", "value": 11, "name": "*MONITOR", "nth": 2},
        {"point": "interrupt", "kind": "corrupt", "value": 1, "offset": 3, "type": 9, "path": 0},
        {"point": "monitor.reply", "kind": "drop", "user": "A", "probability": 0.5, "times": 7},
    ]
    assert load(_write(tmp_path, json.dumps(rules))) == (
        Fault("iucv.connect", "rc", 11, name="*MONITOR", nth=2),
        Fault("interrupt", "corrupt", 1, 3, type=9, path=0),
        Fault("monitor.reply", "drop", user="A", probability=0.5, times=7),
    )
    assert load(_write(tmp_path, "[]")) == ()


def test_the_documents_example(tmp_path: Path) -> None:
    (text,) = re.findall(r"```json\n(\[.*?\])\n```", DOCUMENT.read_text("utf-8"), re.DOTALL)
    assert len(load(_write(tmp_path, text))) == 3


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ("7", "7 is not an object"),
        ("{}", '"point" is missing'),
        ('{"point": "interrupt"}', '"kind" is missing'),
        (
            '{"point": "interrupt", "kind": "drop", "nht": 1}',
            'unknown member: "nht" (possible: point, kind, value, offset, path, name, user,'
            " type, nth, every, probability, times)",
        ),
        ('{"point": 1}', '"point" is 1; it must be a string of up to 40 characters'),
        (
            '{"point": "interrupt", "nth": true}',
            '"nth" is true; it must be an integer of up to 64 bits',
        ),
        (
            '{"point": "interrupt", "value": 1.0}',
            '"value" is 1.0; it must be an integer of up to 64 bits',
        ),
        ('{"point": "interrupt", "probability": "1"}', '"probability" is "1"; it must be a number'),
        (
            '{"point": "interrupt", "path": null}',
            '"path" is null; it must be an integer of up to 64 bits',
        ),
        (
            '{"point": "interrupt", "kind": "rc", "value": 4}',
            "interrupt does not support rc (possible: drop, delay, duplicate, reorder, corrupt,"
            " sever)",
        ),
        (
            '{"point": "interrupt", "kind": "drop", "nth": 0}',
            "nth is 0; it counts from 1",
        ),
        (
            '{"point": "interrupt", "kind": "drop", "probability": NaN}',
            "invalid probability: nan (above 0, at most 1)",
        ),
    ],
)
def test_mistakes_of_a_rule(tmp_path: Path, rule: str, sentence: str) -> None:
    path = _write(tmp_path, f'[{{"point": "iucv.send", "kind": "drop"}}, {rule}]')
    with pytest.raises(UsageError) as caught:
        load(path)
    assert str(caught.value) == f"faults file {path}, rule 2: {sentence}"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[", "is not JSON: Expecting value"),
        ('[{"point": "a", "point": "b"}]', 'is not JSON: "point" appears twice in one object'),
        ('{"point": "a"}', "is not a list of rules"),
        ("[" * 200_000, "is nested too deeply"),
        (json.dumps([{}] * 129), "has too many rules: 129 (at most 128)"),
        (" " * (MAX_BYTES + 1), "has more than 1 MiB"),
    ],
)
def test_mistakes_of_a_file(tmp_path: Path, text: str, sentence: str) -> None:
    path = _write(tmp_path, text)
    with pytest.raises(UsageError, match=f"^faults file {re.escape(f'{path} {sentence}')}"):
        load(path)


def test_no_text_and_no_file(tmp_path: Path) -> None:
    path = tmp_path / "binary"
    path.write_bytes(b"\xff\xfe[]")
    with pytest.raises(UsageError, match=" is not JSON: "):
        load(path)
    with pytest.raises(UsageError, match="/none.json cannot be read: No such file or directory$"):
        load(tmp_path / "none.json")


def test_a_configuration_takes_rules_or_a_file(tmp_path: Path) -> None:
    path = _write(tmp_path, '[{"point": "interrupt", "kind": "drop"}]')
    rule = Fault("interrupt", "drop")
    assert GuestConfig(faults=path).fault_rules() == (rule,)
    assert GuestConfig(faults=str(path)).fault_rules() == (rule,)
    assert GuestConfig(faults=[rule]).fault_rules() == (rule,)
    assert GuestConfig().fault_rules() == ()
    with pytest.raises(UsageError, match="^unknown fault point: nowhere"):
        GuestConfig(faults=[Fault("nowhere", "drop")])
