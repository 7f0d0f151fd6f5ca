# SPDX-License-Identifier: MIT
"""The machine of util-linux' public dump of a z/VM guest; guests that have it start at one checkpoint."""

from __future__ import annotations

import pytest

real_machine = pytest.mark.zvmlab(
    cpus=2, cp={"machine": "2817 M32 SEQUENCE 123 CAPABILITY 696 LPAR 47 R17LP45"}
)
