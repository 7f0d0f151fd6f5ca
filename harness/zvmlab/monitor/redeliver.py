# SPDX-License-Identifier: MIT
"""Recorded data sets, delivered once more: ``zvmlab redeliver``.

Every set goes to where it was in the segment and is announced by a message of *MONITOR, so that
a reader gets the very bytes.  It is stored when nothing that a reader still has lies there, and
at its time: as far behind the set before as the recording says, or so many times faster.

Traces are replayed by `zvmlab.cp.replay`, which is something else.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from zvmlab.base.errors import Timeout, UsageError, ZvmlabError
from zvmlab.base.limit import Limit
from zvmlab.cp.control import Control, ControlError
from zvmlab.mondata.recorded import TOD_SECOND, Recorded
from zvmlab.mondata.records import EVENT, FRAME_SIZE, MCE_SIZE

WRITE_SIZE = 4 << 20
"""Bytes that one request to the control socket carries."""
LONGEST_GAP = 3600.0
"""Seconds between two sets at most: CP's longest sample interval."""
_CONTROL_UNIT = 16
_LOOK_SECONDS = 0.5


@dataclass
class Count:
    """Counts of delivered data."""

    sets: int = 0
    size: int = 0


@dataclass
class _Segment:
    name: str
    start: int
    end: int


@dataclass
class Redelivery:
    """Delivers sets to whoever is connected to *MONITOR.

    *speed* is how many times faster than recorded; None: as fast as readers take them.
    *timeout* limits the wait for a reader to connect, and for one that does not reply.
    """

    control: Control
    speed: float | None = 1.0
    timeout: float = 60.0
    count: Count = field(default_factory=Count)
    _outstanding: dict[int, list[range]] = field(default_factory=dict)
    _clock: tuple[float, int] | None = None

    def run(self, sets: Iterable[Recorded]) -> Count:
        """Deliver everything, up to the last reply."""
        segment = self._connected()
        for data_set in sets:
            places = self._places(data_set, segment)
            self._pace(data_set)
            self._wait_for_room(data_set, places)
            self._deliver(data_set, places, segment)
        while self._outstanding:
            self._wait_for_reply()
        return self.count

    def _connected(self) -> _Segment:
        """The segment that the readers use, once there is one."""
        limit = Limit(self.timeout)
        while not (monitor := self.control.execute("query-monitor"))["users"]:
            try:
                self.control.wait_event("monitor-connected", limit.left())
            except Timeout:
                raise Timeout(
                    f"nobody has connected to *MONITOR within {limit}; open"
                    " /dev/monreader in the guest"
                ) from None
        if monitor["sample"]["active"] or monitor["event"]["active"]:
            raise UsageError(
                "CP collects data of its own; first stop it:"
                " zvmlab cp 'MONITOR SAMPLE STOP' 'MONITOR EVENT STOP'"
            )
        segments = self.control.execute("query-segments")["segments"]
        found = next(segment for segment in segments if segment["name"] == monitor["segment"])
        return _Segment(found["name"], found["start"], found["end"])

    def _users(self) -> list[dict[str, Any]]:
        users: list[dict[str, Any]] = self.control.execute("query-monitor")["users"]
        if not users:
            raise ZvmlabError(f"no reader is left; {self.count.sets} sets were delivered")
        return users

    def _places(self, recording: Recorded, segment: _Segment) -> list[range]:
        """The ranges of its records and of its control area behind them."""
        places = [range(part.mce.start, part.mce.end + 1) for part in recording.parts]
        for number, place in enumerate(places, 1):
            if place.start < segment.start or place.stop - 1 > segment.end:
                pages = f"{place.start // FRAME_SIZE:X}-{(place.stop - 1) // FRAME_SIZE:X}"
                raise UsageError(
                    f"element {number} of set {recording.number} lies in pages {pages}, {segment.name}"
                    f" has {segment.start // FRAME_SIZE:X}-{segment.end // FRAME_SIZE:X};"
                    " start the guest with a --segment that has them"
                )
        size = len(places) * MCE_SIZE
        area = range(recording.control, recording.control + size)
        if (
            recording.control < segment.start
            or area.stop - 1 > segment.end
            or _meet([area], places)
        ):
            area = self._free(size, places, segment)
        return [*places, area]

    def _free(self, size: int, places: list[range], segment: _Segment) -> range:
        """Room for a control area of which nothing tells where it was: as high as can be."""
        taken = [*places, *(one for each in self._outstanding.values() for one in each)]
        at = (segment.end + 1 - size) // _CONTROL_UNIT * _CONTROL_UNIT
        while hits := _meet([range(at, at + size)], taken):
            at = (min(one.start for one in hits) - size) // _CONTROL_UNIT * _CONTROL_UNIT
            if at < segment.start:
                if not self._outstanding:
                    raise UsageError(
                        f"{segment.name} has no room for a set and its control area;"
                        " start the guest with a larger --segment"
                    )
                self._wait_for_reply()
                return self._free(size, places, segment)
        return range(at, at + size)

    def _pace(self, recording: Recorded) -> None:
        """Wait until it is the set's time."""
        tod = recording.tod
        if self.speed is None or tod == 0:
            return
        if self._clock is None:
            self._clock = (time.monotonic(), tod)
            return
        began, before = self._clock
        gap = min(max(tod - before, 0) / TOD_SECOND, LONGEST_GAP) / self.speed
        due = began + gap
        while (left := due - time.monotonic()) > 0:
            try:
                self.control.wait_event("monitor-severed", left)
            except Timeout:
                break
            self._users()
        self._clock = (due, max(tod, before))

    def _wait_for_room(self, recording: Recorded, places: list[range]) -> None:
        while True:
            most = min(user["limit"] for user in self._users())
            taken = [place for each in self._outstanding.values() for place in each]
            if len(self._outstanding) < most and not _meet(places, taken):
                return
            self._wait_for_reply(f"room for set {recording.number}")

    def _wait_for_reply(self, purpose: str = "the last replies") -> None:
        """Until a set is given back."""
        before = len(self._outstanding)
        limit = self.control.limit(self.timeout)
        while True:
            for number in list(self._outstanding):
                if not self._is_there(number):
                    del self._outstanding[number]
            if len(self._outstanding) < before:
                return
            self._users()
            if limit.over:
                raise Timeout(
                    f"waited {limit} for {purpose}; the reader has not replied to {before} sets"
                )
            try:
                self.control.wait_event("monitor-replied", _LOOK_SECONDS)
            except Timeout:
                continue

    def _is_there(self, number: int) -> bool:
        try:
            return bool(self.control.execute("query-set", set=number)["waiting"])
        except ControlError:
            return False

    def _write(self, segment: _Segment, address: int, data: bytes) -> None:
        for at in range(0, len(data), WRITE_SIZE):
            self.control.execute(
                "segment-write",
                name=segment.name,
                offset=address - segment.start + at,
                data=data[at : at + WRITE_SIZE],
            )

    def _deliver(self, recording: Recorded, places: list[range], segment: _Segment) -> None:
        area = places[-1]
        for part in recording.parts:
            self._write(segment, part.mce.start, part.data)
            self.count.size += len(part.data)
        self._write(segment, area.start, b"".join(part.mce.encode() for part in recording.parts))
        self.control.forget_events("monitor-replied")
        try:
            answer = self.control.execute(
                "monitor-raw",
                kind="event" if recording.parts[0].mce.type == EVENT else "sample",
                **{"mca-start": area.start, "mca-end": area.stop - 1},
            )
        except ControlError:
            self._users()  # the last one may have gone a moment ago
            raise
        if answer["fate"] != "delivered":
            raise ZvmlabError(f"set {recording.number} was not delivered: {answer['fate']}")
        self._outstanding[answer["set"]] = places
        self.count.sets += 1


def _meet(some: list[range], others: list[range]) -> list[range]:
    """Ranges of the others that overlap any of these."""
    return [
        other
        for other in others
        if any(one.start < other.stop and other.start < one.stop for one in some)
    ]
