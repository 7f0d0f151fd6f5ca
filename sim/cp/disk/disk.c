/* SPDX-License-Identifier: MIT */
/* Virtual disks in storage: their environments for block I/O, and the part as a whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disk_private.h"
#include "zvmlab/state.h"
#include "zvmlab/trace.h"

const struct cp_disk_config *cp_disk_at(const struct cp_config *config, unsigned int index)
{
	return index < config->disks ? &config->disk[index] : NULL;
}

static size_t size_of(const struct cp *cp, unsigned int index)
{
	return (size_t)cp->config.disk[index].blocks * DISK_BLOCK;
}

int disk_index(const struct cp *cp, uint16_t device)
{
	for (unsigned int i = 0; i < cp->config.disks; i++)
		if (cp->config.disk[i].device == device)
			return (int)i;
	return -1;
}

bool disk_other_device(const struct cp *cp, uint16_t device)
{
	for (unsigned int i = 0; i < cp->config.units; i++)
		if (cp->config.unit[i].device == device)
			return true;
	return device == cp->config.console;
}

static bool block_size_valid(uint32_t size)
{
	return size >= DISK_BLOCK && size <= DISK_MAX_BLOCK && (size & (size - 1)) == 0;
}

enum disk_code disk_init(struct cp *cp, uint16_t device, uint32_t block_size, int64_t offset,
			 int64_t *start, int64_t *end)
{
	const int index = disk_index(cp, device);
	struct disk *disk;

	if (index < 0)
		return disk_other_device(cp, device) ? DISK_RC_NO_DISK : DISK_RC_NO_DEVICE;
	if (!block_size_valid(block_size))
		return DISK_RC_BLOCK_SIZE;
	disk = &cp->disks->disk[index];
	if (disk->established)
		return DISK_RC_STATE;
	disk->established = true;
	disk->block_size = block_size;
	disk->offset = offset;
	/* Whatever the offset is, these wrap as the numbers of requests do. */
	*start = (int64_t)(UINT64_C(1) - (uint64_t)offset);
	*end = (int64_t)(disk_blocks(cp, (unsigned int)index) - (uint64_t)offset);
	return cp->config.disk[index].read_only ? DISK_RC_READ_ONLY : DISK_RC_OK;
}

static void forget_environment(struct disk *disk)
{
	disk->established = false;
	disk->block_size = 0;
	disk->offset = 0;
}

enum disk_code disk_remove(struct cp *cp, uint16_t device)
{
	const int index = disk_index(cp, device);

	if (index < 0)
		return disk_other_device(cp, device) ? DISK_RC_STATE : DISK_RC_NO_DEVICE;
	if (!cp->disks->disk[index].established)
		return DISK_RC_STATE;
	disk_abort(cp, device);
	forget_environment(&cp->disks->disk[index]);
	return DISK_RC_OK;
}

void disk_hold(struct cp *cp, bool hold)
{
	TRACE_INPUT(cp, disk_hold, .hold = hold);
	cp->disks->hold = hold;
	trace_end(cp);
}

bool disk_held(const struct cp *cp)
{
	return cp->disks->hold;
}

/* Return: the index of the disk if it has these blocks, or -1 with one sentence in @err. */
static int find(const struct cp *cp, uint16_t device, uint32_t first, uint64_t count, char *err,
		size_t errlen)
{
	const int index = disk_index(cp, device);
	uint32_t blocks;

	if (index < 0) {
		snprintf(err, errlen, "the guest has no disk %04X; MDISK statements in the directory "
			 "give it disks", device);
		return -1;
	}
	blocks = cp->config.disk[index].blocks;
	if (first <= blocks && count <= blocks - first)
		return index;
	snprintf(err, errlen, "disk %04X has %u blocks, and not %llu from block %u on", device, blocks,
		 (unsigned long long)count, first);
	return -1;
}

int disk_read(const struct cp *cp, uint16_t device, uint32_t first, uint32_t count, uint8_t *to,
	      char *err, size_t errlen)
{
	const int index = find(cp, device, first, count, err, errlen);

	if (index < 0)
		return -1;
	memcpy(to, cp->disks->disk[index].data + (size_t)first * DISK_BLOCK,
	       (size_t)count * DISK_BLOCK);
	return 0;
}

int disk_write(struct cp *cp, uint16_t device, uint32_t first, const uint8_t *from, size_t len,
	       char *err, size_t errlen)
{
	int index;

	if (len % DISK_BLOCK != 0) {
		snprintf(err, errlen, "%zu bytes are not a multiple of %u, the length of a block", len,
			 DISK_BLOCK);
		return -1;
	}
	index = find(cp, device, first, len / DISK_BLOCK, err, errlen);
	if (index < 0)
		return -1;
	TRACE_INPUT(cp, disk_write, .device = device, .block = first, .data = { from, len });
	memcpy(cp->disks->disk[index].data + (size_t)first * DISK_BLOCK, from, len);
	trace_end(cp);
	return 0;
}

bool disk_info(const struct cp *cp, unsigned int index, struct disk_info *out)
{
	const struct cp_disk_config *config = cp_disk_at(&cp->config, index);
	const struct disk *disk;

	if (!config)
		return false;
	disk = &cp->disks->disk[index];
	*out = (struct disk_info){
		.device = config->device, .blocks = config->blocks, .read_only = config->read_only,
		.established = disk->established, .block_size = disk->block_size,
		.offset = disk->offset, .reads = disk->reads, .writes = disk->writes,
	};
	return true;
}

bool disk_pending(const struct cp *cp, unsigned int index, struct disk_pending *out)
{
	const struct disk_job *job = &cp->disks->job[index];

	if (index >= cp->disks->jobs)
		return false;
	*out = (struct disk_pending){
		.number = job->number, .device = job->request.device, .count = job->request.count,
		.waits = job->waits, .end = job->end,
	};
	return true;
}

static void disk_fini(struct cp *cp)
{
	for (unsigned int i = 0; i < CP_MAX_DISKS; i++)
		free(cp->disks->disk[i].data);
	free(cp->disks);
	cp->disks = NULL;
}

static int disk_part_init(struct cp *cp, char *err, size_t errlen)
{
	cp->disks = calloc(1, sizeof(*cp->disks));
	if (!cp->disks) {
		snprintf(err, errlen, "not enough memory for the table of disks");
		return -1;
	}
	assert(cp->config.disks <= CP_MAX_DISKS);
	for (unsigned int i = 0; i < cp->config.disks; i++) {
		cp->disks->disk[i].data = calloc(1, size_of(cp, i));
		if (cp->disks->disk[i].data)
			continue;
		snprintf(err, errlen, "not enough memory for disk %04X of %u blocks",
			 cp->config.disk[i].device, cp->config.disk[i].blocks);
		disk_fini(cp);
		return -1;
	}
	return 0;
}

/* Contents stay, and what tests have chosen; what the guest has set up or asked for is gone. */
static void disk_reset(struct cp *cp)
{
	for (unsigned int i = 0; i < cp->config.disks; i++)
		forget_environment(&cp->disks->disk[i]);
	cp->disks->jobs = 0;
}

static bool is_zero(const uint8_t *page, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (page[i] != 0)
			return false;
	return true;
}

/* Pages of zeros are left out: most of a new disk.  Blocks are rounded up to whole pages. */
static void contents_state(struct state *s, uint8_t *data, uint32_t pages)
{
	uint32_t next = 0;

	if (s->loading)
		memset(data, 0, (size_t)pages * CP_PAGE_SIZE);
	while (!s->failed && next <= pages) {
		uint32_t page = next;

		while (!s->loading && page < pages &&
		       is_zero(data + (size_t)page * CP_PAGE_SIZE, CP_PAGE_SIZE))
			page++;
		/* The number behind the last ends them. */
		state_u32(s, &page);
		state_require(s, page >= next && page <= pages);
		if (s->failed || page == pages)
			return;
		state_bytes(s, data + (size_t)page * CP_PAGE_SIZE, CP_PAGE_SIZE);
		state_require(s, !is_zero(data + (size_t)page * CP_PAGE_SIZE, CP_PAGE_SIZE));
		next = page + 1;
	}
}

static void one_state(struct cp *cp, struct state *s, unsigned int index)
{
	struct disk *disk = &cp->disks->disk[index];
	uint64_t offset = (uint64_t)disk->offset;

	state_bool(s, &disk->established);
	state_u32(s, &disk->block_size);
	state_u64(s, &offset);
	disk->offset = (int64_t)offset;
	state_u64(s, &disk->reads);
	state_u64(s, &disk->writes);
	state_require(s, disk->established ? block_size_valid(disk->block_size) :
					     disk->block_size == 0 && offset == 0);
	contents_state(s, disk->data, cp->config.disk[index].blocks / (CP_PAGE_SIZE / DISK_BLOCK));
}

static void job_state(struct cp *cp, struct state *s, struct disk_job *job)
{
	struct disk_request *r = &job->request;
	int index;

	state_u32(s, &job->number);
	state_u16(s, &r->device);
	state_bool(s, &r->format64);
	state_bool(s, &r->async);
	state_u32(s, &r->count);
	state_u64(s, &r->list);
	state_u64(s, &r->parameter);
	state_bool(s, &job->waits);
	state_u8(s, &job->end);
	state_u32(s, &job->delay);
	state_u32(s, &job->copies);
	index = disk_index(cp, r->device);
	state_require(s, job->number > 0 && job->number <= cp->disks->last_job && index >= 0);
	if (s->failed)
		return;
	state_require(s, r->async && r->count > 0 && r->count <= DISK_MAX_COUNT &&
			 job->delay <= UINT16_MAX && job->copies <= 1);
	state_require(s, !job->waits || (cp->disks->disk[index].established && job->end == 0 &&
					 job->delay == 0 && job->copies == 0));
}

static void disk_state(struct cp *cp, struct state *s)
{
	struct disk_table *disks = cp->disks;

	state_tag(s, "VDSK");
	for (unsigned int i = 0; i < cp->config.disks && !s->failed; i++)
		one_state(cp, s, i);
	state_bool(s, &disks->hold);
	state_u32(s, &disks->last_job);
	state_u32(s, &disks->jobs);
	/* An image of another emulator may have what this one cannot do. */
	state_require(s, disks->last_job <= INT32_MAX &&
			 disks->jobs <= (cp->host.external ? DISK_MAX_REQUESTS : 0));
	for (uint32_t i = 0; i < disks->jobs && !s->failed; i++)
		job_state(cp, s, &disks->job[i]);
	if (s->loading && s->failed)
		disk_reset(cp);
}

const struct cp_part disk_part = {
	.init = disk_part_init,
	.fini = disk_fini,
	.reset = disk_reset,
	.state = disk_state,
	.external_pending = disk_external_pending,
	.external_take = disk_external_take,
};
