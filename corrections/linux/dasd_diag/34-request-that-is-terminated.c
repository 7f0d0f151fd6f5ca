/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/dasd: Do not wait for the end of a terminated DIAG request
 *
 * dasd_diag_term_IO() removes the block I/O environment of the device, and
 * with that all of CP's requests.  It then sets the request to "clear
 * pending", which waits for an interruption, and there will be none.  The
 * request is never repeated, and all others wait behind it.
 *
 * The request has been cleared: say so.
 *
 * Only built with this change so far; without it, shown with a CP that
 * does not tell the end of a request: after the 50 s of its time limit it
 * is repeated.
 */
//@ file: drivers/s390/block/dasd_diag.c
//@ in: dasd_diag_term_IO(struct dasd_ccw_req * cqr)
//@ replace: 	cqr->status = DASD_CQR_CLEAR_PENDING;
	cqr->status = DASD_CQR_CLEARED;
