# SPDX-License-Identifier: MIT
"""What has to be patched in the debug kernel's source before it boots each time.

Linux' proofs of RCU's use, which come with those of locks, wait during boot for a
grace period of RCU-tasks.  Whoever makes grace periods holds a mutex meanwhile: the
booting task, or a thread of their own, which holds it also while it waits for work.
If that thread gets so far first, which takes a tick at the wrong moment, the
booting task waits for the mutex, and the thread for work, for ever.
"""

from __future__ import annotations

import re
from pathlib import Path

from zvmlab.base.errors import ZvmlabError

FILE = "kernel/rcu/tasks.h"
_WAIT = re.compile(r"^(\t+)rcuwait_wait_event\(&rtp->cbs_wait,[^;]*;\n", re.MULTILINE)
_UNLOCK = "mutex_unlock(&rtp->tasks_gp_mutex);"
_LOCK = "mutex_lock(&rtp->tasks_gp_mutex);"
RECIPE = f"{FILE}: {_UNLOCK} {_WAIT.pattern} {_LOCK}"
"""A part of the cache's key."""


def patched(text: str) -> str:
    """The file with the mutex given back during the wait; as it was if Linux does so itself.

    ZvmlabError if the wait is not there, or more than one.
    """
    if text.count(_UNLOCK) > 1:
        return text
    changed, count = _WAIT.subn(
        lambda wait: f"{wait[1]}{_UNLOCK}\n{wait[0]}{wait[1]}{_LOCK}\n", text
    )
    if count != 1:
        raise ZvmlabError(f"{FILE} of this kernel waits for RCU-tasks in {count} places, not in 1")
    return changed


def patch(tree: Path) -> None:
    """Do it in a kernel's source tree; ZvmlabError if that has no such file."""
    file = tree / FILE
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise ZvmlabError(f"{FILE} of this kernel cannot be read: {error.strerror}") from error
    file.write_text(patched(text), encoding="utf-8")
