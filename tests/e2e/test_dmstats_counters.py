# SPDX-License-Identifier: MIT
"""Counters of areas: what they count, how they are printed and cleared; by messages and by dmmon."""

from __future__ import annotations

import csv
import errno

import pytest
from dmstats_lab import TICK_MS, Area, Lab

pytestmark = [
    pytest.mark.xdist_group("dmstats"),
    pytest.mark.first_kernel,
    pytest.mark.not_debug("it has no device mapper", lacks="BLK_DEV_DM"),
    # Who comes first boots the guest.
    pytest.mark.timeout(600),
]

HOLD = 0.3
"""Seconds for which I/O is held under way."""
SLACK = 40
"""Milliseconds: a tick or two for each I/O."""
ZEROS = (0,) * 13


@pytest.mark.requirement("D3")
@pytest.mark.representative
def test_each_area_counts_its_part(lab: Lab) -> None:
    """An I/O over a border counts once in each area that it touches, with the sectors there."""
    region = lab.region("lin", "0+1000 300")
    lab.io("lin", "read", sector=290, sectors=16)
    lab.io("lin", "write", sector=904, sectors=8)
    areas = lab.areas("lin", region)
    assert [(area[1], area[3]) for area in areas] == [(1, 10), (1, 6), (0, 0), (0, 0)]
    assert [(area[5], area[7]) for area in areas] == [(0, 0), (0, 0), (0, 0), (1, 8)]
    rows = lab.rows("print", "lin")
    assert [(row["reads"], row["read_sectors"]) for row in rows] == [(1, 10), (1, 6)] + [(0, 0)] * 2
    assert [(row["writes"], row["write_sectors"]) for row in rows][3] == (1, 8)


@pytest.mark.requirement("D3")
def test_last_area_is_shorter_than_the_kernel_prints(lab: Lab) -> None:
    """The kernel prints the step for it, the document promises the length; dmmon shows that."""
    region = lab.region("lin", "0+1000 300")
    assert [(area.start, area.step) for area in lab.areas("lin", region)] == [
        (start, 300) for start in (0, 300, 600, 900)
    ]
    assert [(row["start_sector"], row["sectors"]) for row in lab.rows("print", "lin")] == [
        (0, 300),
        (300, 300),
        (600, 300),
        (900, 100),
    ]


@pytest.mark.requirement("D4")
def test_counters_are_those_of_the_block_device(lab: Lab) -> None:
    """I/Os and sectors are those of /sys/block/dm-N/stat."""
    stat = f"/sys/block/dm-{lab.minor('lin')}/stat"
    region = lab.region("lin", "- /1")
    before = [int(word) for word in lab.agent.read_file(stat).split()]
    lab.io("lin", "write", sectors=16, count=5)
    lab.io("lin", "read", sectors=8, count=7)
    (area,) = lab.areas("lin", region)
    after = [int(word) for word in lab.agent.read_file(stat).split()]
    moved = [late - early for early, late in zip(before, after, strict=True)]
    assert [area[n] for n in (1, 3, 5, 7)] == [moved[n - 1] for n in (1, 3, 5, 7)]
    assert [area[n] for n in (1, 3, 5, 7)] == [7, 56, 5, 80]
    (row,) = lab.rows("print", "lin")
    names = ("reads", "read_sectors", "writes", "write_sectors")
    assert [row[name] for name in names] == [7, 56, 5, 80]


@pytest.mark.requirement("D4")
def test_dmmon_shows_what_the_kernel_counts(lab: Lab) -> None:
    """Every field of every area, also beyond 32 bits, exactly, as JSON and as CSV."""
    far = 2**40 + 1
    regions = [
        lab.region("up", "0+1000 300 1 histogram:10,300"),
        lab.region("up", "0+1000 300 2 precise_timestamps histogram:1000000,300000000"),
        lab.region("up", f"{far}+{2**41 + 5} {2**41}"),
    ]
    lab.io("up", "write", sector=296, sectors=16, count=3)
    written = lab.areas("up", regions[1])[0][11]
    with lab.held():
        readers = [
            lab.agent.spawn(lab.io_words("up", "read", sector=8 * number)) for number in range(8)
        ]
        # Eight of them: more nanoseconds than 32 bits hold after half a second.
        lab.until(lambda: lab.areas("up", regions[1])[0][11] - written > 2**32)
    for reader in readers:
        reader.wait().check()
    known = [row for region in regions for row in lab.known("up", region)]
    rows = lab.rows("print", "up")
    assert [{key: row[key] for key in known[0]} for row in rows] == known
    assert all(row["doubt"] is None for row in rows)
    text = lab.dmmon("print", "--format", "csv", "--fields", "all", "up").check().stdout.decode()
    found = [
        {key: int(row[key]) for key in known[0] if key not in ("device", "histogram")}
        for row in csv.DictReader(text.splitlines())
    ]
    assert found == [{key: row[key] for key in row if key in found[0]} for row in known]
    # What this compares is not all zeros.
    assert [row["reads"] for row in known] == [8, 0, 0, 0] * 2 + [0, 0]
    assert known[4]["read_time_ns"] > 2**32 and known[4]["write_time_ns"] > 0
    assert known[0]["read_time_ns"] >= 500_000_000
    assert sum(known[4]["histogram"]) == 8 + 1 and len(known[4]["histogram"]) == 3
    assert [row["start_sector"] for row in known[-2:]] == [far, far + 2**41]


def hold_both(lab: Lab, region: int) -> None:
    """A read for two times HOLD and a write for HOLD are under way, and stay so."""
    lab.agent.spawn(lab.io_words("up", "read"))
    lab.wait_in_flight("up", region, 1)
    lab.pass_time(HOLD)
    lab.agent.spawn(lab.io_words("up", "write", sector=64))
    lab.wait_in_flight("up", region, 2)
    lab.pass_time(HOLD)


@pytest.mark.requirement("D5")
def test_times_of_reading_and_writing(lab: Lab) -> None:
    """Fields 12 and 13; with one I/O of each kind they add up to field 11."""
    region = lab.region("up", "- /1")
    with lab.held():
        hold_both(lab, region)
        (area,) = lab.areas("up", region)
        (row,) = lab.rows("print", "up")
        assert area[9] == row["in_flight"] == 2
        assert area.counts[:8] == (0,) * 8
        assert area[12] >= 2000 * HOLD and area[13] >= 1000 * HOLD
        assert area[10] == area[12] > area[13]
        assert area[11] == area[12] + area[13]
        assert row["reading_time_ns"] >= area[12] * 1000000
    lab.wait_in_flight("up", region, 0)
    (area,) = lab.areas("up", region)
    assert (area[1], area[5]) == (1, 1)
    assert area[4] >= area[8] >= 1000 * HOLD


@pytest.mark.requirement("D6")
def test_histogram_is_the_last_field(lab: Lab) -> None:
    """One number more than there are bounds; nothing where none was asked for."""
    plain = lab.region("lin", "- /1")
    region = lab.region("lin", "- /1 1 histogram:10000,20000,30000")
    lab.io("lin", "read", count=5)
    assert lab.areas("lin", plain)[0].histogram == ()
    assert lab.areas("lin", region)[0].histogram == (5, 0, 0, 0)
    assert [row["histogram"] for row in lab.rows("print", "lin")] == [None, [5, 0, 0, 0]]


@pytest.mark.requirement("D7")
def test_milliseconds_go_by_ticks(lab: Lab) -> None:
    """Four of them at 250 Hz, in all times."""
    region = lab.region("up", "- /1")
    with lab.held():
        hold_both(lab, region)
    lab.wait_in_flight("up", region, 0)
    (area,) = lab.areas("up", region)
    assert area[4] >= 2000 * HOLD
    assert [area[n] % TICK_MS for n in (4, 8, 10, 11, 12, 13)] == [0] * 6


@pytest.mark.requirement("D8")
def test_precise_times_are_nanoseconds(lab: Lab) -> None:
    """The same I/O in two regions takes as long as it does by the ticks, and by the clock."""
    ticks = lab.region("up", "- /1")
    exact = lab.region("up", "- /1 1 precise_timestamps")
    began, began_ticks = lab.uptime(), lab.ticks()
    with lab.held():
        hold_both(lab, ticks)
    lab.wait_in_flight("up", ticks, 0)
    most, most_ticks = lab.uptime() - began, lab.ticks() - began_ticks
    (ms,), (ns,) = lab.areas("up", ticks), lab.areas("up", exact)
    assert (ms[1], ms[5]) == (ns[1], ns[5]) == (1, 1)
    for number, least in ((4, 2 * HOLD), (8, HOLD)):
        # /proc/uptime has hundredths.
        assert 1e9 * least <= ns[number] <= 1e9 * (most + 0.01)
        assert 1000 * least <= ms[number] <= TICK_MS * most_ticks
        assert ns[number] % 1000000
    rows = lab.rows("print", "up")
    assert [row["read_time_ns"] for row in rows] == [ms[4] * 1000000, ns[4]]


@pytest.mark.requirement("D14")
def test_duration_equal_to_a_bound_counts_above_it(lab: Lab) -> None:
    """A bucket for every tick: the one whose lower bound is the duration, or just below it."""
    bounds = ",".join(str(ms) for ms in range(4, 20000, 4))
    region = lab.region("up", f"- /1 1 histogram:{bounds}")
    with lab.held():
        lab.agent.spawn(lab.io_words("up", "read"))
        lab.wait_in_flight("up", region, 1)
        lab.pass_time(HOLD)
    lab.wait_in_flight("up", region, 0)
    (area,) = lab.areas("up", region)
    assert area[4] % 4 == 0 and area[4] >= 1000 * HOLD
    assert sum(area.histogram) == 1
    assert area.histogram.index(1) == min(area[4] // 4, len(area.histogram) - 1)


@pytest.mark.requirement("D19")
def test_clear_keeps_what_is_under_way(lab: Lab) -> None:
    """Field 9 stays; an I/O that ends afterwards counts with all of its time."""
    region = lab.region("up", "- /1 dmmon")
    whole = lab.region("up", "- /1 other")

    def only_since(before: Area) -> bool:
        """The times are short of those of the region that was not cleared by what went."""
        (area,), (all_of_it,) = lab.areas("up", region), lab.areas("up", whole)
        return all(area[n] <= all_of_it[n] - before[n] + SLACK for n in (10, 11, 12, 13))

    lab.io("up", "write", count=3)
    with lab.held():
        hold_both(lab, region)
        (before,) = lab.areas("up", region)
        lab.dmmon("clear", "--region", str(region), "up").check()
        (area,) = lab.areas("up", region)
        assert before[5] == 3 and area[9] == 2
        assert area.counts[:8] == (0,) * 8
        assert all(before[n] > 2 * SLACK for n in (10, 11, 12, 13))
        assert only_since(before)
    lab.wait_in_flight("up", region, 0)
    (area,), (all_of_it,) = lab.areas("up", region), lab.areas("up", whole)
    assert (area[1], area[5]) == (1, 1)
    assert area[4] == all_of_it[4] >= before[12] and only_since(before)
    cleared = lab.send("up", f"@stats_clear {region}")
    assert (cleared.errno, cleared.text) == (0, "")
    assert lab.areas("up", region)[0].counts == ZEROS


@pytest.mark.requirement("D22")
def test_windows_of_lines_enoent_einval(lab: Lab) -> None:
    """FIRST and COUNT; "-" for either; past the end nothing; one of them alone is refused."""
    region = lab.region("lin", "0+1000 300")
    for words, starts in (
        ("", (0, 300, 600, 900)),
        ("1 2", (300, 600)),
        ("1 100", (300, 600, 900)),
        ("1 0", ()),
        ("4 1", ()),
        ("9 9", ()),
        ("1 18446744073709551615", (300, 600, 900)),
        ("1 -", (300, 600, 900)),
        ("- 1", (0,)),
        ("- -", (0, 300, 600, 900)),
    ):
        assert tuple(area.start for area in lab.areas("lin", region, words)) == starts, words
    for words in ("0 1", "0 x 1", "0 1 x", "x", "-1", ""):
        assert lab.send("lin", f"@stats_print {words}").errno == errno.EINVAL, words
    assert lab.send("lin", "@stats_print 1").errno == errno.ENOENT
    rows = lab.rows("print", "--first", "1", "--count", "2", "lin")
    assert [row["area"] for row in rows] == [1, 2]
    assert lab.rows("print", "--first", "4", "lin") == []


@pytest.mark.requirement("D22")
def test_more_areas_than_one_message_is_asked_for(lab: Lab) -> None:
    """dmmon prints a region of 10000 areas in parts, each area once."""
    lab.dmmon("create", "--area-size", "2", "lin").check()
    lab.io("lin", "read", sector=9000, sectors=8)
    rows = lab.rows("print", "lin")
    assert [row["area"] for row in rows] == list(range(10000))
    assert [row["area"] for row in rows if row["reads"]] == [4500, 4501, 4502, 4503]


@pytest.mark.requirement("D23")
@pytest.mark.representative
def test_print_clear_clears_what_it_prints(lab: Lab) -> None:
    """Lines outside the window keep their counts."""
    region = lab.region("lin", "0+1200 300 dmmon")
    for sector in (0, 300, 600, 900):
        lab.io("lin", "read", sector=sector, sectors=8)
    text = lab.ask("lin", f"@stats_print_clear {region} 1 2")
    assert [line.split()[1] for line in text.splitlines()] == ["1", "1"]
    assert [area[1] for area in lab.areas("lin", region)] == [1, 0, 0, 1]
    rows = lab.rows("print", "--clear", "--all", "--first", "3", "lin")
    assert [(row["area"], row["reads"]) for row in rows] == [(3, 1)]
    assert [area[1] for area in lab.areas("lin", region)] == [1, 0, 0, 0]


@pytest.mark.requirement("D23")
def test_buffer_that_is_too_small_clears_nothing(lab: Lab) -> None:
    """Success and a flag; what does not fit whole is not taken away."""
    region = lab.region("lin", "0+1200 300")
    lab.io("lin", "read")
    whole = len(lab.ask("lin", f"@stats_print {region}"))
    for room in (1, 2, 40, whole - 1, whole, whole + 1):
        answer = lab.send("lin", f"@stats_print_clear {region}", size=312 + room)
        assert (answer.errno, answer.full) == (0, True), room
        assert lab.areas("lin", region)[0][1] == 1
    answer = lab.send("lin", f"@stats_print_clear {region}", size=312 + whole + 2)
    assert (answer.errno, answer.full, len(answer.text)) == (0, False, whole)
    assert lab.areas("lin", region)[0][1] == 0


@pytest.mark.requirement("D23")
def test_nothing_is_lost_between_print_and_clear(lab: Lab) -> None:
    """While writes go on, what dmmon printed and cleared adds up to what was written."""
    region = lab.dmmon("create", "--areas", "3", "lin").check().stdout.decode().strip()
    words = [*lab.io_words("lin", "write", sector=6664, sectors=8, count=50), "2"]
    writer = lab.agent.spawn(words)
    counted, looks = 0, 0
    while looks < 10 or lab.rows("print", "--region", region, "lin")[0]["in_flight"]:
        rows = lab.rows("print", "--clear", "--region", region, "lin")
        counted += sum(row["write_sectors"] for row in rows)
        looks += 1
    done = int(writer.wait().check().stdout)
    rows = lab.rows("print", "--clear", "--region", region, "lin")
    counted += sum(row["write_sectors"] for row in rows)
    assert done >= 50 and counted == 8 * done
    assert [area.counts for area in lab.areas("lin", int(region))] == [ZEROS] * 3


@pytest.mark.requirement("D30")
def test_flush_discard_and_zeroes(lab: Lab) -> None:
    """A flush without data is not counted; zeroes written are a write, a discard is one, too."""
    region = lab.region("lin", "- /1")
    lab.io("lin", "flush")
    assert lab.areas("lin", region)[0].counts == ZEROS
    lab.io("lin", "zeroout")
    (area,) = lab.areas("lin", region)
    assert (area[1], area[5], area[7]) == (0, 1, 8)
    most = f"/sys/block/dm-{lab.minor('lin')}/queue/discard_max_bytes"
    discards = int(lab.agent.read_file(most)) > 0
    done = lab.agent.run(lab.io_words("lin", "discard"))
    (area,) = lab.areas("lin", region)
    assert done.ok == discards
    assert (area[1], area[5], area[7]) == ((0, 2, 16) if discards else (0, 1, 8))
