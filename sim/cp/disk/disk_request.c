/* SPDX-License-Identifier: MIT */
/* Requests for block I/O: their lists of blocks, and the interruptions that tell how they ended. */
#include <string.h>

#include "disk_private.h"
#include "bytes.h"
#include "zvmlab/event.h"
#include "zvmlab/fault.h"
#include "zvmlab/storage.h"
#include "zvmlab/trace.h"

/* Entries of a list (BIOE). */
enum {
	ENTRY_TYPE = 0,
	ENTRY_STATUS = 1,
	ENTRY_RESERVED = 2,	/* 2 */
	ENTRY_SIZE_31 = 16,	/* 4: number; 8: ALET; 12: address */
	ENTRY_SIZE_64 = 24,	/* 4: ALET; 8: number; 16: address */
};
enum { TYPE_WRITE = 1, TYPE_READ = 2 };

struct entry {
	uint8_t type;
	uint16_t reserved;
	uint32_t alet;
	int64_t number;
	uint64_t data;
};

static uint64_t entry_size(const struct disk_request *r)
{
	return r->format64 ? ENTRY_SIZE_64 : ENTRY_SIZE_31;
}

static struct entry read_entry(const struct disk_request *r, const uint8_t *bytes)
{
	struct entry e = {
		.type = bytes[ENTRY_TYPE], .reserved = get_be16(bytes + ENTRY_RESERVED),
	};

	if (r->format64) {
		e.alet = get_be32(bytes + 4);
		e.number = (int64_t)get_be64(bytes + 8);
		e.data = get_be64(bytes + 16);
	} else {
		e.number = (int32_t)get_be32(bytes + 4);
		e.alet = get_be32(bytes + 8);
		e.data = get_be32(bytes + 12) & 0x7fffffff;
	}
	return e;
}

static enum disk_status status_of(uint16_t pgm)
{
	if (pgm == 0)
		return DISK_OK;
	return pgm == PGM_PROTECTION ? DISK_PROTECTED : DISK_ADDRESS;
}

static enum disk_status read_block(struct cp *cp, struct disk *disk, const uint8_t *at,
				   uint64_t to, const struct fault_action *fault)
{
	uint8_t block[DISK_MAX_BLOCK];
	enum disk_status status = DISK_OK;

	memcpy(block, at, disk->block_size);
	if (fault->kind == FAULT_CORRUPT)
		block[fault->offset % disk->block_size] ^= (uint8_t)fault->value;
	if (fault->kind == FAULT_DROP)
		status = status_of(storage_check(cp, CP_ABSOLUTE, to, disk->block_size, true));
	else
		status = status_of(storage_write(cp, CP_ABSOLUTE, to, block, disk->block_size));
	disk->reads += status == DISK_OK;
	return status;
}

static enum disk_status write_block(struct cp *cp, struct disk *disk, uint8_t *at, uint64_t from,
				    bool read_only, const struct fault_action *fault)
{
	uint8_t block[DISK_MAX_BLOCK];
	enum disk_status status;

	status = status_of(storage_read(cp, CP_ABSOLUTE, from, block, disk->block_size));
	if (status == DISK_OK && read_only)
		status = DISK_READ_ONLY;
	if (status != DISK_OK)
		return status;
	if (fault->kind == FAULT_CORRUPT)
		block[fault->offset % disk->block_size] ^= (uint8_t)fault->value;
	if (fault->kind != FAULT_DROP)
		memcpy(at, block, disk->block_size);
	disk->writes++;
	return DISK_OK;
}

static enum disk_status transfer(struct cp *cp, unsigned int index, const struct entry *e)
{
	struct disk *disk = &cp->disks->disk[index];
	/* Blocks before this one: the offset may be anything. */
	const uint64_t before = (uint64_t)e->number + (uint64_t)disk->offset - 1;
	struct fault_action fault;
	uint8_t *at;

	if (e->reserved != 0)
		return DISK_RESERVED;
	if (before >= disk_blocks(cp, index))
		return DISK_NUMBER;
	if (e->type != TYPE_READ && e->type != TYPE_WRITE)
		return DISK_TYPE;
	/* The guest has no access list, and bits 0 to 6 of an ALET are 0. */
	if (e->alet != 0)
		return e->alet >> 25 != 0 ? DISK_ALET : DISK_ALEN;
	fault = fault_of_guest(cp, FAULT_DISK_BLOCK, "");
	if (fault.kind == FAULT_RC)
		return (enum disk_status)(fault.value & 0xff);
	at = disk->shared->data + before * disk->block_size;
	if (e->type == TYPE_READ)
		return read_block(cp, disk, at, e->data, &fault);
	return write_block(cp, disk, at, e->data, disk->read_only, &fault);
}

/*
 * All entries of a list, each with its status.  @done: blocks read or written.
 * Return: 0, or the program interruption of an access to the list, at which it ends.
 */
static uint16_t run_list(struct cp *cp, const struct disk_request *r, uint32_t *done, bool abort)
{
	const int index = disk_index(cp, r->device);
	const uint64_t size = entry_size(r);
	uint8_t bytes[ENTRY_SIZE_64], status;
	uint16_t pgm = 0;

	assert(index >= 0 && (abort || cp->disks->disk[index].established));
	*done = 0;
	for (uint32_t i = 0; i < r->count && pgm == 0; i++) {
		const uint64_t at = r->list + i * size;
		struct entry e;

		pgm = storage_read(cp, CP_ABSOLUTE, at, bytes, size);
		if (pgm == 0)
			pgm = storage_check(cp, CP_ABSOLUTE, at + ENTRY_STATUS, 1, true);
		if (pgm != 0)
			break;
		e = read_entry(r, bytes);
		status = abort ? DISK_ABORTED : (uint8_t)transfer(cp, (unsigned int)index, &e);
		*done += status == DISK_OK;
		pgm = storage_write(cp, CP_ABSOLUTE, at + ENTRY_STATUS, &status, 1);
	}
	return pgm;
}

static void tell(struct cp *cp, const char *what, const struct disk_job *job)
{
	cp_notify(cp, &(struct cp_event){ .kind = CP_EVENT_DISK, .name = "", .text = what,
					  .path = job->request.device, .value = job->number });
}

static void drop_job(struct disk_table *disks, uint32_t index)
{
	struct disk_job *job = &disks->job[index];

	assert(index < disks->jobs);
	memmove(job, job + 1, (disks->jobs - index - 1) * sizeof(*job));
	disks->jobs--;
}

static void end_job(struct cp *cp, uint32_t index, enum disk_end end)
{
	const struct fault_action fault = fault_of_guest(cp, FAULT_DISK_COMPLETION, "");
	struct disk_table *disks = cp->disks;
	struct disk_job job = disks->job[index];

	assert(job.waits);
	job.waits = false;
	job.end = fault.kind == FAULT_RC ? (uint8_t)fault.value : (uint8_t)end;
	job.copies = fault.kind == FAULT_DUPLICATE;
	if (fault.kind == FAULT_DELAY)
		job.delay = fault.value;
	else if (fault.kind == FAULT_REORDER)
		job.delay = 1;
	/* In the order in which they end. */
	drop_job(disks, index);
	trace_number(cp, "request", job.number);
	trace_number(cp, "end", end);
	tell(cp, "ended", &job);
	if (fault.kind == FAULT_DROP)
		return;
	disks->job[disks->jobs++] = job;
	cp_external_kick(cp);
}

static void run_job(struct cp *cp, uint32_t index)
{
	const struct disk_request request = cp->disks->job[index].request;
	uint32_t done;
	const uint16_t pgm = run_list(cp, &request, &done, false);

	end_job(cp, index, pgm != 0 ? DISK_STORAGE :
					   done == request.count ? DISK_ALL : DISK_SOME);
}

static void abort_requests(struct cp *cp, uint16_t device)
{
	struct disk_table *disks = cp->disks;
	uint32_t done;

	/* Each that ends goes behind all others: as many as there are now are looked at. */
	for (uint32_t left = disks->jobs, i = 0; left > 0; left--) {
		const struct disk_job *job = &disks->job[i];

		if (!job->waits || job->request.device != device) {
			i++;
			continue;
		}
		(void)run_list(cp, &job->request, &done, true);
		end_job(cp, i, DISK_REMOVED);
	}
}

enum disk_code disk_remove(struct cp *cp, uint16_t device)
{
	const int index = disk_index(cp, device);

	if (index < 0)
		return disk_other_device(cp, device) ? DISK_RC_STATE : DISK_RC_NO_DEVICE;
	if (!cp->disks->disk[index].established)
		return DISK_RC_STATE;
	abort_requests(cp, device);
	disk_forget_environment(&cp->disks->disk[index]);
	return DISK_RC_OK;
}

static enum disk_code start(struct cp *cp, const struct disk_request *request)
{
	struct disk_table *disks = cp->disks;
	struct disk_job *job = &disks->job[disks->jobs];

	*job = (struct disk_job){
		.number = ++disks->last_job, .request = *request, .waits = true,
	};
	disks->jobs++;
	if (disks->hold)
		tell(cp, "held", job);
	else
		run_job(cp, disks->jobs - 1);
	return DISK_RC_STARTED;
}

enum disk_code disk_io(struct cp *cp, const struct disk_request *request, uint16_t *pgm)
{
	const int index = disk_index(cp, request->device);
	uint32_t done;

	*pgm = 0;
	if (index < 0)
		return disk_other_device(cp, request->device) ? DISK_RC_STATE : DISK_RC_NO_DEVICE;
	if (!cp->disks->disk[index].established)
		return DISK_RC_STATE;
	if (request->count == 0 || request->count > DISK_MAX_COUNT)
		return DISK_RC_COUNT;
	/* CP may always carry out at once what it could do later. */
	if (request->async && cp->disks->jobs < DISK_MAX_REQUESTS && cp->disks->last_job < INT32_MAX)
		return start(cp, request);
	*pgm = run_list(cp, request, &done, false);
	if (done == request->count)
		return DISK_RC_OK;
	return done == 0 ? DISK_RC_NONE : DISK_RC_SOME;
}

bool disk_complete(struct cp *cp, uint32_t number)
{
	struct disk_table *disks = cp->disks;
	uint32_t index = 0;

	while (index < disks->jobs && (!disks->job[index].waits ||
				       (number != 0 && disks->job[index].number != number)))
		index++;
	if (index == disks->jobs)
		return false;
	TRACE_INPUT(cp, disk_complete, .number = number);
	run_job(cp, index);
	trace_end(cp);
	return true;
}

/* The first of which the guest is to be told now; disks->jobs: none. */
static uint32_t next_job(const struct disk_table *disks)
{
	uint32_t i = 0;

	while (i < disks->jobs && (disks->job[i].waits || disks->job[i].delay > 0))
		i++;
	return i;
}

bool disk_external_pending(const struct cp *cp, unsigned int cpu)
{
	(void)cpu;
	return next_job(cp->disks) < cp->disks->jobs;
}

void disk_external_take(struct cp *cp, unsigned int cpu, struct cp_external *external)
{
	struct disk_table *disks = cp->disks;
	const uint32_t index = next_job(disks);
	struct disk_job *job = &disks->job[index];
	bool kick = false;

	(void)cpu;
	assert(index < disks->jobs);
	external->subcode = (uint16_t)((job->request.format64 ? DISK_EXT_64 : DISK_EXT_31) |
				       job->end);
	external->parameter32 = (uint32_t)job->request.parameter;
	external->parameter = job->request.format64 ? job->request.parameter : 0;
	if (job->copies > 0)
		job->copies--;
	else
		drop_job(disks, index);
	/* One more has been presented: those that are delayed come nearer. */
	for (uint32_t i = 0; i < disks->jobs; i++)
		if (!disks->job[i].waits && disks->job[i].delay > 0)
			kick |= --disks->job[i].delay == 0;
	if (kick)
		cp_external_kick(cp);
}
