# SPDX-License-Identifier: GPL-2.0-or-later
"""What makes QEMU 7.2 faster and changes nothing that a guest sees: docs/qemu-speed.md.

CHANGES is the one list of them; patches.py has a message for each.  Each can be left out of a build by its name:
``ZVMLAB_QEMU_WITHOUT="slots lowcore" make ...``; the builds are kept side by side.
"""

from __future__ import annotations

from hook import TCG, Change, Hook

S390X = "target/s390x"
CPUTLB = "accel/tcg/cputlb.c"


def _stored(file: str, function: str, first: str, last: str) -> Hook:
    """*function* stores into the lowcore from member *first* to member *last*."""
    return Hook(file, "cpu_unmap_lowcore(lowcore);",
                f"    cpu_unmap_lowcore_stored(lowcore, offsetof(LowCore, {first}),\n"
                f"                             offsetof(LowCore, {last}) +\n"
                f"                             sizeof(lowcore->{last}));\n",
                instead=1, inside=f"{function}(CPUS390XState *env")  # fmt: skip


# What loading control registers does to slots and TLB.
SELECT = """\
/* Select the slot of an ASCE; return the MMU index to flush, as a bit, or 0. */
static uint16_t select_slot(S390Slots *slots, uint64_t asce, int first_index)
{
    uint64_t newest = slots->selected[slots->now];
    int i, oldest = 0;

    for (i = 0; i < S390_SLOTS; i++) {
        if (slots->asce[i] == asce) {
            break;
        }
        if (slots->selected[i] < slots->selected[oldest]) {
            oldest = i;
        }
    }
    slots->now = i < S390_SLOTS ? i : oldest;
    slots->asce[slots->now] = asce;
    slots->selected[slots->now] = newest + 1;
    return i < S390_SLOTS ? 0 : 1 << (first_index + slots->now);
}

/* All control registers at once; flush what is translated differently now. */
void s390_load_cregs(CPUS390XState *env, const uint64_t cregs[16])
{
    uint16_t flush = 0;
    int i;

    for (i = 0; i < 16; i++) {
        if (env->cregs[i] == cregs[i]) {
            continue;
        }
        env->cregs[i] = cregs[i];
        switch (i) {
        case 1:
            flush |= select_slot(&env->primary, cregs[i], MMU_PRIMARY_IDX);
            break;
        case 7:
            flush |= select_slot(&env->secondary, cregs[i], MMU_SECONDARY_IDX);
            break;
        case 14:
            break;
        default:
            flush = -1;
        }
    }
    if (flush) {
        tlb_flush_by_mmuidx(env_cpu(env), flush & ((1 << NB_MMU_MODES) - 1));
    }
}

/* CR1 and CR7 were changed in another way than by loading them. */
void s390_reset_slots(CPUS390XState *env)
{
    memset(&env->primary, 0, sizeof(env->primary));
    memset(&env->secondary, 0, sizeof(env->secondary));
    env->primary.asce[0] = env->cregs[1];
    env->secondary.asce[0] = env->cregs[7];
    tlb_flush(env_cpu(env));
}

"""

# Lines of cpu_mmu_index() that slots replace.
CPU_MMU_INDEX = 19

LOWCORE = Change(
    "lowcore",
    [
        Hook(f"{S390X}/s390x-internal.h", "void cpu_unmap_lowcore(LowCore *lowcore);",
             "void cpu_unmap_lowcore_stored(LowCore *lowcore, hwaddr first, hwaddr end);\n",
             after=True),
        Hook(f"{S390X}/helper.c", "void do_restart_interrupt(CPUS390XState *env)",
             "/* Nothing was stored before offset @first, and nothing from offset @end on. */\n"
             "void cpu_unmap_lowcore_stored(LowCore *lowcore, hwaddr first, hwaddr end)\n"
             "{\n"
             "    assert(first < end && end <= sizeof(LowCore));\n"
             "    cpu_physical_memory_unmap((uint8_t *)lowcore + first, end - first, 1,\n"
             "                              end - first);\n"
             "}\n\n"),
        _stored(f"{S390X}/helper.c", "void do_restart_interrupt",
                "restart_old_psw", "restart_old_psw"),
        _stored(f"{TCG}/excp_helper.c", "static void do_program_interrupt",
                "pgm_ilen", "program_old_psw"),
        _stored(f"{TCG}/excp_helper.c", "static void do_svc_interrupt",
                "svc_ilen", "svc_old_psw"),
        _stored(f"{TCG}/excp_helper.c", "static void do_ext_interrupt",
                "ext_params", "external_old_psw"),
        _stored(f"{TCG}/excp_helper.c", "static void do_io_interrupt",
                "subchannel_id", "io_old_psw"),
        _stored(f"{TCG}/excp_helper.c", "static void do_mchk_interrupt",
                "ar_access_id", "cregs_save_area"),
        Hook(f"{TCG}/misc_helper.c", "cpu_unmap_lowcore(lowcore);",
             "        cpu_unmap_lowcore_stored(lowcore, offsetof(LowCore, subchannel_id),\n"
             "                                 offsetof(LowCore, io_int_word) +\n"
             "                                 sizeof(lowcore->io_int_word));\n",
             instead=1, inside="uint32_t HELPER(tpi)("),
        _stored(f"{TCG}/misc_helper.c", "void HELPER(stfl)", "stfl_fac_list", "stfl_fac_list"),
    ],
)  # fmt: skip

SIZES = Change(
    "sizes",
    [
        Hook(CPUTLB, "void *probe_access(CPUArchState *env, target_ulong addr, int size,",
             "int probe_access_sized(CPUArchState *env, target_ulong addr, int size,\n"
             "                       MMUAccessType access_type, int mmu_idx,\n"
             "                       bool nonfault, void **phost, uintptr_t retaddr)\n"
             "{\n"
             "    CPUTLBEntryFull *full;\n"
             "    int flags = probe_access_internal(env, addr, size, access_type, mmu_idx,\n"
             "                                      nonfault, phost, &full, retaddr);\n\n"
             "    if (unlikely(flags & TLB_NOTDIRTY)) {\n"
             "        notdirty_write(env_cpu(env), addr, size, full, retaddr);\n"
             "    }\n"
             "    return flags & ~TLB_NOTDIRTY;\n"
             "}\n\n"),
        Hook("include/exec/exec-all.h", " * probe_access_full:",
             " * probe_access_sized:\n"
             " * Like probe_access_flags(), for an access to @size bytes of one page:\n"
             " * if it is a store, no other translation than theirs is dropped.\n"
             " */\n"
             "int probe_access_sized(CPUArchState *env, target_ulong addr, int size,\n"
             "                       MMUAccessType access_type, int mmu_idx,\n"
             "                       bool nonfault, void **phost, uintptr_t retaddr);\n\n"
             "/**\n"),
        Hook(f"{TCG}/mem_helper.c",
             "flags = probe_access_flags(env, addr, access_type, mmu_idx, nonfault, phost,",
             "    flags = probe_access_sized(env, addr, size, access_type, mmu_idx, nonfault,\n"
             "                               phost, ra);\n", instead=2),
    ],
)  # fmt: skip

SLOTS = Change(
    "slots",
    [
        Hook(f"{S390X}/cpu-param.h", "#define NB_MMU_MODES", "#define NB_MMU_MODES 14\n", instead=1),
        Hook(f"{S390X}/cpu.h", "struct CPUArchState {",
             "/* The address-space-control elements of CR1 or CR7 that have an MMU index. */\n"
             "#define S390_SLOTS 6\n\n"
             "typedef struct S390Slots {\n"
             "    uint64_t asce[S390_SLOTS];\n"
             "    uint64_t selected[S390_SLOTS];  /* when; the highest is the newest */\n"
             "    unsigned now;                   /* asce[now] is the control register */\n"
             "} S390Slots;\n\n"),
        Hook(f"{S390X}/cpu.h", "uint64_t cregs[16]; /* control registers */",
             "    S390Slots primary, secondary;\n", after=True),
        Hook(f"{S390X}/cpu.h", "#define FLAG_MASK_VECTOR ",
             "\n/* the slots of CR1 and CR7 that are in use */\n"
             "#define FLAG_SHIFT_PRIMARY      2\n"
             "#define FLAG_SHIFT_SECONDARY    5\n"
             "#define FLAG_MASK_SLOT          7\n", after=True),
        Hook(f"{S390X}/cpu.h", "#define MMU_PRIMARY_IDX ",
             "/* MMU; the first index of primary and secondary, which have S390_SLOTS each */\n"
             "#define MMU_PRIMARY_IDX         0\n"
             "#define MMU_SECONDARY_IDX       (MMU_PRIMARY_IDX + S390_SLOTS)\n"
             "#define MMU_HOME_IDX            (MMU_SECONDARY_IDX + S390_SLOTS)\n"
             "#define MMU_REAL_IDX            (MMU_HOME_IDX + 1)\n"
             "QEMU_BUILD_BUG_ON(MMU_REAL_IDX + 1 != NB_MMU_MODES);\n"
             "QEMU_BUILD_BUG_ON(S390_SLOTS > FLAG_MASK_SLOT + 1);\n", instead=4),
        Hook(f"{S390X}/cpu.h", "    if (ifetch) {",
             "    switch (env->psw.mask & PSW_MASK_ASC) {\n"
             "    case PSW_ASC_HOME:\n"
             "        return MMU_HOME_IDX;\n"
             "    case PSW_ASC_SECONDARY:\n"
             "        if (!ifetch) {\n"
             "            return MMU_SECONDARY_IDX + env->secondary.now;\n"
             "        }\n"
             "        break;\n"
             "    }\n"
             "    return MMU_PRIMARY_IDX + env->primary.now;\n", instead=CPU_MMU_INDEX,
             inside="static inline int cpu_mmu_index("),
        Hook(f"{S390X}/cpu.h", "if (env->cregs[0] & CR0_AFP) {",
             "    if (env->psw.mask & PSW_MASK_DAT) {\n"
             "        if ((env->psw.mask & PSW_MASK_ASC) != PSW_ASC_HOME) {\n"
             "            *flags |= env->primary.now << FLAG_SHIFT_PRIMARY;\n"
             "        }\n"
             "        if ((env->psw.mask & PSW_MASK_ASC) == PSW_ASC_SECONDARY) {\n"
             "            *flags |= env->secondary.now << FLAG_SHIFT_SECONDARY;\n"
             "        }\n"
             "    }\n"),
        Hook(f"{TCG}/translate.c", "return MMU_PRIMARY_IDX;",
             "        return MMU_PRIMARY_IDX +\n"
             "               (s->base.tb->flags >> FLAG_SHIFT_PRIMARY & FLAG_MASK_SLOT);\n",
             instead=1, inside="static int get_mem_index("),
        Hook(f"{TCG}/translate.c", "return MMU_SECONDARY_IDX;",
             "        return MMU_SECONDARY_IDX +\n"
             "               (s->base.tb->flags >> FLAG_SHIFT_SECONDARY & FLAG_MASK_SLOT);\n",
             instead=1, inside="static int get_mem_index("),
        Hook(f"{TCG}/excp_helper.c", "case MMU_PRIMARY_IDX:",
             "    case MMU_PRIMARY_IDX ... MMU_SECONDARY_IDX - 1:\n", instead=1),
        Hook(f"{TCG}/excp_helper.c", "case MMU_SECONDARY_IDX:",
             "    case MMU_SECONDARY_IDX ... MMU_HOME_IDX - 1:\n", instead=1),
        # Helpers that name a space.
        Hook(f"{TCG}/mem_helper.c", "static int mmu_idx_from_as(uint8_t as)",
             "static int mmu_idx_from_as(CPUS390XState *env, uint8_t as)\n", instead=1),
        Hook(f"{TCG}/mem_helper.c", "return MMU_PRIMARY_IDX;",
             "        return MMU_PRIMARY_IDX + env->primary.now;\n", instead=1),
        Hook(f"{TCG}/mem_helper.c", "return MMU_SECONDARY_IDX;",
             "        return MMU_SECONDARY_IDX + env->secondary.now;\n", instead=1),
        Hook(f"{TCG}/mem_helper.c", "mmu_idx_from_as(src_as), ra);",
             "                                         mmu_idx_from_as(env, src_as), ra);\n",
             instead=1),
        Hook(f"{TCG}/mem_helper.c", "mmu_idx_from_as(dest_as), ra);",
             "                                          mmu_idx_from_as(env, dest_as), ra);\n",
             instead=1),
        *(
            Hook(f"{TCG}/mem_helper.c", f"{operand} = access_prepare(env, {address}, l,",
                 f"    {operand} = access_prepare(env, {address}, l, {access},\n"
                 f"{' ' * (len(operand) + 22)}mmu_idx_from_as(env, {space}), ra);\n",
                 instead=1, inside=f"uint32_t HELPER({helper})(")
            for helper, from_, to in (("mvcs", "AS_PRIMARY", "AS_SECONDARY"),
                                      ("mvcp", "AS_SECONDARY", "AS_PRIMARY"))
            for operand, address, access, space in (("srca", "a2", "MMU_DATA_LOAD", from_),
                                                    ("desta", "a1", "MMU_DATA_STORE", to))
        ),
        # Loading control registers.
        Hook(f"{S390X}/s390x-internal.h", "int mmu_translate_real(CPUS390XState *env,",
             "void s390_load_cregs(CPUS390XState *env, const uint64_t cregs[16]);\n"
             "void s390_reset_slots(CPUS390XState *env);\n"),
        Hook(f"{S390X}/mmu_helper.c", "/* check whether the address would be proteted by Low-Address",
             SELECT),
        *(
            hook
            for helper in ("lctlg", "lctl")
            for hook in (
                Hook(f"{TCG}/mem_helper.c", "bool PERchanged = false;",
                     "    uint64_t cregs[16];\n", inside=f"void HELPER({helper})("),
                Hook(f"{TCG}/mem_helper.c", "for (i = r1;; i = (i + 1) % 16) {",
                     "    memcpy(cregs, env->cregs, sizeof(cregs));\n",
                     inside=f"void HELPER({helper})("),
                Hook(f"{TCG}/mem_helper.c", "if (PERchanged && env->psw.mask & PSW_MASK_PER) {",
                     "    s390_load_cregs(env, cregs);\n", inside=f"void HELPER({helper})("),
                Hook(f"{TCG}/mem_helper.c", "    tlb_flush(env_cpu(env));", "", instead=1,
                     inside=f"void HELPER({helper})("),
            )
        ),
        Hook(f"{TCG}/mem_helper.c", "env->cregs[i] = val;", "        cregs[i] = val;\n", instead=1),
        Hook(f"{TCG}/mem_helper.c", "env->cregs[i] = deposit64(env->cregs[i], 0, 32, val);",
             "        cregs[i] = deposit64(cregs[i], 0, 32, val);\n", instead=1),
        Hook(f"{S390X}/gdbstub.c", "tlb_flush(env_cpu(env));",
             "            s390_reset_slots(env);\n", instead=1),
        Hook(f"{S390X}/machine.c", "/* Rearm the CKC timer if necessary */",
             "        s390_reset_slots(&cpu->env);\n"),
        Hook(f"{TCG}/misc_helper.c", "tlb_flush_page(cs, 0);", "    tlb_flush(cs);\n", instead=10),
    ],
)  # fmt: skip

LOWPROT = Change(
    "lowprot",
    [
        Hook(f"{S390X}/cpu-param.h", "#define NB_MMU_MODES",
             "/* Only so many bytes of a page with PAGE_WRITE_INV: low-address protection. */\n"
             "#define TARGET_PAGE_WRITE_INV_BYTES 512\n"),
        # The address of an entry for stores, without the bit if the store may use the entry.
        Hook(CPUTLB, "static void notdirty_write(CPUState *cpu, vaddr mem_vaddr,", """\
/*
 * The address for comparison in an entry for stores.  An entry of a
 * PAGE_WRITE_INV page is marked invalid, but holds for a store that begins
 * after the bytes to be checked.  (An entry that was flushed has all bits one.)
 */
static inline target_ulong tlb_addr_for_store(target_ulong tlb_addr,
                                              target_ulong addr)
{
#ifdef TARGET_PAGE_WRITE_INV_BYTES
    if (unlikely(tlb_addr & TLB_INVALID_MASK) && tlb_addr != (target_ulong)-1 &&
        (addr & ~TARGET_PAGE_MASK) >= TARGET_PAGE_WRITE_INV_BYTES) {
        return tlb_addr & ~TLB_INVALID_MASK;
    }
#endif
    return tlb_addr;
}

"""),
        Hook(CPUTLB, "    flags = TLB_FLAGS_MASK;",
             "    if (access_type == MMU_DATA_STORE) {\n"
             "        tlb_addr = tlb_addr_for_store(tlb_addr, addr);\n"
             "    }\n"),
        Hook(CPUTLB, "tlb_addr = tlb_addr_write(tlbe);",
             "        tlb_addr = tlb_addr_for_store(tlb_addr_write(tlbe), addr);\n", instead=1),
        Hook(CPUTLB, "tlb_addr = tlb_addr_write(entry);",
             "    tlb_addr = tlb_addr_for_store(tlb_addr_write(entry), addr);\n", instead=1,
             inside="store_helper(CPUArchState *env, target_ulong addr, uint64_t val,"),
        # Such an entry must be marked when its page gets code, and unmarked, like others.
        Hook(CPUTLB, "if ((addr & (TLB_INVALID_MASK | TLB_MMIO |",
             "    /* An entry that was flushed has all bits one. */\n"
             "    if ((addr & (TLB_MMIO |\n", instead=1),
        Hook(CPUTLB, "if (tlb_entry->addr_write == (vaddr | TLB_NOTDIRTY)) {",
             "    if (tlb_entry->addr_write == (vaddr | TLB_NOTDIRTY | TLB_INVALID_MASK)) {\n"
             "        tlb_entry->addr_write = vaddr | TLB_INVALID_MASK;\n"
             "    }\n"),
    ],
)  # fmt: skip

BEAR = Change(
    "bear",
    [
        Hook(f"{TCG}/insn-data.h.inc", "F(0xb2b2, LPSWE,",
             "/* LOAD PSW EXTENDED (without a breaking event) */\n"
             "    F(0xeb71, LPSWEY,  SIY,   BEAR, la1, 0, 0, 0, lpswey, 0, IF_PRIV)\n"
             "/* LOAD BEAR, STORE BEAR */\n"
             "    F(0xb200, LBEAR,   S,     BEAR, 0, m2_64a, 0, 0, lbear, 0, IF_PRIV)\n"
             "    F(0xb201, STBEAR,  S,     BEAR, la2, 0, new, m1_64a, stbear, 0, IF_PRIV)\n",
             after=True),
        Hook(f"{TCG}/translate.c", "#define FAC_AIS ",
             "#define FAC_BEAR        S390_FEAT_BEAR_ENH /* BEAR-enhancement facility */\n"),
        Hook(f"{TCG}/translate.c", "static DisasJumpType op_lpswe(", """\
static DisasJumpType op_lpswey(DisasContext *s, DisasOps *o)
{
    TCGv_i64 mask = tcg_temp_new_i64();
    TCGv_i64 addr = tcg_temp_new_i64();

    tcg_gen_qemu_ld_i64(mask, o->addr1, get_mem_index(s), MO_TEUQ | MO_ALIGN_8);
    tcg_gen_addi_i64(o->addr1, o->addr1, 8);
    tcg_gen_qemu_ld64(addr, o->addr1, get_mem_index(s));
    gen_helper_load_psw(cpu_env, mask, addr);
    return DISAS_NORETURN;
}

static DisasJumpType op_lbear(DisasContext *s, DisasOps *o)
{
    tcg_gen_mov_i64(gbea, o->in2);
    return DISAS_NEXT;
}

static DisasJumpType op_stbear(DisasContext *s, DisasOps *o)
{
    tcg_gen_mov_i64(o->out, gbea);
    return DISAS_NEXT;
}

"""),
        Hook(f"{S390X}/gen-features.c", "S390_FEAT_PRNO_TRNG,", "    S390_FEAT_BEAR_ENH,\n",
             after=True),
    ],
)  # fmt: skip

CHANGES = (LOWCORE, SIZES, SLOTS, LOWPROT, BEAR)
