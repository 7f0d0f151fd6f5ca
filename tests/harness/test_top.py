# SPDX-License-Identifier: MIT
"""zvmlab top: intervals as monread tells them, what is shown of them, sets of a running CP."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from controlled import Server
from monread_tool import ROOT, START, build_monread, part, run, stream
from rich.console import Console
from test_monread_html import BEGIN, FOUR, SECOND, fields, minute, user_id

from zvmlab.base.errors import EXIT_PASS, ZvmlabError
from zvmlab.base.progress import Progress
from zvmlab.cli.main import main
from zvmlab.cli.top import program
from zvmlab.mondata.monrec import library
from zvmlab.mondata.records import EVENT, Part, Record
from zvmlab.monitor.monitor import Capture
from zvmlab.monitor.monuser import MonitorUser
from zvmlab.monitor.topview import View, bar


@pytest.fixture(name="monread", scope="module")
def _monread() -> Path:
    return build_monread()


@pytest.fixture(name="built", scope="module")
def _built() -> None:
    """What zvmlab top uses is in the cache, so that nothing is said of building it."""
    program(Progress(quiet=True))
    library(Progress(quiet=True))


@pytest.fixture(name="server")
def _server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path, "seed=5", replays=False)
    yield server
    server.stop()


def activity(monread: Path, data: bytes) -> list[dict[str, Any]]:
    """Lines, each as the schema has it."""
    schema = json.loads((ROOT / "docs/monread-activity.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    done = run(monread, "-", "--activity", data=data)
    assert done.returncode == EXIT_PASS, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    for line in lines:
        jsonschema.validate(line, schema)
    return lines


def test_lines_are_short(monread: Path) -> None:
    """No blanks, and numbers with nine digits: 11 of 60 seconds."""
    lines = run(monread, "-", "--activity", data=FOUR).stdout.splitlines()
    assert '"busy":{"CP":55.0,"IFL":18.3333333},' in lines[-1]
    assert " " not in lines[-1].replace("logon LINUX001", "")


def test_activity(monread: Path) -> None:
    first, *others = activity(monread, FOUR)
    assert (first["busy"], first["users"], first["events"]) == ({}, [], ["logon LINUX001"])
    assert len(others) == 3
    for number, line in enumerate(others, 2):
        assert line["until"] == f"2026-03-02T00:0{number}:00.000000Z"
        assert line["busy"] == {"CP": 55.0, "IFL": pytest.approx(18.3333333)}
        assert (line["page-reads"], line["page-writes"], line["starts"]) == (40, 80, 10)
        assert line["users"] == [{"user": "LINUX001", "seconds": 7}]
        assert line["devices"] == [{"device": "1234", "starts": 10}]
        assert line["events"] == ["logon LINUX001"]


def test_tables_of_an_interval(monread: Path) -> None:
    """States, paging, the partition and responses, with values at the offsets of zvmlab records."""

    def interval(number: int) -> bytes:
        tod = BEGIN + number * 60 * SECOND
        name = int.from_bytes("LINUX001".encode("cp037"), "big")
        label = int.from_bytes("PAG001".encode("cp037"), "big")
        states = fields(
            200,
            user=(20, 8, name),
            samples=(48, 4, 30 * number),
            **{
                **{"idle": (88, 4, 12 * number), "io": (96, 4, 6 * number)},
                "running": (116, 4, 3 * number),
            },
        )
        paging = fields(
            360,
            user=(20, 8, name),
            resident=(64, 4, 512),
            slots=(92, 4, 7),
            **{
                **{"reads": (104, 4, 100 * number), "writes": (108, 4, 50 * number)},
            },
        )
        everybody = fields(160, idle=(20, 4, 40 * number), io=(28, 4, 20 * number))
        partition = fields(56, machine=(26, 2, 24), number=(28, 2, 5), configured=(34, 2, 2))
        volume = fields(
            172,
            label=(20, 6, label),
            device=(26, 2, 0x3000),
            slots=(36, 4, 1000),
            **{
                **{"reads": (48, 4, 60 * number), "writes": (52, 4, 120 * number)},
                **{"used": (64, 4, 900), "starts": (168, 4, 600 * number)},
            },
        )
        disk = fields(260, number=(200, 2, 0x1234), starts=(192, 4, number * 6000))
        measured = fields(68, device=(24, 2, 0x1234), samples=(30, 2, 10), connect=(32, 4, 100))
        sample = [
            *(Record(0, 12, tod, everybody), Record(0, 15, tod, partition)),
            *(Record(3, 4, tod, volume), Record(6, 3, tod, disk), Record(1, 11, tod)),
        ]
        events = [
            *(Record(4, 9, tod, paging), Record(4, 10, tod, states)),
            Record(6, 14, tod, measured),
        ]
        first = part(*events, type=EVENT)
        return stream(first, part(*sample, start=START + 0x10000))

    first, *_, last = activity(monread, b"".join(interval(number) for number in (1, 2, 3)))
    assert (first["waits"], first["paging-users"], first["processors"]) == ([], [], [])
    shares = {"cpu-wait": 0, "page-wait": 0, "simulation": 0, "dormant": 0}
    assert last["waits"] == [
        {"samples": 60, "running": 0, "io-wait": pytest.approx(100 / 3), "other": 0}
        | {"idle": pytest.approx(200 / 3)}
        | shares,
        {"user": "LINUX001", "samples": 30, "running": 10, "io-wait": 20, "idle": 40, "other": 30}
        | shares,
    ]
    assert last["paging-users"] == [
        {"user": "LINUX001", "read": 100, "written": 50, "resident": 512, "slots": 7},
    ]
    assert last["volumes"] == [
        {"device": "3000", "volume": "PAG001", "slots": 1000, "slots-used": 900}
        | {"page-reads": 1, "page-writes": 2},
    ]
    assert last["partition"] == {
        **{"number": 5, "configured": 2, "standby": 0, "shared": 0, "dedicated": 0, "machine": 24},
    }
    # 20 samples of 2 s by 6,000 I/Os; 100 units of 128 us by 10.
    assert last["response"] == pytest.approx(20 * 2000 / 6000)
    disks = [device for device in last["devices"] if device["device"] == "1234"]
    assert disks == [{"device": "1234", "starts": 100, "response": pytest.approx(1.28)}]
    assert "response" not in first


def test_as_many_as_there_is_room_for(monread: Path) -> None:
    """4,096 users and 1,024 devices, whichever places they have."""
    names = [f"U{number:04}" for number in range(4096)]

    def interval(number: int) -> list[Part]:
        tod = BEGIN + number * 60 * SECOND
        seconds = number * 7 * SECOND
        users = [fields(360, name=(20, 8, user_id(name)), time=(32, 8, seconds)) for name in names]
        devices = [
            fields(260, number=(200, 2, device), starts=(192, 4, number * 600))
            for device in range(1024)
        ]
        sample = [*(Record(6, 3, tod, device) for device in devices), Record(1, 11, tod)]
        events = [Record(4, 9, tod, user) for user in users]
        return [part(*events, type=EVENT), part(*sample, start=START + 0x1000000)]

    line = activity(monread, b"".join(stream(*interval(number)) for number in (1, 2)))[-1]
    assert sorted(one["user"] for one in line["users"]) == names
    assert {one["seconds"] for one in line["users"]} == {7}
    assert [one["device"] for one in line["devices"]] == [f"{number:04X}" for number in range(1024)]
    assert {one["starts"] for one in line["devices"]} == {10}


def test_a_processor_that_was_offline_was_not_idle(monread: Path) -> None:
    """What it did not do then does not count when it is back."""
    sets = [minute(number) for number in range(1, 6)]
    without = [r for r in sets[2][1].records() if (r.domain, r.number) != (0, 2)]
    sets[2] = [sets[2][0], part(*without)]
    lines = activity(monread, b"".join(stream(*data_set) for data_set in sets))
    assert [line["busy"].get("CP") for line in lines] == [None, 55.0, None, None, 55.0]


def test_a_device_is_counted_once(monread: Path) -> None:
    """By the first kind of record that tells of it; by each kind if there is no other."""

    def interval(number: int) -> bytes:
        tod = BEGIN + number * 60 * SECOND
        first = fields(260, number=(200, 2, 0x1234), starts=(192, 4, number * 600))
        second = fields(172, device=(26, 2, 0x1234), starts=(168, 4, number * 6000))
        other = fields(172, device=(26, 2, 0x2000), starts=(168, 4, number * 120))
        third = fields(316, device=(20, 2, 0x3000), transfers=(40, 4, number * 300))
        records = [Record(6, 3, tod, first), Record(3, 4, tod, second), Record(3, 4, tod, other)]
        return stream(part(*records, Record(6, 24, tod, third), Record(1, 11, tod)))

    lines = activity(monread, b"".join(interval(number) for number in (1, 2, 3)))
    for line in lines[1:]:
        starts = {device["device"]: device["starts"] for device in line["devices"]}
        assert starts == {"1234": 10, "2000": 2, "3000": 5} and len(line["devices"]) == 3
        assert line["starts"] == 17


def test_counters_that_begin_anew(monread: Path) -> None:
    later = [minute(number) for number in (5, 6)]
    data = b"".join(stream(*one) for one in [*later, minute(1)])
    lines = activity(monread, data)
    # The clock went back, and so did the processors' times: nothing to be told.
    assert [line["busy"] for line in lines[1:]] == [
        {"CP": 55.0, "IFL": lines[1]["busy"]["IFL"]},
        {},
    ]
    assert [line["users"][0]["seconds"] for line in lines[1:]] == [7, 7]


def shown(view: View) -> str:
    out = io.StringIO()
    Console(file=out, width=100, color_system=None).print(view)
    return out.getvalue()


def test_view(monread: Path) -> None:
    view = View()
    assert "no interval has ended so far" in shown(view)
    for line in activity(monread, FOUR):
        view.take(line)
    text = shown(view)
    assert "2026-03-02 00:04:00   4 sets" not in text  # of saved bytes each element is one
    assert "40.0 pages read/s   80.0 pages written/s   10.0 I/Os/s" in text
    rows = [line.split() for line in text.splitlines()]
    assert ["CP", "55.0", "%", bar(0.55), "▄▄▄"] in rows
    assert ["LINUX001", "7.00", "█" * 12, "1234", "10.0", "█" * 12] in rows
    assert "00:04:00  logon LINUX001" in text
    view.take(activity(monread, FOUR)[0] | {"lost": 2, "overflows": 1})
    assert "2 sets lost, 1 overflows" in shown(view)


def test_names_do_nothing_to_the_terminal() -> None:
    line = {
        **{"until": "2026-03-02T00:01:00.000000Z", "sets": 1, "records": 1, "busy": {}},
        **{"users": [{"user": "[red]\x1b[2J\x9b", "seconds": 1}], "devices": []},
        **{"events": ["logon [bold]"], "lost": 0, "overflows": 0},
    }
    view = View()
    view.take(line)
    assert r"[red]\x1b[2J\x9b" in shown(view) and "logon [bold]" in shown(view)


def test_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "data"
    file.write_bytes(FOUR)
    assert main(["top", str(file)]) == EXIT_PASS
    rows = [line.split()[:2] for line in capsys.readouterr().out.splitlines()]
    assert rows.count(["LINUX001", "7.00"]) == 3


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--monwrite"], "--monwrite needs a file"),
        (["--every", "-1", "file"], "invalid --every: -1 (seconds"),
        (["--release", "x", "file"], "x"),
        (["/no/such"], "/no/such: No such file or directory"),
    ],
)
def test_what_is_refused(words: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["top", *words]) != EXIT_PASS
    said = capsys.readouterr().err
    assert text in said and said.count("\n") == 1


def test_user_of_a_running_cp(server: Server, tmp_path: Path) -> None:
    """Sets of CP's own, byte for byte, to two users and more."""
    with server.connect() as control, server.connect() as other:
        control.execute("monitor-manual", manual=True)
        with Capture(control, tmp_path / "sets") as capture, MonitorUser(other) as user:
            control.cp("MONITOR SAMPLE ENABLE ALL\nMONITOR SAMPLE START")
            sets = user.sets()
            for _ in range(3):
                control.execute("monitor-tick")
                assert next(sets) == capture.next().stream
            control.execute("monitor-sever", user="ZVMTOP", code=1)
            # What had come before the sever was read above, or is gone with it.
            assert len(list(sets)) <= 1


def test_segment_that_is_not_there(tmp_path: Path) -> None:
    server = Server(tmp_path, "segment=OTHER 1000-17FF SC", replays=False)
    try:
        with server.connect() as control, pytest.raises(ZvmlabError, match="no segment MONDCSS"):
            MonitorUser(control)
    finally:
        server.stop()
