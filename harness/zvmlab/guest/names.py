# SPDX-License-Identifier: MIT
"""Words of a guest's configuration that options name as well."""

from __future__ import annotations

QEMU = "qemu"
HERCULES = "hercules"
# Debian's Hercules is built for 8.
MAX_CPUS = {QEMU: 64, HERCULES: 8}
BACKENDS = tuple(MAX_CPUS)
UPSTREAM_DRIVER = "upstream"
OUR_DRIVER = "zvmlab"
DRIVER = "monreader"
