# SPDX-License-Identifier: MIT
"""Small things made for this machine out of the clone's C files, when they are needed first."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from pathlib import Path

from zvmlab.base.cache import digest, entry
from zvmlab.base.errors import CannotRun, ZvmlabError
from zvmlab.base.progress import Progress
from zvmlab.base.tree import TREE
from zvmlab.builder import module_mk
from zvmlab.builder.buildstep import run_step
from zvmlab.builder.objects import COMPILER, SECONDS, object_files, object_name

_FLAGS = ("-std=gnu11", "-O2", "-w")


def program(
    progress: Progress, what: str, artifact: str, module: str, link: Sequence[str] = ()
) -> Path:
    """The program *artifact*, made of *module*'s main.c and of what that uses, from the cache.

    A change of any of it makes another artifact.  *what* is the word for it in what
    the user is told: "the replayer".  *link*: options for the linker.
    """
    return _built(progress, what, artifact, module, (), link, f"{module}/main.c")


def library(
    progress: Progress, what: str, artifact: str, module: str, flags: Sequence[str] = ("-fPIC",)
) -> Path:
    """The shared library *artifact* of *module* and what that uses; the rest as above."""
    return _built(progress, what, artifact, module, flags, ())


def _built(
    progress: Progress,
    what: str,
    artifact: str,
    module: str,
    flags: Sequence[str],
    link: Sequence[str],
    *main: str,
) -> Path:
    modules = module_mk.closure(TREE, module)

    def build(folder: Path) -> None:
        log = folder / "log"
        with progress.step(f"building {what}") as step:
            objects = object_files(what, TREE, modules, folder, [*_FLAGS, *flags], step, *main)
            linked = ["-shared", *objects]
            if main:
                # A program may have a function of its own in the place of one that is shared.
                own = [str(folder / object_name(file)) for file in main]
                archive = str(folder / "rest.a")
                rest = [name for name in objects if name not in own]
                collections.deque(run_step(what, ["ar", "rcs", archive, *rest], TREE, log, SECONDS))
                linked = [*own, archive]
            argv = [COMPILER, *link, *linked, *module_mk.link_options(modules)]
            argv += ["-o", str(folder / artifact)]
            collections.deque(run_step(what, argv, TREE, log, SECONDS), maxlen=0)
        for made in folder.iterdir():
            if made.name != artifact:
                made.unlink()

    def build_or_say(folder: Path) -> None:
        try:
            build(folder)
        except FileNotFoundError as error:
            raise CannotRun(
                f"missing compiler: {COMPILER}; run 'make setup' in the clone"
            ) from error
        except ZvmlabError as error:
            raise CannotRun(
                f"{what} cannot be built; 'make setup' in the clone installs what it needs: {error}"
            ) from error

    def key() -> str:
        sources = list(module_mk.files(TREE, modules))
        names = [str(file.relative_to(TREE)) for file in sources]
        return digest(COMPILER, *_FLAGS, *flags, *link, *main, *names, *sources)

    return entry(Path(artifact).stem, key, build_or_say, artifact)
