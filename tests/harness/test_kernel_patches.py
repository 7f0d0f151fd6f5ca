# SPDX-License-Identifier: MIT
"""The debug kernel's source is patched where it has to be, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from zvmlab.base.errors import ZvmlabError
from zvmlab.builder.kernel_patches import (
    CORRECTIONS,
    DEVICE_CLASS,
    LOADER,
    RCU_TASKS,
    Correction,
    patch,
)

BEFORE = "{\n\tif (late)\n"
WAIT = "\t\trcuwait_wait_event(&rtp->cbs_wait,\n\t\t\t\t   found,\n\t\t\t\t   TASK_IDLE);\n"
AFTER = "\tmutex_unlock(&rtp->tasks_gp_mutex);\n}\n"
MOVE = "\terr = move_module(info->mod, info);\n\tif (err)\n\t\treturn ERR_PTR(err);\n"
REGISTER = "\terror = kset_register(&cp->subsys);\n\tif (error) {\n\t\tkfree(cp);\n\t\treturn error;\n\t}\n"
PLACES = [(RCU_TASKS, WAIT), (LOADER, MOVE), (DEVICE_CLASS, REGISTER)]
each_correction = pytest.mark.parametrize(
    ("correction", "place"), PLACES, ids=[correction.file for correction, _ in PLACES]
)


def test_mutex_is_given_back_during_the_wait() -> None:
    assert RCU_TASKS.of(BEFORE + WAIT + AFTER) == (
        f"{BEFORE}\t\tmutex_unlock(&rtp->tasks_gp_mutex);\n"
        f"{WAIT}\t\tmutex_lock(&rtp->tasks_gp_mutex);\n{AFTER}"
    )


def test_symbols_are_freed_when_there_is_no_place_for_the_module() -> None:
    assert LOADER.of(BEFORE + MOVE + AFTER) == (
        f"{BEFORE}\terr = move_module(info->mod, info);\n\tif (err) {{\n"
        f"\t\tmodule_arch_freeing_init(info->mod);\n\t\treturn ERR_PTR(err);\n\t}}\n{AFTER}"
    )


def test_name_of_a_class_is_freed_that_could_not_be_registered() -> None:
    assert DEVICE_CLASS.of(BEFORE + REGISTER + AFTER) == (
        f"{BEFORE}\terror = kset_register(&cp->subsys);\n\tif (error) {{\n"
        f"\t\tkfree_const(cp->subsys.kobj.name);\n\t\tkfree(cp);\n\t\treturn error;\n\t}}\n{AFTER}"
    )


@each_correction
def test_source_that_does_so_itself_is_left_alone(correction: Correction, place: str) -> None:
    once = correction.of(BEFORE + place + AFTER)
    assert correction.of(once) == once


@each_correction
@pytest.mark.parametrize("places", [0, 2])
def test_source_with_other_places_is_refused(
    correction: Correction, place: str, places: int
) -> None:
    with pytest.raises(ZvmlabError, match=f"in {places} places, not in 1"):
        correction.of(BEFORE + place * places + AFTER)


def test_all_of_them_are_made(tmp_path: Path) -> None:
    assert {correction for correction, _ in PLACES} == set(CORRECTIONS)
    for correction, place in PLACES:
        (tmp_path / correction.file).parent.mkdir(parents=True)
        (tmp_path / correction.file).write_text(BEFORE + place + AFTER)
    patch(tmp_path)
    for correction, place in PLACES:
        made = (tmp_path / correction.file).read_text()
        assert made == correction.of(BEFORE + place + AFTER) != BEFORE + place + AFTER


def test_tree_without_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ZvmlabError, match=f"{RCU_TASKS.file} of this kernel cannot be read: No such file"
    ):
        patch(tmp_path)
