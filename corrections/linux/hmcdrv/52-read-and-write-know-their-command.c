/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/hmcdrv: Do not store into the buffer of a write
 *
 * Both read() and write() carry out the command that was written before.  So
 * a write() after "get FILE" copies the file into the buffer that the program
 * has given to be read from, and a read() after "put FILE" makes a file of
 * what happens to be in the buffer that is to be filled.
 *
 * Refuse both with EBADF, as a read of a file that is open for writing is.
 *
 * Tried with a write after "get", whose buffer stays as it is, and with a
 * read after "put", which makes no file.
 */
//@ file: drivers/s390/char/hmcdrv_ftp.h
//@ replace: 		       char __user *buf, size_t len);
		       char __user *buf, size_t len, bool write);
//@ file: drivers/s390/char/hmcdrv_ftp.c
//@ after:  * @len: size of @buf (read/dir) or number of bytes to write
 * @write: @buf belongs to a write(), and only its contents count
//@ replace: 		       char __user *buf, size_t len)
		       char __user *buf, size_t len, bool write)
//@ in: ssize_t hmcdrv_ftp_cmd(char __kernel *cmd, loff_t offset,
//@ after: 	case HMCDRV_FTP_GET:
		if (write) {
			retlen = -EBADF;
			break;
		}
//@ after: 	case HMCDRV_FTP_APPEND:
		if (!write) {
			retlen = -EBADF;
			break;
		}
//@ file: drivers/s390/char/hmcdrv_dev.c
//@ replace: 				   char __user *buf, size_t len);
				   char __user *buf, size_t len, bool write);
//@ replace 4:  * transfer (helper function)
 * transfer (helper function)
 */
static ssize_t hmcdrv_dev_transfer(char __kernel *cmd, loff_t offset,
				   char __user *buf, size_t len, bool write)
//@ replace: 		retlen = hmcdrv_ftp_cmd(cmd, offset, buf, len);
		retlen = hmcdrv_ftp_cmd(cmd, offset, buf, len, write);
//@ replace: 				     *pos, ubuf, len);
				     *pos, ubuf, len, false);
//@ replace: 				     *pos, (char __user *) ubuf, len);
				     *pos, (char __user *)ubuf, len, true);
