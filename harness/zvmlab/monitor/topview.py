# SPDX-License-Identifier: MIT
"""Lines of ``monread --activity`` as the tables of ``zvmlab top``.

    view = View(rows=20)
    view.take(json.loads(line))
    console.print(view)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.table import Table
from rich.text import Text

from zvmlab.base.plain import harmless

BAR = 24
EVENTS = 5
HISTORY = 36
_BLOCKS = " ▁▂▃▄▅▆▇█"


def bar(share: float, width: int = BAR) -> str:
    """A share of 1 as a line of blocks; more than 1 is full."""
    full = round(min(max(share, 0.0), 1.0) * width)
    return "█" * full + "·" * (width - full)


def spark(values: deque[float], most: float) -> str:
    """A column for each value."""
    top = len(_BLOCKS) - 1
    return "".join(_BLOCKS[round(min(max(v / most, 0.0), 1.0) * top)] for v in values)


class View:
    """The last interval, and a little of those before."""

    def __init__(self, rows: int = 15) -> None:
        self.rows = rows
        self.line: Mapping[str, Any] | None = None
        self.lost = self.overflows = 0
        self._events: deque[tuple[str, str]] = deque(maxlen=EVENTS)
        self._busy: dict[str, deque[float]] = {}

    def take(self, line: Mapping[str, Any]) -> None:
        """One more interval."""
        self.line = line
        self.lost += line["lost"]
        self.overflows += line["overflows"]
        self._events += [(line["until"][11:19], text) for text in line["events"]]
        for kind, percent in line["busy"].items():
            self._busy.setdefault(kind, deque(maxlen=HISTORY)).append(percent)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.line is None:
            yield Text("no interval has ended so far")
            return
        lists = Table.grid(padding=(0, 4))
        lists.add_row(self._users(self.line), self._devices(self.line))
        yield Group(self._head(self.line), Text(""), self._processors(self.line), Text(""), lists)
        for time, text in self._events:
            yield Text(harmless(f"{time}  {text}", lines=False))

    def _head(self, line: Mapping[str, Any]) -> Text:
        words = [f"{line['until'][:10]} {line['until'][11:19]}"]
        words.append(f"{line['sets']} sets, {line['records']} records")
        words += [
            f"{line[name]:.1f} {text}/s"
            for name, text in (
                ("page-reads", "pages read"),
                ("page-writes", "pages written"),
                ("starts", "I/Os"),
            )
            if name in line
        ]
        head = Text("   ".join(words), style="bold")
        if self.lost or self.overflows:
            head.append(f"   {self.lost} sets lost, {self.overflows} overflows", style="bold red")
        return head

    def _processors(self, line: Mapping[str, Any]) -> Table:
        made = Table(box=None, pad_edge=False, header_style="dim")
        made.add_column("processors")
        made.add_column("busy", justify="right")
        made.add_column("")
        made.add_column("before", no_wrap=True)
        for kind, percent in sorted(line["busy"].items()):
            made.add_row(
                kind, f"{percent:.1f} %", bar(percent / 100), spark(self._busy[kind], 100.0)
            )
        return made

    def _users(self, line: Mapping[str, Any]) -> Table:
        users = sorted(line["users"], key=lambda user: (-user["seconds"], user["user"]))
        rows = [(user["user"], f"{user['seconds']:.2f}", user["seconds"]) for user in users]
        return self._ranking("user", "CPU s", rows)

    def _devices(self, line: Mapping[str, Any]) -> Table:
        devices = sorted(line["devices"], key=lambda device: (-device["starts"], device["device"]))
        rows = [
            (device["device"], f"{device['starts']:.1f}", device["starts"]) for device in devices
        ]
        return self._ranking("device", "I/Os/s", rows)

    def _ranking(self, what: str, unit: str, rows: list[tuple[str, str, float]]) -> Table:
        made = Table(box=None, pad_edge=False, header_style="dim")
        made.add_column(what, no_wrap=True)
        made.add_column(unit, justify="right")
        made.add_column("")
        for name, text, value in rows[: self.rows]:
            # Names come from the data: no markup, no control characters of a terminal.
            made.add_row(Text(harmless(name, lines=False)), text, bar(value / rows[0][2], BAR // 2))
        return made
