/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/monwriter: Do not count down for events at close
 *
 * The buffer of an event is not counted, as it goes when its data are
 * complete.  If the file is closed before that, monwrite_close() counts it
 * down all the same, so that each such event makes room for one buffer
 * more than max_bufs allows.  A STOP does so, too, if the data of an event
 * could not be read: its buffer stays until then.
 *
 * Count down what was counted.
 *
 * Tried with a limit of one buffer and half an event, and with a STOP
 * after an event whose data cannot be read.
 */
//@ file: drivers/s390/char/monwriter.c
//@ in: static int monwrite_new_hdr(
//@ replace: 			mon_buf_count--;
			if (monbuf->hdr.mon_function != MONWRITE_GEN_EVENT)
				mon_buf_count--;
//@ in: static int monwrite_close(
//@ replace 4: 		if (entry->hdr.mon_function != MONWRITE_GEN_EVENT)
		if (entry->hdr.mon_function != MONWRITE_GEN_EVENT) {
			monwrite_diag(&entry->hdr, entry->data,
				      APPLDATA_STOP_REC);
			mon_buf_count--;
		}
