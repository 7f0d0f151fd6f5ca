# SPDX-License-Identifier: MIT
"""A system and what happens to it, out of a workload file (docs/fabricate.md)."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from pathlib import Path

from zvmlab.base.errors import UsageError
from zvmlab.fabricate import model
from zvmlab.fabricate.events import Users, actions, domain_set
from zvmlab.fabricate.model import Config, Device, Segment, User
from zvmlab.fabricate.workload_json import Node, load
from zvmlab.mondata.monrec import parse_release

MAX_HOURS = 366 * 24
PAGES_A_MEGABYTE = 256
TYPES = {"CP": 0, "ZAAP": 2, "IFL": 3, "ICF": 4, "ZIIP": 5}
KINDS = {
    "dasd": model.DASD,
    "scsi": model.SCSI,
    "osa": model.OSA,
    "paging": model.PAGING,
}
# Seconds from the TOD clock's epoch, 1900, to that of UNIX.
_EPOCH = 2208988800
_TOD_SECOND = 4096 * 1_000_000
_TOD_END = 1 << 64
_CONSTANT = "constant"
_SLOTS = 600_000
_PATTERN_NAME = 32


@dataclass
class _Machine:
    """The machine that users and events refer to."""

    types: set[int] = field(default_factory=set)
    patterns: list[str] = field(default_factory=lambda: [_CONSTANT])
    percents: list[list[int]] = field(default_factory=lambda: [[100] * 24])


def read_workload(path: Path, hours: float | None = None) -> Config:
    """The file, whole and checked; *hours* instead of the file's own."""
    return workload(load(path), hours)


def workload(top: Node, hours: float | None = None) -> Config:
    """The same of an object that has been read."""
    top.text("description", 4096, "")
    start, second_of_day = _start(top)
    own = top.number("hours", 1 / 3600, MAX_HOURS, 24.0)
    seconds = round((own if hours is None else hours) * 3600)
    release = _release(top)
    machine = _Machine()
    processors = _processors(top, machine)
    devices = _devices(top)
    _patterns(top, machine)
    system = top.node("system")
    frames = system.integer("storage_mb", 4, 1 << 22, 65536) * PAGES_A_MEGABYTE
    users = _users(top, machine, frames)
    domains = top.node("domains")
    samples = domain_set(domains, "sample", release)
    events = domain_set(domains, "event", release)
    domains.done()
    reader = top.node("reader")
    rate = reader.integer("kb_per_second", 0, model.AT_ONCE, model.AT_ONCE)
    reader.done()
    config = Config(
        seed=top.integer("seed", 0, (1 << 63) - 1, 0),
        start=start,
        second_of_day=second_of_day,
        seconds=seconds,
        release=release,
        interval=top.integer("interval", 6, 3600, 60),
        rate=round(top.number("rate", 0.05, 30, 2.0) * 100),
        sample_domains=samples,
        event_domains=events,
        segment=_segment(top),
        reader=rate,
        frames=frames,
        system=system.name("name", default="ZVMLAB"),
        partition=system.name("partition", default="LPAR1"),
        vswitch=system.name("vswitch", default="VSWITCH1"),
        processors=processors,
        devices=devices,
        users=users.users,
        patterns=machine.percents,
        actions=actions(
            top,
            users,
            processors,
            devices,
            (samples, events),
            second_of_day,
            release,
            seconds,
            round(own * 3600),
        ),
    )
    system.done()
    top.done()
    return config


def _start(top: Node) -> tuple[int, int]:
    """TOD clock and second of the day."""
    text = top.text("start", default="2026-03-02T00:00:00")
    try:
        at = datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S")
    except ValueError:
        raise top.error("start", f'is "{text}"; write it as 2026-03-02T00:00:00') from None
    since = int(at.replace(tzinfo=datetime.timezone.utc).timestamp()) + _EPOCH
    tod = since * _TOD_SECOND
    if not 0 < tod < _TOD_END - (MAX_HOURS + 24) * 3600 * _TOD_SECOND:
        raise top.error("start", f'is "{text}"; the TOD clock counts from 1900 to 2042')
    return tod, since % 86400


def _release(top: Node) -> int:
    text = top.text("release", default="5.3")
    try:
        release = parse_release(text)
    except UsageError:
        release = 0
    if not 420 <= release <= 750:
        raise top.error("release", f'is "{text}"; 4.2 to 7.5 are possible')
    return release


def _segment(top: Node) -> Segment:
    node = top.node("segment")
    made = Segment(
        start=node.hexadecimal("start", 0x7FFFF, "9000"),
        pages=node.integer("megabytes", 1, 64, 8) * PAGES_A_MEGABYTE,
        partition=node.integer("partition", 0, 16384, 0),
        sample_config=node.integer("sample_config", 0, 16384, 0),
        event_config=node.integer("event_config", 0, 16384, 0),
        block=node.integer("block", 1, 10, 4),
    )
    node.done()
    return made


def _processors(top: Node, machine: _Machine) -> list[int]:
    made: list[int] = []
    for node in top.nodes("processors", [{"type": "CP", "count": 2}]):
        type = TYPES[node.choice("type", tuple(TYPES))]
        made += [type] * node.integer("count", 1, 64, 1)
        machine.types.add(type)
        node.done()
    if not 1 <= len(made) <= 64:
        raise top.error("processors", f"are {len(made)}; 1 to 64 are possible")
    return made


def _devices(top: Node) -> list[Device]:
    made: dict[int, Device] = {}
    for node in top.nodes("devices", []):
        kind = KINDS[node.choice("kind", tuple(KINDS))]
        count = node.integer("count", 1, 4096, 1)
        first = node.hexadecimal("first", 0xFFFF)
        volume = node.name("volume", 3, "VOL")
        chpids = _chpids(node)
        slots = node.integer("slots", 0, (1 << 31) - 1, _SLOTS) if kind == model.PAGING else 0
        for at in range(count):
            number = first + at
            if number > 0xFFFF or number in made:
                raise node.error(
                    "first", f"gives a device the number {number:04X}, which is taken or too high"
                )
            label = "" if kind == model.OSA else f"{volume}{at % 1000:03}"
            made[number] = Device(number, kind, chpids, label, slots)
        node.done()
    if len(made) > 4096:
        raise top.error("devices", f"are {len(made)}; at most 4096 are possible")
    return [made[number] for number in sorted(made)]


def _chpids(node: Node) -> tuple[int, ...]:
    found = []
    for text in node.texts("paths", ["40"]):
        try:
            found.append(int(text, 16))
        except ValueError:
            found.append(-1)
        if not 0 <= found[-1] <= 0xFF:
            raise node.error("paths", f'has "{text}"; write channel paths as "4A", "00" to "FF"')
    if not 1 <= len(found) <= 8 or len(set(found)) < len(found):
        raise node.error("paths", "are not 1 to 8 different channel paths")
    return tuple(found)


def _patterns(top: Node, machine: _Machine) -> None:
    node = top.node("patterns")
    for name in node.keys():
        percents = node.items(name)
        if name == _CONSTANT:
            raise node.error(name, "is 100 % at all hours already; choose another name")
        if len(name) > _PATTERN_NAME:
            raise node.error(name, f"has a name of more than {_PATTERN_NAME} characters")
        if len(percents) != 24 or not all(
            type(percent) is int and 0 <= percent <= 1000 for percent in percents
        ):
            raise node.error(name, "is not a list of 24 percentages, 0 to 1000, one for each hour")
        machine.patterns.append(name)
        machine.percents.append(percents)
    if len(machine.percents) > 32:
        raise top.error("patterns", f"are {len(machine.percents) - 1}; at most 31 are possible")


def _users(top: Node, machine: _Machine, frames: int) -> Users:
    found = Users()
    for node in top.nodes("users", []):
        _group(node, machine, frames, found)
        node.done()
    if len(found.users) > 65536:
        raise top.error("users", f"are {len(found.users)}; at most 65536 are possible")
    return found


def _group(node: Node, machine: _Machine, frames: int, found: Users) -> None:
    name = node.name("name")
    count = node.integer("count", 1, 65536, 1)
    type = TYPES[node.choice("type", tuple(TYPES), "CP")]
    if type not in machine.types:
        raise node.error(
            "type", "is the type of no processor; add such a processor, or choose another type"
        )
    pages = node.integer("storage_mb", 1, 1 << 22, 512) * PAGES_A_MEGABYTE
    if pages > frames * 16:
        raise node.error("storage_mb", "is more than 16 times the system's storage")
    pattern = node.choice("pattern", machine.patterns, _CONSTANT)
    digits = len(str(count))
    names = [name] if count == 1 else [f"{name}{at:0{digits}}" for at in range(1, count + 1)]
    if len(names[-1]) > 8:
        raise node.error("name", f"gives the last user the ID {names[-1]}; at most 8 characters")
    user = User(
        "",
        type,
        machine.patterns.index(pattern),
        pages,
        processors=node.integer("processors", 1, 64, 1),
        application=node.truth("application", False),
        network=node.truth("network", True),
        share=node.integer("share", 1, 10000, 100),
        cpu=round(node.number("cpu_percent", 0, 6400, 10) * 10),
        io=node.thousandths("io", model.MAX_RATE, 20),
        paging=node.thousandths("paging", model.MAX_RATE, 0),
        packets=node.thousandths("packets", model.MAX_RATE, 50),
        transactions=node.thousandths("transactions", model.MAX_RATE, 0.02),
    )
    found.add(node, name, names, user)
