# SPDX-License-Identifier: MIT
"""dmmon watch and histogram: nothing lost, nothing left behind, nothing of others touched."""

from __future__ import annotations

import json
import re
import signal
from typing import Any

import pytest
from dmstats_lab import TICK_MS, Lab

from zvmlab.agent.worker import Process

pytestmark = [
    pytest.mark.xdist_group("dmstats"),
    pytest.mark.first_kernel,
    pytest.mark.not_debug("it has no device mapper", lacks="BLK_DEV_DM"),
    # Who comes first boots the guest.
    pytest.mark.timeout(600),
]


HOLD = 0.3
"""Seconds for which I/O is held under way."""
LONG = 1.0
"""The same where rates are made of it."""
SHOWN = "/tmp/watched"


def start(lab: Lab, *words: str) -> Process:
    """dmmon in the background; all of its fields as JSON."""
    argv = ["/bin/dmmon", *words, "--format", "json", "--fields", "all"]
    return lab.agent.spawn(argv)


def rows_of(process: Process) -> list[dict[str, Any]]:
    """The reported rows of a command that ended well."""
    done = process.wait().check()
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def own_regions(lab: Lab) -> list[dict[str, Any]]:
    """Regions that dmmon has made for a time."""
    return lab.rows("list", "lin", "--program", "dmmon-watch")


@pytest.mark.requirement("D23")
def test_intervals_add_up_to_what_was_done(lab: Lab) -> None:
    """Whatever falls between two looks is in the next interval; the region goes in the end."""
    command = "exec /bin/dmmon watch --interval 100ms --areas 3 -f json -F all lin"
    watch = lab.agent.spawn(["/bin/sh", "-c", f"{command} >{SHOWN}"])
    lab.wait_watched()
    assert len(own_regions(lab)) == 1
    done = 0

    def seen_often() -> bool:
        nonlocal done
        # Over the border between two areas.
        lab.io("lin", "write", sector=6664, sectors=8, count=50)
        done += 50
        return len(set(re.findall(rb'"interval": ?(\d+)', lab.agent.read_file(SHOWN)))) > 5

    lab.until(seen_often)
    watch.signal(signal.SIGTERM)
    watch.wait().check()
    rows = [json.loads(line) for line in lab.agent.read_file(SHOWN).splitlines()]
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


@pytest.mark.requirement("D38")
def test_watch_shows_totals_of_groups(lab: Lab) -> None:
    """Of members by ticks and exact ones; what is outside of the group is not in it."""
    regions = [
        lab.region("lin", f"{64 * index}+64 /2 {'1 precise_timestamps ' * (index == 1)}dmstats -")
        for index in range(3)
    ]
    lab.dmsetup("stats", "group", "--alias", "mine", "--regions", "0-1", "lin").check()
    watch = start(lab, "watch", "--interval", "1h", "--groups", "--all-programs", "lin")
    lab.wait_watched()
    for sector, count in ((0, 3), (40, 4), (64, 5), (128, 2)):
        lab.io("lin", "write", sector=sector, count=count)
    areas = [area for region in regions[:2] for area in lab.areas("lin", region)]
    watch.signal(signal.SIGTERM)
    (row,) = rows_of(watch)
    assert (row["group"], row["region"], row["area"], row["sectors"]) == ("mine", 0, None, 128)
    assert (
        (row["writes"], row["write_sectors"])
        == (12, 96)
        == tuple(sum(area[number] for area in areas) for number in (5, 7))
    )
    seconds = row["interval_ns"] / 1e9
    assert row["ios_per_s"] == pytest.approx(12 / seconds, rel=1e-6)
    assert row["write_latency_ns"] == pytest.approx(row["write_time_ns"] / 12)
    for words in (("--all-programs", "--top", "1"), ()):
        wrong = lab.dmmon("watch", "--groups", *words, "lin")
        assert wrong.status == 2 and b"--groups shows" in wrong.stderr


@pytest.mark.requirement("D8")
def test_latency_of_a_delayed_device(lab: Lab) -> None:
    """Reads that take 100 ms by the kernel's ticks take in watch and histogram what they do by its clock."""
    lab.create("slow", "0 1000 delay /dev/ram0 0 100")
    ticks = lab.region("slow", "- /1")
    bounds = "histogram:90000000,100000000000"
    region = lab.region("slow", f"- /1 2 precise_timestamps {bounds}")
    watch = start(lab, "watch", "--interval", "200ms", "slow")
    lab.wait_watched()
    shown = start(lab, "histogram", "--duration", "1h", "--bounds", "90ms,100s", "slow")
    lab.wait_watched(2)
    lab.io("slow", "read", count=10)
    (area,) = lab.areas("slow", region)
    for process in (watch, shown):
        process.signal(signal.SIGTERM)
    rows = rows_of(watch)
    assert sum(row["reads"] for row in rows) == 10
    assert sum(row["read_time_ns"] for row in rows) == area[4]
    # The clock goes on while a tick is late: by it a delay may be shorter.
    assert lab.areas("slow", ticks)[0][4] >= 10 * (100 - TICK_MS)
    for row in rows:
        if row["reads"]:
            assert row["read_latency_ns"] == pytest.approx(row["read_time_ns"] / row["reads"])
    buckets = rows_of(shown)
    assert [(row["from_ns"], row["below_ns"]) for row in buckets] == [
        (0, 90_000_000),
        (90_000_000, 100_000_000_000),
        (100_000_000_000, None),
    ]
    assert tuple(row["ios"] for row in buckets) == area.histogram
    assert [row["percent"] for row in buckets] == [10 * ios for ios in area.histogram]
    assert [row["region"] for row in lab.rows("list", "slow")] == [ticks, region]


def rates_of(known: dict[str, Any], interval_ns: int) -> dict[str, Any]:
    """The rates that dmmon should derive from the counts of an interval."""

    def mean(time: int, count: int) -> Any:
        return pytest.approx(time / count) if count else None

    seconds = interval_ns / 1e9
    rates: dict[str, Any] = {
        "reads_per_s": known["reads"] / seconds,
        "writes_per_s": known["writes"] / seconds,
        "read_bytes_per_s": 512 * known["read_sectors"] / seconds,
        "write_bytes_per_s": 512 * known["write_sectors"] / seconds,
        "busy_percent": 100 * known["io_time_ns"] / interval_ns,
        "queue": known["queue_time_ns"] / interval_ns,
        "ios_per_s": (known["reads"] + known["writes"]) / seconds,
    }
    rates = {key: pytest.approx(value) for key, value in rates.items()}
    rates["read_latency_ns"] = mean(known["read_time_ns"], known["reads"])
    rates["write_latency_ns"] = mean(known["write_time_ns"], known["writes"])
    rates["service_time_ns"] = mean(known["io_time_ns"], known["reads"] + known["writes"])
    return rates


@pytest.mark.requirement("D5")
def test_watch_shows_what_the_kernel_counts(lab: Lab) -> None:
    """Counters, rates, latencies, times: by ticks and exact, of areas, beside other sources."""
    regions = [
        lab.region("up", "0+32768 16384 1 histogram:10,300 mine"),
        lab.region("up", "0+32768 16384 2 precise_timestamps histogram:9000,300000000 mine"),
    ]
    outer, statistics = lab.uptime(), lab.statistics("up")
    watch = start(lab, "watch", "--interval", "1h", "--idle", "--program", "mine", "up")
    lab.wait_watched()
    inner = lab.uptime()
    lab.io("up", "write", sector=20000, sectors=24, count=4)
    with lab.held():
        words = [lab.io_words("up", "read", sector=sector) for sector in (0, 8)]
        words.append(lab.io_words("up", "write", sector=64, sectors=16))
        held = [lab.agent.spawn(word) for word in words]
        lab.wait_in_flight("up", regions[1], 3)
        lab.pass_time(LONG)
    for process in held:
        process.wait().check()
    # They counted nothing before the first look, and nothing is under way.
    known = [row for region in regions for row in lab.known("up", region)]
    inner = lab.uptime() - inner
    watch.signal(signal.SIGTERM)
    rows = rows_of(watch)
    outer = lab.uptime() - outer
    assert [{key: row[key] for key in known[0]} for row in rows] == known
    for row, area in zip(rows, known, strict=True):
        rates = rates_of(area, row["interval_ns"])
        assert {key: row[key] for key in rates} == rates
        assert (row["doubt"], row["interval"]) == (None, 1)
        # /proc/uptime has hundredths.
        assert inner - 0.02 <= row["interval_ns"] / 1e9 <= outer + 0.02
    moved = [b - a for a, b in zip(statistics, lab.statistics("up"), strict=True)]
    for pair in (rows[:2], rows[2:]):
        assert sum(row["reads"] for row in pair) == moved[0] == 2
        assert sum(row["read_sectors"] for row in pair) == moved[2] == 16
        assert sum(row["writes"] for row in pair) == moved[4] == 5
        assert sum(row["write_sectors"] for row in pair) == moved[6] == 4 * 24 + 16
    # Both go by ticks, and look at them one after the other.
    assert moved[3] / 2 < sum(row["read_time_ns"] for row in rows[:2]) / 1e6 < moved[3] * 2
    exact = rows[2]
    outer += 0.02
    assert 1e9 * LONG <= exact["read_latency_ns"] <= 1e9 * outer
    assert 100 * LONG / outer <= exact["busy_percent"] <= 100
    assert exact["queue"] >= 3 * LONG / outer


def histogram(lab: Lab, *words: str) -> list[tuple[Any, ...]]:
    """The report of dmmon histogram, without the device's name and the drawing."""
    names = ("region", "area", "from_ns", "below_ns", "ios", "percent")
    return [tuple(row[name] for name in names) for row in lab.rows("histogram", *words, "up")]


def buckets(region: int, area: int | None, counts: tuple[int, ...]) -> list[tuple[Any, ...]]:
    """The expected report of these counts, with bounds of 10 and 250 ms."""
    bounds = [0, 10_000_000, 250_000_000, None]
    return [
        (region, area, bounds[i], bounds[i + 1], count, pytest.approx(100 * count / sum(counts)))
        for i, count in enumerate(counts)
    ]


@pytest.mark.requirement("D6")
def test_histogram_shows_what_the_kernel_counts(lab: Lab) -> None:
    """Regions by ticks and exact, all areas and each, since ever and for a time."""
    ticks = lab.region("up", "0+32768 16384 1 histogram:10,250")
    exact = lab.region("up", "0+32768 16384 2 precise_timestamps histogram:10000000,250000000")
    lab.io("up", "write", count=3)
    lab.io("up", "write", sector=20000, count=5)
    words = ("--region", str(exact), "--per-area")
    timed = start(lab, "histogram", "--duration", "1h", *words, "up")
    lab.wait_watched()
    before = [area.histogram for area in lab.areas("up", exact)]
    with lab.held():
        held = lab.agent.spawn(lab.io_words("up", "read"))
        lab.wait_in_flight("up", exact, 1)
        lab.pass_time(HOLD)
    held.wait().check()
    lab.io("up", "write", sector=20000, count=2)
    counts = {
        region: [area.histogram for area in lab.areas("up", region)] for region in (ticks, exact)
    }
    timed.signal(signal.SIGTERM)
    for region in (ticks, exact):
        first, second = counts[region]
        assert (sum(first), sum(second)) == (4, 7) and first[2] >= 1
        total = tuple(a + b for a, b in zip(first, second, strict=True))
        assert histogram(lab, "--region", str(region)) == buckets(region, None, total)
        each = [row for area in (0, 1) for row in buckets(region, area, counts[region][area])]
        assert histogram(lab, "--region", str(region), "--per-area") == each
    both = [row for region in (ticks, exact) for row in histogram(lab, "--region", str(region))]
    assert histogram(lab, "--all-programs") == both
    since = [
        tuple(late - early for early, late in zip(*pair, strict=True))
        for pair in zip(before, counts[exact], strict=True)
    ]
    assert [(row["area"], row["ios"]) for row in rows_of(timed)] == [
        (area, count) for area in (0, 1) for count in since[area]
    ]
    assert [sum(counted) for counted in since] == [1, 2]


def table(lab: Lab, *words: str) -> list[list[str]]:
    """The words of a table for people."""
    return [line.split() for line in lab.dmmon(*words).check().stdout.decode().splitlines()]


@pytest.mark.requirement("D6")
def test_histogram_for_people(lab: Lab) -> None:
    """Drawn, with units, each area named; but only the fields that were asked for."""
    region = lab.region("up", "0+32768 16384 1 histogram:10,250")
    lab.io("up", "write", sector=20000, count=4)
    with lab.held():
        held = lab.agent.spawn(lab.io_words("up", "read", sector=20000))
        lab.until(lambda: lab.areas("up", region)[1][9] == 1)
        lab.agent.sleep(HOLD)
    held.wait().check()
    counts = lab.areas("up", region)[1].histogram
    heading, *lines = table(lab, "histogram", "--region", "0", "up")
    assert heading == ["device", "region", "from", "below", "ios", "percent", "bar"]
    assert [line.count("#") for line in (" ".join(words) for words in lines)] == [
        int(50 * count / max(counts) + 0.5) for count in counts
    ]
    assert lines[1][2:6] == ["10.0", "ms", "250", "ms"]
    heading, *lines = table(lab, "histogram", "--region", "0", "--per-area", "up")
    assert heading[:3] == ["device", "region", "area"] and heading[-1] == "bar"
    assert [line[2] for line in lines] == ["0"] * 3 + ["1"] * 3
    six = ["ios", "percent", "below_ns", "from_ns", "area", "region"]
    heading, *lines = table(lab, "histogram", "--all-programs", "-F", ",".join(six), "up")
    assert heading == six and lines[1][2:] == ["250000000", "10000000", "-", "0"]
    usual = table(lab, "histogram", "--region", "0", "-F", "+area", "up")[0]
    assert usual == ["device", "region", "from", "below", "ios", "percent", "area", "bar"]
    shown = lab.dmmon("histogram", "--region", "0", "--per-area", "-f", "csv", "up").check()
    assert shown.stdout.startswith(b"device,region,area,from_ns,below_ns,ios,percent\n")


@pytest.mark.requirement("D3")
def test_human_headings_have_no_unit(lab: Lab) -> None:
    """The values have: sizes, times and rates."""
    lab.region("lin", "0+4096 2048 0 mine")
    heading, first, _ = table(
        lab, "print", "--human", "-F", "start_sector,sectors,io_time_ns", "lin"
    )
    assert heading == ["start", "size", "io_time"] and first == ["0", "B", "1.00", "MiB", "0", "ns"]
    heading, first = table(lab, "list", "--human", "-F", "sectors,area_sectors,memory_bytes", "lin")
    assert heading == ["size", "area", "memory"] and first[:4] == ["2.00", "MiB", "1.00", "MiB"]
    names = "read_bytes_per_s,read_latency_ns,reads_per_s,interval_ns"
    words = ("watch", "--count", "1", "--interval", "10ms", "--idle", "--human", "-F", names, "lin")
    assert table(lab, *words)[0] == ["read", "read_latency", "reads_per_s", "interval"]
    # Numbers without a unit of their own keep the heading.
    assert table(lab, "print", "-F", "sectors,io_time_ns", "lin")[0] == ["sectors", "io_time_ns"]


@pytest.mark.requirement("D9")
def test_regions_of_others_are_watched_and_not_touched(lab: Lab) -> None:
    """Their counters go on; the region stays."""
    region = lab.region("lin", "- /1 other")
    lab.io("lin", "read", count=4)
    watch = start(lab, "watch", "--interval", "100ms", "--region", "0", "lin")
    lab.wait_watched()
    lab.io("lin", "read", count=3)
    watch.signal(signal.SIGTERM)
    assert sum(row["reads"] for row in rows_of(watch)) == 3
    assert lab.areas("lin", region)[0][1] == 7
    assert [row["program"] for row in lab.rows("list", "lin")] == ["other"]


@pytest.mark.requirement("D18")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE])
def test_region_goes_with_a_signal(lab: Lab, number: signal.Signals) -> None:
    """And the last interval is reported; SIGPIPE by itself ends nothing."""
    watch = start(lab, "watch", "--interval", "1h", "lin")
    lab.wait_watched()
    lab.io("lin", "read", count=5)
    watch.signal(number)
    if number == signal.SIGPIPE:
        assert len(own_regions(lab)) == 1
        watch.signal(signal.SIGTERM)
    assert [row["reads"] for row in rows_of(watch)] == [5]
    assert own_regions(lab) == []
    lab.wait_freed()


@pytest.mark.requirement("D18")
def test_keep_leaves_the_region(lab: Lab) -> None:
    """For dmmon print, or another watch."""
    done = lab.dmmon("watch", "--interval", "10ms", "--count", "1", "--keep", "lin").check()
    (row,) = lab.rows("list", "lin", "--program", "dmmon")
    assert row["precise"] and f"region {row['region']} of lin is kept".encode() in done.stderr
    lab.io("lin", "read")
    assert [row["reads"] for row in lab.rows("print", "lin")] == [1]


@pytest.mark.requirement("D18")
def test_region_that_is_deleted_meanwhile_ends_it(lab: Lab) -> None:
    """Also if another one has its number by then, which stays."""
    watch = start(lab, "watch", "--interval", "30s", "lin")
    lab.wait_watched()
    number = own_regions(lab)[0]["region"]
    assert lab.send("lin", f"@stats_delete {number}").errno == 0
    assert lab.region("lin", "0+8 8 0 other mine") == number
    # In the middle of a look it would be said in other words.
    lab.pass_time(30)
    ended = watch.wait()
    assert ended.status == 1
    assert f"region {number} of lin has been deleted".encode() in ended.stderr
    assert [row["aux"] for row in lab.rows("list", "lin")] == ["mine"]


@pytest.mark.requirement("D19")
def test_region_that_somebody_clears_is_doubted(lab: Lab) -> None:
    """Counts since then are shown, rates are not."""
    region = lab.region("lin", "- /1 other")
    lab.io("lin", "read", count=9)
    watch = start(lab, "watch", "--interval", "1h", "--region", str(region), "lin")
    lab.wait_watched()
    assert lab.send("lin", f"@stats_clear {region}").errno == 0
    lab.io("lin", "read", count=2)
    watch.signal(signal.SIGINT)
    (row,) = rows_of(watch)
    assert (row["doubt"], row["reads"], row["reads_per_s"]) == ("cleared", 2, None)


@pytest.mark.requirement("D9")
@pytest.mark.parametrize(
    "words",
    ["- /1 1 precise_timestamps other aux", "- /1 1 precise_timestamps prog new", "- /1 prog aux"],
)
def test_another_region_with_the_number_is_not_taken_for_it(lab: Lab, words: str) -> None:
    """Neither one of another program, nor of other auxiliary data, nor of another kind."""
    assert lab.region("lin", "- /1 1 precise_timestamps prog aux") == 0
    watch = start(lab, "watch", "--interval", "1h", "--region", "0", "lin")
    lab.wait_watched()
    assert lab.send("lin", "@stats_delete 0").errno == 0
    assert lab.region("lin", words) == 0
    lab.io("lin", "read", count=3)
    watch.signal(signal.SIGTERM)
    ended = watch.wait()
    assert (ended.status, ended.stdout) == (1, b"")
    assert b"region 0 of lin has been replaced" in ended.stderr
    assert len(lab.rows("list", "lin")) == 1


@pytest.mark.requirement("D29")
@pytest.mark.parametrize("words", [(), ("--region", "0")])
def test_device_made_anew_is_another_one(lab: Lab, words: tuple[str, ...]) -> None:
    """Though it has the name, the number, and a region that is the same in all that is listed."""
    lab.create("short", "0 1000 linear /dev/ram0 0")
    minor = lab.minor("short")
    if words:
        lab.region("short", "- /1 1 precise_timestamps prog aux")
    watch = start(lab, "watch", "--interval", "1h", *words, "short")
    lab.wait_watched()
    (line,) = lab.ask("short", "@stats_list").splitlines()
    program, aux = line.split()[3:5]
    lab.remove("short")
    lab.create("short", "0 1000 linear /dev/ram0 0")
    assert lab.minor("short") == minor
    program = program if words else "other"
    lab.region("short", f"- /1 1 precise_timestamps {program} {aux}")
    lab.io("short", "read", count=3)
    watch.signal(signal.SIGTERM)
    ended = watch.wait()
    assert (ended.status, ended.stdout) == (1, b"")
    assert b"device short and its regions no longer exist" in ended.stderr
    # The other one's region has lost nothing.
    assert [area[1] for area in lab.areas("short", 0)] == [3]


@pytest.mark.requirement("D29")
def test_device_that_goes_ends_a_watch(lab: Lab) -> None:
    """With one sentence."""
    lab.create("short", "0 1000 linear /dev/ram0 0")
    watch = start(lab, "watch", "--interval", "1h", "short")
    lab.wait_watched()
    lab.remove("short")
    watch.signal(signal.SIGTERM)
    ended = watch.wait()
    assert (ended.status, ended.stdout) == (1, b"")
    assert ended.stderr.splitlines()[1:] == [b"dmmon: device short and its regions no longer exist"]


@pytest.mark.requirement("D29")
def test_device_that_gets_another_table_is_watched_on(lab: Lab) -> None:
    """It is the same device, larger."""
    lab.create("short", "0 1000 linear /dev/ram0 0")
    watch = start(lab, "watch", "--interval", "1h", "short")
    lab.wait_watched()
    lab.io("short", "read", count=2)
    lab.dmsetup("load", "short", "--table", "0 2000 linear /dev/ram0 0").check()
    lab.dmsetup("suspend", "--noudevsync", "short").check()
    lab.dmsetup("resume", "--noudevsync", "short").check()
    lab.io("short", "read", count=3)
    watch.signal(signal.SIGTERM)
    assert [(row["reads"], row["sectors"]) for row in rows_of(watch)] == [(5, 1000)]


@pytest.mark.requirement("D18")
@pytest.mark.parametrize("words", [("watch", "--interval"), ("histogram", "--duration")])
def test_device_that_is_renamed_is_watched_on(lab: Lab, words: tuple[str, str]) -> None:
    """The name that it has is shown, nothing is lost, and the region goes in the end."""
    lab.create("short", "0 1000 linear /dev/ram0 0")
    watch = start(lab, *words, "1h", "short")
    lab.wait_watched()
    lab.io("short", "read", count=2)
    lab.rename("short", "long")
    # A device with the old name is not meant.
    lab.create("short", "0 1000 linear /dev/ram0 0")
    lab.io("long", "read", count=3)
    lab.io("short", "read")
    watch.signal(signal.SIGTERM)
    ended = watch.wait().check()
    rows = [json.loads(line) for line in ended.stdout.decode().splitlines()]
    assert {row["device"] for row in rows} == {"long"}
    assert sum(row["reads" if words[0] == "watch" else "ios"] for row in rows) == 5
    assert b"device short is called long now" in ended.stderr
    lab.wait_freed()


@pytest.mark.requirement("D18")
def test_others_do_not_change_what_is_watched(lab: Lab) -> None:
    """--all is all of dmmon's own, and the regions of watches are no part of it; unless told so."""
    lab.dmmon("create", "lin").check()
    lab.region("lin", "- /1 other")
    watch = start(lab, "watch", "--interval", "1h", "lin")
    lab.wait_watched()
    lab.io("lin", "read", count=3)
    lab.dmmon("clear", "--all", "lin").check()
    assert [row["region"] for row in lab.rows("print", "--clear", "--all", "lin")] == [0]
    lab.io("lin", "read", count=4)
    assert [row["reads"] for row in lab.rows("print", "lin")] == [4, 7, 7]
    lab.dmmon("delete", "--all", "lin").check()
    assert [row["program"] for row in lab.rows("list", "lin")] == ["other", "dmmon-watch"]
    watch.signal(signal.SIGTERM)
    assert [(row["reads"], row["doubt"]) for row in rows_of(watch)] == [(7, None)]
    watch = start(lab, "watch", "--interval", "1h", "lin")
    lab.wait_watched()
    # Nothing is chosen twice, and looking knows the same words.
    for words in (("--all",), ("--region", "0"), ("--program", "dmmon")):
        assert lab.dmmon("delete", "--all-programs", *words, "lin").status == 2
    assert lab.rows("print", "--all", "lin") == []
    assert len(lab.rows("print", "--all-programs", "lin")) == 2
    assert len(lab.rows("print", "--clear", "--all-programs", "lin")) == 2
    assert [row["reads"] for row in lab.rows("print", "lin")] == [0, 0]
    lab.dmmon("delete", "--all-programs", "lin").check()
    watch.signal(signal.SIGTERM)
    assert watch.wait().status == 1
    lab.wait_freed()


HOSTILE = {
    "blank": (r"- /2 0 \  x", " ", "x"),
    "two words": (r"- /2 0 a\ b x", "a b", "x"),
    "ours and a word": (r"- /2 0 dmmon-watch\ y x", "dmmon-watch y", "x"),
    "line break": ("- /2 0 a\\\nb x", "a\nb", "x"),
    "another region": ("- /2 0 a\\\n9:\\ 0+1\\ 1\\ p x", "a\n9: 0+1 1 p", "x"),
    "aux with half a region": ("- /2 0 p x\\\n9:\\ 0+1\\ 1\\ p", "p", "x\n9: 0+1 1 p"),
    "aux with a region": ("- /2 0 p x\\\n9:\\ 0+1\\ 1\\ dmmon\\ y", "p", "x\n9: 0+1 1 dmmon y"),
}


@pytest.mark.requirement("D21")
@pytest.mark.parametrize("words, name, aux", HOSTILE.values(), ids=HOSTILE)
def test_names_of_others_do_no_harm(lab: Lab, words: str, name: str, aux: str) -> None:
    """Whatever somebody calls a region: it is listed, others are, watches work and leave nothing."""
    region = lab.region("lin", words)
    assert lab.region("up", "- /1 other") == 0
    watch = start(lab, "watch", "--interval", "1h", "lin")
    lab.wait_watched()
    lab.io("lin", "read", count=3)
    watch.signal(signal.SIGTERM)
    assert sum(row["reads"] for row in rows_of(watch)) == 3
    assert lab.ask("lin", "@stats_list dmmon-watch") == ""
    listed = lab.rows("list")
    assert (listed[0]["device"], listed[0]["region"]) == ("lin", region)
    assert (listed[-1]["device"], listed[-1]["program"]) == ("up", "other")
    # Asked for by its name it is shown as it is.
    (row,) = lab.rows("list", "lin", "--program", name)
    assert (row["region"], row["area_sectors"]) == (region, 10000)
    assert (row["program"], row["aux"]) == (name, aux)
    for ours in ("dmmon", "dmmon-watch"):
        assert lab.dmmon("delete", "--region", "0", "--program", ours, "lin").status == 2
        lab.dmmon("delete", "--all", "--program", ours, "lin").check()
    assert [area[1] for area in lab.areas("lin", region)] == [3, 0]
    rows = lab.dmmon("print", "-f", "json", "--program", name, "lin").check().stdout
    assert [json.loads(line)["reads"] for line in rows.splitlines()] == [3, 0]
    lab.dmmon("delete", "--region", "0", "--program", name, "lin").check()
    assert lab.ask("lin", "@stats_list") == ""
