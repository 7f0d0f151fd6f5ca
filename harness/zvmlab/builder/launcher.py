# SPDX-License-Identifier: MIT
"""Programs that end when we do, however we end.

    subprocess.Popen(ending_with_us(["qemu-system-s390x"]), start_new_session=True)

Should we die without a chance to end the program, the kernel kills it: a program of our own
(sim/launch) asks for that before it becomes the other.  Our death before that is noticed by our process
id, which is the parent's no more.  The signal comes when the thread ends that has started the program.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from pathlib import Path

from zvmlab.base.decided import keep, recall, state_of
from zvmlab.base.progress import Progress
from zvmlab.base.tree import TREE

_MODULE = "sim/launch"


def launcher(progress: Progress) -> Path:
    """The program that starts others, built into the cache if need be."""
    before = state_of([TREE / _MODULE])
    kept = recall("program", "launcher", before)
    if isinstance(kept, str) and os.access(kept, os.X_OK):
        return Path(kept)
    from zvmlab.builder import hostbuild  # which takes longer to import than a guest to start

    made = hostbuild.program(progress, "the launcher", "zvmlab-launch", _MODULE, link=("-static",))
    keep("program", "launcher", before, str(made))
    return made


@functools.cache
def _launcher() -> str:
    """The same, looked for once: a clone does not change below a process that starts programs."""
    return str(launcher(Progress()))


def ending_with_us(argv: Sequence[str], us: int | None = None) -> list[str]:
    """The command line that starts the program so.

    *us*: the process that starts it, if it is another one.
    """
    return [_launcher(), str(us or os.getpid()), *argv]
