/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/appldata: Keep a module while CP collects its data
 *
 * If CP refuses to stop collecting a record, that is logged, and the
 * record counts as stopped.  Its module can be unloaded, and CP goes on
 * copying from what was the module's storage.
 *
 * Let the record be active until CP has accepted the STOP: then the module
 * stays, the sysctl says 1, and the STOP can be tried again.
 *
 * Tried with a CP that refuses STOP.
 *
 * Fixes: 1da177e4c3f4 ("Linux-2.6.12-rc2")
 */
//@ file: arch/s390/appldata/appldata_base.c
//@ in: 	struct appldata_ops *ops = NULL, *tmp_ops;
//@ replace: 		ops->active = 0;
//@ replace 7: 		rc = appldata_diag(ops->record_nr, APPLDATA_STOP_REC,
		rc = appldata_diag(ops->record_nr, APPLDATA_STOP_REC,
				(unsigned long) ops->data, ops->size,
				ops->mod_lvl);
		if (rc != 0) {
			pr_err("Stopping the data collection for %s "
			       "failed with rc=%d\n", ops->name, rc);
		} else {
			ops->active = 0;
			module_put(ops->owner);
		}
