/* SPDX-License-Identifier: MIT */
/* Instructions that the port executes instead of Hercules, or around Hercules' own. */
#ifndef ZVMLAB_HERCULES_INSN_H
#define ZVMLAB_HERCULES_INSN_H

#include "port.h"

/* DIAGNOSE code that loads the machine again. */
#define DIAG_IPL 0x308

/** Second operand of the formats S and RS: base and displacement, not wrapped. */
uint64_t insn_operand(const BYTE inst[], const REGS *regs);

/* insn.c: CP's own. */
DEF_INST(zvmlab_iucv);
DEF_INST(zvmlab_diagnose);
DEF_INST(zvmlab_store_system_information);
DEF_INST(zvmlab_store_hypervisor_information);
DEF_INST(zvmlab_store_cpu_id);

/** Facilities that CP has for its guest, in Hercules' list of them.  False: it has no place. */
bool insn_set_facilities(void);

/* around.c: Hercules', with something before or after. */
DEF_INST(zvmlab_branch_on_condition_register);
DEF_INST(zvmlab_load_control);
DEF_INST(zvmlab_load_control_long);
DEF_INST(zvmlab_store_control);
DEF_INST(zvmlab_store_control_long);
DEF_INST(zvmlab_signal_processor);
DEF_INST(zvmlab_set_prefix);
DEF_INST(zvmlab_test_protection);
DEF_INST(zvmlab_insert_storage_key_extended);
DEF_INST(zvmlab_set_storage_key_extended);
DEF_INST(zvmlab_reset_reference_bit_extended);

#endif
