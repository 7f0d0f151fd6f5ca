# SPDX-License-Identifier: MIT
"""The driver where there is no z/VM: the same emulator without the CP."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import pytest

from zvmlab.emulator import Emulator
from zvmlab.guest_config import QEMU, Channels, GuestConfig, emulator_arguments
from zvmlab.products import prepare
from zvmlab.progress import Progress

BOOT_SECONDS = 90
MODULE = "/lib/modules/monreader.ko"


@pytest.fixture
def config(guest_config: GuestConfig, zvmlab_driver: str, zvmlab_dir: Path) -> GuestConfig:
    """A guest whose /init loads the driver, says how that went, and powers off for want of IUCV."""
    if guest_config.backend != QEMU:
        pytest.skip("shown in QEMU, which ends when this guest powers off; stock Hercules does not")
    modules = zvmlab_dir / "modules"
    modules.write_text(f"{MODULE}\n", encoding="ascii")
    return dataclasses.replace(guest_config, files={"/etc/zvmlab/modules": modules})


def without_cp(arguments: Sequence[str]) -> list[str]:
    """The emulator's command line without the CP, its monitor and the pause at the start."""
    left = []
    words = iter(arguments)
    for word in words:
        if word in ("-object", "-qmp"):
            next(words)
        elif word != "-S":
            left.append(word)
    return left


def test_m04_without_zvm_loading_fails_and_says_so_enodev(
    config: GuestConfig, zvmlab_dir: Path
) -> None:
    """On a machine that is not z/VM the module does not load (ENODEV) and the log says why."""
    console = zvmlab_dir / "console.log"
    unused = zvmlab_dir / "unused"
    arguments = emulator_arguments(
        config, prepare(config, Progress()), Channels(unused, unused, console, None, None)
    )
    emulator = Emulator(without_cp(arguments), zvmlab_dir / "emulator.log")
    emulator.expect_exit()
    try:
        assert emulator.wait(BOOT_SECONDS) == 0
    finally:
        emulator.stop()
    log = console.read_text(encoding="utf-8", errors="replace")
    assert "The z/VM *MONITOR record device driver cannot be loaded without z/VM" in log
    assert f"zvmlab: {MODULE} cannot be loaded: No such device" in log
    assert "zvmlab: no IUCV here" in log
