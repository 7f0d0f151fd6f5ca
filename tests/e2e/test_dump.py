# SPDX-License-Identifier: MIT
"""zvmlab dump --kernel-core: the core of a running guest's kernel, as drgn reads it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from zvmlab.cli.main import main
from zvmlab.guest.guest import Guest

pytestmark = pytest.mark.first_kernel


def test_core_of_a_running_guest(guest: Guest, tmp_path: Path) -> None:
    """It says of which kernel it is, a debugger finds a module in it, and the guest goes on."""
    try:
        guest.agent.read_file("/sys/kernel/vmcoreinfo")
    except FileNotFoundError:
        pytest.skip("the kernel has no VMCOREINFO")
    guest.agent.modprobe("monreader").check()
    core = tmp_path / "guest.core"
    assert main(["dump", "--kernel-core", str(core), "--guest", guest.name]) == 0
    release = guest.agent.read_file("/proc/sys/kernel/osrelease").strip()
    assert b"OSRELEASE=" + release + b"\n" in core.read_bytes()
    drgn = pytest.importorskip("drgn")
    program = drgn.Program()
    program.set_core_dump(core)
    assert program.flags & drgn.ProgramFlags.IS_LINUX_KERNEL
    text = core.read_bytes()
    found = re.search(rb"^SYMBOL\(init_uts_ns\)=(\w+)$", text, re.MULTILINE)
    assert found is not None and release in program.read(int(found[1], 16), 6 * 65)
    # Modules lie where only page tables lead.
    symbols = guest.agent.read_file("/proc/kallsyms")
    found = re.search(rb"^(\w+) . mon_open\t\[monreader\]$", symbols, re.MULTILINE)
    assert found is not None and any(program.read(int(found[1], 16), 8))
