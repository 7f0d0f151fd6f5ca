# SPDX-License-Identifier: MIT
"""dmmon with several devices, areas that do most, other names of devices, what killed watches left."""

from __future__ import annotations

import json
import re
import signal
from typing import Any

import pytest
from dmstats_lab import SECTOR, Lab

from zvmlab.agent.worker import Process

pytestmark = [
    pytest.mark.xdist_group("dmstats"),
    pytest.mark.first_kernel,
    pytest.mark.not_debug("it has no device mapper", lacks="BLK_DEV_DM"),
    # Who comes first boots the guest.
    pytest.mark.timeout(600),
]

AREAS = 10
STEP = 2000


def start(lab: Lab, *words: str) -> Process:
    """dmmon in the background; all of its fields as JSON."""
    return lab.agent.spawn(["/bin/dmmon", *words, "--format", "json", "--fields", "all"])


def rows_of(output: bytes) -> list[dict[str, Any]]:
    """The reported rows."""
    return [json.loads(line) for line in output.decode().splitlines()]


def regions(lab: Lab, name: str) -> list[str]:
    """The auxiliary data of a device's regions, as the kernel lists them."""
    return [line.split()[4] for line in lab.ask(name, "@stats_list").splitlines()]


def major(lab: Lab, name: str) -> int:
    """Its major number."""
    words = ("info", "-c", "--noheadings", "-o", "major", name)
    return int(lab.dmsetup(*words).check().stdout)


@pytest.mark.requirement("D32")
def test_devices_by_number_and_uuid(lab: Lab) -> None:
    """A name goes first, whatever it looks like; nonsense is no device."""
    uuid = "zvmlab-" + "x" * 121
    lab.dmsetup(
        *("create", "named", "--noudevsync", "-u", uuid, "--table", "0 8 linear /dev/ram0 0")
    ).check()
    assert lab.region("named", "- /1 of named") == 0
    number = f"{major(lab, 'named')}:{lab.minor('named')}"
    for word in ("named", number, f"uuid:{uuid}", lab.node("named")):
        (row,) = lab.rows("list", word)
        assert (row["device"], row["number"], row["uuid"]) == ("named", number, uuid)
    assert lab.region("lin", "- /1 of lin") == 0
    (row,) = lab.rows("list", "lin")
    assert (row["number"], row["uuid"]) == (f"{major(lab, 'lin')}:{lab.minor('lin')}", None)
    # Another device's name is this one's number.
    lab.create(number, "0 8 linear /dev/ram0 0")
    assert lab.region(number, "- /1 of other") == 0
    assert [row["device"] for row in lab.rows("list", number)] == [number]
    for word in ("uuid:", "uuid:nobody", "uuid:" + "x" * 129, "4096:0", "1:2:3", "253:1048575"):
        done = lab.dmmon("list", word)
        assert done.status == 2, word
        assert b"no such device-mapper device" in done.stderr, word


@pytest.mark.requirement("D33")
def test_several_devices_are_watched(lab: Lab) -> None:
    """Each once, whatever it is called; what is counted is what the kernel counts."""
    for name in ("lin", "up", "low"):
        assert lab.region(name, "- /1 1 precise_timestamps prog") == 0
    watch = start(lab, "watch", "--interval", "1h", "--region", "0", "lin", lab.node("lin"), "up")
    lab.wait_watched()
    lab.io("lin", "read", count=5)
    lab.io("up", "write", count=3)
    watch.signal(signal.SIGTERM)
    found = rows_of(watch.wait().check().stdout)
    assert [row["device"] for row in found] == ["lin", "up"]
    for row in found:
        (area,) = lab.areas(row["device"], 0)
        assert (row["reads"], row["writes"]) == (area[1], area[5])
    counts = lab.rows("print", "--region", "0", "lin", "up", "low")
    assert [(row["device"], row["reads"], row["writes"]) for row in counts] == [
        (name, lab.areas(name, 0)[0][1], lab.areas(name, 0)[0][5]) for name in ("lin", "up", "low")
    ]
    assert {row["device"] for row in lab.rows("print", "--all-devices")} == {"lin", "up", "low"}
    lab.dmmon("clear", "--all", "--program", "prog", "lin", "up").check()
    assert [lab.areas(name, 0)[0][1] for name in ("lin", "up")] == [0, 0]
    assert lab.areas("low", 0)[0][5] == 3
    lab.dmmon("delete", "--all", "--program", "prog", "--all-devices").check()
    assert [lab.ask(name, "@stats_list") for name in ("lin", "up", "low")] == ["", "", ""]
    done = lab.dmmon("watch", "--count", "1", "lin", "nonsense")
    assert done.status == 2 and b"no such device-mapper device: 'nonsense'" in done.stderr
    assert lab.dmmon("print", "--all-devices", "lin").status == 2
    lab.wait_freed()


@pytest.mark.requirement("D33")
def test_one_of_several_that_goes_leaves_the_others(lab: Lab) -> None:
    """It is said, and the exit status has it; nothing is left behind."""
    lab.create("short", "0 1000 linear /dev/ram0 0")
    watch = start(lab, "watch", "--interval", "1h", "short", "lin")
    lab.wait_watched()
    lab.io("lin", "read", count=4)
    lab.remove("short")
    watch.signal(signal.SIGTERM)
    ended = watch.wait()
    assert ended.status == 1
    assert b"device short and its regions no longer exist" in ended.stderr
    assert [(row["device"], row["reads"]) for row in rows_of(ended.stdout)] == [("lin", 4)]
    lab.wait_freed()


def _most_of_all_time(lab: Lab) -> None:
    """print shows of the same two regions all that they have counted, idle areas too."""
    everything = lab.rows("print", "--region", "0", "lin", "up")
    ranked = lab.rows("print", "--region", "0", "--sort", "ios", "lin", "up")
    assert len(ranked) == 2 * AREAS
    assert ranked == sorted(everything, key=lambda row: -int(row["reads"] + row["writes"]))
    assert [(row["device"], row["area"]) for row in ranked[:3]] == [
        ("lin", 9),
        ("lin", 8),
        ("lin", 7),
    ]
    assert lab.rows("print", "--region", "0", "--top", "3", "lin", "up") == ranked[:3]
    words = ("print", "--region", "0", "--top", "2", "--sort", "bytes")
    found = lab.rows(*words, "lin", "up")
    assert [(row["device"], row["area"]) for row in found] == [("up", 4), ("lin", 9)]
    # Of some areas only; what is left out is cleared, too.
    some = ("print", "--region", "0", "--first", "2", "--count", "5", "--program", "prog")
    found = lab.rows(*some, "--clear", "--top", "1", "lin")
    assert found == [row for row in ranked if (row["device"], row["area"]) == ("lin", 6)]
    reads = [row[1] for row in lab.areas("lin", 0)]
    assert reads == [0, 1, 0, 0, 0, 0, 0, 7, 8, 9]


@pytest.mark.requirement("D34", "D35")
def test_areas_that_do_most(lab: Lab) -> None:
    """By I/Os and by bytes, of two devices; the mean size is sectors by requests."""
    for name in ("lin", "up"):
        assert lab.region(name, f"0+{AREAS * STEP} {STEP} 1 precise_timestamps prog") == 0
    watches = [
        start(lab, "watch", "--interval", "1h", "--region", "0", *words, "lin", "up")
        for words in (("--top", "3"), ("--top", "2", "--sort", "bytes"), ("--sort", "ios"))
    ]
    lab.wait_watched(3)
    for area in range(1, AREAS):
        lab.io("lin", "read", sector=area * STEP, sectors=8, count=area)
    lab.io("up", "write", sector=4 * STEP, sectors=256, count=2)
    found = []
    for watch in watches:
        watch.signal(signal.SIGTERM)
        found.append(rows_of(watch.wait().check().stdout))
    by_ios, by_bytes, everything = found
    assert [(row["device"], row["area"]) for row in by_ios] == [("lin", 9), ("lin", 8), ("lin", 7)]
    assert [(row["device"], row["area"]) for row in by_bytes] == [("up", 4), ("lin", 9)]
    ios = [row["reads"] + row["writes"] for row in everything]
    assert ios == sorted(ios, reverse=True) and len(everything) == AREAS
    for row in everything:
        counters = lab.areas(row["device"], 0)[row["area"]]
        sizes = [
            counters[sectors] * SECTOR / counters[count] if counters[count] else None
            for sectors, count in ((3, 1), (7, 5))
        ]
        assert [row["read_size_bytes"], row["write_size_bytes"]] == sizes
    _most_of_all_time(lab)
    for words, sentence in (
        (("--top", "0"), "invalid --top: '0' (1 to 1000000)"),
        (("--sort", "colour"), "invalid --sort: 'colour'"),
        (("--sort", "busy,busy"), "invalid --sort: 'busy,busy'"),
    ):
        for command in ("watch", "print"):
            done = lab.dmmon(command, *words, "lin")
            assert done.status == 2 and sentence in done.stderr.decode()


@pytest.mark.requirement("D36")
def test_what_killed_watches_left_is_removed(lab: Lab) -> None:
    """And nothing else: neither of those that run, nor of others, nor of what cannot be known."""
    killed = [start(lab, "watch", "--interval", "1h", name) for name in ("lin", "up")]
    lab.wait_watched(2)
    for process in killed:
        process.signal(signal.SIGKILL)
        process.wait()
    watch = start(lab, "watch", "--interval", "1h", "lin", "low")
    lab.wait_watched()
    left = {name: regions(lab, name) for name in ("lin", "up", "low")}
    assert [len(left[name]) for name in ("lin", "up", "low")] == [2, 1, 1]
    gone, lives = left["lin"]
    named = re.fullmatch(r"watch-(\d+)-(\d+)-(\d+)", gone)
    assert named is not None
    namespace = int(named[3])
    found = lab.agent.run(["/bin/busybox", "readlink", "/proc/1/ns/pid"]).check().stdout
    assert found == f"pid:[{namespace}]\n".encode()
    others = {
        "dmmon-watch": ("mine", "watch-99999-5", f"watch-99999-5-{namespace + 1}", "watch-99999-"),
        "other": (f"watch-99999-5-{namespace}",),
    }
    for program, names in others.items():
        for aux in names:
            lab.region("low", f"- /1 0 {program} {aux}")
    # Process 1 was there before that.
    lab.region("low", f"- /1 0 dmmon-watch watch-1-99999999999-{namespace}")
    before = {name: lab.ask(name, "@stats_list") for name in ("lin", "up", "low")}
    done = lab.dmmon("clean", "--dry-run").check()
    assert done.stdout.count(b"would be removed") == 2
    assert {name: lab.ask(name, "@stats_list") for name in before} == before
    done = lab.dmmon("clean", "low").check()
    assert done.stdout == b"" and done.stderr.count(b"of another PID namespace") == 2
    done = lab.dmmon("clean").check()
    assert f"region 0 of lin removed: process {named[1]} no longer exists\n" in done.stdout.decode()
    assert regions(lab, "lin") == [lives] and regions(lab, "up") == []
    assert lab.ask("low", "@stats_list") == before["low"]
    watch.signal(signal.SIGTERM)
    watch.wait().check()
    assert lab.dmmon("clean", "nonsense").status == 2


@pytest.mark.requirement("D37")
def test_colors_are_for_terminals(lab: Lab) -> None:
    lab.region("lin", "- /1 prog")
    assert b"\033" not in lab.dmmon("list", "lin").check().stdout
    done = lab.dmmon("list", "--color", "always", "lin").check()
    assert done.stdout.startswith(b"\033[1mdevice")
    assert b"\033" not in lab.dmmon("list", "--color", "always", "-f", "csv", "lin").check().stdout
    done = lab.dmmon("list", "--color", "red", "lin")
    assert done.status == 2 and b"invalid --color: 'red' (auto, always or never)" in done.stderr
