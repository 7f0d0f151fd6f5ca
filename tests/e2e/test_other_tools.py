# SPDX-License-Identifier: MIT
"""taskmon and dmmon beside Debian's iotop-c, atop, pidstat, iostat and dmstats, in one guest.

All look at the same job at the same time: threads that exit, a process that is renamed and killed, a
device that is renamed and removed.  Its I/O is known by what it was told to do.  getdelays is not
among them: no package of Debian has the program.
"""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from dmstats_lab import MODULES, SECTOR, Lab, prepare_lab

from zvmlab.agent.results import ENVIRONMENT
from zvmlab.agent.worker import Process
from zvmlab.builder.guesttools import debian_program, tool
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest

pytestmark = [
    pytest.mark.not_debug("it has no taskstats", lacks="TASKSTATS"),
    pytest.mark.first_kernel,
    pytest.mark.timeout(1200),
]
PACKAGES = ("atop", "iotop-c", "sysstat", "libncursesw6", "libtinfo6", "zlib1g", "libc6")
PROGRAMS = ("/usr/bin/atop", "/usr/sbin/iotop-c", "/usr/bin/pidstat", "/usr/bin/iostat")
THREADS, BLOCKS, BLOCK, SPIN_MS = 4, 100, 4096, 200
WRITTEN, READ = BLOCKS * BLOCK, BLOCKS // 2 * BLOCK
"""Bytes of each thread."""
TICK_MS = 10
"""atop's, and proc(5)'s."""
KIB = 1024
DONE = "/tmp/done"
DELAYACCT = "/proc/sys/kernel/task_delayacct"


@pytest.fixture
def guest_config(zvmlab_kernel: str, program: Callable[[str], Path]) -> GuestConfig:
    """The guest of dmstats' tests, with the other tools and the job."""
    files = {**debian_program("/sbin/dmsetup"), **tool("dmmon"), **tool("taskmon")}
    for path in PROGRAMS:
        files |= debian_program(path, packages=PACKAGES)
    files["/bin/judged"] = program("judged")
    config = GuestConfig(kernel=zvmlab_kernel, modules=(*MODULES, "ext4"), busybox=True)
    return config._replace(cpus=2, files=files)


class Beside(Lab):
    """The guest with all tools."""

    def text(self, *argv: str) -> str:
        """The output of a program that ends."""
        env = {**ENVIRONMENT, "TERM": "dumb", "DM_DISABLE_UDEV": "1"}
        return self.agent.run(list(argv), env=env, timeout=120).check().stdout.decode()

    def background(self, name: str, command: str) -> Process:
        """One that goes on, and writes to /tmp/NAME."""
        shell = f"exec {command} >/tmp/{name} 2>&1"
        env = {**ENVIRONMENT, "TERM": "dumb"}
        return self.agent.worker(name).spawn(["/bin/sh", "-c", shell], env=env)

    def said(self, name: str) -> str:
        """The output of that so far."""
        try:
            return self.agent.read_file(f"/tmp/{name}").decode()
        except FileNotFoundError:
            return ""

    def taskmon(self, *words: str) -> list[dict[str, Any]]:
        """The rows of a command."""
        output = self.text("/bin/taskmon", *words, "--format", "json", "--fields", "all")
        return [json.loads(line) for line in output.splitlines()]


@pytest.fixture
def beside(guest: Guest, program: Callable[[str], Path]) -> Iterator[Beside]:
    """Devices are there, delays are accounted, as iotop-c wants them."""
    prepare_lab(guest, program("blockio"))
    guest.agent.write_file(DELAYACCT, b"1")
    found = Beside(guest)
    found.set_up()
    yield found
    found.tear_down()


def _atop(beside: Beside, watcher: Process, label: str) -> list[list[str]]:
    """The lines of one kind in a sample that atop takes when it is asked to."""
    samples = beside.said("atop").count("SEP\n")
    watcher.signal(signal.SIGUSR1)
    beside.until(lambda: beside.said("atop").count("SEP\n") > samples)
    last = beside.said("atop").split("SEP\n")[samples]
    # A name in parentheses may have blanks.
    lines = [line for line in last.splitlines() if line.startswith(f"{label} ")]
    return [re.sub(r"\(.*\)", "()", line).split() for line in lines]


def _rows_of_iotop(beside: Beside, pid: int) -> list[list[float]]:
    """Kilobytes read and written by a process, in each round of iotop-c."""
    found = re.findall(rf"^ *{pid} .* ([\d.]+) K +([\d.]+) K ", beside.said("iotop"), re.MULTILINE)
    return [[float(one) for one in row] for row in found]


def _check_process(beside: Beside, pid: int) -> None:
    """Of the living process, which does nothing any more, what each tool says."""
    (ours,) = beside.taskmon("get", "--tgid", str(pid))
    assert ours["comm"] == "renamed" and ours["tasks"] == 1
    assert ours["write_bytes"] == THREADS * WRITTEN and ours["read_bytes"] == THREADS * READ
    cpu_ms = (ours["utime_us"] + ours["stime_us"]) / 1000
    assert cpu_ms >= THREADS * SPIN_MS - 2 * TICK_MS
    (row,) = beside.taskmon(
        "top", "--batch", "--count", "1", "--interval", "100ms", "--pid", str(pid)
    )
    assert (row["pid"], row["command"]) == (pid, "renamed")
    # pidstat: milliseconds since the process has begun.
    times = beside.text("/usr/bin/pidstat", "-u", "-T", "ALL", "-p", str(pid))
    fields = re.search(rf"^\S+ +0 +{pid} +(\d+) +(\d+) +\d+  renamed$", times, re.MULTILINE)
    assert fields is not None, times
    assert int(fields[1]) == pytest.approx(ours["utime_us"] / 1000, abs=TICK_MS)
    assert int(fields[2]) == pytest.approx(ours["stime_us"] / 1000, abs=TICK_MS)
    # pidstat: a mean of the time since the machine was started, to 0.01.
    before = beside.uptime()
    rates = beside.text("/usr/bin/pidstat", "-d", "-p", str(pid))
    after = beside.uptime()
    mean = re.search(rf"^\S+ +0 +{pid} +([\d.]+) +([\d.]+) .*renamed$", rates, re.MULTILINE)
    assert mean is not None, rates
    for rate, total in ((mean[1], ours["read_bytes"]), (mean[2], ours["write_bytes"])):
        least, most = (float(rate) - 0.01) * (before - 1), (float(rate) + 0.01) * (after + 1)
        assert least <= total / KIB <= most
    # atop: sectors and hundredths of a second since the process has begun.
    sample = beside.text("/usr/bin/atop", "-P", "PRC,PRD", "1", "1")
    (disk,) = (
        w for w in map(str.split, sample.splitlines()) if w[:1] == ["PRD"] and w[6] == str(pid)
    )
    (times_,) = (
        w for w in map(str.split, sample.splitlines()) if w[:1] == ["PRC"] and w[6] == str(pid)
    )
    assert disk[7] == times_[7] == "(renamed)"
    assert [int(disk[12]), int(disk[14])] == [
        ours["read_bytes"] // SECTOR, ours["write_bytes"] // SECTOR
    ]  # fmt: skip
    ticks = int(times_[10]) + int(times_[11])
    assert ticks * TICK_MS == pytest.approx(cpu_ms, abs=2 * TICK_MS)


def _exported(beside: Beside) -> list[int]:
    """Bytes written and read, and exits, under both names of the job."""
    text = beside.agent.read_file("/tmp/job.prom").decode()

    def total(value: str, rest: str = "") -> int:
        names = '(?:judged|renamed)"'
        found = re.findall(
            rf'^taskmon_{value}_total\{{command="{names}{rest}\}} (\d+)$', text, re.MULTILINE
        )
        return sum(map(int, found))

    moved = [total("io_bytes", f',direction="{word}"') for word in ("write", "read")]
    return [*moved, total("exits")]


def _check_removed(beside: Beside) -> None:
    """A device that is renamed has the counts that it had; one that is removed has none."""
    regions = ("stats", "print", "--allregions", "--allprograms")
    before = beside.dmsetup(*regions, "lin").check().stdout, beside.rows("print", "lin")
    beside.rename("lin", "moved")
    rows = [row | {"device": "lin"} for row in beside.rows("print", "moved")]
    assert (beside.dmsetup(*regions, "moved").check().stdout, rows) == before
    beside.remove("moved")
    assert beside.dmmon("print", "moved").status == 2
    assert beside.dmsetup(*regions, "moved").status != 0


@pytest.mark.requirement("D40")
def test_all_count_the_same(beside: Beside) -> None:
    beside.text("/sbin/dmsetup", "stats", "create", "lin")
    beside.text("/bin/dmmon", "create", "lin")
    atop = beside.background("atop", "/usr/bin/atop -P PRD,LVM 3600")
    iotop = beside.background("iotop", "/usr/sbin/iotop-c -b -a -k -qqq -P -d 1")
    listener = beside.background("listen", "/bin/taskmon listen --format json --fields all")
    words = ["--textfile", "/tmp/job.prom", "--interval", "100ms"]
    exporter = beside.background("export", " ".join(["/bin/taskmon", "export", *words]))
    beside.until(lambda: "SEP\n" in beside.said("atop"))
    beside.until(lambda: not beside.agent.run(["/bin/sh", "-c", "test -f /tmp/job.prom"]).status)
    words = [beside.node("lin"), str(BLOCKS), str(SPIN_MS), DONE]
    job = beside.agent.worker("job").spawn(["/bin/judged", *words])
    found: list[dict[str, Any]] = []
    while not found:
        found = beside.taskmon("get", "--by", "process", "--name", "judged")
    pid = found[0]["id"]
    beside.until(lambda: bool(_rows_of_iotop(beside, pid)))
    job.signal(signal.SIGUSR1)
    beside.until(lambda: not beside.agent.run(["/bin/sh", "-c", f"test -d {DONE}"]).status)

    _check_process(beside, pid)
    # Of three threads there are messages, of the other one that it lives.
    beside.until(lambda: _exported(beside)[:2] == [THREADS * WRITTEN, THREADS * READ])
    # dmmon and dmstats: regions over the whole device, and the kernel's own statistics of it.
    for row in beside.rows("print", "lin"):
        assert (row["reads"], row["read_sectors"]) == (
            THREADS * BLOCKS // 2,
            THREADS * READ // SECTOR,
        )
        assert (row["writes"], row["write_sectors"]) == (
            THREADS * BLOCKS,
            THREADS * WRITTEN // SECTOR,
        )
    theirs = beside.text("/sbin/dmsetup", "stats", "print", "--allregions", "--allprograms", "lin")
    counted = [list(map(int, line.split()[1:])) for line in theirs.splitlines() if "+" in line]
    assert [row[0:1] + row[2:3] + row[4:5] + row[6:7] for row in counted] == 2 * [
        [
            THREADS * BLOCKS // 2,
            THREADS * READ // SECTOR,
            THREADS * BLOCKS,
            THREADS * WRITTEN // SECTOR,
        ]
    ]
    disk = beside.text("/usr/bin/iostat", "-d", "-k", beside.node("lin")).split()
    assert disk[-3:-1] == [str(THREADS * READ // KIB), str(THREADS * WRITTEN // KIB)]
    ours = [
        THREADS * BLOCKS // 2,
        THREADS * READ // SECTOR,
        THREADS * BLOCKS,
        THREADS * WRITTEN // SECTOR,
    ]
    (volume,) = (line for line in _atop(beside, atop, "LVM") if line[6] == "lin")
    assert list(map(int, volume[8:12])) == ours
    # iotop-c loses threads that exit between two rounds, but not what is there.
    beside.until(lambda: _rows_of_iotop(beside, pid)[-1][1] > 0)
    read, written = _rows_of_iotop(beside, pid)[-1]
    assert READ / KIB - 0.01 <= read <= THREADS * READ / KIB + 0.01
    assert WRITTEN / KIB - 0.01 <= written <= THREADS * WRITTEN / KIB + 0.01

    job.signal(signal.SIGKILL)
    job.wait()
    for program in (atop, iotop, listener, exporter):
        program.signal(signal.SIGTERM)
        program.wait()
    rows = [json.loads(line) for line in beside.said("listen").splitlines() if line.startswith("{")]
    tasks = [row for row in rows if row.get("kind") == "task" and row["tgid"] == pid]
    assert [(row["write_bytes"], row["read_bytes"]) for row in tasks] == THREADS * [(WRITTEN, READ)]
    assert [row["comm"] for row in tasks] == ["judged"] * (THREADS - 1) + ["renamed"]
    assert tasks[-1]["signal"] == signal.SIGKILL
    assert _exported(beside) == [THREADS * WRITTEN, THREADS * READ, THREADS]
    _check_removed(beside)


@pytest.mark.requirement("D39")
def test_regions_of_a_file(beside: Beside) -> None:
    """dmmon and dmstats find the same places of a file in pieces, and count the same there."""
    agent, node = beside.agent, beside.node("lin")
    agent.modprobe("ext4").check()
    agent.run(["/bin/busybox", "mke2fs", "-b", "1024", node]).check()
    agent.mkdir("/mnt")
    agent.mount(node, "/mnt", "ext4").check()
    # Two files that grow in turns lie between each other.
    script = (
        "for i in 1 2 3 4 5 6 7 8; do for f in one two; do"
        " dd if=/dev/zero bs=64k count=1 conv=fsync >>/mnt/$f.img; done; done"
    )
    beside.text("/bin/sh", "-c", f"({script}) 2>/dev/null; sync")
    theirs = ("stats", "create", "--filemap", "--nomonitor", "/mnt/one.img")
    beside.text("/sbin/dmsetup", *theirs)
    ours = beside.text("/bin/dmmon", "create", "--file", "/mnt/one.img").split()
    rows = beside.rows("list", "lin")
    parts: dict[str, list[tuple[int, int]]] = {"dmstats": [], "dmmon": []}
    for row in rows:
        assert row["group"] == "one.img"
        parts[row["program"]].append((row["start_sector"], row["sectors"]))
    assert len(parts["dmmon"]) == len(ours) > 1
    assert sum(length for _, length in parts["dmmon"]) == 8 * 65536 // SECTOR
    assert parts["dmmon"] == parts["dmstats"]
    beside.text("/bin/sh", "-c", "echo 3 >/proc/sys/vm/drop_caches; cat /mnt/one.img >/dev/null")
    totals = beside.rows("print", "--groups", "lin")
    assert [row["read_sectors"] for row in totals] == 2 * [8 * 65536 // SECTOR]
    # Of what has no place there is no region.
    for path, sentence in (
        ("/mnt/none", "cannot be opened"),
        ("/mnt", "is not a regular file"),
        ("/bin/dmmon", "is on the device|does not tell"),
    ):
        wrong = beside.dmmon("create", "--file", path)
        assert wrong.status == 2 and re.search(sentence, wrong.stderr.decode()), path
    beside.dmsetup("stats", "delete", "--allregions", "--allprograms", "lin").check()
    agent.umount("/mnt").check()
