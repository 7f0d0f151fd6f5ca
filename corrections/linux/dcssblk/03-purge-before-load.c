/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/extmem: Purge a segment that CP still has before loading it
 *
 * Nobody looks at the return code of PURGESEG when a segment is unloaded.
 * If CP refuses it, the kernel forgets the segment, and CP still has it
 * loaded.  If that was exclusively, the next load fails with code 45.  If
 * it was shared, the next load succeeds, and the segment has what was
 * written and not saved.
 *
 * The kernel knows of each segment that it has loaded.  So purge the
 * others before a load, and say so if there was one.
 *
 * Tried with a CP that refuses PURGESEG of a segment in exclusive mode
 * once.
 */
//@ file: arch/s390/mm/extmem.c
//@ in: __segment_load (char *name, int do_nonshared,
//@ replace: 		goto out_resource;
		goto out_resource;

	/* CP may have refused the last PURGESEG */
	if (dcss_diag(&purgeseg_scode, seg->dcss_name, &dummy, &dummy) == 0)
		pr_warn("DCSS %s was still loaded\n", name);
