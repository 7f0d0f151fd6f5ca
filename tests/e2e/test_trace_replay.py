# SPDX-License-Identifier: MIT
"""A guest's whole trace, from its first instruction, replays into the CP without an emulator."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from waiting import LIMIT, run_within

from zvmlab.base.errors import EXIT_FAILED, EXIT_PASS, EXIT_USAGE
from zvmlab.base.progress import Progress
from zvmlab.cp.faults import Fault, armed
from zvmlab.cp.peer import EventType, Peer
from zvmlab.cp.replay import program as replayer
from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import Element, Record
from zvmlab.monitor.monitor import Capture, DataSets, compare, deliver

if TYPE_CHECKING:
    from conftest import Build

pytestmark = pytest.mark.first_kernel

SETS = 20
SEVER_CODE = 0x2A


def use_everything(guest: Guest, folder: Path) -> None:
    """Sets, a peer's messages, CP commands, a fault, a sever, a new start."""
    element = Element.of([Record(4, 3, 1, bytes(900))] * 5)
    guest.agent.modprobe("monreader").check()
    with Capture(guest.control, folder / "sets") as capture:
        with DataSets(guest.agent) as reader:
            for _ in range(SETS):
                assert deliver(guest.control, "sample", element).fate == "delivered"
                compare(reader.read(), capture.next())
            with armed(
                guest.control, Fault("iucv.reply", "rc", 1, name="*MONITOR", nth=1)
            ) as rules:
                deliver(guest.control, "sample", element)
                with pytest.raises(OSError):
                    reader.read()
            assert rules[0].fired == 1
            guest.control.execute("monitor-sever", code=SEVER_CODE)
        with DataSets(guest.agent) as reader:
            deliver(guest.control, "event", element)
            reader.read()
    with Peer(guest.control, "TESTER") as peer:
        assert guest.cp("QUERY NAMES").rc == 0
        path = peer.connect(guest.config.cp.get("userid", "LINUX001"), ipuser=b"nobody").path
        peer.wait(EventType.SEVERED, 60, path)


def replayed(trace: Path) -> subprocess.CompletedProcess[str]:
    """The replayer's report about a trace."""
    return run_within(LIMIT, [replayer(Progress(quiet=True)), trace], text=True)


def records(lines: Sequence[str]) -> int:
    """How many they stand for: some say how often the one before came again."""
    parsed = [json.loads(line) for line in lines]
    return sum(record["times"] if record["call"] == "repeat" else 1 for record in parsed)


@pytest.mark.zvmlab(trace_data="full", cpus=2)
def test_trace_replays_and_a_change_is_found(
    guest: Guest, program: Build, zvmlab_dir: Path, request: pytest.FixtureRequest
) -> None:
    use_everything(guest, zvmlab_dir)
    guest.agent.write_file("/tmp/sthyi", program("sthyi").read_bytes(), 0o755)
    guest.agent.run(["/tmp/sthyi", "call", "0", "0"]).check()
    guest.shut_down()
    trace = guest.channels.trace
    assert trace is not None
    started = time.monotonic()
    done = replayed(trace)
    seconds = time.monotonic() - started
    assert done.returncode == EXIT_PASS, done.stdout
    lines = trace.read_text(encoding="ascii").splitlines(keepends=True)
    assert f": {records(lines)} records; the core writes the same again" in done.stdout
    calls = {json.loads(line)["call"] for line in lines}
    assert calls >= {"configuration", "ipl", "diag.64", "interrupt", "event", "iucv.reply", "sthyi"}
    assert calls >= {"fault.arm", "fault.disarm", "monitor.deliver", "monitor.sever", "command"}
    assert {json.loads(line)["cpu"] for line in lines} == {None, 0, 1}
    request.node.user_properties += [
        ("trace-bytes", trace.stat().st_size),
        ("trace-records", records(lines)),
        ("replay-seconds", round(seconds, 3)),
    ]

    changed = zvmlab_dir / "changed.jsonl"
    where = next(n for n, line in enumerate(lines) if '"call":"iucv.reply"' in line)
    lines[where] = re.sub(r'"cc":\d', '"cc":3', lines[where])
    changed.write_text("".join(lines), encoding="ascii")
    done = replayed(changed)
    assert done.returncode == EXIT_FAILED
    assert done.stdout.startswith(
        f"line {where + 1}: record {records(lines[:where])} (iucv.reply) differs from byte"
    )

    cut = zvmlab_dir / "cut.jsonl"
    cut.write_text("".join(lines[:where]) + lines[where][:40], encoding="ascii")
    done = replayed(cut)
    assert done.returncode == EXIT_USAGE
    assert done.stdout.startswith(f"line {where + 1}: it is cut off;")


def test_short_trace_is_refused(guest: Guest) -> None:
    assert guest.channels.trace is not None
    done = replayed(guest.channels.trace)
    assert done.returncode == EXIT_USAGE
    assert done.stdout.startswith("line 1: the trace was made with trace-data=short")
