# SPDX-License-Identifier: MIT
"""Files that an earlier state of the project made are still accepted, and mean the same.

Those of ``before`` were made by commit 7594aa1::

    zvmlab run --kernel bookworm --workload workload.json --hours 0.02 --faults faults.json \
        --trace-data full --keep DIR -- monread --write-monwrite /out/read.monwrite

A change after which CP rightly writes another trace makes ``trace.jsonl.gz`` again, and says so.
It was made again when the configuration got the machine, and the guest its agent's path, and its
configuration has conmode since there is one; QUERY CONSOLE in it says STOP since CP says so.
"""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import pytest
from monread_tool import build_monread, run

from zvmlab.base.errors import EXIT_PASS
from zvmlab.cli.main import main
from zvmlab.cp.faults import Fault
from zvmlab.cp.faults_file import load

BEFORE = Path(__file__).parent / "before"
FABRICATED = {
    "monwrite": "2e5036661c1593621ad67cd031f78bf8a626762add8ba67906df4257081e65ae",
    "stream": "1b8d49df336aaf65d075af3b64e9fb0fa87d76cae9bea2354f73ab12c895aa01",
}
"""SHA-256 of what is fabricated since D6R3 has its public layout, and D1R11 ends event data."""
READ = (
    "17 sets complete, 0 lost, 0 overflows; 17 elements, 148 records, 21052 bytes of records; "
    "0 violations\n"
)
STREAM = "bd6234193bcc560d90fcf2e8ca81e0489875267a0a0ba06122deb7e1141988b5"
"""SHA-256 of the stream that this commit made of the file of MONWRITE."""


def _unpacked(name: str, folder: Path) -> Path:
    file = folder / name
    file.write_bytes(gzip.decompress((BEFORE / f"{name}.gz").read_bytes()))
    return file


def test_a_trace_replays(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    trace = _unpacked("trace.jsonl", tmp_path)
    assert main(["replay", str(trace)]) == EXIT_PASS
    # The replayer may have to be built first, which is told on standard error.
    written = f"{trace}: 281 records; the core writes the same again\n"
    assert capfd.readouterr().out == written


def test_a_file_of_faults_is_accepted() -> None:
    assert load(BEFORE / "faults.json") == (
        Fault("iucv.connect", "rc", 11, name="*MONITOR", user="LINUX", nth=2),
        Fault("interrupt", "reorder", name="*MONITOR", type=9, every=10),
        Fault("iucv.reply", "rc", 9, path=1, probability=0.25, times=5),
        Fault("diag08.command", "rc", 3, name="QUERY", every=2, times=1),
    )


@pytest.mark.parametrize("format", sorted(FABRICATED))
def test_a_workload_gives_the_same_bytes(tmp_path: Path, format: str) -> None:
    out = tmp_path / "out"
    words = [str(BEFORE / "workload.json"), "--format", format, "--out", str(out)]
    assert main(["fabricate", "--workload", *words]) == EXIT_PASS
    assert hashlib.sha256(out.read_bytes()).hexdigest() == FABRICATED[format]


def test_a_file_of_monwrite_is_read(tmp_path: Path) -> None:
    file = _unpacked("read.monwrite", tmp_path)
    out = tmp_path / "stream"
    done = run(build_monread(), "--check", "--monwrite", file, "--write-stream", out)
    assert (done.returncode, done.stderr) == (EXIT_PASS, READ)
    assert hashlib.sha256(out.read_bytes()).hexdigest() == STREAM
