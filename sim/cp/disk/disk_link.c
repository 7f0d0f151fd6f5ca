/* SPDX-License-Identifier: MIT */
/* Disks of other users: who may link them, and as what. */
#include <stdlib.h>
#include <string.h>

#include "disk_private.h"

struct shared_disk *disk_shared(const struct cp_system *system, const char *owner, uint16_t device)
{
	struct shared_disk *shared = system->shared_disks;

	while (shared && (shared->device != device || strcmp(shared->owner, owner) != 0))
		shared = shared->next;
	return shared;
}

/* Links of it in all machines. */
static struct disk_links links_of(const struct cp_system *system, const struct shared_disk *shared)
{
	struct disk_links links = { .readers = 0 };

	for (unsigned int i = 0; i < system->machines; i++) {
		const struct cp *cp = system->machine[i];

		for (unsigned int j = 0; j < cp->config.disks; j++) {
			const struct disk *disk = &cp->disks->disk[j];

			if (disk->shared != shared)
				continue;
			links.readers += disk->read_only;
			links.writers += !disk->read_only;
			*(disk->read_only ? &links.reader : &links.writer) = cp->config.userid;
		}
	}
	return links;
}

bool disk_may_link(const struct cp *cp, const struct shared_disk *shared, enum cp_link_mode mode,
		   bool *read_only)
{
	const struct disk_links links = links_of(cp->system, shared);
	const bool alone = links.readers + links.writers == 0;

	switch (mode) {
	case CP_LINK_R:
		*read_only = true;
		return links.writers == 0;
	case CP_LINK_RR:
		*read_only = true;
		return true;
	case CP_LINK_W:
		*read_only = false;
		return alone;
	case CP_LINK_WR:
		*read_only = !alone;
		return true;
	case CP_LINK_M:
		*read_only = false;
		return links.writers == 0;
	case CP_LINK_MR:
		*read_only = links.writers > 0;
		return true;
	case CP_LINK_MW:
	case CP_LINK_MODES:
		break;
	}
	*read_only = false;
	return true;
}

void disk_attach(struct disk *disk, struct shared_disk *shared, bool read_only)
{
	assert(!disk->shared && !disk->established);
	shared->links++;
	disk->shared = shared;
	disk->read_only = read_only;
}

static void free_shared(struct cp_system *system, struct shared_disk *shared)
{
	struct shared_disk **at = &system->shared_disks;

	while (*at != shared)
		at = &(*at)->next;
	*at = shared->next;
	free(shared->data);
	free(shared);
}

void disk_detach(struct cp *cp, struct disk *disk)
{
	struct shared_disk *shared = disk->shared;

	if (!shared)
		return;
	disk->shared = NULL;
	assert(shared->links > 0);
	if (--shared->links == 0)
		free_shared(cp->system, shared);
}

/* The statement LINK that has this device, or -1. */
static int statement(const struct cp *cp, uint16_t device)
{
	for (unsigned int i = 0; i < cp->config.disks; i++)
		if (cp->config.disk[i].device == device && cp->config.disk[i].owner[0])
			return (int)i;
	return -1;
}

enum disk_linked disk_link(struct cp *cp, const char *owner, uint16_t owner_device,
			   uint16_t device, enum cp_link_mode mode, struct disk_links *others)
{
	struct shared_disk *shared = disk_shared(cp->system, owner, owner_device);
	const int index = statement(cp, device);
	struct disk *disk;
	bool read_only;

	assert(mode < CP_LINK_MODES);
	if (!shared)
		return DISK_LINK_NO_DISK;
	if (index < 0)
		return DISK_LINK_NO_DEVICE;
	disk = &cp->disks->disk[index];
	if (disk->shared)
		return DISK_LINK_DEFINED;
	*others = links_of(cp->system, shared);
	if (!disk_may_link(cp, shared, mode, &read_only))
		return DISK_LINK_REFUSED;
	disk_attach(disk, shared, read_only);
	return read_only ? DISK_LINKED_READ : DISK_LINKED_WRITE;
}

bool disk_unlink(struct cp *cp, uint16_t device)
{
	const int index = disk_index(cp, device);

	if (index < 0)
		return false;
	disk_forget(cp, (unsigned int)index);
	disk_detach(cp, &cp->disks->disk[index]);
	return true;
}
