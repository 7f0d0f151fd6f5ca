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
        "      2      0.000001  cpu1  interrupt msg-pending path 3 msgid 65536 out 2000:" + PENDING,
        "      3      0.000002  cpu0  diag64.loadshr out 10:(300 bytes, hash ab) and 2 more"
        " (hash cd) (3 fields left out) -> program interruption 0006",
        '      4      0.000003     -  command text="QUERY NAMES" data=(500 bytes, hash ef)'
        " -> done",
        f"      5      0.000004     -  event msg-complete path 7 msgid 65536 user=BOB"
        f" event={COMPLETE}",
        "      6      0.000005     -  event type ff path 0 user=BOB event=000000ff" + 72 * "0",
    ]


def test_cut_line_is_left_out(tmp_path: Path) -> None:
    path = trace(tmp_path / "t", record(1, 0, "a"), record(2, 0, "b")[:-1])
    assert len(shown(path)) == 1
    assert shown(trace(tmp_path / "empty")) == []


@pytest.mark.parametrize(
    "line",
    ["{}\n", "[]\n", "x\n", '{"seq":1,"tod":"g","cpu":0,"call":"x"}\n', record(1, 0, "x", out=[5])],
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
        tracefmt.write_perfetto(path, "/none/x")


def test_timeline(tmp_path: Path) -> None:
    path = trace(
        tmp_path / "t",
        record(1, 0, "iucv.send", cc=0),
        record(3, None, "event", user="BOB", event=PENDING),
        record(8, 0, "interrupt", out=[["2000", COMPLETE]]),
        record(9, 0, "interrupt", out=[["2000", COMPLETE]]),
    )
    tracefmt.write_perfetto(path, tmp_path / "out")
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
