/* SPDX-License-Identifier: MIT */
/*
 * Every data set that is delivered, as a reader in the guest will see it: for
 * each control element its 12 bytes, then the records from first to last byte.
 * Read back from the segment when the message goes out, so that corrupted
 * content is captured corrupted.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl_private.h"
#include "bytes.h"
#include "zvmlab/dcss.h"
#include "zvmlab/file.h"
#include "zvmlab/monitor.h"

/* Offsets in a monitor control element as Linux' drivers/s390/char/monreader.c reads them. */
enum { MCE_FIRST = 4, MCE_LAST = 8 };

struct set {
	struct ctl *ctl;
	const struct dcss *segment;
	uint64_t length;	/* bytes written */
	unsigned int mces;
};

void ctl_capture_init(struct ctl_capture *capture)
{
	*capture = (struct ctl_capture){ .fd = -1, .index_fd = -1 };
}

static void end(struct ctl_capture *capture)
{
	ctl_file_close(capture->fd);
	ctl_file_close(capture->index_fd);
	ctl_capture_init(capture);
}

void ctl_capture_end(struct ctl *ctl)
{
	end(&ctl->capture);
}

/* Bytes at guest absolute [first, last], NULL unless all lie in the segment. */
static const uint8_t *at_address(const struct set *set, uint32_t first, uint32_t last)
{
	const uint64_t start = dcss_start(set->segment);

	if (first < start || last < first)
		return NULL;
	return dcss_map(set->ctl->cp, set->segment, first - start, (uint64_t)last - first + 1);
}

/* Return: 0, or -1 with errno; an element that a reader must refuse ends the set. */
static int write_elements(struct set *set, const uint8_t *mca, size_t len)
{
	const int fd = set->ctl->capture.fd;

	for (size_t at = 0; at + MCE_SIZE <= len; at += MCE_SIZE) {
		const uint32_t first = get_be32(mca + at + MCE_FIRST);
		const uint32_t last = get_be32(mca + at + MCE_LAST);
		const uint8_t *records = at_address(set, first, last);

		if (!records)
			return 0;
		if (ctl_write_all(fd, mca + at, MCE_SIZE) != 0 ||
		    ctl_write_all(fd, records, (size_t)last - first + 1) != 0)
			return -1;
		set->length += MCE_SIZE + (uint64_t)last - first + 1;
		set->mces++;
	}
	return 0;
}

static int write_index(const struct set *set, const struct mon_set_info *info)
{
	char line[160];
	int len = snprintf(line, sizeof(line),
			   "{\"set\":%llu,\"kind\":\"%s\",\"offset\":%llu,\"length\":%llu,"
			   "\"mces\":%u}\n",
			   (unsigned long long)info->number, ctl_mon_kinds[info->kind],
			   (unsigned long long)set->ctl->capture.bytes,
			   (unsigned long long)set->length, set->mces);

	assert(len > 0 && (size_t)len < sizeof(line));
	return ctl_write_all(set->ctl->capture.index_fd, line, (size_t)len);
}

/* Called for every user the set goes to; all see the same bytes. */
void ctl_capture_set(struct ctl *ctl, uint64_t number)
{
	struct ctl_capture *capture = &ctl->capture;
	struct set set = { .ctl = ctl };
	struct mon_set_info info;
	const uint8_t *mca;

	if (capture->fd < 0 || number <= capture->last_set || !monitor_set(ctl->cp, number, &info))
		return;
	set.segment = dcss_find(ctl->cp, monitor_segment(ctl->cp));
	if (!set.segment)
		return;
	mca = at_address(&set, info.mca_start, info.mca_end);
	if (!mca)
		return;
	if (write_elements(&set, mca, (size_t)info.mca_end - info.mca_start + 1) != 0 ||
	    write_index(&set, &info) != 0) {
		const char *reason = strerror(errno);

		ctl_capture_end(ctl);
		ctl_notify(ctl, NULL, "capture-ended", json_pack("{s:s}", "reason", reason));
		return;
	}
	capture->last_set = number;
	capture->sets++;
	capture->bytes += set.length;
}

/* Return: NULL, or why not. */
static const char *open_both(struct ctl_capture *capture, const char *path)
{
	char *index = malloc(strlen(path) + sizeof(".idx"));
	const char *why;

	if (!index)
		return strerror(ENOMEM);
	strcpy(index, path);
	strcat(index, ".idx");
	why = file_open_write(path, false, &capture->fd);
	if (!why)
		why = file_open_write(index, false, &capture->index_fd);
	free(index);
	return why;
}

json_t *ctl_monitor_capture(struct ctl_call *call)
{
	const char *path = ctl_string(call->args, "file");
	struct ctl *ctl = call->ctl;
	struct ctl_capture next;
	const char *why;
	json_t *result;

	ctl_capture_init(&next);
	/* Before the present capture ends: it goes on if there can be no other. */
	why = path ? open_both(&next, path) : NULL;
	if (why) {
		ctl_fail(call, "Failed", "capture file %s or %s.idx cannot be written: %s", path,
			 path, why);
		end(&next);
		return NULL;
	}
	result = json_pack("{s:o, s:o}", "sets", ctl_json_u64(ctl->capture.sets), "bytes",
			   ctl_json_u64(ctl->capture.bytes));
	ctl_capture_end(ctl);
	ctl->capture = next;
	return result;
}
