# SPDX-License-Identifier: GPL-2.0-or-later
"""The changes of speed.py for QEMU 10.0, where some of the places look different.

Nothing that we run is built from it; patches.py writes patch files.  "sizes" is not among
them: there, probe_access_flags() knows the size.
"""

from __future__ import annotations

import dataclasses

import speed
from hook import TCG, Change, Hook
from speed import CPUTLB, S390X


def _fit(change: Change, other: dict[str, list[Hook]]) -> Change:
    """The change with *other* hooks in the place of those with these anchors."""
    missing = other.keys() - {hook.anchor for hook in change.hooks}
    assert not missing, missing
    found = [new for hook in change.hooks for new in other.get(hook.anchor, [hook])]
    return Change(change.name, found)


def _moves(helper: str, from_: str, to: str) -> list[Hook]:
    """MVCS, MVCP: each operand's space by name."""
    return [
        Hook(f"{TCG}/mem_helper.c", f"access_prepare(&{operand}, env, {address}, l,",
             f"    access_prepare(&{operand}, env, {address}, l, {access},\n"
             f"                   mmu_idx_from_as(env, {space}), ra);\n",
             instead=1, inside=f"uint32_t HELPER({helper})(")
        for operand, address, access, space in (("srca", "a2", "MMU_DATA_LOAD", from_),
                                                ("desta", "a1", "MMU_DATA_STORE", to))
    ]  # fmt: skip


def _slots() -> Change:
    old = {hook.anchor: hook for hook in speed.SLOTS.hooks}
    index, flags = old["    if (ifetch) {"], old["if (env->cregs[0] & CR0_AFP) {"]
    masks = old["#define FLAG_MASK_VECTOR "]
    # More bits of the flags are in use.
    masks_text = masks.text.replace("PRIMARY      2", "PRIMARY      4")
    masks_text = masks_text.replace("SECONDARY    5", "SECONDARY    7")
    found = _fit(speed.SLOTS, {
        "#define NB_MMU_MODES": [],
        index.anchor: [
            dataclasses.replace(index, inside="static inline int s390x_env_mmu_index("),
        ],
        masks.anchor: [dataclasses.replace(masks, text=masks_text)],
        "#define MMU_PRIMARY_IDX ": [dataclasses.replace(
            old["#define MMU_PRIMARY_IDX "],
            text=old["#define MMU_PRIMARY_IDX "].text.replace(
                "MMU_REAL_IDX + 1 != NB_MMU_MODES", "MMU_REAL_IDX >= NB_MMU_MODES"))],
        flags.anchor: [dataclasses.replace(
            flags, file=f"{S390X}/cpu.c", text=flags.text.replace("*flags", "flags"),
            inside="void cpu_get_tb_cpu_state(")],
        "mmu_idx_from_as(src_as), ra);": [Hook(
            f"{TCG}/mem_helper.c", "mmu_idx_from_as(src_as), ra);",
            "                       mmu_idx_from_as(env, src_as), ra);\n", instead=1)],
        "mmu_idx_from_as(dest_as), ra);": [Hook(
            f"{TCG}/mem_helper.c", "mmu_idx_from_as(dest_as), ra);",
            "                       mmu_idx_from_as(env, dest_as), ra);\n", instead=1)],
        "srca = access_prepare(env, a2, l,": [],
        "desta = access_prepare(env, a1, l,": [],
        "env->cregs[i] = deposit64(env->cregs[i], 0, 32, val);": [
            Hook(f"{TCG}/mem_helper.c", "env->cregs[i] = val64;", "        cregs[i] = val64;\n",
                 instead=1)],
    })  # fmt: skip
    moves = _moves("mvcs", "AS_PRIMARY", "AS_SECONDARY")
    moves += _moves("mvcp", "AS_SECONDARY", "AS_PRIMARY")
    include = Hook(f"{S390X}/mmu_helper.c", '#include "exec/exec-all.h"',
                   '#include "exec/cputlb.h"\n')  # fmt: skip
    return Change(found.name, [include, *found.hooks, *moves])


def _lowprot() -> Change:
    old = {hook.anchor: hook for hook in speed.LOWPROT.hooks}
    place = "static int probe_access_internal("
    function = old["static void notdirty_write(CPUState *cpu, vaddr mem_vaddr,"]
    text = function.text.replace("target_ulong tlb_addr_for_store(", "uint64_t tlb_addr_for_store(")
    text = text.replace("(target_ulong tlb_addr,", "(uint64_t tlb_addr,")
    text = text.replace("    target_ulong addr)", "vaddr addr)")
    text = text.replace("(target_ulong)-1", "-1")
    read = Hook(CPUTLB, "uint64_t tlb_addr = tlb_read_idx(entry, access_type);",
                "    uint64_t tlb_addr = access_type == MMU_DATA_STORE ?\n"
                "        tlb_addr_for_store(tlb_addr_write(entry), addr) :\n"
                "        tlb_read_idx(entry, access_type);\n", instead=1)  # fmt: skip
    write = "if (tlb_entry->addr_write == (vaddr | TLB_NOTDIRTY)) {"
    return _fit(speed.LOWPROT, {
        "#define NB_MMU_MODES": [dataclasses.replace(
            old["#define NB_MMU_MODES"], anchor="#define TARGET_PAGE_BITS 12")],
        function.anchor: [dataclasses.replace(function, text=text)],
        "    flags = TLB_FLAGS_MASK;": [dataclasses.replace(read, inside=place)],
        "tlb_addr = tlb_addr_write(entry);": [
            dataclasses.replace(read, inside="static bool mmu_lookup1(")],
        "tlb_addr = tlb_addr_write(tlbe);": [Hook(
            CPUTLB, "tlb_addr = tlb_addr_write(tlbe);",
            "    tlb_addr = tlb_addr_for_store(tlb_addr_write(tlbe), addr);\n", instead=1)],
        write: [dataclasses.replace(old[write], anchor=write.replace("vaddr", "addr"),
                                    text=old[write].text.replace("vaddr", "addr"))],
    })  # fmt: skip


def _bear() -> Change:
    """Other names for the same functions."""
    return Change(speed.BEAR.name, [
        dataclasses.replace(hook, text=hook.text.replace("(cpu_env,", "(tcg_env,").replace(
            "tcg_gen_qemu_ld64(addr, o->addr1, get_mem_index(s))",
            "tcg_gen_qemu_ld_i64(addr, o->addr1, get_mem_index(s), MO_TEUQ)"))
        for hook in speed.BEAR.hooks
    ])  # fmt: skip


CHANGES = (speed.LOWCORE, _slots(), _lowprot(), _bear())
