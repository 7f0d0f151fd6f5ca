# SPDX-License-Identifier: MIT
"""A scenario of hmcdrv: files of the HMC's drive, which CP transfers."""

from __future__ import annotations

import os

from zvmlab.agent.calls import CallResult
from zvmlab.agent.wire import Call
from zvmlab.cp.control import ControlError, decode
from zvmlab.guest.config import QEMU
from zvmlab.scenarios.context import Context, error_name, scenario

_MODULE, _CORE, _DEVICE = "hmcdrv", "crc16", "/dev/hmcdrv"
_BYTES = 1 << 20
_PAGE = 4096
_FILE, _NEW = "folder/file", "folder/new"
_TEXT = b"what the HMC has"
# There is no path of IUCV that it is about.
_NOBODY = "NOBODY"


def _assign(context: Context, size: int = _BYTES) -> None:
    """Another drive, with one file; 0: none."""
    context.control.execute("hmc-drive", bytes=size)
    if size:
        context.control.execute("hmc-write", name=_FILE, data=_TEXT)


def _ask(context: Context, fd: int, command: str, data: bytes = b"") -> CallResult | None:
    """Give a command; return data read, or the result of writing; None: it does not end."""
    agent = context.guest.agent
    agent.call(Call.LSEEK, fd, 0, os.SEEK_END)
    agent.write(fd, command.encode())
    if data:
        return context.call(f"'{command}'", lambda batch: batch.write(fd, data))
    return context.call(f"'{command}'", lambda batch: batch.read(fd, _PAGE))


def _load(context: Context) -> str | None:
    """The module, which asks CP for a transfer meanwhile; what is wrong with that."""
    context.guest.agent.modprobe(_CORE)
    return context.insmod(f"loading {_MODULE}", _MODULE)


def _unload(context: Context) -> str | None:
    """The module, and the one that came with it."""
    number = context.guest.agent.rmmod(_MODULE).errno
    if not number:
        context.guest.agent.rmmod(_CORE)
    return error_name(number)


def _text(result: CallResult | None) -> str:
    if result is None:
        return "nothing comes"
    if result.errno:
        return str(error_name(result.errno))
    return result.data[: max(result.ret, 0)].decode("latin-1")


def _kept(context: Context, name: str) -> str | None:
    """The drive's file of that name."""
    try:
        return decode(context.control.execute("hmc-read", name=name)["data"]).decode("latin-1")
    except ControlError:
        return None


def _use(context: Context, fd: int) -> None:
    """A file is read, one is written and gets more, the folder is listed, one is deleted."""
    context.note("get", text=_text(_ask(context, fd, f"get {_FILE}")))
    context.note("put", text=_text(_ask(context, fd, f"put {_NEW}", b"new")))
    context.note("append", text=_text(_ask(context, fd, f"append {_NEW}", b" data")))
    context.note("drive", kept=_kept(context, _NEW))
    context.note("nls", text=_text(_ask(context, fd, "nls folder")))
    context.note("delete", text=_text(_ask(context, fd, f"delete {_FILE}")))
    context.note("drive", kept=_kept(context, _FILE))


def _drive_works(context: Context) -> str | None:
    _assign(context)
    _unload(context)
    wrong = _load(context)
    opened = context.guest.agent.open(_DEVICE, os.O_RDWR)
    if wrong or opened.errno:
        return f"hmcdrv is loaded with {wrong}, and opened with {error_name(opened.errno)}"
    before = len(context.steps)
    _use(context, opened.ret)
    found = [value for step in context.steps[before:] for value in step.result.values()]
    context.guest.agent.close(opened.ret)
    unloaded = _unload(context)
    _assign(context, 0)
    if found != [_TEXT.decode(), "", "", "new data", "file\nnew\n", "", None]:
        return f"the drive gives {found}"
    return f"{_MODULE} stays: {unloaded}" if unloaded else None


@scenario(
    "hmcdrv",
    "A program reads, writes, lists and deletes files of the HMC's drive.",
    partner=_NOBODY,
    modules=(_MODULE,),
    usable=_drive_works,
    backends=(QEMU,),
)
def hmcdrv(context: Context) -> None:
    """DIAGNOSE X'2C4' with every function, and the interruption that tells of each end."""
    _assign(context)
    wrong = _load(context)
    context.note("load", errno=wrong)
    if wrong:
        context.guest.agent.rmmod(_CORE)
        return
    opened = context.guest.agent.open(_DEVICE, os.O_RDWR)
    context.note("open", errno=error_name(opened.errno))
    _use(context, opened.ret)
    context.guest.agent.close(opened.ret)
    context.note("unload", errno=_unload(context))
    _assign(context, 0)
