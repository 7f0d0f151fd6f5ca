# SPDX-License-Identifier: MIT
"""TOML of files that people write."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from zvmlab.base.errors import UsageError


def parse(file: Path) -> dict[str, Any]:
    """The tables of a file; UsageError says why there are none."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{file} is not TOML: {error}") from None
