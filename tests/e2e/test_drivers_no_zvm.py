# SPDX-License-Identifier: MIT
"""Drivers for z/VM where there is none: the same emulator without the CP."""

from __future__ import annotations

from pathlib import Path

import pytest

from without_zvm import console_of, loads
from zvmlab.builder.kernels import resolve
from zvmlab.builder.modules import module_graph
from zvmlab.guest.config import HERCULES, GuestConfig

MODULES = ("monwriter", "smsgiucv_app", "vmlogrdr", "vmur")


@pytest.mark.zvmlab(modules=MODULES)
@pytest.mark.requirement("R14", "L1", "U7", "W1")
def test_without_zvm_no_driver_loads_enodev(guest_config: GuestConfig, zvmlab_dir: Path) -> None:
    """None of them; two say why."""
    if guest_config.backend == HERCULES:
        pytest.skip("the power may go before the console has written the last lines")
    log = console_of(loads(guest_config, zvmlab_dir, MODULES), zvmlab_dir)
    for module in MODULES:
        assert f"/lib/modules/{module}.ko cannot be loaded: No such device" in log, module
    assert "vmur: The z/VM virtual unit record device driver cannot be loaded without z/VM" in log
    assert "not running under VM, driver not loaded." in log


@pytest.mark.zvmlab(modules=("hmcdrv",))
@pytest.mark.requirement("F1")
def test_without_zvm_the_drive_is_asked_for_by_sclp(
    guest_config: GuestConfig, zvmlab_dir: Path
) -> None:
    """The machine's SCLP has no such service (EIO); DIAGNOSE X'2C4' would be refused (EPERM)."""
    if guest_config.backend == HERCULES:
        pytest.skip("only QEMU's SCLP answers requests for services that it does not have")
    needed = list(module_graph(resolve(guest_config.kernel), ["hmcdrv"]))
    log = console_of(loads(guest_config, zvmlab_dir, needed), zvmlab_dir)
    assert "/lib/modules/hmcdrv.ko cannot be loaded: Input/output error" in log
