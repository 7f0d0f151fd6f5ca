# SPDX-License-Identifier: MIT
"""Names of the tools for the guest, and the libraries that they are linked with."""

from __future__ import annotations

LINKED = {
    "dmmon": ("libdevmapper.so.1.02.1", "libjansson.so.4", "libcrypt.so.1"),
    "taskmon": ("libnl-genl-3.so.200", "libnl-3.so.200", "libjansson.so.4", "libcrypt.so.1"),
    "monread": ("libjansson.so.4", "libcrypt.so.1"),
}
"""The tools, and the libraries that each is linked with."""
DEBIAN = {"dmsetup": "/sbin/dmsetup", "iucvconn": "/usr/bin/iucvconn"}


def is_tool(name: str) -> bool:
    """Is it one of the tools, or a program of the packages that goes with them?"""
    return name in LINKED or name in DEBIAN
