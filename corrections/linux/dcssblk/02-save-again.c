/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/extmem: Let a segment be saved after a SAVESEG that failed
 *
 * segment_save() gives DEFSEG first, and then SAVESEG.  If SAVESEG fails,
 * CP has a segment that is defined and not saved, and refuses every
 * further DEFSEG of that name.  So no later save can succeed, until
 * somebody purges it.
 *
 * Remember that the segment has been defined, and try SAVESEG without
 * DEFSEG the next time.  If that fails, somebody may have purged what was
 * defined: begin with DEFSEG then.
 *
 * Tried with a CP that refuses the first SAVESEG with code 435.
 */
//@ file: arch/s390/mm/extmem.c
//@ after: 	unsigned int vm_segtype;
	bool defined;
//@ in: __segment_load (char *name, int do_nonshared,
//@ before: 	refcount_set(&seg->ref_count, 1);
	seg->defined = false;
//@ in: segment_save(char *name)
//@ before: 	cpcmd(cmd2, NULL, 0, &response);
	seg->defined = true;
//@ after: 	response = 0;
	if (seg->defined) {
		/* DEFSEG has succeeded before, and SAVESEG has failed */
		cpcmd(cmd2, NULL, 0, &response);
		if (!response)
			goto saved;
	}
//@ before: 	rc = 0;
saved:
	seg->defined = false;
