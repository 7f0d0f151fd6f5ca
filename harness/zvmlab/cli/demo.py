# SPDX-License-Identifier: MIT
"""make demo: a monreader reads data sets in a guest, every byte is compared."""

from __future__ import annotations

import itertools
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console as Terminal
from rich.live import Live
from rich.table import Table

from zvmlab.base.errors import EXIT_PASS, UsageError
from zvmlab.base.plain import harmless
from zvmlab.base.progress import Progress
from zvmlab.base.tree import TREE
from zvmlab.fabricate.file import read_workload
from zvmlab.fabricate.model import Model
from zvmlab.guest.artifacts import prepare
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import domain_names
from zvmlab.monitor.monitor import Capture, CapturedSet, DataSets, compare, deliver

MAX_SETS = 11_000
"""A little less than the workload has."""
WORKLOAD = TREE / "examples/busy-day.json"
_VISIBLE_ROWS = 20
# Reads of several sizes see the same stream.
_READ_SIZES = (65536, 4096, 1000, 13)


@dataclass(frozen=True)
class Row:
    """A row of the table: one set."""

    number: int
    kind: str
    mces: int
    domains: str
    records: int
    size: int
    seconds: float


@dataclass
class Tally:
    """All sets so far."""

    rows: list[Row] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)
    last: float = field(default_factory=time.monotonic)

    def add(self, found: CapturedSet) -> Row:
        """Count a set that has been compared."""
        now = time.monotonic()
        parts = found.parts()
        bits = 0
        for part in parts:
            bits |= part.mce.domains
        row = Row(
            len(self.rows) + 1,
            found.kind,
            len(parts),
            " ".join(domain_names(bits)),
            sum(len(list(part.records())) for part in parts),
            len(found.stream),
            now - self.last,
        )
        self.last = now
        self.rows.append(row)
        return row

    def summary(self) -> str:
        """One paragraph for people."""
        kinds = Counter(row.kind for row in self.rows)
        each = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        records = sum(row.records for row in self.rows)
        size = sum(row.size for row in self.rows)
        return (
            f"{len(self.rows)} data sets ({each}), {records} records, {size} bytes read by"
            f" monreader in {self.last - self.started:.1f} s; all equal to what CP stored"
        )


def table(rows: list[Row]) -> Table:
    """The last rows, as a table."""
    made = Table(title="data sets read from /dev/monreader in the guest")
    for name in ("set", "kind", "MCEs", "domains", "records", "bytes", "after"):
        left = name in ("kind", "domains")
        made.add_column(name, justify="left" if left else "right", no_wrap=name != "domains")
    for row in rows[-_VISIBLE_ROWS:]:
        made.add_row(
            str(row.number),
            row.kind,
            str(row.mces),
            row.domains,
            str(row.records),
            str(row.size),
            f"{row.seconds * 1000:.0f} ms",
        )
    return made


def _plain(row: Row) -> str:
    return (
        f"set {row.number:4} {row.kind:13} {row.mces:3} MCE {row.records:5} records"
        f" {row.size:8} bytes after {row.seconds * 1000:4.0f} ms  {row.domains}"
    )


def _sets(guest: Guest, sets: int, folder: Path, status: list[str]) -> Iterator[CapturedSet]:
    """Read that many sets, each compared before it is given out; *status* is CP's view of it."""
    control = guest.control
    with (
        Capture(control, folder / "sets") as capture,
        DataSets(guest.agent) as reader,
        Model(read_workload(WORKLOAD)) as model,
    ):
        for count, made in enumerate(itertools.islice(model.sets(), sets)):
            deliver(control, made.kind, made.element())
            wanted = capture.next()
            # Not more than a few hundred reads a set, however small they should be.
            size = max(_READ_SIZES[count % len(_READ_SIZES)], len(made.data) // 512)
            compare(reader.read(size), wanted)
            yield wanted
        status += guest.cp("QUERY MONITOR").response.splitlines()


def _show(sets: Iterator[CapturedSet], tally: Tally) -> None:
    terminal = Terminal()
    if not terminal.is_terminal:
        for found in sets:
            print(_plain(tally.add(found)), flush=True)
        return
    with Live(table([]), console=terminal, auto_refresh=False) as live:
        for found in sets:
            tally.add(found)
            live.update(table(tally.rows), refresh=True)


def demo(config: GuestConfig, sets: int, say: Callable[[str], None] = print) -> int:
    """Run it; the exit code.  Any difference raises SetsDiffer."""
    if not 1 <= sets <= MAX_SETS:
        raise UsageError(f"invalid --sets: {sets} (1 to {MAX_SETS})")
    begun = time.monotonic()
    progress = Progress()
    artifacts = prepare(config, progress)
    with Guest(config, artifacts=artifacts) as guest:
        with progress.step(f"booting {artifacts.kernel_version} with {config.cpus} CPU"):
            guest.boot()
        module = guest.agent.modprobe("monreader").check()
        for line in module.log:
            say(harmless(f"guest: {line.text}"))
        say(
            f"The data sets come from a modelled system, {WORKLOAD.name}, as fast as they are read."
        )
        say("The segment, IUCV and the driver work as in every other guest.")
        tally = Tally()
        status: list[str] = []
        # Beside the guest's sockets, so that they go with them, however this ends.
        _show(_sets(guest, sets, guest.logs, status), tally)
        for text in dict.fromkeys(status):
            if "DCSS NAME" in text or "USERS CONNECTED" in text:
                say(harmless(f"CP: {text.strip()}"))
        say(tally.summary())
        guest.shut_down()
    print(f"{time.monotonic() - begun:.1f} s in all", file=sys.stderr)
    return EXIT_PASS
