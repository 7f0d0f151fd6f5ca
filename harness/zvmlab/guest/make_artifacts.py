# SPDX-License-Identifier: MIT
"""Builds or fetches what a guest runs: emulator, kernel and image."""

from __future__ import annotations

import os
from pathlib import Path

from zvmlab.base.errors import UsageError
from zvmlab.base.progress import Progress
from zvmlab.builder.elf import check_file, is_linux
from zvmlab.builder.image import MODULE_LIST, build_image, split_late
from zvmlab.builder.kernel import Kernel
from zvmlab.builder.kernels import resolve
from zvmlab.builder.launcher import launcher
from zvmlab.builder.modulebuild import driver_module
from zvmlab.builder.modules import builtin, made_for, module_name
from zvmlab.guest.backends import backend_of
from zvmlab.guest.config import (
    HERCULES,
    MIB,
    OUR_DRIVER,
    UPSTREAM_DRIVER,
    Artifacts,
    GuestConfig,
    first_extent_end,
)
from zvmlab.guest.names import DRIVER

LEAST_LINUX_STORAGE = 48 * MIB
"""Debian's kernels, 6.1 to 7.2, come up with our image in so much, and not in 8 MiB less."""


def _driver(config: GuestConfig, kernel: Kernel, progress: Progress | None) -> list[str]:
    """The module monreader of this configuration, if the kernel has not built it in."""
    if config.driver == OUR_DRIVER:
        return [str(driver_module(kernel, progress))]
    if config.driver != UPSTREAM_DRIVER:
        return [str(Path(config.driver).absolute())]
    return [DRIVER] if kernel.modules is not None and DRIVER not in builtin(kernel) else []


def _sharing(config: GuestConfig, kernel: Kernel, progress: Progress) -> tuple[GuestConfig, Kernel]:
    """Where a boot takes a minute, our driver is a module that replaces the kernel's.

    So guests with either of them start at one checkpoint (split_late).
    """
    theirs = _driver(config._replace(driver=UPSTREAM_DRIVER), kernel, progress)
    if config.backend != HERCULES or config.driver != OUR_DRIVER or not theirs:
        return config, kernel
    ours = driver_module(kernel, progress)
    others = (file for file in kernel.replaced if module_name(file) != module_name(ours))
    return config._replace(driver=UPSTREAM_DRIVER), kernel._replace(replaced=(*others, ours))


def _say_other_kernel(name: str, kernel: Kernel, progress: Progress) -> None:
    """A module of another version may load all the same, if what it uses has not changed."""
    version = made_for(Path(name)) if "/" in name and Path(name).is_file() else ""
    if version and version != kernel.version:
        progress.say(
            f"{name} was made for kernel {version}, and the guest has {kernel.version};"
            " 'zvmlab module build' makes it for the guest's"
        )


def image(config: GuestConfig, kernel: Kernel, progress: Progress | None = None) -> Path:
    """The guest's image: the agent, a monreader, what was asked for."""
    modules = [*config.modules, *_driver(config, kernel, progress)]
    for name in modules:
        _say_other_kernel(name, kernel, progress or Progress(quiet=True))
    extra = []
    for remote, local in config.files.items():
        path = Path(local)
        if not path.is_file():
            raise UsageError(f"{path}, to be put into the guest as {remote}, is not a file")
        check_file(path)
        extra.append((path, remote, 0o755 if os.access(path, os.X_OK) else 0o644))
    shell = config.busybox or config.interactive
    return build_image(kernel, list(dict.fromkeys(modules)), extra, shell, progress)


def check_storage(config: GuestConfig, kernel: Kernel) -> None:
    """Linux that cannot even begin says nothing and stops."""
    end = first_extent_end(config.storage)
    if end < LEAST_LINUX_STORAGE and is_linux(kernel.image):
        # As a user writes it: storage that is in one piece begins at 0 without saying so.
        one = " " not in config.storage
        given = config.storage.removeprefix("0.") if one else config.storage
        raise UsageError(
            f"storage {given!r} is too small for Linux: its first extent has to have at"
            f" least {LEAST_LINUX_STORAGE // MIB} MiB; write --storage 128M, the default"
        )


def make(config: GuestConfig, progress: Progress | None) -> Artifacts:
    """Build or fetch what is missing."""
    shown = progress or Progress(quiet=True)
    # What is wrong with the kernel is told before anything is built.
    kernel = resolve(config.kernel, progress=shown)
    check_storage(config, kernel)
    launcher(shown)
    program = backend_of(config.backend).build(shown)
    # A module that the configuration names as a file is the one to load.
    named = {module_name(word) for word in (config.driver, *config.modules) if "/" in word}
    config, kernel = _sharing(config, kernel, shown)
    late: tuple[Path, ...] = ()
    # What a list of the user's own names, init loads before the agent is there.
    if MODULE_LIST not in config.files:
        kernel, late = split_late(kernel, named)
    made = image(config, kernel, shown)
    return Artifacts(program, kernel.image, str(kernel), made, late)
