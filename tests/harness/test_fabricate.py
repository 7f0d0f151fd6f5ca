# SPDX-License-Identifier: MIT
"""Fabricated monitor data hang together: asked of the stream, not of the model."""

from __future__ import annotations

import io
from collections import defaultdict
from typing import Any

import pytest
from fabricated import (
    SMALL,
    TOD_MS,
    DataSet,
    changed,
    events,
    fabricated,
    samples,
    sets_of,
    written,
)
from examples import some
from hypothesis import given, settings
from hypothesis import strategies as st

from zvmlab.cli.fabricate import STREAM
from zvmlab.mondata.monwrite import END_OF_DATA, read_sets
from zvmlab.mondata.records import HEADER_SIZE

SEED = st.integers(0, (1 << 63) - 1)
EVENTS = st.lists(
    st.one_of(
        st.builds(
            lambda what, at, minutes: {"what": what, "at": f"00:0{at}", "users": "LINUX"}
            | ({"minutes": minutes} if what == "runaway" else {}),
            st.sampled_from(["logon", "logoff", "runaway"]),
            st.integers(0, 5),
            st.integers(1, 3),
        ),
        st.builds(
            lambda rate, at: {"what": "storm", "at": f"00:0{at}", "per_second": rate, "minutes": 1},
            st.integers(1, 3000),
            st.integers(0, 5),
        ),
        st.builds(
            lambda at: {"what": "path-offline", "at": f"00:0{at}", "path": "41", "minutes": 1},
            st.integers(0, 5),
        ),
        st.builds(
            lambda at, text: {"what": "monitor", "at": f"00:0{at}", "command": text},
            st.integers(1, 5),
            st.sampled_from(["SAMPLE DISABLE ALL", "EVENT DISABLE USER", "EVENT ENABLE ALL"]),
        ),
    ),
    max_size=5,
)
SEGMENT = st.fixed_dictionaries(
    {
        "megabytes": st.integers(1, 8),
        "partition": st.one_of(st.just(0), st.integers(8, 200)),
        "sample_config": st.integers(4, 20),
        "event_config": st.integers(2, 3),
        "block": st.integers(1, 10),
    }
)
DOMAINS = st.fixed_dictionaries(
    {
        "sample": st.lists(st.sampled_from(["all", "user", "io", "processor", "storage"])),
        "event": st.lists(st.sampled_from(["all", "user", "seeks", "scheduler"])),
    }
)


@settings(max_examples=some(60, few=3))
@given(
    seed=SEED,
    events=EVENTS,
    segment=SEGMENT,
    domains=DOMAINS,
    release=st.sampled_from(["4.4", "5.1", "5.3", "6.2", "7.3"]),
    interval=st.integers(6, 120),
    reader=st.one_of(st.just({}), st.fixed_dictionaries({"kb_per_second": st.integers(0, 400)})),
)
def test_every_stream_passes_the_validator(release: str, **members: Any) -> None:
    data, totals = written(changed(release=release, **members))
    found = sets_of(data, int(release[0]) * 100 + int(release[2]) * 10)
    assert len(found) == totals.sets > 0
    assert (totals.records, totals.bytes) == _counted(data)
    start = 0x9000 * 4096
    end = start + (members["segment"]["megabytes"] << 20)
    assert all(start <= one.start < one.end < end for one in found)


@settings(max_examples=some(10))
@given(seed=SEED)
def test_the_same_seed_gives_the_same_bytes(seed: int) -> None:
    assert written(changed(seed=seed))[0] == written(changed(seed=seed))[0]
    assert written(changed(seed=seed))[0] != written(changed(seed=seed ^ 1))[0]


def _counted(data: bytes) -> tuple[int, int]:
    """Records and their bytes in a file, those included that end a frame or a set."""
    parts = [part for one in read_sets(io.BytesIO(data)) for part in one.parts]
    sizes = [HEADER_SIZE + len(one.payload) for part in parts for one in part.records()]
    return len(sizes), sum(sizes)


def test_both_formats_hold_the_same() -> None:
    data, _ = written(SMALL)
    assert data.endswith(END_OF_DATA)
    stream, _ = written(SMALL, STREAM)
    assert b"".join(one.stream() for one in read_sets(io.BytesIO(data))) == stream


def test_configuration_comes_first_and_matches() -> None:
    found = fabricated()
    config, event_config, first = found[:3]
    assert [record.number for record in config.records][:2] == [4, 5]
    profile = config.one("MTRSPR")
    assert (profile["INTERVAL"], profile["HFRATE"]) == (30, 200)
    assert event_config.records[0].number == 1 and event_config.type == 0xC5
    assert config.one("MTRSYS")["CPUCOUNT"] == len(config.of("MTRPRP")) == len(first.of("SYTSYP"))
    named = {values["VMDUSER"] for values in config.of("MTRUSR")}
    assert named == {f"LINUX{at}" for at in range(1, 7)} | {"TCPIP"}
    assert named == {values["VMDUSER"] for values in first.of("USEACT")}
    assert first.one("SYTUSR")["SYSUSRS"] == 7
    assert profile["SDOMAINS"] == 0b11011110
    domains = [0, 1, 3, 4, 5, 6, 8, 10]
    assert [values["DMNUMBER"] for values in config.of("MTRDDR")] == domains


def test_idle_and_busy_are_the_elapsed_time() -> None:
    found = samples(fabricated())
    assert len(found) == 13
    for one in found:
        elapsed = one.one("SYTSYG")["XCTMSACT"] * TOD_MS
        for cpu in one.of("SYTPRP"):
            assert cpu["PFXUTIME"] + cpu["PFXTMSYS"] + cpu["PFXTOTWT"] == elapsed
            assert cpu["PFXPRBTM"] <= cpu["PFXUTIME"]
    assert found[-1].of("SYTPRP")[3]["PFXUTIME"] > 0


def test_intervals_and_time_stamps() -> None:
    found = fabricated(events=[{"what": "storm", "at": "00:01", "per_second": 50, "minutes": 1}])
    times = [record.tod for one in found for record in one.records]
    assert times == sorted(times)
    ends = [one.records[0].tod for one in samples(found)]
    assert {later - earlier for earlier, later in zip(ends, ends[1:])} == {30_000 * TOD_MS}


def _total(data_set: DataSet, name: str, field: str) -> int:
    values = [values[field] for values in data_set.of(name)]
    return sum(int.from_bytes(v, "big") if isinstance(v, bytes) else v for v in values)


def test_totals_are_sums_of_their_parts() -> None:
    last = samples(fabricated(system={"storage_mb": 2048}))[-1]
    devices = [record for record in last.records if (record.domain, record.number) == (6, 3)]
    starts = sum(int.from_bytes(record.data[192:196], "big") for record in devices)
    assert starts == _total(last, "SYTSYP", "PLSCTSS") > 0
    reads = _total(last, "SYTSYP", "PLSPIOPR")
    assert reads == _total(last, "STOASP", "EXPCTPRD") == _total(last, "STORSP", "PLSPGDRD") > 0
    writes = _total(last, "SYTSYP", "PLSPIOPW")
    assert writes == _total(last, "STOASP", "EXPCTPWR") == _total(last, "STORSP", "PLSPGDWT") > 0
    for counts, cpu in zip(last.of("PRCDIA"), last.of("SYTSYP")):
        codes = sum(
            v for name, v in counts.items() if name.startswith("PLSDG") and name != "PLSDGUCT"
        )
        assert codes == counts["PLSTOTDI"] == cpu["PLSDIAGT"] > 0
    slots = last.one("SYTASG")
    assert slots["CALSLTI1"] == _total(last, "STOASP", "EXPCTUSI") > 0
    assert slots["CALSLTA1"] + slots["CALSLTI1"] == _total(last, "STOASP", "CALPAGE")


def test_what_users_had_is_what_processors_gave() -> None:
    found = fabricated()
    given: dict[str, dict[str, int]] = {}
    for values in events(found, "USEATE"):
        given[values["VMDUSER"]] = values
    last = samples(found)[-1]
    assert len(given) == 7
    assert sum(v["VMDTTIME"] for v in given.values()) == _total(last, "SYTPRP", "PFXUTIME")
    assert sum(v["VMDVTIME"] for v in given.values()) == _total(last, "SYTPRP", "PFXPRBTM")
    assert sum(v["CALCPPGR"] for v in given.values()) == _total(last, "SYTSYP", "PLSPIOPR")


def test_the_switch_loses_nothing() -> None:
    for sample in samples(fabricated()):
        sent = _total(sample, "VNDSES", "SESTXBYT") + _total(sample, "IODQDS", "BYFRA")
        assert sent == _total(sample, "VNDSES", "SESRXBYT") + _total(sample, "IODQDS", "BYTOA")
        sent = _total(sample, "VNDSES", "SESTXPKT") + _total(sample, "IODQDS", "BFFRA")
        assert sent == _total(sample, "VNDSES", "SESRXPKT") + _total(sample, "IODQDS", "BFTOA")
    assert sent > 0


def test_every_sample_finds_every_user_in_one_state() -> None:
    states = ("CALTIDL", "CALIOWT", "CALWTPAG", "CALCPUWT", "CALCPURN", "CALOTHR")
    for sample in samples(fabricated()):
        counted = sample.of("PRCPRP")[0]["HFCOUNT"]
        assert sum(sample.one("SYTUWT")[state] for state in states) == 7 * counted


# What is counted, beside those fields of which the catalogue knows it.
COUNTED = (
    "PFXTOTWT PLSPIOPR PLSPIOPW PLSDSPCN PLSPGDRD PLSPGDWT EXPCTPRD EXPCTPWR SCMSSCH SCGSSCH"
    " DSKXFERS DSKBLKSR DSKBLKSW HFCOUNT PLSTOTDI"
).split()


def test_counters_only_grow_and_wrap_at_their_width() -> None:
    found = fabricated(
        hours=1,
        interval=60,
        users=[{"name": "BUSY", "count": 4, "cpu_percent": 90, "io": 1000, "paging": 400}],
    )
    before: dict[tuple[str, int, str], int] = {}
    wrapped = set()
    for one in samples(found):
        seen: dict[str, int] = defaultdict(int)
        for record in one.records:
            if record.layout is None:
                continue
            name = record.layout.name
            seen[name] += 1
            for item in record.layout.fields:
                value = record.value(item)
                if not isinstance(value, int) or not item.known_in(530):
                    continue
                if item.nature != "counter" and item.name not in COUNTED:
                    continue
                key = (name, seen[name], item.name)
                top = 1 << 8 * item.length
                # What seems to go back has wrapped: it has come on by less than half, unless it is
                # as short as SCMSSCH, of which 1000 I/Os a second are more in a minute.
                if item.length > 2:
                    assert (value - before.get(key, 0)) % top < top // 2, (key, value)
                if value < before.get(key, 0):
                    wrapped.add(item.name)
                before[key] = value
    assert wrapped == {"SCMSSCH"}
    for name in ("STOASP", "IODDEV"):
        starts = [(one["SCGSSCH"], one["SCMSSCH"]) for one in samples(found)[-1].of(name)]
        assert max(starts) > (0xFFFF, 0) and all(long & 0xFFFF == short for long, short in starts)


def test_logon_and_logoff_change_what_is_sampled() -> None:
    found = fabricated(
        events=[
            {"at": "00:01:10", "what": "logoff", "users": "LINUX2"},
            {"at": "00:02:40", "what": "logoff", "users": "TCPIP"},
            {"at": "00:04:00", "what": "logon", "users": "LINUX2"},
        ]
    )
    here = {values["VMDUSER"] for values in found[0].of("MTRUSR")}
    sizes = []
    for one in found:
        here |= {values["VMDUSER"] for values in one.of("USELON")}
        here -= {values["VMDUSER"] for values in one.of("USELOF")}
        if one.of("SYTSYG"):
            assert {values["VMDUSER"] for values in one.of("USEACT")} == here
            assert {values["OWNER"] for values in one.of("VNDSES")} == here
            assert {values["LANID"] for values in one.of("VNDSES")} == {"VSWITCH1"}
            sizes.append(len(here))
    assert sizes == [7] * 3 + [6] * 3 + [5] * 2 + [6] * 5
    links = [values["NICOWNER"] for values in events(found, "VNDLSD") + events(found, "VNDLSU")]
    assert links == ["LINUX2", "TCPIP", "LINUX2"]
    assert events(found, "VNDLSU")[0]["LANNAME"] == "VSWITCH1"


def test_devices_and_processors_come_and_go() -> None:
    found = fabricated(
        events=[
            {"at": "00:01", "what": "device-offline", "device": "1001", "minutes": 2},
            {"at": "00:01", "what": "processor-offline", "processor": 3, "minutes": 2},
            {"at": "00:02", "what": "path-offline", "path": "41", "minutes": 1},
        ]
    )
    devices = {0x600, *range(0x1000, 0x1004), 0x2000, 0x2001, 0x3000, 0x3001}
    cpus = {0, 1, 2, 3}
    for one in found:
        devices |= {values["RDEVDEV"] for values in one.of("IODVON")}
        devices -= {values["RDEVDEV"] for values in one.of("IODVOF")}
        cpus |= {values["PFXCPUAD"] for values in one.of("PRCVON")}
        cpus -= {values["PFXCPUAD"] for values in one.of("PRCVOF")}
        if one.of("SYTSYG"):
            seen = [record for record in one.records if (record.domain, record.number) == (6, 3)]
            assert {int.from_bytes(record.data[200:202], "big") for record in seen} == devices
            assert {values["PFXCPUAD"] for values in one.of("SYTPRP")} == cpus
            assert one.one("SYTSYG")["CPUSTNBY"] == 4 - len(cpus)
    masks = [values for one in found for values in _modified(one)]
    assert sorted(masks[:6]) == [(number, 0x80) for number in range(0x1000, 0x1004)] + [
        (0x2000, 0),
        (0x2001, 0),
    ]
    assert {mask for _, mask in masks[6:]} == {0xC0, 0x80} and len(masks) == 12


def _modified(data_set: DataSet) -> list[tuple[int, int]]:
    """Device and available paths of D6R16, whose offsets are those of z/VM 7.1."""
    records = [record for record in data_set.records if (record.domain, record.number) == (6, 16)]
    return [(int.from_bytes(r.data[24:26], "big"), r.data[27]) for r in records]


def test_only_enabled_domains_are_there() -> None:
    found = fabricated(
        domains={"sample": ["user", "network"], "event": ["user"]},
        events=[{"at": "00:03", "what": "monitor", "command": "SAMPLE DISABLE NETWORK"}],
    )
    for one in found:
        allowed = {1, 4} if one.type == 0xC5 else {0, 1, 4, 8}
        assert {record.domain for record in one.records} <= allowed
    with_network = [bool(one.of("VNDSES")) for one in samples(found)]
    assert with_network == [True] * 6 + [False] * 7
    (commands,) = [one for one in found if one.of("MTRSCM")]
    assert commands.records[0].data[32:].decode("cp037") == "MONITOR SAMPLE DISABLE NETWORK"
    assert [record.number for record in commands.records] == [10, 11]


def test_lost_event_records_are_told() -> None:
    data, totals = written(
        changed(
            segment={"megabytes": 1, "sample_config": 20, "event_config": 4},
            reader={"kb_per_second": 300},
            domains={"event": ["seeks"]},
            events=[{"at": "00:01", "what": "storm", "per_second": 9000, "minutes": 1}],
        )
    )
    found = sets_of(data)
    numbers = [record.number for one in found for record in one.records if record.domain == 1]
    assert numbers.count(12) == numbers.count(3) == totals.suspensions > 0
    lost = sum(values["LOSTRCCT"] for values in events(found, "MTRSUS"))
    assert lost == totals.records_lost > 0
    assert lost + len(events(found, "SEKSEK")) == 9000 * 60


def test_intervals_nobody_reads_are_lost() -> None:
    slow = {"at": "00:01", "what": "reader", "kb_per_second": 0, "minutes": 3}
    members = changed(
        segment={"megabytes": 1, "partition": 230, "sample_config": 6, "event_config": 4},
        domains={"event": []},
        events=[slow],
    )
    data, totals = written(members)
    found = samples(sets_of(data))
    assert totals.sets_lost > 0 and len(found) == 13 - totals.sets_lost
    gaps = {b.records[0].tod - a.records[0].tod for a, b in zip(found, found[1:])}
    assert max(gaps) > 30_000 * TOD_MS


@pytest.mark.parametrize(
    ("megabytes", "users", "config"),
    [
        pytest.param(1, 460, 80, id="1 MiB"),
        pytest.param(64, 32_500, 5200, id="64 MiB", marks=pytest.mark.full),
    ],
)
def test_one_set_may_fill_the_segment(megabytes: int, users: int, config: int) -> None:
    data, _ = written(
        changed(
            hours=0.01,
            users=[{"name": "U", "count": users, "processors": 2, "network": False, "io": 0}],
            segment={
                "megabytes": megabytes,
                "partition": 8,
                "event_config": 2,
                "sample_config": config,
            },
            domains={"sample": ["user"], "event": []},
        )
    )
    (first, second) = samples(sets_of(data))
    assert sum((record.domain, record.number) == (4, 3) for record in second.records) == 2 * users
    assert second.end - second.start > 0.6 * (megabytes << 20)
    # There is no room for a second one behind it.
    assert first.start == second.start
