# SPDX-License-Identifier: MIT
"""Scenarios of what Linux asks CP for by DIAGNOSE: the watchdog, and hypfs."""

from __future__ import annotations

import os
import struct

from zvmlab.agent.calls import Both
from zvmlab.scenarios.context import Context, error_name, scenario

_WATCHDOG, _CORE, _DEVICE = "diag288_wdt", "watchdog", "/dev/watchdog"
_SETTIMEOUT = 0xC0045706
# A command that does the guest no harm, if a fault leaves the time bomb set.
_PARAMETERS = 'cmd="msg operator bang"'
_HYPFS = "/sys/hypervisor/s390"
_GUEST = "LINUX001"
# There is no path of IUCV that they are about.
_NOBODY = "NOBODY"


def _active(context: Context) -> bool:
    return bool(context.control.execute("query-watchdog")["active"])


def _watch(context: Context) -> None:
    """Open, put off, change, put off, stop; what became of each, and what CP has then."""
    worker = context.worker
    opened = worker.open(_DEVICE, os.O_WRONLY)
    context.note("open", errno=error_name(opened.errno), active=_active(context))
    if opened.errno:
        return
    fd = opened.ret
    context.note("put off", errno=error_name(worker.write(fd, b"x").errno), active=_active(context))
    changed = worker.ioctl(fd, _SETTIMEOUT, Both(struct.pack(">i", 600)))
    context.note("change", errno=error_name(changed.errno), active=_active(context))
    expired = context.control.execute("watchdog-expire")
    context.note("expire", expired=expired["expired"], active=_active(context))
    context.note(
        "set again", errno=error_name(worker.write(fd, b"x").errno), active=_active(context)
    )
    worker.write(fd, b"V")
    context.note("close", errno=error_name(worker.close(fd).errno), active=_active(context))


def _unload(context: Context) -> int:
    """The module, and the one that came with it."""
    number = context.worker.rmmod(_WATCHDOG).errno
    if not number:
        context.worker.rmmod(_CORE)
    return number


def _watchdog_works(context: Context) -> str | None:
    worker = context.worker
    worker.modprobe(_WATCHDOG, _PARAMETERS)
    opened = worker.open(_DEVICE, os.O_WRONLY)
    if opened.errno:
        return f"opening the watchdog ends with {error_name(opened.errno)}"
    found = [_active(context)]
    worker.write(opened.ret, b"V")
    worker.close(opened.ret)
    found.append(_active(context))
    unloaded = _unload(context)
    if found != [True, False]:
        return f"open and close leave the time bomb {found}"
    return f"the watchdog's module stays: {error_name(unloaded)}" if unloaded else None


@scenario(
    "watchdog",
    "A program sets CP's time bomb through diag288_wdt, puts it off, lets it go off, and stops it.",
    partner=_NOBODY,
    modules=(_WATCHDOG,),
    usable=_watchdog_works,
)
def watchdog(context: Context) -> None:
    """DIAGNOSE X'288' with every function."""
    loaded = context.worker.modprobe(_WATCHDOG, _PARAMETERS).errno
    context.note("load", errno=error_name(loaded))
    if not loaded:
        _watch(context)
        context.note("unload", errno=error_name(_unload(context)))


def _hypfs(context: Context) -> list[str]:
    """The guest's CPUs and samples in a mounted hypfs, or the reason why there is none."""
    worker = context.worker
    mounted = worker.mount("none", _HYPFS, "s390_hypfs").errno
    if mounted:
        return [str(error_name(mounted))]
    found = []
    for name in ("hyp/type", f"systems/{_GUEST}/cpus/count", f"systems/{_GUEST}/cpus/weight_cur"):
        opened = worker.open(f"{_HYPFS}/{name}")
        if opened.errno:
            found.append(str(error_name(opened.errno)))
            continue
        found.append(worker.read(opened.ret, 100).data.decode("latin-1").strip())
        worker.close(opened.ret)
    worker.umount(_HYPFS)
    return found


_SHOWN = ["z/VM Hypervisor", "1", "100"]


def _hypfs_works(context: Context) -> str | None:
    found = _hypfs(context)
    return None if found == _SHOWN else f"hypfs shows {found}"


@scenario(
    "hypfs",
    "hypfs is mounted and read twice.",
    partner=_NOBODY,
    usable=_hypfs_works,
)
def hypfs(context: Context) -> None:
    """DIAGNOSE X'2FC' at each mount."""
    for _ in range(2):
        context.note("hypfs", shown=_hypfs(context))
