#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Insert the lines by which QEMU calls our device: insert_hooks.py [--without NAME] TREE

Nothing of QEMU is replaced but lines that are wrong or slow.  Every insertion stands next
to one line of a file, found by a piece of its text that must occur in exactly one line,
of the file or of one function.  All are written for 7.2; newer.py makes those for the
version of TREE out of them.  docs/qemu-port.md says why each is there,
docs/qemu-corrections.md what is wrong in QEMU, and docs/qemu-speed.md what makes it faster.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import corrections
import newer
import port_hooks
import speed
from hook import HookError, apply

# The versions that our device was made to fit; newer.py has patches for more of them.
BUILT = ("7.2", "10.0", "11.1")


def _arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Insert our lines into QEMU's source.")
    names = [change.name for change in speed.CHANGES]
    parser.add_argument("--without", action="append", default=[], choices=names, metavar="NAME",
                        help=f"leave out this change: {', '.join(names)}")  # fmt: skip
    parser.add_argument("--pristine", type=Path, metavar="FOLDER",
                        help="keep each file there as it was, and replace the lines that TREE"
                        " was given before")  # fmt: skip
    parser.add_argument("tree", type=Path)
    return parser.parse_args(argv)


def main(argv: list[str]) -> int:
    """Return: exit code."""
    arguments = _arguments(argv[1:])
    properties = (Path(__file__).parent / "qapi.json").read_text(encoding="utf-8")
    licence, _, properties = properties.partition("\n")
    if "SPDX-License-Identifier" not in licence:
        raise HookError("qapi.json must begin with its licence line")
    every = (*corrections.CHANGES, *speed.CHANGES, port_hooks.port(properties))
    try:
        changes = newer.changes_for(newer.series_of(arguments.tree, BUILT), every)
        taken = [change.hooks for change in changes if change.name not in arguments.without]
        hooks = [hook for hooks in taken for hook in hooks]
        apply(arguments.tree, hooks, arguments.pristine)
    except HookError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
