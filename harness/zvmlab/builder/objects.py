# SPDX-License-Identifier: MIT
"""Modules of C compiled to object files, by as many compilers as there are CPUs.

Where ccache is installed, what has been compiled before is not compiled again.
"""

from __future__ import annotations

import collections
import os
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from zvmlab.base.cache import compiled
from zvmlab.base.progress import Step
from zvmlab.builder import module_mk
from zvmlab.builder.buildstep import run_step

COMPILER = "gcc"
SECONDS = 600


def object_name(file: str) -> str:
    """The name of a source's object file."""
    return file.replace("/", "-") + ".o"


def _ccache(root: Path) -> tuple[list[str], dict[str, str]]:
    """What stands in front of the compiler, and the environment for it."""
    folder = os.environ.get("CCACHE_DIR") or compiled()
    if shutil.which("ccache") is None or folder is None:
        return [], {}
    return ["ccache"], {"CCACHE_DIR": str(folder), "CCACHE_BASEDIR": str(root)}


def object_files(
    what: str,
    root: Path,
    modules: Sequence[module_mk.Module],
    into: Path,
    flags: Sequence[str],
    step: Step,
    *main: str,
) -> list[str]:
    """Object files in *into* of these modules' sources, and of *main* beside them.

    *root* is the tree; *what* names the whole in errors.
    """
    sources: list[tuple[str, list[str]]] = []
    for module in modules:
        options = module_mk.compile_options(root, module)
        own = [*module.sources, *(file for file in main if file in module.main)]
        sources += [(file, options) for file in own]

    ahead, variables = _ccache(root)
    environment = os.environ | variables

    def compile_one(source: tuple[str, list[str]]) -> str:
        file, options = source
        made = into / object_name(file)
        log = made.with_suffix(".log")
        argv = [*ahead, COMPILER, *flags, *options, "-c", "-o", str(made), str(root / file)]
        collections.deque(run_step(what, argv, root, log, SECONDS, environment), maxlen=0)
        log.unlink()
        return str(made)

    made = []
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for number, name in enumerate(pool.map(compile_one, sources), 1):
            made.append(name)
            step.update(number, len(sources))
    return made
