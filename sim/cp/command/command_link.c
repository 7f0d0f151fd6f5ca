/* SPDX-License-Identifier: MIT */
/* LINK: disks of other users. */
#include <stdio.h>
#include <string.h>

#include "command_spool.h"
#include "zvmlab/disk.h"

#define MODULE "LNM"

/* A device number that comes next; 0, or the message's number. */
static int next_device(struct cpcmd_args *args, uint16_t *device)
{
	uint64_t number;

	if (!cpcmd_next(args) || !cpcmd_number(args->word, 16, 0, UINT16_MAX, &number))
		return cpcmd_message(args->cp, MODULE, CPCMD_NO_NUMBER, 'E',
				     "A virtual device number was not supplied or it was invalid.");
	*device = (uint16_t)number;
	return 0;
}

static int next_mode(struct cpcmd_args *args, enum cp_link_mode *mode)
{
	unsigned int i = 0;

	*mode = CP_LINK_R;
	if (!cpcmd_next(args))
		return 0;
	while (i < CP_LINK_MODES && strcmp(args->word, cp_link_mode_name[i]) != 0)
		i++;
	if (i == CP_LINK_MODES)
		return cpcmd_invalid(args, MODULE);
	*mode = (enum cp_link_mode)i;
	return cpcmd_end(args, MODULE);
}

#define WHO_LEN 48u

/* "R/W by BOB", "R/O by 2 users": whose links stand in the way, or may disturb. */
static const char *who(const struct disk_links *links, char out[WHO_LEN])
{
	const unsigned int count = links->writers ? links->writers : links->readers;
	const char *how = links->writers ? "R/W" : "R/O";

	if (count == 1)
		snprintf(out, WHO_LEN, "%s by %s", how,
			 links->writers ? links->writer : links->reader);
	else
		snprintf(out, WHO_LEN, "%s by %u users", how, count);
	return out;
}

/* @disk: its owner and device, as given. */
static int refused(struct cpcmd_args *args, const char *disk, const char *why, unsigned int number)
{
	return cpcmd_message(args->cp, MODULE, number, 'E', "%s not linked; %s", disk, why);
}

/* Of a disk that is there: why it is not linked all the same. */
static int explain(struct cpcmd_args *args, const char *disk, uint16_t device,
		   enum disk_linked linked, const struct disk_links *others)
{
	char why[WHO_LEN];

	if (linked == DISK_LINK_REFUSED)
		return refused(args, disk, who(others, why),
			       others->writers ? CPCMD_LINKED_WRITE : CPCMD_LINKED_READ);
	snprintf(why, sizeof(why), linked == DISK_LINK_DEFINED ? "%04X is defined already" :
		 "%04X is in no LINK statement", device);
	return refused(args, disk, why, CPCMD_LINK_DEFINED);
}

/* TO or AS, which may stand before what follows. */
static void skip_word(struct cpcmd_args *args, const char *word)
{
	struct cpcmd_args ahead = *args;

	if (cpcmd_next(&ahead) && strcmp(ahead.word, word) == 0)
		args->next = ahead.next;
}

/* LINK [TO] user device [[AS] device [mode]] */
int cpcmd_link(struct cpcmd_args *args)
{
	char owner[CP_NAME_LEN + 1], disk[32], by[WHO_LEN];
	struct disk_links others = { .readers = 0 };
	uint16_t owner_device = 0, device;
	enum cp_link_mode mode = CP_LINK_R;
	enum disk_linked linked;
	int rc;

	skip_word(args, "TO");
	rc = cpcmd_next_user(args, MODULE, owner);
	if (rc == 0)
		rc = next_device(args, &owner_device);
	if (rc != 0)
		return rc;
	snprintf(disk, sizeof(disk), "%s %.8s", owner, args->word);
	device = owner_device;
	skip_word(args, "AS");
	if (*cpcmd_rest(args))
		rc = next_device(args, &device);
	if (rc == 0)
		rc = next_mode(args, &mode);
	if (rc != 0)
		return rc;
	linked = disk_link(args->cp, owner, owner_device, device, mode, &others);
	if (linked == DISK_LINK_NO_DISK)
		return refused(args, disk, "no device", CPCMD_NOT_LINKED);
	if (linked != DISK_LINKED_READ && linked != DISK_LINKED_WRITE)
		return explain(args, disk, device, linked, &others);
	if (args->cp->host.devices_changed)
		args->cp->host.devices_changed(args->cp->host.opaque);
	if (others.readers + others.writers > 0)
		cpcmd_line(args->cp, "DASD %04X LINKED %s; %s", device,
			   linked == DISK_LINKED_READ ? "R/O" : "R/W", who(&others, by));
	return 0;
}
