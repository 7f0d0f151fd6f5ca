/* SPDX-License-Identifier: MIT */
/*
 * What a region takes of the kernel's memory, as dm_mod accounts it.
 *
 * Observed on 6.1 and 6.12 (64 bits): a fixed part of 128 bytes and a pointer for each CPU the
 * kernel was built for; for each area 120 bytes and 104 for each possible CPU; for each bucket
 * of an area's histogram 8 bytes and 8 for each possible CPU.  Names and bounds are not
 * accounted.  All regions together may take a quarter of the machine's memory.
 */
#ifndef DMS_MEMORY_H
#define DMS_MEMORY_H

#include "dms_region.h"

struct dms_machine {
	uint64_t possible_cpus;	/**< CPUs that could come, 1 and up */
	uint64_t built_cpus;	/**< CPUs that the kernel was built for (NR_CPUS) */
	uint64_t memory;	/**< bytes in all */
	uint64_t allocated;	/**< bytes that statistics take already */
};

/** Bytes for @areas with histograms of @bounds boundaries (0: none); 2^64 - 1 if it is more. */
uint64_t dms_memory(const struct dms_machine *machine, uint64_t areas, uint64_t bounds);

/** Most that all regions together may take. */
uint64_t dms_memory_limit(const struct dms_machine *machine);

/** Would the kernel refuse @bytes more? */
bool dms_memory_exceeded(const struct dms_machine *machine, uint64_t bytes);

/** CPUs of a list as in sysfs, "0-3,5"; 0 if it is none. */
uint64_t dms_count_cpus(const char *list);

#endif
