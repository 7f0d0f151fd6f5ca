# SPDX-License-Identifier: MIT
"""Application data: written by monwriter, copied by CP, read back by monreader in the same guest."""

from __future__ import annotations

import os
import struct
import time

from zvmlab.base.errors import ZvmlabError
from zvmlab.base.progress import Progress
from zvmlab.guest.artifacts import prepare
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest
from zvmlab.monitor.monitor import DataSets

from benchmark import Benchmark, Pairs, both
from emulators import cpu_seconds

DEVICE = "/dev/monwriter"
# asm/monwriter.h: struct monwrite_hdr.
_HEADER = struct.Struct(">BHBHHHHB")
MOST = 4010
TRIPS = 200
BUFFERS, SIZE, INTERVALS = 255, 200, 20


def _benchmarks() -> Pairs:
    return Pairs(
        Benchmark("trips", f"application data: {MOST} bytes written and read back", "trips/s"),
        Benchmark("trip-cpu", "the same: CPU time of emulator and harness", "ms"),
        Benchmark("records", f"application data: {BUFFERS} buffers of {SIZE} bytes", "records/s"),
    )


def _header(record: int, length: int) -> bytes:
    return _HEADER.pack(0, 1, record, 0, 0, 0, length, _HEADER.size)


def _sample(guest: Guest, reader: DataSets) -> bytes:
    guest.control.execute("monitor-tick")
    return reader.read().stream


def _cpu(guest: Guest) -> float:
    return cpu_seconds(guest) + time.process_time()


def _trips(guest: Guest, reader: DataSets) -> tuple[float, float]:
    """Round trips a second, and ms of CPU time of one; each with other data, which must come back."""
    file = guest.agent.open(DEVICE, os.O_WRONLY).check()
    begun, used = time.monotonic(), _cpu(guest)
    for number in range(TRIPS):
        data = struct.pack(">I", number) * (MOST // 4) + b"xx"
        guest.agent.write(file, _header(0, MOST) + data).check()
        if data not in _sample(guest, reader):
            raise ZvmlabError(f"what was written in round trip {number} did not come back")
    seconds, used = time.monotonic() - begun, _cpu(guest) - used
    guest.agent.close(file).check()
    return TRIPS / seconds, used * 1000 / TRIPS


def _records(guest: Guest, reader: DataSets) -> float:
    """Copy as many buffers as monwriter has by default, at each interval."""
    file = guest.agent.open(DEVICE, os.O_WRONLY).check()
    parts = [_header(number, SIZE) + bytes([number]) * SIZE for number in range(BUFFERS)]
    guest.agent.write(file, b"".join(parts)).check()
    begun = time.monotonic()
    for _ in range(INTERVALS):
        stream = _sample(guest, reader)
        found = sum(bytes([number]) * SIZE in stream for number in range(1, BUFFERS))
        if found != BUFFERS - 1:
            raise ZvmlabError(f"{found} of {BUFFERS - 1} buffers came back")
    seconds = time.monotonic() - begun
    guest.agent.close(file).check()
    return BUFFERS * INTERVALS / seconds


def _pair(guest: Guest, reader: DataSets, swapped: bool) -> dict[str, float]:
    trips, records = both(swapped, lambda: _trips(guest, reader), lambda: _records(guest, reader))
    return {"trips": trips[0], "trip-cpu": trips[1], "records": records}


def measure(config: GuestConfig, pairs: int, progress: Progress) -> list[Benchmark]:
    """One pair is thrown away, for the emulator to have translated the guest's code."""
    config = config._replace(modules=("monwriter",))
    with Guest(config, artifacts=prepare(config, progress)) as guest:
        guest.boot()
        guest.control.execute("monitor-manual", manual=True)
        for module in ("monreader", "monwriter"):
            guest.agent.modprobe(module).check()
        with DataSets(guest.agent) as reader:
            for command in ("ENABLE APPLDATA ALL", "START"):
                guest.cp(f"MONITOR SAMPLE {command}")
            for _ in range(2):
                reader.read()
            _pair(guest, reader, False)
            benchmarks = _benchmarks().repeat(pairs, lambda swapped: _pair(guest, reader, swapped))
        guest.shut_down()
    return benchmarks
