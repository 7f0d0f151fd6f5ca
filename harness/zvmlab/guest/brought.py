# SPDX-License-Identifier: MIT
"""What a guest's image has, brought into a guest that has booted without it.

    least = booted_with_less(config, artifacts)     # the guest whose boot is the same
    bring(first.agent, least_image, artifacts.image)

Until the agent answers, a boot uses the agent and the modules that it loads, and nothing else of an
image.  So guests that differ only in their programs, further modules and drivers need one boot, which is
nearly all that their checkpoints cost.
"""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path

from zvmlab.agent.agent import Agent
from zvmlab.builder.image import MODULE_LIST, Entry, contents
from zvmlab.guest.artifacts import prepare
from zvmlab.guest.config import Artifacts, GuestConfig
from zvmlab.guest.names import UPSTREAM_DRIVER

_INIT = "init"
_HELPERS = "sbin/"
"""The kernel itself looks for programs there."""


def booted_with_less(
    config: GuestConfig, artifacts: Artifacts
) -> tuple[GuestConfig, Artifacts] | None:
    """The guest with the least image whose boot is the same as that of *config* with *artifacts*.

    None: there is none but itself.
    """
    # Counted instructions say how a guest came where it is; a member's agent waits for its name.
    if config.counts or config.interactive or config.is_base:
        return None
    less = config._replace(modules=(), driver=UPSTREAM_DRIVER, files={}, busybox=False)
    if less == config:
        return None
    found = prepare(less)
    if found.kernel != artifacts.kernel or found.image == artifacts.image:
        return None
    if _used_by_boot(contents(found.image)) != _used_by_boot(contents(artifacts.image)):
        return None
    return less, artifacts._replace(image=found.image, digests=())


def _used_by_boot(image: Mapping[str, Entry]) -> dict[str, Entry]:
    listed = MODULE_LIST.lstrip("/")
    modules = image[listed].data.decode().split()
    names = {_INIT, listed, *(path.lstrip("/") for path in modules)}
    return {
        name: item
        for name, item in image.items()
        if name in names or name.startswith(_HELPERS) or stat.S_ISCHR(item.mode)
    }


def bring(agent: Agent, booted: Path, wanted: Path) -> None:
    """Give the guest that has booted with one image what another one has: its files are those then."""
    before, after = contents(booted), contents(wanted)
    changed = {name: item for name, item in after.items() if before.get(name) != item}
    batch = agent.batch()
    gone = [name for name in before if name not in after or name in changed]
    for name in reversed(gone):
        path = f"/{name}"
        batch.rmdir(path) if stat.S_ISDIR(before[name].mode) else batch.unlink(path)
    for name, item in changed.items():
        if stat.S_ISDIR(item.mode):
            batch.mkdir(f"/{name}", stat.S_IMODE(item.mode))
        elif stat.S_ISLNK(item.mode):
            batch.symlink(item.data.decode(), f"/{name}")
    for result in batch.run():
        result.check()
    for name, item in changed.items():
        if stat.S_ISREG(item.mode):
            agent.write_file(f"/{name}", item.data, stat.S_IMODE(item.mode))
