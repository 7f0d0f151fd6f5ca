# SPDX-License-Identifier: MIT
"""Paths as a shell has them."""

from __future__ import annotations

import os
from pathlib import Path


def from_home(path: str | Path) -> Path:
    """With the home of ~ or ~user; the path of a user whom nobody knows stays as it is."""
    return Path(os.path.expanduser(path))
