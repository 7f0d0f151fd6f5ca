# SPDX-License-Identifier: MIT
"""A scenario of dasd_diag: a virtual disk of CP's, which Linux reads and writes by DIAGNOSE X'250'."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from zvmlab.agent.calls import CallResult
from zvmlab.cp import disk
from zvmlab.guest.config import QEMU
from zvmlab.scenarios.context import Context, error_name, scenario

_MODULES = ("dasd_fba_mod", "dasd_diag_mod", "dasd_mod")
"""In the order in which they can be unloaded."""
_NUMBER, _BLOCKS = 0x200, 64
_DIRECTORY = (
    "IUCV ALLOW;IUCV ANY;IUCV *MONITOR MSGLIMIT 255;IUCV *MSG;NAMESAVE MONDCSS;"
    f"MDISK {_NUMBER:04X} FB-512 V-DISK {_BLOCKS} W"
)
_DEVICE = f"/sys/bus/ccw/devices/0.0.{_NUMBER:04x}"
_NODE, _SIZE = "/dev/dasda", "/sys/class/block/dasda/size"
_PAGE = 4096
_BLOCKS_OF_PAGE = _PAGE // disk.BLOCK
_WRITTEN, _READ = 2, 4
"""Pages of the disk: the guest writes one, and reads one that is written from outside."""
_SECONDS = 10.0
"""How long Linux' look at a disk is waited for, which a fault may have prevented."""
_REQUEST_SECONDS = 100.0
"""Of the guest's time: dasd_diag takes a request for lost after 50.  After 120 the kernel
reports tasks that sleep."""
# There is no path of IUCV that it is about.
_NOBODY = "NOBODY"


@contextmanager
def _patient(context: Context) -> Iterator[None]:
    """Steps may take as long as the repetition of a request that was lost."""
    usual, context.limit = context.limit, _REQUEST_SECONDS
    try:
        yield
    finally:
        context.limit = usual


def _done(result: CallResult | None, size: int) -> str | None:
    """The error of a call that should transfer this number of bytes; None if it did."""
    if result is None:
        return "it sleeps"
    if result.errno or result.ret == size:
        return error_name(result.errno)
    return f"{result.ret} bytes"


def _set(context: Context, attribute: str, value: str) -> str | None:
    """Write an attribute of the device, which may wait for requests; what is wrong with that."""
    opened = context.guest.agent.open(f"{_DEVICE}/{attribute}", os.O_WRONLY)
    if opened.errno:
        return error_name(opened.errno)
    text = value.encode()
    written = context.call(f"{attribute}={value}", lambda batch: batch.write(opened.ret, text))
    context.guest.agent.close(opened.ret)
    return _done(written, len(text))


def _size(context: Context) -> str:
    """The size of the disk in Linux; "" while there is none."""
    opened = context.guest.agent.open(_SIZE)
    if opened.errno:
        return ""
    found = context.guest.agent.read(opened.ret, 100).data.decode().strip()
    context.guest.agent.close(opened.ret)
    return found


def _online(context: Context) -> list[str | None]:
    """Set the disk online; what is wrong with that, and its size a moment later."""
    errors = [_set(context, "use_diag", "1"), _set(context, "online", "1")]
    if any(errors):
        return [*errors, ""]
    size = context.control.limit(_SECONDS).look(
        lambda: _size(context), lambda size: size not in ("", "0")
    )
    return [*errors, size]


def _opened(context: Context, flags: int) -> CallResult | None:
    """The node; it can be opened when Linux has looked for partitions."""
    return context.call("opening the disk", lambda batch: batch.open(_NODE, flags))


def _write(context: Context, text: str) -> str | None:
    """Fill a page of the disk with a text; what is wrong with that."""
    opened = _opened(context, os.O_RDWR | os.O_SYNC)
    if opened is None or opened.errno:
        return _done(opened, 0)
    fd, data = opened.ret, text.encode() * (_PAGE // len(text))
    result = context.call("writing a page", lambda batch: batch.pwrite(fd, data, _WRITTEN * _PAGE))
    context.guest.agent.close(fd)
    return _done(result, _PAGE)


def _text(data: bytes) -> str | None:
    """The text that fills a page; None: mixed contents."""
    text = data[:8]
    return text.decode("latin-1").strip(" \0") if data == text * (_PAGE // len(text)) else None


def _read(context: Context) -> str | None:
    """Read another page: the text that fills it, or the error."""
    opened = _opened(context, os.O_RDONLY)
    if opened is None or opened.errno:
        return _done(opened, 0)
    fd = opened.ret
    result = context.call("reading a page", lambda batch: batch.pread(fd, _PAGE, _READ * _PAGE))
    context.guest.agent.close(fd)
    return _done(result, _PAGE) or _text(result.data if result else b"")


def _put(context: Context, text: str) -> None:
    """Write the page that the guest reads; nothing else is on the disk."""
    data = text.encode() * (_PAGE // len(text))
    empty = bytes(_BLOCKS * disk.BLOCK - (_READ + 1) * _PAGE)
    disk.write(context.control, _NUMBER, 0, bytes(_READ * _PAGE) + data + empty)


def _use(context: Context, given: str, written: str) -> None:
    """A page that was there is read, another is written."""
    _put(context, f"{given:8}")
    context.note("online", found=_online(context))
    context.note("read", text=_read(context))
    context.note("write", errno=_write(context, f"{written:8}"))
    kept = disk.read(context.control, _NUMBER, _WRITTEN * _BLOCKS_OF_PAGE, _BLOCKS_OF_PAGE)
    context.note("disk", kept=_text(kept))


def _unless(error: int, expected: int) -> str | None:
    """The name of an error, unless it is the expected one."""
    return None if error == expected else error_name(error)


def _load(context: Context) -> list[str | None]:
    """The modules, the last one first; some are still loaded where they cannot be unloaded."""
    load = context.guest.agent.modprobe
    return [_unless(load(module).errno, errno.EEXIST) for module in reversed(_MODULES)]


def _unload(context: Context) -> list[str | None]:
    """Set the disk offline and unload the modules; what is wrong with each.

    From 6.9 on a disk that was online keeps them: defect 36 of docs/upstream-kernel.md.
    """
    offline = _set(context, "online", "0")
    unload = context.guest.agent.rmmod
    return [offline, *(_unless(unload(module).errno, errno.EAGAIN) for module in _MODULES)]


def _disk_works(context: Context) -> str | None:
    with _patient(context):
        _unload(context)
        loaded = _load(context)
        if any(loaded):
            return f"the modules are loaded with {loaded}"
        before = len(context.steps)
        _use(context, "again", "further")
        found = [value for step in context.steps[before:] for value in step.result.values()]
        unloaded = _unload(context)
    if found != [[None, None, str(_BLOCKS)], "again", None, "further"]:
        return f"the disk gives {found}"
    return f"the end is {unloaded}" if any(unloaded) else None


@scenario(
    "dasd_diag",
    "A virtual disk goes online, a page of it is read and another written, and it goes offline.",
    partner=_NOBODY,
    modules=_MODULES,
    usable=_disk_works,
    cp={"directory": _DIRECTORY},
    backends=(QEMU,),
    # Where the kernel has defect 36.
    leaves=("modules",),
)
def dasd_diag(context: Context) -> None:
    """DIAGNOSE X'210' and X'250' with each function, each block, and each interruption of its end."""
    with _patient(context):
        context.note("load", errors=_load(context))
        _use(context, "given", "written")
        context.note("unload", errors=_unload(context))
