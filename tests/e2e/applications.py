# SPDX-License-Identifier: MIT
"""Application data end to end: programs of the guest write, CP collects, monreader reads back.

    with Collection(guest, folder / "sets") as collection:
        with Writer(guest) as writer:
            writer.put(Header(START, datalen=4), b"data")
            (found,) = collection.sample()
            assert found.data == b"data"
"""

from __future__ import annotations

import base64
import os
import struct
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any

from zvmlab.agent.calls import CallResult
from zvmlab.agent.worker import Worker
from zvmlab.guest.guest import Guest
from zvmlab.mondata.records import HEADER_SIZE, Record
from zvmlab.monitor.monitor import Capture, CapturedSet, DataSets, compare

DEVICE = "/dev/monwriter"
MODULES = ("monwriter", "appldata_mem", "appldata_os", "appldata_net_sum")
USERID = "LINUX001"
# asm/monwriter.h: functions, and struct monwrite_hdr.
START, STOP, EVENT, CONFIG = range(4)
_HEADER = struct.Struct(">BHBHHHHB")
HEADER_BYTES = _HEADER.size
MOST = 4010
# D10R1 and D10R2 after their header, as IBM describes MRAPLEDT and MRAPLSDT.
_FIXED = struct.Struct(">HH8s16sB3x")
EVENT_RECORD, SAMPLE_RECORD = (10, 1), (10, 2)


@dataclass(frozen=True)
class Header:
    """The header before a program's data; the driver adds the product's number."""

    function: int = START
    applid: int = 0x4711
    record: int = 1
    version: int = 2
    release: int = 3
    mod: int = 4
    datalen: int = 0
    hdrlen: int = HEADER_BYTES

    def encode(self) -> bytes:
        """Its 13 bytes."""
        return _HEADER.pack(
            *(self.function, self.applid, self.record, self.version),
            *(self.release, self.mod, self.datalen, self.hdrlen),
        )

    @property
    def product(self) -> bytes:
        """The product ID that the driver makes of it."""
        return b"LNXAPPL" + struct.pack(
            ">HBHHH", self.applid, self.record, self.version, self.release, self.mod
        )


@dataclass(frozen=True)
class Application:
    """D10R1 or D10R2."""

    number: int
    userid: str
    product: bytes
    status: int
    data: bytes

    @classmethod
    def decode(cls, record: Record) -> Application:
        """The parts of a record."""
        offset, length, userid, product, status = _FIXED.unpack_from(record.payload)
        data = record.payload[offset - HEADER_SIZE :]
        assert len(data) == length
        return cls(record.number, userid.decode("cp037").rstrip(), product, status, data)


def applications(found: Iterable[Record]) -> list[Application]:
    """The records of domain 10, in order."""
    return [Application.decode(record) for record in found if record.domain == 10]


def records(found: CapturedSet) -> list[Record]:
    """All records of a set."""
    return [record for part in found.parts() for record in part.records()]


class Writer:
    """/dev/monwriter, open."""

    def __init__(self, guest: Guest, worker: Worker | None = None) -> None:
        self._worker = worker or guest.agent
        self.fd = self._worker.open(DEVICE, os.O_WRONLY).check()

    def write(self, data: bytes) -> CallResult:
        """One write(2), which may fail."""
        return self._worker.write(self.fd, data)

    def put(self, header: Header, data: bytes = b"") -> None:
        """Header and data in one write, which must succeed; its length is that of the data."""
        if header.function != STOP:
            header = replace(header, datalen=len(data))
        whole = header.encode() + data
        assert self.write(whole).check() == len(whole)

    def close(self) -> None:
        """Close the device; harmless the second time."""
        if self.fd >= 0:
            fd, self.fd = self.fd, -1
            self._worker.close(fd).check()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def declared(guest: Guest) -> list[dict[str, Any]]:
    """The buffers that CP knows, product IDs as bytes."""
    found = guest.control.execute("query-appldata")["buffers"]
    return [{**buffer, "product-id": base64.b64decode(buffer["product-id"])} for buffer in found]


class Collection:
    """Monitoring of application data, read by /dev/monreader in the same guest.

    Every set that is read is compared, byte for byte, with what CP has stored.  Intervals end when
    told to.
    """

    def __init__(self, guest: Guest, path: Path, select: str = "ALL") -> None:
        self._guest = guest
        self._path = path
        self._select = select

    def cp(self, command: str) -> None:
        """A CP command that must succeed."""
        answer = self._guest.cp(command)
        assert answer.rc == 0, answer.response

    def __enter__(self) -> Collection:
        self._guest.control.execute("monitor-manual", manual=True)
        self._capture = Capture(self._guest.control, self._path)
        self._reader = DataSets(self._guest.agent)
        for kind in ("SAMPLE", "EVENT"):
            self.cp(f"MONITOR {kind} ENABLE APPLDATA {self._select}")
            self.cp(f"MONITOR {kind} START")
        kinds = [self.next().kind for _ in range(3)]
        assert kinds == ["sample-config", "sample", "event-config"]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        self._reader.__exit__(kind, error, trace)
        self._capture.close()
        for what in ("SAMPLE", "EVENT"):
            self.cp(f"MONITOR {what} STOP")
            self.cp(f"MONITOR {what} DISABLE ALL")
        self._guest.control.execute("monitor-manual", manual=False)

    def next(self) -> CapturedSet:
        """The next set, read in the guest and equal to what CP stored."""
        wanted = self._capture.next()
        compare(self._reader.read(), wanted)
        return wanted

    def sample(self) -> list[Application]:
        """End the interval; application data of the sample."""
        self._guest.control.execute("monitor-tick")
        found = self.next()
        assert found.kind == "sample"
        return applications(records(found))

    def events(self) -> list[Application]:
        """End the interval; application data of the block of events after the sample."""
        self.sample()
        found = self.next()
        assert found.kind == "event"
        return applications(records(found))

    def waiting(self) -> int:
        """Sets that CP has delivered, and nobody has read."""
        (user,) = self._guest.control.execute("query-monitor")["users"]
        return int(user["outstanding"])
