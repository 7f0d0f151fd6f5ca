/* SPDX-License-Identifier: MIT */
/*
 * The masks by which the guest says what events the service processor may send
 * and accept.  They are variables that only Hercules' own functions reach, which
 * write and read all of the service processor's state as a list of items: key and
 * length of four bytes each, value, all big-endian.  Of these the masks are taken.
 */
#define _GNU_SOURCE /* memfd_create */
#include "checkpoint.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "sr.h"
#include "bytes.h"

#define RECEIVE_MASK (SR_SYS_SERVC | 1u)
#define SEND_MASK (SR_SYS_SERVC | 2u)
#define PENDING (SR_SYS_SERVC | 3u)
#define ITEM_HEAD 8u
#define LIST_MAX 4096u

/* Value of the item @key, of four bytes.  Return: false if there is none. */
static bool find(const uint8_t *list, size_t len, uint32_t key, uint32_t *value)
{
	while (len >= ITEM_HEAD) {
		uint32_t item_len = get_be32(list + 4);

		if (item_len > len - ITEM_HEAD)
			return false;
		if (get_be32(list) == key && item_len == 4) {
			*value = get_be32(list + ITEM_HEAD);
			return true;
		}
		list += ITEM_HEAD + item_len;
		len -= ITEM_HEAD + item_len;
	}
	return false;
}

/* Return: how long the list is; 0: it could not be had. */
static size_t list_of(int fd, uint8_t list[LIST_MAX])
{
	/* Hercules writes by zlib; T: without compressing. */
	gzFile stream = gzdopen(dup(fd), "wbT");
	ssize_t len;
	bool done;

	if (!stream)
		return 0;
	done = servc_hsuspend(stream) == 0;
	done = gzclose(stream) == Z_OK && done;
	len = done ? pread(fd, list, LIST_MAX, 0) : -1;
	return len < 0 ? 0 : (size_t)len;
}

const char *sclp_masks_take(uint32_t *receive, uint32_t *send)
{
	int fd = memfd_create("zvmlab-sclp", MFD_CLOEXEC);
	uint8_t list[LIST_MAX];
	uint32_t pending;
	size_t len = 0;

	if (fd >= 0) {
		len = list_of(fd, list);
		close(fd);
	}
	if (!find(list, len, RECEIVE_MASK, receive) || !find(list, len, SEND_MASK, send) ||
	    !find(list, len, PENDING, &pending))
		return "the service processor's masks cannot be read";
	return pending == 0 ? NULL : "the service processor has an event for the guest";
}

static void put_item(uint8_t **at, uint32_t key, uint32_t value)
{
	put_be32(*at, key);
	put_be32(*at + 4, 4);
	put_be32(*at + ITEM_HEAD, value);
	*at += ITEM_HEAD + 4;
}

int sclp_masks_apply(uint32_t receive, uint32_t send)
{
	int fd = memfd_create("zvmlab-sclp", MFD_CLOEXEC);
	uint8_t list[64] = { 0 }, *end = list;
	gzFile stream;
	int result = -1;

	if (fd < 0)
		return -1;
	put_item(&end, RECEIVE_MASK, receive);
	put_item(&end, SEND_MASK, send);
	put_be32(end, SR_DELIMITER);
	end += ITEM_HEAD;
	if (pwrite(fd, list, (size_t)(end - list), 0) == end - list) {
		stream = gzdopen(fd, "rb");
		if (stream) {
			result = servc_hresume(stream);
			gzclose(stream);
			return result;
		}
	}
	close(fd);
	return result;
}
