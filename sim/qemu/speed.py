# SPDX-License-Identifier: GPL-2.0-or-later
"""What makes QEMU 7.2 faster and changes nothing that a guest sees: docs/qemu-speed.md.

CHANGES is the one list of them.  Each can be left out of a build by its name:
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


LOWCORE = Change(
    name="lowcore",
    subject="target/s390x: report only what an interruption stores as written",
    message="""
An interruption stores some dozen bytes into the lowcore, but all 8 KiB of it are reported
as written when it is unmapped.  So each interruption throws away all translated code in
these two pages.  Linux has some there: the LPSWE by which it goes back to user space.
It is translated again after each system call.

Report the bytes from the first to the last that the interruption stores into.
""",
    hooks=[
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
    name="sizes",
    subject="target/s390x: say how much a helper stores",
    message="""
probe_access_flags() does not know how much will be stored, so it drops the translations of
all code from there to the end of the page.  s390_probe_access() knows it: hand it down.
""",
    hooks=[
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

CHANGES = (LOWCORE, SIZES)
