/* SPDX-License-Identifier: MIT */
/* DIAGNOSE: which codes are CP's, and the trace record around each. */
#include <string.h>

#include "diag_private.h"
#include "zvmlab/iucv.h"
#include "zvmlab/input.h"

/* Every other code is left to the emulator, without a record. */
static const struct {
	uint16_t code;
	const char *name;
	diag_function *run;
	bool logical, external;
} codes[] = {
#define ROW(digits, what, ...) { 0x##digits, "diag." #digits, diag_##digits##_##what, __VA_ARGS__ },
#define DIAG_CODE(digits, what) ROW(digits, what, false, false)
#define DIAG_CODE_LOGICAL(digits, what) ROW(digits, what, true, false)
#define DIAG_CODE_EXTERNAL(digits, what) ROW(digits, what, false, true)
#include "zvmlab/diag_codes.def"
#undef DIAG_CODE
#undef ROW
};

static void trace_changed(struct cp *cp, const uint64_t before[16], const uint64_t after[16])
{
	static const char *const key[16] = {
		"gr0", "gr1", "gr2", "gr3", "gr4", "gr5", "gr6", "gr7",
		"gr8", "gr9", "gr10", "gr11", "gr12", "gr13", "gr14", "gr15",
	};

	for (unsigned int i = 0; i < 16; i++)
		if (before[i] != after[i])
			trace_hex(cp, key[i], after[i]);
}

static struct cp_result run(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
			    unsigned int r3, diag_function *function)
{
	if (insn->problem)
		return cp_program(PGM_PRIVILEGED);
	return function(cp, insn, r1, r3);
}

struct cp_result cp_diagnose(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
			     unsigned int r3, uint16_t code)
{
	struct cp_result result;
	uint64_t before[16];

	assert(insn->cpu < cp->config.cpus && r1 < 16 && r3 < 16);
	assert(!cp->system->recording);
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		if (codes[i].code != code)
			continue;
		if (codes[i].external && !cp->host.external)
			break;
		memcpy(before, insn->gr, sizeof(before));
		TRACE_INPUT_AS(cp, diagnose, codes[i].name, .cpu = insn->cpu, .r1 = r1, .r3 = r3,
			       .amode = insn->amode, .problem = insn->problem, .gr = insn->gr,
			       .has_asce = codes[i].logical && insn->dat && !insn->problem,
			       .asce = insn->asce);
		result = run(cp, insn, r1, r3, codes[i].run);
		trace_changed(cp, before, insn->gr);
		trace_end_result(cp, &result);
		iucv_dispatch(cp);
		return result;
	}
	return cp_pass();
}
