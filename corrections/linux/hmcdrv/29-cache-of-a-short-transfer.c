/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/hmcdrv: Do not read beyond what the cache has
 *
 * hmcdrv_cache_get() compares with the size of the cache, not with the
 * number of bytes that were transferred into it.  After a transfer of
 * fewer bytes than asked for, the next read gets what was in the cache
 * before.
 *
 * Remember how many bytes are valid.
 *
 * Tried with a transfer of which CP does four bytes.
 */
//@ file: drivers/s390/char/hmcdrv_cache.c
//@ after:  * @len: size of @content cache (0 if caching disabled)
 * @valid: number of bytes that were transferred into @content
//@ after: 	size_t len;
	size_t valid;
//@ in: static ssize_t hmcdrv_cache_get(
//@ replace: 	    ((pos + len) <= hmcdrv_cache_file.len)) {
	    ((pos + len) <= hmcdrv_cache_file.valid)) {
//@ in: static ssize_t hmcdrv_cache_do(
//@ before: 			if (len > ftp->len)
			hmcdrv_cache_file.valid = len;
