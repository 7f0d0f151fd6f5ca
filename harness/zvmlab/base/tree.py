# SPDX-License-Identifier: MIT
"""The path of the clone that this harness is part of."""

from __future__ import annotations

from pathlib import Path

TREE = Path(__file__).resolve().parents[3]
"""Folder of the clone: what is built and checked is below it."""
