/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/monwriter: Do not take a refused record for collected
 *
 * monwrite_new_data() notes that it has called CP, whether CP has accepted
 * the buffer or not.  After an error, the same write succeeds, and the
 * data are not collected.  When the record is stopped, the driver
 * withdraws a buffer that CP does not know, which is an error in the log.
 *
 * Note what CP has accepted, and withdraw nothing else.
 *
 * Tried with a CP that refuses the first START with code 5.
 */
//@ file: drivers/s390/char/monwriter.c
//@ in: static int monwrite_new_hdr(
//@ replace 2: 			rc = monwrite_diag(monhdr, monbuf->data,
			if (monbuf->diag_done)
				rc = monwrite_diag(monhdr, monbuf->data,
						   APPLDATA_STOP_REC);
//@ in: static int monwrite_new_data(
//@ replace 2: 					   APPLDATA_START_INTERVAL_REC);
					   APPLDATA_START_INTERVAL_REC);
			monbuf->diag_done = !rc;
//@ replace 2: 					   APPLDATA_START_CONFIG_REC);
					   APPLDATA_START_CONFIG_REC);
			monbuf->diag_done = !rc;
//@ in: static int monwrite_close(
//@ replace 2: 			monwrite_diag(&entry->hdr, entry->data,
			if (entry->diag_done)
				monwrite_diag(&entry->hdr, entry->data,
					      APPLDATA_STOP_REC);
