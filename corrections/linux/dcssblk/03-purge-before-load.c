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
 * others before a load, and say so if there was one.  Where a segment is
 * unloaded on CPU 0, so is this.
 *
 * Tried with a CP that refuses PURGESEG of a segment in exclusive mode
 * once.
 *
 * Fixes: 1da177e4c3f4 ("Linux-2.6.12-rc2")
 */
//@ file: arch/s390/mm/extmem.c
//@ for: 6.1 6.12
//@ in: __segment_load (char *name, int do_nonshared,
//@ replace: 		goto out_resource;
		goto out_resource;

	/* CP may have refused the last PURGESEG */
	if (dcss_diag(&purgeseg_scode, seg->dcss_name, &dummy, &dummy) == 0)
		pr_warn("DCSS %s was still loaded\n", name);
//@ file: arch/s390/mm/extmem.c
//@ for: 7.2
//@ after: 	unsigned int vm_segtype;
	int purge_cc;
//@ replace 8: static void __dcss_diag_purge_on_cpu_0(void *data)
//@ before: /* do a diag to get info about a segment.
static void __dcss_diag_purge_on_cpu_0(void *data)
{
	struct dcss_segment *seg = (struct dcss_segment *)data;
	unsigned long dummy;

	seg->purge_cc = dcss_diag(&purgeseg_scode, seg->dcss_name,
				  &dummy, &dummy);
}
//@ in: __segment_load (char *name, int do_nonshared,
//@ replace: 		goto out_resource;
		goto out_resource;

	/* CP may have refused the last PURGESEG; why CPU 0: segment_unload() */
	smp_call_function_single(0, __dcss_diag_purge_on_cpu_0, seg, 1);
	if (seg->purge_cc == 0)
		pr_warn("DCSS %s was still loaded\n", name);
