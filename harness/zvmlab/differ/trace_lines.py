# SPDX-License-Identifier: MIT
"""A part of a trace as lines that can be compared with those of another run.

The rules, which docs/emulators.md also states:

* time, sequence numbers, the number of the CPU and guest storage addresses are left out,
  what is stored there is not;
* ids of paths, messages, data sets and fault rules, and tags, are numbered as they come up;
* paths from before the part, those to the agent, and the agent's own side are left out;
* so are a CPU's giving up its time slice, which is a matter of timing, and CP's clock.

The lines go in tracks: "calls" of the guest, "CP" for what came from outside and
what services heard, "calls and CP" for both in their common order, and
"interruptions", which may come a moment sooner or later than the rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from zvmlab.agent.agent import USER as AGENT
from zvmlab.cp.tracefmt import Record
from zvmlab.cp.iucv_fields import lists_and_rest
from zvmlab.differ.iucv_text import Names, call_text, event_text

CALLS, CP, ORDERED, INTERRUPTIONS = "calls", "CP", "calls and CP", "interruptions"
_TRACKS = {CALLS: (CALLS,), CP: (CP,), ORDERED: (CALLS, CP), INTERRUPTIONS: (INTERRUPTIONS,)}
_YIELDS = ("diag.44", "diag.9c")
# What the emulator has done, not the guest or a test; the configuration has paths of files.
_BESIDES = (
    *("configuration", "reset", "reset.cpu", "cpu.ordered", "cpu.waits"),
    *("ipl", "dispatch", "monitor.timer"),
)
# Registers that hold numbers, by DIAGNOSE code: which of the two operands.
_NUMBERS = {"08": ("r3",), "64": ("r3",), "204": ("r3",), "260": ("r3",)}
# By DIAGNOSE code: the length of its parameter list, and what CP makes use of in it, but for
# addresses (sim/cp/diag).  The rest is what the guest's stack had there.
_LISTS: dict[str, tuple[int, tuple[tuple[int, int], ...]]] = {
    # Function, name, length.
    "64": (24, ((0, 1), (8, 16), (20, 22))),
    # The code, function and length of the list, length of the buffer.
    "dc": (32, ((0, 4), (10, 12))),
    # Policy and user ID, size of the buffer, format.
    "2fc": (32, ((0, 16), (24, 32))),
}
# What these store is CP's clock, or times by it.
_CLOCKS = ("0c", "204", "2fc")
# How a call was made, what stands elsewhere in a line, and the number of a fault rule.
_OPERANDS = {"r1", "r3", "amode", "asce", "gr", "call#2", "issuer", "command", "rule"}
# Of B2F0: the function and the list's address.
_LIST = ("gr0", "gr1")
# What an IUCV instruction may have besides: it was made to fail, it was not the kernel's.
_ALSO = ("fault", "problem")
_OWN = {"seq", "tod", "cpu", "call", "in", "out", "lost", "kick", "timer", "cc", "pgm", "how"}
_NUMBERED = {"set": "set", "rule": "rule", "path": "path", "msgid": "message", "msgtag": "tag"}


@dataclass
class TraceLines:
    """Lines with their track, in order."""

    entries: list[tuple[str, str]] = field(default_factory=list)

    def track(self, name: str) -> tuple[str, ...]:
        """The lines of a track."""
        return tuple(text for track, text in self.entries if track in _TRACKS[name])


def _result(record: Record) -> str:
    if "pgm" in record.fields:
        return f"program interruption {record.fields['pgm']}"
    return f"cc {record.fields['cc']}" if "cc" in record.fields else str(record.fields.get("how"))


def _bytes(access: list[Any]) -> str:
    """One access to storage, without its address."""
    if access[0] == "more":
        return f"and {access[1]} more"
    if len(access) == 3:
        return f"{access[1]} bytes, hash {access[2]}"
    return "no storage" if access[1] is None else str(access[1])


def _accesses(accesses: Iterable[list[Any]]) -> str:
    return "[" + "; ".join(_bytes(access) for access in accesses) + "]"


def _used_of_list(code: str, access: list[Any]) -> list[Any]:
    """A parameter list of that DIAGNOSE, what CP makes no use of in it blanked."""
    length, used = _LISTS[code]
    if len(access) != 2 or access[1] is None or len(access[1]) != 2 * length:
        return access
    shown = ["."] * (2 * length)
    for begin, end in used:
        shown[2 * begin : 2 * end] = access[1][2 * begin : 2 * end]
    return [access[0], "".join(shown)]


def _diagnose(record: Record) -> str:
    """A DIAGNOSE: its numbers, what CP read and stored, registers that it changed."""
    fields = record.fields
    code = record.call.removeprefix("diag.")
    read = fields.get("in", [])
    if code in _LISTS:
        read = [_used_of_list(code, access) for access in read]
    words = [f"diagnose {code}"]
    words += [f"{name} {fields['gr'][fields[name]]}" for name in _NUMBERS.get(code, ())]
    words.append(f"in {_accesses(read)}")
    if code not in _CLOCKS:
        words.append(f"out {_accesses(fields.get('out', []))}")
    return f"{' '.join(words)} {_more(record)}{_result(record)}"


def _stsi(record: Record) -> str:
    fields = record.fields
    return f"stsi {fields.get('gr')} {fields.get('sysib', '')} {_result(record)}"


def _sthyi(record: Record) -> str:
    fields = record.fields
    code, address = (fields["gr"][fields[name]] for name in ("r1", "r2"))
    words = [f"sthyi code {code} at {int(address, 16) % 4096:x} of a page"]
    words += [f"{name} {fields[name]}" for name in ("response", "rc") if name in fields]
    return " ".join([*words, _result(record)])


def _more(record: Record, but: Iterable[str] = ()) -> str:
    """Members that no other part of a line has."""
    return "".join(
        f"{key} {value} "
        for key, value in record.fields.items()
        if key not in _OWN and key not in _OPERANDS and key not in but
    )


def _iucv(record: Record, names: Names) -> str | None:
    """An IUCV instruction; None if it is the agent's, or on a path from before."""
    what = record.call.removeprefix("iucv.")
    before, after, read, stored = lists_and_rest(record.fields)
    if before is None:
        return f"{what} {_more(record, _LIST)}{_result(record)}"
    text = call_text(what, before, after, _result(record), names)
    if text is None:
        return None
    storage = f" in {_accesses(read)} out {_accesses(stored)}" if read or stored else ""
    more = "".join(f" {key} {record.fields[key]}" for key in _ALSO if key in record.fields)
    return f"{text}{storage}{more}"


def _cp(record: Record, names: Names) -> str | None:
    """A line about outside input, or an event of a service; None for the agent's."""
    fields = record.fields
    user = str(fields.get("user", ""))
    if user == AGENT or record.call in _BESIDES:
        return None
    if record.event is not None:
        return event_text(record.event, names.of(user), f"{user}: ")
    words = [record.call]
    for key, value in fields.items():
        kind = _NUMBERED.get(key.partition("#")[0])
        if kind is not None:
            number = int(value, 16) if isinstance(value, str) else value
            words.append(names.of(user).number(kind, number))
        elif key not in _OWN:
            words.append(f"{key} {value}")
    return " ".join([*words, *([_result(record)] if "cc" in fields else [])])


def trace_lines(records: Iterable[Record]) -> TraceLines:
    """The lines of these records, which are a whole part of a trace."""
    found, names = TraceLines(), Names(AGENT)
    for record in records:
        track, text = CALLS, None
        if record.cpu is None:
            track, text = CP, _cp(record, names)
        elif record.call == "interrupt" and record.event is not None:
            track, text = INTERRUPTIONS, event_text(record.event, names)
        elif record.call == "interrupt":
            track, text = INTERRUPTIONS, f"interruption without a buffer {_result(record)}"
        elif record.call.startswith("iucv."):
            text = _iucv(record, names)
        elif record.call == "stsi":
            text = _stsi(record)
        elif record.call == "sthyi":
            text = _sthyi(record)
        elif record.call.startswith("diag.") and record.call not in _YIELDS:
            text = _diagnose(record)
        if text is not None:
            found.entries.append((track, text))
    return found
