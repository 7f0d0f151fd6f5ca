# SPDX-License-Identifier: MIT
"""A scenario of vmlogrdr: records of CP's service *ACCOUNT, and its command RECORDING."""

from __future__ import annotations

from zvmlab.cp.recording import ACCOUNT, make, queue
from zvmlab.monitor.steps import settle
from zvmlab.scenarios.context import Context, error_name, scenario

_MODULE, _DEVICE = "vmlogrdr", "/dev/account"
_PURGE = "/sys/bus/iucv/devices/account/purge"
_GUEST = "LINUX001"
# What guests have otherwise, and *ACCOUNT.
_DIRECTORY = (
    "IUCV ALLOW;IUCV ANY;IUCV *MONITOR MSGLIMIT 255;IUCV *MSG;NAMESAVE MONDCSS;OPTION APPLMON;"
    "IUCV *ACCOUNT"
)
# RECORDING is a command of class E.
_CLASSES = "EG"
# A record of more than a page comes in two parts.
_LONG = b"a long record " * 400
_SIZE = 8192


def _queue(context: Context) -> list[object]:
    """CP's handling of the guest's records."""
    found = queue(context.control, ACCOUNT, _GUEST)
    return [] if found is None else ["on" if found.on else "off", found.count, found.state]


def _make(context: Context, *records: bytes) -> None:
    """CP makes records; the guest knows of the first of them."""
    for record in records:
        make(context.control, ACCOUNT, record)
    settle(context.guest)


def _read(context: Context, fd: int, reads: int = 1) -> list[str]:
    """Read this number of records; return their lengths, or the error."""
    found: list[str] = []
    for _ in range(reads):
        result = context.call("reading a record", lambda batch: batch.read(fd, _SIZE))
        if result is None:
            return [*found, "nothing comes"]
        if result.errno:
            return [*found, str(error_name(result.errno))]
        found.append(f"{result.ret} {result.data[4:18].decode('latin-1')}")
    return found


def _purge(context: Context) -> str | None:
    return context.write_file(_PURGE, "1")


def _collect(context: Context, fd: int) -> None:
    """A short record, a long one, two that are purged, and one after them."""
    _make(context, b"a short record")
    context.note("read", found=_read(context, fd))
    _make(context, _LONG)
    context.note("read", found=_read(context, fd, 2))
    _make(context, b"one", b"two")
    context.note("purge", errno=_purge(context), queue=_queue(context))
    _make(context, b"one afterwards")
    context.note("read", found=_read(context, fd))


def _close(context: Context, fd: int) -> None:
    closed = context.call(f"closing {_DEVICE}", lambda batch: batch.close(fd))
    error = None if closed is None else error_name(closed.errno)
    context.note("close", errno=error, queue=_queue(context))


def _records_come(context: Context) -> str | None:
    context.guest.agent.modprobe(_MODULE)
    opened = context.guest.agent.open(_DEVICE)
    if opened.errno:
        return f"opening {_DEVICE} ends with {error_name(opened.errno)}"
    _make(context, b"another record")
    found = _read(context, opened.ret)
    context.guest.agent.close(opened.ret)
    queued = _queue(context)
    unloaded = context.guest.agent.rmmod(_MODULE).errno
    if found != ["22 another record"] or queued != ["off", 0, "inactive"]:
        return f"records become {found}, and the queue {queued}"
    return f"{_MODULE} stays: {error_name(unloaded)}" if unloaded else None


@scenario(
    "vmlogrdr",
    "A program reads records of *ACCOUNT through vmlogrdr, purges some, and stops.",
    partner=ACCOUNT,
    modules=(_MODULE,),
    usable=_records_come,
    cp={"directory": _DIRECTORY, "class": _CLASSES},
    # The driver can come to asking CP for a record forever, on one of them.
    cpus=2,
)
def vmlogrdr(context: Context) -> None:
    """CONNECT, RECEIVE and SEVER of the driver, and RECORDING at each open, purge and close."""
    loaded = context.guest.agent.modprobe(_MODULE).errno
    context.note("load", errno=error_name(loaded))
    if loaded:
        return
    opened = context.call(f"opening {_DEVICE}", lambda batch: batch.open(_DEVICE))
    error = "it sleeps" if opened is None else error_name(opened.errno)
    context.note("open", errno=error, queue=_queue(context))
    if opened is not None and not opened.errno:
        _collect(context, opened.ret)
        _close(context, opened.ret)
    context.note("unload", errno=error_name(context.guest.agent.rmmod(_MODULE).errno))
