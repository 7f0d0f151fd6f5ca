# SPDX-License-Identifier: MIT
"""``zvmlab fabricate``: monitor data of a system that a file describes."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from zvmlab.base.errors import EXIT_PASS, UsageError
from zvmlab.cli.options import hours_option, top_command, workload_option
from zvmlab.fabricate.file import read_workload
from zvmlab.fabricate.model import Config, Model, Totals
from zvmlab.mondata.monwrite import END_OF_DATA

MONWRITE, STREAM = FORMATS = ("monwrite", "stream")


def add_commands(commands: Any) -> None:
    """fabricate."""
    parser = top_command(
        commands,
        "fabricate",
        "  zvmlab fabricate --workload examples/busy-day.json --out day.monwrite\n"
        "  zvmlab fabricate --workload examples/storm.json --format stream --out - | monread -",
    )
    add = parser.add_argument
    workload_option(parser, "description of the system (docs/fabricate.md)")
    add("--out", required=True, metavar="FILE", help="output file; - is standard output")
    add(
        "--format",
        choices=FORMATS,
        default=MONWRITE,
        help="a MONWRITE file (default), or the bytes of /dev/monreader",
    )
    add(
        "--layout",
        action="append",
        default=[],
        type=Path,
        metavar="PAGE",
        help="lay out a record as this saved page of IBM's z/VM Monitor Records says; may be "
        "repeated",
    )
    hours_option(parser)
    parser.set_defaults(command=run_fabricate)


@contextlib.contextmanager
def _opened(name: str) -> Iterator[BinaryIO]:
    if name == "-":
        yield sys.stdout.buffer
        return
    with open(name, "wb") as file:
        yield file


def fabricate(config: Config, file: BinaryIO, format: str, pages: Sequence[Path] = ()) -> Totals:
    """Write all of it, in storage that does not depend on how much that is."""
    with Model(config, pages) as model:
        for found in model.sets():
            file.writelines(found.monwrite() if format == MONWRITE else found.stream())
        if format == MONWRITE:
            file.write(END_OF_DATA)
        file.flush()
        return model.totals()


def summary(totals: Totals) -> str:
    """One line for people."""
    text = f"{totals.sets} data sets, {totals.records} records, {totals.bytes} bytes"
    if totals.suspensions or totals.sets_lost or totals.records_lost:
        text += (
            f"; lost: {totals.sets_lost} data sets, {totals.records_lost} event records in"
            f" {totals.suspensions} suspensions"
        )
    return text


def run_fabricate(arguments: argparse.Namespace) -> int:
    """See fabricate()."""
    if arguments.workload is None:
        raise UsageError("--workload is missing: name the file of a system (docs/fabricate.md)")
    config = read_workload(arguments.workload, arguments.hours)
    with _opened(arguments.out) as file:
        totals = fabricate(config, file, arguments.format, arguments.layout)
    print(summary(totals), file=sys.stderr)
    return EXIT_PASS
