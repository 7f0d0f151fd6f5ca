/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target/s390x: keep TLB entries when CR1 or CR7 changes
 *
 * LOAD CONTROL flushes the whole TLB.  Linux loads CR1 whenever it enters
 * and leaves the kernel, and CR7 whenever it changes to another process, so
 * no entry lives longer than that.  The architecture does not ask for a
 * flush: each entry belongs to an address-space-control element.
 *
 * Have several MMU indexes ("slots") for the primary and as many for the
 * secondary space.  A slot belongs to one address-space-control element.
 * Loading CR1 or CR7 selects the slot of the new one; if there is none, the
 * slot that has not been selected for the longest time gets it, and is
 * flushed.  Translated code has the index in it, so the slots in use are
 * part of the flags by which it is found.
 *
 * Other control registers flush if their value changes.  CR14 has no effect
 * on translation.
 *
 * LOAD CONTROL reads all of its operand before it changes a register: an
 * exception in the middle must not leave a register that differs from its
 * slot.
 *
 * SET PREFIX flushes everything, as the architecture says.  It left entries
 * of virtual pages that are mapped to the prefix area, and only the next
 * LOAD CONTROL removed them.
 */

//@ file: target/s390x/mmu_helper.c
//@ include: exec/cputlb.h

//@ file: target/s390x/cpu.h
//@ before: struct CPUArchState {
/* The address-space-control elements of CR1 or CR7 that have an MMU index. */
#define S390_SLOTS 6

typedef struct S390Slots {
    uint64_t asce[S390_SLOTS];
    uint64_t selected[S390_SLOTS];  /* when; the highest is the newest */
    unsigned now;                   /* asce[now] is the control register */
} S390Slots;

//@ after: uint64_t cregs[16]; /* control registers */
    S390Slots primary, secondary;

//@ after: #define FLAG_MASK_VECTOR
/* the slots of CR1 and CR7 that are in use */
#define FLAG_SHIFT_PRIMARY      4
#define FLAG_SHIFT_SECONDARY    7
#define FLAG_MASK_SLOT          7

//@ replace 4: #define MMU_PRIMARY_IDX
/* MMU; the first index of primary and secondary, which have S390_SLOTS each */
#define MMU_PRIMARY_IDX         0
#define MMU_SECONDARY_IDX       (MMU_PRIMARY_IDX + S390_SLOTS)
#define MMU_HOME_IDX            (MMU_SECONDARY_IDX + S390_SLOTS)
#define MMU_REAL_IDX            (MMU_HOME_IDX + 1)
QEMU_BUILD_BUG_ON(MMU_REAL_IDX >= NB_MMU_MODES);
QEMU_BUILD_BUG_ON(S390_SLOTS > FLAG_MASK_SLOT + 1);

//@ in: static inline int s390x_env_mmu_index(
//@ replace 18: if (ifetch) {
    switch (env->psw.mask & PSW_MASK_ASC) {
    case PSW_ASC_HOME:
        return MMU_HOME_IDX;
    case PSW_ASC_SECONDARY:
        if (!ifetch) {
            return MMU_SECONDARY_IDX + env->secondary.now;
        }
        break;
    }
    return MMU_PRIMARY_IDX + env->primary.now;

//@ file: target/s390x/cpu.c
//@ before: if (env->cregs[0] & CR0_AFP) {
    if (env->psw.mask & PSW_MASK_DAT) {
        if ((env->psw.mask & PSW_MASK_ASC) != PSW_ASC_HOME) {
            flags |= env->primary.now << FLAG_SHIFT_PRIMARY;
        }
        if ((env->psw.mask & PSW_MASK_ASC) == PSW_ASC_SECONDARY) {
            flags |= env->secondary.now << FLAG_SHIFT_SECONDARY;
        }
    }

//@ file: target/s390x/tcg/translate.c
//@ in: static int get_mem_index(
//@ replace: return MMU_PRIMARY_IDX;
        return MMU_PRIMARY_IDX +
               (s->base.tb->flags >> FLAG_SHIFT_PRIMARY & FLAG_MASK_SLOT);

//@ replace: return MMU_SECONDARY_IDX;
        return MMU_SECONDARY_IDX +
               (s->base.tb->flags >> FLAG_SHIFT_SECONDARY & FLAG_MASK_SLOT);

//@ file: target/s390x/tcg/excp_helper.c
//@ replace: case MMU_PRIMARY_IDX:
    case MMU_PRIMARY_IDX ... MMU_SECONDARY_IDX - 1:

//@ replace: case MMU_SECONDARY_IDX:
    case MMU_SECONDARY_IDX ... MMU_HOME_IDX - 1:

//@ file: target/s390x/tcg/mem_helper.c
//@ replace: static int mmu_idx_from_as(uint8_t as)
static int mmu_idx_from_as(CPUS390XState *env, uint8_t as)

//@ replace: return MMU_PRIMARY_IDX;
        return MMU_PRIMARY_IDX + env->primary.now;

//@ replace: return MMU_SECONDARY_IDX;
        return MMU_SECONDARY_IDX + env->secondary.now;

//@ replace: mmu_idx_from_as(src_as), ra);
                       mmu_idx_from_as(env, src_as), ra);

//@ replace: mmu_idx_from_as(dest_as), ra);
                       mmu_idx_from_as(env, dest_as), ra);

//@ in: uint32_t HELPER(mvcs)(
//@ replace: access_prepare(&srca, env, a2, l,
    access_prepare(&srca, env, a2, l, MMU_DATA_LOAD,
                   mmu_idx_from_as(env, AS_PRIMARY), ra);

//@ replace: access_prepare(&desta, env, a1, l,
    access_prepare(&desta, env, a1, l, MMU_DATA_STORE,
                   mmu_idx_from_as(env, AS_SECONDARY), ra);

//@ in: uint32_t HELPER(mvcp)(
//@ replace: access_prepare(&srca, env, a2, l,
    access_prepare(&srca, env, a2, l, MMU_DATA_LOAD,
                   mmu_idx_from_as(env, AS_SECONDARY), ra);

//@ replace: access_prepare(&desta, env, a1, l,
    access_prepare(&desta, env, a1, l, MMU_DATA_STORE,
                   mmu_idx_from_as(env, AS_PRIMARY), ra);

//@ file: target/s390x/s390x-internal.h
//@ before: int mmu_translate_real(CPUS390XState *env,
void s390_load_cregs(CPUS390XState *env, const uint64_t cregs[16]);
void s390_reset_slots(CPUS390XState *env);

//@ file: target/s390x/mmu_helper.c
//@ before: /* check whether the address would be proteted by Low-Address
/* Select the slot of an ASCE; return the MMU index to flush, as a bit, or 0. */
static uint32_t select_slot(S390Slots *slots, uint64_t asce, int first_index)
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
    uint32_t flush = 0;
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

//@ file: target/s390x/tcg/mem_helper.c
//@ in: void HELPER(lctlg)(
//@ before: bool PERchanged = false;
    uint64_t cregs[16];

//@ before: for (i = r1;; i = (i + 1) % 16) {
    memcpy(cregs, env->cregs, sizeof(cregs));

//@ before: if (PERchanged && env->psw.mask & PSW_MASK_PER) {
    s390_load_cregs(env, cregs);

//@ replace: tlb_flush(env_cpu(env));

//@ in: void HELPER(lctl)(
//@ before: bool PERchanged = false;
    uint64_t cregs[16];

//@ before: for (i = r1;; i = (i + 1) % 16) {
    memcpy(cregs, env->cregs, sizeof(cregs));

//@ before: if (PERchanged && env->psw.mask & PSW_MASK_PER) {
    s390_load_cregs(env, cregs);

//@ replace: tlb_flush(env_cpu(env));

//@ file: target/s390x/tcg/mem_helper.c
//@ replace: env->cregs[i] = val;
        cregs[i] = val;

//@ replace: env->cregs[i] = val64;
        cregs[i] = val64;

//@ file: target/s390x/gdbstub.c
//@ replace: tlb_flush(env_cpu(env));
            s390_reset_slots(env);

//@ file: target/s390x/machine.c
//@ before: /* Rearm the CKC timer if necessary */
        s390_reset_slots(&cpu->env);

//@ file: target/s390x/tcg/misc_helper.c
//@ replace 10: tlb_flush_page(cs, 0);
    tlb_flush(cs);
