#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Make source trees with our corrections of Linux: corrected.py FOLDER TREE...

Each TREE, a source tree or "source:7.2", becomes FOLDER/SERIES: links to its files, and the files that
are corrected.  Prints the options with which pytest tests these kernels, such as
"--kernel FOLDER/7.2 --corrected af_iucv-1".
"""

from __future__ import annotations

import sys
from pathlib import Path

from linux_patches import tree_of

from zvmlab.base.errors import ZvmlabError
from zvmlab.base.source_change import ChangeError
from zvmlab.builder.linux_corrections import corrected_tree, corrections, supported


def main(argv: list[str]) -> int:
    """Return: exit code."""
    if len(argv) < 3:
        print(f"usage: {argv[0]} FOLDER TREE...", file=sys.stderr)
        return 2
    options = []
    try:
        for name in argv[2:]:
            tree = tree_of(name)
            series = supported(tree)
            found = [correction for correction in corrections() if correction.change.within(series)]
            copy = Path(argv[1]) / series
            corrected_tree(tree, copy, found)
            options += ["--kernel", str(copy)]
            options += [
                f"--corrected={defect}" for correction in found for defect in correction.defects
            ]
    except (ChangeError, ZvmlabError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(*options)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
