# SPDX-License-Identifier: MIT
"""Emulator, kernel and image of a guest: known from the last time, or built or fetched.

What a guest runs follows from the sources of this clone, from the cache, and from what the user has
named.  As long as all of these files are as they were, it is not asked for again: reading them, asking
apt and resolving the modules takes longer than a restored guest's whole run.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from zvmlab.base import shipped
from zvmlab.base.cache import cache_root, digest
from zvmlab.base.decided import keep, recall, state_of
from zvmlab.base.progress import Progress
from zvmlab.base.signature import signature
from zvmlab.base.tree import TREE
from zvmlab.builder.kernel import DEBIAN, SERIES, SUITES, replaced_files
from zvmlab.guest.config import GuestConfig, Artifacts
from zvmlab.guest.names import OUR_DRIVER, UPSTREAM_DRIVER

_SOURCES = ("harness/zvmlab", "sim", "lib", "guest", "driver", "artifacts")
# Programs whose version counts, and what says which Debian this is.
_PROGRAMS = ("s390x-linux-gnu-gcc", "hercules")
_SYSTEM = (Path("/etc/os-release"),)
_DAY = 86400
"""For so long a suite's kernel is taken for the newest (build.kernels)."""


def _is_folder(name: str) -> bool:
    """One without a "/" is a module's name, whatever is called like it here."""
    return "/" in name and Path(name).is_dir()


def with_built_modules(config: GuestConfig, progress: Progress | None = None) -> GuestConfig:
    """The same with modules in place of each folder among them: built for its kernel if need be."""
    if not any(_is_folder(name) for name in config.modules):
        return config
    from zvmlab.builder.kernels import resolve  # which most guests need not import
    from zvmlab.builder.modulebuild import built_modules

    shown = progress or Progress(quiet=True)
    kernel = resolve(config.kernel, progress=shown)
    modules: list[str] = []
    for name in config.modules:
        if _is_folder(name):
            modules += map(str, built_modules(Path(name), kernel, shown).values())
        else:
            modules.append(name)
    return config._replace(modules=tuple(modules))


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
    """Everything that a guest's artifacts depend on, except this clone and its cache."""
    replaced = [_file_state(file) for file in replaced_files()]
    environment = sorted((k, v) for k, v in os.environ.items() if k.startswith("ZVMLAB_"))
    files = [(remote, _file_state(local)) for remote, local in config.files.items()]
    return (
        *(_file_state(word) for word in (config.kernel, config.driver, *config.modules)),
        *(
            tuple(files),
            tuple(replaced),
            tuple(environment),
            os.environ.get("HOME"),
            config.backend,
        ),
        *(config.busybox or config.interactive, config.storage, len(config.modules)),
    )


def prepare(config: GuestConfig, progress: Progress | None = None) -> Artifacts:
    """Everything a guest of this configuration runs.

    What was found is kept: this process sees no change of our own sources from then on.
    """
    key = _key(config)
    found = _prepared.get(key)
    if found is None or not all(
        path.exists() for path in (found.emulator, found.kernel, found.image, *found.late)
    ):
        found = _prepared[key] = _prepare(config, progress)
    return found


def _prepare(config: GuestConfig, progress: Progress | None) -> Artifacts:
    """Recall the earlier decision, or decide now."""
    if not _can_be_recalled(config):
        return _make(config, progress)
    key = digest(repr(_key(config)), os.environ.get("PATH", ""))
    before = state_of(_inputs())
    found = _recalled(recall("guest", key, before), config)
    if found is None:
        found = _make(config, progress)
        # What was fetched just now is a part of the state.
        if before is not None and before == state_of(_inputs()):
            _keep(key, before, found)
    return found


def _make(config: GuestConfig, progress: Progress | None) -> Artifacts:
    from zvmlab.guest.make_artifacts import make  # which recalled ones need not import

    return make(config, progress)


def _can_be_recalled(config: GuestConfig) -> bool:
    """Only what has no files of the user's but those in the image: more is told about others."""
    drivers = (UPSTREAM_DRIVER, OUR_DRIVER)
    names = {*SUITES, *SERIES}
    local = any("/" in name or ".ko" in name for name in config.modules)
    return config.kernel in names and config.driver in drivers and not local


def _inputs() -> list[Path]:
    """All files that a guest's artifacts depend on, beside those that _key() has."""
    root = cache_root()
    programs = map(_program, _PROGRAMS)
    apt = root / "apt"
    return [
        *(TREE / name for name in _SOURCES),
        *(Path(os.path.realpath(name)) for name in programs if name),
        *_SYSTEM,
        *(root / f"kernel-of-{suite}" for suite in DEBIAN),
        *sorted(apt.glob("*/updated") if apt.is_dir() else ()),
    ]


def _program(name: str) -> str | None:
    """The program that would be run; shutil.which() takes long to import."""
    paths = (os.path.join(folder, name) for folder in os.get_exec_path())
    return next((path for path in paths if os.path.isfile(path) and os.access(path, os.X_OK)), None)


def _made(artifacts: Artifacts) -> list[Path]:
    """The artifacts that a guest uses: whole cache entries, of the kernel the image only."""
    found = [artifacts.kernel]
    for path in (artifacts.emulator, artifacts.image, *artifacts.late):
        for root in (cache_root(), shipped.FOLDER):
            if path.is_relative_to(root):
                path = root / path.relative_to(root).parts[0]
        found.append(path)
    return found


def _keep(key: str, state: str, found: Artifacts) -> None:
    made = state_of(_made(found))
    files = (found.emulator, found.kernel, found.image)
    if made is not None:
        answer = {
            "files": [str(file) for file in files],
            "version": found.kernel_version,
            "late": [str(file) for file in found.late],
            "made": made,
            "digests": [[signature(file.stat()), digest(file)] for file in files],
        }
        keep("guest", key, state, answer)


def _recalled(answer: object, config: GuestConfig) -> Artifacts | None:
    """Recall the kept artifacts if all are unchanged and the kernel is not too old."""
    try:
        if not isinstance(answer, dict):
            return None
        emulator, kernel, image = map(Path, answer["files"])
        noted = cache_root() / f"kernel-of-{SERIES.get(config.kernel, config.kernel)}"
        if time.time() - noted.stat().st_mtime >= _DAY:
            return None
        digests = tuple((str(sign), str(value)) for sign, value in answer["digests"])
        late = tuple(map(Path, answer["late"]))
        found = Artifacts(emulator, kernel, str(answer["version"]), image, late, digests)
        return found if state_of(_made(found)) == answer["made"] else None
    except (OSError, KeyError, TypeError, ValueError):
        return None
