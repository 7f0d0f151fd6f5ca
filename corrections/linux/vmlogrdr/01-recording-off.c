/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/vmlogrdr: Switch recording off again if there is no connection
 *
 * vmlogrdr_open() switches recording on before it connects.  If CONNECT
 * fails, or there is no memory for a path, recording stays on.  Nobody
 * collects the records, which fill CP's storage.
 *
 * Switch it off in these cases, too, as after a sever.
 *
 * Tried with a CP that refuses CONNECT with code 15.
 */
//@ file: drivers/s390/char/vmlogrdr.c
//@ in: static int vmlogrdr_open (
//@ replace: 		goto out_dev;
		goto out_record;
//@ replace: 		goto out_path;
		goto out_record;
//@ replace: out_path:
//@ replace: out_dev:
