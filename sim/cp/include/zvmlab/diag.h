/* SPDX-License-Identifier: MIT */
/* DIAGNOSE codes and STSI, dispatched by cp_diagnose() and cp_stsi(); see cp.h. */
#ifndef ZVMLAB_DIAG_H
#define ZVMLAB_DIAG_H

#include "zvmlab/cp.h"

/** One DIAGNOSE code's function. */
typedef struct cp_result diag_function(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
				       unsigned int r3);

#define DIAG_CODE(digits, what) diag_function diag_##digits##_##what;
#include "zvmlab/diag_codes.def"
#undef DIAG_CODE

#endif
