# SPDX-License-Identifier: MIT
"""monread: several files as one recording, a part of the time, and files that are no monitor data."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import re
import tarfile
from pathlib import Path

import pytest
from fabricated import changed, written
from monread_tool import TOD, build_monread, part, run, stream

from zvmlab.base.errors import EXIT_FAILED, EXIT_PASS, EXIT_USAGE
from zvmlab.mondata.monrec import by_number
from zvmlab.mondata.monwrite import END_OF_DATA, Notification, control_and_frames, read_sets
from zvmlab.mondata.records import EVENT, Part, Record

MINUTE = 60 * 4096_000_000
# TOD of monread_tool is 2009-02-13 23:31:30.000250.
CLOCK = "2009-02-13 23:{minute}:30"


@pytest.fixture(name="monread", scope="module")
def _monread() -> Path:
    return build_monread()


def numbered(number: int, minute: int | None = None) -> list[Part]:
    """A sample with its number as a user, a minute after the one before."""
    tod = TOD + (number if minute is None else minute) * MINUTE
    name = f"U{number}".encode("cp037").ljust(8, b"\x40")
    return [part(Record(4, 5, tod, name + bytes([0, 3]) + bytes(6)), Record(1, 11, tod))]


def monwrite(*sets: list[Part]) -> bytes:
    made = [control_and_frames(Notification(7, 1, 0xE2C40000, 0x9000), one) for one in sets]
    return b"".join(made) + END_OF_DATA


def numbers(file: Path) -> list[int]:
    """Of the sets of a file of MONWRITE, in their order."""
    found = []
    for one in read_sets(io.BytesIO(file.read_bytes())):
        name = one.stream()[12 + 20 : 12 + 28].decode("cp037").strip()
        found.append(int(name[1:]))
    return found


def files(folder: Path, *groups: list[int]) -> list[Path]:
    """A file of MONWRITE for each group of sets, with names in this order."""
    made = []
    for at, group in enumerate(groups):
        made.append(folder / f"file{at}")
        made[-1].write_bytes(monwrite(*map(numbered, group)))
    return made


def read_back(monread: Path, folder: Path, *words: str | Path) -> tuple[int, list[int], list[str]]:
    """Exit code, the sets that --write-monwrite got, and what was said beside the totals."""
    out = folder / "out"
    done = run(monread, *words, "--write-monwrite", out)
    said = [line for line in done.stderr.splitlines() if line.startswith("monread: ")]
    return done.returncode, numbers(out) if out.exists() else [], said


def test_in_order_of_time(monread: Path, tmp_path: Path) -> None:
    one, two, three = files(tmp_path, [0, 1, 2], [3, 4], [5])
    assert read_back(monread, tmp_path, one, two, three) == (EXIT_PASS, list(range(6)), [])
    code, sets, said = read_back(monread, tmp_path, three, one, two)
    assert (code, sets) == (EXIT_PASS, list(range(6)))
    assert said == [f"monread: the files are read in the order of their time: {one} {two} {three}"]


def test_files_of_rotation(monread: Path, tmp_path: Path) -> None:
    """They come back as they were, whatever the order of their names."""
    (whole,) = files(tmp_path, list(range(10)))
    folder = tmp_path / "rotated"
    folder.mkdir()
    words: list[str | Path] = ["--write-monwrite", folder / "out", "--rotate-time", "2m"]
    assert run(monread, whole, *words).returncode == EXIT_PASS
    parts = sorted(folder.iterdir())
    assert len(parts) == 4
    done = run(monread, *parts, "--write-monwrite", tmp_path / "again")
    assert done.returncode == EXIT_PASS, done.stderr
    assert (tmp_path / "again").read_bytes() == whole.read_bytes()


def test_tables_are_those_of_one_file(monread: Path, tmp_path: Path) -> None:
    """All values of a fabricated workload, with configuration in the first file alone."""
    whole = tmp_path / "whole"
    whole.write_bytes(written(changed(hours=0.2))[0])
    folder = tmp_path / "parts"
    folder.mkdir()
    words: list[str | Path] = ["--write-monwrite", folder / "out", "--rotate-time", "3m"]
    assert run(monread, whole, *words).returncode == EXIT_PASS
    parts = sorted(folder.iterdir())
    assert len(parts) >= 3
    for what in ("--tables", "--activity", "--json"):
        one, several = run(monread, what, whole), run(monread, what, *parts)
        offset = re.compile(r'"offset":\d+,?')
        assert offset.sub("", several.stdout) == offset.sub("", one.stdout)
        assert several.stdout and several.returncode == one.returncode == EXIT_PASS


def test_gap_is_said(monread: Path, tmp_path: Path) -> None:
    one, two = files(tmp_path, [0, 1, 2], [6, 7])
    code, sets, said = read_back(monread, tmp_path, one, two)
    assert (code, sets) == (EXIT_PASS, [0, 1, 2, 6, 7])
    assert said == [
        f"monread: {two}: samples are missing from {CLOCK.format(minute=33)} UTC, where the files"
        f" before end, to {CLOCK.format(minute=37)} UTC"
    ]


def test_overlap_is_read_once(monread: Path, tmp_path: Path) -> None:
    one, two = files(tmp_path, [0, 1, 2, 3], [2, 3, 4, 5])
    code, sets, said = read_back(monread, tmp_path, two, one)
    assert (code, sets) == (EXIT_PASS, list(range(6)))
    assert said[1:] == [
        f"monread: {two}: 2 sets until {CLOCK.format(minute=34)} UTC left out: the files before"
        " have that time, too"
    ]


def test_events_that_come_late_are_kept(monread: Path, tmp_path: Path) -> None:
    """An event of before the last sample comes in the next file: it was in no other one."""
    event = Record(4, 2, TOD + MINUTE - 1, b"\xd3" * 8)
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_bytes(monwrite(numbered(0), numbered(1)))
    two.write_bytes(monwrite([part(event, type=EVENT)], numbered(2)))
    done = run(monread, one, two, "--summary")
    assert done.returncode == EXIT_PASS and done.stderr.startswith("4 sets complete"), done.stderr


def test_saved_bytes_of_the_device(monread: Path, tmp_path: Path) -> None:
    """With and without an index."""
    groups = [[0, 1], [2], [3, 4]]
    names = []
    for at, group in enumerate(groups):
        names.append(tmp_path / f"s{at}")
        names[-1].write_bytes(b"".join(stream(*numbered(n)) for n in group))
    assert read_back(monread, tmp_path, *reversed(names))[:2] == (EXIT_PASS, list(range(5)))
    span = ["--from", CLOCK.format(minute=32) + "Z", "--to", CLOCK.format(minute=35)]
    assert read_back(monread, tmp_path, *names, *span)[:2] == (EXIT_PASS, [1, 2, 3])
    for name, group in zip(names, groups, strict=True):
        lengths = [len(stream(*numbered(n))) for n in group]
        text = "".join(json.dumps({"length": one}) + "\n" for one in lengths)
        Path(f"{name}.idx").write_text(text)
    assert read_back(monread, tmp_path, *reversed(names))[:2] == (EXIT_PASS, list(range(5)))
    assert read_back(monread, tmp_path, *names, *span)[:2] == (EXIT_PASS, [1, 2, 3])


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["--from", "2009-02-13 23:34:00"], [3, 4, 5]),
        (["--from", "2009-02-13T23:33:30"], [2, 3, 4, 5]),
        (["--to", "2009-02-13 23:33:31"], [0, 1, 2]),
        (
            ["--from", "2009-02-14 00:33", "--to", "2009-02-14 00:35", "--time-zone", "+01:00"],
            [2, 3],
        ),
        (["--from", "2009-02-13T23:33:00Z", "--time-zone", "+01:00", "--sets", "2"], [2, 3]),
        (["--from", "2009-02-13", "--to", "2009-02-14"], [0, 1, 2, 3, 4, 5]),
    ],
)
def test_a_part_of_the_time(
    monread: Path, tmp_path: Path, words: list[str], wanted: list[int]
) -> None:
    one, two = files(tmp_path, [0, 1, 2], [3, 4, 5])
    assert read_back(monread, tmp_path, *words, one, two) == (EXIT_PASS, wanted, [])
    (tmp_path / "joined").write_bytes(monwrite(*map(numbered, range(6))))
    assert read_back(monread, tmp_path, tmp_path / "joined", *words) == (EXIT_PASS, wanted, [])


def test_no_set_of_that_time(monread: Path, tmp_path: Path) -> None:
    (one,) = files(tmp_path, [0, 1, 2])
    code, sets, said = read_back(monread, tmp_path, one, "--from", "2026-01-01")
    assert (code, sets) == (EXIT_FAILED, [])
    assert said == [
        "monread: no set is of the time of --from and --to: those read are of"
        f" {CLOCK.format(minute=31)} UTC to {CLOCK.format(minute=33)} UTC"
    ]


def test_configuration_before_that_time_counts(monread: Path, tmp_path: Path) -> None:
    """It comes once: the system's name is told all the same, as is the release."""
    whole = tmp_path / "whole"
    system = {"name": "SYS1", "partition": "PART7", "storage_mb": 4096}
    whole.write_bytes(written(changed(system=system))[0])
    everything = run(monread, "--tables", whole).stdout.splitlines()
    first = json.loads(run(monread, "--activity", whole).stdout.splitlines()[5])["until"]
    later = run(monread, "--tables", whole, "--from", first[:19] + "Z")
    assert later.returncode == EXIT_PASS
    told = later.stdout.splitlines()
    assert told[0].split(", ")[:2] == everything[0].split(", ")[:2]
    assert told[0].startswith("System SYS1, z/VM ")


@pytest.mark.parametrize(
    "word", ["", "now", "2009-02-30", "2009-2-1", "2009-02-13 25:00", "2009-02-13 10", "1969-01-01"]
)
def test_time_that_is_none(monread: Path, word: str) -> None:
    done = run(monread, "--from", word, "x")
    assert done.returncode == EXIT_USAGE
    assert done.stderr.startswith(f"monread: invalid --from: '{word}' (")
    assert done.stderr.count("\n") == 1


def test_time_that_ends_before_it_begins(monread: Path) -> None:
    done = run(monread, "--from", "2009-02-13", "--to", "2009-02-13", "x")
    assert (done.returncode, done.stderr) == (EXIT_USAGE, "monread: --from is not before --to\n")


def system(name: str) -> bytes:
    """Data of a system of that name."""
    made = {"name": name, "partition": "PART7", "storage_mb": 4096}
    return written(changed(hours=0.02, system=made))[0]


def release(version: int, tod: int) -> list[Part]:
    """D0R2 in the length that it has there."""
    known = by_number(0, 2)
    assert known is not None
    length = known.length(version)
    assert length is not None
    return [part(Record(0, 2, tod, bytes(length - 20)), Record(1, 11, tod))]


def refused(monread: Path, folder: Path, *words: Path | str) -> str:
    """What is said; nothing is read, and no output is made."""
    code, sets, said = read_back(monread, folder, *words)
    assert (code, sets, len(said)) == (EXIT_USAGE, [], 1)
    assert not (folder / "out").exists()
    return said[0].removeprefix("monread: ").replace(f"{folder}/", "")


def test_files_that_are_no_recording(monread: Path, tmp_path: Path) -> None:
    one, two = files(tmp_path, [0, 1], [2])
    (tmp_path / "a").write_bytes(system("SYSA"))
    (tmp_path / "b").write_bytes(system("SYSB"))
    (tmp_path / "saved").write_bytes(stream(*numbered(5)))
    (tmp_path / "link").symlink_to(one)
    words = {
        "b is of another system than a: read those of each system by themselves": ("a", "b"),
        "file0 and link are the same file: give it once": ("file0", "link"),
        "file0 is a file of MONWRITE, saved is bytes of the device without an index: files of one"
        " recording have one format": ("file0", "saved"),
        "file1: No such file or directory": ("file0", "file1"),
        "- is not a regular file: it cannot be one of several": ("file0", "-"),
        "/dev/null is not a regular file: it cannot be one of several": ("/dev/null", "file0"),
    }
    two.unlink()
    for said, names in words.items():
        given: list[str | Path] = [name if name[0] in "-/" else tmp_path / name for name in names]
        assert refused(monread, tmp_path, *given) == said


def test_files_of_two_releases(monread: Path, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(monwrite(release(440, TOD)))
    (tmp_path / "b").write_bytes(monwrite(release(530, TOD + MINUTE)))
    said = refused(monread, tmp_path, tmp_path / "a", tmp_path / "b")
    assert re.fullmatch(
        r"a is of z/VM \S.*, b of \S.*: read those of each release by themselves", said
    )


def test_damaged_file_does_not_keep_the_others(monread: Path, tmp_path: Path) -> None:
    one, two, three = files(tmp_path, [0, 1], [2, 3], [4])
    two.write_bytes(two.read_bytes()[: -2 * 4096])
    code, sets, _ = read_back(monread, tmp_path, one, two, three)
    assert (code, sets) == (EXIT_FAILED, [0, 1, 2, 4])


def translated(data: bytes, coding: str) -> bytes:
    return data.decode("cp037").encode(coding)


def archive(data: bytes) -> bytes:
    """A file of tar with these data in it."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as opened:
        opened.addfile(tarfile.TarInfo("monitor.data"), io.BytesIO(data))
    return file.getvalue()


DATA = monwrite(*map(numbered, range(3)))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (gzip.compress(DATA, mtime=0), "compressed by gzip: decompress it first, with gzip -dc"),
        (bz2.compress(DATA), "compressed by bzip2: decompress it first, with bzip2 -dc"),
        (lzma.compress(DATA), "compressed by xz: decompress it first, with xz -dc"),
        (archive(DATA), "an archive of tar: unpack it first, with tar -xf"),
        (
            translated(DATA, "latin-1"),
            "it was transferred as text: transfer it again, in binary mode",
        ),
        (
            translated(DATA, "utf-8"),
            "it was transferred as text: transfer it again, in binary mode",
        ),
        (
            translated(stream(*numbered(1)), "latin-1"),
            "it was transferred as text: transfer it again, in binary mode",
        ),
        (b"This is a report of the monitor.\n", "it is text, not monitor data"),
    ],
    ids=["gzip", "bzip2", "xz", "tar", "latin-1", "utf-8", "stream in latin-1", "text"],
)
def test_what_is_no_monitor_data(monread: Path, tmp_path: Path, data: bytes, said: str) -> None:
    """As a file, from standard input, and as one of several."""
    name, good = tmp_path / "given", tmp_path / "good"
    name.write_bytes(data)
    good.write_bytes(DATA)
    given: list[tuple[str | Path, ...]] = [(name,), ("-",), (good, name)]
    for words in given:
        done = run(monread, *words, "--json", data=data)
        assert (done.returncode, done.stdout) == (EXIT_USAGE, "")
        assert done.stderr == f"monread: {words[-1]}: {said}\n"
