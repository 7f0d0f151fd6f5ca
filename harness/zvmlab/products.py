# SPDX-License-Identifier: MIT
"""Emulator, kernel and image of a guest: built or fetched if need be."""

from __future__ import annotations

import os
from pathlib import Path

from zvmlab.backends import backend_of
from zvmlab.driverbuild import driver_module
from zvmlab.errors import UsageError
from zvmlab.guest_config import OUR_DRIVER, UPSTREAM_DRIVER, GuestConfig, Products
from zvmlab.image import build_image
from zvmlab.kernels import Kernel, resolve
from zvmlab.modules import builtin
from zvmlab.progress import Progress

DRIVER = "monreader"


def _driver(config: GuestConfig, kernel: Kernel, progress: Progress | None) -> list[str]:
    """The module monreader of this configuration, if the kernel has not built it in."""
    if config.driver == OUR_DRIVER:
        return [str(driver_module(kernel, progress))]
    if config.driver != UPSTREAM_DRIVER:
        return [str(Path(config.driver).absolute())]
    return [DRIVER] if kernel.modules is not None and DRIVER not in builtin(kernel) else []


def image(config: GuestConfig, kernel: Kernel, progress: Progress | None = None) -> Path:
    """The guest's image: the agent, a monreader, what was asked for."""
    modules = [*config.modules, *_driver(config, kernel, progress)]
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
    program = backend_of(config.backend).build(shown)
    kernel = resolve(config.kernel, progress=shown)
    return Products(program, kernel.image, str(kernel), image(config, kernel, shown))
