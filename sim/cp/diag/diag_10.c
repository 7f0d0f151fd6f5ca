/* SPDX-License-Identifier: MIT */
/* DIAGNOSE X'10': the guest gives pages back; they are zero when it uses them again. */
#include "diag_private.h"
#include "kasan.h"
#include "zvmlab/fault.h"
#include "zvmlab/storage.h"

/* Pages of the guest's own storage and nothing else, from first to last? */
static bool own_storage(struct cp *cp, uint64_t first, uint64_t last)
{
	assert(first <= last && last <= UINT64_MAX - CP_PAGE_SIZE);
	for (uint64_t page = first; page <= last; page += CP_PAGE_SIZE)
		if (!storage_own(cp, page))
			return false;
	return true;
}

static struct cp_result release(struct cp *cp, int cpu, uint64_t first, uint64_t last)
{
	for (uint64_t page = first; page <= last; page += CP_PAGE_SIZE) {
		void *host = storage_map(cp, cpu, page, CP_PAGE_SIZE);

		if (!host)
			return cp_program(PGM_ADDRESSING);
		storage_clear_page(cp, cpu, page, host);
		kasan_check(cp, "writes", page, CP_PAGE_SIZE);
	}
	return cp_done();
}

struct cp_result diag_10_release_pages(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
				       unsigned int r3)
{
	uint64_t first = diag_address(insn, r1), last = diag_address(insn, r3);
	struct fault_action fault;

	if (first % CP_PAGE_SIZE != 0 || last % CP_PAGE_SIZE != 0 || first > last || first == 0)
		return cp_program(PGM_SPECIFICATION);
	/* last is a page of storage, so that the walks end before the address wraps. */
	if (!storage_own(cp, last) || !own_storage(cp, first, last))
		return cp_program(PGM_SPECIFICATION);
	fault = fault_of_guest(cp, FAULT_DIAG10_RELEASE, "");
	if (fault.kind == FAULT_PGM)
		return cp_program((uint16_t)fault.value);
	assert(fault.kind == FAULT_NONE || fault.kind == FAULT_DROP);
	return fault.kind == FAULT_DROP ? cp_done() : release(cp, (int)insn->cpu, first, last);
}
