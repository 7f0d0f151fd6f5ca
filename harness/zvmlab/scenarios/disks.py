# SPDX-License-Identifier: MIT
"""A scenario of dcssblk: a saved segment as a disk, which keeps what CP has saved."""

from __future__ import annotations

import os

from zvmlab.agent.calls import CallResult
from zvmlab.scenarios.context import Context, error_name, scenario

_MODULE = "dcssblk"
_SEGMENT, _PAGES = "DISK", "9800-98FF"
_SYSFS, _DEVICE = "/sys/devices/dcssblk", "/dev/dcssblk0"
_SIZE = "/sys/block/dcssblk0/size"
_PAGE = 4096
_SECTORS = "2048"
# The first page, and the last one of a megabyte.
_PLACES = (0, 255 * _PAGE)
# There is no path of IUCV that it is about.
_NOBODY = "NOBODY"


def _set(context: Context, attribute: str, value: str) -> str | None:
    """Write an attribute of dcssblk; what is wrong with that."""
    return context.write_file(f"{_SYSFS}/{attribute}", value)


def _loaded(context: Context) -> str | None:
    """How the guest has loaded the segment, as CP reports it."""
    segments = context.control.execute("query-segments")["segments"]
    for segment in segments:
        if segment["name"] == _SEGMENT and segment["loaded"]:
            return "exclusive" if segment["exclusive"] else "shared"
    return None


def _change(context: Context, what: str, attribute: str, value: str) -> str | None:
    wrong = _set(context, attribute, value)
    context.note(what, errno=wrong, loaded=_loaded(context))
    return wrong


def _write(context: Context, text: str) -> list[str | None]:
    """Fill a page at each place with a text; what is wrong with that."""
    agent = context.guest.agent
    opened = agent.open(_DEVICE, os.O_RDWR | os.O_SYNC)
    if opened.errno:
        return [error_name(opened.errno)]
    data = text.encode() * (_PAGE // len(text))
    found = [error_name(agent.pwrite(opened.ret, data, place).errno) for place in _PLACES]
    agent.close(opened.ret)
    return found


def _text(result: CallResult) -> str | None:
    """The text that fills a page, or the read error; None: mixed contents."""
    if result.errno:
        return error_name(result.errno)
    text = result.data[:8]
    if result.data != text * (_PAGE // len(text)):
        return None
    return text.decode("latin-1").strip(" \0")


def _read(context: Context) -> list[str | None]:
    """Read the page at each place and return its contents."""
    agent = context.guest.agent
    opened = agent.open(_DEVICE)
    if opened.errno:
        return [error_name(opened.errno)]
    found = [_text(agent.pread(opened.ret, _PAGE, place)) for place in _PLACES]
    agent.close(opened.ret)
    return found


def _add(context: Context, what: str) -> str | None:
    """Make the segment a disk; what is wrong with it."""
    wrong = _change(context, what, "add", _SEGMENT)
    if wrong:
        return wrong
    # What the kernel takes for a disk elsewhere is its own storage.
    opened = context.guest.agent.open(_SIZE)
    size = context.guest.agent.read(opened.ret, 100).data.decode().strip()
    context.guest.agent.close(opened.ret)
    return None if size == _SECTORS else f"{size} sectors"


def _use(context: Context, saved: str, lost: str) -> list[str | None]:
    """Add, write and save, write more, remove, add again; what is there then, or what is wrong."""
    wrong = _add(context, "add")
    if wrong:
        return ["add", wrong]
    context.note("write", errno=_write(context, saved))
    _change(context, "save", f"{_SEGMENT}/save", "1")
    context.note("write more", errno=_write(context, lost))
    _change(context, "remove", "remove", _SEGMENT)
    wrong = _add(context, "add again")
    if wrong:
        return ["add again", wrong]
    return _read(context)


def _disk_works(context: Context) -> str | None:
    agent = context.guest.agent
    agent.modprobe(_MODULE)
    # A disk that the scenario could not remove.
    _set(context, "remove", _SEGMENT)
    # Two, because the first may have been saved long ago.
    found = []
    for text in ("another", "further"):
        found += _use(context, f"{text:8}", "nothing ")
        _set(context, "remove", _SEGMENT)
    unloaded = agent.rmmod(_MODULE).errno
    if found != ["another", "another", "further", "further"]:
        return f"the disk keeps {found}"
    if _loaded(context):
        return f"CP has the segment as {_loaded(context)} though the disk was removed"
    return f"{_MODULE} stays: {error_name(unloaded)}" if unloaded else None


@scenario(
    "dcssblk",
    "A segment becomes a disk, is written to and saved, removed, and added again.",
    partner=_NOBODY,
    modules=(_MODULE,),
    usable=_disk_works,
    segments=(f"{_SEGMENT} {_PAGES} EW",),
)
def dcssblk(context: Context) -> None:
    """DIAGNOSE X'64' for each load, query and purge; DEFSEG and SAVESEG; both modes."""
    loaded = context.guest.agent.modprobe(_MODULE).errno
    context.note("load", errno=error_name(loaded))
    if loaded:
        return
    found = _use(context, "saved   ", "lost    ")
    context.note("read", texts=found)
    if found[0] not in ("add", "add again"):
        _change(context, "exclusive", f"{_SEGMENT}/shared", "0")
        context.note("read again", texts=_read(context))
    _change(context, "remove at last", "remove", _SEGMENT)
    context.note("unload", errno=error_name(context.guest.agent.rmmod(_MODULE).errno))
