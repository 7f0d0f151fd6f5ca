# SPDX-License-Identifier: MIT
"""Regions of device-mapper statistics: made, listed, named, deleted; by messages and by dmmon."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
import termios

import pytest
from dmstats_lab import LIN_SECTORS, Lab

from zvmlab.agent.calls import Both

pytestmark = [
    pytest.mark.xdist_group("dmstats"),
    pytest.mark.first_kernel,
    pytest.mark.not_debug("it has no device mapper", lacks="BLK_DEV_DM"),
    # Who comes first boots the guest.
    pytest.mark.timeout(600),
]


@pytest.mark.requirement("D1")
def test_without_a_region_nothing_is_collected(lab: Lab) -> None:
    """No list, no memory; I/O before a region is not in it."""
    assert lab.ask("lin", "@stats_list") == ""
    assert lab.allocated() == 0
    assert lab.rows("list") == []
    lab.io("lin", "write")
    region = lab.region("lin", "- /1")
    assert lab.areas("lin", region)[0].counts == (0,) * 13
    assert lab.allocated() > 0


@pytest.mark.requirement("D9")
def test_numbers_are_unique_and_used_again(lab: Lab) -> None:
    """Two programs share a device and see their own regions; the lowest free number is next."""
    assert [lab.region("lin", f"- /1 {program}") for program in ("one", "two", "one")] == [0, 1, 2]
    assert lab.region("up", "- /1 one") == 0
    assert [row["region"] for row in lab.rows("list", "lin", "--program", "one")] == [0, 2]
    assert [row["region"] for row in lab.rows("list", "lin")] == [0, 1, 2]
    assert [row["device"] for row in lab.rows("list", "--program", "one")].count("up") == 1
    assert lab.send("lin", "@stats_delete 1").errno == 0
    assert lab.region("lin", "- /1") == 1
    lab.io("lin", "read")
    assert [lab.areas("lin", region)[0][1] for region in range(3)] == [1, 1, 1]
    lab.send("lin", "@stats_clear 0")
    assert [lab.areas("lin", region)[0][1] for region in range(3)] == [0, 1, 1]


RANGES = {
    "-": (0, LIN_SECTORS),
    "0+1": (0, 1),
    "18+7": (18, 7),
    "19999+1": (19999, 1),
    "19999+1000": (19999, 1000),
}
NO_RANGES = ("10", "+10", "0+0", "0+10x", "0+", "18446744073709551615+1", "x", "")


@pytest.mark.requirement("D11")
def test_ranges_are_the_device_or_a_part_of_it(lab: Lab) -> None:
    """A range is the whole device, or START+LENGTH, also beyond its end."""
    for text, (start, length) in RANGES.items():
        region = lab.region("lin", f"{text} {length}")
        (row,) = lab.rows("list", "lin", "--program", "-")
        assert (row["region"], row["start_sector"], row["sectors"]) == (region, start, length)
        assert lab.send("lin", f"@stats_delete {region}").errno == 0


@pytest.mark.requirement("D11")
def test_numbers_beyond_64_bits(lab: Lab, zvmlab_kernel: str) -> None:
    """They wrap; 7.2 refuses them."""
    create = "@stats_create 18446744073709551617+8 8"
    if zvmlab_kernel == "sid":
        assert lab.send("lin", create).errno == errno.EINVAL
        return
    region = int(lab.ask("lin", create))
    (row,) = lab.rows("list", "lin", "--program", "-")
    assert (row["region"], row["start_sector"], row["sectors"]) == (region, 1, 8)


@pytest.mark.requirement("D11")
def test_what_is_no_range_is_refused_einval(lab: Lab) -> None:
    """Also what wraps, and nothing at all."""
    for text in NO_RANGES:
        assert lab.send("lin", f"@stats_create {text} 1").errno == errno.EINVAL, text
    assert lab.ask("lin", "@stats_list") == ""


@pytest.mark.requirement("D11")
def test_device_without_a_table_has_one_sector(lab: Lab) -> None:
    """The whole of it is 0+1, for dmmon, too."""
    lab.dmsetup("create", "bare", "--noudevsync", "--notable").check()
    assert lab.region("bare", "- 1") == 0
    assert lab.dmmon("create", "bare").check().stdout == b"1\n"
    assert [(r["start_sector"], r["sectors"]) for r in lab.rows("list", "bare")] == [(0, 1)] * 2


@pytest.mark.requirement("D11")
def test_dmmon_makes_ranges(lab: Lab) -> None:
    """Sectors and sizes; up to the end of the device if no length is given."""
    for words, wanted in (
        ((), (0, LIN_SECTORS, LIN_SECTORS, 1)),
        (("--start", "18", "--length", "1000", "--area-size", "300"), (18, 1000, 300, 4)),
        (("--start", "1M", "--length", "64K", "--area-size", "4K"), (2048, 128, 8, 16)),
        (("--start", "19999s"), (19999, 1, 1, 1)),
        (("--areas", "7"), (0, LIN_SECTORS, 2858, 7)),
        (("--areas", "50000"), (0, LIN_SECTORS, 1, LIN_SECTORS)),
    ):
        region = lab.dmmon("create", *words, "lin").check().stdout.decode().strip()
        (row,) = lab.rows("list", "lin")
        names = ("start_sector", "sectors", "area_sectors", "areas")
        assert tuple(row[name] for name in names) == wanted
        lab.dmmon("delete", "--region", region, "lin").check()
    refused = lab.dmmon("create", "--start", "20000", "lin")
    assert (refused.status, b"has 20000 sectors" in refused.stderr) == (2, True)


@pytest.mark.requirement("D12")
def test_steps_are_sectors_or_a_number_of_areas(lab: Lab) -> None:
    """A number of sectors, or "/N" for N areas: rounded up, so that there may be fewer."""
    for text, step in (("300", 300), ("/4", 5000), ("/7", 2858), ("/50000", 1), ("/19999", 2)):
        region = lab.region("lin", f"- {text}")
        (row,) = lab.rows("list", "lin")
        assert row["area_sectors"] == step
        assert row["areas"] == -(-LIN_SECTORS // step) == len(lab.areas("lin", region))
        assert lab.send("lin", f"@stats_delete {region}").errno == 0


@pytest.mark.requirement("D12")
def test_what_is_no_step_is_refused_einval(lab: Lab) -> None:
    """Zero, signs, text, and none."""
    for text in ("0", "/0", "-5x", "/x", "x", "", "/"):
        assert lab.send("lin", f"@stats_create - {text}").errno == errno.EINVAL, text


@pytest.mark.requirement("D13")
def test_optional_arguments_are_counted(lab: Lab) -> None:
    """None, one or two; their names in any case."""
    for text, wanted in (
        ("0", (False, None)),
        ("1 precise_timestamps", (True, None)),
        ("1 PRECISE_timestamps", (True, None)),
        ("1 Histogram:5", (False, [5000000])),
        ("2 histogram:5,6 precise_timestamps", (True, [5, 6])),
        ("2 precise_timestamps precise_timestamps", (True, None)),
    ):
        region = lab.region("lin", f"- /1 {text} prog aux")
        (row,) = lab.rows("list", "lin")
        assert (row["precise"], row["bounds_ns"]) == wanted
        assert (row["program"], row["aux"]) == ("prog", "aux")
        assert lab.send("lin", f"@stats_delete {region}").errno == 0


@pytest.mark.requirement("D13")
def test_wrong_counts_and_words_are_refused_einval(lab: Lab) -> None:
    """Too few, unknown ones, two histograms, and more than program and aux data."""
    for text in (
        "1",
        "2 precise_timestamps",
        "1 unknown",
        "2 histogram:5 histogram:6",
        "0 prog aux more",
        "0 precise_timestamps prog aux",
    ):
        assert lab.send("lin", f"@stats_create - /1 {text}").errno == errno.EINVAL, text


@pytest.mark.requirement("D14")
def test_bounds_that_do_not_rise_are_refused_einval(lab: Lab) -> None:
    """Strictly rising, above 0, numbers."""
    for text in ("10,5", "10,10", "0,1", "0", "1,", ",1", "a", "", "1;2"):
        message = f"@stats_create - /1 1 histogram:{text}"
        assert lab.send("lin", message).errno == errno.EINVAL, text
    for text in ("10ms,5ms", "10ms,10ms", "0ms", "1ms,", "10", ""):
        assert lab.dmmon("create", "--bounds", text, "lin").status == 2, text
    assert lab.ask("lin", "@stats_list") == ""


@pytest.mark.requirement("D15")
def test_program_id_that_is_a_number(lab: Lab) -> None:
    """Without the count it is taken for the count; dmmon always gives that."""
    assert lab.send("lin", "@stats_create - 100 5").errno == errno.EINVAL
    region = lab.region("lin", "- 20000 0 123 aux")
    assert lab.ask("lin", "@stats_list 123") == f"{region}: 0+20000 20000 123 aux\n"
    own = lab.dmmon("create", "--program", "5", "--aux", "6", "lin").check().stdout.decode()
    (row,) = lab.rows("list", "--program", "5")
    assert (row["region"], row["aux"]) == (int(own), "6")


@pytest.mark.requirement("D16")
def test_program_and_aux_data_left_out_are_a_dash(lab: Lab) -> None:
    """Both are "-"; dmmon's own program is dmmon."""
    lab.region("lin", "- 20000")
    assert lab.ask("lin", "@stats_list") == "0: 0+20000 20000 - -\n"
    lab.dmmon("create", "lin").check()
    assert lab.ask("lin", "@stats_list dmmon") == "1: 0+20000 20000 dmmon -\n"


@pytest.mark.requirement("D17")
def test_aux_data_are_a_word_of_any_length(lab: Lab) -> None:
    """20000 characters come back."""
    aux = "x" * 20000
    lab.region("lin", f"- 20000 prog {aux}")
    assert lab.ask("lin", "@stats_list") == f"0: 0+20000 20000 prog {aux}\n"
    (row,) = lab.rows("list", "lin")
    assert row["aux"] == aux


@pytest.mark.requirement("D18")
@pytest.mark.representative
def test_region_is_deleted_once_enoent_einval(lab: Lab) -> None:
    """Deleted once, without a text; numbers that are none are refused."""
    region = lab.region("lin", "- /1")
    deleted = lab.send("lin", f"@stats_delete {region}")
    assert (deleted.errno, deleted.has_text) == (0, False)
    assert lab.send("lin", f"@stats_delete {region}").errno == errno.ENOENT
    for text in ("", "x", "-1", "0 0", "0x"):
        assert lab.send("lin", f"@stats_delete {text}").errno == errno.EINVAL, text
    gone = lab.dmmon("delete", "--region", "0", "lin")
    assert (gone.status, gone.stderr) == (
        2,
        b"dmmon: lin has no region 0; 'dmmon list' shows those it has\n",
    )


@pytest.mark.requirement("D18")
def test_dmmon_leaves_regions_of_other_programs_alone(lab: Lab) -> None:
    """Unless their program is named."""
    for program in ("dmmon", "other", "-"):
        lab.region("lin", f"- /1 {program}")
    lab.dmmon("delete", "--all", "lin").check()
    assert [row["program"] for row in lab.rows("list", "lin")] == ["other", "-"]
    for command in ("delete", "clear"):
        refused = lab.dmmon(command, "--region", "1", "lin")
        assert (refused.status, b"belongs to the program 'other'" in refused.stderr) == (2, True)
    assert lab.dmmon("print", "--clear", "--region", "1", "lin").status == 2
    assert lab.dmmon("delete", "lin").status == 2
    lab.dmmon("delete", "--region", "1", "--program", "other", "lin").check()
    assert [row["program"] for row in lab.rows("list", "lin")] == ["-"]


@pytest.mark.requirement("D20")
def test_list_is_a_line_for_each_region_einval(lab: Lab) -> None:
    """With the options on the same line, unlike the document's layout; of a program, or all."""
    lab.region("lin", "0+1000 300 2 precise_timestamps histogram:10,20 prog aux")
    lab.region("lin", "5+7 7 1 histogram:1")
    first = "0: 0+1000 300 prog aux precise_timestamps histogram:10,20\n"
    assert lab.ask("lin", "@stats_list") == f"{first}1: 5+7 7 - - histogram:1\n"
    assert lab.ask("lin", "@stats_list prog") == first
    assert lab.ask("lin", "@stats_list unknown") == ""
    assert lab.send("lin", "@stats_list prog more").errno == errno.EINVAL
    theirs = lab.dmsetup("message", "lin", "0", "@stats_list").check().stdout.decode()
    assert theirs.startswith(first)


PIPE = "/tmp/dmmon-list"
PAGE = 4096


@pytest.mark.requirement("D20")
def test_device_that_goes_meanwhile_is_not_listed(lab: Lab) -> None:
    """The list of all devices goes on; the one that went is no failure."""
    lab.create("short", "0 1000 linear /dev/ram0 0")
    for name in ("lin", "short", "up"):
        lab.region(name, "- /1 prog " + ("x" * 20000 if name == "lin" else name))
    lab.agent.mknod(PIPE, stat.S_IFIFO | 0o600).check()
    pipe = lab.agent.open(PIPE, os.O_RDWR | os.O_NONBLOCK).check()
    lab.agent.fcntl(pipe, fcntl.F_SETPIPE_SZ, PAGE).check()
    listing = lab.agent.spawn(["/bin/sh", "-c", f"exec dmmon list -f json >{PIPE}"])

    def waiting() -> int:
        asked = lab.agent.ioctl(pipe, termios.FIONREAD, Both(bytes(4)))
        asked.check()
        return int.from_bytes(asked.buffers[0], "big")

    # It has been told all devices by now, and cannot write on.
    lab.until(lambda: waiting() == PAGE)
    lab.remove("short")
    text = b""
    while text.count(b"\n") < 2:
        lab.until(lambda: waiting() > 0)
        text += lab.agent.read(pipe, PAGE).data
    done = listing.wait()
    assert (done.status, done.stderr) == (0, b"")
    rows = [json.loads(line) for line in text.splitlines()]
    assert [(row["device"], row["aux"][:2]) for row in rows] == [("lin", "xx"), ("up", "up")]
    assert waiting() == 0
    lab.agent.close(pipe).check()
    lab.agent.unlink(PIPE).check()


WORDS = (
    "foo bar baz",
    " ",
    "\\",
    "a\\ b",
    "tab\tand\nline\n",
    "\v\f\r",
    "voilà 𝄞 naïve",
    "'\"$`;|<>*?#~",
    "precise_timestamps",
    "5: not a region",
)


@pytest.mark.requirement("D21")
def test_list_does_not_quote(lab: Lab) -> None:
    """A field with blanks is read from both ends."""
    lab.region("lin", r"- 20000 1 histogram:1 prog foo\ bar\ baz")
    assert lab.ask("lin", "@stats_list") == "0: 0+20000 20000 prog foo bar baz histogram:1\n"
    (row,) = lab.rows("list", "lin")
    assert (row["program"], row["aux"], row["bounds_ns"]) == ("prog", "foo bar baz", [1000000])


@pytest.mark.requirement("D21", "D25")
def test_aux_data_of_any_characters(lab: Lab) -> None:
    """The kernel has the data that dmmon sets, and dmmon lists them; between two other regions."""
    for aux in ("before", "-", "behind"):
        lab.dmmon("create", "--bounds", "1ms", "--precise", "--aux", aux, "lin").check()
    for word in WORDS:
        lab.dmmon("set-aux", "--region", "1", "lin", word).check()
        assert [row["aux"] for row in lab.rows("list", "lin")] == ["before", word, "behind"]
        assert f" dmmon {word} precise_timestamps" in lab.ask("lin", "@stats_list").encode(
            "latin-1"
        ).decode("utf-8")
    for number, word in enumerate(WORDS, 3):
        made = lab.dmmon("create", "--aux", word, "lin").check().stdout
        assert int(made) == number
    assert [row["aux"] for row in lab.rows("list", "lin")][3:] == list(WORDS)


@pytest.mark.requirement("D21")
def test_aux_data_that_would_not_come_back_are_refused(lab: Lab) -> None:
    """Data that look like options or another region are refused before the kernel gets them."""
    lab.dmmon("create", "lin").check()
    for word in ("x precise_timestamps", "x histogram:1", "x\n7: 0+1 1 p a", ""):
        for words in (("set-aux", "--region", "0", "lin", word), ("create", "--aux", word, "lin")):
            refused = lab.dmmon(*words)
            assert (refused.status, b"would not show" in refused.stderr) == (2, True), word
    assert lab.dmmon("create", "--program", "a b", "lin").status == 2
    assert lab.ask("lin", "@stats_list") == "0: 0+20000 20000 dmmon -\n"


@pytest.mark.requirement("D24")
def test_aux_data_are_set_of_a_region_that_is_there_enoent_einval(lab: Lab) -> None:
    """A word, of a region that is there."""
    lab.region("lin", "- 20000 prog old")
    answer = lab.send("lin", "@stats_set_aux 0 new")
    assert (answer.errno, answer.has_text) == (0, False)
    assert lab.ask("lin", "@stats_list") == "0: 0+20000 20000 prog new\n"
    assert lab.send("lin", "@stats_set_aux 0 foo bar").errno == errno.EINVAL
    assert lab.send("lin", "@stats_set_aux 0").errno == errno.EINVAL
    assert lab.send("lin", "@stats_set_aux 1 new").errno == errno.ENOENT
    assert lab.ask("lin", "@stats_list") == "0: 0+20000 20000 prog new\n"


@pytest.mark.requirement("D39")
def test_regions_of_segments(lab: Lab) -> None:
    """Like dmstats' of the same device; all of them, or none."""
    lab.create("parts", "0 64 linear /dev/ram0 0\n64 8 error \n72 128 linear /dev/ram0 128")
    lab.dmsetup("stats", "create", "--segments", "parts").check()
    theirs = [row["start_sector"] for row in lab.rows("list", "--program", "dmstats", "parts")]
    done = lab.dmmon("create", "--segments", "--areas", "2", "parts").check()
    rows = lab.rows("list", "--program", "dmmon", "parts")
    assert done.stdout.decode().split() == [str(row["region"]) for row in rows]
    found = [(row["start_sector"], row["sectors"], row["areas"]) for row in rows]
    assert found == [(0, 64, 2), (64, 8, 2), (72, 128, 2)]
    assert [row["start_sector"] for row in rows] == theirs
    lab.dmmon("create", "--segments", "--dry-run", "parts").check()
    # The third one takes more memory than there may be: 8,388,608 areas.
    lab.create("large", f"0 8 linear /dev/ram0 0\n8 8 error \n16 {1 << 23} error ")
    refused = lab.dmmon("create", "--segments", "--area-size", "1", "large")
    assert (refused.status, refused.stdout) == (1, b"")
    assert b"that is too much for these regions" in refused.stderr
    assert lab.rows("list", "large") == []
    wrong = lab.dmmon("create", "--segments", "--start", "8", "parts")
    assert wrong.status == 2 and b"--start and --length cannot be used" in wrong.stderr


def groups(lab: Lab) -> list[str]:
    """The members of each group that dmstats knows."""
    words = ("stats", "list", "--group", "--noheadings", "-o", "region_id", "lin")
    return lab.dmsetup(*words).check().stdout.decode().split()


@pytest.mark.requirement("D24", "D38")
def test_groups_of_dmstats_are_not_broken_unasked(lab: Lab) -> None:
    """They live in auxiliary data, which dmmon would replace, and name their members by number."""
    for start in range(0, 320, 64):
        words = ("--start", f"{start}s", "--length", "64s", "lin")
        lab.dmsetup("stats", "create", *words).check()
    lab.dmsetup("stats", "group", "--alias", "mine", "--regions", "1-2,4", "lin").check()
    before = lab.ask("lin", "@stats_list")
    assert groups(lab) == ["1-2,4"]
    dmstats = ("--program", "dmstats")
    for command in (
        ("set-aux", *dmstats, "--region", "1", "lin", "x"),
        ("set-aux", *dmstats, "--all", "lin", "x"),
        ("delete", *dmstats, "--region", "1", "lin"),
        ("delete", *dmstats, "--region", "2", "lin"),
    ):
        refused = lab.dmmon(*command)
        assert (refused.status, b"region 1 of lin" in refused.stderr) == (2, True), command
        assert b"group of dmstats" in refused.stderr and b"--force" in refused.stderr
        assert lab.ask("lin", "@stats_list") == before
    # What leaves the group as it is needs no more words.
    for region, text in (("2", "text"), ("1", "DMS_GROUP=mine:1-2,4#text")):
        lab.dmmon("set-aux", *dmstats, "--region", region, "lin", text).check()
    lab.dmmon("delete", *dmstats, "--region", "3", "lin").check()
    assert groups(lab) == ["1-2,4"]
    lab.dmmon("set-aux", "--force", *dmstats, "--region", "1", "lin", "x").check()
    assert groups(lab) == []
    lab.dmsetup("stats", "group", "--regions", "0-1", "lin").check()
    lab.dmmon("delete", "--force", *dmstats, "--region", "1", "lin").check()
    lab.dmmon("delete", *dmstats, "--all", "lin").check()
    assert lab.ask("lin", "@stats_list") == ""


@pytest.mark.requirement("D38")
def test_groups_of_dmstats_have_names_and_totals(lab: Lab) -> None:
    """A read of two members is in both; what is outside of the group is not in its totals."""
    for start in range(0, 256, 64):
        words = ("--start", f"{start}s", "--length", "64s", "lin")
        lab.dmsetup("stats", "create", *words).check()
    lab.dmsetup("stats", "group", "--alias", "mine", "--regions", "0,2", "lin").check()
    named = [(row["region"], row["group"]) for row in lab.rows("list", "lin")]
    assert named == [(0, "mine"), (1, None), (2, "mine"), (3, None)]
    for sector, count in ((0, 3), (72, 5), (128, 2)):
        lab.io("lin", "read", sector=sector, count=count)
    (total,) = lab.rows("print", "--groups", "lin")
    assert (total["group"], total["region"], total["area"]) == ("mine", 0, None)
    assert (total["reads"], total["read_sectors"]) == (5, 40)
    areas = [row for row in lab.rows("print", "lin") if row["region"] in (0, 2)]
    for field in ("reads", "read_sectors", "read_time_ns", "writes", "sectors"):
        assert total[field] == sum(row[field] for row in areas), field
    wrong = lab.dmmon("print", "--groups", "--top", "1", "lin")
    assert wrong.status == 2 and b"--top and --sort are about areas" in wrong.stderr
    lab.dmsetup("stats", "ungroup", "--groupid", "0", "lin").check()
    assert lab.rows("print", "--groups", "lin") == []


@pytest.mark.requirement("D25")
@pytest.mark.representative
def test_backslash_quotes_any_character(lab: Lab) -> None:
    """White space parts words, of Latin 1: a no-break space, which is half of a letter in UTF-8."""
    for text, aux in (
        (rb"a\ b", b"a b"),
        (rb"\a\\\"", b'a\\"'),
        (b"a\\\xa0b", b"a\xa0b"),
        (b"a\\", b"a\\"),
    ):
        assert lab.send("lin", b"@stats_create - 20000 0 p " + text).errno == 0
        found = lab.ask("lin", "@stats_list").encode("latin-1")
        assert found == b"0: 0+20000 20000 p " + aux + b"\n"
        assert lab.send("lin", "@stats_delete 0").errno == 0
    for blank in (b" ", b"\t", b"\n", b"\v", b"\f", b"\r", b"\xa0"):
        message = b"@stats_create - 20000 0 p a" + blank + b"b"
        assert lab.send("lin", message).errno == errno.EINVAL, blank
