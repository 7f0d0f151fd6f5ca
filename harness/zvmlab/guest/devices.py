# SPDX-License-Identifier: MIT
"""Devices that a user adds to a guest: does QEMU take them?

Asked before a system starts, so that nobody has logged on when a word of it is wrong.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from zvmlab.base.errors import UsageError
from zvmlab.base.plain import harmless, shortened
from zvmlab.guest.config import QEMU, GuestConfig, device_arguments

_SECONDS = 60
_OURS = "zvmlab-"
"""Our own devices look for CP, which a machine that only tries devices does not have."""


def check_devices(config: GuestConfig, emulator: Path) -> None:
    """UsageError if QEMU cannot make a machine with them; no guest is started."""
    if config.backend != QEMU or not config.devices or any(_OURS in one for one in config.devices):
        return
    argv = [str(emulator), "-nodefaults", "-no-user-config", "-display", "none", "-S"]
    argv += ["-machine", "s390-ccw-virtio", "-accel", "tcg", "-monitor", "stdio"]
    done = subprocess.run(
        [*argv, *device_arguments(config)],
        input="quit\n",
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        said = done.stderr.strip().partition("\n")[0].removeprefix(f"{emulator.name}: ")
        raise UsageError(f"QEMU refuses a device: {shortened(harmless(said, lines=False))}")
