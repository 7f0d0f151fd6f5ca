# SPDX-License-Identifier: MIT
"""Guests where there is no z/VM: the same emulators without the CP."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from waiting import fair

from zvmlab.base.errors import Timeout
from zvmlab.base.progress import Progress
from zvmlab.builder.image import MODULE_LIST
from zvmlab.builder.kernel import slowness
from zvmlab.guest import hercules
from zvmlab.guest.artifacts import prepare
from zvmlab.guest.backends import backend_of
from zvmlab.guest.config import QEMU, Channels, GuestConfig, emulator_arguments
from zvmlab.guest.emulator import Emulator

BOOT_SECONDS = 90
LAST = "zvmlab: no IUCV here"
# How Hercules tells of a power-off.
STOPPED = "SIGP Stop"


def without_cp(arguments: Sequence[str]) -> list[str]:
    """QEMU's command line without the CP, its monitor and the pause at the start."""
    left = []
    words = iter(arguments)
    for word in words:
        if word in ("-object", "-qmp"):
            next(words)
        elif word != "-S":
            left.append(word)
    return left


def qemu(config: GuestConfig, folder: Path) -> tuple[Emulator, Path]:
    """Started in QEMU; the process, and where the console is."""
    console, unused = folder / "console.log", folder / "unused"
    arguments = emulator_arguments(
        config, prepare(config, Progress()), Channels(unused, unused, console, None, None)
    )
    return Emulator(without_cp(arguments), folder / "emulator.log"), console


def stock_hercules(config: GuestConfig, folder: Path) -> tuple[Emulator, Path]:
    """Started in Hercules with a console of its own, which writes to its log."""
    words = hercules.prepare_stock(config, prepare(config, Progress()), folder)
    log = folder / "emulator.log"
    return Emulator(words, log, folder=folder), log


def await_last(emulator: Emulator, console: Path, seconds: float) -> str:
    """The console when /init has said its last, or has powered off."""
    limit = fair(seconds)
    while True:
        alive = emulator.alive
        text = console.read_text(encoding="utf-8", errors="replace") if console.exists() else ""
        if LAST in text or STOPPED in text:
            return text
        if not alive:
            pytest.fail(f"the emulator has ended\n{text}")
        if limit.over:
            raise Timeout(f"/init did not end within {seconds:g} s")
        time.sleep(0.02)


def console_of(config: GuestConfig, folder: Path) -> str:
    """Boot it, and let it power off for want of IUCV; its console."""
    start = qemu if config.backend == QEMU else stock_hercules
    seconds = BOOT_SECONDS * backend_of(config.backend).slowness * slowness(config.kernel)
    emulator, console = start(config, folder)
    emulator.expect_exit()
    try:
        return await_last(emulator, console, seconds)
    finally:
        emulator.stop()


def loads(config: GuestConfig, folder: Path, modules: Sequence[str]) -> GuestConfig:
    """A guest whose /init loads these, and says how that went."""
    listed = folder / "modules"
    lines = [f"/lib/modules/{module}.ko\n" for module in modules]
    listed.write_text("".join(lines), encoding="ascii")
    return config._replace(files={MODULE_LIST: listed})
