# SPDX-License-Identifier: MIT
"""Files that the command line reads, with hostile values at every place: one sentence, no traceback."""

from __future__ import annotations

import io
import json
import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from zvmlab.base.errors import UsageError, ZvmlabError
from zvmlab.cli.main import main
from zvmlab.cp import tracefmt
from zvmlab.cp.faults_file import load
from zvmlab.fabricate.file import read_workload
from zvmlab.mondata.recorded import recorded
from zvmlab.mondata.records import Mce

# As they stand in a file: some are no JSON, and Python's reader takes more than JSON has.
HOSTILE = (
    *("1e999", "-1e999", "NaN", "-Infinity", "1e308", "-1", "0.5", "true", "null", "[]", "{}"),
    *('""', '"\\ud800"', '"\\u001b[2J\\u009b"', '"\\u0000"', '{"a": [1e999]}', "[null, 1e999]"),
    *("9" * 30, "9" * 400, "1" * 5000, f'"{"x" * 5000}"', f'"{"f" * 400}"'),
    *("[" * 900 + "]" * 900, "[" * 20_000),
)
_HERE = "@here@"


def _places(value: Any) -> Iterator[Any]:
    """The document with the mark in the place of each value, of itself, and as a member's name."""
    yield _HERE
    if isinstance(value, dict):
        for key, one in value.items():
            for changed in _places(one):
                yield value | {key: changed}
            yield {(_HERE if name == key else name): one for name, one in value.items()}
    elif isinstance(value, list):
        for at, one in enumerate(value):
            for changed in _places(one):
                yield [*value[:at], changed, *value[at + 1 :]]


def variants(document: Any) -> Iterator[bytes]:
    """Texts of files that are the document but for one place."""
    for changed in _places(document):
        text = json.dumps(changed)
        for hostile in HOSTILE:
            yield text.replace(f'"{_HERE}"', hostile, 1).encode()
    whole = json.dumps(document).encode()
    yield from (whole[:length] for length in range(0, len(whole), 7))
    yield from (whole[:at] + b"\xff" + whole[at + 1 :] for at in range(0, len(whole), 11))
    yield b"\x00" * 100


def _harmless(text: str) -> bool:
    return all(c.isprintable() or c in "\n\t" for c in text)


Run = Callable[..., int]


def _refused(use: Callable[[], object]) -> bool:
    """Use a file: it is taken, or refused with one short and harmless sentence."""
    try:
        use()
    except ZvmlabError as error:
        assert _harmless(str(error)) and len(str(error)) < 1000
        return True
    return False


def _command(capsys: pytest.CaptureFixture[str], *words: str) -> int:
    """The command line, which says no more than that."""
    code = main(words)
    said = capsys.readouterr()
    assert _harmless(said.out) and _harmless(said.err) and said.err.count("\n") <= 1
    return code


RECORDS = (
    {"seq": 1, "tod": "db00000000000001", "cpu": 0, "call": "iucv.reply", "cc": 0, "gr0": "6"}
    | {"in": [["1f00", "0001"]], "out": [["10", 300, "ab"], ["10", None], ["more", 1, "c"]]},
    {"seq": 2, "tod": "db00000000000002", "cpu": None, "call": "event", "user": "B"}
    | {"event": "00" * 40, "data": [500, "ef"], "lost": 1},
    {"seq": 3, "tod": "db00000000000003", "cpu": 1, "call": "interrupt", "how": "x"}
    | {"out": [["2000", "00" * 40]], "gr": ["4", "1f00"]},
)


@pytest.mark.parametrize("record", RECORDS, ids=["call", "event", "interrupt"])
def test_trace(record: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "trace"
    file.write_text(json.dumps(record) + "\n")
    assert _command(capsys, "trace", str(file)) == 0
    shown = io.StringIO()
    refused = 0
    for text in variants(record):
        file.write_bytes(text + b"\n")
        refused += _refused(lambda: tracefmt.print_trace(file, shown))
        _refused(lambda: tracefmt.write_perfetto(tracefmt.read(file), tmp_path / "timeline"))
    assert refused > 50 and _harmless(shown.getvalue())
    assert _command(capsys, "trace", str(file)) == 1


def test_a_trace_without_an_end(capsys: pytest.CaptureFixture[str]) -> None:
    assert _command(capsys, "trace", "/dev/zero") == 1


FAULTS = [
    {"point": "iucv.reply", "kind": "rc", "value": 9, "nth": 3, "path": 1, "name": "A", "times": 1},
    {"point": "monitor.message", "kind": "corrupt", "value": 1, "offset": 4, "probability": 0.1},
    {"point": "interrupt", "kind": "drop", "type": 9, "every": 2, "user": "B"},
]


def test_faults(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "faults"
    refused = 0
    for text in variants(FAULTS):
        file.write_bytes(text)
        refused += _refused(lambda: load(file))
    assert refused > 500
    assert _command(capsys, "fault", "arm", "--file", str(file)) == 2


SCENARIO = {
    "description": "",
    "seed": 1,
    "release": "5.3",
    "start": "2026-03-02T00:00:00",
    "hours": 1,
    "interval": 60,
    "rate": 2,
    "domains": {"sample": ["all"], "event": ["user"]},
    "reader": {"kb_per_second": 10},
    "segment": {"start": "9000", "megabytes": 8, "partition": 0, "block": 4},
    "system": {"name": "A", "partition": "B", "storage_mb": 1024, "vswitch": "V"},
    "processors": [{"type": "CP", "count": 2}],
    "devices": [{"kind": "dasd", "first": "1000", "count": 2, "paths": ["40"], "volume": "U"}],
    "patterns": {"office": [1] * 24},
    "users": [
        {"name": "WEB", "count": 2, "type": "CP", "pattern": "office", "logon": "00:10"}
        | {"logoff": "00:50", "spread_minutes": 1, "cpu_percent": 6, "application": True}
    ],
    "events": [
        {"at": "00:10", "what": "busy", "users": "WEB", "percent": 250, "minutes": 1},
        {"at": "00:20", "what": "monitor", "command": "SAMPLE DISABLE NETWORK"},
        {"at": "00:30", "what": "path-offline", "path": "40"},
        {"at": "00:30", "what": "device-offline", "device": "1001"},
    ],
}


def test_scenario_of_a_system(tmp_path: Path) -> None:
    file = tmp_path / "scenario"
    file.write_text(json.dumps(SCENARIO))
    read_workload(file)
    refused = 0
    for text in variants(SCENARIO):
        file.write_bytes(text)
        refused += _refused(lambda: read_workload(file))
    assert refused > 1000


def test_index_of_a_recording(tmp_path: Path) -> None:
    stream = tmp_path / "stream"
    stream.write_bytes(bytes(100))
    for text in variants({"length": 100, "offset": 0}):
        (tmp_path / "stream.idx").write_bytes(text + b"\n")
        _refused(lambda: list(recorded(stream, monwrite=False)))


def test_recording_that_claims_much(tmp_path: Path) -> None:
    """A control element of 4 GiB costs no 4 GiB."""
    stream = tmp_path / "stream"
    with stream.open("wb") as file:
        file.write(Mce(2, 0x8000, 0, 0, 0xFFFFFFFE).encode() + bytes(100))
    limit = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (3 << 30, limit[1]))
    try:
        with pytest.raises(UsageError, match="describes 4294967295 bytes, 100 follow"):
            list(recorded(stream, monwrite=False))
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limit)
