/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/monreader: Refuse a segment above 4 GiB
 *
 * The messages of the *MONITOR service have 32 bits for an address.  A
 * segment that lies above 4 GiB can be loaded, but no message can point
 * into it, and CP refuses every connection.  The module can be loaded
 * nevertheless, and all that happens is that the device cannot be opened.
 *
 * Let loading fail with EINVAL, and say why.
 *
 * Tried with a segment of type SC at 4 GiB.
 */
//@ file: drivers/s390/char/monreader.c
//@ in: static int __init mon_init(
//@ before: 	dcss_mkname(mon_dcss_name, &user_data_connect[8]);
	if (mon_dcss_end > U32_MAX) {
		pr_err("The specified *MONITOR DCSS %s is above 4 GiB, where messages cannot point to\n",
		       mon_dcss_name);
		rc = -EINVAL;
		goto out;
	}
