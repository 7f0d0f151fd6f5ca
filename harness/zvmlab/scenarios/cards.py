# SPDX-License-Identifier: MIT
"""A scenario of vmur: virtual reader, punch and printer, with CP's spool behind them."""

from __future__ import annotations

import os
from dataclasses import dataclass

from zvmlab.agent.calls import CallResult
from zvmlab.cp.spool import LINE, PRINTER, PUNCH, cards, files, lines, put, read
from zvmlab.guest.config import QEMU
from zvmlab.scenarios.context import Context, error_name, scenario

_MODULE = "vmur"
_GUEST = "LINUX001"
_DIRECTORY = (
    "IUCV ALLOW;IUCV ANY;IUCV *MONITOR MSGLIMIT 255;IUCV *MSG;NAMESAVE MONDCSS;"
    "SPOOL 00C 2540 READER *;SPOOL 00D 2540 PUNCH A;SPOOL 00E 1403 A"
)
_PAGE = 4096
_VMCP = "/dev/vmcp"
_SECONDS = 10.0
"""How long the node of a device is waited for, which a fault may have prevented."""
# There is no path of IUCV that it is about.
_NOBODY = "NOBODY"


@dataclass(frozen=True)
class _Unit:
    """A virtual unit record device."""

    what: str
    number: str

    @property
    def online(self) -> str:
        return f"/sys/bus/ccw/devices/0.0.0{self.number}/online"

    @property
    def name(self) -> str:
        """The name of its node."""
        return f"vm{self.what}-0.0.0{self.number}"


_READER, _PUNCH, _PRINTER = _Unit("rdr", "00c"), _Unit("pun", "00d"), _Unit("prt", "00e")
_UNITS = (_READER, _PUNCH, _PRINTER)


def _online(context: Context, unit: _Unit) -> str | None:
    """Set a device online; what is wrong with that.  The kernel makes its node a moment later."""
    wrong = context.write_file(unit.online, "1")
    if wrong is None and not context.control.limit(_SECONDS).look(lambda: _has_node(context, unit)):
        return "no node"
    return wrong


def _has_node(context: Context, unit: _Unit) -> bool:
    opened = context.guest.agent.open(f"/sys/class/vmur/{unit.name}/dev")
    if opened.errno:
        return False
    context.guest.agent.close(opened.ret)
    return True


def _open(context: Context, unit: _Unit, flags: int) -> CallResult:
    return context.guest.agent.open(f"/dev/{unit.name}", flags | os.O_NONBLOCK)


def _read(context: Context, *texts: str) -> list[str | None]:
    """Find which of these texts the reader's first file has, or the error."""
    opened = _open(context, _READER, os.O_RDONLY)
    if opened.errno:
        return [error_name(opened.errno)]
    found = context.call("reading cards", lambda batch: batch.read(opened.ret, _PAGE))
    context.guest.agent.close(opened.ret)
    if found is None or found.errno:
        return ["nothing comes" if found is None else error_name(found.errno)]
    return [text for text in texts if text.encode("cp037") in found.data]


def _write(context: Context, unit: _Unit, records: bytes) -> str | None:
    """Punch or print records; what is wrong with that."""
    opened = _open(context, unit, os.O_WRONLY)
    if opened.errno:
        return error_name(opened.errno)
    result = context.call("writing records", lambda batch: batch.write(opened.ret, records))
    context.guest.agent.close(opened.ret)
    if result is None:
        return "it sleeps"
    if result.errno or result.ret == len(records):
        return error_name(result.errno)
    return f"{result.ret} bytes"


def _command(context: Context, text: str) -> str | None:
    """A CP command of the guest's."""
    opened = context.guest.agent.open(_VMCP, os.O_RDWR)
    result = context.guest.agent.write(opened.ret, text.encode("ascii"))
    context.guest.agent.close(opened.ret)
    return error_name(result.errno)


def _queued(context: Context, queue: str, length: int) -> list[list[str]]:
    """The contents of the guest's files on a queue; "open" while one is being written."""
    return [
        ["open"] if file.open else lines(read(context.control, file), length)
        for file in files(context.control, _GUEST, queue)
    ]


def _transfer(context: Context, text: str) -> None:
    """A file is read; two cards are punched, and a line is printed, in files that are closed."""
    put(context.control, _GUEST, cards(text, "next"), name="IN")
    context.note("read", texts=_read(context, text, "next"))
    wrong = _write(context, _PUNCH, cards(text, "last"))
    context.note("punch", errno=wrong, close=_command(context, "CLOSE 00D"))
    wrong = _write(context, _PRINTER, cards(text, length=LINE))
    context.note("print", errno=wrong, close=_command(context, "CLOSE 00E"))
    for queue, length in ((PUNCH, 80), (PRINTER, LINE)):
        context.note("queue", of=queue, files=_queued(context, queue, length))


def _purge(context: Context) -> None:
    """No file is left: the devices' are closed first."""
    for command in ("CLOSE 00C", "CLOSE 00D PURGE", "CLOSE 00E PURGE", "PURGE ALL"):
        _command(context, command)


def _unload(context: Context) -> list[str | None]:
    errors = [context.write_file(unit.online, "0") for unit in _UNITS]
    return [*errors, error_name(context.guest.agent.rmmod(_MODULE).errno)]


def _spool_works(context: Context) -> str | None:
    _purge(context)
    _unload(context)
    context.guest.agent.modprobe(_MODULE)
    errors = [_online(context, unit) for unit in _UNITS]
    if any(errors):
        return f"the devices go online with {errors}"
    before = len(context.steps)
    _transfer(context, "again")
    found = [step.result for step in context.steps[before:]]
    _purge(context)
    unloaded = _unload(context)
    wanted: list[dict[str, object]] = [
        {"texts": ["again", "next"]},
        {"errno": None, "close": None},
        {"errno": None, "close": None},
        {"of": PUNCH, "files": [["again", "last"]]},
        {"of": PRINTER, "files": [["again"]]},
    ]
    if found != wanted:
        return f"the spool gives {found}"
    return f"the end is {unloaded}" if any(unloaded) else None


@scenario(
    "vmur",
    "A program reads a file of the reader, punches cards and prints a line through vmur.",
    partner=_NOBODY,
    modules=(_MODULE,),
    usable=_spool_works,
    cp={"directory": _DIRECTORY},
    backends=(QEMU,),
)
def vmur(context: Context) -> None:
    """DIAGNOSE X'210' and X'14', channel programs of each device, and CLOSE."""
    loaded = context.guest.agent.modprobe(_MODULE).errno
    context.note("load", errno=error_name(loaded))
    context.note("online", errors=[_online(context, unit) for unit in _UNITS])
    _transfer(context, "text")
    _purge(context)
    context.note("unload", errors=_unload(context))
