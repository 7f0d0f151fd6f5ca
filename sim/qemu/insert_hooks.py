#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Insert the lines by which QEMU 7.2 calls our device: insert_hooks.py TREE

Nothing of QEMU is replaced but single lines that are wrong.  Every insertion stands next
to one line of a file, found by a piece of its text that must occur in exactly one line,
of the file or of one function.  docs/qemu-port.md says why each is there, and
docs/qemu-corrections.md what is wrong in QEMU.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

TCG = "target/s390x/tcg"
INCLUDE = '#include "hw/s390x/zvmlab.h"\n'


class HookError(Exception):
    """The tree is not the QEMU that the hooks are made for."""


@dataclass(frozen=True)
class Hook:
    """Insert *text* before or after the one line of *file* that contains *anchor*.

    *instead*: put it in that line's place.  *inside*: look for the line only in what
    begins with the one line that contains this, and ends with the next "}" on its own.
    """

    file: str
    anchor: str
    text: str
    after: bool = False
    instead: bool = False
    inside: str = ""


def hooks(properties: str) -> list[Hook]:
    """All insertions; *properties* is the schema of the object's properties."""
    return [
        # The instruction B2F0; without IF_PRIV, since CP gives an operation exception.
        Hook(f"{TCG}/insn-data.h.inc", "F(0x8300, DIAG,",
             "    F(0xb2f0, IUCV,    S,     Z,   0, 0, 0, 0, zvmlab_iucv, 0, IF_IO)\n",
             after=True),
        Hook(f"{TCG}/translate.c", "static DisasJumpType op_diag(DisasContext",
             "static DisasJumpType op_zvmlab_iucv(DisasContext *s, DisasOps *o)\n"
             "{\n"
             "    update_cc_op(s);\n"
             "    gen_helper_zvmlab_iucv(cpu_env);\n"
             "    set_cc_static(s);\n"
             "    return DISAS_NEXT;\n"
             "}\n\n"),
        Hook("target/s390x/helper.h", "DEF_HELPER_4(diag,",
             "DEF_HELPER_1(zvmlab_iucv, void, env)\n", after=True),
        # The instruction B256, which QEMU does not have; programs in problem state use it.
        Hook(f"{TCG}/insn-data.h.inc", "C(0xb255, MVST,",
             "    F(0xb256, STHYI,   RRE,   Z,   0, 0, 0, 0, zvmlab_sthyi, 0, IF_IO)\n",
             after=True),
        Hook(f"{TCG}/translate.c", "static DisasJumpType op_diag(DisasContext",
             "static DisasJumpType op_zvmlab_sthyi(DisasContext *s, DisasOps *o)\n"
             "{\n"
             "    gen_helper_zvmlab_sthyi(cc_op, cpu_env,\n"
             "                            tcg_constant_i32(get_field(s, r1)),\n"
             "                            tcg_constant_i32(get_field(s, r2)));\n"
             "    set_cc_static(s);\n"
             "    return DISAS_NEXT;\n"
             "}\n\n"),
        Hook("target/s390x/helper.h", "DEF_HELPER_4(diag,",
             "DEF_HELPER_3(zvmlab_sthyi, i32, env, i32, i32)\n", after=True),
        Hook(f"{TCG}/misc_helper.c", "s390_get_feat_block(S390_FEAT_TYPE_STFL, stfl_bytes);",
             "    zvmlab_facilities(stfl_bytes);\n", after=True),
        # DIAGNOSE: the helper sees the condition code and may set it; its code is an address.
        Hook(f"{TCG}/translate.c", "gen_helper_diag(", "    update_cc_op(s);\n"),
        Hook(f"{TCG}/translate.c", "gen_helper_diag(", "    set_cc_static(s);\n", after=True),
        Hook(f"{TCG}/misc_helper.c", '#include "hw/s390x/tod.h"', INCLUDE, after=True),
        Hook(f"{TCG}/misc_helper.c", "switch (num) {",
             "    num = zvmlab_diag_code(env, num);\n"
             "    if (zvmlab_diag(env, r1, r3, num, GETPC())) {\n"
             "        return;\n"
             "    }\n"),
        # STORE SYSTEM INFORMATION, after the checks that come first.
        Hook(f"{TCG}/misc_helper.c", "== STSI_R0_FC_CURRENT) {",
             "    cc = zvmlab_stsi(env, a0, ra);\n"
             "    if (cc >= 0) {\n"
             "        return cc;\n"
             "    }\n"
             "    cc = 0;\n"),
        # QEMU waits for the addressed CPU within translated code, and may wait for ever.
        Hook(f"{TCG}/misc_helper.c", "cc = handle_sigp(env, order_code",
             "    zvmlab_sigp(env, order_code & SIGP_ORDER_MASK, r1, r3, GETPC());\n"),
        # The external interruption.
        Hook("target/s390x/cpu.h", "#define INTERRUPT_STOP ",
             "#define INTERRUPT_EXT_IUCV               (1 << 9)\n", after=True),
        Hook("target/s390x/interrupt.c", '#include "hw/s390x/s390_flic.h"', INCLUDE, after=True),
        Hook("target/s390x/interrupt.c", "if (qemu_s390_flic_has_service(flic) &&",
             "    if (zvmlab_ext_int(env)) {\n"
             "        return true;\n"
             "    }\n\n"),
        Hook(f"{TCG}/excp_helper.c", '#include "hw/s390x/s390_flic.h"', INCLUDE, after=True),
        Hook(f"{TCG}/excp_helper.c", "} else if (qemu_s390_flic_has_service(flic) &&",
             "    } else if (zvmlab_ext_int(env)) {\n"
             "        if (!zvmlab_take_ext_int(env)) {\n"
             "            cpu_unmap_lowcore(lowcore);\n"
             "            return;\n"
             "        }\n"
             "        lowcore->ext_int_code = cpu_to_be16(EXT_IUCV);\n"
             "        lowcore->cpu_addr = 0;\n"),
        # Access rights of pages.
        Hook("target/s390x/mmu_helper.c", '#include "hw/s390x/storage-keys.h"', INCLUDE,
             after=True),
        Hook("target/s390x/mmu_helper.c",
             "return address_space_access_valid(&address_space_memory,",
             "    if (!zvmlab_addressable(addr)) {\n"
             "        return false;\n"
             "    }\n"),
        Hook("target/s390x/mmu_helper.c", "mmu_handle_skey(*raddr, rw, flags);",
             "        if (zvmlab_protected(*raddr, rw == MMU_DATA_STORE, flags)) {\n"
             "            *tec |= 0x4;\n"
             "            return PGM_PROTECTION;\n"
             "        }\n"),
        Hook("target/s390x/mmu_helper.c", "mmu_handle_skey(*addr, rw, flags);",
             "    if (zvmlab_protected(*addr, rw == MMU_DATA_STORE, flags)) {\n"
             "        *tec = (raddr & TARGET_PAGE_MASK) | FS_WRITE | 0x4;\n"
             "        return PGM_PROTECTION;\n"
             "    }\n"),
        # QEMU 7.2 drops the translations at the first byte of a longer store only: what
        # MVC or MVCOS writes over a program would be executed as it was before.
        Hook("accel/tcg/cputlb.c", "notdirty_write(env_cpu(env), addr, 1, *pfull, retaddr);",
             "        notdirty_write(env_cpu(env), addr, -(addr | TARGET_PAGE_MASK), *pfull,\n"
             "                       retaddr);\n"),
        Hook("accel/tcg/cputlb.c", "notdirty_write(env_cpu(env), addr, 1, full, retaddr);",
             "            notdirty_write(env_cpu(env), addr, size, full, retaddr);\n"),
        # The same for what SIGNAL PROCESSOR is given: a prefix, a place for the status.
        Hook("target/s390x/sigp.c", '#include "trace.h"', INCLUDE, after=True),
        Hook("target/s390x/sigp.c", "if (!address_space_access_valid(&address_space_memory,",
             "    if (!zvmlab_reachable(addr, sizeof(struct LowCore), false)) {\n"
             "        set_sigp_status(si, SIGP_STAT_INVALID_PARAMETER);\n"
             "        return;\n"
             "    }\n"),
        Hook("target/s390x/helper.c", '#include "hw/s390x/pv.h"', INCLUDE, after=True),
        Hook("target/s390x/helper.c", "sa = cpu_physical_memory_map(addr, &len, true);",
             "    if (!zvmlab_reachable(addr, len, true)) {\n"
             "        return -EFAULT;\n"
             "    }\n", inside="int s390_store_status("),
        Hook("target/s390x/helper.c", "sa = cpu_physical_memory_map(addr, &save, true);",
             "    if (!zvmlab_reachable(addr, len, true)) {\n"
             "        return -EFAULT;\n"
             "    }\n", inside="int s390_store_adtl_status("),
        Hook(f"{TCG}/misc_helper.c", "if (!mmu_absolute_addr_valid(prefix, true)) {",
             "    if (!zvmlab_reachable(prefix, sizeof(struct LowCore), false)) {\n"
             "        tcg_s390_program_interrupt(env, PGM_ADDRESSING, GETPC());\n"
             "    }\n"),
        # With -icount the clock jumps over the time in which all CPUs wait.  QEMU lets it do so
        # while CPUs still take turns, and which one is next then depends on the host's threads.
        Hook("include/sysemu/cpu-timers.h", "void icount_start_warp_timer(void);",
             "extern bool icount_cpus_rest, icount_start_over;\n"),
        Hook("softmmu/icount.c", "void icount_start_warp_timer(void)",
             "/*\n"
             " * No CPU has its turn; the first one has the next turn, whose was next before.\n"
             " * Changed and read with the BQL held.\n"
             " */\n"
             "bool icount_cpus_rest, icount_start_over;\n\n"),
        Hook("softmmu/icount.c", "if (qtest_enabled()) {",
             "        if (!icount_cpus_rest || icount_start_over) {\n"
             "            return;\n"
             "        }\n"),
        Hook("accel/tcg/tcg-accel-ops-rr.c", "qatomic_mb_set(&rr_current_cpu, cpu);",
             "            icount_cpus_rest = false;\n"),
        Hook("accel/tcg/tcg-accel-ops-rr.c", "rr_stop_kick_timer();",
             "        icount_cpus_rest = true;\n", after=True),
        # Whose turn is next when the machine goes on depends on what the host did first.
        Hook("accel/tcg/tcg-accel-ops-rr.c", "        if (!cpu) {",
             "        if (icount_start_over) {\n"
             "            cpu = NULL;\n"
             "            rr_stop_kick_timer();\n"
             "            rr_start_kick_timer();\n"
             "            icount_start_over = cpu_is_stopped(first_cpu);\n"
             "        }\n"),
        # A CPU whose turn begins when a timer is due would have no time at all, again and again.
        Hook("accel/tcg/tcg-accel-ops-rr.c", "if (cpu_can_run(cpu)) {",
             "            if (icount_enabled()) {\n"
             "                qatomic_set(&rr_current_cpu, NULL);\n"
             "                icount_handle_deadline();\n"
             "                if (cpu->exit_request) {\n"
             "                    break;\n"
             "                }\n"
             "                qatomic_set(&rr_current_cpu, cpu);\n"
             "            }\n\n"),
        # Timers of the host's clock shorten the time that a CPU may run, again by chance.
        Hook("accel/tcg/tcg-accel-ops-icount.c", "if ((deadline < 0) || (deadline > INT32_MAX)) {",
             "        deadline = qemu_clock_deadline_ns_all(QEMU_CLOCK_VIRTUAL,\n"
             "                                              QEMU_TIMER_ATTR_ALL);\n"),
        # A disabled wait: of the last CPU only QEMU says so itself.
        Hook("target/s390x/helper.c", "if (s390_cpu_halt(cpu) == 0) {",
             "    zvmlab_wait(&cpu->env);\n"),
        # Resets.
        Hook("target/s390x/cpu.c", '#include "sysemu/tcg.h"', INCLUDE, after=True),
        Hook("target/s390x/cpu.c", "cpu->env.sigp_order = 0;",
             "    zvmlab_reset_cpu(&cpu->env);\n", after=True),
        Hook("hw/s390x/s390-virtio-ccw.c", '#include "hw/s390x/tod.h"', INCLUDE, after=True),
        Hook("hw/s390x/s390-virtio-ccw.c", "s390_cmma_reset();", "    zvmlab_reset();\n",
             after=True),
        # The object and our directory.
        Hook("qapi/qom.json", "# @ObjectType:", properties),
        Hook("qapi/qom.json", "    'throttle-group',", "    'zvmlab-cp',\n"),
        Hook("qapi/qom.json", "'throttle-group':  ",
             "      'zvmlab-cp':                  'ZvmlabCpProperties',\n"),
        Hook("hw/s390x/meson.build", "hw_arch += {'s390x': s390x_ss}", "subdir('zvmlab')\n\n"),
    ]  # fmt: skip


def corrections() -> list[Hook]:
    """What is wrong in QEMU 7.2 itself and guests can meet, by file."""
    return [
        # TCG, whatever the guest.
        # An output that is written before all inputs have been read must not be in the
        # register of another input: VECTOR CHECKSUM's additions came out wrong.
        Hook("tcg/tcg.c", "i_preferred_regs = o_preferred_regs;",
             "            for (int other = nb_oargs;\n"
             "                 nb_oargs > 1 && other < nb_oargs + nb_iargs; other++) {\n"
             "                if (op->args[other] == arg && !def->args_ct[other].ialias) {\n"
             "                    goto allocate_in_reg;\n"
             "                }\n"
             "            }\n"),
        # A constant that is not as wide as a vector fills all of it.
        Hook("tcg/tcg.c", "tcg_target_ulong val = its->val;",
             "        val = dup_const(vece, val);\n", after=True),
        # The constants of one translation do not go where those of the last one went.
        Hook("tcg/tcg.c", "s->code_ptr = s->code_buf;",
             "    s->data_gen_ptr = NULL;\n", after=True),
        # Nothing is known of the sign if no bit is known to repeat it.
        Hook("tcg/optimize.c", "if (!(z_mask & sign)) {",
             "        if (sign != 0 && !(z_mask & sign)) {\n", instead=True),
        # Another thread may have woken the CPU by now.
        Hook("accel/tcg/tcg-accel-ops-mttcg.c", "g_assert(cpu->halted);",
             "                /* It need not be halted any more. */\n", instead=True),
        Hook("accel/tcg/cputlb.c", "if (!VICTIM_TLB_HIT(addr_write, addr)) {",
             "            if (!VICTIM_TLB_HIT(addr_read, addr)) {\n", instead=True,
             inside="} else /* if (prot & PAGE_READ) */ {"),
        # Code that jumps to itself would go on for ever after it has been dropped.
        Hook("accel/tcg/tb-maint.c", "pprev = &dest->jmp_list_head;",
             "    if (dest == orig) {\n"
             "        tb_reset_jump(orig, n_orig);\n"
             "    }\n"),
        # Instructions: operands.
        Hook(f"{TCG}/insn-data.h.inc", "C(0xc605, CHRL,",
             "    C(0xc605, CHRL,    RIL_b, GIE, r1_o, mri2_16s, 0, 0, 0, cmps32)\n",
             instead=True),
        Hook(f"{TCG}/insn-data.h.inc", "C(0xc604, CGHRL,",
             "    C(0xc604, CGHRL,   RIL_b, GIE, r1_o, mri2_16s, 0, 0, 0, cmps64)\n",
             instead=True),
        Hook(f"{TCG}/translate.c", "static void in2_mri2_16u(",
             "static void in2_mri2_16s(DisasContext *s, DisasOps *o)\n"
             "{\n"
             "    in2_ri2(s, o);\n"
             "    tcg_gen_qemu_ld16s(o->in2, o->in2, get_mem_index(s));\n"
             "}\n"
             "#define SPEC_in2_mri2_16s 0\n\n"),
        Hook(f"{TCG}/insn-data.h.inc", "C(0xe727, LCBB,",
             "    C(0xe727, LCBB,    RXE,   V,   la2, 0, new, r1_32, lcbb, 0)\n", instead=True),
        Hook(f"{TCG}/insn-data.h.inc", "C(0xb9e0, LOCFHR,",
             "    C(0xb9e0, LOCFHR,  RRF_c, LOC2, r1_sr32, r2_sr32, new, r1_32h, loc, 0)\n",
             instead=True),
        Hook(f"{TCG}/insn-data.h.inc", "F(0xb324, LDER,",
             "    F(0xb324, LDER,    RRE,   Z,   0, e2, new, f1, lde, 0, IF_AFP1)\n", instead=True),
        Hook(f"{TCG}/insn-data.h.inc", "D(0xb93c, PPNO,",
             "    E(0xb93c, PPNO,    RRE,   MSA5, 0, 0, 0, 0, msa, 0,"
             " S390_FEAT_TYPE_PPNO, IF_IO)\n", instead=True),
        # Behind register 15 there is none.
        Hook(f"{TCG}/translate.c", "gen_helper_cksm(",
             "    if (r2 & 1) {\n"
             "        gen_program_exception(s, PGM_SPECIFICATION);\n"
             "        return DISAS_NORETURN;\n"
             "    }\n"),
        Hook(f"{TCG}/translate.c", "offsetof(CPUS390XState, aregs[1])",
             "    tcg_gen_st32_i64(ar1, cpu_env,\n"
             "                     offsetof(CPUS390XState, aregs[get_field(s, r1)]));\n",
             instead=True),
        Hook(f"{TCG}/translate.c", "o->out = tcg_temp_new_i64();",
             "        tcg_gen_mov_i64(o->out, regs[get_field(s, r1)]);\n", after=True,
             inside="static DisasJumpType op_rosbg("),
        Hook(f"{TCG}/translate.c", "tcg_gen_shli_i64(t1, t1, 32);",
             "    /* Bit 12 of a short PSW is one; its bit 32 is the addressing mode. */\n"
             "    tcg_gen_xori_i64(t1, t1, PSW_MASK_SHORTPSW);\n"
             "    tcg_gen_andi_i64(o->in2, t2, PSW_MASK_32);\n"
             "    tcg_gen_or_i64(t1, t1, o->in2);\n"
             "    tcg_gen_andi_i64(t2, t2, PSW_MASK_SHORT_ADDR);\n", after=True,
             inside="static DisasJumpType op_lpsw("),
        # Condition codes.
        Hook(f"{TCG}/translate.c", "tcg_gen_shri_i64(t, psw_mask, 32);",
             "    gen_op_calc_cc(s);\n"
             "    tcg_gen_extu_i32_i64(t, cc_op);\n"
             "    tcg_gen_deposit_i64(psw_mask, psw_mask, t, 44, 2);\n",
             inside="static DisasJumpType op_epsw("),
        # What the condition code was computed from is needed if STOC's store is refused.
        Hook(f"{TCG}/translate.c", "set_cc_static(s);", "    s->cc_op = CC_OP_STATIC;\n",
             instead=True, inside="static void gen_op_calc_cc("),
        # The same for STCK's and STCKF's store, which follows.
        Hook(f"{TCG}/translate.c", "gen_op_movi_cc(s, 0);", "    s->cc_op = CC_OP_CONST0;\n",
             instead=True, inside="static DisasJumpType op_stck("),
        Hook(f"{TCG}/translate.c", "set_cc_static(s);",
             "    /* The condition code stays what it is, however it is kept. */\n",
             instead=True, inside="static DisasJumpType op_tr("),
        Hook(f"{TCG}/translate.c", "tcg_gen_extrl_i64_i32(cc_op, cc);", "    set_cc_static(s);\n",
             after=True, inside="static DisasJumpType op_csp("),
        # What the condition code is computed from changes when both operands are there.
        Hook(f"{TCG}/translate.c", "TCGv_i32 vl;",
             "    TCGv_i64 cc_src = tcg_temp_new_i64(), cc_dst = tcg_temp_new_i64();\n",
             after=True, inside="static DisasJumpType op_clc("),
        Hook(f"{TCG}/translate.c", "tcg_gen_add_i64(o->out, o->in1, o->in2);",
             "    if (s->fields.op2 == 0xea) { /* LAALG: the carry */\n"
             "        tcg_gen_setcond_i64(TCG_COND_LTU, cc_src, o->out, o->in2);\n"
             "    }\n", after=True, inside="static DisasJumpType op_laa("),
        # Floating point.
        Hook(f"{TCG}/fpu_helper.c", "float32_to_float64(f2, &env->fpu_status);",
             "    f1 = float32_to_float64(f1 >> 32, &env->fpu_status);\n", after=True,
             inside="uint64_t HELPER(mdeb)("),
        Hook(f"{TCG}/fpu_helper.c", "ret = float128_mul(make_float128(ah, al), ret,",
             "    ret = float128_mul(float64_to_float128(ah, &env->fpu_status), ret,\n"
             "                       &env->fpu_status);\n", instead=True,
             inside="uint64_t HELPER(mxdb)("),
        Hook(f"{TCG}/fpu_helper.c", "s390_exc |= (exc & float_flag_inexact)",
             "    s390_exc |= (exc & float_flag_invalid_cvti) ? S390_IEEE_MASK_INEXACT : 0;\n",
             after=True),
        # Vectors.
        Hook(f"{TCG}/translate_vx.c.inc", "gen_helper_gvec_3_ptr *fn;",
             "    if (m6 == 13) {\n"
             "        gen_program_exception(s, PGM_SPECIFICATION);\n"
             "        return DISAS_NORETURN;\n"
             "    }\n", after=True, inside="static DisasJumpType op_vfmax("),
        Hook(f"{TCG}/vec_helper.c", "probe_write_access(env, addr, bytes, GETPC());",
             "    probe_write_access(env, addr, MIN(bytes, 16), GETPC());\n", instead=True,
             inside="void HELPER(vstl)("),
        # Without a match the result is 16; a string that ends has no partial match.
        Hook(f"{TCG}/vec_string_helper.c", "cc = eos; /* no match",
             "            k = nelem;\n", after=True),
        Hook(f"{TCG}/vec_string_helper.c", "if (k == str_elen - 1) {",
             "        if (k == nelem - 1) {\n", instead=True),
        # A CPU with random numbers for Linux to move its kernel by.
        Hook("target/s390x/gen-features.c", "S390_FEAT_PRNO_TRNG,",
             "    S390_FEAT_KMC_PRNG,\n"),
        Hook(f"{TCG}/crypto_helper.c", '#include "s390x-internal.h"', INCLUDE),
        Hook(f"{TCG}/crypto_helper.c", "case 114: /* CPACF_PRNO_TRNG */",
             "    case 67: /* KMC's pseudorandom numbers */\n"
             "        return zvmlab_kmc_prng(env, r1, r2, ra);\n"),
        # Storage and time.
        # Access-register mode ended QEMU, which has no access lists: the primary space.
        Hook("target/s390x/cpu.h", "    case PSW_ASC_ACCREG:", "", instead=True,
             inside="static inline int cpu_mmu_index("),
        Hook("target/s390x/cpu.h", "    case PSW_ASC_PRIMARY:", "    case PSW_ASC_ACCREG:\n",
             inside="static inline int cpu_mmu_index("),
        Hook("target/s390x/mmu_helper.c", "    case PSW_ASC_ACCREG:", "", instead=True),
        Hook("target/s390x/mmu_helper.c", "    case PSW_ASC_PRIMARY:",
             "    case PSW_ASC_ACCREG:\n", inside="int mmu_translate(CPUS390XState *env,"),
        Hook(f"{TCG}/translate.c", "case PSW_ASC_PRIMARY >> FLAG_MASK_PSW_SHIFT:",
             "    case PSW_ASC_ACCREG >> FLAG_MASK_PSW_SHIFT:\n",
             inside="static int get_mem_index("),
        # A storage characteristic of 0 is one byte, which is always aligned.
        Hook(f"{TCG}/mem_helper.c", "if (extract32(a1, 0, fc + 2) || extract32(a2, 0, sc)) {",
             "    if ((a1 & ((4u << fc) - 1)) || (a2 & ((1u << sc) - 1))) {\n", instead=True),
        Hook(f"{TCG}/mem_helper.c", "env->regs[r3] = deposit64(env->regs[r3], 32, 32, ov);",
             "            env->regs[r3] = deposit64(env->regs[r3], 0, 32, ov);\n", instead=True),
        Hook(f"{TCG}/mem_helper.c", "    l++;", "    l &= 0xff;\n",
             inside="void HELPER(mvcrl)("),
        Hook(f"{TCG}/misc_helper.c", "timer_mod(env->tod_timer, time);",
             "    if (env->ckc < td->base.low) {\n"
             "        time = 0;\n"
             "    }\n", inside="static void update_ckc_timer("),
        # STORE CPU ID: the CPU's address is the first digit of the identification.
        Hook("target/s390x/cpu_models.c", "deposit64(cpu->env.cpuid, 54, 4,",
             "        cpu->env.cpuid = deposit64(cpu->env.cpuid, 52, 4, cpu->env.core_id);\n",
             instead=True),
    ]  # fmt: skip


def _only(file: str, lines: list[str], piece: str, span: range) -> int:
    """The one line of *span* that contains *piece*."""
    places = [i for i in span if piece in lines[i]]
    if len(places) != 1:
        raise HookError(
            f"{file}: the line with '{piece}' occurs {len(places)} times instead of"
            " once; this is not the QEMU that the hooks are made for"
        )
    return places[0]


def insert(text: str, hook: Hook) -> str:
    """The text of a file with the hook's lines in it."""
    lines = text.splitlines(keepends=True)
    span = range(len(lines))
    if hook.inside:
        first = _only(hook.file, lines, hook.inside, span)
        ends = (i for i in span[first:] if lines[i].rstrip() == "}")
        span = range(first, next(ends, len(lines)))
    at = _only(hook.file, lines, hook.anchor, span) + hook.after
    return "".join([*lines[:at], hook.text, *lines[at + hook.instead :]])


def apply(tree: Path, all_hooks: list[Hook]) -> None:
    """Insert all, or change nothing if one of them does not fit."""
    texts: dict[str, str] = {}
    for hook in all_hooks:
        try:
            text = texts.get(hook.file) or (tree / hook.file).read_text(encoding="utf-8")
        except OSError as error:
            raise HookError(f"{tree / hook.file} cannot be read: {error.strerror}") from error
        if hook.file not in texts and "zvmlab" in text:
            raise HookError(f"{tree / hook.file} has the hooks already")
        texts[hook.file] = insert(text, hook)
    for file, text in texts.items():
        (tree / file).write_text(text, encoding="utf-8")


def main(argv: list[str]) -> int:
    """Return: exit code."""
    if len(argv) != 2:
        print(f"usage: {argv[0]} TREE", file=sys.stderr)
        return 2
    properties = (Path(__file__).parent / "qapi.json").read_text(encoding="utf-8")
    licence, _, properties = properties.partition("\n")
    if "SPDX-License-Identifier" not in licence:
        raise HookError("qapi.json must begin with its licence line")
    try:
        apply(Path(argv[1]), hooks(properties) + corrections())
    except HookError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
