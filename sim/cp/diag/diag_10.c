/* SPDX-License-Identifier: MIT */
/* DIAGNOSE X'10': the guest gives pages back; they are zero when it uses them again. */
#include <string.h>

#include "diag_private.h"
#include "zvmlab/storage.h"

/* Pages of the guest's own storage and nothing else, from first to last? */
static bool own_storage(struct cp *cp, uint64_t first, uint64_t last)
{
	assert(first <= last && last <= UINT64_MAX - CP_PAGE_SIZE);
	for (uint64_t page = first; page <= last; page += CP_PAGE_SIZE)
		if (dcss_page_access(cp, page) != CP_ACCESS_NONE ||
		    !storage_overlaps(cp, page, page))
			return false;
	return true;
}

struct cp_result diag_10_release_pages(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
				       unsigned int r3)
{
	uint64_t first = diag_address(insn, r1), last = diag_address(insn, r3);
	int cpu = (int)insn->cpu;

	if (first % CP_PAGE_SIZE != 0 || last % CP_PAGE_SIZE != 0 || first > last || first == 0)
		return cp_program(PGM_SPECIFICATION);
	/* last is a page of storage, so that the walks end before the address wraps. */
	if (!storage_overlaps(cp, last, last) || !own_storage(cp, first, last))
		return cp_program(PGM_SPECIFICATION);
	for (uint64_t page = first; page <= last; page += CP_PAGE_SIZE) {
		void *host = storage_map(cp, cpu, page, CP_PAGE_SIZE);

		if (!host)
			return cp_program(PGM_ADDRESSING);
		memset(host, 0, CP_PAGE_SIZE);
		cp->host.dirty(cp->host.opaque, cpu, page, CP_PAGE_SIZE);
	}
	return cp_done();
}
