# SPDX-License-Identifier: MIT
"""Workload files: what they mean, what is wrong with them, the schema beside them."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from fabricated import SMALL, changed
from examples import some
from hypothesis import given, settings
from hypothesis import strategies as st

from zvmlab.base.errors import UsageError
from zvmlab.fabricate import model
from zvmlab.fabricate.file import read_workload, workload
from zvmlab.fabricate.model import Config, Model
from zvmlab.fabricate.workload_json import Node

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.json"))
SCHEMA = json.loads((ROOT / "docs/fabricate-schema.json").read_text())


def made(**members: Any) -> Config:
    """The small workload, changed."""
    return workload(Node("x.json", changed(**members)))


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(SMALL, SCHEMA)


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_examples_are_right(path: Path) -> None:
    jsonschema.validate(json.loads(path.read_text()), SCHEMA)
    with Model(read_workload(path, 0.05)) as found:
        assert next(found.sets()).kind == "sample-config"


def test_an_empty_workload_has_defaults() -> None:
    config = workload(Node("x.json", {}))
    assert (config.release, config.interval, config.rate, config.seconds) == (530, 60, 200, 86400)
    assert (config.sample_config, config.event_config, config.reader) == (241, 68, model.AT_ONCE)
    # Samples: no scheduler, no seeks, and neither ISFC nor SSI before z/VM 6.2; events: no system.
    assert (config.sample_domains, config.event_domains) == (0xDEA0, 0x7FA0)
    assert (
        made(release="6.3").sample_domains == 0xDEF0 and made(release="6.3").sample_config == 4096
    )


def test_the_clock() -> None:
    # 1972-01-01 is X'8126D60E46000000' (z/Architecture Principles of Operation, TOD clock).
    config = made(start="1972-01-01T06:00:00")
    assert config.start == 0x8126D60E46000000 + 6 * 3600 * 4096 * 1_000_000
    assert config.second_of_day == 6 * 3600


def test_groups_of_users() -> None:
    config = made(users=[{"name": "a", "count": 10, "io": 0.5}, {"name": "b", "cpu_percent": 2.5}])
    assert [user.name for user in config.users[:2]] == ["A01", "A02"]
    assert config.users[9].name == "A10" and config.users[10].name == "B"
    assert (config.users[0].io, config.users[10].cpu) == (500, 25)


def test_daily_users_come_and_go() -> None:
    users = [{"name": "U", "count": 2, "logon": "08:00", "logoff": "17:00", "spread_minutes": 60}]
    config = made(users=users, hours=30, start="2026-03-02T12:00:00", events=[])
    assert not any(user.logged_on for user in config.users)
    found = [(action.second, action.kind, action.first) for action in config.actions]
    hour = 3600
    assert found == [
        (0, model.LOGON, 0),
        (0, model.LOGON, 1),
        (5 * hour, model.LOGOFF, 0),
        (5 * hour + 1800, model.LOGOFF, 1),
        (20 * hour, model.LOGON, 0),
        (20 * hour + 1800, model.LOGON, 1),
        (29 * hour, model.LOGOFF, 0),
        (29 * hour + 1800, model.LOGOFF, 1),
    ]


def test_commands_add_up() -> None:
    config = made(
        domains={"sample": ["user"]},
        events=[
            {"at": "00:02", "what": "monitor", "command": "sample enable i/o"},
            {"at": "00:01", "what": "monitor", "command": "MONITOR SAMPLE DISABLE ALL"},
            {"at": "00:02", "what": "logoff", "users": "TCPIP"},
        ],
    )
    found = [(action.second, action.value, action.text) for action in config.actions]
    assert found == [
        (60, 0xC000, "MONITOR SAMPLE DISABLE ALL"),
        (120, 0, ""),
        (120, 0xC200, "MONITOR SAMPLE ENABLE I/O"),
    ]


WRONG = [
    ({"sede": 1}, "sede is unknown (possible: "),
    ({"seed": True}, "seed is true; write a whole number, 0 to"),
    ({"hours": 0}, "hours is 0; write a number"),
    ({"interval": 5}, "interval is 5; write a whole number, 6 to 3600"),
    ({"release": "9.9"}, 'release is "9.9"; 4.2 to 7.5 are possible'),
    ({"start": "tomorrow"}, 'start is "tomorrow"; write it as'),
    ({"start": "2042-01-01T00:00:00"}, "the TOD clock counts from 1900 to 2042"),
    ({"system": 3}, "system is 3; write an object"),
    ({"system": {"name": "TOO LONG"}}, 'system.name is "TOO LONG"; write 1 to 8 letters'),
    ({"segment": {"start": "XY"}}, 'segment.start is "XY"; write hexadecimal digits'),
    ({"segment": {"megabytes": 65}}, "segment.megabytes is 65; write a whole number, 1 to 64"),
    ({"processors": []}, "processors are 0; 1 to 64 are possible"),
    ({"processors": [{"type": "PU"}]}, 'processors[0].type is "PU"; write one of CP'),
    ({"devices": [{"kind": "dasd"}]}, "devices[0].first is missing; add it"),
    (
        {"devices": [{"kind": "osa", "first": "600"}] * 2},
        "devices[1].first gives a device the number 0600",
    ),
    ({"devices": [{"kind": "osa", "first": "600", "paths": ["XX"]}]}, 'devices[0].paths has "XX"'),
    ({"patterns": {"day": [1, 2]}}, "patterns.day is not a list of 24 percentages"),
    ({"users": [{"name": "U", "pattern": "day"}]}, 'users[0].pattern is "day"; write one of'),
    ({"users": [{"name": "U", "type": "ZIIP"}]}, "users[0].type is the type of no processor"),
    ({"users": [{"name": "U"}, {"name": "U"}]}, "users[1].name is U, and there are users of that"),
    ({"users": [{"name": "LINUXES", "count": 10}]}, "gives the last user the ID LINUXES10"),
    ({"users": [{"name": "U", "logon": "8:00"}]}, "users[0].logoff is missing; add it"),
    ({"users": [{"name": "U", "logon": "8:00", "logoff": "7:00"}]}, "is not later in the day"),
    ({"domains": {"sample": ["seeks"]}}, 'domains.sample has "seeks"; known are all, system'),
    ({"domains": {"event": ["system"]}}, 'domains.event has "system"; known are all, monitor'),
    ({"events": [{"what": "rain", "at": "0:00"}]}, 'events[0].what is "rain"; write one of logon'),
    (
        {"events": [{"what": "logoff", "at": "0:00", "users": "ME"}]},
        "users is ME, which is neither",
    ),
    (
        {"events": [{"what": "logoff", "at": "x", "users": "TCPIP"}]},
        'events[0].at is "x"; write it',
    ),
    ({"events": [{"what": "logoff", "at": "9:00", "users": "TCPIP"}]}, "is after the end of the"),
    ({"events": [{"what": "path-offline", "at": "0:00", "path": "99"}]}, "path is 99, which no"),
    ({"events": [{"what": "device-offline", "at": "0:00", "device": "3000"}]}, "CP pages to"),
    ({"events": [{"what": "processor-offline", "at": "0:00", "processor": 0}]}, "1 to 3 can be"),
    ({"events": [{"what": "monitor", "at": "0:00", "command": "STOP"}]}, "SAMPLE DISABLE NETWORK"),
    ({"events": [{"what": "storm", "at": "0:00", "per_second": 1}], "devices": []}, "about disks"),
]


@pytest.mark.parametrize(("members", "text"), WRONG, ids=[text[:40] for _, text in WRONG])
def test_what_is_wrong_is_told(members: dict[str, Any], text: str) -> None:
    with pytest.raises(UsageError) as found:
        made(**members)
    message = str(found.value)
    assert message.startswith("x.json: ") and text in message and "\n" not in message


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 70), 1 << 70)
    | st.floats()
    | st.sampled_from(["", "a", "LINUX", "1000", "00:01", "all", "x" * 5000, "\0", "ü", "IFL"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["name", "count", "what", "at", "type"]), inner, max_size=3),
    max_leaves=6,
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """All members of members, by the keys that lead there."""
    items = enumerate(value) if isinstance(value, list) else ()
    for key, inner in value.items() if isinstance(value, dict) else items:
        yield (*path, key)
        yield from _places(inner, (*path, key))


EVERYTHING = json.loads((ROOT / "examples/busy-day.json").read_text()) | {
    "hours": 0.05,
    "domains": {"sample": ["all"], "event": ["user"]},
    "reader": {"kb_per_second": 50},
    "rate": 2,
}
for number, one in enumerate(EVERYTHING["events"]):
    one["at"] = f"00:0{number % 3}"


@settings(max_examples=some(300))
@given(path=st.sampled_from(list(_places(EVERYTHING))), value=JSON)
def test_any_value_at_any_place_is_taken_or_refused(path: tuple[Any, ...], value: Any) -> None:
    """Refused in a sentence, or good enough to be lived through."""
    members = copy.deepcopy(EVERYTHING)
    inner = members
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    try:
        with Model(workload(Node("x.json", members), 0.05)) as found:
            assert sum(1 for _ in found.sets()) > 3
    except UsageError as error:
        assert str(error) and "\n" not in str(error)


def test_nothing_but_processors() -> None:
    with Model(workload(Node("x.json", {"hours": 1}))) as found:
        kinds = [one.kind for one in found.sets()]
    assert kinds == ["sample-config", "event-config", *["sample"] * 61]


def test_files_that_are_none(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    with pytest.raises(UsageError, match="x.json cannot be read: No such file"):
        read_workload(file)
    for text, error in (("{", "is not JSON"), ("[]", r"is \[\]; write an object")):
        file.write_text(text)
        with pytest.raises(UsageError, match=error):
            read_workload(file)
    file.write_text('{"seed": 1, "seed": 2}')
    with pytest.raises(UsageError, match='"seed" appears twice'):
        read_workload(file)
    file.write_text("[" * 100_000)
    with pytest.raises(UsageError, match="is nested too deeply"):
        read_workload(file)


def test_what_the_model_refuses() -> None:
    many = [{"name": "U", "count": 9000}]
    with pytest.raises(UsageError, match="does not fit into its area.*X'2C'"):
        Model(made(users=many))
    with pytest.raises(UsageError, match="a sample of 9000 users does not fit into the"):
        Model(made(users=many, segment={"megabytes": 8, "partition": 100, "sample_config": 1000}))
    with pytest.raises(UsageError, match="the configuration areas do not fit into the segment"):
        Model(made(segment={"megabytes": 1, "event_config": 200}))


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """zvmlab fabricate."""
    return subprocess.run(
        [sys.executable, ROOT / "zvmlab", "fabricate", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_the_command(tmp_path: Path) -> None:
    out = tmp_path / "out"
    storm = str(ROOT / "examples/storm.json")
    done = run("--workload", storm, "--out", str(out), "--hours", "0.1")
    assert done.returncode == 0, done.stderr
    found = re.search(r"(\d+) data sets, \d+ records, \d+ bytes; lost: 0 data sets", done.stderr)
    assert found and int(found[1]) > 100 and out.stat().st_size % 4096 == 0
    assert run("--workload", storm, "--out", str(out), "--hours", "-1").returncode == 2
    assert run("--workload", str(out), "--out", "-").returncode == 2
    assert run("--workload", storm, "--out", "/dev/full").returncode == 77


# A process counts what its parent had when it was started: this parent has little.
PEAK = (
    "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True);"
    " print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
)


def peak(*arguments: str) -> int:
    """KiB that zvmlab fabricate had at most."""
    program = [sys.executable, str(ROOT / "zvmlab"), "fabricate", *arguments]
    command = [sys.executable, "-c", PEAK, *program]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=800, check=True)
    return int(done.stdout.split()[-1])


@pytest.mark.timeout(1800)
def test_a_day_of_a_thousand_users_takes_no_more_storage_than_an_hour(tmp_path: Path) -> None:
    file = tmp_path / "day.json"
    members = json.loads((ROOT / "examples/busy-day.json").read_text())
    sizes = {"WEB": 450, "DB": 100, "BATCH": 200, "CMS": 250}
    members["users"] = [
        {**user, "count": sizes[user["name"]]} for user in members["users"] if user["name"] in sizes
    ]
    members["segment"]["megabytes"] = 16
    members["events"] = members["events"][:1]
    file.write_text(json.dumps(members))
    words = ("--workload", str(file), "--out", "/dev/null", "--hours")
    # In this order: who finds pages of programs and libraries in storage maps more of them at once.
    day, hour = peak(*words, "24"), peak(*words, "1")
    assert day - hour < 4096 and day < 200 << 10
