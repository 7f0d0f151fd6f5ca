# SPDX-License-Identifier: MIT
"""Behaviour in which emulators may differ: the machine, and CP as the kernel finds it.

No driver is needed.  They are run in two emulators (zvmlab.differ.known_emulators).
"""

from __future__ import annotations

import errno
import os
import re

from zvmlab.agent.calls import Both
from zvmlab.scenarios.context import Context, scenario

_SYSINFO = re.compile(r"^VM\d\d .*$", re.MULTILINE)
_VMCP = "/dev/vmcp"
# The vmcp device driver's documented ioctls: type X'10', on int.
_VMCP_GETCODE, _VMCP_GETSIZE = 0x80041001, 0x80041003
_RESPONSE = 8192


@scenario("boot", "From the first instruction to the agent's answer.", boots=True)
def boot(context: Context) -> None:
    """Note CP's identity, storage and CPUs as the kernel found them at boot."""
    agent = context.guest.agent
    text = agent.read_text("/proc/sysinfo")
    context.note("sysinfo", lines=_SYSINFO.findall(text))
    memory = agent.read_text("/proc/iomem")
    context.note("storage", lines=re.findall(r"^\S+ : System RAM$", memory, re.MULTILINE))
    context.note("CPUs", online=agent.read_text("/sys/devices/system/cpu/online"))


@scenario("commands", "CP commands by DIAGNOSE X'08', good and bad ones, through /dev/vmcp.")
def commands(context: Context) -> None:
    """Response, return code and size, and a response that is longer than its buffer."""
    for command in (
        "QUERY USERID",
        "QUERY NSS NAME MONDCSS MAP",
        "QUERY MONITOR",
        "QUERY VIRTUAL STORAGE",
        "QUERY NAMES",
        "FROBNICATE NOW",
        "QUERY NSS NAME NOSUCH",
        "\n".join(["QUERY MONITOR"] * 8),
    ):
        _command(context, command)


def _command(context: Context, command: str) -> None:
    worker = context.worker
    fd = worker.open(_VMCP, os.O_RDWR).check()
    written = worker.write(fd, command.encode("ascii"))
    numbers = [
        worker.ioctl(fd, request, Both(bytes(4))) for request in (_VMCP_GETCODE, _VMCP_GETSIZE)
    ]
    found = worker.read(fd, _RESPONSE)
    worker.close(fd).check()
    context.note(
        command.splitlines()[0],
        errors=[errno.errorcode.get(call.errno) for call in (written, *numbers, found)],
        rc=int.from_bytes(numbers[0].data, "big", signed=True),
        size=int.from_bytes(numbers[1].data, "big"),
        response=found.data[: max(found.ret, 0)].rstrip(b"\0").decode("latin-1"),
    )
