# SPDX-License-Identifier: MIT
"""monread --html: the right numbers, in a browser's document, and something to be seen."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import zlib
import zoneinfo
from datetime import datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from monread_tool import ROOT, START, build_monread, part, run, stream

from zvmlab.base.errors import EXIT_FAILED, EXIT_PASS
from zvmlab.mondata.monrec import by_number
from zvmlab.mondata.records import EVENT, Part, Record

BROWSER_SECONDS = 280
"""A busy machine takes minutes for it; a test that starts two stays below its own limit."""
BROWSER = shutil.which("chromium")
SECOND = 4096_000_000
BEGIN = 2208988800 * SECOND + 1772409600 * SECOND  # 2026-03-02, midnight
MINUTES = 4


@pytest.fixture(name="monread", scope="module")
def _monread() -> Path:
    return build_monread()


def fields(length: int, **at: tuple[int, int, int]) -> bytes:
    """Behind the header: offset, length and value of each field."""
    out = bytearray(length - 20)
    for offset, size, value in at.values():
        out[offset - 20 : offset - 20 + size] = value.to_bytes(size, "big")
    return bytes(out)


def user_id(name: str) -> int:
    """As a number of 8 bytes."""
    return int.from_bytes(name.ljust(8).encode("cp037"), "big")


def processor(tod: int, address: int, kind: int, busy: int) -> list[Record]:
    """D0R2 with that much user and system time in seconds, D3R2 with pages."""
    time = fields(
        108,
        PFXCPUAD=(20, 2, address),
        PFXUTIME=(32, 8, busy * SECOND),
        PFXTMSYS=(40, 8, busy * SECOND // 10),
        PFXCPUTY=(104, 1, kind),
    )
    pages = fields(
        364,
        PFXCPUAD=(20, 2, address),
        PLSPGDRD=(236, 4, (busy * 60 - 600) % 2**32),
        PLSPGDWT=(240, 4, busy * 120),
    )
    return [Record(0, 2, tod, time), Record(3, 2, tod, pages)]


def minute(number: int, name: str = "LINUX001") -> list[Part]:
    """Sample and event data of one interval: CP 0 is busy 33 s of each minute, IFL 1 11 s."""
    tod = BEGIN + number * 60 * SECOND
    ended = fields(360, VMDUSER=(20, 8, user_id(name)), VMDTTIME=(32, 8, number * 7 * SECOND))
    logon = fields(96, VMDUSER=(20, 8, user_id(name)))
    device = fields(260, number=(200, 2, 0x1234), starts=(192, 4, number * 600))
    sample = [
        *processor(tod, 0, 0, 30 * number),
        *processor(tod, 1, 3, 10 * number),
        Record(6, 3, tod, device),
        Record(1, 11, tod),
    ]
    events = [Record(4, 1, tod, logon), Record(4, 9, tod, ended)]
    return [part(*events, type=EVENT), part(*sample, start=START + 0x10000)]


class Page(HTMLParser):
    """Tables by id, as rows of text; texts of other elements with an id."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.ids: dict[str, str] = {}
        self.outside: list[str] = []
        self._open: list[str] = []
        self._table: list[list[str]] | None = None
        self._cell = False
        self._id: str | None = None
        self.feed(text)
        assert self._open == [], "the document ends within these"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag != "meta":
            self._open.append(tag)
        self.outside += [v for k, v in attrs if k in ("src", "href") and v]
        self._id = values.get("id")
        if tag == "table":
            self._table = self.tables.setdefault(values["id"] or "", [])
        elif tag == "tr" and self._table is not None:
            self._table.append([])
        elif tag in ("td", "th") and self._table is not None:
            self._table[-1].append("")
            self._cell = True

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
        self._id = None
        self._cell = self._cell and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._cell and self._table:
            self._table[-1][-1] += data
        if self._id:
            self.ids[self._id] = data


def page_of(monread: Path, tmp_path: Path, data: bytes, *words: str) -> Path:
    """The page of these data."""
    page = tmp_path / "page.html"
    done = run(monread, "-", "--html", page, *words, data=data)
    assert (done.returncode, done.stdout) == (EXIT_PASS, ""), done.stderr
    return page


def check(text: str, name: str = "LINUX001") -> None:
    """The numbers of four minutes."""
    page = Page(text)
    assert page.outside == []
    assert (page.ids["records"], page.ids["intervals"]) == (str(8 * MINUTES), str(MINUTES))
    until = [f"2026-03-02 00:0{number}:00" for number in range(1, MINUTES + 1)]
    assert page.tables["busy-table"] == [
        ["until", "CP", "IFL"],
        [until[0], "", ""],
        *([time, "55.0", "18.3"] for time in until[1:]),
    ]
    assert page.tables["paging-table"][1:] == [
        [until[0], "", ""],
        *([time, "40.0", "80.0"] for time in until[1:]),
    ]
    assert page.tables["io-table"][2:] == [[time, "10.0"] for time in until[1:]]
    assert page.tables["users-table"][1:] == [[name, "21.000", "11.7", "", "", "", "D4R9", ""]]
    assert page.tables["devices-table"][1:] == [["1234", "1,800", "D6R3", ""]]
    assert page.tables["events-table"][1:] == [[time, f"logon {name}"] for time in until]
    assert "None known." in text


FOUR = b"".join(stream(*minute(number)) for number in range(1, MINUTES + 1))


def test_numbers(monread: Path, tmp_path: Path) -> None:
    check(page_of(monread, tmp_path, FOUR).read_text())


def test_events_of_each_kind(monread: Path, tmp_path: Path) -> None:
    """By zvmlab records.  In a list, and on the time line: as many as a kind has make one mark."""
    tod = BEGIN + 60 * SECOND

    def made(domain: int, number: int, **at: tuple[int, int, int]) -> Record:
        known = by_number(domain, number)
        length = known.length() if known else None
        return Record(domain, number, tod, fields(length or 96, **at))

    user = (20, 8, user_id("OPERATOR"))
    logon = (made(4, 1, VMDUSER=user), "logon OPERATOR")
    events = [
        *[logon] * 5,
        (made(4, 2, VMDUSER=user), "logoff OPERATOR"),
        (made(5, 1, PFXCPUAD=(20, 2, 11)), "processor varied on 11"),
        (made(5, 2, PFXCPUAD=(20, 2, 12)), "processor varied off 12"),
        (made(6, 1, RDEVDEV=(26, 2, 0xABC)), "device varied on 0ABC"),
        (made(6, 2, RDEVDEV=(24, 2, 0x1234)), "device varied off 1234"),
        (made(1, 2), "event monitoring changed"),
        (Record(1, 12, tod), "event recording suspended"),
    ]
    resumed = (made(1, 3, LOSTRCCT=(20, 4, 77)), "event recording resumed, records lost 77")
    sample = (made(1, 10), "sample monitoring changed")
    data = stream(
        part(*(record for record, _ in events), type=EVENT),
        part(resumed[0], type=EVENT, start=START + 0x10000),
        part(sample[0], Record(1, 11, tod), start=START + 0x20000),
    )
    text = page_of(monread, tmp_path, data).read_text()
    page = Page(text)
    said = [what for _, what in (*events, resumed, sample)]
    assert page.tables["events-table"][1:] == [["2026-03-02 00:01:00", what] for what in said]
    marks = re.findall(r'<i class="f(\d)" [^>]*;width:(\d+)px;[^>]* title="(\d+)"></i>', text)
    # Twice as many, a step larger.
    assert marks == [
        *(("0", "9", "5"), ("1", "5", "1"), ("2", "7", "2")),
        *(("3", "7", "2"), ("4", "7", "2"), ("5", "7", "2")),
    ]
    assert page.tables["gaps-table"][1:] == [["2026-03-02 00:01:00", "0", "0", "77"]]


def test_cpus_that_there_is_no_room_for(monread: Path, tmp_path: Path) -> None:
    """Of 128 CPUs there is activity; that of more is left out, whatever their number is."""
    pages = []
    for addresses in ([*range(128)], [*range(128), 128, 200, 65535]):
        sets = []
        for number in (1, 2, 3):
            tod = BEGIN + number * 60 * SECOND
            # Those that come last are busier than all others.
            busy = [50 if one >= 128 else 20 for one in addresses]
            records = [
                record
                for one, seconds in zip(addresses, busy)
                for record in processor(tod, one, 0, seconds * number)
            ]
            sets.append(stream(part(*records, Record(1, 11, tod))))
        pages.append(Page(page_of(monread, tmp_path, b"".join(sets)).read_text()))
    assert pages[0].tables["busy-table"] == pages[1].tables["busy-table"]
    assert [row[1] for row in pages[0].tables["busy-table"][2:]] == ["36.7", "36.7"]
    assert pages[0].tables["paging-table"] == pages[1].tables["paging-table"]


def test_text_of_the_data_is_no_markup(monread: Path, tmp_path: Path) -> None:
    name = "<b>&\"'x"
    data = b"".join(stream(*minute(number, name)) for number in range(1, MINUTES + 1))
    text = page_of(monread, tmp_path, data).read_text()
    assert "<b>" not in text
    check(text, name)


def test_any_length_of_time_fits(monread: Path, tmp_path: Path) -> None:
    data = b"".join(stream(*minute(number)) for number in range(1, 2001))
    page = Page(page_of(monread, tmp_path, data).read_text())
    rows = page.tables["busy-table"][1:]
    assert 120 <= len(rows) <= 240
    # Every interval was as busy, so the highest is the mean.
    assert {tuple(row[1:]) for row in rows} == {("55.0", "55.0", "18.3", "18.3")}
    assert page.tables["users-table"][1:] == [
        ["LINUX001", f"{1999 * 7:,}.000", "11.7", "", "", "", "D4R9", ""]
    ]
    assert page.tables["devices-table"][1:] == [["1234", f"{1999 * 600:,}", "D6R3", ""]]


def test_what_no_record_tells(monread: Path, tmp_path: Path) -> None:
    text = page_of(monread, tmp_path, stream(part(Record(1, 11, BEGIN)))).read_text()
    assert text.count("No data.") == 15
    assert "No event was recorded." in text


def test_lost_sets_are_gaps(monread: Path, tmp_path: Path) -> None:
    """What came of a set that is cut is not in the activity; that it is missing is."""
    file, page = tmp_path / "data", tmp_path / "page"
    sets = [stream(*minute(number)) for number in range(1, 4)]
    file.write_bytes(b"".join(sets)[:-30])
    lengths = [len(sets[0]), len(sets[1]), len(sets[2])]
    (tmp_path / "data.idx").write_text("".join(f'{{"length":{length}}}\n' for length in lengths))
    assert run(monread, file, "--html", page).returncode == EXIT_FAILED
    text = page.read_text()
    # In each chart that has data, and on the time line of events.
    assert text.count('<rect class="gap"') == 4
    tables = Page(text)
    assert tables.ids["sets"] == "2"
    assert tables.tables["gaps-table"][1:] == [["2026-03-02 00:02:00", "1", "0", "0"]]
    assert [row[0][-8:] for row in tables.tables["busy-table"][1:3]] == ["00:01:00", "00:02:00"]


def zone_of(monread: Path, tmp_path: Path, begin: int, minutes: int, zone: str) -> str:
    """The page of intervals from @begin, seconds since 1970, at times of the zone."""
    first = (2208988800 + begin) * SECOND
    sets = [part(Record(1, 11, first + n * 60 * SECOND)) for n in range(minutes + 1)]
    return page_of(monread, tmp_path, stream(*sets), "--time-zone", zone).read_text()


def test_times_of_a_zone(monread: Path, tmp_path: Path) -> None:
    """By the clocks of Python's zoneinfo, which reads the same database."""
    berlin = zoneinfo.ZoneInfo("Europe/Berlin")
    summer = int(datetime(2026, 7, 1, 12, tzinfo=berlin).timestamp())
    text = zone_of(monread, tmp_path, summer, 30, "Europe/Berlin")
    assert "2026-07-01 12:00:00 CEST (UTC+02:00) to 2026-07-01 12:30:00 CEST (UTC+02:00)" in text
    text = zone_of(monread, tmp_path, summer, 30, "UTC")
    assert "2026-07-01 10:00:00 UTC to 2026-07-01 10:30:00 UTC" in text
    # Clocks are put back at 3:00; the hour from 2:00 comes twice.
    autumn = int(datetime(2026, 10, 25, 2, 30, tzinfo=berlin).timestamp())
    text = zone_of(monread, tmp_path, autumn, 60, "Europe/Berlin")
    assert "2026-10-25 02:30:00 CEST (UTC+02:00) to 2026-10-25 02:30:00 CET (UTC+01:00)" in text


def test_times_that_come_twice_differ(monread: Path, tmp_path: Path) -> None:
    berlin = zoneinfo.ZoneInfo("Europe/Berlin")
    begin = int(datetime(2026, 10, 25, 2, 30, tzinfo=berlin).timestamp())
    first = (2208988800 + begin) * SECOND
    sets = []
    for number in (1, 2, 3):
        tod = first + (number - 1) * 1800 * SECOND
        sets.append(part(*processor(tod, 0, 0, 900 * number), Record(1, 11, tod)))
    page = Page(
        page_of(monread, tmp_path, stream(*sets), "--time-zone", "Europe/Berlin").read_text()
    )
    assert [row[0] for row in page.tables["busy-table"][1:]] == [
        *("2026-10-25 02:30:00 +0200", "2026-10-25 02:00:00 +0100", "2026-10-25 02:30:00 +0100"),
    ]


def test_thresholds(monread: Path, tmp_path: Path) -> None:
    """CP 0 is busy 55 % of the time, IFL 1 18.3 %; what is above has a mark that is text."""
    text = page_of(monread, tmp_path, FOUR, "--threshold", "busy=50").read_text()
    page = Page(text)
    assert page.tables["busy-table"][2][1:] == ["▲ 55.0", "18.3"]
    assert page.tables["load-table"][1] == [
        *("0", "CP", "▲ 55.0", "50.0", "5.0", "▲ 55.0", "2026-03-02 00:02:00")
    ]
    assert page.tables["load-table"][2] == [
        *("1", "IFL", "18.3", "16.7", "1.7", "18.3", "2026-03-02 00:02:00")
    ]
    assert text.count('<span class="over"') == 3 and "threshold 50</span>" in text
    text = page_of(monread, tmp_path, FOUR, "--threshold", "busy=off").read_text()
    assert "<b>▲" not in text and "▲ busy" not in text and 'class="over"' not in text


def test_tables_of_a_modelled_system(monread: Path, tmp_path: Path) -> None:
    """What the model's source says of it: an I/O takes 2 ms, samples are 2 s apart."""
    out = tmp_path / "data"
    workload: dict[str, object] = {
        **{"hours": 1, "seed": 3, "processors": [{"type": "CP", "count": 3}]},
        "system": {"name": "SYS1", "partition": "PART7"},
        "devices": [
            {"kind": "scsi", "first": "1000", "count": 4, "paths": ["40", "41"]},
            {"kind": "paging", "first": "3000", "count": 2, "volume": "PAG"},
        ],
        "users": [{"name": "U", "count": 20, "io": 50, "paging": 5, "transactions": 1}],
    }
    (tmp_path / "w.json").write_text(json.dumps(workload))
    argv: list[str | Path] = [
        sys.executable,
        ROOT / "zvmlab",
        "fabricate",
        "--workload",
        tmp_path / "w.json",
    ]
    subprocess.run([*argv, "--out", out], capture_output=True, timeout=300, check=True)
    file = tmp_path / "page"
    assert run(monread, out, "--html", file).returncode == EXIT_PASS
    text = file.read_text()
    assert "<h1>SYS1</h1>" in text and "Partition PART7, number " in text
    tables = Page(text).tables
    assert len(tables["load-table"]) == 1 + 3
    all_users, *users = tables["waits-table"][1:]
    assert all_users[0] == "(all users)" and len(users) == 9
    assert int(all_users[-1].replace(",", "")) == 20 * 1800
    for row in users:
        assert row[0].startswith("U") and abs(sum(map(float, row[1:-1])) - 100) < 0.5
    everything = tables["responses-table"][1]
    assert everything[0] == "(all)" and 1.8 < float(everything[5]) < 2.2
    assert [row[:3] for row in sorted(tables["volumes-table"][1:])] == [
        *(["PAG000", "3000", "600,000"], ["PAG001", "3001", "600,000"]),
    ]
    # Twenty users read 5 pages a second each, at 100 % load.
    assert 60 < sum(float(row[6]) for row in tables["volumes-table"][1:]) < 140
    assert len(tables["user-paging-table"]) == 11
    lines = run(monread, out, "--tables").stdout
    for name in ("load", "waits", "most-waits", "responses", "volumes", "user-paging"):
        for row in tables[f"{name}-table"][1:]:
            words = " ".join(" ".join(row).replace("▲", "!").split())
            assert words in [" ".join(line.split()) for line in lines.splitlines()]


def browser(page: Path, folder: Path, *words: str) -> bytes:
    """What the browser prints."""
    assert BROWSER is not None
    argv = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    argv += [f"--user-data-dir={folder / 'profile'}", "--window-size=800,1200", *words]
    done = subprocess.run(
        [*argv, page.as_uri()],
        env=os.environ | {"HOME": str(folder)},
        capture_output=True,
        timeout=BROWSER_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def pixels(file: Path) -> tuple[int, list[bytes]]:
    """Bytes of a pixel, and the rows of a PNG of 8 bits a colour."""
    data = file.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = b"", 8
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        if kind == b"IHDR":
            width, _, depth, colour = struct.unpack_from(">IIBB", data, at + 8)
        elif kind == b"IDAT":
            chunks += data[at + 8 : at + 8 + length]
        at += 12 + length
    assert depth == 8 and colour in (2, 6)
    size = 3 if colour == 2 else 4
    return size, list(_unfiltered(zlib.decompress(chunks), width * size, size))


def _unfiltered(raw: bytes, length: int, size: int) -> list[bytes]:
    """Rows without PNG's filters."""
    rows, above = [], bytes(length)
    for at in range(0, len(raw), length + 1):
        kind, row = raw[at], bytearray(raw[at + 1 : at + 1 + length])
        if kind:
            for i in range(length):
                left = row[i - size] if i >= size else 0
                corner = above[i - size] if i >= size else 0
                row[i] = (row[i] + _predicted(kind, left, above[i], corner)) & 0xFF
        above = bytes(row)
        rows.append(above)
    return rows


def _predicted(kind: int, left: int, up: int, corner: int) -> int:
    if kind < 4:
        return (0, left, up, (left + up) // 2)[kind]
    guess = left + up - corner
    return min((left, up, corner), key=lambda value: abs(guess - value))


# Of the page's style: ground, first and fourth series.
LIGHT = {"ground": "ffffff", "s0": "2f6fd0", "s3": "8a4fc9"}
DARK = {"ground": "14171c", "s0": "6ea8ff", "s3": "c39bf2"}


@pytest.mark.skipif(BROWSER is None, reason="chromium is not installed")
@pytest.mark.parametrize(
    ("words", "colours"),
    [([], LIGHT), (["--blink-settings=preferredColorScheme=0"], DARK)],
    ids=["light", "dark"],
)
def test_in_a_browser(
    monread: Path, tmp_path: Path, words: list[str], colours: dict[str, str]
) -> None:
    page = page_of(monread, tmp_path, FOUR)
    check(browser(page, tmp_path, "--dump-dom", *words).decode())
    picture = tmp_path / "page.png"
    browser(page, tmp_path, f"--screenshot={picture}", *words)
    size, rows = pixels(picture)
    seen = {row[i : i + 3].hex() for row in rows for i in range(0, len(row), size)}
    assert rows[0][:3].hex() == colours["ground"]
    # Lines of the charts, in the colours of this scheme: the page is not blank.
    assert set(colours.values()) <= seen
    assert re.fullmatch("[0-9a-f]{6}", rows[0][:3].hex())


_WIDTH = "<script>document.title=document.documentElement.scrollWidth</script></body>"


@pytest.mark.skipif(BROWSER is None, reason="chromium is not installed")
@pytest.mark.parametrize("width", [400, 1200])
def test_fits_a_narrow_window(monread: Path, tmp_path: Path, width: int) -> None:
    """The page is no wider than its frame; wide tables scroll in their boxes."""
    page = page_of(monread, tmp_path, FOUR)
    text = page.read_text()
    policy = re.search(r"<meta http-equiv[^>]*>", text)
    assert policy is not None
    inner = text.replace(policy[0], "").replace("</body>", _WIDTH)
    (tmp_path / "inner.html").write_text(inner)
    script = "document.title=document.querySelector('iframe').contentWindow.document.title"
    outer = tmp_path / "outer.html"
    outer.write_text(
        f'<iframe src="inner.html" style="width:{width}px;height:900px;border:0"'
        f' onload="{script}"></iframe>'
    )
    printed = browser(outer, tmp_path, "--allow-file-access-from-files", "--dump-dom").decode()
    found = re.search(r"<title>(\d+)</title>", printed)
    assert found and int(found[1]) == width, printed[:500]


# Of the page's style: fourth and sixth series, IFL and zIIP.
IFL, ZIIP = "8a4fc9", "b3261e"


def many_users(number: int) -> list[Part]:
    """Forty users, U0 with a second a minute to U39 with 40 ms more each; IFL and zIIP as busy."""
    tod = BEGIN + number * 60 * SECOND
    users = [
        Record(
            *(4, 9, tod),
            fields(
                360,
                VMDUSER=(20, 8, user_id(f"U{user}")),
                VMDTTIME=(32, 8, number * (SECOND + user * SECOND // 25)),
                VMDVTIME=(40, 8, number * (SECOND + user * SECOND // 25) // 2),
            ),
        )
        for user in range(40)
    ]
    busy = [*processor(tod, 0, 3, 30 * number), *processor(tod, 1, 5, 30 * number)]
    sample = part(*busy, Record(1, 11, tod), start=START + 0x10000)
    return [part(*users[:10], type=EVENT), *_parts(users[10:]), sample]


def _parts(users: list[Record]) -> list[Part]:
    """Ten to an element, each within a frame."""
    starts = [START + 0x20000 + at * 0x1000 for at in range(3)]
    return [
        part(*users[at * 10 : at * 10 + 10], type=EVENT, start=start)
        for at, start in enumerate(starts)
    ]


@pytest.mark.skipif(BROWSER is None, reason="chromium is not installed")
@pytest.mark.parametrize("width", [400, 1280])
def test_shows_what_the_table_has(monread: Path, tmp_path: Path, width: int) -> None:
    """All users; and of two equal curves both, each with its legend."""
    data = b"".join(stream(*many_users(number)) for number in range(1, MINUTES + 1))
    page = page_of(monread, tmp_path, data)
    table = Page(browser(page, tmp_path, "--dump-dom").decode()).tables["users-table"]
    assert [row[:2] + row[5:7] for row in table[1:]] == [
        [f"U{user}", f"{3 * (1 + user / 25):.3f}", "2.00", "D4R9"] for user in range(39, -1, -1)
    ]
    outer = tmp_path / "outer.html"
    outer.write_text(
        '<body style="margin:0"><iframe src="page.html"'
        f' style="width:{width}px;height:1100px;border:0"></iframe></body>'
    )
    picture = tmp_path / "page.png"
    browser(outer, tmp_path, f"--screenshot={picture}", "--window-size=1280,1200")
    size, rows = pixels(picture)
    # Legends are on the left, bars have the colour of the first series.
    right = [row[width * 6 // 10 * size : width * size] for row in rows]
    for colour in (IFL, ZIIP):
        found = [
            sum(row[i : i + 3].hex() == colour for i in range(0, len(row), size)) for row in right
        ]
        # A flat line, of which at least a quarter of the width is its own.
        assert max(found) >= width * 4 // 10 // 8, (colour, max(found))
    text = page.read_text()
    assert '<i class="f3"></i>IFL' in text and '<i class="f5 d1"></i>zIIP' in text
    assert 'class="s3" d=' in text and 'class="s5 d1" d=' in text


# What a browser shows of each chart: colours, dashes, points and scale in pixels, and the table.
_SHOWN = """<script>
const centre = box => box.top + box.height / 2;
const charts = [...document.querySelectorAll("section")].filter(s => s.querySelector(".legend"));
document.title = JSON.stringify(charts.map(section => ({
  id: section.id,
  legend: [...section.querySelectorAll(".legend span")].filter(s => s.querySelector("i")).map(s => {
    const style = getComputedStyle(s.querySelector("i"));
    return [s.textContent, style.backgroundColor, style.backgroundImage !== "none"];
  }),
  lines: [...section.querySelectorAll("path")].map(path => {
    const style = getComputedStyle(path), at = path.getScreenCTM();
    const points = [...path.getAttribute("d").matchAll(/([\\d.]+) ([\\d.]+)/g)];
    return {
      colour: style.stroke, dashed: style.strokeDasharray !== "none",
      thin: parseFloat(style.strokeWidth) < 1.5,
      points: points.map(p => [at.a * p[1] + at.e, at.d * p[2] + at.f]),
    };
  }),
  scale: [...section.querySelectorAll(".y")].map(
    s => [s.textContent.replace(",", ""), centre(s.getBoundingClientRect())]),
  plot: (box => [box.left, box.right])(section.querySelector(".plot").getBoundingClientRect()),
  table: [...section.querySelectorAll("tr")].map(
    row => [...row.children].map(cell => cell.textContent)),
})));
</script></body>"""


def shown(page: Path, folder: Path, width: int) -> list[dict[str, Any]]:
    """What a browser shows of the page's charts, in a frame of that width."""
    text = page.read_text()
    policy = re.search(r"<meta http-equiv[^>]*>", text)
    assert policy is not None
    inner = text.replace(policy[0], "").replace("</body>", _SHOWN)
    (folder / "inner.html").write_text(inner)
    script = "document.title=document.querySelector('iframe').contentWindow.document.title"
    outer = folder / "outer.html"
    outer.write_text(
        f'<iframe src="inner.html" style="width:{width}px;height:900px;border:0"'
        f' onload="{script}"></iframe>'
    )
    printed = browser(outer, folder, "--allow-file-access-from-files", "--dump-dom").decode()
    found = re.search(r"<title>(.*?)</title>", printed, re.DOTALL)
    assert found, printed[:500]
    charts: list[dict[str, Any]] = json.loads(html.unescape(found[1]))
    return charts


def hour_of_users(number: int) -> list[Part]:
    """Three users, two of them alike; one has a second a minute, and ten in each fiftieth."""
    tod = BEGIN + number * 60 * SECOND
    times = {"ONE": number + 9 * (number // 50), "TWO": 7 * number, "THREE": 7 * number}
    users = [
        Record(10, 2, tod, fields(92, user=(52, 8, user_id(name)), time=(60, 8, time * SECOND)))
        for name, time in times.items()
    ]
    busy = [*processor(tod, 0, 3, 30 * number), *processor(tod, 1, 5, 30 * number)]
    return [part(*users, *busy, Record(1, 11, tod))]


def values_of(chart: dict[str, Any], line: dict[str, Any]) -> list[float]:
    """By the scale that is beside it."""
    (top, top_at), *_, (bottom, bottom_at) = chart["scale"]
    assert float(bottom) == 0
    return [float(top) * (bottom_at - y) / (bottom_at - top_at) for _, y in line["points"]]


@pytest.mark.skipif(BROWSER is None, reason="chromium is not installed")
@pytest.mark.parametrize("width", [400, 1280])
def test_lines_are_what_the_tables_have(monread: Path, tmp_path: Path, width: int) -> None:
    """Each line has the colour and the dashes of its legend, and the values of its column."""
    data = b"".join(stream(*hour_of_users(number)) for number in range(1, 301))
    charts = shown(page_of(monread, tmp_path, data), tmp_path, width)
    assert {chart["id"] for chart in charts} == {"busy", "user-cpu", "paging"}
    for chart in charts:
        thin = chart["id"] != "user-cpu"
        assert {line["thin"] for line in chart["lines"]} == ({True, False} if thin else {False})
        columns = list(zip(*chart["table"]))[1:]
        assert len(columns) == len(chart["lines"]) == len(chart["legend"]) * (1 + thin)
        for name, colour, dashed in chart["legend"]:
            for is_thin in {False, thin}:
                (line,) = [
                    *(x for x in chart["lines"] if (x["colour"], x["thin"]) == (colour, is_thin))
                ]
                assert is_thin or line["dashed"] == dashed, (chart["id"], name)
                head = ("most " if is_thin else "") + name
                (column,) = [cells for cells in columns if cells[0] == head]
                table = [float(cell.strip("▲ ").replace(",", "")) for cell in column[1:] if cell]
                top = float(chart["scale"][0][0])
                assert values_of(chart, line) == pytest.approx(table, abs=0.01 * top)
                across = [x for x, _ in line["points"]]
                assert across == sorted(across) and across[-1] == pytest.approx(
                    chart["plot"][1], abs=1
                )
    dashed = {
        (chart["id"], name) for chart in charts for name, _, is_so in chart["legend"] if is_so
    }
    assert ("busy", "zIIP") in dashed and len(
        dashed & {("user-cpu", "TWO"), ("user-cpu", "THREE")}
    ) == 1
    users = next(chart for chart in charts if chart["id"] == "user-cpu")
    # 7 of 60 s, of each of two; the other one has 10 s in some minutes.
    assert max(float(row[1]) for row in users["table"][2:]) == 11.7
