# SPDX-License-Identifier: MIT
"""zvmlab run --workload: a program in the guest reads the monitor data of a modelled system."""

from __future__ import annotations

import argparse
import io
import json
from pathlib import Path

import pytest

from zvmlab.builder.guesttools import tool
from zvmlab.cli import workload as cli_workload
from zvmlab.cli.fabricate import STREAM, fabricate
from zvmlab.fabricate.file import read_workload
from zvmlab.fabricate.model import Config
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest

pytestmark = pytest.mark.first_kernel

WORKLOAD = {
    "hours": 0.5,
    "segment": {"megabytes": 1, "partition": 40, "sample_config": 8, "event_config": 4},
    "users": [{"name": "LINUX", "count": 60, "cpu_percent": 2, "transactions": 1}],
    "devices": [{"kind": "dasd", "first": "1000", "count": 8}],
    "events": [
        {"at": "00:02", "what": "storm", "per_second": 200, "minutes": 1},
        {"at": "00:05", "what": "monitor", "command": "SAMPLE DISABLE NETWORK"},
    ],
}


@pytest.fixture
def workload(tmp_path: Path) -> Config:
    """Half an hour in a segment so small that its areas are used again and again."""
    file = tmp_path / "workload.json"
    file.write_text(json.dumps(WORKLOAD))
    return read_workload(file)


@pytest.fixture
def guest_config(zvmlab_kernel: str, workload: Config) -> GuestConfig:
    """Guests have monread, and the workload's segment."""
    return GuestConfig(kernel=zvmlab_kernel, files=tool("monread"), busybox=True)._replace(
        segments=(cli_workload.segment(workload),),
    )


def _run(guest: Guest, workload: Config, folder: Path, *argv: str) -> int | None:
    arguments = argparse.Namespace(pace="max", timeout=300.0, out=folder)
    status = cli_workload.run(guest, [*argv], b"", workload, arguments).status
    cli_workload.fetch(guest, [*argv], folder)
    return status


def test_the_guest_reads_what_fabricate_writes(
    guest: Guest, workload: Config, tmp_path: Path
) -> None:
    """Every byte, addresses in the segment included; files below /out come back."""
    assert _run(guest, workload, tmp_path, "/bin/monread", "--write-stream=/out/data") == 0
    wanted = io.BytesIO()
    totals = fabricate(workload, wanted, STREAM)
    assert totals.sets > 150 and totals.sets_lost == 0
    assert (tmp_path / "data").read_bytes() == wanted.getvalue()


def test_a_program_that_ends_early_has_had_enough(
    guest: Guest, workload: Config, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three sets are read; its status counts."""
    words = ("/bin/monread", "--sets=3", "--write-stream=/out/three")
    assert _run(guest, workload, tmp_path, *words) == 0
    errors = capsys.readouterr().err
    assert "no reader is left" in errors and f"is now {tmp_path / 'three'}, " in errors


@pytest.mark.full
def test_a_program_that_does_not_read(
    guest: Guest, workload: Config, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is waited for once it has ended, and what is not there does not come."""
    words = ("/bin/busybox", "sh", "-c", "exit 7", "/out/nothing")
    assert _run(guest, workload, tmp_path, *words) == 7
    assert "cannot read /out/nothing in the guest: No such file" in capsys.readouterr().err
