# SPDX-License-Identifier: MIT
"""What a guest in Hercules is loaded from, put into a folder: ``hercules-conf/files.sh``.

``python3 -m zvmlab.guest.hercules_files [KERNEL [PARAMETER…]]``
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from zvmlab.base.errors import ZvmlabError
from zvmlab.guest.artifacts import prepare
from zvmlab.guest.config import HERCULES, GuestConfig
from zvmlab.guest.herculesload import write_load
from zvmlab.guest.run_dir import cannot_write


def main(arguments: Sequence[str]) -> int:
    """Return: exit code."""
    kernel, *parameters = arguments or ["bookworm"]
    try:
        config = GuestConfig(
            kernel=kernel,
            backend=HERCULES,
            interactive=True,
            command_line=" ".join(parameters),
        )
        write_load(Path.cwd(), config, prepare(config))
    except ZvmlabError as error:
        print(f"zvmlab: {error}", file=sys.stderr)
        return error.exit_code
    except OSError as error:
        print(f"zvmlab: {cannot_write(Path.cwd(), error)}", file=sys.stderr)
        return cannot_write(Path.cwd(), error).exit_code
    return os.EX_OK


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
