# SPDX-License-Identifier: GPL-2.0-or-later
"""The lines by which QEMU 7.2 calls our device: docs/qemu-port.md says why each is there."""

from __future__ import annotations

from hook import INCLUDE, TCG, Change, Hook


def port(properties: str) -> Change:
    """All insertions; *properties* is the schema of the object's properties."""
    return Change("port", [
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
             "#define INTERRUPT_EXT_IUCV               (1 << 9)\n"
             "#define INTERRUPT_EXT_CP                 (1 << 10)\n", after=True),
        Hook("target/s390x/interrupt.c", '#include "hw/s390x/s390_flic.h"', INCLUDE, after=True),
        Hook("target/s390x/interrupt.c", "if (qemu_s390_flic_has_service(flic) &&",
             "    if (zvmlab_ext_int(env) || zvmlab_own_int(env)) {\n"
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
        # Those of CP's own: the first is of the instruction that has just been nullified.
        Hook(f"{TCG}/excp_helper.c", "if ((env->pending_int & INTERRUPT_EMERGENCY_SIGNAL) &&",
             "    if (zvmlab_own_int(env)) {\n"
             "        if (!zvmlab_take_external(env, lowcore)) {\n"
             "            cpu_unmap_lowcore(lowcore);\n"
             "            return;\n"
             "        }\n"
             "    } else\n"),
        # Pages that CP has paged out.
        Hook(f"{TCG}/excp_helper.c", "tlb_set_page(cs, address & TARGET_PAGE_MASK, raddr, prot,",
             "        zvmlab_page(env, raddr, probe, retaddr);\n"),
        Hook("target/s390x/cpu.c", "return s390_cpu_has_int(cpu);",
             "    if (zvmlab_held(&cpu->env)) {\n"
             "        return false;\n"
             "    }\n"),
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
        # A CPU that is loaded need not throw translations away: checkpoint.c knows which of them
        # still hold.  Only "loadvm" replaces storage behind their back.
        Hook("cpu.c", '#include "exec/cpu-common.h"', '#include "sysemu/runstate.h"\n'),
        Hook("cpu.c", "    tb_flush(cpu);",
             "    if (runstate_check(RUN_STATE_RESTORE_VM)) {\n"
             "        tb_flush(cpu);\n"
             "    }\n", instead=1, inside="static int cpu_common_post_load("),
        # Kernel and image: a guest that is restored needs them only if it restarts.
        Hook("hw/core/loader.c", "rom->data     = g_malloc0(rom->datasize);",
             "    rom->mapped_file = g_mapped_file_new_from_fd(fd, true, NULL);\n"
             "    if (rom->mapped_file) {\n"
             "        rom->data = (uint8_t *)g_mapped_file_get_contents(rom->mapped_file);\n"
             "    }\n"
             "    rc = rom->mapped_file ? rom->datasize : -1;\n",
             instead=3, inside="ssize_t rom_add_file("),
        # Resets.
        Hook("target/s390x/cpu.c", '#include "sysemu/tcg.h"', INCLUDE, after=True),
        Hook("target/s390x/cpu.c", "cpu->env.sigp_order = 0;",
             "    zvmlab_reset_cpu(&cpu->env);\n", after=True),
        Hook("hw/s390x/s390-virtio-ccw.c", '#include "hw/s390x/tod.h"', INCLUDE, after=True),
        Hook("hw/s390x/s390-virtio-ccw.c", "s390_cmma_reset();", "    zvmlab_reset();\n",
             after=True),
        # A CPU with random numbers for Linux to move its kernel by.
        Hook("target/s390x/gen-features.c", "S390_FEAT_PRNO_TRNG,",
             "    S390_FEAT_KMC_PRNG,\n"),
        Hook(f"{TCG}/crypto_helper.c", '#include "s390x-internal.h"', INCLUDE),
        Hook(f"{TCG}/crypto_helper.c", "case 114: /* CPACF_PRNO_TRNG */",
             "    case 67: /* KMC's pseudorandom numbers */\n"
             "        return zvmlab_kmc_prng(env, r1, r2, ra);\n"),
        # The object and our directory.
        Hook("qapi/qom.json", "# @ObjectType:", properties),
        Hook("qapi/qom.json", "    'throttle-group',", "    'zvmlab-cp',\n"),
        Hook("qapi/qom.json", "'throttle-group':  ",
             "      'zvmlab-cp':                  'ZvmlabCpProperties',\n"),
        Hook("hw/s390x/meson.build", "hw_arch += {'s390x': s390x_ss}", "subdir('zvmlab')\n\n"),
    ])  # fmt: skip
