/* SPDX-License-Identifier: MIT */
/*
 * Virtual disks in storage (MDISK … V-DISK in the directory), and block I/O to them: DIAGNOSE
 * X'250'.  Their channel programs come by zvmlab/unit.h.
 *
 * A disk has the blocks of 512 bytes of a 9336.  The guest sets up an environment for block I/O
 * with a block size of its own, then reads and writes lists of blocks, and is told of those it does
 * not wait for by an external interruption X'2603'.  Formats are those that Linux'
 * drivers/s390/block/dasd_diag.h has.  CP Programming Services (SC24-6272) describes return codes
 * and status; they were taken from Hercules' emulation of the code (docs/choices.md).
 */
#ifndef ZVMLAB_DISK_H
#define ZVMLAB_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zvmlab/config.h"
#include "zvmlab/external.h"

struct cp;

/** Bytes of a block of the device; the guest may join up to 8 of them. */
#define DISK_BLOCK 512u
#define DISK_MAX_BLOCK 4096u
/** Blocks of one request. */
#define DISK_MAX_COUNT 256u
/** Requests of which the guest has still to be told. */
#define DISK_MAX_REQUESTS 64u
/** Blocks of 512 bytes that a request of the control socket reads or writes. */
#define DISK_MAX_ACCESS 8192u

/** Subcodes of the interruption, for lists of both formats; the low byte is the status. */
enum { DISK_EXT_31 = 0x0300, DISK_EXT_64 = 0x0700 };

/** How a request has ended: low byte of the subcode. */
enum disk_end {
	DISK_ALL = 0,		/**< all blocks were read or written */
	DISK_SOME = 1,		/**< some, or none */
	DISK_STORAGE = 2,	/**< the list of blocks could not be accessed */
	DISK_REMOVED = 3,	/**< its environment has been removed */
};

/** How it went with a block: status in its entry of the list. */
enum disk_status {
	DISK_OK = 0x00,
	DISK_NUMBER = 0x01,	/**< no such block */
	DISK_ADDRESS = 0x02,	/**< of the data: no storage of the guest's */
	DISK_READ_ONLY = 0x03,
	DISK_TYPE = 0x06,	/**< neither read nor write */
	DISK_PROTECTED = 0x07,	/**< the data cannot be stored there */
	DISK_ALEN = 0x09,	/**< ALET: no such entry of an access list */
	DISK_ALET = 0x0a,	/**< ALET: reserved bits */
	DISK_RESERVED = 0x0b,	/**< reserved bytes are not 0 */
	DISK_ABORTED = 0x0c,	/**< the environment has been removed */
};

/** Return codes, in Rx+1. */
enum disk_code {
	DISK_RC_OK = 0,
	DISK_RC_READ_ONLY = 4,	/**< done; the disk is read-only */
	DISK_RC_STARTED = 8,	/**< an interruption will tell */
	DISK_RC_SOME = 12,
	DISK_RC_NO_DEVICE = 16,
	DISK_RC_NO_DISK = 20,	/**< the device is no disk */
	DISK_RC_BLOCK_SIZE = 24,
	DISK_RC_STATE = 28,	/**< there is an environment already, or none */
	DISK_RC_COUNT = 36,
	DISK_RC_NONE = 40,	/**< no block was read or written */
};

/** The guest's request. */
struct disk_request {
	uint16_t device;
	bool format64;		/**< of the entries in the list */
	bool async;
	uint32_t count;		/**< 1 to DISK_MAX_COUNT */
	uint64_t list;		/**< absolute address */
	uint64_t parameter;	/**< of the interruption */
};

/* For DIAGNOSE X'250'. */

/**
 * Set up an environment; blocks of it have the numbers from @start to @end.
 * @offset: so many blocks of @block_size lie before the one with number 1.
 * Return: code; the numbers are set if it is DISK_RC_OK or DISK_RC_READ_ONLY.
 */
enum disk_code disk_init(struct cp *cp, uint16_t device, uint32_t block_size, int64_t offset,
			 int64_t *start, int64_t *end);
/** Remove it; requests that wait are told so. */
enum disk_code disk_remove(struct cp *cp, uint16_t device);
/**
 * Carry out a request, or keep it if it is asynchronous and tests hold such.
 * Return: code, or the program interruption in @pgm.
 */
enum disk_code disk_io(struct cp *cp, const struct disk_request *request, uint16_t *pgm);

/* For the control socket. */

/** Asynchronous requests wait for disk_complete(), or do not. */
void disk_hold(struct cp *cp, bool hold);
/** Carry out the request of this number that waits; 0: the oldest.  Return: was there one? */
bool disk_complete(struct cp *cp, uint32_t number);
/**
 * Read or write @count blocks of 512 bytes from @first (0 …) on, also of a disk that is read-only.
 * Return: 0, or -1 with one sentence in @err.
 */
int disk_read(const struct cp *cp, uint16_t device, uint32_t first, uint32_t count, uint8_t *to,
	      char *err, size_t errlen);
int disk_write(struct cp *cp, uint16_t device, uint32_t first, const uint8_t *from, size_t len,
	       char *err, size_t errlen);

struct disk_info {
	uint16_t device;
	uint32_t blocks;	/**< of 512 bytes */
	bool read_only;
	bool established;	/**< there is an environment, … */
	uint32_t block_size;	/**< … with this block size */
	int64_t offset;
	/** Blocks since CP was made: of the environment's size, and of 512 bytes by channel programs. */
	uint64_t reads, writes;
};
/** The @index-th; false past the last. */
bool disk_info(const struct cp *cp, unsigned int index, struct disk_info *out);

struct disk_pending {
	uint32_t number;	/**< from 1 */
	uint16_t device;
	uint32_t count;
	bool waits;		/**< it is not carried out yet, … */
	uint8_t end;		/**< … or it has ended so (enum disk_end), and the guest is to be told */
};
/** The @index-th request of which the guest has still to be told; false past the last. */
bool disk_pending(const struct cp *cp, unsigned int index, struct disk_pending *out);
bool disk_held(const struct cp *cp);

/** Links of a disk by machines, and one who has such a link; NULL: nobody. */
struct disk_links {
	unsigned int readers, writers;
	const char *reader, *writer;
};
enum disk_linked {
	DISK_LINKED_READ, DISK_LINKED_WRITE,
	DISK_LINK_NO_DISK,	/**< the owner has no such disk, or it is not there now */
	DISK_LINK_NO_DEVICE,	/**< no LINK statement of the directory has this device */
	DISK_LINK_DEFINED,	/**< the device is linked already */
	DISK_LINK_REFUSED,	/**< @others have links that the mode does not go with */
};
/** For commands: link the owner's disk as @device.  @others: who has it, unless it is not there. */
enum disk_linked disk_link(struct cp *cp, const char *owner, uint16_t owner_device,
			   uint16_t device, enum cp_link_mode mode, struct disk_links *others);
/**
 * DETACH: the guest has it no longer.  What is on it goes with the last who has it linked.
 * Return: false if there is no such disk.
 */
bool disk_unlink(struct cp *cp, uint16_t device);

/** The @index-th MDISK or LINK statement of the directory, NULL past the last. */
const struct cp_disk_config *cp_disk_at(const struct cp_config *config, unsigned int index);

#endif
