# SPDX-License-Identifier: MIT
"""Detect whether a file may have changed, without reading it again.

A file's time alone does not tell: ``cp -p``, ``rsync -t``, ``tar x`` and a restored backup bring back
an older one.  They cannot set the time of the inode's last change.
"""

from __future__ import annotations

import os

_COARSEST_NS = 2 * 10**9
"""No file system counts time in longer steps (FAT)."""


def signature(found: os.stat_result) -> str:
    """Another one if the file may have other contents."""
    return f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_ino}"


def is_settled(found: os.stat_result, now_ns: int) -> bool:
    """Does every change from *now_ns* (time.time_ns()) on give another signature?

    Two changes within one step of the file system's clock have the same time.
    """
    return found.st_ctime_ns < now_ns - _COARSEST_NS
