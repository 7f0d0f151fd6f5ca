/* SPDX-License-Identifier: MIT */
/* Virtual disks as a part of the CP: made, reset, saved and loaded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disk_private.h"
#include "zvmlab/state.h"

static void disk_fini(struct cp *cp)
{
	for (unsigned int i = 0; i < CP_MAX_DISKS; i++)
		disk_detach(cp, &cp->disks->disk[i]);
	free(cp->disks);
	cp->disks = NULL;
}

/* The contents of an MDISK statement's disk; there are some already if others have it linked. */
static struct shared_disk *own_disk(struct cp *cp, const struct cp_disk_config *config)
{
	struct shared_disk *shared = disk_shared(cp->system, cp->config.userid, config->device);

	if (shared)
		return shared;
	shared = calloc(1, sizeof(*shared));
	if (!shared)
		return NULL;
	shared->data = calloc(config->blocks, DISK_BLOCK);
	if (!shared->data) {
		free(shared);
		return NULL;
	}
	strcpy(shared->owner, cp->config.userid);
	shared->device = config->device;
	shared->blocks = config->blocks;
	shared->next = cp->system->shared_disks;
	cp->system->shared_disks = shared;
	return shared;
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
		const struct cp_disk_config *config = &cp->config.disk[i];
		struct shared_disk *shared;
		bool read_only;

		shared = config->owner[0] ? disk_shared(cp->system, config->owner,
							config->owner_device)
					  : own_disk(cp, config);
		if (!shared && !config->owner[0]) {
			snprintf(err, errlen, "not enough memory for disk %04X of %u blocks",
				 config->device, config->blocks);
			disk_fini(cp);
			return -1;
		}
		/* What cannot be linked is no device, until LINK makes it one. */
		if (shared && disk_may_link(cp, shared, (enum cp_link_mode)config->mode, &read_only))
			disk_attach(&cp->disks->disk[i], shared, read_only);
	}
	return 0;
}

/* Contents stay, and what tests have chosen; what the guest has set up or asked for is gone. */
static void disk_reset(struct cp *cp)
{
	cp->disks->jobs = 0;
	for (unsigned int i = 0; i < cp->config.disks; i++)
		disk_forget(cp, i);
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

/* Whose disk it is, if it is linked: by LINK that can have changed since log-on. */
static void link_state(struct cp *cp, struct state *s, unsigned int index)
{
	const struct cp_disk_config *config = &cp->config.disk[index];
	struct disk *disk = &cp->disks->disk[index];
	struct shared_disk linked = { .device = 0 }, *shared = disk->shared;
	bool there = shared != NULL;

	if (shared)
		linked = *shared;
	state_bool(s, &there);
	state_bool(s, &disk->read_only);
	state_name(s, linked.owner);
	state_u16(s, &linked.device);
	if (!s->loading || s->failed)
		return;
	shared = there ? disk_shared(cp->system, linked.owner, linked.device) : NULL;
	/* Its own, which has been detached since. */
	if (there && !shared && !config->owner[0] && linked.device == config->device &&
	    strcmp(linked.owner, cp->config.userid) == 0)
		shared = own_disk(cp, config);
	state_require(s, there == (shared != NULL));
	if (s->failed || disk->shared == shared)
		return;
	disk_forget_environment(disk);
	if (shared)
		shared->links++;
	disk_detach(cp, disk);
	disk->shared = shared;
}

static void one_state(struct cp *cp, struct state *s, unsigned int index)
{
	struct disk *disk = &cp->disks->disk[index];
	uint64_t offset = (uint64_t)disk->offset;

	if (s->loading)
		disk->program = (struct disk_program){ .extent = false };
	link_state(cp, s, index);
	if (!disk->shared || s->failed)
		return;
	state_bool(s, &disk->established);
	state_u32(s, &disk->block_size);
	state_u64(s, &offset);
	disk->offset = (int64_t)offset;
	state_u64(s, &disk->reads);
	state_u64(s, &disk->writes);
	state_require(s, disk->established ? disk_block_size_valid(disk->block_size) :
					     disk->block_size == 0 && offset == 0);
	contents_state(s, disk->shared->data, disk->shared->blocks / (CP_PAGE_SIZE / DISK_BLOCK));
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
