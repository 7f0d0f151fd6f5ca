#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write our changes of QEMU as patch files: patches.py FOLDER PRISTINE...

For the source in each PRISTINE, FOLDER gets a folder with the name of its version, and in it what
git format-patch makes of our changes, one commit each.  Those of "port" come last: they call our
device, and are of use with it only.

No build depends on this file.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from qemu_change import ChangeError, load, version_of

from zvmlab.base.patch_series import write_series


def main(argv: list[str]) -> int:
    """Return: exit code."""
    if len(argv) < 3:
        print(f"usage: {argv[0]} FOLDER PRISTINE...", file=sys.stderr)
        return 2
    try:
        changes = load()
        for pristine in map(Path, argv[2:]):
            series = version_of(pristine)
            folder = Path(argv[1]) / series
            print(f"{write_series(pristine, series, folder, changes)} patches are in {folder}")
    except (ChangeError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    except subprocess.SubprocessError as error:
        print(f"{error}\n{getattr(error, 'stderr', b'').decode(errors='replace')}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
