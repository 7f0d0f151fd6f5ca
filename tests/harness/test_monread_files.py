# SPDX-License-Identifier: MIT
"""monread's outputs: streams, files of MONWRITE and CSV from one another; full disks."""

from __future__ import annotations

import csv
import fcntl
import io
import json
import os
import resource
import subprocess
from pathlib import Path

import pytest
from examples import some
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from monread_tool import END, SECONDS, START, build_monread, part, run, stream, user

from zvmlab.base.errors import EXIT_FAILED, EXIT_PASS, EXIT_TIMEOUT, EXIT_USAGE
from zvmlab.mondata.monwrite import (
    END_OF_DATA,
    MAX_ELEMENTS,
    Notification,
    control_and_frames,
    read_sets,
)
from zvmlab.mondata.records import EVENT, Part, Record

SETS = [
    [part(user("A"), END)],
    [part(*[user("B")] * 300, END, start=START + 0x2FD0), part(user("C"), type=EVENT)],
    [part(user("D"), type=EVENT, start=START + 0x1F00)] * 40,
]
NOTIFICATIONS = [Notification(7, n, 0xE2C40000 + n, START + 0x400000 + n) for n in range(3)]


@pytest.fixture(name="monread", scope="module")
def _monread() -> Path:
    return build_monread()


def monwrite(sets: list[list[Part]], notifications: list[Notification]) -> bytes:
    """A file of MONWRITE."""
    made = [control_and_frames(*one) for one in zip(notifications, sets, strict=True)]
    return b"".join(made) + END_OF_DATA


def test_monwrite_to_stream_to_monwrite(monread: Path, tmp_path: Path) -> None:
    """Interruptions included: the index keeps them."""
    file, out, again = (tmp_path / name for name in ("file", "out", "again"))
    file.write_bytes(monwrite(SETS, NOTIFICATIONS))
    done = run(monread, "--monwrite", file, "--write-stream", out)
    assert (done.returncode, done.stdout) == (EXIT_PASS, ""), done.stderr
    assert out.read_bytes() == b"".join(stream(*one) for one in SETS)
    done = run(monread, out, "--write-monwrite", again)
    assert done.returncode == EXIT_PASS, done.stderr
    assert done.stderr.startswith("3 sets complete, 0 lost")
    assert again.read_bytes() == file.read_bytes()


def test_monwrite_is_recognised(monread: Path, tmp_path: Path) -> None:
    """As a file, as standard input, and through a pipe that gives a byte at a time."""
    data = monwrite(SETS, NOTIFICATIONS)
    file = tmp_path / "file"
    file.write_bytes(data)
    asked = run(monread, "--monwrite", file)
    assert asked.returncode == EXIT_PASS and "0 violations" in asked.stderr
    for done in (run(monread, file), run(monread, "-", data=data)):
        assert (done.returncode, done.stdout) == (EXIT_PASS, asked.stdout)
    with (
        open(file, "rb") as opened,
        subprocess.Popen([monread, "-"], stdin=opened, stdout=subprocess.PIPE) as process,
    ):
        assert process.communicate(timeout=60)[0].decode() == asked.stdout
    pipe: list[str | Path] = [monread, "--timeout", "60s", "-"]
    with subprocess.Popen(pipe, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        for at in range(30):
            process.stdin.write(data[at : at + 1])
            process.stdin.flush()
        assert process.communicate(data[30:], timeout=60)[0].decode() == asked.stdout
    # What has no set is one of MONWRITE, too.
    assert run(monread, "-", data=END_OF_DATA).returncode == EXIT_PASS


@pytest.mark.parametrize("length", [0, 1, 19, 20, 21])
def test_a_stream_is_no_monwrite(monread: Path, length: int) -> None:
    """Few bytes are read on as what they are; none of them is lost or read twice."""
    data = b"".join(part.mce.encode() + part.data for part in SETS[0])
    assert run(monread, "-", data=data).returncode == EXIT_PASS
    done = run(monread, "--json", "-", data=data[:length])
    assert "control-area" not in done.stdout
    assert done.returncode == (EXIT_PASS if length == 0 else EXIT_FAILED)
    # The bytes are there before it waits for them.
    reading, writing = os.pipe()
    os.write(writing, data[:length])
    waiting: list[str | Path] = [monread, "--timeout", "1s", "-"]
    late = subprocess.run(
        waiting, stdin=reading, stderr=subprocess.DEVNULL, timeout=SECONDS, check=False
    )
    os.close(reading)
    os.close(writing)
    assert late.returncode == EXIT_TIMEOUT


def test_monwrite_of_a_stream_that_tells_no_interruptions(monread: Path, tmp_path: Path) -> None:
    """What the harness writes of the same stream: path, message, class and address are zeros."""
    out = tmp_path / "out"
    out.write_bytes(b"".join(stream(*one) for one in SETS))
    lengths = [len(stream(*one)) for one in SETS]
    index = "".join(json.dumps({"set": 9, "length": length}) + "\n" for length in lengths)
    (tmp_path / "out.idx").write_text(index)
    done = run(monread, out, "--write-monwrite", tmp_path / "file")
    assert done.returncode == EXIT_PASS, done.stderr
    assert (tmp_path / "file").read_bytes() == monwrite(SETS, [Notification()] * 3)


def test_without_an_index_elements_are_sets(monread: Path, tmp_path: Path) -> None:
    data = stream(*SETS[1])
    outputs = ("--write-monwrite", tmp_path / "file", "--write-stream", tmp_path / "out")
    done = run(monread, "-", *outputs, data=data)
    assert done.returncode == EXIT_PASS, done.stderr
    alone = [[one] for one in SETS[1]]
    assert (tmp_path / "file").read_bytes() == monwrite(alone, [Notification()] * 2)
    assert (tmp_path / "out").read_bytes() == data


element = st.builds(
    lambda count, type, phase: part(*[user("X")] * count, type=type, start=START + phase * 4),
    st.integers(1, 300),
    st.sampled_from([0xE2, EVENT]),
    st.integers(0, 1018),
)
notification = st.builds(
    Notification,
    *(st.integers(0, 0xFFFF), st.integers(0, 0xFFFFFFFF), st.integers(0, 0xFFFFFFFF)),
    st.integers(0, 0xFFFF0000),
)


@given(st.lists(st.tuples(st.lists(element, min_size=1, max_size=4), notification), max_size=4))
@settings(
    max_examples=some(25),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_any_file_comes_back(
    monread: Path, tmp_path: Path, sets: list[tuple[list[Part], Notification]]
) -> None:
    file, out, direct, again = (tmp_path / name for name in ("file", "out", "direct", "again"))
    file.write_bytes(
        monwrite([data_set for data_set, _ in sets], [data_set for _, data_set in sets])
    )
    outputs = ("--write-stream", out, "--write-monwrite", direct)
    # Sample data without the end of an interval break a rule; they are kept all the same.
    assert run(monread, "--monwrite", file, *outputs).returncode in (EXIT_PASS, EXIT_FAILED)
    assert run(monread, out, "--write-monwrite", again).returncode in (EXIT_PASS, EXIT_FAILED)
    assert direct.read_bytes() == again.read_bytes() == file.read_bytes()


@pytest.mark.parametrize(
    "index",
    [
        '{"length": 99999}\n',
        '{"length": 10}\n',
        '{"length": 0}\n',
        '{"length": 1, "length": 1}\n',
        '{"length": "x"}\n',
        '{"length": 68, "interrupt": "00"}\n',
        '{"length": 68, "interrupt": "' + "0x" * 40 + '"}\n',
        "[]\n",
        "\n",
        "x" * 5000,
    ],
)
def test_wrong_index(monread: Path, tmp_path: Path, index: str) -> None:
    file = tmp_path / "out"
    file.write_bytes(stream(*SETS[0]))
    (tmp_path / "out.idx").write_text(index)
    done = run(monread, "--check", file)
    assert done.returncode == EXIT_FAILED
    assert f"monread: {file}.idx is not an index of this file; remove it" in done.stderr


def test_interruption_that_does_not_fit_is_left_out(monread: Path, tmp_path: Path) -> None:
    file = tmp_path / "out"
    file.write_bytes(stream(*SETS[0]))
    line = {"length": len(stream(*SETS[0])), "interrupt": "ff" * 40}
    (tmp_path / "out.idx").write_text(json.dumps(line) + "\n")
    assert run(monread, file, "--write-monwrite", tmp_path / "file").returncode == EXIT_PASS
    assert (tmp_path / "file").read_bytes() == monwrite(SETS[:1], [Notification()])


def test_too_many_elements_for_monwrite(monread: Path, tmp_path: Path) -> None:
    """The stream has them; the other file ends before."""
    file, out = tmp_path / "in", tmp_path / "out"
    many = stream(*[part(user("A"), type=EVENT)] * (MAX_ELEMENTS + 1))
    small = stream(*SETS[0])
    file.write_bytes(small + many + small)
    lengths = [len(small), len(many), len(small)]
    (tmp_path / "in.idx").write_text("".join(f'{{"length": {length}}}\n' for length in lengths))
    outputs = ("--write-stream", out, "--write-monwrite", tmp_path / "file")
    done = run(monread, file, *outputs)
    assert done.returncode == EXIT_FAILED
    assert f"ends before a set with more than {MAX_ELEMENTS} control elements" in done.stderr
    assert out.read_bytes() == file.read_bytes()
    assert (tmp_path / "file").read_bytes() == monwrite(SETS[:1], [Notification()])


def rows(file: Path) -> list[dict[str, str]]:
    """Of a CSV file."""
    with file.open(newline="") as opened:
        return list(csv.DictReader(opened))


def test_csv(monread: Path, tmp_path: Path) -> None:
    counters = bytes(4) + bytes(range(8)) + b"\xff" * 8 + bytes(68)
    odd = Record(4, 200, payload=b"\x01\xfe")
    data = stream(part(user('A,"B'), Record(0, 2, payload=counters), odd, END))
    done = run(monread, "-", "--csv", tmp_path / "csv", data=data)
    assert (done.returncode, done.stdout) == (EXIT_PASS, ""), done.stderr
    assert {file.name for file in (tmp_path / "csv").iterdir()} == {
        *("D4R5-USEDFC.csv", "D0R2-SYTPRP.csv", "D1R11-MTREND.csv", "unknown.csv"),
    }
    (row,) = rows(tmp_path / "csv/D4R5-USEDFC.csv")
    assert (row["set"], row["time"]) == ("1", "2009-02-13T23:31:30.000250Z")
    assert (row["VMDUSER"], row["VMDCPUAD"]) == ('A,"B', "3")
    (row,) = rows(tmp_path / "csv/D0R2-SYTPRP.csv")
    assert (row["PFXPRBTM"], row["PFXUTIME"]) == (str(0x0001020304050607), str(2**64 - 1))
    # The record has 108 bytes in 5.3; this one ends before its last field.
    assert row["PFXCPUTY"] == "0"
    (row,) = rows(tmp_path / "csv/unknown.csv")
    assert (row["domain"], row["record"], row["data"]) == ("4", "200", "01fe")


def test_csv_has_the_fields_of_a_release(monread: Path, tmp_path: Path) -> None:
    fields = {}
    for release, length in (("4.4", 96), ("5.3", 116)):
        data = stream(part(Record(0, 1, payload=bytes(length - 20)), END))
        folder = tmp_path / release
        done = run(monread, "--csv", folder, "--release", release, "-", data=data)
        assert done.returncode in (EXIT_PASS, EXIT_FAILED), done.stderr
        (row,) = rows(folder / "D0R1-SYTSYP.csv")
        assert None not in row and None not in row.values()
        fields[release] = list(row)
    assert "PLSDIAGT" in fields["4.4"] and "PLSPIOPR" not in fields["4.4"]
    assert "PLSPIOPR" in fields["5.3"]


@pytest.mark.parametrize("bytes_", [4096, 5000, 20000, 50000])
def test_file_that_may_not_grow(monread: Path, tmp_path: Path, bytes_: int) -> None:
    """Files end with the last set that fits; MONWRITE's with its end of data."""
    sets = SETS[:2] * 3
    file, out = tmp_path / "in", tmp_path / "out"
    file.write_bytes(monwrite(sets, [Notification()] * 6))
    argv: list[str | Path] = [monread, "--monwrite", file, "--write-monwrite", tmp_path / "copy"]
    argv += ["--write-stream", out, "--csv", tmp_path / "csv"]
    done = subprocess.run(
        argv,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_, bytes_)),
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == EXIT_FAILED
    assert f"monread: {tmp_path / 'copy'}: File too large\n" in done.stderr.decode()
    copied = [one.stream() for one in read_sets(io.BytesIO((tmp_path / "copy").read_bytes()))]
    assert copied == [stream(*one) for one in sets][: len(copied)]
    assert len(copied) < 6
    fit = len(copied)
    size = sum(len(control_and_frames(Notification(), one)) for one in sets[: fit + 1])
    assert size + len(END_OF_DATA) > bytes_ or fit == 6
    ends = [json.loads(line) for line in (tmp_path / "out.idx").read_text().splitlines()]
    assert out.read_bytes() == b"".join(stream(*one) for one in sets[: len(ends)])
    numbers = [int(row["set"]) for row in rows(tmp_path / "csv/D1R11-MTREND.csv")]
    users = rows(tmp_path / "csv/D4R5-USEDFC.csv")
    assert {int(row["set"]) for row in users} == set(numbers)
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("bytes_", range(900, 1100, 40))
def test_index_that_may_not_grow(monread: Path, tmp_path: Path, bytes_: int) -> None:
    """A set is in the stream and in its index, or in neither: here the index is the longer one."""
    sets = [[part(END)]] * 20
    file, out = tmp_path / "in", tmp_path / "out"
    file.write_bytes(monwrite(sets, NOTIFICATIONS[:1] * 20))
    done = subprocess.run(
        [monread, "--monwrite", file, "--write-stream", out],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_, bytes_)),
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == EXIT_FAILED
    assert b"out: File too large\n" in done.stderr
    text = (tmp_path / "out.idx").read_text()
    ends = [json.loads(line) for line in text.splitlines()]
    assert text.endswith("}\n") and 1 < len(ends) < 20
    assert out.read_bytes() == stream(*sets[0]) * len(ends)


@pytest.mark.parametrize("first", range(4))
def test_outputs_that_cannot_be_opened(monread: Path, tmp_path: Path, first: int) -> None:
    """Those that come behind it are not made, and nothing is read."""
    names = ["write-stream", "write-monwrite", "csv", "html"]
    words: list[str | Path] = []
    for at, name in enumerate(names):
        words += [f"--{name}", tmp_path / ("none/such" if at == first else name)]
    done = run(monread, "-", "--json", *words, data=stream(*SETS[0]))
    assert (done.returncode, done.stdout) == (EXIT_USAGE, "")
    assert done.stderr == f"monread: {tmp_path / 'none/such'}: No such file or directory\n"
    made = {file.name for file in tmp_path.iterdir()} - {"write-stream.idx"}
    assert made == set(names[:first])


def test_page_that_may_not_grow(monread: Path, tmp_path: Path) -> None:
    """It is written when all has been read: then there is no room for it."""
    page = tmp_path / "page"
    done = subprocess.run(
        [monread, "-", "--html", page],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
        input=stream(*SETS[0]),
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == EXIT_FAILED
    first, *_ = done.stderr.decode().splitlines()
    assert first == f"monread: {page}: File too large"
    assert page.read_bytes() == b""


def test_file_that_cannot_be_emptied(monread: Path, tmp_path: Path) -> None:
    """It is opened, and refused as soon as it is to be written anew."""
    (tmp_path / "in").write_bytes(monwrite(SETS[:1], NOTIFICATIONS[:1]))
    held = os.memfd_create("held", os.MFD_ALLOW_SEALING)
    os.write(held, b"kept")
    fcntl.fcntl(held, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
    name = f"/proc/self/fd/{held}"
    done = subprocess.run(
        [monread, "--monwrite", tmp_path / "in", "--write-monwrite", name],
        pass_fds=[held],
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode not in (EXIT_PASS, EXIT_TIMEOUT) and done.returncode > 0
    assert done.stderr.decode().startswith(f"monread: {name}: Operation not permitted\n")
    assert os.pread(held, 10, 0) == b"kept"
    os.close(held)


_DISK = """
mkdir "$1/disk" && mount -t tmpfs -o size=64k tmpfs "$1/disk" || exit 77
"$2" --monwrite "$1/in" --write-monwrite "$1/disk/copy"
code=$?
cp "$1/disk/copy" "$1/copy" && exit $code
"""


def test_full_disk(monread: Path, tmp_path: Path) -> None:
    sets = SETS[:2] * 6
    (tmp_path / "in").write_bytes(monwrite(sets, [Notification()] * 12))
    argv: list[str | Path] = ["unshare", "-rm", "sh", "-c", _DISK, "sh", tmp_path, monread]
    done = subprocess.run(argv, capture_output=True, timeout=SECONDS, check=False)
    if done.returncode not in (EXIT_PASS, EXIT_FAILED) or b"unshare" in done.stderr:
        pytest.skip(f"no disk of its own can be mounted here: {done.stderr.decode().strip()}")
    assert done.returncode == EXIT_FAILED
    assert b"copy: No space left on device\n" in done.stderr
    copied = [one.stream() for one in read_sets(io.BytesIO((tmp_path / "copy").read_bytes()))]
    assert 2 <= len(copied) < 12
    assert copied == [stream(*one) for one in sets][: len(copied)]


def test_one_output_that_fails_does_not_stop_the_others(monread: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(monwrite(SETS, NOTIFICATIONS))
    words = ("--monwrite", tmp_path / "in", "--write-stream", tmp_path / "out", "--summary")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [monread, *words], stdout=full, stderr=subprocess.PIPE, timeout=SECONDS, check=False
        )
    assert done.returncode == EXIT_FAILED
    assert b"monread: standard output: No space left on device\n" in done.stderr
    assert (tmp_path / "out").read_bytes() == b"".join(stream(*one) for one in SETS)


def test_text_in_a_file_ends_with_a_set(monread: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(monwrite(SETS[:2] * 3, [Notification()] * 6))
    with (tmp_path / "text").open("wb") as text:
        done = subprocess.run(
            [monread, "--monwrite", tmp_path / "in"],
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (30000, 30000)),
            stdout=text,
            stderr=subprocess.PIPE,
            timeout=SECONDS,
            check=False,
        )
    assert done.returncode == EXIT_FAILED
    lines = (tmp_path / "text").read_text().splitlines()
    assert lines[0] == "set 1" and lines[-1] == "  complete"


@pytest.mark.parametrize("option", ["--write-stream", "--write-monwrite"])
def test_only_regular_files_are_written(monread: Path, option: str) -> None:
    done = run(monread, "-", option, "/dev/null", data=stream(*SETS[0]))
    assert done.returncode == EXIT_USAGE
    assert "monread: /dev/null: the output must be a regular file" in done.stderr


@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero"])
def test_a_device_of_memory_is_no_input(monread: Path, device: str) -> None:
    """Every read of /dev/null would end another set, forever."""
    done = run(monread, device)
    assert (done.returncode, done.stdout) == (EXIT_USAGE, "")
    assert done.stderr.splitlines() == [f"monread: {device}: No such device"]


def test_outputs_that_cannot_be_made(monread: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    words = ("--csv", tmp_path / "file")
    done = run(monread, "-", *words, data=stream(*SETS[0]))
    assert done.returncode == EXIT_FAILED and "Not a directory" in done.stderr
    for option in ("--write-stream", "--write-monwrite", "--html"):
        done = run(monread, "-", option, tmp_path / "no/such")
        assert done.returncode == EXIT_USAGE
        assert done.stderr == f"monread: {tmp_path}/no/such: No such file or directory\n"
