# SPDX-License-Identifier: MIT
"""``zvmlab run --workload``: a program in a guest reads the monitor data of a modelled system."""

from __future__ import annotations

import argparse
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from zvmlab.agent.results import RunResult
from zvmlab.agent.worker import Process
from zvmlab.base.errors import Timeout, UsageError, ZvmlabError
from zvmlab.base.limit import Limit
from zvmlab.cli.redeliver import speed
from zvmlab.fabricate.file import read_workload
from zvmlab.fabricate.model import Config, Model, ModelSet
from zvmlab.guest.names import DRIVER
from zvmlab.guest.guest import Guest
from zvmlab.mondata.recorded import Recorded
from zvmlab.mondata.records import Part
from zvmlab.monitor.redeliver import Redelivery

OUT = "/out"
OUT_MAX = 256 << 20
"""Bytes of each of its files."""
_CONNECT_SECONDS = 60.0
_LOOK_SECONDS = 0.1
_INTERRUPTED = 128 + signal.SIGINT
# In an argument, by itself or behind an equals sign.
_RESULT = re.compile(rf"{OUT}/[^\s=:,]+")


def segment(config: Config) -> str:
    """The definition of the segment for the guest's CP."""
    place = config.segment
    return f"MONDCSS {place.start:X}-{place.start + place.pages - 1:X} SC RSTD"


def read(arguments: argparse.Namespace) -> Config | None:
    """The workload that was asked for."""
    if arguments.workload is None:
        if arguments.hours is not None or arguments.pace != "max":
            raise UsageError("--hours and --pace need a workload; name one with --workload")
        return None
    speed(arguments.pace)
    if not arguments.out.is_dir():
        raise UsageError(f"invalid --out: {arguments.out} is not a folder")
    return read_workload(arguments.workload, arguments.hours)


def _recorded(found: ModelSet) -> Recorded:
    return Recorded(found.number, [Part(found.mce, bytes(found.data))], found.mca_start)


def sets(model: Model) -> Iterator[Recorded]:
    """The data sets to deliver."""
    return map(_recorded, model.sets())


def _connected(guest: Guest, process: Process) -> RunResult | None:
    """Wait until the program reads; its outcome if it ends before."""
    limit = Limit(_CONNECT_SECONDS)
    while not guest.control.execute("query-monitor")["users"]:
        try:
            return process.wait(_LOOK_SECONDS)
        except Timeout:
            if not limit.over:
                continue
        process.kill()
        process.wait()
        raise Timeout(f"'{' '.join(process.argv)}' did not open /dev/monreader within {limit}")
    return None


def _deliver(guest: Guest, config: Config, process: Process, pace: float | None) -> bool:
    """All sets, then SIGINT; False if the program has ended before, having had enough."""
    delivery = Redelivery(guest.control, pace, _CONNECT_SECONDS)
    with Model(config) as model:
        try:
            delivery.run(sets(model))
        except ZvmlabError as error:
            if guest.control.execute("query-monitor")["users"]:
                process.kill()
                process.wait()
                raise
            print(f"zvmlab: {error}", file=sys.stderr)
            return False
    count = delivery.count
    print(f"zvmlab: {count.sets} data sets, {count.size} bytes delivered", file=sys.stderr)
    process.signal(signal.SIGINT)
    return True


def run(
    guest: Guest, argv: list[str], stdin: bytes, config: Config, arguments: argparse.Namespace
) -> RunResult:
    """The program beside the workload; at its end the program is interrupted, as by Ctrl-C.

    That it then ends as who is interrupted does is no failure: its status is 0.
    """
    guest.agent.modprobe(DRIVER).check()
    guest.agent.mkdir(OUT).check()
    process = guest.agent.spawn(argv, stdin=stdin)
    result = _connected(guest, process)
    if result is None:
        interrupted = _deliver(guest, config, process, speed(arguments.pace))
        result = process.wait(arguments.timeout, kill=True)
        if interrupted and (result.signal == signal.SIGINT or result.status == _INTERRUPTED):
            result = result._replace(status=0, signal=None)
    return result


def fetch(guest: Guest, argv: list[str], folder: Path) -> None:
    """Files below /out that arguments name, as far as they are there.

    ZvmlabError if one of them is no file, or has no end; those before it are here then.
    """
    for path in dict.fromkeys(name for word in argv for name in _RESULT.findall(word)):
        try:
            size = guest.agent.size_of_file(path)
            if size is None:
                raise ZvmlabError(f"{path} in the guest is not a file; it is not fetched")
            data = guest.agent.read_file(path, OUT_MAX)
        except OSError as error:
            print(f"zvmlab: cannot read {path} in the guest: {error.strerror}", file=sys.stderr)
            continue
        target = folder / PurePosixPath(path).name
        target.write_bytes(data)
        print(f"zvmlab: the guest's {path} is now {target}, {len(data)} bytes", file=sys.stderr)
