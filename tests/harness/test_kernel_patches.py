# SPDX-License-Identifier: MIT
"""The debug kernel's source is patched where it has to be, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from zvmlab.base.errors import ZvmlabError
from zvmlab.build.kernel_patches import FILE, patch, patched

BEFORE = "{\n\tif (late)\n"
WAIT = "\t\trcuwait_wait_event(&rtp->cbs_wait,\n\t\t\t\t   found,\n\t\t\t\t   TASK_IDLE);\n"
AFTER = "\tmutex_unlock(&rtp->tasks_gp_mutex);\n}\n"


def test_mutex_is_given_back_during_the_wait() -> None:
    assert patched(BEFORE + WAIT + AFTER) == (
        f"{BEFORE}\t\tmutex_unlock(&rtp->tasks_gp_mutex);\n"
        f"{WAIT}\t\tmutex_lock(&rtp->tasks_gp_mutex);\n{AFTER}"
    )


def test_source_that_does_so_itself_is_left_alone() -> None:
    once = patched(BEFORE + WAIT + AFTER)
    assert patched(once) == once


@pytest.mark.parametrize("waits", [0, 2])
def test_source_with_other_waits_is_refused(waits: int) -> None:
    with pytest.raises(ZvmlabError, match=f"in {waits} places, not in 1"):
        patched(BEFORE + WAIT * waits + AFTER)


def test_tree_without_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ZvmlabError, match=f"{FILE} of this kernel cannot be read: No such file"):
        patch(tmp_path)
