# SPDX-License-Identifier: MIT
"""CP's own accesses to a guest whose kernel is built with KASAN are held against its shadow.

Where the shadow is, the kernel's configuration says, which lies beside its image.  Where the kernel
has its storage, it says itself to whoever dumps it (struct os_info, arch/s390/include/asm/os_info.h).
"""

from __future__ import annotations

import base64
import functools
import re
import struct
from pathlib import Path

from zvmlab.base.errors import ZvmlabError
from zvmlab.cp.control import Control

_OFFSET = re.compile(r"^CONFIG_KASAN_SHADOW_OFFSET=(0x[0-9a-fA-F]+)$", re.MULTILINE)
_MOVES = "CONFIG_RANDOMIZE_IDENTITY_BASE=y\n"
# In the lowcore of the absolute address 0: the address of struct os_info.
_OS_INFO_AT = 0xE18
_MAGIC = b"OSINFOSZ"
# Magic, checksum, version, two words about the next kernel; then entries of value, size and checksum.
_HEAD, _ENTRY, _IDENTITY_BASE = 32, 20, 4


@functools.lru_cache(16)
def _configuration(kernel: Path) -> str:
    try:
        return kernel.with_name(kernel.name.replace("vmlinuz", "config")).read_text("ascii")
    except (OSError, UnicodeDecodeError):
        return ""


def _read(control: Control, address: int, length: int) -> bytes:
    found = control.execute("storage-read", address=address, length=length)
    return base64.b64decode(found["data"])


def _identity_base(control: Control) -> int:
    """Where the kernel that runs has what has the real address 0."""
    (at,) = struct.unpack(">Q", _read(control, _OS_INFO_AT, 8))
    info = _read(control, at, _HEAD + (_IDENTITY_BASE + 1) * _ENTRY)
    if not info.startswith(_MAGIC):
        raise ZvmlabError("the guest's kernel does not say where it has its storage (os_info)")
    return int(struct.unpack_from(">Q", info, _HEAD + _IDENTITY_BASE * _ENTRY)[0])


def watch_accesses(control: Control, kernel: Path) -> bool:
    """Have CP look at the shadow from now on.  Return: False if the kernel is known to have none."""
    configuration = _configuration(kernel)
    offset = _OFFSET.search(configuration)
    if offset is None:
        return False
    identity = _identity_base(control) if _MOVES in configuration else 0
    control.execute("kasan-watch", offset=int(offset[1], 16), identity=identity)
    return True
