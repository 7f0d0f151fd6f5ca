# SPDX-License-Identifier: MIT
"""Events of a workload file as actions of the model, in order."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from zvmlab.fabricate import model
from zvmlab.fabricate.model import Action, Device, User
from zvmlab.fabricate.workload_json import Node
from zvmlab.mondata.records import DOMAINS, domain_bits

_SECONDS_A_DAY = 86400
# Samples have no scheduler and no seeks data, events no system data.
_NEVER = {"sample": ("scheduler", "seeks"), "event": ("system",)}
# z/VM 6.2 has them; events never (D1R1 has no bits for them).
_LATE = {"sample": ("isfc", "ssi"), "event": ()}
_NOT_PUBLIC = {"sample": (), "event": ("isfc", "ssi")}
_ALWAYS = {"sample": ("system", "monitor"), "event": ("monitor",)}
_LATE_RELEASE = 620


@dataclass
class Users:
    """All users, and where the groups of the file are among them."""

    users: list[User] = field(default_factory=list)
    groups: dict[str, tuple[int, int]] = field(default_factory=dict)
    days: list[tuple[str, int, int, int, int]] = field(default_factory=list)
    """Group, seconds of the day of logon and logoff, seconds that each spreads over, count."""

    def add(self, node: Node, name: str, names: Sequence[str], one: User) -> None:
        """A group of users that differ by name only."""
        known = {user.name for user in self.users}
        if name in self.groups or known.intersection(names):
            raise node.error("name", f"is {name}, and there are users of that name already")
        self.groups[name] = (len(self.users), len(names))
        logged_on = True
        if node.has("logon") or node.has("logoff"):
            logged_on = False
            spread = node.integer("spread_minutes", 0, 1440, 30) * 60
            logon, logoff = clock(node, "logon", 24), clock(node, "logoff", 24)
            if not logon < logoff:
                raise node.error("logoff", "is not later in the day than logon")
            self.days.append((name, logon, logoff, spread, len(names)))
        self.users += [dataclasses.replace(one, name=each, logged_on=logged_on) for each in names]

    def find(self, node: Node, key: str) -> tuple[int, int]:
        """First and count of a group, or of one user."""
        name = node.name(key)
        if name in self.groups:
            return self.groups[name]
        for at, user in enumerate(self.users):
            if user.name == name:
                return at, 1
        raise node.error(key, f"is {name}, which is neither a user nor a group of users")


def clock(node: Node, key: str, hours: int) -> int:
    """``HH:MM`` or ``HH:MM:SS`` as seconds."""
    text = node.text(key)
    parts = text.split(":")
    if len(parts) in (2, 3) and all(part.isdecimal() and len(part) <= 4 for part in parts):
        hour, minute, second = (int(part) for part in (*parts, "0")[:3])
        if minute < 60 and second < 60 and hour <= hours:
            return hour * 3600 + minute * 60 + second
    raise node.error(key, f'is "{text}"; write it as 09:30 or 09:30:15')


def _allowed(kind: str, release: int) -> list[str]:
    without = (*_NEVER[kind], *_NOT_PUBLIC[kind])
    if release < _LATE_RELEASE:
        without += _LATE[kind]
    return [domain for domain in DOMAINS if domain not in without]


def domain_set(node: Node, kind: str, release: int) -> int:
    """Domains that the file enables for samples or events; all unless it says otherwise."""
    allowed = _allowed(kind, release)
    words = node.texts(kind, ["all"])
    for word in words:
        if word != "all" and word not in allowed:
            raise node.error(kind, f'has "{word}"; known are all, {", ".join(allowed)}')
    chosen = allowed if "all" in words else words
    return domain_bits(*{*chosen, *_ALWAYS[kind]})


@dataclass
class _Maker:
    """Actions as they come; sorted in the end."""

    users: Users
    processors: Sequence[int]
    devices: Sequence[Device]
    release: int
    seconds: int
    made: list[Action] = field(default_factory=list)

    def pair(self, node: Node, kind: int, first: int, count: int, values: tuple[int, int]) -> None:
        """Something that begins, and ends after some minutes."""
        at = self.at(node)
        end = at + round(node.number("minutes", 1 / 60, 366 * 1440, 10) * 60)
        self.made.append(Action(at, kind, first, count, values[0]))
        if end < self.seconds:
            self.made.append(Action(end, kind, first, count, values[1]))

    def at(self, node: Node) -> int:
        """Second at which the event begins."""
        return clock(node, "at", 9999)


def _users_event(kind: int) -> Callable[[_Maker, Node], None]:
    def make(maker: _Maker, node: Node) -> None:
        first, count = maker.users.find(node, "users")
        maker.made.append(Action(maker.at(node), kind, first, count))

    return make


def _busy(maker: _Maker, node: Node) -> None:
    first, count = maker.users.find(node, "users")
    percent = node.integer("percent", 0, 10000)
    maker.pair(node, model.LOAD, first, count, (percent, 100))


def _runaway(maker: _Maker, node: Node) -> None:
    first, count = maker.users.find(node, "users")
    maker.pair(node, model.RUNAWAY, first, count, (1, 0))


def _path(maker: _Maker, node: Node) -> None:
    chpid = node.hexadecimal("path", 0xFF)
    if not any(chpid in device.chpids for device in maker.devices):
        raise node.error("path", f"is {chpid:02X}, which no device has")
    maker.pair(node, model.PATH, chpid, 0, (0, 1))


def _device(maker: _Maker, node: Node) -> None:
    number = node.hexadecimal("device", 0xFFFF)
    for at, device in enumerate(maker.devices):
        if device.number == number and device.kind != model.PAGING:
            maker.pair(node, model.DEVICE, at, 1, (0, 1))
            return
    raise node.error(
        "device", f"is {number:04X}, which is not a device, or is one that CP pages to"
    )


def _processor(maker: _Maker, node: Node) -> None:
    number = node.integer("processor", 0, 63)
    if not 0 < number < len(maker.processors):
        raise node.error(
            "processor", f"is {number}; 1 to {len(maker.processors) - 1} can be varied off"
        )
    maker.pair(node, model.PROCESSOR, number, 1, (0, 1))


def _storm(maker: _Maker, node: Node) -> None:
    if not any(device.kind in (model.DASD, model.SCSI) for device in maker.devices):
        raise node.error("what", "is storm, whose records are about disks; add a device of them")
    if not maker.users.users:
        raise node.error("what", "is storm, whose records are about users; add one")
    maker.pair(node, model.STORM, 0, 0, (node.integer("per_second", 1, 1_000_000), 0))


def _reader(maker: _Maker, node: Node) -> None:
    rate = node.integer("kb_per_second", 0, model.AT_ONCE - 1)
    maker.pair(node, model.READER, 0, 0, (rate, model.AT_ONCE))


def _monitor(maker: _Maker, node: Node) -> None:
    text = node.text("command", 60).upper()
    words = text.removeprefix("MONITOR ").split()
    domain = "" if len(words) != 3 else {"I/O": "io"}.get(words[2], words[2].lower())
    if len(words) != 3 or words[0] not in ("SAMPLE", "EVENT") or words[1] not in _ENABLE:
        raise node.error("command", f'is "{text}"; write it as SAMPLE DISABLE NETWORK')
    kind = words[0].lower()
    allowed = _allowed(kind, maker.release)
    if domain not in (*allowed, "all"):
        raise node.error("command", f'is "{text}"; its domains are all, {", ".join(allowed)}')
    bits = domain_bits(*(allowed if domain == "all" else [domain]))
    action = model.SAMPLE if kind == "sample" else model.EVENT
    # The set that results depends on those before; count says what the command does.
    enable = words[1] == "ENABLE"
    text = " ".join(("MONITOR", *words))
    maker.made.append(Action(maker.at(node), action, 0, int(enable), bits, text))


_ENABLE = ("ENABLE", "DISABLE")
_WHAT: dict[str, Callable[[_Maker, Node], None]] = {
    "logon": _users_event(model.LOGON),
    "logoff": _users_event(model.LOGOFF),
    "busy": _busy,
    "runaway": _runaway,
    "path-offline": _path,
    "device-offline": _device,
    "processor-offline": _processor,
    "storm": _storm,
    "reader": _reader,
    "monitor": _monitor,
}


def _days(maker: _Maker, second_of_day: int) -> None:
    """Users that come and go every day, one after the other."""
    for name, logon, logoff, spread, count in maker.users.days:
        first, _ = maker.users.groups[name]
        for day in range(-1, maker.seconds // _SECONDS_A_DAY + 2):
            for at in range(count):
                shift = day * _SECONDS_A_DAY + spread * at // count - second_of_day
                if logoff + shift <= 0:
                    continue
                # Who would be there already logs on as the workload begins.
                maker.made += (
                    Action(max(logon + shift, 0), model.LOGON, first + at, 1),
                    Action(logoff + shift, model.LOGOFF, first + at, 1),
                )


def _cumulate(found: list[Action], kind: int, domains: int, always: int) -> list[Action]:
    """Commands of one kind with the set of domains that results."""
    made = []
    for action in found:
        if action.kind == kind:
            domains = domains | action.value if action.count else domains & ~action.value | always
            action = dataclasses.replace(action, count=0, value=domains)
        made.append(action)
    return made


def actions(
    top: Node,
    users: Users,
    processors: Sequence[int],
    devices: Sequence[Device],
    domains: tuple[int, int],
    second_of_day: int,
    release: int,
    seconds: int,
    whole: int,
) -> list[Action]:
    """All actions within *seconds*, in order, commands last in their second.

    *whole* is how long the workload lasts if nobody cuts it short.
    """
    maker = _Maker(users, processors, devices, release, seconds)
    _days(maker, second_of_day)
    for node in top.nodes("events", []):
        begin = len(maker.made)
        _WHAT[node.choice("what", tuple(_WHAT))](maker, node)
        node.text("remark", default="")
        node.done()
        if maker.made[begin].second >= max(whole, seconds):
            raise node.error("at", "is after the end of the workload")
    commands = (model.SAMPLE, model.EVENT)
    found = [action for action in maker.made if 0 <= action.second < seconds]
    found.sort(key=lambda action: (action.second, action.kind in commands))
    found = _cumulate(found, model.SAMPLE, domains[0], domain_bits(*_ALWAYS["sample"]))
    found = _cumulate(found, model.EVENT, domains[1], domain_bits(*_ALWAYS["event"]))
    if len(found) > 65536:
        raise top.error(
            "events", f"and logons of every day are {len(found)}; at most 65536 are possible"
        )
    return found
