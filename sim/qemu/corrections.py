# SPDX-License-Identifier: GPL-2.0-or-later
"""What is wrong in QEMU 7.2: docs/qemu-corrections.md says what, and which of it is tested.

patches.py has a message for each of them.
"""

from __future__ import annotations

from hook import TCG, Change, Hook

CSS = "hw/s390x/css.c"

CHANGES = (
    Change("early-output", [
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
    ]),
    Change("wide-constant", [
        # A constant that is not as wide as a vector fills all of it.
        Hook("tcg/tcg.c", "tcg_target_ulong val = its->val;",
             "        val = dup_const(vece, val);\n", after=True),
    ]),
    Change("constants", [
        # The constants of one translation do not go where those of the last one went.
        Hook("tcg/tcg.c", "s->code_ptr = s->code_buf;",
             "    s->data_gen_ptr = NULL;\n", after=True),
    ]),
    Change("sign", [
        # Nothing is known of the sign if no bit is known to repeat it.
        Hook("tcg/optimize.c", "if (!(z_mask & sign)) {",
             "        if (sign != 0 && !(z_mask & sign)) {\n", instead=1),
    ]),
    Change("woken", [
        # Another thread may have woken the CPU by now.
        Hook("accel/tcg/tcg-accel-ops-mttcg.c", "g_assert(cpu->halted);",
             "                /* It need not be halted any more. */\n", instead=1),
    ]),
    Change("victim", [
        Hook("accel/tcg/cputlb.c", "if (!VICTIM_TLB_HIT(addr_write, addr)) {",
             "            if (!VICTIM_TLB_HIT(addr_read, addr)) {\n", instead=1,
             inside="} else /* if (prot & PAGE_READ) */ {"),
    ]),
    Change("self-jump", [
        # Code that jumps to itself would go on for ever after it has been dropped.
        Hook("accel/tcg/tb-maint.c", "pprev = &dest->jmp_list_head;",
             "    if (dest == orig) {\n"
             "        tb_reset_jump(orig, n_orig);\n"
             "    }\n"),
    ]),
    Change("mvc", [
        Hook("accel/tcg/cputlb.c", "notdirty_write(env_cpu(env), addr, 1, *pfull, retaddr);",
             "        notdirty_write(env_cpu(env), addr, -(addr | TARGET_PAGE_MASK), *pfull,\n"
             "                       retaddr);\n", instead=1),
        Hook("accel/tcg/cputlb.c", "notdirty_write(env_cpu(env), addr, 1, full, retaddr);",
             "            notdirty_write(env_cpu(env), addr, size, full, retaddr);\n", instead=1),
    ]),
    Change("halfword", [
        # Instructions: operands.
        Hook(f"{TCG}/insn-data.h.inc", "C(0xc605, CHRL,",
             "    C(0xc605, CHRL,    RIL_b, GIE, r1_o, mri2_16s, 0, 0, 0, cmps32)\n",
             instead=1),
        Hook(f"{TCG}/insn-data.h.inc", "C(0xc604, CGHRL,",
             "    C(0xc604, CGHRL,   RIL_b, GIE, r1_o, mri2_16s, 0, 0, 0, cmps64)\n",
             instead=1),
        Hook(f"{TCG}/translate.c", "static void in2_mri2_16u(",
             "static void in2_mri2_16s(DisasContext *s, DisasOps *o)\n"
             "{\n"
             "    in2_ri2(s, o);\n"
             "    tcg_gen_qemu_ld16s(o->in2, o->in2, get_mem_index(s));\n"
             "}\n"
             "#define SPEC_in2_mri2_16s 0\n\n"),
    ]),
    Change("lcbb", [
        Hook(f"{TCG}/insn-data.h.inc", "C(0xe727, LCBB,",
             "    C(0xe727, LCBB,    RXE,   V,   la2, 0, new, r1_32, lcbb, 0)\n", instead=1),
    ]),
    Change("locfhr", [
        Hook(f"{TCG}/insn-data.h.inc", "C(0xb9e0, LOCFHR,",
             "    C(0xb9e0, LOCFHR,  RRF_c, LOC2, r1_sr32, r2_sr32, new, r1_32h, loc, 0)\n",
             instead=1),
    ]),
    Change("lder", [
        Hook(f"{TCG}/insn-data.h.inc", "F(0xb324, LDER,",
             "    F(0xb324, LDER,    RRE,   Z,   0, e2, new, f1, lde, 0, IF_AFP1)\n", instead=1),
    ]),
    Change("ppno", [
        Hook(f"{TCG}/insn-data.h.inc", "D(0xb93c, PPNO,",
             "    E(0xb93c, PPNO,    RRE,   MSA5, 0, 0, 0, 0, msa, 0,"
             " S390_FEAT_TYPE_PPNO, IF_IO)\n", instead=1),
    ]),
    Change("cksm", [
        # Behind register 15 there is none.
        Hook(f"{TCG}/translate.c", "gen_helper_cksm(",
             "    if (r2 & 1) {\n"
             "        gen_program_exception(s, PGM_SPECIFICATION);\n"
             "        return DISAS_NORETURN;\n"
             "    }\n"),
    ]),
    Change("lae", [
        Hook(f"{TCG}/translate.c", "offsetof(CPUS390XState, aregs[1])",
             "    tcg_gen_st32_i64(ar1, cpu_env,\n"
             "                     offsetof(CPUS390XState, aregs[get_field(s, r1)]));\n",
             instead=1),
    ]),
    Change("rosbg", [
        Hook(f"{TCG}/translate.c", "o->out = tcg_temp_new_i64();",
             "        tcg_gen_mov_i64(o->out, regs[get_field(s, r1)]);\n", after=True,
             inside="static DisasJumpType op_rosbg("),
    ]),
    Change("lpsw", [
        Hook(f"{TCG}/translate.c", "tcg_gen_shli_i64(t1, t1, 32);",
             "    /* Bit 12 of a short PSW is one; its bit 32 is the addressing mode. */\n"
             "    tcg_gen_xori_i64(t1, t1, PSW_MASK_SHORTPSW);\n"
             "    tcg_gen_andi_i64(o->in2, t2, PSW_MASK_32);\n"
             "    tcg_gen_or_i64(t1, t1, o->in2);\n"
             "    tcg_gen_andi_i64(t2, t2, PSW_MASK_SHORT_ADDR);\n", after=True,
             inside="static DisasJumpType op_lpsw("),
    ]),
    Change("execute", [
        # What is relative under EXECUTE counts from the target, but links and falls through
        # after the EXECUTE.  The target is no part of what translated code is found by, so
        # the code reads it.
        Hook("target/s390x/cpu.h", "    uint64_t ex_value;",
             "    uint64_t ex_target;  /* address of the instruction in ex_value */\n",
             after=True),
        Hook("target/s390x/machine.c", "    .version_id = 1,", "    .version_id = 2,\n", instead=1,
             inside="const VMStateDescription vmstate_exval = {"),
        Hook("target/s390x/machine.c", "VMSTATE_UINT64(env.ex_value, S390CPU),",
             "        VMSTATE_UINT64_V(env.ex_target, S390CPU, 2),\n", after=True),
        Hook(f"{TCG}/mem_helper.c", "    env->ex_value = insn | ilen;",
             "    env->ex_target = addr;\n"),
        Hook(f"{TCG}/translate.c", "static TCGv_i64 get_address(DisasContext *s, int x2,",
             "/* The address @halfwords away from an instruction that EXECUTE executes. */\n"
             "static TCGv_i64 relative_to_target(DisasContext *s, int64_t halfwords)\n"
             "{\n"
             "    TCGv_i64 address = tcg_temp_new_i64();\n"
             "\n"
             "    tcg_gen_ld_i64(address, cpu_env, offsetof(CPUS390XState, ex_target));\n"
             "    gen_addi_and_wrap_i64(s, address, address, halfwords * 2);\n"
             "    return address;\n"
             "}\n\n"),
        Hook(f"{TCG}/translate.c", "    TCGLabel *lab;",
             "    TCGv_i64 relative = NULL;\n", inside="static DisasJumpType help_branch("),
        Hook(f"{TCG}/translate.c", "/* Take care of the special cases first.  */",
             "    if (is_imm && unlikely(s->ex_value)) {\n"
             "        is_imm = false;\n"
             "        cdest = relative = relative_to_target(s, imm);\n"
             "    }\n\n"),
        Hook(f"{TCG}/translate.c", "    free_compare(c);",
             "    if (relative) {\n"
             "        tcg_temp_free_i64(relative);\n"
             "    }\n", inside="static DisasJumpType help_branch("),
        Hook(f"{TCG}/translate.c", "return help_goto_direct(s, s->base.pc_next +",
             "    if (unlikely(s->ex_value)) {\n"
             "        TCGv_i64 relative = relative_to_target(s, get_field(s, i2));\n"
             "\n"
             "        tcg_gen_mov_i64(psw_addr, relative);\n"
             "        tcg_temp_free_i64(relative);\n"
             "        per_branch(s, false);\n"
             "        return DISAS_PC_UPDATED;\n"
             "    }\n"),
        Hook(f"{TCG}/translate.c", "o->in2 = tcg_const_i64(s->base.pc_next +",
             "    if (unlikely(s->ex_value)) {\n"
             "        o->in2 = relative_to_target(s, get_field(s, i2));\n"
             "        return;\n"
             "    }\n", inside="static void in2_ri2("),
    ]),
    Change("epsw", [
        # Condition codes.
        Hook(f"{TCG}/translate.c", "tcg_gen_shri_i64(t, psw_mask, 32);",
             "    gen_op_calc_cc(s);\n"
             "    tcg_gen_extu_i32_i64(t, cc_op);\n"
             "    tcg_gen_deposit_i64(psw_mask, psw_mask, t, 44, 2);\n",
             inside="static DisasJumpType op_epsw("),
    ]),
    Change("stoc", [
        # What the condition code was computed from is needed if STOC's store is refused.
        Hook(f"{TCG}/translate.c", "set_cc_static(s);", "    s->cc_op = CC_OP_STATIC;\n",
             instead=1, inside="static void gen_op_calc_cc("),
    ]),
    Change("stck", [
        # The same for STCK's and STCKF's store, which follows.
        Hook(f"{TCG}/translate.c", "gen_op_movi_cc(s, 0);", "    s->cc_op = CC_OP_CONST0;\n",
             instead=1, inside="static DisasJumpType op_stck("),
    ]),
    Change("tr", [
        Hook(f"{TCG}/translate.c", "set_cc_static(s);",
             "    /* The condition code stays what it is, however it is kept. */\n",
             instead=1, inside="static DisasJumpType op_tr("),
    ]),
    Change("csp", [
        Hook(f"{TCG}/translate.c", "tcg_gen_extrl_i64_i32(cc_op, cc);", "    set_cc_static(s);\n",
             after=True, inside="static DisasJumpType op_csp("),
    ]),
    Change("clc", [
        # What the condition code is computed from changes when both operands are there.
        Hook(f"{TCG}/translate.c", "TCGv_i32 vl;",
             "    TCGv_i64 cc_src = tcg_temp_new_i64(), cc_dst = tcg_temp_new_i64();\n",
             after=True, inside="static DisasJumpType op_clc("),
    ]),
    Change("laalg", [
        Hook(f"{TCG}/translate.c", "tcg_gen_add_i64(o->out, o->in1, o->in2);",
             "    if (s->fields.op2 == 0xea) { /* LAALG: the carry */\n"
             "        tcg_gen_setcond_i64(TCG_COND_LTU, cc_src, o->out, o->in2);\n"
             "    }\n", after=True, inside="static DisasJumpType op_laa("),
    ]),
    Change("mdeb", [
        # Floating point.
        Hook(f"{TCG}/fpu_helper.c", "float32_to_float64(f2, &env->fpu_status);",
             "    f1 = float32_to_float64(f1 >> 32, &env->fpu_status);\n", after=True,
             inside="uint64_t HELPER(mdeb)("),
        Hook(f"{TCG}/fpu_helper.c", "ret = float128_mul(make_float128(ah, al), ret,",
             "    ret = float128_mul(float64_to_float128(ah, &env->fpu_status), ret,\n"
             "                       &env->fpu_status);\n", instead=1,
             inside="uint64_t HELPER(mxdb)("),
    ]),
    Change("inexact", [
        Hook(f"{TCG}/fpu_helper.c", "s390_exc |= (exc & float_flag_inexact)",
             "    s390_exc |= (exc & float_flag_invalid_cvti) ? S390_IEEE_MASK_INEXACT : 0;\n",
             after=True),
    ]),
    Change("vfmax", [
        # Vectors.
        Hook(f"{TCG}/translate_vx.c.inc", "gen_helper_gvec_3_ptr *fn;",
             "    if (m6 == 13) {\n"
             "        gen_program_exception(s, PGM_SPECIFICATION);\n"
             "        return DISAS_NORETURN;\n"
             "    }\n", after=True, inside="static DisasJumpType op_vfmax("),
    ]),
    Change("vstl", [
        Hook(f"{TCG}/vec_helper.c", "probe_write_access(env, addr, bytes, GETPC());",
             "    probe_write_access(env, addr, MIN(bytes, 16), GETPC());\n", instead=1,
             inside="void HELPER(vstl)("),
    ]),
    Change("vstrs", [
        # Without a match the result is 16; a string that ends has no partial match.
        Hook(f"{TCG}/vec_string_helper.c", "cc = eos; /* no match",
             "            k = nelem;\n", after=True),
        Hook(f"{TCG}/vec_string_helper.c", "if (k == str_elen - 1) {",
             "        if (k == nelem - 1) {\n", instead=1),
    ]),
    Change("accreg", [
        # Storage and time.
        # Access-register mode ended QEMU, which has no access lists: the primary space.
        Hook("target/s390x/cpu.h", "    case PSW_ASC_ACCREG:", "", instead=1,
             inside="static inline int cpu_mmu_index("),
        Hook("target/s390x/cpu.h", "    case PSW_ASC_PRIMARY:", "    case PSW_ASC_ACCREG:\n",
             inside="static inline int cpu_mmu_index("),
        Hook("target/s390x/mmu_helper.c", "    case PSW_ASC_ACCREG:", "", instead=1),
        Hook("target/s390x/mmu_helper.c", "    case PSW_ASC_PRIMARY:",
             "    case PSW_ASC_ACCREG:\n", inside="int mmu_translate(CPUS390XState *env,"),
        Hook(f"{TCG}/translate.c", "case PSW_ASC_PRIMARY >> FLAG_MASK_PSW_SHIFT:",
             "    case PSW_ASC_ACCREG >> FLAG_MASK_PSW_SHIFT:\n",
             inside="static int get_mem_index("),
    ]),
    Change("csst", [
        # A storage characteristic of 0 is one byte, which is always aligned.
        Hook(f"{TCG}/mem_helper.c", "if (extract32(a1, 0, fc + 2) || extract32(a2, 0, sc)) {",
             "    if ((a1 & ((4u << fc) - 1)) || (a2 & ((1u << sc) - 1))) {\n", instead=1),
        Hook(f"{TCG}/mem_helper.c", "env->regs[r3] = deposit64(env->regs[r3], 32, 32, ov);",
             "            env->regs[r3] = deposit64(env->regs[r3], 0, 32, ov);\n", instead=1),
    ]),
    Change("mvcrl", [
        Hook(f"{TCG}/mem_helper.c", "    l++;", "    l &= 0xff;\n",
             inside="void HELPER(mvcrl)("),
    ]),
    Change("ckc", [
        Hook(f"{TCG}/misc_helper.c", "timer_mod(env->tod_timer, time);",
             "    if (env->ckc < td->base.low) {\n"
             "        time = 0;\n"
             "    }\n", inside="static void update_ckc_timer("),
    ]),
    Change("stidp", [
        # STORE CPU ID: the CPU's address is the first digit of the identification.
        Hook("target/s390x/cpu_models.c", "deposit64(cpu->env.cpuid, 54, 4,",
             "        cpu->env.cpuid = deposit64(cpu->env.cpuid, 52, 4, cpu->env.core_id);\n",
             instead=1),
    ]),
    Change("io-pending", [
        # Channel subsystem.
        # A subchannel has one interruption pending at most, and a subclass one of adapters.
        Hook("hw/intc/s390_flic.c", "io = g_new0(QEMUS390FlicIO, 1);",
             "    if (io_int_word & IO_INT_WORD_AI) {\n"
             "        QLIST_FOREACH(io, &flic->io[isc], next) {\n"
             "            if (io->word == io_int_word) {\n"
             "                return;\n"
             "            }\n"
             "        }\n"
             "    } else {\n"
             "        qemu_s390_clear_io_flic(fs, subchannel_id, subchannel_nr);\n"
             "    }\n"),
        # It is taken back with the status; CSCH's takes the place of the one before.
        Hook(CSS, "/* Clear pending sense data. */",
             "        css_clear_io_interrupt(css_build_subchannel_id(sch), sch->schid);\n"),
        Hook(CSS, "copy_schib_from_guest(&schib_copy, orig_schib);",
             "    css_clear_io_interrupt(css_build_subchannel_id(sch), sch->schid);\n"),
        Hook(CSS, "memset(&schib->scsw, 0, sizeof(schib->scsw));",
             "    css_clear_io_interrupt(css_build_subchannel_id(sch), sch->schid);\n"),
    ]),
    Change("crw-lost", [
        # Channel report words beyond so many are lost, and the next one says so.
        Hook(CSS, "void css_crw_add_to_queue(CRW crw)",
             "#define CRWS_MAX 512\n\n"),
        Hook(CSS, "/* TODO: Maybe use a static crw pool? */",
             "    QTAILQ_FOREACH(crw_cont, &channel_subsys.pending_crws, sibling) {\n"
             "        queued++;\n"
             "    }\n"
             "    crw_cont = queued < CRWS_MAX ? g_try_new0(CrwContainer, 1) : NULL;\n", instead=2),
        Hook(CSS, "CrwContainer *crw_cont;", "    unsigned int queued = 0;\n", after=True,
             inside="void css_crw_add_to_queue(CRW crw)"),
    ]),
    Change("endless", [
        # A channel program runs with QEMU's lock held: one that has no end would stop QEMU.
        Hook(CSS, "static void sch_handle_start_func_virtual(SubchDev *sch)",
             "/* CCWs of a channel program; one that has more ends with a program check. */\n"
             "#define CCWS_MAX 65536\n\n"),
        Hook(CSS, "bool suspend_allowed;", "    unsigned int left = CCWS_MAX;\n", after=True,
             inside="static void sch_handle_start_func_virtual(SubchDev *sch)"),
        Hook(CSS, "ret = css_interpret_ccw(sch, sch->channel_prog, suspend_allowed);",
             "        ret = left-- == 0 ? -EINVAL :\n"
             "            css_interpret_ccw(sch, sch->channel_prog, suspend_allowed);\n",
             instead=1),
    ]),
)  # fmt: skip
