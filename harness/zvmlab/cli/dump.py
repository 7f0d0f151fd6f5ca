# SPDX-License-Identifier: MIT
"""The sub-command dump: the storage of a running guest, for a debugger of its kernel."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from zvmlab.base.errors import EXIT_PASS, UsageError
from zvmlab.cli.options import running_guest, running_option, top_command
from zvmlab.cli.tools import REQUEST_SECONDS
from zvmlab.cp.control import Control


def add_commands(commands: Any) -> None:
    """dump."""
    parser = top_command(
        commands,
        "dump",
        "  zvmlab dump --kernel-core guest.core\n"
        "  drgn -c guest.core -s vmlinux          then use drgn with the symbols of its kernel",
    )
    parser.add_argument(
        "--kernel-core",
        type=Path,
        required=True,
        metavar="FILE",
        help="write an ELF core of the guest's kernel, which drgn and crash read",
    )
    running_option(parser)
    parser.set_defaults(command=run_dump)


def run_dump(arguments: argparse.Namespace) -> int:
    """Say how much was written."""
    from zvmlab.guest.kernel_core import write_core

    file = arguments.kernel_core
    if file.is_dir() or not file.absolute().parent.is_dir():
        raise UsageError(f"{file} cannot be written: it is a folder, or there is no folder for it")
    if file.exists() and not file.is_file():  # a device's place would be taken
        raise UsageError(f"{file} is no file that a core could take the place of; name another one")
    found = running_guest(arguments)
    with Control.connect(found.control, REQUEST_SECONDS) as control:
        size = write_core(control, file)
    print(f"{file}: {size >> 20} MiB of storage")
    return EXIT_PASS
