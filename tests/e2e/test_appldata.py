# SPDX-License-Identifier: MIT
"""appldata_mem, _os and _net_sum, unmodified: the kernel's own data, held against /proc."""

from __future__ import annotations

import errno
import os
import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from applications import USERID, Application, Collection, declared
from failing import Failing
from vdisk_lab import DIRECTORY, MAIN, await_disk, set_attribute
from vdisk_lab import MODULES as DISK_MODULES
from waiting import fair, wait_until

from zvmlab.agent.calls import BatchResult
from zvmlab.agent.worker import Pending
from zvmlab.cp.faults import Fault, armed
from zvmlab.guest.config import HERCULES, QEMU
from zvmlab.guest.guest import Guest

if TYPE_CHECKING:
    from conftest import Build

SYSCTL = "/proc/sys/appldata"
SECONDS = 60.0
SWAP_SECONDS = 240.0
READS = 100
NUMBERS = {"mem": 1, "os": 2, "net_sum": 3}
SOURCE = Path(__file__).parent / "modules" / "netcounts"
LEVELS = {"mem": "00", "os": "01", "net_sum": "00"}
HEAD = struct.Struct(">QII")
MEM = (
    *("pgpgin", "pgpgout", "pswpin", "pswpout", "sharedram", "totalram", "freeram"),
    *("totalhigh", "freehigh", "bufferram", "cached", "totalswap", "freeswap"),
    *("pgalloc", "pgfault", "pgmajfault"),
)
OS = (
    *("nr_cpus", "per_cpu_size", "cpu_offset", "nr_running", "nr_threads"),
    *("avenrun1", "avenrun5", "avenrun15", "nr_iowait"),
)
CPU = ("user", "nice", "system", "idle", "irq", "softirq", "iowait", "steal", "id")
NET = (
    *("rx_packets", "tx_packets", "rx_bytes", "tx_bytes", "rx_errors"),
    *("tx_errors", "rx_dropped", "tx_dropped", "collisions"),
)
KIB_PER_PAGE = 4
PER_CPU = 36
FIXED = 52


def product(name: str) -> bytes:
    """LINUXKR NL, record, version 26, release 01, modification level: EBCDIC but for the record."""
    text = "LINUXKRNL".encode("cp037"), "2601".encode("cp037"), LEVELS[name].encode("cp037")
    return text[0] + bytes([NUMBERS[name]]) + text[1] + text[2]


@dataclass(frozen=True)
class Kernel:
    """A record of the kernel's: moment, counts of beginnings and ends of changes, numbers."""

    tod: int
    begun: int
    ended: int
    numbers: bytes

    def words(self, names: tuple[str, ...], letter: str, at: int = 0) -> dict[str, int]:
        """Numbers one after the other, by names."""
        found = struct.unpack_from(f">{len(names)}{letter}", self.numbers, at)
        return dict(zip(names, found, strict=True))


class Sysctls:
    """/proc/sys/appldata, and the modules behind it."""

    def __init__(self, guest: Guest) -> None:
        self.guest = guest

    def get(self, name: str) -> str:
        return self.guest.agent.read_file(f"{SYSCTL}/{name}").decode().strip()

    def set(self, name: str, value: str | int) -> None:
        self.guest.agent.write_file(f"{SYSCTL}/{name}", f"{value}\n".encode())

    def kernel(self, found: list[Application], name: str) -> Kernel:
        """The only record of that kind in a sample."""
        (one,) = [one for one in found if one.product == product(name)]
        assert (one.number, one.userid, one.status) == (2, USERID, 0)
        tod, begun, ended = HEAD.unpack_from(one.data)
        return Kernel(tod, begun, ended, one.data[HEAD.size :])


@pytest.fixture(name="sysctls")
def _sysctls(writers: Guest) -> Iterator[Sysctls]:
    """The three modules loaded; afterwards nothing is collected, and they are gone."""
    for name in NUMBERS:
        writers.agent.modprobe(f"appldata_{name}").check()
    found = Sysctls(writers)
    yield found
    for name in NUMBERS:
        found.set(name, 0)
        writers.agent.rmmod(f"appldata_{name}").check()
    found.set("timer", 0)
    found.set("interval", 10000)


def proc(guest: Guest, path: str) -> dict[str, int]:
    """Lines of a name and a number."""
    text = guest.agent.read_file(path).decode()
    pairs = re.findall(r"^(\w[\w()]*):?\s+(\d+)", text, re.MULTILINE)
    return {name: int(number) for name, number in pairs}


@pytest.mark.requirement("A1")
@pytest.mark.representative
def test_sysctls_take_what_they_can_mean(sysctls: Sysctls) -> None:
    """timer and the kinds are 0 or 1, interval is positive; anything else is EINVAL."""
    assert sysctls.get("timer") == "0"
    assert sysctls.get("interval") == "10000"
    for name in NUMBERS:
        assert sysctls.get(name) == "0"
    for name in ("timer", *NUMBERS):
        for value in ("2", "-1", "x"):
            with pytest.raises(OSError) as caught:
                sysctls.set(name, value)
            assert caught.value.errno == errno.EINVAL
            assert sysctls.get(name) == "0"
    for value in ("0", "-5"):
        with pytest.raises(OSError) as caught:
            sysctls.set("interval", value)
        assert caught.value.errno == errno.EINVAL
    sysctls.set("interval", 5000)
    assert sysctls.get("interval") == "5000"
    sysctls.set("timer", 1)
    assert sysctls.get("timer") == "1"


@pytest.mark.requirement("A2")
@pytest.mark.representative
@pytest.mark.parametrize("name", NUMBERS)
def test_kind_is_collected_while_its_sysctl_is_1(
    sysctls: Sysctls, collection: Collection, name: str
) -> None:
    """1 declares the record to CP, 0 withdraws it; a second 1 or 0 changes nothing."""
    guest = sysctls.guest
    for _ in range(2):
        for _ in range(2):
            sysctls.set(name, 1)
            assert sysctls.get(name) == "1"
            (buffer,) = declared(guest)
            assert buffer["product-id"] == product(name) and buffer["kind"] == "interval"
        found = sysctls.kernel(collection.sample(), name)
        assert found.begun == found.ended
        for _ in range(2):
            sysctls.set(name, 0)
            assert declared(guest) == []
        assert collection.sample() == []
        last = collection.next()
        assert last.kind == "event"


@pytest.mark.requirement("A3")
@pytest.mark.representative
def test_memory_is_what_proc_says(sysctls: Sysctls, collection: Collection) -> None:
    """Sizes as in /proc/meminfo; what is counted lies between two looks at /proc/vmstat."""
    guest = sysctls.guest
    # Pages that are shared: those of a tmpfs.
    guest.agent.write_file("/tmp/shared", bytes(4 << 20), 0o600)
    before = proc(guest, "/proc/vmstat")
    sysctls.set("mem", 1)
    after = proc(guest, "/proc/vmstat")
    info = proc(guest, "/proc/meminfo")
    record = sysctls.kernel(collection.sample(), "mem")
    assert len(record.numbers) == 8 * len(MEM)
    mem = record.words(MEM, "Q")
    assert mem["totalram"] == info["MemTotal"]
    assert mem["bufferram"] == info["Buffers"]
    assert mem["totalswap"] == info["SwapTotal"] == mem["freeswap"] == 0
    assert mem["totalhigh"] == mem["freehigh"] == 0
    # One page of 4 KiB counts as 4 in both: what changes meanwhile is little.
    assert abs(mem["freeram"] - info["MemFree"]) < 4096
    assert abs(mem["cached"] - info["Cached"]) < 1024 < info["Cached"]
    # The only number of pages.
    assert abs(mem["sharedram"] * KIB_PER_PAGE - info["Shmem"]) < 1024 < info["Shmem"]
    for name in ("pgpgin", "pgpgout", "pswpin", "pswpout", "pgfault", "pgmajfault"):
        assert before[name] <= mem[name] <= after[name], name
    allocated = ("pgalloc_dma", "pgalloc_normal")
    assert sum(before[one] for one in allocated) <= mem["pgalloc"]
    assert mem["pgalloc"] <= sum(after[one] for one in allocated)


@pytest.mark.requirement("A3")
@pytest.mark.zvmlab(
    cp={"directory": f"{DIRECTORY};IUCV *MONITOR MSGLIMIT 255;NAMESAVE MONDCSS;OPTION APPLMON"},
    modules=("monwriter", "appldata_mem", *DISK_MODULES),
    busybox=True,
)
def test_what_was_read_and_swapped_is_what_proc_says(
    guest: Guest, zvmlab_backend: str, zvmlab_dir: Path
) -> None:
    """Of a disk for swapping, of which a program needs more than its group may keep in storage."""
    if zvmlab_backend == HERCULES:
        pytest.skip("the disks of Hercules are its own, and CP has no part in them")
    if guest.agent.open("/proc/swaps").errno == errno.ENOENT:
        pytest.skip("the kernel cannot swap")
    for module in ("monreader", "appldata_mem", "dasd_fba_mod"):
        guest.agent.modprobe(module).check()
    _swap(guest, bytes(range(256)) * (1 << 13))
    sysctls = Sysctls(guest)
    with Collection(guest, zvmlab_dir / "sets") as collection:
        before = proc(guest, "/proc/vmstat")
        sysctls.set("mem", 1)
        after, info = proc(guest, "/proc/vmstat"), proc(guest, "/proc/meminfo")
        mem = sysctls.kernel(collection.sample(), "mem").words(MEM, "Q")
    for name in ("pgpgin", "pgpgout", "pswpin", "pswpout"):
        assert 0 < before[name] <= mem[name] <= after[name], name
    assert mem["totalswap"] == info["SwapTotal"]
    assert abs(mem["freeswap"] - info["SwapFree"]) < 1024 < info["SwapTotal"] - info["SwapFree"]


def _swap(guest: Guest, data: bytes) -> None:
    """Write files that a group of programs cannot keep in storage, and read them again."""
    agent = guest.agent

    def busybox(*words: str, stdin: bytes = b"") -> bytes:
        return agent.run(["/bin/busybox", *words], stdin=stdin, timeout=SWAP_SECONDS).check().stdout

    assert set_attribute(guest, MAIN, "online", "1") == 0
    node = await_disk(guest, "dasda")
    busybox("mkswap", node)
    busybox("swapon", node)
    busybox("mkdir", "-p", "/group", "/full")
    agent.mount("none", "/group", "cgroup2").check()
    agent.write_file("/group/cgroup.subtree_control", b"+memory")
    busybox("mkdir", "/group/small")
    agent.write_file("/group/small/memory.max", b"4194304")
    agent.mount("none", "/full", "tmpfs").check()
    small = "echo $$ > /group/small/cgroup.procs; exec cat"
    for number in range(4):
        busybox("sh", "-c", f"{small} > /full/{number}", stdin=data)
    for number in range(4):
        assert busybox("sh", "-c", f"{small} /full/{number}") == data


def _loads_around(sysctls: Sysctls) -> list[list[str]]:
    """Switch the record of processes on, and look at /proc/loadavg just before and after that."""
    batch = sysctls.guest.agent.batch()
    load, switch = batch.open("/proc/loadavg"), batch.open(f"{SYSCTL}/os", os.O_WRONLY)
    before = batch.pread(load, 100, 0)
    batch.write(switch, b"1\n")
    after = batch.pread(load, 100, 0)
    for file in (load, switch):
        batch.close(file)
    done = batch.run()
    for result in done:
        result.check()
    return [done[look].data.decode().split() for look in (before, after)]


@pytest.mark.requirement("A4")
@pytest.mark.representative
def test_processes_and_cpus_are_what_proc_says(sysctls: Sysctls, collection: Collection) -> None:
    """Times of each CPU lie between two looks at /proc/stat, in ticks of 1/250 s and of 1/100 s."""
    guest = sysctls.guest
    looks = []
    for turn in range(2):
        text = guest.agent.read_file("/proc/stat").decode()
        (line,) = [line for line in text.splitlines() if line.startswith("cpu0 ")]
        looks.append([int(word) for word in line.split()[1:9]])
        if turn == 0:
            loads = _loads_around(sysctls)
    record = sysctls.kernel(collection.sample(), "os")
    data = record.words(OS, "I")
    assert (data["nr_cpus"], data["per_cpu_size"], data["cpu_offset"]) == (1, PER_CPU, FIXED)
    assert len(record.numbers) == FIXED - HEAD.size + PER_CPU
    cpu = record.words(CPU, "I", FIXED - HEAD.size)
    assert cpu["id"] == 0
    order = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    for name, low, high in zip(order, *looks, strict=True):
        if name == "idle" or name == "iowait":
            # Without what has passed since the CPU began to be idle.
            assert cpu[name] * 100 <= (high + 1) * 250
        else:
            assert low * 250 <= (cpu[name] + 1) * 100 and cpu[name] * 100 <= (high + 1) * 250, name
    assert data["nr_running"] >= 1
    threads = [int(load[3].split("/")[1]) for load in loads]
    assert min(threads) - 5 <= data["nr_threads"] <= max(threads) + 5
    for at, name in enumerate(("avenrun1", "avenrun5", "avenrun15")):
        averages = [float(load[at]) for load in loads]
        # 11 bits of fraction, cut off after hundredths in /proc.
        assert min(averages) - 0.01 < data[name] / 2048 < max(averages) + 0.02, name


@pytest.mark.requirement("A5")
@pytest.mark.representative
def test_network_is_the_sum_of_proc(
    sysctls: Sysctls, collection: Collection, built_module: Callable[..., Path]
) -> None:
    """All interfaces of the first network namespace, added up; none of the sums is zero."""
    guest = sysctls.guest
    guest.agent.write_file("/tmp/netcounts.ko", built_module(SOURCE).read_bytes(), 0o600)
    guest.agent.insmod("/tmp/netcounts.ko").check()
    sysctls.set("net_sum", 1)
    lines = guest.agent.read_file("/proc/net/dev").decode().splitlines()[2:]
    rows = [[int(word) for word in line.split(":")[1].split()] for line in lines]
    record = sysctls.kernel(collection.sample(), "net_sum")
    interfaces, _ = struct.unpack_from(">II", record.numbers)
    assert interfaces == len(rows) >= 3
    net = record.words(NET, "Q", 8)
    columns = (1, 9, 0, 8, 2, 10, 3, 11, 13)
    for name, column in zip(NET, columns, strict=True):
        assert net[name] == sum(row[column] for row in rows) > 0, name
    guest.agent.rmmod("netcounts").check()


def _load(guest: Guest) -> list[str]:
    """Words of /proc/loadavg: averages, tasks that run of all, the last one's number."""
    return guest.agent.read_file("/proc/loadavg").decode().split()


def _whole(sysctls: Sysctls, collection: Collection, least: int) -> Kernel:
    """Data that were renewed at least so often, and not just while CP copied them."""
    deadline = fair(SECONDS)
    while True:
        found = sysctls.kernel(collection.sample(), "mem")
        if found.begun == found.ended >= least:
            return found
        assert not deadline.over, "the timer does not renew the data"
        sysctls.guest.agent.read_file("/proc/kallsyms")  # CPU time


@pytest.mark.requirement("A6")
@pytest.mark.representative
def test_timer_renews_the_data(sysctls: Sysctls, collection: Collection) -> None:
    """With the timer, data are renewed after an interval of CPU time; without it they stay."""
    guest = sysctls.guest
    sysctls.set("mem", 1)
    first = sysctls.kernel(collection.sample(), "mem")
    assert first.begun == first.ended
    guest.agent.read_file("/proc/kallsyms")  # CPU time
    again = sysctls.kernel(collection.sample(), "mem")
    assert again == first
    sysctls.set("interval", 10)
    sysctls.set("timer", 1)
    found = _whole(sysctls, collection, first.ended + 3)
    assert found.tod > first.tod
    sysctls.set("timer", 0)
    # What the timer has begun is done when nothing runs but who looks.
    wait_until(lambda: _load(guest)[3].startswith("1/"), "other tasks sleep", lambda: _load(guest))
    last = _whole(sysctls, collection, found.ended)
    guest.agent.read_file("/proc/kallsyms")
    assert sysctls.kernel(collection.sample(), "mem") == last


@pytest.mark.requirement("A7")
@pytest.mark.representative
@pytest.mark.parametrize("rc", (5, 8))
def test_start_that_cp_refuses_is_in_the_log(sysctls: Sysctls, rc: int) -> None:
    """The sysctl stays 0, and the module can be unloaded; the write itself succeeds."""
    guest = sysctls.guest
    since = guest.agent.log_position()
    with armed(guest.control, Fault("diagdc.start", "rc", rc, name="LINUXKR", times=1)):
        sysctls.set("mem", 1)
    assert sysctls.get("mem") == "0"
    (line,) = [line.text for line in guest.agent.dmesg(since) if "appldata" in line.text]
    assert line == f"appldata: Starting the data collection for mem failed with rc={rc}"
    assert declared(guest) == []


@pytest.mark.requirement("A7")
@pytest.mark.zvmlab(modules=("appldata_mem",))
def test_stop_that_cp_refuses_is_in_the_log(guest: Guest) -> None:
    """CP still copies."""
    guest.agent.modprobe("appldata_mem").check()
    sysctls = Sysctls(guest)
    sysctls.set("mem", 1)
    since = guest.agent.log_position()
    with armed(guest.control, Fault("diagdc.stop", "rc", 7, times=1)):
        sysctls.set("mem", 0)
    (line,) = [line.text for line in guest.agent.dmesg(since) if "appldata" in line.text]
    assert line == "appldata: Stopping the data collection for mem failed with rc=7"
    assert len(declared(guest)) == 1


@pytest.mark.requirement("A8")
@pytest.mark.representative
def test_module_stays_while_its_data_are_collected(sysctls: Sysctls) -> None:
    """1 holds the module; after 0 it can go, and its sysctl with it."""
    agent = sysctls.guest.agent
    sysctls.set("net_sum", 1)
    assert agent.rmmod("appldata_net_sum").errno == errno.EWOULDBLOCK
    assert len(declared(sysctls.guest)) == 1
    sysctls.set("net_sum", 0)
    agent.rmmod("appldata_net_sum").check()
    with pytest.raises(FileNotFoundError):
        sysctls.get("net_sum")
    agent.modprobe("appldata_net_sum").check()


@pytest.mark.requirement("A9")
@pytest.mark.zvmlab(cpus=2, modules=("appldata_os",))
def test_record_of_the_cpus_changes_with_their_number(guest: Guest) -> None:
    """A CPU that goes or comes: the kernel declares the new length, then withdraws the old one."""
    guest.agent.modprobe("appldata_os").check()
    sysctls = Sysctls(guest)
    sysctls.set("os", 1)
    (buffer,) = declared(guest)
    address = buffer["address"]
    assert buffer["length"] == FIXED + 2 * PER_CPU
    sysctls.set("interval", 10)
    sysctls.set("timer", 1)
    for online, cpus in (("0", 1), ("1", 2)):
        guest.agent.write_file("/sys/devices/system/cpu/cpu1/online", online.encode())
        deadline = fair(SECONDS)
        while [kind["length"] for kind in declared(guest)] != [FIXED + cpus * PER_CPU]:
            assert not deadline.over, "the record has not changed its length"
            guest.agent.read_file("/proc/kallsyms")  # CPU time
        (buffer,) = declared(guest)
        assert (buffer["address"], buffer["product-id"]) == (address, product("os"))
    sysctls.set("timer", 0)
    sysctls.set("os", 0)
    assert declared(guest) == []


@pytest.mark.requirement("A10")
@pytest.mark.representative
def test_all_kinds_at_once(sysctls: Sysctls, collection: Collection) -> None:
    """Each is a record of its own, in the order in which they were switched on."""
    for name in ("net_sum", "mem", "os"):
        sysctls.set(name, 1)
    found = collection.sample()
    assert [one.product for one in found] == [product(n) for n in ("net_sum", "mem", "os")]


@pytest.mark.requirement("A6")
@pytest.mark.representative
def test_interval_can_be_changed_while_the_timer_runs(
    sysctls: Sysctls, collection: Collection
) -> None:
    """The data are gathered anew at the new interval, which is far shorter than the old one."""
    sysctls.set("interval", 1_000_000)
    sysctls.set("mem", 1)
    sysctls.set("timer", 1)
    first = sysctls.kernel(collection.sample(), "mem")
    sysctls.set("interval", 10)
    assert sysctls.get("interval") == "10"
    deadline = fair(SECONDS)
    while sysctls.kernel(collection.sample(), "mem").begun < first.begun + 3:
        assert not deadline.over, "the data have not been gathered anew"
        sysctls.guest.agent.read_file("/proc/kallsyms")  # CPU time


@pytest.mark.zvmlab(modules=("appldata_mem",))
@pytest.mark.requirement("A11")
def test_loading_without_memory_is_enomem(guest: Guest, program: Build) -> None:
    """Each allocation fails once; then it can be loaded, and its sysctl is there."""
    assert Failing(guest).loads(program, "appldata_mem")[errno.ENOMEM] > 0
    guest.agent.modprobe("appldata_mem").check()
    guest.agent.write_file(f"{SYSCTL}/mem", b"1\n")
    assert [kind["product-id"] for kind in declared(guest)] == [product("mem")]
    guest.agent.write_file(f"{SYSCTL}/mem", b"0\n")


# What the kernel does against this: docs/upstream-kernel.md.


@pytest.mark.zvmlab(modules=("appldata_mem",))
@pytest.mark.requirement("A8")
@pytest.mark.kernel_defect(
    32, "a module goes whose buffer CP has not withdrawn", seen=r"assert 0 == 11"
)
def test_module_whose_data_cp_goes_on_collecting_stays(guest: Guest) -> None:
    """CP refuses to withdraw the buffer, and copies from there."""
    guest.agent.modprobe("appldata_mem").check()
    guest.agent.write_file(f"{SYSCTL}/mem", b"1\n")
    with armed(guest.control, Fault("diagdc.stop", "rc", 1)) as rules:
        guest.agent.write_file(f"{SYSCTL}/mem", b"0\n")
    assert rules[0].fired == 1
    assert [buffer["product-id"] for buffer in declared(guest)] == [product("mem")]
    assert guest.agent.rmmod("appldata_mem").errno == errno.EAGAIN


@pytest.mark.zvmlab(cpus=2, modules=("appldata_mem",))
@pytest.mark.requirement("A6")
@pytest.mark.kernel_defect(
    56, "a virtual timer that is stopped while its function runs goes on", seen=r"assert not True"
)
def test_timer_that_is_stopped_while_it_runs_stays_so(guest: Guest, zvmlab_backend: str) -> None:
    """It has expired on another CPU, which has not called its function yet."""
    if zvmlab_backend != QEMU:
        pytest.skip("only QEMU holds a CPU at a function")
    sysctls, worker = Sysctls(guest), guest.agent.worker("works")
    guest.agent.modprobe("appldata_mem").check()
    guest.agent.keep_on(worker, 1)

    def work() -> Pending[BatchResult]:
        """CPU time, by which the timer goes."""
        batch = worker.batch()
        fd = batch.open("/proc/kallsyms")
        for _ in range(READS):
            batch.pread(fd, 1 << 16, 0)
        batch.close(fd)
        return batch.start()

    for name, value in (("mem", 1), ("interval", 10), ("timer", 1)):
        sysctls.set(name, value)
    with guest.hold("appldata_timer_function", 1) as hold:
        working = work()
        hold.wait()
        sysctls.set("timer", 0)
    working.result()
    with guest.hold("appldata_timer_function", 1) as hold:
        working = work()
        wait_until(lambda: working.done() or hold.held, "the end of the work, or the timer")
        assert not hold.held
    working.result()
