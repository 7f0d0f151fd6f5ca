# SPDX-License-Identifier: MIT
"""DIAGNOSE codes that CP leaves out: Linux has them, and does not issue them here."""

from __future__ import annotations

import re

import pytest

from zvmlab.builder.kernels import resolve
from zvmlab.builder.modules import available, builtin
from zvmlab.guest.guest import Guest

DEBUG = "/sys/kernel/debug"
# What Linux says of each: the names in arch/s390/kernel/diag.c.
LEFT_OUT = {
    "26c": "Certain System Information",
    "304": "Partition-Resource Service",
    "318": "CP Name and Version Codes",
}
ISSUED = "008"
"""QUERY CONSOLE and others at boot."""


@pytest.mark.requirement("J3")
@pytest.mark.not_debug("it has no qeth", lacks="QETH")
@pytest.mark.zvmlab(modules=("qeth", "qeth_l2"), cpus=2)
def test_linux_does_not_issue_what_cp_leaves_out(guest: Guest) -> None:
    """Its own counters since the boot, all CPUs together, with the driver of networks loaded."""
    agent = guest.agent
    for module in ("qeth", "qeth_l2"):
        agent.modprobe(module).check()
    mounted = agent.mount("none", DEBUG, "debugfs")
    text = agent.read_file(f"{DEBUG}/diag_stat").decode()
    rows = re.findall(r"^diag ([0-9a-f]{3}):((?: +\d+)+) +(.*)$", text, re.M)
    counts = {code: (sum(map(int, numbers.split())), name) for code, numbers, name in rows}
    assert counts[ISSUED][0] > 0
    assert {code: counts[code] for code in LEFT_OUT} == {
        code: (0, name) for code, name in LEFT_OUT.items()
    }
    # Of the file by which programs would issue X'304' there is none.
    with pytest.raises(FileNotFoundError):
        agent.read_file(f"{DEBUG}/s390_hypfs/diag_304")
    if mounted.errno == 0:
        agent.umount(DEBUG).check()


@pytest.mark.requirement("J4")
def test_no_kernel_has_the_old_driver_of_the_time_bomb(zvmlab_kernel: str) -> None:
    """vmwatchdog, whose options began with vmwdt: diag288_wdt has taken its place."""
    kernel = resolve(zvmlab_kernel)
    modules = available(kernel) | builtin(kernel)
    assert "diag288_wdt" in modules
    assert not modules & {"vmwatchdog", "vmwdt"}
