# SPDX-License-Identifier: MIT
"""monread --rotate-…: which sets are in which file, what is kept, and what is in the way."""

from __future__ import annotations

import io
import os
import resource
import subprocess
from pathlib import Path

import pytest
from monread_tool import SECONDS, TOD, build_monread, part, run, stream, user

from zvmlab.base.errors import EXIT_FAILED, EXIT_PASS, EXIT_USAGE
from zvmlab.mondata.monwrite import END_OF_DATA, Notification, control_and_frames, read_sets
from zvmlab.mondata.records import Part, Record

MINUTE = 60 * 4096_000_000
FRAME = 4096


@pytest.fixture(name="monread", scope="module")
def _monread() -> Path:
    return build_monread()


def numbered(number: int, tod: int = TOD) -> list[Part]:
    """A set with its number as a user; two frames in a file of MONWRITE."""
    return [part(user(f"U{number}"), Record(1, 11, tod))]


def file_of(*sets: list[Part]) -> bytes:
    return b"".join(control_and_frames(Notification(), data_set) for data_set in sets) + END_OF_DATA


def users(file: Path) -> list[int]:
    """Numbers of the sets of a file, which ends with its end of data."""
    data = file.read_bytes()
    assert data.endswith(END_OF_DATA)
    found = []
    for data_set in read_sets(io.BytesIO(data)):
        name = data_set.stream()[12 + 20 : 12 + 28].decode("cp037")
        found.append(int(name.strip()[1:]))
    return found


def files(folder: Path) -> dict[str, list[int]]:
    """Of all that are there."""
    return {file.name: users(file) for file in sorted(folder.iterdir())}


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    made = tmp_path / "folder"
    made.mkdir()
    return made


def ten(folder: Path) -> Path:
    """Input with sets 0 to 9, a minute apart."""
    made = folder.parent / "in"
    made.write_bytes(file_of(*[numbered(n, TOD + n * MINUTE) for n in range(10)]))
    return made


@pytest.mark.parametrize(
    ("size", "sets"), [(1, 1), (3 * FRAME, 1), (3 * FRAME + 1, 2), (7 * FRAME, 3), (10**9, 10)]
)
def test_size(monread: Path, folder: Path, size: int, sets: int) -> None:
    """A set and its end of data have three frames, each further set two more."""
    words: list[str | Path] = ["--write-monwrite", folder / "out", "--rotate-size", f"{size}"]
    done = run(monread, ten(folder), *words)
    assert (done.returncode, done.stderr.count("\n")) == (EXIT_PASS, 1), done.stderr
    groups = [list(range(at, min(at + sets, 10))) for at in range(0, 10, sets)]
    wanted = {f"out.{n}" if n else "out": group for n, group in enumerate(reversed(groups))}
    assert files(folder) == wanted


@pytest.mark.parametrize(("minutes", "sets"), [("1m", 2), ("119s", 3), ("2m", 3), ("1h", 10)])
def test_time(monread: Path, folder: Path, minutes: str, sets: int) -> None:
    """From the first set of a file on, by the clock of the data."""
    words: list[str | Path] = ["--write-monwrite", folder / "out", "--rotate-time", minutes]
    assert run(monread, ten(folder), *words).returncode == EXIT_PASS
    groups = [list(range(at, min(at + sets, 10))) for at in range(0, 10, sets)]
    wanted = {f"out.{n}" if n else "out": group for n, group in enumerate(reversed(groups))}
    assert files(folder) == wanted


def test_clock_that_is_set_back(monread: Path, folder: Path) -> None:
    """Time begins anew then."""
    tods = [10, 0, 1, 9, 10, 11]
    data = folder.parent / "in"
    data.write_bytes(file_of(*[numbered(n, TOD + m * MINUTE) for n, m in enumerate(tods)]))
    words: list[str | Path] = ["--write-monwrite", folder / "out", "--rotate-time", "10m"]
    assert run(monread, data, *words).returncode == EXIT_PASS
    assert files(folder) == {"out": [5], "out.1": [0, 1, 2, 3, 4]}


@pytest.mark.parametrize("keep", [1, 3])
def test_the_oldest_ones_go(monread: Path, folder: Path, keep: int) -> None:
    words: list[str | Path] = ["--write-monwrite", folder / "out", "--rotate-size", "1"]
    words += ["--rotate-keep", str(keep)]
    assert run(monread, ten(folder), *words).returncode == EXIT_PASS
    assert files(folder) == {"out": [9]} | {f"out.{n}": [9 - n] for n in range(1, keep + 1)}


def test_what_was_there_is_kept(monread: Path, folder: Path) -> None:
    """An earlier run's file is the first to be renamed; without the option it is written over."""
    (folder / "out").write_bytes(file_of(numbered(77)))
    (folder / "out.1").write_bytes(file_of(numbered(76)))
    words: list[str | Path] = ["--write-monwrite", folder / "out", "--rotate-size", "1G"]
    assert run(monread, ten(folder), *words).returncode == EXIT_PASS
    assert files(folder) == {"out": list(range(10)), "out.1": [77], "out.2": [76]}
    (folder / "out").write_bytes(b"")
    assert run(monread, ten(folder), *words).returncode == EXIT_PASS
    assert files(folder) == {"out": list(range(10)), "out.1": [77], "out.2": [76]}
    assert run(monread, ten(folder), *words[:2]).returncode == EXIT_PASS
    assert files(folder) == {"out": list(range(10)), "out.1": [77], "out.2": [76]}


def in_the_way(folder: Path, kind: str) -> None:
    name = folder / "out.2"
    if kind == "folder":
        name.mkdir()
    elif kind == "fifo":
        os.mkfifo(name)
    else:
        name.symlink_to(folder.parent / "victim")


@pytest.mark.parametrize("kind", ["folder", "fifo", "link"])
def test_what_is_no_file_is_not_replaced(monread: Path, folder: Path, kind: str) -> None:
    """All sets are in the file that could not be renamed, and the user is told each time."""
    victim = folder.parent / "victim"
    victim.write_bytes(b"kept")
    data = ten(folder)
    in_the_way(folder, kind)
    words: list[str | Path] = ["--write-monwrite", folder / "out", "--rotate-size", f"{9 * FRAME}"]
    done = run(monread, data, *words)
    assert done.returncode == EXIT_FAILED
    said = (
        f"monread: {folder / 'out.2'}: no new file is begun: it is not a regular file; move it"
        " away\n"
    )
    # Nine frames are four sets and the end: after four and after eight.
    assert done.stderr.count(said) == 2 and done.stderr.count("\n") == 3
    assert users(folder / "out") == list(range(10))
    assert victim.read_bytes() == b"kept" and not (folder / "out.1").exists()
    # At the beginning nothing is read then.
    done = run(monread, data, *words)
    assert (done.returncode, done.stderr) == (EXIT_USAGE, said)
    assert users(folder / "out") == list(range(10))


def test_output_that_is_no_file(monread: Path, folder: Path) -> None:
    (folder / "out").mkdir()
    words: list[str | Path] = ["--write-monwrite", folder / "out", "--rotate-size", "1"]
    done = run(monread, ten(folder), *words)
    assert done.returncode == EXIT_USAGE
    assert done.stderr == f"monread: {folder / 'out'}: Is a directory\n"


_READ_ONLY = """
mkdir "$1/disk" && mount -t tmpfs -o size=1m tmpfs "$1/disk" || exit 77
touch "$1/disk/out" && mount --bind "$1/disk/out" "$1/disk/out" || exit 77
"$2" "$1/in" --write-monwrite "$1/disk/out" --rotate-size 20000
code=$?
cp "$1/disk/out" "$1/out" && exit $code
"""


def in_a_namespace(monread: Path, folder: Path, script: str) -> subprocess.CompletedProcess[bytes]:
    """The script, where it may mount; skips the test where nobody may."""
    argv: list[str | Path] = ["unshare", "-rm", "sh", "-c", script, "sh", folder, monread]
    done = subprocess.run(argv, capture_output=True, timeout=SECONDS, check=False)
    if done.returncode not in (EXIT_PASS, EXIT_FAILED) or b"unshare" in done.stderr:
        pytest.skip(f"no disk of its own can be mounted here: {done.stderr.decode().strip()}")
    return done


def test_file_that_cannot_be_renamed(monread: Path, folder: Path) -> None:
    """It is a mount point, and goes on to be written."""
    ten(folder)
    done = in_a_namespace(monread, folder.parent, _READ_ONLY)
    assert done.returncode == EXIT_FAILED
    assert b"/out: no new file is begun: Device or resource busy\n" in done.stderr
    assert users(folder.parent / "out") == list(range(10))


_FULL = """
mkdir "$1/disk" && mount -t tmpfs -o size=64k tmpfs "$1/disk" || exit 77
"$2" "$1/in" --write-monwrite "$1/disk/out" --rotate-size 20000
code=$?
cp "$1"/disk/* "$1/folder" && exit $code
"""


def test_full_disk(monread: Path, folder: Path) -> None:
    """All that was written is whole, in order, and ends with an end of data."""
    ten(folder)
    done = in_a_namespace(monread, folder.parent, _FULL)
    assert done.returncode == EXIT_FAILED
    assert b"out: No space left on device\n" in done.stderr
    found = files(folder)
    kept = [number for name in sorted(found, reverse=True) for number in found[name]]
    assert kept == list(range(len(kept))) and 4 <= len(kept) < 10 and len(found) > 1


def test_new_file_that_may_not_be_made(monread: Path, folder: Path) -> None:
    """The old one has its name again, and goes on."""
    data = ten(folder)
    words: list[str | Path] = ["--write-monwrite", folder / "out", "--rotate-size", f"{9 * FRAME}"]
    # Standard streams, the input and the output: there is no room for another file.
    done = subprocess.run(
        [monread, data, *words],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (5, 5)),
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == EXIT_FAILED
    assert done.stderr.decode().count(f"monread: {folder / 'out'}: Too many open files\n") == 2
    assert files(folder) == {"out": list(range(10))}


def test_other_outputs_have_all(monread: Path, folder: Path) -> None:
    """A set that is lost is in no file."""
    data = folder.parent / "in"
    sets = [numbered(n, TOD + n * MINUTE) for n in range(4)]
    data.write_bytes(b"".join(stream(*one) for one in sets)[:-3])
    lengths = [len(stream(*one)) for one in sets]
    index = "".join(f'{{"length":{one}}}\n' for one in lengths)
    (folder.parent / "in.idx").write_text(index)
    words: list[str | Path] = ["--write-monwrite", folder / "out", "--rotate-size", "1"]
    words += ["--write-stream", folder.parent / "stream"]
    done = run(monread, data, *words)
    assert done.returncode == EXIT_FAILED
    assert (folder.parent / "stream").read_bytes() == b"".join(stream(*one) for one in sets[:3])
    assert files(folder) == {"out": [], "out.1": [2], "out.2": [1], "out.3": [0]}


def test_end_of_data_is_there_at_any_time(monread: Path, folder: Path) -> None:
    """No set at all: the file is one of MONWRITE all the same, and none is begun beside it."""
    words: list[str | Path] = ["--write-monwrite", folder / "out", "--rotate-size", "1"]
    assert run(monread, "-", *words, data=END_OF_DATA).returncode == EXIT_PASS
    assert files(folder) == {"out": []}
    assert (folder / "out").read_bytes() == END_OF_DATA
