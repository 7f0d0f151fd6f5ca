/* SPDX-License-Identifier: MIT */
/*
 * The file that a machine is saved to: a head, whose meaning the port knows, and guest storage,
 * so placed that it can be mapped.  In the byte order of the host, for no other host may have
 * written it:
 *
 *     offset  length
 *     0       8       "ZVMLABMF"
 *     8       8       version
 *     16      128     what machine it is of, text padded with zeros
 *     144     8       bytes of guest storage
 *     152     8       bytes of the head
 *     160     8       sum of guest storage: of pages that are not zero, and their numbers
 *     168     8       FNV-1a of all before, and of the head
 *     176             head, padded to a page
 *                     guest storage; what is zero is a hole
 *
 * The second sum tells whether the head is what was written, the first one whether storage is.  A
 * port that maps storage does not read it; whoever keeps the file has to know that it is as it
 * was (zvmlab.base.manifest).
 */
#ifndef CP_MACHINE_FILE_H
#define CP_MACHINE_FILE_H

#include <stddef.h>
#include <stdint.h>

#define CP_MACHINE_NAME_LEN 128u
/** Longest head: the CP's image, keys, registers. */
#define CP_MACHINE_HEAD_MAX (UINT64_C(1) << 30)

struct cp_machine_file {
	const char *machine;	/**< shorter than CP_MACHINE_NAME_LEN */
	uint8_t *head;
	uint64_t head_len;	/**< at most CP_MACHINE_HEAD_MAX */
	const uint8_t *ram;	/**< for cp_machine_write(), with … */
	const uint8_t *used;	/**< … per page 0 if it was never stored to; NULL: not known */
	uint64_t ram_size;	/**< whole pages */
	int fd;			/**< from cp_machine_open(): where storage is … */
	uint64_t ram_offset;	/**< … from this byte on, a multiple of a page */
	uint64_t ram_sum;	/**< … and what cp_machine_read() compares it with */
};

/**
 * Write @file to @path, which must not exist; it does not either if that fails.
 * Return: 0, or -1 with one sentence in @err.
 */
int cp_machine_write(const char *path, const struct cp_machine_file *file, char *err,
		     size_t errlen);

/**
 * Open @path, which must be of the same machine and size of storage as @file says.
 *
 * @file: head (to be freed by the caller), head_len, fd (to be closed by the caller), ram_offset
 * and ram_sum are filled in.
 * Return: 0, or -1 with one sentence in @err; head is NULL and fd -1 then.
 */
int cp_machine_open(const char *path, struct cp_machine_file *file, char *err, size_t errlen);

/**
 * Read the storage of @file, which is open, into @ram, which must be zero.
 *
 * Return: 0, or -1 with one sentence in @err if it cannot be read, or is not what was written; @ram
 * has some of it then.
 */
int cp_machine_read(const char *path, const struct cp_machine_file *file, uint8_t *ram, char *err,
		    size_t errlen);

#endif
