/* SPDX-License-Identifier: MIT */
/*
 * The file that a checkpoint is: a head, whose meaning its owner knows, and those
 * pages of guest storage that are not zero.  In the byte order of the host, for
 * no other host may have written it:
 *
 *     offset  length
 *     0       8       "ZVMLABHC"
 *     8       8       version
 *     16      128     what machine it is of, text padded with zeros
 *     144     8       bytes of guest storage
 *     152     8       bytes of the head, a multiple of 8
 *     160     8       pages that follow
 *     168     8       sum of all but this field
 *     176             head; a bit per page of storage, the first page's the lowest of
 *                     the first byte, padded to 8 bytes; the pages whose bit is one
 *
 * Nothing here knows Hercules.
 */
#ifndef ZVMLAB_HERCULES_CHECKPOINT_FILE_H
#define ZVMLAB_HERCULES_CHECKPOINT_FILE_H

#include <stddef.h>
#include <stdint.h>

#define CHECKPOINT_PAGE 4096u
#define CHECKPOINT_MACHINE_LEN 128u
/* Longest head: the CP's image, keys, registers. */
#define CHECKPOINT_HEAD_MAX (UINT64_C(256) << 20)

struct checkpoint_file {
	const char *machine;	/**< shorter than CHECKPOINT_MACHINE_LEN */
	uint8_t *head;
	uint64_t head_len;	/**< a multiple of 8, at most CHECKPOINT_HEAD_MAX */
	uint8_t *ram;
	uint64_t ram_size;	/**< whole pages */
};

/**
 * Write @file to @path, which must not exist; it does not either if that fails.
 * Return: 0, or -1 with one sentence in @err.
 */
int checkpoint_file_write(const char *path, const struct checkpoint_file *file, char *err,
			  size_t errlen);

/**
 * Read @path.  It must be of the same machine and size of storage as @file says.
 *
 * @file: head and head_len are filled in, to be freed by the caller; ram must be
 * zero, and pages are read into it before the sum is known to be right.
 * Return: 0, or -1 with one sentence in @err; head is NULL then.
 */
int checkpoint_file_read(const char *path, struct checkpoint_file *file, char *err, size_t errlen);

#endif
