# SPDX-License-Identifier: MIT
"""Corrections of the debug kernel's source before it is built.

Linux' proofs of RCU's use, which come with those of locks, wait during boot for a
grace period of RCU-tasks.  Whoever makes grace periods holds a mutex meanwhile: the
booting task, or a thread of their own, which holds it also while it waits for work.
If that thread gets so far first, which takes a tick at the wrong moment, the
booting task waits for the mutex, and the thread for work, forever.

When a module has its place in storage yet to get and there is none, what s390 has
noted of the module's symbols is not freed.  Nor is the name of a class of devices that could
not be registered.  kmemleak says so, and no test that loads a module without memory could be
asked for leaks of the module's own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from zvmlab.base.errors import ZvmlabError


@dataclass(frozen=True)
class Correction:
    """One place of one file, which is found by its text."""

    file: str
    place: str
    """A regular expression; it has to match once."""
    what: str
    """What is done in that place, for whom it is missing."""
    corrected: str
    """What is put there, with the expression's groups."""
    done: str
    """What a source has that is corrected already: a regular expression."""

    def of(self, text: str) -> str:
        """The file with the correction; as it was if Linux does so itself.

        ZvmlabError if the place is not there, or more than one.
        """
        if re.search(self.done, text):
            return text
        changed, count = re.subn(self.place, self.corrected, text, flags=re.MULTILINE)
        if count != 1:
            raise ZvmlabError(f"{self.file} of this kernel {self.what} in {count} places, not in 1")
        return changed

    def make(self, tree: Path) -> None:
        """Do it in a kernel's source tree; ZvmlabError if that has no such file."""
        file = tree / self.file
        try:
            text = file.read_text(encoding="utf-8")
        except OSError as error:
            raise ZvmlabError(
                f"{self.file} of this kernel cannot be read: {error.strerror}"
            ) from error
        file.write_text(self.of(text), encoding="utf-8")


RCU_TASKS = Correction(
    file="kernel/rcu/tasks.h",
    place=r"^(\t+)(rcuwait_wait_event\(&rtp->cbs_wait,[^;]*;\n)",
    what="waits for RCU-tasks",
    corrected=(
        r"\1mutex_unlock(&rtp->tasks_gp_mutex);\n" r"\1\2" r"\1mutex_lock(&rtp->tasks_gp_mutex);\n"
    ),
    # Twice, or more often.
    done=r"(?s)mutex_unlock\(&rtp->tasks_gp_mutex\);.*mutex_unlock\(&rtp->tasks_gp_mutex\);",
)
LOADER = Correction(
    file="kernel/module/main.c",
    place=r"^(\terr = move_module\(info->mod, info\);\n\tif \(err\))\n(\t\treturn ERR_PTR\(err\);)\n",
    what="gives a module its place",
    corrected=r"\1 {\n\t\tmodule_arch_freeing_init(info->mod);\n\2\n\t}\n",
    done=r"module_arch_freeing_init\(info->mod\);",
)
DEVICE_CLASS = Correction(
    file="drivers/base/class.c",
    place=r"^(\terror = kset_register\(&cp->subsys\);\n\tif \(error\) \{\n)(\t\tkfree\(cp\);\n)",
    what="registers a class",
    corrected=r"\1\t\tkfree_const(cp->subsys.kobj.name);\n\2",
    done=r"kset_register\(&cp->subsys\);\n\tif \(error\) \{\n\t\tkfree_const\(cp->subsys\.kobj\.name\);",
)
CORRECTIONS = (RCU_TASKS, LOADER, DEVICE_CLASS)
RECIPE = repr(CORRECTIONS)
"""A part of the cache's key."""


def patch(tree: Path) -> None:
    """Correct a kernel's source tree; ZvmlabError if it is not as it is expected to be."""
    for correction in CORRECTIONS:
        correction.make(tree)
