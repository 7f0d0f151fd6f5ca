/* SPDX-License-Identifier: MIT */
/*
 * Users' I/O to their disks, as far as the disks' channel paths carry it.
 *
 * A disk without any path left, or varied off, does none: what users wanted of it
 * is not made up for later.
 */
#include "model_private.h"
#include "smaller.h"

/* START SUBCHANNEL a second that one channel path of a disk carries. */
#define PATH_RATE 2000u
#define BLOCKS 8u	/* of 512 bytes each: a page */
/* The time that the channel subsystem measures for a start, in units of 128 us: 2 ms in all. */
#define PENDING 1u
#define CONNECT 7u
#define DISCONNECT 8u
/* A start waits up to so much longer, the busier the paths of its disk are. */
#define BUSY 8u

static struct device *disk_of(struct model *m, const struct user *user)
{
	return &m->device[m->disk[user->device]];
}

static unsigned int paths(const struct device *device)
{
	return (unsigned int)__builtin_popcountll(device->available);
}

static uint64_t carried(const struct device *device, uint64_t ms)
{
	return device->s.flags & IS_ON ? (uint64_t)PATH_RATE * paths(device) * ms / 1000 : 0;
}

static void do_io(struct model *m, struct user *user, uint64_t ms)
{
	struct device *disk = disk_of(m, user);
	const uint64_t carries = carried(disk, ms);
	uint64_t starts = user->wanted_io;

	if (disk->wanted > carries)
		starts = carries > 0 ? (uint64_t)((unsigned __int128)starts * carries / disk->wanted) :
				       0;
	user->starts += starts;
	disk->starts += starts;
	disk->pending += starts * PENDING;
	if (carries > 0)
		disk->pending += starts * BUSY * smaller(disk->wanted, carries) / carries;
	disk->connect += starts * CONNECT;
	disk->disconnect += starts * DISCONNECT;
	/* Two of three are reads. */
	disk->blocks_read += (starts - starts / 3) * BLOCKS;
	disk->blocks_written += starts / 3 * BLOCKS;
	m->step_starts += starts;
}

void model_io(struct model *m, uint64_t ms)
{
	m->step_starts = 0;
	for (uint32_t i = 0; i < m->disks; i++)
		m->device[m->disk[i]].wanted = 0;
	if (m->disks == 0)
		return;
	for (uint32_t i = 0; i < m->config.users; i++) {
		struct user *user = &m->user[i];

		user->wanted_io = amount(m->config.user[i].io, user->load, ms, &user->rest_io);
		disk_of(m, user)->wanted += user->wanted_io;
	}
	for (uint32_t i = 0; i < m->config.users; i++)
		do_io(m, &m->user[i], ms);
}
