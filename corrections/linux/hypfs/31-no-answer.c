/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/hypfs: Do not take an address for the size of CP's answer
 *
 * DIAGNOSE X'2FC' returns in the register that had the address of the
 * parameter list how much room the answer needs, as a negative number.  If
 * CP leaves the register alone, the address is taken for that: the mount
 * asks for half a gigabyte, and
 *
 *   vmalloc error: size ..., exceeds total pages
 *
 * is logged with a call trace.  Let that be an error.
 *
 * Tried with a CP that reports success and no size.
 *
 * Fixes: 31cb4bd31a48 ("[S390] Hypervisor filesystem (s390_hypfs) for z/VM")
 */
//@ file: arch/s390/hypfs/hypfs_vm.c
//@ for: 6.12 7.2
//@ in: 	struct diag2fc_parm_list parm_list;
//@ before: 	if ((rc != 0 ) && (rc != -2))
	/* CP has not said anything */
	if (residual_cnt == (unsigned long)&parm_list)
		return -EIO;
