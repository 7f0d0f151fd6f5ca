# SPDX-License-Identifier: MIT
"""A scenario of CPUs that come and go while Linux runs: DEFINE CPU and DETACH CPU, given by the guest."""

from __future__ import annotations

import os

from zvmlab.guest.config import QEMU
from zvmlab.scenarios.context import Context, error_name, scenario

_DIRECTORY = "IUCV ALLOW;IUCV ANY;IUCV *MSG;CPU 00 BASE"
_VMCP, _SIZE = "/dev/vmcp", 4096
_SYS = "/sys/devices/system/cpu"
_CPU = f"{_SYS}/cpu1"
_DEFINE, _DETACH = "DEFINE CPU 1", "DETACH CPU 1"
# There is no path of IUCV that it is about.
_NOBODY = "NOBODY"


def _command(context: Context, command: str) -> str:
    """Give CP a command as the tool vmcp does; its response, or the error."""
    agent = context.guest.agent
    fd = agent.open(_VMCP, os.O_RDWR).check()
    written = agent.write(fd, command.encode())
    found = agent.read(fd, _SIZE)
    agent.close(fd)
    if written.errno or found.errno:
        return str(error_name(written.errno or found.errno))
    return found.data.decode("latin-1")


def _switch(context: Context, online: bool) -> str | None:
    """Linux starts or stops the CPU; the error, of open() if it has no such CPU."""
    agent = context.guest.agent
    opened = agent.open(f"{_CPU}/online", os.O_WRONLY)
    if opened.errno:
        return error_name(opened.errno)
    written = agent.write(opened.ret, b"1" if online else b"0")
    agent.close(opened.ret)
    return error_name(written.errno)


def _rescan(context: Context) -> str:
    """As chcpu -r does it; the CPUs that Linux has then."""
    context.guest.agent.write_file(f"{_SYS}/rescan", b"1")
    return context.guest.agent.read_text(f"{_SYS}/present").strip()


def _runs(context: Context) -> str:
    """CPUs that run."""
    return context.guest.agent.read_text(f"{_SYS}/online").strip()


def _one_cpu(context: Context) -> None:
    """As it was at first, whatever was done to it."""
    _switch(context, False)
    _command(context, _DETACH)


def _cpus_work(context: Context) -> str | None:
    _one_cpu(context)
    said = _command(context, _DEFINE)
    _rescan(context)
    started = _switch(context, True)
    found = _runs(context)
    stopped = _switch(context, False)
    gone = _command(context, _DETACH)
    if (said, started, found) != ("CPU 01 defined\n", None, "0-1"):
        return f"DEFINE CPU says {said!r}, to start it gives {started}, and CPUs {found} run"
    if (stopped, gone) != (None, "CPU 01 detached\n"):
        return f"to stop the CPU gives {stopped}, and DETACH CPU says {gone!r}"
    return None


@scenario(
    "cpus",
    "CP defines a CPU, Linux finds, starts and stops it, and CP detaches it.",
    partner=_NOBODY,
    usable=_cpus_work,
    cp={"directory": _DIRECTORY},
    cpus=2,
    backends=(QEMU,),
)
def cpus(context: Context) -> None:
    """What public guides do with vmcp and chcpu, and that a CPU that runs stays."""
    _one_cpu(context)
    context.note("define", text=_command(context, _DEFINE))
    context.note("rescan", present=_rescan(context))
    context.note("start", errno=_switch(context, True), online=_runs(context))
    context.note("detach", text=_command(context, _DETACH))
    context.note("stop", errno=_switch(context, False), online=_runs(context))
    context.note("detach", text=_command(context, _DETACH))
    context.note("start", errno=_switch(context, True), online=_runs(context))
