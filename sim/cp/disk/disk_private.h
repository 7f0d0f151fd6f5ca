/* SPDX-License-Identifier: MIT */
/* Shared by the files of virtual disks. */
#ifndef DISK_PRIVATE_H
#define DISK_PRIVATE_H

#include "cp_private.h"
#include "zvmlab/disk.h"

/* What a channel program has said so far; nothing of it outlives the program. */
struct disk_program {
	bool extent;			/* DEFINE EXTENT has come: */
	uint8_t mask;
	uint32_t first;			/* block of the disk, … */
	uint32_t begin, end;		/* … and the numbers of this and the last block for LOCATE */
	bool located;			/* LOCATE has come, and is the last command */
	bool writes;
	uint32_t at, left;		/* blocks that are still to be transferred */
};

/** A virtual disk in storage, which is there while it is linked: by its owner, or by others. */
struct shared_disk {
	struct shared_disk *next;
	char owner[CP_NAME_LEN + 1];
	uint16_t device;		/* of the owner */
	uint32_t blocks;
	uint8_t *data;
	unsigned int links;
};

struct disk {
	struct shared_disk *shared;	/* NULL: it is not linked, and no device */
	bool read_only;
	bool established;
	uint32_t block_size;		/* 0 without an environment */
	int64_t offset;
	uint64_t reads, writes;
	struct disk_program program;
};

/* A request that waits, or of whose end the guest has still to be told. */
struct disk_job {
	uint32_t number;
	struct disk_request request;
	bool waits;
	uint8_t end;			/* enum disk_end */
	uint32_t delay;			/* interruptions that are presented before this one */
	uint32_t copies;		/* further interruptions like this one */
};

struct disk_table {
	struct disk disk[CP_MAX_DISKS];	/* as in cp->config.disk */
	uint32_t jobs;			/* in the order in which they were given, or have ended */
	struct disk_job job[DISK_MAX_REQUESTS];
	uint32_t last_job;
	bool hold;
};

/* disk.c */
/** Has the guest a device of this number that is no disk? */
bool disk_other_device(const struct cp *cp, uint16_t device);

/** The blocks that it has in its environment. */
uint64_t disk_blocks(const struct cp *cp, unsigned int index);
bool disk_block_size_valid(uint32_t size);
void disk_forget_environment(struct disk *disk);

/** Whatever the guest has asked of the disk, or set up, is gone. */
void disk_forget(struct cp *cp, unsigned int index);

/* disk_link.c */
/** The disk of that owner's device, or NULL. */
struct shared_disk *disk_shared(const struct cp_system *system, const char *owner, uint16_t device);
void disk_attach(struct disk *disk, struct shared_disk *shared, bool read_only);
/** May @cp link it in that mode?  @read_only: as what. */
bool disk_may_link(const struct cp *cp, const struct shared_disk *shared, enum cp_link_mode mode,
		   bool *read_only);
/** The machine has the disk no longer; the last link takes its contents along. */
void disk_detach(struct cp *cp, struct disk *disk);

/* disk_request.c */
bool disk_external_pending(const struct cp *cp, unsigned int cpu);
void disk_external_take(struct cp *cp, unsigned int cpu, struct cp_external *external);

#endif
