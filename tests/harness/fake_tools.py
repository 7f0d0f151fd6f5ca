# SPDX-License-Identifier: MIT
"""Scripts in place of the programs that Linux is built with."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from zvmlab.builder.kbuild import TOOLS


def put_tools(folder: Path, make: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fill a new folder and look there first: make is that script, the others do nothing."""
    folder.mkdir()
    for tool in TOOLS:
        (folder / tool).write_text(make if tool == "make" else "#!/bin/sh\n")
        (folder / tool).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
