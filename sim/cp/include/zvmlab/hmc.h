/* SPDX-License-Identifier: MIT */
/*
 * The drive of the HMC that is assigned to the guest, and its FTP service, DIAGNOSE X'2C4'.
 *
 * A test assigns a drive, with files of its own.  The guest asks for one transfer at a time: CP
 * answers that it has been started, and tells by an external interruption X'2603' how it ended.
 * Function codes, return codes and status are those of Linux' drivers/s390/char/diag_ftp.c and
 * hmcdrv_ftp.h; docs/choices.md says what they leave open.
 */
#ifndef ZVMLAB_HMC_H
#define ZVMLAB_HMC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zvmlab/external.h"

struct cp;

/** Longest name of a file; the guest's field has one byte more. */
#define HMC_MAX_NAME 191u
/** Most files of a drive, and its largest size in bytes. */
#define HMC_MAX_FILES 64u
#define HMC_MAX_BYTES (64u << 20)

/** External-interruption subcode; its low byte is the status. */
#define HMC_EXT_SUBCODE 0x0800u

enum hmc_function {
	HMC_NOOP, HMC_GET, HMC_PUT, HMC_APPEND, HMC_DIR, HMC_NLIST, HMC_DELETE,
	HMC_FUNCTIONS
};

/** How a transfer has ended. */
enum hmc_status {
	HMC_OK = 0,
	HMC_PROGRAM = 4,	/**< storage of the guest's could not be accessed */
	HMC_PAGING = 8,
	HMC_TIMEOUT = 12,
	HMC_FAILED = 17,	/**< no such file, no drive, no room */
	HMC_NOT_ALLOWED = 18,
	HMC_RUNS = 19,
	HMC_NOT_RUNNING = 20,
};

/** Ry of DIAGNOSE X'2C4'. */
enum hmc_code { HMC_STARTED = 0, HMC_BUSY = 4, HMC_ERROR = 8 };

/** The guest's request. */
struct hmc_request {
	enum hmc_function function;
	uint16_t cpu;			/**< whose real addresses these are */
	uint64_t list;			/**< of the parameter list */
	uint64_t buffer, length;	/**< of the data */
	uint64_t offset;		/**< in the file, or in the listing */
	uint64_t intparm;		/**< the interruption's parameter */
	char name[HMC_MAX_NAME + 1];
};

/* For DIAGNOSE X'2C4'. */

/** Start it; if tests do not hold requests, it is carried out now.  Return: Ry. */
enum hmc_code hmc_start(struct cp *cp, const struct hmc_request *request);

/* For the control socket. */

/**
 * Assign an empty drive of @bytes bytes instead of the one there is; 0: none.
 * Return: 0, or -1 with one sentence in @err; then nothing has changed.
 */
int hmc_drive(struct cp *cp, uint64_t bytes, bool read_only, char *err, size_t errlen);
/** Put a file there, also on a drive that is read-only.  Return: as above. */
int hmc_write(struct cp *cp, const char *name, const void *data, size_t len, char *err,
	      size_t errlen);
/** Return: was there a file of that name? */
bool hmc_remove(struct cp *cp, const char *name);
/** Requests of the guest's wait for hmc_complete(), or do not. */
void hmc_hold(struct cp *cp, bool hold);
/** Carry out the request that waits.  Return: was there one? */
bool hmc_complete(struct cp *cp);

/** A file of the drive. */
struct hmc_file {
	char name[HMC_MAX_NAME + 1];	/**< without slashes at its ends */
	uint64_t tod;			/**< when it was written */
	uint64_t at, len;		/**< where its bytes are */
};
/** The @index-th, by name; NULL past the last. */
const struct hmc_file *hmc_file(const struct cp *cp, unsigned int index);
/** By a name that may have slashes at its ends. */
const struct hmc_file *hmc_find(const struct cp *cp, const char *name);
/** Its bytes. */
const uint8_t *hmc_bytes(const struct cp *cp, const struct hmc_file *file);

struct hmc_info {
	uint64_t bytes, used;		/**< of the drive; 0: there is none */
	bool read_only, hold;
	bool waits;			/**< a request is not carried out yet */
	bool pending;			/**< the guest has not been told how one ended */
	enum hmc_function function;	/**< of the last request */
	uint8_t status;			/**< of the last that has ended */
	uint64_t requests;		/**< since CP was made */
};
struct hmc_info hmc_info(const struct cp *cp);

#endif
