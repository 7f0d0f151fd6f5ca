# SPDX-License-Identifier: MIT
"""``zvmlab replay``: what a control socket's clients did, done again without them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from controlled import TIMEOUT, Server

from zvmlab.base.errors import EXIT_FAILED, EXIT_PASS, EXIT_USAGE
from zvmlab.cli.main import main
from zvmlab.cp.peer import EventType, Peer

SEGMENT = 0x800000


@pytest.fixture(name="traced")
def _traced(tmp_path: Path) -> Iterator[Server]:
    """A CP without an emulator that records all a replay needs."""
    server = Server(tmp_path, "seed=5")
    yield server
    if server.process.poll() is None:
        server.stop()


def use_socket(server: Server, folder: Path) -> None:
    """Commands of every kind; a peer that goes without a word."""
    image, contents = folder / "image", folder / "contents"
    contents.write_bytes(bytes(range(256)) * (SEGMENT // 256))
    with server.connect() as control:
        control.cp("MONITOR SAMPLE ENABLE ALL\nMONITOR SAMPLE START")
        control.execute("segment-load", name="MONDCSS", file=contents)
        control.execute("segment-write", name="DATA", offset=5, data=b"hello")
        rule: dict[str, Any] = {"kind": "rc", "value": 9, "when": "nth", "n": 1}
        control.execute("fault-arm", point="iucv.connect", **rule)
        with Peer(control, "ONE") as one, Peer(control, "TWO") as two:
            there = one.connect("TWO", ipuser=b"me").path
            here = two.wait(EventType.PENDING, TIMEOUT).path
            two.accept(here)
            one.send(there, bytes(5000), trgcls=7, answer_length=20)
            message = two.wait(EventType.MSG_PENDING, TIMEOUT)
            assert two.receive(here, message.msgid, message.trgcls, 5000) == bytes(5000)
            control.execute("monitor-tick")
            control.execute("state-save", file=image)
            two.reply(here, message.msgid, message.trgcls, b"thanks")
            assert one.wait(EventType.COMPLETE, TIMEOUT, there) is not None
        control.execute("state-load", file=image)
        control.execute("peer-create", name="ONE")
        control.execute("fault-disarm")


def test_all_that_clients_do(
    traced: Server, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    use_socket(traced, tmp_path)
    traced.stop()
    lines = traced.trace.read_text(encoding="ascii").splitlines()
    calls = {json.loads(line)["call"] for line in lines}
    assert calls >= {"command", "fault.arm", "fault.disarm", "iucv.logon", "iucv.logoff"}
    assert calls >= {"iucv.attach", "segment.write", "state.load", "monitor.tick", "iucv.send"}
    assert main(["replay", str(traced.trace)]) == EXIT_PASS
    said = capfd.readouterr().out
    assert said == f"{traced.trace}: {len(lines)} records; the core writes the same again\n"


def test_the_first_difference(
    traced: Server, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with traced.connect() as control:
        control.cp("QUERY USERID")
        control.cp("QUERY NAMES")
    traced.stop()
    lines = traced.trace.read_text(encoding="ascii").splitlines(keepends=True)
    number = next(n for n, line in enumerate(lines, 1) if "QUERY USERID" in line)
    changed = tmp_path / "changed"
    lines[number - 1] = lines[number - 1].replace('"rc":0', '"rc":1')
    changed.write_text("".join(lines), encoding="ascii")
    assert main(["replay", str(changed)]) == EXIT_FAILED
    first, recorded, again, _ = capfd.readouterr().out.splitlines()
    assert first.startswith(f"line {number}: record {number - 1} (command) differs from byte ")
    assert recorded == "recorded: " + lines[number - 1].rstrip()
    assert again == "replayed: " + lines[number - 1].rstrip().replace('"rc":1', '"rc":0')


def test_files_that_do_not_replay(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"\x7fELF\n")
    assert main(["replay", str(other)]) == EXIT_USAGE
    assert capfd.readouterr().out.startswith("line 1: it is not a record of a CP trace\n")
    other.write_bytes(b'{"seq":1}\n')
    assert main(["replay", str(other)]) == EXIT_USAGE
    assert capfd.readouterr().out.startswith("line 1: ")
    assert main(["replay", str(tmp_path / "none")]) == EXIT_USAGE
    assert "cannot be read: No such file or directory" in capfd.readouterr().err


def test_a_short_trace(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    server = Server(tmp_path, replays=False)
    server.connect().close()
    server.stop()
    assert main(["replay", str(server.trace)]) == EXIT_USAGE
    assert "line 1: the trace was made with trace-data=short" in capfd.readouterr().out
