# SPDX-License-Identifier: MIT
"""Records of mon_fsstatd and mon_procd, and the kernel's own, as monread prints them in the guest.

Debian has neither program: the test writes what they write, by the layouts that IBM's Device
Drivers describe ("Reading the monitor data") and s390-tools' mon_tools have.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any

import pytest
from applications import Header, Writer

from zvmlab.base.errors import EXIT_PASS
from zvmlab.guest.guest import Guest


PROGRAM = "/tmp/monread"
SECONDS = 90.0
NOW = 1_700_000_000
FSSTATD, PROCD = 1, 2
SUM, TASK = 0, 1
SMALL, LARGE = 602 - 13, 4010
GROUPS = ("ruser", "euser", "egroup", "wchan", "cmd", "cmdline")
COUNTERS = ("total_time", "ctotal_time", "size", "swap", "resident", "trs", "drs", "share", "dt")


def head(length: int) -> bytes:
    """The head of both formats: seconds, length and offset of the rest."""
    return struct.pack(">QHH", NOW, length, 12)


def counted(text: bytes) -> bytes:
    """A text with its length in front."""
    return struct.pack(">H", len(text)) + text


def framed(body: bytes, size: int = 0) -> bytes:
    """A record's data, filled up to the length that the program uses."""
    return (head(len(body)) + body).ljust(size, b"\0")


def file_system(name: bytes, numbers: list[int]) -> bytes:
    """Data of mon_fsstatd: name, mount point, type, and what statvfs gives."""
    body = (
        counted(name) + counted(b"/mnt/" + name) + counted(b"ext4") + struct.pack(">9Q", *numbers)
    )
    return framed(body, SMALL if len(body) + 12 <= SMALL else LARGE)


def processes(total: int, memory: int) -> bytes:
    """Data of mon_procd about all processes."""
    load = b"".join(text.ljust(6, b"\0") for text in (b"0.50", b"1.25", b"12.00"))
    body = struct.pack(">QI", 3600, 2) + load + struct.pack(">5I", total, 1, total - 1, 0, 0)
    body += struct.pack(">I8H", 1, 100, 0, 200, 9700, 0, 0, 0, 0)
    return framed(body + struct.pack(">12Q", memory, 1, memory - 1, *range(9)))


def process(pid: int, names: list[bytes]) -> bytes:
    """Data of mon_procd about one process."""
    body = struct.pack(">3IHhhIHH", pid, 1, 0, 0, -20, -5, 0, 9999, 12)
    body += struct.pack(">10Q", *range(10)) + b"S" + struct.pack(">I", 0x400100)
    return framed(body + b"".join(counted(name) for name in names), 512 - 13)


@pytest.fixture(name="printed")
def _printed(writers: Guest, monread_program: bytes) -> Iterator[Any]:
    """printed(): application data that monread, started now, prints of the next two sets."""
    guest, control = writers, writers.control
    control.execute("monitor-manual", manual=True)
    guest.agent.write_file(PROGRAM, monread_program, 0o755)

    def collect() -> list[dict[str, Any]]:
        control.forget_events("monitor-connected")
        argv = [PROGRAM, "--json", "--values", "--timeout", "60s", "--sets", "2"]
        process = guest.agent.worker("monread").spawn(argv)
        control.wait_event("monitor-connected", SECONDS)
        for command in ("ENABLE APPLDATA ALL", "START"):
            assert guest.cp(f"MONITOR SAMPLE {command}").rc == 0
        result = process.wait(SECONDS, kill=True)
        assert result.status == EXIT_PASS, result.describe()
        lines = [json.loads(line) for line in result.stdout.decode().splitlines()]
        return [line["application"] for line in lines if "application" in line]

    yield collect
    for command in ("STOP", "DISABLE ALL"):
        assert guest.cp(f"MONITOR SAMPLE {command}").rc == 0
    control.execute("monitor-manual", manual=False)


@pytest.mark.requirement("W18")
@pytest.mark.representative
def test_file_systems_are_printed(writers: Guest, printed: Any) -> None:
    """Small and large records of mon_fsstatd, which differ in the modification level."""
    with Writer(writers) as writer:
        for mod, name in ((0, b"/dev/vda1"), (2, b"tank"), (1, b"n" * 1700)):
            numbers = [mod + n for n in range(8)] + [2**64 - 1]
            header = Header(applid=FSSTATD, record=0, version=0, release=0, mod=mod)
            writer.put(header, file_system(name, numbers))
        found = printed()
    keys = ["bsize", "frsize", "blocks", "bfree", "bavail", "files", "ffree", "favail"]
    assert [one["name"] for one in found] == ["fsstat"] * 3
    expected = ((0, "/dev/vda1"), (2, "tank"), (1, "n" * 1700))
    for one, (mod, text) in zip(found, expected, strict=True):
        values = one["values"]
        assert (one["product"], one["function"], one["modification"]) == ("LNXAPPL", FSSTATD, mod)
        assert values["timestamp"] == NOW
        assert (values["name"], values["dir"], values["type"]) == (text, f"/mnt/{text}", "ext4")
        assert [values[key] for key in keys] == [mod + n for n in range(8)]
        assert values["flag"] == str(2**64 - 1)
    assert [one["length"] for one in found] == [SMALL, SMALL, LARGE]


@pytest.mark.requirement("W18")
@pytest.mark.representative
def test_processes_are_printed(writers: Guest, printed: Any) -> None:
    """mon_procd's sum, and a hundred processes: 101 buffers, as many as it ever has."""
    with Writer(writers) as writer:
        header = Header(applid=PROCD, record=SUM, version=0, release=0, mod=0)
        writer.put(header, processes(321, 4096))
        for n in range(100):
            header = Header(applid=PROCD, record=TASK, version=0, release=0, mod=2 * n)
            writer.put(header, process(n + 1, [f"{group}{n}".encode() for group in GROUPS]))
        found = printed()
    assert [one["name"] for one in found] == ["proc_sum"] + ["task"] * 100
    values = found[0]["values"]
    assert (values["uptime"], values["users"], values["tasks"]) == (3600, 2, 321)
    assert [values[f"loadavg_{n}"] for n in (1, 5, 15)] == ["0.50", "1.25", "12.00"]
    assert (values["user"], values["system"], values["idle"]) == (100, 200, 9700)
    assert (values["mem_total"], values["mem_free"], values["pswpout"]) == (4096, 4095, 8)
    for n, one in enumerate(found[1:]):
        values = one["values"]
        assert (values["pid"], values["priority"], values["nice"]) == (n + 1, -20, -5)
        assert [values[name] for name in COUNTERS] == list(range(9))
        assert (values["state"], values["flags"]) == ("S", 0x400100)
        assert [values[group] for group in GROUPS] == [f"{group}{n}" for group in GROUPS]


@pytest.mark.requirement("A10")
@pytest.mark.representative
def test_data_of_the_kernel_are_printed(writers: Guest, printed: Any) -> None:
    """All three kinds; memory and threads are those of this guest."""
    agent = writers.agent
    for name in ("mem", "os", "net_sum"):
        agent.modprobe(f"appldata_{name}").check()
        agent.write_file(f"/proc/sys/appldata/{name}", b"1\n")
    found = {one["name"]: one["values"] for one in printed()}
    for name in ("mem", "os", "net_sum"):
        agent.write_file(f"/proc/sys/appldata/{name}", b"0\n")
        agent.rmmod(f"appldata_{name}").check()
    (total,) = [
        int(line.split()[1])
        for line in agent.read_file("/proc/meminfo").decode().splitlines()
        if line.startswith("MemTotal:")
    ]
    assert found["mem"]["totalram"] == total
    assert found["os"]["nr_cpus"] == 1 and found["os"]["cpu0.id"] == 0
    assert found["net_sum"]["nr_interfaces"] >= 1
    for values in found.values():
        assert values["sync_count_1"] == values["sync_count_2"]
