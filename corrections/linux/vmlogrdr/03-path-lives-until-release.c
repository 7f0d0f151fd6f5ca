/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/vmlogrdr: Keep a severed path until the device is closed
 *
 * When CP severs the connection, the handler severs and frees the path.
 * vmlogrdr_release() does so once more, with the NULL that was left:
 *
 *   list_del corruption ... kernel BUG at lib/list_debug.c
 *
 * A read that runs at the same time may use the path after it was freed.
 *
 * Leave the path alone in the handler: who opened the device severs and
 * frees it, once.
 *
 * Tried with a CP that severs while the device is open, and closing it
 * then.
 */
//@ file: drivers/s390/char/vmlogrdr.c
//@ in: 	u8 reason = (u8) ipuser[8];
//@ replace 4: 	iucv_path_sever(path, NULL);
//@ in: static int vmlogrdr_open (
//@ replace 2: 	if (logptr->iucv_path_severed)
	if (logptr->iucv_path_severed) {
		iucv_path_sever(logptr->path, NULL);
		goto out_record;
	}
