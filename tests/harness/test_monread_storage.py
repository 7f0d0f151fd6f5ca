# SPDX-License-Identifier: MIT
"""monread takes the same storage for any amount of data, and for sets of any size."""

from __future__ import annotations

import resource
import subprocess
from pathlib import Path

import pytest
from monread_tool import END, SECONDS, START, stream
from test_monread_html import minute

from zvmlab.base.errors import EXIT_PASS
from zvmlab.base.progress import Progress
from zvmlab.cli.top import program
from zvmlab.mondata.records import SAMPLE, Mce, Record

# All of it, libraries included; a set of 64 MiB alone would be more.
LIMIT = 40 << 20
FRAMES = 16384


def outputs(folder: Path) -> list[str | Path]:
    """All that there are."""
    return [
        *("--write-stream", folder / "stream", "--write-monwrite", folder / "monwrite"),
        *("--csv", folder / "csv", "--html", folder / "page", "--activity"),
    ]


def feed(folder: Path, pieces: list[bytes], times: int) -> str:
    """Give the pieces in turn to monread, whose storage is limited; the counts at its end."""
    with (folder / "said").open("w") as said:
        process = subprocess.Popen(
            [program(Progress(quiet=True)), "-", *outputs(folder)],
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT)),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=said,
        )
        assert process.stdin is not None
        for _ in range(times):
            for piece in pieces:
                process.stdin.write(piece)
        process.stdin.close()
        code = process.wait(SECONDS)
    text = (folder / "said").read_text()
    assert code == EXIT_PASS, text
    return text


def test_one_set_of_64_mib(tmp_path: Path) -> None:
    frame = Record(4, 250, 1, bytes(4056 - 20)).encode() + Record(1, 13).encode()
    frame = frame.ljust(4096, b"\0")
    size = FRAMES * len(frame) + len(END.encode())
    head = Mce(SAMPLE, 0x4800, 0, START, START + size - 1).encode()
    pieces = [head, *[frame * 64] * (FRAMES // 64), END.encode()]
    said = feed(tmp_path, pieces, 1)
    assert f"; 1 elements, {FRAMES * 2 + 1} records" in said
    assert (tmp_path / "stream").stat().st_size == len(head) + size


@pytest.mark.parametrize("days", [1, 10])
def test_any_number_of_intervals(tmp_path: Path, days: int) -> None:
    sets = [stream(*minute(number)) for number in range(1, 61)]
    assert f"{days * 24 * 60 * 2} elements" in feed(tmp_path, sets, days * 24)
