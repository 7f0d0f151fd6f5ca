/* SPDX-License-Identifier: MIT */
/* Virtual disks in storage: their environments for block I/O. */
#include <stdio.h>
#include <string.h>

#include "disk_private.h"
#include "zvmlab/trace.h"

const struct cp_disk_config *cp_disk_at(const struct cp_config *config, unsigned int index)
{
	return index < config->disks ? &config->disk[index] : NULL;
}

int disk_index(const struct cp *cp, uint16_t device)
{
	for (unsigned int i = 0; i < cp->config.disks; i++)
		if (cp->config.disk[i].device == device && cp->disks->disk[i].shared)
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

uint64_t disk_blocks(const struct cp *cp, unsigned int index)
{
	const struct disk *disk = &cp->disks->disk[index];

	assert(disk->block_size >= DISK_BLOCK && disk->block_size <= DISK_MAX_BLOCK);
	return (uint64_t)disk->shared->blocks * DISK_BLOCK / disk->block_size;
}

bool disk_block_size_valid(uint32_t size)
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
	if (!disk_block_size_valid(block_size))
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
	return disk->read_only ? DISK_RC_READ_ONLY : DISK_RC_OK;
}

void disk_forget_environment(struct disk *disk)
{
	disk->established = false;
	disk->block_size = 0;
	disk->offset = 0;
}

void disk_forget(struct cp *cp, unsigned int index)
{
	struct disk_table *disks = cp->disks;
	uint32_t kept = 0;

	disk_forget_environment(&disks->disk[index]);
	disks->disk[index].program = (struct disk_program){ .extent = false };
	for (uint32_t i = 0; i < disks->jobs; i++)
		if (disks->job[i].request.device != cp->config.disk[index].device)
			disks->job[kept++] = disks->job[i];
	disks->jobs = kept;
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
		snprintf(err, errlen, "the guest has no disk %04X; MDISK and LINK statements in the "
			 "directory give it disks", device);
		return -1;
	}
	blocks = cp->disks->disk[index].shared->blocks;
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
	memcpy(to, cp->disks->disk[index].shared->data + (size_t)first * DISK_BLOCK,
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
	memcpy(cp->disks->disk[index].shared->data + (size_t)first * DISK_BLOCK, from, len);
	trace_end(cp);
	return 0;
}

bool disk_info(const struct cp *cp, unsigned int index, struct disk_info *out)
{
	for (unsigned int i = 0; i < cp->config.disks; i++) {
		const struct disk *disk = &cp->disks->disk[i];

		if (!disk->shared || index-- > 0)
			continue;
		*out = (struct disk_info){
			.device = cp->config.disk[i].device, .blocks = disk->shared->blocks,
			.read_only = disk->read_only, .established = disk->established,
			.block_size = disk->block_size, .offset = disk->offset,
			.reads = disk->reads, .writes = disk->writes,
		};
		return true;
	}
	return false;
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
