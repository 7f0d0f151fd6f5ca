/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lib/stackdepot: Initialize only the buckets that there are
 *
 * With KASAN, the table of buckets is to have 16 MiB.  If storage has no
 * such piece, alloc_large_system_hash() makes it half as large, and half
 * of that, until it finds one.  The number of entries stays what it was,
 * so the list heads behind the table's end are initialized as well: an
 * oops in stack_depot_early_init(), or whatever is there is lost, such as
 * what describes the records of the log (log_buf_len=8M, 128 MiB): then a
 * panic never ends, because printk looks for its first record forever.
 *
 * Take the number from the mask, which says how large the table is.
 *
 * Tried with a guest that has 54 MiB and pieces of 15 MiB.
 */
//@ file: lib/stackdepot.c
//@ for: 6.12 7.2
//@ in: int __init stack_depot_early_init(
//@ replace 7: 	if (!entries) {
	/* It may have fewer entries than it was asked for */
	entries = stack_hash_mask + 1;
