# SPDX-License-Identifier: MIT
"""Emulator, kernel and image of a guest: built or fetched if need be."""

from __future__ import annotations

import os
from pathlib import Path

from zvmlab.errors import UsageError
from zvmlab.guest_config import GuestConfig, Products
from zvmlab.image import build_image
from zvmlab.kernels import Kernel, resolve
from zvmlab.modules import builtin
from zvmlab.progress import Progress
from zvmlab.qemubuild import build_qemu

DRIVER = "monreader"


def emulator(progress: Progress | None = None) -> Path:
    """The emulator's program: the one that ZVMLAB_QEMU names, or the built one."""
    named = os.environ.get("ZVMLAB_QEMU")
    if not named:
        return build_qemu(progress)
    if not os.access(named, os.X_OK):
        raise UsageError(f"ZVMLAB_QEMU names {named}, which is no program")
    return Path(named)


def image(config: GuestConfig, kernel: Kernel, progress: Progress | None = None) -> Path:
    """The guest's image: the agent, the kernel's monreader or another one, what was asked for."""
    modules = list(config.modules)
    replaced = DRIVER in (Path(name).stem for name in modules)
    if kernel.modules is not None and not replaced and DRIVER not in builtin(kernel):
        modules.append(DRIVER)
    extra = []
    for remote, local in config.files.items():
        path = Path(local)
        if not path.is_file():
            raise UsageError(f"{path}, to be put into the guest as {remote}, is not a file")
        extra.append((path, remote, 0o755 if os.access(path, os.X_OK) else 0o644))
    shell = config.busybox or config.interactive
    return build_image(kernel, list(dict.fromkeys(modules)), extra, shell, progress)


def prepare(config: GuestConfig, progress: Progress | None = None) -> Products:
    """Everything a guest of this configuration runs."""
    shown = progress or Progress(quiet=True)
    program = emulator(shown)
    kernel = resolve(config.kernel, progress=shown)
    return Products(program, kernel.image, str(kernel), image(config, kernel, shown))
