# SPDX-License-Identifier: MIT
"""A scenario of appldata: data of the kernel's own that CP collects."""

from __future__ import annotations

import base64
import contextlib
import struct
from collections.abc import Iterator

from zvmlab.base.errors import ZvmlabError
from zvmlab.mondata.records import HEADER_SIZE, BadStream
from zvmlab.monitor.monuser import MonitorUser
from zvmlab.scenarios.context import Context, error_name, scenario

_SYSCTL = "/proc/sys/appldata"
# The numbers of their records, with which each product's ID ends but for release and version.
_KINDS = {"mem": 1, "os": 2, "net_sum": 3}
_NUMBER_AT = 9
# D10R2 after its header: offset of the data, their length, user ID, product's ID, status.
_FIXED = struct.Struct(">HH8s16sB3x")
# Of the kernel's data: time, how often a change has begun, and ended.
_HEAD = struct.Struct(">QII")
_APPLDATA = 10
# There is no path of the guest's that it is about.
_NOBODY = "NOBODY"
_START = ("SAMPLE ENABLE APPLDATA ALL", "SAMPLE START")
_STOP = ("SAMPLE STOP", "SAMPLE DISABLE ALL")


@contextlib.contextmanager
def _sampling(context: Context) -> Iterator[None]:
    """CP collects application data for a user of *MONITOR; intervals end when told to."""
    context.control.execute("monitor-manual", manual=True)
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(MonitorUser(context.control, seconds=context.patience))
        except ZvmlabError as error:
            context.note("no samples", error=type(error).__name__)
        for command in _START:
            context.guest.cp(f"MONITOR {command}")
        yield
    for command in _STOP:
        context.guest.cp(f"MONITOR {command}")
    context.control.execute("monitor-manual", manual=False)


def _declared(context: Context) -> list[int]:
    """The kernel's records whose buffers CP knows."""
    found = context.control.execute("query-appldata")["buffers"]
    return sorted(base64.b64decode(buffer["product-id"])[_NUMBER_AT] for buffer in found)


def _sample(context: Context) -> list[list[object]]:
    """Each record in a sample: its number, its length, and whether it is whole."""
    known = len(context.stored_sets())
    context.control.execute("monitor-tick")
    found: list[list[object]] = []
    for data_set in context.stored_sets()[known:]:
        try:
            records = [record for part in data_set.parts() for record in part.records()]
        except BadStream as error:
            # A fault has changed what CP has stored.
            return [[str(error)]]
        for record in records:
            if record.domain != _APPLDATA:
                continue
            offset, length, _, product, _ = _FIXED.unpack_from(record.payload)
            data = record.payload[offset - HEADER_SIZE :]
            _, begun, ended = _HEAD.unpack_from(data)
            found.append([product[_NUMBER_AT], length, begun == ended])
    return found


def _set(context: Context, name: str, value: int) -> str | None:
    return context.write_file(f"{_SYSCTL}/{name}", f"{value}\n")


def _load(context: Context) -> list[str | None]:
    agent = context.guest.agent
    return [error_name(agent.modprobe(f"appldata_{name}").errno) for name in _KINDS]


def _unload(context: Context) -> list[str | None]:
    agent = context.guest.agent
    return [error_name(agent.rmmod(f"appldata_{name}").errno) for name in _KINDS]


def _collected(context: Context) -> str | None:
    """Each kind is declared, sampled and withdrawn; what of that does not work."""
    for name in _KINDS:
        _set(context, name, 0)
    _unload(context)
    forgotten = _declared(context)
    if forgotten:
        return f"CP copies from the buffers {forgotten} of modules that are gone"
    _load(context)
    wrong = [_set(context, name, 1) for name in _KINDS]
    declared = _declared(context)
    with _sampling(context):
        found = [[record[0], record[-1]] for record in _sample(context)]
    wrong += [_set(context, name, 0) for name in _KINDS]
    left = _declared(context)
    wrong += _unload(context)
    if any(wrong):
        return f"appldata ends with {wrong}"
    if declared != list(_KINDS.values()) or left:
        return f"CP knows the buffers {declared}, and {left} when there should be none"
    if found != [[number, True] for number in _KINDS.values()]:
        return f"a sample has the records {found}"
    return None


@scenario(
    "appldata",
    "The kernel declares its data of memory, CPUs and network; CP samples them; they are withdrawn.",
    partner=_NOBODY,
    modules=tuple(f"appldata_{name}" for name in _KINDS),
    usable=_collected,
)
def appldata(context: Context) -> None:
    """DIAGNOSE X'DC' by the kernel, a sample with all kinds, and one with none."""
    context.note("load", errors=_load(context))
    with _sampling(context):
        for name in _KINDS:
            wrong = _set(context, name, 1)
            context.note("start", kind=name, errno=wrong, declared=_declared(context))
        context.note("sample", records=_sample(context))
        for name in _KINDS:
            wrong = _set(context, name, 0)
            context.note("stop", kind=name, errno=wrong, declared=_declared(context))
        context.note("sample", records=_sample(context))
    context.note("unload", errors=_unload(context))
