# SPDX-License-Identifier: GPL-2.0-or-later
"""The changes of corrections.py, speed.py and port_hooks.py for versions of QEMU after 7.2.

STEPS is the one list of what is different: each step makes the hooks for one version out of
those for the version before it, so what did not change again stands here once.  For 10.2
there are patch files only (patches.py): nothing that we run is built from it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import speed
from hook import INCLUDE, TCG, Change, Hook, HookError
from speed import CPUTLB, S390X

FIRST = "7.2"


@dataclass(frozen=True)
class Step:
    """What is different in *version*, as seen from the version before it in STEPS.

    *has*: names of changes that QEMU makes itself.  *words*: what is called otherwise,
    wherever a hook has it.  *hooks*: by change, then by anchor, what takes the place of all
    hooks with this anchor; the words of this step are changed in them, too.  *more*: changes
    that the version before it has no use for; they come first.
    """

    version: str
    has: frozenset[str] = frozenset()
    words: dict[str, str] = field(default_factory=dict)
    hooks: dict[str, dict[str, list[Hook]]] = field(default_factory=dict)
    more: tuple[Change, ...] = ()


def _old(change: Change, anchor: str, **other: str) -> Hook:
    """The hook of 7.2 with this anchor, but for what *other* says."""
    (hook,) = [hook for hook in change.hooks if hook.anchor == anchor]
    return dataclasses.replace(hook, **other)


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


def _look_up(function: str) -> Hook:
    """*function* looks up the entry for a load as well as for a store."""
    return Hook(CPUTLB, "uint64_t tlb_addr = tlb_read_idx(entry, access_type);",
                "    uint64_t tlb_addr = access_type == MMU_DATA_STORE ?\n"
                "        tlb_addr_for_store(cpu, tlb_addr_write(entry), addr) :\n"
                "        tlb_read_idx(entry, access_type);\n", instead=1,
                inside=function)  # fmt: skip


_SLOTS = {
    # There are enough of them for all targets, and a flag is not where it was.
    "#define NB_MMU_MODES": [
        Hook(f"{S390X}/mmu_helper.c", '#include "exec/page-protection.h"',
             '#include "exec/cputlb.h"\n'),
    ],
    "if (env->cregs[0] & CR0_AFP) {": [
        _old(speed.SLOTS, "if (env->cregs[0] & CR0_AFP) {", file=f"{S390X}/cpu.c"),
    ],
    "mmu_idx_from_as(src_as), ra);": [
        Hook(f"{TCG}/mem_helper.c", "mmu_idx_from_as(src_as), ra);",
             "                       mmu_idx_from_as(env, src_as), ra);\n", instead=1),
    ],
    "mmu_idx_from_as(dest_as), ra);": [
        Hook(f"{TCG}/mem_helper.c", "mmu_idx_from_as(dest_as), ra);",
             "                       mmu_idx_from_as(env, dest_as), ra);\n", instead=1),
    ],
    "srca = access_prepare(env, a2, l,": _moves("mvcs", "AS_PRIMARY", "AS_SECONDARY"),
    "desta = access_prepare(env, a1, l,": _moves("mvcp", "AS_SECONDARY", "AS_PRIMARY"),
    "env->cregs[i] = deposit64(env->cregs[i], 0, 32, val);": [
        Hook(f"{TCG}/mem_helper.c", "env->cregs[i] = val64;", "        cregs[i] = val64;\n",
             instead=1),
    ],
}  # fmt: skip

# 11.1 compiles cputlb.c once for all targets: a target says it at run time.
_LOWPROT = {
    "#define NB_MMU_MODES": [
        Hook("include/accel/tcg/cpu-ops.h", "    void (*initialize)(void);",
             "    /**\n"
             "     * @write_inv_bytes: so many bytes of a page with PAGE_WRITE_INV are to be\n"
             "     *                   checked with each store; 0: all of them\n"
             "     */\n"
             "    vaddr write_inv_bytes;\n", after=True),
        Hook(f"{S390X}/cpu.c", ".tlb_fill = s390_cpu_tlb_fill,",
             "    /* low-address protection */\n"
             "    .write_inv_bytes = 512,\n", after=True),
    ],
    "static void notdirty_write(CPUState *cpu, vaddr mem_vaddr,": [
        Hook(CPUTLB, "static void notdirty_write(CPUState *cpu, vaddr mem_vaddr,", """\
/*
 * The address for comparison in an entry for stores.  An entry of a
 * PAGE_WRITE_INV page is marked invalid, but holds for a store that begins
 * after the bytes to be checked.  (An entry that was flushed has all bits one.)
 */
static inline uint64_t tlb_addr_for_store(CPUState *cpu, uint64_t tlb_addr,
                                          vaddr addr)
{
    if (unlikely(tlb_addr & TLB_INVALID_MASK) && tlb_addr != -1) {
        vaddr bytes = cpu->cc->tcg_ops->write_inv_bytes;

        if (bytes && (addr & ~TARGET_PAGE_MASK) >= bytes) {
            return tlb_addr & ~TLB_INVALID_MASK;
        }
    }
    return tlb_addr;
}

"""),
    ],
    "    flags = TLB_FLAGS_MASK;": [_look_up("static int probe_access_internal(")],
    "tlb_addr = tlb_addr_write(entry);": [_look_up("static bool mmu_lookup1(")],
    "tlb_addr = tlb_addr_write(tlbe);": [
        Hook(CPUTLB, "tlb_addr = tlb_addr_write(tlbe);",
             "    tlb_addr = tlb_addr_for_store(cpu, tlb_addr_write(tlbe), addr);\n", instead=1),
    ],
}  # fmt: skip

_PORT = {
    "return s390_cpu_has_int(cpu);": [
        Hook(f"{S390X}/cpu-system.c", '#include "system/tcg.h"', INCLUDE, after=True),
        Hook(f"{S390X}/cpu-system.c", "return s390_cpu_has_int(cpu);",
             "    if (zvmlab_held(&cpu->env)) {\n"
             "        return false;\n"
             "    }\n"),
    ],
    '#include "hw/s390x/storage-keys.h"': [
        Hook(f"{S390X}/mmu_helper.c", '#include "hw/s390x/storage-keys.h"', INCLUDE, after=True),
        # The interruption is asserted to be one of the TLB's: of a helper's it ends QEMU.
        Hook(f"{S390X}/mmu_helper.c", "trigger_pgm_exception(env, type);",
             "        env->tlb_fill_exc = type;\n"
             "        env->tlb_fill_tec = tec;\n",
             inside="static void trigger_access_exception("),
    ],
    '#include "exec/cpu-common.h"': [
        Hook("hw/core/cpu-system.c", '#include "system/tcg.h"', '#include "system/runstate.h"\n'),
    ],
    "    tb_flush(cpu);": [
        Hook("hw/core/cpu-system.c", "        tb_flush(cpu);",
             "        if (runstate_check(RUN_STATE_RESTORE_VM)) {\n"
             "            tb_flush(cpu);\n"
             "        }\n", instead=1, inside="static int cpu_common_post_load("),
    ],
    "rom->data     = g_malloc0(rom->datasize);": [
        Hook("hw/core/loader.c", "if (!g_file_get_contents(rom->path, (gchar **) &rom->data,",
             "    int fd = open(rom->path, O_RDONLY | O_CLOEXEC);\n"
             "    if (fd >= 0) {\n"
             "        rom->mapped_file = g_mapped_file_new_from_fd(fd, true, &gerr);\n"
             "        close(fd);\n"
             "    } else {\n"
             "        g_set_error_literal(&gerr, G_FILE_ERROR, g_file_error_from_errno(errno),\n"
             "                            strerror(errno));\n"
             "    }\n"
             "    if (rom->mapped_file) {\n"
             "        rom->data = (uint8_t *)g_mapped_file_get_contents(rom->mapped_file);\n"
             "        size = g_mapped_file_get_length(rom->mapped_file);\n"
             "    } else {\n", instead=2, inside="ssize_t rom_add_file("),
    ],
    "hw_arch += {'s390x': s390x_ss}": [
        Hook("hw/s390x/meson.build", "hw_arch += {'s390x': s390x_ss}", "subdir('zvmlab')\n\n"),
        # Of QEMU's own tests, which we do not run; configure insists on it.
        Hook("pythondeps.toml", "pycotap =", "", instead=1),
    ],
}  # fmt: skip

# What stores the status has gone to where it is asked for, and the instruction counter has a
# header of its own.
_PORT_10_2: dict[str, list[Hook]] = {
    # From here on, QEMU itself throws translations away for "loadvm" only.
    '#include "system/tcg.h"': [
        Hook(f"{S390X}/cpu-system.c", '#include "system/tcg.h"', INCLUDE, after=True),
    ],
    "        tb_flush(cpu);": [],
    '#include "target/s390x/kvm/pv.h"': [
        Hook(f"{S390X}/helper.c", '#include "system/runstate.h"', INCLUDE, after=True),
    ],
    "sa = cpu_physical_memory_map(addr, &len, true);": [
        Hook(f"{S390X}/sigp.c", "sa = address_space_map(as, addr, &len, true, attrs);",
             "    if (!zvmlab_reachable(addr, len, true)) {\n"
             "        return -EFAULT;\n"
             "    }\n", inside="static int s390_store_status("),
    ],
    "sa = cpu_physical_memory_map(addr, &save, true);": [
        Hook(f"{S390X}/sigp.c", "sa = address_space_map(as, addr, &save, true, attrs);",
             "    if (!zvmlab_reachable(addr, len, true)) {\n"
             "        return -EFAULT;\n"
             "    }\n", inside="static int s390_store_adtl_status("),
    ],
    "void icount_start_warp_timer(void);": [
        Hook("include/exec/icount.h", "void icount_start_warp_timer(void);",
             "extern bool icount_cpus_rest, icount_start_over;\n"),
    ],
    "if (s390_cpu_halt(cpu) == 0) {": [
        Hook(f"{S390X}/helper.c", "s390_cpu_halt(cpu);", "    zvmlab_wait(&cpu->env);\n",
             inside="void s390_handle_wait("),
    ],
    # Of other machines, and not in Debian's tarball: made by dtc, which we have no use for.
    "hw_arch += {'s390x': s390x_ss}": [
        Hook("hw/s390x/meson.build", "hw_arch += {'s390x': s390x_ss}", "subdir('zvmlab')\n\n"),
        Hook("pc-bios/dtb/meson.build", "install_data(dtbs,",
             "    dtbs = []\n", instead=1),
    ],
}  # fmt: skip

# What QEMU's own tests and scripts need, which we do not run: configure would install it.
_PORT_11_1 = {
    "pycotap =": [
        Hook("pythondeps.toml", "pycotap =", "", instead=1),
        Hook("pythondeps.toml", '"qemu.qmp" =', "", instead=2),
        Hook("pythondeps.toml", '"setuptools" =', "", instead=3),
    ],
}  # fmt: skip

# The one relative branch that QEMU's own correction of EXECUTE ("execute") has forgotten.
BRCTH = Change("brcth", [
    Hook(f"{TCG}/translate.c", "int imm = get_field(s, i2);",
         "    bool is_imm;\n"
         "    int imm;\n", instead=1, inside="static DisasJumpType op_bcth("),
    Hook(f"{TCG}/translate.c", "return help_branch(s, &c, 1, imm, o->in2);",
         "    disas_jdest(s, i2, is_imm, imm, o->in2);\n"
         "    return help_branch(s, &c, is_imm, imm, o->in2);\n", instead=1,
         inside="static DisasJumpType op_bcth("),
])  # fmt: skip

# Such an event is found by a watchpoint, and the instruction executed once more; that it is to
# be told then was looked for only where instruction-fetching events are looked for, too.
PER_STORE = Change("per-store", [
    Hook(f"{S390X}/cpu.h", "#define FLAG_MASK_PER_STORE_REAL ",
         "#define FLAG_MASK_PER_STORE             0x10000000u\n"),
    Hook(f"{S390X}/cpu.c", "if (env->psw.mask & PSW_MASK_PER) {",
         "        if (env->cregs[9] & PER_CR9_EVENT_STORE) {\n"
         "            flags |= FLAG_MASK_PER_STORE;\n"
         "        }\n", after=True),
    Hook(f"{TCG}/translate.c", "out:", """\
#ifndef CONFIG_USER_ONLY
    if ((s->base.tb->flags & FLAG_MASK_PER_STORE) &&
        !(s->base.tb->flags & FLAG_MASK_PER_IFETCH)) {
        if (ret == DISAS_NEXT || ret == DISAS_TOO_MANY) {
            tcg_gen_movi_i64(psw_addr, s->pc_tmp);
        }
        update_cc_op(s);
        tcg_gen_st_i32(tcg_constant_i32(s->ilen), tcg_env,
                       offsetof(CPUS390XState, int_pgm_ilen));
        gen_helper_per_check_exception(tcg_env);
    }
#endif

""", inside="static DisasJumpType translate_one("),
])  # fmt: skip

STEPS = (
    Step(
        "10.0",
        has=frozenset(
            # Whatever the guest.
            "early-output wide-constant constants sign woken victim self-jump mvc "
            # Instructions, condition codes, floating point, vectors, time.
            "halfword lcbb locfhr lder ppno cksm lae rosbg lpsw execute epsw stck clc laalg "
            "mdeb inexact vfmax vstl vstrs mvcrl ckc stidp "
            # probe_access_flags() knows the size.
            "sizes".split()
        ),
        words={
            "cpu_env": "tcg_env",
            "cpu_mmu_index(": "s390x_env_mmu_index(",
            "tcg_gen_qemu_ld64(addr, o->addr1, get_mem_index(s))": (
                "tcg_gen_qemu_ld_i64(addr, o->addr1, get_mem_index(s), MO_TEUQ)"
            ),
            # More bits of the flags are in use.
            "FLAG_SHIFT_PRIMARY      2": "FLAG_SHIFT_PRIMARY      4",
            "FLAG_SHIFT_SECONDARY    5": "FLAG_SHIFT_SECONDARY    7",
            "*flags |=": "flags |=",
            "MMU_REAL_IDX + 1 != NB_MMU_MODES": "MMU_REAL_IDX >= NB_MMU_MODES",
            "(vaddr | TLB_NOTDIRTY": "(addr | TLB_NOTDIRTY",
            "addr_write = vaddr |": "addr_write = addr |",
            # Files and functions have other names.
            "sysemu/": "system/",
            "softmmu/icount.c": "accel/tcg/icount-common.c",
            '#include "hw/s390x/pv.h"': '#include "target/s390x/kvm/pv.h"',
            "qatomic_mb_set": "qatomic_set_mb",
        },
        hooks={"slots": _SLOTS, "lowprot": _LOWPROT, "port": _PORT},
        more=(BRCTH, PER_STORE),
    ),
    Step(
        "10.2",
        words={
            "void cpu_unmap_lowcore(LowCore": "void cpu_unmap_lowcore(CPUS390XState *env, LowCore",
            "cpu_unmap_lowcore(lowcore)": "cpu_unmap_lowcore(env, lowcore)",
            "cpu_unmap_lowcore_stored(LowCore *lowcore, hwaddr first, hwaddr end)": (
                "cpu_unmap_lowcore_stored(CPUS390XState *env, LowCore *lowcore,\n"
                "                              hwaddr first, hwaddr end)"
            ),
            "cpu_unmap_lowcore_stored(lowcore,": "cpu_unmap_lowcore_stored(env, lowcore,",
            "cpu_physical_memory_unmap((uint8_t *)lowcore + first, end - first, 1,\n"
            "                              end - first);": (
                "address_space_unmap(env_cpu(env)->as, (uint8_t *)lowcore + first,\n"
                "                        end - first, true, end - first);"
            ),
            "uint16_t select_slot(": "MMUIdxMap select_slot(",
            "uint16_t flush ": "MMUIdxMap flush ",
            "MO_TEUQ": "MO_BEUQ",
        },
        hooks={
            "lowprot": {
                "if ((addr & (TLB_INVALID_MASK | TLB_MMIO |": [
                    Hook(CPUTLB, "flags &= TLB_INVALID_MASK | TLB_MMIO | TLB_DISCARD_WRITE |",
                         "    /* An entry that was flushed has all bits one. */\n"
                         "    flags &= TLB_MMIO | TLB_DISCARD_WRITE | TLB_NOTDIRTY;\n", instead=1),
                ],
            },
            "port": _PORT_10_2,
        },
    ),
    Step("11.1", hooks={"port": _PORT_11_1}),
)  # fmt: skip


def _reworded(hook: Hook, words: dict[str, str], used: set[str]) -> Hook:
    parts = {
        "file": hook.file, "anchor": hook.anchor, "text": hook.text, "inside": hook.inside
    }  # fmt: skip
    for old, new in words.items():
        if any(old in part for part in parts.values()):
            used.add(old)
        parts = {name: part.replace(old, new) for name, part in parts.items()}
    return dataclasses.replace(hook, **parts)


def _stepped(changes: list[Change], step: Step) -> list[Change]:
    """The changes for the step's version; all that the step says must be of use."""
    used: set[str] = set()
    found = list(step.more)
    for change in changes:
        if change.name in step.has:
            used.add(change.name)
            continue
        other = dict(step.hooks.get(change.name, {}))
        hooks: list[Hook] = []
        placed: set[str] = set()
        for hook in change.hooks:
            if hook.anchor not in other:
                hooks.append(_reworded(hook, step.words, used))
            elif hook.anchor not in placed:
                placed.add(hook.anchor)
                hooks += [_reworded(new, step.words, used) for new in other[hook.anchor]]
        used |= {f"{change.name}: {anchor}" for anchor in placed}
        found.append(Change(change.name, hooks))
    said = {*step.has, *step.words}
    said |= {f"{name}: {anchor}" for name, places in step.hooks.items() for anchor in places}
    if said - used:
        raise HookError(f"the step to QEMU {step.version} has no use for {sorted(said - used)}")
    return found


def versions() -> list[str]:
    """Those that there are changes for."""
    return [FIRST, *(step.version for step in STEPS)]


def series_of(tree: Path, known: Iterable[str]) -> str:
    """Which of the *known* versions the source in *tree* is."""
    try:
        version = (tree / "VERSION").read_text(encoding="utf-8").strip()
    except OSError as error:
        raise HookError(f"{tree / 'VERSION'} cannot be read: {error.strerror}") from error
    series = ".".join(version.split(".")[:2])
    if series not in known:
        raise HookError(f"{tree} is QEMU {version}; there are changes for {', '.join(known)}")
    return series


def changes_for(version: str, changes: Iterable[Change]) -> list[Change]:
    """What remains for one of versions() of the *changes* for 7.2, in the same order."""
    found = list(changes)
    for step in STEPS[: versions().index(version)]:
        found = _stepped(found, step)
    return found
