# SPDX-License-Identifier: MIT
"""Device-mapper statistics at their limits: memory, errors, who may, devices that go."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from dmstats_lab import Lab

pytestmark = [
    pytest.mark.xdist_group("dmstats"),
    pytest.mark.first_kernel,
    pytest.mark.not_debug("it has no device mapper", lacks="BLK_DEV_DM"),
    # Who comes first boots the guest.
    pytest.mark.timeout(600),
]

NULL_SECTORS = 2048


def multipath(lab: Lab) -> None:
    """A request-based device "multi" on a null block device."""
    for module in ("null_blk", "scsi_mod", "dm-multipath", "dm-round-robin"):
        parameters = {"queue_mode": 2, "nr_devices": 1, "gb": 1} if module == "null_blk" else {}
        lab.agent.modprobe(module, parameters).check()
    number = lab.agent.read_file("/sys/block/nullb0/dev").decode().strip()
    lab.create("multi", f"0 {NULL_SECTORS} multipath 0 0 1 1 round-robin 0 1 1 {number} 1")


@pytest.mark.requirement("D2")
def test_request_based_devices_are_counted_too(lab: Lab) -> None:
    """Unlike the document: I/Os and sectors are right, durations are not, which dmmon shows."""
    multipath(lab)
    try:
        for options in ("0", "1 precise_timestamps"):
            lab.region("multi", f"- /1 {options}")
        lab.io("multi", "read", count=5)
        ticks, precise = (lab.areas("multi", region)[0] for region in (0, 1))
        assert (ticks[1], ticks[3]) == (precise[1], precise[3]) == (5, 40)
        # Each of the five took less than a minute.
        assert ticks[4] > 5 * 60_000 and precise[4] > 5 * 1_000_000_000
        shown = lab.dmmon("print", "--format", "json", "--fields", "reads,doubt", "multi").check()
        assert [json.loads(line) for line in shown.stdout.splitlines()] == [
            {"reads": 5, "doubt": "time-impossible"},
            # A clock's time is no longer than the machine is up.
            {"reads": 5, "doubt": "request-based"},
        ]
        assert b"multi is request-based" in shown.stderr
        # Of a region of its own it is known since when it counts.
        watch = lab.agent.spawn(["/bin/dmmon", "watch", "-i1h", "-fjson", "multi"])
        lab.wait_watched()
        lab.io("multi", "read", count=5)
        watch.signal(signal.SIGTERM)
        (row,) = (json.loads(line) for line in watch.wait().check().stdout.splitlines())
        assert (row["reads"], row["read_latency_ns"]) == (5, None)
    finally:
        lab.remove("multi")
        for module in ("dm_round_robin", "dm_multipath", "scsi_mod", "null_blk"):
            lab.agent.rmmod(module).check()


def memory(lab: Lab) -> int:
    """Bytes of MemTotal."""
    found = re.search(rb"MemTotal: +(\d+) kB", lab.agent.read_file("/proc/meminfo"))
    assert found is not None
    return int(found[1]) * 1024


@pytest.mark.requirement("D10")
def test_memory_is_what_dmmon_says(lab: Lab) -> None:
    """Byte for byte, with and without histograms."""
    for words in (
        ("--areas", "1"),
        ("--areas", "4"),
        ("--areas", "1000", "--bounds", "1ms"),
        ("--areas", "10", "--bounds", "1us,1ms,1s"),
    ):
        before = lab.allocated()
        said = lab.dmmon("create", *words, "lin").check().stderr
        assert b"of kernel memory" in said and b"a quarter of the machine's" in said
        row = lab.rows("list", "lin")[-1]
        assert lab.allocated() - before == row["memory_bytes"]
    dry = lab.dmmon("create", "--dry-run", "--areas", "1000", "lin").check()
    assert dry.stdout == b"" and b"1000 areas take" in dry.stderr
    assert len(lab.rows("list", "lin")) == 4
    assert lab.allocated() == sum(row["memory_bytes"] for row in lab.rows("list"))


@pytest.mark.requirement("D10")
def test_a_quarter_of_the_memory_is_the_limit_enomem(lab: Lab) -> None:
    """The kernel refuses what would exceed it, dmmon does not even ask; deleting frees it."""
    made = 0
    while (answer := lab.send("lin", "@stats_create 0+65536 1 dmmon")).errno == 0:
        made += 1
    assert answer.errno == errno.ENOMEM and made >= 1
    each = lab.rows("list", "lin")[0]["memory_bytes"]
    assert lab.allocated() == made * each <= memory(lab) // 4 < (made + 1) * each
    refused = lab.dmmon("create", "--length", "65536", "--area-size", "1", "lin")
    assert refused.status == 1 and b"too much for a region" in refused.stderr
    assert len(lab.rows("list", "lin")) == made
    lab.dmmon("delete", "--all", "lin").check()
    lab.wait_freed()


@pytest.mark.requirement("D26")
def test_example_of_the_document_works(lab: Lab) -> None:
    """Its commands, with Debian's dmsetup."""
    lab.create("vol", "0 1000 linear /dev/ram0 0")

    def message(*words: str) -> str:
        return lab.dmsetup("message", "vol", "0", *words).check().stdout.decode()

    assert message("@stats_create", "-", "/100") == "0\n"
    assert message("@stats_set_aux", "0", r"foo\ bar\ baz") == ""
    assert message("@stats_list") == "0: 0+1000 10 - foo bar baz\n"
    lines = message("@stats_print", "0").splitlines()
    assert lines[0] == "0+10" + " 0" * 13 and len(lines) == 100
    assert message("@stats_delete", "0") == ""
    assert message("@stats_list") == ""


@pytest.mark.requirement("D26", "D40")
def test_dmstats_and_dmmon_agree(lab: Lab) -> None:
    """Debian's dmstats reports the same counters of a region that dmmon made, and back."""
    lab.dmmon("create", "--areas", "4", "--program", "dmstats", "lin").check()
    lab.io("lin", "write", sector=4992, sectors=16)
    lab.io("lin", "read", sector=15000, sectors=8, count=3)
    names = ("area", "start_sector", "sectors", "reads", "writes", "read_sectors")
    ours = [tuple(row[name] for name in names) for row in lab.rows("print", "lin")]
    fields = "area_id,area_start,area_len,read_count,write_count,read_sector_count"
    # It clears what it reports.
    report = lab.dmsetup(
        *("stats", "report", "--noheadings", "--separator", ",", "--units", "s", "--nosuffix"),
        *("--area", "-o", fields, "lin"),
    ).check()
    theirs = [
        tuple(int(float(word)) for word in line.split(","))
        for line in report.stdout.decode().split()
    ]
    assert theirs == ours
    assert [row[4] for row in theirs] == [1, 1, 0, 0]
    lab.dmsetup("stats", "create", "--start", "8s", "--length", "64s", "lin").check()
    row = lab.rows("list", "lin")[1]
    assert (row["start_sector"], row["sectors"], row["program"]) == (8, 64, "dmstats")


@pytest.mark.requirement("D27")
@pytest.mark.parametrize("who, opened", [("user", errno.EACCES), ("namespace", 0)])
def test_who_may_not_is_eacces(
    lab: Lab, who: str, opened: int, program: Callable[[str], Path]
) -> None:
    """User 1000, also with an open control node; root of another user namespace, who owns it."""
    lab.agent.write_file("/bin/dm_user", program("dm_user").read_bytes(), 0o755)
    done = lab.agent.run(["/bin/dm_user", who]).check()
    assert done.stdout.decode() == f"list={errno.EACCES} open={opened}\n"


@pytest.mark.requirement("D27")
@pytest.mark.parametrize("words", [("list",), ("list", "lin"), ("watch", "lin"), ("create", "lin")])
def test_dmmon_says_that_it_may_not(lab: Lab, words: tuple[str, ...]) -> None:
    """With an exit code of its own, and what is needed."""
    done = lab.agent.run(["/bin/busybox", "unshare", "-U", "/bin/dmmon", *words])
    assert (done.status, done.stdout) == (77, b"")
    assert done.stderr == (
        b"dmmon: device-mapper needs the capability CAP_SYS_ADMIN: run it as root\n"
    )


@pytest.mark.requirement("D27")
def test_no_device_and_no_message_enxio_einval(lab: Lab) -> None:
    """Unknown devices, messages that nobody knows, no NUL, nothing."""
    assert lab.send("none", "@stats_list").errno == errno.ENXIO
    for message in ("@stats_unknown", "@x", "plain", "", " ", "@"):
        assert lab.send("lin", message).errno == errno.EINVAL, message
    assert lab.send("lin", "@stats_list", size=0, nul=False).errno == errno.EINVAL
    missing = lab.dmmon("list", "none")
    assert missing.status == 2
    assert missing.stderr == (
        b"dmmon: no such device-mapper device: 'none'; 'dmsetup ls' lists them\n"
    )


@pytest.mark.requirement("D28")
def test_invalid_messages_are_in_the_log_einval(lab: Lab) -> None:
    """With the name of the message; others leave no line."""
    since = lab.agent.log_position()
    for message in ("@stats_create", "@stats_print 0 1", "@stats_delete x"):
        assert lab.send("lin", message).errno == errno.EINVAL
    assert lab.send("lin", "@stats_delete 5").errno == errno.ENOENT
    lines = [line.text for line in lab.agent.dmesg(since) if "stats" in line.text]
    assert lines == [
        f"device-mapper: stats: Invalid parameters for message @stats_{name}"
        for name in ("create", "print", "delete")
    ]


@pytest.mark.requirement("D29")
def test_suspended_device_has_regions(lab: Lab) -> None:
    """A region can be made, listed, printed and deleted."""
    with lab.held():
        region = lab.region("low", "- /2")
        assert len(lab.areas("low", region)) == 2
        assert lab.dmmon("create", "--areas", "3", "low").check().stdout == b"1\n"
        assert [row["areas"] for row in lab.rows("list", "low")] == [2, 3]
        assert lab.send("low", f"@stats_delete {region}").errno == 0
    lab.io("low", "read")
    assert lab.areas("low", 1)[0][1] == 1


@pytest.mark.requirement("D29")
def test_device_that_goes_takes_its_regions_along(lab: Lab) -> None:
    """Their memory is free again, and a device of the same name has none."""
    lab.create("short", "0 1000 linear /dev/ram0 0")
    lab.region("short", "- /100")
    assert lab.allocated() > 0
    lab.remove("short")
    lab.wait_freed()
    lab.create("short", "0 1000 linear /dev/ram0 0")
    assert lab.ask("short", "@stats_list") == ""


@pytest.mark.requirement("D31")
def test_more_areas_than_can_be_eoverflow_enomem(lab: Lab) -> None:
    """EOVERFLOW; for what only exceeds the memory, kernels from 6.12 on say so, too."""
    message = f"@stats_create 0+{2**64 - 1} 1"
    assert lab.send("lin", message).errno == errno.EOVERFLOW
    old = lab.agent.hello().release.startswith("6.1.")
    found = lab.send("lin", f"@stats_create 0+{10**12} 1").errno
    assert found == (errno.ENOMEM if old else errno.EOVERFLOW), os.strerror(found)
    assert lab.ask("lin", "@stats_list") == ""
    refused = lab.dmmon("create", "--length", str(10**12), "--area-size", "1", "lin")
    assert refused.status == 1 and b"too much for a region" in refused.stderr
