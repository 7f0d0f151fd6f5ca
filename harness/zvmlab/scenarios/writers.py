# SPDX-License-Identifier: MIT
"""Scenarios of programs that write application data through monwriter."""

from __future__ import annotations

import errno
import os
import struct

from zvmlab.scenarios.context import Context, scenario

_MODULE = "monwriter"
_DEVICE = "/dev/monwriter"
# asm/monwriter.h: functions and header.
_START, _STOP, _EVENT, _CONFIG = range(4)
_HEADER = struct.Struct(">BHBHHHHB")
_COMMANDS = (
    *("SAMPLE ENABLE APPLDATA ALL", "EVENT ENABLE APPLDATA ALL"),
    *("SAMPLE START", "EVENT START"),
)
_UNDO = (
    *("SAMPLE STOP", "EVENT STOP"),
    *("SAMPLE DISABLE ALL", "EVENT DISABLE ALL"),
)


def _write(context: Context, fd: int, function: int, data: bytes = b"") -> None:
    header = _HEADER.pack(function, 1, function, 0, 0, 0, len(data), _HEADER.size)
    result = context.worker.write(fd, header + data)
    context.note("write", function=function, errno=errno.errorcode.get(result.errno))


def _read_all(context: Context) -> None:
    """The sets that wait, and which of them have what was written."""
    known = len(context.sets)
    for stored in context.stored_sets()[known:]:
        context.note("stored", kind=stored.kind, data=stored.stream.count(b"application "))
        context.read(hashes=False)


@scenario(
    "write-and-read-back",
    "monwriter: data of every kind come back through monreader, and are withdrawn.",
    modules=(_MODULE,),
)
def write_and_read_back(context: Context) -> None:
    """Interval, configuration and event data; a new content; STOP, and the end by close."""
    worker, control = context.worker, context.control
    control.execute("monitor-manual", manual=True)
    context.load()
    context.open()
    context.note("load monwriter", errno=worker.modprobe(_MODULE).errno)
    for command in _COMMANDS:
        context.note("monitor", command=command, rc=context.guest.cp(f"MONITOR {command}").rc)
    fd = worker.open(_DEVICE, os.O_WRONLY).ret
    for function in (_START, _EVENT, _CONFIG):
        _write(context, fd, function, b"application %d" % function)
    control.execute("monitor-tick")
    _read_all(context)
    _write(context, fd, _START, b"application 9")
    control.execute("monitor-tick")
    _read_all(context)
    header = _HEADER.pack(_STOP, 1, _START, 0, 0, 0, 0, _HEADER.size)
    context.note("stop", errno=errno.errorcode.get(worker.write(fd, header).errno))
    worker.close(fd)
    control.execute("monitor-tick")
    _read_all(context)
    context.note("unload monwriter", errno=worker.rmmod(_MODULE).errno)
    for command in _UNDO:
        context.note("monitor", command=command, rc=context.guest.cp(f"MONITOR {command}").rc)
    control.execute("monitor-manual", manual=False)
    context.close()
    context.unload()
