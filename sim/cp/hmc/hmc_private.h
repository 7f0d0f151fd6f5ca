/* SPDX-License-Identifier: MIT */
/* Shared by the files of the HMC's drive. */
#ifndef HMC_PRIVATE_H
#define HMC_PRIVATE_H

#include "cp_private.h"
#include "zvmlab/hmc.h"

/** A line for each file, with its name and what stands before it. */
#define HMC_LINE (HMC_MAX_NAME + 64u)

struct hmc {
	uint64_t room;			/* bytes of the drive; 0: there is none */
	uint64_t used;			/* by files, without gaps */
	uint8_t *data;
	bool read_only, hold;
	uint32_t files;			/* by name */
	struct hmc_file file[HMC_MAX_FILES];
	struct hmc_request request;	/* the last */
	bool waits;
	uint32_t pending;		/* interruptions with this status */
	uint8_t status;
	uint64_t requests;
	char listing[HMC_MAX_FILES * HMC_LINE];
};

/* hmc_files.c */
/** A name without slashes at its ends; "" of the drive itself.  Return: false if it is none. */
bool hmc_name(const char *given, char name[HMC_MAX_NAME + 1]);
/** By such a name. */
struct hmc_file *hmc_lookup(struct hmc *hmc, const char *name);
/**
 * From byte @offset on the file is @len bytes of the guest's at @buffer or, without a CPU, of
 * @data; a file that is not there has none.
 * Return: enum hmc_status.
 */
enum hmc_status hmc_store(struct cp *cp, const char *name, uint64_t offset, const void *data,
			  const struct hmc_request *from, uint64_t len);
void hmc_forget(struct hmc *hmc, struct hmc_file *file);
/** Lines about what is in a directory.  Return: their length; @known: there is such a one. */
size_t hmc_list(struct hmc *hmc, const char *name, bool names_only, bool *known);

/* hmc_transfer.c */
/** Carry out the request and make its interruption pending; in a record of the trace. */
void hmc_run(struct cp *cp);

#endif
