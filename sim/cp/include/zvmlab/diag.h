/* SPDX-License-Identifier: MIT */
/* DIAGNOSE codes and STSI, dispatched by cp_diagnose() and cp_stsi(); see cp.h. */
#ifndef ZVMLAB_DIAG_H
#define ZVMLAB_DIAG_H

#include "zvmlab/cp.h"

/** One DIAGNOSE code's function. */
typedef struct cp_result diag_function(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
				       unsigned int r3);

diag_function diag_00_extended_id, diag_08_command, diag_0c_timer, diag_10_release_pages,
	diag_44_yield, diag_64_segments, diag_9c_yield_to, diag_dc_appldata, diag_204_cpu_use,
	diag_210_device, diag_224_names, diag_258_pfault, diag_260_storage, diag_288_time_bomb,
	diag_2fc_guests;

#endif
