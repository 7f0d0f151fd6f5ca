# SPDX-License-Identifier: MIT
"""The traces of two guests on one CP replay together, without an emulator."""

from __future__ import annotations

import errno
import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from test_system import LIMIT, connected, send_and_compare
from waiting import run_within

from zvmlab.base.errors import EXIT_PASS, EXIT_USAGE
from zvmlab.base.progress import Progress
from zvmlab.cp.peer import EventType, Peer
from zvmlab.cp.replay import program as replayer
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.system import System


def replayed(traces: Sequence[Path]) -> subprocess.CompletedProcess[str]:
    """The replayer's report about the traces of a system."""
    return run_within(LIMIT, [replayer(Progress(quiet=True)), *traces], text=True)


def test_traces_replay(zvmlab_kernel: str, zvmlab_dir: Path) -> None:
    """The traces of both, from their first instructions to the end, and what is wrong without one."""
    with System(logs=zvmlab_dir / "system") as system:
        config = GuestConfig(kernel=zvmlab_kernel, cpus=2, trace_data="full")
        alice, bob = (system.guest(name, config) for name in ("ALICE", "BOB"))
        for guest in (alice, bob):
            guest.resume()
        for guest in (alice, bob):
            guest.boot()
        client, server = (guest.agent.worker("sockets") for guest in (alice, bob))
        calling, accepted = connected(client, server, "BOB")
        send_and_compare(calling, accepted, 16_000, 20)
        send_and_compare(accepted, calling, 100, 20)
        with Peer(alice.control, "TESTER") as peer:
            assert alice.cp("QUERY NAMES").rc == 0
            path = peer.connect("ALICE", ipuser=b"nobody").path
            peer.wait(EventType.SEVERED, LIMIT, path)
        bob.kill()
        # A recv() that sleeps when the partner goes ends otherwise (af_iucv's defect 3).
        assert calling.try_recv(1).errno in (0, errno.ENOTCONN)
    traces = [guest.channels.trace for guest in (alice, bob)]
    assert all(traces)
    done = replayed([trace for trace in traces if trace])
    assert done.returncode == EXIT_PASS, done.stdout
    records = 0
    for trace in filter(None, traces):
        lines = [json.loads(line) for line in trace.read_text("ascii").splitlines()]
        records += sum(r["times"] if r["call"] == "repeat" else 1 for r in lines)
        assert {r["call"] for r in lines} >= {
            "configuration",
            "logon",
            "ipl",
            "iucv.send",
            "logoff",
        }
    assert f"2 traces: {records} records; the core writes the same again" in done.stdout
    done = replayed([trace for trace in traces[:1] if trace])
    assert done.returncode == EXIT_USAGE
    assert re.search("no trace has record [0-9]+; give those of all machines", done.stdout)
