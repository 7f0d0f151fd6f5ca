# SPDX-License-Identifier: MIT
"""Lines of Linux' sources that ran: the counts of a guest with the coverage kernel.

    keep_counts(guest, Path("build/linux-lines"))

writes what the kernel has counted since it booted, one file for each source that
has run (`guest/linux_files.toml`), into a folder of its own.  A module's counts
stay in the kernel when it is unloaded; a kernel that ends takes its counts along.
"""

from __future__ import annotations

import errno
import tempfile
from pathlib import Path, PurePosixPath

from zvmlab.builder.kernels import resolve
from zvmlab.builder.linux_files import BUILT_IN, COUNTS, NOTES, gcov_folder
from zvmlab.guest.guest import Guest

DEBUGFS = PurePosixPath("/sys/kernel/debug/gcov")


def keep_counts(guest: Guest, into: Path) -> int:
    """Write the guest's counts below *into*; the number of sources, 0 if its kernel counts none."""
    gcov = gcov_folder(resolve(guest.config.kernel))
    if gcov is None:
        return 0
    tree = (gcov / BUILT_IN).read_text(encoding="utf-8").strip()
    into.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=into))
    kept = 0
    for notes in sorted(gcov.rglob(f"*{NOTES}")):
        source = notes.relative_to(gcov).with_suffix(COUNTS)
        counts = _counts(guest, DEBUGFS / tree.lstrip("/") / source)
        if counts is not None:
            target = folder / source
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(counts)
            kept += 1
    return kept


def _counts(guest: Guest, path: PurePosixPath) -> bytes | None:
    """None for a module that was never loaded."""
    try:
        return guest.agent.read_file(str(path))
    except OSError as error:
        if error.errno == errno.ENOENT:
            return None
        raise
