// SPDX-License-Identifier: MIT
/*
 * nowait FD - one preadv2() with RWF_NOWAIT from an open file into 12 bytes and 4096.
 *
 * Prints what it returned, the error number, and the bytes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>

#define FIRST 12
#define REST 4096

int main(int argc, char **argv)
{
	unsigned char bytes[FIRST + REST] = { 0 };
	const struct iovec parts[] = {
		{ .iov_base = bytes, .iov_len = FIRST },
		{ .iov_base = bytes + FIRST, .iov_len = REST },
	};
	ssize_t got;

	if (argc != 2)
		return 2;
	got = preadv2(atoi(argv[1]), parts, 2, -1, RWF_NOWAIT);
	printf("%zd %d ", got, got < 0 ? errno : 0);
	for (ssize_t i = 0; i < got; i++)
		printf("%02x", bytes[i]);
	printf("\n");
	return 0;
}
