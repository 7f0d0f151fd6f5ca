# SPDX-License-Identifier: MIT
"""dmmon watch and histogram: nothing lost, nothing left behind, nothing of others touched."""

from __future__ import annotations

import json
import signal
from typing import Any

import pytest
from dmstats_lab import Lab

from zvmlab.agent_worker import Process

pytestmark = [
    pytest.mark.xdist_group("dmstats"),
    pytest.mark.first_kernel,
    pytest.mark.not_debug("it has no device mapper"),
    # Who comes first boots the guest.
    pytest.mark.timeout(300),
]


def start(lab: Lab, *words: str) -> Process:
    """dmmon in the background; all of its fields as JSON."""
    argv = ["/bin/dmmon", *words, "--format", "json", "--fields", "all"]
    return lab.agent.spawn(argv)


def rows_of(process: Process) -> list[dict[str, Any]]:
    """What it has reported when it has ended well."""
    done = process.wait().check()
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def text_of(lab: Lab, path: str) -> bytes:
    """What a file in /proc says; nothing if it is not there."""
    try:
        return lab.agent.read_file(path)
    except OSError:
        return b""


def timer_runs(lab: Lab) -> bool:
    """Does dmmon, one of the processes started last, have a timer that runs?"""
    last = int(lab.agent.read_file("/proc/loadavg").split()[-1])
    for pid in range(last, 1, -1):
        if text_of(lab, f"/proc/{pid}/cmdline").startswith(b"/bin/dmmon"):
            files = [text_of(lab, f"/proc/{pid}/fdinfo/{fd}") for fd in range(3, 10)]
            return any(b"it_value:" in t and b"it_value: (0, 0)" not in t for t in files)
    return False


def own_regions(lab: Lab) -> list[dict[str, Any]]:
    """Regions of dmmon on the device."""
    return lab.rows("list", "lin", "--program", "dmmon")


def test_d23_intervals_add_up_to_what_was_done(lab: Lab) -> None:
    """Whatever falls between two looks is in the next interval; the region goes in the end."""
    watch = start(lab, "watch", "--interval", "100ms", "--areas", "3", "lin")
    lab.until(lambda: len(own_regions(lab)) == 1)
    # Over the border between two areas.
    words = [*lab.io_words("lin", "write", sector=6664, sectors=8, count=50), "2"]
    done = int(lab.agent.run(words).check().stdout)
    watch.signal(signal.SIGTERM)
    rows = rows_of(watch)
    assert done >= 50
    assert sum(row["write_sectors"] for row in rows) == 8 * done
    assert {row["area"] for row in rows} <= {0, 1}
    numbers = [row["interval"] for row in rows]
    assert numbers == sorted(numbers) and len(set(numbers)) > 5
    assert own_regions(lab) == []
    for row in rows:
        seconds = row["interval_ns"] / 1e9
        assert row["writes_per_s"] == pytest.approx(row["writes"] / seconds)
        assert row["write_bytes_per_s"] == pytest.approx(512 * row["write_sectors"] / seconds)
        assert row["doubt"] is None and 0 <= row["busy_percent"] <= 100
        assert row["read_latency_ns"] is None
        if row["writes"]:
            assert row["write_latency_ns"] == pytest.approx(row["write_time_ns"] / row["writes"])


def test_d08_latency_of_a_delayed_device(lab: Lab) -> None:
    """Reads that take 100 ms, less a tick of the delay's clock, do so in watch and histogram."""
    lab.create("slow", "0 1000 delay /dev/ram0 0 100")
    watch = start(lab, "watch", "--interval", "200ms", "slow")
    shown = start(lab, "histogram", "--duration", "1h", "--bounds", "90ms,100s", "slow")
    lab.until(lambda: len(lab.rows("list", "slow")) == 2)
    lab.io("slow", "read", count=10)
    for process in (watch, shown):
        process.signal(signal.SIGTERM)
    rows = rows_of(watch)
    assert sum(row["reads"] for row in rows) == 10
    assert all(row["read_latency_ns"] >= 90e6 for row in rows if row["reads"])
    buckets = rows_of(shown)
    assert [(row["from_ns"], row["below_ns"]) for row in buckets] == [
        (0, 90_000_000),
        (90_000_000, 100_000_000_000),
        (100_000_000_000, None),
    ]
    assert [row["ios"] for row in buckets] == [0, 10, 0]
    assert [row["percent"] for row in buckets] == [0, 100, 0]
    assert lab.rows("list", "slow") == []


def test_d09_regions_of_others_are_watched_and_not_touched(lab: Lab) -> None:
    """Their counters go on; the region stays."""
    region = lab.region("lin", "- /1 other")
    lab.io("lin", "read", count=4)
    watch = start(lab, "watch", "--interval", "100ms", "--region", "0", "lin")
    lab.until(lambda: timer_runs(lab))
    lab.io("lin", "read", count=3)
    watch.signal(signal.SIGTERM)
    assert sum(row["reads"] for row in rows_of(watch)) == 3
    assert lab.areas("lin", region)[0][1] == 7
    assert [row["program"] for row in lab.rows("list", "lin")] == ["other"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE])
def test_d18_region_goes_with_a_signal(lab: Lab, number: signal.Signals) -> None:
    """And the last interval is reported; SIGPIPE by itself ends nothing."""
    watch = start(lab, "watch", "--interval", "1h", "lin")
    lab.until(lambda: len(own_regions(lab)) == 1)
    lab.io("lin", "read", count=5)
    watch.signal(number)
    if number == signal.SIGPIPE:
        assert len(own_regions(lab)) == 1
        watch.signal(signal.SIGTERM)
    assert [row["reads"] for row in rows_of(watch)] == [5]
    assert own_regions(lab) == []
    assert lab.allocated() == 0


def test_d18_keep_leaves_the_region(lab: Lab) -> None:
    """For dmmon print, or another watch."""
    done = lab.dmmon("watch", "--interval", "10ms", "--count", "1", "--keep", "lin").check()
    (row,) = own_regions(lab)
    assert row["precise"] and f"region {row['region']} of lin is kept".encode() in done.stderr
    lab.io("lin", "read")
    assert [row["reads"] for row in lab.rows("print", "lin")] == [1]


def test_d18_region_that_is_deleted_meanwhile_ends_it(lab: Lab) -> None:
    """Also if another one has its number by then, which stays."""
    watch = start(lab, "watch", "--interval", "200ms", "lin")
    lab.until(lambda: len(own_regions(lab)) == 1)
    number = own_regions(lab)[0]["region"]
    assert lab.send("lin", f"@stats_delete {number}").errno == 0
    assert lab.region("lin", "0+8 8 0 dmmon mine") == number
    ended = watch.wait()
    assert ended.status == 1
    assert f"region {number} of lin has been deleted".encode() in ended.stderr
    assert [row["aux"] for row in own_regions(lab)] == ["mine"]


def test_d19_region_that_somebody_clears_is_doubted(lab: Lab) -> None:
    """What has been counted since is shown, rates are not."""
    region = lab.region("lin", "- /1 other")
    lab.io("lin", "read", count=9)
    watch = start(lab, "watch", "--interval", "1h", "--region", str(region), "lin")
    # The timer runs when the first look has been taken.
    lab.until(lambda: timer_runs(lab))
    assert lab.send("lin", f"@stats_clear {region}").errno == 0
    lab.io("lin", "read", count=2)
    watch.signal(signal.SIGINT)
    (row,) = rows_of(watch)
    assert (row["doubt"], row["reads"], row["reads_per_s"]) == ("cleared", 2, None)
