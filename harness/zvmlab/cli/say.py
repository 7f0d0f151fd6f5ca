# SPDX-License-Identifier: MIT
"""Sentences beside the output of a command."""

from __future__ import annotations

import sys


def say(sentence: str) -> None:
    """On standard error."""
    print(f"zvmlab: {sentence}", file=sys.stderr, flush=True)
