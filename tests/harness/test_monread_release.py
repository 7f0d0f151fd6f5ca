# SPDX-License-Identifier: MIT
"""monread finds the release of the data, by lengths that IBM's pages have (zvmlab records)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from monread_tool import END, TOD, build_monread, part, run, stream

from zvmlab.base.errors import EXIT_FAILED, EXIT_PASS
from zvmlab.mondata.records import Record

SECOND = 4096 * 10**6
# Lengths of D1R4 and D0R2.
OF_5_3 = (184, 108)
OF_5_4 = (420, 124)
OF_6_2 = (428, 140)


@pytest.fixture(name="monread", scope="module")
def _monread() -> Path:
    return build_monread()


def record(domain: int, number: int, length: int, seconds: int = 0, **at: bytes) -> Record:
    """Of that length, zeros but for what is *at* ``b20`` and so on."""
    data = bytearray(length - 20)
    for name, value in at.items():
        data[int(name[1:]) - 20 : int(name[1:]) - 20 + len(value)] = value
    return Record(domain, number, TOD + seconds * SECOND, bytes(data))


def processor(length: int, seconds: int, busy: int) -> Record:
    """D0R2 of processor 7: PFXUTIME at 32, PFXTMSYS at 40."""
    times = (busy * SECOND).to_bytes(8, "big") + bytes(8)
    return record(0, 2, length, seconds, b20=b"\0\7", b32=times)


def two_intervals(lengths: tuple[int, int]) -> bytes:
    """D1R4, and a processor that is busy for 30 of 60 seconds."""
    system, length = lengths
    return stream(
        part(record(1, 4, system), processor(length, 0, 10), Record(1, 11, TOD)),
        part(processor(length, 60, 40), Record(1, 11, TOD + 60 * SECOND)),
    )


@pytest.mark.parametrize(
    "lengths, release", [((184, 104), "5.1"), (OF_5_4, "5.4"), (OF_6_2, "6.2"), ((420, 140), "6.1")]
)
def test_it_is_found_and_named(
    monread: Path, tmp_path: Path, lengths: tuple[int, int], release: str
) -> None:
    page = tmp_path / "page.html"
    done = run(monread, "--tables", "--html", page, "-", data=two_intervals(lengths))
    assert done.returncode == EXIT_PASS
    said = done.stderr.splitlines()[-1].split("; ")
    assert said[0] == f"z/VM {release}, by the lengths of 2 types of records"
    # Of 5.2, no length of D0R2 is known.
    assert said[1:] == (["5.2 not excluded"] if release == "5.1" else [])
    assert done.stdout.startswith(f"A system without a name, z/VM {release}, ")
    assert f"z/VM {release} · " in page.read_text(encoding="utf-8")
    lines = run(monread, "--activity", "-", data=two_intervals(lengths)).stdout.splitlines()
    assert [json.loads(line)["release"] for line in lines] == [release, release]


@pytest.mark.parametrize(
    "lengths, type", [(OF_5_3, "CP"), (OF_5_4, "unknown"), (OF_6_2, "unknown")]
)
def test_load_of_other_releases(monread: Path, lengths: tuple[int, int], type: str) -> None:
    """Where PFXCPUTY is, is known of 5.3 only."""
    lines = run(monread, "--tables", "-", data=two_intervals(lengths)).stdout.splitlines()
    row = lines[lines.index("Load of the partition") + 3]
    assert row.split()[:3] == ["7", type, "50.0"]


def test_what_is_not_known(monread: Path) -> None:
    """PFXTMSYS of 6.4 is not public; of a type of record that did not come, there are no data."""
    done = run(monread, "--tables", "-", data=stream(part(processor(352, 0, 1), END)))
    _, load, _, waits = done.stdout.split("\n\n")[1:5]
    assert load == (
        "Load of the partition\n"
        "  Not known: which bytes of D0R2 are what in this release is not known here."
    )
    assert waits == "What users wait for\n  No data."


def test_nothing_tells(monread: Path) -> None:
    done = run(monread, "--values", "-", data=stream(part(END)))
    assert done.stderr.splitlines()[-1] == (
        "z/VM's release is not known: no record has a length that tells it"
    )


def test_all_of_the_first_set_tells(monread: Path) -> None:
    """D0R1 comes before what tells that it is of 5.3; PLSMCHCT is not known of later releases."""
    data = stream(part(record(0, 1, 116, b44=b"\0\0\0\5"), processor(108, 0, 1), END))
    assert "      PLSMCHCT         5 times\n" in run(monread, "--values", "-", data=data).stdout
    alone = stream(part(record(0, 1, 116, b44=b"\0\0\0\5"), END))
    done = run(monread, "--values", "-", data=alone)
    assert "PLSMCHCT" not in done.stdout and "PLSABNCT" in done.stdout
    assert "z/VM 5.3 to 7.5, by the lengths of 1 type of records" in done.stderr


def secret(at: int) -> bytes:
    return f"SECRET{at:02}".encode("cp037")


@pytest.mark.parametrize("words", [(), ("--release", "5.3"), ("--release", "6.3")])
def test_no_name_is_left(monread: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    """D3R2 of 6.3, whose bytes 236 and so on are counters in 5.3."""
    key = tmp_path / "key"
    key.write_bytes(bytes(range(16)))
    parts = [
        part(*(record(3, 2, 720, b236=secret(at + i)) for i in range(4)), END)
        for at in range(0, 24, 4)
    ]
    copy, folder = tmp_path / "copy", tmp_path / "csv"
    argv = [*words, "--json", "--values", "--write-stream", str(copy), "--csv", str(folder)]
    done = run(monread, *argv, "--anonymise", key, "-", data=stream(*parts))
    assert done.returncode == (EXIT_FAILED if "5.3" in words else EXIT_PASS)
    outputs = [done.stdout.encode(), copy.read_bytes(), *(f.read_bytes() for f in folder.iterdir())]
    assert copy.stat().st_size == len(stream(*parts))
    for at in range(24):
        name = secret(at)
        for form in (name, name.hex().encode(), name.hex().upper().encode(), name[:4], name[4:]):
            assert not any(form in output for output in outputs)


def test_release_that_the_data_contradict(monread: Path, tmp_path: Path) -> None:
    data, copy = two_intervals(OF_6_2), tmp_path / "copy"
    done = run(monread, "--release", "5.3", "--write-stream", copy, "-", data=data)
    assert done.returncode == EXIT_FAILED
    assert [line for line in done.stderr.splitlines() if line.startswith("monread: ")] == [
        "monread: -: set 1, offset 12: D1R4 has 428 bytes, as in z/VM 6.2, and not 184 as in 5.3: "
        "the given release contradicts the data; leave it out"
    ]
    assert copy.read_bytes() == data


def test_two_releases_in_one(monread: Path, tmp_path: Path) -> None:
    """It is told once, and both are read, each by its layout."""
    first, second, copy = two_intervals(OF_5_3), two_intervals(OF_6_2), tmp_path / "copy"
    argv = ("--json", "--values", "--write-stream", copy, "-")
    done = run(monread, *argv, data=first + second)
    assert done.returncode == EXIT_FAILED
    assert [line for line in done.stderr.splitlines() if line.startswith("monread: ")] == [
        f"monread: -: set 1, offset {len(first) + 12}: D1R4 has 428 bytes, as in z/VM 6.2, and 184 "
        "in the data before, which are of 5.3: these are data of two releases; read those of each "
        "by themselves"
    ]
    assert done.stderr.splitlines()[-1] == "z/VM 5.3, then 6.2, by the lengths of records"
    assert copy.read_bytes() == first + second
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    found = [one["fields"] for one in lines if one["item"] == "record" and one["domain"] == 0]
    assert ["PFXCPUTY" in fields for fields in found] == [True, True, False, False]
    assert all("PFXTMSYS" in fields for fields in found)


def test_one_record_of_another_release(monread: Path) -> None:
    """It may be damaged: what follows is read as before."""
    good = part(record(3, 2, 364, b236=b"\0\0\0\1"), END)
    other = part(record(3, 2, 720), END)
    data = stream(part(record(1, 4, 184), processor(108, 0, 1), END), good, other, good)
    done = run(monread, "--values", "-", data=data)
    assert done.returncode == EXIT_FAILED
    assert "D3R2 has 720 bytes, as in z/VM 6.3, and 364 in the data before" in done.stderr
    assert done.stdout.count("      PLSPGDRD         1\n") == 2
    assert done.stdout.count("its layout is not known in this length") == 1
