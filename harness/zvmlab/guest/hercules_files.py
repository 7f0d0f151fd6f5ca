# SPDX-License-Identifier: MIT
"""Put the files that Hercules loads into a folder: ``hercules-conf/files.sh``.

``python3 -m zvmlab.guest.hercules_files [KERNEL [PARAMETER…]]``
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from zvmlab.base.errors import exit_code
from zvmlab.guest.artifacts import prepare
from zvmlab.guest.config import HERCULES, GuestConfig
from zvmlab.guest.herculesload import write_load
from zvmlab.guest.run_dir import cannot_write


def main(arguments: Sequence[str]) -> None:
    """Write the files into this folder."""
    kernel, *parameters = arguments or ["bookworm"]
    config = GuestConfig(
        kernel=kernel,
        backend=HERCULES,
        interactive=True,
        command_line=" ".join(parameters),
    )
    try:
        write_load(Path.cwd(), config, prepare(config))
    except OSError as error:
        raise cannot_write(Path.cwd(), error) from error


if __name__ == "__main__":
    sys.exit(exit_code(lambda: main(sys.argv[1:])))
