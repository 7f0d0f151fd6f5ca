/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/dasd: Do not wait for the end of a terminated DIAG request
 *
 * dasd_diag_term_IO() removes the block I/O environment of the device, and
 * with that all of CP's requests.  It then sets the request to "clear
 * pending", which waits for an interruption.  If CP has presented that
 * already, and it was lost, there will be none: the request is never
 * repeated, and all others wait behind it.
 *
 * The request has been cleared: say so.  If CP still has it, an
 * interruption says that it was aborted; ignore interruptions of requests
 * that are not with CP.
 *
 * Tried with a CP that does not tell the end of a request, and with one
 * that is slow, and tells that the request was aborted: it is repeated
 * after the 50 s of its time limit.
 */
//@ file: drivers/s390/block/dasd_diag.c
//@ replace 8: 	/* Check for a pending clear operation */
	/* It has been cleared, and this is CP's word that it was aborted. */
	if (cqr->status != DASD_CQR_IN_IO) {
		spin_unlock_irqrestore(get_ccwdev_lock(device->cdev), flags);
		return;
	}
//@ in: dasd_diag_term_IO(struct dasd_ccw_req * cqr)
//@ replace: 	cqr->status = DASD_CQR_CLEAR_PENDING;
	cqr->status = DASD_CQR_CLEARED;
