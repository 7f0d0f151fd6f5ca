# SPDX-License-Identifier: MIT
"""Data sets from end to end: delivered by CP, read in the guest, compared.

    with Capture(guest.control, folder / "sets") as capture:
        with DataSets(guest.agent) as reader:
            deliver(guest.control, "sample", Element.of([Record(0, 1)]))
            compare(reader.read(), capture.next())
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zvmlab.agent.agent import Worker
from zvmlab.agent.calls import CallResult
from zvmlab.base.errors import EmulatorError, Timeout, ZvmlabError
from zvmlab.cp.control import Control
from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import Element, Part, parse_set

DEVICE = "/dev/monreader"
READ_SIZE = 64 * 1024
READ_SECONDS = 60.0
CAPTURE_SECONDS = 60.0
_POLL_SECONDS = 0.005
_START = (
    "MONITOR SAMPLE ENABLE ALL",
    "MONITOR EVENT ENABLE ALL",
    "MONITOR SAMPLE START",
    "MONITOR EVENT START",
)


class SetsDiffer(ZvmlabError):
    """The guest read data that CP did not store."""


@dataclass(frozen=True)
class Delivery:
    """Number of a set and the best that happened to it over all users."""

    number: int
    fate: str


def start_monitor(guest: Guest) -> None:
    """Collect everything, as the operator would ask for it."""
    for text in _START:
        answer = guest.cp(text)
        if answer.rc != 0:
            raise ZvmlabError(f"CP refused {text}: {answer.response.strip()}")


def element_arguments(element: Element) -> dict[str, Any]:
    """An element as the control socket takes it."""
    return {
        "type": element.type,
        "domains": element.domains,
        "byte3": element.byte3,
        "phase": element.phase,
        "data": element.data,
    }


def deliver(control: Control, kind: str, *elements: Element) -> Delivery:
    """Have CP store one data set into the segment and announce it to every user."""
    answer = control.execute(
        "monitor-deliver", kind=kind, elements=[element_arguments(e) for e in elements]
    )
    return Delivery(answer["set"], answer["fate"])


@dataclass(frozen=True)
class CapturedSet:
    """A data set as CP announced it: its bytes are what a reader must see."""

    number: int
    kind: str
    mces: int
    stream: bytes

    def parts(self) -> list[Part]:
        """Control elements with their records."""
        return parse_set(self.stream)


class Capture:
    """Every set that is delivered from now on, in order; *path* receives the bytes."""

    def __init__(self, control: Control, path: Path) -> None:
        self._control = control
        path = path.absolute()  # the emulator may stand elsewhere
        control.execute("monitor-capture", file=path)
        self._data = open(path, "rb")
        self._index = open(f"{path}.idx", "rb")
        self._line = b""

    def close(self) -> None:
        """Stop capturing; harmless if the emulator is gone."""
        with contextlib.suppress(EmulatorError):
            self._control.execute("monitor-capture")
        self._data.close()
        self._index.close()

    def __enter__(self) -> Capture:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def next(self, timeout: float = CAPTURE_SECONDS) -> CapturedSet:
        """The next set; it is on file before the guest hears of it."""
        limit = self._control.limit(timeout)
        while (found := self._take()) is None:
            if limit.over:
                raise Timeout(f"CP delivered no further data set within {limit}")
            time.sleep(_POLL_SECONDS)
        return found

    def so_far(self) -> list[CapturedSet]:
        """All sets that next() would give without waiting."""
        return list(iter(self._take, None))

    def _take(self) -> CapturedSet | None:
        self._line += self._index.readline()
        if not self._line.endswith(b"\n"):
            return None
        entry = json.loads(self._line)
        self._line = b""
        self._data.seek(entry["offset"])
        stream = self._data.read(entry["length"])
        return CapturedSet(entry["set"], entry["kind"], entry["mces"], stream)


@dataclass(frozen=True)
class ReadSet:
    """A data set as the guest read it."""

    stream: bytes
    sizes: list[int]
    """What each read() returned, the closing 0 included."""

    def parts(self) -> list[Part]:
        """Control elements with their records."""
        return parse_set(self.stream)


class DataSets:
    """A reader of /dev/monreader in the guest; the device is open from creation to close().

    *worker* sleeps while there is nothing to read; give it one of its own if the
    agent shall do other things meanwhile.
    """

    def __init__(self, worker: Worker, flags: int = os.O_RDONLY, device: str = DEVICE) -> None:
        self._worker = worker
        self.fd = worker.open(device, flags).check()

    def close(self) -> None:
        """Close the device; harmless the second time."""
        if self.fd >= 0:
            fd, self.fd = self.fd, -1
            self._worker.close(fd).check()

    def __enter__(self) -> DataSets:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            # Whatever went wrong is the news, not that closing fails as well.
            with contextlib.suppress(ZvmlabError, OSError):
                self.close()

    def read(self, size: int = READ_SIZE) -> ReadSet:
        """One data set in one round trip: reads of *size* bytes up to the closing 0-byte read."""
        return read_set(self._worker.read_until(self.fd, size))

    def start(self, size: int = READ_SIZE, timeout: float = READ_SECONDS) -> Callable[[], ReadSet]:
        """Begin to read a set that may not be there yet; the result waits for it."""
        batch = self._worker.batch()
        batch.read_until(self.fd, size)
        pending = batch.start(timeout)
        return lambda: read_set(pending.result()[0])


def read_set(result: CallResult) -> ReadSet:
    """The set that a read_until found; OSError if a read failed."""
    reads = result.reads
    last = reads[-1] if reads else None
    if last is not None and last.errno:
        raise OSError(last.errno, f"read of a data set: {os.strerror(last.errno)}")
    if last is None or last.ret != 0:
        raise Timeout(f"the data set did not end within {len(reads)} reads")
    return ReadSet(b"".join(read.data for read in reads), [read.ret for read in reads])


def compare(found: ReadSet, wanted: CapturedSet) -> None:
    """Raise SetsDiffer unless both have the same bytes."""
    if found.stream == wanted.stream:
        return
    shorter = min(len(found.stream), len(wanted.stream))
    at = next(
        (i for i in range(shorter) if found.stream[i] != wanted.stream[i]), shorter
    )  # the first difference, or where the shorter one ends
    raise SetsDiffer(
        f"data set {wanted.number} ({wanted.kind}) differs at byte {at}: the guest read"
        f" {found.stream[at : at + 16].hex() or 'nothing more'} of {len(found.stream)} bytes,"
        f" CP stored {wanted.stream[at : at + 16].hex() or 'nothing more'} of"
        f" {len(wanted.stream)}"
    )
