/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/hmcdrv: Return 0 for a read of no bytes
 *
 * hmcdrv_ftp_cmd() asks for pages of order get_order(0), that is for 2^52:
 *
 *   WARNING: ... at mm/page_alloc.c
 *
 * and the read fails with ENOMEM.  There is nothing to transfer for it, so
 * return 0.  For the other commands a single page is enough.
 *
 * Tried with a read of no bytes.
 */
//@ file: drivers/s390/char/hmcdrv_ftp.c
//@ in: ssize_t hmcdrv_ftp_cmd(char __kernel *cmd, loff_t offset,
//@ replace: 	order = get_order(ftp.len);
	if (!ftp.len && (ftp.id == HMCDRV_FTP_DIR ||
			 ftp.id == HMCDRV_FTP_NLIST ||
			 ftp.id == HMCDRV_FTP_GET))
		return 0;

	order = get_order(ftp.len ?: 1);
