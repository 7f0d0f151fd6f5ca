# SPDX-License-Identifier: MIT
"""monread: what it prints of a file, what it finds wrong, how it ends."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from controlled import Server
from monread_tool import END, ROOT, SECONDS, START, TOD, build_monread, part, run, stream, user

from zvmlab import __version__
from zvmlab.base.errors import EXIT_CANNOT_RUN, EXIT_FAILED, EXIT_PASS, EXIT_TIMEOUT, EXIT_USAGE
from zvmlab.cp.peer import EventType, Flag, Peer
from zvmlab.mondata.monwrite import END_OF_DATA, Notification, control_and_frames
from zvmlab.mondata.records import EVENT, Record
from zvmlab.monitor.monitor import Capture

WANTED = bytes([1, 0xC0]) + b"\xff" * 6 + "MONDCSS".ljust(8).encode("cp037")


@pytest.fixture(name="monread", scope="module")
def _monread() -> Path:
    return build_monread()


def application(payload: bytes, product: bytes) -> Record:
    """D10R2 of these data."""
    fixed = struct.pack(">HH8s16s4x", 52, len(payload), "LINUX001".encode("cp037"), product)
    return Record(10, 2, TOD, fixed + payload)


def test_application_data(monread: Path, tmp_path: Path) -> None:
    """Values of what Linux writes; of other products the ID alone."""
    product = "LINUXKRNL".encode("cp037") + b"\x03" + "260100".encode("cp037")
    head = struct.pack(">QII", TOD, 5, 5)
    net = head + struct.pack(">II9Q", 2, 0, 1, 2, 3, 4, 5, 6, 7, 8, 2**64 - 1)
    other = b"LNXAPPL" + bytes(range(1, 10))
    file = tmp_path / "data"
    file.write_bytes(stream(part(application(net, product), application(b"abc", other), END)))
    done = run(monread, "--values", "--release", "5.3", file)
    assert done.returncode == EXIT_PASS
    lines = done.stdout.splitlines()
    assert lines[1].endswith("monitor appldata")
    at = lines.index("      application      LINUXKR D5D3 3 F2F6 F0F1 F0F0, 96 bytes: net_sum")
    assert lines[at - 2 : at] == [
        f"      MDGPROD          X'{product.hex()}'",
        "      STATUS           0",
    ]
    assert lines[at + 1 : at + 6] == [
        "        timestamp      2009-02-13T23:31:30.000250Z",
        "        sync_count_1   5",
        "        sync_count_2   5",
        "        nr_interfaces  2",
        "        rx_packets     1",
    ]
    assert f"        collisions     {2**64 - 1}" in lines
    assert "      application      LNXAPPL 0102 3 0405 0607 0809, 3 bytes" in lines
    schema = json.loads((ROOT / "docs/monread-schema.json").read_text())
    found = []
    for line in run(monread, "--json", "--values", file).stdout.splitlines():
        jsonschema.validate(json.loads(line), schema)
        found += [json.loads(line)["application"]] if "application" in line else []
    assert found[0]["name"] == "net_sum" and found[0]["modification"] == 0xF0F0
    assert found[0]["values"]["rx_packets"] == 1
    assert found[0]["values"]["collisions"] == str(2**64 - 1)
    assert found[1] == {
        **{"product": "LNXAPPL", "function": 0x0102, "record": 3, "version": 0x0405},
        **{"release": 0x0607, "modification": 0x0809, "length": 3, "values": {}},
    }
    assert "application" not in run(monread, "--json", file).stdout


def test_text(monread: Path, tmp_path: Path) -> None:
    file = tmp_path / "data"
    file.write_bytes(stream(part(user("LINUX001"), END)))
    done = run(monread, "--values", file)
    assert done.returncode == EXIT_PASS
    lines = done.stdout.splitlines()
    assert lines[:5] == [
        "set 1",
        "  element 1: sample, 09000000-09000037, monitor user",
        "    D4R5 USEDFC, 36 bytes, 2009-02-13T23:31:30.000250Z",
        "      VMDUSER          'LINUX001'",
        "      VMDCPUAD         3",
    ]
    assert lines[-2:] == ["    D1R11 MTREND, 20 bytes, 1900-01-01T00:00:00.000000Z", "  complete"]
    assert done.stderr == (
        "1 sets complete, 0 lost, 0 overflows; 1 elements, 2 records, 56 bytes of records;"
        " 0 violations\n"
        "z/VM 5.3, by the lengths of 1 type of records\n"
    )
    assert run(monread, "-", data=file.read_bytes()).stdout.splitlines() == [
        *lines[:3],
        *lines[-2:],
    ]


def checked_lines(text: str) -> Iterator[dict[str, Any]]:
    """JSON lines, each as the schema has it."""
    schema = json.loads((ROOT / "docs/monread-schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    for line in text.splitlines():
        found = json.loads(line)
        jsonschema.validate(found, schema)
        yield found


def test_json(monread: Path) -> None:
    counters = bytes(4) + bytes(range(8)) + b"\xff" * 8 + bytes(8)
    records = (user('A"\\'), Record(0, 2, TOD, counters.ljust(88, b"\0")), Record(4, 200), END)
    done = run(monread, "--json", "--values", "-", data=stream(part(*records)))
    lines = list(checked_lines(done.stdout))
    assert [line["item"] for line in lines] == ["set", "element", *["record"] * 4, "complete"]
    assert lines[1] | {"offset": 0} == {
        **{"item": "element", "set": 1, "offset": 0, "element": 1, "type": "sample"},
        **{"domains": [0, 1, 4], "start": START, "end": START + 183},
    }
    assert lines[2]["fields"]["VMDUSER"] == 'A"\\'
    assert (lines[2]["fields"]["VMDCPUAD"], lines[2]["number"]) == (3, 5)
    assert lines[3]["fields"]["PFXPRBTM"] == "0001020304050607"
    assert lines[3]["fields"]["PFXUTIME"] == "ff" * 8
    assert lines[4] == {
        **{"item": "record", "set": 1, "offset": 156, "element": 1, "record": 3, "domain": 4},
        **{"number": 200, "length": 20, "time": "1900-01-01T00:00:00.000000Z", "fields": {}},
    }
    assert done.returncode == EXIT_PASS


def test_release(monread: Path) -> None:
    data = stream(part(Record(0, 1, payload=bytes(76)), END))
    assert run(monread, "--check", "-", data=data).returncode == EXIT_PASS
    assert run(monread, "--check", "--release", "5.1", "-", data=data).returncode == EXIT_PASS
    done = run(monread, "--check", "--release", "5.3", "-", data=data)
    assert done.returncode == EXIT_FAILED
    assert done.stdout.startswith("set 1, offset 12, element 1, record 1 (D0R1 SYTSYP): ")
    fields = run(monread, "--values", "--release", "4.4", "-", data=data).stdout
    assert "PLSDIAGT" in fields and "PLSPIOPR" not in fields


def test_check(monread: Path) -> None:
    good = part(user("A"), END)
    wrong = part(user("B"), type=EVENT), part(Record(3, 1), END), part(Record(0, 1))
    data = stream(good, *wrong)
    done = run(monread, "--check", "-", data=data[:-3])
    rules = re.findall(r"\[([a-z-]+)\]$", done.stdout, re.MULTILINE)
    assert rules == ["records-cut"] and done.returncode == EXIT_FAILED
    done = run(monread, "--check", "-", data=data)
    assert re.findall(r"\[([a-z-]+)\]$", done.stdout, re.MULTILINE) == ["interval-open"]
    assert "       1 interval-open: Sample data end with" in done.stderr
    lines = list(checked_lines(run(monread, "--check", "--json", "-", data=data[:-3]).stdout))
    assert [(line["item"], line.get("rule")) for line in lines] == [
        ("violation", "records-cut"),
        ("lost", None),
    ]


def test_every_set_of_a_monwrite_file(monread: Path, tmp_path: Path) -> None:
    file = tmp_path / "monwrite"
    parts = [part(user("A"), END), part(Record(4, 1), type=EVENT, start=START + 0x1F00)]
    sets = [control_and_frames(Notification(trgcls=1, mca_start=START), parts)] * 3
    file.write_bytes(b"".join(sets) + END_OF_DATA)
    done = run(monread, "--monwrite", file)
    assert done.returncode == EXIT_PASS, done.stdout
    assert [line for line in done.stdout.splitlines() if line.startswith("set")] == [
        *("set 1", "set 2", "set 3"),
    ]
    assert done.stderr.startswith("3 sets complete, 0 lost, 0 overflows; 6 elements, 9 records")
    done = run(monread, "--monwrite", "--sets", "2", file)
    assert (done.returncode, done.stderr.split(",")[0]) == (EXIT_PASS, "2 sets complete")
    file.write_bytes(b"".join(sets))
    done = run(monread, "--monwrite", "--check", file)
    assert done.returncode == EXIT_FAILED
    assert (
        done.stdout
        == f"set 3, offset {len(sets[0]) * 3}: the file ends without end of data [file-cut]\n"
    )


def test_counts_are_those_of_fabricate(monread: Path, tmp_path: Path) -> None:
    """Of each format; the model counts what it writes."""
    for format in ("monwrite", "stream"):
        out = tmp_path / format
        argv: list[str | Path] = [sys.executable, ROOT / "zvmlab", "fabricate", "--workload"]
        argv += [ROOT / "examples/storm.json", "--hours", "0.1", "--format", format, "--out", out]
        made = subprocess.run(argv, capture_output=True, timeout=300, check=True).stderr.decode()
        found = re.search(r"^(\d+) data sets, (\d+) records, (\d+) bytes", made, re.MULTILINE)
        assert found and int(found[1]) > 100
        totals = (
            f"{found[1]} sets complete, 0 lost, 0 overflows; {found[1]} elements, "
            f"{found[2]} records, {found[3]} bytes of records; 0 violations\n"
        )
        assert run(monread, "--check", out).stderr == totals
        page = tmp_path / "page"
        said = run(monread, "--html", page, out).stderr
        assert said.startswith(f"{totals}z/VM 5.3, by the lengths of ")


def test_elements_count_where_sets_are_not_known(monread: Path) -> None:
    """In the totals, and for --sets; the lines of what is printed end with the set."""
    data = stream(*[part(user("A"), type=EVENT)] * 3)
    done = run(monread, "-", data=data)
    assert done.stderr.startswith("3 sets complete, 0 lost, 0 overflows; 3 elements, 3 records")
    done = run(monread, "--sets", "2", "-", data=data)
    lines = done.stdout.splitlines()
    assert [line[:11] for line in lines] == [
        *("set 1", "  element 1", "    D4R5 US", "  element 2", "    D4R5 US", "  complete"),
    ]
    assert done.stderr.startswith("2 sets complete, 0 lost, 0 overflows; 2 elements, 2 records")
    done = run(monread, "-", data=data[:-3])
    assert done.stderr.startswith("2 sets complete, 1 lost, 0 overflows; 3 elements")


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["--rel", "5.3"], "release"),
        (["--rel=5.3"], "release"),
        (["-", "--ch"], "check"),
        (["--vers"], "version"),
        (["--hel"], "help"),
        (["--csv", "--che", "--che"], "check"),
        (["export", "--li", "1"], "listen"),
        (["export", "-l", "--anon", "--anon"], "anonymise"),
        (["export", "-l1", "--anon"], "anonymise"),
    ],
)
def test_names_of_options_are_written_out(monread: Path, words: list[str], name: str) -> None:
    """A value is no name of an option, whatever it looks like."""
    done = run(monread, *words)
    said = next(word for word in reversed(words) if word.startswith("--")).split("=")[0]
    program = "monread export" if words[0] == "export" else "monread"
    assert (done.returncode, done.stdout) == (EXIT_USAGE, "")
    assert done.stderr == f"{program}: abbreviated option: '{said}' (write --{name})\n"


def test_words_that_are_no_options(monread: Path, tmp_path: Path) -> None:
    """Behind --, and values of options."""
    data = stream(part(user("A"), END))
    done = subprocess.run(
        [monread, "--write-stream", "--che", "--", "--rel"],
        cwd=tmp_path,
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.stderr == b"monread: --rel: No such file or directory\n"
    done = subprocess.run(
        [monread, "--write-stream", "--che", "-"],
        input=data,
        cwd=tmp_path,
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == EXIT_PASS and (tmp_path / "--che").read_bytes() == data


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["--nonsense"], EXIT_USAGE, "unrecognized option"),
        (["--release", "5"], EXIT_USAGE, "invalid release of z/VM: '5'"),
        (["--release", "-5.3"], EXIT_USAGE, "invalid release of z/VM: '-5.3'"),
        (["--release", "9.9"], EXIT_USAGE, "invalid release of z/VM: '9.9' (4.1 to 7.5)"),
        (["--release", "5.5"], EXIT_USAGE, "invalid release of z/VM: '5.5'"),
        (["--sets", "0"], EXIT_USAGE, "invalid number of sets: '0'"),
        (["--timeout", "2h30"], EXIT_USAGE, "invalid time: '2h30'"),
        (["--timeout", "24h"], EXIT_USAGE, "invalid time: '24h' (less than a day"),
        (["--timeout", "1440m"], EXIT_USAGE, "invalid time: '1440m' (less than a day"),
        (["--reopen", "1000001"], EXIT_USAGE, "invalid number of tries: '1000001' (0 to 1000000)"),
        (["--reopen", "-1"], EXIT_USAGE, "invalid number of tries: '-1'"),
        (["--sets", "x"], EXIT_USAGE, "invalid number of sets: 'x'"),
        (["--release", "4.0"], EXIT_USAGE, "invalid release of z/VM: '4.0'"),
        (["--release", "5.31"], EXIT_USAGE, "invalid release of z/VM: '5.31'"),
        (["--release", "100.3"], EXIT_USAGE, "invalid release of z/VM: '100.3'"),
        (["--summary", "--activity"], EXIT_USAGE, "only one of --summary, --activity"),
        (["--summary", "--check"], EXIT_USAGE, "only one of --summary, --activity"),
        (["--activity", "--json"], EXIT_USAGE, "only one of --summary, --activity"),
        (["--activity", "--values"], EXIT_USAGE, "only one of --summary, --activity"),
        (["--tables", "--activity"], EXIT_USAGE, "only one of --summary, --activity, --tables"),
        (["--threshold", "busy"], EXIT_USAGE, "invalid threshold: 'busy' (NAME=VALUE or NAME=off"),
        (["--threshold", "load=5"], EXIT_USAGE, "invalid threshold: 'load=5'"),
        (["--time-zone", "CET-1"], EXIT_USAGE, "unknown time zone: 'CET-1' (UTC, local, "),
        (["--time-zone", "../../etc/passwd"], EXIT_USAGE, "unknown time zone: '../../etc/passwd'"),
        (["--rotate-size", "0"], EXIT_USAGE, "invalid --rotate-size: '0' (for example 100M)"),
        (["--rotate-size", "1Q"], EXIT_USAGE, "invalid --rotate-size: '1Q'"),
        (["--rotate-time", "0"], EXIT_USAGE, "invalid --rotate-time: '0' (1ms and more"),
        (["--rotate-keep", "0"], EXIT_USAGE, "invalid --rotate-keep: '0' (1 to 1000)"),
        (["--rotate-keep", "1001"], EXIT_USAGE, "invalid --rotate-keep: '1001' (1 to 1000)"),
        (["--rotate-size", "1M"], EXIT_USAGE, "--rotate-size and --rotate-time need --write-mon"),
        (["--rotate-time", "1h"], EXIT_USAGE, "--rotate-size and --rotate-time need --write-mon"),
        (["/no/such", "b"], EXIT_USAGE, "monread: /no/such: No such file or directory"),
        (["/", "b"], EXIT_USAGE, "monread: / is not a regular file: it cannot be one of several"),
        (["/no/such"], EXIT_USAGE, "monread: /no/such: No such file or directory"),
        (["/"], EXIT_FAILED, "monread: /: Is a directory"),
    ],
)
def test_what_is_refused(monread: Path, words: list[str], code: int, text: str) -> None:
    done = run(monread, *words)
    assert (done.returncode, done.stdout) == (code, "")
    assert text in done.stderr


@pytest.mark.skipif(Path("/dev/monreader").exists(), reason="this machine has the device")
@pytest.mark.parametrize(
    "words",
    [[], ["--reopen-wait", "1"], ["--timeout", "1439m"], ["--reopen", "1000000"], ["--blocking"]],
)
def test_without_the_device(monread: Path, words: list[str]) -> None:
    done = run(monread, *words)
    assert done.returncode == EXIT_CANNOT_RUN
    assert done.stderr == "monread: /dev/monreader: No such file or directory\n"


def test_help(monread: Path) -> None:
    done = run(monread, "--help")
    assert done.returncode == EXIT_PASS
    page = (ROOT / "docs/monread.1").read_text()
    exporting = run(monread, "export", "--help")
    assert exporting.returncode == EXIT_PASS
    said = done.stdout + exporting.stdout
    options = set(re.findall(r"--([a-z-]+)", said)) - {"help", "usage"}
    items = " ".join(re.findall(r"^\.It .*Fl .*", page, re.MULTILINE))
    assert options == set(re.findall(r"Fl -([a-z-]+)", items))


def test_help_has_groups(monread: Path) -> None:
    """Each option under its heading, by name as argp sorts them."""
    groups: dict[str, list[str]] = {}
    for line in run(monread, "--help").stdout.splitlines():
        heading = re.fullmatch(r" ([A-Z].*):", line)
        option = re.match(r" +(?:-[^-], )?--([a-z-]+)", line)
        if heading:
            groups[heading[1]] = []
        elif option and groups:
            list(groups.values())[-1].append(option[1])
    of_argp = ["help", "usage", "version"]
    # Between two groups is an empty line, and nowhere else.
    alone = re.findall(r"\n\n +(?:-[^-], )?--([a-z-]+)", run(monread, "--help").stdout)
    assert alone == ["help"]
    assert groups == {
        "Input": [
            *("blocking", "from", "layout", "monwrite", "release", "reopen", "reopen-wait"),
            *("sets", "time-zone", "timeout", "to"),
        ],
        "Printing (default: text)": ["activity", "check", "json", "summary", "tables", "values"],
        "Output files, with complete sets only": [
            *("anonymise", "csv", "html", "rotate-keep", "rotate-size", "rotate-time"),
            *("write-monwrite", "write-stream"),
        ],
        "For --html and --tables": ["threshold", *of_argp],
    }


def test_version_is_the_projects(monread: Path) -> None:
    """The tools' header and the harness have it, each for itself."""
    assert run(monread, "--version").stdout == f"monread {__version__}\n"


def test_full_disk(monread: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [monread, "-"],
            input=stream(part(user("A"), END)),
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=SECONDS,
            check=False,
        )
    assert done.returncode == EXIT_FAILED
    assert b"monread: standard output: No space left on device" in done.stderr


def test_full_disk_while_there_is_more(monread: Path, tmp_path: Path) -> None:
    """It does not go on with what it cannot print."""
    file = tmp_path / "data"
    file.write_bytes(stream(part(*[user("A")] * 100, END)))
    feed = ["sh", "-c", 'while cat "$0"; do :; done', str(file)]
    with open("/dev/full", "wb") as full, subprocess.Popen(feed, stdout=subprocess.PIPE) as feeder:
        done = subprocess.run(
            [monread, "-"],
            stdin=feeder.stdout,
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=SECONDS,
            check=False,
        )
        feeder.kill()
    assert done.returncode == EXIT_FAILED
    assert b"monread: standard output: No space left on device" in done.stderr


def test_timeout(monread: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, stream(part(user("A"), END)))
    argv = [str(monread), "--timeout", "1s", "-"]
    done = subprocess.run(argv, stdin=reading, capture_output=True, timeout=SECONDS, check=False)
    os.close(reading)
    os.close(writing)
    assert done.returncode == EXIT_TIMEOUT
    assert b"set 1\n" in done.stdout and b"lost: Connection timed out\n" in done.stdout
    assert b"monread: -: Connection timed out\n" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals(monread: Path, number: signal.Signals) -> None:
    with subprocess.Popen(
        [monread, "--check", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(stream(part(user("A"), END)))
        process.stdin.flush()
        wait_until_read(process)
        process.send_signal(number)
        process.wait(SECONDS)
        assert process.stderr is not None
        said = process.stderr.read()
    assert process.returncode == 128 + number
    assert b"0 sets complete, 0 lost, 0 overflows; 1 elements, 2 records" in said


def takes_signals(pid: int) -> bool:
    """Are its handlers there?"""
    status = Path(f"/proc/{pid}/status").read_text()
    caught = re.search(r"^SigCgt:\s*(\w+)$", status, re.MULTILINE)
    return bool(caught and int(caught[1], 16) >> (signal.SIGTERM - 1) & 1)


def wait_until_read(process: subprocess.Popen[bytes]) -> None:
    """Until it takes signals, and has read all that was written."""
    assert process.stdin is not None
    deadline = time.monotonic() + SECONDS
    while not takes_signals(process.pid) or any(
        fcntl.ioctl(process.stdin, termios.FIONREAD, bytes(4))
    ):
        assert time.monotonic() < deadline, "it never reads"
        time.sleep(0.01)


def test_signal_while_there_are_always_data(monread: Path, tmp_path: Path) -> None:
    file = tmp_path / "data"
    file.write_bytes(stream(part(*[user("A")] * 100, END)))
    feed = ["sh", "-c", 'while cat "$0"; do :; done', str(file)]
    with subprocess.Popen(feed, stdout=subprocess.PIPE) as feeder:
        argv = [str(monread), "--check", "-"]
        with subprocess.Popen(argv, stdin=feeder.stdout, stderr=subprocess.PIPE) as process:
            deadline = time.monotonic() + SECONDS
            while not takes_signals(process.pid):
                assert time.monotonic() < deadline, "it never takes signals"
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            assert process.wait(SECONDS) == 128 + signal.SIGINT
        feeder.kill()


def test_what_cp_writes_is_well_formed(monread: Path, tmp_path: Path) -> None:
    """Configuration, samples, events, a suspension: of a CP without an emulator."""
    server = Server(tmp_path, "seed=3")
    with server.connect() as control:
        control.execute("monitor-manual", manual=True)
        control.cp("MONITOR SAMPLE ENABLE ALL\nMONITOR EVENT ENABLE ALL")
        with Capture(control, tmp_path / "sets") as capture, Peer(control, "READER") as peer:
            path = peer.connect("*MONITOR", WANTED, msglim=255, flags=Flag.RMDATA).path
            assert peer.wait(EventType.COMPLETE, SECONDS, path) is not None
            control.cp("MONITOR SAMPLE START\nMONITOR EVENT START")
            for number in range(4):
                with Peer(control, f"USER{number}"):
                    control.execute("monitor-tick")
            sets = [capture.next()] + capture.so_far()
    server.stop()
    kinds = {found.kind for found in sets}
    assert kinds >= {"sample-config", "sample", "event-config"}, kinds
    for found in sets:
        done = run(monread, "--check", "--release", "5.3", "-", data=found.stream)
        assert (done.returncode, done.stdout) == (EXIT_PASS, ""), found.kind
