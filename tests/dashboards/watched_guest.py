# SPDX-License-Identifier: MIT
"""A guest that works for some minutes, while Prometheus scrapes taskmon and dmmon in it.

It has three devices: one as quick as storage, one that takes 3 ms, and one of five areas.
Programs compress, search and sort, a minute and a half of the time more of them than there are
CPUs; data go to the devices and come back.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator
from pathlib import Path

from export_relay import Relay
from scraper import Prometheus, scraping

from zvmlab.base.errors import ZvmlabError
from zvmlab.base.progress import Progress
from zvmlab.builder.guesttools import HTTP_LIBRARY, debian_program, library, tool
from zvmlab.guest.config import GuestConfig
from zvmlab.guest.guest import Guest

STEP = 5
"""Seconds between two scrapes."""
WORK_SECONDS = 360
SECONDS = 120.0
PORTS = {"taskmon": 9812, "dmmon": 9813}
BUSYBOX = "/bin/busybox"
SECTORS = 32768
# Name and table of each device; how dmmon divides it, and the bounds of its histogram.
DEVICES = {
    "quick": (f"0 {SECTORS} linear /dev/ram0 0", 1, "20us,50us,100us,200us,500us,1ms,2ms"),
    "slow": (f"0 {SECTORS} linear /dev/nullb0 0", 1, "1ms,2ms,4ms,8ms,16ms,32ms"),
    "parted": (f"0 {SECTORS} linear /dev/ram1 0", 5, "20us,50us,100us,200us,500us,1ms,2ms"),
}
# Minutes 0 to 1.5: little; to 3: more programs than CPUs; to 4.5: devices; then all of it.
WORK = r"""
PATH=/tmp/bin:/bin
mkdir -p /tmp/bin
/bin/busybox --install -s /tmp/bin
cd /tmp
now() { cut -d. -f1 /proc/uptime; }
began=$(now)
since() { echo $(($(now) - began)); }
search() { find /sys/devices /sys/bus -name '*e*' | sort -r | grep -c e > /dev/null; }
press() { gzip -c /bin/busybox > "/tmp/$1.gz"; gunzip -c "/tmp/$1.gz" | sha256sum > /dev/null; }
write() { dd if=/dev/zero of=$1 bs=4096 count=$2 seek=$3 conv=fsync 2> /dev/null; }
fetch() { echo 1 > /proc/sys/vm/drop_caches; dd if=$1 of=/dev/null bs=4096 count=$2 skip=$3 2> /dev/null; }
compute() {
    while [ $(since) -lt $2 ]; do press $1; search; done
}
move() {
    while [ $(since) -lt $1 ]; do
        for area in 0 1 2 3 4; do
            write /dev/dm-2 $((20 + 60 * area)) $((area * 819))
            write /dev/dm-0 100 $((area * 500))
            fetch /dev/dm-0 200 $((area * 500))
            write /dev/dm-1 16 $((area * 100))
            [ $(since) -lt $1 ] || break
        done
        fetch /dev/dm-1 300 0
        sleep 1
    done
}
while [ $(since) -lt 90 ]; do search; sleep 2; done
for one in a b c d e; do compute $one 180 & done
wait
move 270
for one in a b c; do compute $one 360 & done
move 360
wait
"""


def _config() -> GuestConfig:
    files = {**tool("taskmon"), **tool("dmmon"), **library(HTTP_LIBRARY)}
    files |= debian_program("/sbin/dmsetup")
    modules = (*GuestConfig().modules, "brd", "null_blk", "dm-mod")
    return GuestConfig(files=files, busybox=True, cpus=2, modules=modules)


def _make_devices(guest: Guest) -> None:
    agent = guest.agent
    agent.modprobe("brd", {"rd_nr": 2, "rd_size": SECTORS // 2}).check()
    # By a timer (irqmode 2), and with what is written kept.
    slow = {"nr_devices": 1, "gb": 1, "memory_backed": 1, "irqmode": 2, "completion_nsec": 3000000}
    agent.modprobe("null_blk", slow).check()
    agent.modprobe("dm-mod").check()
    environment = {"DM_DISABLE_UDEV": "1", "PATH": "/bin:/sbin"}
    for name, (table, areas, bounds) in DEVICES.items():
        words = ["/sbin/dmsetup", "create", name, "--noudevsync", "--table", table]
        agent.run(words, env=environment).check()
        words = ["create", "--areas", str(areas), "--precise", "--bounds", bounds, name]
        agent.run(["/bin/dmmon", *words]).check()


@contextlib.contextmanager
def _exporting(guest: Guest) -> Iterator[dict[str, int]]:
    """The tools do; by their names, the ports of this machine."""
    guest.agent.run([BUSYBOX, "ifconfig", "lo", "127.0.0.1", "up"]).check()
    guest.agent.write_file("/proc/sys/kernel/task_delayacct", b"1")
    relays: dict[str, Relay] = {}
    try:
        for name, port in PORTS.items():
            guest.agent.spawn([f"/bin/{name}", "export", "--listen", str(port)])
            relays[name] = Relay(guest, port)
            relays[name].wait(SECONDS)
        yield {name: relay.port for name, relay in relays.items()}
    finally:
        for relay in relays.values():
            relay.close()


@contextlib.contextmanager
def watched(folder: Path, progress: Progress) -> Iterator[tuple[Prometheus, int, int]]:
    """When the guest has done its work: Prometheus, with when that began and when it ended.

    In whole seconds since 1970.
    """
    instances = {name: f"linux1.example.org:{port}" for name, port in PORTS.items()}
    with Guest(_config(), folder / "guest") as guest:
        guest.boot()
        _make_devices(guest)
        with (
            _exporting(guest) as ports,
            scraping(folder, ports, STEP, instances) as prometheus,
            progress.step("a guest at work", WORK_SECONDS) as step,
        ):
            began = math.ceil(time.time())
            worker = guest.agent.worker("work").spawn([BUSYBOX, "sh", "-c", WORK])
            for second in range(WORK_SECONDS):
                step.update(second)
                guest.check()
                time.sleep(1)
            done = worker.wait(SECONDS).check()
            if done.stderr:
                raise ZvmlabError(f"the guest's work failed: {done.stderr.decode().strip()}")
            yield prometheus, began, int(time.time())
