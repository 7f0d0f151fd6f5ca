# SPDX-License-Identifier: MIT
"""The sub-command for modules of one's own: module build."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from typing import Any

from zvmlab.base.errors import EXIT_PASS, UsageError
from zvmlab.base.progress import Progress
from zvmlab.builder.kernels import resolve
from zvmlab.builder.modulebuild import built_modules
from zvmlab.cli.options import command, top_command

DEFAULT_KERNEL = "bookworm"


def add_commands(commands: Any) -> None:
    """module build."""
    module = top_command(
        commands,
        "module",
        "  zvmlab module build src/",
    )
    what = module.add_subparsers(metavar="WHAT", required=True)
    build = command(
        what,
        "build",
        "build the modules in a folder with a Kbuild or a Makefile, for guest kernels",
        "  zvmlab module build src/\n"
        "  zvmlab module build src/ --kernel bookworm --kernel trixie --output build/\n"
        "  zvmlab run --module src/ -- dmesg        builds it, puts it in and loads it",
    )
    build.add_argument("folder", type=Path, metavar="DIR", help="folder with 'obj-m := NAME.o'")
    build.add_argument(
        "--kernel",
        action="append",
        metavar="SUITE|PATH|TREE",
        help=f"guest kernel, as for zvmlab run (default: {DEFAULT_KERNEL}); may be repeated",
    )
    build.add_argument(
        "--output",
        type=Path,
        metavar="DIR",
        help="copy the modules to DIR/VERSION/ (default: print where they are in the cache)",
    )
    build.set_defaults(command=run_build)


def run_build(arguments: argparse.Namespace) -> int:
    """One line for each module: the kernel's version, and the file."""
    folder: Path = arguments.folder
    if not folder.is_dir():
        raise UsageError(f"no such folder: {folder}")
    progress = Progress()
    # A name that is wrong is told before anything is built.
    names = arguments.kernel or [DEFAULT_KERNEL]
    for kernel in [resolve(name, progress=progress) for name in names]:
        for file in built_modules(folder, kernel, progress).values():
            if arguments.output is not None:
                file = _copied(file, arguments.output / kernel.version)
            print(kernel.version, file)
    return EXIT_PASS


def _copied(file: Path, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(file, folder))
