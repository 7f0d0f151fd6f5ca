# SPDX-License-Identifier: MIT
"""Emulator, kernel and image of a guest: built or fetched if need be."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

from zvmlab.base.errors import UsageError
from zvmlab.base.progress import Progress
from zvmlab.base.signature import signature
from zvmlab.build.modulebuild import built_modules, driver_module
from zvmlab.build.elf import check_file, is_linux
from zvmlab.build.image import build_image
from zvmlab.build.kernel import Kernel
from zvmlab.build.kernels import resolve
from zvmlab.build.modules import builtin, made_for
from zvmlab.guest.backends import backend_of
from zvmlab.guest.config import (
    MIB,
    OUR_DRIVER,
    UPSTREAM_DRIVER,
    GuestConfig,
    Artifacts,
    first_extent_end,
)

DRIVER = "monreader"
LEAST_LINUX_STORAGE = 48 * MIB
"""Debian's kernels, 6.1 to 7.2, come up with our image in so much, and not in 8 MiB less."""


def _driver(config: GuestConfig, kernel: Kernel, progress: Progress | None) -> list[str]:
    """The module monreader of this configuration, if the kernel has not built it in."""
    if config.driver == OUR_DRIVER:
        return [str(driver_module(kernel, progress))]
    if config.driver != UPSTREAM_DRIVER:
        return [str(Path(config.driver).absolute())]
    return [DRIVER] if kernel.modules is not None and DRIVER not in builtin(kernel) else []


def _is_folder(name: str) -> bool:
    """One without a "/" is a module's name, whatever is called like it here."""
    return "/" in name and Path(name).is_dir()


def with_built_modules(config: GuestConfig, progress: Progress | None = None) -> GuestConfig:
    """The same with modules in place of each folder among them: built for its kernel if need be."""
    if not any(_is_folder(name) for name in config.modules):
        return config
    shown = progress or Progress(quiet=True)
    kernel = resolve(config.kernel, progress=shown)
    modules: list[str] = []
    for name in config.modules:
        if _is_folder(name):
            modules += map(str, built_modules(Path(name), kernel, shown).values())
        else:
            modules.append(name)
    return dataclasses.replace(config, modules=tuple(modules))


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


def _check_storage(config: GuestConfig, kernel: Kernel) -> None:
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


_Key = tuple[object, ...]
_prepared: dict[_Key, Artifacts] = {}


def _file_state(path: Path | str) -> tuple[object, ...]:
    """Changes whenever a file of the user's may have other contents."""
    try:
        found = os.stat(path)
    except OSError:
        return (str(path), os.getcwd())
    return (str(path), os.getcwd(), signature(found))


def _key(config: GuestConfig) -> _Key:
    """All that a guest's artifacts depend on, but what this clone and its cache have."""
    environment = sorted((k, v) for k, v in os.environ.items() if k.startswith("ZVMLAB_"))
    files = [(remote, _file_state(local)) for remote, local in config.files.items()]
    return (
        *(_file_state(word) for word in (config.kernel, config.driver, *config.modules)),
        *(tuple(files), tuple(environment), os.environ.get("HOME"), config.backend),
        *(config.busybox or config.interactive, config.storage, len(config.modules)),
    )


def prepare(config: GuestConfig, progress: Progress | None = None) -> Artifacts:
    """Everything a guest of this configuration runs.

    What was found is kept: this process sees no change of our own sources from then on.
    """
    key = _key(config)
    found = _prepared.get(key)
    if found is None or not all(
        path.exists() for path in (found.emulator, found.kernel, found.image)
    ):
        found = _prepared[key] = _prepare(config, progress)
    return found


def _prepare(config: GuestConfig, progress: Progress | None) -> Artifacts:
    """Build or fetch what is missing."""
    shown = progress or Progress(quiet=True)
    # What is wrong with the kernel is told before anything is built.
    kernel = resolve(config.kernel, progress=shown)
    _check_storage(config, kernel)
    program = backend_of(config.backend).build(shown)
    return Artifacts(program, kernel.image, str(kernel), image(config, kernel, shown))
