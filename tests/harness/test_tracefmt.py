# SPDX-License-Identifier: MIT
"""The trace as text and as a timeline."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from controlled import TIMEOUT, Server
from controlled import _server as _server

from zvmlab.base.errors import ZvmlabError
from zvmlab.cli.main import main
from zvmlab.cp import tracefmt
from zvmlab.cp.peer import EventType, Peer

START = 0xD000000000000000
PENDING = "0003000900010000" + 32 * "00"
COMPLETE = "0007000700010000" + 32 * "00"


def record(seq: int, cpu: int | None, call: str, **fields: Any) -> str:
    head = {"seq": seq, "tod": f"{START + seq * 4096:016x}", "cpu": cpu, "call": call}
    return json.dumps(head | fields) + "\n"


def trace(path: Path, *lines: str) -> Path:
    path.write_text("".join(lines), encoding="ascii")
    return path


def shown(path: Path) -> list[str]:
    out = io.StringIO()
    tracefmt.print_trace(path, out)
    return out.getvalue().splitlines()


def test_text(tmp_path: Path) -> None:
    """Calls, accesses in their three forms, interruptions, results."""
    path = trace(
        tmp_path / "t",
        record(1, 0, "iucv.send", **{"in": [["1f00", "0001"]]}, gr=["4", "1f00"], cc=0),
        record(2, 1, "interrupt", out=[["2000", PENDING]]),
        record(3, 0, "diag64.loadshr", out=[["10", 300, "ab"], ["more", 2, "cd"]], pgm=6, lost=3),
        record(4, None, "command", text="QUERY NAMES", data=[500, "ef"], how="done"),
        record(5, None, "event", user="BOB", event=COMPLETE),
        record(6, None, "event", user="BOB", event="000000ff" + 72 * "0"),
    )
    assert shown(path) == [
        "      1      0.000000  cpu0  iucv.send gr=[4 1f00] in 1f00:0001 -> cc 0",
        "      2      0.000001  cpu1  interrupt msg-pending path 3 msgid 65536",
        "      3      0.000002  cpu0  diag64.loadshr out 10:(300 bytes, hash ab) and 2 more"
        " (hash cd) (3 fields left out) -> program interruption 0006",
        '      4      0.000003     -  command text="QUERY NAMES" data=(500 bytes, hash ef)'
        " -> done",
        "      5      0.000004     -  event msg-complete path 7 msgid 65536 user=BOB",
        "      6      0.000005     -  event type ff path 0 user=BOB",
    ]


# Parameter lists as docs/choices.md and zvmlab/iucv.h lay them out, with each field at its place.
CONNECT = "0000" + "20" + "00" + "00ff" + "0000" + "5cd4d6d5c9e3d6d9" + 24 * "00"
SEND = (
    "0003"
    + "10"
    + "00"
    + "00000000"
    + "00000000"
    + "00000000"
    + "00000064"
    + "000000050000000700000000"
    + "00000020"
    + "00000000"
)


def _iucv(seq: int, call: str, image: str, *stores: list[str], **fields: Any) -> str:
    own = {"gr0": "1", "gr1": "1f00", "amode": 64, "in": [["1f00", image]], "out": list(stores)}
    return record(seq, 0, f"iucv.{call}", **own, **fields)


def test_parameter_lists_and_codes_in_words(tmp_path: Path) -> None:
    """What the guest asked for, and what CP says to it."""
    path = trace(
        tmp_path / "t",
        _iucv(1, "connect", CONNECT, ["1f00", "0005"], ["1f04", "000a"], cc=0),
        _iucv(2, "connect", CONNECT, ["1f03", "0b"], cc=1),
        _iucv(3, "send", SEND, ["1f04", "00010009"], cc=0),
        _iucv(4, "send", SEND, ["1f03", "77"], cc=1, fault=3),
        _iucv(5, "sever", "0003" + 76 * "0", cc=0),
        _iucv(6, "set-mask", "80" + 78 * "0", cc=0),
        _iucv(7, "receive", "0003" + "07" + "00" + "00010009" + 64 * "0", ["3000", "e2"], cc=2),
        record(8, 0, "iucv.send", gr0="4", gr1="1f00", amode=31, pgm=5),
        record(9, None, "iucv.send", user="BOB", path=1, msgid="0", ipuser=32 * "0", answer=0),
    )
    assert [line.split(maxsplit=3)[3] for line in shown(path)] == [
        "iucv.connect to *MONITOR limit 255, path 5 flags 20 -> cc 0",
        "iucv.connect to *MONITOR limit 255 flags 20: IPRCODE 0b, the other user is not logged on"
        " -> cc 1",
        "iucv.send path 3 msgid 65545 source class 00000005 tag 00000007 length 100 answer 32"
        " flags 10 -> cc 0",
        "iucv.send path 3 msgid 0 source class 00000005 tag 00000007 length 100 answer 32 flags 10:"
        " IPRCODE 77, which has no meaning here fault=3 -> cc 1",
        "iucv.sever path 3 -> cc 0",
        "iucv.set-mask mask 80 -> cc 0",
        "iucv.receive path 3 msgid 65545 flags 07 out 3000:e2 -> cc 2",
        "iucv.send gr0=4 gr1=1f00 amode=31 -> program interruption 0005",
        "iucv.send user=BOB path=1",
    ]
    raw = io.StringIO()
    tracefmt.print_trace(path, raw, tracefmt.Choice(raw=True))
    assert f"iucv.connect gr0=1 gr1=1f00 amode=64 in 1f00:{CONNECT}" in raw.getvalue()


def test_events_in_words(tmp_path: Path) -> None:
    """The fields of the interrupt buffer that an event of its type has."""
    pending = "0002" + "8001" + "00ff0000" + "c2d6c24040404040" + 48 * "0"
    message = "00020009000a0001" + "0000cafe" + "00000000" + "00000064" + 40 * "0"
    in_list = "00028009000a0001" + "0000cafe" + "0102030405060708" + 40 * "0"
    path = trace(
        tmp_path / "t",
        *(
            record(n, 0, "interrupt", out=[["2000", i]])
            for n, i in enumerate((pending, message, in_list))
        ),
    )
    assert [line.split(maxsplit=3)[3] for line in shown(path)] == [
        "interrupt pending path 2 of BOB limit 255 flags 80",
        "interrupt msg-pending path 2 msgid 655361 class 0000cafe length 100",
        "interrupt msg-pending path 2 msgid 655361 class 0000cafe data 0102030405060708 flags 80",
    ]


def _waits(path: Path) -> Path:
    return trace(
        path,
        record(1, 0, "diag.44"),
        record(2, 1, "diag.9c"),
        record(3, 0, "diag.44"),
        record(4, 0, "repeat", times=50),
        record(5, 1, "iucv.sever", cc=0),
        record(6, 0, "diag.44"),
        record(7, 0, "repeat", times=2),
        record(8, 0, "stsi", cc=0),
    )


def test_waiting_is_one_line(tmp_path: Path) -> None:
    """Thousands of lines of a CPU that spins hide what happens."""
    assert shown(_waits(tmp_path / "t")) == [
        "      1      0.000000  cpu0  diag.44, and 52 more until 0.000003",
        "      5      0.000004  cpu1  iucv.sever -> cc 0",
        "      6      0.000005  cpu0  diag.44, and 2 more until 0.000006",
        "      8      0.000007  cpu0  stsi -> cc 0",
    ]
    raw = io.StringIO()
    tracefmt.print_trace(tmp_path / "t", raw, tracefmt.Choice(raw=True))
    assert len(raw.getvalue().splitlines()) == 8
    tracefmt.write_perfetto(tracefmt.read(tmp_path / "t"), tmp_path / "out")
    events = json.loads((tmp_path / "out").read_text("ascii"))["traceEvents"]
    calls = {(e["name"], e["tid"], e["ts"], e["dur"]) for e in events if e.get("cat") == "call"}
    # Each CPU waits for itself there.
    assert calls == {
        ("diag.44 x 55", 2, 0.0, 6.0),
        ("diag.9c", 1, 1.0, 1),
        ("iucv.sever", 1, 4.0, 1),
        ("stsi", 2, 7.0, 1),
    }


@pytest.mark.parametrize(
    ("options", "numbers"),
    (
        (["--call", "iucv.*"], [5]),
        (["--call", "iucv.*", "--call", "stsi"], [5, 8]),
        (["--user", "CPU 1"], [2, 5]),
        (["--since", "6"], [6, 8]),
        (["--since", "9"], []),
    ),
)
def test_filters(
    tmp_path: Path, options: list[str], numbers: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", str(_waits(tmp_path / "t")), *options]) == 0
    assert [int(line.split()[0]) for line in capsys.readouterr().out.splitlines()] == numbers


def test_time_of_a_restored_guest_begins_anew(tmp_path: Path) -> None:
    """Its clock goes on where it was saved, before the trace began."""
    back = json.dumps(
        {"seq": 2, "tod": f"{START - 4096000000:016x}", "cpu": None, "call": "state.load"}
    )
    later = json.dumps({"seq": 3, "tod": f"{START - 4095000000:016x}", "cpu": 0, "call": "stsi"})
    lines = shown(trace(tmp_path / "t", record(1, 0, "reset"), f"{back}\n", f"{later}\n"))
    assert [line.split()[1] for line in lines] == ["0.000000", "0.000000", "0.000244"]


def test_cut_line_is_left_out(tmp_path: Path) -> None:
    path = trace(tmp_path / "t", record(1, 0, "a"), record(2, 0, "b")[:-1])
    assert len(shown(path)) == 1
    assert shown(trace(tmp_path / "empty")) == []


@pytest.mark.parametrize(
    "line",
    ["{}\n", "[]\n", "x\n", '{"seq":1,"tod":"g","cpu":0,"call":"x"}\n', record(1, 0, "x", out=[5])]
    + [record(1, 0, "repeat"), record(1, 0, "repeat", times="many")],
)
def test_no_trace(tmp_path: Path, line: str) -> None:
    path = trace(tmp_path / "t", record(1, 0, "a"), line)
    with pytest.raises(ZvmlabError, match="^line 2 of .*/t is not a record of a CP trace$"):
        shown(path)


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(ZvmlabError, match="^trace .*/none cannot be read: No such file"):
        shown(tmp_path / "none")
    (tmp_path / "binary").write_bytes(b"\xff\n")
    with pytest.raises(ZvmlabError, match="is not a trace of a CP: it is not ASCII$"):
        shown(tmp_path / "binary")
    path = trace(tmp_path / "t", record(1, 0, "a"))
    with pytest.raises(ZvmlabError, match="^timeline /none/x cannot be written: No such file"):
        tracefmt.write_perfetto(tracefmt.read(path), "/none/x")


def test_timeline(tmp_path: Path) -> None:
    path = trace(
        tmp_path / "t",
        record(1, 0, "iucv.send", cc=0),
        record(3, None, "event", user="BOB", event=PENDING),
        record(8, 0, "interrupt", out=[["2000", COMPLETE]]),
        record(9, 0, "interrupt", out=[["2000", COMPLETE]]),
    )
    tracefmt.write_perfetto(tracefmt.read(path), tmp_path / "out")
    events = json.loads((tmp_path / "out").read_text("ascii"))["traceEvents"]
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert names == {1: "CPU 0", 2: "BOB"}
    calls = [(e["name"], e["tid"], e["ts"], e["ph"]) for e in events if e.get("cat") == "call"]
    assert calls == [
        ("iucv.send", 1, 0.0, "X"),
        ("event", 2, 2.0, "X"),
        ("interrupt", 1, 7.0, "X"),
        ("interrupt", 1, 8.0, "X"),
    ]
    spans = [(e["id"], e["ts"], e["ph"]) for e in events if e.get("cat") == "message"]
    assert spans == [(65536, 2.0, "b"), (65536, 7.0, "e")]


def test_trace_of_a_cp(server: Server) -> None:
    """What the core writes is what is read here."""
    with server.connect() as control, Peer(control, "ALICE") as alice, Peer(control, "BOB") as bob:
        path = alice.connect("BOB").path
        bob.accept(bob.wait(EventType.PENDING, TIMEOUT).path)
        alice.wait(EventType.COMPLETE, TIMEOUT)
        alice.send(path, b"x" * 300)
        control.cp("QUERY USERID")
    server.stop()
    records = list(tracefmt.read(server.trace))
    assert [r.seq for r in records] == list(range(len(records)))
    calls = [r.call for r in records]
    assert calls[:8] == [
        "configuration",
        "iucv.logon",
        "iucv.logon",
        "iucv.connect",
        "event",
        "iucv.accept",
        "event",
        "iucv.send",
    ]
    assert [r.track for r in records[3:5]] == ["ALICE", "BOB"]
    lines = shown(server.trace)
    assert any("iucv.send user=ALICE" in line and "buffer=" + 300 * "78" in line for line in lines)


def member(seq: int, order: int, cpu: int | None, call: str, **fields: Any) -> str:
    """A record of a machine whose own clock is not the system's."""
    clock = f"{START + order * 4096:016x}"
    return record(seq + 1000, cpu, call, order=order, clock=clock, **fields)


def test_traces_of_a_system(tmp_path: Path) -> None:
    """In the order of all of them, each line with the user ID; storage of another names it."""
    alice = trace(
        tmp_path / "alice",
        member(0, 1, None, "config"),
        member(1, 3, 0, "diag.44"),
        member(2, 4, 0, "diag.44"),
        member(3, 6, 0, "iucv.reply", out=[["BOB", "2000", "01"], ["BOB", "3000", 9, "ab"]]),
    )
    bob = trace(
        tmp_path / "bob",
        member(0, 2, None, "config"),
        member(1, 5, 0, "diag.44"),
        member(2, 7, 1, "interrupt", out=[["2000", COMPLETE]]),
        "{",
    )
    traces = {"ALICE": alice, "BOB": bob}
    out = io.StringIO()
    tracefmt.print_records(tracefmt.read_system(traces), out)
    assert out.getvalue().splitlines() == [
        "      1 ALICE         0.000000     -  config",
        "      2 BOB           0.000001     -  config",
        "      3 ALICE         0.000002  cpu0  diag.44, and 1 more until 0.000003",
        "      5 BOB           0.000004  cpu0  diag.44",
        "      6 ALICE         0.000005  cpu0  iucv.reply out BOB's 2000:01 BOB's 3000:(9 bytes,"
        " hash ab)",
        "      7 BOB           0.000006  cpu1  interrupt msg-complete path 7 msgid 65536",
    ]
    out = io.StringIO()
    choice = tracefmt.Choice(users=("ALICE",), since=4, raw=True)
    tracefmt.print_records(tracefmt.read_system(traces), out, choice)
    assert [line.split()[0] for line in out.getvalue().splitlines()] == ["4", "6"]
    tracefmt.write_perfetto(tracefmt.read_system(traces), tmp_path / "out")
    events = json.loads((tmp_path / "out").read_text("ascii"))["traceEvents"]
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert names == {1: "ALICE", 2: "BOB"}
    assert {e["pid"] for e in events if e["name"] == "interrupt"} == {2}
