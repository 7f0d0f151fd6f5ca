# SPDX-License-Identifier: MIT
"""Folders of the cache in which the sides of a source tree are laid out.

    KIND-KEY/base/NAME, patched/NAME   the tree with the files of a side, as links to the tree
    KIND-KEY/modules-…                 folders of modules, where only modules are touched
    KIND-KEY/apply                     the repository in which a series is applied
    KIND-KEY/results                   what pytest said
    KIND-KEY/temporary                 whatever else is needed for a moment

There is one for each tree, so that what is built of a side is built in the same place again.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from zvmlab.base import manifest
from zvmlab.base.cache import cache_root, digest, locked_within
from zvmlab.base.errors import CannotRun
from zvmlab.base.owned import is_ours, mark
from zvmlab.base.progress import Progress

LOCK_SECONDS = 3600
RESULTS = "results"
_TEMPORARY = "temporary"
_SCRATCH = ("base", "patched", "apply", "modules-base", "modules-patched", _TEMPORARY)


def workspace(kind: str, tree: Path) -> Path:
    """The folder of a tree."""
    return cache_root() / f"{kind}-{digest(str(tree.resolve()))}"


@contextlib.contextmanager
def claimed(work: Path, what: str, progress: Progress) -> Iterator[None]:
    """The folder is ours alone within the block, and has nothing of runs that were killed but results."""
    with locked_within(work.name, LOCK_SECONDS, what, progress.say):
        try:
            work.mkdir(exist_ok=True)
            if not is_ours(work):
                mark(work, manifest.NOTHING)
            clear(work)
        except OSError as error:
            raise CannotRun(f"cannot write to {work}: {error.strerror or error}") from error
        yield


def clear(work: Path) -> None:
    """Remove all but results."""
    for name in _SCRATCH:
        shutil.rmtree(work / name, ignore_errors=True)


@contextlib.contextmanager
def temporaries(work: Path) -> Iterator[None]:
    """Within the block, what is temporary lies where clear() removes what a kill has left."""
    folder = work / _TEMPORARY
    folder.mkdir()
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = before
