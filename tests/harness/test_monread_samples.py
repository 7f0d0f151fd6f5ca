# SPDX-License-Identifier: MIT
"""Users and devices out of samples (D4R3, D4R4, D6R3): monread against the model's own numbers.

What D4R3 and D4R4 have where is public in IBM's pages, which are not here.  The pages of these
tests have the same form, with places of their own.  What monread says is held against what the
model counts in other records: application data (D10R2), processors (D0R1) and states of all (D0R12).
"""

from __future__ import annotations

import html
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from fabricated import DataSet, changed, samples, sets_of, written
from monread_tool import ROOT, build_monread, run

from zvmlab.base.errors import EXIT_PASS, EXIT_USAGE, UsageError
from zvmlab.mondata.monrec_reader import Record

SECOND = 4096_000_000
ACTIVITY = {
    **{"VMDUSER": (20, 8), "VMDCPUAD": (28, 2), "VMDTTIME": (200, 8), "CALCPPGR": (60, 4)},
    **{"CALCPPGW": (64, 4), "VMDCTPVR": (32, 4), "CALCTPGS": (36, 4), "VMDVDSCT": (300, 4)},
    **{"CALTODON": (400, 8)},
}
INTERACTION = {
    **{"VMDUSER": (20, 8), "VMDCPUAD": (28, 2), "HFSTCT": (100, 4), "HFIOWT": (104, 4)},
    **{"HFWTPAG": (180, 4), "HFCPUWT": (112, 4), "HFCPURN": (116, 4), "HFTIDL": (120, 4)},
    **{"HFDORM": (124, 4)},
}
EVENTS = [
    {"at": "00:01:10", "what": "logoff", "users": "LINUX2"},
    {"at": "00:02:40", "what": "logon", "users": "LINUX2"},
    {"at": "00:03:05", "what": "logoff", "users": "LINUX3"},
    {"at": "00:03:15", "what": "logon", "users": "LINUX3"},
]


@pytest.fixture(name="monread", scope="module")
def _monread() -> Path:
    return build_monread()


def page(
    folder: Path, name: str, number: int, length: int, fields: dict[str, tuple[int, int]]
) -> Path:
    """A page as a browser saves it."""
    lines = [
        f" DSECT NAME - {name}",
        " DESCRIPTIVE NAME - Monitor Sample Record",
        "                    Domain 4 - User Domain",
        f"                    Record {number} - Something <else>",
        f"   0   0  Structure   {length}  {name}                 Start",
    ]
    for field, (offset, size) in sorted(fields.items(), key=lambda item: item[1]):
        kind = "Character" if field in ("VMDUSER", "CALTODON") else "Unsigned"
        lines.append(f" {offset:3} {offset:3X}  {kind:10} {size}  {name}_{field}   what it is")
    lines.append("This information is based on z/VM V5R3.0.")
    file = folder / f"MR{name}.HTML"
    file.write_text(f"<HTML><PRE>{html.escape(chr(10).join(lines))}</PRE></HTML>")
    return file


@pytest.fixture(name="pages")
def _pages(tmp_path: Path) -> list[Path]:
    return [
        page(tmp_path, "USEACT", 3, 440, ACTIVITY),
        page(tmp_path, "USEINT", 4, 228, INTERACTION),
    ]


def options(pages: list[Path]) -> list[str]:
    """As words of the command line."""
    return [word for name in pages for word in ("--layout", str(name))]


def lines_of(monread: Path, data: bytes, *words: str) -> list[dict[str, Any]]:
    """Those of --activity, of all intervals."""
    done = run(monread, "-", "--activity", *words, data=data)
    assert done.returncode == EXIT_PASS, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def at(record: Record, offset: int, size: int) -> int:
    """A number of the record."""
    return int.from_bytes(record.data[offset : offset + size], "big")


def applications(data_set: DataSet) -> dict[str, tuple[int, int]]:
    """CPU time and I/Os by user: application data behind the 52 bytes of D10R2."""
    found = [record for record in data_set.records if (record.domain, record.number) == (10, 2)]
    return {
        record.data[52:60].decode("cp037").rstrip(): (at(record, 60, 8), at(record, 68, 8))
        for record in found
    }


def grown(sets: list[DataSet]) -> dict[str, list[int]]:
    """The growth of the two; a user that was away counts from 0 when it is there again."""
    total: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    before = applications(sets[0])
    for one in sets[1:]:
        now = applications(one)
        for user, values in now.items():
            last = before.get(user, (0, 0))
            if any(value < old for value, old in zip(values, last)):
                last = (0, 0)
            for index in (0, 1):
                total[user][index] += values[index] - last[index]
        before = now
    return total


def test_users_of_samples(monread: Path, pages: list[Path]) -> None:
    users = list(changed()["users"])
    users[0] = users[0] | {"processors": 2}
    data, _ = written(changed(users=users, events=EVENTS), pages=pages)
    # The release has the lengths that the pages say.
    lines = lines_of(monread, data, *options(pages))
    seconds: dict[str, float] = defaultdict(float)
    for line in lines:
        for one in line["users"]:
            seconds[one["user"].split(",")[0]] += one["seconds"]
    sampled = samples(sets_of(data))
    expected = grown(sampled)
    assert set(expected) == {f"LINUX{number}" for number in range(1, 7)}
    for user, (time, _) in expected.items():
        assert seconds[user] == pytest.approx(time / SECOND, abs=1e-5), user
    # Processors gave what users had; who logged off between two samples had some that nobody saw.
    given = [sum(v["PFXUTIME"] for v in one.of("SYTPRP")) / SECOND for one in sampled]
    assert 0.95 < sum(seconds.values()) / (given[-1] - given[0]) <= 1 + 1e-6
    assert not any("not-understood" in line.get("unused", {}) for line in lines)


def test_states_of_samples(monread: Path, pages: list[Path]) -> None:
    data, _ = written(changed(), pages=pages)
    lines = lines_of(monread, data, *options(pages))
    names = {"running", "cpu-wait", "io-wait", "page-wait", "idle"}
    for line in lines[2:]:
        whole, *each = line["waits"]
        assert len(each) == 7
        samples_of_all = sum(sample["samples"] for sample in each)
        assert samples_of_all == whole["samples"] == 7 * each[0]["samples"]
        for name in names:
            found = sum(sample[name] * sample["samples"] for sample in each) / samples_of_all
            assert found == pytest.approx(whole[name], abs=1e-6), name


def test_paging_of_samples(monread: Path, pages: list[Path]) -> None:
    """What users read is what processors read from paging volumes."""
    data, _ = written(changed(), pages=pages)
    lines = lines_of(monread, data, *options(pages))
    sampled = samples(sets_of(data))
    reads = [sum(values["PLSPGDRD"] for values in one.of("STORSP")) for one in sampled]
    told = [sum(one["read"] for one in line["paging-users"]) for line in lines]
    assert told[-len(reads) + 1 :] == [now - before for before, now in zip(reads, reads[1:])]
    assert sum(told) == reads[-1] - reads[0] > 0


def test_devices_of_samples(monread: Path) -> None:
    """Starts of all devices are those of processors; D6R3 in 5.3: bytes 56 to 67, 196 and 200."""
    data, _ = written(changed())
    lines = lines_of(monread, data)
    sampled = samples(sets_of(data))
    starts = [sum(values["PLSCTSS"] for values in one.of("SYTSYP")) for one in sampled]
    rates = [(now - before) / 30 for before, now in zip(starts, starts[1:])]
    assert [line["starts"] for line in lines[-len(rates) :]] == pytest.approx(rates)
    last, now = (
        {at(r, 200, 2): r for r in one.records if (r.domain, r.number) == (6, 3)}
        for one in sampled[-2:]
    )
    told = {int(one["device"], 16): one for one in lines[-1]["devices"]}
    # All disks are used; the adapter does not start I/O.
    assert {number for number in now if number != 0x600} >= set(told) >= set(range(0x1000, 0x1004))
    for number, one in told.items():
        new, old = now[number], last[number]
        count = at(new, 196, 4) - at(old, 196, 4)
        time = sum(at(new, offset, 4) - at(old, offset, 4) for offset in (56, 60, 64))
        assert one["response"] == pytest.approx(0.128 * time / count)
        assert 2 <= one["response"] <= 3.3


def test_what_is_not_understood_is_counted(monread: Path, tmp_path: Path) -> None:
    """Without a page; in a release whose D6R3 is not public no sum is made of the others."""
    data, _ = written(changed())
    sampled = samples(sets_of(data))
    out = tmp_path / "page.html"
    assert run(monread, "-", "--html", out, data=data).returncode == EXIT_PASS
    text = out.read_text()
    count = sum(len(one.of("USEACT")) for one in sampled)
    assert f"{count} records of samples (D4R3) were not understood" in text
    assert "Records that tables need were not understood: D4R3, D4R4." in text
    assert "None known." not in text
    whole = sum(len(one.records) for one in sets_of(data))
    (unused,) = re.findall(r"([\d,]+) of [\d,]+ records are in no table and no chart", text)
    assert 2 * count < int(unused.replace(",", "")) < whole
    lines = lines_of(monread, data)
    told = sum(line["unused"]["not-understood"].get("D4R3", 0) for line in lines[1:])
    assert told == count
    data, _ = written(changed(release="6.2"))
    lines = lines_of(monread, data, "--release", "6.2")
    assert all("starts" not in line and "response" not in line for line in lines)
    assert lines[-1]["unused"]["not-understood"]["D6R3"] == 9
    done = run(monread, "-", "--tables", "--release", "6.2", data=data)
    count = 9 * len(samples(sets_of(data, 620)))
    assert f"{count} records of samples (D6R3) were not understood" in done.stdout


def test_pages_that_do_not_fit(monread: Path, tmp_path: Path, pages: list[Path]) -> None:
    def ends(*words: str) -> str:
        done = run(monread, "-", "--summary", *words)
        assert done.returncode == EXIT_USAGE and "Traceback" not in done.stderr
        return done.stderr

    other = tmp_path / "other.html"
    other.write_text("<html>Not found</html>")
    assert "it is no page of IBM's z/VM Monitor Records" in ends("--layout", str(other))
    assert "No such file" in ends("--layout", str(tmp_path / "none"))
    words = options(pages)
    assert "it is of z/VM 5.3, but the data are to be read as those of 7.3" in ends(
        *words, "--release", "7.3"
    )
    key = tmp_path / "key"
    key.write_bytes(bytes(16))
    assert "cannot be used with --anonymise" in ends(*words, "--anonymise", str(key))
    with pytest.raises(UsageError, match="No such file"):
        written(changed(), pages=[tmp_path / "none"])
    with pytest.raises(UsageError, match="it is no page"):
        written(changed(), pages=[other])
    with pytest.raises(UsageError, match="it is of z/VM 5.3, and the workload's release is 7.3"):
        written(changed(release="7.3"), pages=pages)


def test_members_of_a_line_are_those_of_the_quantities() -> None:
    """docs/monread-activity.json has each member that quantities.def makes, with its type, and no other one."""
    rows = (ROOT / "tools/monread/quantities.def").read_text()
    row = re.compile(r'^OF_([A-Z]+)\([A-Z_]+, [^,]*, \d, [A-Z]+, "([a-z-]+)", ([A-Z_]+),', re.M)
    made: dict[str, dict[str, str]] = defaultdict(dict)
    for subject, key, way in row.findall(rows):
        made[subject][key] = "integer" if way in ("COUNT", "LATEST", "PAGES") else "number"
    schema = json.loads((ROOT / "docs/monread-activity.json").read_text())["properties"]
    lists = {
        **{"PROCESSOR": "processors", "DEVICE": "devices", "VOLUME": "volumes"},
        **{"USER": "paging-users"},
    }
    names = {"processor", "type", "device", "volume", "user"}
    for subject, name in lists.items():
        members = schema[name]["items"]["properties"]
        types = {key: one["type"] for key, one in members.items() if key not in names}
        assert types == made[subject], name
    assert {key: schema[key]["type"] for key in made["INTERVAL"]} == made["INTERVAL"]
